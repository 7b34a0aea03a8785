//! Finds typing errors in a selector that matched nothing: names that no node of the trees has.

use std::collections::BTreeSet;

use contextree_selector::{Span, closest};
use contextree_tree::{Header, TreeRef};

use crate::error::{Warning, WarningKind};
use crate::resolve::{Mention, MentionKind, Named, Query};

/// How many names of a selector are looked at: each is compared with all names of the trees.
const MOST: usize = 16;

/// Common type names, for suggestions.
const WORDS: [&str; 6] = ["seg", "cont", "block", "mt", "mc", "cb"];

/// Pseudo-classes that may follow a type.
const PSEUDOS: [&str; 5] = ["first", "last", "core", "post", "depth"];

/// Roles that need no node to be known.
const ROLES: [&str; 5] = ["user", "assistant", "tool", "system", "other"];

/// Optional headers, for suggestions.
const OPTIONAL: [&str; 11] = [
    "role",
    "kind",
    "key",
    "tag",
    "type",
    "content",
    "pinned",
    "removable",
    "provenance",
    "mime",
    "encoding",
];

/// Returns a warning for each name of a query that no node of the trees has. Visits every node, so
/// it is called only if a selector matched nothing.
pub(crate) fn suspects(query: &Query, trees: &[TreeRef<'_>]) -> Vec<Warning> {
    if query.mentions.is_empty() {
        return Vec::new();
    }
    let known = Known::of(trees);
    query.mentions.iter().take(MOST).filter_map(|mention| known.suspect(mention)).collect()
}

/// The names that the nodes of some trees have.
#[derive(Default)]
struct Known<'t> {
    types: BTreeSet<&'t str>,
    roles: BTreeSet<&'t str>,
    kinds: BTreeSet<&'t str>,
    keys: BTreeSet<&'t str>,
    tags: BTreeSet<&'t str>,
    attributes: BTreeSet<&'t str>,
}

impl<'t> Known<'t> {
    fn of(trees: &[TreeRef<'t>]) -> Self {
        let mut known = Known::default();
        for (_, node) in trees.iter().flat_map(|tree| tree.nodes()) {
            known.types.insert(node.node_type());
            known.roles.extend(node.role());
            known.kinds.extend(node.kind());
            known.keys.extend(node.key());
            known.tags.extend(crate::evaluate::tags(node));
            let attributes = node.body().map(|body| body.attributes.keys());
            known.attributes.extend(attributes.into_iter().flatten());
        }
        known
    }

    fn suspect(&self, mention: &Mention) -> Option<Warning> {
        let kind = match &mention.kind {
            MentionKind::Type(written) => self.unknown_type(written)?,
            MentionKind::Attribute(name) => self.unknown_attribute(name)?,
            MentionKind::Value(named, written) => self.unknown_value(*named, written)?,
            MentionKind::TurnHopFirst => WarningKind::TurnHopFirst,
        };
        let span: Span = mention.span;
        Some(Warning { kind, span })
    }

    fn unknown_type(&self, written: &str) -> Option<WarningKind> {
        let has_kind = written.split_once(':').is_some_and(|(_, kind)| self.kinds.contains(kind));
        if has_kind || self.types.contains(written) {
            return None;
        }
        let mut candidates: Vec<&str> =
            self.types.iter().copied().filter(|name| !name.starts_with('^')).collect();
        candidates.extend(WORDS);
        let near = closest(written, &candidates).map(str::to_owned);
        // `.cb:frist` is parsed as a type and a kind; a type and a pseudo-class was meant.
        let pseudo = || {
            let (before, name) = written.rsplit_once(':')?;
            Some(format!("{before}:{}", closest(name, &PSEUDOS)?))
        };
        let suggestion = near.or_else(pseudo);
        Some(WarningKind::UnknownType { written: written.to_owned(), suggestion })
    }

    fn unknown_attribute(&self, written: &str) -> Option<WarningKind> {
        if self.attributes.contains(written) {
            return None;
        }
        let headers = Header::REQUIRED.iter().map(|header| header.name());
        let mut candidates: Vec<&str> = headers.chain(OPTIONAL).collect();
        candidates.extend(&self.attributes);
        let suggestion = closest(written, &candidates).map(str::to_owned);
        Some(WarningKind::UnknownAttribute { written: written.to_owned(), suggestion })
    }

    /// A value that no node has is an ordinary question, unless it resembles one that a node has.
    fn unknown_value(&self, named: Named, written: &str) -> Option<WarningKind> {
        let (values, usual) = match named {
            Named::Role => (&self.roles, &ROLES[..]),
            Named::Kind => (&self.kinds, &[][..]),
            Named::Key => (&self.keys, &[][..]),
            Named::Tag => (&self.tags, &[][..]),
        };
        if values.contains(written) || usual.contains(&written) {
            return None;
        }
        let candidates: Vec<&str> = values.iter().chain(usual).copied().collect();
        let suggestion = closest(written, &candidates)?.to_owned();
        let header = named.as_str();
        Some(WarningKind::UnknownValue { header, written: written.to_owned(), suggestion })
    }
}
