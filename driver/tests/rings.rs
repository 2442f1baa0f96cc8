//! Configuration, both rings, doorbells and waits, with a card that implements the queue protocol.

mod card;

use std::io::{Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use card::{IOVA, TestCard, arm, job};
use optireduce_contract::queue::*;
use optireduce_contract::registers::{self as regs, PEER_TABLE, Register};
use optireduce_driver::{
    Bus, BusEvent, DmaFault, DmaMap, DriverError, FaultBus, InProcessBus, JobConfig, Nic, TraceBus,
};

const MIB: usize = 1 << 20;

fn configured(ring_log2: u32) -> (Arc<TestCard>, Nic<impl Bus>, Receiver<BusEvent>) {
    let (card, bus) = TestCard::new(8 * MIB);
    let (sender, events) = channel();
    let mut nic = Nic::open(TraceBus::new(bus, move |event| sender.send(event).unwrap_or(()))).unwrap();
    nic.configure(&job(ring_log2)).unwrap();
    events.try_iter().for_each(drop);
    (card, nic, events)
}

#[test]
fn configuration_reaches_the_registers_as_on_the_wire() {
    let (card, nic, _) = configured(5);
    // From the contract: rank 2 of 4 has MAC 02:4f:52:00:00:03 and address 10.77.0.3; port 5791 is
    // 0x169f.
    let expected = [
        (&regs::CONTROL, 1),
        (&regs::RANK, 2),
        (&regs::RANKS, 4),
        (&regs::JOB_TAG_LO, 0x4433_2211),
        (&regs::JOB_TAG_HI, 0x8877_6655),
        (&regs::PAYLOAD_BEATS, 22),
        (&regs::UDP_PORT, 0x9f16),
        (&regs::LOCAL_IP, 0x0300_4d0a),
        (&regs::LOCAL_MAC_LO, 0x0052_4f02),
        (&regs::LOCAL_MAC_HI, 0x0300),
        (&regs::SQ_BASE_LO, IOVA as u32),
        (&regs::SQ_BASE_HI, (IOVA >> 32) as u32),
        (&regs::SQ_LOG2, 5),
        (&regs::CQ_BASE_LO, IOVA as u32 + 4096),
        (&regs::CQ_BASE_HI, (IOVA >> 32) as u32),
        (&regs::CQ_LOG2, 5),
        (&regs::SQ_TAIL, 0),
        (&regs::CQ_HEAD, 0),
    ];
    for (register, value) in expected {
        assert_eq!(card.register(register), value, "{}", register.name);
    }
    let peer = |rank: usize| -> [u32; 4] {
        std::array::from_fn(|word| card.end().read_register(PEER_TABLE / 4 + 4 * rank + word))
    };
    assert_eq!(peer(0), [0x0100_4d0a, 0x0052_4f02, 0x0100, 0]);
    assert_eq!(peer(3), [0x0400_4d0a, 0x0052_4f02, 0x0400, 0]);
    assert_eq!(peer(4), [0; 4]);
    let mut nic = nic;
    nic.configure(&JobConfig { rates_bytes_per_us: vec![0, 12_500, 65_535, 1], queue: 3, ..job(5) }).unwrap();
    assert_eq!([0, 1, 2, 3, 4].map(|rank| peer(rank)[3]), [0, 12_500, 65_535, 1, 0]);
    assert_eq!(card.register(&regs::SQ_LOG2), 0, "the queue used before is closed");
    assert_eq!(card.register(&regs::SQ_LOG2.of_queue(3)), 5);
    drop(nic);
    assert_eq!(card.register(&regs::CONTROL), 0, "a dropped card is disabled");
}

#[test]
fn impossible_jobs_are_refused_and_leave_the_card_as_it_was() {
    let (card, mut nic, _) = configured(5);
    let cases: [(&str, JobConfig); 10] = [
        ("job: ranks is 1, expected 2 to 64", JobConfig { ranks: 1, ..job(5) }),
        ("job: ranks is 65, expected 2 to 64", JobConfig { ranks: 65, ..job(5) }),
        ("job: rank is 4, expected 0 to 3", JobConfig { rank: 4, ..job(5) }),
        ("job: payload_beats is 140, expected 1 to 139", JobConfig { payload_beats: 140, ..job(5) }),
        ("job: udp_port is 0, expected 1 to 65535", JobConfig { udp_port: 0, ..job(5) }),
        ("job: number of endpoints is 0, expected 4", JobConfig { endpoints: vec![], ..job(5) }),
        ("job: number of rates is 3, expected 4", JobConfig { rates_bytes_per_us: vec![1; 3], ..job(5) }),
        ("job: queue is 4, expected 0 to 3", JobConfig { queue: 4, ..job(5) }),
        ("job: ring_log2 is 1, expected 2 to 15", job(1)),
        ("job: ring_log2 is 16, expected 2 to 15", job(16)),
    ];
    for (message, job) in cases {
        let error = nic.configure(&job).err().unwrap().to_string();
        assert!(error.starts_with(&format!("sim0: {message}.\n")), "{error}");
    }
    assert_eq!(card.register(&regs::CONTROL), 1);
    nic.submit(&arm(0)).unwrap();
}

#[test]
fn one_doorbell_announces_a_batch_after_its_entries() {
    let (_card, mut nic, events) = configured(5);
    for cookie in 0..7 {
        nic.submit(&arm(cookie)).unwrap();
    }
    nic.ring_doorbell().unwrap();
    nic.ring_doorbell().unwrap();
    let events: Vec<_> = events.try_iter().collect();
    let (doorbell, entries) = events.split_last().unwrap();
    assert_eq!(*doorbell, BusEvent::Write { register: "SQ_TAIL", value: 7 });
    for (cookie, event) in (0u32..).zip(entries) {
        let iova = IOVA + 64 * u64::from(cookie);
        assert_eq!(*event, BusEvent::StoreEntry { iova, entry: arm(cookie).to_bytes() });
    }
    assert_eq!(entries.len(), 7);
}

#[test]
fn full_ring_refuses_without_losing_entries() {
    let (card, mut nic, _) = configured(3);
    for cookie in 0..8 {
        nic.submit(&arm(cookie)).unwrap();
    }
    for _ in 0..3 {
        let error = nic.submit(&arm(99)).err().unwrap();
        assert!(matches!(error, DriverError::RingFull { entries: 8, unrung: 8, .. }), "{error}");
    }
    nic.ring_doorbell().unwrap();
    assert!(matches!(nic.submit(&arm(99)), Err(DriverError::RingFull { unrung: 0, .. })));
    card.step();
    // No completion has been taken: the driver finds room by reading SQ_HEAD.
    nic.submit(&arm(8)).unwrap();
    nic.ring_doorbell().unwrap();
    for cookie in 0..9 {
        assert_eq!(nic.wait_completion(Duration::from_secs(5)).unwrap().cookie, cookie);
    }
    assert_eq!(card.seen(), (0..9).map(arm).collect::<Vec<_>>());
    assert_eq!(nic.poll_completion().unwrap(), None);
}

#[test]
fn both_rings_wrap_with_flipping_phase_beyond_65536_entries_and_no_register_is_read() {
    for log2 in [2, 6, 15] {
        let (card, mut nic, events) = configured(log2);
        let (mut submitted, mut completed) = (0u32, 0u32);
        while completed < 150_000 {
            // Odd batches, so that ring turns and batches do not coincide.
            let batch = (submitted % 7 + 1).min((1 << log2) - (submitted - completed));
            for _ in 0..batch {
                nic.submit(&arm(submitted)).unwrap();
                submitted += 1;
            }
            nic.ring_doorbell().unwrap();
            card.step();
            for _ in 0..batch {
                let completion = nic.poll_completion().unwrap().expect("the card has answered");
                assert_eq!((completion.cookie, completion.slot), (completed, (completed % 8) as u8));
                completed += 1;
            }
            assert_eq!(nic.poll_completion().unwrap(), None);
            let unpublished = completed.wrapping_sub(card.register(&regs::CQ_HEAD)) & 0xffff;
            assert!(unpublished < 1 << log2 >> 2, "{unpublished} of {} entries are kept back", 1 << log2);
            assert!(!events.try_iter().any(|event| matches!(event, BusEvent::Read { .. } | BusEvent::Flush)));
        }
    }
}

#[test]
fn entries_arrive_whole_when_the_card_runs_in_another_thread() {
    let (card, bus) = TestCard::threaded(MIB);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                card.step();
                std::thread::yield_now();
            }
        });
        // Stops the card even after a failed assertion, or the scope never ends.
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let mut nic = Nic::open(bus).unwrap();
            nic.configure(&job(4)).unwrap();
            let (mut submitted, mut completed) = (0u32, 0u32);
            while completed < 100_000 {
                while submitted < 100_000 && submitted - completed < 32 {
                    match nic.submit(&arm(submitted)) {
                        Ok(()) => submitted += 1,
                        Err(DriverError::RingFull { .. }) => break,
                        Err(error) => panic!("{error}"),
                    }
                }
                nic.ring_doorbell().unwrap();
                let completion = nic.wait_completion(Duration::from_secs(20)).unwrap();
                assert_eq!((completion.cookie, completion.slot), (completed, (completed % 8) as u8));
                completed += 1;
            }
        }));
        stop.store(true, Ordering::Relaxed);
        result.unwrap();
    });
    assert!(card.seen().into_iter().eq((0..100_000).map(arm)));
}

#[test]
fn card_waits_when_the_completion_ring_is_full_and_quarters_are_published() {
    let (card, mut nic, events) = configured(4);
    for round in 0..2 {
        for cookie in 0..16 {
            nic.submit(&arm(16 * round + cookie)).unwrap();
        }
        nic.ring_doorbell().unwrap();
        card.step();
    }
    events.try_iter().for_each(drop);
    for cookie in 0..16 {
        assert_eq!(nic.poll_completion().unwrap().unwrap().cookie, cookie);
    }
    assert_eq!(nic.poll_completion().unwrap(), None, "the card had no room for more");
    let published: Vec<_> = events
        .try_iter()
        .filter_map(|event| match event {
            BusEvent::Write { register: "CQ_HEAD", value } => Some(value),
            _ => None,
        })
        .collect();
    assert_eq!(published, [4, 8, 12, 16]);
    for cookie in 16..32 {
        assert_eq!(nic.wait_completion(Duration::from_secs(5)).unwrap().cookie, cookie);
    }
}

#[test]
fn configuring_again_starts_from_empty_rings_and_stopping_needs_it() {
    let (card, mut nic, _) = configured(3);
    for rings in [3, 3, 5, 3] {
        for cookie in 0..5 {
            nic.submit(&arm(cookie)).unwrap();
        }
        nic.ring_doorbell().unwrap();
        card.step();
        for cookie in 0..3 {
            assert_eq!(nic.poll_completion().unwrap().unwrap().cookie, cookie);
        }
        nic.submit(&arm(1000)).unwrap();
        nic.configure(&job(rings)).unwrap();
        assert_eq!(nic.poll_completion().unwrap(), None, "completions of the last job are gone");
        let seen = card.seen().len();
        nic.ring_doorbell().unwrap();
        card.step();
        assert_eq!(card.seen().len(), seen, "submissions of the last job are gone");
    }
    nic.disable().unwrap();
    nic.disable().unwrap();
    for result in [nic.submit(&arm(0)), nic.ring_doorbell(), nic.poll_completion().map(drop)] {
        assert!(matches!(result, Err(DriverError::NotConfigured { .. })), "{result:?}");
    }
    let all = nic.alloc(8 * MIB, 4096).unwrap();
    assert_eq!(all.iova, IOVA, "the rings were given back");
}

#[test]
fn rings_of_a_card_that_does_not_stop_are_not_used_again() {
    let (card, mut nic, _) = configured(3);
    nic.submit(&arm(0)).unwrap();
    nic.ring_doorbell().unwrap();
    card.step();
    card.make_unstoppable();
    let error = nic.configure(&job(3)).err().unwrap();
    assert!(matches!(error, DriverError::NotQuiesced { sq_head: 1, cq_tail: 1, .. }), "{error}");
    assert!(matches!(nic.submit(&arm(0)), Err(DriverError::NotConfigured { .. })));
    assert_ne!(nic.alloc(64, 64).unwrap().iova, IOVA);
}

#[test]
fn card_has_stopped_only_when_both_its_indices_are_zero() {
    for (name, stuck) in [("SQ_HEAD", (1, 0)), ("CQ_TAIL", (0, 1))] {
        let (_card, bus) = TestCard::new(MIB);
        let bus = FaultBus::new(bus).on_read(move |register, value| if register.name == name { 1 } else { value });
        let error = Nic::open(bus).unwrap().configure(&job(3)).err().unwrap();
        assert!(matches!(error, DriverError::NotQuiesced { sq_head, cq_tail, .. } if (sq_head, cq_tail) == stuck));
    }
}

#[test]
fn a_busy_card_is_waited_for_and_given_up_in_bounded_time() {
    for (busy_reads, stops) in [(500, true), (u32::MAX, false)] {
        let (_card, bus) = TestCard::new(MIB);
        let reads = AtomicU32::new(0);
        let bus = FaultBus::new(bus).on_read(move |register, value| {
            let busy = register.name == "STATUS" && reads.fetch_add(1, Ordering::Relaxed) < busy_reads;
            if busy { regs::STATUS_BUSY } else { value }
        });
        let done = Nic::open(bus).unwrap().configure(&job(3));
        assert_eq!(done.is_ok(), stops);
        if let Err(error) = done {
            let expected = "sim0: SQ_HEAD is 0, CQ_TAIL is 0 and the busy bit of STATUS is 1 after CONTROL was cleared \
                            and 1000 reads, expected 0, 0 and 0.\n";
            assert!(error.to_string().starts_with(expected), "{error}");
        }
    }
}

#[test]
fn two_drivers_of_one_card_have_a_queue_each() {
    let (card, bus) = TestCard::new(8 * MIB);
    let mut nics: Vec<_> = bus.split(2).into_iter().map(|bus| Nic::open(bus).unwrap()).collect();
    let (mut other, mut owner) = (nics.pop().unwrap(), nics.pop().unwrap());
    assert!(matches!(other.open_queue(1, 4), Err(DriverError::NotConfigured { .. })), "nobody configured the card");
    owner.configure(&job(4)).unwrap();
    assert!(matches!(other.open_queue(4, 4), Err(DriverError::InvalidJob { field: "queue", found: 4, .. })));
    assert!(matches!(other.open_queue(1, 16), Err(DriverError::InvalidJob { field: "ring_log2", .. })));
    let error = other.open_queue(0, 4).unwrap_err().to_string();
    assert!(error.starts_with("sim0.1: queue 0 is in use: its SQ_BASE_HI is 0x8, expected 0.\n"), "{error}");
    other.open_queue(1, 3).unwrap();
    assert!(matches!(other.open_queue(2, 3), Err(DriverError::QueueInUse { queue: 1, .. })), "a driver has one queue");
    assert!(matches!(owner.open_queue(2, 3), Err(DriverError::QueueInUse { queue: 0, .. })));

    for round in 0..40 {
        for cookie in 0..5 {
            owner.submit(&arm(100 * round + cookie)).unwrap();
            other.submit(&arm(100 * round + 50 + cookie)).unwrap();
        }
        owner.ring_doorbell().unwrap();
        other.ring_doorbell().unwrap();
        for cookie in 0..5 {
            let wait = Duration::from_secs(5);
            assert_eq!(other.wait_completion(wait).unwrap().cookie, 100 * round + 50 + cookie);
            assert_eq!(owner.wait_completion(wait).unwrap().cookie, 100 * round + cookie);
        }
        assert_eq!((owner.poll_completion().unwrap(), other.poll_completion().unwrap()), (None, None));
    }
    assert_eq!((owner.counters().unwrap().cq_tail, other.counters().unwrap().cq_tail), (200, 200));

    // Configuring again closes the other queue, which can then be reopened in the same memory.
    owner.configure(&job(4)).unwrap();
    assert_eq!(card.register(&regs::SQ_TAIL.of_queue(1)), 0);
    other.open_queue(3, 3).unwrap();
    assert_eq!(card.register(&regs::SQ_BASE_LO.of_queue(3)), IOVA as u32 + 4 * MIB as u32);
    drop(other);
    assert_eq!(card.register(&regs::CONTROL), 1, "the card works on for its owner");
    drop(owner);
    assert_eq!(card.register(&regs::CONTROL), 0);
}

#[test]
fn a_stopped_queue_is_an_error_of_every_wait() {
    let (card, mut nic, _) = configured(2);
    for cookie in 0..4 {
        nic.submit(&arm(cookie)).unwrap();
    }
    card.set(&regs::STATUS, regs::status_stopped(1));
    assert!(matches!(nic.submit(&arm(4)), Err(DriverError::RingFull { .. })), "another queue has stopped");
    card.set(&regs::STATUS, regs::status_stopped(0));
    let stopped = "sim0: queue 0 has stopped: the card could not read a submission or write";
    let error = nic.submit(&arm(4)).unwrap_err().to_string();
    assert!(error.starts_with(stopped), "{error}");
    let error = nic.wait_completion(Duration::ZERO).unwrap_err().to_string();
    assert!(error.starts_with(stopped), "{error}");
}

#[test]
fn lost_doorbell_ends_in_a_bounded_wait_that_says_what_is_outstanding() {
    let (_card, bus) = TestCard::new(MIB);
    let bus = FaultBus::new(bus).on_write(|register, value| (register.name != "SQ_TAIL").then_some(value));
    let mut nic = Nic::open(bus).unwrap();
    nic.configure(&job(4)).unwrap();
    for cookie in 0..3 {
        nic.submit(&arm(cookie)).unwrap();
    }
    nic.ring_doorbell().unwrap();
    nic.submit(&arm(3)).unwrap();
    let start = Instant::now();
    let error = nic.wait_completion(Duration::from_millis(20)).err().unwrap().to_string();
    assert!((20..2000).contains(&start.elapsed().as_millis()));
    let expected = "sim0: no completion in 20ms; 3 submissions are not consumed, 1 not announced to the card.\n";
    assert!(error.starts_with(expected), "{error}");
}

#[test]
fn head_that_the_host_never_submitted_is_refused() {
    let (_card, bus) = TestCard::new(MIB);
    let bus = FaultBus::new(bus)
        .on_read(|register, value| if register.name == "SQ_HEAD" && value > 0 { value + 1 } else { value });
    let mut nic = Nic::open(bus).unwrap();
    nic.configure(&job(2)).unwrap();
    for cookie in 0..4 {
        nic.submit(&arm(cookie)).unwrap();
    }
    nic.ring_doorbell().unwrap();
    nic.bus().relax();
    let error = nic.submit(&arm(4)).err().unwrap().to_string();
    assert!(error.starts_with("sim0: SQ_HEAD is 5, expected an index from 0 to 4 (modulo 65536).\n"), "{error}");
}

#[test]
fn submissions_that_break_what_the_card_does_not_check_are_refused() {
    let (card, mut nic, _) = configured(4);
    let good = arm(0x1234);
    let cases = [
        ("BASE", Submission { base: 65, ..good }),
        ("BEATS", Submission { beats: 8, ..good }),
        ("SHARD_REMAINDER", Submission { shard_quotient: 0, shard_remainder: 7, ..good }),
        ("HOST_ADDRESS", Submission { host_address: IOVA + 32, ..good }),
        ("HOST_ADDRESS", Submission { opcode: OP_CONTRIBUTE, host_address: IOVA + 32, ..good }),
        ("REPORT_ADDRESS", Submission { report_address: IOVA + 128, ..good }),
    ];
    for (name, bad) in cases {
        let error = nic.submit(&bad).err().unwrap();
        assert!(
            matches!(error, DriverError::InvalidSubmission { field, cookie: 0x1234, .. } if field == name),
            "{error}"
        );
    }
    nic.submit(&Submission { opcode: 77, slot: 200, ..Submission::default() }).unwrap();
    nic.ring_doorbell().unwrap();
    card.step();
    let refusal = nic.poll_completion().unwrap().unwrap();
    assert_eq!((refusal.opcode, refusal.status, refusal.slot), (DONE_REFUSED, STATUS_BAD_COMMAND, 200));
    assert_eq!(card.seen().len(), 1);
}

#[derive(Default)]
struct Waits {
    looks: AtomicU32,
    sleeps: Mutex<Vec<Duration>>,
    /// Time of the bus in us.
    now_us: AtomicU32,
}

/// Bus with interrupts and a virtual clock: a poll takes 1 us, a sleep its timeout unless an
/// interrupt ends it.
struct Ringing {
    inner: InProcessBus,
    waits: Arc<Waits>,
    start: Instant,
    /// Number of sleeps that an interrupt ends immediately.
    interrupts: u32,
    /// Readable end for interrupts, and its other end. Without it, waits sleep in the bus.
    bell: Option<[UnixStream; 2]>,
}

impl Ringing {
    fn new(inner: InProcessBus, interrupts: u32) -> Self {
        Self { inner, waits: Arc::default(), start: Instant::now(), interrupts, bell: None }
    }
}

impl Bus for Ringing {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn dma(&self) -> &DmaMap {
        self.inner.dma()
    }

    fn flush(&self) -> Result<(), DriverError> {
        self.inner.flush()
    }

    fn relax(&self) {
        self.inner.relax();
    }

    fn now(&self) -> Instant {
        self.start + Duration::from_micros(self.waits.now_us.load(Ordering::Relaxed).into())
    }

    fn read(&self, register: &Register) -> u32 {
        self.inner.read(register)
    }

    fn write(&self, register: &Register, value: u32) {
        self.inner.write(register, value);
    }

    fn write_peer(&self, rank: usize, words: [u32; 4]) {
        self.inner.write_peer(rank, words);
    }

    fn has_interrupts(&self) -> bool {
        true
    }

    fn wait_interrupt(&self, timeout: Duration) -> Option<bool> {
        if let Some([listens, _]) = &self.bell {
            let _ = (&*listens).read(&mut [0; 8]);
        }
        let mut sleeps = self.waits.sleeps.lock().unwrap();
        sleeps.push(timeout);
        let rings = sleeps.len() as u32 <= self.interrupts;
        let us = if rings { 0 } else { timeout.as_micros() as u32 };
        self.waits.now_us.fetch_add(us, Ordering::Relaxed);
        // The card runs while its host sleeps.
        if sleeps.len() == 3 {
            self.inner.relax();
        }
        Some(rings)
    }

    /// Completes commands just before the driver listens.
    fn interrupt_fd(&self) -> Option<BorrowedFd<'_>> {
        let [listens, rings] = self.bell.as_ref()?;
        if self.interrupts > 0 {
            self.inner.relax();
            (&*rings).write_all(b"!").unwrap();
        }
        Some(listens.as_fd())
    }

    fn phase(&self, iova: u64) -> Result<bool, DmaFault> {
        self.waits.looks.fetch_add(1, Ordering::Relaxed);
        self.waits.now_us.fetch_add(1, Ordering::Relaxed);
        self.inner.phase(iova)
    }
}

#[test]
fn a_wait_polls_first_and_then_sleeps_until_an_interrupt() {
    waits_as_told(|nic, timeout| nic.wait_completion(timeout));
}

fn waits_as_told(wait: impl Fn(&mut Nic<Ringing>, Duration) -> Result<Completion, DriverError>) {
    let [long, short] = [Duration::from_millis(10), Duration::from_micros(200)];
    for (interrupts, poll_us, expected) in [(0, 20, [long; 3]), (2, 20, [long, short, short]), (0, 0, [long; 3])] {
        let (_card, inner) = TestCard::new(MIB);
        let bus = Ringing::new(inner, interrupts);
        let waits = bus.waits.clone();
        let mut nic = Nic::open(bus).unwrap();
        nic.configure(&job(4)).unwrap();
        nic.set_poll_first(Duration::from_micros(poll_us));
        nic.submit(&arm(7)).unwrap();
        nic.ring_doorbell().unwrap();
        assert_eq!(wait(&mut nic, Duration::from_secs(1)).unwrap().cookie, 7);
        assert_eq!(*waits.sleeps.lock().unwrap(), expected, "{interrupts} interrupts, {poll_us} us");
        // One before each sleep and one after the last, besides the first polls.
        let looks = waits.looks.load(Ordering::Relaxed);
        assert!((4 + poll_us as u32 - 1..=4 + poll_us as u32 + 1).contains(&looks), "{looks} looks, {poll_us} us");
        waits.sleeps.lock().unwrap().clear();
        let begin_us = waits.now_us.load(Ordering::Relaxed);
        let error = wait(&mut nic, Duration::from_millis(12)).unwrap_err();
        assert!(matches!(error, DriverError::Timeout { .. }), "{error}");
        assert!(waits.sleeps.lock().unwrap().iter().all(|sleep| *sleep <= long));
        let took_us = waits.now_us.load(Ordering::Relaxed) - begin_us;
        assert!((12_000..12_010).contains(&took_us), "{took_us}");
    }
}

#[cfg(feature = "tokio")]
mod tasks {
    use super::*;

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
    }

    #[test]
    fn a_task_waits_as_a_thread_does() {
        let runtime = runtime();
        waits_as_told(|nic, timeout| runtime.block_on(nic.completion(timeout)));
    }

    /// An interrupt between the last poll and the sleep ends the sleep.
    #[test]
    fn a_task_sleeps_until_its_file_descriptor_is_readable_or_for_as_long_as_a_thread() {
        for (interrupts, expected) in [(1, 1), (0, 3)] {
            let (_card, inner) = TestCard::new(MIB);
            let bell = UnixStream::pair().unwrap();
            bell.0.set_nonblocking(true).unwrap();
            let bus = Ringing { bell: Some(bell.into()), ..Ringing::new(inner, interrupts) };
            let waits = bus.waits.clone();
            let mut nic = Nic::open(bus).unwrap();
            nic.configure(&job(4)).unwrap();
            nic.submit(&arm(7)).unwrap();
            nic.ring_doorbell().unwrap();
            let done = runtime().block_on(nic.completion(Duration::from_secs(1))).unwrap();
            assert_eq!(done.cookie, 7);
            assert_eq!(*waits.sleeps.lock().unwrap(), vec![Duration::ZERO; expected], "{interrupts} interrupts");
        }
    }
}

#[test]
fn a_card_is_stopped_by_who_configured_it_when_that_one_leaves() {
    let (card, bus) = TestCard::new(8 * MIB);
    let mut nics: Vec<_> = bus.split(2).into_iter().map(|bus| Nic::open(bus).unwrap()).collect();
    let (mut other, mut owner) = (nics.pop().unwrap(), nics.pop().unwrap());
    owner.configure(&job(4)).unwrap();
    other.open_queue(1, 4).unwrap();
    drop(other);
    assert_eq!(card.register(&regs::CONTROL), 1, "the owner still drives it");
    drop(owner);
    assert_eq!(card.register(&regs::CONTROL), 0);
}
