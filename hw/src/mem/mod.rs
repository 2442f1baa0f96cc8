//! Memories and queues.

pub mod block_fifo;
pub mod fifo;
pub mod place;
pub mod ram;
