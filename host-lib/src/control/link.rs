//! A connection between two ranks: frames over TCP, encrypted and authenticated if the job has a secret.
//!
//! With a secret: Noise (revision 34), pattern NNpsk0 with the job's secret as pre-shared key and its id in the prologue. Each
//! connection has fresh keys, so that a secret that is lost later opens no recorded connection. Whoever has not the secret gets
//! no byte in answer. A frame is cut into records: length (2 bytes, little-endian), then the bytes and 16 of authentication.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::task::{Context, Poll};

use serde::Serialize;
use serde::de::DeserializeOwned;
use snow::{HandshakeState, StatelessTransportState};
use tokio::io::{AsyncBufRead, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpSocket, TcpStream};

use super::frame::{self, FRAME_BYTES, GREETING_BYTES_MAX};
use super::launch::Launch;
use super::secret::Secret;

const BUFFER_BYTES: usize = 1 << 17;
const PATTERN: &str = "Noise_NNpsk0_25519_ChaChaPoly_SHA256";
/// Longest record, as Noise has it, and its authentication.
const RECORD_BYTES_MAX: usize = 65_535;
const TAG_BYTES: usize = 16;

/// A connection to another rank, or to somebody who has not said yet who it is.
#[derive(Debug)]
pub(super) struct Link {
    pub reader: Reader,
    pub writer: Writer,
}

/// Keys of one direction, and the number of its next record.
#[derive(Debug)]
struct Seal {
    keys: Arc<StatelessTransportState>,
    next: u64,
}

/// What comes from the other end.
#[derive(Debug)]
pub(super) struct Reader {
    stream: BufReader<OwnedReadHalf>,
    seal: Option<Seal>,
}

/// The way to the other end.
#[derive(Debug)]
pub(super) struct Writer {
    stream: OwnedWriteHalf,
    seal: Option<Seal>,
}

/// Which end of a connection this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Connected,
    Accepted,
}

/// What both ends of a connection must have in common.
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
    /// A connection over `stream`; with a secret, once the other end has shown that it has it, too.
    pub async fn new(stream: TcpStream, end: End, common: &Common) -> io::Result<Self> {
        let _ = stream.set_nodelay(true);
        let (reading, writing) = stream.into_split();
        let mut reader = Reader { stream: BufReader::with_capacity(BUFFER_BYTES, reading), seal: None };
        let mut writer = Writer { stream: writing, seal: None };
        if let Some(secret) = &common.secret {
            let handshake = handshake(end, secret, &common.job_id).map_err(io::Error::other)?;
            let keys = Arc::new(shake_hands(handshake, end, &mut reader, &mut writer).await?);
            reader.seal = Some(Seal { keys: keys.clone(), next: 0 });
            writer.seal = Some(Seal { keys, next: 0 });
        }
        Ok(Self { reader, writer })
    }
}

fn handshake(end: End, secret: &Secret, job_id: &str) -> Result<HandshakeState, snow::Error> {
    let prologue = [b"OptiReduce control channel\0", job_id.as_bytes()].concat();
    let builder = snow::Builder::new(PATTERN.parse()?).psk(0, secret.key())?.prologue(&prologue)?;
    match end {
        End::Connected => builder.build_initiator(),
        End::Accepted => builder.build_responder(),
    }
}

async fn shake_hands(
    mut handshake: HandshakeState,
    end: End,
    reader: &mut Reader,
    writer: &mut Writer,
) -> io::Result<StatelessTransportState> {
    let mut buffer = [0; 256];
    for turn in [End::Connected, End::Accepted] {
        if turn == end {
            let length = handshake.write_message(&[], &mut buffer).map_err(io::Error::other)?;
            writer.write(frame::HANDSHAKE, &buffer[..length]).await?;
        } else {
            let (kind, message) = reader.read(GREETING_BYTES_MAX).await?;
            let read = handshake.read_message(&message, &mut buffer);
            if kind != frame::HANDSHAKE || read.is_err() {
                return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it does not have this job's secret"));
            }
        }
    }
    handshake.into_stateless_transport_mode().map_err(io::Error::other)
}

impl Reader {
    /// The next message: its kind and bytes, at most `bytes_max` of them.
    pub async fn read(&mut self, bytes_max: usize) -> io::Result<(u8, Vec<u8>)> {
        let Self { stream, seal: Some(seal) } = self else { return frame::read(&mut self.stream, bytes_max).await };
        let mut plain = Vec::new();
        loop {
            let length = usize::from(stream.read_u16_le().await?);
            let mut record = vec![0; length];
            stream.read_exact(&mut record).await?;
            let before = plain.len();
            plain.resize(before + length, 0);
            let opened = seal.keys.read_message(seal.next, &record, &mut plain[before..]);
            let forged = |_| io::Error::new(io::ErrorKind::InvalidData, "a record was changed on its way");
            plain.truncate(before + opened.map_err(forged)?);
            seal.next += 1;
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

    /// Ready once the connection has ended, or something has come while nothing should.
    pub fn poll_disturbed(&mut self, context: &mut Context<'_>) -> Poll<()> {
        std::pin::Pin::new(&mut self.stream).poll_fill_buf(context).map(drop)
    }
}

impl Writer {
    pub async fn write(&mut self, kind: u8, message: &[u8]) -> io::Result<()> {
        let frame = frame::frame(kind, message)?;
        let Self { stream, seal: Some(seal) } = self else { return self.stream.write_all(&frame).await };
        let mut records = Vec::with_capacity(frame.len() + (frame.len() / RECORD_BYTES_MAX + 1) * (2 + TAG_BYTES));
        for plain in frame.chunks(RECORD_BYTES_MAX - TAG_BYTES) {
            let length = plain.len() + TAG_BYTES;
            records.extend((length as u16).to_le_bytes());
            let before = records.len();
            records.resize(before + length, 0);
            let sealed = seal.keys.write_message(seal.next, plain, &mut records[before..]);
            sealed.map_err(io::Error::other)?;
            seal.next += 1;
        }
        stream.write_all(&records).await
    }

    pub async fn write_json(&mut self, message: &impl Serialize) -> io::Result<()> {
        self.write(frame::IN_STEP, &serde_json::to_vec(message)?).await
    }
}
