//! The card as Verilog for use without Rust: `optireduce_card.v` and `optireduce_top.v`.
//!
//! `optireduce_card.v` is the output of rust-hdl with equal modules merged and names changed:
//! `top$reduce$adder` becomes `optireduce_reduce__adder`, and any other `$` in a name becomes `__`.
//! Modules then do not collide with other designs, and no tool needs escaped names. A module used
//! in several places is named after the first. `optireduce_top.v` is an ANSI header around the
//! card.

use optireduce_hw::cosim::module::{self, Net};
use std::fmt::Write as _;
use std::path::Path;
use std::{fs, io};

const SIMULATOR_ONLY: &[&str] = &["asleep", "timer_ns", "trace_"];

pub fn files(verilog: &str) -> Result<[(&'static str, String); 2], String> {
    let modules = module::parse(verilog)?;
    let top = modules.iter().find(|module| module.name == "top").ok_or("no module top")?;
    let ports: Vec<&Net> = top.ports().collect();
    if ports.is_empty() {
        return Err("module top has no ports".into());
    }
    let notice =
        "// Written by `optireduce-hdl rtl` from the rust-hdl sources in hw/src; do not edit. See hw/rtl/README.md.\n";
    let card = format!("{notice}{}", renamed(&module::print(&modules)));
    Ok([("optireduce_card.v", card), ("optireduce_top.v", format!("{notice}{}", ansi(&ports)))])
}

fn ansi(ports: &[&Net]) -> String {
    let simulator_only =
        |port: &Net| port.kind.is_output() && SIMULATOR_ONLY.iter().any(|name| port.name.starts_with(name));
    let mut declared = Vec::new();
    let mut pins = Vec::new();
    for port in ports {
        let name = port.name.replace('$', "__");
        if simulator_only(port) {
            pins.push(format!("        .{name}()"));
            continue;
        }
        let direction = if port.kind.is_output() { "output" } else { "input " };
        let range = if port.bits == 1 { String::new() } else { format!("[{}:0]", port.bits - 1) };
        declared.push(format!("    {direction} wire {range:>7} {name}"));
        pins.push(format!("        .{name}({name})"));
    }
    format!(
        "\nmodule optireduce_top (\n{}\n);\n    optireduce_card card (\n{}\n    );\nendmodule\n",
        declared.join(",\n"),
        pins.join(",\n")
    )
}

/// Renames modules and signals, and removes trailing spaces and empty lines.
pub(crate) fn renamed(verilog: &str) -> String {
    let mut text = String::with_capacity(verilog.len());
    for line in verilog.lines().map(str::trim_end).filter(|line| !line.is_empty()) {
        if line.starts_with("module ") {
            text.push('\n');
        }
        let mut rest = line;
        while let Some(start) = rest.find(|c: char| c.is_ascii_alphabetic() || c == '_' || c == '$') {
            let end = rest[start..].find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '$'));
            let end = end.map_or(rest.len(), |end| start + end);
            let (before, name) = (&rest[..start], &rest[start..end]);
            text.push_str(before);
            match name.strip_prefix("top$") {
                Some(below) => _ = write!(text, "optireduce_{}", below.replace('$', "__")),
                None if name == "top" => text.push_str("optireduce_card"),
                // System tasks and functions keep their names.
                None if name.starts_with('$') => text.push_str(name),
                None => text.push_str(&name.replace('$', "__")),
            }
            rest = &rest[end..];
        }
        text.push_str(rest);
        text.push('\n');
    }
    text
}

pub fn write(folder: &Path, files: &[(&str, String)]) -> Result<(), String> {
    fs::create_dir_all(folder).map_err(|error| format!("{}: cannot make this folder: {error}", folder.display()))?;
    for (name, text) in files {
        let path = folder.join(name);
        fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(())
}

/// Returns the first difference between the files in `folder` and these texts.
pub fn check(folder: &Path, files: &[(&str, String)]) -> Result<Option<String>, String> {
    for (name, expected) in files {
        let path = folder.join(name);
        let found = match fs::read_to_string(&path) {
            Ok(found) if found == *expected => continue,
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Some(format!("{} does not exist. {}", path.display(), rewrite(folder))));
            }
            Err(error) => return Err(format!("{}: {error}", path.display())),
        };
        let same = found.lines().zip(expected.lines()).take_while(|(found, expected)| found == expected).count();
        return Ok(Some(format!(
            "{}:{}: found {:?}, expected {:?}. {}",
            path.display(),
            same + 1,
            found.lines().nth(same).unwrap_or("end of file"),
            expected.lines().nth(same).unwrap_or("end of file"),
            rewrite(folder),
        )));
    }
    Ok(None)
}

fn rewrite(folder: &Path) -> String {
    format!("To rewrite it:\n  cargo run --release -p optireduce-hdl -- rtl --out {}", folder.display())
}

#[cfg(test)]
#[path = "rtl_tests.rs"]
mod tests;
