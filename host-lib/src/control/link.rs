//! A connection between two ranks: frames over TCP.
//!
//! With a secret, a handshake comes first, and frames travel in encrypted records; see `secret`.

use std::io::{self, IoSlice};
use std::net::{IpAddr, SocketAddr};
use std::task::{Context, Poll};

use nix::sys::socket::{setsockopt, sockopt};
use rustix::net::{SendAncillaryBuffer, SendFlags, sendmsg};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncBufRead, AsyncReadExt, BufReader, Interest};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpSocket, TcpStream};

use super::frame::{self, FRAME_BYTES, GREETING_BYTES_MAX};
use super::launch::Launch;
use super::tcp;
use crate::secret::{Handshake, Records, Secret};

const BUFFER_BYTES: usize = 1 << 17;
/// Pending connections, if `net.core.somaxconn` allows.
const BACKLOG: u32 = 4096;

#[derive(Debug)]
pub(super) struct Link {
    pub reader: Reader,
    pub writer: Writer,
}

#[derive(Debug)]
pub(super) struct Reader {
    stream: BufReader<OwnedReadHalf>,
    records: Option<Records>,
}

#[derive(Debug)]
pub(super) struct Writer {
    stream: OwnedWriteHalf,
    records: Option<Records>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Connected,
    Accepted,
}

#[derive(Clone, Debug)]
pub(super) struct Common {
    job_id: String,
    secret: Option<Secret>,
}

impl Common {
    pub fn new(launch: &Launch, secret: Option<&Secret>) -> Self {
        Self { job_id: launch.job_id.clone(), secret: secret.cloned() }
    }
}

/// Connects from `local`, because the other end checks the source address. `mtu`: as of
/// [`Settings::mtu`](crate::Settings::mtu).
pub(super) async fn connect(local: IpAddr, to: SocketAddr, mtu: Option<usize>) -> io::Result<TcpStream> {
    if local.is_ipv4() != to.is_ipv4() {
        let what = format!("{to} cannot be reached from {local}: one is IPv4, the other IPv6");
        return Err(io::Error::new(io::ErrorKind::AddrNotAvailable, what));
    }
    let socket = if to.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // The port must be available for a listening rank 0 without waiting for TIME_WAIT.
    socket.set_reuseaddr(true)?;
    // Chooses the port in `connect`, so that connections to different addresses may share one.
    // Otherwise the ranks of a host would run out of ports. Old kernels choose in `bind`.
    let _ = setsockopt(&socket, sockopt::IpBindAddressNoPort, &true);
    tcp::limit_segments(&socket, local, to.ip(), mtu);
    socket.bind((local, 0).into())?;
    socket.connect(to).await
}

pub(super) fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

impl Link {
    /// Returns once both ends have proved that they have the secret, if any.
    pub async fn new(stream: TcpStream, end: End, common: &Common) -> io::Result<Self> {
        tcp::send_promptly(&stream);
        let (reading, writing) = stream.into_split();
        let mut reader = Reader { stream: BufReader::with_capacity(BUFFER_BYTES, reading), records: None };
        let mut writer = Writer { stream: writing, records: None };
        if let Some(secret) = &common.secret {
            let handshake = Handshake::new(secret, &common.job_id, end == End::Connected)?;
            let [coming, going] = shake_hands(handshake, end, &mut reader, &mut writer).await?;
            (reader.records, writer.records) = (Some(coming), Some(going));
        }
        Ok(Self { reader, writer })
    }
}

async fn shake_hands(
    mut handshake: Handshake,
    end: End,
    reader: &mut Reader,
    writer: &mut Writer,
) -> io::Result<[Records; 2]> {
    for turn in [End::Connected, End::Accepted] {
        if turn == end {
            writer.write(frame::HANDSHAKE, &handshake.write()?).await?;
        } else {
            let (kind, message) = reader.read(GREETING_BYTES_MAX).await?;
            if kind != frame::HANDSHAKE || handshake.read(&message).is_err() {
                return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it does not have this job's secret"));
            }
        }
    }
    handshake.finish()
}

impl Reader {
    pub async fn read(&mut self, bytes_max: usize) -> io::Result<(u8, Vec<u8>)> {
        let Self { stream, records: Some(records) } = self else {
            return frame::read(&mut self.stream, bytes_max).await;
        };
        let mut plain = Vec::new();
        loop {
            let length = usize::from(stream.read_u16_le().await?);
            let mut record = vec![0; length];
            stream.read_exact(&mut record).await?;
            records.open(&record, &mut plain)?;
            let expected = frame::length(&plain, bytes_max)?;
            if plain.len() >= expected {
                if plain.len() > expected {
                    return Err(io::Error::new(io::ErrorKind::InvalidData, "a record is longer than its frame"));
                }
                let kind = plain[FRAME_BYTES - 1];
                plain.drain(..FRAME_BYTES);
                return Ok((kind, plain));
            }
        }
    }

    pub async fn read_json<T: DeserializeOwned>(&mut self) -> io::Result<T> {
        Ok(serde_json::from_slice(&self.read(frame::MESSAGE_BYTES_MAX).await?.1)?)
    }

    /// Ready once the connection has ended or received data.
    pub fn poll_disturbed(&mut self, context: &mut Context<'_>) -> Poll<()> {
        std::pin::Pin::new(&mut self.stream).poll_fill_buf(context).map(drop)
    }
}

/// Raises no SIGPIPE, which ends a C program: `writev` does, in tokio's `write_vectored`.
async fn write_parts(stream: &mut OwnedWriteHalf, parts: [&[u8]; 3]) -> io::Result<()> {
    let stream: &TcpStream = stream.as_ref();
    let mut parts = parts.map(IoSlice::new);
    let mut rest = &mut parts[..];
    // Removes empty parts.
    IoSlice::advance_slices(&mut rest, 0);
    while !rest.is_empty() {
        let send = || Ok(sendmsg(stream, rest, &mut SendAncillaryBuffer::default(), SendFlags::NOSIGNAL)?);
        match stream.async_io(Interest::WRITABLE, send).await? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            written => IoSlice::advance_slices(&mut rest, written),
        }
    }
    Ok(())
}

impl Writer {
    /// Segments are lost only between hosts.
    pub fn may_lose(&self) -> bool {
        let stream = self.stream.as_ref();
        let same = stream.local_addr().ok().zip(stream.peer_addr().ok());
        same.is_none_or(|(local, peer)| local.ip() != peer.ip())
    }

    pub async fn write(&mut self, kind: u8, message: &[u8]) -> io::Result<()> {
        self.write_after(None, kind, message).await
    }

    /// Writes a message after a short one, with one system call if there is room. Copies only
    /// encrypted messages.
    pub async fn write_after(&mut self, first: Option<(u8, &[u8])>, kind: u8, message: &[u8]) -> io::Result<()> {
        let first = first.map(|(kind, first)| frame::frame(kind, first)).transpose()?.unwrap_or_default();
        let Self { stream, records: Some(records) } = self else {
            let head = frame::head(kind, message)?;
            return write_parts(&mut self.stream, [&first, &head, message]).await;
        };
        let first = if first.is_empty() { first } else { records.seal(&first)? };
        write_parts(stream, [&first, &records.seal(&frame::frame(kind, message)?)?, &[]]).await
    }

    pub async fn write_json(&mut self, message: &impl Serialize) -> io::Result<()> {
        self.write(frame::IN_STEP, &serde_json::to_vec(message)?).await
    }
}
