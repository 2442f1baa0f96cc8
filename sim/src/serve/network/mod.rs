//! Networks for the network port of a served card.
//!
//! | | network | reachable peers |
//! |---|---|---|
//! | `udp.rs` | a UDP socket of this host | this host and its networks; no privileges |
//! | `hub.rs` | a switch on a Unix socket | served cards of all processes; no privileges |
//! | `device.rs` | a TUN or TAP device | all hosts that the kernel routes to |
//!
//! Frames begin with the Ethernet header and have no check sequence. [`Loss`] drops packets.

mod device;
mod hub;
mod udp;

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};

use optireduce_contract::packet::{HEADER_BYTES, UBT_BYTES, UDP_PORT_DEFAULT};
use optireduce_contract::signs::splitmix64;

use self::device::{DeviceLink, Layer};
use self::hub::HubLink;
use self::udp::UdpLink;
use crate::network::unit;

const LOWER_BYTES: usize = HEADER_BYTES - UBT_BYTES;
/// Without privileges the kernel limits buffers to `net.core.rmem_max`.
const BUFFER_BYTES: usize = 8 << 20;
const FRAME_BYTES_MAX: usize = 1 << 16;
/// First address of cards on a hub, by default.
const HUB_FIRST: Ipv4Addr = Ipv4Addr::new(10, 79, 0, 1);

const EXPECTED: &str = "expected udp:ADDRESS[:PORT], hub:PATH[,ADDRESS[:PORT]], tun:NAME,ADDRESS[:PORT] or tap:NAME[,ADDRESS[:PORT]], \
                        for instance udp:127.0.0.2, hub:/tmp/hub.sock or tun:or0,10.80.0.2";

/// Network of a card, as on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NetworkArg {
    /// UDP socket with this address.
    Udp(SocketAddrV4),
    /// Hub at this Unix socket, with an address or the first free one.
    Hub(PathBuf, Option<SocketAddrV4>),
    /// TUN device and address.
    Tun(String, SocketAddrV4),
    /// TAP device, with an address or without one; the driver then sets it.
    Tap(String, Option<SocketAddrV4>),
}

impl FromStr for NetworkArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let of_device = |rest: &str| {
            let (name, address) = match rest.split_once(',') {
                Some((name, address)) => (name, Some(address)),
                None => (rest, None),
            };
            if !is_interface(name) {
                return Err(format!(
                    "{name:?} is not a name of a network interface: 1 to 15 characters, no space, '/' or ':'; {EXPECTED}"
                ));
            }
            Ok((name.to_owned(), address.map(address_of).transpose()?))
        };
        match text.split_once(':') {
            Some(("udp", rest)) => Ok(Self::Udp(address_of(rest)?)),
            Some(("tun", rest)) => match of_device(rest)? {
                (name, Some(address)) => Ok(Self::Tun(name, address)),
                (_, None) => Err(format!("found {text:?}, without the card's address; {EXPECTED}")),
            },
            Some(("tap", rest)) => of_device(rest).map(|(name, address)| Self::Tap(name, address)),
            Some(("hub", rest)) if !rest.is_empty() && !rest.starts_with(',') => match rest.rsplit_once(',') {
                Some((path, address)) => Ok(Self::Hub(path.into(), Some(address_of(address)?))),
                None => Ok(Self::Hub(rest.into(), None)),
            },
            _ => Err(format!("found {text:?}; {EXPECTED}")),
        }
    }
}

/// The port is optional.
fn address_of(text: &str) -> Result<SocketAddrV4, String> {
    let with_port = || text.parse::<Ipv4Addr>().map(|ip| SocketAddrV4::new(ip, UDP_PORT_DEFAULT));
    let found = text.parse::<SocketAddrV4>().or_else(|_| with_port());
    let found = found.map_err(|_| format!("{text:?} is not an IPv4 address; {EXPECTED}"))?;
    let is_one = !found.ip().is_unspecified() && !found.ip().is_multicast() && found.port() != 0;
    if is_one { Ok(found) } else { Err(format!("{found} is not the address of a host; {EXPECTED}")) }
}

/// The kernel's rule.
fn is_interface(name: &str) -> bool {
    (1..16).contains(&name.len())
        && ![".", ".."].contains(&name)
        && name.bytes().all(|byte| byte.is_ascii_graphic() && !b"/:%".contains(&byte))
}

fn address_after(first: SocketAddrV4, card: usize) -> io::Result<SocketAddrV4> {
    let bits = u32::try_from(card).ok().and_then(|card| first.ip().to_bits().checked_add(card));
    let ip = bits.map(Ipv4Addr::from_bits).filter(|ip| !ip.is_multicast() && !ip.is_broadcast());
    ip.map(|ip| SocketAddrV4::new(ip, first.port())).ok_or_else(|| {
        io::Error::new(io::ErrorKind::InvalidInput, format!("{first} leaves no address for card {card}"))
    })
}

/// Random packet loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loss {
    /// 0 to 1.
    pub probability: f64,
    /// Each direction has its own sequence.
    pub seed: u64,
}

impl Loss {
    fn hits(&self, direction: u64, number: u64) -> bool {
        unit(splitmix64(splitmix64(self.seed ^ direction) ^ number)) < self.probability
    }
}

pub(super) struct Port {
    link: Link,
    address: Option<SocketAddrV4>,
    loss: Loss,
    /// Packets from and to the card, including lost ones.
    counts: [AtomicU64; 2],
}

enum Link {
    Udp(UdpLink),
    Hub(HubLink),
    Device(DeviceLink),
}

fn behind(
    name: &str,
    layer: Layer,
    addresses: Vec<Option<SocketAddrV4>>,
) -> io::Result<Vec<(Link, Option<SocketAddrV4>)>> {
    let links = DeviceLink::open_all(name, layer, &addresses)?;
    Ok(links.into_iter().map(Link::Device).zip(addresses).collect())
}

impl Port {
    /// Opens ports with consecutive addresses and independent losses.
    pub fn open_all(network: &NetworkArg, cards: usize, loss: Loss) -> io::Result<Vec<Self>> {
        let addresses = |first| (0..cards).map(move |card| address_after(first, card)).collect::<io::Result<Vec<_>>>();
        let at = |(link, address)| (link, Some(address));
        let links: Vec<(Link, Option<SocketAddrV4>)> = match network {
            NetworkArg::Udp(first) => {
                let open = |address| Ok((Link::Udp(UdpLink::open(address)?), address));
                addresses(*first)?.into_iter().map(|address| open(address).map(at)).collect::<io::Result<_>>()?
            }
            NetworkArg::Hub(path, Some(first)) => {
                let join = |address| Ok((Link::Hub(HubLink::join(path, address)?), address));
                addresses(*first)?.into_iter().map(|address| join(address).map(at)).collect::<io::Result<_>>()?
            }
            NetworkArg::Hub(path, None) => {
                (0..cards).map(|_| join_anywhere(path).map(at)).collect::<io::Result<_>>()?
            }
            NetworkArg::Tun(name, first) => {
                behind(name, Layer::L3, addresses(*first)?.into_iter().map(Some).collect())?
            }
            NetworkArg::Tap(name, Some(first)) => {
                behind(name, Layer::L2, addresses(*first)?.into_iter().map(Some).collect())?
            }
            NetworkArg::Tap(name, None) => behind(name, Layer::L2, vec![None; cards])?,
        };
        let port = |(card, (link, address))| {
            let loss = Loss { seed: loss.seed.wrapping_add(card as u64), ..loss };
            Self { link, address, loss, counts: [0, 0].map(AtomicU64::new) }
        };
        Ok(links.into_iter().enumerate().map(port).collect())
    }

    pub fn address(&self) -> Option<SocketAddrV4> {
        self.address
    }

    /// Failed sends are lost, as on a wire.
    pub fn send(&self, frame: &[u8]) {
        if self.loses(0) {
            return;
        }
        match &self.link {
            Link::Udp(link) => link.send(frame),
            Link::Hub(link) => link.send(frame),
            Link::Device(link) => link.send(frame),
        }
    }

    pub fn reset(&self) {
        if let Link::Device(link) = &self.link {
            link.reset();
        }
    }

    /// Waits for a frame. `buffer` is scratch space.
    pub fn receive(&self, buffer: &mut Vec<u8>) -> io::Result<Vec<u8>> {
        buffer.resize(FRAME_BYTES_MAX, 0);
        loop {
            let frame = match &self.link {
                Link::Udp(link) => link.receive(buffer)?,
                Link::Hub(link) => link.receive(buffer)?,
                Link::Device(link) => link.receive()?,
            };
            if !self.loses(1) {
                return Ok(frame);
            }
        }
    }

    /// Counts a packet. Returns whether it is lost.
    fn loses(&self, direction: usize) -> bool {
        let number = self.counts[direction].fetch_add(1, Ordering::Relaxed);
        self.loss.hits(direction as u64, number)
    }
}

fn join_anywhere(path: &Path) -> io::Result<(Link, SocketAddrV4)> {
    for card in 0..254 {
        let address = address_after(SocketAddrV4::new(HUB_FIRST, UDP_PORT_DEFAULT), card)?;
        match HubLink::join(path, address) {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {}
            joined => return Ok((Link::Hub(joined?), address)),
        }
    }
    Err(io::Error::new(io::ErrorKind::AddrInUse, format!("no address from {HUB_FIRST} on is free")))
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use optireduce_contract::packet::{Endpoint, UbtHeader, write_header, write_udp_checksum};

    use super::*;

    const LOSSLESS: Loss = Loss { probability: 0.0, seed: 0 };

    fn at(ip: [u8; 4], port: u16) -> SocketAddrV4 {
        SocketAddrV4::new(ip.into(), port)
    }

    fn packet([from, to]: [[u8; 4]; 2], port: u16) -> Vec<u8> {
        let mut header = [0; HEADER_BYTES];
        let ubt = UbtHeader { bucket: 7, ..UbtHeader::default() };
        write_header(&mut header, Endpoint::of_ip(from), Endpoint::of_ip(to), port, &ubt, 128);
        let mut frame = [&header[..], &(0..128).collect::<Vec<u8>>()].concat();
        write_udp_checksum(&mut frame);
        frame
    }

    #[test]
    fn a_network_is_said_in_four_ways_and_no_other() {
        assert_eq!("udp:127.0.0.2".parse(), Ok(NetworkArg::Udp(at([127, 0, 0, 2], UDP_PORT_DEFAULT))));
        assert_eq!("udp:10.0.0.1:7".parse(), Ok(NetworkArg::Udp(at([10, 0, 0, 1], 7))));
        assert_eq!("hub:/tmp/hub".parse(), Ok(NetworkArg::Hub("/tmp/hub".into(), None)));
        assert_eq!(
            "hub:/tmp/a,b,10.0.0.1".parse(),
            Ok(NetworkArg::Hub("/tmp/a,b".into(), Some(at([10, 0, 0, 1], UDP_PORT_DEFAULT))))
        );
        assert_eq!("tun:or0,10.0.0.1:9".parse(), Ok(NetworkArg::Tun("or0".into(), at([10, 0, 0, 1], 9))));
        assert_eq!("tap:or0,10.0.0.1:9".parse(), Ok(NetworkArg::Tap("or0".into(), Some(at([10, 0, 0, 1], 9)))));
        assert_eq!("tap:or0".parse(), Ok(NetworkArg::Tap("or0".into(), None)));
        for (text, part) in [
            ("udp:0.0.0.0", "is not the address of a host"),
            ("udp:1.2.3.4:0", "is not the address of a host"),
            ("udp:::1", "not an IPv4 address"),
            ("tun:or0", "without the card's address"),
            ("tun:or0,here", "\"here\" is not an IPv4 address"),
            ("tap:an-interface-with-a-long-name,10.0.0.1", "not a name of a network interface"),
            ("tun:a/b,10.0.0.1", "not a name of a network interface"),
            ("hub:", "expected udp:ADDRESS"),
            ("hub:,10.0.0.1", "expected udp:ADDRESS"),
            ("hub:/tmp/hub,x", "\"x\" is not an IPv4 address"),
            ("eth0", "expected udp:ADDRESS"),
        ] {
            let error = text.parse::<NetworkArg>().unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn addresses_of_several_cards_follow_one_another() {
        assert_eq!(address_after(at([10, 0, 0, 255], 7), 2).unwrap(), at([10, 0, 1, 1], 7));
        for (first, card) in [([255; 4], 1), ([223, 255, 255, 255], 1), ([255, 255, 255, 254], 1)] {
            let error = address_after(at(first, 7), card).unwrap_err().to_string();
            assert!(error.contains("leaves no address for card 1"), "{error}");
        }
    }

    #[test]
    fn as_many_packets_are_lost_as_asked_for_and_others_with_another_seed() {
        let lost = |probability, seed, direction| {
            let loss = Loss { probability, seed };
            (0..100_000).filter(|number| loss.hits(direction, *number)).collect::<Vec<_>>()
        };
        assert_eq!([lost(0.0, 1, 0).len(), lost(1.0, 1, 0).len()], [0, 100_000]);
        let some = lost(0.01, 1, 0);
        assert!((800..1200).contains(&some.len()), "{}", some.len());
        assert_eq!(some, lost(0.01, 1, 0));
        assert!(some != lost(0.01, 2, 0) && some != lost(0.01, 1, 1));
    }

    #[test]
    fn what_a_card_sends_by_udp_arrives_at_another_as_it_was() {
        let number = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let ports = Port::open_all(&NetworkArg::Udp(at([127, 88, 0, 2], number)), 2, LOSSLESS).unwrap();
        let frame = packet([[127, 88, 0, 2], [127, 88, 0, 3]], number);
        // Neither of these leaves.
        let mut flipped = frame.clone();
        flipped[HEADER_BYTES + 3] ^= 1;
        ports[0].send(&flipped);
        ports[0].send(&frame[..HEADER_BYTES]);
        ports[0].send(&frame);
        assert_eq!(ports[1].receive(&mut Vec::new()).unwrap(), frame);
    }
}
