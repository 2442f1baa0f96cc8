//! A cluster in virtual time: per rank a host library with a card or in software, joined by the
//! network.
//!
//! The event loop advances in quanta of [`QUANTUM_NS`], the smallest delay of the network. A packet
//! arrives in a later quantum than it was sent, so the cards run independently within a quantum.
//! Empty quanta are skipped. In each quantum:
//!
//! 1. Hosts act, in order of rank, and registers are exchanged.
//! 2. Arriving frames are delivered.
//! 3. Every card with work runs to the end of the quantum, and its frames enter the network.
//!
//! Before a step, pending control messages arrive and all cards arm their windows. The hosts then
//! contribute their gradients. A straggler's host reads no messages during its delay, but its card
//! runs. The step ends when every rank's collective is done.
//!
//! Limits: a host acts within a quantum after its card, and its own computing takes no time.

pub mod bound;
pub(crate) mod rank_plane;

use std::collections::VecDeque;
use std::io::Write;
use std::sync::Arc;

use optireduce::smartnic::{SmartNic, smartnic_dma_bytes};
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

/// Quantum of the event loop.
pub const QUANTUM_NS: u64 = DELAY_MIN_NS;
/// Time for cards to become idle between steps.
const REST_NS: u64 = 100_000_000;
/// Time for an agreement between steps.
const AGREE_NS: u64 = 1_000_000_000;
/// Shortest adaptive grace time.
const GRACE_MIN_NS: u64 = QUANTUM_NS;
/// Time beyond bounds and delays until a step counts as hung.
const HANG_SLACK_NS: u64 = 200_000_000;
/// Addresses have one byte for the rank.
const SOFTWARE_RANKS_MAX: usize = 254;
const BUCKET: u16 = 0;
const RING_LOG2: u32 = 8;
const IOVA_BASE: u64 = 0x1_0000_0000;

/// Condition for early close, after the last-percentile marks of all peers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Early {
    /// Never.
    Off,
    /// After this silence in ns.
    Grace(u64),
    /// After x % of t_C, from the stage times of all ranks (OptiReduce 3.2.1).
    Adaptive,
}

/// A rank whose host is late in every step, by `delay_ns` after the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // described above
pub struct Straggler {
    pub rank: usize,
    pub delay_ns: u64,
}

/// Configuration of a cluster.
#[derive(Clone, Debug)]
#[allow(missing_docs)] // described above
pub struct ClusterConfig {
    /// 2 to 64, or up to 254 if no rank has a card.
    pub ranks: usize,
    pub engine: Engine,
    /// Their seed is also the job's.
    pub impairments: Impairments,
    pub bound_ns: u64,
    /// Range of t_B if the host libraries measure it, up to `bound_ns`.
    pub measured_bound: Option<BoundParams>,
    pub early: Early,
    pub hadamard: HadamardMode,
    pub stragglers: Vec<Straggler>,
    pub payload_beats: usize,
    pub bf16: bool,
    /// Peers that a rank sends to concurrently, 1 to 15.
    pub incast: usize,
    /// Rate to each peer in bytes on the wire; 0 means line rate.
    pub rate_bytes_per_us: u16,
    pub software_ranks: Vec<usize>,
    /// Only functional cards support sizes other than the default.
    pub build: Build,
}

impl ClusterConfig {
    /// Returns a cluster with a perfect network and a bound of 10 ms.
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

    /// Returns the limits of the cards.
    pub fn limits(&self) -> PlaneLimits {
        PlaneLimits {
            window_beats_max: 1 << self.build.window_log2,
            hadamard_log2_max: self.build.hadamard_log2,
            ..PlaneLimits::CARD
        }
    }

    /// Returns parameters for the reliable baseline.
    pub fn sending(&self) -> Sending {
        let paced = u64::from(self.rate_bytes_per_us) * self.incast.min(self.ranks - 1) as u64;
        let bytes_per_us = if paced == 0 { WIRE_BYTES_PER_US } else { paced.min(WIRE_BYTES_PER_US) };
        Sending { payload_beats: self.payload_beats, bytes_per_us }
    }

    /// Returns the parameters of the job on `rank`.
    pub fn job_params(&self, rank: usize) -> JobParams {
        let grace_ns = match self.early {
            Early::Off => None,
            Early::Grace(ns) => Some(ns),
            // A start value: the host library updates it for each window.
            Early::Adaptive => Some(GRACE_MIN_NS),
        };
        let early = grace_ns.map(|ns| EarlyRule { grace_ns: ns.min(u64::from(u32::MAX)) as u32 });
        let defaults = JobParams::new(rank, self.ranks, self.payload_beats, self.bound_ns, &self.limits());
        let (bf16, incast, hadamard_log2_max) = (self.bf16, self.incast, self.build.hadamard_log2);
        JobParams { early, bf16, incast, hadamard_log2_max, job_seed: self.impairments.seed, ..defaults }
    }

    /// Returns the windows of a bucket in collective `op`.
    ///
    /// # Errors
    /// If the bucket cannot be cut into windows.
    pub fn plans(&self, op: u32, elements: usize, hadamard: bool) -> Result<Vec<WindowPlan>, SimError> {
        plan_windows(&self.job_params(0), op, BUCKET, elements, hadamard).map_err(rank_error(0))
    }

    /// Returns the delay of a rank's host from the start of a step.
    pub fn delay_ns(&self, rank: usize) -> u64 {
        let of_rank = self.stragglers.iter().filter(|straggler| straggler.rank == rank);
        of_rank.map(|straggler| straggler.delay_ns).max().unwrap_or(0)
    }
}

/// Record of one step.
#[derive(Clone, Debug)]
#[allow(missing_docs)] // described above
pub struct StepRecord {
    pub op: u32,
    pub hadamard: bool,
    pub plans: Vec<WindowPlan>,
    /// Indexed by rank.
    pub ranks: Vec<RankRecord>,
    /// Virtual time.
    pub begin_ns: u64,
    /// Duration until the last rank was done.
    pub virtual_ns: u64,
    /// Sum over all cards.
    pub cycles: u64,
    /// All packets sent since the last step.
    pub fates: Vec<Fate>,
}

/// Record of one rank in a step.
#[derive(Clone, Debug)]
#[allow(missing_docs)] // described above
pub struct RankRecord {
    pub output: Vec<f32>,
    pub report: Report,
    /// Time from the start of the step.
    pub done_ns: u64,
    /// Beats accepted by the card.
    pub trace: Vec<Accept>,
}

/// Host libraries, cards and network of a job.
pub struct Cluster {
    config: ClusterConfig,
    hosts: Vec<Collectives<RankPlane>>,
    /// Cards or software planes, indexed by rank.
    cards: Vec<Arc<CardPort>>,
    rx: Vec<VecDeque<Arrival>>,
    network: Network,
    control: ControlChannel,
    /// Unread messages with senders, indexed by receiver.
    inboxes: Vec<VecDeque<(usize, Vec<u8>)>>,
    now_ns: u64,
    vcd: Option<VcdTrace<Box<dyn Write>>>,
    pcap: Option<Capture<Box<dyn Write>>>,
}

impl Cluster {
    /// Powers up and configures the cards.
    ///
    /// # Errors
    /// If a value is out of range, the engine is unavailable, or a driver or host library fails.
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

    /// Starts recording the cards' signals as VCD.
    ///
    /// # Errors
    /// If `to` cannot be written.
    pub fn record_vcd(&mut self, to: Box<dyn Write>) -> std::io::Result<()> {
        let signals: Vec<_> = self.cards.iter().map(|card| card.with(|card| card.signals())).collect();
        self.vcd = Some(VcdTrace::new(to, &signals)?);
        self.cards.iter().for_each(|card| card.with(|card| card.record_signals()));
        self.write_vcd()
    }

    /// Starts recording frames that reach a rank's port as pcap.
    ///
    /// # Errors
    /// If `to` cannot be written.
    pub fn record_pcap(&mut self, to: Box<dyn Write>) -> std::io::Result<()> {
        self.pcap = Some(Capture::new(to)?);
        Ok(())
    }

    /// Completes the pcap file.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish_pcap(&mut self) -> std::io::Result<()> {
        self.pcap.take().map_or(Ok(()), Capture::finish)
    }

    /// Runs one collective over `gradients`, indexed by rank. `progress` receives the time since
    /// the start of the step, once per quantum.
    ///
    /// # Errors
    /// If the lengths differ, a host library or driver fails, or the step does not finish in time.
    pub fn step(&mut self, gradients: &[Vec<f32>], mut progress: impl FnMut(u64)) -> Result<StepRecord, SimError> {
        let elements = gradients.first().map_or(0, Vec::len);
        if gradients.len() != self.config.ranks || gradients.iter().any(|gradient| gradient.len() != elements) {
            let (found, ranks) = (gradients.len(), self.config.ranks);
            return Err(SimError::Argument(format!("{found} gradients, expected {ranks} of equal length")));
        }
        let op = self.prepare(elements)?;
        // Encoded buckets need more windows.
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

    /// Returns the counters, indexed by rank.
    ///
    /// # Errors
    /// If a card is gone.
    pub fn counters(&mut self) -> Result<Vec<Counters>, SimError> {
        let of_host =
            |(rank, host): (usize, &mut Collectives<RankPlane>)| host.plane_mut().counters().map_err(rank_error(rank));
        self.hosts.iter_mut().enumerate().map(of_host).collect()
    }

    /// Returns the configuration.
    pub fn config(&self) -> &ClusterConfig {
        &self.config
    }

    /// Completes pending agreements and arms the next collective. Returns its number.
    fn prepare(&mut self, elements: usize) -> Result<u32, SimError> {
        let (begin_ns, everybody) = (self.now_ns, vec![true; self.config.ranks]);
        loop {
            self.exchange_messages(&everybody)?;
            // Preparing a collective commits the peers to it, so no message may be in flight.
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
        // Armed windows have no deadline, so the cards become idle.
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

    /// Returns when a host must act, apart from events of cards.
    fn next_host_wake(&self, begin_ns: u64, asleep: &[bool], done: &[Option<(u64, Finished)>]) -> Option<u64> {
        let of_rank = |rank: usize| match (asleep[rank], &done[rank]) {
            (true, _) => Some(begin_ns + self.config.delay_ns(rank)),
            (false, None) => self.hosts[rank].next_timeout(),
            (false, Some(_)) => None,
        };
        (0..self.config.ranks).filter_map(of_rank).chain(self.control.next_ns()).min()
    }

    /// Runs the next quantum with an event, or moves to a host's wake-up. Returns false if no event
    /// is left.
    fn advance(&mut self, wake_ns: Option<u64>) -> Result<bool, SimError> {
        let now_ns = self.now_ns;
        let ready = |card: &mut dyn Card| {
            // Idle cards are not advanced. Register writes must not act in the past.
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

/// The membership is fixed: no rank is dropped.
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

fn software_rank(config: &ClusterConfig, rank: usize, port: &Arc<CardPort>) -> Result<SoftwareRank, SimError> {
    let job_tag = splitmix64(config.impairments.seed);
    let job = SoftwareJob::new(rank, config.ranks, job_tag, config.payload_beats);
    let software = SoftwareRank::new(job, config.rate_bytes_per_us.into()).map_err(rank_error(rank))?;
    port.plug(Box::new(software.clone()));
    Ok(software)
}

pub(crate) fn rank_error<E: std::error::Error + Send + Sync + 'static>(rank: usize) -> impl Fn(E) -> SimError {
    move |source| SimError::Rank { rank, source: Box::new(source) }
}
