//! Generates random agent sessions: tools, thinking, retrieved documents, and budgets that are too
//! small.

use contextree_engine::{CommitOptions, Context, Limit, MeasureName, NewNode, Place, Policy};
use contextree_json::Value;
use contextree_provider::Provider;
use contextree_tree::Region;

/// A random number generator with the same sequence on every machine.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }

    pub(crate) fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    fn text(&mut self) -> String {
        let words =
            ["rain", "Zürich", "日本", "the", "forecast", "😀", "\"quoted\"", "a\nb", "ليس"];
        let count = 1 + self.below(12) as usize;
        let chosen: Vec<&str> =
            (0..count).map(|_| words[self.below(words.len() as u64) as usize]).collect();
        chosen.join(" ")
    }
}

/// A session in progress.
pub(crate) struct Session {
    pub(crate) context: Context,
    pub(crate) random: Random,
    /// The provider of the model; thinking has its signatures.
    provider: Provider,
    calls: u64,
    /// Results that arrive in a later turn, usually the next.
    late: Vec<NewNode>,
}

impl Session {
    pub(crate) fn new(seed: u64, provider: Provider) -> Self {
        let mut context = Context::new();
        let tool = contextree_json::parse(
            br#"{"name":"get_weather","description":"The weather.","parameters":{"type":"object","properties":{"city":{"type":"string"}}}}"#,
        );
        let tool = NewNode::json(tool.unwrap()).kind("tool");
        let mut random = Random::new(seed);
        // Without a pin, these can be pruned too.
        let pinned = random.chance(70);
        context.add(Place::system(), tool.pinned(pinned)).unwrap();
        let prompt = NewNode::text("You are a weather bot.").role("system").kind("text");
        context.add(Place::system(), prompt.pinned(pinned)).unwrap();
        Session { context, random, provider, calls: 0, late: Vec::new() }
    }

    fn add(&mut self, mut node: NewNode) {
        node.priority = self.random.below(3) as i64;
        if self.random.chance(2) {
            node.pinned = true;
        }
        self.context.add(Place::head(), node).unwrap();
    }

    /// Adds a user message, after which a request is sent.
    pub(crate) fn ask(&mut self) {
        for result in std::mem::take(&mut self.late) {
            if self.random.chance(40) {
                self.late.push(result);
            } else {
                self.add(result);
            }
        }
        let text = self.random.text();
        self.add(NewNode::text(text).role("user").kind("text"));
        if self.random.chance(30) {
            let text = self.random.text();
            let document = NewNode::text(text).role("user").kind("document");
            let ttl = self.random.below(4) as i64;
            self.context.add(Place::at("^ah", -1), document.ttl(ttl)).unwrap();
        }
        if self.random.chance(10) {
            let image = NewNode::text("iVBORw0KGgo=").role("user").kind("image");
            self.add(image.mime("image/png").encoding("base64"));
        }
        if self.random.chance(5) {
            self.add(NewNode::text("Be brief.").role("system").kind("text"));
        }
    }

    fn reasoning(&mut self, unit: &str) -> NewNode {
        let text = self.random.text();
        let node = match self.provider {
            Provider::OpenAiResponses => {
                let summary = format!("[{{\"type\":\"summary_text\",\"text\":{:?}}}]", "why");
                let summary = contextree_json::parse(summary.as_bytes()).unwrap();
                let id = Value::from(format!("rs_{unit}"));
                let extra = contextree_json::Object::from_iter([("id", id)]);
                NewNode::json(summary).attribute("data_extra", Value::Object(extra))
            }
            _ => NewNode::text(text),
        };
        node.role("assistant")
            .kind("reasoning")
            .attribute("data_provider", self.provider.name())
            .attribute("data_signature", "c2lnbmF0dXJl")
            .attribute("data_call_id", unit)
    }

    /// Adds the work and the answer of the model.
    pub(crate) fn answer(&mut self) {
        for _ in 0..self.random.below(4) {
            self.step();
        }
        let reasons = self.random.chance(40);
        let text = self.random.text();
        let mut said = NewNode::text(text).role("assistant").kind("text");
        if reasons {
            self.calls += 1;
            let unit = format!("step:{}", self.calls);
            let reasoning = self.reasoning(&unit);
            self.add(reasoning);
            said = said.attribute("data_call_id", unit.as_str());
        }
        self.add(said);
    }

    fn step(&mut self) {
        let first = self.calls + 1;
        let count = 1 + self.random.below(3);
        self.calls += count;
        let unit = format!("call_{first}");
        if self.random.chance(60) {
            let reasoning = self.reasoning(&unit);
            self.add(reasoning);
        }
        if self.random.chance(30) {
            let text = self.random.text();
            self.add(NewNode::text(text).role("assistant").kind("text"));
        }
        let own = |node: NewNode, id: u64| {
            let node = node.attribute("data_call_id", unit.as_str());
            match id == first {
                true => node,
                false => node.attribute("data_tool_call_id", format!("call_{id}")),
            }
        };
        let mut results = Vec::new();
        for id in first..first + count {
            let arguments = format!("{{\"city\": {:?}}}", "Oslo");
            let call = NewNode::text(arguments).role("assistant").kind("call");
            self.add(own(call.attribute("data_name", "get_weather"), id));
            let text = self.random.text();
            let mut result = own(NewNode::text(text).role("tool").kind("result"), id);
            if self.random.chance(10) {
                result = result.attribute("data_is_error", true);
            }
            results.push(result);
        }
        if self.random.chance(30) {
            results.reverse();
        }
        if self.random.chance(10) {
            let text = self.random.text();
            self.add(NewNode::text(text).role("user").kind("text"));
        }
        for result in results {
            match self.random.below(100) {
                0 => {}
                1 | 2 => self.late.push(result),
                _ => self.add(result),
            }
        }
    }

    /// Returns a budget that is too small.
    pub(crate) fn policy(&mut self) -> Policy {
        let measure = if self.random.chance(50) { MeasureName::Bytes } else { MeasureName::Nodes };
        let max = match measure {
            MeasureName::Nodes => 5 + self.random.below(60),
            _ => 100 + self.random.below(4000),
        };
        let limit = match self.random.below(5) {
            0 => Limit::Depth(1 + self.random.below(12)),
            1 => Limit::Turn { measure, max },
            2 => Limit::Region { region: Region::Seq, measure, max },
            3 => Limit::Remove(self.random.below(6)),
            _ => Limit::Total { measure, max },
        };
        Policy { protect_turns: self.random.below(3), limits: vec![limit], ..Policy::default() }
    }

    pub(crate) fn commit(&mut self, policy: &Policy) {
        let options = CommitOptions { policy: Some(policy), ..CommitOptions::default() };
        self.context.commit_with(&options).unwrap();
    }
}
