//! Sessions, the turn loop, tasks, notifications, retention; the public Engine handle.
