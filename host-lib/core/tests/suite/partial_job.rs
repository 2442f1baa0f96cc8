//! A job of Partial Reduce in virtual time: workers that train at their own pace, the controller beside one of them, groups over a network
//! that loses and reorders packets. Who is in which group and what came of it is noted, and judged from outside.

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

/// What a job is like.
#[derive(Clone, Debug)]
pub struct Case {
    pub seed: u64,
    pub workers: usize,
    pub group_size: usize,
    pub elements: usize,
    pub loss: f64,
    /// Windows that a worker contributes to at a time; the others are armed, and may close without it.
    pub in_flight: usize,
    /// How long a message takes, in ns.
    pub letters_ns: Range<u64>,
    pub group_loss: GroupLoss,
    /// Groups that each worker is to be in.
    pub rounds: usize,
    /// Who dies, and when.
    pub dies: Vec<(usize, u64)>,
    /// Who does nothing for a while, and when.
    pub frozen: Vec<(usize, Range<u64>)>,
}

impl Case {
    pub fn new(seed: u64, workers: usize, group_size: usize) -> Self {
        let group_loss = GroupLoss::Repair { timeout_ns: 20 * MS };
        let (dies, frozen, letters_ns) = (Vec::new(), Vec::new(), 20_000..200_000);
        let (elements, loss, in_flight, rounds) = (3000, 0.02, 16, 20);
        Self { seed, workers, group_size, elements, loss, in_flight, letters_ns, group_loss, rounds, dies, frozen }
    }
}

struct Member {
    worker: Worker,
    averages: GroupAverages<Software>,
    model: Vec<f32>,
    iteration: u64,
    /// When its training step is over; `None`: it waits for a group, or averages.
    trained_ns: Option<u64>,
    rounds: usize,
    is_dropped: bool,
}

/// What the judge knows of a group.
pub struct Judged {
    pub plan: GroupPlan,
    pub models: BTreeMap<usize, Vec<f32>>,
    pub results: BTreeMap<usize, Averaged>,
}

/// When it arrives, its number, from whom, to whom; a message, a datagram, or that a channel has ended.
type Flight = (u64, usize, usize, usize, Carried);

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Carried {
    Letter(Vec<u8>),
    Datagram(Vec<u8>),
    End,
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
}

impl Job {
    pub fn new(case: Case) -> Self {
        let mut random = Random(case.seed ^ 0x7061_7274);
        let workers = case.workers;
        let member = |rank: usize| {
            let mut params = Params::new(workers, case.group_size);
            params.weighting = if case.seed.is_multiple_of(3) { Weighting::Constant } else { Weighting::default() };
            let timing =
                WorkerParams { patience_ns: 300 * MS, silent_ns: 60 * MS, retry_ns: MS, ..WorkerParams::new(params) };
            let mut plane = Software::new(SoftwareJob::new(rank, workers, JOB_TAG, 4)).unwrap();
            plane.keep_unannounced(1 << 20);
            let early = Some(EarlyRule { grace_ns: 200_000 });
            let params = JobParams { early, ..JobParams::new(rank, workers, 4, BOUND_NS, &plane.limits()) };
            let in_flight = case.in_flight;
            let params = JobParams { window_beats_max: 64, in_flight, stage_slack_ns: 3_600_000 * MS, ..params };
            Member {
                worker: Worker::new(rank, timing).unwrap(),
                averages: GroupAverages::new(plane, params, case.group_loss).unwrap(),
                model: (0..case.elements).map(|at| rank as f32 + at as f32 * 1e-3).collect(),
                iteration: 0,
                trained_ns: Some(0),
                rounds: 0,
                is_dropped: false,
            }
        };
        let mut members: Vec<Member> = (0..workers).map(member).collect();
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
            case,
        }
    }

    /// Runs until all that live have been in as many groups as they are to.
    pub fn run(mut self) -> Self {
        loop {
            for (rank, at_ns) in self.case.dies.clone() {
                if self.now_ns >= at_ns && !std::mem::replace(&mut self.is_dead[rank], true) {
                    self.end_channels(rank);
                }
            }
            for rank in 0..self.members.len() {
                if !self.is_still(rank) {
                    self.step(rank);
                }
            }
            let is_over = |rank: usize| self.is_dead[rank] || self.members[rank].is_dropped || self.is_done(rank);
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
        let awake = (0..self.members.len()).filter(|rank| !self.is_still(*rank) && !self.members[*rank].is_dropped);
        let thaws = self.case.frozen.iter().map(|(_, time)| time.end).filter(|end| *end > self.now_ns);
        let deaths = self.case.dies.iter().map(|(_, at_ns)| *at_ns).filter(|at_ns| *at_ns > self.now_ns);
        let flights = self.flights.peek().map(|Reverse((at_ns, ..))| *at_ns);
        let next = awake.flat_map(of).chain(thaws).chain(deaths).chain(flights).min();
        next.unwrap_or_else(|| panic!("{:?}: somebody waits for nothing", self.case))
    }

    /// One worker does what there is to do.
    fn step(&mut self, rank: usize) {
        let now_ns = self.now_ns;
        let member = &mut self.members[rank];
        if member.is_dropped {
            return;
        }
        member.averages.plane_mut().advance(now_ns);
        if member.trained_ns.take_if(|at_ns| *at_ns <= now_ns).is_some() {
            member.iteration += 1;
            // The training step.
            let push = self.random.below(1000) as f32 * 1e-4;
            member.model.iter_mut().for_each(|value| *value += push);
            if member.rounds >= self.case.rounds {
                member.worker.leave(now_ns);
            } else {
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
                WorkerOutput::Controller(host) => self.controllers.push(host),
                WorkerOutput::Dropped => member.is_dropped = true,
            }
        }
        for plan in plans {
            assert!(!member.averages.is_busy(), "{:?}: {rank} is in two groups", self.case);
            let own = plan.members.iter().find(|one| usize::from(one.rank) == rank).unwrap();
            assert_eq!(own.iteration, member.iteration, "{:?}", self.case);
            let of_number = self.groups.entry(plan.number).or_default();
            // Two controllers may have used a number, for different workers.
            let judged = match of_number.iter_mut().position(|judged| judged.plan == plan) {
                Some(at) => &mut of_number[at],
                None => {
                    let (models, results) = (BTreeMap::new(), BTreeMap::new());
                    of_number.push(Judged { plan: plan.clone(), models, results });
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
        let Range { start, end } = self.case.letters_ns;
        let at_ns = self.now_ns + start + self.random.below(end - start);
        let last_ns = self.last_letter_ns.entry((from, to)).or_default();
        *last_ns = (*last_ns).max(at_ns);
        let at_ns = *last_ns;
        self.count += 1;
        self.flights.push(Reverse((at_ns, self.count, from, to, carried)));
    }

    fn end_channels(&mut self, rank: usize) {
        for to in (0..self.members.len()).filter(|to| *to != rank) {
            self.send_letter(rank, to, Carried::End);
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
            if self.is_dead[to] || self.members[to].is_dropped {
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

    /// Whether a worker died or stood still.
    pub fn is_hurt(&self, rank: usize) -> bool {
        self.case.dies.iter().any(|(dead, _)| *dead == rank) || self.case.frozen.iter().any(|(who, _)| *who == rank)
    }

    /// Every result is the mean of its members' models by their weights, with the same bits on all members; where one of them died, or
    /// nothing is repaired, it is a mean of some of them.
    pub fn check(&self) {
        let case = &self.case;
        for judged in self.groups.values().flatten() {
            let Judged { plan, models, results } = judged;
            let is_whole = plan.ranks().all(|rank| !self.is_hurt(rank)) && case.group_loss != GroupLoss::Average;
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
    }
}
