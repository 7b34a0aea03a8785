//! Budgets of requests: `max_tokens` is the estimate of everything that is sent, for the model it is sent to.

use contextree_budget::{Budget, Keeper, bind};
use contextree_engine::{BoundMeasure, CommitOptions, Context};
use contextree_json::Value;
use contextree_provider::Provider;
use contextree_tokens::{Estimate, Part, Tokenizer, count_json};

use super::request::Request;

/// The settings that a model reads like content. All others, such as `temperature`, take no tokens.
const READ: [&str; 9] = [
    "tools",
    "functions",
    "system",
    "instructions",
    "systemInstruction",
    "response_format",
    "text",
    "output_format",
    "output_config",
];

/// Returns the tokenizer that counts requests for a model of a provider: that of the model or, if the model is unknown, the provider's
/// estimate.
#[must_use]
pub fn tokenizer_of(provider: Provider, model: Option<&str>) -> Tokenizer {
    let usual = match provider {
        // Many other models take requests in the formats of OpenAI and Anthropic.
        Provider::OpenAiChat | Provider::OpenAiResponses | Provider::Anthropic
            if model.is_some() =>
        {
            Tokenizer::Estimate(Estimate::OTHER)
        }
        Provider::Anthropic => Tokenizer::Estimate(Estimate::CLAUDE_5),
        Provider::Gemini => Tokenizer::Estimate(Estimate::GEMINI),
        _ => Tokenizer::default(),
    };
    model.and_then(|model| Tokenizer::named(model).ok()).unwrap_or(usual)
}

impl Request {
    /// Returns the tokenizer that counts this request.
    #[must_use]
    pub fn tokenizer(&self) -> Tokenizer {
        let model = self.options.settings.get("model").and_then(Value::as_str);
        tokenizer_of(self.provider, model)
    }

    /// Returns the tokens that settings take: definitions of tools, schemas, system text.
    #[must_use]
    pub fn settings_tokens(&self, tokenizer: Tokenizer) -> u64 {
        let settings = &self.options.settings;
        let of_setting = |name: &str, value: &Value| {
            let tools =
                if name == "tools" { value.as_array().map_or(0, <[Value]>::len) } else { 0 };
            let around = tools as u64 * tokenizer.overhead(Part::Tool);
            count_json(&value.to_canonical(), tokenizer).tokens + around
        };
        let read = READ.into_iter().filter_map(|name| Some((name, settings.get(name)?)));
        read.map(|(name, value)| of_setting(name, value)).sum()
    }

    /// Returns a keeper that measures this request.
    #[must_use]
    pub fn keeper(&self, budget: Budget) -> Keeper {
        let tokenizer = budget.tokenizer.unwrap_or(self.tokenizer());
        Keeper::for_requests(budget, tokenizer, self.settings_tokens(tokenizer))
    }

    /// Returns the measures that the policy of a commit needs to count this request in tokens.
    pub(super) fn measures(
        &self,
        context: &Context,
        options: &CommitOptions<'_>,
    ) -> Vec<BoundMeasure> {
        let Some(policy) = options.policy_in(context) else { return options.measures.to_vec() };
        let tokenizer = self.tokenizer();
        let counting = contextree_budget::counted_by(policy, tokenizer);
        let base = counting.map_or(0, |tokenizer| self.settings_tokens(tokenizer));
        let own = options.measures.iter().cloned();
        own.chain(bind(policy, tokenizer, base)).collect()
    }
}
