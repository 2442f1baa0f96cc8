//! `optireduce-sim serve`: a simulated card as a PCIe device on a vfio-user socket.
//!
//! Why: whoever drives a PCIe device, a driver in user space or a virtual machine, then drives this one, without a board; and the card
//! takes part in jobs with ranks of this host.
//!
//! ```text
//!  client: driver, QEMU      socket      device.rs    configuration space, BAR 0, MSI-X, function-level reset
//!  its memory                mapped      windows.rs   what the card reaches of it
//!                                        running.rs   the card, in wall-clock time
//!  other ranks               UDP         network.rs   frames in, frames out
//! ```
//!
//! One client at a time. When it goes, in whatever way, the card is reset and lets go of its memory, and the next can have it.
//! Limits: the library behind it has no messages for DMA, so the card reaches memory only that comes with a file; a client that breaks
//! the protocol badly enough loses its connection. Only the functional engine is served so far, and a card is one process.

mod config_space;
mod device;
mod network;
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
use std::time::Duration;

use optireduce_contract::registers as reg;
use optireduce_driver::CardEnd;
use optireduce_hw::card::build::Build;
use vfio_user::Server;

pub use self::network::{Loss, NetworkArg};

use self::device::Device;
use self::network::Port;
use self::running::Running;
use self::windows::Windows;
use crate::card::functional::FunctionalCard;
use crate::error::SimError;

/// After a connection that failed.
const PAUSE: Duration = Duration::from_millis(20);

/// A card that is served. Its threads go on until the process ends; dropping this takes its socket away.
pub struct Served {
    path: PathBuf,
    card: Arc<Running>,
}

impl Served {
    /// Powers up a card, of a board's size, and serves it at `path`, where nothing may be but the socket of a process that has ended. Its network
    /// loses packets.
    ///
    /// # Errors
    /// If the socket or the network's address cannot be had.
    pub fn start(path: &Path, network: NetworkArg, loss: Loss) -> Result<Self, SimError> {
        let port = Port::open(network, loss).map_err(|error| {
            SimError::Argument(format!("--network: the card's address cannot be used on this host: {error}"))
        })?;
        let listener = listen(path)?;
        let windows = Arc::new(Windows::default());
        let failed = |source| SimError::File { path: path.into(), action: "serve a card at", source };
        let end = CardEnd::new(windows.clone()).map_err(failed)?;
        let card = Box::new(FunctionalCard::with_build(end.clone(), Build::BOARD));
        let card = Arc::new(Running::new(card, end, windows, port));
        let spawn = |name: &str, work: Box<dyn FnOnce() + Send>| {
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
        spawn("clients", Box::new(move || serve_clients(listener, &serving)))?;
        Ok(Self { path: path.into(), card })
    }

    /// What it is and where, for a person.
    pub fn describe(&self) -> String {
        format!(
            "functional card of 1 MiB windows at {}; on the network it is {}; its time is the wall clock's\n",
            self.path.display(),
            self.card.address()
        )
    }

    /// The card leaves the bus, for good, as one that is pulled out of its slot: whoever reads it reads ones.
    pub fn leave(&self) {
        self.card.leave();
    }

    /// The card is reset, as by a function-level reset of somebody else's.
    pub fn reset(&self) {
        self.card.reset_alone();
    }

    /// The card hangs until it is reset: its registers answer, and nothing else does.
    pub fn hang(&self) {
        self.card.hang();
    }

    /// What it has counted since it was enabled last, for a person.
    pub fn counted(&self) -> String {
        let [received, sent] = [reg::RX_PACKETS, reg::TX_PACKETS].map(|register| self.card.counter(&register));
        format!("{received} packets received, {sent} sent since the card was enabled last\n")
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
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
