//! Tests with a secret in the environment.

use std::process::Command;

const VARIABLE: &str = "OPTIREDUCE_SECRET";
const SECRET: &str = "0123456789abcdef";

/// Runs the test of this name again in a process with `OPTIREDUCE_SECRET`. Returns `false` there.
pub fn has_no_secret(test: &str) -> bool {
    if std::env::var_os(VARIABLE).is_some_and(|value| value == SECRET) {
        return false;
    }
    let mut again = Command::new(std::env::current_exe().unwrap());
    let output = again.args(["--exact", test, "--nocapture"]).env(VARIABLE, SECRET).output().unwrap();
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
    true
}
