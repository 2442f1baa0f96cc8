//! Views: which ranks take part, and what they use alike, agreed upon by the ranks themselves.
//!
//! Why: a dead rank would cost every stage its bound for the rest of the job; and ranks that differ in the bound or in
//! the Hadamard transform would drop one another's packets. Ranks that were silent for K collectives are reported to
//! all, and what a rank wants to be changed (the bound, the transform) is sent to all as a [`Request`]. Once a quorum
//! reports a rank, or enough ranks request something, the coordinator (the lowest rank not so reported) has a new [`View`] decided,
//! which all ranks use from the same collective on. A rank that was dropped, or was started again, asks to join, and learns
//! everything from the view in which it does; if it was not dropped yet, it is dropped before, and need not be silent for K.
//!
//! * A quorum of a view: more than half of its ranks, or exactly half if its lowest rank is among them. Two quorums
//!   always share a rank, so a minority never goes on without the majority; it waits.
//! * View n + 1 is decided by the ranks of view n in one instance of Paxos (Lamport 2001): prepare, promise, accept,
//!   accepted. Of one number there is never a second view, whoever crashes and however late messages are. If the
//!   coordinator does not finish in time, the next lowest rank takes over with a higher ballot.
//! * The transform begins when any rank asks for it, and ends when all do. A rank takes back that it wants it to end, but not
//!   that it wants it to begin.
//! * Any rank may ask to fall back: from the view on that says so, collectives are made on other data planes, for good.
//! * A bound is what the ranks of the view ask for: of all but one of them at least, the second largest; of two ranks the
//!   larger. So with four ranks and more neither one that is frozen nor one that lies sets it. Who asks for the transform may ask for
//!   up to twice the bound with it.
//! * A rank that joins begins once another one has begun to use the view, or it would be alone there, and take all others for
//!   silent.
//! * All ranks switch at the same collective: a rank that has promised starts no further collective until the view is
//!   known. If all that remain have promised, the view begins with the first collective that none of them has started. If
//!   only a quorum has: a rank may be at most `lead_ops` collectives ahead of what a quorum of its view said, on the
//!   reliable channel, it had reached, so none can have passed the collective that is `lead_ops` after the last one a quorum
//!   had reached when it promised.
//!
//! Needs: a reliable channel, in order per pair of ranks, of any delay; a rank that crashes loses what it knew and may
//! come back by [`Membership::join`] only. Packets must tell views apart: [`View::job_tag`].
//! Limits: [`RANKS_MAX`] ranks; one joins at a time; with two ranks the lower one survives the loss of the other, not the reverse.
//! What a rank that joins needs besides (the model) is the trainer's to send.
//! Source: ours; the paper is silent.

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

/// Views that are kept for ranks that lag behind; further behind, they must join anew.
const VIEWS_KEPT: usize = 16;
/// Takeover attempts after which waiting times are not doubled any more.
const BACKOFF_MAX: u32 = 8;

/// What [`Membership`] wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Send a message on the reliable channel.
    Send {
        /// To this rank.
        to: usize,
        /// The message.
        message: MembershipMessage,
    },
    /// Tell the user: nothing came from this rank for K collectives in a row.
    Silent {
        /// The rank.
        rank: usize,
    },
    /// A view was decided; [`Membership::view_of`] knows from when it is used.
    View(View),
    /// This rank was dropped: it may [`join`](Membership::join) again.
    Dropped,
}

/// Numbers of the agreement; the same on all ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MembershipParams {
    /// Ranks of the job, 1 to [`RANKS_MAX`].
    pub ranks: usize,
    /// K: collectives in a row without a sign of a rank after which it is silent. `None`: the members are fixed, none is ever
    /// dropped or joins; views then change their settings only. Default 3.
    pub silent_ops: Option<u32>,
    /// And how long they must have taken at least, in ns. Default 100 ms. Shorter than a message's way on the reliable
    /// channel: ranks that wait for an agreement are taken for dead; too long: a dead rank costs bounds for so long.
    pub silent_ns: u64,
    /// Collectives that a rank may be ahead of a quorum's last word; a new view is used so much later if not all ranks that
    /// remain have promised, or if one joins. Default 32. It must exceed the collectives prepared ahead and what runs
    /// during a message's way; too large: two ranks that die at a time cost so many collectives their bound.
    pub lead_ops: u32,
    /// How long the next coordinator waits before it takes over, and how often a waiting rank asks, in ns. Default 20 ms;
    /// several times a message's way.
    pub retry_ns: u64,
    /// What t_B may be if it is measured while the job runs; `None`, the default: it stays as it is.
    pub bound: Option<BoundParams>,
}

impl MembershipParams {
    /// The defaults for a job of `ranks`.
    pub fn new(ranks: usize) -> Self {
        Self { ranks, silent_ops: Some(3), silent_ns: 100_000_000, lead_ops: 32, retry_ns: 20_000_000, bound: None }
    }
}

/// The membership of one rank.
///
/// Call order: [`view_of`](Self::view_of) before each collective is prepared, [`observe`](Self::observe) when it is
/// finished, [`handle_message`](Self::handle_message) and, at [`next_timeout`](Self::next_timeout),
/// [`handle_timeout`](Self::handle_timeout); after each of them [`poll`](Self::poll) until `None`.
#[derive(Clone, Debug)]
pub struct Membership {
    params: MembershipParams,
    rank: usize,
    incarnation: u64,
    /// Decided views, the newest last; empty while this rank takes no part.
    views: VecDeque<View>,
    /// First collective not started.
    next_op: u32,
    /// `next_op` as last told to the others.
    told_op: u32,
    /// Collectives in a row in which each rank was silent, and when the first of them was finished.
    silent: Vec<(u32, u64)>,
    /// Ranks this rank suspects.
    suspects: Ranks,
    /// Ranks whose reliable channel has ended.
    gone: Ranks,
    /// Those of them that have a new one, with which they ask to take part again.
    back: Ranks,
    /// First collective not started when the last of them ended.
    gone_op: u32,
    /// This rank has joined with its newest view, and knows of no other rank that has begun to use it.
    is_ahead: bool,
    /// Incarnations that ask to join, and the last of each rank that did.
    joins: BTreeMap<usize, u64>,
    joined: Vec<u64>,
    /// How far each rank said it is under the newest view, and whom it suspects.
    reached: Vec<u32>,
    suspicions: Suspicions,
    /// What the ranks have requested of the view after the newest, and what this one still does.
    requests: Requests,
    request: Request,
    /// The decision about the view after the newest.
    paxos: Paxos,
    retry_at_ns: Option<u64>,
    /// When this rank, which waits for others, says so.
    waits_at_ns: Option<u64>,
    outputs: VecDeque<Output>,
}

impl Membership {
    /// A rank of a job that begins: view 0 has all ranks, and these settings.
    ///
    /// # Errors
    /// [`ParamError`] names the first number out of range.
    pub fn new(rank: usize, params: MembershipParams, settings: Settings) -> Result<Self, ParamError> {
        let mut membership = Self::outside(rank, params)?;
        if !settings.is_possible() {
            return Err(ParamError { name: "bound_ns", found: settings.bound_ns, min: 1, max: u32::MAX.into() });
        }
        membership.views.push_back(View::first(Ranks::all(params.ranks), settings));
        Ok(membership)
    }

    /// A rank that takes no part yet: [`join`](Self::join) asks the others.
    ///
    /// # Errors
    /// [`ParamError`] names the first number out of range.
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
            gone: Ranks::none(params.ranks),
            back: Ranks::none(params.ranks),
            gone_op: 0,
            is_ahead: false,
            joins: BTreeMap::new(),
            joined: vec![0; params.ranks],
            reached: vec![0; params.ranks],
            suspicions: Suspicions::new(params.ranks),
            requests: Requests::new(params.ranks),
            request: Request::default(),
            paxos: Paxos::default(),
            retry_at_ns: None,
            waits_at_ns: None,
            outputs: VecDeque::new(),
        }
    }

    /// Asks all ranks to let this one take part. What it knew of views is forgotten. `incarnation` must be above 0 and greater than
    /// at any time before, also after the process was started anew: the time of day will do.
    pub fn join(&mut self, now_ns: u64, incarnation: u64) {
        let outputs = std::mem::take(&mut self.outputs);
        *self = Self { incarnation, outputs, ..Self::blank(self.rank, self.params) };
        self.ask(now_ns);
    }

    /// This rank takes no part in the job until it [joins](Self::join): its process was started again.
    pub fn leave(&mut self) {
        *self = Self::blank(self.rank, self.params);
    }

    /// Whether ranks that are silent are dropped.
    pub fn drops_silent(&self) -> bool {
        self.params.silent_ops.is_some()
    }

    /// The newest view decided; `None` while this rank takes no part. It may not be in use yet.
    pub fn newest(&self) -> Option<&View> {
        self.views.back()
    }

    /// The views that are kept, oldest first.
    pub fn views(&self) -> impl Iterator<Item = &View> {
        self.views.iter()
    }

    /// The view that collective `op` uses, to be asked in the order of the collectives before one is prepared. `None`:
    /// not known yet, or this rank takes no part: ask again after messages. Without a quorum that never ends: the caller sets
    /// a deadline. A view once returned for a collective is final.
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
            self.reached[self.rank] = self.next_op.max(newest.first_op);
            if first_of_view {
                self.consider(now_ns);
            }
            // The rank that joins waits for it.
            if first_of_view && newest.joined.is_some()
                || self.next_op >= self.told_op.saturating_add((self.params.lead_ops / 4).max(1))
            {
                self.tell_progress(&newest);
            }
        }
        self.views.iter().rev().find(|view| view.first_op <= op).cloned()
    }

    /// Whether this rank waits for what others are to say about a collective that has ended, and begins no other: as long as it
    /// does, it tells them so, often enough that none takes it for dead.
    pub fn wait_for_others(&mut self, now_ns: u64, waits: bool) {
        let next_ns = now_ns.saturating_add((self.params.silent_ns / 4).max(1));
        self.waits_at_ns = (waits && self.drops_silent()).then(|| self.waits_at_ns.unwrap_or(next_ns));
    }

    /// The reliable channel to a rank has ended: K collectives without a sign of it are enough, however short.
    pub fn handle_gone(&mut self, rank: usize) {
        self.gone.insert(rank);
        self.back.remove(rank);
        self.gone_op = self.next_op;
    }

    /// There is a new reliable channel to a rank whose last one had ended; it counts from the view on in which the rank joins.
    pub fn handle_back(&mut self, rank: usize) {
        self.back.insert(rank);
    }

    /// A rank whose reliable channel has ended is about to be dropped. Until then it promises nothing, so that any view
    /// that still has it begins `lead_ops` late, and the one without it later still: other changes wait, for a few
    /// collectives, and come with that view.
    fn awaits_drop(&self, newest: &View) -> bool {
        let ops = self.params.silent_ops.unwrap_or(0).saturating_mul(2);
        newest.live().any(|rank| rank != self.rank && self.gone.contains(rank))
            && self.next_op < self.gone_op.saturating_add(ops)
    }

    /// Takes who was heard in a finished collective, and who had something to send but was not. Late packets count: a
    /// straggler is not silent. Ranks in neither set had nothing to send; one that is started again before it is dropped
    /// sends nothing until the view in which it joins. If the reliable channel of a rank has ended, that nothing came is enough.
    pub fn observe(&mut self, now_ns: u64, op: u32, heard: &Ranks, silent: &Ranks) {
        let Some(silent_ops) = self.params.silent_ops else { return };
        let Some(newest) = self.views.back().cloned() else { return };
        let Some(view) = self.views.iter().rev().find(|view| view.first_op <= op).cloned() else { return };
        let suspects = self.suspects.clone();
        let joins_later = |rank: usize| {
            let mut later = self.views.iter().filter(|later| later.first_op > op);
            later.any(|later| later.joined.is_some_and(|(joined, _)| usize::from(joined) == rank))
        };
        for rank in view.live().filter(|rank| newest.has(*rank) && *rank != self.rank && !joins_later(*rank)) {
            let (ops, since_ns) = &mut self.silent[rank];
            if heard.contains(rank) && !self.joins.contains_key(&rank) {
                *ops = 0;
                self.suspects.remove(rank);
                continue;
            }
            // Of a rank that died nothing comes, whether or not it had something to send: in a bucket of fewer beats than ranks, most
            // have not, and its owners are no quorum.
            if !silent.contains(rank) && !self.gone.contains(rank) {
                continue;
            }
            if *ops == 0 {
                *since_ns = now_ns;
            }
            *ops = ops.saturating_add(1);
            let long = now_ns.saturating_sub(*since_ns) >= self.params.silent_ns || self.gone.contains(rank);
            if *ops >= silent_ops && long && self.suspects.insert(rank) {
                self.outputs.push_back(Output::Silent { rank });
            }
        }
        if self.suspects != suspects {
            self.tell_suspects(now_ns, &newest);
        }
    }

    /// A rank that asks to join while it is still in the view was started again before it was missed: it takes no part until it
    /// joins, and is dropped at once.
    fn suspect_joining(&mut self, now_ns: u64, rank: usize) {
        let Some(newest) = self.views.back().cloned() else { return };
        if newest.has(rank) && rank != self.rank && self.suspects.insert(rank) {
            self.tell_suspects(now_ns, &newest);
        }
    }

    /// Requests a view with other settings. The transform stays requested until there is a view with it, its end while this rank
    /// requests it; a bound until there is one with another bound, or this rank requests another one, or none; none takes back no bound that the transform is to have.
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
            // A change that waited for a rank to be dropped may not have to any more.
            self.consider(now_ns);
        }
    }

    /// Asks the others to make collectives on other data planes from one of the next on, for good: [`Settings::fallback`].
    pub fn fall_back(&mut self, now_ns: u64) {
        self.request(now_ns, Request { fallback: true, ..self.request });
    }

    /// Takes a message of rank `from`.
    ///
    /// # Errors
    /// [`BadMessage`]: nothing of it was used.
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
                    return Err(bad("views that cannot be, or cannot follow one another"));
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
                    // It asks still: the coordinator's answer may have been lost with the channel between them.
                    let views = self.views.iter().cloned().collect();
                    self.send(now_ns, from, MembershipMessage::Views { views });
                }
                return Ok(());
            }
            MembershipMessage::Accept { view, .. } if !is_possible(view) || view.number == 0 => {
                return Err(bad("a view that cannot be"));
            }
            MembershipMessage::Promise { accepted: Some((_, view)), .. } if !is_possible(view) => {
                return Err(bad("it accepted a view that cannot be"));
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

    /// When [`handle_timeout`](Self::handle_timeout) is to be called.
    pub fn next_timeout(&self) -> Option<u64> {
        self.retry_at_ns.into_iter().chain(self.waits_at_ns).min()
    }

    /// Takes over from a coordinator that does not finish, or asks again if this rank waits.
    pub fn handle_timeout(&mut self, now_ns: u64) {
        if self.waits_at_ns.take_if(|at_ns| now_ns >= *at_ns).is_some()
            && let Some(newest) = self.views.back().cloned()
        {
            let message = MembershipMessage::Waits { number: newest.number };
            self.send_all(now_ns, &newest.ranks, &message);
        }
        if self.retry_at_ns.is_none_or(|at| now_ns < at) {
            return;
        }
        self.retry_at_ns = None;
        let Some(newest) = self.views.back().cloned() else { return self.ask(now_ns) };
        if self.paxos.is_bound() || self.change(&newest).is_some() {
            tracing::debug!(rank = self.rank, view = newest.number, "a view was not decided in time: another ballot");
            self.propose(now_ns, &newest);
        } else {
            self.tell_progress(&newest);
        }
    }

    /// What is to be done next, in order.
    pub fn poll(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// A message of a rank of the newest view that knows the same newest view.
    fn handle_current(&mut self, now_ns: u64, from: usize, message: MembershipMessage, newest: &View) {
        match message {
            MembershipMessage::Progress { next_op, .. } => {
                self.is_ahead &= next_op <= newest.first_op;
                self.reached[from] = self.reached[from].max(next_op);
                // Whoever cannot go on by this rank's last word gets a newer one.
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
                // Whoever has promised starts nothing more; a rank that joins is given time.
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

    /// Takes decided views that follow this rank's newest, or the one that answers its wish to join.
    fn adopt(&mut self, now_ns: u64, views: &[View]) {
        if self.views.is_empty() {
            let own = Some((self.rank as u16, self.incarnation));
            let Some(at) = views.iter().position(|view| view.joined == own) else { return };
            // The views before are for ranks that lag behind.
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
            // Too far behind: the views between are not known any more.
            self.drop_out();
            return;
        }
        if self.request != Request::default() {
            self.tell_request(now_ns, &newest);
        }
        // A rank that is alone has decided by now.
        let Some(newest) = self.views.back().cloned() else { return };
        if !self.suspicions.are(self.rank, &self.suspects) {
            self.tell_suspects(now_ns, &newest);
        }
        self.consider(now_ns);
    }

    fn enter(&mut self, view: &View) {
        if self.views.back().is_some_and(|last| last.settings.bound_ns != view.settings.bound_ns) {
            self.request.bound_ns = None; // it was for the bound before
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
        self.reached[self.rank] = self.next_op.max(view.first_op);
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
            self.silent[usize::from(rank)] = (0, 0);
            // It comes with a new channel, which may have ended since.
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
        self.incarnation = 0; // the view that answered the last wish is history
        self.request = Request::default();
        self.retry_at_ns = None;
        self.outputs.push_back(Output::Dropped);
    }

    /// First collective that this rank may not start on the word of the others: `lead_ops` more than a quorum has
    /// reached.
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

    /// How the next view is to differ, if there is any reason for one. The ranks that remain are always a quorum.
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
        // Whoever was started again before it was missed is dropped first, which takes no lead.
        let joined = self.joins.iter().find(|(rank, _)| !newest.has(**rank));
        let joined = joined.map(|(rank, incarnation)| (*rank as u16, *incarnation));
        let others = remain != newest.ranks || joined.is_some();
        if !others && self.awaits_drop(newest) {
            return None;
        }
        let change = Change { remain, joined, ..newest.change(&self.requests.together(newest)) };
        (others || change.settings != newest.settings).then_some(change)
    }

    /// Proposes if there is a reason and this rank is the coordinator; otherwise gives the coordinator its time.
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

    /// How many ranks are to coordinate before this one does.
    fn ranks_ahead(&self, newest: &View) -> usize {
        let change = self.change(newest).unwrap_or_else(|| newest.change(&Request::default()));
        coordinators(&change).take_while(|rank| *rank < self.rank).count()
    }

    /// Gives whoever coordinates time; longer with each attempt, and in the order of the ranks.
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
        // This rank last: what it does upon its own message must come after the others have been told.
        let rank = self.rank;
        let own = ranks.contains(rank).then_some(rank);
        for to in ranks.iter().filter(|to| *to != rank).chain(own) {
            self.send(now_ns, to, message.clone());
        }
    }

    /// Sends a message, or takes it itself if it is to this rank.
    fn send(&mut self, now_ns: u64, to: usize, message: MembershipMessage) {
        if to == self.rank {
            // Own messages are never bad.
            let _ = self.handle_message(now_ns, to, message);
        } else {
            self.outputs.push_back(Output::Send { to, message });
        }
    }
}

/// The ranks that may coordinate a change, in order: those that remain, but for the one that joins.
fn coordinators(change: &Change) -> impl Iterator<Item = usize> {
    let joining = change.joined.map(|(rank, _)| usize::from(rank));
    change.remain.iter().filter(move |rank| Some(*rank) != joining)
}
