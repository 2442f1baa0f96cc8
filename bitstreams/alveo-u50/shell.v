// Top for an Alveo U50: the card on its QSFP28 cage. The HBM is unused.
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
    output wire        hbm_cattrip
);

    // No HBM, so no overheating. The pin must not float.
    assign hbm_cattrip = 1'b0;

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
