//! Replacement of a failed card until the job's collectives run elsewhere.
//!
//! Pending work must still end, here and on the peers. Every stage of a contributed window closes
//! immediately with this rank's own part only, as over a network that has lost everything else.
//! Reports, repairs and agreements apply as usual.
//!
//! Limits: a window with Hadamard encoding yields zeros. A mean that the card sent before it failed
//! is unknown here, so this rank's own shard holds its own gradient.

use std::collections::VecDeque;

use crate::smartnic::{Armed, SmartNicError};
use optireduce_contract::limits::{BEAT_BYTES, LANES};
use optireduce_core::protocol::{ClosedBy, Ranks, Stage, StageReport, View, WindowPlan};
use optireduce_core::{LentMemory, PlaneEvent, Role, WindowError, WindowOutput};

pub(super) struct LostCard {
    rank: usize,
    /// Index in the view; `ranks`: size of the view.
    place: usize,
    ranks: usize,
    pub lent: LentMemory,
    windows: Vec<Armed>,
    events: VecDeque<PlaneEvent>,
}

impl LostCard {
    /// First argument: see [`SmartNic::places`](crate::smartnic::SmartNic::places).
    pub fn new((rank, place, ranks): (usize, usize, usize), windows: Vec<Armed>, lent: LentMemory) -> Self {
        let mut lost = Self { rank, place, ranks, lent, windows, events: VecDeque::new() };
        for at in 0..lost.windows.len() {
            if lost.windows[at].contributed {
                lost.close(at);
            }
        }
        lost
    }

    pub fn arm(&mut self, armed: Armed) {
        self.windows.push(armed);
    }

    pub fn contribute(&mut self, plan: &WindowPlan) -> Result<(), SmartNicError> {
        let at = self.place_of(plan, "contribute")?;
        if std::mem::replace(&mut self.windows[at].contributed, true) {
            return Err(WindowError::WrongState { cookie: plan.cookie, command: "contribute" }.into());
        }
        self.close(at);
        Ok(())
    }

    pub fn poll(&mut self) -> Option<PlaneEvent> {
        self.events.pop_front()
    }

    pub fn take_result(
        &mut self,
        plan: &WindowPlan,
        look: &mut dyn FnMut(WindowOutput<'_>),
    ) -> Result<(), SmartNicError> {
        let at = self.place_of(plan, "take_result")?;
        if self.windows[at].next_stage.is_some() {
            return Err(WindowError::WrongState { cookie: plan.cookie, command: "take_result" }.into());
        }
        self.windows.swap_remove(at);
        let own = if plan.hadamard { 0..0 } else { plan.shards.range_of(self.place) };
        let own = own.start * LANES..(own.end * LANES).min(plan.elements);
        let gradient = self.lent.window(plan, Role::Gradient)?.get(own.clone()).unwrap_or_default().to_vec();
        let out = self.lent.window_mut(plan, Role::Result)?;
        out.fill(0.0);
        if let Some(own) = out.get_mut(own).filter(|own| own.len() == gradient.len()) {
            own.copy_from_slice(&gradient);
        }
        look(WindowOutput { elements: out, not_finite: None, repair: None });
        Ok(())
    }

    /// Like a card, enters only without windows.
    pub fn enter(&mut self, view: &View) -> Result<bool, SmartNicError> {
        if !self.windows.is_empty() {
            return Ok(false);
        }
        let outside = WindowError::OutsideView { view: view.number, rank: self.rank };
        self.place = view.live().position(|rank| rank == self.rank).ok_or(outside)?;
        self.ranks = view.live().count();
        Ok(true)
    }

    fn place_of(&self, plan: &WindowPlan, command: &'static str) -> Result<usize, WindowError> {
        let found = self.windows.iter().position(|armed| armed.plan == *plan);
        found.ok_or(WindowError::WrongState { cookie: plan.cookie, command })
    }

    fn close(&mut self, at: usize) {
        let Armed { plan, bound_ns, next_stage, .. } = &mut self.windows[at];
        let open = next_stage.take();
        for stage in Stage::ALL.into_iter().filter(|stage| open.is_some_and(|open| stage.index() >= open.index())) {
            let own = |rank| if rank == self.place { plan.expected_beats(stage, rank, rank) * BEAT_BYTES } else { 0 };
            self.events.push_back(PlaneEvent::Stage(StageReport {
                cookie: plan.cookie,
                stage,
                closed_by: ClosedBy::Deadline,
                received_bytes_per_rank: (0..self.ranks).map(|rank| own(rank) as u64).collect(),
                elapsed_ns: *bound_ns,
                heard: Ranks::none(self.ranks),
                last_ns_per_rank: Vec::new(),
                hints: Vec::new(),
            }));
        }
    }
}
