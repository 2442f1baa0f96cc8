//! Encrypted and authenticated connections: Noise (revision 34), pattern NNpsk0, with the job's
//! secret as pre-shared key and the job id in the prologue.
//!
//! Each connection has fresh keys, so a secret that leaks later does not decrypt recorded
//! connections. A process without the secret receives no answer. Record: length (2 bytes,
//! little-endian), encrypted bytes, 16 bytes of authentication.

use std::io;
use std::sync::Arc;

use snow::{HandshakeState, StatelessTransportState};

use crate::secret::{Secret, TAG_BYTES};

const PATTERN: &str = "Noise_NNpsk0_25519_ChaChaPoly_SHA256";
/// Limit of Noise.
const RECORD_BYTES_MAX: usize = 65_535;
/// More than any handshake message.
const MESSAGE_BYTES: usize = 256;

/// One message from each end, the initiator's first.
pub(crate) struct Handshake(HandshakeState);

/// One direction of a connection.
#[derive(Debug)]
pub(crate) struct Records {
    keys: Arc<StatelessTransportState>,
    next: u64,
}

impl Handshake {
    pub fn new(secret: &Secret, job_id: &str, initiator: bool) -> io::Result<Self> {
        let prologue = [b"OptiReduce control channel\0", job_id.as_bytes()].concat();
        let begin = || {
            let builder = snow::Builder::new(PATTERN.parse()?).psk(0, secret.0.bytes())?.prologue(&prologue)?;
            if initiator { builder.build_initiator() } else { builder.build_responder() }
        };
        begin().map(Self).map_err(io::Error::other)
    }

    pub fn write(&mut self) -> io::Result<Vec<u8>> {
        let mut message = vec![0; MESSAGE_BYTES];
        let length = self.0.write_message(&[], &mut message).map_err(io::Error::other)?;
        message.truncate(length);
        Ok(message)
    }

    /// # Errors
    /// If the other end has a different secret or job id.
    pub fn read(&mut self, message: &[u8]) -> io::Result<()> {
        self.0.read_message(message, &mut [0; MESSAGE_BYTES]).map(drop).map_err(io::Error::other)
    }

    /// Returns the keys for receiving and sending.
    pub fn finish(self) -> io::Result<[Records; 2]> {
        let keys = Arc::new(self.0.into_stateless_transport_mode().map_err(io::Error::other)?);
        Ok([Records { keys: keys.clone(), next: 0 }, Records { keys, next: 0 }])
    }
}

impl Records {
    /// Decrypts the next record, without its length, and appends to `plain`.
    pub fn open(&mut self, record: &[u8], plain: &mut Vec<u8>) -> io::Result<()> {
        let before = plain.len();
        plain.resize(before + record.len(), 0);
        let opened = self.keys.read_message(self.next, record, &mut plain[before..]);
        let forged = |_| io::Error::new(io::ErrorKind::InvalidData, "a record was modified on the way");
        plain.truncate(before + opened.map_err(forged)?);
        self.next += 1;
        Ok(())
    }

    pub fn seal(&mut self, plain: &[u8]) -> io::Result<Vec<u8>> {
        let mut records = Vec::with_capacity(plain.len() + (plain.len() / RECORD_BYTES_MAX + 1) * (2 + TAG_BYTES));
        for plain in plain.chunks(RECORD_BYTES_MAX - TAG_BYTES) {
            let length = plain.len() + TAG_BYTES;
            records.extend((length as u16).to_le_bytes());
            let before = records.len();
            records.resize(before + length, 0);
            self.keys.write_message(self.next, plain, &mut records[before..]).map_err(io::Error::other)?;
            self.next += 1;
        }
        Ok(records)
    }
}
