//! How the requests of a call are rendered, counted and cached.

use std::collections::BTreeMap;

use contextree::cache::{CacheRules, Rendered};
use contextree::calls::tokenizer_of;
use contextree::provider::{Provider, RenderOptions, render};
use contextree::tokens::Tokenizer;
use contextree::{Attempt, Cycle, TreeRef};
use contextree_json::Value;

use super::CacheRequest;
use crate::command::budget::read_budget;
use crate::command::known::Known;
use crate::command::tokens::tokenizer;
use crate::workspace::Reader;
use crate::{Advice, Error};

/// The setting of Anthropic on which the cache of messages depends.
const THINKING: &str = "thinking";

/// What is the same for all calls of a report.
pub(super) struct Terms {
    pub(super) provider: Provider,
    /// The model of the newest request.
    pub(super) model: Option<String>,
    /// The names of the limits of a policy.
    pub(super) limits: Vec<String>,
    /// What counts all requests, if the caller said so.
    tokenizer: Option<Tokenizer>,
    options: RenderOptions,
}

impl Terms {
    /// Decides by the request, by what was called, and by the newest tree.
    pub(super) fn of(
        request: &CacheRequest,
        reader: &mut Reader,
        newest: TreeRef<'_>,
        cycle: Option<Cycle>,
    ) -> Result<Terms, Error> {
        let known = Known::find(reader, newest, cycle)?;
        let provider = match (&request.format, &known) {
            (Some(format), _) => format.0,
            (None, Some(known)) => known.provider,
            (None, None) => {
                return Err(Error::usage(
                    "no provider is known: nothing was called or imported yet",
                )
                .with_advice(Advice::NameProvider));
            }
        };
        // Marks are not part of what is cached.
        let options =
            RenderOptions { settings: request.settings.clone(), marks: Some(BTreeMap::new()) };
        let rendered = render(newest, provider, &options).ok();
        let set = rendered.and_then(|rendered| Rendered::from(&rendered).model());
        let called = known.filter(|known| known.provider == provider).and_then(|it| it.model);
        let limits = match &request.budget {
            None => Vec::new(),
            Some(document) => {
                let budget = read_budget(document, reader.edition())?;
                budget.rules().into_iter().map(|(rule, _)| rule.key().to_owned()).collect()
            }
        };
        Ok(Terms {
            provider,
            model: if request.settings.contains_key("model") { set } else { called.or(set) },
            limits,
            tokenizer: request.tokenizer.as_deref().map(tokenizer).transpose()?,
            options,
        })
    }

    /// Returns how a call was rendered, without marks: its own settings, and over them those of the request.
    pub(super) fn options(&self, attempt: Option<&Attempt>) -> RenderOptions {
        let stored = attempt.and_then(|attempt| attempt.request.as_ref());
        let stored = stored.and_then(|request| RenderOptions::from_text(&request.options));
        match stored.filter(|(provider, _)| *provider == self.provider) {
            None => self.options.clone(),
            Some((_, own)) => {
                let mut options = self.options.clone();
                // A log without requests has no tokens of this setting; it is compared by itself, so
                // that requests stay comparable byte by byte.
                let is_complete = attempt.is_some_and(|attempt| attempt.input.is_some());
                let known =
                    own.settings.iter().filter(|(name, _)| is_complete || *name != THINKING);
                for (name, value) in known {
                    if !self.options.settings.contains_key(name) {
                        options.settings.insert(name, value.clone());
                    }
                }
                options
            }
        }
    }

    /// Returns what a log without requests tells about the setting `thinking` of a call.
    pub(super) fn thinking(&self, attempt: Option<&Attempt>) -> Option<Value> {
        let attempt = attempt.filter(|attempt| attempt.input.is_none())?;
        let (provider, own) = RenderOptions::from_text(&attempt.request.as_ref()?.options)?;
        own.settings.get(THINKING).filter(|_| provider == self.provider).cloned()
    }

    /// Returns the model of a call.
    pub(super) fn model(&self, attempt: Option<&Attempt>) -> Option<String> {
        if self.options.settings.contains_key("model") {
            return self.model.clone();
        }
        let called = attempt.filter(|attempt| attempt.provider == self.provider.name());
        let called = called.map(|attempt| attempt.model.clone()).filter(|it| !it.is_empty());
        called.or_else(|| self.model.clone())
    }

    /// Returns what counts requests for a model, and the rules of its cache.
    pub(super) fn of_model(&self, model: Option<&str>) -> (Tokenizer, CacheRules) {
        let tokenizer = self.tokenizer.unwrap_or_else(|| tokenizer_of(self.provider, model));
        (tokenizer, rules(self.provider, model))
    }
}

/// Returns the rules of a provider's cache for a model.
pub(in crate::command) fn rules(provider: Provider, model: Option<&str>) -> CacheRules {
    let name = model.unwrap_or_default();
    match provider {
        Provider::Anthropic => CacheRules::anthropic(name),
        Provider::Gemini => CacheRules::gemini(name),
        _ => CacheRules::openai(name),
    }
}
