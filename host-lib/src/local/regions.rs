//! Memory ([`Buffer`](crate::Buffer)) of other ranks of this host that this rank reads in place.
//!
//! Files arrive over the Unix socket before the first datagram from their memory
//! ([`lending`](super::lending)), and are numbered in order of arrival.
//!
//! Trust: a file is mapped read-only, and only if it can neither shrink nor lose pages
//! ([`PeerSegment`]). Each payload's bounds are checked. A peer that changes a sent payload
//! corrupts its own packets only.

use std::collections::BTreeMap;
use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;

use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, recvmsg};
use thiserror::Error;

use super::segment::PeerSegment;

/// Most regions that a rank shares with one peer.
pub(super) const REGIONS_MAX: usize = 64;
const MESSAGES_A_TURN: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub(super) enum Unreadable {
    #[error("a payload is in region {region}, which was refused, freed or not received")]
    Unknown { region: u64 },
    #[error("a payload of {bytes} bytes begins at word {word} of region {region}, which has {words} words")]
    Outside { region: u64, word: u64, bytes: usize, words: usize },
}

#[derive(Debug, Default)]
pub(super) struct Regions {
    come: u64,
    open: BTreeMap<u64, PeerSegment>,
}

impl Regions {
    /// Reads wake-ups and files. Returns `false` if the peer has closed the socket. Fails if the
    /// connection failed or a file was lost.
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
                    "a file of the peer's memory was lost: does this process have too many open files?",
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

    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.open.len()
    }

    fn open(&mut self, file: &OwnedFd) {
        let region = self.come;
        self.come += 1;
        if self.open.len() >= REGIONS_MAX {
            return tracing::debug!(region, "a peer shares more regions than allowed");
        }
        match PeerSegment::open_any(file) {
            Ok(segment) => drop(self.open.insert(region, segment)),
            Err(error) => tracing::debug!(region, %error, "a region was refused"),
        }
    }
}

pub(super) struct Opened<'a> {
    pub regions: &'a mut Regions,
    pub socket: &'a OwnedFd,
}

impl Opened<'_> {
    /// Fills `payload` from `word` of a region on.
    pub fn read(&mut self, region: u64, word: u64, payload: &mut [u8]) -> Result<(), Unreadable> {
        let Self { regions, socket } = self;
        if region >= regions.come {
            // A closed connection is detected by `Local::answer`.
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

    pub fn free(&mut self, region: u64) {
        if region >= self.regions.come {
            let _ = self.regions.take(self.socket);
        }
        self.regions.open.remove(&region);
    }
}
