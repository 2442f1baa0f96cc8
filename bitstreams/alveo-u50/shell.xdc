# Pins of an Alveo U50 (UG1371). The IP places the transceivers of PCIe and QSFP.
set_property PACKAGE_PIN AF9 [get_ports pcie_refclk_p]
set_property PACKAGE_PIN AF8 [get_ports pcie_refclk_n]
set_property -dict {PACKAGE_PIN AW27 IOSTANDARD LVCMOS18} [get_ports pcie_rstn]
set_property PACKAGE_PIN N36 [get_ports qsfp_refclk_p]
set_property PACKAGE_PIN N37 [get_ports qsfp_refclk_n]
set_property -dict {PACKAGE_PIN J18 IOSTANDARD LVCMOS18 PULLDOWN TRUE} [get_ports hbm_cattrip]

set_property CONFIG_VOLTAGE 1.8 [current_design]
set_property CONFIG_MODE SPIx4 [current_design]
set_property BITSTREAM.GENERAL.COMPRESS TRUE [current_design]
set_property BITSTREAM.CONFIG.SPI_BUSWIDTH 4 [current_design]
set_property BITSTREAM.CONFIG.SPI_32BIT_ADDR YES [current_design]
set_property BITSTREAM.CONFIG.UNUSEDPIN PULLUP [current_design]
