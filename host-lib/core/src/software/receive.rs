//! Reception: the checks of the contract, with one counter per cause of a drop.

use optireduce_contract::limits::BEAT_BYTES;
use optireduce_contract::packet::{FLAG_ANSWER, FLAG_BF16, STAGE_FEEDBACK, UBT_BYTES, UbtHeader};
use optireduce_contract::rules::accept::{self, Cause};
use serde::Serialize;

use super::unexpected::Age;
use super::{Accepted, Software};
use crate::data_plane::PlaneEvent;
use crate::protocol::{PeerHints, Stage};

/// Totals of received, sent and dropped packets since the job began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
#[allow(missing_docs)] // others explain themselves
pub struct Counters {
    pub rx_packets: u64,
    /// Received datagrams with an ECN mark (congestion experienced).
    pub rx_marked: u64,
    pub tx_packets: u64,
    /// Impossible length, rank, stage or offset.
    pub drop_malformed: u64,
    /// Source address differs from the sender's.
    pub drop_source: u64,
    /// Payload above the job's maximum.
    pub drop_too_long: u64,
    pub drop_version: u64,
    /// Tag of another job.
    pub drop_job: u64,
    /// The window has closed.
    pub drop_no_window: u64,
    /// The collective is older than the current one.
    pub drop_stale: u64,
    /// Encoding or rounding differs from the window.
    pub drop_flags: u64,
    pub drop_out_of_shard: u64,
    /// The window is not armed yet, and the unexpected queue is full.
    pub drop_unexpected: u64,
    /// Beats received after their stage had closed.
    pub drop_late_beats: u64,
    pub drop_duplicate_beats: u64,
    /// Windows whose last packets were abandoned to make room for newer ones.
    pub tx_abandoned: u64,
}

impl Counters {
    /// Sum of two counts.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            rx_packets: self.rx_packets + other.rx_packets,
            rx_marked: self.rx_marked + other.rx_marked,
            tx_packets: self.tx_packets + other.tx_packets,
            drop_malformed: self.drop_malformed + other.drop_malformed,
            drop_source: self.drop_source + other.drop_source,
            drop_too_long: self.drop_too_long + other.drop_too_long,
            drop_version: self.drop_version + other.drop_version,
            drop_job: self.drop_job + other.drop_job,
            drop_no_window: self.drop_no_window + other.drop_no_window,
            drop_stale: self.drop_stale + other.drop_stale,
            drop_flags: self.drop_flags + other.drop_flags,
            drop_out_of_shard: self.drop_out_of_shard + other.drop_out_of_shard,
            drop_unexpected: self.drop_unexpected + other.drop_unexpected,
            drop_late_beats: self.drop_late_beats + other.drop_late_beats,
            drop_duplicate_beats: self.drop_duplicate_beats + other.drop_duplicate_beats,
            tx_abandoned: self.tx_abandoned + other.tx_abandoned,
        }
    }
}

impl Software {
    /// Handles a datagram (without UDP header). `from`: rank of the source address, `None` if
    /// unknown.
    pub fn handle_datagram(&mut self, from: Option<usize>, datagram: &[u8]) {
        self.handle_marked_datagram(from, datagram, false);
    }

    /// Like [`handle_datagram`](Self::handle_datagram). `is_marked`: ECN mark (RFC 3168).
    pub fn handle_marked_datagram(&mut self, from: Option<usize>, datagram: &[u8], is_marked: bool) {
        self.counters.rx_packets += 1;
        if let Some((from, tag)) = from.zip(self.unannounced.tag(datagram))
            && self.views.with_tag(tag).is_none()
        {
            self.counters.drop_job += self.unannounced.keep(tag, from, datagram);
            return;
        }
        self.counters.rx_marked += u64::from(is_marked);
        self.take_datagram(from, datagram, is_marked);
    }

    pub(super) fn take_datagram(&mut self, from: Option<usize>, datagram: &[u8], is_marked: bool) {
        match self.check(from, datagram) {
            Ok((peer, header, _)) if header.stage == STAGE_FEEDBACK => {
                // An engine also answers while its trainer makes no call, so the rank is not heard.
                self.silence.hear(peer, self.now_ns);
                if let Some(answered) = self.budget.credits.handle_feedback(peer, &header, self.now_ns) {
                    self.tails.answered(peer, &header, &answered);
                    let rtt = answered.rtt_ns.map(|rtt_ns| PlaneEvent::RoundTrip { peer, rtt_ns });
                    self.events.extend(rtt);
                }
            }
            Ok((peer, header, payload)) => {
                self.heard.insert(peer);
                self.silence.hear(peer, self.now_ns);
                self.is_asked |= header.flags & FLAG_ANSWER != 0;
                self.budget.credits.received(peer, &header, payload.len(), is_marked, self.now_ns);
                self.take(&header, payload);
            }
            Err(cause) => *self.counters.dropped(cause) += 1,
        }
    }

    fn check<'a>(&self, from: Option<usize>, datagram: &'a [u8]) -> Result<(usize, UbtHeader, &'a [u8]), Cause> {
        let (ubt, payload) = datagram.split_first_chunk::<UBT_BYTES>().ok_or(Cause::Malformed)?;
        let tag = UbtHeader::of_any_job(ubt).job_tag;
        let view = self.views.with_tag(tag).unwrap_or_else(|| self.views.entered());
        let header = accept::header(ubt, payload.len(), &view.receiver())?;
        let peer = view.peers.get(usize::from(header.sender)).copied();
        let peer = peer.filter(|_| peer == from).ok_or(Cause::Source)?;
        if payload.len() > self.job.payload_beats * BEAT_BYTES {
            return Err(Cause::TooLong);
        }
        Ok((peer, header, payload))
    }

    pub(super) fn take(&mut self, header: &UbtHeader, payload: &[u8]) {
        let armed = self.windows.iter().enumerate().filter_map(|(index, window)| {
            let window = window.as_ref().filter(|window| window.view.tag == header.job_tag)?;
            Some((index, &window.shape))
        });
        let index = match accept::find(armed, header) {
            Ok((index, _)) => index,
            Err(Cause::Stale) => return *self.counters.dropped(Cause::Stale) += 1,
            Err(_) => return self.take_unexpected(header, payload),
        };
        let Some(window) = &mut self.windows[index] else { return };
        let place = match accept::place(&window.shape, window.view.rank, header, payload.len() / BEAT_BYTES) {
            Ok(place) => place,
            Err(cause) => return *self.counters.dropped(cause) += 1,
        };
        let (stage, sender) = (place.stage, place.sender);
        let gate = &mut window.gates[stage.index()];
        if !gate.is_open() {
            self.counters.drop_late_beats += place.beats.len() as u64;
            // The last packet of a shard may be sent twice, and the duplicate is not late.
            if !is_repeated_end(payload) {
                self.late_bytes += (window.missing_beats(&place) * BEAT_BYTES) as u64;
            }
            return;
        }
        if stage == Stage::Broadcast && !gate.heard().contains(sender) {
            let peer = window.view.peers[sender];
            self.outbox.forget_contribution(index, peer);
            self.tails.forget_contribution(peer, &window.shape);
        }
        gate.hear(self.now_ns, sender, place.marked, &window.rules);
        if place.beats.end == window.shape.allowed(stage, window.view.rank, sender).end {
            window.ended[stage.index()].insert(sender);
        }
        window.hints[stage.index()][sender] = PeerHints { timeout_16us: header.timeout_16us, incast: header.incast };
        let (at_ns, cookie) = (self.now_ns, window.plan.cookie);
        let trace = &mut self.trace;
        let duplicates = window.take_packet(at_ns, &place, payload, &mut self.lent, |beats| {
            if let Some(trace) = trace {
                trace.extend(beats.map(|position| Accepted { at_ns, cookie, stage, position, sender }));
            }
        });
        self.counters.drop_duplicate_beats += duplicates as u64;
        self.close_due(index, false);
    }

    fn take_unexpected(&mut self, header: &UbtHeader, payload: &[u8]) {
        match self.unexpected.age(header) {
            Age::Unexpected => match self.unexpected.keep(header, payload) {
                Some(true) => {
                    self.events.push_back(PlaneEvent::Unexpected { bucket: header.bucket, step: header.step });
                }
                Some(false) => {}
                None => self.counters.drop_unexpected += 1,
            },
            Age::Closed => {
                *self.counters.dropped(Cause::NoWindow) += 1;
                if !is_repeated_end(payload) {
                    self.late_bytes += (payload.len() as u64) << u8::from(header.flags & FLAG_BF16 != 0);
                }
            }
            Age::Stale => *self.counters.dropped(Cause::Stale) += 1,
        }
    }
}

/// Returns whether a packet may be a repeated end of a shard, which is no evidence of lateness.
fn is_repeated_end(payload: &[u8]) -> bool {
    payload.len() == BEAT_BYTES
}

impl Counters {
    fn dropped(&mut self, cause: Cause) -> &mut u64 {
        match cause {
            Cause::Source => &mut self.drop_source,
            Cause::TooLong => &mut self.drop_too_long,
            // The kernel drops most of these before the socket.
            Cause::Bad | Cause::Foreign | Cause::Mac | Cause::IpChecksum | Cause::Ip | Cause::Malformed => {
                &mut self.drop_malformed
            }
            Cause::Version => &mut self.drop_version,
            Cause::Job => &mut self.drop_job,
            Cause::NoWindow => &mut self.drop_no_window,
            Cause::Stale => &mut self.drop_stale,
            Cause::Flags => &mut self.drop_flags,
            Cause::OutOfShard => &mut self.drop_out_of_shard,
        }
    }
}
