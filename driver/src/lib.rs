//! User-space driver of the OptiReduce SmartNIC.
//!
//! * [`Nic`]: one card.
//! * [`bus`]: access to a card through VFIO, through a vfio-user socket, or to a simulated card in
//!   this process. [`TraceBus`], [`FaultBus`] and [`HostileBus`] wrap any bus.
//! * [`Machine`]: PCI devices, and the preconditions for opening a card.
//! * [`BarMap`] and [`DmaMap`]: memory shared with a card. Only their files and
//!   `bus/vfio/mapped.rs` use `unsafe`.
//! * [`Manifest`]: description and checksum of a bitstream.
//! * [`DriverError`]: errors, with device, value found, value expected, and remedy.
//!
//! An invalid register or completion is an error, never a panic. Every wait is bounded.
//!
//! Limits: the VFIO backend has run only in a virtual machine, not with a board.

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
