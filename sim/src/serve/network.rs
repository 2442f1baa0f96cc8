//! What a served card's network port is connected to: a UDP socket of this host.
//!
//! Frames that the card sends become datagrams, if a kernel would take them; datagrams that come to the card's address become frames. So
//! served cards and ranks without cards exchange packets through the kernel's network stack, without privileges.
//! A network that loses packets can be asked for ([`Loss`]).
//! Limits: the kernel writes the headers of what leaves, the card's own are only checked; nothing but UDP to the card's port arrives.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, UdpSocket};
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use optireduce_contract::packet::{
    Endpoint, HEADER_BYTES, UBT_BYTES, UDP_PORT_DEFAULT, UbtHeader, frame, read_frame, udp_checksum_holds,
    write_header, write_udp_checksum,
};
use optireduce_contract::signs::splitmix64;
use rustix::net::sockopt::{set_socket_recv_buffer_size, set_socket_recv_buffer_size_force};

use crate::network::unit;

/// Bytes of a frame before its datagram.
const LOWER_BYTES: usize = HEADER_BYTES - UBT_BYTES;
/// What the socket asks the kernel to buffer; without privileges it grants less (`net.core.rmem_max`).
const BUFFER_BYTES: usize = 8 << 20;
/// Largest datagram.
const DATAGRAM_BYTES_MAX: usize = 1 << 16;

/// Where a card's network port is to be connected to, as the command line says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetworkArg(SocketAddrV4);

impl FromStr for NetworkArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = "expected udp:ADDRESS or udp:ADDRESS:PORT, for instance udp:127.0.0.2";
        match text.split_once(':') {
            Some(("udp", address)) => {
                let with_port = || address.parse::<Ipv4Addr>().map(|ip| SocketAddrV4::new(ip, UDP_PORT_DEFAULT));
                let found = address.parse::<SocketAddrV4>().or_else(|_| with_port());
                let found = found.map_err(|_| format!("{address:?} is no IPv4 address; {expected}"))?;
                let is_one = !found.ip().is_unspecified() && !found.ip().is_multicast() && found.port() != 0;
                if is_one { Ok(Self(found)) } else { Err(format!("{found} is nobody's address; {expected}")) }
            }
            Some((kind @ ("tun" | "hub"), _)) => Err(format!("{kind}: is not there yet; {expected}")),
            _ => Err(format!("found {text:?}; {expected}")),
        }
    }
}

/// Packets that the network is to lose, of those that leave the card and of those that come to it, each on its own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loss {
    /// Probability, 0 to 1.
    pub probability: f64,
    /// Which packets they are, counted in each direction.
    pub seed: u64,
}

impl Loss {
    /// Whether packet `number` of a direction is lost.
    fn hits(&self, direction: u64, number: u64) -> bool {
        unit(splitmix64(splitmix64(self.seed ^ direction) ^ number)) < self.probability
    }
}

/// The network port of a card.
pub(super) struct Port {
    socket: UdpSocket,
    address: SocketAddrV4,
    loss: Loss,
    /// Packets so far, those that were lost among them: away from the card, and to it.
    counts: [AtomicU64; 2],
    /// Whether it was said that something does not leave.
    warned: AtomicBool,
}

impl Port {
    /// Binds the card's address on this host.
    pub fn open(NetworkArg(address): NetworkArg, loss: Loss) -> io::Result<Self> {
        let socket = UdpSocket::bind(address)?;
        // Root may pass the limit; others get what there is.
        set_socket_recv_buffer_size_force(&socket, BUFFER_BYTES)
            .or_else(|_| set_socket_recv_buffer_size(&socket, BUFFER_BYTES))?;
        let counts = [0, 0].map(AtomicU64::new);
        Ok(Self { socket, address, loss, counts, warned: AtomicBool::new(false) })
    }

    /// The card's address.
    pub fn address(&self) -> SocketAddrV4 {
        self.address
    }

    /// Sends a frame of the card, if a kernel would take it and the network does. What does not leave is lost, as on a wire.
    pub fn send(&self, frame: &[u8]) {
        let Some((to, datagram)) = unframed(frame, self.address.port()) else {
            if !self.warned.swap(true, Ordering::Relaxed) {
                let port = self.address.port();
                tracing::warn!(port, "the card sends what is no packet from its own UDP port; it does not leave");
            }
            return;
        };
        if self.loses(0) {
            return;
        }
        if let Err(error) = self.socket.send_to(datagram, to) {
            tracing::debug!(%to, %error, "a packet of the card is lost");
        }
    }

    /// Waits for a datagram to the card, as the frame that a switch would give it. `buffer`: any, kept for the next call.
    ///
    /// # Errors
    /// If the socket fails.
    pub fn receive(&self, buffer: &mut Vec<u8>) -> io::Result<Vec<u8>> {
        buffer.resize(DATAGRAM_BYTES_MAX, 0);
        loop {
            match self.socket.recv_from(buffer) {
                Ok((bytes, SocketAddr::V4(from))) if bytes >= UBT_BYTES => {
                    if self.loses(1) {
                        continue;
                    }
                    return Ok(self.framed(from, &buffer[..bytes]));
                }
                // Nothing that a card could make sense of.
                Ok(_) => {}
                // The outcome of an earlier send.
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Whether the next packet of a direction is lost.
    fn loses(&self, direction: usize) -> bool {
        let number = self.counts[direction].fetch_add(1, Ordering::Relaxed);
        self.loss.hits(direction as u64, number)
    }

    fn framed(&self, from: SocketAddrV4, datagram: &[u8]) -> Vec<u8> {
        let mut header = [0; HEADER_BYTES];
        let [source, own] = [from, self.address].map(|address| Endpoint::of_ip(address.ip().octets()));
        let payload_bytes = datagram.len() - UBT_BYTES;
        write_header(&mut header, source, own, self.address.port(), &UbtHeader::default(), payload_bytes);
        header[frame::UDP_SRC.offset..frame::UDP_SRC.end()].copy_from_slice(&from.port().to_be_bytes());
        let mut frame = [&header[..LOWER_BYTES], datagram].concat();
        write_udp_checksum(&mut frame);
        frame
    }
}

/// For whom a frame is, and its datagram, if its lengths agree, its checksum is right, and it goes from `port` to `port`.
fn unframed(frame: &[u8], port: u16) -> Option<(SocketAddrV4, &[u8])> {
    let header: &[u8; HEADER_BYTES] = frame.first_chunk()?;
    let source = &header[frame::UDP_SRC.offset..frame::UDP_SRC.end()];
    let is_whole =
        udp_checksum_holds(frame) && read_frame(header, frame.len(), port).is_ok() && source == port.to_be_bytes();
    let ip: [u8; 4] = *header[frame::IP_DST.offset..].first_chunk()?;
    is_whole.then(|| (SocketAddrV4::new(ip.into(), port), &frame[LOWER_BYTES..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_is_an_address_of_this_host_and_nothing_else() {
        assert_eq!("udp:127.0.0.2".parse(), Ok(NetworkArg(SocketAddrV4::new([127, 0, 0, 2].into(), UDP_PORT_DEFAULT))));
        assert_eq!("udp:10.0.0.1:7".parse(), Ok(NetworkArg(SocketAddrV4::new([10, 0, 0, 1].into(), 7))));
        for (text, part) in [
            ("udp:0.0.0.0", "nobody's"),
            ("udp:1.2.3.4:0", "nobody's"),
            ("udp:::1", "no IPv4 address"),
            ("tun:or0,10.0.0.1", "not there yet"),
            ("hub:/tmp/hub", "not there yet"),
            ("eth0", "expected udp:ADDRESS"),
        ] {
            let error = text.parse::<NetworkArg>().unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
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
    fn what_a_card_sends_arrives_at_another_as_it_was() {
        let number = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let address = |host| NetworkArg(SocketAddrV4::new([127, 88, 0, host].into(), number));
        let ports = [2, 3].map(|host| Port::open(address(host), Loss { probability: 0.0, seed: 0 }).unwrap());
        let mut frame = vec![0; HEADER_BYTES + 128];
        let [source, own] = [2, 3].map(|host| Endpoint::of_ip([127, 88, 0, host]));
        let mut header = [0; HEADER_BYTES];
        write_header(&mut header, source, own, number, &UbtHeader { bucket: 7, ..UbtHeader::default() }, 128);
        frame[..HEADER_BYTES].copy_from_slice(&header);
        frame[HEADER_BYTES..].iter_mut().enumerate().for_each(|(at, byte)| *byte = at as u8);
        write_udp_checksum(&mut frame);
        // Neither of these leaves.
        let mut flipped = frame.clone();
        flipped[HEADER_BYTES + 3] ^= 1;
        ports[0].send(&flipped);
        ports[0].send(&frame[..HEADER_BYTES]);
        ports[0].send(&frame);
        assert_eq!(ports[1].receive(&mut Vec::new()).unwrap(), frame);
    }
}
