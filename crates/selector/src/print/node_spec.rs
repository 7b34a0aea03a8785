//! Prints node specifications.

use std::fmt::{self, Display, Formatter};

use super::List;
use super::filter::Name;
use crate::ast::{NodeSpec, PropertyValue};

impl Display for NodeSpec {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.node_type)?;
        if let Some(kind) = &self.kind {
            write!(f, ":{kind}")?;
        }
        for (index, property) in self.properties.iter().enumerate() {
            f.write_str(if index == 0 { " { " } else { ", " })?;
            match &property.value {
                PropertyValue::One(value) => write!(f, "{}={value}", Name(&property.name))?,
                PropertyValue::List(values) => {
                    write!(f, "{}=[{}]", Name(&property.name), List(values, ", "))?;
                }
            }
        }
        if self.properties.is_empty() { Ok(()) } else { f.write_str(" }") }
    }
}
