//! Tests histories: the reported share can be read from a simulated cache that only knows the
//! rules.

use std::collections::BTreeSet;

use contextree_cache::{CacheRules, Evidence, Follower, Rendered};
use contextree_engine::{CommitOptions, Context, Limit, MeasureName, NewNode, Place, Policy};
use contextree_provider::{Provider, RenderOptions, render};
use contextree_tokens::Tokenizer;

/// A cache like Anthropic's: entries at breakpoints, found within the 20 blocks before a
/// breakpoint.
#[derive(Default)]
struct Cache(BTreeSet<Vec<u8>>);

impl Cache {
    /// Returns how many bytes of a request are read, and writes an entry at each breakpoint.
    fn send(&mut self, request: &Rendered<'_>, at: &[usize]) -> usize {
        let upto = |spans: usize| &request.bytes()[..request.spans()[spans - 1].end];
        let hit = at
            .iter()
            .flat_map(|at| (at.saturating_sub(19).max(1)..=*at).rev())
            .filter(|spans| self.0.contains(upto(*spans)))
            .max();
        self.0.extend(at.iter().map(|at| upto(*at).to_vec()));
        hit.map_or(0, |spans| upto(spans).len())
    }
}

/// Returns a session with expiring documents, wide turns and occasional pruning.
fn session(turns: usize, document_ttl: i64, policy: &Policy) -> Context {
    let mut context = Context::new();
    let text = |what: &str, turn: usize| format!("{what} {turn}: {}", "some more words ".repeat(9));
    let rules = "A rule that holds. ".repeat(300);
    context.add(Place::system(), NewNode::text(rules).role("system").pinned(true)).unwrap();
    for turn in 0..turns {
        context.add(Place::head(), NewNode::text(text("question", turn)).role("user")).unwrap();
        for part in 0..turn % 4 * 9 {
            let words = text("part", part);
            context.add(Place::head(), NewNode::text(words).role("assistant")).unwrap();
        }
        let document = NewNode::text(text("document", turn)).role("user").ttl(document_ttl);
        context.add(Place::at("^ah", 1), document).unwrap();
        let options = CommitOptions { policy: Some(policy), ..CommitOptions::default() };
        context.commit_with(&options).unwrap();
    }
    context
}

#[test]
fn reported_share_equals_what_the_breakpoints_give() {
    let bytes = |max| Limit::Total { measure: MeasureName::Bytes, max };
    let pruning = Policy { limits: vec![bytes(40_000)], ..Policy::default() };
    let cases = [(0, Policy::default(), 600), (2, Policy::default(), 600), (1, pruning, 300)];
    for (ttl, policy, least) in cases {
        let context = session(40, ttl, &policy);
        let rules = CacheRules::anthropic("claude-sonnet-5");
        let mut follower = Follower::new(Tokenizer::default(), rules);
        let mut cache = Cache::default();
        let mut before = None;
        let mut hits = 0;
        for snapshot in context.history().iter() {
            let tree = snapshot.view();
            let request = render(tree, Provider::Anthropic, &RenderOptions::default()).unwrap();
            let rendered = Rendered::from(&request);
            let evidence = Evidence::new(before.unwrap_or(tree), tree);
            let cached = follower.follow(&rendered, &evidence).cached;
            let set = &follower.history().breakpoints;
            assert!(set.len() <= 4 && set.iter().all(|point| point.tokens >= 1024));
            let at: Vec<usize> = set.iter().map(|point| point.spans).collect();
            let read = cache.send(&rendered, &at);
            let spans = rendered.span_from(read);
            let tokens = contextree_cache::Prompt::measure(rendered, Tokenizer::default())
                .tokens_until(spans);
            assert_eq!(cached, if read == 0 { 0 } else { tokens }, "@c{}", snapshot.cycle());
            hits += usize::from(cached > 0);
            before = Some(tree);
        }
        assert_eq!(hits, 39, "every request but the first has a hit, with a ttl of {ttl}");
        let share = follower.history().per_mille();
        assert!(share > least, "{share} ‰ with a ttl of {ttl}");
    }
}

#[test]
fn expiry_costs_only_what_follows() {
    let context = session(30, 0, &Policy::default());
    let share = |rules: CacheRules| {
        let mut follower = Follower::new(Tokenizer::default(), rules);
        for snapshot in context.history().iter() {
            let tree = snapshot.view();
            let request = render(tree, Provider::Anthropic, &RenderOptions::default()).unwrap();
            follower.follow(&Rendered::from(&request), &Evidence::new(tree, tree));
        }
        follower.finish().per_mille()
    };
    let automatic = share(CacheRules::openai("gpt-5"));
    let explicit = share(CacheRules::openai("gpt-5.6"));
    let anthropic = share(CacheRules::anthropic("claude-sonnet-5"));
    assert!(automatic >= explicit && explicit + 20 > automatic, "{automatic} {explicit}");
    assert!(anthropic + 20 > automatic, "{automatic} {anthropic}");
}
