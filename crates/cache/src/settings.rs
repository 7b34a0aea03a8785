//! Reads the settings of a request on which a cache depends.

use contextree_json::{Value, parse};
use contextree_provider::Provider;

use crate::reason::Reason;
use crate::rendered::Rendered;

/// A field of a request that is not content.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Setting<'a> {
    pub(crate) name: &'a str,
    /// Its value, as written.
    pub(crate) value: &'a [u8],
    /// The offset of its name.
    pub(crate) offset: usize,
}

/// Which part of a request depends on a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// The whole request: if it changes, nothing can be read from the cache.
    All,
    /// The messages: if it changes, tools and system text can still be read.
    Messages,
}

/// The settings on which a cache depends: the reason, the path of the value, the provider (or all),
/// and the reach.
const DEPENDS: [(Reason, &[&str], Option<&str>, Reach); 14] = [
    (Reason::Model, &["model"], None, Reach::All),
    (Reason::Tools, &["tools"], None, Reach::All),
    (Reason::System, &["system"], None, Reach::All),
    (Reason::System, &["instructions"], None, Reach::All),
    (Reason::TextFormat, &["text", "format"], Some("openai"), Reach::All),
    (Reason::TextFormat, &["response_format"], Some("openai"), Reach::All),
    (Reason::ReasoningEffort, &["reasoning", "effort"], Some("openai"), Reach::All),
    (Reason::ReasoningEffort, &["reasoning_effort"], Some("openai"), Reach::All),
    (Reason::Verbosity, &["text", "verbosity"], Some("openai"), Reach::All),
    (Reason::Verbosity, &["verbosity"], Some("openai"), Reach::All),
    (Reason::PromptCacheKey, &["prompt_cache_key"], Some("openai"), Reach::All),
    (Reason::ServiceTier, &["service_tier"], Some("openai"), Reach::All),
    (Reason::Thinking, &["thinking"], Some("anthropic"), Reach::Messages),
    (Reason::ToolChoice, &["tool_choice"], Some("anthropic"), Reach::Messages),
];

/// A setting that changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Changed {
    pub(crate) reason: Reason,
    /// Its path: `reasoning.effort`.
    pub(crate) path: String,
    pub(crate) reach: Reach,
    /// The values in the older and in the newer request, as written.
    pub(crate) values: [Option<String>; 2],
}

/// The settings of a request on which a cache depends; `None` for missing ones.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Settings {
    values: Vec<Option<Value>>,
}

impl Settings {
    /// Reads the settings of a request. `family` selects the provider's rules: `openai`; all rules
    /// if unknown.
    pub(crate) fn of(rendered: &Rendered<'_>, family: Option<&str>) -> Self {
        let fields: Vec<(&str, Option<Value>)> = fields_of(rendered)
            .into_iter()
            .map(|setting| (setting.name, parse(setting.value).ok()))
            .collect();
        let value = |(_, path, owner, _): &(Reason, &[&str], Option<&str>, Reach)| {
            if family.is_some() && owner.is_some() && family != *owner {
                return None;
            }
            let (first, rest) = path.split_first()?;
            let (_, value) = fields.iter().find(|(name, _)| name == first)?;
            let found = rest.iter().try_fold(value.as_ref()?, |value, name| value.get(name))?;
            Some(found.clone())
        };
        Settings { values: DEPENDS.iter().map(value).collect() }
    }

    /// Sets a value, if it is known otherwise than from the request.
    pub(crate) fn with(mut self, reason: Reason, known: Option<Value>) -> Self {
        let index = DEPENDS.iter().position(|(own, ..)| *own == reason);
        if let (Some(known), Some(value)) = (known, index.and_then(|it| self.values.get_mut(it))) {
            *value = Some(known);
        }
        self
    }

    /// Returns the first setting that changed.
    pub(crate) fn changed_since(&self, older: &Settings) -> Option<Changed> {
        let pairs = older.values.iter().zip(&self.values);
        let ((older, newer), (reason, path, _, reach)) =
            pairs.zip(&DEPENDS).find(|((older, newer), _)| older != newer)?;
        let written = |value: &Option<Value>| {
            let bytes = value.as_ref()?.to_canonical();
            Some(String::from_utf8_lossy(&bytes).into_owned())
        };
        Some(Changed {
            reason: *reason,
            path: path.join("."),
            reach: *reach,
            values: [written(older), written(newer)],
        })
    }

    /// Returns the values with this reach, as bytes for comparison.
    pub(crate) fn key(&self, reach: Reach) -> Vec<u8> {
        let mut key = Vec::new();
        for (value, (_, _, _, own)) in self.values.iter().zip(&DEPENDS) {
            if *own == reach {
                key.extend(value.as_ref().map(Value::to_canonical).unwrap_or_default());
                key.push(0);
            }
        }
        key
    }
}

/// Returns the family of caching rules of a provider.
pub(crate) fn family(provider: Provider) -> &'static str {
    match provider {
        Provider::Anthropic => "anthropic",
        Provider::Gemini => "gemini",
        _ => "openai",
    }
}

/// Returns the fields of a request before its first span and after its last one.
pub(crate) fn fields_of<'a>(rendered: &Rendered<'a>) -> Vec<Setting<'a>> {
    let bytes = rendered.bytes();
    let mut found = fields(bytes, 0, rendered.head_end(), 0);
    let last = rendered.last_end();
    // A request ends at the depth at which it began, so the brackets closed after the last span
    // give the depth there.
    let deep = -depth_of(&bytes[last..]);
    found.extend(fields(bytes, last, bytes.len(), deep));
    found
}

/// Returns a string field of an object, as written.
pub(crate) fn text_field<'a>(object: &'a [u8], name: &str) -> Option<&'a [u8]> {
    let field = fields(object, 0, object.len(), 0).into_iter().find(|field| field.name == name)?;
    field.value.strip_prefix(b"\"")?.strip_suffix(b"\"")
}

/// Returns the fields of the object at depth 1 that are completely inside a part of a document.
fn fields(bytes: &[u8], from: usize, to: usize, depth: i64) -> Vec<Setting<'_>> {
    let mut found = Vec::new();
    let mut depth = depth;
    let mut open: Option<(&str, usize, usize)> = None;
    let mut at = from;
    while at < to {
        let byte = bytes[at];
        match byte {
            b'"' => {
                let end = string_end(bytes, at + 1);
                let colon = bytes[(end + 1).min(to)..to]
                    .iter()
                    .position(|byte| !byte.is_ascii_whitespace());
                let is_key = colon.is_some_and(|colon| bytes[end + 1 + colon] == b':');
                if depth == 1 && open.is_none() && is_key {
                    let name = str::from_utf8(&bytes[at + 1..end]).unwrap_or_default();
                    let value = end + 2 + colon.unwrap_or_default();
                    open = Some((name, at, value));
                    at = value;
                    continue;
                }
                at = end;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' | b',' => {
                if depth == 1
                    && let Some((name, offset, value)) = open.take()
                {
                    found.push(Setting { name, value: bytes[value..at].trim_ascii(), offset });
                }
                depth -= i64::from(byte != b',');
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// Returns the difference in depth between the end and the beginning of a piece.
fn depth_of(bytes: &[u8]) -> i64 {
    let (mut depth, mut at) = (0, 0);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => at = string_end(bytes, at + 1),
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        at += 1;
    }
    depth
}

/// Returns the end of the string that began before an offset.
fn string_end(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::{Settings, fields_of};
    use crate::reason::Reason;
    use crate::rendered::Rendered;

    fn names(text: &str, span: (usize, usize)) -> Vec<String> {
        let rendered = Rendered::new(text.as_bytes(), [(span.0, span.1, "n")]).unwrap();
        let fields = fields_of(&rendered).into_iter();
        fields.map(|it| format!("{}={}", it.name, String::from_utf8_lossy(it.value))).collect()
    }

    #[test]
    fn settings_stand_before_the_first_span_and_behind_the_last() {
        let text =
            r#"{"model":"m","messages":[{"content":["X"],"x":1}],"a":{"b":[1,"]"]},"c":"d,\""}"#;
        let at = text.find("\"X\"").unwrap();
        assert_eq!(
            names(text, (at, at + 3)),
            ["model=\"m\"", "a={\"b\":[1,\"]\"]}", "c=\"d,\\\"\""],
            "`x` is a field of the message"
        );
        assert_eq!(names("[1,2,3]", (1, 2)), Vec::<String>::new());
    }

    #[test]
    fn only_what_a_cache_depends_on_counts() {
        let changed = |older: &str, newer: &str, family| {
            let of = |text: &str| {
                let text = format!("{{\"messages\":[1],{text}}}");
                Settings::of(&Rendered::new(text.as_bytes(), [(13, 14, "n")]).unwrap(), family)
            };
            of(newer).changed_since(&of(older)).map(|changed| (changed.reason, changed.path))
        };
        let effort = changed(
            r#""reasoning":{"effort":"low"}"#,
            r#""reasoning":{"effort":"high"}"#,
            Some("openai"),
        );
        assert_eq!(effort, Some((Reason::ReasoningEffort, "reasoning.effort".to_owned())));
        assert_eq!(changed(r#""max_tokens":5"#, r#""max_tokens":6"#, None), None);
        let choice = |family| changed(r#""tool_choice":"a""#, r#""tool_choice":"b""#, family);
        assert_eq!(choice(Some("openai")), None);
        assert!(choice(Some("anthropic")).is_some() && choice(None).is_some());
    }
}
