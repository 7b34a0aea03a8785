//! What a provider would refuse, found before it is sent.

mod finding;

pub use finding::{Finding, Severity};

use contextree_json::Value;

use crate::{Provider, Rendered};

/// Looks at a rendered request; findings name the node at fault.
#[must_use]
pub fn lint(rendered: &Rendered) -> Vec<Finding> {
    let mut findings = lint_value(&rendered.value(), rendered.provider);
    for finding in &mut findings {
        let span = finding.slot.and_then(|slot| rendered.span_of(slot));
        finding.node = span.map(|span| span.node.to_string());
    }
    findings
}

/// Looks at any request of a provider; findings name no node.
#[must_use]
pub fn lint_value(request: &Value, provider: Provider) -> Vec<Finding> {
    let _ = (request, provider);
    Vec::new()
}
