//! Tests whole agent sessions under budgets: providers accept every request that is left.

use contextree_budget::{Budget, Forecast, Keeper, Rule};
use contextree_canon::thread::blocks;
use contextree_engine::{Context, NewNode, Place};
use contextree_json::Value;
use contextree_provider::{Provider, RenderError, RenderOptions, Severity, lint, render};
use contextree_testkit::Rng;
use contextree_tree::{Region, TreeRef};
use proptest::prelude::*;

fn text(random: &mut Rng) -> String {
    let words = ["rain", "Zürich", "日本", "the", "forecast", "\"quoted\"", "a\nb"];
    let count = 1 + random.below(12);
    let chosen: Vec<&str> = (0..count).map(|_| random.word(&words)).collect();
    chosen.join(" ")
}

/// An agent that talks, thinks, calls tools in parallel and reads documents.
struct Agent {
    context: Context,
    random: Rng,
    provider: Provider,
    calls: u64,
}

impl Agent {
    fn new(seed: u64, provider: Provider) -> Self {
        let mut context = Context::new();
        let tool = br#"{"name":"weather","parameters":{"type":"object"}}"#;
        let tool = NewNode::json(contextree_json::parse(tool).unwrap()).kind("tool");
        context.add(Place::system(), tool).unwrap();
        let rules = NewNode::text("You are a weather bot.").role("system").kind("text");
        context.add(Place::system(), rules).unwrap();
        Agent { context, random: Rng::new(seed), provider, calls: 0 }
    }

    fn add(&mut self, mut node: NewNode) {
        node.priority = self.random.below(3) as i64;
        node.pinned = self.random.percent(2);
        self.context.add(Place::head(), node).unwrap();
    }

    /// Adds a turn: a question, perhaps a document, some steps with tools, an answer.
    fn turn(&mut self) {
        let question = text(&mut self.random);
        self.add(NewNode::text(question).role("user").kind("text"));
        if self.random.percent(40) {
            let ttl = self.random.below(4) as i64;
            let document = NewNode::text(text(&mut self.random)).role("user").kind("document");
            let place = if self.random.percent(50) { -1 } else { 1 };
            self.context.add(Place::at("^ah", place), document.ttl(ttl)).unwrap();
        }
        for _ in 0..self.random.below(3) {
            self.step();
        }
        let answer = text(&mut self.random);
        self.add(NewNode::text(answer).role("assistant").kind("text"));
    }

    fn step(&mut self) {
        let first = self.calls + 1;
        let count = 1 + self.random.below(3);
        self.calls += count;
        let ids: Vec<String> = (first..first + count).map(|id| format!("call_{id}")).collect();
        if self.random.percent(60) {
            let all: Vec<Value> = ids.iter().map(|id| id.as_str().into()).collect();
            let thought = match self.provider {
                Provider::OpenAiResponses => {
                    let summary = br#"[{"type":"summary_text","text":"why"}]"#;
                    NewNode::json(contextree_json::parse(summary).unwrap())
                }
                _ => NewNode::text(text(&mut self.random)),
            };
            let thought = thought
                .role("assistant")
                .kind("reasoning")
                .attribute("data_provider", self.provider.name())
                .attribute("data_signature", "c2lnbmF0dXJl")
                .attribute("data_call_ids", all);
            self.add(thought);
        }
        for id in &ids {
            let call = NewNode::text("{\"city\":\"Oslo\"}").role("assistant").kind("call");
            let call = call.attribute("data_name", "weather");
            self.add(call.attribute("data_call_id", id.as_str()));
        }
        for id in &ids {
            let result = NewNode::text(text(&mut self.random)).role("tool").kind("result");
            self.add(result.attribute("data_call_id", id.as_str()));
        }
    }
}

fn budget(random: &mut Rng) -> Budget {
    let mut budget = Budget::new().keep_turns(1 + random.below(4));
    if random.percent(70) {
        budget = budget.max_tokens(20 + random.below(1500));
    }
    if random.percent(30) {
        budget = budget.turn_tokens(10 + random.below(200));
    }
    if random.percent(30) {
        let turns = budget.keep_turns + random.below(20);
        budget = budget.max_turns(turns);
    }
    for region in Region::ALL {
        if random.percent(20) {
            budget = budget.region_tokens(region, random.below(1000));
        }
    }
    if random.percent(30) {
        budget = budget.clear_at_least(random.below(300));
    }
    if random.percent(30) {
        budget = budget.exclude(".block[kind='document']");
    }
    budget
}

fn tokens(keeper: &Keeper, tree: TreeRef<'_>, region: Option<Region>) -> u64 {
    blocks(tree)
        .filter(|(own, _)| region.is_none_or(|region| region == *own))
        .map(|(_, block)| keeper.counter().count_node(block))
        .sum()
}

/// Checks that every limit was kept, unless it was reported as missed.
fn check_limits(keeper: &Keeper, forecast: &Forecast, tree: TreeRef<'_>) {
    let missed = |rule: Rule| forecast.missed.iter().any(|missed| missed.rule == rule);
    let budget = keeper.budget();
    if let Some(max) = budget.max_tokens {
        assert!(missed(Rule::MaxTokens) || tokens(keeper, tree, None) <= max);
    }
    // The head is a turn of `^seq` by now.
    if let (Some(seq), Some(head)) = (budget.region_tokens[1], budget.region_tokens[2]) {
        let missed = missed(Rule::Region(Region::Seq)) || missed(Rule::Region(Region::Head));
        assert!(missed || tokens(keeper, tree, Some(Region::Seq)) <= seq + head);
    }
    match budget.region_tokens[0] {
        Some(max) => {
            let kept = tokens(keeper, tree, Some(Region::Sys)) <= max;
            assert!(missed(Rule::Region(Region::Sys)) || kept);
        }
        None => assert_eq!(tree.region(Region::Sys).children().count(), 2, "it has no limit"),
    }
    let turns: Vec<_> = tree.region(Region::Seq).children().collect();
    if let Some(max) = budget.max_turns {
        assert!(missed(Rule::MaxTurns) || turns.len() as u64 <= max.max(1));
    }
    if let Some(max) = budget.turn_tokens {
        for turn in turns {
            let own = turn.subtree().map(|(_, node)| keeper.counter().count_node(node));
            assert!(missed(Rule::TurnTokens) || own.sum::<u64>() <= max, "{}", turn.id());
        }
    }
}

/// Checks that all providers accept what is left.
fn check_requests(tree: TreeRef<'_>) {
    for provider in Provider::ALL {
        let mut options = RenderOptions::default();
        options.settings.insert("model", "m".into());
        if provider == Provider::Anthropic {
            options.settings.insert("max_tokens", 100.into());
        }
        let rendered = match render(tree, provider, &options) {
            Ok(rendered) => rendered,
            // Without a protected turn, a budget may prune everything.
            Err(RenderError::Empty) => continue,
            Err(error) => panic!("{provider}: {error}"),
        };
        let findings = lint(&rendered);
        let errors: Vec<_> =
            findings.iter().filter(|finding| finding.severity == Severity::Error).collect();
        assert!(errors.is_empty(), "{provider}: {errors:?}\n{}", rendered.text());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(16) })]

    // covers: PRU-005
    #[test]
    fn every_request_of_a_session_under_a_budget_is_accepted(seed: u64) {
        let provider = Provider::ALL[(seed % 4) as usize];
        let mut agent = Agent::new(seed, provider);
        let keeper = Keeper::new(budget(&mut agent.random));
        for _ in 0..60 + agent.random.below(60) {
            agent.turn();
            let forecast = keeper.preview(&agent.context).unwrap();
            let report = keeper.commit(&mut agent.context).unwrap();
            prop_assert_eq!(&report, &forecast.preview.as_ref().unwrap().report, "a commit does what was forecast");
            let tree = agent.context.newest().unwrap().view();
            prop_assert_eq!(forecast.tokens_after, tokens(&keeper, tree, None));
            check_limits(&keeper, &forecast, tree);
            check_requests(tree);
        }
    }
}
