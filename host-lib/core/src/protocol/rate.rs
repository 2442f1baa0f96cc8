//! Delay-based rate control towards one peer, as in TIMELY.
//!
//! RTTs show growing queues. Each answer of the receiver is one step of the sender's rate. Below
//! 25 us the rate rises by 50 Mb/s; above 250 us it falls by the factor 1 - 0.5 (1 - 250 us / RTT).
//! In between, the gradient of the RTT decides.
//!
//! Source: OptiReduce 3.2.3 (thresholds, step, 0.5); TIMELY (SIGCOMM'15, algorithm 1) for the
//! gradient, without its faster increase after five good answers. The normalisation by 25 us and
//! the smoothing weight of 0.875 are ours.

/// Packets per answer of the paper's receiver. The software data plane's answers by other rules.
pub const FEEDBACK_PACKETS: u32 = 10;
/// RTT below which the rate rises.
const RTT_LOW_NS: f64 = 25_000.0;
/// RTT above which the rate falls, whatever the gradient.
const RTT_HIGH_NS: f64 = 250_000.0;
const STEP_BYTES_PER_US: f64 = 6.25;
const BETA: f64 = 0.5;
/// Weight of the newest RTT difference.
const ALPHA: f64 = 0.875;

/// Send rate towards one peer, in bytes per us.
#[derive(Clone, Debug)]
pub struct RateController {
    min: f64,
    max: f64,
    rate: f64,
    rtt_ns: Option<f64>,
    gradient_ns: f64,
}

impl RateController {
    /// Creates a controller that starts at its ceiling `max`. Both limits are in bytes per us;
    /// invalid ones count as the nearest valid ones.
    pub fn new(min: f64, max: f64) -> Self {
        let max = max.max(f64::MIN_POSITIVE);
        Self { min: min.max(f64::MIN_POSITIVE).min(max), max, rate: max, rtt_ns: None, gradient_ns: 0.0 }
    }

    /// Raises the floor to `min` bytes per us, but not above the ceiling.
    pub fn raise_floor(&mut self, min: f64) {
        self.min = self.min.max(min).min(self.max);
        self.rate = self.rate.max(self.min);
    }

    /// The rate in bytes per us.
    pub fn rate_bytes_per_us(&self) -> f64 {
        self.rate
    }

    /// Adapts the rate to the RTT of one answer.
    pub fn observe_rtt(&mut self, rtt_ns: u64) {
        let rtt_ns = rtt_ns as f64;
        let difference = rtt_ns - self.rtt_ns.unwrap_or(rtt_ns);
        self.rtt_ns = Some(rtt_ns);
        self.gradient_ns = (1.0 - ALPHA) * self.gradient_ns + ALPHA * difference;
        let rate = if rtt_ns > RTT_HIGH_NS {
            self.rate * (1.0 - BETA * (1.0 - RTT_HIGH_NS / rtt_ns))
        } else if rtt_ns < RTT_LOW_NS || self.gradient_ns <= 0.0 {
            self.rate + STEP_BYTES_PER_US
        } else {
            self.rate * (1.0 - BETA * (self.gradient_ns / RTT_LOW_NS).min(1.0))
        };
        self.rate = rate.clamp(self.min, self.max);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use optireduce_contract::signs::splitmix64;

    /// Rates after each RTT in us, starting from 1000 bytes per us.
    fn steps<const N: usize>(rtts_us: [u64; N]) -> [f64; N] {
        let mut control = RateController::new(6.25, 12_500.0);
        control.rate = 1000.0;
        rtts_us.map(|rtt_us| {
            control.observe_rtt(rtt_us * 1000);
            control.rate_bytes_per_us()
        })
    }

    #[test]
    fn timely_steps_of_the_paper() {
        // OptiReduce 3.2.3: 50 Mb/s more below 25 us; RTT 500 us: x0.75; 1000 us: x0.625.
        assert_eq!(steps([24, 0]), [1006.25, 1012.5]);
        assert_eq!(steps([500]), [750.0]);
        assert_eq!(steps([1000]), [625.0]);
        assert_eq!(steps([500, 500, 20]), [750.0, 562.5, 568.75]);
    }

    #[test]
    fn between_the_thresholds_the_gradient_decides() {
        // 25 us and 250 us belong to the middle; the first answer has no gradient: increase.
        assert_eq!(steps([25]), [1006.25]);
        assert_eq!(steps([250, 250]), [1006.25, 1012.5]);
        // +8 us: smoothed 7 us, 0.28 of 25 us: x(1 - 0.14).
        assert_eq!(steps([100, 108]), [1006.25, 1006.25 * (1.0 - 0.5 * 0.28)]);
        // Then level: an eighth of the gradient stays, 0.875 us: x(1 - 0.0175). Then falling:
        // increase.
        let [_, second, third, fourth] = steps([100, 108, 108, 100]);
        assert!((third / second - (1.0 - 0.0175)).abs() < 1e-12, "{}", third / second);
        assert_eq!(fourth, third + 6.25);
        // However steep the gradient, a step at most halves the rate.
        assert_eq!(steps([30, 240]), [1006.25, 503.125]);
    }

    #[test]
    fn a_queue_that_builds_up_and_drains_lets_the_rate_come_back() {
        // One sender on a link of 1250 bytes per us with 20 us of propagation.
        let (mut control, mut queue_bytes) = (RateController::new(6.25, 12_500.0), 0.0f64);
        let (mut sent, steps) = (0.0, 20_000);
        for step in 0..steps {
            let rtt_us = 20.0 + queue_bytes / 1250.0;
            control.observe_rtt((rtt_us * 1000.0) as u64);
            queue_bytes = (queue_bytes + (control.rate_bytes_per_us() - 1250.0) * 20.0).max(0.0);
            if step >= steps / 2 {
                sent += control.rate_bytes_per_us();
                assert!(rtt_us < 500.0, "step {step}: RTT {rtt_us} us");
            }
        }
        let mean = sent / f64::from(steps / 2);
        assert!((1000.0..1300.0).contains(&mean), "mean rate {mean} bytes per us on a link of 1250");
    }

    #[test]
    fn the_floor_only_rises_and_never_above_the_ceiling() {
        let mut control = RateController::new(6.25, 1000.0);
        let slowest = |control: &mut RateController| {
            (0..100).for_each(|_| control.observe_rtt(10_000_000));
            control.rate_bytes_per_us()
        };
        assert_eq!(slowest(&mut control), 6.25);
        control.raise_floor(80.0);
        assert_eq!(control.rate_bytes_per_us(), 80.0, "without another answer");
        control.raise_floor(40.0);
        assert_eq!(slowest(&mut control), 80.0);
        control.raise_floor(2000.0);
        assert_eq!(slowest(&mut control), 1000.0);
    }

    #[test]
    fn whatever_the_answers_the_rate_stays_between_floor_and_ceiling() {
        for seed in 0..300u64 {
            let draw = |turn: u64| splitmix64(seed << 32 | turn);
            let mut control = RateController::new(6.25, 6.25 + (draw(0) % 12_500) as f64);
            for turn in 1..500 {
                control.observe_rtt([draw(turn) % 50_000, draw(turn) % 1_000_000, draw(turn)][turn as usize % 3]);
                let rate = control.rate_bytes_per_us();
                assert!((control.min..=control.max).contains(&rate), "seed {seed}, turn {turn}: {rate}");
            }
        }
        for (min, max) in [(0.0, 0.0), (f64::NAN, 5.0), (9.0, 5.0), (5.0, f64::NAN), (-1.0, -1.0)] {
            let mut control = RateController::new(min, max);
            control.observe_rtt(u64::MAX);
            assert!(control.rate_bytes_per_us() > 0.0, "{min} to {max}");
        }
    }
}
