//! The provider and model that a context already knows: from its calls, or from the request it was imported from.

use contextree::provider::Provider;
use contextree::provider::parts::names;
use contextree::{Cycle, NodeRef, Region, TreeRef};
use contextree_json::Value;

use crate::Error;
use crate::workspace::Reader;

/// A provider and a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Known {
    pub(super) provider: Provider,
    pub(super) model: Option<String>,
}

impl Known {
    /// Returns what is known about the requests of a context: the newest call up to a cycle, if there is one, else the settings in the
    /// tree.
    pub(super) fn find(
        reader: &mut Reader,
        tree: TreeRef<'_>,
        cycle: Option<Cycle>,
    ) -> Result<Option<Known>, Error> {
        let newest = cycle.unwrap_or(Cycle::MAX);
        if let Some(stored) = reader.stored() {
            let attempts = stored.attempts()?.iter().rev();
            let mut called =
                attempts.filter(|attempt| attempt.cycle_id <= newest).filter_map(|it| {
                    let model = Some(it.model.clone()).filter(|model| !model.is_empty());
                    Some(Known { provider: it.provider.parse().ok()?, model })
                });
            if let Some(known) = called.next() {
                return Ok(Some(known));
            }
        }
        Ok(Self::of_tree(tree))
    }

    /// Returns what the settings in a tree say.
    pub(super) fn of_tree(tree: TreeRef<'_>) -> Option<Known> {
        let text = |node: NodeRef<'_>, name| Some(node.attribute(name)?.as_str()?.to_owned());
        tree.region(Region::Sys).children().find_map(|group| {
            let settings = group.attribute(names::SETTINGS)?;
            let model = settings.get("model").and_then(Value::as_str).map(str::to_owned);
            let provider = text(group, names::PROVIDER)?.parse().ok()?;
            Some(Known { provider, model })
        })
    }
}
