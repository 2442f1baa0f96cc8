//! What the ranks of a running job agree on: who takes part, the bound t_B, and when all-reduces are Hadamard-encoded.
//!
//! All of it is in the view ([`Membership`]), which all ranks begin at the same collective. A rank that sees a loss above
//! 2 % requests a view with the transform on. t_B is measured before the first collective of a view that says so, where
//! nothing else runs: when the members have changed, or when stages ran into it ([`BoundWatch`]) although every rank was
//! heard (a rank that is silent is another matter). What was measured is requested for the view after that.
//! Limits: where loss makes stages run into any bound, measuring is of no use; so after a measurement that changed little, twice as
//! many collectives pass before the next.
//! Source: OptiReduce 3.2.1 for t_B and the 2 %; agreement and limits are ours.

use super::MembershipParams;
use super::bound::BoundWatch;
use super::hadamard_mode::HadamardMode;
use super::membership::{BadMessage, Membership, MembershipMessage, Output, Request, Settings, View};
use super::params::ParamError;
use super::report::{Report, fraction};
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
    hadamard: HadamardMode,
    remeasure: Option<Remeasure>,
}

#[derive(Clone, Debug)]
struct Remeasure {
    watch: BoundWatch,
    /// View that the bound was measured for, or tried to.
    view: u32,
    /// The stages may ask again from this collective on, and how many there are in between.
    from_op: u32,
    ops: u32,
}

impl Remeasure {
    fn is_due(&self, view: &View) -> bool {
        view.measure && view.number > self.view
    }
}

impl Control {
    /// The agreements of a job that begins with the bound `bound_ns`. t_B is measured again if `params` say so.
    ///
    /// # Errors
    /// [`ParamError`] names the first number out of range.
    pub fn new(
        rank: usize,
        params: MembershipParams,
        hadamard: HadamardMode,
        bound_ns: u64,
    ) -> Result<Self, ParamError> {
        let first = Remeasure { watch: BoundWatch::default(), view: 0, from_op: MEASURE_OPS_MIN, ops: MEASURE_OPS_MIN };
        let settings = Settings { hadamard: false, bound_ns };
        let remeasure = params.remeasure.then_some(first);
        Ok(Self { membership: Membership::new(rank, params, settings)?, hadamard, remeasure })
    }

    /// Whether ranks that are silent are dropped.
    pub fn drops_silent(&self) -> bool {
        self.membership.drops_silent()
    }

    /// As [`Membership::view_of`].
    pub fn view_of(&mut self, now_ns: u64, op: u32) -> Option<View> {
        self.membership.view_of(now_ns, op)
    }

    /// The newest view decided; `None` while this rank takes no part.
    pub fn newest(&self) -> Option<&View> {
        self.membership.newest()
    }

    /// Takes how a collective went at this rank, who was heard in it, and who had something to send but was not.
    pub fn observe(&mut self, now_ns: u64, report: &Report, heard: &Ranks, silent: &Ranks) {
        self.membership.observe(now_ns, report.op, heard, silent);
        let Some(newest) = self.membership.newest().cloned() else { return };
        let loss = scattered_loss(report);
        let mut request =
            Request { hadamard: self.hadamard.request(newest.settings.hadamard, loss), ..Default::default() };
        if let Some(one) = &mut self.remeasure {
            if silent.is_empty() {
                report.closed_by.into_iter().for_each(|closed_by| one.watch.observe(closed_by));
            }
            // If there is a view to measure for already, that will do.
            let is_due = self.membership.views().all(|view| !one.is_due(view));
            request.measure = is_due && one.watch.must_measure() && report.op >= one.from_op;
        }
        self.membership.request(now_ns, request);
    }

    /// Whether there is a view for which t_B is to be measured yet.
    pub fn is_measuring(&self) -> bool {
        self.membership.views().any(|view| self.must_measure(view))
    }

    /// Whether t_B is to be measured before the first collective of this view.
    pub fn must_measure(&self, view: &View) -> bool {
        self.remeasure.as_ref().is_some_and(|one| one.is_due(view))
    }

    /// t_B was measured for this view, before collective `op`; `None`: without success, it stays.
    pub fn measured(&mut self, now_ns: u64, view: &View, op: u32, bound_ns: Option<u64>) {
        let Some(one) = self.remeasure.as_mut().filter(|one| one.is_due(view)) else { return };
        let old_ns = view.settings.bound_ns;
        let bound_ns = bound_ns.map_or(old_ns, |bound_ns| bound_ns.clamp(1, u32::MAX.into()));
        let factor = bound_ns.max(old_ns) as f64 / bound_ns.min(old_ns) as f64;
        one.ops = if factor < MEASURE_FACTOR { one.ops.saturating_mul(2) } else { MEASURE_OPS_MIN };
        one.from_op = op.saturating_add(one.ops);
        one.view = view.number;
        one.watch.measured();
        self.membership.request(now_ns, Request { bound_ns: Some(bound_ns), ..Default::default() });
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

/// Lost fraction of what was to come from peers of which most came, both stages together, 0 to 1: what the transform can
/// spread. A peer of which less than half came in a stage has stopped, or is late: it is dropped, or comes back, and a
/// change of settings that it does not answer would only delay that.
fn scattered_loss(report: &Report) -> f64 {
    let of = |bytes: &[u64], peer: usize| bytes.get(peer).copied().unwrap_or(0);
    let (mut expected, mut received) = (0, 0);
    for peer in &report.live {
        let bytes = report
            .stages
            .each_ref()
            .map(|stage| (of(&stage.expected_bytes_per_rank, *peer), of(&stage.received_bytes_per_rank, *peer)));
        if bytes.iter().all(|(expected, received)| 2 * received >= *expected) {
            expected += bytes.iter().map(|(expected, _)| expected).sum::<u64>();
            received += bytes.iter().map(|(_, received)| received).sum::<u64>();
        }
    }
    1.0 - fraction(received, expected)
}
