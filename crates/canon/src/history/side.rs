//! Side records as lines of a history.

use contextree_json::{ParseErrorKind, Reader};

use crate::error::{DocumentError, codes};
use crate::import::json_limits;
use crate::limits::Limits;

/// How the line of a side record begins. A line that is a commit or a snapshot never has this key.
const BEGIN: &[u8] = b"{\"record\":";

/// A value that a program keeps beside a context, under a kind and a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SideLine {
    /// What it is for: `langgraph.checkpoint`.
    pub kind: String,
    /// Its name; unique within the kind.
    pub key: String,
    /// The value, in Base64. It is not looked into here.
    pub value: String,
}

impl SideLine {
    /// Reads a line. Returns `None` if it is not that of a side record.
    ///
    /// # Errors
    ///
    /// If the line begins like a side record and is not one.
    pub(super) fn read(line: &[u8], limits: &Limits) -> Result<Option<SideLine>, DocumentError> {
        if !line.trim_ascii_start().starts_with(BEGIN) {
            return Ok(None);
        }
        let mut reader = Reader::with_limits(line, &json_limits(limits));
        let (mut kind, mut key, mut value) = (None, None, None);
        reader.begin_object()?;
        while let Some(name) = reader.next_key()? {
            if &*name != "record" {
                return Err(refuse(format!("unknown member `{name}` beside `record`")));
            }
            if kind.is_some() || key.is_some() || value.is_some() {
                return Err(reader.error(ParseErrorKind::DuplicateKey(name.into())).into());
            }
            reader.begin_object()?;
            while let Some(name) = reader.next_key()? {
                let field = match &*name {
                    "kind" => &mut kind,
                    "key" => &mut key,
                    "value" => &mut value,
                    _ => return Err(refuse(format!("unknown member `{name}` of a side record"))),
                };
                if field.replace(reader.read_string()?.into_owned()).is_some() {
                    return Err(reader.error(ParseErrorKind::DuplicateKey(name.into())).into());
                }
            }
        }
        reader.expect_end()?;
        let (Some(kind), Some(key), Some(value)) = (kind, key, value) else {
            return Err(refuse("a side record has `kind`, `key` and `value`".to_owned()));
        };
        Ok(Some(SideLine { kind, key, value }))
    }
}

fn refuse(message: String) -> DocumentError {
    DocumentError::one(codes::DOCUMENT, "invalid_record", message)
}
