//! The protocol in virtual time. One program, since each costs seconds to link.
//!
//! Tests of random jobs take their seeds from `SEEDS=from..to`; one that fails names its seed:
//! `SEEDS=7..8 cargo test -p optireduce-core --test suite software`.

mod all_reduce;
mod bound;
mod collectives;
mod group_averages;
mod members;
mod membership;
mod one_window;
mod outages;
mod partial_collectives;
mod partial_job;
mod partial_reduce;
mod replicas;
mod serial_numbers;
mod slow_senders;
mod software;
mod thousand_ranks;
mod tracing;
mod two_levels;
mod virtual_network;

use std::ops::Range;

/// The seeds to try: of the environment, or the default.
fn seeds(default: Range<u64>) -> Range<u64> {
    let Ok(text) = std::env::var("SEEDS") else { return default };
    let (from, to) = text.split_once("..").expect("SEEDS=from..to");
    from.parse().expect("from")..to.parse().expect("to")
}
