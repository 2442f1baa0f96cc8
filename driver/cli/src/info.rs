//! `info`: a card's identity, limits and network address.

use std::net::Ipv4Addr;

use optireduce_contract::limits::{BEAT_BYTES, HADAMARD_LOG2_MIN};
use optireduce_contract::registers as reg;
use optireduce_driver::{Bus, Limits, NetworkAddress, Nic, PciId, Surroundings};
use serde::Serialize;

use crate::args::CardArgs;
use crate::card::{LITTLE_BYTES, open};
use crate::dump::link;
use crate::outcome::{Failure, print, table};

#[derive(Debug, Serialize)]
struct Info {
    card: String,
    pci: Pci,
    contract_version: u32,
    #[serde(flatten)]
    limits: Limits,
    window_bytes_max: usize,
    payload_bytes_max: usize,
    /// Block sizes of the Hadamard transform.
    hadamard_elements: Vec<usize>,
    payload_formats: [&'static str; 2],
    network: Option<Network>,
    #[serde(flatten)]
    surroundings: Surroundings,
}

#[derive(Debug, Serialize)]
struct Pci {
    vendor: String,
    device: String,
    class: String,
}

#[derive(Debug, Serialize)]
struct Network {
    ip: String,
    udp_port: u16,
    mac: String,
}

pub fn run(args: &CardArgs) -> Result<(), Failure> {
    let bus = open(args.card.as_deref(), LITTLE_BYTES)?;
    let id = bus.id();
    let nic = Nic::open(bus)?;
    let info = Info::of(&nic, id)?;
    nic.check_alive()?;
    print(args.json, &info, || info.describe())
}

impl Info {
    fn of<B: Bus>(nic: &Nic<B>, id: PciId) -> Result<Self, Failure> {
        let limits = nic.limits();
        let blocks = (HADAMARD_LOG2_MIN..=limits.hadamard_log2_max).step_by(2);
        Ok(Self {
            card: nic.bus().name().to_owned(),
            pci: Pci {
                vendor: format!("{:04x}", id.vendor),
                device: format!("{:04x}", id.device),
                class: format!("{:06x}", id.class),
            },
            contract_version: nic.bus().read(&reg::CONTRACT),
            limits,
            window_bytes_max: limits.window_beats_max * BEAT_BYTES,
            payload_bytes_max: limits.payload_beats_max * BEAT_BYTES,
            hadamard_elements: blocks.map(|log2| 1 << log2).collect(),
            payload_formats: ["fp32", "bf16"],
            network: nic.network_address()?.map(|address| Network::of(&address)),
            surroundings: nic.surroundings()?,
        })
    }

    fn describe(&self) -> String {
        let Self { limits, pci, surroundings, .. } = self;
        let build_id = surroundings.build_id.map_or("not reported".to_owned(), |id| format!("{id:#010x}"));
        let blocks: Vec<String> = self.hadamard_elements.iter().map(usize::to_string).collect();
        let network = match &self.network {
            Some(Network { ip, udp_port, mac }) => format!("{ip}, UDP port {udp_port}, MAC {mac}"),
            None => "no address; a job assigns one (card, OPTIREDUCE_CARD)".to_owned(),
        };
        let rows = [
            ("card", self.card.clone()),
            ("PCI id", format!("{}:{}, class {}", pci.vendor, pci.device, pci.class)),
            ("contract", format!("version {}", self.contract_version)),
            ("build", limits.build.to_string()),
            ("build id", build_id),
            ("link", link(surroundings.link).to_owned()),
            ("card time", format!("{} ns", surroundings.card_time_ns)),
            ("network", network),
            ("ranks", format!("2 to {}", limits.ranks_max)),
            ("window slots", limits.slots.to_string()),
            ("largest window", format!("{} beats, {} bytes", limits.window_beats_max, self.window_bytes_max)),
            ("largest payload", format!("{} beats, {} bytes", limits.payload_beats_max, self.payload_bytes_max)),
            ("payload formats", self.payload_formats.join(", ")),
            ("Hadamard blocks", format!("{} elements", blocks.join(", "))),
            ("queue pairs", format!("{}, each with an MSI-X vector", limits.queues)),
        ];
        table(&rows.map(|(name, value)| [name.to_owned(), value]))
    }
}

impl Network {
    fn of(address: &NetworkAddress) -> Self {
        let mac: Vec<String> = address.endpoint.mac.iter().map(|byte| format!("{byte:02x}")).collect();
        let (ip, udp_port) = (Ipv4Addr::from(address.endpoint.ip).to_string(), address.udp_port);
        Self { ip, udp_port, mac: mac.join(":") }
    }
}
