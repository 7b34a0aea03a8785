//! Events of the engine for Python's `logging`.
//!
//! An event may happen while a lock of the engine is held, where Python must not be called. So events wait here, and the Python layer
//! fetches them after its call.

use std::collections::VecDeque;
use std::fmt::{self, Write as _};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// The most events that wait. If nothing fetches them, older ones are dropped.
const WAITING: usize = 1_000;

/// The level of Python's `logging` from which on events are kept; 0 for none.
static LEVEL: AtomicU8 = AtomicU8::new(0);
/// Whether the collector is installed.
static INSTALLED: AtomicBool = AtomicBool::new(false);
static EVENTS: Mutex<VecDeque<(u8, String, String)>> = Mutex::new(VecDeque::new());

/// Sets the level of Python's `logging` from which on events are kept; 0 for none.
#[pyfunction]
pub(crate) fn set_log_level(level: u8) {
    LEVEL.store(level, Ordering::Relaxed);
    if level > 0 && !INSTALLED.swap(true, Ordering::Relaxed) {
        // It fails if the program has a subscriber of its own, which then gets the events.
        let _ = tracing::subscriber::set_global_default(Collector);
    }
    tracing::callsite::rebuild_interest_cache();
}

/// Returns the events since the last call: level, target, message.
#[pyfunction]
pub(crate) fn drain_log() -> Vec<(u8, String, String)> {
    EVENTS.lock().unwrap_or_else(PoisonError::into_inner).drain(..).collect()
}

/// Returns the level of Python's `logging` that means the same.
fn level_of(level: Level) -> u8 {
    match level {
        Level::ERROR => 40,
        Level::WARN => 30,
        Level::INFO => 20,
        Level::DEBUG => 10,
        Level::TRACE => 5,
    }
}

struct Collector;

impl Subscriber for Collector {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        let kept = LEVEL.load(Ordering::Relaxed);
        let is_own = metadata.target().starts_with("contextree");
        kept > 0 && metadata.is_event() && is_own && level_of(*metadata.level()) >= kept
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(match LEVEL.load(Ordering::Relaxed) {
            0 => LevelFilter::OFF,
            1..=5 => LevelFilter::TRACE,
            6..=10 => LevelFilter::DEBUG,
            11..=20 => LevelFilter::INFO,
            21..=30 => LevelFilter::WARN,
            _ => LevelFilter::ERROR,
        })
    }

    fn new_span(&self, _span: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _span: &Id, _values: &Record<'_>) {}

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut text = Text::default();
        event.record(&mut text);
        let target =
            event.metadata().target().replace("::", ".").replacen("contextree_", "contextree.", 1);
        let entry = (level_of(*event.metadata().level()), target, text.finish());
        let mut events = EVENTS.lock().unwrap_or_else(PoisonError::into_inner);
        if events.len() == WAITING {
            events.pop_front();
        }
        events.push_back(entry);
    }

    fn enter(&self, _span: &Id) {}

    fn exit(&self, _span: &Id) {}
}

/// The message of an event, followed by its fields.
#[derive(Default)]
struct Text {
    message: String,
    fields: String,
}

impl Text {
    fn finish(self) -> String {
        self.message + &self.fields
    }
}

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        // Writing to a string does not fail.
        let _ = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            name => write!(self.fields, " {name}={value:?}"),
        };
    }
}
