//! What is to be sent: shards of windows, cut into packets, in rounds.
//!
//! A stage of a window is sent to its peers in rounds of `incast` (OptiReduce 3.2.2), the next ranks first; the peers of
//! a round take turns. Means go before contributions, since they end windows. A peer that may not be sent to yet is
//! passed over, for others of its round and then for later rounds.

use std::collections::VecDeque;
use std::ops::Range;

use optireduce_contract::limits::BEAT_BYTES;
use optireduce_contract::packet::{FLAG_LAST_PERCENTILE, UBT_BYTES, UbtHeader};
use optireduce_contract::rules::send::{self, Cut, Packet, Packets};

use super::credit::Credits;
use super::pacer::Pacer;
use super::window::Window;
use crate::protocol::Stage;

/// Datagrams for one peer, all of `segment_bytes` but the last, which may be shorter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmit {
    /// Rank to send to.
    pub to: usize,
    /// Bytes of each datagram.
    pub segment_bytes: usize,
    /// Number of datagrams.
    pub segments: usize,
}

/// How much may be written at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batch {
    /// Most datagrams.
    pub segments_max: usize,
    /// Most bytes, of all datagrams together; one datagram is always written.
    pub bytes_max: usize,
}

/// Rounds that are looked at for a peer that may be sent to: bounds the work when peers are passed over.
const ROUNDS_AHEAD: usize = 64;

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
}

/// All that is to be sent, by urgency: means, then contributions.
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
            Flow { to: window.view.peers[to], packets: Packets::new(shard, cut) }
        };
        for round in 0..send::rounds(ranks, window.incast) {
            let flows = send::peers_in_round(rank, ranks, window.incast, round).map(flow);
            let flows = flows.filter(|flow| !flow.packets.is_done());
            let round = Round { index, stage, flows: flows.collect() };
            if !round.flows.is_empty() {
                self.queue(stage).push_back(round);
            }
        }
    }

    fn queue(&mut self, stage: Stage) -> &mut VecDeque<Round> {
        &mut self.0[usize::from(stage == Stage::Contribute)]
    }

    /// Forgets what the window at `index` has not sent yet.
    pub fn forget(&mut self, index: usize) {
        self.0.iter_mut().for_each(|rounds| rounds.retain(|round| round.index != index));
    }

    /// Of the windows that `is_meant`, the one whose means wait longest.
    pub fn oldest_of(&self, is_meant: impl Fn(usize) -> bool) -> Option<usize> {
        self.0.iter().flatten().map(|round| round.index).find(|index| is_meant(*index))
    }

    /// Whether the window at `index` has something left to send.
    pub fn holds(&self, index: usize) -> bool {
        self.0.iter().flatten().any(|round| round.index == index)
    }

    pub fn is_empty(&self) -> bool {
        self.0.iter().all(VecDeque::is_empty)
    }

    /// When something may be sent; `None` if there is nothing.
    pub fn next_ns(&self, now_ns: u64, budget: &SendBudget) -> Option<u64> {
        let rounds = self.0.iter().flat_map(|rounds| rounds.iter().take(ROUNDS_AHEAD));
        rounds.flat_map(|round| &round.flows).map(|flow| budget.ready_ns(flow.to, now_ns)).min()
    }

    /// Writes the next datagrams for one peer to `out`. Of means, packets whose first beat is missing are left out, as on the card,
    /// and others end before the first that is: a contribution may have been cut short on its way.
    pub fn poll(
        &mut self,
        now_ns: u64,
        payload_beats: usize,
        budget: &mut SendBudget,
        windows: &[Option<Window>],
        batch: Batch,
        out: &mut Vec<u8>,
    ) -> Option<Transmit> {
        loop {
            out.clear();
            let (urgency, at, turn) = self.next_flow(now_ns, budget)?;
            let rounds = &mut self.0[urgency];
            let round = &mut rounds[at];
            round.flows.rotate_left(turn);
            let mut transmit = None;
            if let (Some(flow), Some(window)) = (round.flows.front_mut(), &windows[round.index]) {
                transmit = write_packets(flow, round.stage, payload_beats, window, batch, out);
                if let Some((transmit, first)) = transmit {
                    budget.pacer.sent(transmit.to, out.len(), transmit.segments, now_ns);
                    budget.credits.sent(transmit.to, transmit.segments, out, &first, now_ns);
                }
                if flow.packets.is_done() {
                    round.flows.pop_front();
                } else {
                    round.flows.rotate_left(1);
                }
            }
            if round.flows.is_empty() {
                rounds.remove(at);
            }
            if let Some((transmit, _)) = transmit {
                return Some(transmit);
            }
        }
    }

    /// The first flow whose peer may be sent to: urgency, round, index within the round.
    fn next_flow(&self, now_ns: u64, budget: &SendBudget) -> Option<(usize, usize, usize)> {
        let is_ready = |flow: &Flow| budget.ready_ns(flow.to, now_ns) <= now_ns;
        self.0.iter().enumerate().find_map(|(urgency, rounds)| {
            let mut rounds = rounds.iter().take(ROUNDS_AHEAD).enumerate();
            rounds.find_map(|(at, round)| Some((urgency, at, round.flows.iter().position(is_ready)?)))
        })
    }
}

/// Writes the next packets of a flow, and returns the header of the first; `None` if none of those it passed over had its first beat.
fn write_packets(
    flow: &mut Flow,
    stage: Stage,
    payload_beats: usize,
    window: &Window,
    batch: Batch,
    out: &mut Vec<u8>,
) -> Option<(Transmit, UbtHeader)> {
    let segment_bytes = UBT_BYTES + payload_beats * BEAT_BYTES;
    let (mut first_bytes, mut segments, mut first) = (0, 0, UbtHeader::default());
    while segments < batch.segments_max.max(1)
        && let Some(packet) = flow.packets.peek()
    {
        let bytes_of = |beats: &Range<usize>| UBT_BYTES + window.shape.payload_beats(beats.len()) * BEAT_BYTES;
        let bytes = bytes_of(&packet.beats);
        if segments > 0 && (out.len() + bytes > batch.bytes_max || first_bytes < segment_bytes) {
            break;
        }
        flow.packets.next();
        let packet = match stage {
            Stage::Broadcast => Packet { beats: window.present_from(packet.beats), ..packet },
            Stage::Contribute => packet,
        };
        if packet.beats.is_empty() {
            continue;
        }
        let bytes = bytes_of(&packet.beats);
        let header = header(window, stage, &packet);
        out.extend(header.to_bytes());
        window.write_payload(stage, packet.beats, out);
        if segments == 0 {
            (first_bytes, first) = (bytes, header);
        }
        segments += 1;
        if bytes < segment_bytes {
            break;
        }
    }
    (segments > 0).then_some((Transmit { to: flow.to, segment_bytes: first_bytes, segments }, first))
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
