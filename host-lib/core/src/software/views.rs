//! View table: the tag and rank numbers of each view's packets. Ranks change views at different
//! times, so packets of two views can be in flight together.
//!
//! Limits: packets of views before the last [`KEPT`] are dropped as another job's.

use std::collections::VecDeque;
use std::sync::Arc;

use optireduce_contract::rules::accept::Receiver;

use crate::protocol::View;

/// Views whose packets are accepted: the current one, the next one, and expiring ones.
const KEPT: usize = 4;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ViewEntry {
    epoch: u32,
    pub tag: u64,
    /// Index of this rank in the view.
    pub rank: usize,
    /// Rank of the job for each index.
    pub peers: Vec<usize>,
}

impl ViewEntry {
    pub fn receiver(&self) -> Receiver {
        Receiver { rank: self.rank, ranks: self.peers.len(), job_tag: self.tag, takes_feedback: true }
    }
}

#[derive(Debug)]
pub(super) struct ViewTable {
    job_tag: u64,
    rank: usize,
    known: VecDeque<Arc<ViewEntry>>,
    entered: Arc<ViewEntry>,
}

impl ViewTable {
    pub fn new(job_tag: u64, rank: usize, ranks: usize) -> Self {
        let first = Arc::new(ViewEntry { epoch: 0, tag: job_tag, rank, peers: (0..ranks).collect() });
        Self { job_tag, rank, known: VecDeque::from([first.clone()]), entered: first }
    }

    /// Accepts packets of a view. Ignored if this rank is not in it.
    pub fn announce(&mut self, view: &View) {
        let peers: Vec<usize> = view.live().collect();
        let Some(rank) = peers.iter().position(|peer| *peer == self.rank) else { return };
        if self.known.iter().any(|one| one.epoch == view.epoch) {
            return;
        }
        let entry = ViewEntry { epoch: view.epoch, tag: view.job_tag(self.job_tag), rank, peers };
        self.known.push_back(Arc::new(entry));
        if self.known.len() > KEPT {
            self.known.pop_front();
        }
    }

    /// Makes a view current for new windows. Returns `false` if this rank is not in it.
    pub fn enter(&mut self, view: &View) -> bool {
        self.announce(view);
        let found = self.known.iter().find(|one| one.epoch == view.epoch);
        found.inspect(|one| self.entered = Arc::clone(one)).is_some()
    }

    pub fn entered(&self) -> &Arc<ViewEntry> {
        &self.entered
    }

    pub fn newest_tag(&self) -> u64 {
        self.known.back().map_or(self.job_tag, |one| one.tag)
    }

    pub fn with_tag(&self, tag: u64) -> Option<&ViewEntry> {
        self.known.iter().find(|one| one.tag == tag).map(AsRef::as_ref)
    }
}
