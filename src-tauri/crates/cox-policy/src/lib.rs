//! Permission rules and modes, command parsing, decisions. Pure: no I/O, clock or environment.
