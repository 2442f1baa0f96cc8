//! Identification of a card, before other registers are trusted: magic, contract version, limits,
//! then two complementary SCRATCH patterns, which show that writes arrive.

use optireduce_contract::limits::{CONTRACT_VERSION, HADAMARD_LOG2_MIN, MAGIC, PAYLOAD_BEATS_MAX, QUEUES, RANKS_MAX};
use optireduce_contract::packet::Endpoint;
use optireduce_contract::registers::{self as regs, Register};

use crate::bus::Bus;
use crate::error::DriverError;

/// Maximum reads of a register in a wait, with `Bus::flush` and `Bus::relax` between them.
pub(crate) const POLLS_MAX: u32 = 1000;

/// Limits of a card, as its registers report them. `window_beats_max` and `payload_beats_max` are
/// in beats, `hadamard_log2_max` is the log2 of a block in elements.
#[allow(missing_docs)] // described above
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Limits {
    pub slots: usize,
    pub window_beats_max: usize,
    pub hadamard_log2_max: u32,
    pub ranks_max: usize,
    pub payload_beats_max: usize,
    pub queues: usize,
    pub build: u32,
}

/// Network address of a card, with the UDP port for both directions.
#[allow(missing_docs)] // described above
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetworkAddress {
    pub endpoint: Endpoint,
    pub udp_port: u16,
}

/// Card time, link state and shell build.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Surroundings {
    /// Card time in ns, the clock of a completion's `closed_ns`; 0 if the card reports none.
    pub card_time_ns: u64,
    /// Link state; `None` if the shell does not report it.
    pub link: Option<Link>,
    /// Build number of the shell, if reported.
    pub build_id: Option<u32>,
}

/// State of a link: alignment of the MAC's receiver and of RS-FEC.
#[allow(missing_docs)] // described above
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Link {
    pub up: bool,
    pub rsfec: bool,
}

impl Link {
    /// Decodes a value of `LINK`; `None` if the shell does not report the link.
    pub const fn of(value: u32) -> Option<Self> {
        let (up, rsfec) = (value & regs::LINK_UP != 0, value & regs::LINK_RSFEC != 0);
        if value & regs::LINK_KNOWN != 0 { Some(Self { up, rsfec }) } else { None }
    }
}

pub(crate) fn surroundings(bus: &impl Bus) -> Surroundings {
    let mut high = bus.read(&regs::CARD_TIME_HI);
    let mut low = 0;
    // The high half changes every 4.3 s, but a broken card may change it on every read.
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

/// Reads the network address; `None` if IP address or port is zero.
pub(crate) fn network_address(bus: &impl Bus) -> Option<NetworkAddress> {
    let [ip, mac_lo, mac_hi] = [&regs::LOCAL_IP, &regs::LOCAL_MAC_LO, &regs::LOCAL_MAC_HI].map(|at| bus.read(at));
    let (ip, [m0, m1, m2, m3], [m4, m5, ..]) = (ip.to_le_bytes(), mac_lo.to_le_bytes(), mac_hi.to_le_bytes());
    let udp_port = u16::from_be_bytes((bus.read(&regs::UDP_PORT) as u16).to_le_bytes());
    let endpoint = Endpoint { mac: [m0, m1, m2, m3, m4, m5], ip };
    (ip != [0; 4] && udp_port != 0).then_some(NetworkAddress { endpoint, udp_port })
}

/// Checks that the card answers and receives writes, and returns its limits.
pub(crate) fn identify(bus: &impl Bus) -> Result<Limits, DriverError> {
    let device = || bus.name().to_owned();
    bus.flush()?;
    check_magic(bus)?;
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
    // The upper bounds are the ranges of submission fields and of the peer table.
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

/// Checks the magic register. All ones twice mean that the card is gone.
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
