// Stub of UltraScale+ 100G Ethernet (PG203), CAUI-4, AXI stream, RS-FEC, no AXI4-Lite. Only the
// connected ports.
(* blackbox *)
module cmac_usplus_0 (
    input  wire   [3:0] gt_rxp_in,
    input  wire   [3:0] gt_rxn_in,
    output wire   [3:0] gt_txp_out,
    output wire   [3:0] gt_txn_out,
    input  wire         gt_ref_clk_p,
    input  wire         gt_ref_clk_n,
    output wire         gt_txusrclk2,
    output wire         usr_rx_reset,
    input  wire         rx_clk,
    input  wire  [11:0] gt_loopback_in,
    input  wire         sys_reset,
    input  wire         init_clk,
    input  wire         core_rx_reset,
    input  wire         core_tx_reset,
    input  wire         gtwiz_reset_tx_datapath,
    input  wire         gtwiz_reset_rx_datapath,
    input  wire         core_drp_reset,
    input  wire         drp_clk,
    input  wire   [9:0] drp_addr,
    input  wire  [15:0] drp_di,
    input  wire         drp_en,
    input  wire         drp_we,
    input  wire         ctl_tx_enable,
    input  wire         ctl_tx_send_idle,
    input  wire         ctl_tx_send_rfi,
    input  wire         ctl_tx_send_lfi,
    input  wire         ctl_tx_test_pattern,
    input  wire         ctl_tx_rsfec_enable,
    input  wire         ctl_rx_enable,
    input  wire         ctl_rx_force_resync,
    input  wire         ctl_rx_test_pattern,
    input  wire         ctl_rx_rsfec_enable,
    input  wire         ctl_rx_rsfec_enable_correction,
    input  wire         ctl_rx_rsfec_enable_indication,
    input  wire         ctl_rsfec_ieee_error_indication_mode,
    output wire         stat_rx_aligned,
    output wire         stat_rx_rsfec_lane_alignment_status,
    input  wire  [55:0] tx_preamblein,
    output wire [511:0] rx_axis_tdata,
    output wire  [63:0] rx_axis_tkeep,
    output wire         rx_axis_tlast,
    output wire         rx_axis_tuser,
    output wire         rx_axis_tvalid,
    input  wire [511:0] tx_axis_tdata,
    input  wire  [63:0] tx_axis_tkeep,
    input  wire         tx_axis_tlast,
    input  wire         tx_axis_tuser,
    input  wire         tx_axis_tvalid,
    output wire         tx_axis_tready
);
    assign gt_txp_out = 4'd0;
    assign gt_txn_out = 4'd0;
    assign gt_txusrclk2 = 1'd0;
    assign usr_rx_reset = 1'd0;
    assign stat_rx_aligned = 1'd0;
    assign stat_rx_rsfec_lane_alignment_status = 1'd0;
    assign rx_axis_tdata = 512'd0;
    assign rx_axis_tkeep = 64'd0;
    assign rx_axis_tlast = 1'd0;
    assign rx_axis_tuser = 1'd0;
    assign rx_axis_tvalid = 1'd0;
    assign tx_axis_tready = 1'd0;
endmodule
