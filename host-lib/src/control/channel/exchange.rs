//! Pieces in step: what every call that hands bytes from rank to rank is made of.
//!
//! Why: buffers may be larger than what may wait in memory, and take longer than any timeout that finds a stopped rank soon. So
//! they go in pieces, a few of them on their way at a time, and the timeout is for progress.
//! How: a pair of ranks that has something to hand over, in either direction, exchanges one message each way in every round, up to
//! the last piece of the longer of the two; a rank is never more than [`WINDOW`] rounds ahead of what has come. The first message
//! says how long the whole is. Pieces of a round are taken in the order of ranks.
//! A rank that cannot go on tells all others why, before it returns: they name the cause, not one another. Messages say what they are,
//! so that the next call finds its beginning behind whatever a failed one has left; the ranks stay in step.
//! Limits: at most 2 [`WINDOW`] pieces wait for a pair, 8 MiB. Lengths that come are checked before memory is taken.

use std::ops::Range;
use std::time::{Duration, Instant};

use super::{CHUNK_BYTES, ControlChannel, ControlError};
use crate::exact::Fold;
use crate::memory;

/// Bytes of a piece: of whole elements of any type.
const PIECE_BYTES: usize = CHUNK_BYTES;
/// Rounds that are sent ahead of what has come.
const WINDOW: usize = 8;
/// Bytes for which nobody asks how much memory there is.
const SMALL_BYTES: u64 = 16 << 20;

/// What a message of a call is: its first byte.
pub(super) mod kind {
    /// What a rank calls: the begin of a call.
    pub const TERMS: u8 = 0;
    /// A piece; the first one after the length of the whole, 8 bytes.
    pub const PIECE: u8 = 1;
    /// All pieces were taken.
    pub const TAKEN: u8 = 2;
    /// A rank cannot go on.
    pub const GIVEN_UP: u8 = 3;
    /// The ranks that take part, as far as a rank knows.
    pub const PRESENT: u8 = 4;
}

/// Takes what the members of an exchange hand over. `from`: index of a member.
pub(crate) trait Sink {
    /// How long the whole of a member is; before its first piece.
    fn expect(&mut self, from: usize, bytes: u64) -> Result<(), ControlError>;
    /// A member is gone that may be left out; `false`: not of this call.
    fn goes_on_without(&mut self, from: usize) -> bool;
    /// A member's next piece, never empty. Pieces of a round come in the order of members.
    fn take(&mut self, from: usize, piece: &[u8]);
}

/// A member, as this rank sees it.
struct Pair {
    rank: usize,
    sent: usize,
    /// It ended during the call, which goes on without it.
    is_gone: bool,
    /// Bytes that it hands over, once it has said so.
    theirs: Option<usize>,
}

impl Pair {
    fn new(rank: usize) -> Self {
        Self { rank, sent: 0, is_gone: false, theirs: None }
    }
}

impl ControlChannel {
    /// Hands each member what it is given, and takes what it hands over; `None`: neither has anything for the other. The
    /// member's own bytes are taken as others' are. `confirm`: waits until all members have taken everything.
    ///
    /// # Errors
    /// If a member is gone, takes or sends nothing for `timeout`, or cannot go on; names the cause if that is another rank.
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
                let message;
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

    /// Sends a message of a call.
    pub(super) fn send_parts(&mut self, to: usize, kind: u8, parts: &[&[u8]]) {
        let mut message = Vec::with_capacity(1 + parts.iter().map(|part| part.len()).sum::<usize>());
        message.push(kind);
        parts.iter().for_each(|part| message.extend_from_slice(part));
        self.send_message(to, message);
    }

    /// The next message of a member in a call, which is to be of this kind.
    pub(super) fn receive_part(&mut self, from: usize, kind: u8, timeout: Duration) -> Result<Vec<u8>, ControlError> {
        let message = self.receive_from(from, timeout)?;
        match message.first() {
            Some(found) if *found == kind => Ok(message),
            Some(&kind::GIVEN_UP) => Err(given_up(from, &message)),
            found => {
                let found = found.copied();
                if found == Some(kind::TERMS) {
                    // Of its next call, which begins with it here, too.
                    self.unreceive(from, message);
                }
                Err(ControlError::WrongMessage { rank: from })
            }
        }
    }

    /// Tells the members why this rank cannot go on. The error that it returns: if a member was silent, that member may be about to say
    /// for whom it waits itself.
    pub(super) fn give_up(&mut self, members: &[usize], error: ControlError, timeout: Duration) -> ControlError {
        let (by, reason) = match &error {
            ControlError::GivenUp { rank, reason } => (*rank, reason.clone()),
            error => (self.rank(), error.to_string()),
        };
        let own = self.rank();
        for peer in members.iter().filter(|peer| **peer != own) {
            self.send_parts(*peer, kind::GIVEN_UP, &[&(by as u64).to_le_bytes(), reason.as_bytes()]);
        }
        let ControlError::Silent { rank, .. } = error else { return error };
        let deadline = Instant::now() + timeout / 4;
        loop {
            match self.receive_by(rank, deadline, timeout) {
                Ok(message) if message.first() == Some(&kind::GIVEN_UP) => match given_up(rank, &message) {
                    // It waits for this rank in turn.
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

/// What a rank says that cannot go on.
pub(super) fn given_up(from: usize, message: &[u8]) -> ControlError {
    let Some((rank, reason)) = message[1..].split_first_chunk() else {
        return ControlError::WrongMessage { rank: from };
    };
    let rank = usize::try_from(u64::from_le_bytes(*rank)).unwrap_or(from);
    ControlError::GivenUp { rank, reason: String::from_utf8_lossy(reason).into_owned() }
}

/// Where the piece of this round is in so many bytes.
fn piece(round: usize, bytes: usize) -> Range<usize> {
    let begin = round.saturating_mul(PIECE_BYTES).min(bytes);
    begin..begin.saturating_add(PIECE_BYTES).min(bytes)
}

/// What each member handed over.
#[derive(Debug)]
pub(crate) struct Collect {
    /// By member; `None`: it is gone.
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
            memory::require("what the ranks hand over in this call", self.declared, "hand over less at a time")?;
        }
        let refused = |_| memory::refused("what a rank hands over in this call", bytes, "hand over less at a time");
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

/// Puts what each member hands over in its place.
pub(crate) struct Place<'a> {
    pub members: &'a [usize],
    pub into: &'a mut [u8],
    /// By member; what is handed over must be as long.
    pub places: Vec<Range<usize>>,
}

impl Sink for Place<'_> {
    fn expect(&mut self, from: usize, bytes: u64) -> Result<(), ControlError> {
        check_length(self.members[from], bytes, self.places[from].len())
    }

    /// The root of a broadcast can do without those that have nothing for it.
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

/// Folds what the members hand over, all of it equally long.
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
        self.fold.take(piece);
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
