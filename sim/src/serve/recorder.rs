//! Records served cards to files: waveforms, frames and accepted beats.
//!
//! A thread merges the cards' reports in order of time and writes all that precedes the earliest
//! pending report. If a file cannot be written, recording stops and [`Recorder::finish`] returns
//! the error; the cards continue.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::card::vcd::VcdTrace;
use crate::card::{Accept, SignalChange, SignalDef};
use crate::error::SimError;
use crate::network::capture::Capture;
use crate::wire::Arrival;

/// Cards wait for the disk beyond this queue.
const WAITING_MAX: usize = 1024;

/// Paths of files to record to.
#[derive(Clone, Debug, Default)]
pub struct Files {
    /// Waveforms, as a VCD file.
    pub vcd: Option<PathBuf>,
    /// Frames from and to the cards, as a pcap file.
    pub pcap: Option<PathBuf>,
    /// Accepted beats, one JSON object per line.
    pub trace: Option<PathBuf>,
}

/// Activity of a card since its last report.
#[derive(Default)]
pub(super) struct Did {
    pub card: usize,
    /// Later reports start here.
    pub until_ns: u64,
    pub changes: Vec<SignalChange>,
    pub frames: Vec<Arrival>,
    pub accepts: Vec<Accept>,
}

pub(super) struct Recorder {
    /// `None` once finished.
    reports: Mutex<Option<SyncSender<Did>>>,
    writer: Mutex<Option<JoinHandle<Result<(), SimError>>>>,
    pub frames: bool,
    pub accepts: bool,
}

#[derive(serde::Serialize)]
struct Line {
    card: usize,
    at_ns: u64,
    cookie: u32,
    stage: u8,
    position: u16,
    sender: u8,
}

impl Recorder {
    /// Creates the files. `signals` is indexed by card.
    pub fn start(files: &Files, signals: Vec<Vec<SignalDef>>) -> Result<Self, SimError> {
        let create = |path: &Path| {
            let failed = |source| SimError::File { path: path.into(), action: "write", source };
            File::create(path).map(BufWriter::new).map_err(failed)
        };
        let [vcd, pcap, trace] =
            [&files.vcd, &files.pcap, &files.trace].map(|path| path.as_deref().map(create).transpose());
        let (vcd, pcap, trace) = (vcd?, pcap?, trace?);
        let (sender, receiver) = sync_channel(WAITING_MAX);
        let paths = files.clone();
        let write = move || {
            let mut out = Out::begin(&paths, signals, vcd, pcap, trace)?;
            let outcome = out.follow(&receiver).inspect_err(|error| tracing::error!(%error, "recording stopped"));
            // After an error, cards must not block on the queue.
            receiver.iter().for_each(drop);
            outcome.and_then(|()| out.finish())
        };
        let failed = |source| SimError::File { path: PathBuf::new(), action: "start a thread for", source };
        let writer = thread::Builder::new().name("recorder".into()).spawn(write).map_err(failed)?;
        Ok(Self {
            reports: Mutex::new(Some(sender)),
            writer: Mutex::new(Some(writer)),
            frames: files.pcap.is_some(),
            accepts: files.trace.is_some(),
        })
    }

    pub fn take(&self, did: Did) {
        if let Some(reports) = &*self.reports.lock().unwrap_or_else(PoisonError::into_inner) {
            // The writer only ends after an error, which `finish` returns.
            let _ = reports.send(did);
        }
    }

    pub fn finish(&self) -> Result<(), SimError> {
        drop(self.reports.lock().unwrap_or_else(PoisonError::into_inner).take());
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        writer.map_or(Ok(()), |writer| writer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    }
}

type Sink = BufWriter<File>;

struct Out<'a> {
    paths: &'a Files,
    vcd: Option<VcdTrace<Sink>>,
    pcap: Option<Capture<Sink>>,
    trace: Option<Sink>,
    until_ns: Vec<u64>,
    changes: Vec<Vec<SignalChange>>,
    /// Unix time at card time zero.
    origin_ns: u64,
}

fn failed(path: Option<&PathBuf>) -> impl FnOnce(io::Error) -> SimError {
    let path = path.cloned().unwrap_or_default();
    move |source| SimError::File { path, action: "write", source }
}

impl<'a> Out<'a> {
    fn begin(
        paths: &'a Files,
        signals: Vec<Vec<SignalDef>>,
        vcd: Option<Sink>,
        pcap: Option<Sink>,
        trace: Option<Sink>,
    ) -> Result<Self, SimError> {
        let vcd = vcd.map(|file| VcdTrace::new(file, &signals)).transpose().map_err(failed(paths.vcd.as_ref()))?;
        let pcap = pcap.map(Capture::new).transpose().map_err(failed(paths.pcap.as_ref()))?;
        let cards = signals.len();
        let origin_ns = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64);
        Ok(Self { paths, vcd, pcap, trace, until_ns: vec![0; cards], changes: vec![Vec::new(); cards], origin_ns })
    }

    fn follow(&mut self, reports: &Receiver<Did>) -> Result<(), SimError> {
        for did in reports {
            let Did { card, until_ns, changes, mut frames, accepts } = did;
            self.until_ns[card] = until_ns;
            self.changes[card].extend(changes);
            if let Some(pcap) = &mut self.pcap {
                frames.iter_mut().for_each(|frame| frame.at_ns += self.origin_ns);
                pcap.take(&frames);
            }
            if let Some(trace) = &mut self.trace {
                for Accept { at_ns, cookie, stage, position, sender } in accepts {
                    let line = Line { card, at_ns, cookie, stage, position, sender };
                    let text = serde_json::to_string(&line).unwrap_or_default();
                    writeln!(trace, "{text}").map_err(failed(self.paths.trace.as_ref()))?;
                }
                // The file can be read while cards run.
                trace.flush().map_err(failed(self.paths.trace.as_ref()))?;
            }
            let all_ns = self.until_ns.iter().min().copied().unwrap_or(0);
            self.write_until(all_ns)?;
        }
        Ok(())
    }

    fn write_until(&mut self, until_ns: u64) -> Result<(), SimError> {
        if let Some(vcd) = &mut self.vcd {
            let ready = |changes: &mut Vec<SignalChange>| {
                let at = changes.partition_point(|change| change.at_ns < until_ns);
                changes.drain(..at).collect()
            };
            let ready = self.changes.iter_mut().map(ready).collect();
            vcd.write(ready).map_err(failed(self.paths.vcd.as_ref()))?;
        }
        if let Some(pcap) = &mut self.pcap {
            let until_ns = until_ns.saturating_add(self.origin_ns);
            pcap.write_until(until_ns).map_err(failed(self.paths.pcap.as_ref()))?;
        }
        Ok(())
    }

    fn finish(mut self) -> Result<(), SimError> {
        self.write_until(u64::MAX)?;
        if let Some(pcap) = self.pcap {
            pcap.finish().map_err(failed(self.paths.pcap.as_ref()))?;
        }
        Ok(())
    }
}
