//! The settings of a context, as they are kept beside its history.

use contextree_canon::Limits;
use contextree_engine::{ContextOptions, Policy};
use contextree_json::{Number, Object, Value};
use contextree_selector::Edition;
use contextree_tree::Vocabulary;

use crate::error::{Result, StoreError};
use crate::sealed::{open, seal};

/// How a context is used. Kept with it, so that every process uses it the same way.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContextSettings {
    /// Default edition for selectors.
    pub edition: Edition,
    /// The type names of nodes that the engine creates.
    pub vocabulary: Vocabulary,
    /// How large trees may grow.
    pub limits: Limits,
    /// What every commit prunes whose options name no other policy.
    pub policy: Option<Policy>,
    /// Anything else, by name: a budget, notes of a program. The store keeps it and does not interpret it; see
    /// [`StoreOptions::on_open`](crate::StoreOptions::on_open).
    pub more: Object,
}

type Field = fn(&mut Limits) -> &mut usize;

/// The limits by their names in the stored text.
const LIMITS: [(&str, Field); 6] = [
    ("max_depth", |limits| &mut limits.max_depth),
    ("max_nodes", |limits| &mut limits.max_nodes),
    ("max_content_bytes", |limits| &mut limits.max_content_bytes),
    ("max_name_bytes", |limits| &mut limits.max_name_bytes),
    ("max_attributes", |limits| &mut limits.max_attributes),
    ("max_document_bytes", |limits| &mut limits.max_document_bytes),
];

impl ContextSettings {
    /// Returns the settings as JSON text. Defaults are left out.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut object = self.more.clone();
        let (mut own, mut usual) = (self.limits, Limits::default());
        let mut limits = Object::new();
        for (name, field) in LIMITS {
            let value = *field(&mut own);
            if value != *field(&mut usual) {
                limits.insert(name, Value::Number(Number::from_u64(value as u64)));
            }
        }
        object.insert("edition", Value::from(self.edition.as_str()));
        object.insert("vocabulary", Value::from(self.vocabulary.block()));
        if !limits.is_empty() {
            object.insert("limits", Value::Object(limits));
        }
        if let Some(policy) = &self.policy {
            object.insert("policy", policy.to_value());
        }
        seal(object)
    }

    /// Reads settings.
    ///
    /// # Errors
    ///
    /// If the text was not written by [`ContextSettings::to_json`].
    pub fn from_json(text: &str) -> Result<Self> {
        let fail = |message: &str| StoreError::Corrupt {
            record: "the settings of a context".to_owned(),
            message: message.to_owned(),
        };
        let mut more = open(text).ok_or_else(|| fail("they are not what was written"))?;
        let mut settings = ContextSettings::default();
        if let Some(edition) = more.remove("edition") {
            let edition = edition.as_str().and_then(|text| text.parse().ok());
            settings.edition = edition.ok_or_else(|| fail("the edition is unknown"))?;
        }
        if let Some(word) = more.remove("vocabulary") {
            let known = [Vocabulary::Segment, Vocabulary::Message];
            let found = known.into_iter().find(|known| Some(known.block()) == word.as_str());
            settings.vocabulary = found.ok_or_else(|| fail("the vocabulary is unknown"))?;
        }
        if let Some(limits) = more.remove("limits") {
            for (name, field) in LIMITS {
                if let Some(value) = limits.get(name) {
                    let value = value.as_u64().and_then(|value| usize::try_from(value).ok());
                    *field(&mut settings.limits) =
                        value.ok_or_else(|| fail("a limit is not a number"))?;
                }
            }
        }
        if let Some(policy) = more.remove("policy") {
            let policy = Policy::from_value(&policy);
            settings.policy = Some(policy.map_err(|error| fail(&format!("policy: {error}")))?);
        }
        settings.more = more;
        Ok(settings)
    }

    /// Returns the options that a context with these settings is opened with.
    #[must_use]
    pub fn options(&self) -> ContextOptions {
        ContextOptions {
            edition: self.edition,
            vocabulary: self.vocabulary,
            limits: self.limits,
            policy: self.policy.clone(),
            ..ContextOptions::default()
        }
    }
}
