//! Contexts and snapshots as resources: `contextree://NAME` is the working state, `contextree://NAME/c12` what was sent in call 12.

use contextree_app::command::contexts::{self, ContextsRequest};
use contextree_app::command::thread::{self, ThreadRequest};
use contextree_app::wire::ContextRow;
use contextree_app::{Address, Control, Error, Workspace};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// How many contexts a page lists.
const PAGE: usize = 100;
/// The largest resource that is returned: that of the answer of a tool. A client puts it into the request of its model, without a cursor.
const MOST: usize = crate::page::MOST;
const SCHEME: &str = "contextree://";

/// The form of the addresses of snapshots, as a template of RFC 6570.
pub(crate) const TEMPLATE: &str = "contextree://{context}/{state}";

/// A resource, as a list names it.
pub(crate) struct Entry {
    pub(crate) uri: String,
    pub(crate) name: String,
    pub(crate) about: String,
}

/// Returns a page of contexts after a name, and the name to go on with.
///
/// # Errors
///
/// If the store cannot be read.
pub(crate) fn list(
    workspace: &Workspace,
    after: Option<String>,
    control: &Control<'_>,
) -> Result<(Vec<Entry>, Option<String>), Error> {
    let request = ContextsRequest { after, limit: Some(PAGE), ..ContextsRequest::default() };
    let rows = contexts::contexts(workspace, &request, control)?.contexts;
    let next = (rows.len() == PAGE).then(|| rows.last().map(|row| row.name.clone())).flatten();
    Ok((rows.iter().map(entry).collect(), next))
}

fn entry(row: &ContextRow) -> Entry {
    Entry {
        uri: format!("{SCHEME}{}", encode(&row.name)),
        name: row.name.clone(),
        about: crate::tools::context_line(row),
    }
}

/// Returns the messages of a state as JSON.
///
/// # Errors
///
/// `E_USAGE` if the address has another form, and those of reading a state.
pub(crate) fn read(
    workspace: &Workspace,
    uri: &str,
    control: &Control<'_>,
) -> Result<String, Error> {
    let invalid = || {
        Error::usage(format!("`{uri}` is not the address of a context or a snapshot"))
            .with_hint(format!("addresses have the form `{TEMPLATE}`, such as `{SCHEME}main/c12`"))
    };
    let rest = uri.strip_prefix(SCHEME).ok_or_else(invalid)?;
    let (name, state) = rest.split_once('/').unwrap_or((rest, ""));
    let name = decode(name).filter(|name| !name.is_empty()).ok_or_else(invalid)?;
    let at: Address = format!("@{state}").parse().map_err(|_| invalid())?;
    let workspace = workspace.clone().with_context(name);
    let request = ThreadRequest { at: Some(at), ..ThreadRequest::default() };
    let thread = thread::thread(&workspace, &request, control)?;
    let text = thread.thread;
    if text.len() > MOST {
        let message =
            format!("the messages have {} bytes, and at most {MOST} are returned", text.len());
        let hint =
            "the tool `show` reads a state page by page: {\"what\": \"@t0\", \"full\": true}";
        return Err(Error::new("E_RESULT_LIMIT", message).with_hint(hint));
    }
    Ok(text)
}

/// What names keep as it is in an address: letters, digits and `-._~`.
const KEPT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

fn encode(name: &str) -> String {
    utf8_percent_encode(name, KEPT).to_string()
}

fn decode(text: &str) -> Option<String> {
    percent_decode_str(text).decode_utf8().ok().map(std::borrow::Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use super::{decode, encode};

    #[test]
    fn names_survive_their_encoding() {
        for name in ["main", "a/b", "ä ö", "100%", "c..d", "%2F"] {
            assert_eq!(decode(&encode(name)).as_deref(), Some(name));
        }
        assert_eq!(decode("%ff"), None, "not UTF-8");
    }
}
