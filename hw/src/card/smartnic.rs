//! `SmartNic`: the card's top module, with time as a port.
//!
//! ```text
//!   MAC rx -> RxBuffer -> RxParser -> Lookup -+-> Reduce (sum) -> Scale (mean) -+
//!                                             +-> Gather <----------------------+
//!   host memory -> DmaRead -> Submit (commands)      |  |
//!                     |                              |  +-> Finisher -> host memory
//!                     +-> Contribute (encode) --+    |
//!                         local shard -> Reduce +----+-> Planner -> Builder -> MAC tx
//!   StageGates x 2 close the stages by the time port, whatever the host or the network does.
//! ```
//! Clock: designed for 250 MHz; hw/README.md has the static timing. Datapath: 512 bits,
//! valid/ready, initiation interval 1. The receive side never back-pressures.
//! [`CheckedNic`](super::checked_nic::CheckedNic) computes and checks UDP checksums around this
//! block.
//! Limits: 8 windows in flight, 64 ranks, 4 queue pairs. Host memory is a subset of AXI4: in-order
//! bursts of at most 64 beats of 64 bytes that never cross 4 KiB.
//! Reset: clearing CONTROL.enable at any time ([`super::reset`]); `reset` together with the bus.
//! From the first unreadable beat of a gradient on, the gradient is neither sent nor summed.

use super::build::Build;
use super::builder::Builder;
use super::contribute::Contribute;
use super::dma_read::DmaRead;
use super::finisher::Finisher;
use super::gather::Gather;
use super::lookup::Lookup;
use super::planner::Planner;
use super::reduce::Reduce;
use super::registers::{Events, Registers};
use super::reset::Reset;
use super::rx_buffer::RxBuffer;
use super::rx_parser::RxParser;
use super::scale::Scale;
use super::stage_gates::StageGates;
use super::submission::Submit;
use super::tx_guard::TxGuard;
use super::types::{GateReport, SendOrder, SlotContext};
use crate::hdl::prelude::*;

#[derive(LogicBlock, Default, Ports)]
pub struct SmartNic {
    pub clock: Signal<In, Clock>,
    /// Reset of the bus and the MAC, for at least [`super::reset::RESET_CYCLES`].
    pub reset: Signal<In, bool>,
    /// A free-running counter on a board.
    pub now_ns: Signal<In, W<48>>,

    /// Addresses are byte offset / 4. Read data follows one cycle later.
    pub reg_write: Signal<In, bool>,
    pub reg_write_address: Signal<In, W<10>>,
    pub reg_write_data: Signal<In, W<32>>,
    pub reg_read_address: Signal<In, W<10>>,
    pub reg_read_data: Signal<Out, W<32>>,
    pub msix_valid: Signal<Out, bool>,
    pub msix_vector: Signal<Out, W<2>>,
    pub msix_ready: Signal<In, bool>,

    /// All bytes are enabled in writes. After its response a write is visible to the host.
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
    pub axi_b_valid: Signal<In, bool>,
    pub axi_b_error: Signal<In, bool>,

    /// Always accepted.
    pub rx_valid: Signal<In, bool>,
    pub rx_data: Signal<In, Beat>,
    pub rx_last: Signal<In, bool>,
    /// Bad checksum, or not whole beats.
    pub rx_error: Signal<In, bool>,
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

    registers: Registers,
    restart: Reset,
    guard: TxGuard,
    dma_read: DmaRead,
    submit: Submit,
    contribute: Contribute,
    planner: Planner,
    builder: Builder,
    rx_buffer: RxBuffer,
    parser: RxParser,
    lookup: Lookup,
    contribute_gates: StageGates,
    broadcast_gates: StageGates,
    reduce: Reduce,
    scale: Scale,
    gather: Gather,
    finisher: Finisher,
    sending: DFF<W<8>>,
    unread: DFF<W<8>>,
    scan: DFF<W<4>>,
    nearest: DFF<W<48>>,
    timer: DFF<W<48>>,
    clear: Wire<bool>,
    own_slot: Wire<W<8>>,
    own_bad: Wire<bool>,
    order_slot: Wire<W<8>>,
    skip: Wire<bool>,
    skipped_bank: Wire<W<2>>,
    stall: Wire<bool>,
    quiet: Wire<bool>,
    to_reduce: Wire<bool>,
    to_gather: Wire<bool>,
    contribute_open: Wire<W<8>>,
    contribute_closed: Wire<W<8>>,
    broadcast_open: Wire<W<8>>,
    broadcast_closed: Wire<W<8>>,
    one64: Wire<W<64>>,
    one8: Wire<W<8>>,
    sender: Wire<W<64>>,
    finish_gate: Wire<GateReport>,
    auto_valid: Wire<bool>,
    send: Wire<SendOrder>,
    send_slot: Wire<W<8>>,
    unsent: Wire<W<8>>,
    looked_at: Wire<W<48>>,
    scan_next: Wire<W<4>>,
    ctx: Wire<SlotContext>,
    events: Wire<Events>,
}

#[sections]
impl Logic for SmartNic {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, sending, unread, scan, nearest, timer);

        self.clocks();
        self.registers_and_reset();
        self.host_reads();
        self.host_writes();
        self.rings();
        self.arm_bus();
        self.receive_path();
        self.gradient_to_mean();
        self.stage_gates();
        self.finish();
        self.windows_to_send();
        self.transmit_path();
        self.counters();
        self.wake_up();
        self.trace();
    }

    /// Clocks the units.
    fn clocks(&mut self) {
        self.restart.clock.next = self.clock.val();
        self.guard.clock.next = self.clock.val();
        self.registers.clock.next = self.clock.val();
        self.dma_read.clock.next = self.clock.val();
        self.submit.clock.next = self.clock.val();
        self.contribute.clock.next = self.clock.val();
        self.planner.clock.next = self.clock.val();
        self.builder.clock.next = self.clock.val();
        self.rx_buffer.clock.next = self.clock.val();
        self.parser.clock.next = self.clock.val();
        self.lookup.clock.next = self.clock.val();
        self.reduce.clock.next = self.clock.val();
        self.scale.clock.next = self.clock.val();
        self.gather.clock.next = self.clock.val();
        self.finisher.clock.next = self.clock.val();
    }

    /// Registers, reset and job.
    fn registers_and_reset(&mut self) {
        self.registers.write.next = self.reg_write.val();
        self.registers.write_address.next = self.reg_write_address.val();
        self.registers.write_data.next = self.reg_write_data.val();
        self.registers.read_address.next = self.reg_read_address.val();
        self.reg_read_data.next = self.registers.read_data.val();
        self.registers.reset.next = self.reset.val();
        self.restart.enable.next = self.registers.enable.val();
        self.restart.owed.next = self.dma_read.busy.val()
            || self.finisher.busy.val()
            || self.contribute.emptying.val()
            || self.guard.busy.val();
        self.clear.next = self.restart.clear.val();
        self.registers.clear.next = self.clear.val();
        self.registers.busy.next = self.restart.busy.val();
        self.dma_read.reset.next = self.reset.val();
        self.finisher.reset.next = self.reset.val();
        self.guard.reset.next = self.reset.val();
        self.guard.clear.next = self.clear.val();
        self.dma_read.clear.next = self.clear.val();
        self.submit.clear.next = self.clear.val();
        self.contribute.clear.next = self.clear.val();
        self.planner.clear.next = self.clear.val();
        self.builder.clear.next = self.clear.val();
        self.rx_buffer.clear.next = self.clear.val();
        self.rx_buffer.reset.next = self.reset.val();
        self.lookup.clear.next = self.clear.val();
        self.reduce.clear.next = self.clear.val();
        self.scale.clear.next = self.clear.val();
        self.gather.clear.next = self.clear.val();
        self.finisher.clear.next = self.clear.val();
        self.submit.job.next = self.registers.job.val();
        self.contribute.job.next = self.registers.job.val();
        self.planner.job.next = self.registers.job.val();
        self.builder.job.next = self.registers.job.val();
        self.parser.job.next = self.registers.job.val();
        self.lookup.job.next = self.registers.job.val();
        self.finisher.job.next = self.registers.job.val();
        self.builder.peer_write.next = self.registers.peer_write.val();
        self.builder.peer_word.next = self.registers.peer_word.val();
        self.builder.peer_data.next = self.reg_write_data.val();
    }

    /// Reads of host memory.
    fn host_reads(&mut self) {
        self.dma_read.submit_valid.next = self.submit.ar_valid.val();
        self.dma_read.submit_address.next = self.submit.ar_address.val();
        self.submit.ar_ready.next = self.dma_read.submit_ready.val();
        self.submit.r_valid.next = self.dma_read.submit_beat.val();
        self.submit.r_data.next = self.axi_r_data.val();
        self.submit.r_error.next = self.axi_r_error.val();
        self.dma_read.contribute_valid.next = self.contribute.ar_valid.val();
        self.dma_read.contribute_address.next = self.contribute.ar_address.val();
        self.dma_read.contribute_beats.next = self.contribute.ar_beats.val();
        self.dma_read.contribute_slot.next = self.contribute.ar_slot.val();
        self.contribute.ar_ready.next = self.dma_read.contribute_ready.val();
        self.contribute.r_valid.next = self.dma_read.contribute_beat.val();
        self.contribute.r_data.next = self.axi_r_data.val();
        self.dma_read.contribute_take.next = self.contribute.r_ready.val();
        self.axi_ar_valid.next = self.dma_read.ar_valid.val();
        self.axi_ar_address.next = self.dma_read.ar_address.val();
        self.axi_ar_beats.next = self.dma_read.ar_beats.val();
        self.dma_read.ar_ready.next = self.axi_ar_ready.val();
        self.dma_read.r_valid.next = self.axi_r_valid.val();
        self.dma_read.r_last.next = self.axi_r_last.val();
        self.dma_read.r_error.next = self.axi_r_error.val();
        self.axi_r_ready.next = self.dma_read.r_ready.val();
    }

    /// Writes to host memory.
    fn host_writes(&mut self) {
        self.axi_aw_valid.next = self.finisher.aw_valid.val();
        self.axi_aw_address.next = self.finisher.aw_address.val();
        self.axi_aw_beats.next = self.finisher.aw_beats.val();
        self.finisher.aw_ready.next = self.axi_aw_ready.val();
        self.axi_w_valid.next = self.finisher.w_valid.val();
        self.axi_w_data.next = self.finisher.w_data.val();
        self.axi_w_last.next = self.finisher.w_last.val();
        self.finisher.w_ready.next = self.axi_w_ready.val();
        self.finisher.b_valid.next = self.axi_b_valid.val();
        self.finisher.b_error.next = self.axi_b_error.val();
        self.registers.dma_fault.next =
            (self.axi_r_valid.val() && self.axi_r_error.val()) || (self.axi_b_valid.val() && self.axi_b_error.val());
    }

    /// Submission and completion rings, MSI-X.
    fn rings(&mut self) {
        self.submit.usable.next = self.registers.usable.val();
        self.registers.sq_queue.next = self.submit.sq_queue.val();
        self.submit.sq_base.next = self.registers.sq_base.val();
        self.submit.sq_mask.next = self.registers.sq_mask.val();
        self.registers.cq_queue.next = self.finisher.cq_queue.val();
        self.finisher.cq_base.next = self.registers.cq_base.val();
        for i in 0..4 {
            self.submit.sq_tail[i].next = self.registers.sq_tail[i].val();
            self.registers.sq_head[i].next = self.submit.sq_head[i].val();
            self.finisher.sq_head[i].next = self.submit.sq_head[i].val();
            self.finisher.cq_mask[i].next = self.registers.cq_mask[i].val();
            self.finisher.cq_head[i].next = self.registers.cq_head[i].val();
            self.registers.cq_tail[i].next = self.finisher.cq_tail[i].val();
        }
        self.registers.stop.next = self.submit.stop.val() | self.finisher.stop.val();
        self.msix_valid.next = self.finisher.msix_valid.val();
        self.msix_vector.next = self.finisher.msix_vector.val();
        self.finisher.msix_ready.next = self.msix_ready.val();
    }

    /// Distributes the arm bus.
    fn arm_bus(&mut self) {
        self.ctx.next = self.submit.arm_context.val();
        self.lookup.arm.next = self.submit.arm.val();
        self.lookup.arm_slot.next = self.submit.arm_slot.val();
        self.lookup.arm_context.next = self.ctx.val();
        self.contribute.arm.next = self.submit.arm.val();
        self.contribute.arm_slot.next = self.submit.arm_slot.val();
        self.contribute.arm_context.next = self.ctx.val();
        self.planner.arm.next = self.submit.arm.val();
        self.planner.arm_slot.next = self.submit.arm_slot.val();
        self.planner.arm_context.next = self.ctx.val();
        self.scale.arm.next = self.submit.arm.val();
        self.scale.arm_slot.next = self.submit.arm_slot.val();
        self.scale.arm_context.next = self.ctx.val();
        self.finisher.arm.next = self.submit.arm.val();
        self.finisher.arm_slot.next = self.submit.arm_slot.val();
        self.finisher.arm_context.next = self.ctx.val();
        self.lookup.freed.next = self.finisher.freed.val();
        self.submit.freed.next = self.finisher.freed.val();
    }

    /// Connects the MAC to reduce and gather. Only a contribution whose address is in flight, and
    /// bf16 (two cycles a beat), stall the path.
    fn receive_path(&mut self) {
        self.rx_buffer.rx_valid.next = self.rx_valid.val();
        self.rx_buffer.rx_data.next = self.rx_data.val();
        self.rx_buffer.rx_last.next = self.rx_last.val();
        self.rx_buffer.rx_error.next = self.rx_error.val();
        self.parser.in_valid.next = self.rx_buffer.valid.val();
        self.parser.in_data.next = self.rx_buffer.data.val();
        self.parser.frame_beats.next = self.rx_buffer.frame_beats.val();
        self.rx_buffer.pop.next = self.parser.pop.val();
        self.lookup.in_valid.next = self.parser.valid.val();
        self.lookup.in_head.next = self.parser.head.val();
        self.lookup.in_header.next = self.parser.header.val();
        self.lookup.in_data.next = self.parser.data.val();
        self.to_reduce.next = self.lookup.valid.val() && !self.lookup.broadcast.val();
        self.to_gather.next = self.lookup.valid.val() && self.lookup.broadcast.val();
        self.reduce.rx_valid.next = self.to_reduce.val();
        self.reduce.rx.next = self.lookup.beat.val();
        self.gather.rx_valid.next = self.to_gather.val();
        self.gather.rx.next = self.lookup.beat.val();
        self.stall.next = self.to_reduce.val() && !self.reduce.rx_ready.val();
        self.parser.stall.next = self.lookup.busy.val();
        self.lookup.stall.next = self.stall.val();
        self.quiet.next = !self.rx_buffer.valid.val() && self.parser.empty.val() && self.lookup.empty.val();
    }

    /// Local gradient, scaling and gathering. Unreadable beats are not summed.
    fn gradient_to_mean(&mut self) {
        self.unread.d.next = (self.unread.q.val() & (self.submit.arm.val() ^ 0xff)) | self.dma_read.unread.val();
        if self.clear.val() {
            self.unread.d.next = bits_w::<8>(0);
        }
        self.one8.next = bits_w::<8>(1);
        self.own_slot.next = self.one8.val() << self.contribute.own.val().slot;
        self.own_bad.next = (self.unread.q.val() & self.own_slot.val()) != 0;
        self.finisher.unread.next = self.unread.q.val();
        self.reduce.own_valid.next = self.contribute.own_valid.val() && !self.own_bad.val();
        self.reduce.own.next = self.contribute.own.val();
        self.contribute.own_ready.next = self.reduce.own_ready.val() || self.own_bad.val();
        self.reduce.scale_valid.next = self.scale.read_valid.val();
        self.reduce.scale_address.next = self.scale.read_address.val();
        self.scale.read_ready.next = self.reduce.scale_ready.val();
        self.scale.word.next = self.reduce.scale_word.val();
        self.gather.scaled_valid.next = self.scale.valid.val();
        self.gather.scaled.next = self.scale.mean.val();
        self.scale.ready.next = self.gather.scaled_ready.val();
        self.submit.scaled.next = self.scale.scaled.val();
        self.finisher.scaled.next = self.scale.scaled.val();
        self.reduce.window_beats.next = self.registers.job.val().window_beats;
        self.gather.window_beats.next = self.registers.job.val().window_beats;
        self.reduce.scrub.next = self.submit.scrub.val();
        self.reduce.scrub_slot.next = self.submit.scrub_slot.val();
        self.gather.scrub.next = self.submit.scrub.val();
        self.gather.scrub_slot.next = self.submit.scrub_slot.val();
        self.submit.scrub_busy.next = self.reduce.scrub_busy.val() || self.gather.scrub_busy.val();
    }

    /// Stage gates. The broadcast stage is entered when the contribute stage is over.
    fn stage_gates(&mut self) {
        self.one64.next = bits_w::<64>(1);
        self.sender.next = self.one64.val() << self.lookup.beat.val().sender;
        self.contribute_open.next = self.contribute_gates.open.val();
        self.contribute_closed.next = self.contribute_gates.closed.val();
        self.broadcast_open.next = self.broadcast_gates.open.val();
        self.broadcast_closed.next = self.broadcast_gates.closed.val();
        self.contribute_gates.clock.next = self.clock.val();
        self.contribute_gates.clear.next = self.clear.val();
        self.contribute_gates.now_ns.next = self.now_ns.val();
        self.contribute_gates.quiet.next = self.quiet.val();
        self.contribute_gates.arm.next = self.submit.arm.val();
        self.contribute_gates.arm_slot.next = self.submit.arm_slot.val();
        self.contribute_gates.rules.next = self.submit.contribute_rules.val();
        self.contribute_gates.enter.next = self.submit.enter.val();
        self.contribute_gates.packet.next = self.lookup.packet.val() && !self.lookup.broadcast.val();
        self.contribute_gates.packet_slot.next = self.lookup.beat.val().slot;
        self.contribute_gates.sender.next = self.sender.val();
        self.contribute_gates.mark.next = self.lookup.mark.val();
        self.contribute_gates.beat.next = self.reduce.accepted.val();
        self.contribute_gates.beat_slot.next = self.reduce.decided.val().slot;
        self.contribute_gates.own.next = self.reduce.accepted_own.val();
        self.contribute_gates.free.next = self.finisher.freed.val();
        self.contribute_gates.report_slot.next = self.finisher.slot.val();
        self.contribute_gates.timer_slot.next = self.scan.q.val().get_bits::<3>(0);
        self.broadcast_gates.clock.next = self.clock.val();
        self.broadcast_gates.clear.next = self.clear.val();
        self.broadcast_gates.now_ns.next = self.now_ns.val();
        self.broadcast_gates.quiet.next = self.quiet.val();
        self.broadcast_gates.arm.next = self.submit.arm.val();
        self.broadcast_gates.arm_slot.next = self.submit.arm_slot.val();
        self.broadcast_gates.rules.next = self.submit.broadcast_rules.val();
        self.broadcast_gates.enter.next = self.contribute_closed.val();
        self.broadcast_gates.packet.next = self.lookup.packet.val() && self.lookup.broadcast.val();
        self.broadcast_gates.packet_slot.next = self.lookup.beat.val().slot;
        self.broadcast_gates.sender.next = self.sender.val();
        self.broadcast_gates.mark.next = self.lookup.mark.val();
        self.broadcast_gates.beat.next = self.gather.accepted.val();
        self.broadcast_gates.beat_slot.next = self.gather.decided.val().slot;
        self.broadcast_gates.own.next = false;
        self.broadcast_gates.free.next = self.finisher.freed.val();
        self.broadcast_gates.report_slot.next = self.finisher.slot.val();
        self.broadcast_gates.timer_slot.next = self.scan.q.val().get_bits::<3>(0);
        self.reduce.open.next = self.contribute_open.val();
        self.gather.open.next = self.broadcast_open.val();
        self.scale.closed.next = self.contribute_closed.val();
        self.finisher.broadcast_closed.next = self.broadcast_closed.val();
    }

    /// Sources of the finisher.
    fn finish(&mut self) {
        self.finish_gate.next = self.contribute_gates.report.val();
        if self.finisher.broadcast.val() {
            self.finish_gate.next = self.broadcast_gates.report.val();
        }
        self.finisher.gate.next = self.finish_gate.val();
        self.reduce.count_address.next = self.finisher.count_address.val();
        self.reduce.count_epoch.next = self.finisher.count_epoch.val();
        self.finisher.contribute_count.next = self.reduce.count.val();
        self.gather.count_address.next = self.finisher.count_address.val();
        self.gather.count_epoch.next = self.finisher.count_epoch.val();
        self.finisher.broadcast_count.next = self.gather.count.val();
        self.submit.finishing.next = self.finisher.finishing.val();
        self.submit.refuse_ready.next = self.finisher.refuse_ready.val();
        self.finisher.refuse.next = self.submit.refuse.val();
        self.finisher.refusal.next = self.submit.refusal.val();
        self.gather.finish_valid.next = self.finisher.read_valid.val();
        self.gather.finish_address.next = self.finisher.read_address.val();
        self.finisher.read_ready.next = self.gather.finish_ready.val();
        self.finisher.word.next = self.gather.word.val();
    }

    /// Passes windows to the planner: a mean once it is scaled, or on the host's BROADCAST.
    fn windows_to_send(&mut self) {
        self.contribute.order_valid.next = self.submit.order_valid.val();
        self.contribute.order.next = self.submit.order.val();
        self.submit.order_ready.next = self.contribute.order_ready.val();
        self.planner.now_ns.next = self.now_ns.val();
        self.planner.peer_write.next = self.registers.peer_write.val();
        self.planner.peer_word.next = self.registers.peer_word.val();
        self.planner.peer_data.next = self.reg_write_data.val();
        self.planner.enter.next = self.submit.enter.val();
        self.planner.advert.next = self.submit.advert.val();
        self.planner.filled_low.next = self.contribute.filled_low.val();
        self.planner.filled_high.next = self.contribute.filled_high.val();
        self.planner.contribute_valid.next = self.contribute.send_valid.val();
        self.planner.contribute.next = self.contribute.send.val();
        self.contribute.send_ready.next = self.planner.contribute_ready.val();
        self.auto_valid.next = self.scale.broadcast.val();
        self.send.next = self.submit.send.val();
        if self.auto_valid.val() {
            self.send.next.slot = self.scale.broadcast_slot.val();
        }
        self.submit.send_ready.next = !self.auto_valid.val();
        self.planner.broadcast_valid.next = self.auto_valid.val() || self.submit.send_valid.val();
        self.planner.broadcast.next = self.send.val();
        self.send_slot.next = bits_w::<8>(0);
        if self.planner.broadcast_valid.val() {
            self.send_slot.next = self.one8.val() << self.send.val().slot;
        }
        self.unsent.next = self.builder.sent_slot.val() ^ 0xff;
        self.sending.d.next = (self.sending.q.val() & self.unsent.val()) | self.send_slot.val();
        if self.clear.val() {
            self.sending.d.next = bits_w::<8>(0);
        }
        self.finisher.sending.next =
            self.sending.q.val() | self.send_slot.val() | self.contribute.held.val() | self.submit.ordering.val();
    }

    /// Planner, builder and MAC.
    fn transmit_path(&mut self) {
        // Packets of an unreadable gradient are skipped. Its bank is free when the builder is idle.
        self.order_slot.next = self.one8.val() << self.planner.order.val().slot;
        self.skip.next = self.planner.valid.val()
            && !self.planner.order.val().broadcast
            && ((self.unread.q.val() & self.order_slot.val()) != 0);
        self.builder.order_valid.next = self.planner.valid.val() && !self.skip.val();
        self.builder.order.next = self.planner.order.val();
        self.planner.ready.next = self.builder.order_ready.val();
        self.skipped_bank.next = bits_w::<2>(0);
        if self.skip.val() {
            self.planner.ready.next = !self.planner.order.val().last || !self.builder.working.val();
            if self.planner.order.val().last && !self.builder.working.val() {
                self.skipped_bank.next = bits_w::<2>(1);
                if self.planner.order.val().bank {
                    self.skipped_bank.next = bits_w::<2>(2);
                }
            }
        }
        self.contribute.read_valid.next = self.builder.buffer_valid.val();
        self.contribute.read_address.next = self.builder.buffer_address.val();
        self.builder.buffer_data.next = self.contribute.read_data.val();
        self.contribute.sent.next = self.builder.sent_bank.val() | self.skipped_bank.val();
        self.gather.send_valid.next = self.builder.gather_valid.val() || self.planner.ask_valid.val();
        self.gather.send_address.next = self.planner.ask_address.val();
        if self.builder.gather_valid.val() {
            self.gather.send_address.next = self.builder.gather_address.val();
        }
        self.planner.ask_ready.next = !self.builder.gather_valid.val();
        self.planner.word.next = self.gather.word.val();
        self.builder.gather_word.next = self.gather.word.val();
        self.guard.valid.next = self.builder.mac_valid.val();
        self.guard.beat.next = self.builder.mac.val();
        self.builder.mac_ready.next = self.guard.ready.val();
        self.tx_valid.next = self.guard.tx_valid.val();
        self.tx_data.next = self.guard.tx_data.val();
        self.tx_last.next = self.guard.tx_last.val();
        self.tx_error.next = self.guard.tx_error.val();
        self.guard.tx_ready.next = self.tx_ready.val();
    }

    /// Drives the counters.
    fn counters(&mut self) {
        self.events.next.rx_packet =
            self.rx_buffer.stored.val() || self.rx_buffer.bad.val() || self.rx_buffer.full.val();
        self.events.next.tx_packet = self.builder.began.val();
        self.events.next.fifo_full = self.rx_buffer.full.val();
        self.events.next.bad = self.rx_buffer.bad.val();
        self.events.next.foreign = self.parser.drop_foreign.val();
        self.events.next.malformed = self.parser.drop_malformed.val();
        self.events.next.version = self.parser.drop_version.val();
        self.events.next.job = self.parser.drop_job.val();
        self.events.next.no_window = self.lookup.drop_no_window.val();
        self.events.next.stale = self.lookup.drop_stale.val();
        self.events.next.flags = self.lookup.drop_flags.val();
        self.events.next.out_of_shard = self.lookup.drop_out_of_shard.val();
        self.events.next.late_contribute = self.reduce.drop_late.val();
        self.events.next.late_broadcast = self.gather.drop_late.val();
        self.events.next.duplicate_contribute = self.reduce.drop_duplicate.val();
        self.events.next.duplicate_broadcast = self.gather.drop_duplicate.val();
        self.registers.events.next = self.events.val();
    }

    /// Finds the nearest timer, one gate a cycle.
    fn wake_up(&mut self) {
        self.scan_next.next = self.scan.q.val() + 1;
        self.scan.d.next = self.scan_next.val();
        self.looked_at.next = self.contribute_gates.timer_ns.val();
        if self.scan.q.val().get_bit(3) {
            self.looked_at.next = self.broadcast_gates.timer_ns.val();
        }
        if (self.scan.q.val() == 0) || (self.looked_at.val() < self.nearest.q.val()) {
            self.nearest.d.next = self.looked_at.val();
        }
        if self.scan.q.val() == 0 {
            self.timer.d.next = self.nearest.q.val();
        }
        if self.clear.val() {
            self.scan.d.next = bits_w::<4>(0);
        }
        self.timer_ns.next = self.timer.q.val();
        self.asleep.next = self.quiet.val()
            && !self.restart.busy.val()
            && !self.guard.busy.val()
            && !self.rx_valid.val()
            && !self.submit.working.val()
            && !self.contribute.working.val()
            && !self.scale.working.val()
            && !self.planner.working.val()
            && !self.builder.working.val()
            && !self.finisher.working.val();
    }

    /// Drives the traces.
    fn trace(&mut self) {
        self.trace_arm.next = self.submit.arm.val();
        self.trace_cookie.next = self.ctx.val().cookie;
        self.trace_sum.next = self.reduce.accepted.val();
        self.trace_sum_place.next = (bit_cast_w::<23, 3>(self.reduce.decided.val().slot) << 20)
            | (bit_cast_w::<23, 14>(self.reduce.decided.val().position) << 6)
            | bit_cast_w::<23, 6>(self.reduce.decided.val().sender);
        self.trace_mean.next = self.gather.accepted.val();
        self.trace_mean_place.next = (bit_cast_w::<23, 3>(self.gather.decided.val().slot) << 20)
            | (bit_cast_w::<23, 14>(self.gather.decided.val().position) << 6)
            | bit_cast_w::<23, 6>(self.gather.decided.val().sender);
        self.trace_contribute_open.next = self.contribute_open.val();
        self.trace_broadcast_open.next = self.broadcast_open.val();
    }
}

impl SmartNic {
    /// # Panics
    /// If the parameters are not compatible.
    pub fn new(build: Build) -> Self {
        let build = build.checked();
        Self {
            registers: Registers::new(build),
            contribute: Contribute::new(build),
            finisher: Finisher::new(build),
            reduce: Reduce::new(build),
            gather: Gather::new(build),
            ..Self::default()
        }
    }
}

clocked!(SmartNic);
