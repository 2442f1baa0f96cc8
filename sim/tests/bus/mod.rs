//! What every way to a card must do, as one suite that runs on all of them: in this process, and over a vfio-user socket to a
//! card in another one.

#[cfg(feature = "serve")]
mod served;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use optireduce_contract::limits::BEAT_BYTES;
use optireduce_contract::queue::{
    CLOSED_DEADLINE, Completion, DONE_BROADCAST, DONE_CONTRIBUTE, DONE_REFUSED, FLAG_AUTO_BROADCAST, OP_ARM,
    OP_CONTRIBUTE, REPORT_BYTES, STATUS_BAD_COMMAND, STATUS_DMA_ERROR, STATUS_OK, Submission,
};
use optireduce_contract::registers::{self as reg, Access, REGISTERS};
use optireduce_contract::shard::ShardMap;
use optireduce_driver::{Bus, CardHook, DmaBuffer, DriverError, InProcessBus, Nic, in_process};
use optireduce_sim::card::Card;
use optireduce_sim::card::functional::FunctionalCard;
use optireduce_sim::check::card_bench::bench_job;

/// The suite takes so much DMA memory.
const DMA_BYTES: usize = 1 << 20;
const BEATS: usize = 100;
const LANES: usize = BEAT_BYTES / 4;
/// Far longer than any wait here, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// Runs the suite. `open` opens the way to the same card anew, once the one before is gone.
fn check_bus<B: Bus>(mut open: impl FnMut() -> Result<B, DriverError>) {
    registers_are_those_of_the_contract(open().unwrap());
    a_window_travels_and_rings_turn(open().unwrap());
    what_the_card_cannot_reach_is_told(open().unwrap());
}

fn registers_are_those_of_the_contract(bus: impl Bus) {
    bus.flush().unwrap();
    let all = REGISTERS.iter().flat_map(|register| (0..4).map(move |queue| register.of_queue(queue)));
    for register in all.clone().filter(|register| register.access == Access::ReadOnly) {
        let before = bus.read(&register);
        bus.write(&register, !before);
        bus.flush().unwrap();
        let after = bus.read(&register);
        // Time goes on.
        let is_time = register.name.starts_with("CARD_TIME");
        assert!(
            after == before || is_time && after != !before,
            "{} is the card's: {before:#x}, {after:#x}",
            register.name
        );
    }
    let written = || all.clone().filter(|register| register.access == Access::ReadWrite && *register != reg::CONTROL);
    let value = |register: &reg::Register| 0x1234_5600 + register.offset as u32;
    written().for_each(|register| bus.write(&register, value(&register)));
    bus.flush().unwrap();
    for register in written() {
        assert_eq!(bus.read(&register), value(&register), "{} at {:#x}", register.name, register.offset);
    }
    written().for_each(|register| bus.write(&register, 0));
    let nic = Nic::open(bus).unwrap();
    let limits = nic.limits();
    assert!(limits.queues == 4 && limits.ranks_max == 64 && limits.slots == 8, "{limits:?}");
    nic.check_alive().unwrap();
}

/// A job of two, of which only this rank is there: windows close at their deadlines.
fn configured<B: Bus>(bus: B) -> (Nic<B>, [DmaBuffer; 3]) {
    let mut nic = Nic::open(bus).unwrap();
    nic.configure(&bench_job(2, 4)).unwrap();
    // Off the edges of pages, and over them.
    nic.alloc(BEAT_BYTES, BEAT_BYTES).unwrap();
    let [gradient, result] = [(); 2].map(|()| nic.alloc(BEATS * BEAT_BYTES, BEAT_BYTES).unwrap());
    let reports = nic.alloc(REPORT_BYTES, REPORT_BYTES).unwrap();
    assert!(gradient.iova % 4096 != 0 && result.iova / 4096 != (result.iova + result.len as u64) / 4096);
    (nic, [gradient, result, reports])
}

fn window([gradient, result, reports]: [DmaBuffer; 3], cookie: u32) -> [Submission; 2] {
    let shards = ShardMap::new(BEATS, 2, 0);
    let arm = Submission {
        opcode: OP_ARM,
        cookie,
        step: cookie as u16,
        flags: FLAG_AUTO_BROADCAST,
        beats: BEATS as u16,
        shard_quotient: shards.quotient as u16,
        shard_remainder: shards.remainder as u8,
        bound_ns: 1_000_000,
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

fn run<B: Bus>(nic: &mut Nic<B>, commands: &[Submission]) -> [Completion; 2] {
    commands.iter().for_each(|command| nic.submit(command).unwrap());
    nic.ring_doorbell().unwrap();
    [(); 2].map(|()| nic.wait_completion(PATIENCE).unwrap())
}

fn a_window_travels_and_rings_turn(bus: impl Bus) {
    let (mut nic, buffers) = configured(bus);
    // More entries than the rings have.
    for cookie in 1..=20 {
        let given: Vec<f32> = (0..BEATS * LANES).map(|at| (at as u32 * cookie) as f32).collect();
        nic.write_f32(buffers[0], 0, &given).unwrap();
        let done = run(&mut nic, &window(buffers, cookie));
        let expected = [DONE_CONTRIBUTE, DONE_BROADCAST].map(|opcode| (opcode, cookie, STATUS_OK, CLOSED_DEADLINE));
        assert_eq!(done.map(|done| (done.opcode, done.cookie, done.status, done.closed_by)), expected);
        let mut got = vec![f32::NAN; BEATS * LANES];
        nic.read_f32(buffers[1], 0, &mut got).unwrap();
        // The own shard is the mean of the only contribution.
        let own = BEATS / 2 * LANES;
        assert_eq!(got[..own], given[..own]);
    }
    let counters = nic.counters().unwrap();
    assert_eq!((counters.sq_head, counters.cq_tail, counters.dma_error), (40, 40, false));
    assert!(counters.tx_packets > 0);
    // Disabled in the middle of a window, and configured anew: nothing is left of it.
    nic.submit(&window(buffers, 30)[0]).unwrap();
    nic.ring_doorbell().unwrap();
    nic.disable().unwrap();
    nic.configure(&bench_job(2, 4)).unwrap();
    let refused = Submission { opcode: 99, cookie: 31, ..Submission::default() };
    nic.submit(&refused).unwrap();
    nic.ring_doorbell().unwrap();
    let found = nic.wait_completion(PATIENCE).unwrap();
    assert_eq!((found.opcode, found.cookie, found.status), (DONE_REFUSED, 31, STATUS_BAD_COMMAND));
    assert_eq!(nic.poll_completion().unwrap(), None);
}

fn what_the_card_cannot_reach_is_told(bus: impl Bus) {
    let (mut nic, buffers) = configured(bus);
    let end = nic.bus().dma().iova() + nic.bus().dma().bytes() as u64;
    let [arm, contribute] = window(buffers, 1);
    // The last of its beats lies beyond the memory.
    let beyond = Submission { host_address: end - ((BEATS - 1) * BEAT_BYTES) as u64, ..contribute };
    nic.submit(&arm).unwrap();
    nic.submit(&beyond).unwrap();
    nic.ring_doorbell().unwrap();
    let found = nic.wait_completion(PATIENCE).unwrap();
    assert_eq!((found.cookie, found.status), (1, STATUS_DMA_ERROR));
    assert!(nic.counters().unwrap().dma_error);
}

/// A card in this process: its time goes on by 20 us whenever the driver waits.
#[derive(Default)]
struct Steps {
    card: OnceLock<Mutex<FunctionalCard>>,
}

impl CardHook for Steps {
    fn flush(&self) {
        if let Some(card) = self.card.get() {
            card.lock().unwrap().sync_registers();
        }
    }

    fn relax(&self) {
        let Some(card) = self.card.get() else { return };
        let mut card = card.lock().unwrap();
        card.sync_registers();
        let until_ns = card.now_ns() + 20_000;
        card.run(until_ns, &mut VecDeque::new(), &mut Vec::new());
        card.publish_registers();
    }
}

fn bus_in_process() -> Result<InProcessBus, DriverError> {
    let steps = Arc::new(Steps::default());
    let (bus, end) = in_process("sim0", DMA_BYTES, 0x4000_0000, steps.clone())?;
    assert!(steps.card.set(Mutex::new(FunctionalCard::new(end))).is_ok());
    Ok(bus)
}

#[test]
fn the_bus_in_this_process_obeys_every_rule_of_a_bus() {
    check_bus(bus_in_process);
}
