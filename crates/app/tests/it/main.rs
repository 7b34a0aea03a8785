//! Commands without a door: wire forms, the schema, the corpus.

mod commands;
mod corpus;
mod growing;
mod limits;
mod schema;
mod side;
