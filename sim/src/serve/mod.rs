//! `optireduce-sim serve`: a simulated card as a PCIe device on a vfio-user socket.
//!
//! Why: whoever drives a PCIe device, a driver in user space or a virtual machine, then drives this one, without a board; and the card
//! takes part in jobs with ranks of this host.
//!
//! ```text
//!  client: driver, QEMU      socket      device.rs    configuration space, BAR 0, MSI-X, function-level reset
//!  its memory                mapped      windows.rs   what the card reaches of it
//!                                        running.rs   the card, in wall-clock time
//!  other cards and ranks     network     network/     UDP, a hub, TUN, TAP: frames in, frames out
//!  files                                 recorder.rs  waveforms, frames, accepted beats
//! ```
//!
//! One client of a card at a time. When it goes, in whatever way, the card is reset and lets go of its memory, and the next can have it.
//! Limits: the library behind it has no messages for DMA, so the card reaches memory only that comes with a file; a client that breaks
//! the protocol badly enough loses its connection.

mod config_space;
mod device;
mod network;
mod recorder;
mod running;
mod windows;

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use optireduce_contract::limits::{BEAT_BYTES, CYCLE_NS};
use optireduce_contract::registers as reg;
use optireduce_driver::CardEnd;
use optireduce_hw::card::build::Build;
use vfio_user::Server;

pub use self::network::{Loss, NetworkArg};
pub use self::recorder::Files;

use self::device::Device;
use self::network::Port;
use self::recorder::Recorder;
use self::running::{Parts, Running};
use self::windows::Windows;
use crate::card::Card;
use crate::card::engine::Engine;
use crate::card::functional::FunctionalCard;
use crate::error::SimError;

/// After a connection that failed.
const PAUSE: Duration = Duration::from_millis(20);
/// How long it is measured how fast cycles are simulated.
const MEASURE: Duration = Duration::from_millis(50);
/// Most cards of a process: as many as a job has ranks.
pub const CARDS_MAX: usize = 64;

/// What is to be served.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where: the socket of one card; of several, each with a dot and its number after it.
    pub socket: PathBuf,
    /// How many, 1 to [`CARDS_MAX`].
    pub cards: usize,
    /// How they are simulated.
    pub engine: Engine,
    /// What they are connected to.
    pub network: NetworkArg,
    /// What the network loses.
    pub loss: Loss,
    /// What is written down.
    pub files: Files,
}

/// Cards that are served. Their threads go on until the process ends; dropping this takes their sockets away.
pub struct Served {
    cards: Vec<Socket>,
    recorder: Option<Arc<Recorder>>,
}

/// A card and where it is.
struct Socket {
    path: SocketPath,
    card: Arc<Running>,
    /// What it is, for a person.
    kind: String,
}

/// The socket's file, which goes when this is dropped.
struct SocketPath(PathBuf);

impl Drop for SocketPath {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

impl Served {
    /// Powers up cards and serves them, at paths where nothing may be but the socket of a process that has ended.
    ///
    /// # Errors
    /// If a socket, the network, a file or the engine cannot be had.
    pub fn start(settings: &Settings) -> Result<Self, SimError> {
        let Settings { socket, cards, engine, network, loss, files } = settings;
        let ports = Port::open_all(network, *cards, *loss)
            .map_err(|error| SimError::Argument(format!("--network: it cannot be used on this host: {error}")))?;
        let epoch = Instant::now();
        let mut built = Vec::new();
        for number in 0..*cards {
            let path = if *cards == 1 { socket.clone() } else { numbered(socket, number) };
            let listener = listen(&path)?;
            let path = SocketPath(path);
            let windows = Arc::new(Windows::default());
            let failed = |source| SimError::File { path: path.0.clone(), action: "serve a card at", source };
            let end = CardEnd::new(windows.clone()).map_err(failed)?;
            let (card, kind) = power_up(*engine, end.clone())?;
            built.push((path, listener, windows, end, card, kind));
        }
        let signals: Vec<_> = built.iter().map(|(.., card, _)| card.signals()).collect();
        let is_recorded = [&files.vcd, &files.pcap, &files.trace].into_iter().any(Option::is_some);
        let recorder = is_recorded.then(|| Recorder::start(files, signals).map(Arc::new)).transpose()?;
        let mut served = Self { cards: Vec::new(), recorder };
        for (number, (port, (path, listener, windows, end, mut card, kind))) in ports.into_iter().zip(built).enumerate()
        {
            if files.vcd.is_some() {
                card.record_signals();
            }
            let recorder = served.recorder.clone().map(|recorder| (recorder, number));
            let by_cycles = engine.is_slow();
            let card = Arc::new(Running::new(Parts { card, end, windows, port, epoch, by_cycles, recorder }));
            start_threads(&path.0, listener, &card)?;
            served.cards.push(Socket { path, card, kind });
        }
        Ok(served)
    }

    /// What they are and where, for a person: a line each.
    pub fn describe(&self) -> String {
        let line = |Socket { path, card, kind }: &Socket| {
            format!(
                "{kind} at {}; on the network it is {}; its time is the wall clock's\n",
                path.0.display(),
                card.address()
            )
        };
        self.cards.iter().map(line).collect()
    }

    /// The cards leave the bus, for good, as ones that are pulled out of their slots: whoever reads them reads ones.
    pub fn leave(&self) {
        self.cards.iter().for_each(|socket| socket.card.leave());
    }

    /// The cards are reset, as by a function-level reset of somebody else's.
    pub fn reset(&self) {
        self.cards.iter().for_each(|socket| socket.card.reset_alone());
    }

    /// The cards hang until they are reset: their registers answer, and nothing else does.
    pub fn hang(&self) {
        self.cards.iter().for_each(|socket| socket.card.hang());
    }

    /// What they have counted since they were enabled last, for a person: a line each.
    pub fn counted(&self) -> String {
        let line = |Socket { card, .. }: &Socket| {
            let [received, sent] = [reg::RX_PACKETS, reg::TX_PACKETS].map(|register| card.counter(&register));
            let (cycles, busy) = card.cycles();
            let speed = if cycles > 0 { format!("; {}", at_speed(cycles, busy)) } else { String::new() };
            format!(
                "{}: {received} packets received, {sent} sent since the card was enabled last{speed}\n",
                card.address()
            )
        };
        self.cards.iter().map(line).collect()
    }

    /// Writes what is left of what is recorded.
    ///
    /// # Errors
    /// If a file could not be written.
    pub fn finish(&self) -> Result<(), SimError> {
        self.recorder.as_ref().map_or(Ok(()), |recorder| recorder.finish())
    }
}

/// The path of one of several cards.
fn numbered(socket: &Path, number: usize) -> PathBuf {
    let mut path = socket.as_os_str().to_owned();
    path.push(format!(".{number}"));
    path.into()
}

/// A card at power-on, and what it is, for a person.
fn power_up(engine: Engine, end: CardEnd) -> Result<(Box<dyn Card>, String), SimError> {
    if engine == Engine::Functional {
        let kind = "functional card of 1 MiB windows".to_owned();
        return Ok((Box::new(FunctionalCard::with_build(end, Build::BOARD)), kind));
    }
    if !engine.is_slow() {
        return Err(SimError::Argument(format!(
            "--engine {engine}: it is no card; expected functional, rtl or verilator"
        )));
    }
    let mut card = engine.build(end)?;
    let (begin, before) = (Instant::now(), card.cycles());
    while begin.elapsed() < MEASURE {
        card.publish_registers();
    }
    let speed = at_speed(card.cycles() - before, begin.elapsed());
    let window_kib = (BEAT_BYTES << Build::default().window_log2) >> 10;
    Ok((card, format!("{engine} card of {window_kib} KiB windows, {speed}")))
}

fn at_speed(cycles: u64, busy: Duration) -> String {
    let rate = cycles as f64 / busy.as_secs_f64().max(1e-9);
    let times = 1e9 / CYCLE_NS as f64 / rate.max(1e-9);
    format!("{rate:.0} cycles/s (1 in {times:.0} of a board's)")
}

fn start_threads(path: &Path, listener: OwnedFd, card: &Arc<Running>) -> Result<(), SimError> {
    let spawn = |name: &str, work: Box<dyn FnOnce() + Send>| {
        let failed = |source| SimError::File { path: path.into(), action: "serve a card at", source };
        thread::Builder::new().name(name.into()).spawn(work).map(drop).map_err(failed)
    };
    let (running, receiving, serving) = (card.clone(), card.clone(), card.clone());
    spawn("card", Box::new(move || running.run()))?;
    let receive = move || {
        if let Err(error) = receiving.receive() {
            tracing::error!(%error, "nothing comes from the network any more");
        }
    };
    spawn("network", Box::new(receive))?;
    spawn("clients", Box::new(move || serve_clients(listener, &serving)))
}

/// Serves a client at a time, for ever.
fn serve_clients(listener: OwnedFd, card: &Arc<Running>) {
    let server = Server::from_owned_fd(listener, true, Device::interrupts(), Device::regions());
    loop {
        let mut device = Device::new(card.clone());
        // The library panics at some messages that it cannot read. They cost a client its connection, not the card.
        match catch_unwind(AssertUnwindSafe(|| server.run(&mut device))) {
            Ok(Ok(())) => tracing::info!("the client has gone"),
            Ok(Err(error)) => {
                tracing::warn!(%error, "the connection to the client has failed");
                // Not too often, if there are no more file descriptors.
                thread::sleep(PAUSE);
            }
            Err(_) => tracing::warn!("the client sent what is not vfio-user; its connection is closed"),
        }
    }
}

/// A socket at `path`, in place of one that nobody listens at any more.
fn listen(path: &Path) -> Result<OwnedFd, SimError> {
    let failed = |source| SimError::File { path: path.into(), action: "serve a card at", source };
    let is_stale = fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket())
        && UnixStream::connect(path).is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused);
    if is_stale {
        fs::remove_file(path).map_err(failed)?;
    }
    Ok(UnixListener::bind(path).map_err(failed)?.into())
}
