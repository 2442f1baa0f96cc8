// For the reduced card on ECP5, after synthesis: an address pin of a distributed memory that is constant for reads and
// writes alike follows the lowest one instead.
//
// Why: the memory has 16 words; for 8, nextpnr brings a zero to five pins of each over wires from one constant, from one
// end of the device to the other: thousands of pins where wires are scarce.
// Limits: a memory that starts with anything stays as it is.
(* techmap_celltype = "TRELLIS_DPR16X4" *)
module tie (input [3:0] DI, WAD, RAD, input WRE, WCK, output [3:0] DO);
    parameter WCKMUX = "WCK";
    parameter WREMUX = "WRE";
    parameter [63:0] INITVAL = 64'bx;
    parameter [3:0] _TECHMAP_CONSTMSK_WAD_ = 0;
    parameter [3:0] _TECHMAP_CONSTMSK_RAD_ = 0;
    parameter [3:0] _TECHMAP_CONSTVAL_WAD_ = 0;
    parameter [3:0] _TECHMAP_CONSTVAL_RAD_ = 0;
    localparam [3:0] TIED = _TECHMAP_CONSTMSK_WAD_;
    wire _TECHMAP_FAIL_ = TIED == 0 || TIED[0] || TIED != _TECHMAP_CONSTMSK_RAD_ || INITVAL !== 64'bx
        || (_TECHMAP_CONSTVAL_WAD_ & TIED) != (_TECHMAP_CONSTVAL_RAD_ & TIED);
    TRELLIS_DPR16X4 #(.WCKMUX(WCKMUX), .WREMUX(WREMUX), .INITVAL(INITVAL)) _TECHMAP_REPLACE_ (
        .DI(DI), .WRE(WRE), .WCK(WCK), .DO(DO),
        .WAD({TIED[3] ? WAD[0] : WAD[3], TIED[2] ? WAD[0] : WAD[2], TIED[1] ? WAD[0] : WAD[1], WAD[0]}),
        .RAD({TIED[3] ? RAD[0] : RAD[3], TIED[2] ? RAD[0] : RAD[2], TIED[1] ? RAD[0] : RAD[1], RAD[0]})
    );
endmodule
