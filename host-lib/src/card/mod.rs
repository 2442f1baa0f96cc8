//! A rank's card: where it is, what all ranks of a job with cards must have in common, and the data plane on it.
//!
//! A card has an address of its own on the network, and sends to one UDP port, at which all its peers receive. So in a job with cards every
//! rank has an IPv4 address of its own, and all use the cards' port; each rank finds that out from what the bootstrap says of all, as well as the
//! MAC addresses to which cards send: no card asks for them by ARP.
//! A card is named by its PCI address or by the path of its vfio-user socket.
//! Reduce-scatters and all-gathers, which cards do not know, are made over the kernel's UDP beside them; and so is everything once a card has
//! failed, if the job is to fall back.
//! Limits: not in jobs with a secret, or that ranks come back into; a card's own packets have no rate.

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

pub(crate) use self::address::{CardAddress, from_env};
pub use self::error::CardError;
pub(crate) use self::job::Cards;
#[cfg(not(feature = "smartnic"))]
pub(crate) use self::open::CardPlane;
pub(crate) use self::open::OpenCard;
#[cfg(feature = "smartnic")]
pub(crate) use self::plane::CardPlane;
