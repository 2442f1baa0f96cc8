//! Identity of a card, checked before anything else is believed or written.
//!
//! Order: magic, contract version, limits, then SCRATCH and its complement twice, which shows that the card hears
//! writes. Every wait is bounded by a number of polls.

use optireduce_contract::limits::{CONTRACT_VERSION, HADAMARD_LOG2_MIN, MAGIC, PAYLOAD_BEATS_MAX, QUEUES, RANKS_MAX};
use optireduce_contract::packet::Endpoint;
use optireduce_contract::registers::{self as regs, Register};

use crate::bus::Bus;
use crate::error::DriverError;

/// Reads of a register before a wait on it is given up; `Bus::flush` and `Bus::relax` between two of them.
pub(crate) const POLLS_MAX: u32 = 1000;

/// What a card can do, as its registers say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Limits {
    /// Window slots.
    pub slots: usize,
    /// Beats of the largest window.
    pub window_beats_max: usize,
    /// log2 of the largest Hadamard block in elements.
    pub hadamard_log2_max: u32,
    /// Most ranks of a job.
    pub ranks_max: usize,
    /// Largest payload of a packet in beats.
    pub payload_beats_max: usize,
    /// Queue pairs.
    pub queues: usize,
    /// Build number of the card.
    pub build: u32,
}

/// Where a card is on the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetworkAddress {
    /// Its MAC and IP addresses.
    pub endpoint: Endpoint,
    /// The UDP port at which it receives, and from which it sends.
    pub udp_port: u16,
}

/// What a card says of what is around it. A card without these registers says nothing: its time is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Surroundings {
    /// Card time in ns: the clock of completions' `closed_ns`.
    pub card_time_ns: u64,
    /// Its link; `None`: its shell does not say.
    pub link: Option<Link>,
    /// Number that its shell was built with; `None`: it does not say.
    pub build_id: Option<u32>,
}

/// The state of a card's link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Link {
    /// The MAC's receiver is aligned.
    pub up: bool,
    /// RS-FEC is aligned.
    pub rsfec: bool,
}

impl Link {
    /// What a value of `LINK` says; `None` if it says nothing.
    pub const fn of(value: u32) -> Option<Self> {
        let (up, rsfec) = (value & regs::LINK_UP != 0, value & regs::LINK_RSFEC != 0);
        if value & regs::LINK_KNOWN != 0 { Some(Self { up, rsfec }) } else { None }
    }
}

/// What the card's registers say of what is around it.
pub(crate) fn surroundings(bus: &impl Bus) -> Surroundings {
    let mut high = bus.read(&regs::CARD_TIME_HI);
    let mut low = 0;
    // The high half changes every four seconds; a card whose does each time is not believed for ever.
    for _ in 0..3 {
        low = bus.read(&regs::CARD_TIME_LO);
        let again = bus.read(&regs::CARD_TIME_HI);
        if again == high {
            break;
        }
        high = again;
    }
    Surroundings {
        card_time_ns: u64::from(high) << 32 | u64::from(low),
        link: Link::of(bus.read(&regs::LINK)),
        build_id: Some(bus.read(&regs::BUILD_ID)).filter(|id| *id != 0),
    }
}

/// What the card's registers say of its place on the network; `None` if IP address or port are zero.
pub(crate) fn network_address(bus: &impl Bus) -> Option<NetworkAddress> {
    let [ip, mac_lo, mac_hi] = [&regs::LOCAL_IP, &regs::LOCAL_MAC_LO, &regs::LOCAL_MAC_HI].map(|at| bus.read(at));
    let (ip, [m0, m1, m2, m3], [m4, m5, ..]) = (ip.to_le_bytes(), mac_lo.to_le_bytes(), mac_hi.to_le_bytes());
    let udp_port = u16::from_be_bytes((bus.read(&regs::UDP_PORT) as u16).to_le_bytes());
    let endpoint = Endpoint { mac: [m0, m1, m2, m3, m4, m5], ip };
    (ip != [0; 4] && udp_port != 0).then_some(NetworkAddress { endpoint, udp_port })
}

/// Checks that a card of ours answers and hears, and reads what it can do.
pub(crate) fn identify(bus: &impl Bus) -> Result<Limits, DriverError> {
    let device = || bus.name().to_owned();
    bus.flush()?;
    check_magic(bus)?;
    // A card that leaves in between reads as all ones.
    let read = |register: &Register| -> Result<u32, DriverError> {
        let found = bus.read(register);
        if found == u32::MAX {
            check_magic(bus)?;
        }
        Ok(found)
    };
    let found = read(&regs::CONTRACT)?;
    if found != CONTRACT_VERSION {
        return Err(DriverError::ContractMismatch { device: device(), found, expected: CONTRACT_VERSION });
    }
    let limit = |register: &Register, lowest: u32, highest: u32| {
        let found = read(register)?;
        if (lowest..=highest).contains(&found) {
            return Ok(found);
        }
        Err(DriverError::BadLimit { device: device(), register: register.name, found, lowest, highest })
    };
    // The upper bounds are what the fields of a submission and the peer table can hold.
    let limits = Limits {
        slots: limit(&regs::SLOTS, 1, 256)? as usize,
        window_beats_max: limit(&regs::WINDOW_BEATS_MAX, 1, u16::MAX.into())? as usize,
        hadamard_log2_max: limit(&regs::HADAMARD_LOG2_MAX, HADAMARD_LOG2_MIN, 14)?,
        ranks_max: limit(&regs::RANKS_MAX, 2, RANKS_MAX as u32)? as usize,
        payload_beats_max: limit(&regs::PAYLOAD_BEATS_MAX, 1, PAYLOAD_BEATS_MAX as u32)? as usize,
        queues: limit(&regs::QUEUES, 1, QUEUES as u32)? as usize,
        build: read(&regs::BUILD)?,
    };
    for pattern in [0x5aa5_3cc3, !0x5aa5_3cc3] {
        echo(bus, pattern)?;
    }
    Ok(limits)
}

/// Checks the magic register; all ones, twice, mean that nothing is there.
pub(crate) fn check_magic(bus: &impl Bus) -> Result<(), DriverError> {
    let device = || bus.name().to_owned();
    let mut found = bus.read(&regs::MAGIC);
    if found == u32::MAX {
        bus.flush()?;
        found = bus.read(&regs::MAGIC);
    }
    match found {
        MAGIC => Ok(()),
        u32::MAX => Err(DriverError::DeviceGone { device: device() }),
        _ => Err(DriverError::NotACard { device: device(), found, expected: MAGIC }),
    }
}

fn echo(bus: &impl Bus, wrote: u32) -> Result<(), DriverError> {
    bus.write(&regs::SCRATCH, wrote);
    let mut found = 0;
    for _ in 0..POLLS_MAX {
        bus.flush()?;
        found = bus.read(&regs::SCRATCH_ECHO);
        if found == !wrote {
            return Ok(());
        }
        bus.relax();
    }
    check_magic(bus)?;
    Err(DriverError::NoEcho { device: bus.name().into(), wrote, expected: !wrote, found, polls: POLLS_MAX })
}
