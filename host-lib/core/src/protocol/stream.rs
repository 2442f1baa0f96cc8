//! Streams of collectives, within which repairs become corrections.
//!
//! The calls of a declared bucket form a stream: losses repaired after a call returns are added to
//! a later output.

use serde::Serialize;

/// Relation of a collective to a declared bucket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stream {
    /// A call outside any stream. It repairs its losses before it returns, within a deadline.
    #[default]
    OneOff,
    /// A call of a declared bucket. Later repairs are added to a later output of the bucket.
    Declared {
        /// Number of earlier declarations of the bucket, equal on all ranks. It grows when the
        /// bucket's length or purpose changes.
        generation: u32,
    },
}

/// Identifier of a stream. `elements` is the length of the bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)] // described above
pub struct StreamId {
    pub bucket: u16,
    pub generation: u32,
    pub elements: usize,
}
