//! JSON values and their one canonical text.
