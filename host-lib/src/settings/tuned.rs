//! Parameters for tests and studies. The library finds better values than a job can.

use std::time::Duration;

use super::{SettingError, Settings};
use optireduce_contract::limits::BEAT_BYTES;
use optireduce_core::protocol::INCAST_MAX;

const WINDOW_BYTES_MAX: usize = 1 << 20;

/// Use of a separate thread to send large batches, unless shared memory reaches all ranks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SendThread {
    /// With four or more cores per rank.
    #[default]
    Auto,
    /// With any number of cores. Fewer than four per rank make large buckets slower.
    On,
    /// Never.
    Off,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Tuned {
    pub incast: Option<usize>,
    pub rate_control: bool,
    pub send_thread: SendThread,
    pub grace: Option<Duration>,
    window_bytes: Option<usize>,
}

impl Tuned {
    pub fn window_bytes(&self) -> usize {
        self.window_bytes.unwrap_or(WINDOW_BYTES_MAX)
    }

    pub fn check(&self) -> Result<(), SettingError> {
        let fail =
            |setting, found: usize, expected| Err(SettingError::Value { setting, found: found.to_string(), expected });
        if let Some(incast) = self.incast.filter(|incast| !(1..=INCAST_MAX).contains(&(*incast as u64))) {
            return fail("incast", incast, format!("1 to {INCAST_MAX}"));
        }
        let bytes = self.window_bytes();
        if !bytes.is_multiple_of(BEAT_BYTES) || !(BEAT_BYTES..=WINDOW_BYTES_MAX).contains(&bytes) {
            let expected = format!("a multiple of {BEAT_BYTES} up to {WINDOW_BYTES_MAX}");
            return fail("window_bytes", bytes, expected);
        }
        Ok(())
    }

    /// Terms that must be the same on all ranks, if they are not the default.
    pub fn terms(&self) -> impl Iterator<Item = (&'static str, String)> {
        let terms = [
            ("incast", self.incast.map(|incast| incast.to_string())),
            ("window_bytes", self.window_bytes.map(|bytes| bytes.to_string())),
            ("rate_control", self.rate_control.then(|| "on".into())),
            ("grace_ms", self.grace.map(|grace| (grace.as_nanos() as f64 / 1e6).to_string())),
        ];
        terms.into_iter().filter_map(|(name, value)| Some((name, value?)))
    }
}

/// Parameters beside the [settings](Settings).
pub trait Tuning: Sized {
    /// Sets the number of peers that a rank sends to at a time, 1 to 15. Default: follows the loss
    /// at the receivers (OptiReduce 3.2.2).
    fn incast(self, incast: usize) -> Self;

    /// Sets the largest window in bytes of fp32, a multiple of 64 up to 1 MiB. Default: 1 MiB.
    /// Cards may limit it further.
    fn window_bytes(self, window_bytes: usize) -> Self;

    /// Sets whether each peer is paced by its RTT (OptiReduce 3.2.3), in addition to congestion
    /// control by ECN marks and losses. Default: no, since most of a host's RTT is waiting for the
    /// CPU. Applies between ranks without a card only.
    fn rate_control(self, rate_control: bool) -> Self;

    /// Sets the use of a send thread. Default: [`SendThread::Auto`].
    fn send_thread(self, send_thread: SendThread) -> Self;

    /// Sets a fixed grace time, at most t_B: the silence after which a stage closes before its
    /// bound. Default: as [`early`](Settings::early).
    fn grace(self, grace: Duration) -> Self;
}

impl Tuning for Settings {
    fn incast(mut self, incast: usize) -> Self {
        self.tuned.incast = Some(incast);
        self
    }

    fn window_bytes(mut self, window_bytes: usize) -> Self {
        self.tuned.window_bytes = Some(window_bytes);
        self
    }

    fn rate_control(mut self, rate_control: bool) -> Self {
        self.tuned.rate_control = rate_control;
        self
    }

    fn send_thread(mut self, send_thread: SendThread) -> Self {
        self.tuned.send_thread = send_thread;
        self
    }

    fn grace(mut self, grace: Duration) -> Self {
        self.tuned.grace = Some(grace);
        self
    }
}
