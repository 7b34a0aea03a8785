//! Nothing: the tests are in `tests/it`. They have a package of their own so that nobody else builds every store.
