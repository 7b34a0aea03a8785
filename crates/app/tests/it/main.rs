//! Commands without a door: wire forms, the schema, the corpus.

mod commands;
mod corpus;
mod growing;
mod schema;
mod side;
