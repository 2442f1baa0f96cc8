//! SmartNIC data plane: windows as commands and completions of an OptiReduce card.
//!
//! The card closes stages by its own clock, even while this host is off the CPU. Each slot has DMA
//! buffers for a gradient, a result and stage reports. One gradient buffer is enough: the card
//! completes a window only after it has read the gradient, and refuses a later contribution without
//! reading it. Values in a [`Buffer`](crate::Buffer) at whole beats are accessed in place. A card
//! needs at least two ranks. If no other is left, the host returns this rank's gradient unchanged,
//! even if the job uses Hadamard encoding or bf16.
//!
//! Trust: every field of a completion or stage report is checked against the plan.
//!
//! Limits: sizes of windows and Hadamard blocks by the card's registers. Means are broadcast
//! without the host's approval. Incast and rates are fixed by the job. All-reduces only.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Weak};

use optireduce_contract::limits::{BEAT_BYTES, LANES};
use optireduce_contract::queue::{
    CLOSED_COMPLETE, CLOSED_DEADLINE, CLOSED_EARLY, Completion, DONE_BROADCAST, DONE_CONTRIBUTE, DONE_REFUSED,
    FLAG_AUTO_BROADCAST, FLAG_BF16, FLAG_EARLY, FLAG_HADAMARD, OP_ARM, OP_CONTRIBUTE, REPORT_BYTES, STAGE_REPORT_BYTES,
    STATUS_BAD_COMMAND, STATUS_DMA_ERROR, STATUS_OK, STATUS_SLOT_BUSY, STATUS_STALE, Submission,
};
use optireduce_contract::ranks::RankSet;
use optireduce_driver::{Bus, DmaBuffer, DriverError, JobConfig, Nic, RING_LOG2_MAX, job_dma_bytes};
use thiserror::Error;

use optireduce_core::protocol::{ClosedBy, JobParams, Ranks, RefusedStatus, Stage, StageReport, View, WindowPlan};
use optireduce_core::{
    Capabilities, Capability, DataPlane, LentMemory, Memory, PlaneEvent, PlaneLimits, Role, Unsupported, Values,
    WindowError, WindowOutput,
};

use crate::buffer::{self, Pages};
use crate::secret::refuse_card;

/// Error of the SmartNIC data plane.
///
/// `found` and `expected` (or `max`) are values of the parameter or field `name`. `cookie` and
/// `slot` identify the window.
#[allow(missing_docs)] // described above and by the messages
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SmartNicError {
    #[error(transparent)]
    Window(#[from] WindowError),
    #[error(transparent)]
    Secret(Box<dyn std::error::Error + Send + Sync>),
    #[error(transparent)]
    Driver(#[from] DriverError),
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// The submission ring cannot hold the commands of all slots.
    #[error(
        "a ring of {entries} entries is too small for {slots} window slots; expected at least {expected} entries, \
         raise ring_log2"
    )]
    RingTooSmall { entries: usize, slots: usize, expected: usize },
    #[error("{name} is {found} in the job's parameters, but the card was configured with {expected}")]
    WrongJob { name: &'static str, found: usize, expected: usize },
    #[error("window {cookie:#010x}: {name} is {found}, expected at most {max}")]
    OutOfRange { cookie: u32, name: &'static str, found: u64, max: u64 },
    /// The card failed to reach host memory, so the window's data are invalid.
    #[error(
        "window {cookie:#010x} in slot {slot}: the card failed to reach host memory; look for IOMMU faults in the \
         kernel log, then reset the card"
    )]
    HostMemory { cookie: u32, slot: usize },
    #[error(
        "window {cookie:#010x} in slot {slot}: the card reports {name} {found:#x}, expected {expected:#x}; card and \
         library disagree, compare their contract versions"
    )]
    WrongReport {
        cookie: u32,
        slot: usize,
        name: &'static str,
        found: u64,
        /// Commanded value, or the largest or only possible one.
        expected: u64,
    },
}

impl SmartNicError {
    pub(crate) fn is_of_card(&self) -> bool {
        matches!(self, Self::Driver(_) | Self::HostMemory { .. } | Self::WrongReport { .. })
    }
}

/// DMA memory that [`SmartNic::new`] allocates, in bytes: rings, buffers and alignment.
pub const fn smartnic_dma_bytes(limits: &PlaneLimits, ring_log2: u32) -> usize {
    job_dma_bytes(limits.slots, limits.window_beats_max, ring_log2)
}

/// Data plane on a card.
pub struct SmartNic<B: Bus> {
    nic: Nic<B>,
    limits: PlaneLimits,
    /// Initial configuration, with all ranks of the job.
    job: JobConfig,
    /// Epoch of the configured view; `rank`, `ranks`: this rank's index in it, and its size.
    epoch: u32,
    rank: usize,
    ranks: usize,
    slots: Vec<Slot>,
    lent: LentMemory,
    /// Commands since the last configuration that were not refused. Each can be refused once, so
    /// that a faulty card cannot keep the host busy.
    refusable: u64,
    /// Closed stages, reported without the card while no other rank is left.
    alone: VecDeque<PlaneEvent>,
    /// Latest stage time in units of 16 us, for packet headers.
    timeout_16us: u16,
    mapped: Vec<Mapped>,
    /// Bytes copied to and from the slots' buffers since the last query.
    copied_bytes: u64,
}

#[derive(Debug)]
struct Mapped {
    pages: Weak<Pages>,
    /// Card's address; `None` if the bus could not map it.
    iova: Option<u64>,
}

#[derive(Debug)]
struct Slot {
    gradient: DmaBuffer,
    result: DmaBuffer,
    reports: DmaBuffer,
    /// The card writes the result into the caller's memory.
    is_direct: bool,
    window: Option<Armed>,
}

#[derive(Clone, Debug)]
pub(crate) struct Armed {
    pub plan: WindowPlan,
    pub bound_ns: u64,
    early: bool,
    incast: u8,
    pub contributed: bool,
    /// Stage that closes next; `None` if the result is ready.
    pub next_stage: Option<Stage>,
}

impl Armed {
    pub fn new(plan: &WindowPlan, params: &JobParams) -> Self {
        Self {
            plan: plan.clone(),
            bound_ns: params.bound_ns,
            early: params.early.is_some(),
            incast: params.incast as u8,
            contributed: false,
            next_stage: Some(Stage::Contribute),
        }
    }
}

impl<B: Bus> SmartNic<B> {
    /// Configures the card for a job and allocates the DMA buffers of its slots.
    ///
    /// # Errors
    /// If `OPTIREDUCE_SECRET` is set, since the card does not encrypt or authenticate packets.
    /// Also if the card refuses the job, the ring has fewer than 4 entries per slot, or DMA memory
    /// is short.
    pub fn new(mut nic: Nic<B>, job: &JobConfig) -> Result<Self, SmartNicError> {
        refuse_card().map_err(|error| SmartNicError::Secret(error.into()))?;
        let card = nic.limits();
        let limits = PlaneLimits {
            slots: card.slots,
            window_beats_max: card.window_beats_max,
            hadamard_log2_max: card.hadamard_log2_max,
            ranks_max: card.ranks_max,
            payload_beats_max: card.payload_beats_max,
        };
        // Pending commands of a slot: the late contribution of its previous window, an arm and a
        // contribution. The fourth entry is spare.
        let (entries, slots, expected) = (1 << job.ring_log2.min(RING_LOG2_MAX), limits.slots, 4 * limits.slots);
        if entries < expected {
            return Err(SmartNicError::RingTooSmall { entries, slots, expected });
        }
        nic.configure(job)?;
        let window_bytes = limits.window_beats_max * BEAT_BYTES;
        let slots = (0..limits.slots)
            .map(|_| {
                let gradient = nic.alloc(window_bytes, BEAT_BYTES)?;
                let result = nic.alloc(window_bytes, BEAT_BYTES)?;
                let reports = nic.alloc(REPORT_BYTES, REPORT_BYTES)?;
                Ok(Slot { gradient, result, reports, is_direct: false, window: None })
            })
            .collect::<Result<_, DriverError>>()?;
        let (job, rank, ranks) = (job.clone(), job.rank, job.ranks);
        let (lent, alone) = (LentMemory::default(), VecDeque::new());
        let (mapped, copied_bytes, timeout_16us) = (Vec::new(), 0, 0);
        Ok(Self {
            nic,
            limits,
            job,
            epoch: 0,
            rank,
            ranks,
            slots,
            lent,
            refusable: 0,
            alone,
            timeout_16us,
            mapped,
            copied_bytes,
        })
    }

    /// The card, read-only.
    pub fn nic(&self) -> &Nic<B> {
        &self.nic
    }

    /// The card, for counters and health checks only.
    pub fn nic_mut(&mut self) -> &mut Nic<B> {
        &mut self.nic
    }

    /// Fails if the bus has reported the card's departure. Reads no register unless it has.
    pub(crate) fn check_here(&self) -> Result<(), SmartNicError> {
        if self.nic.bus().is_gone() {
            self.nic.check_alive()?;
        }
        Ok(())
    }

    /// Unmaps callers' memory, so that a failed card cannot write to it later.
    pub(crate) fn cut_off(&mut self) {
        self.unmap(|_| true);
    }

    fn unmap(&mut self, which: impl Fn(&Mapped) -> bool) {
        for iova in self.mapped.extract_if(.., |mapped| which(mapped)).filter_map(|mapped| mapped.iova) {
            match self.nic.bus().unmap(iova) {
                Ok(()) => {}
                // The card no longer has access.
                Err(error @ DriverError::DeviceGone { .. }) => {
                    tracing::debug!(%error, "cannot unmap a buffer: the card is gone")
                }
                Err(error) => tracing::warn!(%error, "cannot unmap a buffer"),
            }
        }
    }

    /// Card's address of this memory, mapped if necessary. `None` unless it is in a
    /// [`Buffer`](crate::Buffer) that the card can reach, and covers whole beats or ends with its
    /// values.
    fn reach(&mut self, addresses: &Range<usize>) -> Option<u64> {
        if !addresses.start.is_multiple_of(BEAT_BYTES) {
            return None;
        }
        // The card must not reach freed memory.
        self.unmap(|mapped| mapped.pages.strong_count() == 0);
        let pages = buffer::find(addresses)?;
        let whole = pages.addresses();
        let known = self.mapped.iter().find(|mapped| mapped.pages.as_ptr() == Arc::as_ptr(&pages));
        let iova = match known {
            Some(mapped) => mapped.iova,
            None => {
                let warn = |error: &DriverError| tracing::warn!(%error, "the card does not reach a buffer; its values are copied");
                let iova = self.nic.bus().map(pages.file()?, whole.len()).inspect_err(warn).unwrap_or(None);
                self.mapped.push(Mapped { pages: Arc::downgrade(&pages), iova });
                iova
            }
        };
        let is_whole = addresses.len().is_multiple_of(BEAT_BYTES) || pages.pad(addresses.end);
        Some(iova? + (addresses.start - whole.start) as u64).filter(|_| is_whole)
    }

    /// `None`: the values must be copied.
    fn reach_window(&mut self, plan: &WindowPlan, role: Role) -> Result<Option<u64>, SmartNicError> {
        let addresses = self.lent.window(plan, role)?.as_ptr_range();
        Ok(self.reach(&(addresses.start.addr()..addresses.end.addr())))
    }

    pub(crate) fn take_copied_bytes(&mut self) -> u64 {
        std::mem::take(&mut self.copied_bytes)
    }

    /// Cuts off a failed card, and returns its windows and their lent memory.
    pub(crate) fn give_up(&mut self) -> (Vec<Armed>, LentMemory) {
        self.cut_off();
        let windows = self.slots.iter_mut().filter_map(|slot| slot.window.take()).collect();
        (windows, std::mem::take(&mut self.lent))
    }

    /// This rank in the job, its index in the configured view, and the view's size.
    pub(crate) fn places(&self) -> (usize, usize, usize) {
        (self.job.rank, self.rank, self.ranks)
    }

    fn open(&self) -> impl Iterator<Item = &Armed> {
        self.slots.iter().flat_map(|slot| &slot.window).filter(|armed| armed.next_stage.is_some())
    }

    /// True if the card still has stages to report.
    pub(crate) fn is_owed(&self) -> bool {
        !self.is_alone() && self.open().next().is_some()
    }

    /// Time in ns from the last contribution within which the card must report a stage; `None`
    /// without contributed windows.
    pub(crate) fn owed_within_ns(&self) -> Option<u64> {
        self.open().filter(|armed| armed.contributed).map(|armed| 2 * armed.bound_ns).max()
    }

    fn slot_of(&self, plan: &WindowPlan, command: &'static str) -> Result<(usize, &Armed), WindowError> {
        let found = self.slots.iter().enumerate().find_map(|(index, slot)| {
            slot.window.as_ref().filter(|armed| armed.plan == *plan).map(|armed| (index, armed))
        });
        found.ok_or(WindowError::WrongState { cookie: plan.cookie, command })
    }

    fn check_job(&self, params: &JobParams) -> Result<(), SmartNicError> {
        for (name, found, expected) in [
            ("rank", params.rank, self.rank),
            ("ranks", params.ranks, self.ranks),
            ("payload_beats", params.payload_beats, self.job.payload_beats),
        ] {
            if found != expected {
                return Err(SmartNicError::WrongJob { name, found, expected });
            }
        }
        Ok(())
    }

    fn is_alone(&self) -> bool {
        self.ranks == 1
    }

    fn submit_arm(&mut self, index: usize, plan: &WindowPlan, params: &JobParams) -> Result<(), SmartNicError> {
        let cookie = plan.cookie;
        let direct = self.reach_window(plan, Role::Result)?;
        self.slots[index].is_direct = direct.is_some();
        let Slot { result, reports, .. } = self.slots[index];
        let mut flags = FLAG_AUTO_BROADCAST;
        flags |= if plan.hadamard { FLAG_HADAMARD } else { 0 };
        flags |= if plan.bf16 { FLAG_BF16 } else { 0 };
        flags |= if params.early.is_some() { FLAG_EARLY } else { 0 };
        let window_beats_max = self.limits.window_beats_max.min(u16::MAX.into());
        self.submit(&Submission {
            opcode: OP_ARM,
            slot: narrow(cookie, "slot", index as u64, u8::MAX.into())? as u8,
            step: plan.step,
            cookie,
            bucket: plan.bucket,
            flags,
            log2_n: narrow(cookie, "log2_n", plan.log2_n.into(), self.limits.hadamard_log2_max.into())? as u8,
            base: plan.base_bytes,
            beats: narrow(cookie, "beats", plan.beats as u64, window_beats_max as u64)? as u16,
            shard_quotient: narrow(cookie, "shard quotient", plan.shards.quotient as u64, u16::MAX.into())? as u16,
            shard_remainder: narrow(cookie, "shard remainder", plan.shards.remainder as u64, u8::MAX.into())? as u8,
            rotation: narrow(cookie, "rotation", plan.shards.rotation as u64, self.ranks as u64 - 1)? as u8,
            start_peers: narrow(cookie, "start_peers", params.start_peers_of(plan) as u64, u8::MAX.into())? as u8,
            log2_blocks: narrow(cookie, "log2_blocks", plan.log2_blocks.into(), u8::MAX.into())? as u8,
            bound_ns: narrow(cookie, "bound_ns", params.bound_ns, u32::MAX.into())? as u32,
            grace_ns: params.early.map_or(0, |rule| rule.grace_ns),
            host_beats: narrow(cookie, "host_beats", plan.host_beats() as u64, plan.beats as u64)? as u16,
            mark_packets: narrow(cookie, "mark_packets", params.mark_packets_of(plan) as u64, u8::MAX.into())? as u8,
            send_incast: narrow(cookie, "incast", params.incast as u64, u8::MAX.into())? as u8,
            host_address: direct.unwrap_or(result.iova),
            report_address: reports.iova,
            sign_key: plan.sign_key,
            ..Submission::default()
        })
    }

    fn submit_contribution(&mut self, index: usize, plan: &WindowPlan, incast: u8) -> Result<(), SmartNicError> {
        let direct = self.reach_window(plan, Role::Gradient)?;
        let gradient = self.slots[index].gradient;
        if direct.is_none() {
            let elements = self.lent.window(plan, Role::Gradient)?;
            self.nic.write_f32(gradient, 0, elements)?;
            let padding = plan.host_beats() * LANES - elements.len();
            self.nic.write_f32(gradient, size_of_val(elements), &[0.0; LANES][..padding])?;
            self.copied_bytes += size_of_val(elements) as u64;
        }
        self.submit(&Submission {
            opcode: OP_CONTRIBUTE,
            slot: index as u8,
            step: plan.step,
            cookie: plan.cookie,
            host_beats: plan.host_beats() as u16,
            timeout_16us: self.timeout_16us,
            incast,
            host_address: direct.unwrap_or(gradient.iova),
            ..Submission::default()
        })
    }

    fn finish_alone(&mut self, index: usize, plan: &WindowPlan) -> Result<(), SmartNicError> {
        let elements = self.lent.window(plan, Role::Gradient)?;
        self.nic.write_f32(self.slots[index].result, 0, elements)?;
        if let Some(armed) = &mut self.slots[index].window {
            armed.next_stage = None;
        }
        self.alone.extend(Stage::ALL.map(|stage| {
            let own_bytes = plan.expected_beats(stage, self.rank, self.rank) * BEAT_BYTES;
            PlaneEvent::Stage(StageReport {
                cookie: plan.cookie,
                stage,
                closed_by: ClosedBy::Complete,
                received_bytes_per_rank: vec![own_bytes as u64],
                elapsed_ns: 0,
                heard: Ranks::none(1),
                last_ns_per_rank: Vec::new(),
                hints: Vec::new(),
            })
        }));
        Ok(())
    }

    fn submit(&mut self, command: &Submission) -> Result<(), SmartNicError> {
        self.nic.submit(command)?;
        self.refusable += 1;
        Ok(())
    }

    /// Checks a refusal. The slot may hold another window by now, so its state does not matter.
    fn handle_refusal(&mut self, completion: &Completion) -> Result<PlaneEvent, SmartNicError> {
        let &Completion { cookie, status, .. } = completion;
        let slot = usize::from(completion.slot);
        let wrong = |name, found, expected| SmartNicError::WrongReport { cookie, slot, name, found, expected };
        let status = match status {
            STATUS_STALE => RefusedStatus::Stale,
            STATUS_SLOT_BUSY => RefusedStatus::SlotBusy,
            STATUS_BAD_COMMAND => RefusedStatus::BadCommand,
            STATUS_DMA_ERROR => return Err(SmartNicError::HostMemory { cookie, slot }),
            _ => return Err(wrong("refusal status", status.into(), STATUS_STALE.into())),
        };
        let left = self.refusable.checked_sub(1);
        self.refusable = left.ok_or(wrong("more refusals than commands:", 1, 0))?;
        Ok(PlaneEvent::Refused { cookie, status })
    }

    fn handle_completion(&mut self, completion: &Completion) -> Result<PlaneEvent, SmartNicError> {
        let &Completion { cookie, status, .. } = completion;
        let slot = usize::from(completion.slot);
        let wrong = |name, found, expected| SmartNicError::WrongReport { cookie, slot, name, found, expected };
        let stage = match completion.opcode {
            DONE_CONTRIBUTE => Stage::Contribute,
            DONE_BROADCAST => Stage::Broadcast,
            DONE_REFUSED => return self.handle_refusal(completion),
            opcode => return Err(wrong("opcode", opcode.into(), DONE_REFUSED.into())),
        };
        let state = self.slots.get(slot).ok_or(wrong("slot", slot as u64, self.limits.slots as u64 - 1))?;
        let armed = state.window.as_ref().ok_or(wrong("a window in a free slot:", cookie.into(), 0))?;
        match status {
            STATUS_OK => {}
            STATUS_DMA_ERROR => return Err(SmartNicError::HostMemory { cookie, slot }),
            _ => return Err(wrong("status", status.into(), STATUS_OK.into())),
        }
        if armed.plan.cookie != cookie {
            return Err(wrong("cookie", cookie.into(), armed.plan.cookie.into()));
        }
        if armed.next_stage != Some(stage) {
            return Err(wrong("opcode", completion.opcode.into(), armed.next_stage.map_or(0, done_opcode).into()));
        }
        let mut bytes = [0; STAGE_REPORT_BYTES];
        self.nic.read_bytes(state.reports, stage.index() * STAGE_REPORT_BYTES, &mut bytes)?;
        let report = self.checked_report(armed, stage, completion, &bytes)?;

        let expected_beats: usize = (0..self.ranks).map(|from| armed.plan.expected_beats(stage, self.rank, from)).sum();
        self.timeout_16us = report.timeout_16us(armed.bound_ns, (expected_beats * BEAT_BYTES) as u64);
        if let Some(armed) = &mut self.slots[slot].window {
            armed.next_stage = if stage == Stage::Contribute { Some(Stage::Broadcast) } else { None };
        }
        Ok(PlaneEvent::Stage(report))
    }

    fn checked_report(
        &self,
        armed: &Armed,
        stage: Stage,
        completion: &Completion,
        bytes: &[u8; STAGE_REPORT_BYTES],
    ) -> Result<StageReport, SmartNicError> {
        let (slot, cookie) = (usize::from(completion.slot), completion.cookie);
        let wrong = |name, found, expected| SmartNicError::WrongReport { cookie, slot, name, found, expected };
        let check = |name, found: u64, expected: u64, is_right: bool| {
            if is_right { Ok(()) } else { Err(wrong(name, found, expected)) }
        };
        let equal = |name, found: u64, expected: u64| check(name, found, expected, found == expected);

        let closed_by = match completion.closed_by {
            CLOSED_COMPLETE => ClosedBy::Complete,
            CLOSED_EARLY if armed.early => ClosedBy::Early,
            CLOSED_DEADLINE => ClosedBy::Deadline,
            other => return Err(wrong("closed_by", other.into(), CLOSED_DEADLINE.into())),
        };
        let mut beats = bytes.chunks_exact(2).map(|pair| u64::from(u16::from_le_bytes([pair[0], pair[1]])));
        let mut received_bytes_per_rank = Vec::with_capacity(self.ranks);
        let (mut expected_peers, mut received_peers) = (0, 0);
        for (from, received) in beats.by_ref().take(self.ranks).enumerate() {
            let expected = armed.plan.expected_beats(stage, self.rank, from) as u64;
            // A complete stage must have all beats, and a rank with beats must have been heard.
            let least = if closed_by == ClosedBy::Complete { expected } else { 0 };
            check("beats per rank", received, expected, (least..=expected).contains(&received))?;
            if from == self.rank {
                equal("own_beats", completion.own_beats.into(), received)?;
            } else {
                expected_peers += expected;
                received_peers += received;
                check("heard", completion.heard, 1 << from, received == 0 || completion.heard >> from & 1 == 1)?;
            }
            received_bytes_per_rank.push(received * BEAT_BYTES as u64);
        }
        equal("beats of ranks outside the job", beats.sum(), 0)?;
        equal("expected_beats", completion.expected_beats.into(), expected_peers)?;
        equal("received_beats", completion.received_beats.into(), received_peers)?;
        let (elapsed_ns, heard) = (completion.elapsed_ns, RankSet::of_words(vec![completion.heard]));
        // The card does not pass headers to the host.
        let hints = Vec::new();
        Ok(StageReport {
            cookie,
            stage,
            closed_by,
            received_bytes_per_rank,
            elapsed_ns,
            heard,
            last_ns_per_rank: Vec::new(),
            hints,
        })
    }
}

impl<B: Bus> DataPlane for SmartNic<B> {
    type Error = SmartNicError;

    fn limits(&self) -> PlaneLimits {
        self.limits
    }

    fn lend(&mut self, memory: Memory, values: Values) {
        self.lent.lend(memory, values);
    }

    fn reclaim(&mut self, memory: Memory) -> Option<Values> {
        self.lent.reclaim(memory)
    }

    /// Always refuses, since the card has the result's address already.
    fn relocate(&mut self, _: Memory, values: Values) -> Result<Values, Values> {
        Err(values)
    }

    fn arm(&mut self, plan: &WindowPlan, params: &JobParams) -> Result<(), SmartNicError> {
        self.check_job(params)?;
        self.lent.window(plan, Role::Result)?;
        let (cookie, slots) = (plan.cookie, self.slots.len());
        if self.slots.iter().flat_map(|slot| &slot.window).any(|armed| armed.plan.cookie == cookie) {
            return Err(WindowError::WrongState { cookie, command: "arm" }.into());
        }
        let free = self.slots.iter().position(|slot| slot.window.is_none());
        let index = free.ok_or(WindowError::NoFreeSlot { cookie, slots })?;
        self.slots[index].is_direct = false;
        if !self.is_alone() {
            self.submit_arm(index, plan, params)?;
        }
        self.slots[index].window = Some(Armed::new(plan, params));
        Ok(())
    }

    fn contribute(&mut self, plan: &WindowPlan) -> Result<(), SmartNicError> {
        let cookie = plan.cookie;
        let (index, armed) = self.slot_of(plan, "contribute")?;
        if armed.contributed || armed.next_stage.is_none() {
            return Err(WindowError::WrongState { cookie, command: "contribute" }.into());
        }
        let incast = armed.incast;
        if self.is_alone() {
            self.finish_alone(index, plan)?;
        } else {
            self.submit_contribution(index, plan, incast)?;
        }
        if let Some(armed) = &mut self.slots[index].window {
            armed.contributed = true;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), SmartNicError> {
        Ok(self.nic.ring_doorbell()?)
    }

    fn poll(&mut self) -> Result<Option<PlaneEvent>, SmartNicError> {
        if let Some(event) = self.alone.pop_front() {
            return Ok(Some(event));
        }
        match self.nic.poll_completion()? {
            Some(completion) => self.handle_completion(&completion).map(Some),
            None => Ok(None),
        }
    }

    fn take_result(&mut self, plan: &WindowPlan, look: &mut dyn FnMut(WindowOutput<'_>)) -> Result<(), SmartNicError> {
        let (index, armed) = self.slot_of(plan, "take_result")?;
        if armed.next_stage.is_some() {
            return Err(WindowError::WrongState { cookie: plan.cookie, command: "take_result" }.into());
        }
        let out = self.lent.window_mut(plan, Role::Result)?;
        if !self.slots[index].is_direct {
            self.nic.read_f32(self.slots[index].result, 0, out)?;
            self.copied_bytes += size_of_val(out) as u64;
        }
        self.slots[index].window = None;
        look(WindowOutput { elements: out, not_finite: None, repair: None });
        Ok(())
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::NONE.with(Capability::Views)
    }

    fn late_bytes(&self) -> Option<u64> {
        None
    }

    fn set_rate(&mut self, _: usize, _: u32) -> Result<(), SmartNicError> {
        Err(Unsupported(Capability::RoundTrips).into())
    }

    /// Unsupported: a card keeps no packets of windows that are not armed.
    fn cancel(&mut self, _: &WindowPlan) -> Result<(), SmartNicError> {
        Err(Unsupported(Capability::Unexpected).into())
    }

    /// No effect: the card drops packets of the view until it enters it.
    fn announce(&mut self, _: &View) {}

    /// Always empty: the card reports received ranks only in its stage reports.
    fn take_heard(&mut self) -> Ranks {
        Ranks::none(self.job.ranks)
    }

    /// Reconfigures the card once it has no windows, unless no other rank is left. This closes the
    /// card's queues, so other drivers must not share it.
    fn enter(&mut self, view: &View) -> Result<bool, SmartNicError> {
        if view.epoch == self.epoch {
            return Ok(true);
        }
        let outside = WindowError::OutsideView { view: view.number, rank: self.job.rank };
        let rank = view.live().position(|rank| rank == self.job.rank).ok_or(outside)?;
        if self.slots.iter().any(|slot| slot.window.is_some()) {
            return Ok(false);
        }
        let JobConfig { endpoints, rates_bytes_per_us, .. } = &self.job;
        let job = JobConfig {
            rank,
            ranks: view.live().count(),
            job_tag: view.job_tag(self.job.job_tag),
            endpoints: view.live().filter_map(|rank| endpoints.get(rank).copied()).collect(),
            rates_bytes_per_us: view.live().filter_map(|rank| rates_bytes_per_us.get(rank).copied()).collect(),
            ..self.job.clone()
        };
        if job.ranks > 1 {
            self.nic.configure(&job)?;
            self.refusable = 0;
        }
        (self.epoch, self.rank, self.ranks) = (view.epoch, rank, job.ranks);
        Ok(true)
    }
}

fn done_opcode(stage: Stage) -> u8 {
    match stage {
        Stage::Contribute => DONE_CONTRIBUTE,
        Stage::Broadcast => DONE_BROADCAST,
    }
}

fn narrow(cookie: u32, name: &'static str, found: u64, max: u64) -> Result<u64, SmartNicError> {
    if found <= max { Ok(found) } else { Err(SmartNicError::OutOfRange { cookie, name, found, max }) }
}
