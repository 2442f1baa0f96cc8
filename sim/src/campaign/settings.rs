//! Settings of a job, and the size of its cards.

use optireduce_core::PlaneLimits;
use optireduce_hw::card::build::Build;

use crate::random::Random;

/// The smallest card, since a job simulates many.
pub(super) const CARD: Build = Build { window_log2: 7, hadamard_log2: 10 };

pub(super) fn card_limits() -> PlaneLimits {
    PlaneLimits { window_beats_max: 1 << CARD.window_log2, hadamard_log2_max: CARD.hadamard_log2, ..PlaneLimits::CARD }
}

#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub bound_ns: u64,
    pub payload_beats: usize,
    pub window_beats: usize,
    pub slots: usize,
    pub unexpected_bytes: usize,
    /// Congestion window of each pair; 0 means unlimited.
    pub in_flight_bytes: u64,
    pub grace_ns: Option<u32>,
    pub follow_stage_times: bool,
    pub follow_incast: bool,
    pub repair: bool,
    pub votes: bool,
    /// Silent collectives after which a rank is dropped; `None` disables views.
    pub silent_ops: Option<u32>,
    pub lead_ops: u32,
    pub retry_ns: u64,
    pub one_off_wait_ns: u64,
    /// Default of buckets.
    pub bf16: bool,
    /// True if losses enable encoding of buckets with `HadamardMode::Auto`.
    pub hadamard_follows_loss: bool,
}

impl Settings {
    pub fn silent_ns(&self) -> u64 {
        5 * self.bound_ns
    }

    /// Adapts the settings to a card's fixed sizes.
    pub fn fit_cards(&mut self, ranks: usize) {
        let limits = card_limits();
        self.window_beats = self.window_beats.clamp(ranks.max(64), limits.window_beats_max);
        self.slots = limits.slots;
    }

    pub fn draw(random: &mut Random) -> Self {
        let bound_ns = random.between(500_000, 4_000_000);
        let early = random.below(3);
        Self {
            bound_ns,
            payload_beats: random.between(1, 22) as usize,
            window_beats: random.one_of(&[16, 40, 64, 128, 1024]),
            slots: random.one_of(&[4, 32, 32]),
            unexpected_bytes: random.one_of(&[0, 4096, 1 << 20, 64 << 20]),
            in_flight_bytes: random.one_of(&[0, 0, 16_384]),
            grace_ns: (early == 1).then(|| random.between(50_000, 400_000) as u32),
            follow_stage_times: early == 2,
            follow_incast: random.chance(0.5),
            repair: random.chance(0.85),
            votes: random.chance(0.3),
            silent_ops: random.chance(0.85).then(|| random.between(2, 6) as u32),
            lead_ops: random.between(4, 32) as u32,
            retry_ns: random.between(2_000_000, 6_000_000),
            one_off_wait_ns: 20 * bound_ns,
            bf16: false,
            hadamard_follows_loss: false,
        }
    }
}
