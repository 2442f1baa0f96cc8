//! Shares the host-memory read channel between the submission unit (one beat at a time, first) and the contribute
//! engine (bursts). Up to 8 bursts are outstanding; data comes back in order of request. A burst once offered stands
//! until it is taken, as AXI demands, also when the submission unit comes meanwhile.
//!
//! Latency: none. Throughput: one beat a cycle. Reset: `clear`; no read may be outstanding then.

use crate::fifo::Fifo;
use crate::prelude::*;

/// Read channel arbiter, see the module.
#[derive(LogicBlock, Default)]
pub struct DmaRead {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Forgets outstanding bursts.
    pub clear: Signal<In, bool>,
    /// Submission unit asks.
    pub submit_valid: Signal<In, bool>,
    /// Its address.
    pub submit_address: Signal<In, W<64>>,
    /// It is asked for.
    pub submit_ready: Signal<Out, bool>,
    /// Its beat comes.
    pub submit_beat: Signal<Out, bool>,
    /// Contribute engine asks.
    pub contribute_valid: Signal<In, bool>,
    /// Its address.
    pub contribute_address: Signal<In, W<64>>,
    /// Its beats.
    pub contribute_beats: Signal<In, W<7>>,
    /// It is asked for.
    pub contribute_ready: Signal<Out, bool>,
    /// Its beat comes.
    pub contribute_beat: Signal<Out, bool>,
    /// It takes the beat.
    pub contribute_take: Signal<In, bool>,
    /// Read channel: a burst is asked for.
    pub ar_valid: Signal<Out, bool>,
    /// Its first byte.
    pub ar_address: Signal<Out, W<64>>,
    /// Its beats, 1 to 64.
    pub ar_beats: Signal<Out, W<7>>,
    /// It is asked for.
    pub ar_ready: Signal<In, bool>,
    /// Read channel: a beat comes.
    pub r_valid: Signal<In, bool>,
    /// Last beat of its burst.
    pub r_last: Signal<In, bool>,
    /// It is taken.
    pub r_ready: Signal<Out, bool>,
    owners: Fifo<bool, 3>,
    kept: DFF<bool>,
    may_ask: Wire<bool>,
    of_submit: Wire<bool>,
    of_contribute: Wire<bool>,
}

impl Logic for DmaRead {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, kept);
        self.owners.clock.next = self.clock.val();
        self.owners.clear.next = self.clear.val();
        self.may_ask.next = !self.owners.full.val();
        self.of_submit.next = self.submit_valid.val() && !self.kept.q.val();
        self.ar_valid.next = self.may_ask.val() && (self.submit_valid.val() || self.contribute_valid.val());
        self.ar_address.next = self.contribute_address.val();
        self.ar_beats.next = self.contribute_beats.val();
        self.owners.push_data.next = true;
        self.submit_ready.next = false;
        self.contribute_ready.next = self.may_ask.val() && self.ar_ready.val();
        if self.of_submit.val() {
            self.ar_address.next = self.submit_address.val();
            self.ar_beats.next = bits_w::<7>(1);
            self.owners.push_data.next = false;
            self.submit_ready.next = self.may_ask.val() && self.ar_ready.val();
            self.contribute_ready.next = false;
        }
        self.owners.push.next = self.ar_valid.val() && self.ar_ready.val();
        self.kept.d.next = self.ar_valid.val() && !self.of_submit.val() && !self.ar_ready.val() && !self.clear.val();

        self.of_contribute.next = self.owners.pop_data.val();
        self.submit_beat.next = self.r_valid.val() && !self.of_contribute.val();
        self.contribute_beat.next = self.r_valid.val() && self.of_contribute.val();
        self.r_ready.next = !self.of_contribute.val() || self.contribute_take.val();
        self.owners.pop.next = self.r_valid.val() && self.r_last.val() && self.r_ready.val();
    }
}

clocked!(DmaRead);
