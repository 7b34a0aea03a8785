//! The bounds of integers, which their types have and their schemas do not.

use schemars::Schema;
use schemars::transform::{Transform, transform_subschemas};

/// Adds the bounds of integers: a number that the schema allows is a number that the server reads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds;

impl Transform for Bounds {
    fn transform(&mut self, schema: &mut Schema) {
        transform_subschemas(self, schema);
        let Some(object) = schema.as_object_mut() else { return };
        let (least, most) = match object.get("format").and_then(|format| format.as_str()) {
            Some("uint8") => (0.into(), u8::MAX.into()),
            Some("uint16") => (0.into(), u16::MAX.into()),
            Some("uint32") => (0.into(), u32::MAX.into()),
            Some("uint64" | "uint") => (0.into(), u64::MAX.into()),
            Some("int32") => (i32::MIN.into(), i32::MAX.into()),
            Some("int64" | "int") => (i64::MIN.into(), i64::MAX.into()),
            _ => return,
        };
        // Formats that other programs do not know.
        object.remove("format");
        object.insert("minimum".to_owned(), least);
        object.insert("maximum".to_owned(), most);
    }
}
