//! Prints sequences.

use std::fmt::{self, Display, Formatter};

/// Writes the elements with a separator between them.
pub(super) struct List<'l, S: ?Sized>(pub(super) &'l S, pub(super) &'static str);

impl<'l, S: ?Sized> Display for List<'l, S>
where
    &'l S: IntoIterator<Item: Display>,
{
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (index, element) in self.0.into_iter().enumerate() {
            if index > 0 {
                f.write_str(self.1)?;
            }
            element.fmt(f)?;
        }
        Ok(())
    }
}
