//! Opens a card before its job is known, and joins the job.

use std::net::{SocketAddr, SocketAddrV4};

use super::address::CardAddress;
use super::error::CardError;
use super::job::Cards;
use super::plane::CardPlane;
use super::stats::Stats;
use crate::control::{CardLimits, Job, Member, mac_of};
use crate::smartnic::{SmartNic, smartnic_dma_bytes};
use optireduce_contract::packet::Endpoint;
use optireduce_core::PlaneLimits;
use optireduce_driver::{Bus, CardBus, DriverError, JobConfig, Limits, NetworkAddress, Nic, job_ring_log2};

/// Enough DMA memory to read a card's limits.
const LITTLE_BYTES: usize = 4096;

pub(crate) struct OpenCard {
    nic: Nic<CardBus>,
    limits: PlaneLimits,
    ring_log2: u32,
    endpoint: Endpoint,
    address: CardAddress,
    stats: Option<Stats>,
}

impl OpenCard {
    /// `address`: PCI address or vfio-user socket of the card. `given`: its configured network
    /// address.
    pub fn open(address: &str, given: Option<CardAddress>) -> Result<Self, CardError> {
        // Its DMA memory depends on its limits, so the card is opened twice.
        let limits = Nic::open(CardBus::open(address, LITTLE_BYTES)?)?.limits();
        let ring_log2 = job_ring_log2(limits.slots);
        let limits = plane_limits(&limits);
        let nic = Nic::open(CardBus::open(address, smartnic_dma_bytes(&limits, ring_log2))?)?;
        let (endpoint, place) = place(address, nic.network_address()?, given)?;
        let stats = Stats::from_env(nic.bus().name())?;
        Ok(Self { nic, limits, ring_log2, endpoint, address: place, stats })
    }

    pub fn address(&self) -> SocketAddr {
        self.address.socket.into()
    }

    pub fn mac(&self) -> [u8; 6] {
        self.endpoint.mac
    }

    pub fn limits(&self) -> CardLimits {
        let PlaneLimits { slots, window_beats_max, hadamard_log2_max, ranks_max, payload_beats_max } = self.limits;
        CardLimits { slots, window_beats_max, hadamard_log2_max, ranks_max, payload_beats_max }
    }

    /// `falls_back`: the job falls back to UDP if the card fails.
    pub fn join(
        self,
        rank: usize,
        job: &Job,
        cards: &Cards,
        payload_beats: usize,
        falls_back: bool,
    ) -> Result<CardPlane, CardError> {
        let endpoint = |member: &Member| match member.udp {
            _ if member.rank == rank => self.endpoint,
            SocketAddr::V4(address) => self.address.next_hop(*address.ip(), member.mac),
            SocketAddr::V6(_) => Endpoint::default(),
        };
        let config = JobConfig {
            rank,
            ranks: job.members.len(),
            job_tag: job.tag,
            payload_beats,
            udp_port: cards.port(),
            endpoints: job.members.iter().map(endpoint).collect(),
            rates_bytes_per_us: Vec::new(),
            queue: 0,
            ring_log2: self.ring_log2,
        };
        let plane = SmartNic::new(self.nic, &config).map_err(|error| CardError::Driver(error.into()))?;
        Ok(CardPlane::new(plane, self.stats, falls_back))
    }
}

/// Network address of card `card`, from its registers (`found`) and its configuration (`given`).
/// Without a MAC address it uses a locally administered one, derived from its IP address.
fn place(
    card: &str,
    found: Option<NetworkAddress>,
    given: Option<CardAddress>,
) -> Result<(Endpoint, CardAddress), CardError> {
    let address = || card.to_owned();
    let known = found.map(|NetworkAddress { endpoint, udp_port }| SocketAddrV4::new(endpoint.ip.into(), udp_port));
    let place = match (known, given) {
        (None, None) => return Err(CardError::NoAddress { address: address() }),
        (Some(socket), None) => CardAddress { socket, gateway: None },
        (Some(known), Some(given)) if known != given.socket => {
            return Err(CardError::OtherAddress {
                address: address(),
                found: known.into(),
                given: given.socket.into(),
            });
        }
        (None, Some(given)) if mac_of((*given.socket.ip()).into()).is_some() => {
            return Err(CardError::HostsAddress { address: address(), given: given.socket.into() });
        }
        (_, Some(given)) => given,
    };
    let own = Endpoint::of_ip(place.socket.ip().octets());
    let endpoint = found.map_or(own, |found| found.endpoint);
    let mac = if endpoint.mac == [0; 6] { own.mac } else { endpoint.mac };
    Ok((Endpoint { mac, ..endpoint }, place))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn known(ip: [u8; 4], mac: [u8; 6]) -> Option<NetworkAddress> {
        Some(NetworkAddress { endpoint: Endpoint { mac, ip }, udp_port: 7 })
    }

    fn given(text: &str) -> Option<CardAddress> {
        Some(text.parse().unwrap())
    }

    #[test]
    fn a_card_is_where_it_says_or_where_its_rank_says_and_an_error_if_nobody_does_or_they_differ() {
        let (ip, mac) = ([10, 0, 0, 2], [0x52, 0x54, 0, 0, 0, 1]);
        let own = Endpoint { mac, ip };
        let plain = given("10.0.0.2:7").unwrap();
        assert_eq!(place("c", known(ip, mac), None).unwrap(), (own, plain));
        assert_eq!(place("c", known(ip, [0; 6]), None).unwrap(), (Endpoint::of_ip(ip), plain));
        assert_eq!(place("c", None, Some(plain)).unwrap(), (Endpoint::of_ip(ip), plain));
        let routed = given("10.0.0.2/24:7,gateway=52:54:00:12:34:56");
        assert_eq!(place("c", known(ip, mac), routed).unwrap(), (own, routed.unwrap()));
        let none = place("c", None, None).unwrap_err().to_string();
        assert!(none.starts_with("card c: it has no address") && none.contains("OPTIREDUCE_CARD, --card"), "{none}");
        let other = place("c", known(ip, mac), given("10.0.0.3:7")).unwrap_err().to_string();
        assert!(other.contains("it is at 10.0.0.2:7") && other.contains("serve the card at 10.0.0.3:7"), "{other}");
    }
}
