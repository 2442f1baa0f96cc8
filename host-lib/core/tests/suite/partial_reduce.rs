//! Groups of Partial Reduce: golden cases of the controller, and random schedules with a judge.

use std::collections::BTreeMap;

use optireduce_core::protocol::partial_reduce::{
    Controller, Group, Member, Params, ParamsError, RefusedReady, Weighting, Worker, WorkerOutput, WorkerParams,
    weights,
};

use crate::seeds;
use crate::virtual_network::Random;

const MS: u64 = 1_000_000;

fn controller(workers: usize, group_size: usize) -> Controller {
    Controller::new(Params::new(workers, group_size)).unwrap()
}

fn workers(group: &Group) -> Vec<usize> {
    group.members.iter().map(|member| member.worker).collect()
}

#[test]
fn the_first_that_are_ready_are_a_group_and_carry_its_newest_iteration() {
    let mut controller = controller(4, 2);
    controller.ready(0, 3, 1).unwrap();
    assert_eq!((controller.poll_group(0), controller.next_wake_ns()), (None, None), "one is no group");
    controller.ready(5 * MS, 1, 2).unwrap();
    controller.ready(5 * MS, 0, 1).unwrap();
    let group = controller.poll_group(5 * MS).unwrap();
    let member = |worker, iteration, weight| Member { worker, iteration, weight };
    assert_eq!(group.members, [member(1, 2, 2.0 / 3.0), member(3, 1, 1.0 - 2.0 / 3.0)]);
    assert_eq!((group.number, group.iteration, group.is_full), (0, 2, true));
    assert_eq!(controller.poll_group(5 * MS), None);
    let error = controller.ready(6 * MS, 3, 2).unwrap_err();
    assert_eq!(error.to_string(), "worker 3 is ready at iteration 2, expected 3 or more");
    controller.ready(6 * MS, 3, 3).unwrap();
    assert_eq!(workers(&controller.poll_group(6 * MS).unwrap()), [0, 3]);
}

#[test]
fn the_wait_doubles_after_small_groups_and_shrinks_after_full_ones() {
    let mut controller = controller(4, 3);
    let mut waits = Vec::new();
    let (mut now, mut iteration) = (0, 0);
    let mut form = |members: &[usize], waits: &mut Vec<u64>| {
        iteration += 1;
        for worker in members {
            controller.ready(now, *worker, iteration).unwrap();
        }
        if members.len() < 3 {
            assert_eq!(controller.poll_group(now), None);
            assert_eq!(controller.next_wake_ns(), Some(now + controller.wait_ns()));
            now += controller.wait_ns();
        }
        assert_eq!(workers(&controller.poll_group(now).unwrap()), members);
        waits.push(controller.wait_ns());
    };
    // Every pair shares a worker with the next, so that no bridge is needed.
    for members in [[0, 1], [1, 2], [2, 3], [0, 1], [1, 2]] {
        form(&members, &mut waits);
    }
    assert_eq!(waits, [2 * MS, 4 * MS, 8 * MS, 10 * MS, 10 * MS]);
    waits.clear();
    for at in 0..100 {
        form(if at % 2 == 0 { &[0, 1, 2] } else { &[1, 2, 3] }, &mut waits);
    }
    assert_eq!(waits[..3], [9 * MS, 8_100_000, 7_290_000]);
    assert_eq!(waits.last(), Some(&10_000));
}

#[test]
fn two_pairs_that_never_meet_are_bridged_unless_the_guard_is_off() {
    let run = |sync_bound| {
        let mut params = Params::new(4, 2);
        params.sync_bound = sync_bound;
        let mut controller = Controller::new(params).unwrap();
        let (mut bridges, mut longest, mut apart) = (0, 0, 0);
        let mut iterations = [0; 4];
        for step in 0..1000 {
            for worker in if step % 2 == 0 { [0, 1] } else { [2, 3] } {
                let _ = controller.ready(step * MS, worker, iterations[worker] + 1);
            }
            while let Some(group) = controller.poll_group(step * MS) {
                let is_bridge = group.members[0].worker < 2 && group.members[1].worker > 1;
                group.members.iter().for_each(|member| iterations[member.worker] = group.iteration);
                apart = if is_bridge { 0 } else { apart + 1 };
                (bridges, longest) = (bridges + usize::from(is_bridge), longest.max(apart));
            }
        }
        (bridges, longest)
    };
    let (bridges, longest) = run(Some(2));
    // The last group that connects all workers need not be a bridge between the pairs.
    let most = 2 * 4 + 3;
    assert!(bridges > 50 && longest <= most, "{bridges} bridges, {longest} groups without one, at most {most}");
    let (bridges, longest) = run(None);
    assert!(bridges == 0 && longest == 1000, "without the guard: {bridges} bridges");
}

/// Trains two pairs that are ready at different times, such as two racks. Their data pull models to
/// 0 or 1. Returns the largest difference of two models.
fn difference_of_two_pairs(sync_bound: Option<u32>) -> f64 {
    let mut params = Params::new(4, 2);
    params.sync_bound = sync_bound;
    let mut controller = Controller::new(params).unwrap();
    let (mut models, mut iterations, mut is_ready) = ([0.5_f64; 4], [0_u64; 4], [false; 4]);
    for step in 0..2000 {
        for worker in if step % 2 == 0 { [0, 1] } else { [2, 3] } {
            if !std::mem::replace(&mut is_ready[worker], true) {
                let wanted = if worker < 2 { 0.0 } else { 1.0 };
                models[worker] += 0.01 * (wanted - models[worker]);
                controller.ready(step * MS, worker, iterations[worker] + 1).unwrap();
            }
        }
        while let Some(group) = controller.poll_group(step * MS) {
            let mean = group.members.iter().map(|member| member.weight * models[member.worker]).sum();
            for member in &group.members {
                (models[member.worker], iterations[member.worker]) = (mean, group.iteration);
                is_ready[member.worker] = false;
            }
        }
    }
    let (least, most) = models.iter().fold((f64::MAX, f64::MIN), |(a, b), one| (a.min(*one), b.max(*one)));
    most - least
}

#[test]
fn the_models_of_two_pairs_drift_apart_without_the_guard_and_stay_together_with_it() {
    let (without, with) = (difference_of_two_pairs(None), difference_of_two_pairs(Some(2)));
    assert!(without > 0.95, "without the guard each pair has its own model: {without}");
    assert!(with < 0.15, "with it all have one: {with}");
}

#[test]
fn workers_that_leave_are_not_waited_for() {
    let worker = |rank| Worker::new(rank, WorkerParams::new(Params::new(3, 2))).unwrap();
    let mut last = worker(0);
    for rank in [1, 2] {
        assert!(last.others().any(|other| other == rank));
        let mut leaving = worker(rank);
        leaving.leave(0);
        while let Some(output) = leaving.poll() {
            if let WorkerOutput::Send { to: 0, message } = output {
                last.handle_message(0, rank, message);
            }
        }
    }
    assert_eq!(last.others().count(), 0);
    last.ready(1, 1);
    let outputs = std::iter::from_fn(|| last.poll());
    let groups = outputs.filter_map(|output| if let WorkerOutput::Group(plan) = output { Some(plan) } else { None });
    assert_eq!(
        groups.map(|plan| plan.ranks().collect()).collect::<Vec<Vec<usize>>>(),
        [[0]],
        "it continues alone, without a wait"
    );
}

#[test]
fn what_cannot_be_is_named() {
    let error = |workers, group_size| Controller::new(Params::new(workers, group_size)).unwrap_err();
    assert_eq!(error(4, 5).to_string(), "groups of 5 of 4 workers; expected 2 to 4, of at least 2 workers");
    assert!(matches!((error(4, 1), error(1, 1), error(0, 0)), (ParamsError::GroupSize { .. }, _, _)));
    for decay in [0.0, 1.0, -1.0, f64::NAN] {
        let mut params = Params::new(2, 2);
        params.weighting = Weighting::Dynamic { decay };
        assert!(Controller::new(params).unwrap_err().to_string().contains("the decay of weights is"));
    }
    let mut controller = controller(3, 2);
    assert_eq!(controller.ready(0, 3, 1), Err(RefusedReady::Worker { worker: 3, max: 2 }));
    assert_eq!(controller.ready(0, 0, 0), Err(RefusedReady::Iteration { worker: 0, found: 0, least: 1 }));
    controller.ready(0, 0, 1).unwrap();
    assert_eq!(controller.ready(0, 0, 2), Err(RefusedReady::Twice { worker: 0, iteration: 1 }));
    controller.leave(0);
    controller.leave(7);
    assert_eq!(controller.ready(0, 0, 2), Err(RefusedReady::Left { worker: 0 }));
    controller.ready(0, 1, 1).unwrap();
    assert_eq!(controller.poll_group(0), None, "0 has left");
    controller.join(0);
    controller.ready(0, 0, 1).unwrap();
    assert_eq!(workers(&controller.poll_group(0).unwrap()), [0, 1]);
}

struct Schedule {
    seed: u64,
    random: Random,
    controller: Controller,
    params: Params,
    now_ns: u64,
    next: BTreeMap<(u64, usize), Event>,
    is_live: Vec<bool>,
    iterations: Vec<u64>,
    is_in_group: Vec<bool>,
    /// For each pair: last group through which news of the second worker reached the first.
    heard: Vec<Vec<u64>>,
    mean_ns: Vec<u64>,
    groups: u64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Event {
    Trained,
    Averaged,
    Joined,
}

impl Schedule {
    fn new(seed: u64) -> Self {
        let mut random = Random(seed << 20);
        let mut draw = |below: u64| random.below(below);
        let count = 2 + draw(7) as usize;
        let mut params = Params::new(count, 2 + draw(count as u64 - 1) as usize);
        params.sync_bound = Some(1 + draw(4) as u32);
        params.weighting = if draw(4) == 0 { Weighting::Constant } else { Weighting::default() };
        let mean_ns = (0..count).map(|_| MS * (1 + draw(4) * draw(20))).collect();
        let mut schedule = Self {
            seed,
            random,
            controller: Controller::new(params.clone()).unwrap(),
            params,
            now_ns: 0,
            next: BTreeMap::new(),
            is_live: vec![true; count],
            iterations: vec![0; count],
            is_in_group: vec![false; count],
            heard: vec![vec![0; count]; count],
            mean_ns,
            groups: 0,
        };
        (0..count).for_each(|worker| schedule.train(worker));
        schedule
    }

    fn plan(&mut self, worker: usize, in_ns: u64, event: Event) {
        self.next.insert((self.now_ns + in_ns, worker), event);
    }

    fn train(&mut self, worker: usize) {
        let (mean, stall) = (self.mean_ns[worker], if self.random.below(50) == 0 { 30 } else { 1 });
        let in_ns = mean * stall / 2 + self.random.below(mean * stall) + 1;
        self.plan(worker, in_ns, Event::Trained);
    }

    fn step(&mut self) {
        let wake = self.controller.next_wake_ns().unwrap_or(u64::MAX);
        match self.next.first_key_value().map(|(key, event)| (*key, *event)) {
            Some(((at, worker), event)) if at <= wake => {
                self.next.remove(&(at, worker));
                self.now_ns = at;
                self.happen(worker, event);
            }
            _ => {
                assert!(wake < u64::MAX, "seed {}: nothing will ever happen again", self.seed);
                assert!(wake - self.now_ns <= 10 * MS, "seed {}: a wait of {} ns", self.seed, wake - self.now_ns);
                self.now_ns = wake;
            }
        }
        while let Some(group) = self.controller.poll_group(self.now_ns) {
            self.check(&group);
        }
    }

    fn happen(&mut self, worker: usize, event: Event) {
        match event {
            Event::Trained if self.random.below(1000) == 0 && self.is_live.iter().filter(|live| **live).count() > 1 => {
                self.is_live[worker] = false;
                self.controller.leave(worker);
                self.forget();
                self.plan(worker, 100 * MS, Event::Joined);
            }
            Event::Trained => {
                self.iterations[worker] += 1;
                self.controller.ready(self.now_ns, worker, self.iterations[worker]).unwrap();
            }
            Event::Averaged => {
                self.is_in_group[worker] = false;
                self.train(worker);
            }
            Event::Joined => {
                self.is_live[worker] = true;
                self.controller.join(worker);
                let from = (0..self.is_live.len()).find(|other| self.is_live[*other] && *other != worker).unwrap();
                self.iterations[worker] = self.iterations[from];
                self.forget();
                self.train(worker);
            }
        }
    }

    /// Resets `heard`, since a worker that leaves takes updates with it.
    fn forget(&mut self) {
        let groups = self.groups;
        self.heard.iter_mut().for_each(|heard| heard.fill(groups));
    }

    fn check(&mut self, group: &Group) {
        let seed = self.seed;
        let members = workers(group);
        assert_eq!(group.number, self.groups, "seed {seed}");
        self.groups += 1;
        assert!(members.is_sorted_by(|a, b| a < b), "seed {seed}: {members:?}");
        let live = self.is_live.iter().filter(|live| **live).count();
        assert!(members.len() <= self.params.group_size && members.len() >= 2.min(live), "seed {seed}: {members:?}");
        let iterations: Vec<u64> = group.members.iter().map(|member| member.iteration).collect();
        let sum: f64 = group.members.iter().map(|member| member.weight).sum();
        assert!((sum - 1.0).abs() < 1e-12, "seed {seed}: weights {sum}");
        let found: Vec<f64> = group.members.iter().map(|member| member.weight).collect();
        assert_eq!(found, weights(self.params.weighting, &iterations), "seed {seed}");
        for member in &group.members {
            let worker = member.worker;
            assert!(self.is_live[worker], "seed {seed}: {worker} has left");
            assert!(!std::mem::replace(&mut self.is_in_group[worker], true), "seed {seed}: {worker} is in two groups");
            assert_eq!(member.iteration, self.iterations[worker], "seed {seed}: {worker}");
            self.iterations[worker] = group.iteration;
            self.heard[worker][worker] = self.groups;
        }
        assert_eq!(Some(group.iteration), iterations.iter().max().copied(), "seed {seed}");
        let newest: Vec<u64> = (0..self.heard.len())
            .map(|of| members.iter().map(|worker| self.heard[*worker][of]).max().unwrap())
            .collect();
        let took_ns = 1 + self.random.below(2 * MS);
        for worker in members {
            self.heard[worker].clone_from(&newest);
            self.plan(worker, took_ns, Event::Averaged);
        }
        self.check_isolation();
    }

    /// Checks that updates of a worker reach every other within the bound, while no worker leaves.
    fn check_isolation(&self) {
        let count = self.params.workers as u64;
        let limit = count * u64::from(self.params.sync_bound.unwrap());
        // The first round of the graph may have begun before the worker's update.
        let bound = count * (limit + count);
        let live = || (0..self.is_live.len()).filter(|worker| self.is_live[*worker]);
        for (worker, other) in live().flat_map(|worker| live().map(move |other| (worker, other))) {
            let age = self.groups - self.heard[worker][other];
            assert!(age <= bound, "seed {}: {worker} has not heard of {other} for {age} groups, {bound}", self.seed);
        }
    }
}

#[test]
fn every_schedule_goes_on_and_every_update_reaches_everybody() {
    let (mut groups, mut small, mut left) = (0, 0, 0);
    for seed in seeds(0..500) {
        let mut schedule = Schedule::new(seed);
        for _ in 0..3000 {
            schedule.step();
            left += usize::from(schedule.is_live.contains(&false));
        }
        groups += schedule.groups;
        small += usize::from(schedule.controller.wait_ns() > MS);
        assert!(schedule.groups > 100, "seed {seed}: {} groups", schedule.groups);
    }
    assert!(groups > 100_000 || std::env::var("SEEDS").is_ok(), "{groups} groups");
    assert!(
        small > 100 && left > 10_000 || std::env::var("SEEDS").is_ok(),
        "{small} with small groups, {left} with gaps"
    );
}
