//! The provider-neutral model: one block of a tree is one part of a message.

pub mod names;
mod part;
mod view;

pub(crate) use part::{Part, kind_of};
pub(crate) use view::View;

pub use part::{Kind, Role, role_of};
pub use view::{kind_of_node, text_of_node};
