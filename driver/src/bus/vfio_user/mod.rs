//! Bus to a card that another process serves on a vfio-user socket. Needs no board, kernel module
//! or root.
//!
//! A register access is a message with a reply, so a write has arrived when it returns. Writes to a
//! stopped server are posted instead. DMA memory is a memory file that the server maps. All MSI-X
//! vectors signal one eventfd.
//!
//! A connection that fails, times out or violates the protocol is abandoned. Registers then read as
//! ones, as of a removed card.
//!
//! Limits: small pages only; one driver at a time.

mod connection;

use std::cell::{Cell, RefCell};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::time::Duration;

use optireduce_contract::limits::QUEUES;
use optireduce_contract::registers::{BAR_BYTES, MAGIC, PEER_BYTES, PEER_TABLE, Register};

use self::connection::{Command, Connection, u16_at, u32_at, u64_at};
use super::Bus;
use super::bell::{Bell, DOZE};
use super::memory::{Pages, others_memory, shared_memory};
use crate::dma::{DMA_ALIGN, DmaMap};
use crate::error::DriverError;
use crate::pci::{BUS_MASTER, COMMAND, MEMORY_SPACE, PciId};

/// IOVA of the DMA memory, far from process addresses so that a mix-up shows.
const IOVA_BASE: u64 = 0x1_0000_0000;
/// Alignment of caller-owned memory, with gaps that let an access beyond its end fault.
const OTHERS_ALIGN: u64 = 1 << 30;

// From VFIO, `linux/vfio.h`.
const BAR0: u32 = 0;
const CONFIG: u32 = 7;
const MSIX: u32 = 2;
const DEVICE_RESET: u32 = 1 << 0;
const DEVICE_PCI: u32 = 1 << 1;
const IRQ_DATA_EVENTFD: u32 = 1 << 2;
const IRQ_ACTION_TRIGGER: u32 = 1 << 5;
const DMA_READ_WRITE: u32 = 3;

const BUSY: &str = "End the job or program that has the card, or wait until it ends. If nothing has it, the process that serves the card hangs: restart \
                    it.";
const HANGS: &str = "The process that serves the card hangs or lacks CPU time: restart it.";
const FILES: &str = "The process may have too many files open: `ulimit -n`.";
const NOT_OURS: &str = "Something else is served there: check the path.";

/// Bus to a card behind a socket.
pub struct VfioUserBus {
    name: String,
    connection: RefCell<Connection>,
    dma: DmaMap,
    /// IOVA and length of caller-owned memory.
    mapped: RefCell<Vec<(u64, usize)>>,
    next_iova: Cell<u64>,
    interrupts: Bell,
    id: PciId,
    gone: Cell<bool>,
}

impl VfioUserBus {
    /// Connects to and resets the card served at `path`, and maps `dma_bytes` bytes of memory for
    /// it (rounded up to pages).
    ///
    /// # Errors
    /// [`DriverError::Bus`] if nothing is served there, the card has another driver, or the device
    /// is not a card; [`DriverError::Map`].
    pub fn open(path: &Path, dma_bytes: usize) -> Result<Self, DriverError> {
        let name = format!("vfio-user:{}", path.display());
        let connection = Connection::open(path).map_err(|error| {
            let (why, remedy) = not_reached(path, &error);
            DriverError::Bus { device: name.clone(), problem: format!("cannot connect: {why}"), remedy: remedy.into() }
        })?;
        let mut opening = Opening { connection, name: &name };
        opening.negotiate()?;
        opening.check_device()?;
        let id = opening.identify()?;
        opening.reset()?;
        let (dma, interrupts) = (opening.share(dma_bytes)?, opening.interrupts()?);
        let connection = RefCell::new(opening.connection);
        tracing::info!(device = name, ?id, "connected to a served card");
        let next_iova = Cell::new((dma.iova() + dma.bytes() as u64).next_multiple_of(OTHERS_ALIGN));
        let (mapped, gone) = (RefCell::default(), Cell::new(false));
        Ok(Self { connection, dma, mapped, next_iova, interrupts, id, gone, name })
    }

    /// Vendor, device and class.
    pub fn id(&self) -> PciId {
        self.id
    }

    /// Resets the card. Memory space, bus mastering and interrupts are on afterwards.
    ///
    /// # Errors
    /// [`DriverError::DeviceGone`].
    pub fn reset(&self) -> Result<(), DriverError> {
        let reset = |connection: &mut Connection| {
            connection.call(Command::Reset, &[], None, 0)?;
            enable(connection)?;
            ring(connection, &self.interrupts)
        };
        self.with(reset).ok_or_else(|| self.departed())
    }

    /// File descriptor that is readable from an interrupt until [`VfioUserBus::hear`].
    pub fn interrupts(&self) -> BorrowedFd<'_> {
        self.interrupts.as_fd()
    }

    /// Consumes all interrupts; returns whether any arrived.
    pub fn hear(&self) -> bool {
        self.interrupts.hear()
    }

    /// Duplicates the connection, which becomes readable when the card goes away.
    ///
    /// # Errors
    /// If no file descriptor is available.
    pub fn connection(&self) -> io::Result<OwnedFd> {
        self.connection.borrow().as_fd().try_clone_to_owned()
    }

    /// Returns whether the card's process answers in this time. Otherwise accesses may take 5 s.
    pub fn answers(&self, within: Duration) -> bool {
        let body = access(BAR0, MAGIC.offset as u64, 4);
        self.with(|connection| connection.answers(Command::RegionRead, &body, ACCESS_BYTES + 4, within)) == Some(true)
    }

    /// Abandons the connection, so that no call waits for the card.
    pub fn abandon(&self) {
        self.give_up(&io::Error::new(io::ErrorKind::TimedOut, "its process does not answer"));
    }

    /// Runs `act` unless the connection is abandoned; abandons it if `act` fails.
    fn with<T>(&self, act: impl FnOnce(&mut Connection) -> io::Result<T>) -> Option<T> {
        if self.gone.get() {
            return None;
        }
        let done = act(&mut self.connection.borrow_mut());
        done.inspect_err(|error| self.give_up(error)).ok()
    }

    fn give_up(&self, error: &io::Error) {
        tracing::error!(device = self.name, %error, "the card is gone: its connection is abandoned");
        self.gone.set(true);
    }

    fn departed(&self) -> DriverError {
        DriverError::DeviceGone { device: self.name.clone() }
    }

    fn write_word(&self, offset: usize, value: u32) {
        self.with(|connection| write(connection, BAR0, offset as u64, &value.to_le_bytes()));
    }
}

impl Bus for VfioUserBus {
    fn name(&self) -> &str {
        &self.name
    }

    fn dma(&self) -> &DmaMap {
        &self.dma
    }

    /// Never reuses an IOVA, so that a late access of the card faults.
    fn map(&self, file: BorrowedFd<'_>, bytes: usize) -> Result<Option<u64>, DriverError> {
        let device = || self.name.clone();
        let mapping = others_memory(file, bytes);
        let map = |source| DriverError::Map { device: device(), what: "caller-owned memory", bytes, source };
        drop(mapping.map_err(map)?);
        let iova = self.next_iova.get();
        let call = |connection: &mut Connection| connection.call(Command::DmaMap, &dma_map(iova, bytes), Some(file), 0);
        self.with(call).ok_or_else(|| self.departed())?;
        self.next_iova.set((iova + bytes as u64 + 1).next_multiple_of(OTHERS_ALIGN));
        self.mapped.borrow_mut().push((iova, bytes));
        Ok(Some(iova))
    }

    fn unmap(&self, iova: u64) -> Result<(), DriverError> {
        let mut mapped = self.mapped.borrow_mut();
        let Some(index) = mapped.iter().position(|(at, _)| *at == iova) else { return Ok(()) };
        let (_, bytes) = mapped.swap_remove(index);
        let mut body = words(&[24, 0]);
        [iova, bytes as u64].iter().for_each(|word| body.extend(word.to_ne_bytes()));
        let call = |connection: &mut Connection| connection.call(Command::DmaUnmap, &body, None, 0);
        self.with(call).map(drop).ok_or_else(|| self.departed())
    }

    /// Succeeds even if the card is gone; the next read shows it.
    fn flush(&self) -> Result<(), DriverError> {
        self.with(Connection::finish);
        Ok(())
    }

    fn relax(&self) {
        self.wait_interrupt(DOZE);
    }

    fn has_interrupts(&self) -> bool {
        true
    }

    /// Also ends when the card goes away.
    fn wait_interrupt(&self, timeout: Duration) -> Option<bool> {
        let connection = self.connection.borrow();
        Some(!self.gone.get() && self.interrupts.wait(timeout, Some(connection.as_fd())))
    }

    fn interrupt_fd(&self) -> Option<BorrowedFd<'_>> {
        Some(self.interrupts())
    }

    fn read(&self, register: &Register) -> u32 {
        let read = |connection: &mut Connection| read::<4>(connection, BAR0, register.offset as u64);
        self.with(read).map_or(u32::MAX, u32::from_le_bytes)
    }

    fn write(&self, register: &Register, value: u32) {
        self.write_word(register.offset, value);
    }

    fn write_peer(&self, rank: usize, words: [u32; PEER_BYTES / 4]) {
        for (word, value) in words.into_iter().enumerate() {
            self.write_word(PEER_TABLE + rank * PEER_BYTES + word * 4, value);
        }
    }

    fn is_gone(&self) -> bool {
        if !self.gone.get() && self.connection.borrow_mut().is_closed() {
            self.give_up(&io::Error::other("the process that serves it has closed the connection"));
        }
        self.gone.get()
    }
}

/// Command that serves a simulated card at `socket`, in a clone of the project.
pub fn serve_command(socket: &Path) -> String {
    let socket = socket.display();
    format!("cargo run --release -p optireduce-sim --features serve -- serve --socket {socket} --network udp:127.0.0.2")
}

/// Cause and remedy of a failed connection. A dead server's socket and a file of any other kind
/// have the same error number.
fn not_reached(path: &Path, error: &io::Error) -> (String, String) {
    let start = || format!("a simulated one, in a clone of the project: `{}`.", serve_command(path));
    let found = std::fs::metadata(path).map(|file| file.file_type());
    match (found, error.kind()) {
        (Ok(found), _) if !found.is_socket() => {
            let kind = if found.is_dir() { "a folder" } else { "a file that is no socket" };
            let remedy = "Check the path: a served card is named by its socket, a card on the PCI bus by its address, such as 0000:5e:00.0.";
            (format!("found {kind}, expected the socket of a card"), remedy.to_owned())
        }
        (Ok(_), io::ErrorKind::ConnectionRefused) => {
            let why = "nobody listens at this socket: the process that served the card has ended";
            (why.to_owned(), format!("Start the card again; {}", start()))
        }
        (_, io::ErrorKind::NotFound) => (error.to_string(), format!("Check the path, or start the card; {}", start())),
        (_, io::ErrorKind::PermissionDenied) => {
            let remedy = "Connecting requires write permission for the socket and search permission for the folders above it: `namei -l` shows both. Run as the user \
                          who serves the card, or have that user grant them (chmod).";
            (error.to_string(), remedy.to_owned())
        }
        _ => {
            (error.to_string(), "Check the path: expected a stream socket and a path of at most 107 bytes.".to_owned())
        }
    }
}

struct Opening<'a> {
    connection: Connection,
    name: &'a str,
}

impl Opening<'_> {
    fn failed(&self, problem: String, remedy: &'static str) -> DriverError {
        DriverError::Bus { device: self.name.into(), problem, remedy: remedy.into() }
    }

    /// Calls the server; `doing` names the purpose in errors.
    fn call(
        &mut self,
        doing: &str,
        command: Command,
        body: &[u8],
        file: Option<BorrowedFd<'_>>,
        expected: usize,
    ) -> Result<Vec<u8>, DriverError> {
        self.connection.call(command, body, file, expected).map_err(|error| {
            // Only a server that has accepted this client answers at all.
            let (why, remedy) = match (error.kind(), command) {
                (io::ErrorKind::TimedOut, Command::Version) => {
                    ("; another process probably has the card: it takes one driver at a time", BUSY)
                }
                (io::ErrorKind::TimedOut, _) => ("", HANGS),
                _ => ("", NOT_OURS),
            };
            self.failed(format!("{doing}: {error}{why}"), remedy)
        })
    }

    fn negotiate(&mut self) -> Result<(), DriverError> {
        let capabilities = br#"{"capabilities":{"max_msg_fds":1,"max_data_xfer_size":1048576}}"#;
        let version = [&0u16.to_ne_bytes()[..], &1u16.to_ne_bytes(), capabilities, &[0]].concat();
        let answer = self.call("agreeing on a version", Command::Version, &version, None, 4)?;
        let [major, minor] = [0, 2].map(|at| u16_at(&answer, at));
        if major != 0 {
            let problem = format!("the server speaks vfio-user {major}.{minor}, expected 0.x");
            return Err(self.failed(problem, NOT_OURS));
        }
        Ok(())
    }

    /// Checks for a PCI device with a reset, our BAR 0 and an MSI-X vector per queue pair.
    fn check_device(&mut self) -> Result<(), DriverError> {
        let doing = "asking what is served";
        let info = self.call(doing, Command::GetInfo, &words(&[16, 0, 0, 0]), None, 16)?;
        let [flags, regions, irqs] = [4, 8, 12].map(|at| u32_at(&info, at));
        let wanted = DEVICE_PCI | DEVICE_RESET;
        if flags & wanted != wanted || regions <= CONFIG || irqs <= MSIX {
            let problem = format!(
                "found a device with flags {flags:#x}, {regions} regions and {irqs} kinds of interrupts, expected a PCI device that \
                 can be reset (flags {wanted:#x}), at least {} regions and {} kinds of interrupts",
                CONFIG + 1,
                MSIX + 1
            );
            return Err(self.failed(problem, NOT_OURS));
        }
        let region = words(&[32, 0, BAR0, 0, 0, 0, 0, 0]);
        let bytes = u64_at(&self.call(doing, Command::GetRegionInfo, &region, None, 32)?, 16);
        if bytes < BAR_BYTES as u64 {
            let problem = format!("BAR 0 has {bytes} bytes, expected at least {BAR_BYTES}");
            return Err(self.failed(problem, NOT_OURS));
        }
        let vectors = u32_at(&self.call(doing, Command::GetIrqInfo, &words(&[16, 0, MSIX, 0]), None, 16)?, 12);
        if (vectors as usize) < QUEUES {
            let problem = format!("{vectors} MSI-X vectors, expected one for each of {QUEUES} queue pairs");
            return Err(self.failed(problem, NOT_OURS));
        }
        Ok(())
    }

    fn identify(&mut self) -> Result<PciId, DriverError> {
        let ids = read::<4>(&mut self.connection, CONFIG, 0);
        let class = read::<4>(&mut self.connection, CONFIG, 8);
        let both = ids.and_then(|ids| class.map(|class| (u32::from_le_bytes(ids), u32::from_le_bytes(class))));
        let (ids, class) =
            both.map_err(|error| self.failed(format!("reading configuration space: {error}"), NOT_OURS))?;
        Ok(PciId { vendor: ids as u16, device: (ids >> 16) as u16, class: class >> 8 })
    }

    fn reset(&mut self) -> Result<(), DriverError> {
        self.call("resetting the card", Command::Reset, &[], None, 0)?;
        enable(&mut self.connection).map_err(|error| self.failed(format!("enabling bus mastering: {error}"), NOT_OURS))
    }

    fn share(&mut self, dma_bytes: usize) -> Result<DmaMap, DriverError> {
        let bytes = dma_bytes.checked_next_multiple_of(DMA_ALIGN).unwrap_or(dma_bytes);
        let make = || -> io::Result<(OwnedFd, DmaMap)> {
            let (file, mapping) = shared_memory(bytes, Pages::Small)?;
            Ok((file, DmaMap::from_mapping(mapping, IOVA_BASE)?))
        };
        let device = self.name.to_owned();
        let (file, dma) = make().map_err(|source| DriverError::Map { device, what: "DMA memory", bytes, source })?;
        self.call("giving the card its memory", Command::DmaMap, &dma_map(IOVA_BASE, bytes), Some(file.as_fd()), 0)?;
        Ok(dma)
    }

    fn interrupts(&mut self) -> Result<Bell, DriverError> {
        let event = Bell::new().map_err(|error| self.failed(format!("an eventfd for interrupts: {error}"), FILES))?;
        ring(&mut self.connection, &event)
            .map_err(|error| self.failed(format!("setting up interrupts: {error}"), NOT_OURS))?;
        Ok(event)
    }
}

fn enable(connection: &mut Connection) -> io::Result<()> {
    let command = u16::from_le_bytes(read::<2>(connection, CONFIG, COMMAND)?) | MEMORY_SPACE | BUS_MASTER;
    write(connection, CONFIG, COMMAND, &command.to_le_bytes())
}

fn ring(connection: &mut Connection, event: &Bell) -> io::Result<()> {
    (0..QUEUES as u32).try_for_each(|vector| {
        let body = words(&[20, IRQ_DATA_EVENTFD | IRQ_ACTION_TRIGGER, MSIX, vector, 1]);
        connection.call(Command::SetIrqs, &body, Some(event.as_fd()), 0).map(drop)
    })
}

fn read<const N: usize>(connection: &mut Connection, region: u32, offset: u64) -> io::Result<[u8; N]> {
    let answer = connection.call(Command::RegionRead, &access(region, offset, N), None, ACCESS_BYTES + N)?;
    let bytes = answer.get(ACCESS_BYTES..).and_then(<[u8]>::first_chunk);
    bytes.copied().ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
}

fn write(connection: &mut Connection, region: u32, offset: u64, bytes: &[u8]) -> io::Result<()> {
    let body = [&access(region, offset, bytes.len()), bytes].concat();
    connection.post(Command::RegionWrite, &body, ACCESS_BYTES)
}

fn dma_map(iova: u64, bytes: usize) -> Vec<u8> {
    let mut body = words(&[32, DMA_READ_WRITE]);
    [0, iova, bytes as u64].iter().for_each(|word| body.extend(word.to_ne_bytes()));
    body
}

const ACCESS_BYTES: usize = 16;

fn access(region: u32, offset: u64, bytes: usize) -> Vec<u8> {
    [&offset.to_ne_bytes()[..], &words(&[region, bytes as u32])].concat()
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::{UnixDatagram, UnixListener};

    #[test]
    fn each_way_not_to_reach_a_card_is_told_with_what_mends_it() {
        let folder = std::env::temp_dir().join(format!("optireduce-reach-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let at = |name: &str| folder.join(name);
        std::fs::write(at("file"), "").unwrap();
        drop(UnixListener::bind(at("dead")).unwrap());
        let _datagrams = UnixDatagram::bind(at("datagrams")).unwrap();
        let said = |path: &Path| VfioUserBus::open(path, 4096).err().unwrap().to_string();
        for (path, parts) in [
            (at("missing"), ["cannot connect: No such file", "Check the path, or start the card; "]),
            (at("file"), ["found a file that is no socket, expected the socket", "such as 0000:5e:00.0"]),
            (folder.clone(), ["found a folder, expected the socket of a card", "Check the path"]),
            ("/dev/null".into(), ["found a file that is no socket", "Check the path"]),
            (at("dead"), ["nobody listens at this socket: the process", "Start the card again; "]),
            (at("datagrams"), ["cannot connect: Protocol wrong type for socket", "a stream socket"]),
            (at(&"x".repeat(200)), ["cannot connect: path must be shorter", "at most 107 bytes"]),
        ] {
            let said = said(&path);
            let name = format!("vfio-user:{}: cannot connect: ", path.display());
            assert!(said.starts_with(&name) && parts.iter().all(|part| said.contains(part)), "{said}");
            let starts = ["missing", "dead"].map(&at).contains(&path);
            assert_eq!(said.contains(&serve_command(&path)), starts, "{said}");
        }
        // Root passes all permission checks, so this error is made here.
        let (why, remedy) = not_reached(&at("dead"), &io::ErrorKind::PermissionDenied.into());
        assert!(why == "permission denied" && remedy.contains("write permission for the socket"), "{why}, {remedy}");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
