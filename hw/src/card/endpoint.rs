//! `Endpoint`: the card with the interfaces that boards have, and nothing else: [`CheckedNic`] behind an AXI4-Lite slave
//! (registers), a 512-bit AXI4 master (host memory), 512-bit AXI streams (MAC), MSI-X requests, and its own clock of
//! nanoseconds. Names and widths are those of the standards, so that a board's shell only connects.
//!
//! Clock: 250 MHz; at another frequency the card's nanoseconds are longer or shorter. Reset: `aresetn` low for at least
//! [`super::reset::RESET_CYCLES`], with the bus and the MAC; all registers except CONTROL keep their values.
//! AXI4: one ID, bursts INCR of 64-byte beats that never cross 4 KiB, all strobes set; up to 16 reads and 16 writes
//! outstanding; any response except OKAY is an error. Streams: the card always takes what the MAC receives; `tuser` with
//! the last beat marks a bad frame in both directions; a received frame that is not whole beats is never a packet.

use super::axi_lite::AxiLite;
use super::build::Build;
use super::checked_nic::CheckedNic;
use crate::hdl::prelude::*;

/// The card's top for boards, see the module.
#[derive(LogicBlock, Default)]
pub struct Endpoint {
    /// 250 MHz clock of everything.
    pub clock: Signal<In, Clock>,
    /// Synchronous reset, active low.
    pub aresetn: Signal<In, bool>,
    /// The MAC's state for the register LINK, in this clock: bit 0 receiver aligned, 1 RS-FEC aligned, 2 the shell knows both.
    pub link: Signal<In, W<3>>,
    /// For the register PCI_ID, a constant: vendor of the PCIe bridge, and device times 65536.
    pub pci_id: Signal<In, W<32>>,
    /// For the register BUILD_ID, a constant.
    pub build_id: Signal<In, W<32>>,

    /// Registers: write address.
    pub s_axil_awaddr: Signal<In, W<12>>,
    /// Protection; ignored.
    pub s_axil_awprot: Signal<In, W<3>>,
    /// Valid.
    pub s_axil_awvalid: Signal<In, bool>,
    /// Ready.
    pub s_axil_awready: Signal<Out, bool>,
    /// Registers: write data.
    pub s_axil_wdata: Signal<In, W<32>>,
    /// Strobes: all or SLVERR.
    pub s_axil_wstrb: Signal<In, W<4>>,
    /// Valid.
    pub s_axil_wvalid: Signal<In, bool>,
    /// Ready.
    pub s_axil_wready: Signal<Out, bool>,
    /// Registers: write response.
    pub s_axil_bresp: Signal<Out, W<2>>,
    /// Valid.
    pub s_axil_bvalid: Signal<Out, bool>,
    /// Ready.
    pub s_axil_bready: Signal<In, bool>,
    /// Registers: read address.
    pub s_axil_araddr: Signal<In, W<12>>,
    /// Protection; ignored.
    pub s_axil_arprot: Signal<In, W<3>>,
    /// Valid.
    pub s_axil_arvalid: Signal<In, bool>,
    /// Ready.
    pub s_axil_arready: Signal<Out, bool>,
    /// Registers: read data.
    pub s_axil_rdata: Signal<Out, W<32>>,
    /// OKAY.
    pub s_axil_rresp: Signal<Out, W<2>>,
    /// Valid.
    pub s_axil_rvalid: Signal<Out, bool>,
    /// Ready.
    pub s_axil_rready: Signal<In, bool>,

    /// Host memory: write ID, 0.
    pub m_axi_awid: Signal<Out, W<4>>,
    /// First byte.
    pub m_axi_awaddr: Signal<Out, W<64>>,
    /// Beats - 1.
    pub m_axi_awlen: Signal<Out, W<8>>,
    /// 6: 64 bytes a beat.
    pub m_axi_awsize: Signal<Out, W<3>>,
    /// 1: INCR.
    pub m_axi_awburst: Signal<Out, W<2>>,
    /// 0: normal access.
    pub m_axi_awlock: Signal<Out, W<1>>,
    /// 3: normal, bufferable.
    pub m_axi_awcache: Signal<Out, W<4>>,
    /// 0: unprivileged, secure, data.
    pub m_axi_awprot: Signal<Out, W<3>>,
    /// Valid.
    pub m_axi_awvalid: Signal<Out, bool>,
    /// Ready.
    pub m_axi_awready: Signal<In, bool>,
    /// Host memory: write data.
    pub m_axi_wdata: Signal<Out, Beat>,
    /// All ones.
    pub m_axi_wstrb: Signal<Out, W<64>>,
    /// Last of the burst.
    pub m_axi_wlast: Signal<Out, bool>,
    /// Valid.
    pub m_axi_wvalid: Signal<Out, bool>,
    /// Ready.
    pub m_axi_wready: Signal<In, bool>,
    /// Host memory: write response ID; ignored, they come in order.
    pub m_axi_bid: Signal<In, W<4>>,
    /// Response; not OKAY: an error.
    pub m_axi_bresp: Signal<In, W<2>>,
    /// Valid.
    pub m_axi_bvalid: Signal<In, bool>,
    /// Always.
    pub m_axi_bready: Signal<Out, bool>,
    /// Host memory: read ID, 0.
    pub m_axi_arid: Signal<Out, W<4>>,
    /// First byte.
    pub m_axi_araddr: Signal<Out, W<64>>,
    /// Beats - 1.
    pub m_axi_arlen: Signal<Out, W<8>>,
    /// 6: 64 bytes a beat.
    pub m_axi_arsize: Signal<Out, W<3>>,
    /// 1: INCR.
    pub m_axi_arburst: Signal<Out, W<2>>,
    /// 0: normal access.
    pub m_axi_arlock: Signal<Out, W<1>>,
    /// 3: normal, bufferable.
    pub m_axi_arcache: Signal<Out, W<4>>,
    /// 0: unprivileged, secure, data.
    pub m_axi_arprot: Signal<Out, W<3>>,
    /// Valid.
    pub m_axi_arvalid: Signal<Out, bool>,
    /// Ready.
    pub m_axi_arready: Signal<In, bool>,
    /// Host memory: read data ID; ignored, they come in order.
    pub m_axi_rid: Signal<In, W<4>>,
    /// The beat.
    pub m_axi_rdata: Signal<In, Beat>,
    /// Response; not OKAY: an error.
    pub m_axi_rresp: Signal<In, W<2>>,
    /// Last of the burst.
    pub m_axi_rlast: Signal<In, bool>,
    /// Valid.
    pub m_axi_rvalid: Signal<In, bool>,
    /// Ready.
    pub m_axi_rready: Signal<Out, bool>,

    /// From the MAC: the beat.
    pub s_axis_rx_tdata: Signal<In, Beat>,
    /// Its valid bytes.
    pub s_axis_rx_tkeep: Signal<In, W<64>>,
    /// Last of its frame.
    pub s_axis_rx_tlast: Signal<In, bool>,
    /// With the last beat: bad frame.
    pub s_axis_rx_tuser: Signal<In, bool>,
    /// Valid.
    pub s_axis_rx_tvalid: Signal<In, bool>,
    /// Always.
    pub s_axis_rx_tready: Signal<Out, bool>,
    /// To the MAC: the beat.
    pub m_axis_tx_tdata: Signal<Out, Beat>,
    /// All ones.
    pub m_axis_tx_tkeep: Signal<Out, W<64>>,
    /// Last of its frame.
    pub m_axis_tx_tlast: Signal<Out, bool>,
    /// With the last beat: send it with a bad checksum.
    pub m_axis_tx_tuser: Signal<Out, bool>,
    /// Valid.
    pub m_axis_tx_tvalid: Signal<Out, bool>,
    /// Ready.
    pub m_axis_tx_tready: Signal<In, bool>,

    /// Completions were written: interrupt the host.
    pub msix_valid: Signal<Out, bool>,
    /// With this vector.
    pub msix_vector: Signal<Out, W<2>>,
    /// It is taken.
    pub msix_ready: Signal<In, bool>,

    nic: CheckedNic,
    registers: AxiLite,
    now_ns: DFF<W<48>>,
    rx_bad: DFF<bool>,
    reset: Wire<bool>,
    now_next: Wire<W<48>>,
    rx_spoilt: Wire<bool>,
    ar_len: Wire<W<7>>,
    aw_len: Wire<W<7>>,
}

impl Logic for Endpoint {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, now_ns, rx_bad);
        self.nic.clock.next = self.clock.val();
        self.registers.clock.next = self.clock.val();
        self.reset.next = !self.aresetn.val();
        self.nic.reset.next = self.reset.val();
        self.registers.reset.next = self.reset.val();
        self.now_next.next = self.now_ns.q.val() + 4;
        self.now_ns.d.next = self.now_next.val();
        self.nic.now_ns.next = self.now_ns.q.val();
        self.nic.link.next = self.link.val();
        self.nic.pci_id.next = self.pci_id.val();
        self.nic.build_id.next = self.build_id.val();

        // Registers.
        self.registers.awvalid.next = self.s_axil_awvalid.val();
        self.registers.awaddr.next = self.s_axil_awaddr.val();
        self.s_axil_awready.next = self.registers.awready.val();
        self.registers.wvalid.next = self.s_axil_wvalid.val();
        self.registers.wdata.next = self.s_axil_wdata.val();
        self.registers.wstrb.next = self.s_axil_wstrb.val();
        self.s_axil_wready.next = self.registers.wready.val();
        self.s_axil_bvalid.next = self.registers.bvalid.val();
        self.s_axil_bresp.next = self.registers.bresp.val();
        self.registers.bready.next = self.s_axil_bready.val();
        self.registers.arvalid.next = self.s_axil_arvalid.val();
        self.registers.araddr.next = self.s_axil_araddr.val();
        self.s_axil_arready.next = self.registers.arready.val();
        self.s_axil_rvalid.next = self.registers.rvalid.val();
        self.s_axil_rdata.next = self.registers.rdata.val();
        self.s_axil_rresp.next = self.registers.rresp.val();
        self.registers.rready.next = self.s_axil_rready.val();
        self.nic.reg_write.next = self.registers.write.val();
        self.nic.reg_write_address.next = self.registers.write_address.val();
        self.nic.reg_write_data.next = self.registers.write_data.val();
        self.nic.reg_read_address.next = self.registers.read_address.val();
        self.registers.read_data.next = self.nic.reg_read_data.val();

        // Host memory.
        self.aw_len.next = self.nic.axi_aw_beats.val() - 1;
        self.m_axi_awid.next = bits_w::<4>(0);
        self.m_axi_awaddr.next = self.nic.axi_aw_address.val();
        self.m_axi_awlen.next = bit_cast_w::<8, 7>(self.aw_len.val());
        self.m_axi_awsize.next = bits_w::<3>(6);
        self.m_axi_awburst.next = bits_w::<2>(1);
        self.m_axi_awlock.next = bits_w::<1>(0);
        self.m_axi_awcache.next = bits_w::<4>(3);
        self.m_axi_awprot.next = bits_w::<3>(0);
        self.m_axi_awvalid.next = self.nic.axi_aw_valid.val();
        self.nic.axi_aw_ready.next = self.m_axi_awready.val();
        self.m_axi_wdata.next = self.nic.axi_w_data.val();
        self.m_axi_wstrb.next = bits_w::<64>(0xffff_ffff_ffff_ffffu64);
        self.m_axi_wlast.next = self.nic.axi_w_last.val();
        self.m_axi_wvalid.next = self.nic.axi_w_valid.val();
        self.nic.axi_w_ready.next = self.m_axi_wready.val();
        self.nic.axi_b_valid.next = self.m_axi_bvalid.val();
        self.nic.axi_b_error.next = self.m_axi_bresp.val() != 0;
        self.m_axi_bready.next = true;
        self.ar_len.next = self.nic.axi_ar_beats.val() - 1;
        self.m_axi_arid.next = bits_w::<4>(0);
        self.m_axi_araddr.next = self.nic.axi_ar_address.val();
        self.m_axi_arlen.next = bit_cast_w::<8, 7>(self.ar_len.val());
        self.m_axi_arsize.next = bits_w::<3>(6);
        self.m_axi_arburst.next = bits_w::<2>(1);
        self.m_axi_arlock.next = bits_w::<1>(0);
        self.m_axi_arcache.next = bits_w::<4>(3);
        self.m_axi_arprot.next = bits_w::<3>(0);
        self.m_axi_arvalid.next = self.nic.axi_ar_valid.val();
        self.nic.axi_ar_ready.next = self.m_axi_arready.val();
        self.nic.axi_r_valid.next = self.m_axi_rvalid.val();
        self.nic.axi_r_data.next = self.m_axi_rdata.val();
        self.nic.axi_r_last.next = self.m_axi_rlast.val();
        self.nic.axi_r_error.next = self.m_axi_rresp.val() != 0;
        self.m_axi_rready.next = self.nic.axi_r_ready.val();

        // The wire.
        self.s_axis_rx_tready.next = true;
        self.rx_spoilt.next = self.rx_bad.q.val() || (self.s_axis_rx_tkeep.val() != 0xffff_ffff_ffff_ffffu64);
        if self.s_axis_rx_tvalid.val() {
            self.rx_bad.d.next = self.rx_spoilt.val() && !self.s_axis_rx_tlast.val();
        }
        self.nic.rx_valid.next = self.s_axis_rx_tvalid.val();
        self.nic.rx_data.next = self.s_axis_rx_tdata.val();
        self.nic.rx_last.next = self.s_axis_rx_tlast.val();
        self.nic.rx_error.next = self.s_axis_rx_tuser.val();
        self.nic.rx_partial.next = self.rx_spoilt.val();
        self.m_axis_tx_tdata.next = self.nic.tx_data.val();
        self.m_axis_tx_tkeep.next = bits_w::<64>(0xffff_ffff_ffff_ffffu64);
        self.m_axis_tx_tlast.next = self.nic.tx_last.val();
        self.m_axis_tx_tuser.next = self.nic.tx_error.val();
        self.m_axis_tx_tvalid.next = self.nic.tx_valid.val();
        self.nic.tx_ready.next = self.m_axis_tx_tready.val();

        // Interrupts.
        self.msix_valid.next = self.nic.msix_valid.val();
        self.msix_vector.next = self.nic.msix_vector.val();
        self.nic.msix_ready.next = self.msix_ready.val();

        if self.reset.val() {
            self.now_ns.d.next = bits_w::<48>(0);
            self.rx_bad.d.next = false;
        }
    }
}

impl Endpoint {
    /// A card of this build.
    ///
    /// # Panics
    /// When the parameters are not compatible: that is a design error.
    pub fn new(build: Build) -> Self {
        Self { nic: CheckedNic::new(build), ..Self::default() }
    }
}

clocked!(Endpoint);
