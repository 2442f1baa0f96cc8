//! One direction between two hosts: loss and delay.
//!
//! Pure functions of the caller's clock, so that a seed repeats a network. Packets stay in order.
//! Rates and queues belong to the receiver's [port](crate::port).

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use rand_distr::{Distribution, Exp, LogNormal};

use crate::port::PortLimits;

const Z99: f64 = 2.326_347_874;

/// Faults of a network. Default: none.
#[derive(Clone, Copy, Debug, Default, PartialEq, clap::Args)]
pub struct Conditions {
    /// Share of packets that are lost, independently, 0 to 1
    #[arg(long, default_value_t = 0.0, value_parser = share)]
    pub loss: f64,
    /// Mean time between outages of a link, in milliseconds, exponential; 0 means none
    #[arg(long, default_value_t = 0.0, value_parser = milliseconds, requires = "outage_ms")]
    pub outage_gap_ms: f64,
    /// Mean length of an outage, in milliseconds, exponential
    #[arg(long, default_value_t = 0.0, value_parser = milliseconds, requires = "outage_gap_ms")]
    pub outage_ms: f64,
    /// Median one-way delay, in microseconds, lognormal; 0 leaves about 20 us of the relay
    #[arg(long, default_value_t = 0.0, value_parser = microseconds)]
    pub delay_us: f64,
    /// Ratio of the delay's P99 to its median, 1 to 1000
    #[arg(long, default_value_t = 1.0, value_parser = ratio)]
    pub delay_p99_over_p50: f64,
    /// Largest packet that is not lost silently, in bytes; 0 means unlimited
    #[arg(long, default_value_t = 0)]
    pub path_mtu: usize,
    /// Share of packets that are duplicated, 0 to 1
    #[arg(long, default_value_t = 0.0, value_parser = share)]
    pub replay: f64,
    /// Delay of a duplicate after the original, in milliseconds
    #[arg(long, default_value_t = 0.0, value_parser = milliseconds, requires = "replay")]
    pub replay_after_ms: f64,
    /// Share of duplicates with one overwritten place in the UDP payload, 0 to 1
    ///
    /// Their checksums are removed.
    #[arg(long, default_value_t = 0.0, value_parser = share, requires = "replay")]
    pub garble: f64,
    /// Time until a link draws another delay, in milliseconds; 0 draws one per packet
    #[arg(long, default_value_t = 0.0, value_parser = milliseconds)]
    pub delay_hold_ms: f64,
    /// Limits of the receiving ports.
    #[command(flatten)]
    pub port: PortLimits,
}

const TIME_MS_MAX: f64 = 3_600_000.0;

fn number(text: &str, fits: impl Fn(f64) -> bool, expected: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|value: &f64| value.is_finite() && fits(*value))
        .ok_or_else(|| format!("expected {expected}"))
}

fn share(text: &str) -> Result<f64, String> {
    number(text, |value| (0.0..=1.0).contains(&value), "a share from 0 to 1")
}

fn milliseconds(text: &str) -> Result<f64, String> {
    number(text, |value| (0.0..=TIME_MS_MAX).contains(&value), "0 to 3600000 milliseconds")
}

fn microseconds(text: &str) -> Result<f64, String> {
    number(text, |value| (0.0..=TIME_MS_MAX * 1e3).contains(&value), "0 to 3600000000 microseconds")
}

fn ratio(text: &str) -> Result<f64, String> {
    number(text, |value| (1.0..=1000.0).contains(&value), "a ratio from 1 to 1000")
}

/// One direction between two hosts.
#[derive(Debug)]
pub struct Link {
    conditions: Conditions,
    random: StdRng,
    /// Whether the link is out, and until when.
    outage: (bool, u64),
    delay_ns: u64,
    redraw_ns: u64,
    last_ns: u64,
}

impl Link {
    /// Creates a link; losses and delays follow from `seed`.
    pub fn new(conditions: Conditions, seed: u64) -> Self {
        let random = StdRng::seed_from_u64(seed);
        // An outage of length 0, so that the first call draws the time until the next outage.
        Self { conditions, random, outage: (true, 0), delay_ns: 0, redraw_ns: 0, last_ns: 0 }
    }

    /// Changes the conditions of later packets.
    pub fn change(&mut self, conditions: Conditions) {
        (self.conditions, self.outage, self.delay_ns, self.redraw_ns) = (conditions, (true, 0), 0, 0);
    }

    /// Draws a duplicate of a packet that arrives at `at_ns`: its arrival, and the place to
    /// overwrite as a share of its length.
    pub fn replay(&mut self, at_ns: u64) -> Option<(u64, Option<f64>)> {
        let Conditions { replay, replay_after_ms, garble, .. } = self.conditions;
        if replay == 0.0 || !self.random.random_bool(replay) {
            return None;
        }
        let place = (garble > 0.0 && self.random.random_bool(garble)).then(|| self.random.random());
        Some((at_ns.saturating_add((replay_after_ms * 1e6) as u64), place))
    }

    /// Arrival of a packet sent at `now_ns`, which must not decrease. `None`: lost.
    pub fn pass(&mut self, now_ns: u64, bytes: usize) -> Option<u64> {
        let Conditions { loss, outage_gap_ms, outage_ms, delay_us, path_mtu, .. } = self.conditions;
        let lost = loss > 0.0 && self.random.random_bool(loss) || path_mtu > 0 && bytes > path_mtu;
        if outage_gap_ms > 0.0 && outage_ms > 0.0 {
            while self.outage.1 <= now_ns {
                let (out, until) = self.outage;
                let mean_ms = if out { outage_gap_ms } else { outage_ms };
                let ms = Exp::new(1.0 / mean_ms).map_or(mean_ms, |times| times.sample(&mut self.random));
                self.outage = (!out, until.saturating_add((ms * 1e6) as u64).saturating_add(1));
            }
        }
        let out = self.outage.0 && self.outage.1 > 0;
        if lost || out {
            return None;
        }
        if delay_us > 0.0 && now_ns >= self.redraw_ns {
            self.delay_ns = (self.draw_delay_us() * 1e3) as u64;
            self.redraw_ns = now_ns + (self.conditions.delay_hold_ms * 1e6) as u64;
        }
        self.last_ns = self.last_ns.max(now_ns.saturating_add(self.delay_ns));
        Some(self.last_ns)
    }

    fn draw_delay_us(&mut self) -> f64 {
        let Conditions { delay_us, delay_p99_over_p50, .. } = self.conditions;
        let sigma = delay_p99_over_p50.ln() / Z99;
        LogNormal::new(delay_us.ln(), sigma).map_or(delay_us, |delays| delays.sample(&mut self.random))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKETS: u64 = 100_000;

    /// Arrivals of [`PACKETS`] packets, one every `every_ns`.
    fn arrivals(conditions: Conditions, seed: u64, every_ns: u64) -> Vec<Option<u64>> {
        let mut link = Link::new(conditions, seed);
        (0..PACKETS).map(|packet| link.pass(packet * every_ns, 1500)).collect()
    }

    #[test]
    fn times_that_no_clock_holds_are_refused() {
        for text in ["nan", "inf", "-inf", "1e300", "-1", "3600001", ""] {
            assert_eq!(milliseconds(text).unwrap_err(), "expected 0 to 3600000 milliseconds", "{text}");
        }
        assert!(microseconds("3.7e9").is_err() && microseconds("NaN").is_err() && ratio("inf").is_err());
        assert_eq!((milliseconds("3600000"), microseconds("3.6e9"), ratio("1")), (Ok(3.6e6), Ok(3.6e9), Ok(1.0)));
        // The longest delay, drawn from the widest distribution, must not overflow.
        let slow = Conditions {
            delay_us: 3.6e9,
            delay_p99_over_p50: 1000.0,
            outage_gap_ms: 3.6e6,
            outage_ms: 3.6e6,
            ..Conditions::default()
        };
        let mut link = Link::new(slow, 1);
        for _ in 0..1000 {
            link.pass(u64::MAX / 2, 1500);
        }
    }

    #[test]
    fn a_clean_link_passes_everything_at_once() {
        let arrived = arrivals(Conditions::default(), 1, 10);
        assert!(arrived.iter().enumerate().all(|(packet, at)| *at == Some(packet as u64 * 10)));
    }

    #[test]
    fn as_many_are_lost_as_was_asked_for() {
        let lost = |seed| arrivals(Conditions { loss: 0.01, ..Default::default() }, seed, 10);
        let count = |seed| lost(seed).iter().filter(|at| at.is_none()).count() as f64;
        let share = (0..10).map(count).sum::<f64>() / (10 * PACKETS) as f64;
        // Four standard deviations.
        assert!((share - 0.01).abs() < 4.0 * (0.01 * 0.99 / (10 * PACKETS) as f64).sqrt(), "{share}");
        assert_eq!(lost(2), lost(2), "a seed gives the same network again");
        assert_ne!(lost(2), lost(3));
    }

    #[test]
    fn what_is_too_large_never_gets_through() {
        let mut link = Link::new(Conditions { path_mtu: 1400, ..Default::default() }, 1);
        assert_eq!((link.pass(5, 1400), link.pass(6, 1401)), (Some(5), None));
    }

    #[test]
    fn outages_come_and_last_as_was_asked_for() {
        // A packet every 100 us, 10 s in all: 100 ms between outages of 10 ms.
        let conditions = Conditions { outage_gap_ms: 100.0, outage_ms: 10.0, ..Default::default() };
        let arrived = arrivals(conditions, 4, 100_000);
        assert!(arrived[0].is_some(), "the first packet arrives");
        let out = arrived.iter().filter(|at| at.is_none()).count() as f64 / PACKETS as f64;
        assert!((0.06..0.12).contains(&out), "out for {out} of the time, expected 1 / 11");
        let begins = arrived.windows(2).filter(|pair| pair[0].is_some() && pair[1].is_none()).count();
        assert!((60..120).contains(&begins), "{begins} outages in 10 s, expected 91");
    }

    #[test]
    fn delays_have_the_percentiles_asked_for_and_stay_in_order() {
        let conditions = Conditions { delay_us: 500.0, delay_p99_over_p50: 3.0, ..Default::default() };
        // Far enough apart that no packet waits for the previous one.
        let arrived = arrivals(conditions, 5, 1_000_000_000);
        let mut delays: Vec<u64> =
            arrived.iter().enumerate().map(|(packet, at)| at.unwrap() - packet as u64 * 1_000_000_000).collect();
        delays.sort_unstable();
        let [p50, p99] = [50, 99].map(|percent| delays[delays.len() * percent / 100] as f64 / 1e3);
        assert!((490.0..510.0).contains(&p50) && (1420.0..1580.0).contains(&p99), "{p50} {p99}");
        let close = arrivals(conditions, 5, 1000);
        assert!(close.windows(2).all(|pair| pair[0] <= pair[1]), "overtaken");
    }

    #[test]
    fn packets_are_replayed_and_overwritten_as_asked_for() {
        let conditions = Conditions { replay: 0.5, replay_after_ms: 3.0, garble: 0.5, ..Default::default() };
        let mut link = Link::new(conditions, 7);
        let again: Vec<_> = (0..PACKETS).filter_map(|_| link.replay(10)).collect();
        let garbled: Vec<f64> = again.iter().filter_map(|(_, place)| *place).collect();
        assert!((49_000..51_000).contains(&again.len()) && again.iter().all(|(at, _)| *at == 3_000_010));
        assert!((24_000..26_000).contains(&garbled.len()) && garbled.iter().all(|place| (0.0..1.0).contains(place)));
        link.change(Conditions::default());
        assert_eq!(link.replay(10), None);
    }

    #[test]
    fn a_link_that_is_changed_is_as_a_new_one() {
        let mut link = Link::new(Conditions { loss: 1.0, ..Default::default() }, 8);
        assert_eq!(link.pass(5, 1500), None);
        link.change(Conditions { path_mtu: 1000, ..Default::default() });
        assert_eq!((link.pass(6, 1500), link.pass(7, 1000)), (None, Some(7)));
        // Earlier outages have no effect on the new conditions.
        link.change(Conditions { outage_gap_ms: 1e-3, outage_ms: 1e6, ..Default::default() });
        assert!((1..100).any(|ms| link.pass(ms * 1_000_000, 100).is_none()), "it is out");
        link.change(Conditions::default());
        assert_eq!(link.pass(200_000_000, 1500), Some(200_000_000));
    }

    #[test]
    fn a_held_delay_is_drawn_again_after_its_time() {
        let conditions =
            Conditions { delay_us: 500.0, delay_p99_over_p50: 3.0, delay_hold_ms: 10.0, ..Default::default() };
        let arrived = arrivals(conditions, 6, 1_000_000);
        let delay = |packet: usize| arrived[packet].unwrap() - packet as u64 * 1_000_000;
        assert!((0..100).all(|ten| (1..10).all(|at| delay(10 * ten + at) == delay(10 * ten))));
        assert!((0..100).any(|ten| delay(10 * ten) != delay(10 * ten + 10)));
    }
}
