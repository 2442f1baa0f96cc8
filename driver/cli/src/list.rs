//! `list`: the cards on this machine's PCI bus, as the kernel knows them.

use optireduce_contract::pci::{DEVICE_ID, VENDOR_ID};
use optireduce_driver::{Machine, PciFunction, VFIO_PCI};

use crate::args::ListArgs;
use crate::outcome::{Failure, print, table};

/// Lists the cards.
///
/// # Errors
/// If the kernel's list cannot be read.
pub fn run(args: &ListArgs) -> Result<(), Failure> {
    let devices = cards(&Machine::this())?;
    print(args.json, &devices, || describe(&devices))
}

/// The devices with our numbers. Only opening one would tell whether it is a card of ours: others keep the bridge's numbers, too.
///
/// # Errors
/// As [`run`].
pub fn cards(machine: &Machine) -> Result<Vec<PciFunction>, String> {
    let mut found = machine.functions().map_err(|error| {
        let path = machine.sys("bus/pci/devices");
        format!("reading {}: {error}", path.display())
    })?;
    found.retain(PciFunction::may_be_a_card);
    Ok(found)
}

/// What is said where there are none.
pub fn none() -> String {
    format!(
        "No PCI device {VENDOR_ID:04x}:{DEVICE_ID:04x} on this machine. To try a simulated card:
  optireduce-sim serve --socket /tmp/card.sock --network udp:127.0.0.2
  optireduce-nic info /tmp/card.sock
"
    )
}

fn describe(devices: &[PciFunction]) -> String {
    if devices.is_empty() {
        return none();
    }
    let or_none = |text: &Option<String>| text.clone().unwrap_or_else(|| "none".to_owned());
    let head = ["address", "driver", "IOMMU group"].map(str::to_owned);
    let rows =
        devices.iter().map(|device| [device.address.clone(), or_none(&device.driver), or_none(&device.iommu_group)]);
    let rows: Vec<_> = std::iter::once(head).chain(rows).collect();
    let unbound = devices.iter().find(|device| device.driver.as_deref() != Some(VFIO_PCI));
    let next = unbound.map(|device| {
        format!("To use a card that is not bound to {VFIO_PCI}: optireduce-nic bind {}\n", device.address)
    });
    table(&rows) + &next.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine_in_a_folder::{CARD, Folder};

    #[test]
    fn only_devices_with_our_numbers_are_listed_with_driver_and_group() {
        let folder = Folder::new("list");
        folder.device("0000:5e:00.0", CARD, Some(VFIO_PCI), Some("17"));
        folder.device("0000:01:00.0", CARD, None, None);
        folder.device("0000:02:00.0", (0x10ee, 0x9038, 0x02_0000), None, None);
        folder.device("0000:03:00.0", (0x8086, 0x903f, 0x02_0000), None, None);
        // A device that goes away while it is looked at.
        std::fs::create_dir(folder.machine().device("0000:04:00.0")).unwrap();
        let devices = cards(&folder.machine()).unwrap();
        assert_eq!(
            describe(&devices),
            "address       driver    IOMMU group\n0000:01:00.0  none      none\n0000:5e:00.0  vfio-pci  17\n\
             To use a card that is not bound to vfio-pci: optireduce-nic bind 0000:01:00.0\n"
        );
        let json = serde_json::to_value(&devices).unwrap();
        assert_eq!(json[1], serde_json::json!({"address": "0000:5e:00.0", "driver": "vfio-pci", "iommu_group": "17"}));
        assert_eq!(json[0]["driver"], serde_json::Value::Null);
        assert!(!describe(&devices[1..]).contains("bind"));
    }

    #[test]
    fn a_machine_without_cards_is_told_how_to_serve_one() {
        let folder = Folder::new("none");
        folder.device("0000:03:00.0", (0x8086, 0x903f, 0x02_0000), None, None);
        assert_eq!(cards(&folder.machine()).unwrap(), []);
        assert_eq!(cards(&Machine::at("/nowhere".as_ref())).unwrap(), []);
        let text = describe(&[]);
        assert!(text.starts_with("No PCI device 10ee:903f") && text.contains("optireduce-sim serve"), "{text}");
    }
}
