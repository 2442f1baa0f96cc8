//! Address, opening and identity of the card that a command works on.

use std::fmt;

use optireduce_contract::limits::CONTRACT_VERSION;
use optireduce_driver::{CardBus, DriverError, Nic};
use serde::Serialize;

use crate::outcome::Failure;

/// Variable that names the card, also in training jobs.
const VARIABLE: &str = "OPTIREDUCE_CARD";
/// DMA memory of commands that only access registers.
pub const LITTLE_BYTES: usize = 4096;

pub fn open(argument: Option<&str>, dma_bytes: usize) -> Result<CardBus, Failure> {
    Ok(CardBus::open(&address(argument)?, dma_bytes)?)
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Identity {
    pub contract_version: u32,
    pub build: u32,
    pub build_id: Option<u32>,
    /// DMA memory of a job, in bytes.
    #[serde(skip)]
    pub job_dma_bytes: usize,
}

pub fn identify(address: &str, dma_bytes: usize) -> Result<Identity, DriverError> {
    let nic = Nic::open(CardBus::open(address, dma_bytes)?)?;
    let build_id = nic.surroundings()?.build_id;
    // `Nic::open` refuses any other contract version.
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

/// Returns the address in `argument`, else in the environment. Refuses patterns for all ranks.
pub fn address(argument: Option<&str>) -> Result<String, Failure> {
    let address = match argument {
        Some(address) => address.to_owned(),
        None => std::env::var_os(VARIABLE).unwrap_or_default().into_string().map_err(|found| {
            format!("{VARIABLE} is {}, expected a PCI address, or a path in UTF-8", found.to_string_lossy())
        })?,
    };
    // A job also reads the card's network address there.
    let address = address.split_once(",address=").map_or(address.as_str(), |(place, _)| place).to_owned();
    if matches!(address.as_str(), "" | "vfio-user:" | "none") {
        return Err(format!(
            "no card is named; pass its PCI address (see `optireduce-nic list`) or the path of its vfio-user socket, or set {VARIABLE}"
        )
        .into());
    }
    if address.contains("{rank}") {
        let named = argument.map_or(VARIABLE, |_| "CARD");
        return Err(format!(
            "{named} is {address}, in which a job replaces {{rank}} by each rank's number; expected one card, for instance `{}` of rank 0",
            address.replace("{rank}", "0")
        )
        .into());
    }
    Ok(address)
}
