//! `optireduce-sim serve`: a simulated card as a PCIe device on a vfio-user socket.
//!
//! A user-space driver or a virtual machine drives the card without a board, and the card takes
//! part in jobs.
//!
//! ```text
//!  client: driver, QEMU      socket      server.rs    vfio-user messages
//!                                        device.rs    configuration space, BAR 0, MSI-X, function-level reset
//!  its memory                mapped      windows.rs   memory accesses of the card
//!                                        running.rs   the card, in wall-clock time
//!  other cards and ranks     network     network/     UDP, a hub, TUN, TAP: frames in, frames out
//!  files                                 recorder.rs  waveforms, frames, accepted beats
//! ```
//!
//! A card has one client at a time. When the client disconnects or crashes, the card is reset and
//! its mappings are removed.
//!
//! Limits: DMA messages are not supported, so the card only reaches memory mapped from a file. A
//! client that violates the protocol loses its connection.

mod config_space;
mod device;
mod network;
mod recorder;
mod running;
mod server;
mod windows;

use std::fs;
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use optireduce_contract::limits::{BEAT_BYTES, CYCLE_NS};
use optireduce_contract::registers as reg;
use optireduce_driver::CardEnd;
use optireduce_hw::card::build::Build;

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

const PAUSE: Duration = Duration::from_millis(20);
const MEASURE: Duration = Duration::from_millis(50);
/// One card per rank of the largest job.
pub const CARDS_MAX: usize = 64;

/// Parameters of served cards.
#[derive(Clone, Debug)]
#[allow(missing_docs)] // described above
pub struct Settings {
    /// Several cards have the suffixes `.0`, `.1`, ...
    pub socket: PathBuf,
    /// 1 to [`CARDS_MAX`].
    pub cards: usize,
    pub engine: Engine,
    pub network: NetworkArg,
    pub loss: Loss,
    pub files: Files,
}

/// Served cards. Threads run until the process ends; dropping removes the sockets.
pub struct Served {
    cards: Vec<Socket>,
    recorder: Option<Arc<Recorder>>,
}

struct Socket {
    path: SocketPath,
    card: Arc<Running>,
    kind: String,
}

struct SocketPath(PathBuf);

impl Drop for SocketPath {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

impl Served {
    /// Serves cards. A path must be unused or an abandoned socket.
    ///
    /// # Errors
    /// If a socket, the network, a file or the engine is unavailable.
    pub fn start(settings: &Settings) -> Result<Self, SimError> {
        let Settings { socket, cards, engine, network, loss, files } = settings;
        let ports = Port::open_all(network, *cards, *loss)
            .map_err(|error| SimError::Argument(format!("--network: cannot be used on this host: {error}")))?;
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

    /// Returns one line per card with socket and network address.
    pub fn describe(&self) -> String {
        let line = |Socket { path, card, kind }: &Socket| {
            format!("{kind} at {}; network address {}; wall-clock time\n", path.0.display(), card.address())
        };
        self.cards.iter().map(line).collect()
    }

    /// Removes the cards from the bus permanently: registers read as ones.
    pub fn leave(&self) {
        self.cards.iter().for_each(|socket| socket.card.leave());
    }

    /// Resets the cards as a function-level reset by another party does.
    pub fn reset(&self) {
        self.cards.iter().for_each(|socket| socket.card.reset_alone());
    }

    /// Hangs the cards until a reset: only registers respond.
    pub fn hang(&self) {
        self.cards.iter().for_each(|socket| socket.card.hang());
    }

    /// Returns packet counts since the cards were last enabled, as text.
    pub fn counted(&self) -> String {
        let line = |Socket { card, .. }: &Socket| {
            let [received, sent] = [reg::RX_PACKETS, reg::TX_PACKETS].map(|register| card.counter(&register));
            let (cycles, busy) = card.cycles();
            let speed = if cycles > 0 { format!("; {}", at_speed(cycles, busy)) } else { String::new() };
            format!(
                "{}: {received} packets received, {sent} sent since the card was last enabled{speed}\n",
                card.address()
            )
        };
        self.cards.iter().map(line).collect()
    }

    /// Completes the recorded files.
    ///
    /// # Errors
    /// If a file could not be written.
    pub fn finish(&self) -> Result<(), SimError> {
        self.recorder.as_ref().map_or(Ok(()), |recorder| recorder.finish())
    }
}

fn numbered(socket: &Path, number: usize) -> PathBuf {
    let mut path = socket.as_os_str().to_owned();
    path.push(format!(".{number}"));
    path.into()
}

/// Returns a card at power-on, and its description.
fn power_up(engine: Engine, end: CardEnd) -> Result<(Box<dyn Card>, String), SimError> {
    if engine == Engine::Functional {
        let kind = "functional card of 1 MiB windows".to_owned();
        return Ok((Box::new(FunctionalCard::with_build(end, Build::BOARD)), kind));
    }
    if !engine.is_slow() {
        return Err(SimError::Argument(format!(
            "--engine {engine}: not a card, expected functional, rtl or verilator"
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

fn start_threads(path: &Path, listener: UnixListener, card: &Arc<Running>) -> Result<(), SimError> {
    let spawn = |name: &str, work: Box<dyn FnOnce() + Send>| {
        let failed = |source| SimError::File { path: path.into(), action: "serve a card at", source };
        thread::Builder::new().name(name.into()).spawn(work).map(drop).map_err(failed)
    };
    let (running, receiving, serving) = (card.clone(), card.clone(), card.clone());
    spawn("card", Box::new(move || running.run()))?;
    let receive = move || {
        if let Err(error) = receiving.receive() {
            tracing::error!(%error, "the card's network failed");
        }
    };
    spawn("network", Box::new(receive))?;
    spawn("clients", Box::new(move || serve_clients(&listener, &serving)))
}

fn serve_clients(listener: &UnixListener, card: &Arc<Running>) {
    loop {
        let mut device = Device::new(card.clone());
        match listener.accept().and_then(|(client, _)| server::serve(client, &mut device)) {
            Ok(()) => tracing::info!("the client disconnected"),
            Err(error) => {
                tracing::warn!(%error, "the connection to the client has failed; closing it");
                // Prevents a busy loop without free file descriptors.
                thread::sleep(PAUSE);
            }
        }
    }
}

/// Replaces an abandoned socket.
fn listen(path: &Path) -> Result<UnixListener, SimError> {
    let failed = |source| SimError::File { path: path.into(), action: "serve a card at", source };
    let is_stale = fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket())
        && UnixStream::connect(path).is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused);
    if is_stale {
        fs::remove_file(path).map_err(failed)?;
    }
    UnixListener::bind(path).map_err(failed)
}
