//! `Endpoint`: the card's top for boards, [`CheckedNic`] behind standard interfaces.
//!
//! An AXI4-Lite slave (registers), an AXI4 master (host memory), AXI streams (MAC) and MSI-X
//! requests, with the names and widths of the standards.
//! Clock: designed for 250 MHz; hw/README.md has the static timing. At another frequency the card's
//! nanoseconds are longer or shorter.
//! Reset: `aresetn` low for at least [`super::reset::RESET_CYCLES`], with the bus and the MAC.
//! CONTROL, counters and errors are zeroed; other registers keep their values.
//! AXI4: one ID, INCR bursts of 64-byte beats within 4 KiB, all strobes set, up to 16 reads and 16
//! writes outstanding. Any response except OKAY is an error.
//! Streams: the card always accepts. `tuser` with the last beat marks a bad frame in both
//! directions. A received frame that is not whole beats is never a UBT packet.
//! Latency, throughput and back-pressure: as in [`CheckedNic`] and [`AxiLite`].

use super::axi_lite::AxiLite;
use super::build::Build;
use super::checked_nic::CheckedNic;
use crate::hdl::prelude::*;

#[derive(LogicBlock, Default)]
pub struct Endpoint {
    pub clock: Signal<In, Clock>,
    /// Synchronous reset, active low.
    pub aresetn: Signal<In, bool>,
    /// Register LINK. Bits: 0 receiver aligned, 1 RS-FEC aligned, 2 both are known.
    pub link: Signal<In, W<3>>,
    /// Register PCI_ID, constant: vendor of the PCIe bridge, plus device times 65536.
    pub pci_id: Signal<In, W<32>>,
    /// Register BUILD_ID, constant.
    pub build_id: Signal<In, W<32>>,

    /// Protection bits are ignored, and a write needs all strobes.
    pub s_axil_awaddr: Signal<In, W<12>>,
    pub s_axil_awprot: Signal<In, W<3>>,
    pub s_axil_awvalid: Signal<In, bool>,
    pub s_axil_awready: Signal<Out, bool>,
    pub s_axil_wdata: Signal<In, W<32>>,
    pub s_axil_wstrb: Signal<In, W<4>>,
    pub s_axil_wvalid: Signal<In, bool>,
    pub s_axil_wready: Signal<Out, bool>,
    pub s_axil_bresp: Signal<Out, W<2>>,
    pub s_axil_bvalid: Signal<Out, bool>,
    pub s_axil_bready: Signal<In, bool>,
    pub s_axil_araddr: Signal<In, W<12>>,
    pub s_axil_arprot: Signal<In, W<3>>,
    pub s_axil_arvalid: Signal<In, bool>,
    pub s_axil_arready: Signal<Out, bool>,
    pub s_axil_rdata: Signal<Out, W<32>>,
    pub s_axil_rresp: Signal<Out, W<2>>,
    pub s_axil_rvalid: Signal<Out, bool>,
    pub s_axil_rready: Signal<In, bool>,

    /// Constants: ID 0, size 6 (64 bytes), burst 1 (INCR), lock 0, cache 3 (normal, bufferable),
    /// protection 0, all strobes, `bready`. Response IDs are ignored.
    pub m_axi_awid: Signal<Out, W<4>>,
    pub m_axi_awaddr: Signal<Out, W<64>>,
    pub m_axi_awlen: Signal<Out, W<8>>,
    pub m_axi_awsize: Signal<Out, W<3>>,
    pub m_axi_awburst: Signal<Out, W<2>>,
    pub m_axi_awlock: Signal<Out, W<1>>,
    pub m_axi_awcache: Signal<Out, W<4>>,
    pub m_axi_awprot: Signal<Out, W<3>>,
    pub m_axi_awvalid: Signal<Out, bool>,
    pub m_axi_awready: Signal<In, bool>,
    pub m_axi_wdata: Signal<Out, Beat>,
    pub m_axi_wstrb: Signal<Out, W<64>>,
    pub m_axi_wlast: Signal<Out, bool>,
    pub m_axi_wvalid: Signal<Out, bool>,
    pub m_axi_wready: Signal<In, bool>,
    pub m_axi_bid: Signal<In, W<4>>,
    pub m_axi_bresp: Signal<In, W<2>>,
    pub m_axi_bvalid: Signal<In, bool>,
    pub m_axi_bready: Signal<Out, bool>,
    /// The same constants. Data IDs are ignored.
    pub m_axi_arid: Signal<Out, W<4>>,
    pub m_axi_araddr: Signal<Out, W<64>>,
    pub m_axi_arlen: Signal<Out, W<8>>,
    pub m_axi_arsize: Signal<Out, W<3>>,
    pub m_axi_arburst: Signal<Out, W<2>>,
    pub m_axi_arlock: Signal<Out, W<1>>,
    pub m_axi_arcache: Signal<Out, W<4>>,
    pub m_axi_arprot: Signal<Out, W<3>>,
    pub m_axi_arvalid: Signal<Out, bool>,
    pub m_axi_arready: Signal<In, bool>,
    pub m_axi_rid: Signal<In, W<4>>,
    pub m_axi_rdata: Signal<In, Beat>,
    pub m_axi_rresp: Signal<In, W<2>>,
    pub m_axi_rlast: Signal<In, bool>,
    pub m_axi_rvalid: Signal<In, bool>,
    pub m_axi_rready: Signal<Out, bool>,

    pub s_axis_rx_tdata: Signal<In, Beat>,
    pub s_axis_rx_tkeep: Signal<In, W<64>>,
    pub s_axis_rx_tlast: Signal<In, bool>,
    pub s_axis_rx_tuser: Signal<In, bool>,
    pub s_axis_rx_tvalid: Signal<In, bool>,
    pub s_axis_rx_tready: Signal<Out, bool>,
    /// `tkeep` is all ones.
    pub m_axis_tx_tdata: Signal<Out, Beat>,
    pub m_axis_tx_tkeep: Signal<Out, W<64>>,
    pub m_axis_tx_tlast: Signal<Out, bool>,
    pub m_axis_tx_tuser: Signal<Out, bool>,
    pub m_axis_tx_tvalid: Signal<Out, bool>,
    pub m_axis_tx_tready: Signal<In, bool>,

    pub msix_valid: Signal<Out, bool>,
    pub msix_vector: Signal<Out, W<2>>,
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
    /// # Panics
    /// If the parameters are not compatible.
    pub fn new(build: Build) -> Self {
        Self { nic: CheckedNic::new(build), ..Self::default() }
    }
}

clocked!(Endpoint);
