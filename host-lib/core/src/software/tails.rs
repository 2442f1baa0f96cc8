//! Ends of shards that nobody has answered, and that are therefore sent again.
//!
//! Why: when a link is out for some milliseconds it takes whole shards, their marks included, and the receiver cannot tell that from a sender
//! that is late. It would wait for the whole bound, which is the longest one while the bound is still being measured.
//! How: the last beat of a shard is kept. If its packets are not answered within the patience of the [credits](super::credit), it is
//! sent again, with the mark, and again after twice that time, until the receiver has answered, has gone on, or must have closed the stage.
//! So the receiver knows that the rest is lost, and the early rule ends the stage. What was lost is not sent again.
//! Limits: for peers that give feedback, so neither for cards nor through memory.

use optireduce_contract::limits::BEAT_BYTES;
use optireduce_contract::packet::{UBT_BYTES, UbtHeader};

use super::credit::Answered;
use super::transmit::{Polled, SendBudget, Train};

/// The end of one shard, on its way to a peer.
#[derive(Debug)]
pub(super) struct Tail {
    /// The job's number of the peer.
    pub to: usize,
    /// Of a packet that has the last beat only.
    pub header: UbtHeader,
    pub payload: [u8; BEAT_BYTES],
    /// The peer has closed the stage by then.
    pub until_ns: u64,
}

#[derive(Debug)]
struct Kept {
    tail: Tail,
    /// When it is sent again, and how long after that once more.
    due_ns: u64,
    wait_ns: u64,
    /// Bytes sent to the peer with it.
    sent_bytes: u64,
}

impl Kept {
    fn key(&self) -> (usize, u16, u16, u8) {
        (self.tail.to, self.tail.header.bucket, self.tail.header.step, self.tail.header.stage)
    }
}

/// The ends that wait for an answer.
#[derive(Debug, Default)]
pub(super) struct Tails(Vec<Kept>);

impl Tails {
    /// All of a shard has been sent.
    pub fn keep(&mut self, tail: Tail, budget: &SendBudget, now_ns: u64) {
        let (wait_ns, sent_bytes) = (budget.credits.patience_ns(tail.to), budget.credits.sent_bytes(tail.to));
        self.0.push(Kept { tail, due_ns: now_ns + wait_ns, wait_ns, sent_bytes });
    }

    /// A peer has answered: the end that it names has come, and so have those before it, if it says that all has.
    pub fn answered(&mut self, peer: usize, feedback: &UbtHeader, answered: &Answered) {
        let key = (peer, feedback.bucket, feedback.step, feedback.flags);
        self.0.retain(|kept| {
            let is_named = kept.key() == key && feedback.offset > kept.tail.header.offset;
            let is_before = kept.tail.to == peer && kept.sent_bytes <= answered.sent_bytes && answered.is_all;
            !is_named && !is_before
        });
    }

    /// The peer waits no more for what this stage of a window was to bring it.
    pub fn forget(&mut self, peer: usize, bucket: u16, step: u16, stage: u8) {
        self.0.retain(|kept| kept.key() != (peer, bucket, step, stage));
    }

    /// When the next is due.
    pub fn next_ns(&self, budget: &SendBudget, now_ns: u64) -> Option<u64> {
        self.0.iter().map(|kept| kept.due_ns.max(budget.credits.held_until_ns(kept.tail.to)).max(now_ns)).min()
    }

    /// The next that is due, in `train`.
    pub fn poll(&mut self, now_ns: u64, budget: &mut SendBudget, train: &mut Train) -> Option<Polled> {
        let credits = &mut budget.credits;
        self.0.retain(|kept| kept.tail.until_ns > now_ns && credits.gives_feedback(kept.tail.to));
        let is_due = |kept: &&mut Kept| kept.due_ns <= now_ns && !credits.is_held(kept.tail.to, now_ns);
        let kept = self.0.iter_mut().find(is_due)?;
        let Tail { to, header, payload, .. } = &kept.tail;
        let segment_bytes = UBT_BYTES + payload.len();
        train.clear();
        train.push_bytes(header, payload);
        credits.sent_again(*to, segment_bytes, header, now_ns);
        budget.pacer.sent(*to, segment_bytes, 1, now_ns);
        kept.wait_ns *= 2;
        (kept.due_ns, kept.sent_bytes) = (now_ns + kept.wait_ns, budget.credits.sent_bytes(*to));
        Some(Polled { to: *to, segment_bytes })
    }
}
