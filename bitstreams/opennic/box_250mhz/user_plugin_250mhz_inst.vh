// Included by the shell's box_250mhz.sv. One user block, one physical function, one CMAC port.
initial begin
    if (USE_PHYS_FUNC == 0 || NUM_PHYS_FUNC != 1 || NUM_CMAC_PORT != 1 || NUM_QDMA != 1)
        $fatal(1, "OptiReduce: built for USE_PHYS_FUNC = 1, NUM_PHYS_FUNC = 1, NUM_CMAC_PORT = 1, NUM_QDMA = 1");
end

// The shell waits for the reset of 16 blocks. Absent blocks report that it is done.
assign mod_rst_done[15:1] = {15{1'b1}};

wire   [3:0] host_awid;
wire  [63:0] host_awaddr;
wire   [7:0] host_awlen;
wire   [2:0] host_awsize;
wire   [1:0] host_awburst;
wire         host_awvalid;
wire         host_awready;
wire   [3:0] host_arid;
wire  [63:0] host_araddr;
wire   [7:0] host_arlen;
wire   [2:0] host_arsize;
wire   [1:0] host_arburst;
wire         host_arvalid;
wire         host_arready;
wire [511:0] host_wdata;
wire  [63:0] host_wstrb;
wire         host_wlast;
wire         host_wvalid;
wire         host_wready;
wire   [3:0] host_bid;
wire   [1:0] host_bresp;
wire         host_bvalid;
wire         host_bready;
wire   [3:0] host_rid;
wire [511:0] host_rdata;
wire   [1:0] host_rresp;
wire         host_rlast;
wire         host_rvalid;
wire         host_rready;
// Answers every access with an error. README.md describes a complete card.
no_host_memory host_memory (
    .clock(axis_aclk),
    .reset_n(mod_rst_done[0]),
    .awid(host_awid),
    .awvalid(host_awvalid),
    .awready(host_awready),
    .wlast(host_wlast),
    .wvalid(host_wvalid),
    .wready(host_wready),
    .bid(host_bid),
    .bresp(host_bresp),
    .bvalid(host_bvalid),
    .bready(host_bready),
    .arid(host_arid),
    .arlen(host_arlen),
    .arvalid(host_arvalid),
    .arready(host_arready),
    .rid(host_rid),
    .rresp(host_rresp),
    .rlast(host_rlast),
    .rvalid(host_rvalid),
    .rready(host_rready)
);
assign host_rdata = 512'd0;

optireduce_250mhz optireduce (
    .s_axil_awaddr(s_axil_awaddr),
    .s_axil_awvalid(s_axil_awvalid),
    .s_axil_awready(s_axil_awready),
    .s_axil_wdata(s_axil_wdata),
    .s_axil_wvalid(s_axil_wvalid),
    .s_axil_wready(s_axil_wready),
    .s_axil_bresp(s_axil_bresp),
    .s_axil_bvalid(s_axil_bvalid),
    .s_axil_bready(s_axil_bready),
    .s_axil_araddr(s_axil_araddr),
    .s_axil_arvalid(s_axil_arvalid),
    .s_axil_arready(s_axil_arready),
    .s_axil_rdata(s_axil_rdata),
    .s_axil_rresp(s_axil_rresp),
    .s_axil_rvalid(s_axil_rvalid),
    .s_axil_rready(s_axil_rready),
    .s_axis_qdma_h2c_tvalid(s_axis_qdma_h2c_tvalid),
    .s_axis_qdma_h2c_tdata(s_axis_qdma_h2c_tdata),
    .s_axis_qdma_h2c_tkeep(s_axis_qdma_h2c_tkeep),
    .s_axis_qdma_h2c_tlast(s_axis_qdma_h2c_tlast),
    .s_axis_qdma_h2c_tuser_size(s_axis_qdma_h2c_tuser_size),
    .s_axis_qdma_h2c_tuser_src(s_axis_qdma_h2c_tuser_src),
    .s_axis_qdma_h2c_tuser_dst(s_axis_qdma_h2c_tuser_dst),
    .s_axis_qdma_h2c_tready(s_axis_qdma_h2c_tready),
    .m_axis_qdma_c2h_tvalid(m_axis_qdma_c2h_tvalid),
    .m_axis_qdma_c2h_tdata(m_axis_qdma_c2h_tdata),
    .m_axis_qdma_c2h_tkeep(m_axis_qdma_c2h_tkeep),
    .m_axis_qdma_c2h_tlast(m_axis_qdma_c2h_tlast),
    .m_axis_qdma_c2h_tuser_size(m_axis_qdma_c2h_tuser_size),
    .m_axis_qdma_c2h_tuser_src(m_axis_qdma_c2h_tuser_src),
    .m_axis_qdma_c2h_tuser_dst(m_axis_qdma_c2h_tuser_dst),
    .m_axis_qdma_c2h_tready(m_axis_qdma_c2h_tready),
    .m_axis_adap_tx_250mhz_tvalid(m_axis_adap_tx_250mhz_tvalid),
    .m_axis_adap_tx_250mhz_tdata(m_axis_adap_tx_250mhz_tdata),
    .m_axis_adap_tx_250mhz_tkeep(m_axis_adap_tx_250mhz_tkeep),
    .m_axis_adap_tx_250mhz_tlast(m_axis_adap_tx_250mhz_tlast),
    .m_axis_adap_tx_250mhz_tuser_size(m_axis_adap_tx_250mhz_tuser_size),
    .m_axis_adap_tx_250mhz_tuser_src(m_axis_adap_tx_250mhz_tuser_src),
    .m_axis_adap_tx_250mhz_tuser_dst(m_axis_adap_tx_250mhz_tuser_dst),
    .m_axis_adap_tx_250mhz_tready(m_axis_adap_tx_250mhz_tready),
    .s_axis_adap_rx_250mhz_tvalid(s_axis_adap_rx_250mhz_tvalid),
    .s_axis_adap_rx_250mhz_tdata(s_axis_adap_rx_250mhz_tdata),
    .s_axis_adap_rx_250mhz_tkeep(s_axis_adap_rx_250mhz_tkeep),
    .s_axis_adap_rx_250mhz_tlast(s_axis_adap_rx_250mhz_tlast),
    .s_axis_adap_rx_250mhz_tuser_size(s_axis_adap_rx_250mhz_tuser_size),
    .s_axis_adap_rx_250mhz_tuser_src(s_axis_adap_rx_250mhz_tuser_src),
    .s_axis_adap_rx_250mhz_tuser_dst(s_axis_adap_rx_250mhz_tuser_dst),
    .s_axis_adap_rx_250mhz_tready(s_axis_adap_rx_250mhz_tready),
    .m_axi_awid(host_awid),
    .m_axi_awaddr(host_awaddr),
    .m_axi_awlen(host_awlen),
    .m_axi_awsize(host_awsize),
    .m_axi_awburst(host_awburst),
    .m_axi_awvalid(host_awvalid),
    .m_axi_awready(host_awready),
    .m_axi_arid(host_arid),
    .m_axi_araddr(host_araddr),
    .m_axi_arlen(host_arlen),
    .m_axi_arsize(host_arsize),
    .m_axi_arburst(host_arburst),
    .m_axi_arvalid(host_arvalid),
    .m_axi_arready(host_arready),
    .m_axi_wdata(host_wdata),
    .m_axi_wstrb(host_wstrb),
    .m_axi_wlast(host_wlast),
    .m_axi_wvalid(host_wvalid),
    .m_axi_wready(host_wready),
    .m_axi_bid(host_bid),
    .m_axi_bresp(host_bresp),
    .m_axi_bvalid(host_bvalid),
    .m_axi_bready(host_bready),
    .m_axi_rid(host_rid),
    .m_axi_rdata(host_rdata),
    .m_axi_rresp(host_rresp),
    .m_axi_rlast(host_rlast),
    .m_axi_rvalid(host_rvalid),
    .m_axi_rready(host_rready),
    .msix_valid(),
    .msix_vector(),
    .msix_ready(1'b1),
    .mod_rstn(mod_rstn[0]),
    .mod_rst_done(mod_rst_done[0]),
    .axil_aclk(axil_aclk),
    .axis_aclk(axis_aclk)
);
