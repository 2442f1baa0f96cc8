//! A job in virtual time: workers train at their own pace and exchange results over the simulated
//! network.
//!
//! The event loop runs in quanta of [`QUANTUM_NS`], as in [`crate::cluster`], but hosts start their
//! steps independently.

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

/// Exchange of results after each training step.
pub(super) trait Exchange {
    /// Ends a training step.
    fn trained(&mut self, now_ns: u64, trainee: &mut Trainee) -> Result<(), SimError>;

    /// Makes progress. Returns whether the worker may continue, with the results in `trainee`.
    fn poll(&mut self, now_ns: u64, trainee: &mut Trainee) -> Result<bool, SimError>;

    fn handle_message(&mut self, now_ns: u64, from: usize, message: &[u8]) -> Result<(), SimError>;

    fn poll_message(&mut self) -> Option<(usize, Vec<u8>)>;

    /// Latest time of the next poll.
    fn next_timeout(&self) -> Option<u64>;

    fn counts(&self) -> Counts;
}

/// Counts of a worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[allow(missing_docs)] // described above
pub struct Counts {
    /// Finished all-reduces or group averages.
    pub collectives: u64,
    pub expected_bytes: u64,
    /// Bytes of [`expected_bytes`](Self::expected_bytes) that were late.
    pub lost_bytes: u64,
    /// Skipped because of losses.
    pub skipped: u64,
    /// Skipped ones that halt a job; the simulation continues.
    pub halts: u64,
    /// Total wait after training steps.
    pub waited_ns: u64,
}

/// Largest congestion window of the host library.
const IN_FLIGHT_BYTES_MAX: u64 = 1 << 20;

pub(super) fn software(worker: usize, workers: usize, seed: u64) -> Result<SoftwareRank, SimError> {
    let job = SoftwareJob {
        in_flight_bytes_max: vec![IN_FLIGHT_BYTES_MAX; workers],
        ..SoftwareJob::new(worker, workers, splitmix64(seed), PAYLOAD_BEATS)
    };
    SoftwareRank::new(job, 0).map_err(rank_error(worker))
}

pub(super) struct Job<E> {
    exchanges: Vec<E>,
    ports: Vec<SoftwareRank>,
    rx: Vec<VecDeque<Arrival>>,
    network: Network,
    control: ControlChannel,
    now_ns: u64,
}

impl<E: Exchange> Job<E> {
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

    fn next_ns(&self, trainees: &[Trainee]) -> Option<u64> {
        let of = |rank: usize| {
            let hosts = [trainees[rank].trained_ns, self.exchanges[rank].next_timeout()];
            let arrival = self.rx[rank].front().map(|arrival| arrival.at_ns);
            hosts.into_iter().chain([self.ports[rank].next_wake_ns(), arrival, self.network.next_ns(rank)]).flatten()
        };
        (0..self.ports.len()).flat_map(of).chain(self.control.next_ns()).min()
    }

    fn run_quantum(&mut self) {
        let until_ns = self.now_ns + QUANTUM_NS;
        let mut tx = Vec::new();
        for (rank, port) in self.ports.iter_mut().enumerate() {
            self.network.deliver(rank, until_ns, &mut self.rx[rank]);
            port.run(until_ns, &mut self.rx[rank], &mut tx);
            self.network.send(rank, tx.drain(..));
        }
        // The fates are not used.
        self.network.take_fates();
        self.now_ns = until_ns;
    }
}
