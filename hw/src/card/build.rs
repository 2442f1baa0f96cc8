//! Build parameters of a card.

use crate::hdl::prelude::*;
use optireduce_contract::limits::{
    HADAMARD_LOG2_LIMIT, HADAMARD_LOG2_MAX, HADAMARD_LOG2_MIN, WINDOW_BEATS, WINDOW_BEATS_LIMIT,
};

/// Build parameters, which the driver reads from registers. The default is the simulated card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Build {
    /// log2 of the largest window in beats, 7 to 14. Simulation and `bitstreams` use 10 (64 KiB).
    pub window_log2: u32,
    /// log2 of the largest Hadamard block in elements: 8, 10, 12 or 14, at most a window.
    pub hadamard_log2: u32,
}

impl Default for Build {
    fn default() -> Self {
        Self { window_log2: WINDOW_BEATS.ilog2(), hadamard_log2: HADAMARD_LOG2_MAX }
    }
}

impl Build {
    /// Largest build, for boards with UltraRAM. No shell of `bitstreams` uses it yet.
    pub const BOARD: Self = Self { window_log2: 14, hadamard_log2: 14 };

    /// Checks that the parameters are compatible.
    ///
    /// # Errors
    /// Names the incompatible parameter and its possible values.
    pub fn check(self) -> Result<(), String> {
        let Self { window_log2, hadamard_log2 } = self;
        // A scrub walks half a window in `reduce` and clears the counters of 64 ranks on the way.
        if window_log2 < 7 || window_log2 > WINDOW_BEATS_LIMIT.ilog2() {
            let most = WINDOW_BEATS_LIMIT.ilog2();
            return Err(format!("window-log2 is {window_log2} (beats of 64 bytes), expected 7 to {most}"));
        }
        let most = HADAMARD_LOG2_LIMIT.min(window_log2 + 4);
        if !hadamard_log2.is_multiple_of(2) || !(HADAMARD_LOG2_MIN..=most).contains(&hadamard_log2) {
            return Err(format!(
                "hadamard-log2 is {hadamard_log2} (elements), expected an even number from {HADAMARD_LOG2_MIN} to {most}: \
                 a block must fit into a window of 2^{window_log2} beats"
            ));
        }
        Ok(())
    }

    /// # Panics
    /// If the parameters are not compatible.
    pub fn checked(self) -> Self {
        self.check().unwrap_or_else(|error| panic!("{error}"));
        self
    }
}

#[derive(LogicBlock)]
pub struct BuildWords {
    pub window_beats: Signal<Out, W<15>>,
    pub log2_n_max: Signal<Out, W<4>>,
    beats: Constant<W<15>>,
    log2_n: Constant<W<4>>,
}

impl BuildWords {
    pub fn new(build: Build) -> Self {
        Self {
            window_beats: Signal::default(),
            log2_n_max: Signal::default(),
            beats: Constant::new(bits_w(1 << build.window_log2)),
            log2_n: Constant::new(bits_w(u64::from(build.hadamard_log2))),
        }
    }
}

impl Default for BuildWords {
    fn default() -> Self {
        Self::new(Build::default())
    }
}

impl Logic for BuildWords {
    #[hdl_gen]
    fn update(&mut self) {
        self.window_beats.next = self.beats.val();
        self.log2_n_max.next = self.log2_n.val();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_that_does_not_go_together_is_refused_with_what_does() {
        let check = |window_log2, hadamard_log2| Build { window_log2, hadamard_log2 }.check();
        for (window_log2, hadamard_log2) in [(7, 8), (8, 10), (8, 12), (10, 14), (14, 14)] {
            assert_eq!(check(window_log2, hadamard_log2), Ok(()));
        }
        let refused = |window_log2, hadamard_log2| check(window_log2, hadamard_log2).expect_err("it cannot be built");
        assert_eq!(refused(6, 8), "window-log2 is 6 (beats of 64 bytes), expected 7 to 14");
        assert_eq!(refused(15, 8), "window-log2 is 15 (beats of 64 bytes), expected 7 to 14");
        for (window_log2, hadamard_log2, range) in
            [(10, 9, "8 to 14"), (10, 6, "8 to 14"), (7, 12, "8 to 11"), (14, 16, "8 to 14")]
        {
            let error = refused(window_log2, hadamard_log2);
            assert!(error.contains(&format!("hadamard-log2 is {hadamard_log2} ")) && error.contains(range), "{error}");
        }
    }
}
