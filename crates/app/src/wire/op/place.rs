//! Places: `parent` with `offset`, `parent` with `cue`, `turn` with `zone`, or `at` with a position in words.

use contextree::engine::{self, Cue};
use contextree::query::QueryLimits;
use contextree::{Context, Edition};
use contextree_json::{Object, Value};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{OpError, optional, wrong};
use crate::Error;

/// Where a node is placed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// Into a parent (an id, `^sys` or `^ah`), at an offset.
    Into {
        /// The parent.
        parent: String,
        /// The offset; absent: 0, or for a move the node's own.
        offset: Option<i64>,
    },
    /// Into a zone of a turn.
    Zone {
        /// The id of the turn, or `^ah`.
        turn: String,
        /// The zone.
        zone: Zone,
    },
    /// At a position among the children of a parent.
    Cue {
        /// The parent.
        parent: String,
        /// `start`, `end`, `+N` (after the Nth child) or `-N` (before it).
        cue: String,
    },
    /// At a position in the words of the selector language: `(d0, cont[offset=0], end)`.
    At {
        /// The position.
        at: String,
    },
}

impl Default for Place {
    /// The core of the turn in progress.
    fn default() -> Self {
        Place::Into { parent: "^ah".to_owned(), offset: None }
    }
}

/// A zone of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Zone {
    /// Before the core: offset −1.
    Pre,
    /// The core: offset 0.
    Core,
    /// After the core: offset 1.
    Post,
}

/// The fields of a place.
const FIELDS: [&str; 6] = ["at", "turn", "zone", "parent", "cue", "offset"];

impl Place {
    /// Reads a place that is a value of its own, so that nothing else may be in it: a misspelt field would put the node elsewhere.
    pub(super) fn read_alone(value: &Value) -> Result<Place, OpError> {
        let Value::Object(object) = value else { return wrong("a place is not an object") };
        match object.iter().find(|(name, _)| !FIELDS.contains(name)) {
            Some((name, _)) => wrong(format!("a place has no field `{name}`")),
            None => Place::read(value, None),
        }
    }

    /// Reads a place. All its fields are checked, also those that another one makes superfluous.
    pub(super) fn read(value: &Value, offset: Option<i64>) -> Result<Place, OpError> {
        let (at, turn) = (optional(value, "at")?, optional(value, "turn")?);
        let (parent, cue) = (optional(value, "parent")?, optional(value, "cue")?);
        let zone = match optional(value, "zone")?.as_deref() {
            None => None,
            Some("pre") => Some(Zone::Pre),
            Some("core") => Some(Zone::Core),
            Some("post") => Some(Zone::Post),
            Some(other) => return wrong(format!("unknown zone `{other}`")),
        };
        let offset = match value.get("offset") {
            None | Some(Value::Null) => offset,
            Some(value) => match value.as_i64() {
                Some(offset) => Some(offset),
                None => return wrong("`offset` is not an integer"),
            },
        };
        let parent = parent.unwrap_or_else(|| "^ah".to_owned());
        Ok(match (at, turn, zone, cue) {
            (Some(at), ..) => Place::At { at },
            (_, Some(turn), Some(zone), _) => Place::Zone { turn, zone },
            (_, Some(_), None, _) => return wrong("a `turn` needs a `zone`"),
            (_, _, _, Some(cue)) => cue_of(&cue).map(|_| Place::Cue { parent, cue })?,
            _ => Place::Into { parent, offset },
        })
    }

    pub(super) fn write(&self, object: &mut Object) {
        match self {
            Place::Into { parent, offset } => {
                object.insert("parent", parent.as_str().into());
                if let Some(offset) = offset {
                    object.insert("offset", (*offset).into());
                }
            }
            Place::Zone { turn, zone } => {
                object.insert("turn", turn.as_str().into());
                object.insert("zone", crate::wire::to_value(zone));
            }
            Place::Cue { parent, cue } => {
                object.insert("parent", parent.as_str().into());
                object.insert("cue", cue.as_str().into());
            }
            Place::At { at } => {
                object.insert("at", at.as_str().into());
            }
        }
    }

    /// Returns the place of the engine.
    ///
    /// # Errors
    ///
    /// If a cue or a position is invalid, or leads nowhere.
    pub fn resolve(
        self,
        context: &mut Context,
        edition: Option<Edition>,
    ) -> Result<engine::Place, Error> {
        self.resolve_within(context, edition, &QueryLimits::default())
    }

    /// Like [`Place::resolve`], but evaluates a position within limits.
    pub(crate) fn resolve_within(
        self,
        context: &mut Context,
        edition: Option<Edition>,
        limits: &QueryLimits,
    ) -> Result<engine::Place, Error> {
        Ok(match self {
            Place::Into { parent, offset } => engine::Place::Into { parent, offset },
            Place::Zone { turn, zone } => engine::Place::Zone { turn, zone: zone.into() },
            Place::Cue { parent, cue } => {
                let cue = cue_of(&cue).map_err(|error| Error::usage(error.to_string()))?;
                engine::Place::Cue { parent, cue }
            }
            Place::At { at } => crate::workspace::place_of(context, &at, edition, limits)?,
        })
    }
}

impl From<&engine::Place> for Place {
    fn from(place: &engine::Place) -> Self {
        match place {
            engine::Place::Into { parent, offset } => {
                Place::Into { parent: parent.clone(), offset: *offset }
            }
            engine::Place::Zone { turn, zone } => Place::Zone {
                turn: turn.clone(),
                zone: match zone {
                    engine::Zone::Pre => Zone::Pre,
                    engine::Zone::Core => Zone::Core,
                    engine::Zone::Post => Zone::Post,
                },
            },
            engine::Place::Cue { parent, cue } => Place::Cue {
                parent: parent.clone(),
                cue: match cue {
                    Cue::Start => "start".to_owned(),
                    Cue::End => "end".to_owned(),
                    Cue::After(child) => format!("+{child}"),
                    Cue::Before(child) => format!("-{child}"),
                },
            },
        }
    }
}

impl From<Zone> for engine::Zone {
    fn from(zone: Zone) -> Self {
        match zone {
            Zone::Pre => engine::Zone::Pre,
            Zone::Core => engine::Zone::Core,
            Zone::Post => engine::Zone::Post,
        }
    }
}

/// Reads `start`, `end`, `+2` (after the second child) or `-2` (before it).
fn cue_of(text: &str) -> Result<Cue, OpError> {
    let number =
        |digits: &str| digits.parse().map_err(|_| OpError(format!("invalid cue `{text}`")));
    match text {
        "start" => Ok(Cue::Start),
        "end" => Ok(Cue::End),
        _ => match text.split_at_checked(1) {
            Some(("+", digits)) => Ok(Cue::After(number(digits)?)),
            Some(("-", digits)) => Ok(Cue::Before(number(digits)?)),
            _ => wrong(format!("invalid cue `{text}`")),
        },
    }
}
