// An Alveo card: PCIe Gen3 x16, one 100G port, and the OptiReduce card between them.
//
//   PCIe <-> xdma_0 --BAR 0--> width, protocol -> msix_table -> s_axil \
//               ^ host memory <------------------------------- m_axi  card
//               ^ MSI-X <------------ msix_table <------------- msix /
//   card <-> axis_frame_crossing <-> cmac_usplus_0
//
// Clocks: 250 MHz of the bridge for the card, 322 MHz of the MAC. Only whole frames cross.
// Vendor IP: xdma_0, cmac_usplus_0, axi_dwidth_converter_0 and axi_protocol_converter_0, generated
// by common/alveo.tcl, with stubs in common/stubs.
module alveo #(
    // Value of the register BUILD_ID; 0: unknown.
    parameter [31:0] BUILD_ID = 32'd0
) (
    input  wire        pcie_refclk_p,
    input  wire        pcie_refclk_n,
    input  wire        pcie_rstn,
    input  wire [15:0] pci_exp_rxp,
    input  wire [15:0] pci_exp_rxn,
    output wire [15:0] pci_exp_txp,
    output wire [15:0] pci_exp_txn,
    input  wire        qsfp_refclk_p,
    input  wire        qsfp_refclk_n,
    input  wire  [3:0] qsfp_rxp,
    input  wire  [3:0] qsfp_rxn,
    output wire  [3:0] qsfp_txp,
    output wire  [3:0] qsfp_txn
);
    wire clock, reset_n, refclk, refclk_gt, pcie_rstn_buffered, mac_clock, init_clock;

    IBUF reset_buffer (.I(pcie_rstn), .O(pcie_rstn_buffered));
    IBUFDS_GTE4 #(.REFCLK_HROW_CK_SEL(2'b00)) refclk_buffer (
        .I(pcie_refclk_p), .IB(pcie_refclk_n), .CEB(1'b0), .O(refclk_gt), .ODIV2(refclk)
    );
    // Free-running clock of the MAC, 125 MHz.
    BUFGCE_DIV #(.BUFGCE_DIVIDE(2)) init_clock_buffer (.I(clock), .CE(1'b1), .CLR(1'b0), .O(init_clock));

    // BAR 0: from the bridge, with 32 bits, as AXI4-Lite, and the card's part of it.
    wire   [3:0] bar_awid;
    wire  [63:0] bar_awaddr;
    wire   [7:0] bar_awlen;
    wire   [2:0] bar_awsize;
    wire   [1:0] bar_awburst;
    wire   [2:0] bar_awprot;
    wire         bar_awlock;
    wire   [3:0] bar_awcache;
    wire         bar_awvalid;
    wire         bar_awready;
    wire   [3:0] bar_arid;
    wire  [63:0] bar_araddr;
    wire   [7:0] bar_arlen;
    wire   [2:0] bar_arsize;
    wire   [1:0] bar_arburst;
    wire   [2:0] bar_arprot;
    wire         bar_arlock;
    wire   [3:0] bar_arcache;
    wire         bar_arvalid;
    wire         bar_arready;
    wire [511:0] bar_wdata;
    wire  [63:0] bar_wstrb;
    wire         bar_wlast;
    wire         bar_wvalid;
    wire         bar_wready;
    wire   [3:0] bar_bid;
    wire   [1:0] bar_bresp;
    wire         bar_bvalid;
    wire         bar_bready;
    wire   [3:0] bar_rid;
    wire [511:0] bar_rdata;
    wire   [1:0] bar_rresp;
    wire         bar_rlast;
    wire         bar_rvalid;
    wire         bar_rready;
    wire  [63:0] narrow_awaddr;
    wire   [7:0] narrow_awlen;
    wire   [2:0] narrow_awsize;
    wire   [1:0] narrow_awburst;
    wire   [2:0] narrow_awprot;
    wire         narrow_awlock;
    wire   [3:0] narrow_awcache;
    wire         narrow_awvalid;
    wire         narrow_awready;
    wire  [63:0] narrow_araddr;
    wire   [7:0] narrow_arlen;
    wire   [2:0] narrow_arsize;
    wire   [1:0] narrow_arburst;
    wire   [2:0] narrow_arprot;
    wire         narrow_arlock;
    wire   [3:0] narrow_arcache;
    wire         narrow_arvalid;
    wire         narrow_arready;
    wire  [31:0] narrow_wdata;
    wire   [3:0] narrow_wstrb;
    wire         narrow_wlast;
    wire         narrow_wvalid;
    wire         narrow_wready;
    wire   [1:0] narrow_bresp;
    wire         narrow_bvalid;
    wire         narrow_bready;
    wire  [31:0] narrow_rdata;
    wire   [1:0] narrow_rresp;
    wire         narrow_rlast;
    wire         narrow_rvalid;
    wire         narrow_rready;
    wire   [3:0] narrow_awregion;
    wire   [3:0] narrow_arregion;
    wire   [3:0] narrow_awqos;
    wire   [3:0] narrow_arqos;
    wire  [63:0] lite_awaddr;
    wire   [2:0] lite_awprot;
    wire         lite_awvalid;
    wire         lite_awready;
    wire  [63:0] lite_araddr;
    wire   [2:0] lite_arprot;
    wire         lite_arvalid;
    wire         lite_arready;
    wire  [31:0] lite_wdata;
    wire   [3:0] lite_wstrb;
    wire         lite_wvalid;
    wire         lite_wready;
    wire   [1:0] lite_bresp;
    wire         lite_bvalid;
    wire         lite_bready;
    wire  [31:0] lite_rdata;
    wire   [1:0] lite_rresp;
    wire         lite_rvalid;
    wire         lite_rready;
    wire  [11:0] axil_awaddr;
    wire         axil_awvalid;
    wire         axil_awready;
    wire  [11:0] axil_araddr;
    wire         axil_arvalid;
    wire         axil_arready;
    wire  [31:0] axil_wdata;
    wire   [3:0] axil_wstrb;
    wire         axil_wvalid;
    wire         axil_wready;
    wire   [1:0] axil_bresp;
    wire         axil_bvalid;
    wire         axil_bready;
    wire  [31:0] axil_rdata;
    wire   [1:0] axil_rresp;
    wire         axil_rvalid;
    wire         axil_rready;
    // Host memory.
    wire   [3:0] dma_awid;
    wire  [63:0] dma_awaddr;
    wire   [7:0] dma_awlen;
    wire   [2:0] dma_awsize;
    wire   [1:0] dma_awburst;
    wire         dma_awvalid;
    wire         dma_awready;
    wire   [3:0] dma_arid;
    wire  [63:0] dma_araddr;
    wire   [7:0] dma_arlen;
    wire   [2:0] dma_arsize;
    wire   [1:0] dma_arburst;
    wire         dma_arvalid;
    wire         dma_arready;
    wire [511:0] dma_wdata;
    wire  [63:0] dma_wstrb;
    wire         dma_wlast;
    wire         dma_wvalid;
    wire         dma_wready;
    wire   [3:0] dma_bid;
    wire   [1:0] dma_bresp;
    wire         dma_bvalid;
    wire         dma_bready;
    wire   [3:0] dma_rid;
    wire [511:0] dma_rdata;
    wire   [1:0] dma_rresp;
    wire         dma_rlast;
    wire         dma_rvalid;
    wire         dma_rready;
    // MSI-X messages.
    wire         msix_valid, msix_ready, message, message_sent, message_failed;
    wire   [1:0] msix_vector;
    wire   [3:0] msix_enabled, msix_masked;
    wire  [63:0] message_address;
    wire  [31:0] message_data;
    // Frames in the clock domains of the MAC and the card.
    wire [511:0] mac_rx_tdata, mac_tx_tdata, rx_tdata, tx_tdata;
    wire  [63:0] mac_rx_tkeep, mac_tx_tkeep, rx_tkeep, tx_tkeep;
    wire         mac_rx_tvalid, mac_rx_tlast, mac_rx_tuser, rx_tvalid, rx_tlast, rx_tuser;
    wire         mac_tx_tvalid, mac_tx_tready, mac_tx_tlast, mac_tx_tuser, tx_tvalid, tx_tready, tx_tlast, tx_tuser;
    wire         mac_reset_n, mac_rx_reset;

    xdma_0 bridge (
        .sys_clk(refclk),
        .sys_clk_gt(refclk_gt),
        .sys_rst_n(pcie_rstn_buffered),
        .pci_exp_txp(pci_exp_txp),
        .pci_exp_txn(pci_exp_txn),
        .pci_exp_rxp(pci_exp_rxp),
        .pci_exp_rxn(pci_exp_rxn),
        .axi_aclk(clock),
        .axi_aresetn(reset_n),
        .usr_irq_req(1'b0),
        .m_axib_awid(bar_awid),
        .m_axib_awaddr(bar_awaddr),
        .m_axib_awlen(bar_awlen),
        .m_axib_awsize(bar_awsize),
        .m_axib_awburst(bar_awburst),
        .m_axib_awprot(bar_awprot),
        .m_axib_awlock(bar_awlock),
        .m_axib_awcache(bar_awcache),
        .m_axib_awvalid(bar_awvalid),
        .m_axib_awready(bar_awready),
        .m_axib_arid(bar_arid),
        .m_axib_araddr(bar_araddr),
        .m_axib_arlen(bar_arlen),
        .m_axib_arsize(bar_arsize),
        .m_axib_arburst(bar_arburst),
        .m_axib_arprot(bar_arprot),
        .m_axib_arlock(bar_arlock),
        .m_axib_arcache(bar_arcache),
        .m_axib_arvalid(bar_arvalid),
        .m_axib_arready(bar_arready),
        .m_axib_wdata(bar_wdata),
        .m_axib_wstrb(bar_wstrb),
        .m_axib_wlast(bar_wlast),
        .m_axib_wvalid(bar_wvalid),
        .m_axib_wready(bar_wready),
        .m_axib_bid(bar_bid),
        .m_axib_bresp(bar_bresp),
        .m_axib_bvalid(bar_bvalid),
        .m_axib_bready(bar_bready),
        .m_axib_rid(bar_rid),
        .m_axib_rdata(bar_rdata),
        .m_axib_rresp(bar_rresp),
        .m_axib_rlast(bar_rlast),
        .m_axib_rvalid(bar_rvalid),
        .m_axib_rready(bar_rready),
        .s_axib_awregion(4'd0),
        .s_axib_arregion(4'd0),
        .s_axib_awid(dma_awid),
        .s_axib_awaddr(dma_awaddr),
        .s_axib_awlen(dma_awlen),
        .s_axib_awsize(dma_awsize),
        .s_axib_awburst(dma_awburst),
        .s_axib_awvalid(dma_awvalid),
        .s_axib_awready(dma_awready),
        .s_axib_arid(dma_arid),
        .s_axib_araddr(dma_araddr),
        .s_axib_arlen(dma_arlen),
        .s_axib_arsize(dma_arsize),
        .s_axib_arburst(dma_arburst),
        .s_axib_arvalid(dma_arvalid),
        .s_axib_arready(dma_arready),
        .s_axib_wdata(dma_wdata),
        .s_axib_wstrb(dma_wstrb),
        .s_axib_wlast(dma_wlast),
        .s_axib_wvalid(dma_wvalid),
        .s_axib_wready(dma_wready),
        .s_axib_bid(dma_bid),
        .s_axib_bresp(dma_bresp),
        .s_axib_bvalid(dma_bvalid),
        .s_axib_bready(dma_bready),
        .s_axib_rid(dma_rid),
        .s_axib_rdata(dma_rdata),
        .s_axib_rresp(dma_rresp),
        .s_axib_rlast(dma_rlast),
        .s_axib_rvalid(dma_rvalid),
        .s_axib_rready(dma_rready),
        .s_axil_awaddr(32'd0),
        .s_axil_awprot(3'd0),
        .s_axil_awvalid(1'd0),
        .s_axil_awready(),
        .s_axil_araddr(32'd0),
        .s_axil_arprot(3'd0),
        .s_axil_arvalid(1'd0),
        .s_axil_arready(),
        .s_axil_wdata(32'd0),
        .s_axil_wstrb(4'd0),
        .s_axil_wvalid(1'd0),
        .s_axil_wready(),
        .s_axil_bresp(),
        .s_axil_bvalid(),
        .s_axil_bready(1'b1),
        .s_axil_rdata(),
        .s_axil_rresp(),
        .s_axil_rvalid(),
        .s_axil_rready(1'b1),
        .cfg_interrupt_msix_enable(msix_enabled),
        .cfg_interrupt_msix_mask(msix_masked),
        .cfg_interrupt_msix_address(message_address),
        .cfg_interrupt_msix_data(message_data),
        .cfg_interrupt_msix_int(message),
        .cfg_interrupt_msi_sent(message_sent),
        .cfg_interrupt_msi_fail(message_failed)
    );

    axi_dwidth_converter_0 width (
        .s_axi_aclk(clock),
        .s_axi_aresetn(reset_n),
        .s_axi_awid(bar_awid),
        .s_axi_awaddr(bar_awaddr),
        .s_axi_awlen(bar_awlen),
        .s_axi_awsize(bar_awsize),
        .s_axi_awburst(bar_awburst),
        .s_axi_awprot(bar_awprot),
        .s_axi_awlock(bar_awlock),
        .s_axi_awcache(bar_awcache),
        .s_axi_awvalid(bar_awvalid),
        .s_axi_awready(bar_awready),
        .s_axi_arid(bar_arid),
        .s_axi_araddr(bar_araddr),
        .s_axi_arlen(bar_arlen),
        .s_axi_arsize(bar_arsize),
        .s_axi_arburst(bar_arburst),
        .s_axi_arprot(bar_arprot),
        .s_axi_arlock(bar_arlock),
        .s_axi_arcache(bar_arcache),
        .s_axi_arvalid(bar_arvalid),
        .s_axi_arready(bar_arready),
        .s_axi_wdata(bar_wdata),
        .s_axi_wstrb(bar_wstrb),
        .s_axi_wlast(bar_wlast),
        .s_axi_wvalid(bar_wvalid),
        .s_axi_wready(bar_wready),
        .s_axi_bid(bar_bid),
        .s_axi_bresp(bar_bresp),
        .s_axi_bvalid(bar_bvalid),
        .s_axi_bready(bar_bready),
        .s_axi_rid(bar_rid),
        .s_axi_rdata(bar_rdata),
        .s_axi_rresp(bar_rresp),
        .s_axi_rlast(bar_rlast),
        .s_axi_rvalid(bar_rvalid),
        .s_axi_rready(bar_rready),
        .s_axi_awregion(4'd0),
        .s_axi_arregion(4'd0),
        .s_axi_awqos(4'd0),
        .s_axi_arqos(4'd0),
        .m_axi_awaddr(narrow_awaddr),
        .m_axi_awlen(narrow_awlen),
        .m_axi_awsize(narrow_awsize),
        .m_axi_awburst(narrow_awburst),
        .m_axi_awprot(narrow_awprot),
        .m_axi_awlock(narrow_awlock),
        .m_axi_awcache(narrow_awcache),
        .m_axi_awvalid(narrow_awvalid),
        .m_axi_awready(narrow_awready),
        .m_axi_araddr(narrow_araddr),
        .m_axi_arlen(narrow_arlen),
        .m_axi_arsize(narrow_arsize),
        .m_axi_arburst(narrow_arburst),
        .m_axi_arprot(narrow_arprot),
        .m_axi_arlock(narrow_arlock),
        .m_axi_arcache(narrow_arcache),
        .m_axi_arvalid(narrow_arvalid),
        .m_axi_arready(narrow_arready),
        .m_axi_wdata(narrow_wdata),
        .m_axi_wstrb(narrow_wstrb),
        .m_axi_wlast(narrow_wlast),
        .m_axi_wvalid(narrow_wvalid),
        .m_axi_wready(narrow_wready),
        .m_axi_bresp(narrow_bresp),
        .m_axi_bvalid(narrow_bvalid),
        .m_axi_bready(narrow_bready),
        .m_axi_rdata(narrow_rdata),
        .m_axi_rresp(narrow_rresp),
        .m_axi_rlast(narrow_rlast),
        .m_axi_rvalid(narrow_rvalid),
        .m_axi_rready(narrow_rready),
        .m_axi_awregion(narrow_awregion),
        .m_axi_arregion(narrow_arregion),
        .m_axi_awqos(narrow_awqos),
        .m_axi_arqos(narrow_arqos)
    );

    axi_protocol_converter_0 protocol (
        .aclk(clock),
        .aresetn(reset_n),
        .s_axi_awaddr(narrow_awaddr),
        .s_axi_awlen(narrow_awlen),
        .s_axi_awsize(narrow_awsize),
        .s_axi_awburst(narrow_awburst),
        .s_axi_awprot(narrow_awprot),
        .s_axi_awlock(narrow_awlock),
        .s_axi_awcache(narrow_awcache),
        .s_axi_awvalid(narrow_awvalid),
        .s_axi_awready(narrow_awready),
        .s_axi_araddr(narrow_araddr),
        .s_axi_arlen(narrow_arlen),
        .s_axi_arsize(narrow_arsize),
        .s_axi_arburst(narrow_arburst),
        .s_axi_arprot(narrow_arprot),
        .s_axi_arlock(narrow_arlock),
        .s_axi_arcache(narrow_arcache),
        .s_axi_arvalid(narrow_arvalid),
        .s_axi_arready(narrow_arready),
        .s_axi_wdata(narrow_wdata),
        .s_axi_wstrb(narrow_wstrb),
        .s_axi_wlast(narrow_wlast),
        .s_axi_wvalid(narrow_wvalid),
        .s_axi_wready(narrow_wready),
        .s_axi_bresp(narrow_bresp),
        .s_axi_bvalid(narrow_bvalid),
        .s_axi_bready(narrow_bready),
        .s_axi_rdata(narrow_rdata),
        .s_axi_rresp(narrow_rresp),
        .s_axi_rlast(narrow_rlast),
        .s_axi_rvalid(narrow_rvalid),
        .s_axi_rready(narrow_rready),
        .s_axi_awregion(narrow_awregion),
        .s_axi_arregion(narrow_arregion),
        .s_axi_awqos(narrow_awqos),
        .s_axi_arqos(narrow_arqos),
        .m_axi_awaddr(lite_awaddr),
        .m_axi_awprot(lite_awprot),
        .m_axi_awvalid(lite_awvalid),
        .m_axi_awready(lite_awready),
        .m_axi_araddr(lite_araddr),
        .m_axi_arprot(lite_arprot),
        .m_axi_arvalid(lite_arvalid),
        .m_axi_arready(lite_arready),
        .m_axi_wdata(lite_wdata),
        .m_axi_wstrb(lite_wstrb),
        .m_axi_wvalid(lite_wvalid),
        .m_axi_wready(lite_wready),
        .m_axi_bresp(lite_bresp),
        .m_axi_bvalid(lite_bvalid),
        .m_axi_bready(lite_bready),
        .m_axi_rdata(lite_rdata),
        .m_axi_rresp(lite_rresp),
        .m_axi_rvalid(lite_rvalid),
        .m_axi_rready(lite_rready)
    );

    msix_table #(.VECTORS_LOG2(2)) messages (
        .clock(clock),
        .reset_n(reset_n),
        .s_axil_awaddr(lite_awaddr[15:0]),
        .s_axil_awvalid(lite_awvalid),
        .s_axil_awready(lite_awready),
        .s_axil_araddr(lite_araddr[15:0]),
        .s_axil_arvalid(lite_arvalid),
        .s_axil_arready(lite_arready),
        .s_axil_wdata(lite_wdata),
        .s_axil_wstrb(lite_wstrb),
        .s_axil_wvalid(lite_wvalid),
        .s_axil_wready(lite_wready),
        .s_axil_bresp(lite_bresp),
        .s_axil_bvalid(lite_bvalid),
        .s_axil_bready(lite_bready),
        .s_axil_rdata(lite_rdata),
        .s_axil_rresp(lite_rresp),
        .s_axil_rvalid(lite_rvalid),
        .s_axil_rready(lite_rready),
        .m_axil_awaddr(axil_awaddr),
        .m_axil_awvalid(axil_awvalid),
        .m_axil_awready(axil_awready),
        .m_axil_araddr(axil_araddr),
        .m_axil_arvalid(axil_arvalid),
        .m_axil_arready(axil_arready),
        .m_axil_wdata(axil_wdata),
        .m_axil_wstrb(axil_wstrb),
        .m_axil_wvalid(axil_wvalid),
        .m_axil_wready(axil_wready),
        .m_axil_bresp(axil_bresp),
        .m_axil_bvalid(axil_bvalid),
        .m_axil_bready(axil_bready),
        .m_axil_rdata(axil_rdata),
        .m_axil_rresp(axil_rresp),
        .m_axil_rvalid(axil_rvalid),
        .m_axil_rready(axil_rready),
        .msix_valid(msix_valid),
        .msix_vector(msix_vector),
        .msix_ready(msix_ready),
        .enabled(msix_enabled[0]),
        .masked(msix_masked[0]),
        .message_address(message_address),
        .message_data(message_data),
        .message(message),
        .message_sent(message_sent),
        .message_failed(message_failed)
    );

    // State of the MAC, for the register LINK. Its bits are independent: each has a synchroniser.
    wire mac_aligned, mac_rsfec_aligned;
    (* ASYNC_REG = "TRUE" *) reg [1:0] link_first, link_second;
    initial {link_first, link_second} = 4'd0;
    always @(posedge clock) begin
        link_first <= {mac_rsfec_aligned, mac_aligned};
        link_second <= link_first;
    end

    optireduce_top card (
        .clock(clock),
        .aresetn(reset_n),
        .link({1'b1, link_second}),
        .pci_id(32'h903f_10ee),
        .build_id(BUILD_ID),
        .s_axil_awaddr(axil_awaddr),
        .s_axil_awprot(3'd0),
        .s_axil_awvalid(axil_awvalid),
        .s_axil_awready(axil_awready),
        .s_axil_araddr(axil_araddr),
        .s_axil_arprot(3'd0),
        .s_axil_arvalid(axil_arvalid),
        .s_axil_arready(axil_arready),
        .s_axil_wdata(axil_wdata),
        .s_axil_wstrb(axil_wstrb),
        .s_axil_wvalid(axil_wvalid),
        .s_axil_wready(axil_wready),
        .s_axil_bresp(axil_bresp),
        .s_axil_bvalid(axil_bvalid),
        .s_axil_bready(axil_bready),
        .s_axil_rdata(axil_rdata),
        .s_axil_rresp(axil_rresp),
        .s_axil_rvalid(axil_rvalid),
        .s_axil_rready(axil_rready),
        .m_axi_awid(dma_awid),
        .m_axi_awaddr(dma_awaddr),
        .m_axi_awlen(dma_awlen),
        .m_axi_awsize(dma_awsize),
        .m_axi_awburst(dma_awburst),
        .m_axi_awlock(),
        .m_axi_awcache(),
        .m_axi_awprot(),
        .m_axi_awvalid(dma_awvalid),
        .m_axi_awready(dma_awready),
        .m_axi_arid(dma_arid),
        .m_axi_araddr(dma_araddr),
        .m_axi_arlen(dma_arlen),
        .m_axi_arsize(dma_arsize),
        .m_axi_arburst(dma_arburst),
        .m_axi_arlock(),
        .m_axi_arcache(),
        .m_axi_arprot(),
        .m_axi_arvalid(dma_arvalid),
        .m_axi_arready(dma_arready),
        .m_axi_wdata(dma_wdata),
        .m_axi_wstrb(dma_wstrb),
        .m_axi_wlast(dma_wlast),
        .m_axi_wvalid(dma_wvalid),
        .m_axi_wready(dma_wready),
        .m_axi_bid(dma_bid),
        .m_axi_bresp(dma_bresp),
        .m_axi_bvalid(dma_bvalid),
        .m_axi_bready(dma_bready),
        .m_axi_rid(dma_rid),
        .m_axi_rdata(dma_rdata),
        .m_axi_rresp(dma_rresp),
        .m_axi_rlast(dma_rlast),
        .m_axi_rvalid(dma_rvalid),
        .m_axi_rready(dma_rready),
        .s_axis_rx_tdata(rx_tdata),
        .s_axis_rx_tkeep(rx_tkeep),
        .s_axis_rx_tvalid(rx_tvalid),
        .s_axis_rx_tlast(rx_tlast),
        .s_axis_rx_tuser(rx_tuser),
        .s_axis_rx_tready(),
        .m_axis_tx_tdata(tx_tdata),
        .m_axis_tx_tkeep(tx_tkeep),
        .m_axis_tx_tvalid(tx_tvalid),
        .m_axis_tx_tready(tx_tready),
        .m_axis_tx_tlast(tx_tlast),
        .m_axis_tx_tuser(tx_tuser),
        .msix_valid(msix_valid),
        .msix_vector(msix_vector),
        .msix_ready(msix_ready)
    );

    // The card accepts a beat per cycle. A frame is dropped only if small frames arrive faster than
    // that, or if the MAC resets its receiver within the frame.
    axis_frame_crossing #(.DEPTH_LOG2(9), .DROP(1)) rx_crossing (
        .s_clock(mac_clock),
        .s_reset_n(mac_reset_n),
        .s_tdata(mac_rx_tdata),
        .s_tkeep(mac_rx_tkeep),
        .s_tlast(mac_rx_tlast),
        .s_tuser(mac_rx_tuser),
        .s_tvalid(mac_rx_tvalid),
        .s_cut(mac_rx_reset),
        .s_tready(),
        .s_dropped(),
        .m_clock(clock),
        .m_reset_n(reset_n),
        .m_tdata(rx_tdata),
        .m_tkeep(rx_tkeep),
        .m_tlast(rx_tlast),
        .m_tuser(rx_tuser),
        .m_tvalid(rx_tvalid),
        .m_tready(1'b1)
    );

    axis_frame_crossing #(.DEPTH_LOG2(9), .DROP(0)) tx_crossing (
        .s_clock(clock),
        .s_reset_n(reset_n),
        .s_tdata(tx_tdata),
        .s_tkeep(tx_tkeep),
        .s_tlast(tx_tlast),
        .s_tuser(tx_tuser),
        .s_tvalid(tx_tvalid),
        .s_cut(1'b0),
        .s_tready(tx_tready),
        .s_dropped(),
        .m_clock(mac_clock),
        .m_reset_n(mac_reset_n),
        .m_tdata(mac_tx_tdata),
        .m_tkeep(mac_tx_tkeep),
        .m_tlast(mac_tx_tlast),
        .m_tuser(mac_tx_tuser),
        .m_tvalid(mac_tx_tvalid),
        .m_tready(mac_tx_tready)
    );

    reset_crossing mac_reset (
        .clock(mac_clock),
        .reset_n_in(reset_n),
        .reset_n(mac_reset_n)
    );

    // Sends only remote faults until the receiver is aligned (IEEE 802.3).
    cmac_usplus_0 mac (
        .gt_rxp_in(qsfp_rxp),
        .gt_rxn_in(qsfp_rxn),
        .gt_txp_out(qsfp_txp),
        .gt_txn_out(qsfp_txn),
        .gt_ref_clk_p(qsfp_refclk_p),
        .gt_ref_clk_n(qsfp_refclk_n),
        .gt_txusrclk2(mac_clock),
        .usr_rx_reset(mac_rx_reset),
        .rx_clk(mac_clock),
        .gt_loopback_in(12'd0),
        .sys_reset(!reset_n),
        .init_clk(init_clock),
        .core_rx_reset(1'b0),
        .core_tx_reset(1'b0),
        .gtwiz_reset_tx_datapath(1'b0),
        .gtwiz_reset_rx_datapath(1'b0),
        .core_drp_reset(1'b0),
        .drp_clk(1'b0),
        .drp_addr(10'd0),
        .drp_di(16'd0),
        .drp_en(1'b0),
        .drp_we(1'b0),
        .ctl_tx_enable(mac_aligned),
        .ctl_tx_send_idle(1'b0),
        .ctl_tx_send_rfi(!mac_aligned),
        .ctl_tx_send_lfi(1'b0),
        .ctl_tx_test_pattern(1'b0),
        .ctl_tx_rsfec_enable(1'b1),
        .ctl_rx_enable(1'b1),
        .ctl_rx_force_resync(1'b0),
        .ctl_rx_test_pattern(1'b0),
        .ctl_rx_rsfec_enable(1'b1),
        .ctl_rx_rsfec_enable_correction(1'b1),
        .ctl_rx_rsfec_enable_indication(1'b1),
        .ctl_rsfec_ieee_error_indication_mode(1'b0),
        .stat_rx_aligned(mac_aligned),
        .stat_rx_rsfec_lane_alignment_status(mac_rsfec_aligned),
        .tx_preamblein(56'd0),
        .rx_axis_tdata(mac_rx_tdata),
        .rx_axis_tkeep(mac_rx_tkeep),
        .rx_axis_tlast(mac_rx_tlast),
        .rx_axis_tuser(mac_rx_tuser),
        .rx_axis_tvalid(mac_rx_tvalid),
        .tx_axis_tdata(mac_tx_tdata),
        .tx_axis_tkeep(mac_tx_tkeep),
        .tx_axis_tlast(mac_tx_tlast),
        .tx_axis_tuser(mac_tx_tuser),
        .tx_axis_tvalid(mac_tx_tvalid),
        .tx_axis_tready(mac_tx_tready)
    );
endmodule
