//! `doctor`: checks the preconditions of opening a card, suggests fixes, and then opens it.

use optireduce_contract::limits::{SLOTS, WINDOW_BEATS_LIMIT};
use optireduce_driver::{DriverError, Machine, Precondition, full_address, job_dma_bytes, job_ring_log2};
use serde::Serialize;

use crate::args::DoctorArgs;
use crate::card::{Identity, LITTLE_BYTES, identify};
use crate::list::{cards, none};
use crate::outcome::{Failure, print};
use crate::selftest::DMA_BYTES as SELFTEST_BYTES;

#[derive(Debug, Serialize)]
struct Diagnosis {
    address: String,
    passed: bool,
    checks: Vec<Precondition>,
}

/// Examines one card or all cards; fails if a check fails or there is no card.
pub fn run(args: &DoctorArgs) -> Result<(), Failure> {
    let machine = Machine::this();
    let addresses = match &args.address {
        Some(address) => vec![full_address(address).ok_or_else(|| {
            format!(
                "{address} is not a PCI address as shown by `optireduce-nic list`; for a card on a socket use `info`"
            )
        })?],
        None => cards(&machine)?.into_iter().map(|card| card.address).collect(),
    };
    let found: Vec<Diagnosis> = addresses.iter().map(|address| examine(&machine, address, identify)).collect();
    print(args.json, &found, || found.iter().map(Diagnosis::describe).collect::<String>())?;
    match found.iter().filter(|one| !one.passed).count() {
        _ if found.is_empty() => Err(Failure::check(none().trim_end().to_owned())),
        0 => Ok(()),
        1 => Err(Failure::check("a card cannot be used yet; fix the first failed check above".into())),
        more => Err(Failure::check(format!("{more} cards cannot be used yet; fix the first failed check of each"))),
    }
}

/// Checks the card at `address`. `open` opens it with this much DMA memory and identifies it.
///
/// Only the card reports the memory of a job. Without it, the contract's maximum is checked.
fn examine(machine: &Machine, address: &str, open: impl Fn(&str, usize) -> Result<Identity, DriverError>) -> Diagnosis {
    let mut checks = machine.access(address);
    let opened = holds(&checks).then(|| open(address, LITTLE_BYTES));
    let (whose, job_bytes) = match &opened {
        Some(Ok(card)) => ("with this card takes", card.job_dma_bytes),
        _ => ("takes at most", job_dma_bytes(SLOTS, WINDOW_BEATS_LIMIT, job_ring_log2(SLOTS))),
    };
    let dma_bytes = job_bytes.max(SELFTEST_BYTES);
    let mut memory = machine.memory(dma_bytes);
    if let Some(locked) = memory.first_mut() {
        let [job_kib, selftest_kib] = [job_bytes, SELFTEST_BYTES].map(|bytes| bytes.div_ceil(1024));
        locked.found += &format!("; a job {whose} {job_kib} KiB, the self-test {selftest_kib} KiB");
    }
    checks.extend(memory);
    // Only with all of the memory does the IOMMU's limit show.
    let opened = match opened {
        Some(Ok(_)) => holds(&checks).then(|| open(address, dma_bytes)),
        other => other,
    };
    checks.extend(opened.map(|opened| {
        let name = "card";
        match opened {
            Ok(identity) => Precondition { name, found: format!("it was opened: {identity}"), mend: None },
            Err(error) => {
                let error = error.to_string();
                let (found, mend) = error.split_once('\n').unwrap_or((&error, "look at the kernel's log (`dmesg`)"));
                Precondition { name, found: found.trim_end_matches('.').into(), mend: Some(mend.into()) }
            }
        }
    }));
    Diagnosis { address: address.into(), passed: holds(&checks), checks }
}

fn holds(checks: &[Precondition]) -> bool {
    checks.iter().all(|check| check.mend.is_none())
}

impl Diagnosis {
    fn describe(&self) -> String {
        let line = |check: &Precondition| match &check.mend {
            None => format!("  pass  {:<14} {}\n", check.name, check.found),
            Some(mend) => format!("  FAIL  {:<14} {}\n        {:<14} {mend}\n", check.name, check.found, "fix:"),
        };
        format!("{}\n{}", self.address, self.checks.iter().map(line).collect::<String>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine_in_a_folder::{CARD, Folder};
    use optireduce_contract::limits::BEAT_BYTES;
    use optireduce_driver::VFIO_PCI;
    use std::cell::RefCell;

    const AT: &str = "0000:5e:00.0";

    fn a_card(window_bytes: usize) -> Identity {
        let job_dma_bytes = job_dma_bytes(SLOTS, window_bytes / BEAT_BYTES, job_ring_log2(SLOTS));
        Identity { contract_version: 2, build: 1, build_id: None, job_dma_bytes }
    }

    fn ready(name: &str, limit_kib: u64) -> Folder {
        let folder = Folder::new(name);
        folder.driver(VFIO_PCI);
        folder.device(AT, CARD, Some(VFIO_PCI), Some("4"));
        for file in ["vfio", "4"] {
            std::fs::write(folder.path().join("dev/vfio").join(file), "").unwrap();
        }
        let process = folder.path().join("proc/self");
        std::fs::create_dir_all(&process).unwrap();
        let limit = limit_kib * 1024;
        std::fs::write(process.join("limits"), format!("Max locked memory   {limit}   {limit}   bytes\n")).unwrap();
        folder
    }

    #[test]
    fn a_card_is_opened_only_once_all_it_needs_is_there() {
        let folder = ready("doctor", 20_000);
        folder.bind(AT, "xdma");
        let found = examine(&folder.machine(), AT, |_, _| panic!("it must not be opened"));
        let said = found.describe();
        assert!(!found.passed && said.starts_with("0000:5e:00.0\n  pass  device         10ee:903f\n"), "{said}");
        let driver = "  FAIL  driver         the card is bound to xdma, expected vfio-pci\n        fix:           optireduce-nic bind 0000:5e:00.0\n";
        assert!(said.contains(driver), "{said}");

        folder.bind(AT, VFIO_PCI);
        let well = examine(&folder.machine(), AT, |_, _| Ok(a_card(1 << 20)));
        let opened = "  pass  card           it was opened: contract version 2, build 1\n";
        assert!(well.passed && well.describe().ends_with(opened), "{}", well.describe());
        let busy = |_: &str, _| {
            let (device, problem, remedy) = (AT.into(), "opening it: busy".into(), "End the other.".into());
            Err(DriverError::Bus { device, problem, remedy })
        };
        let said = examine(&folder.machine(), AT, busy).describe();
        assert!(said.ends_with("opening it: busy\n        fix:           End the other.\n"), "{said}");
    }

    #[test]
    fn the_limit_of_locked_memory_is_that_of_a_job_with_this_card() {
        let figures = "a job with this card takes 16436 KiB, the self-test 2304 KiB";
        for (limit_kib, window_bytes, passes, part) in [
            (16_435, 1 << 20, false, "the limit is 16435 KiB, expected at least 16436 KiB; "),
            (16_436, 1 << 20, true, "the limit is 16436 KiB; "),
            (2304, 1 << 16, true, "the limit is 2304 KiB; a job with this card takes 1076 KiB, the self-test 2304 KiB"),
            (2303, 1 << 16, false, "expected at least 2304 KiB; a job with this card takes 1076 KiB"),
        ] {
            let folder = ready("doctor-memory", limit_kib);
            let asked = RefCell::new(Vec::new());
            let found = examine(&folder.machine(), AT, |_, bytes| {
                asked.borrow_mut().push(bytes.div_ceil(1024) as u64);
                Ok(a_card(window_bytes))
            });
            let said = found.describe();
            assert!(found.passed == passes && said.contains(part), "{limit_kib}: {said}");
            assert!(said.contains(figures) == (window_bytes == 1 << 20), "{limit_kib}: {said}");
            assert!(passes || said.contains("fix:           ulimit -l "), "{limit_kib}: {said}");
            // The full memory is mapped only if the limit allows it.
            let all = if window_bytes == 1 << 20 { 16_436 } else { 2304 };
            assert_eq!(asked.into_inner(), if passes { vec![4, all] } else { vec![4] }, "{limit_kib}");
        }
    }

    #[test]
    fn a_card_that_cannot_be_asked_may_need_as_much_memory_as_any() {
        let folder = ready("doctor-unknown", 8192);
        folder.bind(AT, "xdma");
        let said = examine(&folder.machine(), AT, |_, _| panic!("it must not be opened")).describe();
        let part = "  FAIL  locked memory  the limit is 8192 KiB, expected at least 16436 KiB; a job takes at most 16436 KiB, the self-test 2304 KiB\n";
        assert!(said.contains(part) && said.contains("fix:           ulimit -l 16436 "), "{said}");
    }

    #[test]
    fn a_device_that_is_not_there_is_told() {
        let folder = Folder::new("doctor-none");
        let said = examine(&folder.machine(), AT, |_, _| panic!("it must not be opened")).describe();
        assert!(said.contains("there is no PCI device at 0000:5e:00.0, expected 10ee:903f"), "{said}");
    }
}
