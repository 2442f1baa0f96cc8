//! What the OptiReduce card and its software must agree on, defined once.
//!
//! * [`registers`]: the register map of BAR 0.
//! * [`queue`]: submission and completion queue entries (64 bytes each) and the stage report.
//! * [`packet`]: the frame on the wire: Ethernet, IPv4, UDP and the 22-byte UBT header in one 64-byte beat.
//! * [`pci`]: the numbers in PCI configuration space.
//! * [`ranks`]: sets of ranks, a card's (64) and of any size.
//! * [`shard`]: how a window is cut into shards, who owns which, and how windows are interleaved.
//! * [`signs`]: the counter-based sign generator of the randomised Hadamard transform.
//! * [`answer`]: what a card answers by itself: ARP and ping.
//! * [`rules`]: the rules of a window, executable: what goes where, when a stage closes, what a command may say.
//! * [`limits`]: sizes and numeric constants.
//!
//! Everything here is `no_std` and free of dependencies, so that hardware generators, drivers and firmware can all
//! use it. The HDL entry types are proven equal to these tables by tests in `optireduce-hw`; the Markdown reference
//! is generated from them by `optireduce-hdl contract`.
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
