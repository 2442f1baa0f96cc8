//! `list`: the cards on this machine's PCI bus and, on request, their identities.

use optireduce_contract::pci::{DEVICE_ID, VENDOR_ID};
use optireduce_driver::{Machine, PciFunction, VFIO_PCI, serve_command};
use serde::Serialize;

use crate::args::ListArgs;
use crate::card::{Identity, LITTLE_BYTES, identify};
use crate::outcome::{Failure, print, table};

pub fn run(args: &ListArgs) -> Result<(), Failure> {
    let machine = Machine::this();
    let ask = |function: &PciFunction| args.identify.then(|| ask(&machine, function));
    let found = cards(&machine)?.into_iter().map(|function| Listed { identity: ask(&function), function });
    let found: Vec<Listed> = found.collect();
    print(args.json, &found, || describe(&found))
}

#[derive(Debug, Serialize)]
struct Listed {
    #[serde(flatten)]
    function: PciFunction,
    /// `None` without `--identify`.
    #[serde(skip_serializing_if = "Option::is_none")]
    identity: Option<Answer>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Answer {
    Card(Identity),
    Not { error: String },
}

/// Identifies a card, unless it is in use or hangs.
pub fn ask(machine: &Machine, function: &PciFunction) -> Answer {
    let preconditions = machine.preconditions(&function.address, LITTLE_BYTES);
    if let Some(missing) = preconditions.into_iter().find(|one| one.mend.is_some()) {
        return Answer::Not { error: missing.found };
    }
    let first_line = |error: String| error.lines().next().unwrap_or_default().to_owned();
    match identify(&function.address, LITTLE_BYTES) {
        Ok(identity) => Answer::Card(identity),
        Err(error) => Answer::Not { error: first_line(error.to_string()) },
    }
}

/// Returns the devices with a card's PCI numbers, which other devices may share.
pub fn cards(machine: &Machine) -> Result<Vec<PciFunction>, String> {
    let mut found = machine.functions().map_err(|error| {
        let path = machine.sys("bus/pci/devices");
        format!("reading {}: {error}", path.display())
    })?;
    found.retain(PciFunction::may_be_a_card);
    Ok(found)
}

pub fn none() -> String {
    format!(
        "No PCI device {VENDOR_ID:04x}:{DEVICE_ID:04x} on this machine. To try a simulated card, in a clone of the project:
  {}
  optireduce-nic info /tmp/card.sock
",
        serve_command("/tmp/card.sock".as_ref())
    )
}

fn describe(cards: &[Listed]) -> String {
    if cards.is_empty() {
        return none();
    }
    let or_none = |text: &Option<String>| text.clone().unwrap_or_else(|| "none".to_owned());
    let was_asked = cards.iter().any(|card| card.identity.is_some());
    let head = ["address", "driver", "IOMMU group", if was_asked { "card" } else { "" }].map(str::to_owned);
    let rows = cards.iter().map(|Listed { function, identity }| {
        let says = match identity {
            None => String::new(),
            Some(Answer::Card(identity)) => identity.to_string(),
            Some(Answer::Not { error }) => error.clone(),
        };
        [function.address.clone(), or_none(&function.driver), or_none(&function.iommu_group), says]
    });
    let rows: Vec<_> = std::iter::once(head).chain(rows).collect();
    let unbound = cards.iter().map(|card| &card.function).find(|card| card.driver.as_deref() != Some(VFIO_PCI));
    let next = unbound
        .map(|card| format!("To use a card that is not bound to {VFIO_PCI}: optireduce-nic bind {}\n", card.address));
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
        std::fs::create_dir(folder.machine().device("0000:04:00.0")).unwrap();
        let listed = |identity: fn(&Machine, &PciFunction) -> Option<Answer>| -> Vec<Listed> {
            let found = cards(&folder.machine()).unwrap().into_iter();
            found.map(|function| Listed { identity: identity(&folder.machine(), &function), function }).collect()
        };
        let devices = listed(|_, _| None);
        assert_eq!(
            describe(&devices),
            "address       driver    IOMMU group\n0000:01:00.0  none      none\n0000:5e:00.0  vfio-pci  17\n\
             To use a card that is not bound to vfio-pci: optireduce-nic bind 0000:01:00.0\n"
        );
        let json = serde_json::to_value(&devices).unwrap();
        assert_eq!(json[1], serde_json::json!({"address": "0000:5e:00.0", "driver": "vfio-pci", "iommu_group": "17"}));
        assert_eq!(json[0]["driver"], serde_json::Value::Null);
        assert!(!describe(&devices[1..]).contains("bind"));
        let asked = listed(|machine, function| Some(ask(machine, function)));
        let said = describe(&asked);
        assert!(
            said.contains("0000:01:00.0  none      none         the card is in no IOMMU group, expected one\n"),
            "{said}"
        );
        let identity = Identity { contract_version: 3, build: 7, build_id: Some(0x2a), job_dma_bytes: 0 };
        let card = Listed { function: devices[1].function.clone(), identity: Some(Answer::Card(identity)) };
        assert!(describe(&[card]).ends_with("17           contract version 3, build 7, build id 0x0000002a\n"));
    }

    #[test]
    fn a_machine_without_cards_is_told_how_to_serve_one() {
        let folder = Folder::new("none");
        folder.device("0000:03:00.0", (0x8086, 0x903f, 0x02_0000), None, None);
        assert_eq!(cards(&folder.machine()).unwrap(), []);
        assert_eq!(cards(&Machine::at("/nowhere".as_ref())).unwrap(), []);
        let text = describe(&[]);
        assert!(
            text.starts_with("No PCI device 10ee:903f") && text.contains("--features serve -- serve --socket"),
            "{text}"
        );
    }
}
