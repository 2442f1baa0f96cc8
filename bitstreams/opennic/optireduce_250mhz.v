// The OptiReduce card as a plugin of the OpenNIC shell's 250 MHz box: one port, one physical
// function.
//
// Frames use the CMAC port (adap). Frames from the host (h2c) are discarded, and none are sent to
// it (c2h). Registers: 4 KiB at box-relative address 0, which is BAR 2 + 0x100000 of the shell.
// The box has no ports for host memory (m_axi) and interrupts (msix): see README.md.
// Clocks: axis_aclk (250 MHz) for card and streams, axil_aclk (125 MHz) for registers and reset.
module optireduce_250mhz (
    input  wire  [31:0] s_axil_awaddr,
    input  wire         s_axil_awvalid,
    output wire         s_axil_awready,
    input  wire  [31:0] s_axil_wdata,
    input  wire         s_axil_wvalid,
    output wire         s_axil_wready,
    output wire   [1:0] s_axil_bresp,
    output wire         s_axil_bvalid,
    input  wire         s_axil_bready,
    input  wire  [31:0] s_axil_araddr,
    input  wire         s_axil_arvalid,
    output wire         s_axil_arready,
    output wire  [31:0] s_axil_rdata,
    output wire   [1:0] s_axil_rresp,
    output wire         s_axil_rvalid,
    input  wire         s_axil_rready,
    input  wire         s_axis_qdma_h2c_tvalid,
    input  wire [511:0] s_axis_qdma_h2c_tdata,
    input  wire  [63:0] s_axis_qdma_h2c_tkeep,
    input  wire         s_axis_qdma_h2c_tlast,
    input  wire  [15:0] s_axis_qdma_h2c_tuser_size,
    input  wire  [15:0] s_axis_qdma_h2c_tuser_src,
    input  wire  [15:0] s_axis_qdma_h2c_tuser_dst,
    output wire         s_axis_qdma_h2c_tready,
    output wire         m_axis_qdma_c2h_tvalid,
    output wire [511:0] m_axis_qdma_c2h_tdata,
    output wire  [63:0] m_axis_qdma_c2h_tkeep,
    output wire         m_axis_qdma_c2h_tlast,
    output wire  [15:0] m_axis_qdma_c2h_tuser_size,
    output wire  [15:0] m_axis_qdma_c2h_tuser_src,
    output wire  [15:0] m_axis_qdma_c2h_tuser_dst,
    input  wire         m_axis_qdma_c2h_tready,
    output wire         m_axis_adap_tx_250mhz_tvalid,
    output wire [511:0] m_axis_adap_tx_250mhz_tdata,
    output wire  [63:0] m_axis_adap_tx_250mhz_tkeep,
    output wire         m_axis_adap_tx_250mhz_tlast,
    output wire  [15:0] m_axis_adap_tx_250mhz_tuser_size,
    output wire  [15:0] m_axis_adap_tx_250mhz_tuser_src,
    output wire  [15:0] m_axis_adap_tx_250mhz_tuser_dst,
    input  wire         m_axis_adap_tx_250mhz_tready,
    input  wire         s_axis_adap_rx_250mhz_tvalid,
    input  wire [511:0] s_axis_adap_rx_250mhz_tdata,
    input  wire  [63:0] s_axis_adap_rx_250mhz_tkeep,
    input  wire         s_axis_adap_rx_250mhz_tlast,
    input  wire  [15:0] s_axis_adap_rx_250mhz_tuser_size,
    input  wire  [15:0] s_axis_adap_rx_250mhz_tuser_src,
    input  wire  [15:0] s_axis_adap_rx_250mhz_tuser_dst,
    output wire         s_axis_adap_rx_250mhz_tready,
    output wire   [3:0] m_axi_awid,
    output wire  [63:0] m_axi_awaddr,
    output wire   [7:0] m_axi_awlen,
    output wire   [2:0] m_axi_awsize,
    output wire   [1:0] m_axi_awburst,
    output wire         m_axi_awvalid,
    input  wire         m_axi_awready,
    output wire   [3:0] m_axi_arid,
    output wire  [63:0] m_axi_araddr,
    output wire   [7:0] m_axi_arlen,
    output wire   [2:0] m_axi_arsize,
    output wire   [1:0] m_axi_arburst,
    output wire         m_axi_arvalid,
    input  wire         m_axi_arready,
    output wire [511:0] m_axi_wdata,
    output wire  [63:0] m_axi_wstrb,
    output wire         m_axi_wlast,
    output wire         m_axi_wvalid,
    input  wire         m_axi_wready,
    input  wire   [3:0] m_axi_bid,
    input  wire   [1:0] m_axi_bresp,
    input  wire         m_axi_bvalid,
    output wire         m_axi_bready,
    input  wire   [3:0] m_axi_rid,
    input  wire [511:0] m_axi_rdata,
    input  wire   [1:0] m_axi_rresp,
    input  wire         m_axi_rlast,
    input  wire         m_axi_rvalid,
    output wire         m_axi_rready,
    output wire         msix_valid,
    output wire   [1:0] msix_vector,
    input  wire         msix_ready,
    input  wire         mod_rstn,
    output wire         mod_rst_done,
    input  wire         axil_aclk,
    input  wire         axis_aclk
);
    // Reset lasts 128 cycles of axil_aclk.
    reg  [7:0] resetting;
    wire       axil_reset_n = mod_rst_done;
    wire       reset_n;
    assign mod_rst_done = resetting[7];
    always @(posedge axil_aclk) begin
        if (!mod_rstn) resetting <= 8'd0;
        else if (!mod_rst_done) resetting <= resetting + 8'd1;
    end
    reset_crossing reset (.clock(axis_aclk), .reset_n_in(axil_reset_n), .reset_n(reset_n));

    // Registers.
    wire  [11:0] axil_awaddr;
    wire         axil_awvalid;
    wire         axil_awready;
    wire  [31:0] axil_wdata;
    wire   [3:0] axil_wstrb;
    wire         axil_wvalid;
    wire         axil_wready;
    wire   [1:0] axil_bresp;
    wire         axil_bvalid;
    wire         axil_bready;
    wire  [11:0] axil_araddr;
    wire         axil_arvalid;
    wire         axil_arready;
    wire  [31:0] axil_rdata;
    wire   [1:0] axil_rresp;
    wire         axil_rvalid;
    wire         axil_rready;
    axil_crossing #(.ADDRESS_BITS(12)) registers (
        .s_clock(axil_aclk),
        .s_reset_n(axil_reset_n),
        .s_axil_awaddr(s_axil_awaddr[11:0]),
        .s_axil_awvalid(s_axil_awvalid),
        .s_axil_awready(s_axil_awready),
        .s_axil_wdata(s_axil_wdata),
        .s_axil_wstrb(4'hf),
        .s_axil_wvalid(s_axil_wvalid),
        .s_axil_wready(s_axil_wready),
        .s_axil_bresp(s_axil_bresp),
        .s_axil_bvalid(s_axil_bvalid),
        .s_axil_bready(s_axil_bready),
        .s_axil_araddr(s_axil_araddr[11:0]),
        .s_axil_arvalid(s_axil_arvalid),
        .s_axil_arready(s_axil_arready),
        .s_axil_rdata(s_axil_rdata),
        .s_axil_rresp(s_axil_rresp),
        .s_axil_rvalid(s_axil_rvalid),
        .s_axil_rready(s_axil_rready),
        .m_clock(axis_aclk),
        .m_reset_n(reset_n),
        .m_axil_awaddr(axil_awaddr),
        .m_axil_awvalid(axil_awvalid),
        .m_axil_awready(axil_awready),
        .m_axil_wdata(axil_wdata),
        .m_axil_wstrb(axil_wstrb),
        .m_axil_wvalid(axil_wvalid),
        .m_axil_wready(axil_wready),
        .m_axil_bresp(axil_bresp),
        .m_axil_bvalid(axil_bvalid),
        .m_axil_bready(axil_bready),
        .m_axil_araddr(axil_araddr),
        .m_axil_arvalid(axil_arvalid),
        .m_axil_arready(axil_arready),
        .m_axil_rdata(axil_rdata),
        .m_axil_rresp(axil_rresp),
        .m_axil_rvalid(axil_rvalid),
        .m_axil_rready(axil_rready)
    );

    // The shell requires the length of a frame with its last beat.
    integer     i;
    reg   [6:0] bytes;
    reg  [15:0] size_before;
    wire [15:0] size = size_before + {9'd0, bytes};
    wire        tx_tuser;
    always @(*) begin
        bytes = 7'd0;
        for (i = 0; i < 64; i = i + 1) bytes = bytes + {6'd0, m_axis_adap_tx_250mhz_tkeep[i]};
    end
    always @(posedge axis_aclk) begin
        if (m_axis_adap_tx_250mhz_tvalid && m_axis_adap_tx_250mhz_tready)
            size_before <= m_axis_adap_tx_250mhz_tlast ? 16'd0 : size;
        if (!reset_n) size_before <= 16'd0;
    end
    assign m_axis_adap_tx_250mhz_tuser_size = size;
    assign m_axis_adap_tx_250mhz_tuser_src = 16'h0001;
    assign m_axis_adap_tx_250mhz_tuser_dst = 16'h0040;

    assign s_axis_qdma_h2c_tready = 1'b1;
    assign m_axis_qdma_c2h_tvalid = 1'd0;
    assign m_axis_qdma_c2h_tdata = 512'd0;
    assign m_axis_qdma_c2h_tkeep = 64'd0;
    assign m_axis_qdma_c2h_tlast = 1'd0;
    assign m_axis_qdma_c2h_tuser_size = 16'd0;
    assign m_axis_qdma_c2h_tuser_src = 16'd0;
    assign m_axis_qdma_c2h_tuser_dst = 16'd0;

    // The card accepts every beat, and the shell has dropped bad frames. If the card is disabled
    // within a frame (tuser), the shell cannot mark the frame as bad. Receivers drop it, because it
    // is shorter than its UDP length.
    assign s_axis_adap_rx_250mhz_tready = 1'b1;
    // The box has neither the state of the MAC nor the identifiers of the bridge, so the registers
    // LINK, PCI_ID and BUILD_ID are 0.
    optireduce_top card (
        .clock(axis_aclk),
        .aresetn(reset_n),
        .link(3'd0),
        .pci_id(32'd0),
        .build_id(32'd0),
        .s_axil_awaddr(axil_awaddr),
        .s_axil_awprot(3'd0),
        .s_axil_awvalid(axil_awvalid),
        .s_axil_awready(axil_awready),
        .s_axil_wdata(axil_wdata),
        .s_axil_wstrb(axil_wstrb),
        .s_axil_wvalid(axil_wvalid),
        .s_axil_wready(axil_wready),
        .s_axil_bresp(axil_bresp),
        .s_axil_bvalid(axil_bvalid),
        .s_axil_bready(axil_bready),
        .s_axil_araddr(axil_araddr),
        .s_axil_arprot(3'd0),
        .s_axil_arvalid(axil_arvalid),
        .s_axil_arready(axil_arready),
        .s_axil_rdata(axil_rdata),
        .s_axil_rresp(axil_rresp),
        .s_axil_rvalid(axil_rvalid),
        .s_axil_rready(axil_rready),
        .m_axi_awid(m_axi_awid),
        .m_axi_awaddr(m_axi_awaddr),
        .m_axi_awlen(m_axi_awlen),
        .m_axi_awsize(m_axi_awsize),
        .m_axi_awburst(m_axi_awburst),
        .m_axi_awlock(),
        .m_axi_awcache(),
        .m_axi_awprot(),
        .m_axi_awvalid(m_axi_awvalid),
        .m_axi_awready(m_axi_awready),
        .m_axi_arid(m_axi_arid),
        .m_axi_araddr(m_axi_araddr),
        .m_axi_arlen(m_axi_arlen),
        .m_axi_arsize(m_axi_arsize),
        .m_axi_arburst(m_axi_arburst),
        .m_axi_arlock(),
        .m_axi_arcache(),
        .m_axi_arprot(),
        .m_axi_arvalid(m_axi_arvalid),
        .m_axi_arready(m_axi_arready),
        .m_axi_wdata(m_axi_wdata),
        .m_axi_wstrb(m_axi_wstrb),
        .m_axi_wlast(m_axi_wlast),
        .m_axi_wvalid(m_axi_wvalid),
        .m_axi_wready(m_axi_wready),
        .m_axi_bid(m_axi_bid),
        .m_axi_bresp(m_axi_bresp),
        .m_axi_bvalid(m_axi_bvalid),
        .m_axi_bready(m_axi_bready),
        .m_axi_rid(m_axi_rid),
        .m_axi_rdata(m_axi_rdata),
        .m_axi_rresp(m_axi_rresp),
        .m_axi_rlast(m_axi_rlast),
        .m_axi_rvalid(m_axi_rvalid),
        .m_axi_rready(m_axi_rready),
        .s_axis_rx_tdata(s_axis_adap_rx_250mhz_tdata),
        .s_axis_rx_tkeep(s_axis_adap_rx_250mhz_tkeep),
        .s_axis_rx_tvalid(s_axis_adap_rx_250mhz_tvalid),
        .s_axis_rx_tlast(s_axis_adap_rx_250mhz_tlast),
        .s_axis_rx_tuser(1'b0),
        .s_axis_rx_tready(),
        .m_axis_tx_tdata(m_axis_adap_tx_250mhz_tdata),
        .m_axis_tx_tkeep(m_axis_adap_tx_250mhz_tkeep),
        .m_axis_tx_tvalid(m_axis_adap_tx_250mhz_tvalid),
        .m_axis_tx_tready(m_axis_adap_tx_250mhz_tready),
        .m_axis_tx_tlast(m_axis_adap_tx_250mhz_tlast),
        .m_axis_tx_tuser(tx_tuser),
        .msix_valid(msix_valid),
        .msix_vector(msix_vector),
        .msix_ready(msix_ready)
    );
endmodule
