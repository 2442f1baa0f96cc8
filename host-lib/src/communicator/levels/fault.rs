//! Mismatches of one step, which end the other steps and the other groups.
//!
//! Why: ranks whose group differs pass no shards on. Their equals in other groups would wait for
//! them, and then blame the network.
//! How: a rank that finds or hears of the first mismatch tells its group and its equals over TCP.
//! Each other group has an equal of every rank of this one, so all ranks hear of it. All
//! communicators of the job then fail with the mismatch, with job ranks in its text.
//! Limits: several ranks may find different mismatches at the same time, such as the equals of each
//! member of a group.

use std::sync::{Arc, Mutex, PoisonError};

use super::super::Shared;
use super::super::command::Command;
use super::super::report::Numbers;
use super::super::{Cause, Error};
use crate::control::{Space, Tag, printable};
use optireduce_core::protocol::Mismatch;

const TAG: Tag = Tag { space: Space::Fault, tag: 0 };

#[derive(Debug)]
pub(super) struct Faults {
    numbers: Arc<Numbers>,
    /// Communicators: inside, across, gather.
    pub all: [Arc<Shared>; 3],
    /// First mismatch, with job ranks.
    first: Mutex<Option<Mismatch>>,
}

/// Fields of a [`Mismatch`].
type Fields = (u32, usize, String, String, String, Vec<usize>, bool);

impl Faults {
    pub fn new(numbers: Arc<Numbers>, all: [Arc<Shared>; 3]) -> Arc<Self> {
        let faults = Arc::new(Self { numbers, all, first: Mutex::default() });
        for (shared, peer) in faults.peers() {
            let weak = Arc::downgrade(&faults);
            shared.mailbox.listen(peer, TAG, move |bytes| {
                if let (Some(faults), Some(told)) = (weak.upgrade(), decode(&bytes)) {
                    faults.learn(told);
                }
            });
        }
        faults
    }

    /// The other ranks of the group and the equals, by communicator.
    fn peers(&self) -> impl Iterator<Item = (&Arc<Shared>, usize)> {
        self.all[..2].iter().flat_map(move |shared| {
            let own = shared.params.rank;
            (0..shared.params.ranks).filter(move |peer| *peer != own).map(move |peer| (shared, peer))
        })
    }

    /// First mismatch of a step, with job ranks.
    pub fn first(&self) -> Option<Error> {
        let first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        first.as_ref().map(|mismatch| Cause::Mismatch(mismatch.clone()).into())
    }

    pub fn inside(&self, error: Error) -> Error {
        self.whole(&self.numbers.inside, error)
    }

    pub fn across(&self, error: Error) -> Error {
        self.whole(&self.numbers.across, error)
    }

    /// Returns the error of the whole all-reduce. `ranks`: job ranks of the step.
    fn whole(&self, ranks: &[usize], error: Error) -> Error {
        let Cause::Mismatch(mismatch) = error.cause() else { return error };
        let found = mismatch.clone().renumbered(|rank| ranks.get(rank).copied().unwrap_or(rank));
        Cause::Mismatch(self.learn(found)).into()
    }

    /// Tells the peers and ends all communicators, unless there was a mismatch before. Returns the
    /// first one.
    fn learn(&self, mismatch: Mismatch) -> Mismatch {
        let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(first) = &*first {
            return first.clone();
        }
        *first = Some(mismatch.clone());
        drop(first);
        let bytes = encode(&mismatch);
        // Short messages are sent at once.
        self.peers().for_each(|(shared, peer)| drop(shared.mailbox.send(peer, TAG, bytes.clone())));
        for shared in &self.all {
            let _ = shared.command(Command::Fail(Cause::Mismatch(mismatch.clone()).into()));
        }
        mismatch
    }
}

fn encode(mismatch: &Mismatch) -> Vec<u8> {
    let Mismatch { op, rank, field, found, expected, by, is_majority, .. } = mismatch;
    serde_json::to_vec(&(op, rank, field, found, expected, by, is_majority)).unwrap_or_default()
}

/// `None` if the bytes are malformed.
fn decode(bytes: &[u8]) -> Option<Mismatch> {
    let (op, rank, field, found, expected, by, is_majority) = serde_json::from_slice::<Fields>(bytes).ok()?;
    Mismatch::of_fields(op, rank, &field, printable(found), printable(expected), by, is_majority)
}
