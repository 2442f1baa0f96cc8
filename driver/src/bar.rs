//! BAR 0: the card's registers, mapped into this process.
//!
//! [`RegisterBlock`] is the contract's register map as volatile cells; the build fails if a
//! register is missing, misplaced, or has another access. Each access is one access on the bus, in
//! program order among registers. Only the fences in [`crate::dma`] order DMA memory.
#![allow(unsafe_code)]

use std::any::Any;
use std::io::{Error, ErrorKind};
use std::mem::offset_of;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use memmap2::MmapRaw;
use optireduce_contract::limits::{QUEUES, RANKS_MAX};
use optireduce_contract::registers::{
    self, Access, BAR_BYTES, PEER_BYTES, PEER_TABLE, QUEUE_BASE, QUEUE_BYTES, REGISTERS, Register,
};
use volatile_register::{RO, RW};

trait WrittenBy {
    const ACCESS: Access;
}

impl WrittenBy for RO<u32> {
    const ACCESS: Access = Access::ReadOnly;
}

impl WrittenBy for RW<u32> {
    const ACCESS: Access = Access::ReadWrite;
}

trait Cell {
    fn load(&self) -> u32;
    fn store(&self, value: u32);
}

impl Cell for RO<u32> {
    fn load(&self) -> u32 {
        self.read()
    }

    fn store(&self, _: u32) {}
}

impl Cell for RW<u32> {
    fn load(&self) -> u32 {
        self.read()
    }

    fn store(&self, value: u32) {
        // SAFETY: `write` is unsafe because a register may have effects. Ours can make the card
        // write to host memory, but only to the DMA memory mapped for it, accessed only as atomics
        // (`DmaMap`).
        unsafe { self.write(value) }
    }
}

macro_rules! cells {
    ($(#[$doc:meta])* $block:ident from $base:expr; $({ $($field:ident $name:ident $cell:ident),* } $gap:ident $words:literal;)*) => {
        $(#[$doc])*
        #[repr(C)]
        pub struct $block {
            $(
                $(#[doc = concat!("See [`registers::", stringify!($name), "`].")] pub $field: $cell<u32>,)*
                $gap: [RO<u32>; $words],
            )*
        }

        const _: () = {
            $($(
                assert!(offset_of!($block, $field) + $base == registers::$name.offset, stringify!($name is misplaced));
                assert!(
                    <$cell<u32> as WrittenBy>::ACCESS as u8 == registers::$name.access as u8,
                    stringify!($name has another access)
                );
            )*)*
        };

        impl $block {
            const COUNT: usize = [$($(registers::$name.offset),*),*].len();

            fn cell(&self, offset: usize) -> Option<&dyn Cell> {
                match offset + $base {
                    $($(offset if offset == registers::$name.offset => Some(&self.$field),)*)*
                    _ => None,
                }
            }
        }
    };
}

cells! {
    /// Registers of the whole card.
    JobBlock from 0;
    {
        magic MAGIC RO, contract CONTRACT RO, build BUILD RO, slots SLOTS RO, window_beats_max WINDOW_BEATS_MAX RO,
        hadamard_log2_max HADAMARD_LOG2_MAX RO, ranks_max RANKS_MAX RO, payload_beats_max PAYLOAD_BEATS_MAX RO,
        queues QUEUES RO
    } _gap_024 7;
    {
        scratch_echo SCRATCH_ECHO RO, status STATUS RO, card_time_lo CARD_TIME_LO RO, card_time_hi CARD_TIME_HI RO,
        link LINK RO, pci_id PCI_ID RO, build_id BUILD_ID RO
    } _gap_05c 9;
    {
        rx_packets RX_PACKETS RO, tx_packets TX_PACKETS RO, drop_fifo_full DROP_FIFO_FULL RO,
        drop_foreign DROP_FOREIGN RO, drop_malformed DROP_MALFORMED RO, drop_version DROP_VERSION RO,
        drop_job DROP_JOB RO, drop_no_window DROP_NO_WINDOW RO, drop_flags DROP_FLAGS RO,
        drop_out_of_shard DROP_OUT_OF_SHARD RO, drop_late_beats DROP_LATE_BEATS RO,
        drop_duplicate_beats DROP_DUPLICATE_BEATS RO, drop_stale DROP_STALE RO, rx_bad RX_BAD RO, drop_mac DROP_MAC RO,
        drop_ip_checksum DROP_IP_CHECKSUM RO, drop_ip DROP_IP RO, drop_source DROP_SOURCE RO,
        drop_too_long DROP_TOO_LONG RO, arp_replies ARP_REPLIES RO, ping_replies PING_REPLIES RO
    } _gap_0d4 11;
    {
        control CONTROL RW, scratch SCRATCH RW, rank RANK RW, ranks RANKS RW, job_tag_lo JOB_TAG_LO RW,
        job_tag_hi JOB_TAG_HI RW, payload_beats PAYLOAD_BEATS RW, udp_port UDP_PORT RW, local_ip LOCAL_IP RW,
        local_mac_lo LOCAL_MAC_LO RW, local_mac_hi LOCAL_MAC_HI RW
    } _gap_12c 181;
}

cells! {
    /// Registers of one queue pair.
    QueueBlock from QUEUE_BASE;
    {
        sq_base_lo SQ_BASE_LO RW, sq_base_hi SQ_BASE_HI RW, sq_log2 SQ_LOG2 RW, cq_base_lo CQ_BASE_LO RW,
        cq_base_hi CQ_BASE_HI RW, cq_log2 CQ_LOG2 RW
    } _gap_18 10;
    { sq_tail SQ_TAIL RW } _gap_44 15;
    { cq_head CQ_HEAD RW } _gap_84 15;
    { sq_head SQ_HEAD RO, cq_tail CQ_TAIL RO } _gap_c8 14;
}

/// BAR 0 as the contract defines it.
#[repr(C)]
pub struct RegisterBlock {
    /// Registers of the whole card.
    pub job: JobBlock,
    /// Peer table, from [`registers::PEER_TABLE`].
    pub peers: [[RW<u32>; PEER_BYTES / 4]; RANKS_MAX],
    /// Queue pairs, from [`registers::QUEUE_BASE`].
    pub queues: [QueueBlock; QUEUES],
    _rest: [RO<u32>; (BAR_BYTES - QUEUE_BASE - QUEUES * QUEUE_BYTES) / 4],
}

const _: () = {
    assert!(JobBlock::COUNT + QueueBlock::COUNT == REGISTERS.len(), "a register is missing");
    assert!(offset_of!(RegisterBlock, peers) == PEER_TABLE);
    assert!(offset_of!(RegisterBlock, queues) == QUEUE_BASE);
    assert!(size_of::<QueueBlock>() == QUEUE_BYTES);
    assert!(size_of::<RegisterBlock>() == BAR_BYTES);
};

impl RegisterBlock {
    fn cell(&self, register: &Register) -> Option<&dyn Cell> {
        let Some(at) = register.offset.checked_sub(QUEUE_BASE) else { return self.job.cell(register.offset) };
        self.queues.get(at / QUEUE_BYTES)?.cell(at % QUEUE_BYTES)
    }
}

/// BAR 0, mapped. Clones share the mapping.
#[derive(Clone)]
pub struct BarMap {
    base: NonNull<RegisterBlock>,
    _owner: Arc<dyn Any + Send + Sync>,
}

// SAFETY: `base` points into a mapping that `_owner` (itself `Send + Sync`) keeps until the last
// clone is dropped. The mapping is bound to no thread; all accesses are volatile or atomic, of
// aligned 32-bit words.
unsafe impl Send for BarMap {}
// SAFETY: as above.
unsafe impl Sync for BarMap {}

impl BarMap {
    /// Maps registers in ordinary memory, shared with a simulated card.
    ///
    /// # Errors
    /// The mapping is smaller than BAR 0 or misaligned.
    pub fn from_mapping(mapping: MmapRaw) -> Result<Self, Error> {
        let (base, bytes) = (mapping.as_mut_ptr(), mapping.len());
        let base = NonNull::new(base).ok_or(ErrorKind::InvalidInput)?;
        // SAFETY: `mapping` is readable and writable for `bytes` bytes at `base` and is the owner
        // passed along. Its address is used nowhere else, so no reference into it exists.
        unsafe { Self::from_raw(base, bytes, Arc::new(mapping)) }
    }

    /// Maps the registers at `base`, for a backend that maps a real BAR.
    ///
    /// # Errors
    /// Fewer bytes than BAR 0, or a misaligned base.
    ///
    /// # Safety
    /// `base` is readable and writable for `bytes` bytes while `owner` lives. No ordinary reference
    /// (`&[u8]`, `&mut`) into them exists, since the other side may change them at any time.
    pub unsafe fn from_raw(base: NonNull<u8>, bytes: usize, owner: Arc<dyn Any + Send + Sync>) -> Result<Self, Error> {
        let base = base.cast::<RegisterBlock>();
        if bytes < BAR_BYTES || !base.is_aligned() {
            return Err(Error::new(
                ErrorKind::InvalidInput,
                format!("found {bytes} bytes at {base:p}, expected {BAR_BYTES} or more, 4-byte aligned"),
            ));
        }
        Ok(Self { base, _owner: owner })
    }

    /// The registers as volatile cells.
    pub fn block(&self) -> &RegisterBlock {
        // SAFETY: `base` is aligned and readable and writable for BAR_BYTES =
        // size_of::<RegisterBlock>() (checked in `from_raw` and above) while `_owner` lives, which
        // is longer than this borrow of `self`. The whole block consists of `UnsafeCell`s, so the
        // card may change it under the reference; any 32 bits are a valid `u32`.
        unsafe { self.base.as_ref() }
    }

    /// Reads a register; zero if the contract defines none at its offset.
    pub fn read(&self, register: &Register) -> u32 {
        self.block().cell(register).map_or(0, Cell::load)
    }

    /// Writes a register. Ignored for read-only registers.
    pub fn write(&self, register: &Register, value: u32) {
        if let Some(cell) = self.block().cell(register) {
            cell.store(value);
        }
    }

    /// Writes the peer table entry of `rank`. Ignored from [`RANKS_MAX`] on.
    pub fn write_peer(&self, rank: usize, words: [u32; PEER_BYTES / 4]) {
        for (cell, word) in self.block().peers.get(rank).into_iter().flatten().zip(words) {
            cell.store(word);
        }
    }

    /// Words of BAR 0, for the card, which also writes read-only registers.
    pub(crate) fn words(&self) -> &[AtomicU32; BAR_BYTES / 4] {
        // SAFETY: as in `block`; atomics may change under a shared reference too. The volatile
        // accesses of `block` may run concurrently: both are single accesses to aligned 32-bit
        // words, which no supported target tears.
        unsafe { self.base.cast().as_ref() }
    }
}
