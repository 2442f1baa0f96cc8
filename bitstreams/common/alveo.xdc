# For every Alveo card. The three clocks of the IP constrain themselves.
create_clock -period 10.000 -name pcie_refclk [get_ports pcie_refclk_p]
set_false_path -from [get_ports pcie_rstn]

# axis_frame_crossing: two Gray counters; a bit may be late by less than a cycle of the slower clock. The frame memory
# is read long after it was written, as it is shown to the reader by a counter. reset_crossing: by its own registers.
set_max_delay -datapath_only -from [get_pins -hierarchical -filter {NAME =~ *_gray_reg[*]/C}] \
    -to [get_pins -hierarchical -filter {NAME =~ *to_*er/first_reg[*]/D}] 3.000
set_bus_skew -from [get_pins -hierarchical -filter {NAME =~ *_gray_reg[*]/C}] \
    -to [get_pins -hierarchical -filter {NAME =~ *to_*er/first_reg[*]/D}] 3.000
set_false_path -to [get_pins -hierarchical -filter {NAME =~ *mac_reset/released_reg[*]/CLR}]
# The state of the link: a level in the clock of the MAC's receiver.
set_false_path -to [get_pins -hierarchical -filter {NAME =~ *link_first_reg[*]/D}]
