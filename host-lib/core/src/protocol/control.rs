//! What the ranks of a running job agree on: who takes part, the bound t_B, when all-reduces are Hadamard-encoded, and when they fall back.
//!
//! All of it is in the view ([`Membership`]), which all ranks begin at the same collective. A rank that sees a loss above
//! 2 % requests a view with the transform on; when all have seen next to none for a while ([`HadamardSwitch`]), it is off again. If t_B is to be measured, each rank says what its stage times call for
//! ([`BoundEstimator`]), over the collectives that run anyway, and nothing stops for it. A view that turns the transform on has twice the bound: with one that fits stages
//! without it, all of an encoded collective may be late, and the next ones, too, until the job halts.
//! Source: OptiReduce 3.2.1 for t_B and the 2 %; agreement and limits are ours.

use super::MembershipParams;
use super::bound::BoundEstimator;
use super::hadamard_mode::{HadamardMode, HadamardSwitch};
use super::membership::{BadMessage, ENCODED_BOUNDS, Membership, MembershipMessage, Output, Request, Settings, View};
use super::params::ParamError;
use super::report::Report;
use super::types::Ranks;

/// The agreements of one rank.
///
/// Call order: [`view_of`](Self::view_of) before each collective is prepared, in order; [`observe`](Self::observe) when it
/// is finished; [`handle_message`](Self::handle_message); [`handle_timeout`](Self::handle_timeout) at
/// [`next_timeout`](Self::next_timeout); after each of them [`poll`](Self::poll) until `None`.
#[derive(Clone, Debug)]
pub struct Control {
    membership: Membership,
    hadamard: HadamardSwitch,
    bound: Option<BoundEstimator>,
}

impl Control {
    /// The agreements of a job that begins with the bound `bound_ns`, or with the longest if it is to be measured, and whose packets carry
    /// `packet_bytes`.
    ///
    /// # Errors
    /// [`ParamError`] names the first number out of range.
    pub fn new(
        rank: usize,
        params: MembershipParams,
        hadamard: HadamardMode,
        bound_ns: u64,
        packet_bytes: usize,
    ) -> Result<Self, ParamError> {
        let bound_ns = params.bound.map_or(bound_ns, |bound| bound.max_ns);
        let settings = Settings::first(bound_ns);
        let membership = Membership::new(rank, params, settings)?;
        let hadamard = HadamardSwitch::new(hadamard, packet_bytes);
        Ok(Self { membership, hadamard, bound: params.bound.map(BoundEstimator::new) })
    }

    /// As [`Membership::leave`].
    pub fn leave(&mut self) {
        self.membership.leave();
    }

    /// Whether ranks that are silent are dropped.
    pub fn drops_silent(&self) -> bool {
        self.membership.drops_silent()
    }

    /// As [`Membership::view_of`].
    pub fn view_of(&mut self, now_ns: u64, op: u32) -> Option<View> {
        self.membership.view_of(now_ns, op)
    }

    /// As [`Membership::wait_for_others`].
    pub fn wait_for_others(&mut self, now_ns: u64, waits: bool) {
        self.membership.wait_for_others(now_ns, waits);
    }

    /// The newest view decided; `None` while this rank takes no part.
    pub fn newest(&self) -> Option<&View> {
        self.membership.newest()
    }

    /// Takes how a collective went at this rank, who was heard in it, and who had something to send but was not. `came_late`:
    /// whether packets came after their stage had closed, if the data plane can tell.
    pub fn observe(&mut self, now_ns: u64, report: &Report, heard: &Ranks, silent: &Ranks, came_late: Option<bool>) {
        self.membership.observe(now_ns, report.op, heard, silent);
        let Some(newest) = self.membership.newest().cloned() else { return };
        let (expected_bytes, lost_bytes) = scattered_loss(report);
        let hadamard = self.hadamard.observe(newest.settings.hadamard, expected_bytes, lost_bytes);
        let bound_ns = self.bound.as_mut().and_then(|bound| {
            bound.observe(report, silent, came_late);
            let present_ns = newest.settings.bound_ns;
            let wanted_ns = bound.wanted(present_ns);
            // Stages that are encoded take longer than those that were measured.
            let encoded_ns = present_ns.saturating_mul(ENCODED_BOUNDS).min(bound.params().max_ns);
            if hadamard == Some(true) { wanted_ns.max(Some(encoded_ns)) } else { wanted_ns }
        });
        self.membership.request(now_ns, Request { hadamard, bound_ns, fallback: false });
    }

    /// As [`Membership::fall_back`].
    pub fn fall_back(&mut self, now_ns: u64) {
        self.membership.fall_back(now_ns);
    }

    /// Whether a job with this bound is still measuring it.
    pub fn is_measuring(&self, bound_ns: u64) -> bool {
        self.bound.as_ref().is_some_and(|bound| bound.params().is_measuring(bound_ns))
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

    /// As [`Membership::handle_back`].
    pub fn handle_back(&mut self, rank: usize) {
        self.membership.handle_back(rank);
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

/// Bytes that were to come from peers of which most came, both stages together, and those of them that were lost: what the transform can
/// spread. A peer of which less than half came in a stage has stopped, or is late: it is dropped, or comes back, and a
/// change of settings that it does not answer would only delay that.
fn scattered_loss(report: &Report) -> (u64, u64) {
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
    (expected, expected.saturating_sub(received))
}
