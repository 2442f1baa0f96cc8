//! Where a card is, and the way to it.

use std::path::PathBuf;

use optireduce_contract::pci::is_address;
use optireduce_driver::VfioUserBus;

use crate::outcome::Failure;

/// The variable that may name the card, as for trainers.
const VARIABLE: &str = "OPTIREDUCE_CARD";
/// Memory for a card of which only the registers are wanted.
pub const LITTLE_BYTES: usize = 4096;

/// Opens the card that the argument names, or else the environment, with `dma_bytes` bytes of DMA memory. This resets the card.
///
/// # Errors
/// No card is named, it is a PCI device, nothing is served there, or somebody else has it.
pub fn open(argument: Option<&str>, dma_bytes: usize) -> Result<VfioUserBus, Failure> {
    let address = match argument {
        Some(address) => address.to_owned(),
        None => std::env::var_os(VARIABLE)
            .unwrap_or_default()
            .into_string()
            .map_err(|found| format!("{VARIABLE} is {}, expected a path in UTF-8", found.to_string_lossy()))?,
    };
    Ok(VfioUserBus::open(&socket_of(&address)?, dma_bytes)?)
}

/// The socket that `address` means.
fn socket_of(address: &str) -> Result<PathBuf, String> {
    if is_address(address) {
        return Err(format!(
            "card {address}: that is the address of a PCI device, and there is no VFIO backend yet; expected the path of a vfio-user \
             socket, such as `optireduce-sim serve --socket PATH --network udp:ADDRESS` makes for a simulated card"
        ));
    }
    match address.strip_prefix("vfio-user:").unwrap_or(address) {
        "" => Err(format!(
            "no card is named: give the path of its vfio-user socket, or set {VARIABLE}; `optireduce-nic list` shows the cards on \
             the PCI bus"
        )),
        path => Ok(path.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_is_named_by_a_path_with_or_without_a_prefix() {
        for name in ["/tmp/card.sock", "vfio-user:/tmp/card.sock"] {
            assert_eq!(socket_of(name).unwrap(), PathBuf::from("/tmp/card.sock"));
        }
        let pci = socket_of("0000:5e:00.0").unwrap_err();
        assert!(pci.starts_with("card 0000:5e:00.0: ") && pci.contains("no VFIO backend yet"), "{pci}");
        for nothing in ["", "vfio-user:"] {
            let missing = socket_of(nothing).unwrap_err();
            assert!(missing.starts_with("no card is named") && missing.contains("OPTIREDUCE_CARD"), "{missing}");
        }
    }
}
