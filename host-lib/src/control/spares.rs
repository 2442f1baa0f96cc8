//! Buffers of long messages, to be used again.
//!
//! Why: an allocator returns memory of this size to the kernel, and the next message pays a page
//! fault for each page.
//! Limits: [`BYTES_MAX`] in this process. No buffer is used again while another thread has the
//! lock, which a fork may never see released.

use std::sync::Mutex;

const BUFFER_BYTES_MIN: usize = 64 << 10;
const BYTES_MAX: usize = 8 << 20;

static SPARES: Mutex<Vec<Vec<u8>>> = Mutex::new(Vec::new());

/// Returns a buffer with room for `bytes` bytes and any content.
pub(super) fn take(bytes: usize) -> Vec<u8> {
    if bytes >= BUFFER_BYTES_MIN
        && let Ok(mut spares) = SPARES.try_lock()
        && let Some(at) = spares.iter().rposition(|spare| (bytes..=2 * bytes).contains(&spare.capacity()))
    {
        return spares.swap_remove(at);
    }
    Vec::with_capacity(bytes)
}

/// Keeps a buffer, unless there are enough.
pub(super) fn give(buffer: Vec<u8>) {
    if buffer.capacity() >= BUFFER_BYTES_MIN
        && let Ok(mut spares) = SPARES.try_lock()
    {
        let kept: usize = spares.iter().map(Vec::capacity).sum();
        if kept + buffer.capacity() <= BYTES_MAX {
            spares.push(buffer);
        }
    }
}
