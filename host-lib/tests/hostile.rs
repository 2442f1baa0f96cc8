//! SmartNIC data plane with a faulty card (`HostileBus`): thousands of jobs of a few collectives
//! each, from seeds.
//!
//! Invariants:
//! - Nothing panics. A job ends with results or an error, within the watchdog's time and a limit of
//!   bus accesses.
//! - A stage is reported if and only if its completion was read whole, is the next of its window,
//!   and agrees with the plan and the stage report in memory.
//! - A result is taken once, only after that, and equals the window's memory.
//! - No command is refused twice.
//! - With an honest card every mean is exact.
//!
//! `driver/tests/hostile` checks the driver alone. A failure prints its seed; replay it by
//! `HOSTILE_SEED=seed cargo test -p optireduce --test hostile`.

use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use optireduce::smartnic::{SmartNic, SmartNicError, smartnic_dma_bytes};
use optireduce_contract::packet::{Endpoint, UDP_PORT_DEFAULT};
use optireduce_contract::queue::*;
use optireduce_contract::registers::*;
use optireduce_core::protocol::{EarlyRule, JobParams, Ranks, StageReport, View, WindowPlan, plan_windows};
use optireduce_core::{Capabilities, Collectives, DataPlane, Memory, PlaneEvent, PlaneLimits, Values, WindowOutput};
use optireduce_driver::{
    Bus, BusEvent, CardEnd, CardHook, HostileBus, Hostility, InProcessBus, JobConfig, Lie, Nic, TraceBus, in_process,
};

const CASES: u64 = 20_000;
const RANKS: usize = 3;
const RANK: usize = 1;
const RING_LOG2: u32 = 4;
const BOUND_NS: u64 = 1_000_000;
const IOVA: u64 = 0x10_0000_0000;
const CARD: PlaneLimits =
    PlaneLimits { slots: 4, window_beats_max: 32, hadamard_log2_max: 8, ranks_max: 64, payload_beats_max: 139 };
/// Limit to identify and configure the card, and in one poll of the collectives.
const ACCESSES_MAX: u64 = 50_000;

type Plane = SmartNic<TraceBus<HostileBus<InProcessBus>>>;

/// Honest card whose peers contribute zeros. Completes a contribution when it fetches the command.
#[derive(Default)]
struct Card {
    end: OnceLock<CardEnd>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    head: u16,
    tail: u16,
    armed: BTreeMap<u8, Submission>,
    waiting: VecDeque<Completion>,
}

impl CardHook for Card {
    fn flush(&self) {
        self.step();
    }

    fn relax(&self) {
        self.step();
    }
}

impl Card {
    fn read(&self, register: &Register) -> u32 {
        self.end.get().map_or(0, |end| end.read_register(register.word()))
    }

    fn entry(&self, [lo, hi, log2]: [&Register; 3], index: u16) -> u64 {
        let base = u64::from(self.read(hi)) << 32 | u64::from(self.read(lo));
        base.wrapping_add(u64::from(index) % (1 << (self.read(log2) & 0xf)) * 64)
    }

    /// Skips commands with memory out of reach.
    fn step(&self) {
        let (Some(end), state) = (self.end.get(), &mut *self.state.lock().unwrap()) else { return };
        if self.read(&CONTROL) & CONTROL_ENABLE == 0 {
            *state = State::default();
        } else {
            for _ in 0..1 << RING_LOG2 {
                let mut entry = [0; ENTRY_BYTES];
                let at = self.entry([&SQ_BASE_LO, &SQ_BASE_HI, &SQ_LOG2], state.head);
                if state.head == self.read(&SQ_TAIL) as u16 || end.dma_read(at, &mut entry).is_err() {
                    break;
                }
                state.head = state.head.wrapping_add(1);
                self.execute(end, state, &Submission::from_bytes(&entry));
            }
            while state.tail.wrapping_sub(self.read(&CQ_HEAD) as u16) < 1 << RING_LOG2 {
                let Some(completion) = state.waiting.pop_front() else { break };
                let phase = state.tail >> RING_LOG2 & 1 == 0;
                let at = self.entry([&CQ_BASE_LO, &CQ_BASE_HI, &CQ_LOG2], state.tail);
                let _ = end.dma_write(at, &Completion { phase, ..completion }.to_bytes());
                state.tail = state.tail.wrapping_add(1);
            }
        }
        end.write_register(SQ_HEAD.word(), state.head.into());
        end.write_register(CQ_TAIL.word(), state.tail.into());
        end.write_register(SCRATCH_ECHO.word(), !self.read(&SCRATCH));
    }

    fn execute(&self, end: &CardEnd, state: &mut State, command: &Submission) {
        let Submission { slot, cookie, .. } = *command;
        let answer = Completion { slot, cookie, sq_head: state.head, ..Completion::default() };
        if command.opcode == OP_ARM {
            state.armed.insert(slot, *command);
            return;
        }
        let Some(arm) = state.armed.get(&slot).filter(|arm| arm.cookie == cookie) else {
            state.waiting.push_back(Completion { opcode: DONE_REFUSED, status: STATUS_STALE, ..answer });
            return;
        };
        let mut gradient = vec![0; usize::from(command.host_beats) * 64];
        let _ = end.dma_read(command.host_address, &mut gradient);
        for value in gradient.chunks_exact_mut(4) {
            let own = f32::from_le_bytes(value.try_into().unwrap());
            value.copy_from_slice(&(own / RANKS as f32).to_le_bytes());
        }
        let _ = end.dma_write(arm.host_address, &gradient);
        for (stage, opcode) in [(0, DONE_CONTRIBUTE), (1, DONE_BROADCAST)] {
            let mut beats = expected_beats(arm, stage);
            let expected_beats = beats.iter().map(|beats| u32::from(*beats)).sum::<u32>() - u32::from(beats[RANK]);
            let closed_by = if is_lossy(arm.step.into()) { CLOSED_DEADLINE } else { CLOSED_COMPLETE };
            if closed_by == CLOSED_DEADLINE {
                beats[0] = 0;
            }
            let bytes: Vec<u8> = beats.iter().flat_map(|beats| beats.to_le_bytes()).collect();
            let mut report = [0; STAGE_REPORT_BYTES];
            report[..bytes.len()].copy_from_slice(&bytes);
            let _ = end.dma_write(arm.report_address + 128 * stage as u64, &report);
            let own_beats = beats[RANK];
            let received_beats = beats.iter().map(|beats| u32::from(*beats)).sum::<u32>() - u32::from(own_beats);
            let (heard, elapsed_ns) = (0b101, 50_000);
            let counts = Completion { expected_beats, received_beats, own_beats, ..answer };
            state.waiting.push_back(Completion { opcode, closed_by, heard, elapsed_ns, ..counts });
        }
        state.armed.remove(&slot);
    }
}

fn is_lossy(op: u32) -> bool {
    op % 4 == 2
}

/// Beats that each rank sends to this one in a stage, derived from the command alone.
fn expected_beats(arm: &Submission, stage: usize) -> [u16; RANKS] {
    let shard = |rank: usize| {
        let shard = (rank + usize::from(arm.rotation)) % RANKS;
        arm.shard_quotient + u16::from(shard < usize::from(arm.shard_remainder))
    };
    std::array::from_fn(|from| match stage {
        0 => shard(RANK),
        _ if from == RANK => 0,
        _ => shard(from),
    })
}

#[derive(Default)]
struct Seen {
    events: Mutex<Vec<BusEvent>>,
    left: AtomicU64,
    told: [AtomicU64; Lie::ALL.len()],
}

impl Seen {
    fn watch(&self, what: Hostility) {
        if let Hostility::Told(lie) = what {
            self.told[lie as usize].fetch_add(1, Ordering::Relaxed);
            return;
        }
        if std::thread::panicking() {
            return;
        }
        let left = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        assert!(left.is_ok(), "a call does not end");
    }

    fn take(&self) -> Vec<BusEvent> {
        std::mem::take(&mut *self.events.lock().unwrap())
    }
}

/// Observes the protocol's calls, their results, and the bus.
struct Judged {
    plane: Plane,
    seen: Arc<Seen>,
    /// Armed windows by cookie: the command, and the stage that must end next.
    windows: BTreeMap<u32, (Submission, usize)>,
    commands: u64,
    refusals: u64,
    stages: u64,
}

impl Judged {
    fn commands(&mut self) -> Vec<Submission> {
        let written = self.seen.take().into_iter().filter_map(|event| match event {
            BusEvent::StoreEntry { entry, .. } => Some(Submission::from_bytes(&entry)),
            _ => None,
        });
        let written: Vec<_> = written.collect();
        self.commands += written.len() as u64;
        written
    }

    /// True if a completion ends its window's next stage, by the contract and the stage report.
    fn is_due(&self, done: &Completion) -> bool {
        let Some((arm, stage)) = self.windows.get(&done.cookie) else { return false };
        let mut report = [0; STAGE_REPORT_BYTES];
        let address = arm.report_address + 128 * (*stage).min(1) as u64;
        self.plane.nic().bus().dma().read(address, &mut report).unwrap();
        let found: Vec<u16> = report.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect();
        let expected = expected_beats(arm, *stage);
        let peers =
            |beats: &[u16]| (0..RANKS).filter(|rank| *rank != RANK).map(|rank| u32::from(beats[rank])).sum::<u32>();
        let is_early = arm.flags & FLAG_EARLY != 0;
        usize::from(done.opcode) == stage + 1
            && (done.slot, done.status) == (arm.slot, STATUS_OK)
            && (done.closed_by == CLOSED_DEADLINE
                || done.closed_by == CLOSED_EARLY && is_early
                || done.closed_by == CLOSED_COMPLETE && found[..RANKS] == expected)
            && (0..RANKS).all(|rank| found[rank] <= expected[rank])
            && found[RANKS..].iter().all(|beats| *beats == 0)
            && (0..RANKS).all(|rank| rank == RANK || found[rank] == 0 || done.heard >> rank & 1 == 1)
            && done.own_beats == found[RANK]
            && done.expected_beats == peers(&expected)
            && done.received_beats == peers(&found)
    }

    fn judge(&mut self, result: &Result<Option<PlaneEvent>, SmartNicError>, changed: bool) {
        let events = self.seen.take();
        let loaded: Vec<_> = events
            .iter()
            .filter_map(|event| match event {
                BusEvent::LoadEntry { entry, .. } => Some(Completion::from_bytes(entry)),
                _ => None,
            })
            .collect();
        assert!(loaded.len() <= 1);
        let Some(done) = loaded.first() else {
            return assert!(!matches!(result, Ok(Some(_))), "from nowhere: {result:?}");
        };
        let is_due = done.opcode != DONE_REFUSED && self.is_due(done);
        match result {
            Ok(Some(PlaneEvent::Stage(report))) => {
                assert!(is_due, "{done:?}: {report:?}");
                assert_eq!((report.cookie, report.stage.index() + 1), (done.cookie, done.opcode.into()));
                self.windows.entry(done.cookie).and_modify(|(_, stage)| *stage += 1);
                self.stages += 1;
                self.check_report(done, report);
            }
            Ok(Some(PlaneEvent::Refused { cookie, .. })) => {
                assert_eq!((done.opcode, done.cookie), (DONE_REFUSED, *cookie));
                self.refusals += 1;
                assert!(self.refusals <= self.commands, "{} commands refused, of {}", self.refusals, self.commands);
            }
            Ok(other) => panic!("{other:?}"),
            // `driver/tests/hostile` judges the driver's own refusals.
            Err(SmartNicError::Driver(_)) => {}
            Err(error) => assert!(!is_due || changed, "{done:?}: {error}"),
        }
    }

    fn check_report(&self, done: &Completion, report: &StageReport) {
        assert_eq!(report.elapsed_ns, done.elapsed_ns);
        let peers = report.received_bytes_per_rank.iter().enumerate().filter(|(rank, _)| *rank != RANK);
        assert_eq!(peers.map(|(_, bytes)| bytes).sum::<u64>(), u64::from(done.received_beats) * 64);
    }
}

impl DataPlane for Judged {
    type Error = SmartNicError;

    fn limits(&self) -> PlaneLimits {
        self.plane.limits()
    }

    fn capabilities(&self) -> Capabilities {
        self.plane.capabilities()
    }

    fn lend(&mut self, memory: Memory, values: Values) {
        self.plane.lend(memory, values);
    }

    fn reclaim(&mut self, memory: Memory) -> Option<Values> {
        self.plane.reclaim(memory)
    }

    fn relocate(&mut self, memory: Memory, values: Values) -> Result<Values, Values> {
        self.plane.relocate(memory, values)
    }

    fn arm(&mut self, plan: &WindowPlan, params: &JobParams) -> Result<(), SmartNicError> {
        self.seen.take();
        let result = self.plane.arm(plan, params);
        let armed = self.commands();
        assert_eq!(armed.len(), usize::from(result.is_ok()));
        self.windows.extend(armed.into_iter().map(|arm| (arm.cookie, (arm, 0))));
        result
    }

    fn contribute(&mut self, plan: &WindowPlan) -> Result<(), SmartNicError> {
        self.seen.take();
        let result = self.plane.contribute(plan);
        assert_eq!(self.commands().len(), usize::from(result.is_ok()));
        result
    }

    fn flush(&mut self) -> Result<(), SmartNicError> {
        self.plane.flush()
    }

    fn poll(&mut self) -> Result<Option<PlaneEvent>, SmartNicError> {
        self.seen.take();
        let before = self.seen.told[Lie::Transit as usize].load(Ordering::Relaxed);
        let result = self.plane.poll();
        let changed = before != self.seen.told[Lie::Transit as usize].load(Ordering::Relaxed);
        self.judge(&result, changed);
        result
    }

    fn take_result(&mut self, plan: &WindowPlan, look: &mut dyn FnMut(WindowOutput<'_>)) -> Result<(), SmartNicError> {
        let (arm, stage) = self.windows.remove(&plan.cookie).expect("armed, and not taken before");
        let mut expected = vec![0.0; plan.elements];
        self.plane.nic().bus().dma().read_f32(arm.host_address, &mut expected).unwrap();
        self.plane.take_result(plan, &mut |output| {
            assert_eq!(stage, 2, "the window's broadcast stage has not ended");
            let same =
                output.elements.iter().zip(&expected).all(|(found, expected)| found.to_bits() == expected.to_bits());
            assert!(same && output.elements.len() == expected.len());
            look(output);
        })
    }

    fn late_bytes(&self) -> Option<u64> {
        self.plane.late_bytes()
    }

    fn set_rate(&mut self, peer: usize, rate_bytes_per_us: u32) -> Result<(), SmartNicError> {
        self.plane.set_rate(peer, rate_bytes_per_us)
    }

    fn cancel(&mut self, plan: &WindowPlan) -> Result<(), SmartNicError> {
        self.plane.cancel(plan)
    }

    fn announce(&mut self, view: &View) {
        self.plane.announce(view);
    }

    fn enter(&mut self, view: &View) -> Result<bool, SmartNicError> {
        self.plane.enter(view)
    }

    fn take_heard(&mut self) -> Ranks {
        self.plane.take_heard()
    }

    fn set_gone(&mut self, rank: usize, is_gone: bool) {
        self.plane.set_gone(rank, is_gone);
    }
}

fn open(seed: u64, seen: &Arc<Seen>) -> Result<Plane, SmartNicError> {
    let card = Arc::new(Card::default());
    let (bus, end) = in_process("sim0", smartnic_dma_bytes(&CARD, RING_LOG2), IOVA, card.clone())?;
    for register in REGISTERS.iter().filter(|register| register.access == Access::ReadOnly) {
        end.write_register(register.word(), register.reset);
    }
    end.write_register(SLOTS.word(), CARD.slots as u32);
    end.write_register(WINDOW_BEATS_MAX.word(), CARD.window_beats_max as u32);
    end.write_register(HADAMARD_LOG2_MAX.word(), CARD.hadamard_log2_max);
    assert!(card.end.set(end).is_ok());
    let (watching, tracing) = (seen.clone(), seen.clone());
    let bus = HostileBus::new(bus, seed, move |what| watching.watch(what));
    let bus = TraceBus::new(bus, move |event| tracing.events.lock().unwrap().push(event));
    let job = JobConfig {
        rank: RANK,
        ranks: RANKS,
        job_tag: 7,
        payload_beats: 22,
        udp_port: UDP_PORT_DEFAULT,
        endpoints: (0..RANKS).map(Endpoint::of_rank).collect(),
        rates_bytes_per_us: Vec::new(),
        queue: 0,
        ring_log2: RING_LOG2,
    };
    SmartNic::new(Nic::open(bus)?, &job)
}

/// Returns the numbers of finished collectives and of reported stages.
fn run(seed: u64, told: &mut [u64], errors: &mut BTreeMap<String, u64>) -> (u32, u64) {
    let seen = Arc::new(Seen::default());
    seen.left.store(ACCESSES_MAX, Ordering::Relaxed);
    let done = match open(seed, &seen) {
        Ok(plane) => {
            let (windows, commands, refusals, stages) = (BTreeMap::new(), 0, 0, 0);
            job(Judged { plane, seen: seen.clone(), windows, commands, refusals, stages }, seed)
        }
        Err(error) => (0, 0, Err(format!("open: {error}"))),
    };
    let is_honest = seen.told.iter().all(|told| told.load(Ordering::Relaxed) == 0);
    let (finished, stages, end) = done;
    if let Err(error) = end {
        assert!(!is_honest, "an honest card is blamed: {error}");
        let line = error.lines().next().unwrap_or_default();
        let is_number = |word: &str| word.contains(|at: char| at.is_ascii_digit());
        let words = line.split_whitespace().map(|word| if is_number(word) { "#" } else { word });
        *errors.entry(words.collect::<Vec<_>>().join(" ")).or_default() += 1;
    }
    told.iter_mut().zip(&seen.told).for_each(|(sum, told)| *sum += told.load(Ordering::Relaxed));
    (finished, stages)
}

fn job(plane: Judged, seed: u64) -> (u32, u64, Result<(), String>) {
    let early = seed.is_multiple_of(2).then_some(EarlyRule { grace_ns: 1000 });
    let params = JobParams { early, ..JobParams::new(RANK, RANKS, 22, BOUND_NS, &CARD) };
    let seen = plane.seen.clone();
    let mut collectives = Collectives::new(plane, params.clone()).unwrap();
    let (mut now_ns, mut finished) = (0, 0);
    let end = (0..2 + seed % 7).try_for_each(|op| {
        let elements = 1 + (seed as usize * 131 + op as usize * 977) % 1500;
        let gradient: Vec<f32> = (0..elements).map(|at| (3 * at + op as usize) as f32).collect();
        seen.left.store(ACCESSES_MAX, Ordering::Relaxed);
        let op = collectives.prepare(now_ns, 0, elements, false).map_err(|error| error.to_string())?;
        collectives.start(now_ns, op, gradient.clone()).map_err(|error| error.to_string())?;
        // Watchdog: two bounds for each of two windows, and its slack.
        let until_ns = now_ns + 8 * BOUND_NS + 3 * params.stage_slack_ns;
        loop {
            assert!(now_ns < until_ns, "collective {op} does not end");
            seen.left.store(ACCESSES_MAX, Ordering::Relaxed);
            collectives.plane().plane.nic().bus().relax();
            now_ns += 200_000;
            if let Some(done) = collectives.poll(now_ns).map_err(|error| error.to_string())? {
                let is_honest = seen.told.iter().all(|told| told.load(Ordering::Relaxed) == 0);
                let is_exact = done.result.iter().zip(&gradient).all(|(found, own)| *found == own / RANKS as f32);
                assert!(is_exact || !is_honest || is_lossy(op), "collective {op} of an honest card");
                assert_eq!(plan_windows(&params, op, 0, elements, false).unwrap().len(), elements.div_ceil(512));
                finished += 1;
                return Ok(());
            }
        }
    });
    (finished, collectives.plane().stages, end)
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name)
        .ok()
        .map(|value| value.parse().unwrap_or_else(|_| panic!("{name} is {value}, expected a number")))
}

#[test]
fn a_card_that_lies_gives_no_result_that_its_completions_do_not_cover() {
    let first = number("HOSTILE_SEED");
    let cases = number("HOSTILE_CASES").unwrap_or(if first.is_some() { 1 } else { CASES });
    let (mut told, mut errors, mut finished, mut stages) = ([0; Lie::ALL.len()], BTreeMap::new(), 0, 0);
    for seed in first.unwrap_or(0)..first.unwrap_or(0) + cases {
        match catch_unwind(AssertUnwindSafe(|| run(seed, &mut told, &mut errors))) {
            Ok((done, reported)) => (finished, stages) = (finished + u64::from(done), stages + reported),
            Err(cause) => {
                eprintln!("replay: HOSTILE_SEED={seed} cargo test -p optireduce --test hostile");
                std::panic::resume_unwind(cause);
            }
        }
    }
    println!("{finished} collectives, {stages} stages; told {told:?}");
    println!("{errors:#?}");
    if cases == CASES {
        assert!(finished > CASES && stages > 2 * CASES, "{finished} collectives, {stages} stages");
        assert!(errors.len() > 20, "few ends of a job: {errors:#?}");
    }
}
