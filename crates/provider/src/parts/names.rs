//! Names the attributes and kinds of the mapping. `docs/providers.md` has the table.

/// The unit: blocks with the same value are pruned together. It is also the provider's id of a tool
/// call and its result, unless [`TOOL_CALL_ID`] differs.
pub const CALL_ID: &str = "data_call_id";
/// The provider's tool call id if it differs from the unit: on the second and later of parallel
/// calls.
pub const TOOL_CALL_ID: &str = "data_tool_call_id";
/// The name of a tool (on a call or a definition), of a file, or of a participant.
pub const NAME: &str = "data_name";
/// `true` on a result that is an error.
pub const IS_ERROR: &str = "data_is_error";
/// A signature or encrypted text that is returned to its provider unchanged.
pub const SIGNATURE: &str = "data_signature";
/// The provider that extra fields, signatures and opaque content belong to.
pub const PROVIDER: &str = "data_provider";
/// Fields of a part that the mapping does not cover.
pub const EXTRA: &str = "data_extra";
/// The number of the imported message, where neighbouring blocks do not determine it.
pub const MESSAGE: &str = "data_message";
/// The number of a message that does not continue the message before it, although both are of the
/// same side; on all its blocks.
pub const APART: &str = "data_apart";
/// Fields of a message that the mapping does not cover; on its first block.
pub const MESSAGE_EXTRA: &str = "data_message_extra";
/// How the part was written, if the format allows several forms.
pub const FORM: &str = "data_form";
/// How the content of the message was written, if the format allows several forms; on its first
/// block. Separate from [`FORM`], because a call of a custom tool may be the first block of a
/// message without content.
pub const SHAPE: &str = "data_shape";
/// The provider's own name of the role: `developer`. A name that is not known to every provider is
/// sent only to its own provider.
pub const ROLE: &str = "data_role";
/// Fields of the request that are not content: `model`, `temperature`. On a group in `^sys`.
pub const SETTINGS: &str = "data_settings";
/// Additional fields that a request has on some blocks, by node id: cache breakpoints, which move
/// from request to request. On a group in `^sys`.
pub const MARKS: &str = "data_marks";
/// Blocks that the newest request writes in another form than the imported one, by node id: `list`
/// or `text`. Next to [`MARKS`].
pub const FORMS: &str = "data_forms";
/// The messages of the newest request that were not sent, or not as they were, because the recording
/// proxy keeps to a budget: for each its position, fingerprint, role and nodes. Next to [`MARKS`].
pub const LEFT_OUT: &str = "data_left_out";
/// What a log recorded about an entry besides its content: time, ids, usage. Never rendered, and
/// not part of the content hash: the same text an hour later is the same content.
pub const ENTRY: &str = "log:entry";

/// The type of the group in `^sys` that holds the settings.
pub const REQUEST_TYPE: &str = "cont:request";
/// The type of the group in `^sys` that holds the marks.
pub const MARKS_TYPE: &str = "cont:marks";

/// Values of [`SHAPE`], and of [`FORM`] where they apply to a part.
pub mod form {
    /// A list where a string would do.
    pub const LIST: &str = "list";
    /// A string that was imported as a list.
    pub const TEXT: &str = "text";
    /// An empty list next to something else.
    pub const EMPTY_LIST: &str = "empty_list";
    /// `null`.
    pub const NULL: &str = "null";
    /// A missing field.
    pub const ABSENT: &str = "absent";
    /// An empty string next to something else.
    pub const EMPTY: &str = "empty";
    /// A field of the message, not a part of its content.
    pub const FIELD: &str = "field";
    /// A call of a custom tool, which has free text as input.
    pub const CUSTOM: &str = "custom";
    /// A call or a result without an id.
    pub const ANONYMOUS: &str = "anonymous";
    /// The one call of a message in its `function_call`, or the result of a `function`, as the first
    /// versions of Chat Completions wrote them.
    pub const FUNCTION: &str = "function";
    /// A part that continues the message of the block before it.
    pub const JOINED: &str = "joined";
    /// A separate entry of the conversation, not a part of a message.
    pub const ITEM: &str = "item";
    /// Encrypted reasoning without text.
    pub const REDACTED: &str = "redacted";
    /// A text of white space only, or an empty list, that a request of a log has: written as it was
    /// received, although the provider refuses it.
    pub const BLANK: &str = "blank";
}
