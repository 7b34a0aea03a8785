//! Counters for Prometheus. Names of contexts and tokens are never labels.

use std::fmt;
use std::sync::atomic::AtomicU64;

use prometheus_client::encoding::{EncodeLabelSet, text::encode};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

/// The media type of the text format.
pub const TEXT: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// What a request is counted by.
#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Answered {
    route: String,
    method: String,
    status: u16,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Failed {
    code: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Timed {
    route: String,
}

/// The counters of a server.
pub struct Metrics {
    registry: Registry,
    requests: Family<Answered, Counter>,
    failures: Family<Failed, Counter>,
    seconds: Family<Timed, Histogram>,
    /// Open connections.
    pub connections: Gauge,
    /// Commands that run.
    pub running: Gauge,
    /// Commands that wait for others to end.
    pub waiting: Gauge,
    /// Clients that listen for changes.
    pub listeners: Gauge,
    /// Changes that were announced to clients.
    pub changes: Counter<u64, AtomicU64>,
}

impl fmt::Debug for Metrics {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Metrics").finish_non_exhaustive()
    }
}

impl Default for Metrics {
    fn default() -> Self {
        let histogram = || Histogram::new(exponential_buckets(0.0005, 4.0, 9));
        let mut metrics = Metrics {
            registry: Registry::with_prefix("contextree"),
            requests: Family::default(),
            failures: Family::default(),
            seconds: Family::new_with_constructor(histogram),
            connections: Gauge::default(),
            running: Gauge::default(),
            waiting: Gauge::default(),
            listeners: Gauge::default(),
            changes: Counter::default(),
        };
        let registry = &mut metrics.registry;
        registry.register("requests", "Requests answered", metrics.requests.clone());
        registry.register("failures", "Requests refused or failed", metrics.failures.clone());
        registry.register_with_unit(
            "request_duration",
            "Time to the head of the response",
            Unit::Seconds,
            metrics.seconds.clone(),
        );
        registry.register("connections", "Open connections", metrics.connections.clone());
        registry.register("commands_running", "Commands that run", metrics.running.clone());
        registry.register("commands_waiting", "Commands that wait", metrics.waiting.clone());
        registry.register(
            "listeners",
            "Clients that listen for changes",
            metrics.listeners.clone(),
        );
        registry.register("changes", "Changes announced to clients", metrics.changes.clone());
        metrics
    }
}

impl Metrics {
    /// Counts a response. `route` is the pattern, not the path.
    pub fn answered(
        &self,
        route: &str,
        method: &str,
        status: u16,
        code: Option<&str>,
        seconds: f64,
    ) {
        let labels = Answered { route: route.to_owned(), method: method.to_owned(), status };
        self.requests.get_or_create(&labels).inc();
        self.seconds.get_or_create(&Timed { route: route.to_owned() }).observe(seconds);
        if let Some(code) = code {
            self.failures.get_or_create(&Failed { code: code.to_owned() }).inc();
        }
    }

    /// Returns all counters as text.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        if encode(&mut text, &self.registry).is_err() {
            // Writing to a string does not fail.
            text.clear();
        }
        text
    }
}
