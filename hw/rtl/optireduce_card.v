// Written by `optireduce-hdl rtl` from the rust-hdl sources in hw/src; do not edit. See hw/rtl/README.md.

module optireduce_contribute__encoder__across__0__delay(clock,tag,lane__0,lane__1,lane__2,lane__3,lane__4,lane__5,lane__6,lane__7,lane__8,lane__9,lane__10,lane__11,lane__12,lane__13,lane__14,lane__15,out_tag,out_beat);
    // Module arguments
    input wire  clock;
    input wire  [21:0] tag;
    input wire  [31:0] lane__0;
    input wire  [31:0] lane__1;
    input wire  [31:0] lane__2;
    input wire  [31:0] lane__3;
    input wire  [31:0] lane__4;
    input wire  [31:0] lane__5;
    input wire  [31:0] lane__6;
    input wire  [31:0] lane__7;
    input wire  [31:0] lane__8;
    input wire  [31:0] lane__9;
    input wire  [31:0] lane__10;
    input wire  [31:0] lane__11;
    input wire  [31:0] lane__12;
    input wire  [31:0] lane__13;
    input wire  [31:0] lane__14;
    input wire  [31:0] lane__15;
    output reg  [21:0] out_tag;
    output reg  [511:0] out_beat;
    // Update code (custom)
    initial begin
       out_tag = 0;
       out_beat = 0;
    end
    always @(posedge clock) begin
       out_tag <= tag;
       out_beat <= {lane__15, lane__14, lane__13, lane__12, lane__11, lane__10, lane__9, lane__8, lane__7, lane__6, lane__5, lane__4, lane__3, lane__2, lane__1, lane__0};
    end
endmodule

module optireduce_contribute__encoder__across__0__position(d,q,clock);
    // Module arguments
    input wire  [9:0] d;
    output reg  [9:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 10'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_contribute__encoder__across__1__delay(clock,tag,lane__0,lane__1,lane__2,lane__3,lane__4,lane__5,lane__6,lane__7,lane__8,lane__9,lane__10,lane__11,lane__12,lane__13,lane__14,lane__15,out_tag,out_beat);
    // Module arguments
    input wire  clock;
    input wire  [21:0] tag;
    input wire  [31:0] lane__0;
    input wire  [31:0] lane__1;
    input wire  [31:0] lane__2;
    input wire  [31:0] lane__3;
    input wire  [31:0] lane__4;
    input wire  [31:0] lane__5;
    input wire  [31:0] lane__6;
    input wire  [31:0] lane__7;
    input wire  [31:0] lane__8;
    input wire  [31:0] lane__9;
    input wire  [31:0] lane__10;
    input wire  [31:0] lane__11;
    input wire  [31:0] lane__12;
    input wire  [31:0] lane__13;
    input wire  [31:0] lane__14;
    input wire  [31:0] lane__15;
    output reg  [21:0] out_tag;
    output reg  [511:0] out_beat;
    // Update code (custom)
    reg [533:0] slots [0:1];
    reg [0:0] pointer;
    wire [0:0] oldest = pointer + 1'b1;
    integer i;
    initial begin
       for (i = 0; i < 2; i = i + 1) slots[i] = 0;
       pointer = 0;
       out_tag = 0;
       out_beat = 0;
    end
    always @(posedge clock) begin
       slots[pointer] <= {tag, lane__15, lane__14, lane__13, lane__12, lane__11, lane__10, lane__9, lane__8, lane__7, lane__6, lane__5, lane__4, lane__3, lane__2, lane__1, lane__0};
       {out_tag, out_beat} <= slots[oldest];
       pointer <= oldest;
    end
endmodule

module optireduce_contribute__encoder__across__2__delay(clock,tag,lane__0,lane__1,lane__2,lane__3,lane__4,lane__5,lane__6,lane__7,lane__8,lane__9,lane__10,lane__11,lane__12,lane__13,lane__14,lane__15,out_tag,out_beat);
    // Module arguments
    input wire  clock;
    input wire  [21:0] tag;
    input wire  [31:0] lane__0;
    input wire  [31:0] lane__1;
    input wire  [31:0] lane__2;
    input wire  [31:0] lane__3;
    input wire  [31:0] lane__4;
    input wire  [31:0] lane__5;
    input wire  [31:0] lane__6;
    input wire  [31:0] lane__7;
    input wire  [31:0] lane__8;
    input wire  [31:0] lane__9;
    input wire  [31:0] lane__10;
    input wire  [31:0] lane__11;
    input wire  [31:0] lane__12;
    input wire  [31:0] lane__13;
    input wire  [31:0] lane__14;
    input wire  [31:0] lane__15;
    output reg  [21:0] out_tag;
    output reg  [511:0] out_beat;
    // Update code (custom)
    reg [533:0] slots [0:3];
    reg [1:0] pointer;
    wire [1:0] oldest = pointer + 1'b1;
    integer i;
    initial begin
       for (i = 0; i < 4; i = i + 1) slots[i] = 0;
       pointer = 0;
       out_tag = 0;
       out_beat = 0;
    end
    always @(posedge clock) begin
       slots[pointer] <= {tag, lane__15, lane__14, lane__13, lane__12, lane__11, lane__10, lane__9, lane__8, lane__7, lane__6, lane__5, lane__4, lane__3, lane__2, lane__1, lane__0};
       {out_tag, out_beat} <= slots[oldest];
       pointer <= oldest;
    end
endmodule

module optireduce_contribute__encoder__across__3__delay(clock,tag,lane__0,lane__1,lane__2,lane__3,lane__4,lane__5,lane__6,lane__7,lane__8,lane__9,lane__10,lane__11,lane__12,lane__13,lane__14,lane__15,out_tag,out_beat);
    // Module arguments
    input wire  clock;
    input wire  [21:0] tag;
    input wire  [31:0] lane__0;
    input wire  [31:0] lane__1;
    input wire  [31:0] lane__2;
    input wire  [31:0] lane__3;
    input wire  [31:0] lane__4;
    input wire  [31:0] lane__5;
    input wire  [31:0] lane__6;
    input wire  [31:0] lane__7;
    input wire  [31:0] lane__8;
    input wire  [31:0] lane__9;
    input wire  [31:0] lane__10;
    input wire  [31:0] lane__11;
    input wire  [31:0] lane__12;
    input wire  [31:0] lane__13;
    input wire  [31:0] lane__14;
    input wire  [31:0] lane__15;
    output reg  [21:0] out_tag;
    output reg  [511:0] out_beat;
    // Update code (custom)
    reg [533:0] slots [0:7];
    reg [2:0] pointer;
    wire [2:0] oldest = pointer + 1'b1;
    integer i;
    initial begin
       for (i = 0; i < 8; i = i + 1) slots[i] = 0;
       pointer = 0;
       out_tag = 0;
       out_beat = 0;
    end
    always @(posedge clock) begin
       slots[pointer] <= {tag, lane__15, lane__14, lane__13, lane__12, lane__11, lane__10, lane__9, lane__8, lane__7, lane__6, lane__5, lane__4, lane__3, lane__2, lane__1, lane__0};
       {out_tag, out_beat} <= slots[oldest];
       pointer <= oldest;
    end
endmodule

module optireduce_contribute__encoder__across__4__delay(clock,tag,lane__0,lane__1,lane__2,lane__3,lane__4,lane__5,lane__6,lane__7,lane__8,lane__9,lane__10,lane__11,lane__12,lane__13,lane__14,lane__15,out_tag,out_beat);
    // Module arguments
    input wire  clock;
    input wire  [21:0] tag;
    input wire  [31:0] lane__0;
    input wire  [31:0] lane__1;
    input wire  [31:0] lane__2;
    input wire  [31:0] lane__3;
    input wire  [31:0] lane__4;
    input wire  [31:0] lane__5;
    input wire  [31:0] lane__6;
    input wire  [31:0] lane__7;
    input wire  [31:0] lane__8;
    input wire  [31:0] lane__9;
    input wire  [31:0] lane__10;
    input wire  [31:0] lane__11;
    input wire  [31:0] lane__12;
    input wire  [31:0] lane__13;
    input wire  [31:0] lane__14;
    input wire  [31:0] lane__15;
    output reg  [21:0] out_tag;
    output reg  [511:0] out_beat;
    // Update code (custom)
    reg [533:0] slots [0:15];
    reg [3:0] pointer;
    wire [3:0] oldest = pointer + 1'b1;
    integer i;
    initial begin
       for (i = 0; i < 16; i = i + 1) slots[i] = 0;
       pointer = 0;
       out_tag = 0;
       out_beat = 0;
    end
    always @(posedge clock) begin
       slots[pointer] <= {tag, lane__15, lane__14, lane__13, lane__12, lane__11, lane__10, lane__9, lane__8, lane__7, lane__6, lane__5, lane__4, lane__3, lane__2, lane__1, lane__0};
       {out_tag, out_beat} <= slots[oldest];
       pointer <= oldest;
    end
endmodule

module optireduce_contribute__encoder__across__5__delay(clock,tag,lane__0,lane__1,lane__2,lane__3,lane__4,lane__5,lane__6,lane__7,lane__8,lane__9,lane__10,lane__11,lane__12,lane__13,lane__14,lane__15,out_tag,out_beat);
    // Module arguments
    input wire  clock;
    input wire  [21:0] tag;
    input wire  [31:0] lane__0;
    input wire  [31:0] lane__1;
    input wire  [31:0] lane__2;
    input wire  [31:0] lane__3;
    input wire  [31:0] lane__4;
    input wire  [31:0] lane__5;
    input wire  [31:0] lane__6;
    input wire  [31:0] lane__7;
    input wire  [31:0] lane__8;
    input wire  [31:0] lane__9;
    input wire  [31:0] lane__10;
    input wire  [31:0] lane__11;
    input wire  [31:0] lane__12;
    input wire  [31:0] lane__13;
    input wire  [31:0] lane__14;
    input wire  [31:0] lane__15;
    output reg  [21:0] out_tag;
    output reg  [511:0] out_beat;
    // Update code (custom)
    reg [533:0] slots [0:31];
    reg [4:0] pointer;
    wire [4:0] oldest = pointer + 1'b1;
    integer i;
    initial begin
       for (i = 0; i < 32; i = i + 1) slots[i] = 0;
       pointer = 0;
       out_tag = 0;
       out_beat = 0;
    end
    always @(posedge clock) begin
       slots[pointer] <= {tag, lane__15, lane__14, lane__13, lane__12, lane__11, lane__10, lane__9, lane__8, lane__7, lane__6, lane__5, lane__4, lane__3, lane__2, lane__1, lane__0};
       {out_tag, out_beat} <= slots[oldest];
       pointer <= oldest;
    end
endmodule

module optireduce_contribute__encoder__across__6__delay(clock,tag,lane__0,lane__1,lane__2,lane__3,lane__4,lane__5,lane__6,lane__7,lane__8,lane__9,lane__10,lane__11,lane__12,lane__13,lane__14,lane__15,out_tag,out_beat);
    // Module arguments
    input wire  clock;
    input wire  [21:0] tag;
    input wire  [31:0] lane__0;
    input wire  [31:0] lane__1;
    input wire  [31:0] lane__2;
    input wire  [31:0] lane__3;
    input wire  [31:0] lane__4;
    input wire  [31:0] lane__5;
    input wire  [31:0] lane__6;
    input wire  [31:0] lane__7;
    input wire  [31:0] lane__8;
    input wire  [31:0] lane__9;
    input wire  [31:0] lane__10;
    input wire  [31:0] lane__11;
    input wire  [31:0] lane__12;
    input wire  [31:0] lane__13;
    input wire  [31:0] lane__14;
    input wire  [31:0] lane__15;
    output reg  [21:0] out_tag;
    output reg  [511:0] out_beat;
    // Update code (custom)
    reg [533:0] slots [0:63];
    reg [5:0] pointer;
    wire [5:0] oldest = pointer + 1'b1;
    integer i;
    initial begin
       for (i = 0; i < 64; i = i + 1) slots[i] = 0;
       pointer = 0;
       out_tag = 0;
       out_beat = 0;
    end
    always @(posedge clock) begin
       slots[pointer] <= {tag, lane__15, lane__14, lane__13, lane__12, lane__11, lane__10, lane__9, lane__8, lane__7, lane__6, lane__5, lane__4, lane__3, lane__2, lane__1, lane__0};
       {out_tag, out_beat} <= slots[oldest];
       pointer <= oldest;
    end
endmodule

module optireduce_contribute__encoder__across__7__delay(clock,tag,lane__0,lane__1,lane__2,lane__3,lane__4,lane__5,lane__6,lane__7,lane__8,lane__9,lane__10,lane__11,lane__12,lane__13,lane__14,lane__15,out_tag,out_beat);
    // Module arguments
    input wire  clock;
    input wire  [21:0] tag;
    input wire  [31:0] lane__0;
    input wire  [31:0] lane__1;
    input wire  [31:0] lane__2;
    input wire  [31:0] lane__3;
    input wire  [31:0] lane__4;
    input wire  [31:0] lane__5;
    input wire  [31:0] lane__6;
    input wire  [31:0] lane__7;
    input wire  [31:0] lane__8;
    input wire  [31:0] lane__9;
    input wire  [31:0] lane__10;
    input wire  [31:0] lane__11;
    input wire  [31:0] lane__12;
    input wire  [31:0] lane__13;
    input wire  [31:0] lane__14;
    input wire  [31:0] lane__15;
    output reg  [21:0] out_tag;
    output reg  [511:0] out_beat;
    // Update code (custom)
    reg [533:0] slots [0:127];
    reg [6:0] pointer;
    wire [6:0] oldest = pointer + 1'b1;
    integer i;
    initial begin
       for (i = 0; i < 128; i = i + 1) slots[i] = 0;
       pointer = 0;
       out_tag = 0;
       out_beat = 0;
    end
    always @(posedge clock) begin
       slots[pointer] <= {tag, lane__15, lane__14, lane__13, lane__12, lane__11, lane__10, lane__9, lane__8, lane__7, lane__6, lane__5, lane__4, lane__3, lane__2, lane__1, lane__0};
       {out_tag, out_beat} <= slots[oldest];
       pointer <= oldest;
    end
endmodule

module optireduce_finisher__multiplier__lane__0__counted(d,q,clock);
    // Module arguments
    input wire  [66:0] d;
    output reg  [66:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 67'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_finisher__multiplier__lane__0__multiplied(d,q,clock);
    // Module arguments
    input wire  [61:0] d;
    output reg  [61:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 62'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_finisher__multiplier__lane__0__normal(d,q,clock);
    // Module arguments
    input wire  [36:0] d;
    output reg  [36:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 37'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_finisher__multiplier__lane__0__operands(d,q,clock);
    // Module arguments
    input wire  [60:0] d;
    output reg  [60:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 61'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_finisher__multiplier__lane__0__registered(d,q,clock);
    // Module arguments
    input wire  [115:0] d;
    output reg  [115:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 116'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_finisher__multiplier__lane__0__result(d,q,clock);
    // Module arguments
    input wire  [31:0] d;
    output reg  [31:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 32'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_reduce__adder__lane__0__added(d,q,clock);
    // Module arguments
    input wire  [67:0] d;
    output reg  [67:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 68'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_reduce__adder__lane__0__aligned(d,q,clock);
    // Module arguments
    input wire  [64:0] d;
    output reg  [64:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 65'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_reduce__adder__lane__0__counted(d,q,clock);
    // Module arguments
    input wire  [43:0] d;
    output reg  [43:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 44'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_reduce__adder__lane__0__normal(d,q,clock);
    // Module arguments
    input wire  [35:0] d;
    output reg  [35:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 36'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_reduce__adder__lane__0__unpacked(d,q,clock);
    // Module arguments
    input wire  [84:0] d;
    output reg  [84:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 85'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_contribute__encoder__across__0(clock,bypass,tag,beat,out_tag,out_beat);
    // Module arguments
    input wire  clock;
    input wire  bypass;
    input wire  [21:0] tag;
    input wire  [511:0] beat;
    output reg  [21:0] out_tag;
    output reg  [511:0] out_beat;
    // Constant declarations
    localparam  halve = 1'b0;
    localparam  distance = 10'b1;
    // Stub signals
    reg  [9:0] position__d;
    wire  [9:0] position__q;
    reg  position__clock;
    reg  delay__clock;
    reg  [21:0] delay__tag;
    reg  [31:0] delay__lane__0;
    reg  [31:0] delay__lane__1;
    reg  [31:0] delay__lane__2;
    reg  [31:0] delay__lane__3;
    reg  [31:0] delay__lane__4;
    reg  [31:0] delay__lane__5;
    reg  [31:0] delay__lane__6;
    reg  [31:0] delay__lane__7;
    reg  [31:0] delay__lane__8;
    reg  [31:0] delay__lane__9;
    reg  [31:0] delay__lane__10;
    reg  [31:0] delay__lane__11;
    reg  [31:0] delay__lane__12;
    reg  [31:0] delay__lane__13;
    reg  [31:0] delay__lane__14;
    reg  [31:0] delay__lane__15;
    wire  [21:0] delay__out_tag;
    wire  [511:0] delay__out_beat;
    reg  result__clock;
    reg  [21:0] result__tag;
    reg  [31:0] result__lane__0;
    reg  [31:0] result__lane__1;
    reg  [31:0] result__lane__2;
    reg  [31:0] result__lane__3;
    reg  [31:0] result__lane__4;
    reg  [31:0] result__lane__5;
    reg  [31:0] result__lane__6;
    reg  [31:0] result__lane__7;
    reg  [31:0] result__lane__8;
    reg  [31:0] result__lane__9;
    reg  [31:0] result__lane__10;
    reg  [31:0] result__lane__11;
    reg  [31:0] result__lane__12;
    reg  [31:0] result__lane__13;
    reg  [31:0] result__lane__14;
    reg  [31:0] result__lane__15;
    wire  [21:0] result__out_tag;
    wire  [511:0] result__out_beat;
    // Local signals
    reg  [9:0] phase;
    reg  butterfly;
    reg  [31:0] a__0;
    reg  [31:0] a__1;
    reg  [31:0] a__2;
    reg  [31:0] a__3;
    reg  [31:0] a__4;
    reg  [31:0] a__5;
    reg  [31:0] a__6;
    reg  [31:0] a__7;
    reg  [31:0] a__8;
    reg  [31:0] a__9;
    reg  [31:0] a__10;
    reg  [31:0] a__11;
    reg  [31:0] a__12;
    reg  [31:0] a__13;
    reg  [31:0] a__14;
    reg  [31:0] a__15;
    reg  [31:0] b__0;
    reg  [31:0] b__1;
    reg  [31:0] b__2;
    reg  [31:0] b__3;
    reg  [31:0] b__4;
    reg  [31:0] b__5;
    reg  [31:0] b__6;
    reg  [31:0] b__7;
    reg  [31:0] b__8;
    reg  [31:0] b__9;
    reg  [31:0] b__10;
    reg  [31:0] b__11;
    reg  [31:0] b__12;
    reg  [31:0] b__13;
    reg  [31:0] b__14;
    reg  [31:0] b__15;
    // Sub module instances
    optireduce_contribute__encoder__across__0__position position(
        .d(position__d),
        .q(position__q),
        .clock(position__clock)
    );
    optireduce_contribute__encoder__across__0__delay delay(
        .clock(delay__clock),
        .tag(delay__tag),
        .lane__0(delay__lane__0),
        .lane__1(delay__lane__1),
        .lane__2(delay__lane__2),
        .lane__3(delay__lane__3),
        .lane__4(delay__lane__4),
        .lane__5(delay__lane__5),
        .lane__6(delay__lane__6),
        .lane__7(delay__lane__7),
        .lane__8(delay__lane__8),
        .lane__9(delay__lane__9),
        .lane__10(delay__lane__10),
        .lane__11(delay__lane__11),
        .lane__12(delay__lane__12),
        .lane__13(delay__lane__13),
        .lane__14(delay__lane__14),
        .lane__15(delay__lane__15),
        .out_tag(delay__out_tag),
        .out_beat(delay__out_beat)
    );
    optireduce_contribute__encoder__across__0__delay result(
        .clock(result__clock),
        .tag(result__tag),
        .lane__0(result__lane__0),
        .lane__1(result__lane__1),
        .lane__2(result__lane__2),
        .lane__3(result__lane__3),
        .lane__4(result__lane__4),
        .lane__5(result__lane__5),
        .lane__6(result__lane__6),
        .lane__7(result__lane__7),
        .lane__8(result__lane__8),
        .lane__9(result__lane__9),
        .lane__10(result__lane__10),
        .lane__11(result__lane__11),
        .lane__12(result__lane__12),
        .lane__13(result__lane__13),
        .lane__14(result__lane__14),
        .lane__15(result__lane__15),
        .out_tag(result__out_tag),
        .out_beat(result__out_beat)
    );
    // Update code
    always @(*) begin
        position__clock = clock;
        position__d = position__q;
        delay__clock = clock;
        result__clock = clock;
        phase = position__q & distance;
        butterfly = tag[(64'h0)+:(1)] && ~bypass && (phase != 32'h0);
        if (tag[(64'h0)+:(1)] && ~bypass) begin
            position__d = position__q + 32'h1;
        end
        delay__tag = tag;
        result__tag = tag;
        if (~butterfly) begin
            delay__tag[(64'h0)+:(1)] = 1'b0;
            if (~bypass) begin
                result__tag = delay__out_tag;
            end
        end
        a__0 = delay__out_beat[(0 * 32'h20)+:(32)];
        b__0 = beat[(0 * 32'h20)+:(32)];
        a__1 = delay__out_beat[(1 * 32'h20)+:(32)];
        b__1 = beat[(1 * 32'h20)+:(32)];
        a__2 = delay__out_beat[(2 * 32'h20)+:(32)];
        b__2 = beat[(2 * 32'h20)+:(32)];
        a__3 = delay__out_beat[(3 * 32'h20)+:(32)];
        b__3 = beat[(3 * 32'h20)+:(32)];
        a__4 = delay__out_beat[(4 * 32'h20)+:(32)];
        b__4 = beat[(4 * 32'h20)+:(32)];
        a__5 = delay__out_beat[(5 * 32'h20)+:(32)];
        b__5 = beat[(5 * 32'h20)+:(32)];
        a__6 = delay__out_beat[(6 * 32'h20)+:(32)];
        b__6 = beat[(6 * 32'h20)+:(32)];
        a__7 = delay__out_beat[(7 * 32'h20)+:(32)];
        b__7 = beat[(7 * 32'h20)+:(32)];
        a__8 = delay__out_beat[(8 * 32'h20)+:(32)];
        b__8 = beat[(8 * 32'h20)+:(32)];
        a__9 = delay__out_beat[(9 * 32'h20)+:(32)];
        b__9 = beat[(9 * 32'h20)+:(32)];
        a__10 = delay__out_beat[(10 * 32'h20)+:(32)];
        b__10 = beat[(10 * 32'h20)+:(32)];
        a__11 = delay__out_beat[(11 * 32'h20)+:(32)];
        b__11 = beat[(11 * 32'h20)+:(32)];
        a__12 = delay__out_beat[(12 * 32'h20)+:(32)];
        b__12 = beat[(12 * 32'h20)+:(32)];
        a__13 = delay__out_beat[(13 * 32'h20)+:(32)];
        b__13 = beat[(13 * 32'h20)+:(32)];
        a__14 = delay__out_beat[(14 * 32'h20)+:(32)];
        b__14 = beat[(14 * 32'h20)+:(32)];
        a__15 = delay__out_beat[(15 * 32'h20)+:(32)];
        b__15 = beat[(15 * 32'h20)+:(32)];
        if (butterfly) begin
            if (halve) begin
                result__lane__0 = (a__0 >> 32'h1) + (b__0 >> 32'h1) + ((a__0 | b__0) & 32'h1);
                delay__lane__0 = (a__0 >> 32'h1) - (b__0 >> 32'h1) + (a__0 & (b__0 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__0 = a__0 + b__0 + 64'h80000000;
                delay__lane__0 = a__0 - b__0 + 64'h80000000;
            end
        end
        else begin
            delay__lane__0 = b__0;
            if (bypass) begin
                result__lane__0 = b__0;
            end
            else begin
                result__lane__0 = a__0;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__1 = (a__1 >> 32'h1) + (b__1 >> 32'h1) + ((a__1 | b__1) & 32'h1);
                delay__lane__1 = (a__1 >> 32'h1) - (b__1 >> 32'h1) + (a__1 & (b__1 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__1 = a__1 + b__1 + 64'h80000000;
                delay__lane__1 = a__1 - b__1 + 64'h80000000;
            end
        end
        else begin
            delay__lane__1 = b__1;
            if (bypass) begin
                result__lane__1 = b__1;
            end
            else begin
                result__lane__1 = a__1;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__2 = (a__2 >> 32'h1) + (b__2 >> 32'h1) + ((a__2 | b__2) & 32'h1);
                delay__lane__2 = (a__2 >> 32'h1) - (b__2 >> 32'h1) + (a__2 & (b__2 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__2 = a__2 + b__2 + 64'h80000000;
                delay__lane__2 = a__2 - b__2 + 64'h80000000;
            end
        end
        else begin
            delay__lane__2 = b__2;
            if (bypass) begin
                result__lane__2 = b__2;
            end
            else begin
                result__lane__2 = a__2;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__3 = (a__3 >> 32'h1) + (b__3 >> 32'h1) + ((a__3 | b__3) & 32'h1);
                delay__lane__3 = (a__3 >> 32'h1) - (b__3 >> 32'h1) + (a__3 & (b__3 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__3 = a__3 + b__3 + 64'h80000000;
                delay__lane__3 = a__3 - b__3 + 64'h80000000;
            end
        end
        else begin
            delay__lane__3 = b__3;
            if (bypass) begin
                result__lane__3 = b__3;
            end
            else begin
                result__lane__3 = a__3;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__4 = (a__4 >> 32'h1) + (b__4 >> 32'h1) + ((a__4 | b__4) & 32'h1);
                delay__lane__4 = (a__4 >> 32'h1) - (b__4 >> 32'h1) + (a__4 & (b__4 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__4 = a__4 + b__4 + 64'h80000000;
                delay__lane__4 = a__4 - b__4 + 64'h80000000;
            end
        end
        else begin
            delay__lane__4 = b__4;
            if (bypass) begin
                result__lane__4 = b__4;
            end
            else begin
                result__lane__4 = a__4;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__5 = (a__5 >> 32'h1) + (b__5 >> 32'h1) + ((a__5 | b__5) & 32'h1);
                delay__lane__5 = (a__5 >> 32'h1) - (b__5 >> 32'h1) + (a__5 & (b__5 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__5 = a__5 + b__5 + 64'h80000000;
                delay__lane__5 = a__5 - b__5 + 64'h80000000;
            end
        end
        else begin
            delay__lane__5 = b__5;
            if (bypass) begin
                result__lane__5 = b__5;
            end
            else begin
                result__lane__5 = a__5;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__6 = (a__6 >> 32'h1) + (b__6 >> 32'h1) + ((a__6 | b__6) & 32'h1);
                delay__lane__6 = (a__6 >> 32'h1) - (b__6 >> 32'h1) + (a__6 & (b__6 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__6 = a__6 + b__6 + 64'h80000000;
                delay__lane__6 = a__6 - b__6 + 64'h80000000;
            end
        end
        else begin
            delay__lane__6 = b__6;
            if (bypass) begin
                result__lane__6 = b__6;
            end
            else begin
                result__lane__6 = a__6;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__7 = (a__7 >> 32'h1) + (b__7 >> 32'h1) + ((a__7 | b__7) & 32'h1);
                delay__lane__7 = (a__7 >> 32'h1) - (b__7 >> 32'h1) + (a__7 & (b__7 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__7 = a__7 + b__7 + 64'h80000000;
                delay__lane__7 = a__7 - b__7 + 64'h80000000;
            end
        end
        else begin
            delay__lane__7 = b__7;
            if (bypass) begin
                result__lane__7 = b__7;
            end
            else begin
                result__lane__7 = a__7;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__8 = (a__8 >> 32'h1) + (b__8 >> 32'h1) + ((a__8 | b__8) & 32'h1);
                delay__lane__8 = (a__8 >> 32'h1) - (b__8 >> 32'h1) + (a__8 & (b__8 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__8 = a__8 + b__8 + 64'h80000000;
                delay__lane__8 = a__8 - b__8 + 64'h80000000;
            end
        end
        else begin
            delay__lane__8 = b__8;
            if (bypass) begin
                result__lane__8 = b__8;
            end
            else begin
                result__lane__8 = a__8;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__9 = (a__9 >> 32'h1) + (b__9 >> 32'h1) + ((a__9 | b__9) & 32'h1);
                delay__lane__9 = (a__9 >> 32'h1) - (b__9 >> 32'h1) + (a__9 & (b__9 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__9 = a__9 + b__9 + 64'h80000000;
                delay__lane__9 = a__9 - b__9 + 64'h80000000;
            end
        end
        else begin
            delay__lane__9 = b__9;
            if (bypass) begin
                result__lane__9 = b__9;
            end
            else begin
                result__lane__9 = a__9;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__10 = (a__10 >> 32'h1) + (b__10 >> 32'h1) + ((a__10 | b__10) & 32'h1);
                delay__lane__10 = (a__10 >> 32'h1) - (b__10 >> 32'h1) + (a__10 & (b__10 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__10 = a__10 + b__10 + 64'h80000000;
                delay__lane__10 = a__10 - b__10 + 64'h80000000;
            end
        end
        else begin
            delay__lane__10 = b__10;
            if (bypass) begin
                result__lane__10 = b__10;
            end
            else begin
                result__lane__10 = a__10;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__11 = (a__11 >> 32'h1) + (b__11 >> 32'h1) + ((a__11 | b__11) & 32'h1);
                delay__lane__11 = (a__11 >> 32'h1) - (b__11 >> 32'h1) + (a__11 & (b__11 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__11 = a__11 + b__11 + 64'h80000000;
                delay__lane__11 = a__11 - b__11 + 64'h80000000;
            end
        end
        else begin
            delay__lane__11 = b__11;
            if (bypass) begin
                result__lane__11 = b__11;
            end
            else begin
                result__lane__11 = a__11;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__12 = (a__12 >> 32'h1) + (b__12 >> 32'h1) + ((a__12 | b__12) & 32'h1);
                delay__lane__12 = (a__12 >> 32'h1) - (b__12 >> 32'h1) + (a__12 & (b__12 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__12 = a__12 + b__12 + 64'h80000000;
                delay__lane__12 = a__12 - b__12 + 64'h80000000;
            end
        end
        else begin
            delay__lane__12 = b__12;
            if (bypass) begin
                result__lane__12 = b__12;
            end
            else begin
                result__lane__12 = a__12;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__13 = (a__13 >> 32'h1) + (b__13 >> 32'h1) + ((a__13 | b__13) & 32'h1);
                delay__lane__13 = (a__13 >> 32'h1) - (b__13 >> 32'h1) + (a__13 & (b__13 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__13 = a__13 + b__13 + 64'h80000000;
                delay__lane__13 = a__13 - b__13 + 64'h80000000;
            end
        end
        else begin
            delay__lane__13 = b__13;
            if (bypass) begin
                result__lane__13 = b__13;
            end
            else begin
                result__lane__13 = a__13;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__14 = (a__14 >> 32'h1) + (b__14 >> 32'h1) + ((a__14 | b__14) & 32'h1);
                delay__lane__14 = (a__14 >> 32'h1) - (b__14 >> 32'h1) + (a__14 & (b__14 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__14 = a__14 + b__14 + 64'h80000000;
                delay__lane__14 = a__14 - b__14 + 64'h80000000;
            end
        end
        else begin
            delay__lane__14 = b__14;
            if (bypass) begin
                result__lane__14 = b__14;
            end
            else begin
                result__lane__14 = a__14;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__15 = (a__15 >> 32'h1) + (b__15 >> 32'h1) + ((a__15 | b__15) & 32'h1);
                delay__lane__15 = (a__15 >> 32'h1) - (b__15 >> 32'h1) + (a__15 & (b__15 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__15 = a__15 + b__15 + 64'h80000000;
                delay__lane__15 = a__15 - b__15 + 64'h80000000;
            end
        end
        else begin
            delay__lane__15 = b__15;
            if (bypass) begin
                result__lane__15 = b__15;
            end
            else begin
                result__lane__15 = a__15;
            end
        end
        out_tag = result__out_tag;
        out_beat = result__out_beat;
    end
endmodule

module optireduce_contribute__encoder__across__1(clock,bypass,tag,beat,out_tag,out_beat);
    // Module arguments
    input wire  clock;
    input wire  bypass;
    input wire  [21:0] tag;
    input wire  [511:0] beat;
    output reg  [21:0] out_tag;
    output reg  [511:0] out_beat;
    // Constant declarations
    localparam  halve = 1'b1;
    localparam  distance = 10'b10;
    // Stub signals
    reg  [9:0] position__d;
    wire  [9:0] position__q;
    reg  position__clock;
    reg  delay__clock;
    reg  [21:0] delay__tag;
    reg  [31:0] delay__lane__0;
    reg  [31:0] delay__lane__1;
    reg  [31:0] delay__lane__2;
    reg  [31:0] delay__lane__3;
    reg  [31:0] delay__lane__4;
    reg  [31:0] delay__lane__5;
    reg  [31:0] delay__lane__6;
    reg  [31:0] delay__lane__7;
    reg  [31:0] delay__lane__8;
    reg  [31:0] delay__lane__9;
    reg  [31:0] delay__lane__10;
    reg  [31:0] delay__lane__11;
    reg  [31:0] delay__lane__12;
    reg  [31:0] delay__lane__13;
    reg  [31:0] delay__lane__14;
    reg  [31:0] delay__lane__15;
    wire  [21:0] delay__out_tag;
    wire  [511:0] delay__out_beat;
    reg  result__clock;
    reg  [21:0] result__tag;
    reg  [31:0] result__lane__0;
    reg  [31:0] result__lane__1;
    reg  [31:0] result__lane__2;
    reg  [31:0] result__lane__3;
    reg  [31:0] result__lane__4;
    reg  [31:0] result__lane__5;
    reg  [31:0] result__lane__6;
    reg  [31:0] result__lane__7;
    reg  [31:0] result__lane__8;
    reg  [31:0] result__lane__9;
    reg  [31:0] result__lane__10;
    reg  [31:0] result__lane__11;
    reg  [31:0] result__lane__12;
    reg  [31:0] result__lane__13;
    reg  [31:0] result__lane__14;
    reg  [31:0] result__lane__15;
    wire  [21:0] result__out_tag;
    wire  [511:0] result__out_beat;
    // Local signals
    reg  [9:0] phase;
    reg  butterfly;
    reg  [31:0] a__0;
    reg  [31:0] a__1;
    reg  [31:0] a__2;
    reg  [31:0] a__3;
    reg  [31:0] a__4;
    reg  [31:0] a__5;
    reg  [31:0] a__6;
    reg  [31:0] a__7;
    reg  [31:0] a__8;
    reg  [31:0] a__9;
    reg  [31:0] a__10;
    reg  [31:0] a__11;
    reg  [31:0] a__12;
    reg  [31:0] a__13;
    reg  [31:0] a__14;
    reg  [31:0] a__15;
    reg  [31:0] b__0;
    reg  [31:0] b__1;
    reg  [31:0] b__2;
    reg  [31:0] b__3;
    reg  [31:0] b__4;
    reg  [31:0] b__5;
    reg  [31:0] b__6;
    reg  [31:0] b__7;
    reg  [31:0] b__8;
    reg  [31:0] b__9;
    reg  [31:0] b__10;
    reg  [31:0] b__11;
    reg  [31:0] b__12;
    reg  [31:0] b__13;
    reg  [31:0] b__14;
    reg  [31:0] b__15;
    // Sub module instances
    optireduce_contribute__encoder__across__0__position position(
        .d(position__d),
        .q(position__q),
        .clock(position__clock)
    );
    optireduce_contribute__encoder__across__1__delay delay(
        .clock(delay__clock),
        .tag(delay__tag),
        .lane__0(delay__lane__0),
        .lane__1(delay__lane__1),
        .lane__2(delay__lane__2),
        .lane__3(delay__lane__3),
        .lane__4(delay__lane__4),
        .lane__5(delay__lane__5),
        .lane__6(delay__lane__6),
        .lane__7(delay__lane__7),
        .lane__8(delay__lane__8),
        .lane__9(delay__lane__9),
        .lane__10(delay__lane__10),
        .lane__11(delay__lane__11),
        .lane__12(delay__lane__12),
        .lane__13(delay__lane__13),
        .lane__14(delay__lane__14),
        .lane__15(delay__lane__15),
        .out_tag(delay__out_tag),
        .out_beat(delay__out_beat)
    );
    optireduce_contribute__encoder__across__0__delay result(
        .clock(result__clock),
        .tag(result__tag),
        .lane__0(result__lane__0),
        .lane__1(result__lane__1),
        .lane__2(result__lane__2),
        .lane__3(result__lane__3),
        .lane__4(result__lane__4),
        .lane__5(result__lane__5),
        .lane__6(result__lane__6),
        .lane__7(result__lane__7),
        .lane__8(result__lane__8),
        .lane__9(result__lane__9),
        .lane__10(result__lane__10),
        .lane__11(result__lane__11),
        .lane__12(result__lane__12),
        .lane__13(result__lane__13),
        .lane__14(result__lane__14),
        .lane__15(result__lane__15),
        .out_tag(result__out_tag),
        .out_beat(result__out_beat)
    );
    // Update code
    always @(*) begin
        position__clock = clock;
        position__d = position__q;
        delay__clock = clock;
        result__clock = clock;
        phase = position__q & distance;
        butterfly = tag[(64'h0)+:(1)] && ~bypass && (phase != 32'h0);
        if (tag[(64'h0)+:(1)] && ~bypass) begin
            position__d = position__q + 32'h1;
        end
        delay__tag = tag;
        result__tag = tag;
        if (~butterfly) begin
            delay__tag[(64'h0)+:(1)] = 1'b0;
            if (~bypass) begin
                result__tag = delay__out_tag;
            end
        end
        a__0 = delay__out_beat[(0 * 32'h20)+:(32)];
        b__0 = beat[(0 * 32'h20)+:(32)];
        a__1 = delay__out_beat[(1 * 32'h20)+:(32)];
        b__1 = beat[(1 * 32'h20)+:(32)];
        a__2 = delay__out_beat[(2 * 32'h20)+:(32)];
        b__2 = beat[(2 * 32'h20)+:(32)];
        a__3 = delay__out_beat[(3 * 32'h20)+:(32)];
        b__3 = beat[(3 * 32'h20)+:(32)];
        a__4 = delay__out_beat[(4 * 32'h20)+:(32)];
        b__4 = beat[(4 * 32'h20)+:(32)];
        a__5 = delay__out_beat[(5 * 32'h20)+:(32)];
        b__5 = beat[(5 * 32'h20)+:(32)];
        a__6 = delay__out_beat[(6 * 32'h20)+:(32)];
        b__6 = beat[(6 * 32'h20)+:(32)];
        a__7 = delay__out_beat[(7 * 32'h20)+:(32)];
        b__7 = beat[(7 * 32'h20)+:(32)];
        a__8 = delay__out_beat[(8 * 32'h20)+:(32)];
        b__8 = beat[(8 * 32'h20)+:(32)];
        a__9 = delay__out_beat[(9 * 32'h20)+:(32)];
        b__9 = beat[(9 * 32'h20)+:(32)];
        a__10 = delay__out_beat[(10 * 32'h20)+:(32)];
        b__10 = beat[(10 * 32'h20)+:(32)];
        a__11 = delay__out_beat[(11 * 32'h20)+:(32)];
        b__11 = beat[(11 * 32'h20)+:(32)];
        a__12 = delay__out_beat[(12 * 32'h20)+:(32)];
        b__12 = beat[(12 * 32'h20)+:(32)];
        a__13 = delay__out_beat[(13 * 32'h20)+:(32)];
        b__13 = beat[(13 * 32'h20)+:(32)];
        a__14 = delay__out_beat[(14 * 32'h20)+:(32)];
        b__14 = beat[(14 * 32'h20)+:(32)];
        a__15 = delay__out_beat[(15 * 32'h20)+:(32)];
        b__15 = beat[(15 * 32'h20)+:(32)];
        if (butterfly) begin
            if (halve) begin
                result__lane__0 = (a__0 >> 32'h1) + (b__0 >> 32'h1) + ((a__0 | b__0) & 32'h1);
                delay__lane__0 = (a__0 >> 32'h1) - (b__0 >> 32'h1) + (a__0 & (b__0 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__0 = a__0 + b__0 + 64'h80000000;
                delay__lane__0 = a__0 - b__0 + 64'h80000000;
            end
        end
        else begin
            delay__lane__0 = b__0;
            if (bypass) begin
                result__lane__0 = b__0;
            end
            else begin
                result__lane__0 = a__0;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__1 = (a__1 >> 32'h1) + (b__1 >> 32'h1) + ((a__1 | b__1) & 32'h1);
                delay__lane__1 = (a__1 >> 32'h1) - (b__1 >> 32'h1) + (a__1 & (b__1 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__1 = a__1 + b__1 + 64'h80000000;
                delay__lane__1 = a__1 - b__1 + 64'h80000000;
            end
        end
        else begin
            delay__lane__1 = b__1;
            if (bypass) begin
                result__lane__1 = b__1;
            end
            else begin
                result__lane__1 = a__1;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__2 = (a__2 >> 32'h1) + (b__2 >> 32'h1) + ((a__2 | b__2) & 32'h1);
                delay__lane__2 = (a__2 >> 32'h1) - (b__2 >> 32'h1) + (a__2 & (b__2 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__2 = a__2 + b__2 + 64'h80000000;
                delay__lane__2 = a__2 - b__2 + 64'h80000000;
            end
        end
        else begin
            delay__lane__2 = b__2;
            if (bypass) begin
                result__lane__2 = b__2;
            end
            else begin
                result__lane__2 = a__2;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__3 = (a__3 >> 32'h1) + (b__3 >> 32'h1) + ((a__3 | b__3) & 32'h1);
                delay__lane__3 = (a__3 >> 32'h1) - (b__3 >> 32'h1) + (a__3 & (b__3 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__3 = a__3 + b__3 + 64'h80000000;
                delay__lane__3 = a__3 - b__3 + 64'h80000000;
            end
        end
        else begin
            delay__lane__3 = b__3;
            if (bypass) begin
                result__lane__3 = b__3;
            end
            else begin
                result__lane__3 = a__3;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__4 = (a__4 >> 32'h1) + (b__4 >> 32'h1) + ((a__4 | b__4) & 32'h1);
                delay__lane__4 = (a__4 >> 32'h1) - (b__4 >> 32'h1) + (a__4 & (b__4 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__4 = a__4 + b__4 + 64'h80000000;
                delay__lane__4 = a__4 - b__4 + 64'h80000000;
            end
        end
        else begin
            delay__lane__4 = b__4;
            if (bypass) begin
                result__lane__4 = b__4;
            end
            else begin
                result__lane__4 = a__4;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__5 = (a__5 >> 32'h1) + (b__5 >> 32'h1) + ((a__5 | b__5) & 32'h1);
                delay__lane__5 = (a__5 >> 32'h1) - (b__5 >> 32'h1) + (a__5 & (b__5 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__5 = a__5 + b__5 + 64'h80000000;
                delay__lane__5 = a__5 - b__5 + 64'h80000000;
            end
        end
        else begin
            delay__lane__5 = b__5;
            if (bypass) begin
                result__lane__5 = b__5;
            end
            else begin
                result__lane__5 = a__5;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__6 = (a__6 >> 32'h1) + (b__6 >> 32'h1) + ((a__6 | b__6) & 32'h1);
                delay__lane__6 = (a__6 >> 32'h1) - (b__6 >> 32'h1) + (a__6 & (b__6 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__6 = a__6 + b__6 + 64'h80000000;
                delay__lane__6 = a__6 - b__6 + 64'h80000000;
            end
        end
        else begin
            delay__lane__6 = b__6;
            if (bypass) begin
                result__lane__6 = b__6;
            end
            else begin
                result__lane__6 = a__6;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__7 = (a__7 >> 32'h1) + (b__7 >> 32'h1) + ((a__7 | b__7) & 32'h1);
                delay__lane__7 = (a__7 >> 32'h1) - (b__7 >> 32'h1) + (a__7 & (b__7 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__7 = a__7 + b__7 + 64'h80000000;
                delay__lane__7 = a__7 - b__7 + 64'h80000000;
            end
        end
        else begin
            delay__lane__7 = b__7;
            if (bypass) begin
                result__lane__7 = b__7;
            end
            else begin
                result__lane__7 = a__7;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__8 = (a__8 >> 32'h1) + (b__8 >> 32'h1) + ((a__8 | b__8) & 32'h1);
                delay__lane__8 = (a__8 >> 32'h1) - (b__8 >> 32'h1) + (a__8 & (b__8 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__8 = a__8 + b__8 + 64'h80000000;
                delay__lane__8 = a__8 - b__8 + 64'h80000000;
            end
        end
        else begin
            delay__lane__8 = b__8;
            if (bypass) begin
                result__lane__8 = b__8;
            end
            else begin
                result__lane__8 = a__8;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__9 = (a__9 >> 32'h1) + (b__9 >> 32'h1) + ((a__9 | b__9) & 32'h1);
                delay__lane__9 = (a__9 >> 32'h1) - (b__9 >> 32'h1) + (a__9 & (b__9 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__9 = a__9 + b__9 + 64'h80000000;
                delay__lane__9 = a__9 - b__9 + 64'h80000000;
            end
        end
        else begin
            delay__lane__9 = b__9;
            if (bypass) begin
                result__lane__9 = b__9;
            end
            else begin
                result__lane__9 = a__9;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__10 = (a__10 >> 32'h1) + (b__10 >> 32'h1) + ((a__10 | b__10) & 32'h1);
                delay__lane__10 = (a__10 >> 32'h1) - (b__10 >> 32'h1) + (a__10 & (b__10 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__10 = a__10 + b__10 + 64'h80000000;
                delay__lane__10 = a__10 - b__10 + 64'h80000000;
            end
        end
        else begin
            delay__lane__10 = b__10;
            if (bypass) begin
                result__lane__10 = b__10;
            end
            else begin
                result__lane__10 = a__10;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__11 = (a__11 >> 32'h1) + (b__11 >> 32'h1) + ((a__11 | b__11) & 32'h1);
                delay__lane__11 = (a__11 >> 32'h1) - (b__11 >> 32'h1) + (a__11 & (b__11 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__11 = a__11 + b__11 + 64'h80000000;
                delay__lane__11 = a__11 - b__11 + 64'h80000000;
            end
        end
        else begin
            delay__lane__11 = b__11;
            if (bypass) begin
                result__lane__11 = b__11;
            end
            else begin
                result__lane__11 = a__11;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__12 = (a__12 >> 32'h1) + (b__12 >> 32'h1) + ((a__12 | b__12) & 32'h1);
                delay__lane__12 = (a__12 >> 32'h1) - (b__12 >> 32'h1) + (a__12 & (b__12 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__12 = a__12 + b__12 + 64'h80000000;
                delay__lane__12 = a__12 - b__12 + 64'h80000000;
            end
        end
        else begin
            delay__lane__12 = b__12;
            if (bypass) begin
                result__lane__12 = b__12;
            end
            else begin
                result__lane__12 = a__12;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__13 = (a__13 >> 32'h1) + (b__13 >> 32'h1) + ((a__13 | b__13) & 32'h1);
                delay__lane__13 = (a__13 >> 32'h1) - (b__13 >> 32'h1) + (a__13 & (b__13 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__13 = a__13 + b__13 + 64'h80000000;
                delay__lane__13 = a__13 - b__13 + 64'h80000000;
            end
        end
        else begin
            delay__lane__13 = b__13;
            if (bypass) begin
                result__lane__13 = b__13;
            end
            else begin
                result__lane__13 = a__13;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__14 = (a__14 >> 32'h1) + (b__14 >> 32'h1) + ((a__14 | b__14) & 32'h1);
                delay__lane__14 = (a__14 >> 32'h1) - (b__14 >> 32'h1) + (a__14 & (b__14 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__14 = a__14 + b__14 + 64'h80000000;
                delay__lane__14 = a__14 - b__14 + 64'h80000000;
            end
        end
        else begin
            delay__lane__14 = b__14;
            if (bypass) begin
                result__lane__14 = b__14;
            end
            else begin
                result__lane__14 = a__14;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__15 = (a__15 >> 32'h1) + (b__15 >> 32'h1) + ((a__15 | b__15) & 32'h1);
                delay__lane__15 = (a__15 >> 32'h1) - (b__15 >> 32'h1) + (a__15 & (b__15 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__15 = a__15 + b__15 + 64'h80000000;
                delay__lane__15 = a__15 - b__15 + 64'h80000000;
            end
        end
        else begin
            delay__lane__15 = b__15;
            if (bypass) begin
                result__lane__15 = b__15;
            end
            else begin
                result__lane__15 = a__15;
            end
        end
        out_tag = result__out_tag;
        out_beat = result__out_beat;
    end
endmodule

module optireduce_contribute__encoder__across__2(clock,bypass,tag,beat,out_tag,out_beat);
    // Module arguments
    input wire  clock;
    input wire  bypass;
    input wire  [21:0] tag;
    input wire  [511:0] beat;
    output reg  [21:0] out_tag;
    output reg  [511:0] out_beat;
    // Constant declarations
    localparam  halve = 1'b0;
    localparam  distance = 10'b100;
    // Stub signals
    reg  [9:0] position__d;
    wire  [9:0] position__q;
    reg  position__clock;
    reg  delay__clock;
    reg  [21:0] delay__tag;
    reg  [31:0] delay__lane__0;
    reg  [31:0] delay__lane__1;
    reg  [31:0] delay__lane__2;
    reg  [31:0] delay__lane__3;
    reg  [31:0] delay__lane__4;
    reg  [31:0] delay__lane__5;
    reg  [31:0] delay__lane__6;
    reg  [31:0] delay__lane__7;
    reg  [31:0] delay__lane__8;
    reg  [31:0] delay__lane__9;
    reg  [31:0] delay__lane__10;
    reg  [31:0] delay__lane__11;
    reg  [31:0] delay__lane__12;
    reg  [31:0] delay__lane__13;
    reg  [31:0] delay__lane__14;
    reg  [31:0] delay__lane__15;
    wire  [21:0] delay__out_tag;
    wire  [511:0] delay__out_beat;
    reg  result__clock;
    reg  [21:0] result__tag;
    reg  [31:0] result__lane__0;
    reg  [31:0] result__lane__1;
    reg  [31:0] result__lane__2;
    reg  [31:0] result__lane__3;
    reg  [31:0] result__lane__4;
    reg  [31:0] result__lane__5;
    reg  [31:0] result__lane__6;
    reg  [31:0] result__lane__7;
    reg  [31:0] result__lane__8;
    reg  [31:0] result__lane__9;
    reg  [31:0] result__lane__10;
    reg  [31:0] result__lane__11;
    reg  [31:0] result__lane__12;
    reg  [31:0] result__lane__13;
    reg  [31:0] result__lane__14;
    reg  [31:0] result__lane__15;
    wire  [21:0] result__out_tag;
    wire  [511:0] result__out_beat;
    // Local signals
    reg  [9:0] phase;
    reg  butterfly;
    reg  [31:0] a__0;
    reg  [31:0] a__1;
    reg  [31:0] a__2;
    reg  [31:0] a__3;
    reg  [31:0] a__4;
    reg  [31:0] a__5;
    reg  [31:0] a__6;
    reg  [31:0] a__7;
    reg  [31:0] a__8;
    reg  [31:0] a__9;
    reg  [31:0] a__10;
    reg  [31:0] a__11;
    reg  [31:0] a__12;
    reg  [31:0] a__13;
    reg  [31:0] a__14;
    reg  [31:0] a__15;
    reg  [31:0] b__0;
    reg  [31:0] b__1;
    reg  [31:0] b__2;
    reg  [31:0] b__3;
    reg  [31:0] b__4;
    reg  [31:0] b__5;
    reg  [31:0] b__6;
    reg  [31:0] b__7;
    reg  [31:0] b__8;
    reg  [31:0] b__9;
    reg  [31:0] b__10;
    reg  [31:0] b__11;
    reg  [31:0] b__12;
    reg  [31:0] b__13;
    reg  [31:0] b__14;
    reg  [31:0] b__15;
    // Sub module instances
    optireduce_contribute__encoder__across__0__position position(
        .d(position__d),
        .q(position__q),
        .clock(position__clock)
    );
    optireduce_contribute__encoder__across__2__delay delay(
        .clock(delay__clock),
        .tag(delay__tag),
        .lane__0(delay__lane__0),
        .lane__1(delay__lane__1),
        .lane__2(delay__lane__2),
        .lane__3(delay__lane__3),
        .lane__4(delay__lane__4),
        .lane__5(delay__lane__5),
        .lane__6(delay__lane__6),
        .lane__7(delay__lane__7),
        .lane__8(delay__lane__8),
        .lane__9(delay__lane__9),
        .lane__10(delay__lane__10),
        .lane__11(delay__lane__11),
        .lane__12(delay__lane__12),
        .lane__13(delay__lane__13),
        .lane__14(delay__lane__14),
        .lane__15(delay__lane__15),
        .out_tag(delay__out_tag),
        .out_beat(delay__out_beat)
    );
    optireduce_contribute__encoder__across__0__delay result(
        .clock(result__clock),
        .tag(result__tag),
        .lane__0(result__lane__0),
        .lane__1(result__lane__1),
        .lane__2(result__lane__2),
        .lane__3(result__lane__3),
        .lane__4(result__lane__4),
        .lane__5(result__lane__5),
        .lane__6(result__lane__6),
        .lane__7(result__lane__7),
        .lane__8(result__lane__8),
        .lane__9(result__lane__9),
        .lane__10(result__lane__10),
        .lane__11(result__lane__11),
        .lane__12(result__lane__12),
        .lane__13(result__lane__13),
        .lane__14(result__lane__14),
        .lane__15(result__lane__15),
        .out_tag(result__out_tag),
        .out_beat(result__out_beat)
    );
    // Update code
    always @(*) begin
        position__clock = clock;
        position__d = position__q;
        delay__clock = clock;
        result__clock = clock;
        phase = position__q & distance;
        butterfly = tag[(64'h0)+:(1)] && ~bypass && (phase != 32'h0);
        if (tag[(64'h0)+:(1)] && ~bypass) begin
            position__d = position__q + 32'h1;
        end
        delay__tag = tag;
        result__tag = tag;
        if (~butterfly) begin
            delay__tag[(64'h0)+:(1)] = 1'b0;
            if (~bypass) begin
                result__tag = delay__out_tag;
            end
        end
        a__0 = delay__out_beat[(0 * 32'h20)+:(32)];
        b__0 = beat[(0 * 32'h20)+:(32)];
        a__1 = delay__out_beat[(1 * 32'h20)+:(32)];
        b__1 = beat[(1 * 32'h20)+:(32)];
        a__2 = delay__out_beat[(2 * 32'h20)+:(32)];
        b__2 = beat[(2 * 32'h20)+:(32)];
        a__3 = delay__out_beat[(3 * 32'h20)+:(32)];
        b__3 = beat[(3 * 32'h20)+:(32)];
        a__4 = delay__out_beat[(4 * 32'h20)+:(32)];
        b__4 = beat[(4 * 32'h20)+:(32)];
        a__5 = delay__out_beat[(5 * 32'h20)+:(32)];
        b__5 = beat[(5 * 32'h20)+:(32)];
        a__6 = delay__out_beat[(6 * 32'h20)+:(32)];
        b__6 = beat[(6 * 32'h20)+:(32)];
        a__7 = delay__out_beat[(7 * 32'h20)+:(32)];
        b__7 = beat[(7 * 32'h20)+:(32)];
        a__8 = delay__out_beat[(8 * 32'h20)+:(32)];
        b__8 = beat[(8 * 32'h20)+:(32)];
        a__9 = delay__out_beat[(9 * 32'h20)+:(32)];
        b__9 = beat[(9 * 32'h20)+:(32)];
        a__10 = delay__out_beat[(10 * 32'h20)+:(32)];
        b__10 = beat[(10 * 32'h20)+:(32)];
        a__11 = delay__out_beat[(11 * 32'h20)+:(32)];
        b__11 = beat[(11 * 32'h20)+:(32)];
        a__12 = delay__out_beat[(12 * 32'h20)+:(32)];
        b__12 = beat[(12 * 32'h20)+:(32)];
        a__13 = delay__out_beat[(13 * 32'h20)+:(32)];
        b__13 = beat[(13 * 32'h20)+:(32)];
        a__14 = delay__out_beat[(14 * 32'h20)+:(32)];
        b__14 = beat[(14 * 32'h20)+:(32)];
        a__15 = delay__out_beat[(15 * 32'h20)+:(32)];
        b__15 = beat[(15 * 32'h20)+:(32)];
        if (butterfly) begin
            if (halve) begin
                result__lane__0 = (a__0 >> 32'h1) + (b__0 >> 32'h1) + ((a__0 | b__0) & 32'h1);
                delay__lane__0 = (a__0 >> 32'h1) - (b__0 >> 32'h1) + (a__0 & (b__0 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__0 = a__0 + b__0 + 64'h80000000;
                delay__lane__0 = a__0 - b__0 + 64'h80000000;
            end
        end
        else begin
            delay__lane__0 = b__0;
            if (bypass) begin
                result__lane__0 = b__0;
            end
            else begin
                result__lane__0 = a__0;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__1 = (a__1 >> 32'h1) + (b__1 >> 32'h1) + ((a__1 | b__1) & 32'h1);
                delay__lane__1 = (a__1 >> 32'h1) - (b__1 >> 32'h1) + (a__1 & (b__1 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__1 = a__1 + b__1 + 64'h80000000;
                delay__lane__1 = a__1 - b__1 + 64'h80000000;
            end
        end
        else begin
            delay__lane__1 = b__1;
            if (bypass) begin
                result__lane__1 = b__1;
            end
            else begin
                result__lane__1 = a__1;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__2 = (a__2 >> 32'h1) + (b__2 >> 32'h1) + ((a__2 | b__2) & 32'h1);
                delay__lane__2 = (a__2 >> 32'h1) - (b__2 >> 32'h1) + (a__2 & (b__2 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__2 = a__2 + b__2 + 64'h80000000;
                delay__lane__2 = a__2 - b__2 + 64'h80000000;
            end
        end
        else begin
            delay__lane__2 = b__2;
            if (bypass) begin
                result__lane__2 = b__2;
            end
            else begin
                result__lane__2 = a__2;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__3 = (a__3 >> 32'h1) + (b__3 >> 32'h1) + ((a__3 | b__3) & 32'h1);
                delay__lane__3 = (a__3 >> 32'h1) - (b__3 >> 32'h1) + (a__3 & (b__3 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__3 = a__3 + b__3 + 64'h80000000;
                delay__lane__3 = a__3 - b__3 + 64'h80000000;
            end
        end
        else begin
            delay__lane__3 = b__3;
            if (bypass) begin
                result__lane__3 = b__3;
            end
            else begin
                result__lane__3 = a__3;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__4 = (a__4 >> 32'h1) + (b__4 >> 32'h1) + ((a__4 | b__4) & 32'h1);
                delay__lane__4 = (a__4 >> 32'h1) - (b__4 >> 32'h1) + (a__4 & (b__4 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__4 = a__4 + b__4 + 64'h80000000;
                delay__lane__4 = a__4 - b__4 + 64'h80000000;
            end
        end
        else begin
            delay__lane__4 = b__4;
            if (bypass) begin
                result__lane__4 = b__4;
            end
            else begin
                result__lane__4 = a__4;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__5 = (a__5 >> 32'h1) + (b__5 >> 32'h1) + ((a__5 | b__5) & 32'h1);
                delay__lane__5 = (a__5 >> 32'h1) - (b__5 >> 32'h1) + (a__5 & (b__5 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__5 = a__5 + b__5 + 64'h80000000;
                delay__lane__5 = a__5 - b__5 + 64'h80000000;
            end
        end
        else begin
            delay__lane__5 = b__5;
            if (bypass) begin
                result__lane__5 = b__5;
            end
            else begin
                result__lane__5 = a__5;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__6 = (a__6 >> 32'h1) + (b__6 >> 32'h1) + ((a__6 | b__6) & 32'h1);
                delay__lane__6 = (a__6 >> 32'h1) - (b__6 >> 32'h1) + (a__6 & (b__6 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__6 = a__6 + b__6 + 64'h80000000;
                delay__lane__6 = a__6 - b__6 + 64'h80000000;
            end
        end
        else begin
            delay__lane__6 = b__6;
            if (bypass) begin
                result__lane__6 = b__6;
            end
            else begin
                result__lane__6 = a__6;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__7 = (a__7 >> 32'h1) + (b__7 >> 32'h1) + ((a__7 | b__7) & 32'h1);
                delay__lane__7 = (a__7 >> 32'h1) - (b__7 >> 32'h1) + (a__7 & (b__7 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__7 = a__7 + b__7 + 64'h80000000;
                delay__lane__7 = a__7 - b__7 + 64'h80000000;
            end
        end
        else begin
            delay__lane__7 = b__7;
            if (bypass) begin
                result__lane__7 = b__7;
            end
            else begin
                result__lane__7 = a__7;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__8 = (a__8 >> 32'h1) + (b__8 >> 32'h1) + ((a__8 | b__8) & 32'h1);
                delay__lane__8 = (a__8 >> 32'h1) - (b__8 >> 32'h1) + (a__8 & (b__8 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__8 = a__8 + b__8 + 64'h80000000;
                delay__lane__8 = a__8 - b__8 + 64'h80000000;
            end
        end
        else begin
            delay__lane__8 = b__8;
            if (bypass) begin
                result__lane__8 = b__8;
            end
            else begin
                result__lane__8 = a__8;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__9 = (a__9 >> 32'h1) + (b__9 >> 32'h1) + ((a__9 | b__9) & 32'h1);
                delay__lane__9 = (a__9 >> 32'h1) - (b__9 >> 32'h1) + (a__9 & (b__9 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__9 = a__9 + b__9 + 64'h80000000;
                delay__lane__9 = a__9 - b__9 + 64'h80000000;
            end
        end
        else begin
            delay__lane__9 = b__9;
            if (bypass) begin
                result__lane__9 = b__9;
            end
            else begin
                result__lane__9 = a__9;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__10 = (a__10 >> 32'h1) + (b__10 >> 32'h1) + ((a__10 | b__10) & 32'h1);
                delay__lane__10 = (a__10 >> 32'h1) - (b__10 >> 32'h1) + (a__10 & (b__10 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__10 = a__10 + b__10 + 64'h80000000;
                delay__lane__10 = a__10 - b__10 + 64'h80000000;
            end
        end
        else begin
            delay__lane__10 = b__10;
            if (bypass) begin
                result__lane__10 = b__10;
            end
            else begin
                result__lane__10 = a__10;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__11 = (a__11 >> 32'h1) + (b__11 >> 32'h1) + ((a__11 | b__11) & 32'h1);
                delay__lane__11 = (a__11 >> 32'h1) - (b__11 >> 32'h1) + (a__11 & (b__11 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__11 = a__11 + b__11 + 64'h80000000;
                delay__lane__11 = a__11 - b__11 + 64'h80000000;
            end
        end
        else begin
            delay__lane__11 = b__11;
            if (bypass) begin
                result__lane__11 = b__11;
            end
            else begin
                result__lane__11 = a__11;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__12 = (a__12 >> 32'h1) + (b__12 >> 32'h1) + ((a__12 | b__12) & 32'h1);
                delay__lane__12 = (a__12 >> 32'h1) - (b__12 >> 32'h1) + (a__12 & (b__12 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__12 = a__12 + b__12 + 64'h80000000;
                delay__lane__12 = a__12 - b__12 + 64'h80000000;
            end
        end
        else begin
            delay__lane__12 = b__12;
            if (bypass) begin
                result__lane__12 = b__12;
            end
            else begin
                result__lane__12 = a__12;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__13 = (a__13 >> 32'h1) + (b__13 >> 32'h1) + ((a__13 | b__13) & 32'h1);
                delay__lane__13 = (a__13 >> 32'h1) - (b__13 >> 32'h1) + (a__13 & (b__13 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__13 = a__13 + b__13 + 64'h80000000;
                delay__lane__13 = a__13 - b__13 + 64'h80000000;
            end
        end
        else begin
            delay__lane__13 = b__13;
            if (bypass) begin
                result__lane__13 = b__13;
            end
            else begin
                result__lane__13 = a__13;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__14 = (a__14 >> 32'h1) + (b__14 >> 32'h1) + ((a__14 | b__14) & 32'h1);
                delay__lane__14 = (a__14 >> 32'h1) - (b__14 >> 32'h1) + (a__14 & (b__14 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__14 = a__14 + b__14 + 64'h80000000;
                delay__lane__14 = a__14 - b__14 + 64'h80000000;
            end
        end
        else begin
            delay__lane__14 = b__14;
            if (bypass) begin
                result__lane__14 = b__14;
            end
            else begin
                result__lane__14 = a__14;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__15 = (a__15 >> 32'h1) + (b__15 >> 32'h1) + ((a__15 | b__15) & 32'h1);
                delay__lane__15 = (a__15 >> 32'h1) - (b__15 >> 32'h1) + (a__15 & (b__15 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__15 = a__15 + b__15 + 64'h80000000;
                delay__lane__15 = a__15 - b__15 + 64'h80000000;
            end
        end
        else begin
            delay__lane__15 = b__15;
            if (bypass) begin
                result__lane__15 = b__15;
            end
            else begin
                result__lane__15 = a__15;
            end
        end
        out_tag = result__out_tag;
        out_beat = result__out_beat;
    end
endmodule

module optireduce_contribute__encoder__across__3(clock,bypass,tag,beat,out_tag,out_beat);
    // Module arguments
    input wire  clock;
    input wire  bypass;
    input wire  [21:0] tag;
    input wire  [511:0] beat;
    output reg  [21:0] out_tag;
    output reg  [511:0] out_beat;
    // Constant declarations
    localparam  halve = 1'b1;
    localparam  distance = 10'b1000;
    // Stub signals
    reg  [9:0] position__d;
    wire  [9:0] position__q;
    reg  position__clock;
    reg  delay__clock;
    reg  [21:0] delay__tag;
    reg  [31:0] delay__lane__0;
    reg  [31:0] delay__lane__1;
    reg  [31:0] delay__lane__2;
    reg  [31:0] delay__lane__3;
    reg  [31:0] delay__lane__4;
    reg  [31:0] delay__lane__5;
    reg  [31:0] delay__lane__6;
    reg  [31:0] delay__lane__7;
    reg  [31:0] delay__lane__8;
    reg  [31:0] delay__lane__9;
    reg  [31:0] delay__lane__10;
    reg  [31:0] delay__lane__11;
    reg  [31:0] delay__lane__12;
    reg  [31:0] delay__lane__13;
    reg  [31:0] delay__lane__14;
    reg  [31:0] delay__lane__15;
    wire  [21:0] delay__out_tag;
    wire  [511:0] delay__out_beat;
    reg  result__clock;
    reg  [21:0] result__tag;
    reg  [31:0] result__lane__0;
    reg  [31:0] result__lane__1;
    reg  [31:0] result__lane__2;
    reg  [31:0] result__lane__3;
    reg  [31:0] result__lane__4;
    reg  [31:0] result__lane__5;
    reg  [31:0] result__lane__6;
    reg  [31:0] result__lane__7;
    reg  [31:0] result__lane__8;
    reg  [31:0] result__lane__9;
    reg  [31:0] result__lane__10;
    reg  [31:0] result__lane__11;
    reg  [31:0] result__lane__12;
    reg  [31:0] result__lane__13;
    reg  [31:0] result__lane__14;
    reg  [31:0] result__lane__15;
    wire  [21:0] result__out_tag;
    wire  [511:0] result__out_beat;
    // Local signals
    reg  [9:0] phase;
    reg  butterfly;
    reg  [31:0] a__0;
    reg  [31:0] a__1;
    reg  [31:0] a__2;
    reg  [31:0] a__3;
    reg  [31:0] a__4;
    reg  [31:0] a__5;
    reg  [31:0] a__6;
    reg  [31:0] a__7;
    reg  [31:0] a__8;
    reg  [31:0] a__9;
    reg  [31:0] a__10;
    reg  [31:0] a__11;
    reg  [31:0] a__12;
    reg  [31:0] a__13;
    reg  [31:0] a__14;
    reg  [31:0] a__15;
    reg  [31:0] b__0;
    reg  [31:0] b__1;
    reg  [31:0] b__2;
    reg  [31:0] b__3;
    reg  [31:0] b__4;
    reg  [31:0] b__5;
    reg  [31:0] b__6;
    reg  [31:0] b__7;
    reg  [31:0] b__8;
    reg  [31:0] b__9;
    reg  [31:0] b__10;
    reg  [31:0] b__11;
    reg  [31:0] b__12;
    reg  [31:0] b__13;
    reg  [31:0] b__14;
    reg  [31:0] b__15;
    // Sub module instances
    optireduce_contribute__encoder__across__0__position position(
        .d(position__d),
        .q(position__q),
        .clock(position__clock)
    );
    optireduce_contribute__encoder__across__3__delay delay(
        .clock(delay__clock),
        .tag(delay__tag),
        .lane__0(delay__lane__0),
        .lane__1(delay__lane__1),
        .lane__2(delay__lane__2),
        .lane__3(delay__lane__3),
        .lane__4(delay__lane__4),
        .lane__5(delay__lane__5),
        .lane__6(delay__lane__6),
        .lane__7(delay__lane__7),
        .lane__8(delay__lane__8),
        .lane__9(delay__lane__9),
        .lane__10(delay__lane__10),
        .lane__11(delay__lane__11),
        .lane__12(delay__lane__12),
        .lane__13(delay__lane__13),
        .lane__14(delay__lane__14),
        .lane__15(delay__lane__15),
        .out_tag(delay__out_tag),
        .out_beat(delay__out_beat)
    );
    optireduce_contribute__encoder__across__0__delay result(
        .clock(result__clock),
        .tag(result__tag),
        .lane__0(result__lane__0),
        .lane__1(result__lane__1),
        .lane__2(result__lane__2),
        .lane__3(result__lane__3),
        .lane__4(result__lane__4),
        .lane__5(result__lane__5),
        .lane__6(result__lane__6),
        .lane__7(result__lane__7),
        .lane__8(result__lane__8),
        .lane__9(result__lane__9),
        .lane__10(result__lane__10),
        .lane__11(result__lane__11),
        .lane__12(result__lane__12),
        .lane__13(result__lane__13),
        .lane__14(result__lane__14),
        .lane__15(result__lane__15),
        .out_tag(result__out_tag),
        .out_beat(result__out_beat)
    );
    // Update code
    always @(*) begin
        position__clock = clock;
        position__d = position__q;
        delay__clock = clock;
        result__clock = clock;
        phase = position__q & distance;
        butterfly = tag[(64'h0)+:(1)] && ~bypass && (phase != 32'h0);
        if (tag[(64'h0)+:(1)] && ~bypass) begin
            position__d = position__q + 32'h1;
        end
        delay__tag = tag;
        result__tag = tag;
        if (~butterfly) begin
            delay__tag[(64'h0)+:(1)] = 1'b0;
            if (~bypass) begin
                result__tag = delay__out_tag;
            end
        end
        a__0 = delay__out_beat[(0 * 32'h20)+:(32)];
        b__0 = beat[(0 * 32'h20)+:(32)];
        a__1 = delay__out_beat[(1 * 32'h20)+:(32)];
        b__1 = beat[(1 * 32'h20)+:(32)];
        a__2 = delay__out_beat[(2 * 32'h20)+:(32)];
        b__2 = beat[(2 * 32'h20)+:(32)];
        a__3 = delay__out_beat[(3 * 32'h20)+:(32)];
        b__3 = beat[(3 * 32'h20)+:(32)];
        a__4 = delay__out_beat[(4 * 32'h20)+:(32)];
        b__4 = beat[(4 * 32'h20)+:(32)];
        a__5 = delay__out_beat[(5 * 32'h20)+:(32)];
        b__5 = beat[(5 * 32'h20)+:(32)];
        a__6 = delay__out_beat[(6 * 32'h20)+:(32)];
        b__6 = beat[(6 * 32'h20)+:(32)];
        a__7 = delay__out_beat[(7 * 32'h20)+:(32)];
        b__7 = beat[(7 * 32'h20)+:(32)];
        a__8 = delay__out_beat[(8 * 32'h20)+:(32)];
        b__8 = beat[(8 * 32'h20)+:(32)];
        a__9 = delay__out_beat[(9 * 32'h20)+:(32)];
        b__9 = beat[(9 * 32'h20)+:(32)];
        a__10 = delay__out_beat[(10 * 32'h20)+:(32)];
        b__10 = beat[(10 * 32'h20)+:(32)];
        a__11 = delay__out_beat[(11 * 32'h20)+:(32)];
        b__11 = beat[(11 * 32'h20)+:(32)];
        a__12 = delay__out_beat[(12 * 32'h20)+:(32)];
        b__12 = beat[(12 * 32'h20)+:(32)];
        a__13 = delay__out_beat[(13 * 32'h20)+:(32)];
        b__13 = beat[(13 * 32'h20)+:(32)];
        a__14 = delay__out_beat[(14 * 32'h20)+:(32)];
        b__14 = beat[(14 * 32'h20)+:(32)];
        a__15 = delay__out_beat[(15 * 32'h20)+:(32)];
        b__15 = beat[(15 * 32'h20)+:(32)];
        if (butterfly) begin
            if (halve) begin
                result__lane__0 = (a__0 >> 32'h1) + (b__0 >> 32'h1) + ((a__0 | b__0) & 32'h1);
                delay__lane__0 = (a__0 >> 32'h1) - (b__0 >> 32'h1) + (a__0 & (b__0 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__0 = a__0 + b__0 + 64'h80000000;
                delay__lane__0 = a__0 - b__0 + 64'h80000000;
            end
        end
        else begin
            delay__lane__0 = b__0;
            if (bypass) begin
                result__lane__0 = b__0;
            end
            else begin
                result__lane__0 = a__0;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__1 = (a__1 >> 32'h1) + (b__1 >> 32'h1) + ((a__1 | b__1) & 32'h1);
                delay__lane__1 = (a__1 >> 32'h1) - (b__1 >> 32'h1) + (a__1 & (b__1 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__1 = a__1 + b__1 + 64'h80000000;
                delay__lane__1 = a__1 - b__1 + 64'h80000000;
            end
        end
        else begin
            delay__lane__1 = b__1;
            if (bypass) begin
                result__lane__1 = b__1;
            end
            else begin
                result__lane__1 = a__1;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__2 = (a__2 >> 32'h1) + (b__2 >> 32'h1) + ((a__2 | b__2) & 32'h1);
                delay__lane__2 = (a__2 >> 32'h1) - (b__2 >> 32'h1) + (a__2 & (b__2 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__2 = a__2 + b__2 + 64'h80000000;
                delay__lane__2 = a__2 - b__2 + 64'h80000000;
            end
        end
        else begin
            delay__lane__2 = b__2;
            if (bypass) begin
                result__lane__2 = b__2;
            end
            else begin
                result__lane__2 = a__2;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__3 = (a__3 >> 32'h1) + (b__3 >> 32'h1) + ((a__3 | b__3) & 32'h1);
                delay__lane__3 = (a__3 >> 32'h1) - (b__3 >> 32'h1) + (a__3 & (b__3 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__3 = a__3 + b__3 + 64'h80000000;
                delay__lane__3 = a__3 - b__3 + 64'h80000000;
            end
        end
        else begin
            delay__lane__3 = b__3;
            if (bypass) begin
                result__lane__3 = b__3;
            end
            else begin
                result__lane__3 = a__3;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__4 = (a__4 >> 32'h1) + (b__4 >> 32'h1) + ((a__4 | b__4) & 32'h1);
                delay__lane__4 = (a__4 >> 32'h1) - (b__4 >> 32'h1) + (a__4 & (b__4 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__4 = a__4 + b__4 + 64'h80000000;
                delay__lane__4 = a__4 - b__4 + 64'h80000000;
            end
        end
        else begin
            delay__lane__4 = b__4;
            if (bypass) begin
                result__lane__4 = b__4;
            end
            else begin
                result__lane__4 = a__4;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__5 = (a__5 >> 32'h1) + (b__5 >> 32'h1) + ((a__5 | b__5) & 32'h1);
                delay__lane__5 = (a__5 >> 32'h1) - (b__5 >> 32'h1) + (a__5 & (b__5 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__5 = a__5 + b__5 + 64'h80000000;
                delay__lane__5 = a__5 - b__5 + 64'h80000000;
            end
        end
        else begin
            delay__lane__5 = b__5;
            if (bypass) begin
                result__lane__5 = b__5;
            end
            else begin
                result__lane__5 = a__5;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__6 = (a__6 >> 32'h1) + (b__6 >> 32'h1) + ((a__6 | b__6) & 32'h1);
                delay__lane__6 = (a__6 >> 32'h1) - (b__6 >> 32'h1) + (a__6 & (b__6 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__6 = a__6 + b__6 + 64'h80000000;
                delay__lane__6 = a__6 - b__6 + 64'h80000000;
            end
        end
        else begin
            delay__lane__6 = b__6;
            if (bypass) begin
                result__lane__6 = b__6;
            end
            else begin
                result__lane__6 = a__6;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__7 = (a__7 >> 32'h1) + (b__7 >> 32'h1) + ((a__7 | b__7) & 32'h1);
                delay__lane__7 = (a__7 >> 32'h1) - (b__7 >> 32'h1) + (a__7 & (b__7 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__7 = a__7 + b__7 + 64'h80000000;
                delay__lane__7 = a__7 - b__7 + 64'h80000000;
            end
        end
        else begin
            delay__lane__7 = b__7;
            if (bypass) begin
                result__lane__7 = b__7;
            end
            else begin
                result__lane__7 = a__7;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__8 = (a__8 >> 32'h1) + (b__8 >> 32'h1) + ((a__8 | b__8) & 32'h1);
                delay__lane__8 = (a__8 >> 32'h1) - (b__8 >> 32'h1) + (a__8 & (b__8 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__8 = a__8 + b__8 + 64'h80000000;
                delay__lane__8 = a__8 - b__8 + 64'h80000000;
            end
        end
        else begin
            delay__lane__8 = b__8;
            if (bypass) begin
                result__lane__8 = b__8;
            end
            else begin
                result__lane__8 = a__8;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__9 = (a__9 >> 32'h1) + (b__9 >> 32'h1) + ((a__9 | b__9) & 32'h1);
                delay__lane__9 = (a__9 >> 32'h1) - (b__9 >> 32'h1) + (a__9 & (b__9 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__9 = a__9 + b__9 + 64'h80000000;
                delay__lane__9 = a__9 - b__9 + 64'h80000000;
            end
        end
        else begin
            delay__lane__9 = b__9;
            if (bypass) begin
                result__lane__9 = b__9;
            end
            else begin
                result__lane__9 = a__9;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__10 = (a__10 >> 32'h1) + (b__10 >> 32'h1) + ((a__10 | b__10) & 32'h1);
                delay__lane__10 = (a__10 >> 32'h1) - (b__10 >> 32'h1) + (a__10 & (b__10 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__10 = a__10 + b__10 + 64'h80000000;
                delay__lane__10 = a__10 - b__10 + 64'h80000000;
            end
        end
        else begin
            delay__lane__10 = b__10;
            if (bypass) begin
                result__lane__10 = b__10;
            end
            else begin
                result__lane__10 = a__10;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__11 = (a__11 >> 32'h1) + (b__11 >> 32'h1) + ((a__11 | b__11) & 32'h1);
                delay__lane__11 = (a__11 >> 32'h1) - (b__11 >> 32'h1) + (a__11 & (b__11 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__11 = a__11 + b__11 + 64'h80000000;
                delay__lane__11 = a__11 - b__11 + 64'h80000000;
            end
        end
        else begin
            delay__lane__11 = b__11;
            if (bypass) begin
                result__lane__11 = b__11;
            end
            else begin
                result__lane__11 = a__11;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__12 = (a__12 >> 32'h1) + (b__12 >> 32'h1) + ((a__12 | b__12) & 32'h1);
                delay__lane__12 = (a__12 >> 32'h1) - (b__12 >> 32'h1) + (a__12 & (b__12 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__12 = a__12 + b__12 + 64'h80000000;
                delay__lane__12 = a__12 - b__12 + 64'h80000000;
            end
        end
        else begin
            delay__lane__12 = b__12;
            if (bypass) begin
                result__lane__12 = b__12;
            end
            else begin
                result__lane__12 = a__12;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__13 = (a__13 >> 32'h1) + (b__13 >> 32'h1) + ((a__13 | b__13) & 32'h1);
                delay__lane__13 = (a__13 >> 32'h1) - (b__13 >> 32'h1) + (a__13 & (b__13 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__13 = a__13 + b__13 + 64'h80000000;
                delay__lane__13 = a__13 - b__13 + 64'h80000000;
            end
        end
        else begin
            delay__lane__13 = b__13;
            if (bypass) begin
                result__lane__13 = b__13;
            end
            else begin
                result__lane__13 = a__13;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__14 = (a__14 >> 32'h1) + (b__14 >> 32'h1) + ((a__14 | b__14) & 32'h1);
                delay__lane__14 = (a__14 >> 32'h1) - (b__14 >> 32'h1) + (a__14 & (b__14 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__14 = a__14 + b__14 + 64'h80000000;
                delay__lane__14 = a__14 - b__14 + 64'h80000000;
            end
        end
        else begin
            delay__lane__14 = b__14;
            if (bypass) begin
                result__lane__14 = b__14;
            end
            else begin
                result__lane__14 = a__14;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__15 = (a__15 >> 32'h1) + (b__15 >> 32'h1) + ((a__15 | b__15) & 32'h1);
                delay__lane__15 = (a__15 >> 32'h1) - (b__15 >> 32'h1) + (a__15 & (b__15 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__15 = a__15 + b__15 + 64'h80000000;
                delay__lane__15 = a__15 - b__15 + 64'h80000000;
            end
        end
        else begin
            delay__lane__15 = b__15;
            if (bypass) begin
                result__lane__15 = b__15;
            end
            else begin
                result__lane__15 = a__15;
            end
        end
        out_tag = result__out_tag;
        out_beat = result__out_beat;
    end
endmodule

module optireduce_contribute__encoder__across__4(clock,bypass,tag,beat,out_tag,out_beat);
    // Module arguments
    input wire  clock;
    input wire  bypass;
    input wire  [21:0] tag;
    input wire  [511:0] beat;
    output reg  [21:0] out_tag;
    output reg  [511:0] out_beat;
    // Constant declarations
    localparam  halve = 1'b0;
    localparam  distance = 10'b10000;
    // Stub signals
    reg  [9:0] position__d;
    wire  [9:0] position__q;
    reg  position__clock;
    reg  delay__clock;
    reg  [21:0] delay__tag;
    reg  [31:0] delay__lane__0;
    reg  [31:0] delay__lane__1;
    reg  [31:0] delay__lane__2;
    reg  [31:0] delay__lane__3;
    reg  [31:0] delay__lane__4;
    reg  [31:0] delay__lane__5;
    reg  [31:0] delay__lane__6;
    reg  [31:0] delay__lane__7;
    reg  [31:0] delay__lane__8;
    reg  [31:0] delay__lane__9;
    reg  [31:0] delay__lane__10;
    reg  [31:0] delay__lane__11;
    reg  [31:0] delay__lane__12;
    reg  [31:0] delay__lane__13;
    reg  [31:0] delay__lane__14;
    reg  [31:0] delay__lane__15;
    wire  [21:0] delay__out_tag;
    wire  [511:0] delay__out_beat;
    reg  result__clock;
    reg  [21:0] result__tag;
    reg  [31:0] result__lane__0;
    reg  [31:0] result__lane__1;
    reg  [31:0] result__lane__2;
    reg  [31:0] result__lane__3;
    reg  [31:0] result__lane__4;
    reg  [31:0] result__lane__5;
    reg  [31:0] result__lane__6;
    reg  [31:0] result__lane__7;
    reg  [31:0] result__lane__8;
    reg  [31:0] result__lane__9;
    reg  [31:0] result__lane__10;
    reg  [31:0] result__lane__11;
    reg  [31:0] result__lane__12;
    reg  [31:0] result__lane__13;
    reg  [31:0] result__lane__14;
    reg  [31:0] result__lane__15;
    wire  [21:0] result__out_tag;
    wire  [511:0] result__out_beat;
    // Local signals
    reg  [9:0] phase;
    reg  butterfly;
    reg  [31:0] a__0;
    reg  [31:0] a__1;
    reg  [31:0] a__2;
    reg  [31:0] a__3;
    reg  [31:0] a__4;
    reg  [31:0] a__5;
    reg  [31:0] a__6;
    reg  [31:0] a__7;
    reg  [31:0] a__8;
    reg  [31:0] a__9;
    reg  [31:0] a__10;
    reg  [31:0] a__11;
    reg  [31:0] a__12;
    reg  [31:0] a__13;
    reg  [31:0] a__14;
    reg  [31:0] a__15;
    reg  [31:0] b__0;
    reg  [31:0] b__1;
    reg  [31:0] b__2;
    reg  [31:0] b__3;
    reg  [31:0] b__4;
    reg  [31:0] b__5;
    reg  [31:0] b__6;
    reg  [31:0] b__7;
    reg  [31:0] b__8;
    reg  [31:0] b__9;
    reg  [31:0] b__10;
    reg  [31:0] b__11;
    reg  [31:0] b__12;
    reg  [31:0] b__13;
    reg  [31:0] b__14;
    reg  [31:0] b__15;
    // Sub module instances
    optireduce_contribute__encoder__across__0__position position(
        .d(position__d),
        .q(position__q),
        .clock(position__clock)
    );
    optireduce_contribute__encoder__across__4__delay delay(
        .clock(delay__clock),
        .tag(delay__tag),
        .lane__0(delay__lane__0),
        .lane__1(delay__lane__1),
        .lane__2(delay__lane__2),
        .lane__3(delay__lane__3),
        .lane__4(delay__lane__4),
        .lane__5(delay__lane__5),
        .lane__6(delay__lane__6),
        .lane__7(delay__lane__7),
        .lane__8(delay__lane__8),
        .lane__9(delay__lane__9),
        .lane__10(delay__lane__10),
        .lane__11(delay__lane__11),
        .lane__12(delay__lane__12),
        .lane__13(delay__lane__13),
        .lane__14(delay__lane__14),
        .lane__15(delay__lane__15),
        .out_tag(delay__out_tag),
        .out_beat(delay__out_beat)
    );
    optireduce_contribute__encoder__across__0__delay result(
        .clock(result__clock),
        .tag(result__tag),
        .lane__0(result__lane__0),
        .lane__1(result__lane__1),
        .lane__2(result__lane__2),
        .lane__3(result__lane__3),
        .lane__4(result__lane__4),
        .lane__5(result__lane__5),
        .lane__6(result__lane__6),
        .lane__7(result__lane__7),
        .lane__8(result__lane__8),
        .lane__9(result__lane__9),
        .lane__10(result__lane__10),
        .lane__11(result__lane__11),
        .lane__12(result__lane__12),
        .lane__13(result__lane__13),
        .lane__14(result__lane__14),
        .lane__15(result__lane__15),
        .out_tag(result__out_tag),
        .out_beat(result__out_beat)
    );
    // Update code
    always @(*) begin
        position__clock = clock;
        position__d = position__q;
        delay__clock = clock;
        result__clock = clock;
        phase = position__q & distance;
        butterfly = tag[(64'h0)+:(1)] && ~bypass && (phase != 32'h0);
        if (tag[(64'h0)+:(1)] && ~bypass) begin
            position__d = position__q + 32'h1;
        end
        delay__tag = tag;
        result__tag = tag;
        if (~butterfly) begin
            delay__tag[(64'h0)+:(1)] = 1'b0;
            if (~bypass) begin
                result__tag = delay__out_tag;
            end
        end
        a__0 = delay__out_beat[(0 * 32'h20)+:(32)];
        b__0 = beat[(0 * 32'h20)+:(32)];
        a__1 = delay__out_beat[(1 * 32'h20)+:(32)];
        b__1 = beat[(1 * 32'h20)+:(32)];
        a__2 = delay__out_beat[(2 * 32'h20)+:(32)];
        b__2 = beat[(2 * 32'h20)+:(32)];
        a__3 = delay__out_beat[(3 * 32'h20)+:(32)];
        b__3 = beat[(3 * 32'h20)+:(32)];
        a__4 = delay__out_beat[(4 * 32'h20)+:(32)];
        b__4 = beat[(4 * 32'h20)+:(32)];
        a__5 = delay__out_beat[(5 * 32'h20)+:(32)];
        b__5 = beat[(5 * 32'h20)+:(32)];
        a__6 = delay__out_beat[(6 * 32'h20)+:(32)];
        b__6 = beat[(6 * 32'h20)+:(32)];
        a__7 = delay__out_beat[(7 * 32'h20)+:(32)];
        b__7 = beat[(7 * 32'h20)+:(32)];
        a__8 = delay__out_beat[(8 * 32'h20)+:(32)];
        b__8 = beat[(8 * 32'h20)+:(32)];
        a__9 = delay__out_beat[(9 * 32'h20)+:(32)];
        b__9 = beat[(9 * 32'h20)+:(32)];
        a__10 = delay__out_beat[(10 * 32'h20)+:(32)];
        b__10 = beat[(10 * 32'h20)+:(32)];
        a__11 = delay__out_beat[(11 * 32'h20)+:(32)];
        b__11 = beat[(11 * 32'h20)+:(32)];
        a__12 = delay__out_beat[(12 * 32'h20)+:(32)];
        b__12 = beat[(12 * 32'h20)+:(32)];
        a__13 = delay__out_beat[(13 * 32'h20)+:(32)];
        b__13 = beat[(13 * 32'h20)+:(32)];
        a__14 = delay__out_beat[(14 * 32'h20)+:(32)];
        b__14 = beat[(14 * 32'h20)+:(32)];
        a__15 = delay__out_beat[(15 * 32'h20)+:(32)];
        b__15 = beat[(15 * 32'h20)+:(32)];
        if (butterfly) begin
            if (halve) begin
                result__lane__0 = (a__0 >> 32'h1) + (b__0 >> 32'h1) + ((a__0 | b__0) & 32'h1);
                delay__lane__0 = (a__0 >> 32'h1) - (b__0 >> 32'h1) + (a__0 & (b__0 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__0 = a__0 + b__0 + 64'h80000000;
                delay__lane__0 = a__0 - b__0 + 64'h80000000;
            end
        end
        else begin
            delay__lane__0 = b__0;
            if (bypass) begin
                result__lane__0 = b__0;
            end
            else begin
                result__lane__0 = a__0;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__1 = (a__1 >> 32'h1) + (b__1 >> 32'h1) + ((a__1 | b__1) & 32'h1);
                delay__lane__1 = (a__1 >> 32'h1) - (b__1 >> 32'h1) + (a__1 & (b__1 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__1 = a__1 + b__1 + 64'h80000000;
                delay__lane__1 = a__1 - b__1 + 64'h80000000;
            end
        end
        else begin
            delay__lane__1 = b__1;
            if (bypass) begin
                result__lane__1 = b__1;
            end
            else begin
                result__lane__1 = a__1;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__2 = (a__2 >> 32'h1) + (b__2 >> 32'h1) + ((a__2 | b__2) & 32'h1);
                delay__lane__2 = (a__2 >> 32'h1) - (b__2 >> 32'h1) + (a__2 & (b__2 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__2 = a__2 + b__2 + 64'h80000000;
                delay__lane__2 = a__2 - b__2 + 64'h80000000;
            end
        end
        else begin
            delay__lane__2 = b__2;
            if (bypass) begin
                result__lane__2 = b__2;
            end
            else begin
                result__lane__2 = a__2;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__3 = (a__3 >> 32'h1) + (b__3 >> 32'h1) + ((a__3 | b__3) & 32'h1);
                delay__lane__3 = (a__3 >> 32'h1) - (b__3 >> 32'h1) + (a__3 & (b__3 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__3 = a__3 + b__3 + 64'h80000000;
                delay__lane__3 = a__3 - b__3 + 64'h80000000;
            end
        end
        else begin
            delay__lane__3 = b__3;
            if (bypass) begin
                result__lane__3 = b__3;
            end
            else begin
                result__lane__3 = a__3;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__4 = (a__4 >> 32'h1) + (b__4 >> 32'h1) + ((a__4 | b__4) & 32'h1);
                delay__lane__4 = (a__4 >> 32'h1) - (b__4 >> 32'h1) + (a__4 & (b__4 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__4 = a__4 + b__4 + 64'h80000000;
                delay__lane__4 = a__4 - b__4 + 64'h80000000;
            end
        end
        else begin
            delay__lane__4 = b__4;
            if (bypass) begin
                result__lane__4 = b__4;
            end
            else begin
                result__lane__4 = a__4;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__5 = (a__5 >> 32'h1) + (b__5 >> 32'h1) + ((a__5 | b__5) & 32'h1);
                delay__lane__5 = (a__5 >> 32'h1) - (b__5 >> 32'h1) + (a__5 & (b__5 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__5 = a__5 + b__5 + 64'h80000000;
                delay__lane__5 = a__5 - b__5 + 64'h80000000;
            end
        end
        else begin
            delay__lane__5 = b__5;
            if (bypass) begin
                result__lane__5 = b__5;
            end
            else begin
                result__lane__5 = a__5;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__6 = (a__6 >> 32'h1) + (b__6 >> 32'h1) + ((a__6 | b__6) & 32'h1);
                delay__lane__6 = (a__6 >> 32'h1) - (b__6 >> 32'h1) + (a__6 & (b__6 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__6 = a__6 + b__6 + 64'h80000000;
                delay__lane__6 = a__6 - b__6 + 64'h80000000;
            end
        end
        else begin
            delay__lane__6 = b__6;
            if (bypass) begin
                result__lane__6 = b__6;
            end
            else begin
                result__lane__6 = a__6;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__7 = (a__7 >> 32'h1) + (b__7 >> 32'h1) + ((a__7 | b__7) & 32'h1);
                delay__lane__7 = (a__7 >> 32'h1) - (b__7 >> 32'h1) + (a__7 & (b__7 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__7 = a__7 + b__7 + 64'h80000000;
                delay__lane__7 = a__7 - b__7 + 64'h80000000;
            end
        end
        else begin
            delay__lane__7 = b__7;
            if (bypass) begin
                result__lane__7 = b__7;
            end
            else begin
                result__lane__7 = a__7;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__8 = (a__8 >> 32'h1) + (b__8 >> 32'h1) + ((a__8 | b__8) & 32'h1);
                delay__lane__8 = (a__8 >> 32'h1) - (b__8 >> 32'h1) + (a__8 & (b__8 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__8 = a__8 + b__8 + 64'h80000000;
                delay__lane__8 = a__8 - b__8 + 64'h80000000;
            end
        end
        else begin
            delay__lane__8 = b__8;
            if (bypass) begin
                result__lane__8 = b__8;
            end
            else begin
                result__lane__8 = a__8;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__9 = (a__9 >> 32'h1) + (b__9 >> 32'h1) + ((a__9 | b__9) & 32'h1);
                delay__lane__9 = (a__9 >> 32'h1) - (b__9 >> 32'h1) + (a__9 & (b__9 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__9 = a__9 + b__9 + 64'h80000000;
                delay__lane__9 = a__9 - b__9 + 64'h80000000;
            end
        end
        else begin
            delay__lane__9 = b__9;
            if (bypass) begin
                result__lane__9 = b__9;
            end
            else begin
                result__lane__9 = a__9;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__10 = (a__10 >> 32'h1) + (b__10 >> 32'h1) + ((a__10 | b__10) & 32'h1);
                delay__lane__10 = (a__10 >> 32'h1) - (b__10 >> 32'h1) + (a__10 & (b__10 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__10 = a__10 + b__10 + 64'h80000000;
                delay__lane__10 = a__10 - b__10 + 64'h80000000;
            end
        end
        else begin
            delay__lane__10 = b__10;
            if (bypass) begin
                result__lane__10 = b__10;
            end
            else begin
                result__lane__10 = a__10;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__11 = (a__11 >> 32'h1) + (b__11 >> 32'h1) + ((a__11 | b__11) & 32'h1);
                delay__lane__11 = (a__11 >> 32'h1) - (b__11 >> 32'h1) + (a__11 & (b__11 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__11 = a__11 + b__11 + 64'h80000000;
                delay__lane__11 = a__11 - b__11 + 64'h80000000;
            end
        end
        else begin
            delay__lane__11 = b__11;
            if (bypass) begin
                result__lane__11 = b__11;
            end
            else begin
                result__lane__11 = a__11;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__12 = (a__12 >> 32'h1) + (b__12 >> 32'h1) + ((a__12 | b__12) & 32'h1);
                delay__lane__12 = (a__12 >> 32'h1) - (b__12 >> 32'h1) + (a__12 & (b__12 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__12 = a__12 + b__12 + 64'h80000000;
                delay__lane__12 = a__12 - b__12 + 64'h80000000;
            end
        end
        else begin
            delay__lane__12 = b__12;
            if (bypass) begin
                result__lane__12 = b__12;
            end
            else begin
                result__lane__12 = a__12;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__13 = (a__13 >> 32'h1) + (b__13 >> 32'h1) + ((a__13 | b__13) & 32'h1);
                delay__lane__13 = (a__13 >> 32'h1) - (b__13 >> 32'h1) + (a__13 & (b__13 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__13 = a__13 + b__13 + 64'h80000000;
                delay__lane__13 = a__13 - b__13 + 64'h80000000;
            end
        end
        else begin
            delay__lane__13 = b__13;
            if (bypass) begin
                result__lane__13 = b__13;
            end
            else begin
                result__lane__13 = a__13;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__14 = (a__14 >> 32'h1) + (b__14 >> 32'h1) + ((a__14 | b__14) & 32'h1);
                delay__lane__14 = (a__14 >> 32'h1) - (b__14 >> 32'h1) + (a__14 & (b__14 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__14 = a__14 + b__14 + 64'h80000000;
                delay__lane__14 = a__14 - b__14 + 64'h80000000;
            end
        end
        else begin
            delay__lane__14 = b__14;
            if (bypass) begin
                result__lane__14 = b__14;
            end
            else begin
                result__lane__14 = a__14;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__15 = (a__15 >> 32'h1) + (b__15 >> 32'h1) + ((a__15 | b__15) & 32'h1);
                delay__lane__15 = (a__15 >> 32'h1) - (b__15 >> 32'h1) + (a__15 & (b__15 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__15 = a__15 + b__15 + 64'h80000000;
                delay__lane__15 = a__15 - b__15 + 64'h80000000;
            end
        end
        else begin
            delay__lane__15 = b__15;
            if (bypass) begin
                result__lane__15 = b__15;
            end
            else begin
                result__lane__15 = a__15;
            end
        end
        out_tag = result__out_tag;
        out_beat = result__out_beat;
    end
endmodule

module optireduce_contribute__encoder__across__5(clock,bypass,tag,beat,out_tag,out_beat);
    // Module arguments
    input wire  clock;
    input wire  bypass;
    input wire  [21:0] tag;
    input wire  [511:0] beat;
    output reg  [21:0] out_tag;
    output reg  [511:0] out_beat;
    // Constant declarations
    localparam  halve = 1'b1;
    localparam  distance = 10'b100000;
    // Stub signals
    reg  [9:0] position__d;
    wire  [9:0] position__q;
    reg  position__clock;
    reg  delay__clock;
    reg  [21:0] delay__tag;
    reg  [31:0] delay__lane__0;
    reg  [31:0] delay__lane__1;
    reg  [31:0] delay__lane__2;
    reg  [31:0] delay__lane__3;
    reg  [31:0] delay__lane__4;
    reg  [31:0] delay__lane__5;
    reg  [31:0] delay__lane__6;
    reg  [31:0] delay__lane__7;
    reg  [31:0] delay__lane__8;
    reg  [31:0] delay__lane__9;
    reg  [31:0] delay__lane__10;
    reg  [31:0] delay__lane__11;
    reg  [31:0] delay__lane__12;
    reg  [31:0] delay__lane__13;
    reg  [31:0] delay__lane__14;
    reg  [31:0] delay__lane__15;
    wire  [21:0] delay__out_tag;
    wire  [511:0] delay__out_beat;
    reg  result__clock;
    reg  [21:0] result__tag;
    reg  [31:0] result__lane__0;
    reg  [31:0] result__lane__1;
    reg  [31:0] result__lane__2;
    reg  [31:0] result__lane__3;
    reg  [31:0] result__lane__4;
    reg  [31:0] result__lane__5;
    reg  [31:0] result__lane__6;
    reg  [31:0] result__lane__7;
    reg  [31:0] result__lane__8;
    reg  [31:0] result__lane__9;
    reg  [31:0] result__lane__10;
    reg  [31:0] result__lane__11;
    reg  [31:0] result__lane__12;
    reg  [31:0] result__lane__13;
    reg  [31:0] result__lane__14;
    reg  [31:0] result__lane__15;
    wire  [21:0] result__out_tag;
    wire  [511:0] result__out_beat;
    // Local signals
    reg  [9:0] phase;
    reg  butterfly;
    reg  [31:0] a__0;
    reg  [31:0] a__1;
    reg  [31:0] a__2;
    reg  [31:0] a__3;
    reg  [31:0] a__4;
    reg  [31:0] a__5;
    reg  [31:0] a__6;
    reg  [31:0] a__7;
    reg  [31:0] a__8;
    reg  [31:0] a__9;
    reg  [31:0] a__10;
    reg  [31:0] a__11;
    reg  [31:0] a__12;
    reg  [31:0] a__13;
    reg  [31:0] a__14;
    reg  [31:0] a__15;
    reg  [31:0] b__0;
    reg  [31:0] b__1;
    reg  [31:0] b__2;
    reg  [31:0] b__3;
    reg  [31:0] b__4;
    reg  [31:0] b__5;
    reg  [31:0] b__6;
    reg  [31:0] b__7;
    reg  [31:0] b__8;
    reg  [31:0] b__9;
    reg  [31:0] b__10;
    reg  [31:0] b__11;
    reg  [31:0] b__12;
    reg  [31:0] b__13;
    reg  [31:0] b__14;
    reg  [31:0] b__15;
    // Sub module instances
    optireduce_contribute__encoder__across__0__position position(
        .d(position__d),
        .q(position__q),
        .clock(position__clock)
    );
    optireduce_contribute__encoder__across__5__delay delay(
        .clock(delay__clock),
        .tag(delay__tag),
        .lane__0(delay__lane__0),
        .lane__1(delay__lane__1),
        .lane__2(delay__lane__2),
        .lane__3(delay__lane__3),
        .lane__4(delay__lane__4),
        .lane__5(delay__lane__5),
        .lane__6(delay__lane__6),
        .lane__7(delay__lane__7),
        .lane__8(delay__lane__8),
        .lane__9(delay__lane__9),
        .lane__10(delay__lane__10),
        .lane__11(delay__lane__11),
        .lane__12(delay__lane__12),
        .lane__13(delay__lane__13),
        .lane__14(delay__lane__14),
        .lane__15(delay__lane__15),
        .out_tag(delay__out_tag),
        .out_beat(delay__out_beat)
    );
    optireduce_contribute__encoder__across__0__delay result(
        .clock(result__clock),
        .tag(result__tag),
        .lane__0(result__lane__0),
        .lane__1(result__lane__1),
        .lane__2(result__lane__2),
        .lane__3(result__lane__3),
        .lane__4(result__lane__4),
        .lane__5(result__lane__5),
        .lane__6(result__lane__6),
        .lane__7(result__lane__7),
        .lane__8(result__lane__8),
        .lane__9(result__lane__9),
        .lane__10(result__lane__10),
        .lane__11(result__lane__11),
        .lane__12(result__lane__12),
        .lane__13(result__lane__13),
        .lane__14(result__lane__14),
        .lane__15(result__lane__15),
        .out_tag(result__out_tag),
        .out_beat(result__out_beat)
    );
    // Update code
    always @(*) begin
        position__clock = clock;
        position__d = position__q;
        delay__clock = clock;
        result__clock = clock;
        phase = position__q & distance;
        butterfly = tag[(64'h0)+:(1)] && ~bypass && (phase != 32'h0);
        if (tag[(64'h0)+:(1)] && ~bypass) begin
            position__d = position__q + 32'h1;
        end
        delay__tag = tag;
        result__tag = tag;
        if (~butterfly) begin
            delay__tag[(64'h0)+:(1)] = 1'b0;
            if (~bypass) begin
                result__tag = delay__out_tag;
            end
        end
        a__0 = delay__out_beat[(0 * 32'h20)+:(32)];
        b__0 = beat[(0 * 32'h20)+:(32)];
        a__1 = delay__out_beat[(1 * 32'h20)+:(32)];
        b__1 = beat[(1 * 32'h20)+:(32)];
        a__2 = delay__out_beat[(2 * 32'h20)+:(32)];
        b__2 = beat[(2 * 32'h20)+:(32)];
        a__3 = delay__out_beat[(3 * 32'h20)+:(32)];
        b__3 = beat[(3 * 32'h20)+:(32)];
        a__4 = delay__out_beat[(4 * 32'h20)+:(32)];
        b__4 = beat[(4 * 32'h20)+:(32)];
        a__5 = delay__out_beat[(5 * 32'h20)+:(32)];
        b__5 = beat[(5 * 32'h20)+:(32)];
        a__6 = delay__out_beat[(6 * 32'h20)+:(32)];
        b__6 = beat[(6 * 32'h20)+:(32)];
        a__7 = delay__out_beat[(7 * 32'h20)+:(32)];
        b__7 = beat[(7 * 32'h20)+:(32)];
        a__8 = delay__out_beat[(8 * 32'h20)+:(32)];
        b__8 = beat[(8 * 32'h20)+:(32)];
        a__9 = delay__out_beat[(9 * 32'h20)+:(32)];
        b__9 = beat[(9 * 32'h20)+:(32)];
        a__10 = delay__out_beat[(10 * 32'h20)+:(32)];
        b__10 = beat[(10 * 32'h20)+:(32)];
        a__11 = delay__out_beat[(11 * 32'h20)+:(32)];
        b__11 = beat[(11 * 32'h20)+:(32)];
        a__12 = delay__out_beat[(12 * 32'h20)+:(32)];
        b__12 = beat[(12 * 32'h20)+:(32)];
        a__13 = delay__out_beat[(13 * 32'h20)+:(32)];
        b__13 = beat[(13 * 32'h20)+:(32)];
        a__14 = delay__out_beat[(14 * 32'h20)+:(32)];
        b__14 = beat[(14 * 32'h20)+:(32)];
        a__15 = delay__out_beat[(15 * 32'h20)+:(32)];
        b__15 = beat[(15 * 32'h20)+:(32)];
        if (butterfly) begin
            if (halve) begin
                result__lane__0 = (a__0 >> 32'h1) + (b__0 >> 32'h1) + ((a__0 | b__0) & 32'h1);
                delay__lane__0 = (a__0 >> 32'h1) - (b__0 >> 32'h1) + (a__0 & (b__0 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__0 = a__0 + b__0 + 64'h80000000;
                delay__lane__0 = a__0 - b__0 + 64'h80000000;
            end
        end
        else begin
            delay__lane__0 = b__0;
            if (bypass) begin
                result__lane__0 = b__0;
            end
            else begin
                result__lane__0 = a__0;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__1 = (a__1 >> 32'h1) + (b__1 >> 32'h1) + ((a__1 | b__1) & 32'h1);
                delay__lane__1 = (a__1 >> 32'h1) - (b__1 >> 32'h1) + (a__1 & (b__1 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__1 = a__1 + b__1 + 64'h80000000;
                delay__lane__1 = a__1 - b__1 + 64'h80000000;
            end
        end
        else begin
            delay__lane__1 = b__1;
            if (bypass) begin
                result__lane__1 = b__1;
            end
            else begin
                result__lane__1 = a__1;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__2 = (a__2 >> 32'h1) + (b__2 >> 32'h1) + ((a__2 | b__2) & 32'h1);
                delay__lane__2 = (a__2 >> 32'h1) - (b__2 >> 32'h1) + (a__2 & (b__2 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__2 = a__2 + b__2 + 64'h80000000;
                delay__lane__2 = a__2 - b__2 + 64'h80000000;
            end
        end
        else begin
            delay__lane__2 = b__2;
            if (bypass) begin
                result__lane__2 = b__2;
            end
            else begin
                result__lane__2 = a__2;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__3 = (a__3 >> 32'h1) + (b__3 >> 32'h1) + ((a__3 | b__3) & 32'h1);
                delay__lane__3 = (a__3 >> 32'h1) - (b__3 >> 32'h1) + (a__3 & (b__3 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__3 = a__3 + b__3 + 64'h80000000;
                delay__lane__3 = a__3 - b__3 + 64'h80000000;
            end
        end
        else begin
            delay__lane__3 = b__3;
            if (bypass) begin
                result__lane__3 = b__3;
            end
            else begin
                result__lane__3 = a__3;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__4 = (a__4 >> 32'h1) + (b__4 >> 32'h1) + ((a__4 | b__4) & 32'h1);
                delay__lane__4 = (a__4 >> 32'h1) - (b__4 >> 32'h1) + (a__4 & (b__4 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__4 = a__4 + b__4 + 64'h80000000;
                delay__lane__4 = a__4 - b__4 + 64'h80000000;
            end
        end
        else begin
            delay__lane__4 = b__4;
            if (bypass) begin
                result__lane__4 = b__4;
            end
            else begin
                result__lane__4 = a__4;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__5 = (a__5 >> 32'h1) + (b__5 >> 32'h1) + ((a__5 | b__5) & 32'h1);
                delay__lane__5 = (a__5 >> 32'h1) - (b__5 >> 32'h1) + (a__5 & (b__5 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__5 = a__5 + b__5 + 64'h80000000;
                delay__lane__5 = a__5 - b__5 + 64'h80000000;
            end
        end
        else begin
            delay__lane__5 = b__5;
            if (bypass) begin
                result__lane__5 = b__5;
            end
            else begin
                result__lane__5 = a__5;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__6 = (a__6 >> 32'h1) + (b__6 >> 32'h1) + ((a__6 | b__6) & 32'h1);
                delay__lane__6 = (a__6 >> 32'h1) - (b__6 >> 32'h1) + (a__6 & (b__6 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__6 = a__6 + b__6 + 64'h80000000;
                delay__lane__6 = a__6 - b__6 + 64'h80000000;
            end
        end
        else begin
            delay__lane__6 = b__6;
            if (bypass) begin
                result__lane__6 = b__6;
            end
            else begin
                result__lane__6 = a__6;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__7 = (a__7 >> 32'h1) + (b__7 >> 32'h1) + ((a__7 | b__7) & 32'h1);
                delay__lane__7 = (a__7 >> 32'h1) - (b__7 >> 32'h1) + (a__7 & (b__7 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__7 = a__7 + b__7 + 64'h80000000;
                delay__lane__7 = a__7 - b__7 + 64'h80000000;
            end
        end
        else begin
            delay__lane__7 = b__7;
            if (bypass) begin
                result__lane__7 = b__7;
            end
            else begin
                result__lane__7 = a__7;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__8 = (a__8 >> 32'h1) + (b__8 >> 32'h1) + ((a__8 | b__8) & 32'h1);
                delay__lane__8 = (a__8 >> 32'h1) - (b__8 >> 32'h1) + (a__8 & (b__8 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__8 = a__8 + b__8 + 64'h80000000;
                delay__lane__8 = a__8 - b__8 + 64'h80000000;
            end
        end
        else begin
            delay__lane__8 = b__8;
            if (bypass) begin
                result__lane__8 = b__8;
            end
            else begin
                result__lane__8 = a__8;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__9 = (a__9 >> 32'h1) + (b__9 >> 32'h1) + ((a__9 | b__9) & 32'h1);
                delay__lane__9 = (a__9 >> 32'h1) - (b__9 >> 32'h1) + (a__9 & (b__9 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__9 = a__9 + b__9 + 64'h80000000;
                delay__lane__9 = a__9 - b__9 + 64'h80000000;
            end
        end
        else begin
            delay__lane__9 = b__9;
            if (bypass) begin
                result__lane__9 = b__9;
            end
            else begin
                result__lane__9 = a__9;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__10 = (a__10 >> 32'h1) + (b__10 >> 32'h1) + ((a__10 | b__10) & 32'h1);
                delay__lane__10 = (a__10 >> 32'h1) - (b__10 >> 32'h1) + (a__10 & (b__10 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__10 = a__10 + b__10 + 64'h80000000;
                delay__lane__10 = a__10 - b__10 + 64'h80000000;
            end
        end
        else begin
            delay__lane__10 = b__10;
            if (bypass) begin
                result__lane__10 = b__10;
            end
            else begin
                result__lane__10 = a__10;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__11 = (a__11 >> 32'h1) + (b__11 >> 32'h1) + ((a__11 | b__11) & 32'h1);
                delay__lane__11 = (a__11 >> 32'h1) - (b__11 >> 32'h1) + (a__11 & (b__11 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__11 = a__11 + b__11 + 64'h80000000;
                delay__lane__11 = a__11 - b__11 + 64'h80000000;
            end
        end
        else begin
            delay__lane__11 = b__11;
            if (bypass) begin
                result__lane__11 = b__11;
            end
            else begin
                result__lane__11 = a__11;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__12 = (a__12 >> 32'h1) + (b__12 >> 32'h1) + ((a__12 | b__12) & 32'h1);
                delay__lane__12 = (a__12 >> 32'h1) - (b__12 >> 32'h1) + (a__12 & (b__12 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__12 = a__12 + b__12 + 64'h80000000;
                delay__lane__12 = a__12 - b__12 + 64'h80000000;
            end
        end
        else begin
            delay__lane__12 = b__12;
            if (bypass) begin
                result__lane__12 = b__12;
            end
            else begin
                result__lane__12 = a__12;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__13 = (a__13 >> 32'h1) + (b__13 >> 32'h1) + ((a__13 | b__13) & 32'h1);
                delay__lane__13 = (a__13 >> 32'h1) - (b__13 >> 32'h1) + (a__13 & (b__13 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__13 = a__13 + b__13 + 64'h80000000;
                delay__lane__13 = a__13 - b__13 + 64'h80000000;
            end
        end
        else begin
            delay__lane__13 = b__13;
            if (bypass) begin
                result__lane__13 = b__13;
            end
            else begin
                result__lane__13 = a__13;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__14 = (a__14 >> 32'h1) + (b__14 >> 32'h1) + ((a__14 | b__14) & 32'h1);
                delay__lane__14 = (a__14 >> 32'h1) - (b__14 >> 32'h1) + (a__14 & (b__14 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__14 = a__14 + b__14 + 64'h80000000;
                delay__lane__14 = a__14 - b__14 + 64'h80000000;
            end
        end
        else begin
            delay__lane__14 = b__14;
            if (bypass) begin
                result__lane__14 = b__14;
            end
            else begin
                result__lane__14 = a__14;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__15 = (a__15 >> 32'h1) + (b__15 >> 32'h1) + ((a__15 | b__15) & 32'h1);
                delay__lane__15 = (a__15 >> 32'h1) - (b__15 >> 32'h1) + (a__15 & (b__15 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__15 = a__15 + b__15 + 64'h80000000;
                delay__lane__15 = a__15 - b__15 + 64'h80000000;
            end
        end
        else begin
            delay__lane__15 = b__15;
            if (bypass) begin
                result__lane__15 = b__15;
            end
            else begin
                result__lane__15 = a__15;
            end
        end
        out_tag = result__out_tag;
        out_beat = result__out_beat;
    end
endmodule

module optireduce_contribute__encoder__across__6(clock,bypass,tag,beat,out_tag,out_beat);
    // Module arguments
    input wire  clock;
    input wire  bypass;
    input wire  [21:0] tag;
    input wire  [511:0] beat;
    output reg  [21:0] out_tag;
    output reg  [511:0] out_beat;
    // Constant declarations
    localparam  halve = 1'b0;
    localparam  distance = 10'b1000000;
    // Stub signals
    reg  [9:0] position__d;
    wire  [9:0] position__q;
    reg  position__clock;
    reg  delay__clock;
    reg  [21:0] delay__tag;
    reg  [31:0] delay__lane__0;
    reg  [31:0] delay__lane__1;
    reg  [31:0] delay__lane__2;
    reg  [31:0] delay__lane__3;
    reg  [31:0] delay__lane__4;
    reg  [31:0] delay__lane__5;
    reg  [31:0] delay__lane__6;
    reg  [31:0] delay__lane__7;
    reg  [31:0] delay__lane__8;
    reg  [31:0] delay__lane__9;
    reg  [31:0] delay__lane__10;
    reg  [31:0] delay__lane__11;
    reg  [31:0] delay__lane__12;
    reg  [31:0] delay__lane__13;
    reg  [31:0] delay__lane__14;
    reg  [31:0] delay__lane__15;
    wire  [21:0] delay__out_tag;
    wire  [511:0] delay__out_beat;
    reg  result__clock;
    reg  [21:0] result__tag;
    reg  [31:0] result__lane__0;
    reg  [31:0] result__lane__1;
    reg  [31:0] result__lane__2;
    reg  [31:0] result__lane__3;
    reg  [31:0] result__lane__4;
    reg  [31:0] result__lane__5;
    reg  [31:0] result__lane__6;
    reg  [31:0] result__lane__7;
    reg  [31:0] result__lane__8;
    reg  [31:0] result__lane__9;
    reg  [31:0] result__lane__10;
    reg  [31:0] result__lane__11;
    reg  [31:0] result__lane__12;
    reg  [31:0] result__lane__13;
    reg  [31:0] result__lane__14;
    reg  [31:0] result__lane__15;
    wire  [21:0] result__out_tag;
    wire  [511:0] result__out_beat;
    // Local signals
    reg  [9:0] phase;
    reg  butterfly;
    reg  [31:0] a__0;
    reg  [31:0] a__1;
    reg  [31:0] a__2;
    reg  [31:0] a__3;
    reg  [31:0] a__4;
    reg  [31:0] a__5;
    reg  [31:0] a__6;
    reg  [31:0] a__7;
    reg  [31:0] a__8;
    reg  [31:0] a__9;
    reg  [31:0] a__10;
    reg  [31:0] a__11;
    reg  [31:0] a__12;
    reg  [31:0] a__13;
    reg  [31:0] a__14;
    reg  [31:0] a__15;
    reg  [31:0] b__0;
    reg  [31:0] b__1;
    reg  [31:0] b__2;
    reg  [31:0] b__3;
    reg  [31:0] b__4;
    reg  [31:0] b__5;
    reg  [31:0] b__6;
    reg  [31:0] b__7;
    reg  [31:0] b__8;
    reg  [31:0] b__9;
    reg  [31:0] b__10;
    reg  [31:0] b__11;
    reg  [31:0] b__12;
    reg  [31:0] b__13;
    reg  [31:0] b__14;
    reg  [31:0] b__15;
    // Sub module instances
    optireduce_contribute__encoder__across__0__position position(
        .d(position__d),
        .q(position__q),
        .clock(position__clock)
    );
    optireduce_contribute__encoder__across__6__delay delay(
        .clock(delay__clock),
        .tag(delay__tag),
        .lane__0(delay__lane__0),
        .lane__1(delay__lane__1),
        .lane__2(delay__lane__2),
        .lane__3(delay__lane__3),
        .lane__4(delay__lane__4),
        .lane__5(delay__lane__5),
        .lane__6(delay__lane__6),
        .lane__7(delay__lane__7),
        .lane__8(delay__lane__8),
        .lane__9(delay__lane__9),
        .lane__10(delay__lane__10),
        .lane__11(delay__lane__11),
        .lane__12(delay__lane__12),
        .lane__13(delay__lane__13),
        .lane__14(delay__lane__14),
        .lane__15(delay__lane__15),
        .out_tag(delay__out_tag),
        .out_beat(delay__out_beat)
    );
    optireduce_contribute__encoder__across__0__delay result(
        .clock(result__clock),
        .tag(result__tag),
        .lane__0(result__lane__0),
        .lane__1(result__lane__1),
        .lane__2(result__lane__2),
        .lane__3(result__lane__3),
        .lane__4(result__lane__4),
        .lane__5(result__lane__5),
        .lane__6(result__lane__6),
        .lane__7(result__lane__7),
        .lane__8(result__lane__8),
        .lane__9(result__lane__9),
        .lane__10(result__lane__10),
        .lane__11(result__lane__11),
        .lane__12(result__lane__12),
        .lane__13(result__lane__13),
        .lane__14(result__lane__14),
        .lane__15(result__lane__15),
        .out_tag(result__out_tag),
        .out_beat(result__out_beat)
    );
    // Update code
    always @(*) begin
        position__clock = clock;
        position__d = position__q;
        delay__clock = clock;
        result__clock = clock;
        phase = position__q & distance;
        butterfly = tag[(64'h0)+:(1)] && ~bypass && (phase != 32'h0);
        if (tag[(64'h0)+:(1)] && ~bypass) begin
            position__d = position__q + 32'h1;
        end
        delay__tag = tag;
        result__tag = tag;
        if (~butterfly) begin
            delay__tag[(64'h0)+:(1)] = 1'b0;
            if (~bypass) begin
                result__tag = delay__out_tag;
            end
        end
        a__0 = delay__out_beat[(0 * 32'h20)+:(32)];
        b__0 = beat[(0 * 32'h20)+:(32)];
        a__1 = delay__out_beat[(1 * 32'h20)+:(32)];
        b__1 = beat[(1 * 32'h20)+:(32)];
        a__2 = delay__out_beat[(2 * 32'h20)+:(32)];
        b__2 = beat[(2 * 32'h20)+:(32)];
        a__3 = delay__out_beat[(3 * 32'h20)+:(32)];
        b__3 = beat[(3 * 32'h20)+:(32)];
        a__4 = delay__out_beat[(4 * 32'h20)+:(32)];
        b__4 = beat[(4 * 32'h20)+:(32)];
        a__5 = delay__out_beat[(5 * 32'h20)+:(32)];
        b__5 = beat[(5 * 32'h20)+:(32)];
        a__6 = delay__out_beat[(6 * 32'h20)+:(32)];
        b__6 = beat[(6 * 32'h20)+:(32)];
        a__7 = delay__out_beat[(7 * 32'h20)+:(32)];
        b__7 = beat[(7 * 32'h20)+:(32)];
        a__8 = delay__out_beat[(8 * 32'h20)+:(32)];
        b__8 = beat[(8 * 32'h20)+:(32)];
        a__9 = delay__out_beat[(9 * 32'h20)+:(32)];
        b__9 = beat[(9 * 32'h20)+:(32)];
        a__10 = delay__out_beat[(10 * 32'h20)+:(32)];
        b__10 = beat[(10 * 32'h20)+:(32)];
        a__11 = delay__out_beat[(11 * 32'h20)+:(32)];
        b__11 = beat[(11 * 32'h20)+:(32)];
        a__12 = delay__out_beat[(12 * 32'h20)+:(32)];
        b__12 = beat[(12 * 32'h20)+:(32)];
        a__13 = delay__out_beat[(13 * 32'h20)+:(32)];
        b__13 = beat[(13 * 32'h20)+:(32)];
        a__14 = delay__out_beat[(14 * 32'h20)+:(32)];
        b__14 = beat[(14 * 32'h20)+:(32)];
        a__15 = delay__out_beat[(15 * 32'h20)+:(32)];
        b__15 = beat[(15 * 32'h20)+:(32)];
        if (butterfly) begin
            if (halve) begin
                result__lane__0 = (a__0 >> 32'h1) + (b__0 >> 32'h1) + ((a__0 | b__0) & 32'h1);
                delay__lane__0 = (a__0 >> 32'h1) - (b__0 >> 32'h1) + (a__0 & (b__0 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__0 = a__0 + b__0 + 64'h80000000;
                delay__lane__0 = a__0 - b__0 + 64'h80000000;
            end
        end
        else begin
            delay__lane__0 = b__0;
            if (bypass) begin
                result__lane__0 = b__0;
            end
            else begin
                result__lane__0 = a__0;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__1 = (a__1 >> 32'h1) + (b__1 >> 32'h1) + ((a__1 | b__1) & 32'h1);
                delay__lane__1 = (a__1 >> 32'h1) - (b__1 >> 32'h1) + (a__1 & (b__1 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__1 = a__1 + b__1 + 64'h80000000;
                delay__lane__1 = a__1 - b__1 + 64'h80000000;
            end
        end
        else begin
            delay__lane__1 = b__1;
            if (bypass) begin
                result__lane__1 = b__1;
            end
            else begin
                result__lane__1 = a__1;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__2 = (a__2 >> 32'h1) + (b__2 >> 32'h1) + ((a__2 | b__2) & 32'h1);
                delay__lane__2 = (a__2 >> 32'h1) - (b__2 >> 32'h1) + (a__2 & (b__2 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__2 = a__2 + b__2 + 64'h80000000;
                delay__lane__2 = a__2 - b__2 + 64'h80000000;
            end
        end
        else begin
            delay__lane__2 = b__2;
            if (bypass) begin
                result__lane__2 = b__2;
            end
            else begin
                result__lane__2 = a__2;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__3 = (a__3 >> 32'h1) + (b__3 >> 32'h1) + ((a__3 | b__3) & 32'h1);
                delay__lane__3 = (a__3 >> 32'h1) - (b__3 >> 32'h1) + (a__3 & (b__3 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__3 = a__3 + b__3 + 64'h80000000;
                delay__lane__3 = a__3 - b__3 + 64'h80000000;
            end
        end
        else begin
            delay__lane__3 = b__3;
            if (bypass) begin
                result__lane__3 = b__3;
            end
            else begin
                result__lane__3 = a__3;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__4 = (a__4 >> 32'h1) + (b__4 >> 32'h1) + ((a__4 | b__4) & 32'h1);
                delay__lane__4 = (a__4 >> 32'h1) - (b__4 >> 32'h1) + (a__4 & (b__4 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__4 = a__4 + b__4 + 64'h80000000;
                delay__lane__4 = a__4 - b__4 + 64'h80000000;
            end
        end
        else begin
            delay__lane__4 = b__4;
            if (bypass) begin
                result__lane__4 = b__4;
            end
            else begin
                result__lane__4 = a__4;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__5 = (a__5 >> 32'h1) + (b__5 >> 32'h1) + ((a__5 | b__5) & 32'h1);
                delay__lane__5 = (a__5 >> 32'h1) - (b__5 >> 32'h1) + (a__5 & (b__5 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__5 = a__5 + b__5 + 64'h80000000;
                delay__lane__5 = a__5 - b__5 + 64'h80000000;
            end
        end
        else begin
            delay__lane__5 = b__5;
            if (bypass) begin
                result__lane__5 = b__5;
            end
            else begin
                result__lane__5 = a__5;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__6 = (a__6 >> 32'h1) + (b__6 >> 32'h1) + ((a__6 | b__6) & 32'h1);
                delay__lane__6 = (a__6 >> 32'h1) - (b__6 >> 32'h1) + (a__6 & (b__6 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__6 = a__6 + b__6 + 64'h80000000;
                delay__lane__6 = a__6 - b__6 + 64'h80000000;
            end
        end
        else begin
            delay__lane__6 = b__6;
            if (bypass) begin
                result__lane__6 = b__6;
            end
            else begin
                result__lane__6 = a__6;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__7 = (a__7 >> 32'h1) + (b__7 >> 32'h1) + ((a__7 | b__7) & 32'h1);
                delay__lane__7 = (a__7 >> 32'h1) - (b__7 >> 32'h1) + (a__7 & (b__7 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__7 = a__7 + b__7 + 64'h80000000;
                delay__lane__7 = a__7 - b__7 + 64'h80000000;
            end
        end
        else begin
            delay__lane__7 = b__7;
            if (bypass) begin
                result__lane__7 = b__7;
            end
            else begin
                result__lane__7 = a__7;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__8 = (a__8 >> 32'h1) + (b__8 >> 32'h1) + ((a__8 | b__8) & 32'h1);
                delay__lane__8 = (a__8 >> 32'h1) - (b__8 >> 32'h1) + (a__8 & (b__8 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__8 = a__8 + b__8 + 64'h80000000;
                delay__lane__8 = a__8 - b__8 + 64'h80000000;
            end
        end
        else begin
            delay__lane__8 = b__8;
            if (bypass) begin
                result__lane__8 = b__8;
            end
            else begin
                result__lane__8 = a__8;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__9 = (a__9 >> 32'h1) + (b__9 >> 32'h1) + ((a__9 | b__9) & 32'h1);
                delay__lane__9 = (a__9 >> 32'h1) - (b__9 >> 32'h1) + (a__9 & (b__9 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__9 = a__9 + b__9 + 64'h80000000;
                delay__lane__9 = a__9 - b__9 + 64'h80000000;
            end
        end
        else begin
            delay__lane__9 = b__9;
            if (bypass) begin
                result__lane__9 = b__9;
            end
            else begin
                result__lane__9 = a__9;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__10 = (a__10 >> 32'h1) + (b__10 >> 32'h1) + ((a__10 | b__10) & 32'h1);
                delay__lane__10 = (a__10 >> 32'h1) - (b__10 >> 32'h1) + (a__10 & (b__10 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__10 = a__10 + b__10 + 64'h80000000;
                delay__lane__10 = a__10 - b__10 + 64'h80000000;
            end
        end
        else begin
            delay__lane__10 = b__10;
            if (bypass) begin
                result__lane__10 = b__10;
            end
            else begin
                result__lane__10 = a__10;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__11 = (a__11 >> 32'h1) + (b__11 >> 32'h1) + ((a__11 | b__11) & 32'h1);
                delay__lane__11 = (a__11 >> 32'h1) - (b__11 >> 32'h1) + (a__11 & (b__11 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__11 = a__11 + b__11 + 64'h80000000;
                delay__lane__11 = a__11 - b__11 + 64'h80000000;
            end
        end
        else begin
            delay__lane__11 = b__11;
            if (bypass) begin
                result__lane__11 = b__11;
            end
            else begin
                result__lane__11 = a__11;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__12 = (a__12 >> 32'h1) + (b__12 >> 32'h1) + ((a__12 | b__12) & 32'h1);
                delay__lane__12 = (a__12 >> 32'h1) - (b__12 >> 32'h1) + (a__12 & (b__12 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__12 = a__12 + b__12 + 64'h80000000;
                delay__lane__12 = a__12 - b__12 + 64'h80000000;
            end
        end
        else begin
            delay__lane__12 = b__12;
            if (bypass) begin
                result__lane__12 = b__12;
            end
            else begin
                result__lane__12 = a__12;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__13 = (a__13 >> 32'h1) + (b__13 >> 32'h1) + ((a__13 | b__13) & 32'h1);
                delay__lane__13 = (a__13 >> 32'h1) - (b__13 >> 32'h1) + (a__13 & (b__13 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__13 = a__13 + b__13 + 64'h80000000;
                delay__lane__13 = a__13 - b__13 + 64'h80000000;
            end
        end
        else begin
            delay__lane__13 = b__13;
            if (bypass) begin
                result__lane__13 = b__13;
            end
            else begin
                result__lane__13 = a__13;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__14 = (a__14 >> 32'h1) + (b__14 >> 32'h1) + ((a__14 | b__14) & 32'h1);
                delay__lane__14 = (a__14 >> 32'h1) - (b__14 >> 32'h1) + (a__14 & (b__14 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__14 = a__14 + b__14 + 64'h80000000;
                delay__lane__14 = a__14 - b__14 + 64'h80000000;
            end
        end
        else begin
            delay__lane__14 = b__14;
            if (bypass) begin
                result__lane__14 = b__14;
            end
            else begin
                result__lane__14 = a__14;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__15 = (a__15 >> 32'h1) + (b__15 >> 32'h1) + ((a__15 | b__15) & 32'h1);
                delay__lane__15 = (a__15 >> 32'h1) - (b__15 >> 32'h1) + (a__15 & (b__15 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__15 = a__15 + b__15 + 64'h80000000;
                delay__lane__15 = a__15 - b__15 + 64'h80000000;
            end
        end
        else begin
            delay__lane__15 = b__15;
            if (bypass) begin
                result__lane__15 = b__15;
            end
            else begin
                result__lane__15 = a__15;
            end
        end
        out_tag = result__out_tag;
        out_beat = result__out_beat;
    end
endmodule

module optireduce_contribute__encoder__across__7(clock,bypass,tag,beat,out_tag,out_beat);
    // Module arguments
    input wire  clock;
    input wire  bypass;
    input wire  [21:0] tag;
    input wire  [511:0] beat;
    output reg  [21:0] out_tag;
    output reg  [511:0] out_beat;
    // Constant declarations
    localparam  halve = 1'b1;
    localparam  distance = 10'b10000000;
    // Stub signals
    reg  [9:0] position__d;
    wire  [9:0] position__q;
    reg  position__clock;
    reg  delay__clock;
    reg  [21:0] delay__tag;
    reg  [31:0] delay__lane__0;
    reg  [31:0] delay__lane__1;
    reg  [31:0] delay__lane__2;
    reg  [31:0] delay__lane__3;
    reg  [31:0] delay__lane__4;
    reg  [31:0] delay__lane__5;
    reg  [31:0] delay__lane__6;
    reg  [31:0] delay__lane__7;
    reg  [31:0] delay__lane__8;
    reg  [31:0] delay__lane__9;
    reg  [31:0] delay__lane__10;
    reg  [31:0] delay__lane__11;
    reg  [31:0] delay__lane__12;
    reg  [31:0] delay__lane__13;
    reg  [31:0] delay__lane__14;
    reg  [31:0] delay__lane__15;
    wire  [21:0] delay__out_tag;
    wire  [511:0] delay__out_beat;
    reg  result__clock;
    reg  [21:0] result__tag;
    reg  [31:0] result__lane__0;
    reg  [31:0] result__lane__1;
    reg  [31:0] result__lane__2;
    reg  [31:0] result__lane__3;
    reg  [31:0] result__lane__4;
    reg  [31:0] result__lane__5;
    reg  [31:0] result__lane__6;
    reg  [31:0] result__lane__7;
    reg  [31:0] result__lane__8;
    reg  [31:0] result__lane__9;
    reg  [31:0] result__lane__10;
    reg  [31:0] result__lane__11;
    reg  [31:0] result__lane__12;
    reg  [31:0] result__lane__13;
    reg  [31:0] result__lane__14;
    reg  [31:0] result__lane__15;
    wire  [21:0] result__out_tag;
    wire  [511:0] result__out_beat;
    // Local signals
    reg  [9:0] phase;
    reg  butterfly;
    reg  [31:0] a__0;
    reg  [31:0] a__1;
    reg  [31:0] a__2;
    reg  [31:0] a__3;
    reg  [31:0] a__4;
    reg  [31:0] a__5;
    reg  [31:0] a__6;
    reg  [31:0] a__7;
    reg  [31:0] a__8;
    reg  [31:0] a__9;
    reg  [31:0] a__10;
    reg  [31:0] a__11;
    reg  [31:0] a__12;
    reg  [31:0] a__13;
    reg  [31:0] a__14;
    reg  [31:0] a__15;
    reg  [31:0] b__0;
    reg  [31:0] b__1;
    reg  [31:0] b__2;
    reg  [31:0] b__3;
    reg  [31:0] b__4;
    reg  [31:0] b__5;
    reg  [31:0] b__6;
    reg  [31:0] b__7;
    reg  [31:0] b__8;
    reg  [31:0] b__9;
    reg  [31:0] b__10;
    reg  [31:0] b__11;
    reg  [31:0] b__12;
    reg  [31:0] b__13;
    reg  [31:0] b__14;
    reg  [31:0] b__15;
    // Sub module instances
    optireduce_contribute__encoder__across__0__position position(
        .d(position__d),
        .q(position__q),
        .clock(position__clock)
    );
    optireduce_contribute__encoder__across__7__delay delay(
        .clock(delay__clock),
        .tag(delay__tag),
        .lane__0(delay__lane__0),
        .lane__1(delay__lane__1),
        .lane__2(delay__lane__2),
        .lane__3(delay__lane__3),
        .lane__4(delay__lane__4),
        .lane__5(delay__lane__5),
        .lane__6(delay__lane__6),
        .lane__7(delay__lane__7),
        .lane__8(delay__lane__8),
        .lane__9(delay__lane__9),
        .lane__10(delay__lane__10),
        .lane__11(delay__lane__11),
        .lane__12(delay__lane__12),
        .lane__13(delay__lane__13),
        .lane__14(delay__lane__14),
        .lane__15(delay__lane__15),
        .out_tag(delay__out_tag),
        .out_beat(delay__out_beat)
    );
    optireduce_contribute__encoder__across__0__delay result(
        .clock(result__clock),
        .tag(result__tag),
        .lane__0(result__lane__0),
        .lane__1(result__lane__1),
        .lane__2(result__lane__2),
        .lane__3(result__lane__3),
        .lane__4(result__lane__4),
        .lane__5(result__lane__5),
        .lane__6(result__lane__6),
        .lane__7(result__lane__7),
        .lane__8(result__lane__8),
        .lane__9(result__lane__9),
        .lane__10(result__lane__10),
        .lane__11(result__lane__11),
        .lane__12(result__lane__12),
        .lane__13(result__lane__13),
        .lane__14(result__lane__14),
        .lane__15(result__lane__15),
        .out_tag(result__out_tag),
        .out_beat(result__out_beat)
    );
    // Update code
    always @(*) begin
        position__clock = clock;
        position__d = position__q;
        delay__clock = clock;
        result__clock = clock;
        phase = position__q & distance;
        butterfly = tag[(64'h0)+:(1)] && ~bypass && (phase != 32'h0);
        if (tag[(64'h0)+:(1)] && ~bypass) begin
            position__d = position__q + 32'h1;
        end
        delay__tag = tag;
        result__tag = tag;
        if (~butterfly) begin
            delay__tag[(64'h0)+:(1)] = 1'b0;
            if (~bypass) begin
                result__tag = delay__out_tag;
            end
        end
        a__0 = delay__out_beat[(0 * 32'h20)+:(32)];
        b__0 = beat[(0 * 32'h20)+:(32)];
        a__1 = delay__out_beat[(1 * 32'h20)+:(32)];
        b__1 = beat[(1 * 32'h20)+:(32)];
        a__2 = delay__out_beat[(2 * 32'h20)+:(32)];
        b__2 = beat[(2 * 32'h20)+:(32)];
        a__3 = delay__out_beat[(3 * 32'h20)+:(32)];
        b__3 = beat[(3 * 32'h20)+:(32)];
        a__4 = delay__out_beat[(4 * 32'h20)+:(32)];
        b__4 = beat[(4 * 32'h20)+:(32)];
        a__5 = delay__out_beat[(5 * 32'h20)+:(32)];
        b__5 = beat[(5 * 32'h20)+:(32)];
        a__6 = delay__out_beat[(6 * 32'h20)+:(32)];
        b__6 = beat[(6 * 32'h20)+:(32)];
        a__7 = delay__out_beat[(7 * 32'h20)+:(32)];
        b__7 = beat[(7 * 32'h20)+:(32)];
        a__8 = delay__out_beat[(8 * 32'h20)+:(32)];
        b__8 = beat[(8 * 32'h20)+:(32)];
        a__9 = delay__out_beat[(9 * 32'h20)+:(32)];
        b__9 = beat[(9 * 32'h20)+:(32)];
        a__10 = delay__out_beat[(10 * 32'h20)+:(32)];
        b__10 = beat[(10 * 32'h20)+:(32)];
        a__11 = delay__out_beat[(11 * 32'h20)+:(32)];
        b__11 = beat[(11 * 32'h20)+:(32)];
        a__12 = delay__out_beat[(12 * 32'h20)+:(32)];
        b__12 = beat[(12 * 32'h20)+:(32)];
        a__13 = delay__out_beat[(13 * 32'h20)+:(32)];
        b__13 = beat[(13 * 32'h20)+:(32)];
        a__14 = delay__out_beat[(14 * 32'h20)+:(32)];
        b__14 = beat[(14 * 32'h20)+:(32)];
        a__15 = delay__out_beat[(15 * 32'h20)+:(32)];
        b__15 = beat[(15 * 32'h20)+:(32)];
        if (butterfly) begin
            if (halve) begin
                result__lane__0 = (a__0 >> 32'h1) + (b__0 >> 32'h1) + ((a__0 | b__0) & 32'h1);
                delay__lane__0 = (a__0 >> 32'h1) - (b__0 >> 32'h1) + (a__0 & (b__0 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__0 = a__0 + b__0 + 64'h80000000;
                delay__lane__0 = a__0 - b__0 + 64'h80000000;
            end
        end
        else begin
            delay__lane__0 = b__0;
            if (bypass) begin
                result__lane__0 = b__0;
            end
            else begin
                result__lane__0 = a__0;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__1 = (a__1 >> 32'h1) + (b__1 >> 32'h1) + ((a__1 | b__1) & 32'h1);
                delay__lane__1 = (a__1 >> 32'h1) - (b__1 >> 32'h1) + (a__1 & (b__1 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__1 = a__1 + b__1 + 64'h80000000;
                delay__lane__1 = a__1 - b__1 + 64'h80000000;
            end
        end
        else begin
            delay__lane__1 = b__1;
            if (bypass) begin
                result__lane__1 = b__1;
            end
            else begin
                result__lane__1 = a__1;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__2 = (a__2 >> 32'h1) + (b__2 >> 32'h1) + ((a__2 | b__2) & 32'h1);
                delay__lane__2 = (a__2 >> 32'h1) - (b__2 >> 32'h1) + (a__2 & (b__2 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__2 = a__2 + b__2 + 64'h80000000;
                delay__lane__2 = a__2 - b__2 + 64'h80000000;
            end
        end
        else begin
            delay__lane__2 = b__2;
            if (bypass) begin
                result__lane__2 = b__2;
            end
            else begin
                result__lane__2 = a__2;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__3 = (a__3 >> 32'h1) + (b__3 >> 32'h1) + ((a__3 | b__3) & 32'h1);
                delay__lane__3 = (a__3 >> 32'h1) - (b__3 >> 32'h1) + (a__3 & (b__3 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__3 = a__3 + b__3 + 64'h80000000;
                delay__lane__3 = a__3 - b__3 + 64'h80000000;
            end
        end
        else begin
            delay__lane__3 = b__3;
            if (bypass) begin
                result__lane__3 = b__3;
            end
            else begin
                result__lane__3 = a__3;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__4 = (a__4 >> 32'h1) + (b__4 >> 32'h1) + ((a__4 | b__4) & 32'h1);
                delay__lane__4 = (a__4 >> 32'h1) - (b__4 >> 32'h1) + (a__4 & (b__4 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__4 = a__4 + b__4 + 64'h80000000;
                delay__lane__4 = a__4 - b__4 + 64'h80000000;
            end
        end
        else begin
            delay__lane__4 = b__4;
            if (bypass) begin
                result__lane__4 = b__4;
            end
            else begin
                result__lane__4 = a__4;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__5 = (a__5 >> 32'h1) + (b__5 >> 32'h1) + ((a__5 | b__5) & 32'h1);
                delay__lane__5 = (a__5 >> 32'h1) - (b__5 >> 32'h1) + (a__5 & (b__5 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__5 = a__5 + b__5 + 64'h80000000;
                delay__lane__5 = a__5 - b__5 + 64'h80000000;
            end
        end
        else begin
            delay__lane__5 = b__5;
            if (bypass) begin
                result__lane__5 = b__5;
            end
            else begin
                result__lane__5 = a__5;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__6 = (a__6 >> 32'h1) + (b__6 >> 32'h1) + ((a__6 | b__6) & 32'h1);
                delay__lane__6 = (a__6 >> 32'h1) - (b__6 >> 32'h1) + (a__6 & (b__6 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__6 = a__6 + b__6 + 64'h80000000;
                delay__lane__6 = a__6 - b__6 + 64'h80000000;
            end
        end
        else begin
            delay__lane__6 = b__6;
            if (bypass) begin
                result__lane__6 = b__6;
            end
            else begin
                result__lane__6 = a__6;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__7 = (a__7 >> 32'h1) + (b__7 >> 32'h1) + ((a__7 | b__7) & 32'h1);
                delay__lane__7 = (a__7 >> 32'h1) - (b__7 >> 32'h1) + (a__7 & (b__7 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__7 = a__7 + b__7 + 64'h80000000;
                delay__lane__7 = a__7 - b__7 + 64'h80000000;
            end
        end
        else begin
            delay__lane__7 = b__7;
            if (bypass) begin
                result__lane__7 = b__7;
            end
            else begin
                result__lane__7 = a__7;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__8 = (a__8 >> 32'h1) + (b__8 >> 32'h1) + ((a__8 | b__8) & 32'h1);
                delay__lane__8 = (a__8 >> 32'h1) - (b__8 >> 32'h1) + (a__8 & (b__8 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__8 = a__8 + b__8 + 64'h80000000;
                delay__lane__8 = a__8 - b__8 + 64'h80000000;
            end
        end
        else begin
            delay__lane__8 = b__8;
            if (bypass) begin
                result__lane__8 = b__8;
            end
            else begin
                result__lane__8 = a__8;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__9 = (a__9 >> 32'h1) + (b__9 >> 32'h1) + ((a__9 | b__9) & 32'h1);
                delay__lane__9 = (a__9 >> 32'h1) - (b__9 >> 32'h1) + (a__9 & (b__9 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__9 = a__9 + b__9 + 64'h80000000;
                delay__lane__9 = a__9 - b__9 + 64'h80000000;
            end
        end
        else begin
            delay__lane__9 = b__9;
            if (bypass) begin
                result__lane__9 = b__9;
            end
            else begin
                result__lane__9 = a__9;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__10 = (a__10 >> 32'h1) + (b__10 >> 32'h1) + ((a__10 | b__10) & 32'h1);
                delay__lane__10 = (a__10 >> 32'h1) - (b__10 >> 32'h1) + (a__10 & (b__10 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__10 = a__10 + b__10 + 64'h80000000;
                delay__lane__10 = a__10 - b__10 + 64'h80000000;
            end
        end
        else begin
            delay__lane__10 = b__10;
            if (bypass) begin
                result__lane__10 = b__10;
            end
            else begin
                result__lane__10 = a__10;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__11 = (a__11 >> 32'h1) + (b__11 >> 32'h1) + ((a__11 | b__11) & 32'h1);
                delay__lane__11 = (a__11 >> 32'h1) - (b__11 >> 32'h1) + (a__11 & (b__11 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__11 = a__11 + b__11 + 64'h80000000;
                delay__lane__11 = a__11 - b__11 + 64'h80000000;
            end
        end
        else begin
            delay__lane__11 = b__11;
            if (bypass) begin
                result__lane__11 = b__11;
            end
            else begin
                result__lane__11 = a__11;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__12 = (a__12 >> 32'h1) + (b__12 >> 32'h1) + ((a__12 | b__12) & 32'h1);
                delay__lane__12 = (a__12 >> 32'h1) - (b__12 >> 32'h1) + (a__12 & (b__12 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__12 = a__12 + b__12 + 64'h80000000;
                delay__lane__12 = a__12 - b__12 + 64'h80000000;
            end
        end
        else begin
            delay__lane__12 = b__12;
            if (bypass) begin
                result__lane__12 = b__12;
            end
            else begin
                result__lane__12 = a__12;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__13 = (a__13 >> 32'h1) + (b__13 >> 32'h1) + ((a__13 | b__13) & 32'h1);
                delay__lane__13 = (a__13 >> 32'h1) - (b__13 >> 32'h1) + (a__13 & (b__13 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__13 = a__13 + b__13 + 64'h80000000;
                delay__lane__13 = a__13 - b__13 + 64'h80000000;
            end
        end
        else begin
            delay__lane__13 = b__13;
            if (bypass) begin
                result__lane__13 = b__13;
            end
            else begin
                result__lane__13 = a__13;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__14 = (a__14 >> 32'h1) + (b__14 >> 32'h1) + ((a__14 | b__14) & 32'h1);
                delay__lane__14 = (a__14 >> 32'h1) - (b__14 >> 32'h1) + (a__14 & (b__14 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__14 = a__14 + b__14 + 64'h80000000;
                delay__lane__14 = a__14 - b__14 + 64'h80000000;
            end
        end
        else begin
            delay__lane__14 = b__14;
            if (bypass) begin
                result__lane__14 = b__14;
            end
            else begin
                result__lane__14 = a__14;
            end
        end
        if (butterfly) begin
            if (halve) begin
                result__lane__15 = (a__15 >> 32'h1) + (b__15 >> 32'h1) + ((a__15 | b__15) & 32'h1);
                delay__lane__15 = (a__15 >> 32'h1) - (b__15 >> 32'h1) + (a__15 & (b__15 ^ 32'h1) & 32'h1) + 64'h80000000;
            end
            else begin
                result__lane__15 = a__15 + b__15 + 64'h80000000;
                delay__lane__15 = a__15 - b__15 + 64'h80000000;
            end
        end
        else begin
            delay__lane__15 = b__15;
            if (bypass) begin
                result__lane__15 = b__15;
            end
            else begin
                result__lane__15 = a__15;
            end
        end
        out_tag = result__out_tag;
        out_beat = result__out_beat;
    end
endmodule

module optireduce_contribute__encoder__gather__buffers(clock,read_address,read_data,write_address,write_data,write_enable);
    // Module arguments
    input wire  clock;
    input wire  [8:0] read_address;
    output reg  [511:0] read_data;
    input wire  [8:0] write_address;
    input wire  [511:0] write_data;
    input wire  write_enable;
    // Update code (custom)
    (* ram_style = "block" *) reg [511:0] mem [0:511];
    `ifndef SYNTHESIS
    integer i;
    initial for (i = 0; i <= 511; i = i + 1) mem[i] = 0;
    `endif
    initial read_data = 0;
    always @(posedge clock) begin
        read_data <= mem[read_address];
        if (write_enable) mem[write_address] <= write_data;
    end
endmodule

module optireduce_contribute__encoder__gather__st(d,q,clock);
    // Module arguments
    input wire  [194:0] d;
    output reg  [194:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 195'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_contribute__encoder__in_beat__0(clock,tag,beat,out_tag,out_beat);
    // Module arguments
    input wire  clock;
    input wire  [21:0] tag;
    input wire  [511:0] beat;
    output reg  [21:0] out_tag;
    output reg  [511:0] out_beat;
    // Constant declarations
    localparam  halve = 1'b0;
    // Stub signals
    reg  result__clock;
    reg  [21:0] result__tag;
    reg  [31:0] result__lane__0;
    reg  [31:0] result__lane__1;
    reg  [31:0] result__lane__2;
    reg  [31:0] result__lane__3;
    reg  [31:0] result__lane__4;
    reg  [31:0] result__lane__5;
    reg  [31:0] result__lane__6;
    reg  [31:0] result__lane__7;
    reg  [31:0] result__lane__8;
    reg  [31:0] result__lane__9;
    reg  [31:0] result__lane__10;
    reg  [31:0] result__lane__11;
    reg  [31:0] result__lane__12;
    reg  [31:0] result__lane__13;
    reg  [31:0] result__lane__14;
    reg  [31:0] result__lane__15;
    wire  [21:0] result__out_tag;
    wire  [511:0] result__out_beat;
    // Local signals
    reg  [31:0] a__0;
    reg  [31:0] a__1;
    reg  [31:0] a__2;
    reg  [31:0] a__3;
    reg  [31:0] a__4;
    reg  [31:0] a__5;
    reg  [31:0] a__6;
    reg  [31:0] a__7;
    reg  [31:0] b__0;
    reg  [31:0] b__1;
    reg  [31:0] b__2;
    reg  [31:0] b__3;
    reg  [31:0] b__4;
    reg  [31:0] b__5;
    reg  [31:0] b__6;
    reg  [31:0] b__7;
    // Sub module instances
    optireduce_contribute__encoder__across__0__delay result(
        .clock(result__clock),
        .tag(result__tag),
        .lane__0(result__lane__0),
        .lane__1(result__lane__1),
        .lane__2(result__lane__2),
        .lane__3(result__lane__3),
        .lane__4(result__lane__4),
        .lane__5(result__lane__5),
        .lane__6(result__lane__6),
        .lane__7(result__lane__7),
        .lane__8(result__lane__8),
        .lane__9(result__lane__9),
        .lane__10(result__lane__10),
        .lane__11(result__lane__11),
        .lane__12(result__lane__12),
        .lane__13(result__lane__13),
        .lane__14(result__lane__14),
        .lane__15(result__lane__15),
        .out_tag(result__out_tag),
        .out_beat(result__out_beat)
    );
    // Update code
    always @(*) begin
        result__clock = clock;
        result__tag = tag;
        a__0 = beat[(0 * 32'h40)+:(32)];
        b__0 = beat[(0 * 32'h40 + 32'h20)+:(32)];
        a__1 = beat[(1 * 32'h40)+:(32)];
        b__1 = beat[(1 * 32'h40 + 32'h20)+:(32)];
        a__2 = beat[(2 * 32'h40)+:(32)];
        b__2 = beat[(2 * 32'h40 + 32'h20)+:(32)];
        a__3 = beat[(3 * 32'h40)+:(32)];
        b__3 = beat[(3 * 32'h40 + 32'h20)+:(32)];
        a__4 = beat[(4 * 32'h40)+:(32)];
        b__4 = beat[(4 * 32'h40 + 32'h20)+:(32)];
        a__5 = beat[(5 * 32'h40)+:(32)];
        b__5 = beat[(5 * 32'h40 + 32'h20)+:(32)];
        a__6 = beat[(6 * 32'h40)+:(32)];
        b__6 = beat[(6 * 32'h40 + 32'h20)+:(32)];
        a__7 = beat[(7 * 32'h40)+:(32)];
        b__7 = beat[(7 * 32'h40 + 32'h20)+:(32)];
        if (halve) begin
            result__lane__0 = (a__0 >> 32'h1) + (b__0 >> 32'h1) + ((a__0 | b__0) & 32'h1);
            result__lane__8 = (a__0 >> 32'h1) - (b__0 >> 32'h1) + (a__0 & (b__0 ^ 32'h1) & 32'h1) + 64'h80000000;
        end
        else begin
            result__lane__0 = a__0 + b__0 + 64'h80000000;
            result__lane__8 = a__0 - b__0 + 64'h80000000;
        end
        if (halve) begin
            result__lane__1 = (a__1 >> 32'h1) + (b__1 >> 32'h1) + ((a__1 | b__1) & 32'h1);
            result__lane__9 = (a__1 >> 32'h1) - (b__1 >> 32'h1) + (a__1 & (b__1 ^ 32'h1) & 32'h1) + 64'h80000000;
        end
        else begin
            result__lane__1 = a__1 + b__1 + 64'h80000000;
            result__lane__9 = a__1 - b__1 + 64'h80000000;
        end
        if (halve) begin
            result__lane__2 = (a__2 >> 32'h1) + (b__2 >> 32'h1) + ((a__2 | b__2) & 32'h1);
            result__lane__10 = (a__2 >> 32'h1) - (b__2 >> 32'h1) + (a__2 & (b__2 ^ 32'h1) & 32'h1) + 64'h80000000;
        end
        else begin
            result__lane__2 = a__2 + b__2 + 64'h80000000;
            result__lane__10 = a__2 - b__2 + 64'h80000000;
        end
        if (halve) begin
            result__lane__3 = (a__3 >> 32'h1) + (b__3 >> 32'h1) + ((a__3 | b__3) & 32'h1);
            result__lane__11 = (a__3 >> 32'h1) - (b__3 >> 32'h1) + (a__3 & (b__3 ^ 32'h1) & 32'h1) + 64'h80000000;
        end
        else begin
            result__lane__3 = a__3 + b__3 + 64'h80000000;
            result__lane__11 = a__3 - b__3 + 64'h80000000;
        end
        if (halve) begin
            result__lane__4 = (a__4 >> 32'h1) + (b__4 >> 32'h1) + ((a__4 | b__4) & 32'h1);
            result__lane__12 = (a__4 >> 32'h1) - (b__4 >> 32'h1) + (a__4 & (b__4 ^ 32'h1) & 32'h1) + 64'h80000000;
        end
        else begin
            result__lane__4 = a__4 + b__4 + 64'h80000000;
            result__lane__12 = a__4 - b__4 + 64'h80000000;
        end
        if (halve) begin
            result__lane__5 = (a__5 >> 32'h1) + (b__5 >> 32'h1) + ((a__5 | b__5) & 32'h1);
            result__lane__13 = (a__5 >> 32'h1) - (b__5 >> 32'h1) + (a__5 & (b__5 ^ 32'h1) & 32'h1) + 64'h80000000;
        end
        else begin
            result__lane__5 = a__5 + b__5 + 64'h80000000;
            result__lane__13 = a__5 - b__5 + 64'h80000000;
        end
        if (halve) begin
            result__lane__6 = (a__6 >> 32'h1) + (b__6 >> 32'h1) + ((a__6 | b__6) & 32'h1);
            result__lane__14 = (a__6 >> 32'h1) - (b__6 >> 32'h1) + (a__6 & (b__6 ^ 32'h1) & 32'h1) + 64'h80000000;
        end
        else begin
            result__lane__6 = a__6 + b__6 + 64'h80000000;
            result__lane__14 = a__6 - b__6 + 64'h80000000;
        end
        if (halve) begin
            result__lane__7 = (a__7 >> 32'h1) + (b__7 >> 32'h1) + ((a__7 | b__7) & 32'h1);
            result__lane__15 = (a__7 >> 32'h1) - (b__7 >> 32'h1) + (a__7 & (b__7 ^ 32'h1) & 32'h1) + 64'h80000000;
        end
        else begin
            result__lane__7 = a__7 + b__7 + 64'h80000000;
            result__lane__15 = a__7 - b__7 + 64'h80000000;
        end
        out_tag = result__out_tag;
        out_beat = result__out_beat;
    end
endmodule

module optireduce_contribute__encoder__in_beat__1(clock,tag,beat,out_tag,out_beat);
    // Module arguments
    input wire  clock;
    input wire  [21:0] tag;
    input wire  [511:0] beat;
    output reg  [21:0] out_tag;
    output reg  [511:0] out_beat;
    // Constant declarations
    localparam  halve = 1'b1;
    // Stub signals
    reg  result__clock;
    reg  [21:0] result__tag;
    reg  [31:0] result__lane__0;
    reg  [31:0] result__lane__1;
    reg  [31:0] result__lane__2;
    reg  [31:0] result__lane__3;
    reg  [31:0] result__lane__4;
    reg  [31:0] result__lane__5;
    reg  [31:0] result__lane__6;
    reg  [31:0] result__lane__7;
    reg  [31:0] result__lane__8;
    reg  [31:0] result__lane__9;
    reg  [31:0] result__lane__10;
    reg  [31:0] result__lane__11;
    reg  [31:0] result__lane__12;
    reg  [31:0] result__lane__13;
    reg  [31:0] result__lane__14;
    reg  [31:0] result__lane__15;
    wire  [21:0] result__out_tag;
    wire  [511:0] result__out_beat;
    // Local signals
    reg  [31:0] a__0;
    reg  [31:0] a__1;
    reg  [31:0] a__2;
    reg  [31:0] a__3;
    reg  [31:0] a__4;
    reg  [31:0] a__5;
    reg  [31:0] a__6;
    reg  [31:0] a__7;
    reg  [31:0] b__0;
    reg  [31:0] b__1;
    reg  [31:0] b__2;
    reg  [31:0] b__3;
    reg  [31:0] b__4;
    reg  [31:0] b__5;
    reg  [31:0] b__6;
    reg  [31:0] b__7;
    // Sub module instances
    optireduce_contribute__encoder__across__0__delay result(
        .clock(result__clock),
        .tag(result__tag),
        .lane__0(result__lane__0),
        .lane__1(result__lane__1),
        .lane__2(result__lane__2),
        .lane__3(result__lane__3),
        .lane__4(result__lane__4),
        .lane__5(result__lane__5),
        .lane__6(result__lane__6),
        .lane__7(result__lane__7),
        .lane__8(result__lane__8),
        .lane__9(result__lane__9),
        .lane__10(result__lane__10),
        .lane__11(result__lane__11),
        .lane__12(result__lane__12),
        .lane__13(result__lane__13),
        .lane__14(result__lane__14),
        .lane__15(result__lane__15),
        .out_tag(result__out_tag),
        .out_beat(result__out_beat)
    );
    // Update code
    always @(*) begin
        result__clock = clock;
        result__tag = tag;
        a__0 = beat[(0 * 32'h40)+:(32)];
        b__0 = beat[(0 * 32'h40 + 32'h20)+:(32)];
        a__1 = beat[(1 * 32'h40)+:(32)];
        b__1 = beat[(1 * 32'h40 + 32'h20)+:(32)];
        a__2 = beat[(2 * 32'h40)+:(32)];
        b__2 = beat[(2 * 32'h40 + 32'h20)+:(32)];
        a__3 = beat[(3 * 32'h40)+:(32)];
        b__3 = beat[(3 * 32'h40 + 32'h20)+:(32)];
        a__4 = beat[(4 * 32'h40)+:(32)];
        b__4 = beat[(4 * 32'h40 + 32'h20)+:(32)];
        a__5 = beat[(5 * 32'h40)+:(32)];
        b__5 = beat[(5 * 32'h40 + 32'h20)+:(32)];
        a__6 = beat[(6 * 32'h40)+:(32)];
        b__6 = beat[(6 * 32'h40 + 32'h20)+:(32)];
        a__7 = beat[(7 * 32'h40)+:(32)];
        b__7 = beat[(7 * 32'h40 + 32'h20)+:(32)];
        if (halve) begin
            result__lane__0 = (a__0 >> 32'h1) + (b__0 >> 32'h1) + ((a__0 | b__0) & 32'h1);
            result__lane__8 = (a__0 >> 32'h1) - (b__0 >> 32'h1) + (a__0 & (b__0 ^ 32'h1) & 32'h1) + 64'h80000000;
        end
        else begin
            result__lane__0 = a__0 + b__0 + 64'h80000000;
            result__lane__8 = a__0 - b__0 + 64'h80000000;
        end
        if (halve) begin
            result__lane__1 = (a__1 >> 32'h1) + (b__1 >> 32'h1) + ((a__1 | b__1) & 32'h1);
            result__lane__9 = (a__1 >> 32'h1) - (b__1 >> 32'h1) + (a__1 & (b__1 ^ 32'h1) & 32'h1) + 64'h80000000;
        end
        else begin
            result__lane__1 = a__1 + b__1 + 64'h80000000;
            result__lane__9 = a__1 - b__1 + 64'h80000000;
        end
        if (halve) begin
            result__lane__2 = (a__2 >> 32'h1) + (b__2 >> 32'h1) + ((a__2 | b__2) & 32'h1);
            result__lane__10 = (a__2 >> 32'h1) - (b__2 >> 32'h1) + (a__2 & (b__2 ^ 32'h1) & 32'h1) + 64'h80000000;
        end
        else begin
            result__lane__2 = a__2 + b__2 + 64'h80000000;
            result__lane__10 = a__2 - b__2 + 64'h80000000;
        end
        if (halve) begin
            result__lane__3 = (a__3 >> 32'h1) + (b__3 >> 32'h1) + ((a__3 | b__3) & 32'h1);
            result__lane__11 = (a__3 >> 32'h1) - (b__3 >> 32'h1) + (a__3 & (b__3 ^ 32'h1) & 32'h1) + 64'h80000000;
        end
        else begin
            result__lane__3 = a__3 + b__3 + 64'h80000000;
            result__lane__11 = a__3 - b__3 + 64'h80000000;
        end
        if (halve) begin
            result__lane__4 = (a__4 >> 32'h1) + (b__4 >> 32'h1) + ((a__4 | b__4) & 32'h1);
            result__lane__12 = (a__4 >> 32'h1) - (b__4 >> 32'h1) + (a__4 & (b__4 ^ 32'h1) & 32'h1) + 64'h80000000;
        end
        else begin
            result__lane__4 = a__4 + b__4 + 64'h80000000;
            result__lane__12 = a__4 - b__4 + 64'h80000000;
        end
        if (halve) begin
            result__lane__5 = (a__5 >> 32'h1) + (b__5 >> 32'h1) + ((a__5 | b__5) & 32'h1);
            result__lane__13 = (a__5 >> 32'h1) - (b__5 >> 32'h1) + (a__5 & (b__5 ^ 32'h1) & 32'h1) + 64'h80000000;
        end
        else begin
            result__lane__5 = a__5 + b__5 + 64'h80000000;
            result__lane__13 = a__5 - b__5 + 64'h80000000;
        end
        if (halve) begin
            result__lane__6 = (a__6 >> 32'h1) + (b__6 >> 32'h1) + ((a__6 | b__6) & 32'h1);
            result__lane__14 = (a__6 >> 32'h1) - (b__6 >> 32'h1) + (a__6 & (b__6 ^ 32'h1) & 32'h1) + 64'h80000000;
        end
        else begin
            result__lane__6 = a__6 + b__6 + 64'h80000000;
            result__lane__14 = a__6 - b__6 + 64'h80000000;
        end
        if (halve) begin
            result__lane__7 = (a__7 >> 32'h1) + (b__7 >> 32'h1) + ((a__7 | b__7) & 32'h1);
            result__lane__15 = (a__7 >> 32'h1) - (b__7 >> 32'h1) + (a__7 & (b__7 ^ 32'h1) & 32'h1) + 64'h80000000;
        end
        else begin
            result__lane__7 = a__7 + b__7 + 64'h80000000;
            result__lane__15 = a__7 - b__7 + 64'h80000000;
        end
        out_tag = result__out_tag;
        out_beat = result__out_beat;
    end
endmodule

module optireduce_contribute__encoder__sign_source__pipe(d,q,clock);
    // Module arguments
    input wire  [326:0] d;
    output reg  [326:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 327'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_finisher__multiplier__lane__0(clock,a,b,product);
    // Module arguments
    input wire  clock;
    input wire  [31:0] a;
    input wire  [31:0] b;
    output reg  [31:0] product;
    // Stub signals
    reg  [60:0] operands__d;
    wire  [60:0] operands__q;
    reg  operands__clock;
    reg  [61:0] multiplied__d;
    wire  [61:0] multiplied__q;
    reg  multiplied__clock;
    reg  [115:0] registered__d;
    wire  [115:0] registered__q;
    reg  registered__clock;
    reg  [66:0] counted__d;
    wire  [66:0] counted__q;
    reg  counted__clock;
    reg  [36:0] normal__d;
    wire  [36:0] normal__q;
    reg  normal__clock;
    reg  [31:0] result__d;
    wire  [31:0] result__q;
    reg  result__clock;
    // Local signals
    reg  [7:0] a_exponent;
    reg  [7:0] b_exponent;
    reg  [23:0] a_mantissa;
    reg  [23:0] b_mantissa;
    reg  a_top;
    reg  b_top;
    reg  a_fraction;
    reg  b_fraction;
    reg  a_zero;
    reg  b_zero;
    reg  [8:0] exponents;
    reg  [47:0] full;
    reg  [9:0] unbiased;
    reg  [9:0] signed_exponent;
    reg  [9:0] negated;
    reg  [47:0] marker;
    reg  [47:0] above;
    reg  [47:0] lost;
    reg  [47:0] stop;
    reg  [31:0] scan32;
    reg  [15:0] scan16;
    reg  [7:0] scan8;
    reg  [3:0] scan4;
    reg  [1:0] scan2;
    reg  [5:0] left;
    reg  [47:0] shifted;
    reg  [8:0] exponent;
    reg  [23:0] mantissa;
    reg  [31:0] truncated;
    reg  [31:0] increment;
    reg  [31:0] rounded;
    reg  [31:0] magnitude;
    // Sub module instances
    optireduce_finisher__multiplier__lane__0__operands operands(
        .d(operands__d),
        .q(operands__q),
        .clock(operands__clock)
    );
    optireduce_finisher__multiplier__lane__0__multiplied multiplied(
        .d(multiplied__d),
        .q(multiplied__q),
        .clock(multiplied__clock)
    );
    optireduce_finisher__multiplier__lane__0__registered registered(
        .d(registered__d),
        .q(registered__q),
        .clock(registered__clock)
    );
    optireduce_finisher__multiplier__lane__0__counted counted(
        .d(counted__d),
        .q(counted__q),
        .clock(counted__clock)
    );
    optireduce_finisher__multiplier__lane__0__normal normal(
        .d(normal__d),
        .q(normal__q),
        .clock(normal__clock)
    );
    optireduce_finisher__multiplier__lane__0__result result(
        .d(result__d),
        .q(result__q),
        .clock(result__clock)
    );
    // Update code
    always @(*) begin
        operands__clock = clock;
        multiplied__clock = clock;
        registered__clock = clock;
        counted__clock = clock;
        normal__clock = clock;
        result__clock = clock;
        operands__d = operands__q;
        multiplied__d = multiplied__q;
        registered__d = registered__q;
        counted__d = counted__q;
        normal__d = normal__q;
        result__d = result__q;
        a_exponent = a[(32'h17)+:(8)];
        b_exponent = b[(32'h17)+:(8)];
        a_mantissa = a[(32'h0)+:(24)] | 32'h800000;
        b_mantissa = b[(32'h0)+:(24)] | 32'h800000;
        if (a_exponent == 32'h0) begin
            a_exponent = ((32'h1) & 8'hff);
            a_mantissa = a[(32'h0)+:(24)];
        end
        if (b_exponent == 32'h0) begin
            b_exponent = ((32'h1) & 8'hff);
            b_mantissa = b[(32'h0)+:(24)];
        end
        exponents = ((a_exponent) & 9'h1ff) + ((b_exponent) & 9'h1ff);
        a_top = a_exponent == 32'hff;
        b_top = b_exponent == 32'hff;
        a_fraction = a[(32'h0)+:(23)] != 32'h0;
        b_fraction = b[(32'h0)+:(23)] != 32'h0;
        a_zero = a_mantissa == 32'h0;
        b_zero = b_mantissa == 32'h0;
        operands__d[(64'h0)+:(1)] = a[32'h1f] != b[32'h1f];
        operands__d[(64'h1)+:(24)] = a_mantissa;
        operands__d[(64'h19)+:(24)] = b_mantissa;
        operands__d[(64'h31)+:(9)] = exponents;
        operands__d[(64'h3a)+:(1)] = a_zero || b_zero;
        operands__d[(64'h3b)+:(1)] = a_top || b_top;
        operands__d[(64'h3c)+:(1)] = (a_top && (a_fraction || b_zero)) || (b_top && (b_fraction || a_zero));
        full = operands__q[(64'h1)+:(24)] * operands__q[(64'h19)+:(24)];
        unbiased = ((operands__q[(64'h31)+:(9)]) & 10'h3ff) - 32'h7f;
        multiplied__d[(64'h0)+:(1)] = operands__q[(64'h0)+:(1)];
        multiplied__d[(64'h1)+:(48)] = full;
        multiplied__d[(64'h31)+:(10)] = unbiased;
        multiplied__d[(64'h3b)+:(1)] = operands__q[(64'h3a)+:(1)];
        multiplied__d[(64'h3c)+:(1)] = operands__q[(64'h3b)+:(1)];
        multiplied__d[(64'h3d)+:(1)] = operands__q[(64'h3c)+:(1)];
        signed_exponent = multiplied__q[(64'h31)+:(10)];
        negated = ((32'h0) & 10'h3ff) - signed_exponent;
        marker = ((64'h800000000000) & 48'hffffffffffff) >> signed_exponent;
        registered__d[(64'h61)+:(9)] = signed_exponent[(32'h0)+:(9)];
        registered__d[(64'h6a)+:(7)] = ((32'h0) & 7'h7f);
        if (signed_exponent[32'h9]) begin
            marker = ((64'h800000000000) & 48'hffffffffffff);
            registered__d[(64'h61)+:(9)] = ((32'h0) & 9'h1ff);
            registered__d[(64'h6a)+:(7)] = negated[(32'h0)+:(7)];
        end
        registered__d[(64'h0)+:(1)] = multiplied__q[(64'h0)+:(1)];
        registered__d[(64'h1)+:(48)] = multiplied__q[(64'h1)+:(48)];
        registered__d[(64'h31)+:(48)] = multiplied__q[(64'h1)+:(48)] | marker;
        registered__d[(64'h71)+:(1)] = multiplied__q[(64'h3b)+:(1)];
        registered__d[(64'h72)+:(1)] = multiplied__q[(64'h3c)+:(1)];
        registered__d[(64'h73)+:(1)] = multiplied__q[(64'h3d)+:(1)];
        stop = registered__q[(64'h31)+:(48)];
        left = ((32'h0) & 6'h3f);
        scan32 = stop[(32'h10)+:(32)];
        if (scan32 == 32'h0) begin
            left = ((32'h20) & 6'h3f);
            scan32 = ((stop) & 32'hffffffff) << 32'h10;
        end
        scan16 = scan32[(32'h10)+:(16)];
        if (scan16 == 32'h0) begin
            left = left | 32'h10;
            scan16 = scan32[(32'h0)+:(16)];
        end
        scan8 = scan16[(32'h8)+:(8)];
        if (scan8 == 32'h0) begin
            left = left | 32'h8;
            scan8 = scan16[(32'h0)+:(8)];
        end
        scan4 = scan8[(32'h4)+:(4)];
        if (scan4 == 32'h0) begin
            left = left | 32'h4;
            scan4 = scan8[(32'h0)+:(4)];
        end
        scan2 = scan4[(32'h2)+:(2)];
        if (scan2 == 32'h0) begin
            left = left | 32'h2;
            scan2 = scan4[(32'h0)+:(2)];
        end
        if (~scan2[32'h1]) begin
            left = left | 32'h1;
        end
        above = ((64'hffffffffffff) & 48'hffffffffffff) << registered__q[(64'h6a)+:(7)];
        lost = ~above;
        counted__d[(64'h0)+:(1)] = registered__q[(64'h0)+:(1)];
        counted__d[(64'h1)+:(48)] = registered__q[(64'h1)+:(48)] >> registered__q[(64'h6a)+:(7)];
        counted__d[(64'h31)+:(1)] = (registered__q[(64'h1)+:(48)] & lost) != 32'h0;
        counted__d[(64'h32)+:(9)] = registered__q[(64'h61)+:(9)];
        counted__d[(64'h3b)+:(6)] = left;
        if (registered__q[(64'h71)+:(1)]) begin
            counted__d[(64'h32)+:(9)] = ((32'h0) & 9'h1ff);
            counted__d[(64'h3b)+:(6)] = ((32'h0) & 6'h3f);
        end
        counted__d[(64'h41)+:(1)] = registered__q[(64'h72)+:(1)];
        counted__d[(64'h42)+:(1)] = registered__q[(64'h73)+:(1)];
        shifted = counted__q[(64'h1)+:(48)] << counted__q[(64'h3b)+:(6)];
        exponent = counted__q[(64'h32)+:(9)] - ((counted__q[(64'h3b)+:(6)]) & 9'h1ff);
        normal__d[(64'h0)+:(1)] = counted__q[(64'h0)+:(1)];
        normal__d[(64'h1)+:(9)] = exponent;
        normal__d[(64'ha)+:(24)] = shifted[(32'h18)+:(24)];
        normal__d[(64'h22)+:(1)] = shifted[32'h17] && ((shifted[(32'h0)+:(23)] != 32'h0) || counted__q[(64'h31)+:(1)] || shifted[32'h18]);
        normal__d[(64'h23)+:(1)] = counted__q[(64'h41)+:(1)];
        normal__d[(64'h24)+:(1)] = counted__q[(64'h42)+:(1)];
        mantissa = normal__q[(64'ha)+:(24)];
        truncated = ((normal__q[(64'h1)+:(9)]) & 32'hffffffff) << 32'h17;
        truncated = truncated | (((mantissa) & 32'hffffffff) & 32'h7fffff);
        increment = ((32'h0) & 32'hffffffff);
        if (mantissa[32'h17]) begin
            increment = ((32'h800000) & 32'hffffffff);
        end
        if (normal__q[(64'h22)+:(1)]) begin
            increment = increment | 32'h1;
        end
        rounded = truncated + increment;
        magnitude = rounded;
        if (normal__q[(64'h23)+:(1)] || (rounded >= 32'h7f800000)) begin
            magnitude = ((32'h7f800000) & 32'hffffffff);
        end
        result__d = magnitude;
        if (normal__q[(64'h0)+:(1)]) begin
            result__d = magnitude | 64'h80000000;
        end
        if (normal__q[(64'h24)+:(1)]) begin
            result__d = ((32'h7fc00000) & 32'hffffffff);
        end
        product = result__q;
    end
endmodule

module optireduce_lookup__key__0__key(d,q,clock);
    // Module arguments
    input wire  [73:0] d;
    output reg  [73:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 74'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_reduce__adder__lane__0(clock,a,b,sum);
    // Module arguments
    input wire  clock;
    input wire  [31:0] a;
    input wire  [31:0] b;
    output reg  [31:0] sum;
    // Stub signals
    reg  [84:0] unpacked__d;
    wire  [84:0] unpacked__q;
    reg  unpacked__clock;
    reg  [64:0] aligned__d;
    wire  [64:0] aligned__q;
    reg  aligned__clock;
    reg  [67:0] added__d;
    wire  [67:0] added__q;
    reg  added__clock;
    reg  [43:0] counted__d;
    wire  [43:0] counted__q;
    reg  counted__clock;
    reg  [35:0] normal__d;
    wire  [35:0] normal__q;
    reg  normal__clock;
    reg  [31:0] result__d;
    wire  [31:0] result__q;
    reg  result__clock;
    // Local signals
    reg  [7:0] a_exponent;
    reg  [7:0] b_exponent;
    reg  a_top;
    reg  b_top;
    reg  a_nan;
    reg  b_nan;
    reg  [23:0] lesser;
    reg  [7:0] distance;
    reg  [25:0] wide;
    reg  [25:0] kept;
    reg  [25:0] above;
    reg  [25:0] lost;
    reg  [28:0] addend;
    reg  [28:0] minuend;
    reg  [28:0] total;
    reg  [27:0] marker;
    reg  [27:0] stop;
    reg  zero16;
    reg  [15:0] scan16;
    reg  zero8;
    reg  [7:0] scan8;
    reg  zero4;
    reg  [3:0] scan4;
    reg  zero2;
    reg  [1:0] scan2;
    reg  [4:0] shift;
    reg  [27:0] shifted;
    reg  [7:0] exponent;
    reg  [23:0] mantissa;
    reg  [31:0] truncated;
    reg  [31:0] increment;
    reg  [31:0] rounded;
    reg  [31:0] magnitude;
    // Sub module instances
    optireduce_reduce__adder__lane__0__unpacked unpacked(
        .d(unpacked__d),
        .q(unpacked__q),
        .clock(unpacked__clock)
    );
    optireduce_reduce__adder__lane__0__aligned aligned(
        .d(aligned__d),
        .q(aligned__q),
        .clock(aligned__clock)
    );
    optireduce_reduce__adder__lane__0__added added(
        .d(added__d),
        .q(added__q),
        .clock(added__clock)
    );
    optireduce_reduce__adder__lane__0__counted counted(
        .d(counted__d),
        .q(counted__q),
        .clock(counted__clock)
    );
    optireduce_reduce__adder__lane__0__normal normal(
        .d(normal__d),
        .q(normal__q),
        .clock(normal__clock)
    );
    optireduce_finisher__multiplier__lane__0__result result(
        .d(result__d),
        .q(result__q),
        .clock(result__clock)
    );
    // Update code
    always @(*) begin
        unpacked__clock = clock;
        aligned__clock = clock;
        added__clock = clock;
        counted__clock = clock;
        normal__clock = clock;
        result__clock = clock;
        unpacked__d = unpacked__q;
        aligned__d = aligned__q;
        added__d = added__q;
        counted__d = counted__q;
        normal__d = normal__q;
        result__d = result__q;
        a_exponent = a[(32'h17)+:(8)];
        b_exponent = b[(32'h17)+:(8)];
        unpacked__d[(64'h12)+:(24)] = a[(32'h0)+:(24)] | 32'h800000;
        unpacked__d[(64'h2a)+:(24)] = b[(32'h0)+:(24)] | 32'h800000;
        if (a_exponent == 32'h0) begin
            a_exponent = ((32'h1) & 8'hff);
            unpacked__d[(64'h12)+:(24)] = a[(32'h0)+:(24)];
        end
        if (b_exponent == 32'h0) begin
            b_exponent = ((32'h1) & 8'hff);
            unpacked__d[(64'h2a)+:(24)] = b[(32'h0)+:(24)];
        end
        a_top = a_exponent == 32'hff;
        b_top = b_exponent == 32'hff;
        a_nan = a_top && (a[(32'h0)+:(23)] != 32'h0);
        b_nan = b_top && (b[(32'h0)+:(23)] != 32'h0);
        unpacked__d[(64'h0)+:(1)] = a[32'h1f];
        unpacked__d[(64'h1)+:(1)] = b[32'h1f];
        unpacked__d[(64'h2)+:(8)] = a_exponent;
        unpacked__d[(64'ha)+:(8)] = b_exponent;
        unpacked__d[(64'h42)+:(8)] = a_exponent - b_exponent;
        unpacked__d[(64'h4a)+:(8)] = b_exponent - a_exponent;
        unpacked__d[(64'h52)+:(1)] = a[(32'h0)+:(31)] < b[(32'h0)+:(31)];
        unpacked__d[(64'h53)+:(1)] = a_top || b_top;
        unpacked__d[(64'h54)+:(1)] = a_nan || b_nan || (a_top && b_top && (a[32'h1f] != b[32'h1f]));
        aligned__d[(64'h0)+:(1)] = unpacked__q[(64'h0)+:(1)];
        aligned__d[(64'h2)+:(8)] = unpacked__q[(64'h2)+:(8)];
        aligned__d[(64'ha)+:(24)] = unpacked__q[(64'h12)+:(24)];
        lesser = unpacked__q[(64'h2a)+:(24)];
        distance = unpacked__q[(64'h42)+:(8)];
        if (unpacked__q[(64'h52)+:(1)]) begin
            aligned__d[(64'h0)+:(1)] = unpacked__q[(64'h1)+:(1)];
            aligned__d[(64'h2)+:(8)] = unpacked__q[(64'ha)+:(8)];
            aligned__d[(64'ha)+:(24)] = unpacked__q[(64'h2a)+:(24)];
            lesser = unpacked__q[(64'h12)+:(24)];
            distance = unpacked__q[(64'h4a)+:(8)];
        end
        wide = ((lesser) & 26'h3ffffff) << 32'h2;
        kept = wide >> distance;
        above = ((32'h3ffffff) & 26'h3ffffff) << distance;
        lost = ~above;
        addend = ((kept) & 29'h1fffffff) << 32'h2;
        if ((wide & lost) != 32'h0) begin
            addend = addend | 32'h2;
        end
        aligned__d[(64'h1)+:(1)] = unpacked__q[(64'h0)+:(1)] != unpacked__q[(64'h1)+:(1)];
        if (unpacked__q[(64'h0)+:(1)] != unpacked__q[(64'h1)+:(1)]) begin
            addend = addend ^ 32'h1fffffff;
        end
        aligned__d[(64'h22)+:(29)] = addend;
        aligned__d[(64'h3f)+:(1)] = unpacked__q[(64'h53)+:(1)];
        aligned__d[(64'h40)+:(1)] = unpacked__q[(64'h54)+:(1)];
        minuend = ((aligned__q[(64'ha)+:(24)]) & 29'h1fffffff) << 32'h4;
        minuend = minuend | 32'h1;
        total = minuend + aligned__q[(64'h22)+:(29)];
        marker = ((32'h8000000) & 28'hfffffff) >> aligned__q[(64'h2)+:(8)];
        added__d[(64'h0)+:(1)] = aligned__q[(64'h0)+:(1)];
        added__d[(64'h1)+:(1)] = aligned__q[(64'h1)+:(1)];
        added__d[(64'h2)+:(8)] = aligned__q[(64'h2)+:(8)];
        added__d[(64'ha)+:(28)] = total[(32'h1)+:(28)];
        added__d[(64'h26)+:(28)] = total[(32'h1)+:(28)] | marker;
        added__d[(64'h42)+:(1)] = aligned__q[(64'h3f)+:(1)];
        added__d[(64'h43)+:(1)] = aligned__q[(64'h40)+:(1)];
        stop = added__q[(64'h26)+:(28)];
        zero16 = stop[(32'hc)+:(16)] == 32'h0;
        scan16 = stop[(32'hc)+:(16)];
        if (zero16) begin
            scan16 = ((stop) & 16'hffff) << 32'h4;
        end
        zero8 = scan16[(32'h8)+:(8)] == 32'h0;
        scan8 = scan16[(32'h8)+:(8)];
        if (zero8) begin
            scan8 = scan16[(32'h0)+:(8)];
        end
        zero4 = scan8[(32'h4)+:(4)] == 32'h0;
        scan4 = scan8[(32'h4)+:(4)];
        if (zero4) begin
            scan4 = scan8[(32'h0)+:(4)];
        end
        zero2 = scan4[(32'h2)+:(2)] == 32'h0;
        scan2 = scan4[(32'h2)+:(2)];
        if (zero2) begin
            scan2 = scan4[(32'h0)+:(2)];
        end
        shift = ((32'h0) & 5'h1f);
        if (~scan2[32'h1]) begin
            shift = ((32'h1) & 5'h1f);
        end
        if (zero2) begin
            shift = shift | 32'h2;
        end
        if (zero4) begin
            shift = shift | 32'h4;
        end
        if (zero8) begin
            shift = shift | 32'h8;
        end
        if (zero16) begin
            shift = shift | 32'h10;
        end
        counted__d[(64'h0)+:(1)] = added__q[(64'h0)+:(1)];
        counted__d[(64'h1)+:(8)] = added__q[(64'h2)+:(8)];
        counted__d[(64'h9)+:(28)] = added__q[(64'ha)+:(28)];
        counted__d[(64'h25)+:(5)] = shift;
        if (added__q[(64'ha)+:(28)] == 32'h0) begin
            counted__d[(64'h0)+:(1)] = added__q[(64'h0)+:(1)] && ~added__q[(64'h1)+:(1)];
            counted__d[(64'h1)+:(8)] = ((32'h0) & 8'hff);
            counted__d[(64'h25)+:(5)] = ((32'h0) & 5'h1f);
        end
        counted__d[(64'h2a)+:(1)] = added__q[(64'h42)+:(1)];
        counted__d[(64'h2b)+:(1)] = added__q[(64'h43)+:(1)];
        shifted = counted__q[(64'h9)+:(28)] << counted__q[(64'h25)+:(5)];
        exponent = counted__q[(64'h1)+:(8)] - ((counted__q[(64'h25)+:(5)]) & 8'hff);
        normal__d[(64'h0)+:(1)] = counted__q[(64'h0)+:(1)];
        normal__d[(64'h1)+:(8)] = exponent;
        normal__d[(64'h9)+:(24)] = shifted[(32'h4)+:(24)];
        normal__d[(64'h21)+:(1)] = shifted[32'h3] && ((shifted[(32'h0)+:(3)] != 32'h0) || shifted[32'h4]);
        normal__d[(64'h22)+:(1)] = counted__q[(64'h2a)+:(1)];
        normal__d[(64'h23)+:(1)] = counted__q[(64'h2b)+:(1)];
        mantissa = normal__q[(64'h9)+:(24)];
        truncated = ((normal__q[(64'h1)+:(8)]) & 32'hffffffff) << 32'h17;
        truncated = truncated | (((mantissa) & 32'hffffffff) & 32'h7fffff);
        increment = ((32'h0) & 32'hffffffff);
        if (mantissa[32'h17]) begin
            increment = ((32'h800000) & 32'hffffffff);
        end
        if (normal__q[(64'h21)+:(1)]) begin
            increment = increment | 32'h1;
        end
        rounded = truncated + increment;
        magnitude = rounded;
        if (normal__q[(64'h22)+:(1)] || (rounded >= 32'h7f800000)) begin
            magnitude = ((32'h7f800000) & 32'hffffffff);
        end
        result__d = magnitude;
        if (normal__q[(64'h0)+:(1)]) begin
            result__d = magnitude | 64'h80000000;
        end
        if (normal__q[(64'h23)+:(1)]) begin
            result__d = ((32'h7fc00000) & 32'hffffffff);
        end
        sum = result__q;
    end
endmodule

module optireduce_builder__orders__memory(clock,read_address,read_data,write_address,write_data,write_enable);
    // Module arguments
    input wire  clock;
    input wire  [1:0] read_address;
    output reg  [114:0] read_data;
    input wire  [1:0] write_address;
    input wire  [114:0] write_data;
    input wire  write_enable;
    // Update code (custom)
    (* ram_style = "distributed" *) reg [114:0] mem [0:3];
    `ifndef SYNTHESIS
    integer i;
    initial for (i = 0; i <= 3; i = i + 1) mem[i] = 0;
    `endif
    always @(*) read_data = mem[read_address];
    always @(posedge clock) if (write_enable) mem[write_address] <= write_data;
endmodule

module optireduce_builder__orders__state(d,q,clock);
    // Module arguments
    input wire  [47:0] d;
    output reg  [47:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 48'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_builder__outbox__memory(clock,read_address,read_data,write_address,write_data,write_enable);
    // Module arguments
    input wire  clock;
    input wire  [3:0] read_address;
    output reg  [512:0] read_data;
    input wire  [3:0] write_address;
    input wire  [512:0] write_data;
    input wire  write_enable;
    // Update code (custom)
    (* ram_style = "distributed" *) reg [512:0] mem [0:15];
    `ifndef SYNTHESIS
    integer i;
    initial for (i = 0; i <= 15; i = i + 1) mem[i] = 0;
    `endif
    always @(*) read_data = mem[read_address];
    always @(posedge clock) if (write_enable) mem[write_address] <= write_data;
endmodule

module optireduce_contribute__encoder__gather(clock,clear,start,log2n,in_valid,in_ready,in_data,in_received,go,burst,last,idle,out_tag,out_beat);
    // Module arguments
    input wire  clock;
    input wire  clear;
    input wire  start;
    input wire  [3:0] log2n;
    input wire  in_valid;
    output reg  in_ready;
    input wire  [511:0] in_data;
    input wire  in_received;
    input wire  go;
    output reg  burst;
    output reg  [9:0] last;
    output reg  idle;
    output reg  [21:0] out_tag;
    output reg  [511:0] out_beat;
    // Stub signals
    reg  [194:0] st__d;
    wire  [194:0] st__q;
    reg  st__clock;
    reg  buffers__clock;
    reg  [8:0] buffers__read_address;
    wire  [511:0] buffers__read_data;
    reg  [8:0] buffers__write_address;
    reg  [511:0] buffers__write_data;
    reg  buffers__write_enable;
    // Local signals
    reg  free;
    reg  given;
    reg  accept;
    reg  [7:0] pair__0;
    reg  [7:0] pair__1;
    reg  [7:0] pair__2;
    reg  [7:0] pair__3;
    reg  [7:0] pair__4;
    reg  [7:0] pair__5;
    reg  [7:0] pair__6;
    reg  [7:0] pair__7;
    reg  [7:0] quarter__0;
    reg  [7:0] quarter__1;
    reg  [7:0] quarter__2;
    reg  [7:0] quarter__3;
    reg  [7:0] low;
    reg  [7:0] high;
    reg  [7:0] exponent;
    reg  [7:0] field;
    reg  [10:0] received;
    reg  [8:0] scale;
    reg  [21:0] whole;
    reg  [21:0] candidate;
    reg  [21:0] spent;
    reg  commit;
    reg  [21:0] leaving;
    reg  [10:0] write_place;
    reg  [10:0] read_place;
    // Sub module instances
    optireduce_contribute__encoder__gather__st st(
        .d(st__d),
        .q(st__q),
        .clock(st__clock)
    );
    optireduce_contribute__encoder__gather__buffers buffers(
        .clock(buffers__clock),
        .read_address(buffers__read_address),
        .read_data(buffers__read_data),
        .write_address(buffers__write_address),
        .write_data(buffers__write_data),
        .write_enable(buffers__write_enable)
    );
    // Update code
    always @(*) begin
        st__clock = clock;
        st__d = st__q;
        buffers__clock = clock;
        free = st__q[(64'h0)+:(1)] && ((st__q[(64'h17)+:(1)] && ~st__q[(64'h1a)+:(1)]) || (~st__q[(64'h17)+:(1)] && ~st__q[(64'h19)+:(1)]));
        in_ready = free && ~st__q[(64'h18)+:(1)];
        given = in_received && ~st__q[(64'h18)+:(1)];
        accept = free && ((in_valid && ~st__q[(64'h18)+:(1)]) || (st__q[(64'h18)+:(1)] && (st__q[(64'hd)+:(10)] != 32'h0)));
        write_place = ((st__q[(64'hd)+:(10)]) & 11'h7ff) << 32'h1;
        if (st__q[(64'h17)+:(1)]) begin
            write_place = write_place | 32'h1;
        end
        buffers__write_address = ((write_place) & 9'h1ff);
        buffers__write_enable = accept;
        buffers__write_data = ((32'h0) & 512'hffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff);
        if (given) begin
            buffers__write_data = in_data;
        end
        if (accept) begin
            st__d[(64'hd)+:(10)] = st__q[(64'hd)+:(10)] + 32'h1;
            if (st__q[(64'hd)+:(10)] == st__q[(64'h1)+:(10)]) begin
                st__d[(64'hd)+:(10)] = ((32'h0) & 10'h3ff);
                st__d[(64'h17)+:(1)] = ~st__q[(64'h17)+:(1)];
                if (st__q[(64'h17)+:(1)]) begin
                    st__d[(64'h1a)+:(1)] = 1'b1;
                end
                else begin
                    st__d[(64'h19)+:(1)] = 1'b1;
                end
            end
        end
        pair__0 = in_data[(0 * 32'h40 + 32'h17)+:(8)];
        if (in_data[(0 * 32'h40 + 32'h37)+:(8)] > in_data[(0 * 32'h40 + 32'h17)+:(8)]) begin
            pair__0 = in_data[(0 * 32'h40 + 32'h37)+:(8)];
        end
        pair__1 = in_data[(1 * 32'h40 + 32'h17)+:(8)];
        if (in_data[(1 * 32'h40 + 32'h37)+:(8)] > in_data[(1 * 32'h40 + 32'h17)+:(8)]) begin
            pair__1 = in_data[(1 * 32'h40 + 32'h37)+:(8)];
        end
        pair__2 = in_data[(2 * 32'h40 + 32'h17)+:(8)];
        if (in_data[(2 * 32'h40 + 32'h37)+:(8)] > in_data[(2 * 32'h40 + 32'h17)+:(8)]) begin
            pair__2 = in_data[(2 * 32'h40 + 32'h37)+:(8)];
        end
        pair__3 = in_data[(3 * 32'h40 + 32'h17)+:(8)];
        if (in_data[(3 * 32'h40 + 32'h37)+:(8)] > in_data[(3 * 32'h40 + 32'h17)+:(8)]) begin
            pair__3 = in_data[(3 * 32'h40 + 32'h37)+:(8)];
        end
        pair__4 = in_data[(4 * 32'h40 + 32'h17)+:(8)];
        if (in_data[(4 * 32'h40 + 32'h37)+:(8)] > in_data[(4 * 32'h40 + 32'h17)+:(8)]) begin
            pair__4 = in_data[(4 * 32'h40 + 32'h37)+:(8)];
        end
        pair__5 = in_data[(5 * 32'h40 + 32'h17)+:(8)];
        if (in_data[(5 * 32'h40 + 32'h37)+:(8)] > in_data[(5 * 32'h40 + 32'h17)+:(8)]) begin
            pair__5 = in_data[(5 * 32'h40 + 32'h37)+:(8)];
        end
        pair__6 = in_data[(6 * 32'h40 + 32'h17)+:(8)];
        if (in_data[(6 * 32'h40 + 32'h37)+:(8)] > in_data[(6 * 32'h40 + 32'h17)+:(8)]) begin
            pair__6 = in_data[(6 * 32'h40 + 32'h37)+:(8)];
        end
        pair__7 = in_data[(7 * 32'h40 + 32'h17)+:(8)];
        if (in_data[(7 * 32'h40 + 32'h37)+:(8)] > in_data[(7 * 32'h40 + 32'h17)+:(8)]) begin
            pair__7 = in_data[(7 * 32'h40 + 32'h37)+:(8)];
        end
        quarter__0 = pair__0;
        if (pair__4 > pair__0) begin
            quarter__0 = pair__4;
        end
        quarter__1 = pair__1;
        if (pair__5 > pair__1) begin
            quarter__1 = pair__5;
        end
        quarter__2 = pair__2;
        if (pair__6 > pair__2) begin
            quarter__2 = pair__6;
        end
        quarter__3 = pair__3;
        if (pair__7 > pair__3) begin
            quarter__3 = pair__7;
        end
        st__d[(64'h1b)+:(8)] = quarter__0;
        st__d[(64'h23)+:(8)] = quarter__1;
        st__d[(64'h2b)+:(8)] = quarter__2;
        st__d[(64'h33)+:(8)] = quarter__3;
        st__d[(64'h3b)+:(1)] = accept;
        st__d[(64'h3c)+:(1)] = given;
        st__d[(64'h3d)+:(1)] = st__q[(64'hd)+:(10)] == st__q[(64'h1)+:(10)];
        low = st__q[(64'h1b)+:(8)];
        if (st__q[(64'h23)+:(8)] > st__q[(64'h1b)+:(8)]) begin
            low = st__q[(64'h23)+:(8)];
        end
        high = st__q[(64'h2b)+:(8)];
        if (st__q[(64'h33)+:(8)] > st__q[(64'h2b)+:(8)]) begin
            high = st__q[(64'h33)+:(8)];
        end
        st__d[(64'h3e)+:(8)] = low;
        if (high > low) begin
            st__d[(64'h3e)+:(8)] = high;
        end
        if (~st__q[(64'h3c)+:(1)]) begin
            st__d[(64'h3e)+:(8)] = ((32'h0) & 8'hff);
        end
        st__d[(64'h46)+:(1)] = st__q[(64'h3b)+:(1)];
        st__d[(64'h47)+:(1)] = st__q[(64'h3c)+:(1)];
        st__d[(64'h48)+:(1)] = st__q[(64'h3d)+:(1)];
        exponent = st__q[(64'h49)+:(8)];
        if (st__q[(64'h3e)+:(8)] > st__q[(64'h49)+:(8)]) begin
            exponent = st__q[(64'h3e)+:(8)];
        end
        received = st__q[(64'h51)+:(11)];
        if (st__q[(64'h47)+:(1)]) begin
            received = st__q[(64'h51)+:(11)] + 32'h1;
        end
        field = exponent;
        if (exponent == 32'h0) begin
            field = ((32'h1) & 8'hff);
        end
        scale = ((field) & 9'h1ff) + ((st__q[(64'hb)+:(2)]) & 9'h1ff);
        whole[(64'h0)+:(1)] = 1'b1;
        whole[(64'h1)+:(1)] = exponent == 32'hff;
        whole[(64'h2)+:(9)] = scale;
        whole[(64'hb)+:(11)] = received;
        if (st__q[(64'h46)+:(1)]) begin
            st__d[(64'h49)+:(8)] = exponent;
            st__d[(64'h51)+:(11)] = received;
            if (st__q[(64'h48)+:(1)]) begin
                st__d[(64'h49)+:(8)] = ((32'h0) & 8'hff);
                st__d[(64'h51)+:(11)] = ((32'h0) & 11'h7ff);
                st__d[(64'h5c)+:(1)] = ~st__q[(64'h5c)+:(1)];
                if (st__q[(64'h5c)+:(1)]) begin
                    st__d[(64'h73)+:(22)] = whole;
                end
                else begin
                    st__d[(64'h5d)+:(22)] = whole;
                end
            end
        end
        candidate = st__q[(64'h5d)+:(22)];
        if (st__q[(64'h89)+:(1)]) begin
            candidate = st__q[(64'h73)+:(22)];
        end
        spent = candidate;
        commit = candidate[(64'h0)+:(1)] && go && (~st__q[(64'h8a)+:(1)] || (st__q[(64'h8b)+:(10)] == st__q[(64'h1)+:(10)]));
        leaving = st__q[(64'h97)+:(22)];
        leaving[(64'h0)+:(1)] = st__q[(64'h8a)+:(1)];
        st__d[(64'had)+:(22)] = leaving;
        if (st__q[(64'h8a)+:(1)]) begin
            st__d[(64'h8b)+:(10)] = st__q[(64'h8b)+:(10)] + 32'h1;
            if (st__q[(64'h8b)+:(10)] == 32'h0) begin
                if (st__q[(64'h95)+:(1)]) begin
                    st__d[(64'h1a)+:(1)] = 1'b0;
                end
                else begin
                    st__d[(64'h19)+:(1)] = 1'b0;
                end
            end
            if (st__q[(64'h8b)+:(10)] == st__q[(64'h1)+:(10)]) begin
                st__d[(64'h8b)+:(10)] = ((32'h0) & 10'h3ff);
                st__d[(64'h8a)+:(1)] = 1'b0;
            end
        end
        st__d[(64'h96)+:(1)] = commit;
        if (commit) begin
            st__d[(64'h8a)+:(1)] = 1'b1;
            st__d[(64'h97)+:(22)] = candidate;
            st__d[(64'h95)+:(1)] = st__q[(64'h89)+:(1)];
            st__d[(64'h89)+:(1)] = ~st__q[(64'h89)+:(1)];
            spent[(64'h0)+:(1)] = 1'b0;
            if (st__q[(64'h89)+:(1)]) begin
                st__d[(64'h73)+:(22)] = spent;
            end
            else begin
                st__d[(64'h5d)+:(22)] = spent;
            end
        end
        read_place = ((st__q[(64'h8b)+:(10)]) & 11'h7ff) << 32'h1;
        if (st__q[(64'h95)+:(1)]) begin
            read_place = read_place | 32'h1;
        end
        buffers__read_address = ((read_place) & 9'h1ff);
        if (st__q[(64'hd)+:(10)] == 32'h0) begin
            st__d[(64'h18)+:(1)] = 1'b0;
        end
        if (clear) begin
            st__d[(64'h18)+:(1)] = 1'b1;
        end
        if (start) begin
            st__d[(64'h0)+:(1)] = 1'b1;
            st__d[(64'hb)+:(2)] = log2n[(32'h1)+:(2)];
            case (log2n)
                8:
                    begin
                        st__d[(64'h1)+:(10)] = ((32'hf) & 10'h3ff);
                    end
                10:
                    begin
                        st__d[(64'h1)+:(10)] = ((32'h3f) & 10'h3ff);
                    end
                12:
                    begin
                        st__d[(64'h1)+:(10)] = ((32'hff) & 10'h3ff);
                    end
                default:
                    begin
                        st__d[(64'h0)+:(1)] = 1'b0;
                    end
            endcase
        end
        burst = st__q[(64'h96)+:(1)];
        last = st__q[(64'h1)+:(10)];
        idle = (st__q[(64'hd)+:(10)] == 32'h0) && ~st__q[(64'h18)+:(1)] && ~st__q[(64'h19)+:(1)] && ~st__q[(64'h1a)+:(1)];
        out_tag = st__q[(64'had)+:(22)];
        out_beat = buffers__read_data;
    end
endmodule

module optireduce_contribute__encoder__sign_source(clock,start,key,take,signs);
    // Module arguments
    input wire  clock;
    input wire  start;
    input wire  [63:0] key;
    input wire  take;
    output reg  [15:0] signs;
    // Stub signals
    reg  [326:0] pipe__d;
    wire  [326:0] pipe__q;
    reg  pipe__clock;
    // Local signals
    reg  [31:0] mixed;
    // Sub module instances
    optireduce_contribute__encoder__sign_source__pipe pipe(
        .d(pipe__d),
        .q(pipe__q),
        .clock(pipe__clock)
    );
    // Update code
    always @(*) begin
        pipe__clock = clock;
        pipe__d = pipe__q;
        mixed = pipe__q[(64'h40)+:(32)] ^ pipe__q[(64'h20)+:(32)];
        if (take || ~pipe__q[(64'h66)+:(1)]) begin
            pipe__d[(64'h40)+:(32)] = pipe__q[(64'h40)+:(32)] + 32'h1;
            pipe__d[(64'h67)+:(32)] = mixed + pipe__q[(64'h0)+:(32)];
            pipe__d[(64'h87)+:(32)] = pipe__q[(64'h67)+:(32)] + 32'h7ed55d16 + (pipe__q[(64'h67)+:(32)] << 32'hc);
            pipe__d[(64'ha7)+:(32)] = pipe__q[(64'h87)+:(32)] ^ 64'hc761c23c ^ (pipe__q[(64'h87)+:(32)] >> 32'h13);
            pipe__d[(64'hc7)+:(32)] = pipe__q[(64'ha7)+:(32)] + 32'h165667b1 + (pipe__q[(64'ha7)+:(32)] << 32'h5);
            pipe__d[(64'he7)+:(32)] = (pipe__q[(64'hc7)+:(32)] + 64'hd3a2646c) ^ (pipe__q[(64'hc7)+:(32)] << 32'h9);
            pipe__d[(64'h107)+:(32)] = pipe__q[(64'he7)+:(32)] + 64'hfd7046c5 + (pipe__q[(64'he7)+:(32)] << 32'h3);
            pipe__d[(64'h127)+:(32)] = pipe__q[(64'h107)+:(32)] ^ 64'hb55a4f09 ^ (pipe__q[(64'h107)+:(32)] >> 32'h10);
            pipe__d[(64'h60)+:(1)] = 1'b1;
            pipe__d[(64'h61)+:(1)] = pipe__q[(64'h60)+:(1)];
            pipe__d[(64'h62)+:(1)] = pipe__q[(64'h61)+:(1)];
            pipe__d[(64'h63)+:(1)] = pipe__q[(64'h62)+:(1)];
            pipe__d[(64'h64)+:(1)] = pipe__q[(64'h63)+:(1)];
            pipe__d[(64'h65)+:(1)] = pipe__q[(64'h64)+:(1)];
            pipe__d[(64'h66)+:(1)] = pipe__q[(64'h65)+:(1)];
        end
        if (start) begin
            pipe__d[(64'h0)+:(32)] = key[(32'h0)+:(32)];
            pipe__d[(64'h20)+:(32)] = key[(32'h20)+:(32)];
            pipe__d[(64'h40)+:(32)] = ((32'h0) & 32'hffffffff);
            pipe__d[(64'h60)+:(1)] = 1'b0;
            pipe__d[(64'h61)+:(1)] = 1'b0;
            pipe__d[(64'h62)+:(1)] = 1'b0;
            pipe__d[(64'h63)+:(1)] = 1'b0;
            pipe__d[(64'h64)+:(1)] = 1'b0;
            pipe__d[(64'h65)+:(1)] = 1'b0;
            pipe__d[(64'h66)+:(1)] = 1'b0;
        end
        signs = ((pipe__q[(64'h127)+:(32)]) & 16'hffff);
    end
endmodule

module optireduce_contribute__encoder__to_fixed(clock,tag,beat,signs,out_tag,out_beat);
    // Module arguments
    input wire  clock;
    input wire  [21:0] tag;
    input wire  [511:0] beat;
    input wire  [15:0] signs;
    output reg  [21:0] out_tag;
    output reg  [511:0] out_beat;
    // Stub signals
    reg  aligned__clock;
    reg  [21:0] aligned__tag;
    reg  [31:0] aligned__lane__0;
    reg  [31:0] aligned__lane__1;
    reg  [31:0] aligned__lane__2;
    reg  [31:0] aligned__lane__3;
    reg  [31:0] aligned__lane__4;
    reg  [31:0] aligned__lane__5;
    reg  [31:0] aligned__lane__6;
    reg  [31:0] aligned__lane__7;
    reg  [31:0] aligned__lane__8;
    reg  [31:0] aligned__lane__9;
    reg  [31:0] aligned__lane__10;
    reg  [31:0] aligned__lane__11;
    reg  [31:0] aligned__lane__12;
    reg  [31:0] aligned__lane__13;
    reg  [31:0] aligned__lane__14;
    reg  [31:0] aligned__lane__15;
    wire  [21:0] aligned__out_tag;
    wire  [511:0] aligned__out_beat;
    reg  placed__clock;
    reg  [21:0] placed__tag;
    reg  [31:0] placed__lane__0;
    reg  [31:0] placed__lane__1;
    reg  [31:0] placed__lane__2;
    reg  [31:0] placed__lane__3;
    reg  [31:0] placed__lane__4;
    reg  [31:0] placed__lane__5;
    reg  [31:0] placed__lane__6;
    reg  [31:0] placed__lane__7;
    reg  [31:0] placed__lane__8;
    reg  [31:0] placed__lane__9;
    reg  [31:0] placed__lane__10;
    reg  [31:0] placed__lane__11;
    reg  [31:0] placed__lane__12;
    reg  [31:0] placed__lane__13;
    reg  [31:0] placed__lane__14;
    reg  [31:0] placed__lane__15;
    wire  [21:0] placed__out_tag;
    wire  [511:0] placed__out_beat;
    reg  rounded__clock;
    reg  [21:0] rounded__tag;
    reg  [31:0] rounded__lane__0;
    reg  [31:0] rounded__lane__1;
    reg  [31:0] rounded__lane__2;
    reg  [31:0] rounded__lane__3;
    reg  [31:0] rounded__lane__4;
    reg  [31:0] rounded__lane__5;
    reg  [31:0] rounded__lane__6;
    reg  [31:0] rounded__lane__7;
    reg  [31:0] rounded__lane__8;
    reg  [31:0] rounded__lane__9;
    reg  [31:0] rounded__lane__10;
    reg  [31:0] rounded__lane__11;
    reg  [31:0] rounded__lane__12;
    reg  [31:0] rounded__lane__13;
    reg  [31:0] rounded__lane__14;
    reg  [31:0] rounded__lane__15;
    wire  [21:0] rounded__out_tag;
    wire  [511:0] rounded__out_beat;
    // Local signals
    reg  [31:0] scale;
    reg  [31:0] float__0;
    reg  [31:0] float__1;
    reg  [31:0] float__2;
    reg  [31:0] float__3;
    reg  [31:0] float__4;
    reg  [31:0] float__5;
    reg  [31:0] float__6;
    reg  [31:0] float__7;
    reg  [31:0] float__8;
    reg  [31:0] float__9;
    reg  [31:0] float__10;
    reg  [31:0] float__11;
    reg  [31:0] float__12;
    reg  [31:0] float__13;
    reg  [31:0] float__14;
    reg  [31:0] float__15;
    reg  [31:0] exponent__0;
    reg  [31:0] exponent__1;
    reg  [31:0] exponent__2;
    reg  [31:0] exponent__3;
    reg  [31:0] exponent__4;
    reg  [31:0] exponent__5;
    reg  [31:0] exponent__6;
    reg  [31:0] exponent__7;
    reg  [31:0] exponent__8;
    reg  [31:0] exponent__9;
    reg  [31:0] exponent__10;
    reg  [31:0] exponent__11;
    reg  [31:0] exponent__12;
    reg  [31:0] exponent__13;
    reg  [31:0] exponent__14;
    reg  [31:0] exponent__15;
    reg  [31:0] distance__0;
    reg  [31:0] distance__1;
    reg  [31:0] distance__2;
    reg  [31:0] distance__3;
    reg  [31:0] distance__4;
    reg  [31:0] distance__5;
    reg  [31:0] distance__6;
    reg  [31:0] distance__7;
    reg  [31:0] distance__8;
    reg  [31:0] distance__9;
    reg  [31:0] distance__10;
    reg  [31:0] distance__11;
    reg  [31:0] distance__12;
    reg  [31:0] distance__13;
    reg  [31:0] distance__14;
    reg  [31:0] distance__15;
    reg  [31:0] hidden__0;
    reg  [31:0] hidden__1;
    reg  [31:0] hidden__2;
    reg  [31:0] hidden__3;
    reg  [31:0] hidden__4;
    reg  [31:0] hidden__5;
    reg  [31:0] hidden__6;
    reg  [31:0] hidden__7;
    reg  [31:0] hidden__8;
    reg  [31:0] hidden__9;
    reg  [31:0] hidden__10;
    reg  [31:0] hidden__11;
    reg  [31:0] hidden__12;
    reg  [31:0] hidden__13;
    reg  [31:0] hidden__14;
    reg  [31:0] hidden__15;
    reg  [31:0] flip__0;
    reg  [31:0] flip__1;
    reg  [31:0] flip__2;
    reg  [31:0] flip__3;
    reg  [31:0] flip__4;
    reg  [31:0] flip__5;
    reg  [31:0] flip__6;
    reg  [31:0] flip__7;
    reg  [31:0] flip__8;
    reg  [31:0] flip__9;
    reg  [31:0] flip__10;
    reg  [31:0] flip__11;
    reg  [31:0] flip__12;
    reg  [31:0] flip__13;
    reg  [31:0] flip__14;
    reg  [31:0] flip__15;
    reg  [31:0] parts__0;
    reg  [31:0] parts__1;
    reg  [31:0] parts__2;
    reg  [31:0] parts__3;
    reg  [31:0] parts__4;
    reg  [31:0] parts__5;
    reg  [31:0] parts__6;
    reg  [31:0] parts__7;
    reg  [31:0] parts__8;
    reg  [31:0] parts__9;
    reg  [31:0] parts__10;
    reg  [31:0] parts__11;
    reg  [31:0] parts__12;
    reg  [31:0] parts__13;
    reg  [31:0] parts__14;
    reg  [31:0] parts__15;
    reg  [31:0] mantissa__0;
    reg  [31:0] mantissa__1;
    reg  [31:0] mantissa__2;
    reg  [31:0] mantissa__3;
    reg  [31:0] mantissa__4;
    reg  [31:0] mantissa__5;
    reg  [31:0] mantissa__6;
    reg  [31:0] mantissa__7;
    reg  [31:0] mantissa__8;
    reg  [31:0] mantissa__9;
    reg  [31:0] mantissa__10;
    reg  [31:0] mantissa__11;
    reg  [31:0] mantissa__12;
    reg  [31:0] mantissa__13;
    reg  [31:0] mantissa__14;
    reg  [31:0] mantissa__15;
    reg  [31:0] shifted__0;
    reg  [31:0] shifted__1;
    reg  [31:0] shifted__2;
    reg  [31:0] shifted__3;
    reg  [31:0] shifted__4;
    reg  [31:0] shifted__5;
    reg  [31:0] shifted__6;
    reg  [31:0] shifted__7;
    reg  [31:0] shifted__8;
    reg  [31:0] shifted__9;
    reg  [31:0] shifted__10;
    reg  [31:0] shifted__11;
    reg  [31:0] shifted__12;
    reg  [31:0] shifted__13;
    reg  [31:0] shifted__14;
    reg  [31:0] shifted__15;
    reg  [31:0] kept__0;
    reg  [31:0] kept__1;
    reg  [31:0] kept__2;
    reg  [31:0] kept__3;
    reg  [31:0] kept__4;
    reg  [31:0] kept__5;
    reg  [31:0] kept__6;
    reg  [31:0] kept__7;
    reg  [31:0] kept__8;
    reg  [31:0] kept__9;
    reg  [31:0] kept__10;
    reg  [31:0] kept__11;
    reg  [31:0] kept__12;
    reg  [31:0] kept__13;
    reg  [31:0] kept__14;
    reg  [31:0] kept__15;
    reg  [31:0] up__0;
    reg  [31:0] up__1;
    reg  [31:0] up__2;
    reg  [31:0] up__3;
    reg  [31:0] up__4;
    reg  [31:0] up__5;
    reg  [31:0] up__6;
    reg  [31:0] up__7;
    reg  [31:0] up__8;
    reg  [31:0] up__9;
    reg  [31:0] up__10;
    reg  [31:0] up__11;
    reg  [31:0] up__12;
    reg  [31:0] up__13;
    reg  [31:0] up__14;
    reg  [31:0] up__15;
    reg  [31:0] unrounded__0;
    reg  [31:0] unrounded__1;
    reg  [31:0] unrounded__2;
    reg  [31:0] unrounded__3;
    reg  [31:0] unrounded__4;
    reg  [31:0] unrounded__5;
    reg  [31:0] unrounded__6;
    reg  [31:0] unrounded__7;
    reg  [31:0] unrounded__8;
    reg  [31:0] unrounded__9;
    reg  [31:0] unrounded__10;
    reg  [31:0] unrounded__11;
    reg  [31:0] unrounded__12;
    reg  [31:0] unrounded__13;
    reg  [31:0] unrounded__14;
    reg  [31:0] unrounded__15;
    reg  [31:0] magnitude__0;
    reg  [31:0] magnitude__1;
    reg  [31:0] magnitude__2;
    reg  [31:0] magnitude__3;
    reg  [31:0] magnitude__4;
    reg  [31:0] magnitude__5;
    reg  [31:0] magnitude__6;
    reg  [31:0] magnitude__7;
    reg  [31:0] magnitude__8;
    reg  [31:0] magnitude__9;
    reg  [31:0] magnitude__10;
    reg  [31:0] magnitude__11;
    reg  [31:0] magnitude__12;
    reg  [31:0] magnitude__13;
    reg  [31:0] magnitude__14;
    reg  [31:0] magnitude__15;
    // Sub module instances
    optireduce_contribute__encoder__across__0__delay aligned(
        .clock(aligned__clock),
        .tag(aligned__tag),
        .lane__0(aligned__lane__0),
        .lane__1(aligned__lane__1),
        .lane__2(aligned__lane__2),
        .lane__3(aligned__lane__3),
        .lane__4(aligned__lane__4),
        .lane__5(aligned__lane__5),
        .lane__6(aligned__lane__6),
        .lane__7(aligned__lane__7),
        .lane__8(aligned__lane__8),
        .lane__9(aligned__lane__9),
        .lane__10(aligned__lane__10),
        .lane__11(aligned__lane__11),
        .lane__12(aligned__lane__12),
        .lane__13(aligned__lane__13),
        .lane__14(aligned__lane__14),
        .lane__15(aligned__lane__15),
        .out_tag(aligned__out_tag),
        .out_beat(aligned__out_beat)
    );
    optireduce_contribute__encoder__across__0__delay placed(
        .clock(placed__clock),
        .tag(placed__tag),
        .lane__0(placed__lane__0),
        .lane__1(placed__lane__1),
        .lane__2(placed__lane__2),
        .lane__3(placed__lane__3),
        .lane__4(placed__lane__4),
        .lane__5(placed__lane__5),
        .lane__6(placed__lane__6),
        .lane__7(placed__lane__7),
        .lane__8(placed__lane__8),
        .lane__9(placed__lane__9),
        .lane__10(placed__lane__10),
        .lane__11(placed__lane__11),
        .lane__12(placed__lane__12),
        .lane__13(placed__lane__13),
        .lane__14(placed__lane__14),
        .lane__15(placed__lane__15),
        .out_tag(placed__out_tag),
        .out_beat(placed__out_beat)
    );
    optireduce_contribute__encoder__across__0__delay rounded(
        .clock(rounded__clock),
        .tag(rounded__tag),
        .lane__0(rounded__lane__0),
        .lane__1(rounded__lane__1),
        .lane__2(rounded__lane__2),
        .lane__3(rounded__lane__3),
        .lane__4(rounded__lane__4),
        .lane__5(rounded__lane__5),
        .lane__6(rounded__lane__6),
        .lane__7(rounded__lane__7),
        .lane__8(rounded__lane__8),
        .lane__9(rounded__lane__9),
        .lane__10(rounded__lane__10),
        .lane__11(rounded__lane__11),
        .lane__12(rounded__lane__12),
        .lane__13(rounded__lane__13),
        .lane__14(rounded__lane__14),
        .lane__15(rounded__lane__15),
        .out_tag(rounded__out_tag),
        .out_beat(rounded__out_beat)
    );
    // Update code
    always @(*) begin
        aligned__clock = clock;
        placed__clock = clock;
        rounded__clock = clock;
        aligned__tag = tag;
        scale = ((tag[(64'h2)+:(9)]) & 32'hffffffff);
        float__0 = beat[(0 * 32'h20)+:(32)];
        float__1 = beat[(1 * 32'h20)+:(32)];
        float__2 = beat[(2 * 32'h20)+:(32)];
        float__3 = beat[(3 * 32'h20)+:(32)];
        float__4 = beat[(4 * 32'h20)+:(32)];
        float__5 = beat[(5 * 32'h20)+:(32)];
        float__6 = beat[(6 * 32'h20)+:(32)];
        float__7 = beat[(7 * 32'h20)+:(32)];
        float__8 = beat[(8 * 32'h20)+:(32)];
        float__9 = beat[(9 * 32'h20)+:(32)];
        float__10 = beat[(10 * 32'h20)+:(32)];
        float__11 = beat[(11 * 32'h20)+:(32)];
        float__12 = beat[(12 * 32'h20)+:(32)];
        float__13 = beat[(13 * 32'h20)+:(32)];
        float__14 = beat[(14 * 32'h20)+:(32)];
        float__15 = beat[(15 * 32'h20)+:(32)];
        exponent__0 = (float__0 >> 32'h17) & 32'hff;
        if (exponent__0 == 32'h0) begin
            distance__0 = scale - 32'h1;
            hidden__0 = ((32'h0) & 32'hffffffff);
        end
        else begin
            distance__0 = scale - exponent__0;
            hidden__0 = ((32'h800000) & 32'hffffffff);
        end
        if (distance__0 > 32'h1f) begin
            distance__0 = ((32'h1f) & 32'hffffffff);
        end
        flip__0 = ((32'h0) & 32'hffffffff);
        if (signs[0]) begin
            flip__0 = ((64'h80000000) & 32'hffffffff);
        end
        aligned__lane__0 = ((float__0 & 64'h807fffff) ^ flip__0) | hidden__0 | (distance__0 << 32'h18);
        exponent__1 = (float__1 >> 32'h17) & 32'hff;
        if (exponent__1 == 32'h0) begin
            distance__1 = scale - 32'h1;
            hidden__1 = ((32'h0) & 32'hffffffff);
        end
        else begin
            distance__1 = scale - exponent__1;
            hidden__1 = ((32'h800000) & 32'hffffffff);
        end
        if (distance__1 > 32'h1f) begin
            distance__1 = ((32'h1f) & 32'hffffffff);
        end
        flip__1 = ((32'h0) & 32'hffffffff);
        if (signs[1]) begin
            flip__1 = ((64'h80000000) & 32'hffffffff);
        end
        aligned__lane__1 = ((float__1 & 64'h807fffff) ^ flip__1) | hidden__1 | (distance__1 << 32'h18);
        exponent__2 = (float__2 >> 32'h17) & 32'hff;
        if (exponent__2 == 32'h0) begin
            distance__2 = scale - 32'h1;
            hidden__2 = ((32'h0) & 32'hffffffff);
        end
        else begin
            distance__2 = scale - exponent__2;
            hidden__2 = ((32'h800000) & 32'hffffffff);
        end
        if (distance__2 > 32'h1f) begin
            distance__2 = ((32'h1f) & 32'hffffffff);
        end
        flip__2 = ((32'h0) & 32'hffffffff);
        if (signs[2]) begin
            flip__2 = ((64'h80000000) & 32'hffffffff);
        end
        aligned__lane__2 = ((float__2 & 64'h807fffff) ^ flip__2) | hidden__2 | (distance__2 << 32'h18);
        exponent__3 = (float__3 >> 32'h17) & 32'hff;
        if (exponent__3 == 32'h0) begin
            distance__3 = scale - 32'h1;
            hidden__3 = ((32'h0) & 32'hffffffff);
        end
        else begin
            distance__3 = scale - exponent__3;
            hidden__3 = ((32'h800000) & 32'hffffffff);
        end
        if (distance__3 > 32'h1f) begin
            distance__3 = ((32'h1f) & 32'hffffffff);
        end
        flip__3 = ((32'h0) & 32'hffffffff);
        if (signs[3]) begin
            flip__3 = ((64'h80000000) & 32'hffffffff);
        end
        aligned__lane__3 = ((float__3 & 64'h807fffff) ^ flip__3) | hidden__3 | (distance__3 << 32'h18);
        exponent__4 = (float__4 >> 32'h17) & 32'hff;
        if (exponent__4 == 32'h0) begin
            distance__4 = scale - 32'h1;
            hidden__4 = ((32'h0) & 32'hffffffff);
        end
        else begin
            distance__4 = scale - exponent__4;
            hidden__4 = ((32'h800000) & 32'hffffffff);
        end
        if (distance__4 > 32'h1f) begin
            distance__4 = ((32'h1f) & 32'hffffffff);
        end
        flip__4 = ((32'h0) & 32'hffffffff);
        if (signs[4]) begin
            flip__4 = ((64'h80000000) & 32'hffffffff);
        end
        aligned__lane__4 = ((float__4 & 64'h807fffff) ^ flip__4) | hidden__4 | (distance__4 << 32'h18);
        exponent__5 = (float__5 >> 32'h17) & 32'hff;
        if (exponent__5 == 32'h0) begin
            distance__5 = scale - 32'h1;
            hidden__5 = ((32'h0) & 32'hffffffff);
        end
        else begin
            distance__5 = scale - exponent__5;
            hidden__5 = ((32'h800000) & 32'hffffffff);
        end
        if (distance__5 > 32'h1f) begin
            distance__5 = ((32'h1f) & 32'hffffffff);
        end
        flip__5 = ((32'h0) & 32'hffffffff);
        if (signs[5]) begin
            flip__5 = ((64'h80000000) & 32'hffffffff);
        end
        aligned__lane__5 = ((float__5 & 64'h807fffff) ^ flip__5) | hidden__5 | (distance__5 << 32'h18);
        exponent__6 = (float__6 >> 32'h17) & 32'hff;
        if (exponent__6 == 32'h0) begin
            distance__6 = scale - 32'h1;
            hidden__6 = ((32'h0) & 32'hffffffff);
        end
        else begin
            distance__6 = scale - exponent__6;
            hidden__6 = ((32'h800000) & 32'hffffffff);
        end
        if (distance__6 > 32'h1f) begin
            distance__6 = ((32'h1f) & 32'hffffffff);
        end
        flip__6 = ((32'h0) & 32'hffffffff);
        if (signs[6]) begin
            flip__6 = ((64'h80000000) & 32'hffffffff);
        end
        aligned__lane__6 = ((float__6 & 64'h807fffff) ^ flip__6) | hidden__6 | (distance__6 << 32'h18);
        exponent__7 = (float__7 >> 32'h17) & 32'hff;
        if (exponent__7 == 32'h0) begin
            distance__7 = scale - 32'h1;
            hidden__7 = ((32'h0) & 32'hffffffff);
        end
        else begin
            distance__7 = scale - exponent__7;
            hidden__7 = ((32'h800000) & 32'hffffffff);
        end
        if (distance__7 > 32'h1f) begin
            distance__7 = ((32'h1f) & 32'hffffffff);
        end
        flip__7 = ((32'h0) & 32'hffffffff);
        if (signs[7]) begin
            flip__7 = ((64'h80000000) & 32'hffffffff);
        end
        aligned__lane__7 = ((float__7 & 64'h807fffff) ^ flip__7) | hidden__7 | (distance__7 << 32'h18);
        exponent__8 = (float__8 >> 32'h17) & 32'hff;
        if (exponent__8 == 32'h0) begin
            distance__8 = scale - 32'h1;
            hidden__8 = ((32'h0) & 32'hffffffff);
        end
        else begin
            distance__8 = scale - exponent__8;
            hidden__8 = ((32'h800000) & 32'hffffffff);
        end
        if (distance__8 > 32'h1f) begin
            distance__8 = ((32'h1f) & 32'hffffffff);
        end
        flip__8 = ((32'h0) & 32'hffffffff);
        if (signs[8]) begin
            flip__8 = ((64'h80000000) & 32'hffffffff);
        end
        aligned__lane__8 = ((float__8 & 64'h807fffff) ^ flip__8) | hidden__8 | (distance__8 << 32'h18);
        exponent__9 = (float__9 >> 32'h17) & 32'hff;
        if (exponent__9 == 32'h0) begin
            distance__9 = scale - 32'h1;
            hidden__9 = ((32'h0) & 32'hffffffff);
        end
        else begin
            distance__9 = scale - exponent__9;
            hidden__9 = ((32'h800000) & 32'hffffffff);
        end
        if (distance__9 > 32'h1f) begin
            distance__9 = ((32'h1f) & 32'hffffffff);
        end
        flip__9 = ((32'h0) & 32'hffffffff);
        if (signs[9]) begin
            flip__9 = ((64'h80000000) & 32'hffffffff);
        end
        aligned__lane__9 = ((float__9 & 64'h807fffff) ^ flip__9) | hidden__9 | (distance__9 << 32'h18);
        exponent__10 = (float__10 >> 32'h17) & 32'hff;
        if (exponent__10 == 32'h0) begin
            distance__10 = scale - 32'h1;
            hidden__10 = ((32'h0) & 32'hffffffff);
        end
        else begin
            distance__10 = scale - exponent__10;
            hidden__10 = ((32'h800000) & 32'hffffffff);
        end
        if (distance__10 > 32'h1f) begin
            distance__10 = ((32'h1f) & 32'hffffffff);
        end
        flip__10 = ((32'h0) & 32'hffffffff);
        if (signs[10]) begin
            flip__10 = ((64'h80000000) & 32'hffffffff);
        end
        aligned__lane__10 = ((float__10 & 64'h807fffff) ^ flip__10) | hidden__10 | (distance__10 << 32'h18);
        exponent__11 = (float__11 >> 32'h17) & 32'hff;
        if (exponent__11 == 32'h0) begin
            distance__11 = scale - 32'h1;
            hidden__11 = ((32'h0) & 32'hffffffff);
        end
        else begin
            distance__11 = scale - exponent__11;
            hidden__11 = ((32'h800000) & 32'hffffffff);
        end
        if (distance__11 > 32'h1f) begin
            distance__11 = ((32'h1f) & 32'hffffffff);
        end
        flip__11 = ((32'h0) & 32'hffffffff);
        if (signs[11]) begin
            flip__11 = ((64'h80000000) & 32'hffffffff);
        end
        aligned__lane__11 = ((float__11 & 64'h807fffff) ^ flip__11) | hidden__11 | (distance__11 << 32'h18);
        exponent__12 = (float__12 >> 32'h17) & 32'hff;
        if (exponent__12 == 32'h0) begin
            distance__12 = scale - 32'h1;
            hidden__12 = ((32'h0) & 32'hffffffff);
        end
        else begin
            distance__12 = scale - exponent__12;
            hidden__12 = ((32'h800000) & 32'hffffffff);
        end
        if (distance__12 > 32'h1f) begin
            distance__12 = ((32'h1f) & 32'hffffffff);
        end
        flip__12 = ((32'h0) & 32'hffffffff);
        if (signs[12]) begin
            flip__12 = ((64'h80000000) & 32'hffffffff);
        end
        aligned__lane__12 = ((float__12 & 64'h807fffff) ^ flip__12) | hidden__12 | (distance__12 << 32'h18);
        exponent__13 = (float__13 >> 32'h17) & 32'hff;
        if (exponent__13 == 32'h0) begin
            distance__13 = scale - 32'h1;
            hidden__13 = ((32'h0) & 32'hffffffff);
        end
        else begin
            distance__13 = scale - exponent__13;
            hidden__13 = ((32'h800000) & 32'hffffffff);
        end
        if (distance__13 > 32'h1f) begin
            distance__13 = ((32'h1f) & 32'hffffffff);
        end
        flip__13 = ((32'h0) & 32'hffffffff);
        if (signs[13]) begin
            flip__13 = ((64'h80000000) & 32'hffffffff);
        end
        aligned__lane__13 = ((float__13 & 64'h807fffff) ^ flip__13) | hidden__13 | (distance__13 << 32'h18);
        exponent__14 = (float__14 >> 32'h17) & 32'hff;
        if (exponent__14 == 32'h0) begin
            distance__14 = scale - 32'h1;
            hidden__14 = ((32'h0) & 32'hffffffff);
        end
        else begin
            distance__14 = scale - exponent__14;
            hidden__14 = ((32'h800000) & 32'hffffffff);
        end
        if (distance__14 > 32'h1f) begin
            distance__14 = ((32'h1f) & 32'hffffffff);
        end
        flip__14 = ((32'h0) & 32'hffffffff);
        if (signs[14]) begin
            flip__14 = ((64'h80000000) & 32'hffffffff);
        end
        aligned__lane__14 = ((float__14 & 64'h807fffff) ^ flip__14) | hidden__14 | (distance__14 << 32'h18);
        exponent__15 = (float__15 >> 32'h17) & 32'hff;
        if (exponent__15 == 32'h0) begin
            distance__15 = scale - 32'h1;
            hidden__15 = ((32'h0) & 32'hffffffff);
        end
        else begin
            distance__15 = scale - exponent__15;
            hidden__15 = ((32'h800000) & 32'hffffffff);
        end
        if (distance__15 > 32'h1f) begin
            distance__15 = ((32'h1f) & 32'hffffffff);
        end
        flip__15 = ((32'h0) & 32'hffffffff);
        if (signs[15]) begin
            flip__15 = ((64'h80000000) & 32'hffffffff);
        end
        aligned__lane__15 = ((float__15 & 64'h807fffff) ^ flip__15) | hidden__15 | (distance__15 << 32'h18);
        placed__tag = aligned__out_tag;
        parts__0 = aligned__out_beat[(0 * 32'h20)+:(32)];
        parts__1 = aligned__out_beat[(1 * 32'h20)+:(32)];
        parts__2 = aligned__out_beat[(2 * 32'h20)+:(32)];
        parts__3 = aligned__out_beat[(3 * 32'h20)+:(32)];
        parts__4 = aligned__out_beat[(4 * 32'h20)+:(32)];
        parts__5 = aligned__out_beat[(5 * 32'h20)+:(32)];
        parts__6 = aligned__out_beat[(6 * 32'h20)+:(32)];
        parts__7 = aligned__out_beat[(7 * 32'h20)+:(32)];
        parts__8 = aligned__out_beat[(8 * 32'h20)+:(32)];
        parts__9 = aligned__out_beat[(9 * 32'h20)+:(32)];
        parts__10 = aligned__out_beat[(10 * 32'h20)+:(32)];
        parts__11 = aligned__out_beat[(11 * 32'h20)+:(32)];
        parts__12 = aligned__out_beat[(12 * 32'h20)+:(32)];
        parts__13 = aligned__out_beat[(13 * 32'h20)+:(32)];
        parts__14 = aligned__out_beat[(14 * 32'h20)+:(32)];
        parts__15 = aligned__out_beat[(15 * 32'h20)+:(32)];
        mantissa__0 = parts__0 << 32'h8;
        shifted__0 = mantissa__0 >> parts__0[(32'h18)+:(5)];
        kept__0 = ((64'hffffffff) & 32'hffffffff) << parts__0[(32'h18)+:(5)];
        kept__0 = kept__0 & mantissa__0;
        up__0 = ((32'h0) & 32'hffffffff);
        if (shifted__0[32'h5] && (shifted__0[32'h6] || (shifted__0[(32'h0)+:(5)] != 32'h0) || (kept__0 != mantissa__0))) begin
            up__0 = ((32'h40000000) & 32'hffffffff);
        end
        placed__lane__0 = (parts__0 & 64'h80000000) | up__0 | (shifted__0 >> 32'h6);
        mantissa__1 = parts__1 << 32'h8;
        shifted__1 = mantissa__1 >> parts__1[(32'h18)+:(5)];
        kept__1 = ((64'hffffffff) & 32'hffffffff) << parts__1[(32'h18)+:(5)];
        kept__1 = kept__1 & mantissa__1;
        up__1 = ((32'h0) & 32'hffffffff);
        if (shifted__1[32'h5] && (shifted__1[32'h6] || (shifted__1[(32'h0)+:(5)] != 32'h0) || (kept__1 != mantissa__1))) begin
            up__1 = ((32'h40000000) & 32'hffffffff);
        end
        placed__lane__1 = (parts__1 & 64'h80000000) | up__1 | (shifted__1 >> 32'h6);
        mantissa__2 = parts__2 << 32'h8;
        shifted__2 = mantissa__2 >> parts__2[(32'h18)+:(5)];
        kept__2 = ((64'hffffffff) & 32'hffffffff) << parts__2[(32'h18)+:(5)];
        kept__2 = kept__2 & mantissa__2;
        up__2 = ((32'h0) & 32'hffffffff);
        if (shifted__2[32'h5] && (shifted__2[32'h6] || (shifted__2[(32'h0)+:(5)] != 32'h0) || (kept__2 != mantissa__2))) begin
            up__2 = ((32'h40000000) & 32'hffffffff);
        end
        placed__lane__2 = (parts__2 & 64'h80000000) | up__2 | (shifted__2 >> 32'h6);
        mantissa__3 = parts__3 << 32'h8;
        shifted__3 = mantissa__3 >> parts__3[(32'h18)+:(5)];
        kept__3 = ((64'hffffffff) & 32'hffffffff) << parts__3[(32'h18)+:(5)];
        kept__3 = kept__3 & mantissa__3;
        up__3 = ((32'h0) & 32'hffffffff);
        if (shifted__3[32'h5] && (shifted__3[32'h6] || (shifted__3[(32'h0)+:(5)] != 32'h0) || (kept__3 != mantissa__3))) begin
            up__3 = ((32'h40000000) & 32'hffffffff);
        end
        placed__lane__3 = (parts__3 & 64'h80000000) | up__3 | (shifted__3 >> 32'h6);
        mantissa__4 = parts__4 << 32'h8;
        shifted__4 = mantissa__4 >> parts__4[(32'h18)+:(5)];
        kept__4 = ((64'hffffffff) & 32'hffffffff) << parts__4[(32'h18)+:(5)];
        kept__4 = kept__4 & mantissa__4;
        up__4 = ((32'h0) & 32'hffffffff);
        if (shifted__4[32'h5] && (shifted__4[32'h6] || (shifted__4[(32'h0)+:(5)] != 32'h0) || (kept__4 != mantissa__4))) begin
            up__4 = ((32'h40000000) & 32'hffffffff);
        end
        placed__lane__4 = (parts__4 & 64'h80000000) | up__4 | (shifted__4 >> 32'h6);
        mantissa__5 = parts__5 << 32'h8;
        shifted__5 = mantissa__5 >> parts__5[(32'h18)+:(5)];
        kept__5 = ((64'hffffffff) & 32'hffffffff) << parts__5[(32'h18)+:(5)];
        kept__5 = kept__5 & mantissa__5;
        up__5 = ((32'h0) & 32'hffffffff);
        if (shifted__5[32'h5] && (shifted__5[32'h6] || (shifted__5[(32'h0)+:(5)] != 32'h0) || (kept__5 != mantissa__5))) begin
            up__5 = ((32'h40000000) & 32'hffffffff);
        end
        placed__lane__5 = (parts__5 & 64'h80000000) | up__5 | (shifted__5 >> 32'h6);
        mantissa__6 = parts__6 << 32'h8;
        shifted__6 = mantissa__6 >> parts__6[(32'h18)+:(5)];
        kept__6 = ((64'hffffffff) & 32'hffffffff) << parts__6[(32'h18)+:(5)];
        kept__6 = kept__6 & mantissa__6;
        up__6 = ((32'h0) & 32'hffffffff);
        if (shifted__6[32'h5] && (shifted__6[32'h6] || (shifted__6[(32'h0)+:(5)] != 32'h0) || (kept__6 != mantissa__6))) begin
            up__6 = ((32'h40000000) & 32'hffffffff);
        end
        placed__lane__6 = (parts__6 & 64'h80000000) | up__6 | (shifted__6 >> 32'h6);
        mantissa__7 = parts__7 << 32'h8;
        shifted__7 = mantissa__7 >> parts__7[(32'h18)+:(5)];
        kept__7 = ((64'hffffffff) & 32'hffffffff) << parts__7[(32'h18)+:(5)];
        kept__7 = kept__7 & mantissa__7;
        up__7 = ((32'h0) & 32'hffffffff);
        if (shifted__7[32'h5] && (shifted__7[32'h6] || (shifted__7[(32'h0)+:(5)] != 32'h0) || (kept__7 != mantissa__7))) begin
            up__7 = ((32'h40000000) & 32'hffffffff);
        end
        placed__lane__7 = (parts__7 & 64'h80000000) | up__7 | (shifted__7 >> 32'h6);
        mantissa__8 = parts__8 << 32'h8;
        shifted__8 = mantissa__8 >> parts__8[(32'h18)+:(5)];
        kept__8 = ((64'hffffffff) & 32'hffffffff) << parts__8[(32'h18)+:(5)];
        kept__8 = kept__8 & mantissa__8;
        up__8 = ((32'h0) & 32'hffffffff);
        if (shifted__8[32'h5] && (shifted__8[32'h6] || (shifted__8[(32'h0)+:(5)] != 32'h0) || (kept__8 != mantissa__8))) begin
            up__8 = ((32'h40000000) & 32'hffffffff);
        end
        placed__lane__8 = (parts__8 & 64'h80000000) | up__8 | (shifted__8 >> 32'h6);
        mantissa__9 = parts__9 << 32'h8;
        shifted__9 = mantissa__9 >> parts__9[(32'h18)+:(5)];
        kept__9 = ((64'hffffffff) & 32'hffffffff) << parts__9[(32'h18)+:(5)];
        kept__9 = kept__9 & mantissa__9;
        up__9 = ((32'h0) & 32'hffffffff);
        if (shifted__9[32'h5] && (shifted__9[32'h6] || (shifted__9[(32'h0)+:(5)] != 32'h0) || (kept__9 != mantissa__9))) begin
            up__9 = ((32'h40000000) & 32'hffffffff);
        end
        placed__lane__9 = (parts__9 & 64'h80000000) | up__9 | (shifted__9 >> 32'h6);
        mantissa__10 = parts__10 << 32'h8;
        shifted__10 = mantissa__10 >> parts__10[(32'h18)+:(5)];
        kept__10 = ((64'hffffffff) & 32'hffffffff) << parts__10[(32'h18)+:(5)];
        kept__10 = kept__10 & mantissa__10;
        up__10 = ((32'h0) & 32'hffffffff);
        if (shifted__10[32'h5] && (shifted__10[32'h6] || (shifted__10[(32'h0)+:(5)] != 32'h0) || (kept__10 != mantissa__10))) begin
            up__10 = ((32'h40000000) & 32'hffffffff);
        end
        placed__lane__10 = (parts__10 & 64'h80000000) | up__10 | (shifted__10 >> 32'h6);
        mantissa__11 = parts__11 << 32'h8;
        shifted__11 = mantissa__11 >> parts__11[(32'h18)+:(5)];
        kept__11 = ((64'hffffffff) & 32'hffffffff) << parts__11[(32'h18)+:(5)];
        kept__11 = kept__11 & mantissa__11;
        up__11 = ((32'h0) & 32'hffffffff);
        if (shifted__11[32'h5] && (shifted__11[32'h6] || (shifted__11[(32'h0)+:(5)] != 32'h0) || (kept__11 != mantissa__11))) begin
            up__11 = ((32'h40000000) & 32'hffffffff);
        end
        placed__lane__11 = (parts__11 & 64'h80000000) | up__11 | (shifted__11 >> 32'h6);
        mantissa__12 = parts__12 << 32'h8;
        shifted__12 = mantissa__12 >> parts__12[(32'h18)+:(5)];
        kept__12 = ((64'hffffffff) & 32'hffffffff) << parts__12[(32'h18)+:(5)];
        kept__12 = kept__12 & mantissa__12;
        up__12 = ((32'h0) & 32'hffffffff);
        if (shifted__12[32'h5] && (shifted__12[32'h6] || (shifted__12[(32'h0)+:(5)] != 32'h0) || (kept__12 != mantissa__12))) begin
            up__12 = ((32'h40000000) & 32'hffffffff);
        end
        placed__lane__12 = (parts__12 & 64'h80000000) | up__12 | (shifted__12 >> 32'h6);
        mantissa__13 = parts__13 << 32'h8;
        shifted__13 = mantissa__13 >> parts__13[(32'h18)+:(5)];
        kept__13 = ((64'hffffffff) & 32'hffffffff) << parts__13[(32'h18)+:(5)];
        kept__13 = kept__13 & mantissa__13;
        up__13 = ((32'h0) & 32'hffffffff);
        if (shifted__13[32'h5] && (shifted__13[32'h6] || (shifted__13[(32'h0)+:(5)] != 32'h0) || (kept__13 != mantissa__13))) begin
            up__13 = ((32'h40000000) & 32'hffffffff);
        end
        placed__lane__13 = (parts__13 & 64'h80000000) | up__13 | (shifted__13 >> 32'h6);
        mantissa__14 = parts__14 << 32'h8;
        shifted__14 = mantissa__14 >> parts__14[(32'h18)+:(5)];
        kept__14 = ((64'hffffffff) & 32'hffffffff) << parts__14[(32'h18)+:(5)];
        kept__14 = kept__14 & mantissa__14;
        up__14 = ((32'h0) & 32'hffffffff);
        if (shifted__14[32'h5] && (shifted__14[32'h6] || (shifted__14[(32'h0)+:(5)] != 32'h0) || (kept__14 != mantissa__14))) begin
            up__14 = ((32'h40000000) & 32'hffffffff);
        end
        placed__lane__14 = (parts__14 & 64'h80000000) | up__14 | (shifted__14 >> 32'h6);
        mantissa__15 = parts__15 << 32'h8;
        shifted__15 = mantissa__15 >> parts__15[(32'h18)+:(5)];
        kept__15 = ((64'hffffffff) & 32'hffffffff) << parts__15[(32'h18)+:(5)];
        kept__15 = kept__15 & mantissa__15;
        up__15 = ((32'h0) & 32'hffffffff);
        if (shifted__15[32'h5] && (shifted__15[32'h6] || (shifted__15[(32'h0)+:(5)] != 32'h0) || (kept__15 != mantissa__15))) begin
            up__15 = ((32'h40000000) & 32'hffffffff);
        end
        placed__lane__15 = (parts__15 & 64'h80000000) | up__15 | (shifted__15 >> 32'h6);
        rounded__tag = placed__out_tag;
        unrounded__0 = placed__out_beat[(0 * 32'h20)+:(32)];
        unrounded__1 = placed__out_beat[(1 * 32'h20)+:(32)];
        unrounded__2 = placed__out_beat[(2 * 32'h20)+:(32)];
        unrounded__3 = placed__out_beat[(3 * 32'h20)+:(32)];
        unrounded__4 = placed__out_beat[(4 * 32'h20)+:(32)];
        unrounded__5 = placed__out_beat[(5 * 32'h20)+:(32)];
        unrounded__6 = placed__out_beat[(6 * 32'h20)+:(32)];
        unrounded__7 = placed__out_beat[(7 * 32'h20)+:(32)];
        unrounded__8 = placed__out_beat[(8 * 32'h20)+:(32)];
        unrounded__9 = placed__out_beat[(9 * 32'h20)+:(32)];
        unrounded__10 = placed__out_beat[(10 * 32'h20)+:(32)];
        unrounded__11 = placed__out_beat[(11 * 32'h20)+:(32)];
        unrounded__12 = placed__out_beat[(12 * 32'h20)+:(32)];
        unrounded__13 = placed__out_beat[(13 * 32'h20)+:(32)];
        unrounded__14 = placed__out_beat[(14 * 32'h20)+:(32)];
        unrounded__15 = placed__out_beat[(15 * 32'h20)+:(32)];
        magnitude__0 = (unrounded__0 & 32'h3fffffff) + ((unrounded__0 >> 32'h1e) & 32'h1);
        if (unrounded__0[32'h1f]) begin
            rounded__lane__0 = ((64'h80000000) & 32'hffffffff) - magnitude__0;
        end
        else begin
            rounded__lane__0 = ((64'h80000000) & 32'hffffffff) + magnitude__0;
        end
        magnitude__1 = (unrounded__1 & 32'h3fffffff) + ((unrounded__1 >> 32'h1e) & 32'h1);
        if (unrounded__1[32'h1f]) begin
            rounded__lane__1 = ((64'h80000000) & 32'hffffffff) - magnitude__1;
        end
        else begin
            rounded__lane__1 = ((64'h80000000) & 32'hffffffff) + magnitude__1;
        end
        magnitude__2 = (unrounded__2 & 32'h3fffffff) + ((unrounded__2 >> 32'h1e) & 32'h1);
        if (unrounded__2[32'h1f]) begin
            rounded__lane__2 = ((64'h80000000) & 32'hffffffff) - magnitude__2;
        end
        else begin
            rounded__lane__2 = ((64'h80000000) & 32'hffffffff) + magnitude__2;
        end
        magnitude__3 = (unrounded__3 & 32'h3fffffff) + ((unrounded__3 >> 32'h1e) & 32'h1);
        if (unrounded__3[32'h1f]) begin
            rounded__lane__3 = ((64'h80000000) & 32'hffffffff) - magnitude__3;
        end
        else begin
            rounded__lane__3 = ((64'h80000000) & 32'hffffffff) + magnitude__3;
        end
        magnitude__4 = (unrounded__4 & 32'h3fffffff) + ((unrounded__4 >> 32'h1e) & 32'h1);
        if (unrounded__4[32'h1f]) begin
            rounded__lane__4 = ((64'h80000000) & 32'hffffffff) - magnitude__4;
        end
        else begin
            rounded__lane__4 = ((64'h80000000) & 32'hffffffff) + magnitude__4;
        end
        magnitude__5 = (unrounded__5 & 32'h3fffffff) + ((unrounded__5 >> 32'h1e) & 32'h1);
        if (unrounded__5[32'h1f]) begin
            rounded__lane__5 = ((64'h80000000) & 32'hffffffff) - magnitude__5;
        end
        else begin
            rounded__lane__5 = ((64'h80000000) & 32'hffffffff) + magnitude__5;
        end
        magnitude__6 = (unrounded__6 & 32'h3fffffff) + ((unrounded__6 >> 32'h1e) & 32'h1);
        if (unrounded__6[32'h1f]) begin
            rounded__lane__6 = ((64'h80000000) & 32'hffffffff) - magnitude__6;
        end
        else begin
            rounded__lane__6 = ((64'h80000000) & 32'hffffffff) + magnitude__6;
        end
        magnitude__7 = (unrounded__7 & 32'h3fffffff) + ((unrounded__7 >> 32'h1e) & 32'h1);
        if (unrounded__7[32'h1f]) begin
            rounded__lane__7 = ((64'h80000000) & 32'hffffffff) - magnitude__7;
        end
        else begin
            rounded__lane__7 = ((64'h80000000) & 32'hffffffff) + magnitude__7;
        end
        magnitude__8 = (unrounded__8 & 32'h3fffffff) + ((unrounded__8 >> 32'h1e) & 32'h1);
        if (unrounded__8[32'h1f]) begin
            rounded__lane__8 = ((64'h80000000) & 32'hffffffff) - magnitude__8;
        end
        else begin
            rounded__lane__8 = ((64'h80000000) & 32'hffffffff) + magnitude__8;
        end
        magnitude__9 = (unrounded__9 & 32'h3fffffff) + ((unrounded__9 >> 32'h1e) & 32'h1);
        if (unrounded__9[32'h1f]) begin
            rounded__lane__9 = ((64'h80000000) & 32'hffffffff) - magnitude__9;
        end
        else begin
            rounded__lane__9 = ((64'h80000000) & 32'hffffffff) + magnitude__9;
        end
        magnitude__10 = (unrounded__10 & 32'h3fffffff) + ((unrounded__10 >> 32'h1e) & 32'h1);
        if (unrounded__10[32'h1f]) begin
            rounded__lane__10 = ((64'h80000000) & 32'hffffffff) - magnitude__10;
        end
        else begin
            rounded__lane__10 = ((64'h80000000) & 32'hffffffff) + magnitude__10;
        end
        magnitude__11 = (unrounded__11 & 32'h3fffffff) + ((unrounded__11 >> 32'h1e) & 32'h1);
        if (unrounded__11[32'h1f]) begin
            rounded__lane__11 = ((64'h80000000) & 32'hffffffff) - magnitude__11;
        end
        else begin
            rounded__lane__11 = ((64'h80000000) & 32'hffffffff) + magnitude__11;
        end
        magnitude__12 = (unrounded__12 & 32'h3fffffff) + ((unrounded__12 >> 32'h1e) & 32'h1);
        if (unrounded__12[32'h1f]) begin
            rounded__lane__12 = ((64'h80000000) & 32'hffffffff) - magnitude__12;
        end
        else begin
            rounded__lane__12 = ((64'h80000000) & 32'hffffffff) + magnitude__12;
        end
        magnitude__13 = (unrounded__13 & 32'h3fffffff) + ((unrounded__13 >> 32'h1e) & 32'h1);
        if (unrounded__13[32'h1f]) begin
            rounded__lane__13 = ((64'h80000000) & 32'hffffffff) - magnitude__13;
        end
        else begin
            rounded__lane__13 = ((64'h80000000) & 32'hffffffff) + magnitude__13;
        end
        magnitude__14 = (unrounded__14 & 32'h3fffffff) + ((unrounded__14 >> 32'h1e) & 32'h1);
        if (unrounded__14[32'h1f]) begin
            rounded__lane__14 = ((64'h80000000) & 32'hffffffff) - magnitude__14;
        end
        else begin
            rounded__lane__14 = ((64'h80000000) & 32'hffffffff) + magnitude__14;
        end
        magnitude__15 = (unrounded__15 & 32'h3fffffff) + ((unrounded__15 >> 32'h1e) & 32'h1);
        if (unrounded__15[32'h1f]) begin
            rounded__lane__15 = ((64'h80000000) & 32'hffffffff) - magnitude__15;
        end
        else begin
            rounded__lane__15 = ((64'h80000000) & 32'hffffffff) + magnitude__15;
        end
        out_tag = rounded__out_tag;
        out_beat = rounded__out_beat;
    end
endmodule

module optireduce_contribute__encoder__to_float(clock,tag,beat,signs,out_tag,out_beat);
    // Module arguments
    input wire  clock;
    input wire  [21:0] tag;
    input wire  [511:0] beat;
    input wire  [15:0] signs;
    output reg  [21:0] out_tag;
    output reg  [511:0] out_beat;
    // Stub signals
    reg  split__clock;
    reg  [21:0] split__tag;
    reg  [31:0] split__lane__0;
    reg  [31:0] split__lane__1;
    reg  [31:0] split__lane__2;
    reg  [31:0] split__lane__3;
    reg  [31:0] split__lane__4;
    reg  [31:0] split__lane__5;
    reg  [31:0] split__lane__6;
    reg  [31:0] split__lane__7;
    reg  [31:0] split__lane__8;
    reg  [31:0] split__lane__9;
    reg  [31:0] split__lane__10;
    reg  [31:0] split__lane__11;
    reg  [31:0] split__lane__12;
    reg  [31:0] split__lane__13;
    reg  [31:0] split__lane__14;
    reg  [31:0] split__lane__15;
    wire  [21:0] split__out_tag;
    wire  [511:0] split__out_beat;
    reg  coarse__clock;
    reg  [21:0] coarse__tag;
    reg  [31:0] coarse__lane__0;
    reg  [31:0] coarse__lane__1;
    reg  [31:0] coarse__lane__2;
    reg  [31:0] coarse__lane__3;
    reg  [31:0] coarse__lane__4;
    reg  [31:0] coarse__lane__5;
    reg  [31:0] coarse__lane__6;
    reg  [31:0] coarse__lane__7;
    reg  [31:0] coarse__lane__8;
    reg  [31:0] coarse__lane__9;
    reg  [31:0] coarse__lane__10;
    reg  [31:0] coarse__lane__11;
    reg  [31:0] coarse__lane__12;
    reg  [31:0] coarse__lane__13;
    reg  [31:0] coarse__lane__14;
    reg  [31:0] coarse__lane__15;
    wire  [21:0] coarse__out_tag;
    wire  [511:0] coarse__out_beat;
    reg  counted__clock;
    reg  [21:0] counted__tag;
    reg  [31:0] counted__lane__0;
    reg  [31:0] counted__lane__1;
    reg  [31:0] counted__lane__2;
    reg  [31:0] counted__lane__3;
    reg  [31:0] counted__lane__4;
    reg  [31:0] counted__lane__5;
    reg  [31:0] counted__lane__6;
    reg  [31:0] counted__lane__7;
    reg  [31:0] counted__lane__8;
    reg  [31:0] counted__lane__9;
    reg  [31:0] counted__lane__10;
    reg  [31:0] counted__lane__11;
    reg  [31:0] counted__lane__12;
    reg  [31:0] counted__lane__13;
    reg  [31:0] counted__lane__14;
    reg  [31:0] counted__lane__15;
    wire  [21:0] counted__out_tag;
    wire  [511:0] counted__out_beat;
    reg  fine__clock;
    reg  [21:0] fine__tag;
    reg  [31:0] fine__lane__0;
    reg  [31:0] fine__lane__1;
    reg  [31:0] fine__lane__2;
    reg  [31:0] fine__lane__3;
    reg  [31:0] fine__lane__4;
    reg  [31:0] fine__lane__5;
    reg  [31:0] fine__lane__6;
    reg  [31:0] fine__lane__7;
    reg  [31:0] fine__lane__8;
    reg  [31:0] fine__lane__9;
    reg  [31:0] fine__lane__10;
    reg  [31:0] fine__lane__11;
    reg  [31:0] fine__lane__12;
    reg  [31:0] fine__lane__13;
    reg  [31:0] fine__lane__14;
    reg  [31:0] fine__lane__15;
    wire  [21:0] fine__out_tag;
    wire  [511:0] fine__out_beat;
    reg  rounded__clock;
    reg  [21:0] rounded__tag;
    reg  [31:0] rounded__lane__0;
    reg  [31:0] rounded__lane__1;
    reg  [31:0] rounded__lane__2;
    reg  [31:0] rounded__lane__3;
    reg  [31:0] rounded__lane__4;
    reg  [31:0] rounded__lane__5;
    reg  [31:0] rounded__lane__6;
    reg  [31:0] rounded__lane__7;
    reg  [31:0] rounded__lane__8;
    reg  [31:0] rounded__lane__9;
    reg  [31:0] rounded__lane__10;
    reg  [31:0] rounded__lane__11;
    reg  [31:0] rounded__lane__12;
    reg  [31:0] rounded__lane__13;
    reg  [31:0] rounded__lane__14;
    reg  [31:0] rounded__lane__15;
    wire  [21:0] rounded__out_tag;
    wire  [511:0] rounded__out_beat;
    reg  composed__clock;
    reg  [21:0] composed__tag;
    reg  [31:0] composed__lane__0;
    reg  [31:0] composed__lane__1;
    reg  [31:0] composed__lane__2;
    reg  [31:0] composed__lane__3;
    reg  [31:0] composed__lane__4;
    reg  [31:0] composed__lane__5;
    reg  [31:0] composed__lane__6;
    reg  [31:0] composed__lane__7;
    reg  [31:0] composed__lane__8;
    reg  [31:0] composed__lane__9;
    reg  [31:0] composed__lane__10;
    reg  [31:0] composed__lane__11;
    reg  [31:0] composed__lane__12;
    reg  [31:0] composed__lane__13;
    reg  [31:0] composed__lane__14;
    reg  [31:0] composed__lane__15;
    wire  [21:0] composed__out_tag;
    wire  [511:0] composed__out_beat;
    // Local signals
    reg  [31:0] number__0;
    reg  [31:0] number__1;
    reg  [31:0] number__2;
    reg  [31:0] number__3;
    reg  [31:0] number__4;
    reg  [31:0] number__5;
    reg  [31:0] number__6;
    reg  [31:0] number__7;
    reg  [31:0] number__8;
    reg  [31:0] number__9;
    reg  [31:0] number__10;
    reg  [31:0] number__11;
    reg  [31:0] number__12;
    reg  [31:0] number__13;
    reg  [31:0] number__14;
    reg  [31:0] number__15;
    reg  [31:0] magnitude__0;
    reg  [31:0] magnitude__1;
    reg  [31:0] magnitude__2;
    reg  [31:0] magnitude__3;
    reg  [31:0] magnitude__4;
    reg  [31:0] magnitude__5;
    reg  [31:0] magnitude__6;
    reg  [31:0] magnitude__7;
    reg  [31:0] magnitude__8;
    reg  [31:0] magnitude__9;
    reg  [31:0] magnitude__10;
    reg  [31:0] magnitude__11;
    reg  [31:0] magnitude__12;
    reg  [31:0] magnitude__13;
    reg  [31:0] magnitude__14;
    reg  [31:0] magnitude__15;
    reg  [31:0] whole__0;
    reg  [31:0] whole__1;
    reg  [31:0] whole__2;
    reg  [31:0] whole__3;
    reg  [31:0] whole__4;
    reg  [31:0] whole__5;
    reg  [31:0] whole__6;
    reg  [31:0] whole__7;
    reg  [31:0] whole__8;
    reg  [31:0] whole__9;
    reg  [31:0] whole__10;
    reg  [31:0] whole__11;
    reg  [31:0] whole__12;
    reg  [31:0] whole__13;
    reg  [31:0] whole__14;
    reg  [31:0] whole__15;
    reg  [31:0] by0__0;
    reg  [31:0] by0__1;
    reg  [31:0] by0__2;
    reg  [31:0] by0__3;
    reg  [31:0] by0__4;
    reg  [31:0] by0__5;
    reg  [31:0] by0__6;
    reg  [31:0] by0__7;
    reg  [31:0] by0__8;
    reg  [31:0] by0__9;
    reg  [31:0] by0__10;
    reg  [31:0] by0__11;
    reg  [31:0] by0__12;
    reg  [31:0] by0__13;
    reg  [31:0] by0__14;
    reg  [31:0] by0__15;
    reg  [31:0] by16__0;
    reg  [31:0] by16__1;
    reg  [31:0] by16__2;
    reg  [31:0] by16__3;
    reg  [31:0] by16__4;
    reg  [31:0] by16__5;
    reg  [31:0] by16__6;
    reg  [31:0] by16__7;
    reg  [31:0] by16__8;
    reg  [31:0] by16__9;
    reg  [31:0] by16__10;
    reg  [31:0] by16__11;
    reg  [31:0] by16__12;
    reg  [31:0] by16__13;
    reg  [31:0] by16__14;
    reg  [31:0] by16__15;
    reg  [31:0] by8__0;
    reg  [31:0] by8__1;
    reg  [31:0] by8__2;
    reg  [31:0] by8__3;
    reg  [31:0] by8__4;
    reg  [31:0] by8__5;
    reg  [31:0] by8__6;
    reg  [31:0] by8__7;
    reg  [31:0] by8__8;
    reg  [31:0] by8__9;
    reg  [31:0] by8__10;
    reg  [31:0] by8__11;
    reg  [31:0] by8__12;
    reg  [31:0] by8__13;
    reg  [31:0] by8__14;
    reg  [31:0] by8__15;
    reg  [31:0] coarse_zeros__0;
    reg  [31:0] coarse_zeros__1;
    reg  [31:0] coarse_zeros__2;
    reg  [31:0] coarse_zeros__3;
    reg  [31:0] coarse_zeros__4;
    reg  [31:0] coarse_zeros__5;
    reg  [31:0] coarse_zeros__6;
    reg  [31:0] coarse_zeros__7;
    reg  [31:0] coarse_zeros__8;
    reg  [31:0] coarse_zeros__9;
    reg  [31:0] coarse_zeros__10;
    reg  [31:0] coarse_zeros__11;
    reg  [31:0] coarse_zeros__12;
    reg  [31:0] coarse_zeros__13;
    reg  [31:0] coarse_zeros__14;
    reg  [31:0] coarse_zeros__15;
    reg  [31:0] half__0;
    reg  [31:0] half__1;
    reg  [31:0] half__2;
    reg  [31:0] half__3;
    reg  [31:0] half__4;
    reg  [31:0] half__5;
    reg  [31:0] half__6;
    reg  [31:0] half__7;
    reg  [31:0] half__8;
    reg  [31:0] half__9;
    reg  [31:0] half__10;
    reg  [31:0] half__11;
    reg  [31:0] half__12;
    reg  [31:0] half__13;
    reg  [31:0] half__14;
    reg  [31:0] half__15;
    reg  [31:0] mid__0;
    reg  [31:0] mid__1;
    reg  [31:0] mid__2;
    reg  [31:0] mid__3;
    reg  [31:0] mid__4;
    reg  [31:0] mid__5;
    reg  [31:0] mid__6;
    reg  [31:0] mid__7;
    reg  [31:0] mid__8;
    reg  [31:0] mid__9;
    reg  [31:0] mid__10;
    reg  [31:0] mid__11;
    reg  [31:0] mid__12;
    reg  [31:0] mid__13;
    reg  [31:0] mid__14;
    reg  [31:0] mid__15;
    reg  [31:0] by4__0;
    reg  [31:0] by4__1;
    reg  [31:0] by4__2;
    reg  [31:0] by4__3;
    reg  [31:0] by4__4;
    reg  [31:0] by4__5;
    reg  [31:0] by4__6;
    reg  [31:0] by4__7;
    reg  [31:0] by4__8;
    reg  [31:0] by4__9;
    reg  [31:0] by4__10;
    reg  [31:0] by4__11;
    reg  [31:0] by4__12;
    reg  [31:0] by4__13;
    reg  [31:0] by4__14;
    reg  [31:0] by4__15;
    reg  [31:0] by2__0;
    reg  [31:0] by2__1;
    reg  [31:0] by2__2;
    reg  [31:0] by2__3;
    reg  [31:0] by2__4;
    reg  [31:0] by2__5;
    reg  [31:0] by2__6;
    reg  [31:0] by2__7;
    reg  [31:0] by2__8;
    reg  [31:0] by2__9;
    reg  [31:0] by2__10;
    reg  [31:0] by2__11;
    reg  [31:0] by2__12;
    reg  [31:0] by2__13;
    reg  [31:0] by2__14;
    reg  [31:0] by2__15;
    reg  [31:0] by1__0;
    reg  [31:0] by1__1;
    reg  [31:0] by1__2;
    reg  [31:0] by1__3;
    reg  [31:0] by1__4;
    reg  [31:0] by1__5;
    reg  [31:0] by1__6;
    reg  [31:0] by1__7;
    reg  [31:0] by1__8;
    reg  [31:0] by1__9;
    reg  [31:0] by1__10;
    reg  [31:0] by1__11;
    reg  [31:0] by1__12;
    reg  [31:0] by1__13;
    reg  [31:0] by1__14;
    reg  [31:0] by1__15;
    reg  [31:0] zeros__0;
    reg  [31:0] zeros__1;
    reg  [31:0] zeros__2;
    reg  [31:0] zeros__3;
    reg  [31:0] zeros__4;
    reg  [31:0] zeros__5;
    reg  [31:0] zeros__6;
    reg  [31:0] zeros__7;
    reg  [31:0] zeros__8;
    reg  [31:0] zeros__9;
    reg  [31:0] zeros__10;
    reg  [31:0] zeros__11;
    reg  [31:0] zeros__12;
    reg  [31:0] zeros__13;
    reg  [31:0] zeros__14;
    reg  [31:0] zeros__15;
    reg  [31:0] sticky__0;
    reg  [31:0] sticky__1;
    reg  [31:0] sticky__2;
    reg  [31:0] sticky__3;
    reg  [31:0] sticky__4;
    reg  [31:0] sticky__5;
    reg  [31:0] sticky__6;
    reg  [31:0] sticky__7;
    reg  [31:0] sticky__8;
    reg  [31:0] sticky__9;
    reg  [31:0] sticky__10;
    reg  [31:0] sticky__11;
    reg  [31:0] sticky__12;
    reg  [31:0] sticky__13;
    reg  [31:0] sticky__14;
    reg  [31:0] sticky__15;
    reg  [31:0] normal__0;
    reg  [31:0] normal__1;
    reg  [31:0] normal__2;
    reg  [31:0] normal__3;
    reg  [31:0] normal__4;
    reg  [31:0] normal__5;
    reg  [31:0] normal__6;
    reg  [31:0] normal__7;
    reg  [31:0] normal__8;
    reg  [31:0] normal__9;
    reg  [31:0] normal__10;
    reg  [31:0] normal__11;
    reg  [31:0] normal__12;
    reg  [31:0] normal__13;
    reg  [31:0] normal__14;
    reg  [31:0] normal__15;
    reg  [31:0] up__0;
    reg  [31:0] up__1;
    reg  [31:0] up__2;
    reg  [31:0] up__3;
    reg  [31:0] up__4;
    reg  [31:0] up__5;
    reg  [31:0] up__6;
    reg  [31:0] up__7;
    reg  [31:0] up__8;
    reg  [31:0] up__9;
    reg  [31:0] up__10;
    reg  [31:0] up__11;
    reg  [31:0] up__12;
    reg  [31:0] up__13;
    reg  [31:0] up__14;
    reg  [31:0] up__15;
    reg  [31:0] mantissa__0;
    reg  [31:0] mantissa__1;
    reg  [31:0] mantissa__2;
    reg  [31:0] mantissa__3;
    reg  [31:0] mantissa__4;
    reg  [31:0] mantissa__5;
    reg  [31:0] mantissa__6;
    reg  [31:0] mantissa__7;
    reg  [31:0] mantissa__8;
    reg  [31:0] mantissa__9;
    reg  [31:0] mantissa__10;
    reg  [31:0] mantissa__11;
    reg  [31:0] mantissa__12;
    reg  [31:0] mantissa__13;
    reg  [31:0] mantissa__14;
    reg  [31:0] mantissa__15;
    reg  [31:0] optireduce_card;
    reg  [31:0] parts__0;
    reg  [31:0] parts__1;
    reg  [31:0] parts__2;
    reg  [31:0] parts__3;
    reg  [31:0] parts__4;
    reg  [31:0] parts__5;
    reg  [31:0] parts__6;
    reg  [31:0] parts__7;
    reg  [31:0] parts__8;
    reg  [31:0] parts__9;
    reg  [31:0] parts__10;
    reg  [31:0] parts__11;
    reg  [31:0] parts__12;
    reg  [31:0] parts__13;
    reg  [31:0] parts__14;
    reg  [31:0] parts__15;
    reg  [31:0] exponent__0;
    reg  [31:0] exponent__1;
    reg  [31:0] exponent__2;
    reg  [31:0] exponent__3;
    reg  [31:0] exponent__4;
    reg  [31:0] exponent__5;
    reg  [31:0] exponent__6;
    reg  [31:0] exponent__7;
    reg  [31:0] exponent__8;
    reg  [31:0] exponent__9;
    reg  [31:0] exponent__10;
    reg  [31:0] exponent__11;
    reg  [31:0] exponent__12;
    reg  [31:0] exponent__13;
    reg  [31:0] exponent__14;
    reg  [31:0] exponent__15;
    // Sub module instances
    optireduce_contribute__encoder__across__0__delay split(
        .clock(split__clock),
        .tag(split__tag),
        .lane__0(split__lane__0),
        .lane__1(split__lane__1),
        .lane__2(split__lane__2),
        .lane__3(split__lane__3),
        .lane__4(split__lane__4),
        .lane__5(split__lane__5),
        .lane__6(split__lane__6),
        .lane__7(split__lane__7),
        .lane__8(split__lane__8),
        .lane__9(split__lane__9),
        .lane__10(split__lane__10),
        .lane__11(split__lane__11),
        .lane__12(split__lane__12),
        .lane__13(split__lane__13),
        .lane__14(split__lane__14),
        .lane__15(split__lane__15),
        .out_tag(split__out_tag),
        .out_beat(split__out_beat)
    );
    optireduce_contribute__encoder__across__0__delay coarse(
        .clock(coarse__clock),
        .tag(coarse__tag),
        .lane__0(coarse__lane__0),
        .lane__1(coarse__lane__1),
        .lane__2(coarse__lane__2),
        .lane__3(coarse__lane__3),
        .lane__4(coarse__lane__4),
        .lane__5(coarse__lane__5),
        .lane__6(coarse__lane__6),
        .lane__7(coarse__lane__7),
        .lane__8(coarse__lane__8),
        .lane__9(coarse__lane__9),
        .lane__10(coarse__lane__10),
        .lane__11(coarse__lane__11),
        .lane__12(coarse__lane__12),
        .lane__13(coarse__lane__13),
        .lane__14(coarse__lane__14),
        .lane__15(coarse__lane__15),
        .out_tag(coarse__out_tag),
        .out_beat(coarse__out_beat)
    );
    optireduce_contribute__encoder__across__0__delay counted(
        .clock(counted__clock),
        .tag(counted__tag),
        .lane__0(counted__lane__0),
        .lane__1(counted__lane__1),
        .lane__2(counted__lane__2),
        .lane__3(counted__lane__3),
        .lane__4(counted__lane__4),
        .lane__5(counted__lane__5),
        .lane__6(counted__lane__6),
        .lane__7(counted__lane__7),
        .lane__8(counted__lane__8),
        .lane__9(counted__lane__9),
        .lane__10(counted__lane__10),
        .lane__11(counted__lane__11),
        .lane__12(counted__lane__12),
        .lane__13(counted__lane__13),
        .lane__14(counted__lane__14),
        .lane__15(counted__lane__15),
        .out_tag(counted__out_tag),
        .out_beat(counted__out_beat)
    );
    optireduce_contribute__encoder__across__0__delay fine(
        .clock(fine__clock),
        .tag(fine__tag),
        .lane__0(fine__lane__0),
        .lane__1(fine__lane__1),
        .lane__2(fine__lane__2),
        .lane__3(fine__lane__3),
        .lane__4(fine__lane__4),
        .lane__5(fine__lane__5),
        .lane__6(fine__lane__6),
        .lane__7(fine__lane__7),
        .lane__8(fine__lane__8),
        .lane__9(fine__lane__9),
        .lane__10(fine__lane__10),
        .lane__11(fine__lane__11),
        .lane__12(fine__lane__12),
        .lane__13(fine__lane__13),
        .lane__14(fine__lane__14),
        .lane__15(fine__lane__15),
        .out_tag(fine__out_tag),
        .out_beat(fine__out_beat)
    );
    optireduce_contribute__encoder__across__0__delay rounded(
        .clock(rounded__clock),
        .tag(rounded__tag),
        .lane__0(rounded__lane__0),
        .lane__1(rounded__lane__1),
        .lane__2(rounded__lane__2),
        .lane__3(rounded__lane__3),
        .lane__4(rounded__lane__4),
        .lane__5(rounded__lane__5),
        .lane__6(rounded__lane__6),
        .lane__7(rounded__lane__7),
        .lane__8(rounded__lane__8),
        .lane__9(rounded__lane__9),
        .lane__10(rounded__lane__10),
        .lane__11(rounded__lane__11),
        .lane__12(rounded__lane__12),
        .lane__13(rounded__lane__13),
        .lane__14(rounded__lane__14),
        .lane__15(rounded__lane__15),
        .out_tag(rounded__out_tag),
        .out_beat(rounded__out_beat)
    );
    optireduce_contribute__encoder__across__0__delay composed(
        .clock(composed__clock),
        .tag(composed__tag),
        .lane__0(composed__lane__0),
        .lane__1(composed__lane__1),
        .lane__2(composed__lane__2),
        .lane__3(composed__lane__3),
        .lane__4(composed__lane__4),
        .lane__5(composed__lane__5),
        .lane__6(composed__lane__6),
        .lane__7(composed__lane__7),
        .lane__8(composed__lane__8),
        .lane__9(composed__lane__9),
        .lane__10(composed__lane__10),
        .lane__11(composed__lane__11),
        .lane__12(composed__lane__12),
        .lane__13(composed__lane__13),
        .lane__14(composed__lane__14),
        .lane__15(composed__lane__15),
        .out_tag(composed__out_tag),
        .out_beat(composed__out_beat)
    );
    // Update code
    always @(*) begin
        split__clock = clock;
        coarse__clock = clock;
        counted__clock = clock;
        fine__clock = clock;
        rounded__clock = clock;
        composed__clock = clock;
        split__tag = tag;
        number__0 = beat[(0 * 32'h20)+:(32)];
        number__1 = beat[(1 * 32'h20)+:(32)];
        number__2 = beat[(2 * 32'h20)+:(32)];
        number__3 = beat[(3 * 32'h20)+:(32)];
        number__4 = beat[(4 * 32'h20)+:(32)];
        number__5 = beat[(5 * 32'h20)+:(32)];
        number__6 = beat[(6 * 32'h20)+:(32)];
        number__7 = beat[(7 * 32'h20)+:(32)];
        number__8 = beat[(8 * 32'h20)+:(32)];
        number__9 = beat[(9 * 32'h20)+:(32)];
        number__10 = beat[(10 * 32'h20)+:(32)];
        number__11 = beat[(11 * 32'h20)+:(32)];
        number__12 = beat[(12 * 32'h20)+:(32)];
        number__13 = beat[(13 * 32'h20)+:(32)];
        number__14 = beat[(14 * 32'h20)+:(32)];
        number__15 = beat[(15 * 32'h20)+:(32)];
        if (number__0[32'h1f]) begin
            magnitude__0 = number__0 & 32'h7fffffff;
        end
        else begin
            magnitude__0 = ((64'h80000000) & 32'hffffffff) - number__0;
        end
        split__lane__0 = magnitude__0;
        if (number__0[32'h1f] == signs[0]) begin
            split__lane__0 = magnitude__0 | 64'h80000000;
        end
        if (number__1[32'h1f]) begin
            magnitude__1 = number__1 & 32'h7fffffff;
        end
        else begin
            magnitude__1 = ((64'h80000000) & 32'hffffffff) - number__1;
        end
        split__lane__1 = magnitude__1;
        if (number__1[32'h1f] == signs[1]) begin
            split__lane__1 = magnitude__1 | 64'h80000000;
        end
        if (number__2[32'h1f]) begin
            magnitude__2 = number__2 & 32'h7fffffff;
        end
        else begin
            magnitude__2 = ((64'h80000000) & 32'hffffffff) - number__2;
        end
        split__lane__2 = magnitude__2;
        if (number__2[32'h1f] == signs[2]) begin
            split__lane__2 = magnitude__2 | 64'h80000000;
        end
        if (number__3[32'h1f]) begin
            magnitude__3 = number__3 & 32'h7fffffff;
        end
        else begin
            magnitude__3 = ((64'h80000000) & 32'hffffffff) - number__3;
        end
        split__lane__3 = magnitude__3;
        if (number__3[32'h1f] == signs[3]) begin
            split__lane__3 = magnitude__3 | 64'h80000000;
        end
        if (number__4[32'h1f]) begin
            magnitude__4 = number__4 & 32'h7fffffff;
        end
        else begin
            magnitude__4 = ((64'h80000000) & 32'hffffffff) - number__4;
        end
        split__lane__4 = magnitude__4;
        if (number__4[32'h1f] == signs[4]) begin
            split__lane__4 = magnitude__4 | 64'h80000000;
        end
        if (number__5[32'h1f]) begin
            magnitude__5 = number__5 & 32'h7fffffff;
        end
        else begin
            magnitude__5 = ((64'h80000000) & 32'hffffffff) - number__5;
        end
        split__lane__5 = magnitude__5;
        if (number__5[32'h1f] == signs[5]) begin
            split__lane__5 = magnitude__5 | 64'h80000000;
        end
        if (number__6[32'h1f]) begin
            magnitude__6 = number__6 & 32'h7fffffff;
        end
        else begin
            magnitude__6 = ((64'h80000000) & 32'hffffffff) - number__6;
        end
        split__lane__6 = magnitude__6;
        if (number__6[32'h1f] == signs[6]) begin
            split__lane__6 = magnitude__6 | 64'h80000000;
        end
        if (number__7[32'h1f]) begin
            magnitude__7 = number__7 & 32'h7fffffff;
        end
        else begin
            magnitude__7 = ((64'h80000000) & 32'hffffffff) - number__7;
        end
        split__lane__7 = magnitude__7;
        if (number__7[32'h1f] == signs[7]) begin
            split__lane__7 = magnitude__7 | 64'h80000000;
        end
        if (number__8[32'h1f]) begin
            magnitude__8 = number__8 & 32'h7fffffff;
        end
        else begin
            magnitude__8 = ((64'h80000000) & 32'hffffffff) - number__8;
        end
        split__lane__8 = magnitude__8;
        if (number__8[32'h1f] == signs[8]) begin
            split__lane__8 = magnitude__8 | 64'h80000000;
        end
        if (number__9[32'h1f]) begin
            magnitude__9 = number__9 & 32'h7fffffff;
        end
        else begin
            magnitude__9 = ((64'h80000000) & 32'hffffffff) - number__9;
        end
        split__lane__9 = magnitude__9;
        if (number__9[32'h1f] == signs[9]) begin
            split__lane__9 = magnitude__9 | 64'h80000000;
        end
        if (number__10[32'h1f]) begin
            magnitude__10 = number__10 & 32'h7fffffff;
        end
        else begin
            magnitude__10 = ((64'h80000000) & 32'hffffffff) - number__10;
        end
        split__lane__10 = magnitude__10;
        if (number__10[32'h1f] == signs[10]) begin
            split__lane__10 = magnitude__10 | 64'h80000000;
        end
        if (number__11[32'h1f]) begin
            magnitude__11 = number__11 & 32'h7fffffff;
        end
        else begin
            magnitude__11 = ((64'h80000000) & 32'hffffffff) - number__11;
        end
        split__lane__11 = magnitude__11;
        if (number__11[32'h1f] == signs[11]) begin
            split__lane__11 = magnitude__11 | 64'h80000000;
        end
        if (number__12[32'h1f]) begin
            magnitude__12 = number__12 & 32'h7fffffff;
        end
        else begin
            magnitude__12 = ((64'h80000000) & 32'hffffffff) - number__12;
        end
        split__lane__12 = magnitude__12;
        if (number__12[32'h1f] == signs[12]) begin
            split__lane__12 = magnitude__12 | 64'h80000000;
        end
        if (number__13[32'h1f]) begin
            magnitude__13 = number__13 & 32'h7fffffff;
        end
        else begin
            magnitude__13 = ((64'h80000000) & 32'hffffffff) - number__13;
        end
        split__lane__13 = magnitude__13;
        if (number__13[32'h1f] == signs[13]) begin
            split__lane__13 = magnitude__13 | 64'h80000000;
        end
        if (number__14[32'h1f]) begin
            magnitude__14 = number__14 & 32'h7fffffff;
        end
        else begin
            magnitude__14 = ((64'h80000000) & 32'hffffffff) - number__14;
        end
        split__lane__14 = magnitude__14;
        if (number__14[32'h1f] == signs[14]) begin
            split__lane__14 = magnitude__14 | 64'h80000000;
        end
        if (number__15[32'h1f]) begin
            magnitude__15 = number__15 & 32'h7fffffff;
        end
        else begin
            magnitude__15 = ((64'h80000000) & 32'hffffffff) - number__15;
        end
        split__lane__15 = magnitude__15;
        if (number__15[32'h1f] == signs[15]) begin
            split__lane__15 = magnitude__15 | 64'h80000000;
        end
        coarse__tag = split__out_tag;
        counted__tag = split__out_tag;
        whole__0 = split__out_beat[(0 * 32'h20)+:(32)];
        whole__1 = split__out_beat[(1 * 32'h20)+:(32)];
        whole__2 = split__out_beat[(2 * 32'h20)+:(32)];
        whole__3 = split__out_beat[(3 * 32'h20)+:(32)];
        whole__4 = split__out_beat[(4 * 32'h20)+:(32)];
        whole__5 = split__out_beat[(5 * 32'h20)+:(32)];
        whole__6 = split__out_beat[(6 * 32'h20)+:(32)];
        whole__7 = split__out_beat[(7 * 32'h20)+:(32)];
        whole__8 = split__out_beat[(8 * 32'h20)+:(32)];
        whole__9 = split__out_beat[(9 * 32'h20)+:(32)];
        whole__10 = split__out_beat[(10 * 32'h20)+:(32)];
        whole__11 = split__out_beat[(11 * 32'h20)+:(32)];
        whole__12 = split__out_beat[(12 * 32'h20)+:(32)];
        whole__13 = split__out_beat[(13 * 32'h20)+:(32)];
        whole__14 = split__out_beat[(14 * 32'h20)+:(32)];
        whole__15 = split__out_beat[(15 * 32'h20)+:(32)];
        by0__0 = whole__0 & 32'h7fffffff;
        by16__0 = by0__0;
        coarse_zeros__0 = ((32'h0) & 32'hffffffff);
        if (by0__0[(32'hf)+:(16)] == 32'h0) begin
            by16__0 = by0__0 << 32'h10;
            coarse_zeros__0 = ((32'h10) & 32'hffffffff);
        end
        by8__0 = by16__0;
        counted__lane__0 = coarse_zeros__0;
        if (by16__0[(32'h17)+:(8)] == 32'h0) begin
            by8__0 = by16__0 << 32'h8;
            counted__lane__0 = coarse_zeros__0 | 32'h8;
        end
        coarse__lane__0 = (whole__0 & 64'h80000000) | by8__0;
        by0__1 = whole__1 & 32'h7fffffff;
        by16__1 = by0__1;
        coarse_zeros__1 = ((32'h0) & 32'hffffffff);
        if (by0__1[(32'hf)+:(16)] == 32'h0) begin
            by16__1 = by0__1 << 32'h10;
            coarse_zeros__1 = ((32'h10) & 32'hffffffff);
        end
        by8__1 = by16__1;
        counted__lane__1 = coarse_zeros__1;
        if (by16__1[(32'h17)+:(8)] == 32'h0) begin
            by8__1 = by16__1 << 32'h8;
            counted__lane__1 = coarse_zeros__1 | 32'h8;
        end
        coarse__lane__1 = (whole__1 & 64'h80000000) | by8__1;
        by0__2 = whole__2 & 32'h7fffffff;
        by16__2 = by0__2;
        coarse_zeros__2 = ((32'h0) & 32'hffffffff);
        if (by0__2[(32'hf)+:(16)] == 32'h0) begin
            by16__2 = by0__2 << 32'h10;
            coarse_zeros__2 = ((32'h10) & 32'hffffffff);
        end
        by8__2 = by16__2;
        counted__lane__2 = coarse_zeros__2;
        if (by16__2[(32'h17)+:(8)] == 32'h0) begin
            by8__2 = by16__2 << 32'h8;
            counted__lane__2 = coarse_zeros__2 | 32'h8;
        end
        coarse__lane__2 = (whole__2 & 64'h80000000) | by8__2;
        by0__3 = whole__3 & 32'h7fffffff;
        by16__3 = by0__3;
        coarse_zeros__3 = ((32'h0) & 32'hffffffff);
        if (by0__3[(32'hf)+:(16)] == 32'h0) begin
            by16__3 = by0__3 << 32'h10;
            coarse_zeros__3 = ((32'h10) & 32'hffffffff);
        end
        by8__3 = by16__3;
        counted__lane__3 = coarse_zeros__3;
        if (by16__3[(32'h17)+:(8)] == 32'h0) begin
            by8__3 = by16__3 << 32'h8;
            counted__lane__3 = coarse_zeros__3 | 32'h8;
        end
        coarse__lane__3 = (whole__3 & 64'h80000000) | by8__3;
        by0__4 = whole__4 & 32'h7fffffff;
        by16__4 = by0__4;
        coarse_zeros__4 = ((32'h0) & 32'hffffffff);
        if (by0__4[(32'hf)+:(16)] == 32'h0) begin
            by16__4 = by0__4 << 32'h10;
            coarse_zeros__4 = ((32'h10) & 32'hffffffff);
        end
        by8__4 = by16__4;
        counted__lane__4 = coarse_zeros__4;
        if (by16__4[(32'h17)+:(8)] == 32'h0) begin
            by8__4 = by16__4 << 32'h8;
            counted__lane__4 = coarse_zeros__4 | 32'h8;
        end
        coarse__lane__4 = (whole__4 & 64'h80000000) | by8__4;
        by0__5 = whole__5 & 32'h7fffffff;
        by16__5 = by0__5;
        coarse_zeros__5 = ((32'h0) & 32'hffffffff);
        if (by0__5[(32'hf)+:(16)] == 32'h0) begin
            by16__5 = by0__5 << 32'h10;
            coarse_zeros__5 = ((32'h10) & 32'hffffffff);
        end
        by8__5 = by16__5;
        counted__lane__5 = coarse_zeros__5;
        if (by16__5[(32'h17)+:(8)] == 32'h0) begin
            by8__5 = by16__5 << 32'h8;
            counted__lane__5 = coarse_zeros__5 | 32'h8;
        end
        coarse__lane__5 = (whole__5 & 64'h80000000) | by8__5;
        by0__6 = whole__6 & 32'h7fffffff;
        by16__6 = by0__6;
        coarse_zeros__6 = ((32'h0) & 32'hffffffff);
        if (by0__6[(32'hf)+:(16)] == 32'h0) begin
            by16__6 = by0__6 << 32'h10;
            coarse_zeros__6 = ((32'h10) & 32'hffffffff);
        end
        by8__6 = by16__6;
        counted__lane__6 = coarse_zeros__6;
        if (by16__6[(32'h17)+:(8)] == 32'h0) begin
            by8__6 = by16__6 << 32'h8;
            counted__lane__6 = coarse_zeros__6 | 32'h8;
        end
        coarse__lane__6 = (whole__6 & 64'h80000000) | by8__6;
        by0__7 = whole__7 & 32'h7fffffff;
        by16__7 = by0__7;
        coarse_zeros__7 = ((32'h0) & 32'hffffffff);
        if (by0__7[(32'hf)+:(16)] == 32'h0) begin
            by16__7 = by0__7 << 32'h10;
            coarse_zeros__7 = ((32'h10) & 32'hffffffff);
        end
        by8__7 = by16__7;
        counted__lane__7 = coarse_zeros__7;
        if (by16__7[(32'h17)+:(8)] == 32'h0) begin
            by8__7 = by16__7 << 32'h8;
            counted__lane__7 = coarse_zeros__7 | 32'h8;
        end
        coarse__lane__7 = (whole__7 & 64'h80000000) | by8__7;
        by0__8 = whole__8 & 32'h7fffffff;
        by16__8 = by0__8;
        coarse_zeros__8 = ((32'h0) & 32'hffffffff);
        if (by0__8[(32'hf)+:(16)] == 32'h0) begin
            by16__8 = by0__8 << 32'h10;
            coarse_zeros__8 = ((32'h10) & 32'hffffffff);
        end
        by8__8 = by16__8;
        counted__lane__8 = coarse_zeros__8;
        if (by16__8[(32'h17)+:(8)] == 32'h0) begin
            by8__8 = by16__8 << 32'h8;
            counted__lane__8 = coarse_zeros__8 | 32'h8;
        end
        coarse__lane__8 = (whole__8 & 64'h80000000) | by8__8;
        by0__9 = whole__9 & 32'h7fffffff;
        by16__9 = by0__9;
        coarse_zeros__9 = ((32'h0) & 32'hffffffff);
        if (by0__9[(32'hf)+:(16)] == 32'h0) begin
            by16__9 = by0__9 << 32'h10;
            coarse_zeros__9 = ((32'h10) & 32'hffffffff);
        end
        by8__9 = by16__9;
        counted__lane__9 = coarse_zeros__9;
        if (by16__9[(32'h17)+:(8)] == 32'h0) begin
            by8__9 = by16__9 << 32'h8;
            counted__lane__9 = coarse_zeros__9 | 32'h8;
        end
        coarse__lane__9 = (whole__9 & 64'h80000000) | by8__9;
        by0__10 = whole__10 & 32'h7fffffff;
        by16__10 = by0__10;
        coarse_zeros__10 = ((32'h0) & 32'hffffffff);
        if (by0__10[(32'hf)+:(16)] == 32'h0) begin
            by16__10 = by0__10 << 32'h10;
            coarse_zeros__10 = ((32'h10) & 32'hffffffff);
        end
        by8__10 = by16__10;
        counted__lane__10 = coarse_zeros__10;
        if (by16__10[(32'h17)+:(8)] == 32'h0) begin
            by8__10 = by16__10 << 32'h8;
            counted__lane__10 = coarse_zeros__10 | 32'h8;
        end
        coarse__lane__10 = (whole__10 & 64'h80000000) | by8__10;
        by0__11 = whole__11 & 32'h7fffffff;
        by16__11 = by0__11;
        coarse_zeros__11 = ((32'h0) & 32'hffffffff);
        if (by0__11[(32'hf)+:(16)] == 32'h0) begin
            by16__11 = by0__11 << 32'h10;
            coarse_zeros__11 = ((32'h10) & 32'hffffffff);
        end
        by8__11 = by16__11;
        counted__lane__11 = coarse_zeros__11;
        if (by16__11[(32'h17)+:(8)] == 32'h0) begin
            by8__11 = by16__11 << 32'h8;
            counted__lane__11 = coarse_zeros__11 | 32'h8;
        end
        coarse__lane__11 = (whole__11 & 64'h80000000) | by8__11;
        by0__12 = whole__12 & 32'h7fffffff;
        by16__12 = by0__12;
        coarse_zeros__12 = ((32'h0) & 32'hffffffff);
        if (by0__12[(32'hf)+:(16)] == 32'h0) begin
            by16__12 = by0__12 << 32'h10;
            coarse_zeros__12 = ((32'h10) & 32'hffffffff);
        end
        by8__12 = by16__12;
        counted__lane__12 = coarse_zeros__12;
        if (by16__12[(32'h17)+:(8)] == 32'h0) begin
            by8__12 = by16__12 << 32'h8;
            counted__lane__12 = coarse_zeros__12 | 32'h8;
        end
        coarse__lane__12 = (whole__12 & 64'h80000000) | by8__12;
        by0__13 = whole__13 & 32'h7fffffff;
        by16__13 = by0__13;
        coarse_zeros__13 = ((32'h0) & 32'hffffffff);
        if (by0__13[(32'hf)+:(16)] == 32'h0) begin
            by16__13 = by0__13 << 32'h10;
            coarse_zeros__13 = ((32'h10) & 32'hffffffff);
        end
        by8__13 = by16__13;
        counted__lane__13 = coarse_zeros__13;
        if (by16__13[(32'h17)+:(8)] == 32'h0) begin
            by8__13 = by16__13 << 32'h8;
            counted__lane__13 = coarse_zeros__13 | 32'h8;
        end
        coarse__lane__13 = (whole__13 & 64'h80000000) | by8__13;
        by0__14 = whole__14 & 32'h7fffffff;
        by16__14 = by0__14;
        coarse_zeros__14 = ((32'h0) & 32'hffffffff);
        if (by0__14[(32'hf)+:(16)] == 32'h0) begin
            by16__14 = by0__14 << 32'h10;
            coarse_zeros__14 = ((32'h10) & 32'hffffffff);
        end
        by8__14 = by16__14;
        counted__lane__14 = coarse_zeros__14;
        if (by16__14[(32'h17)+:(8)] == 32'h0) begin
            by8__14 = by16__14 << 32'h8;
            counted__lane__14 = coarse_zeros__14 | 32'h8;
        end
        coarse__lane__14 = (whole__14 & 64'h80000000) | by8__14;
        by0__15 = whole__15 & 32'h7fffffff;
        by16__15 = by0__15;
        coarse_zeros__15 = ((32'h0) & 32'hffffffff);
        if (by0__15[(32'hf)+:(16)] == 32'h0) begin
            by16__15 = by0__15 << 32'h10;
            coarse_zeros__15 = ((32'h10) & 32'hffffffff);
        end
        by8__15 = by16__15;
        counted__lane__15 = coarse_zeros__15;
        if (by16__15[(32'h17)+:(8)] == 32'h0) begin
            by8__15 = by16__15 << 32'h8;
            counted__lane__15 = coarse_zeros__15 | 32'h8;
        end
        coarse__lane__15 = (whole__15 & 64'h80000000) | by8__15;
        fine__tag = coarse__out_tag;
        half__0 = coarse__out_beat[(0 * 32'h20)+:(32)];
        zeros__0 = counted__out_beat[(0 * 32'h20)+:(32)];
        half__1 = coarse__out_beat[(1 * 32'h20)+:(32)];
        zeros__1 = counted__out_beat[(1 * 32'h20)+:(32)];
        half__2 = coarse__out_beat[(2 * 32'h20)+:(32)];
        zeros__2 = counted__out_beat[(2 * 32'h20)+:(32)];
        half__3 = coarse__out_beat[(3 * 32'h20)+:(32)];
        zeros__3 = counted__out_beat[(3 * 32'h20)+:(32)];
        half__4 = coarse__out_beat[(4 * 32'h20)+:(32)];
        zeros__4 = counted__out_beat[(4 * 32'h20)+:(32)];
        half__5 = coarse__out_beat[(5 * 32'h20)+:(32)];
        zeros__5 = counted__out_beat[(5 * 32'h20)+:(32)];
        half__6 = coarse__out_beat[(6 * 32'h20)+:(32)];
        zeros__6 = counted__out_beat[(6 * 32'h20)+:(32)];
        half__7 = coarse__out_beat[(7 * 32'h20)+:(32)];
        zeros__7 = counted__out_beat[(7 * 32'h20)+:(32)];
        half__8 = coarse__out_beat[(8 * 32'h20)+:(32)];
        zeros__8 = counted__out_beat[(8 * 32'h20)+:(32)];
        half__9 = coarse__out_beat[(9 * 32'h20)+:(32)];
        zeros__9 = counted__out_beat[(9 * 32'h20)+:(32)];
        half__10 = coarse__out_beat[(10 * 32'h20)+:(32)];
        zeros__10 = counted__out_beat[(10 * 32'h20)+:(32)];
        half__11 = coarse__out_beat[(11 * 32'h20)+:(32)];
        zeros__11 = counted__out_beat[(11 * 32'h20)+:(32)];
        half__12 = coarse__out_beat[(12 * 32'h20)+:(32)];
        zeros__12 = counted__out_beat[(12 * 32'h20)+:(32)];
        half__13 = coarse__out_beat[(13 * 32'h20)+:(32)];
        zeros__13 = counted__out_beat[(13 * 32'h20)+:(32)];
        half__14 = coarse__out_beat[(14 * 32'h20)+:(32)];
        zeros__14 = counted__out_beat[(14 * 32'h20)+:(32)];
        half__15 = coarse__out_beat[(15 * 32'h20)+:(32)];
        zeros__15 = counted__out_beat[(15 * 32'h20)+:(32)];
        mid__0 = half__0 & 32'h7fffffff;
        by4__0 = mid__0;
        if (mid__0[(32'h1b)+:(4)] == 32'h0) begin
            by4__0 = mid__0 << 32'h4;
            zeros__0 = zeros__0 | 32'h4;
        end
        by2__0 = by4__0;
        if (by4__0[(32'h1d)+:(2)] == 32'h0) begin
            by2__0 = by4__0 << 32'h2;
            zeros__0 = zeros__0 | 32'h2;
        end
        by1__0 = by2__0;
        if (~by2__0[32'h1e]) begin
            by1__0 = by2__0 << 32'h1;
            zeros__0 = zeros__0 | 32'h1;
        end
        sticky__0 = ((32'h0) & 32'hffffffff);
        if (by1__0[(32'h0)+:(6)] != 32'h0) begin
            sticky__0 = ((32'h20) & 32'hffffffff);
        end
        fine__lane__0 = (half__0 & 64'h80000000) | (by1__0 & 32'h7fffffc0) | sticky__0 | zeros__0;
        mid__1 = half__1 & 32'h7fffffff;
        by4__1 = mid__1;
        if (mid__1[(32'h1b)+:(4)] == 32'h0) begin
            by4__1 = mid__1 << 32'h4;
            zeros__1 = zeros__1 | 32'h4;
        end
        by2__1 = by4__1;
        if (by4__1[(32'h1d)+:(2)] == 32'h0) begin
            by2__1 = by4__1 << 32'h2;
            zeros__1 = zeros__1 | 32'h2;
        end
        by1__1 = by2__1;
        if (~by2__1[32'h1e]) begin
            by1__1 = by2__1 << 32'h1;
            zeros__1 = zeros__1 | 32'h1;
        end
        sticky__1 = ((32'h0) & 32'hffffffff);
        if (by1__1[(32'h0)+:(6)] != 32'h0) begin
            sticky__1 = ((32'h20) & 32'hffffffff);
        end
        fine__lane__1 = (half__1 & 64'h80000000) | (by1__1 & 32'h7fffffc0) | sticky__1 | zeros__1;
        mid__2 = half__2 & 32'h7fffffff;
        by4__2 = mid__2;
        if (mid__2[(32'h1b)+:(4)] == 32'h0) begin
            by4__2 = mid__2 << 32'h4;
            zeros__2 = zeros__2 | 32'h4;
        end
        by2__2 = by4__2;
        if (by4__2[(32'h1d)+:(2)] == 32'h0) begin
            by2__2 = by4__2 << 32'h2;
            zeros__2 = zeros__2 | 32'h2;
        end
        by1__2 = by2__2;
        if (~by2__2[32'h1e]) begin
            by1__2 = by2__2 << 32'h1;
            zeros__2 = zeros__2 | 32'h1;
        end
        sticky__2 = ((32'h0) & 32'hffffffff);
        if (by1__2[(32'h0)+:(6)] != 32'h0) begin
            sticky__2 = ((32'h20) & 32'hffffffff);
        end
        fine__lane__2 = (half__2 & 64'h80000000) | (by1__2 & 32'h7fffffc0) | sticky__2 | zeros__2;
        mid__3 = half__3 & 32'h7fffffff;
        by4__3 = mid__3;
        if (mid__3[(32'h1b)+:(4)] == 32'h0) begin
            by4__3 = mid__3 << 32'h4;
            zeros__3 = zeros__3 | 32'h4;
        end
        by2__3 = by4__3;
        if (by4__3[(32'h1d)+:(2)] == 32'h0) begin
            by2__3 = by4__3 << 32'h2;
            zeros__3 = zeros__3 | 32'h2;
        end
        by1__3 = by2__3;
        if (~by2__3[32'h1e]) begin
            by1__3 = by2__3 << 32'h1;
            zeros__3 = zeros__3 | 32'h1;
        end
        sticky__3 = ((32'h0) & 32'hffffffff);
        if (by1__3[(32'h0)+:(6)] != 32'h0) begin
            sticky__3 = ((32'h20) & 32'hffffffff);
        end
        fine__lane__3 = (half__3 & 64'h80000000) | (by1__3 & 32'h7fffffc0) | sticky__3 | zeros__3;
        mid__4 = half__4 & 32'h7fffffff;
        by4__4 = mid__4;
        if (mid__4[(32'h1b)+:(4)] == 32'h0) begin
            by4__4 = mid__4 << 32'h4;
            zeros__4 = zeros__4 | 32'h4;
        end
        by2__4 = by4__4;
        if (by4__4[(32'h1d)+:(2)] == 32'h0) begin
            by2__4 = by4__4 << 32'h2;
            zeros__4 = zeros__4 | 32'h2;
        end
        by1__4 = by2__4;
        if (~by2__4[32'h1e]) begin
            by1__4 = by2__4 << 32'h1;
            zeros__4 = zeros__4 | 32'h1;
        end
        sticky__4 = ((32'h0) & 32'hffffffff);
        if (by1__4[(32'h0)+:(6)] != 32'h0) begin
            sticky__4 = ((32'h20) & 32'hffffffff);
        end
        fine__lane__4 = (half__4 & 64'h80000000) | (by1__4 & 32'h7fffffc0) | sticky__4 | zeros__4;
        mid__5 = half__5 & 32'h7fffffff;
        by4__5 = mid__5;
        if (mid__5[(32'h1b)+:(4)] == 32'h0) begin
            by4__5 = mid__5 << 32'h4;
            zeros__5 = zeros__5 | 32'h4;
        end
        by2__5 = by4__5;
        if (by4__5[(32'h1d)+:(2)] == 32'h0) begin
            by2__5 = by4__5 << 32'h2;
            zeros__5 = zeros__5 | 32'h2;
        end
        by1__5 = by2__5;
        if (~by2__5[32'h1e]) begin
            by1__5 = by2__5 << 32'h1;
            zeros__5 = zeros__5 | 32'h1;
        end
        sticky__5 = ((32'h0) & 32'hffffffff);
        if (by1__5[(32'h0)+:(6)] != 32'h0) begin
            sticky__5 = ((32'h20) & 32'hffffffff);
        end
        fine__lane__5 = (half__5 & 64'h80000000) | (by1__5 & 32'h7fffffc0) | sticky__5 | zeros__5;
        mid__6 = half__6 & 32'h7fffffff;
        by4__6 = mid__6;
        if (mid__6[(32'h1b)+:(4)] == 32'h0) begin
            by4__6 = mid__6 << 32'h4;
            zeros__6 = zeros__6 | 32'h4;
        end
        by2__6 = by4__6;
        if (by4__6[(32'h1d)+:(2)] == 32'h0) begin
            by2__6 = by4__6 << 32'h2;
            zeros__6 = zeros__6 | 32'h2;
        end
        by1__6 = by2__6;
        if (~by2__6[32'h1e]) begin
            by1__6 = by2__6 << 32'h1;
            zeros__6 = zeros__6 | 32'h1;
        end
        sticky__6 = ((32'h0) & 32'hffffffff);
        if (by1__6[(32'h0)+:(6)] != 32'h0) begin
            sticky__6 = ((32'h20) & 32'hffffffff);
        end
        fine__lane__6 = (half__6 & 64'h80000000) | (by1__6 & 32'h7fffffc0) | sticky__6 | zeros__6;
        mid__7 = half__7 & 32'h7fffffff;
        by4__7 = mid__7;
        if (mid__7[(32'h1b)+:(4)] == 32'h0) begin
            by4__7 = mid__7 << 32'h4;
            zeros__7 = zeros__7 | 32'h4;
        end
        by2__7 = by4__7;
        if (by4__7[(32'h1d)+:(2)] == 32'h0) begin
            by2__7 = by4__7 << 32'h2;
            zeros__7 = zeros__7 | 32'h2;
        end
        by1__7 = by2__7;
        if (~by2__7[32'h1e]) begin
            by1__7 = by2__7 << 32'h1;
            zeros__7 = zeros__7 | 32'h1;
        end
        sticky__7 = ((32'h0) & 32'hffffffff);
        if (by1__7[(32'h0)+:(6)] != 32'h0) begin
            sticky__7 = ((32'h20) & 32'hffffffff);
        end
        fine__lane__7 = (half__7 & 64'h80000000) | (by1__7 & 32'h7fffffc0) | sticky__7 | zeros__7;
        mid__8 = half__8 & 32'h7fffffff;
        by4__8 = mid__8;
        if (mid__8[(32'h1b)+:(4)] == 32'h0) begin
            by4__8 = mid__8 << 32'h4;
            zeros__8 = zeros__8 | 32'h4;
        end
        by2__8 = by4__8;
        if (by4__8[(32'h1d)+:(2)] == 32'h0) begin
            by2__8 = by4__8 << 32'h2;
            zeros__8 = zeros__8 | 32'h2;
        end
        by1__8 = by2__8;
        if (~by2__8[32'h1e]) begin
            by1__8 = by2__8 << 32'h1;
            zeros__8 = zeros__8 | 32'h1;
        end
        sticky__8 = ((32'h0) & 32'hffffffff);
        if (by1__8[(32'h0)+:(6)] != 32'h0) begin
            sticky__8 = ((32'h20) & 32'hffffffff);
        end
        fine__lane__8 = (half__8 & 64'h80000000) | (by1__8 & 32'h7fffffc0) | sticky__8 | zeros__8;
        mid__9 = half__9 & 32'h7fffffff;
        by4__9 = mid__9;
        if (mid__9[(32'h1b)+:(4)] == 32'h0) begin
            by4__9 = mid__9 << 32'h4;
            zeros__9 = zeros__9 | 32'h4;
        end
        by2__9 = by4__9;
        if (by4__9[(32'h1d)+:(2)] == 32'h0) begin
            by2__9 = by4__9 << 32'h2;
            zeros__9 = zeros__9 | 32'h2;
        end
        by1__9 = by2__9;
        if (~by2__9[32'h1e]) begin
            by1__9 = by2__9 << 32'h1;
            zeros__9 = zeros__9 | 32'h1;
        end
        sticky__9 = ((32'h0) & 32'hffffffff);
        if (by1__9[(32'h0)+:(6)] != 32'h0) begin
            sticky__9 = ((32'h20) & 32'hffffffff);
        end
        fine__lane__9 = (half__9 & 64'h80000000) | (by1__9 & 32'h7fffffc0) | sticky__9 | zeros__9;
        mid__10 = half__10 & 32'h7fffffff;
        by4__10 = mid__10;
        if (mid__10[(32'h1b)+:(4)] == 32'h0) begin
            by4__10 = mid__10 << 32'h4;
            zeros__10 = zeros__10 | 32'h4;
        end
        by2__10 = by4__10;
        if (by4__10[(32'h1d)+:(2)] == 32'h0) begin
            by2__10 = by4__10 << 32'h2;
            zeros__10 = zeros__10 | 32'h2;
        end
        by1__10 = by2__10;
        if (~by2__10[32'h1e]) begin
            by1__10 = by2__10 << 32'h1;
            zeros__10 = zeros__10 | 32'h1;
        end
        sticky__10 = ((32'h0) & 32'hffffffff);
        if (by1__10[(32'h0)+:(6)] != 32'h0) begin
            sticky__10 = ((32'h20) & 32'hffffffff);
        end
        fine__lane__10 = (half__10 & 64'h80000000) | (by1__10 & 32'h7fffffc0) | sticky__10 | zeros__10;
        mid__11 = half__11 & 32'h7fffffff;
        by4__11 = mid__11;
        if (mid__11[(32'h1b)+:(4)] == 32'h0) begin
            by4__11 = mid__11 << 32'h4;
            zeros__11 = zeros__11 | 32'h4;
        end
        by2__11 = by4__11;
        if (by4__11[(32'h1d)+:(2)] == 32'h0) begin
            by2__11 = by4__11 << 32'h2;
            zeros__11 = zeros__11 | 32'h2;
        end
        by1__11 = by2__11;
        if (~by2__11[32'h1e]) begin
            by1__11 = by2__11 << 32'h1;
            zeros__11 = zeros__11 | 32'h1;
        end
        sticky__11 = ((32'h0) & 32'hffffffff);
        if (by1__11[(32'h0)+:(6)] != 32'h0) begin
            sticky__11 = ((32'h20) & 32'hffffffff);
        end
        fine__lane__11 = (half__11 & 64'h80000000) | (by1__11 & 32'h7fffffc0) | sticky__11 | zeros__11;
        mid__12 = half__12 & 32'h7fffffff;
        by4__12 = mid__12;
        if (mid__12[(32'h1b)+:(4)] == 32'h0) begin
            by4__12 = mid__12 << 32'h4;
            zeros__12 = zeros__12 | 32'h4;
        end
        by2__12 = by4__12;
        if (by4__12[(32'h1d)+:(2)] == 32'h0) begin
            by2__12 = by4__12 << 32'h2;
            zeros__12 = zeros__12 | 32'h2;
        end
        by1__12 = by2__12;
        if (~by2__12[32'h1e]) begin
            by1__12 = by2__12 << 32'h1;
            zeros__12 = zeros__12 | 32'h1;
        end
        sticky__12 = ((32'h0) & 32'hffffffff);
        if (by1__12[(32'h0)+:(6)] != 32'h0) begin
            sticky__12 = ((32'h20) & 32'hffffffff);
        end
        fine__lane__12 = (half__12 & 64'h80000000) | (by1__12 & 32'h7fffffc0) | sticky__12 | zeros__12;
        mid__13 = half__13 & 32'h7fffffff;
        by4__13 = mid__13;
        if (mid__13[(32'h1b)+:(4)] == 32'h0) begin
            by4__13 = mid__13 << 32'h4;
            zeros__13 = zeros__13 | 32'h4;
        end
        by2__13 = by4__13;
        if (by4__13[(32'h1d)+:(2)] == 32'h0) begin
            by2__13 = by4__13 << 32'h2;
            zeros__13 = zeros__13 | 32'h2;
        end
        by1__13 = by2__13;
        if (~by2__13[32'h1e]) begin
            by1__13 = by2__13 << 32'h1;
            zeros__13 = zeros__13 | 32'h1;
        end
        sticky__13 = ((32'h0) & 32'hffffffff);
        if (by1__13[(32'h0)+:(6)] != 32'h0) begin
            sticky__13 = ((32'h20) & 32'hffffffff);
        end
        fine__lane__13 = (half__13 & 64'h80000000) | (by1__13 & 32'h7fffffc0) | sticky__13 | zeros__13;
        mid__14 = half__14 & 32'h7fffffff;
        by4__14 = mid__14;
        if (mid__14[(32'h1b)+:(4)] == 32'h0) begin
            by4__14 = mid__14 << 32'h4;
            zeros__14 = zeros__14 | 32'h4;
        end
        by2__14 = by4__14;
        if (by4__14[(32'h1d)+:(2)] == 32'h0) begin
            by2__14 = by4__14 << 32'h2;
            zeros__14 = zeros__14 | 32'h2;
        end
        by1__14 = by2__14;
        if (~by2__14[32'h1e]) begin
            by1__14 = by2__14 << 32'h1;
            zeros__14 = zeros__14 | 32'h1;
        end
        sticky__14 = ((32'h0) & 32'hffffffff);
        if (by1__14[(32'h0)+:(6)] != 32'h0) begin
            sticky__14 = ((32'h20) & 32'hffffffff);
        end
        fine__lane__14 = (half__14 & 64'h80000000) | (by1__14 & 32'h7fffffc0) | sticky__14 | zeros__14;
        mid__15 = half__15 & 32'h7fffffff;
        by4__15 = mid__15;
        if (mid__15[(32'h1b)+:(4)] == 32'h0) begin
            by4__15 = mid__15 << 32'h4;
            zeros__15 = zeros__15 | 32'h4;
        end
        by2__15 = by4__15;
        if (by4__15[(32'h1d)+:(2)] == 32'h0) begin
            by2__15 = by4__15 << 32'h2;
            zeros__15 = zeros__15 | 32'h2;
        end
        by1__15 = by2__15;
        if (~by2__15[32'h1e]) begin
            by1__15 = by2__15 << 32'h1;
            zeros__15 = zeros__15 | 32'h1;
        end
        sticky__15 = ((32'h0) & 32'hffffffff);
        if (by1__15[(32'h0)+:(6)] != 32'h0) begin
            sticky__15 = ((32'h20) & 32'hffffffff);
        end
        fine__lane__15 = (half__15 & 64'h80000000) | (by1__15 & 32'h7fffffc0) | sticky__15 | zeros__15;
        rounded__tag = fine__out_tag;
        normal__0 = fine__out_beat[(0 * 32'h20)+:(32)];
        normal__1 = fine__out_beat[(1 * 32'h20)+:(32)];
        normal__2 = fine__out_beat[(2 * 32'h20)+:(32)];
        normal__3 = fine__out_beat[(3 * 32'h20)+:(32)];
        normal__4 = fine__out_beat[(4 * 32'h20)+:(32)];
        normal__5 = fine__out_beat[(5 * 32'h20)+:(32)];
        normal__6 = fine__out_beat[(6 * 32'h20)+:(32)];
        normal__7 = fine__out_beat[(7 * 32'h20)+:(32)];
        normal__8 = fine__out_beat[(8 * 32'h20)+:(32)];
        normal__9 = fine__out_beat[(9 * 32'h20)+:(32)];
        normal__10 = fine__out_beat[(10 * 32'h20)+:(32)];
        normal__11 = fine__out_beat[(11 * 32'h20)+:(32)];
        normal__12 = fine__out_beat[(12 * 32'h20)+:(32)];
        normal__13 = fine__out_beat[(13 * 32'h20)+:(32)];
        normal__14 = fine__out_beat[(14 * 32'h20)+:(32)];
        normal__15 = fine__out_beat[(15 * 32'h20)+:(32)];
        up__0 = ((32'h0) & 32'hffffffff);
        if (normal__0[32'h6] && (normal__0[32'h5] || normal__0[32'h7])) begin
            up__0 = ((32'h1) & 32'hffffffff);
        end
        mantissa__0 = ((normal__0 >> 32'h7) & 32'hffffff) + up__0;
        rounded__lane__0 = (normal__0 & 64'h80000000) | ((normal__0 & 32'h1f) << 32'h19) | mantissa__0;
        up__1 = ((32'h0) & 32'hffffffff);
        if (normal__1[32'h6] && (normal__1[32'h5] || normal__1[32'h7])) begin
            up__1 = ((32'h1) & 32'hffffffff);
        end
        mantissa__1 = ((normal__1 >> 32'h7) & 32'hffffff) + up__1;
        rounded__lane__1 = (normal__1 & 64'h80000000) | ((normal__1 & 32'h1f) << 32'h19) | mantissa__1;
        up__2 = ((32'h0) & 32'hffffffff);
        if (normal__2[32'h6] && (normal__2[32'h5] || normal__2[32'h7])) begin
            up__2 = ((32'h1) & 32'hffffffff);
        end
        mantissa__2 = ((normal__2 >> 32'h7) & 32'hffffff) + up__2;
        rounded__lane__2 = (normal__2 & 64'h80000000) | ((normal__2 & 32'h1f) << 32'h19) | mantissa__2;
        up__3 = ((32'h0) & 32'hffffffff);
        if (normal__3[32'h6] && (normal__3[32'h5] || normal__3[32'h7])) begin
            up__3 = ((32'h1) & 32'hffffffff);
        end
        mantissa__3 = ((normal__3 >> 32'h7) & 32'hffffff) + up__3;
        rounded__lane__3 = (normal__3 & 64'h80000000) | ((normal__3 & 32'h1f) << 32'h19) | mantissa__3;
        up__4 = ((32'h0) & 32'hffffffff);
        if (normal__4[32'h6] && (normal__4[32'h5] || normal__4[32'h7])) begin
            up__4 = ((32'h1) & 32'hffffffff);
        end
        mantissa__4 = ((normal__4 >> 32'h7) & 32'hffffff) + up__4;
        rounded__lane__4 = (normal__4 & 64'h80000000) | ((normal__4 & 32'h1f) << 32'h19) | mantissa__4;
        up__5 = ((32'h0) & 32'hffffffff);
        if (normal__5[32'h6] && (normal__5[32'h5] || normal__5[32'h7])) begin
            up__5 = ((32'h1) & 32'hffffffff);
        end
        mantissa__5 = ((normal__5 >> 32'h7) & 32'hffffff) + up__5;
        rounded__lane__5 = (normal__5 & 64'h80000000) | ((normal__5 & 32'h1f) << 32'h19) | mantissa__5;
        up__6 = ((32'h0) & 32'hffffffff);
        if (normal__6[32'h6] && (normal__6[32'h5] || normal__6[32'h7])) begin
            up__6 = ((32'h1) & 32'hffffffff);
        end
        mantissa__6 = ((normal__6 >> 32'h7) & 32'hffffff) + up__6;
        rounded__lane__6 = (normal__6 & 64'h80000000) | ((normal__6 & 32'h1f) << 32'h19) | mantissa__6;
        up__7 = ((32'h0) & 32'hffffffff);
        if (normal__7[32'h6] && (normal__7[32'h5] || normal__7[32'h7])) begin
            up__7 = ((32'h1) & 32'hffffffff);
        end
        mantissa__7 = ((normal__7 >> 32'h7) & 32'hffffff) + up__7;
        rounded__lane__7 = (normal__7 & 64'h80000000) | ((normal__7 & 32'h1f) << 32'h19) | mantissa__7;
        up__8 = ((32'h0) & 32'hffffffff);
        if (normal__8[32'h6] && (normal__8[32'h5] || normal__8[32'h7])) begin
            up__8 = ((32'h1) & 32'hffffffff);
        end
        mantissa__8 = ((normal__8 >> 32'h7) & 32'hffffff) + up__8;
        rounded__lane__8 = (normal__8 & 64'h80000000) | ((normal__8 & 32'h1f) << 32'h19) | mantissa__8;
        up__9 = ((32'h0) & 32'hffffffff);
        if (normal__9[32'h6] && (normal__9[32'h5] || normal__9[32'h7])) begin
            up__9 = ((32'h1) & 32'hffffffff);
        end
        mantissa__9 = ((normal__9 >> 32'h7) & 32'hffffff) + up__9;
        rounded__lane__9 = (normal__9 & 64'h80000000) | ((normal__9 & 32'h1f) << 32'h19) | mantissa__9;
        up__10 = ((32'h0) & 32'hffffffff);
        if (normal__10[32'h6] && (normal__10[32'h5] || normal__10[32'h7])) begin
            up__10 = ((32'h1) & 32'hffffffff);
        end
        mantissa__10 = ((normal__10 >> 32'h7) & 32'hffffff) + up__10;
        rounded__lane__10 = (normal__10 & 64'h80000000) | ((normal__10 & 32'h1f) << 32'h19) | mantissa__10;
        up__11 = ((32'h0) & 32'hffffffff);
        if (normal__11[32'h6] && (normal__11[32'h5] || normal__11[32'h7])) begin
            up__11 = ((32'h1) & 32'hffffffff);
        end
        mantissa__11 = ((normal__11 >> 32'h7) & 32'hffffff) + up__11;
        rounded__lane__11 = (normal__11 & 64'h80000000) | ((normal__11 & 32'h1f) << 32'h19) | mantissa__11;
        up__12 = ((32'h0) & 32'hffffffff);
        if (normal__12[32'h6] && (normal__12[32'h5] || normal__12[32'h7])) begin
            up__12 = ((32'h1) & 32'hffffffff);
        end
        mantissa__12 = ((normal__12 >> 32'h7) & 32'hffffff) + up__12;
        rounded__lane__12 = (normal__12 & 64'h80000000) | ((normal__12 & 32'h1f) << 32'h19) | mantissa__12;
        up__13 = ((32'h0) & 32'hffffffff);
        if (normal__13[32'h6] && (normal__13[32'h5] || normal__13[32'h7])) begin
            up__13 = ((32'h1) & 32'hffffffff);
        end
        mantissa__13 = ((normal__13 >> 32'h7) & 32'hffffff) + up__13;
        rounded__lane__13 = (normal__13 & 64'h80000000) | ((normal__13 & 32'h1f) << 32'h19) | mantissa__13;
        up__14 = ((32'h0) & 32'hffffffff);
        if (normal__14[32'h6] && (normal__14[32'h5] || normal__14[32'h7])) begin
            up__14 = ((32'h1) & 32'hffffffff);
        end
        mantissa__14 = ((normal__14 >> 32'h7) & 32'hffffff) + up__14;
        rounded__lane__14 = (normal__14 & 64'h80000000) | ((normal__14 & 32'h1f) << 32'h19) | mantissa__14;
        up__15 = ((32'h0) & 32'hffffffff);
        if (normal__15[32'h6] && (normal__15[32'h5] || normal__15[32'h7])) begin
            up__15 = ((32'h1) & 32'hffffffff);
        end
        mantissa__15 = ((normal__15 >> 32'h7) & 32'hffffff) + up__15;
        rounded__lane__15 = (normal__15 & 64'h80000000) | ((normal__15 & 32'h1f) << 32'h19) | mantissa__15;
        composed__tag = rounded__out_tag;
        optireduce_card = ((rounded__out_tag[(64'h2)+:(9)]) & 32'hffffffff);
        parts__0 = rounded__out_beat[(0 * 32'h20)+:(32)];
        parts__1 = rounded__out_beat[(1 * 32'h20)+:(32)];
        parts__2 = rounded__out_beat[(2 * 32'h20)+:(32)];
        parts__3 = rounded__out_beat[(3 * 32'h20)+:(32)];
        parts__4 = rounded__out_beat[(4 * 32'h20)+:(32)];
        parts__5 = rounded__out_beat[(5 * 32'h20)+:(32)];
        parts__6 = rounded__out_beat[(6 * 32'h20)+:(32)];
        parts__7 = rounded__out_beat[(7 * 32'h20)+:(32)];
        parts__8 = rounded__out_beat[(8 * 32'h20)+:(32)];
        parts__9 = rounded__out_beat[(9 * 32'h20)+:(32)];
        parts__10 = rounded__out_beat[(10 * 32'h20)+:(32)];
        parts__11 = rounded__out_beat[(11 * 32'h20)+:(32)];
        parts__12 = rounded__out_beat[(12 * 32'h20)+:(32)];
        parts__13 = rounded__out_beat[(13 * 32'h20)+:(32)];
        parts__14 = rounded__out_beat[(14 * 32'h20)+:(32)];
        parts__15 = rounded__out_beat[(15 * 32'h20)+:(32)];
        exponent__0 = optireduce_card + 32'h5 - ((parts__0 >> 32'h19) & 32'h1f) + ((parts__0 >> 32'h18) & 32'h1);
        if (rounded__out_tag[(64'h1)+:(1)]) begin
            composed__lane__0 = ((32'h7fc00000) & 32'hffffffff);
        end
        else if ((parts__0[(32'h17)+:(2)] == 32'h0) || (exponent__0 == 32'h0) || exponent__0[32'h1f]) begin
            composed__lane__0 = ((32'h0) & 32'hffffffff);
        end
        else if (exponent__0 > 32'hfe) begin
            composed__lane__0 = (parts__0 & 64'h80000000) | 32'h7f800000;
        end
        else begin
            composed__lane__0 = (parts__0 & 64'h807fffff) | (exponent__0 << 32'h17);
        end
        exponent__1 = optireduce_card + 32'h5 - ((parts__1 >> 32'h19) & 32'h1f) + ((parts__1 >> 32'h18) & 32'h1);
        if (rounded__out_tag[(64'h1)+:(1)]) begin
            composed__lane__1 = ((32'h7fc00000) & 32'hffffffff);
        end
        else if ((parts__1[(32'h17)+:(2)] == 32'h0) || (exponent__1 == 32'h0) || exponent__1[32'h1f]) begin
            composed__lane__1 = ((32'h0) & 32'hffffffff);
        end
        else if (exponent__1 > 32'hfe) begin
            composed__lane__1 = (parts__1 & 64'h80000000) | 32'h7f800000;
        end
        else begin
            composed__lane__1 = (parts__1 & 64'h807fffff) | (exponent__1 << 32'h17);
        end
        exponent__2 = optireduce_card + 32'h5 - ((parts__2 >> 32'h19) & 32'h1f) + ((parts__2 >> 32'h18) & 32'h1);
        if (rounded__out_tag[(64'h1)+:(1)]) begin
            composed__lane__2 = ((32'h7fc00000) & 32'hffffffff);
        end
        else if ((parts__2[(32'h17)+:(2)] == 32'h0) || (exponent__2 == 32'h0) || exponent__2[32'h1f]) begin
            composed__lane__2 = ((32'h0) & 32'hffffffff);
        end
        else if (exponent__2 > 32'hfe) begin
            composed__lane__2 = (parts__2 & 64'h80000000) | 32'h7f800000;
        end
        else begin
            composed__lane__2 = (parts__2 & 64'h807fffff) | (exponent__2 << 32'h17);
        end
        exponent__3 = optireduce_card + 32'h5 - ((parts__3 >> 32'h19) & 32'h1f) + ((parts__3 >> 32'h18) & 32'h1);
        if (rounded__out_tag[(64'h1)+:(1)]) begin
            composed__lane__3 = ((32'h7fc00000) & 32'hffffffff);
        end
        else if ((parts__3[(32'h17)+:(2)] == 32'h0) || (exponent__3 == 32'h0) || exponent__3[32'h1f]) begin
            composed__lane__3 = ((32'h0) & 32'hffffffff);
        end
        else if (exponent__3 > 32'hfe) begin
            composed__lane__3 = (parts__3 & 64'h80000000) | 32'h7f800000;
        end
        else begin
            composed__lane__3 = (parts__3 & 64'h807fffff) | (exponent__3 << 32'h17);
        end
        exponent__4 = optireduce_card + 32'h5 - ((parts__4 >> 32'h19) & 32'h1f) + ((parts__4 >> 32'h18) & 32'h1);
        if (rounded__out_tag[(64'h1)+:(1)]) begin
            composed__lane__4 = ((32'h7fc00000) & 32'hffffffff);
        end
        else if ((parts__4[(32'h17)+:(2)] == 32'h0) || (exponent__4 == 32'h0) || exponent__4[32'h1f]) begin
            composed__lane__4 = ((32'h0) & 32'hffffffff);
        end
        else if (exponent__4 > 32'hfe) begin
            composed__lane__4 = (parts__4 & 64'h80000000) | 32'h7f800000;
        end
        else begin
            composed__lane__4 = (parts__4 & 64'h807fffff) | (exponent__4 << 32'h17);
        end
        exponent__5 = optireduce_card + 32'h5 - ((parts__5 >> 32'h19) & 32'h1f) + ((parts__5 >> 32'h18) & 32'h1);
        if (rounded__out_tag[(64'h1)+:(1)]) begin
            composed__lane__5 = ((32'h7fc00000) & 32'hffffffff);
        end
        else if ((parts__5[(32'h17)+:(2)] == 32'h0) || (exponent__5 == 32'h0) || exponent__5[32'h1f]) begin
            composed__lane__5 = ((32'h0) & 32'hffffffff);
        end
        else if (exponent__5 > 32'hfe) begin
            composed__lane__5 = (parts__5 & 64'h80000000) | 32'h7f800000;
        end
        else begin
            composed__lane__5 = (parts__5 & 64'h807fffff) | (exponent__5 << 32'h17);
        end
        exponent__6 = optireduce_card + 32'h5 - ((parts__6 >> 32'h19) & 32'h1f) + ((parts__6 >> 32'h18) & 32'h1);
        if (rounded__out_tag[(64'h1)+:(1)]) begin
            composed__lane__6 = ((32'h7fc00000) & 32'hffffffff);
        end
        else if ((parts__6[(32'h17)+:(2)] == 32'h0) || (exponent__6 == 32'h0) || exponent__6[32'h1f]) begin
            composed__lane__6 = ((32'h0) & 32'hffffffff);
        end
        else if (exponent__6 > 32'hfe) begin
            composed__lane__6 = (parts__6 & 64'h80000000) | 32'h7f800000;
        end
        else begin
            composed__lane__6 = (parts__6 & 64'h807fffff) | (exponent__6 << 32'h17);
        end
        exponent__7 = optireduce_card + 32'h5 - ((parts__7 >> 32'h19) & 32'h1f) + ((parts__7 >> 32'h18) & 32'h1);
        if (rounded__out_tag[(64'h1)+:(1)]) begin
            composed__lane__7 = ((32'h7fc00000) & 32'hffffffff);
        end
        else if ((parts__7[(32'h17)+:(2)] == 32'h0) || (exponent__7 == 32'h0) || exponent__7[32'h1f]) begin
            composed__lane__7 = ((32'h0) & 32'hffffffff);
        end
        else if (exponent__7 > 32'hfe) begin
            composed__lane__7 = (parts__7 & 64'h80000000) | 32'h7f800000;
        end
        else begin
            composed__lane__7 = (parts__7 & 64'h807fffff) | (exponent__7 << 32'h17);
        end
        exponent__8 = optireduce_card + 32'h5 - ((parts__8 >> 32'h19) & 32'h1f) + ((parts__8 >> 32'h18) & 32'h1);
        if (rounded__out_tag[(64'h1)+:(1)]) begin
            composed__lane__8 = ((32'h7fc00000) & 32'hffffffff);
        end
        else if ((parts__8[(32'h17)+:(2)] == 32'h0) || (exponent__8 == 32'h0) || exponent__8[32'h1f]) begin
            composed__lane__8 = ((32'h0) & 32'hffffffff);
        end
        else if (exponent__8 > 32'hfe) begin
            composed__lane__8 = (parts__8 & 64'h80000000) | 32'h7f800000;
        end
        else begin
            composed__lane__8 = (parts__8 & 64'h807fffff) | (exponent__8 << 32'h17);
        end
        exponent__9 = optireduce_card + 32'h5 - ((parts__9 >> 32'h19) & 32'h1f) + ((parts__9 >> 32'h18) & 32'h1);
        if (rounded__out_tag[(64'h1)+:(1)]) begin
            composed__lane__9 = ((32'h7fc00000) & 32'hffffffff);
        end
        else if ((parts__9[(32'h17)+:(2)] == 32'h0) || (exponent__9 == 32'h0) || exponent__9[32'h1f]) begin
            composed__lane__9 = ((32'h0) & 32'hffffffff);
        end
        else if (exponent__9 > 32'hfe) begin
            composed__lane__9 = (parts__9 & 64'h80000000) | 32'h7f800000;
        end
        else begin
            composed__lane__9 = (parts__9 & 64'h807fffff) | (exponent__9 << 32'h17);
        end
        exponent__10 = optireduce_card + 32'h5 - ((parts__10 >> 32'h19) & 32'h1f) + ((parts__10 >> 32'h18) & 32'h1);
        if (rounded__out_tag[(64'h1)+:(1)]) begin
            composed__lane__10 = ((32'h7fc00000) & 32'hffffffff);
        end
        else if ((parts__10[(32'h17)+:(2)] == 32'h0) || (exponent__10 == 32'h0) || exponent__10[32'h1f]) begin
            composed__lane__10 = ((32'h0) & 32'hffffffff);
        end
        else if (exponent__10 > 32'hfe) begin
            composed__lane__10 = (parts__10 & 64'h80000000) | 32'h7f800000;
        end
        else begin
            composed__lane__10 = (parts__10 & 64'h807fffff) | (exponent__10 << 32'h17);
        end
        exponent__11 = optireduce_card + 32'h5 - ((parts__11 >> 32'h19) & 32'h1f) + ((parts__11 >> 32'h18) & 32'h1);
        if (rounded__out_tag[(64'h1)+:(1)]) begin
            composed__lane__11 = ((32'h7fc00000) & 32'hffffffff);
        end
        else if ((parts__11[(32'h17)+:(2)] == 32'h0) || (exponent__11 == 32'h0) || exponent__11[32'h1f]) begin
            composed__lane__11 = ((32'h0) & 32'hffffffff);
        end
        else if (exponent__11 > 32'hfe) begin
            composed__lane__11 = (parts__11 & 64'h80000000) | 32'h7f800000;
        end
        else begin
            composed__lane__11 = (parts__11 & 64'h807fffff) | (exponent__11 << 32'h17);
        end
        exponent__12 = optireduce_card + 32'h5 - ((parts__12 >> 32'h19) & 32'h1f) + ((parts__12 >> 32'h18) & 32'h1);
        if (rounded__out_tag[(64'h1)+:(1)]) begin
            composed__lane__12 = ((32'h7fc00000) & 32'hffffffff);
        end
        else if ((parts__12[(32'h17)+:(2)] == 32'h0) || (exponent__12 == 32'h0) || exponent__12[32'h1f]) begin
            composed__lane__12 = ((32'h0) & 32'hffffffff);
        end
        else if (exponent__12 > 32'hfe) begin
            composed__lane__12 = (parts__12 & 64'h80000000) | 32'h7f800000;
        end
        else begin
            composed__lane__12 = (parts__12 & 64'h807fffff) | (exponent__12 << 32'h17);
        end
        exponent__13 = optireduce_card + 32'h5 - ((parts__13 >> 32'h19) & 32'h1f) + ((parts__13 >> 32'h18) & 32'h1);
        if (rounded__out_tag[(64'h1)+:(1)]) begin
            composed__lane__13 = ((32'h7fc00000) & 32'hffffffff);
        end
        else if ((parts__13[(32'h17)+:(2)] == 32'h0) || (exponent__13 == 32'h0) || exponent__13[32'h1f]) begin
            composed__lane__13 = ((32'h0) & 32'hffffffff);
        end
        else if (exponent__13 > 32'hfe) begin
            composed__lane__13 = (parts__13 & 64'h80000000) | 32'h7f800000;
        end
        else begin
            composed__lane__13 = (parts__13 & 64'h807fffff) | (exponent__13 << 32'h17);
        end
        exponent__14 = optireduce_card + 32'h5 - ((parts__14 >> 32'h19) & 32'h1f) + ((parts__14 >> 32'h18) & 32'h1);
        if (rounded__out_tag[(64'h1)+:(1)]) begin
            composed__lane__14 = ((32'h7fc00000) & 32'hffffffff);
        end
        else if ((parts__14[(32'h17)+:(2)] == 32'h0) || (exponent__14 == 32'h0) || exponent__14[32'h1f]) begin
            composed__lane__14 = ((32'h0) & 32'hffffffff);
        end
        else if (exponent__14 > 32'hfe) begin
            composed__lane__14 = (parts__14 & 64'h80000000) | 32'h7f800000;
        end
        else begin
            composed__lane__14 = (parts__14 & 64'h807fffff) | (exponent__14 << 32'h17);
        end
        exponent__15 = optireduce_card + 32'h5 - ((parts__15 >> 32'h19) & 32'h1f) + ((parts__15 >> 32'h18) & 32'h1);
        if (rounded__out_tag[(64'h1)+:(1)]) begin
            composed__lane__15 = ((32'h7fc00000) & 32'hffffffff);
        end
        else if ((parts__15[(32'h17)+:(2)] == 32'h0) || (exponent__15 == 32'h0) || exponent__15[32'h1f]) begin
            composed__lane__15 = ((32'h0) & 32'hffffffff);
        end
        else if (exponent__15 > 32'hfe) begin
            composed__lane__15 = (parts__15 & 64'h80000000) | 32'h7f800000;
        end
        else begin
            composed__lane__15 = (parts__15 & 64'h807fffff) | (exponent__15 << 32'h17);
        end
        out_tag = composed__out_tag;
        out_beat = composed__out_beat;
    end
endmodule

module optireduce_contribute__encoder__window(d,q,clock);
    // Module arguments
    input wire  [14:0] d;
    output reg  [14:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 15'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_contribute__orders__memory(clock,read_address,read_data,write_address,write_data,write_enable);
    // Module arguments
    input wire  clock;
    input wire  [2:0] read_address;
    output reg  [101:0] read_data;
    input wire  [2:0] write_address;
    input wire  [101:0] write_data;
    input wire  write_enable;
    // Update code (custom)
    (* ram_style = "distributed" *) reg [101:0] mem [0:7];
    `ifndef SYNTHESIS
    integer i;
    initial for (i = 0; i <= 7; i = i + 1) mem[i] = 0;
    `endif
    always @(*) read_data = mem[read_address];
    always @(posedge clock) if (write_enable) mem[write_address] <= write_data;
endmodule

module optireduce_contribute__outbox__memory(clock,read_address,read_data,write_address,write_data,write_enable);
    // Module arguments
    input wire  clock;
    input wire  [2:0] read_address;
    output reg  [556:0] read_data;
    input wire  [2:0] write_address;
    input wire  [556:0] write_data;
    input wire  write_enable;
    // Update code (custom)
    (* ram_style = "distributed" *) reg [556:0] mem [0:7];
    `ifndef SYNTHESIS
    integer i;
    initial for (i = 0; i <= 7; i = i + 1) mem[i] = 0;
    `endif
    always @(*) read_data = mem[read_address];
    always @(posedge clock) if (write_enable) mem[write_address] <= write_data;
endmodule

module optireduce_dma_read__owners__memory(clock,read_address,read_data,write_address,write_data,write_enable);
    // Module arguments
    input wire  clock;
    input wire  [2:0] read_address;
    output reg  read_data;
    input wire  [2:0] write_address;
    input wire  write_data;
    input wire  write_enable;
    // Update code (custom)
    (* ram_style = "distributed" *) reg [0:0] mem [0:7];
    `ifndef SYNTHESIS
    integer i;
    initial for (i = 0; i <= 7; i = i + 1) mem[i] = 0;
    `endif
    always @(*) read_data = mem[read_address];
    always @(posedge clock) if (write_enable) mem[write_address] <= write_data;
endmodule

module optireduce_finisher__inbox__memory(clock,read_address,read_data,write_address,write_data,write_enable);
    // Module arguments
    input wire  clock;
    input wire  [2:0] read_address;
    output reg  [512:0] read_data;
    input wire  [2:0] write_address;
    input wire  [512:0] write_data;
    input wire  write_enable;
    // Update code (custom)
    (* ram_style = "distributed" *) reg [512:0] mem [0:7];
    `ifndef SYNTHESIS
    integer i;
    initial for (i = 0; i <= 7; i = i + 1) mem[i] = 0;
    `endif
    always @(*) read_data = mem[read_address];
    always @(posedge clock) if (write_enable) mem[write_address] <= write_data;
endmodule

module optireduce_finisher__multiplier__pack(lane__0,lane__1,lane__2,lane__3,lane__4,lane__5,lane__6,lane__7,lane__8,lane__9,lane__10,lane__11,lane__12,lane__13,lane__14,lane__15,beat);
    // Module arguments
    input wire  [31:0] lane__0;
    input wire  [31:0] lane__1;
    input wire  [31:0] lane__2;
    input wire  [31:0] lane__3;
    input wire  [31:0] lane__4;
    input wire  [31:0] lane__5;
    input wire  [31:0] lane__6;
    input wire  [31:0] lane__7;
    input wire  [31:0] lane__8;
    input wire  [31:0] lane__9;
    input wire  [31:0] lane__10;
    input wire  [31:0] lane__11;
    input wire  [31:0] lane__12;
    input wire  [31:0] lane__13;
    input wire  [31:0] lane__14;
    input wire  [31:0] lane__15;
    output reg  [511:0] beat;
    // Update code (custom)
    always @(*) beat = {lane__15, lane__14, lane__13, lane__12, lane__11, lane__10, lane__9, lane__8, lane__7, lane__6, lane__5, lane__4, lane__3, lane__2, lane__1, lane__0};
endmodule

module optireduce_finisher__outbox__memory(clock,read_address,read_data,write_address,write_data,write_enable);
    // Module arguments
    input wire  clock;
    input wire  [8:0] read_address;
    output reg  [511:0] read_data;
    input wire  [8:0] write_address;
    input wire  [511:0] write_data;
    input wire  write_enable;
    // Update code (custom)
    (* ram_style = "distributed" *) reg [511:0] mem [0:511];
    `ifndef SYNTHESIS
    integer i;
    initial for (i = 0; i <= 511; i = i + 1) mem[i] = 0;
    `endif
    always @(*) read_data = mem[read_address];
    always @(posedge clock) if (write_enable) mem[write_address] <= write_data;
endmodule

module optireduce_finisher__reciprocal__rom(clock,address,data);
    // Module arguments
    input wire  clock;
    input wire  [10:0] address;
    output reg  [31:0] data;
    // Update code (custom)
    (* rom_style = "block" *) reg [31:0] mem [0:2047];
    initial begin
        mem[0] = 32'h3f800000;
        mem[1] = 32'h3f800000;
        mem[2] = 32'h3f000000;
        mem[3] = 32'h3eaaaaab;
        mem[4] = 32'h3e800000;
        mem[5] = 32'h3e4ccccd;
        mem[6] = 32'h3e2aaaab;
        mem[7] = 32'h3e124925;
        mem[8] = 32'h3e000000;
        mem[9] = 32'h3de38e39;
        mem[10] = 32'h3dcccccd;
        mem[11] = 32'h3dba2e8c;
        mem[12] = 32'h3daaaaab;
        mem[13] = 32'h3d9d89d9;
        mem[14] = 32'h3d924925;
        mem[15] = 32'h3d888889;
        mem[16] = 32'h3d800000;
        mem[17] = 32'h3d70f0f1;
        mem[18] = 32'h3d638e39;
        mem[19] = 32'h3d579436;
        mem[20] = 32'h3d4ccccd;
        mem[21] = 32'h3d430c31;
        mem[22] = 32'h3d3a2e8c;
        mem[23] = 32'h3d321643;
        mem[24] = 32'h3d2aaaab;
        mem[25] = 32'h3d23d70a;
        mem[26] = 32'h3d1d89d9;
        mem[27] = 32'h3d17b426;
        mem[28] = 32'h3d124925;
        mem[29] = 32'h3d0d3dcb;
        mem[30] = 32'h3d088889;
        mem[31] = 32'h3d042108;
        mem[32] = 32'h3d000000;
        mem[33] = 32'h3cf83e10;
        mem[34] = 32'h3cf0f0f1;
        mem[35] = 32'h3cea0ea1;
        mem[36] = 32'h3ce38e39;
        mem[37] = 32'h3cdd67c9;
        mem[38] = 32'h3cd79436;
        mem[39] = 32'h3cd20d21;
        mem[40] = 32'h3ccccccd;
        mem[41] = 32'h3cc7ce0c;
        mem[42] = 32'h3cc30c31;
        mem[43] = 32'h3cbe82fa;
        mem[44] = 32'h3cba2e8c;
        mem[45] = 32'h3cb60b61;
        mem[46] = 32'h3cb21643;
        mem[47] = 32'h3cae4c41;
        mem[48] = 32'h3caaaaab;
        mem[49] = 32'h3ca72f05;
        mem[50] = 32'h3ca3d70a;
        mem[51] = 32'h3ca0a0a1;
        mem[52] = 32'h3c9d89d9;
        mem[53] = 32'h3c9a90e8;
        mem[54] = 32'h3c97b426;
        mem[55] = 32'h3c94f209;
        mem[56] = 32'h3c924925;
        mem[57] = 32'h3c8fb824;
        mem[58] = 32'h3c8d3dcb;
        mem[59] = 32'h3c8ad8f3;
        mem[60] = 32'h3c888889;
        mem[61] = 32'h3c864b8a;
        mem[62] = 32'h3c842108;
        mem[63] = 32'h3c820821;
        mem[64] = 32'h3c800000;
        mem[65] = 32'h3c7c0fc1;
        mem[66] = 32'h3c783e10;
        mem[67] = 32'h3c74898d;
        mem[68] = 32'h3c70f0f1;
        mem[69] = 32'h3c6d7304;
        mem[70] = 32'h3c6a0ea1;
        mem[71] = 32'h3c66c2b4;
        mem[72] = 32'h3c638e39;
        mem[73] = 32'h3c607038;
        mem[74] = 32'h3c5d67c9;
        mem[75] = 32'h3c5a740e;
        mem[76] = 32'h3c579436;
        mem[77] = 32'h3c54c77b;
        mem[78] = 32'h3c520d21;
        mem[79] = 32'h3c4f6475;
        mem[80] = 32'h3c4ccccd;
        mem[81] = 32'h3c4a4588;
        mem[82] = 32'h3c47ce0c;
        mem[83] = 32'h3c4565c8;
        mem[84] = 32'h3c430c31;
        mem[85] = 32'h3c40c0c1;
        mem[86] = 32'h3c3e82fa;
        mem[87] = 32'h3c3c5264;
        mem[88] = 32'h3c3a2e8c;
        mem[89] = 32'h3c381703;
        mem[90] = 32'h3c360b61;
        mem[91] = 32'h3c340b41;
        mem[92] = 32'h3c321643;
        mem[93] = 32'h3c302c0b;
        mem[94] = 32'h3c2e4c41;
        mem[95] = 32'h3c2c7692;
        mem[96] = 32'h3c2aaaab;
        mem[97] = 32'h3c28e83f;
        mem[98] = 32'h3c272f05;
        mem[99] = 32'h3c257eb5;
        mem[100] = 32'h3c23d70a;
        mem[101] = 32'h3c2237c3;
        mem[102] = 32'h3c20a0a1;
        mem[103] = 32'h3c1f1166;
        mem[104] = 32'h3c1d89d9;
        mem[105] = 32'h3c1c09c1;
        mem[106] = 32'h3c1a90e8;
        mem[107] = 32'h3c191f1a;
        mem[108] = 32'h3c17b426;
        mem[109] = 32'h3c164fda;
        mem[110] = 32'h3c14f209;
        mem[111] = 32'h3c139a86;
        mem[112] = 32'h3c124925;
        mem[113] = 32'h3c10fdbc;
        mem[114] = 32'h3c0fb824;
        mem[115] = 32'h3c0e7835;
        mem[116] = 32'h3c0d3dcb;
        mem[117] = 32'h3c0c08c1;
        mem[118] = 32'h3c0ad8f3;
        mem[119] = 32'h3c09ae41;
        mem[120] = 32'h3c088889;
        mem[121] = 32'h3c0767ab;
        mem[122] = 32'h3c064b8a;
        mem[123] = 32'h3c053408;
        mem[124] = 32'h3c042108;
        mem[125] = 32'h3c03126f;
        mem[126] = 32'h3c020821;
        mem[127] = 32'h3c010204;
        mem[128] = 32'h3c000000;
        mem[129] = 32'h3bfe03f8;
        mem[130] = 32'h3bfc0fc1;
        mem[131] = 32'h3bfa232d;
        mem[132] = 32'h3bf83e10;
        mem[133] = 32'h3bf6603e;
        mem[134] = 32'h3bf4898d;
        mem[135] = 32'h3bf2b9d6;
        mem[136] = 32'h3bf0f0f1;
        mem[137] = 32'h3bef2eb7;
        mem[138] = 32'h3bed7304;
        mem[139] = 32'h3bebbdb3;
        mem[140] = 32'h3bea0ea1;
        mem[141] = 32'h3be865ac;
        mem[142] = 32'h3be6c2b4;
        mem[143] = 32'h3be52598;
        mem[144] = 32'h3be38e39;
        mem[145] = 32'h3be1fc78;
        mem[146] = 32'h3be07038;
        mem[147] = 32'h3bdee95c;
        mem[148] = 32'h3bdd67c9;
        mem[149] = 32'h3bdbeb62;
        mem[150] = 32'h3bda740e;
        mem[151] = 32'h3bd901b2;
        mem[152] = 32'h3bd79436;
        mem[153] = 32'h3bd62b81;
        mem[154] = 32'h3bd4c77b;
        mem[155] = 32'h3bd3680d;
        mem[156] = 32'h3bd20d21;
        mem[157] = 32'h3bd0b6a0;
        mem[158] = 32'h3bcf6475;
        mem[159] = 32'h3bce168a;
        mem[160] = 32'h3bcccccd;
        mem[161] = 32'h3bcb8728;
        mem[162] = 32'h3bca4588;
        mem[163] = 32'h3bc907da;
        mem[164] = 32'h3bc7ce0c;
        mem[165] = 32'h3bc6980c;
        mem[166] = 32'h3bc565c8;
        mem[167] = 32'h3bc43730;
        mem[168] = 32'h3bc30c31;
        mem[169] = 32'h3bc1e4bc;
        mem[170] = 32'h3bc0c0c1;
        mem[171] = 32'h3bbfa030;
        mem[172] = 32'h3bbe82fa;
        mem[173] = 32'h3bbd6910;
        mem[174] = 32'h3bbc5264;
        mem[175] = 32'h3bbb3ee7;
        mem[176] = 32'h3bba2e8c;
        mem[177] = 32'h3bb92144;
        mem[178] = 32'h3bb81703;
        mem[179] = 32'h3bb70fbb;
        mem[180] = 32'h3bb60b61;
        mem[181] = 32'h3bb509e7;
        mem[182] = 32'h3bb40b41;
        mem[183] = 32'h3bb30f63;
        mem[184] = 32'h3bb21643;
        mem[185] = 32'h3bb11fd4;
        mem[186] = 32'h3bb02c0b;
        mem[187] = 32'h3baf3ade;
        mem[188] = 32'h3bae4c41;
        mem[189] = 32'h3bad602b;
        mem[190] = 32'h3bac7692;
        mem[191] = 32'h3bab8f6a;
        mem[192] = 32'h3baaaaab;
        mem[193] = 32'h3ba9c84a;
        mem[194] = 32'h3ba8e83f;
        mem[195] = 32'h3ba80a81;
        mem[196] = 32'h3ba72f05;
        mem[197] = 32'h3ba655c4;
        mem[198] = 32'h3ba57eb5;
        mem[199] = 32'h3ba4a9cf;
        mem[200] = 32'h3ba3d70a;
        mem[201] = 32'h3ba3065e;
        mem[202] = 32'h3ba237c3;
        mem[203] = 32'h3ba16b31;
        mem[204] = 32'h3ba0a0a1;
        mem[205] = 32'h3b9fd80a;
        mem[206] = 32'h3b9f1166;
        mem[207] = 32'h3b9e4cad;
        mem[208] = 32'h3b9d89d9;
        mem[209] = 32'h3b9cc8e1;
        mem[210] = 32'h3b9c09c1;
        mem[211] = 32'h3b9b4c70;
        mem[212] = 32'h3b9a90e8;
        mem[213] = 32'h3b99d723;
        mem[214] = 32'h3b991f1a;
        mem[215] = 32'h3b9868c8;
        mem[216] = 32'h3b97b426;
        mem[217] = 32'h3b97012e;
        mem[218] = 32'h3b964fda;
        mem[219] = 32'h3b95a025;
        mem[220] = 32'h3b94f209;
        mem[221] = 32'h3b944581;
        mem[222] = 32'h3b939a86;
        mem[223] = 32'h3b92f114;
        mem[224] = 32'h3b924925;
        mem[225] = 32'h3b91a2b4;
        mem[226] = 32'h3b90fdbc;
        mem[227] = 32'h3b905a38;
        mem[228] = 32'h3b8fb824;
        mem[229] = 32'h3b8f177a;
        mem[230] = 32'h3b8e7835;
        mem[231] = 32'h3b8dda52;
        mem[232] = 32'h3b8d3dcb;
        mem[233] = 32'h3b8ca29c;
        mem[234] = 32'h3b8c08c1;
        mem[235] = 32'h3b8b7034;
        mem[236] = 32'h3b8ad8f3;
        mem[237] = 32'h3b8a42f8;
        mem[238] = 32'h3b89ae41;
        mem[239] = 32'h3b891ac7;
        mem[240] = 32'h3b888889;
        mem[241] = 32'h3b87f781;
        mem[242] = 32'h3b8767ab;
        mem[243] = 32'h3b86d905;
        mem[244] = 32'h3b864b8a;
        mem[245] = 32'h3b85bf37;
        mem[246] = 32'h3b853408;
        mem[247] = 32'h3b84a9fa;
        mem[248] = 32'h3b842108;
        mem[249] = 32'h3b839930;
        mem[250] = 32'h3b83126f;
        mem[251] = 32'h3b828cc0;
        mem[252] = 32'h3b820821;
        mem[253] = 32'h3b81848e;
        mem[254] = 32'h3b810204;
        mem[255] = 32'h3b808081;
        mem[256] = 32'h3b800000;
        mem[257] = 32'h3b7f00ff;
        mem[258] = 32'h3b7e03f8;
        mem[259] = 32'h3b7d08e5;
        mem[260] = 32'h3b7c0fc1;
        mem[261] = 32'h3b7b1885;
        mem[262] = 32'h3b7a232d;
        mem[263] = 32'h3b792fb2;
        mem[264] = 32'h3b783e10;
        mem[265] = 32'h3b774e40;
        mem[266] = 32'h3b76603e;
        mem[267] = 32'h3b757404;
        mem[268] = 32'h3b74898d;
        mem[269] = 32'h3b73a0d5;
        mem[270] = 32'h3b72b9d6;
        mem[271] = 32'h3b71d48c;
        mem[272] = 32'h3b70f0f1;
        mem[273] = 32'h3b700f01;
        mem[274] = 32'h3b6f2eb7;
        mem[275] = 32'h3b6e500f;
        mem[276] = 32'h3b6d7304;
        mem[277] = 32'h3b6c9791;
        mem[278] = 32'h3b6bbdb3;
        mem[279] = 32'h3b6ae564;
        mem[280] = 32'h3b6a0ea1;
        mem[281] = 32'h3b693965;
        mem[282] = 32'h3b6865ac;
        mem[283] = 32'h3b679373;
        mem[284] = 32'h3b66c2b4;
        mem[285] = 32'h3b65f36d;
        mem[286] = 32'h3b652598;
        mem[287] = 32'h3b645933;
        mem[288] = 32'h3b638e39;
        mem[289] = 32'h3b62c4a7;
        mem[290] = 32'h3b61fc78;
        mem[291] = 32'h3b6135aa;
        mem[292] = 32'h3b607038;
        mem[293] = 32'h3b5fac1f;
        mem[294] = 32'h3b5ee95c;
        mem[295] = 32'h3b5e27eb;
        mem[296] = 32'h3b5d67c9;
        mem[297] = 32'h3b5ca8f1;
        mem[298] = 32'h3b5beb62;
        mem[299] = 32'h3b5b2f17;
        mem[300] = 32'h3b5a740e;
        mem[301] = 32'h3b59ba42;
        mem[302] = 32'h3b5901b2;
        mem[303] = 32'h3b584a5a;
        mem[304] = 32'h3b579436;
        mem[305] = 32'h3b56df44;
        mem[306] = 32'h3b562b81;
        mem[307] = 32'h3b5578e9;
        mem[308] = 32'h3b54c77b;
        mem[309] = 32'h3b541733;
        mem[310] = 32'h3b53680d;
        mem[311] = 32'h3b52ba08;
        mem[312] = 32'h3b520d21;
        mem[313] = 32'h3b516154;
        mem[314] = 32'h3b50b6a0;
        mem[315] = 32'h3b500d01;
        mem[316] = 32'h3b4f6475;
        mem[317] = 32'h3b4ebcf9;
        mem[318] = 32'h3b4e168a;
        mem[319] = 32'h3b4d7127;
        mem[320] = 32'h3b4ccccd;
        mem[321] = 32'h3b4c2978;
        mem[322] = 32'h3b4b8728;
        mem[323] = 32'h3b4ae5d8;
        mem[324] = 32'h3b4a4588;
        mem[325] = 32'h3b49a634;
        mem[326] = 32'h3b4907da;
        mem[327] = 32'h3b486a79;
        mem[328] = 32'h3b47ce0c;
        mem[329] = 32'h3b473294;
        mem[330] = 32'h3b46980c;
        mem[331] = 32'h3b45fe74;
        mem[332] = 32'h3b4565c8;
        mem[333] = 32'h3b44ce08;
        mem[334] = 32'h3b443730;
        mem[335] = 32'h3b43a13e;
        mem[336] = 32'h3b430c31;
        mem[337] = 32'h3b427806;
        mem[338] = 32'h3b41e4bc;
        mem[339] = 32'h3b415250;
        mem[340] = 32'h3b40c0c1;
        mem[341] = 32'h3b40300c;
        mem[342] = 32'h3b3fa030;
        mem[343] = 32'h3b3f112b;
        mem[344] = 32'h3b3e82fa;
        mem[345] = 32'h3b3df59d;
        mem[346] = 32'h3b3d6910;
        mem[347] = 32'h3b3cdd53;
        mem[348] = 32'h3b3c5264;
        mem[349] = 32'h3b3bc841;
        mem[350] = 32'h3b3b3ee7;
        mem[351] = 32'h3b3ab656;
        mem[352] = 32'h3b3a2e8c;
        mem[353] = 32'h3b39a786;
        mem[354] = 32'h3b392144;
        mem[355] = 32'h3b389bc3;
        mem[356] = 32'h3b381703;
        mem[357] = 32'h3b379301;
        mem[358] = 32'h3b370fbb;
        mem[359] = 32'h3b368d31;
        mem[360] = 32'h3b360b61;
        mem[361] = 32'h3b358a48;
        mem[362] = 32'h3b3509e7;
        mem[363] = 32'h3b348a3a;
        mem[364] = 32'h3b340b41;
        mem[365] = 32'h3b338cfa;
        mem[366] = 32'h3b330f63;
        mem[367] = 32'h3b32927c;
        mem[368] = 32'h3b321643;
        mem[369] = 32'h3b319ab6;
        mem[370] = 32'h3b311fd4;
        mem[371] = 32'h3b30a59b;
        mem[372] = 32'h3b302c0b;
        mem[373] = 32'h3b2fb322;
        mem[374] = 32'h3b2f3ade;
        mem[375] = 32'h3b2ec33e;
        mem[376] = 32'h3b2e4c41;
        mem[377] = 32'h3b2dd5e6;
        mem[378] = 32'h3b2d602b;
        mem[379] = 32'h3b2ceb10;
        mem[380] = 32'h3b2c7692;
        mem[381] = 32'h3b2c02b0;
        mem[382] = 32'h3b2b8f6a;
        mem[383] = 32'h3b2b1cbe;
        mem[384] = 32'h3b2aaaab;
        mem[385] = 32'h3b2a392f;
        mem[386] = 32'h3b29c84a;
        mem[387] = 32'h3b2957fb;
        mem[388] = 32'h3b28e83f;
        mem[389] = 32'h3b287917;
        mem[390] = 32'h3b280a81;
        mem[391] = 32'h3b279c7b;
        mem[392] = 32'h3b272f05;
        mem[393] = 32'h3b26c21e;
        mem[394] = 32'h3b2655c4;
        mem[395] = 32'h3b25e9f7;
        mem[396] = 32'h3b257eb5;
        mem[397] = 32'h3b2513fd;
        mem[398] = 32'h3b24a9cf;
        mem[399] = 32'h3b244029;
        mem[400] = 32'h3b23d70a;
        mem[401] = 32'h3b236e72;
        mem[402] = 32'h3b23065e;
        mem[403] = 32'h3b229ecf;
        mem[404] = 32'h3b2237c3;
        mem[405] = 32'h3b21d13a;
        mem[406] = 32'h3b216b31;
        mem[407] = 32'h3b2105a9;
        mem[408] = 32'h3b20a0a1;
        mem[409] = 32'h3b203c17;
        mem[410] = 32'h3b1fd80a;
        mem[411] = 32'h3b1f747a;
        mem[412] = 32'h3b1f1166;
        mem[413] = 32'h3b1eaecd;
        mem[414] = 32'h3b1e4cad;
        mem[415] = 32'h3b1deb07;
        mem[416] = 32'h3b1d89d9;
        mem[417] = 32'h3b1d2922;
        mem[418] = 32'h3b1cc8e1;
        mem[419] = 32'h3b1c6917;
        mem[420] = 32'h3b1c09c1;
        mem[421] = 32'h3b1baadf;
        mem[422] = 32'h3b1b4c70;
        mem[423] = 32'h3b1aee73;
        mem[424] = 32'h3b1a90e8;
        mem[425] = 32'h3b1a33cd;
        mem[426] = 32'h3b19d723;
        mem[427] = 32'h3b197ae7;
        mem[428] = 32'h3b191f1a;
        mem[429] = 32'h3b18c3bb;
        mem[430] = 32'h3b1868c8;
        mem[431] = 32'h3b180e41;
        mem[432] = 32'h3b17b426;
        mem[433] = 32'h3b175a75;
        mem[434] = 32'h3b17012e;
        mem[435] = 32'h3b16a850;
        mem[436] = 32'h3b164fda;
        mem[437] = 32'h3b15f7cc;
        mem[438] = 32'h3b15a025;
        mem[439] = 32'h3b1548e5;
        mem[440] = 32'h3b14f209;
        mem[441] = 32'h3b149b93;
        mem[442] = 32'h3b144581;
        mem[443] = 32'h3b13efd2;
        mem[444] = 32'h3b139a86;
        mem[445] = 32'h3b13459c;
        mem[446] = 32'h3b12f114;
        mem[447] = 32'h3b129cec;
        mem[448] = 32'h3b124925;
        mem[449] = 32'h3b11f5bd;
        mem[450] = 32'h3b11a2b4;
        mem[451] = 32'h3b115009;
        mem[452] = 32'h3b10fdbc;
        mem[453] = 32'h3b10abcc;
        mem[454] = 32'h3b105a38;
        mem[455] = 32'h3b100901;
        mem[456] = 32'h3b0fb824;
        mem[457] = 32'h3b0f67a2;
        mem[458] = 32'h3b0f177a;
        mem[459] = 32'h3b0ec7ab;
        mem[460] = 32'h3b0e7835;
        mem[461] = 32'h3b0e2918;
        mem[462] = 32'h3b0dda52;
        mem[463] = 32'h3b0d8be3;
        mem[464] = 32'h3b0d3dcb;
        mem[465] = 32'h3b0cf009;
        mem[466] = 32'h3b0ca29c;
        mem[467] = 32'h3b0c5584;
        mem[468] = 32'h3b0c08c1;
        mem[469] = 32'h3b0bbc51;
        mem[470] = 32'h3b0b7034;
        mem[471] = 32'h3b0b246b;
        mem[472] = 32'h3b0ad8f3;
        mem[473] = 32'h3b0a8dcd;
        mem[474] = 32'h3b0a42f8;
        mem[475] = 32'h3b09f874;
        mem[476] = 32'h3b09ae41;
        mem[477] = 32'h3b09645c;
        mem[478] = 32'h3b091ac7;
        mem[479] = 32'h3b08d181;
        mem[480] = 32'h3b088889;
        mem[481] = 32'h3b083fde;
        mem[482] = 32'h3b07f781;
        mem[483] = 32'h3b07af70;
        mem[484] = 32'h3b0767ab;
        mem[485] = 32'h3b072033;
        mem[486] = 32'h3b06d905;
        mem[487] = 32'h3b069223;
        mem[488] = 32'h3b064b8a;
        mem[489] = 32'h3b06053c;
        mem[490] = 32'h3b05bf37;
        mem[491] = 32'h3b05797c;
        mem[492] = 32'h3b053408;
        mem[493] = 32'h3b04eedd;
        mem[494] = 32'h3b04a9fa;
        mem[495] = 32'h3b04655e;
        mem[496] = 32'h3b042108;
        mem[497] = 32'h3b03dcf9;
        mem[498] = 32'h3b039930;
        mem[499] = 32'h3b0355ad;
        mem[500] = 32'h3b03126f;
        mem[501] = 32'h3b02cf75;
        mem[502] = 32'h3b028cc0;
        mem[503] = 32'h3b024a4e;
        mem[504] = 32'h3b020821;
        mem[505] = 32'h3b01c636;
        mem[506] = 32'h3b01848e;
        mem[507] = 32'h3b014328;
        mem[508] = 32'h3b010204;
        mem[509] = 32'h3b00c122;
        mem[510] = 32'h3b008081;
        mem[511] = 32'h3b004020;
        mem[512] = 32'h3b000000;
        mem[513] = 32'h3aff8040;
        mem[514] = 32'h3aff00ff;
        mem[515] = 32'h3afe823d;
        mem[516] = 32'h3afe03f8;
        mem[517] = 32'h3afd8631;
        mem[518] = 32'h3afd08e5;
        mem[519] = 32'h3afc8c16;
        mem[520] = 32'h3afc0fc1;
        mem[521] = 32'h3afb93e6;
        mem[522] = 32'h3afb1885;
        mem[523] = 32'h3afa9d9d;
        mem[524] = 32'h3afa232d;
        mem[525] = 32'h3af9a934;
        mem[526] = 32'h3af92fb2;
        mem[527] = 32'h3af8b6a6;
        mem[528] = 32'h3af83e10;
        mem[529] = 32'h3af7c5ee;
        mem[530] = 32'h3af74e40;
        mem[531] = 32'h3af6d705;
        mem[532] = 32'h3af6603e;
        mem[533] = 32'h3af5e9e8;
        mem[534] = 32'h3af57404;
        mem[535] = 32'h3af4fe91;
        mem[536] = 32'h3af4898d;
        mem[537] = 32'h3af414fa;
        mem[538] = 32'h3af3a0d5;
        mem[539] = 32'h3af32d1f;
        mem[540] = 32'h3af2b9d6;
        mem[541] = 32'h3af246fb;
        mem[542] = 32'h3af1d48c;
        mem[543] = 32'h3af16289;
        mem[544] = 32'h3af0f0f1;
        mem[545] = 32'h3af07fc4;
        mem[546] = 32'h3af00f01;
        mem[547] = 32'h3aef9ea8;
        mem[548] = 32'h3aef2eb7;
        mem[549] = 32'h3aeebf2f;
        mem[550] = 32'h3aee500f;
        mem[551] = 32'h3aede156;
        mem[552] = 32'h3aed7304;
        mem[553] = 32'h3aed0518;
        mem[554] = 32'h3aec9791;
        mem[555] = 32'h3aec2a70;
        mem[556] = 32'h3aebbdb3;
        mem[557] = 32'h3aeb515a;
        mem[558] = 32'h3aeae564;
        mem[559] = 32'h3aea79d1;
        mem[560] = 32'h3aea0ea1;
        mem[561] = 32'h3ae9a3d2;
        mem[562] = 32'h3ae93965;
        mem[563] = 32'h3ae8cf59;
        mem[564] = 32'h3ae865ac;
        mem[565] = 32'h3ae7fc60;
        mem[566] = 32'h3ae79373;
        mem[567] = 32'h3ae72ae4;
        mem[568] = 32'h3ae6c2b4;
        mem[569] = 32'h3ae65ae2;
        mem[570] = 32'h3ae5f36d;
        mem[571] = 32'h3ae58c54;
        mem[572] = 32'h3ae52598;
        mem[573] = 32'h3ae4bf38;
        mem[574] = 32'h3ae45933;
        mem[575] = 32'h3ae3f389;
        mem[576] = 32'h3ae38e39;
        mem[577] = 32'h3ae32943;
        mem[578] = 32'h3ae2c4a7;
        mem[579] = 32'h3ae26063;
        mem[580] = 32'h3ae1fc78;
        mem[581] = 32'h3ae198e5;
        mem[582] = 32'h3ae135aa;
        mem[583] = 32'h3ae0d2c6;
        mem[584] = 32'h3ae07038;
        mem[585] = 32'h3ae00e01;
        mem[586] = 32'h3adfac1f;
        mem[587] = 32'h3adf4a93;
        mem[588] = 32'h3adee95c;
        mem[589] = 32'h3ade887a;
        mem[590] = 32'h3ade27eb;
        mem[591] = 32'h3addc7b0;
        mem[592] = 32'h3add67c9;
        mem[593] = 32'h3add0834;
        mem[594] = 32'h3adca8f1;
        mem[595] = 32'h3adc4a01;
        mem[596] = 32'h3adbeb62;
        mem[597] = 32'h3adb8d14;
        mem[598] = 32'h3adb2f17;
        mem[599] = 32'h3adad16a;
        mem[600] = 32'h3ada740e;
        mem[601] = 32'h3ada1700;
        mem[602] = 32'h3ad9ba42;
        mem[603] = 32'h3ad95dd3;
        mem[604] = 32'h3ad901b2;
        mem[605] = 32'h3ad8a5df;
        mem[606] = 32'h3ad84a5a;
        mem[607] = 32'h3ad7ef21;
        mem[608] = 32'h3ad79436;
        mem[609] = 32'h3ad73997;
        mem[610] = 32'h3ad6df44;
        mem[611] = 32'h3ad6853d;
        mem[612] = 32'h3ad62b81;
        mem[613] = 32'h3ad5d210;
        mem[614] = 32'h3ad578e9;
        mem[615] = 32'h3ad5200d;
        mem[616] = 32'h3ad4c77b;
        mem[617] = 32'h3ad46f32;
        mem[618] = 32'h3ad41733;
        mem[619] = 32'h3ad3bf7c;
        mem[620] = 32'h3ad3680d;
        mem[621] = 32'h3ad310e7;
        mem[622] = 32'h3ad2ba08;
        mem[623] = 32'h3ad26371;
        mem[624] = 32'h3ad20d21;
        mem[625] = 32'h3ad1b717;
        mem[626] = 32'h3ad16154;
        mem[627] = 32'h3ad10bd7;
        mem[628] = 32'h3ad0b6a0;
        mem[629] = 32'h3ad061ae;
        mem[630] = 32'h3ad00d01;
        mem[631] = 32'h3acfb899;
        mem[632] = 32'h3acf6475;
        mem[633] = 32'h3acf1095;
        mem[634] = 32'h3acebcf9;
        mem[635] = 32'h3ace69a0;
        mem[636] = 32'h3ace168a;
        mem[637] = 32'h3acdc3b8;
        mem[638] = 32'h3acd7127;
        mem[639] = 32'h3acd1ed9;
        mem[640] = 32'h3acccccd;
        mem[641] = 32'h3acc7b02;
        mem[642] = 32'h3acc2978;
        mem[643] = 32'h3acbd830;
        mem[644] = 32'h3acb8728;
        mem[645] = 32'h3acb3660;
        mem[646] = 32'h3acae5d8;
        mem[647] = 32'h3aca9590;
        mem[648] = 32'h3aca4588;
        mem[649] = 32'h3ac9f5bf;
        mem[650] = 32'h3ac9a634;
        mem[651] = 32'h3ac956e8;
        mem[652] = 32'h3ac907da;
        mem[653] = 32'h3ac8b90b;
        mem[654] = 32'h3ac86a79;
        mem[655] = 32'h3ac81c24;
        mem[656] = 32'h3ac7ce0c;
        mem[657] = 32'h3ac78032;
        mem[658] = 32'h3ac73294;
        mem[659] = 32'h3ac6e532;
        mem[660] = 32'h3ac6980c;
        mem[661] = 32'h3ac64b22;
        mem[662] = 32'h3ac5fe74;
        mem[663] = 32'h3ac5b201;
        mem[664] = 32'h3ac565c8;
        mem[665] = 32'h3ac519cb;
        mem[666] = 32'h3ac4ce08;
        mem[667] = 32'h3ac4827f;
        mem[668] = 32'h3ac43730;
        mem[669] = 32'h3ac3ec1a;
        mem[670] = 32'h3ac3a13e;
        mem[671] = 32'h3ac3569b;
        mem[672] = 32'h3ac30c31;
        mem[673] = 32'h3ac2c1ff;
        mem[674] = 32'h3ac27806;
        mem[675] = 32'h3ac22e45;
        mem[676] = 32'h3ac1e4bc;
        mem[677] = 32'h3ac19b6a;
        mem[678] = 32'h3ac15250;
        mem[679] = 32'h3ac1096d;
        mem[680] = 32'h3ac0c0c1;
        mem[681] = 32'h3ac0784b;
        mem[682] = 32'h3ac0300c;
        mem[683] = 32'h3abfe803;
        mem[684] = 32'h3abfa030;
        mem[685] = 32'h3abf5892;
        mem[686] = 32'h3abf112b;
        mem[687] = 32'h3abec9f8;
        mem[688] = 32'h3abe82fa;
        mem[689] = 32'h3abe3c31;
        mem[690] = 32'h3abdf59d;
        mem[691] = 32'h3abdaf3c;
        mem[692] = 32'h3abd6910;
        mem[693] = 32'h3abd2318;
        mem[694] = 32'h3abcdd53;
        mem[695] = 32'h3abc97c2;
        mem[696] = 32'h3abc5264;
        mem[697] = 32'h3abc0d39;
        mem[698] = 32'h3abbc841;
        mem[699] = 32'h3abb837b;
        mem[700] = 32'h3abb3ee7;
        mem[701] = 32'h3abafa86;
        mem[702] = 32'h3abab656;
        mem[703] = 32'h3aba7258;
        mem[704] = 32'h3aba2e8c;
        mem[705] = 32'h3ab9eaf0;
        mem[706] = 32'h3ab9a786;
        mem[707] = 32'h3ab9644d;
        mem[708] = 32'h3ab92144;
        mem[709] = 32'h3ab8de6c;
        mem[710] = 32'h3ab89bc3;
        mem[711] = 32'h3ab8594b;
        mem[712] = 32'h3ab81703;
        mem[713] = 32'h3ab7d4ea;
        mem[714] = 32'h3ab79301;
        mem[715] = 32'h3ab75147;
        mem[716] = 32'h3ab70fbb;
        mem[717] = 32'h3ab6ce5f;
        mem[718] = 32'h3ab68d31;
        mem[719] = 32'h3ab64c32;
        mem[720] = 32'h3ab60b61;
        mem[721] = 32'h3ab5cabe;
        mem[722] = 32'h3ab58a48;
        mem[723] = 32'h3ab54a01;
        mem[724] = 32'h3ab509e7;
        mem[725] = 32'h3ab4c9fa;
        mem[726] = 32'h3ab48a3a;
        mem[727] = 32'h3ab44aa7;
        mem[728] = 32'h3ab40b41;
        mem[729] = 32'h3ab3cc07;
        mem[730] = 32'h3ab38cfa;
        mem[731] = 32'h3ab34e19;
        mem[732] = 32'h3ab30f63;
        mem[733] = 32'h3ab2d0da;
        mem[734] = 32'h3ab2927c;
        mem[735] = 32'h3ab2544a;
        mem[736] = 32'h3ab21643;
        mem[737] = 32'h3ab1d867;
        mem[738] = 32'h3ab19ab6;
        mem[739] = 32'h3ab15d2f;
        mem[740] = 32'h3ab11fd4;
        mem[741] = 32'h3ab0e2a2;
        mem[742] = 32'h3ab0a59b;
        mem[743] = 32'h3ab068be;
        mem[744] = 32'h3ab02c0b;
        mem[745] = 32'h3aafef82;
        mem[746] = 32'h3aafb322;
        mem[747] = 32'h3aaf76eb;
        mem[748] = 32'h3aaf3ade;
        mem[749] = 32'h3aaefefa;
        mem[750] = 32'h3aaec33e;
        mem[751] = 32'h3aae87ab;
        mem[752] = 32'h3aae4c41;
        mem[753] = 32'h3aae1100;
        mem[754] = 32'h3aadd5e6;
        mem[755] = 32'h3aad9af5;
        mem[756] = 32'h3aad602b;
        mem[757] = 32'h3aad258a;
        mem[758] = 32'h3aaceb10;
        mem[759] = 32'h3aacb0bd;
        mem[760] = 32'h3aac7692;
        mem[761] = 32'h3aac3c8d;
        mem[762] = 32'h3aac02b0;
        mem[763] = 32'h3aabc8fa;
        mem[764] = 32'h3aab8f6a;
        mem[765] = 32'h3aab5601;
        mem[766] = 32'h3aab1cbe;
        mem[767] = 32'h3aaae3a1;
        mem[768] = 32'h3aaaaaab;
        mem[769] = 32'h3aaa71da;
        mem[770] = 32'h3aaa392f;
        mem[771] = 32'h3aaa00aa;
        mem[772] = 32'h3aa9c84a;
        mem[773] = 32'h3aa99010;
        mem[774] = 32'h3aa957fb;
        mem[775] = 32'h3aa9200b;
        mem[776] = 32'h3aa8e83f;
        mem[777] = 32'h3aa8b099;
        mem[778] = 32'h3aa87917;
        mem[779] = 32'h3aa841ba;
        mem[780] = 32'h3aa80a81;
        mem[781] = 32'h3aa7d36c;
        mem[782] = 32'h3aa79c7b;
        mem[783] = 32'h3aa765ae;
        mem[784] = 32'h3aa72f05;
        mem[785] = 32'h3aa6f880;
        mem[786] = 32'h3aa6c21e;
        mem[787] = 32'h3aa68bdf;
        mem[788] = 32'h3aa655c4;
        mem[789] = 32'h3aa61fcc;
        mem[790] = 32'h3aa5e9f7;
        mem[791] = 32'h3aa5b445;
        mem[792] = 32'h3aa57eb5;
        mem[793] = 32'h3aa54948;
        mem[794] = 32'h3aa513fd;
        mem[795] = 32'h3aa4ded5;
        mem[796] = 32'h3aa4a9cf;
        mem[797] = 32'h3aa474eb;
        mem[798] = 32'h3aa44029;
        mem[799] = 32'h3aa40b89;
        mem[800] = 32'h3aa3d70a;
        mem[801] = 32'h3aa3a2ad;
        mem[802] = 32'h3aa36e72;
        mem[803] = 32'h3aa33a57;
        mem[804] = 32'h3aa3065e;
        mem[805] = 32'h3aa2d286;
        mem[806] = 32'h3aa29ecf;
        mem[807] = 32'h3aa26b39;
        mem[808] = 32'h3aa237c3;
        mem[809] = 32'h3aa2046e;
        mem[810] = 32'h3aa1d13a;
        mem[811] = 32'h3aa19e25;
        mem[812] = 32'h3aa16b31;
        mem[813] = 32'h3aa1385d;
        mem[814] = 32'h3aa105a9;
        mem[815] = 32'h3aa0d315;
        mem[816] = 32'h3aa0a0a1;
        mem[817] = 32'h3aa06e4c;
        mem[818] = 32'h3aa03c17;
        mem[819] = 32'h3aa00a01;
        mem[820] = 32'h3a9fd80a;
        mem[821] = 32'h3a9fa633;
        mem[822] = 32'h3a9f747a;
        mem[823] = 32'h3a9f42e1;
        mem[824] = 32'h3a9f1166;
        mem[825] = 32'h3a9ee00a;
        mem[826] = 32'h3a9eaecd;
        mem[827] = 32'h3a9e7dae;
        mem[828] = 32'h3a9e4cad;
        mem[829] = 32'h3a9e1bcb;
        mem[830] = 32'h3a9deb07;
        mem[831] = 32'h3a9dba61;
        mem[832] = 32'h3a9d89d9;
        mem[833] = 32'h3a9d596e;
        mem[834] = 32'h3a9d2922;
        mem[835] = 32'h3a9cf8f3;
        mem[836] = 32'h3a9cc8e1;
        mem[837] = 32'h3a9c98ed;
        mem[838] = 32'h3a9c6917;
        mem[839] = 32'h3a9c395d;
        mem[840] = 32'h3a9c09c1;
        mem[841] = 32'h3a9bda41;
        mem[842] = 32'h3a9baadf;
        mem[843] = 32'h3a9b7b99;
        mem[844] = 32'h3a9b4c70;
        mem[845] = 32'h3a9b1d63;
        mem[846] = 32'h3a9aee73;
        mem[847] = 32'h3a9abf9f;
        mem[848] = 32'h3a9a90e8;
        mem[849] = 32'h3a9a624d;
        mem[850] = 32'h3a9a33cd;
        mem[851] = 32'h3a9a056a;
        mem[852] = 32'h3a99d723;
        mem[853] = 32'h3a99a8f7;
        mem[854] = 32'h3a997ae7;
        mem[855] = 32'h3a994cf3;
        mem[856] = 32'h3a991f1a;
        mem[857] = 32'h3a98f15d;
        mem[858] = 32'h3a98c3bb;
        mem[859] = 32'h3a989634;
        mem[860] = 32'h3a9868c8;
        mem[861] = 32'h3a983b77;
        mem[862] = 32'h3a980e41;
        mem[863] = 32'h3a97e126;
        mem[864] = 32'h3a97b426;
        mem[865] = 32'h3a978740;
        mem[866] = 32'h3a975a75;
        mem[867] = 32'h3a972dc4;
        mem[868] = 32'h3a97012e;
        mem[869] = 32'h3a96d4b2;
        mem[870] = 32'h3a96a850;
        mem[871] = 32'h3a967c08;
        mem[872] = 32'h3a964fda;
        mem[873] = 32'h3a9623c7;
        mem[874] = 32'h3a95f7cc;
        mem[875] = 32'h3a95cbec;
        mem[876] = 32'h3a95a025;
        mem[877] = 32'h3a957478;
        mem[878] = 32'h3a9548e5;
        mem[879] = 32'h3a951d6a;
        mem[880] = 32'h3a94f209;
        mem[881] = 32'h3a94c6c2;
        mem[882] = 32'h3a949b93;
        mem[883] = 32'h3a94707d;
        mem[884] = 32'h3a944581;
        mem[885] = 32'h3a941a9d;
        mem[886] = 32'h3a93efd2;
        mem[887] = 32'h3a93c51f;
        mem[888] = 32'h3a939a86;
        mem[889] = 32'h3a937005;
        mem[890] = 32'h3a93459c;
        mem[891] = 32'h3a931b4c;
        mem[892] = 32'h3a92f114;
        mem[893] = 32'h3a92c6f4;
        mem[894] = 32'h3a929cec;
        mem[895] = 32'h3a9272fc;
        mem[896] = 32'h3a924925;
        mem[897] = 32'h3a921f65;
        mem[898] = 32'h3a91f5bd;
        mem[899] = 32'h3a91cc2c;
        mem[900] = 32'h3a91a2b4;
        mem[901] = 32'h3a917953;
        mem[902] = 32'h3a915009;
        mem[903] = 32'h3a9126d7;
        mem[904] = 32'h3a90fdbc;
        mem[905] = 32'h3a90d4b8;
        mem[906] = 32'h3a90abcc;
        mem[907] = 32'h3a9082f7;
        mem[908] = 32'h3a905a38;
        mem[909] = 32'h3a903191;
        mem[910] = 32'h3a900901;
        mem[911] = 32'h3a8fe087;
        mem[912] = 32'h3a8fb824;
        mem[913] = 32'h3a8f8fd8;
        mem[914] = 32'h3a8f67a2;
        mem[915] = 32'h3a8f3f83;
        mem[916] = 32'h3a8f177a;
        mem[917] = 32'h3a8eef87;
        mem[918] = 32'h3a8ec7ab;
        mem[919] = 32'h3a8e9fe5;
        mem[920] = 32'h3a8e7835;
        mem[921] = 32'h3a8e509c;
        mem[922] = 32'h3a8e2918;
        mem[923] = 32'h3a8e01aa;
        mem[924] = 32'h3a8dda52;
        mem[925] = 32'h3a8db310;
        mem[926] = 32'h3a8d8be3;
        mem[927] = 32'h3a8d64cc;
        mem[928] = 32'h3a8d3dcb;
        mem[929] = 32'h3a8d16df;
        mem[930] = 32'h3a8cf009;
        mem[931] = 32'h3a8cc948;
        mem[932] = 32'h3a8ca29c;
        mem[933] = 32'h3a8c7c05;
        mem[934] = 32'h3a8c5584;
        mem[935] = 32'h3a8c2f18;
        mem[936] = 32'h3a8c08c1;
        mem[937] = 32'h3a8be27e;
        mem[938] = 32'h3a8bbc51;
        mem[939] = 32'h3a8b9638;
        mem[940] = 32'h3a8b7034;
        mem[941] = 32'h3a8b4a45;
        mem[942] = 32'h3a8b246b;
        mem[943] = 32'h3a8afea5;
        mem[944] = 32'h3a8ad8f3;
        mem[945] = 32'h3a8ab356;
        mem[946] = 32'h3a8a8dcd;
        mem[947] = 32'h3a8a6859;
        mem[948] = 32'h3a8a42f8;
        mem[949] = 32'h3a8a1dac;
        mem[950] = 32'h3a89f874;
        mem[951] = 32'h3a89d350;
        mem[952] = 32'h3a89ae41;
        mem[953] = 32'h3a898944;
        mem[954] = 32'h3a89645c;
        mem[955] = 32'h3a893f88;
        mem[956] = 32'h3a891ac7;
        mem[957] = 32'h3a88f61a;
        mem[958] = 32'h3a88d181;
        mem[959] = 32'h3a88acfb;
        mem[960] = 32'h3a888889;
        mem[961] = 32'h3a88642a;
        mem[962] = 32'h3a883fde;
        mem[963] = 32'h3a881ba6;
        mem[964] = 32'h3a87f781;
        mem[965] = 32'h3a87d36f;
        mem[966] = 32'h3a87af70;
        mem[967] = 32'h3a878b84;
        mem[968] = 32'h3a8767ab;
        mem[969] = 32'h3a8743e6;
        mem[970] = 32'h3a872033;
        mem[971] = 32'h3a86fc93;
        mem[972] = 32'h3a86d905;
        mem[973] = 32'h3a86b58b;
        mem[974] = 32'h3a869223;
        mem[975] = 32'h3a866ecd;
        mem[976] = 32'h3a864b8a;
        mem[977] = 32'h3a86285a;
        mem[978] = 32'h3a86053c;
        mem[979] = 32'h3a85e231;
        mem[980] = 32'h3a85bf37;
        mem[981] = 32'h3a859c50;
        mem[982] = 32'h3a85797c;
        mem[983] = 32'h3a8556b9;
        mem[984] = 32'h3a853408;
        mem[985] = 32'h3a85116a;
        mem[986] = 32'h3a84eedd;
        mem[987] = 32'h3a84cc63;
        mem[988] = 32'h3a84a9fa;
        mem[989] = 32'h3a8487a3;
        mem[990] = 32'h3a84655e;
        mem[991] = 32'h3a84432a;
        mem[992] = 32'h3a842108;
        mem[993] = 32'h3a83fef8;
        mem[994] = 32'h3a83dcf9;
        mem[995] = 32'h3a83bb0c;
        mem[996] = 32'h3a839930;
        mem[997] = 32'h3a837766;
        mem[998] = 32'h3a8355ad;
        mem[999] = 32'h3a833405;
        mem[1000] = 32'h3a83126f;
        mem[1001] = 32'h3a82f0e9;
        mem[1002] = 32'h3a82cf75;
        mem[1003] = 32'h3a82ae12;
        mem[1004] = 32'h3a828cc0;
        mem[1005] = 32'h3a826b7f;
        mem[1006] = 32'h3a824a4e;
        mem[1007] = 32'h3a82292f;
        mem[1008] = 32'h3a820821;
        mem[1009] = 32'h3a81e723;
        mem[1010] = 32'h3a81c636;
        mem[1011] = 32'h3a81a559;
        mem[1012] = 32'h3a81848e;
        mem[1013] = 32'h3a8163d3;
        mem[1014] = 32'h3a814328;
        mem[1015] = 32'h3a81228e;
        mem[1016] = 32'h3a810204;
        mem[1017] = 32'h3a80e18b;
        mem[1018] = 32'h3a80c122;
        mem[1019] = 32'h3a80a0c9;
        mem[1020] = 32'h3a808081;
        mem[1021] = 32'h3a806048;
        mem[1022] = 32'h3a804020;
        mem[1023] = 32'h3a802008;
        mem[1024] = 32'h3a800000;
        mem[1025] = 32'h0;
        mem[1026] = 32'h0;
        mem[1027] = 32'h0;
        mem[1028] = 32'h0;
        mem[1029] = 32'h0;
        mem[1030] = 32'h0;
        mem[1031] = 32'h0;
        mem[1032] = 32'h0;
        mem[1033] = 32'h0;
        mem[1034] = 32'h0;
        mem[1035] = 32'h0;
        mem[1036] = 32'h0;
        mem[1037] = 32'h0;
        mem[1038] = 32'h0;
        mem[1039] = 32'h0;
        mem[1040] = 32'h0;
        mem[1041] = 32'h0;
        mem[1042] = 32'h0;
        mem[1043] = 32'h0;
        mem[1044] = 32'h0;
        mem[1045] = 32'h0;
        mem[1046] = 32'h0;
        mem[1047] = 32'h0;
        mem[1048] = 32'h0;
        mem[1049] = 32'h0;
        mem[1050] = 32'h0;
        mem[1051] = 32'h0;
        mem[1052] = 32'h0;
        mem[1053] = 32'h0;
        mem[1054] = 32'h0;
        mem[1055] = 32'h0;
        mem[1056] = 32'h0;
        mem[1057] = 32'h0;
        mem[1058] = 32'h0;
        mem[1059] = 32'h0;
        mem[1060] = 32'h0;
        mem[1061] = 32'h0;
        mem[1062] = 32'h0;
        mem[1063] = 32'h0;
        mem[1064] = 32'h0;
        mem[1065] = 32'h0;
        mem[1066] = 32'h0;
        mem[1067] = 32'h0;
        mem[1068] = 32'h0;
        mem[1069] = 32'h0;
        mem[1070] = 32'h0;
        mem[1071] = 32'h0;
        mem[1072] = 32'h0;
        mem[1073] = 32'h0;
        mem[1074] = 32'h0;
        mem[1075] = 32'h0;
        mem[1076] = 32'h0;
        mem[1077] = 32'h0;
        mem[1078] = 32'h0;
        mem[1079] = 32'h0;
        mem[1080] = 32'h0;
        mem[1081] = 32'h0;
        mem[1082] = 32'h0;
        mem[1083] = 32'h0;
        mem[1084] = 32'h0;
        mem[1085] = 32'h0;
        mem[1086] = 32'h0;
        mem[1087] = 32'h0;
        mem[1088] = 32'h0;
        mem[1089] = 32'h0;
        mem[1090] = 32'h0;
        mem[1091] = 32'h0;
        mem[1092] = 32'h0;
        mem[1093] = 32'h0;
        mem[1094] = 32'h0;
        mem[1095] = 32'h0;
        mem[1096] = 32'h0;
        mem[1097] = 32'h0;
        mem[1098] = 32'h0;
        mem[1099] = 32'h0;
        mem[1100] = 32'h0;
        mem[1101] = 32'h0;
        mem[1102] = 32'h0;
        mem[1103] = 32'h0;
        mem[1104] = 32'h0;
        mem[1105] = 32'h0;
        mem[1106] = 32'h0;
        mem[1107] = 32'h0;
        mem[1108] = 32'h0;
        mem[1109] = 32'h0;
        mem[1110] = 32'h0;
        mem[1111] = 32'h0;
        mem[1112] = 32'h0;
        mem[1113] = 32'h0;
        mem[1114] = 32'h0;
        mem[1115] = 32'h0;
        mem[1116] = 32'h0;
        mem[1117] = 32'h0;
        mem[1118] = 32'h0;
        mem[1119] = 32'h0;
        mem[1120] = 32'h0;
        mem[1121] = 32'h0;
        mem[1122] = 32'h0;
        mem[1123] = 32'h0;
        mem[1124] = 32'h0;
        mem[1125] = 32'h0;
        mem[1126] = 32'h0;
        mem[1127] = 32'h0;
        mem[1128] = 32'h0;
        mem[1129] = 32'h0;
        mem[1130] = 32'h0;
        mem[1131] = 32'h0;
        mem[1132] = 32'h0;
        mem[1133] = 32'h0;
        mem[1134] = 32'h0;
        mem[1135] = 32'h0;
        mem[1136] = 32'h0;
        mem[1137] = 32'h0;
        mem[1138] = 32'h0;
        mem[1139] = 32'h0;
        mem[1140] = 32'h0;
        mem[1141] = 32'h0;
        mem[1142] = 32'h0;
        mem[1143] = 32'h0;
        mem[1144] = 32'h0;
        mem[1145] = 32'h0;
        mem[1146] = 32'h0;
        mem[1147] = 32'h0;
        mem[1148] = 32'h0;
        mem[1149] = 32'h0;
        mem[1150] = 32'h0;
        mem[1151] = 32'h0;
        mem[1152] = 32'h0;
        mem[1153] = 32'h0;
        mem[1154] = 32'h0;
        mem[1155] = 32'h0;
        mem[1156] = 32'h0;
        mem[1157] = 32'h0;
        mem[1158] = 32'h0;
        mem[1159] = 32'h0;
        mem[1160] = 32'h0;
        mem[1161] = 32'h0;
        mem[1162] = 32'h0;
        mem[1163] = 32'h0;
        mem[1164] = 32'h0;
        mem[1165] = 32'h0;
        mem[1166] = 32'h0;
        mem[1167] = 32'h0;
        mem[1168] = 32'h0;
        mem[1169] = 32'h0;
        mem[1170] = 32'h0;
        mem[1171] = 32'h0;
        mem[1172] = 32'h0;
        mem[1173] = 32'h0;
        mem[1174] = 32'h0;
        mem[1175] = 32'h0;
        mem[1176] = 32'h0;
        mem[1177] = 32'h0;
        mem[1178] = 32'h0;
        mem[1179] = 32'h0;
        mem[1180] = 32'h0;
        mem[1181] = 32'h0;
        mem[1182] = 32'h0;
        mem[1183] = 32'h0;
        mem[1184] = 32'h0;
        mem[1185] = 32'h0;
        mem[1186] = 32'h0;
        mem[1187] = 32'h0;
        mem[1188] = 32'h0;
        mem[1189] = 32'h0;
        mem[1190] = 32'h0;
        mem[1191] = 32'h0;
        mem[1192] = 32'h0;
        mem[1193] = 32'h0;
        mem[1194] = 32'h0;
        mem[1195] = 32'h0;
        mem[1196] = 32'h0;
        mem[1197] = 32'h0;
        mem[1198] = 32'h0;
        mem[1199] = 32'h0;
        mem[1200] = 32'h0;
        mem[1201] = 32'h0;
        mem[1202] = 32'h0;
        mem[1203] = 32'h0;
        mem[1204] = 32'h0;
        mem[1205] = 32'h0;
        mem[1206] = 32'h0;
        mem[1207] = 32'h0;
        mem[1208] = 32'h0;
        mem[1209] = 32'h0;
        mem[1210] = 32'h0;
        mem[1211] = 32'h0;
        mem[1212] = 32'h0;
        mem[1213] = 32'h0;
        mem[1214] = 32'h0;
        mem[1215] = 32'h0;
        mem[1216] = 32'h0;
        mem[1217] = 32'h0;
        mem[1218] = 32'h0;
        mem[1219] = 32'h0;
        mem[1220] = 32'h0;
        mem[1221] = 32'h0;
        mem[1222] = 32'h0;
        mem[1223] = 32'h0;
        mem[1224] = 32'h0;
        mem[1225] = 32'h0;
        mem[1226] = 32'h0;
        mem[1227] = 32'h0;
        mem[1228] = 32'h0;
        mem[1229] = 32'h0;
        mem[1230] = 32'h0;
        mem[1231] = 32'h0;
        mem[1232] = 32'h0;
        mem[1233] = 32'h0;
        mem[1234] = 32'h0;
        mem[1235] = 32'h0;
        mem[1236] = 32'h0;
        mem[1237] = 32'h0;
        mem[1238] = 32'h0;
        mem[1239] = 32'h0;
        mem[1240] = 32'h0;
        mem[1241] = 32'h0;
        mem[1242] = 32'h0;
        mem[1243] = 32'h0;
        mem[1244] = 32'h0;
        mem[1245] = 32'h0;
        mem[1246] = 32'h0;
        mem[1247] = 32'h0;
        mem[1248] = 32'h0;
        mem[1249] = 32'h0;
        mem[1250] = 32'h0;
        mem[1251] = 32'h0;
        mem[1252] = 32'h0;
        mem[1253] = 32'h0;
        mem[1254] = 32'h0;
        mem[1255] = 32'h0;
        mem[1256] = 32'h0;
        mem[1257] = 32'h0;
        mem[1258] = 32'h0;
        mem[1259] = 32'h0;
        mem[1260] = 32'h0;
        mem[1261] = 32'h0;
        mem[1262] = 32'h0;
        mem[1263] = 32'h0;
        mem[1264] = 32'h0;
        mem[1265] = 32'h0;
        mem[1266] = 32'h0;
        mem[1267] = 32'h0;
        mem[1268] = 32'h0;
        mem[1269] = 32'h0;
        mem[1270] = 32'h0;
        mem[1271] = 32'h0;
        mem[1272] = 32'h0;
        mem[1273] = 32'h0;
        mem[1274] = 32'h0;
        mem[1275] = 32'h0;
        mem[1276] = 32'h0;
        mem[1277] = 32'h0;
        mem[1278] = 32'h0;
        mem[1279] = 32'h0;
        mem[1280] = 32'h0;
        mem[1281] = 32'h0;
        mem[1282] = 32'h0;
        mem[1283] = 32'h0;
        mem[1284] = 32'h0;
        mem[1285] = 32'h0;
        mem[1286] = 32'h0;
        mem[1287] = 32'h0;
        mem[1288] = 32'h0;
        mem[1289] = 32'h0;
        mem[1290] = 32'h0;
        mem[1291] = 32'h0;
        mem[1292] = 32'h0;
        mem[1293] = 32'h0;
        mem[1294] = 32'h0;
        mem[1295] = 32'h0;
        mem[1296] = 32'h0;
        mem[1297] = 32'h0;
        mem[1298] = 32'h0;
        mem[1299] = 32'h0;
        mem[1300] = 32'h0;
        mem[1301] = 32'h0;
        mem[1302] = 32'h0;
        mem[1303] = 32'h0;
        mem[1304] = 32'h0;
        mem[1305] = 32'h0;
        mem[1306] = 32'h0;
        mem[1307] = 32'h0;
        mem[1308] = 32'h0;
        mem[1309] = 32'h0;
        mem[1310] = 32'h0;
        mem[1311] = 32'h0;
        mem[1312] = 32'h0;
        mem[1313] = 32'h0;
        mem[1314] = 32'h0;
        mem[1315] = 32'h0;
        mem[1316] = 32'h0;
        mem[1317] = 32'h0;
        mem[1318] = 32'h0;
        mem[1319] = 32'h0;
        mem[1320] = 32'h0;
        mem[1321] = 32'h0;
        mem[1322] = 32'h0;
        mem[1323] = 32'h0;
        mem[1324] = 32'h0;
        mem[1325] = 32'h0;
        mem[1326] = 32'h0;
        mem[1327] = 32'h0;
        mem[1328] = 32'h0;
        mem[1329] = 32'h0;
        mem[1330] = 32'h0;
        mem[1331] = 32'h0;
        mem[1332] = 32'h0;
        mem[1333] = 32'h0;
        mem[1334] = 32'h0;
        mem[1335] = 32'h0;
        mem[1336] = 32'h0;
        mem[1337] = 32'h0;
        mem[1338] = 32'h0;
        mem[1339] = 32'h0;
        mem[1340] = 32'h0;
        mem[1341] = 32'h0;
        mem[1342] = 32'h0;
        mem[1343] = 32'h0;
        mem[1344] = 32'h0;
        mem[1345] = 32'h0;
        mem[1346] = 32'h0;
        mem[1347] = 32'h0;
        mem[1348] = 32'h0;
        mem[1349] = 32'h0;
        mem[1350] = 32'h0;
        mem[1351] = 32'h0;
        mem[1352] = 32'h0;
        mem[1353] = 32'h0;
        mem[1354] = 32'h0;
        mem[1355] = 32'h0;
        mem[1356] = 32'h0;
        mem[1357] = 32'h0;
        mem[1358] = 32'h0;
        mem[1359] = 32'h0;
        mem[1360] = 32'h0;
        mem[1361] = 32'h0;
        mem[1362] = 32'h0;
        mem[1363] = 32'h0;
        mem[1364] = 32'h0;
        mem[1365] = 32'h0;
        mem[1366] = 32'h0;
        mem[1367] = 32'h0;
        mem[1368] = 32'h0;
        mem[1369] = 32'h0;
        mem[1370] = 32'h0;
        mem[1371] = 32'h0;
        mem[1372] = 32'h0;
        mem[1373] = 32'h0;
        mem[1374] = 32'h0;
        mem[1375] = 32'h0;
        mem[1376] = 32'h0;
        mem[1377] = 32'h0;
        mem[1378] = 32'h0;
        mem[1379] = 32'h0;
        mem[1380] = 32'h0;
        mem[1381] = 32'h0;
        mem[1382] = 32'h0;
        mem[1383] = 32'h0;
        mem[1384] = 32'h0;
        mem[1385] = 32'h0;
        mem[1386] = 32'h0;
        mem[1387] = 32'h0;
        mem[1388] = 32'h0;
        mem[1389] = 32'h0;
        mem[1390] = 32'h0;
        mem[1391] = 32'h0;
        mem[1392] = 32'h0;
        mem[1393] = 32'h0;
        mem[1394] = 32'h0;
        mem[1395] = 32'h0;
        mem[1396] = 32'h0;
        mem[1397] = 32'h0;
        mem[1398] = 32'h0;
        mem[1399] = 32'h0;
        mem[1400] = 32'h0;
        mem[1401] = 32'h0;
        mem[1402] = 32'h0;
        mem[1403] = 32'h0;
        mem[1404] = 32'h0;
        mem[1405] = 32'h0;
        mem[1406] = 32'h0;
        mem[1407] = 32'h0;
        mem[1408] = 32'h0;
        mem[1409] = 32'h0;
        mem[1410] = 32'h0;
        mem[1411] = 32'h0;
        mem[1412] = 32'h0;
        mem[1413] = 32'h0;
        mem[1414] = 32'h0;
        mem[1415] = 32'h0;
        mem[1416] = 32'h0;
        mem[1417] = 32'h0;
        mem[1418] = 32'h0;
        mem[1419] = 32'h0;
        mem[1420] = 32'h0;
        mem[1421] = 32'h0;
        mem[1422] = 32'h0;
        mem[1423] = 32'h0;
        mem[1424] = 32'h0;
        mem[1425] = 32'h0;
        mem[1426] = 32'h0;
        mem[1427] = 32'h0;
        mem[1428] = 32'h0;
        mem[1429] = 32'h0;
        mem[1430] = 32'h0;
        mem[1431] = 32'h0;
        mem[1432] = 32'h0;
        mem[1433] = 32'h0;
        mem[1434] = 32'h0;
        mem[1435] = 32'h0;
        mem[1436] = 32'h0;
        mem[1437] = 32'h0;
        mem[1438] = 32'h0;
        mem[1439] = 32'h0;
        mem[1440] = 32'h0;
        mem[1441] = 32'h0;
        mem[1442] = 32'h0;
        mem[1443] = 32'h0;
        mem[1444] = 32'h0;
        mem[1445] = 32'h0;
        mem[1446] = 32'h0;
        mem[1447] = 32'h0;
        mem[1448] = 32'h0;
        mem[1449] = 32'h0;
        mem[1450] = 32'h0;
        mem[1451] = 32'h0;
        mem[1452] = 32'h0;
        mem[1453] = 32'h0;
        mem[1454] = 32'h0;
        mem[1455] = 32'h0;
        mem[1456] = 32'h0;
        mem[1457] = 32'h0;
        mem[1458] = 32'h0;
        mem[1459] = 32'h0;
        mem[1460] = 32'h0;
        mem[1461] = 32'h0;
        mem[1462] = 32'h0;
        mem[1463] = 32'h0;
        mem[1464] = 32'h0;
        mem[1465] = 32'h0;
        mem[1466] = 32'h0;
        mem[1467] = 32'h0;
        mem[1468] = 32'h0;
        mem[1469] = 32'h0;
        mem[1470] = 32'h0;
        mem[1471] = 32'h0;
        mem[1472] = 32'h0;
        mem[1473] = 32'h0;
        mem[1474] = 32'h0;
        mem[1475] = 32'h0;
        mem[1476] = 32'h0;
        mem[1477] = 32'h0;
        mem[1478] = 32'h0;
        mem[1479] = 32'h0;
        mem[1480] = 32'h0;
        mem[1481] = 32'h0;
        mem[1482] = 32'h0;
        mem[1483] = 32'h0;
        mem[1484] = 32'h0;
        mem[1485] = 32'h0;
        mem[1486] = 32'h0;
        mem[1487] = 32'h0;
        mem[1488] = 32'h0;
        mem[1489] = 32'h0;
        mem[1490] = 32'h0;
        mem[1491] = 32'h0;
        mem[1492] = 32'h0;
        mem[1493] = 32'h0;
        mem[1494] = 32'h0;
        mem[1495] = 32'h0;
        mem[1496] = 32'h0;
        mem[1497] = 32'h0;
        mem[1498] = 32'h0;
        mem[1499] = 32'h0;
        mem[1500] = 32'h0;
        mem[1501] = 32'h0;
        mem[1502] = 32'h0;
        mem[1503] = 32'h0;
        mem[1504] = 32'h0;
        mem[1505] = 32'h0;
        mem[1506] = 32'h0;
        mem[1507] = 32'h0;
        mem[1508] = 32'h0;
        mem[1509] = 32'h0;
        mem[1510] = 32'h0;
        mem[1511] = 32'h0;
        mem[1512] = 32'h0;
        mem[1513] = 32'h0;
        mem[1514] = 32'h0;
        mem[1515] = 32'h0;
        mem[1516] = 32'h0;
        mem[1517] = 32'h0;
        mem[1518] = 32'h0;
        mem[1519] = 32'h0;
        mem[1520] = 32'h0;
        mem[1521] = 32'h0;
        mem[1522] = 32'h0;
        mem[1523] = 32'h0;
        mem[1524] = 32'h0;
        mem[1525] = 32'h0;
        mem[1526] = 32'h0;
        mem[1527] = 32'h0;
        mem[1528] = 32'h0;
        mem[1529] = 32'h0;
        mem[1530] = 32'h0;
        mem[1531] = 32'h0;
        mem[1532] = 32'h0;
        mem[1533] = 32'h0;
        mem[1534] = 32'h0;
        mem[1535] = 32'h0;
        mem[1536] = 32'h0;
        mem[1537] = 32'h0;
        mem[1538] = 32'h0;
        mem[1539] = 32'h0;
        mem[1540] = 32'h0;
        mem[1541] = 32'h0;
        mem[1542] = 32'h0;
        mem[1543] = 32'h0;
        mem[1544] = 32'h0;
        mem[1545] = 32'h0;
        mem[1546] = 32'h0;
        mem[1547] = 32'h0;
        mem[1548] = 32'h0;
        mem[1549] = 32'h0;
        mem[1550] = 32'h0;
        mem[1551] = 32'h0;
        mem[1552] = 32'h0;
        mem[1553] = 32'h0;
        mem[1554] = 32'h0;
        mem[1555] = 32'h0;
        mem[1556] = 32'h0;
        mem[1557] = 32'h0;
        mem[1558] = 32'h0;
        mem[1559] = 32'h0;
        mem[1560] = 32'h0;
        mem[1561] = 32'h0;
        mem[1562] = 32'h0;
        mem[1563] = 32'h0;
        mem[1564] = 32'h0;
        mem[1565] = 32'h0;
        mem[1566] = 32'h0;
        mem[1567] = 32'h0;
        mem[1568] = 32'h0;
        mem[1569] = 32'h0;
        mem[1570] = 32'h0;
        mem[1571] = 32'h0;
        mem[1572] = 32'h0;
        mem[1573] = 32'h0;
        mem[1574] = 32'h0;
        mem[1575] = 32'h0;
        mem[1576] = 32'h0;
        mem[1577] = 32'h0;
        mem[1578] = 32'h0;
        mem[1579] = 32'h0;
        mem[1580] = 32'h0;
        mem[1581] = 32'h0;
        mem[1582] = 32'h0;
        mem[1583] = 32'h0;
        mem[1584] = 32'h0;
        mem[1585] = 32'h0;
        mem[1586] = 32'h0;
        mem[1587] = 32'h0;
        mem[1588] = 32'h0;
        mem[1589] = 32'h0;
        mem[1590] = 32'h0;
        mem[1591] = 32'h0;
        mem[1592] = 32'h0;
        mem[1593] = 32'h0;
        mem[1594] = 32'h0;
        mem[1595] = 32'h0;
        mem[1596] = 32'h0;
        mem[1597] = 32'h0;
        mem[1598] = 32'h0;
        mem[1599] = 32'h0;
        mem[1600] = 32'h0;
        mem[1601] = 32'h0;
        mem[1602] = 32'h0;
        mem[1603] = 32'h0;
        mem[1604] = 32'h0;
        mem[1605] = 32'h0;
        mem[1606] = 32'h0;
        mem[1607] = 32'h0;
        mem[1608] = 32'h0;
        mem[1609] = 32'h0;
        mem[1610] = 32'h0;
        mem[1611] = 32'h0;
        mem[1612] = 32'h0;
        mem[1613] = 32'h0;
        mem[1614] = 32'h0;
        mem[1615] = 32'h0;
        mem[1616] = 32'h0;
        mem[1617] = 32'h0;
        mem[1618] = 32'h0;
        mem[1619] = 32'h0;
        mem[1620] = 32'h0;
        mem[1621] = 32'h0;
        mem[1622] = 32'h0;
        mem[1623] = 32'h0;
        mem[1624] = 32'h0;
        mem[1625] = 32'h0;
        mem[1626] = 32'h0;
        mem[1627] = 32'h0;
        mem[1628] = 32'h0;
        mem[1629] = 32'h0;
        mem[1630] = 32'h0;
        mem[1631] = 32'h0;
        mem[1632] = 32'h0;
        mem[1633] = 32'h0;
        mem[1634] = 32'h0;
        mem[1635] = 32'h0;
        mem[1636] = 32'h0;
        mem[1637] = 32'h0;
        mem[1638] = 32'h0;
        mem[1639] = 32'h0;
        mem[1640] = 32'h0;
        mem[1641] = 32'h0;
        mem[1642] = 32'h0;
        mem[1643] = 32'h0;
        mem[1644] = 32'h0;
        mem[1645] = 32'h0;
        mem[1646] = 32'h0;
        mem[1647] = 32'h0;
        mem[1648] = 32'h0;
        mem[1649] = 32'h0;
        mem[1650] = 32'h0;
        mem[1651] = 32'h0;
        mem[1652] = 32'h0;
        mem[1653] = 32'h0;
        mem[1654] = 32'h0;
        mem[1655] = 32'h0;
        mem[1656] = 32'h0;
        mem[1657] = 32'h0;
        mem[1658] = 32'h0;
        mem[1659] = 32'h0;
        mem[1660] = 32'h0;
        mem[1661] = 32'h0;
        mem[1662] = 32'h0;
        mem[1663] = 32'h0;
        mem[1664] = 32'h0;
        mem[1665] = 32'h0;
        mem[1666] = 32'h0;
        mem[1667] = 32'h0;
        mem[1668] = 32'h0;
        mem[1669] = 32'h0;
        mem[1670] = 32'h0;
        mem[1671] = 32'h0;
        mem[1672] = 32'h0;
        mem[1673] = 32'h0;
        mem[1674] = 32'h0;
        mem[1675] = 32'h0;
        mem[1676] = 32'h0;
        mem[1677] = 32'h0;
        mem[1678] = 32'h0;
        mem[1679] = 32'h0;
        mem[1680] = 32'h0;
        mem[1681] = 32'h0;
        mem[1682] = 32'h0;
        mem[1683] = 32'h0;
        mem[1684] = 32'h0;
        mem[1685] = 32'h0;
        mem[1686] = 32'h0;
        mem[1687] = 32'h0;
        mem[1688] = 32'h0;
        mem[1689] = 32'h0;
        mem[1690] = 32'h0;
        mem[1691] = 32'h0;
        mem[1692] = 32'h0;
        mem[1693] = 32'h0;
        mem[1694] = 32'h0;
        mem[1695] = 32'h0;
        mem[1696] = 32'h0;
        mem[1697] = 32'h0;
        mem[1698] = 32'h0;
        mem[1699] = 32'h0;
        mem[1700] = 32'h0;
        mem[1701] = 32'h0;
        mem[1702] = 32'h0;
        mem[1703] = 32'h0;
        mem[1704] = 32'h0;
        mem[1705] = 32'h0;
        mem[1706] = 32'h0;
        mem[1707] = 32'h0;
        mem[1708] = 32'h0;
        mem[1709] = 32'h0;
        mem[1710] = 32'h0;
        mem[1711] = 32'h0;
        mem[1712] = 32'h0;
        mem[1713] = 32'h0;
        mem[1714] = 32'h0;
        mem[1715] = 32'h0;
        mem[1716] = 32'h0;
        mem[1717] = 32'h0;
        mem[1718] = 32'h0;
        mem[1719] = 32'h0;
        mem[1720] = 32'h0;
        mem[1721] = 32'h0;
        mem[1722] = 32'h0;
        mem[1723] = 32'h0;
        mem[1724] = 32'h0;
        mem[1725] = 32'h0;
        mem[1726] = 32'h0;
        mem[1727] = 32'h0;
        mem[1728] = 32'h0;
        mem[1729] = 32'h0;
        mem[1730] = 32'h0;
        mem[1731] = 32'h0;
        mem[1732] = 32'h0;
        mem[1733] = 32'h0;
        mem[1734] = 32'h0;
        mem[1735] = 32'h0;
        mem[1736] = 32'h0;
        mem[1737] = 32'h0;
        mem[1738] = 32'h0;
        mem[1739] = 32'h0;
        mem[1740] = 32'h0;
        mem[1741] = 32'h0;
        mem[1742] = 32'h0;
        mem[1743] = 32'h0;
        mem[1744] = 32'h0;
        mem[1745] = 32'h0;
        mem[1746] = 32'h0;
        mem[1747] = 32'h0;
        mem[1748] = 32'h0;
        mem[1749] = 32'h0;
        mem[1750] = 32'h0;
        mem[1751] = 32'h0;
        mem[1752] = 32'h0;
        mem[1753] = 32'h0;
        mem[1754] = 32'h0;
        mem[1755] = 32'h0;
        mem[1756] = 32'h0;
        mem[1757] = 32'h0;
        mem[1758] = 32'h0;
        mem[1759] = 32'h0;
        mem[1760] = 32'h0;
        mem[1761] = 32'h0;
        mem[1762] = 32'h0;
        mem[1763] = 32'h0;
        mem[1764] = 32'h0;
        mem[1765] = 32'h0;
        mem[1766] = 32'h0;
        mem[1767] = 32'h0;
        mem[1768] = 32'h0;
        mem[1769] = 32'h0;
        mem[1770] = 32'h0;
        mem[1771] = 32'h0;
        mem[1772] = 32'h0;
        mem[1773] = 32'h0;
        mem[1774] = 32'h0;
        mem[1775] = 32'h0;
        mem[1776] = 32'h0;
        mem[1777] = 32'h0;
        mem[1778] = 32'h0;
        mem[1779] = 32'h0;
        mem[1780] = 32'h0;
        mem[1781] = 32'h0;
        mem[1782] = 32'h0;
        mem[1783] = 32'h0;
        mem[1784] = 32'h0;
        mem[1785] = 32'h0;
        mem[1786] = 32'h0;
        mem[1787] = 32'h0;
        mem[1788] = 32'h0;
        mem[1789] = 32'h0;
        mem[1790] = 32'h0;
        mem[1791] = 32'h0;
        mem[1792] = 32'h0;
        mem[1793] = 32'h0;
        mem[1794] = 32'h0;
        mem[1795] = 32'h0;
        mem[1796] = 32'h0;
        mem[1797] = 32'h0;
        mem[1798] = 32'h0;
        mem[1799] = 32'h0;
        mem[1800] = 32'h0;
        mem[1801] = 32'h0;
        mem[1802] = 32'h0;
        mem[1803] = 32'h0;
        mem[1804] = 32'h0;
        mem[1805] = 32'h0;
        mem[1806] = 32'h0;
        mem[1807] = 32'h0;
        mem[1808] = 32'h0;
        mem[1809] = 32'h0;
        mem[1810] = 32'h0;
        mem[1811] = 32'h0;
        mem[1812] = 32'h0;
        mem[1813] = 32'h0;
        mem[1814] = 32'h0;
        mem[1815] = 32'h0;
        mem[1816] = 32'h0;
        mem[1817] = 32'h0;
        mem[1818] = 32'h0;
        mem[1819] = 32'h0;
        mem[1820] = 32'h0;
        mem[1821] = 32'h0;
        mem[1822] = 32'h0;
        mem[1823] = 32'h0;
        mem[1824] = 32'h0;
        mem[1825] = 32'h0;
        mem[1826] = 32'h0;
        mem[1827] = 32'h0;
        mem[1828] = 32'h0;
        mem[1829] = 32'h0;
        mem[1830] = 32'h0;
        mem[1831] = 32'h0;
        mem[1832] = 32'h0;
        mem[1833] = 32'h0;
        mem[1834] = 32'h0;
        mem[1835] = 32'h0;
        mem[1836] = 32'h0;
        mem[1837] = 32'h0;
        mem[1838] = 32'h0;
        mem[1839] = 32'h0;
        mem[1840] = 32'h0;
        mem[1841] = 32'h0;
        mem[1842] = 32'h0;
        mem[1843] = 32'h0;
        mem[1844] = 32'h0;
        mem[1845] = 32'h0;
        mem[1846] = 32'h0;
        mem[1847] = 32'h0;
        mem[1848] = 32'h0;
        mem[1849] = 32'h0;
        mem[1850] = 32'h0;
        mem[1851] = 32'h0;
        mem[1852] = 32'h0;
        mem[1853] = 32'h0;
        mem[1854] = 32'h0;
        mem[1855] = 32'h0;
        mem[1856] = 32'h0;
        mem[1857] = 32'h0;
        mem[1858] = 32'h0;
        mem[1859] = 32'h0;
        mem[1860] = 32'h0;
        mem[1861] = 32'h0;
        mem[1862] = 32'h0;
        mem[1863] = 32'h0;
        mem[1864] = 32'h0;
        mem[1865] = 32'h0;
        mem[1866] = 32'h0;
        mem[1867] = 32'h0;
        mem[1868] = 32'h0;
        mem[1869] = 32'h0;
        mem[1870] = 32'h0;
        mem[1871] = 32'h0;
        mem[1872] = 32'h0;
        mem[1873] = 32'h0;
        mem[1874] = 32'h0;
        mem[1875] = 32'h0;
        mem[1876] = 32'h0;
        mem[1877] = 32'h0;
        mem[1878] = 32'h0;
        mem[1879] = 32'h0;
        mem[1880] = 32'h0;
        mem[1881] = 32'h0;
        mem[1882] = 32'h0;
        mem[1883] = 32'h0;
        mem[1884] = 32'h0;
        mem[1885] = 32'h0;
        mem[1886] = 32'h0;
        mem[1887] = 32'h0;
        mem[1888] = 32'h0;
        mem[1889] = 32'h0;
        mem[1890] = 32'h0;
        mem[1891] = 32'h0;
        mem[1892] = 32'h0;
        mem[1893] = 32'h0;
        mem[1894] = 32'h0;
        mem[1895] = 32'h0;
        mem[1896] = 32'h0;
        mem[1897] = 32'h0;
        mem[1898] = 32'h0;
        mem[1899] = 32'h0;
        mem[1900] = 32'h0;
        mem[1901] = 32'h0;
        mem[1902] = 32'h0;
        mem[1903] = 32'h0;
        mem[1904] = 32'h0;
        mem[1905] = 32'h0;
        mem[1906] = 32'h0;
        mem[1907] = 32'h0;
        mem[1908] = 32'h0;
        mem[1909] = 32'h0;
        mem[1910] = 32'h0;
        mem[1911] = 32'h0;
        mem[1912] = 32'h0;
        mem[1913] = 32'h0;
        mem[1914] = 32'h0;
        mem[1915] = 32'h0;
        mem[1916] = 32'h0;
        mem[1917] = 32'h0;
        mem[1918] = 32'h0;
        mem[1919] = 32'h0;
        mem[1920] = 32'h0;
        mem[1921] = 32'h0;
        mem[1922] = 32'h0;
        mem[1923] = 32'h0;
        mem[1924] = 32'h0;
        mem[1925] = 32'h0;
        mem[1926] = 32'h0;
        mem[1927] = 32'h0;
        mem[1928] = 32'h0;
        mem[1929] = 32'h0;
        mem[1930] = 32'h0;
        mem[1931] = 32'h0;
        mem[1932] = 32'h0;
        mem[1933] = 32'h0;
        mem[1934] = 32'h0;
        mem[1935] = 32'h0;
        mem[1936] = 32'h0;
        mem[1937] = 32'h0;
        mem[1938] = 32'h0;
        mem[1939] = 32'h0;
        mem[1940] = 32'h0;
        mem[1941] = 32'h0;
        mem[1942] = 32'h0;
        mem[1943] = 32'h0;
        mem[1944] = 32'h0;
        mem[1945] = 32'h0;
        mem[1946] = 32'h0;
        mem[1947] = 32'h0;
        mem[1948] = 32'h0;
        mem[1949] = 32'h0;
        mem[1950] = 32'h0;
        mem[1951] = 32'h0;
        mem[1952] = 32'h0;
        mem[1953] = 32'h0;
        mem[1954] = 32'h0;
        mem[1955] = 32'h0;
        mem[1956] = 32'h0;
        mem[1957] = 32'h0;
        mem[1958] = 32'h0;
        mem[1959] = 32'h0;
        mem[1960] = 32'h0;
        mem[1961] = 32'h0;
        mem[1962] = 32'h0;
        mem[1963] = 32'h0;
        mem[1964] = 32'h0;
        mem[1965] = 32'h0;
        mem[1966] = 32'h0;
        mem[1967] = 32'h0;
        mem[1968] = 32'h0;
        mem[1969] = 32'h0;
        mem[1970] = 32'h0;
        mem[1971] = 32'h0;
        mem[1972] = 32'h0;
        mem[1973] = 32'h0;
        mem[1974] = 32'h0;
        mem[1975] = 32'h0;
        mem[1976] = 32'h0;
        mem[1977] = 32'h0;
        mem[1978] = 32'h0;
        mem[1979] = 32'h0;
        mem[1980] = 32'h0;
        mem[1981] = 32'h0;
        mem[1982] = 32'h0;
        mem[1983] = 32'h0;
        mem[1984] = 32'h0;
        mem[1985] = 32'h0;
        mem[1986] = 32'h0;
        mem[1987] = 32'h0;
        mem[1988] = 32'h0;
        mem[1989] = 32'h0;
        mem[1990] = 32'h0;
        mem[1991] = 32'h0;
        mem[1992] = 32'h0;
        mem[1993] = 32'h0;
        mem[1994] = 32'h0;
        mem[1995] = 32'h0;
        mem[1996] = 32'h0;
        mem[1997] = 32'h0;
        mem[1998] = 32'h0;
        mem[1999] = 32'h0;
        mem[2000] = 32'h0;
        mem[2001] = 32'h0;
        mem[2002] = 32'h0;
        mem[2003] = 32'h0;
        mem[2004] = 32'h0;
        mem[2005] = 32'h0;
        mem[2006] = 32'h0;
        mem[2007] = 32'h0;
        mem[2008] = 32'h0;
        mem[2009] = 32'h0;
        mem[2010] = 32'h0;
        mem[2011] = 32'h0;
        mem[2012] = 32'h0;
        mem[2013] = 32'h0;
        mem[2014] = 32'h0;
        mem[2015] = 32'h0;
        mem[2016] = 32'h0;
        mem[2017] = 32'h0;
        mem[2018] = 32'h0;
        mem[2019] = 32'h0;
        mem[2020] = 32'h0;
        mem[2021] = 32'h0;
        mem[2022] = 32'h0;
        mem[2023] = 32'h0;
        mem[2024] = 32'h0;
        mem[2025] = 32'h0;
        mem[2026] = 32'h0;
        mem[2027] = 32'h0;
        mem[2028] = 32'h0;
        mem[2029] = 32'h0;
        mem[2030] = 32'h0;
        mem[2031] = 32'h0;
        mem[2032] = 32'h0;
        mem[2033] = 32'h0;
        mem[2034] = 32'h0;
        mem[2035] = 32'h0;
        mem[2036] = 32'h0;
        mem[2037] = 32'h0;
        mem[2038] = 32'h0;
        mem[2039] = 32'h0;
        mem[2040] = 32'h0;
        mem[2041] = 32'h0;
        mem[2042] = 32'h0;
        mem[2043] = 32'h0;
        mem[2044] = 32'h0;
        mem[2045] = 32'h0;
        mem[2046] = 32'h0;
        mem[2047] = 32'h0;
        data = 0;
    end
    always @(posedge clock) data <= mem[address];
endmodule

module optireduce_finisher__refusals__memory(clock,read_address,read_data,write_address,write_data,write_enable);
    // Module arguments
    input wire  clock;
    input wire  [3:0] read_address;
    output reg  [49:0] read_data;
    input wire  [3:0] write_address;
    input wire  [49:0] write_data;
    input wire  write_enable;
    // Update code (custom)
    (* ram_style = "distributed" *) reg [49:0] mem [0:15];
    `ifndef SYNTHESIS
    integer i;
    initial for (i = 0; i <= 15; i = i + 1) mem[i] = 0;
    `endif
    always @(*) read_data = mem[read_address];
    always @(posedge clock) if (write_enable) mem[write_address] <= write_data;
endmodule

module optireduce_finisher__side__0(d,q,clock);
    // Module arguments
    input wire  d;
    output reg  q;
    input wire  clock;
    // Update code (custom)
    initial q = 1'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_gate__0__done(d,q,clock);
    // Module arguments
    input wire  [205:0] d;
    output reg  [205:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 206'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_gate__0__rule(d,q,clock);
    // Module arguments
    input wire  [172:0] d;
    output reg  [172:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 173'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_gate__0__st(d,q,clock);
    // Module arguments
    input wire  [144:0] d;
    output reg  [144:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 145'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_gather__arrivals__counting(clock,read_address,read_data,write_address,write_data,write_enable);
    // Module arguments
    input wire  clock;
    input wire  [8:0] read_address;
    output reg  [23:0] read_data;
    input wire  [8:0] write_address;
    input wire  [23:0] write_data;
    input wire  write_enable;
    // Update code (custom)
    (* ram_style = "distributed" *) reg [23:0] mem [0:511];
    `ifndef SYNTHESIS
    integer i;
    initial for (i = 0; i <= 511; i = i + 1) mem[i] = 0;
    `endif
    always @(*) read_data = mem[read_address];
    always @(posedge clock) if (write_enable) mem[write_address] <= write_data;
endmodule

module optireduce_lookup__key__0(clock,arm,ctx,free,header,hit,distance);
    // Module arguments
    input wire  clock;
    input wire  arm;
    input wire  [404:0] ctx;
    input wire  free;
    input wire  [77:0] header;
    output reg  hit;
    output reg  [25:0] distance;
    // Stub signals
    reg  [73:0] key__d;
    wire  [73:0] key__q;
    reg  key__clock;
    // Local signals
    reg  [25:0] ahead;
    // Sub module instances
    optireduce_lookup__key__0__key key(
        .d(key__d),
        .q(key__q),
        .clock(key__clock)
    );
    // Update code
    always @(*) begin
        key__clock = clock;
        key__d = key__q;
        if (arm) begin
            key__d[(64'h0)+:(1)] = 1'b1;
            key__d[(64'h1)+:(16)] = ctx[(64'h30)+:(16)];
            key__d[(64'h11)+:(16)] = ctx[(64'h20)+:(16)];
            key__d[(64'h21)+:(26)] = ctx[(64'h40)+:(26)];
            key__d[(64'h3b)+:(15)] = ctx[(64'h5a)+:(15)];
        end
        if (free) begin
            key__d[(64'h0)+:(1)] = 1'b0;
        end
        ahead = header[(64'h20)+:(26)] - key__q[(64'h21)+:(26)];
        distance = ahead;
        hit = key__q[(64'h0)+:(1)] && (key__q[(64'h1)+:(16)] == header[(64'h0)+:(16)]) && (key__q[(64'h11)+:(16)] == header[(64'h10)+:(16)]) && (header[(64'h20)+:(26)] >= key__q[(64'h21)+:(26)]) && (ahead < ((key__q[(64'h3b)+:(15)]) & 26'h3ffffff));
    end
endmodule

module optireduce_planner__broadcasts__memory(clock,read_address,read_data,write_address,write_data,write_enable);
    // Module arguments
    input wire  clock;
    input wire  [2:0] read_address;
    output reg  [24:0] read_data;
    input wire  [2:0] write_address;
    input wire  [24:0] write_data;
    input wire  write_enable;
    // Update code (custom)
    (* ram_style = "distributed" *) reg [24:0] mem [0:7];
    `ifndef SYNTHESIS
    integer i;
    initial for (i = 0; i <= 7; i = i + 1) mem[i] = 0;
    `endif
    always @(*) read_data = mem[read_address];
    always @(posedge clock) if (write_enable) mem[write_address] <= write_data;
endmodule

module optireduce_planner__contributes__memory(clock,read_address,read_data,write_address,write_data,write_enable);
    // Module arguments
    input wire  clock;
    input wire  read_address;
    output reg  [24:0] read_data;
    input wire  write_address;
    input wire  [24:0] write_data;
    input wire  write_enable;
    // Update code (custom)
    (* ram_style = "distributed" *) reg [24:0] mem [0:1];
    `ifndef SYNTHESIS
    integer i;
    initial for (i = 0; i <= 1; i = i + 1) mem[i] = 0;
    `endif
    always @(*) read_data = mem[read_address];
    always @(posedge clock) if (write_enable) mem[write_address] <= write_data;
endmodule

module optireduce_reduce__flight__0(d,q,clock);
    // Module arguments
    input wire  [95:0] d;
    output reg  [95:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 96'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_reduce__place__0(d,q,clock);
    // Module arguments
    input wire  [16:0] d;
    output reg  [16:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 17'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_rx_buffer__lengths__memory(clock,read_address,read_data,write_address,write_data,write_enable);
    // Module arguments
    input wire  clock;
    input wire  [5:0] read_address;
    output reg  [9:0] read_data;
    input wire  [5:0] write_address;
    input wire  [9:0] write_data;
    input wire  write_enable;
    // Update code (custom)
    (* ram_style = "distributed" *) reg [9:0] mem [0:63];
    `ifndef SYNTHESIS
    integer i;
    initial for (i = 0; i <= 63; i = i + 1) mem[i] = 0;
    `endif
    always @(*) read_data = mem[read_address];
    always @(posedge clock) if (write_enable) mem[write_address] <= write_data;
endmodule

module optireduce_scale__outbox__memory(clock,read_address,read_data,write_address,write_data,write_enable);
    // Module arguments
    input wire  clock;
    input wire  [3:0] read_address;
    output reg  [556:0] read_data;
    input wire  [3:0] write_address;
    input wire  [556:0] write_data;
    input wire  write_enable;
    // Update code (custom)
    (* ram_style = "distributed" *) reg [556:0] mem [0:15];
    `ifndef SYNTHESIS
    integer i;
    initial for (i = 0; i <= 15; i = i + 1) mem[i] = 0;
    `endif
    always @(*) read_data = mem[read_address];
    always @(posedge clock) if (write_enable) mem[write_address] <= write_data;
endmodule

module optireduce_builder__asked(d,q,clock);
    // Module arguments
    input wire  [3:0] d;
    output reg  [3:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 4'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_builder__asked_header(d,q,clock);
    // Module arguments
    input wire  [511:0] d;
    output reg  [511:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 512'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_builder__fetched_order(d,q,clock);
    // Module arguments
    input wire  [114:0] d;
    output reg  [114:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 115'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_builder__orders(clock,clear,push,push_data,full,pop,pop_data,empty,room);
    // Module arguments
    input wire  clock;
    input wire  clear;
    input wire  push;
    input wire  [114:0] push_data;
    output reg  full;
    input wire  pop;
    output reg  [114:0] pop_data;
    output reg  empty;
    output reg  [15:0] room;
    // Constant declarations
    localparam  depth = 16'h4;
    // Stub signals
    reg  memory__clock;
    reg  [1:0] memory__read_address;
    wire  [114:0] memory__read_data;
    reg  [1:0] memory__write_address;
    reg  [114:0] memory__write_data;
    reg  memory__write_enable;
    reg  [47:0] state__d;
    wire  [47:0] state__q;
    reg  state__clock;
    // Local signals
    reg  pushed;
    reg  popped;
    reg  [15:0] head_next;
    reg  [15:0] tail_next;
    reg  [15:0] used_more;
    reg  [15:0] used_less;
    // Sub module instances
    optireduce_builder__orders__memory memory(
        .clock(memory__clock),
        .read_address(memory__read_address),
        .read_data(memory__read_data),
        .write_address(memory__write_address),
        .write_data(memory__write_data),
        .write_enable(memory__write_enable)
    );
    optireduce_builder__orders__state state(
        .d(state__d),
        .q(state__q),
        .clock(state__clock)
    );
    // Update code
    always @(*) begin
        state__clock = clock;
        state__d = state__q;
        memory__clock = clock;
        full = state__q[(64'h20)+:(16)] == depth;
        empty = state__q[(64'h20)+:(16)] == 32'h0;
        room = depth - state__q[(64'h20)+:(16)];
        pushed = push && ~full;
        popped = pop && ~empty;
        memory__write_address = ((state__q[(64'h10)+:(16)]) & 2'h3);
        memory__write_data = push_data;
        memory__write_enable = pushed;
        memory__read_address = ((state__q[(64'h0)+:(16)]) & 2'h3);
        pop_data = memory__read_data;
        head_next = state__q[(64'h0)+:(16)] + 32'h1;
        tail_next = state__q[(64'h10)+:(16)] + 32'h1;
        used_more = state__q[(64'h20)+:(16)] + 32'h1;
        used_less = state__q[(64'h20)+:(16)] - 32'h1;
        if (pushed) begin
            state__d[(64'h10)+:(16)] = tail_next;
        end
        if (popped) begin
            state__d[(64'h0)+:(16)] = head_next;
        end
        if (pushed && ~popped) begin
            state__d[(64'h20)+:(16)] = used_more;
        end
        if (popped && ~pushed) begin
            state__d[(64'h20)+:(16)] = used_less;
        end
        if (clear) begin
            state__d[(64'h0)+:(16)] = ((32'h0) & 16'hffff);
            state__d[(64'h10)+:(16)] = ((32'h0) & 16'hffff);
            state__d[(64'h20)+:(16)] = ((32'h0) & 16'hffff);
        end
    end
endmodule

module optireduce_builder__outbox(clock,clear,push,push_data,full,pop,pop_data,empty,room);
    // Module arguments
    input wire  clock;
    input wire  clear;
    input wire  push;
    input wire  [512:0] push_data;
    output reg  full;
    input wire  pop;
    output reg  [512:0] pop_data;
    output reg  empty;
    output reg  [15:0] room;
    // Constant declarations
    localparam  depth = 16'h10;
    // Stub signals
    reg  memory__clock;
    reg  [3:0] memory__read_address;
    wire  [512:0] memory__read_data;
    reg  [3:0] memory__write_address;
    reg  [512:0] memory__write_data;
    reg  memory__write_enable;
    reg  [47:0] state__d;
    wire  [47:0] state__q;
    reg  state__clock;
    // Local signals
    reg  pushed;
    reg  popped;
    reg  [15:0] head_next;
    reg  [15:0] tail_next;
    reg  [15:0] used_more;
    reg  [15:0] used_less;
    // Sub module instances
    optireduce_builder__outbox__memory memory(
        .clock(memory__clock),
        .read_address(memory__read_address),
        .read_data(memory__read_data),
        .write_address(memory__write_address),
        .write_data(memory__write_data),
        .write_enable(memory__write_enable)
    );
    optireduce_builder__orders__state state(
        .d(state__d),
        .q(state__q),
        .clock(state__clock)
    );
    // Update code
    always @(*) begin
        state__clock = clock;
        state__d = state__q;
        memory__clock = clock;
        full = state__q[(64'h20)+:(16)] == depth;
        empty = state__q[(64'h20)+:(16)] == 32'h0;
        room = depth - state__q[(64'h20)+:(16)];
        pushed = push && ~full;
        popped = pop && ~empty;
        memory__write_address = ((state__q[(64'h10)+:(16)]) & 4'hf);
        memory__write_data = push_data;
        memory__write_enable = pushed;
        memory__read_address = ((state__q[(64'h0)+:(16)]) & 4'hf);
        pop_data = memory__read_data;
        head_next = state__q[(64'h0)+:(16)] + 32'h1;
        tail_next = state__q[(64'h10)+:(16)] + 32'h1;
        used_more = state__q[(64'h20)+:(16)] + 32'h1;
        used_less = state__q[(64'h20)+:(16)] - 32'h1;
        if (pushed) begin
            state__d[(64'h10)+:(16)] = tail_next;
        end
        if (popped) begin
            state__d[(64'h0)+:(16)] = head_next;
        end
        if (pushed && ~popped) begin
            state__d[(64'h20)+:(16)] = used_more;
        end
        if (popped && ~pushed) begin
            state__d[(64'h20)+:(16)] = used_less;
        end
        if (clear) begin
            state__d[(64'h0)+:(16)] = ((32'h0) & 16'hffff);
            state__d[(64'h10)+:(16)] = ((32'h0) & 16'hffff);
            state__d[(64'h20)+:(16)] = ((32'h0) & 16'hffff);
        end
    end
endmodule

module optireduce_builder__peer_ip(clock,read_address,read_data,write_address,write_data,write_enable);
    // Module arguments
    input wire  clock;
    input wire  [5:0] read_address;
    output reg  [31:0] read_data;
    input wire  [5:0] write_address;
    input wire  [31:0] write_data;
    input wire  write_enable;
    // Update code (custom)
    (* ram_style = "distributed" *) reg [31:0] mem [0:63];
    `ifndef SYNTHESIS
    integer i;
    initial for (i = 0; i <= 63; i = i + 1) mem[i] = 0;
    `endif
    always @(*) read_data = mem[read_address];
    always @(posedge clock) if (write_enable) mem[write_address] <= write_data;
endmodule

module optireduce_builder__sending(d,q,clock);
    // Module arguments
    input wire  [26:0] d;
    output reg  [26:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 27'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_builder__sum(d,q,clock);
    // Module arguments
    input wire  [19:0] d;
    output reg  [19:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 20'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_contribute__ask_address(d,q,clock);
    // Module arguments
    input wire  [63:0] d;
    output reg  [63:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 64'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_contribute__beat_index(d,q,clock);
    // Module arguments
    input wire  [13:0] d;
    output reg  [13:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 14'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_contribute__block_index(d,q,clock);
    // Module arguments
    input wire  [10:0] d;
    output reg  [10:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 11'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_contribute__buffer(clock,read_address,read_data,write_address,write_data,write_enable);
    // Module arguments
    input wire  clock;
    input wire  [16:0] read_address;
    output reg  [511:0] read_data;
    input wire  [16:0] write_address;
    input wire  [511:0] write_data;
    input wire  write_enable;
    // Update code (custom)
    (* ram_style = "block" *) reg [511:0] mem [0:2047];
    `ifndef SYNTHESIS
    integer i;
    initial for (i = 0; i <= 2047; i = i + 1) mem[i] = 0;
    `endif
    initial read_data = 0;
    always @(posedge clock) begin
        read_data <= mem[{read_address[0:0], read_address[12:3]}];
        if (write_enable) mem[{write_address[0:0], write_address[12:3]}] <= write_data;
    end
endmodule

module optireduce_contribute__contexts(clock,read_address,read_data,write_address,write_data,write_enable);
    // Module arguments
    input wire  clock;
    input wire  [2:0] read_address;
    output reg  [404:0] read_data;
    input wire  [2:0] write_address;
    input wire  [404:0] write_data;
    input wire  write_enable;
    // Update code (custom)
    (* ram_style = "distributed" *) reg [404:0] mem [0:7];
    `ifndef SYNTHESIS
    integer i;
    initial for (i = 0; i <= 7; i = i + 1) mem[i] = 0;
    `endif
    always @(*) read_data = mem[read_address];
    always @(posedge clock) if (write_enable) mem[write_address] <= write_data;
endmodule

module optireduce_contribute__encoder(clock,clear,start,log2n,decode,key,in_valid,in_ready,in_data,in_received,go,burst,out_valid,out_data,out_received,idle);
    // Module arguments
    input wire  clock;
    input wire  clear;
    input wire  start;
    input wire  [3:0] log2n;
    input wire  decode;
    input wire  [63:0] key;
    input wire  in_valid;
    output reg  in_ready;
    input wire  [511:0] in_data;
    input wire  in_received;
    input wire  go;
    output reg  burst;
    output reg  out_valid;
    output reg  [511:0] out_data;
    output reg  [10:0] out_received;
    output reg  idle;
    // Stub signals
    reg  gather__clock;
    reg  gather__clear;
    reg  gather__start;
    reg  [3:0] gather__log2n;
    reg  gather__in_valid;
    wire  gather__in_ready;
    reg  [511:0] gather__in_data;
    reg  gather__in_received;
    reg  gather__go;
    wire  gather__burst;
    wire  [9:0] gather__last;
    wire  gather__idle;
    wire  [21:0] gather__out_tag;
    wire  [511:0] gather__out_beat;
    reg  sign_source__clock;
    reg  sign_source__start;
    reg  [63:0] sign_source__key;
    reg  sign_source__take;
    wire  [15:0] sign_source__signs;
    reg  to_fixed__clock;
    reg  [21:0] to_fixed__tag;
    reg  [511:0] to_fixed__beat;
    reg  [15:0] to_fixed__signs;
    wire  [21:0] to_fixed__out_tag;
    wire  [511:0] to_fixed__out_beat;
    reg  in_beat__0__clock;
    reg  [21:0] in_beat__0__tag;
    reg  [511:0] in_beat__0__beat;
    wire  [21:0] in_beat__0__out_tag;
    wire  [511:0] in_beat__0__out_beat;
    reg  in_beat__1__clock;
    reg  [21:0] in_beat__1__tag;
    reg  [511:0] in_beat__1__beat;
    wire  [21:0] in_beat__1__out_tag;
    wire  [511:0] in_beat__1__out_beat;
    reg  in_beat__2__clock;
    reg  [21:0] in_beat__2__tag;
    reg  [511:0] in_beat__2__beat;
    wire  [21:0] in_beat__2__out_tag;
    wire  [511:0] in_beat__2__out_beat;
    reg  in_beat__3__clock;
    reg  [21:0] in_beat__3__tag;
    reg  [511:0] in_beat__3__beat;
    wire  [21:0] in_beat__3__out_tag;
    wire  [511:0] in_beat__3__out_beat;
    reg  across__0__clock;
    reg  across__0__bypass;
    reg  [21:0] across__0__tag;
    reg  [511:0] across__0__beat;
    wire  [21:0] across__0__out_tag;
    wire  [511:0] across__0__out_beat;
    reg  across__1__clock;
    reg  across__1__bypass;
    reg  [21:0] across__1__tag;
    reg  [511:0] across__1__beat;
    wire  [21:0] across__1__out_tag;
    wire  [511:0] across__1__out_beat;
    reg  across__2__clock;
    reg  across__2__bypass;
    reg  [21:0] across__2__tag;
    reg  [511:0] across__2__beat;
    wire  [21:0] across__2__out_tag;
    wire  [511:0] across__2__out_beat;
    reg  across__3__clock;
    reg  across__3__bypass;
    reg  [21:0] across__3__tag;
    reg  [511:0] across__3__beat;
    wire  [21:0] across__3__out_tag;
    wire  [511:0] across__3__out_beat;
    reg  across__4__clock;
    reg  across__4__bypass;
    reg  [21:0] across__4__tag;
    reg  [511:0] across__4__beat;
    wire  [21:0] across__4__out_tag;
    wire  [511:0] across__4__out_beat;
    reg  across__5__clock;
    reg  across__5__bypass;
    reg  [21:0] across__5__tag;
    reg  [511:0] across__5__beat;
    wire  [21:0] across__5__out_tag;
    wire  [511:0] across__5__out_beat;
    reg  across__6__clock;
    reg  across__6__bypass;
    reg  [21:0] across__6__tag;
    reg  [511:0] across__6__beat;
    wire  [21:0] across__6__out_tag;
    wire  [511:0] across__6__out_beat;
    reg  across__7__clock;
    reg  across__7__bypass;
    reg  [21:0] across__7__tag;
    reg  [511:0] across__7__beat;
    wire  [21:0] across__7__out_tag;
    wire  [511:0] across__7__out_beat;
    reg  to_float__clock;
    reg  [21:0] to_float__tag;
    reg  [511:0] to_float__beat;
    reg  [15:0] to_float__signs;
    wire  [21:0] to_float__out_tag;
    wire  [511:0] to_float__out_beat;
    reg  [14:0] window__d;
    wire  [14:0] window__q;
    reg  window__clock;
    // Sub module instances
    optireduce_contribute__encoder__gather gather(
        .clock(gather__clock),
        .clear(gather__clear),
        .start(gather__start),
        .log2n(gather__log2n),
        .in_valid(gather__in_valid),
        .in_ready(gather__in_ready),
        .in_data(gather__in_data),
        .in_received(gather__in_received),
        .go(gather__go),
        .burst(gather__burst),
        .last(gather__last),
        .idle(gather__idle),
        .out_tag(gather__out_tag),
        .out_beat(gather__out_beat)
    );
    optireduce_contribute__encoder__sign_source sign_source(
        .clock(sign_source__clock),
        .start(sign_source__start),
        .key(sign_source__key),
        .take(sign_source__take),
        .signs(sign_source__signs)
    );
    optireduce_contribute__encoder__to_fixed to_fixed(
        .clock(to_fixed__clock),
        .tag(to_fixed__tag),
        .beat(to_fixed__beat),
        .signs(to_fixed__signs),
        .out_tag(to_fixed__out_tag),
        .out_beat(to_fixed__out_beat)
    );
    optireduce_contribute__encoder__in_beat__0 in_beat__0(
        .clock(in_beat__0__clock),
        .tag(in_beat__0__tag),
        .beat(in_beat__0__beat),
        .out_tag(in_beat__0__out_tag),
        .out_beat(in_beat__0__out_beat)
    );
    optireduce_contribute__encoder__in_beat__1 in_beat__1(
        .clock(in_beat__1__clock),
        .tag(in_beat__1__tag),
        .beat(in_beat__1__beat),
        .out_tag(in_beat__1__out_tag),
        .out_beat(in_beat__1__out_beat)
    );
    optireduce_contribute__encoder__in_beat__0 in_beat__2(
        .clock(in_beat__2__clock),
        .tag(in_beat__2__tag),
        .beat(in_beat__2__beat),
        .out_tag(in_beat__2__out_tag),
        .out_beat(in_beat__2__out_beat)
    );
    optireduce_contribute__encoder__in_beat__1 in_beat__3(
        .clock(in_beat__3__clock),
        .tag(in_beat__3__tag),
        .beat(in_beat__3__beat),
        .out_tag(in_beat__3__out_tag),
        .out_beat(in_beat__3__out_beat)
    );
    optireduce_contribute__encoder__across__0 across__0(
        .clock(across__0__clock),
        .bypass(across__0__bypass),
        .tag(across__0__tag),
        .beat(across__0__beat),
        .out_tag(across__0__out_tag),
        .out_beat(across__0__out_beat)
    );
    optireduce_contribute__encoder__across__1 across__1(
        .clock(across__1__clock),
        .bypass(across__1__bypass),
        .tag(across__1__tag),
        .beat(across__1__beat),
        .out_tag(across__1__out_tag),
        .out_beat(across__1__out_beat)
    );
    optireduce_contribute__encoder__across__2 across__2(
        .clock(across__2__clock),
        .bypass(across__2__bypass),
        .tag(across__2__tag),
        .beat(across__2__beat),
        .out_tag(across__2__out_tag),
        .out_beat(across__2__out_beat)
    );
    optireduce_contribute__encoder__across__3 across__3(
        .clock(across__3__clock),
        .bypass(across__3__bypass),
        .tag(across__3__tag),
        .beat(across__3__beat),
        .out_tag(across__3__out_tag),
        .out_beat(across__3__out_beat)
    );
    optireduce_contribute__encoder__across__4 across__4(
        .clock(across__4__clock),
        .bypass(across__4__bypass),
        .tag(across__4__tag),
        .beat(across__4__beat),
        .out_tag(across__4__out_tag),
        .out_beat(across__4__out_beat)
    );
    optireduce_contribute__encoder__across__5 across__5(
        .clock(across__5__clock),
        .bypass(across__5__bypass),
        .tag(across__5__tag),
        .beat(across__5__beat),
        .out_tag(across__5__out_tag),
        .out_beat(across__5__out_beat)
    );
    optireduce_contribute__encoder__across__6 across__6(
        .clock(across__6__clock),
        .bypass(across__6__bypass),
        .tag(across__6__tag),
        .beat(across__6__beat),
        .out_tag(across__6__out_tag),
        .out_beat(across__6__out_beat)
    );
    optireduce_contribute__encoder__across__7 across__7(
        .clock(across__7__clock),
        .bypass(across__7__bypass),
        .tag(across__7__tag),
        .beat(across__7__beat),
        .out_tag(across__7__out_tag),
        .out_beat(across__7__out_beat)
    );
    optireduce_contribute__encoder__to_float to_float(
        .clock(to_float__clock),
        .tag(to_float__tag),
        .beat(to_float__beat),
        .signs(to_float__signs),
        .out_tag(to_float__out_tag),
        .out_beat(to_float__out_beat)
    );
    optireduce_contribute__encoder__window window(
        .d(window__d),
        .q(window__q),
        .clock(window__clock)
    );
    // Update code
    always @(*) begin
        window__clock = clock;
        window__d = window__q;
        gather__clock = clock;
        sign_source__clock = clock;
        to_fixed__clock = clock;
        to_float__clock = clock;
        gather__clear = clear;
        gather__start = start;
        gather__log2n = log2n;
        gather__in_valid = in_valid;
        gather__in_data = in_data;
        gather__in_received = in_received;
        gather__go = go;
        in_ready = gather__in_ready;
        burst = gather__burst;
        sign_source__start = start;
        sign_source__key = key;
        if (window__q[(64'h0)+:(1)]) begin
            sign_source__take = to_float__tag[(64'h0)+:(1)];
            to_fixed__signs = ((32'h0) & 16'hffff);
            to_float__signs = sign_source__signs;
        end
        else begin
            sign_source__take = to_fixed__tag[(64'h0)+:(1)];
            to_fixed__signs = sign_source__signs;
            to_float__signs = ((32'h0) & 16'hffff);
        end
        to_fixed__tag = gather__out_tag;
        to_fixed__beat = gather__out_beat;
        in_beat__0__tag = to_fixed__out_tag;
        in_beat__0__beat = to_fixed__out_beat;
        in_beat__1__tag = in_beat__0__out_tag;
        in_beat__1__beat = in_beat__0__out_beat;
        in_beat__2__tag = in_beat__1__out_tag;
        in_beat__2__beat = in_beat__1__out_beat;
        in_beat__3__tag = in_beat__2__out_tag;
        in_beat__3__beat = in_beat__2__out_beat;
        in_beat__0__clock = clock;
        in_beat__1__clock = clock;
        in_beat__2__clock = clock;
        in_beat__3__clock = clock;
        across__0__tag = in_beat__3__out_tag;
        across__0__beat = in_beat__3__out_beat;
        across__1__tag = across__0__out_tag;
        across__1__beat = across__0__out_beat;
        across__2__tag = across__1__out_tag;
        across__2__beat = across__1__out_beat;
        across__3__tag = across__2__out_tag;
        across__3__beat = across__2__out_beat;
        across__4__tag = across__3__out_tag;
        across__4__beat = across__3__out_beat;
        across__5__tag = across__4__out_tag;
        across__5__beat = across__4__out_beat;
        across__6__tag = across__5__out_tag;
        across__6__beat = across__5__out_beat;
        across__7__tag = across__6__out_tag;
        across__7__beat = across__6__out_beat;
        across__0__clock = clock;
        across__0__bypass = ~gather__last[0];
        across__1__clock = clock;
        across__1__bypass = ~gather__last[1];
        across__2__clock = clock;
        across__2__bypass = ~gather__last[2];
        across__3__clock = clock;
        across__3__bypass = ~gather__last[3];
        across__4__clock = clock;
        across__4__bypass = ~gather__last[4];
        across__5__clock = clock;
        across__5__bypass = ~gather__last[5];
        across__6__clock = clock;
        across__6__bypass = ~gather__last[6];
        across__7__clock = clock;
        across__7__bypass = ~gather__last[7];
        to_float__tag = across__7__out_tag;
        to_float__beat = across__7__out_beat;
        out_valid = to_float__out_tag[(64'h0)+:(1)];
        out_data = to_float__out_beat;
        out_received = to_float__out_tag[(64'hb)+:(11)];
        if (gather__burst) begin
            window__d[(64'h1)+:(4)] = window__q[(64'h1)+:(4)] + 32'h1;
        end
        if (to_float__out_tag[(64'h0)+:(1)]) begin
            window__d[(64'h5)+:(10)] = window__q[(64'h5)+:(10)] + 32'h1;
            if (window__q[(64'h5)+:(10)] == gather__last) begin
                window__d[(64'h5)+:(10)] = ((32'h0) & 10'h3ff);
                if (~gather__burst) begin
                    window__d[(64'h1)+:(4)] = window__q[(64'h1)+:(4)] - 32'h1;
                end
                else begin
                    window__d[(64'h1)+:(4)] = window__q[(64'h1)+:(4)];
                end
            end
        end
        if (start) begin
            window__d[(64'h0)+:(1)] = decode;
        end
        idle = gather__idle && (window__q[(64'h1)+:(4)] == 32'h0);
    end
endmodule

module optireduce_contribute__hold(d,q,clock);
    // Module arguments
    input wire  [7:0] d;
    output reg  [7:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 8'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_contribute__loop_context(d,q,clock);
    // Module arguments
    input wire  [404:0] d;
    output reg  [404:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 405'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_contribute__loop_slot(d,q,clock);
    // Module arguments
    input wire  [2:0] d;
    output reg  [2:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 3'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_contribute__order_now(d,q,clock);
    // Module arguments
    input wire  [101:0] d;
    output reg  [101:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 102'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_contribute__orders(clock,clear,push,push_data,full,pop,pop_data,empty,room);
    // Module arguments
    input wire  clock;
    input wire  clear;
    input wire  push;
    input wire  [101:0] push_data;
    output reg  full;
    input wire  pop;
    output reg  [101:0] pop_data;
    output reg  empty;
    output reg  [15:0] room;
    // Constant declarations
    localparam  depth = 16'h8;
    // Stub signals
    reg  memory__clock;
    reg  [2:0] memory__read_address;
    wire  [101:0] memory__read_data;
    reg  [2:0] memory__write_address;
    reg  [101:0] memory__write_data;
    reg  memory__write_enable;
    reg  [47:0] state__d;
    wire  [47:0] state__q;
    reg  state__clock;
    // Local signals
    reg  pushed;
    reg  popped;
    reg  [15:0] head_next;
    reg  [15:0] tail_next;
    reg  [15:0] used_more;
    reg  [15:0] used_less;
    // Sub module instances
    optireduce_contribute__orders__memory memory(
        .clock(memory__clock),
        .read_address(memory__read_address),
        .read_data(memory__read_data),
        .write_address(memory__write_address),
        .write_data(memory__write_data),
        .write_enable(memory__write_enable)
    );
    optireduce_builder__orders__state state(
        .d(state__d),
        .q(state__q),
        .clock(state__clock)
    );
    // Update code
    always @(*) begin
        state__clock = clock;
        state__d = state__q;
        memory__clock = clock;
        full = state__q[(64'h20)+:(16)] == depth;
        empty = state__q[(64'h20)+:(16)] == 32'h0;
        room = depth - state__q[(64'h20)+:(16)];
        pushed = push && ~full;
        popped = pop && ~empty;
        memory__write_address = ((state__q[(64'h10)+:(16)]) & 3'h7);
        memory__write_data = push_data;
        memory__write_enable = pushed;
        memory__read_address = ((state__q[(64'h0)+:(16)]) & 3'h7);
        pop_data = memory__read_data;
        head_next = state__q[(64'h0)+:(16)] + 32'h1;
        tail_next = state__q[(64'h10)+:(16)] + 32'h1;
        used_more = state__q[(64'h20)+:(16)] + 32'h1;
        used_less = state__q[(64'h20)+:(16)] - 32'h1;
        if (pushed) begin
            state__d[(64'h10)+:(16)] = tail_next;
        end
        if (popped) begin
            state__d[(64'h0)+:(16)] = head_next;
        end
        if (pushed && ~popped) begin
            state__d[(64'h20)+:(16)] = used_more;
        end
        if (popped && ~pushed) begin
            state__d[(64'h20)+:(16)] = used_less;
        end
        if (clear) begin
            state__d[(64'h0)+:(16)] = ((32'h0) & 16'hffff);
            state__d[(64'h10)+:(16)] = ((32'h0) & 16'hffff);
            state__d[(64'h20)+:(16)] = ((32'h0) & 16'hffff);
        end
    end
endmodule

module optireduce_contribute__outbox(clock,clear,push,push_data,full,pop,pop_data,empty,room);
    // Module arguments
    input wire  clock;
    input wire  clear;
    input wire  push;
    input wire  [556:0] push_data;
    output reg  full;
    input wire  pop;
    output reg  [556:0] pop_data;
    output reg  empty;
    output reg  [15:0] room;
    // Constant declarations
    localparam  depth = 16'h8;
    // Stub signals
    reg  memory__clock;
    reg  [2:0] memory__read_address;
    wire  [556:0] memory__read_data;
    reg  [2:0] memory__write_address;
    reg  [556:0] memory__write_data;
    reg  memory__write_enable;
    reg  [47:0] state__d;
    wire  [47:0] state__q;
    reg  state__clock;
    // Local signals
    reg  pushed;
    reg  popped;
    reg  [15:0] head_next;
    reg  [15:0] tail_next;
    reg  [15:0] used_more;
    reg  [15:0] used_less;
    // Sub module instances
    optireduce_contribute__outbox__memory memory(
        .clock(memory__clock),
        .read_address(memory__read_address),
        .read_data(memory__read_data),
        .write_address(memory__write_address),
        .write_data(memory__write_data),
        .write_enable(memory__write_enable)
    );
    optireduce_builder__orders__state state(
        .d(state__d),
        .q(state__q),
        .clock(state__clock)
    );
    // Update code
    always @(*) begin
        state__clock = clock;
        state__d = state__q;
        memory__clock = clock;
        full = state__q[(64'h20)+:(16)] == depth;
        empty = state__q[(64'h20)+:(16)] == 32'h0;
        room = depth - state__q[(64'h20)+:(16)];
        pushed = push && ~full;
        popped = pop && ~empty;
        memory__write_address = ((state__q[(64'h10)+:(16)]) & 3'h7);
        memory__write_data = push_data;
        memory__write_enable = pushed;
        memory__read_address = ((state__q[(64'h0)+:(16)]) & 3'h7);
        pop_data = memory__read_data;
        head_next = state__q[(64'h0)+:(16)] + 32'h1;
        tail_next = state__q[(64'h10)+:(16)] + 32'h1;
        used_more = state__q[(64'h20)+:(16)] + 32'h1;
        used_less = state__q[(64'h20)+:(16)] - 32'h1;
        if (pushed) begin
            state__d[(64'h10)+:(16)] = tail_next;
        end
        if (popped) begin
            state__d[(64'h0)+:(16)] = head_next;
        end
        if (pushed && ~popped) begin
            state__d[(64'h20)+:(16)] = used_more;
        end
        if (popped && ~pushed) begin
            state__d[(64'h20)+:(16)] = used_less;
        end
        if (clear) begin
            state__d[(64'h0)+:(16)] = ((32'h0) & 16'hffff);
            state__d[(64'h10)+:(16)] = ((32'h0) & 16'hffff);
            state__d[(64'h20)+:(16)] = ((32'h0) & 16'hffff);
        end
    end
endmodule

module optireduce_contribute__sending(d,q,clock);
    // Module arguments
    input wire  [1:0] d;
    output reg  [1:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 2'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_contribute__state(d,q,clock);
    // Module arguments
    input wire  [1:0] d;
    output reg  [1:0] q;
    input wire  clock;
    // Enums
    localparam FillState__Idle = 0;
    localparam FillState__Start = 1;
    localparam FillState__Fill = 2;
    localparam FillState__Hand = 3;
    // Update code (custom)
    initial q = 64'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_dma_read__owners(clock,clear,push,push_data,full,pop,pop_data,empty,room);
    // Module arguments
    input wire  clock;
    input wire  clear;
    input wire  push;
    input wire  push_data;
    output reg  full;
    input wire  pop;
    output reg  pop_data;
    output reg  empty;
    output reg  [15:0] room;
    // Constant declarations
    localparam  depth = 16'h8;
    // Stub signals
    reg  memory__clock;
    reg  [2:0] memory__read_address;
    wire  memory__read_data;
    reg  [2:0] memory__write_address;
    reg  memory__write_data;
    reg  memory__write_enable;
    reg  [47:0] state__d;
    wire  [47:0] state__q;
    reg  state__clock;
    // Local signals
    reg  pushed;
    reg  popped;
    reg  [15:0] head_next;
    reg  [15:0] tail_next;
    reg  [15:0] used_more;
    reg  [15:0] used_less;
    // Sub module instances
    optireduce_dma_read__owners__memory memory(
        .clock(memory__clock),
        .read_address(memory__read_address),
        .read_data(memory__read_data),
        .write_address(memory__write_address),
        .write_data(memory__write_data),
        .write_enable(memory__write_enable)
    );
    optireduce_builder__orders__state state(
        .d(state__d),
        .q(state__q),
        .clock(state__clock)
    );
    // Update code
    always @(*) begin
        state__clock = clock;
        state__d = state__q;
        memory__clock = clock;
        full = state__q[(64'h20)+:(16)] == depth;
        empty = state__q[(64'h20)+:(16)] == 32'h0;
        room = depth - state__q[(64'h20)+:(16)];
        pushed = push && ~full;
        popped = pop && ~empty;
        memory__write_address = ((state__q[(64'h10)+:(16)]) & 3'h7);
        memory__write_data = push_data;
        memory__write_enable = pushed;
        memory__read_address = ((state__q[(64'h0)+:(16)]) & 3'h7);
        pop_data = memory__read_data;
        head_next = state__q[(64'h0)+:(16)] + 32'h1;
        tail_next = state__q[(64'h10)+:(16)] + 32'h1;
        used_more = state__q[(64'h20)+:(16)] + 32'h1;
        used_less = state__q[(64'h20)+:(16)] - 32'h1;
        if (pushed) begin
            state__d[(64'h10)+:(16)] = tail_next;
        end
        if (popped) begin
            state__d[(64'h0)+:(16)] = head_next;
        end
        if (pushed && ~popped) begin
            state__d[(64'h20)+:(16)] = used_more;
        end
        if (popped && ~pushed) begin
            state__d[(64'h20)+:(16)] = used_less;
        end
        if (clear) begin
            state__d[(64'h0)+:(16)] = ((32'h0) & 16'hffff);
            state__d[(64'h10)+:(16)] = ((32'h0) & 16'hffff);
            state__d[(64'h20)+:(16)] = ((32'h0) & 16'hffff);
        end
    end
endmodule

module optireduce_finisher__burst_left(d,q,clock);
    // Module arguments
    input wire  [6:0] d;
    output reg  [6:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 7'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_finisher__inbox(clock,clear,push,push_data,full,pop,pop_data,empty,room);
    // Module arguments
    input wire  clock;
    input wire  clear;
    input wire  push;
    input wire  [512:0] push_data;
    output reg  full;
    input wire  pop;
    output reg  [512:0] pop_data;
    output reg  empty;
    output reg  [15:0] room;
    // Constant declarations
    localparam  depth = 16'h8;
    // Stub signals
    reg  memory__clock;
    reg  [2:0] memory__read_address;
    wire  [512:0] memory__read_data;
    reg  [2:0] memory__write_address;
    reg  [512:0] memory__write_data;
    reg  memory__write_enable;
    reg  [47:0] state__d;
    wire  [47:0] state__q;
    reg  state__clock;
    // Local signals
    reg  pushed;
    reg  popped;
    reg  [15:0] head_next;
    reg  [15:0] tail_next;
    reg  [15:0] used_more;
    reg  [15:0] used_less;
    // Sub module instances
    optireduce_finisher__inbox__memory memory(
        .clock(memory__clock),
        .read_address(memory__read_address),
        .read_data(memory__read_data),
        .write_address(memory__write_address),
        .write_data(memory__write_data),
        .write_enable(memory__write_enable)
    );
    optireduce_builder__orders__state state(
        .d(state__d),
        .q(state__q),
        .clock(state__clock)
    );
    // Update code
    always @(*) begin
        state__clock = clock;
        state__d = state__q;
        memory__clock = clock;
        full = state__q[(64'h20)+:(16)] == depth;
        empty = state__q[(64'h20)+:(16)] == 32'h0;
        room = depth - state__q[(64'h20)+:(16)];
        pushed = push && ~full;
        popped = pop && ~empty;
        memory__write_address = ((state__q[(64'h10)+:(16)]) & 3'h7);
        memory__write_data = push_data;
        memory__write_enable = pushed;
        memory__read_address = ((state__q[(64'h0)+:(16)]) & 3'h7);
        pop_data = memory__read_data;
        head_next = state__q[(64'h0)+:(16)] + 32'h1;
        tail_next = state__q[(64'h10)+:(16)] + 32'h1;
        used_more = state__q[(64'h20)+:(16)] + 32'h1;
        used_less = state__q[(64'h20)+:(16)] - 32'h1;
        if (pushed) begin
            state__d[(64'h10)+:(16)] = tail_next;
        end
        if (popped) begin
            state__d[(64'h0)+:(16)] = head_next;
        end
        if (pushed && ~popped) begin
            state__d[(64'h20)+:(16)] = used_more;
        end
        if (popped && ~pushed) begin
            state__d[(64'h20)+:(16)] = used_less;
        end
        if (clear) begin
            state__d[(64'h0)+:(16)] = ((32'h0) & 16'hffff);
            state__d[(64'h10)+:(16)] = ((32'h0) & 16'hffff);
            state__d[(64'h20)+:(16)] = ((32'h0) & 16'hffff);
        end
    end
endmodule

module optireduce_finisher__multiplier(clock,a,factor,product);
    // Module arguments
    input wire  clock;
    input wire  [511:0] a;
    input wire  [31:0] factor;
    output reg  [511:0] product;
    // Stub signals
    reg  lane__0__clock;
    reg  [31:0] lane__0__a;
    reg  [31:0] lane__0__b;
    wire  [31:0] lane__0__product;
    reg  lane__1__clock;
    reg  [31:0] lane__1__a;
    reg  [31:0] lane__1__b;
    wire  [31:0] lane__1__product;
    reg  lane__2__clock;
    reg  [31:0] lane__2__a;
    reg  [31:0] lane__2__b;
    wire  [31:0] lane__2__product;
    reg  lane__3__clock;
    reg  [31:0] lane__3__a;
    reg  [31:0] lane__3__b;
    wire  [31:0] lane__3__product;
    reg  lane__4__clock;
    reg  [31:0] lane__4__a;
    reg  [31:0] lane__4__b;
    wire  [31:0] lane__4__product;
    reg  lane__5__clock;
    reg  [31:0] lane__5__a;
    reg  [31:0] lane__5__b;
    wire  [31:0] lane__5__product;
    reg  lane__6__clock;
    reg  [31:0] lane__6__a;
    reg  [31:0] lane__6__b;
    wire  [31:0] lane__6__product;
    reg  lane__7__clock;
    reg  [31:0] lane__7__a;
    reg  [31:0] lane__7__b;
    wire  [31:0] lane__7__product;
    reg  lane__8__clock;
    reg  [31:0] lane__8__a;
    reg  [31:0] lane__8__b;
    wire  [31:0] lane__8__product;
    reg  lane__9__clock;
    reg  [31:0] lane__9__a;
    reg  [31:0] lane__9__b;
    wire  [31:0] lane__9__product;
    reg  lane__10__clock;
    reg  [31:0] lane__10__a;
    reg  [31:0] lane__10__b;
    wire  [31:0] lane__10__product;
    reg  lane__11__clock;
    reg  [31:0] lane__11__a;
    reg  [31:0] lane__11__b;
    wire  [31:0] lane__11__product;
    reg  lane__12__clock;
    reg  [31:0] lane__12__a;
    reg  [31:0] lane__12__b;
    wire  [31:0] lane__12__product;
    reg  lane__13__clock;
    reg  [31:0] lane__13__a;
    reg  [31:0] lane__13__b;
    wire  [31:0] lane__13__product;
    reg  lane__14__clock;
    reg  [31:0] lane__14__a;
    reg  [31:0] lane__14__b;
    wire  [31:0] lane__14__product;
    reg  lane__15__clock;
    reg  [31:0] lane__15__a;
    reg  [31:0] lane__15__b;
    wire  [31:0] lane__15__product;
    reg  [31:0] pack__lane__0;
    reg  [31:0] pack__lane__1;
    reg  [31:0] pack__lane__2;
    reg  [31:0] pack__lane__3;
    reg  [31:0] pack__lane__4;
    reg  [31:0] pack__lane__5;
    reg  [31:0] pack__lane__6;
    reg  [31:0] pack__lane__7;
    reg  [31:0] pack__lane__8;
    reg  [31:0] pack__lane__9;
    reg  [31:0] pack__lane__10;
    reg  [31:0] pack__lane__11;
    reg  [31:0] pack__lane__12;
    reg  [31:0] pack__lane__13;
    reg  [31:0] pack__lane__14;
    reg  [31:0] pack__lane__15;
    wire  [511:0] pack__beat;
    // Sub module instances
    optireduce_finisher__multiplier__lane__0 lane__0(
        .clock(lane__0__clock),
        .a(lane__0__a),
        .b(lane__0__b),
        .product(lane__0__product)
    );
    optireduce_finisher__multiplier__lane__0 lane__1(
        .clock(lane__1__clock),
        .a(lane__1__a),
        .b(lane__1__b),
        .product(lane__1__product)
    );
    optireduce_finisher__multiplier__lane__0 lane__2(
        .clock(lane__2__clock),
        .a(lane__2__a),
        .b(lane__2__b),
        .product(lane__2__product)
    );
    optireduce_finisher__multiplier__lane__0 lane__3(
        .clock(lane__3__clock),
        .a(lane__3__a),
        .b(lane__3__b),
        .product(lane__3__product)
    );
    optireduce_finisher__multiplier__lane__0 lane__4(
        .clock(lane__4__clock),
        .a(lane__4__a),
        .b(lane__4__b),
        .product(lane__4__product)
    );
    optireduce_finisher__multiplier__lane__0 lane__5(
        .clock(lane__5__clock),
        .a(lane__5__a),
        .b(lane__5__b),
        .product(lane__5__product)
    );
    optireduce_finisher__multiplier__lane__0 lane__6(
        .clock(lane__6__clock),
        .a(lane__6__a),
        .b(lane__6__b),
        .product(lane__6__product)
    );
    optireduce_finisher__multiplier__lane__0 lane__7(
        .clock(lane__7__clock),
        .a(lane__7__a),
        .b(lane__7__b),
        .product(lane__7__product)
    );
    optireduce_finisher__multiplier__lane__0 lane__8(
        .clock(lane__8__clock),
        .a(lane__8__a),
        .b(lane__8__b),
        .product(lane__8__product)
    );
    optireduce_finisher__multiplier__lane__0 lane__9(
        .clock(lane__9__clock),
        .a(lane__9__a),
        .b(lane__9__b),
        .product(lane__9__product)
    );
    optireduce_finisher__multiplier__lane__0 lane__10(
        .clock(lane__10__clock),
        .a(lane__10__a),
        .b(lane__10__b),
        .product(lane__10__product)
    );
    optireduce_finisher__multiplier__lane__0 lane__11(
        .clock(lane__11__clock),
        .a(lane__11__a),
        .b(lane__11__b),
        .product(lane__11__product)
    );
    optireduce_finisher__multiplier__lane__0 lane__12(
        .clock(lane__12__clock),
        .a(lane__12__a),
        .b(lane__12__b),
        .product(lane__12__product)
    );
    optireduce_finisher__multiplier__lane__0 lane__13(
        .clock(lane__13__clock),
        .a(lane__13__a),
        .b(lane__13__b),
        .product(lane__13__product)
    );
    optireduce_finisher__multiplier__lane__0 lane__14(
        .clock(lane__14__clock),
        .a(lane__14__a),
        .b(lane__14__b),
        .product(lane__14__product)
    );
    optireduce_finisher__multiplier__lane__0 lane__15(
        .clock(lane__15__clock),
        .a(lane__15__a),
        .b(lane__15__b),
        .product(lane__15__product)
    );
    optireduce_finisher__multiplier__pack pack(
        .lane__0(pack__lane__0),
        .lane__1(pack__lane__1),
        .lane__2(pack__lane__2),
        .lane__3(pack__lane__3),
        .lane__4(pack__lane__4),
        .lane__5(pack__lane__5),
        .lane__6(pack__lane__6),
        .lane__7(pack__lane__7),
        .lane__8(pack__lane__8),
        .lane__9(pack__lane__9),
        .lane__10(pack__lane__10),
        .lane__11(pack__lane__11),
        .lane__12(pack__lane__12),
        .lane__13(pack__lane__13),
        .lane__14(pack__lane__14),
        .lane__15(pack__lane__15),
        .beat(pack__beat)
    );
    // Update code
    always @(*) begin
        lane__0__clock = clock;
        lane__0__a = a[(0 * 32'h20)+:(32)];
        lane__0__b = factor;
        pack__lane__0 = lane__0__product;
        lane__1__clock = clock;
        lane__1__a = a[(1 * 32'h20)+:(32)];
        lane__1__b = factor;
        pack__lane__1 = lane__1__product;
        lane__2__clock = clock;
        lane__2__a = a[(2 * 32'h20)+:(32)];
        lane__2__b = factor;
        pack__lane__2 = lane__2__product;
        lane__3__clock = clock;
        lane__3__a = a[(3 * 32'h20)+:(32)];
        lane__3__b = factor;
        pack__lane__3 = lane__3__product;
        lane__4__clock = clock;
        lane__4__a = a[(4 * 32'h20)+:(32)];
        lane__4__b = factor;
        pack__lane__4 = lane__4__product;
        lane__5__clock = clock;
        lane__5__a = a[(5 * 32'h20)+:(32)];
        lane__5__b = factor;
        pack__lane__5 = lane__5__product;
        lane__6__clock = clock;
        lane__6__a = a[(6 * 32'h20)+:(32)];
        lane__6__b = factor;
        pack__lane__6 = lane__6__product;
        lane__7__clock = clock;
        lane__7__a = a[(7 * 32'h20)+:(32)];
        lane__7__b = factor;
        pack__lane__7 = lane__7__product;
        lane__8__clock = clock;
        lane__8__a = a[(8 * 32'h20)+:(32)];
        lane__8__b = factor;
        pack__lane__8 = lane__8__product;
        lane__9__clock = clock;
        lane__9__a = a[(9 * 32'h20)+:(32)];
        lane__9__b = factor;
        pack__lane__9 = lane__9__product;
        lane__10__clock = clock;
        lane__10__a = a[(10 * 32'h20)+:(32)];
        lane__10__b = factor;
        pack__lane__10 = lane__10__product;
        lane__11__clock = clock;
        lane__11__a = a[(11 * 32'h20)+:(32)];
        lane__11__b = factor;
        pack__lane__11 = lane__11__product;
        lane__12__clock = clock;
        lane__12__a = a[(12 * 32'h20)+:(32)];
        lane__12__b = factor;
        pack__lane__12 = lane__12__product;
        lane__13__clock = clock;
        lane__13__a = a[(13 * 32'h20)+:(32)];
        lane__13__b = factor;
        pack__lane__13 = lane__13__product;
        lane__14__clock = clock;
        lane__14__a = a[(14 * 32'h20)+:(32)];
        lane__14__b = factor;
        pack__lane__14 = lane__14__product;
        lane__15__clock = clock;
        lane__15__a = a[(15 * 32'h20)+:(32)];
        lane__15__b = factor;
        pack__lane__15 = lane__15__product;
        product = pack__beat;
    end
endmodule

module optireduce_finisher__outbox(clock,clear,push,push_data,full,pop,pop_data,empty,room);
    // Module arguments
    input wire  clock;
    input wire  clear;
    input wire  push;
    input wire  [511:0] push_data;
    output reg  full;
    input wire  pop;
    output reg  [511:0] pop_data;
    output reg  empty;
    output reg  [15:0] room;
    // Constant declarations
    localparam  depth = 16'h200;
    // Stub signals
    reg  memory__clock;
    reg  [8:0] memory__read_address;
    wire  [511:0] memory__read_data;
    reg  [8:0] memory__write_address;
    reg  [511:0] memory__write_data;
    reg  memory__write_enable;
    reg  [47:0] state__d;
    wire  [47:0] state__q;
    reg  state__clock;
    // Local signals
    reg  pushed;
    reg  popped;
    reg  [15:0] head_next;
    reg  [15:0] tail_next;
    reg  [15:0] used_more;
    reg  [15:0] used_less;
    // Sub module instances
    optireduce_finisher__outbox__memory memory(
        .clock(memory__clock),
        .read_address(memory__read_address),
        .read_data(memory__read_data),
        .write_address(memory__write_address),
        .write_data(memory__write_data),
        .write_enable(memory__write_enable)
    );
    optireduce_builder__orders__state state(
        .d(state__d),
        .q(state__q),
        .clock(state__clock)
    );
    // Update code
    always @(*) begin
        state__clock = clock;
        state__d = state__q;
        memory__clock = clock;
        full = state__q[(64'h20)+:(16)] == depth;
        empty = state__q[(64'h20)+:(16)] == 32'h0;
        room = depth - state__q[(64'h20)+:(16)];
        pushed = push && ~full;
        popped = pop && ~empty;
        memory__write_address = ((state__q[(64'h10)+:(16)]) & 9'h1ff);
        memory__write_data = push_data;
        memory__write_enable = pushed;
        memory__read_address = ((state__q[(64'h0)+:(16)]) & 9'h1ff);
        pop_data = memory__read_data;
        head_next = state__q[(64'h0)+:(16)] + 32'h1;
        tail_next = state__q[(64'h10)+:(16)] + 32'h1;
        used_more = state__q[(64'h20)+:(16)] + 32'h1;
        used_less = state__q[(64'h20)+:(16)] - 32'h1;
        if (pushed) begin
            state__d[(64'h10)+:(16)] = tail_next;
        end
        if (popped) begin
            state__d[(64'h0)+:(16)] = head_next;
        end
        if (pushed && ~popped) begin
            state__d[(64'h20)+:(16)] = used_more;
        end
        if (popped && ~pushed) begin
            state__d[(64'h20)+:(16)] = used_less;
        end
        if (clear) begin
            state__d[(64'h0)+:(16)] = ((32'h0) & 16'hffff);
            state__d[(64'h10)+:(16)] = ((32'h0) & 16'hffff);
            state__d[(64'h20)+:(16)] = ((32'h0) & 16'hffff);
        end
    end
endmodule

module optireduce_finisher__reciprocal(clock,count,factor);
    // Module arguments
    input wire  clock;
    input wire  [10:0] count;
    output reg  [31:0] factor;
    // Stub signals
    reg  rom__clock;
    reg  [10:0] rom__address;
    wire  [31:0] rom__data;
    // Sub module instances
    optireduce_finisher__reciprocal__rom rom(
        .clock(rom__clock),
        .address(rom__address),
        .data(rom__data)
    );
    // Update code
    always @(*) begin
        rom__clock = clock;
        rom__address = count;
        factor = rom__data;
    end
endmodule

module optireduce_finisher__refusal_now(d,q,clock);
    // Module arguments
    input wire  [49:0] d;
    output reg  [49:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 50'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_finisher__refusals(clock,clear,push,push_data,full,pop,pop_data,empty,room);
    // Module arguments
    input wire  clock;
    input wire  clear;
    input wire  push;
    input wire  [49:0] push_data;
    output reg  full;
    input wire  pop;
    output reg  [49:0] pop_data;
    output reg  empty;
    output reg  [15:0] room;
    // Constant declarations
    localparam  depth = 16'h10;
    // Stub signals
    reg  memory__clock;
    reg  [3:0] memory__read_address;
    wire  [49:0] memory__read_data;
    reg  [3:0] memory__write_address;
    reg  [49:0] memory__write_data;
    reg  memory__write_enable;
    reg  [47:0] state__d;
    wire  [47:0] state__q;
    reg  state__clock;
    // Local signals
    reg  pushed;
    reg  popped;
    reg  [15:0] head_next;
    reg  [15:0] tail_next;
    reg  [15:0] used_more;
    reg  [15:0] used_less;
    // Sub module instances
    optireduce_finisher__refusals__memory memory(
        .clock(memory__clock),
        .read_address(memory__read_address),
        .read_data(memory__read_data),
        .write_address(memory__write_address),
        .write_data(memory__write_data),
        .write_enable(memory__write_enable)
    );
    optireduce_builder__orders__state state(
        .d(state__d),
        .q(state__q),
        .clock(state__clock)
    );
    // Update code
    always @(*) begin
        state__clock = clock;
        state__d = state__q;
        memory__clock = clock;
        full = state__q[(64'h20)+:(16)] == depth;
        empty = state__q[(64'h20)+:(16)] == 32'h0;
        room = depth - state__q[(64'h20)+:(16)];
        pushed = push && ~full;
        popped = pop && ~empty;
        memory__write_address = ((state__q[(64'h10)+:(16)]) & 4'hf);
        memory__write_data = push_data;
        memory__write_enable = pushed;
        memory__read_address = ((state__q[(64'h0)+:(16)]) & 4'hf);
        pop_data = memory__read_data;
        head_next = state__q[(64'h0)+:(16)] + 32'h1;
        tail_next = state__q[(64'h10)+:(16)] + 32'h1;
        used_more = state__q[(64'h20)+:(16)] + 32'h1;
        used_less = state__q[(64'h20)+:(16)] - 32'h1;
        if (pushed) begin
            state__d[(64'h10)+:(16)] = tail_next;
        end
        if (popped) begin
            state__d[(64'h0)+:(16)] = head_next;
        end
        if (pushed && ~popped) begin
            state__d[(64'h20)+:(16)] = used_more;
        end
        if (popped && ~pushed) begin
            state__d[(64'h20)+:(16)] = used_less;
        end
        if (clear) begin
            state__d[(64'h0)+:(16)] = ((32'h0) & 16'hffff);
            state__d[(64'h10)+:(16)] = ((32'h0) & 16'hffff);
            state__d[(64'h20)+:(16)] = ((32'h0) & 16'hffff);
        end
    end
endmodule

module optireduce_finisher__reserved(d,q,clock);
    // Module arguments
    input wire  [15:0] d;
    output reg  [15:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 16'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_finisher__shift(data,word,shifted);
    // Module arguments
    input wire  [511:0] data;
    input wire  [15:0] word;
    output reg  [511:0] shifted;
    // Update code (custom)
    always @(*) shifted = {word, data[511:16]};
endmodule

module optireduce_finisher__state(d,q,clock);
    // Module arguments
    input wire  [3:0] d;
    output reg  [3:0] q;
    input wire  clock;
    // Enums
    localparam FinishState__Idle = 0;
    localparam FinishState__Begin = 1;
    localparam FinishState__Drain = 2;
    localparam FinishState__Count = 3;
    localparam FinishState__ReportAsk = 4;
    localparam FinishState__ReportLow = 5;
    localparam FinishState__ReportHigh = 6;
    localparam FinishState__Settle = 7;
    localparam FinishState__DoneAsk = 8;
    localparam FinishState__DoneWrite = 9;
    localparam FinishState__DoneSettle = 10;
    // Update code (custom)
    initial q = 64'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_gate__0(clock,clear,now_ns,arm,rules,enter,packet,sender,mark,beat,own,quiet,free,open,closed,report,timer_ns);
    // Module arguments
    input wire  clock;
    input wire  clear;
    input wire  [47:0] now_ns;
    input wire  arm;
    input wire  [172:0] rules;
    input wire  enter;
    input wire  packet;
    input wire  [63:0] sender;
    input wire  mark;
    input wire  beat;
    input wire  own;
    input wire  quiet;
    input wire  free;
    output reg  open;
    output reg  closed;
    output reg  [205:0] report;
    output reg  [47:0] timer_ns;
    // Stub signals
    reg  [144:0] st__d;
    wire  [144:0] st__q;
    reg  st__clock;
    reg  [172:0] rule__d;
    wire  [172:0] rule__q;
    reg  rule__clock;
    reg  [205:0] done__d;
    wire  [205:0] done__q;
    reg  done__clock;
    // Local signals
    reg  [47:0] deadline_ns;
    reg  [47:0] silent_ns;
    reg  [47:0] elapsed_ns;
    reg  [47:0] silence_ns;
    reg  all_marked;
    reg  own_in;
    reg  may_be_early;
    reg  complete;
    reg  early;
    reg  overdue;
    reg  [63:0] unheard;
    reg  [63:0] unmarked;
    reg  enough;
    reg  [6:0] heard_next;
    // Sub module instances
    optireduce_gate__0__st st(
        .d(st__d),
        .q(st__q),
        .clock(st__clock)
    );
    optireduce_gate__0__rule rule(
        .d(rule__d),
        .q(rule__q),
        .clock(rule__clock)
    );
    optireduce_gate__0__done done(
        .d(done__d),
        .q(done__q),
        .clock(done__clock)
    );
    // Update code
    always @(*) begin
        st__clock = clock;
        rule__clock = clock;
        done__clock = clock;
        st__d = st__q;
        rule__d = rule__q;
        done__d = done__q;
        deadline_ns = done__q[(64'h6e)+:(48)] + ((rule__q[(64'h0)+:(32)]) & 48'hffffffffffff);
        silent_ns = st__q[(64'h61)+:(48)] + ((rule__q[(64'h20)+:(32)]) & 48'hffffffffffff);
        elapsed_ns = now_ns - done__q[(64'h6e)+:(48)];
        silence_ns = now_ns - st__q[(64'h61)+:(48)];
        unmarked = rule__q[(64'h48)+:(64)] & (st__q[(64'h21)+:(64)] ^ 64'hffffffffffffffff);
        all_marked = unmarked == 32'h0;
        own_in = done__q[(64'h18)+:(22)] == ((rule__q[(64'h9e)+:(15)]) & 22'h3fffff);
        may_be_early = rule__q[(64'h47)+:(1)] && st__q[(64'h3)+:(1)] && own_in && all_marked;
        complete = st__q[(64'h2)+:(1)] && (st__q[(64'h4)+:(22)] == 32'h0);
        early = may_be_early && quiet && (silence_ns >= ((rule__q[(64'h20)+:(32)]) & 48'hffffffffffff));
        overdue = st__q[(64'h2)+:(1)] && (elapsed_ns >= ((rule__q[(64'h0)+:(32)]) & 48'hffffffffffff));
        unheard = sender & (done__q[(64'h2e)+:(64)] ^ 64'hffffffffffffffff);
        heard_next = st__q[(64'h1a)+:(7)];
        if (packet && (unheard != 32'h0)) begin
            heard_next = st__q[(64'h1a)+:(7)] + 32'h1;
        end
        enough = (rule__q[(64'h40)+:(7)] != 32'h0) && (heard_next >= rule__q[(64'h40)+:(7)]);
        if (st__q[(64'h0)+:(1)]) begin
            if (packet) begin
                done__d[(64'h2e)+:(64)] = done__q[(64'h2e)+:(64)] | sender;
                st__d[(64'h1a)+:(7)] = heard_next;
                st__d[(64'h61)+:(48)] = now_ns;
                if (mark) begin
                    st__d[(64'h21)+:(64)] = st__q[(64'h21)+:(64)] | sender;
                end
            end
            if (beat) begin
                st__d[(64'h4)+:(22)] = st__q[(64'h4)+:(22)] - 32'h1;
                if (own) begin
                    done__d[(64'h18)+:(22)] = done__q[(64'h18)+:(22)] + 32'h1;
                end
                else begin
                    done__d[(64'h2)+:(22)] = done__q[(64'h2)+:(22)] + 32'h1;
                end
            end
            if (enter) begin
                st__d[(64'h3)+:(1)] = 1'b1;
            end
            if ((enter || enough) && ~st__q[(64'h2)+:(1)]) begin
                st__d[(64'h2)+:(1)] = 1'b1;
                st__d[(64'h61)+:(48)] = now_ns;
                done__d[(64'h6e)+:(48)] = now_ns;
            end
            if (complete || early || overdue) begin
                st__d[(64'h0)+:(1)] = 1'b0;
                st__d[(64'h1)+:(1)] = 1'b1;
                done__d[(64'h9e)+:(48)] = now_ns;
                done__d[(64'h0)+:(2)] = ((32'h2) & 2'h3);
                if (early) begin
                    done__d[(64'h0)+:(2)] = ((32'h1) & 2'h3);
                end
                if (complete) begin
                    done__d[(64'h0)+:(2)] = ((32'h0) & 2'h3);
                end
            end
        end
        if (arm) begin
            rule__d = rules;
            st__d[(64'h0)+:(1)] = 1'b1;
            st__d[(64'h1)+:(1)] = 1'b0;
            st__d[(64'h2)+:(1)] = 1'b0;
            st__d[(64'h3)+:(1)] = 1'b0;
            st__d[(64'h4)+:(22)] = rules[(64'h88)+:(22)];
            st__d[(64'h1a)+:(7)] = ((32'h0) & 7'h7f);
            st__d[(64'h21)+:(64)] = ((32'h0) & 64'hffffffffffffffff);
            done__d[(64'h2)+:(22)] = ((32'h0) & 22'h3fffff);
            done__d[(64'h18)+:(22)] = ((32'h0) & 22'h3fffff);
            done__d[(64'h2e)+:(64)] = ((32'h0) & 64'hffffffffffffffff);
        end
        if (free || clear) begin
            st__d[(64'h0)+:(1)] = 1'b0;
            st__d[(64'h1)+:(1)] = 1'b0;
            st__d[(64'h2)+:(1)] = 1'b0;
            st__d[(64'h3)+:(1)] = 1'b0;
        end
        open = st__q[(64'h0)+:(1)];
        closed = st__q[(64'h1)+:(1)];
        report = done__q;
        timer_ns = ((64'hffffffffffff) & 48'hffffffffffff);
        if (st__q[(64'h0)+:(1)] && st__q[(64'h2)+:(1)]) begin
            timer_ns = deadline_ns;
            if (may_be_early && (silent_ns < deadline_ns)) begin
                timer_ns = silent_ns;
            end
        end
    end
endmodule

module optireduce_gather__arrivals(clock,accept,address,epoch,scrub,read_address,read_epoch,count);
    // Module arguments
    input wire  clock;
    input wire  accept;
    input wire  [8:0] address;
    input wire  [7:0] epoch;
    input wire  scrub;
    input wire  [8:0] read_address;
    input wire  [7:0] read_epoch;
    output reg  [15:0] count;
    // Stub signals
    reg  counting__clock;
    reg  [8:0] counting__read_address;
    wire  [23:0] counting__read_data;
    reg  [8:0] counting__write_address;
    reg  [23:0] counting__write_data;
    reg  counting__write_enable;
    reg  reading__clock;
    reg  [8:0] reading__read_address;
    wire  [23:0] reading__read_data;
    reg  [8:0] reading__write_address;
    reg  [23:0] reading__write_data;
    reg  reading__write_enable;
    // Local signals
    reg  [23:0] next;
    reg  [15:0] sum;
    // Sub module instances
    optireduce_gather__arrivals__counting counting(
        .clock(counting__clock),
        .read_address(counting__read_address),
        .read_data(counting__read_data),
        .write_address(counting__write_address),
        .write_data(counting__write_data),
        .write_enable(counting__write_enable)
    );
    optireduce_gather__arrivals__counting reading(
        .clock(reading__clock),
        .read_address(reading__read_address),
        .read_data(reading__read_data),
        .write_address(reading__write_address),
        .write_data(reading__write_data),
        .write_enable(reading__write_enable)
    );
    // Update code
    always @(*) begin
        counting__clock = clock;
        reading__clock = clock;
        counting__read_address = address;
        sum = ((32'h1) & 16'hffff);
        if (counting__read_data[(64'h10)+:(8)] == epoch) begin
            sum = counting__read_data[(64'h0)+:(16)] + 32'h1;
        end
        next[(64'h0)+:(16)] = sum;
        next[(64'h10)+:(8)] = epoch;
        if (scrub) begin
            next[(64'h10)+:(8)] = ((32'h0) & 8'hff);
        end
        counting__write_enable = accept || scrub;
        counting__write_address = address;
        counting__write_data = next;
        reading__write_enable = accept || scrub;
        reading__write_address = address;
        reading__write_data = next;
        reading__read_address = read_address;
        count = ((32'h0) & 16'hffff);
        if (reading__read_data[(64'h10)+:(8)] == read_epoch) begin
            count = reading__read_data[(64'h0)+:(16)];
        end
    end
endmodule

module optireduce_gather__ram(clock,read_address,read_data,write_address,write_data,write_enable);
    // Module arguments
    input wire  clock;
    input wire  [16:0] read_address;
    output reg  [519:0] read_data;
    input wire  [16:0] write_address;
    input wire  [519:0] write_data;
    input wire  write_enable;
    // Update code (custom)
    (* ram_style = "block" *) reg [519:0] mem [0:8191];
    `ifndef SYNTHESIS
    integer i;
    initial for (i = 0; i <= 8191; i = i + 1) mem[i] = 0;
    `endif
    initial read_data = 0;
    always @(posedge clock) begin
        read_data <= mem[{read_address[2:0], read_address[12:3]}];
        if (write_enable) mem[{write_address[2:0], write_address[12:3]}] <= write_data;
    end
endmodule

module optireduce_gather__tags(clock,read_address,read_data,write_address,write_data,write_enable);
    // Module arguments
    input wire  clock;
    input wire  [16:0] read_address;
    output reg  [7:0] read_data;
    input wire  [16:0] write_address;
    input wire  [7:0] write_data;
    input wire  write_enable;
    // Update code (custom)
    (* ram_style = "block" *) reg [7:0] mem [0:8191];
    `ifndef SYNTHESIS
    integer i;
    initial for (i = 0; i <= 8191; i = i + 1) mem[i] = 0;
    `endif
    initial read_data = 0;
    always @(posedge clock) begin
        read_data <= mem[{read_address[2:0], read_address[12:3]}];
        if (write_enable) mem[{write_address[2:0], write_address[12:3]}] <= write_data;
    end
endmodule

module optireduce_gather__taken(d,q,clock);
    // Module arguments
    input wire  [556:0] d;
    output reg  [556:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 557'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_lookup__first(d,q,clock);
    // Module arguments
    input wire  [513:0] d;
    output reg  [513:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 514'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_lookup__found(d,q,clock);
    // Module arguments
    input wire  [37:0] d;
    output reg  [37:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 38'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_lookup__verdict(d,q,clock);
    // Module arguments
    input wire  [34:0] d;
    output reg  [34:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 35'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_parser__fields(d,q,clock);
    // Module arguments
    input wire  [77:0] d;
    output reg  [77:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 78'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_parser__parsed(d,q,clock);
    // Module arguments
    input wire  [514:0] d;
    output reg  [514:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 515'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_parser__raw(d,q,clock);
    // Module arguments
    input wire  [524:0] d;
    output reg  [524:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 525'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_planner__broadcasts(clock,clear,push,push_data,full,pop,pop_data,empty,room);
    // Module arguments
    input wire  clock;
    input wire  clear;
    input wire  push;
    input wire  [24:0] push_data;
    output reg  full;
    input wire  pop;
    output reg  [24:0] pop_data;
    output reg  empty;
    output reg  [15:0] room;
    // Constant declarations
    localparam  depth = 16'h8;
    // Stub signals
    reg  memory__clock;
    reg  [2:0] memory__read_address;
    wire  [24:0] memory__read_data;
    reg  [2:0] memory__write_address;
    reg  [24:0] memory__write_data;
    reg  memory__write_enable;
    reg  [47:0] state__d;
    wire  [47:0] state__q;
    reg  state__clock;
    // Local signals
    reg  pushed;
    reg  popped;
    reg  [15:0] head_next;
    reg  [15:0] tail_next;
    reg  [15:0] used_more;
    reg  [15:0] used_less;
    // Sub module instances
    optireduce_planner__broadcasts__memory memory(
        .clock(memory__clock),
        .read_address(memory__read_address),
        .read_data(memory__read_data),
        .write_address(memory__write_address),
        .write_data(memory__write_data),
        .write_enable(memory__write_enable)
    );
    optireduce_builder__orders__state state(
        .d(state__d),
        .q(state__q),
        .clock(state__clock)
    );
    // Update code
    always @(*) begin
        state__clock = clock;
        state__d = state__q;
        memory__clock = clock;
        full = state__q[(64'h20)+:(16)] == depth;
        empty = state__q[(64'h20)+:(16)] == 32'h0;
        room = depth - state__q[(64'h20)+:(16)];
        pushed = push && ~full;
        popped = pop && ~empty;
        memory__write_address = ((state__q[(64'h10)+:(16)]) & 3'h7);
        memory__write_data = push_data;
        memory__write_enable = pushed;
        memory__read_address = ((state__q[(64'h0)+:(16)]) & 3'h7);
        pop_data = memory__read_data;
        head_next = state__q[(64'h0)+:(16)] + 32'h1;
        tail_next = state__q[(64'h10)+:(16)] + 32'h1;
        used_more = state__q[(64'h20)+:(16)] + 32'h1;
        used_less = state__q[(64'h20)+:(16)] - 32'h1;
        if (pushed) begin
            state__d[(64'h10)+:(16)] = tail_next;
        end
        if (popped) begin
            state__d[(64'h0)+:(16)] = head_next;
        end
        if (pushed && ~popped) begin
            state__d[(64'h20)+:(16)] = used_more;
        end
        if (popped && ~pushed) begin
            state__d[(64'h20)+:(16)] = used_less;
        end
        if (clear) begin
            state__d[(64'h0)+:(16)] = ((32'h0) & 16'hffff);
            state__d[(64'h10)+:(16)] = ((32'h0) & 16'hffff);
            state__d[(64'h20)+:(16)] = ((32'h0) & 16'hffff);
        end
    end
endmodule

module optireduce_planner__contributes(clock,clear,push,push_data,full,pop,pop_data,empty,room);
    // Module arguments
    input wire  clock;
    input wire  clear;
    input wire  push;
    input wire  [24:0] push_data;
    output reg  full;
    input wire  pop;
    output reg  [24:0] pop_data;
    output reg  empty;
    output reg  [15:0] room;
    // Constant declarations
    localparam  depth = 16'h2;
    // Stub signals
    reg  memory__clock;
    reg  memory__read_address;
    wire  [24:0] memory__read_data;
    reg  memory__write_address;
    reg  [24:0] memory__write_data;
    reg  memory__write_enable;
    reg  [47:0] state__d;
    wire  [47:0] state__q;
    reg  state__clock;
    // Local signals
    reg  pushed;
    reg  popped;
    reg  [15:0] head_next;
    reg  [15:0] tail_next;
    reg  [15:0] used_more;
    reg  [15:0] used_less;
    // Sub module instances
    optireduce_planner__contributes__memory memory(
        .clock(memory__clock),
        .read_address(memory__read_address),
        .read_data(memory__read_data),
        .write_address(memory__write_address),
        .write_data(memory__write_data),
        .write_enable(memory__write_enable)
    );
    optireduce_builder__orders__state state(
        .d(state__d),
        .q(state__q),
        .clock(state__clock)
    );
    // Update code
    always @(*) begin
        state__clock = clock;
        state__d = state__q;
        memory__clock = clock;
        full = state__q[(64'h20)+:(16)] == depth;
        empty = state__q[(64'h20)+:(16)] == 32'h0;
        room = depth - state__q[(64'h20)+:(16)];
        pushed = push && ~full;
        popped = pop && ~empty;
        memory__write_address = ((state__q[(64'h10)+:(16)]) & 1'h1);
        memory__write_data = push_data;
        memory__write_enable = pushed;
        memory__read_address = ((state__q[(64'h0)+:(16)]) & 1'h1);
        pop_data = memory__read_data;
        head_next = state__q[(64'h0)+:(16)] + 32'h1;
        tail_next = state__q[(64'h10)+:(16)] + 32'h1;
        used_more = state__q[(64'h20)+:(16)] + 32'h1;
        used_less = state__q[(64'h20)+:(16)] - 32'h1;
        if (pushed) begin
            state__d[(64'h10)+:(16)] = tail_next;
        end
        if (popped) begin
            state__d[(64'h0)+:(16)] = head_next;
        end
        if (pushed && ~popped) begin
            state__d[(64'h20)+:(16)] = used_more;
        end
        if (popped && ~pushed) begin
            state__d[(64'h20)+:(16)] = used_less;
        end
        if (clear) begin
            state__d[(64'h0)+:(16)] = ((32'h0) & 16'hffff);
            state__d[(64'h10)+:(16)] = ((32'h0) & 16'hffff);
            state__d[(64'h20)+:(16)] = ((32'h0) & 16'hffff);
        end
    end
endmodule

module optireduce_planner__now(d,q,clock);
    // Module arguments
    input wire  [24:0] d;
    output reg  [24:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 25'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_planner__state(d,q,clock);
    // Module arguments
    input wire  [3:0] d;
    output reg  [3:0] q;
    input wire  clock;
    // Enums
    localparam PlanState__Idle = 0;
    localparam PlanState__Window = 1;
    localparam PlanState__Peer = 2;
    localparam PlanState__Shard = 3;
    localparam PlanState__Packet = 4;
    localparam PlanState__Ask = 5;
    localparam PlanState__Answer = 6;
    localparam PlanState__Order = 7;
    localparam PlanState__Finish = 8;
    // Update code (custom)
    initial q = 64'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_reduce__adder(clock,a,b,sum);
    // Module arguments
    input wire  clock;
    input wire  [511:0] a;
    input wire  [511:0] b;
    output reg  [511:0] sum;
    // Stub signals
    reg  lane__0__clock;
    reg  [31:0] lane__0__a;
    reg  [31:0] lane__0__b;
    wire  [31:0] lane__0__sum;
    reg  lane__1__clock;
    reg  [31:0] lane__1__a;
    reg  [31:0] lane__1__b;
    wire  [31:0] lane__1__sum;
    reg  lane__2__clock;
    reg  [31:0] lane__2__a;
    reg  [31:0] lane__2__b;
    wire  [31:0] lane__2__sum;
    reg  lane__3__clock;
    reg  [31:0] lane__3__a;
    reg  [31:0] lane__3__b;
    wire  [31:0] lane__3__sum;
    reg  lane__4__clock;
    reg  [31:0] lane__4__a;
    reg  [31:0] lane__4__b;
    wire  [31:0] lane__4__sum;
    reg  lane__5__clock;
    reg  [31:0] lane__5__a;
    reg  [31:0] lane__5__b;
    wire  [31:0] lane__5__sum;
    reg  lane__6__clock;
    reg  [31:0] lane__6__a;
    reg  [31:0] lane__6__b;
    wire  [31:0] lane__6__sum;
    reg  lane__7__clock;
    reg  [31:0] lane__7__a;
    reg  [31:0] lane__7__b;
    wire  [31:0] lane__7__sum;
    reg  lane__8__clock;
    reg  [31:0] lane__8__a;
    reg  [31:0] lane__8__b;
    wire  [31:0] lane__8__sum;
    reg  lane__9__clock;
    reg  [31:0] lane__9__a;
    reg  [31:0] lane__9__b;
    wire  [31:0] lane__9__sum;
    reg  lane__10__clock;
    reg  [31:0] lane__10__a;
    reg  [31:0] lane__10__b;
    wire  [31:0] lane__10__sum;
    reg  lane__11__clock;
    reg  [31:0] lane__11__a;
    reg  [31:0] lane__11__b;
    wire  [31:0] lane__11__sum;
    reg  lane__12__clock;
    reg  [31:0] lane__12__a;
    reg  [31:0] lane__12__b;
    wire  [31:0] lane__12__sum;
    reg  lane__13__clock;
    reg  [31:0] lane__13__a;
    reg  [31:0] lane__13__b;
    wire  [31:0] lane__13__sum;
    reg  lane__14__clock;
    reg  [31:0] lane__14__a;
    reg  [31:0] lane__14__b;
    wire  [31:0] lane__14__sum;
    reg  lane__15__clock;
    reg  [31:0] lane__15__a;
    reg  [31:0] lane__15__b;
    wire  [31:0] lane__15__sum;
    reg  [31:0] pack__lane__0;
    reg  [31:0] pack__lane__1;
    reg  [31:0] pack__lane__2;
    reg  [31:0] pack__lane__3;
    reg  [31:0] pack__lane__4;
    reg  [31:0] pack__lane__5;
    reg  [31:0] pack__lane__6;
    reg  [31:0] pack__lane__7;
    reg  [31:0] pack__lane__8;
    reg  [31:0] pack__lane__9;
    reg  [31:0] pack__lane__10;
    reg  [31:0] pack__lane__11;
    reg  [31:0] pack__lane__12;
    reg  [31:0] pack__lane__13;
    reg  [31:0] pack__lane__14;
    reg  [31:0] pack__lane__15;
    wire  [511:0] pack__beat;
    // Sub module instances
    optireduce_reduce__adder__lane__0 lane__0(
        .clock(lane__0__clock),
        .a(lane__0__a),
        .b(lane__0__b),
        .sum(lane__0__sum)
    );
    optireduce_reduce__adder__lane__0 lane__1(
        .clock(lane__1__clock),
        .a(lane__1__a),
        .b(lane__1__b),
        .sum(lane__1__sum)
    );
    optireduce_reduce__adder__lane__0 lane__2(
        .clock(lane__2__clock),
        .a(lane__2__a),
        .b(lane__2__b),
        .sum(lane__2__sum)
    );
    optireduce_reduce__adder__lane__0 lane__3(
        .clock(lane__3__clock),
        .a(lane__3__a),
        .b(lane__3__b),
        .sum(lane__3__sum)
    );
    optireduce_reduce__adder__lane__0 lane__4(
        .clock(lane__4__clock),
        .a(lane__4__a),
        .b(lane__4__b),
        .sum(lane__4__sum)
    );
    optireduce_reduce__adder__lane__0 lane__5(
        .clock(lane__5__clock),
        .a(lane__5__a),
        .b(lane__5__b),
        .sum(lane__5__sum)
    );
    optireduce_reduce__adder__lane__0 lane__6(
        .clock(lane__6__clock),
        .a(lane__6__a),
        .b(lane__6__b),
        .sum(lane__6__sum)
    );
    optireduce_reduce__adder__lane__0 lane__7(
        .clock(lane__7__clock),
        .a(lane__7__a),
        .b(lane__7__b),
        .sum(lane__7__sum)
    );
    optireduce_reduce__adder__lane__0 lane__8(
        .clock(lane__8__clock),
        .a(lane__8__a),
        .b(lane__8__b),
        .sum(lane__8__sum)
    );
    optireduce_reduce__adder__lane__0 lane__9(
        .clock(lane__9__clock),
        .a(lane__9__a),
        .b(lane__9__b),
        .sum(lane__9__sum)
    );
    optireduce_reduce__adder__lane__0 lane__10(
        .clock(lane__10__clock),
        .a(lane__10__a),
        .b(lane__10__b),
        .sum(lane__10__sum)
    );
    optireduce_reduce__adder__lane__0 lane__11(
        .clock(lane__11__clock),
        .a(lane__11__a),
        .b(lane__11__b),
        .sum(lane__11__sum)
    );
    optireduce_reduce__adder__lane__0 lane__12(
        .clock(lane__12__clock),
        .a(lane__12__a),
        .b(lane__12__b),
        .sum(lane__12__sum)
    );
    optireduce_reduce__adder__lane__0 lane__13(
        .clock(lane__13__clock),
        .a(lane__13__a),
        .b(lane__13__b),
        .sum(lane__13__sum)
    );
    optireduce_reduce__adder__lane__0 lane__14(
        .clock(lane__14__clock),
        .a(lane__14__a),
        .b(lane__14__b),
        .sum(lane__14__sum)
    );
    optireduce_reduce__adder__lane__0 lane__15(
        .clock(lane__15__clock),
        .a(lane__15__a),
        .b(lane__15__b),
        .sum(lane__15__sum)
    );
    optireduce_finisher__multiplier__pack pack(
        .lane__0(pack__lane__0),
        .lane__1(pack__lane__1),
        .lane__2(pack__lane__2),
        .lane__3(pack__lane__3),
        .lane__4(pack__lane__4),
        .lane__5(pack__lane__5),
        .lane__6(pack__lane__6),
        .lane__7(pack__lane__7),
        .lane__8(pack__lane__8),
        .lane__9(pack__lane__9),
        .lane__10(pack__lane__10),
        .lane__11(pack__lane__11),
        .lane__12(pack__lane__12),
        .lane__13(pack__lane__13),
        .lane__14(pack__lane__14),
        .lane__15(pack__lane__15),
        .beat(pack__beat)
    );
    // Update code
    always @(*) begin
        lane__0__clock = clock;
        lane__0__a = a[(0 * 32'h20)+:(32)];
        lane__0__b = b[(0 * 32'h20)+:(32)];
        pack__lane__0 = lane__0__sum;
        lane__1__clock = clock;
        lane__1__a = a[(1 * 32'h20)+:(32)];
        lane__1__b = b[(1 * 32'h20)+:(32)];
        pack__lane__1 = lane__1__sum;
        lane__2__clock = clock;
        lane__2__a = a[(2 * 32'h20)+:(32)];
        lane__2__b = b[(2 * 32'h20)+:(32)];
        pack__lane__2 = lane__2__sum;
        lane__3__clock = clock;
        lane__3__a = a[(3 * 32'h20)+:(32)];
        lane__3__b = b[(3 * 32'h20)+:(32)];
        pack__lane__3 = lane__3__sum;
        lane__4__clock = clock;
        lane__4__a = a[(4 * 32'h20)+:(32)];
        lane__4__b = b[(4 * 32'h20)+:(32)];
        pack__lane__4 = lane__4__sum;
        lane__5__clock = clock;
        lane__5__a = a[(5 * 32'h20)+:(32)];
        lane__5__b = b[(5 * 32'h20)+:(32)];
        pack__lane__5 = lane__5__sum;
        lane__6__clock = clock;
        lane__6__a = a[(6 * 32'h20)+:(32)];
        lane__6__b = b[(6 * 32'h20)+:(32)];
        pack__lane__6 = lane__6__sum;
        lane__7__clock = clock;
        lane__7__a = a[(7 * 32'h20)+:(32)];
        lane__7__b = b[(7 * 32'h20)+:(32)];
        pack__lane__7 = lane__7__sum;
        lane__8__clock = clock;
        lane__8__a = a[(8 * 32'h20)+:(32)];
        lane__8__b = b[(8 * 32'h20)+:(32)];
        pack__lane__8 = lane__8__sum;
        lane__9__clock = clock;
        lane__9__a = a[(9 * 32'h20)+:(32)];
        lane__9__b = b[(9 * 32'h20)+:(32)];
        pack__lane__9 = lane__9__sum;
        lane__10__clock = clock;
        lane__10__a = a[(10 * 32'h20)+:(32)];
        lane__10__b = b[(10 * 32'h20)+:(32)];
        pack__lane__10 = lane__10__sum;
        lane__11__clock = clock;
        lane__11__a = a[(11 * 32'h20)+:(32)];
        lane__11__b = b[(11 * 32'h20)+:(32)];
        pack__lane__11 = lane__11__sum;
        lane__12__clock = clock;
        lane__12__a = a[(12 * 32'h20)+:(32)];
        lane__12__b = b[(12 * 32'h20)+:(32)];
        pack__lane__12 = lane__12__sum;
        lane__13__clock = clock;
        lane__13__a = a[(13 * 32'h20)+:(32)];
        lane__13__b = b[(13 * 32'h20)+:(32)];
        pack__lane__13 = lane__13__sum;
        lane__14__clock = clock;
        lane__14__a = a[(14 * 32'h20)+:(32)];
        lane__14__b = b[(14 * 32'h20)+:(32)];
        pack__lane__14 = lane__14__sum;
        lane__15__clock = clock;
        lane__15__a = a[(15 * 32'h20)+:(32)];
        lane__15__b = b[(15 * 32'h20)+:(32)];
        pack__lane__15 = lane__15__sum;
        sum = pack__beat;
    end
endmodule

module optireduce_reduce__first(fresh,data,sum);
    // Module arguments
    input wire  fresh;
    input wire  [511:0] data;
    output reg  [511:0] sum;
    // Update code (custom)
    always @(*) sum = fresh ? data : {16{32'h80000000}};
endmodule

module optireduce_reduce__ram(clock,read_address,read_data,write_address,write_data,write_enable);
    // Module arguments
    input wire  clock;
    input wire  [16:0] read_address;
    output reg  [590:0] read_data;
    input wire  [16:0] write_address;
    input wire  [590:0] write_data;
    input wire  write_enable;
    // Update code (custom)
    (* ram_style = "block" *) reg [590:0] mem [0:4095];
    `ifndef SYNTHESIS
    integer i;
    initial for (i = 0; i <= 4095; i = i + 1) mem[i] = 0;
    `endif
    initial read_data = 0;
    always @(posedge clock) begin
        read_data <= mem[{read_address[2:0], read_address[11:3]}];
        if (write_enable) mem[{write_address[2:0], write_address[11:3]}] <= write_data;
    end
endmodule

module optireduce_registers__build(window_beats,log2_n_max);
    // Module arguments
    output reg  [14:0] window_beats;
    output reg  [3:0] log2_n_max;
    // Constant declarations
    localparam  beats = 15'b10000000000;
    localparam  log2_n = 4'hc;
    // Update code
    always @(*) begin
        window_beats = beats;
        log2_n_max = log2_n;
    end
endmodule

module optireduce_registers__counters(d,q,clock);
    // Module arguments
    input wire  [383:0] d;
    output reg  [383:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 384'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_registers__host(d,q,clock);
    // Module arguments
    input wire  [381:0] d;
    output reg  [381:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 382'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_rx_buffer__lengths(clock,clear,push,push_data,full,pop,pop_data,empty,room);
    // Module arguments
    input wire  clock;
    input wire  clear;
    input wire  push;
    input wire  [9:0] push_data;
    output reg  full;
    input wire  pop;
    output reg  [9:0] pop_data;
    output reg  empty;
    output reg  [15:0] room;
    // Constant declarations
    localparam  depth = 16'h40;
    // Stub signals
    reg  memory__clock;
    reg  [5:0] memory__read_address;
    wire  [9:0] memory__read_data;
    reg  [5:0] memory__write_address;
    reg  [9:0] memory__write_data;
    reg  memory__write_enable;
    reg  [47:0] state__d;
    wire  [47:0] state__q;
    reg  state__clock;
    // Local signals
    reg  pushed;
    reg  popped;
    reg  [15:0] head_next;
    reg  [15:0] tail_next;
    reg  [15:0] used_more;
    reg  [15:0] used_less;
    // Sub module instances
    optireduce_rx_buffer__lengths__memory memory(
        .clock(memory__clock),
        .read_address(memory__read_address),
        .read_data(memory__read_data),
        .write_address(memory__write_address),
        .write_data(memory__write_data),
        .write_enable(memory__write_enable)
    );
    optireduce_builder__orders__state state(
        .d(state__d),
        .q(state__q),
        .clock(state__clock)
    );
    // Update code
    always @(*) begin
        state__clock = clock;
        state__d = state__q;
        memory__clock = clock;
        full = state__q[(64'h20)+:(16)] == depth;
        empty = state__q[(64'h20)+:(16)] == 32'h0;
        room = depth - state__q[(64'h20)+:(16)];
        pushed = push && ~full;
        popped = pop && ~empty;
        memory__write_address = ((state__q[(64'h10)+:(16)]) & 6'h3f);
        memory__write_data = push_data;
        memory__write_enable = pushed;
        memory__read_address = ((state__q[(64'h0)+:(16)]) & 6'h3f);
        pop_data = memory__read_data;
        head_next = state__q[(64'h0)+:(16)] + 32'h1;
        tail_next = state__q[(64'h10)+:(16)] + 32'h1;
        used_more = state__q[(64'h20)+:(16)] + 32'h1;
        used_less = state__q[(64'h20)+:(16)] - 32'h1;
        if (pushed) begin
            state__d[(64'h10)+:(16)] = tail_next;
        end
        if (popped) begin
            state__d[(64'h0)+:(16)] = head_next;
        end
        if (pushed && ~popped) begin
            state__d[(64'h20)+:(16)] = used_more;
        end
        if (popped && ~pushed) begin
            state__d[(64'h20)+:(16)] = used_less;
        end
        if (clear) begin
            state__d[(64'h0)+:(16)] = ((32'h0) & 16'hffff);
            state__d[(64'h10)+:(16)] = ((32'h0) & 16'hffff);
            state__d[(64'h20)+:(16)] = ((32'h0) & 16'hffff);
        end
    end
endmodule

module optireduce_rx_buffer__ram(clock,read_address,read_data,write_address,write_data,write_enable);
    // Module arguments
    input wire  clock;
    input wire  [8:0] read_address;
    output reg  [512:0] read_data;
    input wire  [8:0] write_address;
    input wire  [512:0] write_data;
    input wire  write_enable;
    // Update code (custom)
    (* ram_style = "block" *) reg [512:0] mem [0:511];
    `ifndef SYNTHESIS
    integer i;
    initial for (i = 0; i <= 511; i = i + 1) mem[i] = 0;
    `endif
    initial read_data = 0;
    always @(posedge clock) begin
        read_data <= mem[read_address];
        if (write_enable) mem[write_address] <= write_data;
    end
endmodule

module optireduce_rx_buffer__st(d,q,clock);
    // Module arguments
    input wire  [50:0] d;
    output reg  [50:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 51'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_scale__outbox(clock,clear,push,push_data,full,pop,pop_data,empty,room);
    // Module arguments
    input wire  clock;
    input wire  clear;
    input wire  push;
    input wire  [556:0] push_data;
    output reg  full;
    input wire  pop;
    output reg  [556:0] pop_data;
    output reg  empty;
    output reg  [15:0] room;
    // Constant declarations
    localparam  depth = 16'h10;
    // Stub signals
    reg  memory__clock;
    reg  [3:0] memory__read_address;
    wire  [556:0] memory__read_data;
    reg  [3:0] memory__write_address;
    reg  [556:0] memory__write_data;
    reg  memory__write_enable;
    reg  [47:0] state__d;
    wire  [47:0] state__q;
    reg  state__clock;
    // Local signals
    reg  pushed;
    reg  popped;
    reg  [15:0] head_next;
    reg  [15:0] tail_next;
    reg  [15:0] used_more;
    reg  [15:0] used_less;
    // Sub module instances
    optireduce_scale__outbox__memory memory(
        .clock(memory__clock),
        .read_address(memory__read_address),
        .read_data(memory__read_data),
        .write_address(memory__write_address),
        .write_data(memory__write_data),
        .write_enable(memory__write_enable)
    );
    optireduce_builder__orders__state state(
        .d(state__d),
        .q(state__q),
        .clock(state__clock)
    );
    // Update code
    always @(*) begin
        state__clock = clock;
        state__d = state__q;
        memory__clock = clock;
        full = state__q[(64'h20)+:(16)] == depth;
        empty = state__q[(64'h20)+:(16)] == 32'h0;
        room = depth - state__q[(64'h20)+:(16)];
        pushed = push && ~full;
        popped = pop && ~empty;
        memory__write_address = ((state__q[(64'h10)+:(16)]) & 4'hf);
        memory__write_data = push_data;
        memory__write_enable = pushed;
        memory__read_address = ((state__q[(64'h0)+:(16)]) & 4'hf);
        pop_data = memory__read_data;
        head_next = state__q[(64'h0)+:(16)] + 32'h1;
        tail_next = state__q[(64'h10)+:(16)] + 32'h1;
        used_more = state__q[(64'h20)+:(16)] + 32'h1;
        used_less = state__q[(64'h20)+:(16)] - 32'h1;
        if (pushed) begin
            state__d[(64'h10)+:(16)] = tail_next;
        end
        if (popped) begin
            state__d[(64'h0)+:(16)] = head_next;
        end
        if (pushed && ~popped) begin
            state__d[(64'h20)+:(16)] = used_more;
        end
        if (popped && ~pushed) begin
            state__d[(64'h20)+:(16)] = used_less;
        end
        if (clear) begin
            state__d[(64'h0)+:(16)] = ((32'h0) & 16'hffff);
            state__d[(64'h10)+:(16)] = ((32'h0) & 16'hffff);
            state__d[(64'h20)+:(16)] = ((32'h0) & 16'hffff);
        end
    end
endmodule

module optireduce_scale__pause(d,q,clock);
    // Module arguments
    input wire  [4:0] d;
    output reg  [4:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 5'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_scale__state(d,q,clock);
    // Module arguments
    input wire  [1:0] d;
    output reg  [1:0] q;
    input wire  clock;
    // Enums
    localparam ScaleState__Idle = 0;
    localparam ScaleState__Drain = 1;
    localparam ScaleState__Read = 2;
    localparam ScaleState__Store = 3;
    // Update code (custom)
    initial q = 64'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_submit__epochs(clock,read_address,read_data,write_address,write_data,write_enable);
    // Module arguments
    input wire  clock;
    input wire  [2:0] read_address;
    output reg  [7:0] read_data;
    input wire  [2:0] write_address;
    input wire  [7:0] write_data;
    input wire  write_enable;
    // Update code (custom)
    (* ram_style = "distributed" *) reg [7:0] mem [0:7];
    `ifndef SYNTHESIS
    integer i;
    initial for (i = 0; i <= 7; i = i + 1) mem[i] = 0;
    `endif
    always @(*) read_data = mem[read_address];
    always @(posedge clock) if (write_enable) mem[write_address] <= write_data;
endmodule

module optireduce_submit__state(d,q,clock);
    // Module arguments
    input wire  [3:0] d;
    output reg  [3:0] q;
    input wire  clock;
    // Enums
    localparam SubmitState__Idle = 0;
    localparam SubmitState__Ask = 1;
    localparam SubmitState__Wait = 2;
    localparam SubmitState__Decode = 3;
    localparam SubmitState__Check = 4;
    localparam SubmitState__Senders = 5;
    localparam SubmitState__Scrub = 6;
    localparam SubmitState__Arm = 7;
    localparam SubmitState__Contribute = 8;
    localparam SubmitState__Broadcast = 9;
    localparam SubmitState__Refuse = 10;
    localparam SubmitState__Next = 11;
    // Update code (custom)
    initial q = 64'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_builder(clock,clear,job,peer_write,peer_word,peer_data,order_valid,order,order_ready,buffer_valid,buffer_address,buffer_data,gather_valid,gather_address,gather_word,sent_bank,sent_slot,mac_valid,mac,mac_ready,began,working);
    // Module arguments
    input wire  clock;
    input wire  clear;
    input wire  [199:0] job;
    input wire  peer_write;
    input wire  [7:0] peer_word;
    input wire  [31:0] peer_data;
    input wire  order_valid;
    input wire  [114:0] order;
    output reg  order_ready;
    output reg  buffer_valid;
    output reg  [16:0] buffer_address;
    input wire  [511:0] buffer_data;
    output reg  gather_valid;
    output reg  [16:0] gather_address;
    input wire  [519:0] gather_word;
    output reg  [1:0] sent_bank;
    output reg  [7:0] sent_slot;
    output reg  mac_valid;
    output reg  [512:0] mac;
    input wire  mac_ready;
    output reg  began;
    output reg  working;
    // Stub signals
    reg  orders__clock;
    reg  orders__clear;
    reg  orders__push;
    reg  [114:0] orders__push_data;
    wire  orders__full;
    reg  orders__pop;
    wire  [114:0] orders__pop_data;
    wire  orders__empty;
    wire  [15:0] orders__room;
    reg  outbox__clock;
    reg  outbox__clear;
    reg  outbox__push;
    reg  [512:0] outbox__push_data;
    wire  outbox__full;
    reg  outbox__pop;
    wire  [512:0] outbox__pop_data;
    wire  outbox__empty;
    wire  [15:0] outbox__room;
    reg  peer_ip__clock;
    reg  [5:0] peer_ip__read_address;
    wire  [31:0] peer_ip__read_data;
    reg  [5:0] peer_ip__write_address;
    reg  [31:0] peer_ip__write_data;
    reg  peer_ip__write_enable;
    reg  peer_mac_lo__clock;
    reg  [5:0] peer_mac_lo__read_address;
    wire  [31:0] peer_mac_lo__read_data;
    reg  [5:0] peer_mac_lo__write_address;
    reg  [31:0] peer_mac_lo__write_data;
    reg  peer_mac_lo__write_enable;
    reg  peer_mac_hi__clock;
    reg  [5:0] peer_mac_hi__read_address;
    wire  [31:0] peer_mac_hi__read_data;
    reg  [5:0] peer_mac_hi__write_address;
    reg  [31:0] peer_mac_hi__write_data;
    reg  peer_mac_hi__write_enable;
    reg  fetched__d;
    wire  fetched__q;
    reg  fetched__clock;
    reg  [114:0] fetched_order__d;
    wire  [114:0] fetched_order__q;
    reg  fetched_order__clock;
    reg  prepared__d;
    wire  prepared__q;
    reg  prepared__clock;
    reg  [114:0] prepared_order__d;
    wire  [114:0] prepared_order__q;
    reg  prepared_order__clock;
    reg  [511:0] header__d;
    wire  [511:0] header__q;
    reg  header__clock;
    reg  [19:0] sum__d;
    wire  [19:0] sum__q;
    reg  sum__clock;
    reg  [26:0] sending__d;
    wire  [26:0] sending__q;
    reg  sending__clock;
    reg  [3:0] asked__d;
    wire  [3:0] asked__q;
    reg  asked__clock;
    reg  [511:0] asked_header__d;
    wire  [511:0] asked_header__q;
    reg  asked_header__clock;
    // Local signals
    reg  [114:0] o;
    reg  [114:0] p;
    reg  [511:0] h;
    reg  [15:0] bytes;
    reg  [15:0] total;
    reg  [15:0] udp_length;
    reg  [15:0] total_swapped;
    reg  [31:0] ip;
    reg  [31:0] my_ip;
    reg  [19:0] words;
    reg  [16:0] fold;
    reg  [15:0] folded;
    reg  [15:0] checksum;
    reg  [31:0] offset;
    reg  [7:0] flags;
    reg  [15:0] timeout;
    reg  [15:0] step;
    reg  [15:0] bucket;
    reg  take_prepared;
    reg  move_up;
    reg  room;
    reg  payload_beat;
    reg  opening;
    reg  finish;
    reg  [13:0] position_next;
    reg  [7:0] remaining_next;
    reg  [7:0] one8;
    reg  [512:0] out;
    // Sub module instances
    optireduce_builder__orders orders(
        .clock(orders__clock),
        .clear(orders__clear),
        .push(orders__push),
        .push_data(orders__push_data),
        .full(orders__full),
        .pop(orders__pop),
        .pop_data(orders__pop_data),
        .empty(orders__empty),
        .room(orders__room)
    );
    optireduce_builder__outbox outbox(
        .clock(outbox__clock),
        .clear(outbox__clear),
        .push(outbox__push),
        .push_data(outbox__push_data),
        .full(outbox__full),
        .pop(outbox__pop),
        .pop_data(outbox__pop_data),
        .empty(outbox__empty),
        .room(outbox__room)
    );
    optireduce_builder__peer_ip peer_ip(
        .clock(peer_ip__clock),
        .read_address(peer_ip__read_address),
        .read_data(peer_ip__read_data),
        .write_address(peer_ip__write_address),
        .write_data(peer_ip__write_data),
        .write_enable(peer_ip__write_enable)
    );
    optireduce_builder__peer_ip peer_mac_lo(
        .clock(peer_mac_lo__clock),
        .read_address(peer_mac_lo__read_address),
        .read_data(peer_mac_lo__read_data),
        .write_address(peer_mac_lo__write_address),
        .write_data(peer_mac_lo__write_data),
        .write_enable(peer_mac_lo__write_enable)
    );
    optireduce_builder__peer_ip peer_mac_hi(
        .clock(peer_mac_hi__clock),
        .read_address(peer_mac_hi__read_address),
        .read_data(peer_mac_hi__read_data),
        .write_address(peer_mac_hi__write_address),
        .write_data(peer_mac_hi__write_data),
        .write_enable(peer_mac_hi__write_enable)
    );
    optireduce_finisher__side__0 fetched(
        .d(fetched__d),
        .q(fetched__q),
        .clock(fetched__clock)
    );
    optireduce_builder__fetched_order fetched_order(
        .d(fetched_order__d),
        .q(fetched_order__q),
        .clock(fetched_order__clock)
    );
    optireduce_finisher__side__0 prepared(
        .d(prepared__d),
        .q(prepared__q),
        .clock(prepared__clock)
    );
    optireduce_builder__fetched_order prepared_order(
        .d(prepared_order__d),
        .q(prepared_order__q),
        .clock(prepared_order__clock)
    );
    optireduce_builder__asked_header header(
        .d(header__d),
        .q(header__q),
        .clock(header__clock)
    );
    optireduce_builder__sum sum(
        .d(sum__d),
        .q(sum__q),
        .clock(sum__clock)
    );
    optireduce_builder__sending sending(
        .d(sending__d),
        .q(sending__q),
        .clock(sending__clock)
    );
    optireduce_builder__asked asked(
        .d(asked__d),
        .q(asked__q),
        .clock(asked__clock)
    );
    optireduce_builder__asked_header asked_header(
        .d(asked_header__d),
        .q(asked_header__q),
        .clock(asked_header__clock)
    );
    // Update code
    always @(*) begin
        fetched__clock = clock;
        fetched_order__clock = clock;
        prepared__clock = clock;
        prepared_order__clock = clock;
        header__clock = clock;
        sum__clock = clock;
        sending__clock = clock;
        asked__clock = clock;
        asked_header__clock = clock;
        fetched__d = fetched__q;
        fetched_order__d = fetched_order__q;
        prepared__d = prepared__q;
        prepared_order__d = prepared_order__q;
        header__d = header__q;
        sum__d = sum__q;
        sending__d = sending__q;
        asked__d = asked__q;
        asked_header__d = asked_header__q;
        orders__clock = clock;
        orders__clear = clear;
        orders__push = order_valid;
        orders__push_data = order;
        order_ready = ~orders__full;
        outbox__clock = clock;
        outbox__clear = clear;
        peer_ip__clock = clock;
        peer_mac_lo__clock = clock;
        peer_mac_hi__clock = clock;
        peer_ip__write_address = peer_word[(32'h2)+:(6)];
        peer_mac_lo__write_address = peer_word[(32'h2)+:(6)];
        peer_mac_hi__write_address = peer_word[(32'h2)+:(6)];
        peer_ip__write_data = peer_data;
        peer_mac_lo__write_data = peer_data;
        peer_mac_hi__write_data = peer_data;
        peer_ip__write_enable = peer_write && (peer_word[(32'h0)+:(2)] == 32'h0);
        peer_mac_lo__write_enable = peer_write && (peer_word[(32'h0)+:(2)] == 32'h1);
        peer_mac_hi__write_enable = peer_write && (peer_word[(32'h0)+:(2)] == 32'h2);
        peer_ip__read_address = fetched_order__q[(64'h5)+:(6)];
        peer_mac_lo__read_address = fetched_order__q[(64'h5)+:(6)];
        peer_mac_hi__read_address = fetched_order__q[(64'h5)+:(6)];
        p = prepared_order__q;
        room = outbox__room >= 32'h3;
        payload_beat = room && (sending__q[(64'h13)+:(8)] != 32'h0);
        finish = prepared__q && p[(64'h22)+:(1)] && (sending__q[(64'h13)+:(8)] == 32'h0);
        opening = room && prepared__q && ~p[(64'h22)+:(1)] && (sending__q[(64'h13)+:(8)] == 32'h0);
        take_prepared = opening || finish;
        move_up = fetched__q && (~prepared__q || take_prepared);
        orders__pop = 1'b0;
        if (move_up) begin
            fetched__d = 1'b0;
        end
        if (~orders__empty && (~fetched__q || move_up)) begin
            orders__pop = 1'b1;
            fetched_order__d = orders__pop_data;
            fetched__d = 1'b1;
        end
        o = fetched_order__q;
        bytes = ((o[(64'h19)+:(8)]) & 16'hffff) << 32'h6;
        total = bytes + 32'h32;
        udp_length = bytes + 32'h1e;
        total_swapped = (((total[(32'h0)+:(8)]) & 16'hffff) << 32'h8) | ((total[(32'h8)+:(8)]) & 16'hffff);
        ip = peer_ip__read_data;
        my_ip = job[(64'h65)+:(32)];
        words = ((32'h11c5) & 20'hfffff) + ((total_swapped) & 20'hfffff) + ((ip[(32'h0)+:(16)]) & 20'hfffff) + ((ip[(32'h10)+:(16)]) & 20'hfffff) + ((my_ip[(32'h0)+:(16)]) & 20'hfffff) + ((my_ip[(32'h10)+:(16)]) & 20'hfffff);
        offset = ((o[(64'h57)+:(26)]) & 32'hffffffff) << 32'h6;
        timeout = o[(64'h23)+:(16)];
        step = o[(64'h37)+:(16)];
        bucket = o[(64'h47)+:(16)];
        flags = ((o[(64'h33)+:(4)]) & 8'hff) << 32'h4;
        if (move_up) begin
            prepared__d = 1'b1;
            prepared_order__d = o;
            sum__d = words;
            header__d[(64'h0)+:(48)] = (((peer_mac_hi__read_data[(32'h0)+:(16)]) & 48'hffffffffffff) << 32'h20) | ((peer_mac_lo__read_data) & 48'hffffffffffff);
            header__d[(64'h30)+:(48)] = job[(64'h85)+:(48)];
            header__d[(64'h60)+:(16)] = ((32'h8) & 16'hffff);
            header__d[(64'h70)+:(8)] = ((32'h45) & 8'hff);
            header__d[(64'h80)+:(8)] = total[(32'h8)+:(8)];
            header__d[(64'h88)+:(8)] = total[(32'h0)+:(8)];
            header__d[(64'ha0)+:(16)] = ((32'h40) & 16'hffff);
            header__d[(64'hb0)+:(8)] = ((32'h40) & 8'hff);
            header__d[(64'hb8)+:(8)] = ((32'h11) & 8'hff);
            header__d[(64'hd0)+:(32)] = my_ip;
            header__d[(64'hf0)+:(32)] = ip;
            header__d[(64'h110)+:(16)] = job[(64'h55)+:(16)];
            header__d[(64'h120)+:(16)] = job[(64'h55)+:(16)];
            header__d[(64'h130)+:(8)] = udp_length[(32'h8)+:(8)];
            header__d[(64'h138)+:(8)] = udp_length[(32'h0)+:(8)];
            header__d[(64'h150)+:(8)] = bucket[(32'h8)+:(8)];
            header__d[(64'h158)+:(8)] = bucket[(32'h0)+:(8)];
            header__d[(64'h160)+:(8)] = offset[(32'h18)+:(8)];
            header__d[(64'h168)+:(8)] = offset[(32'h10)+:(8)];
            header__d[(64'h170)+:(8)] = offset[(32'h8)+:(8)];
            header__d[(64'h178)+:(8)] = offset[(32'h0)+:(8)];
            header__d[(64'h180)+:(8)] = timeout[(32'h8)+:(8)];
            header__d[(64'h188)+:(8)] = timeout[(32'h0)+:(8)];
            header__d[(64'h190)+:(8)] = flags;
            if (o[(64'h21)+:(1)] && o[(64'h71)+:(1)]) begin
                header__d[(64'h190)+:(8)] = flags | 32'h3;
            end
            else if (o[(64'h21)+:(1)]) begin
                header__d[(64'h190)+:(8)] = flags | 32'h1;
            end
            else if (o[(64'h71)+:(1)]) begin
                header__d[(64'h190)+:(8)] = flags | 32'h2;
            end
            header__d[(64'h198)+:(8)] = ((32'h10) & 8'hff);
            if (o[(64'h3)+:(1)]) begin
                header__d[(64'h198)+:(8)] = ((32'h12) & 8'hff);
            end
            header__d[(64'h1a8)+:(8)] = ((job[(64'h0)+:(6)]) & 8'hff);
            header__d[(64'h1b0)+:(8)] = step[(32'h8)+:(8)];
            header__d[(64'h1b8)+:(8)] = step[(32'h0)+:(8)];
            header__d[(64'h1c0)+:(64)] = job[(64'hd)+:(64)];
        end
        else if (take_prepared) begin
            prepared__d = 1'b0;
        end
        fold = ((sum__q[(32'h0)+:(16)]) & 17'h1ffff) + ((sum__q[(32'h10)+:(4)]) & 17'h1ffff);
        folded = fold[(32'h0)+:(16)] + ((fold[(32'h10)+:(1)]) & 16'hffff);
        checksum = folded ^ 32'hffff;
        h = header__q;
        h[(64'hc0)+:(16)] = checksum;
        began = opening;
        position_next = sending__q[(64'h5)+:(14)] + 32'h1;
        remaining_next = sending__q[(64'h13)+:(8)] - 32'h1;
        asked_header__d = h;
        asked__d[(64'h0)+:(1)] = opening || payload_beat;
        asked__d[(64'h1)+:(1)] = opening;
        asked__d[(64'h2)+:(1)] = sending__q[(64'h3)+:(1)];
        asked__d[(64'h3)+:(1)] = payload_beat && (sending__q[(64'h13)+:(8)] == 32'h1);
        buffer_valid = payload_beat && ~sending__q[(64'h3)+:(1)];
        gather_valid = payload_beat && sending__q[(64'h3)+:(1)];
        buffer_address[(64'h0)+:(3)] = ((32'h0) & 3'h7);
        buffer_address[(64'h3)+:(14)] = sending__q[(64'h5)+:(14)];
        if (sending__q[(64'h4)+:(1)]) begin
            buffer_address[(64'h0)+:(3)] = ((32'h1) & 3'h7);
        end
        gather_address[(64'h0)+:(3)] = sending__q[(64'h0)+:(3)];
        gather_address[(64'h3)+:(14)] = sending__q[(64'h5)+:(14)];
        if (payload_beat) begin
            sending__d[(64'h5)+:(14)] = position_next;
            sending__d[(64'h13)+:(8)] = remaining_next;
        end
        if (opening) begin
            sending__d[(64'h0)+:(3)] = p[(64'h0)+:(3)];
            sending__d[(64'h3)+:(1)] = p[(64'h3)+:(1)];
            sending__d[(64'h4)+:(1)] = p[(64'h4)+:(1)];
            sending__d[(64'h5)+:(14)] = p[(64'hb)+:(14)];
            sending__d[(64'h13)+:(8)] = p[(64'h19)+:(8)];
        end
        sent_bank = ((32'h0) & 2'h3);
        sent_slot = ((32'h0) & 8'hff);
        one8 = ((32'h1) & 8'hff);
        if (finish) begin
            if (p[(64'h3)+:(1)]) begin
                sent_slot = one8 << p[(64'h0)+:(3)];
            end
            else if (p[(64'h4)+:(1)]) begin
                sent_bank = ((32'h2) & 2'h3);
            end
            else begin
                sent_bank = ((32'h1) & 2'h3);
            end
        end
        out[(64'h0)+:(512)] = buffer_data;
        out[(64'h200)+:(1)] = asked__q[(64'h3)+:(1)];
        if (asked__q[(64'h1)+:(1)]) begin
            out[(64'h0)+:(512)] = ((asked_header__q) & 512'hffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff);
        end
        else if (asked__q[(64'h2)+:(1)]) begin
            out[(64'h0)+:(512)] = gather_word[(64'h0)+:(512)];
        end
        outbox__push = asked__q[(64'h0)+:(1)];
        outbox__push_data = out;
        mac_valid = ~outbox__empty;
        mac = outbox__pop_data;
        outbox__pop = mac_ready;
        working = ~orders__empty || fetched__q || prepared__q || (sending__q[(64'h13)+:(8)] != 32'h0) || asked__q[(64'h0)+:(1)] || ~outbox__empty;
        if (clear) begin
            fetched__d = 1'b0;
            prepared__d = 1'b0;
            sending__d[(64'h13)+:(8)] = ((32'h0) & 8'hff);
            asked__d[(64'h0)+:(1)] = 1'b0;
        end
    end
endmodule

module optireduce_contribute(clock,clear,job,arm,arm_slot,arm_context,order_valid,order,order_ready,ar_valid,ar_address,ar_beats,ar_ready,r_valid,r_data,r_ready,own_valid,own,own_ready,send_valid,send,send_ready,read_valid,read_address,read_data,sent,held,working);
    // Module arguments
    input wire  clock;
    input wire  clear;
    input wire  [199:0] job;
    input wire  [7:0] arm;
    input wire  [2:0] arm_slot;
    input wire  [404:0] arm_context;
    input wire  order_valid;
    input wire  [101:0] order;
    output reg  order_ready;
    output reg  ar_valid;
    output reg  [63:0] ar_address;
    output reg  [6:0] ar_beats;
    input wire  ar_ready;
    input wire  r_valid;
    input wire  [511:0] r_data;
    output reg  r_ready;
    output reg  own_valid;
    output reg  [556:0] own;
    input wire  own_ready;
    output reg  send_valid;
    output reg  [24:0] send;
    input wire  send_ready;
    input wire  read_valid;
    input wire  [16:0] read_address;
    output reg  [511:0] read_data;
    input wire  [1:0] sent;
    output reg  [7:0] held;
    output reg  working;
    // Enums
    localparam FillState__Idle = 0;
    localparam FillState__Start = 1;
    localparam FillState__Fill = 2;
    localparam FillState__Hand = 3;
    // Stub signals
    reg  orders__clock;
    reg  orders__clear;
    reg  orders__push;
    reg  [101:0] orders__push_data;
    wire  orders__full;
    reg  orders__pop;
    wire  [101:0] orders__pop_data;
    wire  orders__empty;
    wire  [15:0] orders__room;
    reg  contexts__clock;
    reg  [2:0] contexts__read_address;
    wire  [404:0] contexts__read_data;
    reg  [2:0] contexts__write_address;
    reg  [404:0] contexts__write_data;
    reg  contexts__write_enable;
    reg  encoder__clock;
    reg  encoder__clear;
    reg  encoder__start;
    reg  [3:0] encoder__log2n;
    reg  encoder__decode;
    reg  [63:0] encoder__key;
    reg  encoder__in_valid;
    wire  encoder__in_ready;
    reg  [511:0] encoder__in_data;
    reg  encoder__in_received;
    reg  encoder__go;
    wire  encoder__burst;
    wire  encoder__out_valid;
    wire  [511:0] encoder__out_data;
    wire  [10:0] encoder__out_received;
    wire  encoder__idle;
    reg  buffer__clock;
    reg  [16:0] buffer__read_address;
    wire  [511:0] buffer__read_data;
    reg  [16:0] buffer__write_address;
    reg  [511:0] buffer__write_data;
    reg  buffer__write_enable;
    reg  [1:0] state__d;
    wire  [1:0] state__q;
    reg  state__clock;
    reg  [101:0] order_now__d;
    wire  [101:0] order_now__q;
    reg  order_now__clock;
    reg  bank__d;
    wire  bank__q;
    reg  bank__clock;
    reg  [1:0] sending__d;
    wire  [1:0] sending__q;
    reg  sending__clock;
    reg  looping__d;
    wire  looping__q;
    reg  looping__clock;
    reg  loop_bank__d;
    wire  loop_bank__q;
    reg  loop_bank__clock;
    reg  [14:0] loop_index__d;
    wire  [14:0] loop_index__q;
    reg  loop_index__clock;
    reg  [2:0] loop_slot__d;
    wire  [2:0] loop_slot__q;
    reg  loop_slot__clock;
    reg  [404:0] loop_context__d;
    wire  [404:0] loop_context__q;
    reg  loop_context__clock;
    reg  loop_asked__d;
    wire  loop_asked__q;
    reg  loop_asked__clock;
    reg  [14:0] loop_position__d;
    wire  [14:0] loop_position__q;
    reg  loop_position__clock;
    reg  [14:0] loop_relative__d;
    wire  [14:0] loop_relative__q;
    reg  loop_relative__clock;
    reg  outbox__clock;
    reg  outbox__clear;
    reg  outbox__push;
    reg  [556:0] outbox__push_data;
    wire  outbox__full;
    reg  outbox__pop;
    wire  [556:0] outbox__pop_data;
    wire  outbox__empty;
    wire  [15:0] outbox__room;
    reg  [7:0] hold__d;
    wire  [7:0] hold__q;
    reg  hold__clock;
    reg  [1:0] used__d;
    wire  [1:0] used__q;
    reg  used__clock;
    reg  [2:0] slot_of_low__d;
    wire  [2:0] slot_of_low__q;
    reg  slot_of_low__clock;
    reg  [2:0] slot_of_high__d;
    wire  [2:0] slot_of_high__q;
    reg  slot_of_high__clock;
    reg  [14:0] to_ask__d;
    wire  [14:0] to_ask__q;
    reg  to_ask__clock;
    reg  [63:0] ask_address__d;
    wire  [63:0] ask_address__q;
    reg  ask_address__clock;
    reg  [14:0] to_come__d;
    wire  [14:0] to_come__q;
    reg  to_come__clock;
    reg  [14:0] to_feed__d;
    wire  [14:0] to_feed__q;
    reg  to_feed__clock;
    reg  [14:0] to_write__d;
    wire  [14:0] to_write__q;
    reg  to_write__clock;
    reg  [10:0] block_index__d;
    wire  [10:0] block_index__q;
    reg  block_index__clock;
    reg  [13:0] beat_index__d;
    wire  [13:0] beat_index__q;
    reg  beat_index__clock;
    // Local signals
    reg  [404:0] ctx;
    reg  bank_busy;
    reg  [6:0] until_page;
    reg  [5:0] page_beat;
    reg  [6:0] burst;
    reg  [12:0] burst_bytes;
    reg  [14:0] to_ask_next;
    reg  [63:0] ask_address_next;
    reg  feed;
    reg  [511:0] feed_data;
    reg  from_host;
    reg  take;
    reg  write;
    reg  [511:0] write_data;
    reg  [13:0] place;
    reg  [13:0] row;
    reg  [14:0] linear;
    reg  [13:0] one10;
    reg  [3:0] beats_log2;
    reg  [13:0] beats_of_block;
    reg  [13:0] last_beat;
    reg  [13:0] beat_next;
    reg  [10:0] block_next;
    reg  [14:0] to_come_next;
    reg  [14:0] to_feed_next;
    reg  [14:0] to_write_next;
    reg  [14:0] loop_next;
    reg  [14:0] loop_at;
    reg  loop_read;
    reg  [1:0] sending_now;
    reg  [1:0] freed;
    reg  [1:0] bank_bit;
    reg  [7:0] one8;
    reg  [7:0] order_bit;
    reg  [7:0] held_up;
    reg  [7:0] low_bit;
    reg  [7:0] high_bit;
    reg  low_out;
    reg  high_out;
    reg  [7:0] unhold;
    reg  [1:0] used_now;
    // Sub module instances
    optireduce_contribute__orders orders(
        .clock(orders__clock),
        .clear(orders__clear),
        .push(orders__push),
        .push_data(orders__push_data),
        .full(orders__full),
        .pop(orders__pop),
        .pop_data(orders__pop_data),
        .empty(orders__empty),
        .room(orders__room)
    );
    optireduce_contribute__contexts contexts(
        .clock(contexts__clock),
        .read_address(contexts__read_address),
        .read_data(contexts__read_data),
        .write_address(contexts__write_address),
        .write_data(contexts__write_data),
        .write_enable(contexts__write_enable)
    );
    optireduce_contribute__encoder encoder(
        .clock(encoder__clock),
        .clear(encoder__clear),
        .start(encoder__start),
        .log2n(encoder__log2n),
        .decode(encoder__decode),
        .key(encoder__key),
        .in_valid(encoder__in_valid),
        .in_ready(encoder__in_ready),
        .in_data(encoder__in_data),
        .in_received(encoder__in_received),
        .go(encoder__go),
        .burst(encoder__burst),
        .out_valid(encoder__out_valid),
        .out_data(encoder__out_data),
        .out_received(encoder__out_received),
        .idle(encoder__idle)
    );
    optireduce_contribute__buffer buffer(
        .clock(buffer__clock),
        .read_address(buffer__read_address),
        .read_data(buffer__read_data),
        .write_address(buffer__write_address),
        .write_data(buffer__write_data),
        .write_enable(buffer__write_enable)
    );
    optireduce_contribute__state state(
        .d(state__d),
        .q(state__q),
        .clock(state__clock)
    );
    optireduce_contribute__order_now order_now(
        .d(order_now__d),
        .q(order_now__q),
        .clock(order_now__clock)
    );
    optireduce_finisher__side__0 bank(
        .d(bank__d),
        .q(bank__q),
        .clock(bank__clock)
    );
    optireduce_contribute__sending sending(
        .d(sending__d),
        .q(sending__q),
        .clock(sending__clock)
    );
    optireduce_finisher__side__0 looping(
        .d(looping__d),
        .q(looping__q),
        .clock(looping__clock)
    );
    optireduce_finisher__side__0 loop_bank(
        .d(loop_bank__d),
        .q(loop_bank__q),
        .clock(loop_bank__clock)
    );
    optireduce_contribute__encoder__window loop_index(
        .d(loop_index__d),
        .q(loop_index__q),
        .clock(loop_index__clock)
    );
    optireduce_contribute__loop_slot loop_slot(
        .d(loop_slot__d),
        .q(loop_slot__q),
        .clock(loop_slot__clock)
    );
    optireduce_contribute__loop_context loop_context(
        .d(loop_context__d),
        .q(loop_context__q),
        .clock(loop_context__clock)
    );
    optireduce_finisher__side__0 loop_asked(
        .d(loop_asked__d),
        .q(loop_asked__q),
        .clock(loop_asked__clock)
    );
    optireduce_contribute__encoder__window loop_position(
        .d(loop_position__d),
        .q(loop_position__q),
        .clock(loop_position__clock)
    );
    optireduce_contribute__encoder__window loop_relative(
        .d(loop_relative__d),
        .q(loop_relative__q),
        .clock(loop_relative__clock)
    );
    optireduce_contribute__outbox outbox(
        .clock(outbox__clock),
        .clear(outbox__clear),
        .push(outbox__push),
        .push_data(outbox__push_data),
        .full(outbox__full),
        .pop(outbox__pop),
        .pop_data(outbox__pop_data),
        .empty(outbox__empty),
        .room(outbox__room)
    );
    optireduce_contribute__hold hold(
        .d(hold__d),
        .q(hold__q),
        .clock(hold__clock)
    );
    optireduce_contribute__sending used(
        .d(used__d),
        .q(used__q),
        .clock(used__clock)
    );
    optireduce_contribute__loop_slot slot_of_low(
        .d(slot_of_low__d),
        .q(slot_of_low__q),
        .clock(slot_of_low__clock)
    );
    optireduce_contribute__loop_slot slot_of_high(
        .d(slot_of_high__d),
        .q(slot_of_high__q),
        .clock(slot_of_high__clock)
    );
    optireduce_contribute__encoder__window to_ask(
        .d(to_ask__d),
        .q(to_ask__q),
        .clock(to_ask__clock)
    );
    optireduce_contribute__ask_address ask_address(
        .d(ask_address__d),
        .q(ask_address__q),
        .clock(ask_address__clock)
    );
    optireduce_contribute__encoder__window to_come(
        .d(to_come__d),
        .q(to_come__q),
        .clock(to_come__clock)
    );
    optireduce_contribute__encoder__window to_feed(
        .d(to_feed__d),
        .q(to_feed__q),
        .clock(to_feed__clock)
    );
    optireduce_contribute__encoder__window to_write(
        .d(to_write__d),
        .q(to_write__q),
        .clock(to_write__clock)
    );
    optireduce_contribute__block_index block_index(
        .d(block_index__d),
        .q(block_index__q),
        .clock(block_index__clock)
    );
    optireduce_contribute__beat_index beat_index(
        .d(beat_index__d),
        .q(beat_index__q),
        .clock(beat_index__clock)
    );
    // Update code
    always @(*) begin
        state__clock = clock;
        order_now__clock = clock;
        bank__clock = clock;
        sending__clock = clock;
        looping__clock = clock;
        loop_bank__clock = clock;
        loop_index__clock = clock;
        loop_slot__clock = clock;
        loop_context__clock = clock;
        loop_asked__clock = clock;
        loop_position__clock = clock;
        loop_relative__clock = clock;
        to_ask__clock = clock;
        ask_address__clock = clock;
        to_come__clock = clock;
        to_feed__clock = clock;
        to_write__clock = clock;
        block_index__clock = clock;
        beat_index__clock = clock;
        hold__clock = clock;
        used__clock = clock;
        slot_of_low__clock = clock;
        slot_of_high__clock = clock;
        state__d = state__q;
        order_now__d = order_now__q;
        bank__d = bank__q;
        sending__d = sending__q;
        looping__d = looping__q;
        loop_bank__d = loop_bank__q;
        loop_index__d = loop_index__q;
        loop_slot__d = loop_slot__q;
        loop_context__d = loop_context__q;
        loop_asked__d = loop_asked__q;
        loop_position__d = loop_position__q;
        loop_relative__d = loop_relative__q;
        to_ask__d = to_ask__q;
        ask_address__d = ask_address__q;
        to_come__d = to_come__q;
        to_feed__d = to_feed__q;
        to_write__d = to_write__q;
        block_index__d = block_index__q;
        beat_index__d = beat_index__q;
        hold__d = hold__q;
        used__d = used__q;
        slot_of_low__d = slot_of_low__q;
        slot_of_high__d = slot_of_high__q;
        contexts__clock = clock;
        contexts__write_enable = arm != 32'h0;
        contexts__write_address = arm_slot;
        contexts__write_data = arm_context;
        contexts__read_address = order_now__q[(64'h0)+:(3)];
        ctx = contexts__read_data;
        encoder__clock = clock;
        buffer__clock = clock;
        outbox__clock = clock;
        outbox__clear = clear;
        orders__clock = clock;
        orders__clear = clear;
        orders__push = order_valid;
        orders__push_data = order;
        orders__pop = 1'b0;
        order_ready = ~orders__full;
        bank_bit = ((32'h1) & 2'h3);
        if (bank__q) begin
            bank_bit = ((32'h2) & 2'h3);
        end
        freed = sent ^ 32'h3;
        sending_now = sending__q & freed;
        sending__d = sending_now;
        bank_busy = (sending_now & bank_bit) != 32'h0;
        one8 = ((32'h1) & 8'hff);
        low_bit = one8 << slot_of_low__q;
        high_bit = one8 << slot_of_high__q;
        low_out = used__q[32'h0] && ~sending__q[32'h0] && (~looping__q || loop_bank__q);
        high_out = used__q[32'h1] && ~sending__q[32'h1] && (~looping__q || ~loop_bank__q);
        used_now = used__q;
        unhold = ((32'h0) & 8'hff);
        if (low_out) begin
            used_now = used_now & 32'h2;
            unhold = low_bit;
        end
        if (high_out) begin
            used_now = used_now & 32'h1;
            unhold = unhold | high_bit;
        end
        used__d = used_now;
        order_bit = one8 << order[(64'h0)+:(3)];
        held_up = hold__q & (unhold ^ 32'hff);
        hold__d = held_up;
        if (order_valid && ~orders__full) begin
            hold__d = held_up | order_bit;
        end
        held = hold__q;
        encoder__clear = clear;
        encoder__start = 1'b0;
        encoder__log2n = ctx[(64'h8a)+:(4)];
        encoder__decode = 1'b0;
        encoder__key = ctx[(64'h155)+:(64)];
        encoder__in_received = 1'b1;
        encoder__go = 1'b1;
        send_valid = 1'b0;
        send[(64'h0)+:(3)] = order_now__q[(64'h0)+:(3)];
        send[(64'h3)+:(1)] = 1'b0;
        send[(64'h4)+:(1)] = bank__q;
        send[(64'h5)+:(16)] = order_now__q[(64'h52)+:(16)];
        send[(64'h15)+:(4)] = order_now__q[(64'h62)+:(4)];
        case (state__q)
            FillState__Idle:
                begin
                    if (~orders__empty && ~bank_busy) begin
                        orders__pop = 1'b1;
                        order_now__d = orders__pop_data;
                        state__d = FillState__Start;
                    end
                end
            FillState__Start:
                begin
                    if (encoder__idle) begin
                        encoder__start = ctx[(64'h86)+:(1)];
                        to_ask__d = order_now__q[(64'h43)+:(15)];
                        to_come__d = order_now__q[(64'h43)+:(15)];
                        ask_address__d = order_now__q[(64'h3)+:(64)];
                        to_feed__d = ctx[(64'h5a)+:(15)];
                        to_write__d = ctx[(64'h5a)+:(15)];
                        block_index__d = ((32'h0) & 11'h7ff);
                        beat_index__d = ((32'h0) & 14'h3fff);
                        state__d = FillState__Fill;
                    end
                end
            FillState__Fill:
                begin
                    if (to_write__q == 32'h0) begin
                        state__d = FillState__Hand;
                    end
                end
            FillState__Hand:
                begin
                    send_valid = ~looping__q;
                    if (send_ready && ~looping__q) begin
                        sending__d = sending_now | bank_bit;
                        looping__d = 1'b1;
                        loop_bank__d = bank__q;
                        loop_index__d = ((32'h0) & 15'h7fff);
                        loop_slot__d = order_now__q[(64'h0)+:(3)];
                        loop_context__d = ctx;
                        bank__d = ~bank__q;
                        used__d = used_now | bank_bit;
                        if (bank__q) begin
                            slot_of_high__d = order_now__q[(64'h0)+:(3)];
                        end
                        else begin
                            slot_of_low__d = order_now__q[(64'h0)+:(3)];
                        end
                        state__d = FillState__Idle;
                    end
                end
        endcase
        page_beat = ask_address__q[(32'h6)+:(6)];
        until_page = ((32'h40) & 7'h7f) - ((page_beat) & 7'h7f);
        burst = until_page;
        if (to_ask__q < ((until_page) & 15'h7fff)) begin
            burst = to_ask__q[(32'h0)+:(7)];
        end
        burst_bytes = ((burst) & 13'h1fff) << 32'h6;
        to_ask_next = to_ask__q - ((burst) & 15'h7fff);
        ask_address_next = ask_address__q + ((burst_bytes) & 64'hffffffffffffffff);
        ar_valid = (state__q == FillState__Fill) && (to_ask__q != 32'h0);
        ar_address = ask_address__q;
        ar_beats = burst;
        if (ar_valid && ar_ready) begin
            to_ask__d = to_ask_next;
            ask_address__d = ask_address_next;
        end
        from_host = to_come__q != 32'h0;
        feed = (state__q == FillState__Fill) && (to_feed__q != 32'h0);
        feed_data = r_data;
        if (from_host) begin
            if (~r_valid) begin
                feed = 1'b0;
            end
        end
        else begin
            feed_data = ((32'h0) & 512'hffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff);
        end
        encoder__in_valid = feed && ctx[(64'h86)+:(1)];
        encoder__in_data = feed_data;
        take = feed && (encoder__in_ready || ~ctx[(64'h86)+:(1)]);
        r_ready = take && from_host;
        to_come_next = to_come__q - 32'h1;
        to_feed_next = to_feed__q - 32'h1;
        if (take) begin
            to_feed__d = to_feed_next;
            if (from_host) begin
                to_come__d = to_come_next;
            end
        end
        beats_log2 = ctx[(64'h8a)+:(4)] - 32'h4;
        one10 = ((32'h1) & 14'h3fff);
        beats_of_block = one10 << beats_log2;
        last_beat = beats_of_block - 32'h1;
        beat_next = beat_index__q + 32'h1;
        block_next = block_index__q + 32'h1;
        row = beat_index__q << ctx[(64'h8e)+:(4)];
        linear = ctx[(64'h5a)+:(15)] - to_write__q;
        place = linear[(32'h0)+:(14)];
        write = take && ~ctx[(64'h86)+:(1)];
        write_data = feed_data;
        if (ctx[(64'h86)+:(1)]) begin
            place = row + ((block_index__q) & 14'h3fff);
            write = encoder__out_valid && (state__q == FillState__Fill);
            write_data = encoder__out_data;
        end
        to_write_next = to_write__q - 32'h1;
        if (write) begin
            to_write__d = to_write_next;
            beat_index__d = beat_next;
            if (beat_index__q == last_beat) begin
                beat_index__d = ((32'h0) & 14'h3fff);
                block_index__d = block_next;
            end
        end
        buffer__write_enable = write;
        buffer__write_address[(64'h0)+:(3)] = ((32'h0) & 3'h7);
        buffer__write_address[(64'h3)+:(14)] = place;
        if (bank__q) begin
            buffer__write_address[(64'h0)+:(3)] = ((32'h1) & 3'h7);
        end
        buffer__write_data = write_data;
        loop_at = loop_context__q[(64'haf)+:(15)] + loop_index__q;
        loop_next = loop_index__q + 32'h1;
        loop_read = looping__q && ~read_valid && (outbox__room >= 32'h2) && (loop_index__q != loop_context__q[(64'hbe)+:(15)]);
        buffer__read_address[(64'h0)+:(3)] = ((32'h0) & 3'h7);
        buffer__read_address[(64'h3)+:(14)] = loop_at[(32'h0)+:(14)];
        if (loop_bank__q) begin
            buffer__read_address[(64'h0)+:(3)] = ((32'h1) & 3'h7);
        end
        if (read_valid) begin
            buffer__read_address = read_address;
        end
        loop_asked__d = loop_read;
        loop_position__d = loop_at;
        loop_relative__d = loop_index__q;
        if (loop_read) begin
            loop_index__d = loop_next;
        end
        if (looping__q && (loop_index__q == loop_context__q[(64'hbe)+:(15)]) && ~loop_asked__q && outbox__empty) begin
            looping__d = 1'b0;
        end
        outbox__push = loop_asked__q;
        outbox__push_data[(64'h0)+:(3)] = loop_slot__q;
        outbox__push_data[(64'h3)+:(14)] = loop_position__q[(32'h0)+:(14)];
        outbox__push_data[(64'h11)+:(14)] = loop_relative__q[(32'h0)+:(14)];
        outbox__push_data[(64'h1f)+:(6)] = job[(64'h0)+:(6)];
        outbox__push_data[(64'h25)+:(8)] = loop_context__q[(64'hcd)+:(8)];
        outbox__push_data[(64'h2d)+:(512)] = buffer__read_data;
        own_valid = ~outbox__empty;
        own = outbox__pop_data;
        outbox__pop = own_ready;
        read_data = buffer__read_data;
        working = (state__q != FillState__Idle) || ~orders__empty || (used__q != 32'h0);
        if (clear) begin
            state__d = FillState__Idle;
            sending__d = ((32'h0) & 2'h3);
            looping__d = 1'b0;
            loop_asked__d = 1'b0;
            hold__d = ((32'h0) & 8'hff);
            used__d = ((32'h0) & 2'h3);
        end
    end
endmodule

module optireduce_dma_read(clock,clear,submit_valid,submit_address,submit_ready,submit_beat,contribute_valid,contribute_address,contribute_beats,contribute_ready,contribute_beat,contribute_take,ar_valid,ar_address,ar_beats,ar_ready,r_valid,r_last,r_ready);
    // Module arguments
    input wire  clock;
    input wire  clear;
    input wire  submit_valid;
    input wire  [63:0] submit_address;
    output reg  submit_ready;
    output reg  submit_beat;
    input wire  contribute_valid;
    input wire  [63:0] contribute_address;
    input wire  [6:0] contribute_beats;
    output reg  contribute_ready;
    output reg  contribute_beat;
    input wire  contribute_take;
    output reg  ar_valid;
    output reg  [63:0] ar_address;
    output reg  [6:0] ar_beats;
    input wire  ar_ready;
    input wire  r_valid;
    input wire  r_last;
    output reg  r_ready;
    // Stub signals
    reg  owners__clock;
    reg  owners__clear;
    reg  owners__push;
    reg  owners__push_data;
    wire  owners__full;
    reg  owners__pop;
    wire  owners__pop_data;
    wire  owners__empty;
    wire  [15:0] owners__room;
    reg  kept__d;
    wire  kept__q;
    reg  kept__clock;
    // Local signals
    reg  may_ask;
    reg  of_submit;
    reg  of_contribute;
    // Sub module instances
    optireduce_dma_read__owners owners(
        .clock(owners__clock),
        .clear(owners__clear),
        .push(owners__push),
        .push_data(owners__push_data),
        .full(owners__full),
        .pop(owners__pop),
        .pop_data(owners__pop_data),
        .empty(owners__empty),
        .room(owners__room)
    );
    optireduce_finisher__side__0 kept(
        .d(kept__d),
        .q(kept__q),
        .clock(kept__clock)
    );
    // Update code
    always @(*) begin
        kept__clock = clock;
        kept__d = kept__q;
        owners__clock = clock;
        owners__clear = clear;
        may_ask = ~owners__full;
        of_submit = submit_valid && ~kept__q;
        ar_valid = may_ask && (submit_valid || contribute_valid);
        ar_address = contribute_address;
        ar_beats = contribute_beats;
        owners__push_data = 1'b1;
        submit_ready = 1'b0;
        contribute_ready = may_ask && ar_ready;
        if (of_submit) begin
            ar_address = submit_address;
            ar_beats = ((32'h1) & 7'h7f);
            owners__push_data = 1'b0;
            submit_ready = may_ask && ar_ready;
            contribute_ready = 1'b0;
        end
        owners__push = ar_valid && ar_ready;
        kept__d = ar_valid && ~of_submit && ~ar_ready && ~clear;
        of_contribute = owners__pop_data;
        submit_beat = r_valid && ~of_contribute;
        contribute_beat = r_valid && of_contribute;
        r_ready = ~of_contribute || contribute_take;
        owners__pop = r_valid && r_last && r_ready;
    end
endmodule

module optireduce_finisher(clock,clear,job,arm,arm_slot,arm_context,refuse_ready,refuse,refusal,scaled,broadcast_closed,sending,finishing,slot,broadcast,gate,count_address,count_epoch,contribute_count,broadcast_count,read_valid,read_address,read_ready,word,cq_base,cq_mask,cq_head,sq_head,cq_tail,aw_valid,aw_address,aw_beats,aw_ready,w_valid,w_data,w_last,w_ready,b_valid,dma_error,freed,msix_request,working);
    // Module arguments
    input wire  clock;
    input wire  clear;
    input wire  [199:0] job;
    input wire  [7:0] arm;
    input wire  [2:0] arm_slot;
    input wire  [404:0] arm_context;
    output reg  refuse_ready;
    input wire  refuse;
    input wire  [49:0] refusal;
    input wire  [7:0] scaled;
    input wire  [7:0] broadcast_closed;
    input wire  [7:0] sending;
    output reg  [7:0] finishing;
    output reg  [2:0] slot;
    output reg  broadcast;
    input wire  [205:0] gate;
    output reg  [8:0] count_address;
    output reg  [7:0] count_epoch;
    input wire  [15:0] contribute_count;
    input wire  [15:0] broadcast_count;
    output reg  read_valid;
    output reg  [16:0] read_address;
    input wire  read_ready;
    input wire  [519:0] word;
    input wire  [63:0] cq_base;
    input wire  [15:0] cq_mask;
    input wire  [15:0] cq_head;
    input wire  [15:0] sq_head;
    output reg  [15:0] cq_tail;
    output reg  aw_valid;
    output reg  [63:0] aw_address;
    output reg  [6:0] aw_beats;
    input wire  aw_ready;
    output reg  w_valid;
    output reg  [511:0] w_data;
    output reg  w_last;
    input wire  w_ready;
    input wire  b_valid;
    input wire  dma_error;
    output reg  [7:0] freed;
    output reg  msix_request;
    output reg  working;
    // Enums
    localparam FinishState__Idle = 0;
    localparam FinishState__Begin = 1;
    localparam FinishState__Drain = 2;
    localparam FinishState__Count = 3;
    localparam FinishState__ReportAsk = 4;
    localparam FinishState__ReportLow = 5;
    localparam FinishState__ReportHigh = 6;
    localparam FinishState__Settle = 7;
    localparam FinishState__DoneAsk = 8;
    localparam FinishState__DoneWrite = 9;
    localparam FinishState__DoneSettle = 10;
    // Stub signals
    reg  refusals__clock;
    reg  refusals__clear;
    reg  refusals__push;
    reg  [49:0] refusals__push_data;
    wire  refusals__full;
    reg  refusals__pop;
    wire  [49:0] refusals__pop_data;
    wire  refusals__empty;
    wire  [15:0] refusals__room;
    reg  contexts__clock;
    reg  [2:0] contexts__read_address;
    wire  [404:0] contexts__read_data;
    reg  [2:0] contexts__write_address;
    reg  [404:0] contexts__write_data;
    reg  contexts__write_enable;
    reg  decoder__clock;
    reg  decoder__clear;
    reg  decoder__start;
    reg  [3:0] decoder__log2n;
    reg  decoder__decode;
    reg  [63:0] decoder__key;
    reg  decoder__in_valid;
    wire  decoder__in_ready;
    reg  [511:0] decoder__in_data;
    reg  decoder__in_received;
    reg  decoder__go;
    wire  decoder__burst;
    wire  decoder__out_valid;
    wire  [511:0] decoder__out_data;
    wire  [10:0] decoder__out_received;
    wire  decoder__idle;
    reg  reciprocal__clock;
    reg  [10:0] reciprocal__count;
    wire  [31:0] reciprocal__factor;
    reg  multiplier__clock;
    reg  [511:0] multiplier__a;
    reg  [31:0] multiplier__factor;
    wire  [511:0] multiplier__product;
    reg  inbox__clock;
    reg  inbox__clear;
    reg  inbox__push;
    reg  [512:0] inbox__push_data;
    wire  inbox__full;
    reg  inbox__pop;
    wire  [512:0] inbox__pop_data;
    wire  inbox__empty;
    wire  [15:0] inbox__room;
    reg  outbox__clock;
    reg  outbox__clear;
    reg  outbox__push;
    reg  [511:0] outbox__push_data;
    wire  outbox__full;
    reg  outbox__pop;
    wire  [511:0] outbox__pop_data;
    wire  outbox__empty;
    wire  [15:0] outbox__room;
    reg  [511:0] shift__data;
    reg  [15:0] shift__word;
    wire  [511:0] shift__shifted;
    reg  [3:0] state__d;
    wire  [3:0] state__q;
    reg  state__clock;
    reg  [2:0] at__d;
    wire  [2:0] at__q;
    reg  at__clock;
    reg  of_broadcast__d;
    wire  of_broadcast__q;
    reg  of_broadcast__clock;
    reg  refused__d;
    wire  refused__q;
    reg  refused__clock;
    reg  [49:0] refusal_now__d;
    wire  [49:0] refusal_now__q;
    reg  refusal_now__clock;
    reg  [7:0] reported__d;
    wire  [7:0] reported__q;
    reg  reported__clock;
    reg  [14:0] to_read__d;
    wire  [14:0] to_read__q;
    reg  to_read__clock;
    reg  [10:0] block_index__d;
    wire  [10:0] block_index__q;
    reg  block_index__clock;
    reg  [13:0] beat_index__d;
    wire  [13:0] beat_index__q;
    reg  beat_index__clock;
    reg  asked__d;
    wire  asked__q;
    reg  asked__clock;
    reg  stage_valid__d;
    wire  stage_valid__q;
    reg  stage_valid__clock;
    reg  [511:0] stage_data__d;
    wire  [511:0] stage_data__q;
    reg  stage_data__clock;
    reg  stage_unit__d;
    wire  stage_unit__q;
    reg  stage_unit__clock;
    reg  side__0__d;
    wire  side__0__q;
    reg  side__0__clock;
    reg  side__1__d;
    wire  side__1__q;
    reg  side__1__clock;
    reg  side__2__d;
    wire  side__2__q;
    reg  side__2__clock;
    reg  side__3__d;
    wire  side__3__q;
    reg  side__3__clock;
    reg  side__4__d;
    wire  side__4__q;
    reg  side__4__clock;
    reg  side__5__d;
    wire  side__5__q;
    reg  side__5__clock;
    reg  [15:0] reserved__d;
    wire  [15:0] reserved__q;
    reg  reserved__clock;
    reg  [14:0] to_ask__d;
    wire  [14:0] to_ask__q;
    reg  to_ask__clock;
    reg  [63:0] ask_address__d;
    wire  [63:0] ask_address__q;
    reg  ask_address__clock;
    reg  [6:0] burst_left__d;
    wire  [6:0] burst_left__q;
    reg  burst_left__clock;
    reg  [14:0] to_drop__d;
    wire  [14:0] to_drop__q;
    reg  to_drop__clock;
    reg  [7:0] unacknowledged__d;
    wire  [7:0] unacknowledged__q;
    reg  unacknowledged__clock;
    reg  [6:0] rank__d;
    wire  [6:0] rank__q;
    reg  rank__clock;
    reg  [511:0] low__d;
    wire  [511:0] low__q;
    reg  low__clock;
    reg  [511:0] high__d;
    wire  [511:0] high__q;
    reg  high__clock;
    reg  [15:0] tail__d;
    wire  [15:0] tail__q;
    reg  tail__clock;
    reg  [15:0] turn__d;
    wire  [15:0] turn__q;
    reg  turn__clock;
    // Local signals
    reg  [404:0] ctx;
    reg  [7:0] one;
    reg  [7:0] slot_bit;
    reg  [7:0] not_reported;
    reg  [7:0] not_sending;
    reg  [7:0] keep;
    reg  [7:0] contribute_due;
    reg  [7:0] broadcast_due;
    reg  [2:0] at_next;
    reg  [3:0] beats_log2;
    reg  [13:0] one10;
    reg  [13:0] beats_of_block;
    reg  [15:0] block_beats;
    reg  [13:0] last_beat;
    reg  [13:0] beat_next;
    reg  [10:0] block_next;
    reg  [13:0] row;
    reg  [14:0] linear;
    reg  [13:0] place;
    reg  ask;
    reg  [14:0] to_read_next;
    reg  [512:0] gathered;
    reg  present;
    reg  bypass;
    reg  [31:0] exponent;
    reg  [31:0] ratio;
    reg  [15:0] spare;
    reg  [15:0] reserved_up;
    reg  [15:0] reserved_next;
    reg  [5:0] page_beat;
    reg  [6:0] until_page;
    reg  [6:0] burst;
    reg  [12:0] burst_bytes;
    reg  [14:0] to_ask_next;
    reg  [63:0] ask_address_next;
    reg  [6:0] burst_left_next;
    reg  [14:0] to_drop_next;
    reg  [14:0] all_padding;
    reg  drained;
    reg  [7:0] ack_up;
    reg  [7:0] ack_next;
    reg  asked_now;
    reg  [6:0] rank_next;
    reg  [63:0] report_address;
    reg  [15:0] index;
    reg  [63:0] entry_offset;
    reg  [63:0] entry_address;
    reg  [15:0] used;
    reg  [15:0] tail_next;
    reg  [15:0] phase_bits;
    reg  [6:0] peers;
    reg  [21:0] expected;
    reg  [14:0] expected_broadcast;
    reg  [47:0] elapsed;
    reg  [511:0] done;
    // Sub module instances
    optireduce_finisher__refusals refusals(
        .clock(refusals__clock),
        .clear(refusals__clear),
        .push(refusals__push),
        .push_data(refusals__push_data),
        .full(refusals__full),
        .pop(refusals__pop),
        .pop_data(refusals__pop_data),
        .empty(refusals__empty),
        .room(refusals__room)
    );
    optireduce_contribute__contexts contexts(
        .clock(contexts__clock),
        .read_address(contexts__read_address),
        .read_data(contexts__read_data),
        .write_address(contexts__write_address),
        .write_data(contexts__write_data),
        .write_enable(contexts__write_enable)
    );
    optireduce_contribute__encoder decoder(
        .clock(decoder__clock),
        .clear(decoder__clear),
        .start(decoder__start),
        .log2n(decoder__log2n),
        .decode(decoder__decode),
        .key(decoder__key),
        .in_valid(decoder__in_valid),
        .in_ready(decoder__in_ready),
        .in_data(decoder__in_data),
        .in_received(decoder__in_received),
        .go(decoder__go),
        .burst(decoder__burst),
        .out_valid(decoder__out_valid),
        .out_data(decoder__out_data),
        .out_received(decoder__out_received),
        .idle(decoder__idle)
    );
    optireduce_finisher__reciprocal reciprocal(
        .clock(reciprocal__clock),
        .count(reciprocal__count),
        .factor(reciprocal__factor)
    );
    optireduce_finisher__multiplier multiplier(
        .clock(multiplier__clock),
        .a(multiplier__a),
        .factor(multiplier__factor),
        .product(multiplier__product)
    );
    optireduce_finisher__inbox inbox(
        .clock(inbox__clock),
        .clear(inbox__clear),
        .push(inbox__push),
        .push_data(inbox__push_data),
        .full(inbox__full),
        .pop(inbox__pop),
        .pop_data(inbox__pop_data),
        .empty(inbox__empty),
        .room(inbox__room)
    );
    optireduce_finisher__outbox outbox(
        .clock(outbox__clock),
        .clear(outbox__clear),
        .push(outbox__push),
        .push_data(outbox__push_data),
        .full(outbox__full),
        .pop(outbox__pop),
        .pop_data(outbox__pop_data),
        .empty(outbox__empty),
        .room(outbox__room)
    );
    optireduce_finisher__shift shift(
        .data(shift__data),
        .word(shift__word),
        .shifted(shift__shifted)
    );
    optireduce_finisher__state state(
        .d(state__d),
        .q(state__q),
        .clock(state__clock)
    );
    optireduce_contribute__loop_slot at(
        .d(at__d),
        .q(at__q),
        .clock(at__clock)
    );
    optireduce_finisher__side__0 of_broadcast(
        .d(of_broadcast__d),
        .q(of_broadcast__q),
        .clock(of_broadcast__clock)
    );
    optireduce_finisher__side__0 refused(
        .d(refused__d),
        .q(refused__q),
        .clock(refused__clock)
    );
    optireduce_finisher__refusal_now refusal_now(
        .d(refusal_now__d),
        .q(refusal_now__q),
        .clock(refusal_now__clock)
    );
    optireduce_contribute__hold reported(
        .d(reported__d),
        .q(reported__q),
        .clock(reported__clock)
    );
    optireduce_contribute__encoder__window to_read(
        .d(to_read__d),
        .q(to_read__q),
        .clock(to_read__clock)
    );
    optireduce_contribute__block_index block_index(
        .d(block_index__d),
        .q(block_index__q),
        .clock(block_index__clock)
    );
    optireduce_contribute__beat_index beat_index(
        .d(beat_index__d),
        .q(beat_index__q),
        .clock(beat_index__clock)
    );
    optireduce_finisher__side__0 asked(
        .d(asked__d),
        .q(asked__q),
        .clock(asked__clock)
    );
    optireduce_finisher__side__0 stage_valid(
        .d(stage_valid__d),
        .q(stage_valid__q),
        .clock(stage_valid__clock)
    );
    optireduce_builder__asked_header stage_data(
        .d(stage_data__d),
        .q(stage_data__q),
        .clock(stage_data__clock)
    );
    optireduce_finisher__side__0 stage_unit(
        .d(stage_unit__d),
        .q(stage_unit__q),
        .clock(stage_unit__clock)
    );
    optireduce_finisher__side__0 side__0(
        .d(side__0__d),
        .q(side__0__q),
        .clock(side__0__clock)
    );
    optireduce_finisher__side__0 side__1(
        .d(side__1__d),
        .q(side__1__q),
        .clock(side__1__clock)
    );
    optireduce_finisher__side__0 side__2(
        .d(side__2__d),
        .q(side__2__q),
        .clock(side__2__clock)
    );
    optireduce_finisher__side__0 side__3(
        .d(side__3__d),
        .q(side__3__q),
        .clock(side__3__clock)
    );
    optireduce_finisher__side__0 side__4(
        .d(side__4__d),
        .q(side__4__q),
        .clock(side__4__clock)
    );
    optireduce_finisher__side__0 side__5(
        .d(side__5__d),
        .q(side__5__q),
        .clock(side__5__clock)
    );
    optireduce_finisher__reserved reserved(
        .d(reserved__d),
        .q(reserved__q),
        .clock(reserved__clock)
    );
    optireduce_contribute__encoder__window to_ask(
        .d(to_ask__d),
        .q(to_ask__q),
        .clock(to_ask__clock)
    );
    optireduce_contribute__ask_address ask_address(
        .d(ask_address__d),
        .q(ask_address__q),
        .clock(ask_address__clock)
    );
    optireduce_finisher__burst_left burst_left(
        .d(burst_left__d),
        .q(burst_left__q),
        .clock(burst_left__clock)
    );
    optireduce_contribute__encoder__window to_drop(
        .d(to_drop__d),
        .q(to_drop__q),
        .clock(to_drop__clock)
    );
    optireduce_contribute__hold unacknowledged(
        .d(unacknowledged__d),
        .q(unacknowledged__q),
        .clock(unacknowledged__clock)
    );
    optireduce_finisher__burst_left rank(
        .d(rank__d),
        .q(rank__q),
        .clock(rank__clock)
    );
    optireduce_builder__asked_header low(
        .d(low__d),
        .q(low__q),
        .clock(low__clock)
    );
    optireduce_builder__asked_header high(
        .d(high__d),
        .q(high__q),
        .clock(high__clock)
    );
    optireduce_finisher__reserved tail(
        .d(tail__d),
        .q(tail__q),
        .clock(tail__clock)
    );
    optireduce_finisher__reserved turn(
        .d(turn__d),
        .q(turn__q),
        .clock(turn__clock)
    );
    // Update code
    always @(*) begin
        state__clock = clock;
        at__clock = clock;
        of_broadcast__clock = clock;
        refused__clock = clock;
        refusal_now__clock = clock;
        reported__clock = clock;
        to_read__clock = clock;
        block_index__clock = clock;
        beat_index__clock = clock;
        asked__clock = clock;
        stage_valid__clock = clock;
        stage_data__clock = clock;
        stage_unit__clock = clock;
        reserved__clock = clock;
        to_ask__clock = clock;
        ask_address__clock = clock;
        burst_left__clock = clock;
        to_drop__clock = clock;
        unacknowledged__clock = clock;
        rank__clock = clock;
        low__clock = clock;
        high__clock = clock;
        tail__clock = clock;
        turn__clock = clock;
        state__d = state__q;
        at__d = at__q;
        of_broadcast__d = of_broadcast__q;
        refused__d = refused__q;
        refusal_now__d = refusal_now__q;
        reported__d = reported__q;
        to_read__d = to_read__q;
        block_index__d = block_index__q;
        beat_index__d = beat_index__q;
        asked__d = asked__q;
        stage_valid__d = stage_valid__q;
        stage_data__d = stage_data__q;
        stage_unit__d = stage_unit__q;
        reserved__d = reserved__q;
        to_ask__d = to_ask__q;
        ask_address__d = ask_address__q;
        burst_left__d = burst_left__q;
        to_drop__d = to_drop__q;
        unacknowledged__d = unacknowledged__q;
        rank__d = rank__q;
        low__d = low__q;
        high__d = high__q;
        tail__d = tail__q;
        turn__d = turn__q;
        refusals__clock = clock;
        refusals__clear = clear;
        refusals__push = refuse;
        refusals__push_data = refusal;
        refusals__pop = 1'b0;
        contexts__clock = clock;
        contexts__write_enable = arm != 32'h0;
        contexts__write_address = arm_slot;
        contexts__write_data = arm_context;
        contexts__read_address = at__q;
        ctx = contexts__read_data;
        decoder__clock = clock;
        reciprocal__clock = clock;
        multiplier__clock = clock;
        inbox__clock = clock;
        inbox__clear = clear || (state__q == FinishState__Idle);
        outbox__clock = clock;
        outbox__clear = clear || (state__q == FinishState__Idle);
        one = ((32'h1) & 8'hff);
        slot_bit = one << at__q;
        not_reported = reported__q ^ 32'hff;
        not_sending = sending ^ 32'hff;
        contribute_due = scaled & not_reported & slot_bit;
        broadcast_due = broadcast_closed & scaled & reported__q & not_sending & slot_bit;
        at_next = at__q + 32'h1;
        slot = at__q;
        refuse_ready = ~refusals__full;
        finishing = ((32'h0) & 8'hff);
        if ((state__q != FinishState__Idle) && of_broadcast__q) begin
            finishing = slot_bit;
        end
        broadcast = of_broadcast__q;
        freed = ((32'h0) & 8'hff);
        msix_request = 1'b0;
        keep = arm ^ 32'hff;
        reported__d = reported__q & keep;
        drained = (to_ask__q == 32'h0) && (burst_left__q == 32'h0) && (to_drop__q == 32'h0);
        all_padding = ctx[(64'h5a)+:(15)] - ctx[(64'h92)+:(15)];
        rank_next = rank__q + 32'h1;
        index = tail__q & cq_mask;
        entry_offset = ((index) & 64'hffffffffffffffff) << 32'h6;
        entry_address = cq_base + entry_offset;
        used = tail__q - cq_head;
        tail_next = tail__q + 32'h1;
        report_address = ctx[(64'h115)+:(64)];
        if (of_broadcast__q) begin
            report_address = ctx[(64'h115)+:(64)] + 32'h80;
        end
        peers = job[(64'h6)+:(7)] - 32'h1;
        expected = ctx[(64'hbe)+:(15)] * peers;
        expected_broadcast = ctx[(64'h5a)+:(15)] - ctx[(64'hbe)+:(15)];
        elapsed = gate[(64'h9e)+:(48)] - gate[(64'h6e)+:(48)];
        phase_bits = turn__q ^ 32'h1;
        done = ((((32'h0) & 512'hffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff)) & 512'hffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff);
        done[(64'h0)+:(8)] = ((32'h1) & 8'hff);
        done[(64'h8)+:(8)] = ((at__q) & 8'hff);
        done[(64'h10)+:(8)] = ((gate[(64'h0)+:(2)]) & 8'hff);
        done[(64'h20)+:(32)] = ctx[(64'h0)+:(32)];
        done[(64'h40)+:(32)] = ((gate[(64'h2)+:(22)]) & 32'hffffffff);
        done[(64'h60)+:(32)] = ((expected) & 32'hffffffff);
        done[(64'h80)+:(64)] = ((elapsed) & 64'hffffffffffffffff);
        done[(64'hc0)+:(64)] = gate[(64'h2e)+:(64)];
        done[(64'h100)+:(64)] = ((gate[(64'h9e)+:(48)]) & 64'hffffffffffffffff);
        done[(64'h150)+:(16)] = ((gate[(64'h18)+:(22)]) & 16'hffff);
        if (of_broadcast__q) begin
            done[(64'h0)+:(8)] = ((32'h2) & 8'hff);
            done[(64'h60)+:(32)] = ((expected_broadcast) & 32'hffffffff);
        end
        if (refused__q) begin
            done = ((((32'h0) & 512'hffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff)) & 512'hffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff);
            done[(64'h0)+:(8)] = ((32'h3) & 8'hff);
            done[(64'h8)+:(8)] = refusal_now__q[(64'h2)+:(8)];
            done[(64'h18)+:(8)] = refusal_now__q[(64'h2a)+:(8)];
            done[(64'h20)+:(32)] = refusal_now__q[(64'ha)+:(32)];
        end
        else if (dma_error) begin
            done[(64'h18)+:(8)] = ((32'h1) & 8'hff);
        end
        done[(64'h140)+:(16)] = sq_head;
        done[(64'h1f8)+:(8)] = ((phase_bits) & 8'hff);
        decoder__clear = clear;
        decoder__start = 1'b0;
        aw_valid = 1'b0;
        aw_address = ask_address__q;
        w_valid = 1'b0;
        w_data = outbox__pop_data;
        w_last = 1'b1;
        outbox__pop = 1'b0;
        page_beat = ask_address__q[(32'h6)+:(6)];
        until_page = ((32'h40) & 7'h7f) - ((page_beat) & 7'h7f);
        burst = until_page;
        if (to_ask__q < ((until_page) & 15'h7fff)) begin
            burst = to_ask__q[(32'h0)+:(7)];
        end
        aw_beats = burst;
        burst_bytes = ((burst) & 13'h1fff) << 32'h6;
        to_ask_next = to_ask__q - ((burst) & 15'h7fff);
        ask_address_next = ask_address__q + ((burst_bytes) & 64'hffffffffffffffff);
        burst_left_next = burst_left__q - 32'h1;
        to_drop_next = to_drop__q - 32'h1;
        case (state__q)
            FinishState__Idle:
                begin
                    refused__d = 1'b0;
                    of_broadcast__d = 1'b0;
                    rank__d = ((32'h0) & 7'h7f);
                    if (~refusals__empty) begin
                        refusals__pop = 1'b1;
                        refusal_now__d = refusals__pop_data;
                        refused__d = 1'b1;
                        state__d = FinishState__Settle;
                    end
                    else if (contribute_due != 32'h0) begin
                        state__d = FinishState__Count;
                    end
                    else if (broadcast_due != 32'h0) begin
                        of_broadcast__d = 1'b1;
                        state__d = FinishState__Begin;
                    end
                    else begin
                        at__d = at_next;
                    end
                end
            FinishState__Begin:
                begin
                    to_read__d = ctx[(64'h92)+:(15)];
                    to_drop__d = ((32'h0) & 15'h7fff);
                    to_ask__d = ctx[(64'h92)+:(15)];
                    ask_address__d = ctx[(64'hd5)+:(64)];
                    block_index__d = ((32'h0) & 11'h7ff);
                    beat_index__d = ((32'h0) & 14'h3fff);
                    if (ctx[(64'h86)+:(1)]) begin
                        to_read__d = ctx[(64'h5a)+:(15)];
                        to_drop__d = all_padding;
                        decoder__start = decoder__idle;
                    end
                    if (decoder__idle) begin
                        state__d = FinishState__Drain;
                    end
                end
            FinishState__Drain:
                begin
                    if (burst_left__q != 32'h0) begin
                        w_valid = ~outbox__empty;
                        w_last = burst_left__q == 32'h1;
                        if (w_ready && ~outbox__empty) begin
                            outbox__pop = 1'b1;
                            burst_left__d = burst_left_next;
                        end
                    end
                    else if (to_ask__q != 32'h0) begin
                        aw_valid = 1'b1;
                        if (aw_ready) begin
                            to_ask__d = to_ask_next;
                            ask_address__d = ask_address_next;
                            burst_left__d = burst;
                        end
                    end
                    else if (to_drop__q != 32'h0) begin
                        outbox__pop = 1'b1;
                        if (~outbox__empty) begin
                            to_drop__d = to_drop_next;
                        end
                    end
                    if (drained) begin
                        state__d = FinishState__Count;
                    end
                end
            FinishState__Count:
                begin
                    rank__d = rank_next;
                    high__d = shift__shifted;
                    if (rank__q == 32'h1f) begin
                        low__d = shift__shifted;
                    end
                    if (rank__q == 32'h3f) begin
                        state__d = FinishState__ReportAsk;
                    end
                end
            FinishState__ReportAsk:
                begin
                    aw_valid = 1'b1;
                    aw_address = report_address;
                    aw_beats = ((32'h2) & 7'h7f);
                    if (aw_ready) begin
                        state__d = FinishState__ReportLow;
                    end
                end
            FinishState__ReportLow:
                begin
                    w_valid = 1'b1;
                    w_last = 1'b0;
                    w_data = low__q;
                    if (w_ready) begin
                        state__d = FinishState__ReportHigh;
                    end
                end
            FinishState__ReportHigh:
                begin
                    w_valid = 1'b1;
                    w_data = high__q;
                    if (w_ready) begin
                        state__d = FinishState__Settle;
                    end
                end
            FinishState__Settle:
                begin
                    if ((unacknowledged__q == 32'h0) && (used <= cq_mask)) begin
                        state__d = FinishState__DoneAsk;
                    end
                end
            FinishState__DoneAsk:
                begin
                    aw_valid = 1'b1;
                    aw_address = entry_address;
                    aw_beats = ((32'h1) & 7'h7f);
                    low__d = ((done) & 512'hffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff);
                    if (aw_ready) begin
                        state__d = FinishState__DoneWrite;
                    end
                end
            FinishState__DoneWrite:
                begin
                    w_valid = 1'b1;
                    w_data = low__q;
                    if (w_ready) begin
                        state__d = FinishState__DoneSettle;
                        tail__d = tail_next;
                        if (index == cq_mask) begin
                            turn__d = turn__q ^ 32'h1;
                        end
                    end
                end
            FinishState__DoneSettle:
                begin
                    if (unacknowledged__q == 32'h0) begin
                        state__d = FinishState__Idle;
                        msix_request = 1'b1;
                        if (~refused__q) begin
                            if (of_broadcast__q) begin
                                freed = slot_bit;
                            end
                            else begin
                                reported__d = (reported__q & keep) | slot_bit;
                            end
                        end
                    end
                end
        endcase
        asked_now = aw_valid && aw_ready;
        ack_up = unacknowledged__q;
        if (asked_now) begin
            ack_up = unacknowledged__q + 32'h1;
        end
        ack_next = ack_up - 32'h1;
        unacknowledged__d = ack_up;
        if (b_valid) begin
            unacknowledged__d = ack_next;
        end
        count_address = (((at__q) & 9'h1ff) << 32'h6) | ((rank__q[(32'h0)+:(6)]) & 9'h1ff);
        count_epoch = ctx[(64'hcd)+:(8)];
        shift__data = high__q;
        shift__word = contribute_count;
        if (of_broadcast__q) begin
            shift__word = broadcast_count;
        end
        bypass = ~ctx[(64'h86)+:(1)];
        beats_log2 = ctx[(64'h8a)+:(4)] - 32'h4;
        one10 = ((32'h1) & 14'h3fff);
        beats_of_block = one10 << beats_log2;
        block_beats = ((beats_of_block) & 16'hffff);
        last_beat = beats_of_block - 32'h1;
        beat_next = beat_index__q + 32'h1;
        block_next = block_index__q + 32'h1;
        row = beat_index__q << ctx[(64'h8e)+:(4)];
        linear = ctx[(64'h92)+:(15)] - to_read__q;
        place = linear[(32'h0)+:(14)];
        if (ctx[(64'h86)+:(1)]) begin
            place = row + ((block_index__q) & 14'h3fff);
        end
        ask = (state__q == FinishState__Drain) && (to_read__q != 32'h0) && (inbox__room >= 32'h3) && (outbox__room >= 32'h20);
        read_valid = ask;
        read_address[(64'h0)+:(3)] = at__q;
        read_address[(64'h3)+:(14)] = place;
        asked__d = ask && read_ready;
        to_read_next = to_read__q - 32'h1;
        if (ask && read_ready) begin
            to_read__d = to_read_next;
            beat_index__d = beat_next;
            if (beat_index__q == last_beat) begin
                beat_index__d = ((32'h0) & 14'h3fff);
                block_index__d = block_next;
            end
        end
        present = word[(64'h200)+:(8)] == ctx[(64'hcd)+:(8)];
        gathered[(64'h200)+:(1)] = present;
        gathered[(64'h0)+:(512)] = ((32'h0) & 512'hffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff);
        if (present) begin
            gathered[(64'h0)+:(512)] = word[(64'h0)+:(512)];
        end
        inbox__push = asked__q;
        inbox__push_data = gathered;
        decoder__log2n = ctx[(64'h8a)+:(4)];
        decoder__decode = 1'b1;
        decoder__key = ctx[(64'h155)+:(64)];
        decoder__in_valid = ~inbox__empty && ~bypass;
        decoder__in_data = inbox__pop_data[(64'h0)+:(512)];
        decoder__in_received = inbox__pop_data[(64'h200)+:(1)];
        inbox__pop = bypass || decoder__in_ready;
        spare = outbox__room - reserved__q;
        decoder__go = (spare >= block_beats) || (state__q != FinishState__Drain);
        reserved_up = reserved__q;
        if (decoder__burst) begin
            reserved_up = reserved__q + block_beats;
        end
        reserved_next = reserved_up - 32'h1;
        reserved__d = reserved_up;
        stage_valid__d = decoder__out_valid;
        stage_data__d = decoder__out_data;
        stage_unit__d = bypass;
        if (bypass) begin
            stage_valid__d = ~inbox__empty;
            stage_data__d = inbox__pop_data[(64'h0)+:(512)];
        end
        if (state__q != FinishState__Drain) begin
            stage_valid__d = 1'b0;
        end
        reciprocal__count = decoder__out_received;
        exponent = ((beats_log2) & 32'hffffffff) << 32'h17;
        ratio = reciprocal__factor + exponent;
        multiplier__a = stage_data__q;
        multiplier__factor = ratio;
        if (stage_unit__q) begin
            multiplier__factor = ((32'h3f800000) & 32'hffffffff);
        end
        side__0__clock = clock;
        side__1__clock = clock;
        side__2__clock = clock;
        side__3__clock = clock;
        side__4__clock = clock;
        side__5__clock = clock;
        side__1__d = side__0__q;
        side__2__d = side__1__q;
        side__3__d = side__2__q;
        side__4__d = side__3__q;
        side__5__d = side__4__q;
        side__0__d = stage_valid__q;
        outbox__push = side__5__q;
        outbox__push_data = multiplier__product;
        if (side__5__q && ~bypass) begin
            reserved__d = reserved_next;
        end
        if (state__q != FinishState__Drain) begin
            reserved__d = ((32'h0) & 16'hffff);
        end
        cq_tail = tail__q;
        working = (state__q != FinishState__Idle) || ~refusals__empty || ((scaled & not_reported) != 32'h0) || ((broadcast_closed & scaled & not_sending) != 32'h0);
        if (clear) begin
            state__d = FinishState__Idle;
            reported__d = ((32'h0) & 8'hff);
            tail__d = ((32'h0) & 16'hffff);
            turn__d = ((32'h0) & 16'hffff);
            burst_left__d = ((32'h0) & 7'h7f);
            unacknowledged__d = ((32'h0) & 8'hff);
        end
    end
endmodule

module optireduce_gather(clock,open,rx_valid,rx,accepted,decided,drop_late,drop_duplicate,scaled_valid,scaled,scaled_ready,send_valid,send_address,finish_valid,finish_address,finish_ready,word,count_address,count_epoch,count,window_beats,scrub,scrub_slot,scrub_busy);
    // Module arguments
    input wire  clock;
    input wire  [7:0] open;
    input wire  rx_valid;
    input wire  [556:0] rx;
    output reg  accepted;
    output reg  [556:0] decided;
    output reg  drop_late;
    output reg  drop_duplicate;
    input wire  scaled_valid;
    input wire  [556:0] scaled;
    output reg  scaled_ready;
    input wire  send_valid;
    input wire  [16:0] send_address;
    input wire  finish_valid;
    input wire  [16:0] finish_address;
    output reg  finish_ready;
    output reg  [519:0] word;
    input wire  [8:0] count_address;
    input wire  [7:0] count_epoch;
    output reg  [15:0] count;
    input wire  [14:0] window_beats;
    input wire  scrub;
    input wire  [2:0] scrub_slot;
    output reg  scrub_busy;
    // Stub signals
    reg  ram__clock;
    reg  [16:0] ram__read_address;
    wire  [519:0] ram__read_data;
    reg  [16:0] ram__write_address;
    reg  [519:0] ram__write_data;
    reg  ram__write_enable;
    reg  tags__clock;
    reg  [16:0] tags__read_address;
    wire  [7:0] tags__read_data;
    reg  [16:0] tags__write_address;
    reg  [7:0] tags__write_data;
    reg  tags__write_enable;
    reg  arrivals__clock;
    reg  arrivals__accept;
    reg  [8:0] arrivals__address;
    reg  [7:0] arrivals__epoch;
    reg  arrivals__scrub;
    reg  [8:0] arrivals__read_address;
    reg  [7:0] arrivals__read_epoch;
    wire  [15:0] arrivals__count;
    reg  [556:0] taken__d;
    wire  [556:0] taken__q;
    reg  taken__clock;
    reg  busy__d;
    wire  busy__q;
    reg  busy__clock;
    reg  scrubbing__d;
    wire  scrubbing__q;
    reg  scrubbing__clock;
    reg  [16:0] scrub_at__d;
    wire  [16:0] scrub_at__q;
    reg  scrub_at__clock;
    // Local signals
    reg  [2:0] slot;
    reg  is_open;
    reg  present;
    reg  accept;
    reg  take_scaled;
    reg  scrub_now;
    reg  [13:0] scrub_next;
    reg  [14:0] scrub_last;
    reg  write;
    reg  [16:0] address;
    reg  [519:0] value;
    // Sub module instances
    optireduce_gather__ram ram(
        .clock(ram__clock),
        .read_address(ram__read_address),
        .read_data(ram__read_data),
        .write_address(ram__write_address),
        .write_data(ram__write_data),
        .write_enable(ram__write_enable)
    );
    optireduce_gather__tags tags(
        .clock(tags__clock),
        .read_address(tags__read_address),
        .read_data(tags__read_data),
        .write_address(tags__write_address),
        .write_data(tags__write_data),
        .write_enable(tags__write_enable)
    );
    optireduce_gather__arrivals arrivals(
        .clock(arrivals__clock),
        .accept(arrivals__accept),
        .address(arrivals__address),
        .epoch(arrivals__epoch),
        .scrub(arrivals__scrub),
        .read_address(arrivals__read_address),
        .read_epoch(arrivals__read_epoch),
        .count(arrivals__count)
    );
    optireduce_gather__taken taken(
        .d(taken__d),
        .q(taken__q),
        .clock(taken__clock)
    );
    optireduce_finisher__side__0 busy(
        .d(busy__d),
        .q(busy__q),
        .clock(busy__clock)
    );
    optireduce_finisher__side__0 scrubbing(
        .d(scrubbing__d),
        .q(scrubbing__q),
        .clock(scrubbing__clock)
    );
    optireduce_reduce__place__0 scrub_at(
        .d(scrub_at__d),
        .q(scrub_at__q),
        .clock(scrub_at__clock)
    );
    // Update code
    always @(*) begin
        taken__clock = clock;
        busy__clock = clock;
        scrubbing__clock = clock;
        scrub_at__clock = clock;
        taken__d = taken__q;
        busy__d = busy__q;
        scrubbing__d = scrubbing__q;
        scrub_at__d = scrub_at__q;
        ram__clock = clock;
        tags__clock = clock;
        arrivals__clock = clock;
        busy__d = rx_valid;
        taken__d = rx;
        tags__read_address[(64'h0)+:(3)] = rx[(64'h0)+:(3)];
        tags__read_address[(64'h3)+:(14)] = rx[(64'h3)+:(14)];
        slot = taken__q[(64'h0)+:(3)];
        is_open = open[slot];
        present = tags__read_data == taken__q[(64'h25)+:(8)];
        accept = busy__q && is_open && ~present;
        accepted = accept;
        decided = taken__q;
        drop_late = busy__q && ~is_open;
        drop_duplicate = busy__q && is_open && present;
        take_scaled = scaled_valid && ~accept;
        scaled_ready = take_scaled;
        scrub_now = scrubbing__q && ~busy__q && ~scaled_valid;
        write = accept || take_scaled || scrub_now;
        address[(64'h0)+:(3)] = slot;
        address[(64'h3)+:(14)] = taken__q[(64'h3)+:(14)];
        value[(64'h0)+:(512)] = taken__q[(64'h2d)+:(512)];
        value[(64'h200)+:(8)] = taken__q[(64'h25)+:(8)];
        if (take_scaled) begin
            address[(64'h0)+:(3)] = scaled[(64'h0)+:(3)];
            address[(64'h3)+:(14)] = scaled[(64'h3)+:(14)];
            value[(64'h0)+:(512)] = scaled[(64'h2d)+:(512)];
            value[(64'h200)+:(8)] = scaled[(64'h25)+:(8)];
        end
        scrub_next = scrub_at__q[(64'h3)+:(14)] + 32'h1;
        scrub_last = window_beats - 32'h1;
        if (scrub_now) begin
            address = scrub_at__q;
            value[(64'h200)+:(8)] = ((32'h0) & 8'hff);
            scrub_at__d[(64'h3)+:(14)] = scrub_next;
            if (((scrub_at__q[(64'h3)+:(14)]) & 15'h7fff) == scrub_last) begin
                scrubbing__d = 1'b0;
            end
        end
        if (scrub) begin
            scrubbing__d = 1'b1;
            scrub_at__d[(64'h0)+:(3)] = scrub_slot;
            scrub_at__d[(64'h3)+:(14)] = ((32'h0) & 14'h3fff);
        end
        scrub_busy = scrubbing__q || scrub;
        ram__write_enable = write;
        ram__write_address = address;
        ram__write_data = value;
        tags__write_enable = write;
        tags__write_address = address;
        tags__write_data = value[(64'h200)+:(8)];
        finish_ready = finish_valid && ~send_valid;
        ram__read_address = finish_address;
        if (send_valid) begin
            ram__read_address = send_address;
        end
        word = ram__read_data;
        arrivals__accept = accept;
        arrivals__epoch = taken__q[(64'h25)+:(8)];
        arrivals__address = (((slot) & 9'h1ff) << 32'h6) | ((taken__q[(64'h1f)+:(6)]) & 9'h1ff);
        arrivals__scrub = scrub_now;
        if (scrub_now) begin
            arrivals__address = (((scrub_at__q[(64'h0)+:(3)]) & 9'h1ff) << 32'h6) | (((scrub_at__q[(64'h3)+:(14)]) & 9'h1ff) & 32'h3f);
        end
        arrivals__read_address = count_address;
        arrivals__read_epoch = count_epoch;
        count = arrivals__count;
    end
endmodule

module optireduce_lookup(clock,clear,job,arm,arm_slot,arm_context,freed,stall,in_valid,in_head,in_header,in_data,valid,broadcast,beat,packet,mark,empty,drop_no_window,drop_flags,drop_out_of_shard);
    // Module arguments
    input wire  clock;
    input wire  clear;
    input wire  [199:0] job;
    input wire  [7:0] arm;
    input wire  [2:0] arm_slot;
    input wire  [404:0] arm_context;
    input wire  [7:0] freed;
    input wire  stall;
    input wire  in_valid;
    input wire  in_head;
    input wire  [77:0] in_header;
    input wire  [511:0] in_data;
    output reg  valid;
    output reg  broadcast;
    output reg  [556:0] beat;
    output reg  packet;
    output reg  mark;
    output reg  empty;
    output reg  drop_no_window;
    output reg  drop_flags;
    output reg  drop_out_of_shard;
    // Stub signals
    reg  key__0__clock;
    reg  key__0__arm;
    reg  [404:0] key__0__ctx;
    reg  key__0__free;
    reg  [77:0] key__0__header;
    wire  key__0__hit;
    wire  [25:0] key__0__distance;
    reg  key__1__clock;
    reg  key__1__arm;
    reg  [404:0] key__1__ctx;
    reg  key__1__free;
    reg  [77:0] key__1__header;
    wire  key__1__hit;
    wire  [25:0] key__1__distance;
    reg  key__2__clock;
    reg  key__2__arm;
    reg  [404:0] key__2__ctx;
    reg  key__2__free;
    reg  [77:0] key__2__header;
    wire  key__2__hit;
    wire  [25:0] key__2__distance;
    reg  key__3__clock;
    reg  key__3__arm;
    reg  [404:0] key__3__ctx;
    reg  key__3__free;
    reg  [77:0] key__3__header;
    wire  key__3__hit;
    wire  [25:0] key__3__distance;
    reg  key__4__clock;
    reg  key__4__arm;
    reg  [404:0] key__4__ctx;
    reg  key__4__free;
    reg  [77:0] key__4__header;
    wire  key__4__hit;
    wire  [25:0] key__4__distance;
    reg  key__5__clock;
    reg  key__5__arm;
    reg  [404:0] key__5__ctx;
    reg  key__5__free;
    reg  [77:0] key__5__header;
    wire  key__5__hit;
    wire  [25:0] key__5__distance;
    reg  key__6__clock;
    reg  key__6__arm;
    reg  [404:0] key__6__ctx;
    reg  key__6__free;
    reg  [77:0] key__6__header;
    wire  key__6__hit;
    wire  [25:0] key__6__distance;
    reg  key__7__clock;
    reg  key__7__arm;
    reg  [404:0] key__7__ctx;
    reg  key__7__free;
    reg  [77:0] key__7__header;
    wire  key__7__hit;
    wire  [25:0] key__7__distance;
    reg  contexts__clock;
    reg  [2:0] contexts__read_address;
    wire  [404:0] contexts__read_data;
    reg  [2:0] contexts__write_address;
    reg  [404:0] contexts__write_data;
    reg  contexts__write_enable;
    reg  [37:0] found__d;
    wire  [37:0] found__q;
    reg  found__clock;
    reg  [95:0] ranged__d;
    wire  [95:0] ranged__q;
    reg  ranged__clock;
    reg  [34:0] verdict__d;
    wire  [34:0] verdict__q;
    reg  verdict__clock;
    reg  [14:0] position__d;
    wire  [14:0] position__q;
    reg  position__clock;
    reg  [513:0] first__d;
    wire  [513:0] first__q;
    reg  first__clock;
    reg  [513:0] second__d;
    wire  [513:0] second__q;
    reg  second__clock;
    reg  [513:0] third__d;
    wire  [513:0] third__q;
    reg  third__clock;
    // Local signals
    reg  [2:0] slot;
    reg  [25:0] distance;
    reg  any_hit;
    reg  [404:0] ctx;
    reg  [6:0] sum;
    reg  [6:0] wrapped;
    reg  [6:0] shard;
    reg  [6:0] extra;
    reg  [21:0] product;
    reg  [14:0] start;
    reg  [14:0] length;
    reg  [14:0] limit;
    reg  [14:0] own_end;
    reg  [14:0] packet_end;
    reg  fits;
    reg  head_here;
    reg  moving;
    reg  [14:0] next_position;
    reg  [14:0] relative;
    // Sub module instances
    optireduce_lookup__key__0 key__0(
        .clock(key__0__clock),
        .arm(key__0__arm),
        .ctx(key__0__ctx),
        .free(key__0__free),
        .header(key__0__header),
        .hit(key__0__hit),
        .distance(key__0__distance)
    );
    optireduce_lookup__key__0 key__1(
        .clock(key__1__clock),
        .arm(key__1__arm),
        .ctx(key__1__ctx),
        .free(key__1__free),
        .header(key__1__header),
        .hit(key__1__hit),
        .distance(key__1__distance)
    );
    optireduce_lookup__key__0 key__2(
        .clock(key__2__clock),
        .arm(key__2__arm),
        .ctx(key__2__ctx),
        .free(key__2__free),
        .header(key__2__header),
        .hit(key__2__hit),
        .distance(key__2__distance)
    );
    optireduce_lookup__key__0 key__3(
        .clock(key__3__clock),
        .arm(key__3__arm),
        .ctx(key__3__ctx),
        .free(key__3__free),
        .header(key__3__header),
        .hit(key__3__hit),
        .distance(key__3__distance)
    );
    optireduce_lookup__key__0 key__4(
        .clock(key__4__clock),
        .arm(key__4__arm),
        .ctx(key__4__ctx),
        .free(key__4__free),
        .header(key__4__header),
        .hit(key__4__hit),
        .distance(key__4__distance)
    );
    optireduce_lookup__key__0 key__5(
        .clock(key__5__clock),
        .arm(key__5__arm),
        .ctx(key__5__ctx),
        .free(key__5__free),
        .header(key__5__header),
        .hit(key__5__hit),
        .distance(key__5__distance)
    );
    optireduce_lookup__key__0 key__6(
        .clock(key__6__clock),
        .arm(key__6__arm),
        .ctx(key__6__ctx),
        .free(key__6__free),
        .header(key__6__header),
        .hit(key__6__hit),
        .distance(key__6__distance)
    );
    optireduce_lookup__key__0 key__7(
        .clock(key__7__clock),
        .arm(key__7__arm),
        .ctx(key__7__ctx),
        .free(key__7__free),
        .header(key__7__header),
        .hit(key__7__hit),
        .distance(key__7__distance)
    );
    optireduce_contribute__contexts contexts(
        .clock(contexts__clock),
        .read_address(contexts__read_address),
        .read_data(contexts__read_data),
        .write_address(contexts__write_address),
        .write_data(contexts__write_data),
        .write_enable(contexts__write_enable)
    );
    optireduce_lookup__found found(
        .d(found__d),
        .q(found__q),
        .clock(found__clock)
    );
    optireduce_reduce__flight__0 ranged(
        .d(ranged__d),
        .q(ranged__q),
        .clock(ranged__clock)
    );
    optireduce_lookup__verdict verdict(
        .d(verdict__d),
        .q(verdict__q),
        .clock(verdict__clock)
    );
    optireduce_contribute__encoder__window position(
        .d(position__d),
        .q(position__q),
        .clock(position__clock)
    );
    optireduce_lookup__first first(
        .d(first__d),
        .q(first__q),
        .clock(first__clock)
    );
    optireduce_lookup__first second(
        .d(second__d),
        .q(second__q),
        .clock(second__clock)
    );
    optireduce_lookup__first third(
        .d(third__d),
        .q(third__q),
        .clock(third__clock)
    );
    // Update code
    always @(*) begin
        found__clock = clock;
        ranged__clock = clock;
        verdict__clock = clock;
        position__clock = clock;
        first__clock = clock;
        second__clock = clock;
        third__clock = clock;
        found__d = found__q;
        ranged__d = ranged__q;
        verdict__d = verdict__q;
        position__d = position__q;
        first__d = first__q;
        second__d = second__q;
        third__d = third__q;
        contexts__clock = clock;
        contexts__write_enable = arm != 32'h0;
        contexts__write_address = arm_slot;
        contexts__write_data = arm_context;
        slot = ((32'h0) & 3'h7);
        distance = ((32'h0) & 26'h3ffffff);
        any_hit = 1'b0;
        key__0__clock = clock;
        key__0__arm = arm[0];
        key__0__ctx = arm_context;
        key__0__free = freed[0] || clear;
        key__0__header = in_header;
        if (key__0__hit) begin
            distance = key__0__distance;
            any_hit = 1'b1;
        end
        key__1__clock = clock;
        key__1__arm = arm[1];
        key__1__ctx = arm_context;
        key__1__free = freed[1] || clear;
        key__1__header = in_header;
        if (key__1__hit) begin
            distance = key__1__distance;
            any_hit = 1'b1;
        end
        key__2__clock = clock;
        key__2__arm = arm[2];
        key__2__ctx = arm_context;
        key__2__free = freed[2] || clear;
        key__2__header = in_header;
        if (key__2__hit) begin
            distance = key__2__distance;
            any_hit = 1'b1;
        end
        key__3__clock = clock;
        key__3__arm = arm[3];
        key__3__ctx = arm_context;
        key__3__free = freed[3] || clear;
        key__3__header = in_header;
        if (key__3__hit) begin
            distance = key__3__distance;
            any_hit = 1'b1;
        end
        key__4__clock = clock;
        key__4__arm = arm[4];
        key__4__ctx = arm_context;
        key__4__free = freed[4] || clear;
        key__4__header = in_header;
        if (key__4__hit) begin
            distance = key__4__distance;
            any_hit = 1'b1;
        end
        key__5__clock = clock;
        key__5__arm = arm[5];
        key__5__ctx = arm_context;
        key__5__free = freed[5] || clear;
        key__5__header = in_header;
        if (key__5__hit) begin
            distance = key__5__distance;
            any_hit = 1'b1;
        end
        key__6__clock = clock;
        key__6__arm = arm[6];
        key__6__ctx = arm_context;
        key__6__free = freed[6] || clear;
        key__6__header = in_header;
        if (key__6__hit) begin
            distance = key__6__distance;
            any_hit = 1'b1;
        end
        key__7__clock = clock;
        key__7__arm = arm[7];
        key__7__ctx = arm_context;
        key__7__free = freed[7] || clear;
        key__7__header = in_header;
        if (key__7__hit) begin
            distance = key__7__distance;
            any_hit = 1'b1;
        end
        if (key__1__hit) begin
            slot = ((32'h1) & 3'h7);
        end
        if (key__2__hit) begin
            slot = ((32'h2) & 3'h7);
        end
        if (key__3__hit) begin
            slot = ((32'h3) & 3'h7);
        end
        if (key__4__hit) begin
            slot = ((32'h4) & 3'h7);
        end
        if (key__5__hit) begin
            slot = ((32'h5) & 3'h7);
        end
        if (key__6__hit) begin
            slot = ((32'h6) & 3'h7);
        end
        if (key__7__hit) begin
            slot = ((32'h7) & 3'h7);
        end
        if (~stall) begin
            first__d[(64'h0)+:(1)] = in_valid;
            first__d[(64'h1)+:(1)] = in_head;
            first__d[(64'h2)+:(512)] = in_data;
            if (in_valid && in_head) begin
                found__d[(64'h0)+:(1)] = any_hit;
                found__d[(64'h1)+:(3)] = slot;
                found__d[(64'h4)+:(15)] = distance[(32'h0)+:(15)];
                found__d[(64'h13)+:(10)] = in_header[(64'h3a)+:(10)];
                found__d[(64'h1d)+:(6)] = in_header[(64'h44)+:(6)];
                found__d[(64'h23)+:(1)] = in_header[(64'h4a)+:(1)];
                found__d[(64'h24)+:(1)] = in_header[(64'h4b)+:(1)];
                found__d[(64'h25)+:(1)] = in_header[(64'h4c)+:(1)];
            end
        end
        contexts__read_address = found__q[(64'h1)+:(3)];
        ctx = contexts__read_data;
        sum = ((found__q[(64'h1d)+:(6)]) & 7'h7f) + ctx[(64'h7f)+:(7)];
        wrapped = sum - job[(64'h6)+:(7)];
        shard = sum;
        if (sum >= job[(64'h6)+:(7)]) begin
            shard = wrapped;
        end
        extra = ctx[(64'h78)+:(7)];
        length = ctx[(64'h69)+:(15)];
        if (shard < ctx[(64'h78)+:(7)]) begin
            extra = shard;
            length = ctx[(64'h69)+:(15)] + 32'h1;
        end
        product = ctx[(64'h69)+:(15)] * shard;
        start = product[(32'h0)+:(15)] + ((extra) & 15'h7fff);
        limit = start + length;
        own_end = ctx[(64'haf)+:(15)] + ctx[(64'hbe)+:(15)];
        packet_end = found__q[(64'h4)+:(15)] + ((found__q[(64'h13)+:(10)]) & 15'h7fff);
        if (~stall) begin
            second__d = first__q;
            if (first__q[(64'h0)+:(1)] && first__q[(64'h1)+:(1)]) begin
                ranged__d[(64'h0)+:(1)] = found__q[(64'h0)+:(1)];
                ranged__d[(64'h1)+:(1)] = found__q[(64'h25)+:(1)] != ctx[(64'h86)+:(1)];
                ranged__d[(64'h2)+:(3)] = found__q[(64'h1)+:(3)];
                ranged__d[(64'h5)+:(15)] = found__q[(64'h4)+:(15)];
                ranged__d[(64'h14)+:(15)] = packet_end;
                ranged__d[(64'h41)+:(15)] = ctx[(64'haf)+:(15)];
                ranged__d[(64'h50)+:(8)] = ctx[(64'hcd)+:(8)];
                ranged__d[(64'h58)+:(6)] = found__q[(64'h1d)+:(6)];
                ranged__d[(64'h5e)+:(1)] = found__q[(64'h23)+:(1)];
                ranged__d[(64'h5f)+:(1)] = found__q[(64'h24)+:(1)];
                if (found__q[(64'h23)+:(1)]) begin
                    ranged__d[(64'h23)+:(15)] = start;
                    ranged__d[(64'h32)+:(15)] = limit;
                end
                else begin
                    ranged__d[(64'h23)+:(15)] = ctx[(64'haf)+:(15)];
                    ranged__d[(64'h32)+:(15)] = own_end;
                end
            end
        end
        fits = (ranged__q[(64'h5)+:(15)] >= ranged__q[(64'h23)+:(15)]) && (ranged__q[(64'h14)+:(15)] <= ranged__q[(64'h32)+:(15)]);
        head_here = second__q[(64'h0)+:(1)] && second__q[(64'h1)+:(1)];
        moving = ~stall;
        next_position = position__q + 32'h1;
        drop_no_window = 1'b0;
        drop_flags = 1'b0;
        drop_out_of_shard = 1'b0;
        if (moving) begin
            third__d = second__q;
            if (third__q[(64'h0)+:(1)] && ~third__q[(64'h1)+:(1)]) begin
                position__d = next_position;
            end
            if (head_here) begin
                position__d = ranged__q[(64'h5)+:(15)];
                verdict__d[(64'h0)+:(1)] = 1'b0;
                verdict__d[(64'h1)+:(1)] = ranged__q[(64'h5e)+:(1)];
                verdict__d[(64'h2)+:(3)] = ranged__q[(64'h2)+:(3)];
                verdict__d[(64'h5)+:(6)] = ranged__q[(64'h58)+:(6)];
                verdict__d[(64'hb)+:(8)] = ranged__q[(64'h50)+:(8)];
                verdict__d[(64'h13)+:(15)] = ranged__q[(64'h41)+:(15)];
                verdict__d[(64'h22)+:(1)] = ranged__q[(64'h5f)+:(1)];
                if (~ranged__q[(64'h0)+:(1)]) begin
                    drop_no_window = 1'b1;
                end
                else if (ranged__q[(64'h1)+:(1)]) begin
                    drop_flags = 1'b1;
                end
                else if (~fits) begin
                    drop_out_of_shard = 1'b1;
                end
                else begin
                    verdict__d[(64'h0)+:(1)] = 1'b1;
                end
            end
        end
        relative = position__q - verdict__q[(64'h13)+:(15)];
        valid = third__q[(64'h0)+:(1)] && ~third__q[(64'h1)+:(1)] && verdict__q[(64'h0)+:(1)];
        broadcast = verdict__q[(64'h1)+:(1)];
        beat[(64'h0)+:(3)] = verdict__q[(64'h2)+:(3)];
        beat[(64'h3)+:(14)] = position__q[(32'h0)+:(14)];
        beat[(64'h11)+:(14)] = relative[(32'h0)+:(14)];
        beat[(64'h1f)+:(6)] = verdict__q[(64'h5)+:(6)];
        beat[(64'h25)+:(8)] = verdict__q[(64'hb)+:(8)];
        beat[(64'h2d)+:(512)] = third__q[(64'h2)+:(512)];
        packet = third__q[(64'h0)+:(1)] && third__q[(64'h1)+:(1)] && verdict__q[(64'h0)+:(1)] && moving;
        mark = verdict__q[(64'h22)+:(1)];
        empty = ~first__q[(64'h0)+:(1)] && ~second__q[(64'h0)+:(1)] && ~third__q[(64'h0)+:(1)];
    end
endmodule

module optireduce_parser(clock,job,in_valid,in_data,frame_beats,pop,stall,valid,head,header,data,empty,drop_foreign,drop_malformed,drop_version,drop_job);
    // Module arguments
    input wire  clock;
    input wire  [199:0] job;
    input wire  in_valid;
    input wire  [512:0] in_data;
    input wire  [9:0] frame_beats;
    output reg  pop;
    input wire  stall;
    output reg  valid;
    output reg  head;
    output reg  [77:0] header;
    output reg  [511:0] data;
    output reg  empty;
    output reg  drop_foreign;
    output reg  drop_malformed;
    output reg  drop_version;
    output reg  drop_job;
    // Stub signals
    reg  [524:0] raw__d;
    wire  [524:0] raw__q;
    reg  raw__clock;
    reg  [514:0] parsed__d;
    wire  [514:0] parsed__q;
    reg  parsed__clock;
    reg  [77:0] fields__d;
    wire  [77:0] fields__q;
    reg  fields__clock;
    reg  in_frame__d;
    wire  in_frame__q;
    reg  in_frame__clock;
    // Local signals
    reg  [511:0] h;
    reg  [15:0] fragment;
    reg  [15:0] total;
    reg  [15:0] udp_length;
    reg  [15:0] udp_expected;
    reg  [15:0] payload;
    reg  [9:0] payload_beats;
    reg  [9:0] frame_expected;
    reg  [31:0] offset;
    reg  [15:0] sender;
    reg  [3:0] stage;
    reg  [3:0] version;
    reg  foreign;
    reg  malformed;
    reg  wrong_version;
    reg  wrong_job;
    reg  [7:0] flags;
    reg  [7:0] version_stage;
    // Sub module instances
    optireduce_parser__raw raw(
        .d(raw__d),
        .q(raw__q),
        .clock(raw__clock)
    );
    optireduce_parser__parsed parsed(
        .d(parsed__d),
        .q(parsed__q),
        .clock(parsed__clock)
    );
    optireduce_parser__fields fields(
        .d(fields__d),
        .q(fields__q),
        .clock(fields__clock)
    );
    optireduce_finisher__side__0 in_frame(
        .d(in_frame__d),
        .q(in_frame__q),
        .clock(in_frame__clock)
    );
    // Update code
    always @(*) begin
        raw__clock = clock;
        parsed__clock = clock;
        fields__clock = clock;
        in_frame__clock = clock;
        raw__d = raw__q;
        parsed__d = parsed__q;
        fields__d = fields__q;
        in_frame__d = in_frame__q;
        pop = ~stall;
        if (~stall) begin
            raw__d[(64'h0)+:(1)] = in_valid;
            raw__d[(64'h1)+:(1)] = ~in_frame__q;
            raw__d[(64'h2)+:(512)] = in_data[(64'h0)+:(512)];
            raw__d[(64'h202)+:(1)] = in_data[(64'h200)+:(1)];
            raw__d[(64'h203)+:(10)] = frame_beats;
            in_frame__d = in_valid && ~in_data[(64'h200)+:(1)];
        end
        h = ((raw__q[(64'h2)+:(512)]) & 512'hffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff);
        fragment = h[(64'ha0)+:(16)] & 32'hff3f;
        total = (((h[(64'h80)+:(8)]) & 16'hffff) << 32'h8) | ((h[(64'h88)+:(8)]) & 16'hffff);
        udp_length = (((h[(64'h130)+:(8)]) & 16'hffff) << 32'h8) | ((h[(64'h138)+:(8)]) & 16'hffff);
        udp_expected = total - 32'h14;
        payload = total - 32'h32;
        payload_beats = payload[(32'h6)+:(10)];
        frame_expected = payload_beats + 32'h1;
        offset = (((h[(64'h160)+:(8)]) & 32'hffffffff) << 32'h18) | (((h[(64'h168)+:(8)]) & 32'hffffffff) << 32'h10) | (((h[(64'h170)+:(8)]) & 32'hffffffff) << 32'h8) | ((h[(64'h178)+:(8)]) & 32'hffffffff);
        sender = (((h[(64'h1a0)+:(8)]) & 16'hffff) << 32'h8) | ((h[(64'h1a8)+:(8)]) & 16'hffff);
        flags = h[(64'h190)+:(8)];
        version_stage = h[(64'h198)+:(8)];
        stage = version_stage[(32'h0)+:(4)];
        version = version_stage[(32'h4)+:(4)];
        foreign = (h[(64'h60)+:(16)] != 32'h8) || (h[(64'h70)+:(8)] != 32'h45) || (fragment != 32'h0) || (h[(64'hb8)+:(8)] != 32'h11) || (h[(64'h120)+:(16)] != job[(64'h55)+:(16)]);
        malformed = (total < 32'h72) || (udp_length != udp_expected) || (payload[(32'h0)+:(6)] != 32'h0) || (raw__q[(64'h203)+:(10)] != frame_expected) || (sender >= ((job[(64'h6)+:(7)]) & 16'hffff)) || (sender == ((job[(64'h0)+:(6)]) & 16'hffff)) || ((stage != 32'h0) && (stage != 32'h2)) || (offset[(32'h0)+:(6)] != 32'h0);
        wrong_version = version != 32'h1;
        wrong_job = h[(64'h1c0)+:(64)] != job[(64'hd)+:(64)];
        drop_foreign = 1'b0;
        drop_malformed = 1'b0;
        drop_version = 1'b0;
        drop_job = 1'b0;
        if (~stall) begin
            parsed__d[(64'h0)+:(1)] = raw__q[(64'h0)+:(1)];
            parsed__d[(64'h1)+:(1)] = raw__q[(64'h1)+:(1)];
            parsed__d[(64'h2)+:(512)] = raw__q[(64'h2)+:(512)];
            if (raw__q[(64'h0)+:(1)] && raw__q[(64'h1)+:(1)]) begin
                parsed__d[(64'h202)+:(1)] = 1'b0;
                if (foreign) begin
                    drop_foreign = 1'b1;
                end
                else if (malformed) begin
                    drop_malformed = 1'b1;
                end
                else if (wrong_version) begin
                    drop_version = 1'b1;
                end
                else if (wrong_job) begin
                    drop_job = 1'b1;
                end
                else begin
                    parsed__d[(64'h202)+:(1)] = 1'b1;
                end
                fields__d[(64'h0)+:(16)] = (((h[(64'h150)+:(8)]) & 16'hffff) << 32'h8) | ((h[(64'h158)+:(8)]) & 16'hffff);
                fields__d[(64'h10)+:(16)] = (((h[(64'h1b0)+:(8)]) & 16'hffff) << 32'h8) | ((h[(64'h1b8)+:(8)]) & 16'hffff);
                fields__d[(64'h20)+:(26)] = offset[(32'h6)+:(26)];
                fields__d[(64'h3a)+:(10)] = payload_beats;
                fields__d[(64'h44)+:(6)] = sender[(32'h0)+:(6)];
                fields__d[(64'h4a)+:(1)] = stage == 32'h2;
                fields__d[(64'h4b)+:(1)] = flags[32'h0];
                fields__d[(64'h4c)+:(1)] = flags[32'h1];
                fields__d[(64'h4d)+:(1)] = flags[32'h2];
            end
        end
        valid = parsed__q[(64'h0)+:(1)] && parsed__q[(64'h202)+:(1)];
        head = parsed__q[(64'h1)+:(1)];
        header = fields__q;
        data = parsed__q[(64'h2)+:(512)];
        empty = ~raw__q[(64'h0)+:(1)] && ~parsed__q[(64'h0)+:(1)];
    end
endmodule

module optireduce_planner(clock,clear,job,arm,arm_slot,arm_context,contribute_valid,contribute,contribute_ready,broadcast_valid,broadcast,ask_valid,ask_address,ask_ready,word,valid,order,ready,working);
    // Module arguments
    input wire  clock;
    input wire  clear;
    input wire  [199:0] job;
    input wire  [7:0] arm;
    input wire  [2:0] arm_slot;
    input wire  [404:0] arm_context;
    input wire  contribute_valid;
    input wire  [24:0] contribute;
    output reg  contribute_ready;
    input wire  broadcast_valid;
    input wire  [24:0] broadcast;
    output reg  ask_valid;
    output reg  [16:0] ask_address;
    input wire  ask_ready;
    input wire  [519:0] word;
    output reg  valid;
    output reg  [114:0] order;
    input wire  ready;
    output reg  working;
    // Enums
    localparam PlanState__Idle = 0;
    localparam PlanState__Window = 1;
    localparam PlanState__Peer = 2;
    localparam PlanState__Shard = 3;
    localparam PlanState__Packet = 4;
    localparam PlanState__Ask = 5;
    localparam PlanState__Answer = 6;
    localparam PlanState__Order = 7;
    localparam PlanState__Finish = 8;
    // Stub signals
    reg  contributes__clock;
    reg  contributes__clear;
    reg  contributes__push;
    reg  [24:0] contributes__push_data;
    wire  contributes__full;
    reg  contributes__pop;
    wire  [24:0] contributes__pop_data;
    wire  contributes__empty;
    wire  [15:0] contributes__room;
    reg  broadcasts__clock;
    reg  broadcasts__clear;
    reg  broadcasts__push;
    reg  [24:0] broadcasts__push_data;
    wire  broadcasts__full;
    reg  broadcasts__pop;
    wire  [24:0] broadcasts__pop_data;
    wire  broadcasts__empty;
    wire  [15:0] broadcasts__room;
    reg  contexts__clock;
    reg  [2:0] contexts__read_address;
    wire  [404:0] contexts__read_data;
    reg  [2:0] contexts__write_address;
    reg  [404:0] contexts__write_data;
    reg  contexts__write_enable;
    reg  [3:0] state__d;
    wire  [3:0] state__q;
    reg  state__clock;
    reg  [24:0] now__d;
    wire  [24:0] now__q;
    reg  now__clock;
    reg  [6:0] round__d;
    wire  [6:0] round__q;
    reg  round__clock;
    reg  [6:0] peer__d;
    wire  [6:0] peer__q;
    reg  peer__clock;
    reg  [6:0] shard__d;
    wire  [6:0] shard__q;
    reg  shard__clock;
    reg  [14:0] position__d;
    wire  [14:0] position__q;
    reg  position__clock;
    reg  [14:0] remaining__d;
    wire  [14:0] remaining__q;
    reg  remaining__clock;
    reg  [7:0] packet_beats__d;
    wire  [7:0] packet_beats__q;
    reg  packet_beats__clock;
    reg  [15:0] mark_beats__d;
    wire  [15:0] mark_beats__q;
    reg  mark_beats__clock;
    reg  fresh_round__d;
    wire  fresh_round__q;
    reg  fresh_round__clock;
    // Local signals
    reg  [404:0] ctx;
    reg  [6:0] round_next;
    reg  [6:0] peer_sum;
    reg  [6:0] peer_wrapped;
    reg  [6:0] shard_sum;
    reg  [6:0] shard_wrapped;
    reg  [6:0] extra;
    reg  [14:0] length;
    reg  [21:0] product;
    reg  [14:0] start;
    reg  [14:0] taken;
    reg  [14:0] position_next;
    reg  [14:0] remaining_next;
    reg  marked;
    reg  [25:0] offset;
    // Sub module instances
    optireduce_planner__contributes contributes(
        .clock(contributes__clock),
        .clear(contributes__clear),
        .push(contributes__push),
        .push_data(contributes__push_data),
        .full(contributes__full),
        .pop(contributes__pop),
        .pop_data(contributes__pop_data),
        .empty(contributes__empty),
        .room(contributes__room)
    );
    optireduce_planner__broadcasts broadcasts(
        .clock(broadcasts__clock),
        .clear(broadcasts__clear),
        .push(broadcasts__push),
        .push_data(broadcasts__push_data),
        .full(broadcasts__full),
        .pop(broadcasts__pop),
        .pop_data(broadcasts__pop_data),
        .empty(broadcasts__empty),
        .room(broadcasts__room)
    );
    optireduce_contribute__contexts contexts(
        .clock(contexts__clock),
        .read_address(contexts__read_address),
        .read_data(contexts__read_data),
        .write_address(contexts__write_address),
        .write_data(contexts__write_data),
        .write_enable(contexts__write_enable)
    );
    optireduce_planner__state state(
        .d(state__d),
        .q(state__q),
        .clock(state__clock)
    );
    optireduce_planner__now now(
        .d(now__d),
        .q(now__q),
        .clock(now__clock)
    );
    optireduce_finisher__burst_left round(
        .d(round__d),
        .q(round__q),
        .clock(round__clock)
    );
    optireduce_finisher__burst_left peer(
        .d(peer__d),
        .q(peer__q),
        .clock(peer__clock)
    );
    optireduce_finisher__burst_left shard(
        .d(shard__d),
        .q(shard__q),
        .clock(shard__clock)
    );
    optireduce_contribute__encoder__window position(
        .d(position__d),
        .q(position__q),
        .clock(position__clock)
    );
    optireduce_contribute__encoder__window remaining(
        .d(remaining__d),
        .q(remaining__q),
        .clock(remaining__clock)
    );
    optireduce_contribute__hold packet_beats(
        .d(packet_beats__d),
        .q(packet_beats__q),
        .clock(packet_beats__clock)
    );
    optireduce_finisher__reserved mark_beats(
        .d(mark_beats__d),
        .q(mark_beats__q),
        .clock(mark_beats__clock)
    );
    optireduce_finisher__side__0 fresh_round(
        .d(fresh_round__d),
        .q(fresh_round__q),
        .clock(fresh_round__clock)
    );
    // Update code
    always @(*) begin
        state__clock = clock;
        now__clock = clock;
        round__clock = clock;
        peer__clock = clock;
        shard__clock = clock;
        position__clock = clock;
        remaining__clock = clock;
        packet_beats__clock = clock;
        mark_beats__clock = clock;
        fresh_round__clock = clock;
        state__d = state__q;
        now__d = now__q;
        round__d = round__q;
        peer__d = peer__q;
        shard__d = shard__q;
        position__d = position__q;
        remaining__d = remaining__q;
        packet_beats__d = packet_beats__q;
        mark_beats__d = mark_beats__q;
        fresh_round__d = fresh_round__q;
        contexts__clock = clock;
        contexts__write_enable = arm != 32'h0;
        contexts__write_address = arm_slot;
        contexts__write_data = arm_context;
        contexts__read_address = now__q[(64'h0)+:(3)];
        ctx = contexts__read_data;
        contributes__clock = clock;
        contributes__clear = clear;
        contributes__push = contribute_valid;
        contributes__push_data = contribute;
        contributes__pop = 1'b0;
        contribute_ready = ~contributes__full;
        broadcasts__clock = clock;
        broadcasts__clear = clear;
        broadcasts__push = broadcast_valid;
        broadcasts__push_data = broadcast;
        broadcasts__pop = 1'b0;
        round_next = round__q + 32'h1;
        peer_sum = ((job[(64'h0)+:(6)]) & 7'h7f) + round__q;
        peer_wrapped = peer_sum - job[(64'h6)+:(7)];
        shard_sum = peer__q + ctx[(64'h7f)+:(7)];
        shard_wrapped = shard_sum - job[(64'h6)+:(7)];
        extra = ctx[(64'h78)+:(7)];
        length = ctx[(64'h69)+:(15)];
        if (shard__q < ctx[(64'h78)+:(7)]) begin
            extra = shard__q;
            length = ctx[(64'h69)+:(15)] + 32'h1;
        end
        product = ctx[(64'h69)+:(15)] * shard__q;
        start = product[(32'h0)+:(15)] + ((extra) & 15'h7fff);
        taken = ((job[(64'h4d)+:(8)]) & 15'h7fff);
        if (remaining__q < ((job[(64'h4d)+:(8)]) & 15'h7fff)) begin
            taken = remaining__q;
        end
        position_next = position__q + ((packet_beats__q) & 15'h7fff);
        remaining_next = remaining__q - ((packet_beats__q) & 15'h7fff);
        marked = ((remaining__q) & 16'hffff) <= mark_beats__q;
        offset = ctx[(64'h40)+:(26)] + ((position__q) & 26'h3ffffff);
        ask_valid = 1'b0;
        ask_address[(64'h0)+:(3)] = now__q[(64'h0)+:(3)];
        ask_address[(64'h3)+:(14)] = position__q[(32'h0)+:(14)];
        valid = 1'b0;
        order[(64'h0)+:(3)] = now__q[(64'h0)+:(3)];
        order[(64'h3)+:(1)] = now__q[(64'h3)+:(1)];
        order[(64'h4)+:(1)] = now__q[(64'h4)+:(1)];
        order[(64'h5)+:(6)] = peer__q[(32'h0)+:(6)];
        order[(64'hb)+:(14)] = position__q[(32'h0)+:(14)];
        order[(64'h19)+:(8)] = packet_beats__q;
        order[(64'h21)+:(1)] = marked;
        order[(64'h22)+:(1)] = state__q == PlanState__Finish;
        order[(64'h23)+:(16)] = now__q[(64'h5)+:(16)];
        order[(64'h33)+:(4)] = now__q[(64'h15)+:(4)];
        order[(64'h37)+:(16)] = ctx[(64'h20)+:(16)];
        order[(64'h47)+:(16)] = ctx[(64'h30)+:(16)];
        order[(64'h57)+:(26)] = offset;
        order[(64'h71)+:(1)] = ctx[(64'h86)+:(1)];
        order[(64'h72)+:(1)] = ctx[(64'h87)+:(1)];
        case (state__q)
            PlanState__Idle:
                begin
                    round__d = ((32'h1) & 7'h7f);
                    if (~broadcasts__empty) begin
                        broadcasts__pop = 1'b1;
                        now__d = broadcasts__pop_data;
                        state__d = PlanState__Window;
                    end
                    else if (~contributes__empty) begin
                        contributes__pop = 1'b1;
                        now__d = contributes__pop_data;
                        state__d = PlanState__Window;
                    end
                end
            PlanState__Window:
                begin
                    mark_beats__d = ctx[(64'ha1)+:(8)] * job[(64'h4d)+:(8)];
                    state__d = PlanState__Peer;
                end
            PlanState__Peer:
                begin
                    peer__d = peer_sum;
                    if (peer_sum >= job[(64'h6)+:(7)]) begin
                        peer__d = peer_wrapped;
                    end
                    state__d = PlanState__Shard;
                    if (round__q >= job[(64'h6)+:(7)]) begin
                        state__d = PlanState__Finish;
                    end
                end
            PlanState__Shard:
                begin
                    shard__d = shard_sum;
                    if (shard_sum >= job[(64'h6)+:(7)]) begin
                        shard__d = shard_wrapped;
                    end
                    packet_beats__d = ((32'h0) & 8'hff);
                    remaining__d = ((32'h0) & 15'h7fff);
                    state__d = PlanState__Packet;
                    fresh_round__d = 1'b1;
                end
            PlanState__Packet:
                begin
                    fresh_round__d = 1'b0;
                    if (fresh_round__q) begin
                        position__d = start;
                        remaining__d = length;
                        if (now__q[(64'h3)+:(1)]) begin
                            position__d = ctx[(64'haf)+:(15)];
                            remaining__d = ctx[(64'hbe)+:(15)];
                        end
                    end
                    else if (remaining__q == 32'h0) begin
                        round__d = round_next;
                        state__d = PlanState__Peer;
                    end
                    else begin
                        packet_beats__d = taken[(32'h0)+:(8)];
                        state__d = PlanState__Order;
                        if (now__q[(64'h3)+:(1)]) begin
                            state__d = PlanState__Ask;
                        end
                    end
                end
            PlanState__Ask:
                begin
                    ask_valid = 1'b1;
                    if (ask_ready) begin
                        state__d = PlanState__Answer;
                    end
                end
            PlanState__Answer:
                begin
                    state__d = PlanState__Order;
                    if (word[(64'h200)+:(8)] != ctx[(64'hcd)+:(8)]) begin
                        position__d = position_next;
                        remaining__d = remaining_next;
                        state__d = PlanState__Packet;
                    end
                end
            PlanState__Order:
                begin
                    valid = 1'b1;
                    if (ready) begin
                        position__d = position_next;
                        remaining__d = remaining_next;
                        state__d = PlanState__Packet;
                    end
                end
            PlanState__Finish:
                begin
                    valid = 1'b1;
                    order[(64'h19)+:(8)] = ((32'h0) & 8'hff);
                    if (ready) begin
                        state__d = PlanState__Idle;
                    end
                end
        endcase
        working = (state__q != PlanState__Idle) || ~contributes__empty || ~broadcasts__empty;
        if (clear) begin
            state__d = PlanState__Idle;
        end
    end
endmodule

module optireduce_reduce(clock,open,rx_valid,rx,rx_ready,own_valid,own,own_ready,accepted,accepted_own,decided,drop_late,drop_duplicate,scale_valid,scale_address,scale_ready,scale_word,count_address,count_epoch,count,window_beats,scrub,scrub_slot,scrub_busy);
    // Module arguments
    input wire  clock;
    input wire  [7:0] open;
    input wire  rx_valid;
    input wire  [556:0] rx;
    output reg  rx_ready;
    input wire  own_valid;
    input wire  [556:0] own;
    output reg  own_ready;
    output reg  accepted;
    output reg  accepted_own;
    output reg  [556:0] decided;
    output reg  drop_late;
    output reg  drop_duplicate;
    input wire  scale_valid;
    input wire  [16:0] scale_address;
    output reg  scale_ready;
    output reg  [590:0] scale_word;
    input wire  [8:0] count_address;
    input wire  [7:0] count_epoch;
    output reg  [15:0] count;
    input wire  [14:0] window_beats;
    input wire  scrub;
    input wire  [2:0] scrub_slot;
    output reg  scrub_busy;
    // Stub signals
    reg  ram__clock;
    reg  [16:0] ram__read_address;
    wire  [590:0] ram__read_data;
    reg  [16:0] ram__write_address;
    reg  [590:0] ram__write_data;
    reg  ram__write_enable;
    reg  adder__clock;
    reg  [511:0] adder__a;
    reg  [511:0] adder__b;
    wire  [511:0] adder__sum;
    reg  first__fresh;
    reg  [511:0] first__data;
    wire  [511:0] first__sum;
    reg  arrivals__clock;
    reg  arrivals__accept;
    reg  [8:0] arrivals__address;
    reg  [7:0] arrivals__epoch;
    reg  arrivals__scrub;
    reg  [8:0] arrivals__read_address;
    reg  [7:0] arrivals__read_epoch;
    wire  [15:0] arrivals__count;
    reg  [556:0] taken__d;
    wire  [556:0] taken__q;
    reg  taken__clock;
    reg  taken_own__d;
    wire  taken_own__q;
    reg  taken_own__clock;
    reg  busy__0__d;
    wire  busy__0__q;
    reg  busy__0__clock;
    reg  busy__1__d;
    wire  busy__1__q;
    reg  busy__1__clock;
    reg  busy__2__d;
    wire  busy__2__q;
    reg  busy__2__clock;
    reg  busy__3__d;
    wire  busy__3__q;
    reg  busy__3__clock;
    reg  busy__4__d;
    wire  busy__4__q;
    reg  busy__4__clock;
    reg  busy__5__d;
    wire  busy__5__q;
    reg  busy__5__clock;
    reg  busy__6__d;
    wire  busy__6__q;
    reg  busy__6__clock;
    reg  [16:0] place__0__d;
    wire  [16:0] place__0__q;
    reg  place__0__clock;
    reg  [16:0] place__1__d;
    wire  [16:0] place__1__q;
    reg  place__1__clock;
    reg  [16:0] place__2__d;
    wire  [16:0] place__2__q;
    reg  place__2__clock;
    reg  [16:0] place__3__d;
    wire  [16:0] place__3__q;
    reg  place__3__clock;
    reg  [16:0] place__4__d;
    wire  [16:0] place__4__q;
    reg  place__4__clock;
    reg  [16:0] place__5__d;
    wire  [16:0] place__5__q;
    reg  place__5__clock;
    reg  [16:0] place__6__d;
    wire  [16:0] place__6__q;
    reg  place__6__clock;
    reg  [95:0] flight__0__d;
    wire  [95:0] flight__0__q;
    reg  flight__0__clock;
    reg  [95:0] flight__1__d;
    wire  [95:0] flight__1__q;
    reg  flight__1__clock;
    reg  [95:0] flight__2__d;
    wire  [95:0] flight__2__q;
    reg  flight__2__clock;
    reg  [95:0] flight__3__d;
    wire  [95:0] flight__3__q;
    reg  flight__3__clock;
    reg  [95:0] flight__4__d;
    wire  [95:0] flight__4__q;
    reg  flight__4__clock;
    reg  [95:0] flight__5__d;
    wire  [95:0] flight__5__q;
    reg  flight__5__clock;
    reg  scrubbing__d;
    wire  scrubbing__q;
    reg  scrubbing__clock;
    reg  [16:0] scrub_at__d;
    wire  [16:0] scrub_at__q;
    reg  scrub_at__clock;
    // Local signals
    reg  [16:0] rx_address;
    reg  [16:0] own_address;
    reg  rx_hazard;
    reg  own_hazard;
    reg  take_rx;
    reg  take_own;
    reg  fresh;
    reg  [63:0] one;
    reg  [63:0] mask;
    reg  is_open;
    reg  duplicate;
    reg  accept;
    reg  [63:0] arrived;
    reg  [6:0] sum_count;
    reg  [63:0] seen;
    reg  [2:0] slot;
    reg  [95:0] back;
    reg  scrub_now;
    reg  [13:0] scrub_next;
    reg  [14:0] scrub_half;
    reg  [14:0] scrub_last;
    reg  [8:0] scrub_arrival;
    // Sub module instances
    optireduce_reduce__ram ram(
        .clock(ram__clock),
        .read_address(ram__read_address),
        .read_data(ram__read_data),
        .write_address(ram__write_address),
        .write_data(ram__write_data),
        .write_enable(ram__write_enable)
    );
    optireduce_reduce__adder adder(
        .clock(adder__clock),
        .a(adder__a),
        .b(adder__b),
        .sum(adder__sum)
    );
    optireduce_reduce__first first(
        .fresh(first__fresh),
        .data(first__data),
        .sum(first__sum)
    );
    optireduce_gather__arrivals arrivals(
        .clock(arrivals__clock),
        .accept(arrivals__accept),
        .address(arrivals__address),
        .epoch(arrivals__epoch),
        .scrub(arrivals__scrub),
        .read_address(arrivals__read_address),
        .read_epoch(arrivals__read_epoch),
        .count(arrivals__count)
    );
    optireduce_gather__taken taken(
        .d(taken__d),
        .q(taken__q),
        .clock(taken__clock)
    );
    optireduce_finisher__side__0 taken_own(
        .d(taken_own__d),
        .q(taken_own__q),
        .clock(taken_own__clock)
    );
    optireduce_finisher__side__0 busy__0(
        .d(busy__0__d),
        .q(busy__0__q),
        .clock(busy__0__clock)
    );
    optireduce_finisher__side__0 busy__1(
        .d(busy__1__d),
        .q(busy__1__q),
        .clock(busy__1__clock)
    );
    optireduce_finisher__side__0 busy__2(
        .d(busy__2__d),
        .q(busy__2__q),
        .clock(busy__2__clock)
    );
    optireduce_finisher__side__0 busy__3(
        .d(busy__3__d),
        .q(busy__3__q),
        .clock(busy__3__clock)
    );
    optireduce_finisher__side__0 busy__4(
        .d(busy__4__d),
        .q(busy__4__q),
        .clock(busy__4__clock)
    );
    optireduce_finisher__side__0 busy__5(
        .d(busy__5__d),
        .q(busy__5__q),
        .clock(busy__5__clock)
    );
    optireduce_finisher__side__0 busy__6(
        .d(busy__6__d),
        .q(busy__6__q),
        .clock(busy__6__clock)
    );
    optireduce_reduce__place__0 place__0(
        .d(place__0__d),
        .q(place__0__q),
        .clock(place__0__clock)
    );
    optireduce_reduce__place__0 place__1(
        .d(place__1__d),
        .q(place__1__q),
        .clock(place__1__clock)
    );
    optireduce_reduce__place__0 place__2(
        .d(place__2__d),
        .q(place__2__q),
        .clock(place__2__clock)
    );
    optireduce_reduce__place__0 place__3(
        .d(place__3__d),
        .q(place__3__q),
        .clock(place__3__clock)
    );
    optireduce_reduce__place__0 place__4(
        .d(place__4__d),
        .q(place__4__q),
        .clock(place__4__clock)
    );
    optireduce_reduce__place__0 place__5(
        .d(place__5__d),
        .q(place__5__q),
        .clock(place__5__clock)
    );
    optireduce_reduce__place__0 place__6(
        .d(place__6__d),
        .q(place__6__q),
        .clock(place__6__clock)
    );
    optireduce_reduce__flight__0 flight__0(
        .d(flight__0__d),
        .q(flight__0__q),
        .clock(flight__0__clock)
    );
    optireduce_reduce__flight__0 flight__1(
        .d(flight__1__d),
        .q(flight__1__q),
        .clock(flight__1__clock)
    );
    optireduce_reduce__flight__0 flight__2(
        .d(flight__2__d),
        .q(flight__2__q),
        .clock(flight__2__clock)
    );
    optireduce_reduce__flight__0 flight__3(
        .d(flight__3__d),
        .q(flight__3__q),
        .clock(flight__3__clock)
    );
    optireduce_reduce__flight__0 flight__4(
        .d(flight__4__d),
        .q(flight__4__q),
        .clock(flight__4__clock)
    );
    optireduce_reduce__flight__0 flight__5(
        .d(flight__5__d),
        .q(flight__5__q),
        .clock(flight__5__clock)
    );
    optireduce_finisher__side__0 scrubbing(
        .d(scrubbing__d),
        .q(scrubbing__q),
        .clock(scrubbing__clock)
    );
    optireduce_reduce__place__0 scrub_at(
        .d(scrub_at__d),
        .q(scrub_at__q),
        .clock(scrub_at__clock)
    );
    // Update code
    always @(*) begin
        taken__clock = clock;
        taken_own__clock = clock;
        scrubbing__clock = clock;
        scrub_at__clock = clock;
        taken__d = taken__q;
        taken_own__d = taken_own__q;
        scrubbing__d = scrubbing__q;
        scrub_at__d = scrub_at__q;
        ram__clock = clock;
        adder__clock = clock;
        arrivals__clock = clock;
        busy__0__clock = clock;
        place__0__clock = clock;
        busy__1__clock = clock;
        place__1__clock = clock;
        busy__2__clock = clock;
        place__2__clock = clock;
        busy__3__clock = clock;
        place__3__clock = clock;
        busy__4__clock = clock;
        place__4__clock = clock;
        busy__5__clock = clock;
        place__5__clock = clock;
        busy__6__clock = clock;
        place__6__clock = clock;
        flight__0__clock = clock;
        busy__1__d = busy__0__q;
        place__1__d = place__0__q;
        flight__1__clock = clock;
        busy__2__d = busy__1__q;
        place__2__d = place__1__q;
        flight__2__clock = clock;
        busy__3__d = busy__2__q;
        place__3__d = place__2__q;
        flight__3__clock = clock;
        busy__4__d = busy__3__q;
        place__4__d = place__3__q;
        flight__4__clock = clock;
        busy__5__d = busy__4__q;
        place__5__d = place__4__q;
        flight__5__clock = clock;
        busy__6__d = busy__5__q;
        place__6__d = place__5__q;
        flight__1__d = flight__0__q;
        flight__2__d = flight__1__q;
        flight__3__d = flight__2__q;
        flight__4__d = flight__3__q;
        flight__5__d = flight__4__q;
        rx_address[(64'h0)+:(3)] = rx[(64'h0)+:(3)];
        rx_address[(64'h3)+:(14)] = rx[(64'h11)+:(14)];
        own_address[(64'h0)+:(3)] = own[(64'h0)+:(3)];
        own_address[(64'h3)+:(14)] = own[(64'h11)+:(14)];
        rx_hazard = 1'b0;
        own_hazard = 1'b0;
        if (busy__0__q && (place__0__q == rx_address)) begin
            rx_hazard = 1'b1;
        end
        if (busy__0__q && (place__0__q == own_address)) begin
            own_hazard = 1'b1;
        end
        if (busy__1__q && (place__1__q == rx_address)) begin
            rx_hazard = 1'b1;
        end
        if (busy__1__q && (place__1__q == own_address)) begin
            own_hazard = 1'b1;
        end
        if (busy__2__q && (place__2__q == rx_address)) begin
            rx_hazard = 1'b1;
        end
        if (busy__2__q && (place__2__q == own_address)) begin
            own_hazard = 1'b1;
        end
        if (busy__3__q && (place__3__q == rx_address)) begin
            rx_hazard = 1'b1;
        end
        if (busy__3__q && (place__3__q == own_address)) begin
            own_hazard = 1'b1;
        end
        if (busy__4__q && (place__4__q == rx_address)) begin
            rx_hazard = 1'b1;
        end
        if (busy__4__q && (place__4__q == own_address)) begin
            own_hazard = 1'b1;
        end
        if (busy__5__q && (place__5__q == rx_address)) begin
            rx_hazard = 1'b1;
        end
        if (busy__5__q && (place__5__q == own_address)) begin
            own_hazard = 1'b1;
        end
        if (busy__6__q && (place__6__q == rx_address)) begin
            rx_hazard = 1'b1;
        end
        if (busy__6__q && (place__6__q == own_address)) begin
            own_hazard = 1'b1;
        end
        take_rx = rx_valid && ~rx_hazard;
        take_own = own_valid && ~own_hazard && ~rx_valid;
        rx_ready = ~rx_hazard;
        own_ready = take_own;
        scale_ready = scale_valid && ~take_rx && ~take_own;
        busy__0__d = take_rx || take_own;
        place__0__d = rx_address;
        taken__d = rx;
        taken_own__d = 1'b0;
        ram__read_address = rx_address;
        if (take_own) begin
            place__0__d = own_address;
            taken__d = own;
            taken_own__d = 1'b1;
            ram__read_address = own_address;
        end
        else if (~take_rx) begin
            ram__read_address = scale_address;
        end
        scale_word = ram__read_data;
        slot = taken__q[(64'h0)+:(3)];
        is_open = open[slot];
        fresh = ram__read_data[(64'h247)+:(8)] == taken__q[(64'h25)+:(8)];
        one = ((32'h1) & 64'hffffffffffffffff);
        mask = one << taken__q[(64'h1f)+:(6)];
        arrived = ((32'h0) & 64'hffffffffffffffff);
        sum_count = ((32'h1) & 7'h7f);
        if (fresh) begin
            arrived = ram__read_data[(64'h200)+:(64)];
            sum_count = ram__read_data[(64'h240)+:(7)] + 32'h1;
        end
        seen = arrived & mask;
        duplicate = seen != 32'h0;
        accept = busy__0__q && is_open && ~duplicate;
        accepted = accept;
        accepted_own = taken_own__q;
        decided = taken__q;
        drop_late = busy__0__q && ~is_open && ~taken_own__q;
        drop_duplicate = busy__0__q && is_open && duplicate && ~taken_own__q;
        first__fresh = fresh;
        first__data = ram__read_data[(64'h0)+:(512)];
        adder__a = first__sum;
        adder__b = taken__q[(64'h2d)+:(512)];
        busy__1__d = accept;
        back[(64'h0)+:(17)] = place__0__q;
        back[(64'h11)+:(64)] = arrived | mask;
        back[(64'h51)+:(7)] = sum_count;
        back[(64'h58)+:(8)] = taken__q[(64'h25)+:(8)];
        flight__0__d = back;
        scrub_now = scrubbing__q && ~busy__6__q && ~busy__0__q;
        scrub_next = scrub_at__q[(64'h3)+:(14)] + 32'h1;
        scrub_half = window_beats >> 32'h1;
        scrub_last = scrub_half - 32'h1;
        scrub_arrival = (((scrub_at__q[(64'h0)+:(3)]) & 9'h1ff) << 32'h6) | (((scrub_at__q[(64'h3)+:(14)]) & 9'h1ff) & 32'h3f);
        if (scrub_now) begin
            scrub_at__d[(64'h3)+:(14)] = scrub_next;
            if (((scrub_at__q[(64'h3)+:(14)]) & 15'h7fff) == scrub_last) begin
                scrubbing__d = 1'b0;
            end
        end
        if (scrub) begin
            scrubbing__d = 1'b1;
            scrub_at__d[(64'h0)+:(3)] = scrub_slot;
            scrub_at__d[(64'h3)+:(14)] = ((32'h0) & 14'h3fff);
        end
        scrub_busy = scrubbing__q || scrub;
        ram__write_enable = busy__6__q || scrub_now;
        ram__write_address = flight__5__q[(64'h0)+:(17)];
        ram__write_data[(64'h0)+:(512)] = adder__sum;
        ram__write_data[(64'h200)+:(64)] = flight__5__q[(64'h11)+:(64)];
        ram__write_data[(64'h240)+:(7)] = flight__5__q[(64'h51)+:(7)];
        ram__write_data[(64'h247)+:(8)] = flight__5__q[(64'h58)+:(8)];
        if (scrub_now) begin
            ram__write_address = scrub_at__q;
            ram__write_data[(64'h247)+:(8)] = ((32'h0) & 8'hff);
        end
        arrivals__accept = accept;
        arrivals__epoch = taken__q[(64'h25)+:(8)];
        arrivals__address = (((slot) & 9'h1ff) << 32'h6) | ((taken__q[(64'h1f)+:(6)]) & 9'h1ff);
        arrivals__scrub = scrub_now;
        if (scrub_now) begin
            arrivals__address = scrub_arrival;
        end
        arrivals__read_address = count_address;
        arrivals__read_epoch = count_epoch;
        count = arrivals__count;
    end
endmodule

module optireduce_registers(clock,write,write_address,write_data,read_address,read_data,sq_head,cq_tail,dma_fault,events,enable,job,sq_base,sq_mask,sq_tail,cq_base,cq_mask,cq_head,dma_error,peer_write,peer_word);
    // Module arguments
    input wire  clock;
    input wire  write;
    input wire  [9:0] write_address;
    input wire  [31:0] write_data;
    input wire  [9:0] read_address;
    output reg  [31:0] read_data;
    input wire  [15:0] sq_head;
    input wire  [15:0] cq_tail;
    input wire  dma_fault;
    input wire  [13:0] events;
    output reg  enable;
    output reg  [199:0] job;
    output reg  [63:0] sq_base;
    output reg  [15:0] sq_mask;
    output reg  [15:0] sq_tail;
    output reg  [63:0] cq_base;
    output reg  [15:0] cq_mask;
    output reg  [15:0] cq_head;
    output reg  dma_error;
    output reg  peer_write;
    output reg  [7:0] peer_word;
    // Stub signals
    reg  [381:0] host__d;
    wire  [381:0] host__q;
    reg  host__clock;
    reg  [383:0] counters__d;
    wire  [383:0] counters__q;
    reg  counters__clock;
    reg  faulty__d;
    wire  faulty__q;
    reg  faulty__clock;
    reg  [31:0] value__d;
    wire  [31:0] value__q;
    reg  value__clock;
    wire  [14:0] build__window_beats;
    wire  [3:0] build__log2_n_max;
    // Local signals
    reg  [31:0] data;
    reg  [15:0] one;
    reg  [15:0] sq_size;
    reg  [15:0] cq_size;
    reg  [1:0] late;
    reg  [1:0] duplicate;
    reg  [31:0] inverted;
    reg  fault_bit;
    reg  enable_bit;
    reg  [63:0] tag;
    // Sub module instances
    optireduce_registers__host host(
        .d(host__d),
        .q(host__q),
        .clock(host__clock)
    );
    optireduce_registers__counters counters(
        .d(counters__d),
        .q(counters__q),
        .clock(counters__clock)
    );
    optireduce_finisher__side__0 faulty(
        .d(faulty__d),
        .q(faulty__q),
        .clock(faulty__clock)
    );
    optireduce_finisher__multiplier__lane__0__result value(
        .d(value__d),
        .q(value__q),
        .clock(value__clock)
    );
    optireduce_registers__build build(
        .window_beats(build__window_beats),
        .log2_n_max(build__log2_n_max)
    );
    // Update code
    always @(*) begin
        host__clock = clock;
        counters__clock = clock;
        faulty__clock = clock;
        value__clock = clock;
        host__d = host__q;
        counters__d = counters__q;
        faulty__d = faulty__q;
        value__d = value__q;
        data = write_data;
        if (write) begin
            if (write_address == 32'h40) begin
                host__d[(64'h0)+:(1)] = data[32'h0];
            end
            else if (write_address == 32'h41) begin
                host__d[(64'h1)+:(32)] = data;
            end
            else if (write_address == 32'h42) begin
                host__d[(64'h21)+:(6)] = data[(32'h0)+:(6)];
            end
            else if (write_address == 32'h43) begin
                host__d[(64'h27)+:(7)] = data[(32'h0)+:(7)];
            end
            else if (write_address == 32'h44) begin
                host__d[(64'h2e)+:(32)] = data;
            end
            else if (write_address == 32'h45) begin
                host__d[(64'h4e)+:(32)] = data;
            end
            else if (write_address == 32'h46) begin
                host__d[(64'h6e)+:(8)] = data[(32'h0)+:(8)];
            end
            else if (write_address == 32'h47) begin
                host__d[(64'h76)+:(16)] = data[(32'h0)+:(16)];
            end
            else if (write_address == 32'h48) begin
                host__d[(64'h86)+:(32)] = data;
            end
            else if (write_address == 32'h49) begin
                host__d[(64'ha6)+:(32)] = data;
            end
            else if (write_address == 32'h4a) begin
                host__d[(64'hc6)+:(16)] = data[(32'h0)+:(16)];
            end
            else if (write_address == 32'h200) begin
                host__d[(64'hd6)+:(32)] = data;
            end
            else if (write_address == 32'h201) begin
                host__d[(64'hf6)+:(32)] = data;
            end
            else if (write_address == 32'h202) begin
                host__d[(64'h116)+:(4)] = data[(32'h0)+:(4)];
            end
            else if (write_address == 32'h203) begin
                host__d[(64'h11a)+:(32)] = data;
            end
            else if (write_address == 32'h204) begin
                host__d[(64'h13a)+:(32)] = data;
            end
            else if (write_address == 32'h205) begin
                host__d[(64'h15a)+:(4)] = data[(32'h0)+:(4)];
            end
            else if (write_address == 32'h210) begin
                host__d[(64'h15e)+:(16)] = data[(32'h0)+:(16)];
            end
            else if (write_address == 32'h220) begin
                host__d[(64'h16e)+:(16)] = data[(32'h0)+:(16)];
            end
        end
        peer_write = write && (write_address[(32'h8)+:(2)] == 32'h1);
        peer_word = write_address[(32'h0)+:(8)];
        fault_bit = ((32'h0) & 1'h1);
        if (faulty__q) begin
            fault_bit = ((32'h1) & 1'h1);
        end
        enable_bit = ((32'h0) & 1'h1);
        if (host__q[(64'h0)+:(1)]) begin
            enable_bit = ((32'h1) & 1'h1);
        end
        inverted = host__q[(64'h1)+:(32)] ^ 64'hffffffff;
        value__d = ((32'h0) & 32'hffffffff);
        if (read_address == 32'h0) begin
            value__d = ((32'h4f524e43) & 32'hffffffff);
        end
        else if (read_address == 32'h1) begin
            value__d = ((32'h2) & 32'hffffffff);
        end
        else if (read_address == 32'h2) begin
            value__d = ((32'h1) & 32'hffffffff);
        end
        else if (read_address == 32'h3) begin
            value__d = ((32'h8) & 32'hffffffff);
        end
        else if (read_address == 32'h4) begin
            value__d = ((build__window_beats) & 32'hffffffff);
        end
        else if (read_address == 32'h5) begin
            value__d = ((build__log2_n_max) & 32'hffffffff);
        end
        else if (read_address == 32'h6) begin
            value__d = ((32'h40) & 32'hffffffff);
        end
        else if (read_address == 32'h7) begin
            value__d = ((32'h8b) & 32'hffffffff);
        end
        else if (read_address == 32'h8) begin
            value__d = ((32'h4) & 32'hffffffff);
        end
        else if (read_address == 32'h10) begin
            value__d = inverted;
        end
        else if (read_address == 32'h11) begin
            value__d = ((fault_bit) & 32'hffffffff);
        end
        else if (read_address == 32'h230) begin
            value__d = ((sq_head) & 32'hffffffff);
        end
        else if (read_address == 32'h231) begin
            value__d = ((cq_tail) & 32'hffffffff);
        end
        else if (read_address == 32'h20) begin
            value__d = counters__q[(64'h0)+:(32)];
        end
        else if (read_address == 32'h21) begin
            value__d = counters__q[(64'h20)+:(32)];
        end
        else if (read_address == 32'h22) begin
            value__d = counters__q[(64'h40)+:(32)];
        end
        else if (read_address == 32'h23) begin
            value__d = counters__q[(64'h60)+:(32)];
        end
        else if (read_address == 32'h24) begin
            value__d = counters__q[(64'h80)+:(32)];
        end
        else if (read_address == 32'h25) begin
            value__d = counters__q[(64'ha0)+:(32)];
        end
        else if (read_address == 32'h26) begin
            value__d = counters__q[(64'hc0)+:(32)];
        end
        else if (read_address == 32'h27) begin
            value__d = counters__q[(64'he0)+:(32)];
        end
        else if (read_address == 32'h28) begin
            value__d = counters__q[(64'h100)+:(32)];
        end
        else if (read_address == 32'h29) begin
            value__d = counters__q[(64'h120)+:(32)];
        end
        else if (read_address == 32'h2a) begin
            value__d = counters__q[(64'h140)+:(32)];
        end
        else if (read_address == 32'h2b) begin
            value__d = counters__q[(64'h160)+:(32)];
        end
        else if (read_address == 32'h40) begin
            value__d = ((enable_bit) & 32'hffffffff);
        end
        else if (read_address == 32'h41) begin
            value__d = host__q[(64'h1)+:(32)];
        end
        else if (read_address == 32'h42) begin
            value__d = ((host__q[(64'h21)+:(6)]) & 32'hffffffff);
        end
        else if (read_address == 32'h43) begin
            value__d = ((host__q[(64'h27)+:(7)]) & 32'hffffffff);
        end
        else if (read_address == 32'h44) begin
            value__d = host__q[(64'h2e)+:(32)];
        end
        else if (read_address == 32'h45) begin
            value__d = host__q[(64'h4e)+:(32)];
        end
        else if (read_address == 32'h46) begin
            value__d = ((host__q[(64'h6e)+:(8)]) & 32'hffffffff);
        end
        else if (read_address == 32'h47) begin
            value__d = ((host__q[(64'h76)+:(16)]) & 32'hffffffff);
        end
        else if (read_address == 32'h48) begin
            value__d = host__q[(64'h86)+:(32)];
        end
        else if (read_address == 32'h49) begin
            value__d = host__q[(64'ha6)+:(32)];
        end
        else if (read_address == 32'h4a) begin
            value__d = ((host__q[(64'hc6)+:(16)]) & 32'hffffffff);
        end
        else if (read_address == 32'h200) begin
            value__d = host__q[(64'hd6)+:(32)];
        end
        else if (read_address == 32'h201) begin
            value__d = host__q[(64'hf6)+:(32)];
        end
        else if (read_address == 32'h202) begin
            value__d = ((host__q[(64'h116)+:(4)]) & 32'hffffffff);
        end
        else if (read_address == 32'h203) begin
            value__d = host__q[(64'h11a)+:(32)];
        end
        else if (read_address == 32'h204) begin
            value__d = host__q[(64'h13a)+:(32)];
        end
        else if (read_address == 32'h205) begin
            value__d = ((host__q[(64'h15a)+:(4)]) & 32'hffffffff);
        end
        else if (read_address == 32'h210) begin
            value__d = ((host__q[(64'h15e)+:(16)]) & 32'hffffffff);
        end
        else if (read_address == 32'h220) begin
            value__d = ((host__q[(64'h16e)+:(16)]) & 32'hffffffff);
        end
        read_data = value__q;
        late = ((32'h0) & 2'h3);
        if (events[(64'ha)+:(1)] && events[(64'hb)+:(1)]) begin
            late = ((32'h2) & 2'h3);
        end
        else if (events[(64'ha)+:(1)] || events[(64'hb)+:(1)]) begin
            late = ((32'h1) & 2'h3);
        end
        duplicate = ((32'h0) & 2'h3);
        if (events[(64'hc)+:(1)] && events[(64'hd)+:(1)]) begin
            duplicate = ((32'h2) & 2'h3);
        end
        else if (events[(64'hc)+:(1)] || events[(64'hd)+:(1)]) begin
            duplicate = ((32'h1) & 2'h3);
        end
        if (events[(64'h0)+:(1)]) begin
            counters__d[(64'h0)+:(32)] = counters__q[(64'h0)+:(32)] + 32'h1;
        end
        if (events[(64'h1)+:(1)]) begin
            counters__d[(64'h20)+:(32)] = counters__q[(64'h20)+:(32)] + 32'h1;
        end
        if (events[(64'h2)+:(1)]) begin
            counters__d[(64'h40)+:(32)] = counters__q[(64'h40)+:(32)] + 32'h1;
        end
        if (events[(64'h3)+:(1)]) begin
            counters__d[(64'h60)+:(32)] = counters__q[(64'h60)+:(32)] + 32'h1;
        end
        if (events[(64'h4)+:(1)]) begin
            counters__d[(64'h80)+:(32)] = counters__q[(64'h80)+:(32)] + 32'h1;
        end
        if (events[(64'h5)+:(1)]) begin
            counters__d[(64'ha0)+:(32)] = counters__q[(64'ha0)+:(32)] + 32'h1;
        end
        if (events[(64'h6)+:(1)]) begin
            counters__d[(64'hc0)+:(32)] = counters__q[(64'hc0)+:(32)] + 32'h1;
        end
        if (events[(64'h7)+:(1)]) begin
            counters__d[(64'he0)+:(32)] = counters__q[(64'he0)+:(32)] + 32'h1;
        end
        if (events[(64'h8)+:(1)]) begin
            counters__d[(64'h100)+:(32)] = counters__q[(64'h100)+:(32)] + 32'h1;
        end
        if (events[(64'h9)+:(1)]) begin
            counters__d[(64'h120)+:(32)] = counters__q[(64'h120)+:(32)] + 32'h1;
        end
        counters__d[(64'h140)+:(32)] = counters__q[(64'h140)+:(32)] + ((late) & 32'hffffffff);
        counters__d[(64'h160)+:(32)] = counters__q[(64'h160)+:(32)] + ((duplicate) & 32'hffffffff);
        if (dma_fault) begin
            faulty__d = 1'b1;
        end
        if (~host__q[(64'h0)+:(1)]) begin
            faulty__d = 1'b0;
            counters__d[(64'h0)+:(32)] = ((32'h0) & 32'hffffffff);
            counters__d[(64'h20)+:(32)] = ((32'h0) & 32'hffffffff);
            counters__d[(64'h40)+:(32)] = ((32'h0) & 32'hffffffff);
            counters__d[(64'h60)+:(32)] = ((32'h0) & 32'hffffffff);
            counters__d[(64'h80)+:(32)] = ((32'h0) & 32'hffffffff);
            counters__d[(64'ha0)+:(32)] = ((32'h0) & 32'hffffffff);
            counters__d[(64'hc0)+:(32)] = ((32'h0) & 32'hffffffff);
            counters__d[(64'he0)+:(32)] = ((32'h0) & 32'hffffffff);
            counters__d[(64'h100)+:(32)] = ((32'h0) & 32'hffffffff);
            counters__d[(64'h120)+:(32)] = ((32'h0) & 32'hffffffff);
            counters__d[(64'h140)+:(32)] = ((32'h0) & 32'hffffffff);
            counters__d[(64'h160)+:(32)] = ((32'h0) & 32'hffffffff);
        end
        enable = host__q[(64'h0)+:(1)];
        dma_error = faulty__q;
        one = ((32'h1) & 16'hffff);
        sq_size = one << host__q[(64'h116)+:(4)];
        cq_size = one << host__q[(64'h15a)+:(4)];
        sq_mask = sq_size - 32'h1;
        cq_mask = cq_size - 32'h1;
        sq_base = (((host__q[(64'hf6)+:(32)]) & 64'hffffffffffffffff) << 32'h20) | ((host__q[(64'hd6)+:(32)]) & 64'hffffffffffffffff);
        cq_base = (((host__q[(64'h13a)+:(32)]) & 64'hffffffffffffffff) << 32'h20) | ((host__q[(64'h11a)+:(32)]) & 64'hffffffffffffffff);
        sq_tail = host__q[(64'h15e)+:(16)];
        cq_head = host__q[(64'h16e)+:(16)];
        tag = (((host__q[(64'h4e)+:(32)]) & 64'hffffffffffffffff) << 32'h20) | ((host__q[(64'h2e)+:(32)]) & 64'hffffffffffffffff);
        job[(64'hb5)+:(15)] = build__window_beats;
        job[(64'hc4)+:(4)] = build__log2_n_max;
        job[(64'h0)+:(6)] = host__q[(64'h21)+:(6)];
        job[(64'h6)+:(7)] = host__q[(64'h27)+:(7)];
        job[(64'hd)+:(64)] = tag;
        job[(64'h4d)+:(8)] = host__q[(64'h6e)+:(8)];
        job[(64'h55)+:(16)] = host__q[(64'h76)+:(16)];
        job[(64'h65)+:(32)] = host__q[(64'h86)+:(32)];
        job[(64'h85)+:(48)] = (((host__q[(64'hc6)+:(16)]) & 48'hffffffffffff) << 32'h20) | ((host__q[(64'ha6)+:(32)]) & 48'hffffffffffff);
    end
endmodule

module optireduce_rx_buffer(clock,clear,rx_valid,rx_data,rx_last,rx_error,valid,data,frame_beats,pop,stored,dropped);
    // Module arguments
    input wire  clock;
    input wire  clear;
    input wire  rx_valid;
    input wire  [511:0] rx_data;
    input wire  rx_last;
    input wire  rx_error;
    output reg  valid;
    output reg  [512:0] data;
    output reg  [9:0] frame_beats;
    input wire  pop;
    output reg  stored;
    output reg  dropped;
    // Stub signals
    reg  ram__clock;
    reg  [8:0] ram__read_address;
    wire  [512:0] ram__read_data;
    reg  [8:0] ram__write_address;
    reg  [512:0] ram__write_data;
    reg  ram__write_enable;
    reg  lengths__clock;
    reg  lengths__clear;
    reg  lengths__push;
    reg  [9:0] lengths__push_data;
    wire  lengths__full;
    reg  lengths__pop;
    wire  [9:0] lengths__pop_data;
    wire  lengths__empty;
    wire  [15:0] lengths__room;
    reg  [50:0] st__d;
    wire  [50:0] st__q;
    reg  st__clock;
    // Local signals
    reg  [9:0] used;
    reg  [9:0] write_next;
    reg  [9:0] read_next;
    reg  [9:0] length;
    reg  spoiled;
    reg  has_beat;
    reg  take;
    reg  [512:0] word;
    // Sub module instances
    optireduce_rx_buffer__ram ram(
        .clock(ram__clock),
        .read_address(ram__read_address),
        .read_data(ram__read_data),
        .write_address(ram__write_address),
        .write_data(ram__write_data),
        .write_enable(ram__write_enable)
    );
    optireduce_rx_buffer__lengths lengths(
        .clock(lengths__clock),
        .clear(lengths__clear),
        .push(lengths__push),
        .push_data(lengths__push_data),
        .full(lengths__full),
        .pop(lengths__pop),
        .pop_data(lengths__pop_data),
        .empty(lengths__empty),
        .room(lengths__room)
    );
    optireduce_rx_buffer__st st(
        .d(st__d),
        .q(st__q),
        .clock(st__clock)
    );
    // Update code
    always @(*) begin
        st__clock = clock;
        st__d = st__q;
        ram__clock = clock;
        lengths__clock = clock;
        lengths__clear = clear;
        used = st__q[(64'h0)+:(10)] - st__q[(64'h28)+:(10)];
        write_next = st__q[(64'h0)+:(10)] + 32'h1;
        length = write_next - st__q[(64'ha)+:(10)];
        spoiled = st__q[(64'h32)+:(1)] || (used == 32'h200) || lengths__full;
        word[(64'h0)+:(512)] = rx_data;
        word[(64'h200)+:(1)] = rx_last;
        ram__write_address = ((st__q[(64'h0)+:(10)]) & 9'h1ff);
        ram__write_data = word;
        ram__write_enable = rx_valid && ~spoiled;
        lengths__push = 1'b0;
        lengths__push_data = length;
        stored = 1'b0;
        dropped = 1'b0;
        if (rx_valid) begin
            if (rx_last) begin
                st__d[(64'h32)+:(1)] = 1'b0;
                if (spoiled || rx_error) begin
                    st__d[(64'h0)+:(10)] = st__q[(64'ha)+:(10)];
                    dropped = 1'b1;
                end
                else begin
                    st__d[(64'h0)+:(10)] = write_next;
                    st__d[(64'ha)+:(10)] = write_next;
                    st__d[(64'h14)+:(10)] = write_next;
                    lengths__push = 1'b1;
                    stored = 1'b1;
                end
            end
            else begin
                st__d[(64'h32)+:(1)] = spoiled;
                if (~spoiled) begin
                    st__d[(64'h0)+:(10)] = write_next;
                end
            end
        end
        st__d[(64'h1e)+:(10)] = st__q[(64'h14)+:(10)];
        has_beat = st__q[(64'h28)+:(10)] != st__q[(64'h1e)+:(10)];
        take = has_beat && pop;
        read_next = st__q[(64'h28)+:(10)] + 32'h1;
        ram__read_address = ((st__q[(64'h28)+:(10)]) & 9'h1ff);
        if (take) begin
            ram__read_address = read_next[(32'h0)+:(9)];
            st__d[(64'h28)+:(10)] = read_next;
        end
        valid = has_beat;
        data = ram__read_data;
        frame_beats = lengths__pop_data;
        lengths__pop = take && ram__read_data[(64'h200)+:(1)];
        if (clear) begin
            st__d[(64'h0)+:(10)] = ((32'h0) & 10'h3ff);
            st__d[(64'ha)+:(10)] = ((32'h0) & 10'h3ff);
            st__d[(64'h14)+:(10)] = ((32'h0) & 10'h3ff);
            st__d[(64'h1e)+:(10)] = ((32'h0) & 10'h3ff);
            st__d[(64'h28)+:(10)] = ((32'h0) & 10'h3ff);
            st__d[(64'h32)+:(1)] = 1'b0;
        end
    end
endmodule

module optireduce_scale(clock,clear,arm,arm_slot,arm_context,closed,scaled,read_valid,read_address,read_ready,word,valid,mean,ready,broadcast,broadcast_slot,working);
    // Module arguments
    input wire  clock;
    input wire  clear;
    input wire  [7:0] arm;
    input wire  [2:0] arm_slot;
    input wire  [404:0] arm_context;
    input wire  [7:0] closed;
    output reg  [7:0] scaled;
    output reg  read_valid;
    output reg  [16:0] read_address;
    input wire  read_ready;
    input wire  [590:0] word;
    output reg  valid;
    output reg  [556:0] mean;
    input wire  ready;
    output reg  broadcast;
    output reg  [2:0] broadcast_slot;
    output reg  working;
    // Enums
    localparam ScaleState__Idle = 0;
    localparam ScaleState__Drain = 1;
    localparam ScaleState__Read = 2;
    localparam ScaleState__Store = 3;
    // Stub signals
    reg  [1:0] state__d;
    wire  [1:0] state__q;
    reg  state__clock;
    reg  [2:0] slot__d;
    wire  [2:0] slot__q;
    reg  slot__clock;
    reg  [14:0] index__d;
    wire  [14:0] index__q;
    reg  index__clock;
    reg  [4:0] pause__d;
    wire  [4:0] pause__q;
    reg  pause__clock;
    reg  [7:0] done__d;
    wire  [7:0] done__q;
    reg  done__clock;
    reg  contexts__clock;
    reg  [2:0] contexts__read_address;
    wire  [404:0] contexts__read_data;
    reg  [2:0] contexts__write_address;
    reg  [404:0] contexts__write_data;
    reg  contexts__write_enable;
    reg  reciprocal__clock;
    reg  [10:0] reciprocal__count;
    wire  [31:0] reciprocal__factor;
    reg  multiplier__clock;
    reg  [511:0] multiplier__a;
    reg  [31:0] multiplier__factor;
    wire  [511:0] multiplier__product;
    reg  [14:0] asked__d;
    wire  [14:0] asked__q;
    reg  asked__clock;
    reg  [511:0] data__d;
    wire  [511:0] data__q;
    reg  data__clock;
    reg  [14:0] side__0__d;
    wire  [14:0] side__0__q;
    reg  side__0__clock;
    reg  [14:0] side__1__d;
    wire  [14:0] side__1__q;
    reg  side__1__clock;
    reg  [14:0] side__2__d;
    wire  [14:0] side__2__q;
    reg  side__2__clock;
    reg  [14:0] side__3__d;
    wire  [14:0] side__3__q;
    reg  side__3__clock;
    reg  [14:0] side__4__d;
    wire  [14:0] side__4__q;
    reg  side__4__clock;
    reg  [14:0] side__5__d;
    wire  [14:0] side__5__q;
    reg  side__5__clock;
    reg  [14:0] side__6__d;
    wire  [14:0] side__6__q;
    reg  side__6__clock;
    reg  outbox__clock;
    reg  outbox__clear;
    reg  outbox__push;
    reg  [556:0] outbox__push_data;
    wire  outbox__full;
    reg  outbox__pop;
    wire  [556:0] outbox__pop_data;
    wire  outbox__empty;
    wire  [15:0] outbox__room;
    // Local signals
    reg  [404:0] ctx;
    reg  [14:0] side0;
    reg  [7:0] one;
    reg  [7:0] slot_bit;
    reg  [7:0] pending;
    reg  [7:0] undone;
    reg  [7:0] keep;
    reg  [14:0] index_next;
    reg  [2:0] slot_next;
    reg  [4:0] wait_next;
    reg  [14:0] position;
    reg  ask;
    reg  present;
    // Sub module instances
    optireduce_scale__state state(
        .d(state__d),
        .q(state__q),
        .clock(state__clock)
    );
    optireduce_contribute__loop_slot slot(
        .d(slot__d),
        .q(slot__q),
        .clock(slot__clock)
    );
    optireduce_contribute__encoder__window index(
        .d(index__d),
        .q(index__q),
        .clock(index__clock)
    );
    optireduce_scale__pause pause(
        .d(pause__d),
        .q(pause__q),
        .clock(pause__clock)
    );
    optireduce_contribute__hold done(
        .d(done__d),
        .q(done__q),
        .clock(done__clock)
    );
    optireduce_contribute__contexts contexts(
        .clock(contexts__clock),
        .read_address(contexts__read_address),
        .read_data(contexts__read_data),
        .write_address(contexts__write_address),
        .write_data(contexts__write_data),
        .write_enable(contexts__write_enable)
    );
    optireduce_finisher__reciprocal reciprocal(
        .clock(reciprocal__clock),
        .count(reciprocal__count),
        .factor(reciprocal__factor)
    );
    optireduce_finisher__multiplier multiplier(
        .clock(multiplier__clock),
        .a(multiplier__a),
        .factor(multiplier__factor),
        .product(multiplier__product)
    );
    optireduce_contribute__encoder__window asked(
        .d(asked__d),
        .q(asked__q),
        .clock(asked__clock)
    );
    optireduce_builder__asked_header data(
        .d(data__d),
        .q(data__q),
        .clock(data__clock)
    );
    optireduce_contribute__encoder__window side__0(
        .d(side__0__d),
        .q(side__0__q),
        .clock(side__0__clock)
    );
    optireduce_contribute__encoder__window side__1(
        .d(side__1__d),
        .q(side__1__q),
        .clock(side__1__clock)
    );
    optireduce_contribute__encoder__window side__2(
        .d(side__2__d),
        .q(side__2__q),
        .clock(side__2__clock)
    );
    optireduce_contribute__encoder__window side__3(
        .d(side__3__d),
        .q(side__3__q),
        .clock(side__3__clock)
    );
    optireduce_contribute__encoder__window side__4(
        .d(side__4__d),
        .q(side__4__q),
        .clock(side__4__clock)
    );
    optireduce_contribute__encoder__window side__5(
        .d(side__5__d),
        .q(side__5__q),
        .clock(side__5__clock)
    );
    optireduce_contribute__encoder__window side__6(
        .d(side__6__d),
        .q(side__6__q),
        .clock(side__6__clock)
    );
    optireduce_scale__outbox outbox(
        .clock(outbox__clock),
        .clear(outbox__clear),
        .push(outbox__push),
        .push_data(outbox__push_data),
        .full(outbox__full),
        .pop(outbox__pop),
        .pop_data(outbox__pop_data),
        .empty(outbox__empty),
        .room(outbox__room)
    );
    // Update code
    always @(*) begin
        state__clock = clock;
        slot__clock = clock;
        index__clock = clock;
        pause__clock = clock;
        done__clock = clock;
        asked__clock = clock;
        data__clock = clock;
        state__d = state__q;
        slot__d = slot__q;
        index__d = index__q;
        pause__d = pause__q;
        done__d = done__q;
        asked__d = asked__q;
        data__d = data__q;
        contexts__clock = clock;
        contexts__write_enable = arm != 32'h0;
        contexts__write_address = arm_slot;
        contexts__write_data = arm_context;
        contexts__read_address = slot__q;
        ctx = contexts__read_data;
        reciprocal__clock = clock;
        multiplier__clock = clock;
        outbox__clock = clock;
        outbox__clear = clear;
        side__0__clock = clock;
        side__1__clock = clock;
        side__2__clock = clock;
        side__3__clock = clock;
        side__4__clock = clock;
        side__5__clock = clock;
        side__6__clock = clock;
        side__1__d = side__0__q;
        side__2__d = side__1__q;
        side__3__d = side__2__q;
        side__4__d = side__3__q;
        side__5__d = side__4__q;
        side__6__d = side__5__q;
        one = ((32'h1) & 8'hff);
        slot_bit = one << slot__q;
        undone = done__q ^ 32'hff;
        pending = closed & undone & slot_bit;
        slot_next = slot__q + 32'h1;
        index_next = index__q + 32'h1;
        wait_next = pause__q + 32'h1;
        keep = arm ^ 32'hff;
        done__d = done__q & keep;
        ask = 1'b0;
        broadcast = 1'b0;
        broadcast_slot = slot__q;
        working = (state__q != ScaleState__Idle) || ((closed & undone) != 32'h0);
        case (state__q)
            ScaleState__Idle:
                begin
                    index__d = ((32'h0) & 15'h7fff);
                    pause__d = ((32'h0) & 5'h1f);
                    if (pending != 32'h0) begin
                        state__d = ScaleState__Drain;
                    end
                    else begin
                        slot__d = slot_next;
                    end
                end
            ScaleState__Drain:
                begin
                    pause__d = wait_next;
                    if (pause__q == 32'hf) begin
                        state__d = ScaleState__Read;
                        pause__d = ((32'h0) & 5'h1f);
                    end
                end
            ScaleState__Read:
                begin
                    ask = (index__q != ctx[(64'hbe)+:(15)]) && (outbox__room >= 32'ha);
                    if (index__q == ctx[(64'hbe)+:(15)]) begin
                        state__d = ScaleState__Store;
                    end
                    if (read_ready) begin
                        index__d = index_next;
                    end
                end
            ScaleState__Store:
                begin
                    pause__d = wait_next;
                    if (pause__q == 32'hf) begin
                        pause__d = pause__q;
                        if (outbox__empty) begin
                            done__d = (done__q & keep) | slot_bit;
                            broadcast = ctx[(64'h88)+:(1)];
                            state__d = ScaleState__Idle;
                        end
                    end
                end
        endcase
        read_valid = ask;
        read_address[(64'h0)+:(3)] = slot__q;
        read_address[(64'h3)+:(14)] = index__q[(32'h0)+:(14)];
        position = ctx[(64'haf)+:(15)] + index__q;
        asked__d[(64'h0)+:(1)] = ask && read_ready;
        asked__d[(64'h1)+:(14)] = position[(32'h0)+:(14)];
        present = word[(64'h247)+:(8)] == ctx[(64'hcd)+:(8)];
        side0[(64'h0)+:(1)] = asked__q[(64'h0)+:(1)] && present;
        side0[(64'h1)+:(14)] = asked__q[(64'h1)+:(14)];
        side__0__d = side0;
        reciprocal__count = ((word[(64'h240)+:(7)]) & 11'h7ff);
        data__d = word[(64'h0)+:(512)];
        multiplier__a = data__q;
        multiplier__factor = reciprocal__factor;
        outbox__push = side__6__q[(64'h0)+:(1)];
        outbox__push_data[(64'h0)+:(3)] = slot__q;
        outbox__push_data[(64'h3)+:(14)] = side__6__q[(64'h1)+:(14)];
        outbox__push_data[(64'h11)+:(14)] = ((32'h0) & 14'h3fff);
        outbox__push_data[(64'h1f)+:(6)] = ((32'h0) & 6'h3f);
        outbox__push_data[(64'h25)+:(8)] = ctx[(64'hcd)+:(8)];
        outbox__push_data[(64'h2d)+:(512)] = multiplier__product;
        valid = ~outbox__empty;
        mean = outbox__pop_data;
        outbox__pop = ready;
        scaled = done__q;
        if (clear) begin
            state__d = ScaleState__Idle;
            done__d = ((32'h0) & 8'hff);
        end
    end
endmodule

module optireduce_submit(clock,clear,job,sq_base,sq_mask,sq_tail,sq_head,ar_valid,ar_address,ar_ready,r_valid,r_data,r_error,arm,arm_slot,arm_context,contribute_rules,broadcast_rules,enter,order_valid,order,order_ready,send_valid,send,send_ready,scaled,freed,scrub,scrub_slot,scrub_busy,finishing,ordering,refuse_ready,refuse,refusal,working);
    // Module arguments
    input wire  clock;
    input wire  clear;
    input wire  [199:0] job;
    input wire  [63:0] sq_base;
    input wire  [15:0] sq_mask;
    input wire  [15:0] sq_tail;
    output reg  [15:0] sq_head;
    output reg  ar_valid;
    output reg  [63:0] ar_address;
    input wire  ar_ready;
    input wire  r_valid;
    input wire  [511:0] r_data;
    input wire  r_error;
    output reg  [7:0] arm;
    output reg  [2:0] arm_slot;
    output reg  [404:0] arm_context;
    output reg  [172:0] contribute_rules;
    output reg  [172:0] broadcast_rules;
    output reg  [7:0] enter;
    output reg  order_valid;
    output reg  [101:0] order;
    input wire  order_ready;
    output reg  send_valid;
    output reg  [24:0] send;
    input wire  send_ready;
    input wire  [7:0] scaled;
    input wire  [7:0] freed;
    output reg  scrub;
    output reg  [2:0] scrub_slot;
    input wire  scrub_busy;
    input wire  [7:0] finishing;
    output reg  [7:0] ordering;
    input wire  refuse_ready;
    output reg  refuse;
    output reg  [49:0] refusal;
    output reg  working;
    // Enums
    localparam SubmitState__Idle = 0;
    localparam SubmitState__Ask = 1;
    localparam SubmitState__Wait = 2;
    localparam SubmitState__Decode = 3;
    localparam SubmitState__Check = 4;
    localparam SubmitState__Senders = 5;
    localparam SubmitState__Scrub = 6;
    localparam SubmitState__Arm = 7;
    localparam SubmitState__Contribute = 8;
    localparam SubmitState__Broadcast = 9;
    localparam SubmitState__Refuse = 10;
    localparam SubmitState__Next = 11;
    // Stub signals
    reg  [3:0] state__d;
    wire  [3:0] state__q;
    reg  state__clock;
    reg  [15:0] head__d;
    wire  [15:0] head__q;
    reg  head__clock;
    reg  [511:0] entry__d;
    wire  [511:0] entry__q;
    reg  entry__clock;
    reg  [7:0] in_use__d;
    wire  [7:0] in_use__q;
    reg  in_use__clock;
    reg  [7:0] asked__d;
    wire  [7:0] asked__q;
    reg  asked__clock;
    reg  [7:0] status__d;
    wire  [7:0] status__q;
    reg  status__clock;
    reg  contexts__clock;
    reg  [2:0] contexts__read_address;
    wire  [404:0] contexts__read_data;
    reg  [2:0] contexts__write_address;
    reg  [404:0] contexts__write_data;
    reg  contexts__write_enable;
    reg  epochs__clock;
    reg  [2:0] epochs__read_address;
    wire  [7:0] epochs__read_data;
    reg  [2:0] epochs__write_address;
    reg  [7:0] epochs__write_data;
    reg  epochs__write_enable;
    reg  [7:0] epoch__d;
    wire  [7:0] epoch__q;
    reg  epoch__clock;
    reg  [14:0] own_start__d;
    wire  [14:0] own_start__q;
    reg  own_start__clock;
    reg  [14:0] own_beats__d;
    wire  [14:0] own_beats__q;
    reg  own_beats__clock;
    reg  [6:0] rank__d;
    wire  [6:0] rank__q;
    reg  rank__clock;
    reg  [63:0] contribute_senders__d;
    wire  [63:0] contribute_senders__q;
    reg  contribute_senders__clock;
    reg  [63:0] broadcast_senders__d;
    wire  [63:0] broadcast_senders__q;
    reg  broadcast_senders__clock;
    // Local signals
    reg  [511:0] e;
    reg  [2:0] slot;
    reg  [7:0] flags;
    reg  [7:0] one;
    reg  [7:0] slot_bit;
    reg  busy;
    reg  ready_mean;
    reg  [404:0] ctx;
    reg  [404:0] fresh;
    reg  same;
    reg  ending;
    reg  [15:0] index;
    reg  [63:0] offset;
    reg  [15:0] head_next;
    reg  [6:0] sum;
    reg  [6:0] wrapped;
    reg  [6:0] shard;
    reg  [6:0] remainder;
    reg  [6:0] rotation;
    reg  [14:0] quotient;
    reg  [6:0] extra;
    reg  [14:0] length;
    reg  [21:0] start;
    reg  [21:0] start_extra;
    reg  [21:0] cut;
    reg  [21:0] cut_sum;
    reg  [31:0] base;
    reg  [7:0] block_log2;
    reg  [7:0] window_log2;
    reg  [15:0] one16;
    reg  [15:0] encoded_beats;
    reg  good_size;
    reg  good;
    reg  [14:0] shard_beats;
    reg  [7:0] epoch_now;
    reg  [7:0] epoch_next;
    reg  [63:0] one64;
    reg  [63:0] rank_bit;
    reg  [6:0] rank_next;
    reg  [21:0] contribute_all;
    reg  [14:0] broadcast_all;
    reg  [7:0] unfreed;
    reg  [7:0] kept;
    // Sub module instances
    optireduce_submit__state state(
        .d(state__d),
        .q(state__q),
        .clock(state__clock)
    );
    optireduce_finisher__reserved head(
        .d(head__d),
        .q(head__q),
        .clock(head__clock)
    );
    optireduce_builder__asked_header entry(
        .d(entry__d),
        .q(entry__q),
        .clock(entry__clock)
    );
    optireduce_contribute__hold in_use(
        .d(in_use__d),
        .q(in_use__q),
        .clock(in_use__clock)
    );
    optireduce_contribute__hold asked(
        .d(asked__d),
        .q(asked__q),
        .clock(asked__clock)
    );
    optireduce_contribute__hold status(
        .d(status__d),
        .q(status__q),
        .clock(status__clock)
    );
    optireduce_contribute__contexts contexts(
        .clock(contexts__clock),
        .read_address(contexts__read_address),
        .read_data(contexts__read_data),
        .write_address(contexts__write_address),
        .write_data(contexts__write_data),
        .write_enable(contexts__write_enable)
    );
    optireduce_submit__epochs epochs(
        .clock(epochs__clock),
        .read_address(epochs__read_address),
        .read_data(epochs__read_data),
        .write_address(epochs__write_address),
        .write_data(epochs__write_data),
        .write_enable(epochs__write_enable)
    );
    optireduce_contribute__hold epoch(
        .d(epoch__d),
        .q(epoch__q),
        .clock(epoch__clock)
    );
    optireduce_contribute__encoder__window own_start(
        .d(own_start__d),
        .q(own_start__q),
        .clock(own_start__clock)
    );
    optireduce_contribute__encoder__window own_beats(
        .d(own_beats__d),
        .q(own_beats__q),
        .clock(own_beats__clock)
    );
    optireduce_finisher__burst_left rank(
        .d(rank__d),
        .q(rank__q),
        .clock(rank__clock)
    );
    optireduce_contribute__ask_address contribute_senders(
        .d(contribute_senders__d),
        .q(contribute_senders__q),
        .clock(contribute_senders__clock)
    );
    optireduce_contribute__ask_address broadcast_senders(
        .d(broadcast_senders__d),
        .q(broadcast_senders__q),
        .clock(broadcast_senders__clock)
    );
    // Update code
    always @(*) begin
        state__clock = clock;
        head__clock = clock;
        entry__clock = clock;
        in_use__clock = clock;
        asked__clock = clock;
        status__clock = clock;
        epoch__clock = clock;
        own_start__clock = clock;
        own_beats__clock = clock;
        rank__clock = clock;
        contribute_senders__clock = clock;
        broadcast_senders__clock = clock;
        state__d = state__q;
        head__d = head__q;
        entry__d = entry__q;
        in_use__d = in_use__q;
        asked__d = asked__q;
        status__d = status__q;
        epoch__d = epoch__q;
        own_start__d = own_start__q;
        own_beats__d = own_beats__q;
        rank__d = rank__q;
        contribute_senders__d = contribute_senders__q;
        broadcast_senders__d = broadcast_senders__q;
        e = entry__q;
        slot = ((e[(64'h8)+:(8)]) & 3'h7);
        flags = e[(64'h50)+:(8)];
        one = ((32'h1) & 8'hff);
        slot_bit = one << slot;
        busy = (in_use__q & slot_bit) != 32'h0;
        ready_mean = (scaled & slot_bit) != 32'h0;
        contexts__clock = clock;
        contexts__read_address = slot;
        ctx = contexts__read_data;
        ending = (finishing & slot_bit) != 32'h0;
        same = busy && ~ending && (ctx[(64'h0)+:(32)] == e[(64'h20)+:(32)]) && (ctx[(64'h20)+:(16)] == e[(64'h10)+:(16)]);
        epochs__clock = clock;
        epochs__read_address = slot;
        epoch_now = epochs__read_data;
        epoch_next = epoch_now + 32'h1;
        index = head__q & sq_mask;
        offset = ((index) & 64'hffffffffffffffff) << 32'h6;
        ar_address = sq_base + offset;
        head_next = head__q + 32'h1;
        sq_head = head__q;
        rotation = ((e[(64'ha8)+:(8)]) & 7'h7f);
        remainder = ((e[(64'ha0)+:(8)]) & 7'h7f);
        quotient = ((e[(64'h90)+:(16)]) & 15'h7fff);
        sum = rank__q + rotation;
        wrapped = sum - job[(64'h6)+:(7)];
        shard = sum;
        if (sum >= job[(64'h6)+:(7)]) begin
            shard = wrapped;
        end
        extra = remainder;
        length = quotient;
        if (shard < remainder) begin
            extra = shard;
            length = quotient + 32'h1;
        end
        start = quotient * shard;
        start_extra = start + ((extra) & 22'h3fffff);
        cut = quotient * job[(64'h6)+:(7)];
        cut_sum = cut + ((remainder) & 22'h3fffff);
        block_log2 = e[(64'h58)+:(8)] - 32'h4;
        window_log2 = block_log2 + e[(64'hb8)+:(8)];
        one16 = ((32'h1) & 16'hffff);
        encoded_beats = one16 << window_log2;
        good_size = ~flags[32'h0] || (((e[(64'h58)+:(8)] == 32'h8) || (e[(64'h58)+:(8)] == 32'ha) || (e[(64'h58)+:(8)] == 32'hc) || (e[(64'h58)+:(8)] == 32'he)) && (e[(64'h58)+:(8)] <= ((job[(64'hc4)+:(4)]) & 8'hff)) && (e[(64'hb8)+:(8)] < 32'hb) && (encoded_beats == e[(64'h80)+:(16)]));
        shard_beats = job[(64'hb5)+:(15)] >> 32'h1;
        good = (e[(64'h80)+:(16)] != 32'h0) && (e[(64'h80)+:(16)] <= ((job[(64'hb5)+:(15)]) & 16'hffff)) && (e[(64'h100)+:(16)] <= e[(64'h80)+:(16)]) && (e[(64'h90)+:(16)] <= ((shard_beats) & 16'hffff)) && (e[(64'ha0)+:(8)] < ((job[(64'h6)+:(7)]) & 8'hff)) && (e[(64'ha8)+:(8)] < ((job[(64'h6)+:(7)]) & 8'hff)) && (cut_sum == ((e[(64'h80)+:(16)]) & 22'h3fffff)) && good_size;
        one64 = ((32'h1) & 64'hffffffffffffffff);
        rank_bit = one64 << rank__q;
        rank_next = rank__q + 32'h1;
        base = e[(64'h60)+:(32)];
        fresh[(64'h0)+:(32)] = e[(64'h20)+:(32)];
        fresh[(64'h20)+:(16)] = e[(64'h10)+:(16)];
        fresh[(64'h30)+:(16)] = e[(64'h40)+:(16)];
        fresh[(64'h40)+:(26)] = base[(32'h6)+:(26)];
        fresh[(64'h5a)+:(15)] = ((e[(64'h80)+:(16)]) & 15'h7fff);
        fresh[(64'h69)+:(15)] = quotient;
        fresh[(64'h78)+:(7)] = remainder;
        fresh[(64'h7f)+:(7)] = rotation;
        fresh[(64'h86)+:(1)] = flags[32'h0];
        fresh[(64'h87)+:(1)] = flags[32'h3];
        fresh[(64'h88)+:(1)] = flags[32'h1];
        fresh[(64'h89)+:(1)] = flags[32'h2];
        fresh[(64'h8a)+:(4)] = ((e[(64'h58)+:(8)]) & 4'hf);
        fresh[(64'h8e)+:(4)] = ((e[(64'hb8)+:(8)]) & 4'hf);
        fresh[(64'h92)+:(15)] = ((e[(64'h100)+:(16)]) & 15'h7fff);
        fresh[(64'ha1)+:(8)] = e[(64'h128)+:(8)];
        fresh[(64'ha9)+:(4)] = ((e[(64'h130)+:(8)]) & 4'hf);
        fresh[(64'had)+:(2)] = ((32'h0) & 2'h3);
        fresh[(64'haf)+:(15)] = own_start__q;
        fresh[(64'hbe)+:(15)] = own_beats__q;
        fresh[(64'hcd)+:(8)] = epoch__q;
        fresh[(64'hd5)+:(64)] = e[(64'h140)+:(64)];
        fresh[(64'h115)+:(64)] = e[(64'h180)+:(64)];
        fresh[(64'h155)+:(64)] = e[(64'h1c0)+:(64)];
        arm = ((32'h0) & 8'hff);
        arm_slot = slot;
        arm_context = fresh;
        contribute_all = own_beats__q * job[(64'h6)+:(7)];
        broadcast_all = ((e[(64'h80)+:(16)]) & 15'h7fff) - own_beats__q;
        contribute_rules[(64'h0)+:(32)] = e[(64'hc0)+:(32)];
        contribute_rules[(64'h20)+:(32)] = e[(64'he0)+:(32)];
        contribute_rules[(64'h40)+:(7)] = ((e[(64'hb0)+:(8)]) & 7'h7f);
        contribute_rules[(64'h47)+:(1)] = flags[32'h2];
        contribute_rules[(64'h48)+:(64)] = contribute_senders__q;
        contribute_rules[(64'h88)+:(22)] = contribute_all;
        contribute_rules[(64'h9e)+:(15)] = own_beats__q;
        broadcast_rules[(64'h0)+:(32)] = e[(64'hc0)+:(32)];
        broadcast_rules[(64'h20)+:(32)] = e[(64'he0)+:(32)];
        broadcast_rules[(64'h40)+:(7)] = ((e[(64'hb0)+:(8)]) & 7'h7f);
        broadcast_rules[(64'h47)+:(1)] = flags[32'h2];
        broadcast_rules[(64'h48)+:(64)] = broadcast_senders__q;
        broadcast_rules[(64'h88)+:(22)] = ((broadcast_all) & 22'h3fffff);
        broadcast_rules[(64'h9e)+:(15)] = ((32'h0) & 15'h7fff);
        contexts__write_enable = state__q == SubmitState__Arm;
        contexts__write_address = slot;
        contexts__write_data = fresh;
        epochs__write_enable = state__q == SubmitState__Arm;
        epochs__write_address = slot;
        epochs__write_data = epoch__q;
        order_valid = 1'b0;
        order[(64'h0)+:(3)] = slot;
        order[(64'h3)+:(64)] = e[(64'h140)+:(64)];
        order[(64'h43)+:(15)] = ((e[(64'h100)+:(16)]) & 15'h7fff);
        order[(64'h52)+:(16)] = e[(64'h110)+:(16)];
        order[(64'h62)+:(4)] = ((e[(64'h120)+:(8)]) & 4'hf);
        send_valid = 1'b0;
        send[(64'h0)+:(3)] = slot;
        send[(64'h3)+:(1)] = 1'b1;
        send[(64'h4)+:(1)] = 1'b0;
        send[(64'h5)+:(16)] = e[(64'h110)+:(16)];
        send[(64'h15)+:(4)] = ((e[(64'h120)+:(8)]) & 4'hf);
        enter = ((32'h0) & 8'hff);
        ordering = ((32'h0) & 8'hff);
        refuse = 1'b0;
        refusal[(64'h0)+:(2)] = ((32'h0) & 2'h3);
        refusal[(64'h2)+:(8)] = e[(64'h8)+:(8)];
        refusal[(64'ha)+:(32)] = e[(64'h20)+:(32)];
        refusal[(64'h2a)+:(8)] = status__q;
        scrub = 1'b0;
        scrub_slot = slot;
        unfreed = freed ^ 32'hff;
        kept = in_use__q & unfreed;
        in_use__d = kept;
        asked__d = asked__q & kept;
        ar_valid = state__q == SubmitState__Ask;
        case (state__q)
            SubmitState__Idle:
                begin
                    if (head__q != sq_tail) begin
                        state__d = SubmitState__Ask;
                    end
                end
            SubmitState__Ask:
                begin
                    if (ar_ready) begin
                        state__d = SubmitState__Wait;
                    end
                end
            SubmitState__Wait:
                begin
                    if (r_valid) begin
                        entry__d = ((r_data) & 512'hffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff);
                        state__d = SubmitState__Decode;
                        if (r_error) begin
                            entry__d = ((((32'h0) & 512'hffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff)) & 512'hffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff);
                            status__d = ((32'h1) & 8'hff);
                            state__d = SubmitState__Refuse;
                        end
                    end
                end
            SubmitState__Decode:
                begin
                    rank__d = ((job[(64'h0)+:(6)]) & 7'h7f);
                    status__d = ((32'h2) & 8'hff);
                    state__d = SubmitState__Refuse;
                    if (e[(64'h8)+:(8)] < 32'h8) begin
                        if (e[(64'h0)+:(8)] == 32'h1) begin
                            state__d = SubmitState__Check;
                        end
                        else if (e[(64'h0)+:(8)] == 32'h2) begin
                            if (~same || ((asked__q & slot_bit) != 32'h0)) begin
                                status__d = ((32'h4) & 8'hff);
                            end
                            else if (e[(64'h100)+:(16)] <= ((ctx[(64'h5a)+:(15)]) & 16'hffff)) begin
                                state__d = SubmitState__Contribute;
                            end
                        end
                        else if (e[(64'h0)+:(8)] == 32'h3) begin
                            if (~same || ~ready_mean) begin
                                status__d = ((32'h4) & 8'hff);
                            end
                            else if (~ctx[(64'h88)+:(1)]) begin
                                state__d = SubmitState__Broadcast;
                            end
                        end
                    end
                end
            SubmitState__Check:
                begin
                    own_start__d = start_extra[(32'h0)+:(15)];
                    own_beats__d = length;
                    rank__d = ((32'h0) & 7'h7f);
                    contribute_senders__d = ((32'h0) & 64'hffffffffffffffff);
                    broadcast_senders__d = ((32'h0) & 64'hffffffffffffffff);
                    epoch__d = epoch_next;
                    if (~good) begin
                        state__d = SubmitState__Refuse;
                    end
                    else if (busy) begin
                        status__d = ((32'h3) & 8'hff);
                        state__d = SubmitState__Refuse;
                    end
                    else begin
                        state__d = SubmitState__Senders;
                    end
                end
            SubmitState__Senders:
                begin
                    rank__d = rank_next;
                    if (rank__q != ((job[(64'h0)+:(6)]) & 7'h7f)) begin
                        if (own_beats__q != 32'h0) begin
                            contribute_senders__d = contribute_senders__q | rank_bit;
                        end
                        if (length != 32'h0) begin
                            broadcast_senders__d = broadcast_senders__q | rank_bit;
                        end
                    end
                    if (rank_next == job[(64'h6)+:(7)]) begin
                        state__d = SubmitState__Arm;
                        if (epoch__q == 32'h0) begin
                            epoch__d = ((32'h1) & 8'hff);
                            scrub = 1'b1;
                            state__d = SubmitState__Scrub;
                        end
                    end
                end
            SubmitState__Scrub:
                begin
                    if (~scrub_busy) begin
                        state__d = SubmitState__Arm;
                    end
                end
            SubmitState__Arm:
                begin
                    arm = slot_bit;
                    in_use__d = kept | slot_bit;
                    state__d = SubmitState__Next;
                end
            SubmitState__Contribute:
                begin
                    ordering = slot_bit;
                    if (ending) begin
                        status__d = ((32'h4) & 8'hff);
                        state__d = SubmitState__Refuse;
                    end
                    else begin
                        order_valid = 1'b1;
                        if (order_ready) begin
                            enter = slot_bit;
                            asked__d = (asked__q & kept) | slot_bit;
                            state__d = SubmitState__Next;
                        end
                    end
                end
            SubmitState__Broadcast:
                begin
                    ordering = slot_bit;
                    if (ending) begin
                        status__d = ((32'h4) & 8'hff);
                        state__d = SubmitState__Refuse;
                    end
                    else begin
                        send_valid = 1'b1;
                        if (send_ready) begin
                            state__d = SubmitState__Next;
                        end
                    end
                end
            SubmitState__Refuse:
                begin
                    if (refuse_ready) begin
                        refuse = 1'b1;
                        state__d = SubmitState__Next;
                    end
                end
            SubmitState__Next:
                begin
                    head__d = head_next;
                    state__d = SubmitState__Idle;
                end
        endcase
        working = (state__q != SubmitState__Idle) || (head__q != sq_tail);
        if (clear) begin
            state__d = SubmitState__Idle;
            head__d = ((32'h0) & 16'hffff);
            in_use__d = ((32'h0) & 8'hff);
            asked__d = ((32'h0) & 8'hff);
        end
    end
endmodule

module optireduce_card(clock,now_ns,reg_write,reg_write_address,reg_write_data,reg_read_address,reg_read_data,msix_request,axi_ar_valid,axi_ar_address,axi_ar_beats,axi_ar_ready,axi_r_valid,axi_r_data,axi_r_last,axi_r_error,axi_r_ready,axi_aw_valid,axi_aw_address,axi_aw_beats,axi_aw_ready,axi_w_valid,axi_w_data,axi_w_last,axi_w_ready,axi_b_valid,axi_b_error,rx_valid,rx_data,rx_last,rx_error,tx_valid,tx_data,tx_last,tx_ready,asleep,timer_ns,trace_arm,trace_cookie,trace_sum,trace_sum_place,trace_mean,trace_mean_place,trace_contribute_open,trace_broadcast_open);
    // Module arguments
    input wire  clock;
    input wire  [47:0] now_ns;
    input wire  reg_write;
    input wire  [9:0] reg_write_address;
    input wire  [31:0] reg_write_data;
    input wire  [9:0] reg_read_address;
    output reg  [31:0] reg_read_data;
    output reg  msix_request;
    output reg  axi_ar_valid;
    output reg  [63:0] axi_ar_address;
    output reg  [6:0] axi_ar_beats;
    input wire  axi_ar_ready;
    input wire  axi_r_valid;
    input wire  [511:0] axi_r_data;
    input wire  axi_r_last;
    input wire  axi_r_error;
    output reg  axi_r_ready;
    output reg  axi_aw_valid;
    output reg  [63:0] axi_aw_address;
    output reg  [6:0] axi_aw_beats;
    input wire  axi_aw_ready;
    output reg  axi_w_valid;
    output reg  [511:0] axi_w_data;
    output reg  axi_w_last;
    input wire  axi_w_ready;
    input wire  axi_b_valid;
    input wire  axi_b_error;
    input wire  rx_valid;
    input wire  [511:0] rx_data;
    input wire  rx_last;
    input wire  rx_error;
    output reg  tx_valid;
    output reg  [511:0] tx_data;
    output reg  tx_last;
    input wire  tx_ready;
    output reg  asleep;
    output reg  [47:0] timer_ns;
    output reg  [7:0] trace_arm;
    output reg  [31:0] trace_cookie;
    output reg  trace_sum;
    output reg  [22:0] trace_sum_place;
    output reg  trace_mean;
    output reg  [22:0] trace_mean_place;
    output reg  [7:0] trace_contribute_open;
    output reg  [7:0] trace_broadcast_open;
    // Stub signals
    reg  registers__clock;
    reg  registers__write;
    reg  [9:0] registers__write_address;
    reg  [31:0] registers__write_data;
    reg  [9:0] registers__read_address;
    wire  [31:0] registers__read_data;
    reg  [15:0] registers__sq_head;
    reg  [15:0] registers__cq_tail;
    reg  registers__dma_fault;
    reg  [13:0] registers__events;
    wire  registers__enable;
    wire  [199:0] registers__job;
    wire  [63:0] registers__sq_base;
    wire  [15:0] registers__sq_mask;
    wire  [15:0] registers__sq_tail;
    wire  [63:0] registers__cq_base;
    wire  [15:0] registers__cq_mask;
    wire  [15:0] registers__cq_head;
    wire  registers__dma_error;
    wire  registers__peer_write;
    wire  [7:0] registers__peer_word;
    reg  dma_read__clock;
    reg  dma_read__clear;
    reg  dma_read__submit_valid;
    reg  [63:0] dma_read__submit_address;
    wire  dma_read__submit_ready;
    wire  dma_read__submit_beat;
    reg  dma_read__contribute_valid;
    reg  [63:0] dma_read__contribute_address;
    reg  [6:0] dma_read__contribute_beats;
    wire  dma_read__contribute_ready;
    wire  dma_read__contribute_beat;
    reg  dma_read__contribute_take;
    wire  dma_read__ar_valid;
    wire  [63:0] dma_read__ar_address;
    wire  [6:0] dma_read__ar_beats;
    reg  dma_read__ar_ready;
    reg  dma_read__r_valid;
    reg  dma_read__r_last;
    wire  dma_read__r_ready;
    reg  submit__clock;
    reg  submit__clear;
    reg  [199:0] submit__job;
    reg  [63:0] submit__sq_base;
    reg  [15:0] submit__sq_mask;
    reg  [15:0] submit__sq_tail;
    wire  [15:0] submit__sq_head;
    wire  submit__ar_valid;
    wire  [63:0] submit__ar_address;
    reg  submit__ar_ready;
    reg  submit__r_valid;
    reg  [511:0] submit__r_data;
    reg  submit__r_error;
    wire  [7:0] submit__arm;
    wire  [2:0] submit__arm_slot;
    wire  [404:0] submit__arm_context;
    wire  [172:0] submit__contribute_rules;
    wire  [172:0] submit__broadcast_rules;
    wire  [7:0] submit__enter;
    wire  submit__order_valid;
    wire  [101:0] submit__order;
    reg  submit__order_ready;
    wire  submit__send_valid;
    wire  [24:0] submit__send;
    reg  submit__send_ready;
    reg  [7:0] submit__scaled;
    reg  [7:0] submit__freed;
    wire  submit__scrub;
    wire  [2:0] submit__scrub_slot;
    reg  submit__scrub_busy;
    reg  [7:0] submit__finishing;
    wire  [7:0] submit__ordering;
    reg  submit__refuse_ready;
    wire  submit__refuse;
    wire  [49:0] submit__refusal;
    wire  submit__working;
    reg  contribute__clock;
    reg  contribute__clear;
    reg  [199:0] contribute__job;
    reg  [7:0] contribute__arm;
    reg  [2:0] contribute__arm_slot;
    reg  [404:0] contribute__arm_context;
    reg  contribute__order_valid;
    reg  [101:0] contribute__order;
    wire  contribute__order_ready;
    wire  contribute__ar_valid;
    wire  [63:0] contribute__ar_address;
    wire  [6:0] contribute__ar_beats;
    reg  contribute__ar_ready;
    reg  contribute__r_valid;
    reg  [511:0] contribute__r_data;
    wire  contribute__r_ready;
    wire  contribute__own_valid;
    wire  [556:0] contribute__own;
    reg  contribute__own_ready;
    wire  contribute__send_valid;
    wire  [24:0] contribute__send;
    reg  contribute__send_ready;
    reg  contribute__read_valid;
    reg  [16:0] contribute__read_address;
    wire  [511:0] contribute__read_data;
    reg  [1:0] contribute__sent;
    wire  [7:0] contribute__held;
    wire  contribute__working;
    reg  planner__clock;
    reg  planner__clear;
    reg  [199:0] planner__job;
    reg  [7:0] planner__arm;
    reg  [2:0] planner__arm_slot;
    reg  [404:0] planner__arm_context;
    reg  planner__contribute_valid;
    reg  [24:0] planner__contribute;
    wire  planner__contribute_ready;
    reg  planner__broadcast_valid;
    reg  [24:0] planner__broadcast;
    wire  planner__ask_valid;
    wire  [16:0] planner__ask_address;
    reg  planner__ask_ready;
    reg  [519:0] planner__word;
    wire  planner__valid;
    wire  [114:0] planner__order;
    reg  planner__ready;
    wire  planner__working;
    reg  builder__clock;
    reg  builder__clear;
    reg  [199:0] builder__job;
    reg  builder__peer_write;
    reg  [7:0] builder__peer_word;
    reg  [31:0] builder__peer_data;
    reg  builder__order_valid;
    reg  [114:0] builder__order;
    wire  builder__order_ready;
    wire  builder__buffer_valid;
    wire  [16:0] builder__buffer_address;
    reg  [511:0] builder__buffer_data;
    wire  builder__gather_valid;
    wire  [16:0] builder__gather_address;
    reg  [519:0] builder__gather_word;
    wire  [1:0] builder__sent_bank;
    wire  [7:0] builder__sent_slot;
    wire  builder__mac_valid;
    wire  [512:0] builder__mac;
    reg  builder__mac_ready;
    wire  builder__began;
    wire  builder__working;
    reg  rx_buffer__clock;
    reg  rx_buffer__clear;
    reg  rx_buffer__rx_valid;
    reg  [511:0] rx_buffer__rx_data;
    reg  rx_buffer__rx_last;
    reg  rx_buffer__rx_error;
    wire  rx_buffer__valid;
    wire  [512:0] rx_buffer__data;
    wire  [9:0] rx_buffer__frame_beats;
    reg  rx_buffer__pop;
    wire  rx_buffer__stored;
    wire  rx_buffer__dropped;
    reg  parser__clock;
    reg  [199:0] parser__job;
    reg  parser__in_valid;
    reg  [512:0] parser__in_data;
    reg  [9:0] parser__frame_beats;
    wire  parser__pop;
    reg  parser__stall;
    wire  parser__valid;
    wire  parser__head;
    wire  [77:0] parser__header;
    wire  [511:0] parser__data;
    wire  parser__empty;
    wire  parser__drop_foreign;
    wire  parser__drop_malformed;
    wire  parser__drop_version;
    wire  parser__drop_job;
    reg  lookup__clock;
    reg  lookup__clear;
    reg  [199:0] lookup__job;
    reg  [7:0] lookup__arm;
    reg  [2:0] lookup__arm_slot;
    reg  [404:0] lookup__arm_context;
    reg  [7:0] lookup__freed;
    reg  lookup__stall;
    reg  lookup__in_valid;
    reg  lookup__in_head;
    reg  [77:0] lookup__in_header;
    reg  [511:0] lookup__in_data;
    wire  lookup__valid;
    wire  lookup__broadcast;
    wire  [556:0] lookup__beat;
    wire  lookup__packet;
    wire  lookup__mark;
    wire  lookup__empty;
    wire  lookup__drop_no_window;
    wire  lookup__drop_flags;
    wire  lookup__drop_out_of_shard;
    reg  gate__0__clock;
    reg  gate__0__clear;
    reg  [47:0] gate__0__now_ns;
    reg  gate__0__arm;
    reg  [172:0] gate__0__rules;
    reg  gate__0__enter;
    reg  gate__0__packet;
    reg  [63:0] gate__0__sender;
    reg  gate__0__mark;
    reg  gate__0__beat;
    reg  gate__0__own;
    reg  gate__0__quiet;
    reg  gate__0__free;
    wire  gate__0__open;
    wire  gate__0__closed;
    wire  [205:0] gate__0__report;
    wire  [47:0] gate__0__timer_ns;
    reg  gate__1__clock;
    reg  gate__1__clear;
    reg  [47:0] gate__1__now_ns;
    reg  gate__1__arm;
    reg  [172:0] gate__1__rules;
    reg  gate__1__enter;
    reg  gate__1__packet;
    reg  [63:0] gate__1__sender;
    reg  gate__1__mark;
    reg  gate__1__beat;
    reg  gate__1__own;
    reg  gate__1__quiet;
    reg  gate__1__free;
    wire  gate__1__open;
    wire  gate__1__closed;
    wire  [205:0] gate__1__report;
    wire  [47:0] gate__1__timer_ns;
    reg  gate__2__clock;
    reg  gate__2__clear;
    reg  [47:0] gate__2__now_ns;
    reg  gate__2__arm;
    reg  [172:0] gate__2__rules;
    reg  gate__2__enter;
    reg  gate__2__packet;
    reg  [63:0] gate__2__sender;
    reg  gate__2__mark;
    reg  gate__2__beat;
    reg  gate__2__own;
    reg  gate__2__quiet;
    reg  gate__2__free;
    wire  gate__2__open;
    wire  gate__2__closed;
    wire  [205:0] gate__2__report;
    wire  [47:0] gate__2__timer_ns;
    reg  gate__3__clock;
    reg  gate__3__clear;
    reg  [47:0] gate__3__now_ns;
    reg  gate__3__arm;
    reg  [172:0] gate__3__rules;
    reg  gate__3__enter;
    reg  gate__3__packet;
    reg  [63:0] gate__3__sender;
    reg  gate__3__mark;
    reg  gate__3__beat;
    reg  gate__3__own;
    reg  gate__3__quiet;
    reg  gate__3__free;
    wire  gate__3__open;
    wire  gate__3__closed;
    wire  [205:0] gate__3__report;
    wire  [47:0] gate__3__timer_ns;
    reg  gate__4__clock;
    reg  gate__4__clear;
    reg  [47:0] gate__4__now_ns;
    reg  gate__4__arm;
    reg  [172:0] gate__4__rules;
    reg  gate__4__enter;
    reg  gate__4__packet;
    reg  [63:0] gate__4__sender;
    reg  gate__4__mark;
    reg  gate__4__beat;
    reg  gate__4__own;
    reg  gate__4__quiet;
    reg  gate__4__free;
    wire  gate__4__open;
    wire  gate__4__closed;
    wire  [205:0] gate__4__report;
    wire  [47:0] gate__4__timer_ns;
    reg  gate__5__clock;
    reg  gate__5__clear;
    reg  [47:0] gate__5__now_ns;
    reg  gate__5__arm;
    reg  [172:0] gate__5__rules;
    reg  gate__5__enter;
    reg  gate__5__packet;
    reg  [63:0] gate__5__sender;
    reg  gate__5__mark;
    reg  gate__5__beat;
    reg  gate__5__own;
    reg  gate__5__quiet;
    reg  gate__5__free;
    wire  gate__5__open;
    wire  gate__5__closed;
    wire  [205:0] gate__5__report;
    wire  [47:0] gate__5__timer_ns;
    reg  gate__6__clock;
    reg  gate__6__clear;
    reg  [47:0] gate__6__now_ns;
    reg  gate__6__arm;
    reg  [172:0] gate__6__rules;
    reg  gate__6__enter;
    reg  gate__6__packet;
    reg  [63:0] gate__6__sender;
    reg  gate__6__mark;
    reg  gate__6__beat;
    reg  gate__6__own;
    reg  gate__6__quiet;
    reg  gate__6__free;
    wire  gate__6__open;
    wire  gate__6__closed;
    wire  [205:0] gate__6__report;
    wire  [47:0] gate__6__timer_ns;
    reg  gate__7__clock;
    reg  gate__7__clear;
    reg  [47:0] gate__7__now_ns;
    reg  gate__7__arm;
    reg  [172:0] gate__7__rules;
    reg  gate__7__enter;
    reg  gate__7__packet;
    reg  [63:0] gate__7__sender;
    reg  gate__7__mark;
    reg  gate__7__beat;
    reg  gate__7__own;
    reg  gate__7__quiet;
    reg  gate__7__free;
    wire  gate__7__open;
    wire  gate__7__closed;
    wire  [205:0] gate__7__report;
    wire  [47:0] gate__7__timer_ns;
    reg  gate__8__clock;
    reg  gate__8__clear;
    reg  [47:0] gate__8__now_ns;
    reg  gate__8__arm;
    reg  [172:0] gate__8__rules;
    reg  gate__8__enter;
    reg  gate__8__packet;
    reg  [63:0] gate__8__sender;
    reg  gate__8__mark;
    reg  gate__8__beat;
    reg  gate__8__own;
    reg  gate__8__quiet;
    reg  gate__8__free;
    wire  gate__8__open;
    wire  gate__8__closed;
    wire  [205:0] gate__8__report;
    wire  [47:0] gate__8__timer_ns;
    reg  gate__9__clock;
    reg  gate__9__clear;
    reg  [47:0] gate__9__now_ns;
    reg  gate__9__arm;
    reg  [172:0] gate__9__rules;
    reg  gate__9__enter;
    reg  gate__9__packet;
    reg  [63:0] gate__9__sender;
    reg  gate__9__mark;
    reg  gate__9__beat;
    reg  gate__9__own;
    reg  gate__9__quiet;
    reg  gate__9__free;
    wire  gate__9__open;
    wire  gate__9__closed;
    wire  [205:0] gate__9__report;
    wire  [47:0] gate__9__timer_ns;
    reg  gate__10__clock;
    reg  gate__10__clear;
    reg  [47:0] gate__10__now_ns;
    reg  gate__10__arm;
    reg  [172:0] gate__10__rules;
    reg  gate__10__enter;
    reg  gate__10__packet;
    reg  [63:0] gate__10__sender;
    reg  gate__10__mark;
    reg  gate__10__beat;
    reg  gate__10__own;
    reg  gate__10__quiet;
    reg  gate__10__free;
    wire  gate__10__open;
    wire  gate__10__closed;
    wire  [205:0] gate__10__report;
    wire  [47:0] gate__10__timer_ns;
    reg  gate__11__clock;
    reg  gate__11__clear;
    reg  [47:0] gate__11__now_ns;
    reg  gate__11__arm;
    reg  [172:0] gate__11__rules;
    reg  gate__11__enter;
    reg  gate__11__packet;
    reg  [63:0] gate__11__sender;
    reg  gate__11__mark;
    reg  gate__11__beat;
    reg  gate__11__own;
    reg  gate__11__quiet;
    reg  gate__11__free;
    wire  gate__11__open;
    wire  gate__11__closed;
    wire  [205:0] gate__11__report;
    wire  [47:0] gate__11__timer_ns;
    reg  gate__12__clock;
    reg  gate__12__clear;
    reg  [47:0] gate__12__now_ns;
    reg  gate__12__arm;
    reg  [172:0] gate__12__rules;
    reg  gate__12__enter;
    reg  gate__12__packet;
    reg  [63:0] gate__12__sender;
    reg  gate__12__mark;
    reg  gate__12__beat;
    reg  gate__12__own;
    reg  gate__12__quiet;
    reg  gate__12__free;
    wire  gate__12__open;
    wire  gate__12__closed;
    wire  [205:0] gate__12__report;
    wire  [47:0] gate__12__timer_ns;
    reg  gate__13__clock;
    reg  gate__13__clear;
    reg  [47:0] gate__13__now_ns;
    reg  gate__13__arm;
    reg  [172:0] gate__13__rules;
    reg  gate__13__enter;
    reg  gate__13__packet;
    reg  [63:0] gate__13__sender;
    reg  gate__13__mark;
    reg  gate__13__beat;
    reg  gate__13__own;
    reg  gate__13__quiet;
    reg  gate__13__free;
    wire  gate__13__open;
    wire  gate__13__closed;
    wire  [205:0] gate__13__report;
    wire  [47:0] gate__13__timer_ns;
    reg  gate__14__clock;
    reg  gate__14__clear;
    reg  [47:0] gate__14__now_ns;
    reg  gate__14__arm;
    reg  [172:0] gate__14__rules;
    reg  gate__14__enter;
    reg  gate__14__packet;
    reg  [63:0] gate__14__sender;
    reg  gate__14__mark;
    reg  gate__14__beat;
    reg  gate__14__own;
    reg  gate__14__quiet;
    reg  gate__14__free;
    wire  gate__14__open;
    wire  gate__14__closed;
    wire  [205:0] gate__14__report;
    wire  [47:0] gate__14__timer_ns;
    reg  gate__15__clock;
    reg  gate__15__clear;
    reg  [47:0] gate__15__now_ns;
    reg  gate__15__arm;
    reg  [172:0] gate__15__rules;
    reg  gate__15__enter;
    reg  gate__15__packet;
    reg  [63:0] gate__15__sender;
    reg  gate__15__mark;
    reg  gate__15__beat;
    reg  gate__15__own;
    reg  gate__15__quiet;
    reg  gate__15__free;
    wire  gate__15__open;
    wire  gate__15__closed;
    wire  [205:0] gate__15__report;
    wire  [47:0] gate__15__timer_ns;
    reg  reduce__clock;
    reg  [7:0] reduce__open;
    reg  reduce__rx_valid;
    reg  [556:0] reduce__rx;
    wire  reduce__rx_ready;
    reg  reduce__own_valid;
    reg  [556:0] reduce__own;
    wire  reduce__own_ready;
    wire  reduce__accepted;
    wire  reduce__accepted_own;
    wire  [556:0] reduce__decided;
    wire  reduce__drop_late;
    wire  reduce__drop_duplicate;
    reg  reduce__scale_valid;
    reg  [16:0] reduce__scale_address;
    wire  reduce__scale_ready;
    wire  [590:0] reduce__scale_word;
    reg  [8:0] reduce__count_address;
    reg  [7:0] reduce__count_epoch;
    wire  [15:0] reduce__count;
    reg  [14:0] reduce__window_beats;
    reg  reduce__scrub;
    reg  [2:0] reduce__scrub_slot;
    wire  reduce__scrub_busy;
    reg  scale__clock;
    reg  scale__clear;
    reg  [7:0] scale__arm;
    reg  [2:0] scale__arm_slot;
    reg  [404:0] scale__arm_context;
    reg  [7:0] scale__closed;
    wire  [7:0] scale__scaled;
    wire  scale__read_valid;
    wire  [16:0] scale__read_address;
    reg  scale__read_ready;
    reg  [590:0] scale__word;
    wire  scale__valid;
    wire  [556:0] scale__mean;
    reg  scale__ready;
    wire  scale__broadcast;
    wire  [2:0] scale__broadcast_slot;
    wire  scale__working;
    reg  gather__clock;
    reg  [7:0] gather__open;
    reg  gather__rx_valid;
    reg  [556:0] gather__rx;
    wire  gather__accepted;
    wire  [556:0] gather__decided;
    wire  gather__drop_late;
    wire  gather__drop_duplicate;
    reg  gather__scaled_valid;
    reg  [556:0] gather__scaled;
    wire  gather__scaled_ready;
    reg  gather__send_valid;
    reg  [16:0] gather__send_address;
    reg  gather__finish_valid;
    reg  [16:0] gather__finish_address;
    wire  gather__finish_ready;
    wire  [519:0] gather__word;
    reg  [8:0] gather__count_address;
    reg  [7:0] gather__count_epoch;
    wire  [15:0] gather__count;
    reg  [14:0] gather__window_beats;
    reg  gather__scrub;
    reg  [2:0] gather__scrub_slot;
    wire  gather__scrub_busy;
    reg  finisher__clock;
    reg  finisher__clear;
    reg  [199:0] finisher__job;
    reg  [7:0] finisher__arm;
    reg  [2:0] finisher__arm_slot;
    reg  [404:0] finisher__arm_context;
    wire  finisher__refuse_ready;
    reg  finisher__refuse;
    reg  [49:0] finisher__refusal;
    reg  [7:0] finisher__scaled;
    reg  [7:0] finisher__broadcast_closed;
    reg  [7:0] finisher__sending;
    wire  [7:0] finisher__finishing;
    wire  [2:0] finisher__slot;
    wire  finisher__broadcast;
    reg  [205:0] finisher__gate;
    wire  [8:0] finisher__count_address;
    wire  [7:0] finisher__count_epoch;
    reg  [15:0] finisher__contribute_count;
    reg  [15:0] finisher__broadcast_count;
    wire  finisher__read_valid;
    wire  [16:0] finisher__read_address;
    reg  finisher__read_ready;
    reg  [519:0] finisher__word;
    reg  [63:0] finisher__cq_base;
    reg  [15:0] finisher__cq_mask;
    reg  [15:0] finisher__cq_head;
    reg  [15:0] finisher__sq_head;
    wire  [15:0] finisher__cq_tail;
    wire  finisher__aw_valid;
    wire  [63:0] finisher__aw_address;
    wire  [6:0] finisher__aw_beats;
    reg  finisher__aw_ready;
    wire  finisher__w_valid;
    wire  [511:0] finisher__w_data;
    wire  finisher__w_last;
    reg  finisher__w_ready;
    reg  finisher__b_valid;
    reg  finisher__dma_error;
    wire  [7:0] finisher__freed;
    wire  finisher__msix_request;
    wire  finisher__working;
    reg  [7:0] sending__d;
    wire  [7:0] sending__q;
    reg  sending__clock;
    reg  [3:0] scan__d;
    wire  [3:0] scan__q;
    reg  scan__clock;
    reg  [47:0] nearest__d;
    wire  [47:0] nearest__q;
    reg  nearest__clock;
    reg  [47:0] timer__d;
    wire  [47:0] timer__q;
    reg  timer__clock;
    // Local signals
    reg  clear;
    reg  stall;
    reg  quiet;
    reg  to_reduce;
    reg  to_gather;
    reg  [7:0] contribute_open;
    reg  [7:0] contribute_closed;
    reg  [7:0] broadcast_open;
    reg  [7:0] broadcast_closed;
    reg  [63:0] one64;
    reg  [7:0] one8;
    reg  [63:0] sender;
    reg  [7:0] packet_slot;
    reg  [7:0] packet_contribute;
    reg  [7:0] packet_broadcast;
    reg  [7:0] sum_slot;
    reg  [7:0] mean_slot;
    reg  [7:0] finish_slot;
    reg  [205:0] finish_gate;
    reg  auto_valid;
    reg  [24:0] send;
    reg  [7:0] send_slot;
    reg  [7:0] unsent;
    reg  [47:0] looked_at;
    reg  [3:0] scan_next;
    reg  [15:0] scan_bit;
    reg  [15:0] one16;
    reg  [404:0] ctx;
    reg  [13:0] events;
    // Sub module instances
    optireduce_registers registers(
        .clock(registers__clock),
        .write(registers__write),
        .write_address(registers__write_address),
        .write_data(registers__write_data),
        .read_address(registers__read_address),
        .read_data(registers__read_data),
        .sq_head(registers__sq_head),
        .cq_tail(registers__cq_tail),
        .dma_fault(registers__dma_fault),
        .events(registers__events),
        .enable(registers__enable),
        .job(registers__job),
        .sq_base(registers__sq_base),
        .sq_mask(registers__sq_mask),
        .sq_tail(registers__sq_tail),
        .cq_base(registers__cq_base),
        .cq_mask(registers__cq_mask),
        .cq_head(registers__cq_head),
        .dma_error(registers__dma_error),
        .peer_write(registers__peer_write),
        .peer_word(registers__peer_word)
    );
    optireduce_dma_read dma_read(
        .clock(dma_read__clock),
        .clear(dma_read__clear),
        .submit_valid(dma_read__submit_valid),
        .submit_address(dma_read__submit_address),
        .submit_ready(dma_read__submit_ready),
        .submit_beat(dma_read__submit_beat),
        .contribute_valid(dma_read__contribute_valid),
        .contribute_address(dma_read__contribute_address),
        .contribute_beats(dma_read__contribute_beats),
        .contribute_ready(dma_read__contribute_ready),
        .contribute_beat(dma_read__contribute_beat),
        .contribute_take(dma_read__contribute_take),
        .ar_valid(dma_read__ar_valid),
        .ar_address(dma_read__ar_address),
        .ar_beats(dma_read__ar_beats),
        .ar_ready(dma_read__ar_ready),
        .r_valid(dma_read__r_valid),
        .r_last(dma_read__r_last),
        .r_ready(dma_read__r_ready)
    );
    optireduce_submit submit(
        .clock(submit__clock),
        .clear(submit__clear),
        .job(submit__job),
        .sq_base(submit__sq_base),
        .sq_mask(submit__sq_mask),
        .sq_tail(submit__sq_tail),
        .sq_head(submit__sq_head),
        .ar_valid(submit__ar_valid),
        .ar_address(submit__ar_address),
        .ar_ready(submit__ar_ready),
        .r_valid(submit__r_valid),
        .r_data(submit__r_data),
        .r_error(submit__r_error),
        .arm(submit__arm),
        .arm_slot(submit__arm_slot),
        .arm_context(submit__arm_context),
        .contribute_rules(submit__contribute_rules),
        .broadcast_rules(submit__broadcast_rules),
        .enter(submit__enter),
        .order_valid(submit__order_valid),
        .order(submit__order),
        .order_ready(submit__order_ready),
        .send_valid(submit__send_valid),
        .send(submit__send),
        .send_ready(submit__send_ready),
        .scaled(submit__scaled),
        .freed(submit__freed),
        .scrub(submit__scrub),
        .scrub_slot(submit__scrub_slot),
        .scrub_busy(submit__scrub_busy),
        .finishing(submit__finishing),
        .ordering(submit__ordering),
        .refuse_ready(submit__refuse_ready),
        .refuse(submit__refuse),
        .refusal(submit__refusal),
        .working(submit__working)
    );
    optireduce_contribute contribute(
        .clock(contribute__clock),
        .clear(contribute__clear),
        .job(contribute__job),
        .arm(contribute__arm),
        .arm_slot(contribute__arm_slot),
        .arm_context(contribute__arm_context),
        .order_valid(contribute__order_valid),
        .order(contribute__order),
        .order_ready(contribute__order_ready),
        .ar_valid(contribute__ar_valid),
        .ar_address(contribute__ar_address),
        .ar_beats(contribute__ar_beats),
        .ar_ready(contribute__ar_ready),
        .r_valid(contribute__r_valid),
        .r_data(contribute__r_data),
        .r_ready(contribute__r_ready),
        .own_valid(contribute__own_valid),
        .own(contribute__own),
        .own_ready(contribute__own_ready),
        .send_valid(contribute__send_valid),
        .send(contribute__send),
        .send_ready(contribute__send_ready),
        .read_valid(contribute__read_valid),
        .read_address(contribute__read_address),
        .read_data(contribute__read_data),
        .sent(contribute__sent),
        .held(contribute__held),
        .working(contribute__working)
    );
    optireduce_planner planner(
        .clock(planner__clock),
        .clear(planner__clear),
        .job(planner__job),
        .arm(planner__arm),
        .arm_slot(planner__arm_slot),
        .arm_context(planner__arm_context),
        .contribute_valid(planner__contribute_valid),
        .contribute(planner__contribute),
        .contribute_ready(planner__contribute_ready),
        .broadcast_valid(planner__broadcast_valid),
        .broadcast(planner__broadcast),
        .ask_valid(planner__ask_valid),
        .ask_address(planner__ask_address),
        .ask_ready(planner__ask_ready),
        .word(planner__word),
        .valid(planner__valid),
        .order(planner__order),
        .ready(planner__ready),
        .working(planner__working)
    );
    optireduce_builder builder(
        .clock(builder__clock),
        .clear(builder__clear),
        .job(builder__job),
        .peer_write(builder__peer_write),
        .peer_word(builder__peer_word),
        .peer_data(builder__peer_data),
        .order_valid(builder__order_valid),
        .order(builder__order),
        .order_ready(builder__order_ready),
        .buffer_valid(builder__buffer_valid),
        .buffer_address(builder__buffer_address),
        .buffer_data(builder__buffer_data),
        .gather_valid(builder__gather_valid),
        .gather_address(builder__gather_address),
        .gather_word(builder__gather_word),
        .sent_bank(builder__sent_bank),
        .sent_slot(builder__sent_slot),
        .mac_valid(builder__mac_valid),
        .mac(builder__mac),
        .mac_ready(builder__mac_ready),
        .began(builder__began),
        .working(builder__working)
    );
    optireduce_rx_buffer rx_buffer(
        .clock(rx_buffer__clock),
        .clear(rx_buffer__clear),
        .rx_valid(rx_buffer__rx_valid),
        .rx_data(rx_buffer__rx_data),
        .rx_last(rx_buffer__rx_last),
        .rx_error(rx_buffer__rx_error),
        .valid(rx_buffer__valid),
        .data(rx_buffer__data),
        .frame_beats(rx_buffer__frame_beats),
        .pop(rx_buffer__pop),
        .stored(rx_buffer__stored),
        .dropped(rx_buffer__dropped)
    );
    optireduce_parser parser(
        .clock(parser__clock),
        .job(parser__job),
        .in_valid(parser__in_valid),
        .in_data(parser__in_data),
        .frame_beats(parser__frame_beats),
        .pop(parser__pop),
        .stall(parser__stall),
        .valid(parser__valid),
        .head(parser__head),
        .header(parser__header),
        .data(parser__data),
        .empty(parser__empty),
        .drop_foreign(parser__drop_foreign),
        .drop_malformed(parser__drop_malformed),
        .drop_version(parser__drop_version),
        .drop_job(parser__drop_job)
    );
    optireduce_lookup lookup(
        .clock(lookup__clock),
        .clear(lookup__clear),
        .job(lookup__job),
        .arm(lookup__arm),
        .arm_slot(lookup__arm_slot),
        .arm_context(lookup__arm_context),
        .freed(lookup__freed),
        .stall(lookup__stall),
        .in_valid(lookup__in_valid),
        .in_head(lookup__in_head),
        .in_header(lookup__in_header),
        .in_data(lookup__in_data),
        .valid(lookup__valid),
        .broadcast(lookup__broadcast),
        .beat(lookup__beat),
        .packet(lookup__packet),
        .mark(lookup__mark),
        .empty(lookup__empty),
        .drop_no_window(lookup__drop_no_window),
        .drop_flags(lookup__drop_flags),
        .drop_out_of_shard(lookup__drop_out_of_shard)
    );
    optireduce_gate__0 gate__0(
        .clock(gate__0__clock),
        .clear(gate__0__clear),
        .now_ns(gate__0__now_ns),
        .arm(gate__0__arm),
        .rules(gate__0__rules),
        .enter(gate__0__enter),
        .packet(gate__0__packet),
        .sender(gate__0__sender),
        .mark(gate__0__mark),
        .beat(gate__0__beat),
        .own(gate__0__own),
        .quiet(gate__0__quiet),
        .free(gate__0__free),
        .open(gate__0__open),
        .closed(gate__0__closed),
        .report(gate__0__report),
        .timer_ns(gate__0__timer_ns)
    );
    optireduce_gate__0 gate__1(
        .clock(gate__1__clock),
        .clear(gate__1__clear),
        .now_ns(gate__1__now_ns),
        .arm(gate__1__arm),
        .rules(gate__1__rules),
        .enter(gate__1__enter),
        .packet(gate__1__packet),
        .sender(gate__1__sender),
        .mark(gate__1__mark),
        .beat(gate__1__beat),
        .own(gate__1__own),
        .quiet(gate__1__quiet),
        .free(gate__1__free),
        .open(gate__1__open),
        .closed(gate__1__closed),
        .report(gate__1__report),
        .timer_ns(gate__1__timer_ns)
    );
    optireduce_gate__0 gate__2(
        .clock(gate__2__clock),
        .clear(gate__2__clear),
        .now_ns(gate__2__now_ns),
        .arm(gate__2__arm),
        .rules(gate__2__rules),
        .enter(gate__2__enter),
        .packet(gate__2__packet),
        .sender(gate__2__sender),
        .mark(gate__2__mark),
        .beat(gate__2__beat),
        .own(gate__2__own),
        .quiet(gate__2__quiet),
        .free(gate__2__free),
        .open(gate__2__open),
        .closed(gate__2__closed),
        .report(gate__2__report),
        .timer_ns(gate__2__timer_ns)
    );
    optireduce_gate__0 gate__3(
        .clock(gate__3__clock),
        .clear(gate__3__clear),
        .now_ns(gate__3__now_ns),
        .arm(gate__3__arm),
        .rules(gate__3__rules),
        .enter(gate__3__enter),
        .packet(gate__3__packet),
        .sender(gate__3__sender),
        .mark(gate__3__mark),
        .beat(gate__3__beat),
        .own(gate__3__own),
        .quiet(gate__3__quiet),
        .free(gate__3__free),
        .open(gate__3__open),
        .closed(gate__3__closed),
        .report(gate__3__report),
        .timer_ns(gate__3__timer_ns)
    );
    optireduce_gate__0 gate__4(
        .clock(gate__4__clock),
        .clear(gate__4__clear),
        .now_ns(gate__4__now_ns),
        .arm(gate__4__arm),
        .rules(gate__4__rules),
        .enter(gate__4__enter),
        .packet(gate__4__packet),
        .sender(gate__4__sender),
        .mark(gate__4__mark),
        .beat(gate__4__beat),
        .own(gate__4__own),
        .quiet(gate__4__quiet),
        .free(gate__4__free),
        .open(gate__4__open),
        .closed(gate__4__closed),
        .report(gate__4__report),
        .timer_ns(gate__4__timer_ns)
    );
    optireduce_gate__0 gate__5(
        .clock(gate__5__clock),
        .clear(gate__5__clear),
        .now_ns(gate__5__now_ns),
        .arm(gate__5__arm),
        .rules(gate__5__rules),
        .enter(gate__5__enter),
        .packet(gate__5__packet),
        .sender(gate__5__sender),
        .mark(gate__5__mark),
        .beat(gate__5__beat),
        .own(gate__5__own),
        .quiet(gate__5__quiet),
        .free(gate__5__free),
        .open(gate__5__open),
        .closed(gate__5__closed),
        .report(gate__5__report),
        .timer_ns(gate__5__timer_ns)
    );
    optireduce_gate__0 gate__6(
        .clock(gate__6__clock),
        .clear(gate__6__clear),
        .now_ns(gate__6__now_ns),
        .arm(gate__6__arm),
        .rules(gate__6__rules),
        .enter(gate__6__enter),
        .packet(gate__6__packet),
        .sender(gate__6__sender),
        .mark(gate__6__mark),
        .beat(gate__6__beat),
        .own(gate__6__own),
        .quiet(gate__6__quiet),
        .free(gate__6__free),
        .open(gate__6__open),
        .closed(gate__6__closed),
        .report(gate__6__report),
        .timer_ns(gate__6__timer_ns)
    );
    optireduce_gate__0 gate__7(
        .clock(gate__7__clock),
        .clear(gate__7__clear),
        .now_ns(gate__7__now_ns),
        .arm(gate__7__arm),
        .rules(gate__7__rules),
        .enter(gate__7__enter),
        .packet(gate__7__packet),
        .sender(gate__7__sender),
        .mark(gate__7__mark),
        .beat(gate__7__beat),
        .own(gate__7__own),
        .quiet(gate__7__quiet),
        .free(gate__7__free),
        .open(gate__7__open),
        .closed(gate__7__closed),
        .report(gate__7__report),
        .timer_ns(gate__7__timer_ns)
    );
    optireduce_gate__0 gate__8(
        .clock(gate__8__clock),
        .clear(gate__8__clear),
        .now_ns(gate__8__now_ns),
        .arm(gate__8__arm),
        .rules(gate__8__rules),
        .enter(gate__8__enter),
        .packet(gate__8__packet),
        .sender(gate__8__sender),
        .mark(gate__8__mark),
        .beat(gate__8__beat),
        .own(gate__8__own),
        .quiet(gate__8__quiet),
        .free(gate__8__free),
        .open(gate__8__open),
        .closed(gate__8__closed),
        .report(gate__8__report),
        .timer_ns(gate__8__timer_ns)
    );
    optireduce_gate__0 gate__9(
        .clock(gate__9__clock),
        .clear(gate__9__clear),
        .now_ns(gate__9__now_ns),
        .arm(gate__9__arm),
        .rules(gate__9__rules),
        .enter(gate__9__enter),
        .packet(gate__9__packet),
        .sender(gate__9__sender),
        .mark(gate__9__mark),
        .beat(gate__9__beat),
        .own(gate__9__own),
        .quiet(gate__9__quiet),
        .free(gate__9__free),
        .open(gate__9__open),
        .closed(gate__9__closed),
        .report(gate__9__report),
        .timer_ns(gate__9__timer_ns)
    );
    optireduce_gate__0 gate__10(
        .clock(gate__10__clock),
        .clear(gate__10__clear),
        .now_ns(gate__10__now_ns),
        .arm(gate__10__arm),
        .rules(gate__10__rules),
        .enter(gate__10__enter),
        .packet(gate__10__packet),
        .sender(gate__10__sender),
        .mark(gate__10__mark),
        .beat(gate__10__beat),
        .own(gate__10__own),
        .quiet(gate__10__quiet),
        .free(gate__10__free),
        .open(gate__10__open),
        .closed(gate__10__closed),
        .report(gate__10__report),
        .timer_ns(gate__10__timer_ns)
    );
    optireduce_gate__0 gate__11(
        .clock(gate__11__clock),
        .clear(gate__11__clear),
        .now_ns(gate__11__now_ns),
        .arm(gate__11__arm),
        .rules(gate__11__rules),
        .enter(gate__11__enter),
        .packet(gate__11__packet),
        .sender(gate__11__sender),
        .mark(gate__11__mark),
        .beat(gate__11__beat),
        .own(gate__11__own),
        .quiet(gate__11__quiet),
        .free(gate__11__free),
        .open(gate__11__open),
        .closed(gate__11__closed),
        .report(gate__11__report),
        .timer_ns(gate__11__timer_ns)
    );
    optireduce_gate__0 gate__12(
        .clock(gate__12__clock),
        .clear(gate__12__clear),
        .now_ns(gate__12__now_ns),
        .arm(gate__12__arm),
        .rules(gate__12__rules),
        .enter(gate__12__enter),
        .packet(gate__12__packet),
        .sender(gate__12__sender),
        .mark(gate__12__mark),
        .beat(gate__12__beat),
        .own(gate__12__own),
        .quiet(gate__12__quiet),
        .free(gate__12__free),
        .open(gate__12__open),
        .closed(gate__12__closed),
        .report(gate__12__report),
        .timer_ns(gate__12__timer_ns)
    );
    optireduce_gate__0 gate__13(
        .clock(gate__13__clock),
        .clear(gate__13__clear),
        .now_ns(gate__13__now_ns),
        .arm(gate__13__arm),
        .rules(gate__13__rules),
        .enter(gate__13__enter),
        .packet(gate__13__packet),
        .sender(gate__13__sender),
        .mark(gate__13__mark),
        .beat(gate__13__beat),
        .own(gate__13__own),
        .quiet(gate__13__quiet),
        .free(gate__13__free),
        .open(gate__13__open),
        .closed(gate__13__closed),
        .report(gate__13__report),
        .timer_ns(gate__13__timer_ns)
    );
    optireduce_gate__0 gate__14(
        .clock(gate__14__clock),
        .clear(gate__14__clear),
        .now_ns(gate__14__now_ns),
        .arm(gate__14__arm),
        .rules(gate__14__rules),
        .enter(gate__14__enter),
        .packet(gate__14__packet),
        .sender(gate__14__sender),
        .mark(gate__14__mark),
        .beat(gate__14__beat),
        .own(gate__14__own),
        .quiet(gate__14__quiet),
        .free(gate__14__free),
        .open(gate__14__open),
        .closed(gate__14__closed),
        .report(gate__14__report),
        .timer_ns(gate__14__timer_ns)
    );
    optireduce_gate__0 gate__15(
        .clock(gate__15__clock),
        .clear(gate__15__clear),
        .now_ns(gate__15__now_ns),
        .arm(gate__15__arm),
        .rules(gate__15__rules),
        .enter(gate__15__enter),
        .packet(gate__15__packet),
        .sender(gate__15__sender),
        .mark(gate__15__mark),
        .beat(gate__15__beat),
        .own(gate__15__own),
        .quiet(gate__15__quiet),
        .free(gate__15__free),
        .open(gate__15__open),
        .closed(gate__15__closed),
        .report(gate__15__report),
        .timer_ns(gate__15__timer_ns)
    );
    optireduce_reduce reduce(
        .clock(reduce__clock),
        .open(reduce__open),
        .rx_valid(reduce__rx_valid),
        .rx(reduce__rx),
        .rx_ready(reduce__rx_ready),
        .own_valid(reduce__own_valid),
        .own(reduce__own),
        .own_ready(reduce__own_ready),
        .accepted(reduce__accepted),
        .accepted_own(reduce__accepted_own),
        .decided(reduce__decided),
        .drop_late(reduce__drop_late),
        .drop_duplicate(reduce__drop_duplicate),
        .scale_valid(reduce__scale_valid),
        .scale_address(reduce__scale_address),
        .scale_ready(reduce__scale_ready),
        .scale_word(reduce__scale_word),
        .count_address(reduce__count_address),
        .count_epoch(reduce__count_epoch),
        .count(reduce__count),
        .window_beats(reduce__window_beats),
        .scrub(reduce__scrub),
        .scrub_slot(reduce__scrub_slot),
        .scrub_busy(reduce__scrub_busy)
    );
    optireduce_scale scale(
        .clock(scale__clock),
        .clear(scale__clear),
        .arm(scale__arm),
        .arm_slot(scale__arm_slot),
        .arm_context(scale__arm_context),
        .closed(scale__closed),
        .scaled(scale__scaled),
        .read_valid(scale__read_valid),
        .read_address(scale__read_address),
        .read_ready(scale__read_ready),
        .word(scale__word),
        .valid(scale__valid),
        .mean(scale__mean),
        .ready(scale__ready),
        .broadcast(scale__broadcast),
        .broadcast_slot(scale__broadcast_slot),
        .working(scale__working)
    );
    optireduce_gather gather(
        .clock(gather__clock),
        .open(gather__open),
        .rx_valid(gather__rx_valid),
        .rx(gather__rx),
        .accepted(gather__accepted),
        .decided(gather__decided),
        .drop_late(gather__drop_late),
        .drop_duplicate(gather__drop_duplicate),
        .scaled_valid(gather__scaled_valid),
        .scaled(gather__scaled),
        .scaled_ready(gather__scaled_ready),
        .send_valid(gather__send_valid),
        .send_address(gather__send_address),
        .finish_valid(gather__finish_valid),
        .finish_address(gather__finish_address),
        .finish_ready(gather__finish_ready),
        .word(gather__word),
        .count_address(gather__count_address),
        .count_epoch(gather__count_epoch),
        .count(gather__count),
        .window_beats(gather__window_beats),
        .scrub(gather__scrub),
        .scrub_slot(gather__scrub_slot),
        .scrub_busy(gather__scrub_busy)
    );
    optireduce_finisher finisher(
        .clock(finisher__clock),
        .clear(finisher__clear),
        .job(finisher__job),
        .arm(finisher__arm),
        .arm_slot(finisher__arm_slot),
        .arm_context(finisher__arm_context),
        .refuse_ready(finisher__refuse_ready),
        .refuse(finisher__refuse),
        .refusal(finisher__refusal),
        .scaled(finisher__scaled),
        .broadcast_closed(finisher__broadcast_closed),
        .sending(finisher__sending),
        .finishing(finisher__finishing),
        .slot(finisher__slot),
        .broadcast(finisher__broadcast),
        .gate(finisher__gate),
        .count_address(finisher__count_address),
        .count_epoch(finisher__count_epoch),
        .contribute_count(finisher__contribute_count),
        .broadcast_count(finisher__broadcast_count),
        .read_valid(finisher__read_valid),
        .read_address(finisher__read_address),
        .read_ready(finisher__read_ready),
        .word(finisher__word),
        .cq_base(finisher__cq_base),
        .cq_mask(finisher__cq_mask),
        .cq_head(finisher__cq_head),
        .sq_head(finisher__sq_head),
        .cq_tail(finisher__cq_tail),
        .aw_valid(finisher__aw_valid),
        .aw_address(finisher__aw_address),
        .aw_beats(finisher__aw_beats),
        .aw_ready(finisher__aw_ready),
        .w_valid(finisher__w_valid),
        .w_data(finisher__w_data),
        .w_last(finisher__w_last),
        .w_ready(finisher__w_ready),
        .b_valid(finisher__b_valid),
        .dma_error(finisher__dma_error),
        .freed(finisher__freed),
        .msix_request(finisher__msix_request),
        .working(finisher__working)
    );
    optireduce_contribute__hold sending(
        .d(sending__d),
        .q(sending__q),
        .clock(sending__clock)
    );
    optireduce_builder__asked scan(
        .d(scan__d),
        .q(scan__q),
        .clock(scan__clock)
    );
    optireduce_builder__orders__state nearest(
        .d(nearest__d),
        .q(nearest__q),
        .clock(nearest__clock)
    );
    optireduce_builder__orders__state timer(
        .d(timer__d),
        .q(timer__q),
        .clock(timer__clock)
    );
    // Update code
    always @(*) begin
        sending__clock = clock;
        scan__clock = clock;
        nearest__clock = clock;
        timer__clock = clock;
        sending__d = sending__q;
        scan__d = scan__q;
        nearest__d = nearest__q;
        timer__d = timer__q;
        registers__clock = clock;
        dma_read__clock = clock;
        submit__clock = clock;
        contribute__clock = clock;
        planner__clock = clock;
        builder__clock = clock;
        rx_buffer__clock = clock;
        parser__clock = clock;
        lookup__clock = clock;
        reduce__clock = clock;
        scale__clock = clock;
        gather__clock = clock;
        finisher__clock = clock;
        registers__write = reg_write;
        registers__write_address = reg_write_address;
        registers__write_data = reg_write_data;
        registers__read_address = reg_read_address;
        reg_read_data = registers__read_data;
        clear = ~registers__enable;
        dma_read__clear = clear;
        submit__clear = clear;
        contribute__clear = clear;
        planner__clear = clear;
        builder__clear = clear;
        rx_buffer__clear = clear;
        lookup__clear = clear;
        scale__clear = clear;
        finisher__clear = clear;
        submit__job = registers__job;
        contribute__job = registers__job;
        planner__job = registers__job;
        builder__job = registers__job;
        parser__job = registers__job;
        lookup__job = registers__job;
        finisher__job = registers__job;
        builder__peer_write = registers__peer_write;
        builder__peer_word = registers__peer_word;
        builder__peer_data = reg_write_data;
        dma_read__submit_valid = submit__ar_valid;
        dma_read__submit_address = submit__ar_address;
        submit__ar_ready = dma_read__submit_ready;
        submit__r_valid = dma_read__submit_beat;
        submit__r_data = axi_r_data;
        submit__r_error = axi_r_error;
        dma_read__contribute_valid = contribute__ar_valid;
        dma_read__contribute_address = contribute__ar_address;
        dma_read__contribute_beats = contribute__ar_beats;
        contribute__ar_ready = dma_read__contribute_ready;
        contribute__r_valid = dma_read__contribute_beat;
        contribute__r_data = axi_r_data;
        dma_read__contribute_take = contribute__r_ready;
        axi_ar_valid = dma_read__ar_valid;
        axi_ar_address = dma_read__ar_address;
        axi_ar_beats = dma_read__ar_beats;
        dma_read__ar_ready = axi_ar_ready;
        dma_read__r_valid = axi_r_valid;
        dma_read__r_last = axi_r_last;
        axi_r_ready = dma_read__r_ready;
        axi_aw_valid = finisher__aw_valid;
        axi_aw_address = finisher__aw_address;
        axi_aw_beats = finisher__aw_beats;
        finisher__aw_ready = axi_aw_ready;
        axi_w_valid = finisher__w_valid;
        axi_w_data = finisher__w_data;
        axi_w_last = finisher__w_last;
        finisher__w_ready = axi_w_ready;
        finisher__b_valid = axi_b_valid;
        registers__dma_fault = (axi_r_valid && axi_r_error) || (axi_b_valid && axi_b_error);
        finisher__dma_error = registers__dma_error;
        submit__sq_base = registers__sq_base;
        submit__sq_mask = registers__sq_mask;
        submit__sq_tail = registers__sq_tail;
        registers__sq_head = submit__sq_head;
        finisher__sq_head = submit__sq_head;
        finisher__cq_base = registers__cq_base;
        finisher__cq_mask = registers__cq_mask;
        finisher__cq_head = registers__cq_head;
        registers__cq_tail = finisher__cq_tail;
        msix_request = finisher__msix_request;
        ctx = submit__arm_context;
        lookup__arm = submit__arm;
        lookup__arm_slot = submit__arm_slot;
        lookup__arm_context = ctx;
        contribute__arm = submit__arm;
        contribute__arm_slot = submit__arm_slot;
        contribute__arm_context = ctx;
        planner__arm = submit__arm;
        planner__arm_slot = submit__arm_slot;
        planner__arm_context = ctx;
        scale__arm = submit__arm;
        scale__arm_slot = submit__arm_slot;
        scale__arm_context = ctx;
        finisher__arm = submit__arm;
        finisher__arm_slot = submit__arm_slot;
        finisher__arm_context = ctx;
        lookup__freed = finisher__freed;
        submit__freed = finisher__freed;
        rx_buffer__rx_valid = rx_valid;
        rx_buffer__rx_data = rx_data;
        rx_buffer__rx_last = rx_last;
        rx_buffer__rx_error = rx_error;
        parser__in_valid = rx_buffer__valid;
        parser__in_data = rx_buffer__data;
        parser__frame_beats = rx_buffer__frame_beats;
        rx_buffer__pop = parser__pop;
        lookup__in_valid = parser__valid;
        lookup__in_head = parser__head;
        lookup__in_header = parser__header;
        lookup__in_data = parser__data;
        to_reduce = lookup__valid && ~lookup__broadcast;
        to_gather = lookup__valid && lookup__broadcast;
        reduce__rx_valid = to_reduce;
        reduce__rx = lookup__beat;
        gather__rx_valid = to_gather;
        gather__rx = lookup__beat;
        stall = to_reduce && ~reduce__rx_ready;
        parser__stall = stall;
        lookup__stall = stall;
        quiet = ~rx_buffer__valid && parser__empty && lookup__empty;
        reduce__own_valid = contribute__own_valid;
        reduce__own = contribute__own;
        contribute__own_ready = reduce__own_ready;
        reduce__scale_valid = scale__read_valid;
        reduce__scale_address = scale__read_address;
        scale__read_ready = reduce__scale_ready;
        scale__word = reduce__scale_word;
        gather__scaled_valid = scale__valid;
        gather__scaled = scale__mean;
        scale__ready = gather__scaled_ready;
        submit__scaled = scale__scaled;
        finisher__scaled = scale__scaled;
        reduce__window_beats = registers__job[(64'hb5)+:(15)];
        gather__window_beats = registers__job[(64'hb5)+:(15)];
        reduce__scrub = submit__scrub;
        reduce__scrub_slot = submit__scrub_slot;
        gather__scrub = submit__scrub;
        gather__scrub_slot = submit__scrub_slot;
        submit__scrub_busy = reduce__scrub_busy || gather__scrub_busy;
        one64 = ((32'h1) & 64'hffffffffffffffff);
        one8 = ((32'h1) & 8'hff);
        sender = one64 << lookup__beat[(64'h1f)+:(6)];
        packet_slot = one8 << lookup__beat[(64'h0)+:(3)];
        packet_contribute = ((32'h0) & 8'hff);
        packet_broadcast = ((32'h0) & 8'hff);
        if (lookup__packet && lookup__broadcast) begin
            packet_broadcast = packet_slot;
        end
        else if (lookup__packet) begin
            packet_contribute = packet_slot;
        end
        sum_slot = ((32'h0) & 8'hff);
        if (reduce__accepted) begin
            sum_slot = one8 << reduce__decided[(64'h0)+:(3)];
        end
        mean_slot = ((32'h0) & 8'hff);
        if (gather__accepted) begin
            mean_slot = one8 << gather__decided[(64'h0)+:(3)];
        end
        contribute_open = ((32'h0) & 8'hff);
        contribute_closed = ((32'h0) & 8'hff);
        broadcast_open = ((32'h0) & 8'hff);
        broadcast_closed = ((32'h0) & 8'hff);
        contribute_open = (contribute_open & ~(1 << (0)) | ((gate__0__open) << (0)));
        contribute_closed = (contribute_closed & ~(1 << (0)) | ((gate__0__closed) << (0)));
        broadcast_open = (broadcast_open & ~(1 << (0)) | ((gate__8__open) << (0)));
        broadcast_closed = (broadcast_closed & ~(1 << (0)) | ((gate__8__closed) << (0)));
        contribute_open = (contribute_open & ~(1 << (1)) | ((gate__1__open) << (1)));
        contribute_closed = (contribute_closed & ~(1 << (1)) | ((gate__1__closed) << (1)));
        broadcast_open = (broadcast_open & ~(1 << (1)) | ((gate__9__open) << (1)));
        broadcast_closed = (broadcast_closed & ~(1 << (1)) | ((gate__9__closed) << (1)));
        contribute_open = (contribute_open & ~(1 << (2)) | ((gate__2__open) << (2)));
        contribute_closed = (contribute_closed & ~(1 << (2)) | ((gate__2__closed) << (2)));
        broadcast_open = (broadcast_open & ~(1 << (2)) | ((gate__10__open) << (2)));
        broadcast_closed = (broadcast_closed & ~(1 << (2)) | ((gate__10__closed) << (2)));
        contribute_open = (contribute_open & ~(1 << (3)) | ((gate__3__open) << (3)));
        contribute_closed = (contribute_closed & ~(1 << (3)) | ((gate__3__closed) << (3)));
        broadcast_open = (broadcast_open & ~(1 << (3)) | ((gate__11__open) << (3)));
        broadcast_closed = (broadcast_closed & ~(1 << (3)) | ((gate__11__closed) << (3)));
        contribute_open = (contribute_open & ~(1 << (4)) | ((gate__4__open) << (4)));
        contribute_closed = (contribute_closed & ~(1 << (4)) | ((gate__4__closed) << (4)));
        broadcast_open = (broadcast_open & ~(1 << (4)) | ((gate__12__open) << (4)));
        broadcast_closed = (broadcast_closed & ~(1 << (4)) | ((gate__12__closed) << (4)));
        contribute_open = (contribute_open & ~(1 << (5)) | ((gate__5__open) << (5)));
        contribute_closed = (contribute_closed & ~(1 << (5)) | ((gate__5__closed) << (5)));
        broadcast_open = (broadcast_open & ~(1 << (5)) | ((gate__13__open) << (5)));
        broadcast_closed = (broadcast_closed & ~(1 << (5)) | ((gate__13__closed) << (5)));
        contribute_open = (contribute_open & ~(1 << (6)) | ((gate__6__open) << (6)));
        contribute_closed = (contribute_closed & ~(1 << (6)) | ((gate__6__closed) << (6)));
        broadcast_open = (broadcast_open & ~(1 << (6)) | ((gate__14__open) << (6)));
        broadcast_closed = (broadcast_closed & ~(1 << (6)) | ((gate__14__closed) << (6)));
        contribute_open = (contribute_open & ~(1 << (7)) | ((gate__7__open) << (7)));
        contribute_closed = (contribute_closed & ~(1 << (7)) | ((gate__7__closed) << (7)));
        broadcast_open = (broadcast_open & ~(1 << (7)) | ((gate__15__open) << (7)));
        broadcast_closed = (broadcast_closed & ~(1 << (7)) | ((gate__15__closed) << (7)));
        gate__0__clock = clock;
        gate__0__clear = clear;
        gate__0__now_ns = now_ns;
        gate__0__quiet = quiet;
        gate__0__sender = sender;
        gate__0__mark = lookup__mark;
        gate__1__clock = clock;
        gate__1__clear = clear;
        gate__1__now_ns = now_ns;
        gate__1__quiet = quiet;
        gate__1__sender = sender;
        gate__1__mark = lookup__mark;
        gate__2__clock = clock;
        gate__2__clear = clear;
        gate__2__now_ns = now_ns;
        gate__2__quiet = quiet;
        gate__2__sender = sender;
        gate__2__mark = lookup__mark;
        gate__3__clock = clock;
        gate__3__clear = clear;
        gate__3__now_ns = now_ns;
        gate__3__quiet = quiet;
        gate__3__sender = sender;
        gate__3__mark = lookup__mark;
        gate__4__clock = clock;
        gate__4__clear = clear;
        gate__4__now_ns = now_ns;
        gate__4__quiet = quiet;
        gate__4__sender = sender;
        gate__4__mark = lookup__mark;
        gate__5__clock = clock;
        gate__5__clear = clear;
        gate__5__now_ns = now_ns;
        gate__5__quiet = quiet;
        gate__5__sender = sender;
        gate__5__mark = lookup__mark;
        gate__6__clock = clock;
        gate__6__clear = clear;
        gate__6__now_ns = now_ns;
        gate__6__quiet = quiet;
        gate__6__sender = sender;
        gate__6__mark = lookup__mark;
        gate__7__clock = clock;
        gate__7__clear = clear;
        gate__7__now_ns = now_ns;
        gate__7__quiet = quiet;
        gate__7__sender = sender;
        gate__7__mark = lookup__mark;
        gate__8__clock = clock;
        gate__8__clear = clear;
        gate__8__now_ns = now_ns;
        gate__8__quiet = quiet;
        gate__8__sender = sender;
        gate__8__mark = lookup__mark;
        gate__9__clock = clock;
        gate__9__clear = clear;
        gate__9__now_ns = now_ns;
        gate__9__quiet = quiet;
        gate__9__sender = sender;
        gate__9__mark = lookup__mark;
        gate__10__clock = clock;
        gate__10__clear = clear;
        gate__10__now_ns = now_ns;
        gate__10__quiet = quiet;
        gate__10__sender = sender;
        gate__10__mark = lookup__mark;
        gate__11__clock = clock;
        gate__11__clear = clear;
        gate__11__now_ns = now_ns;
        gate__11__quiet = quiet;
        gate__11__sender = sender;
        gate__11__mark = lookup__mark;
        gate__12__clock = clock;
        gate__12__clear = clear;
        gate__12__now_ns = now_ns;
        gate__12__quiet = quiet;
        gate__12__sender = sender;
        gate__12__mark = lookup__mark;
        gate__13__clock = clock;
        gate__13__clear = clear;
        gate__13__now_ns = now_ns;
        gate__13__quiet = quiet;
        gate__13__sender = sender;
        gate__13__mark = lookup__mark;
        gate__14__clock = clock;
        gate__14__clear = clear;
        gate__14__now_ns = now_ns;
        gate__14__quiet = quiet;
        gate__14__sender = sender;
        gate__14__mark = lookup__mark;
        gate__15__clock = clock;
        gate__15__clear = clear;
        gate__15__now_ns = now_ns;
        gate__15__quiet = quiet;
        gate__15__sender = sender;
        gate__15__mark = lookup__mark;
        gate__0__arm = submit__arm[0];
        gate__0__rules = submit__contribute_rules;
        gate__0__enter = submit__enter[0];
        gate__0__packet = packet_contribute[0];
        gate__0__beat = sum_slot[0];
        gate__0__own = reduce__accepted_own;
        gate__0__free = finisher__freed[0];
        gate__8__arm = submit__arm[0];
        gate__8__rules = submit__broadcast_rules;
        gate__8__enter = contribute_closed[0];
        gate__8__packet = packet_broadcast[0];
        gate__8__beat = mean_slot[0];
        gate__8__own = 1'b0;
        gate__8__free = finisher__freed[0];
        gate__1__arm = submit__arm[1];
        gate__1__rules = submit__contribute_rules;
        gate__1__enter = submit__enter[1];
        gate__1__packet = packet_contribute[1];
        gate__1__beat = sum_slot[1];
        gate__1__own = reduce__accepted_own;
        gate__1__free = finisher__freed[1];
        gate__9__arm = submit__arm[1];
        gate__9__rules = submit__broadcast_rules;
        gate__9__enter = contribute_closed[1];
        gate__9__packet = packet_broadcast[1];
        gate__9__beat = mean_slot[1];
        gate__9__own = 1'b0;
        gate__9__free = finisher__freed[1];
        gate__2__arm = submit__arm[2];
        gate__2__rules = submit__contribute_rules;
        gate__2__enter = submit__enter[2];
        gate__2__packet = packet_contribute[2];
        gate__2__beat = sum_slot[2];
        gate__2__own = reduce__accepted_own;
        gate__2__free = finisher__freed[2];
        gate__10__arm = submit__arm[2];
        gate__10__rules = submit__broadcast_rules;
        gate__10__enter = contribute_closed[2];
        gate__10__packet = packet_broadcast[2];
        gate__10__beat = mean_slot[2];
        gate__10__own = 1'b0;
        gate__10__free = finisher__freed[2];
        gate__3__arm = submit__arm[3];
        gate__3__rules = submit__contribute_rules;
        gate__3__enter = submit__enter[3];
        gate__3__packet = packet_contribute[3];
        gate__3__beat = sum_slot[3];
        gate__3__own = reduce__accepted_own;
        gate__3__free = finisher__freed[3];
        gate__11__arm = submit__arm[3];
        gate__11__rules = submit__broadcast_rules;
        gate__11__enter = contribute_closed[3];
        gate__11__packet = packet_broadcast[3];
        gate__11__beat = mean_slot[3];
        gate__11__own = 1'b0;
        gate__11__free = finisher__freed[3];
        gate__4__arm = submit__arm[4];
        gate__4__rules = submit__contribute_rules;
        gate__4__enter = submit__enter[4];
        gate__4__packet = packet_contribute[4];
        gate__4__beat = sum_slot[4];
        gate__4__own = reduce__accepted_own;
        gate__4__free = finisher__freed[4];
        gate__12__arm = submit__arm[4];
        gate__12__rules = submit__broadcast_rules;
        gate__12__enter = contribute_closed[4];
        gate__12__packet = packet_broadcast[4];
        gate__12__beat = mean_slot[4];
        gate__12__own = 1'b0;
        gate__12__free = finisher__freed[4];
        gate__5__arm = submit__arm[5];
        gate__5__rules = submit__contribute_rules;
        gate__5__enter = submit__enter[5];
        gate__5__packet = packet_contribute[5];
        gate__5__beat = sum_slot[5];
        gate__5__own = reduce__accepted_own;
        gate__5__free = finisher__freed[5];
        gate__13__arm = submit__arm[5];
        gate__13__rules = submit__broadcast_rules;
        gate__13__enter = contribute_closed[5];
        gate__13__packet = packet_broadcast[5];
        gate__13__beat = mean_slot[5];
        gate__13__own = 1'b0;
        gate__13__free = finisher__freed[5];
        gate__6__arm = submit__arm[6];
        gate__6__rules = submit__contribute_rules;
        gate__6__enter = submit__enter[6];
        gate__6__packet = packet_contribute[6];
        gate__6__beat = sum_slot[6];
        gate__6__own = reduce__accepted_own;
        gate__6__free = finisher__freed[6];
        gate__14__arm = submit__arm[6];
        gate__14__rules = submit__broadcast_rules;
        gate__14__enter = contribute_closed[6];
        gate__14__packet = packet_broadcast[6];
        gate__14__beat = mean_slot[6];
        gate__14__own = 1'b0;
        gate__14__free = finisher__freed[6];
        gate__7__arm = submit__arm[7];
        gate__7__rules = submit__contribute_rules;
        gate__7__enter = submit__enter[7];
        gate__7__packet = packet_contribute[7];
        gate__7__beat = sum_slot[7];
        gate__7__own = reduce__accepted_own;
        gate__7__free = finisher__freed[7];
        gate__15__arm = submit__arm[7];
        gate__15__rules = submit__broadcast_rules;
        gate__15__enter = contribute_closed[7];
        gate__15__packet = packet_broadcast[7];
        gate__15__beat = mean_slot[7];
        gate__15__own = 1'b0;
        gate__15__free = finisher__freed[7];
        reduce__open = contribute_open;
        gather__open = broadcast_open;
        scale__closed = contribute_closed;
        finisher__broadcast_closed = broadcast_closed;
        finish_slot = one8 << finisher__slot;
        finish_gate = gate__0__report;
        if (finish_slot[0]) begin
            finish_gate = gate__0__report;
            if (finisher__broadcast) begin
                finish_gate = gate__8__report;
            end
        end
        if (finish_slot[1]) begin
            finish_gate = gate__1__report;
            if (finisher__broadcast) begin
                finish_gate = gate__9__report;
            end
        end
        if (finish_slot[2]) begin
            finish_gate = gate__2__report;
            if (finisher__broadcast) begin
                finish_gate = gate__10__report;
            end
        end
        if (finish_slot[3]) begin
            finish_gate = gate__3__report;
            if (finisher__broadcast) begin
                finish_gate = gate__11__report;
            end
        end
        if (finish_slot[4]) begin
            finish_gate = gate__4__report;
            if (finisher__broadcast) begin
                finish_gate = gate__12__report;
            end
        end
        if (finish_slot[5]) begin
            finish_gate = gate__5__report;
            if (finisher__broadcast) begin
                finish_gate = gate__13__report;
            end
        end
        if (finish_slot[6]) begin
            finish_gate = gate__6__report;
            if (finisher__broadcast) begin
                finish_gate = gate__14__report;
            end
        end
        if (finish_slot[7]) begin
            finish_gate = gate__7__report;
            if (finisher__broadcast) begin
                finish_gate = gate__15__report;
            end
        end
        finisher__gate = finish_gate;
        reduce__count_address = finisher__count_address;
        reduce__count_epoch = finisher__count_epoch;
        finisher__contribute_count = reduce__count;
        gather__count_address = finisher__count_address;
        gather__count_epoch = finisher__count_epoch;
        finisher__broadcast_count = gather__count;
        submit__finishing = finisher__finishing;
        submit__refuse_ready = finisher__refuse_ready;
        finisher__refuse = submit__refuse;
        finisher__refusal = submit__refusal;
        gather__finish_valid = finisher__read_valid;
        gather__finish_address = finisher__read_address;
        finisher__read_ready = gather__finish_ready;
        finisher__word = gather__word;
        contribute__order_valid = submit__order_valid;
        contribute__order = submit__order;
        submit__order_ready = contribute__order_ready;
        planner__contribute_valid = contribute__send_valid;
        planner__contribute = contribute__send;
        contribute__send_ready = planner__contribute_ready;
        auto_valid = scale__broadcast;
        send = submit__send;
        if (auto_valid) begin
            send[(64'h0)+:(3)] = scale__broadcast_slot;
            send[(64'h5)+:(16)] = ((32'h0) & 16'hffff);
            send[(64'h15)+:(4)] = ((32'h0) & 4'hf);
        end
        submit__send_ready = ~auto_valid;
        planner__broadcast_valid = auto_valid || submit__send_valid;
        planner__broadcast = send;
        send_slot = ((32'h0) & 8'hff);
        if (planner__broadcast_valid) begin
            send_slot = one8 << send[(64'h0)+:(3)];
        end
        unsent = builder__sent_slot ^ 32'hff;
        sending__d = (sending__q & unsent) | send_slot;
        if (clear) begin
            sending__d = ((32'h0) & 8'hff);
        end
        finisher__sending = sending__q | send_slot | contribute__held | submit__ordering;
        builder__order_valid = planner__valid;
        builder__order = planner__order;
        planner__ready = builder__order_ready;
        contribute__read_valid = builder__buffer_valid;
        contribute__read_address = builder__buffer_address;
        builder__buffer_data = contribute__read_data;
        contribute__sent = builder__sent_bank;
        gather__send_valid = builder__gather_valid || planner__ask_valid;
        gather__send_address = planner__ask_address;
        if (builder__gather_valid) begin
            gather__send_address = builder__gather_address;
        end
        planner__ask_ready = ~builder__gather_valid;
        planner__word = gather__word;
        builder__gather_word = gather__word;
        tx_valid = builder__mac_valid;
        tx_data = builder__mac[(64'h0)+:(512)];
        tx_last = builder__mac[(64'h200)+:(1)];
        builder__mac_ready = tx_ready;
        events[(64'h0)+:(1)] = rx_valid && rx_last;
        events[(64'h1)+:(1)] = builder__began;
        events[(64'h2)+:(1)] = rx_buffer__dropped;
        events[(64'h3)+:(1)] = parser__drop_foreign;
        events[(64'h4)+:(1)] = parser__drop_malformed;
        events[(64'h5)+:(1)] = parser__drop_version;
        events[(64'h6)+:(1)] = parser__drop_job;
        events[(64'h7)+:(1)] = lookup__drop_no_window;
        events[(64'h8)+:(1)] = lookup__drop_flags;
        events[(64'h9)+:(1)] = lookup__drop_out_of_shard;
        events[(64'ha)+:(1)] = reduce__drop_late;
        events[(64'hb)+:(1)] = gather__drop_late;
        events[(64'hc)+:(1)] = reduce__drop_duplicate;
        events[(64'hd)+:(1)] = gather__drop_duplicate;
        registers__events = events;
        one16 = ((32'h1) & 16'hffff);
        scan_next = scan__q + 32'h1;
        scan_bit = one16 << scan__q;
        scan__d = scan_next;
        looked_at = gate__0__timer_ns;
        if (scan_bit[0]) begin
            looked_at = gate__0__timer_ns;
        end
        if (scan_bit[1]) begin
            looked_at = gate__1__timer_ns;
        end
        if (scan_bit[2]) begin
            looked_at = gate__2__timer_ns;
        end
        if (scan_bit[3]) begin
            looked_at = gate__3__timer_ns;
        end
        if (scan_bit[4]) begin
            looked_at = gate__4__timer_ns;
        end
        if (scan_bit[5]) begin
            looked_at = gate__5__timer_ns;
        end
        if (scan_bit[6]) begin
            looked_at = gate__6__timer_ns;
        end
        if (scan_bit[7]) begin
            looked_at = gate__7__timer_ns;
        end
        if (scan_bit[8]) begin
            looked_at = gate__8__timer_ns;
        end
        if (scan_bit[9]) begin
            looked_at = gate__9__timer_ns;
        end
        if (scan_bit[10]) begin
            looked_at = gate__10__timer_ns;
        end
        if (scan_bit[11]) begin
            looked_at = gate__11__timer_ns;
        end
        if (scan_bit[12]) begin
            looked_at = gate__12__timer_ns;
        end
        if (scan_bit[13]) begin
            looked_at = gate__13__timer_ns;
        end
        if (scan_bit[14]) begin
            looked_at = gate__14__timer_ns;
        end
        if (scan_bit[15]) begin
            looked_at = gate__15__timer_ns;
        end
        if ((scan__q == 32'h0) || (looked_at < nearest__q)) begin
            nearest__d = looked_at;
        end
        if (scan__q == 32'h0) begin
            timer__d = nearest__q;
        end
        timer_ns = timer__q;
        asleep = quiet && ~rx_valid && ~submit__working && ~contribute__working && ~scale__working && ~planner__working && ~builder__working && ~finisher__working;
        trace_arm = submit__arm;
        trace_cookie = ctx[(64'h0)+:(32)];
        trace_sum = reduce__accepted;
        trace_sum_place = (((reduce__decided[(64'h0)+:(3)]) & 23'h7fffff) << 32'h14) | (((reduce__decided[(64'h3)+:(14)]) & 23'h7fffff) << 32'h6) | ((reduce__decided[(64'h1f)+:(6)]) & 23'h7fffff);
        trace_mean = gather__accepted;
        trace_mean_place = (((gather__decided[(64'h0)+:(3)]) & 23'h7fffff) << 32'h14) | (((gather__decided[(64'h3)+:(14)]) & 23'h7fffff) << 32'h6) | ((gather__decided[(64'h1f)+:(6)]) & 23'h7fffff);
        trace_contribute_open = contribute_open;
        trace_broadcast_open = broadcast_open;
    end
endmodule
