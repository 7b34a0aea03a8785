//! Maps each provider to its writer.

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
