//! The register map of BAR 0, as data.
//!
//! Rules for all registers:
//!
//! - Registers are 32 bits wide, and reads have no side effects.
//! - Everything the host writes is a level, not a strobe: writing a value twice changes nothing.
//!   Doorbells are ring indices.
//! - Registers written by the host and registers written by the card never share a 64-byte line.
//! - Every address answers. Unused addresses read as zero.

/// Writer of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Written by the card, read by the host.
    ReadOnly,
    /// Written by the host.
    ReadWrite,
}

/// One register of BAR 0: byte offset, writer, value after power-on, unit ("" for a plain number),
/// and meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // described above
pub struct Register {
    pub name: &'static str,
    pub offset: usize,
    pub access: Access,
    pub reset: u32,
    pub unit: &'static str,
    pub doc: &'static str,
}

impl Register {
    /// Returns the same register of queue pair `queue`, if it exists per queue pair.
    pub const fn of_queue(&self, queue: usize) -> Self {
        let offset = if self.offset < QUEUE_BASE { self.offset } else { self.offset + queue * QUEUE_BYTES };
        Self { offset, ..*self }
    }

    /// Returns the number of low bits that a host-written register keeps. Higher bits may be kept
    /// or read as zero.
    pub fn kept_bits(&self) -> u32 {
        match self.name {
            "CONTROL" => 1,
            "SQ_LOG2" | "CQ_LOG2" => 4,
            "RANK" => 6,
            "RANKS" => 7,
            "PAYLOAD_BEATS" => 8,
            "UDP_PORT" | "LOCAL_MAC_HI" | "SQ_TAIL" | "CQ_HEAD" => 16,
            _ => 32,
        }
    }

    /// Returns whether a reset of the card restores the [`reset`](Self::reset) value.
    pub fn is_reset_with_the_card(&self) -> bool {
        !["CARD_TIME_LO", "CARD_TIME_HI", "LINK", "PCI_ID", "BUILD_ID"].contains(&self.name)
    }

    /// Index of the register as a 32-bit word of BAR 0.
    pub const fn word(&self) -> usize {
        self.offset / 4
    }
}

macro_rules! registers {
    ($($name:ident $offset:literal $access:ident $reset:expr, $unit:literal, $doc:literal;)*) => {
        $(#[doc = $doc] pub const $name: Register = Register {
            name: stringify!($name), offset: $offset, access: Access::$access, reset: $reset, unit: $unit, doc: $doc,
        };)*
        /// All registers except the peer table, in order of offset.
        pub const REGISTERS: &[Register] = &[$($name),*];
    };
}

/// Bytes of the registers, at the start of BAR 0.
pub const BAR_BYTES: usize = 0x1000;
crate::layout! {
    /// Byte offsets in an entry of the peer table.
    pub mod peer: 16 bytes {
        IP 4 "IPv4 address: wire bytes, read as a little-endian word.";
        MAC_LO 4 "MAC address: bytes 0 to 3, read as a little-endian word.";
        MAC_HI 4 "MAC address: bytes 4 and 5, read as a little-endian word.";
        RATE 4 "Rate limit of sending to this peer in bytes per microsecond, 1 to 65535. 0: line rate.";
    }
}

/// Bytes of one entry of the peer table.
pub const PEER_BYTES: usize = peer::BYTES;
/// Byte offset of the peer table, an entry of [`peer`] per rank. Written by the host.
pub const PEER_TABLE: usize = 0x400;
/// Byte distance between the registers of two queue pairs.
///
/// The registers at and above [`QUEUE_BASE`] exist once per queue pair. A window belongs to the
/// queue pair that armed it, and MSI-X vector q announces the completions of queue pair q.
pub const QUEUE_BYTES: usize = 0x100;
/// Byte offset of the registers of queue pair 0.
pub const QUEUE_BASE: usize = 0x800;
/// `CONTROL`: enables the card. While this bit is 0, queues and windows are held in reset.
///
/// The host may clear it at any time. The card first completes its outstanding bus transactions
/// ([`STATUS_BUSY`]). Counters, windows and the card's indices then have their power-on values, and
/// registers written by the host keep theirs.
pub const CONTROL_ENABLE: u32 = 1;
/// `STATUS`: an access to host memory has failed since the card was enabled.
pub const STATUS_DMA_ERROR: u32 = 1;
/// `STATUS`: a reset is in progress; the card completes transfers on bus and wire.
pub const STATUS_BUSY: u32 = 2;
/// `LINK`: the MAC's receiver is aligned.
pub const LINK_UP: u32 = 1;
/// `LINK`: RS-FEC is aligned.
pub const LINK_RSFEC: u32 = 2;
/// `LINK`: the shell reports the state of its MAC, so the other bits are valid.
pub const LINK_KNOWN: u32 = 1 << 31;
/// `STATUS`: queue pair `queue` has stopped, because the card could not read a submission or write
/// a completion.
///
/// It accepts no submissions until the card is disabled. Its windows continue.
pub const fn status_stopped(queue: usize) -> u32 {
    0x100 << queue
}

registers! {
    MAGIC 0x000 ReadOnly crate::limits::MAGIC, "", "Identity of the card: \"ORNC\".";
    CONTRACT 0x004 ReadOnly crate::limits::CONTRACT_VERSION, "", "Version of the contract between card and software.";
    BUILD 0x008 ReadOnly 1, "", "Build number of the card's design. BUILD_ID distinguishes bitstreams.";
    SLOTS 0x00c ReadOnly crate::limits::SLOTS as u32, "", "Number of window slots.";
    WINDOW_BEATS_MAX 0x010 ReadOnly crate::limits::WINDOW_BEATS as u32, "beats", "Largest window.";
    HADAMARD_LOG2_MAX 0x014 ReadOnly crate::limits::HADAMARD_LOG2_MAX, "", "log2 of the largest Hadamard block in elements.";
    RANKS_MAX 0x018 ReadOnly crate::limits::RANKS_MAX as u32, "", "Largest number of ranks in a job.";
    PAYLOAD_BEATS_MAX 0x01c ReadOnly crate::limits::PAYLOAD_BEATS_MAX as u32, "beats", "Largest payload of a packet.";
    QUEUES 0x020 ReadOnly crate::limits::QUEUES as u32, "", "Number of queue pairs.";

    SCRATCH_ECHO 0x040 ReadOnly 0xffff_ffff, "", "Complement of SCRATCH, to check that writes reach the card.";
    STATUS 0x044 ReadOnly 0, "", "Bit 0: DMA error. Bit 1: reset in progress. Bit 8 + q: queue pair q has stopped.";
    CARD_TIME_LO 0x048 ReadOnly 0, "ns", "Card time, bits 0 to 31, on the clock of CLOSED_NS. Read CARD_TIME_HI before and after; if it changed, read again.";
    CARD_TIME_HI 0x04c ReadOnly 0, "x 2^32 ns", "Card time, bits 32 to 47.";
    LINK 0x050 ReadOnly 0, "", "Bit 0: the MAC's receiver is aligned, so the link is up. Bit 1: RS-FEC is aligned. Bit 31: the shell reports bits 0 and 1; if it is 0, they are 0.";
    PCI_ID 0x054 ReadOnly 0, "", "Vendor of the shell's PCIe bridge, plus device times 65536. 0: not reported.";
    BUILD_ID 0x058 ReadOnly 0, "", "Number given to the shell when it was built, to distinguish bitstreams. 0: not reported.";

    RX_PACKETS 0x080 ReadOnly 0, "packets", "Frames received, good or bad.";
    TX_PACKETS 0x084 ReadOnly 0, "packets", "Packets sent.";
    DROP_FIFO_FULL 0x088 ReadOnly 0, "packets", "Dropped: the receive buffer was full. Bad frames are not counted here.";
    DROP_FOREIGN 0x08c ReadOnly 0, "packets", "Dropped: not IPv4/UDP to the UBT port, for example ARP, VLAN, LLDP, IPv6 or other ports. Frames of any length count.";
    DROP_MALFORMED 0x090 ReadOnly 0, "packets", "Dropped: lengths disagree, or a field is out of range.";
    DROP_VERSION 0x094 ReadOnly 0, "packets", "Dropped: UBT header of another version.";
    DROP_JOB 0x098 ReadOnly 0, "packets", "Dropped: tag of another job.";
    DROP_NO_WINDOW 0x09c ReadOnly 0, "packets", "Dropped: no window is armed for its bucket, step and offset.";
    DROP_FLAGS 0x0a0 ReadOnly 0, "packets", "Dropped: the Hadamard or bf16 flag differs from the window's.";
    DROP_OUT_OF_SHARD 0x0a4 ReadOnly 0, "packets", "Dropped: the payload is not inside the shard that its sender may write in this stage.";
    DROP_LATE_BEATS 0x0a8 ReadOnly 0, "beats", "Dropped: the stage had closed.";
    DROP_DUPLICATE_BEATS 0x0ac ReadOnly 0, "beats", "Dropped: this beat of this sender was received before.";
    DROP_STALE 0x0b0 ReadOnly 0, "packets", "Dropped: step before the step of the window armed for its bucket.";
    RX_BAD 0x0b4 ReadOnly 0, "packets", "Dropped: marked bad by the MAC, wrong UDP checksum, or a packet for this card that is not whole beats. Counted even if the receive buffer is full.";
    DROP_MAC 0x0b8 ReadOnly 0, "packets", "Dropped: the destination MAC address is not LOCAL_MAC.";
    DROP_IP_CHECKSUM 0x0bc ReadOnly 0, "packets", "Dropped: wrong checksum of the IPv4 header.";
    DROP_IP 0x0c0 ReadOnly 0, "packets", "Dropped: the destination IPv4 address is not LOCAL_IP.";
    DROP_SOURCE 0x0c4 ReadOnly 0, "packets", "Dropped: of this job, but the source IPv4 address is not its sender's in the peer table.";
    DROP_TOO_LONG 0x0c8 ReadOnly 0, "packets", "Dropped: more payload than PAYLOAD_BEATS.";
    ARP_REPLIES 0x0cc ReadOnly 0, "packets", "Answered ARP requests for LOCAL_IP. Also counted in RX_PACKETS and TX_PACKETS.";
    PING_REPLIES 0x0d0 ReadOnly 0, "packets", "Answered pings of LOCAL_IP. Also counted in RX_PACKETS and TX_PACKETS.";

    CONTROL 0x100 ReadWrite 0, "", "Bit 0: enable.";
    SCRATCH 0x104 ReadWrite 0, "", "Any value. SCRATCH_ECHO returns its complement.";
    RANK 0x108 ReadWrite 0, "", "Number of this rank, below RANKS.";
    RANKS 0x10c ReadWrite 0, "", "Number of ranks in the job.";
    JOB_TAG_LO 0x110 ReadWrite 0, "", "Job tag: wire bytes 0 to 3, read as a little-endian word.";
    JOB_TAG_HI 0x114 ReadWrite 0, "", "Job tag: wire bytes 4 to 7, read as a little-endian word.";
    PAYLOAD_BEATS 0x118 ReadWrite 0, "beats", "Payload of a full packet. The same on all ranks.";
    UDP_PORT 0x11c ReadWrite 0, "", "UBT port: wire bytes, read as a little-endian word.";
    LOCAL_IP 0x120 ReadWrite 0, "", "IPv4 address of the card: wire bytes, read as a little-endian word.";
    LOCAL_MAC_LO 0x124 ReadWrite 0, "", "MAC address of the card: bytes 0 to 3, read as a little-endian word.";
    LOCAL_MAC_HI 0x128 ReadWrite 0, "", "MAC address of the card: bytes 4 and 5, read as a little-endian word.";

    SQ_BASE_LO 0x800 ReadWrite 0, "", "IOVA of the submission ring, low half, a multiple of 4096. A queue pair whose ring is at 0 is idle.";
    SQ_BASE_HI 0x804 ReadWrite 0, "", "IOVA of the submission ring, high half.";
    SQ_LOG2 0x808 ReadWrite 0, "", "log2 of the number of entries in the submission ring, at most 15.";
    CQ_BASE_LO 0x80c ReadWrite 0, "", "IOVA of the completion ring, low half, a multiple of 4096.";
    CQ_BASE_HI 0x810 ReadWrite 0, "", "IOVA of the completion ring, high half.";
    CQ_LOG2 0x814 ReadWrite 0, "", "log2 of the number of entries in the completion ring, at most 15.";

    SQ_TAIL 0x840 ReadWrite 0, "entries", "Doorbell: submissions written by the host, modulo 65536.";

    CQ_HEAD 0x880 ReadWrite 0, "entries", "Completions consumed by the host, modulo 65536. The card never writes further ahead than the ring holds.";

    SQ_HEAD 0x8c0 ReadOnly 0, "entries", "Submissions consumed by the card.";
    CQ_TAIL 0x8c4 ReadOnly 0, "entries", "Completions written by the card and visible to the host.";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_are_aligned_sorted_and_unique() {
        for pair in REGISTERS.windows(2) {
            assert!(pair[0].offset < pair[1].offset, "{} is not before {}", pair[0].name, pair[1].name);
        }
        for register in REGISTERS {
            assert_eq!(register.offset % 4, 0, "{}", register.name);
            assert!(register.offset + 4 <= PEER_TABLE || register.offset >= QUEUE_BASE, "{}", register.name);
            assert!(register.offset + 4 <= QUEUE_BASE + QUEUE_BYTES, "{}", register.name);
        }
        const {
            assert!(PEER_TABLE + crate::limits::RANKS_MAX * PEER_BYTES <= QUEUE_BASE);
            assert!(QUEUE_BASE + crate::limits::QUEUES * QUEUE_BYTES <= BAR_BYTES);
        }
    }

    #[test]
    fn host_and_card_never_write_the_same_line() {
        for a in REGISTERS {
            for b in REGISTERS {
                assert!(
                    a.offset / 64 != b.offset / 64 || a.access == b.access,
                    "{} shares a line with {}",
                    a.name,
                    b.name
                );
            }
        }
    }
}
