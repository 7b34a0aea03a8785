//! Tests of the tree through its public face.

mod hints;
mod scans;
