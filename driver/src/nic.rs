//! One card.
//!
//! Call order: [`Nic::open`] (identity), [`Nic::alloc`] buffers, [`Nic::configure`] (rings, job, enable), then
//! [`Nic::submit`] as often as wanted, one [`Nic::ring_doorbell`] for the batch, and [`Nic::poll_completion`] or
//! [`Nic::wait_completion`]. [`Nic::configure`] again starts over with empty rings and windows.
//!
//! The fast path reads no register: room in the submission ring is learned from completions, and only a ring that
//! looks full makes the driver read `SQ_HEAD`.
//!
//! Limits: one thread at a time drives a card (`&mut self`); completions are polled, there are no interrupts yet.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use optireduce_contract::queue::{Completion, ENTRY_BYTES, Submission};
use optireduce_contract::registers::{self as regs, CONTROL_ENABLE, Register};

use crate::arena::{Arena, DmaBuffer};
use crate::bus::Bus;
use crate::counters::Counters;
use crate::dma::{DMA_ALIGN, DmaFault, fence_after_phase, fence_before_doorbell};
use crate::entries::{self, BadField};
use crate::error::DriverError;
use crate::identity::{Limits, POLLS_MAX, check_magic, identify};
use crate::job::JobConfig;
use crate::ring::{BadIndex, CompletionRing, RingMemory, SubmissionRing};

/// A card that is identified and, once configured, works for a job.
pub struct Nic<B: Bus> {
    bus: B,
    limits: Limits,
    arena: Arena,
    /// Present while the card is enabled.
    queues: Option<Queues>,
    completions_rejected: u64,
    /// Set once, when the card has left the bus.
    gone: AtomicBool,
}

struct Queues {
    submissions: SubmissionRing,
    completions: CompletionRing,
    ranks: usize,
}

impl<B: Bus> Nic<B> {
    /// Identifies the card on `bus`: magic, contract version, limits, and an echo of two complementary patterns.
    /// Nothing but SCRATCH is written.
    ///
    /// # Errors
    /// [`DriverError::NotACard`], [`DriverError::ContractMismatch`], [`DriverError::BadLimit`],
    /// [`DriverError::NoEcho`], [`DriverError::DeviceGone`], or what the bus says.
    pub fn open(bus: B) -> Result<Self, DriverError> {
        let limits = identify(&bus)?;
        tracing::info!(device = bus.name(), ?limits, "card identified");
        let arena = Arena::new(bus.dma().iova(), bus.dma().bytes());
        Ok(Self { bus, limits, arena, queues: None, completions_rejected: 0, gone: AtomicBool::new(false) })
    }

    /// The bus below.
    pub fn bus(&self) -> &B {
        &self.bus
    }

    /// What the card can do.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Makes the card work for a job, from empty rings and windows: disables it, allocates rings, programs registers and
    /// peer table, enables it. Buffers stay as they are.
    ///
    /// # Errors
    /// [`DriverError::InvalidJob`] (the card is left as it was), [`DriverError::NotQuiesced`],
    /// [`DriverError::ArenaExhausted`], [`DriverError::DeviceGone`].
    pub fn configure(&mut self, job: &JobConfig) -> Result<(), DriverError> {
        self.check_here()?;
        job.check(self.bus.name(), &self.limits)?;
        self.disable()?;
        let submissions = self.alloc_ring(job.ring_log2)?;
        let completions = self.alloc_ring(job.ring_log2).inspect_err(|_| {
            self.arena.free(submissions.buffer);
        })?;
        job.program(&self.bus);
        self.program_rings(submissions, completions)?;
        fence_before_doorbell();
        self.bus.write(&regs::CONTROL, CONTROL_ENABLE);
        self.queues = Some(Queues {
            submissions: SubmissionRing::new(submissions),
            completions: CompletionRing::new(completions),
            ranks: job.ranks,
        });
        self.bus.flush()?;
        self.check_alive()?;
        tracing::info!(device = self.bus.name(), rank = job.rank, ranks = job.ranks, "card enabled");
        Ok(())
    }

    /// Stops the card and waits, bounded, until it no longer touches host memory; windows and queued entries are lost.
    /// A card that is not enabled may be disabled again.
    ///
    /// # Errors
    /// [`DriverError::NotQuiesced`]: the memory of the rings stays taken, since the card may still write to it.
    /// [`DriverError::DeviceGone`].
    pub fn disable(&mut self) -> Result<(), DriverError> {
        self.check_here()?;
        let queues = self.queues.take();
        self.bus.write(&regs::CONTROL, 0);
        let (mut sq_head, mut cq_tail) = (0, 0);
        for _ in 0..POLLS_MAX {
            self.bus.flush()?;
            (sq_head, cq_tail) = (self.read(&regs::SQ_HEAD)?, self.read(&regs::CQ_TAIL)?);
            if (sq_head, cq_tail) == (0, 0) {
                if let Some(queues) = queues {
                    self.arena.free(queues.submissions.memory().buffer);
                    self.arena.free(queues.completions.memory().buffer);
                }
                return Ok(());
            }
            self.bus.relax();
        }
        Err(DriverError::NotQuiesced { device: self.device(), sq_head, cq_tail, polls: POLLS_MAX })
    }

    /// Allocates a buffer in DMA memory at a multiple of `align`, a power of two (64 at least). Its content is undefined.
    ///
    /// # Errors
    /// [`DriverError::ArenaExhausted`], [`DriverError::InvalidAllocation`], [`DriverError::DeviceGone`].
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

    /// Gives a buffer back. The caller knows that no armed window uses it.
    ///
    /// # Errors
    /// [`DriverError::NotAllocated`].
    pub fn free(&mut self, buffer: DmaBuffer) -> Result<(), DriverError> {
        if self.arena.free(buffer) {
            return Ok(());
        }
        Err(DriverError::NotAllocated { device: self.device(), iova: buffer.iova, bytes: buffer.len })
    }

    /// Copies numbers into a buffer, at a byte offset that is a multiple of 4.
    ///
    /// # Errors
    /// [`DriverError::OutsideBuffer`], [`DriverError::Dma`], [`DriverError::DeviceGone`]; nothing was copied.
    pub fn write_f32(&self, buffer: DmaBuffer, byte_offset: usize, values: &[f32]) -> Result<(), DriverError> {
        let iova = self.place(buffer, byte_offset, size_of_val(values))?;
        self.bus.dma().write_f32(iova, values).map_err(|source| self.dma_fault(source))
    }

    /// Copies numbers out of a buffer, from a byte offset that is a multiple of 4.
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

    /// Writes a submission into the ring; the card sees it with the next [`Nic::ring_doorbell`].
    ///
    /// Only what the card does not check is checked here; the rest it refuses by a completion.
    ///
    /// # Errors
    /// [`DriverError::RingFull`]: nothing was written, nothing is lost. [`DriverError::InvalidSubmission`],
    /// [`DriverError::NotConfigured`], [`DriverError::BadIndex`], [`DriverError::DeviceGone`].
    pub fn submit(&mut self, submission: &Submission) -> Result<(), DriverError> {
        entries::check(submission, self.queues()?.ranks).map_err(|BadField { field, found, expected }| {
            let (device, slot, cookie) = (self.device(), submission.slot, submission.cookie);
            DriverError::InvalidSubmission { device, slot, cookie, field, found, expected }
        })?;
        if self.queues()?.submissions.is_full() {
            self.bus.flush()?;
            let found = self.read(&regs::SQ_HEAD)?;
            let learned = self.queues_mut()?.submissions.learn_from_register(found);
            learned.map_err(|BadIndex { first, last }| {
                let register = regs::SQ_HEAD.name;
                DriverError::BadIndex { device: self.device(), register, found, first, last }
            })?;
        }
        let ring = &self.queues()?.submissions;
        if ring.is_full() {
            let (entries, unrung) = (ring.memory().entries(), ring.unrung().into());
            return Err(DriverError::RingFull { device: self.device(), entries, unrung });
        }
        let stored = self.bus.store_entry(ring.tail_entry(), &submission.to_bytes());
        stored.map_err(|source| self.dma_fault(source))?;
        self.queues_mut()?.submissions.push();
        Ok(())
    }

    /// Announces all submissions since the last call with one 32-bit store; none if there are none.
    ///
    /// # Errors
    /// [`DriverError::NotConfigured`], [`DriverError::DeviceGone`].
    pub fn ring_doorbell(&mut self) -> Result<(), DriverError> {
        if let Some(tail) = self.queues_mut()?.submissions.ring() {
            fence_before_doorbell();
            self.bus.write(&regs::SQ_TAIL, tail.into());
        }
        Ok(())
    }

    /// Takes the next completion, if there is one. Its work is bounded: one entry.
    ///
    /// # Errors
    /// [`DriverError::BadCompletion`]: the entry was consumed and counted; poll again for the next.
    /// [`DriverError::NotConfigured`], [`DriverError::DeviceGone`].
    pub fn poll_completion(&mut self) -> Result<Option<Completion>, DriverError> {
        let ring = &self.queues()?.completions;
        let (entry, index, phase) = (ring.head_entry(), ring.head(), ring.phase());
        if self.bus.phase(entry).map_err(|source| self.dma_fault(source))? != phase {
            self.publish(true)?;
            return Ok(None);
        }
        fence_after_phase();
        let bytes = self.bus.load_entry(entry).map_err(|source| self.dma_fault(source))?;
        self.queues_mut()?.completions.pop();
        self.publish(false)?;
        let limits = self.limits;
        self.queues_mut()?.accept(&bytes, &limits).map(Some).map_err(|BadField { field, found, expected }| {
            self.completions_rejected += 1;
            let error = DriverError::BadCompletion { device: self.device(), index, field, found, expected };
            tracing::warn!(device = self.bus.name(), index, field, found, "completion rejected");
            error
        })
    }

    /// Waits for the next completion, at most `timeout` of real time.
    ///
    /// # Errors
    /// [`DriverError::Timeout`] if the card still answers, [`DriverError::DeviceGone`] if not, and as
    /// [`Nic::poll_completion`].
    pub fn wait_completion(&mut self, timeout: Duration) -> Result<Completion, DriverError> {
        let start = Instant::now();
        loop {
            // The clock is read first: what came before the end of the wait is found by the last poll.
            let over = start.elapsed() >= timeout;
            if let Some(completion) = self.poll_completion()? {
                return Ok(completion);
            }
            if over {
                self.check_alive()?;
                let ring = &self.queues()?.submissions;
                let (outstanding, unrung) = (ring.outstanding().into(), ring.unrung().into());
                return Err(DriverError::Timeout { device: self.device(), waited: timeout, outstanding, unrung });
            }
            self.bus.relax();
        }
    }

    /// The card's counters, current.
    ///
    /// # Errors
    /// [`DriverError::DeviceGone`]: the counters would be all ones.
    pub fn counters(&self) -> Result<Counters, DriverError> {
        self.check_here()?;
        self.bus.flush()?;
        let counters = Counters::read(&self.bus, self.completions_rejected);
        self.check_alive()?;
        Ok(counters)
    }

    /// Asks the card whether it is still there.
    ///
    /// # Errors
    /// [`DriverError::DeviceGone`], from now on by every call; [`DriverError::NotACard`].
    pub fn check_alive(&self) -> Result<(), DriverError> {
        self.check_here()?;
        self.bus.flush()?;
        check_magic(&self.bus).inspect_err(|error| {
            if matches!(error, DriverError::DeviceGone { .. }) {
                self.gone.store(true, Ordering::Relaxed);
                tracing::error!(device = self.bus.name(), "card is gone");
            }
        })
    }

    fn check_here(&self) -> Result<(), DriverError> {
        if self.gone.load(Ordering::Relaxed) { Err(DriverError::DeviceGone { device: self.device() }) } else { Ok(()) }
    }

    /// Reads a register that the card writes; all ones make it ask whether the card is still there.
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

    /// Clears the completion ring, so that no phase bit is left from an earlier job, and tells a disabled card where
    /// both rings are.
    fn program_rings(&self, submissions: RingMemory, completions: RingMemory) -> Result<(), DriverError> {
        for entry in (completions.buffer.iova..).step_by(ENTRY_BYTES).take(completions.entries() as usize) {
            self.bus.store_entry(entry, &[0; ENTRY_BYTES]).map_err(|source| self.dma_fault(source))?;
        }
        for (lo, hi, log2, ring) in [
            (&regs::SQ_BASE_LO, &regs::SQ_BASE_HI, &regs::SQ_LOG2, submissions),
            (&regs::CQ_BASE_LO, &regs::CQ_BASE_HI, &regs::CQ_LOG2, completions),
        ] {
            self.bus.write(lo, ring.buffer.iova as u32);
            self.bus.write(hi, (ring.buffer.iova >> 32) as u32);
            self.bus.write(log2, ring.log2);
        }
        self.bus.write(&regs::SQ_TAIL, 0);
        self.bus.write(&regs::CQ_HEAD, 0);
        Ok(())
    }

    /// Tells the card which completions were consumed, if it is time.
    fn publish(&mut self, drained: bool) -> Result<(), DriverError> {
        if let Some(head) = self.queues_mut()?.completions.publish(drained) {
            fence_before_doorbell();
            self.bus.write(&regs::CQ_HEAD, head.into());
        }
        Ok(())
    }

    /// IOVA of an access to `bytes` bytes of a buffer.
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
    fn accept(&mut self, bytes: &[u8; ENTRY_BYTES], limits: &Limits) -> Result<Completion, BadField> {
        let completion = entries::decode(bytes, limits, self.ranks)?;
        self.submissions.learn_from_completion(completion.sq_head).map_err(|BadIndex { first, last }| BadField {
            field: "SQ_HEAD",
            found: completion.sq_head.into(),
            expected: format!("{first:#x} to {last:#x}, modulo 0x10000"),
        })?;
        Ok(completion)
    }
}

/// A card that nobody drives must not write to memory that is about to be unmapped.
impl<B: Bus> Drop for Nic<B> {
    fn drop(&mut self) {
        if self.queues.is_some() && !self.gone.load(Ordering::Relaxed) {
            self.bus.write(&regs::CONTROL, 0);
            if let Err(error) = self.bus.flush() {
                tracing::warn!(device = self.bus.name(), %error, "card may not have heard that it is disabled");
            }
        }
    }
}
