//! Why a rank's card, or a job with cards, cannot be.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use thiserror::Error;

/// A card cannot be used, or not by this job. What concerns the job is the same on all ranks.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CardError {
    /// The crate was built without the feature `smartnic`.
    #[error(
        "card {address}: this program was built without the feature `smartnic` of the crate optireduce; build it with the feature, \
         or run the rank without the card (unset OPTIREDUCE_CARD)"
    )]
    NotBuilt {
        /// What was given.
        address: String,
    },
    /// The card cannot be opened or configured; the driver says why.
    #[error("{0}")]
    Driver(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// Nobody has told the card its address on the network.
    #[error(
        "card {address}: it has no address on the network (its LOCAL_IP or UDP_PORT is 0), so no rank could send to it; give it a free \
         one of the network on its cable by `card_address` (OPTIREDUCE_CARD_ADDRESS, --card-address), for instance 10.0.0.2; a simulated \
         card may be served with one: `optireduce-sim serve --network udp:ADDRESS`"
    )]
    NoAddress {
        /// What was given.
        address: String,
    },
    /// An address is given, and no card that could have it.
    #[error(
        "`card_address` is {given}, but this rank has no card: say which by `card` (OPTIREDUCE_CARD, --card), or leave `card_address` \
         (--card-address) out"
    )]
    AddressWithoutCard {
        /// What was given.
        given: String,
    },
    /// The card has another address than it is to have.
    #[error(
        "card {address}: it is at {found}, where whoever serves it has put it, but `card_address` is {given}, where nothing would reach it; \
         leave `card_address` (OPTIREDUCE_CARD_ADDRESS) out, or serve the card at {given}"
    )]
    OtherAddress {
        /// The card.
        address: String,
        /// Where it is.
        found: SocketAddr,
        /// Where it is to be.
        given: SocketAddr,
    },
    /// The card is to have an address that this host has.
    #[error(
        "card {address}: `card_address` is {given}, which an interface of this host has; give the card another free address of the network on \
         its cable: a card answers for its address itself"
    )]
    HostsAddress {
        /// The card.
        address: String,
        /// Where it is to be.
        given: SocketAddr,
    },
    /// There is no such folder to show the card's counters in.
    #[error("OPTIREDUCE_CARD_STATS is {}, expected a folder that is there: mkdir it, or unset the variable", folder.display())]
    Stats {
        /// What was given.
        folder: PathBuf,
    },
    /// Two ranks cannot be told apart.
    #[error(
        "ranks {first} and {second} are both at {address}, expected an address for each: in a job with cards all ranks receive at \
         the cards' UDP port, {port}; give ranks without a card addresses of their own (`interface`), and cards others (`card_address`, or who serves them)"
    )]
    SameAddress {
        /// The lower rank.
        first: usize,
        /// The higher rank.
        second: usize,
        /// Their address.
        address: IpAddr,
        /// The cards' port.
        port: u16,
    },
    /// Cards send IPv4 only.
    #[error(
        "rank {rank} is at {found}, expected an IPv4 address: rank {card} has a card, which knows no others; choose one by `interface`"
    )]
    NotIpv4 {
        /// The rank.
        rank: usize,
        /// Its address.
        found: IpAddr,
        /// The first rank with a card.
        card: usize,
    },
    /// Some ranks are on loopback, which others do not reach.
    #[error(
        "rank {rank} is at {found}, which only its own host reaches, but rank {other} is at {address}: in a job with cards give both \
         addresses of one network, ranks without a card by `interface`, cards by `--network udp:ADDRESS` of who serves them"
    )]
    Loopback {
        /// The rank.
        rank: usize,
        /// Its address.
        found: IpAddr,
        /// A rank that is not on loopback.
        other: usize,
        /// That rank's address.
        address: IpAddr,
    },
    /// A card sends to one port only, at which it receives itself.
    #[error(
        "the card of rank {rank} is at {found}, expected UDP port {expected}, that of the card of rank {first}: all cards of a job \
         have the same port; give a board `card_address` {0}:{expected}, or serve a simulated card with `--network udp:{0}:{expected}`", found.ip()
    )]
    Port {
        /// The rank.
        rank: usize,
        /// Its card's address.
        found: SocketAddr,
        /// The first rank with a card.
        first: usize,
        /// That card's port.
        expected: u16,
    },
    /// The job is too large for a card.
    #[error("a job of {ranks} ranks, expected at most {max}: the card of rank {rank} takes no more")]
    Ranks {
        /// Ranks of the job.
        ranks: usize,
        /// The rank.
        rank: usize,
        /// Most ranks that its card takes.
        max: usize,
    },
}
