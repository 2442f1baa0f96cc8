//! Streams of collectives: whose repairs go where.
//!
//! Why: what a collective lost is repaired after it has returned, and added to a later output. Only a later output of the same
//! bucket may take it, so a bucket is declared: from then on its calls are a stream. Everything else is one-off: it waits for
//! its repairs itself, and takes none of others.
//! Source: ours.

use serde::Serialize;

/// Whether a collective belongs to a declared bucket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stream {
    /// A call of its own. It fetches what it lost before it returns, within a deadline, and reports the elements that stay
    /// missing; it neither takes nor leaves corrections.
    #[default]
    OneOff,
    /// A call of a declared bucket. It returns at once; what it lost is added to the bucket's next output.
    Declared {
        /// How often the bucket was declared before; counted alike on all ranks. A bucket that changes its length, or what it
        /// is used for, is declared again.
        generation: u32,
    },
}

/// Names one stream of a job. Corrections of one never reach another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId {
    /// Bucket id.
    pub bucket: u16,
    /// See [`Stream::Declared`].
    pub generation: u32,
    /// Elements of the bucket.
    pub elements: usize,
}
