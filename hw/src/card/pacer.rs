//! Token-bucket pacer: decides per peer whether a frame may be sent now.
//!
//! It sends to a peer behind a shared switch port at the rate found by the host's rate control
//! (OptiReduce 3.2.3), without a software timer.
//! A bucket holds at most one of the job's largest frames plus 512 ns of its rate, and is full at
//! power-on. The 512 ns keep the tokens that accrue between a full bucket and the next question.
//! A frame counts with its bytes on the wire (preamble, header, FCS and gap): its payload plus 88.
//! Over any time T a peer is granted at most the bucket plus `rate * T`. With a permanent backlog
//! that asks at least every 512 ns, it is granted no less than `rate * T` minus one frame, where T
//! ends at its last refusal. The arithmetic is exact, in thousandths of a byte.
//! Rate: word 3 of the peer table, 1 to 65535 bytes per microsecond; 0 disables pacing. A new rate
//! applies from the last granted frame on.
//! Latency: `answer` three cycles after `ask`, for the time of `ask`. One question at a time. Time
//! may jump ahead.
//! Reset: `clear` drops the question; buckets keep their level.

use super::types::JobWords;
use crate::hdl::prelude::*;
use crate::mem::ram::LutRam;

#[derive(Clone, Copy, Debug, PartialEq, LogicState)]
pub enum PaceState {
    Look,
    /// Computes the tokens since the last grant.
    Gain,
    /// Subtracts them from the debt.
    Drain,
    Judge,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Bucket {
    /// Deficit at `seen_ns`, in thousandths of a byte.
    debt: W<26>,
    seen_ns: W<48>,
}

#[derive(LogicBlock, Default)]
pub struct Pacer {
    pub clock: Signal<In, Clock>,
    pub clear: Signal<In, bool>,
    pub job: Signal<In, JobWords>,
    pub now_ns: Signal<In, W<48>>,
    pub peer_write: Signal<In, bool>,
    pub peer_word: Signal<In, W<8>>,
    pub peer_data: Signal<In, W<32>>,
    /// Held until the answer, like `beats`.
    pub peer: Signal<In, W<6>>,
    /// The peer has a rate.
    pub paced: Signal<Out, bool>,
    /// Asks for a frame of `beats` payload beats; held until the answer.
    pub ask: Signal<In, bool>,
    pub beats: Signal<In, W<8>>,
    pub answer: Signal<Out, bool>,
    /// With `answer`: the frame may go and was counted.
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

        // The frame costs (88 + 64 * beats) * 1000. As 64000 = 2^16 - 2^10 - 2^9, shifts and
        // subtractions replace a multiplier.
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
                // 2^24 ns fill any bucket even at one byte per microsecond, so longer times
                // saturate.
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
                // A lower rate makes the bucket shallower, so the old debt is capped.
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
