//! Which card is meant, and the way to it.

use std::fmt;

use optireduce_contract::limits::CONTRACT_VERSION;
use optireduce_driver::{CardBus, DriverError, Nic};
use serde::Serialize;

use crate::outcome::Failure;

/// The variable that may name the card, as for trainers.
const VARIABLE: &str = "OPTIREDUCE_CARD";
/// Memory for a card of which only the registers are wanted.
pub const LITTLE_BYTES: usize = 4096;

/// Opens the card that the argument names, or else the environment, with `dma_bytes` bytes of DMA memory. This resets the card.
///
/// # Errors
/// No card is named, it cannot be opened, or somebody else has it.
pub fn open(argument: Option<&str>, dma_bytes: usize) -> Result<CardBus, Failure> {
    Ok(CardBus::open(&address(argument)?, dma_bytes)?)
}

/// What a card says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Identity {
    pub contract_version: u32,
    pub build: u32,
    /// `None`: its shell does not say.
    pub build_id: Option<u32>,
    /// DMA memory that a job with it takes.
    #[serde(skip)]
    pub job_dma_bytes: usize,
}

/// Opens the card at `address` with `dma_bytes` bytes of DMA memory, which resets it, and asks it.
///
/// # Errors
/// It cannot be opened, or is none of ours.
pub fn identify(address: &str, dma_bytes: usize) -> Result<Identity, DriverError> {
    let nic = Nic::open(CardBus::open(address, dma_bytes)?)?;
    let build_id = nic.surroundings()?.build_id;
    // A card with another contract is not opened.
    let limits = nic.limits();
    let job_dma_bytes = limits.job_dma_bytes();
    Ok(Identity { contract_version: CONTRACT_VERSION, build: limits.build, build_id, job_dma_bytes })
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "contract version {}, build {}", self.contract_version, self.build)?;
        self.build_id.map_or(Ok(()), |id| write!(f, ", build id {id:#010x}"))
    }
}

/// The address that the argument gives, or else the environment.
///
/// # Errors
/// No card is named.
pub fn address(argument: Option<&str>) -> Result<String, Failure> {
    let address = match argument {
        Some(address) => address.to_owned(),
        None => std::env::var_os(VARIABLE).unwrap_or_default().into_string().map_err(|found| {
            format!("{VARIABLE} is {}, expected a PCI address, or a path in UTF-8", found.to_string_lossy())
        })?,
    };
    if matches!(address.as_str(), "" | "vfio-user:") {
        return Err(format!(
            "no card is named: give its PCI address, which `optireduce-nic list` shows, or the path of its vfio-user socket, or set {VARIABLE}"
        )
        .into());
    }
    if address.contains("{rank}") {
        let named = argument.map_or(VARIABLE, |_| "CARD");
        return Err(format!(
            "{named} is {address}, where a job puts each rank's number; expected one card: name it, for instance `{}` of rank 0",
            address.replace("{rank}", "0")
        )
        .into());
    }
    Ok(address)
}
