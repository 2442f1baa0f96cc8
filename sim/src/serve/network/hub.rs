//! A hub: a switch on a Unix socket that joins served cards of one or several processes.
//!
//! The first process that joins runs the switch. If it ends, another process takes over, and frames
//! in flight are lost. Messages of the socket (`SOCK_SEQPACKET`) are frames, except for the first
//! pair: the client requests an address, and the switch answers whether it is free. The switch
//! learns MAC addresses from requests and frames. Frames to unknown or group addresses go to all
//! other ports. A port that is full for [`PATIENCE`] loses frames until it has space, so a stalled
//! client delays others by that time only once.
//!
//! Trust: every process with access to the socket may send any frame.

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

/// A request is this prefix and an IPv4 address.
const HELLO: &[u8; 16] = b"optireduce hub 1";
/// Answers to a request.
const WELCOME: u8 = 1;
const TAKEN: u8 = 0;
const FRAME_BYTES_MIN: usize = 14;
/// Longest wait of a frame for space at a port.
const PATIENCE: Duration = Duration::from_millis(50);
/// Longest wait of a client for the switch, which may wait for another port.
const SWITCH_PATIENCE: Duration = Duration::from_secs(1);
/// Timeout of the switch's answer, and of a takeover.
const JOIN: Duration = Duration::from_secs(5);
/// Poll interval of the switch.
const LOOK: Duration = Duration::from_millis(10);
const TABLE_MAX: usize = 1024;

pub(super) struct HubLink {
    path: PathBuf,
    address: SocketAddrV4,
    /// Replaced after a takeover.
    line: RwLock<Arc<Line>>,
}

struct Line {
    socket: OwnedFd,
    full: AtomicBool,
}

impl Line {
    fn new(socket: OwnedFd, patience: Duration) -> io::Result<Self> {
        // Only root may exceed the limit.
        set_socket_send_buffer_size_force(&socket, BUFFER_BYTES)
            .or_else(|_| set_socket_send_buffer_size(&socket, BUFFER_BYTES))?;
        set_socket_timeout(&socket, Timeout::Send, Some(patience))?;
        Ok(Self { socket, full: AtomicBool::new(false) })
    }

    /// Waits for space only if the previous message found some.
    fn send(&self, message: &[u8]) -> io::Result<()> {
        let wait = if self.full.load(Ordering::Relaxed) { SendFlags::DONTWAIT } else { SendFlags::empty() };
        let sent = send(&self.socket, message, SendFlags::NOSIGNAL | wait);
        self.full.store(sent == Err(Errno::AGAIN), Ordering::Relaxed);
        Ok(sent.map(drop)?)
    }

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

    /// Waits for at most [`JOIN`].
    fn take_first(&self, buffer: &mut [u8]) -> io::Result<Vec<u8>> {
        set_socket_timeout(&self.socket, Timeout::Recv, Some(JOIN))?;
        let first = self.take(buffer)?;
        set_socket_timeout(&self.socket, Timeout::Recv, None)?;
        Ok(first)
    }
}

impl HubLink {
    /// Joins the hub, or starts it if none runs.
    ///
    /// # Errors
    /// `AddrInUse` if another card has the address, otherwise an error of the socket.
    pub fn join(path: &Path, address: SocketAddrV4) -> io::Result<Self> {
        let deadline = Instant::now() + JOIN;
        let line = join_until(path, address, deadline)?;
        Ok(Self { path: path.into(), address, line: RwLock::new(line.into()) })
    }

    pub fn send(&self, frame: &[u8]) {
        if let Err(error) = self.line().send(frame) {
            tracing::debug!(%error, "a packet of the card is lost at the hub");
        }
    }

    /// Joins again if the process of the switch ends.
    pub fn receive(&self, buffer: &mut [u8]) -> io::Result<Vec<u8>> {
        loop {
            match self.line().take(buffer) {
                Ok(frame) => return Ok(frame),
                Err(error) => {
                    tracing::info!(%error, "the hub's switch ended; joining again");
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
                // The switch has yet to notice the end of this card's previous connection.
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
                // The switch ended in the meantime.
                Err(_) if Instant::now() < deadline => {}
                Err(error) => return Err(fault(path, format_error("its switch does not answer", &error))),
            },
            Err(error) if is_nobody_there(&error) => match Switch::start(path, &place) {
                Ok(()) => continue,
                // Another process is starting the switch.
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

/// Requests an address. Returns `None` if it is in use.
fn greet(socket: OwnedFd, address: SocketAddrV4) -> io::Result<Option<Line>> {
    let line = Line::new(socket, SWITCH_PATIENCE)?;
    line.send(&[&HELLO[..], &address.ip().octets()].concat())?;
    let answer = line.take_first(&mut [0; 64])?;
    Ok((answer == [WELCOME]).then_some(line))
}

#[derive(Default)]
struct Switch(Mutex<Table>);

#[derive(Default)]
struct Table {
    next: usize,
    ports: HashMap<usize, Arc<Line>>,
    places: HashMap<Mac, usize>,
}

impl Switch {
    /// Starts the switch for the lifetime of this process. `WouldBlock` if another one runs it.
    fn start(path: &Path, place: &SocketAddrUnix) -> io::Result<()> {
        let mut beside = path.as_os_str().to_owned();
        beside.push(".lock");
        let lock = File::options().create(true).truncate(false).write(true).open(&beside)?;
        // The kernel releases the lock when a process ends, so now no switch runs.
        lock.try_lock().map_err(io::Error::from)?;
        if fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket()) {
            fs::remove_file(path)?;
        }
        let listener = seqpacket()?;
        // `AddrInUse` is reserved for addresses of cards.
        bind(&listener, place).map_err(|error| match error {
            Errno::ADDRINUSE => io::Error::new(
                io::ErrorKind::AlreadyExists,
                "found a file that is not a socket, expected nothing or a hub",
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
                // Prevents a busy loop without free file descriptors.
                thread::sleep(LOOK);
                continue;
            };
            let switch = self.clone();
            let spawned = thread::Builder::new().name("hub port".into()).spawn(move || switch.serve(socket));
            if let Err(error) = spawned {
                tracing::warn!(%error, "cannot serve a port of the hub");
            }
        }
    }

    fn serve(&self, socket: OwnedFd) {
        let mut buffer = vec![0; FRAME_BYTES_MAX];
        let (port, line) = match self.welcome(socket, &mut buffer) {
            Ok(Some(welcome)) => welcome,
            Ok(None) => return,
            Err(error) => return tracing::warn!(%error, "a client of the hub sent no request"),
        };
        while let Ok(frame) = line.take(&mut buffer) {
            self.forward(port, &frame);
        }
        let mut table = self.table();
        table.ports.remove(&port);
        table.places.retain(|_, place| *place != port);
    }

    /// Answers the request of a new port. Returns its number, or `None` if the address is in use.
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
        // Under the lock, so that no frame precedes the answer.
        line.send(&[WELCOME])?;
        table.places.insert(mac, port);
        table.ports.insert(port, line.clone());
        Ok(Some((port, line)))
    }

    /// Frames without a known destination go to all other ports.
    fn forward(&self, from: usize, frame: &[u8]) {
        let Some((to, source)) = macs(frame) else { return };
        let targets: Vec<Arc<Line>> = {
            let mut table = self.table();
            if table.places.len() < TABLE_MAX && source[0] & 1 == 0 {
                table.places.entry(source).or_insert(from);
            }
            match table.places.get(&to) {
                // Addressed to the sender itself.
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
        // A short frame, and one to the sender: neither arrives.
        links[0].send(&[1, 2, 3]);
        links[0].send(&frame(mac(1), mac(1), 3));
        // A second address of the third card, which the switch learns.
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
            assert!(Line::new(socket, PATIENCE).unwrap().take(&mut [0; 64]).is_err());
        }
        links[0].send(&frame(mac(2), mac(1), 1));
        expect(&links[1], &frame(mac(2), mac(1), 1));
        let file = path.with_extension("file");
        fs::write(&file, "mine").unwrap();
        let error = HubLink::join(&file, at(3)).err().unwrap().to_string();
        assert_eq!(
            error,
            format!("hub {}: found a file that is not a socket, expected nothing or a hub", file.display())
        );
        assert_eq!(fs::read(&file).unwrap(), b"mine");
        remove(&file);
        remove(&path);
    }

    /// A killed process leaves a socket behind.
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
