//! The command `optireduce-nic` with cards of `optireduce-sim serve`.
#![cfg(feature = "serve")]

#[path = "../served/mod.rs"]
mod served;

use std::io::{BufRead, BufReader};
use std::net::Ipv4Addr;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Once;
use std::time::{Duration, Instant};

use optireduce_contract::registers::REGISTERS;
use optireduce_driver::{VfioUserBus, serve_command};
use serde_json::Value;

use served::{Served, free_path, free_port};

fn command() -> Command {
    static BUILT: Once = Once::new();
    // tests/run has built it.
    BUILT.call_once(|| {
        if std::env::var_os("OPTIREDUCE_BUILT").is_none() {
            let build = Command::new(env!("CARGO")).args(["build", "--quiet", "-p", "optireduce-nic"]).status();
            assert!(build.expect("cargo").success());
        }
    });
    let target = PathBuf::from(env!("CARGO_BIN_EXE_optireduce-sim"));
    let target = target.parent().and_then(|folder| folder.parent()).expect("target/profile/optireduce-sim");
    let mut command = Command::new(target.join("debug/optireduce-nic"));
    command.env_remove("OPTIREDUCE_CARD").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn start(name: &str, socket: &Path, arguments: &[&str]) -> Child {
    command().arg(name).arg(socket).args(arguments).spawn().expect("the command starts")
}

fn run(name: &str, socket: &Path, arguments: &[&str]) -> Output {
    start(name, socket, arguments).wait_with_output().unwrap()
}

fn json(name: &str, socket: &Path, arguments: &[&str]) -> Value {
    let output = run(name, socket, &[arguments, &["--json"]].concat());
    assert!(output.status.success(), "{name}: {output:?}");
    assert!(output.stderr.is_empty(), "{name}: {output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn serve() -> Served {
    Served::start(Ipv4Addr::LOCALHOST, free_port())
}

/// The command in errors and help texts. Cargo is skipped, since it would build a release.
#[test]
fn the_command_that_is_said_to_serve_a_card_does() {
    let socket = free_path();
    let command = serve_command(&socket);
    let (cargo, arguments) = command.split_once(" -- ").unwrap();
    assert_eq!(cargo, format!("cargo run --release -p {} --features serve", env!("CARGO_PKG_NAME")));
    // The default port may be in use by another card.
    let arguments = format!("{arguments}:{}", free_port());
    let mut simulator = Command::new(env!("CARGO_BIN_EXE_optireduce-sim"));
    let mut served = simulator.args(arguments.split(' ')).stdout(Stdio::piped()).spawn().unwrap();
    let mut said = String::new();
    BufReader::new(served.stdout.take().unwrap()).read_line(&mut said).unwrap();
    let info = run("info", &socket, &[]);
    served.kill().unwrap();
    served.wait().unwrap();
    let _ = std::fs::remove_file(&socket);
    assert!(info.status.success(), "{said}, {info:?}");
    for guide in [include_str!("../../../driver/README.md"), include_str!("../../../driver/cli/README.md")] {
        assert!(guide.contains(&serve_command("/tmp/card.sock".as_ref())));
    }
}

#[test]
fn a_served_card_says_what_it_is_and_what_it_holds() {
    let port = free_port();
    let card = Served::start(Ipv4Addr::LOCALHOST, port);
    let info = json("info", &card.socket, &[]);
    assert_eq!(info["pci"], serde_json::json!({"vendor": "10ee", "device": "903f", "class": "020000"}));
    assert_eq!(info["network"], serde_json::json!({"ip": "127.0.0.1", "udp_port": port, "mac": "02:4f:7f:00:00:01"}));
    assert_eq!(
        (&info["contract_version"], &info["slots"], &info["window_bytes_max"]),
        (&2.into(), &8.into(), &(1 << 20).into())
    );
    let dump = json("dump", &card.socket, &[]);
    let values = |name: &str| {
        let rows = dump["registers"].as_array().unwrap().iter();
        rows.filter(|row| row["name"] == name).map(|row| row["value"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!((values("MAGIC"), values("CONTRACT")), (vec![0x4f52_4e43], vec![2]));
    assert!(REGISTERS.iter().all(|register| !values(register.name).is_empty()));
    assert_eq!(values("LOCAL_IP"), [u64::from(u32::from_le_bytes([127, 0, 0, 1]))]);
    assert_eq!(values("SQ_TAIL"), [0; 4]);
    for name in ["info", "dump"] {
        let said = String::from_utf8(run(name, &card.socket, &[]).stdout).unwrap();
        assert!(said.lines().count() > 10 && !said.contains('{'), "{name}: {said}");
    }
}

#[test]
fn the_self_test_passes_as_often_as_it_is_run_and_leaves_the_card_idle() {
    let card = serve();
    for seed in ["1", "2"] {
        let report = json("selftest", &card.socket, &["--seed", seed]);
        assert_eq!((&report["passed"], report["seed"].to_string().as_str()), (&true.into(), seed), "{report}");
        let steps = report["steps"].as_array().unwrap();
        assert!(steps.iter().all(|step| step["outcome"] == "passed"), "{report}");
        let figures = |name: &str| &steps.iter().find(|step| step["name"] == name).unwrap()["figures"];
        assert_eq!(figures("queues")["interrupts"], 4, "{report}");
        assert!(figures("windows")["windows"].as_u64().unwrap() > 40, "{report}");
    }
    let output = run("selftest", &card.socket, &[]);
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && said.contains(", seed ") && said.ends_with("passed\n"), "{said}");
}

/// A card on UDP receives packets that it sends to its own address.
#[test]
fn the_self_test_with_a_loopback_demands_every_packet_back() {
    let card = serve();
    let report = json("selftest", &card.socket, &["--seed", "1", "--loopback"]);
    let windows =
        &report["steps"].as_array().unwrap().iter().find(|step| step["name"] == "windows").unwrap()["figures"];
    assert!(report["passed"] == true && windows["packets_back"].as_u64().unwrap() > 1000, "{report}");
    assert_eq!(windows["packets_back"], windows["packets_sent"]);

    let lossy = Served::start_with(Ipv4Addr::LOCALHOST, free_port(), &["--loss", "0.01"]);
    let output = run("selftest", &lossy.socket, &["--seed", "1", "--loopback"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(1) && said.contains("came back whole (DROP_MALFORMED)"), "{said}");
}

/// The self-test suggests a longer bound: 3 ms are a hundred cycles of wall-clock time, and fewer
/// on a busy machine. A card with a fault fails with every bound.
#[test]
fn the_self_test_passes_on_a_verilated_card_with_longer_bounds() {
    let card = Served::start_with(Ipv4Addr::LOCALHOST, free_port(), &["--engine", "verilator"]);
    let output = run("selftest", &card.socket, &["--seed", "1", "--bound-ms", "1"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(1) && said.contains("--bound-ms 300"), "{said}");
    let outputs = ["300", "1000", "4000"].map(|bound| ["--seed", "1", "--json", "--bound-ms", bound]);
    let mut outputs = outputs.iter().map(|arguments| run("selftest", &card.socket, arguments));
    let passes = outputs.find(|output| output.status.success()).expect("it passes with one of the bounds");
    let report: Value = serde_json::from_slice(&passes.stdout).unwrap();
    assert_eq!(report["passed"], true, "{report}");
}

/// Goal of the fast path, with a card in another process.
#[test]
fn a_collective_takes_one_doorbell_and_no_read() {
    let card = serve();
    let report = json("bench", &card.socket, &["--commands", "50", "--collectives", "10"]);
    assert!(report["doorbell_to_completion_p50_us"].as_f64().unwrap() > 0.0, "{report}");
    let collectives = report["collectives"].as_array().unwrap();
    let figures = |cost: &Value| ["bytes", "copied_bytes"].map(|name| cost[name].as_u64().unwrap());
    let found: Vec<_> = collectives.iter().map(figures).collect();
    // With the driver's memory, and with lent memory.
    let expected = [4096, 65536, 1 << 20].into_iter().flat_map(|bytes| [[bytes, 2 * bytes], [bytes, 0]]);
    assert_eq!(found, expected.collect::<Vec<_>>());
    for cost in collectives {
        assert_eq!(cost["doorbell_stores"], 1.0, "{report}");
        // After 10 ms the driver checks the card by a register, which may happen for the largest.
        assert!(cost["loads_min"] == 0 || cost["bytes"] == 1 << 20, "{report}");
        assert!(cost["cpu_us"].as_f64().unwrap() > 0.0, "{report}");
    }
    let output = run("bench", &card.socket, &["--commands", "50", "--collectives", "10"]);
    assert!(String::from_utf8(output.stdout).unwrap().contains("doorbell to completion: "));
    json("selftest", &card.socket, &["--seed", "1"]);
}

/// Before the test has opened the card, during a step, or after the last one.
#[test]
fn a_card_that_is_killed_ends_the_self_test_at_once() {
    let ends = [0, 20, 60, 100, 200, 350, 500].map(|after_ms| {
        let card = serve();
        let test = start("selftest", &card.socket, &["--seed", "1"]);
        std::thread::sleep(Duration::from_millis(after_ms));
        card.end();
        let begin = Instant::now();
        let output = test.wait_with_output().unwrap();
        assert!(begin.elapsed() < Duration::from_secs(10), "{after_ms}: {output:?}");
        let [said, problem] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        match output.status.code() {
            Some(0) => assert!(said.ends_with("passed\n"), "{after_ms}: {said}"),
            Some(1) => assert!(
                said.ends_with("FAILED\n") && problem.contains("the card is gone"),
                "{after_ms}: {said}{problem}"
            ),
            other => assert!(other == Some(2) && said.is_empty() && !problem.is_empty(), "{after_ms}: {said}{problem}"),
        }
        output.status.code()
    });
    assert!(ends.contains(&Some(1)), "no step was interrupted: {ends:?}");
}

#[test]
fn a_card_that_somebody_else_has_is_told_and_is_there_again_afterwards() {
    let card = serve();
    let other = VfioUserBus::open(&card.socket, 4096).unwrap();
    let begin = Instant::now();
    let output = run("info", &card.socket, &[]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && said.contains("another process probably has the card"), "{said}");
    assert!(begin.elapsed() < Duration::from_secs(30));
    drop(other);
    json("info", &card.socket, &[]);
}

/// The server accepts connections but speaks no vfio-user.
#[test]
fn what_is_no_card_is_refused_in_bounded_time() {
    let path = free_path();
    let listener = UnixListener::bind(&path).unwrap();
    let begin = Instant::now();
    let silent = run("selftest", &path, &[]);
    assert!(silent.status.code() == Some(2) && begin.elapsed() < Duration::from_secs(30), "{silent:?}");
    drop(listener);
    let stale = run("selftest", &path, &[]);
    let said = String::from_utf8(stale.stderr).unwrap();
    assert!(stale.status.code() == Some(2) && said.contains("cannot connect: nobody listens"), "{said}");
    std::fs::remove_file(&path).unwrap();
}
