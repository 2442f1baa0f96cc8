//! A job of Partial Reduce in virtual time: workers that train at their own pace, one host with the
//! controller, and groups over a network that loses and reorders packets.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::ops::Range;

use optireduce_core::protocol::partial_reduce::{GroupPlan, Params, Weighting, Worker, WorkerOutput, WorkerParams};
use optireduce_core::protocol::{EarlyRule, JobParams, Message};
use optireduce_core::software::{Batch, Software, SoftwareJob};
use optireduce_core::{Averaged, DataPlane, GroupAverages, GroupLoss};

use crate::virtual_network::{JOB_TAG, Random};

pub const MS: u64 = 1_000_000;
const BOUND_NS: u64 = 2 * MS;

#[derive(Clone, Debug)]
pub struct Case {
    pub seed: u64,
    pub workers: usize,
    pub group_size: usize,
    pub elements: usize,
    pub loss: f64,
    /// Windows to which a worker contributes at a time. Other armed windows may close.
    pub in_flight: usize,
    pub letters_ns: Range<u64>,
    pub group_loss: GroupLoss,
    pub rounds: usize,
    pub dies: Vec<(usize, u64)>,
    pub restarts: Vec<(usize, u64)>,
    pub frozen: Vec<(usize, Range<u64>)>,
}

impl Case {
    pub fn new(seed: u64, workers: usize, group_size: usize) -> Self {
        let group_loss = GroupLoss::Repair { timeout_ns: 20 * MS };
        let (dies, restarts, frozen, letters_ns) = (Vec::new(), Vec::new(), Vec::new(), 20_000..200_000);
        let (elements, loss, in_flight, rounds) = (3000, 0.02, 16, 20);
        Self {
            seed,
            workers,
            group_size,
            elements,
            loss,
            in_flight,
            letters_ns,
            group_loss,
            rounds,
            dies,
            restarts,
            frozen,
        }
    }
}

struct Member {
    worker: Worker,
    averages: GroupAverages<Software>,
    model: Vec<f32>,
    iteration: u64,
    /// End of its training step; `None` while it waits for a group or averages.
    trained_ns: Option<u64>,
    rounds: usize,
    drops: usize,
    ready_ns: u64,
}

impl Member {
    fn new(case: &Case, rank: usize, again_ns: Option<u64>) -> Self {
        let workers = case.workers;
        let mut params = Params::new(workers, case.group_size);
        params.weighting = if case.seed.is_multiple_of(3) { Weighting::Constant } else { Weighting::default() };
        let timing =
            WorkerParams { patience_ns: 300 * MS, silent_ns: 60 * MS, retry_ns: MS, ..WorkerParams::new(params) };
        let worker = match again_ns {
            None => Worker::new(rank, timing),
            Some(at_ns) => Worker::rejoin(rank, timing, at_ns, at_ns),
        };
        let mut plane = Software::new(SoftwareJob::new(rank, workers, JOB_TAG, 4)).unwrap();
        plane.keep_unannounced(1 << 20);
        let early = Some(EarlyRule { grace_ns: 200_000 });
        let params = JobParams { early, ..JobParams::new(rank, workers, 4, BOUND_NS, &plane.limits()) };
        let in_flight = case.in_flight;
        let params = JobParams { window_beats_max: 64, in_flight, stage_slack_ns: 3_600_000 * MS, ..params };
        Self {
            worker: worker.unwrap(),
            averages: GroupAverages::new(plane, params, case.group_loss).unwrap(),
            model: (0..case.elements).map(|at| rank as f32 + at as f32 * 1e-3).collect(),
            iteration: 0,
            trained_ns: Some(again_ns.unwrap_or(0)),
            rounds: 0,
            drops: 0,
            ready_ns: 0,
        }
    }
}

pub struct Judged {
    pub plan: GroupPlan,
    pub begun_ns: u64,
    pub models: BTreeMap<usize, Vec<f32>>,
    pub results: BTreeMap<usize, Averaged>,
}

/// Arrival time, serial number, sender, receiver, content.
type Flight = (u64, usize, usize, usize, Carried);

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Carried {
    Letter(Vec<u8>),
    Datagram(Vec<u8>),
    End,
    /// New channel, to a restarted process.
    Back,
}

pub struct Job {
    case: Case,
    random: Random,
    members: Vec<Member>,
    now_ns: u64,
    flights: BinaryHeap<Reverse<Flight>>,
    count: usize,
    last_letter_ns: BTreeMap<(usize, usize), u64>,
    is_dead: Vec<bool>,
    pub groups: BTreeMap<u32, Vec<Judged>>,
    pub controllers: Vec<usize>,
    pub wait_ns_max: u64,
    takeovers: usize,
    /// Restarts of each process, and those known to each rank. Messages to earlier processes are
    /// lost.
    starts: Vec<usize>,
    known_starts: Vec<Vec<usize>>,
}

impl Job {
    pub fn new(case: Case) -> Self {
        let mut random = Random(case.seed ^ 0x7061_7274);
        let workers = case.workers;
        let mut members: Vec<Member> = (0..workers).map(|rank| Member::new(&case, rank, None)).collect();
        members.iter_mut().for_each(|member| member.trained_ns = Some(random.below(3 * MS)));
        Self {
            random,
            members,
            now_ns: 0,
            flights: BinaryHeap::new(),
            count: 0,
            last_letter_ns: BTreeMap::new(),
            is_dead: vec![false; workers],
            groups: BTreeMap::new(),
            controllers: Vec::new(),
            wait_ns_max: 0,
            takeovers: 0,
            starts: vec![0; workers],
            known_starts: vec![vec![0; workers]; workers],
            case,
        }
    }

    pub fn run(mut self) -> Self {
        loop {
            for (rank, at_ns) in self.case.dies.clone() {
                if self.now_ns >= at_ns && !std::mem::replace(&mut self.is_dead[rank], true) {
                    self.tell_of(rank, &Carried::End);
                }
            }
            for (rank, at_ns) in self.case.restarts.clone() {
                if self.now_ns >= at_ns && std::mem::take(&mut self.is_dead[rank]) {
                    self.case.dies.retain(|(dead, _)| *dead != rank);
                    self.members[rank] = Member::new(&self.case, rank, Some(self.now_ns));
                    self.flights.retain(|Reverse((.., to, _))| *to != rank);
                    self.starts[rank] += 1;
                    self.known_starts[rank] = self.starts.clone();
                    self.tell_of(rank, &Carried::Back);
                    // The rank that admits it reports which ranks have ended in the meantime.
                    let (dead, member) = (&self.is_dead, &mut self.members[rank]);
                    for other in (0..dead.len()).filter(|other| dead[*other]) {
                        member.worker.handle_gone(self.now_ns, other);
                        member.averages.handle_gone(other);
                    }
                }
            }
            for rank in 0..self.members.len() {
                if !self.is_still(rank) {
                    self.step(rank);
                }
            }
            let comes_back =
                |rank: usize| self.case.restarts.iter().any(|(who, at_ns)| *who == rank && *at_ns > self.now_ns);
            let is_over = |rank: usize| if self.is_dead[rank] { !comes_back(rank) } else { self.is_done(rank) };
            if (0..self.members.len()).all(is_over) {
                return self;
            }
            self.now_ns = self.next_ns().max(self.now_ns);
            assert!(self.now_ns < 60_000 * MS, "{:?}: the workers do not end", self.case);
            self.deliver();
        }
    }

    pub fn is_done(&self, rank: usize) -> bool {
        self.members[rank].rounds >= self.case.rounds
    }

    fn is_still(&self, rank: usize) -> bool {
        let is_frozen = |(who, time): &(usize, Range<u64>)| *who == rank && time.contains(&self.now_ns);
        self.is_dead[rank] || self.case.frozen.iter().any(is_frozen)
    }

    fn next_ns(&self) -> u64 {
        let of = |rank: usize| {
            let member = &self.members[rank];
            let timers =
                [member.worker.next_timeout(), member.averages.next_timeout(), member.averages.plane().next_timeout()];
            timers.into_iter().flatten().chain(member.trained_ns)
        };
        let awake = (0..self.members.len()).filter(|rank| !self.is_still(*rank));
        let thaws = self.case.frozen.iter().map(|(_, time)| time.end).filter(|end| *end > self.now_ns);
        let turns = self.case.dies.iter().chain(&self.case.restarts);
        let deaths = turns.map(|(_, at_ns)| *at_ns).filter(|at_ns| *at_ns > self.now_ns);
        let flights = self.flights.peek().map(|Reverse((at_ns, ..))| *at_ns);
        let next = awake.flat_map(of).chain(thaws).chain(deaths).chain(flights).min();
        next.unwrap_or_else(|| panic!("{:?}: somebody waits for nothing", self.case))
    }

    fn step(&mut self, rank: usize) {
        let now_ns = self.now_ns;
        let member = &mut self.members[rank];
        member.averages.plane_mut().advance(now_ns);
        if member.trained_ns.take_if(|at_ns| *at_ns <= now_ns).is_some() {
            member.iteration += 1;
            let push = self.random.below(1000) as f32 * 1e-4;
            member.model.iter_mut().for_each(|value| *value += push);
            if member.rounds >= self.case.rounds {
                member.worker.leave(now_ns);
            } else {
                member.ready_ns = now_ns;
                member.worker.ready(now_ns, member.iteration);
            }
        }
        member.worker.handle_timeout(now_ns);
        let mut letters = Vec::new();
        let mut plans = Vec::new();
        while let Some(output) = member.worker.poll() {
            match output {
                WorkerOutput::Send { to, message } => letters.push((to, Message::Partial(message))),
                WorkerOutput::SendMembership { to, message } => letters.push((to, Message::Membership(message))),
                WorkerOutput::Group(plan) => plans.push(plan),
                WorkerOutput::Controller(host) => {
                    self.controllers.push(host);
                    self.takeovers += usize::from(host == rank);
                }
                WorkerOutput::Dropped => member.drops += 1,
            }
        }
        for plan in plans {
            self.wait_ns_max = self.wait_ns_max.max(now_ns - member.ready_ns);
            assert!(!member.averages.is_busy(), "{:?}: {rank} is in two groups", self.case);
            let own = plan.members.iter().find(|one| usize::from(one.rank) == rank).unwrap();
            assert_eq!(own.iteration, member.iteration, "{:?}", self.case);
            let of_number = self.groups.entry(plan.number).or_default();
            // Two controllers may have used one number for different workers.
            let judged = match of_number.iter_mut().position(|judged| judged.plan == plan) {
                Some(at) => &mut of_number[at],
                None => {
                    let (models, results) = (BTreeMap::new(), BTreeMap::new());
                    of_number.push(Judged { plan: plan.clone(), begun_ns: now_ns, models, results });
                    of_number.last_mut().unwrap()
                }
            };
            judged.models.insert(rank, member.model.clone());
            member.averages.begin(now_ns, plan, member.model.clone()).unwrap();
        }
        while let Some(averaged) = member.averages.poll(now_ns).unwrap() {
            member.model.clone_from(&averaged.model);
            member.iteration = averaged.plan.iteration;
            member.rounds += 1;
            let slow = if rank == self.case.workers - 1 { 4 } else { 1 };
            member.trained_ns = Some(now_ns + slow * (MS + self.random.below(2 * MS)));
            let judged = self.groups.get_mut(&averaged.plan.number).unwrap();
            let judged = judged.iter_mut().find(|judged| judged.plan == averaged.plan).unwrap();
            let before = judged.results.insert(rank, averaged);
            assert!(before.is_none(), "{:?}: {rank} got a model twice", self.case);
        }
        while let Some((to, message)) = member.averages.poll_message() {
            letters.push((to, Message::Partial(message)));
        }
        for (to, message) in letters {
            self.send_letter(rank, to, Carried::Letter(message.encode()));
        }
        self.transmit(rank);
    }

    fn send_letter(&mut self, from: usize, to: usize, carried: Carried) {
        if self.known_starts[from][to] != self.starts[to] {
            return;
        }
        let Range { start, end } = self.case.letters_ns;
        let at_ns = self.now_ns + start + self.random.below(end - start);
        let last_ns = self.last_letter_ns.entry((from, to)).or_default();
        *last_ns = (*last_ns).max(at_ns);
        let at_ns = *last_ns;
        self.count += 1;
        self.flights.push(Reverse((at_ns, self.count, from, to, carried)));
    }

    /// `what`: the end of a rank's channels, or new ones.
    fn tell_of(&mut self, rank: usize, what: &Carried) {
        for to in (0..self.members.len()).filter(|to| *to != rank) {
            self.send_letter(rank, to, what.clone());
        }
    }

    fn transmit(&mut self, rank: usize) {
        let mut out = Vec::new();
        let batch = Batch { segments_max: 1 + self.random.below(4) as usize, bytes_max: 65_000 };
        while let Some(transmit) = self.members[rank].averages.plane_mut().poll_transmit(batch) {
            transmit.copy_to(&mut out);
            for datagram in out.chunks(transmit.segment_bytes) {
                if !self.random.chance(self.case.loss) {
                    let at_ns = self.now_ns + 5_000 + self.random.below(60_000);
                    self.count += 1;
                    let carried = Carried::Datagram(datagram.to_vec());
                    self.flights.push(Reverse((at_ns, self.count, rank, transmit.to, carried)));
                }
            }
        }
    }

    fn deliver(&mut self) {
        let mut later = Vec::new();
        while let Some(Reverse((at_ns, ..))) = self.flights.peek()
            && *at_ns <= self.now_ns
            && let Some(Reverse((_, count, from, to, carried))) = self.flights.pop()
        {
            if self.is_dead[to] {
                continue;
            }
            if let Some((_, time)) =
                self.case.frozen.iter().find(|(who, time)| *who == to && time.contains(&self.now_ns))
            {
                later.push(Reverse((time.end, count, from, to, carried)));
                continue;
            }
            let (now_ns, member) = (self.now_ns, &mut self.members[to]);
            match carried {
                Carried::Datagram(bytes) => {
                    member.averages.plane_mut().set_now(now_ns);
                    member.averages.plane_mut().handle_datagram(Some(from), &bytes);
                }
                Carried::End => {
                    member.worker.handle_gone(now_ns, from);
                    member.averages.handle_gone(from);
                }
                Carried::Back => {
                    self.known_starts[to][from] = self.starts[from];
                    member.worker.handle_back(now_ns, from);
                    member.averages.handle_back(from);
                }
                Carried::Letter(bytes) => match Message::decode(from, self.case.workers, &bytes).unwrap() {
                    Message::Membership(message) => member.worker.handle_membership(now_ns, from, message).unwrap(),
                    Message::Partial(message) => {
                        member.worker.handle_message(now_ns, from, message.clone());
                        member.averages.handle_message(now_ns, from, message);
                    }
                    other => panic!("{other:?}"),
                },
            }
        }
        self.flights.extend(later);
    }

    /// True if a worker is dead or frozen at this time, or was and is not back yet.
    pub fn is_hurt(&self, rank: usize, at_ns: u64) -> bool {
        let thaws = self.case.frozen.iter().filter(|(who, _)| *who == rank).map(|(_, time)| time.end);
        let restarts = self.case.restarts.iter().filter(|(who, _)| *who == rank).map(|(_, at_ns)| *at_ns);
        self.is_dead[rank] || thaws.chain(restarts).any(|back_ns| at_ns < back_ns)
    }

    pub fn groups_since(&self, rank: usize, at_ns: u64) -> usize {
        let is_it = |judged: &&Judged| {
            judged.begun_ns > at_ns && judged.plan.members.len() > 1 && judged.results.contains_key(&rank)
        };
        self.groups.values().flatten().filter(is_it).count()
    }

    pub fn drops(&self, rank: usize) -> usize {
        self.members[rank].drops
    }

    /// Checks that every result is the weighted mean of its members' models, with equal bits on all
    /// members. If a member died, or without repair, it may be a mean of some of them.
    pub fn check(&self) {
        let (case, mut stale) = (&self.case, 0);
        for judged in self.groups.values().flatten() {
            let Judged { plan, begun_ns, models, results } = judged;
            let is_well = plan.ranks().all(|rank| !self.is_hurt(rank, *begun_ns));
            // A replaced controller may still form groups of workers that already use its
            // successor.
            let is_stale = plan.ranks().any(|rank| !models.contains_key(&rank));
            stale += usize::from(is_well && is_stale);
            let is_whole = is_well && !is_stale && case.group_loss != GroupLoss::Average;
            let first = results.values().next();
            for (rank, averaged) in results {
                let what = format!("{case:?}: group {plan:?}, rank {rank}");
                if is_whole {
                    assert_eq!((averaged.uncounted_bytes, averaged.missing.len()), (0, 0), "{what}");
                    assert_eq!(Some(&averaged.model), first.map(|first| &first.model), "{what}: other bits");
                }
                for (at, value) in averaged.model.iter().enumerate() {
                    let of = |rank: usize| models.get(&rank).map(|model| f64::from(model[at]));
                    let values = || plan.ranks().filter_map(of);
                    let (least, most) = values().fold((f64::MAX, f64::MIN), |(a, b), one| (a.min(one), b.max(one)));
                    let value = f64::from(*value);
                    assert!(
                        value >= least - 1e-5 && value <= most + 1e-5,
                        "{what}: {value} of {least} to {most} at {at}"
                    );
                    if is_whole {
                        let member = |one: &optireduce_core::protocol::partial_reduce::GroupMember| {
                            one.weight * of(one.rank.into()).unwrap()
                        };
                        let mean: f64 = plan.members.iter().map(member).sum();
                        assert!((value - mean).abs() < 1e-5, "{what}: {value} at {at}, expected {mean}");
                    }
                }
            }
        }
        // One more for each restarted process, which may have been planned for a group before.
        let groups = (self.takeovers - 1) * case.workers / 2 + case.restarts.len();
        assert!(stale <= groups, "{case:?}: {stale} groups lack members that lived, expected at most {groups}");
    }
}
