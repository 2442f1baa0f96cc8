//! Ranks that agree on who takes part, over a reliable channel of random delay, in virtual time.
//!
//! The cluster below runs collectives on every rank, crashes ranks, starts them again and cuts them off, and checks with
//! every step, from outside, what must hold: of one number there is one view; no rank of a view runs a
//! collective of it in another; a quorum of each view is in the next; what a rank requests is met, unless it crashes. A seed
//! that fails is in the message; `run(seed)` replays it.

use std::collections::{BTreeMap, BTreeSet};

use optireduce_contract::ranks::words_for;
use optireduce_contract::signs::splitmix64;
use optireduce_core::protocol::membership::{Ballot, MembershipMessage, Output, Request, Settings};
use optireduce_core::protocol::{Membership, MembershipParams, View};
use optireduce_core::protocol::{RANKS_MAX, Ranks};

const OP_NS: u64 = 100_000;
const SETTINGS: Settings = Settings { hadamard: false, bound_ns: 1_000_000 };
const TRANSFORM: Request = Request { hadamard: Some(true), bound_ns: None };

struct Rank {
    membership: Membership,
    alive: bool,
    /// The collective that runs or is to be started, and whom it has heard since its start, if it runs.
    op: u32,
    running: bool,
    heard: Ranks,
    silent_reported: Ranks,
}

/// What happens at a time.
enum Event {
    /// A rank starts its next collective, or finishes the one that runs.
    Step(usize),
    Deliver {
        from: usize,
        to: usize,
        message: MembershipMessage,
    },
}

struct Cluster {
    name: String,
    random: u64,
    params: MembershipParams,
    now_ns: u64,
    delay_ns_max: u64,
    /// Rank b's bit in `deaf[a]`: a does not hear b's collectives; messages pass.
    deaf: Vec<u128>,
    ranks: Vec<Rank>,
    events: BTreeMap<(u64, u64), Event>,
    event_count: u64,
    /// When the newest message between two ranks arrives: channels are in order.
    last_arrival_ns: BTreeMap<(usize, usize), u64>,
    /// All views by number, and the view each collective was run with.
    views: BTreeMap<u32, View>,
    used: BTreeMap<u32, BTreeSet<(usize, u32)>>,
    /// What ranks have requested that have neither crashed nor been dropped since, and their newest view then.
    requests: Vec<(usize, Request, u32)>,
    /// Collectives' starts are refused so far, messages so far.
    waits: u64,
    messages: u64,
}

impl Cluster {
    fn new(name: &str, params: MembershipParams, delay_ns_max: u64, seed: u64) -> Self {
        let rank = |rank| Rank {
            membership: Membership::new(rank, params, SETTINGS).unwrap(),
            alive: true,
            op: 0,
            running: false,
            heard: Ranks::none(params.ranks),
            silent_reported: Ranks::none(params.ranks),
        };
        let mut cluster = Self {
            name: name.into(),
            random: seed,
            params,
            now_ns: 0,
            delay_ns_max,
            deaf: vec![0; params.ranks],
            ranks: (0..params.ranks).map(rank).collect(),
            events: BTreeMap::new(),
            event_count: 0,
            last_arrival_ns: BTreeMap::new(),
            views: BTreeMap::new(),
            used: BTreeMap::new(),
            requests: Vec::new(),
            waits: 0,
            messages: 0,
        };
        for rank in 0..params.ranks {
            let first = cluster.newest(rank);
            cluster.views.insert(0, first);
            let at = cluster.draw(OP_NS);
            cluster.at(at, Event::Step(rank));
        }
        cluster
    }

    fn draw(&mut self, below: u64) -> u64 {
        self.random = self.random.wrapping_add(1);
        splitmix64(self.random) % below.max(1)
    }

    fn at(&mut self, at_ns: u64, event: Event) {
        self.event_count += 1;
        self.events.insert((at_ns, self.event_count), event);
    }

    /// Runs until `end_ns`, or until `done` says so.
    fn run_until(&mut self, end_ns: u64, done: impl Fn(&Self) -> bool) -> bool {
        while !done(self) {
            let timeout = self.ranks.iter().enumerate().filter(|(_, rank)| rank.alive);
            let timeout =
                timeout.filter_map(|(index, rank)| rank.membership.next_timeout().map(|at| (at, index))).min();
            let event = self.events.first_key_value().map(|(at, _)| at.0).unwrap_or(u64::MAX);
            if event.min(timeout.map_or(u64::MAX, |(at, _)| at)) > end_ns {
                self.now_ns = end_ns;
                return false;
            }
            if let Some((at, rank)) = timeout.filter(|(at, _)| *at < event) {
                self.now_ns = self.now_ns.max(at);
                let now_ns = self.now_ns;
                self.ranks[rank].membership.handle_timeout(now_ns);
                assert!(
                    self.ranks[rank].membership.next_timeout().is_none_or(|at| at > now_ns),
                    "{}: rank {rank} asks to be called again at once",
                    self.name
                );
                self.poll(rank);
                continue;
            }
            let (at, event) = self.events.pop_first().unwrap();
            self.now_ns = self.now_ns.max(at.0);
            match event {
                Event::Step(rank) => self.step(rank),
                Event::Deliver { from, to, message } if self.ranks[to].alive => {
                    let now_ns = self.now_ns;
                    self.ranks[to].membership.handle_message(now_ns, from, message).unwrap();
                    self.poll(to);
                }
                Event::Deliver { .. } => {}
            }
        }
        true
    }

    fn run_for(&mut self, ns: u64) {
        let end_ns = self.now_ns + ns;
        self.run_until(end_ns, |_| false);
    }

    fn step(&mut self, rank: usize) {
        if !self.ranks[rank].alive {
            return;
        }
        let (now_ns, op) = (self.now_ns, self.ranks[rank].op);
        if self.ranks[rank].running {
            let heard = std::mem::replace(&mut self.ranks[rank].heard, Ranks::none(self.params.ranks));
            let mut silent = Ranks::all(self.params.ranks);
            silent.remove_all(&heard);
            self.ranks[rank].membership.observe(now_ns, op, &heard, &silent);
            self.ranks[rank].op += 1;
            self.ranks[rank].running = false;
            self.poll(rank);
        }
        let op = self.ranks[rank].op;
        match self.ranks[rank].membership.view_of(now_ns, op) {
            Some(view) => {
                assert!(view.has(rank), "{}: rank {rank} runs collective {op} in {view:?}", self.name);
                let (used, all) = (view.number, self.used.entry(op).or_default());
                all.insert((rank, used));
                // Ranks that were dropped may have gone on for a while, each for itself.
                let newest_used = all.iter().map(|(_, number)| *number).max().unwrap_or(used);
                for (other, number) in all.iter().filter(|(_, number)| *number < newest_used) {
                    let stays = self.views[&newest_used].has(*other);
                    assert!(!stays, "{}: collective {op} in view {number} on rank {other} of {newest_used}", self.name);
                }
                self.ranks[rank].running = true;
                for peer in view.live().filter(|peer| *peer != rank) {
                    // A packet is heard whenever it comes, as long as the peer knows the view.
                    let peer_view = self.ranks[peer].membership.newest().is_some_and(|newest| newest.number >= used);
                    if peer_view && self.deaf[peer] & 1 << rank == 0 {
                        self.ranks[peer].heard.insert(rank);
                    }
                }
            }
            None => self.waits += 1,
        }
        self.poll(rank);
        let pause = OP_NS / 2 + self.draw(OP_NS);
        self.at(now_ns + pause, Event::Step(rank));
    }

    fn poll(&mut self, rank: usize) {
        while let Some(output) = self.ranks[rank].membership.poll() {
            match output {
                Output::Send { to, message } => {
                    assert_ne!(to, rank, "{}: message to itself", self.name);
                    self.messages += 1;
                    // Most are quick, some take long.
                    let most = if self.draw(4) == 0 { self.delay_ns_max } else { self.delay_ns_max / 20 };
                    let arrival = self.now_ns + 1 + self.draw(most);
                    let last = self.last_arrival_ns.entry((rank, to)).or_insert(0);
                    *last = arrival.max(*last + 1);
                    let arrival = *last;
                    self.at(arrival, Event::Deliver { from: rank, to, message });
                }
                Output::Silent { rank: peer } => drop(self.ranks[rank].silent_reported.insert(peer)),
                Output::View(view) => {
                    let known = self.views.entry(view.number).or_insert_with(|| view.clone());
                    assert_eq!(*known, view, "{}: two views of one number, rank {rank}", self.name);
                    if view.joined.is_some_and(|(joined, _)| usize::from(joined) == rank) && !self.ranks[rank].running {
                        self.ranks[rank].op = self.ranks[rank].op.max(view.first_op);
                    }
                }
                Output::Dropped => {
                    let incarnation = self.now_ns + 1;
                    self.ranks[rank].running = false;
                    self.requests.retain(|(of, ..)| *of != rank);
                    self.ranks[rank].membership.join(self.now_ns, incarnation);
                }
            }
        }
    }

    /// A rank requests something, if it takes part.
    fn request(&mut self, rank: usize, request: Request) {
        let newest = self.ranks[rank].membership.newest().cloned();
        let Some(newest) = newest.filter(|_| self.ranks[rank].alive) else { return };
        self.requests.push((rank, request, newest.number));
        self.ranks[rank].membership.request(self.now_ns, request);
        self.poll(rank);
    }

    /// All ranks that take part request a bound; a single one would not be heard.
    fn request_bounds(&mut self, mut bound_ns: impl FnMut(usize) -> u64) {
        for rank in (0..self.ranks.len()).filter(|rank| self.ranks[*rank].alive).collect::<Vec<_>>() {
            let bound_ns = Some(bound_ns(rank));
            self.ranks[rank].membership.request(self.now_ns, Request { bound_ns, ..Request::default() });
            self.poll(rank);
        }
    }

    /// Every request was met by the view that its rank had then, or by a later one.
    fn are_requests_met(&self) -> bool {
        self.requests.iter().all(|(_, request, number)| {
            let met = |view: &View| request.hadamard.is_none_or(|hadamard| view.settings.hadamard == hadamard);
            self.views.range(number..).any(|(_, view)| met(view))
        })
    }

    /// The rank stops. What it sent last may be lost: of each channel an end of random length.
    fn crash(&mut self, rank: usize) {
        self.ranks[rank].alive = false;
        self.requests.retain(|(of, ..)| *of != rank);
        for to in 0..self.ranks.len() {
            let sent = self.events.iter().filter(
                |(_, event)| matches!(event, Event::Deliver { from, to: at, .. } if (*from, *at) == (rank, to)),
            );
            let mut sent: Vec<_> = sent.map(|(at, _)| *at).collect();
            let kept = self.draw(sent.len() as u64 + 1) as usize;
            for lost in sent.drain(kept..) {
                self.events.remove(&lost);
            }
        }
        // Its own steps, and what was on its way to it.
        self.events.retain(|_, event| match event {
            Event::Step(of) => *of != rank,
            Event::Deliver { to, .. } => *to != rank,
        });
    }

    fn restart(&mut self, rank: usize) {
        let mut membership = Membership::outside(rank, self.params).unwrap();
        membership.join(self.now_ns, self.now_ns + 1);
        let none = || Ranks::none(self.params.ranks);
        self.ranks[rank] =
            Rank { membership, alive: true, op: 0, running: false, heard: none(), silent_reported: none() };
        self.at(self.now_ns, Event::Step(rank));
        self.poll(rank);
    }

    fn live(&self) -> u128 {
        self.ranks.iter().enumerate().map(|(rank, state)| u128::from(state.alive) << rank).sum()
    }

    /// All live ranks know and use one view, and it has just them.
    fn is_settled(&self) -> bool {
        let newest = self.ranks.iter().filter(|rank| rank.alive).map(|rank| rank.membership.newest());
        let newest: BTreeSet<_> =
            newest.map(|view| view.map(|view| (view.number, mask(&view.ranks), view.first_op))).collect();
        let settled = |first_op| {
            self.ranks.iter().all(|rank| !rank.alive || rank.op > first_op || rank.running && rank.op == first_op)
        };
        newest.len() == 1
            && newest
                .first()
                .copied()
                .flatten()
                .is_some_and(|(_, ranks, first_op)| ranks == self.live() && settled(first_op))
    }

    fn check_views(&self) {
        for (one, two) in self.views.values().zip(self.views.values().skip(1)) {
            assert_eq!(one.number + 1, two.number, "{}", self.name);
            assert!(one.first_op < two.first_op, "{}: {one:?} {two:?}", self.name);
            assert!(one.is_quorum(&two.ranks), "{}: a minority went on: {one:?} {two:?}", self.name);
            let same = one.ranks == two.ranks && two.joined.is_none();
            assert_eq!(two.epoch, if same { one.epoch } else { two.number }, "{}: {one:?} {two:?}", self.name);
        }
    }

    fn newest_of_all(&self) -> View {
        self.views.last_key_value().unwrap().1.clone()
    }

    /// Live ranks that have not forgotten their promises.
    fn members_alive(&self) -> u128 {
        let is_member = |rank: &Rank| rank.alive && rank.membership.newest().is_some();
        self.ranks.iter().enumerate().map(|(rank, state)| u128::from(is_member(state)) << rank).sum()
    }

    fn newest(&self, rank: usize) -> View {
        self.ranks[rank].membership.newest().unwrap().clone()
    }
}

/// Bit r: whether rank r, below 128, is in the set.
fn mask(ranks: &Ranks) -> u128 {
    ranks.iter().map(|rank| 1 << rank).sum()
}

/// The ranks whose bits are set, with room for the words of a job of `ranks`.
fn set(mask: u128, ranks: usize) -> Ranks {
    let words = [mask as u64, (mask >> 64) as u64];
    Ranks::of_words(words[..words_for(ranks)].to_vec())
}

fn params(ranks: usize) -> MembershipParams {
    MembershipParams { silent_ns: 0, lead_ops: 16, retry_ns: 5_000_000, ..MembershipParams::new(ranks) }
}

fn cluster(name: &str, ranks: usize) -> Cluster {
    Cluster::new(name, params(ranks), 20_000, 1)
}

#[test]
fn without_faults_the_first_view_stays_and_nobody_waits() {
    let mut cluster = Cluster::new("quiet", MembershipParams { lead_ops: 64, ..params(4) }, 20_000, 1);
    cluster.run_for(1000 * OP_NS);
    assert_eq!((cluster.views.len(), cluster.waits), (1, 0));
    assert!(cluster.ranks.iter().all(|rank| rank.op > 900 && rank.silent_reported.is_empty()));
    // Progress every 16 collectives to 3 peers.
    assert!(cluster.messages <= 1050 / 16 * 4 * 3, "{} messages", cluster.messages);
}

#[test]
fn a_silent_rank_is_reported_after_three_collectives_and_dropped_by_all_at_once() {
    let mut cluster = cluster("crash of rank 3", 4);
    cluster.run_for(50 * OP_NS);
    cluster.crash(3);
    let (op_min, op_max) =
        (0..3).map(|rank| cluster.ranks[rank].op).fold((u32::MAX, 0), |(min, max), op| (min.min(op), max.max(op)));
    assert!(cluster.run_until(1_000_000_000, Cluster::is_settled));
    let view = cluster.newest(0);
    assert_eq!((view.number, mask(&view.ranks), view.joined), (1, 0b0111, None));
    // Three silent collectives, and one while ranks agree: all that remain do, so there is no lead.
    assert!((op_min + 3..=op_max + 6).contains(&view.first_op), "{op_min} to {op_max}: {view:?}");
    assert!((0..3).all(|rank| cluster.ranks[rank].silent_reported.iter().eq([3])));
    assert_eq!((view.live().collect::<Vec<_>>(), view.has(3)), (vec![0, 1, 2], false));
}

#[test]
fn a_dead_rank_of_a_hundred_is_dropped_and_may_come_back() {
    for (seed, dead) in [(1, 99), (2, 0), (3, 64)] {
        // Of a hundred ranks some are always a few collectives behind.
        let params = MembershipParams { silent_ns: 20 * OP_NS, ..params(100) };
        let mut cluster = Cluster::new(&format!("rank {dead} of 100, seed {seed}"), params, 20_000, seed);
        cluster.run_for(10 * OP_NS);
        cluster.crash(dead);
        assert!(cluster.run_until(1_000_000_000, Cluster::is_settled), "{}", cluster.name);
        let others: Vec<_> = (0..100).filter(|rank| *rank != dead).collect();
        let view = cluster.newest(others[0]);
        assert_eq!((view.number, view.live().collect::<Vec<_>>()), (1, others.clone()), "{}", cluster.name);
        // A quorum has found it silent, and nobody else was.
        let reports =
            others.iter().map(|rank| &cluster.ranks[*rank].silent_reported).filter(|silent| !silent.is_empty());
        let reports: Vec<_> = reports.collect();
        assert!(reports.len() > 49 && reports.iter().all(|silent| silent.iter().eq([dead])), "{}", cluster.name);
        cluster.restart(dead);
        assert!(cluster.run_until(2_000_000_000, Cluster::is_settled), "{}", cluster.name);
        assert_eq!(cluster.newest(dead).ranks, Ranks::all(100), "{}", cluster.name);
        cluster.check_views();
    }
}

#[test]
fn the_next_rank_takes_over_from_a_dead_coordinator() {
    let mut cluster = cluster("crash of rank 0", 5);
    cluster.run_for(50 * OP_NS);
    cluster.crash(0);
    assert!(cluster.run_until(1_000_000_000, Cluster::is_settled));
    assert_eq!(mask(&cluster.newest(1).ranks), 0b11110);
    cluster.crash(1);
    assert!(cluster.run_until(2_000_000_000, Cluster::is_settled));
    assert_eq!((cluster.newest(2).number, mask(&cluster.newest(2).ranks)), (2, 0b11100));
}

#[test]
fn an_agreement_survives_the_coordinator_that_began_it() {
    for sent in 1..12 {
        let mut cluster = cluster("crash in an agreement", 5);
        cluster.run_for(50 * OP_NS);
        cluster.crash(4);
        let begun = |cluster: &Cluster| cluster.ranks[0].membership.next_timeout().is_some();
        assert!(cluster.run_until(1_000_000_000, begun));
        let messages = cluster.messages;
        assert!(cluster.run_until(1_000_000_000, |cluster| cluster.messages >= messages + sent));
        cluster.crash(0);
        assert!(cluster.run_until(5_000_000_000, Cluster::is_settled), "{sent} messages after the first");
        assert_eq!(mask(&cluster.newest(1).ranks), 0b01110);
        cluster.check_views();
    }
}

#[test]
fn a_minority_waits_for_ever_and_the_majority_goes_on() {
    let mut cluster = cluster("two of five left", 5);
    cluster.run_for(50 * OP_NS);
    for rank in [0, 2, 4] {
        cluster.crash(rank);
    }
    cluster.run_for(2_000_000_000);
    assert_eq!(cluster.views.len(), 1);
    assert!(cluster.ranks[1].op < 50 * 2 + 16 + 3, "collective {}", cluster.ranks[1].op);
    assert!(cluster.ranks[1].membership.next_timeout().is_some());

    let mut cluster = self::cluster("cut in two and three", 5);
    cluster.run_for(50 * OP_NS);
    cluster.deaf = vec![0b11100, 0b11100, 0b00011, 0b00011, 0b00011];
    cluster.run_for(20_000_000);
    // Ranks 0 and 1 are dropped, and ask to join again and again; what has one of them always has the other three.
    let (first, majority) = (&cluster.views[&1], set(0b11100, 5));
    assert!(first.ranks == majority || first.ranks.len() == 4, "{first:?}");
    assert!(cluster.views.values().all(|view| view.ranks.is_superset(&majority)), "{:?}", cluster.views);
    cluster.check_views();
}

#[test]
fn of_two_ranks_only_the_lower_goes_on_alone() {
    for (crashed, views) in [(1, 2), (0, 1)] {
        let mut cluster = cluster("two ranks", 2);
        cluster.run_for(50 * OP_NS);
        cluster.crash(crashed);
        cluster.run_for(1_000_000_000);
        assert_eq!(cluster.views.len(), views, "rank {crashed} crashed");
    }
}

#[test]
fn a_rank_that_was_dropped_comes_back_with_the_next_view() {
    let mut cluster = cluster("come back", 4);
    cluster.run_for(50 * OP_NS);
    cluster.crash(2);
    assert!(cluster.run_until(1_000_000_000, Cluster::is_settled));
    cluster.run_for(100 * OP_NS);
    cluster.restart(2);
    assert!(cluster.run_until(2_000_000_000, Cluster::is_settled));
    let view = cluster.newest(0);
    assert_eq!((view.number, mask(&view.ranks), view.joined.map(|joined| joined.0)), (2, 0b1111, Some(2)));
    // And it is a full member: it drops the coordinator with the others.
    cluster.crash(0);
    assert!(cluster.run_until(3_000_000_000, Cluster::is_settled));
    assert_eq!(mask(&cluster.newest(2).ranks), 0b1110);
    cluster.check_views();
}

#[test]
fn a_rank_started_anew_before_it_was_missed_joins_without_being_dropped() {
    let mut cluster = cluster("quick restart", 3);
    cluster.run_for(50 * OP_NS);
    cluster.crash(0);
    cluster.restart(0);
    assert!(cluster.run_until(1_000_000_000, Cluster::is_settled));
    let view = cluster.newest(0);
    assert_eq!((view.number, view.joined.map(|joined| joined.0)), (1, Some(0)));
    // The wish again, late: it is fulfilled.
    let (now_ns, incarnation) = (cluster.now_ns, view.joined.unwrap().1);
    for rank in [1, 2] {
        cluster.ranks[rank].membership.handle_message(now_ns, 0, MembershipMessage::Join { incarnation }).unwrap();
        cluster.poll(rank);
    }
    cluster.run_for(100 * OP_NS);
    assert_eq!(cluster.views.len(), 2);
}

/// A random job: crashes (also of two ranks, one soon after the other, in the middle of an agreement), restarts and
/// outages at random times under random delays; then peace, in which all live ranks must come to share one view, unless
/// no quorum of the newest is left. Returns the views decided, and whether they came to share one.
fn run(seed: u64) -> (usize, bool) {
    let mut draws = (0..).map(|turn| splitmix64(seed << 16 | turn));
    let mut draw = |below: u64| draws.next().unwrap() % below;
    let ranks = 2 + draw(8) as usize;
    let delay_ns_max = [20_000, 1_000_000, 30_000_000][draw(3) as usize];
    let lead_ops = [4, 16, 64][draw(3) as usize];
    let retry_ns = [200_000, 5_000_000, 50_000_000][draw(3) as usize];
    let silent_ns = 4 * delay_ns_max;
    let params = MembershipParams { silent_ns, lead_ops, retry_ns, ..MembershipParams::new(ranks) };
    let name = format!("seed {seed}: {ranks} ranks, delay {delay_ns_max} ns, {params:?}");
    let mut cluster = Cluster::new(&name, params, delay_ns_max, splitmix64(seed));
    for _ in 0..1 + draw(8) {
        let pause_ns = [2_000_000, 60_000_000, 200_000_000][draw(3) as usize];
        cluster.run_for(draw(pause_ns));
        let rank = draw(ranks as u64) as usize;
        match draw(9) {
            6 => cluster.request(rank, TRANSFORM),
            7 => cluster.request_bounds(|_| 1 + draw(5)),
            8 => {
                let bound_ns = 1 + draw(5);
                cluster.request_bounds(|_| bound_ns);
            }
            0 => cluster.deaf[rank] = draw(1 << ranks).into(),
            1 => cluster.deaf.fill(0),
            _ if !cluster.ranks[rank].alive => cluster.restart(rank),
            _ => {
                let newest = cluster.newest_of_all();
                if newest.is_quorum(&set(cluster.members_alive() & !(1 << rank), ranks)) {
                    cluster.crash(rank);
                }
            }
        }
    }
    cluster.deaf.fill(0);
    let is_over = |cluster: &Cluster| cluster.is_settled() && cluster.are_requests_met();
    let mut settled = cluster.run_until(cluster.now_ns + 20_000_000_000, is_over);
    if !settled && cluster.newest_of_all().is_quorum(&set(cluster.members_alive(), ranks)) {
        settled = cluster.run_until(cluster.now_ns + 600_000_000_000, is_over);
        let newest: Vec<_> = cluster.ranks.iter().map(|rank| (rank.alive, rank.op, rank.membership.newest())).collect();
        let requests = &cluster.requests;
        assert!(settled, "{name}: no common view after ten minutes: {newest:?}, requests {requests:?}");
    }
    cluster.check_views();
    (cluster.views.len(), settled)
}

#[test]
fn a_request_is_met_at_the_same_collective_on_all_ranks_without_dropping_any() {
    for silent_ops in [Some(3), None] {
        let mut cluster = Cluster::new("requests", MembershipParams { silent_ops, ..params(5) }, 20_000, 1);
        cluster.run_for(50 * OP_NS);
        cluster.request(3, TRANSFORM);
        cluster.request_bounds(|_| 77);
        let requested_ns = cluster.now_ns;
        let is_met = |cluster: &Cluster| cluster.are_requests_met() && cluster.newest_of_all().settings.bound_ns == 77;
        assert!(cluster.run_until(requested_ns + 20 * OP_NS, is_met));
        assert!(cluster.run_until(requested_ns + 40 * OP_NS, Cluster::is_settled));
        let newest = cluster.newest(4);
        assert_eq!(newest.settings, Settings { hadamard: true, bound_ns: 77 });
        assert_eq!((mask(&newest.ranks), newest.epoch, newest.job_tag(9)), (0b11111, 0, 9), "packets stay the same");
        // `step` has checked that ranks are never in two views in one collective.
        let switched: BTreeSet<_> = cluster.used[&newest.first_op].iter().map(|(_, number)| *number).collect();
        assert_eq!(switched, [newest.number].into());
        // And what is so already changes nothing.
        let views = cluster.views.len();
        cluster.request(2, TRANSFORM);
        cluster.run_for(100 * OP_NS);
        assert_eq!(cluster.views.len(), views);
    }
}

/// Of those that have not heard it none can know, and the next view may come from one of them; whoever still sees the loss
/// requests it again.
#[test]
fn a_request_outlives_the_rank_that_made_it_once_the_next_coordinator_has_heard_it() {
    for (requester, coordinator, heard) in (0..32).flat_map(|heard| [(0, 1, heard), (2, 0, heard)]) {
        let mut cluster = cluster(&format!("rank {requester} requests and crashes, heard by {heard:#b}"), 5);
        cluster.run_for(50 * OP_NS);
        cluster.request(requester, TRANSFORM);
        cluster.ranks[requester].alive = false;
        cluster.requests.clear();
        let mut requests = 0;
        cluster.events.retain(|_, event| match event {
            Event::Deliver { from, to, message: MembershipMessage::Request { .. } } if *from == requester => {
                requests += 1;
                heard & 1 << *to != 0
            }
            Event::Deliver { from, .. } => *from != requester,
            Event::Step(_) => true,
        });
        assert_eq!(requests, 4, "{}", cluster.name);
        assert!(cluster.run_until(5_000_000_000, Cluster::is_settled), "{}", cluster.name);
        cluster.run_for(100 * OP_NS);
        let on = cluster.newest_of_all().settings.hadamard;
        assert!(on || heard & 1 << coordinator == 0, "{}: {:?}", cluster.name, cluster.views);
        assert!(!on || heard & !(1 << requester) != 0, "{}: {:?}", cluster.name, cluster.views);
        cluster.check_views();
    }
}

#[test]
fn a_rank_that_joins_late_learns_the_settings_from_its_view() {
    let mut cluster = cluster("late joiner", 4);
    cluster.run_for(50 * OP_NS);
    cluster.crash(3);
    assert!(cluster.run_until(1_000_000_000, Cluster::is_settled));
    cluster.request(1, TRANSFORM);
    cluster.request_bounds(|_| 77);
    let is_met = |cluster: &Cluster| cluster.are_requests_met() && cluster.newest_of_all().settings.bound_ns == 77;
    assert!(cluster.run_until(2_000_000_000, |cluster| cluster.is_settled() && is_met(cluster)));
    cluster.restart(3);
    assert!(cluster.run_until(3_000_000_000, Cluster::is_settled));
    let newest = cluster.newest(3);
    assert_eq!((mask(&newest.ranks), newest.settings), (0b1111, Settings { hadamard: true, bound_ns: 77 }));
    assert_eq!(newest.epoch, newest.number, "other members, other packets");
    cluster.check_views();
}

/// Of all but one rank, the second largest.
#[test]
fn neither_a_rank_that_says_nothing_nor_one_that_lies_sets_the_bound() {
    let bound_of = |ranks: usize, asks: &[Option<u64>]| {
        let mut cluster = cluster(&format!("{ranks} ranks ask for {asks:?}"), ranks);
        cluster.run_for(50 * OP_NS);
        for (rank, bound_ns) in asks.iter().enumerate() {
            let request = Request { bound_ns: *bound_ns, ..Request::default() };
            cluster.ranks[rank].membership.request(cluster.now_ns, request);
            cluster.poll(rank);
        }
        cluster.run_for(100 * OP_NS);
        cluster.check_views();
        cluster.newest_of_all().settings.bound_ns
    };
    let unchanged = SETTINGS.bound_ns;
    for liar in 0..4 {
        for lie in [1, u64::from(u32::MAX)] {
            let mut asks = [Some(70), Some(71), Some(72), Some(73)];
            asks[liar] = Some(lie);
            assert!((70..=73).contains(&bound_of(4, &asks)), "rank {liar} says {lie}");
            let silent = (liar + 1) % 4;
            asks[silent] = None;
            assert!((70..=73).contains(&bound_of(4, &asks)), "rank {liar} says {lie}, rank {silent} nothing");
            asks[(liar + 2) % 4] = None;
            assert_eq!(bound_of(4, &asks), unchanged, "two of four say nothing: {asks:?}");
        }
    }
    assert_eq!(bound_of(2, &[Some(70), None]), unchanged);
    assert_eq!(bound_of(2, &[Some(70), Some(90)]), 90);
    assert_eq!(bound_of(3, &[Some(70), Some(90), Some(80)]), 80);
}

/// As a rank does that has seen again what fits.
#[test]
fn a_rank_may_take_back_the_bound_that_it_asked_for() {
    let mut cluster = cluster("taken back", 3);
    cluster.run_for(50 * OP_NS);
    for (rank, bound_ns) in [(0, Some(77)), (0, None), (1, Some(78))] {
        cluster.ranks[rank].membership.request(cluster.now_ns, Request { bound_ns, ..Request::default() });
        cluster.poll(rank);
        cluster.run_for(20 * OP_NS);
    }
    assert_eq!(cluster.views.len(), 1, "one of three asks: {:?}", cluster.views);
    cluster.ranks[2].membership.request(cluster.now_ns, Request { bound_ns: Some(79), ..Request::default() });
    cluster.poll(2);
    cluster.run_for(100 * OP_NS);
    assert_eq!(cluster.newest_of_all().settings.bound_ns, 79);
}

/// Fixed members: ranks crash, and no view has other members; whatever ranks request that live on is met, as long as they
/// are a quorum.
#[test]
fn fixed_ranks_agree_on_settings_whoever_crashes_and_however_late_messages_are() {
    let (mut views, mut met) = (0, 0);
    for seed in 0..2000 {
        let mut draws = (0..).map(|turn| splitmix64(seed << 16 | turn));
        let mut draw = |below: u64| draws.next().unwrap() % below;
        let ranks = 1 + draw(8) as usize;
        let delay_ns_max = [20_000, 1_000_000, 30_000_000][draw(3) as usize];
        let retry_ns = [200_000, 5_000_000, 50_000_000][draw(3) as usize];
        let params = MembershipParams { silent_ops: None, silent_ns: 0, retry_ns, ..params(ranks) };
        let name = format!("seed {seed}: {ranks} fixed ranks, delay {delay_ns_max} ns, {params:?}");
        let mut cluster = Cluster::new(&name, params, delay_ns_max, splitmix64(seed));
        for _ in 0..1 + draw(8) {
            let pause_ns = [2_000_000, 60_000_000][draw(2) as usize];
            cluster.run_for(draw(pause_ns));
            let rank = draw(ranks as u64) as usize;
            match draw(4) {
                _ if !cluster.ranks[rank].alive => {}
                0 if cluster.newest_of_all().is_quorum(&set(cluster.live() & !(1 << rank), ranks)) => {
                    cluster.crash(rank)
                }
                1 => cluster.request_bounds(|_| 1 + draw(5)),
                _ => cluster.request(rank, TRANSFORM),
            }
        }
        let is_over = |cluster: &Cluster| {
            let newest: BTreeSet<_> =
                (0..ranks).filter(|rank| cluster.ranks[*rank].alive).map(|rank| cluster.newest(rank).number).collect();
            newest.len() == 1 && cluster.are_requests_met()
        };
        assert!(cluster.run_until(cluster.now_ns + 600_000_000_000, is_over), "{name}: {:?}", cluster.requests);
        cluster.check_views();
        assert!(cluster.views.values().all(|view| view.epoch == 0 && view.ranks == cluster.views[&0].ranks), "{name}");
        views += cluster.views.len();
        met += cluster.requests.len();
    }
    assert!(views > 4000 && met > 4000, "{views} views, {met} requests: nothing happens");
}

#[test]
fn whoever_crashes_and_however_late_messages_are_live_ranks_end_in_one_view() {
    let (mut views, mut settled, seeds) = (0, 0, 2000);
    for seed in 0..seeds {
        let (seed_views, seed_settled) = run(seed);
        views += seed_views;
        settled += usize::from(seed_settled);
    }
    println!("{views} views, {settled} of {seeds} seeds ended in one view");
    assert!(views > 3 * seeds as usize, "only {views} views: the faults do nothing");
    assert!(settled > seeds as usize * 9 / 10, "only {settled} of {seeds} seeds had a quorum in the end");
}

#[test]
fn messages_that_no_rank_can_have_sent_are_refused() {
    let mut membership = Membership::new(1, params(4), SETTINGS).unwrap();
    let view = View { number: 1, first_op: 20, ..View::first(Ranks::all(3), SETTINGS) };
    let outside = View { ranks: set(0b10111, 4), ..view.clone() };
    let bound_ns = |bound_ns| Settings { bound_ns, ..SETTINGS };
    let request = |bound_ns| Request { bound_ns: Some(bound_ns), ..Request::default() };
    let ballot = Ballot { attempt: 1, rank: 0 };
    for message in [
        MembershipMessage::Accept { ballot, view: View { ranks: set(0b10111, 4), ..view.clone() } },
        MembershipMessage::Accept { ballot, view: View { ranks: set(0, 4), ..view.clone() } },
        MembershipMessage::Accept { ballot, view: View { number: 0, ..view.clone() } },
        MembershipMessage::Accept { ballot, view: View { joined: Some((700, 1)), ..view.clone() } },
        MembershipMessage::Views { views: vec![view.clone(), View { number: 3, first_op: 40, ..view.clone() }] },
        MembershipMessage::Views { views: vec![view.clone(), View { number: 2, ..view.clone() }] },
        MembershipMessage::Views { views: vec![View { ranks: set(1 << 63, 4), ..view.clone() }] },
        MembershipMessage::Views { views: vec![View { epoch: 2, ..view.clone() }] },
        MembershipMessage::Views { views: vec![View { settings: bound_ns(0), ..view.clone() }] },
        MembershipMessage::Accept { ballot, view: View { settings: bound_ns(1 << 32), ..view.clone() } },
        MembershipMessage::Accept { ballot, view: View { ranks: Ranks::none(65).with([1]), ..view.clone() } },
        MembershipMessage::Promise { number: 0, ballot, next_op: 2, accepted: Some((ballot, outside)) },
        MembershipMessage::Suspect { number: 0, suspects: set(0b10000, 4) },
        MembershipMessage::Suspect { number: 0, suspects: Ranks::none(65) },
        MembershipMessage::Request { number: 0, request: request(0) },
        MembershipMessage::Request { number: 0, request: request(1 << 32) },
    ] {
        assert!(membership.handle_message(0, 0, message.clone()).is_err(), "{message:?}");
    }
    let error = membership.handle_message(0, 4, MembershipMessage::Join { incarnation: 1 }).unwrap_err();
    assert_eq!(error.to_string(), "membership message from rank 4: no such rank; expected one of a job of 4 ranks");
    assert_eq!(membership.newest().map(|view| view.number), Some(0));
    assert!(membership.poll().is_none());
    assert_eq!(
        Membership::new(4, params(4), SETTINGS).unwrap_err().to_string(),
        "job parameter rank is 4, expected 0 to 3"
    );
    let new = |ranks, settings| Membership::new(0, params(ranks), settings);
    assert!(new(RANKS_MAX + 1, SETTINGS).is_err() && new(RANKS_MAX, SETTINGS).is_ok());
    assert!(new(4, Settings { bound_ns: 0, ..SETTINGS }).is_err());
    // Of fixed ranks none can join.
    let fixed = MembershipParams { silent_ops: None, ..params(4) };
    let mut membership = Membership::new(1, fixed, SETTINGS).unwrap();
    assert!(membership.handle_message(0, 0, MembershipMessage::Join { incarnation: 1 }).is_err());
}

#[test]
fn ranks_that_all_suspect_one_another_do_not_drop_below_a_quorum() {
    let mut membership = Membership::new(0, params(3), SETTINGS).unwrap();
    for op in 0..3 {
        assert!(membership.view_of(0, op).is_some());
        membership.observe(0, op, &Ranks::default(), &Ranks::all(3));
    }
    for (from, suspects) in [(1, 0b100), (2, 0b010)] {
        membership
            .handle_message(0, from, MembershipMessage::Suspect { number: 0, suspects: set(suspects, 3) })
            .unwrap();
    }
    let ballot = Ballot { attempt: 1, rank: 0 };
    membership
        .handle_message(0, 1, MembershipMessage::Promise { number: 0, ballot, next_op: 2, accepted: None })
        .unwrap();
    let accept = std::iter::from_fn(|| membership.poll()).find_map(|output| match output {
        Output::Send { message: MembershipMessage::Accept { view, .. }, .. } => Some(view),
        _ => None,
    });
    // Both others are suspected by two of three; without either one no quorum of the three would remain.
    assert_eq!(accept, Some(View { number: 1, first_op: 3, epoch: 1, ..View::first(set(0b011, 3), SETTINGS) }));
    assert!(membership.view_of(0, 3).is_none(), "bound by its own promise");
}

#[test]
fn only_the_answer_to_its_last_wish_lets_a_rank_in() {
    let mut membership = Membership::outside(1, params(4)).unwrap();
    membership.join(0, 5);
    let view = View { number: 7, first_op: 20, joined: Some((1, 4)), epoch: 7, ..View::first(Ranks::all(4), SETTINGS) };
    let mut number_after = |views: &[View]| {
        membership.handle_message(0, 0, MembershipMessage::Views { views: views.to_vec() }).unwrap();
        membership.newest().map(|view| view.number)
    };
    assert_eq!(number_after(std::slice::from_ref(&view)), None, "an earlier incarnation's");
    assert_eq!(number_after(&[View { joined: Some((2, 5)), ..view.clone() }]), None, "another rank's");
    let answer = View { number: 8, first_op: 40, joined: Some((1, 5)), ..view.clone() };
    assert_eq!(number_after(&[view.clone(), answer.clone()]), Some(8));
    let without = View { number: 9, ranks: set(0b1101, 4), first_op: 60, joined: None, ..view.clone() };
    assert_eq!(number_after(&[view.clone(), answer.clone(), without.clone()]), None, "dropped");
    assert_eq!(number_after(&[view.clone(), answer.clone()]), None, "the answer to a wish is good once");
    let outputs: Vec<_> = std::iter::from_fn(|| membership.poll()).collect();
    assert_eq!(outputs[3..], [Output::View(answer), Output::Dropped]);
}

#[test]
fn quorums_of_a_view_always_share_a_rank() {
    for ranks in 1..1u128 << 7 {
        let view = View::first(set(ranks, 7), SETTINGS);
        let quorums: Vec<_> = (0..1 << 7).filter(|some| view.is_quorum(&set(*some, 7))).collect();
        assert!(quorums.iter().all(|one| quorums.iter().all(|two| one & two & ranks != 0)), "{ranks:#b}");
        assert!(quorums.contains(&ranks));
    }
    let four = View::first(set(0b11110, 5), SETTINGS);
    assert_eq!(
        [0b00110, 0b11000, 0b11100, 0b00011].map(|some| four.is_quorum(&set(some, 5))),
        [true, false, true, false]
    );
}

#[test]
fn tags_tell_views_apart_and_messages_survive_serialisation() {
    let view = View::first(Ranks::all(2), SETTINGS);
    let tags: BTreeSet<_> = (0..1000).map(|epoch| View { epoch, ..view.clone() }.job_tag(77)).collect();
    assert_eq!((tags.len(), view.job_tag(77)), (1000, 77));
    let message = MembershipMessage::Views { views: vec![View { joined: Some((1, u64::MAX)), ..view.clone() }] };
    let message = optireduce_core::protocol::Message::Membership(message);
    assert_eq!(optireduce_core::protocol::Message::decode(1, 2, &message.encode()), Ok(message));
}

#[test]
fn a_rank_whose_channel_has_ended_is_silent_after_three_collectives_however_short() {
    for gone in [true, false] {
        let mut membership =
            Membership::new(0, MembershipParams { silent_ns: u64::MAX, ..params(3) }, SETTINGS).unwrap();
        if gone {
            membership.handle_gone(2);
        }
        for op in 0..4 {
            let silent = |membership: &mut Membership| {
                std::iter::from_fn(|| membership.poll()).any(|output| output == Output::Silent { rank: 2 })
            };
            assert!(membership.view_of(0, op).is_some());
            membership.observe(0, op, &Ranks::none(3).with([1]), &Ranks::none(3).with([2]));
            assert_eq!(silent(&mut membership), gone && op == 2, "collective {op}, gone {gone}");
        }
    }
}

/// Rank 0 of 3, where rank 2 was started again and joins from collective 5 on; and whether it finds rank 2 silent in the next
/// collective, in which it does not hear it.
fn one_joins(silent_ns: u64, is_gone: bool) -> (Membership, impl Fn(&mut Membership, u32) -> bool) {
    let mut membership = Membership::new(0, MembershipParams { silent_ns, ..params(3) }, SETTINGS).unwrap();
    if is_gone {
        membership.handle_gone(2);
    }
    let view = View { number: 1, first_op: 5, joined: Some((2, 7)), epoch: 1, ..View::first(Ranks::all(3), SETTINGS) };
    membership.handle_message(0, 1, MembershipMessage::Views { views: vec![view] }).unwrap();
    let is_silent = |membership: &mut Membership, op: u32| {
        assert!(membership.view_of(0, op).is_some());
        membership.observe(0, op, &Ranks::none(3).with([1]), &Ranks::none(3).with([2]));
        std::iter::from_fn(|| membership.poll()).any(|output| output == Output::Silent { rank: 2 })
    };
    (membership, is_silent)
}

#[test]
fn the_channel_of_a_rank_that_joins_is_a_new_one() {
    let (mut membership, is_silent) = one_joins(u64::MAX, true);
    assert!(!(5..20).any(|op| is_silent(&mut membership, op)), "its old channel has ended, not this one");
    membership.handle_gone(2);
    assert!(is_silent(&mut membership, 20));
}

#[test]
fn before_its_first_collective_a_rank_that_joins_is_not_silent() {
    for is_gone in [false, true] {
        let (mut membership, is_silent) = one_joins(0, is_gone);
        let silent: Vec<u32> = (0..9).filter(|op| is_silent(&mut membership, *op)).collect();
        assert_eq!(silent, [7], "the third of those in which it takes part");
    }
}

#[test]
fn a_rank_that_asks_still_is_told_of_the_view_in_which_it_joins() {
    let (mut membership, _) = one_joins(0, false);
    let mut answer_to = |from: usize, incarnation: u64| {
        std::iter::from_fn(|| membership.poll()).for_each(drop);
        membership.handle_message(0, from, MembershipMessage::Join { incarnation }).unwrap();
        let newest = membership.newest().unwrap().number;
        std::iter::from_fn(|| membership.poll()).find_map(|output| match output {
            Output::Send { to, message: MembershipMessage::Views { views } } if to == from => {
                Some((views.last().unwrap().number, newest))
            }
            _ => None,
        })
    };
    assert_eq!(answer_to(2, 6), None, "an earlier wish");
    assert_eq!(answer_to(2, 7), Some((1, 1)));
    let without = View { number: 2, ranks: set(0b011, 3), first_op: 9, ..View::first(Ranks::all(3), SETTINGS) };
    let dropped = MembershipMessage::Views { views: vec![without] };
    membership.handle_message(0, 1, dropped).unwrap();
    let late = MembershipMessage::Join { incarnation: 7 };
    std::iter::from_fn(|| membership.poll()).for_each(drop);
    membership.handle_message(0, 2, late).unwrap();
    assert_eq!(membership.poll(), None, "it was dropped since: that wish is history");
}
