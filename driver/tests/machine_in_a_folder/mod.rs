//! Simulated machine: the kernel's files about PCI devices, in a temporary folder.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use optireduce_contract::pci::{CLASS, DEVICE_ID, VENDOR_ID};
use optireduce_driver::Machine;

pub const CARD: (u16, u16, u32) = (VENDOR_ID, DEVICE_ID, CLASS);

/// Root of the machine; removed when dropped.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("optireduce-machine-{name}-{}", std::process::id()));
        fs::create_dir_all(path.join("sys/bus/pci/devices")).unwrap();
        fs::create_dir_all(path.join("sys/bus/pci/drivers")).unwrap();
        fs::create_dir_all(path.join("dev/vfio")).unwrap();
        fs::write(path.join("sys/bus/pci/drivers_probe"), "").unwrap();
        Self(path)
    }

    pub fn machine(&self) -> Machine {
        Machine::at(&self.0)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn driver(&self, name: &str) {
        let path = self.0.join("sys/bus/pci/drivers").join(name);
        fs::create_dir_all(&path).unwrap();
        fs::write(path.join("unbind"), "").unwrap();
    }

    pub fn device(&self, address: &str, id: (u16, u16, u32), driver: Option<&str>, group: Option<&str>) {
        let machine = self.machine();
        let path = machine.device(address);
        fs::create_dir(&path).unwrap();
        for (file, value) in [("vendor", id.0.into()), ("device", id.1.into()), ("class", id.2)] {
            fs::write(path.join(file), format!("{value:#06x}\n")).unwrap();
        }
        fs::write(path.join("driver_override"), "(null)\n").unwrap();
        if let Some(driver) = driver {
            self.driver(driver);
            self.bind(address, driver);
        }
        if let Some(group) = group {
            let group = machine.sys("kernel/iommu_groups").join(group);
            fs::create_dir_all(group.join("devices")).unwrap();
            symlink(&group, path.join("iommu_group")).unwrap();
            symlink(&path, group.join("devices").join(address)).unwrap();
        }
    }

    pub fn bind(&self, address: &str, driver: &str) {
        let link = self.machine().device(address).join("driver");
        let _ = fs::remove_file(&link);
        symlink(self.0.join("sys/bus/pci/drivers").join(driver), link).unwrap();
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}
