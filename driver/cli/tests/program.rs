//! `program` with a fake openFPGALoader on the PATH, which records its calls.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use optireduce_contract::limits::CONTRACT_VERSION;
use serde_json::Value;

/// Hash of no file here.
const SHA256: &str = "38cff46962db04888b85b3c65ec1ff1a0a44cd1f1a5c0f8a0a2b1ba2a8e4a0f4";

struct Bench {
    folder: PathBuf,
}

struct Ran {
    code: i32,
    out: String,
    err: String,
    /// Calls of the loader, one per line.
    calls: String,
}

impl Bench {
    fn new(name: &str) -> Self {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("program-{name}"));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("path")).unwrap();
        fs::create_dir_all(folder.join("bits")).unwrap();
        fs::write(folder.join("bits/shell.bit"), "bitstream\n").unwrap();
        Self { folder }
    }

    /// Installs a loader that lists a board and detects `model`. `loading` runs for a load.
    fn loader(self, model: &str, loading: &str) -> Self {
        let script = format!(
            "#!/bin/sh\necho \"$@\" >> {:?}\ncase \"$*\" in\n*--list-boards*) printf 'board name     cable_name\\nlisted         ft2232\\nno_cable\\n' ;;\n\
             *--detect*) printf 'index 0:\\n\\tidcode 0x1\\n{model}\\tirlength 8\\n' ;;\n*) {loading} ;;\nesac\n",
            self.folder.join("calls")
        );
        let path = self.folder.join("path/openFPGALoader");
        // Written by another process. A process forked meanwhile by a parallel test would otherwise
        // hold the file open for writing, and it could not be executed.
        let mut copy = Command::new("tee").arg(&path).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        copy.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
        assert!(copy.wait().unwrap().success());
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        self
    }

    fn good_loader(self) -> Self {
        self.loader("\\tmodel  LFE5U-85\\n", "echo 'Loading: 100%'")
    }

    fn manifest(self, contract: u32, state: &str, more: &str) -> Self {
        let text = format!("contract = {contract}\nstate = \"{state}\"\n{more}");
        fs::write(self.folder.join("bits/manifest.toml"), text).unwrap();
        self
    }

    fn built(self, board: &str, part: &str, tool: &str, sha256: &str) -> Self {
        let git = "0".repeat(40);
        let more = format!(
            "board = \"{board}\"\npart = \"{part}\"\ntool = \"{tool}\"\ntool_version = \"1\"\ngit = \"{git}\"\nsha256 = \"{sha256}\"\n\
             fmax_mhz = 43.0\n[utilisation]\nlut = 1\nff = 1\nbram = 1\ndsp = 1\n"
        );
        self.manifest(CONTRACT_VERSION, "built", &more)
    }

    fn ecp5(self) -> Self {
        let sha256 = self.sha256();
        self.built("ecp5-85f", "LFE5U-85F-8BG756C", "yosys, nextpnr-ecp5, ecppack", &sha256)
    }

    fn sha256(&self) -> String {
        let output = Command::new("sha256sum").arg(self.folder.join("bits/shell.bit")).output().unwrap();
        String::from_utf8(output.stdout).unwrap()[..64].to_owned()
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        let mut command = Command::new(env!("CARGO_BIN_EXE_optireduce-nic"));
        command.arg("program").arg(self.folder.join("bits")).args(arguments);
        let output = command.env("PATH", self.folder.join("path")).stdin(Stdio::null()).output().unwrap();
        let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        let calls = fs::read_to_string(self.folder.join("calls")).unwrap_or_default();
        Ran { code: output.status.code().unwrap(), out, err, calls }
    }
}

fn refuses(bench: &Bench, arguments: &[&str], code: i32, part: &str) {
    let ran = bench.run(arguments);
    assert!(ran.code == code && ran.err.contains(part), "{arguments:?}: {}: {}", ran.code, ran.err);
    assert!(!ran.calls.contains("shell.bit"), "{arguments:?}: {}", ran.calls);
}

#[test]
fn a_listed_board_with_the_right_part_is_loaded() {
    let bench = Bench::new("loads").ecp5().good_loader();
    let ran = bench.run(&["--board", "listed", "--json"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let file = bench.folder.join("bits/shell.bit").canonicalize().unwrap();
    let expected = format!("--list-boards\n--board listed --detect\n--board listed {}\n", file.display());
    assert_eq!(ran.calls, expected);
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((&report["programmed"], &report["found_part"]), (&true.into(), &"LFE5U-85".into()), "{report}");
    assert!(ran.err.contains("Loading: 100%"), "{}", ran.err);
    let said = bench.run(&["--board", "listed"]).out;
    assert!(said.contains("loaded by openFPGALoader; the JTAG chain has LFE5U-85"), "{said}");
}

#[test]
fn what_does_not_fit_is_refused_before_the_loader_loads() {
    let bench = Bench::new("fits").ecp5().good_loader();
    refuses(&bench, &[], 2, "name the board with part LFE5U-85F-8BG756C: --board NAME");
    refuses(&bench, &["--board", "alveo-u250"], 1, "and the bitstream is for ecp5-85f according to ");
    refuses(&bench, &["--board", "listed", "--card", "00ff:fe:1f.7"], 2, "there is no PCI device at 00ff:fe:1f.7");
    refuses(&bench, &["--board", "listed", "--card", "/tmp/card.sock"], 2, "a card on a socket has no bitstream");
    let bench = bench.loader("\\tmodel  LFE5U-45\\n", "true");
    refuses(&bench, &["--board", "listed"], 1, "its JTAG chain has part LFE5U-45, expected LFE5U-85F-8BG756C");
    let bench = bench.loader("", "true");
    refuses(&bench, &["--board", "no_cable"], 1, "openFPGALoader finds 0 FPGAs in the JTAG chain, expected one");
    let bench = bench.loader("\\tmodel  LFE5U-85\\n\\tmodel  LFE5U-85\\n", "true");
    refuses(&bench, &["--board", "listed"], 1, "finds 2 FPGAs");
}

#[test]
fn a_bitstream_that_is_not_its_manifests_is_refused() {
    let bench = Bench::new("manifest").good_loader();
    refuses(&bench, &["--board", "listed"], 2, "manifest.toml: cannot be read");
    let wrong = SHA256.to_owned();
    let bench = bench.built("ecp5-85f", "LFE5U-85F-8BG756C", "yosys", &wrong);
    refuses(&bench, &["--board", "listed"], 1, &format!("expected {wrong} by "));
    let names = "board = \"b\"\npart = \"p\"\ntool = \"t\"\ntool_version = \"1\"\n";
    let bench = bench.manifest(CONTRACT_VERSION, "not built here", names);
    refuses(
        &bench,
        &["--board", "listed"],
        1,
        "There is no bitstream to verify. Build it as the README beside the manifest says",
    );
    let bench = bench.manifest(CONTRACT_VERSION + 1, "not built here", names);
    refuses(&bench, &["--board", "listed"], 1, "Take card and driver from the same release");
    let bench = bench.ecp5();
    fs::remove_file(bench.folder.join("bits/shell.bit")).unwrap();
    refuses(&bench, &["--board", "listed"], 1, "it holds no bitstream, expected a file that ends with .bit");
    // A folder, and a FIFO whose read would block forever, are not bitstreams.
    fs::create_dir(bench.folder.join("bits/a.bit")).unwrap();
    assert!(Command::new("mkfifo").arg(bench.folder.join("bits/b.bit")).status().unwrap().success());
    refuses(&bench, &["--board", "listed"], 1, "it holds no bitstream");
}

#[test]
fn a_loader_that_fails_is_told() {
    let bench = Bench::new("fails").ecp5().loader("\\tmodel  LFE5U-85\\n", "echo 'JTAG init failed' >&2; exit 1");
    let ran = bench.run(&["--board", "listed"]);
    assert!(ran.code == 2 && ran.out.is_empty(), "{}: {}", ran.code, ran.out);
    assert!(ran.err.contains("JTAG init failed") && ran.err.contains("it failed, with exit status: 1"), "{}", ran.err);
    let bench = Bench::new("missing").ecp5();
    refuses(&bench, &["--board", "listed"], 1, "openFPGALoader is not on the PATH");
    refuses(&bench, &[], 2, "openFPGALoader is not on the PATH");
}

/// Alveo boards are loaded with the vendor's tool, with or without openFPGALoader installed.
#[test]
fn for_other_boards_the_vendors_way_is_printed() {
    for with_loader in [true, false] {
        let mut bench = Bench::new(if with_loader { "vivado-loader" } else { "vivado" });
        if with_loader {
            bench = bench.good_loader();
        }
        let sha256 = bench.sha256();
        let bench = bench.built("alveo-u250", "xcu250-figd2104-2l-e", "Vivado", &sha256);
        let ran = bench.run(&["--json"]);
        assert_eq!(ran.code, 2, "{}", ran.err);
        assert!(ran.err.contains("nothing was programmed: openFPGALoader lists no board alveo-u250"), "{}", ran.err);
        let report: Value = serde_json::from_str(&ran.out).unwrap();
        let steps: Vec<&str> = report["steps"].as_array().unwrap().iter().map(|step| step.as_str().unwrap()).collect();
        let file = bench.folder.join("bits/shell.bit").canonicalize().unwrap();
        let load = format!("set_property PROGRAM.FILE {{{}}} [current_hw_device]", file.display());
        assert!(steps.contains(&"vivado -mode tcl") && steps.contains(&load.as_str()), "{steps:?}");
        assert_eq!(
            (report["programmed"].clone(), steps.last()),
            (false.into(), Some(&"optireduce-nic selftest ADDRESS"))
        );
        let said = bench.run(&[]).out;
        assert!(
            said.contains("To be done by hand, as root:\n  echo 1 > /sys/bus/pci/devices/ADDRESS/remove\n"),
            "{said}"
        );
        refuses(&bench, &["--board", "alveo-u50"], 1, "the bitstream is for alveo-u250");
        fs::rename(bench.folder.join("bits/shell.bit"), bench.folder.join("bits/shell.xclbin")).unwrap();
        let said = bench.run(&[]).out;
        assert!(said.contains("xbutil program --device ADDRESS --user \"") && !said.contains("vivado -mode"), "{said}");
    }
}

/// The repository's bitstreams: `ecp5-85f` is built but names no board, the others are not built.
#[test]
fn the_bitstreams_of_this_repository_are_what_they_say() {
    let bitstreams = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bitstreams");
    let bench = Bench::new("ours").good_loader();
    for (folder, code, part) in [
        ("ecp5-85f", 2, "openFPGALoader lists no such board; name the board"),
        ("alveo-u250", 1, "state is \"not built here\", expected \"built\""),
        ("opennic", 1, "state is \"not built here\""),
        ("common", 2, "manifest.toml: cannot be read"),
        ("nowhere", 2, "expected a folder with a bitstream"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_optireduce-nic"));
        command.arg("program").arg(bitstreams.join(folder)).env("PATH", bench.folder.join("path"));
        let output = command.stdin(Stdio::null()).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(code) && said.contains(part), "{folder}: {said}");
    }
}
