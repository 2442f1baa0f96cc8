//! The card: everything between the MAC, host memory and the register window.
//!
//! [`checked_nic::CheckedNic`] is the top in simulation and [`endpoint::Endpoint`] on boards.
//! [`smartnic::SmartNic`] is the card without UDP checksums, filter and responder.
//!
//! Conventions for the ports of all blocks:
//!
//! - `valid` and `ready` transfer a word in each cycle in which both are high.
//! - `clear` is the reset of the card, `reset` the common reset of bus and MAC.
//! - `arm`, `arm_slot` and `arm_context` are the arm bus: the slot armed in this cycle (one-hot),
//!   its number, and its context.
//! - `peer_write`, `peer_word` and `peer_data` write the peer table at word rank * 4 + word.
//! - `job` holds the job's registers, and `now_ns` the nanoseconds since reset.
//! - Maps of 8 bits have a bit per slot, maps of 4 bits a bit per queue.
//! - `rx_*` is the receive path, `tx_*` the transmit path. Frame errors and `*_partial` (not whole
//!   beats) are valid with the frame's last beat.
//! - Bursts of host memory have 1 to 64 beats within 4 KiB.
//! - `msix_*` requests an interrupt after completions were written; the vector is their queue.
//! - Outputs that report an event are high for one cycle.

pub mod arrivals;
pub mod axi_lite;
pub mod build;
pub mod builder;
pub mod card_state;
pub mod checked_nic;
pub mod contribute;
pub mod dma_read;
pub mod dma_write;
pub mod drain;
pub mod endpoint;
pub mod entry;
pub mod finisher;
pub mod frame_sum;
pub mod gather;
pub mod job_copy;
pub mod lookup;
pub mod msix;
pub mod pacer;
pub mod planner;
pub mod reciprocal;
pub mod reduce;
pub mod registers;
pub mod reset;
pub mod responder;
pub mod rx_buffer;
pub mod rx_checksum;
pub mod rx_filter;
pub mod rx_parser;
pub mod scale;
pub mod simulated;
pub mod slot_gate;
pub mod smartnic;
pub mod stage_gates;
pub mod submission;
pub mod tx_checksum;
pub mod tx_guard;
pub mod tx_merge;
pub mod types;

#[cfg(test)]
mod arrivals_tests;
#[cfg(test)]
mod builder_tests;
#[cfg(test)]
mod checksum_tests;
#[cfg(test)]
mod contribute_tests;
#[cfg(test)]
mod dma_read_tests;
#[cfg(test)]
mod endpoint_tests;
#[cfg(test)]
mod finisher_tests;
#[cfg(test)]
mod gather_model;
#[cfg(test)]
mod gather_tests;
#[cfg(test)]
mod lookup_model;
#[cfg(test)]
mod lookup_tests;
#[cfg(test)]
mod pacer_tests;
#[cfg(test)]
mod planner_model;
#[cfg(test)]
mod planner_tests;
#[cfg(test)]
mod reduce_model;
#[cfg(test)]
mod reduce_tests;
#[cfg(test)]
mod registers_tests;
#[cfg(test)]
mod responder_tests;
#[cfg(test)]
mod rx_buffer_model;
#[cfg(test)]
mod rx_buffer_tests;
#[cfg(test)]
mod rx_filter_tests;
#[cfg(test)]
mod rx_parser_tests;
#[cfg(test)]
mod scale_tests;
#[cfg(test)]
mod send_path_tests;
#[cfg(test)]
mod stage_gates_model;
#[cfg(test)]
mod stage_gates_tests;
#[cfg(test)]
mod stimulus;
#[cfg(test)]
mod submission_model;
#[cfg(test)]
mod submission_tests;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod window_model;
