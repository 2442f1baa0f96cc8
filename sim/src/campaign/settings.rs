//! How a job is set up, and the cards in it.

use optireduce_core::PlaneLimits;
use optireduce_hw::card::build::Build;

use crate::random::Random;

/// The smallest card: many are simulated at once.
pub(super) const CARD: Build = Build { window_log2: 7, hadamard_log2: 10 };

/// What a card of this size can do.
pub(super) fn card_limits() -> PlaneLimits {
    PlaneLimits { window_beats_max: 1 << CARD.window_log2, hadamard_log2_max: CARD.hadamard_log2, ..PlaneLimits::CARD }
}

/// How the job is set up, alike on all ranks.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub bound_ns: u64,
    pub payload_beats: usize,
    pub window_beats: usize,
    pub slots: usize,
    /// Bytes of the unexpected queue.
    pub unexpected_bytes: usize,
    /// Send budget of each pair, in bytes; 0: none.
    pub in_flight_bytes: u64,
    /// Grace of the early rule, in ns.
    pub grace_ns: Option<u32>,
    pub follow_stage_times: bool,
    pub follow_incast: bool,
    pub repair: bool,
    pub votes: bool,
    /// Collectives without a sign of a rank after which it is dropped; `None`: the ranks agree on no views.
    pub silent_ops: Option<u32>,
    pub lead_ops: u32,
    pub retry_ns: u64,
    pub one_off_wait_ns: u64,
    /// Whether buckets travel as bf16 if they do not say otherwise.
    pub bf16: bool,
    /// Whether buckets with [`HadamardMode::Auto`](optireduce_core::protocol::HadamardMode::Auto) are encoded once packets are lost.
    pub hadamard_follows_loss: bool,
}

impl Settings {
    /// How long a rank must have been silent before it is dropped.
    pub fn silent_ns(&self) -> u64 {
        5 * self.bound_ns
    }

    /// Cards have windows, slots and blocks of a fixed size; they contribute early, so that peers find windows armed.
    pub fn fit_cards(&mut self, ranks: usize) {
        let limits = card_limits();
        self.window_beats = self.window_beats.clamp(ranks.max(64), limits.window_beats_max);
        self.slots = limits.slots;
    }

    /// Draws them.
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
