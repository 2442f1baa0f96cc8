//! Processes of a job: output, signals, and leftovers.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// Variable of all processes of a job; its value is unique.
const MARK: &str = "OPTIREDUCE_CHAOS";
pub const LOOK: Duration = Duration::from_millis(10);

/// Set when the user interrupts the program.
pub static INTERRUPTED: AtomicBool = AtomicBool::new(false);

type Lines = Arc<Mutex<Vec<String>>>;

#[derive(Debug)]
pub struct Process {
    child: Child,
    printed: Lines,
    said: Lines,
    readers: Vec<JoinHandle<()>>,
    started: Instant,
    ended: Option<(ExitStatus, Instant)>,
}

impl Process {
    /// Starts a process. `to_nowhere`: its standard output is a full device.
    pub fn start(mut command: Command, mark: &str, to_nowhere: bool) -> Result<Self, String> {
        let stdout = if to_nowhere {
            let full = std::fs::OpenOptions::new().write(true).open("/dev/full");
            Stdio::from(full.map_err(|error| format!("/dev/full: {error}"))?)
        } else {
            Stdio::piped()
        };
        command.env(MARK, mark).stdin(Stdio::null()).stdout(stdout).stderr(Stdio::piped());
        let name = command.get_args().find(|argument| argument.to_string_lossy().contains('/'));
        let name = name.unwrap_or(command.get_program()).to_string_lossy().into_owned();
        let mut child = command.spawn().map_err(|error| format!("{name}: {error}"))?;
        let (printed, said) = (Lines::default(), Lines::default());
        let mut readers = Vec::new();
        readers.extend(child.stdout.take().map(|from| read(from, printed.clone())));
        readers.extend(child.stderr.take().map(|from| read(from, said.clone())));
        Ok(Self { child, printed, said, readers, started: Instant::now(), ended: None })
    }

    pub fn signal(&mut self, signal: Signal) {
        if self.has_ended().is_none() {
            let _ = kill_process(Pid::from_child(&self.child), signal);
        }
    }

    pub fn has_ended(&mut self) -> Option<ExitStatus> {
        if self.ended.is_none() {
            self.ended = self.child.try_wait().ok().flatten().map(|status| (status, Instant::now()));
        }
        self.ended.map(|(status, _)| status)
    }

    /// Returns whether the process was running `by` after another's start.
    pub fn outlived(&self, started: &Self, by: Duration) -> bool {
        self.ended.is_none_or(|(_, ended)| ended >= started.started + by)
    }

    /// Exit code, or the negated signal.
    pub fn code(&mut self) -> Option<i32> {
        let status = self.has_ended()?;
        status.code().or_else(|| status.signal().map(|signal| -signal))
    }

    /// Waits for the process and its output.
    pub fn join(&mut self) {
        if let Ok(status) = self.child.wait() {
            self.ended.get_or_insert((status, Instant::now()));
        }
        self.readers.drain(..).for_each(|reader| drop(reader.join()));
    }

    pub fn printed(&self) -> Vec<String> {
        self.printed.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn said(&self) -> String {
        self.said.lock().unwrap_or_else(PoisonError::into_inner).join("\n")
    }

    pub fn op(&self) -> Option<u32> {
        let printed = self.printed.lock().unwrap_or_else(PoisonError::into_inner);
        printed.iter().rev().find_map(|line| line.strip_prefix("op ")?.split(' ').next()?.parse().ok())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.has_ended().is_none() {
            let _ = self.child.kill();
            self.join();
        }
    }
}

fn read(from: impl Read + Send + 'static, lines: Lines) -> JoinHandle<()> {
    std::thread::spawn(move || {
        for line in BufReader::new(from).lines().map_while(Result::ok) {
            lines.lock().unwrap_or_else(PoisonError::into_inner).push(line);
        }
    })
}

/// Waits for a condition until a time. Returns whether it became true.
pub fn wait(until: Instant, mut is_so: impl FnMut() -> bool) -> bool {
    loop {
        if is_so() {
            return true;
        }
        if Instant::now() >= until || INTERRUPTED.load(Ordering::Relaxed) {
            return false;
        }
        std::thread::sleep(LOOK);
    }
}

/// Ids of running processes with the mark of a job.
pub fn left(mark: &str) -> Vec<String> {
    let wanted = format!("{MARK}={mark}");
    let Ok(processes) = std::fs::read_dir("/proc") else { return Vec::new() };
    let has_mark = |process: &std::fs::DirEntry| {
        let variables = std::fs::read(process.path().join("environ")).unwrap_or_default();
        variables.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes())
    };
    processes.flatten().filter(has_mark).map(|process| process.file_name().to_string_lossy().into_owned()).collect()
}
