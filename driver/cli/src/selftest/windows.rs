//! Windows: every bit that the card reads from host memory, computes, writes back and reports.

pub mod case;
pub mod memory;

use std::time::{Duration, Instant};

use optireduce_contract::limits::{BEAT_BYTES, RANKS_MAX};
use optireduce_contract::queue::{
    CLOSED_COMPLETE, CLOSED_DEADLINE, Completion, DONE_BROADCAST, DONE_CONTRIBUTE, REPORT_BYTES, STAGE_REPORT_BYTES,
    STATUS_OK,
};
use optireduce_driver::{Bus, Nic};

use self::case::Case;
use self::memory::Memory;
use super::problem::{Problem, equal};
use super::random::Random;
use super::report::Figures;
use super::{PATIENCE, Settings, job, submit};

/// Maximum delay of a stage's end, for a simulator that is off the CPU.
const LATE_NS_MAX: u64 = 1_000_000_000;
/// Maximum length of windows in lent memory, which counts as locked beside the driver's.
const LENT_BEATS_MAX: usize = 512;
const DISAGREES: &str = "The card violates the contract for a job whose other rank is absent: compare its build with hw/contract. A card simulated \
                         cycle by cycle needs a longer bound: --bound-ms 300.";

const NO_LOOP: &str = "Is the loopback in place, is the link up (`optireduce-nic info`), and does nothing else send to the card? Its counters show the \
                       causes of other drops: RX_BAD, DROP_FIFO_FULL, DROP_MAC, DROP_IP and the others.";

/// Runs windows of many lengths and places, with each shard once as the card's own. The bound must
/// suffice to read the largest gradient.
pub fn check<B: Bus>(
    nic: &mut Nic<B>,
    random: &mut Random,
    &Settings { bound_ns, loopback, .. }: &Settings,
    figures: &mut Figures,
) -> Result<(), Problem> {
    let mut job = job(nic, 0)?;
    if loopback {
        job.endpoints[1] = job.endpoints[0];
    }
    nic.configure(&job)?;
    let (slots, payload_beats) = (nic.limits().slots, job.payload_beats);
    let cases = case::all(nic.limits().window_beats_max, random);
    let (mut number, mut packets, mut bytes, mut late_ns_max, mut lent) = (0, 0, 0, 0, 0);
    let longest = nic.limits().window_beats_max;
    let own = Memory::new(nic, longest)?;
    let others = Memory::lent(nic, LENT_BEATS_MAX.min(longest))?.map(|memory| (memory, LENT_BEATS_MAX));
    for (mut memory, beats_max) in [Some((own, longest)), others].into_iter().flatten() {
        lent = number;
        let fits = cases.iter().filter(|case| case.beats <= beats_max);
        for case in fits.flat_map(|case| (0..2).map(|rotation| Case { rotation, ..*case })) {
            let slot = number % slots;
            late_ns_max = late_ns_max.max(check_window(nic, &mut memory, &case, (slot, number), bound_ns, random)?);
            packets += case.packets(payload_beats);
            bytes += case.host_beats * BEAT_BYTES;
            number += 1;
        }
        memory.free(nic)?;
    }
    let counters = nic.counters()?;
    equal("TX_PACKETS after all windows", counters.tx_packets as usize, packets, DISAGREES)?;
    equal("SQ_HEAD after all windows", counters.sq_head as usize, 2 * number, DISAGREES)?;
    equal("CQ_TAIL after all windows", counters.cq_tail as usize, 2 * number, DISAGREES)?;
    if loopback {
        equal("packets that came back whole (DROP_MALFORMED)", came_back(nic, packets)?, packets, NO_LOOP)?;
        figures.push(("packets_back", packets as u64));
    }
    figures.push(("windows", number as u64));
    figures.push(("windows_in_lent_memory", if lent > 0 { number - lent } else { 0 } as u64));
    figures.push(("bytes", bytes as u64));
    figures.push(("packets_sent", packets as u64));
    figures.push(("late_us_max", late_ns_max / 1000));
    Ok(())
}

/// Returns the number of packets that came back intact, counted as malformed because of their
/// sender. Waits for `all`, or until none returns for a while.
fn came_back<B: Bus>(nic: &Nic<B>, all: usize) -> Result<usize, Problem> {
    let (mut found, mut since) = (0, Instant::now());
    while found < all && since.elapsed() < PATIENCE {
        let now = nic.counters()?.drop_malformed as usize;
        if now != found {
            (found, since) = (now, Instant::now());
        }
        nic.bus().relax();
    }
    Ok(found)
}

fn check_window<B: Bus>(
    nic: &mut Nic<B>,
    memory: &mut Memory,
    case: &Case,
    (slot, number): (usize, usize),
    bound_ns: u32,
    random: &mut Random,
) -> Result<u64, Problem> {
    let values: Vec<u32> = (0..case.elements).map(|_| random.fp32_bits()).collect();
    let places = memory.prepare(nic, case, &values)?;
    let commands = case.commands(places, slot, number, bound_ns);
    let timeout = PATIENCE + 2 * Duration::from_nanos(bound_ns.into());
    let done = submit(nic, &commands, 2, timeout)?;
    let object = format!("window {number} {case}");
    let reports = memory.reports(nic)?;
    let (contribute, broadcast) = reports.split_at(STAGE_REPORT_BYTES);
    let mut late_ns = 0;
    for (stage, (completion, report)) in done.iter().zip([contribute, broadcast]).enumerate() {
        let object = format!("{object}, {} stage", ["contribute", "broadcast"][stage]);
        check_completion(&object, case, stage, completion, (slot, number))?;
        late_ns = late_ns.max(check_time(&object, completion, bound_ns.into())?);
        check_report(&object, if stage == 0 { case.own().len() } else { 0 }, report)?;
    }
    memory.check(nic, case, &values, &object)?;
    Ok(late_ns)
}

fn check_completion(
    object: &str,
    case: &Case,
    stage: usize,
    completion: &Completion,
    (slot, number): (usize, usize),
) -> Result<(), Problem> {
    let (own, expected) = (case.own().len() as u64, case.expected_beats(stage) as u64);
    // A stage does not wait for ranks that have nothing to send.
    let closed_by = if expected == 0 { CLOSED_COMPLETE } else { CLOSED_DEADLINE };
    for (field, found, expected) in [
        ("COOKIE", completion.cookie.into(), number as u64),
        ("OPCODE", completion.opcode.into(), [DONE_CONTRIBUTE, DONE_BROADCAST][stage].into()),
        ("SLOT", completion.slot.into(), slot as u64),
        ("STATUS", completion.status.into(), STATUS_OK.into()),
        ("CLOSED_BY", completion.closed_by.into(), closed_by.into()),
        ("RECEIVED_BEATS", completion.received_beats.into(), 0),
        ("EXPECTED_BEATS", completion.expected_beats.into(), expected),
        ("HEARD", completion.heard, 0),
        ("OWN_BEATS", completion.own_beats.into(), if stage == 0 { own } else { 0 }),
    ] {
        equal(format!("{object}: {field}"), found, expected, DISAGREES)?;
    }
    Ok(())
}

/// Checks the time of a stage; returns its delay after the bound, in ns.
fn check_time(object: &str, completion: &Completion, bound_ns: u64) -> Result<u64, Problem> {
    let elapsed_ns = completion.elapsed_ns;
    let first_ns = if completion.closed_by == CLOSED_DEADLINE { bound_ns } else { 0 };
    if (first_ns..=bound_ns + LATE_NS_MAX).contains(&elapsed_ns) {
        return Ok(elapsed_ns.saturating_sub(bound_ns));
    }
    Err(Problem::Wrong {
        object: format!("{object}: ELAPSED_NS"),
        found: elapsed_ns.to_string(),
        expected: format!("{first_ns} to {}", bound_ns + LATE_NS_MAX),
        advice: "The card's clock runs at another rate, or its process was off the CPU. Repeat the test on an idle machine, or with a longer --bound-ms \
                 if the card is simulated cycle by cycle.",
    })
}

fn check_report(object: &str, own: usize, report: &[u8]) -> Result<(), Problem> {
    const { assert!(REPORT_BYTES == 2 * STAGE_REPORT_BYTES && STAGE_REPORT_BYTES == 2 * RANKS_MAX) };
    for (rank, beats) in report.as_chunks::<2>().0.iter().enumerate() {
        let expected = if rank == 0 { own } else { 0 };
        let found = usize::from(u16::from_le_bytes(*beats));
        equal(format!("{object}, stage report: beats of rank {rank}"), found, expected, DISAGREES)?;
    }
    Ok(())
}
