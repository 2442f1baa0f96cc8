// Top for an Alveo U250: the card on QSFP28 cage 0. Cage 1 stays in reset.
module shell #(
    // Value of the register BUILD_ID, set by `-generic` of synth_design.
    parameter [31:0] BUILD_ID = 32'd0
) (
    input  wire        pcie_refclk_p,
    input  wire        pcie_refclk_n,
    input  wire        pcie_rstn,
    input  wire [15:0] pci_exp_rxp,
    input  wire [15:0] pci_exp_rxn,
    output wire [15:0] pci_exp_txp,
    output wire [15:0] pci_exp_txn,
    input  wire        qsfp_refclk_p,
    input  wire        qsfp_refclk_n,
    input  wire  [3:0] qsfp_rxp,
    input  wire  [3:0] qsfp_rxn,
    output wire  [3:0] qsfp_txp,
    output wire  [3:0] qsfp_txn,
    output wire  [1:0] qsfp_resetl,
    output wire  [1:0] qsfp_lpmode,
    output wire  [1:0] qsfp_modsell
);
    assign qsfp_resetl = 2'b01;
    assign qsfp_lpmode = 2'b10;
    assign qsfp_modsell = 2'b11;

    alveo #(.BUILD_ID(BUILD_ID)) board (
        .pcie_refclk_p(pcie_refclk_p),
        .pcie_refclk_n(pcie_refclk_n),
        .pcie_rstn(pcie_rstn),
        .pci_exp_rxp(pci_exp_rxp),
        .pci_exp_rxn(pci_exp_rxn),
        .pci_exp_txp(pci_exp_txp),
        .pci_exp_txn(pci_exp_txn),
        .qsfp_refclk_p(qsfp_refclk_p),
        .qsfp_refclk_n(qsfp_refclk_n),
        .qsfp_rxp(qsfp_rxp),
        .qsfp_rxn(qsfp_rxn),
        .qsfp_txp(qsfp_txp),
        .qsfp_txn(qsfp_txn)
    );
endmodule
