// A butterfly stage inside a beat, one cycle later, equals 33-bit signed arithmetic. Each pair of
// neighbouring lanes holds numbers a and b in excess 2^31. The results go to lanes i and i + 8.
// Plain: a + b and b - a, modulo 2^32. Halving: floor(a/2) + ceil(b/2) and floor(b/2) - floor(a/2),
// which fit 32 bits.
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
    wire signed [32:0] b_up = b + 33'sd1;
    wire signed [32:0] half_a = a >>> 1;
    wire signed [32:0] half_b = b >>> 1;
    wire signed [32:0] half_b_up = b_up >>> 1;
    wire signed [32:0] sum = halve ? half_a + half_b_up : a + b;
    wire signed [32:0] difference = halve ? half_b - half_a : b - a;
    wire [32:0] low = sum + 33'h8000_0000;
    wire [32:0] high = difference + 33'h8000_0000;
    always @(*) if (!is_first) begin
        assert (out_beat[32 * i +: 32] == low[31:0] && out_beat[32 * i + 256 +: 32] == high[31:0]);
        if (halve) assert (!low[32] && !high[32]);
    end
end endgenerate
