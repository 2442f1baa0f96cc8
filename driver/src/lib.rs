//! User-space driver of the OptiReduce SmartNIC.
//!
//! * [`Nic`]: one card. Identity, configuration, submissions in, completions out, counters.
//! * [`bus`]: the seam below it. [`Bus`] is how a card is reached; [`bus::vfio`] reaches one in a slot of this machine,
//!   [`bus::vfio_user`] one that another process serves on a socket, [`bus::card`] whichever an address names, [`bus::in_process`] a
//!   simulated one; [`TraceBus`], [`FaultBus`] and [`HostileBus`] wrap any bus.
//! * [`Machine`]: the PCI devices of this machine, and what must hold before a card among them can be opened.
//! * [`BarMap`] and [`DmaMap`]: the two kinds of memory shared with a card; they, and `bus/vfio/mapped.rs`, are the only places with
//!   `unsafe`.
//! * [`Manifest`]: what a bitstream is and whether a file is that bitstream.
//! * [`DriverError`]: every message names the device, what was found, what was expected, and what to do.
//!
//! Nothing that a card writes is trusted: registers and completions are checked field by field, and a bad one is an
//! error and a count, never a panic. Every wait is bounded.
//!
//! Limits: the VFIO backend has been run behind the kernel of a virtual machine, not on a board.

mod arena;
mod bar;
pub mod bus;
mod counters;
mod dma;
mod entries;
mod error;
mod identity;
mod job;
mod machine;
#[cfg(feature = "manifest")]
mod manifest;
mod nic;
mod pci;
mod ring;
mod stats;
mod wait;

pub use arena::DmaBuffer;
pub use bar::{BarMap, RegisterBlock};
pub use bus::Bus;
pub use bus::card::CardBus;
pub use bus::fault::FaultBus;
pub use bus::hostile::{HostileBus, Hostility, Lie};
pub use bus::in_process::{CardEnd, CardHook, HostMemory, InProcessBus, in_process};
pub use bus::memory::memory_file;
pub use bus::trace::{BusEvent, TraceBus};
pub use bus::vfio::VfioBus;
pub use bus::vfio_user::{VfioUserBus, serve_command};
pub use counters::Counters;
pub use dma::{DmaFault, DmaMap};
pub use error::DriverError;
pub use identity::{Limits, Link, NetworkAddress, Surroundings};
pub use job::{JobConfig, RING_LOG2_MAX, RING_LOG2_MIN, job_dma_bytes, job_ring_log2};
pub use machine::{Machine, PciFunction, Precondition, VFIO_PCI, full_address};
#[cfg(feature = "manifest")]
pub use manifest::{Manifest, ManifestError, State, Utilisation};
pub use nic::Nic;
pub use pci::PciId;
pub use ring::{Command, Rings};
pub use stats::{STATS_VARIABLE, stats_file};
