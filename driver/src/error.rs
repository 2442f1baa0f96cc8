//! Errors of the driver.

use std::borrow::Cow;
use std::time::Duration;

use crate::dma::DmaFault;

/// Error of the driver, on the bus named `device`. Lengths are in bytes.
#[allow(missing_docs)] // described above
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DriverError {
    #[error(
        "{device}: MAGIC is {found:#010x}, expected {expected:#010x}.\n\
         This is not an OptiReduce card, or it is not programmed. Check the address and program the card."
    )]
    NotACard { device: String, found: u32, expected: u32 },
    #[error(
        "{device}: the card speaks contract version {found}, this driver version {expected}.\n\
         Program the card and install the driver from the same release."
    )]
    ContractMismatch { device: String, found: u32, expected: u32 },
    #[error(
        "{device}: {register} is {found}, expected {lowest} to {highest}.\n\
         Device and driver disagree on the layout. Compare the build of the card with hw/contract, then program it again."
    )]
    BadLimit { device: String, register: &'static str, found: u32, lowest: u32, highest: u32 },
    /// The card answers reads, but writes do not arrive.
    #[error(
        "{device}: SCRATCH_ECHO is {found:#010x} after {polls} reads, expected {expected:#010x} for SCRATCH {wrote:#010x}.\n\
         Writes do not reach the card. Is its memory space enabled and its clock running? Reset the card."
    )]
    NoEcho { device: String, wrote: u32, expected: u32, found: u32, polls: u32 },
    /// The card has left the bus. Later calls return this error as well, except
    /// [`Nic::free`](crate::Nic::free).
    #[error(
        "{device}: the card is gone: its MAGIC register reads all ones, twice.\n\
         It was removed, lost power, or its simulator ended. Open it again once it is back."
    )]
    DeviceGone { device: String },
    /// The bus cannot be opened, or its other end violates the bus's rules.
    #[error("{device}: {problem}.\n{remedy}")]
    Bus { device: String, problem: String, remedy: Cow<'static, str> },
    #[error(
        "{device}: SQ_HEAD is {sq_head}, CQ_TAIL is {cq_tail} and the busy bit of STATUS is {} after CONTROL was cleared \
         and {polls} reads, expected 0, 0 and 0.\n\
         The card does not stop. Reset the card before its memory is used for anything else.",
        u8::from(*busy)
    )]
    NotQuiesced {
        device: String,
        sq_head: u32,
        cq_tail: u32,
        /// Accesses to host memory are in progress.
        busy: bool,
        polls: u32,
    },
    #[error(
        "{device}: job: {field} is {found}, expected {expected}.\nCorrect the job, or use a card with other limits."
    )]
    InvalidJob { device: String, field: &'static str, found: u64, expected: String },
    /// The card is not enabled, or this driver has no queue pair.
    #[error(
        "{device}: the card is not enabled, so it has no queues.\nCall `configure` first, or `open_queue` once another driver has."
    )]
    NotConfigured { device: String },
    /// The card was disabled although this driver enabled it.
    #[error(
        "{device}: the card has been reset or disabled by somebody else: CONTROL is {found:#x}, expected {expected:#x}.\n\
         Its windows are lost. Configure the card again, or reopen it, once no other process uses it."
    )]
    WasReset { device: String, found: u32, expected: u32 },
    #[error(
        "{device}: queue {queue} is in use: its {register} is {found:#x}, expected 0.\n\
         Open another queue. Queues in use become free when the card is configured again."
    )]
    QueueInUse { device: String, queue: usize, register: &'static str, found: u32 },
    /// The card stopped the queue, because it could not reach its rings.
    #[error(
        "{device}: queue {queue} has stopped: the card could not read a submission or write a completion in host memory.\n\
         Look for IOMMU faults in the kernel log, then configure the card again. Armed windows end with their bounds."
    )]
    QueueStopped { device: String, queue: usize },
    /// A submission is misaligned, or its shards do not fill the window.
    #[error(
        "{device}: submission of slot {slot}, cookie {cookie:#010x}: {field} is {found:#x}, expected {expected}.\nCorrect the caller."
    )]
    InvalidSubmission { device: String, slot: u8, cookie: u32, field: &'static str, found: u64, expected: String },
    /// The submission ring is full; nothing was written.
    #[error(
        "{device}: the submission ring is full: {entries} entries, {unrung} of them not announced to the card.\n\
         Ring the doorbell and take completions, then submit again; or configure a larger ring_log2."
    )]
    RingFull { device: String, entries: u32, unrung: u32 },
    #[error(
        "{device}: {register} is {found}, expected an index from {first} to {last} (modulo 65536).\n\
         The card reports submissions that were not announced. Disable it, and reset it if this happens again."
    )]
    BadIndex { device: String, register: &'static str, found: u32, first: u16, last: u16 },
    /// Invalid completion, consumed and counted. The next one can be polled.
    #[error(
        "{device}: completion {index}: {field} is {found:#x}, expected {expected}.\n\
         Device and driver disagree on the layout, or host memory is damaged. Its window is lost: \
         disable the card, and reset it if this happens again."
    )]
    BadCompletion {
        device: String,
        /// Index of the completion, modulo 65536.
        index: u16,
        field: &'static str,
        found: u64,
        expected: String,
    },
    /// No completion arrived in time; the card still answers.
    #[error(
        "{device}: no completion in {waited:?}; {outstanding} submissions are not consumed, {unrung} not announced to the card.\n\
         The card is alive. Is a window armed, and does its bound end before this timeout?"
    )]
    Timeout {
        device: String,
        waited: Duration,
        /// Announced entries that the card is not known to have consumed.
        outstanding: u32,
        /// Entries written since the last doorbell.
        unrung: u32,
    },
    #[error(
        "{device}: no room in DMA memory for {bytes} bytes aligned to {align}: {free_bytes} of {arena_bytes} bytes are \
         free, the largest hole has {largest_bytes}.\nFree buffers, or open the bus with more DMA memory."
    )]
    ArenaExhausted {
        device: String,
        bytes: usize,
        align: usize,
        free_bytes: usize,
        largest_bytes: usize,
        arena_bytes: usize,
    },
    #[error("{device}: cannot allocate {bytes} bytes aligned to {align}: expected at least 1 byte and a power of two.")]
    InvalidAllocation { device: String, bytes: usize, align: usize },
    #[error(
        "{device}: buffer {iova:#x} of {bytes} bytes is not allocated.\nIt was freed before, or belongs to another card."
    )]
    NotAllocated { device: String, iova: u64, bytes: usize },
    #[error(
        "{device}: {bytes} bytes at byte {offset} of buffer {iova:#x} reach beyond its {len} bytes.\nCorrect the caller."
    )]
    OutsideBuffer { device: String, iova: u64, len: usize, offset: usize, bytes: usize },
    /// Access outside DMA memory, or misaligned.
    #[error("{device}: {source}")]
    Dma { device: String, source: DmaFault },
    #[error("{device}: cannot map {bytes} bytes of {what}: {source}")]
    Map {
        device: String,
        /// "BAR 0", "DMA memory" or "caller-owned memory".
        what: &'static str,
        bytes: usize,
        source: std::io::Error,
    },
}
