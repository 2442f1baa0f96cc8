//! Agreements on views, repairs and skipped updates. Their messages use a reliable channel.

use std::collections::BTreeMap;
use std::ops::Range;

use optireduce_contract::limits::BEAT_BYTES;

use super::agreement::Agreement;
use super::{Collectives, CollectivesError, MembershipEvent, MessageError};
use crate::data_plane::{Capability, DataPlane};
use crate::protocol::repair::RepairReport;
use crate::protocol::{
    Arming, CallCheck, Control, HadamardMode, JobParams, MembershipParams, Ranks, StreamId, View, VoteParams, Votes,
};
use crate::repairs::Repairs;

/// Agreements. A method that enables one must be called on all ranks with the same arguments.
impl<P: DataPlane> Collectives<P> {
    /// Enables agreement on views before the first collective. A view holds:
    ///
    /// - The members: silent ranks are dropped and may rejoin.
    /// - The bound t_B, if it is measured: see [`BoundEstimator`](crate::protocol::BoundEstimator).
    /// - Whether all-reduces with [`HadamardMode::Auto`] are encoded.
    ///
    /// # Errors
    /// If ranks may be dropped but the data plane lacks [`Capability::Views`], or if a parameter is
    /// out of range.
    pub fn agree_on_views(
        &mut self,
        params: MembershipParams,
        hadamard: HadamardMode,
    ) -> Result<(), CollectivesError<P::Error>> {
        if params.silent_ops.is_some() {
            self.plane.capabilities().require(Capability::Views)?;
        }
        let JobParams { rank, bound_ns, payload_beats, .. } = self.params;
        self.agreement.control = Some(Control::new(rank, params, hadamard, bound_ns, payload_beats * BEAT_BYTES)?);
        // The estimator may start with another bound than the parameters.
        self.params.bound_ns = self.agreement.newest().settings.bound_ns;
        self.tuning.set_bound_ns(self.params.bound_ns);
        Ok(())
    }

    /// Enables repairs: lost broadcast data is fetched from its owners after the deadline. This
    /// keeps replicas equal. [`Call::repair`](super::Call::repair) selects the output that receives
    /// the difference.
    ///
    /// A rank with a card serves only windows that were not encoded, and requests whole shards.
    pub fn repair(&mut self) {
        self.agreement.repairs = Some(Repairs::new(self.next_op()));
    }

    /// Totals of missing and repaired data. `None` without [`repair`](Self::repair).
    pub fn repaired(&self) -> Option<RepairReport> {
        self.agreement.repairs.as_ref().map(Repairs::report)
    }

    /// Like [`repaired`](Self::repaired), for one bucket.
    pub fn repaired_of(&self, bucket: u16) -> Option<RepairReport> {
        self.agreement.repairs.as_ref().map(|repairs| repairs.report_of(bucket))
    }

    /// Enables comparison of calls when a rank suspects that another calls something else. A
    /// difference is [`CollectivesError::Mismatch`] on all ranks. `wait_ns`: time to wait for the
    /// remaining ranks' calls after it.
    pub fn compare_calls(&mut self, wait_ns: u64) {
        self.agreement.calls = Some(CallCheck::new(self.params.rank, wait_ns));
    }

    /// Makes ranks with cards report which collectives they have armed, because cards keep no
    /// packets of windows that are not armed.
    pub fn wait_for_cards(&mut self, cards: Ranks) {
        self.agreement.arming = Some(Arming::new(self.params.rank, self.params.ranks, cards));
    }

    /// With [`wait_for_cards`](Self::wait_for_cards): a live rank whose card has not armed the
    /// prepared collective `op`, and would lose its data. The caller must limit the wait.
    pub fn not_armed(&self, op: u32) -> Option<usize> {
        self.agreement.not_armed(op, self.pipeline.view_of(op)?)
    }

    /// Sets the maximum wait of a one-off collective for its repairs and for confirmation of its
    /// call. Default: 5 s.
    pub fn set_one_off_wait(&mut self, wait_ns: u64) {
        self.agreement.one_off_wait_ns = wait_ns;
    }

    /// Returns whether nothing is pending: repairs and corrections of declared buckets, comparison
    /// of calls. Wait for this before a model is saved or sent to a joining rank.
    pub fn is_settled(&self) -> bool {
        let Agreement { repairs, calls, .. } = &self.agreement;
        repairs.as_ref().is_none_or(Repairs::is_settled) && calls.as_ref().is_none_or(CallCheck::is_settled)
    }

    /// Bytes of results of declared buckets that no output has, by bucket on the wire: outstanding,
    /// or repaired since the last output.
    pub fn unsettled_bytes(&self) -> BTreeMap<u16, u64> {
        self.agreement.repairs.as_ref().map(Repairs::unsettled_bytes).unwrap_or_default()
    }

    /// Like [`is_settled`](Self::is_settled) for one bucket, except that corrections may be
    /// pending. [`take_correction`](Self::take_correction) is complete only then.
    pub fn is_repaired(&self, stream: StreamId) -> bool {
        let Agreement { repairs, calls, .. } = &self.agreement;
        repairs.as_ref().is_none_or(|repairs| repairs.is_repaired(stream))
            && calls.as_ref().is_none_or(CallCheck::is_settled)
    }

    /// Elements of past outputs of a declared bucket with outstanding repairs, in order.
    pub fn outstanding_elements(&self, stream: StreamId) -> Vec<Range<usize>> {
        self.agreement.repairs.as_ref().map(|repairs| repairs.outstanding_elements(stream)).unwrap_or_default()
    }

    /// Takes the known corrections to past outputs of a declared bucket, for the caller to add
    /// after the bucket's last call.
    pub fn take_correction(&mut self, stream: StreamId) -> Option<Vec<f32>> {
        self.agreement.repairs.as_mut()?.take_correction(stream)
    }

    /// Drops the rounding errors of corrections already applied to a declared bucket. Its next
    /// outputs then have the bits of a rank without losses.
    pub fn forget_rounding(&mut self, stream: StreamId) {
        if let Some(repairs) = &mut self.agreement.repairs {
            repairs.forget_rounding(stream);
        }
    }

    /// Enables votes: if one rank would skip an update, all skip it. Finished collectives wait for
    /// the decision. A rank that does not receive it in time judges alone
    /// ([`Report::agreed`](crate::protocol::Report::agreed)).
    pub fn agree_on_updates(&mut self, params: VoteParams) {
        self.agreement.votes = Some(Votes::new(self.params.rank, self.params.ranks, params));
    }

    /// Like [`agree_on_updates`](Self::agree_on_updates), with waits from [`VoteParams::of_bound`].
    pub fn agree_on_updates_within(&mut self, slack_ns: u64) {
        self.agreement.vote_slack_ns = Some(slack_ns);
        self.agree_on_updates(VoteParams::of_bound(self.params.bound_ns, slack_ns));
    }

    /// Asks all ranks to move later collectives to other data planes, because this rank's has
    /// failed. Requires [`agree_on_views`](Self::agree_on_views).
    ///
    /// The view with [`Settings::fallback`](crate::protocol::membership::Settings) begins with the
    /// first collective that must not run here.
    pub fn fall_back(&mut self, now_ns: u64) {
        if let Some(control) = &mut self.agreement.control {
            control.fall_back(now_ns);
        }
        self.take_outputs();
    }

    /// Returns whether the next collective is already prepared, because peers seem to have started
    /// it.
    pub fn is_preposted(&self) -> bool {
        self.pipeline.is_preposted()
    }

    /// Number of the caller's next collective, preposted or not.
    pub fn next_call(&self) -> u32 {
        self.pipeline.next_op_of_caller()
    }

    /// Returns whether the view of the next collective is decided. Without a quorum this may never
    /// become true, so the caller must set a time limit.
    pub fn may_prepare(&mut self, now_ns: u64) -> bool {
        let waits = self.waits_for_behind(now_ns);
        let may = self.misfit.is_none() && !waits && (self.pipeline.is_preposted() || self.next_view(now_ns).is_some());
        self.take_outputs();
        may
    }

    /// Returns the newest view, or the view of all ranks while this rank takes no part.
    pub fn newest(&self) -> &View {
        self.agreement.newest()
    }

    /// Returns whether this rank takes part.
    pub fn is_member(&self) -> bool {
        self.agreement.is_member()
    }

    /// Returns whether this bound is still being measured.
    pub fn is_measuring(&self, bound_ns: u64) -> bool {
        self.agreement.is_measuring(bound_ns)
    }

    /// Advances agreements. [`poll`](Self::poll) calls it.
    pub fn handle_timeout(&mut self, now_ns: u64) {
        self.agreement.handle_timeout(now_ns);
        self.take_outputs();
    }

    /// Handles a message of rank `from`.
    ///
    /// # Errors
    /// [`MessageError`]; the message is then ignored.
    pub fn handle_message(&mut self, now_ns: u64, from: usize, bytes: &[u8]) -> Result<(), MessageError> {
        self.agreement.handle_message(now_ns, from, bytes)?;
        self.take_outputs();
        Ok(())
    }

    /// Reports that the reliable channel to a rank closed. Must precede messages of a new channel.
    pub fn handle_gone(&mut self, rank: usize) {
        self.agreement.handle_gone(rank);
        self.plane.set_gone(rank, true);
    }

    /// Reports a new reliable channel to a rank that was [gone](Self::handle_gone). Nothing is
    /// requested from it until the view in which it, or this rank, joins.
    pub fn handle_back(&mut self, rank: usize) {
        self.agreement.handle_back(rank);
        self.plane.set_gone(rank, false);
    }

    /// Next message for the reliable channel, with its destination.
    pub fn poll_message(&mut self) -> Option<(usize, Vec<u8>)> {
        self.agreement.poll_message()
    }

    /// Next change of the job's membership.
    pub fn poll_membership_event(&mut self) -> Option<MembershipEvent> {
        self.agreement.poll_membership_event()
    }

    /// Excludes this rank until it [joins](Self::join), because its process was restarted. Call
    /// this first after [`agree_on_views`](Self::agree_on_views).
    pub fn leave(&mut self) {
        self.agreement.leave();
    }

    /// Asks the other ranks to let this dropped rank rejoin. On success, [`MembershipEvent::View`]
    /// follows, and the next collective is the view's first. `incarnation` must be above 0 and
    /// above all earlier ones of this rank.
    ///
    /// # Errors
    /// If collectives are still running.
    pub fn join(&mut self, now_ns: u64, incarnation: u64) -> Result<(), CollectivesError<P::Error>> {
        self.pipeline.cancel_preposted(&mut self.plane, self.agreement.repairs.as_mut())?;
        if !self.is_idle() {
            return Err(CollectivesError::Busy { running: self.pipeline.len() });
        }
        self.pipeline.forget_declared();
        self.agreement.join(now_ns, incarnation, self.pipeline.next_op);
        self.take_outputs();
        Ok(())
    }
}
