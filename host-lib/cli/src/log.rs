//! Lines on stderr, written by a thread.
//!
//! Why: nobody may read a pipe, and a full pipe must not stop a rank. Lines that do not fit the
//! queue are dropped and counted.

use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{LazyLock, mpsc};
use std::thread;
use std::time::Duration;

const LINES_MAX: usize = 4096;
/// Limit of the wait for a slow reader at the end.
const FLUSH: Duration = Duration::from_secs(1);

static DROPPED: AtomicU64 = AtomicU64::new(0);
static LINES: LazyLock<SyncSender<Line>> = LazyLock::new(start);

enum Line {
    Text(Vec<u8>),
    Flush(mpsc::Sender<()>),
}

/// Writer of whole lines.
#[derive(Clone, Copy, Debug)]
pub struct Stderr;

impl Write for Stderr {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        match LINES.try_send(Line::Text(line.to_vec())) {
            Ok(()) => {}
            Err(TrySendError::Full(_)) => drop(DROPPED.fetch_add(1, Ordering::Relaxed)),
            // The thread was not started: this process may have no more threads.
            Err(TrySendError::Disconnected(_)) => drop(io::stderr().write_all(line)),
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Prints a line, with control characters of names and messages escaped.
pub fn say(line: &str) {
    let mut text = String::new();
    for char in line.chars() {
        match char.is_control() && char != '\n' && char != '\t' {
            true => text.extend(char.escape_default()),
            false => text.push(char),
        }
    }
    let _ = Stderr.write(format!("optireduce: {text}\n").as_bytes());
}

/// Waits until all lines are written, not long if nobody reads them.
pub fn flush() {
    let (done, written) = mpsc::channel();
    if LINES.try_send(Line::Flush(done)).is_ok() {
        let _ = written.recv_timeout(FLUSH);
    }
}

fn start() -> SyncSender<Line> {
    let (sender, lines) = sync_channel(LINES_MAX);
    let write = move || {
        for line in lines {
            match line {
                Line::Text(line) => drop(io::stderr().write_all(&line)),
                Line::Flush(done) => drop(done.send(())),
            }
            let dropped = DROPPED.swap(0, Ordering::Relaxed);
            if dropped > 0 {
                let _ = writeln!(
                    io::stderr(),
                    "optireduce: {dropped} lines were dropped, since stderr was not read in time"
                );
            }
        }
    };
    // Without the thread, the channel is disconnected.
    let _ = thread::Builder::new().name("optireduce-log".into()).spawn(write);
    sender
}
