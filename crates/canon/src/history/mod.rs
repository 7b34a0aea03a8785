//! A history as JSON Lines, oldest first: a full snapshot, then what each commit changed.
//!
//! Writing every snapshot in full would take space quadratic in the number of turns. The line of a
//! commit therefore holds the added and changed nodes, complete and flat, and the removed ids;
//! everything else is unchanged except that its ttl is one less. Every commit line carries the
//! digest of its snapshot, which is checked on reading. A line may also be a full snapshot, so that
//! foreign histories can be read too.
//!
//! If programs keep side records with the context, the working state and the records follow. They
//! belong together: a record may speak of nodes that are not committed yet.
//!
//! A copy that is kept or sent ends with a line that counts the others, and its first line promises
//! that, so that a copy without its end is refused.

mod end;
mod read;
mod side;
mod write;

pub(crate) use end::missing as missing_end;
pub use end::write_end;
pub use read::{HistoryReader, Line};
pub use side::SideLine;
pub use write::{write_delta, write_first, write_side, write_working};
