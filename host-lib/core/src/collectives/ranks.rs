//! What the ranks of a job settle among themselves, beside their collectives: who takes part, t_B measured again, repairs,
//! updates that are skipped. Their messages go over a reliable channel.

use serde::Deserialize;

use super::{Collectives, CollectivesError, MessageError, News};
use crate::data_plane::DataPlane;
use crate::protocol::membership::{self, Output};
use crate::protocol::repair::{RepairMessage, RepairReport};
use crate::protocol::{Control, MembershipParams, VerdictMessage, VerdictParams, Verdicts, View};
use crate::repairs::Repairs;

/// What ranks tell one another on the reliable channel.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Message {
    Verdict(VerdictMessage),
    Members(membership::Message),
}

impl<P: DataPlane> Collectives<P> {
    /// Lets the ranks agree on who takes part: those that are silent are dropped, and may come back. All ranks must do so,
    /// before the first collective, with the same parameters; messages are to be carried from
    /// [`poll_message`](Self::poll_message) to [`handle_message`](Self::handle_message) over a reliable channel.
    /// `remeasure`: whether t_B is measured again, see [`must_measure`](Self::must_measure).
    ///
    /// # Errors
    /// If the data plane's ranks cannot change, or a parameter is out of range.
    pub fn follow_members(
        &mut self,
        params: MembershipParams,
        remeasure: bool,
    ) -> Result<(), CollectivesError<P::Error>> {
        if !self.plane.takes_views() {
            return Err(CollectivesError::FixedRanks);
        }
        self.control = Some(Control::new(self.params.rank, params, remeasure)?);
        Ok(())
    }

    /// Fetches what broadcasts lost from those who have it, over the reliable channel and outside the bounds, and adds the
    /// difference to the bucket's next output that is applied: so replicas agree again. All ranks must do so; for messages
    /// see [`follow_members`](Self::follow_members). Over a card: its rank answers for windows that were not encoded, and
    /// does not know itself which of its beats are missing.
    pub fn repair(&mut self) {
        self.repairs = Some(Repairs::new(self.next_op));
    }

    /// What was missing and what has become of it, with [`repair`](Self::repair).
    pub fn repaired(&self) -> Option<RepairReport> {
        self.repairs.as_ref().map(Repairs::report)
    }

    /// Lets all ranks take the same action after each collective: if one would skip the update, all do. A finished collective
    /// waits for that. All ranks must do so; messages travel as in [`follow_members`](Self::follow_members).
    pub fn agree_on_updates(&mut self, params: VerdictParams) {
        self.verdicts = Some(Verdicts::new(self.params.rank, params));
    }

    /// Whether the next collective may be prepared: it is known who takes part, and t_B needs not be measured before. Without a
    /// quorum of ranks that never comes true again: the caller sets a deadline.
    pub fn may_prepare(&mut self, now_ns: u64) -> bool {
        let may = self.foreseen > 0 || self.next_view(now_ns).is_some();
        self.take_outputs();
        may
    }

    /// The newest view; that of all ranks while this rank takes no part.
    pub fn newest(&self) -> View {
        self.control.as_ref().and_then(Control::newest).copied().unwrap_or(self.first)
    }

    /// Whether this rank takes part.
    pub fn is_member(&self) -> bool {
        self.control.as_ref().is_none_or(|control| control.newest().is_some())
    }

    /// If all ranks are to measure t_B now, before the next collective: which, and with how many elements. The caller measures and
    /// calls [`measured`](Self::measured).
    pub fn must_measure(&mut self, now_ns: u64) -> Option<(View, usize)> {
        if !self.is_idle() || !self.control.as_ref().is_some_and(Control::is_measuring) {
            return None;
        }
        let control = self.control.as_mut()?;
        let view = control.view_of(now_ns, self.next_op).filter(|view| control.must_measure(view));
        self.take_outputs();
        Some((view?, self.known.values().copied().max().unwrap_or(0)))
    }

    /// t_B was measured as [`must_measure`](Self::must_measure) said; `None`: that failed, and t_B stays.
    pub fn measured(&mut self, view: &View, bound_ns: Option<u64>) {
        let old_ns = self.params.bound_ns;
        self.params.bound_ns = bound_ns.unwrap_or(old_ns).clamp(1, u32::MAX.into());
        if let Some((early, _)) = &mut self.early {
            early.set_bound_ns(self.params.bound_ns);
        }
        if let Some(control) = &mut self.control {
            control.measured(view, self.next_op, old_ns, self.params.bound_ns);
        }
    }

    /// Lets agreements go on; [`poll`](Self::poll) does so, too.
    pub fn handle_timeout(&mut self, now_ns: u64) {
        if let Some(control) = &mut self.control {
            control.handle_timeout(now_ns);
        }
        if let Some(verdicts) = &mut self.verdicts {
            verdicts.handle_timeout(now_ns);
        }
        self.take_outputs();
    }

    /// Takes a message of rank `from`.
    ///
    /// # Errors
    /// [`MessageError`]: nothing of it was used.
    pub fn handle_message(&mut self, now_ns: u64, from: usize, bytes: &[u8]) -> Result<(), MessageError> {
        if let Some(repairs) = self.repairs.as_mut().filter(|_| RepairMessage::is_one(bytes)) {
            repairs.handle(from, RepairMessage::from_bytes(bytes)?)?;
            self.take_outputs();
            return Ok(());
        }
        let message =
            serde_json::from_slice(bytes).map_err(|_| MessageError::Malformed { from, bytes: bytes.len() })?;
        match message {
            Message::Verdict(message) => {
                if let Some(verdicts) = &mut self.verdicts {
                    verdicts.handle_message(now_ns, from, message);
                }
            }
            Message::Members(message) => {
                if let Some(control) = &mut self.control {
                    control.handle_message(now_ns, from, message)?;
                }
            }
        }
        self.take_outputs();
        Ok(())
    }

    /// The reliable channel to a rank has ended.
    pub fn handle_gone(&mut self, rank: usize) {
        if let Some(control) = &mut self.control {
            control.handle_gone(rank);
        }
    }

    /// The next message to send on the reliable channel, and to whom.
    pub fn poll_message(&mut self) -> Option<(usize, Vec<u8>)> {
        self.outgoing.pop_front()
    }

    /// What else has happened among the ranks.
    pub fn poll_news(&mut self) -> Option<News> {
        self.news.pop_front()
    }

    /// Asks the others to let this rank take part again, after it was dropped; there is [`News::View`] of it once they do,
    /// and the next collective is then the view's first. `incarnation`: above 0, and greater than at any time before.
    ///
    /// # Errors
    /// If collectives are still running.
    pub fn join(&mut self, now_ns: u64, incarnation: u64) -> Result<(), CollectivesError<P::Error>> {
        if !self.is_idle() {
            return Err(CollectivesError::Busy { running: self.running.len() + usize::from(self.held.is_some()) });
        }
        self.joining = Some(incarnation);
        // The model comes anew.
        self.repairs = self.repairs.take().map(|_| Repairs::new(self.next_op));
        self.ahead.clear();
        if let Some(control) = &mut self.control {
            control.join(now_ns, incarnation);
        }
        self.take_outputs();
        Ok(())
    }

    /// The view of the next collective, if it is known and nothing is to be done before.
    pub(super) fn next_view(&mut self, now_ns: u64) -> Option<View> {
        let Some(control) = &mut self.control else { return Some(self.first) };
        control.view_of(now_ns, self.next_op).filter(|view| !control.must_measure(view))
    }

    /// No collective runs, and none waits for an agreement.
    pub(super) fn is_idle(&self) -> bool {
        self.running.is_empty() && self.held.is_none()
    }

    pub(super) fn take_outputs(&mut self) {
        while let Some((to, message)) = self.repairs.as_mut().and_then(Repairs::poll) {
            match message.to_bytes() {
                Ok(bytes) => self.outgoing.push_back((to, bytes)),
                Err(error) => tracing::warn!(%error, "a repair was dropped"),
            }
        }
        while let Some((to, message)) = self.verdicts.as_mut().and_then(Verdicts::poll) {
            self.outgoing.push_back((to, serde_json::to_vec(&message).unwrap_or_default()));
        }
        while let Some(output) = self.control.as_mut().and_then(Control::poll) {
            match output {
                Output::Send { to, message } => {
                    self.outgoing.push_back((to, serde_json::to_vec(&message).unwrap_or_default()));
                }
                Output::Silent { rank } => self.news.push_back(News::Silent { rank }),
                Output::Dropped => self.news.push_back(News::Dropped),
                Output::View(view) => {
                    let joined = self.joining.map(|incarnation| (self.params.rank as u16, incarnation));
                    if joined.is_some() && view.joined == joined {
                        self.joining = None;
                        self.next_op = view.first_op;
                        self.verdicts.iter_mut().for_each(|verdicts| verdicts.forward(view.first_op));
                    }
                    if let Some(repairs) = &mut self.repairs {
                        let dropped = (0..self.params.ranks).filter(|rank| !view.has(*rank));
                        dropped.for_each(|rank| repairs.drop_rank(rank));
                    }
                    self.plane.announce(&view);
                    self.news.push_back(News::View(view));
                }
            }
        }
    }
}
