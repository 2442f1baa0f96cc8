//! Preconditions for opening a card through VFIO, on simulated machines.

use std::fs;

use optireduce_driver::{PciFunction, VFIO_PCI, full_address};

mod machine_in_a_folder;

use machine_in_a_folder::{CARD, Folder};

/// Failed preconditions by name, with state and remedy.
fn failing(folder: &Folder, address: &str) -> Vec<(&'static str, String)> {
    let all = folder.machine().preconditions(address, 4096);
    all.into_iter().filter_map(|one| Some((one.name, format!("{}: {}", one.found, one.mend?)))).collect()
}

#[test]
fn addresses_are_spelt_as_the_kernel_does() {
    assert_eq!(full_address("5E:00.0").as_deref(), Some("0000:5e:00.0"));
    assert_eq!(full_address("0001:5e:00.0").as_deref(), Some("0001:5e:00.0"));
    assert_eq!(full_address("/tmp/card.sock"), None);
}

#[test]
fn each_precondition_that_fails_names_what_was_found_and_what_mends_it() {
    let folder = Folder::new("steps");
    let at = "0000:5e:00.0";
    let [(name, said)] = &failing(&folder, at)[..] else { panic!("{:?}", failing(&folder, at)) };
    assert_eq!((*name, &said[..41]), ("device", "there is no PCI device at 0000:5e:00.0, e"));

    folder.device(at, (0x8086, 0x1234, 0x02_0000), Some("e1000"), None);
    assert_eq!(failing(&folder, at)[0].1, "0000:5e:00.0 is 8086:1234, expected 10ee:903f: optireduce-nic list");

    let at = "0000:5f:00.0";
    folder.device(at, CARD, Some("xdma"), None);
    let names: Vec<_> = failing(&folder, at).iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["IOMMU", "kernel module", "driver"]);
    assert!(failing(&folder, at)[0].1.contains("intel_iommu=on"));
    assert_eq!(failing(&folder, at)[1].1, "vfio-pci is not loaded: modprobe vfio-pci");
    assert_eq!(
        failing(&folder, at)[2].1,
        "the card is bound to xdma, expected vfio-pci: optireduce-nic bind 0000:5f:00.0"
    );

    folder.driver(VFIO_PCI);
    let at = "0000:60:00.0";
    folder.device(at, CARD, Some(VFIO_PCI), Some("7"));
    let said = failing(&folder, at);
    assert!(said[0].0 == "permissions" && said[0].1.ends_with("modprobe vfio_iommu_type1"), "{said:?}");
    for file in ["vfio", "7"] {
        fs::write(folder.path().join("dev/vfio").join(file), "").unwrap();
    }
    assert_eq!(failing(&folder, at), []);

    let config = folder.machine().device(at).join("config");
    fs::write(&config, [0xee, 0x10, 0x3f, 0x90, 6, 0, 0x10, 0, 0]).unwrap();
    assert_eq!(failing(&folder, at), []);
    // Of a removed card the kernel may still report the PCI numbers.
    fs::write(&config, [0xee, 0x10, 0x3f, 0x90, 0xff, 0xff, 0xff, 0xff, 0]).unwrap();
    assert_eq!(failing(&folder, at)[0].0, "answer");
}

#[test]
fn a_machine_that_does_not_remap_interrupts_is_told_unless_vfio_does_without() {
    let folder = Folder::new("interrupts");
    let at = "0000:5e:00.0";
    folder.device(at, CARD, Some(VFIO_PCI), Some("7"));
    let said = |interrupts: &str| {
        fs::write(folder.path().join("proc/interrupts"), format!("            CPU0       CPU1\n{interrupts}\n"))
            .unwrap();
        let all = folder.machine().preconditions(at, 4096);
        all.into_iter().find(|one| one.name == "interrupts")
    };
    fs::create_dir(folder.path().join("proc")).unwrap();
    // Names on an Arm kernel.
    assert_eq!(said(" 11:     115         0     GICv3  27 Level     arch_timer"), None);
    let remapped = said("   9:          0          3  IR-IO-APIC    9-fasteoi   acpi").unwrap();
    assert_eq!((remapped.found.as_str(), remapped.mend), ("the IOMMU remaps them", None));
    let plain = "   9:          0          3   IO-APIC    9-fasteoi   acpi";
    let refused = said(plain).unwrap();
    assert!(refused.mend.is_some_and(|mend| mend.contains("allow_unsafe_interrupts")), "{}", refused.found);
    let parameters = folder.machine().sys("module/vfio_iommu_type1/parameters");
    fs::create_dir_all(&parameters).unwrap();
    for (allowed, passes) in [("N", false), ("Y", true)] {
        fs::write(parameters.join("allow_unsafe_interrupts"), format!("{allowed}\n")).unwrap();
        assert_eq!(said(plain).unwrap().mend.is_none(), passes, "{allowed}");
    }
}

#[test]
fn locked_memory_is_counted_in_whole_pages() {
    let folder = Folder::new("locked");
    let process = folder.path().join("proc/self");
    fs::create_dir_all(&process).unwrap();
    fs::write(process.join("limits"), "Max locked memory   8192   8192   bytes\n").unwrap();
    let lacks = |dma_bytes| folder.machine().memory(dma_bytes).into_iter().find_map(|one| Some((one.found, one.mend?)));
    assert_eq!(lacks(8192), None);
    let (found, mend) = lacks(8193).unwrap();
    assert_eq!(found, "the limit is 8 KiB, expected at least 12 KiB");
    assert!(mend.starts_with("ulimit -l 12 ") && mend.contains("--memlock=12288"), "{mend}");
}

#[test]
fn huge_pages_are_counted_and_none_forbid_to_open_a_card() {
    let folder = Folder::new("huge");
    let said = |dma_bytes| {
        let all = folder.machine().preconditions("0000:5e:00.0", dma_bytes);
        all.into_iter().find(|one| one.name == "huge pages")
    };
    assert_eq!(said(4096), None);
    let none = said(16 << 20).unwrap();
    assert!(
        none.found.starts_with("0 of 2 MiB are free") && none.found.ends_with("echo 8 > /proc/sys/vm/nr_hugepages")
    );
    let of_kernel = folder.machine().sys("kernel/mm/hugepages/hugepages-2048kB");
    fs::create_dir_all(&of_kernel).unwrap();
    fs::write(of_kernel.join("free_hugepages"), "9\n").unwrap();
    let enough = said(16 << 20).unwrap();
    assert_eq!((enough.found.as_str(), &none.mend, &enough.mend), ("9 of 2 MiB are free, 8 are used", &None, &None));

    // A card with windows of 1 MiB takes 16436 KiB: nine pages, all locked.
    let process = folder.path().join("proc/self");
    fs::create_dir_all(&process).unwrap();
    for (limit_kib, free, expected) in [
        (18_432, 9, "9 of 2 MiB are free, 9 are used"),
        (
            18_431,
            9,
            "9 of 2 MiB are free, 9 would be used (18432 KiB of locked memory). Small pages work, but slow the IOMMU down; \
                     for huge pages: ulimit -l 18432",
        ),
        (
            18_431,
            0,
            "0 of 2 MiB are free, 9 would be used (18432 KiB of locked memory). Small pages work, but slow the IOMMU down; \
                     for huge pages: echo 9 > /proc/sys/vm/nr_hugepages; ulimit -l 18432",
        ),
        (
            18_432,
            0,
            "0 of 2 MiB are free, 9 would be used (18432 KiB of locked memory). Small pages work, but slow the IOMMU down; \
                     for huge pages: echo 9 > /proc/sys/vm/nr_hugepages",
        ),
    ] {
        let limit = limit_kib * 1024;
        fs::write(process.join("limits"), format!("Max locked memory   {limit}   {limit}   bytes\n")).unwrap();
        fs::write(of_kernel.join("free_hugepages"), format!("{free}\n")).unwrap();
        let memory = folder.machine().memory(16_436 * 1024);
        assert_eq!(memory[1].found, expected);
        assert!(memory.iter().all(|one| one.mend.is_none()), "{memory:?}");
    }
}

#[test]
fn a_group_that_the_kernel_holds_is_not_viable_and_its_functions_are_named() {
    let folder = Folder::new("group");
    folder.driver(VFIO_PCI);
    let at = "0000:01:00.0";
    folder.device(at, CARD, None, Some("3"));
    folder.device("0000:00:01.0", (0x8086, 1, 0x06_0400), Some("pcieport"), Some("3"));
    folder.device("0000:01:00.1", CARD, None, Some("3"));
    let said = failing(&folder, at);
    assert!(said.len() == 1 && said[0].1.starts_with("the card is bound to no driver"), "{said:?}");
    folder.device("0000:02:00.0", (0x144d, 0xa808, 0x01_0802), Some("nvme"), Some("3"));
    let said = failing(&folder, at);
    assert_eq!(said[0].0, "IOMMU group");
    assert!(said[0].1.starts_with("group 3 is not viable: kernel drivers also hold 0000:02:00.0 (144d:a808, nvme)"));
    let machine = folder.machine();
    let others = machine.others_in_group(&machine.function(at).unwrap());
    let foreign: Vec<bool> = others.iter().map(PciFunction::is_foreign).collect();
    assert_eq!(foreign, [false, false, true]);
}
