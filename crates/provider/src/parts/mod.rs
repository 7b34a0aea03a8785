//! The model in the middle: one block of a tree is one part of a message.

pub mod names;
mod part;
mod view;

pub(crate) use part::{Kind, Part, Role, kind_of, role_of};
pub(crate) use view::View;
