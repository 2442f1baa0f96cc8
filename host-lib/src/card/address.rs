//! Where a card is, as users say it.

use std::path::PathBuf;

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

/// The vfio-user socket that `address` means.
///
/// # Errors
/// If it is the address of a PCI device.
pub(crate) fn socket_of(address: &str) -> Result<PathBuf, CardError> {
    if is_pci(address) { Err(CardError::Pci { address: address.into() }) } else { Ok(address.into()) }
}

/// Whether it has the form of `lspci`'s addresses: `5e:00.0`, with a domain or without.
fn is_pci(address: &str) -> bool {
    let is_hex = |text: &str, digits: usize| text.len() == digits && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let Some((bus, rest)) = address.rsplit_once(':') else { return false };
    let (domain, bus) = bus.rsplit_once(':').map_or((None, bus), |(domain, bus)| (Some(domain), bus));
    let Some((device, function)) = rest.split_once('.') else { return false };
    domain.is_none_or(|domain| is_hex(domain, 4)) && is_hex(bus, 2) && is_hex(device, 2) && is_hex(function, 1)
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
        }
    }
}
