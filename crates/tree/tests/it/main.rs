//! Tests of the tree through its public face.

mod fixed;
mod hints;
mod scans;
