# vivado -mode batch -source bitstreams/alveo-u250/build.tcl
# NOT RUN: Vivado was not available. OPTIREDUCE_RTL selects generated Verilog outside hw/rtl.
set board      alveo-u250
set part       xcu250-figd2104-2l-e
set board_part xilinx.com:au250:part0:1.3
set refclk_mhz 156.25
set cmac       CMACE4_X0Y8
set gt_group   X1Y44~X1Y47
source [file dirname [file normalize [info script]]]/../common/alveo.tcl
