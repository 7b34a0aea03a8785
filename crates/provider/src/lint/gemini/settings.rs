//! Lints everything but the conversation: tools, system instruction, cached content.

use contextree_json::Value;

use super::super::report::{Report, list as entries};
use super::{field, list, text};
use crate::render::wire::fits_name;
use crate::{List, Provider, Slot};

const FUNCTIONS: &str = "functionDeclarations";

pub(super) fn lint(report: &mut Report, request: &Value) {
    let mut names = Vec::new();
    for (index, tool) in entries(request, "tools").iter().enumerate() {
        // Tool names in the usual spelling were checked already.
        let seen = tool.get(FUNCTIONS).is_some();
        for (inner, function) in list(tool, FUNCTIONS).iter().enumerate() {
            let inner = Some((FUNCTIONS, inner as u32));
            let slot = Slot { list: List::Tools, index: index as u32, inner };
            names.extend(text(function, "name"));
            declaration(report, function, slot, seen);
        }
    }
    system(report, request);
    cached(report, request);
    choice(report, request, &names);
}

/// "Invalid function name. Must start with a letter or an underscore." A function has one schema.
fn declaration(report: &mut Report, function: &Value, slot: Slot, seen: bool) {
    match text(function, "name") {
        None | Some("") => report.error("tool_name", slot, "the function has no name"),
        Some(name) if !seen && !fits_name(name, Provider::Gemini) => {
            report.error("tool_name", slot, format!("`{name}` is not a valid function name"));
        }
        Some(_) => {}
    }
    if field(function, "parameters").is_some() && field(function, "parametersJsonSchema").is_some()
    {
        let message = "`parameters` and `parametersJsonSchema` exclude each other";
        report.error("tool_schema", slot, message);
    }
}

fn system(report: &mut Report, request: &Value) {
    let Some(instruction) = field(request, "systemInstruction") else { return };
    if instruction.as_str().is_some_and(|text| !text.is_empty()) {
        return;
    }
    let bare = text(instruction, "text").is_some();
    let parts = if bare { std::slice::from_ref(instruction) } else { list(instruction, "parts") };
    if parts.is_empty() {
        report.whole("empty_content", "the system instruction has no parts");
    }
    for (index, part) in parts.iter().enumerate() {
        let slot = Slot { list: List::System, index: index as u32, inner: None };
        if text(part, "text") == Some("") {
            report.error("empty_content", slot, "the part is empty");
        }
    }
}

/// "CachedContent can not be used with GenerateContent request setting system_instruction, tools or
/// tool_config."
fn cached(report: &mut Report, request: &Value) {
    if field(request, "cachedContent").is_none() {
        return;
    }
    for name in ["systemInstruction", "tools", "toolConfig"] {
        let empty = |it: &Value| it.as_array().is_some_and(<[Value]>::is_empty);
        if field(request, name).is_some_and(|it| !empty(it)) {
            let message = format!("`{name}` cannot be combined with `cachedContent`");
            report.whole("cached_content", &message);
        }
    }
}

/// `allowedFunctionNames` needs a mode that forces a call (the reference of
/// `FunctionCallingConfig`).
fn choice(report: &mut Report, request: &Value, names: &[&str]) {
    let config = field(request, "toolConfig").and_then(|it| field(it, "functionCallingConfig"));
    let Some(config) = config else { return };
    let allowed = list(config, "allowedFunctionNames");
    if allowed.is_empty() {
        return;
    }
    match text(config, "mode") {
        Some("AUTO" | "NONE") => {
            let message = "`allowedFunctionNames` requires the mode `ANY`";
            report.whole("tool_choice", message);
        }
        Some("ANY" | "VALIDATED") => {}
        _ => report.whole_warning("tool_choice", "`allowedFunctionNames` is set without a mode"),
    }
    let unknown = allowed.iter().filter_map(Value::as_str).find(|it| !names.contains(it));
    if let Some(name) = unknown {
        report.whole_warning(
            "tool_choice",
            &format!("`allowedFunctionNames` names the undefined function `{name}`"),
        );
    }
}
