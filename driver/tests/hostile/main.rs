//! The driver with a malicious card (`HostileBus`): 100000 seeded jobs, from opening the card to
//! dropping it.
//!
//! Required of each:
//! * No panic.
//! * Every call ends within a bound of bus accesses, and a wait within its timeout by the bus's
//!   clock.
//! * A completion is accepted exactly if it is the next one and valid by the judge's rules.
//! * Rings, doorbells and published indices are correct.
//! * A card that is gone stays gone and is not accessed.
//! * Errors name the card.
//!
//! `HOSTILE_SEED=seed cargo test -p optireduce-driver --test hostile` replays a failure.

#[path = "../card/mod.rs"]
mod card;
mod judge;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use card::{IOVA, TestCard, arm, job};
use judge::{Rings, check_words};
use optireduce_contract::queue::{Completion, OP_CONTRIBUTE, Submission};
use optireduce_contract::registers as regs;
use optireduce_driver::bus::hostile::ACCESS;
use optireduce_driver::{
    Bus, BusEvent, DmaBuffer, DriverError, HostileBus, Hostility, InProcessBus, JobConfig, Lie, Nic, TraceBus,
};

const CASES: u64 = 100_000;
const DMA_BYTES: usize = 1 << 16;
/// Maximum accesses of identifying or configuring a card.
const SETUP_ACCESSES: u64 = 30_000;
/// Maximum accesses of any other call, except during a wait.
const CALL_ACCESSES: u64 = 200;

type HostileNic = Nic<TraceBus<HostileBus<InProcessBus>>>;

#[derive(Default)]
struct Seen {
    events: Mutex<Vec<BusEvent>>,
    /// Accesses left to the present call.
    left: AtomicU64,
    accesses: AtomicU64,
    told: [AtomicU64; Lie::ALL.len()],
}

impl Seen {
    fn watch(&self, what: Hostility) {
        match what {
            Hostility::Access if std::thread::panicking() => {}
            Hostility::Access => {
                self.accesses.fetch_add(1, Ordering::Relaxed);
                let left = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
                assert!(left.is_ok(), "a call does not end");
            }
            Hostility::Told(lie) => {
                self.told[lie as usize].fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    fn told(&self, lie: Lie) -> u64 {
        self.told[lie as usize].load(Ordering::Relaxed)
    }
}

struct Case {
    random: u64,
    seen: Arc<Seen>,
    nic: HostileNic,
    rings: Option<Rings>,
    published: Option<u32>,
    buffers: Vec<DmaBuffer>,
    gone: bool,
    cookie: u32,
    errors: BTreeMap<String, u64>,
    accepted: u64,
}

impl Case {
    fn below(&mut self, end: u64) -> u64 {
        self.random = self.random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.random >> 33) % end
    }

    /// Makes a call and checks the rules for all calls.
    fn call<T: std::fmt::Debug>(
        &mut self,
        accesses_max: u64,
        call: impl FnOnce(&mut HostileNic) -> Result<T, DriverError>,
    ) -> (Result<T, DriverError>, Vec<BusEvent>) {
        self.seen.events.lock().unwrap().clear();
        self.seen.left.store(accesses_max, Ordering::Relaxed);
        let before = self.seen.accesses.load(Ordering::Relaxed);
        let result = call(&mut self.nic);
        check_words(&result);
        if self.gone {
            assert!(matches!(result, Err(DriverError::DeviceGone { .. })), "a card that is gone: {result:?}");
            assert_eq!(self.seen.accesses.load(Ordering::Relaxed), before, "a card that is gone is accessed");
        }
        if let Err(error) = &result {
            self.gone |= matches!(error, DriverError::DeviceGone { .. });
            let name = format!("{error:?}");
            *self.errors.entry(name.split([' ', '{']).next().unwrap_or_default().to_owned()).or_default() += 1;
        }
        let events = std::mem::take(&mut *self.seen.events.lock().unwrap());
        for event in &events {
            if let BusEvent::Write { register: "CQ_HEAD", value } = event {
                self.published = Some(*value);
            }
        }
        (result, events)
    }

    /// Requires `NotConfigured` exactly without a queue pair; returns whether calls on it work.
    fn check_rings<T: std::fmt::Debug>(&self, result: &Result<T, DriverError>) -> bool {
        let refused = matches!(result, Err(DriverError::NotConfigured { .. }));
        assert_eq!(refused, self.rings.is_none() && !self.gone, "{result:?}");
        self.rings.is_some() && !self.gone
    }

    fn configure(&mut self) {
        let ring_log2 = 2 + self.below(3) as u32;
        let queue = self.below(4) as usize;
        let ranks = 4;
        let (result, events) = self.call(SETUP_ACCESSES, |nic| nic.configure(&JobConfig { queue, ..job(ring_log2) }));
        // A wrong read of MAGIC at the end is an error, although the rings are set up.
        let is_set_up = events.iter().any(|event| matches!(event, BusEvent::Write { register: "CONTROL", value: 1 }));
        assert!(is_set_up || result.is_err());
        self.rings = is_set_up.then(|| Rings::of_configuration(&events, ranks));
    }

    fn open_queue(&mut self) {
        let (queue, ring_log2) = (self.below(4) as usize, 2 + self.below(3) as u32);
        let (result, events) = self.call(SETUP_ACCESSES, |nic| nic.open_queue(queue, ring_log2));
        let ranks = events.iter().find_map(|event| match event {
            BusEvent::Read { register: "RANKS", value } => Some(*value as usize),
            _ => None,
        });
        if result.is_ok() {
            let ranks = ranks.expect("asked how many ranks there are");
            assert!((2..=self.nic.limits().ranks_max).contains(&ranks), "{ranks} ranks");
            self.rings = Some(Rings::of_configuration(&events, ranks));
        } else if ranks.is_some() {
            // RANKS is read only once the former queue was found closed.
            self.rings = None;
        }
    }

    fn submit(&mut self) {
        for _ in 0..=self.below(4) {
            self.cookie += 1;
            let opcode = if self.below(4) == 0 { OP_CONTRIBUTE } else { arm(0).opcode };
            let submission = Submission { opcode, ..arm(self.cookie) };
            let (result, events) = self.call(CALL_ACCESSES, |nic| nic.submit(&submission));
            if self.check_rings(&result)
                && let Some(rings) = &mut self.rings
            {
                rings.submitted(&submission.to_bytes(), &result, &events);
            }
        }
        if self.below(8) > 0 {
            let (result, events) = self.call(CALL_ACCESSES, HostileNic::ring_doorbell);
            if self.check_rings(&result)
                && let Some(rings) = &mut self.rings
            {
                rings.rang(&events);
            }
        }
    }

    fn look(&mut self, wait: Option<Duration>) {
        let changed = self.seen.told(Lie::Transit);
        // In an interrupt storm, a wait may poll at every access.
        let polls = wait.map_or(0, |wait| wait.div_duration_f64(ACCESS) as u64);
        let limits = self.nic.limits();
        let (result, events): (Result<Option<Completion>, _>, _) = self.call(CALL_ACCESSES + polls, |nic| match wait {
            Some(wait) => nic.wait_completion(wait).map(Some),
            None => nic.poll_completion(),
        });
        let changed = self.seen.told(Lie::Transit) > changed;
        if !self.check_rings(&result) && self.rings.is_none() {
            return;
        }
        let Some(rings) = &mut self.rings else { return };
        rings.looked(&limits, &result, &events, changed);
        self.accepted += u64::from(matches!(result, Ok(Some(_))));
        if matches!(result, Ok(None) | Err(DriverError::Timeout { .. })) {
            rings.drained(self.published);
        }
        self.nic.bus().relax_unseen(&self.seen);
    }

    fn ask(&mut self) {
        match self.below(6) {
            0 => drop(self.call(CALL_ACCESSES, |nic| nic.counters())),
            1 => drop(self.call(CALL_ACCESSES, |nic| nic.network_address())),
            2 => drop(self.call(CALL_ACCESSES, |nic| nic.check_alive())),
            3 => {
                let (bytes, align) = (self.below(3000) as usize, 1 << self.below(13));
                let (result, _) = self.call(CALL_ACCESSES, |nic| nic.alloc(bytes, align));
                if let Ok(buffer) = result {
                    let inside = IOVA..=IOVA + (DMA_BYTES - bytes) as u64;
                    assert!(inside.contains(&buffer.iova) && buffer.iova.is_multiple_of(align as u64));
                    self.buffers.push(buffer);
                }
            }
            4 => {
                if let Some(buffer) = self.buffers.pop() {
                    // The only call that works on a card that is gone.
                    self.nic.free(buffer).unwrap();
                }
            }
            _ => {
                if let Some(buffer) = self.buffers.last().copied() {
                    let count = buffer.len / 4;
                    drop(self.call(CALL_ACCESSES, |nic| nic.write_f32(buffer, 0, &vec![1.5; count])));
                    drop(self.call(CALL_ACCESSES, |nic| nic.read_bytes(buffer, 0, &mut vec![0; buffer.len])));
                }
            }
        }
    }

    fn step(&mut self) {
        if self.rings.is_none() && !self.gone {
            return self.configure();
        }
        match self.below(32) {
            0 => self.configure(),
            1 => self.open_queue(),
            2 if self.below(4) == 0 => {
                let (result, _) = self.call(SETUP_ACCESSES, HostileNic::disable);
                assert!(!matches!(result, Err(DriverError::NotConfigured { .. })));
                self.rings = None;
            }
            3..6 => self.ask(),
            6..9 => {
                let wait = Duration::from_micros(self.below(600));
                self.look(Some(wait));
            }
            9..17 => self.submit(),
            _ => self.look(None),
        }
    }
}

/// Lets the card run without an access by the driver.
trait RelaxUnseen {
    fn relax_unseen(&self, seen: &Seen);
}

impl RelaxUnseen for TraceBus<HostileBus<InProcessBus>> {
    fn relax_unseen(&self, seen: &Seen) {
        seen.left.store(CALL_ACCESSES, Ordering::Relaxed);
        self.relax();
    }
}

#[derive(Default)]
struct Sum {
    errors: BTreeMap<String, u64>,
    told: [u64; Lie::ALL.len()],
    opened: u64,
    accepted: u64,
    honest: u64,
}

fn run(seed: u64, sum: &mut Sum) {
    let seen = Arc::new(Seen::default());
    seen.left.store(SETUP_ACCESSES, Ordering::Relaxed);
    let (card, bus) = TestCard::new(DMA_BYTES);
    let (watching, tracing) = (seen.clone(), seen.clone());
    let bus = HostileBus::new(bus, seed, move |what| watching.watch(what));
    let bus = TraceBus::new(bus, move |event| tracing.events.lock().unwrap().push(event));
    let opened = Nic::open(bus);
    check_words(&opened.as_ref().map(drop).map_err(|error| {
        *sum.errors.entry(format!("open: {error:?}").split('{').next().unwrap_or_default().to_owned()).or_default() +=
            1;
        DriverError::Bus { device: "sim0".into(), problem: error.to_string(), remedy: "".into() }
    }));
    if let Ok(nic) = opened {
        let limits = nic.limits();
        let ranges = [(limits.slots, 1..=256), (limits.window_beats_max, 1..=65535), (limits.ranks_max, 2..=64)];
        assert!(ranges.iter().all(|(limit, range)| range.contains(limit)), "{limits:?}");
        assert!((1..=4).contains(&limits.queues) && (8..=14).contains(&limits.hadamard_log2_max), "{limits:?}");
        sum.opened += 1;
        let (rings, published, buffers, errors) = (None, None, Vec::new(), BTreeMap::new());
        let random = seed ^ 0x5555;
        let (gone, cookie, accepted) = (false, 0, 0);
        let mut case =
            Case { random, seen: seen.clone(), nic, rings, published, buffers, gone, cookie, errors, accepted };
        if case.below(8) == 0 {
            card.end().host_write(regs::RANKS.offset, 4);
            card.end().host_write(regs::CONTROL.offset, regs::CONTROL_ENABLE);
            case.open_queue();
        } else {
            case.configure();
        }
        let steps = 10 + case.below(40);
        (0..steps).for_each(|_| case.step());
        let honest = Lie::ALL.iter().all(|lie| seen.told(*lie) == 0);
        assert!(!honest || !case.errors.contains_key("BadCompletion") && !case.gone, "an honest card is blamed");
        sum.honest += u64::from(honest);
        sum.accepted += case.accepted;
        case.errors.iter().for_each(|(name, count)| *sum.errors.entry(name.clone()).or_default() += count);
        seen.left.store(CALL_ACCESSES, Ordering::Relaxed);
        drop(case);
    }
    Lie::ALL.iter().for_each(|lie| sum.told[*lie as usize] += seen.told(*lie));
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name)
        .ok()
        .map(|value| value.parse().unwrap_or_else(|_| panic!("{name} is {value}, expected a number")))
}

#[test]
fn a_card_that_lies_makes_no_panic_no_endless_call_and_no_completion_of_its_own() {
    let first = number("HOSTILE_SEED");
    let cases = number("HOSTILE_CASES").unwrap_or(if first.is_some() { 1 } else { CASES });
    let mut sum = Sum::default();
    for seed in first.unwrap_or(0)..first.unwrap_or(0) + cases {
        if let Err(cause) = catch_unwind(AssertUnwindSafe(|| run(seed, &mut sum))) {
            eprintln!("replay: HOSTILE_SEED={seed} cargo test -p optireduce-driver --test hostile");
            std::panic::resume_unwind(cause);
        }
    }
    println!("opened {}, honest {}, accepted {}", sum.opened, sum.honest, sum.accepted);
    println!("told {:?}", Lie::ALL.map(|lie| (lie, sum.told[lie as usize])));
    println!("{:#?}", sum.errors);
    if cases == CASES {
        let told = Lie::ALL.iter().map(|lie| sum.told[*lie as usize]).min();
        assert!(told > Some(CASES / 10), "some lies are hardly told: {:?}", sum.told);
        assert!(
            sum.accepted > 2 * CASES && (CASES / 8..CASES / 2).contains(&sum.honest),
            "{} {}",
            sum.accepted,
            sum.honest
        );
        let names = [
            "BadCompletion",
            "BadIndex",
            "DeviceGone",
            "NotQuiesced",
            "QueueInUse",
            "QueueStopped",
            "RingFull",
            "Timeout",
            "WasReset",
        ];
        for name in names {
            assert!(sum.errors.contains_key(name), "{name} was never seen: {:#?}", sum.errors);
        }
    }
}
