//! The receive buffer as a queue of frames: what is stored and what is dropped. Leaves out: cycles.

use crate::hdl::word::Beat;
use std::collections::VecDeque;

/// Largest number of beats inside, including those of the frame being received.
pub const BEATS: usize = 512;
/// Largest number of complete frames inside.
pub const FRAMES: usize = 64;

/// What happened to a frame at its last beat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Stored.
    Stored,
    /// The MAC marked it bad, whether there was room for it or not.
    Bad,
    /// A beat of it found no room.
    NoBeats,
    /// There were too many frames.
    NoFrames,
}

/// Receive buffer, see the module.
#[derive(Default)]
pub struct RxBufferModel {
    /// Whole frames: their length, and the beats still inside.
    frames: VecDeque<(usize, VecDeque<Beat>)>,
    coming: Vec<Beat>,
    /// Why a beat of the frame that comes found no room.
    full: Option<Fate>,
    inside: bool,
    ignore: bool,
}

impl RxBufferModel {
    /// A beat comes in; at the last one of a frame, its fate.
    pub fn push(&mut self, beat: Beat, last: bool, error: bool) -> Option<Fate> {
        self.inside = !last;
        if self.ignore {
            self.ignore = !last;
            return None;
        }
        let used = self.coming.len() + self.frames.iter().map(|(_, beats)| beats.len()).sum::<usize>();
        if used == BEATS {
            self.full = self.full.or(Some(Fate::NoBeats));
        } else if self.frames.len() == FRAMES {
            self.full = self.full.or(Some(Fate::NoFrames));
        }
        if self.full.is_none() {
            self.coming.push(beat);
        }
        if !last {
            return None;
        }
        let coming = std::mem::take(&mut self.coming);
        let fate = self.full.take().unwrap_or(Fate::Stored);
        let fate = if error { Fate::Bad } else { fate };
        if fate == Fate::Stored {
            self.frames.push_back((coming.len(), coming.into()));
        }
        Some(fate)
    }

    /// Empties it; the rest of a frame being received is ignored.
    pub fn clear(&mut self) {
        *self = Self { inside: self.inside, ignore: self.inside, ..Self::default() };
    }

    /// The next beat: whether it is its frame's last, and the frame's length.
    pub fn front(&self) -> Option<(Beat, bool, usize)> {
        let (length, beats) = self.frames.front()?;
        Some((*beats.front()?, beats.len() == 1, *length))
    }

    /// Takes the beat; true if it was the last of its frame.
    pub fn pop(&mut self) -> bool {
        let Some((_, beats)) = self.frames.front_mut() else { return false };
        beats.pop_front();
        let emptied = beats.is_empty();
        if emptied {
            self.frames.pop_front();
        }
        emptied
    }
}
