//! How much one caller may ask for.

use std::time::Duration;

/// The limits of a server. Each has an error code of its own; see docs/server.md.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The bytes of a body: `E_BODY_LIMIT`.
    pub body: usize,
    /// The bytes of all bodies that are in memory at once; more are refused with `E_OVERLOADED`.
    pub bodies: usize,
    /// The time to receive the head of a request; the connection is closed after it.
    pub head_time: Duration,
    /// The time to receive a body, and the time that a connection may not take a single byte of a response.
    pub body_time: Duration,
    /// The time of a command: `E_DEADLINE`.
    pub time: Duration,
    /// The nodes, rows or entries of a response: `E_RESULT_LIMIT`.
    pub results: usize,
    /// The steps of evaluating a selector: `E_LIMIT`.
    pub selector_cost: u64,
    /// Connections; more wait to be accepted.
    pub connections: usize,
    /// Commands that run at once.
    pub running: usize,
    /// Commands of one token that wait for others to end; more are refused with `E_OVERLOADED`.
    pub waiting: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            body: 64 << 20,
            bodies: 256 << 20,
            head_time: Duration::from_secs(10),
            body_time: Duration::from_secs(30),
            time: Duration::from_secs(30),
            results: 100_000,
            selector_cost: 50_000_000,
            connections: 4_096,
            running: 16,
            waiting: 256,
        }
    }
}

impl From<Limits> for contextree_app::Limits {
    fn from(limits: Limits) -> Self {
        contextree_app::Limits {
            results: Some(limits.results),
            selector_cost: Some(limits.selector_cost),
        }
    }
}
