//! Runs the corpus, with every context passed through a store first.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use contextree::Context;
use contextree_conformance::{Corpus, Runner, set_detour};
use contextree_store::{ContextSettings, Store, StoreOptions};

use crate::support::on_every_store;

fn through(store: &Store, context: Context) -> Result<Context, String> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let name = format!("case {}", COUNT.fetch_add(1, Ordering::Relaxed));
    let settings = ContextSettings {
        edition: context.edition(),
        vocabulary: context.vocabulary(),
        ..ContextSettings::default()
    };
    // Cases may generate their own ids.
    let options = StoreOptions {
        ids: Some(Arc::clone(context.ids())),
        idle_bytes: 0,
        ..StoreOptions::deterministic()
    };
    let store = Store::over(Arc::clone(store.backend()), options);
    let session = store.adopt(&name, context, &settings).map_err(|error| error.to_string())?;
    session.to_context().map_err(|error| error.to_string())
}

#[test]
fn every_case_passes_through_every_store() {
    let corpus = Corpus::embedded().unwrap();
    let runner = Runner::all();
    on_every_store(|store| {
        let own = store.clone();
        set_detour(Some(Box::new(move |context| through(&own, context))));
        let mut failures = Vec::new();
        for case in &corpus.cases {
            for edition in &case.editions {
                let verdict = runner.run(case, *edition);
                if !verdict.is_pass() {
                    failures.push(format!("{} {edition}: {verdict}", case.id));
                }
            }
        }
        set_detour(None);
        assert!(failures.is_empty(), "{} failed:\n{}", failures.len(), failures.join("\n"));
        let stored = store.contexts(None, usize::MAX >> 1).unwrap().len();
        assert!(stored > 500, "only {stored} contexts were stored");
    });
}
