//! `selftest`: checks that a card follows the contract.
//!
//! The card is rank 0 of a two-rank job whose other rank is absent, so a stage that expects data
//! ends at its deadline. The contract then defines every bit of the results: the card's own shard
//! is the mean of one contribution, the absent rank's shard is zero.
//!
//! With a loopback the absent rank has the card's own addresses. Every packet returns, passes all
//! checks below UBT, and is dropped because its sender is this rank.
//!
//! Limits: no packets from other ranks, so sums of several ranks, early closes, duplicates, the
//! Hadamard transform and bf16 are not tested.

mod problem;
mod queues;
mod random;
mod registers;
mod report;
#[cfg(test)]
pub mod testing;
#[cfg(test)]
mod tests;
pub mod windows;

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::time::Duration;

use optireduce_contract::limits::{BEAT_BYTES, PAYLOAD_BEATS_DEFAULT, WINDOW_BEATS_LIMIT};
use optireduce_contract::packet::{Endpoint, UDP_PORT_DEFAULT};
use optireduce_contract::pci::{CLASS, DEVICE_ID, VENDOR_ID};
use optireduce_contract::queue::{Completion, Submission};
use optireduce_contract::registers::{self as reg, Access, CONTROL_ENABLE, Register};
use optireduce_driver::{Bus, DriverError, JobConfig, Nic, PciId, RING_LOG2_MIN};

use crate::args::SelftestArgs;
use crate::card::open;
use crate::outcome::{Failure, print};
use crate::registers::all;
use problem::{Problem, equal};
use random::Random;
use report::{Figures, Report, Steps};

/// Address of the absent rank, reserved for documentation (RFC 5737).
const ABSENT: [u8; 4] = [192, 0, 2, 1];
/// Address of a card that has none, in the same network.
const UNKNOWN: [u8; 4] = [192, 0, 2, 2];
/// Timeout of operations without a deadline, for simulators that may be off the CPU.
const PATIENCE: Duration = if cfg!(test) { Duration::from_millis(300) } else { Duration::from_secs(5) };
/// Memory for gradient and result of the largest window of any card, with guard areas.
pub const DMA_BYTES: usize = 2 * WINDOW_BEATS_LIMIT * BEAT_BYTES + (1 << 18);

pub fn run(args: &SelftestArgs) -> Result<(), Failure> {
    // A hasher's seed is the only random number in the standard library.
    let seed = args.seed.unwrap_or_else(|| RandomState::new().hash_one(()) >> 32);
    let bus = open(args.card.card.as_deref(), DMA_BYTES)?;
    let id = bus.id();
    let settings = Settings { seed, bound_ns: args.bound_ms * 1_000_000, loopback: args.loopback };
    let report = test_with(bus, Some(id), &settings, |bus| bus.reset());
    print(args.card.json, &report, || report.describe())?;
    match report.problem() {
        None => Ok(()),
        Some(problem) => Err(Failure::check(problem)),
    }
}

pub struct Settings {
    seed: u64,
    bound_ns: u32,
    /// True if the card receives its own packets.
    loopback: bool,
}

/// Runs all steps. After a failed step, only the step that leaves the card idle runs. `reset` is a
/// function-level reset.
fn test_with<B: Bus>(
    bus: B,
    id: Option<PciId>,
    settings: &Settings,
    reset: impl Fn(&B) -> Result<(), DriverError>,
) -> Report {
    let mut steps = Steps::new(bus.name(), settings.seed);
    let mut random = Random::new(settings.seed);
    let mut opened = None;
    steps.run("identity", |figures| {
        opened = Some(identify(bus, id, figures)?);
        Ok(())
    });
    let Some(mut nic) = opened else { return steps.end() };
    steps.run("registers", |figures| {
        let checked = registers::check(nic.bus(), nic.limits().queues, figures);
        or_gone(&nic, checked)
    });
    steps.run("queues", |figures| {
        let checked = queues::check(&mut nic, figures);
        or_gone(&nic, checked)
    });
    steps.run("windows", |figures| {
        let checked = windows::check(&mut nic, &mut random, settings, figures);
        or_gone(&nic, checked)
    });
    let is_there = nic.check_alive().is_ok();
    let idle = |_: &mut Figures| {
        let checked = leave_idle(&mut nic, reset);
        or_gone(&nic, checked)
    };
    // A card that has left is an error of this step only if no step has failed.
    if is_there {
        steps.always("idle", idle);
    } else {
        steps.run("idle", idle);
    }
    steps.end()
}

/// Replaces a problem by the card's absence, which makes its registers read as ones.
fn or_gone<B: Bus>(nic: &Nic<B>, checked: Result<(), Problem>) -> Result<(), Problem> {
    checked.or_else(|problem| {
        nic.check_alive()?;
        Err(problem)
    })
}

fn identify<B: Bus>(bus: B, id: Option<PciId>, figures: &mut Figures) -> Result<Nic<B>, Problem> {
    if let Some(PciId { vendor, device, class }) = id {
        let advice = "Check the address, and the shell that the card was programmed with.";
        equal("the PCI vendor", vendor, VENDOR_ID, advice)?;
        equal("the PCI device", device, DEVICE_ID, advice)?;
        equal("the PCI class", class, CLASS, advice)?;
    }
    let nic = Nic::open(bus)?;
    figures.push(("contract_version", nic.bus().read(&reg::CONTRACT).into()));
    figures.push(("build", nic.limits().build.into()));
    Ok(nic)
}

/// Disables and resets the card, and checks that errors, counters and queue indices are cleared.
fn leave_idle<B: Bus>(nic: &mut Nic<B>, reset: impl Fn(&B) -> Result<(), DriverError>) -> Result<(), Problem> {
    nic.disable()?;
    reset(nic.bus())?;
    nic.bus().flush()?;
    let advice = "A reset must restore this register's power-on value.";
    let is_state = |register: &Register| {
        register.access == Access::ReadOnly
            && register.offset >= reg::STATUS.offset
            && register.is_reset_with_the_card()
    };
    for register in all(nic.limits().queues).filter(is_state) {
        equal(registers::name(&register), nic.bus().read(&register), register.reset, advice)?;
    }
    equal("CONTROL", nic.bus().read(&reg::CONTROL) & CONTROL_ENABLE, 0, advice)?;
    Ok(nic.check_alive()?)
}

/// Job with the smallest rings, so that they wrap often.
pub fn job<B: Bus>(nic: &Nic<B>, queue: usize) -> Result<JobConfig, DriverError> {
    let place = nic.network_address()?;
    let own = place.map_or(Endpoint::of_ip(UNKNOWN), |place| place.endpoint);
    Ok(JobConfig {
        rank: 0,
        ranks: 2,
        job_tag: 0x7365_6c66_7465_7374,
        payload_beats: nic.limits().payload_beats_max.min(PAYLOAD_BEATS_DEFAULT),
        udp_port: place.map_or(UDP_PORT_DEFAULT, |place| place.udp_port),
        endpoints: vec![own, Endpoint::of_ip(ABSENT)],
        rates_bytes_per_us: Vec::new(),
        queue,
        ring_log2: RING_LOG2_MIN,
    })
}

fn submit<B: Bus>(
    nic: &mut Nic<B>,
    commands: &[Submission],
    completions: usize,
    timeout: Duration,
) -> Result<Vec<Completion>, DriverError> {
    for command in commands {
        nic.submit(command)?;
    }
    nic.ring_doorbell()?;
    (0..completions).map(|_| nic.wait_completion(timeout)).collect()
}
