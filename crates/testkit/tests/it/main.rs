//! Tests that need the whole engine.

mod model;
