//! Datagrams that the kernel reads in place, on another thread than the memory's owner.
//!
//! Headers and memory that may change are copied. The rest stays in memory lent to a collective.
//!
//! Trust: no reference to lent memory is formed; only the kernel reads it.
#![allow(unsafe_code)]

use std::io;
use std::mem::{size_of, zeroed};
use std::net::SocketAddr;
use std::ops::Range;
use std::os::fd::{AsRawFd, BorrowedFd};

use nix::libc;
use nix::sys::socket::{SockaddrLike, SockaddrStorage};
use optireduce_core::software::{Datagram, Transmit};

use super::socket::PIECES_MAX;

/// Words for a control message with the datagram size.
const CONTROL_WORDS: usize = 8;

#[derive(Debug, Default)]
pub(super) struct Pieces {
    copied: Vec<u8>,
    pieces: Vec<Piece>,
}

#[derive(Debug)]
enum Piece {
    Copied(Range<usize>),
    Lent { begin: *const u8, bytes: usize },
}

// SAFETY: pointers to lent memory are only read through. Any thread may do so while the contract of
// `push_lent` holds.
unsafe impl Send for Pieces {}

impl Pieces {
    /// Keeps the memory for copies.
    pub fn clear(&mut self) {
        self.copied.clear();
        self.pieces.clear();
    }

    fn push(&mut self, bytes: &[u8]) {
        let begin = self.copied.len();
        self.copied.extend_from_slice(bytes);
        let end = self.copied.len();
        match self.pieces.last_mut() {
            Some(Piece::Copied(before)) => before.end = end,
            _ => self.pieces.push(Piece::Copied(begin..end)),
        }
    }

    /// Adds datagrams. Headers and payloads outside lent memory are copied.
    ///
    /// # Safety
    /// Lent memory of the datagrams must not be reclaimed until these pieces are cleared, kept or
    /// dropped.
    pub unsafe fn push_datagrams(&mut self, transmit: &Transmit<'_>) {
        for Datagram { header, payload, is_lent } in transmit.datagrams() {
            self.push(header);
            match is_lent {
                // SAFETY: lent memory is neither changed nor freed until it is reclaimed, which the
                // caller excludes.
                true => unsafe { self.push_lent(payload) },
                false => self.push(payload),
            }
        }
    }

    /// Replaces all pieces by the bytes that `write` leaves in a vector.
    pub fn set(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let mut whole = std::mem::take(&mut self.copied);
        self.clear();
        write(&mut whole);
        self.pieces.push(Piece::Copied(0..whole.len()));
        self.copied = whole;
    }

    /// Adds bytes without a copy.
    ///
    /// # Safety
    /// The bytes must be neither changed nor freed until these pieces are cleared, kept or dropped.
    pub(super) unsafe fn push_lent(&mut self, bytes: &[u8]) {
        self.pieces.push(Piece::Lent { begin: bytes.as_ptr(), bytes: bytes.len() });
    }

    /// Smallest range that contains all lent memory.
    pub fn lent(&self) -> Range<usize> {
        let lent = self.pieces.iter().filter_map(|piece| match piece {
            Piece::Lent { begin, bytes } => Some(begin.addr()..begin.addr() + bytes),
            Piece::Copied(_) => None,
        });
        lent.reduce(|all, one| all.start.min(one.start)..all.end.max(one.end)).unwrap_or(0..0)
    }

    /// Copies lent bytes, so that they may return to their owner.
    pub fn keep(&mut self) {
        let mut whole = Vec::new();
        self.copy_to(&mut whole);
        self.clear();
        self.push(&whole);
    }

    pub fn copy_to(&self, out: &mut Vec<u8>) {
        out.clear();
        for (begin, bytes) in self.pieces.iter().map(|piece| self.place(piece)) {
            out.reserve(bytes);
            // SAFETY: `bytes` bytes at `begin` are readable, in `copied` or by the contract of
            // `push_lent`. `out` has reserved room for them, and does not overlap them, since it is
            // borrowed exclusively.
            unsafe {
                out.as_mut_ptr().add(out.len()).copy_from_nonoverlapping(begin, bytes);
                out.set_len(out.len() + bytes);
            }
        }
    }

    fn place(&self, piece: &Piece) -> (*const u8, usize) {
        match piece {
            Piece::Copied(range) => (self.copied[range.clone()].as_ptr(), range.len()),
            Piece::Lent { begin, bytes } => (*begin, *bytes),
        }
    }

    /// Sends datagrams of `segment_bytes` bytes, the last perhaps shorter. On an error, including
    /// more than [`PIECES_MAX`] pieces, nothing was sent.
    pub fn send(&self, socket: BorrowedFd<'_>, to: SocketAddr, segment_bytes: usize) -> io::Result<()> {
        let nothing = libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 };
        let (mut vectors, mut all_bytes) = ([nothing; PIECES_MAX], 0);
        let count = self.pieces.len();
        if count > PIECES_MAX {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        for (vector, piece) in vectors.iter_mut().zip(&self.pieces) {
            let (begin, bytes) = self.place(piece);
            (vector.iov_base, vector.iov_len) = (begin.cast_mut().cast(), bytes);
            all_bytes += bytes;
        }
        let to = SockaddrStorage::from(to);
        let mut control = [0_u64; CONTROL_WORDS];
        // SAFETY: all zeros are a valid, empty `msghdr`.
        let mut message: libc::msghdr = unsafe { zeroed() };
        (message.msg_name, message.msg_namelen) = (to.as_ptr().cast_mut().cast(), to.len());
        (message.msg_iov, message.msg_iovlen) = (vectors.as_mut_ptr(), count as _);
        if all_bytes > segment_bytes {
            let segment = u16::try_from(segment_bytes).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
            const { assert!(size_of::<[u64; CONTROL_WORDS]>() >= size_of::<libc::cmsghdr>() + 16) };
            message.msg_control = control.as_mut_ptr().cast();
            // SAFETY: `control` is aligned for a `cmsghdr`, and has room for one and the two bytes
            // of a `u16` behind it.
            unsafe {
                message.msg_controllen = libc::CMSG_SPACE(size_of::<u16>() as u32) as _;
                let header = libc::CMSG_FIRSTHDR(&raw const message);
                (*header).cmsg_level = libc::SOL_UDP;
                (*header).cmsg_type = libc::UDP_SEGMENT;
                (*header).cmsg_len = libc::CMSG_LEN(size_of::<u16>() as u32) as _;
                libc::CMSG_DATA(header).cast::<u16>().write_unaligned(segment);
            }
        }
        // SAFETY: the kernel only reads what `message` refers to: an address and a control message
        // on the stack, and pieces in `copied` or by the contract of `push_lent`.
        let sent = unsafe { libc::sendmsg(socket.as_raw_fd(), &raw const message, libc::MSG_DONTWAIT) };
        if sent < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::UdpSocket;
    use std::os::fd::AsFd;

    #[test]
    fn pieces_leave_in_order_as_datagrams_of_a_length_from_where_they_lie_and_as_copies() {
        let receiver = UdpSocket::bind("127.0.0.1:0").unwrap();
        let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
        let lent: Vec<u8> = (0..200).collect();
        let mut pieces = Pieces::default();
        pieces.push(&[1, 2]);
        pieces.push(&[3]);
        // SAFETY: `lent` outlives `pieces` and is not changed.
        unsafe { pieces.push_lent(&lent[..97]) };
        pieces.push(&[4, 5, 6]);
        // SAFETY: as above.
        unsafe { pieces.push_lent(&lent[100..150]) };
        let (begin, whole) = (lent.as_ptr().addr(), [&[1, 2, 3], &lent[..97], &[4, 5, 6], &lent[100..150]].concat());
        assert_eq!(pieces.lent(), begin..begin + 150);
        for is_kept in [false, true] {
            if is_kept {
                pieces.keep();
                assert!(pieces.lent().is_empty());
            }
            let mut copied = vec![7; 3];
            pieces.copy_to(&mut copied);
            assert_eq!(copied, whole);
            let to = receiver.local_addr().unwrap();
            pieces.send(sender.as_fd(), to, 100).unwrap();
            for expected in whole.chunks(100) {
                let mut datagram = [0; 500];
                let received = receiver.recv(&mut datagram).unwrap();
                assert_eq!(&datagram[..received], expected);
            }
            pieces.send(sender.as_fd(), to, 153).unwrap();
            assert_eq!(receiver.recv(&mut [0; 500]).unwrap(), 153);
        }
        pieces.clear();
        assert_eq!(pieces.lent(), 0..0);
    }
}
