//! Checks whose result depends only on their input and on tools, each run once.
//!
//! `passed.txt` lists the checks that passed, by name and SHA-256 of the input. Tests skip those,
//! so a changed block costs its own checks only. With `OPTIREDUCE_NIGHTLY` tests skip none, because
//! another version of a tool may find more.

use sha2::{Digest, Sha256};
use std::path::Path;
use std::{env, fs};

/// Runs `check` unless it has passed with the same `input`, which includes the recipe.
///
/// # Errors
/// Of `check`, or if it passes and `passed.txt` lacks it, with the command that adds it.
pub fn once(name: &str, input: &[&str], check: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("passed.txt");
    let at = |error: std::io::Error| format!("{}: {error}", path.display());
    let mut hasher = Sha256::new();
    for part in input {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    let digest: String = hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    let line = format!("{name} {digest}");
    let is_listed = fs::read_to_string(&path).map_err(at)?.lines().any(|known| known == line);
    if is_listed && env::var_os("OPTIREDUCE_NIGHTLY").is_none() {
        return Ok(());
    }
    check()?;
    if is_listed {
        return Ok(());
    }
    if env::var_os("OPTIREDUCE_PASSED").is_none() {
        return Err(format!(
            "{name} passes, but {} does not list it with this input. Add it: OPTIREDUCE_PASSED=add cargo test -p optireduce-hdl",
            path.display()
        ));
    }
    // Test processes add lines at the same time.
    let file = fs::File::open(&path).map_err(at)?;
    file.lock().map_err(at)?;
    let text = fs::read_to_string(&path).map_err(at)?;
    let is_other = |known: &&str| known.rsplit_once(' ').is_none_or(|(other, _)| other != name);
    let mut lines: Vec<&str> = text.lines().filter(is_other).chain([line.as_str()]).collect();
    lines.sort_unstable();
    fs::write(&path, lines.join("\n") + "\n").map_err(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_is_skipped_only_with_the_input_that_passed() {
        let fails = |name: &str, input: &[&str]| once(name, input, || Err("it ran".into()));
        let listed = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("passed.txt")).expect("it is there");
        let block = &crate::verilog::emit::BLOCKS[0];
        let (name, verilog) = (format!("structure/{}", block.name), block.verilog());
        assert!(listed.lines().any(|line| line.starts_with(&format!("{name} "))), "{name} is not listed");
        assert_eq!(fails(&name, &[&verilog, "another recipe"]), Err("it ran".into()));
        assert_eq!(fails("another/name", &[&verilog, include_str!("eda.rs")]), Err("it ran".into()));
        if env::var_os("OPTIREDUCE_NIGHTLY").is_none() {
            assert_eq!(fails(&name, &[&verilog, include_str!("eda.rs")]), Ok(()));
        }
        if env::var_os("OPTIREDUCE_PASSED").is_none() {
            let error = once("another/name", &[""], || Ok(())).expect_err("it is not listed");
            assert!(error.contains("OPTIREDUCE_PASSED=add"), "{error}");
        }
    }
}
