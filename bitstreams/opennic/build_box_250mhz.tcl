# Sourced in the plugin's folder by script/build.tcl of the OpenNIC shell.
# NOT RUN: Vivado was not available.
set optireduce [file normalize ../..]
read_verilog -quiet [glob $optireduce/hw/rtl/*.v] optireduce_250mhz.v no_host_memory.v \
    ../common/axil_crossing.v ../common/reset_crossing.v
