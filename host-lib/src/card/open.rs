//! Finding a card before its job is known, and taking it into the job.

use std::net::{Ipv4Addr, SocketAddr};

use super::error::CardError;
use super::job::Cards;
use super::plane::CardPlane;
use super::stats::Stats;
use crate::control::{CardLimits, Job};
use crate::smartnic::{SmartNic, smartnic_dma_bytes};
use optireduce_contract::packet::Endpoint;
use optireduce_core::PlaneLimits;
use optireduce_driver::{Bus, CardBus, DriverError, JobConfig, Limits, NetworkAddress, Nic};

/// Memory for a card of which only the limits are wanted.
const LITTLE_BYTES: usize = 4096;
/// Entries of a ring for each slot: more than its commands that may wait, so that room for completions is given back seldom.
const ENTRIES_PER_SLOT: usize = 32;

/// A card that works for no job yet.
pub(crate) struct OpenCard {
    nic: Nic<CardBus>,
    limits: PlaneLimits,
    ring_log2: u32,
    address: NetworkAddress,
    stats: Option<Stats>,
}

impl OpenCard {
    /// Takes the card at `address`, and looks what it can do.
    ///
    /// # Errors
    /// If there is none, it cannot be opened, somebody else has the card, it is no card of ours, or it has no address on the network.
    pub fn open(address: &str) -> Result<Self, CardError> {
        // How much memory it takes is known only once its limits are.
        let limits = Nic::open(CardBus::open(address, LITTLE_BYTES)?)?.limits();
        let ring_log2 = (ENTRIES_PER_SLOT * limits.slots).next_power_of_two().ilog2();
        let limits = plane_limits(&limits);
        let nic = Nic::open(CardBus::open(address, smartnic_dma_bytes(&limits, ring_log2))?)?;
        let found = nic.network_address()?;
        let place = found.ok_or_else(|| CardError::NoAddress { address: address.into() })?;
        let stats = Stats::from_env(nic.bus().name())?;
        Ok(Self { nic, limits, ring_log2, address: place, stats })
    }

    /// Where it receives.
    pub fn address(&self) -> SocketAddr {
        (Ipv4Addr::from(self.address.endpoint.ip), self.address.udp_port).into()
    }

    /// What all ranks must know of it.
    pub fn limits(&self) -> CardLimits {
        let PlaneLimits { slots, window_beats_max, hadamard_log2_max, ranks_max, payload_beats_max } = self.limits;
        CardLimits { slots, window_beats_max, hadamard_log2_max, ranks_max, payload_beats_max }
    }

    /// The data plane of `rank`. `falls_back`: the job can go on without the card.
    ///
    /// # Errors
    /// If the card refuses the job, or is gone.
    pub fn join(
        self,
        rank: usize,
        job: &Job,
        cards: &Cards,
        payload_beats: usize,
        falls_back: bool,
    ) -> Result<CardPlane, CardError> {
        let endpoint = |(peer, address): (usize, SocketAddr)| match address {
            _ if peer == rank => self.address.endpoint,
            SocketAddr::V4(address) => Endpoint::of_ip(address.ip().octets()),
            SocketAddr::V6(_) => Endpoint::default(),
        };
        let config = JobConfig {
            rank,
            ranks: job.members.len(),
            job_tag: job.tag,
            payload_beats,
            udp_port: cards.port(),
            endpoints: job.members.iter().map(|member| member.udp).enumerate().map(endpoint).collect(),
            rates_bytes_per_us: Vec::new(),
            queue: 0,
            ring_log2: self.ring_log2,
        };
        let plane = SmartNic::new(self.nic, &config).map_err(|error| CardError::Driver(error.into()))?;
        Ok(CardPlane::new(plane, self.stats, falls_back))
    }
}

impl From<DriverError> for CardError {
    fn from(error: DriverError) -> Self {
        Self::Driver(error.into())
    }
}

fn plane_limits(limits: &Limits) -> PlaneLimits {
    PlaneLimits {
        slots: limits.slots,
        window_beats_max: limits.window_beats_max,
        hadamard_log2_max: limits.hadamard_log2_max,
        ranks_max: limits.ranks_max,
        payload_beats_max: limits.payload_beats_max,
    }
}
