//! A bus to a card that another process serves on a vfio-user socket: the same driver, without a board, a kernel module or root.
//!
//! How: register accesses are messages, each with its answer, so that a write has arrived when it returns, but for one to a
//! server that stands still: that is posted, and the driver goes on. DMA memory is a memory file that the server maps. Interrupts are an
//! eventfd that the card's MSI-X vectors ring, all the same one: it means "look at the ring".
//! A lost interrupt costs time and nothing else ([`Nic::wait_completion`](crate::Nic::wait_completion)).
//! A connection that fails, is late or says what cannot be is given up for good: from then on registers read as ones, which is what a
//! card does that was pulled, and the driver finds [`DriverError::DeviceGone`].
//! Limits: small pages only; one driver at a time, since a server takes one connection.

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

/// What the card calls the first byte of DMA memory. A server has no use for our addresses; one that is far from them shows a mix-up.
const IOVA_BASE: u64 = 0x1_0000_0000;
/// Memory of others begins at multiples of this: with gaps, so that an access beyond its end meets nothing.
const OTHERS_ALIGN: u64 = 1 << 30;

// Of VFIO, `linux/vfio.h`.
const BAR0: u32 = 0;
const CONFIG: u32 = 7;
const MSIX: u32 = 2;
const DEVICE_RESET: u32 = 1 << 0;
const DEVICE_PCI: u32 = 1 << 1;
const IRQ_DATA_EVENTFD: u32 = 1 << 2;
const IRQ_ACTION_TRIGGER: u32 = 1 << 5;
const DMA_READ_WRITE: u32 = 3;

/// A server that has a client leaves others waiting.
const BUSY: &str = "End the job or program that has the card, or wait until it ends. If nothing has it, the process that serves the card hangs: start \
                    that anew.";
const HANGS: &str = "The process that serves the card hangs, or is kept from the processor: start it anew.";
const FILES: &str = "The process may have too many files open: `ulimit -n`.";
const NOT_OURS: &str = "Something else is served there: check the path.";

/// A card behind a socket.
pub struct VfioUserBus {
    name: String,
    connection: RefCell<Connection>,
    dma: DmaMap,
    /// Memory of others that the card reaches, too: IOVA and length. And where the next begins.
    mapped: RefCell<Vec<(u64, usize)>>,
    next_iova: Cell<u64>,
    interrupts: Bell,
    id: PciId,
    /// The connection is not used any more.
    gone: Cell<bool>,
}

impl VfioUserBus {
    /// Connects to the card served at `path`, resets it, and gives it `dma_bytes` bytes of memory (rounded up to pages).
    ///
    /// # Errors
    /// [`DriverError::Bus`]: nothing is served there, somebody else has the card, or it is no PCI device like ours;
    /// [`DriverError::Map`]: no memory.
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

    /// Resets the card by its function-level reset; memory space, bus mastering and interrupts are switched on again.
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

    /// What becomes readable when the card has something to say, until [`VfioUserBus::hear`].
    pub fn interrupts(&self) -> BorrowedFd<'_> {
        self.interrupts.as_fd()
    }

    /// Takes note of all interrupts so far: whether there were any. What they speak of is to be looked at after this.
    pub fn hear(&self) -> bool {
        self.interrupts.hear()
    }

    /// The connection, which becomes readable when the card goes away.
    ///
    /// # Errors
    /// If there are no more file descriptors.
    pub fn connection(&self) -> io::Result<OwnedFd> {
        self.connection.borrow().as_fd().try_clone_to_owned()
    }

    /// Whether the card's process answers within this time, now. If not it may be off the CPU, and accesses that wait for it may take 5 s.
    pub fn answers(&self, within: Duration) -> bool {
        let body = access(BAR0, MAGIC.offset as u64, 4);
        self.with(|connection| connection.answers(Command::RegionRead, &body, ACCESS_BYTES + 4, within)) == Some(true)
    }

    /// Gives the connection up: nothing waits for the card any more, which from now on is gone.
    pub fn abandon(&self) {
        self.give_up(&io::Error::new(io::ErrorKind::TimedOut, "its process does not answer"));
    }

    /// Does something over the connection, unless it was given up; gives it up if that fails.
    fn with<T>(&self, act: impl FnOnce(&mut Connection) -> io::Result<T>) -> Option<T> {
        if self.gone.get() {
            return None;
        }
        let done = act(&mut self.connection.borrow_mut());
        done.inspect_err(|error| self.give_up(error)).ok()
    }

    /// The one line that is logged of a card that has gone: whoever calls is told the rest.
    fn give_up(&self, error: &io::Error) {
        tracing::error!(device = self.name, %error, "the card is gone: its connection is given up");
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

    /// Where memory was mapped once, no other is: a late access of the card's meets nothing.
    fn map(&self, file: BorrowedFd<'_>, bytes: usize) -> Result<Option<u64>, DriverError> {
        let device = || self.name.clone();
        let mapping = others_memory(file, bytes);
        let map = |source| DriverError::Map { device: device(), what: "memory of the caller's", bytes, source };
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

    /// Of a card that is gone the next read tells.
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

    /// Ends as soon as the card goes away, too.
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

/// The command that serves a simulated card at `socket`, as it is to be typed in a clone of the project: the simulator serves none unless it is
/// built with a feature.
pub fn serve_command(socket: &Path) -> String {
    let socket = socket.display();
    format!("cargo run --release -p optireduce-sim --features serve -- serve --socket {socket} --network udp:127.0.0.2")
}

/// Why nobody is reached at `path`, and what to do. The kernel refuses a connection to a file of any kind as it does one to a dead server's socket.
fn not_reached(path: &Path, error: &io::Error) -> (String, String) {
    let start = || format!("a simulated one, in a clone of the project: `{}`.", serve_command(path));
    let found = std::fs::metadata(path).map(|file| file.file_type());
    match (found, error.kind()) {
        (Ok(found), _) if !found.is_socket() => {
            let kind = if found.is_dir() { "a folder" } else { "a file that is no socket" };
            let remedy = "Check the path: that of a served card is its socket's; a card on the PCI bus is named by its address, such as 0000:5e:00.0.";
            (format!("found {kind}, expected the socket of a card"), remedy.to_owned())
        }
        (Ok(_), io::ErrorKind::ConnectionRefused) => {
            let why = "nobody listens at this socket: the process that served the card has ended";
            (why.to_owned(), format!("Start the card again; {}", start()))
        }
        (_, io::ErrorKind::NotFound) => (error.to_string(), format!("Check the path, or start the card; {}", start())),
        (_, io::ErrorKind::PermissionDenied) => {
            let remedy = "To connect, a user must be allowed to write to the socket and to search the folders above it: `namei -l` shows who is. Be the user who serves \
                          the card, or have that user permit it (chmod).";
            (error.to_string(), remedy.to_owned())
        }
        _ => {
            (error.to_string(), "Check the path: it is to be that of a stream socket, of at most 107 bytes.".to_owned())
        }
    }
}

/// A connection on which the card is not known yet.
struct Opening<'a> {
    connection: Connection,
    name: &'a str,
}

impl Opening<'_> {
    fn failed(&self, problem: String, remedy: &'static str) -> DriverError {
        DriverError::Bus { device: self.name.into(), problem, remedy: remedy.into() }
    }

    /// Calls the server; `doing` says for what.
    fn call(
        &mut self,
        doing: &str,
        command: Command,
        body: &[u8],
        file: Option<BorrowedFd<'_>>,
        expected: usize,
    ) -> Result<Vec<u8>, DriverError> {
        self.connection.call(command, body, file, expected).map_err(|error| {
            // A server that answers has taken this client.
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

    /// It is a PCI device that can be reset, with our BAR 0 and an MSI-X vector for each queue pair.
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

    /// Whatever a driver before has left.
    fn reset(&mut self) -> Result<(), DriverError> {
        self.call("resetting the card", Command::Reset, &[], None, 0)?;
        enable(&mut self.connection).map_err(|error| self.failed(format!("enabling bus mastering: {error}"), NOT_OURS))
    }

    /// Memory that both sides map. It cannot shrink: the server would die of an access beyond its end.
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

    /// The eventfd of all MSI-X vectors.
    fn interrupts(&mut self) -> Result<Bell, DriverError> {
        let event = Bell::new().map_err(|error| self.failed(format!("an eventfd for interrupts: {error}"), FILES))?;
        ring(&mut self.connection, &event)
            .map_err(|error| self.failed(format!("setting up interrupts: {error}"), NOT_OURS))?;
        Ok(event)
    }
}

/// Memory space and bus mastering on: without the second, neither DMA nor interrupts come.
fn enable(connection: &mut Connection) -> io::Result<()> {
    let command = u16::from_le_bytes(read::<2>(connection, CONFIG, COMMAND)?) | MEMORY_SPACE | BUS_MASTER;
    write(connection, CONFIG, COMMAND, &command.to_le_bytes())
}

/// All MSI-X vectors ring this.
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

/// The body of a message that maps the first bytes of a file.
fn dma_map(iova: u64, bytes: usize) -> Vec<u8> {
    let mut body = words(&[32, DMA_READ_WRITE]);
    [0, iova, bytes as u64].iter().for_each(|word| body.extend(word.to_ne_bytes()));
    body
}

const ACCESS_BYTES: usize = 16;

/// What an access to a region begins with.
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
        // Its file stays when the server ends.
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
        // Root may do all, so the kernel does not say it to whoever runs this as root.
        let (why, remedy) = not_reached(&at("dead"), &io::ErrorKind::PermissionDenied.into());
        assert!(why == "permission denied" && remedy.contains("write to the socket"), "{why}, {remedy}");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
