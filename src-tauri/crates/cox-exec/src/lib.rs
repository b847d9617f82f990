//! Process trees, project roots and paths, read stamps and file watching.
