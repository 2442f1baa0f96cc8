//! Receive path of the functional card.

use optireduce_contract::answer;
use optireduce_contract::limits::BEAT_BYTES;
use optireduce_contract::registers::{self as reg, Register};
use optireduce_contract::rules::accept;

use super::FunctionalCard;
use super::job::Job;
use super::window::{Lanes, Taken, lanes_of};

impl FunctionalCard {
    pub(super) fn receive(&mut self, frame: &[u8]) {
        let Some(job) = self.job.clone() else { return };
        self.count(reg::RX_PACKETS, 1);
        if let Some((counter, reply)) = self.answer(&job, frame) {
            self.count(counter, 1);
            self.send_frame(reply);
        } else if let Err((counter, by)) = self.take_frame(&job, frame) {
            self.count(counter, by);
        }
    }

    /// Answers an ARP request or a ping; in the hardware answers are limited.
    fn answer(&self, job: &Job, frame: &[u8]) -> Option<(Register, Vec<u8>)> {
        if let Some(reply) = answer::arp(&job.local, frame) {
            return Some((reg::ARP_REPLIES, reply.to_vec()));
        }
        let mut reply = [0; answer::PING_BYTES_MAX];
        let bytes = answer::ping(&job.local, frame, &mut reply)?;
        Some((reg::PING_REPLIES, reply[..bytes].to_vec()))
    }

    /// The error is the counter of the drop, and its increment.
    fn take_frame(&mut self, job: &Job, frame: &[u8]) -> Result<(), (Register, u32)> {
        let dropped = |cause: accept::Cause| (cause.counter(), 1);
        job.filter().check(frame).map_err(dropped)?;
        let (header, payload) = accept::frame(frame, job.udp_port, &job.receiver()).map_err(dropped)?;
        let armed = self.slots.iter().enumerate();
        let armed = armed.filter_map(|(slot, window)| window.as_ref().map(|window| (slot, &window.shape)));
        let (slot, shape) = accept::find(armed, &header).map_err(dropped)?;
        let place = accept::place(shape, job.rank, &header, payload.len() / BEAT_BYTES).map_err(dropped)?;
        let Some(window) = &mut self.slots[slot] else { return Ok(()) };
        let mut beats = if window.shape.bf16 { widened(payload) } else { plain(payload) };
        beats.truncate(place.beats.len());
        match window.take_packet(self.now_ns, &place, &beats, &mut self.trace) {
            Taken::Late => Err((reg::DROP_LATE_BEATS, beats.len() as u32)),
            Taken::Open { duplicates: 0 } => Ok(()),
            Taken::Open { duplicates } => Err((reg::DROP_DUPLICATE_BEATS, duplicates)),
        }
    }
}

fn plain(payload: &[u8]) -> Vec<Lanes> {
    payload.chunks_exact(BEAT_BYTES).map(lanes_of).collect()
}

/// Two window beats per beat on the wire, low half first.
fn widened(payload: &[u8]) -> Vec<Lanes> {
    let widen =
        |half: &[u8]| std::array::from_fn(|i| u32::from(u16::from_le_bytes([half[2 * i], half[2 * i + 1]])) << 16);
    payload.chunks_exact(BEAT_BYTES / 2).map(widen).collect()
}
