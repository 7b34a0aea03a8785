//! Syntax tree → canonical text.
//!
//! The text reads back, in the selector's edition, as the same tree but for spans, and printing that
//! tree gives the same text. The canonical shape is
//! `@time (position) +tags { attributes } [ behavior ] @controls`, with tags sorted, texts in single
//! quotes, and filters of compounds and hops in brackets.
//!
//! This holds for every tree the parser makes. A tree made by hand can say what no text says, such as a
//! chain without steps or an attribute's name with a blank; it is printed all the same, and the text
//! does not read back.

mod chain;
mod filter;
mod list;
mod node_spec;
mod position;
mod selector;
mod time;

use list::List;
