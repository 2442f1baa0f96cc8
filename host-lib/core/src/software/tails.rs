//! Retransmission of the ends of shards.
//!
//! A link outage of some milliseconds loses whole shards with their marks, which looks like a late
//! sender. The receiver would wait for the bound, which is longest while t_B is measured.
//!
//! The last beat of each shard is therefore retransmitted with the mark, first after the timeout of
//! the [credits](super::credit), then at doubling intervals. This ends when the receiver answers,
//! moves on, or must have closed the stage. No other data is retransmitted.
//!
//! Limits: only for peers that send feedback, which excludes cards and shared memory.

use optireduce_contract::limits::BEAT_BYTES;
use optireduce_contract::packet::{UBT_BYTES, UbtHeader};
use optireduce_contract::rules::Window;

use super::credit::{Answered, Credits, is_of_stage, payload_scale};
use crate::protocol::Stage;

#[derive(Clone, Copy, Debug)]
pub(super) struct Tail {
    pub to: usize,
    pub header: UbtHeader,
    pub payload: [u8; BEAT_BYTES],
    /// Time by which the peer has closed the stage.
    pub until_ns: u64,
}

impl Tail {
    pub fn bytes(&self) -> usize {
        UBT_BYTES + self.payload.len()
    }
}

#[derive(Debug)]
struct Kept {
    tail: Tail,
    due_ns: u64,
    /// Interval, which doubles each time.
    wait_ns: u64,
    sent_bytes: u64,
}

impl Kept {
    /// Returns whether feedback names the last beat. In bf16, a beat of padding may follow.
    fn is_named(&self, feedback: &UbtHeader) -> bool {
        let last = &self.tail.header;
        let bytes_max = payload_scale(last) * BEAT_BYTES as u32;
        is_of_stage(feedback, last) && (1..=bytes_max).contains(&feedback.offset.wrapping_sub(last.offset))
    }
}

#[derive(Debug)]
pub(super) struct Tails {
    peers: Vec<Vec<Kept>>,
    count: usize,
    /// No end is due before this time.
    soonest_ns: u64,
}

impl Tails {
    pub fn new(ranks: usize) -> Self {
        Self { peers: (0..ranks).map(|_| Vec::new()).collect(), count: 0, soonest_ns: u64::MAX }
    }

    pub fn keep(&mut self, tail: Tail, credits: &Credits, now_ns: u64) {
        let to = tail.to;
        let (wait_ns, sent_bytes) = (credits.patience_ns(to), credits.sent_bytes(to));
        let due_ns = now_ns + wait_ns;
        self.soonest_ns = if self.count == 0 { due_ns } else { self.soonest_ns.min(due_ns) };
        self.count += 1;
        self.peers[to].push(Kept { tail, due_ns, wait_ns, sent_bytes });
    }

    /// Drops the end that feedback names; without loss, all ends since the previous feedback.
    pub fn answered(&mut self, peer: usize, feedback: &UbtHeader, answered: &Answered) {
        self.retain(peer, |kept| {
            let is_named = kept.is_named(feedback);
            let is_among = answered.is_all && answered.sent_bytes.contains(&(kept.sent_bytes - 1));
            !is_named && !is_among
        });
    }

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

    pub fn next_ns(&self) -> Option<u64> {
        (self.count > 0).then_some(self.soonest_ns)
    }

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
                // Later ends may be due as well.
                self.soonest_ns = now_ns;
                return Some(kept.tail);
            }
        }
        None
    }
}
