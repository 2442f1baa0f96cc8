//! SmartNIC data plane against a card on the driver's in-process bus that identifies itself,
//! fetches submissions, and posts completions by script.

mod environment;

use std::sync::{Arc, Mutex, OnceLock};

use environment::has_no_secret;
use optireduce::smartnic::{SmartNic, SmartNicError, smartnic_dma_bytes};
use optireduce_contract::packet::{Endpoint, UDP_PORT_DEFAULT};
use optireduce_contract::queue::{self, *};
use optireduce_contract::ranks::RankSet;
use optireduce_contract::registers::*;
use optireduce_core::protocol::membership::Settings;
use optireduce_core::protocol::{
    ClosedBy, EarlyRule, JobParams, Ranks, RefusedStatus, Stage, StageReport, View, WindowPlan, plan_windows,
};
use optireduce_core::{Capability, Collectives, DataPlane, Memory, PlaneEvent, PlaneLimits, Role, WindowError};
use optireduce_driver::{CardEnd, CardHook, InProcessBus, JobConfig, Nic, in_process};

const RANKS: usize = 4;
const RANK: usize = 1;
const RING_LOG2: u32 = 5;
const BOUND_NS: u64 = 1_600_000;
const IOVA: u64 = 0x10_0000_0000;

/// Card with registers and rings, but without a data path.
#[derive(Default)]
struct Card {
    end: OnceLock<CardEnd>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    head: u16,
    tail: u16,
    commands: Vec<Submission>,
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
    fn end(&self) -> &CardEnd {
        self.end.get().expect("the bus is there")
    }

    fn read(&self, register: &Register) -> u32 {
        self.end().read_register(register.word())
    }

    fn read_pair(&self, lo: &Register, hi: &Register) -> u64 {
        u64::from(self.read(hi)) << 32 | u64::from(self.read(lo))
    }

    fn step(&self) {
        let Some(end) = self.end.get() else { return };
        let mut state = self.state.lock().unwrap();
        if self.read(&CONTROL) & CONTROL_ENABLE == 0 {
            *state = State::default();
        } else {
            let (base, size) = (self.read_pair(&SQ_BASE_LO, &SQ_BASE_HI), 1 << self.read(&SQ_LOG2));
            while state.head != self.read(&SQ_TAIL) as u16 {
                let mut entry = [0; ENTRY_BYTES];
                end.dma_read(base + u64::from(state.head % size) * 64, &mut entry).unwrap();
                state.commands.push(Submission::from_bytes(&entry));
                state.head = state.head.wrapping_add(1);
            }
        }
        end.write_register(SQ_HEAD.word(), state.head.into());
        end.write_register(CQ_TAIL.word(), state.tail.into());
        end.write_register(SCRATCH_ECHO.word(), !self.read(&SCRATCH));
    }

    fn commands(&self) -> Vec<Submission> {
        self.step();
        std::mem::take(&mut self.state.lock().unwrap().commands)
    }

    fn post(&self, completion: Completion) {
        let mut state = self.state.lock().unwrap();
        let (base, log2) = (self.read_pair(&CQ_BASE_LO, &CQ_BASE_HI), self.read(&CQ_LOG2));
        let (index, phase) = (state.tail % (1 << log2), state.tail >> log2 & 1 == 0);
        assert_ne!(state.tail.wrapping_sub(self.read(&CQ_HEAD) as u16), 1 << log2, "completion ring is full");
        let bytes = Completion { sq_head: state.head, phase, ..completion }.to_bytes();
        self.end().dma_write(base + u64::from(index) * 64, &bytes).unwrap();
        state.tail = state.tail.wrapping_add(1);
    }

    fn write_report(&self, arm: &Submission, stage: Stage, beats: &[u16]) {
        let bytes: Vec<u8> = beats.iter().flat_map(|beats| beats.to_le_bytes()).collect();
        let address = arm.report_address + (stage.index() * STAGE_REPORT_BYTES) as u64;
        self.end().dma_write(address, &[0; STAGE_REPORT_BYTES]).unwrap();
        self.end().dma_write(address, &bytes).unwrap();
    }

    fn gradient(&self, contribute: &Submission) -> Vec<f32> {
        let mut bytes = vec![0; usize::from(contribute.host_beats) * 64];
        self.end().dma_read(contribute.host_address, &mut bytes).unwrap();
        bytes.chunks_exact(4).map(|word| f32::from_le_bytes(word.try_into().unwrap())).collect()
    }

    fn write_result(&self, arm: &Submission, result: &[f32]) {
        let bytes: Vec<u8> = result.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.end().dma_write(arm.host_address, &bytes).unwrap();
    }
}

fn open(ring_log2: u32) -> Result<(SmartNic<InProcessBus>, Arc<Card>), SmartNicError> {
    open_with(ring_log2, &PlaneLimits::CARD)
}

fn open_with(ring_log2: u32, limits: &PlaneLimits) -> Result<(SmartNic<InProcessBus>, Arc<Card>), SmartNicError> {
    let card = Arc::new(Card::default());
    let bytes = smartnic_dma_bytes(limits, ring_log2);
    let (bus, end) = in_process("sim0", bytes, IOVA, card.clone())?;
    // Non-zero, to reveal bytes that are never written.
    end.dma_write(IOVA, &vec![0xa5; bytes]).unwrap();
    for register in REGISTERS.iter().filter(|register| register.access == Access::ReadOnly) {
        end.write_register(register.word(), register.reset);
    }
    end.write_register(WINDOW_BEATS_MAX.word(), limits.window_beats_max as u32);
    end.write_register(HADAMARD_LOG2_MAX.word(), limits.hadamard_log2_max);
    assert!(card.end.set(end).is_ok());
    let job = JobConfig {
        rank: RANK,
        ranks: RANKS,
        job_tag: 7,
        payload_beats: 22,
        udp_port: UDP_PORT_DEFAULT,
        endpoints: (0..RANKS).map(Endpoint::of_rank).collect(),
        rates_bytes_per_us: Vec::new(),
        queue: 0,
        ring_log2,
    };
    Ok((SmartNic::new(Nic::open(bus)?, &job)?, card))
}

fn params() -> JobParams {
    let early = Some(EarlyRule { grace_ns: 1234 });
    JobParams { early, job_seed: 99, ..JobParams::new(RANK, RANKS, 22, BOUND_NS, &PlaneLimits::CARD) }
}

/// The only window of collective 2 for a bucket of 100 elements (7 beats). Shards have 2, 2, 2 and
/// 1 beats, and rank 1 owns shard 3.
fn small() -> WindowPlan {
    plan_windows(&params(), 2, 3, 100, false).unwrap().remove(0)
}

const OWN_BEATS: u16 = 1;
const CONTRIBUTE_BEATS: [u16; RANKS] = [1, 1, 1, 1];
const BROADCAST_BEATS: [u16; RANKS] = [2, 0, 2, 2];

fn done(arm: &Submission, stage: Stage) -> Completion {
    let (opcode, expected_beats, own_beats) = match stage {
        Stage::Contribute => (DONE_CONTRIBUTE, 3, OWN_BEATS),
        Stage::Broadcast => (DONE_BROADCAST, 6, 0),
    };
    Completion {
        opcode,
        slot: arm.slot,
        cookie: arm.cookie,
        expected_beats,
        received_beats: expected_beats,
        own_beats,
        elapsed_ns: 160_000,
        heard: 0b1101,
        ..Completion::default()
    }
}

/// With the small window armed and contributed. Returns both commands.
fn contributed() -> (SmartNic<InProcessBus>, Arc<Card>, Submission, Submission) {
    let (mut plane, card) = open(RING_LOG2).unwrap();
    lend_and_arm(&mut plane, &small(), &params()).unwrap();
    lend_and_contribute(&mut plane, &small(), &ramp(100)).unwrap();
    plane.flush().unwrap();
    let commands = card.commands();
    assert_eq!(commands.len(), 2);
    (plane, card, commands[0], commands[1])
}

fn lend(plane: &mut SmartNic<InProcessBus>, plan: &WindowPlan, role: Role, values: Vec<f32>) {
    let memory = Memory { op: plan.op, role, first_element: plan.first_element };
    plane.reclaim(memory);
    plane.lend(memory, values.into());
}

fn lend_and_arm(
    plane: &mut SmartNic<InProcessBus>,
    plan: &WindowPlan,
    params: &JobParams,
) -> Result<(), SmartNicError> {
    lend(plane, plan, Role::Result, vec![-1.0; plan.elements]);
    plane.arm(plan, params)
}

fn lend_and_contribute(
    plane: &mut SmartNic<InProcessBus>,
    plan: &WindowPlan,
    gradient: &[f32],
) -> Result<(), SmartNicError> {
    lend(plane, plan, Role::Gradient, gradient.to_vec());
    plane.contribute(plan)
}

fn take_result(plane: &mut SmartNic<InProcessBus>, plan: &WindowPlan) -> Result<Vec<f32>, SmartNicError> {
    let mut elements = Vec::new();
    plane.take_result(plan, &mut |output| elements = output.elements.to_vec())?;
    let memory = Memory { op: plan.op, role: Role::Result, first_element: plan.first_element };
    assert_eq!(plane.reclaim(memory).as_deref(), Some(&elements[..]));
    Ok(elements)
}

fn ramp(elements: usize) -> Vec<f32> {
    (1..=elements).map(|i| i as f32).collect()
}

#[test]
fn a_window_becomes_two_commands_with_every_field_in_its_place() {
    let (_plane, card, arm, contribute) = contributed();
    let expected = Submission {
        opcode: OP_ARM,
        slot: 0,
        step: 2,
        cookie: 2 << 16,
        bucket: 3,
        flags: FLAG_AUTO_BROADCAST | FLAG_EARLY,
        beats: 7,
        shard_quotient: 1,
        shard_remainder: 3,
        rotation: 2,
        start_peers: 2,
        bound_ns: BOUND_NS as u32,
        grace_ns: 1234,
        host_beats: 7,
        mark_packets: 1,
        send_incast: 1,
        host_address: arm.host_address,
        report_address: arm.report_address,
        ..Submission::default()
    };
    assert_eq!(arm, expected);
    assert_eq!((arm.host_address % 64, arm.report_address % 256), (0, 0));
    let expected = Submission {
        opcode: OP_CONTRIBUTE,
        step: 2,
        cookie: 2 << 16,
        incast: 1,
        host_beats: 7,
        host_address: contribute.host_address,
        ..Submission::default()
    };
    assert_eq!(contribute, expected);
    assert_ne!(contribute.host_address, arm.host_address);
    let mut gradient = ramp(100);
    gradient.resize(112, 0.0);
    assert_eq!(card.gradient(&contribute), gradient);
}

#[test]
fn hadamard_windows_carry_their_block_sizes_key_and_padding() {
    let (mut plane, card) = open(RING_LOG2).unwrap();
    let plans = plan_windows(&params(), 0x1_0005, 1, 9610, true).unwrap();
    for plan in &plans {
        lend_and_arm(&mut plane, plan, &JobParams { early: None, ..params() }).unwrap();
    }
    plane.flush().unwrap();
    let commands = card.commands();
    let fields = |i: usize| {
        let arm: Submission = commands[i];
        (arm.flags, arm.log2_n, arm.log2_blocks, arm.base, arm.beats, arm.host_beats, arm.sign_key == plans[i].sign_key)
    };
    let flags = FLAG_AUTO_BROADCAST | FLAG_HADAMARD;
    assert_eq!(fields(0), (flags, 12, 1, 0, 512, 512, true));
    // 9610 - 8192 = 1418 elements in 89 beats, padded to a block of 256.
    assert_eq!(fields(1), (flags, 12, 0, 512 * 64, 256, 89, true));
    assert_eq!((commands[0].slot, commands[1].slot), (0, 1));
    assert_eq!((commands[0].grace_ns, commands[0].step, commands[0].rotation), (0, 5, 1));
}

#[test]
fn completions_become_stage_reports_and_the_result_comes_back() {
    let (mut plane, card, arm, _) = contributed();
    assert_eq!(plane.poll().unwrap(), None);
    card.write_report(&arm, Stage::Contribute, &[1, 1, 0, 1]);
    let deadline =
        Completion { closed_by: CLOSED_DEADLINE, received_beats: 2, heard: 0b1001, ..done(&arm, Stage::Contribute) };
    card.post(deadline);
    let expected = StageReport {
        cookie: 2 << 16,
        stage: Stage::Contribute,
        closed_by: ClosedBy::Deadline,
        received_bytes_per_rank: vec![64, 64, 0, 64],
        elapsed_ns: 160_000,
        heard: RankSet::of_words(vec![0b1001]),
        last_ns_per_rank: Vec::new(),
        hints: Vec::new(),
    };
    assert_eq!(plane.poll().unwrap(), Some(PlaneEvent::Stage(expected.clone())));

    assert!(matches!(take_result(&mut plane, &small()), Err(SmartNicError::Window(WindowError::WrongState { .. }))));
    card.write_result(&arm, &ramp(112));
    card.write_report(&arm, Stage::Broadcast, &BROADCAST_BEATS);
    card.post(done(&arm, Stage::Broadcast));
    let received_bytes_per_rank = vec![128, 0, 128, 128];
    let (stage, closed_by, heard) = (Stage::Broadcast, ClosedBy::Complete, 0b1101);
    let expected =
        StageReport { stage, closed_by, received_bytes_per_rank, heard: RankSet::of_words(vec![heard]), ..expected };
    assert_eq!(plane.poll().unwrap(), Some(PlaneEvent::Stage(expected)));
    assert_eq!(take_result(&mut plane, &small()).unwrap(), ramp(100));
    assert!(matches!(take_result(&mut plane, &small()), Err(SmartNicError::Window(WindowError::WrongState { .. }))));

    // The next contribution carries the last stage's time, 160 us in units of 16 us.
    lend_and_arm(&mut plane, &small(), &params()).unwrap();
    lend_and_contribute(&mut plane, &small(), &ramp(100)).unwrap();
    plane.flush().unwrap();
    assert_eq!(card.commands()[1].timeout_16us, 10);
}

#[test]
fn bf16_and_incast_are_commanded_and_the_incast_is_advertised() {
    let (mut plane, card) = open(RING_LOG2).unwrap();
    let params = JobParams { bf16: true, incast: 3, ..params() };
    let plan = plan_windows(&params, 0, 0, 16 * 1024, false).unwrap().remove(0);
    lend_and_arm(&mut plane, &plan, &params).unwrap();
    lend_and_contribute(&mut plane, &plan, &ramp(16 * 1024)).unwrap();
    plane.flush().unwrap();
    let [arm, contribute] = card.commands()[..] else { panic!("two commands") };
    assert_eq!((arm.flags, arm.send_incast), (FLAG_AUTO_BROADCAST | FLAG_EARLY | queue::FLAG_BF16, 3));
    // A shard of 256 beats: 128 beats of payload in 6 packets.
    assert_eq!((arm.beats, arm.mark_packets, contribute.incast), (1024, 1, 3));
    assert_eq!((contribute.host_beats, card.gradient(&contribute)), (1024, ramp(16 * 1024)));
}

#[test]
fn windows_and_blocks_are_as_large_as_the_card_says() {
    let limits = PlaneLimits { window_beats_max: 16_384, hadamard_log2_max: 14, ..PlaneLimits::CARD };
    let (mut plane, card) = open_with(RING_LOG2, &limits).unwrap();
    assert_eq!(plane.limits(), limits);
    let params = JobParams::new(RANK, RANKS, 22, BOUND_NS, &limits);
    assert_eq!((params.window_beats_max, params.hadamard_log2_max), (16_384, 12), "4096 is the default block");
    let params = JobParams { hadamard_log2_max: 14, ..params };
    params.check(&limits).unwrap();
    let elements = 1 << 18;
    for (op, hadamard) in [false, true].into_iter().enumerate() {
        let plan = plan_windows(&params, op as u32, 0, elements, hadamard).unwrap().remove(0);
        lend_and_arm(&mut plane, &plan, &params).unwrap();
        lend_and_contribute(&mut plane, &plan, &ramp(elements)).unwrap();
    }
    plane.flush().unwrap();
    let commands = card.commands();
    assert_eq!((commands[0].beats, commands[0].log2_n, commands[0].mark_packets), (16_384, 0, 1));
    assert_eq!((commands[2].beats, commands[2].log2_n, commands[2].log2_blocks), (16_384, 14, 4));
    assert_eq!(card.gradient(&commands[1]), ramp(elements));
    assert_eq!(card.gradient(&commands[3]), ramp(elements));
}

#[test]
fn refusals_are_passed_on_whatever_the_slot_holds_now_one_for_each_command() {
    let refusal = |status| Completion { opcode: DONE_REFUSED, slot: 0, status, cookie: 77, ..Completion::default() };
    for (status, expected) in [
        (STATUS_STALE, RefusedStatus::Stale),
        (STATUS_SLOT_BUSY, RefusedStatus::SlotBusy),
        (STATUS_BAD_COMMAND, RefusedStatus::BadCommand),
    ] {
        let (mut plane, card, ..) = contributed();
        for _command in 0..2 {
            card.post(refusal(status));
            assert_eq!(plane.poll().unwrap(), Some(PlaneEvent::Refused { cookie: 77, status: expected }));
        }
        card.post(refusal(status));
        let error = plane.poll().unwrap_err().to_string();
        let text = "the card reports more refusals than commands: 0x1, expected 0x0";
        assert!(error.contains(text), "{error}");
    }
}

#[test]
fn a_card_that_contradicts_itself_or_the_plan_is_caught() {
    let contribute = |change: fn(&mut Completion, &mut Vec<u16>)| {
        let (mut plane, card, arm, _) = contributed();
        let (mut completion, mut beats) = (done(&arm, Stage::Contribute), CONTRIBUTE_BEATS.to_vec());
        change(&mut completion, &mut beats);
        card.write_report(&arm, Stage::Contribute, &beats);
        card.post(completion);
        match plane.poll() {
            Err(SmartNicError::WrongReport { name, cookie, .. }) => {
                assert_eq!(cookie, completion.cookie);
                name
            }
            Err(SmartNicError::HostMemory { .. }) => "host memory",
            Err(SmartNicError::Driver(_)) => "driver",
            Err(error) => panic!("unexpected error: {error}"),
            Ok(event) => panic!("accepted: {event:?}"),
        }
    };
    assert_eq!(contribute(|done, _| done.opcode = 9), "driver");
    assert_eq!(contribute(|done, _| done.slot = 8), "driver");
    assert_eq!(contribute(|done, _| done.slot = 3), "a window in a free slot:");
    assert_eq!(contribute(|done, _| done.cookie += 1), "cookie");
    assert_eq!(contribute(|done, _| done.opcode = DONE_BROADCAST), "opcode");
    assert_eq!(contribute(|done, _| done.status = queue::STATUS_DMA_ERROR), "host memory");
    assert_eq!(contribute(|done, _| done.expected_beats = 4), "expected_beats");
    assert_eq!(contribute(|done, _| done.received_beats = 2), "received_beats");
    assert_eq!(contribute(|done, _| done.own_beats = 0), "own_beats");
    assert_eq!(contribute(|done, _| done.heard = 0b0101), "heard");
    // Complete with a missing beat; more than the plan allows; a rank that does not exist.
    assert_eq!(contribute(|_, beats| beats[2] = 0), "beats per rank");
    assert_eq!(contribute(|_, beats| beats[2] = 2), "beats per rank");
    assert_eq!(contribute(|_, beats| beats.push(1)), "beats of ranks outside the job");
    let early = |early| {
        let (mut plane, card) = open(RING_LOG2).unwrap();
        lend_and_arm(&mut plane, &small(), &JobParams { early, ..params() }).unwrap();
        plane.flush().unwrap();
        let arm = card.commands()[0];
        card.write_report(&arm, Stage::Contribute, &CONTRIBUTE_BEATS);
        card.post(Completion { closed_by: CLOSED_EARLY, ..done(&arm, Stage::Contribute) });
        plane.poll().is_ok()
    };
    assert!(early(params().early) && !early(None), "closed early without the early rule");
}

#[test]
fn a_stage_reported_twice_is_caught() {
    let (mut plane, card, arm, _) = contributed();
    card.write_report(&arm, Stage::Contribute, &CONTRIBUTE_BEATS);
    card.post(done(&arm, Stage::Contribute));
    card.post(done(&arm, Stage::Contribute));
    assert!(plane.poll().is_ok());
    let error = plane.poll().unwrap_err();
    let expected = "window 0x00020000 in slot 0: the card reports opcode 0x1, expected 0x2; \
                    card and library disagree, compare their contract versions";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn wrong_calls_are_refused_before_the_card_hears_of_them() {
    let (mut plane, card) = open(RING_LOG2).unwrap();
    let wrong_job = JobParams { payload_beats: 21, ..params() };
    let error = lend_and_arm(&mut plane, &small(), &wrong_job).unwrap_err();
    assert_eq!(error.to_string(), "payload_beats is 21 in the job's parameters, but the card was configured with 22");
    let long = JobParams { bound_ns: 1 << 32, ..params() };
    assert!(matches!(
        lend_and_arm(&mut plane, &small(), &long),
        Err(SmartNicError::OutOfRange { name: "bound_ns", .. })
    ));
    assert!(matches!(
        lend_and_contribute(&mut plane, &small(), &[0.0; 100]),
        Err(SmartNicError::Window(WindowError::WrongState { .. }))
    ));
    lend_and_arm(&mut plane, &small(), &params()).unwrap();
    assert!(matches!(
        lend_and_arm(&mut plane, &small(), &params()),
        Err(SmartNicError::Window(WindowError::WrongState { command: "arm", .. }))
    ));
    let error = lend_and_contribute(&mut plane, &small(), &[0.0; 99]).unwrap_err();
    let text = "window 0x00020000: no lent gradient holds all its elements; lend it first";
    assert_eq!(error.to_string(), text);
    lend_and_contribute(&mut plane, &small(), &[0.0; 100]).unwrap();
    assert!(matches!(
        lend_and_contribute(&mut plane, &small(), &[0.0; 100]),
        Err(SmartNicError::Window(WindowError::WrongState { .. }))
    ));
    for op in 3..10 {
        lend_and_arm(&mut plane, &plan_windows(&params(), op, 3, 100, false).unwrap()[0], &params()).unwrap();
    }
    let ninth = &plan_windows(&params(), 10, 3, 100, false).unwrap()[0];
    assert!(matches!(
        lend_and_arm(&mut plane, ninth, &params()),
        Err(SmartNicError::Window(WindowError::NoFreeSlot { slots: 8, .. }))
    ));
    plane.flush().unwrap();
    assert_eq!(card.commands().len(), 8 + 1);
}

#[test]
fn a_ring_too_small_for_the_slots_is_refused() {
    let error = open(4).map(|_| ()).unwrap_err();
    let expected =
        "a ring of 16 entries is too small for 8 window slots; expected at least 32 entries, raise ring_log2";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn a_card_in_a_process_with_a_secret_is_refused() {
    if has_no_secret("a_card_in_a_process_with_a_secret_is_refused") {
        return;
    }
    let error = open(RING_LOG2).map(drop).unwrap_err();
    assert!(matches!(error, SmartNicError::Secret(_)), "{error}");
    assert!(
        error.to_string().starts_with("a secret was given (by OPTIREDUCE_SECRET or a setting), but cards cannot"),
        "{error}"
    );
}

#[test]
fn collectives_run_through_rings_and_memory_many_times_around() {
    // All peers contribute zeros: the mean is a quarter of this rank's gradient. 60 collectives of
    // 3 windows need 360 entries in each ring of 32.
    let (plane, card) = open(RING_LOG2).unwrap();
    let params = params();
    let mut communicator = Collectives::new(plane, params.clone()).unwrap();
    for op in 0..60u32 {
        let elements = 2 * 16 * 1024 + 17 * op as usize + 1;
        let mut armed: Vec<Submission> = vec![];
        let gradient: Vec<f32> = (0..elements).map(|i| (i as u32 * 8 + op) as f32).collect();
        assert_eq!(communicator.prepare(0, op as u16, elements, false).unwrap(), op);
        communicator.start(0, op, gradient.clone()).unwrap();
        let plans = plan_windows(&params, op, op as u16, elements, false).unwrap();
        let mut finished = None;
        for _ in 0..10 {
            for command in card.commands() {
                if command.opcode == OP_ARM {
                    armed.push(command);
                    continue;
                }
                let arm = armed.iter().find(|arm| arm.cookie == command.cookie).unwrap();
                let plan = plans.iter().find(|plan| plan.cookie == command.cookie).unwrap();
                let mean: Vec<f32> = card.gradient(&command).iter().map(|own| own / 4.0).collect();
                card.write_result(arm, &mean);
                for stage in Stage::ALL {
                    let beats = |from| plan.expected_beats(stage, RANK, from) as u16;
                    let all: Vec<u16> = (0..RANKS).map(beats).collect();
                    let expected_beats = (0..RANKS).filter(|from| *from != RANK).map(|from| u32::from(all[from])).sum();
                    card.write_report(arm, stage, &all);
                    let (received_beats, own_beats) = (expected_beats, all[RANK]);
                    card.post(Completion { expected_beats, received_beats, own_beats, ..done(arm, stage) });
                }
            }
            finished = communicator.poll(0).unwrap();
            if finished.is_some() {
                break;
            }
        }
        let finished = finished.unwrap_or_else(|| panic!("collective {op} did not finish"));
        assert_eq!((finished.report.received_fraction, finished.report.local_contribution), ([1.0, 1.0], true));
        let expected: Vec<f32> = gradient.iter().map(|own| own / 4.0).collect();
        assert!(finished.result == expected, "collective {op}");
    }
}

#[test]
fn a_card_at_rest_is_configured_anew_for_other_ranks() {
    let (mut plane, card, arm, _) = contributed();
    let settings = Settings::first(BOUND_NS);
    let view = View { number: 1, first_op: 3, epoch: 1, ..View::first(Ranks::none(4).with([1, 2, 3]), settings) };
    assert!(plane.capabilities().has(Capability::Views) && plane.enter(&View::first(Ranks::all(4), settings)).unwrap());
    assert!(!plane.enter(&view).unwrap(), "a window is in the card");
    assert_eq!(
        (card.read(&optireduce_contract::registers::RANK), card.read(&optireduce_contract::registers::RANKS)),
        (1, 4)
    );
    for (stage, beats) in [(Stage::Contribute, CONTRIBUTE_BEATS), (Stage::Broadcast, BROADCAST_BEATS)] {
        card.write_report(&arm, stage, &beats);
        card.post(done(&arm, stage));
        assert!(matches!(plane.poll().unwrap(), Some(PlaneEvent::Stage(_))));
    }
    take_result(&mut plane, &small()).unwrap();
    assert!(plane.enter(&view).unwrap());
    let tag = view.job_tag(7).to_be_bytes();
    assert_eq!(
        (card.read(&optireduce_contract::registers::RANK), card.read(&optireduce_contract::registers::RANKS)),
        (0, 3)
    );
    assert_eq!(card.read(&JOB_TAG_LO), u32::from_le_bytes(*tag.first_chunk().unwrap()));
    assert_eq!(card.read(&LOCAL_IP), u32::from_le_bytes(Endpoint::of_rank(RANK).ip));
    let params = params().of_view(&view);
    let plan = plan_windows(&params, 3, 3, 100, false).unwrap().remove(0);
    assert!(matches!(
        lend_and_arm(&mut plane, &plan, &self::params()),
        Err(SmartNicError::WrongJob { name: "rank", .. })
    ));
    lend_and_arm(&mut plane, &plan, &params).unwrap();
    plane.flush().unwrap();
    let armed = card.commands().remove(0);
    assert_eq!((armed.rotation, armed.shard_quotient, armed.shard_remainder), (0, 2, 1));
    card.write_report(&armed, Stage::Contribute, &[3, 3, 3, 0]);
    card.post(Completion {
        expected_beats: 6,
        received_beats: 6,
        own_beats: 3,
        heard: 0b110,
        ..done(&armed, Stage::Contribute)
    });
    let Some(PlaneEvent::Stage(report)) = plane.poll().unwrap() else { panic!("a report") };
    assert_eq!(report.received_bytes_per_rank, [192, 192, 192]);

    let (mut plane, _) = open(RING_LOG2).unwrap();
    let error = plane.enter(&View { ranks: Ranks::none(4).with([0, 2, 3]), ..view }).unwrap_err();
    assert_eq!(error.to_string(), "rank 1 is not in view 1; it must rejoin before it continues");
}

#[test]
fn a_rank_that_is_left_alone_has_its_own_gradient_back_without_the_card() {
    let (mut plane, card) = open(RING_LOG2).unwrap();
    let settings = Settings { hadamard: true, ..Settings::first(BOUND_NS) };
    let first = View::first(Ranks::all(4), settings);
    let alone = View { number: 1, first_op: 3, epoch: 1, ranks: Ranks::none(4).with([1]), ..first.clone() };
    assert!(plane.enter(&alone).unwrap());
    let params = params().of_view(&alone);
    let plans = plan_windows(&params, 3, 3, 40_000, true).unwrap();
    let gradient = ramp(40_000);
    for plan in &plans {
        let part = &gradient[plan.first_element..][..plan.elements];
        lend_and_arm(&mut plane, plan, &params).unwrap();
        assert!(plane.poll().unwrap().is_none(), "not contributed yet");
        assert!(matches!(plane.take_result(plan, &mut |_| {}), Err(SmartNicError::Window(_))));
        lend_and_contribute(&mut plane, plan, part).unwrap();
        plane.flush().unwrap();
        for stage in Stage::ALL {
            let Some(PlaneEvent::Stage(report)) = plane.poll().unwrap() else { panic!("a report") };
            let own_bytes = (plan.expected_beats(stage, 0, 0) * 64) as u64;
            assert_eq!((report.stage, report.closed_by), (stage, ClosedBy::Complete));
            assert_eq!(report.received_bytes_per_rank, [own_bytes]);
        }
        let result = take_result(&mut plane, plan).unwrap();
        assert!(plane.poll().unwrap().is_none() && result == part);
    }
    assert!(plans.len() > 1 && card.commands().is_empty());
    let two = View { number: 2, first_op: 4, epoch: 2, ranks: Ranks::none(4).with([1, 3]), ..first };
    assert!(plane.enter(&two).unwrap());
    assert_eq!(card.read(&optireduce_contract::registers::RANKS), 2);
    let params = self::params().of_view(&two);
    lend_and_arm(&mut plane, &plan_windows(&params, 4, 3, 100, false).unwrap()[0], &params).unwrap();
    plane.flush().unwrap();
    assert_eq!(card.commands().len(), 1);
}
