//! `bench`: host cost of a card.
//!
//! A command that the card refuses is the shortest round trip: doorbell, submission read by DMA,
//! completion written by DMA, interrupt. For collectives the card is rank 0 of a two-rank job whose
//! other rank is absent. Stages end at their bound, so durations are not reported, but the host
//! does the same work as with a peer.
//!
//! CPU time is this thread's, without a process that simulates the card, and without the control
//! plane above the driver (see `optireduce run --bench`).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use optireduce_contract::limits::{BEAT_BYTES, LANES};
use optireduce_contract::queue::{DONE_BROADCAST, DONE_REFUSED, REPORT_BYTES, Submission};
use optireduce_driver::{Bus, BusEvent, DmaBuffer, JobConfig, Nic, TraceBus};
use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;

use crate::args::BenchArgs;
use crate::card::open;
use crate::outcome::{Failure, print, table};
use crate::selftest::windows::case::{Case, PAGE_BYTES, Places};
use crate::selftest::windows::memory::Room;
use crate::selftest::{DMA_BYTES, job};

const BOUND_NS: u32 = 1_000_000;
/// Timeout of a completion, for simulators that may be off the CPU.
const PATIENCE: Duration = if cfg!(test) { Duration::from_millis(300) } else { Duration::from_secs(5) };
const WARM_UP: usize = 10;
/// As in jobs on cards with eight slots.
const RING_LOG2: u32 = 8;
/// Undefined opcode.
const NO_COMMAND: u8 = 0xff;

#[derive(Debug, Serialize)]
struct Report {
    card: String,
    commands: usize,
    // Time of a refused command, from before the doorbell store until its completion is taken.
    doorbell_to_completion_p50_us: f64,
    doorbell_to_completion_p99_us: f64,
    doorbell_to_completion_max_us: f64,
    collectives: Vec<Cost>,
}

/// Host work of a one-window collective. Fields are means unless named otherwise.
#[derive(Debug, Serialize)]
struct Cost {
    bytes: usize,
    collectives: usize,
    /// Stores of SQ_TAIL, which announce commands.
    doorbell_stores: f64,
    /// Stores of CQ_HEAD, which free completion entries.
    other_stores: f64,
    loads: f64,
    /// Loads of the collective with the fewest.
    loads_min: u64,
    mmio_bytes: f64,
    /// Bytes copied between caller and card; 0 for caller-owned buffers.
    copied_bytes: usize,
    cpu_us: f64,
    /// CPU time per 10^9 bytes of gradient.
    cpu_ms_per_gb: f64,
}

#[derive(Debug, Default)]
struct Accesses {
    doorbells: AtomicU64,
    others: AtomicU64,
    loads: AtomicU64,
}

impl Accesses {
    fn count(&self, event: BusEvent) {
        let counter = match event {
            BusEvent::Write { register: "SQ_TAIL", .. } => &self.doorbells,
            BusEvent::Write { .. } | BusEvent::WritePeer { .. } => &self.others,
            BusEvent::Read { .. } => &self.loads,
            BusEvent::StoreEntry { .. } | BusEvent::LoadEntry { .. } | BusEvent::Flush => return,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    fn now(&self) -> [u64; 3] {
        [&self.doorbells, &self.others, &self.loads].map(|counter| counter.load(Ordering::Relaxed))
    }
}

pub fn run(args: &BenchArgs) -> Result<(), Failure> {
    let (commands, collectives) = (args.commands as usize, args.collectives as usize);
    let report = measure(open(args.card.card.as_deref(), DMA_BYTES)?, commands, collectives)?;
    print(args.card.json, &report, || report.describe())
}

fn measure<B: Bus>(bus: B, commands: usize, collectives: usize) -> Result<Report, Failure> {
    let accesses = Arc::new(Accesses::default());
    let counted = accesses.clone();
    let mut nic = Nic::open(TraceBus::new(bus, move |event| counted.count(event)))?;
    nic.configure(&JobConfig { ring_log2: RING_LOG2, ..job(&nic, 0)? })?;
    let mut times_us = round_trips(&mut nic, commands)?;
    times_us.sort_by(f64::total_cmp);
    let most = nic.limits().window_beats_max;
    let gradient = nic.alloc(most * BEAT_BYTES, BEAT_BYTES)?;
    let result = nic.alloc(most * BEAT_BYTES, BEAT_BYTES)?;
    let reports = nic.alloc(REPORT_BYTES, REPORT_BYTES)?;
    let mut sizes = [64, 1024, most].to_vec();
    sizes.retain(|beats| *beats <= most);
    sizes.dedup();
    let mut costs = Vec::new();
    for beats in sizes {
        let own = [gradient.iova, result.iova, reports.iova];
        costs.push(cost(&mut nic, &accesses, own, Some([gradient, result]), beats, collectives)?);
        let bytes = (beats * BEAT_BYTES).next_multiple_of(PAGE_BYTES);
        if let (Some(from), Some(to)) = (Room::lent(&nic, bytes)?, Room::lent(&nic, bytes)?) {
            let lent = [from.iova(), to.iova(), reports.iova];
            costs.push(cost(&mut nic, &accesses, lent, None, beats, collectives)?);
            from.free(&mut nic)?;
            to.free(&mut nic)?;
        }
    }
    let card = nic.bus().name().to_owned();
    nic.disable()?;
    let [p50, p99] = [50, 99].map(|part| times_us[(times_us.len() * part).div_ceil(100) - 1]);
    Ok(Report {
        card,
        commands,
        doorbell_to_completion_p50_us: p50,
        doorbell_to_completion_p99_us: p99,
        doorbell_to_completion_max_us: times_us[times_us.len() - 1],
        collectives: costs,
    })
}

fn round_trips<B: Bus>(nic: &mut Nic<B>, commands: usize) -> Result<Vec<f64>, Failure> {
    let mut times_us = Vec::with_capacity(commands);
    for number in 0..WARM_UP + commands {
        let cookie = number as u32;
        nic.submit(&Submission { opcode: NO_COMMAND, cookie, ..Submission::default() })?;
        let begin = Instant::now();
        nic.ring_doorbell()?;
        let done = nic.wait_completion(PATIENCE)?;
        if number >= WARM_UP {
            times_us.push(begin.elapsed().as_secs_f64() * 1e6);
        }
        if (done.opcode, done.cookie) != (DONE_REFUSED, cookie) {
            return Err(Failure::check(format!(
                "{}: completion {} with cookie {:#x} for command {NO_COMMAND} with cookie {cookie:#x}, expected its refusal.\n\
                 Run `optireduce-nic selftest`.",
                nic.bus().name(),
                done.opcode,
                done.cookie
            )));
        }
    }
    Ok(times_us)
}

/// Measures collectives of `beats` beats. With `copied` buffers, values are copied in and out.
fn cost<B: Bus>(
    nic: &mut Nic<B>,
    accesses: &Accesses,
    [gradient, result, reports]: [u64; 3],
    copied: Option<[DmaBuffer; 2]>,
    beats: usize,
    collectives: usize,
) -> Result<Cost, Failure> {
    let (case, bytes) = (Case::whole(beats, 0, 0), beats * BEAT_BYTES);
    let places = Places { gradient, result, reports };
    let (given, mut mean) = (vec![1.0_f32; beats * LANES], vec![0.0; beats * LANES]);
    let (mut sums, mut loads_min, mut cpu) = ([0; 3], u64::MAX, Duration::ZERO);
    for number in 0..WARM_UP + collectives {
        let (before, begin) = (accesses.now(), thread_time());
        if let Some([gradient, _]) = copied {
            nic.write_f32(gradient, 0, &given)?;
        }
        for command in case.commands(places, 0, number, BOUND_NS) {
            nic.submit(&command)?;
        }
        nic.ring_doorbell()?;
        while nic.wait_completion(PATIENCE)?.opcode != DONE_BROADCAST {}
        if let Some([_, result]) = copied {
            nic.read_f32(result, 0, &mut mean)?;
        }
        if number >= WARM_UP {
            cpu += thread_time() - begin;
            let after = accesses.now();
            (0..3).for_each(|kind| sums[kind] += after[kind] - before[kind]);
            loads_min = loads_min.min(after[2] - before[2]);
        }
    }
    let mean_of = |sum: u64| sum as f64 / collectives as f64;
    let [doorbell_stores, other_stores, loads] = sums.map(mean_of);
    let cpu_us = cpu.as_secs_f64() * 1e6 / collectives as f64;
    Ok(Cost {
        bytes,
        collectives,
        doorbell_stores,
        other_stores,
        loads,
        loads_min,
        mmio_bytes: 4.0 * (doorbell_stores + other_stores + loads),
        copied_bytes: if copied.is_some() { 2 * bytes } else { 0 },
        cpu_us,
        cpu_ms_per_gb: cpu_us / 1e3 / (bytes as f64 / 1e9),
    })
}

fn thread_time() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}

impl Report {
    fn describe(&self) -> String {
        let Self { doorbell_to_completion_p50_us: p50, doorbell_to_completion_p99_us: p99, .. } = self;
        let max = self.doorbell_to_completion_max_us;
        let head = ["bytes", "doorbells", "other stores", "loads", "MMIO bytes", "bytes copied", "CPU us", "CPU ms/GB"];
        let row = |cost: &Cost| {
            [
                cost.bytes.to_string(),
                format!("{:.2}", cost.doorbell_stores),
                format!("{:.2}", cost.other_stores),
                format!("{:.2}", cost.loads),
                format!("{:.1}", cost.mmio_bytes),
                cost.copied_bytes.to_string(),
                format!("{:.1}", cost.cpu_us),
                format!("{:.0}", cost.cpu_ms_per_gb),
            ]
        };
        let rows: Vec<_> = [head.map(str::to_owned)].into_iter().chain(self.collectives.iter().map(row)).collect();
        format!(
            "{}\ndoorbell to completion: {p50:.1} us (P99 {p99:.1}, longest {max:.1}), {} commands\neach collective of one window:\n{}",
            self.card,
            self.commands,
            table(&rows)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::selftest::testing::{card, good_card};

    #[test]
    fn a_collective_takes_one_doorbell_and_no_read() {
        let report = measure(good_card(), 20, 100).unwrap();
        assert!(report.doorbell_to_completion_p50_us <= report.doorbell_to_completion_max_us);
        assert!(report.collectives.len() >= 2, "{report:?}");
        for cost in &report.collectives {
            assert_eq!((cost.doorbell_stores, cost.loads_min, cost.copied_bytes), (1.0, 0, 2 * cost.bytes), "{cost:?}");
            // Two completions each. CQ_HEAD is stored once per quarter of the ring, 64 entries.
            assert!([0.03, 0.04].contains(&cost.other_stores), "{cost:?}");
        }
    }

    #[test]
    fn a_card_that_stops_ends_the_measurement_with_an_error() {
        // Each collective has two commands, and the card stops after an odd number.
        let failure = measure(card(WARM_UP + 20 + 7, |_| ()), 20, 5).unwrap_err();
        assert_eq!(failure.code, 2);
        assert!(failure.text.contains("no completion in 300ms"), "{}", failure.text);
    }
}
