//! Reads arbitrary text as a budget: it never panics, an error has a position within the text, and
//! an accepted budget can be committed.
#![no_main]

use contextree::{Context, Edition, NewNode, Place};
use contextree_budget::{Budget, Keeper};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match Budget::read(text, Edition::default()) {
        Err(error) => {
            let line = error.line.checked_sub(1).and_then(|index| text.split('\n').nth(index));
            let line = line.unwrap_or_else(|| panic!("a line of the text: {error}"));
            assert!((1..=line.chars().count() + 1).contains(&error.column), "{error}");
        }
        Ok(budget) => {
            let mut context = Context::new();
            for turn in 0..3 {
                let node = NewNode::text(format!("turn {turn}")).role("user");
                context.add(Place::head(), node).expect("it is allowed");
                context.commit().expect("a commit succeeds");
            }
            let keeper = Keeper::new(budget);
            let forecast =
                keeper.preview(&mut context).expect("a budget that was read can be previewed");
            let report =
                keeper.accept(&mut context, &forecast).expect("nothing changed in the meantime");
            assert_eq!(report.pruned.len(), forecast.going.len());
        }
    }
});
