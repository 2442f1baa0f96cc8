// Reset with asynchronous assertion. It is released 16 cycles of `clock` after the input.
module reset_crossing (
    input  wire clock,
    input  wire reset_n_in,
    output wire reset_n
);
    (* ASYNC_REG = "TRUE" *) reg [15:0] released;

    always @(posedge clock or negedge reset_n_in) begin
        if (!reset_n_in) released <= 16'h0000;
        else released <= {released[14:0], 1'b1};
    end
    assign reset_n = released[15];
endmodule
