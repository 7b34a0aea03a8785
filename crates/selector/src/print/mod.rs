//! Prints a syntax tree as canonical text.
//!
//! In the selector's edition, the text parses to the same tree except for spans, and printing that
//! tree gives the same text. The canonical form is `@time (position) +tags { attributes } [
//! behavior ] @controls`, with tags sorted, texts in single quotes, and filters of compounds and
//! hops in brackets.
//!
//! This holds for every tree that the parser creates. A tree built by hand can express what no text
//! does, such as a chain without steps or an attribute name with a space; it is printed anyway, but
//! the text does not parse to the same tree.

mod chain;
mod filter;
mod list;
mod node_spec;
mod position;
mod selector;
mod time;

use list::List;
