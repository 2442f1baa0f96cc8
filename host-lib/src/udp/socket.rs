//! UDP socket, with segmentation offload if the kernel supports it.

use std::io::{self, IoSlice, IoSliceMut};
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;
use std::sync::Arc;

use nix::sys::socket::{ControlMessage, MsgFlags, SockaddrStorage, sendmsg, setsockopt, sockopt};
use quinn_udp::{BATCH_SIZE, EcnCodepoint, RecvMeta, Transmit, UdpSocketState};
use rustix::net::sockopt::{set_ip_recvtos, set_ip_tos, set_ipv6_recvtclass};
use socket2::{Domain, Protocol, Type};

use super::unsent::Refusal;

/// Requested; the kernel may limit it (`net.core.rmem_max`).
const BUFFER_BYTES: usize = 8 << 20;
/// Largest datagram or coalesced batch that the kernel returns.
const RECEIVE_BYTES: usize = 1 << 16;

/// Most pieces in one call: header and payload of each datagram of a batch.
pub(super) const PIECES_MAX: usize = 128;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sent {
    All,
    /// The socket is full; the caller may retry.
    NotYet,
    /// The kernel refused some, which are lost. `refusal`: the last cause.
    Refused {
        refusal: Refusal,
        datagrams: u64,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Received {
    Nothing,
    /// The socket is empty now.
    Some,
    /// The socket may hold more.
    Full,
}

pub(super) struct Socket {
    reads_marks: bool,
    outlet: Arc<Outlet>,
    buffers: Vec<Vec<u8>>,
    receive_buffer_bytes: usize,
}

/// Sending half of a socket, for any thread.
pub(super) struct Outlet {
    socket: UdpSocket,
    state: UdpSocketState,
}

impl Socket {
    /// Binds a socket; port 0 selects a free one.
    pub fn bind(address: SocketAddr) -> io::Result<Self> {
        let socket = socket2::Socket::new(Domain::for_address(address), Type::DGRAM, Some(Protocol::UDP))?;
        // Root may exceed the limit; other users receive at most the limit.
        if rustix::net::sockopt::set_socket_recv_buffer_size_force(&socket, BUFFER_BYTES).is_err() {
            socket.set_recv_buffer_size(BUFFER_BYTES)?;
        }
        socket.set_send_buffer_size(BUFFER_BYTES)?;
        socket.bind(&address.into())?;
        let receive_buffer_bytes = socket.recv_buffer_size()?;
        let socket = UdpSocket::from(socket);
        let state = UdpSocketState::new((&socket).into())?;
        tell_no_more(&socket);
        understand_marks(&socket, address);
        let buffers = vec![vec![0; RECEIVE_BYTES]; BATCH_SIZE.min(8)];
        Ok(Self { reads_marks: false, outlet: Arc::new(Outlet { socket, state }), buffers, receive_buffer_bytes })
    }

    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.outlet.socket.local_addr()
    }

    pub fn outlet(&self) -> &Arc<Outlet> {
        &self.outlet
    }

    pub fn receive_buffer_bytes(&self) -> usize {
        self.receive_buffer_bytes
    }

    /// Makes the kernel report ECN marks from now on, which costs time for each datagram.
    pub fn read_marks(&mut self) {
        if !std::mem::replace(&mut self.reads_marks, true) {
            // Without marks, congestion control uses losses only.
            let _ = set_ip_recvtos(&self.outlet.socket, true);
            let _ = set_ipv6_recvtclass(&self.outlet.socket, true);
        }
    }

    /// Passes the datagrams of one call to `take`, with source address and ECN mark (`false` before
    /// [`read_marks`](Self::read_marks)).
    pub fn receive(&mut self, mut take: impl FnMut(SocketAddr, &mut [u8], bool)) -> io::Result<Received> {
        let mut metas = [RecvMeta::default(); BATCH_SIZE];
        let mut slices: Vec<IoSliceMut<'_>> = self.buffers.iter_mut().map(|buffer| IoSliceMut::new(buffer)).collect();
        let metas = &mut metas[..slices.len()];
        let Outlet { socket, state } = &*self.outlet;
        let count = match state.recv(socket.into(), &mut slices, metas) {
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(Received::Nothing),
            // An earlier send failed. It was counted then, or its peer has gone and stays silent.
            Err(error) if Refusal::of(&error).is_some() => return Ok(Received::Nothing),
            Err(error) => return Err(error),
        };
        for (meta, buffer) in metas.iter().zip(&mut self.buffers).take(count) {
            for datagram in buffer[..meta.len].chunks_mut(meta.stride.max(1)) {
                take(meta.addr, datagram, meta.ecn == Some(EcnCodepoint::Ce));
            }
        }
        Ok(match count {
            0 => Received::Nothing,
            _ if count < self.buffers.len() => Received::Some,
            _ => Received::Full,
        })
    }
}

impl Outlet {
    pub fn segments_max(&self) -> usize {
        self.state.max_gso_segments()
    }

    /// Like [`send`](Self::send), from pieces of memory. Returns whether the kernel accepted them;
    /// if not, [`send`](Self::send) reports the cause.
    pub fn send_slices<'a>(
        &self,
        to: SocketAddr,
        slices: impl Iterator<Item = &'a [u8]>,
        segment_bytes: usize,
        segments: usize,
    ) -> bool {
        let mut pieces = [IoSlice::new(&[]); PIECES_MAX];
        let mut count = 0;
        for slice in slices {
            let Some(piece) = pieces.get_mut(count) else { return false };
            *piece = IoSlice::new(slice);
            count += 1;
        }
        let Ok(segment_bytes) = u16::try_from(segment_bytes) else { return false };
        let segmented = [ControlMessage::UdpGsoSegments(&segment_bytes)];
        let control = if segments > 1 { &segmented[..] } else { &[] };
        let to = SockaddrStorage::from(to);
        sendmsg(self.socket.as_raw_fd(), &pieces[..count], control, MsgFlags::empty(), Some(&to)).is_ok()
    }

    /// Sends datagrams of `segment_bytes` bytes, the last perhaps shorter. Returns errors that
    /// persist on a retry.
    pub fn send(&self, to: SocketAddr, datagrams: &[u8], segment_bytes: usize) -> io::Result<Sent> {
        let transmit = |contents, segment_size| Transmit {
            destination: to,
            ecn: Some(EcnCodepoint::Ect0),
            contents,
            segment_size,
            src_ip: None,
        };
        let sent = self.state.try_send((&self.socket).into(), &transmit(datagrams, Some(segment_bytes)));
        let Err(error) = sent else { return Ok(Sent::All) };
        if error.kind() == io::ErrorKind::WouldBlock {
            return Ok(Sent::NotYet);
        }
        let count = datagrams.len().div_ceil(segment_bytes.max(1)) as u64;
        if count <= 1 || self.segments_max() > 1 {
            return Refusal::of(&error).map(|refusal| Sent::Refused { refusal, datagrams: count }).ok_or(error);
        }
        // The kernel refused segmentation, and `state` remembers it.
        let mut last = None;
        for datagram in datagrams.chunks(segment_bytes) {
            let Err(error) = self.state.try_send((&self.socket).into(), &transmit(datagram, None)) else { continue };
            let full = error.kind() == io::ErrorKind::WouldBlock;
            let refusal = if full { Refusal::NoBuffers } else { Refusal::of(&error).ok_or(error)? };
            let before = last.map_or(0, |(_, datagrams)| datagrams);
            last = Some((refusal, before + 1));
        }
        Ok(last.map_or(Sent::All, |(refusal, datagrams)| Sent::Refused { refusal, datagrams }))
    }
}

/// Turns off options of `quinn_udp` that cost time for each datagram: destination address and,
/// until [`Socket::read_marks`], type of service. A kernel that ignores this does no harm.
fn tell_no_more(socket: &UdpSocket) {
    let _ = setsockopt(socket, sockopt::Ipv4PacketInfo, &false);
    let _ = setsockopt(socket, sockopt::Ipv6RecvPacketInfo, &false);
    let _ = set_ip_recvtos(socket, false);
    let _ = set_ipv6_recvtclass(socket, false);
}

/// Allows switches to mark datagrams instead of dropping them (ECT(0), RFC 3168).
fn understand_marks(socket: &UdpSocket, address: SocketAddr) {
    let ect0 = EcnCodepoint::Ect0 as u8;
    let _ = match address {
        SocketAddr::V4(_) => set_ip_tos(socket, ect0).map_err(|_| ()),
        SocketAddr::V6(_) => setsockopt(socket, sockopt::Ipv6TClass, &ect0.into()).map_err(|_| ()),
    };
}

impl std::os::fd::AsFd for Outlet {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
