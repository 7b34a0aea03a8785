//! Tests commits under a budget.

use contextree_budget::{Budget, Cause, Keeper, Rule};
use contextree_canon::thread::blocks;
use contextree_engine::{Context, NewNode, Place};
use contextree_selector::{Edition, parse};
use contextree_tree::{Region, TreeRef};

/// Returns a session with tools: in every turn a question, reasoning, two calls, their results and
/// an answer.
fn session(turns: usize) -> Context {
    let mut context = Context::new();
    context.add(Place::system(), NewNode::text("You are a weather bot.").role("system")).unwrap();
    for turn in 0..turns {
        add_turn(&mut context, turn);
        context.commit().unwrap();
    }
    context
}

fn add_turn(context: &mut Context, turn: usize) {
    let call = |number: usize| format!("call-{turn}-{number}");
    let calls: Vec<contextree_json::Value> =
        (0..2).map(|number| call(number).as_str().into()).collect();
    let mut add = |node: NewNode| context.add(Place::head(), node).unwrap();
    add(NewNode::text(format!("How is the weather on day {turn}?")).role("user").kind("question"));
    add(NewNode::text("Two tools may know.")
        .role("assistant")
        .kind("reasoning")
        .attribute("data_call_ids", calls));
    for number in 0..2 {
        let id = call(number);
        let part = |text: &str| NewNode::text(text).attribute("data_call_id", id.as_str());
        add(part("{\"city\": \"Oslo\"}").role("assistant").kind("call"));
        add(part("Rain, wind from the west, 12 degrees.").role("tool").kind("result"));
    }
    add(NewNode::text("It rains.").role("assistant").kind("answer"));
}

fn tokens(keeper: &Keeper, tree: TreeRef<'_>) -> u64 {
    blocks(tree).map(|(_, block)| keeper.counter().count_node(block)).sum()
}

/// Returns the calls that were pruned in part.
fn partly_pruned(tree: TreeRef<'_>) -> Vec<String> {
    let parts = |kind: &str| -> Vec<String> {
        blocks(tree)
            .filter(|(_, block)| block.kind() == Some(kind))
            .flat_map(|(_, block)| {
                let many = block.attribute("data_call_ids").and_then(|ids| ids.as_array());
                let one = block.attribute("data_call_id");
                many.unwrap_or_default().iter().chain(one).collect::<Vec<_>>()
            })
            .filter_map(|id| id.as_str().map(str::to_owned))
            .collect()
    };
    let (calls, results, reasoning) = (parts("call"), parts("result"), parts("reasoning"));
    let all = calls.iter().chain(&results).chain(&reasoning);
    let whole = |id: &&String| calls.contains(id) && results.contains(id) && reasoning.contains(id);
    all.filter(|id| !whole(id)).cloned().collect()
}

// covers: PRU-006
#[test]
fn commit_keeps_the_budget_in_tokens() {
    let mut context = session(20);
    let keeper = Keeper::new(Budget::new().max_tokens(400).keep_turns(2));
    assert!(tokens(&keeper, context.working()) > 1_000);
    add_turn(&mut context, 20);
    let report = keeper.commit(&mut context).unwrap();
    assert!(report.unmet.is_empty());
    let tree = context.newest().unwrap().view();
    assert!(tokens(&keeper, tree) <= 400);
    assert_eq!(partly_pruned(tree), Vec::<String>::new());
}

// covers: PRU-005
#[test]
fn calls_results_and_reasoning_are_pruned_together() {
    let mut context = session(6);
    for max in (0..700).step_by(7) {
        let budget = Budget::new().max_tokens(max).keep_turns(max % 3).turn_tokens(40 + max % 60);
        let keeper = Keeper::new(budget);
        let forecast = keeper.preview(&context).unwrap();
        assert_eq!(
            partly_pruned(forecast.preview.as_ref().unwrap().snapshot.view()),
            Vec::<String>::new(),
            "{max} tokens"
        );
    }
    add_turn(&mut context, 6);
    let region = Budget::new().region_tokens(Region::Seq, 100).max_turns(4);
    let keeper = Keeper::new(region);
    keeper.commit(&mut context).unwrap();
    assert_eq!(partly_pruned(context.newest().unwrap().view()), Vec::<String>::new());
}

#[test]
fn forecast_has_nodes_and_reasons_and_can_be_committed() {
    let mut context = session(3);
    let budget = Budget::new().max_tokens(150).clear_at_least(60).exclude("[kind='question']");
    let keeper = Keeper::new(budget);
    let before = context.export_working();
    let forecast = keeper.preview(&context).unwrap();
    assert_eq!(context.export_working(), before, "a preview changes nothing");
    assert_eq!(forecast.tokens_before, tokens(&keeper, context.working()));
    assert_eq!(
        forecast.tokens_after,
        tokens(&keeper, forecast.preview.as_ref().unwrap().snapshot.view())
    );
    let gone: u64 = forecast.going.iter().map(|going| going.tokens).sum();
    assert_eq!(forecast.tokens_before - forecast.tokens_after, gone);
    assert!(gone >= 60, "at least `clear_at_least` tokens are pruned");

    let first = &forecast.going[0];
    assert_eq!((first.kind.as_deref(), first.turn.as_deref()), (Some("reasoning"), Some("seg:1")));
    assert_eq!((first.rule, first.region), (Rule::MaxTokens, Region::Seq));
    assert_eq!(first.reason(), "over `max_tokens`; lowest priority (0), then oldest");
    let second = &forecast.going[1];
    assert_eq!(second.cause, Cause::Unit { with: first.node.clone() });
    assert_eq!(
        second.reason(),
        format!("pruned with `{}`: a call, its results and its reasoning are one unit", first.node)
    );
    assert!(forecast.going.iter().all(|going| going.kind.as_deref() != Some("question")));

    let report = keeper.accept(&mut context, &forecast).unwrap();
    assert_eq!(report, forecast.preview.unwrap().report);
    assert_eq!(tokens(&keeper, context.newest().unwrap().view()), forecast.tokens_after);
}

#[test]
fn unsatisfiable_rules_are_reported() {
    let context = session(2);
    let keeper = Keeper::new(Budget::new().max_tokens(1).keep_turns(9));
    let forecast = keeper.preview(&context).unwrap();
    let missed = &forecast.missed[0];
    assert_eq!((missed.rule, missed.scope.as_str()), (Rule::MaxTokens, ""));
    assert_eq!(missed.left, forecast.tokens_after);
}

#[test]
fn max_turns_prunes_whole_turns() {
    let context = session(5);
    let keeper = Keeper::new(Budget::new().max_turns(3));
    let forecast = keeper.preview(&context).unwrap();
    let turns: Vec<&str> = forecast.going.iter().map(|going| going.node.as_str()).collect();
    assert_eq!(turns, ["seg:1", "seg:2", "seg:3"]);
    let first = &forecast.going[0];
    assert_eq!((first.rule, &first.cause), (Rule::MaxTurns, &Cause::OldestTurn));
    assert_eq!(first.along.len(), 8, "a core and seven blocks");
    assert!(first.tokens > 30);
    assert_eq!(first.reason(), "over `max_turns`; oldest turn that is not protected");
}

#[test]
fn expiring_tokens_are_counted_separately() {
    let mut context = session(1);
    context.add(Place::at("^ah", 1), NewNode::text("only for now").ttl(0)).unwrap();
    let keeper = Keeper::new(Budget::new().max_tokens(10_000));
    let forecast = keeper.preview(&context).unwrap();
    assert_eq!(forecast.tokens_expiring, 3 + 7, "and what a message takes besides its text");
    assert_eq!(forecast.tokens_before - forecast.tokens_after, 10);
    assert!(forecast.going.is_empty());
}

#[test]
fn system_text_is_kept_unless_it_has_its_own_limit() {
    let going = |budget: Budget| -> Vec<Region> {
        let keeper = Keeper::new(budget);
        let forecast = keeper.preview(&session(3)).unwrap();
        forecast.going.iter().map(|going| going.region).collect()
    };
    let regions = going(Budget::new().max_tokens(0));
    assert!(!regions.is_empty() && !regions.contains(&Region::Sys), "{regions:?}");
    let regions = going(Budget::new().max_tokens(0).region_tokens(Region::Sys, 100));
    assert!(regions.contains(&Region::Sys), "it has a limit, so it is pruned like everything else");
    let regions = going(Budget::new().region_tokens(Region::Sys, 0));
    assert_eq!(regions, [Region::Sys]);
}

#[test]
fn image_does_not_displace_the_history() {
    let mut context = session(5);
    let png = format!("iVBORw0KGgoAAAANSUhEUgAAAMgAAAEsCAYAAACHsmpP{}", "QUFB".repeat(200_000));
    let image = NewNode::text(png).kind("image").mime("image/png").encoding("base64");
    context.add(Place::head(), image.role("user")).unwrap();
    let keeper = Keeper::new(Budget::new().max_tokens(2_000));
    let forecast = keeper.preview(&context).unwrap();
    assert!(forecast.going.is_empty() && forecast.missed.is_empty(), "{forecast:?}");
}

#[test]
fn default_exclusions_are_valid_in_every_edition() {
    let policy = Budget::new().max_tokens(1).policy();
    for edition in Edition::ALL {
        for selector in &policy.exclude {
            assert!(parse(selector, edition).is_ok(), "{selector} in {edition:?}");
        }
    }
    assert_eq!(policy.exclude.len(), 1);
}
