//! SQLite: the event log, its projections, search, settings, migrations and the writer thread.
