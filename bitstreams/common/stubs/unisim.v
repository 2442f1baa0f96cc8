// Stubs of UltraScale+ primitives (UG974). Only the connected ports.
module IBUF (
    input  wire I,
    output wire O
);
    assign O = I;
endmodule

module IBUFDS_GTE4 #(
    parameter [1:0] REFCLK_HROW_CK_SEL = 2'b00
) (
    input  wire I,
    input  wire IB,
    input  wire CEB,
    output wire O,
    output wire ODIV2
);
    assign O = I && !IB && !CEB;
    assign ODIV2 = REFCLK_HROW_CK_SEL == 2'b00 && O;
endmodule

module BUFGCE_DIV #(
    parameter integer BUFGCE_DIVIDE = 1
) (
    input  wire I,
    input  wire CE,
    input  wire CLR,
    output wire O
);
    assign O = BUFGCE_DIVIDE != 0 && I && CE && !CLR;
endmodule
