//! What both programs share: the conversation, the clock, and the line of JSON that they answer with.

use std::fs::File;
use std::hint::black_box;
use std::io::{BufRead as _, BufReader};
use std::time::Instant;

use serde_json::{Map, Value, json};

/// The arguments, and what was measured.
pub struct Run {
    pub system: String,
    pub is_agent: bool,
    pub length: usize,
    pub conversation: String,
    pub folder: String,
    fields: Map<String, Value>,
    why: Map<String, Value>,
    times: Vec<f64>,
}

impl Run {
    pub fn new() -> Option<Run> {
        let mut arguments = std::env::args().skip(1);
        let mut next = || arguments.next();
        Some(Run {
            system: next()?,
            is_agent: next()? == "agent",
            length: next()?.parse().ok()?,
            conversation: next()?,
            folder: next()?,
            fields: Map::new(),
            why: Map::new(),
            times: Vec::new(),
        })
    }

    pub fn lines(&self) -> impl Iterator<Item = Value> + use<> {
        let file = File::open(&self.conversation).expect("there is a conversation");
        BufReader::new(file)
            .lines()
            .map(|line| serde_json::from_str(&line.expect("it can be read")).expect("it is JSON"))
    }

    pub fn began(&mut self) {
        self.field("rss_before", json!(resident()));
        self.times.clear();
    }

    pub fn step<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        self.times.push(start.elapsed().as_nanos() as f64);
        result
    }

    /// Keeps the times of the last steps, as every program does: a fifth of them, from 5 to 100.
    pub fn ended(&mut self) {
        self.field("rss", json!(resident()));
        let window = (self.length / 5).clamp(5, 100).min(self.times.len());
        let last = self.times[self.times.len() - window..].to_vec();
        self.field("turn", json!(last));
        self.field("total", json!([self.times.iter().sum::<f64>()]));
    }

    pub fn measure<T>(&mut self, name: &str, mut work: impl FnMut() -> T) -> T {
        let start = Instant::now();
        let mut result = work();
        let first = start.elapsed().as_nanos() as f64;
        let repeat = ((3e9 / first.max(1.0)) as usize).clamp(1, 15);
        let mut times = Vec::new();
        for _ in 0..repeat {
            let start = Instant::now();
            result = work();
            times.push(start.elapsed().as_nanos() as f64);
        }
        self.field(name, json!(times));
        result
    }

    pub fn field(&mut self, name: &str, value: Value) {
        self.fields.insert(name.to_owned(), value);
    }

    pub fn kept(&mut self, prefix: &str, (count, bytes): (usize, usize)) {
        self.field(&format!("{prefix}messages"), json!(count));
        self.field(&format!("{prefix}text"), json!(bytes));
    }

    pub fn skip(&mut self, reason: &str, names: &[&str]) {
        for name in names {
            self.why.insert((*name).to_owned(), json!(reason));
        }
    }

    pub fn print(mut self) {
        let why = Value::Object(self.why);
        self.fields.insert("why".to_owned(), why);
        println!("{}", Value::Object(self.fields));
    }
}

/// Looks at every byte of some texts: how many texts there are, and how long they are.
pub fn read<'a>(texts: impl Iterator<Item = &'a str>) -> (usize, usize) {
    texts.fold((0, 0), |(count, bytes), text| {
        black_box(text.bytes().map(u64::from).sum::<u64>());
        (count + 1, bytes + text.len())
    })
}

pub fn text<'a>(line: &'a Value, name: &str) -> &'a str {
    line[name].as_str().unwrap_or_default()
}

fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap_or_default();
    let kilobytes = line.split_whitespace().nth(1).and_then(|text| text.parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}
