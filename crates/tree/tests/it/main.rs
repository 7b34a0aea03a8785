//! Integration tests of the tree through its public API.

mod due;
mod fixed;
mod hints;
mod scans;
