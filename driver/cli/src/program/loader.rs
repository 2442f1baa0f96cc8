//! openFPGALoader. Every call has a timeout.

use std::io::{self, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::outcome::Failure;

const NAME: &str = "openFPGALoader";
pub const MISSING: &str = "openFPGALoader is not on the PATH (Debian: apt install openfpgaloader)";
// Slow cables take a minute to load the largest FPGAs.
const LIST: Duration = Duration::from_secs(10);
const DETECT: Duration = Duration::from_secs(30);
const LOAD: Duration = Duration::from_secs(600);
/// Maximum output read.
const TEXT_BYTES_MAX: u64 = 1 << 20;

pub struct Loader {
    boards: Vec<String>,
}

impl Loader {
    /// Returns the loader, `None` if it is not on the PATH.
    pub fn find() -> Result<Option<Self>, Failure> {
        let arguments = ["--list-boards"];
        match said(Command::new(NAME).args(arguments), LIST) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed(&arguments, &error)),
            Ok(text) => Ok(Some(Self { boards: boards(&text) })),
        }
    }

    pub fn lists(&self, name: &str) -> bool {
        self.boards.iter().any(|board| board == name)
    }

    /// Returns the part in the board's JTAG chain, which must have exactly one FPGA.
    pub fn detect(&self, board: &str) -> Result<String, Failure> {
        let arguments = ["--board", board, "--detect"];
        let text = said(Command::new(NAME).args(arguments), DETECT).map_err(|error| failed(&arguments, &error))?;
        match models(&text).as_slice() {
            [one] => Ok(one.clone()),
            several => Err(Failure::check(format!(
                "board {board}: openFPGALoader finds {} FPGAs in the JTAG chain, expected one: {}.\n\
                 Is the board powered, and its cable plugged in? Remove other boards from the chain.",
                several.len(),
                if several.is_empty() { "none".to_owned() } else { several.join(", ") }
            ))),
        }
    }

    /// Loads a bitstream, with the loader's output on stderr.
    pub fn load(&self, board: &str, file: &Path) -> Result<(), Failure> {
        let mut command = Command::new(NAME);
        command.args(["--board", board]).arg(file).stdin(Stdio::null()).stdout(io::stderr());
        let ended = command.spawn().and_then(|child| wait(child, Instant::now() + LOAD, LOAD));
        ended.map_err(|error| failed(&["--board", board, &file.display().to_string()], &error))
    }
}

fn failed(arguments: &[&str], error: &io::Error) -> Failure {
    format!("`{NAME} {}`: {error}", arguments.join(" ")).into()
}

fn said(command: &mut Command, bound: Duration) -> io::Result<String> {
    let deadline = Instant::now() + bound;
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
    let out = child.stdout.take();
    let (sender, text) = mpsc::channel();
    // Not joined, since a grandchild may hold the pipe open.
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = out.map_or(Ok(0), |out| out.take(TEXT_BYTES_MAX).read_to_end(&mut bytes));
        let _ = sender.send(read.map(|_| String::from_utf8_lossy(&bytes).into_owned()));
    });
    wait(child, deadline, bound)?;
    let left = deadline.saturating_duration_since(Instant::now());
    text.recv_timeout(left).map_err(|_| late(bound))?
}

fn wait(mut child: Child, deadline: Instant, bound: Duration) -> io::Result<()> {
    loop {
        if let Some(status) = child.try_wait()? {
            return if status.success() { Ok(()) } else { Err(io::Error::other(format!("it failed, with {status}"))) };
        }
        if Instant::now() >= deadline {
            let _ = child.kill();
            let _ = child.wait();
            return Err(late(bound));
        }
        thread::sleep(Duration::from_millis(10));
    }
}

fn late(bound: Duration) -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, format!("it did not end within {bound:?} and was killed"))
}

/// Parses `--list-boards`: a header, then names and optional cables.
fn boards(text: &str) -> Vec<String> {
    let rows = text.lines().skip_while(|line| !line.starts_with("board name")).skip(1);
    rows.filter_map(|line| Some(line.split_whitespace().next()?.to_owned())).collect()
}

fn models(text: &str) -> Vec<String> {
    let line = |line: &str| Some(line.trim().strip_prefix("model ")?.trim().to_owned());
    text.lines().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_loader_lists_and_finds_is_read() {
        let text =
            "board name               cable_name\nac701                    digilent\nacornCle215              \n\n";
        assert_eq!(boards(text), ["ac701", "acornCle215"]);
        assert_eq!(boards("nothing of the kind"), [""; 0]);
        let chain =
            "index 0:\n\tidcode 0x41113043\n\tmanufacturer lattice\n\tfamily ECP5\n\tmodel  LFE5U-85\n\tirlength 8\n";
        assert_eq!(models(chain), ["LFE5U-85"]);
        assert_eq!(models("index 0:\n\tidcode   0x1\n\ttype     ARM\n"), [""; 0]);
    }

    #[test]
    fn a_loader_that_hangs_is_killed() {
        let error = said(Command::new("sleep").arg("600"), Duration::from_millis(50)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert_eq!(error.to_string(), "it did not end within 50ms and was killed");
        // The grandchild keeps the pipe open.
        let error = said(Command::new("sh").args(["-c", "sleep 2 & exit 0"]), Duration::from_millis(200)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        let error = said(Command::new("sh").args(["-c", "exit 3"]), LIST).unwrap_err();
        assert_eq!(error.to_string(), "it failed, with exit status: 3");
    }
}
