//! In place of `crate::store`.

use std::sync::Arc;

use crate::pool::Pool;

pub(crate) struct Shared {
    pub(crate) backend: Arc<()>,
    pub(crate) pool: Pool,
}
