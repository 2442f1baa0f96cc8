//! Bytes on their way to each peer, bounded by what its feedback says.
//!
//! Why: nothing is sent twice, so what overruns a receiver's socket buffer is lost for good.
//! How: a peer answers what it received with feedback packets that name the last one. What was sent before that one has
//! come or is lost; what was sent after it is in flight, and held below a window. Silence of two round trips, and of
//! [`PATIENCE_NS`] at least, counts as an answer: a dead peer or lost feedback never stops a stage, only slows it.
//! If it goes on the next one takes twice as long, up to [`PATIENCE_NS_MAX`]: a peer that is off the CPU has taken nothing out of its buffer.
//! The window is what the receiver's buffer has for this rank, and smaller where more would only wait in queues on the way: round
//! trips of more than [`RTT_NS_MAX`] shrink it, and silence halves it, since what was taken for lost may still be on its way. What the
//! network marks or loses makes it smaller still ([`congestion`](super::congestion)).
//! Feedback is a packet, too: there is one for each [`QUANTUM_PART`] of the room that a sender has, for the end of a shard, where a sender
//! pauses for [`FEEDBACK_NS`], and where the sender asks for it: if little may be in flight, or rates follow round trips. It says
//! how many packets of the sender have come since the job began (modulo 2^16), and what share of those since the last was marked.
//! Source: feedback and its round-trip times as in OptiReduce 3.2.3; the window is ours.

use std::collections::VecDeque;
use std::ops::Range;

use optireduce_contract::limits::BEAT_BYTES;
use optireduce_contract::packet::{FLAG_ANSWER, FLAG_LAST_PERCENTILE, STAGE_FEEDBACK, UBT_BYTES, UbtHeader};

use super::congestion::{Answer, Congestion};

/// How long a peer may be silent at least before what is in flight counts as lost.
const PATIENCE_NS: u64 = 2_000_000;
/// How long it may at most: a host that slow has no room for more.
const PATIENCE_NS_MAX: u64 = 50_000_000;
/// That time is doubled so often at most.
const SILENCES_MAX: u32 = (PATIENCE_NS_MAX / PATIENCE_NS).ilog2() + 1;
/// Round trips that are longer mean that queues are long.
const RTT_NS_MAX: u64 = 20_000_000;
/// The smallest window is this part of the largest: a few answers are always under way.
const WINDOW_PART_MIN: u64 = 4;
/// A receiver answers at the latest after this part of what a sender may have in flight.
const QUANTUM_PART: u64 = 16;
/// How long an answer may wait for more.
const FEEDBACK_NS: u64 = 1_000_000;
/// Batches that feedback can name.
const BATCHES_MAX: usize = 256;
/// The marked share of packets in feedback is in parts of so many.
const MARKED_PARTS: u32 = 15;

/// What is in flight to each peer, and what each is told of its packets.
#[derive(Debug)]
pub(super) struct Credits {
    /// Of the job, by rank.
    peers: Vec<Peer>,
    /// Bytes of a peer after which it is answered.
    quantum_bytes: u64,
    /// Every batch is to be answered.
    asks_always: bool,
}

#[derive(Debug, Default)]
struct Peer {
    /// 0: the peer gives no feedback and takes none.
    limit_bytes: u64,
    /// What may be in flight at present: at most the limit.
    window_bytes: u64,
    /// When it was made smaller last.
    shrunk_ns: u64,
    /// The transport takes nothing for it before.
    held_until_ns: u64,
    sent_bytes: u64,
    answered_bytes: u64,
    /// Last time that something was answered, or went out with nothing in flight.
    answered_ns: u64,
    batches: VecDeque<Batch>,
    /// Times in a row that what was in flight has counted as lost, as far as they matter.
    silences: u32,
    rtt_ns: Option<u64>,
    congestion: Congestion,
    /// Packets sent; those up to the last one that was named, and how many had come then, modulo 2^16.
    sent_packets: u64,
    named_packets: u64,
    named_came: u16,
    /// Bytes sent up to what was named.
    named_bytes: u64,
    /// Packets that came of the peer, modulo 2^16.
    came: u16,
    /// What the next feedback to this peer is to say, when it is to leave at the latest, and the bytes that it answers.
    pending: Option<(UbtHeader, u64)>,
    pending_bytes: u64,
    pending_packets: u32,
    pending_marked: u32,
}

impl Peer {
    fn new(limit_bytes: u64) -> Self {
        Self { limit_bytes, window_bytes: limit_bytes, congestion: Congestion::new(limit_bytes), ..Self::default() }
    }

    /// Makes the window smaller, by half at most.
    fn shrink(&mut self, part: f64, now_ns: u64) {
        self.window_bytes =
            ((self.window_bytes as f64 * part.max(0.5)) as u64).max(self.limit_bytes.div_ceil(WINDOW_PART_MIN));
        self.shrunk_ns = now_ns;
    }

    /// A round trip that took so long has answered so many bytes.
    fn adapt(&mut self, rtt_ns: u64, answered_bytes: u64, now_ns: u64) {
        if rtt_ns <= RTT_NS_MAX {
            self.window_bytes = (self.window_bytes + answered_bytes / 2).min(self.limit_bytes);
        } else if now_ns - self.shrunk_ns >= rtt_ns {
            // What was sent before it became smaller tells nothing of the smaller one.
            self.shrink(RTT_NS_MAX as f64 / rtt_ns as f64, now_ns);
        }
    }

    /// Feedback says what came of the packets up to number `named`, and has answered so many bytes. Whether all has come since the one
    /// before.
    fn learn(&mut self, feedback: &UbtHeader, named: u64, bytes: u64) -> bool {
        let (packets, came) = self.since(feedback, named);
        (self.named_packets, self.named_came) = (self.named_packets.max(named), feedback.timeout_16us);
        // More than were sent: a packet was late or came twice; many more: the peer has begun to count anew.
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

    /// Bytes that may be in flight.
    fn window(&self) -> u64 {
        self.window_bytes.min(self.congestion.window())
    }

    /// How long it may be silent.
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

    /// Packets sent since the last feedback up to number `named`, and those that have come since by this one.
    fn since(&self, feedback: &UbtHeader, named: u64) -> (u64, u16) {
        (named.saturating_sub(self.named_packets), feedback.timeout_16us.wrapping_sub(self.named_came))
    }

    /// The batch that feedback names, and whether it may be another one that is meant: an end that was sent again is taken for answered
    /// only if as many packets have come as were sent with it. Else each would look like a loss.
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

    /// When what is in flight counts as lost: each time twice as late, until the peer answers.
    fn silent_ns(&self) -> u64 {
        self.answered_ns + (self.patience_ns() << self.silences).min(PATIENCE_NS_MAX)
    }
}

/// What feedback may name: packets of one shard, one after the other.
#[derive(Debug)]
struct Batch {
    first: UbtHeader,
    end_offset: u32,
    sent_before: u64,
    packets_before: u64,
    packets: u64,
    at_ns: u64,
    /// Sent for the second time: an answer may be to the first.
    is_repeated: bool,
}

/// What feedback has told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Answered {
    /// The round-trip time, unless the answer may be to another packet.
    pub rtt_ns: Option<u64>,
    /// Bytes sent to the peer up to what the feedback before named, and up to what this one does.
    pub sent_bytes: Range<u64>,
    /// Whether all that was sent between them has come.
    pub is_all: bool,
}

impl Batch {
    /// Packets sent up to the one that ends at `offset`. All of a batch are of a length, but the last.
    fn packets_to(&self, offset: u32) -> u64 {
        let all = self.end_offset.wrapping_sub(self.first.offset);
        let beats = (u64::from(all) / BEAT_BYTES as u64).div_ceil(self.packets.max(1)).max(1);
        let named = u64::from(offset.wrapping_sub(self.first.offset)) / BEAT_BYTES as u64;
        self.packets_before + named.div_ceil(beats).min(self.packets)
    }
}

impl Credits {
    /// `limits_bytes`: by rank, what may be on its way to it. `rank`: this one, whose limit its peers know, too.
    pub fn new(limits_bytes: impl Iterator<Item = u64>, rank: usize) -> Self {
        let peers: Vec<_> = limits_bytes.map(Peer::new).collect();
        let quantum_bytes = peers.get(rank).map_or(0, |own| own.limit_bytes / QUANTUM_PART);
        Self { peers, quantum_bytes, asks_always: false }
    }

    /// From now on so many bytes may be on their way to a peer; 0: no limit, and no feedback. What was sent before counts as answered.
    pub fn set_limit(&mut self, peer: usize, limit_bytes: u64) {
        self.peers[peer] = Peer::new(limit_bytes);
    }

    /// From now on peers are asked to answer every batch: rates that follow round trips need that.
    pub fn ask_always(&mut self) {
        self.asks_always = true;
    }

    /// Whether the peer is to answer the batch that is sent to it next.
    pub fn asks(&self, peer: usize) -> bool {
        let peer = &self.peers[peer];
        peer.limit_bytes > 0 && (self.asks_always || peer.congestion.is_limited())
    }

    /// Bytes of the next batch to the peer at most, though one packet always may: a few batches make a window that the network limits.
    pub fn batch_bytes_max(&self, peer: usize) -> usize {
        let peer = &self.peers[peer];
        if peer.limit_bytes == 0 || !peer.congestion.is_limited() {
            return usize::MAX;
        }
        let window = peer.window();
        (window / 2).min(window.saturating_sub(peer.in_flight())) as usize
    }

    /// Nothing is sent to the peer before.
    pub fn hold(&mut self, peer: usize, until_ns: u64) {
        self.peers[peer].held_until_ns = until_ns;
    }

    /// Whether it is [held](Self::hold) now.
    pub fn is_held(&self, peer: usize, now_ns: u64) -> bool {
        self.peers[peer].held_until_ns > now_ns
    }

    /// When the first peer that is held now is so no more.
    pub fn next_release_ns(&self, now_ns: u64) -> Option<u64> {
        self.peers.iter().map(|peer| peer.held_until_ns).filter(|until_ns| *until_ns > now_ns).min()
    }

    /// Bytes that may be in flight to the peer.
    #[cfg(test)]
    pub fn window(&self, peer: usize) -> u64 {
        self.peers[peer].window()
    }

    /// When the peer may be sent to.
    pub fn ready_ns(&self, peer: usize, now_ns: u64) -> u64 {
        let peer = &self.peers[peer];
        let has_credit = peer.limit_bytes == 0 || peer.in_flight() < peer.window();
        let ready_ns = if has_credit { now_ns } else { peer.silent_ns().max(now_ns) };
        ready_ns.max(peer.held_until_ns)
    }

    /// Whether the peer gives feedback.
    pub fn gives_feedback(&self, peer: usize) -> bool {
        self.peers[peer].limit_bytes > 0
    }

    /// Bytes sent to the peer so far.
    pub fn sent_bytes(&self, peer: usize) -> u64 {
        self.peers[peer].sent_bytes
    }

    /// How long the peer may be silent before what is in flight counts as lost.
    pub fn patience_ns(&self, peer: usize) -> u64 {
        self.peers[peer].patience_ns()
    }

    /// When the peer is held no more; in the past if it is not.
    pub fn held_until_ns(&self, peer: usize) -> u64 {
        self.peers[peer].held_until_ns
    }

    /// As [`sent`](Self::sent), of one datagram whose beats were sent before, to a peer that gives feedback: that says nothing of what is
    /// still on its way.
    pub fn sent_again(&mut self, peer: usize, bytes: usize, header: &UbtHeader, now_ns: u64) {
        let peer = &mut self.peers[peer];
        if peer.in_flight() == 0 {
            peer.answered_ns = now_ns;
        }
        peer.push_batch(1, bytes, header, now_ns, true);
    }

    /// `segments` datagrams with `bytes` together went out to a peer. They start with the header `first`.
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

    /// A packet of `peer` came, marked by the network or not: feedback will name it.
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

    /// When the next feedback is to leave.
    pub fn next_feedback_ns(&self) -> Option<u64> {
        self.peers.iter().filter_map(|peer| Some(peer.pending?.1)).min()
    }

    /// The next feedback to send, but for its sender, and to whom.
    pub fn poll_feedback(&mut self, now_ns: u64) -> Option<(usize, UbtHeader)> {
        let is_due = |peer: &Peer| peer.pending.is_some_and(|(_, latest_ns)| latest_ns <= now_ns);
        let (to, peer) = self.peers.iter_mut().enumerate().find(|(_, peer)| is_due(peer))?;
        let (named, _) = peer.pending.take()?;
        let marked = (MARKED_PARTS * peer.pending_marked).div_ceil(peer.pending_packets.max(1));
        (peer.pending_bytes, peer.pending_packets, peer.pending_marked) = (0, 0, 0);
        let (timeout_16us, incast) = (peer.came, marked as u8);
        Some((to, UbtHeader { stage: STAGE_FEEDBACK, flags: named.stage, timeout_16us, incast, ..named }))
    }

    /// Feedback of `peer` came: what was sent up to the packet that it names is not in flight any more. Returns what it tells, if it
    /// names something that was sent.
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

    /// Smoothed round-trip time to the peer in ns, once it has answered.
    pub fn rtt_ns(&self, peer: usize) -> Option<u64> {
        self.peers.get(peer)?.rtt_ns
    }
}

/// Whether feedback is on packets of the bucket, the collective and the stage of this one.
pub(super) fn is_of_stage(feedback: &UbtHeader, sent: &UbtHeader) -> bool {
    (sent.bucket, sent.step, sent.stage) == (feedback.bucket, feedback.step, feedback.flags)
}

/// Bytes of fp32 for each byte of payload.
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

    /// Sends `segments` packets of 1024 bytes to rank 1.
    fn send(credits: &mut Credits, offset: u32, segments: usize, now_ns: u64) {
        credits.sent(1, segments, segments * (UBT_BYTES + 1024), &header(offset), now_ns);
    }

    /// Feedback of a receiver that got the packet at `offset`.
    fn feedback(offset: u32) -> UbtHeader {
        let mut receiver = Credits::new([LIMIT, LIMIT].into_iter(), 1);
        receiver.received(0, &header(offset), 1024, false, 0);
        let (to, feedback) = receiver.poll_feedback(0).unwrap();
        assert_eq!((to, receiver.poll_feedback(u64::MAX)), (0, None));
        feedback
    }

    /// The round-trip time that feedback on the packet at `offset` shows.
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

    /// The end of a shard is sent again although it had come, and both are answered: nothing looks lost, and nothing stays in flight.
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

    /// The largest number of packets of 1024 bytes that may be in flight to rank 1.
    fn window(credits: &Credits) -> u64 {
        credits.peers[1].window_bytes / 1024
    }

    #[test]
    fn long_round_trips_and_silence_make_the_window_smaller_and_short_ones_larger() {
        const ROOM: u64 = 64 * 1024;
        let mut credits = Credits::new([0, ROOM].into_iter(), 0);
        let mut now_ns = 0;
        // Answers a packet after so long.
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

    /// As long as it is off the CPU, whose buffer has room for eight windows. How long that takes is not known before its first answer.
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
        // Once it answers, it is as before.
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
