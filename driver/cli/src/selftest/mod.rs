//! `selftest`: whether a card does what the contract says.
//!
//! How: the card is rank 0 of a job of two whose other rank is absent. So every stage ends at its deadline, and the contract says which bits
//! the results have: a beat of the card's own shard is the mean of one contribution, any other beat is zero.
//! With a loopback the absent rank has the card's own addresses: every packet comes back, passes all checks of what stands below UBT, and is
//! dropped for its sender alone, which is this rank itself.
//! Limits: nothing arrives from other ranks, so sums of several ranks, early closes and duplicates are not tested, nor are the Hadamard
//! transform and bf16.

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

/// The rank that is not there: an address for documentation, which no host has (RFC 5737).
const ABSENT: [u8; 4] = [192, 0, 2, 1];
/// The card's own address if it knows none; from the same network.
const UNKNOWN: [u8; 4] = [192, 0, 2, 2];
/// How long a card may take for what has no deadline of its own. Its process may be off the CPU.
const PATIENCE: Duration = if cfg!(test) { Duration::from_millis(300) } else { Duration::from_secs(5) };
/// DMA memory: a gradient and a result as long as the largest window of any card, and room around them.
pub const DMA_BYTES: usize = 2 * WINDOW_BEATS_LIMIT * BEAT_BYTES + (1 << 18);

/// Tests the card that the arguments name.
///
/// # Errors
/// If it cannot be opened, and if a step fails.
pub fn run(args: &SelftestArgs) -> Result<(), Failure> {
    // The numbers of the standard library's hash maps are the only random ones that it has.
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

/// How a card is tested.
pub struct Settings {
    /// What random values follow from.
    seed: u64,
    /// On a stage of a window.
    bound_ns: u32,
    /// What the card sends comes back to it.
    loopback: bool,
}

/// Tests the card on `bus`, step by step; after one that fails, the rest is left out, but the card is left idle.
/// `reset`: a function-level reset.
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
    // Whatever has failed, unless nobody is there to listen; and if nothing has, that is to be told.
    if is_there {
        steps.always("idle", idle);
    } else {
        steps.run("idle", idle);
    }
    steps.end()
}

/// What a step found; but if the card has gone meanwhile, that, since its registers then read as ones.
fn or_gone<B: Bus>(nic: &Nic<B>, checked: Result<(), Problem>) -> Result<(), Problem> {
    checked.or_else(|problem| {
        nic.check_alive()?;
        Err(problem)
    })
}

/// It is a card of ours, and it hears what is written.
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

/// Disables the card and resets it: no error, no counter and no index of a queue is left. What the host wrote for its job may be.
fn leave_idle<B: Bus>(nic: &mut Nic<B>, reset: impl Fn(&B) -> Result<(), DriverError>) -> Result<(), Problem> {
    nic.disable()?;
    reset(nic.bus())?;
    nic.bus().flush()?;
    let advice = "A reset must bring back what this register holds after power-on.";
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

/// The job of the test, on the smallest rings, so that they turn often.
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

/// Hands commands to the card with one doorbell, and waits for `completions`, each at most `timeout`.
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
