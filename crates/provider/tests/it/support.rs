//! Helpers shared by the tests.

use contextree_import::Format;
use contextree_provider::{LossKind, Provider, Rendered, Severity, lint_value};

#[path = "../../../import/tests/it/support.rs"]
mod imports;

pub(crate) use imports::{assert_same, imported, parse, rendered, samples};

/// Checks that a request round-trips unchanged, without losses.
pub(crate) fn comes_back(request: &str, format: Format) {
    let imported = imported(request.as_bytes(), format);
    let rendered = rendered(&imported, format.provider());
    assert_same(&rendered.value(), &parse(request.as_bytes()), request);
    assert_eq!(rendered.losses, [], "{request}: nothing is lost");
}

/// Imports a request and renders it for another provider.
pub(crate) fn crossed(request: &str, format: Format, provider: Provider) -> Rendered {
    rendered(&imported(request.as_bytes(), format), provider)
}

/// Returns the codes of the losses, except those of settings.
pub(crate) fn losses(rendered: &Rendered) -> Vec<&'static str> {
    let kept = rendered.losses.iter().filter(|loss| loss.kind != LossKind::Settings);
    kept.map(|loss| loss.kind.code()).collect()
}

/// Returns the value at a path: `messages.0.content`.
pub(crate) fn at(rendered: &Rendered, path: &str) -> String {
    let mut value = &rendered.value();
    for step in path.split('.') {
        let next = match step.parse::<usize>() {
            Ok(index) => value.as_array().and_then(|list| list.get(index)),
            Err(_) => value.get(step),
        };
        value = next.unwrap_or_else(|| panic!("{path} in {}", rendered.text()));
    }
    String::from_utf8(value.to_canonical()).unwrap()
}

/// Returns the findings for a request: `error code path`, in order.
pub(crate) fn findings(request: &str, provider: Provider) -> Vec<String> {
    let findings = lint_value(&parse(request.as_bytes()), provider);
    let line = |finding: &contextree_provider::Finding| {
        let severity = match finding.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        format!("{severity} {} {}", finding.code, finding.path).trim_end().to_owned()
    };
    findings.iter().map(line).collect()
}
