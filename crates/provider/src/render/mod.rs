//! Tree → request.
//!
//! 1. [`preamble`](Preamble): what stands in `^sys` becomes settings, tools and system text;
//! 2. every turn becomes parts, results behind their calls ([`order`]) or wherever they are ([`Pairs`]);
//! 3. parts become messages, by the provider's rules ([`run`]);
//! 4. messages become bytes ([`Wire`], one implementation for each provider).

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
pub(crate) use out::Out;
pub(crate) use pairs::{Pairs, Side};
pub(crate) use preamble::Preamble;
pub(crate) use wire::{Message, Wire};

use contextree_tree::TreeRef;

use crate::Provider;

/// Renders a tree as a request of a provider.
///
/// The same tree gives the same bytes. What the provider cannot express is listed in [`Rendered::losses`].
///
/// # Errors
///
/// There is nothing to send, or a setting has the name of something that the tree decides.
pub fn render(
    tree: TreeRef<'_>,
    provider: Provider,
    options: &RenderOptions,
) -> Result<Rendered, RenderError> {
    let mut renderer = RequestRenderer::new(provider, options.clone());
    renderer.render_once(tree)?;
    Ok(renderer.into_rendered())
}
