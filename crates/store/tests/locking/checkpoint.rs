//! In place of `crate::checkpoint`.

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spacing {
    pub(crate) checkpoint: u64,
    pub(crate) since: u64,
}
