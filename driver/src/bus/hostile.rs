//! Bus to a malicious card, for tests: its reports are wrong, early, late, repeated or missing, as
//! a seed decides.
//!
//! Completions are changed in host memory, register accesses on the way. Other accesses pass
//! unchanged, so that a job reaches every state. The clock is virtual. The same seed and calls
//! produce the same lies.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use optireduce_contract::queue::{DONE_REFUSED, ENTRY_BYTES, STATUS_STALE, completion};
use optireduce_contract::registers::{PEER_BYTES, Register};
use optireduce_contract::signs::{SPLITMIX64_STEP, splitmix64};

use super::Bus;
use crate::dma::{DmaFault, DmaMap};
use crate::error::DriverError;

/// Virtual time of an access.
pub const ACCESS: Duration = Duration::from_micros(1);
/// Virtual time of a [`Bus::relax`].
pub const RELAX: Duration = Duration::from_micros(200);

/// Kind of lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lie {
    /// A register reads as another value.
    Register,
    /// All registers read as ones, for a few accesses or forever.
    Ones,
    /// A register write is lost, changed or delayed.
    Write,
    /// A field of a completion, or a reserved byte, is changed.
    Entry,
    /// A completion that the card has not written: an earlier one or random bytes.
    Forge,
    /// A written completion is hidden, for a few polls or forever.
    Hide,
    /// A completion changes after its phase bit was seen.
    Transit,
    /// Host memory is overwritten.
    Memory,
    /// A wait for an interrupt ends without a cause.
    Interrupt,
}

impl Lie {
    /// All kinds.
    pub const ALL: [Self; 9] = [
        Self::Register,
        Self::Ones,
        Self::Write,
        Self::Entry,
        Self::Forge,
        Self::Hide,
        Self::Transit,
        Self::Memory,
        Self::Interrupt,
    ];
}

/// Event on a [`HostileBus`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hostility {
    /// The driver accesses the bus.
    Access,
    /// The bus lies.
    Told(Lie),
}

/// Wraps a bus and makes its card lie.
pub struct HostileBus<B> {
    inner: B,
    begin: Instant,
    watch: Box<dyn Fn(Hostility) + Send>,
    state: RefCell<State>,
}

struct State {
    random: Random,
    /// Probability in 1/1024, by kind.
    rates: [u64; Lie::ALL.len()],
    /// Accesses before the first lie.
    quiet: u64,
    elapsed: Duration,
    /// Accesses for which registers still read as ones.
    ones: u64,
    /// Phase bit of the completion that the driver expects, by IOVA.
    awaited: BTreeMap<u64, bool>,
    /// Hidden completions: IOVA and remaining polls.
    hidden: Vec<(u64, u64)>,
    past: VecDeque<[u8; ENTRY_BYTES]>,
    /// Set if all forged completions are refusals.
    floods: bool,
    late: Vec<(Register, u32)>,
}

impl<B: Bus> HostileBus<B> {
    /// Wraps `inner`. The seed decides kinds, rates and start of the lies; about one seed in eight
    /// never lies. `watch` may panic to end a driver that does not terminate.
    pub fn new(inner: B, seed: u64, watch: impl Fn(Hostility) + Send + 'static) -> Self {
        let mut random = Random(seed);
        let only = Lie::ALL.map(|_| [false, true][random.below(2)]);
        let one = random.below(Lie::ALL.len());
        let plan = random.below(8);
        let rates = std::array::from_fn(|kind| {
            let told = match plan {
                0 => false,
                1..5 => kind == one,
                _ => only[kind],
            };
            u64::from(told) << [2, 4, 7, 10][random.below(4)]
        });
        let quiet = [0, 40, 180, 220, 250, 350][random.below(6)] + random.below(64) as u64;
        let floods = random.below(4) == 0;
        let state = State {
            random,
            rates,
            quiet,
            elapsed: Duration::ZERO,
            ones: 0,
            awaited: BTreeMap::new(),
            hidden: Vec::new(),
            past: VecDeque::new(),
            floods,
            late: Vec::new(),
        };
        Self { inner, begin: Instant::now(), watch: Box::new(watch), state: RefCell::new(state) }
    }

    /// Counts an access; returns for each kind whether the bus lies.
    fn access<const N: usize>(&self, kinds: [Lie; N]) -> [bool; N] {
        (self.watch)(Hostility::Access);
        let state = &mut *self.state.borrow_mut();
        state.elapsed += ACCESS;
        state.quiet = state.quiet.saturating_sub(1);
        let is_quiet = state.quiet > 0;
        kinds.map(|kind| {
            let rate = state.rates[kind as usize];
            let told = rate > 0 && !is_quiet && (state.random.below(1024) as u64) < rate;
            if told {
                (self.watch)(Hostility::Told(kind));
            }
            told
        })
    }

    fn is_ones(&self) -> bool {
        let [begins] = self.access([Lie::Ones]);
        let state = &mut *self.state.borrow_mut();
        state.ones = state.ones.saturating_sub(1);
        if begins {
            state.ones = [1, 2, 3, 8, u64::MAX][state.random.below(5)];
        }
        state.ones > 0
    }

    fn deliver(&self) {
        let late = std::mem::take(&mut self.state.borrow_mut().late);
        late.into_iter().for_each(|(register, value)| self.inner.write(&register, value));
    }

    /// Changes memory before a poll of the completion at `iova`.
    fn spoil(&self, iova: u64, [entry, forge, hide, memory]: [bool; 4]) -> Result<(), DmaFault> {
        let state = &mut *self.state.borrow_mut();
        let dma = self.inner.dma();
        if memory {
            state.scribble(dma);
        }
        state.reveal(dma)?;
        let mut bytes = [0; ENTRY_BYTES];
        dma.read(iova, &mut bytes)?;
        let awaited = *state.awaited.entry(iova).or_insert(true);
        let is_new = completion::PHASE.get(&bytes) & 1 == u64::from(awaited);
        if is_new && hide {
            completion::PHASE.set(&mut bytes, u64::from(!awaited));
            let polls = [1, 2, 5, 40, u64::MAX][state.random.below(5)];
            state.hidden.push((iova, polls));
            return dma.write(iova, &bytes);
        }
        if !is_new && forge {
            bytes = state.forged();
            completion::PHASE.set(&mut bytes, u64::from(awaited));
            return dma.write(iova, &bytes);
        }
        if entry {
            state.random.damage(&mut bytes, 0);
            return dma.write(iova, &bytes);
        }
        Ok(())
    }
}

impl State {
    fn scribble(&mut self, dma: &DmaMap) {
        let pages = dma.bytes() / 4;
        let many = self.random.below(16) == 0;
        let count = if many { 1024 } else { 1 + self.random.below(8) };
        let first = self.random.below(pages);
        for word in 0..count {
            let word = if many { first + word } else { self.random.below(pages) };
            let value = self.random.near(0) as u32;
            let _ = dma.write(dma.iova() + 4 * word as u64, &value.to_le_bytes());
        }
    }

    fn reveal(&mut self, dma: &DmaMap) -> Result<(), DmaFault> {
        for (iova, polls) in &mut self.hidden {
            *polls -= 1;
            if *polls == 0 {
                let at = *iova + completion::PHASE.offset as u64;
                let mut phase = [0];
                dma.read(at, &mut phase)?;
                dma.write(at, &[phase[0] ^ 1])?;
            }
        }
        self.hidden.retain(|(_, polls)| *polls > 0);
        Ok(())
    }

    /// Forges a completion from an earlier one or random bytes; in a flood, a valid refusal.
    fn forged(&mut self) -> [u8; ENTRY_BYTES] {
        let Self { random, past, .. } = self;
        let again = past.get(random.below(past.len().max(1))).copied();
        let mut bytes = again.unwrap_or_else(|| std::array::from_fn(|_| random.next() as u8 & 3));
        if self.floods {
            completion::OPCODE.set(&mut bytes, DONE_REFUSED.into());
            completion::STATUS.set(&mut bytes, STATUS_STALE.into());
            return bytes;
        }
        for _ in 0..random.below(3) {
            random.damage(&mut bytes, 0);
        }
        bytes
    }
}

impl<B: Bus> Bus for HostileBus<B> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn dma(&self) -> &DmaMap {
        self.inner.dma()
    }

    fn map(&self, file: BorrowedFd<'_>, bytes: usize) -> Result<Option<u64>, DriverError> {
        self.inner.map(file, bytes)
    }

    fn unmap(&self, iova: u64) -> Result<(), DriverError> {
        self.inner.unmap(iova)
    }

    fn flush(&self) -> Result<(), DriverError> {
        self.access([]);
        self.deliver();
        self.inner.flush()
    }

    fn relax(&self) {
        let [lie] = self.access([Lie::Interrupt]);
        if !lie {
            self.state.borrow_mut().elapsed += RELAX;
            self.deliver();
            self.inner.relax();
        }
    }

    fn now(&self) -> Instant {
        self.begin + self.state.borrow().elapsed
    }

    fn read(&self, register: &Register) -> u32 {
        let value = self.inner.read(register);
        let [lie] = self.access([Lie::Register]);
        if self.is_ones() {
            u32::MAX
        } else if lie {
            self.state.borrow_mut().random.near(value.into()) as u32
        } else {
            value
        }
    }

    fn write(&self, register: &Register, value: u32) {
        let [lie] = self.access([Lie::Write]);
        if !lie {
            return self.inner.write(register, value);
        }
        let state = &mut *self.state.borrow_mut();
        match state.random.below(3) {
            0 => {}
            1 => self.inner.write(register, state.random.near(value.into()) as u32),
            _ => state.late.push((*register, value)),
        }
    }

    fn write_peer(&self, rank: usize, words: [u32; PEER_BYTES / 4]) {
        let [lost] = self.access([Lie::Write]);
        if !lost {
            self.inner.write_peer(rank, words);
        }
    }

    fn is_gone(&self) -> bool {
        self.state.borrow().ones > 0 || self.inner.is_gone()
    }

    fn has_interrupts(&self) -> bool {
        self.inner.has_interrupts()
    }

    fn wait_interrupt(&self, timeout: Duration) -> Option<bool> {
        let [lie] = self.access([Lie::Interrupt]);
        let heard = if lie { Some(true) } else { self.inner.wait_interrupt(timeout) };
        if heard != Some(true) {
            self.state.borrow_mut().elapsed += timeout;
        }
        heard
    }

    fn store_entry(&self, iova: u64, entry: &[u8; ENTRY_BYTES]) -> Result<(), DmaFault> {
        self.access([]);
        // The driver clears a completion ring before its use, so the first phase bit is 1.
        self.state.borrow_mut().awaited.insert(iova, true);
        self.inner.store_entry(iova, entry)
    }

    fn phase(&self, iova: u64) -> Result<bool, DmaFault> {
        let lies = self.access([Lie::Entry, Lie::Forge, Lie::Hide, Lie::Memory]);
        if lies.contains(&true) || !self.state.borrow().hidden.is_empty() {
            self.spoil(iova, lies)?;
        }
        self.inner.phase(iova)
    }

    fn load_entry(&self, iova: u64) -> Result<[u8; ENTRY_BYTES], DmaFault> {
        let [lie] = self.access([Lie::Transit]);
        let mut bytes = self.inner.load_entry(iova)?;
        let state = &mut *self.state.borrow_mut();
        state.awaited.insert(iova, completion::PHASE.get(&bytes) & 1 == 0);
        state.past.truncate(7);
        state.past.push_front(bytes);
        if lie {
            state.random.damage(&mut bytes, 1);
        }
        Ok(bytes)
    }
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        let value = splitmix64(self.0);
        self.0 = self.0.wrapping_add(SPLITMIX64_STEP);
        value
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    /// Number close to `value`, at an edge of the range, or arbitrary.
    fn near(&mut self, value: u64) -> u64 {
        match self.below(8) {
            0 => 0,
            1 => u64::MAX,
            2 => value ^ 1 << self.below(64),
            3 => value ^ 1 << self.below(8),
            4 => value.wrapping_add(1),
            5 => value.wrapping_sub(1),
            6 => self.next() >> self.below(64),
            _ => self.next(),
        }
    }

    /// Changes a field or a reserved byte; the phase bit only if `phase` is 1.
    fn damage(&mut self, bytes: &mut [u8; ENTRY_BYTES], phase: usize) {
        let fields = completion::ALL.len() - 1 + phase;
        match completion::ALL.get(self.below(fields + 1)) {
            Some(field) if *field != completion::PHASE || phase > 0 => {
                let value = self.near(field.get(bytes));
                field.set(bytes, value);
            }
            _ => {
                let at = completion::OWN_BEATS.end() + self.below(ENTRY_BYTES - 1 - completion::OWN_BEATS.end());
                bytes[at] ^= 1 << self.below(8);
            }
        }
    }
}
