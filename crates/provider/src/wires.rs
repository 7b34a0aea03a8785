//! Which provider is written and read by whom.

use contextree_engine::NewNode;
use contextree_json::Value;

use crate::Provider;
use crate::render::Wire;
use crate::{anthropic, gemini, openai_chat, openai_responses};

/// Returns the writer of a provider.
pub(crate) fn wire(provider: Provider) -> &'static dyn Wire {
    match provider {
        Provider::OpenAiChat => &openai_chat::Chat,
        Provider::OpenAiResponses => &openai_responses::Responses,
        Provider::Anthropic => &anthropic::Anthropic,
        Provider::Gemini => &gemini::Gemini,
    }
}

/// Reads one part of a provider's message.
pub(crate) fn read_part(provider: Provider, part: Value) -> NewNode {
    match provider {
        Provider::OpenAiChat => openai_chat::read_part(part),
        Provider::OpenAiResponses => openai_responses::read_part(part),
        Provider::Anthropic => anthropic::read_part(part),
        Provider::Gemini => gemini::read_part(part),
    }
}
