//! `records`: reads side records.

use contextree::store::SidePage;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::put::check_kind;
use crate::wire::{Bytes, Head};
use crate::workspace::Access;
use crate::{Control, Error, Workspace};

/// Reads side records of a context: by key, or all of a kind whose keys begin with a prefix.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RecordsRequest {
    /// The kind.
    pub kind: String,
    /// The keys; records that do not exist are left out. By prefix if it is absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keys: Option<Vec<String>>,
    /// What the keys begin with.
    pub prefix: String,
    /// Only keys after this one, in the order asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// Returns the greatest key first.
    pub reverse: bool,
    /// Returns at most this many.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
}

/// Side records.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecordsResponse {
    /// The revision of the context. The records may be newer if another process writes.
    pub revision: u64,
    /// The newest snapshot; null before the first commit.
    pub head: Option<Head>,
    /// The records, in the order of their keys.
    pub records: Vec<Record>,
}

/// A side record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// The key.
    pub key: String,
    /// The value.
    pub value: Bytes,
}

/// Reads side records of a context.
///
/// # Errors
///
/// If the context does not exist, or a record is damaged.
pub fn records(
    workspace: &Workspace,
    request: &RecordsRequest,
    control: &Control<'_>,
) -> Result<RecordsResponse, Error> {
    let _span = workspace.span("records");
    control.check()?;
    check_kind(&request.kind)?;
    let reader = workspace.store(Access::Read)?.reader(workspace.context())?;
    let mut records = Vec::new();
    match &request.keys {
        Some(keys) => {
            control.check_results(keys.len())?;
            for key in keys {
                if let Some(value) = reader.side_record(&request.kind, key)? {
                    records.push(Record { key: key.clone(), value: Bytes(value) });
                }
            }
        }
        None => {
            let page = SidePage {
                prefix: &request.prefix,
                after: request.after.as_deref(),
                reverse: request.reverse,
                limit: control.most_of_list(request.limit),
                ..SidePage::of(&request.kind)
            };
            let found = reader.side_records(&page)?;
            control.check_list(found.len())?;
            let found = found.into_iter();
            records.extend(found.map(|it| Record { key: it.key, value: Bytes(it.value) }));
        }
    }
    let row = crate::wire::ContextRow::from(reader.row());
    Ok(RecordsResponse { revision: row.revision, head: row.head, records })
}
