//! Software data plane: the card's work on a CPU, up to the socket.
//!
//! Inputs are datagrams, commands and the time. Outputs are datagrams, events and the next wake-up
//! time. Packets and arithmetic are the card's.
//!
//! Call order:
//! 1. [`set_now`](Software::set_now) with the time.
//! 2. [`handle_datagram`](Software::handle_datagram) for each received datagram.
//! 3. [`advance`](Software::advance), which closes due stages.
//! 4. [`DataPlane::poll`] and [`poll_transmit`](Software::poll_transmit) until both return `None`.
//! 5. Repeat at [`next_timeout`](Software::next_timeout) at the latest.
//!
//! Differences from the card:
//! - Packets of windows that are not armed yet are kept ([`PlaneEvent::Unexpected`]).
//! - Stages close only after all packets that waited in the socket.
//! - Silence closes no stage while a sender may only be slow (module `silence`).
//! - The broadcast stage inherits unused time from the contribute stage
//!   ([`SoftwareJob::carry_over`]).
//!
//! Limits: the last bits of a mean depend on the order of arrival, but all ranks receive the same.

mod arrivals;
mod bits;
mod congestion;
mod credit;
mod lanes;
mod pacer;
mod receive;
mod silence;
mod tails;
mod transmit;
mod unannounced;
mod unexpected;
mod views;
mod window;

use std::collections::{HashMap, VecDeque};
use std::iter::repeat;

use optireduce_contract::limits::{HADAMARD_LOG2_LIMIT, PAYLOAD_BEATS_MAX, WINDOW_BEATS_LIMIT};
use optireduce_contract::packet::{UBT_BYTES, UbtHeader};
use thiserror::Error;

pub use self::receive::Counters;
pub use self::transmit::{Batch, Datagram, Transmit};

use self::credit::Credits;
use self::pacer::Pacer;
use self::silence::Silence;
use self::tails::Tails;
use self::transmit::{Outbox, Polled, SendBudget, Train};
use self::unannounced::Unannounced;
use self::unexpected::UnexpectedQueue;
use self::views::ViewTable;
use self::window::{Buffers, Window};
use crate::data_plane::{
    Capabilities, Capability, DataPlane, LentMemory, Memory, PlaneEvent, Role, WindowError, WindowOutput,
};
use crate::protocol::{ClosedBy, JobParams, PeerHints, PlaneLimits, Ranks, RefusedStatus, Stage, View, WindowPlan};
use crate::values::Values;

/// Configuration of a software data plane on rank `rank`.
#[allow(missing_docs)] // described above
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SoftwareJob {
    pub rank: usize,
    /// Ranks of the job, 2 to [`RANKS_MAX`].
    pub ranks: usize,
    /// Random number of the job. Packets with another tag are dropped.
    pub job_tag: u64,
    /// Payload of a full packet, in beats of 64 bytes.
    pub payload_beats: usize,
    /// Maximum number of armed windows.
    pub slots: usize,
    /// Maximum bytes of kept packets whose window is not armed yet.
    pub unexpected_bytes_max: usize,
    /// By rank: maximum bytes in flight without feedback. 0, the default, is no limit. Ranks with
    /// cards must be 0, since they send no feedback.
    pub in_flight_bytes_max: Vec<u64>,
    /// Minimum silence in ns before the early rule closes a stage without a peer whose last packet
    /// is missing. If longer, an eighth of the bound applies, up to 50 ms. 0: no silence is
    /// required, as on the card. Default: 3 ms, for a sender that is off the CPU.
    pub silence_ns_min: u64,
    /// Whether the broadcast stage of an all-reduce inherits unused time from its contribute stage,
    /// so that both take up to two bounds. Default: yes; the card does not.
    pub carry_over: bool,
}

impl SoftwareJob {
    /// Default configuration: [`SLOTS_DEFAULT`] slots, up to 64 MiB of unexpected packets.
    pub fn new(rank: usize, ranks: usize, job_tag: u64, payload_beats: usize) -> Self {
        Self {
            rank,
            ranks,
            job_tag,
            payload_beats,
            slots: SLOTS_DEFAULT,
            unexpected_bytes_max: 64 << 20,
            in_flight_bytes_max: Vec::new(),
            silence_ns_min: SILENCE_NS_MIN,
            carry_over: true,
        }
    }
}

/// Default of [`SoftwareJob::slots`].
pub const SLOTS_DEFAULT: usize = 32;
/// Longer than most schedulers keep a thread off the CPU.
const SILENCE_NS_MIN: u64 = 3_000_000;
/// Maximum number of ranks of a job. It limits only memory.
pub use crate::protocol::RANKS_MAX;

/// Rejection of a command, which changed nothing.
#[allow(missing_docs)] // the message names the fields
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SoftwareError {
    #[error(transparent)]
    Window(#[from] WindowError),
    #[error("{name} is {found}, expected {min} to {max}")]
    Job { name: &'static str, found: usize, min: usize, max: usize },
}

/// Software data plane. See the [module](self) documentation.
#[derive(Debug)]
pub struct Software {
    job: SoftwareJob,
    views: ViewTable,
    now_ns: u64,
    heard: Ranks,
    silence: Silence,
    samples_16us: HashMap<(u16, usize), u16>,
    /// Twice the slots: finished windows stay until their packets are sent.
    windows: Vec<Option<Window>>,
    lent: LentMemory,
    outbox: Outbox,
    tails: Tails,
    budget: SendBudget,
    train: Train,
    unexpected: UnexpectedQueue,
    unannounced: Unannounced,
    events: VecDeque<PlaneEvent>,
    counters: Counters,
    late_bytes: u64,
    is_asked: bool,
    buffers: Buffers,
    trace: Option<Vec<Accepted>>,
}

/// Beat `position` of a window, accepted at `at_ns`, for an independent check of the arithmetic.
/// `sender` is an index in the view: this rank for its own contribution.
#[allow(missing_docs)] // described above
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accepted {
    pub at_ns: u64,
    pub cookie: u32,
    pub stage: Stage,
    pub position: usize,
    pub sender: usize,
}

impl Software {
    /// # Errors
    /// If a field of the job is out of range.
    pub fn new(job: SoftwareJob) -> Result<Self, SoftwareError> {
        for (name, found, min, max) in [
            ("ranks", job.ranks, 1, RANKS_MAX),
            ("rank", job.rank, 0, job.ranks.saturating_sub(1)),
            ("payload_beats", job.payload_beats, 1, PAYLOAD_BEATS_MAX),
            ("slots", job.slots, 1, 1024),
        ] {
            if !(min..=max).contains(&found) {
                return Err(SoftwareError::Job { name, found, min, max });
            }
        }
        let SoftwareJob { rank, ranks, job_tag, .. } = job;
        let limits = job.in_flight_bytes_max.iter().copied().chain(repeat(0)).take(ranks);
        Ok(Self {
            views: ViewTable::new(job_tag, rank, ranks),
            heard: Ranks::none(ranks),
            silence: Silence::new(ranks, job.silence_ns_min),
            samples_16us: HashMap::new(),
            now_ns: 0,
            windows: (0..2 * job.slots).map(|_| None).collect(),
            lent: LentMemory::default(),
            outbox: Outbox::default(),
            tails: Tails::new(ranks),
            budget: SendBudget { pacer: Pacer::new(ranks), credits: Credits::new(limits, rank) },
            train: Train::default(),
            unexpected: UnexpectedQueue::new(job.unexpected_bytes_max),
            unannounced: Unannounced::default(),
            events: VecDeque::new(),
            counters: Counters::default(),
            late_bytes: 0,
            is_asked: false,
            buffers: Buffers::default(),
            trace: None,
            job,
        })
    }

    /// Sets the time, which never goes back. Closes no stage.
    pub fn set_now(&mut self, now_ns: u64) {
        self.now_ns = self.now_ns.max(now_ns);
    }

    /// Sets the time and closes due stages, after all datagrams received by then were handled.
    pub fn advance(&mut self, now_ns: u64) {
        self.set_now(now_ns);
        (0..self.windows.len()).for_each(|index| self.close_due(index, true));
    }

    /// Latest time for the next [`advance`](Self::advance) or
    /// [`poll_transmit`](Self::poll_transmit) if no event occurs before.
    pub fn next_timeout(&self) -> Option<u64> {
        let windows = self.windows.iter().flatten();
        let stages = windows.flat_map(|window| Stage::ALL.map(|stage| self.silence.due(window, stage, self.now_ns)));
        let due = stages.flatten().map(|(at_ns, _)| at_ns);
        let feedback_ns = self.budget.credits.next_feedback_ns();
        let tails_ns = self.tails.next_ns();
        due.chain(self.outbox.next_ns(self.now_ns, &self.budget)).chain(feedback_ns).chain(tails_ns).min()
    }

    /// Returns the next datagrams for one peer, without UDP headers, in memory of this data plane.
    pub fn poll_transmit(&mut self, batch: Batch) -> Option<Transmit<'_>> {
        let polled = self.poll_feedback().or_else(|| self.poll_tails()).or_else(|| self.poll_outbox(batch))?;
        self.counters.tx_packets += self.train.len() as u64;
        Some(Transmit::new(polled, &self.train, &self.windows, &self.lent))
    }

    fn poll_feedback(&mut self) -> Option<Polled> {
        while let Some((to, feedback)) = self.budget.credits.poll_feedback(self.now_ns) {
            let Some(view) = self.views.with_tag(feedback.job_tag) else { continue };
            self.train.clear();
            self.train.push_bytes(&UbtHeader { sender: view.rank as u16, ..feedback }, &[]);
            return Some(Polled { to, segment_bytes: UBT_BYTES });
        }
        None
    }

    fn poll_tails(&mut self) -> Option<Polled> {
        let tail = self.tails.poll(self.now_ns, &mut self.budget.credits)?;
        let (to, segment_bytes) = (tail.to, tail.bytes());
        self.budget.pacer.sent(to, segment_bytes, 1, self.now_ns);
        self.train.clear();
        self.train.push_bytes(&tail.header, &tail.payload);
        Some(Polled { to, segment_bytes })
    }

    fn poll_outbox(&mut self, batch: Batch) -> Option<Polled> {
        let Self { outbox, tails, budget, windows, lent, now_ns, train, .. } = self;
        let polled = outbox.poll(*now_ns, budget, (windows, lent), batch, (train, tails));
        if polled.is_none() {
            self.release_sent();
        }
        polled
    }

    /// Keeps up to `bytes_max` bytes of packets of views that are not
    /// [announced](DataPlane::announce) yet; the oldest are dropped first. Default: 0.
    pub fn keep_unannounced(&mut self, bytes_max: usize) {
        self.unannounced.set_bytes_max(bytes_max);
    }

    /// Returns whether packets of the newest view are kept for a collective without windows here.
    pub fn is_awaited(&self) -> bool {
        self.unexpected.has(self.views.newest_tag())
    }

    /// Returns whether the last packet was the first of a collective without windows here, which
    /// should be armed before later packets.
    pub fn is_ahead(&self) -> bool {
        matches!(self.events.back(), Some(PlaneEvent::Unexpected { .. }))
    }

    /// Returns whether packets of windows are left to send.
    pub fn is_sending(&self) -> bool {
        !self.outbox.is_empty()
    }

    /// Pauses sending to a peer until `until_ns`, because its transport is full. 0 resumes it.
    pub fn hold(&mut self, peer: usize, until_ns: u64) {
        self.budget.credits.hold(peer, until_ns);
    }

    /// Changes [`SoftwareJob::in_flight_bytes_max`] for a peer whose transport has changed.
    pub fn set_in_flight_bytes_max(&mut self, peer: usize, bytes: u64) {
        self.budget.credits.set_limit(peer, bytes);
    }

    /// Sets whether all data of a peer arrives eventually. Only the bound then closes a stage
    /// without it. Default: false.
    pub fn set_lossless(&mut self, peer: usize, is_lossless: bool) {
        self.silence.set_lossless(peer, is_lossless);
    }

    /// Smoothed round-trip time to a peer that gives feedback, in ns.
    pub fn rtt_ns(&self, peer: usize) -> Option<u64> {
        self.budget.credits.rtt_ns(peer)
    }

    /// Returns whether ECN marks of received datagrams should be read, because a peer has asked for
    /// feedback.
    pub fn wants_marks(&self) -> bool {
        self.is_asked
    }

    /// Totals of received, sent and dropped packets.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Returns the beats accepted since the last call, in order. The first call starts the
    /// recording.
    pub fn take_trace(&mut self) -> Vec<Accepted> {
        self.trace.replace(Vec::new()).unwrap_or_default()
    }

    /// Configuration of this data plane.
    pub fn job(&self) -> &SoftwareJob {
        &self.job
    }

    /// Closes the due stages of a window; before all received datagrams are handled, only complete
    /// ones.
    fn close_due(&mut self, index: usize, handed_over: bool) {
        let Some(window) = &mut self.windows[index] else { return };
        for stage in Stage::ALL {
            let due = self.silence.due(window, stage, self.now_ns).filter(|(at_ns, _)| *at_ns <= self.now_ns);
            let Some((_, by)) = due.filter(|(_, by)| handed_over || *by == ClosedBy::Complete) else { continue };
            window.close(stage, self.now_ns, by, &mut self.lent);
            if stage == Stage::Contribute {
                self.outbox.push(index, Stage::Broadcast, window, self.job.payload_beats);
            }
        }
        while let Some(report) = window.next_report() {
            let expected = window.plan.expected_bytes(report.stage, window.view.rank);
            let sample_16us = report.timeout_16us(window.rules.bound_ns, expected);
            self.samples_16us.insert((window.plan.bucket, report.stage.index()), sample_16us);
            self.events.push_back(PlaneEvent::Stage(report));
        }
    }

    fn index_of(&self, cookie: u32) -> Option<usize> {
        let is_it = |window: &Window| window.plan.cookie == cookie && !window.taken;
        self.windows.iter().position(|window| window.as_ref().is_some_and(is_it))
    }

    fn release_sent(&mut self) {
        for (index, slot) in self.windows.iter_mut().enumerate() {
            if let Some(window) = slot.take_if(|window| window.taken && !self.outbox.holds(index)) {
                window.recycle(&mut self.buffers);
            }
        }
    }

    fn free_index(&mut self) -> Option<usize> {
        let in_use = self.windows.iter().flatten().filter(|window| !window.taken).count();
        if in_use >= self.job.slots {
            return None;
        }
        self.release_sent();
        if let Some(index) = self.windows.iter().position(Option::is_none) {
            return Some(index);
        }
        let oldest = self.outbox.oldest_of(|index| self.windows[index].as_ref().is_some_and(|window| window.taken))?;
        self.outbox.forget(oldest);
        self.counters.tx_abandoned += 1;
        self.release_sent();
        Some(oldest)
    }
}

impl DataPlane for Software {
    type Error = SoftwareError;

    fn limits(&self) -> PlaneLimits {
        PlaneLimits {
            slots: self.job.slots,
            window_beats_max: WINDOW_BEATS_LIMIT,
            hadamard_log2_max: HADAMARD_LOG2_LIMIT,
            ranks_max: RANKS_MAX,
            payload_beats_max: PAYLOAD_BEATS_MAX,
        }
    }

    fn capabilities(&self) -> Capabilities {
        use Capability::{LateBytes, PartialCollectives, RepairData, RoundTrips, Unexpected, Views};
        [PartialCollectives, Views, RepairData, LateBytes, Unexpected, RoundTrips]
            .into_iter()
            .fold(Capabilities::NONE, Capabilities::with)
    }

    fn lend(&mut self, memory: Memory, values: Values) {
        self.lent.lend(memory, values);
    }

    /// Copies data of the memory that is still unsent.
    fn reclaim(&mut self, memory: Memory) -> Option<Values> {
        let Self { windows, outbox, lent, buffers, .. } = self;
        for (index, window) in windows.iter_mut().enumerate() {
            if let Some(window) = window.as_mut().filter(|window| memory.holds(&window.plan))
                && let Some(beats) = outbox.left(index, memory.role.stage())
            {
                window.keep_unsent(memory.role.stage(), beats, lent, buffers);
            }
        }
        lent.reclaim(memory)
    }

    fn relocate(&mut self, memory: Memory, mut values: Values) -> Result<Values, Values> {
        let Self { windows, lent, .. } = self;
        let armed = || windows.iter().flatten().filter(|window| memory.holds(&window.plan));
        if !armed().all(Window::is_open) {
            return Err(values);
        }
        let Some(before) = lent.reclaim(memory) else { return Err(values) };
        armed().for_each(|window| window.copy_present(memory.first_element, &before, &mut values));
        lent.lend(memory, values);
        Ok(before)
    }

    fn arm(&mut self, plan: &WindowPlan, params: &JobParams) -> Result<(), SoftwareError> {
        let full = WindowError::NoFreeSlot { cookie: plan.cookie, slots: self.job.slots };
        if self.index_of(plan.cookie).is_some() {
            return Err(WindowError::WrongState { cookie: plan.cookie, command: "arm" }.into());
        }
        let (found, ranks) = (plan.shards.ranks, self.views.entered().peers.len());
        if found != ranks {
            return Err(SoftwareError::Job { name: "ranks", found, min: ranks, max: ranks });
        }
        self.lent.window(plan, Role::Result)?;
        let index = self.free_index().ok_or(full)?;
        let own_hints = Stage::ALL.map(|stage| PeerHints {
            timeout_16us: self.samples_16us.get(&(plan.bucket, stage.index())).copied().unwrap_or(0),
            incast: params.advertised_incast as u8,
        });
        let (view, carry_over) = (self.views.entered(), self.job.carry_over);
        let mut window = Window::new(plan, params, view, own_hints, carry_over, &mut self.buffers);
        window.excuse(self.silence.gone());
        self.windows[index] = Some(window);
        for (header, payload) in self.unexpected.arm(plan) {
            self.take(&header, &payload);
        }
        Ok(())
    }

    fn contribute(&mut self, plan: &WindowPlan) -> Result<(), SoftwareError> {
        let cookie = plan.cookie;
        self.lent.window(plan, Role::Gradient)?;
        let Some(index) = self.index_of(cookie) else {
            self.events.push_back(PlaneEvent::Refused { cookie, status: RefusedStatus::Stale });
            return Ok(());
        };
        let Some(window) = &mut self.windows[index] else { return Ok(()) };
        if window.contributed {
            return Err(WindowError::WrongState { cookie, command: "contribute" }.into());
        }
        let summed = window.contribute(self.now_ns, &mut self.lent, &mut self.buffers)?;
        if let Some(trace) = &mut self.trace {
            let (at_ns, sender, stage) = (self.now_ns, window.view.rank, Stage::Contribute);
            trace.extend(summed.map(|position| Accepted { at_ns, cookie, stage, position, sender }));
        }
        self.outbox.push(index, Stage::Contribute, window, self.job.payload_beats);
        self.close_due(index, false);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), SoftwareError> {
        Ok(())
    }

    fn poll(&mut self) -> Result<Option<PlaneEvent>, SoftwareError> {
        Ok(self.events.pop_front())
    }

    fn take_result(&mut self, plan: &WindowPlan, look: &mut dyn FnMut(WindowOutput<'_>)) -> Result<(), SoftwareError> {
        let cookie = plan.cookie;
        let wrong = WindowError::WrongState { cookie, command: "take_result" };
        let index = self.index_of(cookie).ok_or(wrong)?;
        let done = |window: &&mut Window| window.gates.iter().all(|gate| !gate.is_open());
        let window = self.windows[index].as_mut().filter(done).ok_or(wrong)?;
        Ok(window.finish(&mut self.lent, look)?)
    }

    fn late_bytes(&self) -> Option<u64> {
        Some(self.late_bytes)
    }

    fn set_rate(&mut self, peer: usize, rate_bytes_per_us: u32) -> Result<(), SoftwareError> {
        self.budget.pacer.set_rate(peer, rate_bytes_per_us);
        self.budget.credits.ask_always();
        Ok(())
    }

    fn cancel(&mut self, plan: &WindowPlan) -> Result<(), SoftwareError> {
        let wrong = WindowError::WrongState { cookie: plan.cookie, command: "cancel" };
        let index = self.index_of(plan.cookie).ok_or(wrong)?;
        if let Some(window) = self.windows[index].take_if(|window| !window.contributed) {
            window.recycle(&mut self.buffers);
            self.outbox.forget(index);
            self.events.retain(|event| !matches!(event, PlaneEvent::Stage(report) if report.cookie == plan.cookie));
            self.unexpected.disarm(plan);
            return Ok(());
        }
        Err(wrong.into())
    }

    fn announce(&mut self, view: &View) {
        if view.joined.is_some_and(|(rank, _)| usize::from(rank) == self.job.rank) {
            self.unexpected.join(view.first_op);
        }
        self.views.announce(view);
        for (from, datagram) in self.unannounced.take(view.job_tag(self.job.job_tag)) {
            self.take_datagram(Some(from), &datagram, false);
        }
    }

    fn enter(&mut self, view: &View) -> Result<bool, SoftwareError> {
        let outside = WindowError::OutsideView { view: view.number, rank: self.job.rank };
        Ok(self.views.enter(view).then_some(true).ok_or(outside)?)
    }

    fn take_heard(&mut self) -> Ranks {
        let none = Ranks::none(self.job.ranks);
        std::mem::replace(&mut self.heard, none)
    }

    fn set_gone(&mut self, rank: usize, is_gone: bool) {
        self.silence.set_gone(rank, is_gone);
        self.windows.iter_mut().flatten().for_each(|window| window.excuse(self.silence.gone()));
    }
}
