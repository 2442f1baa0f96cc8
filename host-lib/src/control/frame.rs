//! Messages on the reliable channel between two ranks: length (4 bytes, little-endian), kind (1 byte), then the bytes.

use std::io;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// Largest message.
pub(super) const MESSAGE_BYTES_MAX: usize = 1 << 20;

/// Messages while the ranks come together, and those that callers exchange in step.
pub(super) const IN_STEP: u8 = 0;
/// Messages that may come at any time.
pub(super) const NOTICE: u8 = 1;
/// Messages that engines exchange in step, between collectives.
pub(super) const BETWEEN: u8 = 2;

pub(super) async fn write(to: &mut (impl AsyncWrite + Unpin), kind: u8, message: &[u8]) -> io::Result<()> {
    let too_long = || io::Error::other(format!("a message of {} bytes, at most {MESSAGE_BYTES_MAX}", message.len()));
    let length = u32::try_from(message.len()).ok().filter(|length| *length as usize <= MESSAGE_BYTES_MAX);
    let [a, b, c, d] = length.ok_or_else(too_long)?.to_le_bytes();
    to.write_all(&[a, b, c, d, kind]).await?;
    to.write_all(message).await
}

pub(super) async fn read(from: &mut (impl AsyncRead + Unpin)) -> io::Result<(u8, Vec<u8>)> {
    let length = from.read_u32_le().await? as usize;
    if length > MESSAGE_BYTES_MAX {
        let what = format!("a message of {length} bytes, at most {MESSAGE_BYTES_MAX}: is the sender OptiReduce?");
        return Err(io::Error::other(what));
    }
    let kind = from.read_u8().await?;
    let mut message = vec![0; length];
    from.read_exact(&mut message).await?;
    Ok((kind, message))
}

pub(super) async fn write_json(to: &mut (impl AsyncWrite + Unpin), message: &impl Serialize) -> io::Result<()> {
    write(to, IN_STEP, &serde_json::to_vec(message)?).await
}

pub(super) async fn read_json<T: DeserializeOwned>(from: &mut (impl AsyncRead + Unpin)) -> io::Result<T> {
    Ok(serde_json::from_slice(&read(from).await?.1)?)
}
