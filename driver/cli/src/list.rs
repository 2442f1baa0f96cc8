//! `list`: the cards on this machine's PCI bus, as the kernel knows them.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use optireduce_contract::pci::{DEVICE_ID, VENDOR_ID};
use serde::Serialize;

use crate::args::ListArgs;
use crate::outcome::{Failure, print, table};

const DEVICES: &str = "/sys/bus/pci/devices";

/// A PCI device with our numbers. Only opening it would tell whether it is a card of ours: others keep the bridge's numbers, too.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
struct Device {
    /// Domain, bus, device and function.
    address: String,
    /// The driver that it is bound to.
    driver: Option<String>,
    iommu_group: Option<String>,
}

/// Lists the cards.
///
/// # Errors
/// If the kernel's list cannot be read.
pub fn run(args: &ListArgs) -> Result<(), Failure> {
    let devices = find(Path::new(DEVICES)).map_err(|error| format!("reading {DEVICES}: {error}"))?;
    print(args.json, &devices, || describe(&devices))
}

/// The devices with our numbers below `root`; none where there is no PCI bus.
fn find(root: &Path) -> io::Result<Vec<Device>> {
    let entries = match fs::read_dir(root) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut devices = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let is = |file: &str, id: u16| {
            fs::read_to_string(path.join(file)).is_ok_and(|text| text.trim() == format!("{id:#06x}"))
        };
        if is("vendor", VENDOR_ID) && is("device", DEVICE_ID) {
            let address = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let [driver, iommu_group] = ["driver", "iommu_group"].map(|link| target(&path.join(link)));
            devices.push(Device { address, driver, iommu_group });
        }
    }
    devices.sort();
    Ok(devices)
}

/// The last part of what a link leads to.
fn target(link: &Path) -> Option<String> {
    Some(fs::read_link(link).ok()?.file_name()?.to_string_lossy().into_owned())
}

fn describe(devices: &[Device]) -> String {
    if devices.is_empty() {
        return format!(
            "No PCI device {VENDOR_ID:04x}:{DEVICE_ID:04x} on this machine. To try a simulated card:
  optireduce-sim serve --socket /tmp/card.sock --network udp:127.0.0.2
  optireduce-nic info /tmp/card.sock
"
        );
    }
    let or_none = |text: &Option<String>| text.clone().unwrap_or_else(|| "none".to_owned());
    let head = ["address", "driver", "IOMMU group"].map(str::to_owned);
    let rows =
        devices.iter().map(|device| [device.address.clone(), or_none(&device.driver), or_none(&device.iommu_group)]);
    let rows: Vec<_> = std::iter::once(head).chain(rows).collect();
    table(&rows) + "There is no VFIO backend yet, so none of these can be opened.\n"
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;

    use super::*;

    /// A directory with devices, removed at the end.
    struct Root(PathBuf);

    impl Root {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("optireduce-nic-{name}-{}", std::process::id()));
            fs::create_dir_all(&path).unwrap();
            Self(path)
        }

        fn device(&self, address: &str, vendor: &str, device: &str) -> PathBuf {
            let path = self.0.join(address);
            fs::create_dir(&path).unwrap();
            fs::write(path.join("vendor"), format!("{vendor}\n")).unwrap();
            fs::write(path.join("device"), format!("{device}\n")).unwrap();
            path
        }
    }

    impl Drop for Root {
        fn drop(&mut self) {
            fs::remove_dir_all(&self.0).unwrap();
        }
    }

    #[test]
    fn only_devices_with_our_numbers_are_listed_with_driver_and_group() {
        let root = Root::new("list");
        let bound = root.device("0000:5e:00.0", "0x10ee", "0x903f");
        symlink("../../../bus/pci/drivers/vfio-pci", bound.join("driver")).unwrap();
        symlink("../../../kernel/iommu_groups/17", bound.join("iommu_group")).unwrap();
        root.device("0000:01:00.0", "0x10ee", "0x903f");
        root.device("0000:02:00.0", "0x10ee", "0x9038");
        root.device("0000:03:00.0", "0x8086", "0x903f");
        // A device that goes away while it is looked at.
        fs::create_dir(root.0.join("0000:04:00.0")).unwrap();
        let devices = find(&root.0).unwrap();
        let text = describe(&devices);
        assert_eq!(
            text,
            "address       driver    IOMMU group\n0000:01:00.0  none      none\n0000:5e:00.0  vfio-pci  17\n\
             There is no VFIO backend yet, so none of these can be opened.\n"
        );
        let json = serde_json::to_value(&devices).unwrap();
        assert_eq!(json[1], serde_json::json!({"address": "0000:5e:00.0", "driver": "vfio-pci", "iommu_group": "17"}));
        assert_eq!(json[0]["driver"], serde_json::Value::Null);
    }

    #[test]
    fn a_machine_without_cards_is_told_how_to_serve_one() {
        let root = Root::new("none");
        root.device("0000:03:00.0", "0x8086", "0x903f");
        assert_eq!(find(&root.0).unwrap(), []);
        assert_eq!(find(&root.0.join("missing")).unwrap(), []);
        assert!(find(&root.0.join("0000:03:00.0/vendor")).is_err());
        let text = describe(&[]);
        assert!(text.starts_with("No PCI device 10ee:903f") && text.contains("optireduce-sim serve"), "{text}");
    }
}
