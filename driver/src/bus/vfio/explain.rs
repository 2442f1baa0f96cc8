//! Explanations of VFIO's error numbers, whose meaning depends on the operation.

use std::io;

use rustix::io::Errno;

use crate::error::DriverError;
use crate::machine::Precondition;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    Open,
    Reset,
    Enable,
    Identify,
    MapBar,
    Lend,
    Interrupts,
}

pub fn unmet(device: &str, precondition: Precondition) -> DriverError {
    let Precondition { name, found, mend } = precondition;
    let mend = mend.unwrap_or_default();
    let remedy = format!("To fix it: {mend}. `optireduce-nic doctor {device}` also checks the rest.");
    DriverError::Bus { device: device.into(), problem: format!("{name}: {found}"), remedy: remedy.into() }
}

pub fn refused(device: &str, doing: Doing, dma_bytes: usize, error: &io::Error) -> DriverError {
    let what = match doing {
        Doing::Open => "opening it by VFIO",
        Doing::Reset => "function-level reset",
        Doing::Enable => "switching on memory space and bus mastering",
        Doing::Identify => "reading configuration space",
        Doing::MapBar => "mapping BAR 0",
        Doing::Lend => "mapping DMA memory for the card",
        Doing::Interrupts => "setting up interrupts",
    };
    let remedy = match (doing, errno(error)) {
        (Doing::Open, Some(Errno::BUSY)) => {
            "Another process has the card, or another function of its IOMMU group, open. End it (`fuser -v /dev/vfio/*` names it): a card has one driver at a time."
                .to_owned()
        }
        (Doing::Open, Some(Errno::PERM)) => {
            "The IOMMU does not remap interrupts, so the card could forge them. Switch on interrupt remapping in the BIOS, or, if all users of this \
             machine are trusted: echo 1 > /sys/module/vfio_iommu_type1/parameters/allow_unsafe_interrupts"
                .to_owned()
        }
        (Doing::Open, Some(Errno::ACCESS)) => "sudo chown $USER /dev/vfio/*".to_owned(),
        (Doing::Open, Some(Errno::NODEV | Errno::NOENT)) => {
            "modprobe vfio_iommu_type1; then bind the card again: `optireduce-nic unbind` and `bind`".to_owned()
        }
        // VFIO reports INVAL if the kernel has no way to reset the device.
        (Doing::Reset, Some(Errno::INVAL | Errno::NOTTY)) => format!(
            "The card has no function-level reset, and the kernel cannot reset its bus instead, for which it must be the only function below a PCIe \
             port. In a virtual machine, put it behind its own root port. Resets that the kernel supports: cat /sys/bus/pci/devices/{device}/reset_method"
        ),
        (Doing::Lend, Some(Errno::NOMEM)) => {
            let kib = dma_bytes.div_ceil(1024);
            format!("The process may not lock that much memory, or there is none: ulimit -l {kib}")
        }
        (Doing::Lend, Some(Errno::INVAL)) => {
            "The IOMMU refuses the addresses. Look for the cause in the kernel's log (`dmesg`), and report it.".to_owned()
        }
        (Doing::Identify | Doing::MapBar | Doing::Interrupts, None) => {
            "This is not an OptiReduce card, or it is not programmed. Check the address and program the card.".to_owned()
        }
        _ => format!("The kernel's log (`dmesg`) may name the cause; `optireduce-nic doctor {device}` checks the preconditions."),
    };
    DriverError::Bus { device: device.into(), problem: format!("{what}: {error}"), remedy: remedy.into() }
}

pub fn no_huge_pages(dma_bytes: usize, mends: &[String]) -> String {
    let look = ["look for the cause in the kernel's log (`dmesg`)".to_owned()];
    let mends = if mends.is_empty() { &look } else { mends };
    format!(
        "no huge pages for {dma_bytes} bytes of DMA memory: small pages are used, which slow the IOMMU down; for huge pages: {}",
        mends.join("; ")
    )
}

pub fn is_os_error(error: &io::Error) -> bool {
    errno(error).is_some()
}

/// Error number of the kernel. `pci-driver` reports mapping errors only as text.
fn errno(error: &io::Error) -> Option<Errno> {
    let in_text = || error.to_string().rsplit_once("(os error ")?.1.strip_suffix(')')?.parse().ok();
    error.raw_os_error().or_else(in_text).map(Errno::from_raw_os_error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::reserve_huge_pages;

    #[test]
    fn each_number_of_the_kernel_is_explained_by_what_was_tried() {
        let number = |errno: Errno| io::Error::from_raw_os_error(errno.raw_os_error());
        // As pci-driver wraps it.
        let in_text = |errno| io::Error::other(format!("Failed to set up IOMMU mapping: {}", number(errno)));
        for (doing, error, parts) in [
            (Doing::Open, number(Errno::BUSY), ["opening it by VFIO: Device or resource busy", "one driver at a time"]),
            (Doing::Open, number(Errno::PERM), ["Operation not permitted", "interrupt remapping"]),
            (Doing::Open, number(Errno::ACCESS), ["Permission denied", "chown"]),
            (Doing::Lend, in_text(Errno::NOMEM), ["Cannot allocate memory", "ulimit -l 2048"]),
            (Doing::Lend, in_text(Errno::INVAL), ["Invalid argument", "dmesg"]),
            (Doing::Interrupts, io::Error::other("3 MSI-X vectors"), ["3 MSI-X vectors", "program the card"]),
            (Doing::Reset, number(Errno::NOTTY), ["function-level reset: ", "no function-level reset"]),
            (Doing::Reset, number(Errno::INVAL), ["Invalid argument", "0000:01:00.0/reset_method"]),
        ] {
            let said = refused("0000:01:00.0", doing, 2 << 20, &error).to_string();
            assert!(said.starts_with("0000:01:00.0: ") && parts.iter().all(|part| said.contains(part)), "{said}");
        }
    }

    #[test]
    fn the_table_of_faults_says_what_is_warned_of_without_huge_pages() {
        let mends = [reserve_huge_pages(8)];
        assert!(include_str!("../../../faults.md").contains(&no_huge_pages(16 << 20, &mends)));
    }

    #[test]
    fn a_precondition_that_does_not_hold_says_what_to_type() {
        let missing = Precondition { name: "driver", found: "bound to xdma".into(), mend: Some("bind it".into()) };
        let said = unmet("0000:01:00.0", missing).to_string();
        assert_eq!(
            said,
            "0000:01:00.0: driver: bound to xdma.\nTo fix it: bind it. `optireduce-nic doctor 0000:01:00.0` also checks the rest."
        );
    }
}
