//! Membership: the ranks of a job agree on which of them take part and on the settings they share.
//!
//! Why: a dead rank would cost every stage its full bound for the rest of the job. Ranks with
//! different transform settings would drop each other's packets.
//!
//! Each rank reports silent ranks to all, and sends all a [`Request`] for other settings. Once a
//! quorum reports a rank, or enough ranks request a change, a new [`View`] is decided. All ranks
//! use it from the same collective on.
//!
//! * Quorum: more than half of the ranks of a view, or exactly half including the lowest rank. A
//!   minority decides no view, and stops after `lead_ops` collectives.
//! * Decision: the ranks of view n decide view n + 1 in one instance of Paxos (Lamport 2001). The
//!   lowest remaining rank coordinates; if it does not finish in time, the next takes over.
//! * Transform: one rank turns it on; all ranks must agree to turn it off.
//! * Fallback to other data planes: one rank is enough. Permanent.
//! * Bound: all ranks but one (both of two) must request a change. The second largest value is
//!   used; of only two values, the larger. One rank is enough to lengthen it up to
//!   [`BoundParams::busy_ns`]. Beyond that, with four or more ranks, a single frozen or lying rank
//!   cannot set it, except that a request for the transform may raise it up to [`ENCODED_BOUNDS`]
//!   times.
//! * Joining: a rank starts only after another rank uses its view. Otherwise it would run alone and
//!   consider all others silent.
//! * Switch: a rank that has promised starts no further collective until the decision. If all
//!   remaining ranks have promised, the view begins at the first collective that none has started;
//!   with only a quorum, `lead_ops` later, since no rank runs further ahead of a quorum.
//!
//! * Pauses: a rank that is behind while its trainer does something else, such as saving a
//!   checkpoint, reports that it is alive. The others wait for it instead of dropping it, up to
//!   [`MembershipParams::patience_ns`].
//!
//! Requires: a reliable channel, ordered per pair of ranks. A rank that crashes loses its state and
//! returns only by [`Membership::join`].
//! Limits: at most [`RANKS_MAX`] ranks. One rank joins at a time. Of two ranks, only the lower
//! survives the loss of the other. The trainer sends the model to a rank that joins.
//! Source: ours; the paper does not cover membership.

use std::collections::{BTreeMap, VecDeque};

use super::bound::BoundParams;
use super::params::ParamError;
use super::types::{RANKS_MAX, Ranks};
use opinions::{Requests, Suspicions};
use paxos::Paxos;
use view::{Change, is_of_job};

mod opinions;
mod paxos;
mod view;

pub use view::{BadMessage, Ballot, ENCODED_BOUNDS, MembershipMessage, Request, Settings, View};

/// Views kept for ranks that lag behind.
const VIEWS_KEPT: usize = 16;
/// Takeover attempts after which the wait no longer doubles.
const BACKOFF_MAX: u32 = 8;

/// Action requested by [`Membership`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // fields explain themselves
pub enum Output {
    /// Send a message to rank `to` on the reliable channel.
    Send { to: usize, message: MembershipMessage },
    /// A rank was silent for K collectives in a row.
    Silent { rank: usize },
    /// A view was decided; see [`Membership::view_of`].
    View(View),
    /// This rank was dropped. It may [`join`](Membership::join) again.
    Dropped,
}

/// Parameters of the agreement; the same on all ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MembershipParams {
    /// World size, 1 to [`RANKS_MAX`].
    pub ranks: usize,
    /// K: consecutive collectives without a packet after which a rank is silent. Default 3. `None`:
    /// fixed members.
    pub silent_ops: Option<u32>,
    /// Minimum duration of those K collectives, in ns. Default 100 ms. It must exceed the latency
    /// of the reliable channel, or ranks that wait for an agreement are dropped.
    pub silent_ns: u64,
    /// Longest wait for a silent rank that reports that it is alive, in ns. Then it is dropped.
    /// Default 0.
    pub patience_ns: u64,
    /// Number of collectives that a rank may run ahead of a quorum's reported progress. Default 32.
    /// It must cover the collectives prepared ahead and those during one message latency.
    pub lead_ops: u32,
    /// Timeout of the coordinator and of requests to join, in ns. Default 20 ms.
    pub retry_ns: u64,
    /// Limits of an adaptive t_B. `None` (default): t_B is fixed.
    pub bound: Option<BoundParams>,
}

impl MembershipParams {
    /// Defaults for a job of `ranks` ranks.
    pub fn new(ranks: usize) -> Self {
        Self {
            ranks,
            silent_ops: Some(3),
            silent_ns: 100_000_000,
            patience_ns: 0,
            lead_ops: 32,
            retry_ns: 20_000_000,
            bound: None,
        }
    }
}

/// State machine of one rank's membership.
///
/// Call order: [`view_of`](Self::view_of) before a collective is prepared,
/// [`observe`](Self::observe) after it, handlers on events and at
/// [`next_timeout`](Self::next_timeout). After each, [`poll`](Self::poll) until `None`.
#[derive(Clone, Debug)]
pub struct Membership {
    params: MembershipParams,
    rank: usize,
    incarnation: u64,
    views: VecDeque<View>,
    /// First collective not started.
    next_op: u32,
    told_op: u32,
    /// Per rank: consecutive silent collectives, and the end of the first.
    silent: Vec<(u32, u64)>,
    suspects: Ranks,
    /// Silent ranks that reported to be alive and behind, with the first and the last report.
    behind: BTreeMap<usize, (u64, u64)>,
    /// Ranks of `behind` for which this rank waits.
    awaited: Ranks,
    /// Next report of this rank that it is behind.
    behind_at_ns: Option<u64>,
    /// It has reported so since it last was not.
    has_told_behind: bool,
    gone: Ranks,
    /// Gone ranks on a new channel.
    back: Ranks,
    /// `next_op` when the last channel closed.
    gone_op: u32,
    /// This rank has joined, and no other rank is known to use its view yet.
    is_ahead: bool,
    /// Incarnations that ask to join, and per rank the last that joined.
    joins: BTreeMap<usize, u64>,
    joined: Vec<u64>,
    reached: Vec<u32>,
    /// Largest of `reached`.
    furthest: u32,
    suspicions: Suspicions,
    requests: Requests,
    request: Request,
    paxos: Paxos,
    retry_at_ns: Option<u64>,
    waits_at_ns: Option<u64>,
    outputs: VecDeque<Output>,
}

impl Membership {
    /// Creates a rank of a new job, whose view 0 has all ranks.
    ///
    /// # Errors
    /// [`ParamError`] names the first parameter out of range.
    pub fn new(rank: usize, params: MembershipParams, settings: Settings) -> Result<Self, ParamError> {
        let mut membership = Self::outside(rank, params)?;
        if !settings.is_possible() {
            return Err(ParamError { name: "bound_ns", found: settings.bound_ns, min: 1, max: u32::MAX.into() });
        }
        membership.views.push_back(View::first(Ranks::all(params.ranks), settings));
        Ok(membership)
    }

    /// Creates a rank outside the job, which must [join](Self::join).
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn outside(rank: usize, params: MembershipParams) -> Result<Self, ParamError> {
        for (name, found, min, max) in [
            ("ranks", params.ranks as u64, 1, RANKS_MAX as u64),
            ("rank", rank as u64, 0, (params.ranks as u64).saturating_sub(1)),
            ("silent_ops", params.silent_ops.unwrap_or(1).into(), 1, u32::MAX.into()),
            ("lead_ops", params.lead_ops.into(), 1, u32::MAX.into()),
            ("retry_ns", params.retry_ns, 1, u64::MAX),
        ] {
            if found < min || found > max {
                return Err(ParamError { name, found, min, max });
            }
        }
        params.bound.map_or(Ok(()), |bound| bound.check())?;
        Ok(Self::blank(rank, params))
    }

    fn blank(rank: usize, params: MembershipParams) -> Self {
        Self {
            params,
            rank,
            incarnation: 0,
            views: VecDeque::new(),
            next_op: 0,
            told_op: 0,
            silent: vec![(0, 0); params.ranks],
            suspects: Ranks::none(params.ranks),
            behind: BTreeMap::new(),
            awaited: Ranks::none(params.ranks),
            behind_at_ns: None,
            has_told_behind: false,
            gone: Ranks::none(params.ranks),
            back: Ranks::none(params.ranks),
            gone_op: 0,
            is_ahead: false,
            joins: BTreeMap::new(),
            joined: vec![0; params.ranks],
            reached: vec![0; params.ranks],
            furthest: 0,
            suspicions: Suspicions::new(params.ranks),
            requests: Requests::new(params.ranks),
            request: Request::default(),
            paxos: Paxos::default(),
            retry_at_ns: None,
            waits_at_ns: None,
            outputs: VecDeque::new(),
        }
    }

    /// Discards all views and asks to join. `incarnation` must be above 0 and greater than in every
    /// earlier call, also across restarts. A clock does not suffice, since it may go back.
    pub fn join(&mut self, now_ns: u64, incarnation: u64) {
        let outputs = std::mem::take(&mut self.outputs);
        *self = Self { incarnation, outputs, ..Self::blank(self.rank, self.params) };
        self.ask(now_ns);
    }

    /// Discards all views, until [`join`](Self::join).
    pub fn leave(&mut self) {
        *self = Self::blank(self.rank, self.params);
    }

    /// Returns whether silent ranks are dropped.
    pub fn drops_silent(&self) -> bool {
        self.params.silent_ops.is_some()
    }

    /// Newest decided view, possibly not in use yet. `None` while this rank is not a member.
    pub fn newest(&self) -> Option<&View> {
        self.views.back()
    }

    /// Kept views, oldest first.
    pub fn views(&self) -> impl Iterator<Item = &View> {
        self.views.iter()
    }

    /// Returns the view of collective `op`, which is then final. Call before preparing each
    /// collective, in order.
    ///
    /// `None`: not decided yet, or this rank is not a member. Retry after messages, up to a
    /// deadline, since without a quorum no view is decided.
    pub fn view_of(&mut self, now_ns: u64, op: u32) -> Option<View> {
        let newest = self.views.back()?.clone();
        if op >= self.next_op {
            let may_start = op < newest.first_op || !self.paxos.is_bound() && op < self.horizon(&newest);
            let others = || newest.live().filter(|rank| *rank != self.rank && !self.gone.contains(*rank));
            if !may_start || self.is_ahead && others().next().is_some() {
                self.retry_at_ns.get_or_insert(now_ns.saturating_add(self.params.retry_ns));
                return None;
            }
            let first_of_view = self.next_op <= newest.first_op && newest.first_op <= op;
            self.next_op = op.saturating_add(1);
            self.reach(self.rank, self.next_op.max(newest.first_op));
            if first_of_view {
                self.consider(now_ns);
            }
            if self.has_told_behind {
                self.tell_behind(&newest);
            }
            // A rank that joins waits for this report.
            if first_of_view && newest.joined.is_some()
                || self.next_op >= self.told_op.saturating_add((self.params.lead_ops / 4).max(1))
            {
                self.tell_progress(&newest);
            }
        }
        self.views.iter().rev().find(|view| view.first_op <= op).cloned()
    }

    /// Time of the next report that this rank is alive.
    fn report_after(&self, now_ns: u64) -> u64 {
        now_ns.saturating_add((self.params.silent_ns / 4).max(1))
    }

    /// Sets whether this rank waits for messages, and reports that it is alive meanwhile.
    pub fn wait_for_others(&mut self, now_ns: u64, waits: bool) {
        let next_ns = self.report_after(now_ns);
        self.waits_at_ns = (waits && self.drops_silent()).then(|| self.waits_at_ns.unwrap_or(next_ns));
    }

    /// Sets whether other ranks are seen to be ahead of this one, which then reports that it is
    /// alive until it has caught up.
    pub fn set_behind(&mut self, now_ns: u64, sees_others_ahead: bool) {
        let is_behind = sees_others_ahead || self.furthest > self.next_op && !self.views.is_empty();
        // In time, but few ranks report while one of them computes for somewhat longer than others.
        let next_ns = now_ns.saturating_add((self.params.silent_ns / 2).max(1));
        let reports = is_behind && self.drops_silent() && self.params.patience_ns > 0;
        self.behind_at_ns = reports.then(|| self.behind_at_ns.unwrap_or(next_ns));
        self.has_told_behind &= reports;
    }

    fn reach(&mut self, rank: usize, op: u32) {
        self.reached[rank] = op;
        self.furthest = self.furthest.max(op);
    }

    fn tell_behind(&mut self, newest: &View) {
        let (number, next_op) = (newest.number, self.next_op);
        for to in newest.live().filter(|to| *to != self.rank) {
            self.outputs.push_back(Output::Send { to, message: MembershipMessage::Behind { number, next_op } });
        }
    }

    /// Returns whether this rank should start no collective, since it waits for ranks that are
    /// alive and behind.
    pub fn waits_for_behind(&mut self, now_ns: u64) -> bool {
        if self.awaited.is_empty() {
            return false;
        }
        let (silent_ns, patience_ns) = (self.params.silent_ns, self.params.patience_ns);
        let Some(newest) = self.views.back().cloned() else { return false };
        let before = self.suspects.clone();
        for rank in self.awaited.clone().iter() {
            let times = self.behind.get(&rank).filter(|_| newest.has(rank) && !self.gone.contains(rank));
            let is_alive = times.is_some_and(|(since_ns, last_ns)| {
                now_ns.saturating_sub(*last_ns) < silent_ns && now_ns.saturating_sub(*since_ns) < patience_ns
            });
            if !is_alive {
                self.awaited.remove(rank);
                if newest.has(rank) && self.suspects.insert(rank) {
                    self.outputs.push_back(Output::Silent { rank });
                }
            }
        }
        if self.suspects != before {
            self.tell_suspects(now_ns, &newest);
        }
        !self.awaited.is_empty()
    }

    fn caught_up(&mut self, rank: usize) {
        self.behind.remove(&rank);
        self.awaited.remove(rank);
        self.silent[rank] = (0, 0);
    }

    /// Records that the reliable channel to a rank has closed. K silent collectives then suffice to
    /// suspect it, however short.
    pub fn handle_gone(&mut self, rank: usize) {
        self.gone.insert(rank);
        self.back.remove(rank);
        self.gone_op = self.next_op;
    }

    /// Records a new reliable channel to a gone rank, which must still join.
    pub fn handle_back(&mut self, rank: usize) {
        self.back.insert(rank);
    }

    /// Returns whether a gone rank is about to be dropped. It promises nothing, so other changes
    /// would begin `lead_ops` late, and wait for the drop.
    fn awaits_drop(&self, newest: &View) -> bool {
        let ops = self.params.silent_ops.unwrap_or(0).saturating_mul(2);
        newest.live().any(|rank| rank != self.rank && self.gone.contains(rank))
            && self.next_op < self.gone_op.saturating_add(ops)
    }

    /// Records a finished collective: ranks heard, also late, and ranks that were `silent` although
    /// they had data to send. A gone rank counts as silent even without data to send.
    pub fn observe(&mut self, now_ns: u64, op: u32, heard: &Ranks, silent: &Ranks) {
        let Some(silent_ops) = self.params.silent_ops else { return };
        let Some(newest) = self.views.back().cloned() else { return };
        let Some(view) = self.views.iter().rev().find(|view| view.first_op <= op).cloned() else { return };
        let (suspects, mut awaits) = (self.suspects.clone(), false);
        let joins_later = |rank: usize| {
            let mut later = self.views.iter().filter(|later| later.first_op > op);
            later.any(|later| later.joined.is_some_and(|(joined, _)| usize::from(joined) == rank))
        };
        for rank in view.live().filter(|rank| newest.has(*rank) && *rank != self.rank && !joins_later(*rank)) {
            let (ops, since_ns) = &mut self.silent[rank];
            if heard.contains(rank) && !self.joins.contains_key(&rank) {
                *ops = 0;
                self.suspects.remove(rank);
                self.behind.remove(&rank);
                self.awaited.remove(rank);
                continue;
            }
            // In a short bucket most ranks send nothing, and the owners alone are no quorum.
            if !silent.contains(rank) && !self.gone.contains(rank) {
                continue;
            }
            if *ops == 0 {
                *since_ns = now_ns;
            }
            *ops = ops.saturating_add(1);
            let long = now_ns.saturating_sub(*since_ns) >= self.params.silent_ns || self.gone.contains(rank);
            if *ops < silent_ops || !long {
                continue;
            }
            let is_behind = self
                .behind
                .get(&rank)
                .is_some_and(|(_, last_ns)| now_ns.saturating_sub(*last_ns) < self.params.silent_ns);
            if is_behind && !self.gone.contains(rank) && !self.suspects.contains(rank) {
                if self.awaited.insert(rank) {
                    tracing::debug!(rank = self.rank, behind = rank, op, "waits for a rank that is alive and behind");
                    awaits = true;
                }
            } else if self.suspects.insert(rank) {
                self.outputs.push_back(Output::Silent { rank });
            }
        }
        if self.suspects != suspects {
            self.tell_suspects(now_ns, &newest);
        }
        if awaits {
            // So that the rank knows how far it is behind.
            self.tell_progress(&newest);
        }
    }

    /// Suspects a member that asks to join, since it was restarted.
    fn suspect_joining(&mut self, now_ns: u64, rank: usize) {
        let Some(newest) = self.views.back().cloned() else { return };
        if newest.has(rank) && rank != self.rank && self.suspects.insert(rank) {
            self.tell_suspects(now_ns, &newest);
        }
    }

    /// Requests other settings. Each call replaces the last request, but a request to turn the
    /// transform on, with its bound, lasts until a view turns it on.
    pub fn request(&mut self, now_ns: u64, request: Request) {
        let Some(newest) = self.views.back().cloned() else { return };
        let hadamard = request.hadamard.or(self.request.hadamard.filter(|on| *on));
        let fallback = request.fallback || self.request.fallback;
        let bound_ns = request.bound_ns.or(self.request.bound_ns.filter(|_| hadamard == Some(true)));
        let request = Request { hadamard, bound_ns, fallback }.without(&newest);
        if request != self.request {
            self.request = request;
            self.tell_request(now_ns, &newest);
        } else {
            // A change that waited for a drop may be possible by now.
            self.consider(now_ns);
        }
    }

    /// Requests [`Settings::fallback`].
    pub fn fall_back(&mut self, now_ns: u64) {
        self.request(now_ns, Request { fallback: true, ..self.request });
    }

    /// Handles a message from rank `from`.
    ///
    /// # Errors
    /// [`BadMessage`]; the message is ignored.
    pub fn handle_message(&mut self, now_ns: u64, from: usize, message: MembershipMessage) -> Result<(), BadMessage> {
        let bad = |what| BadMessage { from, what, ranks: self.params.ranks };
        let is_possible = |view: &View| view.is_possible(self.params.ranks);
        if from >= self.params.ranks {
            return Err(bad("no such rank"));
        }
        let number = match &message {
            MembershipMessage::Views { views } => {
                let consecutive = views.windows(2).all(|two| {
                    two[0].number.checked_add(1) == Some(two[1].number) && two[0].first_op < two[1].first_op
                });
                if views.len() > VIEWS_KEPT || !consecutive || !views.iter().all(is_possible) {
                    return Err(bad("impossible views, or views that cannot follow one another"));
                }
                self.adopt(now_ns, views);
                return Ok(());
            }
            MembershipMessage::Join { .. } if self.params.silent_ops.is_none() => {
                return Err(bad("it asks to join a job of fixed ranks"));
            }
            MembershipMessage::Join { incarnation } => {
                if *incarnation > self.joined[from] {
                    let wish = self.joins.entry(from).or_default();
                    *wish = (*wish).max(*incarnation);
                    self.suspect_joining(now_ns, from);
                    self.consider(now_ns);
                } else if *incarnation == self.joined[from] && self.newest().is_some_and(|newest| newest.has(from)) {
                    // The answer may have been lost with the coordinator's channel.
                    let views = self.views.iter().cloned().collect();
                    self.send(now_ns, from, MembershipMessage::Views { views });
                }
                return Ok(());
            }
            MembershipMessage::Accept { view, .. } if !is_possible(view) || view.number == 0 => {
                return Err(bad("an impossible view"));
            }
            MembershipMessage::Promise { accepted: Some((_, view)), .. } if !is_possible(view) => {
                return Err(bad("it accepted an impossible view"));
            }
            MembershipMessage::Suspect { suspects, .. } if !is_of_job(suspects, self.params.ranks) => {
                return Err(bad("it suspects ranks outside the job"));
            }
            MembershipMessage::Accept { view, .. } => view.number - 1,
            MembershipMessage::Request { request: Request { bound_ns: Some(bound_ns), .. }, .. }
                if !(1..=u64::from(u32::MAX)).contains(bound_ns) =>
            {
                return Err(bad("it requests a bound of 0 or more than 4.29 s"));
            }
            MembershipMessage::Progress { number, .. }
            | MembershipMessage::Suspect { number, .. }
            | MembershipMessage::Waits { number }
            | MembershipMessage::Behind { number, .. }
            | MembershipMessage::Request { number, .. }
            | MembershipMessage::Prepare { number, .. }
            | MembershipMessage::Promise { number, .. }
            | MembershipMessage::Accepted { number, .. } => *number,
        };
        let Some(newest) = self.views.back().cloned() else { return Ok(()) };
        if number < newest.number {
            let views = self.views.iter().cloned().collect();
            self.send(now_ns, from, MembershipMessage::Views { views });
        } else if number > newest.number {
            let next_op = self.next_op;
            self.send(now_ns, from, MembershipMessage::Progress { number: newest.number, next_op });
        } else if newest.has(from) {
            self.handle_current(now_ns, from, message, &newest);
        }
        Ok(())
    }

    /// Time at which [`handle_timeout`](Self::handle_timeout) must be called.
    pub fn next_timeout(&self) -> Option<u64> {
        let times = self.retry_at_ns.into_iter().chain(self.waits_at_ns).chain(self.behind_at_ns);
        let stale = |rank: usize| Some(self.behind.get(&rank)?.1.saturating_add(self.params.silent_ns));
        times.chain(self.awaited.iter().filter_map(stale)).min()
    }

    /// Takes over from a slow coordinator, or repeats a request.
    pub fn handle_timeout(&mut self, now_ns: u64) {
        if self.waits_at_ns.take_if(|at_ns| now_ns >= *at_ns).is_some()
            && let Some(newest) = self.views.back().cloned()
        {
            let message = MembershipMessage::Waits { number: newest.number };
            self.send_all(now_ns, &newest.ranks, &message);
        }
        if self.behind_at_ns.take_if(|at_ns| now_ns >= *at_ns).is_some()
            && let Some(newest) = self.views.back().cloned()
        {
            self.behind_at_ns = Some(self.report_after(now_ns));
            self.has_told_behind = true;
            self.tell_behind(&newest);
        }
        self.waits_for_behind(now_ns);
        if self.retry_at_ns.is_none_or(|at| now_ns < at) {
            return;
        }
        self.retry_at_ns = None;
        let Some(newest) = self.views.back().cloned() else { return self.ask(now_ns) };
        if self.paxos.is_bound() || self.change(&newest).is_some() {
            tracing::debug!(rank = self.rank, view = newest.number, "view not decided in time: new ballot");
            self.propose(now_ns, &newest);
        } else {
            self.tell_progress(&newest);
        }
    }

    /// Next action, in order.
    pub fn poll(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    fn handle_current(&mut self, now_ns: u64, from: usize, message: MembershipMessage, newest: &View) {
        match message {
            MembershipMessage::Progress { next_op, .. } => {
                self.is_ahead &= next_op <= newest.first_op;
                self.reach(from, self.reached[from].max(next_op));
                // A rank that this rank's last report holds up needs a newer one.
                let stuck = next_op >= self.told_op.saturating_add(self.params.lead_ops);
                let awaits = self.next_op > newest.first_op && next_op <= newest.first_op;
                let joined = newest.joined.is_some_and(|(joined, _)| usize::from(joined) == from);
                if stuck && self.next_op > self.told_op || awaits && joined {
                    self.tell_progress(newest);
                }
            }
            MembershipMessage::Waits { .. } => {
                self.silent[from] = (0, 0);
                if self.suspects.remove(from) {
                    self.tell_suspects(now_ns, newest);
                }
            }
            MembershipMessage::Behind { next_op, .. } => {
                if next_op >= self.next_op {
                    self.caught_up(from);
                } else {
                    let times = self.behind.entry(from).or_insert((now_ns, now_ns));
                    let is_new = now_ns.saturating_sub(times.1) >= self.params.silent_ns;
                    *times = (if is_new { now_ns } else { times.0 }, now_ns);
                }
            }
            MembershipMessage::Suspect { mut suspects, .. } => {
                suspects.retain_all(&newest.ranks);
                suspects.remove(from);
                self.suspicions.set(from, suspects);
                self.consider(now_ns);
            }
            MembershipMessage::Request { request, .. } => {
                self.requests.set(from, request);
                self.consider(now_ns);
            }
            MembershipMessage::Prepare { ballot, .. } => {
                if usize::from(ballot.rank) == from && self.paxos.on_prepare(ballot) {
                    self.wait(now_ns, newest);
                    let (next_op, accepted) = (self.next_op.max(newest.first_op), self.paxos.accepted());
                    self.send(
                        now_ns,
                        from,
                        MembershipMessage::Promise { number: newest.number, ballot, next_op, accepted },
                    );
                }
            }
            MembershipMessage::Promise { ballot, next_op, accepted, .. } => {
                let (change, lead_ops) = (self.change(newest), self.params.lead_ops);
                let joining = change.as_ref().and_then(|change| change.joined).map(|(rank, _)| usize::from(rank));
                let mut remain = change.as_ref().map_or(&newest.ranks, |change| &change.remain).clone();
                if let Some(rank) = joining {
                    remain.remove(rank);
                }
                // Ranks that have promised start nothing more; a rank that joins needs time.
                let fresh = |next_op: u32, all: bool| {
                    let first_op = next_op.saturating_add(if all && joining.is_none() { 0 } else { lead_ops });
                    newest.followed_by(change, first_op.max(newest.first_op.saturating_add(1)))
                };
                let view = self.paxos.on_promise(from, ballot, next_op, accepted, newest, &remain, fresh);
                if let Some(view) = view {
                    self.send_all(now_ns, &newest.ranks, &MembershipMessage::Accept { ballot, view });
                }
            }
            MembershipMessage::Accept { ballot, view } => {
                let is_next = view.first_op > newest.first_op && usize::from(ballot.rank) == from;
                if is_next && self.paxos.on_accept(ballot, view) {
                    self.wait(now_ns, newest);
                    self.send(now_ns, from, MembershipMessage::Accepted { number: newest.number, ballot });
                }
            }
            MembershipMessage::Accepted { ballot, .. } => {
                if let Some(view) = self.paxos.on_accepted(from, ballot, newest) {
                    let mut views: Vec<_> = self.views.iter().cloned().collect();
                    views.push(view.clone());
                    let views = views.split_off(views.len().saturating_sub(VIEWS_KEPT));
                    let mut ranks = newest.ranks.clone();
                    ranks.insert_all(&view.ranks);
                    self.send_all(now_ns, &ranks, &MembershipMessage::Views { views });
                }
            }
            MembershipMessage::Join { .. } | MembershipMessage::Views { .. } => {}
        }
    }

    fn adopt(&mut self, now_ns: u64, views: &[View]) {
        if self.views.is_empty() {
            let own = Some((self.rank as u16, self.incarnation));
            let Some(at) = views.iter().position(|view| view.joined == own) else { return };
            // Earlier views are kept for ranks that lag behind.
            self.views.extend(views[..at].iter().cloned());
            self.next_op = views[at].first_op;
            self.enter(&views[at]);
            self.is_ahead = true;
        }
        for view in views {
            match self.views.back() {
                Some(newest) if newest.number.checked_add(1) == Some(view.number) => {}
                _ => continue,
            }
            self.enter(view);
            let is_late = self.views.front().is_none_or(|oldest| oldest.first_op > self.next_op);
            if !view.has(self.rank) || is_late {
                return self.drop_out();
            }
        }
        let (Some(newest), Some(last)) = (self.views.back().cloned(), views.last()) else { return };
        if last.number > newest.number {
            // This rank is too far behind: the sender no longer has the views between.
            self.drop_out();
            return;
        }
        if self.request != Request::default() {
            self.tell_request(now_ns, &newest);
        }
        // `tell_request` may have decided a further view if this rank is alone.
        let Some(newest) = self.views.back().cloned() else { return };
        if !self.suspicions.are(self.rank, &self.suspects) {
            self.tell_suspects(now_ns, &newest);
        }
        self.consider(now_ns);
    }

    fn enter(&mut self, view: &View) {
        if self.views.back().is_some_and(|last| last.settings.bound_ns != view.settings.bound_ns) {
            self.request.bound_ns = None; // the request referred to the previous bound
        }
        self.views.push_back(view.clone());
        if self.views.len() > VIEWS_KEPT {
            self.views.pop_front();
        }
        self.requests = Requests::new(self.params.ranks);
        self.request = self.request.without(view);
        self.paxos = Paxos::default();
        self.suspicions.clear();
        self.reached.fill(view.first_op);
        self.furthest = view.first_op;
        self.reach(self.rank, self.next_op.max(view.first_op));
        self.told_op = self.told_op.max(view.first_op);
        self.retry_at_ns = None;
        self.is_ahead = false; // a view is followed only once it is in use
        self.suspects.retain_all(&view.ranks);
        for (rank, incarnation) in self.views.iter().filter_map(|view| view.joined) {
            let joined = &mut self.joined[usize::from(rank)];
            *joined = incarnation.max(*joined);
        }
        self.joins.retain(|rank, wish| *wish > self.joined[*rank]);
        if let Some((rank, _)) = view.joined {
            self.suspects.remove(rank.into());
            self.caught_up(rank.into());
            // The rank joins with a new channel, unless that one has closed since.
            if self.back.contains(rank.into()) {
                self.gone.remove(rank.into());
            }
        }
        if view.has(self.rank) {
            self.outputs.push_back(Output::View(view.clone()));
        }
    }

    fn drop_out(&mut self) {
        self.views.clear();
        self.incarnation = 0; // a view already answered this incarnation
        self.request = Request::default();
        self.retry_at_ns = None;
        self.outputs.push_back(Output::Dropped);
    }

    /// First collective that this rank may not start yet.
    fn horizon(&self, newest: &View) -> u32 {
        let mut reached: Vec<_> = newest.live().map(|rank| (self.reached[rank], rank)).collect();
        reached.sort_unstable_by_key(|(op, _)| core::cmp::Reverse(*op));
        let lowest = newest.live().next();
        let mut has_lowest = false;
        let quorum = reached.iter().enumerate().find(|(index, (_, rank))| {
            has_lowest |= lowest == Some(*rank);
            newest.is_quorum_of(index + 1, has_lowest)
        });
        quorum.map_or(0, |(_, (op, _))| op.saturating_add(self.params.lead_ops))
    }

    fn change(&self, newest: &View) -> Option<Change> {
        if self.next_op <= newest.first_op {
            return None; // one change at a time: the last one is not in use yet
        }
        let suspected: Vec<usize> = self.suspicions.by_quorums_of(newest).collect();
        let mut remain = newest.ranks.clone();
        for rank in suspected.into_iter().rev() {
            remain.remove(rank);
            if !newest.is_quorum(&remain) {
                remain.insert(rank);
            }
        }
        // A restarted member is dropped first, which needs no lead.
        let joined = self.joins.iter().find(|(rank, _)| !newest.has(**rank));
        let joined = joined.map(|(rank, incarnation)| (*rank as u16, *incarnation));
        let others = remain != newest.ranks || joined.is_some();
        if !others && self.awaits_drop(newest) {
            return None;
        }
        let busy_ns = self.params.bound.map_or(0, |bound| bound.busy_ns());
        let change = Change { remain, joined, ..newest.change(&self.requests.together(newest, busy_ns)) };
        (others || change.settings != newest.settings).then_some(change)
    }

    fn consider(&mut self, now_ns: u64) {
        let Some(newest) = self.views.back().cloned() else { return };
        if self.paxos.is_bound() {
            return;
        }
        let Some(change) = self.change(&newest) else { return };
        if coordinators(&change).next().is_none_or(|first| first >= self.rank) {
            self.propose(now_ns, &newest);
        } else if self.retry_at_ns.is_none() {
            self.wait(now_ns, &newest);
        }
    }

    fn ranks_ahead(&self, newest: &View) -> usize {
        let change = self.change(newest).unwrap_or_else(|| newest.change(&Request::default()));
        coordinators(&change).take_while(|rank| *rank < self.rank).count()
    }

    /// Starts the takeover timer: longer with each attempt, and by the order of the ranks.
    fn wait(&mut self, now_ns: u64, newest: &View) {
        let turn = self.ranks_ahead(newest) as u64 + 1;
        let wait_ns = self.params.retry_ns.saturating_mul(turn << self.paxos.attempt().min(BACKOFF_MAX));
        self.retry_at_ns = Some(now_ns.saturating_add(wait_ns));
    }

    fn propose(&mut self, now_ns: u64, newest: &View) {
        let ballot = self.paxos.propose(self.rank, self.params.ranks);
        self.wait(now_ns, newest);
        self.send_all(now_ns, &newest.ranks, &MembershipMessage::Prepare { number: newest.number, ballot });
    }

    fn tell_progress(&mut self, newest: &View) {
        let next_op = self.next_op.max(newest.first_op);
        self.told_op = next_op;
        for to in newest.live().filter(|to| *to != self.rank) {
            let message = MembershipMessage::Progress { number: newest.number, next_op };
            self.outputs.push_back(Output::Send { to, message });
        }
    }

    fn tell_suspects(&mut self, now_ns: u64, newest: &View) {
        let message = MembershipMessage::Suspect { number: newest.number, suspects: self.suspects.clone() };
        self.send_all(now_ns, &newest.ranks, &message);
    }

    fn tell_request(&mut self, now_ns: u64, newest: &View) {
        let message = MembershipMessage::Request { number: newest.number, request: self.request };
        self.send_all(now_ns, &newest.ranks, &message);
    }

    fn ask(&mut self, now_ns: u64) {
        if self.incarnation == 0 {
            return;
        }
        for to in (0..self.params.ranks).filter(|to| *to != self.rank) {
            self.outputs
                .push_back(Output::Send { to, message: MembershipMessage::Join { incarnation: self.incarnation } });
        }
        self.retry_at_ns = Some(now_ns.saturating_add(self.params.retry_ns));
    }

    fn send_all(&mut self, now_ns: u64, ranks: &Ranks, message: &MembershipMessage) {
        // This rank last: handling its own message may send more, which must follow this one.
        let rank = self.rank;
        let own = ranks.contains(rank).then_some(rank);
        for to in ranks.iter().filter(|to| *to != rank).chain(own) {
            self.send(now_ns, to, message.clone());
        }
    }

    fn send(&mut self, now_ns: u64, to: usize, message: MembershipMessage) {
        if to == self.rank {
            // Own messages are never bad.
            let _ = self.handle_message(now_ns, to, message);
        } else {
            self.outputs.push_back(Output::Send { to, message });
        }
    }
}

/// Ranks that may coordinate a change, in order.
fn coordinators(change: &Change) -> impl Iterator<Item = usize> {
    let joining = change.joined.map(|(rank, _)| usize::from(rank));
    change.remain.iter().filter(move |rank| Some(*rank) != joining)
}
