//! SmartNIC of a rank: its addresses, the terms of a job with cards, and its data plane.
//!
//! A card has its own network address, and sends to a single UDP port, at which all peers receive.
//! In a job with cards each rank therefore needs its own IPv4 address, and all use the cards' port.
//! Cards send no ARP requests: ranks exchange MAC addresses during bootstrap. Cards support
//! all-reduces only. Other collectives use the kernel's UDP, as does everything once a card has
//! failed, if the job falls back.
//!
//! Limits: no secret, no rejoin, no rate control of a card's packets.

#[cfg_attr(not(feature = "smartnic"), allow(dead_code, reason = "cards alone send there"))]
mod address;
mod error;
mod job;
#[cfg(feature = "smartnic")]
mod lost;
#[cfg(feature = "smartnic")]
mod open;
#[cfg(not(feature = "smartnic"))]
#[path = "absent.rs"]
mod open;
#[cfg(feature = "smartnic")]
mod plane;
#[cfg(feature = "smartnic")]
mod stats;

pub(crate) use self::address::{CardAddress, card_form, split_card};
pub use self::error::CardError;
pub(crate) use self::job::Cards;
#[cfg(not(feature = "smartnic"))]
pub(crate) use self::open::CardPlane;
pub(crate) use self::open::OpenCard;
#[cfg(feature = "smartnic")]
pub(crate) use self::plane::CardPlane;
