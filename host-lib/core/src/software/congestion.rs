//! Congestion window of a peer, from ECN marks and losses.
//!
//! All senders to a port share its queue, which may be shorter than one sender's data in flight.
//! RTTs are a weak signal on hosts, where they mostly measure the wait for the CPU. Each sender
//! adapts alone. The window begins at the limit of the receiver's buffer.
//! - *Marks* (ECN): as in DCTCP. Once per round trip, the window shrinks by half of the smoothed
//!   marked share. A round trip without marks grows it by a packet, or by a sixteenth of a packet
//!   above the last window that was too large.
//! - *Heavy loss*, [`HEAVY_PACKETS`] in excess of [`HEAVY_SHARE`]: the window shrinks to slightly
//!   less than the part that arrived, but at most by half if it was limited before. Lighter losses
//!   of an unlimited window are ignored, since packets are also lost at random.
//! - *Light loss*, above [`LIGHT_SHARE`]: a limited window shrinks by an eighth.
//! - *Probing*: a limited window with little loss grows after a number of packets. Small windows
//!   need fewer, so that they catch up. The number quadruples after a probe with loss, and halves
//!   after one without.
//! - *Outage*: a loss without a probe may be an outage or due to another sender. The previous
//!   window is then probed next, and soon.
//! - *Random loss*: if the loss stays although the window fell to a quarter, the window is
//!   restored, and twice that loss is tolerated.
//!
//! Limits: a path with more than 15 % random loss counts as congested.
//!
//! Source: DCTCP (RFC 8257) for marks, but the newest share weighs an eighth instead of a
//! sixteenth. Rare probes and a loss threshold as in BBR version 3. The constants are ours.

/// Minimum window: one packet of any size.
const WINDOW_MIN: u64 = 1000;
/// Minimum growth of a window: a packet.
const STEP_BYTES: u64 = 1500;
/// Share of packets that may be lost at random.
const HEAVY_SHARE: f64 = 0.10;
/// Lost packets above that share that indicate a full queue.
const HEAVY_PACKETS: f64 = 16.0;
/// Part of the received data that is tried as the next window.
const HEADROOM: f64 = 0.9;
/// Tolerated loss of a limited window: with 1 % random loss, smaller windows lose as much.
const LIGHT_SHARE: f64 = 0.02;
const LIGHT_PACKETS: i64 = 4;
const EPOCH_PACKETS: u64 = 1000;
/// Minimum and maximum of packets between probes with a window of [`FAIR_BYTES`].
const WAIT_PACKETS: (u64, u64) = (256, 32_768);
const FAIR_BYTES: u64 = 16 << 10;
/// Minimum packets between probes with any window.
const TRY_PACKETS_MIN: u64 = 32;
const WAIT_WINDOWS: u64 = 4;
/// Maximum share of random loss.
const RANDOM_SHARE_MAX: f64 = 0.15;
/// Weight of the newest round trip in the smoothed marked share.
const MARKS_WEIGHT: f64 = 0.125;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Answer {
    pub bytes: u64,
    pub packets: u64,
    /// Lost packets among them. Negative if packets counted as lost arrived after all.
    pub lost: i64,
    pub marked: f64,
    /// Bytes sent before the data that is still in flight.
    pub position: u64,
    pub sent: u64,
}

#[derive(Debug, Default)]
pub(super) struct Congestion {
    limit: u64,
    window: u64,
    /// Answers on data before this position are ignored, since they are about an older window.
    guard: u64,
    /// Maximum bytes in flight since the last reset.
    peak: u64,
    excess: f64,
    burst: Seen,
    round: Seen,
    round_end: u64,
    /// Smoothed marked share. `None` before the first marks, which then count fully.
    marked: Option<f64>,
    /// True if the queue marks packets, so that no probes are needed.
    has_marks: bool,
    too_large: u64,
    epoch: Seen,
    wait_packets: u64,
    before_try: Option<u64>,
    /// Window before the last loss without a probe, until it is probed again.
    fitted: Option<u64>,
    anchor: Option<(u64, f64)>,
    tolerated: f64,
}

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
    pub fn new(limit: u64) -> Self {
        Self { limit, window: limit, wait_packets: WAIT_PACKETS.0, ..Self::default() }
    }

    pub fn window(&self) -> u64 {
        self.window
    }

    pub fn is_limited(&self) -> bool {
        self.window < self.limit
    }

    pub fn sent(&mut self, in_flight: u64) {
        self.peak = self.peak.max(in_flight);
    }

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
            // Before the first limit, the received part is what fits. Later, another sender may be
            // the cause.
            self.lose(share, if self.is_limited() { fits.max(self.window / 2) } else { fits }, answer.sent);
        } else if answer.position >= self.round_end {
            self.end_round(answer.sent);
        }
        self.judge(answer.sent);
    }

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

    fn set(&mut self, window: u64, sent: u64) {
        self.window = window.clamp(WINDOW_MIN.min(self.limit), self.limit);
        (self.guard, self.round_end) = (sent, sent);
        (self.excess, self.peak) = (0.0, 0);
        (self.burst, self.round, self.epoch) = Default::default();
    }

    fn end_round(&mut self, sent: u64) {
        let share = self.round.marked_share();
        if share > 0.0 || self.has_marks {
            let smoothed = self.marked.map_or(share, |before| before + MARKS_WEIGHT * (share - before));
            self.marked = Some(smoothed);
            // At the end of a shard little is in flight, which says nothing about a limited window.
            let base = if self.is_limited() { self.window } else { self.window.min(self.peak).max(WINDOW_MIN) };
            if share > 0.0 {
                (self.has_marks, self.too_large) = (true, base);
                self.window =
                    ((base as f64 * (1.0 - smoothed / 2.0)) as u64).clamp(WINDOW_MIN.min(self.limit), self.limit);
            } else if self.is_used() {
                // Room that idle senders leave is gone when all begin the next stage.
                let step = if self.window + STEP_BYTES <= self.too_large { STEP_BYTES } else { STEP_BYTES / 16 };
                self.window = (self.window + step).min(self.limit);
            }
            (self.before_try, self.peak) = (None, 0);
        }
        (self.round, self.round_end) = (Seen::default(), sent);
    }

    fn is_used(&self) -> bool {
        self.peak >= self.window / 4 * 3
    }

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
        // The losses were not random, or have ended.
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
