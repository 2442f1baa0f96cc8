use super::registers::{Events, Registers};
use super::testing::{Pace, at_every_pace};
use super::types::JobWords;
use crate::cosim::Bench;
use crate::hdl::prelude::*;
use crate::random::Random;
use optireduce_contract::registers::{
    self as map, Access, BAR_BYTES, PEER_BYTES, PEER_TABLE, QUEUE_BASE, REGISTERS, Register, STATUS_BUSY,
    STATUS_DMA_ERROR, status_stopped,
};

const WORDS: usize = BAR_BYTES / 4;
const QUEUES: usize = optireduce_contract::limits::QUEUES;

/// Every register, with one copy per queue for queue registers.
fn all() -> Vec<Register> {
    let copies = |register: &Register| if register.offset < QUEUE_BASE { 1 } else { QUEUES };
    REGISTERS.iter().flat_map(|register| (0..copies(register)).map(|queue| register.of_queue(queue))).collect()
}

fn write(bench: &mut Bench<Registers>, register: Register, value: u64) {
    bench.block.write.next = true;
    bench.block.write_address.next = bits_w(register.word() as u64);
    bench.block.write_data.next = bits_w(value);
    bench.tick();
    bench.block.write.next = false;
    bench.settle();
}

fn read_word(bench: &mut Bench<Registers>, word: usize) -> u64 {
    bench.block.read_address.next = bits_w(word as u64);
    bench.tick();
    bench.block.read_data.val().raw()
}

fn read(bench: &mut Bench<Registers>, register: Register) -> u64 {
    read_word(bench, register.word())
}

#[test]
fn every_word_reads_as_the_contract_says_after_power_on() {
    let mut bench = Bench::new(Registers::default());
    for word in 0..WORDS {
        let expected = all().iter().find(|r| r.word() == word).map_or(0, |r| r.reset);
        assert_eq!(read_word(&mut bench, word), expected as u64, "offset {:#x}", 4 * word);
    }
}

#[test]
fn a_write_changes_its_host_register_and_nothing_else() {
    let mut bench = Bench::new(Registers::default());
    let mut random = Random::new(1);
    let mut words: Vec<u64> = vec![0; WORDS];
    let registers = all();
    registers.iter().for_each(|register| words[register.word()] = register.reset as u64);
    for turn in 0..3 {
        for word in 0..WORDS {
            let value = random.next() >> 32;
            let register = registers.iter().find(|register| register.word() == word);
            bench.block.write.next = true;
            bench.block.write_address.next = bits_w(word as u64);
            bench.block.write_data.next = bits_w(value);
            bench.tick();
            bench.block.write.next = false;
            if let Some(register) = register.filter(|register| register.access == Access::ReadWrite) {
                words[word] = value & (u64::MAX >> (64 - register.kept_bits()));
            }
            if register == Some(&map::SCRATCH) {
                words[map::SCRATCH_ECHO.word()] = !words[word] & 0xffff_ffff;
            }
            if register.is_some() || turn == 0 && word % 64 == 0 {
                for (at, &expected) in words.iter().enumerate() {
                    assert_eq!(read_word(&mut bench, at), expected, "offset {:#x} after {:#x}", 4 * at, 4 * word);
                }
            }
        }
    }
    bench.block.write_address.next = bits_w(map::SCRATCH.word() as u64);
    bench.block.write_data.next = bits_w(!words[map::SCRATCH.word()]);
    bench.tick();
    assert_eq!(read(&mut bench, map::SCRATCH), words[map::SCRATCH.word()]);
}

#[test]
fn legal_values_of_every_limit_are_kept_whole() {
    use optireduce_contract::limits;
    let mut bench = Bench::new(Registers::default());
    let largest = [
        (map::RANK, limits::RANKS_MAX - 1),
        (map::RANKS, limits::RANKS_MAX),
        (map::PAYLOAD_BEATS, limits::PAYLOAD_BEATS_MAX),
        (map::SQ_LOG2, 15),
        (map::CQ_LOG2, 15),
        (map::SQ_TAIL, 0xffff),
        (map::CQ_HEAD, 0xffff),
    ];
    for (register, value) in largest {
        write(&mut bench, register, value as u64);
        assert_eq!(read(&mut bench, register), value as u64, "{}", register.name);
    }
}

#[test]
fn registers_reach_the_units_they_are_for() {
    let mut bench = Bench::new(Registers::default());
    let mut random = Random::new(2);
    let mut queues = [[0u64; 6]; QUEUES];
    for _ in 0..100 {
        let mut value = |bits: u32| random.next() >> (64 - bits);
        let queue = value(2) as usize;
        // Bases with an empty half, or zero.
        let mut base = || value(64) & [!0, 0xffff_ffff, !0xffff_ffff, 0][value(2) as usize];
        let given = [base(), base(), value(4), value(4), value(16), value(16)];
        let [sq_base, cq_base, sq_log2, cq_log2, sq_tail, cq_head] = given;
        queues[queue] = given;
        let (tag, mac) = (value(64), value(48));
        let (rank, ranks, payload, port, ip, enable) = (value(6), value(7), value(8), value(16), value(32), value(1));
        let halves = |word: u64| [word & 0xffff_ffff, word >> 32];
        let values = [
            (map::CONTROL, enable),
            (map::RANK, rank),
            (map::RANKS, ranks),
            (map::JOB_TAG_LO, halves(tag)[0]),
            (map::JOB_TAG_HI, halves(tag)[1]),
            (map::PAYLOAD_BEATS, payload),
            (map::UDP_PORT, port),
            (map::LOCAL_IP, ip),
            (map::LOCAL_MAC_LO, halves(mac)[0]),
            (map::LOCAL_MAC_HI, halves(mac)[1]),
            (map::SQ_BASE_LO, halves(sq_base)[0]),
            (map::SQ_BASE_HI, halves(sq_base)[1]),
            (map::SQ_LOG2, sq_log2),
            (map::CQ_BASE_LO, halves(cq_base)[0]),
            (map::CQ_BASE_HI, halves(cq_base)[1]),
            (map::CQ_LOG2, cq_log2),
            (map::SQ_TAIL, sq_tail),
            (map::CQ_HEAD, cq_head),
        ];
        values.into_iter().for_each(|(register, value)| write(&mut bench, register.of_queue(queue), value));
        let job = JobWords {
            rank: bits_w(rank),
            ranks: bits_w(ranks),
            job_tag: bits_w(tag),
            payload_beats: bits_w(payload),
            udp_port: bits_w(port),
            ip: bits_w(ip),
            mac: bits_w(mac),
            window_beats: bits_w(1024),
            log2_n_max: bits_w(12),
        };
        assert_eq!(bench.block.job.val(), job);
        assert_eq!(bench.block.enable.val(), enable == 1);
        let usable = queues.iter().enumerate().map(|(q, of)| u64::from(of[0] != 0 && of[1] != 0) << q).sum::<u64>();
        assert_eq!(bench.block.usable.val().raw(), usable, "{queues:x?}");
        for (queue, [sq_base, _, sq_log2, cq_log2, sq_tail, cq_head]) in queues.into_iter().enumerate() {
            bench.block.sq_queue.next = bits_w(queue as u64);
            bench.block.cq_queue.next = bits_w(3 - queue as u64);
            bench.settle();
            let block = &bench.block;
            let cq_base_of_other = block.cq_base.val().raw();
            assert_eq!((block.sq_base.val().raw(), cq_base_of_other), (sq_base, queues[3 - queue][1]));
            assert_eq!(block.sq_mask.val().raw(), (1 << sq_log2) - 1);
            assert_eq!(block.cq_mask[queue].val().raw(), (1 << cq_log2) - 1);
            assert_eq!((block.sq_tail[queue].val().raw(), block.cq_head[queue].val().raw()), (sq_tail, cq_head));
        }
    }
}

#[test]
fn a_reset_of_the_bus_disables_and_keeps_the_rest() {
    let mut bench = Bench::new(Registers::default());
    write(&mut bench, map::CONTROL, 1);
    write(&mut bench, map::RANKS, 5);
    bench.block.reset.next = true;
    bench.tick();
    bench.block.reset.next = false;
    assert_eq!((read(&mut bench, map::CONTROL), read(&mut bench, map::RANKS)), (0, 5));
    assert!(!bench.block.enable.val());
}

#[test]
fn the_peer_table_and_only_it_goes_to_the_builder() {
    let mut bench = Bench::new(Registers::default());
    for word in 0..WORDS {
        for write in [false, true] {
            bench.block.write.next = write;
            bench.block.write_address.next = bits_w(word as u64);
            bench.settle();
            let inside = (PEER_TABLE..PEER_TABLE + 64 * PEER_BYTES).contains(&(4 * word));
            assert_eq!(bench.block.peer_write.val(), write && inside, "offset {:#x}", 4 * word);
            if inside {
                assert_eq!(bench.block.peer_word.val().raw() as usize, word - PEER_TABLE / 4);
            }
            bench.tick();
        }
    }
}

fn counted_by(events: u64) -> (Events, Vec<Register>) {
    let on = |i: u32| events >> i & 1 == 1;
    let counters = [
        map::RX_PACKETS,
        map::TX_PACKETS,
        map::DROP_FIFO_FULL,
        map::DROP_FOREIGN,
        map::DROP_MALFORMED,
        map::DROP_VERSION,
        map::DROP_JOB,
        map::DROP_NO_WINDOW,
        map::DROP_FLAGS,
        map::DROP_OUT_OF_SHARD,
        map::DROP_LATE_BEATS,
        map::DROP_LATE_BEATS,
        map::DROP_DUPLICATE_BEATS,
        map::DROP_DUPLICATE_BEATS,
        map::DROP_STALE,
        map::RX_BAD,
    ];
    let events = Events {
        rx_packet: on(0),
        tx_packet: on(1),
        fifo_full: on(2),
        foreign: on(3),
        malformed: on(4),
        version: on(5),
        job: on(6),
        no_window: on(7),
        flags: on(8),
        out_of_shard: on(9),
        late_contribute: on(10),
        late_broadcast: on(11),
        duplicate_contribute: on(12),
        duplicate_broadcast: on(13),
        stale: on(14),
        bad: on(15),
    };
    (events, (0..16).filter(|&i| on(i)).map(|i| counters[i as usize]).collect())
}

/// Compares every read under random events, faults and resets.
fn run(bench: &mut Bench<Registers>, random: &mut Random, pace: Pace, cycles: u64) {
    let registers = all();
    let mut words = vec![0u64; WORDS];
    registers.iter().for_each(|register| words[register.word()] = register.reset as u64);
    let (control, status) = (map::CONTROL.word(), map::STATUS.word());
    let card_written = |word: usize| (map::RX_PACKETS.word()..=map::RX_BAD.word()).contains(&word);
    let mut expected = None;
    let mut clear = false;
    let [mut counted, mut stops] = [0u64; 2];
    for cycle in 0..cycles {
        let (events, counters) = counted_by(if pace.comes(random) { random.next() & random.next() } else { 0 });
        let register = registers[random.below(registers.len() as u64) as usize];
        let target = registers[random.below(registers.len() as u64) as usize];
        let (write, value) = (!pace.takes(random) || random.one_in(8), random.next() >> 32);
        if random.one_in(if clear { 10 } else { 200 }) {
            clear = !clear;
        }
        let (fault, busy, stop) = (random.one_in(40), random.one_in(2), random.next() & random.next() & 0xf);
        let stop = if random.one_in(40) { stop } else { 0 };
        let indices = [(); QUEUES].map(|_| [random.next() as u16, random.next() as u16]);
        bench.block.events.next = events;
        bench.block.read_address.next = bits_w(register.word() as u64);
        bench.block.write.next = write;
        bench.block.write_address.next = bits_w(target.word() as u64);
        bench.block.write_data.next = bits_w(value);
        bench.block.dma_fault.next = fault;
        bench.block.busy.next = busy;
        bench.block.clear.next = clear;
        bench.block.stop.next = bits_w(stop);
        for (queue, [sq_head, cq_tail]) in indices.into_iter().enumerate() {
            bench.block.sq_head[queue].next = bits_w(sq_head as u64);
            bench.block.cq_tail[queue].next = bits_w(cq_tail as u64);
            words[map::SQ_HEAD.of_queue(queue).word()] = sq_head as u64;
            words[map::CQ_TAIL.of_queue(queue).word()] = cq_tail as u64;
        }
        bench.settle();
        if let Some(expected) = expected {
            assert_eq!(bench.block.read_data.val().raw(), expected, "cycle {cycle}");
        }
        let now_busy = u64::from(STATUS_BUSY) * u64::from(busy);
        words[status] = words[status] & !u64::from(STATUS_BUSY) | now_busy;
        let based = |register: Register, queue: usize| words[register.of_queue(queue).word()] != 0;
        let usable = (0..QUEUES).filter(|&queue| {
            (based(map::SQ_BASE_LO, queue) || based(map::SQ_BASE_HI, queue))
                && (based(map::CQ_BASE_LO, queue) || based(map::CQ_BASE_HI, queue))
                && words[status] & u64::from(status_stopped(queue)) == 0
        });
        let usable: u64 = usable.map(|queue| 1 << queue).sum();
        assert_eq!(bench.block.usable.val().raw(), usable, "cycle {cycle}");
        expected = Some(words[register.word()]);
        if clear {
            words[status] = now_busy;
            (0..WORDS).filter(|&word| card_written(word)).for_each(|word| words[word] = 0);
        } else {
            counters.iter().for_each(|counter| words[counter.word()] += 1);
            counted += counters.len() as u64;
            stops += u64::from(stop != 0);
            words[status] |= u64::from(STATUS_DMA_ERROR) * u64::from(fault);
            let stopped = (0..QUEUES).filter(|queue| stop >> queue & 1 == 1);
            words[status] |= stopped.map(|queue| u64::from(status_stopped(queue))).sum::<u64>();
        }
        if write && target.access == Access::ReadWrite {
            words[target.word()] = value & (u64::MAX >> (64 - target.kept_bits()));
            words[map::SCRATCH_ECHO.word()] = !words[map::SCRATCH.word()] & 0xffff_ffff;
        }
        bench.tick();
        assert_eq!(u64::from(bench.block.enable.val()), words[control], "cycle {cycle}");
    }
    assert!(counted > 0 && stops > 0, "nothing happened");
}

#[test]
fn events_are_counted_and_cleared() {
    at_every_pace(3, |random, pace| run(&mut Bench::new(Registers::default()), random, pace, 5000));
}

#[test]
fn verilog_keeps_and_counts_the_same() {
    let mut bench = Bench::recording(Registers::default());
    run(&mut bench, &mut Random::new(9), Pace::RANDOM, 3000);
    bench.verify_with_verilator("registers");
}
