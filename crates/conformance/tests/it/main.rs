//! Tests of the corpus and of its runner.

mod corpus;
