//! How a command ends: its exit code, and what it prints.

use std::io::Write;

use optireduce_driver::DriverError;
use serde::Serialize;

/// Why a command ends with another exit code than 0.
#[derive(Debug)]
pub struct Failure {
    /// 1: a check failed; 2: the command could not run.
    pub code: u8,
    /// For stderr.
    pub text: String,
}

impl Failure {
    /// A step of the self-test failed.
    pub fn check(text: String) -> Self {
        Self { code: 1, text }
    }
}

impl From<String> for Failure {
    fn from(text: String) -> Self {
        Self { code: 2, text }
    }
}

impl From<DriverError> for Failure {
    fn from(error: DriverError) -> Self {
        error.to_string().into()
    }
}

/// Says something on stderr. Nobody has to read it.
pub fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "optireduce-nic: {text}");
}

/// Prints a result: `value` as a line of JSON if `json`, or else the text for a person, which ends with a newline.
///
/// # Errors
/// If stdout cannot be written to. A reader that has gone away is no error.
pub fn print(json: bool, value: &impl Serialize, text: impl FnOnce() -> String) -> Result<(), Failure> {
    is_read(&text_of(json, value, text)?).map(drop)
}

/// `value` as a line of JSON if `json`, or else the text for a person.
///
/// # Errors
/// If it cannot be said in JSON.
pub fn text_of(json: bool, value: &impl Serialize, text: impl FnOnce() -> String) -> Result<String, Failure> {
    if json {
        Ok(serde_json::to_string(value).map_err(|error| format!("writing JSON: {error}"))? + "\n")
    } else {
        Ok(text())
    }
}

/// Prints `text`: whether there is still a reader.
///
/// # Errors
/// If stdout cannot be written to.
pub fn is_read(text: &str) -> Result<bool, Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(format!("writing to stdout: {error}").into()),
    }
}

/// Lines of cells in columns, the last of which may have any length.
pub fn table<const N: usize>(rows: &[[String; N]]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..N).map(width).collect();
    let line = |row: &[String; N]| {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        cells.join("  ").trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [["a", "bb", "c"], ["long", "", ""]].map(|row| row.map(str::to_owned));
        assert_eq!(table(&rows), "a     bb  c\nlong\n");
    }
}
