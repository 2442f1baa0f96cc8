//! Output. A closed pipe is no error, so that hosts and processes are cleaned up.

use std::io::{ErrorKind, Write};

/// Writes a line to stderr and ignores errors.
pub fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

///
/// Writes to stdout.
///
/// # Errors
/// If it cannot be written. A closed pipe is no error.
pub fn print(text: &str) -> Result<(), String> {
    write(&mut std::io::stdout().lock(), text)
}

fn write(out: &mut impl Write, text: &str) -> Result<(), String> {
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(format!("writing to stdout: {error}")),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_pipe_is_no_error_and_a_full_disk_is_one() {
        let (reader, mut writer) = std::io::pipe().expect("a pipe");
        assert_eq!(write(&mut writer, "x"), Ok(()));
        drop(reader);
        assert_eq!(write(&mut writer, "x"), Ok(()));
        let mut full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("/dev/full");
        assert!(write(&mut full, "x").expect_err("no room").contains("No space left on device"));
    }
}
