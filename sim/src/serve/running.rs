//! A served card at work: its time is that of this machine's clock.
//!
//! Accesses of the host act on the card at once, on the thread that carries them. A thread of its own lets the card's time go on: it sleeps
//! until the card's next timer, an arrival or an access, and then runs the card up to now. So deadlines hold by the wall clock, however
//! slow the card's datapath is simulated; what the card does in between is late by what that thread sleeps, some tens of microseconds.

use std::collections::VecDeque;
use std::fs::File;
use std::io::Write;
use std::net::SocketAddrV4;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use optireduce_contract::limits::QUEUES;
use optireduce_contract::packet::Endpoint;
use optireduce_contract::registers::{self as reg, BAR_BYTES};
use optireduce_driver::CardEnd;

use super::network::Port;
use super::windows::Windows;
use crate::card::Card;
use crate::wire::{Arrival, Departure};

/// It looks around this often even if nothing happens.
const NAP: Duration = Duration::from_secs(1);
/// Frames that wait for the card's thread; what comes beyond is lost, as in a full receive buffer.
const ARRIVALS_MAX: usize = 1 << 16;

/// A card, its registers and memory, and what it is connected to.
pub(super) struct Running {
    work: Mutex<Work>,
    /// There may be something to do.
    changed: Condvar,
    pub windows: Arc<Windows>,
    port: Port,
    epoch: Instant,
    /// It has left the bus and the network.
    left: AtomicBool,
}

struct Work {
    card: Box<dyn Card>,
    end: CardEnd,
    rx: VecDeque<Arrival>,
    tx: Vec<Departure>,
    /// It takes no command and its time stands still, until it is reset.
    hangs: bool,
    /// Eventfds of the MSI-X vectors.
    interrupts: [Option<File>; QUEUES],
    /// `CQ_TAIL` of each queue pair when its vector was raised last.
    told: [u32; QUEUES],
}

impl Running {
    /// A card at power-on.
    pub fn new(card: Box<dyn Card>, end: CardEnd, windows: Arc<Windows>, port: Port) -> Self {
        let (interrupts, told) = (Default::default(), [0; QUEUES]);
        let work = Work { card, end, rx: VecDeque::new(), tx: Vec::new(), hangs: false, interrupts, told };
        let running = Self {
            work: Mutex::new(work),
            changed: Condvar::new(),
            windows,
            port,
            epoch: Instant::now(),
            left: false.into(),
        };
        running.reset();
        running
    }

    /// As after power-on: nothing is enabled, no memory is reached, no interrupt is raised. The card knows its own address on the network.
    pub fn reset(&self) {
        self.windows.set_bus_master(false);
        self.reset_alone();
        self.lock().interrupts = Default::default();
    }

    /// As [`Running::reset`], but for what the host's kernel saves and restores around a reset: bus mastering and interrupts.
    pub fn reset_alone(&self) {
        let mut work = self.now();
        work.end.clear();
        work.rx.clear();
        work.hangs = false;
        self.provision(&work.end);
        work.hear();
    }

    /// Hangs until it is reset: registers answer, and nothing else does.
    pub fn hang(&self) {
        self.now().hangs = true;
    }

    /// Leaves the bus, for good: from now on it reaches no memory, raises no interrupt and sends no packet.
    pub fn leave(&self) {
        self.left.store(true, Ordering::Release);
        self.windows.set_bus_master(false);
    }

    /// Whether it has left: what is read from it is ones then.
    pub fn has_left(&self) -> bool {
        self.left.load(Ordering::Acquire)
    }

    /// Reads the word of BAR 0 at a byte offset; zero where nothing is.
    pub fn read_register(&self, offset: u64) -> u32 {
        let work = self.now();
        register_word(offset).map_or(0, |word| work.end.read_register(word))
    }

    /// Writes the word of BAR 0 at a byte offset.
    pub fn write_register(&self, offset: u64, value: u32) {
        if let Some(word) = register_word(offset) {
            let mut work = self.now();
            work.end.host_write(word * 4, value);
            work.hear();
            self.changed.notify_one();
        }
    }

    /// What is to be written to when a vector is raised; without effect for vectors that are not there.
    pub fn set_interrupt(&self, vector: usize, event: Option<File>) {
        if let Some(place) = self.lock().interrupts.get_mut(vector) {
            *place = event;
        }
    }

    /// The card's address on the network.
    pub fn address(&self) -> SocketAddrV4 {
        self.port.address()
    }

    /// The value of a register, for a person.
    pub fn counter(&self, register: &reg::Register) -> u32 {
        self.read_register(register.offset as u64)
    }

    /// Lets the card's time go on, for ever.
    pub fn run(&self) {
        loop {
            let mut work = self.now();
            let sent = std::mem::take(&mut work.tx);
            if sent.is_empty() && work.rx.is_empty() {
                let wake_ns = work.card.next_wake_ns().filter(|_| !work.hangs);
                // What is due at the end of the interval that was run is not done yet.
                let nap_ns = |at_ns: u64| (at_ns + 1).saturating_sub(work.card.now_ns());
                let nap = wake_ns.map_or(NAP, |at_ns| NAP.min(Duration::from_nanos(nap_ns(at_ns))));
                drop(self.changed.wait_timeout(work, nap).unwrap_or_else(PoisonError::into_inner));
                continue;
            }
            // The kernel takes its time; accesses of the host need not wait for it.
            drop(work);
            sent.iter().filter(|_| !self.has_left()).for_each(|departure| self.port.send(&departure.frame));
        }
    }

    /// Hands what arrives to the card, until the network fails.
    ///
    /// # Errors
    /// Why the network failed.
    pub fn receive(&self) -> std::io::Result<()> {
        let mut buffer = Vec::new();
        loop {
            let frame = self.port.receive(&mut buffer)?;
            let at_ns = self.epoch.elapsed().as_nanos() as u64;
            let mut work = self.lock();
            if work.rx.len() < ARRIVALS_MAX {
                work.rx.push_back(Arrival { at_ns, frame });
                self.changed.notify_one();
            }
        }
    }

    /// The registers that tell a driver where the card is on the network, as a board has them from its flash.
    fn provision(&self, end: &CardEnd) {
        let address = self.port.address();
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

    /// The card as it is by now.
    fn now(&self) -> MutexGuard<'_, Work> {
        let mut work = self.lock();
        let now_ns = self.epoch.elapsed().as_nanos() as u64;
        work.step(now_ns, self.windows.is_bus_master());
        work
    }

    fn lock(&self) -> MutexGuard<'_, Work> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Work {
    /// The card takes over what the host wrote.
    fn hear(&mut self) {
        if self.hangs {
            return;
        }
        self.card.sync_registers();
        self.card.publish_registers();
        for (queue, told) in self.told.iter_mut().enumerate() {
            // After a reset it counts from zero again.
            *told = (*told).min(self.end.read_register(reg::CQ_TAIL.of_queue(queue).word()));
        }
    }

    /// Runs the card up to now, and raises the vectors of queues that have new completions.
    fn step(&mut self, now_ns: u64, bus_master: bool) {
        if self.hangs {
            self.rx.clear();
            return;
        }
        self.card.run(now_ns, &mut self.rx, &mut self.tx);
        self.card.sync_registers();
        self.card.publish_registers();
        // Nobody looks at the beats one by one.
        drop(self.card.take_trace());
        for (queue, (told, event)) in self.told.iter_mut().zip(&mut self.interrupts).enumerate() {
            let tail = self.end.read_register(reg::CQ_TAIL.of_queue(queue).word());
            // An interrupt is a write on the bus, too.
            if std::mem::replace(told, tail) != tail
                && bus_master
                && let Some(event) = event
                && let Err(error) = event.write_all(&1u64.to_ne_bytes())
            {
                tracing::warn!(queue, %error, "an interrupt is lost");
            }
        }
    }
}

/// The word of BAR 0 that begins at a byte offset.
fn register_word(offset: u64) -> Option<usize> {
    let offset = usize::try_from(offset).ok()?;
    (offset < BAR_BYTES && offset.is_multiple_of(4)).then_some(offset / 4)
}
