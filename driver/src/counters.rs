//! Counters of a card and of its driver.

use optireduce_contract::registers::{self as regs, STATUS_DMA_ERROR, status_stopped};

use crate::bus::Bus;

macro_rules! counters {
    ($($field:ident $name:ident),* $(,)?) => {
        /// Counters of the card since it was enabled, over all queues, modulo 2^32.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
        pub struct Counters {
            $(#[doc = concat!("See [`regs::", stringify!($name), "`]; of this queue, if it exists per queue.")] pub $field: u32,)*
            /// An access of the card to host memory failed.
            pub dma_error: bool,
        /// The card stopped this queue.
            pub queue_stopped: bool,
            /// Completions that the driver rejected since the card was opened.
            pub completions_rejected: u64,
        }

        impl Counters {
            pub(crate) fn read(bus: &impl Bus, queue: usize, completions_rejected: u64) -> Self {
                let status = bus.read(&regs::STATUS);
                Self {
                    $($field: bus.read(&regs::$name.of_queue(queue)),)*
                    dma_error: status & STATUS_DMA_ERROR != 0,
                    queue_stopped: status & status_stopped(queue) != 0,
                    completions_rejected,
                }
            }
        }
    };
}

counters! {
    sq_head SQ_HEAD, cq_tail CQ_TAIL, rx_packets RX_PACKETS, tx_packets TX_PACKETS, drop_fifo_full DROP_FIFO_FULL,
    drop_foreign DROP_FOREIGN, drop_malformed DROP_MALFORMED, drop_version DROP_VERSION, drop_job DROP_JOB,
    drop_no_window DROP_NO_WINDOW, drop_flags DROP_FLAGS, drop_out_of_shard DROP_OUT_OF_SHARD,
    drop_late_beats DROP_LATE_BEATS, drop_duplicate_beats DROP_DUPLICATE_BEATS, drop_stale DROP_STALE,
    rx_bad RX_BAD, drop_mac DROP_MAC, drop_ip_checksum DROP_IP_CHECKSUM, drop_ip DROP_IP, drop_source DROP_SOURCE,
    drop_too_long DROP_TOO_LONG, arp_replies ARP_REPLIES, ping_replies PING_REPLIES,
}
