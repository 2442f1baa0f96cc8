//! How a command ends: its exit code, and what it prints.

use std::io::Write;

/// Why a command ends with another exit code than 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// See [`Failure::INCOMPLETE`] and the others.
    pub code: u8,
    /// For stderr.
    pub text: String,
}

impl Failure {
    /// It ran, but the result is incomplete or failed a check.
    pub const INCOMPLETE: u8 = 1;
    /// It could not run, or not to the end.
    pub const COULD_NOT_RUN: u8 = 2;
    /// The safeguard halted.
    pub const HALTED: u8 = 3;

    pub fn incomplete(text: String) -> Self {
        Self { code: Self::INCOMPLETE, text }
    }

    pub fn halted(text: String) -> Self {
        Self { code: Self::HALTED, text }
    }
}

impl From<String> for Failure {
    fn from(text: String) -> Self {
        Self { code: Self::COULD_NOT_RUN, text }
    }
}

/// Says something on stderr. Nobody has to read it.
pub fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "optireduce: {line}");
}

/// Prints a line of the result. A reader that has gone away is no error: the other ranks still need this one.
pub fn print(line: &str) -> Result<(), String> {
    let mut out = std::io::stdout().lock();
    match writeln!(out, "{line}").and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(format!("writing to stdout: {error}")),
        _ => Ok(()),
    }
}
