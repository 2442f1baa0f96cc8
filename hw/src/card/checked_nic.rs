//! `CheckedNic`: the card with checks of received frames.
//!
//! Frames that are not packets for the card are filtered out, and frames with a wrong UDP checksum
//! are dropped as bad. Sent frames receive a UDP checksum. ARP requests and pings are answered
//! here, and registers report time and link.
//!
//! The checks are outside [`SmartNic`] because the ECP5 has no room for them. [`SmartNic`] alone
//! sends a checksum of zero, "none" (RFC 768), which the check accepts.
//!
//! Latency, in addition to [`SmartNic`]: [`frame_sum::LATENCY`](super::frame_sum::LATENCY) cycles
//! for received frames, and the beats of the frame plus
//! [`tx_checksum::LATENCY`](super::tx_checksum::LATENCY) minus one for sent frames. Throughput: one
//! beat a cycle each way. Back-pressure: as in [`SmartNic`].
//!
//! Reset: clearing CONTROL.enable does not touch frames inside these blocks. STATUS stays busy
//! until the sent frames, whole or marked as cut, have left.

use super::build::Build;
use super::card_state::CardState;
use super::job_copy::JobCopy;
use super::responder::Responder;
use super::rx_checksum::RxChecksum;
use super::rx_filter::RxFilter;
use super::smartnic::SmartNic;
use super::tx_checksum::TxChecksum;
use super::tx_merge::TxMerge;
use crate::hdl::prelude::*;
use optireduce_contract::registers::{STATUS, STATUS_BUSY};

const _: () = assert!(STATUS.word() == 17 && STATUS_BUSY == 2);

#[derive(LogicBlock, Default, Ports)]
pub struct CheckedNic {
    pub clock: Signal<In, Clock>,
    /// Bus and MAC are in reset, for at least [`RESET_CYCLES`](super::reset::RESET_CYCLES).
    pub reset: Signal<In, bool>,
    pub now_ns: Signal<In, W<48>>,
    /// See [`CardState`].
    pub link: Signal<In, W<3>>,
    pub pci_id: Signal<In, W<32>>,
    pub build_id: Signal<In, W<32>>,

    /// Addresses are byte offset / 4.
    pub reg_write: Signal<In, bool>,
    pub reg_write_address: Signal<In, W<10>>,
    pub reg_write_data: Signal<In, W<32>>,
    /// The value follows one cycle later.
    pub reg_read_address: Signal<In, W<10>>,
    pub reg_read_data: Signal<Out, W<32>>,
    pub msix_valid: Signal<Out, bool>,
    pub msix_vector: Signal<Out, W<2>>,
    pub msix_ready: Signal<In, bool>,

    pub axi_ar_valid: Signal<Out, bool>,
    pub axi_ar_address: Signal<Out, W<64>>,
    pub axi_ar_beats: Signal<Out, W<7>>,
    pub axi_ar_ready: Signal<In, bool>,
    pub axi_r_valid: Signal<In, bool>,
    pub axi_r_data: Signal<In, Beat>,
    pub axi_r_last: Signal<In, bool>,
    pub axi_r_error: Signal<In, bool>,
    pub axi_r_ready: Signal<Out, bool>,
    pub axi_aw_valid: Signal<Out, bool>,
    pub axi_aw_address: Signal<Out, W<64>>,
    pub axi_aw_beats: Signal<Out, W<7>>,
    pub axi_aw_ready: Signal<In, bool>,
    pub axi_w_valid: Signal<Out, bool>,
    pub axi_w_data: Signal<Out, Beat>,
    pub axi_w_last: Signal<Out, bool>,
    pub axi_w_ready: Signal<In, bool>,
    /// A burst is visible to the host, or failed. Always accepted.
    pub axi_b_valid: Signal<In, bool>,
    pub axi_b_error: Signal<In, bool>,

    /// Always accepted.
    pub rx_valid: Signal<In, bool>,
    pub rx_data: Signal<In, Beat>,
    pub rx_last: Signal<In, bool>,
    /// Bad FCS.
    pub rx_error: Signal<In, bool>,
    pub rx_partial: Signal<In, bool>,
    pub tx_valid: Signal<Out, bool>,
    pub tx_data: Signal<Out, Beat>,
    pub tx_last: Signal<Out, bool>,
    /// The frame was cut by a reset and needs a bad FCS.
    pub tx_error: Signal<Out, bool>,
    pub tx_ready: Signal<In, bool>,

    /// Only time, the wire or the host can change the card's state.
    pub asleep: Signal<Out, bool>,
    /// Earliest time at which the clock may close a stage; all ones for none.
    pub timer_ns: Signal<Out, W<48>>,
    /// Traces. Slots are one-hot; places are slot * 2^20 + position * 64 + sender.
    pub trace_arm: Signal<Out, W<8>>,
    pub trace_cookie: Signal<Out, W<32>>,
    pub trace_sum: Signal<Out, bool>,
    pub trace_sum_place: Signal<Out, W<23>>,
    pub trace_mean: Signal<Out, bool>,
    pub trace_mean_place: Signal<Out, W<23>>,
    pub trace_contribute_open: Signal<Out, W<8>>,
    pub trace_broadcast_open: Signal<Out, W<8>>,

    nic: SmartNic,
    job_copy: JobCopy,
    card_state: CardState,
    rx: RxChecksum,
    filter: RxFilter,
    responder: Responder,
    tx: TxChecksum,
    merge: TxMerge,
    reads_status: DFF<bool>,
    value: Wire<W<32>>,
}

#[sections]
impl Logic for CheckedNic {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, reads_status);
        self.nic.clock.next = self.clock.val();
        self.job_copy.clock.next = self.clock.val();
        self.card_state.clock.next = self.clock.val();
        self.rx.clock.next = self.clock.val();
        self.filter.clock.next = self.clock.val();
        self.responder.clock.next = self.clock.val();
        self.tx.clock.next = self.clock.val();
        self.merge.clock.next = self.clock.val();
        self.nic.reset.next = self.reset.val();
        self.job_copy.reset.next = self.reset.val();
        self.rx.reset.next = self.reset.val();
        self.filter.reset.next = self.reset.val();
        self.responder.reset.next = self.reset.val();
        self.tx.reset.next = self.reset.val();
        self.merge.reset.next = self.reset.val();
        self.inputs();
        self.outputs();
        self.registers();
        self.frames();
    }

    /// Inputs of the card, except frames.
    fn inputs(&mut self) {
        self.nic.now_ns.next = self.now_ns.val();
        self.nic.reg_write.next = self.reg_write.val();
        self.nic.reg_write_address.next = self.reg_write_address.val();
        self.nic.reg_write_data.next = self.reg_write_data.val();
        self.nic.reg_read_address.next = self.reg_read_address.val();
        self.nic.msix_ready.next = self.msix_ready.val();
        self.nic.axi_ar_ready.next = self.axi_ar_ready.val();
        self.nic.axi_r_valid.next = self.axi_r_valid.val();
        self.nic.axi_r_data.next = self.axi_r_data.val();
        self.nic.axi_r_last.next = self.axi_r_last.val();
        self.nic.axi_r_error.next = self.axi_r_error.val();
        self.nic.axi_aw_ready.next = self.axi_aw_ready.val();
        self.nic.axi_w_ready.next = self.axi_w_ready.val();
        self.nic.axi_b_valid.next = self.axi_b_valid.val();
        self.nic.axi_b_error.next = self.axi_b_error.val();
    }

    /// Outputs of the card, except frames.
    fn outputs(&mut self) {
        self.msix_valid.next = self.nic.msix_valid.val();
        self.msix_vector.next = self.nic.msix_vector.val();
        self.axi_ar_valid.next = self.nic.axi_ar_valid.val();
        self.axi_ar_address.next = self.nic.axi_ar_address.val();
        self.axi_ar_beats.next = self.nic.axi_ar_beats.val();
        self.axi_r_ready.next = self.nic.axi_r_ready.val();
        self.axi_aw_valid.next = self.nic.axi_aw_valid.val();
        self.axi_aw_address.next = self.nic.axi_aw_address.val();
        self.axi_aw_beats.next = self.nic.axi_aw_beats.val();
        self.axi_w_valid.next = self.nic.axi_w_valid.val();
        self.axi_w_data.next = self.nic.axi_w_data.val();
        self.axi_w_last.next = self.nic.axi_w_last.val();
        self.timer_ns.next = self.nic.timer_ns.val();
        self.trace_arm.next = self.nic.trace_arm.val();
        self.trace_cookie.next = self.nic.trace_cookie.val();
        self.trace_sum.next = self.nic.trace_sum.val();
        self.trace_sum_place.next = self.nic.trace_sum_place.val();
        self.trace_mean.next = self.nic.trace_mean.val();
        self.trace_mean_place.next = self.nic.trace_mean_place.val();
        self.trace_contribute_open.next = self.nic.trace_contribute_open.val();
        self.trace_broadcast_open.next = self.nic.trace_broadcast_open.val();
    }

    /// Snoops register writes, and adds counters and the busy bit to reads.
    fn registers(&mut self) {
        self.job_copy.write.next = self.reg_write.val();
        self.job_copy.write_address.next = self.reg_write_address.val();
        self.job_copy.write_data.next = self.reg_write_data.val();
        self.filter.job.next = self.job_copy.job.val();
        self.filter.write.next = self.reg_write.val();
        self.filter.write_address.next = self.reg_write_address.val();
        self.filter.write_data.next = self.reg_write_data.val();
        self.filter.read_address.next = self.reg_read_address.val();
        self.responder.job.next = self.job_copy.job.val();
        self.card_state.now_ns.next = self.now_ns.val();
        self.card_state.link.next = self.link.val();
        self.card_state.pci_id.next = self.pci_id.val();
        self.card_state.build_id.next = self.build_id.val();
        self.card_state.read_address.next = self.reg_read_address.val();
        self.responder.read_address.next = self.reg_read_address.val();
        self.reads_status.d.next = self.reg_read_address.val() == 17;
        // A sum, because some counters count in both places.
        self.value.next = self.nic.reg_read_data.val()
            + (self.filter.read_data.val() | self.responder.read_data.val() | self.card_state.read_data.val());
        self.reg_read_data.next = self.value.val();
        if self.reads_status.q.val()
            && !self.job_copy.job.val().enable
            && (self.tx.busy.val() || self.responder.busy.val())
        {
            self.reg_read_data.next = self.value.val() | 2;
        }
    }

    /// Connects card and MAC through the checks.
    fn frames(&mut self) {
        self.rx.rx_valid.next = self.rx_valid.val();
        self.rx.rx_data.next = self.rx_data.val();
        self.rx.rx_last.next = self.rx_last.val();
        self.rx.rx_error.next = self.rx_error.val();
        self.rx.rx_partial.next = self.rx_partial.val();
        self.filter.rx_valid.next = self.rx_valid.val();
        self.filter.rx_data.next = self.rx_data.val();
        self.filter.rx_last.next = self.rx_last.val();
        self.responder.rx_valid.next = self.rx_valid.val();
        self.responder.rx_data.next = self.rx_data.val();
        self.responder.rx_last.next = self.rx_last.val();
        self.responder.in_valid.next = self.rx.valid.val();
        self.responder.in_data.next = self.rx.data.val();
        self.responder.in_last.next = self.rx.last.val();
        self.responder.in_error.next = self.rx.error.val();
        self.responder.in_checksum.next = self.filter.checksum.val();
        self.filter.answered.next = self.responder.answers.val();
        self.filter.in_valid.next = self.rx.valid.val();
        self.filter.in_last.next = self.rx.last.val();
        self.filter.in_error.next = self.rx.error.val();
        self.filter.in_partial.next = self.rx.partial.val();
        self.nic.rx_valid.next = self.filter.valid.val();
        self.nic.rx_data.next = self.rx.data.val();
        self.nic.rx_last.next = self.rx.last.val();
        self.nic.rx_error.next = self.filter.error.val();
        self.tx.valid.next = self.nic.tx_valid.val();
        self.tx.beat.next.data = self.nic.tx_data.val();
        self.tx.beat.next.last = self.nic.tx_last.val();
        self.tx.error.next = self.nic.tx_error.val();
        self.nic.tx_ready.next = self.tx.ready.val();
        self.merge.valid.next = self.tx.tx_valid.val();
        self.merge.data.next = self.tx.tx_data.val();
        self.merge.last.next = self.tx.tx_last.val();
        self.merge.error.next = self.tx.tx_error.val();
        self.tx.tx_ready.next = self.merge.ready.val();
        self.merge.answer_valid.next = self.responder.tx_valid.val();
        self.merge.answer_data.next = self.responder.tx_data.val();
        self.merge.answer_last.next = self.responder.tx_last.val();
        self.responder.tx_ready.next = self.merge.answer_ready.val();
        self.tx_valid.next = self.merge.tx_valid.val();
        self.tx_data.next = self.merge.tx_data.val();
        self.tx_last.next = self.merge.tx_last.val();
        self.tx_error.next = self.merge.tx_error.val();
        self.merge.tx_ready.next = self.tx_ready.val();
        self.asleep.next = self.nic.asleep.val()
            && !self.rx_valid.val()
            && !self.rx.busy.val()
            && !self.tx.busy.val()
            && !self.responder.busy.val();
    }
}

impl CheckedNic {
    /// # Panics
    /// If the parameters are not compatible.
    pub fn new(build: Build) -> Self {
        Self { nic: SmartNic::new(build), ..Self::default() }
    }
}

clocked!(CheckedNic);
