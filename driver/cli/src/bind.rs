//! `bind` and `unbind`: move a card to VFIO and back to the kernel's drivers.
//!
//! `driver_override` names the only driver that may bind the device, so no other driver can bind it
//! in between. Source: Linux `sysfs-bus-pci`, `vfio.rst`.

use std::fs::OpenOptions;
use std::path::PathBuf;

use optireduce_contract::pci::{DEVICE_ID, VENDOR_ID};
use optireduce_driver::{Machine, PciFunction, VFIO_PCI, full_address};
use serde::Serialize;

use crate::args::BindArgs;
use crate::outcome::{Failure, print};

#[derive(Debug, PartialEq, Eq, Serialize)]
struct Done {
    address: String,
    before: Option<String>,
    driver: Option<String>,
    iommu_group: Option<String>,
}

/// File in sysfs, and the text to write to it.
type Step = (PathBuf, String);

/// Binds the card to VFIO, unless its IOMMU group holds other devices.
pub fn bind(args: &BindArgs) -> Result<(), Failure> {
    let done = bind_on(&Machine::this(), &args.address)?;
    print(args.json, &done, || {
        let Done { address, before, iommu_group, .. } = &done;
        let group = iommu_group.as_deref().unwrap_or_default();
        if before.as_deref() == Some(VFIO_PCI) {
            return format!("{address} is already bound to {VFIO_PCI}; open it through /dev/vfio/{group}\n");
        }
        let before = before.as_ref().map_or("had no driver".to_owned(), |driver| format!("was bound to {driver}"));
        format!(
            "{address} is bound to {VFIO_PCI} ({before}); open it through /dev/vfio/{group}\nTo undo it: optireduce-nic unbind {address}\n"
        )
    })
}

/// Returns the card to the kernel's drivers, unless it is in use.
pub fn unbind(args: &BindArgs) -> Result<(), Failure> {
    let done = unbind_on(&Machine::this(), &args.address)?;
    print(args.json, &done, || {
        let Done { address, driver, .. } = &done;
        let now = driver.as_ref().map_or("no driver".to_owned(), |driver| format!("bound to {driver}"));
        format!("{address} is {now}; any driver may bind it\nTo undo it: optireduce-nic bind {address}\n")
    })
}

fn bind_on(machine: &Machine, address: &str) -> Result<Done, String> {
    let card = card(machine, address)?;
    let foreign: Vec<String> =
        machine.others_in_group(&card).iter().filter(|other| other.is_foreign()).map(ToString::to_string).collect();
    if !foreign.is_empty() {
        return Err(format!(
            "{}: its IOMMU group {} also holds {}, which would lose their drivers; put the card into a slot with its own \
             group, behind a root port with ACS",
            card.address,
            card.iommu_group.as_deref().unwrap_or_default(),
            foreign.join(", ")
        ));
    }
    let missing = machine.preconditions(&card.address, 0).into_iter();
    if let Some(missing) =
        missing.filter(|one| ["IOMMU", "kernel module"].contains(&one.name)).find(|one| one.mend.is_some())
    {
        return Err(format!("{}: {}. To fix it: {}", card.address, missing.found, missing.mend.unwrap_or_default()));
    }
    if card.driver.as_deref() != Some(VFIO_PCI) {
        carry_out(&to_bind(machine, &card))?;
    }
    let now = again(machine, &card)?;
    if now.driver.as_deref() != Some(VFIO_PCI) {
        let undone = carry_out(&to_release(machine, &now));
        let back = again(machine, &card)?.driver.unwrap_or("no driver".to_owned());
        return Err(format!(
            "{}: {VFIO_PCI} did not bind it (the kernel's log, `dmesg`, may have the cause); it is bound to {back} again{}",
            card.address,
            undone.err().map_or(String::new(), |error| format!(", but {error}"))
        ));
    }
    Ok(Done { address: now.address, before: card.driver, driver: now.driver, iommu_group: now.iommu_group })
}

fn unbind_on(machine: &Machine, address: &str) -> Result<Done, String> {
    let card = card(machine, address)?;
    if card.driver.as_deref() != Some(VFIO_PCI) {
        return Err(format!(
            "{}: it is bound to {}, expected {VFIO_PCI}; nothing was changed",
            card.address,
            card.driver.as_deref().unwrap_or("no driver")
        ));
    }
    // The kernel waits until the card is closed, without a limit.
    if is_in_use(machine, &card) {
        return Err(format!(
            "{}: it is in use, and unbinding would wait for it; first end the process that has it (`fuser -v /dev/vfio/*` names it)",
            card.address
        ));
    }
    carry_out(&to_release(machine, &card))?;
    let now = again(machine, &card)?;
    Ok(Done { address: now.address, before: card.driver, driver: now.driver, iommu_group: now.iommu_group })
}

/// Returns whether a process has the card open, since VFIO opens a group only once at a time.
pub fn is_in_use(machine: &Machine, card: &PciFunction) -> bool {
    let group = machine.vfio_group(card.iommu_group.as_deref().unwrap_or_default());
    let tried = OpenOptions::new().read(true).write(true).open(group).err();
    tried.is_some_and(|error| error.kind() == std::io::ErrorKind::ResourceBusy)
}

/// Returns the device at `address` if it has a card's PCI numbers.
fn card(machine: &Machine, address: &str) -> Result<PciFunction, String> {
    let expected = format!("expected a card ({VENDOR_ID:04x}:{DEVICE_ID:04x}), as shown by `optireduce-nic list`");
    let full = full_address(address).ok_or_else(|| format!("{address} is not a PCI address; {expected}"))?;
    match machine.function(&full) {
        Some(found) if found.may_be_a_card() => Ok(found),
        Some(found) => Err(format!("{found} is not an OptiReduce card; {expected}; nothing was changed")),
        None => Err(format!("there is no PCI device at {full}; {expected}")),
    }
}

fn again(machine: &Machine, card: &PciFunction) -> Result<PciFunction, String> {
    machine.function(&card.address).ok_or_else(|| format!("{}: it has left the bus", card.address))
}

fn to_bind(machine: &Machine, card: &PciFunction) -> Vec<Step> {
    moved(machine, card, VFIO_PCI)
}

fn to_release(machine: &Machine, card: &PciFunction) -> Vec<Step> {
    moved(machine, card, "")
}

fn moved(machine: &Machine, card: &PciFunction, to: &str) -> Vec<Step> {
    let mut steps = vec![(machine.device(&card.address).join("driver_override"), format!("{to}\n"))];
    if let Some(driver) = &card.driver {
        steps.push((machine.sys("bus/pci/drivers").join(driver).join("unbind"), card.address.clone()));
    }
    steps.push((machine.sys("bus/pci/drivers_probe"), card.address.clone()));
    steps
}

fn carry_out(steps: &[Step]) -> Result<(), String> {
    for (path, text) in steps {
        let written = OpenOptions::new().write(true).open(path).and_then(|mut file| {
            use std::io::Write;
            file.write_all(text.as_bytes())
        });
        written.map_err(|error| {
            let root = if error.kind() == std::io::ErrorKind::PermissionDenied { "; this needs root" } else { "" };
            format!("writing {:?} to {}: {error}{root}", text.trim(), path.display())
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::machine_in_a_folder::{CARD, Folder};

    const AT: &str = "0000:5e:00.0";

    fn read(folder: &Folder, path: &str) -> String {
        fs::read_to_string(folder.path().join("sys/bus/pci").join(path)).unwrap()
    }

    #[test]
    fn binding_lets_no_other_driver_come_between() {
        let folder = Folder::new("bind");
        folder.driver(VFIO_PCI);
        folder.device(AT, CARD, Some("xdma"), Some("4"));
        let machine = folder.machine();
        let steps = to_bind(&machine, &machine.function(AT).unwrap());
        let bus = |path: &str| folder.path().join("sys/bus/pci").join(path);
        assert_eq!(
            steps,
            [
                (bus("devices/0000:5e:00.0/driver_override"), "vfio-pci\n".to_owned()),
                (bus("drivers/xdma/unbind"), AT.to_owned()),
                (bus("drivers_probe"), AT.to_owned()),
            ]
        );
        // Without a kernel, `vfio-pci` does not bind the card.
        let said = bind_on(&machine, "5e:00.0").unwrap_err();
        assert!(said.contains("vfio-pci did not bind it") && said.ends_with("it is bound to xdma again"), "{said}");
        assert_eq!(read(&folder, "devices/0000:5e:00.0/driver_override").lines().next(), Some(""));
        assert_eq!(read(&folder, "drivers_probe"), AT);
        folder.bind(AT, VFIO_PCI);
        let done = bind_on(&machine, AT).unwrap();
        assert_eq!((done.before.as_deref(), done.iommu_group.as_deref()), (Some(VFIO_PCI), Some("4")));
    }

    #[test]
    fn what_is_not_ours_is_refused_and_left_alone() {
        let folder = Folder::new("foreign");
        folder.driver(VFIO_PCI);
        folder.device("0000:00:1f.0", (0x8086, 0x1234, 0x02_0000), Some("nvme"), Some("1"));
        folder.device("0000:01:00.0", CARD, Some("xdma"), Some("2"));
        folder.device("0000:01:00.1", (0x8086, 0x1533, 0x02_0000), Some("igb"), Some("2"));
        folder.device("0000:02:00.0", CARD, None, None);
        for (address, parts) in [
            ("0000:00:1f.0", &["0000:00:1f.0 (8086:1234, nvme) is not an OptiReduce card", "nothing was changed"][..]),
            ("0000:01:00.0", &["IOMMU group 2 also holds 0000:01:00.1 (8086:1533, igb)", "ACS"]),
            ("0000:02:00.0", &["in no IOMMU group", "intel_iommu=on"]),
            ("0000:03:00.0", &["there is no PCI device at 0000:03:00.0", "optireduce-nic list"]),
            ("/tmp/card.sock", &["/tmp/card.sock is not a PCI address"]),
        ] {
            let said = bind_on(&folder.machine(), address).unwrap_err();
            assert!(parts.iter().all(|part| said.contains(part)), "{said}");
        }
        for address in ["0000:00:1f.0", "0000:01:00.0"] {
            assert_eq!(read(&folder, &format!("devices/{address}/driver_override")), "(null)\n");
            assert!(unbind_on(&folder.machine(), address).is_err());
        }
        assert_eq!(read(&folder, "drivers_probe"), "");
        let said = unbind_on(&folder.machine(), "0000:01:00.0").unwrap_err();
        assert!(said.contains("bound to xdma, expected vfio-pci"), "{said}");
    }

    #[test]
    fn unbinding_lets_any_driver_take_the_card_again() {
        let folder = Folder::new("unbind");
        folder.device(AT, CARD, Some(VFIO_PCI), Some("4"));
        unbind_on(&folder.machine(), AT).unwrap();
        assert_eq!(read(&folder, "devices/0000:5e:00.0/driver_override").lines().next(), Some(""));
        assert_eq!([read(&folder, "drivers/vfio-pci/unbind"), read(&folder, "drivers_probe")], [AT, AT]);
    }

    #[test]
    fn without_the_module_or_the_right_to_write_what_mends_it_is_said() {
        let folder = Folder::new("module");
        folder.device(AT, CARD, None, Some("4"));
        let said = bind_on(&folder.machine(), AT).unwrap_err();
        assert_eq!(said, format!("{AT}: vfio-pci is not loaded. To fix it: modprobe vfio-pci"));
        folder.driver(VFIO_PCI);
        fs::remove_file(folder.machine().device(AT).join("driver_override")).unwrap();
        let said = bind_on(&folder.machine(), AT).unwrap_err();
        assert!(
            said.starts_with("writing \"vfio-pci\" to ") && said.contains("driver_override: No such file"),
            "{said}"
        );
    }
}
