# vivado -mode batch -source bitstreams/alveo-u50/build.tcl
# NOT RUN: Vivado was not available. OPTIREDUCE_RTL selects generated Verilog outside hw/rtl.
set board      alveo-u50
set part       xcu50-fsvh2104-2-e
set board_part xilinx.com:au50:part0:1.3
set refclk_mhz 161.1328125
set cmac       CMACE4_X0Y4
set gt_group   X0Y28~X0Y31
source [file dirname [file normalize [info script]]]/../common/alveo.tcl
