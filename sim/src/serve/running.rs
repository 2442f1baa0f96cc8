//! A served card in real time.
//!
//! Register accesses of the host act on the card on the calling thread. The card's own thread
//! sleeps until the card's next timer, an arrival or an access, and then runs the card up to now.
//! Deadlines therefore hold in wall-clock time, whatever the speed of the simulated datapath. Other
//! actions are late by the wake-up latency of the thread, some tens of microseconds.
//!
//! A cycle-level card cannot jump in time. It runs as fast as possible, in slices of [`SLICE_NS`]
//! between checks for arrivals and accesses.

use std::collections::VecDeque;
use std::fs::File;
use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use optireduce_contract::limits::QUEUES;
use optireduce_contract::packet::Endpoint;
use optireduce_contract::registers::{self as reg, BAR_BYTES};
use optireduce_driver::CardEnd;

use super::network::Port;
use super::recorder::{Did, Recorder};
use super::windows::Windows;
use crate::card::Card;
use crate::wire::{Arrival, Departure};

/// Longest sleep of the card's thread.
const NAP: Duration = Duration::from_secs(1);
/// Further frames are lost, as in a full receive buffer.
const ARRIVALS_MAX: usize = 1 << 16;
/// Longest uninterrupted run of a cycle-level card.
const SLICE_NS: u64 = 1_000_000;

pub(super) struct Running {
    work: Mutex<Work>,
    /// Signals possible work for the card's thread.
    changed: Condvar,
    visitors: AtomicUsize,
    pub windows: Arc<Windows>,
    port: Port,
    epoch: Instant,
    left: AtomicBool,
}

pub(super) struct Parts {
    pub card: Box<dyn Card>,
    pub end: CardEnd,
    pub windows: Arc<Windows>,
    pub port: Port,
    /// Card time zero.
    pub epoch: Instant,
    pub by_cycles: bool,
    /// With the card's number.
    pub recorder: Option<(Arc<Recorder>, usize)>,
}

struct Work {
    card: Box<dyn Card>,
    end: CardEnd,
    rx: VecDeque<Arrival>,
    tx: Vec<Departure>,
    by_cycles: bool,
    recorder: Option<(Arc<Recorder>, usize)>,
    frames: Vec<Arrival>,
    /// Wall-clock time of cycle-level simulation.
    busy: Duration,
    /// Card time stops until a reset.
    hangs: bool,
    interrupts: [Option<File>; QUEUES],
    /// `CQ_TAIL` of each queue pair at its last interrupt.
    told: [u32; QUEUES],
}

impl Running {
    pub fn new(parts: Parts) -> Self {
        let Parts { card, end, windows, port, epoch, by_cycles, recorder } = parts;
        let work = Work {
            card,
            end,
            rx: VecDeque::new(),
            tx: Vec::new(),
            by_cycles,
            recorder,
            frames: Vec::new(),
            busy: Duration::ZERO,
            hangs: false,
            interrupts: Default::default(),
            told: [0; QUEUES],
        };
        let running = Self {
            work: Mutex::new(work),
            changed: Condvar::new(),
            visitors: AtomicUsize::new(0),
            windows,
            port,
            epoch,
            left: false.into(),
        };
        running.reset();
        running
    }

    /// Disables the card, bus mastering and interrupts. Other registers keep their values, except
    /// for a configured network address.
    pub fn reset(&self) {
        self.windows.set_bus_master(false);
        self.reset_alone();
        self.visit(|work| work.interrupts = Default::default());
    }

    /// As [`Running::reset`], but keeps bus mastering and interrupts, which a kernel restores.
    pub fn reset_alone(&self) {
        self.visit(|work| {
            self.catch_up(work);
            work.end.host_write(reg::CONTROL.offset, 0);
            self.port.reset();
            work.rx.clear();
            work.hangs = false;
            work.told = [0; QUEUES];
            self.provision(&work.end);
            work.card.sync_registers();
        });
    }

    /// Only registers respond until a reset.
    pub fn hang(&self) {
        self.visit(|work| {
            self.catch_up(work);
            work.hangs = true;
        });
    }

    pub fn leave(&self) {
        self.left.store(true, Ordering::Release);
        self.windows.set_bus_master(false);
    }

    pub fn has_left(&self) -> bool {
        self.left.load(Ordering::Acquire)
    }

    /// Unused offsets read as zero.
    pub fn read_register(&self, offset: u64) -> u32 {
        self.visit(|work| {
            self.catch_up(work);
            let Some(word) = register_word(offset) else { return 0 };
            if !work.hangs {
                work.card.settle();
                work.card.publish_words(&[word]);
            }
            work.end.read_register(word)
        })
    }

    pub fn write_register(&self, offset: u64, value: u32) {
        let Some(word) = register_word(offset) else { return };
        self.visit(|work| {
            self.catch_up(work);
            work.end.host_write(word * 4, value);
            if !work.hangs {
                work.card.sync_registers();
            }
            if word == reg::CONTROL.word() && value & reg::CONTROL_ENABLE == 0 {
                // The card restarts its count.
                work.told = [0; QUEUES];
            }
            self.changed.notify_one();
        });
    }

    pub fn set_interrupt(&self, vector: usize, event: Option<File>) {
        self.visit(|work| {
            if let Some(place) = work.interrupts.get_mut(vector) {
                *place = event;
            }
        });
    }

    pub fn address(&self) -> String {
        self.port.address().map_or("without an address".into(), |address| address.to_string())
    }

    pub fn counter(&self, register: &reg::Register) -> u32 {
        self.read_register(register.offset as u64)
    }

    /// Simulated clock cycles and their wall-clock time; both zero for functional cards.
    pub fn cycles(&self) -> (u64, Duration) {
        self.visit(|work| (work.card.cycles(), work.busy))
    }

    pub fn run(&self) {
        loop {
            let mut work = self.lock();
            if work.by_cycles {
                self.run_slice(&mut work);
            } else {
                self.catch_up(&mut work);
            }
            let sent = std::mem::take(&mut work.tx);
            if !sent.is_empty() {
                // Accesses of the host need not wait for sending.
                drop(work);
                sent.iter().filter(|_| !self.has_left()).for_each(|departure| self.port.send(&departure.frame));
                continue;
            }
            // Work due exactly at the end of the interval is still pending.
            let nap_ns = |at_ns: u64| (at_ns + 1).saturating_sub(work.card.now_ns());
            let wake_ns = work.card.next_wake_ns().filter(|_| !work.hangs);
            let mut nap = wake_ns.map_or(NAP, |at_ns| NAP.min(Duration::from_nanos(nap_ns(at_ns))));
            if work.by_cycles && wake_ns == Some(work.card.now_ns()) {
                // Pauses only for waiting threads, which an unfair mutex would starve.
                let waits = self.visitors.load(Ordering::Acquire) > 0;
                nap = if waits { Duration::from_nanos(SLICE_NS) } else { Duration::ZERO };
            }
            if work.rx.is_empty() && nap > Duration::ZERO {
                drop(self.changed.wait_timeout(work, nap).unwrap_or_else(PoisonError::into_inner));
            }
        }
    }

    pub fn receive(&self) -> std::io::Result<()> {
        let mut buffer = Vec::new();
        loop {
            let frame = self.port.receive(&mut buffer)?;
            self.visit(|work| {
                if work.rx.len() < ARRIVALS_MAX {
                    let arrival = Arrival { at_ns: self.now_ns(), frame };
                    work.record(&arrival);
                    work.rx.push_back(arrival);
                    self.changed.notify_one();
                }
            });
        }
    }

    /// Sets the configured network address, unlike a board's shell.
    fn provision(&self, end: &CardEnd) {
        let Some(address) = self.port.address() else { return };
        let Endpoint { mac, ip } = Endpoint::of_ip(address.ip().octets());
        for (register, value) in [
            (reg::LOCAL_IP, u32::from_le_bytes(ip)),
            (reg::LOCAL_MAC_LO, u32::from_le_bytes([mac[0], mac[1], mac[2], mac[3]])),
            (reg::LOCAL_MAC_HI, u32::from_le_bytes([mac[4], mac[5], 0, 0])),
            (reg::UDP_PORT, u16::from_le_bytes(address.port().to_be_bytes()).into()),
        ] {
            end.host_write(register.offset, value);
        }
    }

    fn catch_up(&self, work: &mut Work) {
        if work.by_cycles {
            return;
        }
        let now_ns = self.now_ns();
        if work.hangs {
            work.rx.clear();
            return;
        }
        let before = work.tx.len();
        work.card.run(now_ns, &mut work.rx, &mut work.tx);
        work.done(before, now_ns, self.windows.is_bus_master());
    }

    fn run_slice(&self, work: &mut Work) {
        if work.hangs {
            work.rx.clear();
            return;
        }
        let (begin, cycles, before) = (Instant::now(), work.card.cycles(), work.tx.len());
        work.card.run_beside(&|| self.now_ns(), SLICE_NS, &mut work.rx, &mut work.tx);
        if work.card.cycles() > cycles {
            work.busy += begin.elapsed();
        }
        let now_ns = work.card.now_ns();
        work.done(before, now_ns, self.windows.is_bus_master());
    }

    fn visit<T>(&self, act: impl FnOnce(&mut Work) -> T) -> T {
        self.visitors.fetch_add(1, Ordering::AcqRel);
        let mut work = self.lock();
        self.visitors.fetch_sub(1, Ordering::AcqRel);
        let answer = act(&mut work);
        if work.by_cycles {
            self.changed.notify_one();
        }
        answer
    }

    fn now_ns(&self) -> u64 {
        self.epoch.elapsed().as_nanos() as u64
    }

    fn lock(&self) -> MutexGuard<'_, Work> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Work {
    /// Raises interrupts and records the activity of a run. `sent_before`: frames sent earlier.
    fn done(&mut self, sent_before: usize, now_ns: u64, bus_master: bool) {
        self.card.sync_registers();
        if self.card.take_rang() {
            let tails: [_; QUEUES] = std::array::from_fn(|queue| reg::CQ_TAIL.of_queue(queue).word());
            self.card.publish_words(&tails);
            self.ring(&tails, bus_master);
        }
        let accepts = self.card.take_trace();
        let Some((recorder, card)) = &self.recorder else { return };
        let mut frames = std::mem::take(&mut self.frames);
        if recorder.frames {
            let sent = self.tx.iter().skip(sent_before);
            frames.extend(sent.map(|sent| Arrival { at_ns: sent.at_ns, frame: sent.frame.clone() }));
        }
        let accepts = if recorder.accepts { accepts } else { Vec::new() };
        recorder.take(Did { card: *card, until_ns: now_ns, changes: self.card.take_changes(), frames, accepts });
    }

    fn ring(&mut self, tails: &[usize; QUEUES], bus_master: bool) {
        for (queue, (told, event)) in self.told.iter_mut().zip(&mut self.interrupts).enumerate() {
            let tail = self.end.read_register(tails[queue]);
            // An interrupt is a write on the bus, so it needs bus mastering.
            if std::mem::replace(told, tail) != tail
                && bus_master
                && let Some(event) = event
                && let Err(error) = event.write_all(&1u64.to_ne_bytes())
            {
                tracing::warn!(queue, %error, "an interrupt is lost");
            }
        }
    }

    fn record(&mut self, arrival: &Arrival) {
        if self.recorder.as_ref().is_some_and(|(recorder, _)| recorder.frames) {
            self.frames.push(arrival.clone());
        }
    }
}

fn register_word(offset: u64) -> Option<usize> {
    let offset = usize::try_from(offset).ok()?;
    (offset < BAR_BYTES && offset.is_multiple_of(4)).then_some(offset / 4)
}
