//! The command as users run it, without a card: arguments, exit codes, messages. `sim/tests/nic`
//! runs it with cards.

use std::process::{Command, Output, Stdio};

fn nic(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_optireduce-nic"));
    command.args(arguments).env_remove("OPTIREDUCE_CARD").stdin(Stdio::null()).output().expect("the command starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn what_cannot_be_meant_is_refused_with_a_sentence() {
    let missing = format!("{}/missing.sock", env!("CARGO_TARGET_TMPDIR"));
    for command in ["info", "selftest", "bench", "dump"] {
        for (arguments, part) in [
            (&[command][..], "no card is named"),
            (&[command, ""], "no card is named"),
            (&[command, "00ff:fe:1f.7"], "there is no PCI device at 00ff:fe:1f.7"),
            (&[command, &missing], "cannot connect: No such file or directory"),
            (&[command, "/dev/null"], "cannot connect: found a file that is no socket"),
            (&[command, &missing, "again"], "unexpected argument 'again'"),
            (&[command, "--jsn"], "unexpected argument '--jsn'"),
            // Longer than a socket address allows.
            (&[command, &"x".repeat(200)], "cannot connect"),
        ] {
            let output = nic(arguments);
            let said = text(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
            assert!(said.contains(part) && output.stdout.is_empty(), "{arguments:?}: {said}");
        }
    }
    for arguments in [
        &["bind"][..],
        &["bind", "a.sock"],
        &["unbind", "00ff:fe:1f.7"],
        &["doctor", "a.sock"],
        &["selftest", "a.sock", "--seed", "many"],
        &["list", "a.sock"],
        &[],
    ] {
        assert_eq!(nic(arguments).status.code(), Some(2), "{arguments:?}");
    }
}

#[test]
fn the_environment_may_name_the_card() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_optireduce-nic"));
    let output =
        command.arg("info").env("OPTIREDUCE_CARD", "vfio-user:/nowhere/a.sock,address=10.0.0.2").output().unwrap();
    let said = text(&output.stderr);
    assert!(said.starts_with("optireduce-nic: vfio-user:/nowhere/a.sock: cannot connect"), "{said}");

    for (name, arguments) in [("OPTIREDUCE_CARD", &["info"][..]), ("CARD", &["info", "/nowhere/{rank}.sock"])] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_optireduce-nic"));
        let output = command.args(arguments).env("OPTIREDUCE_CARD", "/nowhere/{rank}.sock").output().unwrap();
        let said = text(&output.stderr);
        let expected = "is /nowhere/{rank}.sock, in which a job replaces {rank} by each rank's number; expected one card, for instance `/nowhere/0.sock`";
        assert!(output.status.code() == Some(2) && said.contains(&format!("{name} {expected}")), "{said}");
    }
}

#[test]
fn every_help_ends_with_exit_codes_and_examples() {
    for command in ["list", "bind", "unbind", "doctor", "info", "selftest", "bench", "stats", "program", "dump"] {
        let output = nic(&[command, "--help"]);
        let said = text(&output.stdout);
        assert!(output.status.success(), "{said}");
        assert!(said.contains("Exit codes:") && said.contains(&format!("  optireduce-nic {command}")), "{said}");
    }
    let said = text(&nic(&["program", "--help"]).stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("A card does not identify its board") && said.contains("is not checked"), "{said}");
    let said = text(&nic(&["dump", "--help"]).stdout);
    assert!(said.contains("Opening a card resets it"), "{said}");
}

#[test]
fn the_cards_of_this_machine_are_listed() {
    let output = nic(&["list", "--json"]);
    assert!(output.status.success());
    let devices: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(devices.is_array(), "{devices}");
    let said = text(&nic(&["list"]).stdout);
    assert!(said.contains("-p optireduce-sim --features serve -- serve ") || said.contains("IOMMU group"), "{said}");
}

#[test]
fn a_reader_that_has_gone_is_no_error() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_optireduce-nic"));
    let mut child = command.arg("list").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}
