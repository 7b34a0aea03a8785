//! Finds the requests in an entry of a log, so that the order of their keys can be read from its text.

use contextree_json::{Object, Value};
use contextree_provider::KeyOrder;

use super::exchange::{entries_of, has_response, is_exchange, path_in};
use crate::format::Format;

/// The orders of keys in the requests of an entry, each with the place of the request.
pub(crate) type Orders = Vec<(String, KeyOrder)>;

/// Returns the orders of keys in the requests of an entry with this text; none if the log cannot
/// contain requests.
pub(crate) fn orders_of(format: Format, entry: &Value, text: &[u8]) -> Orders {
    let has_requests = matches!(
        format,
        Format::Auto
            | Format::OpenAiChat
            | Format::OpenAiResponses
            | Format::Anthropic
            | Format::Gemini
    );
    let places = if has_requests { places_in(entry) } else { Vec::new() };
    let orders = match places.is_empty() {
        true => None,
        false => KeyOrder::of_parts(text, &places),
    };
    places.into_iter().zip(orders.unwrap_or_default()).collect()
}

/// Returns the JSON Pointers of the requests in an entry.
fn places_in(entry: &Value) -> Vec<String> {
    let mut places = Vec::new();
    match entry {
        Value::Object(object) => add_places(object, "", &mut places),
        Value::Array(list) => {
            for (index, entry) in list.iter().enumerate() {
                if let Value::Object(object) = entry {
                    add_places(object, &format!("/{index}"), &mut places);
                }
            }
        }
        _ => {}
    }
    places
}

fn add_places(object: &Object, at: &str, places: &mut Vec<String>) {
    if is_exchange(object) && !has_response(object) {
        match entries_of(object) {
            Some(entries) => {
                for (index, entry) in entries.iter().enumerate() {
                    let path = entry.as_object().and_then(path_in);
                    places.extend(path.map(|path| format!("{at}/log/entries/{index}{path}")));
                }
            }
            None => places.extend(path_in(object).map(|path| format!("{at}{path}"))),
        }
    } else if ["messages", "contents", "input"].into_iter().any(|name| object.contains_key(name)) {
        places.push(at.to_owned());
    }
}
