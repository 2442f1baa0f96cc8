//! Log lines about events that others may cause at any rate.
//!
//! Why: a stranger who connects in a loop must not fill a log. The first event is logged, later
//! ones are counted and summarised every [`EVERY`].

use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

const EVERY: Duration = Duration::from_secs(10);

/// Events of one kind.
#[derive(Debug)]
pub(crate) struct Rarely {
    what: &'static str,
    cure: &'static str,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    last: Option<Instant>,
    /// Since `last`.
    count: u64,
}

impl Rarely {
    /// `what` names the event, `cure` the remedy for an unintended one.
    pub const fn new(what: &'static str, cure: &'static str) -> Self {
        Self { what, cure, state: Mutex::new(State { last: None, count: 0 }) }
    }

    pub fn warn(&self, detail: impl fmt::Display) {
        if let Some(count) = self.due(Instant::now()) {
            let (what, cure) = (self.what, self.cure);
            match count {
                0 => tracing::warn!("{what}: {detail}; {cure}"),
                _ => tracing::warn!("{what}: {count} times in {} s or more, last: {detail}; {cure}", EVERY.as_secs()),
            }
        }
    }

    /// Counts an event. Returns the number of events if a summary is due, 0 for the first.
    fn due(&self, now: Instant) -> Option<u64> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let is_first = state.last.is_none();
        state.count += u64::from(!is_first);
        let is_due = state.last.is_none_or(|last| now.saturating_duration_since(last) >= EVERY);
        is_due.then(|| {
            state.last = Some(now);
            std::mem::take(&mut state.count)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_event_is_told_and_later_ones_every_ten_seconds() {
        let (rarely, begin) = (Rarely::new("an event", "do this"), Instant::now());
        let told: Vec<_> = (0..100_000).filter_map(|ms| rarely.due(begin + Duration::from_millis(ms))).collect();
        assert_eq!(told, [0, 10_000, 10_000, 10_000, 10_000, 10_000, 10_000, 10_000, 10_000, 10_000]);
    }
}
