//! When all-reduces are Hadamard-encoded.
//!
//! Why: the transform makes the error independent of where losses fall, and costs time; it is worth it once losses are
//! real. All ranks must encode the same collectives, since packets of the other kind are dropped: so it is a setting
//! of the view ([`Settings::hadamard`](super::membership::Settings)), which any rank that sees the loss requests, and which ends
//! when all ranks have seen none for a while. Each time the loss comes back, they wait twice as long.
//! How: what is lost above 2 % adds up over collectives, and what is lost less takes away from the sum, but not below zero (a CUSUM
//! chart); [`EXCESS_PACKETS`] of it switch. One small collective says too little: of the 170 packets of 1 MiB on 4 ranks with MTU 9000 a
//! network that loses 1 % takes more than 2 % every tenth time, by chance.
//! Source: OptiReduce 3.2.1 (2 %). The sum, the agreement and the way back are ours.

use std::fmt;

/// Loss above which a rank requests that all-reduces be encoded.
pub const LOSS_ON: f64 = 0.02;
/// Loss up to which a collective counts towards the way back.
pub const LOSS_OFF: f64 = 0.005;
/// Lost packets above that share which show that it is exceeded. A loss of 1 % adds up to so many by chance once in 10^10 packets, and
/// one of 5 % after 530.
const EXCESS_PACKETS: f64 = 16.0;
/// Collectives in a row without more loss after which a rank requests, for the first time, that all-reduces be encoded no more.
pub const CLEAN_OPS: u32 = 100;
/// And the most, after the loss has come back several times.
pub const CLEAN_OPS_MAX: u32 = 64 * CLEAN_OPS;

/// Who decides whether all-reduces are encoded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum HadamardMode {
    /// Never encode.
    Off,
    /// Always encode.
    On,
    /// Encode once the loss exceeds 2 %, until there has been next to none for a while.
    #[default]
    Auto,
}

impl HadamardMode {
    /// Whether a collective is encoded in a view with this setting.
    pub fn is_on(self, of_view: bool) -> bool {
        match self {
            Self::Off => false,
            Self::On => true,
            Self::Auto => of_view,
        }
    }
}

/// What a rank requests of the view's setting.
#[derive(Clone, Debug)]
pub struct HadamardSwitch {
    mode: HadamardMode,
    packet_bytes: f64,
    /// Bytes lost above [`LOSS_ON`].
    excess_bytes: f64,
    /// The view's setting at the last collective.
    was_on: bool,
    /// Collectives in a row without much loss, while the setting was on.
    clean_ops: u32,
    /// How many it takes.
    enough_ops: u32,
}

impl HadamardSwitch {
    /// For a job with this mode, whose packets carry so many bytes.
    pub fn new(mode: HadamardMode, packet_bytes: usize) -> Self {
        Self {
            mode,
            packet_bytes: packet_bytes as f64,
            excess_bytes: 0.0,
            was_on: false,
            clean_ops: 0,
            enough_ops: CLEAN_OPS / 2,
        }
    }

    /// The setting to request after a collective in which so many bytes were expected, and these of them lost, if it differs from that of
    /// the newest view.
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

    /// After a collective of 20 000 packets, which is enough to judge by.
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
        // Of 200 packets each.
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
        // Nothing that was expected says nothing.
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

    /// Collectives that it takes with the setting on, the `lossy` first of them with loss.
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
            // Until the others agree it goes on asking, unless there is loss again.
            let asked = [0.0, LOSS_OFF, 0.006].map(|loss| observe(&mut switch, true, loss));
            assert_eq!(asked, [Some(false), Some(false), None]);
            expected = CLEAN_OPS_MAX.min(2 * expected);
        }
        assert_eq!(expected, CLEAN_OPS_MAX);
    }
}
