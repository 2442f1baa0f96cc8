# Builds a bitstream for an Alveo card with Vivado, in non-project mode. Sourced by
# <board>/build.tcl, which sets board, part, board_part, refclk_mhz, cmac and gt_group.
# Written from the documents of Vivado 2023.2 IP (xdma 4.1, cmac_usplus 3.1).
# NOT RUN: Vivado was not available.
set here   [file dirname [file normalize [info script]]]
set root   [file normalize $here/../..]
set out    $root/target/bitstreams/$board
set rtl    [expr {[info exists ::env(OPTIREDUCE_RTL)] ? $::env(OPTIREDUCE_RTL) : "$root/hw/rtl"}]
file mkdir $out/ip
create_project -in_memory -part $part
set_property board_part $board_part [current_project]

read_verilog [glob $rtl/*.v] $here/alveo.v $here/axis_frame_crossing.v $here/msix_table.v $here/reset_crossing.v \
    $root/bitstreams/$board/shell.v
read_xdc $root/bitstreams/$board/shell.xdc
read_xdc $here/alveo.xdc

proc ip {name module properties} {
    create_ip -name $name -vendor xilinx.com -library ip -module_name $module -dir $::out/ip
    set_property -dict $properties [get_ips $module]
    generate_target all [get_ips $module]
    synth_ip [get_ips $module]
}

# PCIe-to-AXI bridge. BAR 0 has 64 KiB: registers at 0, MSI-X table at 0x8000, pending bits at
# 0x9000 (msix_table.v). The slave aperture (axibar) maps all of host memory one to one. Without an
# aperture the card cannot reach host memory. With User_Reset, axi_aresetn also follows a hot reset
# of the link, which is how a host resets the card (bitstreams/README.md).
# hw/tools/tests/suite/vivado.rs checks all parameters, with reasons and sources.
ip xdma xdma_0 [list \
    CONFIG.functional_mode {AXI_Bridge} \
    CONFIG.mode_selection {Advanced} \
    CONFIG.device_port_type {PCI_Express_Endpoint_device} \
    CONFIG.PCIE_BOARD_INTERFACE {pci_express_x16} CONFIG.SYS_RST_N_BOARD_INTERFACE {pcie_perstn} \
    CONFIG.ref_clk_freq {100_MHz} \
    CONFIG.pl_link_cap_max_link_width {X16} \
    CONFIG.pl_link_cap_max_link_speed {8.0_GT/s} \
    CONFIG.dma_reset_source_sel {User_Reset} \
    CONFIG.axi_addr_width {64} \
    CONFIG.axi_data_width {512_bit} \
    CONFIG.axisten_freq {250} \
    CONFIG.en_axi_master_if {true} \
    CONFIG.en_axi_slave_if {true} \
    CONFIG.axi_id_width {4} \
    CONFIG.axibar_num {1} \
    CONFIG.axibar_0 {0x0000000000000000} \
    CONFIG.axibar_highaddr_0 {0xFFFFFFFFFFFFFFFF} \
    CONFIG.axibar2pciebar_0 {0x0000000000000000} \
    CONFIG.c_s_axi_num_read {32} \
    CONFIG.c_s_axi_num_write {8} \
    CONFIG.vendor_id {10EE} \
    CONFIG.pf0_device_id {903F} \
    CONFIG.pf0_bar0_enabled {true} \
    CONFIG.pf0_bar0_64bit {true} \
    CONFIG.pf0_bar0_scale {Kilobytes} \
    CONFIG.pf0_bar0_size {64} \
    CONFIG.pf0_bar0_prefetchable {false} \
    CONFIG.pf0_bar2_enabled {false} \
    CONFIG.pf0_bar4_enabled {false} \
    CONFIG.pciebar2axibar_0 {0x0000000000000000} \
    CONFIG.pf0_class_code_base {02} \
    CONFIG.pf0_class_code_sub {00} \
    CONFIG.pf0_class_code_interface {00} \
    CONFIG.pf0_interrupt_pin {NONE} \
    CONFIG.pf0_msi_enabled {false} \
    CONFIG.pf0_msix_enabled {true} \
    CONFIG.pf0_msix_impl_locn {External} \
    CONFIG.pf0_msix_cap_table_size {003} \
    CONFIG.pf0_msix_cap_table_bir {BAR_1:0} \
    CONFIG.pf0_msix_cap_table_offset {00008000} \
    CONFIG.pf0_msix_cap_pba_bir {BAR_1:0} \
    CONFIG.pf0_msix_cap_pba_offset {00009000}]

ip axi_dwidth_converter axi_dwidth_converter_0 [list \
    CONFIG.PROTOCOL {AXI4} CONFIG.ADDR_WIDTH {64} CONFIG.SI_DATA_WIDTH {512} CONFIG.MI_DATA_WIDTH {32} \
    CONFIG.SI_ID_WIDTH {4}]
ip axi_protocol_converter axi_protocol_converter_0 [list \
    CONFIG.SI_PROTOCOL {AXI4} CONFIG.MI_PROTOCOL {AXI4LITE} CONFIG.ADDR_WIDTH {64} CONFIG.DATA_WIDTH {32} \
    CONFIG.ID_WIDTH {0} CONFIG.TRANSLATION_MODE {2}]

# MAC: CAUI-4, RS-FEC, frames of 64 to 9600 bytes, FCS inserted and stripped.
ip cmac_usplus cmac_usplus_0 [list \
    CONFIG.CMAC_CAUI4_MODE {1} CONFIG.NUM_LANES {4x25} CONFIG.USER_INTERFACE {AXIS} \
    CONFIG.GT_REF_CLK_FREQ $refclk_mhz CONFIG.GT_DRP_CLK {125.00} \
    CONFIG.CMAC_CORE_SELECT $cmac CONFIG.GT_GROUP_SELECT $gt_group \
    CONFIG.ENABLE_AXI_INTERFACE {0} CONFIG.INCLUDE_STATISTICS_COUNTERS {0} \
    CONFIG.INCLUDE_RS_FEC {1} CONFIG.TX_FLOW_CONTROL {0} CONFIG.RX_FLOW_CONTROL {0} \
    CONFIG.TX_FRAME_CRC_CHECKING {Enable FCS Insertion} CONFIG.RX_FRAME_CRC_CHECKING {Enable FCS Stripping} \
    CONFIG.RX_MIN_PACKET_LEN {64} CONFIG.RX_MAX_PACKET_LEN {9600}]

# Register BUILD_ID: first 32 bits of the commit hash.
set build_id [exec git -C $here rev-parse --short=8 HEAD]
synth_design -top shell -part $part -generic BUILD_ID=32'h$build_id
opt_design
place_design -directive Explore
phys_opt_design
route_design -directive Explore
report_timing_summary -file $out/timing.rpt
report_utilization    -file $out/utilization.rpt
write_checkpoint -force $out/shell.dcp
set wns [get_property SLACK [get_timing_paths -max_paths 1]]
if {$wns < 0} { error "$board: timing is not met: WNS $wns ns, see $out/timing.rpt" }
write_bitstream -force $out/shell.bit

# Values for bitstreams/<board>/manifest.toml, whose `state` becomes "built".
proc count {filter} { llength [get_cells -hierarchical -filter $filter] }
set manifest [open $out/manifest.txt w]
puts $manifest "tool_version = \"[version -short]\"\nwns_ns = $wns"
puts $manifest "lut = [count {PRIMITIVE_GROUP == CLB && REF_NAME =~ LUT*}]"
puts $manifest "ff = [count {PRIMITIVE_GROUP == REGISTER}]"
puts $manifest "bram = [count {REF_NAME =~ RAMB*}]"
puts $manifest "dsp = [count {REF_NAME =~ DSP48E2}]"
close $manifest
puts "$out/shell.bit is built; WNS $wns ns; copy the figures of $out/manifest.txt and the sha256 into manifest.toml"
