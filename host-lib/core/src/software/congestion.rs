//! How much may be on its way to a peer, by what the network between did with what was: marks and losses.
//!
//! Why: all who send to a port share its queue, which may be shorter than what one of them has in flight; nothing is sent twice, so what
//! does not fit is lost for good. Round trips say little on hosts, where most of their time is a process waiting for the CPU.
//! How: each sender by itself, from its peer's feedback. All that the receiver's buffer holds may be in flight until something is wrong:
//! - *Marks* (ECN): as in DCTCP. Once a round trip the window shrinks by half of the share that was marked, smoothed; a round trip
//!   without marks lets it grow by a packet, and by a sixteenth of one above the window that was too large last.
//! - *Losses* in excess of [`HEAVY_SHARE`], [`HEAVY_PACKETS`] or more: the window becomes a little less than what came of it. Fewer say
//!   nothing yet: packets are lost one by one, too, on their way.
//! - From then on losses of more than [`LIGHT_SHARE`] make the window smaller, by half at most, and it is tried how much more fits: after
//!   a number of packets that grows with the window, so that small ones catch up. It is four times as large after a try that lost, and half as
//!   large each time that more fitted.
//! - A loss that no try has caused may be an outage, or the doing of another: the window that fitted before is what is tried next, and soon.
//! - Losses that do not become fewer though the window is a quarter are not the window's doing: it is restored, and twice as
//!   many are put up with.
//!
//! Limits: a path that loses more than 15 % whatever is sent is taken for a full one.
//! Source: DCTCP (RFC 8257) for marks, but for the weight of the newest share, an eighth instead of a sixteenth; trying rarely, and
//! losses below a threshold, as in BBR (version 3). The figures are ours.

/// The smallest window: one packet, of any size.
const WINDOW_MIN: u64 = 1000;
/// What a window grows by at least: a packet.
const STEP_BYTES: u64 = 1500;
/// Share of the packets that may be lost one by one.
const HEAVY_SHARE: f64 = 0.10;
/// So many lost packets above that share are a queue that was full.
const HEAVY_PACKETS: f64 = 16.0;
/// Of what came this part is tried next.
const HEADROOM: f64 = 0.9;
/// Share of the packets that may be lost where a full queue was seen before: networks that lose 1 % whatever is sent are what this project is
/// for, and smaller windows bring none of it back.
const LIGHT_SHARE: f64 = 0.02;
/// Lost packets that say something of a share.
const LIGHT_PACKETS: i64 = 4;
/// Packets that are enough to judge a share of losses by.
const EPOCH_PACKETS: u64 = 1000;
/// Packets between tries, at least and at most, with a window of [`FAIR_BYTES`]; with smaller ones fewer.
const WAIT_PACKETS: (u64, u64) = (256, 32_768);
const FAIR_BYTES: u64 = 16 << 10;
/// And at least so many.
const TRY_PACKETS_MIN: u64 = 32;
/// And so many windows.
const WAIT_WINDOWS: u64 = 4;
/// The largest share of losses that may not be the window's doing.
const RANDOM_SHARE_MAX: f64 = 0.15;
/// Weight of a round trip's share of marked packets.
const MARKS_WEIGHT: f64 = 0.125;

/// What feedback says of packets that were sent.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Answer {
    /// Bytes that are not in flight any more.
    pub bytes: u64,
    /// Packets of which it says something.
    pub packets: u64,
    /// How many of those are lost; below zero: some came that were taken for lost.
    pub lost: i64,
    /// Share of those that came marked.
    pub marked: f64,
    /// Bytes of all that was sent before what is still in flight.
    pub position: u64,
    /// Bytes sent so far.
    pub sent: u64,
}

/// What may be in flight to a peer.
#[derive(Debug, Default)]
pub(super) struct Congestion {
    limit: u64,
    window: u64,
    /// What was sent before this position says nothing of the window.
    guard: u64,
    /// Most that was in flight in this round trip, and since the last change.
    peak: u64,
    /// Lost packets above [`HEAVY_SHARE`], and all packets and lost ones since there were none.
    excess: f64,
    burst: Seen,
    round: Seen,
    round_end: u64,
    /// Smoothed share of marked packets; none seen yet: the next one counts whole.
    marked: Option<f64>,
    /// The queue on the way marks: it need not be tried what fits.
    has_marks: bool,
    /// The window that was too large last.
    too_large: u64,
    epoch: Seen,
    wait_packets: u64,
    /// The window before the one that is being tried.
    before_try: Option<u64>,
    /// The window before the last loss, if no try has caused that; until it is tried again.
    fitted: Option<u64>,
    /// The window with which the losses began that are being reduced, and their share.
    anchor: Option<(u64, f64)>,
    /// Share of losses that is put up with.
    tolerated: f64,
}

/// What was answered in a while.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    bytes: u64,
    packets: u64,
    lost: i64,
    marked: f64,
}

impl Seen {
    fn add(&mut self, answer: &Answer) {
        self.bytes += answer.bytes;
        self.packets += answer.packets;
        self.lost += answer.lost;
        self.marked += answer.marked * answer.packets.saturating_sub(answer.lost.max(0) as u64) as f64;
    }

    fn lost_share(&self) -> f64 {
        (self.lost as f64 / self.packets.max(1) as f64).clamp(0.0, 1.0)
    }

    fn marked_share(&self) -> f64 {
        let came = self.packets.saturating_sub(self.lost.max(0) as u64);
        (self.marked / came.max(1) as f64).min(1.0)
    }
}

impl Congestion {
    /// `limit`: what may be in flight where nothing is wrong.
    pub fn new(limit: u64) -> Self {
        Self { limit, window: limit, wait_packets: WAIT_PACKETS.0, ..Self::default() }
    }

    /// Bytes that may be in flight.
    pub fn window(&self) -> u64 {
        self.window
    }

    /// Whether something was wrong, so that answers are needed soon.
    pub fn is_limited(&self) -> bool {
        self.window < self.limit
    }

    /// So many bytes are in flight now.
    pub fn sent(&mut self, in_flight: u64) {
        self.peak = self.peak.max(in_flight);
    }

    /// Takes what feedback says.
    pub fn answered(&mut self, answer: &Answer) {
        if answer.position <= self.guard {
            return;
        }
        self.round.add(answer);
        self.epoch.add(answer);
        self.burst.add(answer);
        self.excess += answer.lost as f64 - answer.packets as f64 * self.tolerated.max(HEAVY_SHARE);
        if self.excess <= 0.0 {
            (self.excess, self.burst) = (0.0, Seen::default());
        }
        if self.excess >= HEAVY_PACKETS {
            let share = self.burst.lost_share();
            let base = self.window.min(self.peak);
            let fits = (base as f64 * (1.0 - share) * HEADROOM) as u64;
            // The first time there was no limit, and what came is what fits. Later it may be another's turn.
            self.lose(share, if self.is_limited() { fits.max(self.window / 2) } else { fits }, answer.sent);
        } else if answer.position >= self.round_end {
            self.end_round(answer.sent);
        }
        self.judge(answer.sent);
    }

    /// Too much was lost: `window` may fit. Unless that is not the window's doing.
    fn lose(&mut self, share: f64, window: u64, sent: u64) {
        let begun_now = self.window.min(self.peak.max(WINDOW_MIN));
        let (begun, begun_share) = *self.anchor.get_or_insert((begun_now, share));
        let is_random = share <= RANDOM_SHARE_MAX && share > begun_share / 2.0 && self.window <= begun / 4;
        let before = self.before_try.take();
        if is_random {
            self.tolerated = 2.0 * share;
            self.anchor = None;
            return self.set(begun, sent);
        }
        self.fitted = before.is_none().then_some(begun_now);
        if before.is_some() {
            self.wait_packets = (4 * self.wait_packets).min(WAIT_PACKETS.1);
        }
        (self.has_marks, self.too_large) = (false, self.window.min(self.peak));
        self.set(window.min(before.unwrap_or(u64::MAX)), sent);
    }

    /// From now on this is the window, and what is in flight says nothing of it.
    fn set(&mut self, window: u64, sent: u64) {
        self.window = window.clamp(WINDOW_MIN.min(self.limit), self.limit);
        (self.guard, self.round_end) = (sent, sent);
        (self.excess, self.peak) = (0.0, 0);
        (self.burst, self.round, self.epoch) = Default::default();
    }

    /// A round trip has ended: marks.
    fn end_round(&mut self, sent: u64) {
        let share = self.round.marked_share();
        if share > 0.0 || self.has_marks {
            let smoothed = self.marked.map_or(share, |before| before + MARKS_WEIGHT * (share - before));
            self.marked = Some(smoothed);
            // A shard that ends has little in flight, which says nothing of a window that fitted.
            let base = if self.is_limited() { self.window } else { self.window.min(self.peak).max(WINDOW_MIN) };
            if share > 0.0 {
                (self.has_marks, self.too_large) = (true, base);
                self.window =
                    ((base as f64 * (1.0 - smoothed / 2.0)) as u64).clamp(WINDOW_MIN.min(self.limit), self.limit);
            } else if self.is_used() {
                // What fits while others rest does not when all begin the next stage.
                let step = if self.window + STEP_BYTES <= self.too_large { STEP_BYTES } else { STEP_BYTES / 16 };
                self.window = (self.window + step).min(self.limit);
            }
            // Marks say it, not losses.
            (self.before_try, self.peak) = (None, 0);
        }
        (self.round, self.round_end) = (Seen::default(), sent);
    }

    /// Whether as much was in flight as might be, nearly.
    fn is_used(&self) -> bool {
        self.peak >= self.window / 4 * 3
    }

    /// Losses over a longer time: gives back what loses too much, and tries more where nothing is lost.
    fn judge(&mut self, sent: u64) {
        let share = self.epoch.lost_share();
        if !self.is_limited() {
            if self.epoch.packets >= EPOCH_PACKETS {
                self.tolerated = if self.epoch.lost > 0 { self.tolerated } else { 0.0 };
                (self.epoch, self.anchor, self.wait_packets) = (Seen::default(), None, WAIT_PACKETS.0);
            }
            return;
        }
        if self.epoch.lost >= LIGHT_PACKETS && share > self.tolerated.max(LIGHT_SHARE) {
            return self.lose(share, self.window / 8 * 7, sent);
        }
        let wait_packets = (self.wait_packets * self.window.min(FAIR_BYTES) / FAIR_BYTES).max(TRY_PACKETS_MIN);
        let packets_min = match self.epoch.lost {
            1.. => EPOCH_PACKETS.max(wait_packets),
            _ if self.fitted.is_some() => TRY_PACKETS_MIN,
            _ => wait_packets,
        };
        if self.epoch.packets < packets_min || self.epoch.bytes < WAIT_WINDOWS * self.window {
            return;
        }
        // It was no loss's doing that it is limited, or that is over.
        self.anchor = None;
        if self.is_used() && !self.has_marks {
            if self.before_try.replace(self.window).is_some() {
                self.wait_packets = (self.wait_packets / 2).max(WAIT_PACKETS.0);
            }
            let more = (self.window + (self.window / 8).max(STEP_BYTES)).min(self.limit);
            self.window = self.fitted.take().map_or(more, |fitted| fitted.max(more));
        }
        (self.epoch, self.peak) = (Seen::default(), 0);
    }
}

#[cfg(test)]
mod tests;
