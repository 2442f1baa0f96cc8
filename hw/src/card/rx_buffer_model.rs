//! Plain-Rust model of the receive buffer: a queue of frames.

use crate::hdl::word::Beat;
use std::collections::VecDeque;

/// Capacity in beats, including the frame being received.
pub const BEATS: usize = 512;
pub const FRAMES: usize = 64;

/// Decided at a frame's last beat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Stored,
    /// Marked as bad by the MAC, even if there was no room.
    Bad,
    NoBeats,
    NoFrames,
}

#[derive(Default)]
pub struct RxBufferModel {
    frames: VecDeque<(usize, VecDeque<Beat>)>,
    coming: Vec<Beat>,
    /// Why a beat of the current frame found no room.
    full: Option<Fate>,
    inside: bool,
    ignore: bool,
}

impl RxBufferModel {
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

    /// The rest of a frame being received is ignored.
    pub fn clear(&mut self) {
        *self = Self { inside: self.inside, ignore: self.inside, ..Self::default() };
    }

    /// Beat, whether it is its frame's last, and the frame's length.
    pub fn front(&self) -> Option<(Beat, bool, usize)> {
        let (length, beats) = self.frames.front()?;
        Some((*beats.front()?, beats.len() == 1, *length))
    }

    /// Returns whether the removed beat was the last of its frame.
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
