//! Updates that finished after their request was dropped, so that no caller has applied them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::rarely::Rarely;
use optireduce_core::protocol::StreamId;
use optireduce_core::protocol::repair::RepairReport;

static ABANDONED: Rarely = Rarely::new(
    "this replica differs from the others, since a request was dropped and nobody applied its update",
    "wait for every all-reduce, and apply what it returns",
);

/// Bytes of these updates: permanent drift of this rank.
#[derive(Debug, Default)]
pub(super) struct Abandoned(Mutex<Bytes>);

#[derive(Debug, Default)]
struct Bytes {
    all: u64,
    by_stream: BTreeMap<(u16, u32), u64>,
}

impl Abandoned {
    fn bytes(&self) -> MutexGuard<'_, Bytes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `stream`: `None` for a one-off collective.
    pub fn add(&self, stream: Option<StreamId>, elements: usize) {
        let lost = (elements * size_of::<f32>()) as u64;
        let mut bytes = self.bytes();
        bytes.all += lost;
        if let Some(stream) = stream {
            *bytes.by_stream.entry((stream.bucket, stream.generation)).or_default() += lost;
        }
        drop(bytes);
        match stream {
            Some(stream) => ABANDONED.warn(format_args!("{lost} bytes of bucket {}", stream.bucket)),
            None => ABANDONED.warn(format_args!("{lost} bytes")),
        }
    }

    /// Adds the drift of all streams to a report.
    pub fn add_to(&self, repairs: RepairReport) -> RepairReport {
        with(repairs, self.bytes().all)
    }

    /// Adds the drift of a stream to its report.
    pub fn add_of(&self, stream: StreamId, repairs: RepairReport) -> RepairReport {
        with(repairs, self.bytes().by_stream.get(&(stream.bucket, stream.generation)).copied().unwrap_or(0))
    }
}

fn with(mut repairs: RepairReport, drift_bytes: u64) -> RepairReport {
    repairs.missing_bytes += drift_bytes;
    repairs.drift_bytes += drift_bytes;
    repairs
}

/// An update on its way to the caller. Counts as abandoned unless [taken](Self::taken).
#[derive(Debug)]
pub(super) struct Update(Option<(Arc<Abandoned>, Option<StreamId>, usize)>);

impl Update {
    pub fn new(abandoned: Arc<Abandoned>, stream: Option<StreamId>, elements: usize) -> Self {
        Self(Some((abandoned, stream, elements)))
    }

    pub fn taken(mut self) {
        self.0 = None;
    }
}

impl Drop for Update {
    fn drop(&mut self) {
        if let Some((abandoned, stream, elements)) = self.0.take() {
            abandoned.add(stream, elements);
        }
    }
}
