//! Messages on the reliable channel between two ranks: length (4 bytes, little-endian), kind (1 byte), then the bytes.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// Largest message.
pub(super) const MESSAGE_BYTES_MAX: usize = 1 << 20;
/// Largest message of somebody who may be a stranger: a greeting.
pub(super) const GREETING_BYTES_MAX: usize = 1 << 14;

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

/// A message of at most `bytes_max`, no more than [`MESSAGE_BYTES_MAX`].
pub(super) async fn read(from: &mut (impl AsyncRead + Unpin), bytes_max: usize) -> io::Result<(u8, Vec<u8>)> {
    let length = from.read_u32_le().await? as usize;
    if length > bytes_max.min(MESSAGE_BYTES_MAX) {
        let what = format!("a message of {length} bytes, at most {bytes_max}: is the sender OptiReduce?");
        return Err(io::Error::other(what));
    }
    let kind = from.read_u8().await?;
    let mut message = vec![0; length];
    from.read_exact(&mut message).await?;
    Ok((kind, message))
}
