// A butterfly stage inside a beat is, in 33-bit signed arithmetic, (a + b + 1) >> 1 and (a - b + 1) >> 1 of each
// neighbouring pair of lanes, which are numbers in excess 2^31, to lanes i and i + 8, one cycle later.
reg [511:0] was;
reg is_first = 1;
always @(posedge clock) begin
    was <= beat;
    is_first <= 0;
end
genvar i;
generate for (i = 0; i < 8; i = i + 1) begin
    wire signed [32:0] a = {1'b0, was[64 * i +: 32]} - 33'h8000_0000;
    wire signed [32:0] b = {1'b0, was[64 * i + 32 +: 32]} - 33'h8000_0000;
    wire signed [32:0] sum = a + b + 33'sd1;
    wire signed [32:0] difference = a - b + 33'sd1;
    wire [32:0] low = (sum >>> 1) + 33'h8000_0000;
    wire [32:0] high = (difference >>> 1) + 33'h8000_0000;
    always @(*) if (!is_first) assert (out_beat[32 * i +: 32] == low[31:0] && out_beat[32 * i + 256 +: 32] == high[31:0]);
end endgenerate
