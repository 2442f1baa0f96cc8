//! What comes from the network: checks in the card's order, one counter for each cause.

use optireduce_contract::limits::BEAT_BYTES;
use optireduce_contract::packet::{
    FLAG_BF16, FLAG_HADAMARD, FLAG_LAST_PERCENTILE, FrameError, STAGE_BROADCAST, STAGE_CONTRIBUTE, STAGE_FEEDBACK,
    UBT_BYTES, UbtHeader,
};
use serde::Serialize;

use super::transmit::packet_flags;
use super::unexpected::Age;
use super::window::Window;
use super::{Accepted, Software};
use crate::data_plane::PlaneEvent;
use crate::protocol::{PeerHints, Stage};

/// What came and what was dropped, since the job began. Every drop has its cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counters {
    /// Datagrams that came.
    pub rx_packets: u64,
    /// Datagrams sent.
    pub tx_packets: u64,
    /// Lengths, rank, stage or offset cannot be, or the source is not the sender's address.
    pub drop_malformed: u64,
    /// Header of another version.
    pub drop_version: u64,
    /// Another job's tag.
    pub drop_job: u64,
    /// Of a window that has closed.
    pub drop_no_window: u64,
    /// Of an older collective.
    pub drop_stale: u64,
    /// Encoded or rounded otherwise than the window.
    pub drop_flags: u64,
    /// Outside the sender's shard.
    pub drop_out_of_shard: u64,
    /// UnexpectedQueue of this rank, and no room to keep it.
    pub drop_unexpected: u64,
    /// Beats that came after their stage had closed.
    pub drop_late_beats: u64,
    /// Beats that had come before.
    pub drop_duplicate_beats: u64,
    /// Windows whose last packets were given up because newer ones needed the room.
    pub tx_abandoned: u64,
}

impl Software {
    /// Takes a datagram that has come by the time of the last [`advance`](Self::advance): what follows UDP's header.
    /// `from`: the rank that the source address belongs to, `None` if it is nobody's.
    pub fn handle_datagram(&mut self, from: Option<usize>, datagram: &[u8]) {
        self.counters.rx_packets += 1;
        match self.check(from, datagram) {
            Ok((peer, header, _)) if header.stage == STAGE_FEEDBACK => {
                self.heard |= 1 << peer;
                if let Some(rtt_ns) = self.permits.credits.handle_feedback(peer, &header, self.now_ns) {
                    self.events.push_back(PlaneEvent::RoundTrip { peer, rtt_ns });
                }
            }
            Ok((peer, header, payload)) => {
                self.heard |= 1 << peer;
                self.permits.credits.received(peer, &header, payload.len());
                self.take(&header, payload);
            }
            Err(counter) => *counter(&mut self.counters) += 1,
        }
    }

    /// The job's number of the sender, header and payload of a datagram of this job, or the counter that says why it is none.
    fn check<'a>(&self, from: Option<usize>, datagram: &'a [u8]) -> Result<(usize, UbtHeader, &'a [u8]), Counter> {
        let malformed: Counter = |counters| &mut counters.drop_malformed;
        let (header, payload) = datagram.split_first_chunk::<UBT_BYTES>().ok_or(malformed)?;
        let (header, roster) = self.rosters.read(header).map_err(|error| -> Counter {
            match error {
                FrameError::Version(_) => |counters| &mut counters.drop_version,
                FrameError::Job(_) => |counters| &mut counters.drop_job,
                FrameError::Foreign | FrameError::Malformed => malformed,
            }
        })?;
        let sender = usize::from(header.sender);
        let is_well_formed = from.is_some()
            && from == roster.peers.get(sender).copied()
            && sender != roster.rank
            && payload.len().is_multiple_of(BEAT_BYTES)
            && match header.stage {
                STAGE_CONTRIBUTE | STAGE_BROADCAST => !payload.is_empty(),
                STAGE_FEEDBACK => payload.is_empty(),
                _ => false,
            }
            && (header.offset as usize).is_multiple_of(BEAT_BYTES);
        from.filter(|_| is_well_formed).map(|from| (from, header, payload)).ok_or(malformed)
    }

    /// Puts a checked packet where it belongs.
    pub(super) fn take(&mut self, header: &UbtHeader, payload: &[u8]) {
        let counters = &mut self.counters;
        let Some((place, window)) = self.windows.iter_mut().enumerate().find_map(|(place, window)| {
            let is_its = |window: &&mut Window| window.plan.holds(header) && window.roster.tag == header.job_tag;
            window.as_mut().filter(is_its).map(|window| (place, window))
        }) else {
            match self.unexpected.age(header) {
                Age::Unexpected => match self.unexpected.keep(header, payload) {
                    Some(true) => self.events.push_back(PlaneEvent::Unexpected {
                        bucket: header.bucket,
                        step: header.step,
                        hadamard: header.flags & FLAG_HADAMARD != 0,
                    }),
                    Some(false) => {}
                    None => counters.drop_unexpected += 1,
                },
                Age::Closed => {
                    counters.drop_no_window += 1;
                    self.late_bytes += (payload.len() as u64) << u8::from(header.flags & FLAG_BF16 != 0);
                }
                Age::Stale => counters.drop_stale += 1,
            }
            return;
        };
        if header.flags & (FLAG_HADAMARD | FLAG_BF16) != packet_flags(&window.plan) {
            counters.drop_flags += 1;
            return;
        }
        let stage = if header.stage == STAGE_CONTRIBUTE { Stage::Contribute } else { Stage::Broadcast };
        let sender = usize::from(header.sender);
        let first = (header.offset - window.plan.base_bytes) as usize / BEAT_BYTES;
        let Some(beats) = window.beats_of(payload.len(), first, &window.allowed(stage, sender)) else {
            counters.drop_out_of_shard += 1;
            return;
        };
        let gate = &mut window.gates[stage.index()];
        if !gate.is_open() {
            counters.drop_late_beats += beats as u64;
            self.late_bytes += (beats * BEAT_BYTES) as u64;
            return;
        }
        gate.hear(self.now_ns, sender, header.flags & FLAG_LAST_PERCENTILE != 0, &window.rules);
        window.hints[stage.index()][sender] = PeerHints { timeout_16us: header.timeout_16us, incast: header.incast };
        let (at_ns, cookie) = (self.now_ns, window.plan.cookie);
        let trace = &mut self.trace;
        let duplicates = window.take_packet(stage, sender, first..first + beats, payload, |position| {
            if let Some(trace) = trace {
                trace.push(Accepted { at_ns, cookie, stage, position, sender });
            }
        });
        counters.drop_duplicate_beats += duplicates as u64;
        self.close_due(place);
    }
}

type Counter = fn(&mut Counters) -> &mut u64;
