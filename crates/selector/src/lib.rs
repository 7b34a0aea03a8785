//! The selector language: text ↔ syntax tree.
