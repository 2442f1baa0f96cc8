//! Which card is meant, and the way to it.

use optireduce_driver::CardBus;

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
    Ok(address)
}
