//! Bytes on their way to each peer, bounded by what its feedback says.
//!
//! Why: nothing is sent twice, so what overruns a receiver's socket buffer is lost for good.
//! How: a peer answers what it received with feedback packets that name the last one. What was sent before that one has
//! come or is lost; what was sent after it is in flight, and held below a limit. Silence of two round trips, and of
//! [`PATIENCE_NS`] at least, counts as an answer: a dead peer or lost feedback never stops a stage, only slows it.
//! Source: feedback and its round-trip times as in OptiReduce 3.2.3; the limit is ours.

use std::collections::VecDeque;

use optireduce_contract::limits::BEAT_BYTES;
use optireduce_contract::packet::{STAGE_FEEDBACK, UBT_BYTES, UbtHeader};

/// How long a peer may be silent at least before what is in flight counts as lost.
const PATIENCE_NS: u64 = 2_000_000;
/// How long it may at most: a host that slow has no room for more.
const PATIENCE_NS_MAX: u64 = 50_000_000;
/// Batches that feedback can name.
const BATCHES_MAX: usize = 256;

/// The peers of a job, by rank.
#[derive(Debug)]
pub(super) struct Credits(Vec<Peer>);

#[derive(Debug, Default)]
struct Peer {
    /// 0: the peer gives no feedback and takes none.
    limit_bytes: u64,
    /// The transport takes nothing for it before.
    held_until_ns: u64,
    sent_bytes: u64,
    answered_bytes: u64,
    /// Last time that something was answered, or went out with nothing in flight.
    answered_ns: u64,
    batches: VecDeque<Batch>,
    rtt_ns: Option<u64>,
    /// What the next feedback to this peer is to say.
    pending: Option<UbtHeader>,
}

impl Peer {
    /// When what is in flight counts as lost.
    fn silent_ns(&self) -> u64 {
        self.answered_ns + (2 * self.rtt_ns.unwrap_or(0)).clamp(PATIENCE_NS, PATIENCE_NS_MAX)
    }
}

/// What feedback may name: packets of one shard, one after the other.
#[derive(Debug)]
struct Batch {
    first: UbtHeader,
    end_offset: u32,
    sent_before: u64,
    at_ns: u64,
}

impl Credits {
    pub fn new(limits_bytes: impl Iterator<Item = u64>) -> Self {
        Self(limits_bytes.map(|limit_bytes| Peer { limit_bytes, ..Peer::default() }).collect())
    }

    /// From now on so many bytes may be on their way to a peer; 0: no limit, and no feedback. What was sent before counts as answered.
    pub fn set_limit(&mut self, peer: usize, limit_bytes: u64) {
        self.0[peer] = Peer { limit_bytes, ..Peer::default() };
    }

    /// Nothing is sent to the peer before.
    pub fn hold(&mut self, peer: usize, until_ns: u64) {
        self.0[peer].held_until_ns = until_ns;
    }

    /// Whether it is [held](Self::hold) now.
    pub fn is_held(&self, peer: usize, now_ns: u64) -> bool {
        self.0[peer].held_until_ns > now_ns
    }

    /// When the first peer that is held now is so no more.
    pub fn next_release_ns(&self, now_ns: u64) -> Option<u64> {
        self.0.iter().map(|peer| peer.held_until_ns).filter(|until_ns| *until_ns > now_ns).min()
    }

    /// When the peer may be sent to.
    pub fn ready_ns(&self, peer: usize, now_ns: u64) -> u64 {
        let peer = &self.0[peer];
        let in_flight = peer.sent_bytes - peer.answered_bytes;
        let has_credit = peer.limit_bytes == 0 || in_flight < peer.limit_bytes;
        let ready_ns = if has_credit { now_ns } else { peer.silent_ns().max(now_ns) };
        ready_ns.max(peer.held_until_ns)
    }

    /// `segments` datagrams with `bytes` together went out to a peer. They start with the header `first`.
    pub fn sent(&mut self, peer: usize, segments: usize, bytes: usize, first: &UbtHeader, now_ns: u64) {
        let peer = &mut self.0[peer];
        if peer.limit_bytes == 0 {
            return;
        }
        if peer.sent_bytes == peer.answered_bytes || peer.silent_ns() <= now_ns {
            (peer.answered_bytes, peer.answered_ns) = (peer.sent_bytes, now_ns);
        }
        let scale = payload_scale(first);
        let payload_bytes = (bytes - segments * UBT_BYTES) as u32 * scale;
        let end_offset = first.offset.wrapping_add(payload_bytes);
        peer.batches.push_back(Batch { first: *first, end_offset, sent_before: peer.sent_bytes, at_ns: now_ns });
        if peer.batches.len() > BATCHES_MAX {
            peer.batches.pop_front();
        }
        peer.sent_bytes += bytes as u64;
    }

    /// A packet of `peer` came: feedback will name it.
    pub fn received(&mut self, peer: usize, header: &UbtHeader, payload_bytes: usize) {
        let peer = &mut self.0[peer];
        if peer.limit_bytes > 0 {
            let end = header.offset.wrapping_add(payload_bytes as u32 * payload_scale(header));
            peer.pending = Some(UbtHeader { offset: end, ..*header });
        }
    }

    /// The next feedback to send, but for its sender, and to whom.
    pub fn poll_feedback(&mut self) -> Option<(usize, UbtHeader)> {
        let (to, peer) = self.0.iter_mut().enumerate().find(|(_, peer)| peer.pending.is_some())?;
        let named = peer.pending.take()?;
        Some((to, UbtHeader { stage: STAGE_FEEDBACK, flags: named.stage, ..named }))
    }

    /// Feedback of `peer` came: what was sent up to the packet that it names is not in flight any more. Returns the round-trip time
    /// in ns, if it names something that was sent.
    pub fn handle_feedback(&mut self, peer: usize, feedback: &UbtHeader, now_ns: u64) -> Option<u64> {
        let peer = &mut self.0[peer];
        let names = |batch: &Batch| {
            let same = (batch.first.bucket, batch.first.step, batch.first.stage);
            let within =
                batch.first.offset < feedback.offset && feedback.offset <= batch.end_offset + BEAT_BYTES as u32;
            same == (feedback.bucket, feedback.step, feedback.flags) && within
        };
        let index = peer.batches.iter().rposition(names)?;
        peer.batches.drain(..index);
        let batch = peer.batches.front()?;
        let payload_bytes = u64::from(feedback.offset.min(batch.end_offset) - batch.first.offset);
        let answered = batch.sent_before + payload_bytes / u64::from(payload_scale(&batch.first));
        peer.answered_bytes = peer.answered_bytes.max(answered.min(peer.sent_bytes));
        peer.answered_ns = now_ns;
        let rtt_ns = now_ns.saturating_sub(batch.at_ns);
        peer.rtt_ns = Some(peer.rtt_ns.map_or(rtt_ns, |smoothed| (7 * smoothed + rtt_ns) / 8));
        if feedback.offset >= batch.end_offset {
            let end = peer.batches.get(1).map_or(peer.sent_bytes, |next| next.sent_before);
            peer.answered_bytes = peer.answered_bytes.max(end);
            peer.batches.pop_front();
        }
        Some(rtt_ns)
    }

    /// Smoothed round-trip time to the peer in ns, once it has answered.
    pub fn rtt_ns(&self, peer: usize) -> Option<u64> {
        self.0.get(peer)?.rtt_ns
    }
}

/// Bytes of fp32 for each byte of payload.
fn payload_scale(header: &UbtHeader) -> u32 {
    1 + u32::from(header.flags & optireduce_contract::packet::FLAG_BF16 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: u64 = 3000;

    fn header(offset: u32) -> UbtHeader {
        UbtHeader { bucket: 1, offset, sender: 1, step: 9, ..UbtHeader::default() }
    }

    /// Sends `segments` packets of 1024 bytes to rank 1.
    fn send(credits: &mut Credits, offset: u32, segments: usize, now_ns: u64) {
        credits.sent(1, segments, segments * (UBT_BYTES + 1024), &header(offset), now_ns);
    }

    /// Feedback of a receiver that got the packet at `offset`.
    fn feedback(offset: u32) -> UbtHeader {
        let mut receiver = Credits::new([LIMIT, LIMIT].into_iter());
        receiver.received(0, &header(offset), 1024);
        let (to, feedback) = receiver.poll_feedback().unwrap();
        assert_eq!((to, receiver.poll_feedback()), (0, None));
        feedback
    }

    #[test]
    fn what_is_in_flight_is_bounded_until_feedback_or_silence() {
        let mut credits = Credits::new([0, LIMIT].into_iter());
        send(&mut credits, 0, 2, 100);
        assert_eq!(credits.ready_ns(1, 100), 100);
        send(&mut credits, 2048, 2, 110);
        assert_eq!(credits.ready_ns(1, 120), 100 + PATIENCE_NS, "4 packets are in flight");
        assert_eq!(credits.handle_feedback(1, &feedback(1024), 150), Some(50));
        assert_eq!(credits.ready_ns(1, 150), 150, "2 are");
        send(&mut credits, 4096, 2, 160);
        assert!(credits.ready_ns(1, 160) > 160);
        assert_eq!(credits.handle_feedback(1, &feedback(2048), 170), Some(60), "the packet before it is lost or here");
        assert_eq!(credits.ready_ns(1, 170), 170 + PATIENCE_NS, "3 are");
        let later_ns = 170 + PATIENCE_NS;
        assert_eq!(credits.ready_ns(1, later_ns), later_ns);
        send(&mut credits, 6144, 1, later_ns);
        assert_eq!(credits.ready_ns(1, later_ns), later_ns, "what was in flight counts as lost");
    }

    #[test]
    fn a_slow_peer_is_waited_for_longer_and_not_for_ever() {
        for (rtt_ns, silence_ns) in [(100, PATIENCE_NS), (10_000_000, 20_000_000), (1_000_000_000, PATIENCE_NS_MAX)] {
            let mut credits = Credits::new([0, LIMIT].into_iter());
            send(&mut credits, 0, 1, 0);
            assert_eq!(credits.handle_feedback(1, &feedback(0), rtt_ns), Some(rtt_ns));
            send(&mut credits, 1024, 4, rtt_ns);
            assert_eq!(credits.ready_ns(1, rtt_ns), rtt_ns + silence_ns);
        }
    }

    #[test]
    fn feedback_on_what_was_never_sent_changes_nothing() {
        let mut credits = Credits::new([LIMIT, LIMIT].into_iter());
        send(&mut credits, 0, 4, 0);
        for wrong in [UbtHeader { step: 8, ..feedback(0) }, feedback(1 << 20), UbtHeader { offset: 0, ..feedback(0) }] {
            assert_eq!(credits.handle_feedback(1, &wrong, 10), None);
        }
        assert!(credits.ready_ns(1, 10) > 10);
        assert_eq!(credits.handle_feedback(1, &feedback(3072), 20), Some(20));
        assert_eq!((credits.ready_ns(1, 20), credits.rtt_ns(1)), (20, Some(20)));
    }

    #[test]
    fn a_peer_that_is_held_waits_for_its_time_or_its_release() {
        let mut credits = Credits::new([0, LIMIT].into_iter());
        credits.hold(0, 500);
        assert_eq!((credits.ready_ns(0, 100), credits.ready_ns(1, 100), credits.ready_ns(0, 600)), (500, 100, 600));
        credits.hold(0, 0);
        assert_eq!(credits.ready_ns(0, 100), 100);
    }

    #[test]
    fn a_limit_that_is_set_anew_begins_with_nothing_in_flight() {
        let mut credits = Credits::new([0, LIMIT].into_iter());
        send(&mut credits, 0, 4, 0);
        credits.set_limit(1, LIMIT);
        assert_eq!(credits.ready_ns(1, 10), 10);
        send(&mut credits, 4096, 4, 10);
        assert!(credits.ready_ns(1, 10) > 10);
        credits.set_limit(1, 0);
        assert_eq!(credits.ready_ns(1, 10), 10);
    }

    #[test]
    fn peers_without_a_limit_neither_give_nor_get_feedback() {
        let mut credits = Credits::new([0, 0].into_iter());
        send(&mut credits, 0, 40, 0);
        assert_eq!(credits.ready_ns(1, 0), 0);
        credits.received(1, &header(0), 1024);
        assert_eq!(credits.poll_feedback(), None);
        assert_eq!(credits.handle_feedback(1, &feedback(0), 10), None);
    }
}
