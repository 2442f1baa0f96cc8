//! A UDP socket of this host.
//!
//! Valid frames of the card become datagrams, and datagrams to the card's address become frames, so
//! cards and ranks without cards exchange packets through the kernel's network stack, without
//! privileges.
//!
//! Limits: the kernel writes the headers of sent packets; the card's are only checked. Only UDP
//! packets to the card's port arrive.

use std::io;
use std::net::{SocketAddr, SocketAddrV4, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};

use optireduce_contract::packet::{
    Endpoint, HEADER_BYTES, UBT_BYTES, UbtHeader, frame, read_frame, udp_checksum_holds, write_header,
    write_udp_checksum,
};
use rustix::net::sockopt::{set_socket_recv_buffer_size, set_socket_recv_buffer_size_force};

use super::{BUFFER_BYTES, LOWER_BYTES};

pub(super) struct UdpLink {
    socket: UdpSocket,
    address: SocketAddrV4,
    warned: AtomicBool,
}

impl UdpLink {
    pub fn open(address: SocketAddrV4) -> io::Result<Self> {
        let socket =
            UdpSocket::bind(address).map_err(|error| io::Error::new(error.kind(), format!("{address}: {error}")))?;
        // Only root may exceed the limit.
        set_socket_recv_buffer_size_force(&socket, BUFFER_BYTES)
            .or_else(|_| set_socket_recv_buffer_size(&socket, BUFFER_BYTES))?;
        Ok(Self { socket, address, warned: AtomicBool::new(false) })
    }

    /// Sends a frame if its headers are valid.
    pub fn send(&self, frame: &[u8]) {
        let Some((to, datagram)) = unframed(frame, self.address.port()) else {
            if !self.warned.swap(true, Ordering::Relaxed) {
                let port = self.address.port();
                tracing::warn!(
                    port,
                    "the card sent a frame that is not a packet from its own UDP port; such frames are lost"
                );
            }
            return;
        };
        if let Err(error) = self.socket.send_to(datagram, to) {
            tracing::debug!(%to, %error, "a packet of the card is lost");
        }
    }

    pub fn receive(&self, buffer: &mut [u8]) -> io::Result<Vec<u8>> {
        loop {
            match self.socket.recv_from(buffer) {
                Ok((bytes, SocketAddr::V4(from))) if bytes >= UBT_BYTES => {
                    return Ok(self.framed(from, &buffer[..bytes]));
                }
                // Too short for a card.
                Ok(_) => {}
                // An ICMP error caused by an earlier send.
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
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

/// Returns destination and datagram of a frame with valid lengths, checksum and ports.
fn unframed(frame: &[u8], port: u16) -> Option<(SocketAddrV4, &[u8])> {
    let header: &[u8; HEADER_BYTES] = frame.first_chunk()?;
    let source = &header[frame::UDP_SRC.offset..frame::UDP_SRC.end()];
    let is_whole =
        udp_checksum_holds(frame) && read_frame(header, frame.len(), port).is_ok() && source == port.to_be_bytes();
    let ip: [u8; 4] = *header[frame::IP_DST.offset..].first_chunk()?;
    is_whole.then(|| (SocketAddrV4::new(ip.into(), port), &frame[LOWER_BYTES..]))
}
