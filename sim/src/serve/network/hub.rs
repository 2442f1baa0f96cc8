//! A hub: a switch that joins served cards, of one process or of several, on a Unix socket.
//!
//! The first that joins runs the switch; when its process ends, one of the others takes over, and what was under way is lost. Messages of the
//! socket (`SOCK_SEQPACKET`) are frames. Only the first is none: who joins says the address that it wants to have, and is told whether
//! it is free. The switch knows at which port a MAC address is from those addresses and from the frames that came; what it does not know and what is
//! for all goes to all other ports. A port whose queue is full for [`PATIENCE`] loses frames until it has room again: who stands still holds up
//! nobody.
//! Trust: whoever may open the socket is on the network, and may send what it likes, as on a switch.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::net::SocketAddrV4;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::thread;
use std::time::{Duration, Instant};

use optireduce_contract::packet::{Endpoint, frame};
use rustix::io::Errno;
use rustix::net::sockopt::{
    Timeout, set_socket_send_buffer_size, set_socket_send_buffer_size_force, set_socket_timeout,
};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketFlags, SocketType, accept_with, bind, connect, listen,
    recv, send, socket_with,
};

use super::{BUFFER_BYTES, FRAME_BYTES_MAX};

type Mac = [u8; 6];

/// What who joins says before its address, an IPv4 address.
const HELLO: &[u8; 16] = b"optireduce hub 1";
/// What it is told: whether the address is its own now.
const WELCOME: u8 = 1;
const TAKEN: u8 = 0;
/// The least that makes a frame: an Ethernet header.
const FRAME_BYTES_MIN: usize = 14;
/// How long a frame waits for room at the switch's port.
const PATIENCE: Duration = Duration::from_millis(50);
/// How long it waits for the switch, which may be waiting for another port.
const SWITCH_PATIENCE: Duration = Duration::from_secs(1);
/// How long a switch may take to answer, and a new one to come up.
const JOIN: Duration = Duration::from_secs(5);
/// Between two looks at what is not there yet.
const LOOK: Duration = Duration::from_millis(10);
/// Most MAC addresses that the switch knows.
const TABLE_MAX: usize = 1024;

/// A card's port at a hub.
pub(super) struct HubLink {
    path: PathBuf,
    address: SocketAddrV4,
    /// Another one after another process has taken over the switch.
    line: RwLock<Arc<Line>>,
}

/// One end of a port's connection.
struct Line {
    socket: OwnedFd,
    /// The last frame found no room.
    full: AtomicBool,
}

impl Line {
    /// Makes room for frames that wait at the other end, and gives up sending if there is none for a while.
    fn new(socket: OwnedFd, patience: Duration) -> io::Result<Self> {
        // Root may pass the limit; others get what there is.
        set_socket_send_buffer_size_force(&socket, BUFFER_BYTES)
            .or_else(|_| set_socket_send_buffer_size(&socket, BUFFER_BYTES))?;
        set_socket_timeout(&socket, Timeout::Send, Some(patience))?;
        Ok(Self { socket, full: AtomicBool::new(false) })
    }

    /// Sends a message; waits for room if there was some for the last one.
    fn send(&self, message: &[u8]) -> io::Result<()> {
        let wait = if self.full.load(Ordering::Relaxed) { SendFlags::DONTWAIT } else { SendFlags::empty() };
        let sent = send(&self.socket, message, SendFlags::NOSIGNAL | wait);
        self.full.store(sent == Err(Errno::AGAIN), Ordering::Relaxed);
        Ok(sent.map(drop)?)
    }

    /// The next message.
    fn take(&self, buffer: &mut [u8]) -> io::Result<Vec<u8>> {
        loop {
            match recv(&self.socket, &mut *buffer, RecvFlags::empty()) {
                Ok((0, _)) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok((bytes, _)) => return Ok(buffer[..bytes].to_vec()),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// The first message of a connection, which is not waited for without end.
    fn take_first(&self, buffer: &mut [u8]) -> io::Result<Vec<u8>> {
        set_socket_timeout(&self.socket, Timeout::Recv, Some(JOIN))?;
        let first = self.take(buffer)?;
        set_socket_timeout(&self.socket, Timeout::Recv, None)?;
        Ok(first)
    }
}

impl HubLink {
    /// Joins the hub at `path` with this address, and runs the switch if nobody does.
    ///
    /// # Errors
    /// `AddrInUse` if another card has the address; if the socket cannot be had.
    pub fn join(path: &Path, address: SocketAddrV4) -> io::Result<Self> {
        let deadline = Instant::now() + JOIN;
        let line = join_until(path, address, deadline)?;
        Ok(Self { path: path.into(), address, line: RwLock::new(line.into()) })
    }

    /// Sends a frame.
    pub fn send(&self, frame: &[u8]) {
        if let Err(error) = self.line().send(frame) {
            tracing::debug!(%error, "a packet of the card is lost at the hub");
        }
    }

    /// Waits for a frame; joins anew if the switch's process ends.
    pub fn receive(&self, buffer: &mut [u8]) -> io::Result<Vec<u8>> {
        loop {
            match self.line().take(buffer) {
                Ok(frame) => return Ok(frame),
                Err(error) => {
                    tracing::info!(%error, "the hub's switch is gone; joining anew");
                    let line = self.join_again()?;
                    *self.line.write().unwrap_or_else(PoisonError::into_inner) = line.into();
                }
            }
        }
    }

    fn join_again(&self) -> io::Result<Line> {
        let deadline = Instant::now() + JOIN;
        loop {
            match join_until(&self.path, self.address, deadline) {
                // Of this card's port before, which the switch has yet to see close.
                Err(error) if error.kind() == io::ErrorKind::AddrInUse && Instant::now() < deadline => {
                    thread::sleep(LOOK)
                }
                joined => return joined,
            }
        }
    }

    fn line(&self) -> Arc<Line> {
        self.line.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn fault(path: &Path, error: impl Into<io::Error>) -> io::Error {
    let error = error.into();
    io::Error::new(error.kind(), format!("hub {}: {error}", path.display()))
}

fn seqpacket() -> io::Result<OwnedFd> {
    Ok(socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?)
}

fn join_until(path: &Path, address: SocketAddrV4, deadline: Instant) -> io::Result<Line> {
    let place = SocketAddrUnix::new(path).map_err(|error| fault(path, error))?;
    loop {
        let socket = seqpacket()?;
        match connect(&socket, &place).map_err(io::Error::from) {
            Ok(()) => match greet(socket, address) {
                Ok(Some(line)) => return Ok(line),
                Ok(None) => {
                    let taken = format!("hub {}: another card has the address {}", path.display(), address.ip());
                    return Err(io::Error::new(io::ErrorKind::AddrInUse, taken));
                }
                // It ended in the meantime.
                Err(_) if Instant::now() < deadline => {}
                Err(error) => return Err(fault(path, format_error("its switch does not answer", &error))),
            },
            Err(error) if is_nobody_there(&error) => match Switch::start(path, &place) {
                Ok(()) => continue,
                // Somebody else starts it.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock && Instant::now() < deadline => {}
                Err(error) => return Err(fault(path, error)),
            },
            Err(error) => return Err(fault(path, error)),
        }
        thread::sleep(LOOK);
    }
}

fn format_error(what: &str, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{what}: {error}"))
}

fn is_nobody_there(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused)
}

/// Asks for an address; the port, if it is free.
fn greet(socket: OwnedFd, address: SocketAddrV4) -> io::Result<Option<Line>> {
    let line = Line::new(socket, SWITCH_PATIENCE)?;
    line.send(&[&HELLO[..], &address.ip().octets()].concat())?;
    let answer = line.take_first(&mut [0; 64])?;
    Ok((answer == [WELCOME]).then_some(line))
}

/// The switch.
#[derive(Default)]
struct Switch(Mutex<Table>);

#[derive(Default)]
struct Table {
    next: usize,
    /// By number.
    ports: HashMap<usize, Arc<Line>>,
    /// At which port an address is.
    places: HashMap<Mac, usize>,
}

impl Switch {
    /// Runs the switch, for as long as this process lives. `WouldBlock`: another process does, or is about to.
    fn start(path: &Path, place: &SocketAddrUnix) -> io::Result<()> {
        let mut beside = path.as_os_str().to_owned();
        beside.push(".lock");
        let lock = File::options().create(true).truncate(false).write(true).open(&beside)?;
        // Its process ended, if it can be had: the kernel gives it back.
        lock.try_lock().map_err(io::Error::from)?;
        if fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket()) {
            fs::remove_file(path)?;
        }
        let listener = seqpacket()?;
        // `AddrInUse` is for addresses of cards.
        bind(&listener, place).map_err(|error| match error {
            Errno::ADDRINUSE => io::Error::new(
                io::ErrorKind::AlreadyExists,
                "there is something that is no socket, expected nothing or a hub",
            ),
            error => error.into(),
        })?;
        listen(&listener, 64)?;
        let switch = Arc::<Self>::default();
        thread::Builder::new().name("hub".into()).spawn(move || switch.run(&listener, &lock)).map(drop)
    }

    fn run(self: Arc<Self>, listener: &OwnedFd, _lock: &File) {
        loop {
            let Ok(socket) = accept_with(listener, SocketFlags::CLOEXEC) else {
                // Not too often, if there are no more file descriptors.
                thread::sleep(LOOK);
                continue;
            };
            let switch = self.clone();
            let spawned = thread::Builder::new().name("hub port".into()).spawn(move || switch.serve(socket));
            if let Err(error) = spawned {
                tracing::warn!(%error, "a card cannot be joined to the hub");
            }
        }
    }

    /// A port, until whoever is there goes.
    fn serve(&self, socket: OwnedFd) {
        let mut buffer = vec![0; FRAME_BYTES_MAX];
        let (port, line) = match self.welcome(socket, &mut buffer) {
            Ok(Some(welcome)) => welcome,
            Ok(None) => return,
            Err(error) => return tracing::warn!(%error, "somebody at the hub does not say what it is"),
        };
        while let Ok(frame) = line.take(&mut buffer) {
            self.forward(port, &frame);
        }
        let mut table = self.table();
        table.ports.remove(&port);
        table.places.retain(|_, place| *place != port);
    }

    /// Hears which address a new port wants to have; its number, if it is free.
    fn welcome(&self, socket: OwnedFd, buffer: &mut [u8]) -> io::Result<Option<(usize, Arc<Line>)>> {
        let line = Arc::new(Line::new(socket, PATIENCE)?);
        let said = line.take_first(buffer)?;
        let ip: Option<&[u8; 4]> = said.strip_prefix(HELLO).and_then(|ip| ip.try_into().ok());
        let Some(ip) = ip else { return Err(io::ErrorKind::InvalidData.into()) };
        let mac = Endpoint::of_ip(*ip).mac;
        let mut table = self.table();
        if table.places.contains_key(&mac) {
            line.send(&[TAKEN])?;
            return Ok(None);
        }
        let port = table.next;
        table.next += 1;
        // Under the lock: no frame comes before the answer.
        line.send(&[WELCOME])?;
        table.places.insert(mac, port);
        table.ports.insert(port, line.clone());
        Ok(Some((port, line)))
    }

    /// Gives a frame to the port where its destination is, or to all others.
    fn forward(&self, from: usize, frame: &[u8]) {
        let Some((to, source)) = macs(frame) else { return };
        let targets: Vec<Arc<Line>> = {
            let mut table = self.table();
            if table.places.len() < TABLE_MAX && source[0] & 1 == 0 {
                table.places.entry(source).or_insert(from);
            }
            match table.places.get(&to) {
                // To itself: it has it already.
                Some(port) if *port == from => Vec::new(),
                Some(port) => table.ports.get(port).cloned().into_iter().collect(),
                None => table.ports.iter().filter(|(port, _)| **port != from).map(|(_, port)| port.clone()).collect(),
            }
        };
        for target in targets {
            if let Err(error) = target.send(frame) {
                tracing::debug!(%error, "a packet is lost at a port of the hub");
            }
        }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// For whom a frame is, and from whom.
fn macs(bytes: &[u8]) -> Option<(Mac, Mac)> {
    let mac = |at: usize| bytes.get(at..at + 6)?.try_into().ok();
    (bytes.len() >= FRAME_BYTES_MIN).then_some((mac(frame::ETH_DST.offset)?, mac(frame::ETH_SRC.offset)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path() -> PathBuf {
        use std::sync::atomic::AtomicUsize;
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        std::env::temp_dir().join(format!("optireduce-hub-{}-{number}.sock", std::process::id()))
    }

    fn remove(path: &Path) {
        let _ = fs::remove_file(path);
        let _ = fs::remove_file(format!("{}.lock", path.display()));
    }

    fn at(host: u8) -> SocketAddrV4 {
        SocketAddrV4::new([10, 79, 0, host].into(), 1)
    }

    fn mac(host: u8) -> Mac {
        Endpoint::of_ip([10, 79, 0, host]).mac
    }

    fn frame(to: Mac, from: Mac, mark: u8) -> Vec<u8> {
        [&to[..], &from, &[8, 0, mark]].concat()
    }

    /// Also that nothing else came: what is sent to it last comes next.
    fn expect(link: &HubLink, expected: &[u8]) {
        let line = link.line();
        set_socket_timeout(&line.socket, Timeout::Recv, Some(Duration::from_secs(30))).unwrap();
        assert_eq!(line.take(&mut [0; 2048]).unwrap(), expected);
    }

    #[test]
    fn a_frame_goes_where_its_destination_is_and_one_for_all_to_all_others() {
        let path = path();
        let links = [1, 2, 3].map(|host| HubLink::join(&path, at(host)).unwrap());
        let to_second = frame(mac(2), mac(1), 1);
        links[0].send(&to_second);
        expect(&links[1], &to_second);
        for to in [[0xff; 6], [0x02, 9, 9, 9, 9, 9]] {
            let to_all = frame(to, mac(1), 2);
            links[0].send(&to_all);
            expect(&links[1], &to_all);
            expect(&links[2], &to_all);
        }
        // Too short for a frame, and to itself: neither arrives.
        links[0].send(&[1, 2, 3]);
        links[0].send(&frame(mac(1), mac(1), 3));
        // Another address of the third's, which the switch learns.
        let other = [0x02, 7, 7, 7, 7, 7];
        links[2].send(&frame(mac(1), other, 4));
        expect(&links[0], &frame(mac(1), other, 4));
        links[0].send(&frame(other, mac(1), 5));
        expect(&links[2], &frame(other, mac(1), 5));
        links[0].send(&frame(mac(2), mac(1), 6));
        expect(&links[1], &frame(mac(2), mac(1), 6));
        remove(&path);
    }

    #[test]
    fn an_address_is_one_cards_until_it_goes() {
        let path = path();
        let first = HubLink::join(&path, at(1)).unwrap();
        let error = HubLink::join(&path, at(1)).err().unwrap();
        assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
        assert!(error.to_string().contains("another card has the address 10.79.0.1"), "{error}");
        drop(first);
        let begin = Instant::now();
        while HubLink::join(&path, at(1)).is_err() {
            assert!(begin.elapsed() < JOIN, "it is not free again");
            thread::sleep(LOOK);
        }
        remove(&path);
    }

    /// As a process that is stopped: what it does not take is lost, and others get theirs.
    #[test]
    fn who_takes_nothing_holds_up_nobody() {
        let path = path();
        let [first, second, _silent] = [1, 2, 3].map(|host| HubLink::join(&path, at(host)).unwrap());
        let large = [&frame(mac(3), mac(1), 0)[..], &[0; 9000]].concat();
        // More than any queue holds.
        for _ in 0..4 * BUFFER_BYTES / large.len() {
            first.send(&large);
        }
        first.send(&frame(mac(2), mac(1), 1));
        expect(&second, &frame(mac(2), mac(1), 1));
        remove(&path);
    }

    #[test]
    fn strangers_at_the_socket_disturb_nobody() {
        let path = path();
        let links = [1, 2].map(|host| HubLink::join(&path, at(host)).unwrap());
        for said in [&b"hello"[..], HELLO, &[0; 3000]] {
            let socket = seqpacket().unwrap();
            connect(&socket, &SocketAddrUnix::new(&path).unwrap()).unwrap();
            send(&socket, said, SendFlags::NOSIGNAL).unwrap();
            // Its connection ends.
            assert!(Line::new(socket, PATIENCE).unwrap().take(&mut [0; 64]).is_err());
        }
        links[0].send(&frame(mac(2), mac(1), 1));
        expect(&links[1], &frame(mac(2), mac(1), 1));
        let file = path.with_extension("file");
        fs::write(&file, "mine").unwrap();
        let error = HubLink::join(&file, at(3)).err().unwrap().to_string();
        assert_eq!(
            error,
            format!("hub {}: there is something that is no socket, expected nothing or a hub", file.display())
        );
        assert_eq!(fs::read(&file).unwrap(), b"mine");
        remove(&file);
        remove(&path);
    }

    /// A socket that nobody listens at any more is what a process leaves that was killed.
    #[test]
    fn a_hub_whose_process_ended_is_taken_over() {
        let path = path();
        let stale = seqpacket().unwrap();
        bind(&stale, &SocketAddrUnix::new(&path).unwrap()).unwrap();
        drop(stale);
        let links = [1, 2].map(|host| HubLink::join(&path, at(host)).unwrap());
        links[1].send(&frame(mac(1), mac(2), 1));
        expect(&links[0], &frame(mac(1), mac(2), 1));
        remove(&path);
    }
}
