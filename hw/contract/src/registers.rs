//! The register map of BAR 0, as data.
//!
//! Rules: registers are 32 bits and have no read side effects; everything the host writes is a level, never a strobe,
//! so that writing a value twice changes nothing; words written by the host and words written by the card lie on
//! different 64-byte lines; every address answers (zero where nothing is). Doorbells are ring indices.

/// Who writes a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Written by the card, read by the host.
    ReadOnly,
    /// Written by the host.
    ReadWrite,
}

/// One register of BAR 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Register {
    /// Name in code and documentation.
    pub name: &'static str,
    /// Byte offset in BAR 0.
    pub offset: usize,
    /// Who writes it.
    pub access: Access,
    /// Value after power-on.
    pub reset: u32,
    /// Unit, or "" for a plain number.
    pub unit: &'static str,
    /// One sentence.
    pub doc: &'static str,
}

impl Register {
    /// The same register of queue pair `queue`; registers below [`QUEUE_BASE`] exist once.
    pub const fn of_queue(&self, queue: usize) -> Self {
        let offset = if self.offset < QUEUE_BASE { self.offset } else { self.offset + queue * QUEUE_BYTES };
        Self { offset, ..*self }
    }

    /// How many bits, from the lowest, a register that the host writes keeps: those that legal values need. The bits above may be kept
    /// too, or read as zero.
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

    /// Whether it holds [`reset`](Self::reset) again once the card was reset. The others tell of what is around the card.
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
        /// Every register but the peer table, in order of offset.
        pub const REGISTERS: &[Register] = &[$($name),*];
    };
}

/// Bytes of the registers, at the start of BAR 0.
pub const BAR_BYTES: usize = 0x1000;
crate::layout! {
    /// Byte offsets of an entry of the peer table.
    pub mod peer: 16 bytes {
        IP 4 "IPv4 address as on the wire, little-endian load.";
        MAC_LO 4 "MAC bytes 0..4, little-endian load.";
        MAC_HI 4 "MAC bytes 4..6, little-endian load.";
        RATE 4 "Rate at which it is sent to, in bytes per microsecond, 1 to 65535; 0: as fast as the wire.";
    }
}

/// Bytes of one entry of the peer table.
pub const PEER_BYTES: usize = peer::BYTES;
/// Byte offset of the peer table: an entry of [`peer`] for each rank. Written by the host.
pub const PEER_TABLE: usize = 0x400;
/// Bytes from the registers of one queue pair to those of the next: the registers at and above [`QUEUE_BASE`] exist
/// once per queue pair. Windows belong to the queue that armed them; MSI-X vector q announces completions of queue q.
pub const QUEUE_BYTES: usize = 0x100;
/// Byte offset of the registers of queue pair 0.
pub const QUEUE_BASE: usize = 0x800;
/// `CONTROL`: enables the card. While it is clear, queues and windows are held in reset. It may be cleared at any time: the
/// card first completes its outstanding bus transactions ([`STATUS_BUSY`]); counters, windows and its indices are then as after power-on, and what the host
/// wrote stays.
pub const CONTROL_ENABLE: u32 = 1;
/// `STATUS`: an access to host memory failed since the card was enabled.
pub const STATUS_DMA_ERROR: u32 = 1;
/// `STATUS`: a reset is under way: the card was disabled and is still completing what it began on the bus and the wire.
pub const STATUS_BUSY: u32 = 2;
/// `LINK`: the MAC's receiver is aligned.
pub const LINK_UP: u32 = 1;
/// `LINK`: RS-FEC is aligned.
pub const LINK_RSFEC: u32 = 2;
/// `LINK`: the shell tells the state of its MAC.
pub const LINK_KNOWN: u32 = 1 << 31;
/// `STATUS`: queue pair `queue` has stopped: an entry of its submission ring could not be read, or a completion could not
/// be written. It takes no more submissions until the card is disabled; its windows continue.
pub const fn status_stopped(queue: usize) -> u32 {
    0x100 << queue
}

registers! {
    MAGIC 0x000 ReadOnly crate::limits::MAGIC, "", "Identity of the card: \"ORNC\".";
    CONTRACT 0x004 ReadOnly crate::limits::CONTRACT_VERSION, "", "Version of the contract between card and software.";
    BUILD 0x008 ReadOnly 1, "", "Build number of the card's design; BUILD_ID tells bitstreams apart.";
    SLOTS 0x00c ReadOnly crate::limits::SLOTS as u32, "", "Window slots.";
    WINDOW_BEATS_MAX 0x010 ReadOnly crate::limits::WINDOW_BEATS as u32, "beats", "Largest window.";
    HADAMARD_LOG2_MAX 0x014 ReadOnly crate::limits::HADAMARD_LOG2_MAX, "", "log2 of the largest Hadamard block in elements.";
    RANKS_MAX 0x018 ReadOnly crate::limits::RANKS_MAX as u32, "", "Most ranks of a job.";
    PAYLOAD_BEATS_MAX 0x01c ReadOnly crate::limits::PAYLOAD_BEATS_MAX as u32, "beats", "Largest payload of a packet.";
    QUEUES 0x020 ReadOnly crate::limits::QUEUES as u32, "", "Queue pairs.";

    SCRATCH_ECHO 0x040 ReadOnly 0xffff_ffff, "", "Complement of SCRATCH: shows that the card hears writes.";
    STATUS 0x044 ReadOnly 0, "", "Bit 0: DMA error, 1: reset under way, 8 + q: queue pair q has stopped.";
    CARD_TIME_LO 0x048 ReadOnly 0, "ns", "Card time, low half: the clock of CLOSED_NS. Read CARD_TIME_HI before and after; if it changed, read again.";
    CARD_TIME_HI 0x04c ReadOnly 0, "x 2^32 ns", "Card time, bits 32 to 47.";
    LINK 0x050 ReadOnly 0, "", "Bit 0: the MAC's receiver is aligned, so the link is up; 1: RS-FEC is aligned; 31: the shell says so; without it the others are 0.";
    PCI_ID 0x054 ReadOnly 0, "", "What the shell's PCIe bridge says of itself: vendor, and device times 65536; 0: not said.";
    BUILD_ID 0x058 ReadOnly 0, "", "Number that the shell was built with, to tell bitstreams apart; 0: not said.";

    RX_PACKETS 0x080 ReadOnly 0, "packets", "Frames received, good or bad.";
    TX_PACKETS 0x084 ReadOnly 0, "packets", "Packets sent.";
    DROP_FIFO_FULL 0x088 ReadOnly 0, "packets", "Dropped: the receive buffer was full. Bad frames are not among these.";
    DROP_FOREIGN 0x08c ReadOnly 0, "packets", "Dropped: not IPv4/UDP to the UBT port: ARP, VLAN, LLDP, IPv6, other ports; whole beats or not.";
    DROP_MALFORMED 0x090 ReadOnly 0, "packets", "Dropped: lengths disagree, or a field is out of range.";
    DROP_VERSION 0x094 ReadOnly 0, "packets", "Dropped: UBT header of another version.";
    DROP_JOB 0x098 ReadOnly 0, "packets", "Dropped: another job's tag.";
    DROP_NO_WINDOW 0x09c ReadOnly 0, "packets", "Dropped: no window armed for its bucket, step and offset.";
    DROP_FLAGS 0x0a0 ReadOnly 0, "packets", "Dropped: Hadamard or bf16 flag differs from the window's.";
    DROP_OUT_OF_SHARD 0x0a4 ReadOnly 0, "packets", "Dropped: payload not inside the shard that its sender and stage allow.";
    DROP_LATE_BEATS 0x0a8 ReadOnly 0, "beats", "Dropped: the stage had closed.";
    DROP_DUPLICATE_BEATS 0x0ac ReadOnly 0, "beats", "Dropped: this beat of this sender had come before.";
    DROP_STALE 0x0b0 ReadOnly 0, "packets", "Dropped: of a step before that of the window armed for its bucket.";
    RX_BAD 0x0b4 ReadOnly 0, "packets", "Dropped: the MAC or the UDP checksum says that the frame is bad, or it is a packet for this card and not whole beats; with room for it or not.";
    DROP_MAC 0x0b8 ReadOnly 0, "packets", "Dropped: to another MAC address than LOCAL_MAC.";
    DROP_IP_CHECKSUM 0x0bc ReadOnly 0, "packets", "Dropped: the IPv4 header's checksum is wrong.";
    DROP_IP 0x0c0 ReadOnly 0, "packets", "Dropped: to another IPv4 address than LOCAL_IP.";
    DROP_SOURCE 0x0c4 ReadOnly 0, "packets", "Dropped: of this job, and not from the IPv4 address that the peer table has for its sender.";
    DROP_TOO_LONG 0x0c8 ReadOnly 0, "packets", "Dropped: more payload than PAYLOAD_BEATS.";
    ARP_REPLIES 0x0cc ReadOnly 0, "packets", "ARP requests for LOCAL_IP that were answered; in RX_PACKETS and TX_PACKETS too.";
    PING_REPLIES 0x0d0 ReadOnly 0, "packets", "Pings of LOCAL_IP that were answered; in RX_PACKETS and TX_PACKETS too.";

    CONTROL 0x100 ReadWrite 0, "", "Bit 0: enable.";
    SCRATCH 0x104 ReadWrite 0, "", "Any value; see SCRATCH_ECHO.";
    RANK 0x108 ReadWrite 0, "", "This rank.";
    RANKS 0x10c ReadWrite 0, "", "Ranks of the job.";
    JOB_TAG_LO 0x110 ReadWrite 0, "", "Job tag as on the wire, bytes 0..4, little-endian load.";
    JOB_TAG_HI 0x114 ReadWrite 0, "", "Job tag as on the wire, bytes 4..8, little-endian load.";
    PAYLOAD_BEATS 0x118 ReadWrite 0, "beats", "Payload of a full packet; the same on all ranks.";
    UDP_PORT 0x11c ReadWrite 0, "", "UBT port as on the wire, little-endian load.";
    LOCAL_IP 0x120 ReadWrite 0, "", "IPv4 address as on the wire, little-endian load.";
    LOCAL_MAC_LO 0x124 ReadWrite 0, "", "MAC bytes 0..4, little-endian load.";
    LOCAL_MAC_HI 0x128 ReadWrite 0, "", "MAC bytes 4..6, little-endian load.";

    SQ_BASE_LO 0x800 ReadWrite 0, "", "IOVA of the submission ring, low half; multiple of 4096; a queue pair with a ring at 0 is idle.";
    SQ_BASE_HI 0x804 ReadWrite 0, "", "IOVA of the submission ring, high half.";
    SQ_LOG2 0x808 ReadWrite 0, "", "log2 of the submission ring's entries, at most 15.";
    CQ_BASE_LO 0x80c ReadWrite 0, "", "IOVA of the completion ring, low half; multiple of 4096.";
    CQ_BASE_HI 0x810 ReadWrite 0, "", "IOVA of the completion ring, high half.";
    CQ_LOG2 0x814 ReadWrite 0, "", "log2 of the completion ring's entries, at most 15.";

    SQ_TAIL 0x840 ReadWrite 0, "entries", "Doorbell: submissions written, modulo 65536.";

    CQ_HEAD 0x880 ReadWrite 0, "entries", "Completions consumed, modulo 65536; the card never writes more than the ring holds beyond it.";

    SQ_HEAD 0x8c0 ReadOnly 0, "entries", "Submissions consumed.";
    CQ_TAIL 0x8c4 ReadOnly 0, "entries", "Completions written and visible to the host.";
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
