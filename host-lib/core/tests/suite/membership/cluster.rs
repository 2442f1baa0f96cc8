//! Ranks with a membership each, in virtual time: channels, crashes and invariants.

use std::collections::{BTreeMap, BTreeSet};

use optireduce_contract::ranks::words_for;
use optireduce_contract::signs::splitmix64;
use optireduce_core::protocol::membership::{MembershipMessage, Output, Request, Settings};
use optireduce_core::protocol::{Membership, MembershipParams, Ranks, View};

pub const OP_NS: u64 = 100_000;
pub const SETTINGS: Settings = Settings::first(1_000_000);

pub struct Rank {
    pub membership: Membership,
    pub alive: bool,
    /// Running or next collective; `heard`: ranks from which data arrived since its start.
    pub op: u32,
    pub running: bool,
    pub heard: Ranks,
    pub silent_reported: Ranks,
}

pub enum Event {
    Step(usize),
    Deliver { from: usize, to: usize, message: MembershipMessage },
}

pub struct Cluster {
    pub name: String,
    pub random: u64,
    pub params: MembershipParams,
    pub now_ns: u64,
    pub delay_ns_max: u64,
    /// Bit b of `deaf[a]`: no data of rank b reaches rank a; messages do.
    pub deaf: Vec<u128>,
    pub ranks: Vec<Rank>,
    pub events: BTreeMap<(u64, u64), Event>,
    pub event_count: u64,
    /// Arrival of the newest message between two ranks, since channels keep their order.
    pub last_arrival_ns: BTreeMap<(usize, usize), u64>,
    /// Views by number, and the rank and view number of each collective.
    pub views: BTreeMap<u32, View>,
    pub used: BTreeMap<u32, BTreeSet<(usize, u32)>>,
    /// Requests of live members, and the number of their newest view at that time.
    pub requests: Vec<(usize, Request, u32)>,
    /// Numbers of refused starts of collectives, and of messages.
    pub waits: u64,
    pub messages: u64,
}

impl Cluster {
    pub fn new(name: &str, params: MembershipParams, delay_ns_max: u64, seed: u64) -> Self {
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

    pub fn draw(&mut self, below: u64) -> u64 {
        self.random = self.random.wrapping_add(1);
        splitmix64(self.random) % below.max(1)
    }

    pub fn at(&mut self, at_ns: u64, event: Event) {
        self.event_count += 1;
        self.events.insert((at_ns, self.event_count), event);
    }

    /// Returns whether `done` returned true before `end_ns`.
    pub fn run_until(&mut self, end_ns: u64, done: impl Fn(&Self) -> bool) -> bool {
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

    pub fn run_for(&mut self, ns: u64) {
        let end_ns = self.now_ns + ns;
        self.run_until(end_ns, |_| false);
    }

    pub fn step(&mut self, rank: usize) {
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
                // Dropped ranks may have continued for a while, each alone.
                let newest_used = all.iter().map(|(_, number)| *number).max().unwrap_or(used);
                for (other, number) in all.iter().filter(|(_, number)| *number < newest_used) {
                    let stays = self.views[&newest_used].has(*other);
                    assert!(!stays, "{}: collective {op} in view {number} on rank {other} of {newest_used}", self.name);
                }
                self.ranks[rank].running = true;
                for peer in view.live().filter(|peer| *peer != rank) {
                    // A packet counts whenever it arrives, if the peer has the view.
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

    pub fn poll(&mut self, rank: usize) {
        while let Some(output) = self.ranks[rank].membership.poll() {
            match output {
                Output::Send { to, message } => {
                    assert_ne!(to, rank, "{}: message to itself", self.name);
                    self.messages += 1;
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

    pub fn request(&mut self, rank: usize, request: Request) {
        let newest = self.ranks[rank].membership.newest().cloned();
        let Some(newest) = newest.filter(|_| self.ranks[rank].alive) else { return };
        self.requests.push((rank, request, newest.number));
        self.ranks[rank].membership.request(self.now_ns, request);
        self.poll(rank);
    }

    /// Requests bounds on every member, since a single request has no effect.
    pub fn request_bounds(&mut self, mut bound_ns: impl FnMut(usize) -> u64) {
        for rank in (0..self.ranks.len()).filter(|rank| self.ranks[*rank].alive).collect::<Vec<_>>() {
            let bound_ns = Some(bound_ns(rank));
            self.ranks[rank].membership.request(self.now_ns, Request { bound_ns, ..Request::default() });
            self.poll(rank);
        }
    }

    pub fn are_requests_met(&self) -> bool {
        self.requests.iter().all(|(_, request, number)| {
            let met = |view: &View| {
                let Settings { hadamard, fallback, .. } = view.settings;
                request.hadamard.is_none_or(|wanted| hadamard == wanted) && fallback >= request.fallback
            };
            self.views.range(number..).any(|(_, view)| met(view))
        })
    }

    /// Stops a rank. Each of its channels loses a random number of its last messages.
    pub fn crash(&mut self, rank: usize) {
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
        self.events.retain(|_, event| match event {
            Event::Step(of) => *of != rank,
            Event::Deliver { to, .. } => *to != rank,
        });
    }

    pub fn restart(&mut self, rank: usize) {
        let mut membership = Membership::outside(rank, self.params).unwrap();
        membership.join(self.now_ns, self.now_ns + 1);
        let none = || Ranks::none(self.params.ranks);
        self.ranks[rank] =
            Rank { membership, alive: true, op: 0, running: false, heard: none(), silent_reported: none() };
        self.at(self.now_ns, Event::Step(rank));
        self.poll(rank);
    }

    pub fn live(&self) -> u128 {
        self.ranks.iter().enumerate().map(|(rank, state)| u128::from(state.alive) << rank).sum()
    }

    /// True if all live ranks use one view that consists of them.
    pub fn is_settled(&self) -> bool {
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

    pub fn check_views(&self) {
        for (one, two) in self.views.values().zip(self.views.values().skip(1)) {
            assert_eq!(one.number + 1, two.number, "{}", self.name);
            assert!(one.first_op < two.first_op, "{}: {one:?} {two:?}", self.name);
            assert!(one.is_quorum(&two.ranks), "{}: a minority went on: {one:?} {two:?}", self.name);
            let same = one.ranks == two.ranks && two.joined.is_none();
            assert_eq!(two.epoch, if same { one.epoch } else { two.number }, "{}: {one:?} {two:?}", self.name);
        }
    }

    pub fn newest_of_all(&self) -> View {
        self.views.last_key_value().unwrap().1.clone()
    }

    /// Live ranks that remember their promises.
    pub fn members_alive(&self) -> u128 {
        let is_member = |rank: &Rank| rank.alive && rank.membership.newest().is_some();
        self.ranks.iter().enumerate().map(|(rank, state)| u128::from(is_member(state)) << rank).sum()
    }

    pub fn newest(&self, rank: usize) -> View {
        self.ranks[rank].membership.newest().unwrap().clone()
    }
}

pub fn mask(ranks: &Ranks) -> u128 {
    ranks.iter().map(|rank| 1 << rank).sum()
}

pub fn set(mask: u128, ranks: usize) -> Ranks {
    let words = [mask as u64, (mask >> 64) as u64];
    Ranks::of_words(words[..words_for(ranks)].to_vec())
}

pub fn params(ranks: usize) -> MembershipParams {
    MembershipParams { silent_ns: 0, lead_ops: 16, retry_ns: 5_000_000, ..MembershipParams::new(ranks) }
}

pub fn cluster(name: &str, ranks: usize) -> Cluster {
    Cluster::new(name, params(ranks), 20_000, 1)
}
