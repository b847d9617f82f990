//! The Tool trait, the pipeline that every call passes, and one file per tool.
