//! Tests of the tree through its public face.

mod due;
mod fixed;
mod hints;
mod scans;
