//! The memory of one request is bounded: that of selectors by their limits, that of documents by their size.

#![cfg(unix)]

use std::sync::Mutex;

use contextree::json::{Value, parse};
use contextree::{ContextSettings, NewNode, Place};
use contextree_app::Workspace;
use contextree_app::catalog::COMMANDS;
use contextree_store::{Store, StoreOptions};
use contextree_trials::{inputs, worst};
use peak_alloc::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// One test at a time is measured.
static ALONE: Mutex<()> = Mutex::new(());

/// Returns how many bytes more than before were allocated at once.
fn peak(work: impl FnOnce()) -> usize {
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    work();
    MEMORY.peak_usage().saturating_sub(before)
}

/// What a selector may take, whatever it is.
const OF_A_SELECTOR: usize = 200 << 20;

#[test]
fn the_most_expensive_selectors_take_less_than_their_bound() {
    let _alone = ALONE.lock().unwrap();
    let tree = worst::large(25_000);
    let mut most = (0, String::new());
    for text in worst::chosen().into_iter().chain((0..3).map(worst::random)) {
        let mut outcome = worst::Outcome::Invalid;
        let bytes = peak(|| outcome = worst::evaluate(&text, &tree).unwrap());
        assert_ne!(outcome, worst::Outcome::Invalid, "{text:.80}");
        most = most.max((bytes, text.chars().take(60).collect()));
    }
    println!("{} MB at most: {}…", most.0 >> 20, most.1);
    assert!(most.0 < OF_A_SELECTOR, "{} MB: {}", most.0 >> 20, most.1);
}

/// How many bytes one byte of a request may take, and what every request may take besides.
const PER_BYTE: usize = 100;
const BESIDES: usize = 16 << 20;

/// The size of the hostile requests.
const SIZE: usize = 256 << 10;

/// Texts that take the most memory for their length.
fn shapes() -> Vec<String> {
    let list = |part: &str| format!("[{}]", vec![part; SIZE / (part.len() + 1)].join(","));
    let keys = |value: &str| {
        let fields: Vec<String> =
            (0..SIZE / (value.len() + 9)).map(|number| format!("\"{number:x}\":{value}")).collect();
        format!("{{{}}}", fields.join(","))
    };
    vec![
        list("[]"),
        list("0"),
        list("{}"),
        list("{\"a\":{}}"),
        list("\"\""),
        list("1.5e300"),
        keys("0"),
        keys("[]"),
        format!("\"{}\"", "a".repeat(SIZE)),
        format!("\"{}\"", "\\u0001".repeat(SIZE / 6)),
        format!("{}0{}", "[".repeat(60), "]".repeat(60)),
    ]
}

fn workspace() -> Workspace {
    let store =
        Store::open_with("memory:", StoreOptions::deterministic()).expect("memory can be opened");
    let mut session = store.create("main", &ContextSettings::default()).expect("the name is free");
    session
        .write(|context| -> Result<(), Box<dyn std::error::Error>> {
            context.add(Place::head(), NewNode::text("something").role("user"))?;
            context.commit()?;
            Ok(())
        })
        .expect("a block can be added");
    drop(session);
    Workspace::over(store, "memory:")
}

#[test]
fn a_request_takes_memory_in_proportion_to_its_size() {
    let _alone = ALONE.lock().unwrap();
    let workspace = workspace();
    let mut most = (0, String::new());
    for shape in shapes() {
        for command in COMMANDS {
            let fields = inputs::fields(command.name);
            // As the whole request, and as each of its fields.
            let whole = std::iter::once(shape.clone());
            let parts = fields.iter().map(|field| format!("{{\"{field}\":{shape}}}"));
            for text in whole.chain(parts) {
                let bytes = peak(|| {
                    if let Ok(request) = parse(text.as_bytes()) {
                        inputs::request(&workspace, command.name, request);
                    }
                });
                let what = format!("{}: {:.60}", command.name, text);
                assert!(bytes < text.len() * PER_BYTE + BESIDES, "{} MB for {what}", bytes >> 20);
                most = most.max((bytes / text.len(), what));
            }
        }
    }
    println!("{} bytes for a byte at most: {}", most.0, most.1);
}

#[test]
fn a_value_that_names_a_large_number_takes_no_memory_for_it() {
    let _alone = ALONE.lock().unwrap();
    let workspace = workspace();
    for command in COMMANDS {
        for field in inputs::fields(command.name) {
            for number in [i64::from(u32::MAX), i64::MAX, 1 << 40] {
                let mut request = contextree::json::Object::new();
                request.insert(&*field, Value::from(number));
                let bytes =
                    peak(|| inputs::request(&workspace, command.name, Value::Object(request)));
                assert!(bytes < BESIDES, "{} MB: {} {field}", bytes >> 20, command.name);
            }
        }
    }
}
