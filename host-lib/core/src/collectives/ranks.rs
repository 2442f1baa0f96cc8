//! Collectives of ranks that agree with one another: on views, on repairs, on updates that are skipped. Their messages go over
//! a reliable channel.

use optireduce_contract::limits::BEAT_BYTES;

use super::agreement::Agreement;
use super::{Collectives, CollectivesError, MembershipEvent, MessageError};
use crate::data_plane::{Capability, DataPlane};
use crate::protocol::repair::RepairReport;
use crate::protocol::{
    Arming, CallCheck, Control, HadamardMode, JobParams, MembershipParams, Ranks, StreamId, View, VoteParams, Votes,
};
use crate::repairs::Repairs;

impl<P: DataPlane> Collectives<P> {
    /// Lets the ranks agree on views: who takes part (ranks that are silent are dropped, and may come back), t_B (if
    /// it is to be measured: see [`BoundEstimator`](crate::protocol::BoundEstimator)), and whether all-reduces with [`HadamardMode::Auto`] are encoded, if
    /// `hadamard` says that this follows the loss. All ranks must do so, before the first collective, with the same
    /// parameters; messages are to be carried from [`poll_message`](Self::poll_message) to
    /// [`handle_message`](Self::handle_message) over a reliable channel.
    ///
    /// # Errors
    /// If the parameters let ranks come and go but the data plane's cannot, or a parameter is out of range.
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
        // With the bound that the first collective has.
        self.params.bound_ns = self.agreement.newest().settings.bound_ns;
        self.tuning.set_bound_ns(self.params.bound_ns);
        Ok(())
    }

    /// Fetches what broadcasts lost from those who have it, over the reliable channel and outside the bounds, and adds the
    /// difference to the bucket's next output that is applied: so replicas agree again. All ranks must do so; for messages
    /// see [`agree_on_views`](Self::agree_on_views). Over a card: its rank answers for windows that were not encoded, and
    /// does not know itself which of its beats are missing.
    pub fn repair(&mut self) {
        self.agreement.repairs = Some(Repairs::new(self.next_op()));
    }

    /// What was missing and what has become of it, with [`repair`](Self::repair).
    pub fn repaired(&self) -> Option<RepairReport> {
        self.agreement.repairs.as_ref().map(Repairs::report)
    }

    /// As [`repaired`](Self::repaired), of one bucket.
    pub fn repaired_of(&self, bucket: u16) -> Option<RepairReport> {
        self.agreement.repairs.as_ref().map(|repairs| repairs.report_of(bucket))
    }

    /// Lets ranks tell one another what they call when there is a doubt that they call the same: a difference is then
    /// [`CollectivesError::Mismatch`] on all of them. All ranks must do so; for messages see
    /// [`agree_on_views`](Self::agree_on_views). `wait_ns`: how long to wait, once two ranks are known to differ, for what the
    /// others call.
    pub fn compare_calls(&mut self, wait_ns: u64) {
        self.agreement.calls = Some(CallCheck::new(self.params.rank, wait_ns));
    }

    /// Some ranks have cards, which keep no packets of windows that are not armed: they tell the others what they have armed, see
    /// [`not_armed`](Self::not_armed). All ranks must do so, with the same `cards`; for messages see
    /// [`agree_on_views`](Self::agree_on_views).
    pub fn wait_for_cards(&mut self, cards: Ranks) {
        self.agreement.arming = Some(Arming::new(self.params.rank, self.params.ranks, cards));
    }

    /// With [`wait_for_cards`](Self::wait_for_cards): a rank with a card that has not armed collective `op`, which was prepared, and lives.
    /// A collective that is [started](Self::start) before loses what is sent to that card until it has. The wait has no bound here: that
    /// rank may be late.
    pub fn not_armed(&self, op: u32) -> Option<usize> {
        self.agreement.not_armed(op, self.pipeline.view_of(op)?)
    }

    /// How long a one-off collective waits for its repairs, and for the word of the others that they call the same; then it
    /// is returned with what is missing. Default: 5 s. A rank that waits tells the others so, and is not taken for dead.
    pub fn set_one_off_wait(&mut self, wait_ns: u64) {
        self.agreement.one_off_wait_ns = wait_ns;
    }

    /// Lets a collective of a declared bucket that is [repaired](Self::repair) wait for what this rank missed of the means, no longer
    /// than four bounds, and be judged by what it lacks then. So replicas have the same outputs, to the bit, unless an answer takes
    /// longer; without, each repair comes one output late, and what an all-gather missed never comes. All ranks must do so.
    pub fn wait_for_repairs(&mut self) {
        self.agreement.repairs_first = true;
    }

    /// Whether nothing is outstanding: no repair of any declared bucket, no correction that waits for an output, and no doubt
    /// of what other ranks call. To be waited for before a model is saved, handed to a rank that joins, or called final.
    pub fn is_settled(&self) -> bool {
        let Agreement { repairs, calls, .. } = &self.agreement;
        repairs.as_ref().is_none_or(Repairs::is_settled) && calls.as_ref().is_none_or(CallCheck::is_settled)
    }

    /// Whether no repair of one declared bucket is outstanding, and no doubt of what other ranks call: then
    /// [`take_correction`](Self::take_correction) gives all that its outputs so far lack.
    pub fn is_repaired(&self, stream: StreamId) -> bool {
        let Agreement { repairs, calls, .. } = &self.agreement;
        repairs.as_ref().is_none_or(|repairs| repairs.is_repaired(stream))
            && calls.as_ref().is_none_or(CallCheck::is_settled)
    }

    /// What outputs of a declared bucket so far lack and is known by now, to be added to them: after its last call no output
    /// takes it. `None` if it is nothing, or another collective has taken it.
    pub fn take_correction(&mut self, stream: StreamId) -> Option<Vec<f32>> {
        self.agreement.repairs.as_mut()?.take_correction(stream)
    }

    /// Drops the rounding errors of a declared bucket's corrections that were taken, by an output or by the caller: its next outputs
    /// have the same bits as those of a rank that lost nothing.
    pub fn forget_rounding(&mut self, stream: StreamId) {
        if let Some(repairs) = &mut self.agreement.repairs {
            repairs.forget_rounding(stream);
        }
    }

    /// Lets all ranks take the same action after each collective: if one would skip the update, all do. A finished collective
    /// waits for that. All ranks must do so; messages travel as in [`agree_on_views`](Self::agree_on_views).
    pub fn agree_on_updates(&mut self, params: VoteParams) {
        self.agreement.votes = Some(Votes::new(self.params.rank, self.params.ranks, params));
    }

    /// As [`agree_on_updates`](Self::agree_on_updates), with waits that follow the bound: see [`VoteParams::of_bound`].
    pub fn agree_on_updates_within(&mut self, slack_ns: u64) {
        self.agreement.vote_slack_ns = Some(slack_ns);
        self.agree_on_updates(VoteParams::of_bound(self.params.bound_ns, slack_ns));
    }

    /// Asks the others to make collectives on other data planes from one of the next on, because this rank's has failed. The view
    /// that says so ([`Settings::fallback`](crate::protocol::membership::Settings)) begins with the first collective that is not to be
    /// made here any more: [`next_call`](Self::next_call) is then its number, or later. All ranks must
    /// [agree on views](Self::agree_on_views).
    pub fn fall_back(&mut self, now_ns: u64) {
        if let Some(control) = &mut self.agreement.control {
            control.fall_back(now_ns);
        }
        self.take_outputs();
    }

    /// Whether peers seem to be at the caller's next collective, which is prepared for that reason.
    pub fn is_preposted(&self) -> bool {
        self.pipeline.is_preposted()
    }

    /// Number of the next collective that the caller calls, preposted or not.
    pub fn next_call(&self) -> u32 {
        self.pipeline.next_op_of_caller()
    }

    /// Whether the next collective may be prepared: it is known who takes part. Without a quorum of ranks that
    /// never comes true again: the caller sets a deadline.
    pub fn may_prepare(&mut self, now_ns: u64) -> bool {
        let may = self.misfit.is_none() && (self.pipeline.is_preposted() || self.next_view(now_ns).is_some());
        self.take_outputs();
        may
    }

    /// The newest view; that of all ranks while this rank takes no part.
    pub fn newest(&self) -> &View {
        self.agreement.newest()
    }

    /// Whether this rank takes part.
    pub fn is_member(&self) -> bool {
        self.agreement.is_member()
    }

    /// Whether the ranks still measure t_B, so that a collective with this bound ran under the longest one.
    pub fn is_measuring(&self, bound_ns: u64) -> bool {
        self.agreement.is_measuring(bound_ns)
    }

    /// Lets agreements go on; [`poll`](Self::poll) does so, too.
    pub fn handle_timeout(&mut self, now_ns: u64) {
        self.agreement.handle_timeout(now_ns);
        self.take_outputs();
    }

    /// Takes a message of rank `from`.
    ///
    /// # Errors
    /// [`MessageError`]: nothing of it was used.
    pub fn handle_message(&mut self, now_ns: u64, from: usize, bytes: &[u8]) -> Result<(), MessageError> {
        self.agreement.handle_message(now_ns, from, bytes)?;
        self.take_outputs();
        Ok(())
    }

    /// The reliable channel to a rank has ended. If the rank connects anew, this comes before anything that it says there:
    /// afterwards it would count as gone again.
    pub fn handle_gone(&mut self, rank: usize) {
        self.agreement.handle_gone(rank);
        self.plane.set_gone(rank, true);
    }

    /// There is a new reliable channel to a rank whose last one had [ended](Self::handle_gone). It is asked for nothing before
    /// the view in which it, or this rank, joins.
    pub fn handle_back(&mut self, rank: usize) {
        self.agreement.handle_back(rank);
        self.plane.set_gone(rank, false);
    }

    /// The next message to send on the reliable channel, and to whom.
    pub fn poll_message(&mut self) -> Option<(usize, Vec<u8>)> {
        self.agreement.poll_message()
    }

    /// The next change among the ranks of the job.
    pub fn poll_membership_event(&mut self) -> Option<MembershipEvent> {
        self.agreement.poll_membership_event()
    }

    /// This rank takes no part until it [joins](Self::join): its process was started again in a job that runs. To be called
    /// before anything else, after [`agree_on_views`](Self::agree_on_views); without that there is nothing to join, and this does
    /// nothing.
    pub fn leave(&mut self) {
        self.agreement.leave();
    }

    /// Asks the others to let this rank take part again, after it was dropped; there is [`MembershipEvent::View`] of it once they do,
    /// and the next collective is then the view's first. `incarnation`: above 0, and greater than at any time before.
    ///
    /// # Errors
    /// If collectives are still running.
    pub fn join(&mut self, now_ns: u64, incarnation: u64) -> Result<(), CollectivesError<P::Error>> {
        // Nobody will call what was only preposted.
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
