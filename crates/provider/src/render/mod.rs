//! Renders a tree as a request.
//!
//! 1. [`preamble`](Preamble): the content of `^sys` becomes settings, tools and system text;
//! 2. each turn becomes parts, with results after their calls ([`order`]) or in place ([`Pairs`]);
//! 3. parts become messages, by the rules of the provider ([`run`]);
//! 4. messages become bytes ([`Wire`], implemented by each provider).

mod fit;
mod incremental;
mod loss;
mod marks;
mod options;
mod order;
mod out;
mod pairs;
mod preamble;
mod rendered;
mod run;
pub(crate) mod wire;

pub use incremental::RequestRenderer;
pub use loss::{Loss, LossKind};
pub use options::{RenderError, RenderOptions};
pub use rendered::{List, Rendered, Slot, Span};

pub(crate) use fit::Names;
pub(crate) use marks::Marks;
pub(crate) use order::order;
pub(crate) use out::{Layout, Out};
pub(crate) use pairs::{Pairs, Side};
pub(crate) use preamble::Preamble;
pub(crate) use wire::{Message, Wire};

use contextree_tree::TreeRef;

use crate::Provider;

/// Renders a tree as a request of a provider.
///
/// The same tree gives the same bytes. [`Rendered::losses`] lists what the provider cannot express.
///
/// # Errors
///
/// - [`RenderError::Empty`] if the request would have no messages.
/// - [`RenderError::ReservedField`] if a setting has the name of a field that the tree determines.
pub fn render(
    tree: TreeRef<'_>,
    provider: Provider,
    options: &RenderOptions,
) -> Result<Rendered, RenderError> {
    let mut renderer = RequestRenderer::new(provider, options.clone());
    renderer.render_once(tree)?;
    Ok(renderer.into_rendered())
}
