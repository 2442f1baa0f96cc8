//! Memory of other ranks of this host that this one reads where it lies: gradients and results in memory from `alloc` ([`Buffer`](crate::Buffer)).
//!
//! How: the file of such memory comes over the Unix socket before the first datagram from it ([`lending`](super::lending)); files are numbered as they come.
//! Trust: a file is mapped to read only, and only if it can neither shrink nor lose pages ([`PeerSegment`]); where a payload begins and ends there is checked. A peer
//! that changes what it has sent spoils its own packets.
//! Limits: [`REGIONS_MAX`] of each peer.

use std::collections::BTreeMap;
use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;

use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, recvmsg};
use thiserror::Error;

use super::segment::PeerSegment;

/// Most regions that a rank gives to another.
pub(super) const REGIONS_MAX: usize = 64;
/// Messages that are taken from a socket at once.
const MESSAGES_A_TURN: usize = 64;

/// What a peer says lies where it cannot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub(super) enum Unreadable {
    #[error("a payload is in region {region}, which this rank could not open, or was told to be free")]
    Unknown { region: u64 },
    #[error("a payload of {bytes} bytes begins at word {word} of region {region}, which has {words} words")]
    Outside { region: u64, word: u64, bytes: usize, words: usize },
}

/// The regions of a peer that this rank can read.
#[derive(Debug, Default)]
pub(super) struct Regions {
    /// Files that have come.
    come: u64,
    open: BTreeMap<u64, PeerSegment>,
}

impl Regions {
    /// Takes what has come over the socket: bells, and files. Whether the peer is still there.
    ///
    /// # Errors
    /// If the connection has failed, or a file was lost.
    pub fn take(&mut self, socket: &OwnedFd) -> io::Result<bool> {
        for _ in 0..MESSAGES_A_TURN {
            let mut bytes = [0; 64];
            let mut room = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
            let mut control = RecvAncillaryBuffer::new(&mut room);
            let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
            let received = match recvmsg(socket, &mut [IoSliceMut::new(&mut bytes)], &mut control, flags) {
                Err(rustix::io::Errno::AGAIN) => return Ok(true),
                Err(rustix::io::Errno::INTR) => continue,
                received => received?,
            };
            if received.bytes == 0 {
                return Ok(false);
            }
            if received.flags.contains(ReturnFlags::CTRUNC) {
                return Err(io::Error::other(
                    "a file of the peer's memory was lost: does this process have too many files open?",
                ));
            }
            for message in control.drain() {
                if let RecvAncillaryMessage::ScmRights(files) = message {
                    files.for_each(|file| self.open(&file));
                }
            }
        }
        Ok(true)
    }

    /// How many can be read.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.open.len()
    }

    fn open(&mut self, file: &OwnedFd) {
        let region = self.come;
        self.come += 1;
        if self.open.len() >= REGIONS_MAX {
            return tracing::debug!(region, "a peer gives more regions than it may");
        }
        match PeerSegment::open_any(file) {
            Ok(segment) => drop(self.open.insert(region, segment)),
            Err(error) => tracing::debug!(region, %error, "a region is refused"),
        }
    }
}

/// The regions of a peer, and where more of them come from.
pub(super) struct Opened<'a> {
    pub regions: &'a mut Regions,
    pub socket: &'a OwnedFd,
}

impl Opened<'_> {
    /// Fills `payload` from a word of a region on.
    ///
    /// # Errors
    /// If that cannot be.
    pub fn read(&mut self, region: u64, word: u64, payload: &mut [u8]) -> Result<(), Unreadable> {
        let Self { regions, socket } = self;
        if region >= regions.come {
            // Of an end the bells tell.
            let _ = regions.take(socket);
        }
        let segment = regions.open.get(&region).ok_or(Unreadable::Unknown { region })?;
        let (words, bytes) = (segment.words(), payload.len());
        let outside = Unreadable::Outside { region, word, bytes, words: words.len() };
        let begin = usize::try_from(word).map_err(|_| outside)?;
        let end = begin.checked_add(bytes.div_ceil(size_of::<u64>())).filter(|end| *end <= words.len());
        words.slice(begin..end.ok_or(outside)?).read(payload);
        Ok(())
    }

    /// The peer does not use a region any more.
    pub fn free(&mut self, region: u64) {
        if region >= self.regions.come {
            let _ = self.regions.take(self.socket);
        }
        self.regions.open.remove(&region);
    }
}
