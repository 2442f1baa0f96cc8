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
use optireduce_contract::rules::Window;

use super::credit::{Answered, Credits, is_of_stage, payload_scale};
use crate::protocol::Stage;

/// The end of one shard, on its way to a peer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tail {
    /// The job's number of the peer.
    pub to: usize,
    /// Of a packet that has the last beat only.
    pub header: UbtHeader,
    pub payload: [u8; BEAT_BYTES],
    /// The peer has closed the stage by then.
    pub until_ns: u64,
}

impl Tail {
    /// Bytes of the datagram.
    pub fn bytes(&self) -> usize {
        UBT_BYTES + self.payload.len()
    }
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
    /// Whether feedback names a packet with the last beat. In bf16 that may have another after it, which is padding.
    fn is_named(&self, feedback: &UbtHeader) -> bool {
        let last = &self.tail.header;
        let bytes_max = payload_scale(last) * BEAT_BYTES as u32;
        is_of_stage(feedback, last) && (1..=bytes_max).contains(&feedback.offset.wrapping_sub(last.offset))
    }
}

/// The ends that wait for an answer.
#[derive(Debug)]
pub(super) struct Tails {
    /// By rank of the job.
    peers: Vec<Vec<Kept>>,
    count: usize,
    /// None is due before.
    soonest_ns: u64,
}

impl Tails {
    pub fn new(ranks: usize) -> Self {
        Self { peers: (0..ranks).map(|_| Vec::new()).collect(), count: 0, soonest_ns: u64::MAX }
    }

    /// All of a shard has been sent.
    pub fn keep(&mut self, tail: Tail, credits: &Credits, now_ns: u64) {
        let to = tail.to;
        let (wait_ns, sent_bytes) = (credits.patience_ns(to), credits.sent_bytes(to));
        let due_ns = now_ns + wait_ns;
        self.soonest_ns = if self.count == 0 { due_ns } else { self.soonest_ns.min(due_ns) };
        self.count += 1;
        self.peers[to].push(Kept { tail, due_ns, wait_ns, sent_bytes });
    }

    /// A peer has answered: the end that it names has come, and so have those sent since its last answer, if it says that all has.
    pub fn answered(&mut self, peer: usize, feedback: &UbtHeader, answered: &Answered) {
        self.retain(peer, |kept| {
            let is_named = kept.is_named(feedback);
            // The last of its bytes was sent in between.
            let is_among = answered.is_all && answered.sent_bytes.contains(&(kept.sent_bytes - 1));
            !is_named && !is_among
        });
    }

    /// The peer waits no more for what is contributed to this window.
    pub fn forget_contribution(&mut self, peer: usize, window: &Window) {
        let is_it = |header: &UbtHeader| header.stage == Stage::Contribute.on_wire() && window.holds(header);
        self.retain(peer, |kept| !is_it(&kept.tail.header));
    }

    fn retain(&mut self, peer: usize, is_wanted: impl Fn(&Kept) -> bool) {
        let peer = &mut self.peers[peer];
        let before = peer.len();
        peer.retain(is_wanted);
        self.count -= before - peer.len();
    }

    /// When to [`poll`](Self::poll) again.
    pub fn next_ns(&self) -> Option<u64> {
        (self.count > 0).then_some(self.soonest_ns)
    }

    /// The next that is due: it is to be sent.
    pub fn poll(&mut self, now_ns: u64, credits: &mut Credits) -> Option<Tail> {
        if self.next_ns()? > now_ns {
            return None;
        }
        self.soonest_ns = u64::MAX;
        for peer in 0..self.peers.len() {
            let gives_feedback = credits.gives_feedback(peer);
            self.retain(peer, |kept| kept.tail.until_ns > now_ns && gives_feedback);
            for kept in &mut self.peers[peer] {
                let due_ns = kept.due_ns.max(credits.held_until_ns(peer));
                if due_ns > now_ns {
                    self.soonest_ns = self.soonest_ns.min(due_ns);
                    continue;
                }
                credits.sent_again(peer, kept.tail.bytes(), &kept.tail.header, now_ns);
                kept.wait_ns *= 2;
                (kept.due_ns, kept.sent_bytes) = (now_ns + kept.wait_ns, credits.sent_bytes(peer));
                // Those after it were not looked at.
                self.soonest_ns = now_ns;
                return Some(kept.tail);
            }
        }
        None
    }
}
