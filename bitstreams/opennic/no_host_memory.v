// AXI4 slave that answers every access with an error (SLVERR).
//
// Why: a plugin of the OpenNIC box cannot access host memory. With this slave the card reports DMA
// errors instead of hanging. README.md describes a complete card.
module no_host_memory (
    input  wire       clock,
    input  wire       reset_n,
    input  wire [3:0] awid,
    input  wire       awvalid,
    output wire       awready,
    input  wire       wlast,
    input  wire       wvalid,
    output wire       wready,
    output reg  [3:0] bid,
    output wire [1:0] bresp,
    output reg        bvalid,
    input  wire       bready,
    input  wire [3:0] arid,
    input  wire [7:0] arlen,
    input  wire       arvalid,
    output wire       arready,
    output reg  [3:0] rid,
    output wire [1:0] rresp,
    output wire       rlast,
    output reg        rvalid,
    input  wire       rready
);
    // One burst at a time in each direction. Write data is accepted after its address.
    reg       writing;
    reg [7:0] left;
    assign awready = !writing && !bvalid;
    assign wready = writing;
    assign bresp = 2'b10;
    assign rresp = 2'b10;
    assign arready = !rvalid;
    assign rlast = left == 8'd0;

    always @(posedge clock) begin
        if (awvalid && awready) begin
            writing <= 1'b1;
            bid <= awid;
        end
        if (wvalid && wready && wlast) begin
            writing <= 1'b0;
            bvalid <= 1'b1;
        end
        if (bvalid && bready) bvalid <= 1'b0;
        if (arvalid && arready) begin
            rvalid <= 1'b1;
            rid <= arid;
            left <= arlen;
        end
        if (rvalid && rready) begin
            left <= left - 8'd1;
            if (rlast) rvalid <= 1'b0;
        end
        if (!reset_n) begin
            writing <= 1'b0;
            bvalid <= 1'b0;
            rvalid <= 1'b0;
        end
    end
endmodule
