//! Congestion control of each peer, by feedback.
//!
//! Shards are not retransmitted, so data that overruns a receiver's socket buffer is lost.
//!
//! - *Feedback* names the last packet that a peer received. Earlier data has arrived or is lost.
//!   Later data is in flight and limited by a window.
//! - *Timeout*: a silence of two RTTs, at least [`PATIENCE_NS`], counts as an answer, so that a
//!   dead peer or lost feedback never stops a stage. While the silence lasts, the timeout doubles
//!   up to [`PATIENCE_NS_MAX`], since a peer that is off the CPU does not empty its buffer.
//! - *Window*: at most this rank's share of the receiver's buffer. RTTs above [`RTT_NS_MAX`] shrink
//!   it, since more data would only queue. A timeout halves it, since data counted as lost may
//!   still be in flight. Marks and losses shrink it further ([`congestion`](super::congestion)).
//!
//! A receiver sends feedback after [`QUANTUM_PART`] of a sender's share, at the end of a shard, in
//! a pause of [`FEEDBACK_NS`], and on request. Senders request it while their window is limited or
//! rates follow RTTs. Feedback holds the number of packets received so far (modulo 2^16), and the
//! marked share since the last feedback.
//!
//! Source: feedback and its RTTs as in OptiReduce 3.2.3; the window is ours.

use std::collections::VecDeque;
use std::ops::Range;

use optireduce_contract::limits::BEAT_BYTES;
use optireduce_contract::packet::{FLAG_ANSWER, FLAG_LAST_PERCENTILE, STAGE_FEEDBACK, UBT_BYTES, UbtHeader};

use super::congestion::{Answer, Congestion};

/// Minimum silence after which data in flight counts as lost.
const PATIENCE_NS: u64 = 2_000_000;
const PATIENCE_NS_MAX: u64 = 50_000_000;
const SILENCES_MAX: u32 = (PATIENCE_NS_MAX / PATIENCE_NS).ilog2() + 1;
const RTT_NS_MAX: u64 = 20_000_000;
/// The window is at least this part of the limit, so that answers are always under way.
const WINDOW_PART_MIN: u64 = 4;
/// Part of a sender's limit after which a receiver answers.
const QUANTUM_PART: u64 = 16;
/// Maximum delay of an answer.
const FEEDBACK_NS: u64 = 1_000_000;
const BATCHES_MAX: usize = 256;
/// The marked share in feedback counts in units of 1 / `MARKED_PARTS`.
const MARKED_PARTS: u32 = 15;

#[derive(Debug)]
pub(super) struct Credits {
    peers: Vec<Peer>,
    quantum_bytes: u64,
    asks_always: bool,
}

#[derive(Debug, Default)]
struct Peer {
    /// 0: no feedback in either direction, and no limit.
    limit_bytes: u64,
    /// Limit from RTTs and timeouts.
    window_bytes: u64,
    shrunk_ns: u64,
    /// The transport is full until this time.
    held_until_ns: u64,
    sent_bytes: u64,
    answered_bytes: u64,
    /// Time of the last answer, or of the last packet sent with nothing in flight.
    answered_ns: u64,
    batches: VecDeque<Batch>,
    silences: u32,
    rtt_ns: Option<u64>,
    congestion: Congestion,
    sent_packets: u64,
    named_packets: u64,
    named_came: u16,
    named_bytes: u64,
    came: u16,
    /// Next feedback to this peer, and the latest time to send it.
    pending: Option<(UbtHeader, u64)>,
    pending_bytes: u64,
    pending_packets: u32,
    pending_marked: u32,
}

impl Peer {
    fn new(limit_bytes: u64) -> Self {
        Self { limit_bytes, window_bytes: limit_bytes, congestion: Congestion::new(limit_bytes), ..Self::default() }
    }

    fn shrink(&mut self, part: f64, now_ns: u64) {
        self.window_bytes =
            ((self.window_bytes as f64 * part.max(0.5)) as u64).max(self.limit_bytes.div_ceil(WINDOW_PART_MIN));
        self.shrunk_ns = now_ns;
    }

    fn adapt(&mut self, rtt_ns: u64, answered_bytes: u64, now_ns: u64) {
        if rtt_ns <= RTT_NS_MAX {
            self.window_bytes = (self.window_bytes + answered_bytes / 2).min(self.limit_bytes);
        } else if now_ns - self.shrunk_ns >= rtt_ns {
            // RTTs of data sent before the last reduction do not count against the smaller window.
            self.shrink(RTT_NS_MAX as f64 / rtt_ns as f64, now_ns);
        }
    }

    /// Passes feedback on packets up to number `named`, which answers `bytes`, to the congestion
    /// window. Returns whether no packet was lost.
    fn learn(&mut self, feedback: &UbtHeader, named: u64, bytes: u64) -> bool {
        let (packets, came) = self.since(feedback, named);
        (self.named_packets, self.named_came) = (self.named_packets.max(named), feedback.timeout_16us);
        // Negative: late or duplicate packets. Very negative: the peer restarted its count.
        let lost = packets as i64 - i64::from(came);
        let lost = if lost < -i64::from(i8::MAX) { 0 } else { lost };
        let marked = f64::from(feedback.incast) / f64::from(MARKED_PARTS);
        let (position, sent) = (self.answered_bytes, self.sent_bytes);
        self.congestion.answered(&Answer { bytes, packets, lost, marked, position, sent });
        lost <= 0
    }

    fn in_flight(&self) -> u64 {
        self.sent_bytes - self.answered_bytes
    }

    fn window(&self) -> u64 {
        self.window_bytes.min(self.congestion.window())
    }

    fn patience_ns(&self) -> u64 {
        (2 * self.rtt_ns.unwrap_or(0)).clamp(PATIENCE_NS, PATIENCE_NS_MAX)
    }

    fn push_batch(&mut self, segments: usize, bytes: usize, first: &UbtHeader, at_ns: u64, is_repeated: bool) {
        let payload_bytes = (bytes - segments * UBT_BYTES) as u32 * payload_scale(first);
        self.batches.push_back(Batch {
            first: *first,
            end_offset: first.offset.wrapping_add(payload_bytes),
            sent_before: self.sent_bytes,
            packets_before: self.sent_packets,
            packets: segments as u64,
            at_ns,
            is_repeated,
        });
        if self.batches.len() > BATCHES_MAX {
            self.batches.pop_front();
        }
        self.sent_bytes += bytes as u64;
        self.sent_packets += segments as u64;
        self.congestion.sent(self.in_flight());
    }

    fn since(&self, feedback: &UbtHeader, named: u64) -> (u64, u16) {
        (named.saturating_sub(self.named_packets), feedback.timeout_16us.wrapping_sub(self.named_came))
    }

    /// Returns the batch that feedback names, and whether it may mean an earlier one. A
    /// retransmitted end counts as answered only if as many packets arrived as were sent up to it.
    /// Otherwise each retransmission would look like a loss.
    fn named(&self, feedback: &UbtHeader) -> Option<(usize, bool)> {
        let names = |batch: &Batch| {
            let within =
                batch.first.offset < feedback.offset && feedback.offset <= batch.end_offset + BEAT_BYTES as u32;
            is_of_stage(feedback, &batch.first) && within
        };
        let last = self.batches.iter().rposition(names)?;
        let batch = &self.batches[last];
        let (packets, came) = self.since(feedback, batch.packets_to(feedback.offset));
        if batch.is_repeated && u64::from(came) < packets {
            return Some((self.batches.iter().position(names)?, true));
        }
        Some((last, batch.is_repeated))
    }

    fn silent_ns(&self) -> u64 {
        self.answered_ns + (self.patience_ns() << self.silences).min(PATIENCE_NS_MAX)
    }
}

#[derive(Debug)]
struct Batch {
    first: UbtHeader,
    end_offset: u32,
    sent_before: u64,
    packets_before: u64,
    packets: u64,
    at_ns: u64,
    /// True for a retransmission, whose answer may be to the original.
    is_repeated: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Answered {
    pub rtt_ns: Option<u64>,
    /// Bytes sent between the packets that the previous and this feedback name.
    pub sent_bytes: Range<u64>,
    pub is_all: bool,
}

impl Batch {
    fn packets_to(&self, offset: u32) -> u64 {
        let all = self.end_offset.wrapping_sub(self.first.offset);
        let beats = (u64::from(all) / BEAT_BYTES as u64).div_ceil(self.packets.max(1)).max(1);
        let named = u64::from(offset.wrapping_sub(self.first.offset)) / BEAT_BYTES as u64;
        self.packets_before + named.div_ceil(beats).min(self.packets)
    }
}

impl Credits {
    /// `limits_bytes`: maximum bytes in flight to each rank. This rank's entry is its peers' limit.
    pub fn new(limits_bytes: impl Iterator<Item = u64>, rank: usize) -> Self {
        let peers: Vec<_> = limits_bytes.map(Peer::new).collect();
        let quantum_bytes = peers.get(rank).map_or(0, |own| own.limit_bytes / QUANTUM_PART);
        Self { peers, quantum_bytes, asks_always: false }
    }

    /// Sets the limit of a peer (0: none, and no feedback). Data sent before counts as answered.
    pub fn set_limit(&mut self, peer: usize, limit_bytes: u64) {
        self.peers[peer] = Peer::new(limit_bytes);
    }

    pub fn ask_always(&mut self) {
        self.asks_always = true;
    }

    pub fn asks(&self, peer: usize) -> bool {
        let peer = &self.peers[peer];
        peer.limit_bytes > 0 && (self.asks_always || peer.congestion.is_limited())
    }

    /// Maximum bytes of the next batch to the peer, which may always hold one packet.
    pub fn batch_bytes_max(&self, peer: usize) -> usize {
        let peer = &self.peers[peer];
        if peer.limit_bytes == 0 || !peer.congestion.is_limited() {
            return usize::MAX;
        }
        let window = peer.window();
        (window / 2).min(window.saturating_sub(peer.in_flight())) as usize
    }

    pub fn hold(&mut self, peer: usize, until_ns: u64) {
        self.peers[peer].held_until_ns = until_ns;
    }

    pub fn is_held(&self, peer: usize, now_ns: u64) -> bool {
        self.peers[peer].held_until_ns > now_ns
    }

    pub fn next_release_ns(&self, now_ns: u64) -> Option<u64> {
        self.peers.iter().map(|peer| peer.held_until_ns).filter(|until_ns| *until_ns > now_ns).min()
    }

    #[cfg(test)]
    pub fn window(&self, peer: usize) -> u64 {
        self.peers[peer].window()
    }

    pub fn ready_ns(&self, peer: usize, now_ns: u64) -> u64 {
        let peer = &self.peers[peer];
        let has_credit = peer.limit_bytes == 0 || peer.in_flight() < peer.window();
        let ready_ns = if has_credit { now_ns } else { peer.silent_ns().max(now_ns) };
        ready_ns.max(peer.held_until_ns)
    }

    pub fn gives_feedback(&self, peer: usize) -> bool {
        self.peers[peer].limit_bytes > 0
    }

    pub fn sent_bytes(&self, peer: usize) -> u64 {
        self.peers[peer].sent_bytes
    }

    pub fn patience_ns(&self, peer: usize) -> u64 {
        self.peers[peer].patience_ns()
    }

    pub fn held_until_ns(&self, peer: usize) -> u64 {
        self.peers[peer].held_until_ns
    }

    /// Unlike [`sent`](Self::sent), never counts data in flight as lost.
    pub fn sent_again(&mut self, peer: usize, bytes: usize, header: &UbtHeader, now_ns: u64) {
        let peer = &mut self.peers[peer];
        if peer.in_flight() == 0 {
            peer.answered_ns = now_ns;
        }
        peer.push_batch(1, bytes, header, now_ns, true);
    }

    pub fn sent(&mut self, peer: usize, segments: usize, bytes: usize, first: &UbtHeader, now_ns: u64) {
        let peer = &mut self.peers[peer];
        if peer.limit_bytes == 0 {
            return;
        }
        let is_idle = peer.sent_bytes == peer.answered_bytes;
        if is_idle || peer.silent_ns() <= now_ns {
            (peer.answered_bytes, peer.answered_ns) = (peer.sent_bytes, now_ns);
            if !is_idle {
                peer.shrink(0.5, now_ns);
                peer.silences = (peer.silences + 1).min(SILENCES_MAX);
            }
        }
        peer.push_batch(segments, bytes, first, now_ns, false);
    }

    pub fn received(&mut self, peer: usize, header: &UbtHeader, payload_bytes: usize, is_marked: bool, now_ns: u64) {
        let peer = &mut self.peers[peer];
        if peer.limit_bytes == 0 {
            return;
        }
        peer.came = peer.came.wrapping_add(1);
        peer.pending_packets += 1;
        peer.pending_marked += u32::from(is_marked);
        peer.pending_bytes += payload_bytes as u64;
        let is_due =
            header.flags & (FLAG_LAST_PERCENTILE | FLAG_ANSWER) != 0 || peer.pending_bytes >= self.quantum_bytes;
        let latest_ns = peer.pending.map_or(now_ns + FEEDBACK_NS, |(_, latest_ns)| latest_ns);
        let end = header.offset.wrapping_add(payload_bytes as u32 * payload_scale(header));
        let latest_ns = if is_due { now_ns.min(latest_ns) } else { latest_ns };
        peer.pending = Some((UbtHeader { offset: end, ..*header }, latest_ns));
    }

    pub fn next_feedback_ns(&self) -> Option<u64> {
        self.peers.iter().filter_map(|peer| Some(peer.pending?.1)).min()
    }

    pub fn poll_feedback(&mut self, now_ns: u64) -> Option<(usize, UbtHeader)> {
        let is_due = |peer: &Peer| peer.pending.is_some_and(|(_, latest_ns)| latest_ns <= now_ns);
        let (to, peer) = self.peers.iter_mut().enumerate().find(|(_, peer)| is_due(peer))?;
        let (named, _) = peer.pending.take()?;
        let marked = (MARKED_PARTS * peer.pending_marked).div_ceil(peer.pending_packets.max(1));
        (peer.pending_bytes, peer.pending_packets, peer.pending_marked) = (0, 0, 0);
        let (timeout_16us, incast) = (peer.came, marked as u8);
        Some((to, UbtHeader { stage: STAGE_FEEDBACK, flags: named.stage, timeout_16us, incast, ..named }))
    }

    /// Data up to the packet that feedback names is no longer in flight. `None` if it names nothing
    /// that was sent.
    pub fn handle_feedback(&mut self, peer: usize, feedback: &UbtHeader, now_ns: u64) -> Option<Answered> {
        let peer = &mut self.peers[peer];
        let (index, is_ambiguous) = peer.named(feedback)?;
        peer.batches.drain(..index);
        let batch = peer.batches.front()?;
        let payload_bytes = u64::from(feedback.offset.min(batch.end_offset) - batch.first.offset);
        let (before, named_packets) = (peer.answered_bytes, batch.packets_to(feedback.offset));
        let mut sent_bytes = batch.sent_before + payload_bytes / u64::from(payload_scale(&batch.first));
        let rtt_ns = Some(now_ns.saturating_sub(batch.at_ns)).filter(|_| !is_ambiguous);
        if feedback.offset >= batch.end_offset {
            sent_bytes = peer.batches.get(1).map_or(peer.sent_bytes, |next| next.sent_before);
            peer.batches.pop_front();
        }
        peer.answered_bytes = peer.answered_bytes.max(sent_bytes.min(peer.sent_bytes));
        peer.answered_ns = now_ns;
        peer.silences = 0;
        let bytes = peer.answered_bytes - before;
        if let Some(rtt_ns) = rtt_ns {
            peer.rtt_ns = Some(peer.rtt_ns.map_or(rtt_ns, |smoothed| (7 * smoothed + rtt_ns) / 8));
            peer.adapt(rtt_ns, bytes, now_ns);
        }
        let is_all = peer.learn(feedback, named_packets, bytes);
        let before = peer.named_bytes;
        peer.named_bytes = before.max(sent_bytes);
        Some(Answered { rtt_ns, sent_bytes: before..sent_bytes, is_all })
    }

    pub fn rtt_ns(&self, peer: usize) -> Option<u64> {
        self.peers.get(peer)?.rtt_ns
    }
}

pub(super) fn is_of_stage(feedback: &UbtHeader, sent: &UbtHeader) -> bool {
    (sent.bucket, sent.step, sent.stage) == (feedback.bucket, feedback.step, feedback.flags)
}

/// Bytes of fp32 per byte of payload.
pub(super) fn payload_scale(header: &UbtHeader) -> u32 {
    1 + u32::from(header.flags & optireduce_contract::packet::FLAG_BF16 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: u64 = 3000;

    fn header(offset: u32) -> UbtHeader {
        UbtHeader { bucket: 1, offset, sender: 1, step: 9, ..UbtHeader::default() }
    }

    fn send(credits: &mut Credits, offset: u32, segments: usize, now_ns: u64) {
        credits.sent(1, segments, segments * (UBT_BYTES + 1024), &header(offset), now_ns);
    }

    fn feedback(offset: u32) -> UbtHeader {
        let mut receiver = Credits::new([LIMIT, LIMIT].into_iter(), 1);
        receiver.received(0, &header(offset), 1024, false, 0);
        let (to, feedback) = receiver.poll_feedback(0).unwrap();
        assert_eq!((to, receiver.poll_feedback(u64::MAX)), (0, None));
        feedback
    }

    fn rtt_shown(credits: &mut Credits, offset: u32, now_ns: u64) -> Option<u64> {
        credits.handle_feedback(1, &feedback(offset), now_ns)?.rtt_ns
    }

    #[test]
    fn what_is_in_flight_is_bounded_until_feedback_or_silence() {
        let mut credits = Credits::new([0, LIMIT].into_iter(), 0);
        send(&mut credits, 0, 2, 100);
        assert_eq!(credits.ready_ns(1, 100), 100);
        send(&mut credits, 2048, 2, 110);
        assert_eq!(credits.ready_ns(1, 120), 100 + PATIENCE_NS, "4 packets are in flight");
        assert_eq!(rtt_shown(&mut credits, 1024, 150), Some(50));
        assert_eq!(credits.ready_ns(1, 150), 150, "2 are");
        send(&mut credits, 4096, 2, 160);
        assert!(credits.ready_ns(1, 160) > 160);
        assert_eq!(rtt_shown(&mut credits, 2048, 170), Some(60), "the packet before it is lost or here");
        assert_eq!(credits.ready_ns(1, 170), 170 + PATIENCE_NS, "3 are");
        let later_ns = 170 + PATIENCE_NS;
        assert_eq!(credits.ready_ns(1, later_ns), later_ns);
        send(&mut credits, 6144, 1, later_ns);
        assert_eq!(credits.ready_ns(1, later_ns), later_ns, "what was in flight counts as lost");
    }

    #[test]
    fn a_slow_peer_is_waited_for_longer_and_not_for_ever() {
        for (rtt_ns, silence_ns) in [(100, PATIENCE_NS), (10_000_000, 20_000_000), (1_000_000_000, PATIENCE_NS_MAX)] {
            let mut credits = Credits::new([0, LIMIT].into_iter(), 0);
            send(&mut credits, 0, 1, 0);
            assert_eq!(rtt_shown(&mut credits, 0, rtt_ns), Some(rtt_ns));
            send(&mut credits, 1024, 4, rtt_ns);
            assert_eq!(credits.ready_ns(1, rtt_ns), rtt_ns + silence_ns);
        }
    }

    #[test]
    fn an_end_that_is_sent_again_for_nothing_is_no_loss_and_makes_nothing_smaller() {
        for coalesced in [false, true] {
            let mut credits = Credits::new([0, 64 * 1024].into_iter(), 0);
            let answer = |credits: &mut Credits, came: u16, now_ns: u64| {
                let feedback = UbtHeader { timeout_16us: came, ..feedback(3072) };
                credits.handle_feedback(1, &feedback, now_ns).unwrap()
            };
            send(&mut credits, 0, 4, 0);
            let end = UbtHeader { offset: 4096 - BEAT_BYTES as u32, ..header(0) };
            credits.sent_again(1, UBT_BYTES + BEAT_BYTES, &end, 10 * PATIENCE_NS);
            if !coalesced {
                let first = answer(&mut credits, 4, 11 * PATIENCE_NS);
                assert_eq!((first.rtt_ns, first.is_all), (None, true));
            }
            assert!(answer(&mut credits, 5, 12 * PATIENCE_NS).is_all);
            let peer = &credits.peers[1];
            assert_eq!((peer.in_flight(), peer.window(), credits.asks(1)), (0, 64 * 1024, false), "{coalesced}");
        }
    }

    #[test]
    fn feedback_on_what_was_never_sent_changes_nothing() {
        let mut credits = Credits::new([LIMIT, LIMIT].into_iter(), 0);
        send(&mut credits, 0, 4, 0);
        for wrong in [UbtHeader { step: 8, ..feedback(0) }, feedback(1 << 20), UbtHeader { offset: 0, ..feedback(0) }] {
            assert_eq!(credits.handle_feedback(1, &wrong, 10), None);
        }
        assert!(credits.ready_ns(1, 10) > 10);
        assert_eq!(rtt_shown(&mut credits, 3072, 20), Some(20));
        assert_eq!((credits.ready_ns(1, 20), credits.rtt_ns(1)), (20, Some(20)));
    }

    #[test]
    fn a_peer_that_is_held_waits_for_its_time_or_its_release() {
        let mut credits = Credits::new([0, LIMIT].into_iter(), 0);
        credits.hold(0, 500);
        assert_eq!((credits.ready_ns(0, 100), credits.ready_ns(1, 100), credits.ready_ns(0, 600)), (500, 100, 600));
        credits.hold(0, 0);
        assert_eq!(credits.ready_ns(0, 100), 100);
    }

    #[test]
    fn a_limit_that_is_set_anew_begins_with_nothing_in_flight() {
        let mut credits = Credits::new([0, LIMIT].into_iter(), 0);
        send(&mut credits, 0, 4, 0);
        credits.set_limit(1, LIMIT);
        assert_eq!(credits.ready_ns(1, 10), 10);
        send(&mut credits, 4096, 4, 10);
        assert!(credits.ready_ns(1, 10) > 10);
        credits.set_limit(1, 0);
        assert_eq!(credits.ready_ns(1, 10), 10);
    }

    #[test]
    fn a_receiver_answers_by_the_quantum_at_the_end_of_a_shard_or_after_a_pause() {
        let mut credits = Credits::new([LIMIT, 64 * 1024].into_iter(), 1);
        for offset in [0, 1024, 2048] {
            credits.received(0, &header(offset), 1024, false, 100);
        }
        assert_eq!((credits.poll_feedback(200), credits.next_feedback_ns()), (None, Some(100 + FEEDBACK_NS)));
        credits.received(0, &header(3072), 1024, false, 300);
        let (_, by_quantum) = credits.poll_feedback(300).unwrap();
        assert_eq!((by_quantum.offset, credits.next_feedback_ns()), (4096, None), "the last one is named, once");
        credits.received(0, &UbtHeader { flags: FLAG_LAST_PERCENTILE, ..header(4096) }, 1024, false, 400);
        assert!(credits.poll_feedback(400).is_some(), "the end of a shard");
        credits.received(0, &header(5120), 1024, false, 500);
        credits.received(0, &header(6144), 1024, false, 600);
        assert_eq!(credits.poll_feedback(499 + FEEDBACK_NS), None);
        assert_eq!(credits.poll_feedback(500 + FEEDBACK_NS).unwrap().1.offset, 7168);
        credits.received(0, &UbtHeader { flags: FLAG_ANSWER, ..header(7168) }, 1024, false, 700);
        assert!(credits.poll_feedback(700).is_some(), "it was asked for");
        credits.ask_always();
        assert!(credits.asks(0));
    }

    fn window(credits: &Credits) -> u64 {
        credits.peers[1].window_bytes / 1024
    }

    #[test]
    fn long_round_trips_and_silence_make_the_window_smaller_and_short_ones_larger() {
        const ROOM: u64 = 64 * 1024;
        let mut credits = Credits::new([0, ROOM].into_iter(), 0);
        let mut now_ns = 0;
        let mut answer = |credits: &mut Credits, rtt_ns: u64| {
            send(credits, 0, 1, now_ns);
            now_ns += rtt_ns;
            assert_eq!(rtt_shown(credits, 0, now_ns), Some(rtt_ns));
            now_ns
        };
        answer(&mut credits, RTT_NS_MAX);
        assert_eq!(window(&credits), 64);
        answer(&mut credits, RTT_NS_MAX * 4 / 3);
        assert_eq!(window(&credits), 48);
        let until_ns = answer(&mut credits, 100 * RTT_NS_MAX);
        assert_eq!(window(&credits), 24, "by half at most");
        assert_eq!(rtt_shown(&mut credits, 0, until_ns + 1), None, "it was answered");
        for _ in 0..3 {
            answer(&mut credits, 100 * RTT_NS_MAX);
        }
        assert_eq!(window(&credits), 16, "answers are always under way");
        let mut now_ns = answer(&mut credits, 1000);
        assert!(window(&credits) == 16 && credits.peers[1].window_bytes > 16 * 1024);
        for _ in 0..200 {
            now_ns = answer(&mut credits, 1000);
        }
        assert_eq!(credits.peers[1].window_bytes, ROOM, "no larger than what the receiver has room for");
        send(&mut credits, 0, 64, now_ns);
        let silent_ns = credits.ready_ns(1, now_ns);
        assert!(silent_ns >= now_ns + PATIENCE_NS);
        send(&mut credits, 0, 1, silent_ns);
        assert_eq!(window(&credits), 32, "what was in flight may still be");
    }

    /// The peer is off the CPU, its buffer has room for eight windows, and it has never answered.
    #[test]
    fn a_peer_that_is_silent_for_long_is_not_sent_more_than_its_buffer_holds() {
        const ROOM: u64 = 64 * 1024;
        let mut credits = Credits::new([0, ROOM].into_iter(), 0);
        let (mut now_ns, mut packets, mut waited_ns) = (0, 0, Vec::new());
        while now_ns < 100_000_000 {
            let ready_ns = credits.ready_ns(1, now_ns);
            if ready_ns > now_ns {
                waited_ns.push(ready_ns - now_ns);
                now_ns = ready_ns;
            }
            send(&mut credits, 1024 * packets, 1, now_ns);
            packets += 1;
        }
        assert!(u64::from(packets) * 1024 < 8 * ROOM, "{packets} packets");
        assert_eq!(waited_ns, [2, 4, 8, 16, 32, 50].map(|ms| ms * 1_000_000), "never much longer than that");
        assert!(rtt_shown(&mut credits, 1024 * (packets - 1), now_ns + 1000).is_some());
        send(&mut credits, 1024 * packets, 64, now_ns + 1000);
        assert_eq!(credits.ready_ns(1, now_ns + 1000), now_ns + 1000 + PATIENCE_NS);
    }

    #[test]
    fn peers_without_a_limit_neither_give_nor_get_feedback() {
        let mut credits = Credits::new([0, 0].into_iter(), 0);
        send(&mut credits, 0, 40, 0);
        assert_eq!(credits.ready_ns(1, 0), 0);
        credits.received(1, &header(0), 1024, false, 0);
        assert_eq!((credits.poll_feedback(u64::MAX), credits.next_feedback_ns()), (None, None));
        assert_eq!(rtt_shown(&mut credits, 0, 10), None);
    }
}
