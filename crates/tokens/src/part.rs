//! What a part of a request takes besides its text: roles, ids, and the marks between parts.
//!
//! Providers do not publish how they write a request for the model. The numbers were fitted to the
//! billed growth of real agent sessions; `docs/tokens.md` has the method and the result.

use contextree_tree::NodeRef;

use crate::encoding::Encoding;
use crate::estimate::Estimate;
use crate::tokenizer::Tokenizer;

/// A part of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// Text of any role.
    Text,
    /// A tool call: its name and its arguments are text.
    Call,
    /// The result of a tool call.
    Result,
    /// Reasoning. Its signature is not text.
    Reasoning,
    /// The definition of a tool.
    Tool,
    /// An image, or other data.
    Media,
    /// A block that is in no request: a foreign part of a log.
    Unsent,
}

impl Part {
    /// Returns the part that a block becomes in a request. `docs/providers.md` has the table of
    /// kinds.
    #[must_use]
    pub fn of_node(node: NodeRef<'_>) -> Part {
        let has_call = || node.attribute("data_call_id").is_some();
        match node.kind() {
            Some("call" | "tool_call" | "tool_use") => Part::Call,
            Some("result" | "tool_result") => Part::Result,
            Some("reasoning" | "thinking") => Part::Reasoning,
            Some("tool") => Part::Tool,
            Some("image" | "document" | "audio") => Part::Media,
            Some("foreign") => Part::Unsent,
            _ if node.role() == Some("tool") && has_call() => Part::Result,
            _ => Part::Text,
        }
    }
}

impl Tokenizer {
    /// Returns the tokens that a part takes besides its text.
    #[must_use]
    pub fn overhead(self, part: Part) -> u64 {
        let [text, call, result, tool] = match self {
            Tokenizer::Exact(Encoding::O200kBase | Encoding::O200kHarmony) => [7, 12, 12, 8],
            Tokenizer::Exact(_) => [4, 10, 6, 8],
            Tokenizer::Estimate(Estimate::CLAUDE_3 | Estimate::CLAUDE_5) => [5, 60, 18, 20],
            Tokenizer::Estimate(_) => [5, 15, 12, 10],
        };
        match part {
            Part::Text => text,
            Part::Call => call,
            Part::Result => result,
            Part::Tool => tool,
            Part::Reasoning | Part::Media | Part::Unsent => 0,
        }
    }
}
