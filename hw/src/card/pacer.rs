//! Pacer: a token bucket per peer, which says whether a frame to it may go now.
//!
//! Why: a peer whose switch port is shared is sent to at the rate that the host's rate control found
//! (OptiReduce 3.2.3), without a software timer.
//! What: a bucket holds at most one of the job's largest frames plus what its rate brings in 512 ns, and is full at
//! power-on. A frame is counted as on the wire, with preamble, header, FCS and gap: its payload plus 88 bytes.
//! Over any time T a peer gets at most the bucket + rate * T; one that always has a frame waiting, and is asked about at
//! least every 512 ns, gets no less than rate * T - one frame, with T ending at its last refusal. (A bucket of exactly one
//! frame would lose what accrues between filling up and the next question.) The arithmetic is exact, in thousandths
//! of a byte.
//! Rate: word 3 of the peer table, 1 to 65535 bytes per microsecond, 0 for as fast as the wire. A new rate counts from
//! the last frame on.
//! Latency: `answer` three cycles after `ask`, for the time of `ask`. One question at a time. Time may jump ahead.
//! Reset: `clear` drops the question; buckets stay as they are.

use super::types::JobWords;
use crate::hdl::prelude::*;
use crate::mem::ram::LutRam;

/// The progress of a question.
#[derive(Clone, Copy, Debug, PartialEq, LogicState)]
pub enum PaceState {
    /// Looks up the bucket.
    Look,
    /// Computes what has accrued since.
    Gain,
    /// Subtracts that from the debt.
    Drain,
    /// Answers.
    Judge,
}

/// A bucket, as what is missing from it.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Bucket {
    /// What is missing, in thousandths of a byte.
    debt: W<26>,
    /// At what time.
    seen_ns: W<48>,
}

/// The pacer, see the module.
#[derive(LogicBlock, Default)]
pub struct Pacer {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Drops the question.
    pub clear: Signal<In, bool>,
    /// Job registers.
    pub job: Signal<In, JobWords>,
    /// Nanoseconds since reset.
    pub now_ns: Signal<In, W<48>>,
    /// Writes a word of the peer table.
    pub peer_write: Signal<In, bool>,
    /// Rank * 4 + word; word 3 is the rate.
    pub peer_word: Signal<In, W<8>>,
    /// The word.
    pub peer_data: Signal<In, W<32>>,
    /// The peer in question.
    pub peer: Signal<In, W<6>>,
    /// It has a rate; else it need not be asked about.
    pub paced: Signal<Out, bool>,
    /// May a frame go to the peer? Held, as peer and beats are, until the answer.
    pub ask: Signal<In, bool>,
    /// Payload beats of that frame.
    pub beats: Signal<In, W<8>>,
    /// The answer (one cycle).
    pub answer: Signal<Out, bool>,
    /// With the answer: the frame may go, and was counted.
    pub granted: Signal<Out, bool>,
    rates: LutRam<W<16>, 6>,
    buckets: LutRam<Bucket, 6>,
    state: DFF<PaceState>,
    seen_ns: DFF<W<48>>,
    elapsed_ns: DFF<W<24>>,
    debt: DFF<W<26>>,
    gained: DFF<W<48>>,
    need: DFF<W<26>>,
    depth: DFF<W<26>>,
    rate: Wire<W<16>>,
    rate_then: DFF<W<16>>,
    bucket: Wire<Bucket>,
    since_ns: Wire<W<48>>,
    frame: Wire<W<26>>,
    largest: Wire<W<26>>,
    wide: Wire<W<26>>,
    wide_most: Wire<W<26>>,
    product: Wire<W<48>>,
    left: Wire<W<26>>,
    owed: Wire<W<26>>,
}

impl Logic for Pacer {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, state, seen_ns, elapsed_ns, rate_then, debt, gained, need, depth);
        self.rates.clock.next = self.clock.val();
        self.rates.write_enable.next = self.peer_write.val() && (self.peer_word.val().get_bits::<2>(0) == 3);
        self.rates.write_address.next = self.peer_word.val().get_bits::<6>(2);
        self.rates.write_data.next = self.peer_data.val().get_bits::<16>(0);
        self.rates.read_address.next = self.peer.val();
        self.rate.next = self.rates.read_data.val();
        self.paced.next = self.rate.val() != 0;
        self.buckets.clock.next = self.clock.val();
        self.buckets.read_address.next = self.peer.val();
        self.bucket.next = self.buckets.read_data.val();

        // (88 + 64 * beats) * 1000, and the depth of the bucket.
        self.wide.next = bit_cast_w::<26, 8>(self.beats.val());
        self.frame.next =
            bits_w::<26>(88000) + (self.wide.val() << 16) - (self.wide.val() << 10) - (self.wide.val() << 9);
        self.wide_most.next = bit_cast_w::<26, 8>(self.job.val().payload_beats);
        self.largest.next = bits_w::<26>(88000) + (self.wide_most.val() << 16)
            - (self.wide_most.val() << 10)
            - (self.wide_most.val() << 9);

        self.since_ns.next = self.now_ns.val() - self.bucket.val().seen_ns;
        self.product.next = self.elapsed_ns.q.val() * bit_cast_w::<24, 16>(self.rate_then.q.val());
        self.left.next = self.debt.q.val() - self.gained.q.val().get_bits::<26>(0);
        if self.gained.q.val() >= bit_cast_w::<48, 26>(self.debt.q.val()) {
            self.left.next = bits_w::<26>(0);
        }
        self.owed.next = self.debt.q.val() + self.need.q.val();
        self.answer.next = false;
        self.granted.next = false;
        match self.state.q.val() {
            PaceState::Look => {
                self.seen_ns.d.next = self.now_ns.val();
                // 2^24 ns fill any bucket, at one byte per microsecond.
                self.elapsed_ns.d.next = self.since_ns.val().get_bits::<24>(0);
                if self.since_ns.val().get_bits::<24>(24) != 0 {
                    self.elapsed_ns.d.next = bits_w::<24>(0xff_ffff);
                }
                self.rate_then.d.next = self.rate.val();
                self.debt.d.next = self.bucket.val().debt;
                self.depth.d.next = self.largest.val() + (bit_cast_w::<26, 16>(self.rate.val()) << 9);
                if self.ask.val() {
                    self.state.d.next = PaceState::Gain;
                }
            }
            PaceState::Gain => {
                self.gained.d.next = self.product.val();
                self.need.d.next = self.frame.val();
                // At a lower rate than before the bucket is smaller.
                if self.debt.q.val() > self.depth.q.val() {
                    self.debt.d.next = self.depth.q.val();
                }
                self.state.d.next = PaceState::Drain;
            }
            PaceState::Drain => {
                self.debt.d.next = self.left.val();
                self.state.d.next = PaceState::Judge;
            }
            PaceState::Judge => {
                self.answer.next = true;
                self.granted.next = self.owed.val() <= self.depth.q.val();
                self.state.d.next = PaceState::Look;
            }
        }
        self.buckets.write_enable.next = self.granted.val();
        self.buckets.write_address.next = self.peer.val();
        self.buckets.write_data.next.debt = self.owed.val();
        self.buckets.write_data.next.seen_ns = self.seen_ns.q.val();
        if self.clear.val() {
            self.state.d.next = PaceState::Look;
        }
    }
}

clocked!(Pacer);
