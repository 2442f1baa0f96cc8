//! The view table: which tag the packets of a view have, and which rank a number in them means.
//!
//! Why: ranks change views one after the other, and packets of two views are on their way at the same time.
//! Limits: packets of views before the last [`KEPT`] are dropped as another job's.

use std::collections::VecDeque;
use std::sync::Arc;

use optireduce_contract::rules::accept::Receiver;

use crate::protocol::View;

/// Views whose packets are taken: the last one, one to come, and those that are running out.
const KEPT: usize = 4;

/// What packets of one view say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ViewEntry {
    epoch: u32,
    /// Tag of its packets.
    pub tag: u64,
    /// This rank's number in it.
    pub rank: usize,
    /// The job's number of each of its ranks.
    pub peers: Vec<usize>,
}

impl ViewEntry {
    /// As whom this rank takes packets of the view.
    pub fn receiver(&self) -> Receiver {
        Receiver { rank: self.rank, ranks: self.peers.len(), job_tag: self.tag, takes_feedback: true }
    }
}

/// The views whose packets are taken.
#[derive(Debug)]
pub(super) struct ViewTable {
    job_tag: u64,
    rank: usize,
    known: VecDeque<Arc<ViewEntry>>,
    entered: Arc<ViewEntry>,
}

impl ViewTable {
    /// The job begins with all ranks.
    pub fn new(job_tag: u64, rank: usize, ranks: usize) -> Self {
        let first = Arc::new(ViewEntry { epoch: 0, tag: job_tag, rank, peers: (0..ranks).collect() });
        Self { job_tag, rank, known: VecDeque::from([first.clone()]), entered: first }
    }

    /// Packets of this view may come from now on.
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

    /// Windows are of this view from now on; `false` if this rank is not in it.
    pub fn enter(&mut self, view: &View) -> bool {
        self.announce(view);
        let found = self.known.iter().find(|one| one.epoch == view.epoch);
        found.inspect(|one| self.entered = Arc::clone(one)).is_some()
    }

    /// The view of new windows.
    pub fn entered(&self) -> &Arc<ViewEntry> {
        &self.entered
    }

    /// Tag of the newest view that is known.
    pub fn newest_tag(&self) -> u64 {
        self.known.back().map_or(self.job_tag, |one| one.tag)
    }

    /// The view with this tag.
    pub fn with_tag(&self, tag: u64) -> Option<&ViewEntry> {
        self.known.iter().find(|one| one.tag == tag).map(AsRef::as_ref)
    }
}
