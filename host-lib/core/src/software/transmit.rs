//! Transmission: shards of windows, cut into packets and sent in rounds.
//!
//! A stage of a window is sent in rounds of `incast` peers (OptiReduce 3.2.2). The peers of a round
//! take turns. A peer that cannot be sent to yet is skipped, for others of its round and then for
//! later rounds.

use std::collections::VecDeque;
use std::ops::Range;

use optireduce_contract::limits::BEAT_BYTES;
use optireduce_contract::packet::{FLAG_ANSWER, FLAG_LAST_PERCENTILE, UBT_BYTES, UbtHeader, frame};
use optireduce_contract::rules::send::{self, Cut, Packet, Packets};

use super::credit::Credits;
use super::pacer::Pacer;
use super::tails::{Tail, Tails};
use super::window::Window;
use crate::data_plane::LentMemory;
use crate::protocol::Stage;

/// Datagrams for one peer, in memory of the data plane. All have equal length, but the last may be
/// shorter.
#[derive(Clone, Copy, Debug)]
pub struct Transmit<'a> {
    /// Destination rank.
    pub to: usize,
    /// Bytes of each datagram but the last.
    pub segment_bytes: usize,
    train: &'a Train,
    windows: &'a [Option<Window>],
    lent: &'a LentMemory,
}

/// Datagram without UDP header.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)] // fields explain themselves
pub struct Datagram<'a> {
    pub header: &'a [u8; UBT_BYTES],
    pub payload: &'a [u8],
    /// True if the payload is in lent memory, where it stays unchanged until the memory is
    /// [reclaimed](crate::DataPlane::reclaim).
    pub is_lent: bool,
}

impl<'a> Transmit<'a> {
    pub(super) fn new(polled: Polled, train: &'a Train, windows: &'a [Option<Window>], lent: &'a LentMemory) -> Self {
        let Polled { to, segment_bytes } = polled;
        Self { to, segment_bytes, train, windows, lent }
    }

    /// Number of datagrams.
    pub fn segments(&self) -> usize {
        self.train.len()
    }

    /// The datagrams, in order.
    pub fn datagrams(&self) -> impl Iterator<Item = Datagram<'a>> {
        let Self { train, windows, lent, .. } = *self;
        train.segments.iter().map(move |Segment { header, source }| {
            let (payload, is_lent) = train.payload(source, windows, lent);
            Datagram { header, payload, is_lent }
        })
    }

    /// Bytes of all datagrams as consecutive slices.
    pub fn slices(&self) -> impl Iterator<Item = &'a [u8]> {
        let pieces = self.datagrams().flat_map(|Datagram { header, payload, .. }| [header, payload]);
        pieces.filter(|piece| !piece.is_empty())
    }

    /// Replaces the content of `out` by the bytes of all datagrams.
    pub fn copy_to(&self, out: &mut Vec<u8>) {
        out.clear();
        self.slices().for_each(|piece| out.extend_from_slice(piece));
    }
}

#[derive(Debug, Default)]
pub(super) struct Train {
    segments: Vec<Segment>,
    bytes: Vec<u8>,
    segment_bytes: usize,
    last_bytes: usize,
    sent_bytes: usize,
}

#[derive(Debug)]
struct Segment {
    header: [u8; UBT_BYTES],
    source: Source,
}

#[derive(Debug)]
enum Source {
    Window { index: usize, stage: Stage, beats: Range<usize> },
    Train(Range<usize>),
}

impl Train {
    pub fn len(&self) -> usize {
        self.segments.len()
    }

    pub fn clear(&mut self) {
        self.segments.clear();
        self.bytes.clear();
        (self.segment_bytes, self.last_bytes, self.sent_bytes) = (0, 0, 0);
    }

    /// Returns whether a datagram of some size fits. Only the last may be shorter.
    fn has_room(&self, batch: Batch) -> bool {
        let fits = self.last_bytes == self.segment_bytes && self.sent_bytes < batch.bytes_max;
        self.segments.is_empty() || fits && self.len() < batch.segments_max
    }

    fn takes(&self, bytes: usize, batch: Batch) -> bool {
        let fits = bytes <= self.segment_bytes && self.sent_bytes + bytes <= batch.bytes_max;
        self.segments.is_empty() || fits && self.has_room(batch)
    }

    fn ask(&mut self) {
        if let Some(last) = self.segments.last_mut() {
            last.header[INCAST_FLAGS] |= FLAG_ANSWER;
        }
    }

    pub fn push_bytes(&mut self, header: &UbtHeader, payload: &[u8]) {
        let begin = self.bytes.len();
        self.bytes.extend_from_slice(payload);
        self.segments.push(Segment { header: header.to_bytes(), source: Source::Train(begin..self.bytes.len()) });
    }

    fn push(
        &mut self,
        header: &UbtHeader,
        bytes: usize,
        index: usize,
        stage: Stage,
        beats: Range<usize>,
        from: (&Window, &LentMemory),
    ) {
        let (window, lent) = from;
        if self.segments.is_empty() {
            self.segment_bytes = bytes;
        }
        self.last_bytes = bytes;
        self.sent_bytes += bytes;
        let source = if window.is_sent_as_it_lies() {
            Source::Window { index, stage, beats }
        } else {
            let begin = self.bytes.len();
            window.write_payload(stage, beats, lent, &mut self.bytes);
            Source::Train(begin..self.bytes.len())
        };
        self.segments.push(Segment { header: header.to_bytes(), source });
    }

    fn payload<'a>(&'a self, source: &Source, windows: &'a [Option<Window>], lent: &'a LentMemory) -> (&'a [u8], bool) {
        match source {
            Source::Window { index, stage, beats } => windows[*index].as_ref().map_or((&[], false), |window| {
                (window.payload(*stage, beats.clone(), lent), window.sends_from_lent_memory(*stage))
            }),
            Source::Train(bytes) => (&self.bytes[bytes.clone()], false),
        }
    }
}

pub(super) struct Polled {
    pub to: usize,
    pub segment_bytes: usize,
}

/// Limits of one transmission. One datagram is always allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // described above
pub struct Batch {
    pub segments_max: usize,
    pub bytes_max: usize,
}

/// Rounds searched for a peer that can be sent to.
const ROUNDS_AHEAD: usize = 64;

/// Maximum remainder of a contribution that counts as nearly sent.
const TAIL_BYTES_MAX: usize = 1 << 16;
/// Divisor of the bound after which a contribution counts as late.
const LATE_PART: u64 = 4;
const INCAST_FLAGS: usize = frame::INCAST_FLAGS.offset - frame::BUCKET.offset;
const MEANS: usize = 0;
const CONTRIBUTIONS: usize = 1;

#[derive(Debug)]
struct Round {
    index: usize,
    stage: Stage,
    flows: VecDeque<Flow>,
}

#[derive(Debug)]
struct Flow {
    to: usize,
    packets: Packets,
    is_begun: bool,
    /// Sends the last packet twice, since a stage would have to wait for a lost one.
    repeats_end: bool,
    end: Option<Packet>,
}

impl Round {
    fn pass(&mut self, turn: usize) {
        self.flows.rotate_left(turn);
        if self.flows.front().is_some_and(Flow::is_done) {
            self.flows.pop_front();
        } else {
            self.flows.rotate_left(1);
        }
    }
}

impl Flow {
    fn is_done(&self) -> bool {
        self.packets.is_done() && self.end.is_none()
    }

    fn is_tail(&self) -> bool {
        self.is_begun && self.packets.left().len() * BEAT_BYTES <= TAIL_BYTES_MAX
    }

    fn left(&self) -> Range<usize> {
        let end = self.end.as_ref().filter(|_| self.packets.is_done());
        end.map_or(self.packets.left(), |end| &end.beats).clone()
    }

    fn peek(&self) -> Option<Packet> {
        self.packets.peek().or_else(|| self.end.clone())
    }

    fn take(&mut self) -> bool {
        let Some(taken) = self.packets.next() else {
            self.end = None;
            return false;
        };
        self.is_begun = true;
        let is_last = self.packets.is_done();
        self.end = Some(taken).filter(|_| is_last && self.repeats_end);
        !is_last
    }
}

#[derive(Debug)]
pub(super) struct SendBudget {
    pub pacer: Pacer,
    pub credits: Credits,
}

impl SendBudget {
    fn ready_ns(&self, peer: usize, now_ns: u64) -> u64 {
        self.pacer.ready_ns(peer, now_ns).max(self.credits.ready_ns(peer, now_ns))
    }

    fn batch(&self, peer: usize, batch: Batch) -> Batch {
        let bytes_max = self.pacer.batch_bytes_max(peer).min(self.credits.batch_bytes_max(peer));
        Batch { bytes_max: batch.bytes_max.min(bytes_max), ..batch }
    }
}

/// Data to send: means before contributions, since means complete a window and are in the cache.
///
/// Two kinds of contributions precede means, because peers wait a whole bound for them: those
/// nearly sent, and late ones. A late rank can send means as soon as it starts, and behind them its
/// own contributions would all miss their bound.
#[derive(Debug, Default)]
pub(super) struct Outbox([VecDeque<Round>; 2]);

impl Outbox {
    pub fn push(&mut self, index: usize, stage: Stage, window: &Window, payload_beats: usize) {
        if !window.plan.kind.sends(stage) {
            return;
        }
        let (rank, ranks) = (window.view.rank, window.view.peers.len());
        let cut = Cut { packet_beats: window.shape.packet_beats(payload_beats), mark_packets: window.mark_packets };
        let flow = |to: usize| {
            let shard = window.shape.allowed(stage, to, rank);
            let (to, repeats_end) = (window.view.peers[to], window.repeats_ends);
            Flow { to, packets: Packets::new(shard, cut), is_begun: false, repeats_end, end: None }
        };
        for round in 0..send::rounds(ranks, window.incast) {
            let flows = send::peers_in_round(rank, ranks, window.incast, round).map(flow);
            let flows = flows.filter(|flow| !flow.is_done());
            let round = Round { index, stage, flows: flows.collect() };
            if !round.flows.is_empty() {
                self.queue(stage).push_back(round);
            }
        }
    }

    fn queue(&mut self, stage: Stage) -> &mut VecDeque<Round> {
        &mut self.0[if stage == Stage::Contribute { CONTRIBUTIONS } else { MEANS }]
    }

    pub fn forget(&mut self, index: usize) {
        self.0.iter_mut().for_each(|rounds| rounds.retain(|round| round.index != index));
    }

    /// Drops the rest of a contribution to a peer that has closed the contribute stage.
    pub fn forget_contribution(&mut self, index: usize, peer: usize) {
        let rounds = &mut self.0[CONTRIBUTIONS];
        let of_window = rounds.iter_mut().filter(|round| round.index == index);
        of_window.for_each(|round| round.flows.retain(|flow| flow.to != peer));
        rounds.retain(|round| !round.flows.is_empty());
    }

    /// Returns the first window for which `is_meant`, means first.
    pub fn oldest_of(&self, is_meant: impl Fn(usize) -> bool) -> Option<usize> {
        self.0.iter().flatten().map(|round| round.index).find(|index| is_meant(*index))
    }

    pub fn holds(&self, index: usize) -> bool {
        self.0.iter().flatten().any(|round| round.index == index)
    }

    /// Range from the first to the last unsent beat of the window at `index` in a stage.
    pub fn left(&self, index: usize, stage: Stage) -> Option<Range<usize>> {
        let rounds = self.0.iter().flatten().filter(|round| (round.index, round.stage) == (index, stage));
        rounds
            .flat_map(|round| &round.flows)
            .map(Flow::left)
            .reduce(|all, beats| all.start.min(beats.start)..all.end.max(beats.end))
    }

    pub fn is_empty(&self) -> bool {
        self.0.iter().all(VecDeque::is_empty)
    }

    pub fn next_ns(&self, now_ns: u64, budget: &SendBudget) -> Option<u64> {
        let flows = self.0.iter().flat_map(|rounds| ahead(rounds, now_ns, budget)).flat_map(|(_, round)| &round.flows);
        let ready = flows.map(|flow| budget.ready_ns(flow.to, now_ns));
        ready.chain(budget.credits.next_release_ns(now_ns).filter(|_| !self.is_empty())).min()
    }

    /// Fills `train` with the next datagrams for one peer. Later shards for the same peer join
    /// while they fit, so that small buckets share a system call. `tails` keeps the ends of shards.
    ///
    /// A packet of means is cut before its first missing beat, and not sent if none is left.
    pub fn poll(
        &mut self,
        now_ns: u64,
        budget: &mut SendBudget,
        (windows, lent): (&[Option<Window>], &LentMemory),
        batch: Batch,
        (train, tails): (&mut Train, &mut Tails),
    ) -> Option<Polled> {
        train.clear();
        loop {
            let (urgency, first, to) = self.next_flow(now_ns, budget, windows)?;
            let rounds = &mut self.0[urgency];
            let (batch, asks, mut is_any_over) = (budget.batch(to, batch), budget.credits.asks(to), false);
            for round in rounds.range_mut(first..).take(ROUNDS_AHEAD) {
                let Some(turn) = round.flows.iter().position(|flow| flow.to == to) else { continue };
                let Some(window) = &windows[round.index] else { continue };
                let (flow, from) = (&mut round.flows[turn], (window, lent));
                let filled = fill(train, flow, (round.index, round.stage), from, batch);
                let is_done = flow.is_done();
                if let Some((packets, bytes, header)) = filled {
                    budget.pacer.sent(to, bytes, packets, now_ns);
                    budget.credits.sent(to, packets, bytes, &header, now_ns);
                } else if !is_done {
                    continue;
                }
                if is_done
                    && budget.credits.gives_feedback(to)
                    && let Some(tail) = tail(flow, round.stage, from, now_ns)
                {
                    tails.keep(tail, &budget.credits, now_ns);
                }
                round.pass(turn);
                is_any_over |= round.flows.is_empty();
                // On lossy paths, feedback on several shards would not name the lost one.
                let is_lossy = asks || window.repeats_ends;
                if !is_done || !train.has_room(batch) || is_lossy && train.len() > 0 {
                    break;
                }
            }
            if is_any_over {
                rounds.retain(|round| !round.flows.is_empty());
            }
            if train.len() > 0 {
                if asks {
                    train.ask();
                }
                return Some(Polled { to, segment_bytes: train.segment_bytes });
            }
        }
    }

    /// First flow that can be sent: urgency, round, peer.
    fn next_flow(&self, now_ns: u64, budget: &SendBudget, windows: &[Option<Window>]) -> Option<(usize, usize, usize)> {
        let is_ready = |flow: &Flow| budget.ready_ns(flow.to, now_ns) <= now_ns;
        let first = |urgency, is_it: &dyn Fn(&Round, &Flow) -> bool| {
            let of_round =
                |round: &Round| Some(round.flows.iter().find(|flow| is_it(round, flow) && is_ready(flow))?.to);
            ahead(&self.0[urgency], now_ns, budget).find_map(|(at, round)| Some((urgency, at, of_round(round)?)))
        };
        let Some(mean) = first(MEANS, &|_, _| true) else { return first(CONTRIBUTIONS, &|_, _| true) };
        let is_late = |round: &Round| {
            let window = windows[round.index].as_ref();
            window.is_some_and(|window| window.is_late(Stage::Contribute, now_ns, LATE_PART))
        };
        let is_urgent = |round: &Round, flow: &Flow| flow.is_tail() || is_late(round);
        Some(first(CONTRIBUTIONS, &is_urgent).unwrap_or(mean))
    }
}

fn ahead<'a>(
    rounds: &'a VecDeque<Round>,
    now_ns: u64,
    budget: &'a SendBudget,
) -> impl Iterator<Item = (usize, &'a Round)> {
    let is_held = move |round: &Round| round.flows.iter().all(|flow| budget.credits.is_held(flow.to, now_ns));
    rounds.iter().enumerate().filter(move |(_, round)| !is_held(round)).take(ROUNDS_AHEAD)
}

/// Moves packets of a flow into the train while they fit. Returns their number, their bytes and the
/// first header; `None` if nothing was added.
fn fill(
    train: &mut Train,
    flow: &mut Flow,
    (index, stage): (usize, Stage),
    from: (&Window, &LentMemory),
    batch: Batch,
) -> Option<(usize, usize, UbtHeader)> {
    let (window, _) = from;
    let (packets_before, bytes_before, mut first) = (train.len(), train.sent_bytes, None);
    let bytes_of = |beats: &Range<usize>| UBT_BYTES + window.shape.payload_beats(beats.len()) * BEAT_BYTES;
    while let Some(packet) = flow.peek()
        && train.takes(bytes_of(&packet.beats), batch)
    {
        let goes_on = flow.take();
        let packet = match stage {
            Stage::Broadcast => Packet { beats: window.present_from(packet.beats), ..packet },
            Stage::Contribute => packet,
        };
        if !packet.beats.is_empty() {
            let (bytes, header) = (bytes_of(&packet.beats), header(window, stage, &packet));
            train.push(&header, bytes, index, stage, packet.beats, from);
            first.get_or_insert(header);
        }
        if !goes_on {
            break;
        }
    }
    first.map(|first| (train.len() - packets_before, train.sent_bytes - bytes_before, first))
}

/// Returns the end of a sent shard, if it carries a mark and its last beat is present.
fn tail(flow: &Flow, stage: Stage, (window, lent): (&Window, &LentMemory), now_ns: u64) -> Option<Tail> {
    let end = flow.packets.left().end;
    let beats = end - 1..end;
    let is_there = stage == Stage::Contribute || !window.present_from(beats.clone()).is_empty();
    if window.mark_packets == 0 || !is_there {
        return None;
    }
    let header = header(window, stage, &Packet { beats: beats.clone(), marked: true });
    // Means that wait for their owners take up to two bounds.
    let until_ns = now_ns.saturating_add(2 * window.rules.bound_ns);
    Some(Tail { to: flow.to, header, payload: window.beat_payload(stage, end - 1, lent), until_ns })
}

fn header(window: &Window, stage: Stage, packet: &Packet) -> UbtHeader {
    let (shape, hints) = (&window.shape, window.own_hints[stage.index()]);
    UbtHeader {
        bucket: shape.bucket,
        offset: shape.base_bytes + (packet.beats.start * BEAT_BYTES) as u32,
        timeout_16us: hints.timeout_16us,
        incast: hints.incast,
        flags: shape.packet_flags() | (u8::from(packet.marked) * FLAG_LAST_PERCENTILE),
        stage: stage.on_wire(),
        sender: window.view.rank as u16,
        step: shape.step,
        job_tag: window.view.tag,
    }
}
