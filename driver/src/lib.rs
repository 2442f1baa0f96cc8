//! User-space driver of the OptiReduce SmartNIC.
//!
//! * [`Nic`]: one card. Identity, configuration, submissions in, completions out, counters.
//! * [`bus`]: the seam below it. [`Bus`] is how a card is reached; [`bus::vfio_user`] reaches one that another process serves
//!   on a socket, [`bus::in_process`] a simulated one, [`TraceBus`] and [`FaultBus`] wrap any bus.
//! * [`BarMap`] and [`DmaMap`]: the two kinds of memory shared with a card, and the only places with `unsafe`.
//! * [`Manifest`]: what a bitstream is and whether a file is that bitstream.
//! * [`DriverError`]: every message names the device, what was found, what was expected, and what to do.
//!
//! Nothing that a card writes is trusted: registers and completions are checked field by field, and a bad one is an
//! error and a count, never a panic. Every wait is bounded.
//!
//! Limits: there is no VFIO backend yet, so the only cards that can be reached are simulated ones.

mod arena;
mod bar;
pub mod bus;
mod counters;
mod dma;
mod entries;
mod error;
mod identity;
mod job;
#[cfg(feature = "manifest")]
mod manifest;
mod nic;
mod ring;

pub use arena::DmaBuffer;
pub use bar::{BarMap, RegisterBlock};
pub use bus::Bus;
pub use bus::fault::FaultBus;
pub use bus::in_process::{CardEnd, CardHook, HostMemory, InProcessBus, in_process};
pub use bus::trace::{BusEvent, TraceBus};
pub use bus::vfio_user::{PciId, VfioUserBus};
pub use counters::Counters;
pub use dma::{DmaFault, DmaMap};
pub use error::DriverError;
pub use identity::{Limits, NetworkAddress};
pub use job::{JobConfig, RING_LOG2_MAX, RING_LOG2_MIN};
#[cfg(feature = "manifest")]
pub use manifest::{Manifest, ManifestError, State, Utilisation};
pub use nic::Nic;
