//! What the ranks of a running job agree on: who takes part, and when the bound t_B is measured again.
//!
//! Both are changes of the view ([`Membership`]): all ranks begin a view at the same collective, which is where those that
//! measure do so, as nothing else runs there. t_B is measured when the ranks have changed, or when stages ran into it
//! ([`BoundWatch`]) although every rank was heard; a rank that is silent is another matter.
//! Limits: where loss makes stages run into any bound, measuring is of no use; so after a measurement that changed little, twice as
//! many collectives pass before the next.
//! Source: OptiReduce 3.2.1 for t_B; agreement and limits are ours.

use super::MembershipParams;
use super::bound::BoundWatch;
use super::membership::{BadMessage, Membership, MembershipMessage, Output, View};
use super::params::ParamError;
use super::report::Report;
use super::types::Ranks;

/// Fewest collectives before stages may ask for a measurement, and between two: the 20 reliable collectives that it takes, for which
/// all ranks stop, are then a few percent of the time at most.
const MEASURE_OPS_MIN: u32 = 1000;
/// A bound that is larger or smaller by less than this factor has changed little.
const MEASURE_FACTOR: f64 = 1.25;

/// The agreements of one rank.
///
/// Call order: [`view_of`](Self::view_of) before each collective is prepared, in order; [`observe`](Self::observe) when it
/// is finished; [`handle_message`](Self::handle_message); [`handle_timeout`](Self::handle_timeout) at
/// [`next_timeout`](Self::next_timeout); after each of them [`poll`](Self::poll) until `None`.
#[derive(Clone, Debug)]
pub struct Control {
    membership: Membership,
    remeasure: Option<Remeasure>,
}

#[derive(Clone, Debug)]
struct Remeasure {
    watch: BoundWatch,
    /// View that the bound was measured for, or tried to.
    view: u32,
    /// View in which another was asked for.
    asked: Option<u32>,
    /// The stages may ask again from this collective on, and how many there are in between.
    from_op: u32,
    ops: u32,
}

impl Control {
    /// The agreements of a job that begins. `remeasure`: whether t_B is measured again.
    ///
    /// # Errors
    /// [`ParamError`] names the first number out of range.
    pub fn new(rank: usize, params: MembershipParams, remeasure: bool) -> Result<Self, ParamError> {
        let first = Remeasure {
            watch: BoundWatch::default(),
            view: 0,
            asked: None,
            from_op: MEASURE_OPS_MIN,
            ops: MEASURE_OPS_MIN,
        };
        Ok(Self { membership: Membership::new(rank, params)?, remeasure: remeasure.then_some(first) })
    }

    /// As [`Membership::view_of`].
    pub fn view_of(&mut self, now_ns: u64, op: u32) -> Option<View> {
        self.membership.view_of(now_ns, op)
    }

    /// The newest view decided; `None` while this rank takes no part.
    pub fn newest(&self) -> Option<&View> {
        self.membership.newest()
    }

    /// Takes how a collective went at this rank, and who was heard in it (bit r: rank r).
    pub fn observe(&mut self, now_ns: u64, report: &Report, heard: &Ranks, rank: usize) {
        self.membership.observe(now_ns, report.op, heard);
        let (Some(one), Some(newest)) = (&mut self.remeasure, self.membership.newest()) else { return };
        if report.live.iter().all(|peer| *peer == rank || heard.contains(*peer)) {
            report.closed_by.into_iter().for_each(|closed_by| one.watch.observe(closed_by));
        }
        // If there is a view to measure for already, that will do.
        let may_ask = newest.number <= one.view && one.asked != Some(newest.number);
        if may_ask && one.watch.must_measure() && report.op >= one.from_op {
            one.asked = Some(newest.number);
            self.membership.renew(now_ns);
        }
    }

    /// Whether there is a view for which t_B was not measured yet.
    pub fn is_measuring(&self) -> bool {
        self.newest().is_some_and(|newest| self.must_measure(newest))
    }

    /// Whether t_B is to be measured before the first collective of this view.
    pub fn must_measure(&self, view: &View) -> bool {
        self.remeasure.as_ref().is_some_and(|one| view.number > one.view)
    }

    /// t_B was measured for this view, before collective `op`: it was `old_ns`, and is `new_ns` now. Without success both
    /// are the same.
    pub fn measured(&mut self, view: &View, op: u32, old_ns: u64, new_ns: u64) {
        let Some(one) = self.remeasure.as_mut().filter(|one| view.number > one.view) else { return };
        let factor = new_ns.max(old_ns) as f64 / new_ns.min(old_ns).max(1) as f64;
        one.ops = if factor < MEASURE_FACTOR { one.ops.saturating_mul(2) } else { MEASURE_OPS_MIN };
        one.from_op = op.saturating_add(one.ops);
        one.view = view.number;
        one.watch.measured();
    }

    /// As [`Membership::handle_message`].
    ///
    /// # Errors
    /// [`BadMessage`]: nothing of it was used.
    pub fn handle_message(&mut self, now_ns: u64, from: usize, message: MembershipMessage) -> Result<(), BadMessage> {
        self.membership.handle_message(now_ns, from, message)
    }

    /// As [`Membership::handle_gone`].
    pub fn handle_gone(&mut self, rank: usize) {
        self.membership.handle_gone(rank);
    }

    /// When [`handle_timeout`](Self::handle_timeout) is to be called.
    pub fn next_timeout(&self) -> Option<u64> {
        self.membership.next_timeout()
    }

    /// To be called at [`next_timeout`](Self::next_timeout); earlier it does nothing.
    pub fn handle_timeout(&mut self, now_ns: u64) {
        self.membership.handle_timeout(now_ns);
    }

    /// Asks to take part again; see [`Membership::join`].
    pub fn join(&mut self, now_ns: u64, incarnation: u64) {
        self.membership.join(now_ns, incarnation);
    }

    /// What is to be done next, in order.
    pub fn poll(&mut self) -> Option<Output> {
        self.membership.poll()
    }
}
