//! What is to be sent: shards of windows, cut into packets, in rounds.
//!
//! A stage of a window is sent to its peers in rounds of `incast` (OptiReduce 3.2.2), the next ranks first; the peers of
//! a round take turns. Means go before contributions, since they end windows; but first what is left of a contribution that is
//! nearly out, since its owner can do nothing without it. A peer that may not be sent to yet is
//! passed over, for others of its round and then for later rounds.

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

/// Datagrams for one peer, all of `segment_bytes` but the last, which may be shorter. They lie in the data plane's memory.
#[derive(Clone, Copy, Debug)]
pub struct Transmit<'a> {
    /// Rank to send to.
    pub to: usize,
    /// Bytes of each datagram.
    pub segment_bytes: usize,
    train: &'a Train,
    windows: &'a [Option<Window>],
    lent: &'a LentMemory,
}

/// A datagram: what follows UDP's header.
#[derive(Clone, Copy, Debug)]
pub struct Datagram<'a> {
    /// Its header.
    pub header: &'a [u8; UBT_BYTES],
    /// What follows.
    pub payload: &'a [u8],
    /// Whether that lies in lent memory, where it stays as it is until the memory is [reclaimed](crate::DataPlane::reclaim).
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

    /// The bytes of all datagrams one after the other, in pieces where they lie.
    pub fn slices(&self) -> impl Iterator<Item = &'a [u8]> {
        let pieces = self.datagrams().flat_map(|Datagram { header, payload, .. }| [header, payload]);
        pieces.filter(|piece| !piece.is_empty())
    }

    /// Puts the bytes of all datagrams, one after the other, into `out` instead of what it holds.
    pub fn copy_to(&self, out: &mut Vec<u8>) {
        out.clear();
        self.slices().for_each(|piece| out.extend_from_slice(piece));
    }
}

/// Descriptors of the datagrams that were polled last, one after the other.
#[derive(Debug, Default)]
pub(super) struct Train {
    segments: Vec<Segment>,
    /// Payloads that differ from what the windows hold.
    bytes: Vec<u8>,
    /// Bytes of each datagram but the last, of the last, and of all.
    segment_bytes: usize,
    last_bytes: usize,
    sent_bytes: usize,
}

#[derive(Debug)]
struct Segment {
    header: [u8; UBT_BYTES],
    source: Source,
}

/// Where a payload lies.
#[derive(Debug)]
enum Source {
    /// In the window at `index`: beats of what it sends in the stage.
    Window { index: usize, stage: Stage, beats: Range<usize> },
    /// In the train's own bytes.
    Train(Range<usize>),
}

impl Train {
    /// Number of datagrams.
    pub fn len(&self) -> usize {
        self.segments.len()
    }

    pub fn clear(&mut self) {
        self.segments.clear();
        self.bytes.clear();
        (self.segment_bytes, self.last_bytes, self.sent_bytes) = (0, 0, 0);
    }

    /// Whether a datagram of any size may follow: only the last may be shorter than the first.
    fn has_room(&self, batch: Batch) -> bool {
        let fits = self.last_bytes == self.segment_bytes && self.sent_bytes < batch.bytes_max;
        self.segments.is_empty() || fits && self.len() < batch.segments_max
    }

    /// Whether a datagram of so many bytes may follow.
    fn takes(&self, bytes: usize, batch: Batch) -> bool {
        let fits = bytes <= self.segment_bytes && self.sent_bytes + bytes <= batch.bytes_max;
        self.segments.is_empty() || fits && self.has_room(batch)
    }

    /// The last datagram asks for an answer.
    fn ask(&mut self) {
        if let Some(last) = self.segments.last_mut() {
            last.header[INCAST_FLAGS] |= FLAG_ANSWER;
        }
    }

    /// Adds a datagram with a payload of its own.
    pub fn push_bytes(&mut self, header: &UbtHeader, payload: &[u8]) {
        let begin = self.bytes.len();
        self.bytes.extend_from_slice(payload);
        self.segments.push(Segment { header: header.to_bytes(), source: Source::Train(begin..self.bytes.len()) });
    }

    /// Adds a datagram of `bytes` with beats of what the window at `index` sends in a stage.
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

    /// A payload, and whether it lies in lent memory.
    fn payload<'a>(&'a self, source: &Source, windows: &'a [Option<Window>], lent: &'a LentMemory) -> (&'a [u8], bool) {
        match source {
            Source::Window { index, stage, beats } => windows[*index].as_ref().map_or((&[], false), |window| {
                (window.payload(*stage, beats.clone(), lent), window.sends_from_lent_memory(*stage))
            }),
            Source::Train(bytes) => (&self.bytes[bytes.clone()], false),
        }
    }
}

/// For whom the train is, and the bytes of its datagrams but for the last.
pub(super) struct Polled {
    pub to: usize,
    pub segment_bytes: usize,
}

/// How much may be sent at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batch {
    /// Most datagrams.
    pub segments_max: usize,
    /// Most bytes, of all datagrams together; one datagram always may.
    pub bytes_max: usize,
}

/// Rounds that are looked at for a peer that may be sent to: bounds the work when peers are passed over.
const ROUNDS_AHEAD: usize = 64;

/// What is left of a contribution that is nearly out, at most.
const TAIL_BYTES_MAX: usize = 1 << 16;
/// A contribution is late once its stage has run for this part of the bound.
const LATE_PART: u64 = 4;
/// Where a header has its flags.
const INCAST_FLAGS: usize = frame::INCAST_FLAGS.offset - frame::BUCKET.offset;
/// Where means and contributions are in the outbox.
const MEANS: usize = 0;
const CONTRIBUTIONS: usize = 1;

/// One round of a stage of the window at `index`.
#[derive(Debug)]
struct Round {
    index: usize,
    stage: Stage,
    flows: VecDeque<Flow>,
}

/// A shard on its way to a peer.
#[derive(Debug)]
struct Flow {
    /// The job's number of the peer.
    to: usize,
    /// Packets left.
    packets: Packets,
    /// Whether some have left.
    is_begun: bool,
    /// Whether the last of them is sent twice: where packets are lost, a stage would have to wait for one that is.
    repeats_end: bool,
    /// The last packet, to be sent again.
    end: Option<Packet>,
}

impl Round {
    /// The flow at `turn` had its turn: others come first the next time, and it goes if it is done.
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

    /// Whether it is nearly out: a batch takes what is left.
    fn is_tail(&self) -> bool {
        self.is_begun && self.packets.left().len() * BEAT_BYTES <= TAIL_BYTES_MAX
    }

    /// The beats that are still to be sent.
    fn left(&self) -> Range<usize> {
        let end = self.end.as_ref().filter(|_| self.packets.is_done());
        end.map_or(self.packets.left(), |end| &end.beats).clone()
    }

    /// The next packet, without taking it.
    fn peek(&self) -> Option<Packet> {
        self.packets.peek().or_else(|| self.end.clone())
    }

    /// Takes the next packet; returns whether the one after it is to leave with it.
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

/// Who may be sent to, and when.
#[derive(Debug)]
pub(super) struct SendBudget {
    pub pacer: Pacer,
    pub credits: Credits,
}

impl SendBudget {
    fn ready_ns(&self, peer: usize, now_ns: u64) -> u64 {
        self.pacer.ready_ns(peer, now_ns).max(self.credits.ready_ns(peer, now_ns))
    }

    /// Most of `batch` that may go to the peer at a time.
    fn batch(&self, peer: usize, batch: Batch) -> Batch {
        let bytes_max = self.pacer.batch_bytes_max(peer).min(self.credits.batch_bytes_max(peer));
        Batch { bytes_max: batch.bytes_max.min(bytes_max), ..batch }
    }
}

/// All that is to be sent: means before contributions, since they end a window, and are in the cache. But what is left of a contribution
/// goes first, and so does one that is late: a peer waits for it for a bound, and for the means for two. A rank that comes late finds the
/// contributions of its peers here, and so means at once: behind them its own would all miss their bound.
#[derive(Debug, Default)]
pub(super) struct Outbox([VecDeque<Round>; 2]);

impl Outbox {
    /// Adds a stage of the window at `index`, if its collective sends in it.
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

    /// Forgets what the window at `index` has not sent yet.
    pub fn forget(&mut self, index: usize) {
        self.0.iter_mut().for_each(|rounds| rounds.retain(|round| round.index != index));
    }

    /// The peer has closed the contribute stage of the window at `index`: what is left of the contribution to it is of no use.
    pub fn forget_contribution(&mut self, index: usize, peer: usize) {
        let rounds = &mut self.0[CONTRIBUTIONS];
        let of_window = rounds.iter_mut().filter(|round| round.index == index);
        of_window.for_each(|round| round.flows.retain(|flow| flow.to != peer));
        rounds.retain(|round| !round.flows.is_empty());
    }

    /// Of the windows that `is_meant`, the one whose means wait longest.
    pub fn oldest_of(&self, is_meant: impl Fn(usize) -> bool) -> Option<usize> {
        self.0.iter().flatten().map(|round| round.index).find(|index| is_meant(*index))
    }

    /// Whether the window at `index` has something left to send.
    pub fn holds(&self, index: usize) -> bool {
        self.0.iter().flatten().any(|round| round.index == index)
    }

    /// The beats from the first to the last that the window at `index` has left to send in a stage.
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

    /// When something may be sent; `None` if there is nothing.
    pub fn next_ns(&self, now_ns: u64, budget: &SendBudget) -> Option<u64> {
        let flows = self.0.iter().flat_map(|rounds| ahead(rounds, now_ns, budget)).flat_map(|(_, round)| &round.flows);
        let ready = flows.map(|flow| budget.ready_ns(flow.to, now_ns));
        ready.chain(budget.credits.next_release_ns(now_ns).filter(|_| !self.is_empty())).min()
    }

    /// The next datagrams for one peer, in `train`: of a shard, and of those behind it that go to the same peer while they fit, so that
    /// small buckets in flight share a system call. Of means, packets whose first beat is missing are left out, as on the card,
    /// and others end before the first that is: a contribution may have been cut short on its way. The ends of shards go to `tails`.
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
                // Where packets are lost, each shard is to be answered by itself: of several it is not known which have come.
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

    /// The first flow whose peer may be sent to: urgency, round, peer.
    fn next_flow(&self, now_ns: u64, budget: &SendBudget, windows: &[Option<Window>]) -> Option<(usize, usize, usize)> {
        let is_ready = |flow: &Flow| budget.ready_ns(flow.to, now_ns) <= now_ns;
        let first = |urgency, is_it: &dyn Fn(&Round, &Flow) -> bool| {
            let of_round =
                |round: &Round| Some(round.flows.iter().find(|flow| is_it(round, flow) && is_ready(flow))?.to);
            ahead(&self.0[urgency], now_ns, budget).find_map(|(at, round)| Some((urgency, at, of_round(round)?)))
        };
        // Contributions take turns, unless means wait.
        let Some(mean) = first(MEANS, &|_, _| true) else { return first(CONTRIBUTIONS, &|_, _| true) };
        let is_late = |round: &Round| {
            let window = windows[round.index].as_ref();
            window.is_some_and(|window| window.is_late(Stage::Contribute, now_ns, LATE_PART))
        };
        let is_urgent = |round: &Round, flow: &Flow| flow.is_tail() || is_late(round);
        Some(first(CONTRIBUTIONS, &is_urgent).unwrap_or(mean))
    }
}

/// The rounds to look at, with their index: what waits for a peer that is held is not ahead of what others are to get.
fn ahead<'a>(
    rounds: &'a VecDeque<Round>,
    now_ns: u64,
    budget: &'a SendBudget,
) -> impl Iterator<Item = (usize, &'a Round)> {
    let is_held = move |round: &Round| round.flows.iter().all(|flow| budget.credits.is_held(flow.to, now_ns));
    rounds.iter().enumerate().filter(move |(_, round)| !is_held(round)).take(ROUNDS_AHEAD)
}

/// Takes the next packets of a flow into a train, as far as they fit; how many, their bytes, and the header of the first. `None` if none
/// fits, or none of those it passed over had its first beat.
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

/// The end of a shard that has left, if it has a mark and there is one.
fn tail(flow: &Flow, stage: Stage, (window, lent): (&Window, &LentMemory), now_ns: u64) -> Option<Tail> {
    let end = flow.packets.left().end;
    let beats = end - 1..end;
    let is_there = stage == Stage::Contribute || !window.present_from(beats.clone()).is_empty();
    if window.mark_packets == 0 || !is_there {
        return None;
    }
    let header = header(window, stage, &Packet { beats: beats.clone(), marked: true });
    // Means that wait for their owners have two bounds.
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
