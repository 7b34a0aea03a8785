//! For tests of users: a request must go on where the one before it ended.

use std::fmt;

use crate::rendered::{Rendered, common_prefix};
use crate::settings::{Settings, family};

/// Two requests of which the newer is not the continuation of the older.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PrefixBroken {
    /// The offset of the first byte that differs.
    pub offset: usize,
    /// The setting that is another one, if that is what breaks the prefix: `model`, `reasoning.effort`.
    pub setting: Option<String>,
    /// The node that stood there, and the bytes.
    pub before: (Option<String>, String),
    /// The node that stands there now, and the bytes.
    pub after: (Option<String>, String),
    /// Bytes of the older request that must be read anew.
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
        writeln!(formatter, "the request is not the continuation of the one before it")?;
        if let Some(setting) = setting {
            writeln!(
                formatter,
                "  the setting `{setting}` changed; {bytes_lost} bytes are read anew"
            )?;
            writeln!(formatter, "  before: {}", before.1)?;
            writeln!(formatter, "  after: {}", after.1)?;
            return write!(formatter, "  hint: keep it the same from request to request");
        }
        let node = |node: &Option<String>| match node {
            Some(node) => format!("in `{node}`"),
            None => "in no node".to_owned(),
        };
        writeln!(
            formatter,
            "  they part at byte {offset}; {bytes_lost} bytes behind it are read anew"
        )?;
        writeln!(formatter, "  before, {}: …{}", node(&before.0), before.1)?;
        writeln!(formatter, "  after, {}: …{}", node(&after.0), after.1)?;
        let hint = match (&before.0, &after.0) {
            (None, _) => {
                "this belongs to no node: keep tools and parameters the same, and in the same order"
            }
            (Some(before), Some(after)) if before == after => {
                "the node has changed: leave what was sent as it is, and add what changed behind it"
            }
            _ => {
                "another node stands here now: add at the end, and let things expire or be pruned behind what stays"
            }
        };
        write!(formatter, "  hint: {hint}")
    }
}

impl std::error::Error for PrefixBroken {}

/// Checks that everything of the older request that belongs to a node stands unchanged at the beginning of the newer one, and that both have
/// the same model and whatever other settings a cache depends on.
///
/// What follows the last node, closing brackets and other settings, may differ. Requests without spans are compared to the last byte.
///
/// # Errors
///
/// It does not; with the place, the nodes and the bytes.
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

/// Panics unless the newer request goes on where the older one ended. For tests; see [`check_stable_prefix`].
///
/// # Panics
///
/// The prefix is broken; the message says where, by which node, and what to do about it.
#[track_caller]
pub fn assert_stable_prefix(before: &Rendered<'_>, after: &Rendered<'_>) {
    if let Err(broken) = check_stable_prefix(before, after) {
        panic!("{broken}");
    }
}
