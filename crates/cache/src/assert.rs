//! Checks for users' tests: a request must extend the previous one.

use std::fmt;

use crate::rendered::{Rendered, common_prefix};
use crate::settings::{Settings, family};

/// A request that does not extend the previous one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PrefixBroken {
    /// The offset of the first byte that differs.
    pub offset: usize,
    /// The setting that changed, if it breaks the prefix: `model`, `reasoning.effort`.
    pub setting: Option<String>,
    /// The node at this offset in the older request, and its bytes.
    pub before: (Option<String>, String),
    /// The node at this offset in the newer request, and its bytes.
    pub after: (Option<String>, String),
    /// The number of bytes of the older request that cannot be reused.
    pub bytes_lost: usize,
}

impl PrefixBroken {
    /// Returns the stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        "E_PREFIX_BROKEN"
    }
}

impl fmt::Display for PrefixBroken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PrefixBroken { offset, setting, before, after, bytes_lost } = self;
        writeln!(formatter, "the request does not extend the previous one")?;
        if let Some(setting) = setting {
            writeln!(
                formatter,
                "  the setting `{setting}` changed; {bytes_lost} bytes cannot be reused"
            )?;
            writeln!(formatter, "  before: {}", before.1)?;
            writeln!(formatter, "  after: {}", after.1)?;
            return write!(formatter, "  hint: keep it the same in every request");
        }
        let node = |node: &Option<String>| match node {
            Some(node) => format!("in `{node}`"),
            None => "outside of nodes".to_owned(),
        };
        writeln!(
            formatter,
            "  first difference at byte {offset}; {bytes_lost} bytes after it cannot be reused"
        )?;
        writeln!(formatter, "  before, {}: …{}", node(&before.0), before.1)?;
        writeln!(formatter, "  after, {}: …{}", node(&after.0), after.1)?;
        let hint = match (&before.0, &after.0) {
            (None, _) => {
                "this is outside of nodes: keep tools and parameters the same, and in the same order"
            }
            (Some(before), Some(after)) if before == after => {
                "the node changed: leave what was sent as it is, and add the change after it"
            }
            _ => {
                "another node is here now: add nodes at the end, and place nodes that expire or get pruned after those that stay"
            }
        };
        write!(formatter, "  hint: {hint}")
    }
}

impl std::error::Error for PrefixBroken {}

/// Checks that everything in the older request that belongs to a node is unchanged at the beginning
/// of the newer one, and that both have the same model and other settings that a cache depends on.
///
/// What follows the last node, closing brackets and other settings, may differ. Requests without
/// spans are compared up to the last byte.
///
/// # Errors
///
/// If the prefix is broken; with the offset, the nodes and the bytes.
pub fn check_stable_prefix(
    before: &Rendered<'_>,
    after: &Rendered<'_>,
) -> Result<(), Box<PrefixBroken>> {
    let common = common_prefix(before.bytes(), after.bytes());
    let end = before.last_end();
    let settings =
        |rendered: &Rendered<'_>| Settings::of(rendered, rendered.provider().map(family));
    if let Some(changed) = settings(after).changed_since(&settings(before)) {
        let [was, is] = changed.values.map(|value| value.unwrap_or_else(|| "(none)".to_owned()));
        return Err(Box::new(PrefixBroken {
            offset: common,
            setting: Some(changed.path),
            before: (None, was),
            after: (None, is),
            bytes_lost: end,
        }));
    }
    if common >= end {
        return Ok(());
    }
    let side = |rendered: &Rendered<'_>| {
        let span = rendered.spans().get(rendered.span_from(common));
        let node = span.filter(|span| span.start <= common).map(|span| span.node.to_string());
        let bytes = rendered.bytes();
        let shown = &bytes[common.saturating_sub(20)..bytes.len().min(common + 40)];
        (node, String::from_utf8_lossy(shown).escape_debug().to_string())
    };
    Err(Box::new(PrefixBroken {
        offset: common,
        setting: None,
        before: side(before),
        after: side(after),
        bytes_lost: end - common,
    }))
}

/// Panics unless the newer request extends the older one. For tests; see [`check_stable_prefix`].
///
/// # Panics
///
/// If the prefix is broken; the message has the offset, the node and a hint.
#[track_caller]
pub fn assert_stable_prefix(before: &Rendered<'_>, after: &Rendered<'_>) {
    if let Err(broken) = check_stable_prefix(before, after) {
        panic!("{broken}");
    }
}
