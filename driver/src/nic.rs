//! One card.
//!
//! Call order: [`Nic::open`], [`Nic::alloc`] buffers, [`Nic::configure`]. Then any number of
//! [`Nic::submit`], one [`Nic::ring_doorbell`] per batch, and [`Nic::poll_completion`] or
//! [`Nic::wait_completion`]. Another [`Nic::configure`] starts over with empty rings and windows.
//!
//! Several drivers can share a card. One configures it and disables it when dropped; the others
//! call [`Nic::open_queue`]. Windows and completions belong to the queue that armed them. Slots are
//! shared, so the drivers must agree on their use.
//!
//! The fast path reads no register: completions report free submission entries. `SQ_HEAD` is read
//! only if the ring looks full.
//!
//! Limits: one thread at a time drives a queue. A queue closes only when the card is configured
//! again; until then its memory must stay mapped.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use optireduce_contract::queue::{Completion, ENTRY_BYTES, Submission};
use optireduce_contract::registers::{self as regs, CONTROL_ENABLE, Register, STATUS_BUSY, status_stopped};

use crate::arena::{Arena, DmaBuffer};
use crate::bus::Bus;
use crate::counters::Counters;
use crate::dma::{DMA_ALIGN, DmaFault, fence_after_phase, fence_before_doorbell};
use crate::entries::{self, BadField};
use crate::error::DriverError;
use crate::identity::{
    Limits, NetworkAddress, POLLS_MAX, Surroundings, check_magic, identify, network_address, surroundings,
};
use crate::job::{JobConfig, check_queue};
use crate::ring::{BadIndex, Command, CompletionRing, RingMemory, Rings, SubmissionRing};

/// Default polling time before a wait sleeps: as long as short commands take.
const POLL_FIRST: Duration = Duration::from_micros(20);

/// Identified card, which works for a job once configured. Any fallible call but [`Nic::free`] may
/// return [`DriverError::DeviceGone`], as all calls after it then do.
pub struct Nic<B: Bus> {
    bus: B,
    limits: Limits,
    arena: Arena,
    queue: usize,
    /// Set if this driver configured the card, and so disables it when dropped.
    configured: bool,
    queues: Option<Queues>,
    completions_rejected: u64,
    pub(crate) poll_first: Duration,
    gone: AtomicBool,
}

/// Registers of a queue's rings; all zero while the queue is closed.
const RINGS: [&Register; 8] = [
    &regs::SQ_BASE_LO,
    &regs::SQ_BASE_HI,
    &regs::SQ_LOG2,
    &regs::CQ_BASE_LO,
    &regs::CQ_BASE_HI,
    &regs::CQ_LOG2,
    &regs::SQ_TAIL,
    &regs::CQ_HEAD,
];

struct Queues {
    submissions: SubmissionRing,
    completions: CompletionRing,
    ranks: usize,
}

impl<B: Bus> Nic<B> {
    /// Identifies the card on `bus`. Writes only SCRATCH.
    ///
    /// # Errors
    /// [`DriverError::NotACard`], [`DriverError::ContractMismatch`], [`DriverError::BadLimit`],
    /// [`DriverError::NoEcho`], or an error of the bus.
    pub fn open(bus: B) -> Result<Self, DriverError> {
        let limits = identify(&bus)?;
        tracing::info!(device = bus.name(), ?limits, "card identified");
        let arena = Arena::new(bus.dma().iova(), bus.dma().bytes());
        let (completions_rejected, poll_first, gone) = (0, POLL_FIRST, AtomicBool::new(false));
        Ok(Self {
            bus,
            limits,
            arena,
            queue: 0,
            configured: false,
            queues: None,
            completions_rejected,
            poll_first,
            gone,
        })
    }

    /// Bus of the card.
    pub fn bus(&self) -> &B {
        &self.bus
    }

    /// Limits of the card.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Reads the network address that a simulator assigned to an unconfigured card; `None` on
    /// boards.
    pub fn network_address(&self) -> Result<Option<NetworkAddress>, DriverError> {
        self.check_here()?;
        let address = network_address(&self.bus);
        self.check_alive()?;
        Ok(address)
    }

    /// Reads card time, link state and shell build.
    pub fn surroundings(&self) -> Result<Surroundings, DriverError> {
        self.check_here()?;
        self.bus.flush()?;
        let found = surroundings(&self.bus);
        self.check_alive()?;
        Ok(found)
    }

    /// Configures and enables the card for a job. Windows are lost, and other drivers' queues
    /// closed. Buffers stay allocated.
    ///
    /// # Errors
    /// [`DriverError::InvalidJob`] (the card is unchanged), [`DriverError::NotQuiesced`],
    /// [`DriverError::ArenaExhausted`].
    pub fn configure(&mut self, job: &JobConfig) -> Result<(), DriverError> {
        self.check_here()?;
        job.check(self.bus.name(), &self.limits)?;
        self.disable()?;
        job.program(&self.bus);
        for queue in 0..self.limits.queues {
            for register in RINGS {
                self.bus.write(&register.of_queue(queue), 0);
            }
        }
        self.open_rings(job.queue, job.ring_log2, job.ranks)?;
        fence_before_doorbell();
        self.bus.write(&regs::CONTROL, CONTROL_ENABLE);
        self.configured = true;
        self.bus.flush()?;
        self.check_alive()?;
        tracing::info!(device = self.bus.name(), rank = job.rank, ranks = job.ranks, "card enabled");
        Ok(())
    }

    /// Opens queue pair `queue` of a card that another driver has configured, for the same job.
    ///
    /// # Errors
    /// [`DriverError::NotConfigured`] if the card is not enabled. [`DriverError::QueueInUse`] if
    /// `queue`, or this driver's former queue, is open. [`DriverError::InvalidJob`],
    /// [`DriverError::ArenaExhausted`].
    pub fn open_queue(&mut self, queue: usize, ring_log2: u32) -> Result<(), DriverError> {
        self.check_alive()?;
        check_queue(self.bus.name(), &self.limits, queue, ring_log2)?;
        if self.read(&regs::CONTROL)? & CONTROL_ENABLE == 0 {
            return Err(DriverError::NotConfigured { device: self.device() });
        }
        // This driver's former queue must have been closed by configuring the card again.
        for queue in [queue, self.queue].into_iter().take(1 + usize::from(self.queues.is_some())) {
            for register in RINGS {
                let found = self.read(&register.of_queue(queue))?;
                if found != 0 {
                    return Err(DriverError::QueueInUse {
                        device: self.device(),
                        queue,
                        register: register.name,
                        found,
                    });
                }
            }
        }
        if let Some(queues) = self.queues.take() {
            self.free_rings(&queues);
        }
        let ranks = self.read(&regs::RANKS)? as usize;
        if !(2..=self.limits.ranks_max).contains(&ranks) {
            let (found, expected) = (ranks as u64, format!("2 to {}", self.limits.ranks_max));
            return Err(DriverError::InvalidJob { device: self.device(), field: "ranks", found, expected });
        }
        self.open_rings(queue, ring_log2, ranks)?;
        self.configured = false;
        self.bus.flush()?;
        tracing::info!(device = self.bus.name(), queue, "queue opened");
        Ok(())
    }

    /// Disables the card and waits, bounded, until it no longer accesses host memory. Windows and
    /// queued entries of all drivers are lost.
    ///
    /// # Errors
    /// [`DriverError::NotQuiesced`]: the rings stay allocated, since the card may still write to
    /// them.
    pub fn disable(&mut self) -> Result<(), DriverError> {
        self.check_here()?;
        let queues = self.queues.take();
        self.bus.write(&regs::CONTROL, 0);
        let (mut sq_head, mut cq_tail, mut busy) = (0, 0, false);
        for _ in 0..POLLS_MAX {
            self.bus.flush()?;
            (sq_head, cq_tail) = (self.read(&self.mine(&regs::SQ_HEAD))?, self.read(&self.mine(&regs::CQ_TAIL))?);
            busy = self.read(&regs::STATUS)? & STATUS_BUSY != 0;
            if (sq_head, cq_tail, busy) == (0, 0, false) {
                if let Some(queues) = queues {
                    self.free_rings(&queues);
                }
                return Ok(());
            }
            self.bus.relax();
        }
        Err(DriverError::NotQuiesced { device: self.device(), sq_head, cq_tail, busy, polls: POLLS_MAX })
    }

    /// Allocates an uninitialised buffer in DMA memory at a multiple of `align`, a power of two,
    /// and of 64.
    ///
    /// # Errors
    /// [`DriverError::ArenaExhausted`], [`DriverError::InvalidAllocation`].
    pub fn alloc(&mut self, bytes: usize, align: usize) -> Result<DmaBuffer, DriverError> {
        self.check_here()?;
        if bytes == 0 || !align.is_power_of_two() {
            return Err(DriverError::InvalidAllocation { device: self.device(), bytes, align });
        }
        self.arena.alloc(bytes, align).ok_or_else(|| DriverError::ArenaExhausted {
            device: self.device(),
            bytes,
            align,
            free_bytes: self.arena.free_bytes(),
            largest_bytes: self.arena.largest_bytes(),
            arena_bytes: self.arena.bytes(),
        })
    }

    /// Frees a buffer. No armed window may use it.
    ///
    /// # Errors
    /// [`DriverError::NotAllocated`].
    pub fn free(&mut self, buffer: DmaBuffer) -> Result<(), DriverError> {
        if self.arena.free(buffer) {
            return Ok(());
        }
        Err(DriverError::NotAllocated { device: self.device(), iova: buffer.iova, bytes: buffer.len })
    }

    /// Copies fp32 values into a buffer, at a byte offset that is a multiple of 4.
    ///
    /// # Errors
    /// [`DriverError::OutsideBuffer`], [`DriverError::Dma`]; nothing was copied.
    pub fn write_f32(&self, buffer: DmaBuffer, byte_offset: usize, values: &[f32]) -> Result<(), DriverError> {
        let iova = self.place(buffer, byte_offset, size_of_val(values))?;
        self.bus.dma().write_f32(iova, values).map_err(|source| self.dma_fault(source))
    }

    /// Copies fp32 values out of a buffer, from a byte offset that is a multiple of 4.
    ///
    /// # Errors
    /// As [`Nic::write_f32`].
    pub fn read_f32(&self, buffer: DmaBuffer, byte_offset: usize, out: &mut [f32]) -> Result<(), DriverError> {
        let iova = self.place(buffer, byte_offset, size_of_val(out))?;
        self.bus.dma().read_f32(iova, out).map_err(|source| self.dma_fault(source))
    }

    /// Copies bytes into a buffer.
    ///
    /// # Errors
    /// As [`Nic::write_f32`].
    pub fn write_bytes(&self, buffer: DmaBuffer, byte_offset: usize, bytes: &[u8]) -> Result<(), DriverError> {
        let iova = self.place(buffer, byte_offset, bytes.len())?;
        self.bus.dma().write(iova, bytes).map_err(|source| self.dma_fault(source))
    }

    /// Copies bytes out of a buffer.
    ///
    /// # Errors
    /// As [`Nic::write_f32`].
    pub fn read_bytes(&self, buffer: DmaBuffer, byte_offset: usize, out: &mut [u8]) -> Result<(), DriverError> {
        let iova = self.place(buffer, byte_offset, out.len())?;
        self.bus.dma().read(iova, out).map_err(|source| self.dma_fault(source))
    }

    /// Writes a submission into the ring. The card sees it after the next [`Nic::ring_doorbell`].
    ///
    /// Checks only alignment and shard sizes, for which a refusal of the card would name no field.
    ///
    /// # Errors
    /// [`DriverError::RingFull`]: nothing was written. [`DriverError::InvalidSubmission`],
    /// [`DriverError::BadIndex`], [`DriverError::NotConfigured`]. As [`Nic::check_working`] if the
    /// ring stays full.
    pub fn submit(&mut self, submission: &Submission) -> Result<(), DriverError> {
        entries::check(submission, self.queues()?.ranks).map_err(|BadField { field, found, expected }| {
            let (device, slot, cookie) = (self.device(), submission.slot, submission.cookie);
            DriverError::InvalidSubmission { device, slot, cookie, field, found, expected }
        })?;
        if self.queues()?.submissions.is_full() {
            self.learn_head()?;
        }
        let ring = &self.queues()?.submissions;
        if ring.is_full() {
            self.check_working()?;
            let (entries, unrung) = (ring.memory().entries(), ring.unrung().into());
            return Err(DriverError::RingFull { device: self.device(), entries, unrung });
        }
        let stored = self.bus.store_entry(ring.tail_entry(), &submission.to_bytes());
        stored.map_err(|source| self.dma_fault(source))?;
        self.queues_mut()?.submissions.push();
        Ok(())
    }

    /// Announces all submissions since the last call, if any, with one 32-bit store.
    ///
    /// # Errors
    /// [`DriverError::NotConfigured`].
    pub fn ring_doorbell(&mut self) -> Result<(), DriverError> {
        if let Some(tail) = self.queues_mut()?.submissions.ring() {
            fence_before_doorbell();
            self.bus.write(&self.mine(&regs::SQ_TAIL), tail.into());
        }
        Ok(())
    }

    /// Takes the next completion, if there is one.
    ///
    /// # Errors
    /// [`DriverError::BadCompletion`]: the entry was consumed and counted, so that the next one can
    /// be polled. [`DriverError::NotConfigured`].
    pub fn poll_completion(&mut self) -> Result<Option<Completion>, DriverError> {
        let ring = &self.queues()?.completions;
        let (entry, index, phase) = (ring.head_entry(), ring.head(), ring.phase());
        if self.bus.phase(entry).map_err(|source| self.dma_fault(source))? != phase {
            return Ok(None);
        }
        fence_after_phase();
        let bytes = self.bus.load_entry(entry).map_err(|source| self.dma_fault(source))?;
        self.queues_mut()?.completions.pop();
        self.publish()?;
        let limits = self.limits;
        self.queues_mut()?.accept(&bytes, phase, &limits).map(Some).map_err(|BadField { field, found, expected }| {
            self.completions_rejected += 1;
            let error = DriverError::BadCompletion { device: self.device(), index, field, found, expected };
            tracing::warn!(device = self.bus.name(), index, field, found, "completion rejected");
            error
        })
    }

    /// Returns the error for a working card that has completed nothing for `waited`.
    pub fn overdue(&mut self, waited: Duration) -> DriverError {
        let look = |nic: &mut Self| -> Result<DriverError, DriverError> {
            nic.learn_head()?;
            let ring = &nic.queues()?.submissions;
            let (outstanding, unrung) = (ring.outstanding().into(), ring.unrung().into());
            Ok(DriverError::Timeout { device: nic.device(), waited, outstanding, unrung })
        };
        look(self).unwrap_or_else(|error| error)
    }

    /// Reads the card's counters.
    pub fn counters(&self) -> Result<Counters, DriverError> {
        self.check_here()?;
        self.bus.flush()?;
        let counters = Counters::read(&self.bus, self.queue, self.completions_rejected);
        self.check_alive()?;
        Ok(counters)
    }

    /// Reads the progress of this driver's queue pair (two registers).
    ///
    /// # Errors
    /// [`DriverError::NotConfigured`], [`DriverError::BadIndex`].
    pub fn rings(&mut self) -> Result<Rings, DriverError> {
        self.learn_head()?;
        let completed = self.read(&self.mine(&regs::CQ_TAIL))?;
        let Queues { submissions, completions, .. } = self.queues()?;
        let load = |entry| self.bus.load_entry(entry).map(|bytes| Command::of(&Submission::from_bytes(&bytes)));
        let waiting = submissions.waiting().take(Rings::COMMANDS_MAX).map(load).collect::<Result<_, _>>();
        let waiting = waiting.map_err(|source| self.dma_fault(source))?;
        let (entries, taken) = (submissions.memory().entries(), completions.head());
        let [written, announced, consumed] = submissions.counts();
        Ok(Rings { queue: self.queue, entries, written, announced, consumed, waiting, completed, taken })
    }

    /// Checks that the card is still there.
    ///
    /// # Errors
    /// [`DriverError::NotACard`].
    pub fn check_alive(&self) -> Result<(), DriverError> {
        self.check_here()?;
        self.bus.flush()?;
        check_magic(&self.bus).inspect_err(|error| {
            if matches!(error, DriverError::DeviceGone { .. }) {
                self.gone.store(true, Ordering::Relaxed);
                // The bus has logged the loss, or the caller will.
                tracing::debug!(device = self.bus.name(), "card is gone");
            }
        })
    }

    fn check_here(&self) -> Result<(), DriverError> {
        if self.gone.load(Ordering::Relaxed) { Err(DriverError::DeviceGone { device: self.device() }) } else { Ok(()) }
    }

    /// Checks that the card still works for this driver.
    ///
    /// # Errors
    /// [`DriverError::WasReset`], [`DriverError::QueueStopped`], [`DriverError::NotConfigured`].
    pub fn check_working(&self) -> Result<(), DriverError> {
        self.queues()?;
        let alive = self.check_alive();
        if !matches!(alive, Ok(()) | Err(DriverError::NotACard { .. })) {
            return alive;
        }
        // During a reset, all registers of a card that was identified before may read 0.
        let (found, expected) = (self.read(&regs::CONTROL)?, CONTROL_ENABLE);
        if found & CONTROL_ENABLE == 0 {
            return Err(DriverError::WasReset { device: self.device(), found, expected });
        }
        alive?;
        if self.read(&regs::STATUS)? & status_stopped(self.queue) != 0 {
            return Err(DriverError::QueueStopped { device: self.device(), queue: self.queue });
        }
        Ok(())
    }

    fn learn_head(&mut self) -> Result<(), DriverError> {
        self.bus.flush()?;
        let found = self.read(&self.mine(&regs::SQ_HEAD))?;
        let learned = self.queues_mut()?.submissions.learn_from_register(found);
        learned.map_err(|BadIndex { first, last }| {
            let register = regs::SQ_HEAD.name;
            DriverError::BadIndex { device: self.device(), register, found, first, last }
        })
    }

    fn mine(&self, register: &Register) -> Register {
        register.of_queue(self.queue)
    }

    /// Reads a register that the card writes; all ones may mean that the card is gone.
    fn read(&self, register: &Register) -> Result<u32, DriverError> {
        let value = self.bus.read(register);
        if value == u32::MAX {
            self.check_alive()?;
        }
        Ok(value)
    }

    fn queues(&self) -> Result<&Queues, DriverError> {
        self.check_here()?;
        self.queues.as_ref().ok_or_else(|| DriverError::NotConfigured { device: self.device() })
    }

    fn queues_mut(&mut self) -> Result<&mut Queues, DriverError> {
        self.check_here()?;
        self.queues.as_mut().ok_or_else(|| DriverError::NotConfigured { device: self.bus.name().into() })
    }

    fn alloc_ring(&mut self, log2: u32) -> Result<RingMemory, DriverError> {
        Ok(RingMemory { buffer: self.alloc(ENTRY_BYTES << log2, DMA_ALIGN)?, log2 })
    }

    fn free_rings(&mut self, queues: &Queues) {
        self.arena.free(queues.submissions.memory().buffer);
        self.arena.free(queues.completions.memory().buffer);
    }

    fn open_rings(&mut self, queue: usize, log2: u32, ranks: usize) -> Result<(), DriverError> {
        let submissions = self.alloc_ring(log2)?;
        let completions = self.alloc_ring(log2).inspect_err(|_| {
            self.arena.free(submissions.buffer);
        })?;
        self.queue = queue;
        self.program_rings(submissions, completions)?;
        let (submissions, completions) = (SubmissionRing::new(submissions), CompletionRing::new(completions));
        self.queues = Some(Queues { submissions, completions, ranks });
        Ok(())
    }

    /// Clears the completion ring, so that no phase bit of an earlier job remains.
    fn program_rings(&self, submissions: RingMemory, completions: RingMemory) -> Result<(), DriverError> {
        for entry in (completions.buffer.iova..).step_by(ENTRY_BYTES).take(completions.entries() as usize) {
            self.bus.store_entry(entry, &[0; ENTRY_BYTES]).map_err(|source| self.dma_fault(source))?;
        }
        for (lo, hi, log2, ring) in [
            (&regs::SQ_BASE_LO, &regs::SQ_BASE_HI, &regs::SQ_LOG2, submissions),
            (&regs::CQ_BASE_LO, &regs::CQ_BASE_HI, &regs::CQ_LOG2, completions),
        ] {
            self.bus.write(&self.mine(lo), ring.buffer.iova as u32);
            self.bus.write(&self.mine(hi), (ring.buffer.iova >> 32) as u32);
            self.bus.write(&self.mine(log2), ring.log2);
        }
        fence_before_doorbell();
        self.bus.write(&self.mine(&regs::SQ_TAIL), 0);
        self.bus.write(&self.mine(&regs::CQ_HEAD), 0);
        Ok(())
    }

    fn publish(&mut self) -> Result<(), DriverError> {
        if let Some(head) = self.queues_mut()?.completions.publish() {
            fence_before_doorbell();
            self.bus.write(&self.mine(&regs::CQ_HEAD), head.into());
        }
        Ok(())
    }

    fn place(&self, buffer: DmaBuffer, offset: usize, bytes: usize) -> Result<u64, DriverError> {
        self.check_here()?;
        let iova = buffer.iova.checked_add(offset as u64);
        let fits = offset.checked_add(bytes).is_some_and(|end| end <= buffer.len);
        iova.filter(|_| fits).ok_or_else(|| DriverError::OutsideBuffer {
            device: self.device(),
            iova: buffer.iova,
            len: buffer.len,
            offset,
            bytes,
        })
    }

    fn device(&self) -> String {
        self.bus.name().to_owned()
    }

    fn dma_fault(&self, source: DmaFault) -> DriverError {
        DriverError::Dma { device: self.device(), source }
    }
}

impl Queues {
    fn accept(&mut self, bytes: &[u8; ENTRY_BYTES], phase: bool, limits: &Limits) -> Result<Completion, BadField> {
        let completion = entries::decode(bytes, phase, limits, self.ranks)?;
        self.submissions.learn_from_completion(completion.sq_head).map_err(|BadIndex { first, last }| BadField {
            field: "SQ_HEAD",
            found: completion.sq_head.into(),
            expected: format!("{first:#x} to {last:#x}, modulo 0x10000"),
        })?;
        Ok(completion)
    }
}

/// Disables the card, which must not write to memory about to be unmapped.
impl<B: Bus> Drop for Nic<B> {
    fn drop(&mut self) {
        if self.configured && self.queues.is_some() && !self.gone.load(Ordering::Relaxed) {
            self.bus.write(&regs::CONTROL, 0);
            if let Err(error) = self.bus.flush() {
                tracing::warn!(device = self.bus.name(), %error, "the write that disables the card may be lost");
            }
        }
    }
}
