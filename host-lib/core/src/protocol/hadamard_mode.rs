//! Switch of the Hadamard encoding of all-reduces.
//!
//! The transform makes the error independent of the position of losses but costs time. All ranks
//! must encode the same collectives, since packets of the other kind are dropped; the encoding is
//! therefore a setting of the view ([`Settings::hadamard`](super::membership::Settings)). Any rank
//! that observes loss turns it on. It ends when all ranks have seen almost none for a while, a
//! period that doubles each time the loss returns.
//!
//! Loss is detected by a CUSUM chart: loss above 2 % adds to a sum, less loss subtracts from it,
//! down to zero. A single small collective could exceed 2 % by chance.
//!
//! Source: OptiReduce 3.2.1 (2 %); the rest is ours.

use std::fmt;

/// Loss above which a rank requests the encoding.
pub const LOSS_ON: f64 = 0.02;
/// Loss up to which a collective counts as clean.
pub const LOSS_OFF: f64 = 0.005;
/// Packets lost in excess of [`LOSS_ON`] that turn the encoding on. A loss of 1 % practically never
/// reaches this by chance.
const EXCESS_PACKETS: f64 = 16.0;
/// Consecutive clean collectives after which a rank first requests to end the encoding.
pub const CLEAN_OPS: u32 = 100;
/// Upper limit of that number.
pub const CLEAN_OPS_MAX: u32 = 64 * CLEAN_OPS;

/// Policy for the encoding of all-reduces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum HadamardMode {
    /// Never encode.
    Off,
    /// Always encode.
    On,
    /// Encode once the loss exceeds 2 %, until it has been almost zero for a while.
    #[default]
    Auto,
}

impl HadamardMode {
    /// All values.
    pub const ALL: [Self; 3] = [Self::Off, Self::On, Self::Auto];

    /// Returns whether a collective is encoded in a view with this setting.
    pub fn is_on(self, of_view: bool) -> bool {
        match self {
            Self::Off => false,
            Self::On => true,
            Self::Auto => of_view,
        }
    }
}

/// Decides which setting a rank requests.
#[derive(Clone, Debug)]
pub struct HadamardSwitch {
    mode: HadamardMode,
    packet_bytes: f64,
    excess_bytes: f64,
    was_on: bool,
    clean_ops: u32,
    enough_ops: u32,
}

impl HadamardSwitch {
    /// Creates the switch for a job whose packets carry `packet_bytes`.
    pub fn new(mode: HadamardMode, packet_bytes: usize) -> Self {
        Self {
            mode,
            packet_bytes: packet_bytes as f64,
            excess_bytes: 0.0,
            was_on: false,
            clean_ops: 0,
            // Doubles before its first use.
            enough_ops: CLEAN_OPS / 2,
        }
    }

    /// Adds a collective; returns the setting to request, if it differs from that `of_view`.
    pub fn observe(&mut self, of_view: bool, expected_bytes: u64, lost_bytes: u64) -> Option<bool> {
        if self.mode != HadamardMode::Auto {
            return None;
        }
        let (expected, lost) = (expected_bytes as f64, lost_bytes as f64);
        self.excess_bytes = if of_view { 0.0 } else { (self.excess_bytes + lost - LOSS_ON * expected).max(0.0) };
        if of_view && !self.was_on {
            self.enough_ops = (2 * self.enough_ops).min(CLEAN_OPS_MAX);
        }
        self.was_on = of_view;
        self.clean_ops = if of_view && lost <= LOSS_OFF * expected { self.clean_ops.saturating_add(1) } else { 0 };
        if of_view {
            (self.clean_ops >= self.enough_ops).then_some(false)
        } else {
            (self.excess_bytes >= EXCESS_PACKETS * self.packet_bytes).then_some(true)
        }
    }
}

impl fmt::Display for HadamardMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Off => "off",
            Self::On => "on",
            Self::Auto => "auto",
        })
    }
}

impl From<bool> for HadamardMode {
    fn from(on: bool) -> Self {
        if on { Self::On } else { Self::Off }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use optireduce_contract::signs::splitmix64;

    const PACKET_BYTES: usize = 1000;

    fn switch(mode: HadamardMode) -> HadamardSwitch {
        HadamardSwitch::new(mode, PACKET_BYTES)
    }

    fn observe(switch: &mut HadamardSwitch, of_view: bool, loss: f64) -> Option<bool> {
        let bytes = 20_000 * PACKET_BYTES as u64;
        switch.observe(of_view, bytes, (loss * bytes as f64) as u64)
    }

    #[test]
    fn auto_follows_the_view_and_requests_it_above_two_percent_of_loss() {
        assert_eq!([false, true].map(|of_view| HadamardMode::Auto.is_on(of_view)), [false, true]);
        let request = |of_view, loss| observe(&mut switch(HadamardMode::Auto), of_view, loss);
        assert_eq!([request(false, 0.02), request(false, 0.021), request(true, 0.5)], [None, Some(true), None]);
    }

    #[test]
    fn small_collectives_add_up_to_a_loss_and_chance_does_not() {
        // 200 packets each.
        let first_request = |lost: &mut dyn FnMut(u64) -> u64| {
            let mut switch = switch(HadamardMode::Auto);
            (0..5000).find(|op| switch.observe(false, 200_000, 1000 * lost(*op)).is_some())
        };
        let of = |percent: u64| first_request(&mut |_| 2 * percent);
        assert_eq!([2, 3, 5, 10, 50].map(of), [None, Some(7), Some(2), Some(0), Some(0)]);
        for seed in 0..10 {
            let is_lost = |packet: &u64| splitmix64(seed << 32 | packet) < u64::MAX / 100;
            let by_chance = first_request(&mut |op| (200 * op..200 * op + 200).filter(is_lost).count() as u64);
            assert_eq!(by_chance, None, "seed {seed}");
        }
        assert_eq!(switch(HadamardMode::Auto).observe(false, 0, 0), None);
    }

    #[test]
    fn fixed_modes_ask_for_nothing_and_do_not_follow_the_view() {
        for (mode, on) in [(HadamardMode::Off, false), (HadamardMode::On, true)] {
            let mut switch = switch(mode);
            for (of_view, loss) in [(false, 1.0), (true, 1.0)].into_iter().chain([(true, 0.0); 1000]) {
                assert_eq!((mode.is_on(of_view), observe(&mut switch, of_view, loss)), (on, None));
            }
        }
    }

    fn ops_until_off(switch: &mut HadamardSwitch, lossy: u32) -> u32 {
        let loss = |op| if op <= lossy { LOSS_OFF + 0.001 } else { LOSS_OFF };
        (1..).find(|op| observe(switch, true, loss(*op)) == Some(false)).unwrap()
    }

    #[test]
    fn the_way_back_takes_clean_collectives_in_a_row_and_twice_as_many_each_time() {
        let mut switch = switch(HadamardMode::Auto);
        let mut expected = CLEAN_OPS;
        for turn in 0..9 {
            assert_eq!(observe(&mut switch, false, 0.03), Some(true));
            assert_eq!(ops_until_off(&mut switch, 70), 70 + expected, "turn {turn}");
            let asked = [0.0, LOSS_OFF, 0.006].map(|loss| observe(&mut switch, true, loss));
            assert_eq!(asked, [Some(false), Some(false), None]);
            expected = CLEAN_OPS_MAX.min(2 * expected);
        }
        assert_eq!(expected, CLEAN_OPS_MAX);
    }
}
