//! Tests in a separate network namespace.

use std::process::Command;

const INSIDE: &str = "OPTIREDUCE_TEST_INSIDE";

/// Runs the test of this name again in a network namespace with only `lo`. Returns `false` there.
pub fn is_outside(test: &str) -> bool {
    if std::env::var_os(INSIDE).is_some() {
        ip(&["link", "set", "lo", "up"]);
        return false;
    }
    let unshare = |program: &str, arguments: &[&str]| {
        let mut command = Command::new("unshare");
        command.args(["--net", "--map-root-user", program]).args(arguments).env(INSIDE, "1").output()
    };
    if !unshare("true", &[]).is_ok_and(|output| output.status.success()) {
        eprintln!("not run: a network namespace needs unshare and permission to create one");
        return true;
    }
    let program = std::env::current_exe().unwrap();
    let output = unshare(program.to_str().unwrap(), &["--exact", test, "--nocapture"]).unwrap();
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
    true
}

pub fn ip(arguments: &[&str]) {
    assert!(Command::new("ip").args(arguments).status().unwrap().success(), "ip {arguments:?}");
}
