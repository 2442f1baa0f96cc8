//! The contract between the OptiReduce card and its software, defined once.
//!
//! * [`registers`]: the register map of BAR 0.
//! * [`queue`]: submission and completion queue entries, and the stage report.
//! * [`packet`]: the header beat of a frame.
//! * [`pci`]: PCI configuration space.
//! * [`ranks`]: sets of ranks.
//! * [`shard`]: shards of a window, their owners, and the Hadamard interleave.
//! * [`signs`]: the sign generator of the randomised Hadamard transform.
//! * [`answer`]: ARP and ping.
//! * [`rules`]: acceptance and sending of packets, closing of stages, validity of commands.
//! * [`limits`]: sizes and numeric constants.
//!
//! The crate is `no_std` and has no dependencies without the feature `serde`. Tests in
//! `optireduce-hw` compare the card's types with these tables. `optireduce-hdl contract` generates
//! the reference documents from them.
#![no_std]
#![forbid(unsafe_code)]

pub mod answer;
pub mod field;
pub mod limits;
pub mod packet;
pub mod pci;
pub mod queue;
pub mod ranks;
pub mod registers;
pub mod rules;
pub mod shard;
pub mod signs;
