//! When all-reduces are Hadamard-encoded.
//!
//! Why: the transform makes the error independent of where losses fall, and costs time; it is worth it once losses are
//! real. All ranks must encode the same collectives, since packets of the other kind are dropped: so it is a setting
//! of the view ([`Settings::hadamard`](super::membership::Settings)), which a rank that sees the loss requests.
//! Limits: nobody requests to switch back.
//! Source: OptiReduce 3.2.1 (2 %). The agreement is ours.

use std::fmt;

/// Loss of a collective above which a rank requests that all-reduces be encoded.
pub const LOSS_ON: f64 = 0.02;

/// Who decides whether all-reduces are encoded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum HadamardMode {
    /// Never encode.
    Off,
    /// Always encode.
    On,
    /// Encode once the loss has exceeded 2 %.
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

    /// The setting to request after a collective with this loss (0 to 1), if it differs from that of the view.
    pub fn request(self, of_view: bool, loss: f64) -> Option<bool> {
        (self == Self::Auto && !of_view && loss > LOSS_ON).then_some(true)
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
        let request = |of_view, loss| HadamardMode::Auto.request(of_view, loss);
        assert_eq!([request(false, 0.02), request(false, 0.021), request(true, 0.5)], [None, Some(true), None]);
    }

    #[test]
    fn fixed_modes_ask_for_nothing_and_do_not_follow_the_view() {
        for (mode, on) in [(HadamardMode::Off, false), (HadamardMode::On, true)] {
            for of_view in [false, true] {
                assert_eq!((mode.is_on(of_view), mode.request(of_view, 1.0)), (on, None));
            }
        }
    }
}
