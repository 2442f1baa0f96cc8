//! When all-reduces are Hadamard-encoded.
//!
//! Why: the transform makes the error independent of where losses fall, and costs time; it is worth it once losses are
//! real. All ranks must encode the same collectives, since packets of the other kind are dropped: so it is a setting
//! of the view ([`Settings::hadamard`](super::membership::Settings)), which any rank that sees the loss requests, and which ends
//! when all ranks have seen none for a while. Each time the loss comes back, they wait twice as long.
//! Source: OptiReduce 3.2.1 (2 %). The agreement and the way back are ours.

use std::fmt;

/// Loss of a collective above which a rank requests that all-reduces be encoded.
pub const LOSS_ON: f64 = 0.02;
/// Loss of a collective up to which it counts towards the way back.
pub const LOSS_OFF: f64 = 0.005;
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
    /// Encode once the loss has exceeded 2 %, until there has been next to none for a while.
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
    /// The view's setting at the last collective.
    was_on: bool,
    /// Collectives in a row without much loss, while the setting was on.
    clean_ops: u32,
    /// How many it takes.
    enough_ops: u32,
}

impl HadamardSwitch {
    /// For a job with this mode.
    pub fn new(mode: HadamardMode) -> Self {
        Self { mode, was_on: false, clean_ops: 0, enough_ops: CLEAN_OPS / 2 }
    }

    /// The setting to request after a collective with this loss (0 to 1), if it differs from that of the newest view.
    pub fn observe(&mut self, of_view: bool, loss: f64) -> Option<bool> {
        if self.mode != HadamardMode::Auto {
            return None;
        }
        if of_view && !self.was_on {
            self.enough_ops = (2 * self.enough_ops).min(CLEAN_OPS_MAX);
        }
        self.was_on = of_view;
        self.clean_ops = if of_view && loss <= LOSS_OFF { self.clean_ops.saturating_add(1) } else { 0 };
        if of_view { (self.clean_ops >= self.enough_ops).then_some(false) } else { (loss > LOSS_ON).then_some(true) }
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

    #[test]
    fn auto_follows_the_view_and_requests_it_above_two_percent_of_loss() {
        assert_eq!([false, true].map(|of_view| HadamardMode::Auto.is_on(of_view)), [false, true]);
        let request = |of_view, loss| HadamardSwitch::new(HadamardMode::Auto).observe(of_view, loss);
        assert_eq!([request(false, 0.02), request(false, 0.021), request(true, 0.5)], [None, Some(true), None]);
    }

    #[test]
    fn fixed_modes_ask_for_nothing_and_do_not_follow_the_view() {
        for (mode, on) in [(HadamardMode::Off, false), (HadamardMode::On, true)] {
            let mut switch = HadamardSwitch::new(mode);
            for (of_view, loss) in [(false, 1.0), (true, 1.0)].into_iter().chain([(true, 0.0); 1000]) {
                assert_eq!((mode.is_on(of_view), switch.observe(of_view, loss)), (on, None));
            }
        }
    }

    /// Collectives that it takes with the setting on, the `lossy` first of them with loss.
    fn ops_until_off(switch: &mut HadamardSwitch, lossy: u32) -> u32 {
        let loss = |op| if op <= lossy { LOSS_OFF + 0.001 } else { LOSS_OFF };
        (1..).find(|op| switch.observe(true, loss(*op)) == Some(false)).unwrap()
    }

    #[test]
    fn the_way_back_takes_clean_collectives_in_a_row_and_twice_as_many_each_time() {
        let mut switch = HadamardSwitch::new(HadamardMode::Auto);
        let mut expected = CLEAN_OPS;
        for turn in 0..9 {
            assert_eq!(switch.observe(false, 0.03), Some(true));
            assert_eq!(ops_until_off(&mut switch, 70), 70 + expected, "turn {turn}");
            // Until the others agree it goes on asking, unless there is loss again.
            assert_eq!([0.0, LOSS_OFF, 0.006].map(|loss| switch.observe(true, loss)), [Some(false), Some(false), None]);
            expected = CLEAN_OPS_MAX.min(2 * expected);
        }
        assert_eq!(expected, CLEAN_OPS_MAX);
    }
}
