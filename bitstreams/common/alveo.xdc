# All Alveo cards. The IP constrains its three clocks.
create_clock -period 10.000 -name pcie_refclk [get_ports pcie_refclk_p]
set_false_path -from [get_ports pcie_rstn]

# axis_frame_crossing: two Gray counters, whose bits may arrive late by less than a cycle of the
# slower clock. Frame memory is read long after it is written, since a counter must cross first.
# reset_crossing synchronises in its own registers.
set_max_delay -datapath_only -from [get_pins -hierarchical -filter {NAME =~ *_gray_reg[*]/C}] \
    -to [get_pins -hierarchical -filter {NAME =~ *to_*er/first_reg[*]/D}] 3.000
set_bus_skew -from [get_pins -hierarchical -filter {NAME =~ *_gray_reg[*]/C}] \
    -to [get_pins -hierarchical -filter {NAME =~ *to_*er/first_reg[*]/D}] 3.000
set_false_path -to [get_pins -hierarchical -filter {NAME =~ *mac_reset/released_reg[*]/CLR}]
# Link state: a level in the clock domain of the MAC's receiver.
set_false_path -to [get_pins -hierarchical -filter {NAME =~ *link_first_reg[*]/D}]
