//! Rules of a bus to a card: in this process, over a vfio-user socket, or on this machine's PCI bus
//! by VFIO (`optireduce-sim check-bus ADDRESS`).

use std::collections::VecDeque;
use std::fmt::Debug;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use optireduce_contract::limits::{BEAT_BYTES, LANES};
use optireduce_contract::queue::{
    CLOSED_DEADLINE, Completion, DONE_BROADCAST, DONE_CONTRIBUTE, DONE_REFUSED, FLAG_AUTO_BROADCAST, OP_ARM,
    OP_CONTRIBUTE, REPORT_BYTES, STATUS_BAD_COMMAND, STATUS_DMA_ERROR, STATUS_OK, Submission,
};
use optireduce_contract::registers::{self as reg, Access, REGISTERS};
use optireduce_contract::shard::ShardMap;
use optireduce_driver::{Bus, CardHook, DmaBuffer, DriverError, InProcessBus, Nic, in_process};

use crate::card::Card;
use crate::card::functional::FunctionalCard;
use crate::check::card_bench::bench_job;

/// DMA memory used by the suite, in bytes.
pub const DMA_BYTES: usize = 1 << 20;
const BEATS: usize = 100;
const PATIENCE: Duration = Duration::from_secs(30);

/// Error of a broken rule.
pub type Broken = Box<dyn std::error::Error + Send + Sync>;
type Rule<B> = fn(B, u32) -> Result<(), Broken>;

/// Bound on a stage for boards and functional cards. Cards simulated cycle by cycle in wall-clock
/// time need more.
pub const BOUND_NS: u32 = 1_000_000;

/// Runs the suite and returns the names of the rules. `bound_ns` applies to each stage. Each rule
/// calls `open` after the previous bus was dropped.
///
/// # Errors
/// The first broken rule.
pub fn check_bus<B: Bus>(
    bound_ns: u32,
    mut open: impl FnMut() -> Result<B, DriverError>,
) -> Result<Vec<&'static str>, String> {
    let rules: [(&'static str, Rule<B>); 4] = [
        ("registers are those of the contract", registers_are_those_of_the_contract),
        ("a window travels and rings turn", a_window_travels_and_rings_turn),
        ("tasks wait as threads do", tasks_wait_as_threads_do),
        ("inaccessible memory is reported", what_the_card_cannot_reach_is_told),
    ];
    for (name, rule) in rules {
        let kept = open().map_err(Broken::from).and_then(|bus| rule(bus, bound_ns));
        kept.map_err(|broken| format!("rule \"{name}\": {broken}"))?;
    }
    Ok(rules.map(|(name, _)| name).into())
}

fn expect<T: PartialEq + Debug>(what: &str, found: T, expected: T) -> Result<(), Broken> {
    if found == expected { Ok(()) } else { Err(format!("{what}: found {found:?}, expected {expected:?}").into()) }
}

/// Host registers keep written values, and card registers ignore writes.
fn registers_are_those_of_the_contract<B: Bus>(bus: B, _bound_ns: u32) -> Result<(), Broken> {
    bus.flush()?;
    let all = REGISTERS.iter().flat_map(|register| (0..4).map(move |queue| register.of_queue(queue)));
    for register in all.clone().filter(|register| register.access == Access::ReadOnly) {
        let before = bus.read(&register);
        bus.write(&register, !before);
        bus.flush()?;
        let after = bus.read(&register);
        // Time registers advance.
        if !register.name.starts_with("CARD_TIME") || after == !before {
            expect(&format!("{}, a card register, after a write", register.name), after, before)?;
        }
    }
    let written = || all.clone().filter(|register| register.access == Access::ReadWrite && *register != reg::CONTROL);
    let value = |register: &reg::Register| 0x1234_5600 + register.offset as u32;
    written().for_each(|register| bus.write(&register, value(&register)));
    bus.flush()?;
    for register in written() {
        let what = format!("{} at {:#x}", register.name, register.offset);
        expect(&what, bus.read(&register), value(&register))?;
    }
    written().for_each(|register| bus.write(&register, 0));
    let nic = Nic::open(bus)?;
    let limits = nic.limits();
    expect("queues, ranks and slots", (limits.queues, limits.ranks_max, limits.slots), (4, 64, 8))?;
    Ok(nic.check_alive()?)
}

/// The peer is absent, so windows close at their deadlines.
fn configured<B: Bus>(bus: B) -> Result<(Nic<B>, [DmaBuffer; 3]), Broken> {
    let mut nic = Nic::open(bus)?;
    nic.configure(&bench_job(2, 4))?;
    // Buffers within pages and across them.
    nic.alloc(BEAT_BYTES, BEAT_BYTES)?;
    let gradient = nic.alloc(BEATS * BEAT_BYTES, BEAT_BYTES)?;
    let result = nic.alloc(BEATS * BEAT_BYTES, BEAT_BYTES)?;
    let reports = nic.alloc(REPORT_BYTES, REPORT_BYTES)?;
    let (first, end) = (result.iova / 4096, (result.iova + result.len as u64) / 4096);
    expect("buffers off and over the edges of pages", (gradient.iova % 4096 != 0, first != end), (true, true))?;
    Ok((nic, [gradient, result, reports]))
}

/// Returns the commands of a window of two ranks, with a bound per stage.
pub fn window([gradient, result, reports]: [DmaBuffer; 3], cookie: u32, bound_ns: u32) -> [Submission; 2] {
    let shards = ShardMap::new(BEATS, 2, 0);
    let arm = Submission {
        opcode: OP_ARM,
        cookie,
        step: cookie as u16,
        flags: FLAG_AUTO_BROADCAST,
        beats: BEATS as u16,
        shard_quotient: shards.quotient as u16,
        shard_remainder: shards.remainder as u8,
        bound_ns,
        host_beats: BEATS as u16,
        mark_packets: 1,
        host_address: result.iova,
        report_address: reports.iova,
        ..Submission::default()
    };
    let (opcode, host_address) = (OP_CONTRIBUTE, gradient.iova);
    let contribute = Submission { opcode, host_address, ..Submission { flags: 0, report_address: 0, ..arm } };
    [arm, Submission { beats: 0, shard_quotient: 0, shard_remainder: 0, bound_ns: 0, mark_packets: 0, ..contribute }]
}

fn run<B: Bus>(nic: &mut Nic<B>, commands: &[Submission]) -> Result<[Completion; 2], Broken> {
    for command in commands {
        nic.submit(command)?;
    }
    nic.ring_doorbell()?;
    Ok([nic.wait_completion(PATIENCE)?, nic.wait_completion(PATIENCE)?])
}

/// Runs more commands than the rings hold, then ends a job within a window.
///
/// # Errors
/// The first difference.
pub fn a_window_travels_and_rings_turn<B: Bus>(bus: B, bound_ns: u32) -> Result<(), Broken> {
    let (mut nic, buffers) = configured(bus)?;
    for cookie in 1..=20 {
        let given: Vec<f32> = (0..BEATS * LANES).map(|at| (at as u32 * cookie) as f32).collect();
        nic.write_f32(buffers[0], 0, &given)?;
        let done = run(&mut nic, &window(buffers, cookie, bound_ns))?;
        let expected = [DONE_CONTRIBUTE, DONE_BROADCAST].map(|opcode| (opcode, cookie, STATUS_OK, CLOSED_DEADLINE));
        let found = done.map(|done| (done.opcode, done.cookie, done.status, done.closed_by));
        expect("completions of a window", found, expected)?;
        let mut got = vec![f32::NAN; BEATS * LANES];
        nic.read_f32(buffers[1], 0, &mut got)?;
        let own = BEATS / 2 * LANES;
        let differs = (0..own).find(|at| got[*at].to_bits() != given[*at].to_bits());
        expect(&format!("window {cookie}: the first element of this rank's shard that differs"), differs, None)?;
    }
    let counters = nic.counters()?;
    let found = (counters.sq_head, counters.cq_tail, counters.dma_error, counters.tx_packets > 0);
    expect("entries taken and written, DMA errors, packets sent", found, (40, 40, false, true))?;
    // Disabled within a window and configured again: the window must be gone.
    nic.submit(&window(buffers, 30, bound_ns)[0])?;
    nic.ring_doorbell()?;
    nic.disable()?;
    nic.configure(&bench_job(2, 4))?;
    let refused = Submission { opcode: 99, cookie: 31, ..Submission::default() };
    nic.submit(&refused)?;
    nic.ring_doorbell()?;
    let found = nic.wait_completion(PATIENCE)?;
    let found = (found.opcode, found.cookie, found.status);
    expect("the completion of no command", found, (DONE_REFUSED, 31, STATUS_BAD_COMMAND))?;
    expect("another completion", nic.poll_completion()?, None)
}

/// A dropped wait loses no completion, and a wait times out.
fn tasks_wait_as_threads_do<B: Bus>(bus: B, bound_ns: u32) -> Result<(), Broken> {
    let (mut nic, buffers) = configured(bus)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        for cookie in 1..=20 {
            for command in window(buffers, cookie, bound_ns) {
                nic.submit(&command)?;
            }
            nic.ring_doorbell()?;
            // Every second wait is dropped at its first sleep.
            let dropped = match cookie % 2 {
                0 => tokio::time::timeout(Duration::ZERO, nic.completion(PATIENCE)).await.ok(),
                _ => None,
            };
            let first = match dropped {
                Some(done) => done?,
                None => nic.completion(PATIENCE).await?,
            };
            let done = [first, nic.completion(PATIENCE).await?].map(|done| (done.cookie, done.opcode));
            expect("cookies and stages", done, [DONE_CONTRIBUTE, DONE_BROADCAST].map(|opcode| (cookie, opcode)))?;
        }
        let late = nic.completion(Duration::from_millis(15)).await;
        expect("a wait for nothing that runs out of time", matches!(late, Err(DriverError::Timeout { .. })), true)
    })
}

/// The last beat of the gradient is outside DMA memory.
fn what_the_card_cannot_reach_is_told<B: Bus>(bus: B, bound_ns: u32) -> Result<(), Broken> {
    let (mut nic, buffers) = configured(bus)?;
    let end = nic.bus().dma().iova() + nic.bus().dma().bytes() as u64;
    let [arm, contribute] = window(buffers, 1, bound_ns);
    let beyond = Submission { host_address: end - ((BEATS - 1) * BEAT_BYTES) as u64, ..contribute };
    nic.submit(&arm)?;
    nic.submit(&beyond)?;
    nic.ring_doorbell()?;
    let found = nic.wait_completion(PATIENCE)?;
    expect("cookie and status", (found.cookie, found.status), (1, STATUS_DMA_ERROR))?;
    expect("the flag of DMA errors", nic.counters()?.dma_error, true)
}

/// Advances the card by 20 us whenever the driver waits.
#[derive(Default)]
struct Steps(OnceLock<Mutex<FunctionalCard>>);

impl Steps {
    fn card(&self) -> Option<MutexGuard<'_, FunctionalCard>> {
        self.0.get().map(|card| card.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl CardHook for Steps {
    fn flush(&self) {
        if let Some(mut card) = self.card() {
            card.sync_registers();
        }
    }

    fn relax(&self) {
        let Some(mut card) = self.card() else { return };
        card.sync_registers();
        let until_ns = card.now_ns() + 20_000;
        card.run(until_ns, &mut VecDeque::new(), &mut Vec::new());
        card.publish_registers();
    }
}

/// Returns a bus to a new functional card in this process.
///
/// # Errors
/// If DMA memory cannot be allocated.
pub fn bus_in_process() -> Result<InProcessBus, DriverError> {
    let steps = Arc::new(Steps::default());
    let (bus, end) = in_process("sim0", DMA_BYTES, 0x4000_0000, steps.clone())?;
    steps.0.get_or_init(|| Mutex::new(FunctionalCard::new(end)));
    Ok(bus)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bus_in_this_process_obeys_every_rule_of_a_bus() {
        assert_eq!(check_bus(BOUND_NS, bus_in_process).map(|rules| rules.len()), Ok(4));
    }
}
