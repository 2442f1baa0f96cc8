//! What can go wrong with a card.
//!
//! Every message names the device, what was found, what was expected, and what to do about it. The values are fields.

use std::borrow::Cow;
use std::time::Duration;

use crate::dma::DmaFault;

/// An error of the driver. `device` is the name of the bus it happened on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DriverError {
    /// The first register does not identify our card.
    #[error(
        "{device}: MAGIC is {found:#010x}, expected {expected:#010x}.\n\
         This is not an OptiReduce card, or it is not programmed. Check the address and program the card."
    )]
    NotACard {
        /// Name of the bus.
        device: String,
        /// What the register held.
        found: u32,
        /// What our cards hold there.
        expected: u32,
    },
    /// Card and driver were built from different contracts.
    #[error(
        "{device}: the card speaks contract version {found}, this driver version {expected}.\n\
         Program the card and install the driver from the same release."
    )]
    ContractMismatch {
        /// Name of the bus.
        device: String,
        /// The card's version.
        found: u32,
        /// The driver's version.
        expected: u32,
    },
    /// The card reports a limit that cannot be true.
    #[error(
        "{device}: {register} is {found}, expected {lowest} to {highest}.\n\
         Device and driver disagree on the layout. Compare the build of the card with hw/contract, then program it again."
    )]
    BadLimit {
        /// Name of the bus.
        device: String,
        /// Name of the register.
        register: &'static str,
        /// What the register held.
        found: u32,
        /// Smallest sensible value.
        lowest: u32,
        /// Largest sensible value.
        highest: u32,
    },
    /// The card answers reads but does not hear writes.
    #[error(
        "{device}: SCRATCH_ECHO is {found:#010x} after {polls} reads, expected {expected:#010x} for SCRATCH {wrote:#010x}.\n\
         The card does not hear writes. Is its memory space enabled and its clock running? Reset the card."
    )]
    NoEcho {
        /// Name of the bus.
        device: String,
        /// What was written to SCRATCH.
        wrote: u32,
        /// Its complement.
        expected: u32,
        /// What SCRATCH_ECHO held at the end.
        found: u32,
        /// How often it was read.
        polls: u32,
    },
    /// The card has left the bus. Every later call fails with this error at once.
    #[error(
        "{device}: the card is gone: its MAGIC register reads all ones, twice.\n\
         It was removed, lost power, or its simulator ended. Open it again once it is back."
    )]
    DeviceGone {
        /// Name of the bus.
        device: String,
    },
    /// The way to the card cannot be opened, or what is at its other end does not keep to the bus's rules.
    #[error("{device}: {problem}.\n{remedy}")]
    Bus {
        /// Name of the bus.
        device: String,
        /// What was tried, what was found, and what was expected.
        problem: String,
        /// What to do.
        remedy: Cow<'static, str>,
    },
    /// The card did not stop after it was disabled.
    #[error(
        "{device}: SQ_HEAD is {sq_head}, CQ_TAIL is {cq_tail} and the busy bit of STATUS is {} after CONTROL was cleared \
         and {polls} reads, expected 0, 0 and 0.\n\
         The card does not stop. Reset the card before its memory is used for anything else.",
        u8::from(*busy)
    )]
    NotQuiesced {
        /// Name of the bus.
        device: String,
        /// Submissions consumed, as the card says.
        sq_head: u32,
        /// Completions written, as the card says.
        cq_tail: u32,
        /// Whether the card says that accesses to host memory are under way.
        busy: bool,
        /// How often the registers were read.
        polls: u32,
    },
    /// A value of the job's configuration is outside what the card can do.
    #[error(
        "{device}: job: {field} is {found}, expected {expected}.\nCorrect the job, or use a card with other limits."
    )]
    InvalidJob {
        /// Name of the bus.
        device: String,
        /// The field of `JobConfig`.
        field: &'static str,
        /// Its value.
        found: u64,
        /// What is allowed.
        expected: String,
    },
    /// The card works for no job.
    #[error(
        "{device}: the card is not enabled, so it has no queues.\nCall `configure` first, or `open_queue` once another driver has."
    )]
    NotConfigured {
        /// Name of the bus.
        device: String,
    },
    /// The card was enabled by this driver and is not any more.
    #[error(
        "{device}: the card has been reset or disabled by somebody else: CONTROL is {found:#x}, expected {expected:#x}.\n\
         Its windows are lost. Configure the card anew, or open it again, once nobody else uses it."
    )]
    WasReset {
        /// Name of the bus.
        device: String,
        /// What CONTROL held.
        found: u32,
        /// What it holds while the card works.
        expected: u32,
    },
    /// The queue pair belongs to another driver of the card.
    #[error(
        "{device}: queue {queue} is in use: its {register} is {found:#x}, expected 0.\n\
         Open another queue; those in use are free again when the card is configured anew."
    )]
    QueueInUse {
        /// Name of the bus.
        device: String,
        /// The queue pair.
        queue: usize,
        /// A register that says so.
        register: &'static str,
        /// What it held.
        found: u32,
    },
    /// The card could not reach the rings of the queue and has stopped it.
    #[error(
        "{device}: queue {queue} has stopped: the card could not read a submission or not write a completion in host memory.\n\
         Look for IOMMU faults in the kernel log, then configure the card anew. Windows that are armed end by their bounds."
    )]
    QueueStopped {
        /// Name of the bus.
        device: String,
        /// The queue pair.
        queue: usize,
    },
    /// A submission breaks a rule that the card does not check.
    #[error(
        "{device}: submission of slot {slot}, cookie {cookie:#010x}: {field} is {found:#x}, expected {expected}.\nCorrect the caller."
    )]
    InvalidSubmission {
        /// Name of the bus.
        device: String,
        /// The submission's slot.
        slot: u8,
        /// The submission's cookie.
        cookie: u32,
        /// The field at fault.
        field: &'static str,
        /// Its value.
        found: u64,
        /// The rule.
        expected: String,
    },
    /// There is no room for another submission; nothing was lost.
    #[error(
        "{device}: the submission ring is full: {entries} entries, {unrung} of them not announced to the card.\n\
         Ring the doorbell and take completions, then submit again; or configure a larger ring_log2."
    )]
    RingFull {
        /// Name of the bus.
        device: String,
        /// Size of the ring.
        entries: u32,
        /// Entries written since the last doorbell.
        unrung: u32,
    },
    /// The card reports an index that cannot be.
    #[error(
        "{device}: {register} is {found}, expected an index from {first} to {last} (modulo 65536).\n\
         The card consumed what was never submitted. Disable it, and reset it if this happens again."
    )]
    BadIndex {
        /// Name of the bus.
        device: String,
        /// Name of the register.
        register: &'static str,
        /// What it held.
        found: u32,
        /// Smallest possible index.
        first: u16,
        /// Largest possible index.
        last: u16,
    },
    /// A completion that makes no sense. It was consumed and counted; the next one can be polled.
    #[error(
        "{device}: completion {index}: {field} is {found:#x}, expected {expected}.\n\
         Device and driver disagree on the layout, or host memory is damaged. The window it speaks of is lost: \
         disable the card, and reset it if this happens again."
    )]
    BadCompletion {
        /// Name of the bus.
        device: String,
        /// Index of the completion, modulo 65536.
        index: u16,
        /// The field at fault.
        field: &'static str,
        /// Its value.
        found: u64,
        /// What is allowed.
        expected: String,
    },
    /// No completion came in time; the card still answers.
    #[error(
        "{device}: no completion in {waited:?}; {outstanding} submissions are not consumed, {unrung} not announced to the card.\n\
         The card is alive. Is a window armed, and does its bound end before this timeout?"
    )]
    Timeout {
        /// Name of the bus.
        device: String,
        /// The timeout.
        waited: Duration,
        /// Announced entries that the card is not known to have consumed.
        outstanding: u32,
        /// Entries written since the last doorbell.
        unrung: u32,
    },
    /// The DMA memory cannot hold another buffer.
    #[error(
        "{device}: no room in DMA memory for {bytes} bytes aligned to {align}: {free_bytes} of {arena_bytes} bytes are \
         free, the largest hole has {largest_bytes}.\nFree buffers, or open the bus with more DMA memory."
    )]
    ArenaExhausted {
        /// Name of the bus.
        device: String,
        /// Bytes asked for.
        bytes: usize,
        /// Alignment asked for.
        align: usize,
        /// Bytes free in all.
        free_bytes: usize,
        /// Bytes of the largest hole.
        largest_bytes: usize,
        /// Bytes of the DMA memory.
        arena_bytes: usize,
    },
    /// An alignment or a length that no allocation can have.
    #[error("{device}: cannot allocate {bytes} bytes aligned to {align}: expected at least 1 byte and a power of two.")]
    InvalidAllocation {
        /// Name of the bus.
        device: String,
        /// Bytes asked for.
        bytes: usize,
        /// Alignment asked for.
        align: usize,
    },
    /// A buffer was freed that is not allocated.
    #[error(
        "{device}: buffer {iova:#x} of {bytes} bytes is not allocated.\nIt was freed before, or comes from another card."
    )]
    NotAllocated {
        /// Name of the bus.
        device: String,
        /// Where the buffer starts.
        iova: u64,
        /// Its length.
        bytes: usize,
    },
    /// An access beyond the end of a buffer.
    #[error(
        "{device}: {bytes} bytes at byte {offset} of buffer {iova:#x} reach beyond its {len} bytes.\nCorrect the caller."
    )]
    OutsideBuffer {
        /// Name of the bus.
        device: String,
        /// Where the buffer starts.
        iova: u64,
        /// Length of the buffer.
        len: usize,
        /// Where in the buffer the access starts.
        offset: usize,
        /// Length of the access.
        bytes: usize,
    },
    /// An access outside DMA memory, or a misaligned one.
    #[error("{device}: {source}")]
    Dma {
        /// Name of the bus.
        device: String,
        /// The access.
        source: DmaFault,
    },
    /// Memory shared with the card could not be mapped, or is too small or misaligned.
    #[error("{device}: cannot map {bytes} bytes of {what}: {source}")]
    Map {
        /// Name of the bus.
        device: String,
        /// "BAR 0" or "DMA memory".
        what: &'static str,
        /// Bytes asked for.
        bytes: usize,
        /// The cause.
        source: std::io::Error,
    },
}
