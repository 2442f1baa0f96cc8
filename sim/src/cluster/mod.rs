//! A cluster: for every rank the host library, the driver and a card, or the host library alone, joined by the network, in
//! virtual time.
//!
//! The event loop goes in quanta of [`QUANTUM_NS`], the network's smallest delay: what a card sends in one quantum
//! reaches nobody before the next, so the cards of a quantum are independent of each other. Quanta in which nothing
//! happens are left out. Per quantum: hosts act (in order of rank), registers are exchanged, frames that arrive are
//! handed over, every card with something to do runs to the quantum's end, and its frames enter the network.
//!
//! A step: once all messages on the control channel have arrived, all ranks arm their windows; once the cards have, the
//! step begins and the hosts start with their gradients, stragglers later by their delay. A straggler's host does nothing
//! between the step's begin and its delay, nor does it read messages; its card goes on. The step ends when every rank's
//! collective is done. So between two steps there is time for an agreement, as there is in training, which computes then.
//!
//! Whatever the protocol decides is decided by the host libraries: the bound, the Hadamard transform, the early rule's grace time, skip and
//! halt. The cluster carries packets, messages and the time.
//!
//! Limits: a host acts within a quantum after its card; hosts cost no time of their own.

pub mod bound;
pub(crate) mod rank_plane;

use std::collections::VecDeque;
use std::io::Write;
use std::sync::Arc;

use optireduce::{SmartNic, smartnic_dma_bytes};
use optireduce_contract::limits::{PAYLOAD_BEATS_DEFAULT, RANKS_MAX};
use optireduce_contract::packet::{Endpoint, UDP_PORT_DEFAULT};
use optireduce_contract::signs::splitmix64;
use optireduce_core::protocol::{
    BoundParams, EarlyRule, HadamardMode, JobParams, MembershipParams, Report, WindowPlan, plan_windows,
};
use optireduce_core::software::SoftwareJob;
use optireduce_core::{Collectives, CollectivesError, Finished, PlaneLimits};
use optireduce_driver::{Counters, InProcessBus, JobConfig, Nic, in_process};
use optireduce_hw::card::build::Build;

use crate::card::engine::Engine;
use crate::card::functional::FunctionalCard;
use crate::card::port::CardPort;
use crate::card::software_rank::SoftwareRank;
use crate::card::vcd::VcdTrace;
use crate::card::{Accept, Card};
use crate::cluster::rank_plane::{RankPlane, RankPlaneError};
use crate::error::SimError;
use crate::network::capture::Capture;
use crate::network::control_channel::ControlChannel;
use crate::network::reliable::{Sending, WIRE_BYTES_PER_US};
use crate::network::{DELAY_MIN_NS, Fate, Impairments, Network};
use crate::wire::Arrival;

/// Length of a quantum of the event loop.
pub const QUANTUM_NS: u64 = DELAY_MIN_NS;
/// What cards may take to come to rest between steps: late packets of the last step, then commands to arm.
const REST_NS: u64 = 100_000_000;
/// What ranks may take to agree between steps.
const AGREE_NS: u64 = 1_000_000_000;
/// The shortest grace time that follows the stage times.
const GRACE_MIN_NS: u64 = QUANTUM_NS;
/// What a step may take beyond its stages' bounds and its slowest straggler before it counts as hung.
const HANG_SLACK_NS: u64 = 200_000_000;
/// Most ranks of a cluster without cards: the network has an address of one byte for each.
const SOFTWARE_RANKS_MAX: usize = 254;
/// Bucket of every collective: the simulator runs one bucket at a time.
const BUCKET: u16 = 0;
const RING_LOG2: u32 = 8;
/// Where DMA memory lies for a card; any other page would do.
const IOVA_BASE: u64 = 0x1_0000_0000;

/// When a stage may close before its bound: all peers' last packets were seen, and silence followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Early {
    /// Never.
    Off,
    /// After so many ns of silence.
    Grace(u64),
    /// After x % of t_C, as the host libraries set them by the stage times of all ranks (OptiReduce 3.2.1).
    Adaptive,
}

/// A rank whose host is late in every step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Straggler {
    /// The rank.
    pub rank: usize,
    /// How long after the step's begin its host wakes.
    pub delay_ns: u64,
}

/// What a cluster is made of.
#[derive(Clone, Debug)]
pub struct ClusterConfig {
    /// Ranks, 2 to 64; up to 254, the addresses that there are, if none has a card.
    pub ranks: usize,
    /// Kind of card.
    pub engine: Engine,
    /// The network. Its seed is the job's as well.
    pub impairments: Impairments,
    /// t_B: bound on each stage of a window.
    pub bound_ns: u64,
    /// If the host libraries are to measure t_B while the job runs: what it may be. `bound_ns` is the longest then.
    pub measured_bound: Option<BoundParams>,
    /// When a stage closes before its bound.
    pub early: Early,
    /// When windows are Hadamard-encoded.
    pub hadamard: HadamardMode,
    /// Late ranks.
    pub stragglers: Vec<Straggler>,
    /// Payload of a full packet in beats.
    pub payload_beats: usize,
    /// Whether gradients and means travel as bf16.
    pub bf16: bool,
    /// Peers that a rank sends to at a time, 1 to 15.
    pub incast: usize,
    /// How fast a rank sends to each peer, in bytes of the wire per microsecond; 0: as fast as the wire.
    pub rate_bytes_per_us: u16,
    /// Ranks without a card: the host library does its work.
    pub software_ranks: Vec<usize>,
    /// Size of the cards; only functional ones come in other sizes than the default.
    pub build: Build,
}

impl ClusterConfig {
    /// A cluster on a perfect network: no loss, no stragglers, no Hadamard, a bound of 10 ms, the early rule off.
    pub fn new(engine: Engine, ranks: usize) -> Self {
        Self {
            ranks,
            engine,
            impairments: Impairments::default(),
            bound_ns: 10_000_000,
            measured_bound: None,
            early: Early::Off,
            hadamard: HadamardMode::Off,
            stragglers: Vec::new(),
            payload_beats: PAYLOAD_BEATS_DEFAULT,
            bf16: false,
            incast: 1,
            rate_bytes_per_us: 0,
            software_ranks: Vec::new(),
            build: Build::default(),
        }
    }

    /// What the cards can do.
    pub fn limits(&self) -> PlaneLimits {
        PlaneLimits {
            window_beats_max: 1 << self.build.window_log2,
            hadamard_log2_max: self.build.hadamard_log2,
            ..PlaneLimits::CARD
        }
    }

    /// How ranks send, for the reliable baseline.
    pub fn sending(&self) -> Sending {
        let paced = u64::from(self.rate_bytes_per_us) * self.incast.min(self.ranks - 1) as u64;
        let bytes_per_us = if paced == 0 { WIRE_BYTES_PER_US } else { paced.min(WIRE_BYTES_PER_US) };
        Sending { payload_beats: self.payload_beats, bytes_per_us }
    }

    /// The job's parameters as `rank` sees them.
    pub fn job_params(&self, rank: usize) -> JobParams {
        let grace_ns = match self.early {
            Early::Off => None,
            Early::Grace(ns) => Some(ns),
            // The host library sets it anew for each window.
            Early::Adaptive => Some(GRACE_MIN_NS),
        };
        let early = grace_ns.map(|ns| EarlyRule { grace_ns: ns.min(u64::from(u32::MAX)) as u32 });
        let defaults = JobParams::new(rank, self.ranks, self.payload_beats, self.bound_ns, &self.limits());
        let (bf16, incast, hadamard_log2_max) = (self.bf16, self.incast, self.build.hadamard_log2);
        JobParams { early, bf16, incast, hadamard_log2_max, job_seed: self.impairments.seed, ..defaults }
    }

    /// How a bucket is cut into windows in collective `op`.
    ///
    /// # Errors
    /// If it cannot be.
    pub fn plans(&self, op: u32, elements: usize, hadamard: bool) -> Result<Vec<WindowPlan>, SimError> {
        plan_windows(&self.job_params(0), op, BUCKET, elements, hadamard).map_err(rank_error(0))
    }

    /// How long after the step's begin a rank's host wakes.
    pub fn delay_ns(&self, rank: usize) -> u64 {
        let of_rank = self.stragglers.iter().filter(|straggler| straggler.rank == rank);
        of_rank.map(|straggler| straggler.delay_ns).max().unwrap_or(0)
    }
}

/// What happened in one step.
#[derive(Clone, Debug)]
pub struct StepRecord {
    /// Collective number.
    pub op: u32,
    /// Whether it was Hadamard-encoded.
    pub hadamard: bool,
    /// How the bucket was cut.
    pub plans: Vec<WindowPlan>,
    /// By rank: result, the host library's report, and when it was done after the step's begin.
    pub ranks: Vec<RankRecord>,
    /// Virtual time of the step's begin.
    pub begin_ns: u64,
    /// From the step's begin until the last rank was done.
    pub virtual_ns: u64,
    /// Clock cycles of all cards together.
    pub cycles: u64,
    /// What became of every packet sent since the last step.
    pub fates: Vec<Fate>,
}

/// What one rank got out of a step.
#[derive(Clone, Debug)]
pub struct RankRecord {
    /// The result.
    pub output: Vec<f32>,
    /// The host library's report.
    pub report: Report,
    /// When it was done, after the step's begin.
    pub done_ns: u64,
    /// The beats that its card accepted, in order.
    pub trace: Vec<Accept>,
}

/// Host libraries, cards and network of a job.
pub struct Cluster {
    config: ClusterConfig,
    hosts: Vec<Collectives<RankPlane>>,
    /// What is at each rank's port of the network.
    cards: Vec<Arc<CardPort>>,
    rx: Vec<VecDeque<Arrival>>,
    network: Network,
    control: ControlChannel,
    /// By rank: messages that have arrived and were not read, and whose they are.
    inboxes: Vec<VecDeque<(usize, Vec<u8>)>>,
    now_ns: u64,
    vcd: Option<VcdTrace<Box<dyn Write>>>,
    pcap: Option<Capture<Box<dyn Write>>>,
}

impl Cluster {
    /// Powers up the cards and configures them for the job.
    ///
    /// # Errors
    /// If the engine is not there, or a driver or host library refuses.
    pub fn new(config: ClusterConfig) -> Result<Self, SimError> {
        let ranks = config.ranks;
        let has_cards = (0..ranks).any(|rank| !config.software_ranks.contains(&rank));
        let ranks_max = if has_cards { RANKS_MAX } else { SOFTWARE_RANKS_MAX };
        if !(2..=ranks_max).contains(&ranks) {
            return Err(SimError::Argument(format!("{ranks} ranks, expected 2 to {ranks_max}")));
        }
        if let Some(straggler) = config.stragglers.iter().find(|straggler| straggler.rank >= ranks) {
            let rank = straggler.rank;
            return Err(SimError::Argument(format!("straggler rank is {rank}, expected 0 to {}", ranks - 1)));
        }
        if let Some(rank) = config.software_ranks.iter().find(|rank| **rank >= ranks) {
            return Err(SimError::Argument(format!("software rank is {rank}, expected 0 to {}", ranks - 1)));
        }
        if config.engine != Engine::Functional && config.build != Build::default() {
            let (engine, build) = (config.engine, config.build);
            return Err(SimError::Argument(format!("{engine} cards of {build:?}, expected {:?}", Build::default())));
        }
        let (mut hosts, mut cards) = (Vec::new(), Vec::new());
        for rank in 0..ranks {
            let port = Arc::new(CardPort::default());
            let plane = if config.software_ranks.contains(&rank) {
                RankPlane::Software(software_rank(&config, rank, &port)?)
            } else {
                RankPlane::Card(Box::new(card(&config, rank, &port)?))
            };
            hosts.push(host(&config, rank, plane).map_err(rank_error(rank))?);
            cards.push(port);
        }
        Ok(Self {
            hosts,
            cards,
            rx: vec![VecDeque::new(); ranks],
            network: Network::new(ranks, config.impairments),
            control: ControlChannel::new(ranks, config.impairments),
            inboxes: vec![VecDeque::new(); ranks],
            now_ns: 0,
            vcd: None,
            pcap: None,
            config,
        })
    }

    /// Writes the signals of all cards to a VCD file from now on.
    ///
    /// # Errors
    /// If `to` cannot be written.
    pub fn record_vcd(&mut self, to: Box<dyn Write>) -> std::io::Result<()> {
        let signals: Vec<_> = self.cards.iter().map(|card| card.with(|card| card.signals())).collect();
        self.vcd = Some(VcdTrace::new(to, &signals)?);
        self.cards.iter().for_each(|card| card.with(|card| card.record_signals()));
        self.write_vcd()
    }

    /// Writes all frames that reach a rank's port to a pcap file from now on, in order of time.
    ///
    /// # Errors
    /// If `to` cannot be written.
    pub fn record_pcap(&mut self, to: Box<dyn Write>) -> std::io::Result<()> {
        self.pcap = Some(Capture::new(to)?);
        Ok(())
    }

    /// Writes what is left of the pcap file.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish_pcap(&mut self) -> std::io::Result<()> {
        self.pcap.take().map_or(Ok(()), Capture::finish)
    }

    /// Runs one collective over `gradients` (by rank, equal lengths). `progress` is called once per quantum with the
    /// time since the step's begin.
    ///
    /// # Errors
    /// If the lengths differ, if a host library or driver gives up, or if the step does not end in time.
    pub fn step(&mut self, gradients: &[Vec<f32>], mut progress: impl FnMut(u64)) -> Result<StepRecord, SimError> {
        let elements = gradients.first().map_or(0, Vec::len);
        if gradients.len() != self.config.ranks || gradients.iter().any(|gradient| gradient.len() != elements) {
            let (found, ranks) = (gradients.len(), self.config.ranks);
            return Err(SimError::Argument(format!("{found} gradients, expected {ranks} of equal length")));
        }
        let op = self.prepare(elements)?;
        // Encoded buckets take more windows.
        let windows = self.config.plans(op, elements, true)?.len().max(self.config.plans(op, elements, false)?.len());
        let (begin_ns, cycles) = (self.now_ns, self.cycles());
        let slowest_ns = (0..self.config.ranks).map(|rank| self.config.delay_ns(rank)).max().unwrap_or(0);
        let limit_ns = windows as u64 * 2 * self.config.bound_ns + slowest_ns + HANG_SLACK_NS;

        let mut asleep: Vec<bool> = vec![true; self.config.ranks];
        let mut done: Vec<Option<(u64, Finished)>> = vec![None; self.config.ranks];
        loop {
            let since_ns = self.now_ns - begin_ns;
            let awake = |rank: usize| since_ns >= self.config.delay_ns(rank);
            let awake: Vec<bool> = (0..self.config.ranks).map(awake).collect();
            self.exchange_messages(&awake)?;
            for (rank, host) in self.hosts.iter_mut().enumerate() {
                if asleep[rank] && since_ns >= self.config.delay_ns(rank) {
                    asleep[rank] = false;
                    host.start(self.now_ns, op, gradients[rank].clone()).map_err(rank_error(rank))?;
                }
                if !asleep[rank] && done[rank].is_none() {
                    let finished = host.poll(self.now_ns).map_err(rank_error(rank))?;
                    done[rank] = finished.map(|finished| (since_ns, finished));
                }
            }
            progress(since_ns);
            let Some(rank) = done.iter().position(Option::is_none) else { break };
            let wake_ns = self.next_host_wake(begin_ns, &asleep, &done);
            if !self.advance(wake_ns)? || since_ns > limit_ns {
                let (waited_us, limit_us) = (since_ns / 1000, limit_ns / 1000);
                return Err(SimError::Hang { op, rank, waited_us, limit_us });
            }
        }
        let traces = self.cards.iter().map(|card| card.with(|card| card.take_trace()));
        let ranks: Vec<_> = done
            .into_iter()
            .flatten()
            .zip(traces)
            .map(|((done_ns, finished), trace)| RankRecord {
                output: finished.partial.unwrap_or(finished.result).into_vec(),
                report: finished.report,
                done_ns,
                trace,
            })
            .collect();
        let hadamard = ranks.first().is_some_and(|rank: &RankRecord| rank.report.hadamard);
        Ok(StepRecord {
            op,
            hadamard,
            plans: self.config.plans(op, elements, hadamard)?,
            ranks,
            begin_ns,
            virtual_ns: self.now_ns - begin_ns,
            cycles: self.cycles() - cycles,
            fates: self.network.take_fates(),
        })
    }

    /// The cards' counters, by rank.
    ///
    /// # Errors
    /// If a card is gone.
    pub fn counters(&mut self) -> Result<Vec<Counters>, SimError> {
        let of_host =
            |(rank, host): (usize, &mut Collectives<RankPlane>)| host.plane_mut().counters().map_err(rank_error(rank));
        self.hosts.iter_mut().enumerate().map(of_host).collect()
    }

    /// What the cluster is made of.
    pub fn config(&self) -> &ClusterConfig {
        &self.config
    }

    /// Lets the ranks agree on what is to be agreed on, arms the windows of the next collective on all of them, and lets the
    /// cards do it. Returns the collective's number.
    fn prepare(&mut self, elements: usize) -> Result<u32, SimError> {
        let (begin_ns, everybody) = (self.now_ns, vec![true; self.config.ranks]);
        loop {
            self.exchange_messages(&everybody)?;
            // Only asked when all has been said: a rank that may prepare a collective has begun it, for the others.
            let is_quiet = self.control.next_ns().is_none();
            let now_ns = self.now_ns;
            let waiting = self.hosts.iter_mut().position(|host| !is_quiet || !host.may_prepare(now_ns));
            let Some(rank) = waiting else { break };
            let timers = self.hosts.iter().filter_map(Collectives::next_timeout);
            let wake_ns = self.control.next_ns().into_iter().chain(timers).min();
            if !self.advance(wake_ns)? {
                return Err(self.hang(rank, begin_ns, AGREE_NS));
            }
            self.check_time(begin_ns, AGREE_NS, rank)?;
        }
        let mut op = 0;
        for (rank, host) in self.hosts.iter_mut().enumerate() {
            op = host.prepare(self.now_ns, BUCKET, elements, self.config.hadamard).map_err(rank_error(rank))?;
        }
        // Armed windows have no clock yet, so the cards come to rest.
        let begin_ns = self.now_ns;
        while self.advance(None)? {
            let rank = self.cards.iter().position(|card| card.with(|card| card.next_wake_ns()).is_some());
            self.check_time(begin_ns, REST_NS, rank.unwrap_or(0))?;
        }
        Ok(op)
    }

    fn check_time(&self, begin_ns: u64, limit_ns: u64, rank: usize) -> Result<(), SimError> {
        if self.now_ns - begin_ns > limit_ns { Err(self.hang(rank, begin_ns, limit_ns)) } else { Ok(()) }
    }

    fn hang(&self, rank: usize, begin_ns: u64, limit_ns: u64) -> SimError {
        let (waited_us, limit_us) = ((self.now_ns - begin_ns) / 1000, limit_ns / 1000);
        SimError::Hang { op: self.hosts[rank].next_op(), rank, waited_us, limit_us }
    }

    /// Ranks that are awake read the messages that have arrived, and send what they have to say.
    fn exchange_messages(&mut self, awake: &[bool]) -> Result<(), SimError> {
        while let Some((from, to, message)) = self.control.receive(self.now_ns) {
            self.inboxes[to].push_back((from, message));
        }
        for (rank, host) in self.hosts.iter_mut().enumerate().filter(|(rank, _)| awake[*rank]) {
            for (from, message) in self.inboxes[rank].drain(..) {
                host.handle_message(self.now_ns, from, &message).map_err(rank_error(rank))?;
            }
            host.handle_timeout(self.now_ns);
            while let Some((to, message)) = host.poll_message() {
                self.control.send(self.now_ns, rank, to, message);
            }
            while let Some(event) = host.poll_membership_event() {
                tracing::debug!(rank, ?event, "the ranks agree");
            }
        }
        Ok(())
    }

    /// When a host must act although no card did anything: a straggler wakes, or a watchdog.
    fn next_host_wake(&self, begin_ns: u64, asleep: &[bool], done: &[Option<(u64, Finished)>]) -> Option<u64> {
        let of_rank = |rank: usize| match (asleep[rank], &done[rank]) {
            (true, _) => Some(begin_ns + self.config.delay_ns(rank)),
            (false, None) => self.hosts[rank].next_timeout(),
            (false, Some(_)) => None,
        };
        (0..self.config.ranks).filter_map(of_rank).chain(self.control.next_ns()).min()
    }

    /// Goes to the next quantum in which something happens and runs it, or to the quantum's begin if that is when a
    /// host wakes. `false` if nothing will ever happen.
    fn advance(&mut self, wake_ns: Option<u64>) -> Result<bool, SimError> {
        let now_ns = self.now_ns;
        let ready = |card: &mut dyn Card| {
            // A card that had nothing to do was left behind; what its host has written now must not act in its past.
            if card.now_ns() < now_ns {
                card.run(now_ns, &mut VecDeque::new(), &mut Vec::new());
            }
            card.sync_registers();
            card.next_wake_ns()
        };
        let card_wakes: Vec<Option<u64>> = self.cards.iter().map(|card| card.with(ready)).collect();
        let arrivals = self.rx.iter().filter_map(|rx| rx.front().map(|arrival| arrival.at_ns));
        let flights = (0..self.config.ranks).filter_map(|rank| self.network.next_ns(rank));
        let Some(next_ns) = card_wakes.iter().copied().flatten().chain(arrivals).chain(flights).chain(wake_ns).min()
        else {
            return Ok(false);
        };
        let from_ns = next_ns.max(self.now_ns) / QUANTUM_NS * QUANTUM_NS;
        if wake_ns.is_some_and(|wake_ns| wake_ns <= from_ns) && from_ns > self.now_ns {
            self.now_ns = from_ns;
            return Ok(true);
        }
        let until_ns = from_ns + QUANTUM_NS;
        self.deliver(until_ns)?;
        self.run_cards(until_ns, &card_wakes);
        self.now_ns = until_ns;
        self.write_vcd().map(|()| true).map_err(|source| SimError::File {
            path: "VCD file".into(),
            action: "write",
            source,
        })
    }

    /// Hands out the frames that reach a port before `until_ns`.
    fn deliver(&mut self, until_ns: u64) -> Result<(), SimError> {
        for (rank, rx) in self.rx.iter_mut().enumerate() {
            let before = rx.len();
            self.network.deliver(rank, until_ns, rx);
            if let Some(pcap) = &mut self.pcap {
                pcap.take(rx.range(before..));
            }
        }
        let failed = |source| SimError::File { path: "pcap file".into(), action: "write", source };
        self.pcap.as_mut().map_or(Ok(()), |pcap| pcap.write_until(until_ns)).map_err(failed)
    }

    /// Runs the cards that have something to do before `until_ns`, and sends what they send in order of rank.
    fn run_cards(&mut self, until_ns: u64, card_wakes: &[Option<u64>]) {
        let mut jobs: Vec<_> = self
            .cards
            .iter()
            .zip(&mut self.rx)
            .enumerate()
            .filter(|(rank, (_, rx))| {
                let arrival = rx.front().map(|arrival| arrival.at_ns);
                [card_wakes[*rank], arrival].into_iter().flatten().any(|at_ns| at_ns < until_ns)
            })
            .map(|(rank, (card, rx))| (rank, card, rx, Vec::new()))
            .collect();
        if self.config.engine.is_slow() && jobs.len() > 1 {
            std::thread::scope(|scope| {
                for (_, card, rx, tx) in &mut jobs {
                    scope.spawn(move || card.with(|card| card.run(until_ns, rx, tx)));
                }
            });
        } else {
            for (_, card, rx, tx) in &mut jobs {
                card.with(|card| card.run(until_ns, rx, tx));
            }
        }
        for (rank, _, _, tx) in jobs {
            self.network.send(rank, tx);
        }
    }

    fn write_vcd(&mut self) -> std::io::Result<()> {
        let Some(vcd) = &mut self.vcd else { return Ok(()) };
        vcd.write(self.cards.iter().map(|card| card.with(|card| card.take_changes())).collect())
    }

    fn cycles(&self) -> u64 {
        self.cards.iter().map(|card| card.with(|card| card.cycles())).sum()
    }
}

/// A rank's host library, as the job's settings want it. The ranks are fixed: none is dropped, whatever happens.
fn host(
    config: &ClusterConfig,
    rank: usize,
    plane: RankPlane,
) -> Result<Collectives<RankPlane>, CollectivesError<RankPlaneError>> {
    let mut host = Collectives::new(plane, config.job_params(rank))?;
    if config.hadamard == HadamardMode::Auto || config.measured_bound.is_some() {
        let bound = config.measured_bound;
        let fixed = MembershipParams { silent_ops: None, bound, ..MembershipParams::new(config.ranks) };
        host.agree_on_views(fixed, config.hadamard)?;
    }
    if config.early == Early::Adaptive {
        host.follow_stage_times(GRACE_MIN_NS as u32);
    }
    Ok(host)
}

/// Powers up a rank's card, plugs it into its port and configures it for the job.
fn card(config: &ClusterConfig, rank: usize, port: &Arc<CardPort>) -> Result<SmartNic<InProcessBus>, SimError> {
    let ranks = config.ranks;
    let dma_bytes = smartnic_dma_bytes(&config.limits(), RING_LOG2);
    let (bus, end) = in_process(format!("sim{rank}"), dma_bytes, IOVA_BASE, port.clone()).map_err(rank_error(rank))?;
    port.plug(match config.engine {
        Engine::Functional => Box::new(FunctionalCard::with_build(end, config.build)),
        engine => engine.build(end)?,
    });
    let job = JobConfig {
        rank,
        ranks,
        job_tag: splitmix64(config.impairments.seed),
        payload_beats: config.payload_beats,
        udp_port: UDP_PORT_DEFAULT,
        endpoints: (0..ranks).map(Endpoint::of_rank).collect(),
        rates_bytes_per_us: vec![config.rate_bytes_per_us; ranks],
        queue: 0,
        ring_log2: RING_LOG2,
    };
    let nic = Nic::open(bus).map_err(rank_error(rank))?;
    SmartNic::new(nic, &job).map_err(rank_error(rank))
}

/// A rank without a card, plugged into its port.
fn software_rank(config: &ClusterConfig, rank: usize, port: &Arc<CardPort>) -> Result<SoftwareRank, SimError> {
    let job_tag = splitmix64(config.impairments.seed);
    let job = SoftwareJob::new(rank, config.ranks, job_tag, config.payload_beats);
    let software = SoftwareRank::new(job, config.rate_bytes_per_us.into()).map_err(rank_error(rank))?;
    port.plug(Box::new(software.clone()));
    Ok(software)
}

/// Names the rank of an error of its host library or driver.
pub(crate) fn rank_error<E: std::error::Error + Send + Sync + 'static>(rank: usize) -> impl Fn(E) -> SimError {
    move |source| SimError::Rank { rank, source: Box::new(source) }
}
