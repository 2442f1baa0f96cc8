//! Exchange of data in pieces.
//!
//! Why: buffers may be larger than the memory for queues, and take longer than a useful timeout. So
//! data travels in pieces, and the timeout limits the time without progress.
//! How: a pair of ranks sends one message each way in every round, up to the last piece of the
//! longer direction. A rank is at most [`WINDOW`] rounds ahead. The first message contains the
//! whole length, which is checked before memory is allocated. A rank that cannot continue sends its
//! reason to all others, which report it instead of each other. The next call skips leftovers of a
//! failed one by their kind.
//! Limits: at most 2 [`WINDOW`] pieces (8 MiB) are queued for a pair.

use std::ops::Range;
use std::time::{Duration, Instant};

use super::super::spares;
use super::super::terms::printable;
use super::{CHUNK_BYTES, ControlChannel, ControlError};
use crate::exact::Fold;
use crate::memory;

/// A multiple of all element sizes.
const PIECE_BYTES: usize = CHUNK_BYTES;
/// Maximum lead in rounds.
const WINDOW: usize = 8;
/// Size up to which the available memory is not checked.
const SMALL_BYTES: u64 = 16 << 20;

/// Kind of a message of a call; its first byte.
pub(super) mod kind {
    pub const TERMS: u8 = 0;
    /// A piece. The first one begins with the whole length (8 bytes).
    pub const PIECE: u8 = 1;
    /// All pieces were received.
    pub const TAKEN: u8 = 2;
    /// The failed rank (8 bytes) and its error.
    pub const GIVEN_UP: u8 = 3;
    /// Bit set of present ranks.
    pub const PRESENT: u8 = 4;
}

/// Receiver of the members' data. `from`: index of a member.
pub(crate) trait Sink {
    /// Called before a member's first piece.
    fn expect(&mut self, from: usize, bytes: u64) -> Result<(), ControlError>;
    /// Called for a member that is gone. Returns `false` if the call needs it.
    fn goes_on_without(&mut self, from: usize) -> bool;
    /// Called with a member's next piece, never empty. Within a round, in the order of members.
    fn take(&mut self, from: usize, piece: &[u8]);
}

struct Pair {
    rank: usize,
    sent: usize,
    is_gone: bool,
    theirs: Option<usize>,
}

impl Pair {
    fn new(rank: usize) -> Self {
        Self { rank, sent: 0, is_gone: false, theirs: None }
    }
}

impl ControlChannel {
    /// Sends `given` to each member, and passes the members' data and this rank's own to `sink`.
    /// With `None`, the pair exchanges nothing. `confirm`: waits until all have received
    /// everything.
    ///
    /// # Errors
    /// Names a member that is gone, makes no progress for `timeout`, or cannot continue.
    pub fn exchange(
        &mut self,
        members: &[usize],
        given: &[Option<&[u8]>],
        confirm: bool,
        timeout: Duration,
        sink: &mut impl Sink,
    ) -> Result<(), ControlError> {
        let moved = self.move_pieces(members, given, confirm, timeout, sink);
        moved.map_err(|error| self.give_up(members, error, timeout))
    }

    fn move_pieces(
        &mut self,
        members: &[usize],
        given: &[Option<&[u8]>],
        confirm: bool,
        timeout: Duration,
        sink: &mut impl Sink,
    ) -> Result<(), ControlError> {
        let own = self.rank();
        let mut pairs: Vec<Pair> = members.iter().map(|rank| Pair::new(*rank)).collect();
        let pieces = |bytes: usize| bytes.div_ceil(PIECE_BYTES).max(1);
        let rounds = |pair: &Pair, given: &[u8]| pieces(given.len()).max(pieces(pair.theirs.unwrap_or(0)));
        let mut round = 0;
        loop {
            for (pair, given) in pairs.iter_mut().zip(given) {
                let Some(given) = given.filter(|_| pair.rank != own && !pair.is_gone) else { continue };
                while pair.sent < rounds(pair, given).min(round + WINDOW) {
                    let length = (given.len() as u64).to_le_bytes();
                    let length = if pair.sent == 0 { length.as_slice() } else { &[] };
                    self.send_parts(pair.rank, kind::PIECE, &[length, &given[piece(pair.sent, given.len())]]);
                    pair.sent += 1;
                }
            }
            let mut is_over = true;
            for (index, (pair, given)) in pairs.iter_mut().zip(given).enumerate() {
                let Some(given) = given.filter(|_| !pair.is_gone) else { continue };
                if pair.theirs.is_some() && round >= rounds(pair, given) {
                    continue;
                }
                let mut message = Vec::new();
                let (theirs, taken) = if pair.rank == own {
                    (given.len(), &given[piece(round, given.len())])
                } else {
                    message = match self.receive_part(pair.rank, kind::PIECE, timeout) {
                        Err(error) if self.skips(&error) && sink.goes_on_without(index) => {
                            pair.is_gone = true;
                            continue;
                        }
                        received => received?,
                    };
                    let (theirs, taken) = match pair.theirs {
                        Some(theirs) => (theirs as u64, &message[1..]),
                        None => {
                            let short =
                                ControlError::WrongLength { rank: pair.rank, found: message.len(), expected: 9 };
                            let (length, piece) = message[1..].split_first_chunk().ok_or(short)?;
                            (u64::from_le_bytes(*length), piece)
                        }
                    };
                    let theirs = usize::try_from(theirs).unwrap_or(usize::MAX);
                    let expected = piece(round, theirs).len();
                    if taken.len() != expected {
                        return Err(ControlError::WrongLength { rank: pair.rank, found: taken.len(), expected });
                    }
                    (theirs, taken)
                };
                if pair.theirs.is_none() {
                    sink.expect(index, theirs as u64)?;
                    pair.theirs = Some(theirs);
                }
                if !taken.is_empty() {
                    sink.take(index, taken);
                }
                spares::give(message);
                is_over &= round + 1 >= rounds(pair, given);
            }
            if is_over {
                break;
            }
            round += 1;
        }
        if confirm {
            let talks = || pairs.iter().zip(given).filter(|(pair, given)| given.is_some() && pair.rank != own);
            talks().for_each(|(pair, _)| self.send_parts(pair.rank, kind::TAKEN, &[]));
            for (pair, _) in talks().filter(|(pair, _)| !pair.is_gone) {
                match self.receive_part(pair.rank, kind::TAKEN, timeout) {
                    Err(error) if !self.skips(&error) => return Err(error),
                    _ => {}
                }
            }
        }
        Ok(())
    }

    pub(super) fn send_parts(&mut self, to: usize, kind: u8, parts: &[&[u8]]) {
        let mut message = spares::take(1 + parts.iter().map(|part| part.len()).sum::<usize>());
        message.clear();
        message.push(kind);
        parts.iter().for_each(|part| message.extend_from_slice(part));
        self.send_message(to, message);
    }

    /// Returns a member's next message, which must have this kind.
    pub(super) fn receive_part(&mut self, from: usize, kind: u8, timeout: Duration) -> Result<Vec<u8>, ControlError> {
        let message = self.receive_from(from, timeout)?;
        match message.first() {
            Some(found) if *found == kind => Ok(message),
            Some(&kind::GIVEN_UP) => Err(given_up(from, &message)),
            found => {
                let found = found.copied();
                if found == Some(kind::TERMS) {
                    // The peer has begun its next call, as this rank will.
                    self.unreceive(from, message);
                }
                Err(ControlError::WrongMessage { rank: from })
            }
        }
    }

    /// Sends the reason to the members.
    pub(super) fn tell_given_up(&mut self, members: &[usize], error: &ControlError) {
        let (by, reason) = match error {
            ControlError::GivenUp { rank, reason } => (*rank, reason.clone()),
            error => (self.rank(), error.to_string()),
        };
        let own = self.rank();
        for peer in members.iter().filter(|peer| **peer != own) {
            self.send_parts(*peer, kind::GIVEN_UP, &[&(by as u64).to_le_bytes(), reason.as_bytes()]);
        }
    }

    /// Sends the reason to the members, and returns the error to report. Waits briefly for the
    /// reason of a silent member.
    pub(super) fn give_up(&mut self, members: &[usize], error: ControlError, timeout: Duration) -> ControlError {
        let own = self.rank();
        self.tell_given_up(members, &error);
        let ControlError::Silent { rank, .. } = error else { return error };
        let deadline = Instant::now() + timeout / 4;
        loop {
            match self.receive_by(rank, deadline, timeout) {
                Ok(message) if message.first() == Some(&kind::GIVEN_UP) => match given_up(rank, &message) {
                    // The silent member waits for this rank in turn.
                    ControlError::GivenUp { rank: by, .. } if by == own => return error,
                    cause => return cause,
                },
                Ok(message) if message.first() == Some(&kind::TERMS) => {
                    self.unreceive(rank, message);
                    return error;
                }
                Ok(_) => {}
                Err(_) => return error,
            }
        }
    }
}

pub(super) fn given_up(from: usize, message: &[u8]) -> ControlError {
    let Some((rank, reason)) = message[1..].split_first_chunk() else {
        return ControlError::WrongMessage { rank: from };
    };
    let rank = usize::try_from(u64::from_le_bytes(*rank)).unwrap_or(from);
    ControlError::GivenUp { rank, reason: printable(String::from_utf8_lossy(reason).into_owned()) }
}

fn piece(round: usize, bytes: usize) -> Range<usize> {
    let begin = round.saturating_mul(PIECE_BYTES).min(bytes);
    begin..begin.saturating_add(PIECE_BYTES).min(bytes)
}

#[derive(Debug)]
pub(crate) struct Collect {
    pub parts: Vec<Option<Vec<u8>>>,
    declared: u64,
}

impl Collect {
    pub fn new(members: usize) -> Self {
        Self { parts: vec![None; members], declared: 0 }
    }
}

impl Sink for Collect {
    fn expect(&mut self, from: usize, bytes: u64) -> Result<(), ControlError> {
        self.declared = self.declared.saturating_add(bytes);
        if self.declared > SMALL_BYTES {
            memory::require("the data that this call receives", self.declared, "send less at a time")?;
        }
        let refused = |_| memory::refused("the data of one rank in this call", bytes, "send less at a time");
        let length = usize::try_from(bytes).unwrap_or(usize::MAX);
        Ok(self.parts[from].insert(Vec::new()).try_reserve_exact(length).map_err(refused)?)
    }

    fn goes_on_without(&mut self, from: usize) -> bool {
        self.parts[from] = None;
        true
    }

    fn take(&mut self, from: usize, piece: &[u8]) {
        self.parts[from].get_or_insert_default().extend_from_slice(piece);
    }
}

pub(crate) struct Place<'a> {
    pub members: &'a [usize],
    pub into: &'a mut [u8],
    /// By member; the lengths must match.
    pub places: Vec<Range<usize>>,
}

impl Sink for Place<'_> {
    fn expect(&mut self, from: usize, bytes: u64) -> Result<(), ControlError> {
        check_length(self.members[from], bytes, self.places[from].len())
    }

    /// Members without data are not needed, such as receivers of a broadcast.
    fn goes_on_without(&mut self, from: usize) -> bool {
        self.places[from].is_empty()
    }

    fn take(&mut self, from: usize, piece: &[u8]) {
        let place = &mut self.places[from];
        let (begin, end) = (place.start, place.start + piece.len());
        self.into[begin..end].copy_from_slice(piece);
        place.start = end;
    }
}

pub(crate) struct Folding<'a> {
    pub members: &'a [usize],
    pub fold: Box<dyn Fold>,
    pub bytes: usize,
    pub result: Vec<u8>,
}

impl Sink for Folding<'_> {
    fn expect(&mut self, from: usize, bytes: u64) -> Result<(), ControlError> {
        check_length(self.members[from], bytes, self.bytes)
    }

    fn goes_on_without(&mut self, _: usize) -> bool {
        false
    }

    fn take(&mut self, from: usize, piece: &[u8]) {
        self.fold.take(piece, self.members.len());
        if from + 1 == self.members.len() {
            self.fold.finish(self.members.len(), &mut self.result);
        }
    }
}

fn check_length(rank: usize, found: u64, expected: usize) -> Result<(), ControlError> {
    if found == expected as u64 {
        return Ok(());
    }
    Err(ControlError::WrongLength { rank, found: usize::try_from(found).unwrap_or(usize::MAX), expected })
}
