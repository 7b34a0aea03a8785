//! The order of keys in a request that a log contains.
//!
//! Objects of a tree are sorted, and a rendered request has an order of its own. A log of requests has
//! that of the program which wrote them, so it is kept beside the tree: once for all objects with the
//! same keys, and by path for those that differ.

use std::borrow::Cow;
use std::collections::BTreeMap;

use contextree_json::{Event, Object, Reader, Value, parse, write};

use crate::{Rendered, Span};

/// The keys of an object.
type Keys = Box<[Box<str>]>;

/// In which order the keys of each object of a request were written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyOrder {
    /// The order of the first object with these keys, by the keys in code point order.
    shapes: BTreeMap<Keys, Keys>,
    /// The order of objects that differ from the first, by their JSON Pointer.
    exceptions: BTreeMap<String, Keys>,
}

/// The name of the order among the options of a rendering.
const FIELD: &str = "keys";

impl KeyOrder {
    /// Reads the order from a request; `None` if that is not JSON.
    #[must_use]
    pub fn of(text: &[u8]) -> Option<KeyOrder> {
        KeyOrder::of_parts(text, &[String::new()])?.pop()
    }

    /// Reads the orders of parts of a document, given by their JSON Pointers; `None` if the document is
    /// not JSON. Parts must not contain each other.
    #[must_use]
    pub fn of_parts(text: &[u8], parts: &[String]) -> Option<Vec<KeyOrder>> {
        let mut orders = vec![KeyOrder::default(); parts.len()];
        let deepest = parts.iter().map(|part| part.matches('/').count()).max()?;
        let mut reader = Reader::new(text);
        let mut open: Vec<Open<'_>> = Vec::new();
        // The part that is being read, and the depth of its object.
        let mut current: Option<(usize, usize)> = None;
        loop {
            match reader.next().ok()? {
                Event::ObjectStart => {
                    if current.is_none() && open.len() <= deepest {
                        let path = path_of(&open);
                        let part = parts.iter().position(|part| *part == path);
                        current = part.map(|part| (part, open.len()));
                    }
                    open.push(Open::Object(Vec::new()));
                    continue;
                }
                Event::ArrayStart => {
                    open.push(Open::Array(0));
                    continue;
                }
                Event::Key(key) => {
                    if let Some(Open::Object(keys)) = open.last_mut() {
                        keys.push(key);
                    }
                    continue;
                }
                Event::ObjectEnd => {
                    if let (Some(Open::Object(keys)), Some((part, depth))) = (open.pop(), current) {
                        orders[part].note(&keys, || path_of(&open[depth..]));
                        if open.len() == depth {
                            current = None;
                        }
                    }
                }
                Event::ArrayEnd => drop(open.pop()),
                Event::End => return Some(orders),
                Event::String(_) | Event::Number(_) | Event::Bool(_) | Event::Null => {}
            }
            // A value is complete.
            if let Some(Open::Array(index)) = open.last_mut() {
                *index += 1;
            }
        }
    }

    fn note(&mut self, keys: &[Cow<'_, str>], path: impl FnOnce() -> String) {
        if keys.len() < 2 {
            return;
        }
        let owned = |keys: &[Cow<'_, str>]| keys.iter().map(|key| Box::from(&**key)).collect();
        let written: Keys = owned(keys);
        let mut sorted = written.clone();
        sorted.sort();
        match self.shapes.get(&sorted) {
            None => drop(self.shapes.insert(sorted, written)),
            Some(first) if *first == written => {}
            Some(_) => drop(self.exceptions.insert(path(), written)),
        }
    }

    /// Returns the options of a rendering, as [`RenderOptions::to_text`](crate::RenderOptions::to_text)
    /// writes them, with this order.
    #[must_use]
    pub fn add_to(&self, options: &str) -> String {
        let Ok(Value::Object(mut options)) = parse(options.as_bytes()) else {
            return options.to_owned();
        };
        let list = |keys: &Keys| Value::Array(keys.iter().map(|key| Value::from(&**key)).collect());
        // Where no order is noted, keys are sorted.
        let shapes = self.shapes.iter().filter(|(sorted, written)| sorted != written);
        let shapes = Value::Array(shapes.map(|(_, written)| list(written)).collect());
        let exceptions = self.exceptions.iter().map(|(path, written)| (path, list(written)));
        let exceptions = Value::Object(exceptions.collect());
        let order = Object::from_iter([("objects", shapes), ("at", exceptions)]);
        options.insert(FIELD, Value::Object(order));
        String::from_utf8_lossy(&Value::Object(options).to_canonical()).into_owned()
    }

    /// Returns the order that the options of a rendering contain, if they contain one.
    #[must_use]
    pub fn from_options(options: &str) -> Option<KeyOrder> {
        let options = parse(options.as_bytes()).ok()?;
        let order = options.get(FIELD)?;
        let keys = |list: &Value| -> Option<Keys> {
            list.as_array()?.iter().map(|key| Some(Box::from(key.as_str()?))).collect()
        };
        let shapes = order.get("objects")?.as_array()?.iter().map(|written| {
            let written = keys(written)?;
            let mut sorted = written.clone();
            sorted.sort();
            Some((sorted, written))
        });
        let exceptions = order.get("at")?.as_object()?.iter();
        let exceptions = exceptions.map(|(path, written)| Some((path.to_owned(), keys(written)?)));
        let (shapes, exceptions) =
            (shapes.collect::<Option<_>>()?, exceptions.collect::<Option<_>>()?);
        Some(KeyOrder { shapes, exceptions })
    }

    /// Returns the text of a request in this order.
    #[must_use]
    pub fn write(&self, request: &Value) -> Vec<u8> {
        self.write_with(request, &mut |_, _, _| {})
    }

    /// Returns a rendered request in this order, with its spans at their places, in the order of the bytes.
    #[must_use]
    pub fn apply(&self, rendered: &Rendered) -> (Vec<u8>, Vec<Span>) {
        let mut places: BTreeMap<String, (usize, usize)> = BTreeMap::new();
        let bytes = self.write_with(&rendered.value(), &mut |path, start, end| {
            places.insert(path(), (start, end));
        });
        let spans = rendered.spans.iter().filter_map(|span| {
            let path = pointer(&rendered.path(span));
            // System text of a single string has no list.
            let outer = path.rsplit_once('/').map(|(outer, _)| outer);
            let (start, end) = *places.get(&path).or_else(|| places.get(outer?))?;
            Some(Span { start, end, ..span.clone() })
        });
        let mut spans: Vec<Span> = spans.collect();
        spans.sort_by_key(|span| span.start);
        (bytes, spans)
    }

    /// Writes a request, and passes the path and the place of each object, array and text to `each`.
    fn write_with(&self, request: &Value, each: &mut Each<'_>) -> Vec<u8> {
        let mut out = Vec::new();
        let mut open: Vec<Writing<'_>> = Vec::new();
        let mut current = request;
        loop {
            let start = out.len();
            match current {
                Value::Object(object) => {
                    let keys = self.keys_of(object, &open);
                    out.push(b'{');
                    open.push(Writing { start, items: Items::Object(object, keys), next: 0 });
                }
                Value::Array(list) => {
                    out.push(b'[');
                    open.push(Writing { start, items: Items::Array(list), next: 0 });
                }
                value => {
                    write::value(&mut out, value);
                    if matches!(value, Value::String(_)) {
                        each(&|| written_path(&open), start, out.len());
                    }
                }
            }
            loop {
                let Some(top) = open.last_mut() else { return out };
                if let Some(next) = top.advance(&mut out) {
                    current = next;
                    break;
                }
                let start = top.start;
                open.pop();
                each(&|| written_path(&open), start, out.len());
            }
        }
    }

    /// Returns the keys of an object in the order in which they are written.
    fn keys_of<'v>(&self, object: &'v Object, open: &[Writing<'_>]) -> Vec<&'v str> {
        let sorted: Vec<&str> = object.keys().collect();
        if sorted.len() < 2 {
            return sorted;
        }
        let written = match self.exceptions.is_empty() {
            true => None,
            false => self.exceptions.get(&written_path(open)),
        };
        let written = written.or_else(|| {
            let keys: Keys = sorted.iter().map(|key| Box::from(*key)).collect();
            self.shapes.get(&keys)
        });
        let Some(written) = written else { return sorted };
        // The rendering may have other keys than the log, if it is not exact.
        let known = written.iter().filter_map(|key| sorted.iter().find(|own| ***own == **key));
        let mut keys: Vec<&str> = known.copied().collect();
        let rest: Vec<&str> = sorted.iter().filter(|key| !keys.contains(key)).copied().collect();
        keys.extend(rest);
        keys
    }
}

/// Takes the path of a value, if it asks for it, and its place.
type Each<'a> = dyn FnMut(&dyn Fn() -> String, usize, usize) + 'a;

/// A container that is being read: the keys of an object so far, or the position in an array.
enum Open<'a> {
    Object(Vec<Cow<'a, str>>),
    Array(usize),
}

/// A container that is being written.
struct Writing<'a> {
    start: usize,
    items: Items<'a>,
    /// The number of items that were written or begun.
    next: usize,
}

enum Items<'a> {
    Object(&'a Object, Vec<&'a str>),
    Array(&'a [Value]),
}

impl<'a> Writing<'a> {
    /// Writes what precedes the next item and returns that item; closes the container after the last.
    fn advance(&mut self, out: &mut Vec<u8>) -> Option<&'a Value> {
        let found = match &self.items {
            Items::Object(object, keys) => {
                keys.get(self.next).and_then(|key| Some((Some(*key), object.get(key)?)))
            }
            Items::Array(list) => list.get(self.next).map(|value| (None, value)),
        };
        let Some((key, value)) = found else {
            out.push(if matches!(self.items, Items::Object(..)) { b'}' } else { b']' });
            return None;
        };
        if self.next > 0 {
            out.push(b',');
        }
        if let Some(key) = key {
            write::string(out, key);
            out.push(b':');
        }
        self.next += 1;
        Some(value)
    }
}

fn path_of(open: &[Open<'_>]) -> String {
    let mut path = String::new();
    for container in open {
        match container {
            Open::Object(keys) => push_key(&mut path, keys.last().map_or("", |key| key)),
            Open::Array(index) => path.push_str(&format!("/{index}")),
        }
    }
    path
}

/// Returns the path of the item that was begun last.
fn written_path(open: &[Writing<'_>]) -> String {
    let mut path = String::new();
    for container in open {
        let index = container.next.saturating_sub(1);
        match &container.items {
            Items::Object(_, keys) => push_key(&mut path, keys.get(index).copied().unwrap_or("")),
            Items::Array(_) => path.push_str(&format!("/{index}")),
        }
    }
    path
}

fn push_key(path: &mut String, key: &str) {
    path.push('/');
    match key.contains(['~', '/']) {
        true => path.push_str(&key.replace('~', "~0").replace('/', "~1")),
        false => path.push_str(key),
    }
}

/// Returns the path of a span as a JSON Pointer: `/messages/9/content/0` for `messages[9].content[0]`.
fn pointer(path: &str) -> String {
    let mut pointer = String::with_capacity(path.len() + 1);
    pointer.push('/');
    pointer.extend(path.chars().filter(|it| *it != ']').map(|it| match it {
        '.' | '[' => '/',
        other => other,
    }));
    pointer
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) {
        let order = KeyOrder::of(text.as_bytes()).expect("it is JSON");
        let value = parse(text.as_bytes()).expect("it is JSON");
        assert_eq!(String::from_utf8_lossy(&order.write(&value)), text);
        let options = order.add_to(r#"{"provider":"anthropic","settings":{}}"#);
        let read = KeyOrder::from_options(&options).expect("it was added");
        assert_eq!(String::from_utf8_lossy(&read.write(&value)), text, "{options}");
    }

    #[test]
    fn request_is_written_in_its_own_order() {
        check(
            r#"{"model":"m","messages":[{"role":"user","content":"a"},{"role":"user","content":"b"}]}"#,
        );
        check(
            r#"{"z":{"b":1,"a":2},"y":[{"b":1,"a":2},{"a":2,"b":1}],"a":{"a":1,"b":[[],{},null]}}"#,
        );
        check(r#"{"a":{"a":1,"b":2},"b":{"b":1,"a":{"b":1,"a":2}}}"#);
        check(r#"{"x/y":{"b":1,"a":2},"x~y":{"a":1,"b":2},"":{"b":0,"a":0}}"#);
    }

    #[test]
    fn parts_of_a_document_have_orders_of_their_own() {
        let text = r#"[{"request":{"b":1,"a":{"d":1,"c":2}},"time":0},{"request":{"a":1,"b":{"c":2,"d":1}}}]"#;
        let parts = ["/0/request".to_owned(), "/1/request".to_owned()];
        let orders = KeyOrder::of_parts(text.as_bytes(), &parts).expect("it is JSON");
        let texts = [r#"{"b":1,"a":{"d":1,"c":2}}"#, r#"{"a":1,"b":{"c":2,"d":1}}"#];
        for (order, text) in orders.iter().zip(texts) {
            assert_eq!(*order, KeyOrder::of(text.as_bytes()).expect("it is JSON"));
        }
        assert_eq!(KeyOrder::of(b"{\"a\":"), None);
    }

    #[test]
    fn keys_that_the_order_does_not_have_follow() {
        let order = KeyOrder::of(br#"{"x":{"a":1,"b":2},"y":{"b":1,"a":2}}"#).expect("it is JSON");
        let value = parse(br#"{"x":{"c":0},"y":{"a":1,"b":2,"c":3}}"#).expect("it is JSON");
        assert_eq!(order.write(&value), br#"{"x":{"c":0},"y":{"b":2,"a":1,"c":3}}"#);
    }
}
