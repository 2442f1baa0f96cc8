//! `doctor`: what must hold before a card can be opened, each with what mends it; then it is opened.

use optireduce_driver::{Machine, Precondition, full_address};
use serde::Serialize;

use crate::args::DoctorArgs;
use crate::card::identify;
use crate::list::{cards, none};
use crate::outcome::{Failure, print};
use crate::selftest::DMA_BYTES;

/// What was found of one card.
#[derive(Debug, Serialize)]
struct Diagnosis {
    address: String,
    passed: bool,
    checks: Vec<Precondition>,
}

/// Examines the card at an address, or all cards of this machine.
///
/// # Errors
/// If something is missing, there is no card, or the argument is no address.
pub fn run(args: &DoctorArgs) -> Result<(), Failure> {
    let machine = Machine::this();
    let addresses = match &args.address {
        Some(address) => vec![full_address(address).ok_or_else(|| {
            format!("{address} is no PCI address, as `optireduce-nic list` shows them; a card on a socket needs no doctor: try `info`")
        })?],
        None => cards(&machine)?.into_iter().map(|card| card.address).collect(),
    };
    let found: Vec<Diagnosis> = addresses.iter().map(|address| examine(&machine, address, open)).collect();
    print(args.json, &found, || found.iter().map(Diagnosis::describe).collect::<String>())?;
    match found.iter().filter(|one| !one.passed).count() {
        _ if found.is_empty() => Err(Failure::check(none().trim_end().to_owned())),
        0 => Ok(()),
        1 => {
            Err(Failure::check("a card cannot be used yet; the first line above that failed says what mends it".into()))
        }
        more => Err(Failure::check(format!(
            "{more} cards cannot be used yet; the first line of each that failed says what mends it"
        ))),
    }
}

/// `open`: opens the card at an address and says what it is, or why it cannot be.
fn examine(machine: &Machine, address: &str, open: impl Fn(&str) -> Result<String, String>) -> Diagnosis {
    let mut checks = machine.preconditions(address, DMA_BYTES);
    if checks.iter().all(|check| check.mend.is_none()) {
        let name = "card";
        checks.push(match open(address) {
            Ok(found) => Precondition { name, found, mend: None },
            Err(error) => {
                let (found, mend) = error.split_once('\n').unwrap_or((&error, "look at the kernel's log (`dmesg`)"));
                Precondition { name, found: found.trim_end_matches('.').into(), mend: Some(mend.into()) }
            }
        });
    }
    Diagnosis { address: address.into(), passed: checks.iter().all(|check| check.mend.is_none()), checks }
}

/// With as much memory as the self-test takes: its limits show, too.
fn open(address: &str) -> Result<String, String> {
    let identity = identify(address, DMA_BYTES).map_err(|error| error.to_string())?;
    Ok(format!("it was opened: {identity}"))
}

impl Diagnosis {
    fn describe(&self) -> String {
        let line = |check: &Precondition| match &check.mend {
            None => format!("  pass  {:<14} {}\n", check.name, check.found),
            Some(mend) => format!("  FAIL  {:<14} {}\n        {:<14} {mend}\n", check.name, check.found, "mend it:"),
        };
        format!("{}\n{}", self.address, self.checks.iter().map(line).collect::<String>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine_in_a_folder::{CARD, Folder};
    use optireduce_driver::VFIO_PCI;

    const AT: &str = "0000:5e:00.0";

    #[test]
    fn a_card_is_opened_only_once_all_it_needs_is_there() {
        let folder = Folder::new("doctor");
        folder.driver(VFIO_PCI);
        folder.device(AT, CARD, Some("xdma"), Some("4"));
        let found = examine(&folder.machine(), AT, |_| panic!("it must not be opened"));
        let said = found.describe();
        assert!(!found.passed && said.starts_with("0000:5e:00.0\n  pass  device         10ee:903f\n"), "{said}");
        let driver = "  FAIL  driver         the card is bound to xdma, expected vfio-pci\n        mend it:       optireduce-nic bind 0000:5e:00.0\n";
        assert!(said.contains(driver), "{said}");

        folder.bind(AT, VFIO_PCI);
        for file in ["vfio", "4"] {
            std::fs::write(folder.path().join("dev/vfio").join(file), "").unwrap();
        }
        // The limit of this process may be too low, which is said, too.
        let limited = examine(&folder.machine(), AT, |_| Ok("opened".into()));
        let limit = |check: &Precondition| check.name == "locked memory" && check.mend.is_some();
        let expected = if limited.checks.iter().any(limit) {
            "mend it:       ulimit -l"
        } else {
            "  pass  card           opened\n"
        };
        assert!(limited.describe().contains(expected), "{}", limited.describe());
        if limited.passed {
            let busy =
                examine(&folder.machine(), AT, |_| Err("0000:5e:00.0: opening it: busy.\nEnd the other.".into()));
            assert!(
                !busy.passed && busy.describe().ends_with("opening it: busy\n        mend it:       End the other.\n")
            );
        }
    }

    #[test]
    fn a_device_that_is_not_there_is_told() {
        let folder = Folder::new("doctor-none");
        let said = examine(&folder.machine(), AT, |_| panic!("it must not be opened")).describe();
        assert!(said.contains("there is no PCI device at 0000:5e:00.0, expected 10ee:903f"), "{said}");
    }
}
