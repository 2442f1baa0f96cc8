//! Protocol tests in virtual time. They are one program, because each program is slow to link.
//!
//! Random jobs take their seeds from `SEEDS=from..to`. A failure names its seed, as in
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

fn seeds(default: Range<u64>) -> Range<u64> {
    let Ok(text) = std::env::var("SEEDS") else { return default };
    let (from, to) = text.split_once("..").expect("SEEDS=from..to");
    from.parse().expect("from")..to.parse().expect("to")
}
