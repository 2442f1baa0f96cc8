//! PCI devices of this machine, and the preconditions for opening a card through VFIO.
//!
//! Source: Linux `vfio.rst`, `sysfs-bus-pci`, `sysfs-kernel-iommu_groups`, proc(5).

use std::fs;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use optireduce_contract::pci::{DEVICE_ID, VENDOR_ID, is_address};

use crate::dma::DMA_ALIGN;
use crate::pci::PciId;

/// Kernel driver that gives user space access to a device.
pub const VFIO_PCI: &str = "vfio-pci";
pub(crate) const HUGE_BYTES: usize = 2 << 20;
/// Drivers of other devices with which an IOMMU group stays viable (vfio.rst).
const HARMLESS: [&str; 3] = [VFIO_PCI, "pci-stub", "pcieport"];
/// Base class and subclass of PCI bridges.
const BRIDGE: u32 = 0x0604;
/// Capability to lock unlimited memory.
const CAP_IPC_LOCK: u32 = 14;

/// Returns a PCI address with its domain, as the kernel spells it; `None` for other text.
pub fn full_address(text: &str) -> Option<String> {
    let domain = if text.matches(':').count() == 1 { "0000:" } else { "" };
    is_address(text).then(|| format!("{domain}{}", text.to_ascii_lowercase()))
}

/// Function of a PCI device, as the kernel reports it.
#[allow(missing_docs)] // described above
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct PciFunction {
    /// Address with domain, such as "0000:5e:00.0".
    pub address: String,
    #[serde(skip)]
    pub id: PciId,
    pub driver: Option<String>,
    /// `None` without an active IOMMU.
    pub iommu_group: Option<String>,
}

impl PciFunction {
    /// Returns whether vendor and device match a card's, which other devices may share.
    pub fn may_be_a_card(&self) -> bool {
        (self.id.vendor, self.id.device) == (VENDOR_ID, DEVICE_ID)
    }

    /// Returns whether it is neither a card nor a bridge.
    pub fn is_foreign(&self) -> bool {
        !self.may_be_a_card() && self.id.class >> 8 != BRIDGE
    }
}

impl std::fmt::Display for PciFunction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let PciId { vendor, device, .. } = self.id;
        let driver = self.driver.as_deref().unwrap_or("no driver");
        write!(f, "{} ({vendor:04x}:{device:04x}, {driver})", self.address)
    }
}

/// Result of checking one precondition.
#[allow(missing_docs)] // described above
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Precondition {
    pub name: &'static str,
    /// State found, with the expected state if they differ.
    pub found: String,
    /// Remedy, with the command to type; `None` if the precondition holds.
    pub mend: Option<String>,
}

/// Machine whose PCI devices are examined.
#[derive(Clone, Debug)]
pub struct Machine {
    root: PathBuf,
}

impl Machine {
    /// This machine.
    pub fn this() -> Self {
        Self::at(Path::new("/"))
    }

    /// Machine whose `sys`, `dev` and `proc` are in `root`.
    pub fn at(root: &Path) -> Self {
        Self { root: root.into() }
    }

    /// Path below `/sys`.
    pub fn sys(&self, path: impl AsRef<Path>) -> PathBuf {
        self.root.join("sys").join(path)
    }

    /// Sysfs folder of a device.
    pub fn device(&self, address: &str) -> PathBuf {
        self.sys("bus/pci/devices").join(address)
    }

    /// Device file of a VFIO group.
    pub fn vfio_group(&self, group: &str) -> PathBuf {
        self.root.join("dev/vfio").join(group)
    }

    /// Lists all PCI functions by address; empty without a PCI bus.
    pub fn functions(&self) -> io::Result<Vec<PciFunction>> {
        self.below(&self.sys("bus/pci/devices"))
    }

    /// Returns the function at `address`, with its domain.
    pub fn function(&self, address: &str) -> Option<PciFunction> {
        let path = self.device(address);
        let number = |file: &str| {
            let text = fs::read_to_string(path.join(file)).ok()?;
            u32::from_str_radix(text.trim().strip_prefix("0x")?, 16).ok()
        };
        let id = PciId { vendor: number("vendor")? as u16, device: number("device")? as u16, class: number("class")? };
        let [driver, iommu_group] = ["driver", "iommu_group"].map(|link| target(&path.join(link)));
        Some(PciFunction { address: address.into(), id, driver, iommu_group })
    }

    /// Lists the other functions in the IOMMU group of `function`.
    pub fn others_in_group(&self, function: &PciFunction) -> Vec<PciFunction> {
        let Some(group) = &function.iommu_group else { return Vec::new() };
        let mut all = self.below(&self.sys("kernel/iommu_groups").join(group).join("devices")).unwrap_or_default();
        all.retain(|other| other.address != function.address);
        all
    }

    /// Checks whether VFIO can open the card at `address`, with its domain, and map `dma_bytes`
    /// bytes of memory, in the order in which to fix failures. Leaves out checks that depend on a
    /// failed one.
    pub fn preconditions(&self, address: &str, dma_bytes: usize) -> Vec<Precondition> {
        let mut list = self.access(address);
        list.extend(self.memory(dma_bytes));
        list
    }

    /// [Preconditions](Self::preconditions) that do not concern memory.
    pub fn access(&self, address: &str) -> Vec<Precondition> {
        let function = self.function(address);
        let mut list = vec![is_a_card(address, function.as_ref())];
        if let Some(function) = function.filter(PciFunction::may_be_a_card) {
            let group = function.iommu_group.as_deref();
            list.push(self.iommu(&function));
            list.extend(group.map(|group| self.is_viable(&function, group)));
            list.extend([self.module(), self.is_bound(&function)]);
            list.extend(self.remaps_interrupts());
            if function.driver.as_deref() == Some(VFIO_PCI) {
                list.extend(group.map(|group| self.is_accessible(group)));
                // Reading configuration space would block during a reset by another process.
                if list.iter().all(|one| one.mend.is_none()) {
                    list.extend(self.answers(&function));
                }
            }
        }
        list
    }

    /// [Preconditions](Self::preconditions) on memory: the limit and, from 2 MiB on, huge pages.
    pub fn memory(&self, dma_bytes: usize) -> Vec<Precondition> {
        let mut list = vec![self.memory_limit(dma_bytes)];
        if dma_bytes >= HUGE_BYTES {
            list.push(self.huge_pages(dma_bytes.div_ceil(HUGE_BYTES)));
        }
        list
    }

    /// Checks for huge pages. Always holds, since small ones also work.
    fn huge_pages(&self, wanted: usize) -> Precondition {
        let free = self.free_huge_pages();
        let mends = self.huge_page_mends(wanted);
        let found = if mends.is_empty() {
            format!("{free} of 2 MiB are free, {wanted} are used")
        } else {
            let kib = wanted * HUGE_BYTES / 1024;
            format!(
                "{free} of 2 MiB are free, {wanted} would be used ({kib} KiB of locked memory). Small pages work, but slow the IOMMU down; \
                 for huge pages: {}",
                mends.join("; ")
            )
        };
        Precondition { name: "huge pages", found, mend: None }
    }

    fn free_huge_pages(&self) -> usize {
        let file = self.sys("kernel/mm/hugepages/hugepages-2048kB/free_hugepages");
        fs::read_to_string(file).ok().and_then(|text| text.trim().parse().ok()).unwrap_or(0)
    }

    /// Commands that make `wanted` huge pages available; empty if they are. Huge pages are locked
    /// whole, which may exceed the limit.
    pub(crate) fn huge_page_mends(&self, wanted: usize) -> Vec<String> {
        let bytes = wanted * HUGE_BYTES;
        let too_low = self.locked_max().is_some_and(|limit| limit < bytes as u64);
        let lock = too_low.then(|| format!("ulimit -l {}", bytes / 1024));
        let reserve = (self.free_huge_pages() < wanted).then(|| reserve_huge_pages(wanted));
        reserve.into_iter().chain(lock).collect()
    }

    /// Limit for locked memory in bytes; `None` if unlimited.
    fn locked_max(&self) -> Option<u64> {
        let of_process = |file: &str| fs::read_to_string(self.root.join("proc/self").join(file)).unwrap_or_default();
        let (limits, status) = (of_process("limits"), of_process("status"));
        let limit = limits.lines().find_map(|line| line.strip_prefix("Max locked memory"))?;
        // The soft limit; "unlimited" does not parse.
        let limit = limit.split_whitespace().next()?.parse().ok()?;
        let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:")).map(str::trim);
        let capabilities = effective.and_then(|digits| u64::from_str_radix(digits, 16).ok()).unwrap_or(0);
        (capabilities >> CAP_IPC_LOCK & 1 == 0).then_some(limit)
    }

    /// The kernel counts DMA memory as locked, in whole pages.
    fn memory_limit(&self, dma_bytes: usize) -> Precondition {
        let name = "locked memory";
        let dma_bytes = dma_bytes.checked_next_multiple_of(DMA_ALIGN).unwrap_or(dma_bytes);
        match self.locked_max() {
            Some(limit) if limit < dma_bytes as u64 => {
                let kib = (dma_bytes as u64).div_ceil(1024);
                let found = format!("the limit is {} KiB, expected at least {kib} KiB", limit / 1024);
                let mend = format!(
                    "ulimit -l {kib} (as root: `prlimit --pid $$ --memlock={dma_bytes}`, or a line in /etc/security/limits.conf)"
                );
                Precondition { name, found, mend: Some(mend) }
            }
            Some(limit) => Precondition { name, found: format!("the limit is {} KiB", limit / 1024), mend: None },
            None => Precondition { name, found: "unlimited".into(), mend: None },
        }
    }

    /// Fails if configuration space reads as ones: opening such a card would block for a minute.
    /// `None` if the card answers, or the file cannot be read.
    fn answers(&self, function: &PciFunction) -> Option<Precondition> {
        let mut start = [0; 8];
        let mut config = fs::File::open(self.device(&function.address).join("config")).ok()?;
        config.read_exact(&mut start).ok()?;
        // Vendor and device, command and status: no device has all ones in either word.
        let is_missing = start[..4] == [0xff; 4] || start[4..] == [0xff; 4];
        is_missing.then(|| Precondition {
            name: "answer",
            found: "its configuration space reads as ones: it has left the bus, or hangs".into(),
            mend: Some(format!(
                "power cycle it, or restart its simulator, then: echo 1 > /sys/bus/pci/devices/{}/remove; echo 1 > /sys/bus/pci/rescan",
                function.address
            )),
        })
    }

    fn iommu(&self, function: &PciFunction) -> Precondition {
        let name = "IOMMU";
        if let Some(group) = &function.iommu_group {
            return Precondition { name, found: format!("on; the card is in group {group}"), mend: None };
        }
        let mend = "Switch it on in the BIOS (Intel: VT-d; AMD: IOMMU, or AMD-Vi) and for the kernel (Intel: add intel_iommu=on to \
                    GRUB_CMDLINE_LINUX in /etc/default/grub; then `update-grub` and restart)";
        Precondition { name, found: "the card is in no IOMMU group, expected one".into(), mend: Some(mend.into()) }
    }

    fn module(&self) -> Precondition {
        let name = "kernel module";
        if self.sys("bus/pci/drivers").join(VFIO_PCI).is_dir() {
            return Precondition { name, found: format!("{VFIO_PCI} is loaded"), mend: None };
        }
        Precondition { name, found: format!("{VFIO_PCI} is not loaded"), mend: Some(format!("modprobe {VFIO_PCI}")) }
    }

    /// VFIO refuses (EPERM) a device that could raise any interrupt, unless configured otherwise.
    /// `None` if no IO-APIC is listed, as on Arm.
    fn remaps_interrupts(&self) -> Option<Precondition> {
        let interrupts = fs::read_to_string(self.root.join("proc/interrupts")).ok()?;
        let of_board = interrupts.lines().find(|line| line.contains("IO-APIC"))?;
        let name = "interrupts";
        let pass = |found: &str| Some(Precondition { name, found: found.into(), mend: None });
        if of_board.contains("IR-IO-APIC") {
            return pass("the IOMMU remaps them");
        }
        let unsafe_too = "module/vfio_iommu_type1/parameters/allow_unsafe_interrupts";
        if fs::read_to_string(self.sys(unsafe_too)).is_ok_and(|allowed| allowed.trim() == "Y") {
            return pass(
                "the IOMMU does not remap them, and VFIO is configured to allow that: a card can raise any interrupt",
            );
        }
        let mend = format!(
            "Switch interrupt remapping on in the BIOS, and remove intremap=off from the kernel's command line. Or, if the card is trusted with every \
             interrupt: modprobe vfio_iommu_type1; echo Y > /sys/{unsafe_too}"
        );
        let found = "the IOMMU does not remap them, so VFIO would refuse the card; expected remapping".into();
        Some(Precondition { name, found, mend: Some(mend) })
    }

    fn is_bound(&self, function: &PciFunction) -> Precondition {
        let name = "driver";
        match function.driver.as_deref() {
            Some(VFIO_PCI) => Precondition { name, found: format!("the card is bound to {VFIO_PCI}"), mend: None },
            other => {
                let bound = other.map_or("is bound to no driver".to_owned(), |driver| format!("is bound to {driver}"));
                let mend = Some(format!("optireduce-nic bind {}", function.address));
                Precondition { name, found: format!("the card {bound}, expected {VFIO_PCI}"), mend }
            }
        }
    }

    /// The kernel assigns only whole groups to a process.
    fn is_viable(&self, function: &PciFunction, group: &str) -> Precondition {
        let is_held = |other: &PciFunction| {
            let by = other.driver.as_deref().filter(|driver| !HARMLESS.contains(driver));
            by.is_some() && other.id.class >> 8 != BRIDGE
        };
        let others = self.others_in_group(function);
        let held: Vec<String> = others.iter().filter(|other| is_held(other)).map(ToString::to_string).collect();
        let name = "IOMMU group";
        if held.is_empty() {
            let found = match others.len() {
                0 => format!("group {group} holds the card alone"),
                more => format!("group {group} holds {more} other function(s), none with a kernel driver"),
            };
            return Precondition { name, found, mend: None };
        }
        let found = format!("group {group} is not viable: kernel drivers also hold {}", held.join(", "));
        let mend = "Put the card into a slot with its own IOMMU group (behind a root port with ACS), or unbind those functions if \
                    they are not needed: echo ADDRESS > /sys/bus/pci/devices/ADDRESS/driver/unbind";
        Precondition { name, found, mend: Some(mend.into()) }
    }

    /// A group's file can be opened by one process at a time.
    fn is_accessible(&self, group: &str) -> Precondition {
        let name = "permissions";
        for file in ["vfio", group] {
            let path = Path::new("/dev/vfio").join(file);
            let Err(error) = fs::OpenOptions::new().read(true).write(true).open(self.vfio_group(file)) else {
                continue;
            };
            let found = format!("{}: {error}, expected to open it", path.display());
            let mend = match error.kind() {
                ErrorKind::ResourceBusy => format!(
                    "end the process that has the card or its group open: `fuser -v {}` names it. A card has one driver at a time, and closing \
                     a card that does not answer takes the kernel a minute",
                    path.display()
                ),
                ErrorKind::NotFound if file == "vfio" => "modprobe vfio_iommu_type1".to_owned(),
                ErrorKind::NotFound => "bind the card again: `optireduce-nic unbind` and `bind`".to_owned(),
                _ => format!("sudo chown $USER {}", path.display()),
            };
            return Precondition { name, found, mend: Some(mend) };
        }
        Precondition { name, found: format!("/dev/vfio/{group} can be opened"), mend: None }
    }

    fn below(&self, directory: &Path) -> io::Result<Vec<PciFunction>> {
        let entries = match fs::read_dir(directory) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut found = Vec::new();
        for entry in entries {
            // Leaves out a function that was removed meanwhile.
            found.extend(self.function(&entry?.file_name().to_string_lossy()));
        }
        found.sort_by(|one, other| one.address.cmp(&other.address));
        Ok(found)
    }
}

fn is_a_card(address: &str, function: Option<&PciFunction>) -> Precondition {
    let name = "device";
    let expected = format!("expected {VENDOR_ID:04x}:{DEVICE_ID:04x}");
    let Some(function) = function else {
        let found = format!("there is no PCI device at {address}, {expected}");
        return Precondition { name, found, mend: Some("optireduce-nic list".into()) };
    };
    let PciId { vendor, device, .. } = function.id;
    if function.may_be_a_card() {
        return Precondition { name, found: format!("{vendor:04x}:{device:04x}"), mend: None };
    }
    let found = format!("{address} is {vendor:04x}:{device:04x}, {expected}");
    Precondition { name, found, mend: Some("optireduce-nic list".into()) }
}

fn target(link: &Path) -> Option<String> {
    Some(fs::read_link(link).ok()?.file_name()?.to_string_lossy().into_owned())
}

pub(crate) fn reserve_huge_pages(pages: usize) -> String {
    format!("echo {pages} > /proc/sys/vm/nr_hugepages")
}
