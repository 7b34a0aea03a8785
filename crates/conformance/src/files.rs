//! Embeds the corpus in the crate. A test checks that no file of the directory is missing.

/// The vector files of the corpus, as name and text, sorted by name.
pub const FILES: [(&str, &[u8]); 24] = [
    ("canonical-order.json", include_bytes!("../corpus/canonical-order.json")),
    ("content-diff.json", include_bytes!("../corpus/content-diff.json")),
    ("content-hash.json", include_bytes!("../corpus/content-hash.json")),
    ("contextree-adoption.json", include_bytes!("../corpus/contextree-adoption.json")),
    ("contextree-lifecycle.json", include_bytes!("../corpus/contextree-lifecycle.json")),
    ("contextree-moves.json", include_bytes!("../corpus/contextree-moves.json")),
    ("contextree-pruning.json", include_bytes!("../corpus/contextree-pruning.json")),
    ("diff.json", include_bytes!("../corpus/diff.json")),
    ("import-flat-log.json", include_bytes!("../corpus/import-flat-log.json")),
    ("insertion.json", include_bytes!("../corpus/insertion.json")),
    ("lifecycle.json", include_bytes!("../corpus/lifecycle.json")),
    ("provider-thread.json", include_bytes!("../corpus/provider-thread.json")),
    ("ranges.json", include_bytes!("../corpus/ranges.json")),
    ("schemas.json", include_bytes!("../corpus/schemas.json")),
    ("selectors-attributes.json", include_bytes!("../corpus/selectors-attributes.json")),
    (
        "selectors-depth-key-facets.json",
        include_bytes!("../corpus/selectors-depth-key-facets.json"),
    ),
    ("selectors-editions.json", include_bytes!("../corpus/selectors-editions.json")),
    ("selectors-errors.json", include_bytes!("../corpus/selectors-errors.json")),
    ("selectors-examples.json", include_bytes!("../corpus/selectors-examples.json")),
    ("selectors-golden-e1.json", include_bytes!("../corpus/selectors-golden-e1.json")),
    ("selectors-golden-e2.json", include_bytes!("../corpus/selectors-golden-e2.json")),
    ("selectors-golden-e3.json", include_bytes!("../corpus/selectors-golden-e3.json")),
    ("selectors-parse.json", include_bytes!("../corpus/selectors-parse.json")),
    ("serialize-snapshot.json", include_bytes!("../corpus/serialize-snapshot.json")),
];
