//! Settings that the bootstrap compares among the ranks of a job.

use std::time::Duration;

use super::builder::{Bound, Builder, CardFallback, Early, Local};
use crate::control::Terms;

impl Builder {
    /// Terms that must be the same on all ranks.
    pub(super) fn settings(&self) -> Terms {
        // By name, so that a new setting cannot be forgotten here.
        let Self {
            launch: _,
            listener: _,
            // Ranks with different secrets fail before this comparison.
            secret: _,
            interface: _,
            mtu: _,
            // Ranks with and without a card share jobs.
            card: _,
            card_address: _,
            card_fallback,
            local,
            send_thread: _,
            timeout: _,
            bound,
            early,
            hadamard,
            bf16,
            incast,
            window_bytes,
            rate_control,
            silent_ops,
            repair,
            wait_for_repairs,
            agree,
            compared,
            ranks_here: _,
            silent: _,
        } = self;
        let or = |number: Option<String>, none: &str| number.unwrap_or_else(|| none.to_owned());
        // First, since other settings may follow from them.
        let own = compared.iter().fold(Terms::default(), |terms, (name, value)| terms.with(name, value));
        own.with(
            "bound",
            match bound {
                Bound::Fixed(bound) => format!("fixed at {} ms", ms(*bound)),
                Bound::Measured { max } => format!("measured, at most {} ms", ms(*max)),
            },
        )
        .with(
            "early",
            match early {
                Early::Off => "off".into(),
                Early::Grace(grace) => format!("after {} ms of silence", ms(*grace)),
                Early::Adaptive => "adaptive".into(),
            },
        )
        .with("card_fallback", card_fallback.unwrap_or(CardFallback::Off))
        .with("local", if *local == Some(Local::Off) { "off" } else { "auto" })
        .with("hadamard", hadamard)
        .with("bf16", bf16)
        .with("incast", or(incast.map(|incast| incast.to_string()), "adaptive"))
        .with("window_bytes", window_bytes)
        .with("rate_control", rate_control)
        .with("drop_silent_after", or(silent_ops.map(|ops| format!("{ops} collectives")), "never"))
        .with("repair", repair)
        .with("wait_for_repairs", wait_for_repairs)
        .with("agree", agree)
    }
}

fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}
