//! A connection between two ranks: frames over TCP.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::task::{Context, Poll};

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncBufRead, BufReader};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpSocket, TcpStream};

use super::frame;

const BUFFER_BYTES: usize = 1 << 17;

/// A connection to another rank, or to somebody who has not said yet who it is.
#[derive(Debug)]
pub(super) struct Link {
    pub reader: Reader,
    pub writer: Writer,
}

/// What comes from the other end.
#[derive(Debug)]
pub(super) struct Reader(BufReader<OwnedReadHalf>);

/// The way to the other end.
#[derive(Debug)]
pub(super) struct Writer(OwnedWriteHalf);

/// Connects from `local`, so that the other end can tell from the connection where this rank is.
pub(super) async fn connect(local: IpAddr, to: SocketAddr) -> io::Result<TcpStream> {
    if local.is_ipv4() != to.is_ipv4() {
        let what = format!("{to} cannot be reached from {local}: one is IPv4, the other IPv6");
        return Err(io::Error::new(io::ErrorKind::AddrNotAvailable, what));
    }
    let socket = if to.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    socket.bind((local, 0).into())?;
    socket.connect(to).await
}

impl Link {
    pub fn new(stream: TcpStream) -> Self {
        let _ = stream.set_nodelay(true);
        let (reading, writing) = stream.into_split();
        Self { reader: Reader(BufReader::with_capacity(BUFFER_BYTES, reading)), writer: Writer(writing) }
    }
}

impl Reader {
    /// The next message: its kind and bytes, at most `bytes_max` of them.
    pub async fn read(&mut self, bytes_max: usize) -> io::Result<(u8, Vec<u8>)> {
        frame::read(&mut self.0, bytes_max).await
    }

    pub async fn read_json<T: DeserializeOwned>(&mut self) -> io::Result<T> {
        Ok(serde_json::from_slice(&self.read(frame::MESSAGE_BYTES_MAX).await?.1)?)
    }

    /// Ready once the connection has ended, or something has come while nothing should.
    pub fn poll_disturbed(&mut self, context: &mut Context<'_>) -> Poll<()> {
        std::pin::Pin::new(&mut self.0).poll_fill_buf(context).map(drop)
    }
}

impl Writer {
    pub async fn write(&mut self, kind: u8, message: &[u8]) -> io::Result<()> {
        frame::write(&mut self.0, kind, message).await
    }

    pub async fn write_json(&mut self, message: &impl Serialize) -> io::Result<()> {
        self.write(frame::IN_STEP, &serde_json::to_vec(message)?).await
    }
}
