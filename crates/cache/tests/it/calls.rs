//! Tests calls: what the rules predict, what was billed, and the reason of every miss.

use contextree_cache::{
    Billed, CacheRules, Call, Cause, Diagnosis, Evidence, Follower, History, Mark, MissReason,
    Place, Rendered, Step,
};
use contextree_engine::{CommitOptions, Context, Limit, MeasureName, NewNode, Place as At, Policy};
use contextree_json::Value;
use contextree_provider::{Provider, RenderOptions, render};
use contextree_tokens::Tokenizer;

const MINUTE: i64 = 60_000_000_000;

/// A conversation whose calls are followed. Each call is a commit.
struct Calls {
    context: Context,
    provider: Provider,
    model: String,
    follower: Follower,
    /// The time of the next call.
    now_ns: i64,
    /// Whether the system text is missing, as in the logs of agents.
    is_complete: bool,
    policy: Policy,
    marks: Option<Vec<Mark>>,
    /// The setting, where the log tells it.
    thinking: Option<Value>,
}

impl Calls {
    fn new(model: &str) -> Self {
        let mut context = Context::new();
        let rules = "Some rules that are worth to be kept in mind. ".repeat(500);
        context.add(At::system(), NewNode::text(rules).id("rules").role("system")).unwrap();
        Calls {
            context,
            provider: if model.starts_with("gpt") {
                Provider::OpenAiResponses
            } else {
                Provider::Anthropic
            },
            model: model.to_owned(),
            follower: Follower::new(Tokenizer::named(model).unwrap(), rules_of(model)),
            now_ns: 0,
            is_complete: true,
            policy: Policy::default(),
            marks: None,
            thinking: None,
        }
    }

    /// Returns a conversation whose system text is not in the log.
    fn logged(model: &str) -> Self {
        let mut calls = Calls::new(model);
        calls.context.remove("rules").unwrap();
        calls.is_complete = false;
        calls
    }

    fn say(&mut self, role: &str, text: &str) -> &mut Self {
        self.context.add(At::head(), NewNode::text(text).role(role)).unwrap();
        self
    }

    /// Adds reasoning that was returned without its text.
    fn think(&mut self) -> &mut Self {
        let node = NewNode::text("").role("assistant").kind("reasoning");
        let node = node.attribute("data_signature", "EqAb9xYz".repeat(300).as_str());
        self.context.add(At::head(), node.attribute("data_provider", "anthropic")).unwrap();
        self
    }

    /// Makes a call, `gap` after the previous one.
    fn call(&mut self, gap: i64, billed: Option<Billed>) -> Step {
        self.now_ns += gap;
        let older = self.context.history().iter().last().cloned();
        let options = CommitOptions { policy: Some(&self.policy), ..CommitOptions::default() };
        self.context.commit_with(&options).unwrap();
        let newer = self.context.history().iter().last().unwrap().clone();
        let mut options = RenderOptions::default();
        options.settings.insert("model", self.model.as_str().into());
        let request = render(newer.view(), self.provider, &options).unwrap();
        let evidence = Evidence::new(older.as_ref().unwrap_or(&newer).view(), newer.view());
        let call = Call {
            is_complete: self.is_complete,
            started_ns: Some(self.now_ns),
            ended_ns: Some(self.now_ns),
            billed,
            marks: self.marks.clone(),
            thinking: self.thinking.clone(),
            ..Call::new(Rendered::from(&request), evidence)
        };
        self.follower.follow_call(&call).clone()
    }

    fn finish(self) -> History {
        self.follower.finish()
    }
}

fn rules_of(model: &str) -> CacheRules {
    CacheRules::for_model(model).unwrap()
}

fn bill(input: u64, cached: u64) -> Option<Billed> {
    let written = Some(input - cached);
    Some(Billed {
        input,
        cached: Some(cached),
        written,
        written_hour: Some(0),
        ..Billed::default()
    })
}

fn for_an_hour(billed: Option<Billed>) -> Option<Billed> {
    billed.map(|billed| Billed { written_hour: billed.written, ..billed })
}

fn word(step: &Step) -> Option<&'static str> {
    step.miss.as_ref().map(|miss| miss.reason.word())
}

#[test]
fn entries_expire_after_five_minutes_or_an_hour_without_use() {
    let check = |gap: i64, long: bool, expected: Option<&str>| {
        let mut calls = Calls::new("claude-opus-4-5");
        let billed = |input, cached| {
            let billed = bill(input, cached);
            if long { for_an_hour(billed) } else { billed }
        };
        let first = calls.say("user", "hello").call(0, billed(6000, 0));
        calls.say("assistant", "hello").call(4 * MINUTE, billed(6010, 6000));
        let step = calls.say("user", "well").call(gap, None);
        assert_eq!(word(&step), expected, "{gap} {long}");
        assert_eq!(step.cached > first.tokens, expected.is_none());
        if let Some(MissReason::Expired { gap_s, lifetime_s }) =
            step.miss.as_ref().map(|miss| &miss.reason)
        {
            assert_eq!(*gap_s, gap.unsigned_abs() / 1_000_000_000);
            assert_eq!(*lifetime_s, if long { 3600 } else { 300 });
            assert_eq!(step.miss.as_ref().unwrap().billed, None);
        }
    };
    check(4 * MINUTE, false, None);
    check(6 * MINUTE, false, Some("expired"));
    check(6 * MINUTE, true, None);
    check(59 * MINUTE, true, None);
    check(61 * MINUTE, true, Some("expired"));
    // Without times nothing expires.
    let mut calls = Calls::new("claude-opus-4-5");
    calls.say("user", "hello").call(0, None);
    assert_eq!(word(&calls.say("assistant", "hello").call(0, None)), None);
}

#[test]
fn changed_content_is_named_with_its_node() {
    let mut calls = Calls::new("claude-opus-4-5");
    calls.say("user", "hello").call(0, bill(6000, 0));
    calls.context.remove("rules").unwrap();
    let rules = NewNode::text("It is 10:05. ".repeat(600)).id("clock").role("system");
    calls.context.add(At::system(), rules).unwrap();
    let step = calls.say("user", "and now").call(MINUTE, bill(6010, 0));
    assert_eq!(word(&step), Some("system_changed"));
    let broken = step.report.unwrap().broken.unwrap();
    assert_eq!((broken.node.as_deref(), broken.cause), (Some("rules"), Cause::Gone));
    assert_eq!(step.miss.unwrap().billed, Some(6000));
    calls.model = "claude-opus-4-6".to_owned();
    calls
        .follower
        .switch(Tokenizer::named("claude-opus-4-6").unwrap(), rules_of("claude-opus-4-6"));
    let step = calls.say("user", "to another").call(60 * MINUTE, bill(6020, 0));
    assert_eq!(word(&step), Some("model_changed"), "which expiry would have caused as well");
    assert_eq!(step.cached, 0);
}

#[test]
fn content_that_moves_to_the_end_is_named_as_the_cause() {
    let reminder = "Remember to write tests before you write code, and to run all of them.";
    let mut calls = Calls::new("claude-opus-4-5");
    calls.say("user", "hello");
    let place = |calls: &mut Calls| {
        let node = NewNode::text(reminder).role("user");
        calls.context.add(At::at("^ah", 1), node).unwrap()
    };
    let first = place(&mut calls);
    calls.call(0, None);
    calls.context.remove(&first).unwrap();
    calls.say("assistant", "hello").say("user", "and then");
    place(&mut calls);
    let step = calls.call(MINUTE, None);
    assert_eq!(word(&step), Some("content_moved"));
    let broken = step.report.unwrap().broken.unwrap();
    assert_eq!((broken.node.as_deref(), &broken.cause), (Some(first.as_str()), &Cause::Moved));
    assert!(broken.cause.advice().contains("ttl 1"));
}

#[test]
fn short_requests_are_below_the_minimum() {
    let mut calls = Calls::new("claude-opus-4-5");
    calls.context.remove("rules").unwrap();
    calls.say("user", "hello").call(0, None);
    let step = calls.say("assistant", "hello").call(MINUTE, None);
    assert_eq!(word(&step), Some("below_minimum"));
    assert_eq!((step.cached, step.miss.unwrap().predicted), (0, 7));
}

#[test]
fn reasoning_of_earlier_turns_is_dropped_by_some_models() {
    let check = |model: &str, expected: Option<&str>| {
        let mut calls = Calls::new(model);
        calls.say("user", "hello").call(0, None);
        let thought = "Let me think about this. ".repeat(20);
        let thought = NewNode::text(thought).role("assistant").kind("reasoning");
        let thought = thought.attribute("data_signature", "EqAb9xYz");
        let thought = thought.attribute("data_provider", "anthropic");
        calls.context.add(At::head(), thought).unwrap();
        calls.say("assistant", "hello");
        let before = calls.say("tool", "a result").call(MINUTE, None);
        assert_eq!(word(&before), None, "in the same turn: {model}");
        let after = calls.say("user", "and now?").call(MINUTE, None);
        assert_eq!(word(&after), expected, "{model}");
        assert_eq!(after.tokens < before.tokens, expected.is_some(), "{model}");
        let later = calls.say("assistant", "well").say("user", "so").call(MINUTE, None);
        assert_eq!(word(&later), None, "it is dropped once: {model}");
    };
    check("claude-sonnet-4-5", Some("reasoning_dropped"));
    check("claude-opus-4-5", None);
}

#[test]
fn misses_without_a_reason_are_unexplained_and_the_diagnosis_is_kept() {
    let mut calls = Calls::new("claude-opus-4-8");
    calls.say("user", "hello").call(0, bill(8000, 0));
    let diagnosis = Diagnosis { reason: "tools_changed".to_owned(), tokens: Some(7000) };
    let billed = bill(8010, 1000).map(|it| Billed { diagnosis: Some(diagnosis.clone()), ..it });
    let step = calls.say("assistant", "hello").call(MINUTE, billed);
    let miss = step.miss.unwrap();
    assert_eq!(miss.reason, MissReason::Unexplained { place: Place::Node("rules".to_owned()) });
    assert_eq!((miss.predicted, miss.billed), (0, Some(7000)));
    assert_eq!(step.billed.unwrap().diagnosis, Some(diagnosis));
    let step = calls.say("user", "well").call(MINUTE, bill(8020, 7900));
    assert_eq!(word(&step), None, "providers read whole blocks only");
}

#[test]
fn what_a_log_lacks_is_inferred_from_the_first_bill() {
    let mut calls = Calls::logged("claude-opus-4-8");
    let first = calls.say("user", "hello").call(0, bill(20_000, 15_000));
    assert_eq!((first.tokens, first.cached), (20_000, 15_000));
    assert_eq!(first.inferred.prefix, 20_000 - 7, "all but `hello`");
    assert_eq!(first.inferred.cached, 15_000);
    let second = calls.say("assistant", "hello").call(MINUTE, bill(20_100, 20_000));
    assert_eq!((second.cached, second.inferred.cached), (20_000, 0));
    assert_eq!(second.tokens, 20_007, "the bill of a later call changes nothing");
    let third = calls.say("user", "well").call(60 * MINUTE, bill(20_200, 15_000));
    assert_eq!(word(&third), Some("expired"));
    assert_eq!(third.cached, 0, "what the first call found may have expired, too");
    let fourth = calls.say("user", "well").call(60 * MINUTE, bill(20_300, 0));
    assert_eq!(fourth.cached, 15_000, "other conversations keep it in the cache");
    let fifth = calls.say("user", "well").call(60 * MINUTE, bill(20_400, 0));
    assert_eq!(fifth.cached, 0, "as the last time");
    // Nothing that was logged is left, but the system text is the same.
    calls.policy.limits = vec![Limit::Total { measure: MeasureName::Nodes, max: 1 }];
    let compacted = calls.say("user", "so far").call(MINUTE, None);
    assert_eq!(word(&compacted), Some("messages_changed"));
    assert_eq!(compacted.cached, compacted.inferred.prefix);
}

#[test]
fn beginning_of_other_conversations_survives_a_pause_where_tokens_are_compared() {
    let mut calls = Calls::logged("gpt-5.4");
    calls.say("user", "hello").call(0, bill(20_000, 15_000));
    let second = calls.say("assistant", "hello").call(60 * MINUTE, None);
    assert_eq!((word(&second), second.cached), (Some("expired"), 15_000));
}

#[test]
fn what_a_call_did_not_write_is_not_read_by_the_next_one() {
    let mut calls = Calls::logged("claude-opus-4-8");
    let partly = Some(Billed { written: Some(6_000), ..bill(40_000, 30_000).unwrap() });
    calls.say("user", "hello").call(0, partly);
    let second = calls.say("assistant", "hello").call(MINUTE, bill(40_100, 36_000));
    assert_eq!((word(&second), second.cached), (Some("not_written"), 36_000));
    assert!(second.miss.unwrap().reason.advice().unwrap().contains("end of each request"));
    let third = calls.say("user", "well").call(MINUTE, bill(40_200, 40_100));
    assert_eq!((word(&third), third.cached), (None, second.tokens));
    // A bill that says nothing about writing limits nothing.
    let mut calls = Calls::logged("claude-opus-4-8");
    let unknown = Some(Billed { written: None, ..bill(40_000, 30_000).unwrap() });
    calls.say("user", "hello").call(0, unknown);
    assert_eq!(calls.say("assistant", "hello").call(MINUTE, None).cached, 40_000);
}

#[test]
fn reasoning_without_text_is_inferred_from_the_bill_of_the_answer() {
    let mut calls = Calls::logged("claude-opus-4-8");
    let billed = bill(20_000, 0).map(|it| Billed { output: Some(500), ..it });
    calls.say("user", "hello").call(0, billed);
    let second = calls.think().say("assistant", "hello").call(MINUTE, bill(20_500, 20_000));
    assert_eq!(second.inferred.reasoning, 500 - 7, "all but `hello`");
    assert_eq!(second.tokens, 20_500);
    let growth = calls.finish().billed.unwrap().growth;
    assert_eq!((growth.estimated, growth.billed), (500, 500));
    // The provider of this one bills reasoning separately, and drops it with the next question.
    let mut calls = Calls::logged("gpt-5.4");
    let billed = bill(20_000, 0).map(|it| Billed { reasoning: Some(300), ..it });
    calls.say("user", "hello").call(0, billed);
    let second = calls.say("assistant", "hello").call(MINUTE, bill(20_308, 20_000));
    assert_eq!((second.inferred.reasoning, second.tokens), (300, 20_308));
    let third = calls.say("user", "well").call(MINUTE, bill(20_016, 20_000));
    assert_eq!((third.inferred.reasoning, third.tokens), (0, 20_016));
    assert_eq!(word(&third), Some("reasoning_dropped"));
    assert_eq!(third.cached, 19_968, "in steps of 128");
}

#[test]
fn requests_that_shrink_without_a_logged_change_were_cleared() {
    let mut calls = Calls::logged("claude-opus-4-5");
    calls.say("user", "hello").call(0, bill(60_000, 0));
    let step = calls.say("assistant", "hello").call(MINUTE, bill(50_000, 30_000));
    assert_eq!(word(&step), Some("content_cleared"));
    assert_eq!(step.miss.unwrap().billed, Some(30_000));
    assert_eq!((step.tokens, step.inferred.cleared), (50_000, 10_007));
    let step = calls.say("user", "well").call(MINUTE, bill(50_010, 50_000));
    assert_eq!((step.cached, word(&step)), (50_000, None), "from here on it is as it was");
    let growth = calls.finish().billed.unwrap().growth;
    assert_eq!(
        (growth.estimated, growth.billed),
        (7, 10),
        "of the calls that only added something"
    );
}

#[test]
fn reasoning_is_kept_as_long_as_tools_are_running() {
    let mut calls = Calls::logged("gpt-5.4");
    let with = |input, cached| bill(input, cached).map(|it| Billed { reasoning: Some(300), ..it });
    calls.say("user", "hello").call(0, with(20_000, 0));
    let call = NewNode::text("{}").role("assistant").kind("call");
    let call = call.attribute("data_call_id", "c1").attribute("data_name", "weather");
    calls.context.add(At::head(), call).unwrap();
    let result = NewNode::text("rain").role("tool").kind("result");
    calls.context.add(At::head(), result.attribute("data_call_id", "c1")).unwrap();
    let step = calls.say("user", "a note meanwhile").call(MINUTE, with(20_350, 20_000));
    assert_eq!((word(&step), step.inferred.reasoning), (None, 300));
    let step =
        calls.say("assistant", "rain").say("user", "why?").call(MINUTE, bill(20_100, 20_000));
    assert_eq!((word(&step), step.inferred.reasoning), (Some("reasoning_dropped"), 0));
}

#[test]
fn a_request_without_breakpoints_is_not_cached() {
    let check = |marks: Option<Vec<Mark>>, expected: Option<&str>| {
        let mut calls = Calls::new("claude-opus-4-5");
        calls.marks = marks;
        calls.say("user", "hello").call(0, None);
        let step = calls.say("assistant", "hello").call(MINUTE, None);
        assert_eq!((word(&step), step.cached > 0), (expected, expected.is_none()));
    };
    let mark = |node: Option<&str>| Mark { node: node.map(str::to_owned), is_long: false };
    check(None, None);
    check(Some(Vec::new()), Some("no_breakpoint"));
    check(Some(vec![mark(None)]), None);
    check(Some(vec![mark(Some("rules"))]), None);
}

#[test]
fn reasons_are_summed_up_as_billed() {
    let mut calls = Calls::new("claude-opus-4-5");
    calls.say("user", "hello").call(0, bill(6000, 0));
    calls.say("user", "one").call(10 * MINUTE, bill(6010, 0));
    calls.say("user", "two").call(10 * MINUTE, bill(6020, 6010));
    calls.say("user", "three").call(MINUTE, bill(6030, 2000));
    let history = calls.finish();
    let reasons: Vec<(&str, u64, u64)> =
        history.reasons().iter().map(|total| (total.reason, total.calls, total.tokens)).collect();
    // The second time, the provider kept the entry longer than it promises.
    assert_eq!(reasons, [("expired", 2, 6000), ("unexplained", 1, 4020)]);
    let billed = history.billed.unwrap();
    let read = billed.reading.unwrap();
    assert_eq!((billed.calls, billed.tokens, read.cached), (4, 24_060, 8010));
}

#[test]
fn thinking_that_is_turned_on_or_off_breaks_the_messages_and_leaves_what_precedes_them() {
    let mut calls = Calls::logged("claude-opus-4-5");
    let long = "A long question about many things. ".repeat(400);
    calls.thinking = Some(contextree_json::parse(br#"{"type":"enabled"}"#).unwrap());
    let first = calls.say("user", &long).call(0, bill(20_000, 0));
    assert_eq!(word(&first), None);
    let with = calls.say("assistant", &long).say("user", "on").call(MINUTE, bill(23_000, 20_000));
    let thinking = calls.thinking.take();
    // What precedes the messages is not in the log; its size is inferred.
    let off = calls.say("assistant", "yes").say("user", "off").call(MINUTE, bill(23_100, 16_500));
    assert_eq!(word(&off), Some("thinking_changed"));
    assert_eq!(off.cached, off.inferred.prefix, "system text and tools stay");
    assert_eq!(off.miss.unwrap().billed, Some(6_500));
    // The older entry is still there for requests that think.
    calls.thinking = thinking;
    let on = calls.say("assistant", "no").say("user", "on").call(MINUTE, bill(23_200, 23_000));
    assert_eq!((word(&on), on.cached), (None, with.tokens));
    // What the break has shown counts from then on: the entries of both kinds have gone after a while.
    let expired = calls.say("assistant", "no").say("user", "on").call(9 * MINUTE, bill(23_300, 0));
    assert_eq!((word(&expired), expired.cached), (Some("expired"), 0));
}

#[test]
fn bills_that_leave_out_what_was_written_are_not_taken_at_their_word() {
    let mut calls = Calls::logged("claude-opus-4-5");
    let unwritten =
        |input, cached| bill(input, cached).map(|billed| Billed { written: Some(0), ..billed });
    calls.say("user", "hello").call(0, unwritten(20_000, 0));
    // A proxy that fills the field with zero cannot be told from one that caches nothing.
    let step = calls.say("assistant", "a").say("user", "b").call(MINUTE, unwritten(20_100, 19_900));
    assert_eq!(step.cached, 0);
    let step = calls.say("assistant", "c").say("user", "d").call(MINUTE, unwritten(20_200, 20_000));
    assert!(step.cached > 20_000, "{}", step.cached);
    assert_eq!(word(&step), None);
}

#[test]
fn what_a_log_lacks_is_inferred_again_when_the_conversation_begins_again() {
    let mut calls = Calls::logged("claude-opus-4-8");
    calls.say("user", "hello").call(0, bill(20_000, 15_000));
    calls.policy.limits = vec![Limit::Total { measure: MeasureName::Nodes, max: 1 }];
    let anew = calls.say("user", "so far").call(MINUTE, bill(30_000, 15_000));
    assert_eq!(anew.tokens, 30_000, "the system text may be another one");
    let next = calls.say("user", "well").call(MINUTE, None);
    assert!(next.tokens > 29_900, "{}", next.tokens);
}

#[test]
fn clearing_never_takes_an_estimate_below_the_bill() {
    let mut calls = Calls::logged("claude-opus-4-5");
    calls.say("user", "hello").call(0, bill(60_000, 0));
    // The estimate does not know of most of what this call sent.
    calls.say("assistant", "hello").call(MINUTE, bill(90_000, 60_000));
    let step = calls.say("user", "well").call(MINUTE, bill(70_000, 60_000));
    assert_eq!(word(&step), Some("content_cleared"));
    assert_eq!(step.inferred.cleared, 0);
    let step = calls.say("user", "now").call(MINUTE, bill(40_000, 30_000));
    assert_eq!(step.tokens, 40_000);
}

#[test]
fn bills_that_do_not_say_what_was_cached_tell_the_size() {
    let mut calls = Calls::logged("claude-opus-4-8");
    let silent = |input| Some(Billed { input, cached: None, written: None, ..Billed::default() });
    let first = calls.say("user", "hello").call(0, silent(20_000));
    assert_eq!((first.tokens, first.cached), (20_000, 0));
    let second = calls.say("assistant", "hello").call(MINUTE, silent(20_100));
    assert_eq!((second.cached, word(&second)), (20_000, None));
    let billed = calls.finish().billed.unwrap();
    assert_eq!((billed.calls, billed.tokens, billed.reading), (2, 40_100, None));
}

#[test]
fn request_of_unknown_size_is_not_called_too_short() {
    let mut calls = Calls::logged("claude-opus-4-5");
    let first = calls.say("user", "hello").call(0, None);
    assert!(first.inferred.lacks_prefix);
    let step = calls.say("assistant", "hello").call(MINUTE, None);
    assert_eq!((word(&step), step.cached > 0), (None, true));
    let step = calls.say("user", "well").call(MINUTE, bill(20_000, 19_000));
    assert_eq!((step.inferred.lacks_prefix, step.tokens), (false, 20_000));
}
