//! Client side of vfio-user 0.1, with the messages that a driver needs.
//!
//! Every call has a timeout. A failed call makes the connection unusable, because the next message
//! might be the late reply. Length, command and number of every reply are checked. Numbers are in
//! host byte order. Source: QEMU's `docs/interop/vfio-user.rst`.

use std::collections::VecDeque;
use std::io::{self, IoSlice, Read};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};

/// Timeout of a reply. The server may be off the CPU.
const PATIENCE: Duration = Duration::from_secs(5);
/// Timeout of the reply to a posted message; most arrive within microseconds.
const POST_PATIENCE: Duration = Duration::from_millis(100);
const HEADER_BYTES: usize = 16;
const ANSWER_BYTES_MAX: usize = 4096;

const FLAG_REPLY: u32 = 1;
const FLAG_ERROR: u32 = 1 << 5;
const MASK_TYPE: u32 = 0xf;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub(super) enum Command {
    Version = 1,
    DmaMap = 2,
    DmaUnmap = 3,
    GetInfo = 4,
    GetRegionInfo = 5,
    GetIrqInfo = 7,
    SetIrqs = 8,
    RegionRead = 9,
    RegionWrite = 10,
    Reset = 13,
}

pub(super) struct Connection {
    stream: UnixStream,
    next_id: u16,
    /// Outstanding commands, in order: message number, command, minimum bytes of the reply.
    asked: VecDeque<(u16, Command, usize)>,
}

impl Connection {
    pub fn open(path: &Path) -> io::Result<Self> {
        let stream = UnixStream::connect(path)?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(Self { stream, next_id: 0, asked: VecDeque::new() })
    }

    /// Sends a command and waits for its reply of at least `expected` bytes.
    pub fn call(
        &mut self,
        command: Command,
        body: &[u8],
        file: Option<BorrowedFd<'_>>,
        expected: usize,
    ) -> io::Result<Vec<u8>> {
        let deadline = Instant::now() + PATIENCE;
        self.ask(command, body, file, expected)?;
        loop {
            let answer = self.hear(deadline)?;
            if self.asked.is_empty() {
                return Ok(answer);
            }
        }
    }

    /// Sends a command and waits briefly for its reply, or not at all if earlier replies are
    /// outstanding, since the server may be stopped.
    pub fn post(&mut self, command: Command, body: &[u8], expected: usize) -> io::Result<()> {
        let stands_still = !self.asked.is_empty();
        self.ask(command, body, None, expected)?;
        self.settle(if stands_still { Duration::ZERO } else { POST_PATIENCE }).map(drop)
    }

    /// Returns whether the server replies in time to outstanding commands, or else to this one.
    pub fn answers(&mut self, command: Command, body: &[u8], expected: usize, within: Duration) -> io::Result<bool> {
        if self.asked.is_empty() {
            self.ask(command, body, None, expected)?;
        }
        self.settle(within)
    }

    pub fn finish(&mut self) -> io::Result<()> {
        let deadline = Instant::now() + PATIENCE;
        while !self.asked.is_empty() {
            self.hear(deadline)?;
        }
        Ok(())
    }

    fn ask(&mut self, command: Command, body: &[u8], file: Option<BorrowedFd<'_>>, expected: usize) -> io::Result<()> {
        let id = self.next_id;
        self.next_id = id.wrapping_add(1);
        self.send(command, id, body, file)?;
        self.asked.push_back((id, command, expected));
        Ok(())
    }

    /// Receives replies for up to `within`; returns whether all have arrived.
    fn settle(&mut self, within: Duration) -> io::Result<bool> {
        let start = Instant::now();
        while !self.asked.is_empty() {
            let left = within.saturating_sub(start.elapsed());
            let left = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() };
            match poll(&mut [PollFd::new(&self.stream, PollFlags::IN)], Some(&left)) {
                Ok(0) => return Ok(false),
                // A reply that has begun must arrive whole.
                Ok(_) => drop(self.hear(Instant::now() + PATIENCE)?),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(true)
    }

    fn hear(&mut self, deadline: Instant) -> io::Result<Vec<u8>> {
        let Some((id, command, expected)) = self.asked.pop_front() else { return Ok(Vec::new()) };
        let mut header = [0; HEADER_BYTES];
        self.receive(&mut header, deadline)?;
        let [found_id, found_command] = [0, 2].map(|at| u16_at(&header, at));
        let [bytes, flags, error] = [4, 8, 12].map(|at| u32_at(&header, at));
        if (found_id, found_command, flags & MASK_TYPE) != (id, command as u16, FLAG_REPLY) {
            return Err(strange(format!(
                "an answer with flags {flags:#x} to message {found_id}, command {found_command}; expected one to message {id}, \
                 command {} ({command:?})",
                command as u16
            )));
        }
        let length = (bytes as usize).checked_sub(HEADER_BYTES).filter(|length| *length <= ANSWER_BYTES_MAX);
        let Some(length) = length else {
            let most = HEADER_BYTES + ANSWER_BYTES_MAX;
            return Err(strange(format!(
                "an answer of {bytes} bytes to {command:?}, expected {HEADER_BYTES} to {most}"
            )));
        };
        let mut answer = vec![0; length];
        self.receive(&mut answer, deadline)?;
        if flags & FLAG_ERROR != 0 {
            let cause = match error {
                0 => "no cause given".to_owned(),
                error => io::Error::from_raw_os_error(error as i32).to_string(),
            };
            return Err(io::Error::other(format!("the server refused {command:?} ({cause})")));
        }
        if length < expected {
            return Err(strange(format!("{length} bytes in the answer to {command:?}, expected at least {expected}")));
        }
        Ok(answer)
    }

    /// Returns whether the connection is closed, or the server sends a message without a request.
    pub fn is_closed(&mut self) -> bool {
        let mut one = [0];
        if self.settle(Duration::ZERO).is_err() {
            return true;
        }
        match rustix::net::recv(&self.stream, &mut one, RecvFlags::PEEK | RecvFlags::DONTWAIT) {
            Ok((bytes, _)) => bytes == 0 || self.asked.is_empty(),
            Err(error) => !matches!(error, Errno::AGAIN | Errno::INTR),
        }
    }

    fn send(&self, command: Command, id: u16, body: &[u8], file: Option<BorrowedFd<'_>>) -> io::Result<()> {
        let bytes = (HEADER_BYTES + body.len()) as u32;
        let mut message = Vec::with_capacity(bytes as usize);
        message.extend(id.to_ne_bytes());
        message.extend((command as u16).to_ne_bytes());
        [bytes, 0, 0].iter().for_each(|word: &u32| message.extend(word.to_ne_bytes()));
        message.extend(body);
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        let files: Vec<_> = file.into_iter().collect();
        if !files.is_empty() {
            control.push(SendAncillaryMessage::ScmRights(&files));
        }
        // A closed connection is an error here, not a signal.
        let sent = sendmsg(&self.stream, &[IoSlice::new(&message)], &mut control, SendFlags::NOSIGNAL)?;
        if sent == message.len() { Ok(()) } else { Err(strange(format!("{sent} of {} bytes sent", message.len()))) }
    }

    fn receive(&mut self, mut out: &mut [u8], deadline: Instant) -> io::Result<()> {
        while !out.is_empty() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(io::Error::new(io::ErrorKind::TimedOut, format!("no answer within {PATIENCE:?}")));
            }
            self.stream.set_read_timeout(Some(left))?;
            match self.stream.read(out) {
                Ok(0) => {
                    return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the server has closed the connection"));
                }
                Ok(bytes) => out = &mut out[bytes..],
                Err(error) if matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl AsFd for Connection {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

fn strange(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("found {what}"))
}

pub(super) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |bytes| u16::from_ne_bytes(*bytes))
}

pub(super) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |bytes| u32::from_ne_bytes(*bytes))
}

pub(super) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |bytes| u64::from_ne_bytes(*bytes))
}
