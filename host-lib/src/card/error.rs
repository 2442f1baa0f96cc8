//! Errors of a card, or of a job with cards.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use thiserror::Error;

/// A card cannot be used, or not in this job. Errors of the job are the same on all ranks.
///
/// In errors of a card `address` is the configured card, `given` its configured and `found` its
/// actual network address. In errors of the job `found` is the address of `rank`.
#[allow(missing_docs)] // described above and by the messages
#[derive(Debug, Error)]
#[allow(dead_code, reason = "the features decide which occur")]
pub enum CardError {
    #[error(
        "card {address}: this program was built without the feature `smartnic` of the crate optireduce; build it with the feature, \
         or run the rank without the card (unset OPTIREDUCE_CARD)"
    )]
    NotBuilt { address: String },
    #[error("{0}")]
    Driver(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[error(
        "card {address}: it has no address on the network (its LOCAL_IP or UDP_PORT is 0), so other ranks cannot reach it; set \
         a free address of the card's network in `card` (OPTIREDUCE_CARD, --card), for instance {address},address=10.0.0.2, or \
         serve a simulated card with an address: `optireduce-sim serve --network udp:ADDRESS`"
    )]
    NoAddress { address: String },
    #[error(
        "card {address}: it is at {found}, as set by its server, but the address in `card` is {given}; leave out the \
         address, or serve the card at {given}"
    )]
    OtherAddress { address: String, found: SocketAddr, given: SocketAddr },
    #[error(
        "card {address}: the address in `card` is {given}, which belongs to an interface of this host; choose a free address of the card's network, \
         which the card does not share with its host"
    )]
    HostsAddress { address: String, given: SocketAddr },
    #[error("OPTIREDUCE_CARD_STATS is {}, expected an existing folder: create it (mkdir), or unset the variable", folder.display())]
    Stats { folder: PathBuf },
    #[error(
        "ranks {first} and {second} are both at {address}, expected different addresses: in a job with cards all ranks receive at \
         the cards' UDP port, {port}; choose another `interface` for a rank without a card, or another address for a card (in `card`, or its server)"
    )]
    SameAddress { first: usize, second: usize, address: IpAddr, port: u16 },
    #[error(
        "rank {rank} is at {found}, expected an IPv4 address: rank {card} has a card, which supports IPv4 only; choose one by `interface`"
    )]
    NotIpv4 {
        rank: usize,
        found: IpAddr,
        /// First rank with a card.
        card: usize,
    },
    #[error(
        "rank {rank} is at {found}, which only its own host reaches, but rank {other} is at {address}: in a job with cards both need \
         addresses of one network; set `interface` for ranks without a card, and serve cards with `--network udp:ADDRESS`"
    )]
    Loopback {
        rank: usize,
        found: IpAddr,
        /// First rank that is not on loopback.
        other: usize,
        address: IpAddr,
    },
    /// Cards send to the port at which they receive, so all need the same one.
    #[error(
        "the card of rank {rank} is at {found}, expected UDP port {expected} like the card of rank {first}: all cards of a job \
         use the same port; set the address {0}:{expected} in `card` for a board, or serve a simulated card with `--network udp:{0}:{expected}`", found.ip()
    )]
    Port {
        rank: usize,
        found: SocketAddr,
        /// First rank with a card.
        first: usize,
        expected: u16,
    },
    #[error("a job of {ranks} ranks, expected at most {max}, the limit of the card of rank {rank}")]
    Ranks {
        ranks: usize,
        /// First rank whose card is too small.
        rank: usize,
        max: usize,
    },
}
