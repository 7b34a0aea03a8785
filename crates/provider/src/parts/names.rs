//! The attributes that the mapping uses, and the kinds. `docs/providers.md` is the table.

/// The unit: blocks with the same value are pruned together. It is also the provider's id of a call and of its result, unless
/// [`TOOL_CALL_ID`] says another.
pub const CALL_ID: &str = "data_call_id";
/// The provider's id of a call, where it is not the unit's: the second and further of parallel calls.
pub const TOOL_CALL_ID: &str = "data_tool_call_id";
/// The name of the tool of a call or of a definition, of a file, of a speaker.
pub const NAME: &str = "data_name";
/// `true` on a result that is an error.
pub const IS_ERROR: &str = "data_is_error";
/// A signature or encrypted text that goes back to its provider untouched.
pub const SIGNATURE: &str = "data_signature";
/// Which provider extras, signatures and opaque content belong to.
pub const PROVIDER: &str = "data_provider";
/// Fields of a part that the mapping has no word for.
pub const EXTRA: &str = "data_extra";
/// The number of the message that the block was in, where that is not clear from the blocks around it.
pub const MESSAGE: &str = "data_message";
/// Fields of a message that the mapping has no word for; on its first block.
pub const MESSAGE_EXTRA: &str = "data_message_extra";
/// How the part was written, where there is more than one way.
pub const FORM: &str = "data_form";
/// How the content of the message was written, where there is more than one way; on its first block. It is apart from [`FORM`], because
/// a call of a custom tool may be the first block of a message without a content.
pub const SHAPE: &str = "data_shape";
/// The provider's own word for the role: `developer`. Any other word than those that all know goes to its own provider only.
pub const ROLE: &str = "data_role";
/// Fields of the request that are no content: `model`, `temperature`. On a group in `^sys`.
pub const SETTINGS: &str = "data_settings";
/// Fields that a request has on some blocks besides their own, by the id of the node: breakpoints of the cache, which move from request
/// to request. On a group in `^sys`.
pub const MARKS: &str = "data_marks";
/// Blocks that the newest request writes in another form than the one they came in, by the id of the node: `list` or `text`. Beside
/// [`MARKS`].
pub const FORMS: &str = "data_forms";
/// What a log said about an entry besides its content: time, ids, usage. Never rendered, and not hashed with the content: who says the
/// same an hour later says the same.
pub const ENTRY: &str = "log:entry";

/// The type of the group in `^sys` that has the settings.
pub const REQUEST_TYPE: &str = "cont:request";
/// The type of the group in `^sys` that has the marks.
pub const MARKS_TYPE: &str = "cont:marks";

/// Values of [`SHAPE`], and of [`FORM`] where a part cannot have another.
pub mod form {
    /// A list, where a text would do.
    pub const LIST: &str = "list";
    /// A text, where it came as a list.
    pub const TEXT: &str = "text";
    /// An empty list beside something else.
    pub const EMPTY_LIST: &str = "empty_list";
    /// `null`.
    pub const NULL: &str = "null";
    /// A field that is not there.
    pub const ABSENT: &str = "absent";
    /// An empty text beside something else.
    pub const EMPTY: &str = "empty";
    /// A field of the message, not a part of its content.
    pub const FIELD: &str = "field";
    /// A call of a custom tool: free text as its input.
    pub const CUSTOM: &str = "custom";
    /// A call, or a result, without an id.
    pub const ANONYMOUS: &str = "anonymous";
    /// A part that goes on with the message of the block before it.
    pub const JOINED: &str = "joined";
    /// An entry of the conversation by itself, not a part of a message.
    pub const ITEM: &str = "item";
    /// Encrypted reasoning without a text.
    pub const REDACTED: &str = "redacted";
}
