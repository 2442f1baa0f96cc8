//! `program`: loads a bitstream into a board, or prints the steps. **Not run on a board.**
//!
//! Sources: openFPGALoader's `--list-boards` and `--detect`, UG908 (Vivado), and `xbutil program`
//! of XRT.

mod loader;

use std::io;
use std::path::{Path, PathBuf};

use optireduce_contract::pci::is_address;
use optireduce_driver::{Machine, Manifest, ManifestError, State, full_address};
use serde::Serialize;

use self::loader::Loader;
use crate::args::ProgramArgs;
use crate::bind::is_in_use;
use crate::list::{Answer, ask};
use crate::outcome::{Failure, print};

const ENDINGS: [&str; 3] = ["bit", "bin", "xclbin"];

#[derive(Debug, Serialize)]
struct Report {
    bitstream: PathBuf,
    board: String,
    part: String,
    contract_version: u32,
    programmed: bool,
    /// `None` if the JTAG chain was not queried.
    found_part: Option<String>,
    /// `None` without `--card`.
    found_card: Option<Found>,
    steps: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Found {
    address: String,
    #[serde(flatten)]
    answer: Answer,
}

struct Bitstream {
    manifest: Manifest,
    file: PathBuf,
}

/// Loads the bitstream, or prints the steps and fails if the board has no loader.
pub fn run(args: &ProgramArgs) -> Result<(), Failure> {
    let bitstream = Bitstream::of(&args.folder)?;
    let card = args.card.as_deref().map(|address| card(&Machine::this(), address)).transpose()?;
    let report = program(&bitstream, args.board.as_deref(), card)?;
    print(args.json, &report, || report.describe())?;
    if report.programmed {
        return Ok(());
    }
    Err(format!("nothing was programmed: openFPGALoader lists no board {}; follow the steps on stdout", report.board)
        .into())
}

impl Bitstream {
    fn of(folder: &Path) -> Result<Self, Failure> {
        let folder = folder.canonicalize().map_err(|error| {
            format!(
                "{}: {error}; expected a folder with a bitstream and its manifest.toml, as in bitstreams/",
                folder.display()
            )
        })?;
        let refused = |error: ManifestError| match error {
            ManifestError::Read { .. } => Failure::from(error.to_string()),
            error => Failure::check(error.to_string()),
        };
        let manifest = Manifest::load(&folder.join("manifest.toml")).map_err(refused)?;
        if manifest.state == State::NotBuiltHere {
            manifest.verify(&folder).map_err(refused)?;
        }
        let files = files(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let Some(first) = files.first() else {
            return Err(Failure::check(format!(
                "{}: it holds no bitstream, expected a file that ends with .{}.\nBuild it as the README beside the manifest says, or download it.",
                folder.display(),
                ENDINGS.join(" or .")
            )));
        };
        let file = files.iter().find(|file| manifest.verify(file).is_ok()).unwrap_or(first);
        manifest.verify(file).map_err(refused)?;
        Ok(Self { file: file.clone(), manifest })
    }
}

/// Files that may be bitstreams, sorted.
fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in folder.read_dir()? {
        let path = entry?.path();
        let may_be = path.extension().is_some_and(|ending| ENDINGS.iter().any(|known| ending == *known));
        if may_be && path.is_file() {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Identifies the device at the board's PCI address. Refuses other devices and cards in use.
fn card(machine: &Machine, address: &str) -> Result<Found, Failure> {
    let Some(full) = is_address(address).then(|| full_address(address)).flatten() else {
        return Err(format!(
            "{address} is not a PCI address as shown by `optireduce-nic list`; a card on a socket has no bitstream: restart its process"
        )
        .into());
    };
    let Some(function) = machine.function(&full) else {
        return Err(format!(
            "there is no PCI device at {full}; to program a board that is not on the bus, leave out --card"
        )
        .into());
    };
    if !function.may_be_a_card() {
        return Err(Failure::check(format!(
            "{function} is not an OptiReduce card, and programming it would remove it from its driver; without --card the bus is not checked"
        )));
    }
    if is_in_use(machine, &function) {
        return Err(Failure::check(format!(
            "{full}: it is in use; end the process that has it (`fuser -v /dev/vfio/*` names it), then program the board"
        )));
    }
    Ok(Found { answer: ask(machine, &function), address: full })
}

fn program(bitstream: &Bitstream, board: Option<&str>, found_card: Option<Found>) -> Result<Report, Failure> {
    let Bitstream { manifest, file } = bitstream;
    let name = board.unwrap_or(&manifest.board);
    let loader = Loader::find()?;
    let mut report = Report {
        bitstream: file.clone(),
        board: name.to_owned(),
        part: manifest.part.clone(),
        contract_version: manifest.contract,
        programmed: false,
        found_part: None,
        found_card,
        steps: Vec::new(),
    };
    if let Some(loader) = loader.as_ref().filter(|loader| loader.lists(name)) {
        let found = loader.detect(name)?;
        if !is_part(&manifest.part, &found) {
            return Err(Failure::check(format!(
                "board {name}: its JTAG chain has part {found}, expected {} according to {}.\nUse the bitstream built for this board.",
                manifest.part,
                manifest.file.display()
            )));
        }
        loader.load(name, file)?;
        (report.programmed, report.found_part) = (true, Some(found));
        report.steps = report.address().map_or(Vec::new(), afterwards);
        return Ok(report);
    }
    if name != manifest.board {
        let known = if loader.is_some() { "openFPGALoader lists no such board" } else { loader::MISSING };
        return Err(Failure::check(format!(
            "board {name}: {known}, and the bitstream is for {} according to {}.\nUse a bitstream built for this board.",
            manifest.board,
            manifest.file.display()
        )));
    }
    if !manifest.tool.contains("Vivado") {
        let known = if loader.is_some() { "openFPGALoader lists no such board" } else { loader::MISSING };
        return Err(format!(
            "board {name}: {known}; name the board with part {}: --board NAME, as listed by `openFPGALoader --list-boards`",
            manifest.part
        )
        .into());
    }
    report.steps = by_hand(file, report.address());
    Ok(report)
}

/// Returns whether `found` is the manifest's part, which tools abbreviate and spell differently.
fn is_part(part: &str, found: &str) -> bool {
    let plain = |text: &str| text.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    let (part, found) = (plain(part), plain(found));
    // A family alone ("ecp5") does not suffice.
    found.len() >= 5 && part.starts_with(&found)
}

fn by_hand(file: &Path, card: Option<&str>) -> Vec<String> {
    let address = card.unwrap_or("ADDRESS");
    if file.extension().is_some_and(|ending| ending == "xclbin") {
        let mut steps = vec![format!("xbutil program --device {address} --user {:?}", file)];
        steps.extend(afterwards(address));
        return steps;
    }
    let mut steps = vec![format!("echo 1 > /sys/bus/pci/devices/{address}/remove")];
    steps.push("vivado -mode tcl".into());
    steps.push("open_hw_manager; connect_hw_server; open_hw_target".into());
    steps.push(format!("set_property PROGRAM.FILE {{{}}} [current_hw_device]", file.display()));
    steps.push("program_hw_devices [current_hw_device]; exit".into());
    steps.push("echo 1 > /sys/bus/pci/rescan".into());
    steps.extend(seen(address));
    steps
}

/// Steps after loading, which replace the kernel's stale record of the card.
fn afterwards(address: &str) -> Vec<String> {
    let mut steps =
        vec![format!("echo 1 > /sys/bus/pci/devices/{address}/remove"), "echo 1 > /sys/bus/pci/rescan".to_owned()];
    steps.extend(seen(address));
    steps
}

fn seen(address: &str) -> [String; 2] {
    [format!("optireduce-nic bind {address}"), format!("optireduce-nic selftest {address}")]
}

impl Report {
    fn address(&self) -> Option<&str> {
        Some(&self.found_card.as_ref()?.address)
    }

    fn describe(&self) -> String {
        let Self { bitstream, board, part, contract_version, steps, .. } = self;
        let mut text =
            format!("{}\n  for {board}, part {part}, contract version {contract_version}\n", bitstream.display());
        match &self.found_card {
            Some(Found { address, answer: Answer::Card(card) }) => text += &format!("  at {address} so far: {card}\n"),
            Some(Found { address, answer: Answer::Not { error } }) => {
                text += &format!("  at {address} so far: not identified: {error}\n");
            }
            None => {}
        }
        if let Some(found) = &self.found_part {
            text += &format!("  loaded by openFPGALoader; the JTAG chain has {found}\n");
        }
        if !steps.is_empty() {
            text += "To be done by hand, as root:\n";
        }
        steps.iter().for_each(|step| text += &format!("  {step}\n"));
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::card::Identity;
    use crate::machine_in_a_folder::{CARD, Folder};

    #[test]
    fn a_part_is_recognised_however_it_is_shortened() {
        for (part, found, is) in [
            ("LFE5U-85F-8BG756C", "LFE5U-85", true),
            ("LFE5U-85F-8BG756C", "LFE5U-85F-8BG756", true),
            ("LFE5U-85F-8BG756C", "LFE5U-45", false),
            ("xc7a35tcsg324-1", "xc7a35", true),
            ("xcu250-figd2104-2l-e", "xcu50", false),
            ("LFE5U-85F-8BG756C", "LFE5", false),
            ("LFE5U-85F-8BG756C", "", false),
        ] {
            assert_eq!(is_part(part, found), is, "{part}, {found}");
        }
    }

    #[test]
    fn what_was_at_the_address_before_is_shown_whether_it_can_be_asked_or_not() {
        let card = Identity { contract_version: 2, build: 7, build_id: None, job_dma_bytes: 0 };
        for (answer, expected) in [
            (Answer::Card(card), "  at 0000:5e:00.0 so far: contract version 2, build 7\n"),
            (Answer::Not { error: "E".into() }, "  at 0000:5e:00.0 so far: not identified: E\n"),
        ] {
            let report = Report {
                bitstream: "a.bit".into(),
                board: "b".into(),
                part: "p".into(),
                contract_version: 2,
                programmed: false,
                found_part: None,
                found_card: Some(Found { address: "0000:5e:00.0".into(), answer }),
                steps: Vec::new(),
            };
            assert_eq!(report.describe(), format!("a.bit\n  for b, part p, contract version 2\n{expected}"));
        }
    }

    #[test]
    fn only_a_card_of_ours_on_the_bus_is_taken_for_the_board() {
        let folder = Folder::new("program");
        folder.device("0000:5e:00.0", CARD, None, None);
        folder.device("0000:01:00.0", (0x8086, 0x1234, 0x02_0000), Some("nvme"), Some("1"));
        let machine = folder.machine();
        // A blank board has no identity but can be programmed.
        let blank = card(&machine, "5E:00.0").unwrap();
        assert_eq!(blank.address, "0000:5e:00.0");
        let json = serde_json::to_value(&blank).unwrap();
        assert_eq!(json["error"], "the card is in no IOMMU group, expected one", "{json}");
        for (address, code, part) in [
            ("/tmp/card.sock", 2, "a card on a socket has no bitstream"),
            ("0000:02:00.0", 2, "there is no PCI device at 0000:02:00.0"),
            ("0000:01:00.0", 1, "0000:01:00.0 (8086:1234, nvme) is not an OptiReduce card"),
        ] {
            let failure = card(&machine, address).unwrap_err();
            assert!(failure.code == code && failure.text.contains(part), "{failure:?}");
        }
    }
}
