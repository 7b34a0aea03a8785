//! Many processes on one file.
