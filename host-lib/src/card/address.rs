//! Where a card is, as users say it.

use std::path::PathBuf;

use optireduce_contract::pci::is_address;

use super::error::CardError;
use crate::control::LaunchError;

/// The variable that may name the card.
const VARIABLE: &str = "OPTIREDUCE_CARD";

/// What the environment says; nothing if it is not set or empty.
///
/// # Errors
/// If it is no text.
pub(crate) fn from_env() -> Result<String, LaunchError> {
    std::env::var_os(VARIABLE).unwrap_or_default().into_string().map_err(|found| LaunchError::Invalid {
        name: VARIABLE,
        found: found.to_string_lossy().into_owned(),
        expected: "a path in UTF-8".into(),
    })
}

/// The vfio-user socket that `address` means: a path, or `vfio-user:` and a path, as errors name it.
///
/// # Errors
/// If it is the address of a PCI device.
pub(crate) fn socket_of(address: &str) -> Result<PathBuf, CardError> {
    if is_address(address) {
        return Err(CardError::Pci { address: address.into() });
    }
    Ok(address.strip_prefix("vfio-user:").unwrap_or(address).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pci_address_is_told_from_a_path() {
        for address in ["0000:5e:00.0", "5e:00.0", "FFFF:0a:1f.7"] {
            let error = socket_of(address).unwrap_err().to_string();
            assert!(error.contains(address) && error.contains("no VFIO backend yet"), "{error}");
        }
        for path in
            ["/tmp/card.sock", "card.sock", "./0000:5e:00.0", "00:5e", "0000:5e:00", "1:2.3", "/run/a:bc:de.0", ""]
        {
            assert_eq!(socket_of(path).unwrap(), PathBuf::from(path));
            assert_eq!(socket_of(&format!("vfio-user:{path}")).unwrap(), PathBuf::from(path));
        }
    }
}
