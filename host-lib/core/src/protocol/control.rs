//! Agreement in a running job: membership, the bound t_B, the Hadamard transform, and fallback.
//!
//! All of these are part of the view ([`Membership`]). A rank requests the transform
//! ([`HadamardSwitch`]) and the bound ([`BoundEstimator`]) that its collectives call for. If t_B is
//! measured, it requests twice the bound together with the transform: encoded collectives take
//! longer, and with the old bound all of them could be late until the job halts.

use super::MembershipParams;
use super::bound::BoundEstimator;
use super::hadamard_mode::{HadamardMode, HadamardSwitch};
use super::membership::{BadMessage, ENCODED_BOUNDS, Membership, MembershipMessage, Output, Request, Settings, View};
use super::params::ParamError;
use super::report::Report;
use super::types::Ranks;

/// Agreement state of one rank. Call order as for [`Membership`].
#[derive(Clone, Debug)]
pub struct Control {
    membership: Membership,
    hadamard: HadamardSwitch,
    bound: Option<BoundEstimator>,
}

impl Control {
    /// Creates the state for packets of `packet_bytes`. The first bound is `bound_ns`, or the
    /// longest bound if t_B is measured.
    ///
    /// # Errors
    /// [`ParamError`] names the first parameter out of range.
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

    /// Returns whether silent ranks are dropped.
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

    /// As [`Membership::set_behind`].
    pub fn set_behind(&mut self, now_ns: u64, sees_others_ahead: bool) {
        self.membership.set_behind(now_ns, sees_others_ahead);
    }

    /// As [`Membership::waits_for_behind`].
    pub fn waits_for_behind(&mut self, now_ns: u64) -> bool {
        self.membership.waits_for_behind(now_ns)
    }

    /// Newest agreed view; `None` while this rank takes no part.
    pub fn newest(&self) -> Option<&View> {
        self.membership.newest()
    }

    /// Adds a finished collective. `silent`: ranks that had data to send, but were not heard.
    /// `came_late`: whether late packets arrived, if the data plane can tell.
    pub fn observe(&mut self, now_ns: u64, report: &Report, heard: &Ranks, silent: &Ranks, came_late: Option<bool>) {
        self.membership.observe(now_ns, report.op, heard, silent);
        let Some(newest) = self.membership.newest().cloned() else { return };
        let (expected_bytes, lost_bytes) = scattered_loss(report);
        let hadamard = self.hadamard.observe(newest.settings.hadamard, expected_bytes, lost_bytes);
        let bound_ns = self.bound.as_mut().and_then(|bound| {
            bound.observe(report, silent, came_late);
            let present_ns = newest.settings.bound_ns;
            let wanted_ns = bound.wanted(present_ns);
            let encoded_ns = present_ns.saturating_mul(ENCODED_BOUNDS).min(bound.params().max_ns);
            if hadamard == Some(true) { wanted_ns.max(Some(encoded_ns)) } else { wanted_ns }
        });
        self.membership.request(now_ns, Request { hadamard, bound_ns, fallback: false });
    }

    /// As [`Membership::fall_back`].
    pub fn fall_back(&mut self, now_ns: u64) {
        self.membership.fall_back(now_ns);
    }

    /// Returns whether `bound_ns` is still being measured.
    pub fn is_measuring(&self, bound_ns: u64) -> bool {
        self.bound.as_ref().is_some_and(|bound| bound.params().is_measuring(bound_ns))
    }

    /// As [`Membership::handle_message`].
    ///
    /// # Errors
    /// As for [`Membership::handle_message`].
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

    /// As [`Membership::next_timeout`].
    pub fn next_timeout(&self) -> Option<u64> {
        self.membership.next_timeout()
    }

    /// As [`Membership::handle_timeout`].
    pub fn handle_timeout(&mut self, now_ns: u64) {
        self.membership.handle_timeout(now_ns);
    }

    /// As [`Membership::join`].
    pub fn join(&mut self, now_ns: u64, incarnation: u64) {
        self.membership.join(now_ns, incarnation);
    }

    /// As [`Membership::poll`].
    pub fn poll(&mut self) -> Option<Output> {
        self.membership.poll()
    }
}

/// Bytes expected from peers, and bytes lost, for the decision on the transform. Peers with less
/// than half received in a stage are late or gone: a change would only delay their return or
/// removal.
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
