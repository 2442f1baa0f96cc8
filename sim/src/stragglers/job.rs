//! A job in virtual time: workers that train at their own pace, and what they do with one another's results over the simulated network.
//!
//! The event loop is the cluster's, see [`crate::cluster`]: quanta of [`QUANTUM_NS`], those in which nothing happens left out; here hosts
//! never wait for one another's steps to begin. What workers say to one another, and when, is decided behind [`Exchange`], by the same code
//! as over sockets.

use std::collections::VecDeque;

use optireduce_contract::signs::splitmix64;
use optireduce_core::software::SoftwareJob;
use serde::Serialize;

use super::curve::Curve;
use super::digits::PAYLOAD_BEATS;
use super::trainee::Trainee;
use crate::card::Card;
use crate::card::software_rank::SoftwareRank;
use crate::cluster::{QUANTUM_NS, rank_error};
use crate::error::SimError;
use crate::network::control_channel::ControlChannel;
use crate::network::{Impairments, Network};
use crate::wire::Arrival;

/// What a worker does with the others after each of its training steps.
pub(super) trait Exchange {
    /// Its training step is over.
    fn trained(&mut self, now_ns: u64, trainee: &mut Trainee) -> Result<(), SimError>;

    /// Does what there is to do; whether the worker may go on training, with what came of it.
    fn poll(&mut self, now_ns: u64, trainee: &mut Trainee) -> Result<bool, SimError>;

    /// A message of another worker on the control channel.
    fn handle_message(&mut self, now_ns: u64, from: usize, message: &[u8]) -> Result<(), SimError>;

    /// The next message to another worker, and to whom.
    fn poll_message(&mut self) -> Option<(usize, Vec<u8>)>;

    /// When it is to be polled at the latest.
    fn next_timeout(&self) -> Option<u64>;

    /// What has become of its calls.
    fn counts(&self) -> Counts;
}

/// What has become of a worker's calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Counts {
    /// All-reduces, or averages of groups, that are over.
    pub collectives: u64,
    /// Bytes that peers were to send, and those of them that did not come in time.
    pub expected_bytes: u64,
    /// See [`expected_bytes`](Self::expected_bytes).
    pub lost_bytes: u64,
    /// All-reduces that lost too much to be used.
    pub skipped: u64,
    /// Of these, those at which a job would end. Here it goes on.
    pub halts: u64,
    /// Time from the end of a training step until a worker had what it waited for, all together.
    pub waited_ns: u64,
}

/// The most that the host library lets a rank have in flight to a peer, in bytes.
const IN_FLIGHT_BYTES_MAX: u64 = 1 << 20;

/// The data plane of a worker, which is also what stands at its port of the network. Peers give feedback, as the host library's do.
pub(super) fn software(worker: usize, workers: usize, seed: u64) -> Result<SoftwareRank, SimError> {
    let job = SoftwareJob {
        in_flight_bytes_max: vec![IN_FLIGHT_BYTES_MAX; workers],
        ..SoftwareJob::new(worker, workers, splitmix64(seed), PAYLOAD_BEATS)
    };
    SoftwareRank::new(job, 0).map_err(rank_error(worker))
}

/// The workers, and what lies between them.
pub(super) struct Job<E> {
    exchanges: Vec<E>,
    ports: Vec<SoftwareRank>,
    rx: Vec<VecDeque<Arrival>>,
    network: Network,
    control: ControlChannel,
    now_ns: u64,
}

impl<E: Exchange> Job<E> {
    /// `worker`: what a worker does, over its data plane.
    pub fn new(
        workers: usize,
        impairments: Impairments,
        worker: impl Fn(usize, SoftwareRank) -> Result<E, SimError>,
    ) -> Result<Self, SimError> {
        let ports: Vec<_> =
            (0..workers).map(|rank| software(rank, workers, impairments.seed)).collect::<Result<_, _>>()?;
        let exchanges = ports.iter().enumerate().map(|(rank, port)| worker(rank, port.clone()));
        Ok(Self {
            exchanges: exchanges.collect::<Result<_, _>>()?,
            ports,
            rx: vec![VecDeque::new(); workers],
            network: Network::new(workers, impairments),
            control: ControlChannel::new(workers, impairments),
            now_ns: 0,
        })
    }

    /// Trains until `end_ns`; what has become of each worker's calls.
    pub fn train(mut self, trainees: &mut [Trainee], curve: &mut Curve, end_ns: u64) -> Result<Vec<Counts>, SimError> {
        while self.now_ns < end_ns {
            curve.note(self.now_ns, trainees);
            self.serve(trainees)?;
            self.now_ns = self.next_ns(trainees).unwrap_or(end_ns).max(self.now_ns) / QUANTUM_NS * QUANTUM_NS;
            self.run_quantum();
        }
        curve.note(end_ns, trainees);
        Ok(self.exchanges.iter().map(Exchange::counts).collect())
    }

    /// The hosts do what there is to do.
    fn serve(&mut self, trainees: &mut [Trainee]) -> Result<(), SimError> {
        let now_ns = self.now_ns;
        while let Some((from, to, message)) = self.control.receive(now_ns) {
            self.exchanges[to].handle_message(now_ns, from, &message)?;
        }
        for (rank, (exchange, trainee)) in self.exchanges.iter_mut().zip(trainees).enumerate() {
            if trainee.trained_ns.take_if(|at_ns| *at_ns <= now_ns).is_some() {
                exchange.trained(now_ns, trainee)?;
            }
            if exchange.poll(now_ns, trainee)? {
                trainee.begin(now_ns);
            }
            while let Some((to, message)) = exchange.poll_message() {
                self.control.send(now_ns, rank, to, message);
            }
        }
        Ok(())
    }

    /// When something happens next.
    fn next_ns(&self, trainees: &[Trainee]) -> Option<u64> {
        let of = |rank: usize| {
            let hosts = [trainees[rank].trained_ns, self.exchanges[rank].next_timeout()];
            let arrival = self.rx[rank].front().map(|arrival| arrival.at_ns);
            hosts.into_iter().chain([self.ports[rank].next_wake_ns(), arrival, self.network.next_ns(rank)]).flatten()
        };
        (0..self.ports.len()).flat_map(of).chain(self.control.next_ns()).min()
    }

    /// Lets a quantum pass at all ports.
    fn run_quantum(&mut self) {
        let until_ns = self.now_ns + QUANTUM_NS;
        let mut tx = Vec::new();
        for (rank, port) in self.ports.iter_mut().enumerate() {
            self.network.deliver(rank, until_ns, &mut self.rx[rank]);
            port.run(until_ns, &mut self.rx[rank], &mut tx);
            self.network.send(rank, tx.drain(..));
        }
        // Nobody asks what became of each.
        self.network.take_fates();
        self.now_ns = until_ns;
    }
}
