//! A scripted model server that speaks the real wire formats, and temporary projects.
