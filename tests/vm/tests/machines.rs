//! Runs the short scenario, with `OPTIREDUCE_NIGHTLY` the whole one, with `OPTIREDUCE_NO_VM` none.
//! Fails without the downloads of `tests/vm/fetch`.

use std::path::Path;
use std::process::{Command, Stdio};

#[test]
fn cards_behind_an_unmodified_kernel_work_in_jobs() {
    if std::env::var_os("OPTIREDUCE_NO_VM").is_some() {
        return eprintln!("NOT RUN: OPTIREDUCE_NO_VM is set");
    }
    // tests/run builds them beforehand, with the features of the whole workspace.
    if std::env::var_os("OPTIREDUCE_BUILT").is_none() {
        let packages = ["optireduce-cli", "optireduce-nic", "optireduce-sim"];
        let mut build = Command::new(env!("CARGO"));
        build.args(["build", "--quiet", "--features", "optireduce-sim/serve"]);
        build.args(packages.iter().flat_map(|package| ["-p", package]));
        assert!(build.status().expect("cargo").success());
        let folder =
            Path::new(env!("CARGO_BIN_EXE_optireduce-vm")).ancestors().nth(2).expect("cargo's folder").join("vm");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("static");
        assert!(Command::new(script).arg(folder).status().expect("tests/vm/static starts").success());
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_optireduce-vm"));
    let is_whole = std::env::var_os("OPTIREDUCE_NIGHTLY").is_some();
    command.args((!is_whole).then_some("--short"));
    let output = command.stdin(Stdio::null()).output().expect("the program starts");
    println!("{}", String::from_utf8_lossy(&output.stdout));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
