// Written by `optireduce-hdl rtl` from the rust-hdl sources in hw/src; do not edit. See hw/rtl/README.md.

module optireduce_nic__nic__finisher__drain__decoder__butterflies__across__0__delay(clock,tag,lane__0,lane__1,lane__2,lane__3,lane__4,lane__5,lane__6,lane__7,lane__8,lane__9,lane__10,lane__11,lane__12,lane__13,lane__14,lane__15,out_tag,out_beat);
    // Module arguments
    input wire  clock;
    input wire  [23:0] tag;
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
    output reg  [23:0] out_tag;
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

module optireduce_nic__nic__finisher__drain__decoder__butterflies__across__0__position(d,q,clock);
    // Module arguments
    input wire  [9:0] d;
    output reg  [9:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 10'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__nic__finisher__drain__decoder__butterflies__across__1__delay(clock,tag,lane__0,lane__1,lane__2,lane__3,lane__4,lane__5,lane__6,lane__7,lane__8,lane__9,lane__10,lane__11,lane__12,lane__13,lane__14,lane__15,out_tag,out_beat);
    // Module arguments
    input wire  clock;
    input wire  [23:0] tag;
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
    output reg  [23:0] out_tag;
    output reg  [511:0] out_beat;
    // Update code (custom)
    (* ram_style = "distributed" *) reg [535:0] mem [0:1];
    `ifndef SYNTHESIS
    integer i;
    initial for (i = 0; i <= 1; i = i + 1) mem[i] = 0;
    `endif
    reg [0:0] pointer;
    wire [0:0] oldest = pointer + 1;
    initial begin
       pointer = 0;
       out_tag = 0;
       out_beat = 0;
    end
    always @(posedge clock) begin
       mem[pointer] <= {tag, lane__15, lane__14, lane__13, lane__12, lane__11, lane__10, lane__9, lane__8, lane__7, lane__6, lane__5, lane__4, lane__3, lane__2, lane__1, lane__0};
       {out_tag, out_beat} <= mem[oldest];
       pointer <= pointer + 1'b1;
    end
endmodule

module optireduce_nic__nic__finisher__drain__decoder__butterflies__across__2__delay(clock,tag,lane__0,lane__1,lane__2,lane__3,lane__4,lane__5,lane__6,lane__7,lane__8,lane__9,lane__10,lane__11,lane__12,lane__13,lane__14,lane__15,out_tag,out_beat);
    // Module arguments
    input wire  clock;
    input wire  [23:0] tag;
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
    output reg  [23:0] out_tag;
    output reg  [511:0] out_beat;
    // Update code (custom)
    (* ram_style = "distributed" *) reg [535:0] mem [0:3];
    `ifndef SYNTHESIS
    integer i;
    initial for (i = 0; i <= 3; i = i + 1) mem[i] = 0;
    `endif
    reg [1:0] pointer;
    wire [1:0] oldest = pointer + 1;
    initial begin
       pointer = 0;
       out_tag = 0;
       out_beat = 0;
    end
    always @(posedge clock) begin
       mem[pointer] <= {tag, lane__15, lane__14, lane__13, lane__12, lane__11, lane__10, lane__9, lane__8, lane__7, lane__6, lane__5, lane__4, lane__3, lane__2, lane__1, lane__0};
       {out_tag, out_beat} <= mem[oldest];
       pointer <= pointer + 1'b1;
    end
endmodule

module optireduce_nic__nic__finisher__drain__decoder__butterflies__across__3__delay(clock,tag,lane__0,lane__1,lane__2,lane__3,lane__4,lane__5,lane__6,lane__7,lane__8,lane__9,lane__10,lane__11,lane__12,lane__13,lane__14,lane__15,out_tag,out_beat);
    // Module arguments
    input wire  clock;
    input wire  [23:0] tag;
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
    output reg  [23:0] out_tag;
    output reg  [511:0] out_beat;
    // Update code (custom)
    (* ram_style = "distributed" *) reg [535:0] mem [0:7];
    `ifndef SYNTHESIS
    integer i;
    initial for (i = 0; i <= 7; i = i + 1) mem[i] = 0;
    `endif
    reg [2:0] pointer;
    wire [2:0] oldest = pointer + 1;
    initial begin
       pointer = 0;
       out_tag = 0;
       out_beat = 0;
    end
    always @(posedge clock) begin
       mem[pointer] <= {tag, lane__15, lane__14, lane__13, lane__12, lane__11, lane__10, lane__9, lane__8, lane__7, lane__6, lane__5, lane__4, lane__3, lane__2, lane__1, lane__0};
       {out_tag, out_beat} <= mem[oldest];
       pointer <= pointer + 1'b1;
    end
endmodule

module optireduce_nic__nic__finisher__drain__decoder__butterflies__across__4__delay(clock,tag,lane__0,lane__1,lane__2,lane__3,lane__4,lane__5,lane__6,lane__7,lane__8,lane__9,lane__10,lane__11,lane__12,lane__13,lane__14,lane__15,out_tag,out_beat);
    // Module arguments
    input wire  clock;
    input wire  [23:0] tag;
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
    output reg  [23:0] out_tag;
    output reg  [511:0] out_beat;
    // Update code (custom)
    (* ram_style = "distributed" *) reg [535:0] mem [0:15];
    `ifndef SYNTHESIS
    integer i;
    initial for (i = 0; i <= 15; i = i + 1) mem[i] = 0;
    `endif
    reg [3:0] pointer;
    wire [3:0] oldest = pointer + 1;
    initial begin
       pointer = 0;
       out_tag = 0;
       out_beat = 0;
    end
    always @(posedge clock) begin
       mem[pointer] <= {tag, lane__15, lane__14, lane__13, lane__12, lane__11, lane__10, lane__9, lane__8, lane__7, lane__6, lane__5, lane__4, lane__3, lane__2, lane__1, lane__0};
       {out_tag, out_beat} <= mem[oldest];
       pointer <= pointer + 1'b1;
    end
endmodule

module optireduce_nic__nic__finisher__drain__decoder__butterflies__across__5__delay(clock,tag,lane__0,lane__1,lane__2,lane__3,lane__4,lane__5,lane__6,lane__7,lane__8,lane__9,lane__10,lane__11,lane__12,lane__13,lane__14,lane__15,out_tag,out_beat);
    // Module arguments
    input wire  clock;
    input wire  [23:0] tag;
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
    output reg  [23:0] out_tag;
    output reg  [511:0] out_beat;
    // Update code (custom)
    (* ram_style = "distributed" *) reg [535:0] mem [0:31];
    `ifndef SYNTHESIS
    integer i;
    initial for (i = 0; i <= 31; i = i + 1) mem[i] = 0;
    `endif
    reg [4:0] pointer;
    wire [4:0] oldest = pointer + 1;
    initial begin
       pointer = 0;
       out_tag = 0;
       out_beat = 0;
    end
    always @(posedge clock) begin
       mem[pointer] <= {tag, lane__15, lane__14, lane__13, lane__12, lane__11, lane__10, lane__9, lane__8, lane__7, lane__6, lane__5, lane__4, lane__3, lane__2, lane__1, lane__0};
       {out_tag, out_beat} <= mem[oldest];
       pointer <= pointer + 1'b1;
    end
endmodule

module optireduce_nic__nic__finisher__drain__decoder__butterflies__across__6__delay(clock,tag,lane__0,lane__1,lane__2,lane__3,lane__4,lane__5,lane__6,lane__7,lane__8,lane__9,lane__10,lane__11,lane__12,lane__13,lane__14,lane__15,out_tag,out_beat);
    // Module arguments
    input wire  clock;
    input wire  [23:0] tag;
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
    output reg  [23:0] out_tag;
    output reg  [511:0] out_beat;
    // Update code (custom)
    (* ram_style = "block" *) reg [535:0] mem [0:63];
    `ifndef SYNTHESIS
    integer i;
    initial for (i = 0; i <= 63; i = i + 1) mem[i] = 0;
    `endif
    reg [5:0] pointer;
    wire [5:0] oldest = pointer + 2;
    reg [535:0] word;
    initial begin
       pointer = 0;
       out_tag = 0;
       out_beat = 0;
       word = 0;
    end
    always @(posedge clock) begin
       mem[pointer] <= {tag, lane__15, lane__14, lane__13, lane__12, lane__11, lane__10, lane__9, lane__8, lane__7, lane__6, lane__5, lane__4, lane__3, lane__2, lane__1, lane__0};
       {out_tag, out_beat} <= word;
       word <= mem[oldest];
       pointer <= pointer + 1'b1;
    end
endmodule

module optireduce_nic__nic__finisher__drain__decoder__butterflies__across__7__delay(clock,tag,lane__0,lane__1,lane__2,lane__3,lane__4,lane__5,lane__6,lane__7,lane__8,lane__9,lane__10,lane__11,lane__12,lane__13,lane__14,lane__15,out_tag,out_beat);
    // Module arguments
    input wire  clock;
    input wire  [23:0] tag;
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
    output reg  [23:0] out_tag;
    output reg  [511:0] out_beat;
    // Update code (custom)
    (* ram_style = "block" *) reg [535:0] mem [0:127];
    `ifndef SYNTHESIS
    integer i;
    initial for (i = 0; i <= 127; i = i + 1) mem[i] = 0;
    `endif
    reg [6:0] pointer;
    wire [6:0] oldest = pointer + 2;
    reg [535:0] word;
    initial begin
       pointer = 0;
       out_tag = 0;
       out_beat = 0;
       word = 0;
    end
    always @(posedge clock) begin
       mem[pointer] <= {tag, lane__15, lane__14, lane__13, lane__12, lane__11, lane__10, lane__9, lane__8, lane__7, lane__6, lane__5, lane__4, lane__3, lane__2, lane__1, lane__0};
       {out_tag, out_beat} <= word;
       word <= mem[oldest];
       pointer <= pointer + 1'b1;
    end
endmodule

module optireduce_nic__nic__finisher__drain__decoder__to_fixed__lane__0__st(d,q,clock);
    // Module arguments
    input wire  [98:0] d;
    output reg  [98:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 99'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__nic__finisher__drain__decoder__to_float__lane__0__st(d,q,clock);
    // Module arguments
    input wire  [178:0] d;
    output reg  [178:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 179'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__nic__finisher__drain__decoder__butterflies__across__0(clock,enable,tag,beat,out_tag,out_beat);
    // Module arguments
    input wire  clock;
    input wire  enable;
    input wire  [23:0] tag;
    input wire  [511:0] beat;
    output wire  [23:0] out_tag;
    output wire  [511:0] out_beat;
    // Constant declarations
    localparam  halve = 1'b0;
    localparam  distance = 10'b1;
    // Stub signals
    reg  [9:0] position__d;
    wire  [9:0] position__q;
    wire  position__clock;
    wire  delay__clock;
    reg  [23:0] delay__tag;
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
    wire  [23:0] delay__out_tag;
    wire  [511:0] delay__out_beat;
    wire  result__clock;
    reg  [23:0] result__tag;
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
    wire  [31:0] result__lane__15;
    wire  [23:0] result__out_tag;
    wire  [511:0] result__out_beat;
    // Local signals
    wire  [9:0] phase;
    wire  entering;
    wire  butterfly;
    reg  [31:0] mask;
    reg  [31:0] a;
    reg  [31:0] b;
    reg  [31:0] more;
    reg  [31:0] less;
    reg  [32:0] minus;
    reg  [32:0] sum;
    // Sub module instances
    optireduce_nic__nic__finisher__drain__decoder__butterflies__across__0__position position(
        .d(position__d),
        .q(position__q),
        .clock(position__clock)
    );
    optireduce_nic__nic__finisher__drain__decoder__butterflies__across__0__delay delay(
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
    optireduce_nic__nic__finisher__drain__decoder__butterflies__across__0__delay result(
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
    assign position__clock = clock;
    assign delay__clock = clock;
    assign result__clock = clock;
    assign phase = position__q & distance;
    assign entering = tag[(64'h0)+:(1)] && enable;
    assign butterfly = entering && (phase != 32'h0);
    always @(*) begin
        delay__tag = tag;
        delay__tag[(64'h2)+:(1)] = ~tag[(64'h2)+:(1)];
        if (~butterfly) begin
            delay__tag[(64'h0)+:(1)] = 1'b0;
        end
    end
    always @(*) begin
        result__tag = tag;
        if (~butterfly) begin
            result__tag = delay__out_tag;
        end
    end
    always @(*) begin
        mask = ((64'hffffffff) & 32'hffffffff);
        if (~butterfly) begin
            mask = ((32'h0) & 32'hffffffff);
        end
    end
    always @(*) begin
        a = delay__out_beat[(0 * 32'h20)+:(32)];
        b = beat[(0 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__0 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__0 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__0 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(1 * 32'h20)+:(32)];
        b = beat[(1 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__1 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__1 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__1 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(2 * 32'h20)+:(32)];
        b = beat[(2 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__2 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__2 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__2 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(3 * 32'h20)+:(32)];
        b = beat[(3 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__3 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__3 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__3 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(4 * 32'h20)+:(32)];
        b = beat[(4 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__4 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__4 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__4 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(5 * 32'h20)+:(32)];
        b = beat[(5 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__5 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__5 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__5 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(6 * 32'h20)+:(32)];
        b = beat[(6 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__6 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__6 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__6 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(7 * 32'h20)+:(32)];
        b = beat[(7 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__7 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__7 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__7 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(8 * 32'h20)+:(32)];
        b = beat[(8 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__8 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__8 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__8 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(9 * 32'h20)+:(32)];
        b = beat[(9 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__9 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__9 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__9 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(10 * 32'h20)+:(32)];
        b = beat[(10 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__10 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__10 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__10 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(11 * 32'h20)+:(32)];
        b = beat[(11 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__11 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__11 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__11 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(12 * 32'h20)+:(32)];
        b = beat[(12 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__12 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__12 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__12 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(13 * 32'h20)+:(32)];
        b = beat[(13 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__13 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__13 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__13 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(14 * 32'h20)+:(32)];
        b = beat[(14 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__14 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__14 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__14 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(15 * 32'h20)+:(32)];
        b = beat[(15 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
    end
    always @(*) begin
        if (halve) begin
            delay__lane__15 = (b >> 32'h1) - less;
        end
        else begin
            delay__lane__15 = b - less;
        end
    end
    assign result__lane__15 = sum[(32'h1)+:(32)];
    assign out_tag = result__out_tag;
    assign out_beat = result__out_beat;
    always @(*) begin
        position__d = position__q;
        if (entering) begin
            position__d = position__q + 32'h1;
        end
    end
    wire unused__sum = &{sum[0]};
endmodule

module optireduce_nic__nic__finisher__drain__decoder__butterflies__across__1(clock,enable,tag,beat,out_tag,out_beat);
    // Module arguments
    input wire  clock;
    input wire  enable;
    input wire  [23:0] tag;
    input wire  [511:0] beat;
    output wire  [23:0] out_tag;
    output wire  [511:0] out_beat;
    // Constant declarations
    localparam  halve = 1'b1;
    localparam  distance = 10'b10;
    // Stub signals
    reg  [9:0] position__d;
    wire  [9:0] position__q;
    wire  position__clock;
    wire  delay__clock;
    reg  [23:0] delay__tag;
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
    wire  [23:0] delay__out_tag;
    wire  [511:0] delay__out_beat;
    wire  result__clock;
    reg  [23:0] result__tag;
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
    wire  [31:0] result__lane__15;
    wire  [23:0] result__out_tag;
    wire  [511:0] result__out_beat;
    // Local signals
    wire  [9:0] phase;
    wire  entering;
    wire  butterfly;
    reg  [31:0] mask;
    reg  [31:0] a;
    reg  [31:0] b;
    reg  [31:0] more;
    reg  [31:0] less;
    reg  [32:0] minus;
    reg  [32:0] sum;
    // Sub module instances
    optireduce_nic__nic__finisher__drain__decoder__butterflies__across__0__position position(
        .d(position__d),
        .q(position__q),
        .clock(position__clock)
    );
    optireduce_nic__nic__finisher__drain__decoder__butterflies__across__1__delay delay(
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
    optireduce_nic__nic__finisher__drain__decoder__butterflies__across__0__delay result(
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
    assign position__clock = clock;
    assign delay__clock = clock;
    assign result__clock = clock;
    assign phase = position__q & distance;
    assign entering = tag[(64'h0)+:(1)] && enable;
    assign butterfly = entering && (phase != 32'h0);
    always @(*) begin
        delay__tag = tag;
        delay__tag[(64'h2)+:(1)] = ~tag[(64'h2)+:(1)];
        if (~butterfly) begin
            delay__tag[(64'h0)+:(1)] = 1'b0;
        end
    end
    always @(*) begin
        result__tag = tag;
        if (~butterfly) begin
            result__tag = delay__out_tag;
        end
    end
    always @(*) begin
        mask = ((64'hffffffff) & 32'hffffffff);
        if (~butterfly) begin
            mask = ((32'h0) & 32'hffffffff);
        end
    end
    always @(*) begin
        a = delay__out_beat[(0 * 32'h20)+:(32)];
        b = beat[(0 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__0 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__0 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__0 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(1 * 32'h20)+:(32)];
        b = beat[(1 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__1 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__1 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__1 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(2 * 32'h20)+:(32)];
        b = beat[(2 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__2 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__2 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__2 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(3 * 32'h20)+:(32)];
        b = beat[(3 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__3 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__3 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__3 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(4 * 32'h20)+:(32)];
        b = beat[(4 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__4 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__4 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__4 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(5 * 32'h20)+:(32)];
        b = beat[(5 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__5 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__5 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__5 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(6 * 32'h20)+:(32)];
        b = beat[(6 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__6 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__6 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__6 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(7 * 32'h20)+:(32)];
        b = beat[(7 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__7 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__7 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__7 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(8 * 32'h20)+:(32)];
        b = beat[(8 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__8 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__8 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__8 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(9 * 32'h20)+:(32)];
        b = beat[(9 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__9 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__9 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__9 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(10 * 32'h20)+:(32)];
        b = beat[(10 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__10 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__10 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__10 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(11 * 32'h20)+:(32)];
        b = beat[(11 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__11 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__11 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__11 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(12 * 32'h20)+:(32)];
        b = beat[(12 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__12 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__12 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__12 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(13 * 32'h20)+:(32)];
        b = beat[(13 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__13 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__13 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__13 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(14 * 32'h20)+:(32)];
        b = beat[(14 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__14 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__14 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__14 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(15 * 32'h20)+:(32)];
        b = beat[(15 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
    end
    always @(*) begin
        if (halve) begin
            delay__lane__15 = (b >> 32'h1) - less;
        end
        else begin
            delay__lane__15 = b - less;
        end
    end
    assign result__lane__15 = sum[(32'h1)+:(32)];
    assign out_tag = result__out_tag;
    assign out_beat = result__out_beat;
    always @(*) begin
        position__d = position__q;
        if (entering) begin
            position__d = position__q + 32'h1;
        end
    end
    wire unused__sum = &{sum[0]};
endmodule

module optireduce_nic__nic__finisher__drain__decoder__butterflies__across__2(clock,enable,tag,beat,out_tag,out_beat);
    // Module arguments
    input wire  clock;
    input wire  enable;
    input wire  [23:0] tag;
    input wire  [511:0] beat;
    output wire  [23:0] out_tag;
    output wire  [511:0] out_beat;
    // Constant declarations
    localparam  halve = 1'b0;
    localparam  distance = 10'b100;
    // Stub signals
    reg  [9:0] position__d;
    wire  [9:0] position__q;
    wire  position__clock;
    wire  delay__clock;
    reg  [23:0] delay__tag;
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
    wire  [23:0] delay__out_tag;
    wire  [511:0] delay__out_beat;
    wire  result__clock;
    reg  [23:0] result__tag;
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
    wire  [31:0] result__lane__15;
    wire  [23:0] result__out_tag;
    wire  [511:0] result__out_beat;
    // Local signals
    wire  [9:0] phase;
    wire  entering;
    wire  butterfly;
    reg  [31:0] mask;
    reg  [31:0] a;
    reg  [31:0] b;
    reg  [31:0] more;
    reg  [31:0] less;
    reg  [32:0] minus;
    reg  [32:0] sum;
    // Sub module instances
    optireduce_nic__nic__finisher__drain__decoder__butterflies__across__0__position position(
        .d(position__d),
        .q(position__q),
        .clock(position__clock)
    );
    optireduce_nic__nic__finisher__drain__decoder__butterflies__across__2__delay delay(
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
    optireduce_nic__nic__finisher__drain__decoder__butterflies__across__0__delay result(
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
    assign position__clock = clock;
    assign delay__clock = clock;
    assign result__clock = clock;
    assign phase = position__q & distance;
    assign entering = tag[(64'h0)+:(1)] && enable;
    assign butterfly = entering && (phase != 32'h0);
    always @(*) begin
        delay__tag = tag;
        delay__tag[(64'h2)+:(1)] = ~tag[(64'h2)+:(1)];
        if (~butterfly) begin
            delay__tag[(64'h0)+:(1)] = 1'b0;
        end
    end
    always @(*) begin
        result__tag = tag;
        if (~butterfly) begin
            result__tag = delay__out_tag;
        end
    end
    always @(*) begin
        mask = ((64'hffffffff) & 32'hffffffff);
        if (~butterfly) begin
            mask = ((32'h0) & 32'hffffffff);
        end
    end
    always @(*) begin
        a = delay__out_beat[(0 * 32'h20)+:(32)];
        b = beat[(0 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__0 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__0 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__0 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(1 * 32'h20)+:(32)];
        b = beat[(1 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__1 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__1 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__1 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(2 * 32'h20)+:(32)];
        b = beat[(2 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__2 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__2 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__2 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(3 * 32'h20)+:(32)];
        b = beat[(3 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__3 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__3 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__3 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(4 * 32'h20)+:(32)];
        b = beat[(4 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__4 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__4 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__4 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(5 * 32'h20)+:(32)];
        b = beat[(5 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__5 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__5 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__5 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(6 * 32'h20)+:(32)];
        b = beat[(6 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__6 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__6 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__6 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(7 * 32'h20)+:(32)];
        b = beat[(7 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__7 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__7 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__7 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(8 * 32'h20)+:(32)];
        b = beat[(8 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__8 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__8 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__8 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(9 * 32'h20)+:(32)];
        b = beat[(9 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__9 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__9 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__9 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(10 * 32'h20)+:(32)];
        b = beat[(10 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__10 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__10 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__10 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(11 * 32'h20)+:(32)];
        b = beat[(11 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__11 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__11 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__11 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(12 * 32'h20)+:(32)];
        b = beat[(12 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__12 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__12 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__12 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(13 * 32'h20)+:(32)];
        b = beat[(13 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__13 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__13 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__13 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(14 * 32'h20)+:(32)];
        b = beat[(14 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__14 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__14 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__14 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(15 * 32'h20)+:(32)];
        b = beat[(15 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
    end
    always @(*) begin
        if (halve) begin
            delay__lane__15 = (b >> 32'h1) - less;
        end
        else begin
            delay__lane__15 = b - less;
        end
    end
    assign result__lane__15 = sum[(32'h1)+:(32)];
    assign out_tag = result__out_tag;
    assign out_beat = result__out_beat;
    always @(*) begin
        position__d = position__q;
        if (entering) begin
            position__d = position__q + 32'h1;
        end
    end
    wire unused__sum = &{sum[0]};
endmodule

module optireduce_nic__nic__finisher__drain__decoder__butterflies__across__3(clock,enable,tag,beat,out_tag,out_beat);
    // Module arguments
    input wire  clock;
    input wire  enable;
    input wire  [23:0] tag;
    input wire  [511:0] beat;
    output wire  [23:0] out_tag;
    output wire  [511:0] out_beat;
    // Constant declarations
    localparam  halve = 1'b1;
    localparam  distance = 10'b1000;
    // Stub signals
    reg  [9:0] position__d;
    wire  [9:0] position__q;
    wire  position__clock;
    wire  delay__clock;
    reg  [23:0] delay__tag;
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
    wire  [23:0] delay__out_tag;
    wire  [511:0] delay__out_beat;
    wire  result__clock;
    reg  [23:0] result__tag;
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
    wire  [31:0] result__lane__15;
    wire  [23:0] result__out_tag;
    wire  [511:0] result__out_beat;
    // Local signals
    wire  [9:0] phase;
    wire  entering;
    wire  butterfly;
    reg  [31:0] mask;
    reg  [31:0] a;
    reg  [31:0] b;
    reg  [31:0] more;
    reg  [31:0] less;
    reg  [32:0] minus;
    reg  [32:0] sum;
    // Sub module instances
    optireduce_nic__nic__finisher__drain__decoder__butterflies__across__0__position position(
        .d(position__d),
        .q(position__q),
        .clock(position__clock)
    );
    optireduce_nic__nic__finisher__drain__decoder__butterflies__across__3__delay delay(
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
    optireduce_nic__nic__finisher__drain__decoder__butterflies__across__0__delay result(
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
    assign position__clock = clock;
    assign delay__clock = clock;
    assign result__clock = clock;
    assign phase = position__q & distance;
    assign entering = tag[(64'h0)+:(1)] && enable;
    assign butterfly = entering && (phase != 32'h0);
    always @(*) begin
        delay__tag = tag;
        delay__tag[(64'h2)+:(1)] = ~tag[(64'h2)+:(1)];
        if (~butterfly) begin
            delay__tag[(64'h0)+:(1)] = 1'b0;
        end
    end
    always @(*) begin
        result__tag = tag;
        if (~butterfly) begin
            result__tag = delay__out_tag;
        end
    end
    always @(*) begin
        mask = ((64'hffffffff) & 32'hffffffff);
        if (~butterfly) begin
            mask = ((32'h0) & 32'hffffffff);
        end
    end
    always @(*) begin
        a = delay__out_beat[(0 * 32'h20)+:(32)];
        b = beat[(0 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__0 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__0 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__0 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(1 * 32'h20)+:(32)];
        b = beat[(1 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__1 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__1 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__1 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(2 * 32'h20)+:(32)];
        b = beat[(2 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__2 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__2 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__2 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(3 * 32'h20)+:(32)];
        b = beat[(3 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__3 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__3 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__3 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(4 * 32'h20)+:(32)];
        b = beat[(4 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__4 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__4 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__4 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(5 * 32'h20)+:(32)];
        b = beat[(5 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__5 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__5 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__5 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(6 * 32'h20)+:(32)];
        b = beat[(6 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__6 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__6 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__6 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(7 * 32'h20)+:(32)];
        b = beat[(7 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__7 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__7 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__7 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(8 * 32'h20)+:(32)];
        b = beat[(8 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__8 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__8 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__8 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(9 * 32'h20)+:(32)];
        b = beat[(9 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__9 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__9 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__9 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(10 * 32'h20)+:(32)];
        b = beat[(10 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__10 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__10 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__10 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(11 * 32'h20)+:(32)];
        b = beat[(11 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__11 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__11 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__11 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(12 * 32'h20)+:(32)];
        b = beat[(12 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__12 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__12 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__12 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(13 * 32'h20)+:(32)];
        b = beat[(13 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__13 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__13 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__13 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(14 * 32'h20)+:(32)];
        b = beat[(14 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__14 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__14 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__14 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(15 * 32'h20)+:(32)];
        b = beat[(15 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
    end
    always @(*) begin
        if (halve) begin
            delay__lane__15 = (b >> 32'h1) - less;
        end
        else begin
            delay__lane__15 = b - less;
        end
    end
    assign result__lane__15 = sum[(32'h1)+:(32)];
    assign out_tag = result__out_tag;
    assign out_beat = result__out_beat;
    always @(*) begin
        position__d = position__q;
        if (entering) begin
            position__d = position__q + 32'h1;
        end
    end
    wire unused__sum = &{sum[0]};
endmodule

module optireduce_nic__nic__finisher__drain__decoder__butterflies__across__4(clock,enable,tag,beat,out_tag,out_beat);
    // Module arguments
    input wire  clock;
    input wire  enable;
    input wire  [23:0] tag;
    input wire  [511:0] beat;
    output wire  [23:0] out_tag;
    output wire  [511:0] out_beat;
    // Constant declarations
    localparam  halve = 1'b0;
    localparam  distance = 10'b10000;
    // Stub signals
    reg  [9:0] position__d;
    wire  [9:0] position__q;
    wire  position__clock;
    wire  delay__clock;
    reg  [23:0] delay__tag;
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
    wire  [23:0] delay__out_tag;
    wire  [511:0] delay__out_beat;
    wire  result__clock;
    reg  [23:0] result__tag;
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
    wire  [31:0] result__lane__15;
    wire  [23:0] result__out_tag;
    wire  [511:0] result__out_beat;
    // Local signals
    wire  [9:0] phase;
    wire  entering;
    wire  butterfly;
    reg  [31:0] mask;
    reg  [31:0] a;
    reg  [31:0] b;
    reg  [31:0] more;
    reg  [31:0] less;
    reg  [32:0] minus;
    reg  [32:0] sum;
    // Sub module instances
    optireduce_nic__nic__finisher__drain__decoder__butterflies__across__0__position position(
        .d(position__d),
        .q(position__q),
        .clock(position__clock)
    );
    optireduce_nic__nic__finisher__drain__decoder__butterflies__across__4__delay delay(
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
    optireduce_nic__nic__finisher__drain__decoder__butterflies__across__0__delay result(
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
    assign position__clock = clock;
    assign delay__clock = clock;
    assign result__clock = clock;
    assign phase = position__q & distance;
    assign entering = tag[(64'h0)+:(1)] && enable;
    assign butterfly = entering && (phase != 32'h0);
    always @(*) begin
        delay__tag = tag;
        delay__tag[(64'h2)+:(1)] = ~tag[(64'h2)+:(1)];
        if (~butterfly) begin
            delay__tag[(64'h0)+:(1)] = 1'b0;
        end
    end
    always @(*) begin
        result__tag = tag;
        if (~butterfly) begin
            result__tag = delay__out_tag;
        end
    end
    always @(*) begin
        mask = ((64'hffffffff) & 32'hffffffff);
        if (~butterfly) begin
            mask = ((32'h0) & 32'hffffffff);
        end
    end
    always @(*) begin
        a = delay__out_beat[(0 * 32'h20)+:(32)];
        b = beat[(0 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__0 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__0 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__0 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(1 * 32'h20)+:(32)];
        b = beat[(1 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__1 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__1 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__1 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(2 * 32'h20)+:(32)];
        b = beat[(2 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__2 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__2 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__2 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(3 * 32'h20)+:(32)];
        b = beat[(3 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__3 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__3 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__3 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(4 * 32'h20)+:(32)];
        b = beat[(4 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__4 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__4 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__4 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(5 * 32'h20)+:(32)];
        b = beat[(5 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__5 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__5 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__5 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(6 * 32'h20)+:(32)];
        b = beat[(6 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__6 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__6 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__6 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(7 * 32'h20)+:(32)];
        b = beat[(7 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__7 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__7 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__7 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(8 * 32'h20)+:(32)];
        b = beat[(8 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__8 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__8 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__8 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(9 * 32'h20)+:(32)];
        b = beat[(9 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__9 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__9 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__9 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(10 * 32'h20)+:(32)];
        b = beat[(10 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__10 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__10 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__10 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(11 * 32'h20)+:(32)];
        b = beat[(11 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__11 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__11 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__11 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(12 * 32'h20)+:(32)];
        b = beat[(12 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__12 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__12 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__12 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(13 * 32'h20)+:(32)];
        b = beat[(13 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__13 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__13 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__13 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(14 * 32'h20)+:(32)];
        b = beat[(14 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__14 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__14 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__14 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(15 * 32'h20)+:(32)];
        b = beat[(15 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
    end
    always @(*) begin
        if (halve) begin
            delay__lane__15 = (b >> 32'h1) - less;
        end
        else begin
            delay__lane__15 = b - less;
        end
    end
    assign result__lane__15 = sum[(32'h1)+:(32)];
    assign out_tag = result__out_tag;
    assign out_beat = result__out_beat;
    always @(*) begin
        position__d = position__q;
        if (entering) begin
            position__d = position__q + 32'h1;
        end
    end
    wire unused__sum = &{sum[0]};
endmodule

module optireduce_nic__nic__finisher__drain__decoder__butterflies__across__5(clock,enable,tag,beat,out_tag,out_beat);
    // Module arguments
    input wire  clock;
    input wire  enable;
    input wire  [23:0] tag;
    input wire  [511:0] beat;
    output wire  [23:0] out_tag;
    output wire  [511:0] out_beat;
    // Constant declarations
    localparam  halve = 1'b1;
    localparam  distance = 10'b100000;
    // Stub signals
    reg  [9:0] position__d;
    wire  [9:0] position__q;
    wire  position__clock;
    wire  delay__clock;
    reg  [23:0] delay__tag;
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
    wire  [23:0] delay__out_tag;
    wire  [511:0] delay__out_beat;
    wire  result__clock;
    reg  [23:0] result__tag;
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
    wire  [31:0] result__lane__15;
    wire  [23:0] result__out_tag;
    wire  [511:0] result__out_beat;
    // Local signals
    wire  [9:0] phase;
    wire  entering;
    wire  butterfly;
    reg  [31:0] mask;
    reg  [31:0] a;
    reg  [31:0] b;
    reg  [31:0] more;
    reg  [31:0] less;
    reg  [32:0] minus;
    reg  [32:0] sum;
    // Sub module instances
    optireduce_nic__nic__finisher__drain__decoder__butterflies__across__0__position position(
        .d(position__d),
        .q(position__q),
        .clock(position__clock)
    );
    optireduce_nic__nic__finisher__drain__decoder__butterflies__across__5__delay delay(
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
    optireduce_nic__nic__finisher__drain__decoder__butterflies__across__0__delay result(
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
    assign position__clock = clock;
    assign delay__clock = clock;
    assign result__clock = clock;
    assign phase = position__q & distance;
    assign entering = tag[(64'h0)+:(1)] && enable;
    assign butterfly = entering && (phase != 32'h0);
    always @(*) begin
        delay__tag = tag;
        delay__tag[(64'h2)+:(1)] = ~tag[(64'h2)+:(1)];
        if (~butterfly) begin
            delay__tag[(64'h0)+:(1)] = 1'b0;
        end
    end
    always @(*) begin
        result__tag = tag;
        if (~butterfly) begin
            result__tag = delay__out_tag;
        end
    end
    always @(*) begin
        mask = ((64'hffffffff) & 32'hffffffff);
        if (~butterfly) begin
            mask = ((32'h0) & 32'hffffffff);
        end
    end
    always @(*) begin
        a = delay__out_beat[(0 * 32'h20)+:(32)];
        b = beat[(0 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__0 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__0 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__0 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(1 * 32'h20)+:(32)];
        b = beat[(1 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__1 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__1 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__1 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(2 * 32'h20)+:(32)];
        b = beat[(2 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__2 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__2 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__2 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(3 * 32'h20)+:(32)];
        b = beat[(3 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__3 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__3 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__3 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(4 * 32'h20)+:(32)];
        b = beat[(4 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__4 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__4 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__4 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(5 * 32'h20)+:(32)];
        b = beat[(5 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__5 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__5 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__5 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(6 * 32'h20)+:(32)];
        b = beat[(6 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__6 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__6 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__6 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(7 * 32'h20)+:(32)];
        b = beat[(7 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__7 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__7 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__7 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(8 * 32'h20)+:(32)];
        b = beat[(8 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__8 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__8 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__8 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(9 * 32'h20)+:(32)];
        b = beat[(9 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__9 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__9 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__9 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(10 * 32'h20)+:(32)];
        b = beat[(10 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__10 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__10 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__10 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(11 * 32'h20)+:(32)];
        b = beat[(11 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__11 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__11 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__11 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(12 * 32'h20)+:(32)];
        b = beat[(12 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__12 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__12 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__12 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(13 * 32'h20)+:(32)];
        b = beat[(13 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__13 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__13 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__13 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(14 * 32'h20)+:(32)];
        b = beat[(14 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__14 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__14 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__14 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(15 * 32'h20)+:(32)];
        b = beat[(15 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
    end
    always @(*) begin
        if (halve) begin
            delay__lane__15 = (b >> 32'h1) - less;
        end
        else begin
            delay__lane__15 = b - less;
        end
    end
    assign result__lane__15 = sum[(32'h1)+:(32)];
    assign out_tag = result__out_tag;
    assign out_beat = result__out_beat;
    always @(*) begin
        position__d = position__q;
        if (entering) begin
            position__d = position__q + 32'h1;
        end
    end
    wire unused__sum = &{sum[0]};
endmodule

module optireduce_nic__nic__finisher__drain__decoder__butterflies__across__6(clock,enable,tag,beat,out_tag,out_beat);
    // Module arguments
    input wire  clock;
    input wire  enable;
    input wire  [23:0] tag;
    input wire  [511:0] beat;
    output wire  [23:0] out_tag;
    output wire  [511:0] out_beat;
    // Constant declarations
    localparam  halve = 1'b0;
    localparam  distance = 10'b1000000;
    // Stub signals
    reg  [9:0] position__d;
    wire  [9:0] position__q;
    wire  position__clock;
    wire  delay__clock;
    reg  [23:0] delay__tag;
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
    wire  [23:0] delay__out_tag;
    wire  [511:0] delay__out_beat;
    wire  result__clock;
    reg  [23:0] result__tag;
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
    wire  [31:0] result__lane__15;
    wire  [23:0] result__out_tag;
    wire  [511:0] result__out_beat;
    // Local signals
    wire  [9:0] phase;
    wire  entering;
    wire  butterfly;
    reg  [31:0] mask;
    reg  [31:0] a;
    reg  [31:0] b;
    reg  [31:0] more;
    reg  [31:0] less;
    reg  [32:0] minus;
    reg  [32:0] sum;
    // Sub module instances
    optireduce_nic__nic__finisher__drain__decoder__butterflies__across__0__position position(
        .d(position__d),
        .q(position__q),
        .clock(position__clock)
    );
    optireduce_nic__nic__finisher__drain__decoder__butterflies__across__6__delay delay(
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
    optireduce_nic__nic__finisher__drain__decoder__butterflies__across__0__delay result(
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
    assign position__clock = clock;
    assign delay__clock = clock;
    assign result__clock = clock;
    assign phase = position__q & distance;
    assign entering = tag[(64'h0)+:(1)] && enable;
    assign butterfly = entering && (phase != 32'h0);
    always @(*) begin
        delay__tag = tag;
        delay__tag[(64'h2)+:(1)] = ~tag[(64'h2)+:(1)];
        if (~butterfly) begin
            delay__tag[(64'h0)+:(1)] = 1'b0;
        end
    end
    always @(*) begin
        result__tag = tag;
        if (~butterfly) begin
            result__tag = delay__out_tag;
        end
    end
    always @(*) begin
        mask = ((64'hffffffff) & 32'hffffffff);
        if (~butterfly) begin
            mask = ((32'h0) & 32'hffffffff);
        end
    end
    always @(*) begin
        a = delay__out_beat[(0 * 32'h20)+:(32)];
        b = beat[(0 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__0 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__0 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__0 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(1 * 32'h20)+:(32)];
        b = beat[(1 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__1 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__1 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__1 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(2 * 32'h20)+:(32)];
        b = beat[(2 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__2 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__2 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__2 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(3 * 32'h20)+:(32)];
        b = beat[(3 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__3 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__3 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__3 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(4 * 32'h20)+:(32)];
        b = beat[(4 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__4 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__4 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__4 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(5 * 32'h20)+:(32)];
        b = beat[(5 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__5 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__5 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__5 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(6 * 32'h20)+:(32)];
        b = beat[(6 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__6 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__6 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__6 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(7 * 32'h20)+:(32)];
        b = beat[(7 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__7 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__7 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__7 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(8 * 32'h20)+:(32)];
        b = beat[(8 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__8 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__8 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__8 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(9 * 32'h20)+:(32)];
        b = beat[(9 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__9 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__9 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__9 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(10 * 32'h20)+:(32)];
        b = beat[(10 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__10 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__10 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__10 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(11 * 32'h20)+:(32)];
        b = beat[(11 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__11 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__11 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__11 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(12 * 32'h20)+:(32)];
        b = beat[(12 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__12 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__12 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__12 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(13 * 32'h20)+:(32)];
        b = beat[(13 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__13 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__13 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__13 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(14 * 32'h20)+:(32)];
        b = beat[(14 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__14 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__14 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__14 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(15 * 32'h20)+:(32)];
        b = beat[(15 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
    end
    always @(*) begin
        if (halve) begin
            delay__lane__15 = (b >> 32'h1) - less;
        end
        else begin
            delay__lane__15 = b - less;
        end
    end
    assign result__lane__15 = sum[(32'h1)+:(32)];
    assign out_tag = result__out_tag;
    assign out_beat = result__out_beat;
    always @(*) begin
        position__d = position__q;
        if (entering) begin
            position__d = position__q + 32'h1;
        end
    end
    wire unused__sum = &{sum[0]};
endmodule

module optireduce_nic__nic__finisher__drain__decoder__butterflies__across__7(clock,enable,tag,beat,out_tag,out_beat);
    // Module arguments
    input wire  clock;
    input wire  enable;
    input wire  [23:0] tag;
    input wire  [511:0] beat;
    output wire  [23:0] out_tag;
    output wire  [511:0] out_beat;
    // Constant declarations
    localparam  halve = 1'b1;
    localparam  distance = 10'b10000000;
    // Stub signals
    reg  [9:0] position__d;
    wire  [9:0] position__q;
    wire  position__clock;
    wire  delay__clock;
    reg  [23:0] delay__tag;
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
    wire  [23:0] delay__out_tag;
    wire  [511:0] delay__out_beat;
    wire  result__clock;
    reg  [23:0] result__tag;
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
    wire  [31:0] result__lane__15;
    wire  [23:0] result__out_tag;
    wire  [511:0] result__out_beat;
    // Local signals
    wire  [9:0] phase;
    wire  entering;
    wire  butterfly;
    reg  [31:0] mask;
    reg  [31:0] a;
    reg  [31:0] b;
    reg  [31:0] more;
    reg  [31:0] less;
    reg  [32:0] minus;
    reg  [32:0] sum;
    // Sub module instances
    optireduce_nic__nic__finisher__drain__decoder__butterflies__across__0__position position(
        .d(position__d),
        .q(position__q),
        .clock(position__clock)
    );
    optireduce_nic__nic__finisher__drain__decoder__butterflies__across__7__delay delay(
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
    optireduce_nic__nic__finisher__drain__decoder__butterflies__across__0__delay result(
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
    assign position__clock = clock;
    assign delay__clock = clock;
    assign result__clock = clock;
    assign phase = position__q & distance;
    assign entering = tag[(64'h0)+:(1)] && enable;
    assign butterfly = entering && (phase != 32'h0);
    always @(*) begin
        delay__tag = tag;
        delay__tag[(64'h2)+:(1)] = ~tag[(64'h2)+:(1)];
        if (~butterfly) begin
            delay__tag[(64'h0)+:(1)] = 1'b0;
        end
    end
    always @(*) begin
        result__tag = tag;
        if (~butterfly) begin
            result__tag = delay__out_tag;
        end
    end
    always @(*) begin
        mask = ((64'hffffffff) & 32'hffffffff);
        if (~butterfly) begin
            mask = ((32'h0) & 32'hffffffff);
        end
    end
    always @(*) begin
        a = delay__out_beat[(0 * 32'h20)+:(32)];
        b = beat[(0 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__0 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__0 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__0 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(1 * 32'h20)+:(32)];
        b = beat[(1 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__1 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__1 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__1 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(2 * 32'h20)+:(32)];
        b = beat[(2 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__2 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__2 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__2 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(3 * 32'h20)+:(32)];
        b = beat[(3 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__3 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__3 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__3 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(4 * 32'h20)+:(32)];
        b = beat[(4 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__4 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__4 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__4 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(5 * 32'h20)+:(32)];
        b = beat[(5 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__5 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__5 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__5 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(6 * 32'h20)+:(32)];
        b = beat[(6 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__6 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__6 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__6 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(7 * 32'h20)+:(32)];
        b = beat[(7 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__7 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__7 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__7 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(8 * 32'h20)+:(32)];
        b = beat[(8 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__8 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__8 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__8 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(9 * 32'h20)+:(32)];
        b = beat[(9 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__9 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__9 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__9 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(10 * 32'h20)+:(32)];
        b = beat[(10 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__10 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__10 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__10 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(11 * 32'h20)+:(32)];
        b = beat[(11 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__11 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__11 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__11 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(12 * 32'h20)+:(32)];
        b = beat[(12 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__12 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__12 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__12 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(13 * 32'h20)+:(32)];
        b = beat[(13 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__13 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__13 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__13 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(14 * 32'h20)+:(32)];
        b = beat[(14 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            delay__lane__14 = (b >> 32'h1) - less;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            delay__lane__14 = b - less;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
        result__lane__14 = sum[(32'h1)+:(32)];
        a = delay__out_beat[(15 * 32'h20)+:(32)];
        b = beat[(15 * 32'h20)+:(32)];
        less = (a ^ 64'h80000000) & mask;
        if (halve) begin
            more = b & mask;
            minus = ((more) & 33'h1ffffffff) ^ 64'h1ffffffff;
        end
        else begin
            more = (b ^ 64'h80000000) & mask;
            minus = (((more) & 33'h1ffffffff) << 32'h1) ^ 64'h1ffffffff;
        end
        sum = (((a) & 33'h1ffffffff) << 32'h1) - minus;
    end
    always @(*) begin
        if (halve) begin
            delay__lane__15 = (b >> 32'h1) - less;
        end
        else begin
            delay__lane__15 = b - less;
        end
    end
    assign result__lane__15 = sum[(32'h1)+:(32)];
    assign out_tag = result__out_tag;
    assign out_beat = result__out_beat;
    always @(*) begin
        position__d = position__q;
        if (entering) begin
            position__d = position__q + 32'h1;
        end
    end
    wire unused__sum = &{sum[0]};
endmodule

module optireduce_nic__nic__finisher__drain__decoder__butterflies__in_beat__0(clock,tag,beat,out_tag,out_beat);
    // Module arguments
    input wire  clock;
    input wire  [23:0] tag;
    input wire  [511:0] beat;
    output wire  [23:0] out_tag;
    output wire  [511:0] out_beat;
    // Constant declarations
    localparam  halve = 1'b0;
    // Stub signals
    wire  result__clock;
    wire  [23:0] result__tag;
    wire  [31:0] result__lane__0;
    wire  [31:0] result__lane__1;
    wire  [31:0] result__lane__2;
    wire  [31:0] result__lane__3;
    wire  [31:0] result__lane__4;
    wire  [31:0] result__lane__5;
    wire  [31:0] result__lane__6;
    wire  [31:0] result__lane__7;
    wire  [31:0] result__lane__8;
    wire  [31:0] result__lane__9;
    wire  [31:0] result__lane__10;
    wire  [31:0] result__lane__11;
    wire  [31:0] result__lane__12;
    wire  [31:0] result__lane__13;
    wire  [31:0] result__lane__14;
    wire  [31:0] result__lane__15;
    wire  [23:0] result__out_tag;
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
    reg  [31:0] sum__0;
    reg  [31:0] sum__1;
    reg  [31:0] sum__2;
    reg  [31:0] sum__3;
    reg  [31:0] sum__4;
    reg  [31:0] sum__5;
    reg  [31:0] sum__6;
    reg  [31:0] sum__7;
    // Sub module instances
    optireduce_nic__nic__finisher__drain__decoder__butterflies__across__0__delay result(
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
    assign result__clock = clock;
    assign result__tag = tag;
    always @(*) begin
        a__0 = beat[(0 * 32'h40)+:(32)];
        b__0 = beat[(0 * 32'h40 + 32'h20)+:(32)];
        if (halve) begin
            sum__0 = (a__0 >> 32'h1) + (b__0 >> 32'h1) + (b__0 & 32'h1);
            a__0 = a__0 >> 32'h1;
            b__0 = b__0 >> 32'h1;
        end
        else begin
            sum__0 = a__0 + (b__0 ^ 64'h80000000);
        end
    end
    always @(*) begin
        a__1 = beat[(1 * 32'h40)+:(32)];
        b__1 = beat[(1 * 32'h40 + 32'h20)+:(32)];
        if (halve) begin
            sum__1 = (a__1 >> 32'h1) + (b__1 >> 32'h1) + (b__1 & 32'h1);
            a__1 = a__1 >> 32'h1;
            b__1 = b__1 >> 32'h1;
        end
        else begin
            sum__1 = a__1 + (b__1 ^ 64'h80000000);
        end
    end
    always @(*) begin
        a__2 = beat[(2 * 32'h40)+:(32)];
        b__2 = beat[(2 * 32'h40 + 32'h20)+:(32)];
        if (halve) begin
            sum__2 = (a__2 >> 32'h1) + (b__2 >> 32'h1) + (b__2 & 32'h1);
            a__2 = a__2 >> 32'h1;
            b__2 = b__2 >> 32'h1;
        end
        else begin
            sum__2 = a__2 + (b__2 ^ 64'h80000000);
        end
    end
    always @(*) begin
        a__3 = beat[(3 * 32'h40)+:(32)];
        b__3 = beat[(3 * 32'h40 + 32'h20)+:(32)];
        if (halve) begin
            sum__3 = (a__3 >> 32'h1) + (b__3 >> 32'h1) + (b__3 & 32'h1);
            a__3 = a__3 >> 32'h1;
            b__3 = b__3 >> 32'h1;
        end
        else begin
            sum__3 = a__3 + (b__3 ^ 64'h80000000);
        end
    end
    always @(*) begin
        a__4 = beat[(4 * 32'h40)+:(32)];
        b__4 = beat[(4 * 32'h40 + 32'h20)+:(32)];
        if (halve) begin
            sum__4 = (a__4 >> 32'h1) + (b__4 >> 32'h1) + (b__4 & 32'h1);
            a__4 = a__4 >> 32'h1;
            b__4 = b__4 >> 32'h1;
        end
        else begin
            sum__4 = a__4 + (b__4 ^ 64'h80000000);
        end
    end
    always @(*) begin
        a__5 = beat[(5 * 32'h40)+:(32)];
        b__5 = beat[(5 * 32'h40 + 32'h20)+:(32)];
        if (halve) begin
            sum__5 = (a__5 >> 32'h1) + (b__5 >> 32'h1) + (b__5 & 32'h1);
            a__5 = a__5 >> 32'h1;
            b__5 = b__5 >> 32'h1;
        end
        else begin
            sum__5 = a__5 + (b__5 ^ 64'h80000000);
        end
    end
    always @(*) begin
        a__6 = beat[(6 * 32'h40)+:(32)];
        b__6 = beat[(6 * 32'h40 + 32'h20)+:(32)];
        if (halve) begin
            sum__6 = (a__6 >> 32'h1) + (b__6 >> 32'h1) + (b__6 & 32'h1);
            a__6 = a__6 >> 32'h1;
            b__6 = b__6 >> 32'h1;
        end
        else begin
            sum__6 = a__6 + (b__6 ^ 64'h80000000);
        end
    end
    always @(*) begin
        a__7 = beat[(7 * 32'h40)+:(32)];
        b__7 = beat[(7 * 32'h40 + 32'h20)+:(32)];
        if (halve) begin
            sum__7 = (a__7 >> 32'h1) + (b__7 >> 32'h1) + (b__7 & 32'h1);
            a__7 = a__7 >> 32'h1;
            b__7 = b__7 >> 32'h1;
        end
        else begin
            sum__7 = a__7 + (b__7 ^ 64'h80000000);
        end
    end
    assign result__lane__0 = sum__0;
    assign result__lane__8 = (b__0 ^ 64'h80000000) - a__0;
    assign result__lane__1 = sum__1;
    assign result__lane__9 = (b__1 ^ 64'h80000000) - a__1;
    assign result__lane__2 = sum__2;
    assign result__lane__10 = (b__2 ^ 64'h80000000) - a__2;
    assign result__lane__3 = sum__3;
    assign result__lane__11 = (b__3 ^ 64'h80000000) - a__3;
    assign result__lane__4 = sum__4;
    assign result__lane__12 = (b__4 ^ 64'h80000000) - a__4;
    assign result__lane__5 = sum__5;
    assign result__lane__13 = (b__5 ^ 64'h80000000) - a__5;
    assign result__lane__6 = sum__6;
    assign result__lane__14 = (b__6 ^ 64'h80000000) - a__6;
    assign result__lane__7 = sum__7;
    assign result__lane__15 = (b__7 ^ 64'h80000000) - a__7;
    assign out_tag = result__out_tag;
    assign out_beat = result__out_beat;
endmodule

module optireduce_nic__nic__finisher__drain__decoder__butterflies__in_beat__1(clock,tag,beat,out_tag,out_beat);
    // Module arguments
    input wire  clock;
    input wire  [23:0] tag;
    input wire  [511:0] beat;
    output wire  [23:0] out_tag;
    output wire  [511:0] out_beat;
    // Constant declarations
    localparam  halve = 1'b1;
    // Stub signals
    wire  result__clock;
    wire  [23:0] result__tag;
    wire  [31:0] result__lane__0;
    wire  [31:0] result__lane__1;
    wire  [31:0] result__lane__2;
    wire  [31:0] result__lane__3;
    wire  [31:0] result__lane__4;
    wire  [31:0] result__lane__5;
    wire  [31:0] result__lane__6;
    wire  [31:0] result__lane__7;
    wire  [31:0] result__lane__8;
    wire  [31:0] result__lane__9;
    wire  [31:0] result__lane__10;
    wire  [31:0] result__lane__11;
    wire  [31:0] result__lane__12;
    wire  [31:0] result__lane__13;
    wire  [31:0] result__lane__14;
    wire  [31:0] result__lane__15;
    wire  [23:0] result__out_tag;
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
    reg  [31:0] sum__0;
    reg  [31:0] sum__1;
    reg  [31:0] sum__2;
    reg  [31:0] sum__3;
    reg  [31:0] sum__4;
    reg  [31:0] sum__5;
    reg  [31:0] sum__6;
    reg  [31:0] sum__7;
    // Sub module instances
    optireduce_nic__nic__finisher__drain__decoder__butterflies__across__0__delay result(
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
    assign result__clock = clock;
    assign result__tag = tag;
    always @(*) begin
        a__0 = beat[(0 * 32'h40)+:(32)];
        b__0 = beat[(0 * 32'h40 + 32'h20)+:(32)];
        if (halve) begin
            sum__0 = (a__0 >> 32'h1) + (b__0 >> 32'h1) + (b__0 & 32'h1);
            a__0 = a__0 >> 32'h1;
            b__0 = b__0 >> 32'h1;
        end
        else begin
            sum__0 = a__0 + (b__0 ^ 64'h80000000);
        end
    end
    always @(*) begin
        a__1 = beat[(1 * 32'h40)+:(32)];
        b__1 = beat[(1 * 32'h40 + 32'h20)+:(32)];
        if (halve) begin
            sum__1 = (a__1 >> 32'h1) + (b__1 >> 32'h1) + (b__1 & 32'h1);
            a__1 = a__1 >> 32'h1;
            b__1 = b__1 >> 32'h1;
        end
        else begin
            sum__1 = a__1 + (b__1 ^ 64'h80000000);
        end
    end
    always @(*) begin
        a__2 = beat[(2 * 32'h40)+:(32)];
        b__2 = beat[(2 * 32'h40 + 32'h20)+:(32)];
        if (halve) begin
            sum__2 = (a__2 >> 32'h1) + (b__2 >> 32'h1) + (b__2 & 32'h1);
            a__2 = a__2 >> 32'h1;
            b__2 = b__2 >> 32'h1;
        end
        else begin
            sum__2 = a__2 + (b__2 ^ 64'h80000000);
        end
    end
    always @(*) begin
        a__3 = beat[(3 * 32'h40)+:(32)];
        b__3 = beat[(3 * 32'h40 + 32'h20)+:(32)];
        if (halve) begin
            sum__3 = (a__3 >> 32'h1) + (b__3 >> 32'h1) + (b__3 & 32'h1);
            a__3 = a__3 >> 32'h1;
            b__3 = b__3 >> 32'h1;
        end
        else begin
            sum__3 = a__3 + (b__3 ^ 64'h80000000);
        end
    end
    always @(*) begin
        a__4 = beat[(4 * 32'h40)+:(32)];
        b__4 = beat[(4 * 32'h40 + 32'h20)+:(32)];
        if (halve) begin
            sum__4 = (a__4 >> 32'h1) + (b__4 >> 32'h1) + (b__4 & 32'h1);
            a__4 = a__4 >> 32'h1;
            b__4 = b__4 >> 32'h1;
        end
        else begin
            sum__4 = a__4 + (b__4 ^ 64'h80000000);
        end
    end
    always @(*) begin
        a__5 = beat[(5 * 32'h40)+:(32)];
        b__5 = beat[(5 * 32'h40 + 32'h20)+:(32)];
        if (halve) begin
            sum__5 = (a__5 >> 32'h1) + (b__5 >> 32'h1) + (b__5 & 32'h1);
            a__5 = a__5 >> 32'h1;
            b__5 = b__5 >> 32'h1;
        end
        else begin
            sum__5 = a__5 + (b__5 ^ 64'h80000000);
        end
    end
    always @(*) begin
        a__6 = beat[(6 * 32'h40)+:(32)];
        b__6 = beat[(6 * 32'h40 + 32'h20)+:(32)];
        if (halve) begin
            sum__6 = (a__6 >> 32'h1) + (b__6 >> 32'h1) + (b__6 & 32'h1);
            a__6 = a__6 >> 32'h1;
            b__6 = b__6 >> 32'h1;
        end
        else begin
            sum__6 = a__6 + (b__6 ^ 64'h80000000);
        end
    end
    always @(*) begin
        a__7 = beat[(7 * 32'h40)+:(32)];
        b__7 = beat[(7 * 32'h40 + 32'h20)+:(32)];
        if (halve) begin
            sum__7 = (a__7 >> 32'h1) + (b__7 >> 32'h1) + (b__7 & 32'h1);
            a__7 = a__7 >> 32'h1;
            b__7 = b__7 >> 32'h1;
        end
        else begin
            sum__7 = a__7 + (b__7 ^ 64'h80000000);
        end
    end
    assign result__lane__0 = sum__0;
    assign result__lane__8 = (b__0 ^ 64'h80000000) - a__0;
    assign result__lane__1 = sum__1;
    assign result__lane__9 = (b__1 ^ 64'h80000000) - a__1;
    assign result__lane__2 = sum__2;
    assign result__lane__10 = (b__2 ^ 64'h80000000) - a__2;
    assign result__lane__3 = sum__3;
    assign result__lane__11 = (b__3 ^ 64'h80000000) - a__3;
    assign result__lane__4 = sum__4;
    assign result__lane__12 = (b__4 ^ 64'h80000000) - a__4;
    assign result__lane__5 = sum__5;
    assign result__lane__13 = (b__5 ^ 64'h80000000) - a__5;
    assign result__lane__6 = sum__6;
    assign result__lane__14 = (b__6 ^ 64'h80000000) - a__6;
    assign result__lane__7 = sum__7;
    assign result__lane__15 = (b__7 ^ 64'h80000000) - a__7;
    assign out_tag = result__out_tag;
    assign out_beat = result__out_beat;
endmodule

module optireduce_nic__nic__finisher__drain__decoder__sign_source__0__pipe(d,q,clock);
    // Module arguments
    input wire  [326:0] d;
    output reg  [326:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 327'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__nic__finisher__drain__decoder__to_fixed__lane__0(clock,a,scale,result);
    // Module arguments
    input wire  clock;
    input wire  [31:0] a;
    input wire  [8:0] scale;
    output wire  [31:0] result;
    // Stub signals
    reg  [98:0] st__d;
    wire  [98:0] st__q;
    wire  st__clock;
    // Local signals
    reg  [7:0] exponent;
    wire  [9:0] distance;
    wire  [31:0] by0;
    reg  [31:0] by16;
    reg  [31:0] by8;
    reg  [31:0] by4;
    reg  [31:0] by2;
    reg  lost16;
    reg  lost8;
    reg  lost4;
    reg  lost2;
    reg  [31:0] by1;
    reg  sticky;
    wire  up;
    reg  [31:0] whole;
    wire  [32:0] sum;
    reg  [32:0] addend;
    // Sub module instances
    optireduce_nic__nic__finisher__drain__decoder__to_fixed__lane__0__st st(
        .d(st__d),
        .q(st__q),
        .clock(st__clock)
    );
    // Update code
    assign st__clock = clock;
    always @(*) begin
        exponent = a[(32'h17)+:(8)];
        if (a[(32'h17)+:(8)] == 32'h0) begin
            exponent = ((32'h1) & 8'hff);
        end
    end
    assign distance = ((scale) & 10'h3ff) - ((exponent) & 10'h3ff);
    assign by0 = ((st__q[(64'h7)+:(24)]) & 32'hffffffff) << 32'h8;
    always @(*) begin
        by16 = by0;
        if ((st__q[(64'h2)+:(5)] & 32'h10) != 32'h0) begin
            by16 = by0 >> 32'h10;
        end
    end
    always @(*) begin
        lost16 = 1'b0;
        if ((st__q[(64'h2)+:(5)] & 32'h10) != 32'h0) begin
            lost16 = by0[(32'h0)+:(16)] != 32'h0;
        end
    end
    always @(*) begin
        by8 = by16;
        if ((st__q[(64'h2)+:(5)] & 32'h8) != 32'h0) begin
            by8 = by16 >> 32'h8;
        end
    end
    always @(*) begin
        lost8 = 1'b0;
        if ((st__q[(64'h2)+:(5)] & 32'h8) != 32'h0) begin
            lost8 = by16[(32'h0)+:(8)] != 32'h0;
        end
    end
    always @(*) begin
        by4 = by8;
        if ((st__q[(64'h2)+:(5)] & 32'h4) != 32'h0) begin
            by4 = by8 >> 32'h4;
        end
    end
    always @(*) begin
        lost4 = 1'b0;
        if ((st__q[(64'h2)+:(5)] & 32'h4) != 32'h0) begin
            lost4 = by8[(32'h0)+:(4)] != 32'h0;
        end
    end
    always @(*) begin
        by2 = by4;
        if ((st__q[(64'h2)+:(5)] & 32'h2) != 32'h0) begin
            by2 = by4 >> 32'h2;
        end
    end
    always @(*) begin
        lost2 = 1'b0;
        if ((st__q[(64'h2)+:(5)] & 32'h2) != 32'h0) begin
            lost2 = by4[(32'h0)+:(2)] != 32'h0;
        end
    end
    always @(*) begin
        by1 = st__q[(64'h23)+:(32)];
        if (st__q[(64'h21)+:(1)]) begin
            by1 = st__q[(64'h23)+:(32)] >> 32'h1;
        end
    end
    always @(*) begin
        sticky = st__q[(64'h22)+:(1)];
        if (st__q[(64'h21)+:(1)]) begin
            sticky = st__q[(64'h22)+:(1)] || ((st__q[(64'h23)+:(32)] & 32'h1) != 32'h0);
        end
    end
    assign up = by1[32'h0] && (sticky || by1[32'h1]);
    always @(*) begin
        whole = by1 >> 32'h1;
        if (st__q[(64'h1f)+:(1)]) begin
            whole = whole ^ 64'hffffffff;
        end
        if (st__q[(64'h20)+:(1)]) begin
            whole = whole ^ 64'h80000000;
        end
    end
    always @(*) begin
        addend = ((whole) & 33'h1ffffffff) << 32'h1;
        if (up != st__q[(64'h1f)+:(1)]) begin
            addend = addend | 32'h1;
        end
    end
    assign sum = addend + 32'h1;
    assign result = st__q[(64'h43)+:(32)];
    always @(*) begin
        st__d = st__q;
        st__d[(64'h7)+:(24)] = a[(32'h0)+:(24)] | 32'h800000;
        if (a[(32'h17)+:(8)] == 32'h0) begin
            st__d[(64'h7)+:(24)] = ((a) & 24'hffffff) & 32'h7fffff;
        end
        st__d[(64'h2)+:(5)] = distance[(32'h0)+:(5)];
        st__d[(64'h0)+:(1)] = a[32'h1f];
        st__d[(64'h1)+:(1)] = distance[32'h9];
        if (distance[(32'h5)+:(5)] != 32'h0) begin
            st__d[(64'h7)+:(24)] = ((32'h0) & 24'hffffff);
        end
        st__d[(64'h23)+:(32)] = by2;
        st__d[(64'h22)+:(1)] = lost16 || lost8 || lost4 || lost2;
        st__d[(64'h21)+:(1)] = (st__q[(64'h2)+:(5)] & 32'h1) != 32'h0;
        st__d[(64'h1f)+:(1)] = st__q[(64'h0)+:(1)];
        st__d[(64'h20)+:(1)] = st__q[(64'h1)+:(1)];
        st__d[(64'h43)+:(32)] = sum[(32'h1)+:(32)];
    end
    wire unused__sum = &{sum[0]};
endmodule

module optireduce_nic__nic__finisher__drain__decoder__to_float__lane__0(clock,a,scale,negate,special,result);
    // Module arguments
    input wire  clock;
    input wire  [31:0] a;
    input wire  [8:0] scale;
    input wire  negate;
    input wire  special;
    output wire  [31:0] result;
    // Stub signals
    reg  [178:0] st__d;
    wire  [178:0] st__q;
    wire  st__clock;
    // Local signals
    reg  [30:0] flipped;
    wire  top8;
    wire  [30:0] whole;
    reg  [30:0] coarse;
    reg  [30:0] unlike;
    wire  [30:0] mid;
    reg  [30:0] fine;
    wire  [30:0] last;
    reg  [30:0] by1;
    reg  [4:0] zeros1;
    reg  [4:0] zeros2;
    reg  [4:0] zeros3;
    wire  [5:0] rest;
    wire  ones;
    wire  carry;
    reg  up;
    wire  [23:0] mantissa;
    reg  [25:0] addend;
    wire  [25:0] sum;
    wire  [24:0] rounded;
    reg  [9:0] exponent;
    wire  zero;
    reg  [31:0] fraction;
    reg  [31:0] field;
    // Sub module instances
    optireduce_nic__nic__finisher__drain__decoder__to_float__lane__0__st st(
        .d(st__d),
        .q(st__q),
        .clock(st__clock)
    );
    // Update code
    assign st__clock = clock;
    always @(*) begin
        flipped = a[(32'h0)+:(31)];
        if (a[32'h1f]) begin
            flipped = a[(32'h0)+:(31)] ^ 32'h7fffffff;
        end
    end
    assign top8 = flipped[(32'h17)+:(8)] == 32'h0;
    assign whole = st__q[(64'h1)+:(31)];
    always @(*) begin
        coarse = whole;
        if (st__q[(64'h20)+:(1)] && st__q[(64'h21)+:(1)]) begin
            coarse = whole << 32'h18;
        end
        else if (st__q[(64'h20)+:(1)]) begin
            coarse = whole << 32'h10;
        end
        else if (st__q[(64'h21)+:(1)]) begin
            coarse = whole << 32'h8;
        end
    end
    always @(*) begin
        zeros1 = ((32'h0) & 5'h1f);
        if (st__q[(64'h20)+:(1)] && st__q[(64'h21)+:(1)]) begin
            zeros1 = ((32'h18) & 5'h1f);
        end
        else if (st__q[(64'h20)+:(1)]) begin
            zeros1 = ((32'h10) & 5'h1f);
        end
        else if (st__q[(64'h21)+:(1)]) begin
            zeros1 = ((32'h8) & 5'h1f);
        end
    end
    always @(*) begin
        unlike = coarse;
        if (st__q[(64'h0)+:(1)]) begin
            unlike = coarse ^ 32'h7fffffff;
        end
    end
    assign mid = st__q[(64'h28)+:(31)];
    always @(*) begin
        fine = mid;
        if (st__q[(64'h47)+:(1)] && st__q[(64'h48)+:(1)]) begin
            fine = mid << 32'h6;
        end
        else if (st__q[(64'h47)+:(1)]) begin
            fine = mid << 32'h4;
        end
        else if (st__q[(64'h48)+:(1)]) begin
            fine = mid << 32'h2;
        end
    end
    always @(*) begin
        zeros2 = st__q[(64'h23)+:(5)];
        if (st__q[(64'h47)+:(1)] && st__q[(64'h48)+:(1)]) begin
            zeros2 = st__q[(64'h23)+:(5)] | 32'h6;
        end
        else if (st__q[(64'h47)+:(1)]) begin
            zeros2 = st__q[(64'h23)+:(5)] | 32'h4;
        end
        else if (st__q[(64'h48)+:(1)]) begin
            zeros2 = st__q[(64'h23)+:(5)] | 32'h2;
        end
    end
    assign last = st__q[(64'h4f)+:(31)];
    always @(*) begin
        by1 = last;
        if (st__q[(64'h6e)+:(1)]) begin
            by1 = last << 32'h1;
        end
        if (st__q[(64'h49)+:(1)]) begin
            by1 = by1 ^ 32'h7fffffff;
        end
    end
    always @(*) begin
        zeros3 = st__q[(64'h4a)+:(5)];
        if (st__q[(64'h6e)+:(1)]) begin
            zeros3 = st__q[(64'h4a)+:(5)] | 32'h1;
        end
    end
    assign rest = by1[(32'h0)+:(6)];
    assign ones = st__q[(64'h49)+:(1)] && (rest == 32'h3f);
    assign carry = ones && by1[32'h6];
    always @(*) begin
        up = by1[32'h6] && (st__q[(64'h49)+:(1)] || (rest != 32'h0) || by1[32'h7]);
        if (ones) begin
            up = ~by1[32'h6] && by1[32'h7];
        end
    end
    assign mantissa = by1[(32'h7)+:(24)];
    always @(*) begin
        addend = ((mantissa) & 26'h3ffffff) << 32'h1;
        if (carry || up) begin
            addend = addend | 32'h1;
        end
    end
    assign sum = addend + 32'h1;
    assign rounded = st__q[(64'h7a)+:(25)];
    always @(*) begin
        exponent = st__q[(64'h70)+:(10)];
        if (rounded[32'h18]) begin
            exponent = st__q[(64'h70)+:(10)] + 32'h1;
        end
    end
    assign zero = (rounded[(32'h17)+:(2)] == 32'h0) || exponent[32'h9] || (exponent == 32'h0);
    always @(*) begin
        fraction = ((rounded) & 32'hffffffff) & 32'h7fffff;
        if (exponent > 32'hfe) begin
            fraction = ((32'h0) & 32'hffffffff);
        end
    end
    always @(*) begin
        field = ((exponent) & 32'hffffffff) << 32'h17;
        if (exponent > 32'hfe) begin
            field = ((32'h7f800000) & 32'hffffffff);
        end
        if (st__q[(64'h6f)+:(1)] != negate) begin
            field = field | 64'h80000000;
        end
    end
    assign result = st__q[(64'h93)+:(32)];
    always @(*) begin
        st__d = st__q;
        st__d[(64'h0)+:(1)] = a[32'h1f];
        st__d[(64'h1)+:(31)] = a[(32'h0)+:(31)];
        st__d[(64'h20)+:(1)] = top8 && (flipped[(32'hf)+:(8)] == 32'h0);
        st__d[(64'h21)+:(1)] = top8;
        if (top8 && (flipped[(32'hf)+:(8)] == 32'h0)) begin
            st__d[(64'h21)+:(1)] = flipped[(32'h7)+:(8)] == 32'h0;
        end
        st__d[(64'h22)+:(1)] = st__q[(64'h0)+:(1)];
        st__d[(64'h23)+:(5)] = zeros1;
        st__d[(64'h28)+:(31)] = coarse;
        st__d[(64'h47)+:(1)] = unlike[(32'h1b)+:(4)] == 32'h0;
        st__d[(64'h48)+:(1)] = unlike[(32'h1d)+:(2)] == 32'h0;
        if (unlike[(32'h1b)+:(4)] == 32'h0) begin
            st__d[(64'h48)+:(1)] = unlike[(32'h19)+:(2)] == 32'h0;
        end
        st__d[(64'h49)+:(1)] = st__q[(64'h22)+:(1)];
        st__d[(64'h4a)+:(5)] = zeros2;
        st__d[(64'h4f)+:(31)] = fine;
        st__d[(64'h6e)+:(1)] = fine[32'h1e] == st__q[(64'h22)+:(1)];
        st__d[(64'h6f)+:(1)] = st__q[(64'h49)+:(1)];
        st__d[(64'h70)+:(10)] = ((scale) & 10'h3ff) - ((zeros3) & 10'h3ff);
        st__d[(64'h7a)+:(25)] = sum[(32'h1)+:(25)];
        st__d[(64'h93)+:(32)] = field | fraction;
        if (zero) begin
            st__d[(64'h93)+:(32)] = ((32'h0) & 32'hffffffff);
        end
        if (special) begin
            st__d[(64'h93)+:(32)] = ((32'h7fc00000) & 32'hffffffff);
        end
    end
    wire unused__flipped = &{flipped[6:0]};
    wire unused__sum = &{sum[0]};
    wire unused__unlike = &{unlike[24:0]};
endmodule

module optireduce_nic__nic__finisher__drain__multiplier__lane__0__multiplied(d,q,clock);
    // Module arguments
    input wire  [90:0] d;
    output reg  [90:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 91'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__nic__finisher__drain__multiplier__lane__0__placed(d,q,clock);
    // Module arguments
    input wire  [65:0] d;
    output reg  [65:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 66'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__nic__finisher__drain__multiplier__lane__0__result(d,q,clock);
    // Module arguments
    input wire  [31:0] d;
    output reg  [31:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 32'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__nic__finisher__drain__multiplier__lane__0__shifted(d,q,clock);
    // Module arguments
    input wire  [38:0] d;
    output reg  [38:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 39'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__nic__finisher__drain__multiplier__unpack__0__fields(d,q,clock);
    // Module arguments
    input wire  [33:0] d;
    output reg  [33:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 34'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__nic__finisher__drain__multiplier__unpack__0__unpacked(d,q,clock);
    // Module arguments
    input wire  [41:0] d;
    output reg  [41:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 42'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__nic__finisher__drain__decoder__gather__buffers(clock,read_address,read_data,write_address,write_data,write_enable);
    // Module arguments
    input wire  clock;
    input wire  [16:0] read_address;
    output reg  [511:0] read_data;
    input wire  [16:0] write_address;
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
        read_data <= mem[{read_address[0:0], read_address[10:3]}];
        if (write_enable) mem[{write_address[0:0], write_address[10:3]}] <= write_data;
    end
    wire unused = &{read_address[2:1], read_address[16:11], write_address[2:1], write_address[16:11]};
endmodule

module optireduce_nic__nic__finisher__drain__decoder__gather__st(d,q,clock);
    // Module arguments
    input wire  [206:0] d;
    output reg  [206:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 207'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__nic__finisher__drain__decoder__sign_source__0(clock,start,key,take,signs);
    // Module arguments
    input wire  clock;
    input wire  start;
    input wire  [63:0] key;
    input wire  take;
    output wire  [15:0] signs;
    // Stub signals
    reg  [326:0] pipe__d;
    wire  [326:0] pipe__q;
    wire  pipe__clock;
    // Local signals
    wire  [31:0] mixed;
    // Sub module instances
    optireduce_nic__nic__finisher__drain__decoder__sign_source__0__pipe pipe(
        .d(pipe__d),
        .q(pipe__q),
        .clock(pipe__clock)
    );
    // Update code
    assign pipe__clock = clock;
    assign mixed = pipe__q[(64'h40)+:(32)] ^ pipe__q[(64'h20)+:(32)];
    assign signs = ((pipe__q[(64'h127)+:(32)]) & 16'hffff);
    always @(*) begin
        pipe__d = pipe__q;
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
    end
endmodule

module optireduce_nic__nic__finisher__drain__decoder__to_fixed__pack(lane__0,lane__1,lane__2,lane__3,lane__4,lane__5,lane__6,lane__7,lane__8,lane__9,lane__10,lane__11,lane__12,lane__13,lane__14,lane__15,beat);
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

module optireduce_nic__nic__finisher__drain__decoder__to_fixed__tags(d,q,clock);
    // Module arguments
    input wire  [71:0] d;
    output reg  [71:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 72'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__nic__finisher__drain__decoder__to_float__tags(d,q,clock);
    // Module arguments
    input wire  [119:0] d;
    output reg  [119:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 120'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__nic__finisher__drain__multiplier__lane__0(clock,a,b,product);
    // Module arguments
    input wire  clock;
    input wire  [41:0] a;
    input wire  [41:0] b;
    output wire  [31:0] product;
    // Stub signals
    reg  [90:0] multiplied__d;
    wire  [90:0] multiplied__q;
    wire  multiplied__clock;
    reg  [65:0] placed__d;
    wire  [65:0] placed__q;
    wire  placed__clock;
    reg  [38:0] shifted__d;
    wire  [38:0] shifted__q;
    wire  shifted__clock;
    reg  [31:0] result__d;
    wire  [31:0] result__q;
    wire  result__clock;
    // Local signals
    wire  [23:0] b_mantissa;
    wire  [16:0] b_low;
    wire  [6:0] b_high;
    wire  [40:0] low;
    wire  [30:0] high;
    wire  [40:0] partial;
    wire  [23:0] low_high;
    wire  [30:0] carried;
    wire  [9:0] unbiased;
    wire  [9:0] exponent;
    wire  [9:0] raised;
    wire  [9:0] negated;
    reg  [5:0] down;
    wire  [5:0] places;
    wire  [48:0] wide;
    reg  [48:0] sixteens;
    reg  lost_sixteens;
    reg  [48:0] fours;
    reg  lost_fours;
    reg  [48:0] ones;
    reg  lost_ones;
    wire  [25:0] rest;
    wire  lower;
    reg  [22:0] fraction;
    reg  up;
    wire  [30:0] truncated;
    reg  [30:0] increment;
    wire  [30:0] rounded;
    reg  [31:0] magnitude;
    // Sub module instances
    optireduce_nic__nic__finisher__drain__multiplier__lane__0__multiplied multiplied(
        .d(multiplied__d),
        .q(multiplied__q),
        .clock(multiplied__clock)
    );
    optireduce_nic__nic__finisher__drain__multiplier__lane__0__placed placed(
        .d(placed__d),
        .q(placed__q),
        .clock(placed__clock)
    );
    optireduce_nic__nic__finisher__drain__multiplier__lane__0__shifted shifted(
        .d(shifted__d),
        .q(shifted__q),
        .clock(shifted__clock)
    );
    optireduce_nic__nic__finisher__drain__multiplier__lane__0__result result(
        .d(result__d),
        .q(result__q),
        .clock(result__clock)
    );
    // Update code
    assign multiplied__clock = clock;
    assign placed__clock = clock;
    assign shifted__clock = clock;
    assign result__clock = clock;
    assign b_mantissa = b[(64'h9)+:(24)];
    assign b_low = b_mantissa[(32'h0)+:(17)];
    assign b_high = b_mantissa[(32'h11)+:(7)];
    assign low = a[(64'h9)+:(24)] * b_low;
    assign high = a[(64'h9)+:(24)] * b_high;
    assign unbiased = ((b[(64'h1)+:(8)]) & 10'h3ff) - 32'h96;
    assign exponent = multiplied__q[(64'h49)+:(10)];
    assign raised = exponent + ((multiplied__q[(64'h53)+:(5)]) & 10'h3ff);
    assign negated = ((32'h0) & 10'h3ff) - exponent;
    always @(*) begin
        down = ((multiplied__q[(64'h53)+:(5)]) & 6'h3f);
        if (raised[32'h9]) begin
            down = negated[(32'h0)+:(6)];
            if (negated[(32'h6)+:(3)] != 32'h0) begin
                down = ((32'h30) & 6'h3f);
            end
        end
    end
    assign partial = multiplied__q[(64'h1)+:(41)];
    assign low_high = partial[(32'h11)+:(24)];
    assign carried = multiplied__q[(64'h2a)+:(31)] + ((low_high) & 31'h7fffffff);
    assign places = placed__q[(64'h3a)+:(6)];
    assign wide = ((placed__q[(64'h1)+:(48)]) & 49'h1ffffffffffff) << 32'h1;
    always @(*) begin
        if (places[32'h5] && places[32'h4]) begin
            sixteens = wide >> 32'h30;
        end
        else if (places[32'h5]) begin
            sixteens = wide >> 32'h20;
        end
        else if (places[32'h4]) begin
            sixteens = wide >> 32'h10;
        end
        else begin
            sixteens = wide;
        end
    end
    always @(*) begin
        if (places[32'h5] && places[32'h4]) begin
            lost_sixteens = wide[(32'h0)+:(48)] != 32'h0;
        end
        else if (places[32'h5]) begin
            lost_sixteens = wide[(32'h0)+:(32)] != 32'h0;
        end
        else if (places[32'h4]) begin
            lost_sixteens = wide[(32'h0)+:(16)] != 32'h0;
        end
        else begin
            lost_sixteens = 1'b0;
        end
    end
    always @(*) begin
        if (places[32'h3] && places[32'h2]) begin
            fours = sixteens >> 32'hc;
        end
        else if (places[32'h3]) begin
            fours = sixteens >> 32'h8;
        end
        else if (places[32'h2]) begin
            fours = sixteens >> 32'h4;
        end
        else begin
            fours = sixteens;
        end
    end
    always @(*) begin
        if (places[32'h3] && places[32'h2]) begin
            lost_fours = sixteens[(32'h0)+:(12)] != 32'h0;
        end
        else if (places[32'h3]) begin
            lost_fours = sixteens[(32'h0)+:(8)] != 32'h0;
        end
        else if (places[32'h2]) begin
            lost_fours = sixteens[(32'h0)+:(4)] != 32'h0;
        end
        else begin
            lost_fours = 1'b0;
        end
    end
    always @(*) begin
        if (places[32'h1] && places[32'h0]) begin
            ones = fours >> 32'h3;
        end
        else if (places[32'h1]) begin
            ones = fours >> 32'h2;
        end
        else if (places[32'h0]) begin
            ones = fours >> 32'h1;
        end
        else begin
            ones = fours;
        end
    end
    always @(*) begin
        if (places[32'h1] && places[32'h0]) begin
            lost_ones = fours[(32'h0)+:(3)] != 32'h0;
        end
        else if (places[32'h1]) begin
            lost_ones = fours[(32'h0)+:(2)] != 32'h0;
        end
        else if (places[32'h0]) begin
            lost_ones = fours[32'h0];
        end
        else begin
            lost_ones = 1'b0;
        end
    end
    assign rest = shifted__q[(64'h9)+:(26)];
    assign lower = ~rest[32'h19] && ~shifted__q[(64'h24)+:(1)];
    always @(*) begin
        fraction = rest[(32'h2)+:(23)];
        if (lower) begin
            fraction = rest[(32'h1)+:(23)];
        end
    end
    always @(*) begin
        up = rest[32'h1] && (rest[32'h2] || rest[32'h0] || shifted__q[(64'h23)+:(1)]);
        if (lower) begin
            up = rest[32'h0] && (rest[32'h1] || shifted__q[(64'h23)+:(1)]);
        end
    end
    assign truncated = (((shifted__q[(64'h1)+:(8)]) & 31'h7fffffff) << 32'h17) | ((fraction) & 31'h7fffffff);
    always @(*) begin
        increment = ((32'h0) & 31'h7fffffff);
        if (rest[32'h19]) begin
            increment = ((32'h800000) & 31'h7fffffff);
        end
        if (up) begin
            increment = increment | 32'h1;
        end
    end
    assign rounded = truncated + increment;
    always @(*) begin
        magnitude = ((rounded) & 32'hffffffff);
        if (shifted__q[(64'h25)+:(1)] || (rounded[(32'h17)+:(8)] == 32'hff)) begin
            magnitude = ((32'h7f800000) & 32'hffffffff);
        end
    end
    assign product = result__q;
    always @(*) begin
        multiplied__d = multiplied__q;
        placed__d = placed__q;
        shifted__d = shifted__q;
        result__d = result__q;
        multiplied__d[(64'h0)+:(1)] = a[(64'h0)+:(1)] != b[(64'h0)+:(1)];
        multiplied__d[(64'h1)+:(41)] = low;
        multiplied__d[(64'h2a)+:(31)] = high;
        multiplied__d[(64'h49)+:(10)] = ((a[(64'h1)+:(8)]) & 10'h3ff) + unbiased;
        multiplied__d[(64'h53)+:(5)] = b[(64'h21)+:(5)];
        if (a[(64'h26)+:(1)]) begin
            multiplied__d[(64'h53)+:(5)] = a[(64'h21)+:(5)];
        end
        multiplied__d[(64'h58)+:(1)] = a[(64'h27)+:(1)] || b[(64'h27)+:(1)];
        multiplied__d[(64'h59)+:(1)] = a[(64'h28)+:(1)] || b[(64'h28)+:(1)];
        multiplied__d[(64'h5a)+:(1)] = a[(64'h29)+:(1)] || b[(64'h29)+:(1)] || (a[(64'h28)+:(1)] && b[(64'h27)+:(1)]) || (b[(64'h28)+:(1)] && a[(64'h27)+:(1)]);
        placed__d[(64'h31)+:(9)] = raised[(32'h0)+:(9)];
        if (raised[32'h9]) begin
            placed__d[(64'h31)+:(9)] = ((32'h0) & 9'h1ff);
        end
        if (multiplied__q[(64'h58)+:(1)]) begin
            placed__d[(64'h31)+:(9)] = ((32'h0) & 9'h1ff);
        end
        placed__d[(64'h3a)+:(6)] = down;
        placed__d[(64'h0)+:(1)] = multiplied__q[(64'h0)+:(1)];
        placed__d[(64'h1)+:(48)] = (((carried) & 48'hffffffffffff) << 32'h11) | (((partial) & 48'hffffffffffff) & 32'h1ffff);
        placed__d[(64'h40)+:(1)] = multiplied__q[(64'h59)+:(1)];
        placed__d[(64'h41)+:(1)] = multiplied__q[(64'h5a)+:(1)];
        shifted__d[(64'h0)+:(1)] = placed__q[(64'h0)+:(1)];
        shifted__d[(64'h1)+:(8)] = ((placed__q[(64'h31)+:(9)]) & 8'hff);
        shifted__d[(64'h9)+:(26)] = ones[(32'h0)+:(26)];
        shifted__d[(64'h23)+:(1)] = lost_sixteens || lost_fours || lost_ones;
        shifted__d[(64'h24)+:(1)] = placed__q[(64'h31)+:(9)] == 32'h0;
        shifted__d[(64'h25)+:(1)] = placed__q[(64'h40)+:(1)] || (placed__q[(64'h31)+:(9)] >= 32'hff);
        shifted__d[(64'h26)+:(1)] = placed__q[(64'h41)+:(1)];
        result__d = magnitude;
        if (shifted__q[(64'h0)+:(1)]) begin
            result__d = magnitude | 64'h80000000;
        end
        if (shifted__q[(64'h26)+:(1)]) begin
            result__d = ((32'h7fc00000) & 32'hffffffff);
        end
    end
    wire unused__b = &{b[38]};
    wire unused__negated = &{negated[9]};
    wire unused__ones = &{ones[48:26]};
endmodule

module optireduce_nic__nic__finisher__drain__multiplier__unpack__0(clock,float,operand);
    // Module arguments
    input wire  clock;
    input wire  [31:0] float;
    output wire  [41:0] operand;
    // Stub signals
    reg  [33:0] fields__d;
    wire  [33:0] fields__q;
    wire  fields__clock;
    reg  [41:0] unpacked__d;
    wire  [41:0] unpacked__q;
    wire  unpacked__clock;
    // Local signals
    wire  [22:0] fraction;
    wire  [6:0] upper;
    reg  [15:0] scan16;
    reg  [7:0] scan8;
    reg  [3:0] scan4;
    reg  [1:0] scan2;
    reg  [4:0] place;
    wire  some;
    // Sub module instances
    optireduce_nic__nic__finisher__drain__multiplier__unpack__0__fields fields(
        .d(fields__d),
        .q(fields__q),
        .clock(fields__clock)
    );
    optireduce_nic__nic__finisher__drain__multiplier__unpack__0__unpacked unpacked(
        .d(unpacked__d),
        .q(unpacked__q),
        .clock(unpacked__clock)
    );
    // Update code
    assign fields__clock = clock;
    assign unpacked__clock = clock;
    assign fraction = fields__q[(64'h9)+:(23)];
    assign upper = fraction[(32'h10)+:(7)];
    always @(*) begin
        place = ((32'h10) & 5'h1f);
        if (upper == 32'h0) begin
            place = ((32'h0) & 5'h1f);
        end
        if (scan16[(32'h8)+:(8)] != 32'h0) begin
            place = place | 32'h8;
        end
        if (scan8[(32'h4)+:(4)] != 32'h0) begin
            place = place | 32'h4;
        end
        if (scan4[(32'h2)+:(2)] != 32'h0) begin
            place = place | 32'h2;
        end
        if (scan2[32'h1]) begin
            place = place | 32'h1;
        end
    end
    always @(*) begin
        scan16 = ((upper) & 16'hffff);
        if (upper == 32'h0) begin
            scan16 = fraction[(32'h0)+:(16)];
        end
    end
    always @(*) begin
        scan8 = scan16[(32'h0)+:(8)];
        if (scan16[(32'h8)+:(8)] != 32'h0) begin
            scan8 = scan16[(32'h8)+:(8)];
        end
    end
    always @(*) begin
        scan4 = scan8[(32'h0)+:(4)];
        if (scan8[(32'h4)+:(4)] != 32'h0) begin
            scan4 = scan8[(32'h4)+:(4)];
        end
    end
    always @(*) begin
        scan2 = scan4[(32'h0)+:(2)];
        if (scan4[(32'h2)+:(2)] != 32'h0) begin
            scan2 = scan4[(32'h2)+:(2)];
        end
    end
    assign some = scan2 != 32'h0;
    assign operand = unpacked__q;
    always @(*) begin
        fields__d = fields__q;
        unpacked__d = unpacked__q;
        fields__d[(64'h0)+:(1)] = float[32'h1f];
        fields__d[(64'h1)+:(8)] = float[(32'h17)+:(8)];
        fields__d[(64'h9)+:(23)] = float[(32'h0)+:(23)];
        fields__d[(64'h20)+:(1)] = float[(32'h17)+:(8)] == 32'h0;
        fields__d[(64'h21)+:(1)] = float[(32'h17)+:(8)] == 32'hff;
        unpacked__d[(64'h0)+:(1)] = fields__q[(64'h0)+:(1)];
        unpacked__d[(64'h1)+:(8)] = fields__q[(64'h1)+:(8)];
        unpacked__d[(64'h9)+:(24)] = ((fraction) & 24'hffffff) | 32'h800000;
        unpacked__d[(64'h21)+:(5)] = ((32'h17) & 5'h1f);
        if (fields__q[(64'h20)+:(1)]) begin
            unpacked__d[(64'h1)+:(8)] = ((32'h1) & 8'hff);
            unpacked__d[(64'h9)+:(24)] = ((fraction) & 24'hffffff);
            unpacked__d[(64'h21)+:(5)] = place;
        end
        unpacked__d[(64'h26)+:(1)] = fields__q[(64'h20)+:(1)];
        unpacked__d[(64'h27)+:(1)] = fields__q[(64'h20)+:(1)] && ~some;
        unpacked__d[(64'h28)+:(1)] = fields__q[(64'h21)+:(1)];
        unpacked__d[(64'h29)+:(1)] = fields__q[(64'h21)+:(1)] && some;
    end
endmodule

module optireduce_nic__nic__reduce__adder__lane__0__added(d,q,clock);
    // Module arguments
    input wire  [40:0] d;
    output reg  [40:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 41'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__nic__reduce__adder__lane__0__aligned(d,q,clock);
    // Module arguments
    input wire  [62:0] d;
    output reg  [62:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 63'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__nic__reduce__adder__lane__0__counted(d,q,clock);
    // Module arguments
    input wire  [43:0] d;
    output reg  [43:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 44'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__nic__reduce__adder__lane__0__normal(d,q,clock);
    // Module arguments
    input wire  [35:0] d;
    output reg  [35:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 36'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__nic__contribute__round__lane__0(data,rounded);
    // Module arguments
    input wire  [31:0] data;
    output reg  [31:0] rounded;
    // Local signals
    wire  [15:0] high;
    wire  [15:0] low;
    wire  up;
    reg  [15:0] one;
    wire  [15:0] sum;
    wire  [15:0] quiet;
    wire  nan;
    // Update code
    assign high = data[(32'h10)+:(16)];
    assign low = data[(32'h0)+:(16)];
    assign up = low[32'hf] && ((low[(32'h0)+:(15)] != 32'h0) || high[32'h0]);
    always @(*) begin
        one = ((32'h0) & 16'hffff);
        if (up) begin
            one = ((32'h1) & 16'hffff);
        end
    end
    assign sum = high + one;
    assign nan = (high[(32'h7)+:(8)] == 32'hff) && ((high[(32'h0)+:(7)] != 32'h0) || (low != 32'h0));
    assign quiet = high | 32'h40;
    always @(*) begin
        rounded = ((sum) & 32'hffffffff) << 32'h10;
        if (nan) begin
            rounded = ((quiet) & 32'hffffffff) << 32'h10;
        end
    end
endmodule

module optireduce_nic__nic__finisher__drain__decoder__butterflies(clock,last,tag,beat,tap_tag__0,tap_tag__1,tap_tag__2,tap_tag__3,tap_beat__0,tap_beat__1,tap_beat__2,tap_beat__3);
    // Module arguments
    input wire  clock;
    input wire  [9:0] last;
    input wire  [23:0] tag;
    input wire  [511:0] beat;
    output reg  [23:0] tap_tag__0;
    output reg  [23:0] tap_tag__1;
    output reg  [23:0] tap_tag__2;
    output reg  [23:0] tap_tag__3;
    output reg  [511:0] tap_beat__0;
    output reg  [511:0] tap_beat__1;
    output reg  [511:0] tap_beat__2;
    output reg  [511:0] tap_beat__3;
    // Stub signals
    reg  in_beat__0__clock;
    reg  [23:0] in_beat__0__tag;
    reg  [511:0] in_beat__0__beat;
    wire  [23:0] in_beat__0__out_tag;
    wire  [511:0] in_beat__0__out_beat;
    reg  in_beat__1__clock;
    reg  [23:0] in_beat__1__tag;
    reg  [511:0] in_beat__1__beat;
    wire  [23:0] in_beat__1__out_tag;
    wire  [511:0] in_beat__1__out_beat;
    reg  in_beat__2__clock;
    reg  [23:0] in_beat__2__tag;
    reg  [511:0] in_beat__2__beat;
    wire  [23:0] in_beat__2__out_tag;
    wire  [511:0] in_beat__2__out_beat;
    reg  in_beat__3__clock;
    reg  [23:0] in_beat__3__tag;
    reg  [511:0] in_beat__3__beat;
    wire  [23:0] in_beat__3__out_tag;
    wire  [511:0] in_beat__3__out_beat;
    reg  across__0__clock;
    reg  across__0__enable;
    reg  [23:0] across__0__tag;
    reg  [511:0] across__0__beat;
    wire  [23:0] across__0__out_tag;
    wire  [511:0] across__0__out_beat;
    reg  across__1__clock;
    reg  across__1__enable;
    reg  [23:0] across__1__tag;
    reg  [511:0] across__1__beat;
    wire  [23:0] across__1__out_tag;
    wire  [511:0] across__1__out_beat;
    reg  across__2__clock;
    reg  across__2__enable;
    reg  [23:0] across__2__tag;
    reg  [511:0] across__2__beat;
    wire  [23:0] across__2__out_tag;
    wire  [511:0] across__2__out_beat;
    reg  across__3__clock;
    reg  across__3__enable;
    reg  [23:0] across__3__tag;
    reg  [511:0] across__3__beat;
    wire  [23:0] across__3__out_tag;
    wire  [511:0] across__3__out_beat;
    reg  across__4__clock;
    reg  across__4__enable;
    reg  [23:0] across__4__tag;
    reg  [511:0] across__4__beat;
    wire  [23:0] across__4__out_tag;
    wire  [511:0] across__4__out_beat;
    reg  across__5__clock;
    reg  across__5__enable;
    reg  [23:0] across__5__tag;
    reg  [511:0] across__5__beat;
    wire  [23:0] across__5__out_tag;
    wire  [511:0] across__5__out_beat;
    reg  across__6__clock;
    reg  across__6__enable;
    reg  [23:0] across__6__tag;
    reg  [511:0] across__6__beat;
    wire  [23:0] across__6__out_tag;
    wire  [511:0] across__6__out_beat;
    reg  across__7__clock;
    reg  across__7__enable;
    reg  [23:0] across__7__tag;
    reg  [511:0] across__7__beat;
    wire  [23:0] across__7__out_tag;
    wire  [511:0] across__7__out_beat;
    // Sub module instances
    optireduce_nic__nic__finisher__drain__decoder__butterflies__in_beat__0 in_beat__0(
        .clock(in_beat__0__clock),
        .tag(in_beat__0__tag),
        .beat(in_beat__0__beat),
        .out_tag(in_beat__0__out_tag),
        .out_beat(in_beat__0__out_beat)
    );
    optireduce_nic__nic__finisher__drain__decoder__butterflies__in_beat__1 in_beat__1(
        .clock(in_beat__1__clock),
        .tag(in_beat__1__tag),
        .beat(in_beat__1__beat),
        .out_tag(in_beat__1__out_tag),
        .out_beat(in_beat__1__out_beat)
    );
    optireduce_nic__nic__finisher__drain__decoder__butterflies__in_beat__0 in_beat__2(
        .clock(in_beat__2__clock),
        .tag(in_beat__2__tag),
        .beat(in_beat__2__beat),
        .out_tag(in_beat__2__out_tag),
        .out_beat(in_beat__2__out_beat)
    );
    optireduce_nic__nic__finisher__drain__decoder__butterflies__in_beat__1 in_beat__3(
        .clock(in_beat__3__clock),
        .tag(in_beat__3__tag),
        .beat(in_beat__3__beat),
        .out_tag(in_beat__3__out_tag),
        .out_beat(in_beat__3__out_beat)
    );
    optireduce_nic__nic__finisher__drain__decoder__butterflies__across__0 across__0(
        .clock(across__0__clock),
        .enable(across__0__enable),
        .tag(across__0__tag),
        .beat(across__0__beat),
        .out_tag(across__0__out_tag),
        .out_beat(across__0__out_beat)
    );
    optireduce_nic__nic__finisher__drain__decoder__butterflies__across__1 across__1(
        .clock(across__1__clock),
        .enable(across__1__enable),
        .tag(across__1__tag),
        .beat(across__1__beat),
        .out_tag(across__1__out_tag),
        .out_beat(across__1__out_beat)
    );
    optireduce_nic__nic__finisher__drain__decoder__butterflies__across__2 across__2(
        .clock(across__2__clock),
        .enable(across__2__enable),
        .tag(across__2__tag),
        .beat(across__2__beat),
        .out_tag(across__2__out_tag),
        .out_beat(across__2__out_beat)
    );
    optireduce_nic__nic__finisher__drain__decoder__butterflies__across__3 across__3(
        .clock(across__3__clock),
        .enable(across__3__enable),
        .tag(across__3__tag),
        .beat(across__3__beat),
        .out_tag(across__3__out_tag),
        .out_beat(across__3__out_beat)
    );
    optireduce_nic__nic__finisher__drain__decoder__butterflies__across__4 across__4(
        .clock(across__4__clock),
        .enable(across__4__enable),
        .tag(across__4__tag),
        .beat(across__4__beat),
        .out_tag(across__4__out_tag),
        .out_beat(across__4__out_beat)
    );
    optireduce_nic__nic__finisher__drain__decoder__butterflies__across__5 across__5(
        .clock(across__5__clock),
        .enable(across__5__enable),
        .tag(across__5__tag),
        .beat(across__5__beat),
        .out_tag(across__5__out_tag),
        .out_beat(across__5__out_beat)
    );
    optireduce_nic__nic__finisher__drain__decoder__butterflies__across__6 across__6(
        .clock(across__6__clock),
        .enable(across__6__enable),
        .tag(across__6__tag),
        .beat(across__6__beat),
        .out_tag(across__6__out_tag),
        .out_beat(across__6__out_beat)
    );
    optireduce_nic__nic__finisher__drain__decoder__butterflies__across__7 across__7(
        .clock(across__7__clock),
        .enable(across__7__enable),
        .tag(across__7__tag),
        .beat(across__7__beat),
        .out_tag(across__7__out_tag),
        .out_beat(across__7__out_beat)
    );
    // Update code (custom)
    always @(*) in_beat__0__clock = clock;
    always @(*) in_beat__0__tag = tag;
    always @(*) in_beat__0__beat = beat;
    always @(*) in_beat__1__clock = clock;
    always @(*) in_beat__1__tag = in_beat__0__out_tag;
    always @(*) in_beat__1__beat = in_beat__0__out_beat;
    always @(*) in_beat__2__clock = clock;
    always @(*) in_beat__2__tag = in_beat__1__out_tag;
    always @(*) in_beat__2__beat = in_beat__1__out_beat;
    always @(*) in_beat__3__clock = clock;
    always @(*) in_beat__3__tag = in_beat__2__out_tag;
    always @(*) in_beat__3__beat = in_beat__2__out_beat;
    always @(*) across__0__clock = clock;
    always @(*) across__0__tag = in_beat__3__out_tag;
    always @(*) across__0__beat = in_beat__3__out_beat;
    always @(*) across__1__clock = clock;
    always @(*) across__1__tag = across__0__out_tag;
    always @(*) across__1__beat = across__0__out_beat;
    always @(*) across__2__clock = clock;
    always @(*) across__2__tag = across__1__out_tag;
    always @(*) across__2__beat = across__1__out_beat;
    always @(*) across__3__clock = clock;
    always @(*) across__3__tag = across__2__out_tag;
    always @(*) across__3__beat = across__2__out_beat;
    always @(*) across__4__clock = clock;
    always @(*) across__4__tag = across__3__out_tag;
    always @(*) across__4__beat = across__3__out_beat;
    always @(*) across__5__clock = clock;
    always @(*) across__5__tag = across__4__out_tag;
    always @(*) across__5__beat = across__4__out_beat;
    always @(*) across__6__clock = clock;
    always @(*) across__6__tag = across__5__out_tag;
    always @(*) across__6__beat = across__5__out_beat;
    always @(*) across__7__clock = clock;
    always @(*) across__7__tag = across__6__out_tag;
    always @(*) across__7__beat = across__6__out_beat;
    always @(*) across__0__enable = last[0];
    always @(*) across__1__enable = last[1];
    always @(*) across__2__enable = last[2];
    always @(*) across__3__enable = last[3];
    always @(*) across__4__enable = last[4];
    always @(*) across__5__enable = last[5];
    always @(*) across__6__enable = last[6];
    always @(*) across__7__enable = last[7];
    always @(*) tap_tag__0 = across__3__out_tag;
    always @(*) tap_beat__0 = across__3__out_beat;
    always @(*) tap_tag__1 = across__5__out_tag;
    always @(*) tap_beat__1 = across__5__out_beat;
    always @(*) tap_tag__2 = across__7__out_tag;
    always @(*) tap_beat__2 = across__7__out_beat;
    always @(*) tap_tag__3 = 0;
    always @(*) tap_beat__3 = 0;
    wire unused = &last[9:8];
endmodule

module optireduce_nic__nic__finisher__drain__decoder__gather(clock,clear,start,log2n,odd,in_valid,in_ready,in_data,in_received,go,burst,last,idle,out_tag,out_beat);
    // Module arguments
    input wire  clock;
    input wire  clear;
    input wire  start;
    input wire  [3:0] log2n;
    input wire  odd;
    input wire  in_valid;
    output wire  in_ready;
    input wire  [511:0] in_data;
    input wire  in_received;
    input wire  go;
    output wire  burst;
    output wire  [9:0] last;
    output wire  idle;
    output wire  [23:0] out_tag;
    output wire  [511:0] out_beat;
    // Constant declarations
    localparam  log2n_max = 4'hc;
    // Stub signals
    reg  [206:0] st__d;
    wire  [206:0] st__q;
    wire  st__clock;
    wire  buffers__clock;
    wire  [16:0] buffers__read_address;
    wire  [511:0] buffers__read_data;
    wire  [16:0] buffers__write_address;
    reg  [511:0] buffers__write_data;
    wire  buffers__write_enable;
    // Local signals
    wire  free;
    wire  given;
    wire  accept;
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
    wire  [8:0] scale;
    reg  [23:0] whole;
    reg  [23:0] candidate;
    reg  [23:0] spent;
    wire  commit;
    reg  [23:0] leaving;
    reg  [16:0] write_place;
    reg  [16:0] read_place;
    reg  known;
    reg  [9:0] size;
    reg  [3:0] extra;
    // Sub module instances
    optireduce_nic__nic__finisher__drain__decoder__gather__st st(
        .d(st__d),
        .q(st__q),
        .clock(st__clock)
    );
    optireduce_nic__nic__finisher__drain__decoder__gather__buffers buffers(
        .clock(buffers__clock),
        .read_address(buffers__read_address),
        .read_data(buffers__read_data),
        .write_address(buffers__write_address),
        .write_data(buffers__write_data),
        .write_enable(buffers__write_enable)
    );
    // Update code
    assign st__clock = clock;
    assign buffers__clock = clock;
    assign free = st__q[(64'h0)+:(1)] && ((st__q[(64'h19)+:(1)] && ~st__q[(64'h1c)+:(1)]) || (~st__q[(64'h19)+:(1)] && ~st__q[(64'h1b)+:(1)]));
    assign in_ready = free && ~st__q[(64'h1a)+:(1)];
    assign given = in_received && ~st__q[(64'h1a)+:(1)];
    assign accept = free && ((in_valid && ~st__q[(64'h1a)+:(1)]) || (st__q[(64'h1a)+:(1)] && (st__q[(64'hf)+:(10)] != 32'h0)));
    always @(*) begin
        write_place[(64'h0)+:(3)] = ((32'h0) & 3'h7);
        if (st__q[(64'h19)+:(1)]) begin
            write_place[(64'h0)+:(3)] = ((32'h1) & 3'h7);
        end
        write_place[(64'h3)+:(14)] = ((st__q[(64'hf)+:(10)]) & 14'h3fff);
    end
    assign buffers__write_address = write_place;
    assign buffers__write_enable = accept;
    always @(*) begin
        buffers__write_data = ((32'h0) & 512'hffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff);
        if (given) begin
            buffers__write_data = in_data;
        end
    end
    always @(*) begin
        pair__0 = in_data[(0 * 32'h40 + 32'h17)+:(8)];
        if (in_data[(0 * 32'h40 + 32'h37)+:(8)] > in_data[(0 * 32'h40 + 32'h17)+:(8)]) begin
            pair__0 = in_data[(0 * 32'h40 + 32'h37)+:(8)];
        end
    end
    always @(*) begin
        pair__1 = in_data[(1 * 32'h40 + 32'h17)+:(8)];
        if (in_data[(1 * 32'h40 + 32'h37)+:(8)] > in_data[(1 * 32'h40 + 32'h17)+:(8)]) begin
            pair__1 = in_data[(1 * 32'h40 + 32'h37)+:(8)];
        end
    end
    always @(*) begin
        pair__2 = in_data[(2 * 32'h40 + 32'h17)+:(8)];
        if (in_data[(2 * 32'h40 + 32'h37)+:(8)] > in_data[(2 * 32'h40 + 32'h17)+:(8)]) begin
            pair__2 = in_data[(2 * 32'h40 + 32'h37)+:(8)];
        end
    end
    always @(*) begin
        pair__3 = in_data[(3 * 32'h40 + 32'h17)+:(8)];
        if (in_data[(3 * 32'h40 + 32'h37)+:(8)] > in_data[(3 * 32'h40 + 32'h17)+:(8)]) begin
            pair__3 = in_data[(3 * 32'h40 + 32'h37)+:(8)];
        end
    end
    always @(*) begin
        pair__4 = in_data[(4 * 32'h40 + 32'h17)+:(8)];
        if (in_data[(4 * 32'h40 + 32'h37)+:(8)] > in_data[(4 * 32'h40 + 32'h17)+:(8)]) begin
            pair__4 = in_data[(4 * 32'h40 + 32'h37)+:(8)];
        end
    end
    always @(*) begin
        pair__5 = in_data[(5 * 32'h40 + 32'h17)+:(8)];
        if (in_data[(5 * 32'h40 + 32'h37)+:(8)] > in_data[(5 * 32'h40 + 32'h17)+:(8)]) begin
            pair__5 = in_data[(5 * 32'h40 + 32'h37)+:(8)];
        end
    end
    always @(*) begin
        pair__6 = in_data[(6 * 32'h40 + 32'h17)+:(8)];
        if (in_data[(6 * 32'h40 + 32'h37)+:(8)] > in_data[(6 * 32'h40 + 32'h17)+:(8)]) begin
            pair__6 = in_data[(6 * 32'h40 + 32'h37)+:(8)];
        end
    end
    always @(*) begin
        pair__7 = in_data[(7 * 32'h40 + 32'h17)+:(8)];
        if (in_data[(7 * 32'h40 + 32'h37)+:(8)] > in_data[(7 * 32'h40 + 32'h17)+:(8)]) begin
            pair__7 = in_data[(7 * 32'h40 + 32'h37)+:(8)];
        end
    end
    always @(*) begin
        quarter__0 = pair__0;
        if (pair__4 > pair__0) begin
            quarter__0 = pair__4;
        end
    end
    always @(*) begin
        quarter__1 = pair__1;
        if (pair__5 > pair__1) begin
            quarter__1 = pair__5;
        end
    end
    always @(*) begin
        quarter__2 = pair__2;
        if (pair__6 > pair__2) begin
            quarter__2 = pair__6;
        end
    end
    always @(*) begin
        quarter__3 = pair__3;
        if (pair__7 > pair__3) begin
            quarter__3 = pair__7;
        end
    end
    always @(*) begin
        low = st__q[(64'h1d)+:(8)];
        if (st__q[(64'h25)+:(8)] > st__q[(64'h1d)+:(8)]) begin
            low = st__q[(64'h25)+:(8)];
        end
    end
    always @(*) begin
        high = st__q[(64'h2d)+:(8)];
        if (st__q[(64'h35)+:(8)] > st__q[(64'h2d)+:(8)]) begin
            high = st__q[(64'h35)+:(8)];
        end
    end
    always @(*) begin
        exponent = st__q[(64'h4d)+:(8)];
        if (st__q[(64'h41)+:(8)] > st__q[(64'h4d)+:(8)]) begin
            exponent = st__q[(64'h41)+:(8)];
        end
    end
    always @(*) begin
        received = st__q[(64'h55)+:(11)];
        if (st__q[(64'h4a)+:(1)]) begin
            received = st__q[(64'h55)+:(11)] + 32'h1;
        end
    end
    always @(*) begin
        field = exponent;
        if (exponent == 32'h0) begin
            field = ((32'h1) & 8'hff);
        end
    end
    assign scale = ((field) & 9'h1ff) + ((st__q[(64'hb)+:(4)]) & 9'h1ff);
    always @(*) begin
        whole[(64'h0)+:(1)] = 1'b1;
        whole[(64'h2)+:(1)] = 1'b0;
        whole[(64'h3)+:(1)] = st__q[(64'h4c)+:(1)];
        whole[(64'h1)+:(1)] = exponent == 32'hff;
        whole[(64'h4)+:(9)] = scale;
        whole[(64'hd)+:(11)] = received;
    end
    always @(*) begin
        candidate = st__q[(64'h61)+:(24)];
        if (st__q[(64'h91)+:(1)]) begin
            candidate = st__q[(64'h79)+:(24)];
        end
    end
    always @(*) begin
        spent = candidate;
        if (commit) begin
            spent[(64'h0)+:(1)] = 1'b0;
        end
    end
    assign commit = candidate[(64'h0)+:(1)] && go && (~st__q[(64'h92)+:(1)] || (st__q[(64'h93)+:(10)] == st__q[(64'h1)+:(10)]));
    always @(*) begin
        leaving = st__q[(64'h9f)+:(24)];
        leaving[(64'h0)+:(1)] = st__q[(64'h92)+:(1)];
    end
    always @(*) begin
        read_place[(64'h0)+:(3)] = ((32'h0) & 3'h7);
        if (st__q[(64'h9d)+:(1)]) begin
            read_place[(64'h0)+:(3)] = ((32'h1) & 3'h7);
        end
        read_place[(64'h3)+:(14)] = ((st__q[(64'h93)+:(10)]) & 14'h3fff);
    end
    assign buffers__read_address = read_place;
    always @(*) begin
        known = log2n <= log2n_max;
        case (log2n)
            8: begin
            end
            10: begin
            end
            12: begin
            end
            14: begin
            end
            default: begin
                known = 1'b0;
            end
        endcase
    end
    always @(*) begin
        size = ((32'h0) & 10'h3ff);
        case (log2n)
            8: begin
                size = ((32'hf) & 10'h3ff);
            end
            10: begin
                size = ((32'h3f) & 10'h3ff);
            end
            12: begin
                size = ((32'hff) & 10'h3ff);
            end
            14: begin
                size = ((32'h3ff) & 10'h3ff);
            end
            default: begin
            end
        endcase
    end
    always @(*) begin
        extra = ((32'h0) & 4'hf);
        case (log2n)
            8: begin
                extra = ((32'h5) & 4'hf);
            end
            10: begin
                extra = ((32'h6) & 4'hf);
            end
            12: begin
                extra = ((32'h7) & 4'hf);
            end
            14: begin
                extra = ((32'h8) & 4'hf);
            end
            default: begin
            end
        endcase
    end
    assign burst = st__q[(64'h9e)+:(1)];
    assign last = st__q[(64'h1)+:(10)];
    assign idle = (st__q[(64'hf)+:(10)] == 32'h0) && ~st__q[(64'h1a)+:(1)] && ~st__q[(64'h1b)+:(1)] && ~st__q[(64'h1c)+:(1)];
    assign out_tag = st__q[(64'hb7)+:(24)];
    assign out_beat = buffers__read_data;
    always @(*) begin
        st__d = st__q;
        if (accept) begin
            st__d[(64'hf)+:(10)] = st__q[(64'hf)+:(10)] + 32'h1;
            if (st__q[(64'hf)+:(10)] == st__q[(64'h1)+:(10)]) begin
                st__d[(64'hf)+:(10)] = ((32'h0) & 10'h3ff);
                st__d[(64'h19)+:(1)] = ~st__q[(64'h19)+:(1)];
                if (st__q[(64'h19)+:(1)]) begin
                    st__d[(64'h1c)+:(1)] = 1'b1;
                end
                else begin
                    st__d[(64'h1b)+:(1)] = 1'b1;
                end
            end
        end
        st__d[(64'h1d)+:(8)] = quarter__0;
        st__d[(64'h25)+:(8)] = quarter__1;
        st__d[(64'h2d)+:(8)] = quarter__2;
        st__d[(64'h35)+:(8)] = quarter__3;
        st__d[(64'h3d)+:(1)] = accept;
        st__d[(64'h3e)+:(1)] = given;
        st__d[(64'h3f)+:(1)] = st__q[(64'hf)+:(10)] == st__q[(64'h1)+:(10)];
        st__d[(64'h40)+:(1)] = odd;
        st__d[(64'h41)+:(8)] = low;
        if (high > low) begin
            st__d[(64'h41)+:(8)] = high;
        end
        if (~st__q[(64'h3e)+:(1)]) begin
            st__d[(64'h41)+:(8)] = ((32'h0) & 8'hff);
        end
        st__d[(64'h49)+:(1)] = st__q[(64'h3d)+:(1)];
        st__d[(64'h4a)+:(1)] = st__q[(64'h3e)+:(1)];
        st__d[(64'h4b)+:(1)] = st__q[(64'h3f)+:(1)];
        st__d[(64'h4c)+:(1)] = st__q[(64'h40)+:(1)];
        if (st__q[(64'h49)+:(1)]) begin
            st__d[(64'h4d)+:(8)] = exponent;
            st__d[(64'h55)+:(11)] = received;
            if (st__q[(64'h4b)+:(1)]) begin
                st__d[(64'h4d)+:(8)] = ((32'h0) & 8'hff);
                st__d[(64'h55)+:(11)] = ((32'h0) & 11'h7ff);
                st__d[(64'h60)+:(1)] = ~st__q[(64'h60)+:(1)];
                if (st__q[(64'h60)+:(1)]) begin
                    st__d[(64'h79)+:(24)] = whole;
                end
                else begin
                    st__d[(64'h61)+:(24)] = whole;
                end
            end
        end
        st__d[(64'hb7)+:(24)] = leaving;
        if (st__q[(64'h92)+:(1)]) begin
            st__d[(64'h93)+:(10)] = st__q[(64'h93)+:(10)] + 32'h1;
            if (st__q[(64'h93)+:(10)] == 32'h0) begin
                if (st__q[(64'h9d)+:(1)]) begin
                    st__d[(64'h1c)+:(1)] = 1'b0;
                end
                else begin
                    st__d[(64'h1b)+:(1)] = 1'b0;
                end
            end
            if (st__q[(64'h93)+:(10)] == st__q[(64'h1)+:(10)]) begin
                st__d[(64'h93)+:(10)] = ((32'h0) & 10'h3ff);
                st__d[(64'h92)+:(1)] = 1'b0;
            end
        end
        st__d[(64'h9e)+:(1)] = commit;
        if (commit) begin
            st__d[(64'h92)+:(1)] = 1'b1;
            st__d[(64'h9f)+:(24)] = candidate;
            st__d[(64'h9d)+:(1)] = st__q[(64'h91)+:(1)];
            st__d[(64'h91)+:(1)] = ~st__q[(64'h91)+:(1)];
            if (st__q[(64'h91)+:(1)]) begin
                st__d[(64'h79)+:(24)] = spent;
            end
            else begin
                st__d[(64'h61)+:(24)] = spent;
            end
        end
        if (st__q[(64'hf)+:(10)] == 32'h0) begin
            st__d[(64'h1a)+:(1)] = 1'b0;
        end
        if (clear) begin
            st__d[(64'h1a)+:(1)] = 1'b1;
        end
        if (start) begin
            st__d[(64'h0)+:(1)] = known;
            if (known) begin
                st__d[(64'h1)+:(10)] = size;
                st__d[(64'hb)+:(4)] = extra;
            end
        end
    end
endmodule

module optireduce_nic__nic__finisher__drain__decoder__to_fixed(clock,tag,beat,signs,out_tag,out_beat);
    // Module arguments
    input wire  clock;
    input wire  [23:0] tag;
    input wire  [511:0] beat;
    input wire  [15:0] signs;
    output wire  [23:0] out_tag;
    output wire  [511:0] out_beat;
    // Stub signals
    wire  lane__0__clock;
    reg  [31:0] lane__0__a;
    wire  [8:0] lane__0__scale;
    wire  [31:0] lane__0__result;
    wire  lane__1__clock;
    reg  [31:0] lane__1__a;
    wire  [8:0] lane__1__scale;
    wire  [31:0] lane__1__result;
    wire  lane__2__clock;
    reg  [31:0] lane__2__a;
    wire  [8:0] lane__2__scale;
    wire  [31:0] lane__2__result;
    wire  lane__3__clock;
    reg  [31:0] lane__3__a;
    wire  [8:0] lane__3__scale;
    wire  [31:0] lane__3__result;
    wire  lane__4__clock;
    reg  [31:0] lane__4__a;
    wire  [8:0] lane__4__scale;
    wire  [31:0] lane__4__result;
    wire  lane__5__clock;
    reg  [31:0] lane__5__a;
    wire  [8:0] lane__5__scale;
    wire  [31:0] lane__5__result;
    wire  lane__6__clock;
    reg  [31:0] lane__6__a;
    wire  [8:0] lane__6__scale;
    wire  [31:0] lane__6__result;
    wire  lane__7__clock;
    reg  [31:0] lane__7__a;
    wire  [8:0] lane__7__scale;
    wire  [31:0] lane__7__result;
    wire  lane__8__clock;
    reg  [31:0] lane__8__a;
    wire  [8:0] lane__8__scale;
    wire  [31:0] lane__8__result;
    wire  lane__9__clock;
    reg  [31:0] lane__9__a;
    wire  [8:0] lane__9__scale;
    wire  [31:0] lane__9__result;
    wire  lane__10__clock;
    reg  [31:0] lane__10__a;
    wire  [8:0] lane__10__scale;
    wire  [31:0] lane__10__result;
    wire  lane__11__clock;
    reg  [31:0] lane__11__a;
    wire  [8:0] lane__11__scale;
    wire  [31:0] lane__11__result;
    wire  lane__12__clock;
    reg  [31:0] lane__12__a;
    wire  [8:0] lane__12__scale;
    wire  [31:0] lane__12__result;
    wire  lane__13__clock;
    reg  [31:0] lane__13__a;
    wire  [8:0] lane__13__scale;
    wire  [31:0] lane__13__result;
    wire  lane__14__clock;
    reg  [31:0] lane__14__a;
    wire  [8:0] lane__14__scale;
    wire  [31:0] lane__14__result;
    wire  lane__15__clock;
    reg  [31:0] lane__15__a;
    wire  [8:0] lane__15__scale;
    wire  [31:0] lane__15__result;
    wire  [31:0] pack__lane__0;
    wire  [31:0] pack__lane__1;
    wire  [31:0] pack__lane__2;
    wire  [31:0] pack__lane__3;
    wire  [31:0] pack__lane__4;
    wire  [31:0] pack__lane__5;
    wire  [31:0] pack__lane__6;
    wire  [31:0] pack__lane__7;
    wire  [31:0] pack__lane__8;
    wire  [31:0] pack__lane__9;
    wire  [31:0] pack__lane__10;
    wire  [31:0] pack__lane__11;
    wire  [31:0] pack__lane__12;
    wire  [31:0] pack__lane__13;
    wire  [31:0] pack__lane__14;
    wire  [31:0] pack__lane__15;
    wire  [511:0] pack__beat;
    reg  [71:0] tags__d;
    wire  [71:0] tags__q;
    wire  tags__clock;
    // Sub module instances
    optireduce_nic__nic__finisher__drain__decoder__to_fixed__lane__0 lane__0(
        .clock(lane__0__clock),
        .a(lane__0__a),
        .scale(lane__0__scale),
        .result(lane__0__result)
    );
    optireduce_nic__nic__finisher__drain__decoder__to_fixed__lane__0 lane__1(
        .clock(lane__1__clock),
        .a(lane__1__a),
        .scale(lane__1__scale),
        .result(lane__1__result)
    );
    optireduce_nic__nic__finisher__drain__decoder__to_fixed__lane__0 lane__2(
        .clock(lane__2__clock),
        .a(lane__2__a),
        .scale(lane__2__scale),
        .result(lane__2__result)
    );
    optireduce_nic__nic__finisher__drain__decoder__to_fixed__lane__0 lane__3(
        .clock(lane__3__clock),
        .a(lane__3__a),
        .scale(lane__3__scale),
        .result(lane__3__result)
    );
    optireduce_nic__nic__finisher__drain__decoder__to_fixed__lane__0 lane__4(
        .clock(lane__4__clock),
        .a(lane__4__a),
        .scale(lane__4__scale),
        .result(lane__4__result)
    );
    optireduce_nic__nic__finisher__drain__decoder__to_fixed__lane__0 lane__5(
        .clock(lane__5__clock),
        .a(lane__5__a),
        .scale(lane__5__scale),
        .result(lane__5__result)
    );
    optireduce_nic__nic__finisher__drain__decoder__to_fixed__lane__0 lane__6(
        .clock(lane__6__clock),
        .a(lane__6__a),
        .scale(lane__6__scale),
        .result(lane__6__result)
    );
    optireduce_nic__nic__finisher__drain__decoder__to_fixed__lane__0 lane__7(
        .clock(lane__7__clock),
        .a(lane__7__a),
        .scale(lane__7__scale),
        .result(lane__7__result)
    );
    optireduce_nic__nic__finisher__drain__decoder__to_fixed__lane__0 lane__8(
        .clock(lane__8__clock),
        .a(lane__8__a),
        .scale(lane__8__scale),
        .result(lane__8__result)
    );
    optireduce_nic__nic__finisher__drain__decoder__to_fixed__lane__0 lane__9(
        .clock(lane__9__clock),
        .a(lane__9__a),
        .scale(lane__9__scale),
        .result(lane__9__result)
    );
    optireduce_nic__nic__finisher__drain__decoder__to_fixed__lane__0 lane__10(
        .clock(lane__10__clock),
        .a(lane__10__a),
        .scale(lane__10__scale),
        .result(lane__10__result)
    );
    optireduce_nic__nic__finisher__drain__decoder__to_fixed__lane__0 lane__11(
        .clock(lane__11__clock),
        .a(lane__11__a),
        .scale(lane__11__scale),
        .result(lane__11__result)
    );
    optireduce_nic__nic__finisher__drain__decoder__to_fixed__lane__0 lane__12(
        .clock(lane__12__clock),
        .a(lane__12__a),
        .scale(lane__12__scale),
        .result(lane__12__result)
    );
    optireduce_nic__nic__finisher__drain__decoder__to_fixed__lane__0 lane__13(
        .clock(lane__13__clock),
        .a(lane__13__a),
        .scale(lane__13__scale),
        .result(lane__13__result)
    );
    optireduce_nic__nic__finisher__drain__decoder__to_fixed__lane__0 lane__14(
        .clock(lane__14__clock),
        .a(lane__14__a),
        .scale(lane__14__scale),
        .result(lane__14__result)
    );
    optireduce_nic__nic__finisher__drain__decoder__to_fixed__lane__0 lane__15(
        .clock(lane__15__clock),
        .a(lane__15__a),
        .scale(lane__15__scale),
        .result(lane__15__result)
    );
    optireduce_nic__nic__finisher__drain__decoder__to_fixed__pack pack(
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
    optireduce_nic__nic__finisher__drain__decoder__to_fixed__tags tags(
        .d(tags__d),
        .q(tags__q),
        .clock(tags__clock)
    );
    // Update code
    assign tags__clock = clock;
    assign lane__0__clock = clock;
    always @(*) begin
        lane__0__a = beat[(0 * 32'h20)+:(32)];
        if (signs[0]) begin
            lane__0__a = beat[(0 * 32'h20)+:(32)] ^ 64'h80000000;
        end
    end
    assign lane__0__scale = tag[(64'h4)+:(9)];
    assign pack__lane__0 = lane__0__result ^ 64'h80000000;
    assign lane__1__clock = clock;
    always @(*) begin
        lane__1__a = beat[(1 * 32'h20)+:(32)];
        if (signs[1]) begin
            lane__1__a = beat[(1 * 32'h20)+:(32)] ^ 64'h80000000;
        end
    end
    assign lane__1__scale = tag[(64'h4)+:(9)];
    assign pack__lane__1 = lane__1__result ^ 64'h80000000;
    assign lane__2__clock = clock;
    always @(*) begin
        lane__2__a = beat[(2 * 32'h20)+:(32)];
        if (signs[2]) begin
            lane__2__a = beat[(2 * 32'h20)+:(32)] ^ 64'h80000000;
        end
    end
    assign lane__2__scale = tag[(64'h4)+:(9)];
    assign pack__lane__2 = lane__2__result ^ 64'h80000000;
    assign lane__3__clock = clock;
    always @(*) begin
        lane__3__a = beat[(3 * 32'h20)+:(32)];
        if (signs[3]) begin
            lane__3__a = beat[(3 * 32'h20)+:(32)] ^ 64'h80000000;
        end
    end
    assign lane__3__scale = tag[(64'h4)+:(9)];
    assign pack__lane__3 = lane__3__result ^ 64'h80000000;
    assign lane__4__clock = clock;
    always @(*) begin
        lane__4__a = beat[(4 * 32'h20)+:(32)];
        if (signs[4]) begin
            lane__4__a = beat[(4 * 32'h20)+:(32)] ^ 64'h80000000;
        end
    end
    assign lane__4__scale = tag[(64'h4)+:(9)];
    assign pack__lane__4 = lane__4__result ^ 64'h80000000;
    assign lane__5__clock = clock;
    always @(*) begin
        lane__5__a = beat[(5 * 32'h20)+:(32)];
        if (signs[5]) begin
            lane__5__a = beat[(5 * 32'h20)+:(32)] ^ 64'h80000000;
        end
    end
    assign lane__5__scale = tag[(64'h4)+:(9)];
    assign pack__lane__5 = lane__5__result ^ 64'h80000000;
    assign lane__6__clock = clock;
    always @(*) begin
        lane__6__a = beat[(6 * 32'h20)+:(32)];
        if (signs[6]) begin
            lane__6__a = beat[(6 * 32'h20)+:(32)] ^ 64'h80000000;
        end
    end
    assign lane__6__scale = tag[(64'h4)+:(9)];
    assign pack__lane__6 = lane__6__result ^ 64'h80000000;
    assign lane__7__clock = clock;
    always @(*) begin
        lane__7__a = beat[(7 * 32'h20)+:(32)];
        if (signs[7]) begin
            lane__7__a = beat[(7 * 32'h20)+:(32)] ^ 64'h80000000;
        end
    end
    assign lane__7__scale = tag[(64'h4)+:(9)];
    assign pack__lane__7 = lane__7__result ^ 64'h80000000;
    assign lane__8__clock = clock;
    always @(*) begin
        lane__8__a = beat[(8 * 32'h20)+:(32)];
        if (signs[8]) begin
            lane__8__a = beat[(8 * 32'h20)+:(32)] ^ 64'h80000000;
        end
    end
    assign lane__8__scale = tag[(64'h4)+:(9)];
    assign pack__lane__8 = lane__8__result ^ 64'h80000000;
    assign lane__9__clock = clock;
    always @(*) begin
        lane__9__a = beat[(9 * 32'h20)+:(32)];
        if (signs[9]) begin
            lane__9__a = beat[(9 * 32'h20)+:(32)] ^ 64'h80000000;
        end
    end
    assign lane__9__scale = tag[(64'h4)+:(9)];
    assign pack__lane__9 = lane__9__result ^ 64'h80000000;
    assign lane__10__clock = clock;
    always @(*) begin
        lane__10__a = beat[(10 * 32'h20)+:(32)];
        if (signs[10]) begin
            lane__10__a = beat[(10 * 32'h20)+:(32)] ^ 64'h80000000;
        end
    end
    assign lane__10__scale = tag[(64'h4)+:(9)];
    assign pack__lane__10 = lane__10__result ^ 64'h80000000;
    assign lane__11__clock = clock;
    always @(*) begin
        lane__11__a = beat[(11 * 32'h20)+:(32)];
        if (signs[11]) begin
            lane__11__a = beat[(11 * 32'h20)+:(32)] ^ 64'h80000000;
        end
    end
    assign lane__11__scale = tag[(64'h4)+:(9)];
    assign pack__lane__11 = lane__11__result ^ 64'h80000000;
    assign lane__12__clock = clock;
    always @(*) begin
        lane__12__a = beat[(12 * 32'h20)+:(32)];
        if (signs[12]) begin
            lane__12__a = beat[(12 * 32'h20)+:(32)] ^ 64'h80000000;
        end
    end
    assign lane__12__scale = tag[(64'h4)+:(9)];
    assign pack__lane__12 = lane__12__result ^ 64'h80000000;
    assign lane__13__clock = clock;
    always @(*) begin
        lane__13__a = beat[(13 * 32'h20)+:(32)];
        if (signs[13]) begin
            lane__13__a = beat[(13 * 32'h20)+:(32)] ^ 64'h80000000;
        end
    end
    assign lane__13__scale = tag[(64'h4)+:(9)];
    assign pack__lane__13 = lane__13__result ^ 64'h80000000;
    assign lane__14__clock = clock;
    always @(*) begin
        lane__14__a = beat[(14 * 32'h20)+:(32)];
        if (signs[14]) begin
            lane__14__a = beat[(14 * 32'h20)+:(32)] ^ 64'h80000000;
        end
    end
    assign lane__14__scale = tag[(64'h4)+:(9)];
    assign pack__lane__14 = lane__14__result ^ 64'h80000000;
    assign lane__15__clock = clock;
    always @(*) begin
        lane__15__a = beat[(15 * 32'h20)+:(32)];
        if (signs[15]) begin
            lane__15__a = beat[(15 * 32'h20)+:(32)] ^ 64'h80000000;
        end
    end
    assign lane__15__scale = tag[(64'h4)+:(9)];
    assign pack__lane__15 = lane__15__result ^ 64'h80000000;
    assign out_tag = tags__q[(64'h30)+:(24)];
    assign out_beat = pack__beat;
    always @(*) begin
        tags__d = tags__q;
        tags__d[(64'h0)+:(24)] = tag;
        tags__d[(64'h18)+:(24)] = tags__q[(64'h0)+:(24)];
        tags__d[(64'h30)+:(24)] = tags__q[(64'h18)+:(24)];
    end
endmodule

module optireduce_nic__nic__finisher__drain__decoder__to_float(clock,tag,beat,signs,take,take_odd,out_tag,out_beat);
    // Module arguments
    input wire  clock;
    input wire  [23:0] tag;
    input wire  [511:0] beat;
    input wire  [15:0] signs;
    output wire  take;
    output wire  take_odd;
    output wire  [23:0] out_tag;
    output wire  [511:0] out_beat;
    // Stub signals
    wire  lane__0__clock;
    wire  [31:0] lane__0__a;
    wire  [8:0] lane__0__scale;
    wire  lane__0__negate;
    wire  lane__0__special;
    wire  [31:0] lane__0__result;
    wire  lane__1__clock;
    wire  [31:0] lane__1__a;
    wire  [8:0] lane__1__scale;
    wire  lane__1__negate;
    wire  lane__1__special;
    wire  [31:0] lane__1__result;
    wire  lane__2__clock;
    wire  [31:0] lane__2__a;
    wire  [8:0] lane__2__scale;
    wire  lane__2__negate;
    wire  lane__2__special;
    wire  [31:0] lane__2__result;
    wire  lane__3__clock;
    wire  [31:0] lane__3__a;
    wire  [8:0] lane__3__scale;
    wire  lane__3__negate;
    wire  lane__3__special;
    wire  [31:0] lane__3__result;
    wire  lane__4__clock;
    wire  [31:0] lane__4__a;
    wire  [8:0] lane__4__scale;
    wire  lane__4__negate;
    wire  lane__4__special;
    wire  [31:0] lane__4__result;
    wire  lane__5__clock;
    wire  [31:0] lane__5__a;
    wire  [8:0] lane__5__scale;
    wire  lane__5__negate;
    wire  lane__5__special;
    wire  [31:0] lane__5__result;
    wire  lane__6__clock;
    wire  [31:0] lane__6__a;
    wire  [8:0] lane__6__scale;
    wire  lane__6__negate;
    wire  lane__6__special;
    wire  [31:0] lane__6__result;
    wire  lane__7__clock;
    wire  [31:0] lane__7__a;
    wire  [8:0] lane__7__scale;
    wire  lane__7__negate;
    wire  lane__7__special;
    wire  [31:0] lane__7__result;
    wire  lane__8__clock;
    wire  [31:0] lane__8__a;
    wire  [8:0] lane__8__scale;
    wire  lane__8__negate;
    wire  lane__8__special;
    wire  [31:0] lane__8__result;
    wire  lane__9__clock;
    wire  [31:0] lane__9__a;
    wire  [8:0] lane__9__scale;
    wire  lane__9__negate;
    wire  lane__9__special;
    wire  [31:0] lane__9__result;
    wire  lane__10__clock;
    wire  [31:0] lane__10__a;
    wire  [8:0] lane__10__scale;
    wire  lane__10__negate;
    wire  lane__10__special;
    wire  [31:0] lane__10__result;
    wire  lane__11__clock;
    wire  [31:0] lane__11__a;
    wire  [8:0] lane__11__scale;
    wire  lane__11__negate;
    wire  lane__11__special;
    wire  [31:0] lane__11__result;
    wire  lane__12__clock;
    wire  [31:0] lane__12__a;
    wire  [8:0] lane__12__scale;
    wire  lane__12__negate;
    wire  lane__12__special;
    wire  [31:0] lane__12__result;
    wire  lane__13__clock;
    wire  [31:0] lane__13__a;
    wire  [8:0] lane__13__scale;
    wire  lane__13__negate;
    wire  lane__13__special;
    wire  [31:0] lane__13__result;
    wire  lane__14__clock;
    wire  [31:0] lane__14__a;
    wire  [8:0] lane__14__scale;
    wire  lane__14__negate;
    wire  lane__14__special;
    wire  [31:0] lane__14__result;
    wire  lane__15__clock;
    wire  [31:0] lane__15__a;
    wire  [8:0] lane__15__scale;
    wire  lane__15__negate;
    wire  lane__15__special;
    wire  [31:0] lane__15__result;
    wire  [31:0] pack__lane__0;
    wire  [31:0] pack__lane__1;
    wire  [31:0] pack__lane__2;
    wire  [31:0] pack__lane__3;
    wire  [31:0] pack__lane__4;
    wire  [31:0] pack__lane__5;
    wire  [31:0] pack__lane__6;
    wire  [31:0] pack__lane__7;
    wire  [31:0] pack__lane__8;
    wire  [31:0] pack__lane__9;
    wire  [31:0] pack__lane__10;
    wire  [31:0] pack__lane__11;
    wire  [31:0] pack__lane__12;
    wire  [31:0] pack__lane__13;
    wire  [31:0] pack__lane__14;
    wire  [31:0] pack__lane__15;
    wire  [511:0] pack__beat;
    reg  [119:0] tags__d;
    wire  [119:0] tags__q;
    wire  tags__clock;
    // Local signals
    wire  [23:0] earlier;
    wire  [23:0] now;
    wire  [23:0] latest;
    reg  [15:0] flips;
    // Sub module instances
    optireduce_nic__nic__finisher__drain__decoder__to_float__lane__0 lane__0(
        .clock(lane__0__clock),
        .a(lane__0__a),
        .scale(lane__0__scale),
        .negate(lane__0__negate),
        .special(lane__0__special),
        .result(lane__0__result)
    );
    optireduce_nic__nic__finisher__drain__decoder__to_float__lane__0 lane__1(
        .clock(lane__1__clock),
        .a(lane__1__a),
        .scale(lane__1__scale),
        .negate(lane__1__negate),
        .special(lane__1__special),
        .result(lane__1__result)
    );
    optireduce_nic__nic__finisher__drain__decoder__to_float__lane__0 lane__2(
        .clock(lane__2__clock),
        .a(lane__2__a),
        .scale(lane__2__scale),
        .negate(lane__2__negate),
        .special(lane__2__special),
        .result(lane__2__result)
    );
    optireduce_nic__nic__finisher__drain__decoder__to_float__lane__0 lane__3(
        .clock(lane__3__clock),
        .a(lane__3__a),
        .scale(lane__3__scale),
        .negate(lane__3__negate),
        .special(lane__3__special),
        .result(lane__3__result)
    );
    optireduce_nic__nic__finisher__drain__decoder__to_float__lane__0 lane__4(
        .clock(lane__4__clock),
        .a(lane__4__a),
        .scale(lane__4__scale),
        .negate(lane__4__negate),
        .special(lane__4__special),
        .result(lane__4__result)
    );
    optireduce_nic__nic__finisher__drain__decoder__to_float__lane__0 lane__5(
        .clock(lane__5__clock),
        .a(lane__5__a),
        .scale(lane__5__scale),
        .negate(lane__5__negate),
        .special(lane__5__special),
        .result(lane__5__result)
    );
    optireduce_nic__nic__finisher__drain__decoder__to_float__lane__0 lane__6(
        .clock(lane__6__clock),
        .a(lane__6__a),
        .scale(lane__6__scale),
        .negate(lane__6__negate),
        .special(lane__6__special),
        .result(lane__6__result)
    );
    optireduce_nic__nic__finisher__drain__decoder__to_float__lane__0 lane__7(
        .clock(lane__7__clock),
        .a(lane__7__a),
        .scale(lane__7__scale),
        .negate(lane__7__negate),
        .special(lane__7__special),
        .result(lane__7__result)
    );
    optireduce_nic__nic__finisher__drain__decoder__to_float__lane__0 lane__8(
        .clock(lane__8__clock),
        .a(lane__8__a),
        .scale(lane__8__scale),
        .negate(lane__8__negate),
        .special(lane__8__special),
        .result(lane__8__result)
    );
    optireduce_nic__nic__finisher__drain__decoder__to_float__lane__0 lane__9(
        .clock(lane__9__clock),
        .a(lane__9__a),
        .scale(lane__9__scale),
        .negate(lane__9__negate),
        .special(lane__9__special),
        .result(lane__9__result)
    );
    optireduce_nic__nic__finisher__drain__decoder__to_float__lane__0 lane__10(
        .clock(lane__10__clock),
        .a(lane__10__a),
        .scale(lane__10__scale),
        .negate(lane__10__negate),
        .special(lane__10__special),
        .result(lane__10__result)
    );
    optireduce_nic__nic__finisher__drain__decoder__to_float__lane__0 lane__11(
        .clock(lane__11__clock),
        .a(lane__11__a),
        .scale(lane__11__scale),
        .negate(lane__11__negate),
        .special(lane__11__special),
        .result(lane__11__result)
    );
    optireduce_nic__nic__finisher__drain__decoder__to_float__lane__0 lane__12(
        .clock(lane__12__clock),
        .a(lane__12__a),
        .scale(lane__12__scale),
        .negate(lane__12__negate),
        .special(lane__12__special),
        .result(lane__12__result)
    );
    optireduce_nic__nic__finisher__drain__decoder__to_float__lane__0 lane__13(
        .clock(lane__13__clock),
        .a(lane__13__a),
        .scale(lane__13__scale),
        .negate(lane__13__negate),
        .special(lane__13__special),
        .result(lane__13__result)
    );
    optireduce_nic__nic__finisher__drain__decoder__to_float__lane__0 lane__14(
        .clock(lane__14__clock),
        .a(lane__14__a),
        .scale(lane__14__scale),
        .negate(lane__14__negate),
        .special(lane__14__special),
        .result(lane__14__result)
    );
    optireduce_nic__nic__finisher__drain__decoder__to_float__lane__0 lane__15(
        .clock(lane__15__clock),
        .a(lane__15__a),
        .scale(lane__15__scale),
        .negate(lane__15__negate),
        .special(lane__15__special),
        .result(lane__15__result)
    );
    optireduce_nic__nic__finisher__drain__decoder__to_fixed__pack pack(
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
    optireduce_nic__nic__finisher__drain__decoder__to_float__tags tags(
        .d(tags__d),
        .q(tags__q),
        .clock(tags__clock)
    );
    // Update code
    assign tags__clock = clock;
    assign earlier = tags__q[(64'h30)+:(24)];
    assign now = tags__q[(64'h48)+:(24)];
    assign latest = tags__q[(64'h60)+:(24)];
    assign take = now[(64'h0)+:(1)];
    assign take_odd = now[(64'h3)+:(1)];
    always @(*) begin
        flips = signs ^ 32'h6996;
        if (now[(64'h2)+:(1)]) begin
            flips = flips ^ 32'hffff;
        end
    end
    assign lane__0__clock = clock;
    assign lane__0__a = beat[(0 * 32'h20)+:(32)] ^ 64'h80000000;
    assign lane__0__scale = earlier[(64'h4)+:(9)];
    assign lane__0__special = now[(64'h1)+:(1)];
    assign lane__0__negate = flips[0];
    assign pack__lane__0 = lane__0__result;
    assign lane__1__clock = clock;
    assign lane__1__a = beat[(1 * 32'h20)+:(32)] ^ 64'h80000000;
    assign lane__1__scale = earlier[(64'h4)+:(9)];
    assign lane__1__special = now[(64'h1)+:(1)];
    assign lane__1__negate = flips[1];
    assign pack__lane__1 = lane__1__result;
    assign lane__2__clock = clock;
    assign lane__2__a = beat[(2 * 32'h20)+:(32)] ^ 64'h80000000;
    assign lane__2__scale = earlier[(64'h4)+:(9)];
    assign lane__2__special = now[(64'h1)+:(1)];
    assign lane__2__negate = flips[2];
    assign pack__lane__2 = lane__2__result;
    assign lane__3__clock = clock;
    assign lane__3__a = beat[(3 * 32'h20)+:(32)] ^ 64'h80000000;
    assign lane__3__scale = earlier[(64'h4)+:(9)];
    assign lane__3__special = now[(64'h1)+:(1)];
    assign lane__3__negate = flips[3];
    assign pack__lane__3 = lane__3__result;
    assign lane__4__clock = clock;
    assign lane__4__a = beat[(4 * 32'h20)+:(32)] ^ 64'h80000000;
    assign lane__4__scale = earlier[(64'h4)+:(9)];
    assign lane__4__special = now[(64'h1)+:(1)];
    assign lane__4__negate = flips[4];
    assign pack__lane__4 = lane__4__result;
    assign lane__5__clock = clock;
    assign lane__5__a = beat[(5 * 32'h20)+:(32)] ^ 64'h80000000;
    assign lane__5__scale = earlier[(64'h4)+:(9)];
    assign lane__5__special = now[(64'h1)+:(1)];
    assign lane__5__negate = flips[5];
    assign pack__lane__5 = lane__5__result;
    assign lane__6__clock = clock;
    assign lane__6__a = beat[(6 * 32'h20)+:(32)] ^ 64'h80000000;
    assign lane__6__scale = earlier[(64'h4)+:(9)];
    assign lane__6__special = now[(64'h1)+:(1)];
    assign lane__6__negate = flips[6];
    assign pack__lane__6 = lane__6__result;
    assign lane__7__clock = clock;
    assign lane__7__a = beat[(7 * 32'h20)+:(32)] ^ 64'h80000000;
    assign lane__7__scale = earlier[(64'h4)+:(9)];
    assign lane__7__special = now[(64'h1)+:(1)];
    assign lane__7__negate = flips[7];
    assign pack__lane__7 = lane__7__result;
    assign lane__8__clock = clock;
    assign lane__8__a = beat[(8 * 32'h20)+:(32)] ^ 64'h80000000;
    assign lane__8__scale = earlier[(64'h4)+:(9)];
    assign lane__8__special = now[(64'h1)+:(1)];
    assign lane__8__negate = flips[8];
    assign pack__lane__8 = lane__8__result;
    assign lane__9__clock = clock;
    assign lane__9__a = beat[(9 * 32'h20)+:(32)] ^ 64'h80000000;
    assign lane__9__scale = earlier[(64'h4)+:(9)];
    assign lane__9__special = now[(64'h1)+:(1)];
    assign lane__9__negate = flips[9];
    assign pack__lane__9 = lane__9__result;
    assign lane__10__clock = clock;
    assign lane__10__a = beat[(10 * 32'h20)+:(32)] ^ 64'h80000000;
    assign lane__10__scale = earlier[(64'h4)+:(9)];
    assign lane__10__special = now[(64'h1)+:(1)];
    assign lane__10__negate = flips[10];
    assign pack__lane__10 = lane__10__result;
    assign lane__11__clock = clock;
    assign lane__11__a = beat[(11 * 32'h20)+:(32)] ^ 64'h80000000;
    assign lane__11__scale = earlier[(64'h4)+:(9)];
    assign lane__11__special = now[(64'h1)+:(1)];
    assign lane__11__negate = flips[11];
    assign pack__lane__11 = lane__11__result;
    assign lane__12__clock = clock;
    assign lane__12__a = beat[(12 * 32'h20)+:(32)] ^ 64'h80000000;
    assign lane__12__scale = earlier[(64'h4)+:(9)];
    assign lane__12__special = now[(64'h1)+:(1)];
    assign lane__12__negate = flips[12];
    assign pack__lane__12 = lane__12__result;
    assign lane__13__clock = clock;
    assign lane__13__a = beat[(13 * 32'h20)+:(32)] ^ 64'h80000000;
    assign lane__13__scale = earlier[(64'h4)+:(9)];
    assign lane__13__special = now[(64'h1)+:(1)];
    assign lane__13__negate = flips[13];
    assign pack__lane__13 = lane__13__result;
    assign lane__14__clock = clock;
    assign lane__14__a = beat[(14 * 32'h20)+:(32)] ^ 64'h80000000;
    assign lane__14__scale = earlier[(64'h4)+:(9)];
    assign lane__14__special = now[(64'h1)+:(1)];
    assign lane__14__negate = flips[14];
    assign pack__lane__14 = lane__14__result;
    assign lane__15__clock = clock;
    assign lane__15__a = beat[(15 * 32'h20)+:(32)] ^ 64'h80000000;
    assign lane__15__scale = earlier[(64'h4)+:(9)];
    assign lane__15__special = now[(64'h1)+:(1)];
    assign lane__15__negate = flips[15];
    assign pack__lane__15 = lane__15__result;
    assign out_tag = latest;
    assign out_beat = pack__beat;
    always @(*) begin
        tags__d = tags__q;
        tags__d[(64'h0)+:(24)] = tag;
        tags__d[(64'h18)+:(24)] = tags__q[(64'h0)+:(24)];
        tags__d[(64'h30)+:(24)] = tags__q[(64'h18)+:(24)];
        tags__d[(64'h48)+:(24)] = tags__q[(64'h30)+:(24)];
        tags__d[(64'h60)+:(24)] = tags__q[(64'h48)+:(24)];
    end
    wire unused__earlier = &{earlier[23:13], earlier[3:0]};
    wire unused__now = &{now[23:4]};
endmodule

module optireduce_nic__nic__finisher__drain__decoder__window(d,q,clock);
    // Module arguments
    input wire  [21:0] d;
    output reg  [21:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 22'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__nic__finisher__drain__inbox__memory(clock,read_address,read_data,write_address,write_data,write_enable);
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

module optireduce_nic__nic__finisher__drain__inbox__state(d,q,clock);
    // Module arguments
    input wire  [47:0] d;
    output reg  [47:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 48'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__nic__finisher__drain__reciprocal__rom(clock,address,data);
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

module optireduce_nic__nic__finisher__drain__side__0(d,q,clock);
    // Module arguments
    input wire  d;
    output reg  q;
    input wire  clock;
    // Update code (custom)
    initial q = 1'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__nic__finisher__write__notes__memory(clock,read_address,read_data,write_address,write_data,write_enable);
    // Module arguments
    input wire  clock;
    input wire  [1:0] read_address;
    output reg  [511:0] read_data;
    input wire  [1:0] write_address;
    input wire  [511:0] write_data;
    input wire  write_enable;
    // Update code (custom)
    (* ram_style = "distributed" *) reg [511:0] mem [0:3];
    `ifndef SYNTHESIS
    integer i;
    initial for (i = 0; i <= 3; i = i + 1) mem[i] = 0;
    `endif
    always @(*) read_data = mem[read_address];
    always @(posedge clock) if (write_enable) mem[write_address] <= write_data;
endmodule

module optireduce_nic__nic__finisher__write__owners__memory(clock,read_address,read_data,write_address,write_data,write_enable);
    // Module arguments
    input wire  clock;
    input wire  [3:0] read_address;
    output reg  [8:0] read_data;
    input wire  [3:0] write_address;
    input wire  [8:0] write_data;
    input wire  write_enable;
    // Update code (custom)
    (* ram_style = "distributed" *) reg [8:0] mem [0:15];
    `ifndef SYNTHESIS
    integer i;
    initial for (i = 0; i <= 15; i = i + 1) mem[i] = 0;
    `endif
    always @(*) read_data = mem[read_address];
    always @(posedge clock) if (write_enable) mem[write_address] <= write_data;
endmodule

module optireduce_nic__nic__finisher__write__results__memory(clock,read_address,read_data,write_address,write_data,write_enable);
    // Module arguments
    input wire  clock;
    input wire  [15:0] read_address;
    output reg  [511:0] read_data;
    input wire  [15:0] write_address;
    input wire  [511:0] write_data;
    input wire  write_enable;
    // Update code (custom)
    (* ram_style = "block" *) reg [511:0] mem [0:1023];
    `ifndef SYNTHESIS
    integer i;
    initial for (i = 0; i <= 1023; i = i + 1) mem[i] = 0;
    `endif
    initial read_data = 0;
    always @(posedge clock) begin
        read_data <= mem[read_address[9:0]];
        if (write_enable) mem[write_address[9:0]] <= write_data;
    end
    wire unused = &{read_address[15:10], write_address[15:10]};
endmodule

module optireduce_nic__nic__finisher__write__results__state(d,q,clock);
    // Module arguments
    input wire  [63:0] d;
    output reg  [63:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 64'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__nic__lookup__key__0__found(d,q,clock);
    // Module arguments
    input wire  [16:0] d;
    output reg  [16:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 17'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__nic__lookup__key__0__key(d,q,clock);
    // Module arguments
    input wire  [73:0] d;
    output reg  [73:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 74'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__nic__reduce__adder__lane__0(clock,a,b,sum);
    // Module arguments
    input wire  clock;
    input wire  [31:0] a;
    input wire  [31:0] b;
    output wire  [31:0] sum;
    // Stub signals
    reg  [65:0] ordered__d;
    wire  [65:0] ordered__q;
    wire  ordered__clock;
    reg  [62:0] aligned__d;
    wire  [62:0] aligned__q;
    wire  aligned__clock;
    reg  [40:0] added__d;
    wire  [40:0] added__q;
    wire  added__clock;
    reg  [43:0] counted__d;
    wire  [43:0] counted__q;
    wire  counted__clock;
    reg  [35:0] normal__d;
    wire  [35:0] normal__q;
    wire  normal__clock;
    reg  [31:0] result__d;
    wire  [31:0] result__q;
    wire  result__clock;
    // Local signals
    wire  [7:0] a_exponent;
    wire  [7:0] b_exponent;
    reg  [7:0] large_exponent;
    reg  [7:0] lesser_exponent;
    reg  [23:0] larger;
    reg  [23:0] lesser;
    wire  [7:0] distance;
    wire  [25:0] wide;
    reg  [25:0] sixteens;
    reg  [25:0] fours;
    reg  [25:0] ones;
    reg  lost_sixteens;
    reg  lost_fours;
    reg  lost_ones;
    reg  [28:0] addend;
    reg  [28:0] minuend;
    wire  [28:0] total;
    wire  [27:0] whole;
    reg  [15:0] scan16;
    reg  [7:0] scan8;
    reg  [3:0] scan4;
    reg  [1:0] scan2;
    reg  [4:0] zeros;
    wire  [8:0] lowered;
    wire  [4:0] up;
    reg  [27:0] up16;
    reg  [27:0] up4;
    reg  [27:0] up1;
    wire  [23:0] mantissa;
    wire  [30:0] truncated;
    reg  [30:0] increment;
    wire  [30:0] rounded;
    reg  [31:0] magnitude;
    // Sub module instances
    optireduce_nic__nic__finisher__drain__multiplier__lane__0__placed ordered(
        .d(ordered__d),
        .q(ordered__q),
        .clock(ordered__clock)
    );
    optireduce_nic__nic__reduce__adder__lane__0__aligned aligned(
        .d(aligned__d),
        .q(aligned__q),
        .clock(aligned__clock)
    );
    optireduce_nic__nic__reduce__adder__lane__0__added added(
        .d(added__d),
        .q(added__q),
        .clock(added__clock)
    );
    optireduce_nic__nic__reduce__adder__lane__0__counted counted(
        .d(counted__d),
        .q(counted__q),
        .clock(counted__clock)
    );
    optireduce_nic__nic__reduce__adder__lane__0__normal normal(
        .d(normal__d),
        .q(normal__q),
        .clock(normal__clock)
    );
    optireduce_nic__nic__finisher__drain__multiplier__lane__0__result result(
        .d(result__d),
        .q(result__q),
        .clock(result__clock)
    );
    // Update code
    assign ordered__clock = clock;
    assign aligned__clock = clock;
    assign added__clock = clock;
    assign counted__clock = clock;
    assign normal__clock = clock;
    assign result__clock = clock;
    assign a_exponent = a[(32'h17)+:(8)];
    assign b_exponent = b[(32'h17)+:(8)];
    always @(*) begin
        large_exponent = ordered__q[(64'h2)+:(8)];
        if (ordered__q[(64'h21)+:(1)]) begin
            large_exponent = ordered__q[(64'h2)+:(8)] | 32'h1;
        end
    end
    always @(*) begin
        larger = ((ordered__q[(64'ha)+:(23)]) & 24'hffffff) | 32'h800000;
        if (ordered__q[(64'h21)+:(1)]) begin
            larger = ((ordered__q[(64'ha)+:(23)]) & 24'hffffff);
        end
    end
    always @(*) begin
        lesser_exponent = ordered__q[(64'h22)+:(8)];
        if (ordered__q[(64'h41)+:(1)]) begin
            lesser_exponent = ordered__q[(64'h22)+:(8)] | 32'h1;
        end
    end
    always @(*) begin
        lesser = ((ordered__q[(64'h2a)+:(23)]) & 24'hffffff) | 32'h800000;
        if (ordered__q[(64'h41)+:(1)]) begin
            lesser = ((ordered__q[(64'h2a)+:(23)]) & 24'hffffff);
        end
    end
    assign distance = large_exponent - lesser_exponent;
    assign wide = ((lesser) & 26'h3ffffff) << 32'h2;
    always @(*) begin
        if (distance[(32'h5)+:(3)] != 32'h0) begin
            sixteens = ((32'h0) & 26'h3ffffff);
        end
        else if (distance[32'h4]) begin
            sixteens = wide >> 32'h10;
        end
        else begin
            sixteens = wide;
        end
    end
    always @(*) begin
        if (distance[(32'h5)+:(3)] != 32'h0) begin
            lost_sixteens = 1'b0;
        end
        else if (distance[32'h4]) begin
            lost_sixteens = wide[(32'h0)+:(16)] != 32'h0;
        end
        else begin
            lost_sixteens = 1'b0;
        end
    end
    always @(*) begin
        if (distance[32'h3] && distance[32'h2]) begin
            fours = sixteens >> 32'hc;
        end
        else if (distance[32'h3]) begin
            fours = sixteens >> 32'h8;
        end
        else if (distance[32'h2]) begin
            fours = sixteens >> 32'h4;
        end
        else begin
            fours = sixteens;
        end
    end
    always @(*) begin
        if (distance[32'h3] && distance[32'h2]) begin
            lost_fours = sixteens[(32'h0)+:(12)] != 32'h0;
        end
        else if (distance[32'h3]) begin
            lost_fours = sixteens[(32'h0)+:(8)] != 32'h0;
        end
        else if (distance[32'h2]) begin
            lost_fours = sixteens[(32'h0)+:(4)] != 32'h0;
        end
        else begin
            lost_fours = 1'b0;
        end
    end
    always @(*) begin
        if (distance[32'h1] && distance[32'h0]) begin
            ones = fours >> 32'h3;
        end
        else if (distance[32'h1]) begin
            ones = fours >> 32'h2;
        end
        else if (distance[32'h0]) begin
            ones = fours >> 32'h1;
        end
        else begin
            ones = fours;
        end
    end
    always @(*) begin
        if (distance[32'h1] && distance[32'h0]) begin
            lost_ones = fours[(32'h0)+:(3)] != 32'h0;
        end
        else if (distance[32'h1]) begin
            lost_ones = fours[(32'h0)+:(2)] != 32'h0;
        end
        else if (distance[32'h0]) begin
            lost_ones = fours[32'h0];
        end
        else begin
            lost_ones = 1'b0;
        end
    end
    always @(*) begin
        minuend = ((aligned__q[(64'ha)+:(24)]) & 29'h1fffffff) << 32'h4;
        minuend = minuend | 32'h1;
    end
    always @(*) begin
        addend = ((aligned__q[(64'h22)+:(26)]) & 29'h1fffffff) << 32'h2;
        if (aligned__q[(64'h3c)+:(1)]) begin
            addend = addend | 32'h2;
        end
        if (aligned__q[(64'h1)+:(1)]) begin
            addend = addend ^ 32'h1fffffff;
        end
    end
    assign total = minuend + addend;
    assign whole = added__q[(64'ha)+:(28)];
    always @(*) begin
        zeros = ((32'h0) & 5'h1f);
        if (added__q[(64'h26)+:(1)]) begin
            zeros = ((32'h10) & 5'h1f);
        end
        if (scan16[(32'h8)+:(8)] == 32'h0) begin
            zeros = zeros | 32'h8;
        end
        if (scan8[(32'h4)+:(4)] == 32'h0) begin
            zeros = zeros | 32'h4;
        end
        if (scan4[(32'h2)+:(2)] == 32'h0) begin
            zeros = zeros | 32'h2;
        end
        if (~scan2[32'h1]) begin
            zeros = zeros | 32'h1;
        end
    end
    always @(*) begin
        scan16 = whole[(32'hc)+:(16)];
        if (added__q[(64'h26)+:(1)]) begin
            scan16 = ((whole) & 16'hffff) << 32'h4;
        end
    end
    always @(*) begin
        scan8 = scan16[(32'h8)+:(8)];
        if (scan16[(32'h8)+:(8)] == 32'h0) begin
            scan8 = scan16[(32'h0)+:(8)];
        end
    end
    always @(*) begin
        scan4 = scan8[(32'h4)+:(4)];
        if (scan8[(32'h4)+:(4)] == 32'h0) begin
            scan4 = scan8[(32'h0)+:(4)];
        end
    end
    always @(*) begin
        scan2 = scan4[(32'h2)+:(2)];
        if (scan4[(32'h2)+:(2)] == 32'h0) begin
            scan2 = scan4[(32'h0)+:(2)];
        end
    end
    assign lowered = ((added__q[(64'h2)+:(8)]) & 9'h1ff) - ((zeros) & 9'h1ff);
    assign up = counted__q[(64'h25)+:(5)];
    always @(*) begin
        up16 = counted__q[(64'h9)+:(28)];
        if (up[32'h4]) begin
            up16 = counted__q[(64'h9)+:(28)] << 32'h10;
        end
    end
    always @(*) begin
        if (up[32'h3] && up[32'h2]) begin
            up4 = up16 << 32'hc;
        end
        else if (up[32'h3]) begin
            up4 = up16 << 32'h8;
        end
        else if (up[32'h2]) begin
            up4 = up16 << 32'h4;
        end
        else begin
            up4 = up16;
        end
    end
    always @(*) begin
        if (up[32'h1] && up[32'h0]) begin
            up1 = up4 << 32'h3;
        end
        else if (up[32'h1]) begin
            up1 = up4 << 32'h2;
        end
        else if (up[32'h0]) begin
            up1 = up4 << 32'h1;
        end
        else begin
            up1 = up4;
        end
    end
    assign mantissa = normal__q[(64'h9)+:(24)];
    assign truncated = (((normal__q[(64'h1)+:(8)]) & 31'h7fffffff) << 32'h17) | (((mantissa) & 31'h7fffffff) & 32'h7fffff);
    always @(*) begin
        increment = ((32'h0) & 31'h7fffffff);
        if (mantissa[32'h17]) begin
            increment = ((32'h800000) & 31'h7fffffff);
        end
        if (normal__q[(64'h21)+:(1)]) begin
            increment = increment | 32'h1;
        end
    end
    assign rounded = truncated + increment;
    always @(*) begin
        magnitude = ((rounded) & 32'hffffffff);
        if (normal__q[(64'h22)+:(1)] || (rounded[(32'h17)+:(8)] == 32'hff)) begin
            magnitude = ((32'h7f800000) & 32'hffffffff);
        end
    end
    assign sum = result__q;
    always @(*) begin
        ordered__d = ordered__q;
        aligned__d = aligned__q;
        added__d = added__q;
        counted__d = counted__q;
        normal__d = normal__q;
        result__d = result__q;
        ordered__d[(64'h1)+:(1)] = a[32'h1f] != b[32'h1f];
        if (a[(32'h0)+:(31)] < b[(32'h0)+:(31)]) begin
            ordered__d[(64'h0)+:(1)] = b[32'h1f];
            ordered__d[(64'h2)+:(8)] = b_exponent;
            ordered__d[(64'ha)+:(23)] = b[(32'h0)+:(23)];
            ordered__d[(64'h21)+:(1)] = b_exponent == 32'h0;
            ordered__d[(64'h22)+:(8)] = a_exponent;
            ordered__d[(64'h2a)+:(23)] = a[(32'h0)+:(23)];
            ordered__d[(64'h41)+:(1)] = a_exponent == 32'h0;
        end
        else begin
            ordered__d[(64'h0)+:(1)] = a[32'h1f];
            ordered__d[(64'h2)+:(8)] = a_exponent;
            ordered__d[(64'ha)+:(23)] = a[(32'h0)+:(23)];
            ordered__d[(64'h21)+:(1)] = a_exponent == 32'h0;
            ordered__d[(64'h22)+:(8)] = b_exponent;
            ordered__d[(64'h2a)+:(23)] = b[(32'h0)+:(23)];
            ordered__d[(64'h41)+:(1)] = b_exponent == 32'h0;
        end
        aligned__d[(64'h0)+:(1)] = ordered__q[(64'h0)+:(1)];
        aligned__d[(64'h1)+:(1)] = ordered__q[(64'h1)+:(1)];
        aligned__d[(64'h2)+:(8)] = large_exponent;
        aligned__d[(64'ha)+:(24)] = larger;
        aligned__d[(64'h22)+:(26)] = ones;
        aligned__d[(64'h3c)+:(1)] = lost_sixteens || lost_fours || lost_ones;
        aligned__d[(64'h3d)+:(1)] = ordered__q[(64'h2)+:(8)] == 32'hff;
        aligned__d[(64'h3e)+:(1)] = (ordered__q[(64'h2)+:(8)] == 32'hff) && ((ordered__q[(64'ha)+:(23)] != 32'h0) || ((ordered__q[(64'h22)+:(8)] == 32'hff) && ordered__q[(64'h1)+:(1)]));
        added__d[(64'h0)+:(1)] = aligned__q[(64'h0)+:(1)];
        added__d[(64'h1)+:(1)] = aligned__q[(64'h1)+:(1)];
        added__d[(64'h2)+:(8)] = aligned__q[(64'h2)+:(8)];
        added__d[(64'ha)+:(28)] = total[(32'h1)+:(28)];
        added__d[(64'h26)+:(1)] = total[(32'hd)+:(16)] == 32'h0;
        added__d[(64'h27)+:(1)] = aligned__q[(64'h3d)+:(1)];
        added__d[(64'h28)+:(1)] = aligned__q[(64'h3e)+:(1)];
        counted__d[(64'h0)+:(1)] = added__q[(64'h0)+:(1)];
        counted__d[(64'h1)+:(8)] = lowered[(32'h0)+:(8)];
        counted__d[(64'h25)+:(5)] = zeros;
        if (lowered[32'h8]) begin
            counted__d[(64'h1)+:(8)] = ((32'h0) & 8'hff);
            counted__d[(64'h25)+:(5)] = ((added__q[(64'h2)+:(8)]) & 5'h1f);
        end
        if (scan2 == 32'h0) begin
            counted__d[(64'h0)+:(1)] = added__q[(64'h0)+:(1)] && ~added__q[(64'h1)+:(1)];
            counted__d[(64'h1)+:(8)] = ((32'h0) & 8'hff);
        end
        counted__d[(64'h9)+:(28)] = whole;
        counted__d[(64'h2a)+:(1)] = added__q[(64'h27)+:(1)];
        counted__d[(64'h2b)+:(1)] = added__q[(64'h28)+:(1)];
        normal__d[(64'h0)+:(1)] = counted__q[(64'h0)+:(1)];
        normal__d[(64'h1)+:(8)] = counted__q[(64'h1)+:(8)];
        normal__d[(64'h9)+:(24)] = up1[(32'h4)+:(24)];
        normal__d[(64'h21)+:(1)] = up1[32'h3] && ((up1[(32'h0)+:(3)] != 32'h0) || up1[32'h4]);
        normal__d[(64'h22)+:(1)] = counted__q[(64'h2a)+:(1)];
        normal__d[(64'h23)+:(1)] = counted__q[(64'h2b)+:(1)];
        result__d = magnitude;
        if (normal__q[(64'h0)+:(1)]) begin
            result__d = magnitude | 64'h80000000;
        end
        if (normal__q[(64'h23)+:(1)]) begin
            result__d = ((32'h7fc00000) & 32'hffffffff);
        end
    end
    wire unused__total = &{total[0]};
endmodule

module optireduce_nic__nic__broadcast_gates__gate__0(clock,now_ns,quiet,arm,early,all_in,own_in,all_marked,counted,heard,enter,start,deadline_ns,grace_ns,close,free,open,closed,clock_runs,entered,due,closed_by,may_be_early,ends_ns,silent_ns);
    // Module arguments
    input wire  clock;
    input wire  [33:0] now_ns;
    input wire  quiet;
    input wire  arm;
    input wire  early;
    input wire  all_in;
    input wire  own_in;
    input wire  all_marked;
    input wire  counted;
    input wire  heard;
    input wire  enter;
    input wire  start;
    input wire  [33:0] deadline_ns;
    input wire  [33:0] grace_ns;
    input wire  close;
    input wire  free;
    output wire  open;
    output wire  closed;
    output wire  clock_runs;
    output wire  entered;
    output wire  due;
    output wire  [1:0] closed_by;
    output wire  may_be_early;
    output wire  [33:0] ends_ns;
    output wire  [33:0] silent_ns;
    // Stub signals
    reg  [9:0] st__d;
    wire  [9:0] st__q;
    wire  st__clock;
    reg  [33:0] ends__d;
    wire  [33:0] ends__q;
    wire  ends__clock;
    reg  [33:0] silent__d;
    wire  [33:0] silent__q;
    wire  silent__clock;
    // Local signals
    wire  [33:0] over;
    wire  [33:0] silence;
    wire  could;
    wire  is_complete;
    wire  is_early;
    wire  is_overdue;
    // Sub module instances
    optireduce_nic__nic__finisher__drain__decoder__butterflies__across__0__position st(
        .d(st__d),
        .q(st__q),
        .clock(st__clock)
    );
    optireduce_nic__nic__finisher__drain__multiplier__unpack__0__fields ends(
        .d(ends__d),
        .q(ends__q),
        .clock(ends__clock)
    );
    optireduce_nic__nic__finisher__drain__multiplier__unpack__0__fields silent(
        .d(silent__d),
        .q(silent__q),
        .clock(silent__clock)
    );
    // Update code
    assign st__clock = clock;
    assign ends__clock = clock;
    assign silent__clock = clock;
    assign over = now_ns - ends__q;
    assign silence = now_ns - silent__q;
    assign could = st__q[(64'h4)+:(1)] && st__q[(64'h3)+:(1)] && st__q[(64'h6)+:(1)] && st__q[(64'h7)+:(1)];
    assign is_complete = st__q[(64'h2)+:(1)] && st__q[(64'h5)+:(1)];
    assign is_early = could && quiet && ~silence[32'h21];
    assign is_overdue = st__q[(64'h2)+:(1)] && ~over[32'h21];
    assign due = st__q[(64'h0)+:(1)] && (is_complete || is_early || is_overdue);
    assign open = st__q[(64'h0)+:(1)];
    assign closed = st__q[(64'h1)+:(1)];
    assign closed_by = st__q[(64'h8)+:(2)];
    assign clock_runs = st__q[(64'h2)+:(1)];
    assign entered = st__q[(64'h3)+:(1)];
    assign may_be_early = could;
    assign ends_ns = ends__q;
    assign silent_ns = silent__q;
    always @(*) begin
        st__d = st__q;
        ends__d = ends__q;
        silent__d = silent__q;
        if (start) begin
            st__d[(64'h2)+:(1)] = 1'b1;
            ends__d = deadline_ns;
        end
        if (start || heard) begin
            silent__d = grace_ns;
        end
        if (enter) begin
            st__d[(64'h3)+:(1)] = 1'b1;
        end
        if (arm || counted) begin
            st__d[(64'h5)+:(1)] = all_in;
            st__d[(64'h6)+:(1)] = own_in;
        end
        if (arm || heard) begin
            st__d[(64'h7)+:(1)] = all_marked;
        end
        if (close) begin
            st__d[(64'h0)+:(1)] = 1'b0;
            st__d[(64'h1)+:(1)] = 1'b1;
            st__d[(64'h8)+:(2)] = ((32'h2) & 2'h3);
            if (is_early) begin
                st__d[(64'h8)+:(2)] = ((32'h1) & 2'h3);
            end
            if (is_complete) begin
                st__d[(64'h8)+:(2)] = ((32'h0) & 2'h3);
            end
        end
        if (arm) begin
            st__d[(64'h0)+:(1)] = 1'b1;
            st__d[(64'h1)+:(1)] = 1'b0;
            st__d[(64'h2)+:(1)] = 1'b0;
            st__d[(64'h3)+:(1)] = 1'b0;
            st__d[(64'h4)+:(1)] = early;
        end
        if (free) begin
            st__d[(64'h0)+:(1)] = 1'b0;
            st__d[(64'h1)+:(1)] = 1'b0;
            st__d[(64'h2)+:(1)] = 1'b0;
            st__d[(64'h3)+:(1)] = 1'b0;
        end
    end
    wire unused__over = &{over[32:0]};
    wire unused__silence = &{silence[32:0]};
endmodule

module optireduce_nic__nic__builder__orders__memory(clock,read_address,read_data,write_address,write_data,write_enable);
    // Module arguments
    input wire  clock;
    input wire  [1:0] read_address;
    output reg  [115:0] read_data;
    input wire  [1:0] write_address;
    input wire  [115:0] write_data;
    input wire  write_enable;
    // Update code (custom)
    (* ram_style = "distributed" *) reg [115:0] mem [0:3];
    `ifndef SYNTHESIS
    integer i;
    initial for (i = 0; i <= 3; i = i + 1) mem[i] = 0;
    `endif
    always @(*) read_data = mem[read_address];
    always @(posedge clock) if (write_enable) mem[write_address] <= write_data;
endmodule

module optireduce_nic__nic__builder__out_flags__memory(clock,read_address,read_data,write_address,write_data,write_enable);
    // Module arguments
    input wire  clock;
    input wire  [7:0] read_address;
    output reg  [1:0] read_data;
    input wire  [7:0] write_address;
    input wire  [1:0] write_data;
    input wire  write_enable;
    // Update code (custom)
    (* ram_style = "distributed" *) reg [1:0] mem [0:255];
    `ifndef SYNTHESIS
    integer i;
    initial for (i = 0; i <= 255; i = i + 1) mem[i] = 0;
    `endif
    always @(*) read_data = mem[read_address];
    always @(posedge clock) if (write_enable) mem[write_address] <= write_data;
endmodule

module optireduce_nic__nic__builder__outbox__memory(clock,read_address,read_data,write_address,write_data,write_enable);
    // Module arguments
    input wire  clock;
    input wire  [15:0] read_address;
    output reg  [511:0] read_data;
    input wire  [15:0] write_address;
    input wire  [511:0] write_data;
    input wire  write_enable;
    // Update code (custom)
    (* ram_style = "block" *) reg [511:0] mem [0:255];
    `ifndef SYNTHESIS
    integer i;
    initial for (i = 0; i <= 255; i = i + 1) mem[i] = 0;
    `endif
    initial read_data = 0;
    always @(posedge clock) begin
        read_data <= mem[read_address[7:0]];
        if (write_enable) mem[write_address[7:0]] <= write_data;
    end
    wire unused = &{read_address[15:8], write_address[15:8]};
endmodule

module optireduce_nic__nic__contribute__inbox__memory(clock,read_address,read_data,write_address,write_data,write_enable);
    // Module arguments
    input wire  clock;
    input wire  [15:0] read_address;
    output reg  [511:0] read_data;
    input wire  [15:0] write_address;
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
        read_data <= mem[read_address[8:0]];
        if (write_enable) mem[write_address[8:0]] <= write_data;
    end
    wire unused = &{read_address[15:9], write_address[15:9]};
endmodule

module optireduce_nic__nic__contribute__orders__memory(clock,read_address,read_data,write_address,write_data,write_enable);
    // Module arguments
    input wire  clock;
    input wire  [2:0] read_address;
    output reg  [81:0] read_data;
    input wire  [2:0] write_address;
    input wire  [81:0] write_data;
    input wire  write_enable;
    // Update code (custom)
    (* ram_style = "distributed" *) reg [81:0] mem [0:7];
    `ifndef SYNTHESIS
    integer i;
    initial for (i = 0; i <= 7; i = i + 1) mem[i] = 0;
    `endif
    always @(*) read_data = mem[read_address];
    always @(posedge clock) if (write_enable) mem[write_address] <= write_data;
endmodule

module optireduce_nic__nic__contribute__outbox__memory(clock,read_address,read_data,write_address,write_data,write_enable);
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

module optireduce_nic__nic__contribute__planned__memory(clock,read_address,read_data,write_address,write_data,write_enable);
    // Module arguments
    input wire  clock;
    input wire  read_address;
    output reg  [81:0] read_data;
    input wire  write_address;
    input wire  [81:0] write_data;
    input wire  write_enable;
    // Update code (custom)
    (* ram_style = "distributed" *) reg [81:0] mem [0:1];
    `ifndef SYNTHESIS
    integer i;
    initial for (i = 0; i <= 1; i = i + 1) mem[i] = 0;
    `endif
    always @(*) read_data = mem[read_address];
    always @(posedge clock) if (write_enable) mem[write_address] <= write_data;
endmodule

module optireduce_nic__nic__dma_read__owners__memory(clock,read_address,read_data,write_address,write_data,write_enable);
    // Module arguments
    input wire  clock;
    input wire  [3:0] read_address;
    output reg  [3:0] read_data;
    input wire  [3:0] write_address;
    input wire  [3:0] write_data;
    input wire  write_enable;
    // Update code (custom)
    (* ram_style = "distributed" *) reg [3:0] mem [0:15];
    `ifndef SYNTHESIS
    integer i;
    initial for (i = 0; i <= 15; i = i + 1) mem[i] = 0;
    `endif
    always @(*) read_data = mem[read_address];
    always @(posedge clock) if (write_enable) mem[write_address] <= write_data;
endmodule

module optireduce_nic__nic__finisher__drain__beat_index(d,q,clock);
    // Module arguments
    input wire  [13:0] d;
    output reg  [13:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 14'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__nic__finisher__drain__block_beats(d,q,clock);
    // Module arguments
    input wire  [15:0] d;
    output reg  [15:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 16'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__nic__finisher__drain__block_index(d,q,clock);
    // Module arguments
    input wire  [10:0] d;
    output reg  [10:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 11'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__nic__finisher__drain__come_ctx(d,q,clock);
    // Module arguments
    input wire  [404:0] d;
    output reg  [404:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 405'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__nic__finisher__drain__come_slot(d,q,clock);
    // Module arguments
    input wire  [2:0] d;
    output reg  [2:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 3'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__nic__finisher__drain__decoder(clock,clear,start,log2n,decode,key,start_ready,in_valid,in_ready,in_data,in_received,go,burst,out_valid,out_data,out_received,idle);
    // Module arguments
    input wire  clock;
    input wire  clear;
    input wire  start;
    input wire  [3:0] log2n;
    input wire  decode;
    input wire  [63:0] key;
    output wire  start_ready;
    input wire  in_valid;
    output wire  in_ready;
    input wire  [511:0] in_data;
    input wire  in_received;
    input wire  go;
    output wire  burst;
    output wire  out_valid;
    output wire  [511:0] out_data;
    output wire  [10:0] out_received;
    output wire  idle;
    // Stub signals
    wire  gather__clock;
    wire  gather__clear;
    wire  gather__start;
    wire  [3:0] gather__log2n;
    wire  gather__odd;
    wire  gather__in_valid;
    wire  gather__in_ready;
    wire  [511:0] gather__in_data;
    wire  gather__in_received;
    wire  gather__go;
    wire  gather__burst;
    wire  [9:0] gather__last;
    wire  gather__idle;
    wire  [23:0] gather__out_tag;
    wire  [511:0] gather__out_beat;
    wire  sign_source__0__clock;
    wire  sign_source__0__start;
    wire  [63:0] sign_source__0__key;
    wire  sign_source__0__take;
    wire  [15:0] sign_source__0__signs;
    wire  sign_source__1__clock;
    wire  sign_source__1__start;
    wire  [63:0] sign_source__1__key;
    wire  sign_source__1__take;
    wire  [15:0] sign_source__1__signs;
    wire  to_fixed__clock;
    wire  [23:0] to_fixed__tag;
    wire  [511:0] to_fixed__beat;
    reg  [15:0] to_fixed__signs;
    wire  [23:0] to_fixed__out_tag;
    wire  [511:0] to_fixed__out_beat;
    wire  butterflies__clock;
    wire  [9:0] butterflies__last;
    wire  [23:0] butterflies__tag;
    wire  [511:0] butterflies__beat;
    wire  [23:0] butterflies__tap_tag__0;
    wire  [23:0] butterflies__tap_tag__1;
    wire  [23:0] butterflies__tap_tag__2;
    wire  [23:0] butterflies__tap_tag__3;
    wire  [511:0] butterflies__tap_beat__0;
    wire  [511:0] butterflies__tap_beat__1;
    wire  [511:0] butterflies__tap_beat__2;
    wire  [511:0] butterflies__tap_beat__3;
    wire  to_float__clock;
    reg  [23:0] to_float__tag;
    reg  [511:0] to_float__beat;
    reg  [15:0] to_float__signs;
    wire  to_float__take;
    wire  to_float__take_odd;
    wire  [23:0] to_float__out_tag;
    wire  [511:0] to_float__out_beat;
    reg  [21:0] window__d;
    wire  [21:0] window__q;
    wire  window__clock;
    // Local signals
    reg  [15:0] signs;
    reg  take;
    reg  take_odd;
    wire  [23:0] leaving;
    wire  alike;
    // Sub module instances
    optireduce_nic__nic__finisher__drain__decoder__gather gather(
        .clock(gather__clock),
        .clear(gather__clear),
        .start(gather__start),
        .log2n(gather__log2n),
        .odd(gather__odd),
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
    optireduce_nic__nic__finisher__drain__decoder__sign_source__0 sign_source__0(
        .clock(sign_source__0__clock),
        .start(sign_source__0__start),
        .key(sign_source__0__key),
        .take(sign_source__0__take),
        .signs(sign_source__0__signs)
    );
    optireduce_nic__nic__finisher__drain__decoder__sign_source__0 sign_source__1(
        .clock(sign_source__1__clock),
        .start(sign_source__1__start),
        .key(sign_source__1__key),
        .take(sign_source__1__take),
        .signs(sign_source__1__signs)
    );
    optireduce_nic__nic__finisher__drain__decoder__to_fixed to_fixed(
        .clock(to_fixed__clock),
        .tag(to_fixed__tag),
        .beat(to_fixed__beat),
        .signs(to_fixed__signs),
        .out_tag(to_fixed__out_tag),
        .out_beat(to_fixed__out_beat)
    );
    optireduce_nic__nic__finisher__drain__decoder__butterflies butterflies(
        .clock(butterflies__clock),
        .last(butterflies__last),
        .tag(butterflies__tag),
        .beat(butterflies__beat),
        .tap_tag__0(butterflies__tap_tag__0),
        .tap_tag__1(butterflies__tap_tag__1),
        .tap_tag__2(butterflies__tap_tag__2),
        .tap_tag__3(butterflies__tap_tag__3),
        .tap_beat__0(butterflies__tap_beat__0),
        .tap_beat__1(butterflies__tap_beat__1),
        .tap_beat__2(butterflies__tap_beat__2),
        .tap_beat__3(butterflies__tap_beat__3)
    );
    optireduce_nic__nic__finisher__drain__decoder__to_float to_float(
        .clock(to_float__clock),
        .tag(to_float__tag),
        .beat(to_float__beat),
        .signs(to_float__signs),
        .take(to_float__take),
        .take_odd(to_float__take_odd),
        .out_tag(to_float__out_tag),
        .out_beat(to_float__out_beat)
    );
    optireduce_nic__nic__finisher__drain__decoder__window window(
        .d(window__d),
        .q(window__q),
        .clock(window__clock)
    );
    // Update code
    assign window__clock = clock;
    assign gather__clock = clock;
    assign sign_source__0__clock = clock;
    assign sign_source__1__clock = clock;
    assign to_fixed__clock = clock;
    assign to_float__clock = clock;
    assign gather__clear = clear;
    assign gather__start = start;
    assign gather__log2n = log2n;
    assign gather__odd = window__q[(64'h5)+:(1)];
    assign gather__in_valid = in_valid;
    assign gather__in_data = in_data;
    assign gather__in_received = in_received;
    assign gather__go = go;
    assign in_ready = gather__in_ready;
    assign burst = gather__burst;
    assign to_fixed__tag = gather__out_tag;
    always @(*) begin
        take = to_fixed__tag[(64'h0)+:(1)];
        if (window__q[(64'h4)+:(1)]) begin
            take = to_float__take;
        end
    end
    always @(*) begin
        take_odd = to_fixed__tag[(64'h3)+:(1)];
        if (window__q[(64'h4)+:(1)]) begin
            take_odd = to_float__take_odd;
        end
    end
    assign sign_source__0__start = start && window__q[(64'h5)+:(1)];
    assign sign_source__0__key = key;
    assign sign_source__0__take = take && ~take_odd;
    assign sign_source__1__start = start && ~window__q[(64'h5)+:(1)];
    assign sign_source__1__key = key;
    assign sign_source__1__take = take && take_odd;
    always @(*) begin
        signs = sign_source__0__signs;
        if (take_odd) begin
            signs = sign_source__1__signs;
        end
    end
    always @(*) begin
        to_fixed__signs = signs;
        if (window__q[(64'h4)+:(1)]) begin
            to_fixed__signs = ((32'h0) & 16'hffff);
        end
    end
    always @(*) begin
        to_float__signs = ((32'h0) & 16'hffff);
        if (window__q[(64'h4)+:(1)]) begin
            to_float__signs = signs;
        end
    end
    assign to_fixed__beat = gather__out_beat;
    assign butterflies__clock = clock;
    assign butterflies__last = gather__last;
    assign butterflies__tag = to_fixed__out_tag;
    assign butterflies__beat = to_fixed__out_beat;
    always @(*) begin
        to_float__tag = butterflies__tap_tag__0;
        if (gather__last[32'h5]) begin
            to_float__tag = butterflies__tap_tag__1;
        end
        if (gather__last[32'h7]) begin
            to_float__tag = butterflies__tap_tag__2;
        end
        if (gather__last[32'h9]) begin
            to_float__tag = butterflies__tap_tag__3;
        end
    end
    always @(*) begin
        to_float__beat = butterflies__tap_beat__0;
        if (gather__last[32'h5]) begin
            to_float__beat = butterflies__tap_beat__1;
        end
        if (gather__last[32'h7]) begin
            to_float__beat = butterflies__tap_beat__2;
        end
        if (gather__last[32'h9]) begin
            to_float__beat = butterflies__tap_beat__3;
        end
    end
    assign leaving = to_float__out_tag;
    assign out_valid = leaving[(64'h0)+:(1)];
    assign out_data = to_float__out_beat;
    assign out_received = leaving[(64'hd)+:(11)];
    assign idle = gather__idle && (window__q[(64'h8)+:(4)] == 32'h0);
    assign alike = (log2n == window__q[(64'h0)+:(4)]) && ((decode && window__q[(64'h4)+:(1)]) || (~decode && ~window__q[(64'h4)+:(1)]));
    assign start_ready = idle || (gather__idle && alike && ~window__q[(64'h6)+:(1)] && ~window__q[(64'h7)+:(1)]);
    always @(*) begin
        window__d = window__q;
        if (gather__burst) begin
            window__d[(64'h8)+:(4)] = window__q[(64'h8)+:(4)] + 32'h1;
        end
        if (leaving[(64'h0)+:(1)]) begin
            window__d[(64'hc)+:(10)] = window__q[(64'hc)+:(10)] + 32'h1;
            if (window__q[(64'hc)+:(10)] == gather__last) begin
                window__d[(64'hc)+:(10)] = ((32'h0) & 10'h3ff);
                if (~gather__burst) begin
                    window__d[(64'h8)+:(4)] = window__q[(64'h8)+:(4)] - 32'h1;
                end
                else begin
                    window__d[(64'h8)+:(4)] = window__q[(64'h8)+:(4)];
                end
            end
        end
        if (leaving[(64'h0)+:(1)] && ((leaving[(64'h3)+:(1)] && window__q[(64'h5)+:(1)]) || (~leaving[(64'h3)+:(1)] && ~window__q[(64'h5)+:(1)]))) begin
            window__d[(64'h6)+:(1)] = 1'b0;
        end
        if (start) begin
            window__d[(64'h0)+:(4)] = log2n;
            window__d[(64'h4)+:(1)] = decode;
            window__d[(64'h5)+:(1)] = ~window__q[(64'h5)+:(1)];
            window__d[(64'h6)+:(1)] = ~idle;
            window__d[(64'h7)+:(1)] = 1'b0;
        end
        if (clear) begin
            window__d[(64'h7)+:(1)] = 1'b1;
        end
    end
    wire unused__leaving = &{leaving[12:4], leaving[2:1]};
endmodule

module optireduce_nic__nic__finisher__drain__inbox(clock,clear,push,push_data,full,pop,pop_data,empty,room);
    // Module arguments
    input wire  clock;
    input wire  clear;
    input wire  push;
    input wire  [512:0] push_data;
    output wire  full;
    input wire  pop;
    output wire  [512:0] pop_data;
    output wire  empty;
    output wire  [15:0] room;
    // Constant declarations
    localparam  depth = 16'h8;
    // Stub signals
    wire  memory__clock;
    wire  [2:0] memory__read_address;
    wire  [512:0] memory__read_data;
    wire  [2:0] memory__write_address;
    wire  [512:0] memory__write_data;
    wire  memory__write_enable;
    reg  [47:0] state__d;
    wire  [47:0] state__q;
    wire  state__clock;
    // Local signals
    wire  pushed;
    wire  popped;
    wire  [15:0] head_next;
    wire  [15:0] tail_next;
    wire  [15:0] used_more;
    wire  [15:0] used_less;
    // Sub module instances
    optireduce_nic__nic__finisher__drain__inbox__memory memory(
        .clock(memory__clock),
        .read_address(memory__read_address),
        .read_data(memory__read_data),
        .write_address(memory__write_address),
        .write_data(memory__write_data),
        .write_enable(memory__write_enable)
    );
    optireduce_nic__nic__finisher__drain__inbox__state state(
        .d(state__d),
        .q(state__q),
        .clock(state__clock)
    );
    // Update code
    assign state__clock = clock;
    assign memory__clock = clock;
    assign full = state__q[(64'h20)+:(16)] == depth;
    assign empty = state__q[(64'h20)+:(16)] == 32'h0;
    assign room = depth - state__q[(64'h20)+:(16)];
    assign pushed = push && ~full;
    assign popped = pop && ~empty;
    assign memory__write_address = ((state__q[(64'h10)+:(16)]) & 3'h7);
    assign memory__write_data = push_data;
    assign memory__write_enable = pushed;
    assign memory__read_address = ((state__q[(64'h0)+:(16)]) & 3'h7);
    assign pop_data = memory__read_data;
    assign head_next = state__q[(64'h0)+:(16)] + 32'h1;
    assign tail_next = state__q[(64'h10)+:(16)] + 32'h1;
    assign used_more = state__q[(64'h20)+:(16)] + 32'h1;
    assign used_less = state__q[(64'h20)+:(16)] - 32'h1;
    always @(*) begin
        state__d = state__q;
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

module optireduce_nic__nic__finisher__drain__multiplier(clock,a,factor,product);
    // Module arguments
    input wire  clock;
    input wire  [511:0] a;
    input wire  [31:0] factor;
    output wire  [511:0] product;
    // Stub signals
    wire  unpack__0__clock;
    wire  [31:0] unpack__0__float;
    wire  [41:0] unpack__0__operand;
    wire  unpack__1__clock;
    wire  [31:0] unpack__1__float;
    wire  [41:0] unpack__1__operand;
    wire  unpack__2__clock;
    wire  [31:0] unpack__2__float;
    wire  [41:0] unpack__2__operand;
    wire  unpack__3__clock;
    wire  [31:0] unpack__3__float;
    wire  [41:0] unpack__3__operand;
    wire  unpack__4__clock;
    wire  [31:0] unpack__4__float;
    wire  [41:0] unpack__4__operand;
    wire  unpack__5__clock;
    wire  [31:0] unpack__5__float;
    wire  [41:0] unpack__5__operand;
    wire  unpack__6__clock;
    wire  [31:0] unpack__6__float;
    wire  [41:0] unpack__6__operand;
    wire  unpack__7__clock;
    wire  [31:0] unpack__7__float;
    wire  [41:0] unpack__7__operand;
    wire  unpack__8__clock;
    wire  [31:0] unpack__8__float;
    wire  [41:0] unpack__8__operand;
    wire  unpack__9__clock;
    wire  [31:0] unpack__9__float;
    wire  [41:0] unpack__9__operand;
    wire  unpack__10__clock;
    wire  [31:0] unpack__10__float;
    wire  [41:0] unpack__10__operand;
    wire  unpack__11__clock;
    wire  [31:0] unpack__11__float;
    wire  [41:0] unpack__11__operand;
    wire  unpack__12__clock;
    wire  [31:0] unpack__12__float;
    wire  [41:0] unpack__12__operand;
    wire  unpack__13__clock;
    wire  [31:0] unpack__13__float;
    wire  [41:0] unpack__13__operand;
    wire  unpack__14__clock;
    wire  [31:0] unpack__14__float;
    wire  [41:0] unpack__14__operand;
    wire  unpack__15__clock;
    wire  [31:0] unpack__15__float;
    wire  [41:0] unpack__15__operand;
    wire  unpack_factor__clock;
    wire  [31:0] unpack_factor__float;
    wire  [41:0] unpack_factor__operand;
    wire  lane__0__clock;
    wire  [41:0] lane__0__a;
    wire  [41:0] lane__0__b;
    wire  [31:0] lane__0__product;
    wire  lane__1__clock;
    wire  [41:0] lane__1__a;
    wire  [41:0] lane__1__b;
    wire  [31:0] lane__1__product;
    wire  lane__2__clock;
    wire  [41:0] lane__2__a;
    wire  [41:0] lane__2__b;
    wire  [31:0] lane__2__product;
    wire  lane__3__clock;
    wire  [41:0] lane__3__a;
    wire  [41:0] lane__3__b;
    wire  [31:0] lane__3__product;
    wire  lane__4__clock;
    wire  [41:0] lane__4__a;
    wire  [41:0] lane__4__b;
    wire  [31:0] lane__4__product;
    wire  lane__5__clock;
    wire  [41:0] lane__5__a;
    wire  [41:0] lane__5__b;
    wire  [31:0] lane__5__product;
    wire  lane__6__clock;
    wire  [41:0] lane__6__a;
    wire  [41:0] lane__6__b;
    wire  [31:0] lane__6__product;
    wire  lane__7__clock;
    wire  [41:0] lane__7__a;
    wire  [41:0] lane__7__b;
    wire  [31:0] lane__7__product;
    wire  lane__8__clock;
    wire  [41:0] lane__8__a;
    wire  [41:0] lane__8__b;
    wire  [31:0] lane__8__product;
    wire  lane__9__clock;
    wire  [41:0] lane__9__a;
    wire  [41:0] lane__9__b;
    wire  [31:0] lane__9__product;
    wire  lane__10__clock;
    wire  [41:0] lane__10__a;
    wire  [41:0] lane__10__b;
    wire  [31:0] lane__10__product;
    wire  lane__11__clock;
    wire  [41:0] lane__11__a;
    wire  [41:0] lane__11__b;
    wire  [31:0] lane__11__product;
    wire  lane__12__clock;
    wire  [41:0] lane__12__a;
    wire  [41:0] lane__12__b;
    wire  [31:0] lane__12__product;
    wire  lane__13__clock;
    wire  [41:0] lane__13__a;
    wire  [41:0] lane__13__b;
    wire  [31:0] lane__13__product;
    wire  lane__14__clock;
    wire  [41:0] lane__14__a;
    wire  [41:0] lane__14__b;
    wire  [31:0] lane__14__product;
    wire  lane__15__clock;
    wire  [41:0] lane__15__a;
    wire  [41:0] lane__15__b;
    wire  [31:0] lane__15__product;
    wire  [31:0] pack__lane__0;
    wire  [31:0] pack__lane__1;
    wire  [31:0] pack__lane__2;
    wire  [31:0] pack__lane__3;
    wire  [31:0] pack__lane__4;
    wire  [31:0] pack__lane__5;
    wire  [31:0] pack__lane__6;
    wire  [31:0] pack__lane__7;
    wire  [31:0] pack__lane__8;
    wire  [31:0] pack__lane__9;
    wire  [31:0] pack__lane__10;
    wire  [31:0] pack__lane__11;
    wire  [31:0] pack__lane__12;
    wire  [31:0] pack__lane__13;
    wire  [31:0] pack__lane__14;
    wire  [31:0] pack__lane__15;
    wire  [511:0] pack__beat;
    // Sub module instances
    optireduce_nic__nic__finisher__drain__multiplier__unpack__0 unpack__0(
        .clock(unpack__0__clock),
        .float(unpack__0__float),
        .operand(unpack__0__operand)
    );
    optireduce_nic__nic__finisher__drain__multiplier__unpack__0 unpack__1(
        .clock(unpack__1__clock),
        .float(unpack__1__float),
        .operand(unpack__1__operand)
    );
    optireduce_nic__nic__finisher__drain__multiplier__unpack__0 unpack__2(
        .clock(unpack__2__clock),
        .float(unpack__2__float),
        .operand(unpack__2__operand)
    );
    optireduce_nic__nic__finisher__drain__multiplier__unpack__0 unpack__3(
        .clock(unpack__3__clock),
        .float(unpack__3__float),
        .operand(unpack__3__operand)
    );
    optireduce_nic__nic__finisher__drain__multiplier__unpack__0 unpack__4(
        .clock(unpack__4__clock),
        .float(unpack__4__float),
        .operand(unpack__4__operand)
    );
    optireduce_nic__nic__finisher__drain__multiplier__unpack__0 unpack__5(
        .clock(unpack__5__clock),
        .float(unpack__5__float),
        .operand(unpack__5__operand)
    );
    optireduce_nic__nic__finisher__drain__multiplier__unpack__0 unpack__6(
        .clock(unpack__6__clock),
        .float(unpack__6__float),
        .operand(unpack__6__operand)
    );
    optireduce_nic__nic__finisher__drain__multiplier__unpack__0 unpack__7(
        .clock(unpack__7__clock),
        .float(unpack__7__float),
        .operand(unpack__7__operand)
    );
    optireduce_nic__nic__finisher__drain__multiplier__unpack__0 unpack__8(
        .clock(unpack__8__clock),
        .float(unpack__8__float),
        .operand(unpack__8__operand)
    );
    optireduce_nic__nic__finisher__drain__multiplier__unpack__0 unpack__9(
        .clock(unpack__9__clock),
        .float(unpack__9__float),
        .operand(unpack__9__operand)
    );
    optireduce_nic__nic__finisher__drain__multiplier__unpack__0 unpack__10(
        .clock(unpack__10__clock),
        .float(unpack__10__float),
        .operand(unpack__10__operand)
    );
    optireduce_nic__nic__finisher__drain__multiplier__unpack__0 unpack__11(
        .clock(unpack__11__clock),
        .float(unpack__11__float),
        .operand(unpack__11__operand)
    );
    optireduce_nic__nic__finisher__drain__multiplier__unpack__0 unpack__12(
        .clock(unpack__12__clock),
        .float(unpack__12__float),
        .operand(unpack__12__operand)
    );
    optireduce_nic__nic__finisher__drain__multiplier__unpack__0 unpack__13(
        .clock(unpack__13__clock),
        .float(unpack__13__float),
        .operand(unpack__13__operand)
    );
    optireduce_nic__nic__finisher__drain__multiplier__unpack__0 unpack__14(
        .clock(unpack__14__clock),
        .float(unpack__14__float),
        .operand(unpack__14__operand)
    );
    optireduce_nic__nic__finisher__drain__multiplier__unpack__0 unpack__15(
        .clock(unpack__15__clock),
        .float(unpack__15__float),
        .operand(unpack__15__operand)
    );
    optireduce_nic__nic__finisher__drain__multiplier__unpack__0 unpack_factor(
        .clock(unpack_factor__clock),
        .float(unpack_factor__float),
        .operand(unpack_factor__operand)
    );
    optireduce_nic__nic__finisher__drain__multiplier__lane__0 lane__0(
        .clock(lane__0__clock),
        .a(lane__0__a),
        .b(lane__0__b),
        .product(lane__0__product)
    );
    optireduce_nic__nic__finisher__drain__multiplier__lane__0 lane__1(
        .clock(lane__1__clock),
        .a(lane__1__a),
        .b(lane__1__b),
        .product(lane__1__product)
    );
    optireduce_nic__nic__finisher__drain__multiplier__lane__0 lane__2(
        .clock(lane__2__clock),
        .a(lane__2__a),
        .b(lane__2__b),
        .product(lane__2__product)
    );
    optireduce_nic__nic__finisher__drain__multiplier__lane__0 lane__3(
        .clock(lane__3__clock),
        .a(lane__3__a),
        .b(lane__3__b),
        .product(lane__3__product)
    );
    optireduce_nic__nic__finisher__drain__multiplier__lane__0 lane__4(
        .clock(lane__4__clock),
        .a(lane__4__a),
        .b(lane__4__b),
        .product(lane__4__product)
    );
    optireduce_nic__nic__finisher__drain__multiplier__lane__0 lane__5(
        .clock(lane__5__clock),
        .a(lane__5__a),
        .b(lane__5__b),
        .product(lane__5__product)
    );
    optireduce_nic__nic__finisher__drain__multiplier__lane__0 lane__6(
        .clock(lane__6__clock),
        .a(lane__6__a),
        .b(lane__6__b),
        .product(lane__6__product)
    );
    optireduce_nic__nic__finisher__drain__multiplier__lane__0 lane__7(
        .clock(lane__7__clock),
        .a(lane__7__a),
        .b(lane__7__b),
        .product(lane__7__product)
    );
    optireduce_nic__nic__finisher__drain__multiplier__lane__0 lane__8(
        .clock(lane__8__clock),
        .a(lane__8__a),
        .b(lane__8__b),
        .product(lane__8__product)
    );
    optireduce_nic__nic__finisher__drain__multiplier__lane__0 lane__9(
        .clock(lane__9__clock),
        .a(lane__9__a),
        .b(lane__9__b),
        .product(lane__9__product)
    );
    optireduce_nic__nic__finisher__drain__multiplier__lane__0 lane__10(
        .clock(lane__10__clock),
        .a(lane__10__a),
        .b(lane__10__b),
        .product(lane__10__product)
    );
    optireduce_nic__nic__finisher__drain__multiplier__lane__0 lane__11(
        .clock(lane__11__clock),
        .a(lane__11__a),
        .b(lane__11__b),
        .product(lane__11__product)
    );
    optireduce_nic__nic__finisher__drain__multiplier__lane__0 lane__12(
        .clock(lane__12__clock),
        .a(lane__12__a),
        .b(lane__12__b),
        .product(lane__12__product)
    );
    optireduce_nic__nic__finisher__drain__multiplier__lane__0 lane__13(
        .clock(lane__13__clock),
        .a(lane__13__a),
        .b(lane__13__b),
        .product(lane__13__product)
    );
    optireduce_nic__nic__finisher__drain__multiplier__lane__0 lane__14(
        .clock(lane__14__clock),
        .a(lane__14__a),
        .b(lane__14__b),
        .product(lane__14__product)
    );
    optireduce_nic__nic__finisher__drain__multiplier__lane__0 lane__15(
        .clock(lane__15__clock),
        .a(lane__15__a),
        .b(lane__15__b),
        .product(lane__15__product)
    );
    optireduce_nic__nic__finisher__drain__decoder__to_fixed__pack pack(
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
    assign unpack_factor__clock = clock;
    assign unpack_factor__float = factor;
    assign unpack__0__clock = clock;
    assign unpack__0__float = a[(0 * 32'h20)+:(32)];
    assign lane__0__clock = clock;
    assign lane__0__a = unpack__0__operand;
    assign lane__0__b = unpack_factor__operand;
    assign pack__lane__0 = lane__0__product;
    assign unpack__1__clock = clock;
    assign unpack__1__float = a[(1 * 32'h20)+:(32)];
    assign lane__1__clock = clock;
    assign lane__1__a = unpack__1__operand;
    assign lane__1__b = unpack_factor__operand;
    assign pack__lane__1 = lane__1__product;
    assign unpack__2__clock = clock;
    assign unpack__2__float = a[(2 * 32'h20)+:(32)];
    assign lane__2__clock = clock;
    assign lane__2__a = unpack__2__operand;
    assign lane__2__b = unpack_factor__operand;
    assign pack__lane__2 = lane__2__product;
    assign unpack__3__clock = clock;
    assign unpack__3__float = a[(3 * 32'h20)+:(32)];
    assign lane__3__clock = clock;
    assign lane__3__a = unpack__3__operand;
    assign lane__3__b = unpack_factor__operand;
    assign pack__lane__3 = lane__3__product;
    assign unpack__4__clock = clock;
    assign unpack__4__float = a[(4 * 32'h20)+:(32)];
    assign lane__4__clock = clock;
    assign lane__4__a = unpack__4__operand;
    assign lane__4__b = unpack_factor__operand;
    assign pack__lane__4 = lane__4__product;
    assign unpack__5__clock = clock;
    assign unpack__5__float = a[(5 * 32'h20)+:(32)];
    assign lane__5__clock = clock;
    assign lane__5__a = unpack__5__operand;
    assign lane__5__b = unpack_factor__operand;
    assign pack__lane__5 = lane__5__product;
    assign unpack__6__clock = clock;
    assign unpack__6__float = a[(6 * 32'h20)+:(32)];
    assign lane__6__clock = clock;
    assign lane__6__a = unpack__6__operand;
    assign lane__6__b = unpack_factor__operand;
    assign pack__lane__6 = lane__6__product;
    assign unpack__7__clock = clock;
    assign unpack__7__float = a[(7 * 32'h20)+:(32)];
    assign lane__7__clock = clock;
    assign lane__7__a = unpack__7__operand;
    assign lane__7__b = unpack_factor__operand;
    assign pack__lane__7 = lane__7__product;
    assign unpack__8__clock = clock;
    assign unpack__8__float = a[(8 * 32'h20)+:(32)];
    assign lane__8__clock = clock;
    assign lane__8__a = unpack__8__operand;
    assign lane__8__b = unpack_factor__operand;
    assign pack__lane__8 = lane__8__product;
    assign unpack__9__clock = clock;
    assign unpack__9__float = a[(9 * 32'h20)+:(32)];
    assign lane__9__clock = clock;
    assign lane__9__a = unpack__9__operand;
    assign lane__9__b = unpack_factor__operand;
    assign pack__lane__9 = lane__9__product;
    assign unpack__10__clock = clock;
    assign unpack__10__float = a[(10 * 32'h20)+:(32)];
    assign lane__10__clock = clock;
    assign lane__10__a = unpack__10__operand;
    assign lane__10__b = unpack_factor__operand;
    assign pack__lane__10 = lane__10__product;
    assign unpack__11__clock = clock;
    assign unpack__11__float = a[(11 * 32'h20)+:(32)];
    assign lane__11__clock = clock;
    assign lane__11__a = unpack__11__operand;
    assign lane__11__b = unpack_factor__operand;
    assign pack__lane__11 = lane__11__product;
    assign unpack__12__clock = clock;
    assign unpack__12__float = a[(12 * 32'h20)+:(32)];
    assign lane__12__clock = clock;
    assign lane__12__a = unpack__12__operand;
    assign lane__12__b = unpack_factor__operand;
    assign pack__lane__12 = lane__12__product;
    assign unpack__13__clock = clock;
    assign unpack__13__float = a[(13 * 32'h20)+:(32)];
    assign lane__13__clock = clock;
    assign lane__13__a = unpack__13__operand;
    assign lane__13__b = unpack_factor__operand;
    assign pack__lane__13 = lane__13__product;
    assign unpack__14__clock = clock;
    assign unpack__14__float = a[(14 * 32'h20)+:(32)];
    assign lane__14__clock = clock;
    assign lane__14__a = unpack__14__operand;
    assign lane__14__b = unpack_factor__operand;
    assign pack__lane__14 = lane__14__product;
    assign unpack__15__clock = clock;
    assign unpack__15__float = a[(15 * 32'h20)+:(32)];
    assign lane__15__clock = clock;
    assign lane__15__a = unpack__15__operand;
    assign lane__15__b = unpack_factor__operand;
    assign pack__lane__15 = lane__15__product;
    assign product = pack__beat;
endmodule

module optireduce_nic__nic__finisher__drain__reciprocal(clock,count,factor);
    // Module arguments
    input wire  clock;
    input wire  [10:0] count;
    output wire  [31:0] factor;
    // Stub signals
    wire  rom__clock;
    wire  [10:0] rom__address;
    wire  [31:0] rom__data;
    // Sub module instances
    optireduce_nic__nic__finisher__drain__reciprocal__rom rom(
        .clock(rom__clock),
        .address(rom__address),
        .data(rom__data)
    );
    // Update code
    assign rom__clock = clock;
    assign rom__address = count;
    assign factor = rom__data;
endmodule

module optireduce_nic__nic__finisher__drain__stage_data(d,q,clock);
    // Module arguments
    input wire  [511:0] d;
    output reg  [511:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 512'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__nic__finisher__drain__state(d,q,clock);
    // Module arguments
    input wire  [1:0] d;
    output reg  [1:0] q;
    input wire  clock;
    // Enums
    // Update code (custom)
    initial q = 64'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__nic__finisher__drain__to_come(d,q,clock);
    // Module arguments
    input wire  [14:0] d;
    output reg  [14:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 15'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__nic__finisher__msix__at(d,q,clock);
    // Module arguments
    input wire  [1:0] d;
    output reg  [1:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 2'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__nic__finisher__msix__pending(d,q,clock);
    // Module arguments
    input wire  [3:0] d;
    output reg  [3:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 4'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__nic__finisher__refusals__0(d,q,clock);
    // Module arguments
    input wire  [49:0] d;
    output reg  [49:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 50'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__nic__finisher__write__left(d,q,clock);
    // Module arguments
    input wire  [6:0] d;
    output reg  [6:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 7'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__nic__finisher__write__notes(clock,clear,push,push_data,full,pop,pop_data,empty,room);
    // Module arguments
    input wire  clock;
    input wire  clear;
    input wire  push;
    input wire  [511:0] push_data;
    output wire  full;
    input wire  pop;
    output wire  [511:0] pop_data;
    output wire  empty;
    output wire  [15:0] room;
    // Constant declarations
    localparam  depth = 16'h4;
    // Stub signals
    wire  memory__clock;
    wire  [1:0] memory__read_address;
    wire  [511:0] memory__read_data;
    wire  [1:0] memory__write_address;
    wire  [511:0] memory__write_data;
    wire  memory__write_enable;
    reg  [47:0] state__d;
    wire  [47:0] state__q;
    wire  state__clock;
    // Local signals
    wire  pushed;
    wire  popped;
    wire  [15:0] head_next;
    wire  [15:0] tail_next;
    wire  [15:0] used_more;
    wire  [15:0] used_less;
    // Sub module instances
    optireduce_nic__nic__finisher__write__notes__memory memory(
        .clock(memory__clock),
        .read_address(memory__read_address),
        .read_data(memory__read_data),
        .write_address(memory__write_address),
        .write_data(memory__write_data),
        .write_enable(memory__write_enable)
    );
    optireduce_nic__nic__finisher__drain__inbox__state state(
        .d(state__d),
        .q(state__q),
        .clock(state__clock)
    );
    // Update code
    assign state__clock = clock;
    assign memory__clock = clock;
    assign full = state__q[(64'h20)+:(16)] == depth;
    assign empty = state__q[(64'h20)+:(16)] == 32'h0;
    assign room = depth - state__q[(64'h20)+:(16)];
    assign pushed = push && ~full;
    assign popped = pop && ~empty;
    assign memory__write_address = ((state__q[(64'h10)+:(16)]) & 2'h3);
    assign memory__write_data = push_data;
    assign memory__write_enable = pushed;
    assign memory__read_address = ((state__q[(64'h0)+:(16)]) & 2'h3);
    assign pop_data = memory__read_data;
    assign head_next = state__q[(64'h0)+:(16)] + 32'h1;
    assign tail_next = state__q[(64'h10)+:(16)] + 32'h1;
    assign used_more = state__q[(64'h20)+:(16)] + 32'h1;
    assign used_less = state__q[(64'h20)+:(16)] - 32'h1;
    always @(*) begin
        state__d = state__q;
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

module optireduce_nic__nic__finisher__write__owners(clock,clear,push,push_data,full,pop,pop_data,empty,room);
    // Module arguments
    input wire  clock;
    input wire  clear;
    input wire  push;
    input wire  [8:0] push_data;
    output wire  full;
    input wire  pop;
    output wire  [8:0] pop_data;
    output wire  empty;
    output wire  [15:0] room;
    // Constant declarations
    localparam  depth = 16'h10;
    // Stub signals
    wire  memory__clock;
    wire  [3:0] memory__read_address;
    wire  [8:0] memory__read_data;
    wire  [3:0] memory__write_address;
    wire  [8:0] memory__write_data;
    wire  memory__write_enable;
    reg  [47:0] state__d;
    wire  [47:0] state__q;
    wire  state__clock;
    // Local signals
    wire  pushed;
    wire  popped;
    wire  [15:0] head_next;
    wire  [15:0] tail_next;
    wire  [15:0] used_more;
    wire  [15:0] used_less;
    // Sub module instances
    optireduce_nic__nic__finisher__write__owners__memory memory(
        .clock(memory__clock),
        .read_address(memory__read_address),
        .read_data(memory__read_data),
        .write_address(memory__write_address),
        .write_data(memory__write_data),
        .write_enable(memory__write_enable)
    );
    optireduce_nic__nic__finisher__drain__inbox__state state(
        .d(state__d),
        .q(state__q),
        .clock(state__clock)
    );
    // Update code
    assign state__clock = clock;
    assign memory__clock = clock;
    assign full = state__q[(64'h20)+:(16)] == depth;
    assign empty = state__q[(64'h20)+:(16)] == 32'h0;
    assign room = depth - state__q[(64'h20)+:(16)];
    assign pushed = push && ~full;
    assign popped = pop && ~empty;
    assign memory__write_address = ((state__q[(64'h10)+:(16)]) & 4'hf);
    assign memory__write_data = push_data;
    assign memory__write_enable = pushed;
    assign memory__read_address = ((state__q[(64'h0)+:(16)]) & 4'hf);
    assign pop_data = memory__read_data;
    assign head_next = state__q[(64'h0)+:(16)] + 32'h1;
    assign tail_next = state__q[(64'h10)+:(16)] + 32'h1;
    assign used_more = state__q[(64'h20)+:(16)] + 32'h1;
    assign used_less = state__q[(64'h20)+:(16)] - 32'h1;
    always @(*) begin
        state__d = state__q;
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

module optireduce_nic__nic__finisher__write__results(clock,clear,push,push_data,pop,pop_data,empty,room);
    // Module arguments
    input wire  clock;
    input wire  clear;
    input wire  push;
    input wire  [511:0] push_data;
    input wire  pop;
    output wire  [511:0] pop_data;
    output wire  empty;
    output wire  [15:0] room;
    // Constant declarations
    localparam  depth = 16'h400;
    // Stub signals
    wire  memory__clock;
    wire  [15:0] memory__read_address;
    wire  [511:0] memory__read_data;
    wire  [15:0] memory__write_address;
    wire  [511:0] memory__write_data;
    wire  memory__write_enable;
    reg  [63:0] state__d;
    wire  [63:0] state__q;
    wire  state__clock;
    // Local signals
    wire  full;
    wire  pushed;
    wire  popped;
    wire  [15:0] head_next;
    reg  [15:0] head_then;
    wire  [15:0] tail_next;
    wire  [15:0] used_more;
    wire  [15:0] used_less;
    // Sub module instances
    optireduce_nic__nic__finisher__write__results__memory memory(
        .clock(memory__clock),
        .read_address(memory__read_address),
        .read_data(memory__read_data),
        .write_address(memory__write_address),
        .write_data(memory__write_data),
        .write_enable(memory__write_enable)
    );
    optireduce_nic__nic__finisher__write__results__state state(
        .d(state__d),
        .q(state__q),
        .clock(state__clock)
    );
    // Update code
    assign state__clock = clock;
    assign memory__clock = clock;
    assign full = state__q[(64'h30)+:(16)] == depth;
    assign empty = state__q[(64'h0)+:(16)] == state__q[(64'h20)+:(16)];
    assign room = depth - state__q[(64'h30)+:(16)];
    assign pushed = push && ~full;
    assign popped = pop && ~empty;
    assign head_next = state__q[(64'h0)+:(16)] + 32'h1;
    always @(*) begin
        head_then = state__q[(64'h0)+:(16)];
        if (popped) begin
            head_then = head_next;
        end
    end
    assign memory__write_address = state__q[(64'h10)+:(16)];
    assign memory__write_data = push_data;
    assign memory__write_enable = pushed;
    assign memory__read_address = head_then;
    assign pop_data = memory__read_data;
    assign tail_next = state__q[(64'h10)+:(16)] + 32'h1;
    assign used_more = state__q[(64'h30)+:(16)] + 32'h1;
    assign used_less = state__q[(64'h30)+:(16)] - 32'h1;
    always @(*) begin
        state__d = state__q;
        state__d[(64'h0)+:(16)] = head_then;
        state__d[(64'h20)+:(16)] = state__q[(64'h10)+:(16)];
        if (pushed) begin
            state__d[(64'h10)+:(16)] = tail_next;
        end
        if (pushed && ~popped) begin
            state__d[(64'h30)+:(16)] = used_more;
        end
        if (popped && ~pushed) begin
            state__d[(64'h30)+:(16)] = used_less;
        end
        if (clear) begin
            state__d[(64'h0)+:(16)] = ((32'h0) & 16'hffff);
            state__d[(64'h10)+:(16)] = ((32'h0) & 16'hffff);
            state__d[(64'h20)+:(16)] = ((32'h0) & 16'hffff);
            state__d[(64'h30)+:(16)] = ((32'h0) & 16'hffff);
        end
    end
endmodule

module optireduce_nic__nic__gather__arrivals__asked_epoch(d,q,clock);
    // Module arguments
    input wire  [7:0] d;
    output reg  [7:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 8'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__nic__gather__arrivals__counting(clock,read_address,read_data,write_address,write_data,write_enable);
    // Module arguments
    input wire  clock;
    input wire  [8:0] read_address;
    output reg  [23:0] read_data;
    input wire  [8:0] write_address;
    input wire  [23:0] write_data;
    input wire  write_enable;
    // Update code (custom)
    (* ram_style = "block" *) reg [23:0] mem [0:511];
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

module optireduce_nic__nic__gather__arrivals__heard(d,q,clock);
    // Module arguments
    input wire  [17:0] d;
    output reg  [17:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 18'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__nic__gather__arrivals__judged(d,q,clock);
    // Module arguments
    input wire  [36:0] d;
    output reg  [36:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 37'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__nic__lookup__key__0(clock,arm,ctx,free,compare,header,hit,stale,distance);
    // Module arguments
    input wire  clock;
    input wire  arm;
    input wire  [404:0] ctx;
    input wire  free;
    input wire  compare;
    input wire  [77:0] header;
    output wire  hit;
    output wire  stale;
    output wire  [14:0] distance;
    // Stub signals
    reg  [73:0] key__d;
    wire  [73:0] key__q;
    wire  key__clock;
    reg  [16:0] found__d;
    wire  [16:0] found__q;
    wire  found__clock;
    // Local signals
    wire  [26:0] ahead;
    wire  [15:0] later;
    wire  same_bucket;
    // Sub module instances
    optireduce_nic__nic__lookup__key__0__key key(
        .d(key__d),
        .q(key__q),
        .clock(key__clock)
    );
    optireduce_nic__nic__lookup__key__0__found found(
        .d(found__d),
        .q(found__q),
        .clock(found__clock)
    );
    // Update code
    assign key__clock = clock;
    assign found__clock = clock;
    assign ahead = ((header[(64'h20)+:(26)]) & 27'h7ffffff) - ((key__q[(64'h21)+:(26)]) & 27'h7ffffff);
    assign later = header[(64'h10)+:(16)] - key__q[(64'h11)+:(16)];
    assign same_bucket = key__q[(64'h0)+:(1)] && (key__q[(64'h1)+:(16)] == header[(64'h0)+:(16)]);
    assign hit = found__q[(64'h0)+:(1)];
    assign stale = found__q[(64'h1)+:(1)];
    assign distance = found__q[(64'h2)+:(15)];
    always @(*) begin
        key__d = key__q;
        found__d = found__q;
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
        if (compare) begin
            found__d[(64'h0)+:(1)] = same_bucket && (later == 32'h0) && (ahead < ((key__q[(64'h3b)+:(15)]) & 27'h7ffffff));
            found__d[(64'h1)+:(1)] = same_bucket && later[32'hf];
            found__d[(64'h2)+:(15)] = ahead[(32'h0)+:(15)];
        end
    end
    wire unused__ctx = &{ctx[404:105], ctx[31:0]};
    wire unused__header = &{header[77:58]};
endmodule

module optireduce_nic__nic__planner__broadcasts__memory(clock,read_address,read_data,write_address,write_data,write_enable);
    // Module arguments
    input wire  clock;
    input wire  [2:0] read_address;
    output reg  [4:0] read_data;
    input wire  [2:0] write_address;
    input wire  [4:0] write_data;
    input wire  write_enable;
    // Update code (custom)
    (* ram_style = "distributed" *) reg [4:0] mem [0:7];
    `ifndef SYNTHESIS
    integer i;
    initial for (i = 0; i <= 7; i = i + 1) mem[i] = 0;
    `endif
    always @(*) read_data = mem[read_address];
    always @(posedge clock) if (write_enable) mem[write_address] <= write_data;
endmodule

module optireduce_nic__nic__planner__contributes__memory(clock,read_address,read_data,write_address,write_data,write_enable);
    // Module arguments
    input wire  clock;
    input wire  read_address;
    output reg  [4:0] read_data;
    input wire  write_address;
    input wire  [4:0] write_data;
    input wire  write_enable;
    // Update code (custom)
    (* ram_style = "distributed" *) reg [4:0] mem [0:1];
    `ifndef SYNTHESIS
    integer i;
    initial for (i = 0; i <= 1; i = i + 1) mem[i] = 0;
    `endif
    always @(*) read_data = mem[read_address];
    always @(posedge clock) if (write_enable) mem[write_address] <= write_data;
endmodule

module optireduce_nic__nic__planner__pacer__buckets(clock,read_address,read_data,write_address,write_data,write_enable);
    // Module arguments
    input wire  clock;
    input wire  [5:0] read_address;
    output reg  [73:0] read_data;
    input wire  [5:0] write_address;
    input wire  [73:0] write_data;
    input wire  write_enable;
    // Update code (custom)
    (* ram_style = "distributed" *) reg [73:0] mem [0:63];
    `ifndef SYNTHESIS
    integer i;
    initial for (i = 0; i <= 63; i = i + 1) mem[i] = 0;
    `endif
    always @(*) read_data = mem[read_address];
    always @(posedge clock) if (write_enable) mem[write_address] <= write_data;
endmodule

module optireduce_nic__nic__planner__pacer__debt(d,q,clock);
    // Module arguments
    input wire  [25:0] d;
    output reg  [25:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 26'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__nic__planner__pacer__elapsed_ns(d,q,clock);
    // Module arguments
    input wire  [23:0] d;
    output reg  [23:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 24'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__nic__planner__pacer__rates(clock,read_address,read_data,write_address,write_data,write_enable);
    // Module arguments
    input wire  clock;
    input wire  [5:0] read_address;
    output reg  [15:0] read_data;
    input wire  [5:0] write_address;
    input wire  [15:0] write_data;
    input wire  write_enable;
    // Update code (custom)
    (* ram_style = "distributed" *) reg [15:0] mem [0:63];
    `ifndef SYNTHESIS
    integer i;
    initial for (i = 0; i <= 63; i = i + 1) mem[i] = 0;
    `endif
    always @(*) read_data = mem[read_address];
    always @(posedge clock) if (write_enable) mem[write_address] <= write_data;
endmodule

module optireduce_nic__nic__reduce__flight__0(d,q,clock);
    // Module arguments
    input wire  [95:0] d;
    output reg  [95:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 96'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__nic__rx_buffer__lengths__memory(clock,read_address,read_data,write_address,write_data,write_enable);
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

module optireduce_nic__nic__scale__outbox__memory(clock,read_address,read_data,write_address,write_data,write_enable);
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

module optireduce_nic__rx__sum__four__0(d,q,clock);
    // Module arguments
    input wire  [18:0] d;
    output reg  [18:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 19'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__nic__broadcast_gates__beat_rules(clock,read_address,read_data,write_address,write_data,write_enable);
    // Module arguments
    input wire  clock;
    input wire  [2:0] read_address;
    output reg  [36:0] read_data;
    input wire  [2:0] write_address;
    input wire  [36:0] write_data;
    input wire  write_enable;
    // Update code (custom)
    (* ram_style = "distributed" *) reg [36:0] mem [0:7];
    `ifndef SYNTHESIS
    integer i;
    initial for (i = 0; i <= 7; i = i + 1) mem[i] = 0;
    `endif
    always @(*) read_data = mem[read_address];
    always @(posedge clock) if (write_enable) mem[write_address] <= write_data;
endmodule

module optireduce_nic__nic__broadcast_gates__beats(clock,read_address,read_data,write_address,write_data,write_enable);
    // Module arguments
    input wire  clock;
    input wire  [2:0] read_address;
    output reg  [65:0] read_data;
    input wire  [2:0] write_address;
    input wire  [65:0] write_data;
    input wire  write_enable;
    // Update code (custom)
    (* ram_style = "distributed" *) reg [65:0] mem [0:7];
    `ifndef SYNTHESIS
    integer i;
    initial for (i = 0; i <= 7; i = i + 1) mem[i] = 0;
    `endif
    always @(*) read_data = mem[read_address];
    always @(posedge clock) if (write_enable) mem[write_address] <= write_data;
endmodule

module optireduce_nic__nic__broadcast_gates__counting(d,q,clock);
    // Module arguments
    input wire  [4:0] d;
    output reg  [4:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 5'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__nic__broadcast_gates__ending(d,q,clock);
    // Module arguments
    input wire  [55:0] d;
    output reg  [55:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 56'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__nic__broadcast_gates__ends(clock,read_address,read_data,write_address,write_data,write_enable);
    // Module arguments
    input wire  clock;
    input wire  [2:0] read_address;
    output reg  [49:0] read_data;
    input wire  [2:0] write_address;
    input wire  [49:0] write_data;
    input wire  write_enable;
    // Update code (custom)
    (* ram_style = "distributed" *) reg [49:0] mem [0:7];
    `ifndef SYNTHESIS
    integer i;
    initial for (i = 0; i <= 7; i = i + 1) mem[i] = 0;
    `endif
    always @(*) read_data = mem[read_address];
    always @(posedge clock) if (write_enable) mem[write_address] <= write_data;
endmodule

module optireduce_nic__nic__broadcast_gates__event_rules(clock,read_address,read_data,write_address,write_data,write_enable);
    // Module arguments
    input wire  clock;
    input wire  [2:0] read_address;
    output reg  [134:0] read_data;
    input wire  [2:0] write_address;
    input wire  [134:0] write_data;
    input wire  write_enable;
    // Update code (custom)
    (* ram_style = "distributed" *) reg [134:0] mem [0:7];
    `ifndef SYNTHESIS
    integer i;
    initial for (i = 0; i <= 7; i = i + 1) mem[i] = 0;
    `endif
    always @(*) read_data = mem[read_address];
    always @(posedge clock) if (write_enable) mem[write_address] <= write_data;
endmodule

module optireduce_nic__nic__broadcast_gates__looked_up(d,q,clock);
    // Module arguments
    input wire  [390:0] d;
    output reg  [390:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 391'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__nic__broadcast_gates__noted(d,q,clock);
    // Module arguments
    input wire  [117:0] d;
    output reg  [117:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 118'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__nic__broadcast_gates__starts(clock,read_address,read_data,write_address,write_data,write_enable);
    // Module arguments
    input wire  clock;
    input wire  [2:0] read_address;
    output reg  [47:0] read_data;
    input wire  [2:0] write_address;
    input wire  [47:0] write_data;
    input wire  write_enable;
    // Update code (custom)
    (* ram_style = "distributed" *) reg [47:0] mem [0:7];
    `ifndef SYNTHESIS
    integer i;
    initial for (i = 0; i <= 7; i = i + 1) mem[i] = 0;
    `endif
    always @(*) read_data = mem[read_address];
    always @(posedge clock) if (write_enable) mem[write_address] <= write_data;
endmodule

module optireduce_nic__nic__broadcast_gates__told_heard(clock,read_address,read_data,write_address,write_data,write_enable);
    // Module arguments
    input wire  clock;
    input wire  [2:0] read_address;
    output reg  [63:0] read_data;
    input wire  [2:0] write_address;
    input wire  [63:0] write_data;
    input wire  write_enable;
    // Update code (custom)
    (* ram_style = "distributed" *) reg [63:0] mem [0:7];
    `ifndef SYNTHESIS
    integer i;
    initial for (i = 0; i <= 7; i = i + 1) mem[i] = 0;
    `endif
    always @(*) read_data = mem[read_address];
    always @(posedge clock) if (write_enable) mem[write_address] <= write_data;
endmodule

module optireduce_nic__nic__builder__fetched_order(d,q,clock);
    // Module arguments
    input wire  [115:0] d;
    output reg  [115:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 116'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__nic__builder__halves(low,high,packs);
    // Module arguments
    input wire  [511:0] low;
    input wire  [511:0] high;
    output reg  [511:0] packs;
    // Update code (custom)
    always @(*) packs = {high[496 +: 16], high[464 +: 16], high[432 +: 16], high[400 +: 16], high[368 +: 16], high[336 +: 16], high[304 +: 16], high[272 +: 16], high[240 +: 16], high[208 +: 16], high[176 +: 16], high[144 +: 16], high[112 +: 16], high[80 +: 16], high[48 +: 16], high[16 +: 16], low[496 +: 16], low[464 +: 16], low[432 +: 16], low[400 +: 16], low[368 +: 16], low[336 +: 16], low[304 +: 16], low[272 +: 16], low[240 +: 16], low[208 +: 16], low[176 +: 16], low[144 +: 16], low[112 +: 16], low[80 +: 16], low[48 +: 16], low[16 +: 16]};
    wire unused = &{high[480 +: 16], high[448 +: 16], high[416 +: 16], high[384 +: 16], high[352 +: 16], high[320 +: 16], high[288 +: 16], high[256 +: 16], high[224 +: 16], high[192 +: 16], high[160 +: 16], high[128 +: 16], high[96 +: 16], high[64 +: 16], high[32 +: 16], high[0 +: 16], low[480 +: 16], low[448 +: 16], low[416 +: 16], low[384 +: 16], low[352 +: 16], low[320 +: 16], low[288 +: 16], low[256 +: 16], low[224 +: 16], low[192 +: 16], low[160 +: 16], low[128 +: 16], low[96 +: 16], low[64 +: 16], low[32 +: 16], low[0 +: 16]};
endmodule

module optireduce_nic__nic__builder__orders(clock,clear,push,push_data,full,pop,pop_data,empty,room);
    // Module arguments
    input wire  clock;
    input wire  clear;
    input wire  push;
    input wire  [115:0] push_data;
    output wire  full;
    input wire  pop;
    output wire  [115:0] pop_data;
    output wire  empty;
    output wire  [15:0] room;
    // Constant declarations
    localparam  depth = 16'h4;
    // Stub signals
    wire  memory__clock;
    wire  [1:0] memory__read_address;
    wire  [115:0] memory__read_data;
    wire  [1:0] memory__write_address;
    wire  [115:0] memory__write_data;
    wire  memory__write_enable;
    reg  [47:0] state__d;
    wire  [47:0] state__q;
    wire  state__clock;
    // Local signals
    wire  pushed;
    wire  popped;
    wire  [15:0] head_next;
    wire  [15:0] tail_next;
    wire  [15:0] used_more;
    wire  [15:0] used_less;
    // Sub module instances
    optireduce_nic__nic__builder__orders__memory memory(
        .clock(memory__clock),
        .read_address(memory__read_address),
        .read_data(memory__read_data),
        .write_address(memory__write_address),
        .write_data(memory__write_data),
        .write_enable(memory__write_enable)
    );
    optireduce_nic__nic__finisher__drain__inbox__state state(
        .d(state__d),
        .q(state__q),
        .clock(state__clock)
    );
    // Update code
    assign state__clock = clock;
    assign memory__clock = clock;
    assign full = state__q[(64'h20)+:(16)] == depth;
    assign empty = state__q[(64'h20)+:(16)] == 32'h0;
    assign room = depth - state__q[(64'h20)+:(16)];
    assign pushed = push && ~full;
    assign popped = pop && ~empty;
    assign memory__write_address = ((state__q[(64'h10)+:(16)]) & 2'h3);
    assign memory__write_data = push_data;
    assign memory__write_enable = pushed;
    assign memory__read_address = ((state__q[(64'h0)+:(16)]) & 2'h3);
    assign pop_data = memory__read_data;
    assign head_next = state__q[(64'h0)+:(16)] + 32'h1;
    assign tail_next = state__q[(64'h10)+:(16)] + 32'h1;
    assign used_more = state__q[(64'h20)+:(16)] + 32'h1;
    assign used_less = state__q[(64'h20)+:(16)] - 32'h1;
    always @(*) begin
        state__d = state__q;
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

module optireduce_nic__nic__builder__out_flags(clock,clear,push,push_data,full,pop,pop_data,empty,room);
    // Module arguments
    input wire  clock;
    input wire  clear;
    input wire  push;
    input wire  [1:0] push_data;
    output wire  full;
    input wire  pop;
    output wire  [1:0] pop_data;
    output wire  empty;
    output wire  [15:0] room;
    // Constant declarations
    localparam  depth = 16'h100;
    // Stub signals
    wire  memory__clock;
    wire  [7:0] memory__read_address;
    wire  [1:0] memory__read_data;
    wire  [7:0] memory__write_address;
    wire  [1:0] memory__write_data;
    wire  memory__write_enable;
    reg  [47:0] state__d;
    wire  [47:0] state__q;
    wire  state__clock;
    // Local signals
    wire  pushed;
    wire  popped;
    wire  [15:0] head_next;
    wire  [15:0] tail_next;
    wire  [15:0] used_more;
    wire  [15:0] used_less;
    // Sub module instances
    optireduce_nic__nic__builder__out_flags__memory memory(
        .clock(memory__clock),
        .read_address(memory__read_address),
        .read_data(memory__read_data),
        .write_address(memory__write_address),
        .write_data(memory__write_data),
        .write_enable(memory__write_enable)
    );
    optireduce_nic__nic__finisher__drain__inbox__state state(
        .d(state__d),
        .q(state__q),
        .clock(state__clock)
    );
    // Update code
    assign state__clock = clock;
    assign memory__clock = clock;
    assign full = state__q[(64'h20)+:(16)] == depth;
    assign empty = state__q[(64'h20)+:(16)] == 32'h0;
    assign room = depth - state__q[(64'h20)+:(16)];
    assign pushed = push && ~full;
    assign popped = pop && ~empty;
    assign memory__write_address = ((state__q[(64'h10)+:(16)]) & 8'hff);
    assign memory__write_data = push_data;
    assign memory__write_enable = pushed;
    assign memory__read_address = ((state__q[(64'h0)+:(16)]) & 8'hff);
    assign pop_data = memory__read_data;
    assign head_next = state__q[(64'h0)+:(16)] + 32'h1;
    assign tail_next = state__q[(64'h10)+:(16)] + 32'h1;
    assign used_more = state__q[(64'h20)+:(16)] + 32'h1;
    assign used_less = state__q[(64'h20)+:(16)] - 32'h1;
    always @(*) begin
        state__d = state__q;
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

module optireduce_nic__nic__builder__outbox(clock,clear,push,push_data,pop,pop_data,empty,room);
    // Module arguments
    input wire  clock;
    input wire  clear;
    input wire  push;
    input wire  [511:0] push_data;
    input wire  pop;
    output wire  [511:0] pop_data;
    output wire  empty;
    output wire  [15:0] room;
    // Constant declarations
    localparam  depth = 16'h100;
    // Stub signals
    wire  memory__clock;
    wire  [15:0] memory__read_address;
    wire  [511:0] memory__read_data;
    wire  [15:0] memory__write_address;
    wire  [511:0] memory__write_data;
    wire  memory__write_enable;
    reg  [63:0] state__d;
    wire  [63:0] state__q;
    wire  state__clock;
    // Local signals
    wire  full;
    wire  pushed;
    wire  popped;
    wire  [15:0] head_next;
    reg  [15:0] head_then;
    wire  [15:0] tail_next;
    wire  [15:0] used_more;
    wire  [15:0] used_less;
    // Sub module instances
    optireduce_nic__nic__builder__outbox__memory memory(
        .clock(memory__clock),
        .read_address(memory__read_address),
        .read_data(memory__read_data),
        .write_address(memory__write_address),
        .write_data(memory__write_data),
        .write_enable(memory__write_enable)
    );
    optireduce_nic__nic__finisher__write__results__state state(
        .d(state__d),
        .q(state__q),
        .clock(state__clock)
    );
    // Update code
    assign state__clock = clock;
    assign memory__clock = clock;
    assign full = state__q[(64'h30)+:(16)] == depth;
    assign empty = state__q[(64'h0)+:(16)] == state__q[(64'h20)+:(16)];
    assign room = depth - state__q[(64'h30)+:(16)];
    assign pushed = push && ~full;
    assign popped = pop && ~empty;
    assign head_next = state__q[(64'h0)+:(16)] + 32'h1;
    always @(*) begin
        head_then = state__q[(64'h0)+:(16)];
        if (popped) begin
            head_then = head_next;
        end
    end
    assign memory__write_address = state__q[(64'h10)+:(16)];
    assign memory__write_data = push_data;
    assign memory__write_enable = pushed;
    assign memory__read_address = head_then;
    assign pop_data = memory__read_data;
    assign tail_next = state__q[(64'h10)+:(16)] + 32'h1;
    assign used_more = state__q[(64'h30)+:(16)] + 32'h1;
    assign used_less = state__q[(64'h30)+:(16)] - 32'h1;
    always @(*) begin
        state__d = state__q;
        state__d[(64'h0)+:(16)] = head_then;
        state__d[(64'h20)+:(16)] = state__q[(64'h10)+:(16)];
        if (pushed) begin
            state__d[(64'h10)+:(16)] = tail_next;
        end
        if (pushed && ~popped) begin
            state__d[(64'h30)+:(16)] = used_more;
        end
        if (popped && ~pushed) begin
            state__d[(64'h30)+:(16)] = used_less;
        end
        if (clear) begin
            state__d[(64'h0)+:(16)] = ((32'h0) & 16'hffff);
            state__d[(64'h10)+:(16)] = ((32'h0) & 16'hffff);
            state__d[(64'h20)+:(16)] = ((32'h0) & 16'hffff);
            state__d[(64'h30)+:(16)] = ((32'h0) & 16'hffff);
        end
    end
endmodule

module optireduce_nic__nic__builder__own_sum(d,q,clock);
    // Module arguments
    input wire  [19:0] d;
    output reg  [19:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 20'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__nic__builder__peer_ip(clock,read_address,read_data,write_address,write_data,write_enable);
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

module optireduce_nic__nic__builder__sending(d,q,clock);
    // Module arguments
    input wire  [29:0] d;
    output reg  [29:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 30'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__nic__contribute__buffer(clock,read_address,read_data,write_address,write_data,write_enable);
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
    wire unused = &{read_address[2:1], read_address[16:13], write_address[2:1], write_address[16:13]};
endmodule

module optireduce_nic__nic__contribute__contexts(clock,read_address,read_data,write_address,write_data,write_enable);
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

module optireduce_nic__nic__contribute__inbox(clock,clear,push,push_data,pop,pop_data,empty,room);
    // Module arguments
    input wire  clock;
    input wire  clear;
    input wire  push;
    input wire  [511:0] push_data;
    input wire  pop;
    output wire  [511:0] pop_data;
    output wire  empty;
    output wire  [15:0] room;
    // Constant declarations
    localparam  depth = 16'h200;
    // Stub signals
    wire  memory__clock;
    wire  [15:0] memory__read_address;
    wire  [511:0] memory__read_data;
    wire  [15:0] memory__write_address;
    wire  [511:0] memory__write_data;
    wire  memory__write_enable;
    reg  [63:0] state__d;
    wire  [63:0] state__q;
    wire  state__clock;
    // Local signals
    wire  full;
    wire  pushed;
    wire  popped;
    wire  [15:0] head_next;
    reg  [15:0] head_then;
    wire  [15:0] tail_next;
    wire  [15:0] used_more;
    wire  [15:0] used_less;
    // Sub module instances
    optireduce_nic__nic__contribute__inbox__memory memory(
        .clock(memory__clock),
        .read_address(memory__read_address),
        .read_data(memory__read_data),
        .write_address(memory__write_address),
        .write_data(memory__write_data),
        .write_enable(memory__write_enable)
    );
    optireduce_nic__nic__finisher__write__results__state state(
        .d(state__d),
        .q(state__q),
        .clock(state__clock)
    );
    // Update code
    assign state__clock = clock;
    assign memory__clock = clock;
    assign full = state__q[(64'h30)+:(16)] == depth;
    assign empty = state__q[(64'h0)+:(16)] == state__q[(64'h20)+:(16)];
    assign room = depth - state__q[(64'h30)+:(16)];
    assign pushed = push && ~full;
    assign popped = pop && ~empty;
    assign head_next = state__q[(64'h0)+:(16)] + 32'h1;
    always @(*) begin
        head_then = state__q[(64'h0)+:(16)];
        if (popped) begin
            head_then = head_next;
        end
    end
    assign memory__write_address = state__q[(64'h10)+:(16)];
    assign memory__write_data = push_data;
    assign memory__write_enable = pushed;
    assign memory__read_address = head_then;
    assign pop_data = memory__read_data;
    assign tail_next = state__q[(64'h10)+:(16)] + 32'h1;
    assign used_more = state__q[(64'h30)+:(16)] + 32'h1;
    assign used_less = state__q[(64'h30)+:(16)] - 32'h1;
    always @(*) begin
        state__d = state__q;
        state__d[(64'h0)+:(16)] = head_then;
        state__d[(64'h20)+:(16)] = state__q[(64'h10)+:(16)];
        if (pushed) begin
            state__d[(64'h10)+:(16)] = tail_next;
        end
        if (pushed && ~popped) begin
            state__d[(64'h30)+:(16)] = used_more;
        end
        if (popped && ~pushed) begin
            state__d[(64'h30)+:(16)] = used_less;
        end
        if (clear) begin
            state__d[(64'h0)+:(16)] = ((32'h0) & 16'hffff);
            state__d[(64'h10)+:(16)] = ((32'h0) & 16'hffff);
            state__d[(64'h20)+:(16)] = ((32'h0) & 16'hffff);
            state__d[(64'h30)+:(16)] = ((32'h0) & 16'hffff);
        end
    end
endmodule

module optireduce_nic__nic__contribute__order_now(d,q,clock);
    // Module arguments
    input wire  [81:0] d;
    output reg  [81:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 82'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__nic__contribute__orders(clock,clear,push,push_data,full,pop,pop_data,empty,room);
    // Module arguments
    input wire  clock;
    input wire  clear;
    input wire  push;
    input wire  [81:0] push_data;
    output wire  full;
    input wire  pop;
    output wire  [81:0] pop_data;
    output wire  empty;
    output wire  [15:0] room;
    // Constant declarations
    localparam  depth = 16'h8;
    // Stub signals
    wire  memory__clock;
    wire  [2:0] memory__read_address;
    wire  [81:0] memory__read_data;
    wire  [2:0] memory__write_address;
    wire  [81:0] memory__write_data;
    wire  memory__write_enable;
    reg  [47:0] state__d;
    wire  [47:0] state__q;
    wire  state__clock;
    // Local signals
    wire  pushed;
    wire  popped;
    wire  [15:0] head_next;
    wire  [15:0] tail_next;
    wire  [15:0] used_more;
    wire  [15:0] used_less;
    // Sub module instances
    optireduce_nic__nic__contribute__orders__memory memory(
        .clock(memory__clock),
        .read_address(memory__read_address),
        .read_data(memory__read_data),
        .write_address(memory__write_address),
        .write_data(memory__write_data),
        .write_enable(memory__write_enable)
    );
    optireduce_nic__nic__finisher__drain__inbox__state state(
        .d(state__d),
        .q(state__q),
        .clock(state__clock)
    );
    // Update code
    assign state__clock = clock;
    assign memory__clock = clock;
    assign full = state__q[(64'h20)+:(16)] == depth;
    assign empty = state__q[(64'h20)+:(16)] == 32'h0;
    assign room = depth - state__q[(64'h20)+:(16)];
    assign pushed = push && ~full;
    assign popped = pop && ~empty;
    assign memory__write_address = ((state__q[(64'h10)+:(16)]) & 3'h7);
    assign memory__write_data = push_data;
    assign memory__write_enable = pushed;
    assign memory__read_address = ((state__q[(64'h0)+:(16)]) & 3'h7);
    assign pop_data = memory__read_data;
    assign head_next = state__q[(64'h0)+:(16)] + 32'h1;
    assign tail_next = state__q[(64'h10)+:(16)] + 32'h1;
    assign used_more = state__q[(64'h20)+:(16)] + 32'h1;
    assign used_less = state__q[(64'h20)+:(16)] - 32'h1;
    always @(*) begin
        state__d = state__q;
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

module optireduce_nic__nic__contribute__outbox(clock,clear,push,push_data,full,pop,pop_data,empty,room);
    // Module arguments
    input wire  clock;
    input wire  clear;
    input wire  push;
    input wire  [556:0] push_data;
    output wire  full;
    input wire  pop;
    output wire  [556:0] pop_data;
    output wire  empty;
    output wire  [15:0] room;
    // Constant declarations
    localparam  depth = 16'h8;
    // Stub signals
    wire  memory__clock;
    wire  [2:0] memory__read_address;
    wire  [556:0] memory__read_data;
    wire  [2:0] memory__write_address;
    wire  [556:0] memory__write_data;
    wire  memory__write_enable;
    reg  [47:0] state__d;
    wire  [47:0] state__q;
    wire  state__clock;
    // Local signals
    wire  pushed;
    wire  popped;
    wire  [15:0] head_next;
    wire  [15:0] tail_next;
    wire  [15:0] used_more;
    wire  [15:0] used_less;
    // Sub module instances
    optireduce_nic__nic__contribute__outbox__memory memory(
        .clock(memory__clock),
        .read_address(memory__read_address),
        .read_data(memory__read_data),
        .write_address(memory__write_address),
        .write_data(memory__write_data),
        .write_enable(memory__write_enable)
    );
    optireduce_nic__nic__finisher__drain__inbox__state state(
        .d(state__d),
        .q(state__q),
        .clock(state__clock)
    );
    // Update code
    assign state__clock = clock;
    assign memory__clock = clock;
    assign full = state__q[(64'h20)+:(16)] == depth;
    assign empty = state__q[(64'h20)+:(16)] == 32'h0;
    assign room = depth - state__q[(64'h20)+:(16)];
    assign pushed = push && ~full;
    assign popped = pop && ~empty;
    assign memory__write_address = ((state__q[(64'h10)+:(16)]) & 3'h7);
    assign memory__write_data = push_data;
    assign memory__write_enable = pushed;
    assign memory__read_address = ((state__q[(64'h0)+:(16)]) & 3'h7);
    assign pop_data = memory__read_data;
    assign head_next = state__q[(64'h0)+:(16)] + 32'h1;
    assign tail_next = state__q[(64'h10)+:(16)] + 32'h1;
    assign used_more = state__q[(64'h20)+:(16)] + 32'h1;
    assign used_less = state__q[(64'h20)+:(16)] - 32'h1;
    always @(*) begin
        state__d = state__q;
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

module optireduce_nic__nic__contribute__place(d,q,clock);
    // Module arguments
    input wire  [541:0] d;
    output reg  [541:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 542'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__nic__contribute__planned(clock,clear,push,push_data,full,pop,pop_data,empty,room);
    // Module arguments
    input wire  clock;
    input wire  clear;
    input wire  push;
    input wire  [81:0] push_data;
    output wire  full;
    input wire  pop;
    output wire  [81:0] pop_data;
    output wire  empty;
    output wire  [15:0] room;
    // Constant declarations
    localparam  depth = 16'h2;
    // Stub signals
    wire  memory__clock;
    wire  memory__read_address;
    wire  [81:0] memory__read_data;
    wire  memory__write_address;
    wire  [81:0] memory__write_data;
    wire  memory__write_enable;
    reg  [47:0] state__d;
    wire  [47:0] state__q;
    wire  state__clock;
    // Local signals
    wire  pushed;
    wire  popped;
    wire  [15:0] head_next;
    wire  [15:0] tail_next;
    wire  [15:0] used_more;
    wire  [15:0] used_less;
    // Sub module instances
    optireduce_nic__nic__contribute__planned__memory memory(
        .clock(memory__clock),
        .read_address(memory__read_address),
        .read_data(memory__read_data),
        .write_address(memory__write_address),
        .write_data(memory__write_data),
        .write_enable(memory__write_enable)
    );
    optireduce_nic__nic__finisher__drain__inbox__state state(
        .d(state__d),
        .q(state__q),
        .clock(state__clock)
    );
    // Update code
    assign state__clock = clock;
    assign memory__clock = clock;
    assign full = state__q[(64'h20)+:(16)] == depth;
    assign empty = state__q[(64'h20)+:(16)] == 32'h0;
    assign room = depth - state__q[(64'h20)+:(16)];
    assign pushed = push && ~full;
    assign popped = pop && ~empty;
    assign memory__write_address = ((state__q[(64'h10)+:(16)]) & 1'h1);
    assign memory__write_data = push_data;
    assign memory__write_enable = pushed;
    assign memory__read_address = ((state__q[(64'h0)+:(16)]) & 1'h1);
    assign pop_data = memory__read_data;
    assign head_next = state__q[(64'h0)+:(16)] + 32'h1;
    assign tail_next = state__q[(64'h10)+:(16)] + 32'h1;
    assign used_more = state__q[(64'h20)+:(16)] + 32'h1;
    assign used_less = state__q[(64'h20)+:(16)] - 32'h1;
    always @(*) begin
        state__d = state__q;
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

module optireduce_nic__nic__contribute__round(data,rounded);
    // Module arguments
    input wire  [511:0] data;
    output wire  [511:0] rounded;
    // Stub signals
    wire  [31:0] lane__0__data;
    wire  [31:0] lane__0__rounded;
    wire  [31:0] lane__1__data;
    wire  [31:0] lane__1__rounded;
    wire  [31:0] lane__2__data;
    wire  [31:0] lane__2__rounded;
    wire  [31:0] lane__3__data;
    wire  [31:0] lane__3__rounded;
    wire  [31:0] lane__4__data;
    wire  [31:0] lane__4__rounded;
    wire  [31:0] lane__5__data;
    wire  [31:0] lane__5__rounded;
    wire  [31:0] lane__6__data;
    wire  [31:0] lane__6__rounded;
    wire  [31:0] lane__7__data;
    wire  [31:0] lane__7__rounded;
    wire  [31:0] lane__8__data;
    wire  [31:0] lane__8__rounded;
    wire  [31:0] lane__9__data;
    wire  [31:0] lane__9__rounded;
    wire  [31:0] lane__10__data;
    wire  [31:0] lane__10__rounded;
    wire  [31:0] lane__11__data;
    wire  [31:0] lane__11__rounded;
    wire  [31:0] lane__12__data;
    wire  [31:0] lane__12__rounded;
    wire  [31:0] lane__13__data;
    wire  [31:0] lane__13__rounded;
    wire  [31:0] lane__14__data;
    wire  [31:0] lane__14__rounded;
    wire  [31:0] lane__15__data;
    wire  [31:0] lane__15__rounded;
    wire  [31:0] pack__lane__0;
    wire  [31:0] pack__lane__1;
    wire  [31:0] pack__lane__2;
    wire  [31:0] pack__lane__3;
    wire  [31:0] pack__lane__4;
    wire  [31:0] pack__lane__5;
    wire  [31:0] pack__lane__6;
    wire  [31:0] pack__lane__7;
    wire  [31:0] pack__lane__8;
    wire  [31:0] pack__lane__9;
    wire  [31:0] pack__lane__10;
    wire  [31:0] pack__lane__11;
    wire  [31:0] pack__lane__12;
    wire  [31:0] pack__lane__13;
    wire  [31:0] pack__lane__14;
    wire  [31:0] pack__lane__15;
    wire  [511:0] pack__beat;
    // Sub module instances
    optireduce_nic__nic__contribute__round__lane__0 lane__0(
        .data(lane__0__data),
        .rounded(lane__0__rounded)
    );
    optireduce_nic__nic__contribute__round__lane__0 lane__1(
        .data(lane__1__data),
        .rounded(lane__1__rounded)
    );
    optireduce_nic__nic__contribute__round__lane__0 lane__2(
        .data(lane__2__data),
        .rounded(lane__2__rounded)
    );
    optireduce_nic__nic__contribute__round__lane__0 lane__3(
        .data(lane__3__data),
        .rounded(lane__3__rounded)
    );
    optireduce_nic__nic__contribute__round__lane__0 lane__4(
        .data(lane__4__data),
        .rounded(lane__4__rounded)
    );
    optireduce_nic__nic__contribute__round__lane__0 lane__5(
        .data(lane__5__data),
        .rounded(lane__5__rounded)
    );
    optireduce_nic__nic__contribute__round__lane__0 lane__6(
        .data(lane__6__data),
        .rounded(lane__6__rounded)
    );
    optireduce_nic__nic__contribute__round__lane__0 lane__7(
        .data(lane__7__data),
        .rounded(lane__7__rounded)
    );
    optireduce_nic__nic__contribute__round__lane__0 lane__8(
        .data(lane__8__data),
        .rounded(lane__8__rounded)
    );
    optireduce_nic__nic__contribute__round__lane__0 lane__9(
        .data(lane__9__data),
        .rounded(lane__9__rounded)
    );
    optireduce_nic__nic__contribute__round__lane__0 lane__10(
        .data(lane__10__data),
        .rounded(lane__10__rounded)
    );
    optireduce_nic__nic__contribute__round__lane__0 lane__11(
        .data(lane__11__data),
        .rounded(lane__11__rounded)
    );
    optireduce_nic__nic__contribute__round__lane__0 lane__12(
        .data(lane__12__data),
        .rounded(lane__12__rounded)
    );
    optireduce_nic__nic__contribute__round__lane__0 lane__13(
        .data(lane__13__data),
        .rounded(lane__13__rounded)
    );
    optireduce_nic__nic__contribute__round__lane__0 lane__14(
        .data(lane__14__data),
        .rounded(lane__14__rounded)
    );
    optireduce_nic__nic__contribute__round__lane__0 lane__15(
        .data(lane__15__data),
        .rounded(lane__15__rounded)
    );
    optireduce_nic__nic__finisher__drain__decoder__to_fixed__pack pack(
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
    assign lane__0__data = data[(0 * 32'h20)+:(32)];
    assign pack__lane__0 = lane__0__rounded;
    assign lane__1__data = data[(1 * 32'h20)+:(32)];
    assign pack__lane__1 = lane__1__rounded;
    assign lane__2__data = data[(2 * 32'h20)+:(32)];
    assign pack__lane__2 = lane__2__rounded;
    assign lane__3__data = data[(3 * 32'h20)+:(32)];
    assign pack__lane__3 = lane__3__rounded;
    assign lane__4__data = data[(4 * 32'h20)+:(32)];
    assign pack__lane__4 = lane__4__rounded;
    assign lane__5__data = data[(5 * 32'h20)+:(32)];
    assign pack__lane__5 = lane__5__rounded;
    assign lane__6__data = data[(6 * 32'h20)+:(32)];
    assign pack__lane__6 = lane__6__rounded;
    assign lane__7__data = data[(7 * 32'h20)+:(32)];
    assign pack__lane__7 = lane__7__rounded;
    assign lane__8__data = data[(8 * 32'h20)+:(32)];
    assign pack__lane__8 = lane__8__rounded;
    assign lane__9__data = data[(9 * 32'h20)+:(32)];
    assign pack__lane__9 = lane__9__rounded;
    assign lane__10__data = data[(10 * 32'h20)+:(32)];
    assign pack__lane__10 = lane__10__rounded;
    assign lane__11__data = data[(11 * 32'h20)+:(32)];
    assign pack__lane__11 = lane__11__rounded;
    assign lane__12__data = data[(12 * 32'h20)+:(32)];
    assign pack__lane__12 = lane__12__rounded;
    assign lane__13__data = data[(13 * 32'h20)+:(32)];
    assign pack__lane__13 = lane__13__rounded;
    assign lane__14__data = data[(14 * 32'h20)+:(32)];
    assign pack__lane__14 = lane__14__rounded;
    assign lane__15__data = data[(15 * 32'h20)+:(32)];
    assign pack__lane__15 = lane__15__rounded;
    assign rounded = pack__beat;
endmodule

module optireduce_nic__nic__dma_read__owners(clock,clear,push,push_data,full,pop,pop_data,empty,room);
    // Module arguments
    input wire  clock;
    input wire  clear;
    input wire  push;
    input wire  [3:0] push_data;
    output wire  full;
    input wire  pop;
    output wire  [3:0] pop_data;
    output wire  empty;
    output wire  [15:0] room;
    // Constant declarations
    localparam  depth = 16'h10;
    // Stub signals
    wire  memory__clock;
    wire  [3:0] memory__read_address;
    wire  [3:0] memory__read_data;
    wire  [3:0] memory__write_address;
    wire  [3:0] memory__write_data;
    wire  memory__write_enable;
    reg  [47:0] state__d;
    wire  [47:0] state__q;
    wire  state__clock;
    // Local signals
    wire  pushed;
    wire  popped;
    wire  [15:0] head_next;
    wire  [15:0] tail_next;
    wire  [15:0] used_more;
    wire  [15:0] used_less;
    // Sub module instances
    optireduce_nic__nic__dma_read__owners__memory memory(
        .clock(memory__clock),
        .read_address(memory__read_address),
        .read_data(memory__read_data),
        .write_address(memory__write_address),
        .write_data(memory__write_data),
        .write_enable(memory__write_enable)
    );
    optireduce_nic__nic__finisher__drain__inbox__state state(
        .d(state__d),
        .q(state__q),
        .clock(state__clock)
    );
    // Update code
    assign state__clock = clock;
    assign memory__clock = clock;
    assign full = state__q[(64'h20)+:(16)] == depth;
    assign empty = state__q[(64'h20)+:(16)] == 32'h0;
    assign room = depth - state__q[(64'h20)+:(16)];
    assign pushed = push && ~full;
    assign popped = pop && ~empty;
    assign memory__write_address = ((state__q[(64'h10)+:(16)]) & 4'hf);
    assign memory__write_data = push_data;
    assign memory__write_enable = pushed;
    assign memory__read_address = ((state__q[(64'h0)+:(16)]) & 4'hf);
    assign pop_data = memory__read_data;
    assign head_next = state__q[(64'h0)+:(16)] + 32'h1;
    assign tail_next = state__q[(64'h10)+:(16)] + 32'h1;
    assign used_more = state__q[(64'h20)+:(16)] + 32'h1;
    assign used_less = state__q[(64'h20)+:(16)] - 32'h1;
    always @(*) begin
        state__d = state__q;
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

module optireduce_nic__nic__finisher__drain(clock,clear,start,start_slot,start_context,ready,idle,drained,read_valid,read_address,read_ready,word,push,push_data,room,order_valid,order,order_ready);
    // Module arguments
    input wire  clock;
    input wire  clear;
    input wire  start;
    input wire  [2:0] start_slot;
    input wire  [404:0] start_context;
    output wire  ready;
    output wire  idle;
    output reg  [7:0] drained;
    output wire  read_valid;
    output reg  [16:0] read_address;
    input wire  read_ready;
    input wire  [519:0] word;
    output wire  push;
    output wire  [511:0] push_data;
    input wire  [15:0] room;
    output wire  order_valid;
    output reg  [79:0] order;
    input wire  order_ready;
    // Enums
    localparam DrainState__Idle = 0;
    localparam DrainState__Begin = 1;
    localparam DrainState__Run = 2;
    // Stub signals
    wire  decoder__clock;
    wire  decoder__clear;
    reg  decoder__start;
    wire  [3:0] decoder__log2n;
    wire  decoder__decode;
    wire  [63:0] decoder__key;
    wire  decoder__start_ready;
    wire  decoder__in_valid;
    wire  decoder__in_ready;
    wire  [511:0] decoder__in_data;
    wire  decoder__in_received;
    wire  decoder__go;
    wire  decoder__burst;
    wire  decoder__out_valid;
    wire  [511:0] decoder__out_data;
    wire  [10:0] decoder__out_received;
    wire  decoder__idle;
    wire  reciprocal__clock;
    wire  [10:0] reciprocal__count;
    wire  [31:0] reciprocal__factor;
    wire  multiplier__clock;
    wire  [511:0] multiplier__a;
    reg  [31:0] multiplier__factor;
    wire  [511:0] multiplier__product;
    wire  inbox__clock;
    wire  inbox__clear;
    wire  inbox__push;
    wire  [512:0] inbox__push_data;
    wire  inbox__full;
    wire  inbox__pop;
    wire  [512:0] inbox__pop_data;
    wire  inbox__empty;
    wire  [15:0] inbox__room;
    reg  [1:0] state__d;
    wire  [1:0] state__q;
    wire  state__clock;
    reg  cleared__d;
    wire  cleared__q;
    wire  cleared__clock;
    reg  [2:0] slot__d;
    wire  [2:0] slot__q;
    wire  slot__clock;
    reg  [404:0] ctx__d;
    wire  [404:0] ctx__q;
    wire  ctx__clock;
    reg  [15:0] block_beats__d;
    wire  [15:0] block_beats__q;
    wire  block_beats__clock;
    reg  [14:0] to_read__d;
    wire  [14:0] to_read__q;
    wire  to_read__clock;
    reg  [10:0] block_index__d;
    wire  [10:0] block_index__q;
    wire  block_index__clock;
    reg  [13:0] beat_index__d;
    wire  [13:0] beat_index__q;
    wire  beat_index__clock;
    reg  asked__d;
    wire  asked__q;
    wire  asked__clock;
    reg  stage_valid__d;
    wire  stage_valid__q;
    wire  stage_valid__clock;
    reg  [511:0] stage_data__d;
    wire  [511:0] stage_data__q;
    wire  stage_data__clock;
    reg  side__0__d;
    wire  side__0__q;
    wire  side__0__clock;
    reg  side__1__d;
    wire  side__1__q;
    wire  side__1__clock;
    reg  side__2__d;
    wire  side__2__q;
    wire  side__2__clock;
    reg  side__3__d;
    wire  side__3__q;
    wire  side__3__clock;
    reg  side__4__d;
    wire  side__4__q;
    wire  side__4__clock;
    reg  side__5__d;
    wire  side__5__q;
    wire  side__5__clock;
    reg  [15:0] reserved__d;
    wire  [15:0] reserved__q;
    wire  reserved__clock;
    reg  pending__d;
    wire  pending__q;
    wire  pending__clock;
    reg  coming__d;
    wire  coming__q;
    wire  coming__clock;
    reg  taken__d;
    wire  taken__q;
    wire  taken__clock;
    reg  [2:0] come_slot__d;
    wire  [2:0] come_slot__q;
    wire  come_slot__clock;
    reg  [404:0] come_ctx__d;
    wire  [404:0] come_ctx__q;
    wire  come_ctx__clock;
    reg  [14:0] to_come__d;
    wire  [14:0] to_come__q;
    wire  to_come__clock;
    reg  [14:0] to_keep__d;
    wire  [14:0] to_keep__q;
    wire  to_keep__clock;
    reg  ordering__d;
    wire  ordering__q;
    wire  ordering__clock;
    reg  [2:0] order_slot__d;
    wire  [2:0] order_slot__q;
    wire  order_slot__clock;
    reg  [14:0] to_order__d;
    wire  [14:0] to_order__q;
    wire  to_order__clock;
    reg  [63:0] order_address__d;
    wire  [63:0] order_address__q;
    wire  order_address__clock;
    reg  [15:0] unordered__d;
    wire  [15:0] unordered__q;
    wire  unordered__clock;
    // Local signals
    wire  [404:0] c;
    wire  [404:0] out;
    wire  running;
    wire  active;
    reg  may_begin;
    reg  begins;
    wire  pass_on;
    wire  read;
    wire  takes;
    wire  come_ends;
    wire  order_ends;
    wire  [7:0] one;
    reg  [14:0] length;
    wire  [3:0] beats_log2;
    wire  [13:0] one14;
    wire  [13:0] beats_of_block;
    wire  [3:0] out_log2;
    wire  passes;
    wire  [13:0] last_beat;
    wire  [13:0] beat_next;
    wire  [10:0] block_next;
    wire  [13:0] row;
    wire  [14:0] linear;
    reg  [13:0] place;
    wire  ask;
    wire  [14:0] to_read_next;
    reg  [512:0] gathered;
    wire  present;
    wire  [31:0] exponent;
    wire  [31:0] ratio;
    wire  [15:0] spare;
    reg  [15:0] reserved_up;
    wire  [15:0] reserved_next;
    wire  comes;
    wire  keep;
    wire  [14:0] to_come_next;
    wire  [14:0] to_keep_next;
    wire  [5:0] page_beat;
    wire  [6:0] until_page;
    reg  [6:0] burst;
    wire  [12:0] burst_bytes;
    wire  [14:0] to_order_next;
    wire  [63:0] order_address_next;
    reg  [15:0] unordered_up;
    wire  [15:0] unordered_next;
    wire  ordered;
    reg  [8:0] owner;
    // Sub module instances
    optireduce_nic__nic__finisher__drain__decoder decoder(
        .clock(decoder__clock),
        .clear(decoder__clear),
        .start(decoder__start),
        .log2n(decoder__log2n),
        .decode(decoder__decode),
        .key(decoder__key),
        .start_ready(decoder__start_ready),
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
    optireduce_nic__nic__finisher__drain__reciprocal reciprocal(
        .clock(reciprocal__clock),
        .count(reciprocal__count),
        .factor(reciprocal__factor)
    );
    optireduce_nic__nic__finisher__drain__multiplier multiplier(
        .clock(multiplier__clock),
        .a(multiplier__a),
        .factor(multiplier__factor),
        .product(multiplier__product)
    );
    optireduce_nic__nic__finisher__drain__inbox inbox(
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
    optireduce_nic__nic__finisher__drain__state state(
        .d(state__d),
        .q(state__q),
        .clock(state__clock)
    );
    optireduce_nic__nic__finisher__drain__side__0 cleared(
        .d(cleared__d),
        .q(cleared__q),
        .clock(cleared__clock)
    );
    optireduce_nic__nic__finisher__drain__come_slot slot(
        .d(slot__d),
        .q(slot__q),
        .clock(slot__clock)
    );
    optireduce_nic__nic__finisher__drain__come_ctx ctx(
        .d(ctx__d),
        .q(ctx__q),
        .clock(ctx__clock)
    );
    optireduce_nic__nic__finisher__drain__block_beats block_beats(
        .d(block_beats__d),
        .q(block_beats__q),
        .clock(block_beats__clock)
    );
    optireduce_nic__nic__finisher__drain__to_come to_read(
        .d(to_read__d),
        .q(to_read__q),
        .clock(to_read__clock)
    );
    optireduce_nic__nic__finisher__drain__block_index block_index(
        .d(block_index__d),
        .q(block_index__q),
        .clock(block_index__clock)
    );
    optireduce_nic__nic__finisher__drain__beat_index beat_index(
        .d(beat_index__d),
        .q(beat_index__q),
        .clock(beat_index__clock)
    );
    optireduce_nic__nic__finisher__drain__side__0 asked(
        .d(asked__d),
        .q(asked__q),
        .clock(asked__clock)
    );
    optireduce_nic__nic__finisher__drain__side__0 stage_valid(
        .d(stage_valid__d),
        .q(stage_valid__q),
        .clock(stage_valid__clock)
    );
    optireduce_nic__nic__finisher__drain__stage_data stage_data(
        .d(stage_data__d),
        .q(stage_data__q),
        .clock(stage_data__clock)
    );
    optireduce_nic__nic__finisher__drain__side__0 side__0(
        .d(side__0__d),
        .q(side__0__q),
        .clock(side__0__clock)
    );
    optireduce_nic__nic__finisher__drain__side__0 side__1(
        .d(side__1__d),
        .q(side__1__q),
        .clock(side__1__clock)
    );
    optireduce_nic__nic__finisher__drain__side__0 side__2(
        .d(side__2__d),
        .q(side__2__q),
        .clock(side__2__clock)
    );
    optireduce_nic__nic__finisher__drain__side__0 side__3(
        .d(side__3__d),
        .q(side__3__q),
        .clock(side__3__clock)
    );
    optireduce_nic__nic__finisher__drain__side__0 side__4(
        .d(side__4__d),
        .q(side__4__q),
        .clock(side__4__clock)
    );
    optireduce_nic__nic__finisher__drain__side__0 side__5(
        .d(side__5__d),
        .q(side__5__q),
        .clock(side__5__clock)
    );
    optireduce_nic__nic__finisher__drain__block_beats reserved(
        .d(reserved__d),
        .q(reserved__q),
        .clock(reserved__clock)
    );
    optireduce_nic__nic__finisher__drain__side__0 pending(
        .d(pending__d),
        .q(pending__q),
        .clock(pending__clock)
    );
    optireduce_nic__nic__finisher__drain__side__0 coming(
        .d(coming__d),
        .q(coming__q),
        .clock(coming__clock)
    );
    optireduce_nic__nic__finisher__drain__side__0 taken(
        .d(taken__d),
        .q(taken__q),
        .clock(taken__clock)
    );
    optireduce_nic__nic__finisher__drain__come_slot come_slot(
        .d(come_slot__d),
        .q(come_slot__q),
        .clock(come_slot__clock)
    );
    optireduce_nic__nic__finisher__drain__come_ctx come_ctx(
        .d(come_ctx__d),
        .q(come_ctx__q),
        .clock(come_ctx__clock)
    );
    optireduce_nic__nic__finisher__drain__to_come to_come(
        .d(to_come__d),
        .q(to_come__q),
        .clock(to_come__clock)
    );
    optireduce_nic__nic__finisher__drain__to_come to_keep(
        .d(to_keep__d),
        .q(to_keep__q),
        .clock(to_keep__clock)
    );
    optireduce_nic__nic__finisher__drain__side__0 ordering(
        .d(ordering__d),
        .q(ordering__q),
        .clock(ordering__clock)
    );
    optireduce_nic__nic__finisher__drain__come_slot order_slot(
        .d(order_slot__d),
        .q(order_slot__q),
        .clock(order_slot__clock)
    );
    optireduce_nic__nic__finisher__drain__to_come to_order(
        .d(to_order__d),
        .q(to_order__q),
        .clock(to_order__clock)
    );
    optireduce_nic__nic__finisher__write__results__state order_address(
        .d(order_address__d),
        .q(order_address__q),
        .clock(order_address__clock)
    );
    optireduce_nic__nic__finisher__drain__block_beats unordered(
        .d(unordered__d),
        .q(unordered__q),
        .clock(unordered__clock)
    );
    // Update code
    assign state__clock = clock;
    assign cleared__clock = clock;
    assign slot__clock = clock;
    assign ctx__clock = clock;
    assign block_beats__clock = clock;
    assign to_read__clock = clock;
    assign block_index__clock = clock;
    assign beat_index__clock = clock;
    assign asked__clock = clock;
    assign stage_valid__clock = clock;
    assign stage_data__clock = clock;
    assign reserved__clock = clock;
    assign pending__clock = clock;
    assign coming__clock = clock;
    assign taken__clock = clock;
    assign come_slot__clock = clock;
    assign come_ctx__clock = clock;
    assign to_come__clock = clock;
    assign to_keep__clock = clock;
    assign ordering__clock = clock;
    assign order_slot__clock = clock;
    assign to_order__clock = clock;
    assign order_address__clock = clock;
    assign unordered__clock = clock;
    assign decoder__clock = clock;
    assign reciprocal__clock = clock;
    assign multiplier__clock = clock;
    assign inbox__clock = clock;
    assign c = ctx__q;
    assign out = come_ctx__q;
    assign running = state__q == DrainState__Run;
    assign inbox__clear = clear;
    assign active = coming__q || pending__q;
    assign ready = state__q == DrainState__Idle;
    assign idle = (state__q == DrainState__Idle) && decoder__idle && ~coming__q && ~ordering__q;
    always @(*) begin
        length = c[(64'h92)+:(15)];
        if (c[(64'h86)+:(1)]) begin
            length = c[(64'h5a)+:(15)];
        end
    end
    assign beats_log2 = c[(64'h8a)+:(4)] - 32'h4;
    assign one14 = ((32'h1) & 14'h3fff);
    assign beats_of_block = one14 << beats_log2;
    assign decoder__clear = clear && ~cleared__q;
    always @(*) begin
        decoder__start = 1'b0;
        case (state__q)
            DrainState__Begin: begin
                if (may_begin) begin
                    decoder__start = c[(64'h86)+:(1)];
                end
            end
            default: begin
            end
        endcase
    end
    always @(*) begin
        may_begin = decoder__idle && ~coming__q;
        if (c[(64'h86)+:(1)]) begin
            may_begin = decoder__start_ready;
        end
    end
    always @(*) begin
        begins = 1'b0;
        case (state__q)
            DrainState__Begin: begin
                if (may_begin) begin
                    begins = 1'b1;
                end
            end
            default: begin
            end
        endcase
    end
    assign read = (to_read__q == 32'h0) && ~asked__q && inbox__empty;
    assign come_ends = coming__q && taken__q && (to_come__q == 32'h0);
    assign order_ends = ordering__q && (to_order__q == 32'h0) && (~taken__q || come_ends);
    assign takes = coming__q && ~taken__q && (~ordering__q || order_ends);
    assign pass_on = (begins || pending__q) && ~coming__q;
    assign last_beat = beats_of_block - 32'h1;
    assign beat_next = beat_index__q + 32'h1;
    assign block_next = block_index__q + 32'h1;
    assign row = beat_index__q << c[(64'h8e)+:(4)];
    assign linear = c[(64'h92)+:(15)] - to_read__q;
    always @(*) begin
        place = linear[(32'h0)+:(14)];
        if (c[(64'h86)+:(1)]) begin
            place = row + ((block_index__q) & 14'h3fff);
        end
    end
    assign ask = running && (to_read__q != 32'h0) && (inbox__room >= 32'h3) && (room >= 32'h20);
    assign read_valid = ask;
    always @(*) begin
        read_address[(64'h0)+:(3)] = slot__q;
        read_address[(64'h3)+:(14)] = place;
    end
    assign to_read_next = to_read__q - 32'h1;
    assign present = word[(64'h200)+:(8)] == c[(64'hcd)+:(8)];
    always @(*) begin
        gathered[(64'h200)+:(1)] = present;
        gathered[(64'h0)+:(512)] = ((32'h0) & 512'hffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff);
        if (present) begin
            gathered[(64'h0)+:(512)] = word[(64'h0)+:(512)];
        end
    end
    assign inbox__push = asked__q;
    assign inbox__push_data = gathered;
    assign decoder__log2n = c[(64'h8a)+:(4)];
    assign decoder__decode = 1'b1;
    assign decoder__key = c[(64'h155)+:(64)];
    assign decoder__in_valid = ~inbox__empty && c[(64'h86)+:(1)] && running;
    assign decoder__in_data = inbox__pop_data[(64'h0)+:(512)];
    assign decoder__in_received = inbox__pop_data[(64'h200)+:(1)];
    assign passes = ~inbox__empty && ~c[(64'h86)+:(1)] && running;
    assign inbox__pop = passes || (decoder__in_valid && decoder__in_ready);
    assign spare = room - reserved__q;
    assign decoder__go = ~active || ((spare >= block_beats__q) && (taken__q || ~pending__q || ~coming__q));
    assign reciprocal__count = decoder__out_received;
    assign out_log2 = out[(64'h8a)+:(4)] - 32'h4;
    assign exponent = ((out_log2) & 32'hffffffff) << 32'h17;
    assign ratio = reciprocal__factor + exponent;
    assign multiplier__a = stage_data__q;
    always @(*) begin
        multiplier__factor = ((32'h3f800000) & 32'hffffffff);
        if (out[(64'h86)+:(1)]) begin
            multiplier__factor = ratio;
        end
    end
    assign side__0__clock = clock;
    assign side__1__clock = clock;
    assign side__2__clock = clock;
    assign side__3__clock = clock;
    assign side__4__clock = clock;
    assign side__5__clock = clock;
    assign comes = side__5__q && coming__q;
    assign keep = comes && (to_keep__q != 32'h0);
    assign push = keep;
    assign push_data = multiplier__product;
    assign to_come_next = to_come__q - 32'h1;
    assign to_keep_next = to_keep__q - 32'h1;
    always @(*) begin
        reserved_up = reserved__q;
        if (decoder__burst) begin
            reserved_up = reserved__q + block_beats__q;
        end
    end
    assign reserved_next = reserved_up - 32'h1;
    assign one = ((32'h1) & 8'hff);
    always @(*) begin
        drained = ((32'h0) & 8'hff);
        if (order_ends) begin
            drained = one << order_slot__q;
        end
    end
    assign page_beat = order_address__q[(32'h6)+:(6)];
    assign until_page = ((32'h40) & 7'h7f) - ((page_beat) & 7'h7f);
    always @(*) begin
        burst = until_page;
        if (to_order__q < ((until_page) & 15'h7fff)) begin
            burst = to_order__q[(32'h0)+:(7)];
        end
    end
    assign burst_bytes = ((burst) & 13'h1fff) << 32'h6;
    assign to_order_next = to_order__q - ((burst) & 15'h7fff);
    assign order_address_next = order_address__q + ((burst_bytes) & 64'hffffffffffffffff);
    assign order_valid = ordering__q && (to_order__q != 32'h0) && (unordered__q >= ((burst) & 16'hffff));
    always @(*) begin
        order[(64'h0)+:(64)] = order_address__q;
        order[(64'h40)+:(7)] = burst;
        order[(64'h47)+:(9)] = owner;
    end
    always @(*) begin
        owner[(64'h0)+:(3)] = order_slot__q;
        owner[(64'h3)+:(2)] = ((32'h0) & 2'h3);
        owner[(64'h5)+:(1)] = 1'b1;
        owner[(64'h6)+:(1)] = 1'b0;
        owner[(64'h7)+:(1)] = 1'b0;
        owner[(64'h8)+:(1)] = 1'b0;
    end
    assign ordered = order_valid && order_ready;
    always @(*) begin
        unordered_up = unordered__q;
        if (keep) begin
            unordered_up = unordered__q + 32'h1;
        end
    end
    assign unordered_next = unordered_up - ((burst) & 16'hffff);
    always @(*) begin
        state__d = state__q;
        cleared__d = cleared__q;
        slot__d = slot__q;
        ctx__d = ctx__q;
        block_beats__d = block_beats__q;
        to_read__d = to_read__q;
        block_index__d = block_index__q;
        beat_index__d = beat_index__q;
        asked__d = asked__q;
        stage_valid__d = stage_valid__q;
        stage_data__d = stage_data__q;
        reserved__d = reserved__q;
        pending__d = pending__q;
        coming__d = coming__q;
        taken__d = taken__q;
        come_slot__d = come_slot__q;
        come_ctx__d = come_ctx__q;
        to_come__d = to_come__q;
        to_keep__d = to_keep__q;
        ordering__d = ordering__q;
        order_slot__d = order_slot__q;
        to_order__d = to_order__q;
        order_address__d = order_address__q;
        unordered__d = unordered__q;
        cleared__d = clear;
        case (state__q)
            DrainState__Idle: begin
                if (start) begin
                    slot__d = start_slot;
                    ctx__d = start_context;
                    state__d = DrainState__Begin;
                end
            end
            DrainState__Begin: begin
                to_read__d = length;
                block_index__d = ((32'h0) & 11'h7ff);
                beat_index__d = ((32'h0) & 14'h3fff);
                if (may_begin) begin
                    block_beats__d = ((beats_of_block) & 16'hffff);
                    state__d = DrainState__Run;
                end
            end
            DrainState__Run: begin
                if (read && ~pending__q) begin
                    state__d = DrainState__Idle;
                end
            end
            default: begin
            end
        endcase
        pending__d = (begins || pending__q) && ~pass_on;
        coming__d = (coming__q && ~come_ends) || pass_on;
        taken__d = (taken__q && ~come_ends) || takes;
        asked__d = ask && read_ready;
        if (ask && read_ready) begin
            to_read__d = to_read_next;
            beat_index__d = beat_next;
            if (beat_index__q == last_beat) begin
                beat_index__d = ((32'h0) & 14'h3fff);
                block_index__d = block_next;
            end
        end
        stage_valid__d = passes || (decoder__out_valid && active);
        stage_data__d = decoder__out_data;
        if (passes) begin
            stage_data__d = inbox__pop_data[(64'h0)+:(512)];
        end
        side__1__d = side__0__q;
        side__2__d = side__1__q;
        side__3__d = side__2__q;
        side__4__d = side__3__q;
        side__5__d = side__4__q;
        side__0__d = stage_valid__q;
        if (active) begin
            reserved__d = reserved_up;
        end
        if (comes) begin
            to_come__d = to_come_next;
            if (out[(64'h86)+:(1)]) begin
                reserved__d = reserved_next;
            end
        end
        if (keep) begin
            to_keep__d = to_keep_next;
        end
        if (pass_on) begin
            come_slot__d = slot__q;
            come_ctx__d = c;
            to_come__d = length;
            to_keep__d = c[(64'h92)+:(15)];
        end
        ordering__d = (ordering__q && ~order_ends) || takes;
        unordered__d = unordered_up;
        if (ordered) begin
            unordered__d = unordered_next;
            to_order__d = to_order_next;
            order_address__d = order_address_next;
        end
        if (takes) begin
            order_slot__d = come_slot__q;
            to_order__d = out[(64'h92)+:(15)];
            order_address__d = out[(64'hd5)+:(64)];
        end
        if (clear) begin
            state__d = DrainState__Idle;
            asked__d = 1'b0;
            pending__d = 1'b0;
            coming__d = 1'b0;
            taken__d = 1'b0;
            ordering__d = 1'b0;
            reserved__d = ((32'h0) & 16'hffff);
            unordered__d = ((32'h0) & 16'hffff);
        end
    end
    wire unused__inbox__full = &{inbox__full};
    wire unused__out = &{out[404:277], out[212:161], out[145:142], out[137:135], out[133:0]};
    wire unused__linear = &{linear[14]};
endmodule

module optireduce_nic__nic__finisher__msix(clock,clear,written,valid,number,ready);
    // Module arguments
    input wire  clock;
    input wire  clear;
    input wire  [3:0] written;
    output wire  valid;
    output wire  [1:0] number;
    input wire  ready;
    // Stub signals
    reg  [3:0] pending__d;
    wire  [3:0] pending__q;
    wire  pending__clock;
    reg  offered__d;
    wire  offered__q;
    wire  offered__clock;
    reg  [1:0] at__d;
    wire  [1:0] at__q;
    wire  at__clock;
    // Local signals
    reg  [3:0] first;
    reg  [3:0] left;
    // Sub module instances
    optireduce_nic__nic__finisher__msix__pending pending(
        .d(pending__d),
        .q(pending__q),
        .clock(pending__clock)
    );
    optireduce_nic__nic__finisher__drain__side__0 offered(
        .d(offered__d),
        .q(offered__q),
        .clock(offered__clock)
    );
    optireduce_nic__nic__finisher__msix__at at(
        .d(at__d),
        .q(at__q),
        .clock(at__clock)
    );
    // Update code
    assign pending__clock = clock;
    assign offered__clock = clock;
    assign at__clock = clock;
    assign valid = offered__q;
    assign number = at__q;
    always @(*) begin
        left = pending__q;
        if (~offered__q || ready) begin
            left = pending__q & (first ^ 32'hf);
        end
    end
    always @(*) begin
        if (~offered__q || ready) begin
            first = ((32'h8) & 4'hf);
            if (pending__q[32'h0]) begin
                first = ((32'h1) & 4'hf);
            end
            else if (pending__q[32'h1]) begin
                first = ((32'h2) & 4'hf);
            end
            else if (pending__q[32'h2]) begin
                first = ((32'h4) & 4'hf);
            end
        end
        else begin
            first = ((32'h0) & 4'hf);
        end
    end
    always @(*) begin
        pending__d = pending__q;
        offered__d = offered__q;
        at__d = at__q;
        if (~offered__q || ready) begin
            offered__d = pending__q != 32'h0;
            at__d = ((32'h3) & 2'h3);
            if (pending__q[32'h0]) begin
                at__d = ((32'h0) & 2'h3);
            end
            else if (pending__q[32'h1]) begin
                at__d = ((32'h1) & 2'h3);
            end
            else if (pending__q[32'h2]) begin
                at__d = ((32'h2) & 2'h3);
            end
        end
        pending__d = left | written;
        if (clear) begin
            pending__d = ((32'h0) & 4'hf);
            offered__d = 1'b0;
        end
    end
endmodule

module optireduce_nic__nic__finisher__shift(data,word,shifted);
    // Module arguments
    input wire  [511:0] data;
    input wire  [15:0] word;
    output reg  [511:0] shifted;
    // Update code (custom)
    always @(*) shifted = {word, data[511:16]};
    wire unused = &data[15:0];
endmodule

module optireduce_nic__nic__finisher__state(d,q,clock);
    // Module arguments
    input wire  [2:0] d;
    output reg  [2:0] q;
    input wire  clock;
    // Enums
    // Update code (custom)
    initial q = 64'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__nic__finisher__write(clock,clear,reset,push,push_data,room,order_valid,order,order_ready,note_push,note_data,note_valid,note,note_ready,done,owner,failed,aw_valid,aw_address,aw_beats,aw_ready,w_valid,w_data,w_last,w_ready,b_valid,b_error,busy);
    // Module arguments
    input wire  clock;
    input wire  clear;
    input wire  reset;
    input wire  push;
    input wire  [511:0] push_data;
    output wire  [15:0] room;
    input wire  order_valid;
    input wire  [79:0] order;
    output wire  order_ready;
    input wire  note_push;
    input wire  [511:0] note_data;
    input wire  note_valid;
    input wire  [79:0] note;
    output wire  note_ready;
    output wire  done;
    output wire  [8:0] owner;
    output wire  failed;
    output wire  aw_valid;
    output wire  [63:0] aw_address;
    output wire  [6:0] aw_beats;
    input wire  aw_ready;
    output wire  w_valid;
    output reg  [511:0] w_data;
    output wire  w_last;
    input wire  w_ready;
    input wire  b_valid;
    input wire  b_error;
    output wire  busy;
    // Stub signals
    wire  results__clock;
    wire  results__clear;
    wire  results__push;
    wire  [511:0] results__push_data;
    wire  results__pop;
    wire  [511:0] results__pop_data;
    wire  results__empty;
    wire  [15:0] results__room;
    wire  notes__clock;
    wire  notes__clear;
    wire  notes__push;
    wire  [511:0] notes__push_data;
    wire  notes__full;
    wire  notes__pop;
    wire  [511:0] notes__pop_data;
    wire  notes__empty;
    wire  [15:0] notes__room;
    wire  owners__clock;
    wire  owners__clear;
    wire  owners__push;
    wire  [8:0] owners__push_data;
    wire  owners__full;
    wire  owners__pop;
    wire  [8:0] owners__pop_data;
    wire  owners__empty;
    wire  [15:0] owners__room;
    reg  [71:0] offer__d;
    wire  [71:0] offer__q;
    wire  offer__clock;
    reg  [6:0] left__d;
    wire  [6:0] left__q;
    wire  left__clock;
    reg  of_note__d;
    wire  of_note__q;
    wire  of_note__clock;
    // Local signals
    wire  [6:0] left_next;
    reg  here;
    wire  taken;
    wire  free;
    wire  load;
    reg  [79:0] chosen;
    wire  idle;
    // Sub module instances
    optireduce_nic__nic__finisher__write__results results(
        .clock(results__clock),
        .clear(results__clear),
        .push(results__push),
        .push_data(results__push_data),
        .pop(results__pop),
        .pop_data(results__pop_data),
        .empty(results__empty),
        .room(results__room)
    );
    optireduce_nic__nic__finisher__write__notes notes(
        .clock(notes__clock),
        .clear(notes__clear),
        .push(notes__push),
        .push_data(notes__push_data),
        .full(notes__full),
        .pop(notes__pop),
        .pop_data(notes__pop_data),
        .empty(notes__empty),
        .room(notes__room)
    );
    optireduce_nic__nic__finisher__write__owners owners(
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
    optireduce_nic__nic__finisher__drain__decoder__to_fixed__tags offer(
        .d(offer__d),
        .q(offer__q),
        .clock(offer__clock)
    );
    optireduce_nic__nic__finisher__write__left left(
        .d(left__d),
        .q(left__q),
        .clock(left__clock)
    );
    optireduce_nic__nic__finisher__drain__side__0 of_note(
        .d(of_note__d),
        .q(of_note__q),
        .clock(of_note__clock)
    );
    // Update code
    assign offer__clock = clock;
    assign left__clock = clock;
    assign of_note__clock = clock;
    assign results__clock = clock;
    assign notes__clock = clock;
    assign owners__clock = clock;
    assign idle = left__q == 32'h0;
    assign results__clear = (clear && idle) || reset;
    assign notes__clear = (clear && idle) || reset;
    assign owners__clear = reset;
    assign results__push = push && ~clear;
    assign results__push_data = push_data;
    assign notes__push = note_push && ~clear;
    assign notes__push_data = note_data;
    assign room = results__room;
    always @(*) begin
        here = ~results__empty;
        if (of_note__q) begin
            here = ~notes__empty;
        end
    end
    always @(*) begin
        w_data = results__pop_data;
        if (of_note__q) begin
            w_data = notes__pop_data;
        end
    end
    assign w_valid = here && ~idle;
    assign w_last = left__q == 32'h1;
    assign taken = w_valid && w_ready;
    assign results__pop = taken && ~of_note__q;
    assign notes__pop = taken && of_note__q;
    assign left_next = left__q - 32'h1;
    assign free = (idle || (taken && w_last)) && (~offer__q[(64'h0)+:(1)] || aw_ready) && ~owners__full && ~clear;
    assign note_ready = free;
    assign order_ready = free && ~note_valid;
    assign load = free && (note_valid || order_valid);
    always @(*) begin
        chosen = order;
        if (note_valid) begin
            chosen = note;
        end
    end
    assign owners__push = load;
    assign owners__push_data = chosen[(64'h47)+:(9)];
    assign aw_valid = offer__q[(64'h0)+:(1)];
    assign aw_address = offer__q[(64'h1)+:(64)];
    assign aw_beats = offer__q[(64'h41)+:(7)];
    assign owners__pop = b_valid;
    assign owner = owners__pop_data;
    assign done = b_valid && ~owners__empty && ~clear;
    assign failed = b_error;
    assign busy = offer__q[(64'h0)+:(1)] || ~idle || ~owners__empty;
    always @(*) begin
        offer__d = offer__q;
        left__d = left__q;
        of_note__d = of_note__q;
        if (taken) begin
            left__d = left_next;
        end
        if (aw_ready) begin
            offer__d[(64'h0)+:(1)] = 1'b0;
        end
        if (load) begin
            offer__d[(64'h0)+:(1)] = 1'b1;
            offer__d[(64'h1)+:(64)] = chosen[(64'h0)+:(64)];
            offer__d[(64'h41)+:(7)] = chosen[(64'h40)+:(7)];
            left__d = chosen[(64'h40)+:(7)];
            of_note__d = note_valid;
        end
        if (reset) begin
            offer__d[(64'h0)+:(1)] = 1'b0;
            left__d = ((32'h0) & 7'h7f);
        end
    end
    wire unused__notes__full = &{notes__full};
    wire unused__notes__room = &{notes__room};
    wire unused__owners__room = &{owners__room};
endmodule

module optireduce_nic__nic__gather__arrivals(clock,accept,address,epoch,scrub,read_address,read_epoch,count);
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
    wire  counting__clock;
    wire  [8:0] counting__read_address;
    wire  [23:0] counting__read_data;
    wire  [8:0] counting__write_address;
    reg  [23:0] counting__write_data;
    wire  counting__write_enable;
    wire  reading__clock;
    wire  [8:0] reading__read_address;
    wire  [23:0] reading__read_data;
    wire  [8:0] reading__write_address;
    reg  [23:0] reading__write_data;
    wire  reading__write_enable;
    reg  [17:0] heard__d;
    wire  [17:0] heard__q;
    wire  heard__clock;
    reg  [36:0] judged__d;
    wire  [36:0] judged__q;
    wire  judged__clock;
    reg  [36:0] last__d;
    wire  [36:0] last__q;
    wire  last__clock;
    reg  [15:0] last_count__d;
    wire  [15:0] last_count__q;
    wire  last_count__clock;
    reg  [7:0] asked_epoch__d;
    wire  [7:0] asked_epoch__q;
    wire  asked_epoch__clock;
    // Local signals
    reg  [15:0] base;
    wire  [15:0] sum;
    // Sub module instances
    optireduce_nic__nic__gather__arrivals__counting counting(
        .clock(counting__clock),
        .read_address(counting__read_address),
        .read_data(counting__read_data),
        .write_address(counting__write_address),
        .write_data(counting__write_data),
        .write_enable(counting__write_enable)
    );
    optireduce_nic__nic__gather__arrivals__counting reading(
        .clock(reading__clock),
        .read_address(reading__read_address),
        .read_data(reading__read_data),
        .write_address(reading__write_address),
        .write_data(reading__write_data),
        .write_enable(reading__write_enable)
    );
    optireduce_nic__nic__gather__arrivals__heard heard(
        .d(heard__d),
        .q(heard__q),
        .clock(heard__clock)
    );
    optireduce_nic__nic__gather__arrivals__judged judged(
        .d(judged__d),
        .q(judged__q),
        .clock(judged__clock)
    );
    optireduce_nic__nic__gather__arrivals__judged last(
        .d(last__d),
        .q(last__q),
        .clock(last__clock)
    );
    optireduce_nic__nic__finisher__drain__block_beats last_count(
        .d(last_count__d),
        .q(last_count__q),
        .clock(last_count__clock)
    );
    optireduce_nic__nic__gather__arrivals__asked_epoch asked_epoch(
        .d(asked_epoch__d),
        .q(asked_epoch__q),
        .clock(asked_epoch__clock)
    );
    // Update code
    assign heard__clock = clock;
    assign judged__clock = clock;
    assign last__clock = clock;
    assign last_count__clock = clock;
    assign asked_epoch__clock = clock;
    assign counting__clock = clock;
    assign reading__clock = clock;
    assign counting__read_address = address;
    always @(*) begin
        base = ((32'h0) & 16'hffff);
        if (judged__q[(64'h23)+:(1)]) begin
            if (judged__q[(64'h24)+:(1)]) begin
                base = last_count__q;
            end
        end
        else if (judged__q[(64'h22)+:(1)]) begin
            base = judged__q[(64'h12)+:(16)];
        end
    end
    assign sum = base + 32'h1;
    assign counting__write_enable = judged__q[(64'h0)+:(1)];
    assign counting__write_address = judged__q[(64'h1)+:(9)];
    always @(*) begin
        counting__write_data[(64'h0)+:(16)] = sum;
        counting__write_data[(64'h10)+:(8)] = judged__q[(64'ha)+:(8)];
    end
    assign reading__write_enable = judged__q[(64'h0)+:(1)];
    assign reading__write_address = judged__q[(64'h1)+:(9)];
    always @(*) begin
        reading__write_data[(64'h0)+:(16)] = sum;
        reading__write_data[(64'h10)+:(8)] = judged__q[(64'ha)+:(8)];
    end
    assign reading__read_address = read_address;
    always @(*) begin
        count = ((32'h0) & 16'hffff);
        if (reading__read_data[(64'h10)+:(8)] == asked_epoch__q) begin
            count = reading__read_data[(64'h0)+:(16)];
        end
    end
    always @(*) begin
        heard__d = heard__q;
        judged__d = judged__q;
        last__d = last__q;
        last_count__d = last_count__q;
        asked_epoch__d = asked_epoch__q;
        heard__d[(64'h0)+:(1)] = accept || scrub;
        heard__d[(64'h1)+:(9)] = address;
        heard__d[(64'ha)+:(8)] = epoch;
        if (scrub) begin
            heard__d[(64'ha)+:(8)] = ((32'h0) & 8'hff);
        end
        judged__d[(64'h0)+:(1)] = heard__q[(64'h0)+:(1)];
        judged__d[(64'h1)+:(9)] = heard__q[(64'h1)+:(9)];
        judged__d[(64'ha)+:(8)] = heard__q[(64'ha)+:(8)];
        judged__d[(64'h12)+:(16)] = counting__read_data[(64'h0)+:(16)];
        judged__d[(64'h22)+:(1)] = counting__read_data[(64'h10)+:(8)] == heard__q[(64'ha)+:(8)];
        if (last__q[(64'h0)+:(1)] && (last__q[(64'h1)+:(9)] == heard__q[(64'h1)+:(9)])) begin
            judged__d[(64'h12)+:(16)] = last_count__q;
            judged__d[(64'h22)+:(1)] = last__q[(64'ha)+:(8)] == heard__q[(64'ha)+:(8)];
        end
        judged__d[(64'h23)+:(1)] = judged__q[(64'h0)+:(1)] && (judged__q[(64'h1)+:(9)] == heard__q[(64'h1)+:(9)]);
        judged__d[(64'h24)+:(1)] = judged__q[(64'ha)+:(8)] == heard__q[(64'ha)+:(8)];
        last__d = judged__q;
        last_count__d = sum;
        asked_epoch__d = read_epoch;
    end
endmodule

module optireduce_nic__nic__gather__judged(d,q,clock);
    // Module arguments
    input wire  [556:0] d;
    output reg  [556:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 557'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__nic__gather__ram(clock,read_address,read_data,write_address,write_data,write_enable);
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
    wire unused = &{read_address[16:13], write_address[16:13]};
endmodule

module optireduce_nic__nic__gather__tags(clock,read_address,read_data,write_address,write_data,write_enable);
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
    wire unused = &{read_address[16:13], write_address[16:13]};
endmodule

module optireduce_nic__nic__guard__held(d,q,clock);
    // Module arguments
    input wire  [514:0] d;
    output reg  [514:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 515'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__nic__lookup__fifth(d,q,clock);
    // Module arguments
    input wire  [513:0] d;
    output reg  [513:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 514'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__nic__lookup__found(d,q,clock);
    // Module arguments
    input wire  [39:0] d;
    output reg  [39:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 40'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__nic__lookup__known(d,q,clock);
    // Module arguments
    input wire  [106:0] d;
    output reg  [106:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 107'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__nic__lookup__placed(d,q,clock);
    // Module arguments
    input wire  [126:0] d;
    output reg  [126:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 127'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__nic__lookup__ranged(d,q,clock);
    // Module arguments
    input wire  [97:0] d;
    output reg  [97:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 98'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__nic__lookup__verdict(d,q,clock);
    // Module arguments
    input wire  [50:0] d;
    output reg  [50:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 51'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__nic__lookup__widen(data,bf16,high,beat);
    // Module arguments
    input wire  [511:0] data;
    input wire  bf16;
    input wire  high;
    output reg  [511:0] beat;
    // Update code (custom)
    always @(*) beat = bf16 ? (high ? {data[496 +: 16], 16'd0, data[480 +: 16], 16'd0, data[464 +: 16], 16'd0, data[448 +: 16], 16'd0, data[432 +: 16], 16'd0, data[416 +: 16], 16'd0, data[400 +: 16], 16'd0, data[384 +: 16], 16'd0, data[368 +: 16], 16'd0, data[352 +: 16], 16'd0, data[336 +: 16], 16'd0, data[320 +: 16], 16'd0, data[304 +: 16], 16'd0, data[288 +: 16], 16'd0, data[272 +: 16], 16'd0, data[256 +: 16], 16'd0} : {data[240 +: 16], 16'd0, data[224 +: 16], 16'd0, data[208 +: 16], 16'd0, data[192 +: 16], 16'd0, data[176 +: 16], 16'd0, data[160 +: 16], 16'd0, data[144 +: 16], 16'd0, data[128 +: 16], 16'd0, data[112 +: 16], 16'd0, data[96 +: 16], 16'd0, data[80 +: 16], 16'd0, data[64 +: 16], 16'd0, data[48 +: 16], 16'd0, data[32 +: 16], 16'd0, data[16 +: 16], 16'd0, data[0 +: 16], 16'd0}) : data;
endmodule

module optireduce_nic__nic__parser__fields(d,q,clock);
    // Module arguments
    input wire  [77:0] d;
    output reg  [77:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 78'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__nic__parser__raw(d,q,clock);
    // Module arguments
    input wire  [524:0] d;
    output reg  [524:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 525'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__nic__planner__adverts(clock,read_address,read_data,write_address,write_data,write_enable);
    // Module arguments
    input wire  clock;
    input wire  [2:0] read_address;
    output reg  [19:0] read_data;
    input wire  [2:0] write_address;
    input wire  [19:0] write_data;
    input wire  write_enable;
    // Update code (custom)
    (* ram_style = "distributed" *) reg [19:0] mem [0:7];
    `ifndef SYNTHESIS
    integer i;
    initial for (i = 0; i <= 7; i = i + 1) mem[i] = 0;
    `endif
    always @(*) read_data = mem[read_address];
    always @(posedge clock) if (write_enable) mem[write_address] <= write_data;
endmodule

module optireduce_nic__nic__planner__at(d,q,clock);
    // Module arguments
    input wire  [20:0] d;
    output reg  [20:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 21'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__nic__planner__broadcasts(clock,clear,push,push_data,full,pop,pop_data,empty,room);
    // Module arguments
    input wire  clock;
    input wire  clear;
    input wire  push;
    input wire  [4:0] push_data;
    output wire  full;
    input wire  pop;
    output wire  [4:0] pop_data;
    output wire  empty;
    output wire  [15:0] room;
    // Constant declarations
    localparam  depth = 16'h8;
    // Stub signals
    wire  memory__clock;
    wire  [2:0] memory__read_address;
    wire  [4:0] memory__read_data;
    wire  [2:0] memory__write_address;
    wire  [4:0] memory__write_data;
    wire  memory__write_enable;
    reg  [47:0] state__d;
    wire  [47:0] state__q;
    wire  state__clock;
    // Local signals
    wire  pushed;
    wire  popped;
    wire  [15:0] head_next;
    wire  [15:0] tail_next;
    wire  [15:0] used_more;
    wire  [15:0] used_less;
    // Sub module instances
    optireduce_nic__nic__planner__broadcasts__memory memory(
        .clock(memory__clock),
        .read_address(memory__read_address),
        .read_data(memory__read_data),
        .write_address(memory__write_address),
        .write_data(memory__write_data),
        .write_enable(memory__write_enable)
    );
    optireduce_nic__nic__finisher__drain__inbox__state state(
        .d(state__d),
        .q(state__q),
        .clock(state__clock)
    );
    // Update code
    assign state__clock = clock;
    assign memory__clock = clock;
    assign full = state__q[(64'h20)+:(16)] == depth;
    assign empty = state__q[(64'h20)+:(16)] == 32'h0;
    assign room = depth - state__q[(64'h20)+:(16)];
    assign pushed = push && ~full;
    assign popped = pop && ~empty;
    assign memory__write_address = ((state__q[(64'h10)+:(16)]) & 3'h7);
    assign memory__write_data = push_data;
    assign memory__write_enable = pushed;
    assign memory__read_address = ((state__q[(64'h0)+:(16)]) & 3'h7);
    assign pop_data = memory__read_data;
    assign head_next = state__q[(64'h0)+:(16)] + 32'h1;
    assign tail_next = state__q[(64'h10)+:(16)] + 32'h1;
    assign used_more = state__q[(64'h20)+:(16)] + 32'h1;
    assign used_less = state__q[(64'h20)+:(16)] - 32'h1;
    always @(*) begin
        state__d = state__q;
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

module optireduce_nic__nic__planner__contributes(clock,clear,push,push_data,full,pop,pop_data,empty,room);
    // Module arguments
    input wire  clock;
    input wire  clear;
    input wire  push;
    input wire  [4:0] push_data;
    output wire  full;
    input wire  pop;
    output wire  [4:0] pop_data;
    output wire  empty;
    output wire  [15:0] room;
    // Constant declarations
    localparam  depth = 16'h2;
    // Stub signals
    wire  memory__clock;
    wire  memory__read_address;
    wire  [4:0] memory__read_data;
    wire  memory__write_address;
    wire  [4:0] memory__write_data;
    wire  memory__write_enable;
    reg  [47:0] state__d;
    wire  [47:0] state__q;
    wire  state__clock;
    // Local signals
    wire  pushed;
    wire  popped;
    wire  [15:0] head_next;
    wire  [15:0] tail_next;
    wire  [15:0] used_more;
    wire  [15:0] used_less;
    // Sub module instances
    optireduce_nic__nic__planner__contributes__memory memory(
        .clock(memory__clock),
        .read_address(memory__read_address),
        .read_data(memory__read_data),
        .write_address(memory__write_address),
        .write_data(memory__write_data),
        .write_enable(memory__write_enable)
    );
    optireduce_nic__nic__finisher__drain__inbox__state state(
        .d(state__d),
        .q(state__q),
        .clock(state__clock)
    );
    // Update code
    assign state__clock = clock;
    assign memory__clock = clock;
    assign full = state__q[(64'h20)+:(16)] == depth;
    assign empty = state__q[(64'h20)+:(16)] == 32'h0;
    assign room = depth - state__q[(64'h20)+:(16)];
    assign pushed = push && ~full;
    assign popped = pop && ~empty;
    assign memory__write_address = ((state__q[(64'h10)+:(16)]) & 1'h1);
    assign memory__write_data = push_data;
    assign memory__write_enable = pushed;
    assign memory__read_address = ((state__q[(64'h0)+:(16)]) & 1'h1);
    assign pop_data = memory__read_data;
    assign head_next = state__q[(64'h0)+:(16)] + 32'h1;
    assign tail_next = state__q[(64'h10)+:(16)] + 32'h1;
    assign used_more = state__q[(64'h20)+:(16)] + 32'h1;
    assign used_less = state__q[(64'h20)+:(16)] - 32'h1;
    always @(*) begin
        state__d = state__q;
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

module optireduce_nic__nic__planner__pacer(clock,clear,job,now_ns,peer_write,peer_word,peer_data,peer,paced,ask,beats,answer,granted);
    // Module arguments
    input wire  clock;
    input wire  clear;
    input wire  [199:0] job;
    input wire  [47:0] now_ns;
    input wire  peer_write;
    input wire  [7:0] peer_word;
    input wire  [31:0] peer_data;
    input wire  [5:0] peer;
    output wire  paced;
    input wire  ask;
    input wire  [7:0] beats;
    output reg  answer;
    output reg  granted;
    // Enums
    localparam PaceState__Look = 0;
    localparam PaceState__Gain = 1;
    localparam PaceState__Drain = 2;
    localparam PaceState__Judge = 3;
    // Stub signals
    wire  rates__clock;
    wire  [5:0] rates__read_address;
    wire  [15:0] rates__read_data;
    wire  [5:0] rates__write_address;
    wire  [15:0] rates__write_data;
    wire  rates__write_enable;
    wire  buckets__clock;
    wire  [5:0] buckets__read_address;
    wire  [73:0] buckets__read_data;
    wire  [5:0] buckets__write_address;
    reg  [73:0] buckets__write_data;
    wire  buckets__write_enable;
    reg  [1:0] state__d;
    wire  [1:0] state__q;
    wire  state__clock;
    reg  [47:0] seen_ns__d;
    wire  [47:0] seen_ns__q;
    wire  seen_ns__clock;
    reg  [23:0] elapsed_ns__d;
    wire  [23:0] elapsed_ns__q;
    wire  elapsed_ns__clock;
    reg  [25:0] debt__d;
    wire  [25:0] debt__q;
    wire  debt__clock;
    reg  [47:0] gained__d;
    wire  [47:0] gained__q;
    wire  gained__clock;
    reg  [25:0] need__d;
    wire  [25:0] need__q;
    wire  need__clock;
    reg  [25:0] depth__d;
    wire  [25:0] depth__q;
    wire  depth__clock;
    reg  [15:0] rate_then__d;
    wire  [15:0] rate_then__q;
    wire  rate_then__clock;
    // Local signals
    wire  [15:0] rate;
    wire  [73:0] bucket;
    wire  [47:0] since_ns;
    wire  [25:0] frame;
    wire  [25:0] largest;
    wire  [25:0] wide;
    wire  [25:0] wide_most;
    wire  [47:0] product;
    reg  [25:0] left;
    wire  [25:0] owed;
    // Sub module instances
    optireduce_nic__nic__planner__pacer__rates rates(
        .clock(rates__clock),
        .read_address(rates__read_address),
        .read_data(rates__read_data),
        .write_address(rates__write_address),
        .write_data(rates__write_data),
        .write_enable(rates__write_enable)
    );
    optireduce_nic__nic__planner__pacer__buckets buckets(
        .clock(buckets__clock),
        .read_address(buckets__read_address),
        .read_data(buckets__read_data),
        .write_address(buckets__write_address),
        .write_data(buckets__write_data),
        .write_enable(buckets__write_enable)
    );
    optireduce_nic__nic__finisher__drain__state state(
        .d(state__d),
        .q(state__q),
        .clock(state__clock)
    );
    optireduce_nic__nic__finisher__drain__inbox__state seen_ns(
        .d(seen_ns__d),
        .q(seen_ns__q),
        .clock(seen_ns__clock)
    );
    optireduce_nic__nic__planner__pacer__elapsed_ns elapsed_ns(
        .d(elapsed_ns__d),
        .q(elapsed_ns__q),
        .clock(elapsed_ns__clock)
    );
    optireduce_nic__nic__planner__pacer__debt debt(
        .d(debt__d),
        .q(debt__q),
        .clock(debt__clock)
    );
    optireduce_nic__nic__finisher__drain__inbox__state gained(
        .d(gained__d),
        .q(gained__q),
        .clock(gained__clock)
    );
    optireduce_nic__nic__planner__pacer__debt need(
        .d(need__d),
        .q(need__q),
        .clock(need__clock)
    );
    optireduce_nic__nic__planner__pacer__debt depth(
        .d(depth__d),
        .q(depth__q),
        .clock(depth__clock)
    );
    optireduce_nic__nic__finisher__drain__block_beats rate_then(
        .d(rate_then__d),
        .q(rate_then__q),
        .clock(rate_then__clock)
    );
    // Update code
    assign state__clock = clock;
    assign seen_ns__clock = clock;
    assign elapsed_ns__clock = clock;
    assign rate_then__clock = clock;
    assign debt__clock = clock;
    assign gained__clock = clock;
    assign need__clock = clock;
    assign depth__clock = clock;
    assign rates__clock = clock;
    assign rates__write_enable = peer_write && (peer_word[(32'h0)+:(2)] == 32'h3);
    assign rates__write_address = peer_word[(32'h2)+:(6)];
    assign rates__write_data = peer_data[(32'h0)+:(16)];
    assign rates__read_address = peer;
    assign rate = rates__read_data;
    assign paced = rate != 32'h0;
    assign buckets__clock = clock;
    assign buckets__read_address = peer;
    assign bucket = buckets__read_data;
    assign wide = ((beats) & 26'h3ffffff);
    assign frame = ((32'h157c0) & 26'h3ffffff) + (wide << 32'h10) - (wide << 32'ha) - (wide << 32'h9);
    assign wide_most = ((job[(64'h4d)+:(8)]) & 26'h3ffffff);
    assign largest = ((32'h157c0) & 26'h3ffffff) + (wide_most << 32'h10) - (wide_most << 32'ha) - (wide_most << 32'h9);
    assign since_ns = now_ns - bucket[(64'h1a)+:(48)];
    assign product = elapsed_ns__q * ((rate_then__q) & 24'hffffff);
    always @(*) begin
        left = debt__q - gained__q[(32'h0)+:(26)];
        if (gained__q >= ((debt__q) & 48'hffffffffffff)) begin
            left = ((32'h0) & 26'h3ffffff);
        end
    end
    assign owed = debt__q + need__q;
    always @(*) begin
        answer = 1'b0;
        case (state__q)
            PaceState__Judge: begin
                answer = 1'b1;
            end
            default: begin
            end
        endcase
    end
    always @(*) begin
        granted = 1'b0;
        case (state__q)
            PaceState__Judge: begin
                granted = owed <= depth__q;
            end
            default: begin
            end
        endcase
    end
    assign buckets__write_enable = granted;
    assign buckets__write_address = peer;
    always @(*) begin
        buckets__write_data[(64'h0)+:(26)] = owed;
        buckets__write_data[(64'h1a)+:(48)] = seen_ns__q;
    end
    always @(*) begin
        state__d = state__q;
        seen_ns__d = seen_ns__q;
        elapsed_ns__d = elapsed_ns__q;
        rate_then__d = rate_then__q;
        debt__d = debt__q;
        gained__d = gained__q;
        need__d = need__q;
        depth__d = depth__q;
        case (state__q)
            PaceState__Look: begin
                seen_ns__d = now_ns;
                elapsed_ns__d = since_ns[(32'h0)+:(24)];
                if (since_ns[(32'h18)+:(24)] != 32'h0) begin
                    elapsed_ns__d = ((32'hffffff) & 24'hffffff);
                end
                rate_then__d = rate;
                debt__d = bucket[(64'h0)+:(26)];
                depth__d = largest + (((rate) & 26'h3ffffff) << 32'h9);
                if (ask) begin
                    state__d = PaceState__Gain;
                end
            end
            PaceState__Gain: begin
                gained__d = product;
                need__d = frame;
                if (debt__q > depth__q) begin
                    debt__d = depth__q;
                end
                state__d = PaceState__Drain;
            end
            PaceState__Drain: begin
                debt__d = left;
                state__d = PaceState__Judge;
            end
            PaceState__Judge: begin
                state__d = PaceState__Look;
            end
            default: begin
            end
        endcase
        if (clear) begin
            state__d = PaceState__Look;
        end
    end
    wire unused__job = &{job[199:85], job[76:0]};
    wire unused__peer_data = &{peer_data[31:16]};
endmodule

module optireduce_nic__nic__planner__packet_beats(d,q,clock);
    // Module arguments
    input wire  [8:0] d;
    output reg  [8:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 9'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__nic__planner__shares(clock,read_address,read_data,write_address,write_data,write_enable);
    // Module arguments
    input wire  clock;
    input wire  [4:0] read_address;
    output reg  [35:0] read_data;
    input wire  [4:0] write_address;
    input wire  [35:0] write_data;
    input wire  write_enable;
    // Update code (custom)
    (* ram_style = "distributed" *) reg [35:0] mem [0:31];
    `ifndef SYNTHESIS
    integer i;
    initial for (i = 0; i <= 31; i = i + 1) mem[i] = 0;
    `endif
    always @(*) read_data = mem[read_address];
    always @(posedge clock) if (write_enable) mem[write_address] <= write_data;
endmodule

module optireduce_nic__nic__planner__state(d,q,clock);
    // Module arguments
    input wire  [3:0] d;
    output reg  [3:0] q;
    input wire  clock;
    // Enums
    // Update code (custom)
    initial q = 64'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__nic__reduce__adder(clock,a,b,sum);
    // Module arguments
    input wire  clock;
    input wire  [511:0] a;
    input wire  [511:0] b;
    output wire  [511:0] sum;
    // Stub signals
    wire  lane__0__clock;
    wire  [31:0] lane__0__a;
    wire  [31:0] lane__0__b;
    wire  [31:0] lane__0__sum;
    wire  lane__1__clock;
    wire  [31:0] lane__1__a;
    wire  [31:0] lane__1__b;
    wire  [31:0] lane__1__sum;
    wire  lane__2__clock;
    wire  [31:0] lane__2__a;
    wire  [31:0] lane__2__b;
    wire  [31:0] lane__2__sum;
    wire  lane__3__clock;
    wire  [31:0] lane__3__a;
    wire  [31:0] lane__3__b;
    wire  [31:0] lane__3__sum;
    wire  lane__4__clock;
    wire  [31:0] lane__4__a;
    wire  [31:0] lane__4__b;
    wire  [31:0] lane__4__sum;
    wire  lane__5__clock;
    wire  [31:0] lane__5__a;
    wire  [31:0] lane__5__b;
    wire  [31:0] lane__5__sum;
    wire  lane__6__clock;
    wire  [31:0] lane__6__a;
    wire  [31:0] lane__6__b;
    wire  [31:0] lane__6__sum;
    wire  lane__7__clock;
    wire  [31:0] lane__7__a;
    wire  [31:0] lane__7__b;
    wire  [31:0] lane__7__sum;
    wire  lane__8__clock;
    wire  [31:0] lane__8__a;
    wire  [31:0] lane__8__b;
    wire  [31:0] lane__8__sum;
    wire  lane__9__clock;
    wire  [31:0] lane__9__a;
    wire  [31:0] lane__9__b;
    wire  [31:0] lane__9__sum;
    wire  lane__10__clock;
    wire  [31:0] lane__10__a;
    wire  [31:0] lane__10__b;
    wire  [31:0] lane__10__sum;
    wire  lane__11__clock;
    wire  [31:0] lane__11__a;
    wire  [31:0] lane__11__b;
    wire  [31:0] lane__11__sum;
    wire  lane__12__clock;
    wire  [31:0] lane__12__a;
    wire  [31:0] lane__12__b;
    wire  [31:0] lane__12__sum;
    wire  lane__13__clock;
    wire  [31:0] lane__13__a;
    wire  [31:0] lane__13__b;
    wire  [31:0] lane__13__sum;
    wire  lane__14__clock;
    wire  [31:0] lane__14__a;
    wire  [31:0] lane__14__b;
    wire  [31:0] lane__14__sum;
    wire  lane__15__clock;
    wire  [31:0] lane__15__a;
    wire  [31:0] lane__15__b;
    wire  [31:0] lane__15__sum;
    wire  [31:0] pack__lane__0;
    wire  [31:0] pack__lane__1;
    wire  [31:0] pack__lane__2;
    wire  [31:0] pack__lane__3;
    wire  [31:0] pack__lane__4;
    wire  [31:0] pack__lane__5;
    wire  [31:0] pack__lane__6;
    wire  [31:0] pack__lane__7;
    wire  [31:0] pack__lane__8;
    wire  [31:0] pack__lane__9;
    wire  [31:0] pack__lane__10;
    wire  [31:0] pack__lane__11;
    wire  [31:0] pack__lane__12;
    wire  [31:0] pack__lane__13;
    wire  [31:0] pack__lane__14;
    wire  [31:0] pack__lane__15;
    wire  [511:0] pack__beat;
    // Sub module instances
    optireduce_nic__nic__reduce__adder__lane__0 lane__0(
        .clock(lane__0__clock),
        .a(lane__0__a),
        .b(lane__0__b),
        .sum(lane__0__sum)
    );
    optireduce_nic__nic__reduce__adder__lane__0 lane__1(
        .clock(lane__1__clock),
        .a(lane__1__a),
        .b(lane__1__b),
        .sum(lane__1__sum)
    );
    optireduce_nic__nic__reduce__adder__lane__0 lane__2(
        .clock(lane__2__clock),
        .a(lane__2__a),
        .b(lane__2__b),
        .sum(lane__2__sum)
    );
    optireduce_nic__nic__reduce__adder__lane__0 lane__3(
        .clock(lane__3__clock),
        .a(lane__3__a),
        .b(lane__3__b),
        .sum(lane__3__sum)
    );
    optireduce_nic__nic__reduce__adder__lane__0 lane__4(
        .clock(lane__4__clock),
        .a(lane__4__a),
        .b(lane__4__b),
        .sum(lane__4__sum)
    );
    optireduce_nic__nic__reduce__adder__lane__0 lane__5(
        .clock(lane__5__clock),
        .a(lane__5__a),
        .b(lane__5__b),
        .sum(lane__5__sum)
    );
    optireduce_nic__nic__reduce__adder__lane__0 lane__6(
        .clock(lane__6__clock),
        .a(lane__6__a),
        .b(lane__6__b),
        .sum(lane__6__sum)
    );
    optireduce_nic__nic__reduce__adder__lane__0 lane__7(
        .clock(lane__7__clock),
        .a(lane__7__a),
        .b(lane__7__b),
        .sum(lane__7__sum)
    );
    optireduce_nic__nic__reduce__adder__lane__0 lane__8(
        .clock(lane__8__clock),
        .a(lane__8__a),
        .b(lane__8__b),
        .sum(lane__8__sum)
    );
    optireduce_nic__nic__reduce__adder__lane__0 lane__9(
        .clock(lane__9__clock),
        .a(lane__9__a),
        .b(lane__9__b),
        .sum(lane__9__sum)
    );
    optireduce_nic__nic__reduce__adder__lane__0 lane__10(
        .clock(lane__10__clock),
        .a(lane__10__a),
        .b(lane__10__b),
        .sum(lane__10__sum)
    );
    optireduce_nic__nic__reduce__adder__lane__0 lane__11(
        .clock(lane__11__clock),
        .a(lane__11__a),
        .b(lane__11__b),
        .sum(lane__11__sum)
    );
    optireduce_nic__nic__reduce__adder__lane__0 lane__12(
        .clock(lane__12__clock),
        .a(lane__12__a),
        .b(lane__12__b),
        .sum(lane__12__sum)
    );
    optireduce_nic__nic__reduce__adder__lane__0 lane__13(
        .clock(lane__13__clock),
        .a(lane__13__a),
        .b(lane__13__b),
        .sum(lane__13__sum)
    );
    optireduce_nic__nic__reduce__adder__lane__0 lane__14(
        .clock(lane__14__clock),
        .a(lane__14__a),
        .b(lane__14__b),
        .sum(lane__14__sum)
    );
    optireduce_nic__nic__reduce__adder__lane__0 lane__15(
        .clock(lane__15__clock),
        .a(lane__15__a),
        .b(lane__15__b),
        .sum(lane__15__sum)
    );
    optireduce_nic__nic__finisher__drain__decoder__to_fixed__pack pack(
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
    assign lane__0__clock = clock;
    assign lane__0__a = a[(0 * 32'h20)+:(32)];
    assign lane__0__b = b[(0 * 32'h20)+:(32)];
    assign pack__lane__0 = lane__0__sum;
    assign lane__1__clock = clock;
    assign lane__1__a = a[(1 * 32'h20)+:(32)];
    assign lane__1__b = b[(1 * 32'h20)+:(32)];
    assign pack__lane__1 = lane__1__sum;
    assign lane__2__clock = clock;
    assign lane__2__a = a[(2 * 32'h20)+:(32)];
    assign lane__2__b = b[(2 * 32'h20)+:(32)];
    assign pack__lane__2 = lane__2__sum;
    assign lane__3__clock = clock;
    assign lane__3__a = a[(3 * 32'h20)+:(32)];
    assign lane__3__b = b[(3 * 32'h20)+:(32)];
    assign pack__lane__3 = lane__3__sum;
    assign lane__4__clock = clock;
    assign lane__4__a = a[(4 * 32'h20)+:(32)];
    assign lane__4__b = b[(4 * 32'h20)+:(32)];
    assign pack__lane__4 = lane__4__sum;
    assign lane__5__clock = clock;
    assign lane__5__a = a[(5 * 32'h20)+:(32)];
    assign lane__5__b = b[(5 * 32'h20)+:(32)];
    assign pack__lane__5 = lane__5__sum;
    assign lane__6__clock = clock;
    assign lane__6__a = a[(6 * 32'h20)+:(32)];
    assign lane__6__b = b[(6 * 32'h20)+:(32)];
    assign pack__lane__6 = lane__6__sum;
    assign lane__7__clock = clock;
    assign lane__7__a = a[(7 * 32'h20)+:(32)];
    assign lane__7__b = b[(7 * 32'h20)+:(32)];
    assign pack__lane__7 = lane__7__sum;
    assign lane__8__clock = clock;
    assign lane__8__a = a[(8 * 32'h20)+:(32)];
    assign lane__8__b = b[(8 * 32'h20)+:(32)];
    assign pack__lane__8 = lane__8__sum;
    assign lane__9__clock = clock;
    assign lane__9__a = a[(9 * 32'h20)+:(32)];
    assign lane__9__b = b[(9 * 32'h20)+:(32)];
    assign pack__lane__9 = lane__9__sum;
    assign lane__10__clock = clock;
    assign lane__10__a = a[(10 * 32'h20)+:(32)];
    assign lane__10__b = b[(10 * 32'h20)+:(32)];
    assign pack__lane__10 = lane__10__sum;
    assign lane__11__clock = clock;
    assign lane__11__a = a[(11 * 32'h20)+:(32)];
    assign lane__11__b = b[(11 * 32'h20)+:(32)];
    assign pack__lane__11 = lane__11__sum;
    assign lane__12__clock = clock;
    assign lane__12__a = a[(12 * 32'h20)+:(32)];
    assign lane__12__b = b[(12 * 32'h20)+:(32)];
    assign pack__lane__12 = lane__12__sum;
    assign lane__13__clock = clock;
    assign lane__13__a = a[(13 * 32'h20)+:(32)];
    assign lane__13__b = b[(13 * 32'h20)+:(32)];
    assign pack__lane__13 = lane__13__sum;
    assign lane__14__clock = clock;
    assign lane__14__a = a[(14 * 32'h20)+:(32)];
    assign lane__14__b = b[(14 * 32'h20)+:(32)];
    assign pack__lane__14 = lane__14__sum;
    assign lane__15__clock = clock;
    assign lane__15__a = a[(15 * 32'h20)+:(32)];
    assign lane__15__b = b[(15 * 32'h20)+:(32)];
    assign pack__lane__15 = lane__15__sum;
    assign sum = pack__beat;
endmodule

module optireduce_nic__nic__reduce__first(fresh,data,sum);
    // Module arguments
    input wire  fresh;
    input wire  [511:0] data;
    output reg  [511:0] sum;
    // Update code (custom)
    always @(*) sum = fresh ? data : {16{32'h80000000}};
endmodule

module optireduce_nic__nic__reduce__ram(clock,read_address,read_data,write_address,write_data,write_enable);
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
    wire unused = &{read_address[16:12], write_address[16:12]};
endmodule

module optireduce_nic__nic__reduce__word(d,q,clock);
    // Module arguments
    input wire  [590:0] d;
    output reg  [590:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 591'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__nic__registers__build(window_beats,log2_n_max);
    // Module arguments
    output wire  [14:0] window_beats;
    output wire  [3:0] log2_n_max;
    // Constant declarations
    localparam  beats = 15'b10000000000;
    localparam  log2_n = 4'hc;
    // Update code
    assign window_beats = beats;
    assign log2_n_max = log2_n;
endmodule

module optireduce_nic__nic__registers__copy(clock,read_address,read_data,write_address,write_data,write_enable);
    // Module arguments
    input wire  clock;
    input wire  [9:0] read_address;
    output reg  [31:0] read_data;
    input wire  [9:0] write_address;
    input wire  [31:0] write_data;
    input wire  write_enable;
    // Update code (custom)
    (* ram_style = "block" *) reg [31:0] mem [0:1023];
    `ifndef SYNTHESIS
    integer i;
    initial for (i = 0; i <= 1023; i = i + 1) mem[i] = 0;
    `endif
    initial read_data = 0;
    always @(posedge clock) begin
        read_data <= mem[read_address];
        if (write_enable) mem[write_address] <= write_data;
    end
endmodule

module optireduce_nic__nic__registers__counters(d,q,clock);
    // Module arguments
    input wire  [447:0] d;
    output reg  [447:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 448'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__nic__registers__cq_base_hi(clock,read_address,read_data,write_address,write_data,write_enable);
    // Module arguments
    input wire  clock;
    input wire  [1:0] read_address;
    output reg  [31:0] read_data;
    input wire  [1:0] write_address;
    input wire  [31:0] write_data;
    input wire  write_enable;
    // Update code (custom)
    (* ram_style = "distributed" *) reg [31:0] mem [0:3];
    `ifndef SYNTHESIS
    integer i;
    initial for (i = 0; i <= 3; i = i + 1) mem[i] = 0;
    `endif
    always @(*) read_data = mem[read_address];
    always @(posedge clock) if (write_enable) mem[write_address] <= write_data;
endmodule

module optireduce_nic__nic__registers__host(d,q,clock);
    // Module arguments
    input wire  [213:0] d;
    output reg  [213:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 214'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__nic__registers__sq_log2(clock,read_address,read_data,write_address,write_data,write_enable);
    // Module arguments
    input wire  clock;
    input wire  [1:0] read_address;
    output reg  [3:0] read_data;
    input wire  [1:0] write_address;
    input wire  [3:0] write_data;
    input wire  write_enable;
    // Update code (custom)
    (* ram_style = "distributed" *) reg [3:0] mem [0:3];
    `ifndef SYNTHESIS
    integer i;
    initial for (i = 0; i <= 3; i = i + 1) mem[i] = 0;
    `endif
    always @(*) read_data = mem[read_address];
    always @(posedge clock) if (write_enable) mem[write_address] <= write_data;
endmodule

module optireduce_nic__nic__rx_buffer__lengths(clock,clear,push,push_data,full,pop,pop_data,empty,room);
    // Module arguments
    input wire  clock;
    input wire  clear;
    input wire  push;
    input wire  [9:0] push_data;
    output wire  full;
    input wire  pop;
    output wire  [9:0] pop_data;
    output wire  empty;
    output wire  [15:0] room;
    // Constant declarations
    localparam  depth = 16'h40;
    // Stub signals
    wire  memory__clock;
    wire  [5:0] memory__read_address;
    wire  [9:0] memory__read_data;
    wire  [5:0] memory__write_address;
    wire  [9:0] memory__write_data;
    wire  memory__write_enable;
    reg  [47:0] state__d;
    wire  [47:0] state__q;
    wire  state__clock;
    // Local signals
    wire  pushed;
    wire  popped;
    wire  [15:0] head_next;
    wire  [15:0] tail_next;
    wire  [15:0] used_more;
    wire  [15:0] used_less;
    // Sub module instances
    optireduce_nic__nic__rx_buffer__lengths__memory memory(
        .clock(memory__clock),
        .read_address(memory__read_address),
        .read_data(memory__read_data),
        .write_address(memory__write_address),
        .write_data(memory__write_data),
        .write_enable(memory__write_enable)
    );
    optireduce_nic__nic__finisher__drain__inbox__state state(
        .d(state__d),
        .q(state__q),
        .clock(state__clock)
    );
    // Update code
    assign state__clock = clock;
    assign memory__clock = clock;
    assign full = state__q[(64'h20)+:(16)] == depth;
    assign empty = state__q[(64'h20)+:(16)] == 32'h0;
    assign room = depth - state__q[(64'h20)+:(16)];
    assign pushed = push && ~full;
    assign popped = pop && ~empty;
    assign memory__write_address = ((state__q[(64'h10)+:(16)]) & 6'h3f);
    assign memory__write_data = push_data;
    assign memory__write_enable = pushed;
    assign memory__read_address = ((state__q[(64'h0)+:(16)]) & 6'h3f);
    assign pop_data = memory__read_data;
    assign head_next = state__q[(64'h0)+:(16)] + 32'h1;
    assign tail_next = state__q[(64'h10)+:(16)] + 32'h1;
    assign used_more = state__q[(64'h20)+:(16)] + 32'h1;
    assign used_less = state__q[(64'h20)+:(16)] - 32'h1;
    always @(*) begin
        state__d = state__q;
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

module optireduce_nic__nic__rx_buffer__ram(clock,read_address,read_data,write_address,write_data,write_enable);
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

module optireduce_nic__nic__rx_buffer__st(d,q,clock);
    // Module arguments
    input wire  [52:0] d;
    output reg  [52:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 53'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__nic__scale__outbox(clock,clear,push,push_data,full,pop,pop_data,empty,room);
    // Module arguments
    input wire  clock;
    input wire  clear;
    input wire  push;
    input wire  [556:0] push_data;
    output wire  full;
    input wire  pop;
    output wire  [556:0] pop_data;
    output wire  empty;
    output wire  [15:0] room;
    // Constant declarations
    localparam  depth = 16'h10;
    // Stub signals
    wire  memory__clock;
    wire  [3:0] memory__read_address;
    wire  [556:0] memory__read_data;
    wire  [3:0] memory__write_address;
    wire  [556:0] memory__write_data;
    wire  memory__write_enable;
    reg  [47:0] state__d;
    wire  [47:0] state__q;
    wire  state__clock;
    // Local signals
    wire  pushed;
    wire  popped;
    wire  [15:0] head_next;
    wire  [15:0] tail_next;
    wire  [15:0] used_more;
    wire  [15:0] used_less;
    // Sub module instances
    optireduce_nic__nic__scale__outbox__memory memory(
        .clock(memory__clock),
        .read_address(memory__read_address),
        .read_data(memory__read_data),
        .write_address(memory__write_address),
        .write_data(memory__write_data),
        .write_enable(memory__write_enable)
    );
    optireduce_nic__nic__finisher__drain__inbox__state state(
        .d(state__d),
        .q(state__q),
        .clock(state__clock)
    );
    // Update code
    assign state__clock = clock;
    assign memory__clock = clock;
    assign full = state__q[(64'h20)+:(16)] == depth;
    assign empty = state__q[(64'h20)+:(16)] == 32'h0;
    assign room = depth - state__q[(64'h20)+:(16)];
    assign pushed = push && ~full;
    assign popped = pop && ~empty;
    assign memory__write_address = ((state__q[(64'h10)+:(16)]) & 4'hf);
    assign memory__write_data = push_data;
    assign memory__write_enable = pushed;
    assign memory__read_address = ((state__q[(64'h0)+:(16)]) & 4'hf);
    assign pop_data = memory__read_data;
    assign head_next = state__q[(64'h0)+:(16)] + 32'h1;
    assign tail_next = state__q[(64'h10)+:(16)] + 32'h1;
    assign used_more = state__q[(64'h20)+:(16)] + 32'h1;
    assign used_less = state__q[(64'h20)+:(16)] - 32'h1;
    always @(*) begin
        state__d = state__q;
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

module optireduce_nic__nic__submit__epochs(clock,read_address,read_data,write_address,write_data,write_enable);
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

module optireduce_nic__rx__line__0(d,q,clock);
    // Module arguments
    input wire  [515:0] d;
    output reg  [515:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 516'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__tx__sums__memory(clock,read_address,read_data,write_address,write_data,write_enable);
    // Module arguments
    input wire  clock;
    input wire  [7:0] read_address;
    output reg  [15:0] read_data;
    input wire  [7:0] write_address;
    input wire  [15:0] write_data;
    input wire  write_enable;
    // Update code (custom)
    (* ram_style = "distributed" *) reg [15:0] mem [0:255];
    `ifndef SYNTHESIS
    integer i;
    initial for (i = 0; i <= 255; i = i + 1) mem[i] = 0;
    `endif
    always @(*) read_data = mem[read_address];
    always @(posedge clock) if (write_enable) mem[write_address] <= write_data;
endmodule

module optireduce_nic__filter__counters(d,q,clock);
    // Module arguments
    input wire  [223:0] d;
    output reg  [223:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 224'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__filter__sender(d,q,clock);
    // Module arguments
    input wire  [5:0] d;
    output reg  [5:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 6'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__job_copy__host(d,q,clock);
    // Module arguments
    input wire  [175:0] d;
    output reg  [175:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 176'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__nic__broadcast_gates(clock,clear,now_ns,arm,arm_slot,rules,enter,packet,packet_slot,sender,mark,beat,beat_slot,own,quiet,free,open,closed,report_slot,report,timer_slot,timer_ns);
    // Module arguments
    input wire  clock;
    input wire  clear;
    input wire  [47:0] now_ns;
    input wire  [7:0] arm;
    input wire  [2:0] arm_slot;
    input wire  [172:0] rules;
    input wire  [7:0] enter;
    input wire  packet;
    input wire  [2:0] packet_slot;
    input wire  [63:0] sender;
    input wire  mark;
    input wire  beat;
    input wire  [2:0] beat_slot;
    input wire  own;
    input wire  quiet;
    input wire  [7:0] free;
    output wire  [7:0] open;
    output wire  [7:0] closed;
    input wire  [2:0] report_slot;
    output reg  [205:0] report;
    input wire  [2:0] timer_slot;
    output reg  [47:0] timer_ns;
    // Stub signals
    wire  gate__0__clock;
    wire  [33:0] gate__0__now_ns;
    wire  gate__0__quiet;
    wire  gate__0__arm;
    wire  gate__0__early;
    reg  gate__0__all_in;
    reg  gate__0__own_in;
    reg  gate__0__all_marked;
    wire  gate__0__counted;
    wire  gate__0__heard;
    wire  gate__0__enter;
    wire  gate__0__start;
    wire  [33:0] gate__0__deadline_ns;
    wire  [33:0] gate__0__grace_ns;
    wire  gate__0__close;
    wire  gate__0__free;
    wire  gate__0__open;
    wire  gate__0__closed;
    wire  gate__0__clock_runs;
    wire  gate__0__entered;
    wire  gate__0__due;
    wire  [1:0] gate__0__closed_by;
    wire  gate__0__may_be_early;
    wire  [33:0] gate__0__ends_ns;
    wire  [33:0] gate__0__silent_ns;
    wire  gate__1__clock;
    wire  [33:0] gate__1__now_ns;
    wire  gate__1__quiet;
    wire  gate__1__arm;
    wire  gate__1__early;
    reg  gate__1__all_in;
    reg  gate__1__own_in;
    reg  gate__1__all_marked;
    wire  gate__1__counted;
    wire  gate__1__heard;
    wire  gate__1__enter;
    wire  gate__1__start;
    wire  [33:0] gate__1__deadline_ns;
    wire  [33:0] gate__1__grace_ns;
    wire  gate__1__close;
    wire  gate__1__free;
    wire  gate__1__open;
    wire  gate__1__closed;
    wire  gate__1__clock_runs;
    wire  gate__1__entered;
    wire  gate__1__due;
    wire  [1:0] gate__1__closed_by;
    wire  gate__1__may_be_early;
    wire  [33:0] gate__1__ends_ns;
    wire  [33:0] gate__1__silent_ns;
    wire  gate__2__clock;
    wire  [33:0] gate__2__now_ns;
    wire  gate__2__quiet;
    wire  gate__2__arm;
    wire  gate__2__early;
    reg  gate__2__all_in;
    reg  gate__2__own_in;
    reg  gate__2__all_marked;
    wire  gate__2__counted;
    wire  gate__2__heard;
    wire  gate__2__enter;
    wire  gate__2__start;
    wire  [33:0] gate__2__deadline_ns;
    wire  [33:0] gate__2__grace_ns;
    wire  gate__2__close;
    wire  gate__2__free;
    wire  gate__2__open;
    wire  gate__2__closed;
    wire  gate__2__clock_runs;
    wire  gate__2__entered;
    wire  gate__2__due;
    wire  [1:0] gate__2__closed_by;
    wire  gate__2__may_be_early;
    wire  [33:0] gate__2__ends_ns;
    wire  [33:0] gate__2__silent_ns;
    wire  gate__3__clock;
    wire  [33:0] gate__3__now_ns;
    wire  gate__3__quiet;
    wire  gate__3__arm;
    wire  gate__3__early;
    reg  gate__3__all_in;
    reg  gate__3__own_in;
    reg  gate__3__all_marked;
    wire  gate__3__counted;
    wire  gate__3__heard;
    wire  gate__3__enter;
    wire  gate__3__start;
    wire  [33:0] gate__3__deadline_ns;
    wire  [33:0] gate__3__grace_ns;
    wire  gate__3__close;
    wire  gate__3__free;
    wire  gate__3__open;
    wire  gate__3__closed;
    wire  gate__3__clock_runs;
    wire  gate__3__entered;
    wire  gate__3__due;
    wire  [1:0] gate__3__closed_by;
    wire  gate__3__may_be_early;
    wire  [33:0] gate__3__ends_ns;
    wire  [33:0] gate__3__silent_ns;
    wire  gate__4__clock;
    wire  [33:0] gate__4__now_ns;
    wire  gate__4__quiet;
    wire  gate__4__arm;
    wire  gate__4__early;
    reg  gate__4__all_in;
    reg  gate__4__own_in;
    reg  gate__4__all_marked;
    wire  gate__4__counted;
    wire  gate__4__heard;
    wire  gate__4__enter;
    wire  gate__4__start;
    wire  [33:0] gate__4__deadline_ns;
    wire  [33:0] gate__4__grace_ns;
    wire  gate__4__close;
    wire  gate__4__free;
    wire  gate__4__open;
    wire  gate__4__closed;
    wire  gate__4__clock_runs;
    wire  gate__4__entered;
    wire  gate__4__due;
    wire  [1:0] gate__4__closed_by;
    wire  gate__4__may_be_early;
    wire  [33:0] gate__4__ends_ns;
    wire  [33:0] gate__4__silent_ns;
    wire  gate__5__clock;
    wire  [33:0] gate__5__now_ns;
    wire  gate__5__quiet;
    wire  gate__5__arm;
    wire  gate__5__early;
    reg  gate__5__all_in;
    reg  gate__5__own_in;
    reg  gate__5__all_marked;
    wire  gate__5__counted;
    wire  gate__5__heard;
    wire  gate__5__enter;
    wire  gate__5__start;
    wire  [33:0] gate__5__deadline_ns;
    wire  [33:0] gate__5__grace_ns;
    wire  gate__5__close;
    wire  gate__5__free;
    wire  gate__5__open;
    wire  gate__5__closed;
    wire  gate__5__clock_runs;
    wire  gate__5__entered;
    wire  gate__5__due;
    wire  [1:0] gate__5__closed_by;
    wire  gate__5__may_be_early;
    wire  [33:0] gate__5__ends_ns;
    wire  [33:0] gate__5__silent_ns;
    wire  gate__6__clock;
    wire  [33:0] gate__6__now_ns;
    wire  gate__6__quiet;
    wire  gate__6__arm;
    wire  gate__6__early;
    reg  gate__6__all_in;
    reg  gate__6__own_in;
    reg  gate__6__all_marked;
    wire  gate__6__counted;
    wire  gate__6__heard;
    wire  gate__6__enter;
    wire  gate__6__start;
    wire  [33:0] gate__6__deadline_ns;
    wire  [33:0] gate__6__grace_ns;
    wire  gate__6__close;
    wire  gate__6__free;
    wire  gate__6__open;
    wire  gate__6__closed;
    wire  gate__6__clock_runs;
    wire  gate__6__entered;
    wire  gate__6__due;
    wire  [1:0] gate__6__closed_by;
    wire  gate__6__may_be_early;
    wire  [33:0] gate__6__ends_ns;
    wire  [33:0] gate__6__silent_ns;
    wire  gate__7__clock;
    wire  [33:0] gate__7__now_ns;
    wire  gate__7__quiet;
    wire  gate__7__arm;
    wire  gate__7__early;
    reg  gate__7__all_in;
    reg  gate__7__own_in;
    reg  gate__7__all_marked;
    wire  gate__7__counted;
    wire  gate__7__heard;
    wire  gate__7__enter;
    wire  gate__7__start;
    wire  [33:0] gate__7__deadline_ns;
    wire  [33:0] gate__7__grace_ns;
    wire  gate__7__close;
    wire  gate__7__free;
    wire  gate__7__open;
    wire  gate__7__closed;
    wire  gate__7__clock_runs;
    wire  gate__7__entered;
    wire  gate__7__due;
    wire  [1:0] gate__7__closed_by;
    wire  gate__7__may_be_early;
    wire  [33:0] gate__7__ends_ns;
    wire  [33:0] gate__7__silent_ns;
    wire  event_rules__clock;
    wire  [2:0] event_rules__read_address;
    wire  [134:0] event_rules__read_data;
    wire  [2:0] event_rules__write_address;
    reg  [134:0] event_rules__write_data;
    wire  event_rules__write_enable;
    wire  beat_rules__clock;
    wire  [2:0] beat_rules__read_address;
    wire  [36:0] beat_rules__read_data;
    wire  [2:0] beat_rules__write_address;
    reg  [36:0] beat_rules__write_data;
    wire  beat_rules__write_enable;
    wire  peers__clock;
    wire  [2:0] peers__read_address;
    wire  [134:0] peers__read_data;
    wire  [2:0] peers__write_address;
    wire  [134:0] peers__write_data;
    wire  peers__write_enable;
    wire  beats__clock;
    wire  [2:0] beats__read_address;
    wire  [65:0] beats__read_data;
    wire  [2:0] beats__write_address;
    wire  [65:0] beats__write_data;
    wire  beats__write_enable;
    wire  told_heard__clock;
    wire  [2:0] told_heard__read_address;
    wire  [63:0] told_heard__read_data;
    wire  [2:0] told_heard__write_address;
    wire  [63:0] told_heard__write_data;
    wire  told_heard__write_enable;
    wire  told_beats__clock;
    wire  [2:0] told_beats__read_address;
    wire  [65:0] told_beats__read_data;
    wire  [2:0] told_beats__write_address;
    wire  [65:0] told_beats__write_data;
    wire  told_beats__write_enable;
    wire  starts__clock;
    wire  [2:0] starts__read_address;
    wire  [47:0] starts__read_data;
    wire  [2:0] starts__write_address;
    wire  [47:0] starts__write_data;
    wire  starts__write_enable;
    wire  ends__clock;
    wire  [2:0] ends__read_address;
    wire  [49:0] ends__read_data;
    wire  [2:0] ends__write_address;
    reg  [49:0] ends__write_data;
    wire  ends__write_enable;
    reg  [7:0] entering__d;
    wire  [7:0] entering__q;
    wire  entering__clock;
    reg  [7:0] unheard__d;
    wire  [7:0] unheard__q;
    wire  unheard__clock;
    reg  [7:0] uncounted__d;
    wire  [7:0] uncounted__q;
    wire  uncounted__clock;
    reg  [117:0] noted__d;
    wire  [117:0] noted__q;
    wire  noted__clock;
    reg  [390:0] looked_up__d;
    wire  [390:0] looked_up__q;
    wire  looked_up__clock;
    reg  [55:0] ending__d;
    wire  [55:0] ending__q;
    wire  ending__clock;
    reg  [62:0] tally_done__d;
    wire  [62:0] tally_done__q;
    wire  tally_done__clock;
    reg  [4:0] counting__d;
    wire  [4:0] counting__q;
    wire  counting__clock;
    // Local signals
    wire  [33:0] now;
    reg  [7:0] open_now;
    reg  [7:0] closed_now;
    reg  [7:0] runs_now;
    reg  [7:0] waiting;
    wire  [7:0] waiting_less;
    wire  [7:0] first_waiting;
    reg  [7:0] served;
    reg  [7:0] due;
    wire  [7:0] due_less;
    wire  [7:0] first_due;
    wire  [7:0] end_bits;
    reg  [2:0] end_slot;
    reg  [1:0] reason;
    wire  [7:0] one;
    reg  [2:0] event_slot;
    wire  [7:0] event_bit;
    reg  [7:0] beat_bit;
    reg  [7:0] done_bit;
    wire  [2:0] slot;
    wire  [63:0] known;
    reg  [6:0] count;
    wire  [6:0] count_with;
    reg  enough;
    reg  [134:0] becomes;
    wire  [63:0] missing;
    wire  all_marked;
    wire  start;
    reg  [7:0] start_bit;
    reg  [7:0] heard_bit;
    reg  [7:0] enter_bit;
    wire  [33:0] at;
    wire  [47:0] at_ns;
    wire  [33:0] deadline;
    wire  [33:0] grace;
    reg  [65:0] tally;
    reg  [65:0] tallied;
    wire  all_in;
    wire  own_in;
    wire  [7:0] timer_bit;
    reg  timer_runs;
    reg  timer_early;
    reg  [33:0] timer_ends;
    reg  [33:0] timer_silent;
    reg  [33:0] to_end;
    reg  [33:0] to_silence;
    reg  [33:0] distance;
    wire  [47:0] ahead;
    wire  [47:0] timer;
    // Sub module instances
    optireduce_nic__nic__broadcast_gates__gate__0 gate__0(
        .clock(gate__0__clock),
        .now_ns(gate__0__now_ns),
        .quiet(gate__0__quiet),
        .arm(gate__0__arm),
        .early(gate__0__early),
        .all_in(gate__0__all_in),
        .own_in(gate__0__own_in),
        .all_marked(gate__0__all_marked),
        .counted(gate__0__counted),
        .heard(gate__0__heard),
        .enter(gate__0__enter),
        .start(gate__0__start),
        .deadline_ns(gate__0__deadline_ns),
        .grace_ns(gate__0__grace_ns),
        .close(gate__0__close),
        .free(gate__0__free),
        .open(gate__0__open),
        .closed(gate__0__closed),
        .clock_runs(gate__0__clock_runs),
        .entered(gate__0__entered),
        .due(gate__0__due),
        .closed_by(gate__0__closed_by),
        .may_be_early(gate__0__may_be_early),
        .ends_ns(gate__0__ends_ns),
        .silent_ns(gate__0__silent_ns)
    );
    optireduce_nic__nic__broadcast_gates__gate__0 gate__1(
        .clock(gate__1__clock),
        .now_ns(gate__1__now_ns),
        .quiet(gate__1__quiet),
        .arm(gate__1__arm),
        .early(gate__1__early),
        .all_in(gate__1__all_in),
        .own_in(gate__1__own_in),
        .all_marked(gate__1__all_marked),
        .counted(gate__1__counted),
        .heard(gate__1__heard),
        .enter(gate__1__enter),
        .start(gate__1__start),
        .deadline_ns(gate__1__deadline_ns),
        .grace_ns(gate__1__grace_ns),
        .close(gate__1__close),
        .free(gate__1__free),
        .open(gate__1__open),
        .closed(gate__1__closed),
        .clock_runs(gate__1__clock_runs),
        .entered(gate__1__entered),
        .due(gate__1__due),
        .closed_by(gate__1__closed_by),
        .may_be_early(gate__1__may_be_early),
        .ends_ns(gate__1__ends_ns),
        .silent_ns(gate__1__silent_ns)
    );
    optireduce_nic__nic__broadcast_gates__gate__0 gate__2(
        .clock(gate__2__clock),
        .now_ns(gate__2__now_ns),
        .quiet(gate__2__quiet),
        .arm(gate__2__arm),
        .early(gate__2__early),
        .all_in(gate__2__all_in),
        .own_in(gate__2__own_in),
        .all_marked(gate__2__all_marked),
        .counted(gate__2__counted),
        .heard(gate__2__heard),
        .enter(gate__2__enter),
        .start(gate__2__start),
        .deadline_ns(gate__2__deadline_ns),
        .grace_ns(gate__2__grace_ns),
        .close(gate__2__close),
        .free(gate__2__free),
        .open(gate__2__open),
        .closed(gate__2__closed),
        .clock_runs(gate__2__clock_runs),
        .entered(gate__2__entered),
        .due(gate__2__due),
        .closed_by(gate__2__closed_by),
        .may_be_early(gate__2__may_be_early),
        .ends_ns(gate__2__ends_ns),
        .silent_ns(gate__2__silent_ns)
    );
    optireduce_nic__nic__broadcast_gates__gate__0 gate__3(
        .clock(gate__3__clock),
        .now_ns(gate__3__now_ns),
        .quiet(gate__3__quiet),
        .arm(gate__3__arm),
        .early(gate__3__early),
        .all_in(gate__3__all_in),
        .own_in(gate__3__own_in),
        .all_marked(gate__3__all_marked),
        .counted(gate__3__counted),
        .heard(gate__3__heard),
        .enter(gate__3__enter),
        .start(gate__3__start),
        .deadline_ns(gate__3__deadline_ns),
        .grace_ns(gate__3__grace_ns),
        .close(gate__3__close),
        .free(gate__3__free),
        .open(gate__3__open),
        .closed(gate__3__closed),
        .clock_runs(gate__3__clock_runs),
        .entered(gate__3__entered),
        .due(gate__3__due),
        .closed_by(gate__3__closed_by),
        .may_be_early(gate__3__may_be_early),
        .ends_ns(gate__3__ends_ns),
        .silent_ns(gate__3__silent_ns)
    );
    optireduce_nic__nic__broadcast_gates__gate__0 gate__4(
        .clock(gate__4__clock),
        .now_ns(gate__4__now_ns),
        .quiet(gate__4__quiet),
        .arm(gate__4__arm),
        .early(gate__4__early),
        .all_in(gate__4__all_in),
        .own_in(gate__4__own_in),
        .all_marked(gate__4__all_marked),
        .counted(gate__4__counted),
        .heard(gate__4__heard),
        .enter(gate__4__enter),
        .start(gate__4__start),
        .deadline_ns(gate__4__deadline_ns),
        .grace_ns(gate__4__grace_ns),
        .close(gate__4__close),
        .free(gate__4__free),
        .open(gate__4__open),
        .closed(gate__4__closed),
        .clock_runs(gate__4__clock_runs),
        .entered(gate__4__entered),
        .due(gate__4__due),
        .closed_by(gate__4__closed_by),
        .may_be_early(gate__4__may_be_early),
        .ends_ns(gate__4__ends_ns),
        .silent_ns(gate__4__silent_ns)
    );
    optireduce_nic__nic__broadcast_gates__gate__0 gate__5(
        .clock(gate__5__clock),
        .now_ns(gate__5__now_ns),
        .quiet(gate__5__quiet),
        .arm(gate__5__arm),
        .early(gate__5__early),
        .all_in(gate__5__all_in),
        .own_in(gate__5__own_in),
        .all_marked(gate__5__all_marked),
        .counted(gate__5__counted),
        .heard(gate__5__heard),
        .enter(gate__5__enter),
        .start(gate__5__start),
        .deadline_ns(gate__5__deadline_ns),
        .grace_ns(gate__5__grace_ns),
        .close(gate__5__close),
        .free(gate__5__free),
        .open(gate__5__open),
        .closed(gate__5__closed),
        .clock_runs(gate__5__clock_runs),
        .entered(gate__5__entered),
        .due(gate__5__due),
        .closed_by(gate__5__closed_by),
        .may_be_early(gate__5__may_be_early),
        .ends_ns(gate__5__ends_ns),
        .silent_ns(gate__5__silent_ns)
    );
    optireduce_nic__nic__broadcast_gates__gate__0 gate__6(
        .clock(gate__6__clock),
        .now_ns(gate__6__now_ns),
        .quiet(gate__6__quiet),
        .arm(gate__6__arm),
        .early(gate__6__early),
        .all_in(gate__6__all_in),
        .own_in(gate__6__own_in),
        .all_marked(gate__6__all_marked),
        .counted(gate__6__counted),
        .heard(gate__6__heard),
        .enter(gate__6__enter),
        .start(gate__6__start),
        .deadline_ns(gate__6__deadline_ns),
        .grace_ns(gate__6__grace_ns),
        .close(gate__6__close),
        .free(gate__6__free),
        .open(gate__6__open),
        .closed(gate__6__closed),
        .clock_runs(gate__6__clock_runs),
        .entered(gate__6__entered),
        .due(gate__6__due),
        .closed_by(gate__6__closed_by),
        .may_be_early(gate__6__may_be_early),
        .ends_ns(gate__6__ends_ns),
        .silent_ns(gate__6__silent_ns)
    );
    optireduce_nic__nic__broadcast_gates__gate__0 gate__7(
        .clock(gate__7__clock),
        .now_ns(gate__7__now_ns),
        .quiet(gate__7__quiet),
        .arm(gate__7__arm),
        .early(gate__7__early),
        .all_in(gate__7__all_in),
        .own_in(gate__7__own_in),
        .all_marked(gate__7__all_marked),
        .counted(gate__7__counted),
        .heard(gate__7__heard),
        .enter(gate__7__enter),
        .start(gate__7__start),
        .deadline_ns(gate__7__deadline_ns),
        .grace_ns(gate__7__grace_ns),
        .close(gate__7__close),
        .free(gate__7__free),
        .open(gate__7__open),
        .closed(gate__7__closed),
        .clock_runs(gate__7__clock_runs),
        .entered(gate__7__entered),
        .due(gate__7__due),
        .closed_by(gate__7__closed_by),
        .may_be_early(gate__7__may_be_early),
        .ends_ns(gate__7__ends_ns),
        .silent_ns(gate__7__silent_ns)
    );
    optireduce_nic__nic__broadcast_gates__event_rules event_rules(
        .clock(event_rules__clock),
        .read_address(event_rules__read_address),
        .read_data(event_rules__read_data),
        .write_address(event_rules__write_address),
        .write_data(event_rules__write_data),
        .write_enable(event_rules__write_enable)
    );
    optireduce_nic__nic__broadcast_gates__beat_rules beat_rules(
        .clock(beat_rules__clock),
        .read_address(beat_rules__read_address),
        .read_data(beat_rules__read_data),
        .write_address(beat_rules__write_address),
        .write_data(beat_rules__write_data),
        .write_enable(beat_rules__write_enable)
    );
    optireduce_nic__nic__broadcast_gates__event_rules peers(
        .clock(peers__clock),
        .read_address(peers__read_address),
        .read_data(peers__read_data),
        .write_address(peers__write_address),
        .write_data(peers__write_data),
        .write_enable(peers__write_enable)
    );
    optireduce_nic__nic__broadcast_gates__beats beats(
        .clock(beats__clock),
        .read_address(beats__read_address),
        .read_data(beats__read_data),
        .write_address(beats__write_address),
        .write_data(beats__write_data),
        .write_enable(beats__write_enable)
    );
    optireduce_nic__nic__broadcast_gates__told_heard told_heard(
        .clock(told_heard__clock),
        .read_address(told_heard__read_address),
        .read_data(told_heard__read_data),
        .write_address(told_heard__write_address),
        .write_data(told_heard__write_data),
        .write_enable(told_heard__write_enable)
    );
    optireduce_nic__nic__broadcast_gates__beats told_beats(
        .clock(told_beats__clock),
        .read_address(told_beats__read_address),
        .read_data(told_beats__read_data),
        .write_address(told_beats__write_address),
        .write_data(told_beats__write_data),
        .write_enable(told_beats__write_enable)
    );
    optireduce_nic__nic__broadcast_gates__starts starts(
        .clock(starts__clock),
        .read_address(starts__read_address),
        .read_data(starts__read_data),
        .write_address(starts__write_address),
        .write_data(starts__write_data),
        .write_enable(starts__write_enable)
    );
    optireduce_nic__nic__broadcast_gates__ends ends(
        .clock(ends__clock),
        .read_address(ends__read_address),
        .read_data(ends__read_data),
        .write_address(ends__write_address),
        .write_data(ends__write_data),
        .write_enable(ends__write_enable)
    );
    optireduce_nic__nic__gather__arrivals__asked_epoch entering(
        .d(entering__d),
        .q(entering__q),
        .clock(entering__clock)
    );
    optireduce_nic__nic__gather__arrivals__asked_epoch unheard(
        .d(unheard__d),
        .q(unheard__q),
        .clock(unheard__clock)
    );
    optireduce_nic__nic__gather__arrivals__asked_epoch uncounted(
        .d(uncounted__d),
        .q(uncounted__q),
        .clock(uncounted__clock)
    );
    optireduce_nic__nic__broadcast_gates__noted noted(
        .d(noted__d),
        .q(noted__q),
        .clock(noted__clock)
    );
    optireduce_nic__nic__broadcast_gates__looked_up looked_up(
        .d(looked_up__d),
        .q(looked_up__q),
        .clock(looked_up__clock)
    );
    optireduce_nic__nic__broadcast_gates__ending ending(
        .d(ending__d),
        .q(ending__q),
        .clock(ending__clock)
    );
    optireduce_nic__nic__reduce__adder__lane__0__aligned tally_done(
        .d(tally_done__d),
        .q(tally_done__q),
        .clock(tally_done__clock)
    );
    optireduce_nic__nic__broadcast_gates__counting counting(
        .d(counting__d),
        .q(counting__q),
        .clock(counting__clock)
    );
    // Update code
    assign entering__clock = clock;
    assign unheard__clock = clock;
    assign uncounted__clock = clock;
    assign noted__clock = clock;
    assign looked_up__clock = clock;
    assign counting__clock = clock;
    assign tally_done__clock = clock;
    assign ending__clock = clock;
    always @(*) begin
        noted__d = noted__q;
        noted__d[(64'h0)+:(1)] = packet && open_now[slot];
        noted__d[(64'h1)+:(1)] = 1'b0;
        noted__d[(64'h2)+:(3)] = packet_slot;
        noted__d[(64'h5)+:(64)] = sender;
        noted__d[(64'h45)+:(1)] = mark;
        noted__d[(64'h46)+:(48)] = now_ns;
        if (~packet) begin
            noted__d[(64'h1)+:(1)] = waiting != 32'h0;
            event_slot = ((32'h0) & 3'h7);
            if ((first_waiting & 32'haa) != 32'h0) begin
                event_slot = ((32'h1) & 3'h7);
            end
            if ((first_waiting & 32'hcc) != 32'h0) begin
                event_slot = event_slot | 32'h2;
            end
            if ((first_waiting & 32'hf0) != 32'h0) begin
                event_slot = event_slot | 32'h4;
            end
            noted__d[(64'h2)+:(3)] = event_slot;
        end
        event_slot = noted__q[(64'h2)+:(3)];
        if (clear) begin
            noted__d[(64'h0)+:(1)] = 1'b0;
            noted__d[(64'h1)+:(1)] = 1'b0;
        end
    end
    assign event_rules__clock = clock;
    assign beat_rules__clock = clock;
    assign peers__clock = clock;
    assign beats__clock = clock;
    assign told_heard__clock = clock;
    assign told_beats__clock = clock;
    assign starts__clock = clock;
    assign ends__clock = clock;
    assign one = ((32'h1) & 8'hff);
    assign now = now_ns[(32'h0)+:(34)];
    always @(*) begin
        open_now = ((32'h0) & 8'hff);
        open_now = (open_now & ~(1 << (0)) | ((gate__0__open) << (0)));
        open_now = (open_now & ~(1 << (1)) | ((gate__1__open) << (1)));
        open_now = (open_now & ~(1 << (2)) | ((gate__2__open) << (2)));
        open_now = (open_now & ~(1 << (3)) | ((gate__3__open) << (3)));
        open_now = (open_now & ~(1 << (4)) | ((gate__4__open) << (4)));
        open_now = (open_now & ~(1 << (5)) | ((gate__5__open) << (5)));
        open_now = (open_now & ~(1 << (6)) | ((gate__6__open) << (6)));
        open_now = (open_now & ~(1 << (7)) | ((gate__7__open) << (7)));
    end
    always @(*) begin
        closed_now = ((32'h0) & 8'hff);
        closed_now = (closed_now & ~(1 << (0)) | ((gate__0__closed) << (0)));
        closed_now = (closed_now & ~(1 << (1)) | ((gate__1__closed) << (1)));
        closed_now = (closed_now & ~(1 << (2)) | ((gate__2__closed) << (2)));
        closed_now = (closed_now & ~(1 << (3)) | ((gate__3__closed) << (3)));
        closed_now = (closed_now & ~(1 << (4)) | ((gate__4__closed) << (4)));
        closed_now = (closed_now & ~(1 << (5)) | ((gate__5__closed) << (5)));
        closed_now = (closed_now & ~(1 << (6)) | ((gate__6__closed) << (6)));
        closed_now = (closed_now & ~(1 << (7)) | ((gate__7__closed) << (7)));
    end
    always @(*) begin
        runs_now = ((32'h0) & 8'hff);
        runs_now = (runs_now & ~(1 << (0)) | ((gate__0__clock_runs) << (0)));
        runs_now = (runs_now & ~(1 << (1)) | ((gate__1__clock_runs) << (1)));
        runs_now = (runs_now & ~(1 << (2)) | ((gate__2__clock_runs) << (2)));
        runs_now = (runs_now & ~(1 << (3)) | ((gate__3__clock_runs) << (3)));
        runs_now = (runs_now & ~(1 << (4)) | ((gate__4__clock_runs) << (4)));
        runs_now = (runs_now & ~(1 << (5)) | ((gate__5__clock_runs) << (5)));
        runs_now = (runs_now & ~(1 << (6)) | ((gate__6__clock_runs) << (6)));
        runs_now = (runs_now & ~(1 << (7)) | ((gate__7__clock_runs) << (7)));
    end
    always @(*) begin
        due = ((32'h0) & 8'hff);
        due = (due & ~(1 << (0)) | ((gate__0__due) << (0)));
        due = (due & ~(1 << (1)) | ((gate__1__due) << (1)));
        due = (due & ~(1 << (2)) | ((gate__2__due) << (2)));
        due = (due & ~(1 << (3)) | ((gate__3__due) << (3)));
        due = (due & ~(1 << (4)) | ((gate__4__due) << (4)));
        due = (due & ~(1 << (5)) | ((gate__5__due) << (5)));
        due = (due & ~(1 << (6)) | ((gate__6__due) << (6)));
        due = (due & ~(1 << (7)) | ((gate__7__due) << (7)));
    end
    always @(*) begin
        waiting = ((32'h0) & 8'hff);
        waiting = (waiting & ~(1 << (0)) | ((gate__0__open && ~gate__0__entered) << (0)));
        waiting = (waiting & ~(1 << (1)) | ((gate__1__open && ~gate__1__entered) << (1)));
        waiting = (waiting & ~(1 << (2)) | ((gate__2__open && ~gate__2__entered) << (2)));
        waiting = (waiting & ~(1 << (3)) | ((gate__3__open && ~gate__3__entered) << (3)));
        waiting = (waiting & ~(1 << (4)) | ((gate__4__open && ~gate__4__entered) << (4)));
        waiting = (waiting & ~(1 << (5)) | ((gate__5__open && ~gate__5__entered) << (5)));
        waiting = (waiting & ~(1 << (6)) | ((gate__6__open && ~gate__6__entered) << (6)));
        waiting = (waiting & ~(1 << (7)) | ((gate__7__open && ~gate__7__entered) << (7)));
        waiting = waiting & (entering__q | enter);
    end
    assign open = open_now;
    assign closed = closed_now;
    assign event_rules__write_enable = arm != 32'h0;
    assign event_rules__write_address = arm_slot;
    always @(*) begin
        event_rules__write_data[(64'h0)+:(32)] = rules[(64'h0)+:(32)];
        event_rules__write_data[(64'h20)+:(32)] = rules[(64'h20)+:(32)];
        event_rules__write_data[(64'h40)+:(7)] = rules[(64'h40)+:(7)];
        event_rules__write_data[(64'h47)+:(64)] = rules[(64'h48)+:(64)];
    end
    assign beat_rules__write_enable = arm != 32'h0;
    assign beat_rules__write_address = arm_slot;
    always @(*) begin
        beat_rules__write_data[(64'h0)+:(22)] = rules[(64'h88)+:(22)];
        beat_rules__write_data[(64'h16)+:(15)] = rules[(64'h9e)+:(15)];
    end
    assign waiting_less = waiting - 32'h1;
    assign first_waiting = waiting & (waiting_less ^ 32'hff);
    assign slot = packet_slot;
    always @(*) begin
        served = ((32'h0) & 8'hff);
        if (~packet) begin
            served = first_waiting;
        end
    end
    assign event_rules__read_address = noted__q[(64'h2)+:(3)];
    assign peers__read_address = noted__q[(64'h2)+:(3)];
    always @(*) begin
        count = peers__read_data[(64'h80)+:(7)];
        if (unheard__q[event_slot]) begin
            count = ((32'h0) & 7'h7f);
        end
    end
    assign known = peers__read_data[(64'h0)+:(64)] & noted__q[(64'h5)+:(64)];
    assign count_with = count + 32'h1;
    assign event_bit = one << looked_up__q[(64'h2)+:(3)];
    always @(*) begin
        becomes[(64'h0)+:(64)] = looked_up__q[(64'h76)+:(64)] | looked_up__q[(64'h5)+:(64)];
        becomes[(64'h40)+:(64)] = looked_up__q[(64'hb6)+:(64)];
        if (looked_up__q[(64'h45)+:(1)]) begin
            becomes[(64'h40)+:(64)] = looked_up__q[(64'hb6)+:(64)] | looked_up__q[(64'h5)+:(64)];
        end
        becomes[(64'h80)+:(7)] = looked_up__q[(64'hf6)+:(7)];
        if (~looked_up__q[(64'h104)+:(1)]) begin
            becomes[(64'h80)+:(7)] = looked_up__q[(64'hfd)+:(7)];
        end
    end
    always @(*) begin
        enough = looked_up__q[(64'h145)+:(1)];
        if (~looked_up__q[(64'h104)+:(1)]) begin
            enough = looked_up__q[(64'h146)+:(1)];
        end
    end
    assign missing = looked_up__q[(64'h147)+:(64)] & (becomes[(64'h40)+:(64)] ^ 64'hffffffffffffffff);
    assign all_marked = missing == 32'h0;
    assign start = ((runs_now & event_bit) == 32'h0) && (looked_up__q[(64'h1)+:(1)] || (looked_up__q[(64'h0)+:(1)] && enough));
    always @(*) begin
        start_bit = ((32'h0) & 8'hff);
        if (start) begin
            start_bit = event_bit;
        end
    end
    always @(*) begin
        heard_bit = ((32'h0) & 8'hff);
        if (looked_up__q[(64'h0)+:(1)]) begin
            heard_bit = event_bit;
        end
    end
    always @(*) begin
        enter_bit = ((32'h0) & 8'hff);
        if (looked_up__q[(64'h1)+:(1)]) begin
            enter_bit = event_bit;
        end
    end
    assign peers__write_enable = looked_up__q[(64'h0)+:(1)];
    assign peers__write_address = looked_up__q[(64'h2)+:(3)];
    assign peers__write_data = becomes;
    assign told_heard__write_enable = looked_up__q[(64'h0)+:(1)];
    assign told_heard__write_address = looked_up__q[(64'h2)+:(3)];
    assign told_heard__write_data = becomes[(64'h0)+:(64)];
    assign starts__write_enable = start;
    assign starts__write_address = looked_up__q[(64'h2)+:(3)];
    assign starts__write_data = looked_up__q[(64'h46)+:(48)];
    assign at_ns = looked_up__q[(64'h46)+:(48)];
    assign at = at_ns[(32'h0)+:(34)];
    assign deadline = at + ((looked_up__q[(64'h105)+:(32)]) & 34'h3ffffffff);
    assign grace = at + ((looked_up__q[(64'h125)+:(32)]) & 34'h3ffffffff);
    assign beat_rules__read_address = counting__q[(64'h1)+:(3)];
    assign beats__read_address = counting__q[(64'h1)+:(3)];
    always @(*) begin
        beat_bit = ((32'h0) & 8'hff);
        if (counting__q[(64'h0)+:(1)]) begin
            beat_bit = one << counting__q[(64'h1)+:(3)];
        end
    end
    always @(*) begin
        tally = beats__read_data;
        if ((uncounted__q & beat_bit) != 32'h0) begin
            tally[(64'h0)+:(22)] = beat_rules__read_data[(64'h0)+:(22)];
            tally[(64'h16)+:(22)] = ((32'h0) & 22'h3fffff);
            tally[(64'h2c)+:(22)] = ((32'h0) & 22'h3fffff);
        end
    end
    always @(*) begin
        tallied = tally;
        tallied[(64'h0)+:(22)] = tally[(64'h0)+:(22)] - 32'h1;
        if (counting__q[(64'h4)+:(1)]) begin
            tallied[(64'h2c)+:(22)] = tally[(64'h2c)+:(22)] + 32'h1;
        end
        else begin
            tallied[(64'h16)+:(22)] = tally[(64'h16)+:(22)] + 32'h1;
        end
    end
    assign all_in = tally_done__q[(64'h4)+:(22)] == 32'h0;
    assign own_in = tally_done__q[(64'h1a)+:(22)] == ((tally_done__q[(64'h30)+:(15)]) & 22'h3fffff);
    always @(*) begin
        done_bit = ((32'h0) & 8'hff);
        if (tally_done__q[(64'h0)+:(1)]) begin
            done_bit = one << tally_done__q[(64'h1)+:(3)];
        end
    end
    assign beats__write_enable = counting__q[(64'h0)+:(1)];
    assign beats__write_address = counting__q[(64'h1)+:(3)];
    assign beats__write_data = tallied;
    assign told_beats__write_enable = counting__q[(64'h0)+:(1)];
    assign told_beats__write_address = counting__q[(64'h1)+:(3)];
    assign told_beats__write_data = tallied;
    assign due_less = due - 32'h1;
    assign first_due = due & (due_less ^ 32'hff);
    assign end_bits = ending__q[(64'h0)+:(8)];
    always @(*) begin
        end_slot = ((32'h0) & 3'h7);
        if ((end_bits & 32'haa) != 32'h0) begin
            end_slot = ((32'h1) & 3'h7);
        end
        if ((end_bits & 32'hcc) != 32'h0) begin
            end_slot = end_slot | 32'h2;
        end
        if ((end_bits & 32'hf0) != 32'h0) begin
            end_slot = end_slot | 32'h4;
        end
    end
    always @(*) begin
        reason = ((32'h0) & 2'h3);
        if (end_bits[0]) begin
            reason = gate__0__closed_by;
        end
        if (end_bits[1]) begin
            reason = gate__1__closed_by;
        end
        if (end_bits[2]) begin
            reason = gate__2__closed_by;
        end
        if (end_bits[3]) begin
            reason = gate__3__closed_by;
        end
        if (end_bits[4]) begin
            reason = gate__4__closed_by;
        end
        if (end_bits[5]) begin
            reason = gate__5__closed_by;
        end
        if (end_bits[6]) begin
            reason = gate__6__closed_by;
        end
        if (end_bits[7]) begin
            reason = gate__7__closed_by;
        end
    end
    assign ends__write_enable = end_bits != 32'h0;
    assign ends__write_address = end_slot;
    always @(*) begin
        ends__write_data[(64'h0)+:(2)] = reason;
        ends__write_data[(64'h2)+:(48)] = ending__q[(64'h8)+:(48)];
    end
    assign gate__0__clock = clock;
    assign gate__0__now_ns = now;
    assign gate__0__quiet = quiet;
    assign gate__0__arm = arm[0];
    assign gate__0__early = rules[(64'h47)+:(1)];
    always @(*) begin
        gate__0__all_in = all_in;
        if (arm[0]) begin
            gate__0__all_in = rules[(64'h88)+:(22)] == 32'h0;
        end
    end
    always @(*) begin
        gate__0__own_in = own_in;
        if (arm[0]) begin
            gate__0__own_in = rules[(64'h9e)+:(15)] == 32'h0;
        end
    end
    always @(*) begin
        gate__0__all_marked = all_marked;
        if (arm[0]) begin
            gate__0__all_marked = rules[(64'h48)+:(64)] == 32'h0;
        end
    end
    assign gate__0__counted = done_bit[0];
    assign gate__0__heard = heard_bit[0];
    assign gate__0__enter = enter_bit[0];
    assign gate__0__start = start_bit[0];
    assign gate__0__deadline_ns = deadline;
    assign gate__0__grace_ns = grace;
    assign gate__0__close = first_due[0];
    assign gate__0__free = free[0] || clear;
    assign gate__1__clock = clock;
    assign gate__1__now_ns = now;
    assign gate__1__quiet = quiet;
    assign gate__1__arm = arm[1];
    assign gate__1__early = rules[(64'h47)+:(1)];
    always @(*) begin
        gate__1__all_in = all_in;
        if (arm[1]) begin
            gate__1__all_in = rules[(64'h88)+:(22)] == 32'h0;
        end
    end
    always @(*) begin
        gate__1__own_in = own_in;
        if (arm[1]) begin
            gate__1__own_in = rules[(64'h9e)+:(15)] == 32'h0;
        end
    end
    always @(*) begin
        gate__1__all_marked = all_marked;
        if (arm[1]) begin
            gate__1__all_marked = rules[(64'h48)+:(64)] == 32'h0;
        end
    end
    assign gate__1__counted = done_bit[1];
    assign gate__1__heard = heard_bit[1];
    assign gate__1__enter = enter_bit[1];
    assign gate__1__start = start_bit[1];
    assign gate__1__deadline_ns = deadline;
    assign gate__1__grace_ns = grace;
    assign gate__1__close = first_due[1];
    assign gate__1__free = free[1] || clear;
    assign gate__2__clock = clock;
    assign gate__2__now_ns = now;
    assign gate__2__quiet = quiet;
    assign gate__2__arm = arm[2];
    assign gate__2__early = rules[(64'h47)+:(1)];
    always @(*) begin
        gate__2__all_in = all_in;
        if (arm[2]) begin
            gate__2__all_in = rules[(64'h88)+:(22)] == 32'h0;
        end
    end
    always @(*) begin
        gate__2__own_in = own_in;
        if (arm[2]) begin
            gate__2__own_in = rules[(64'h9e)+:(15)] == 32'h0;
        end
    end
    always @(*) begin
        gate__2__all_marked = all_marked;
        if (arm[2]) begin
            gate__2__all_marked = rules[(64'h48)+:(64)] == 32'h0;
        end
    end
    assign gate__2__counted = done_bit[2];
    assign gate__2__heard = heard_bit[2];
    assign gate__2__enter = enter_bit[2];
    assign gate__2__start = start_bit[2];
    assign gate__2__deadline_ns = deadline;
    assign gate__2__grace_ns = grace;
    assign gate__2__close = first_due[2];
    assign gate__2__free = free[2] || clear;
    assign gate__3__clock = clock;
    assign gate__3__now_ns = now;
    assign gate__3__quiet = quiet;
    assign gate__3__arm = arm[3];
    assign gate__3__early = rules[(64'h47)+:(1)];
    always @(*) begin
        gate__3__all_in = all_in;
        if (arm[3]) begin
            gate__3__all_in = rules[(64'h88)+:(22)] == 32'h0;
        end
    end
    always @(*) begin
        gate__3__own_in = own_in;
        if (arm[3]) begin
            gate__3__own_in = rules[(64'h9e)+:(15)] == 32'h0;
        end
    end
    always @(*) begin
        gate__3__all_marked = all_marked;
        if (arm[3]) begin
            gate__3__all_marked = rules[(64'h48)+:(64)] == 32'h0;
        end
    end
    assign gate__3__counted = done_bit[3];
    assign gate__3__heard = heard_bit[3];
    assign gate__3__enter = enter_bit[3];
    assign gate__3__start = start_bit[3];
    assign gate__3__deadline_ns = deadline;
    assign gate__3__grace_ns = grace;
    assign gate__3__close = first_due[3];
    assign gate__3__free = free[3] || clear;
    assign gate__4__clock = clock;
    assign gate__4__now_ns = now;
    assign gate__4__quiet = quiet;
    assign gate__4__arm = arm[4];
    assign gate__4__early = rules[(64'h47)+:(1)];
    always @(*) begin
        gate__4__all_in = all_in;
        if (arm[4]) begin
            gate__4__all_in = rules[(64'h88)+:(22)] == 32'h0;
        end
    end
    always @(*) begin
        gate__4__own_in = own_in;
        if (arm[4]) begin
            gate__4__own_in = rules[(64'h9e)+:(15)] == 32'h0;
        end
    end
    always @(*) begin
        gate__4__all_marked = all_marked;
        if (arm[4]) begin
            gate__4__all_marked = rules[(64'h48)+:(64)] == 32'h0;
        end
    end
    assign gate__4__counted = done_bit[4];
    assign gate__4__heard = heard_bit[4];
    assign gate__4__enter = enter_bit[4];
    assign gate__4__start = start_bit[4];
    assign gate__4__deadline_ns = deadline;
    assign gate__4__grace_ns = grace;
    assign gate__4__close = first_due[4];
    assign gate__4__free = free[4] || clear;
    assign gate__5__clock = clock;
    assign gate__5__now_ns = now;
    assign gate__5__quiet = quiet;
    assign gate__5__arm = arm[5];
    assign gate__5__early = rules[(64'h47)+:(1)];
    always @(*) begin
        gate__5__all_in = all_in;
        if (arm[5]) begin
            gate__5__all_in = rules[(64'h88)+:(22)] == 32'h0;
        end
    end
    always @(*) begin
        gate__5__own_in = own_in;
        if (arm[5]) begin
            gate__5__own_in = rules[(64'h9e)+:(15)] == 32'h0;
        end
    end
    always @(*) begin
        gate__5__all_marked = all_marked;
        if (arm[5]) begin
            gate__5__all_marked = rules[(64'h48)+:(64)] == 32'h0;
        end
    end
    assign gate__5__counted = done_bit[5];
    assign gate__5__heard = heard_bit[5];
    assign gate__5__enter = enter_bit[5];
    assign gate__5__start = start_bit[5];
    assign gate__5__deadline_ns = deadline;
    assign gate__5__grace_ns = grace;
    assign gate__5__close = first_due[5];
    assign gate__5__free = free[5] || clear;
    assign gate__6__clock = clock;
    assign gate__6__now_ns = now;
    assign gate__6__quiet = quiet;
    assign gate__6__arm = arm[6];
    assign gate__6__early = rules[(64'h47)+:(1)];
    always @(*) begin
        gate__6__all_in = all_in;
        if (arm[6]) begin
            gate__6__all_in = rules[(64'h88)+:(22)] == 32'h0;
        end
    end
    always @(*) begin
        gate__6__own_in = own_in;
        if (arm[6]) begin
            gate__6__own_in = rules[(64'h9e)+:(15)] == 32'h0;
        end
    end
    always @(*) begin
        gate__6__all_marked = all_marked;
        if (arm[6]) begin
            gate__6__all_marked = rules[(64'h48)+:(64)] == 32'h0;
        end
    end
    assign gate__6__counted = done_bit[6];
    assign gate__6__heard = heard_bit[6];
    assign gate__6__enter = enter_bit[6];
    assign gate__6__start = start_bit[6];
    assign gate__6__deadline_ns = deadline;
    assign gate__6__grace_ns = grace;
    assign gate__6__close = first_due[6];
    assign gate__6__free = free[6] || clear;
    assign gate__7__clock = clock;
    assign gate__7__now_ns = now;
    assign gate__7__quiet = quiet;
    assign gate__7__arm = arm[7];
    assign gate__7__early = rules[(64'h47)+:(1)];
    always @(*) begin
        gate__7__all_in = all_in;
        if (arm[7]) begin
            gate__7__all_in = rules[(64'h88)+:(22)] == 32'h0;
        end
    end
    always @(*) begin
        gate__7__own_in = own_in;
        if (arm[7]) begin
            gate__7__own_in = rules[(64'h9e)+:(15)] == 32'h0;
        end
    end
    always @(*) begin
        gate__7__all_marked = all_marked;
        if (arm[7]) begin
            gate__7__all_marked = rules[(64'h48)+:(64)] == 32'h0;
        end
    end
    assign gate__7__counted = done_bit[7];
    assign gate__7__heard = heard_bit[7];
    assign gate__7__enter = enter_bit[7];
    assign gate__7__start = start_bit[7];
    assign gate__7__deadline_ns = deadline;
    assign gate__7__grace_ns = grace;
    assign gate__7__close = first_due[7];
    assign gate__7__free = free[7] || clear;
    assign told_heard__read_address = report_slot;
    assign told_beats__read_address = report_slot;
    assign starts__read_address = report_slot;
    assign ends__read_address = report_slot;
    always @(*) begin
        report[(64'h0)+:(2)] = ends__read_data[(64'h0)+:(2)];
        report[(64'h9e)+:(48)] = ends__read_data[(64'h2)+:(48)];
        report[(64'h6e)+:(48)] = starts__read_data;
        report[(64'h2e)+:(64)] = ((32'h0) & 64'hffffffffffffffff);
        if (~unheard__q[report_slot]) begin
            report[(64'h2e)+:(64)] = told_heard__read_data;
        end
        report[(64'h2)+:(22)] = ((32'h0) & 22'h3fffff);
        report[(64'h18)+:(22)] = ((32'h0) & 22'h3fffff);
        if (~uncounted__q[report_slot]) begin
            report[(64'h2)+:(22)] = told_beats__read_data[(64'h16)+:(22)];
            report[(64'h18)+:(22)] = told_beats__read_data[(64'h2c)+:(22)];
        end
    end
    assign timer_bit = one << timer_slot;
    always @(*) begin
        timer_runs = 1'b0;
        if (timer_bit[0]) begin
            timer_runs = gate__0__open && gate__0__clock_runs;
        end
        if (timer_bit[1]) begin
            timer_runs = gate__1__open && gate__1__clock_runs;
        end
        if (timer_bit[2]) begin
            timer_runs = gate__2__open && gate__2__clock_runs;
        end
        if (timer_bit[3]) begin
            timer_runs = gate__3__open && gate__3__clock_runs;
        end
        if (timer_bit[4]) begin
            timer_runs = gate__4__open && gate__4__clock_runs;
        end
        if (timer_bit[5]) begin
            timer_runs = gate__5__open && gate__5__clock_runs;
        end
        if (timer_bit[6]) begin
            timer_runs = gate__6__open && gate__6__clock_runs;
        end
        if (timer_bit[7]) begin
            timer_runs = gate__7__open && gate__7__clock_runs;
        end
    end
    always @(*) begin
        timer_early = 1'b0;
        if (timer_bit[0]) begin
            timer_early = gate__0__may_be_early;
        end
        if (timer_bit[1]) begin
            timer_early = gate__1__may_be_early;
        end
        if (timer_bit[2]) begin
            timer_early = gate__2__may_be_early;
        end
        if (timer_bit[3]) begin
            timer_early = gate__3__may_be_early;
        end
        if (timer_bit[4]) begin
            timer_early = gate__4__may_be_early;
        end
        if (timer_bit[5]) begin
            timer_early = gate__5__may_be_early;
        end
        if (timer_bit[6]) begin
            timer_early = gate__6__may_be_early;
        end
        if (timer_bit[7]) begin
            timer_early = gate__7__may_be_early;
        end
    end
    always @(*) begin
        timer_ends = ((32'h0) & 34'h3ffffffff);
        if (timer_bit[0]) begin
            timer_ends = gate__0__ends_ns;
        end
        if (timer_bit[1]) begin
            timer_ends = gate__1__ends_ns;
        end
        if (timer_bit[2]) begin
            timer_ends = gate__2__ends_ns;
        end
        if (timer_bit[3]) begin
            timer_ends = gate__3__ends_ns;
        end
        if (timer_bit[4]) begin
            timer_ends = gate__4__ends_ns;
        end
        if (timer_bit[5]) begin
            timer_ends = gate__5__ends_ns;
        end
        if (timer_bit[6]) begin
            timer_ends = gate__6__ends_ns;
        end
        if (timer_bit[7]) begin
            timer_ends = gate__7__ends_ns;
        end
    end
    always @(*) begin
        timer_silent = ((32'h0) & 34'h3ffffffff);
        if (timer_bit[0]) begin
            timer_silent = gate__0__silent_ns;
        end
        if (timer_bit[1]) begin
            timer_silent = gate__1__silent_ns;
        end
        if (timer_bit[2]) begin
            timer_silent = gate__2__silent_ns;
        end
        if (timer_bit[3]) begin
            timer_silent = gate__3__silent_ns;
        end
        if (timer_bit[4]) begin
            timer_silent = gate__4__silent_ns;
        end
        if (timer_bit[5]) begin
            timer_silent = gate__5__silent_ns;
        end
        if (timer_bit[6]) begin
            timer_silent = gate__6__silent_ns;
        end
        if (timer_bit[7]) begin
            timer_silent = gate__7__silent_ns;
        end
    end
    always @(*) begin
        to_end = timer_ends - now;
        to_end = to_end ^ 64'h200000000;
    end
    always @(*) begin
        to_silence = timer_silent - now;
        to_silence = to_silence ^ 64'h200000000;
    end
    always @(*) begin
        distance = to_end;
        if (timer_early && (to_silence < to_end)) begin
            distance = to_silence;
        end
    end
    assign ahead = ((distance) & 48'hffffffffffff) - 64'h200000000;
    assign timer = now_ns + ahead;
    always @(*) begin
        timer_ns = ((64'hffffffffffff) & 48'hffffffffffff);
        if (timer_runs) begin
            timer_ns = timer;
        end
    end
    always @(*) begin
        entering__d = entering__q;
        unheard__d = unheard__q;
        uncounted__d = uncounted__q;
        looked_up__d = looked_up__q;
        counting__d = counting__q;
        tally_done__d = tally_done__q;
        ending__d = ending__q;
        entering__d = waiting ^ served;
        looked_up__d[(64'h0)+:(1)] = noted__q[(64'h0)+:(1)];
        looked_up__d[(64'h1)+:(1)] = noted__q[(64'h1)+:(1)];
        looked_up__d[(64'h2)+:(3)] = noted__q[(64'h2)+:(3)];
        looked_up__d[(64'h5)+:(64)] = noted__q[(64'h5)+:(64)];
        looked_up__d[(64'h45)+:(1)] = noted__q[(64'h45)+:(1)];
        looked_up__d[(64'h46)+:(48)] = noted__q[(64'h46)+:(48)];
        looked_up__d[(64'h76)+:(64)] = peers__read_data[(64'h0)+:(64)];
        looked_up__d[(64'hb6)+:(64)] = peers__read_data[(64'h40)+:(64)];
        looked_up__d[(64'h104)+:(1)] = known != 32'h0;
        if (unheard__q[event_slot]) begin
            looked_up__d[(64'h104)+:(1)] = 1'b0;
            looked_up__d[(64'h76)+:(64)] = ((32'h0) & 64'hffffffffffffffff);
            looked_up__d[(64'hb6)+:(64)] = ((32'h0) & 64'hffffffffffffffff);
        end
        looked_up__d[(64'hf6)+:(7)] = count;
        looked_up__d[(64'hfd)+:(7)] = count_with;
        looked_up__d[(64'h145)+:(1)] = (event_rules__read_data[(64'h40)+:(7)] != 32'h0) && (count >= event_rules__read_data[(64'h40)+:(7)]);
        looked_up__d[(64'h146)+:(1)] = (event_rules__read_data[(64'h40)+:(7)] != 32'h0) && (count_with >= event_rules__read_data[(64'h40)+:(7)]);
        looked_up__d[(64'h105)+:(32)] = event_rules__read_data[(64'h0)+:(32)];
        looked_up__d[(64'h125)+:(32)] = event_rules__read_data[(64'h20)+:(32)];
        looked_up__d[(64'h147)+:(64)] = event_rules__read_data[(64'h47)+:(64)];
        unheard__d = (unheard__q & (heard_bit ^ 32'hff)) | arm;
        counting__d[(64'h0)+:(1)] = beat;
        counting__d[(64'h1)+:(3)] = beat_slot;
        counting__d[(64'h4)+:(1)] = own;
        tally_done__d[(64'h0)+:(1)] = counting__q[(64'h0)+:(1)];
        tally_done__d[(64'h1)+:(3)] = counting__q[(64'h1)+:(3)];
        tally_done__d[(64'h4)+:(22)] = tallied[(64'h0)+:(22)];
        tally_done__d[(64'h1a)+:(22)] = tallied[(64'h2c)+:(22)];
        tally_done__d[(64'h30)+:(15)] = beat_rules__read_data[(64'h16)+:(15)];
        uncounted__d = (uncounted__q & (beat_bit ^ 32'hff)) | arm;
        ending__d[(64'h0)+:(8)] = first_due;
        ending__d[(64'h8)+:(48)] = now_ns;
        if (clear) begin
            looked_up__d[(64'h0)+:(1)] = 1'b0;
            looked_up__d[(64'h1)+:(1)] = 1'b0;
            counting__d[(64'h0)+:(1)] = 1'b0;
            tally_done__d[(64'h0)+:(1)] = 1'b0;
            entering__d = ((32'h0) & 8'hff);
        end
    end
    wire unused__told_beats__read_data = &{told_beats__read_data[21:0]};
    wire unused__at_ns = &{at_ns[47:34]};
endmodule

module optireduce_nic__nic__builder(clock,clear,job,peer_write,peer_word,peer_data,order_valid,order,order_ready,buffer_valid,buffer_address,buffer_data,gather_valid,gather_address,gather_word,sent_bank,sent_slot,mac_valid,mac,mac_ready,began,working);
    // Module arguments
    input wire  clock;
    input wire  clear;
    input wire  [199:0] job;
    input wire  peer_write;
    input wire  [7:0] peer_word;
    input wire  [31:0] peer_data;
    input wire  order_valid;
    input wire  [115:0] order;
    output wire  order_ready;
    output wire  buffer_valid;
    output reg  [16:0] buffer_address;
    input wire  [511:0] buffer_data;
    output wire  gather_valid;
    output reg  [16:0] gather_address;
    input wire  [519:0] gather_word;
    output reg  [1:0] sent_bank;
    output reg  [7:0] sent_slot;
    output wire  mac_valid;
    output reg  [512:0] mac;
    input wire  mac_ready;
    output wire  began;
    output wire  working;
    // Stub signals
    wire  orders__clock;
    wire  orders__clear;
    wire  orders__push;
    wire  [115:0] orders__push_data;
    wire  orders__full;
    reg  orders__pop;
    wire  [115:0] orders__pop_data;
    wire  orders__empty;
    wire  [15:0] orders__room;
    wire  outbox__clock;
    wire  outbox__clear;
    wire  outbox__push;
    wire  [511:0] outbox__push_data;
    wire  outbox__pop;
    wire  [511:0] outbox__pop_data;
    wire  outbox__empty;
    wire  [15:0] outbox__room;
    wire  out_flags__clock;
    wire  out_flags__clear;
    wire  out_flags__push;
    reg  [1:0] out_flags__push_data;
    wire  out_flags__full;
    wire  out_flags__pop;
    wire  [1:0] out_flags__pop_data;
    wire  out_flags__empty;
    wire  [15:0] out_flags__room;
    reg  [7:0] whole__d;
    wire  [7:0] whole__q;
    wire  whole__clock;
    wire  peer_ip__clock;
    wire  [5:0] peer_ip__read_address;
    wire  [31:0] peer_ip__read_data;
    wire  [5:0] peer_ip__write_address;
    wire  [31:0] peer_ip__write_data;
    wire  peer_ip__write_enable;
    wire  peer_mac_lo__clock;
    wire  [5:0] peer_mac_lo__read_address;
    wire  [31:0] peer_mac_lo__read_data;
    wire  [5:0] peer_mac_lo__write_address;
    wire  [31:0] peer_mac_lo__write_data;
    wire  peer_mac_lo__write_enable;
    wire  peer_mac_hi__clock;
    wire  [5:0] peer_mac_hi__read_address;
    wire  [31:0] peer_mac_hi__read_data;
    wire  [5:0] peer_mac_hi__write_address;
    wire  [31:0] peer_mac_hi__write_data;
    wire  peer_mac_hi__write_enable;
    reg  fetched__d;
    wire  fetched__q;
    wire  fetched__clock;
    reg  [115:0] fetched_order__d;
    wire  [115:0] fetched_order__q;
    wire  fetched_order__clock;
    reg  prepared__d;
    wire  prepared__q;
    wire  prepared__clock;
    reg  [115:0] prepared_order__d;
    wire  [115:0] prepared_order__q;
    wire  prepared_order__clock;
    reg  [511:0] header__d;
    wire  [511:0] header__q;
    wire  header__clock;
    reg  [19:0] own_sum__d;
    wire  [19:0] own_sum__q;
    wire  own_sum__clock;
    reg  [19:0] sum__d;
    wire  [19:0] sum__q;
    wire  sum__clock;
    reg  [29:0] sending__d;
    wire  [29:0] sending__q;
    wire  sending__clock;
    reg  [7:0] asked__d;
    wire  [7:0] asked__q;
    wire  asked__clock;
    reg  [511:0] asked_header__d;
    wire  [511:0] asked_header__q;
    wire  asked_header__clock;
    reg  [511:0] kept_half__d;
    wire  [511:0] kept_half__q;
    wire  kept_half__clock;
    reg  [511:0] halves__low;
    reg  [511:0] halves__high;
    wire  [511:0] halves__packs;
    // Local signals
    wire  [115:0] o;
    wire  [115:0] p;
    reg  [511:0] h;
    wire  [15:0] bytes;
    wire  [15:0] total;
    wire  [15:0] udp_length;
    wire  [15:0] total_swapped;
    wire  [31:0] ip;
    wire  [31:0] my_ip;
    wire  [19:0] own_words;
    wire  [19:0] words;
    wire  [16:0] fold;
    wire  [15:0] folded;
    wire  [15:0] checksum;
    wire  [31:0] offset;
    reg  [7:0] flags;
    wire  [15:0] timeout;
    wire  [15:0] step;
    wire  [15:0] bucket;
    wire  take_prepared;
    wire  move_up;
    reg  slow;
    wire  room;
    wire  payload_beat;
    wire  opening;
    wire  finish;
    wire  [13:0] position_next;
    wire  [7:0] remaining_next;
    wire  [7:0] one8;
    wire  ends;
    wire  last;
    reg  [511:0] memory;
    reg  [511:0] out;
    wire  [1:0] f;
    wire  leaves;
    wire  came;
    wire  left;
    wire  [7:0] whole_more;
    wire  [7:0] whole_less;
    // Sub module instances
    optireduce_nic__nic__builder__orders orders(
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
    optireduce_nic__nic__builder__outbox outbox(
        .clock(outbox__clock),
        .clear(outbox__clear),
        .push(outbox__push),
        .push_data(outbox__push_data),
        .pop(outbox__pop),
        .pop_data(outbox__pop_data),
        .empty(outbox__empty),
        .room(outbox__room)
    );
    optireduce_nic__nic__builder__out_flags out_flags(
        .clock(out_flags__clock),
        .clear(out_flags__clear),
        .push(out_flags__push),
        .push_data(out_flags__push_data),
        .full(out_flags__full),
        .pop(out_flags__pop),
        .pop_data(out_flags__pop_data),
        .empty(out_flags__empty),
        .room(out_flags__room)
    );
    optireduce_nic__nic__gather__arrivals__asked_epoch whole(
        .d(whole__d),
        .q(whole__q),
        .clock(whole__clock)
    );
    optireduce_nic__nic__builder__peer_ip peer_ip(
        .clock(peer_ip__clock),
        .read_address(peer_ip__read_address),
        .read_data(peer_ip__read_data),
        .write_address(peer_ip__write_address),
        .write_data(peer_ip__write_data),
        .write_enable(peer_ip__write_enable)
    );
    optireduce_nic__nic__builder__peer_ip peer_mac_lo(
        .clock(peer_mac_lo__clock),
        .read_address(peer_mac_lo__read_address),
        .read_data(peer_mac_lo__read_data),
        .write_address(peer_mac_lo__write_address),
        .write_data(peer_mac_lo__write_data),
        .write_enable(peer_mac_lo__write_enable)
    );
    optireduce_nic__nic__builder__peer_ip peer_mac_hi(
        .clock(peer_mac_hi__clock),
        .read_address(peer_mac_hi__read_address),
        .read_data(peer_mac_hi__read_data),
        .write_address(peer_mac_hi__write_address),
        .write_data(peer_mac_hi__write_data),
        .write_enable(peer_mac_hi__write_enable)
    );
    optireduce_nic__nic__finisher__drain__side__0 fetched(
        .d(fetched__d),
        .q(fetched__q),
        .clock(fetched__clock)
    );
    optireduce_nic__nic__builder__fetched_order fetched_order(
        .d(fetched_order__d),
        .q(fetched_order__q),
        .clock(fetched_order__clock)
    );
    optireduce_nic__nic__finisher__drain__side__0 prepared(
        .d(prepared__d),
        .q(prepared__q),
        .clock(prepared__clock)
    );
    optireduce_nic__nic__builder__fetched_order prepared_order(
        .d(prepared_order__d),
        .q(prepared_order__q),
        .clock(prepared_order__clock)
    );
    optireduce_nic__nic__finisher__drain__stage_data header(
        .d(header__d),
        .q(header__q),
        .clock(header__clock)
    );
    optireduce_nic__nic__builder__own_sum own_sum(
        .d(own_sum__d),
        .q(own_sum__q),
        .clock(own_sum__clock)
    );
    optireduce_nic__nic__builder__own_sum sum(
        .d(sum__d),
        .q(sum__q),
        .clock(sum__clock)
    );
    optireduce_nic__nic__builder__sending sending(
        .d(sending__d),
        .q(sending__q),
        .clock(sending__clock)
    );
    optireduce_nic__nic__gather__arrivals__asked_epoch asked(
        .d(asked__d),
        .q(asked__q),
        .clock(asked__clock)
    );
    optireduce_nic__nic__finisher__drain__stage_data asked_header(
        .d(asked_header__d),
        .q(asked_header__q),
        .clock(asked_header__clock)
    );
    optireduce_nic__nic__finisher__drain__stage_data kept_half(
        .d(kept_half__d),
        .q(kept_half__q),
        .clock(kept_half__clock)
    );
    optireduce_nic__nic__builder__halves halves(
        .low(halves__low),
        .high(halves__high),
        .packs(halves__packs)
    );
    // Update code
    assign fetched__clock = clock;
    assign fetched_order__clock = clock;
    assign prepared__clock = clock;
    assign prepared_order__clock = clock;
    assign header__clock = clock;
    assign own_sum__clock = clock;
    assign sum__clock = clock;
    assign sending__clock = clock;
    assign asked__clock = clock;
    assign asked_header__clock = clock;
    assign kept_half__clock = clock;
    assign whole__clock = clock;
    assign orders__clock = clock;
    assign orders__clear = clear;
    assign orders__push = order_valid;
    assign orders__push_data = order;
    assign order_ready = ~orders__full;
    assign outbox__clock = clock;
    assign outbox__clear = clear;
    assign out_flags__clock = clock;
    assign out_flags__clear = clear;
    assign peer_ip__clock = clock;
    assign peer_mac_lo__clock = clock;
    assign peer_mac_hi__clock = clock;
    assign peer_ip__write_address = peer_word[(32'h2)+:(6)];
    assign peer_mac_lo__write_address = peer_word[(32'h2)+:(6)];
    assign peer_mac_hi__write_address = peer_word[(32'h2)+:(6)];
    assign peer_ip__write_data = peer_data;
    assign peer_mac_lo__write_data = peer_data;
    assign peer_mac_hi__write_data = peer_data;
    assign peer_ip__write_enable = peer_write && (peer_word[(32'h0)+:(2)] == 32'h0);
    assign peer_mac_lo__write_enable = peer_write && (peer_word[(32'h0)+:(2)] == 32'h1);
    assign peer_mac_hi__write_enable = peer_write && (peer_word[(32'h0)+:(2)] == 32'h2);
    assign peer_ip__read_address = fetched_order__q[(64'h5)+:(6)];
    assign peer_mac_lo__read_address = fetched_order__q[(64'h5)+:(6)];
    assign peer_mac_hi__read_address = fetched_order__q[(64'h5)+:(6)];
    assign p = prepared_order__q;
    always @(*) begin
        slow = p[(64'h73)+:(1)];
        if (sending__q[(64'h13)+:(8)] != 32'h0) begin
            slow = sending__q[(64'h1b)+:(1)];
        end
    end
    assign room = (outbox__room >= 32'hf2) || (slow && (outbox__room >= 32'h3));
    assign payload_beat = room && (sending__q[(64'h13)+:(8)] != 32'h0);
    assign finish = prepared__q && p[(64'h23)+:(1)] && (sending__q[(64'h13)+:(8)] == 32'h0);
    assign opening = room && prepared__q && ~p[(64'h23)+:(1)] && (sending__q[(64'h13)+:(8)] == 32'h0);
    assign take_prepared = opening || finish;
    assign move_up = fetched__q && (~prepared__q || take_prepared);
    always @(*) begin
        orders__pop = 1'b0;
        if (~orders__empty && (~fetched__q || move_up)) begin
            orders__pop = 1'b1;
        end
    end
    assign o = fetched_order__q;
    assign bytes = ((o[(64'h19)+:(8)]) & 16'hffff) << 32'h6;
    assign total = bytes + 32'h32;
    assign udp_length = bytes + 32'h1e;
    assign total_swapped = (((total[(32'h0)+:(8)]) & 16'hffff) << 32'h8) | ((total[(32'h8)+:(8)]) & 16'hffff);
    assign ip = peer_ip__read_data;
    assign my_ip = job[(64'h65)+:(32)];
    assign own_words = ((32'h11c5) & 20'hfffff) + ((my_ip[(32'h0)+:(16)]) & 20'hfffff) + ((my_ip[(32'h10)+:(16)]) & 20'hfffff);
    assign words = (own_sum__q + ((total_swapped) & 20'hfffff)) + (((ip[(32'h0)+:(16)]) & 20'hfffff) + ((ip[(32'h10)+:(16)]) & 20'hfffff));
    assign offset = ((o[(64'h58)+:(26)]) & 32'hffffffff) << 32'h6;
    assign timeout = o[(64'h24)+:(16)];
    assign step = o[(64'h38)+:(16)];
    assign bucket = o[(64'h48)+:(16)];
    always @(*) begin
        flags = ((o[(64'h34)+:(4)]) & 8'hff) << 32'h4;
        if (o[(64'h22)+:(1)]) begin
            flags = flags | 32'h1;
        end
        if (o[(64'h72)+:(1)]) begin
            flags = flags | 32'h2;
        end
        if (o[(64'h73)+:(1)]) begin
            flags = flags | 32'h4;
        end
    end
    assign fold = ((sum__q[(32'h0)+:(16)]) & 17'h1ffff) + ((sum__q[(32'h10)+:(4)]) & 17'h1ffff);
    assign folded = fold[(32'h0)+:(16)] + ((fold[(32'h10)+:(1)]) & 16'hffff);
    assign checksum = folded ^ 32'hffff;
    always @(*) begin
        h = header__q;
        h[(64'hc0)+:(16)] = checksum;
    end
    assign began = opening;
    assign position_next = sending__q[(64'h5)+:(14)] + 32'h1;
    assign remaining_next = sending__q[(64'h13)+:(8)] - 32'h1;
    assign last = sending__q[(64'h13)+:(8)] == 32'h1;
    assign ends = ~sending__q[(64'h1b)+:(1)] || sending__q[(64'h1d)+:(1)] || (last && sending__q[(64'h1c)+:(1)]);
    assign buffer_valid = payload_beat && ~sending__q[(64'h3)+:(1)];
    assign gather_valid = payload_beat && sending__q[(64'h3)+:(1)];
    always @(*) begin
        buffer_address[(64'h0)+:(3)] = ((32'h0) & 3'h7);
        buffer_address[(64'h3)+:(14)] = sending__q[(64'h5)+:(14)];
        if (sending__q[(64'h4)+:(1)]) begin
            buffer_address[(64'h0)+:(3)] = ((32'h1) & 3'h7);
        end
    end
    always @(*) begin
        gather_address[(64'h0)+:(3)] = sending__q[(64'h0)+:(3)];
        gather_address[(64'h3)+:(14)] = sending__q[(64'h5)+:(14)];
    end
    always @(*) begin
        sent_bank = ((32'h0) & 2'h3);
        if (finish) begin
            if (p[(64'h3)+:(1)]) begin
            end
            else if (p[(64'h4)+:(1)]) begin
                sent_bank = ((32'h2) & 2'h3);
            end
            else begin
                sent_bank = ((32'h1) & 2'h3);
            end
        end
    end
    always @(*) begin
        sent_slot = ((32'h0) & 8'hff);
        if (finish) begin
            if (p[(64'h3)+:(1)]) begin
                sent_slot = one8 << p[(64'h0)+:(3)];
            end
        end
    end
    assign one8 = ((32'h1) & 8'hff);
    always @(*) begin
        memory = buffer_data;
        if (asked__q[(64'h2)+:(1)]) begin
            memory = gather_word[(64'h0)+:(512)];
        end
    end
    always @(*) begin
        halves__low = kept_half__q;
        if (asked__q[(64'h6)+:(1)]) begin
            halves__low = memory;
        end
    end
    always @(*) begin
        halves__high = memory;
        if (asked__q[(64'h6)+:(1)]) begin
            halves__high = ((32'h0) & 512'hffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff);
        end
    end
    always @(*) begin
        out = memory;
        if (asked__q[(64'h1)+:(1)]) begin
            out = ((asked_header__q) & 512'hffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff);
        end
        else if (asked__q[(64'h5)+:(1)]) begin
            out = halves__packs;
        end
    end
    assign outbox__push = asked__q[(64'h0)+:(1)];
    assign outbox__push_data = out;
    assign out_flags__push = asked__q[(64'h0)+:(1)];
    always @(*) begin
        out_flags__push_data[(64'h0)+:(1)] = asked__q[(64'h3)+:(1)];
        out_flags__push_data[(64'h1)+:(1)] = asked__q[(64'h7)+:(1)];
    end
    assign f = out_flags__pop_data;
    assign leaves = ~outbox__empty && (~f[(64'h1)+:(1)] || (whole__q != 32'h0));
    assign mac_valid = leaves;
    always @(*) begin
        mac[(64'h0)+:(512)] = outbox__pop_data;
        mac[(64'h200)+:(1)] = f[(64'h0)+:(1)];
    end
    assign outbox__pop = leaves && mac_ready;
    assign out_flags__pop = leaves && mac_ready;
    assign came = asked__q[(64'h0)+:(1)] && asked__q[(64'h3)+:(1)];
    assign left = leaves && mac_ready && f[(64'h0)+:(1)];
    assign whole_more = whole__q + 32'h1;
    assign whole_less = whole__q - 32'h1;
    assign working = ~orders__empty || fetched__q || prepared__q || (sending__q[(64'h13)+:(8)] != 32'h0) || asked__q[(64'h0)+:(1)] || (outbox__room != 32'h100);
    always @(*) begin
        fetched__d = fetched__q;
        fetched_order__d = fetched_order__q;
        prepared__d = prepared__q;
        prepared_order__d = prepared_order__q;
        header__d = header__q;
        own_sum__d = own_sum__q;
        sum__d = sum__q;
        sending__d = sending__q;
        asked__d = asked__q;
        asked_header__d = asked_header__q;
        kept_half__d = kept_half__q;
        whole__d = whole__q;
        if (move_up) begin
            fetched__d = 1'b0;
        end
        if (~orders__empty && (~fetched__q || move_up)) begin
            fetched_order__d = orders__pop_data;
            fetched__d = 1'b1;
        end
        own_sum__d = own_words;
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
        asked_header__d = h;
        asked__d[(64'h0)+:(1)] = opening || (payload_beat && ends);
        asked__d[(64'h1)+:(1)] = opening;
        asked__d[(64'h2)+:(1)] = sending__q[(64'h3)+:(1)];
        asked__d[(64'h3)+:(1)] = payload_beat && last;
        asked__d[(64'h4)+:(1)] = payload_beat && ~ends;
        asked__d[(64'h5)+:(1)] = payload_beat && sending__q[(64'h1b)+:(1)];
        asked__d[(64'h6)+:(1)] = ~sending__q[(64'h1d)+:(1)];
        asked__d[(64'h7)+:(1)] = sending__q[(64'h1b)+:(1)];
        if (payload_beat) begin
            sending__d[(64'h5)+:(14)] = position_next;
            sending__d[(64'h1d)+:(1)] = ~ends;
            if (ends) begin
                sending__d[(64'h13)+:(8)] = remaining_next;
            end
        end
        if (opening) begin
            asked__d[(64'h7)+:(1)] = p[(64'h73)+:(1)];
            sending__d[(64'h0)+:(3)] = p[(64'h0)+:(3)];
            sending__d[(64'h3)+:(1)] = p[(64'h3)+:(1)];
            sending__d[(64'h4)+:(1)] = p[(64'h4)+:(1)];
            sending__d[(64'h5)+:(14)] = p[(64'hb)+:(14)];
            sending__d[(64'h13)+:(8)] = p[(64'h19)+:(8)];
            sending__d[(64'h1b)+:(1)] = p[(64'h73)+:(1)];
            sending__d[(64'h1c)+:(1)] = p[(64'h21)+:(1)];
            sending__d[(64'h1d)+:(1)] = 1'b0;
        end
        if (asked__q[(64'h4)+:(1)]) begin
            kept_half__d = memory;
        end
        if (came && ~left) begin
            whole__d = whole_more;
        end
        else if (left && ~came) begin
            whole__d = whole_less;
        end
        if (clear) begin
            fetched__d = 1'b0;
            prepared__d = 1'b0;
            sending__d[(64'h13)+:(8)] = ((32'h0) & 8'hff);
            asked__d[(64'h0)+:(1)] = 1'b0;
            whole__d = ((32'h0) & 8'hff);
        end
    end
    wire unused__orders__room = &{orders__room};
    wire unused__out_flags__empty = &{out_flags__empty};
    wire unused__out_flags__full = &{out_flags__full};
    wire unused__out_flags__room = &{out_flags__room};
    wire unused__gather_word = &{gather_word[519:512]};
    wire unused__job = &{job[199:181], job[84:77], job[12:6]};
    wire unused__p = &{p[114:36], p[34], p[10:5]};
    wire unused__peer_mac_hi__read_data = &{peer_mac_hi__read_data[31:16]};
endmodule

module optireduce_nic__nic__contribute(clock,clear,job,arm,arm_slot,arm_context,order_valid,order,order_ready,ar_valid,ar_address,ar_beats,ar_slot,ar_ready,r_valid,r_data,r_ready,own_valid,own,own_ready,send_valid,send,send_ready,filled_low,filled_high,read_valid,read_address,read_data,sent,held,working,emptying);
    // Module arguments
    input wire  clock;
    input wire  clear;
    input wire  [199:0] job;
    input wire  [7:0] arm;
    input wire  [2:0] arm_slot;
    input wire  [404:0] arm_context;
    input wire  order_valid;
    input wire  [81:0] order;
    output wire  order_ready;
    output wire  ar_valid;
    output wire  [63:0] ar_address;
    output wire  [6:0] ar_beats;
    output wire  [2:0] ar_slot;
    input wire  ar_ready;
    input wire  r_valid;
    input wire  [511:0] r_data;
    output wire  r_ready;
    output wire  own_valid;
    output wire  [556:0] own;
    input wire  own_ready;
    output wire  send_valid;
    output reg  [4:0] send;
    input wire  send_ready;
    output wire  [14:0] filled_low;
    output wire  [14:0] filled_high;
    input wire  read_valid;
    input wire  [16:0] read_address;
    output wire  [511:0] read_data;
    input wire  [1:0] sent;
    output wire  [7:0] held;
    output wire  working;
    output wire  emptying;
    // Enums
    localparam ReadState__Idle = 0;
    localparam ReadState__Start = 1;
    localparam ReadState__Ask = 2;
    localparam FillState__Idle = 0;
    localparam FillState__Start = 1;
    localparam FillState__Fill = 2;
    // Stub signals
    wire  orders__clock;
    wire  orders__clear;
    wire  orders__push;
    wire  [81:0] orders__push_data;
    wire  orders__full;
    reg  orders__pop;
    wire  [81:0] orders__pop_data;
    wire  orders__empty;
    wire  [15:0] orders__room;
    wire  read_contexts__clock;
    wire  [2:0] read_contexts__read_address;
    wire  [404:0] read_contexts__read_data;
    wire  [2:0] read_contexts__write_address;
    wire  [404:0] read_contexts__write_data;
    wire  read_contexts__write_enable;
    wire  contexts__clock;
    wire  [2:0] contexts__read_address;
    wire  [404:0] contexts__read_data;
    wire  [2:0] contexts__write_address;
    wire  [404:0] contexts__write_data;
    wire  contexts__write_enable;
    reg  [1:0] read_state__d;
    wire  [1:0] read_state__q;
    wire  read_state__clock;
    reg  [81:0] read_order__d;
    wire  [81:0] read_order__q;
    wire  read_order__clock;
    reg  [14:0] to_ask__d;
    wire  [14:0] to_ask__q;
    wire  to_ask__clock;
    reg  [14:0] then_ask__d;
    wire  [14:0] then_ask__q;
    wire  then_ask__clock;
    reg  [63:0] ask_address__d;
    wire  [63:0] ask_address__q;
    wire  ask_address__clock;
    reg  [9:0] reserved__d;
    wire  [9:0] reserved__q;
    wire  reserved__clock;
    wire  inbox__clock;
    wire  inbox__clear;
    wire  inbox__push;
    wire  [511:0] inbox__push_data;
    wire  inbox__pop;
    wire  [511:0] inbox__pop_data;
    wire  inbox__empty;
    wire  [15:0] inbox__room;
    wire  planned__clock;
    wire  planned__clear;
    reg  planned__push;
    wire  [81:0] planned__push_data;
    wire  planned__full;
    reg  planned__pop;
    wire  [81:0] planned__pop_data;
    wire  planned__empty;
    wire  [15:0] planned__room;
    wire  encoder__clock;
    wire  encoder__clear;
    reg  encoder__start;
    wire  [3:0] encoder__log2n;
    wire  encoder__decode;
    wire  [63:0] encoder__key;
    wire  encoder__start_ready;
    wire  encoder__in_valid;
    wire  encoder__in_ready;
    wire  [511:0] encoder__in_data;
    wire  encoder__in_received;
    wire  encoder__go;
    wire  encoder__burst;
    wire  encoder__out_valid;
    wire  [511:0] encoder__out_data;
    wire  [10:0] encoder__out_received;
    wire  encoder__idle;
    wire  buffer__clock;
    reg  [16:0] buffer__read_address;
    wire  [511:0] buffer__read_data;
    reg  [16:0] buffer__write_address;
    reg  [511:0] buffer__write_data;
    wire  buffer__write_enable;
    reg  cleared__d;
    wire  cleared__q;
    wire  cleared__clock;
    reg  [1:0] state__d;
    wire  [1:0] state__q;
    wire  state__clock;
    reg  [81:0] order_now__d;
    wire  [81:0] order_now__q;
    wire  order_now__clock;
    reg  bank__d;
    wire  bank__q;
    wire  bank__clock;
    reg  [1:0] sending__d;
    wire  [1:0] sending__q;
    wire  sending__clock;
    reg  looping__d;
    wire  looping__q;
    wire  looping__clock;
    reg  loop_bank__d;
    wire  loop_bank__q;
    wire  loop_bank__clock;
    reg  [14:0] loop_index__d;
    wire  [14:0] loop_index__q;
    wire  loop_index__clock;
    reg  [2:0] loop_slot__d;
    wire  [2:0] loop_slot__q;
    wire  loop_slot__clock;
    reg  [404:0] loop_context__d;
    wire  [404:0] loop_context__q;
    wire  loop_context__clock;
    reg  loop_asked__d;
    wire  loop_asked__q;
    wire  loop_asked__clock;
    reg  [14:0] loop_position__d;
    wire  [14:0] loop_position__q;
    wire  loop_position__clock;
    reg  [14:0] loop_relative__d;
    wire  [14:0] loop_relative__q;
    wire  loop_relative__clock;
    wire  outbox__clock;
    wire  outbox__clear;
    wire  outbox__push;
    reg  [556:0] outbox__push_data;
    wire  outbox__full;
    wire  outbox__pop;
    wire  [556:0] outbox__pop_data;
    wire  outbox__empty;
    wire  [15:0] outbox__room;
    reg  [7:0] hold__d;
    wire  [7:0] hold__q;
    wire  hold__clock;
    reg  [1:0] used__d;
    wire  [1:0] used__q;
    wire  used__clock;
    reg  [2:0] slot_of_low__d;
    wire  [2:0] slot_of_low__q;
    wire  slot_of_low__clock;
    reg  [2:0] slot_of_high__d;
    wire  [2:0] slot_of_high__q;
    wire  slot_of_high__clock;
    reg  [14:0] position__d;
    wire  [14:0] position__q;
    wire  position__clock;
    reg  [14:0] to_feed__d;
    wire  [14:0] to_feed__q;
    wire  to_feed__clock;
    reg  [14:0] to_write__d;
    wire  [14:0] to_write__q;
    wire  to_write__clock;
    reg  [541:0] place__d;
    wire  [541:0] place__q;
    wire  place__clock;
    reg  pending__d;
    wire  pending__q;
    wire  pending__clock;
    reg  wants__d;
    wire  wants__q;
    wire  wants__clock;
    reg  writing__d;
    wire  writing__q;
    wire  writing__clock;
    reg  [2:0] write_slot__d;
    wire  [2:0] write_slot__q;
    wire  write_slot__clock;
    reg  write_bank__d;
    wire  write_bank__q;
    wire  write_bank__clock;
    reg  [404:0] write_context__d;
    wire  [404:0] write_context__q;
    wire  write_context__clock;
    reg  [14:0] filled_of_low__d;
    wire  [14:0] filled_of_low__q;
    wire  filled_of_low__clock;
    reg  [14:0] filled_of_high__d;
    wire  [14:0] filled_of_high__q;
    wire  filled_of_high__clock;
    wire  [511:0] round__data;
    wire  [511:0] round__rounded;
    reg  [10:0] block_index__d;
    wire  [10:0] block_index__q;
    wire  block_index__clock;
    reg  [13:0] beat_index__d;
    wire  [13:0] beat_index__q;
    wire  beat_index__clock;
    // Local signals
    wire  [404:0] ctx;
    wire  [404:0] write_ctx;
    reg  may_start;
    reg  begins;
    wire  granted;
    wire  pass_on;
    reg  [1:0] write_bit;
    wire  [404:0] read_ctx;
    wire  [14:0] read_end;
    reg  [14:0] read_from;
    wire  [20:0] read_skip;
    wire  [63:0] read_start;
    wire  may_ask;
    wire  asks;
    reg  [9:0] asked_beats;
    wire  [9:0] reserved_more;
    wire  [9:0] reserved_less;
    wire  [14:0] own_end;
    wire  bank_busy;
    wire  [6:0] until_page;
    wire  [5:0] page_beat;
    reg  [6:0] burst;
    wire  [12:0] burst_bytes;
    wire  [14:0] to_ask_next;
    wire  [63:0] ask_address_next;
    wire  feed;
    reg  [511:0] feed_data;
    wire  from_host;
    wire  take;
    reg  write;
    wire  [13:0] interleaved;
    wire  [13:0] row;
    wire  [13:0] one10;
    wire  [10:0] one11;
    wire  [3:0] beats_log2;
    wire  [13:0] beats_of_block;
    wire  [13:0] last_beat;
    wire  [13:0] beat_next;
    wire  [10:0] block_next;
    wire  [10:0] blocks;
    wire  last_block;
    wire  [14:0] rows;
    wire  [14:0] position_next;
    wire  [14:0] to_feed_next;
    wire  [14:0] to_write_next;
    wire  [14:0] fed;
    wire  [14:0] loop_next;
    wire  [14:0] loop_at;
    wire  loop_read;
    wire  [1:0] sending_now;
    wire  [1:0] freed;
    reg  [1:0] bank_bit;
    wire  [7:0] one8;
    wire  [7:0] order_bit;
    wire  [7:0] held_up;
    wire  [7:0] low_bit;
    wire  [7:0] high_bit;
    wire  low_out;
    wire  high_out;
    reg  [7:0] unhold;
    reg  [1:0] used_now;
    // Sub module instances
    optireduce_nic__nic__contribute__orders orders(
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
    optireduce_nic__nic__contribute__contexts read_contexts(
        .clock(read_contexts__clock),
        .read_address(read_contexts__read_address),
        .read_data(read_contexts__read_data),
        .write_address(read_contexts__write_address),
        .write_data(read_contexts__write_data),
        .write_enable(read_contexts__write_enable)
    );
    optireduce_nic__nic__contribute__contexts contexts(
        .clock(contexts__clock),
        .read_address(contexts__read_address),
        .read_data(contexts__read_data),
        .write_address(contexts__write_address),
        .write_data(contexts__write_data),
        .write_enable(contexts__write_enable)
    );
    optireduce_nic__nic__finisher__drain__state read_state(
        .d(read_state__d),
        .q(read_state__q),
        .clock(read_state__clock)
    );
    optireduce_nic__nic__contribute__order_now read_order(
        .d(read_order__d),
        .q(read_order__q),
        .clock(read_order__clock)
    );
    optireduce_nic__nic__finisher__drain__to_come to_ask(
        .d(to_ask__d),
        .q(to_ask__q),
        .clock(to_ask__clock)
    );
    optireduce_nic__nic__finisher__drain__to_come then_ask(
        .d(then_ask__d),
        .q(then_ask__q),
        .clock(then_ask__clock)
    );
    optireduce_nic__nic__finisher__write__results__state ask_address(
        .d(ask_address__d),
        .q(ask_address__q),
        .clock(ask_address__clock)
    );
    optireduce_nic__nic__finisher__drain__decoder__butterflies__across__0__position reserved(
        .d(reserved__d),
        .q(reserved__q),
        .clock(reserved__clock)
    );
    optireduce_nic__nic__contribute__inbox inbox(
        .clock(inbox__clock),
        .clear(inbox__clear),
        .push(inbox__push),
        .push_data(inbox__push_data),
        .pop(inbox__pop),
        .pop_data(inbox__pop_data),
        .empty(inbox__empty),
        .room(inbox__room)
    );
    optireduce_nic__nic__contribute__planned planned(
        .clock(planned__clock),
        .clear(planned__clear),
        .push(planned__push),
        .push_data(planned__push_data),
        .full(planned__full),
        .pop(planned__pop),
        .pop_data(planned__pop_data),
        .empty(planned__empty),
        .room(planned__room)
    );
    optireduce_nic__nic__finisher__drain__decoder encoder(
        .clock(encoder__clock),
        .clear(encoder__clear),
        .start(encoder__start),
        .log2n(encoder__log2n),
        .decode(encoder__decode),
        .key(encoder__key),
        .start_ready(encoder__start_ready),
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
    optireduce_nic__nic__contribute__buffer buffer(
        .clock(buffer__clock),
        .read_address(buffer__read_address),
        .read_data(buffer__read_data),
        .write_address(buffer__write_address),
        .write_data(buffer__write_data),
        .write_enable(buffer__write_enable)
    );
    optireduce_nic__nic__finisher__drain__side__0 cleared(
        .d(cleared__d),
        .q(cleared__q),
        .clock(cleared__clock)
    );
    optireduce_nic__nic__finisher__drain__state state(
        .d(state__d),
        .q(state__q),
        .clock(state__clock)
    );
    optireduce_nic__nic__contribute__order_now order_now(
        .d(order_now__d),
        .q(order_now__q),
        .clock(order_now__clock)
    );
    optireduce_nic__nic__finisher__drain__side__0 bank(
        .d(bank__d),
        .q(bank__q),
        .clock(bank__clock)
    );
    optireduce_nic__nic__finisher__msix__at sending(
        .d(sending__d),
        .q(sending__q),
        .clock(sending__clock)
    );
    optireduce_nic__nic__finisher__drain__side__0 looping(
        .d(looping__d),
        .q(looping__q),
        .clock(looping__clock)
    );
    optireduce_nic__nic__finisher__drain__side__0 loop_bank(
        .d(loop_bank__d),
        .q(loop_bank__q),
        .clock(loop_bank__clock)
    );
    optireduce_nic__nic__finisher__drain__to_come loop_index(
        .d(loop_index__d),
        .q(loop_index__q),
        .clock(loop_index__clock)
    );
    optireduce_nic__nic__finisher__drain__come_slot loop_slot(
        .d(loop_slot__d),
        .q(loop_slot__q),
        .clock(loop_slot__clock)
    );
    optireduce_nic__nic__finisher__drain__come_ctx loop_context(
        .d(loop_context__d),
        .q(loop_context__q),
        .clock(loop_context__clock)
    );
    optireduce_nic__nic__finisher__drain__side__0 loop_asked(
        .d(loop_asked__d),
        .q(loop_asked__q),
        .clock(loop_asked__clock)
    );
    optireduce_nic__nic__finisher__drain__to_come loop_position(
        .d(loop_position__d),
        .q(loop_position__q),
        .clock(loop_position__clock)
    );
    optireduce_nic__nic__finisher__drain__to_come loop_relative(
        .d(loop_relative__d),
        .q(loop_relative__q),
        .clock(loop_relative__clock)
    );
    optireduce_nic__nic__contribute__outbox outbox(
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
    optireduce_nic__nic__gather__arrivals__asked_epoch hold(
        .d(hold__d),
        .q(hold__q),
        .clock(hold__clock)
    );
    optireduce_nic__nic__finisher__msix__at used(
        .d(used__d),
        .q(used__q),
        .clock(used__clock)
    );
    optireduce_nic__nic__finisher__drain__come_slot slot_of_low(
        .d(slot_of_low__d),
        .q(slot_of_low__q),
        .clock(slot_of_low__clock)
    );
    optireduce_nic__nic__finisher__drain__come_slot slot_of_high(
        .d(slot_of_high__d),
        .q(slot_of_high__q),
        .clock(slot_of_high__clock)
    );
    optireduce_nic__nic__finisher__drain__to_come position(
        .d(position__d),
        .q(position__q),
        .clock(position__clock)
    );
    optireduce_nic__nic__finisher__drain__to_come to_feed(
        .d(to_feed__d),
        .q(to_feed__q),
        .clock(to_feed__clock)
    );
    optireduce_nic__nic__finisher__drain__to_come to_write(
        .d(to_write__d),
        .q(to_write__q),
        .clock(to_write__clock)
    );
    optireduce_nic__nic__contribute__place place(
        .d(place__d),
        .q(place__q),
        .clock(place__clock)
    );
    optireduce_nic__nic__finisher__drain__side__0 pending(
        .d(pending__d),
        .q(pending__q),
        .clock(pending__clock)
    );
    optireduce_nic__nic__finisher__drain__side__0 wants(
        .d(wants__d),
        .q(wants__q),
        .clock(wants__clock)
    );
    optireduce_nic__nic__finisher__drain__side__0 writing(
        .d(writing__d),
        .q(writing__q),
        .clock(writing__clock)
    );
    optireduce_nic__nic__finisher__drain__come_slot write_slot(
        .d(write_slot__d),
        .q(write_slot__q),
        .clock(write_slot__clock)
    );
    optireduce_nic__nic__finisher__drain__side__0 write_bank(
        .d(write_bank__d),
        .q(write_bank__q),
        .clock(write_bank__clock)
    );
    optireduce_nic__nic__finisher__drain__come_ctx write_context(
        .d(write_context__d),
        .q(write_context__q),
        .clock(write_context__clock)
    );
    optireduce_nic__nic__finisher__drain__to_come filled_of_low(
        .d(filled_of_low__d),
        .q(filled_of_low__q),
        .clock(filled_of_low__clock)
    );
    optireduce_nic__nic__finisher__drain__to_come filled_of_high(
        .d(filled_of_high__d),
        .q(filled_of_high__q),
        .clock(filled_of_high__clock)
    );
    optireduce_nic__nic__contribute__round round(
        .data(round__data),
        .rounded(round__rounded)
    );
    optireduce_nic__nic__finisher__drain__block_index block_index(
        .d(block_index__d),
        .q(block_index__q),
        .clock(block_index__clock)
    );
    optireduce_nic__nic__finisher__drain__beat_index beat_index(
        .d(beat_index__d),
        .q(beat_index__q),
        .clock(beat_index__clock)
    );
    // Update code
    assign cleared__clock = clock;
    assign state__clock = clock;
    assign order_now__clock = clock;
    assign bank__clock = clock;
    assign sending__clock = clock;
    assign looping__clock = clock;
    assign loop_bank__clock = clock;
    assign loop_index__clock = clock;
    assign loop_slot__clock = clock;
    assign loop_context__clock = clock;
    assign loop_asked__clock = clock;
    assign loop_position__clock = clock;
    assign loop_relative__clock = clock;
    assign read_state__clock = clock;
    assign read_order__clock = clock;
    assign to_ask__clock = clock;
    assign then_ask__clock = clock;
    assign ask_address__clock = clock;
    assign reserved__clock = clock;
    assign position__clock = clock;
    assign to_feed__clock = clock;
    assign to_write__clock = clock;
    assign place__clock = clock;
    assign pending__clock = clock;
    assign wants__clock = clock;
    assign writing__clock = clock;
    assign write_slot__clock = clock;
    assign write_bank__clock = clock;
    assign write_context__clock = clock;
    assign filled_of_low__clock = clock;
    assign filled_of_high__clock = clock;
    assign block_index__clock = clock;
    assign beat_index__clock = clock;
    assign hold__clock = clock;
    assign used__clock = clock;
    assign slot_of_low__clock = clock;
    assign slot_of_high__clock = clock;
    assign read_contexts__clock = clock;
    assign read_contexts__write_enable = arm != 32'h0;
    assign read_contexts__write_address = arm_slot;
    assign read_contexts__write_data = arm_context;
    assign read_contexts__read_address = read_order__q[(64'h0)+:(3)];
    assign read_ctx = read_contexts__read_data;
    assign inbox__clock = clock;
    assign inbox__clear = clear;
    assign planned__clock = clock;
    assign planned__clear = clear;
    assign contexts__clock = clock;
    assign contexts__write_enable = arm != 32'h0;
    assign contexts__write_address = arm_slot;
    assign contexts__write_data = arm_context;
    assign contexts__read_address = order_now__q[(64'h0)+:(3)];
    assign ctx = contexts__read_data;
    assign encoder__clock = clock;
    assign buffer__clock = clock;
    assign outbox__clock = clock;
    assign outbox__clear = clear;
    assign orders__clock = clock;
    assign orders__clear = clear;
    assign orders__push = order_valid;
    assign orders__push_data = order;
    always @(*) begin
        orders__pop = 1'b0;
        case (read_state__q)
            ReadState__Idle: begin
                if (~orders__empty && ~planned__full) begin
                    orders__pop = 1'b1;
                end
            end
            default: begin
            end
        endcase
    end
    assign order_ready = ~orders__full;
    always @(*) begin
        bank_bit = ((32'h1) & 2'h3);
        if (bank__q) begin
            bank_bit = ((32'h2) & 2'h3);
        end
    end
    assign freed = sent ^ 32'h3;
    assign sending_now = sending__q & freed;
    assign bank_busy = ((sending__q & bank_bit) != 32'h0) || (looping__q && ((bank__q && loop_bank__q) || (~bank__q && ~loop_bank__q)));
    assign one8 = ((32'h1) & 8'hff);
    assign low_bit = one8 << slot_of_low__q;
    assign high_bit = one8 << slot_of_high__q;
    assign low_out = used__q[32'h0] && ~sending__q[32'h0] && (~looping__q || loop_bank__q);
    assign high_out = used__q[32'h1] && ~sending__q[32'h1] && (~looping__q || ~loop_bank__q);
    always @(*) begin
        used_now = used__q;
        if (low_out) begin
            used_now = used_now & 32'h2;
        end
        if (high_out) begin
            used_now = used_now & 32'h1;
        end
    end
    always @(*) begin
        unhold = ((32'h0) & 8'hff);
        if (low_out) begin
            unhold = low_bit;
        end
        if (high_out) begin
            unhold = unhold | high_bit;
        end
    end
    assign order_bit = one8 << order[(64'h0)+:(3)];
    assign held_up = hold__q & (unhold ^ 32'hff);
    assign held = hold__q;
    assign read_end = read_ctx[(64'haf)+:(15)] + read_ctx[(64'hbe)+:(15)];
    always @(*) begin
        read_from = read_end;
        if (read_ctx[(64'h86)+:(1)] || (read_end == read_ctx[(64'h5a)+:(15)])) begin
            read_from = ((32'h0) & 15'h7fff);
        end
    end
    assign read_skip = ((read_from) & 21'h1fffff) << 32'h6;
    assign read_start = read_order__q[(64'h3)+:(64)] + ((read_skip) & 64'hffffffffffffffff);
    always @(*) begin
        planned__push = 1'b0;
        case (read_state__q)
            ReadState__Start: begin
                planned__push = 1'b1;
            end
            default: begin
            end
        endcase
    end
    assign planned__push_data = read_order__q;
    assign page_beat = ask_address__q[(32'h6)+:(6)];
    assign until_page = ((32'h40) & 7'h7f) - ((page_beat) & 7'h7f);
    always @(*) begin
        burst = until_page;
        if (to_ask__q < ((until_page) & 15'h7fff)) begin
            burst = to_ask__q[(32'h0)+:(7)];
        end
    end
    assign burst_bytes = ((burst) & 13'h1fff) << 32'h6;
    assign to_ask_next = to_ask__q - ((burst) & 15'h7fff);
    assign ask_address_next = ask_address__q + ((burst_bytes) & 64'hffffffffffffffff);
    assign may_ask = reserved__q <= 32'h1c0;
    assign ar_valid = (read_state__q == ReadState__Ask) && (to_ask__q != 32'h0) && may_ask;
    assign ar_address = ask_address__q;
    assign ar_beats = burst;
    assign ar_slot = read_order__q[(64'h0)+:(3)];
    assign asks = ar_valid && ar_ready;
    assign r_ready = 1'b1;
    assign inbox__push = r_valid;
    assign inbox__push_data = r_data;
    assign encoder__clear = clear && ~cleared__q;
    always @(*) begin
        encoder__start = 1'b0;
        case (state__q)
            FillState__Start: begin
                if (may_start) begin
                    encoder__start = ctx[(64'h86)+:(1)];
                end
            end
            default: begin
            end
        endcase
    end
    assign encoder__log2n = ctx[(64'h8a)+:(4)];
    assign encoder__decode = 1'b0;
    assign encoder__key = ctx[(64'h155)+:(64)];
    assign encoder__in_received = 1'b1;
    assign encoder__go = ~wants__q;
    assign emptying = ~encoder__idle;
    assign own_end = ctx[(64'haf)+:(15)] + ctx[(64'hbe)+:(15)];
    always @(*) begin
        planned__pop = 1'b0;
        case (state__q)
            FillState__Idle: begin
                if (~planned__empty) begin
                    planned__pop = 1'b1;
                end
            end
            default: begin
            end
        endcase
    end
    always @(*) begin
        send[(64'h0)+:(3)] = order_now__q[(64'h0)+:(3)];
        send[(64'h3)+:(1)] = 1'b0;
        send[(64'h4)+:(1)] = bank__q;
    end
    always @(*) begin
        may_start = encoder__idle && ~writing__q;
        if (ctx[(64'h86)+:(1)]) begin
            may_start = encoder__start_ready;
        end
    end
    always @(*) begin
        begins = 1'b0;
        case (state__q)
            FillState__Start: begin
                if (may_start) begin
                    begins = 1'b1;
                end
            end
            default: begin
            end
        endcase
    end
    assign send_valid = (begins || wants__q) && ~bank_busy;
    assign granted = send_valid && send_ready;
    assign pass_on = (granted || (pending__q && ~wants__q)) && ~writing__q;
    assign write_ctx = write_context__q;
    always @(*) begin
        write_bit = ((32'h1) & 2'h3);
        if (write_bank__q) begin
            write_bit = ((32'h2) & 2'h3);
        end
    end
    assign from_host = position__q < order_now__q[(64'h43)+:(15)];
    assign feed = (state__q == FillState__Fill) && (to_feed__q != 32'h0) && (ctx[(64'h86)+:(1)] || ~pending__q) && (~from_host || ~inbox__empty);
    always @(*) begin
        feed_data = ((32'h0) & 512'hffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff);
        if (from_host) begin
            feed_data = inbox__pop_data;
        end
    end
    assign encoder__in_valid = feed && ctx[(64'h86)+:(1)];
    assign encoder__in_data = feed_data;
    assign take = feed && (encoder__in_ready || ~ctx[(64'h86)+:(1)]);
    assign inbox__pop = take && from_host;
    assign position_next = position__q + 32'h1;
    assign to_feed_next = to_feed__q - 32'h1;
    always @(*) begin
        asked_beats = ((32'h0) & 10'h3ff);
        if (asks) begin
            asked_beats = ((burst) & 10'h3ff);
        end
    end
    assign reserved_more = reserved__q + asked_beats;
    assign reserved_less = reserved_more - 32'h1;
    assign beats_log2 = write_ctx[(64'h8a)+:(4)] - 32'h4;
    assign one10 = ((32'h1) & 14'h3fff);
    assign beats_of_block = one10 << beats_log2;
    assign last_beat = beats_of_block - 32'h1;
    assign beat_next = beat_index__q + 32'h1;
    assign block_next = block_index__q + 32'h1;
    assign one11 = ((32'h1) & 11'h7ff);
    assign blocks = one11 << write_ctx[(64'h8e)+:(4)];
    assign last_block = block_next == blocks;
    assign row = beat_index__q << write_ctx[(64'h8e)+:(4)];
    assign rows = ((beat_next) & 15'h7fff) << write_ctx[(64'h8e)+:(4)];
    assign interleaved = row + ((block_index__q) & 14'h3fff);
    assign fed = ctx[(64'h5a)+:(15)] - to_feed_next;
    always @(*) begin
        write = take && ~ctx[(64'h86)+:(1)];
        if (write_ctx[(64'h86)+:(1)]) begin
            write = encoder__out_valid && writing__q;
        end
    end
    assign to_write_next = to_write__q - 32'h1;
    assign round__data = place__q[(64'h1e)+:(512)];
    assign buffer__write_enable = place__q[(64'h0)+:(1)];
    always @(*) begin
        buffer__write_address[(64'h0)+:(3)] = ((32'h0) & 3'h7);
        buffer__write_address[(64'h3)+:(14)] = place__q[(64'h1)+:(14)];
        if (write_bank__q) begin
            buffer__write_address[(64'h0)+:(3)] = ((32'h1) & 3'h7);
        end
    end
    always @(*) begin
        buffer__write_data = place__q[(64'h1e)+:(512)];
        if (write_ctx[(64'h87)+:(1)]) begin
            buffer__write_data = round__rounded;
        end
    end
    assign filled_low = filled_of_low__q;
    assign filled_high = filled_of_high__q;
    assign loop_at = loop_context__q[(64'haf)+:(15)] + loop_index__q;
    assign loop_next = loop_index__q + 32'h1;
    assign loop_read = looping__q && ~read_valid && (outbox__room >= 32'h2) && (loop_index__q != loop_context__q[(64'hbe)+:(15)]);
    always @(*) begin
        buffer__read_address[(64'h0)+:(3)] = ((32'h0) & 3'h7);
        buffer__read_address[(64'h3)+:(14)] = loop_at[(32'h0)+:(14)];
        if (loop_bank__q) begin
            buffer__read_address[(64'h0)+:(3)] = ((32'h1) & 3'h7);
        end
        if (read_valid) begin
            buffer__read_address = read_address;
        end
    end
    assign outbox__push = loop_asked__q;
    always @(*) begin
        outbox__push_data[(64'h0)+:(3)] = loop_slot__q;
        outbox__push_data[(64'h3)+:(14)] = loop_position__q[(32'h0)+:(14)];
        outbox__push_data[(64'h11)+:(14)] = loop_relative__q[(32'h0)+:(14)];
        outbox__push_data[(64'h1f)+:(6)] = job[(64'h0)+:(6)];
        outbox__push_data[(64'h25)+:(8)] = loop_context__q[(64'hcd)+:(8)];
        outbox__push_data[(64'h2d)+:(512)] = buffer__read_data;
    end
    assign own_valid = ~outbox__empty;
    assign own = outbox__pop_data;
    assign outbox__pop = own_ready;
    assign read_data = buffer__read_data;
    assign working = (state__q != FillState__Idle) || (read_state__q != ReadState__Idle) || ~orders__empty || ~planned__empty || writing__q || (used__q != 32'h0);
    always @(*) begin
        cleared__d = cleared__q;
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
        read_state__d = read_state__q;
        read_order__d = read_order__q;
        to_ask__d = to_ask__q;
        then_ask__d = then_ask__q;
        ask_address__d = ask_address__q;
        reserved__d = reserved__q;
        position__d = position__q;
        to_feed__d = to_feed__q;
        to_write__d = to_write__q;
        place__d = place__q;
        pending__d = pending__q;
        wants__d = wants__q;
        writing__d = writing__q;
        write_slot__d = write_slot__q;
        write_bank__d = write_bank__q;
        write_context__d = write_context__q;
        filled_of_low__d = filled_of_low__q;
        filled_of_high__d = filled_of_high__q;
        block_index__d = block_index__q;
        beat_index__d = beat_index__q;
        hold__d = hold__q;
        used__d = used__q;
        slot_of_low__d = slot_of_low__q;
        slot_of_high__d = slot_of_high__q;
        sending__d = sending_now;
        used__d = used_now;
        hold__d = held_up;
        if (order_valid && ~orders__full) begin
            hold__d = held_up | order_bit;
        end
        case (read_state__q)
            ReadState__Idle: begin
                if (~orders__empty && ~planned__full) begin
                    read_order__d = orders__pop_data;
                    read_state__d = ReadState__Start;
                end
            end
            ReadState__Start: begin
                to_ask__d = read_order__q[(64'h43)+:(15)] - read_from;
                then_ask__d = read_from;
                ask_address__d = read_start;
                if (read_order__q[(64'h43)+:(15)] <= read_from) begin
                    to_ask__d = read_order__q[(64'h43)+:(15)];
                    then_ask__d = ((32'h0) & 15'h7fff);
                    ask_address__d = read_order__q[(64'h3)+:(64)];
                end
                read_state__d = ReadState__Ask;
            end
            ReadState__Ask: begin
                if (to_ask__q == 32'h0) begin
                    to_ask__d = then_ask__q;
                    then_ask__d = ((32'h0) & 15'h7fff);
                    ask_address__d = read_order__q[(64'h3)+:(64)];
                    if (then_ask__q == 32'h0) begin
                        read_state__d = ReadState__Idle;
                    end
                end
            end
            default: begin
            end
        endcase
        if (asks) begin
            to_ask__d = to_ask_next;
            ask_address__d = ask_address_next;
        end
        cleared__d = clear;
        case (state__q)
            FillState__Idle: begin
                if (~planned__empty) begin
                    order_now__d = planned__pop_data;
                    state__d = FillState__Start;
                end
            end
            FillState__Start: begin
                position__d = own_end;
                if (ctx[(64'h86)+:(1)] || (own_end == ctx[(64'h5a)+:(15)])) begin
                    position__d = ((32'h0) & 15'h7fff);
                end
                to_feed__d = ctx[(64'h5a)+:(15)];
                if (may_start) begin
                    state__d = FillState__Fill;
                end
            end
            FillState__Fill: begin
                if ((to_feed__q == 32'h0) && ~pending__q) begin
                    bank__d = ~bank__q;
                    state__d = FillState__Idle;
                end
            end
            default: begin
            end
        endcase
        wants__d = (begins || wants__q) && ~granted;
        if (granted) begin
            sending__d = sending_now | bank_bit;
            if (bank__q) begin
                filled_of_high__d = ((32'h0) & 15'h7fff);
            end
            else begin
                filled_of_low__d = ((32'h0) & 15'h7fff);
            end
        end
        pending__d = (begins || pending__q) && ~pass_on;
        if (pass_on) begin
            writing__d = 1'b1;
            write_slot__d = order_now__q[(64'h0)+:(3)];
            write_bank__d = bank__q;
            write_context__d = ctx;
            to_write__d = ctx[(64'h5a)+:(15)];
            block_index__d = ((32'h0) & 11'h7ff);
            beat_index__d = ((32'h0) & 14'h3fff);
        end
        if (writing__q && (to_write__q == 32'h0) && ~looping__q) begin
            writing__d = 1'b0;
            looping__d = 1'b1;
            loop_bank__d = write_bank__q;
            loop_index__d = ((32'h0) & 15'h7fff);
            loop_slot__d = write_slot__q;
            loop_context__d = write_ctx;
            used__d = used_now | write_bit;
            if (write_bank__q) begin
                slot_of_high__d = write_slot__q;
            end
            else begin
                slot_of_low__d = write_slot__q;
            end
        end
        if (take) begin
            to_feed__d = to_feed_next;
            position__d = position_next;
            if (position_next == ctx[(64'h5a)+:(15)]) begin
                position__d = ((32'h0) & 15'h7fff);
            end
        end
        reserved__d = reserved_more;
        if (inbox__pop) begin
            reserved__d = reserved_less;
        end
        place__d[(64'h1)+:(14)] = position__q[(32'h0)+:(14)];
        place__d[(64'hf)+:(15)] = fed;
        place__d[(64'h1e)+:(512)] = feed_data;
        if (write_ctx[(64'h86)+:(1)]) begin
            place__d[(64'h1)+:(14)] = interleaved;
            place__d[(64'hf)+:(15)] = ((32'h0) & 15'h7fff);
            if (last_block) begin
                place__d[(64'hf)+:(15)] = rows;
            end
            place__d[(64'h1e)+:(512)] = encoder__out_data;
        end
        place__d[(64'h0)+:(1)] = write;
        if (write) begin
            to_write__d = to_write_next;
            beat_index__d = beat_next;
            if (beat_index__q == last_beat) begin
                beat_index__d = ((32'h0) & 14'h3fff);
                block_index__d = block_next;
            end
        end
        if (place__q[(64'h0)+:(1)]) begin
            if (write_bank__q) begin
                filled_of_high__d = place__q[(64'hf)+:(15)];
            end
            else begin
                filled_of_low__d = place__q[(64'hf)+:(15)];
            end
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
        if (clear) begin
            state__d = FillState__Idle;
            read_state__d = ReadState__Idle;
            reserved__d = ((32'h0) & 10'h3ff);
            place__d[(64'h0)+:(1)] = 1'b0;
            pending__d = 1'b0;
            wants__d = 1'b0;
            writing__d = 1'b0;
            sending__d = ((32'h0) & 2'h3);
            looping__d = 1'b0;
            loop_asked__d = 1'b0;
            hold__d = ((32'h0) & 8'hff);
            used__d = ((32'h0) & 2'h3);
        end
    end
    wire unused__encoder__burst = &{encoder__burst};
    wire unused__encoder__out_received = &{encoder__out_received};
    wire unused__inbox__room = &{inbox__room};
    wire unused__orders__room = &{orders__room};
    wire unused__outbox__full = &{outbox__full};
    wire unused__planned__room = &{planned__room};
    wire unused__job = &{job[199:6]};
    wire unused__read_ctx = &{read_ctx[404:205], read_ctx[174:135], read_ctx[133:105], read_ctx[89:0]};
endmodule

module optireduce_nic__nic__dma_read(clock,clear,reset,submit_valid,submit_address,submit_ready,submit_beat,contribute_valid,contribute_address,contribute_beats,contribute_slot,contribute_ready,contribute_beat,contribute_take,unread,ar_valid,ar_address,ar_beats,ar_ready,r_valid,r_last,r_error,r_ready,busy);
    // Module arguments
    input wire  clock;
    input wire  clear;
    input wire  reset;
    input wire  submit_valid;
    input wire  [63:0] submit_address;
    output wire  submit_ready;
    output wire  submit_beat;
    input wire  contribute_valid;
    input wire  [63:0] contribute_address;
    input wire  [6:0] contribute_beats;
    input wire  [2:0] contribute_slot;
    output wire  contribute_ready;
    output wire  contribute_beat;
    input wire  contribute_take;
    output reg  [7:0] unread;
    output wire  ar_valid;
    output wire  [63:0] ar_address;
    output wire  [6:0] ar_beats;
    input wire  ar_ready;
    input wire  r_valid;
    input wire  r_last;
    input wire  r_error;
    output wire  r_ready;
    output wire  busy;
    // Stub signals
    reg  [71:0] offer__d;
    wire  [71:0] offer__q;
    wire  offer__clock;
    wire  owners__clock;
    wire  owners__clear;
    wire  owners__push;
    reg  [3:0] owners__push_data;
    wire  owners__full;
    wire  owners__pop;
    wire  [3:0] owners__pop_data;
    wire  owners__empty;
    wire  [15:0] owners__room;
    // Local signals
    wire  free;
    wire  load;
    wire  of_contribute;
    wire  [7:0] one;
    wire  [7:0] slot_bit;
    // Sub module instances
    optireduce_nic__nic__finisher__drain__decoder__to_fixed__tags offer(
        .d(offer__d),
        .q(offer__q),
        .clock(offer__clock)
    );
    optireduce_nic__nic__dma_read__owners owners(
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
    // Update code
    assign offer__clock = clock;
    assign owners__clock = clock;
    assign owners__clear = reset;
    assign free = (~offer__q[(64'h0)+:(1)] || ar_ready) && ~owners__full && ~clear;
    assign submit_ready = free;
    assign contribute_ready = free && ~submit_valid;
    assign load = free && (submit_valid || contribute_valid);
    assign owners__push = load;
    always @(*) begin
        owners__push_data[(64'h0)+:(1)] = ~submit_valid;
        owners__push_data[(64'h1)+:(3)] = contribute_slot;
    end
    assign ar_valid = offer__q[(64'h0)+:(1)];
    assign ar_address = offer__q[(64'h1)+:(64)];
    assign ar_beats = offer__q[(64'h41)+:(7)];
    assign of_contribute = owners__pop_data[(64'h0)+:(1)];
    assign submit_beat = r_valid && ~of_contribute && ~clear;
    assign contribute_beat = r_valid && of_contribute && ~clear;
    assign r_ready = ~of_contribute || contribute_take || clear;
    assign owners__pop = r_valid && r_last && r_ready;
    assign one = ((32'h1) & 8'hff);
    assign slot_bit = one << owners__pop_data[(64'h1)+:(3)];
    always @(*) begin
        unread = ((32'h0) & 8'hff);
        if (contribute_beat && r_error) begin
            unread = slot_bit;
        end
    end
    assign busy = offer__q[(64'h0)+:(1)] || ~owners__empty;
    always @(*) begin
        offer__d = offer__q;
        if (ar_ready) begin
            offer__d[(64'h0)+:(1)] = 1'b0;
        end
        if (load) begin
            offer__d[(64'h0)+:(1)] = 1'b1;
            offer__d[(64'h1)+:(64)] = contribute_address;
            offer__d[(64'h41)+:(7)] = contribute_beats;
            if (submit_valid) begin
                offer__d[(64'h1)+:(64)] = submit_address;
                offer__d[(64'h41)+:(7)] = ((32'h1) & 7'h7f);
            end
        end
        if (reset) begin
            offer__d[(64'h0)+:(1)] = 1'b0;
        end
    end
    wire unused__owners__room = &{owners__room};
endmodule

module optireduce_nic__nic__finisher(clock,clear,reset,job,arm,arm_slot,arm_context,refuse_ready,refuse,refusal,scaled,broadcast_closed,sending,unread,finishing,slot,broadcast,gate,count_address,count_epoch,contribute_count,broadcast_count,read_valid,read_address,read_ready,word,cq_queue,cq_base,cq_mask__0,cq_mask__1,cq_mask__2,cq_mask__3,cq_head__0,cq_head__1,cq_head__2,cq_head__3,sq_head__0,sq_head__1,sq_head__2,sq_head__3,cq_tail__0,cq_tail__1,cq_tail__2,cq_tail__3,stop,aw_valid,aw_address,aw_beats,aw_ready,w_valid,w_data,w_last,w_ready,b_valid,b_error,freed,msix_valid,msix_vector,msix_ready,working,busy);
    // Module arguments
    input wire  clock;
    input wire  clear;
    input wire  reset;
    input wire  [199:0] job;
    input wire  [7:0] arm;
    input wire  [2:0] arm_slot;
    input wire  [404:0] arm_context;
    output wire  [3:0] refuse_ready;
    input wire  refuse;
    input wire  [49:0] refusal;
    input wire  [7:0] scaled;
    input wire  [7:0] broadcast_closed;
    input wire  [7:0] sending;
    input wire  [7:0] unread;
    output wire  [7:0] finishing;
    output wire  [2:0] slot;
    output wire  broadcast;
    input wire  [205:0] gate;
    output wire  [8:0] count_address;
    output wire  [7:0] count_epoch;
    input wire  [15:0] contribute_count;
    input wire  [15:0] broadcast_count;
    output wire  read_valid;
    output wire  [16:0] read_address;
    input wire  read_ready;
    input wire  [519:0] word;
    output wire  [1:0] cq_queue;
    input wire  [63:0] cq_base;
    input wire  [15:0] cq_mask__0;
    input wire  [15:0] cq_mask__1;
    input wire  [15:0] cq_mask__2;
    input wire  [15:0] cq_mask__3;
    input wire  [15:0] cq_head__0;
    input wire  [15:0] cq_head__1;
    input wire  [15:0] cq_head__2;
    input wire  [15:0] cq_head__3;
    input wire  [15:0] sq_head__0;
    input wire  [15:0] sq_head__1;
    input wire  [15:0] sq_head__2;
    input wire  [15:0] sq_head__3;
    output wire  [15:0] cq_tail__0;
    output wire  [15:0] cq_tail__1;
    output wire  [15:0] cq_tail__2;
    output wire  [15:0] cq_tail__3;
    output reg  [3:0] stop;
    output wire  aw_valid;
    output wire  [63:0] aw_address;
    output wire  [6:0] aw_beats;
    input wire  aw_ready;
    output wire  w_valid;
    output wire  [511:0] w_data;
    output wire  w_last;
    input wire  w_ready;
    input wire  b_valid;
    input wire  b_error;
    output wire  [7:0] freed;
    output wire  msix_valid;
    output wire  [1:0] msix_vector;
    input wire  msix_ready;
    output wire  working;
    output wire  busy;
    // Enums
    localparam FinishState__Idle = 0;
    localparam FinishState__Count = 1;
    localparam FinishState__Report = 2;
    localparam FinishState__Fill = 3;
    localparam FinishState__Hand = 4;
    localparam FinishState__Done = 5;
    localparam FinishState__Pause = 6;
    // Stub signals
    wire  contexts__clock;
    wire  [2:0] contexts__read_address;
    wire  [404:0] contexts__read_data;
    wire  [2:0] contexts__write_address;
    wire  [404:0] contexts__write_data;
    wire  contexts__write_enable;
    wire  drain__clock;
    wire  drain__clear;
    reg  drain__start;
    wire  [2:0] drain__start_slot;
    wire  [404:0] drain__start_context;
    wire  drain__ready;
    wire  drain__idle;
    wire  [7:0] drain__drained;
    wire  drain__read_valid;
    wire  [16:0] drain__read_address;
    wire  drain__read_ready;
    wire  [519:0] drain__word;
    wire  drain__push;
    wire  [511:0] drain__push_data;
    wire  [15:0] drain__room;
    wire  drain__order_valid;
    wire  [79:0] drain__order;
    wire  drain__order_ready;
    wire  write__clock;
    wire  write__clear;
    wire  write__reset;
    wire  write__push;
    wire  [511:0] write__push_data;
    wire  [15:0] write__room;
    wire  write__order_valid;
    wire  [79:0] write__order;
    wire  write__order_ready;
    reg  write__note_push;
    wire  [511:0] write__note_data;
    reg  write__note_valid;
    reg  [79:0] write__note;
    wire  write__note_ready;
    wire  write__done;
    wire  [8:0] write__owner;
    wire  write__failed;
    wire  write__aw_valid;
    wire  [63:0] write__aw_address;
    wire  [6:0] write__aw_beats;
    wire  write__aw_ready;
    wire  write__w_valid;
    wire  [511:0] write__w_data;
    wire  write__w_last;
    wire  write__w_ready;
    wire  write__b_valid;
    wire  write__b_error;
    wire  write__busy;
    wire  msix__clock;
    wire  msix__clear;
    wire  [3:0] msix__written;
    wire  msix__valid;
    wire  [1:0] msix__number;
    wire  msix__ready;
    wire  [511:0] shift__data;
    reg  [15:0] shift__word;
    wire  [511:0] shift__shifted;
    reg  [2:0] state__d;
    wire  [2:0] state__q;
    wire  state__clock;
    reg  [2:0] at__d;
    wire  [2:0] at__q;
    wire  at__clock;
    reg  of_broadcast__d;
    wire  of_broadcast__q;
    wire  of_broadcast__clock;
    reg  refused__d;
    wire  refused__q;
    wire  refused__clock;
    reg  [1:0] queue__d;
    wire  [1:0] queue__q;
    wire  queue__clock;
    reg  [49:0] refusals__0__d;
    wire  [49:0] refusals__0__q;
    wire  refusals__0__clock;
    reg  [49:0] refusals__1__d;
    wire  [49:0] refusals__1__q;
    wire  refusals__1__clock;
    reg  [49:0] refusals__2__d;
    wire  [49:0] refusals__2__q;
    wire  refusals__2__clock;
    reg  [49:0] refusals__3__d;
    wire  [49:0] refusals__3__q;
    wire  refusals__3__clock;
    reg  [3:0] to_refuse__d;
    wire  [3:0] to_refuse__q;
    wire  to_refuse__clock;
    reg  [49:0] refusal_now__d;
    wire  [49:0] refusal_now__q;
    wire  refusal_now__clock;
    reg  [3:0] room__d;
    wire  [3:0] room__q;
    wire  room__clock;
    reg  [7:0] counted_contribute__d;
    wire  [7:0] counted_contribute__q;
    wire  counted_contribute__clock;
    reg  [7:0] settled_contribute__d;
    wire  [7:0] settled_contribute__q;
    wire  settled_contribute__clock;
    reg  [7:0] reported__d;
    wire  [7:0] reported__q;
    wire  reported__clock;
    reg  [7:0] begun__d;
    wire  [7:0] begun__q;
    wire  begun__clock;
    reg  [7:0] drained__d;
    wire  [7:0] drained__q;
    wire  drained__clock;
    reg  [7:0] counted_broadcast__d;
    wire  [7:0] counted_broadcast__q;
    wire  counted_broadcast__clock;
    reg  [7:0] settled_broadcast__d;
    wire  [7:0] settled_broadcast__q;
    wire  settled_broadcast__clock;
    reg  [7:0] failed__d;
    wire  [7:0] failed__q;
    wire  failed__clock;
    reg  [10:0] ack__d;
    wire  [10:0] ack__q;
    wire  ack__clock;
    reg  [6:0] rank__d;
    wire  [6:0] rank__q;
    wire  rank__clock;
    reg  [511:0] high__d;
    wire  [511:0] high__q;
    wire  high__clock;
    reg  [15:0] issued__0__d;
    wire  [15:0] issued__0__q;
    wire  issued__0__clock;
    reg  [15:0] issued__1__d;
    wire  [15:0] issued__1__q;
    wire  issued__1__clock;
    reg  [15:0] issued__2__d;
    wire  [15:0] issued__2__q;
    wire  issued__2__clock;
    reg  [15:0] issued__3__d;
    wire  [15:0] issued__3__q;
    wire  issued__3__clock;
    reg  [15:0] visible__0__d;
    wire  [15:0] visible__0__q;
    wire  visible__0__clock;
    reg  [15:0] visible__1__d;
    wire  [15:0] visible__1__q;
    wire  visible__1__clock;
    reg  [15:0] visible__2__d;
    wire  [15:0] visible__2__q;
    wire  visible__2__clock;
    reg  [15:0] visible__3__d;
    wire  [15:0] visible__3__q;
    wire  visible__3__clock;
    reg  [3:0] turn__d;
    wire  [3:0] turn__q;
    wire  turn__clock;
    // Local signals
    wire  [404:0] ctx;
    wire  [1:0] ctx_queue;
    wire  [7:0] one;
    wire  [3:0] one4;
    wire  [7:0] slot_bit;
    wire  [3:0] queue_bit;
    reg  [3:0] refusal_bit;
    reg  [3:0] refused_bit;
    reg  [3:0] has_room;
    wire  fits__0;
    wire  fits__1;
    wire  fits__2;
    wire  fits__3;
    wire  [15:0] used__0;
    wire  [15:0] used__1;
    wire  [15:0] used__2;
    wire  [15:0] used__3;
    wire  [3:0] refusable;
    reg  [49:0] refusal_next;
    wire  [7:0] keep;
    reg  [3:0] keep_to_refuse;
    wire  contribute_due;
    wire  broadcast_due;
    wire  settled;
    wire  [7:0] to_start;
    wire  start_due;
    wire  hurry;
    wire  [2:0] at_next;
    wire  [6:0] rank_next;
    reg  [63:0] report_address;
    reg  [15:0] tail_now;
    reg  [15:0] mask_now;
    reg  [15:0] head_now;
    wire  [15:0] tail_next;
    wire  [15:0] index;
    wire  [63:0] entry_offset;
    wire  [63:0] entry_address;
    wire  [6:0] peers;
    wire  [21:0] expected;
    wire  [14:0] expected_broadcast;
    wire  [47:0] elapsed;
    reg  [511:0] done;
    wire  bad;
    wire  [8:0] whose;
    reg  [8:0] owner;
    reg  [7:0] ack_slot;
    reg  [3:0] ack_queue;
    wire  spoilt;
    reg  [7:0] settle_contribute;
    reg  [7:0] settle_broadcast;
    reg  [7:0] report_now;
    reg  [7:0] free_now;
    reg  [3:0] written;
    wire  [15:0] visible_next__0;
    wire  [15:0] visible_next__1;
    wire  [15:0] visible_next__2;
    wire  [15:0] visible_next__3;
    wire  [7:0] unfreed;
    wire  [7:0] not_slot;
    reg  [7:0] counted_contribute_now;
    reg  [7:0] counted_broadcast_now;
    reg  [7:0] taken_contribute;
    reg  [7:0] taken_broadcast;
    reg  [7:0] start_now;
    reg  [3:0] advance;
    // Sub module instances
    optireduce_nic__nic__contribute__contexts contexts(
        .clock(contexts__clock),
        .read_address(contexts__read_address),
        .read_data(contexts__read_data),
        .write_address(contexts__write_address),
        .write_data(contexts__write_data),
        .write_enable(contexts__write_enable)
    );
    optireduce_nic__nic__finisher__drain drain(
        .clock(drain__clock),
        .clear(drain__clear),
        .start(drain__start),
        .start_slot(drain__start_slot),
        .start_context(drain__start_context),
        .ready(drain__ready),
        .idle(drain__idle),
        .drained(drain__drained),
        .read_valid(drain__read_valid),
        .read_address(drain__read_address),
        .read_ready(drain__read_ready),
        .word(drain__word),
        .push(drain__push),
        .push_data(drain__push_data),
        .room(drain__room),
        .order_valid(drain__order_valid),
        .order(drain__order),
        .order_ready(drain__order_ready)
    );
    optireduce_nic__nic__finisher__write write(
        .clock(write__clock),
        .clear(write__clear),
        .reset(write__reset),
        .push(write__push),
        .push_data(write__push_data),
        .room(write__room),
        .order_valid(write__order_valid),
        .order(write__order),
        .order_ready(write__order_ready),
        .note_push(write__note_push),
        .note_data(write__note_data),
        .note_valid(write__note_valid),
        .note(write__note),
        .note_ready(write__note_ready),
        .done(write__done),
        .owner(write__owner),
        .failed(write__failed),
        .aw_valid(write__aw_valid),
        .aw_address(write__aw_address),
        .aw_beats(write__aw_beats),
        .aw_ready(write__aw_ready),
        .w_valid(write__w_valid),
        .w_data(write__w_data),
        .w_last(write__w_last),
        .w_ready(write__w_ready),
        .b_valid(write__b_valid),
        .b_error(write__b_error),
        .busy(write__busy)
    );
    optireduce_nic__nic__finisher__msix msix(
        .clock(msix__clock),
        .clear(msix__clear),
        .written(msix__written),
        .valid(msix__valid),
        .number(msix__number),
        .ready(msix__ready)
    );
    optireduce_nic__nic__finisher__shift shift(
        .data(shift__data),
        .word(shift__word),
        .shifted(shift__shifted)
    );
    optireduce_nic__nic__finisher__state state(
        .d(state__d),
        .q(state__q),
        .clock(state__clock)
    );
    optireduce_nic__nic__finisher__drain__come_slot at(
        .d(at__d),
        .q(at__q),
        .clock(at__clock)
    );
    optireduce_nic__nic__finisher__drain__side__0 of_broadcast(
        .d(of_broadcast__d),
        .q(of_broadcast__q),
        .clock(of_broadcast__clock)
    );
    optireduce_nic__nic__finisher__drain__side__0 refused(
        .d(refused__d),
        .q(refused__q),
        .clock(refused__clock)
    );
    optireduce_nic__nic__finisher__msix__at queue(
        .d(queue__d),
        .q(queue__q),
        .clock(queue__clock)
    );
    optireduce_nic__nic__finisher__refusals__0 refusals__0(
        .d(refusals__0__d),
        .q(refusals__0__q),
        .clock(refusals__0__clock)
    );
    optireduce_nic__nic__finisher__refusals__0 refusals__1(
        .d(refusals__1__d),
        .q(refusals__1__q),
        .clock(refusals__1__clock)
    );
    optireduce_nic__nic__finisher__refusals__0 refusals__2(
        .d(refusals__2__d),
        .q(refusals__2__q),
        .clock(refusals__2__clock)
    );
    optireduce_nic__nic__finisher__refusals__0 refusals__3(
        .d(refusals__3__d),
        .q(refusals__3__q),
        .clock(refusals__3__clock)
    );
    optireduce_nic__nic__finisher__msix__pending to_refuse(
        .d(to_refuse__d),
        .q(to_refuse__q),
        .clock(to_refuse__clock)
    );
    optireduce_nic__nic__finisher__refusals__0 refusal_now(
        .d(refusal_now__d),
        .q(refusal_now__q),
        .clock(refusal_now__clock)
    );
    optireduce_nic__nic__finisher__msix__pending room(
        .d(room__d),
        .q(room__q),
        .clock(room__clock)
    );
    optireduce_nic__nic__gather__arrivals__asked_epoch counted_contribute(
        .d(counted_contribute__d),
        .q(counted_contribute__q),
        .clock(counted_contribute__clock)
    );
    optireduce_nic__nic__gather__arrivals__asked_epoch settled_contribute(
        .d(settled_contribute__d),
        .q(settled_contribute__q),
        .clock(settled_contribute__clock)
    );
    optireduce_nic__nic__gather__arrivals__asked_epoch reported(
        .d(reported__d),
        .q(reported__q),
        .clock(reported__clock)
    );
    optireduce_nic__nic__gather__arrivals__asked_epoch begun(
        .d(begun__d),
        .q(begun__q),
        .clock(begun__clock)
    );
    optireduce_nic__nic__gather__arrivals__asked_epoch drained(
        .d(drained__d),
        .q(drained__q),
        .clock(drained__clock)
    );
    optireduce_nic__nic__gather__arrivals__asked_epoch counted_broadcast(
        .d(counted_broadcast__d),
        .q(counted_broadcast__q),
        .clock(counted_broadcast__clock)
    );
    optireduce_nic__nic__gather__arrivals__asked_epoch settled_broadcast(
        .d(settled_broadcast__d),
        .q(settled_broadcast__q),
        .clock(settled_broadcast__clock)
    );
    optireduce_nic__nic__gather__arrivals__asked_epoch failed(
        .d(failed__d),
        .q(failed__q),
        .clock(failed__clock)
    );
    optireduce_nic__nic__finisher__drain__block_index ack(
        .d(ack__d),
        .q(ack__q),
        .clock(ack__clock)
    );
    optireduce_nic__nic__finisher__write__left rank(
        .d(rank__d),
        .q(rank__q),
        .clock(rank__clock)
    );
    optireduce_nic__nic__finisher__drain__stage_data high(
        .d(high__d),
        .q(high__q),
        .clock(high__clock)
    );
    optireduce_nic__nic__finisher__drain__block_beats issued__0(
        .d(issued__0__d),
        .q(issued__0__q),
        .clock(issued__0__clock)
    );
    optireduce_nic__nic__finisher__drain__block_beats issued__1(
        .d(issued__1__d),
        .q(issued__1__q),
        .clock(issued__1__clock)
    );
    optireduce_nic__nic__finisher__drain__block_beats issued__2(
        .d(issued__2__d),
        .q(issued__2__q),
        .clock(issued__2__clock)
    );
    optireduce_nic__nic__finisher__drain__block_beats issued__3(
        .d(issued__3__d),
        .q(issued__3__q),
        .clock(issued__3__clock)
    );
    optireduce_nic__nic__finisher__drain__block_beats visible__0(
        .d(visible__0__d),
        .q(visible__0__q),
        .clock(visible__0__clock)
    );
    optireduce_nic__nic__finisher__drain__block_beats visible__1(
        .d(visible__1__d),
        .q(visible__1__q),
        .clock(visible__1__clock)
    );
    optireduce_nic__nic__finisher__drain__block_beats visible__2(
        .d(visible__2__d),
        .q(visible__2__q),
        .clock(visible__2__clock)
    );
    optireduce_nic__nic__finisher__drain__block_beats visible__3(
        .d(visible__3__d),
        .q(visible__3__q),
        .clock(visible__3__clock)
    );
    optireduce_nic__nic__finisher__msix__pending turn(
        .d(turn__d),
        .q(turn__q),
        .clock(turn__clock)
    );
    // Update code
    assign state__clock = clock;
    assign at__clock = clock;
    assign of_broadcast__clock = clock;
    assign refused__clock = clock;
    assign queue__clock = clock;
    assign to_refuse__clock = clock;
    assign refusal_now__clock = clock;
    assign room__clock = clock;
    assign counted_contribute__clock = clock;
    assign settled_contribute__clock = clock;
    assign reported__clock = clock;
    assign begun__clock = clock;
    assign drained__clock = clock;
    assign counted_broadcast__clock = clock;
    assign settled_broadcast__clock = clock;
    assign failed__clock = clock;
    assign ack__clock = clock;
    assign rank__clock = clock;
    assign high__clock = clock;
    assign turn__clock = clock;
    assign drain__clock = clock;
    assign drain__clear = clear;
    assign write__clock = clock;
    assign write__clear = clear;
    assign write__reset = reset;
    assign msix__clock = clock;
    assign msix__clear = clear;
    assign contexts__clock = clock;
    assign contexts__write_enable = arm != 32'h0;
    assign contexts__write_address = arm_slot;
    assign contexts__write_data = arm_context;
    assign contexts__read_address = at__q;
    assign ctx = contexts__read_data;
    assign one = ((32'h1) & 8'hff);
    assign one4 = ((32'h1) & 4'hf);
    assign slot_bit = one << at__q;
    assign not_slot = slot_bit ^ 32'hff;
    assign at_next = at__q + 32'h1;
    assign slot = at__q;
    assign broadcast = of_broadcast__q;
    assign refuse_ready = to_refuse__q ^ 32'hf;
    always @(*) begin
        refusal_bit = ((32'h0) & 4'hf);
        if (refuse) begin
            refusal_bit = one4 << refusal[(64'h0)+:(2)];
        end
    end
    assign refusable = to_refuse__q & room__q;
    always @(*) begin
        refusal_next = refusals__3__q;
        if (refusable[32'h0]) begin
            refusal_next = refusals__0__q;
        end
        else if (refusable[32'h1]) begin
            refusal_next = refusals__1__q;
        end
        else if (refusable[32'h2]) begin
            refusal_next = refusals__2__q;
        end
    end
    always @(*) begin
        refused_bit = ((32'h8) & 4'hf);
        if (refusable[32'h0]) begin
            refused_bit = ((32'h1) & 4'hf);
        end
        else if (refusable[32'h1]) begin
            refused_bit = ((32'h2) & 4'hf);
        end
        else if (refusable[32'h2]) begin
            refused_bit = ((32'h4) & 4'hf);
        end
    end
    always @(*) begin
        keep_to_refuse = to_refuse__q;
        case (state__q)
            FinishState__Idle: begin
                if (refusable != 32'h0) begin
                    keep_to_refuse = to_refuse__q & (refused_bit ^ 32'hf);
                end
            end
            default: begin
            end
        endcase
    end
    assign queue_bit = one4 << queue__q;
    always @(*) begin
        has_room = ((32'h0) & 4'hf);
        has_room = (has_room & ~(1 << (0)) | ((fits__0) << (0)));
        has_room = (has_room & ~(1 << (1)) | ((fits__1) << (1)));
        has_room = (has_room & ~(1 << (2)) | ((fits__2) << (2)));
        has_room = (has_room & ~(1 << (3)) | ((fits__3) << (3)));
    end
    always @(*) begin
        tail_now = ((32'h0) & 16'hffff);
        if (queue_bit[0]) begin
            tail_now = issued__0__q;
        end
        if (queue_bit[1]) begin
            tail_now = issued__1__q;
        end
        if (queue_bit[2]) begin
            tail_now = issued__2__q;
        end
        if (queue_bit[3]) begin
            tail_now = issued__3__q;
        end
    end
    always @(*) begin
        mask_now = ((32'h0) & 16'hffff);
        if (queue_bit[0]) begin
            mask_now = cq_mask__0;
        end
        if (queue_bit[1]) begin
            mask_now = cq_mask__1;
        end
        if (queue_bit[2]) begin
            mask_now = cq_mask__2;
        end
        if (queue_bit[3]) begin
            mask_now = cq_mask__3;
        end
    end
    always @(*) begin
        head_now = ((32'h0) & 16'hffff);
        if (queue_bit[0]) begin
            head_now = sq_head__0;
        end
        if (queue_bit[1]) begin
            head_now = sq_head__1;
        end
        if (queue_bit[2]) begin
            head_now = sq_head__2;
        end
        if (queue_bit[3]) begin
            head_now = sq_head__3;
        end
    end
    assign used__0 = issued__0__q - cq_head__0;
    assign fits__0 = used__0 <= cq_mask__0;
    assign used__1 = issued__1__q - cq_head__1;
    assign fits__1 = used__1 <= cq_mask__1;
    assign used__2 = issued__2__q - cq_head__2;
    assign fits__2 = used__2 <= cq_mask__2;
    assign used__3 = issued__3__q - cq_head__3;
    assign fits__3 = used__3 <= cq_mask__3;
    assign cq_queue = queue__q;
    assign index = tail_now & mask_now;
    assign entry_offset = ((index) & 64'hffffffffffffffff) << 32'h6;
    assign entry_address = cq_base + entry_offset;
    assign tail_next = tail_now + 32'h1;
    always @(*) begin
        report_address = ctx[(64'h115)+:(64)];
        if (of_broadcast__q) begin
            report_address = ctx[(64'h115)+:(64)] + 32'h80;
        end
    end
    assign contribute_due = (scaled & (counted_contribute__q ^ 32'hff) & slot_bit) != 32'h0;
    assign broadcast_due = (drained__q & reported__q & (counted_broadcast__q ^ 32'hff) & slot_bit) != 32'h0;
    assign ctx_queue = ctx[(64'had)+:(2)];
    assign settled = ((settled_contribute__q | settled_broadcast__q) & slot_bit) != 32'h0 && room__q[ctx_queue];
    assign to_start = broadcast_closed & scaled & (sending ^ 32'hff) & (begun__q ^ 32'hff);
    assign start_due = (to_start & slot_bit) != 32'h0;
    assign hurry = (to_start != 32'h0) && drain__ready && ~start_due;
    assign bad = ((failed__q | unread) & slot_bit) != 32'h0;
    assign peers = job[(64'h6)+:(7)] - 32'h1;
    assign expected = ctx[(64'hbe)+:(15)] * peers;
    assign expected_broadcast = ctx[(64'h5a)+:(15)] - ctx[(64'hbe)+:(15)];
    assign elapsed = gate[(64'h9e)+:(48)] - gate[(64'h6e)+:(48)];
    always @(*) begin
        done = ((((32'h0) & 512'hffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff)) & 512'hffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff);
        if (refused__q) begin
            done[(64'h0)+:(8)] = ((32'h3) & 8'hff);
            done[(64'h8)+:(8)] = refusal_now__q[(64'h2)+:(8)];
            done[(64'h18)+:(8)] = refusal_now__q[(64'h2a)+:(8)];
            done[(64'h20)+:(32)] = refusal_now__q[(64'ha)+:(32)];
        end
        else begin
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
            if (bad) begin
                done[(64'h18)+:(8)] = ((32'h1) & 8'hff);
            end
        end
        done[(64'h140)+:(16)] = head_now;
        if ((turn__q & queue_bit) == 32'h0) begin
            done[(64'h1f8)+:(8)] = ((32'h1) & 8'hff);
        end
    end
    always @(*) begin
        counted_contribute_now = ((32'h0) & 8'hff);
        case (state__q)
            FinishState__Report: begin
                if (write__note_ready) begin
                    counted_contribute_now = slot_bit;
                end
            end
            default: begin
            end
        endcase
    end
    always @(*) begin
        counted_broadcast_now = ((32'h0) & 8'hff);
        case (state__q)
            FinishState__Report: begin
                if (write__note_ready) begin
                    if (of_broadcast__q) begin
                        counted_broadcast_now = slot_bit;
                    end
                end
            end
            default: begin
            end
        endcase
    end
    always @(*) begin
        taken_contribute = ((32'hff) & 8'hff);
        case (state__q)
            FinishState__Done: begin
                if (write__note_ready) begin
                    if (~refused__q) begin
                        taken_contribute = not_slot;
                    end
                end
            end
            default: begin
            end
        endcase
    end
    always @(*) begin
        taken_broadcast = ((32'hff) & 8'hff);
        case (state__q)
            FinishState__Done: begin
                if (write__note_ready) begin
                    if (~refused__q) begin
                        taken_broadcast = not_slot;
                    end
                end
            end
            default: begin
            end
        endcase
    end
    always @(*) begin
        start_now = ((32'h0) & 8'hff);
        case (state__q)
            FinishState__Idle: begin
                if (start_due && drain__ready) begin
                    start_now = slot_bit;
                end
            end
            default: begin
            end
        endcase
    end
    always @(*) begin
        advance = ((32'h0) & 4'hf);
        case (state__q)
            FinishState__Done: begin
                if (write__note_ready) begin
                    advance = queue_bit;
                end
            end
            default: begin
            end
        endcase
    end
    always @(*) begin
        drain__start = 1'b0;
        case (state__q)
            FinishState__Idle: begin
                if (start_due && drain__ready) begin
                    drain__start = 1'b1;
                end
            end
            default: begin
            end
        endcase
    end
    assign drain__start_slot = at__q;
    assign drain__start_context = ctx;
    always @(*) begin
        write__note_push = 1'b0;
        case (state__q)
            FinishState__Count: begin
                if (rank__q == 32'h21) begin
                    write__note_push = 1'b1;
                end
                if (rank__q == 32'h41) begin
                    write__note_push = 1'b1;
                end
            end
            FinishState__Hand: begin
                write__note_push = 1'b1;
            end
            default: begin
            end
        endcase
    end
    assign write__note_data = high__q;
    always @(*) begin
        write__note_valid = 1'b0;
        case (state__q)
            FinishState__Report: begin
                write__note_valid = 1'b1;
            end
            FinishState__Done: begin
                write__note_valid = 1'b1;
            end
            default: begin
            end
        endcase
    end
    always @(*) begin
        owner[(64'h0)+:(3)] = at__q;
        owner[(64'h3)+:(2)] = queue__q;
        owner[(64'h5)+:(1)] = of_broadcast__q;
        owner[(64'h6)+:(1)] = state__q == FinishState__Report;
        owner[(64'h7)+:(1)] = state__q == FinishState__Done;
        owner[(64'h8)+:(1)] = refused__q;
    end
    always @(*) begin
        write__note[(64'h0)+:(64)] = report_address;
        write__note[(64'h40)+:(7)] = ((32'h2) & 7'h7f);
        write__note[(64'h47)+:(9)] = owner;
        case (state__q)
            FinishState__Done: begin
                write__note[(64'h0)+:(64)] = entry_address;
                write__note[(64'h40)+:(7)] = ((32'h1) & 7'h7f);
            end
            default: begin
            end
        endcase
    end
    assign shift__data = high__q;
    always @(*) begin
        shift__word = contribute_count;
        if (of_broadcast__q) begin
            shift__word = broadcast_count;
        end
    end
    assign rank_next = rank__q + 32'h1;
    assign count_address = (((at__q) & 9'h1ff) << 32'h6) | ((rank__q[(32'h0)+:(6)]) & 9'h1ff);
    assign count_epoch = ctx[(64'hcd)+:(8)];
    assign whose = ack__q[(64'h2)+:(9)];
    always @(*) begin
        ack_slot = ((32'h0) & 8'hff);
        if (ack__q[(64'h0)+:(1)]) begin
            ack_slot = one << whose[(64'h0)+:(3)];
        end
    end
    always @(*) begin
        ack_queue = ((32'h0) & 4'hf);
        if (ack__q[(64'h0)+:(1)]) begin
            ack_queue = one4 << whose[(64'h3)+:(2)];
        end
    end
    always @(*) begin
        settle_contribute = ((32'h0) & 8'hff);
        if (whose[(64'h6)+:(1)]) begin
            if (whose[(64'h5)+:(1)]) begin
            end
            else begin
                settle_contribute = ack_slot;
            end
        end
    end
    always @(*) begin
        settle_broadcast = ((32'h0) & 8'hff);
        if (whose[(64'h6)+:(1)]) begin
            if (whose[(64'h5)+:(1)]) begin
                settle_broadcast = ack_slot;
            end
        end
    end
    always @(*) begin
        report_now = ((32'h0) & 8'hff);
        if (whose[(64'h7)+:(1)]) begin
            if (~whose[(64'h8)+:(1)]) begin
                if (whose[(64'h5)+:(1)]) begin
                end
                else begin
                    report_now = ack_slot;
                end
            end
        end
    end
    always @(*) begin
        free_now = ((32'h0) & 8'hff);
        if (whose[(64'h7)+:(1)]) begin
            if (~whose[(64'h8)+:(1)]) begin
                if (whose[(64'h5)+:(1)]) begin
                    free_now = ack_slot;
                end
            end
        end
    end
    always @(*) begin
        written = ((32'h0) & 4'hf);
        if (whose[(64'h7)+:(1)]) begin
            written = ack_queue;
        end
    end
    always @(*) begin
        stop = ((32'h0) & 4'hf);
        if (whose[(64'h7)+:(1)]) begin
            if (ack__q[(64'h1)+:(1)]) begin
                stop = ack_queue;
            end
        end
    end
    assign spoilt = ack__q[(64'h1)+:(1)] && ~whose[(64'h8)+:(1)];
    assign freed = free_now;
    assign msix__written = written;
    assign msix__ready = msix_ready;
    assign msix_valid = msix__valid;
    assign msix_vector = msix__number;
    assign keep = arm ^ 32'hff;
    assign unfreed = free_now ^ 32'hff;
    assign finishing = begun__q;
    assign refusals__0__clock = clock;
    assign issued__0__clock = clock;
    assign visible__0__clock = clock;
    assign visible_next__0 = visible__0__q + 32'h1;
    assign cq_tail__0 = visible__0__q;
    assign refusals__1__clock = clock;
    assign issued__1__clock = clock;
    assign visible__1__clock = clock;
    assign visible_next__1 = visible__1__q + 32'h1;
    assign cq_tail__1 = visible__1__q;
    assign refusals__2__clock = clock;
    assign issued__2__clock = clock;
    assign visible__2__clock = clock;
    assign visible_next__2 = visible__2__q + 32'h1;
    assign cq_tail__2 = visible__2__q;
    assign refusals__3__clock = clock;
    assign issued__3__clock = clock;
    assign visible__3__clock = clock;
    assign visible_next__3 = visible__3__q + 32'h1;
    assign cq_tail__3 = visible__3__q;
    assign read_valid = drain__read_valid;
    assign read_address = drain__read_address;
    assign drain__read_ready = read_ready;
    assign drain__word = word;
    assign write__push = drain__push;
    assign write__push_data = drain__push_data;
    assign drain__room = write__room;
    assign write__order_valid = drain__order_valid;
    assign write__order = drain__order;
    assign drain__order_ready = write__order_ready;
    assign aw_valid = write__aw_valid;
    assign aw_address = write__aw_address;
    assign aw_beats = write__aw_beats;
    assign write__aw_ready = aw_ready;
    assign w_valid = write__w_valid;
    assign w_data = write__w_data;
    assign w_last = write__w_last;
    assign write__w_ready = w_ready;
    assign write__b_valid = b_valid;
    assign write__b_error = b_error;
    assign busy = write__busy || ~drain__idle;
    assign working = (state__q != FinishState__Idle) || busy || ack__q[(64'h0)+:(1)] || (to_refuse__q != 32'h0) || ((scaled & (reported__q ^ 32'hff)) != 32'h0) || ((broadcast_closed & scaled & (sending ^ 32'hff)) != 32'h0);
    always @(*) begin
        state__d = state__q;
        at__d = at__q;
        of_broadcast__d = of_broadcast__q;
        refused__d = refused__q;
        queue__d = queue__q;
        to_refuse__d = to_refuse__q;
        refusal_now__d = refusal_now__q;
        room__d = room__q;
        counted_contribute__d = counted_contribute__q;
        settled_contribute__d = settled_contribute__q;
        reported__d = reported__q;
        begun__d = begun__q;
        drained__d = drained__q;
        counted_broadcast__d = counted_broadcast__q;
        settled_broadcast__d = settled_broadcast__q;
        failed__d = failed__q;
        ack__d = ack__q;
        rank__d = rank__q;
        high__d = high__q;
        turn__d = turn__q;
        room__d = has_room;
        case (state__q)
            FinishState__Idle: begin
                refused__d = 1'b0;
                of_broadcast__d = (reported__q & slot_bit) != 32'h0;
                queue__d = ctx[(64'had)+:(2)];
                rank__d = ((32'h0) & 7'h7f);
                if (refusable != 32'h0) begin
                    refusal_now__d = refusal_next;
                    refused__d = 1'b1;
                    queue__d = refusal_next[(64'h0)+:(2)];
                    state__d = FinishState__Fill;
                end
                else if (settled) begin
                    state__d = FinishState__Fill;
                end
                else if ((contribute_due || broadcast_due) && ~hurry) begin
                    state__d = FinishState__Count;
                end
                else begin
                    at__d = at_next;
                end
            end
            FinishState__Count: begin
                rank__d = rank_next;
                high__d = shift__shifted;
                if (rank__q == 32'h41) begin
                    state__d = FinishState__Report;
                end
            end
            FinishState__Report: begin
                if (write__note_ready) begin
                    state__d = FinishState__Idle;
                end
            end
            FinishState__Fill: begin
                high__d = ((done) & 512'hffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff);
                state__d = FinishState__Hand;
            end
            FinishState__Hand: begin
                state__d = FinishState__Done;
            end
            FinishState__Done: begin
                if (write__note_ready) begin
                    if (index == mask_now) begin
                        turn__d = turn__q ^ queue_bit;
                    end
                    state__d = FinishState__Pause;
                end
            end
            FinishState__Pause: begin
                state__d = FinishState__Idle;
            end
            default: begin
            end
        endcase
        to_refuse__d = keep_to_refuse | refusal_bit;
        ack__d[(64'h0)+:(1)] = write__done;
        ack__d[(64'h1)+:(1)] = write__failed;
        ack__d[(64'h2)+:(9)] = write__owner;
        counted_contribute__d = (counted_contribute__q | counted_contribute_now) & keep;
        settled_contribute__d = ((settled_contribute__q & taken_contribute) | settle_contribute) & keep;
        reported__d = (reported__q | report_now) & keep;
        begun__d = (begun__q | start_now) & unfreed;
        drained__d = (drained__q | drain__drained) & unfreed;
        counted_broadcast__d = (counted_broadcast__q | counted_broadcast_now) & unfreed;
        settled_broadcast__d = ((settled_broadcast__q & taken_broadcast) | settle_broadcast) & unfreed;
        failed__d = failed__q & keep;
        if (spoilt) begin
            failed__d = (failed__q | ack_slot) & keep;
        end
        refusals__0__d = refusals__0__q;
        if (refusal_bit[0]) begin
            refusals__0__d = refusal;
        end
        issued__0__d = issued__0__q;
        if (advance[0]) begin
            issued__0__d = tail_next;
        end
        visible__0__d = visible__0__q;
        if (written[0]) begin
            visible__0__d = visible_next__0;
        end
        if (clear) begin
            issued__0__d = ((32'h0) & 16'hffff);
            visible__0__d = ((32'h0) & 16'hffff);
        end
        refusals__1__d = refusals__1__q;
        if (refusal_bit[1]) begin
            refusals__1__d = refusal;
        end
        issued__1__d = issued__1__q;
        if (advance[1]) begin
            issued__1__d = tail_next;
        end
        visible__1__d = visible__1__q;
        if (written[1]) begin
            visible__1__d = visible_next__1;
        end
        if (clear) begin
            issued__1__d = ((32'h0) & 16'hffff);
            visible__1__d = ((32'h0) & 16'hffff);
        end
        refusals__2__d = refusals__2__q;
        if (refusal_bit[2]) begin
            refusals__2__d = refusal;
        end
        issued__2__d = issued__2__q;
        if (advance[2]) begin
            issued__2__d = tail_next;
        end
        visible__2__d = visible__2__q;
        if (written[2]) begin
            visible__2__d = visible_next__2;
        end
        if (clear) begin
            issued__2__d = ((32'h0) & 16'hffff);
            visible__2__d = ((32'h0) & 16'hffff);
        end
        refusals__3__d = refusals__3__q;
        if (refusal_bit[3]) begin
            refusals__3__d = refusal;
        end
        issued__3__d = issued__3__q;
        if (advance[3]) begin
            issued__3__d = tail_next;
        end
        visible__3__d = visible__3__q;
        if (written[3]) begin
            visible__3__d = visible_next__3;
        end
        if (clear) begin
            issued__3__d = ((32'h0) & 16'hffff);
            visible__3__d = ((32'h0) & 16'hffff);
        end
        if (clear) begin
            state__d = FinishState__Idle;
            at__d = ((32'h0) & 3'h7);
            to_refuse__d = ((32'h0) & 4'hf);
            counted_contribute__d = ((32'h0) & 8'hff);
            settled_contribute__d = ((32'h0) & 8'hff);
            reported__d = ((32'h0) & 8'hff);
            begun__d = ((32'h0) & 8'hff);
            drained__d = ((32'h0) & 8'hff);
            counted_broadcast__d = ((32'h0) & 8'hff);
            settled_broadcast__d = ((32'h0) & 8'hff);
            failed__d = ((32'h0) & 8'hff);
            ack__d[(64'h0)+:(1)] = 1'b0;
            turn__d = ((32'h0) & 4'hf);
        end
    end
    wire unused__job = &{job[199:13], job[5:0]};
endmodule

module optireduce_nic__nic__gather(clock,clear,open,rx_valid,rx,accepted,decided,drop_late,drop_duplicate,scaled_valid,scaled,scaled_ready,send_valid,send_address,finish_valid,finish_address,finish_ready,word,count_address,count_epoch,count,window_beats,scrub,scrub_slot,scrub_busy);
    // Module arguments
    input wire  clock;
    input wire  clear;
    input wire  [7:0] open;
    input wire  rx_valid;
    input wire  [556:0] rx;
    output wire  accepted;
    output wire  [556:0] decided;
    output wire  drop_late;
    output wire  drop_duplicate;
    input wire  scaled_valid;
    input wire  [556:0] scaled;
    output wire  scaled_ready;
    input wire  send_valid;
    input wire  [16:0] send_address;
    input wire  finish_valid;
    input wire  [16:0] finish_address;
    output wire  finish_ready;
    output wire  [519:0] word;
    input wire  [8:0] count_address;
    input wire  [7:0] count_epoch;
    output wire  [15:0] count;
    input wire  [14:0] window_beats;
    input wire  scrub;
    input wire  [2:0] scrub_slot;
    output wire  scrub_busy;
    // Stub signals
    wire  ram__clock;
    reg  [16:0] ram__read_address;
    wire  [519:0] ram__read_data;
    wire  [16:0] ram__write_address;
    wire  [519:0] ram__write_data;
    wire  ram__write_enable;
    wire  tags__clock;
    reg  [16:0] tags__read_address;
    wire  [7:0] tags__read_data;
    wire  [16:0] tags__write_address;
    wire  [7:0] tags__write_data;
    wire  tags__write_enable;
    wire  arrivals__clock;
    wire  arrivals__accept;
    reg  [8:0] arrivals__address;
    wire  [7:0] arrivals__epoch;
    wire  arrivals__scrub;
    wire  [8:0] arrivals__read_address;
    wire  [7:0] arrivals__read_epoch;
    wire  [15:0] arrivals__count;
    reg  [556:0] taken__d;
    wire  [556:0] taken__q;
    wire  taken__clock;
    reg  taken_valid__d;
    wire  taken_valid__q;
    wire  taken_valid__clock;
    reg  [556:0] judged__d;
    wire  [556:0] judged__q;
    wire  judged__clock;
    reg  judged_valid__d;
    wire  judged_valid__q;
    wire  judged_valid__clock;
    reg  present__d;
    wire  present__q;
    wire  present__clock;
    reg  again__d;
    wire  again__q;
    wire  again__clock;
    reg  scrubbing__d;
    wire  scrubbing__q;
    wire  scrubbing__clock;
    reg  [16:0] scrub_at__d;
    wire  [16:0] scrub_at__q;
    wire  scrub_at__clock;
    // Local signals
    wire  [2:0] slot;
    wire  is_open;
    wire  same;
    wire  read;
    wire  accept;
    wire  take_scaled;
    wire  scrub_now;
    wire  [13:0] scrub_next;
    wire  [14:0] scrub_last;
    wire  write;
    reg  [16:0] address;
    reg  [519:0] value;
    // Sub module instances
    optireduce_nic__nic__gather__ram ram(
        .clock(ram__clock),
        .read_address(ram__read_address),
        .read_data(ram__read_data),
        .write_address(ram__write_address),
        .write_data(ram__write_data),
        .write_enable(ram__write_enable)
    );
    optireduce_nic__nic__gather__tags tags(
        .clock(tags__clock),
        .read_address(tags__read_address),
        .read_data(tags__read_data),
        .write_address(tags__write_address),
        .write_data(tags__write_data),
        .write_enable(tags__write_enable)
    );
    optireduce_nic__nic__gather__arrivals arrivals(
        .clock(arrivals__clock),
        .accept(arrivals__accept),
        .address(arrivals__address),
        .epoch(arrivals__epoch),
        .scrub(arrivals__scrub),
        .read_address(arrivals__read_address),
        .read_epoch(arrivals__read_epoch),
        .count(arrivals__count)
    );
    optireduce_nic__nic__gather__judged taken(
        .d(taken__d),
        .q(taken__q),
        .clock(taken__clock)
    );
    optireduce_nic__nic__finisher__drain__side__0 taken_valid(
        .d(taken_valid__d),
        .q(taken_valid__q),
        .clock(taken_valid__clock)
    );
    optireduce_nic__nic__gather__judged judged(
        .d(judged__d),
        .q(judged__q),
        .clock(judged__clock)
    );
    optireduce_nic__nic__finisher__drain__side__0 judged_valid(
        .d(judged_valid__d),
        .q(judged_valid__q),
        .clock(judged_valid__clock)
    );
    optireduce_nic__nic__finisher__drain__side__0 present(
        .d(present__d),
        .q(present__q),
        .clock(present__clock)
    );
    optireduce_nic__nic__finisher__drain__side__0 again(
        .d(again__d),
        .q(again__q),
        .clock(again__clock)
    );
    optireduce_nic__nic__finisher__drain__side__0 scrubbing(
        .d(scrubbing__d),
        .q(scrubbing__q),
        .clock(scrubbing__clock)
    );
    optireduce_nic__nic__lookup__key__0__found scrub_at(
        .d(scrub_at__d),
        .q(scrub_at__q),
        .clock(scrub_at__clock)
    );
    // Update code
    assign taken__clock = clock;
    assign taken_valid__clock = clock;
    assign judged__clock = clock;
    assign judged_valid__clock = clock;
    assign present__clock = clock;
    assign again__clock = clock;
    assign scrubbing__clock = clock;
    assign scrub_at__clock = clock;
    assign ram__clock = clock;
    assign tags__clock = clock;
    assign arrivals__clock = clock;
    always @(*) begin
        tags__read_address[(64'h0)+:(3)] = rx[(64'h0)+:(3)];
        tags__read_address[(64'h3)+:(14)] = rx[(64'h3)+:(14)];
    end
    assign read = tags__read_data == taken__q[(64'h25)+:(8)];
    assign slot = judged__q[(64'h0)+:(3)];
    assign is_open = open[slot];
    assign accept = judged_valid__q && is_open && ~present__q;
    assign accepted = accept;
    assign decided = judged__q;
    assign drop_late = judged_valid__q && ~is_open;
    assign drop_duplicate = judged_valid__q && is_open && present__q;
    assign same = (judged__q[(64'h0)+:(3)] == rx[(64'h0)+:(3)]) && (judged__q[(64'h3)+:(14)] == rx[(64'h3)+:(14)]) && (judged__q[(64'h25)+:(8)] == rx[(64'h25)+:(8)]);
    assign take_scaled = scaled_valid && ~judged_valid__q;
    assign scaled_ready = take_scaled;
    assign scrub_now = scrubbing__q && ~judged_valid__q && ~scaled_valid;
    assign write = accept || take_scaled || scrub_now;
    always @(*) begin
        address[(64'h0)+:(3)] = scaled[(64'h0)+:(3)];
        address[(64'h3)+:(14)] = scaled[(64'h3)+:(14)];
        if (judged_valid__q) begin
            address[(64'h0)+:(3)] = slot;
            address[(64'h3)+:(14)] = judged__q[(64'h3)+:(14)];
        end
        if (scrub_now) begin
            address = scrub_at__q;
        end
    end
    always @(*) begin
        value[(64'h0)+:(512)] = scaled[(64'h2d)+:(512)];
        value[(64'h200)+:(8)] = scaled[(64'h25)+:(8)];
        if (judged_valid__q) begin
            value[(64'h0)+:(512)] = judged__q[(64'h2d)+:(512)];
            value[(64'h200)+:(8)] = judged__q[(64'h25)+:(8)];
        end
        if (scrub_now) begin
            value[(64'h200)+:(8)] = ((32'h0) & 8'hff);
        end
    end
    assign scrub_next = scrub_at__q[(64'h3)+:(14)] + 32'h1;
    assign scrub_last = window_beats - 32'h1;
    assign scrub_busy = scrubbing__q || scrub;
    assign ram__write_enable = write;
    assign ram__write_address = address;
    assign ram__write_data = value;
    assign tags__write_enable = write;
    assign tags__write_address = address;
    assign tags__write_data = value[(64'h200)+:(8)];
    assign finish_ready = finish_valid && ~send_valid;
    always @(*) begin
        ram__read_address = finish_address;
        if (send_valid) begin
            ram__read_address = send_address;
        end
    end
    assign word = ram__read_data;
    assign arrivals__accept = accept;
    assign arrivals__epoch = judged__q[(64'h25)+:(8)];
    always @(*) begin
        arrivals__address = (((slot) & 9'h1ff) << 32'h6) | ((judged__q[(64'h1f)+:(6)]) & 9'h1ff);
        if (scrub_now) begin
            arrivals__address = (((scrub_at__q[(64'h0)+:(3)]) & 9'h1ff) << 32'h6) | (((scrub_at__q[(64'h3)+:(14)]) & 9'h1ff) & 32'h3f);
        end
    end
    assign arrivals__scrub = scrub_now;
    assign arrivals__read_address = count_address;
    assign arrivals__read_epoch = count_epoch;
    assign count = arrivals__count;
    always @(*) begin
        taken__d = taken__q;
        taken_valid__d = taken_valid__q;
        judged__d = judged__q;
        judged_valid__d = judged_valid__q;
        present__d = present__q;
        again__d = again__q;
        scrubbing__d = scrubbing__q;
        scrub_at__d = scrub_at__q;
        taken_valid__d = rx_valid;
        taken__d = rx;
        judged_valid__d = taken_valid__q;
        judged__d = taken__q;
        present__d = read || again__q;
        again__d = accept && same;
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
        if (clear) begin
            scrubbing__d = 1'b0;
        end
    end
    wire unused__scaled = &{scaled[36:17]};
endmodule

module optireduce_nic__nic__guard(clock,clear,reset,valid,beat,ready,tx_valid,tx_data,tx_last,tx_error,tx_ready,busy);
    // Module arguments
    input wire  clock;
    input wire  clear;
    input wire  reset;
    input wire  valid;
    input wire  [512:0] beat;
    output wire  ready;
    output wire  tx_valid;
    output wire  [511:0] tx_data;
    output wire  tx_last;
    output wire  tx_error;
    input wire  tx_ready;
    output wire  busy;
    // Stub signals
    reg  [514:0] held__d;
    wire  [514:0] held__q;
    wire  held__clock;
    reg  open__d;
    wire  open__q;
    wire  open__clock;
    // Local signals
    wire  free;
    // Sub module instances
    optireduce_nic__nic__guard__held held(
        .d(held__d),
        .q(held__q),
        .clock(held__clock)
    );
    optireduce_nic__nic__finisher__drain__side__0 open(
        .d(open__d),
        .q(open__q),
        .clock(open__clock)
    );
    // Update code
    assign held__clock = clock;
    assign open__clock = clock;
    assign free = ~held__q[(64'h0)+:(1)] || tx_ready;
    assign ready = free && ~clear;
    assign tx_valid = held__q[(64'h0)+:(1)];
    assign tx_data = held__q[(64'h1)+:(512)];
    assign tx_last = held__q[(64'h201)+:(1)];
    assign tx_error = held__q[(64'h202)+:(1)];
    assign busy = held__q[(64'h0)+:(1)] || open__q;
    always @(*) begin
        held__d = held__q;
        open__d = open__q;
        if (free) begin
            held__d[(64'h0)+:(1)] = 1'b0;
            if (clear) begin
                held__d[(64'h0)+:(1)] = open__q;
                held__d[(64'h1)+:(512)] = ((32'h0) & 512'hffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff);
                held__d[(64'h201)+:(1)] = 1'b1;
                held__d[(64'h202)+:(1)] = 1'b1;
                open__d = 1'b0;
            end
            else if (valid) begin
                held__d[(64'h0)+:(1)] = 1'b1;
                held__d[(64'h1)+:(512)] = beat[(64'h0)+:(512)];
                held__d[(64'h201)+:(1)] = beat[(64'h200)+:(1)];
                held__d[(64'h202)+:(1)] = 1'b0;
                open__d = ~beat[(64'h200)+:(1)];
            end
        end
        if (reset) begin
            held__d[(64'h0)+:(1)] = 1'b0;
            open__d = 1'b0;
        end
    end
endmodule

module optireduce_nic__nic__lookup(clock,clear,job,arm,arm_slot,arm_context,freed,stall,busy,in_valid,in_head,in_header,in_data,valid,broadcast,beat,packet,mark,empty,drop_no_window,drop_stale,drop_flags,drop_out_of_shard);
    // Module arguments
    input wire  clock;
    input wire  clear;
    input wire  [199:0] job;
    input wire  [7:0] arm;
    input wire  [2:0] arm_slot;
    input wire  [404:0] arm_context;
    input wire  [7:0] freed;
    input wire  stall;
    output wire  busy;
    input wire  in_valid;
    input wire  in_head;
    input wire  [77:0] in_header;
    input wire  [511:0] in_data;
    output wire  valid;
    output wire  broadcast;
    output reg  [556:0] beat;
    output wire  packet;
    output wire  mark;
    output wire  empty;
    output reg  drop_no_window;
    output reg  drop_stale;
    output reg  drop_flags;
    output reg  drop_out_of_shard;
    // Stub signals
    wire  key__0__clock;
    wire  key__0__arm;
    wire  [404:0] key__0__ctx;
    wire  key__0__free;
    wire  key__0__compare;
    wire  [77:0] key__0__header;
    wire  key__0__hit;
    wire  key__0__stale;
    wire  [14:0] key__0__distance;
    wire  key__1__clock;
    wire  key__1__arm;
    wire  [404:0] key__1__ctx;
    wire  key__1__free;
    wire  key__1__compare;
    wire  [77:0] key__1__header;
    wire  key__1__hit;
    wire  key__1__stale;
    wire  [14:0] key__1__distance;
    wire  key__2__clock;
    wire  key__2__arm;
    wire  [404:0] key__2__ctx;
    wire  key__2__free;
    wire  key__2__compare;
    wire  [77:0] key__2__header;
    wire  key__2__hit;
    wire  key__2__stale;
    wire  [14:0] key__2__distance;
    wire  key__3__clock;
    wire  key__3__arm;
    wire  [404:0] key__3__ctx;
    wire  key__3__free;
    wire  key__3__compare;
    wire  [77:0] key__3__header;
    wire  key__3__hit;
    wire  key__3__stale;
    wire  [14:0] key__3__distance;
    wire  key__4__clock;
    wire  key__4__arm;
    wire  [404:0] key__4__ctx;
    wire  key__4__free;
    wire  key__4__compare;
    wire  [77:0] key__4__header;
    wire  key__4__hit;
    wire  key__4__stale;
    wire  [14:0] key__4__distance;
    wire  key__5__clock;
    wire  key__5__arm;
    wire  [404:0] key__5__ctx;
    wire  key__5__free;
    wire  key__5__compare;
    wire  [77:0] key__5__header;
    wire  key__5__hit;
    wire  key__5__stale;
    wire  [14:0] key__5__distance;
    wire  key__6__clock;
    wire  key__6__arm;
    wire  [404:0] key__6__ctx;
    wire  key__6__free;
    wire  key__6__compare;
    wire  [77:0] key__6__header;
    wire  key__6__hit;
    wire  key__6__stale;
    wire  [14:0] key__6__distance;
    wire  key__7__clock;
    wire  key__7__arm;
    wire  [404:0] key__7__ctx;
    wire  key__7__free;
    wire  key__7__compare;
    wire  [77:0] key__7__header;
    wire  key__7__hit;
    wire  key__7__stale;
    wire  [14:0] key__7__distance;
    wire  contexts__clock;
    wire  [2:0] contexts__read_address;
    wire  [404:0] contexts__read_data;
    wire  [2:0] contexts__write_address;
    wire  [404:0] contexts__write_data;
    wire  contexts__write_enable;
    wire  [511:0] widen__data;
    wire  widen__bf16;
    wire  widen__high;
    wire  [511:0] widen__beat;
    reg  [19:0] named__d;
    wire  [19:0] named__q;
    wire  named__clock;
    reg  [39:0] found__d;
    wire  [39:0] found__q;
    wire  found__clock;
    reg  [106:0] known__d;
    wire  [106:0] known__q;
    wire  known__clock;
    reg  [126:0] placed__d;
    wire  [126:0] placed__q;
    wire  placed__clock;
    reg  [97:0] ranged__d;
    wire  [97:0] ranged__q;
    wire  ranged__clock;
    reg  [50:0] verdict__d;
    wire  [50:0] verdict__q;
    wire  verdict__clock;
    reg  [14:0] position__d;
    wire  [14:0] position__q;
    wire  position__clock;
    reg  padding__d;
    wire  padding__q;
    wire  padding__clock;
    reg  half__d;
    wire  half__q;
    wire  half__clock;
    reg  [513:0] first__d;
    wire  [513:0] first__q;
    wire  first__clock;
    reg  [513:0] second__d;
    wire  [513:0] second__q;
    wire  second__clock;
    reg  [513:0] third__d;
    wire  [513:0] third__q;
    wire  third__clock;
    reg  [513:0] fourth__d;
    wire  [513:0] fourth__q;
    wire  fourth__clock;
    reg  [513:0] fifth__d;
    wire  [513:0] fifth__q;
    wire  fifth__clock;
    reg  [513:0] last__d;
    wire  [513:0] last__q;
    wire  last__clock;
    // Local signals
    reg  [2:0] slot;
    reg  [14:0] distance;
    reg  any_hit;
    reg  any_stale;
    wire  head1;
    wire  head2;
    wire  head3;
    wire  head4;
    wire  head5;
    wire  [404:0] ctx;
    wire  [6:0] sum;
    wire  [6:0] wrapped;
    wire  [21:0] product;
    wire  [14:0] start;
    wire  [14:0] limit;
    wire  [14:0] own_end;
    reg  [14:0] covered;
    wire  [14:0] packet_end;
    reg  [14:0] allowed;
    wire  fits;
    wire  splitting;
    wire  step;
    wire  [14:0] next_position;
    wire  [14:0] relative;
    // Sub module instances
    optireduce_nic__nic__lookup__key__0 key__0(
        .clock(key__0__clock),
        .arm(key__0__arm),
        .ctx(key__0__ctx),
        .free(key__0__free),
        .compare(key__0__compare),
        .header(key__0__header),
        .hit(key__0__hit),
        .stale(key__0__stale),
        .distance(key__0__distance)
    );
    optireduce_nic__nic__lookup__key__0 key__1(
        .clock(key__1__clock),
        .arm(key__1__arm),
        .ctx(key__1__ctx),
        .free(key__1__free),
        .compare(key__1__compare),
        .header(key__1__header),
        .hit(key__1__hit),
        .stale(key__1__stale),
        .distance(key__1__distance)
    );
    optireduce_nic__nic__lookup__key__0 key__2(
        .clock(key__2__clock),
        .arm(key__2__arm),
        .ctx(key__2__ctx),
        .free(key__2__free),
        .compare(key__2__compare),
        .header(key__2__header),
        .hit(key__2__hit),
        .stale(key__2__stale),
        .distance(key__2__distance)
    );
    optireduce_nic__nic__lookup__key__0 key__3(
        .clock(key__3__clock),
        .arm(key__3__arm),
        .ctx(key__3__ctx),
        .free(key__3__free),
        .compare(key__3__compare),
        .header(key__3__header),
        .hit(key__3__hit),
        .stale(key__3__stale),
        .distance(key__3__distance)
    );
    optireduce_nic__nic__lookup__key__0 key__4(
        .clock(key__4__clock),
        .arm(key__4__arm),
        .ctx(key__4__ctx),
        .free(key__4__free),
        .compare(key__4__compare),
        .header(key__4__header),
        .hit(key__4__hit),
        .stale(key__4__stale),
        .distance(key__4__distance)
    );
    optireduce_nic__nic__lookup__key__0 key__5(
        .clock(key__5__clock),
        .arm(key__5__arm),
        .ctx(key__5__ctx),
        .free(key__5__free),
        .compare(key__5__compare),
        .header(key__5__header),
        .hit(key__5__hit),
        .stale(key__5__stale),
        .distance(key__5__distance)
    );
    optireduce_nic__nic__lookup__key__0 key__6(
        .clock(key__6__clock),
        .arm(key__6__arm),
        .ctx(key__6__ctx),
        .free(key__6__free),
        .compare(key__6__compare),
        .header(key__6__header),
        .hit(key__6__hit),
        .stale(key__6__stale),
        .distance(key__6__distance)
    );
    optireduce_nic__nic__lookup__key__0 key__7(
        .clock(key__7__clock),
        .arm(key__7__arm),
        .ctx(key__7__ctx),
        .free(key__7__free),
        .compare(key__7__compare),
        .header(key__7__header),
        .hit(key__7__hit),
        .stale(key__7__stale),
        .distance(key__7__distance)
    );
    optireduce_nic__nic__contribute__contexts contexts(
        .clock(contexts__clock),
        .read_address(contexts__read_address),
        .read_data(contexts__read_data),
        .write_address(contexts__write_address),
        .write_data(contexts__write_data),
        .write_enable(contexts__write_enable)
    );
    optireduce_nic__nic__lookup__widen widen(
        .data(widen__data),
        .bf16(widen__bf16),
        .high(widen__high),
        .beat(widen__beat)
    );
    optireduce_nic__nic__builder__own_sum named(
        .d(named__d),
        .q(named__q),
        .clock(named__clock)
    );
    optireduce_nic__nic__lookup__found found(
        .d(found__d),
        .q(found__q),
        .clock(found__clock)
    );
    optireduce_nic__nic__lookup__known known(
        .d(known__d),
        .q(known__q),
        .clock(known__clock)
    );
    optireduce_nic__nic__lookup__placed placed(
        .d(placed__d),
        .q(placed__q),
        .clock(placed__clock)
    );
    optireduce_nic__nic__lookup__ranged ranged(
        .d(ranged__d),
        .q(ranged__q),
        .clock(ranged__clock)
    );
    optireduce_nic__nic__lookup__verdict verdict(
        .d(verdict__d),
        .q(verdict__q),
        .clock(verdict__clock)
    );
    optireduce_nic__nic__finisher__drain__to_come position(
        .d(position__d),
        .q(position__q),
        .clock(position__clock)
    );
    optireduce_nic__nic__finisher__drain__side__0 padding(
        .d(padding__d),
        .q(padding__q),
        .clock(padding__clock)
    );
    optireduce_nic__nic__finisher__drain__side__0 half(
        .d(half__d),
        .q(half__q),
        .clock(half__clock)
    );
    optireduce_nic__nic__lookup__fifth first(
        .d(first__d),
        .q(first__q),
        .clock(first__clock)
    );
    optireduce_nic__nic__lookup__fifth second(
        .d(second__d),
        .q(second__q),
        .clock(second__clock)
    );
    optireduce_nic__nic__lookup__fifth third(
        .d(third__d),
        .q(third__q),
        .clock(third__clock)
    );
    optireduce_nic__nic__lookup__fifth fourth(
        .d(fourth__d),
        .q(fourth__q),
        .clock(fourth__clock)
    );
    optireduce_nic__nic__lookup__fifth fifth(
        .d(fifth__d),
        .q(fifth__q),
        .clock(fifth__clock)
    );
    optireduce_nic__nic__lookup__fifth last(
        .d(last__d),
        .q(last__q),
        .clock(last__clock)
    );
    // Update code
    assign named__clock = clock;
    assign found__clock = clock;
    assign known__clock = clock;
    assign placed__clock = clock;
    assign ranged__clock = clock;
    assign verdict__clock = clock;
    assign position__clock = clock;
    assign padding__clock = clock;
    assign half__clock = clock;
    assign first__clock = clock;
    assign second__clock = clock;
    assign third__clock = clock;
    assign fourth__clock = clock;
    assign fifth__clock = clock;
    assign last__clock = clock;
    assign contexts__clock = clock;
    assign contexts__write_enable = arm != 32'h0;
    assign contexts__write_address = arm_slot;
    assign contexts__write_data = arm_context;
    assign splitting = fifth__q[(64'h0)+:(1)] && ~fifth__q[(64'h1)+:(1)] && verdict__q[(64'h0)+:(1)] && verdict__q[(64'h32)+:(1)] && ~half__q;
    assign busy = stall || splitting;
    assign step = ~stall && ~splitting;
    assign head1 = in_valid && in_head && step;
    assign head2 = first__q[(64'h0)+:(1)] && first__q[(64'h1)+:(1)] && step;
    assign head3 = second__q[(64'h0)+:(1)] && second__q[(64'h1)+:(1)] && step;
    assign head4 = third__q[(64'h0)+:(1)] && third__q[(64'h1)+:(1)] && step;
    assign head5 = fourth__q[(64'h0)+:(1)] && fourth__q[(64'h1)+:(1)] && step;
    assign key__0__clock = clock;
    assign key__0__arm = arm[0];
    assign key__0__ctx = arm_context;
    assign key__0__free = freed[0] || clear;
    assign key__0__compare = head1;
    assign key__0__header = in_header;
    assign key__1__clock = clock;
    assign key__1__arm = arm[1];
    assign key__1__ctx = arm_context;
    assign key__1__free = freed[1] || clear;
    assign key__1__compare = head1;
    assign key__1__header = in_header;
    assign key__2__clock = clock;
    assign key__2__arm = arm[2];
    assign key__2__ctx = arm_context;
    assign key__2__free = freed[2] || clear;
    assign key__2__compare = head1;
    assign key__2__header = in_header;
    assign key__3__clock = clock;
    assign key__3__arm = arm[3];
    assign key__3__ctx = arm_context;
    assign key__3__free = freed[3] || clear;
    assign key__3__compare = head1;
    assign key__3__header = in_header;
    assign key__4__clock = clock;
    assign key__4__arm = arm[4];
    assign key__4__ctx = arm_context;
    assign key__4__free = freed[4] || clear;
    assign key__4__compare = head1;
    assign key__4__header = in_header;
    assign key__5__clock = clock;
    assign key__5__arm = arm[5];
    assign key__5__ctx = arm_context;
    assign key__5__free = freed[5] || clear;
    assign key__5__compare = head1;
    assign key__5__header = in_header;
    assign key__6__clock = clock;
    assign key__6__arm = arm[6];
    assign key__6__ctx = arm_context;
    assign key__6__free = freed[6] || clear;
    assign key__6__compare = head1;
    assign key__6__header = in_header;
    assign key__7__clock = clock;
    assign key__7__arm = arm[7];
    assign key__7__ctx = arm_context;
    assign key__7__free = freed[7] || clear;
    assign key__7__compare = head1;
    assign key__7__header = in_header;
    always @(*) begin
        slot = ((32'h0) & 3'h7);
        if (key__1__hit || key__3__hit || key__5__hit || key__7__hit) begin
            slot = ((32'h1) & 3'h7);
        end
        if (key__2__hit || key__3__hit || key__6__hit || key__7__hit) begin
            slot = slot | 32'h2;
        end
        if (key__4__hit || key__5__hit || key__6__hit || key__7__hit) begin
            slot = slot | 32'h4;
        end
    end
    always @(*) begin
        distance = ((32'h0) & 15'h7fff);
        if (key__0__hit) begin
            distance = distance | key__0__distance;
        end
        if (key__1__hit) begin
            distance = distance | key__1__distance;
        end
        if (key__2__hit) begin
            distance = distance | key__2__distance;
        end
        if (key__3__hit) begin
            distance = distance | key__3__distance;
        end
        if (key__4__hit) begin
            distance = distance | key__4__distance;
        end
        if (key__5__hit) begin
            distance = distance | key__5__distance;
        end
        if (key__6__hit) begin
            distance = distance | key__6__distance;
        end
        if (key__7__hit) begin
            distance = distance | key__7__distance;
        end
    end
    always @(*) begin
        any_hit = 1'b0;
        if (key__0__hit) begin
            any_hit = 1'b1;
        end
        if (key__1__hit) begin
            any_hit = 1'b1;
        end
        if (key__2__hit) begin
            any_hit = 1'b1;
        end
        if (key__3__hit) begin
            any_hit = 1'b1;
        end
        if (key__4__hit) begin
            any_hit = 1'b1;
        end
        if (key__5__hit) begin
            any_hit = 1'b1;
        end
        if (key__6__hit) begin
            any_hit = 1'b1;
        end
        if (key__7__hit) begin
            any_hit = 1'b1;
        end
    end
    always @(*) begin
        any_stale = 1'b0;
        any_stale = any_stale || key__0__stale;
        any_stale = any_stale || key__1__stale;
        any_stale = any_stale || key__2__stale;
        any_stale = any_stale || key__3__stale;
        any_stale = any_stale || key__4__stale;
        any_stale = any_stale || key__5__stale;
        any_stale = any_stale || key__6__stale;
        any_stale = any_stale || key__7__stale;
    end
    assign contexts__read_address = found__q[(64'h2)+:(3)];
    assign ctx = contexts__read_data;
    assign sum = ((found__q[(64'h14)+:(6)]) & 7'h7f) + ctx[(64'h7f)+:(7)];
    assign wrapped = sum - job[(64'h6)+:(7)];
    assign product = known__q[(64'h37)+:(15)] * known__q[(64'h30)+:(7)];
    always @(*) begin
        covered = ((known__q[(64'h1d)+:(10)]) & 15'h7fff);
        if (known__q[(64'h1c)+:(1)]) begin
            covered = ((known__q[(64'h1d)+:(10)]) & 15'h7fff) << 32'h1;
        end
    end
    assign packet_end = known__q[(64'h5)+:(15)] + covered;
    assign start = ((placed__q[(64'h44)+:(22)]) & 15'h7fff) + ((placed__q[(64'h5a)+:(7)]) & 15'h7fff);
    assign limit = start + placed__q[(64'h61)+:(15)];
    assign own_end = placed__q[(64'h26)+:(15)] + placed__q[(64'h35)+:(15)];
    always @(*) begin
        allowed = ranged__q[(64'h33)+:(15)];
        if (ranged__q[(64'h61)+:(1)]) begin
            allowed = ranged__q[(64'h33)+:(15)] + 32'h1;
        end
    end
    assign fits = (ranged__q[(64'h6)+:(15)] >= ranged__q[(64'h24)+:(15)]) && (ranged__q[(64'h15)+:(15)] <= allowed);
    assign next_position = position__q + 32'h1;
    always @(*) begin
        drop_no_window = 1'b0;
        if (~stall) begin
            if (fifth__q[(64'h0)+:(1)] && fifth__q[(64'h1)+:(1)]) begin
                if (ranged__q[(64'h0)+:(1)]) begin
                end
                else if (ranged__q[(64'h1)+:(1)]) begin
                end
                else begin
                    drop_no_window = 1'b1;
                end
            end
        end
        if (clear) begin
            drop_no_window = 1'b0;
        end
    end
    always @(*) begin
        drop_stale = 1'b0;
        if (~stall) begin
            if (fifth__q[(64'h0)+:(1)] && fifth__q[(64'h1)+:(1)]) begin
                if (ranged__q[(64'h0)+:(1)]) begin
                end
                else if (ranged__q[(64'h1)+:(1)]) begin
                    drop_stale = 1'b1;
                end
            end
        end
        if (clear) begin
            drop_stale = 1'b0;
        end
    end
    always @(*) begin
        drop_flags = 1'b0;
        if (~stall) begin
            if (fifth__q[(64'h0)+:(1)] && fifth__q[(64'h1)+:(1)]) begin
                if (ranged__q[(64'h0)+:(1)]) begin
                    if (ranged__q[(64'h2)+:(1)]) begin
                        drop_flags = 1'b1;
                    end
                end
            end
        end
        if (clear) begin
            drop_flags = 1'b0;
        end
    end
    always @(*) begin
        drop_out_of_shard = 1'b0;
        if (~stall) begin
            if (fifth__q[(64'h0)+:(1)] && fifth__q[(64'h1)+:(1)]) begin
                if (ranged__q[(64'h0)+:(1)]) begin
                    if (ranged__q[(64'h2)+:(1)]) begin
                    end
                    else if (~fits) begin
                        drop_out_of_shard = 1'b1;
                    end
                end
            end
        end
        if (clear) begin
            drop_out_of_shard = 1'b0;
        end
    end
    assign widen__data = fifth__q[(64'h2)+:(512)];
    assign widen__bf16 = verdict__q[(64'h32)+:(1)];
    assign widen__high = half__q;
    assign relative = position__q - verdict__q[(64'h13)+:(15)];
    assign valid = last__q[(64'h0)+:(1)] && ~last__q[(64'h1)+:(1)] && verdict__q[(64'h0)+:(1)] && ~padding__q;
    assign broadcast = verdict__q[(64'h1)+:(1)];
    always @(*) begin
        beat[(64'h0)+:(3)] = verdict__q[(64'h2)+:(3)];
        beat[(64'h3)+:(14)] = position__q[(32'h0)+:(14)];
        beat[(64'h11)+:(14)] = relative[(32'h0)+:(14)];
        beat[(64'h1f)+:(6)] = verdict__q[(64'h5)+:(6)];
        beat[(64'h25)+:(8)] = verdict__q[(64'hb)+:(8)];
        beat[(64'h2d)+:(512)] = last__q[(64'h2)+:(512)];
    end
    assign packet = last__q[(64'h0)+:(1)] && last__q[(64'h1)+:(1)] && verdict__q[(64'h0)+:(1)] && ~stall;
    assign mark = verdict__q[(64'h31)+:(1)];
    assign empty = ~first__q[(64'h0)+:(1)] && ~second__q[(64'h0)+:(1)] && ~third__q[(64'h0)+:(1)] && ~fourth__q[(64'h0)+:(1)] && ~fifth__q[(64'h0)+:(1)] && ~last__q[(64'h0)+:(1)];
    always @(*) begin
        named__d = named__q;
        found__d = found__q;
        known__d = known__q;
        placed__d = placed__q;
        ranged__d = ranged__q;
        verdict__d = verdict__q;
        position__d = position__q;
        padding__d = padding__q;
        half__d = half__q;
        first__d = first__q;
        second__d = second__q;
        third__d = third__q;
        fourth__d = fourth__q;
        fifth__d = fifth__q;
        last__d = last__q;
        if (step) begin
            first__d[(64'h0)+:(1)] = in_valid;
            first__d[(64'h1)+:(1)] = in_head;
            first__d[(64'h2)+:(512)] = in_data;
            second__d = first__q;
            third__d = second__q;
            fourth__d = third__q;
            fifth__d = fourth__q;
        end
        if (head1) begin
            named__d[(64'h0)+:(6)] = in_header[(64'h44)+:(6)];
            named__d[(64'h6)+:(1)] = in_header[(64'h4a)+:(1)];
            named__d[(64'h7)+:(1)] = in_header[(64'h4b)+:(1)];
            named__d[(64'h8)+:(1)] = in_header[(64'h4c)+:(1)];
            named__d[(64'h9)+:(1)] = in_header[(64'h4d)+:(1)];
            named__d[(64'ha)+:(10)] = in_header[(64'h3a)+:(10)];
        end
        if (head2) begin
            found__d[(64'h0)+:(1)] = any_hit;
            found__d[(64'h1)+:(1)] = any_stale;
            found__d[(64'h2)+:(3)] = slot;
            found__d[(64'h5)+:(15)] = distance;
            found__d[(64'h14)+:(6)] = named__q[(64'h0)+:(6)];
            found__d[(64'h1a)+:(1)] = named__q[(64'h6)+:(1)];
            found__d[(64'h1b)+:(1)] = named__q[(64'h7)+:(1)];
            found__d[(64'h1c)+:(1)] = named__q[(64'h8)+:(1)];
            found__d[(64'h1d)+:(1)] = named__q[(64'h9)+:(1)];
            found__d[(64'h1e)+:(10)] = named__q[(64'ha)+:(10)];
        end
        if (head3) begin
            known__d[(64'h0)+:(1)] = found__q[(64'h0)+:(1)];
            known__d[(64'h1)+:(1)] = found__q[(64'h1)+:(1)];
            known__d[(64'h2)+:(3)] = found__q[(64'h2)+:(3)];
            known__d[(64'h5)+:(15)] = found__q[(64'h5)+:(15)];
            known__d[(64'h14)+:(6)] = found__q[(64'h14)+:(6)];
            known__d[(64'h1a)+:(1)] = found__q[(64'h1a)+:(1)];
            known__d[(64'h1b)+:(1)] = found__q[(64'h1b)+:(1)];
            known__d[(64'h1c)+:(1)] = found__q[(64'h1d)+:(1)];
            known__d[(64'h1d)+:(10)] = found__q[(64'h1e)+:(10)];
            known__d[(64'h27)+:(1)] = (found__q[(64'h1c)+:(1)] != ctx[(64'h86)+:(1)]) || (found__q[(64'h1d)+:(1)] != ctx[(64'h87)+:(1)]);
            known__d[(64'h28)+:(8)] = ctx[(64'hcd)+:(8)];
            known__d[(64'h30)+:(7)] = sum;
            if (sum >= job[(64'h6)+:(7)]) begin
                known__d[(64'h30)+:(7)] = wrapped;
            end
            known__d[(64'h37)+:(15)] = ctx[(64'h69)+:(15)];
            known__d[(64'h46)+:(7)] = ctx[(64'h78)+:(7)];
            known__d[(64'h4d)+:(15)] = ctx[(64'haf)+:(15)];
            known__d[(64'h5c)+:(15)] = ctx[(64'hbe)+:(15)];
        end
        if (head4) begin
            placed__d[(64'h0)+:(1)] = known__q[(64'h0)+:(1)];
            placed__d[(64'h1)+:(1)] = known__q[(64'h1)+:(1)];
            placed__d[(64'h2)+:(1)] = known__q[(64'h27)+:(1)];
            placed__d[(64'h3)+:(3)] = known__q[(64'h2)+:(3)];
            placed__d[(64'h6)+:(15)] = known__q[(64'h5)+:(15)];
            placed__d[(64'h15)+:(6)] = known__q[(64'h14)+:(6)];
            placed__d[(64'h1b)+:(1)] = known__q[(64'h1a)+:(1)];
            placed__d[(64'h1c)+:(1)] = known__q[(64'h1b)+:(1)];
            placed__d[(64'h1d)+:(1)] = known__q[(64'h1c)+:(1)];
            placed__d[(64'h1e)+:(8)] = known__q[(64'h28)+:(8)];
            placed__d[(64'h26)+:(15)] = known__q[(64'h4d)+:(15)];
            placed__d[(64'h35)+:(15)] = known__q[(64'h5c)+:(15)];
            placed__d[(64'h44)+:(22)] = product;
            placed__d[(64'h5a)+:(7)] = known__q[(64'h46)+:(7)];
            placed__d[(64'h61)+:(15)] = known__q[(64'h37)+:(15)];
            if (known__q[(64'h30)+:(7)] < known__q[(64'h46)+:(7)]) begin
                placed__d[(64'h5a)+:(7)] = known__q[(64'h30)+:(7)];
                placed__d[(64'h61)+:(15)] = known__q[(64'h37)+:(15)] + 32'h1;
            end
            placed__d[(64'h70)+:(15)] = packet_end;
        end
        if (head5) begin
            ranged__d[(64'h0)+:(1)] = placed__q[(64'h0)+:(1)];
            ranged__d[(64'h1)+:(1)] = placed__q[(64'h1)+:(1)];
            ranged__d[(64'h2)+:(1)] = placed__q[(64'h2)+:(1)];
            ranged__d[(64'h3)+:(3)] = placed__q[(64'h3)+:(3)];
            ranged__d[(64'h6)+:(15)] = placed__q[(64'h6)+:(15)];
            ranged__d[(64'h15)+:(15)] = placed__q[(64'h70)+:(15)];
            ranged__d[(64'h42)+:(15)] = placed__q[(64'h26)+:(15)];
            ranged__d[(64'h51)+:(8)] = placed__q[(64'h1e)+:(8)];
            ranged__d[(64'h59)+:(6)] = placed__q[(64'h15)+:(6)];
            ranged__d[(64'h5f)+:(1)] = placed__q[(64'h1b)+:(1)];
            ranged__d[(64'h60)+:(1)] = placed__q[(64'h1c)+:(1)];
            ranged__d[(64'h61)+:(1)] = placed__q[(64'h1d)+:(1)];
            ranged__d[(64'h24)+:(15)] = placed__q[(64'h26)+:(15)];
            ranged__d[(64'h33)+:(15)] = own_end;
            if (placed__q[(64'h1b)+:(1)]) begin
                ranged__d[(64'h24)+:(15)] = start;
                ranged__d[(64'h33)+:(15)] = limit;
            end
        end
        if (~stall) begin
            last__d[(64'h0)+:(1)] = fifth__q[(64'h0)+:(1)];
            last__d[(64'h1)+:(1)] = fifth__q[(64'h1)+:(1)];
            last__d[(64'h2)+:(512)] = widen__beat;
            half__d = splitting;
            padding__d = 1'b0;
            if (last__q[(64'h0)+:(1)] && ~last__q[(64'h1)+:(1)]) begin
                position__d = next_position;
                padding__d = next_position == verdict__q[(64'h22)+:(15)];
            end
            if (fifth__q[(64'h0)+:(1)] && fifth__q[(64'h1)+:(1)]) begin
                position__d = ranged__q[(64'h6)+:(15)];
                padding__d = 1'b0;
                verdict__d[(64'h0)+:(1)] = 1'b0;
                verdict__d[(64'h1)+:(1)] = ranged__q[(64'h5f)+:(1)];
                verdict__d[(64'h2)+:(3)] = ranged__q[(64'h3)+:(3)];
                verdict__d[(64'h5)+:(6)] = ranged__q[(64'h59)+:(6)];
                verdict__d[(64'hb)+:(8)] = ranged__q[(64'h51)+:(8)];
                verdict__d[(64'h13)+:(15)] = ranged__q[(64'h42)+:(15)];
                verdict__d[(64'h22)+:(15)] = ranged__q[(64'h33)+:(15)];
                verdict__d[(64'h31)+:(1)] = ranged__q[(64'h60)+:(1)];
                verdict__d[(64'h32)+:(1)] = ranged__q[(64'h61)+:(1)];
                if (ranged__q[(64'h0)+:(1)]) begin
                    if (ranged__q[(64'h2)+:(1)]) begin
                    end
                    else if (~fits) begin
                    end
                    else begin
                        verdict__d[(64'h0)+:(1)] = 1'b1;
                    end
                end
            end
        end
        if (clear) begin
            first__d[(64'h0)+:(1)] = 1'b0;
            second__d[(64'h0)+:(1)] = 1'b0;
            third__d[(64'h0)+:(1)] = 1'b0;
            fourth__d[(64'h0)+:(1)] = 1'b0;
            fifth__d[(64'h0)+:(1)] = 1'b0;
            last__d[(64'h0)+:(1)] = 1'b0;
            verdict__d[(64'h0)+:(1)] = 1'b0;
            half__d = 1'b0;
        end
    end
    wire unused__ctx = &{ctx[404:213], ctx[174:136], ctx[104:0]};
    wire unused__job = &{job[199:13], job[5:0]};
    wire unused__relative = &{relative[14]};
endmodule

module optireduce_nic__nic__parser(clock,job,in_valid,in_data,frame_beats,pop,stall,valid,head,header,data,empty,drop_foreign,drop_malformed,drop_version,drop_job);
    // Module arguments
    input wire  clock;
    input wire  [199:0] job;
    input wire  in_valid;
    input wire  [512:0] in_data;
    input wire  [9:0] frame_beats;
    output wire  pop;
    input wire  stall;
    output wire  valid;
    output wire  head;
    output wire  [77:0] header;
    output wire  [511:0] data;
    output wire  empty;
    output reg  drop_foreign;
    output reg  drop_malformed;
    output reg  drop_version;
    output reg  drop_job;
    // Stub signals
    reg  [524:0] raw__d;
    wire  [524:0] raw__q;
    wire  raw__clock;
    reg  [514:0] parsed__d;
    wire  [514:0] parsed__q;
    wire  parsed__clock;
    reg  [77:0] fields__d;
    wire  [77:0] fields__q;
    wire  fields__clock;
    reg  in_frame__d;
    wire  in_frame__q;
    wire  in_frame__clock;
    // Local signals
    wire  [511:0] h;
    wire  [15:0] fragment;
    wire  [15:0] total;
    wire  [15:0] udp_length;
    wire  [15:0] udp_expected;
    wire  [15:0] payload;
    wire  [9:0] payload_beats;
    wire  [9:0] frame_expected;
    wire  [31:0] offset;
    wire  [15:0] sender;
    wire  [3:0] stage;
    wire  [3:0] version;
    wire  foreign;
    wire  malformed;
    wire  wrong_version;
    wire  wrong_job;
    wire  [7:0] flags;
    wire  [7:0] version_stage;
    // Sub module instances
    optireduce_nic__nic__parser__raw raw(
        .d(raw__d),
        .q(raw__q),
        .clock(raw__clock)
    );
    optireduce_nic__nic__guard__held parsed(
        .d(parsed__d),
        .q(parsed__q),
        .clock(parsed__clock)
    );
    optireduce_nic__nic__parser__fields fields(
        .d(fields__d),
        .q(fields__q),
        .clock(fields__clock)
    );
    optireduce_nic__nic__finisher__drain__side__0 in_frame(
        .d(in_frame__d),
        .q(in_frame__q),
        .clock(in_frame__clock)
    );
    // Update code
    assign raw__clock = clock;
    assign parsed__clock = clock;
    assign fields__clock = clock;
    assign in_frame__clock = clock;
    assign pop = ~stall;
    assign h = ((raw__q[(64'h2)+:(512)]) & 512'hffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff);
    assign fragment = h[(64'ha0)+:(16)] & 32'hff3f;
    assign total = (((h[(64'h80)+:(8)]) & 16'hffff) << 32'h8) | ((h[(64'h88)+:(8)]) & 16'hffff);
    assign udp_length = (((h[(64'h130)+:(8)]) & 16'hffff) << 32'h8) | ((h[(64'h138)+:(8)]) & 16'hffff);
    assign udp_expected = total - 32'h14;
    assign payload = total - 32'h32;
    assign payload_beats = payload[(32'h6)+:(10)];
    assign frame_expected = payload_beats + 32'h1;
    assign offset = (((h[(64'h160)+:(8)]) & 32'hffffffff) << 32'h18) | (((h[(64'h168)+:(8)]) & 32'hffffffff) << 32'h10) | (((h[(64'h170)+:(8)]) & 32'hffffffff) << 32'h8) | ((h[(64'h178)+:(8)]) & 32'hffffffff);
    assign sender = (((h[(64'h1a0)+:(8)]) & 16'hffff) << 32'h8) | ((h[(64'h1a8)+:(8)]) & 16'hffff);
    assign flags = h[(64'h190)+:(8)];
    assign version_stage = h[(64'h198)+:(8)];
    assign stage = version_stage[(32'h0)+:(4)];
    assign version = version_stage[(32'h4)+:(4)];
    assign foreign = (h[(64'h60)+:(16)] != 32'h8) || (h[(64'h70)+:(8)] != 32'h45) || (fragment != 32'h0) || (h[(64'hb8)+:(8)] != 32'h11) || (h[(64'h120)+:(16)] != job[(64'h55)+:(16)]);
    assign malformed = (total < 32'h72) || (udp_length != udp_expected) || (payload[(32'h0)+:(6)] != 32'h0) || (raw__q[(64'h203)+:(10)] != frame_expected) || (sender >= ((job[(64'h6)+:(7)]) & 16'hffff)) || (sender == ((job[(64'h0)+:(6)]) & 16'hffff)) || ((stage != 32'h0) && (stage != 32'h2)) || (offset[(32'h0)+:(6)] != 32'h0);
    assign wrong_version = version != 32'h1;
    assign wrong_job = h[(64'h1c0)+:(64)] != job[(64'hd)+:(64)];
    always @(*) begin
        drop_foreign = 1'b0;
        if (~stall) begin
            if (raw__q[(64'h0)+:(1)] && raw__q[(64'h1)+:(1)]) begin
                if (foreign) begin
                    drop_foreign = 1'b1;
                end
            end
        end
    end
    always @(*) begin
        drop_malformed = 1'b0;
        if (~stall) begin
            if (raw__q[(64'h0)+:(1)] && raw__q[(64'h1)+:(1)]) begin
                if (foreign) begin
                end
                else if (malformed) begin
                    drop_malformed = 1'b1;
                end
            end
        end
    end
    always @(*) begin
        drop_version = 1'b0;
        if (~stall) begin
            if (raw__q[(64'h0)+:(1)] && raw__q[(64'h1)+:(1)]) begin
                if (foreign) begin
                end
                else if (malformed) begin
                end
                else if (wrong_version) begin
                    drop_version = 1'b1;
                end
            end
        end
    end
    always @(*) begin
        drop_job = 1'b0;
        if (~stall) begin
            if (raw__q[(64'h0)+:(1)] && raw__q[(64'h1)+:(1)]) begin
                if (foreign) begin
                end
                else if (malformed) begin
                end
                else if (wrong_version) begin
                end
                else if (wrong_job) begin
                    drop_job = 1'b1;
                end
            end
        end
    end
    assign valid = parsed__q[(64'h0)+:(1)] && parsed__q[(64'h202)+:(1)];
    assign head = parsed__q[(64'h1)+:(1)];
    assign header = fields__q;
    assign data = parsed__q[(64'h2)+:(512)];
    assign empty = ~raw__q[(64'h0)+:(1)] && ~parsed__q[(64'h0)+:(1)];
    always @(*) begin
        raw__d = raw__q;
        parsed__d = parsed__q;
        fields__d = fields__q;
        in_frame__d = in_frame__q;
        if (~stall) begin
            raw__d[(64'h0)+:(1)] = in_valid;
            raw__d[(64'h1)+:(1)] = ~in_frame__q;
            raw__d[(64'h2)+:(512)] = in_data[(64'h0)+:(512)];
            raw__d[(64'h202)+:(1)] = in_data[(64'h200)+:(1)];
            raw__d[(64'h203)+:(10)] = frame_beats;
            in_frame__d = in_valid && ~in_data[(64'h200)+:(1)];
        end
        if (~stall) begin
            parsed__d[(64'h0)+:(1)] = raw__q[(64'h0)+:(1)];
            parsed__d[(64'h1)+:(1)] = raw__q[(64'h1)+:(1)];
            parsed__d[(64'h2)+:(512)] = raw__q[(64'h2)+:(512)];
            if (raw__q[(64'h0)+:(1)] && raw__q[(64'h1)+:(1)]) begin
                parsed__d[(64'h202)+:(1)] = 1'b0;
                if (foreign) begin
                end
                else if (malformed) begin
                end
                else if (wrong_version) begin
                end
                else if (wrong_job) begin
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
    end
    wire unused__flags = &{flags[7:3]};
    wire unused__h = &{h[399:384], h[335:320], h[287:192], h[183:176], h[159:144], h[127:120], h[95:0]};
    wire unused__job = &{job[199:101], job[84:77]};
endmodule

module optireduce_nic__nic__planner(clock,clear,job,now_ns,peer_write,peer_word,peer_data,arm,arm_slot,arm_context,enter,advert,contribute_valid,contribute,contribute_ready,filled_low,filled_high,broadcast_valid,broadcast,ask_valid,ask_address,ask_ready,word,valid,order,ready,working);
    // Module arguments
    input wire  clock;
    input wire  clear;
    input wire  [199:0] job;
    input wire  [47:0] now_ns;
    input wire  peer_write;
    input wire  [7:0] peer_word;
    input wire  [31:0] peer_data;
    input wire  [7:0] arm;
    input wire  [2:0] arm_slot;
    input wire  [404:0] arm_context;
    input wire  [7:0] enter;
    input wire  [19:0] advert;
    input wire  contribute_valid;
    input wire  [4:0] contribute;
    output wire  contribute_ready;
    input wire  [14:0] filled_low;
    input wire  [14:0] filled_high;
    input wire  broadcast_valid;
    input wire  [4:0] broadcast;
    output reg  ask_valid;
    output reg  [16:0] ask_address;
    input wire  ask_ready;
    input wire  [519:0] word;
    output reg  valid;
    output reg  [115:0] order;
    input wire  ready;
    output wire  working;
    // Enums
    localparam PlanState__Idle = 0;
    localparam PlanState__Window = 1;
    localparam PlanState__Peer = 2;
    localparam PlanState__Shard = 3;
    localparam PlanState__Place = 4;
    localparam PlanState__Begin = 5;
    localparam PlanState__Packet = 6;
    localparam PlanState__Ask = 7;
    localparam PlanState__Answer = 8;
    localparam PlanState__Pace = 9;
    localparam PlanState__Order = 10;
    localparam PlanState__Advance = 11;
    localparam PlanState__Finish = 12;
    // Stub signals
    wire  contributes__clock;
    wire  contributes__clear;
    wire  contributes__push;
    wire  [4:0] contributes__push_data;
    wire  contributes__full;
    reg  contributes__pop;
    wire  [4:0] contributes__pop_data;
    wire  contributes__empty;
    wire  [15:0] contributes__room;
    wire  broadcasts__clock;
    wire  broadcasts__clear;
    wire  broadcasts__push;
    wire  [4:0] broadcasts__push_data;
    wire  broadcasts__full;
    reg  broadcasts__pop;
    wire  [4:0] broadcasts__pop_data;
    wire  broadcasts__empty;
    wire  [15:0] broadcasts__room;
    wire  contexts__clock;
    wire  [2:0] contexts__read_address;
    wire  [404:0] contexts__read_data;
    wire  [2:0] contexts__write_address;
    wire  [404:0] contexts__write_data;
    wire  contexts__write_enable;
    wire  adverts__clock;
    wire  [2:0] adverts__read_address;
    wire  [19:0] adverts__read_data;
    wire  [2:0] adverts__write_address;
    wire  [19:0] adverts__write_data;
    wire  adverts__write_enable;
    wire  shares__clock;
    wire  [4:0] shares__read_address;
    wire  [35:0] shares__read_data;
    wire  [4:0] shares__write_address;
    reg  [35:0] shares__write_data;
    reg  shares__write_enable;
    wire  pacer__clock;
    wire  pacer__clear;
    wire  [199:0] pacer__job;
    wire  [47:0] pacer__now_ns;
    wire  pacer__peer_write;
    wire  [7:0] pacer__peer_word;
    wire  [31:0] pacer__peer_data;
    wire  [5:0] pacer__peer;
    wire  pacer__paced;
    wire  pacer__ask;
    wire  [7:0] pacer__beats;
    wire  pacer__answer;
    wire  pacer__granted;
    reg  [3:0] state__d;
    wire  [3:0] state__q;
    wire  state__clock;
    reg  [4:0] now__d;
    wire  [4:0] now__q;
    wire  now__clock;
    reg  [20:0] at__d;
    wire  [20:0] at__q;
    wire  at__clock;
    reg  kept__d;
    wire  kept__q;
    wire  kept__clock;
    reg  [4:0] kept_order__d;
    wire  [4:0] kept_order__q;
    wire  kept_order__clock;
    reg  [20:0] kept_at__d;
    wire  [20:0] kept_at__q;
    wire  kept_at__clock;
    reg  [16:0] mark_beats__d;
    wire  [16:0] mark_beats__q;
    wire  mark_beats__clock;
    reg  [8:0] packet_most__d;
    wire  [8:0] packet_most__q;
    wire  packet_most__clock;
    reg  [14:0] turn__d;
    wire  [14:0] turn__q;
    wire  turn__clock;
    reg  [14:0] wrap__d;
    wire  [14:0] wrap__q;
    wire  wrap__clock;
    reg  [6:0] peer__d;
    wire  [6:0] peer__q;
    wire  peer__clock;
    reg  [6:0] shard__d;
    wire  [6:0] shard__q;
    wire  shard__clock;
    reg  [14:0] start__d;
    wire  [14:0] start__q;
    wire  start__clock;
    reg  [14:0] length__d;
    wire  [14:0] length__q;
    wire  length__clock;
    reg  [35:0] packet__d;
    wire  [35:0] packet__q;
    wire  packet__clock;
    reg  [8:0] packet_beats__d;
    wire  [8:0] packet_beats__q;
    wire  packet_beats__clock;
    reg  marked__d;
    wire  marked__q;
    wire  marked__clock;
    reg  after_turn__d;
    wire  after_turn__q;
    wire  after_turn__clock;
    // Local signals
    wire  [404:0] ctx;
    reg  [3:0] incast;
    wire  [14:0] own_end;
    wire  [8:0] payload;
    wire  [15:0] marks;
    wire  [6:0] step;
    wire  [6:0] peer_sum;
    wire  [6:0] peer_wrapped;
    wire  [6:0] shard_sum;
    wire  [6:0] shard_wrapped;
    reg  [6:0] extra;
    reg  [14:0] longer;
    wire  [21:0] product;
    reg  [4:0] place;
    wire  [35:0] share;
    reg  [14:0] taken;
    reg  [14:0] ahead;
    reg  [14:0] filled;
    wire  present;
    wire  [14:0] position_next;
    wire  [14:0] remaining_next;
    reg  consumed;
    wire  [8:0] halves;
    reg  [7:0] wire_beats;
    wire  [25:0] offset;
    wire  [3:0] live_more;
    wire  [3:0] live_less;
    wire  [3:0] index_next;
    wire  [6:0] round_here;
    wire  [6:0] round_next;
    // Sub module instances
    optireduce_nic__nic__planner__contributes contributes(
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
    optireduce_nic__nic__planner__broadcasts broadcasts(
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
    optireduce_nic__nic__contribute__contexts contexts(
        .clock(contexts__clock),
        .read_address(contexts__read_address),
        .read_data(contexts__read_data),
        .write_address(contexts__write_address),
        .write_data(contexts__write_data),
        .write_enable(contexts__write_enable)
    );
    optireduce_nic__nic__planner__adverts adverts(
        .clock(adverts__clock),
        .read_address(adverts__read_address),
        .read_data(adverts__read_data),
        .write_address(adverts__write_address),
        .write_data(adverts__write_data),
        .write_enable(adverts__write_enable)
    );
    optireduce_nic__nic__planner__shares shares(
        .clock(shares__clock),
        .read_address(shares__read_address),
        .read_data(shares__read_data),
        .write_address(shares__write_address),
        .write_data(shares__write_data),
        .write_enable(shares__write_enable)
    );
    optireduce_nic__nic__planner__pacer pacer(
        .clock(pacer__clock),
        .clear(pacer__clear),
        .job(pacer__job),
        .now_ns(pacer__now_ns),
        .peer_write(pacer__peer_write),
        .peer_word(pacer__peer_word),
        .peer_data(pacer__peer_data),
        .peer(pacer__peer),
        .paced(pacer__paced),
        .ask(pacer__ask),
        .beats(pacer__beats),
        .answer(pacer__answer),
        .granted(pacer__granted)
    );
    optireduce_nic__nic__planner__state state(
        .d(state__d),
        .q(state__q),
        .clock(state__clock)
    );
    optireduce_nic__nic__broadcast_gates__counting now(
        .d(now__d),
        .q(now__q),
        .clock(now__clock)
    );
    optireduce_nic__nic__planner__at at(
        .d(at__d),
        .q(at__q),
        .clock(at__clock)
    );
    optireduce_nic__nic__finisher__drain__side__0 kept(
        .d(kept__d),
        .q(kept__q),
        .clock(kept__clock)
    );
    optireduce_nic__nic__broadcast_gates__counting kept_order(
        .d(kept_order__d),
        .q(kept_order__q),
        .clock(kept_order__clock)
    );
    optireduce_nic__nic__planner__at kept_at(
        .d(kept_at__d),
        .q(kept_at__q),
        .clock(kept_at__clock)
    );
    optireduce_nic__nic__lookup__key__0__found mark_beats(
        .d(mark_beats__d),
        .q(mark_beats__q),
        .clock(mark_beats__clock)
    );
    optireduce_nic__nic__planner__packet_beats packet_most(
        .d(packet_most__d),
        .q(packet_most__q),
        .clock(packet_most__clock)
    );
    optireduce_nic__nic__finisher__drain__to_come turn(
        .d(turn__d),
        .q(turn__q),
        .clock(turn__clock)
    );
    optireduce_nic__nic__finisher__drain__to_come wrap(
        .d(wrap__d),
        .q(wrap__q),
        .clock(wrap__clock)
    );
    optireduce_nic__nic__finisher__write__left peer(
        .d(peer__d),
        .q(peer__q),
        .clock(peer__clock)
    );
    optireduce_nic__nic__finisher__write__left shard(
        .d(shard__d),
        .q(shard__q),
        .clock(shard__clock)
    );
    optireduce_nic__nic__finisher__drain__to_come start(
        .d(start__d),
        .q(start__q),
        .clock(start__clock)
    );
    optireduce_nic__nic__finisher__drain__to_come length(
        .d(length__d),
        .q(length__q),
        .clock(length__clock)
    );
    optireduce_nic__nic__reduce__adder__lane__0__normal packet(
        .d(packet__d),
        .q(packet__q),
        .clock(packet__clock)
    );
    optireduce_nic__nic__planner__packet_beats packet_beats(
        .d(packet_beats__d),
        .q(packet_beats__q),
        .clock(packet_beats__clock)
    );
    optireduce_nic__nic__finisher__drain__side__0 marked(
        .d(marked__d),
        .q(marked__q),
        .clock(marked__clock)
    );
    optireduce_nic__nic__finisher__drain__side__0 after_turn(
        .d(after_turn__d),
        .q(after_turn__q),
        .clock(after_turn__clock)
    );
    // Update code
    assign state__clock = clock;
    assign now__clock = clock;
    assign at__clock = clock;
    assign kept__clock = clock;
    assign kept_order__clock = clock;
    assign kept_at__clock = clock;
    assign mark_beats__clock = clock;
    assign packet_most__clock = clock;
    assign turn__clock = clock;
    assign wrap__clock = clock;
    assign peer__clock = clock;
    assign shard__clock = clock;
    assign start__clock = clock;
    assign length__clock = clock;
    assign packet__clock = clock;
    assign packet_beats__clock = clock;
    assign marked__clock = clock;
    assign after_turn__clock = clock;
    assign contexts__clock = clock;
    assign contexts__write_enable = arm != 32'h0;
    assign contexts__write_address = arm_slot;
    assign contexts__write_data = arm_context;
    assign contexts__read_address = now__q[(64'h0)+:(3)];
    assign ctx = contexts__read_data;
    assign adverts__clock = clock;
    assign adverts__write_enable = (arm != 32'h0) || (enter != 32'h0);
    assign adverts__write_address = arm_slot;
    assign adverts__write_data = advert;
    assign adverts__read_address = now__q[(64'h0)+:(3)];
    assign contributes__clock = clock;
    assign contributes__clear = clear;
    assign contributes__push = contribute_valid;
    assign contributes__push_data = contribute;
    always @(*) begin
        contributes__pop = 1'b0;
        case (state__q)
            PlanState__Idle: begin
                if (~broadcasts__empty) begin
                end
                else if (kept__q) begin
                end
                else if (~contributes__empty) begin
                    contributes__pop = 1'b1;
                end
            end
            default: begin
            end
        endcase
    end
    assign contribute_ready = ~contributes__full;
    assign broadcasts__clock = clock;
    assign broadcasts__clear = clear;
    assign broadcasts__push = broadcast_valid;
    assign broadcasts__push_data = broadcast;
    always @(*) begin
        broadcasts__pop = 1'b0;
        case (state__q)
            PlanState__Idle: begin
                if (~broadcasts__empty) begin
                    broadcasts__pop = 1'b1;
                end
            end
            default: begin
            end
        endcase
    end
    assign pacer__clock = clock;
    assign pacer__clear = clear;
    assign pacer__job = job;
    assign pacer__now_ns = now_ns;
    assign pacer__peer_write = peer_write;
    assign pacer__peer_word = peer_word;
    assign pacer__peer_data = peer_data;
    always @(*) begin
        incast = ctx[(64'ha9)+:(4)];
        if (ctx[(64'ha9)+:(4)] == 32'h0) begin
            incast = ((32'h1) & 4'hf);
        end
    end
    assign own_end = ctx[(64'haf)+:(15)] + ctx[(64'hbe)+:(15)];
    assign payload = ((job[(64'h4d)+:(8)]) & 9'h1ff);
    assign marks = ctx[(64'ha1)+:(8)] * job[(64'h4d)+:(8)];
    assign step = at__q[(64'h0)+:(7)] + ((at__q[(64'h7)+:(4)]) & 7'h7f);
    assign peer_sum = ((job[(64'h0)+:(6)]) & 7'h7f) + step;
    assign peer_wrapped = peer_sum - job[(64'h6)+:(7)];
    assign shard_sum = peer__q + ctx[(64'h7f)+:(7)];
    assign shard_wrapped = shard_sum - job[(64'h6)+:(7)];
    always @(*) begin
        extra = ctx[(64'h78)+:(7)];
        if (shard__q < ctx[(64'h78)+:(7)]) begin
            extra = shard__q;
        end
    end
    always @(*) begin
        longer = ctx[(64'h69)+:(15)];
        if (shard__q < ctx[(64'h78)+:(7)]) begin
            longer = ctx[(64'h69)+:(15)] + 32'h1;
        end
    end
    assign product = ctx[(64'h69)+:(15)] * shard__q;
    always @(*) begin
        place = ((at__q[(64'h7)+:(4)]) & 5'h1f);
        if (now__q[(64'h3)+:(1)]) begin
            place = ((at__q[(64'h7)+:(4)]) & 5'h1f) | 32'h10;
        end
    end
    assign shares__clock = clock;
    assign shares__read_address = place;
    assign share = shares__read_data;
    assign shares__write_address = place;
    always @(*) begin
        shares__write_enable = 1'b0;
        case (state__q)
            PlanState__Begin: begin
                shares__write_enable = 1'b1;
            end
            default: begin
            end
        endcase
        if (consumed) begin
            shares__write_enable = 1'b1;
        end
    end
    always @(*) begin
        shares__write_data = packet__q;
        case (state__q)
            PlanState__Begin: begin
                shares__write_data[(64'h0)+:(6)] = peer__q[(32'h0)+:(6)];
                shares__write_data[(64'h6)+:(15)] = start__q;
                shares__write_data[(64'h15)+:(15)] = length__q;
            end
            default: begin
            end
        endcase
        if (consumed) begin
            shares__write_data[(64'h6)+:(15)] = position_next;
            shares__write_data[(64'h15)+:(15)] = remaining_next;
        end
    end
    always @(*) begin
        taken = ((packet_most__q) & 15'h7fff);
        if (share[(64'h15)+:(15)] < ((packet_most__q) & 15'h7fff)) begin
            taken = share[(64'h15)+:(15)];
        end
    end
    assign position_next = packet__q[(64'h6)+:(15)] + ((packet_beats__q) & 15'h7fff);
    assign remaining_next = packet__q[(64'h15)+:(15)] - ((packet_beats__q) & 15'h7fff);
    assign offset = ctx[(64'h40)+:(26)] + ((packet__q[(64'h6)+:(15)]) & 26'h3ffffff);
    assign halves = packet_beats__q + 32'h1;
    always @(*) begin
        wire_beats = packet_beats__q[(32'h0)+:(8)];
        if (ctx[(64'h87)+:(1)]) begin
            wire_beats = halves[(32'h1)+:(8)];
        end
    end
    always @(*) begin
        ahead = position_next + wrap__q;
        if (after_turn__q) begin
            ahead = position_next - turn__q;
        end
    end
    always @(*) begin
        filled = filled_low;
        if (now__q[(64'h4)+:(1)]) begin
            filled = filled_high;
        end
    end
    assign present = ahead <= filled;
    assign pacer__peer = packet__q[(64'h0)+:(6)];
    assign pacer__beats = wire_beats;
    assign pacer__ask = state__q == PlanState__Pace;
    always @(*) begin
        consumed = 1'b0;
        case (state__q)
            PlanState__Answer: begin
                if (word[(64'h200)+:(8)] != ctx[(64'hcd)+:(8)]) begin
                    consumed = 1'b1;
                end
            end
            PlanState__Order: begin
                if (ready) begin
                    consumed = 1'b1;
                end
            end
            default: begin
            end
        endcase
    end
    assign live_more = at__q[(64'hf)+:(4)] + 32'h1;
    assign live_less = at__q[(64'hf)+:(4)] - 32'h1;
    assign index_next = at__q[(64'h7)+:(4)] + 32'h1;
    assign round_here = at__q[(64'h0)+:(7)] + ((at__q[(64'h7)+:(4)]) & 7'h7f);
    assign round_next = at__q[(64'h0)+:(7)] + ((at__q[(64'hb)+:(4)]) & 7'h7f);
    always @(*) begin
        ask_valid = 1'b0;
        case (state__q)
            PlanState__Ask: begin
                if (now__q[(64'h3)+:(1)]) begin
                    ask_valid = 1'b1;
                end
            end
            default: begin
            end
        endcase
    end
    always @(*) begin
        ask_address[(64'h0)+:(3)] = now__q[(64'h0)+:(3)];
        ask_address[(64'h3)+:(14)] = ((packet__q[(64'h6)+:(15)]) & 14'h3fff);
    end
    always @(*) begin
        valid = 1'b0;
        case (state__q)
            PlanState__Order: begin
                valid = 1'b1;
            end
            PlanState__Finish: begin
                valid = 1'b1;
            end
            default: begin
            end
        endcase
    end
    always @(*) begin
        order[(64'h0)+:(3)] = now__q[(64'h0)+:(3)];
        order[(64'h3)+:(1)] = now__q[(64'h3)+:(1)];
        order[(64'h4)+:(1)] = now__q[(64'h4)+:(1)];
        order[(64'h5)+:(6)] = packet__q[(64'h0)+:(6)];
        order[(64'hb)+:(14)] = ((packet__q[(64'h6)+:(15)]) & 14'h3fff);
        order[(64'h19)+:(8)] = wire_beats;
        order[(64'h21)+:(1)] = ctx[(64'h87)+:(1)] && packet_beats__q[32'h0];
        order[(64'h22)+:(1)] = marked__q;
        order[(64'h23)+:(1)] = state__q == PlanState__Finish;
        order[(64'h24)+:(16)] = adverts__read_data[(64'h0)+:(16)];
        order[(64'h34)+:(4)] = adverts__read_data[(64'h10)+:(4)];
        order[(64'h38)+:(16)] = ctx[(64'h20)+:(16)];
        order[(64'h48)+:(16)] = ctx[(64'h30)+:(16)];
        order[(64'h58)+:(26)] = offset;
        order[(64'h72)+:(1)] = ctx[(64'h86)+:(1)];
        order[(64'h73)+:(1)] = ctx[(64'h87)+:(1)];
        case (state__q)
            PlanState__Finish: begin
                order[(64'h19)+:(8)] = ((32'h0) & 8'hff);
            end
            default: begin
            end
        endcase
    end
    assign working = (state__q != PlanState__Idle) || kept__q || ~contributes__empty || ~broadcasts__empty;
    always @(*) begin
        state__d = state__q;
        now__d = now__q;
        at__d = at__q;
        kept__d = kept__q;
        kept_order__d = kept_order__q;
        kept_at__d = kept_at__q;
        mark_beats__d = mark_beats__q;
        packet_most__d = packet_most__q;
        turn__d = turn__q;
        wrap__d = wrap__q;
        peer__d = peer__q;
        shard__d = shard__q;
        start__d = start__q;
        length__d = length__q;
        packet__d = packet__q;
        packet_beats__d = packet_beats__q;
        marked__d = marked__q;
        after_turn__d = after_turn__q;
        case (state__q)
            PlanState__Idle: begin
                at__d[(64'h0)+:(7)] = ((32'h1) & 7'h7f);
                at__d[(64'h7)+:(4)] = ((32'h0) & 4'hf);
                at__d[(64'hf)+:(4)] = ((32'h0) & 4'hf);
                at__d[(64'h13)+:(1)] = 1'b0;
                at__d[(64'h14)+:(1)] = 1'b0;
                if (~broadcasts__empty) begin
                    now__d = broadcasts__pop_data;
                    state__d = PlanState__Window;
                end
                else if (kept__q) begin
                    kept__d = 1'b0;
                    now__d = kept_order__q;
                    at__d = kept_at__q;
                    state__d = PlanState__Window;
                end
                else if (~contributes__empty) begin
                    now__d = contributes__pop_data;
                    state__d = PlanState__Window;
                end
            end
            PlanState__Window: begin
                mark_beats__d = ((marks) & 17'h1ffff);
                packet_most__d = payload;
                if (ctx[(64'h87)+:(1)]) begin
                    mark_beats__d = ((marks) & 17'h1ffff) << 32'h1;
                    packet_most__d = payload << 32'h1;
                end
                turn__d = own_end;
                wrap__d = ctx[(64'h5a)+:(15)] - own_end;
                if (ctx[(64'h86)+:(1)] || (own_end == ctx[(64'h5a)+:(15)])) begin
                    turn__d = ((32'h0) & 15'h7fff);
                end
                state__d = PlanState__Peer;
                if (at__q[(64'h14)+:(1)]) begin
                    state__d = PlanState__Packet;
                end
            end
            PlanState__Peer: begin
                peer__d = peer_sum;
                if (peer_sum >= job[(64'h6)+:(7)]) begin
                    peer__d = peer_wrapped;
                end
                state__d = PlanState__Shard;
                if ((at__q[(64'h7)+:(4)] == incast) || (step >= job[(64'h6)+:(7)])) begin
                    at__d[(64'h7)+:(4)] = ((32'h0) & 4'hf);
                    if (at__q[(64'h7)+:(4)] == 32'h0) begin
                        state__d = PlanState__Finish;
                    end
                    else if (at__q[(64'hf)+:(4)] == 32'h0) begin
                        at__d[(64'h0)+:(7)] = round_here;
                        state__d = PlanState__Peer;
                    end
                    else begin
                        at__d[(64'hb)+:(4)] = at__q[(64'h7)+:(4)];
                        at__d[(64'h13)+:(1)] = 1'b1;
                        at__d[(64'h14)+:(1)] = 1'b1;
                        state__d = PlanState__Packet;
                    end
                end
            end
            PlanState__Shard: begin
                shard__d = shard_sum;
                if (shard_sum >= job[(64'h6)+:(7)]) begin
                    shard__d = shard_wrapped;
                end
                state__d = PlanState__Place;
            end
            PlanState__Place: begin
                start__d = product[(32'h0)+:(15)] + ((extra) & 15'h7fff);
                length__d = longer;
                if (now__q[(64'h3)+:(1)]) begin
                    start__d = ctx[(64'haf)+:(15)];
                    length__d = ctx[(64'hbe)+:(15)];
                end
                state__d = PlanState__Begin;
            end
            PlanState__Begin: begin
                at__d[(64'h14)+:(1)] = 1'b1;
                if (length__q != 32'h0) begin
                    at__d[(64'hf)+:(4)] = live_more;
                end
                state__d = PlanState__Packet;
            end
            PlanState__Packet: begin
                packet__d = share;
                packet_beats__d = taken[(32'h0)+:(9)];
                marked__d = ((share[(64'h15)+:(15)]) & 17'h1ffff) <= mark_beats__q;
                after_turn__d = share[(64'h6)+:(15)] >= turn__q;
                state__d = PlanState__Ask;
                if (share[(64'h15)+:(15)] == 32'h0) begin
                    state__d = PlanState__Advance;
                end
                else if (~now__q[(64'h3)+:(1)] && ~broadcasts__empty) begin
                    kept__d = 1'b1;
                    kept_order__d = now__q;
                    kept_at__d = at__q;
                    state__d = PlanState__Idle;
                end
            end
            PlanState__Ask: begin
                if (now__q[(64'h3)+:(1)]) begin
                    if (ask_ready) begin
                        state__d = PlanState__Answer;
                    end
                end
                else if (~present) begin
                    state__d = PlanState__Packet;
                end
                else if (pacer__paced) begin
                    state__d = PlanState__Pace;
                end
                else begin
                    state__d = PlanState__Order;
                end
            end
            PlanState__Answer: begin
                state__d = PlanState__Order;
                if (word[(64'h200)+:(8)] != ctx[(64'hcd)+:(8)]) begin
                    state__d = PlanState__Advance;
                end
                else if (pacer__paced) begin
                    state__d = PlanState__Pace;
                end
            end
            PlanState__Pace: begin
                if (pacer__granted) begin
                    state__d = PlanState__Order;
                end
                else if (pacer__answer) begin
                    state__d = PlanState__Advance;
                end
            end
            PlanState__Order: begin
                if (ready) begin
                    state__d = PlanState__Advance;
                end
            end
            PlanState__Advance: begin
                if (~at__q[(64'h13)+:(1)]) begin
                    at__d[(64'h7)+:(4)] = index_next;
                    at__d[(64'h14)+:(1)] = 1'b0;
                    state__d = PlanState__Peer;
                end
                else if (at__q[(64'hf)+:(4)] == 32'h0) begin
                    at__d[(64'h0)+:(7)] = round_next;
                    at__d[(64'h7)+:(4)] = ((32'h0) & 4'hf);
                    at__d[(64'h13)+:(1)] = 1'b0;
                    at__d[(64'h14)+:(1)] = 1'b0;
                    state__d = PlanState__Peer;
                end
                else begin
                    at__d[(64'h7)+:(4)] = index_next;
                    if (index_next == at__q[(64'hb)+:(4)]) begin
                        at__d[(64'h7)+:(4)] = ((32'h0) & 4'hf);
                    end
                    state__d = PlanState__Packet;
                end
            end
            PlanState__Finish: begin
                if (ready) begin
                    state__d = PlanState__Idle;
                end
            end
            default: begin
            end
        endcase
        if (consumed) begin
            if (remaining_next == 32'h0) begin
                at__d[(64'hf)+:(4)] = live_less;
            end
        end
        if (clear) begin
            state__d = PlanState__Idle;
            kept__d = 1'b0;
        end
    end
    wire unused__broadcasts__full = &{broadcasts__full};
    wire unused__broadcasts__room = &{broadcasts__room};
    wire unused__contributes__room = &{contributes__room};
    wire unused__ctx = &{ctx[404:213], ctx[174:173], ctx[160:136], ctx[31:0]};
    wire unused__word = &{word[511:0]};
    wire unused__halves = &{halves[0]};
    wire unused__product = &{product[21:15]};
    wire unused__taken = &{taken[14:9]};
endmodule

module optireduce_nic__nic__reduce(clock,clear,open,rx_valid,rx,rx_ready,own_valid,own,own_ready,accepted,accepted_own,decided,drop_late,drop_duplicate,scale_valid,scale_address,scale_ready,scale_word,count_address,count_epoch,count,window_beats,scrub,scrub_slot,scrub_busy);
    // Module arguments
    input wire  clock;
    input wire  clear;
    input wire  [7:0] open;
    input wire  rx_valid;
    input wire  [556:0] rx;
    output wire  rx_ready;
    input wire  own_valid;
    input wire  [556:0] own;
    output wire  own_ready;
    output wire  accepted;
    output wire  accepted_own;
    output wire  [556:0] decided;
    output wire  drop_late;
    output wire  drop_duplicate;
    input wire  scale_valid;
    input wire  [16:0] scale_address;
    output wire  scale_ready;
    output wire  [590:0] scale_word;
    input wire  [8:0] count_address;
    input wire  [7:0] count_epoch;
    output wire  [15:0] count;
    input wire  [14:0] window_beats;
    input wire  scrub;
    input wire  [2:0] scrub_slot;
    output wire  scrub_busy;
    // Stub signals
    wire  ram__clock;
    reg  [16:0] ram__read_address;
    wire  [590:0] ram__read_data;
    reg  [16:0] ram__write_address;
    reg  [590:0] ram__write_data;
    wire  ram__write_enable;
    wire  adder__clock;
    wire  [511:0] adder__a;
    wire  [511:0] adder__b;
    wire  [511:0] adder__sum;
    wire  first__fresh;
    wire  [511:0] first__data;
    wire  [511:0] first__sum;
    wire  arrivals__clock;
    wire  arrivals__accept;
    reg  [8:0] arrivals__address;
    wire  [7:0] arrivals__epoch;
    wire  arrivals__scrub;
    wire  [8:0] arrivals__read_address;
    wire  [7:0] arrivals__read_epoch;
    wire  [15:0] arrivals__count;
    reg  [556:0] taken__d;
    wire  [556:0] taken__q;
    wire  taken__clock;
    reg  taken_own__d;
    wire  taken_own__q;
    wire  taken_own__clock;
    reg  [590:0] word__d;
    wire  [590:0] word__q;
    wire  word__clock;
    reg  [556:0] checked__d;
    wire  [556:0] checked__q;
    wire  checked__clock;
    reg  checked_own__d;
    wire  checked_own__q;
    wire  checked_own__clock;
    reg  [511:0] augend__d;
    wire  [511:0] augend__q;
    wire  augend__clock;
    reg  [511:0] addend__d;
    wire  [511:0] addend__q;
    wire  addend__clock;
    reg  busy__0__d;
    wire  busy__0__q;
    wire  busy__0__clock;
    reg  busy__1__d;
    wire  busy__1__q;
    wire  busy__1__clock;
    reg  busy__2__d;
    wire  busy__2__q;
    wire  busy__2__clock;
    reg  busy__3__d;
    wire  busy__3__q;
    wire  busy__3__clock;
    reg  busy__4__d;
    wire  busy__4__q;
    wire  busy__4__clock;
    reg  busy__5__d;
    wire  busy__5__q;
    wire  busy__5__clock;
    reg  busy__6__d;
    wire  busy__6__q;
    wire  busy__6__clock;
    reg  busy__7__d;
    wire  busy__7__q;
    wire  busy__7__clock;
    reg  busy__8__d;
    wire  busy__8__q;
    wire  busy__8__clock;
    reg  [16:0] place__0__d;
    wire  [16:0] place__0__q;
    wire  place__0__clock;
    reg  [16:0] place__1__d;
    wire  [16:0] place__1__q;
    wire  place__1__clock;
    reg  [16:0] place__2__d;
    wire  [16:0] place__2__q;
    wire  place__2__clock;
    reg  [16:0] place__3__d;
    wire  [16:0] place__3__q;
    wire  place__3__clock;
    reg  [16:0] place__4__d;
    wire  [16:0] place__4__q;
    wire  place__4__clock;
    reg  [16:0] place__5__d;
    wire  [16:0] place__5__q;
    wire  place__5__clock;
    reg  [16:0] place__6__d;
    wire  [16:0] place__6__q;
    wire  place__6__clock;
    reg  [16:0] place__7__d;
    wire  [16:0] place__7__q;
    wire  place__7__clock;
    reg  [16:0] place__8__d;
    wire  [16:0] place__8__q;
    wire  place__8__clock;
    reg  [95:0] flight__0__d;
    wire  [95:0] flight__0__q;
    wire  flight__0__clock;
    reg  [95:0] flight__1__d;
    wire  [95:0] flight__1__q;
    wire  flight__1__clock;
    reg  [95:0] flight__2__d;
    wire  [95:0] flight__2__q;
    wire  flight__2__clock;
    reg  [95:0] flight__3__d;
    wire  [95:0] flight__3__q;
    wire  flight__3__clock;
    reg  [95:0] flight__4__d;
    wire  [95:0] flight__4__q;
    wire  flight__4__clock;
    reg  [95:0] flight__5__d;
    wire  [95:0] flight__5__q;
    wire  flight__5__clock;
    reg  [95:0] flight__6__d;
    wire  [95:0] flight__6__q;
    wire  flight__6__clock;
    reg  scrubbing__d;
    wire  scrubbing__q;
    wire  scrubbing__clock;
    reg  [16:0] scrub_at__d;
    wire  [16:0] scrub_at__q;
    wire  scrub_at__clock;
    // Local signals
    reg  [16:0] rx_address;
    reg  [16:0] own_address;
    reg  rx_hazard;
    reg  own_hazard;
    wire  take_rx;
    wire  take_own;
    wire  fresh;
    wire  [63:0] one;
    wire  [63:0] mask;
    wire  is_open;
    wire  [5:0] sender;
    wire  [63:0] arrivals_before;
    wire  duplicate;
    wire  accept;
    reg  [63:0] arrived;
    reg  [6:0] sum_count;
    wire  [2:0] slot;
    reg  [95:0] back;
    wire  scrub_now;
    wire  [13:0] scrub_next;
    wire  [14:0] scrub_half;
    wire  [14:0] scrub_last;
    wire  [8:0] scrub_arrival;
    // Sub module instances
    optireduce_nic__nic__reduce__ram ram(
        .clock(ram__clock),
        .read_address(ram__read_address),
        .read_data(ram__read_data),
        .write_address(ram__write_address),
        .write_data(ram__write_data),
        .write_enable(ram__write_enable)
    );
    optireduce_nic__nic__reduce__adder adder(
        .clock(adder__clock),
        .a(adder__a),
        .b(adder__b),
        .sum(adder__sum)
    );
    optireduce_nic__nic__reduce__first first(
        .fresh(first__fresh),
        .data(first__data),
        .sum(first__sum)
    );
    optireduce_nic__nic__gather__arrivals arrivals(
        .clock(arrivals__clock),
        .accept(arrivals__accept),
        .address(arrivals__address),
        .epoch(arrivals__epoch),
        .scrub(arrivals__scrub),
        .read_address(arrivals__read_address),
        .read_epoch(arrivals__read_epoch),
        .count(arrivals__count)
    );
    optireduce_nic__nic__gather__judged taken(
        .d(taken__d),
        .q(taken__q),
        .clock(taken__clock)
    );
    optireduce_nic__nic__finisher__drain__side__0 taken_own(
        .d(taken_own__d),
        .q(taken_own__q),
        .clock(taken_own__clock)
    );
    optireduce_nic__nic__reduce__word word(
        .d(word__d),
        .q(word__q),
        .clock(word__clock)
    );
    optireduce_nic__nic__gather__judged checked(
        .d(checked__d),
        .q(checked__q),
        .clock(checked__clock)
    );
    optireduce_nic__nic__finisher__drain__side__0 checked_own(
        .d(checked_own__d),
        .q(checked_own__q),
        .clock(checked_own__clock)
    );
    optireduce_nic__nic__finisher__drain__stage_data augend(
        .d(augend__d),
        .q(augend__q),
        .clock(augend__clock)
    );
    optireduce_nic__nic__finisher__drain__stage_data addend(
        .d(addend__d),
        .q(addend__q),
        .clock(addend__clock)
    );
    optireduce_nic__nic__finisher__drain__side__0 busy__0(
        .d(busy__0__d),
        .q(busy__0__q),
        .clock(busy__0__clock)
    );
    optireduce_nic__nic__finisher__drain__side__0 busy__1(
        .d(busy__1__d),
        .q(busy__1__q),
        .clock(busy__1__clock)
    );
    optireduce_nic__nic__finisher__drain__side__0 busy__2(
        .d(busy__2__d),
        .q(busy__2__q),
        .clock(busy__2__clock)
    );
    optireduce_nic__nic__finisher__drain__side__0 busy__3(
        .d(busy__3__d),
        .q(busy__3__q),
        .clock(busy__3__clock)
    );
    optireduce_nic__nic__finisher__drain__side__0 busy__4(
        .d(busy__4__d),
        .q(busy__4__q),
        .clock(busy__4__clock)
    );
    optireduce_nic__nic__finisher__drain__side__0 busy__5(
        .d(busy__5__d),
        .q(busy__5__q),
        .clock(busy__5__clock)
    );
    optireduce_nic__nic__finisher__drain__side__0 busy__6(
        .d(busy__6__d),
        .q(busy__6__q),
        .clock(busy__6__clock)
    );
    optireduce_nic__nic__finisher__drain__side__0 busy__7(
        .d(busy__7__d),
        .q(busy__7__q),
        .clock(busy__7__clock)
    );
    optireduce_nic__nic__finisher__drain__side__0 busy__8(
        .d(busy__8__d),
        .q(busy__8__q),
        .clock(busy__8__clock)
    );
    optireduce_nic__nic__lookup__key__0__found place__0(
        .d(place__0__d),
        .q(place__0__q),
        .clock(place__0__clock)
    );
    optireduce_nic__nic__lookup__key__0__found place__1(
        .d(place__1__d),
        .q(place__1__q),
        .clock(place__1__clock)
    );
    optireduce_nic__nic__lookup__key__0__found place__2(
        .d(place__2__d),
        .q(place__2__q),
        .clock(place__2__clock)
    );
    optireduce_nic__nic__lookup__key__0__found place__3(
        .d(place__3__d),
        .q(place__3__q),
        .clock(place__3__clock)
    );
    optireduce_nic__nic__lookup__key__0__found place__4(
        .d(place__4__d),
        .q(place__4__q),
        .clock(place__4__clock)
    );
    optireduce_nic__nic__lookup__key__0__found place__5(
        .d(place__5__d),
        .q(place__5__q),
        .clock(place__5__clock)
    );
    optireduce_nic__nic__lookup__key__0__found place__6(
        .d(place__6__d),
        .q(place__6__q),
        .clock(place__6__clock)
    );
    optireduce_nic__nic__lookup__key__0__found place__7(
        .d(place__7__d),
        .q(place__7__q),
        .clock(place__7__clock)
    );
    optireduce_nic__nic__lookup__key__0__found place__8(
        .d(place__8__d),
        .q(place__8__q),
        .clock(place__8__clock)
    );
    optireduce_nic__nic__reduce__flight__0 flight__0(
        .d(flight__0__d),
        .q(flight__0__q),
        .clock(flight__0__clock)
    );
    optireduce_nic__nic__reduce__flight__0 flight__1(
        .d(flight__1__d),
        .q(flight__1__q),
        .clock(flight__1__clock)
    );
    optireduce_nic__nic__reduce__flight__0 flight__2(
        .d(flight__2__d),
        .q(flight__2__q),
        .clock(flight__2__clock)
    );
    optireduce_nic__nic__reduce__flight__0 flight__3(
        .d(flight__3__d),
        .q(flight__3__q),
        .clock(flight__3__clock)
    );
    optireduce_nic__nic__reduce__flight__0 flight__4(
        .d(flight__4__d),
        .q(flight__4__q),
        .clock(flight__4__clock)
    );
    optireduce_nic__nic__reduce__flight__0 flight__5(
        .d(flight__5__d),
        .q(flight__5__q),
        .clock(flight__5__clock)
    );
    optireduce_nic__nic__reduce__flight__0 flight__6(
        .d(flight__6__d),
        .q(flight__6__q),
        .clock(flight__6__clock)
    );
    optireduce_nic__nic__finisher__drain__side__0 scrubbing(
        .d(scrubbing__d),
        .q(scrubbing__q),
        .clock(scrubbing__clock)
    );
    optireduce_nic__nic__lookup__key__0__found scrub_at(
        .d(scrub_at__d),
        .q(scrub_at__q),
        .clock(scrub_at__clock)
    );
    // Update code
    assign taken__clock = clock;
    assign taken_own__clock = clock;
    assign word__clock = clock;
    assign checked__clock = clock;
    assign checked_own__clock = clock;
    assign augend__clock = clock;
    assign addend__clock = clock;
    assign scrubbing__clock = clock;
    assign scrub_at__clock = clock;
    assign ram__clock = clock;
    assign adder__clock = clock;
    assign arrivals__clock = clock;
    assign busy__0__clock = clock;
    assign place__0__clock = clock;
    assign busy__1__clock = clock;
    assign place__1__clock = clock;
    assign busy__2__clock = clock;
    assign place__2__clock = clock;
    assign busy__3__clock = clock;
    assign place__3__clock = clock;
    assign busy__4__clock = clock;
    assign place__4__clock = clock;
    assign busy__5__clock = clock;
    assign place__5__clock = clock;
    assign busy__6__clock = clock;
    assign place__6__clock = clock;
    assign busy__7__clock = clock;
    assign place__7__clock = clock;
    assign busy__8__clock = clock;
    assign place__8__clock = clock;
    assign flight__0__clock = clock;
    assign flight__1__clock = clock;
    assign flight__2__clock = clock;
    assign flight__3__clock = clock;
    assign flight__4__clock = clock;
    assign flight__5__clock = clock;
    assign flight__6__clock = clock;
    always @(*) begin
        rx_address[(64'h0)+:(3)] = rx[(64'h0)+:(3)];
        rx_address[(64'h3)+:(14)] = rx[(64'h11)+:(14)];
    end
    always @(*) begin
        own_address[(64'h0)+:(3)] = own[(64'h0)+:(3)];
        own_address[(64'h3)+:(14)] = own[(64'h11)+:(14)];
    end
    always @(*) begin
        rx_hazard = 1'b0;
        if (busy__0__q && (place__0__q == rx_address)) begin
            rx_hazard = 1'b1;
        end
        if (busy__1__q && (place__1__q == rx_address)) begin
            rx_hazard = 1'b1;
        end
        if (busy__2__q && (place__2__q == rx_address)) begin
            rx_hazard = 1'b1;
        end
        if (busy__3__q && (place__3__q == rx_address)) begin
            rx_hazard = 1'b1;
        end
        if (busy__4__q && (place__4__q == rx_address)) begin
            rx_hazard = 1'b1;
        end
        if (busy__5__q && (place__5__q == rx_address)) begin
            rx_hazard = 1'b1;
        end
        if (busy__6__q && (place__6__q == rx_address)) begin
            rx_hazard = 1'b1;
        end
        if (busy__7__q && (place__7__q == rx_address)) begin
            rx_hazard = 1'b1;
        end
        if (busy__8__q && (place__8__q == rx_address)) begin
            rx_hazard = 1'b1;
        end
    end
    always @(*) begin
        own_hazard = 1'b0;
        if (busy__0__q && (place__0__q == own_address)) begin
            own_hazard = 1'b1;
        end
        if (busy__1__q && (place__1__q == own_address)) begin
            own_hazard = 1'b1;
        end
        if (busy__2__q && (place__2__q == own_address)) begin
            own_hazard = 1'b1;
        end
        if (busy__3__q && (place__3__q == own_address)) begin
            own_hazard = 1'b1;
        end
        if (busy__4__q && (place__4__q == own_address)) begin
            own_hazard = 1'b1;
        end
        if (busy__5__q && (place__5__q == own_address)) begin
            own_hazard = 1'b1;
        end
        if (busy__6__q && (place__6__q == own_address)) begin
            own_hazard = 1'b1;
        end
        if (busy__7__q && (place__7__q == own_address)) begin
            own_hazard = 1'b1;
        end
        if (busy__8__q && (place__8__q == own_address)) begin
            own_hazard = 1'b1;
        end
    end
    assign take_rx = rx_valid && ~rx_hazard;
    assign scale_ready = scale_valid && ~rx_valid;
    assign take_own = own_valid && ~own_hazard && ~rx_valid && ~scale_valid;
    assign rx_ready = ~rx_hazard;
    assign own_ready = take_own;
    always @(*) begin
        ram__read_address = own_address;
        if (scale_valid) begin
            ram__read_address = scale_address;
        end
        if (rx_valid) begin
            ram__read_address = rx_address;
        end
    end
    assign scale_word = word__q;
    assign slot = checked__q[(64'h0)+:(3)];
    assign sender = checked__q[(64'h1f)+:(6)];
    assign is_open = open[slot];
    assign fresh = word__q[(64'h247)+:(8)] == checked__q[(64'h25)+:(8)];
    assign one = ((32'h1) & 64'hffffffffffffffff);
    assign mask = one << checked__q[(64'h1f)+:(6)];
    assign arrivals_before = word__q[(64'h200)+:(64)];
    always @(*) begin
        arrived = ((32'h0) & 64'hffffffffffffffff);
        if (fresh) begin
            arrived = word__q[(64'h200)+:(64)];
        end
    end
    always @(*) begin
        sum_count = ((32'h1) & 7'h7f);
        if (fresh) begin
            sum_count = word__q[(64'h240)+:(7)] + 32'h1;
        end
    end
    assign duplicate = fresh && arrivals_before[sender];
    assign accept = busy__1__q && is_open && ~duplicate;
    assign accepted = accept;
    assign accepted_own = checked_own__q;
    assign decided = checked__q;
    assign drop_late = busy__1__q && ~is_open && ~checked_own__q;
    assign drop_duplicate = busy__1__q && is_open && duplicate && ~checked_own__q;
    assign first__fresh = fresh;
    assign first__data = word__q[(64'h0)+:(512)];
    assign adder__a = augend__q;
    assign adder__b = addend__q;
    always @(*) begin
        back[(64'h0)+:(17)] = place__1__q;
        back[(64'h11)+:(64)] = arrived | mask;
        back[(64'h51)+:(7)] = sum_count;
        back[(64'h58)+:(8)] = checked__q[(64'h25)+:(8)];
    end
    assign scrub_now = scrubbing__q && ~busy__8__q && ~busy__1__q;
    assign scrub_next = scrub_at__q[(64'h3)+:(14)] + 32'h1;
    assign scrub_half = window_beats >> 32'h1;
    assign scrub_last = scrub_half - 32'h1;
    assign scrub_arrival = (((scrub_at__q[(64'h0)+:(3)]) & 9'h1ff) << 32'h6) | (((scrub_at__q[(64'h3)+:(14)]) & 9'h1ff) & 32'h3f);
    assign scrub_busy = scrubbing__q || scrub;
    assign ram__write_enable = busy__8__q || scrub_now;
    always @(*) begin
        ram__write_address = flight__6__q[(64'h0)+:(17)];
        if (scrub_now) begin
            ram__write_address = scrub_at__q;
        end
    end
    always @(*) begin
        ram__write_data[(64'h0)+:(512)] = adder__sum;
        ram__write_data[(64'h200)+:(64)] = flight__6__q[(64'h11)+:(64)];
        ram__write_data[(64'h240)+:(7)] = flight__6__q[(64'h51)+:(7)];
        ram__write_data[(64'h247)+:(8)] = flight__6__q[(64'h58)+:(8)];
        if (scrub_now) begin
            ram__write_data[(64'h247)+:(8)] = ((32'h0) & 8'hff);
        end
    end
    assign arrivals__accept = accept;
    assign arrivals__epoch = checked__q[(64'h25)+:(8)];
    always @(*) begin
        arrivals__address = (((slot) & 9'h1ff) << 32'h6) | ((sender) & 9'h1ff);
        if (scrub_now) begin
            arrivals__address = scrub_arrival;
        end
    end
    assign arrivals__scrub = scrub_now;
    assign arrivals__read_address = count_address;
    assign arrivals__read_epoch = count_epoch;
    assign count = arrivals__count;
    always @(*) begin
        taken__d = taken__q;
        taken_own__d = taken_own__q;
        word__d = word__q;
        checked__d = checked__q;
        checked_own__d = checked_own__q;
        augend__d = augend__q;
        addend__d = addend__q;
        scrubbing__d = scrubbing__q;
        scrub_at__d = scrub_at__q;
        busy__1__d = busy__0__q;
        place__1__d = place__0__q;
        busy__2__d = busy__1__q;
        place__2__d = place__1__q;
        busy__3__d = busy__2__q;
        place__3__d = place__2__q;
        busy__4__d = busy__3__q;
        place__4__d = place__3__q;
        busy__5__d = busy__4__q;
        place__5__d = place__4__q;
        busy__6__d = busy__5__q;
        place__6__d = place__5__q;
        busy__7__d = busy__6__q;
        place__7__d = place__6__q;
        busy__8__d = busy__7__q;
        place__8__d = place__7__q;
        flight__1__d = flight__0__q;
        flight__2__d = flight__1__q;
        flight__3__d = flight__2__q;
        flight__4__d = flight__3__q;
        flight__5__d = flight__4__q;
        flight__6__d = flight__5__q;
        busy__0__d = take_rx || take_own;
        place__0__d = own_address;
        taken__d = own;
        taken_own__d = ~rx_valid;
        if (rx_valid) begin
            place__0__d = rx_address;
            taken__d = rx;
        end
        word__d = ram__read_data;
        checked__d = taken__q;
        checked_own__d = taken_own__q;
        augend__d = first__sum;
        addend__d = checked__q[(64'h2d)+:(512)];
        busy__2__d = accept;
        flight__0__d = back;
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
        if (clear) begin
            scrubbing__d = 1'b0;
        end
    end
endmodule

module optireduce_nic__nic__registers(clock,reset,clear,busy,write,write_address,write_data,read_address,read_data,sq_head__0,sq_head__1,sq_head__2,sq_head__3,cq_tail__0,cq_tail__1,cq_tail__2,cq_tail__3,dma_fault,stop,events,enable,job,usable,sq_queue,sq_base,sq_mask,sq_tail__0,sq_tail__1,sq_tail__2,sq_tail__3,cq_queue,cq_base,cq_mask__0,cq_mask__1,cq_mask__2,cq_mask__3,cq_head__0,cq_head__1,cq_head__2,cq_head__3,peer_write,peer_word);
    // Module arguments
    input wire  clock;
    input wire  reset;
    input wire  clear;
    input wire  busy;
    input wire  write;
    input wire  [9:0] write_address;
    input wire  [31:0] write_data;
    input wire  [9:0] read_address;
    output wire  [31:0] read_data;
    input wire  [15:0] sq_head__0;
    input wire  [15:0] sq_head__1;
    input wire  [15:0] sq_head__2;
    input wire  [15:0] sq_head__3;
    input wire  [15:0] cq_tail__0;
    input wire  [15:0] cq_tail__1;
    input wire  [15:0] cq_tail__2;
    input wire  [15:0] cq_tail__3;
    input wire  dma_fault;
    input wire  [3:0] stop;
    input wire  [15:0] events;
    output wire  enable;
    output reg  [199:0] job;
    output wire  [3:0] usable;
    input wire  [1:0] sq_queue;
    output wire  [63:0] sq_base;
    output wire  [15:0] sq_mask;
    output wire  [15:0] sq_tail__0;
    output wire  [15:0] sq_tail__1;
    output wire  [15:0] sq_tail__2;
    output wire  [15:0] sq_tail__3;
    input wire  [1:0] cq_queue;
    output wire  [63:0] cq_base;
    output wire  [15:0] cq_mask__0;
    output wire  [15:0] cq_mask__1;
    output wire  [15:0] cq_mask__2;
    output wire  [15:0] cq_mask__3;
    output wire  [15:0] cq_head__0;
    output wire  [15:0] cq_head__1;
    output wire  [15:0] cq_head__2;
    output wire  [15:0] cq_head__3;
    output wire  peer_write;
    output wire  [7:0] peer_word;
    // Stub signals
    reg  [213:0] host__d;
    wire  [213:0] host__q;
    wire  host__clock;
    wire  copy__clock;
    wire  [9:0] copy__read_address;
    wire  [31:0] copy__read_data;
    wire  [9:0] copy__write_address;
    wire  [31:0] copy__write_data;
    wire  copy__write_enable;
    wire  sq_base_lo__clock;
    wire  [1:0] sq_base_lo__read_address;
    wire  [31:0] sq_base_lo__read_data;
    wire  [1:0] sq_base_lo__write_address;
    wire  [31:0] sq_base_lo__write_data;
    wire  sq_base_lo__write_enable;
    wire  sq_base_hi__clock;
    wire  [1:0] sq_base_hi__read_address;
    wire  [31:0] sq_base_hi__read_data;
    wire  [1:0] sq_base_hi__write_address;
    wire  [31:0] sq_base_hi__write_data;
    wire  sq_base_hi__write_enable;
    wire  sq_log2__clock;
    wire  [1:0] sq_log2__read_address;
    wire  [3:0] sq_log2__read_data;
    wire  [1:0] sq_log2__write_address;
    wire  [3:0] sq_log2__write_data;
    wire  sq_log2__write_enable;
    wire  cq_base_lo__clock;
    wire  [1:0] cq_base_lo__read_address;
    wire  [31:0] cq_base_lo__read_data;
    wire  [1:0] cq_base_lo__write_address;
    wire  [31:0] cq_base_lo__write_data;
    wire  cq_base_lo__write_enable;
    wire  cq_base_hi__clock;
    wire  [1:0] cq_base_hi__read_address;
    wire  [31:0] cq_base_hi__read_data;
    wire  [1:0] cq_base_hi__write_address;
    wire  [31:0] cq_base_hi__write_data;
    wire  cq_base_hi__write_enable;
    reg  [3:0] cq_log2__0__d;
    wire  [3:0] cq_log2__0__q;
    wire  cq_log2__0__clock;
    reg  [3:0] cq_log2__1__d;
    wire  [3:0] cq_log2__1__q;
    wire  cq_log2__1__clock;
    reg  [3:0] cq_log2__2__d;
    wire  [3:0] cq_log2__2__q;
    wire  cq_log2__2__clock;
    reg  [3:0] cq_log2__3__d;
    wire  [3:0] cq_log2__3__q;
    wire  cq_log2__3__clock;
    reg  [15:0] tail__0__d;
    wire  [15:0] tail__0__q;
    wire  tail__0__clock;
    reg  [15:0] tail__1__d;
    wire  [15:0] tail__1__q;
    wire  tail__1__clock;
    reg  [15:0] tail__2__d;
    wire  [15:0] tail__2__q;
    wire  tail__2__clock;
    reg  [15:0] tail__3__d;
    wire  [15:0] tail__3__q;
    wire  tail__3__clock;
    reg  [15:0] head__0__d;
    wire  [15:0] head__0__q;
    wire  head__0__clock;
    reg  [15:0] head__1__d;
    wire  [15:0] head__1__q;
    wire  head__1__clock;
    reg  [15:0] head__2__d;
    wire  [15:0] head__2__q;
    wire  head__2__clock;
    reg  [15:0] head__3__d;
    wire  [15:0] head__3__q;
    wire  head__3__clock;
    reg  [3:0] sq_lo_set__d;
    wire  [3:0] sq_lo_set__q;
    wire  sq_lo_set__clock;
    reg  [3:0] sq_hi_set__d;
    wire  [3:0] sq_hi_set__q;
    wire  sq_hi_set__clock;
    reg  [3:0] cq_lo_set__d;
    wire  [3:0] cq_lo_set__q;
    wire  cq_lo_set__clock;
    reg  [3:0] cq_hi_set__d;
    wire  [3:0] cq_hi_set__q;
    wire  cq_hi_set__clock;
    reg  [3:0] stopped__d;
    wire  [3:0] stopped__q;
    wire  stopped__clock;
    reg  [447:0] counters__d;
    wire  [447:0] counters__q;
    wire  counters__clock;
    reg  faulty__d;
    wire  faulty__q;
    wire  faulty__clock;
    reg  [31:0] value__d;
    wire  [31:0] value__q;
    wire  value__clock;
    wire  [14:0] build__window_beats;
    wire  [3:0] build__log2_n_max;
    // Local signals
    wire  [31:0] data;
    reg  [31:0] kept;
    reg  [3:0] some;
    wire  [1:0] queue;
    wire  of_queue;
    wire  [5:0] place;
    wire  [3:0] one4;
    reg  [3:0] queue_bit;
    wire  [3:0] other_queues;
    wire  [1:0] read_queue;
    wire  [5:0] read_place;
    wire  [3:0] read_bit;
    reg  [15:0] head_read;
    reg  [15:0] tail_read;
    wire  [15:0] one;
    wire  [15:0] sq_size;
    wire  [15:0] cq_size__0;
    wire  [15:0] cq_size__1;
    wire  [15:0] cq_size__2;
    wire  [15:0] cq_size__3;
    reg  [1:0] late;
    reg  [1:0] duplicate;
    wire  [31:0] inverted;
    reg  fault_bit;
    reg  busy_bit;
    reg  enable_bit;
    wire  [63:0] tag;
    // Sub module instances
    optireduce_nic__nic__registers__host host(
        .d(host__d),
        .q(host__q),
        .clock(host__clock)
    );
    optireduce_nic__nic__registers__copy copy(
        .clock(copy__clock),
        .read_address(copy__read_address),
        .read_data(copy__read_data),
        .write_address(copy__write_address),
        .write_data(copy__write_data),
        .write_enable(copy__write_enable)
    );
    optireduce_nic__nic__registers__cq_base_hi sq_base_lo(
        .clock(sq_base_lo__clock),
        .read_address(sq_base_lo__read_address),
        .read_data(sq_base_lo__read_data),
        .write_address(sq_base_lo__write_address),
        .write_data(sq_base_lo__write_data),
        .write_enable(sq_base_lo__write_enable)
    );
    optireduce_nic__nic__registers__cq_base_hi sq_base_hi(
        .clock(sq_base_hi__clock),
        .read_address(sq_base_hi__read_address),
        .read_data(sq_base_hi__read_data),
        .write_address(sq_base_hi__write_address),
        .write_data(sq_base_hi__write_data),
        .write_enable(sq_base_hi__write_enable)
    );
    optireduce_nic__nic__registers__sq_log2 sq_log2(
        .clock(sq_log2__clock),
        .read_address(sq_log2__read_address),
        .read_data(sq_log2__read_data),
        .write_address(sq_log2__write_address),
        .write_data(sq_log2__write_data),
        .write_enable(sq_log2__write_enable)
    );
    optireduce_nic__nic__registers__cq_base_hi cq_base_lo(
        .clock(cq_base_lo__clock),
        .read_address(cq_base_lo__read_address),
        .read_data(cq_base_lo__read_data),
        .write_address(cq_base_lo__write_address),
        .write_data(cq_base_lo__write_data),
        .write_enable(cq_base_lo__write_enable)
    );
    optireduce_nic__nic__registers__cq_base_hi cq_base_hi(
        .clock(cq_base_hi__clock),
        .read_address(cq_base_hi__read_address),
        .read_data(cq_base_hi__read_data),
        .write_address(cq_base_hi__write_address),
        .write_data(cq_base_hi__write_data),
        .write_enable(cq_base_hi__write_enable)
    );
    optireduce_nic__nic__finisher__msix__pending cq_log2__0(
        .d(cq_log2__0__d),
        .q(cq_log2__0__q),
        .clock(cq_log2__0__clock)
    );
    optireduce_nic__nic__finisher__msix__pending cq_log2__1(
        .d(cq_log2__1__d),
        .q(cq_log2__1__q),
        .clock(cq_log2__1__clock)
    );
    optireduce_nic__nic__finisher__msix__pending cq_log2__2(
        .d(cq_log2__2__d),
        .q(cq_log2__2__q),
        .clock(cq_log2__2__clock)
    );
    optireduce_nic__nic__finisher__msix__pending cq_log2__3(
        .d(cq_log2__3__d),
        .q(cq_log2__3__q),
        .clock(cq_log2__3__clock)
    );
    optireduce_nic__nic__finisher__drain__block_beats tail__0(
        .d(tail__0__d),
        .q(tail__0__q),
        .clock(tail__0__clock)
    );
    optireduce_nic__nic__finisher__drain__block_beats tail__1(
        .d(tail__1__d),
        .q(tail__1__q),
        .clock(tail__1__clock)
    );
    optireduce_nic__nic__finisher__drain__block_beats tail__2(
        .d(tail__2__d),
        .q(tail__2__q),
        .clock(tail__2__clock)
    );
    optireduce_nic__nic__finisher__drain__block_beats tail__3(
        .d(tail__3__d),
        .q(tail__3__q),
        .clock(tail__3__clock)
    );
    optireduce_nic__nic__finisher__drain__block_beats head__0(
        .d(head__0__d),
        .q(head__0__q),
        .clock(head__0__clock)
    );
    optireduce_nic__nic__finisher__drain__block_beats head__1(
        .d(head__1__d),
        .q(head__1__q),
        .clock(head__1__clock)
    );
    optireduce_nic__nic__finisher__drain__block_beats head__2(
        .d(head__2__d),
        .q(head__2__q),
        .clock(head__2__clock)
    );
    optireduce_nic__nic__finisher__drain__block_beats head__3(
        .d(head__3__d),
        .q(head__3__q),
        .clock(head__3__clock)
    );
    optireduce_nic__nic__finisher__msix__pending sq_lo_set(
        .d(sq_lo_set__d),
        .q(sq_lo_set__q),
        .clock(sq_lo_set__clock)
    );
    optireduce_nic__nic__finisher__msix__pending sq_hi_set(
        .d(sq_hi_set__d),
        .q(sq_hi_set__q),
        .clock(sq_hi_set__clock)
    );
    optireduce_nic__nic__finisher__msix__pending cq_lo_set(
        .d(cq_lo_set__d),
        .q(cq_lo_set__q),
        .clock(cq_lo_set__clock)
    );
    optireduce_nic__nic__finisher__msix__pending cq_hi_set(
        .d(cq_hi_set__d),
        .q(cq_hi_set__q),
        .clock(cq_hi_set__clock)
    );
    optireduce_nic__nic__finisher__msix__pending stopped(
        .d(stopped__d),
        .q(stopped__q),
        .clock(stopped__clock)
    );
    optireduce_nic__nic__registers__counters counters(
        .d(counters__d),
        .q(counters__q),
        .clock(counters__clock)
    );
    optireduce_nic__nic__finisher__drain__side__0 faulty(
        .d(faulty__d),
        .q(faulty__q),
        .clock(faulty__clock)
    );
    optireduce_nic__nic__finisher__drain__multiplier__lane__0__result value(
        .d(value__d),
        .q(value__q),
        .clock(value__clock)
    );
    optireduce_nic__nic__registers__build build(
        .window_beats(build__window_beats),
        .log2_n_max(build__log2_n_max)
    );
    // Update code
    assign host__clock = clock;
    assign sq_lo_set__clock = clock;
    assign sq_hi_set__clock = clock;
    assign cq_lo_set__clock = clock;
    assign cq_hi_set__clock = clock;
    assign stopped__clock = clock;
    assign counters__clock = clock;
    assign faulty__clock = clock;
    assign value__clock = clock;
    assign copy__clock = clock;
    assign sq_base_lo__clock = clock;
    assign sq_base_hi__clock = clock;
    assign sq_log2__clock = clock;
    assign cq_base_lo__clock = clock;
    assign cq_base_hi__clock = clock;
    assign data = write_data;
    assign queue = write_address[(32'h6)+:(2)];
    assign place = write_address[(32'h0)+:(6)];
    assign of_queue = write && (write_address[(32'h8)+:(2)] == 32'h2);
    assign one4 = ((32'h1) & 4'hf);
    always @(*) begin
        queue_bit = ((32'h0) & 4'hf);
        if (of_queue) begin
            queue_bit = one4 << queue;
        end
    end
    assign other_queues = queue_bit ^ 32'hf;
    always @(*) begin
        some = ((32'h0) & 4'hf);
        if (data != 32'h0) begin
            some = queue_bit;
        end
    end
    assign sq_base_lo__write_enable = of_queue && (place == 32'h0);
    assign sq_base_hi__write_enable = of_queue && (place == 32'h1);
    assign sq_log2__write_enable = of_queue && (place == 32'h2);
    assign cq_base_lo__write_enable = of_queue && (place == 32'h3);
    assign cq_base_hi__write_enable = of_queue && (place == 32'h4);
    assign sq_base_lo__write_address = queue;
    assign sq_base_hi__write_address = queue;
    assign sq_log2__write_address = queue;
    assign cq_base_lo__write_address = queue;
    assign cq_base_hi__write_address = queue;
    assign sq_base_lo__write_data = data;
    assign sq_base_hi__write_data = data;
    assign sq_log2__write_data = data[(32'h0)+:(4)];
    assign cq_base_lo__write_data = data;
    assign cq_base_hi__write_data = data;
    assign cq_log2__0__clock = clock;
    assign tail__0__clock = clock;
    assign head__0__clock = clock;
    assign cq_log2__1__clock = clock;
    assign tail__1__clock = clock;
    assign head__1__clock = clock;
    assign cq_log2__2__clock = clock;
    assign tail__2__clock = clock;
    assign head__2__clock = clock;
    assign cq_log2__3__clock = clock;
    assign tail__3__clock = clock;
    assign head__3__clock = clock;
    always @(*) begin
        kept = ((32'h0) & 32'hffffffff);
        if (of_queue) begin
            if (place == 32'h0) begin
                kept = ((64'hffffffff) & 32'hffffffff);
            end
            else if (place == 32'h1) begin
                kept = ((64'hffffffff) & 32'hffffffff);
            end
            else if (place == 32'h3) begin
                kept = ((64'hffffffff) & 32'hffffffff);
            end
            else if (place == 32'h4) begin
                kept = ((64'hffffffff) & 32'hffffffff);
            end
            else if ((place == 32'h2) || (place == 32'h5)) begin
                kept = ((32'hf) & 32'hffffffff);
            end
            else if ((place == 32'h10) || (place == 32'h20)) begin
                kept = ((32'hffff) & 32'hffffffff);
            end
        end
        else if (write) begin
            if (write_address == 32'h40) begin
            end
            else if (write_address == 32'h41) begin
                kept = ((64'hffffffff) & 32'hffffffff);
            end
            else if (write_address == 32'h42) begin
                kept = ((32'h3f) & 32'hffffffff);
            end
            else if (write_address == 32'h43) begin
                kept = ((32'h7f) & 32'hffffffff);
            end
            else if (write_address == 32'h44) begin
                kept = ((64'hffffffff) & 32'hffffffff);
            end
            else if (write_address == 32'h45) begin
                kept = ((64'hffffffff) & 32'hffffffff);
            end
            else if (write_address == 32'h46) begin
                kept = ((32'hff) & 32'hffffffff);
            end
            else if (write_address == 32'h47) begin
                kept = ((32'hffff) & 32'hffffffff);
            end
            else if (write_address == 32'h48) begin
                kept = ((64'hffffffff) & 32'hffffffff);
            end
            else if (write_address == 32'h49) begin
                kept = ((64'hffffffff) & 32'hffffffff);
            end
            else if (write_address == 32'h4a) begin
                kept = ((32'hffff) & 32'hffffffff);
            end
        end
    end
    assign copy__write_enable = kept != 32'h0;
    assign copy__write_address = write_address;
    assign copy__write_data = data & kept;
    assign copy__read_address = read_address;
    assign peer_write = write && (write_address[(32'h8)+:(2)] == 32'h1);
    assign peer_word = write_address[(32'h0)+:(8)];
    always @(*) begin
        fault_bit = ((32'h0) & 1'h1);
        if (faulty__q) begin
            fault_bit = ((32'h1) & 1'h1);
        end
    end
    always @(*) begin
        busy_bit = ((32'h0) & 1'h1);
        if (busy) begin
            busy_bit = ((32'h1) & 1'h1);
        end
    end
    always @(*) begin
        enable_bit = ((32'h0) & 1'h1);
        if (host__q[(64'h0)+:(1)]) begin
            enable_bit = ((32'h1) & 1'h1);
        end
    end
    assign inverted = host__q[(64'h1)+:(32)] ^ 64'hffffffff;
    assign read_queue = read_address[(32'h6)+:(2)];
    assign read_place = read_address[(32'h0)+:(6)];
    assign read_bit = one4 << read_queue;
    always @(*) begin
        head_read = ((32'h0) & 16'hffff);
        if (read_bit[0]) begin
            head_read = sq_head__0;
        end
        if (read_bit[1]) begin
            head_read = sq_head__1;
        end
        if (read_bit[2]) begin
            head_read = sq_head__2;
        end
        if (read_bit[3]) begin
            head_read = sq_head__3;
        end
    end
    always @(*) begin
        tail_read = ((32'h0) & 16'hffff);
        if (read_bit[0]) begin
            tail_read = cq_tail__0;
        end
        if (read_bit[1]) begin
            tail_read = cq_tail__1;
        end
        if (read_bit[2]) begin
            tail_read = cq_tail__2;
        end
        if (read_bit[3]) begin
            tail_read = cq_tail__3;
        end
    end
    assign read_data = value__q | copy__read_data;
    always @(*) begin
        late = ((32'h0) & 2'h3);
        if (events[(64'hc)+:(1)] && events[(64'hd)+:(1)]) begin
            late = ((32'h2) & 2'h3);
        end
        else if (events[(64'hc)+:(1)] || events[(64'hd)+:(1)]) begin
            late = ((32'h1) & 2'h3);
        end
    end
    always @(*) begin
        duplicate = ((32'h0) & 2'h3);
        if (events[(64'he)+:(1)] && events[(64'hf)+:(1)]) begin
            duplicate = ((32'h2) & 2'h3);
        end
        else if (events[(64'he)+:(1)] || events[(64'hf)+:(1)]) begin
            duplicate = ((32'h1) & 2'h3);
        end
    end
    assign enable = host__q[(64'h0)+:(1)];
    assign usable = (sq_lo_set__q | sq_hi_set__q) & (cq_lo_set__q | cq_hi_set__q) & (stopped__q ^ 32'hf);
    assign one = ((32'h1) & 16'hffff);
    assign sq_base_lo__read_address = sq_queue;
    assign sq_base_hi__read_address = sq_queue;
    assign sq_log2__read_address = sq_queue;
    assign cq_base_lo__read_address = cq_queue;
    assign cq_base_hi__read_address = cq_queue;
    assign sq_size = one << sq_log2__read_data;
    assign sq_mask = sq_size - 32'h1;
    assign sq_base = (((sq_base_hi__read_data) & 64'hffffffffffffffff) << 32'h20) | ((sq_base_lo__read_data) & 64'hffffffffffffffff);
    assign cq_base = (((cq_base_hi__read_data) & 64'hffffffffffffffff) << 32'h20) | ((cq_base_lo__read_data) & 64'hffffffffffffffff);
    assign cq_size__0 = one << cq_log2__0__q;
    assign cq_mask__0 = cq_size__0 - 32'h1;
    assign sq_tail__0 = tail__0__q;
    assign cq_head__0 = head__0__q;
    assign cq_size__1 = one << cq_log2__1__q;
    assign cq_mask__1 = cq_size__1 - 32'h1;
    assign sq_tail__1 = tail__1__q;
    assign cq_head__1 = head__1__q;
    assign cq_size__2 = one << cq_log2__2__q;
    assign cq_mask__2 = cq_size__2 - 32'h1;
    assign sq_tail__2 = tail__2__q;
    assign cq_head__2 = head__2__q;
    assign cq_size__3 = one << cq_log2__3__q;
    assign cq_mask__3 = cq_size__3 - 32'h1;
    assign sq_tail__3 = tail__3__q;
    assign cq_head__3 = head__3__q;
    assign tag = (((host__q[(64'h4e)+:(32)]) & 64'hffffffffffffffff) << 32'h20) | ((host__q[(64'h2e)+:(32)]) & 64'hffffffffffffffff);
    always @(*) begin
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
    always @(*) begin
        host__d = host__q;
        sq_lo_set__d = sq_lo_set__q;
        sq_hi_set__d = sq_hi_set__q;
        cq_lo_set__d = cq_lo_set__q;
        cq_hi_set__d = cq_hi_set__q;
        stopped__d = stopped__q;
        counters__d = counters__q;
        faulty__d = faulty__q;
        value__d = value__q;
        cq_log2__0__d = cq_log2__0__q;
        tail__0__d = tail__0__q;
        head__0__d = head__0__q;
        if (queue_bit[0]) begin
            if (place == 32'h5) begin
                cq_log2__0__d = data[(32'h0)+:(4)];
            end
            else if (place == 32'h10) begin
                tail__0__d = data[(32'h0)+:(16)];
            end
            else if (place == 32'h20) begin
                head__0__d = data[(32'h0)+:(16)];
            end
        end
        cq_log2__1__d = cq_log2__1__q;
        tail__1__d = tail__1__q;
        head__1__d = head__1__q;
        if (queue_bit[1]) begin
            if (place == 32'h5) begin
                cq_log2__1__d = data[(32'h0)+:(4)];
            end
            else if (place == 32'h10) begin
                tail__1__d = data[(32'h0)+:(16)];
            end
            else if (place == 32'h20) begin
                head__1__d = data[(32'h0)+:(16)];
            end
        end
        cq_log2__2__d = cq_log2__2__q;
        tail__2__d = tail__2__q;
        head__2__d = head__2__q;
        if (queue_bit[2]) begin
            if (place == 32'h5) begin
                cq_log2__2__d = data[(32'h0)+:(4)];
            end
            else if (place == 32'h10) begin
                tail__2__d = data[(32'h0)+:(16)];
            end
            else if (place == 32'h20) begin
                head__2__d = data[(32'h0)+:(16)];
            end
        end
        cq_log2__3__d = cq_log2__3__q;
        tail__3__d = tail__3__q;
        head__3__d = head__3__q;
        if (queue_bit[3]) begin
            if (place == 32'h5) begin
                cq_log2__3__d = data[(32'h0)+:(4)];
            end
            else if (place == 32'h10) begin
                tail__3__d = data[(32'h0)+:(16)];
            end
            else if (place == 32'h20) begin
                head__3__d = data[(32'h0)+:(16)];
            end
        end
        if (of_queue) begin
            if (place == 32'h0) begin
                sq_lo_set__d = (sq_lo_set__q & other_queues) | some;
            end
            else if (place == 32'h1) begin
                sq_hi_set__d = (sq_hi_set__q & other_queues) | some;
            end
            else if (place == 32'h3) begin
                cq_lo_set__d = (cq_lo_set__q & other_queues) | some;
            end
            else if (place == 32'h4) begin
                cq_hi_set__d = (cq_hi_set__q & other_queues) | some;
            end
        end
        else if (write) begin
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
        end
        value__d = ((32'h0) & 32'hffffffff);
        if (read_address[(32'h8)+:(2)] == 32'h2) begin
            if (read_place == 32'h30) begin
                value__d = ((head_read) & 32'hffffffff);
            end
            else if (read_place == 32'h31) begin
                value__d = ((tail_read) & 32'hffffffff);
            end
        end
        else if (read_address == 32'h0) begin
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
            value__d = (((stopped__q) & 32'hffffffff) << 32'h8) | (((busy_bit) & 32'hffffffff) << 32'h1) | ((fault_bit) & 32'hffffffff);
        end
        else if (read_address == 32'h40) begin
            value__d = ((enable_bit) & 32'hffffffff);
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
            value__d = counters__q[(64'h80)+:(32)];
        end
        else if (read_address == 32'h24) begin
            value__d = counters__q[(64'ha0)+:(32)];
        end
        else if (read_address == 32'h25) begin
            value__d = counters__q[(64'hc0)+:(32)];
        end
        else if (read_address == 32'h26) begin
            value__d = counters__q[(64'he0)+:(32)];
        end
        else if (read_address == 32'h27) begin
            value__d = counters__q[(64'h100)+:(32)];
        end
        else if (read_address == 32'h28) begin
            value__d = counters__q[(64'h120)+:(32)];
        end
        else if (read_address == 32'h29) begin
            value__d = counters__q[(64'h140)+:(32)];
        end
        else if (read_address == 32'h2a) begin
            value__d = counters__q[(64'h160)+:(32)];
        end
        else if (read_address == 32'h2b) begin
            value__d = counters__q[(64'h180)+:(32)];
        end
        else if (read_address == 32'h2c) begin
            value__d = counters__q[(64'h1a0)+:(32)];
        end
        else if (read_address == 32'h2d) begin
            value__d = counters__q[(64'h60)+:(32)];
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
            counters__d[(64'h1a0)+:(32)] = counters__q[(64'h1a0)+:(32)] + 32'h1;
        end
        if (events[(64'ha)+:(1)]) begin
            counters__d[(64'h120)+:(32)] = counters__q[(64'h120)+:(32)] + 32'h1;
        end
        if (events[(64'hb)+:(1)]) begin
            counters__d[(64'h140)+:(32)] = counters__q[(64'h140)+:(32)] + 32'h1;
        end
        counters__d[(64'h160)+:(32)] = counters__q[(64'h160)+:(32)] + ((late) & 32'hffffffff);
        counters__d[(64'h180)+:(32)] = counters__q[(64'h180)+:(32)] + ((duplicate) & 32'hffffffff);
        if (dma_fault) begin
            faulty__d = 1'b1;
        end
        stopped__d = stopped__q | stop;
        if (clear) begin
            faulty__d = 1'b0;
            stopped__d = ((32'h0) & 4'hf);
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
            counters__d[(64'h180)+:(32)] = ((32'h0) & 32'hffffffff);
            counters__d[(64'h1a0)+:(32)] = ((32'h0) & 32'hffffffff);
        end
        if (reset) begin
            host__d[(64'h0)+:(1)] = 1'b0;
        end
    end
endmodule

module optireduce_nic__nic__restart(clock,enable,owed,clear,busy);
    // Module arguments
    input wire  clock;
    input wire  enable;
    input wire  owed;
    output wire  clear;
    output wire  busy;
    // Stub signals
    reg  live__d;
    wire  live__q;
    wire  live__clock;
    reg  ending__d;
    wire  ending__q;
    wire  ending__clock;
    reg  [4:0] count__d;
    wire  [4:0] count__q;
    wire  count__clock;
    // Local signals
    wire  [4:0] count_next;
    // Sub module instances
    optireduce_nic__nic__finisher__drain__side__0 live(
        .d(live__d),
        .q(live__q),
        .clock(live__clock)
    );
    optireduce_nic__nic__finisher__drain__side__0 ending(
        .d(ending__d),
        .q(ending__q),
        .clock(ending__clock)
    );
    optireduce_nic__nic__broadcast_gates__counting count(
        .d(count__d),
        .q(count__q),
        .clock(count__clock)
    );
    // Update code
    assign live__clock = clock;
    assign ending__clock = clock;
    assign count__clock = clock;
    assign clear = ~live__q;
    assign busy = ending__q || (live__q && ~enable);
    assign count_next = count__q + 32'h1;
    always @(*) begin
        live__d = live__q;
        ending__d = ending__q;
        count__d = count__q;
        if (live__q) begin
            if (~enable) begin
                live__d = 1'b0;
                ending__d = 1'b1;
                count__d = ((32'h0) & 5'h1f);
            end
        end
        else if (ending__q) begin
            if (count__q != 32'h1f) begin
                count__d = count_next;
            end
            else if (~owed) begin
                ending__d = 1'b0;
            end
        end
        else begin
            live__d = enable;
        end
    end
endmodule

module optireduce_nic__nic__rx_buffer(clock,clear,reset,rx_valid,rx_data,rx_last,rx_error,valid,data,frame_beats,pop,stored,bad,full);
    // Module arguments
    input wire  clock;
    input wire  clear;
    input wire  reset;
    input wire  rx_valid;
    input wire  [511:0] rx_data;
    input wire  rx_last;
    input wire  rx_error;
    output wire  valid;
    output wire  [512:0] data;
    output wire  [9:0] frame_beats;
    input wire  pop;
    output reg  stored;
    output reg  bad;
    output reg  full;
    // Stub signals
    wire  ram__clock;
    reg  [8:0] ram__read_address;
    wire  [512:0] ram__read_data;
    wire  [8:0] ram__write_address;
    wire  [512:0] ram__write_data;
    wire  ram__write_enable;
    wire  lengths__clock;
    wire  lengths__clear;
    reg  lengths__push;
    wire  [9:0] lengths__push_data;
    wire  lengths__full;
    wire  lengths__pop;
    wire  [9:0] lengths__pop_data;
    wire  lengths__empty;
    wire  [15:0] lengths__room;
    reg  [52:0] st__d;
    wire  [52:0] st__q;
    wire  st__clock;
    // Local signals
    wire  [9:0] used;
    wire  [9:0] write_next;
    wire  [9:0] read_next;
    wire  [9:0] length;
    wire  no_room;
    wire  has_beat;
    wire  take;
    wire  comes;
    reg  [512:0] word;
    // Sub module instances
    optireduce_nic__nic__rx_buffer__ram ram(
        .clock(ram__clock),
        .read_address(ram__read_address),
        .read_data(ram__read_data),
        .write_address(ram__write_address),
        .write_data(ram__write_data),
        .write_enable(ram__write_enable)
    );
    optireduce_nic__nic__rx_buffer__lengths lengths(
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
    optireduce_nic__nic__rx_buffer__st st(
        .d(st__d),
        .q(st__q),
        .clock(st__clock)
    );
    // Update code
    assign st__clock = clock;
    assign ram__clock = clock;
    assign lengths__clock = clock;
    assign lengths__clear = clear;
    assign used = st__q[(64'h0)+:(10)] - st__q[(64'h28)+:(10)];
    assign write_next = st__q[(64'h0)+:(10)] + 32'h1;
    assign length = write_next - st__q[(64'ha)+:(10)];
    assign no_room = st__q[(64'h32)+:(1)] || (used == 32'h200) || lengths__full;
    always @(*) begin
        word[(64'h0)+:(512)] = rx_data;
        word[(64'h200)+:(1)] = rx_last;
    end
    assign ram__write_address = ((st__q[(64'h0)+:(10)]) & 9'h1ff);
    assign ram__write_data = word;
    assign comes = rx_valid && ~st__q[(64'h34)+:(1)];
    assign ram__write_enable = comes && ~no_room;
    always @(*) begin
        lengths__push = 1'b0;
        if (comes) begin
            if (rx_last) begin
                if (no_room || rx_error) begin
                end
                else begin
                    lengths__push = 1'b1;
                end
            end
        end
    end
    assign lengths__push_data = length;
    always @(*) begin
        stored = 1'b0;
        if (comes) begin
            if (rx_last) begin
                if (no_room || rx_error) begin
                end
                else begin
                    stored = 1'b1;
                end
            end
        end
        if (clear) begin
            stored = 1'b0;
        end
    end
    always @(*) begin
        bad = 1'b0;
        if (comes) begin
            if (rx_last) begin
                if (no_room || rx_error) begin
                    bad = rx_error;
                end
            end
        end
        if (clear) begin
            bad = 1'b0;
        end
    end
    always @(*) begin
        full = 1'b0;
        if (comes) begin
            if (rx_last) begin
                if (no_room || rx_error) begin
                    full = ~rx_error;
                end
            end
        end
        if (clear) begin
            full = 1'b0;
        end
    end
    assign has_beat = st__q[(64'h28)+:(10)] != st__q[(64'h1e)+:(10)];
    assign take = has_beat && pop;
    assign read_next = st__q[(64'h28)+:(10)] + 32'h1;
    always @(*) begin
        ram__read_address = ((st__q[(64'h28)+:(10)]) & 9'h1ff);
        if (take) begin
            ram__read_address = read_next[(32'h0)+:(9)];
        end
    end
    assign valid = has_beat;
    assign data = ram__read_data;
    assign frame_beats = lengths__pop_data;
    assign lengths__pop = take && ram__read_data[(64'h200)+:(1)];
    always @(*) begin
        st__d = st__q;
        if (rx_valid) begin
            st__d[(64'h33)+:(1)] = ~rx_last;
            if (rx_last) begin
                st__d[(64'h34)+:(1)] = 1'b0;
            end
        end
        if (comes) begin
            if (rx_last) begin
                st__d[(64'h32)+:(1)] = 1'b0;
                if (no_room || rx_error) begin
                    st__d[(64'h0)+:(10)] = st__q[(64'ha)+:(10)];
                end
                else begin
                    st__d[(64'h0)+:(10)] = write_next;
                    st__d[(64'ha)+:(10)] = write_next;
                    st__d[(64'h14)+:(10)] = write_next;
                end
            end
            else begin
                st__d[(64'h32)+:(1)] = no_room;
                if (~no_room) begin
                    st__d[(64'h0)+:(10)] = write_next;
                end
            end
        end
        st__d[(64'h1e)+:(10)] = st__q[(64'h14)+:(10)];
        if (take) begin
            st__d[(64'h28)+:(10)] = read_next;
        end
        if (clear) begin
            st__d[(64'h0)+:(10)] = ((32'h0) & 10'h3ff);
            st__d[(64'ha)+:(10)] = ((32'h0) & 10'h3ff);
            st__d[(64'h14)+:(10)] = ((32'h0) & 10'h3ff);
            st__d[(64'h1e)+:(10)] = ((32'h0) & 10'h3ff);
            st__d[(64'h28)+:(10)] = ((32'h0) & 10'h3ff);
            st__d[(64'h32)+:(1)] = 1'b0;
            st__d[(64'h34)+:(1)] = st__q[(64'h33)+:(1)];
            if (rx_valid) begin
                st__d[(64'h34)+:(1)] = ~rx_last;
            end
        end
        if (reset) begin
            st__d[(64'h33)+:(1)] = 1'b0;
            st__d[(64'h34)+:(1)] = 1'b0;
        end
    end
    wire unused__lengths__empty = &{lengths__empty};
    wire unused__lengths__room = &{lengths__room};
endmodule

module optireduce_nic__nic__scale(clock,clear,arm,arm_slot,arm_context,closed,scaled,read_valid,read_address,read_ready,word,valid,mean,ready,broadcast,broadcast_slot,working);
    // Module arguments
    input wire  clock;
    input wire  clear;
    input wire  [7:0] arm;
    input wire  [2:0] arm_slot;
    input wire  [404:0] arm_context;
    input wire  [7:0] closed;
    output wire  [7:0] scaled;
    output wire  read_valid;
    output reg  [16:0] read_address;
    input wire  read_ready;
    input wire  [590:0] word;
    output wire  valid;
    output wire  [556:0] mean;
    input wire  ready;
    output reg  broadcast;
    output wire  [2:0] broadcast_slot;
    output wire  working;
    // Enums
    localparam ScaleState__Idle = 0;
    localparam ScaleState__Drain = 1;
    localparam ScaleState__Read = 2;
    localparam ScaleState__Store = 3;
    // Stub signals
    reg  [1:0] state__d;
    wire  [1:0] state__q;
    wire  state__clock;
    reg  [2:0] slot__d;
    wire  [2:0] slot__q;
    wire  slot__clock;
    reg  [14:0] index__d;
    wire  [14:0] index__q;
    wire  index__clock;
    reg  [4:0] pause__d;
    wire  [4:0] pause__q;
    wire  pause__clock;
    reg  [7:0] done__d;
    wire  [7:0] done__q;
    wire  done__clock;
    wire  contexts__clock;
    wire  [2:0] contexts__read_address;
    wire  [404:0] contexts__read_data;
    wire  [2:0] contexts__write_address;
    wire  [404:0] contexts__write_data;
    wire  contexts__write_enable;
    wire  reciprocal__clock;
    wire  [10:0] reciprocal__count;
    wire  [31:0] reciprocal__factor;
    wire  multiplier__clock;
    wire  [511:0] multiplier__a;
    wire  [31:0] multiplier__factor;
    wire  [511:0] multiplier__product;
    wire  [511:0] round__data;
    wire  [511:0] round__rounded;
    reg  [14:0] asked__0__d;
    wire  [14:0] asked__0__q;
    wire  asked__0__clock;
    reg  [14:0] asked__1__d;
    wire  [14:0] asked__1__q;
    wire  asked__1__clock;
    reg  [511:0] data__d;
    wire  [511:0] data__q;
    wire  data__clock;
    reg  [14:0] side__0__d;
    wire  [14:0] side__0__q;
    wire  side__0__clock;
    reg  [14:0] side__1__d;
    wire  [14:0] side__1__q;
    wire  side__1__clock;
    reg  [14:0] side__2__d;
    wire  [14:0] side__2__q;
    wire  side__2__clock;
    reg  [14:0] side__3__d;
    wire  [14:0] side__3__q;
    wire  side__3__clock;
    reg  [14:0] side__4__d;
    wire  [14:0] side__4__q;
    wire  side__4__clock;
    reg  [14:0] side__5__d;
    wire  [14:0] side__5__q;
    wire  side__5__clock;
    reg  [14:0] side__6__d;
    wire  [14:0] side__6__q;
    wire  side__6__clock;
    wire  outbox__clock;
    wire  outbox__clear;
    wire  outbox__push;
    reg  [556:0] outbox__push_data;
    wire  outbox__full;
    wire  outbox__pop;
    wire  [556:0] outbox__pop_data;
    wire  outbox__empty;
    wire  [15:0] outbox__room;
    // Local signals
    wire  [404:0] ctx;
    reg  [14:0] side0;
    wire  [7:0] one;
    wire  [7:0] slot_bit;
    wire  [7:0] pending;
    wire  [7:0] undone;
    wire  [7:0] keep;
    wire  [14:0] index_next;
    wire  [2:0] slot_next;
    wire  [4:0] wait_next;
    wire  [14:0] position;
    reg  ask;
    wire  present;
    // Sub module instances
    optireduce_nic__nic__finisher__drain__state state(
        .d(state__d),
        .q(state__q),
        .clock(state__clock)
    );
    optireduce_nic__nic__finisher__drain__come_slot slot(
        .d(slot__d),
        .q(slot__q),
        .clock(slot__clock)
    );
    optireduce_nic__nic__finisher__drain__to_come index(
        .d(index__d),
        .q(index__q),
        .clock(index__clock)
    );
    optireduce_nic__nic__broadcast_gates__counting pause(
        .d(pause__d),
        .q(pause__q),
        .clock(pause__clock)
    );
    optireduce_nic__nic__gather__arrivals__asked_epoch done(
        .d(done__d),
        .q(done__q),
        .clock(done__clock)
    );
    optireduce_nic__nic__contribute__contexts contexts(
        .clock(contexts__clock),
        .read_address(contexts__read_address),
        .read_data(contexts__read_data),
        .write_address(contexts__write_address),
        .write_data(contexts__write_data),
        .write_enable(contexts__write_enable)
    );
    optireduce_nic__nic__finisher__drain__reciprocal reciprocal(
        .clock(reciprocal__clock),
        .count(reciprocal__count),
        .factor(reciprocal__factor)
    );
    optireduce_nic__nic__finisher__drain__multiplier multiplier(
        .clock(multiplier__clock),
        .a(multiplier__a),
        .factor(multiplier__factor),
        .product(multiplier__product)
    );
    optireduce_nic__nic__contribute__round round(
        .data(round__data),
        .rounded(round__rounded)
    );
    optireduce_nic__nic__finisher__drain__to_come asked__0(
        .d(asked__0__d),
        .q(asked__0__q),
        .clock(asked__0__clock)
    );
    optireduce_nic__nic__finisher__drain__to_come asked__1(
        .d(asked__1__d),
        .q(asked__1__q),
        .clock(asked__1__clock)
    );
    optireduce_nic__nic__finisher__drain__stage_data data(
        .d(data__d),
        .q(data__q),
        .clock(data__clock)
    );
    optireduce_nic__nic__finisher__drain__to_come side__0(
        .d(side__0__d),
        .q(side__0__q),
        .clock(side__0__clock)
    );
    optireduce_nic__nic__finisher__drain__to_come side__1(
        .d(side__1__d),
        .q(side__1__q),
        .clock(side__1__clock)
    );
    optireduce_nic__nic__finisher__drain__to_come side__2(
        .d(side__2__d),
        .q(side__2__q),
        .clock(side__2__clock)
    );
    optireduce_nic__nic__finisher__drain__to_come side__3(
        .d(side__3__d),
        .q(side__3__q),
        .clock(side__3__clock)
    );
    optireduce_nic__nic__finisher__drain__to_come side__4(
        .d(side__4__d),
        .q(side__4__q),
        .clock(side__4__clock)
    );
    optireduce_nic__nic__finisher__drain__to_come side__5(
        .d(side__5__d),
        .q(side__5__q),
        .clock(side__5__clock)
    );
    optireduce_nic__nic__finisher__drain__to_come side__6(
        .d(side__6__d),
        .q(side__6__q),
        .clock(side__6__clock)
    );
    optireduce_nic__nic__scale__outbox outbox(
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
    assign state__clock = clock;
    assign slot__clock = clock;
    assign index__clock = clock;
    assign pause__clock = clock;
    assign done__clock = clock;
    assign data__clock = clock;
    assign contexts__clock = clock;
    assign contexts__write_enable = arm != 32'h0;
    assign contexts__write_address = arm_slot;
    assign contexts__write_data = arm_context;
    assign contexts__read_address = slot__q;
    assign ctx = contexts__read_data;
    assign reciprocal__clock = clock;
    assign multiplier__clock = clock;
    assign outbox__clock = clock;
    assign outbox__clear = clear;
    assign side__0__clock = clock;
    assign side__1__clock = clock;
    assign side__2__clock = clock;
    assign side__3__clock = clock;
    assign side__4__clock = clock;
    assign side__5__clock = clock;
    assign side__6__clock = clock;
    assign asked__0__clock = clock;
    assign asked__1__clock = clock;
    assign one = ((32'h1) & 8'hff);
    assign slot_bit = one << slot__q;
    assign undone = done__q ^ 32'hff;
    assign pending = closed & undone & slot_bit;
    assign slot_next = slot__q + 32'h1;
    assign index_next = index__q + 32'h1;
    assign wait_next = pause__q + 32'h1;
    assign keep = arm ^ 32'hff;
    always @(*) begin
        ask = 1'b0;
        case (state__q)
            ScaleState__Read: begin
                ask = (index__q != ctx[(64'hbe)+:(15)]) && (outbox__room >= 32'ha);
            end
            default: begin
            end
        endcase
    end
    always @(*) begin
        broadcast = 1'b0;
        case (state__q)
            ScaleState__Store: begin
                if (pause__q == 32'hf) begin
                    if (outbox__empty) begin
                        broadcast = ctx[(64'h88)+:(1)];
                    end
                end
            end
            default: begin
            end
        endcase
        if (clear) begin
            broadcast = 1'b0;
        end
    end
    assign broadcast_slot = slot__q;
    assign working = (state__q != ScaleState__Idle) || ((closed & undone) != 32'h0);
    assign read_valid = ask;
    always @(*) begin
        read_address[(64'h0)+:(3)] = slot__q;
        read_address[(64'h3)+:(14)] = index__q[(32'h0)+:(14)];
    end
    assign position = ctx[(64'haf)+:(15)] + index__q;
    assign present = word[(64'h247)+:(8)] == ctx[(64'hcd)+:(8)];
    always @(*) begin
        side0[(64'h0)+:(1)] = asked__1__q[(64'h0)+:(1)] && present;
        side0[(64'h1)+:(14)] = asked__1__q[(64'h1)+:(14)];
    end
    assign reciprocal__count = ((word[(64'h240)+:(7)]) & 11'h7ff);
    assign multiplier__a = data__q;
    assign multiplier__factor = reciprocal__factor;
    assign outbox__push = side__6__q[(64'h0)+:(1)];
    always @(*) begin
        outbox__push_data[(64'h0)+:(3)] = slot__q;
        outbox__push_data[(64'h3)+:(14)] = side__6__q[(64'h1)+:(14)];
        outbox__push_data[(64'h11)+:(14)] = ((32'h0) & 14'h3fff);
        outbox__push_data[(64'h1f)+:(6)] = ((32'h0) & 6'h3f);
        outbox__push_data[(64'h25)+:(8)] = ctx[(64'hcd)+:(8)];
        outbox__push_data[(64'h2d)+:(512)] = multiplier__product;
        if (ctx[(64'h87)+:(1)]) begin
            outbox__push_data[(64'h2d)+:(512)] = round__rounded;
        end
    end
    assign round__data = multiplier__product;
    assign valid = ~outbox__empty;
    assign mean = outbox__pop_data;
    assign outbox__pop = ready;
    assign scaled = done__q;
    always @(*) begin
        state__d = state__q;
        slot__d = slot__q;
        index__d = index__q;
        pause__d = pause__q;
        done__d = done__q;
        data__d = data__q;
        side__1__d = side__0__q;
        side__2__d = side__1__q;
        side__3__d = side__2__q;
        side__4__d = side__3__q;
        side__5__d = side__4__q;
        side__6__d = side__5__q;
        done__d = done__q & keep;
        case (state__q)
            ScaleState__Idle: begin
                index__d = ((32'h0) & 15'h7fff);
                pause__d = ((32'h0) & 5'h1f);
                if (pending != 32'h0) begin
                    state__d = ScaleState__Drain;
                end
                else begin
                    slot__d = slot_next;
                end
            end
            ScaleState__Drain: begin
                pause__d = wait_next;
                if (pause__q == 32'hf) begin
                    state__d = ScaleState__Read;
                    pause__d = ((32'h0) & 5'h1f);
                end
            end
            ScaleState__Read: begin
                if (index__q == ctx[(64'hbe)+:(15)]) begin
                    state__d = ScaleState__Store;
                end
                if (read_ready) begin
                    index__d = index_next;
                end
            end
            ScaleState__Store: begin
                pause__d = wait_next;
                if (pause__q == 32'hf) begin
                    pause__d = pause__q;
                    if (outbox__empty) begin
                        done__d = (done__q & keep) | slot_bit;
                        state__d = ScaleState__Idle;
                    end
                end
            end
            default: begin
            end
        endcase
        asked__0__d[(64'h0)+:(1)] = ask && read_ready;
        asked__0__d[(64'h1)+:(14)] = position[(32'h0)+:(14)];
        asked__1__d = asked__0__q;
        side__0__d = side0;
        data__d = word[(64'h0)+:(512)];
        if (clear) begin
            state__d = ScaleState__Idle;
            slot__d = ((32'h0) & 3'h7);
            done__d = ((32'h0) & 8'hff);
        end
    end
    wire unused__outbox__full = &{outbox__full};
    wire unused__ctx = &{ctx[404:213], ctx[174:137], ctx[134:0]};
    wire unused__word = &{word[575:512]};
    wire unused__position = &{position[14]};
endmodule

module optireduce_nic__nic__submit(clock,clear,job,usable,sq_queue,sq_base,sq_mask,sq_tail__0,sq_tail__1,sq_tail__2,sq_tail__3,sq_head__0,sq_head__1,sq_head__2,sq_head__3,stop,ar_valid,ar_address,ar_ready,r_valid,r_data,r_error,arm,arm_slot,arm_context,contribute_rules,broadcast_rules,enter,advert,order_valid,order,order_ready,send_valid,send,send_ready,scaled,freed,scrub,scrub_slot,scrub_busy,finishing,ordering,refuse_ready,refuse,refusal,working);
    // Module arguments
    input wire  clock;
    input wire  clear;
    input wire  [199:0] job;
    input wire  [3:0] usable;
    output wire  [1:0] sq_queue;
    input wire  [63:0] sq_base;
    input wire  [15:0] sq_mask;
    input wire  [15:0] sq_tail__0;
    input wire  [15:0] sq_tail__1;
    input wire  [15:0] sq_tail__2;
    input wire  [15:0] sq_tail__3;
    output wire  [15:0] sq_head__0;
    output wire  [15:0] sq_head__1;
    output wire  [15:0] sq_head__2;
    output wire  [15:0] sq_head__3;
    output reg  [3:0] stop;
    output wire  ar_valid;
    output wire  [63:0] ar_address;
    input wire  ar_ready;
    input wire  r_valid;
    input wire  [511:0] r_data;
    input wire  r_error;
    output reg  [7:0] arm;
    output wire  [2:0] arm_slot;
    output wire  [404:0] arm_context;
    output reg  [172:0] contribute_rules;
    output reg  [172:0] broadcast_rules;
    output reg  [7:0] enter;
    output reg  [19:0] advert;
    output reg  order_valid;
    output reg  [81:0] order;
    input wire  order_ready;
    output reg  send_valid;
    output reg  [4:0] send;
    input wire  send_ready;
    input wire  [7:0] scaled;
    input wire  [7:0] freed;
    output reg  scrub;
    output wire  [2:0] scrub_slot;
    input wire  scrub_busy;
    input wire  [7:0] finishing;
    output reg  [7:0] ordering;
    input wire  [3:0] refuse_ready;
    output reg  refuse;
    output reg  [49:0] refusal;
    output wire  working;
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
    wire  state__clock;
    reg  [1:0] queue__d;
    wire  [1:0] queue__q;
    wire  queue__clock;
    reg  [15:0] head__0__d;
    wire  [15:0] head__0__q;
    wire  head__0__clock;
    reg  [15:0] head__1__d;
    wire  [15:0] head__1__q;
    wire  head__1__clock;
    reg  [15:0] head__2__d;
    wire  [15:0] head__2__q;
    wire  head__2__clock;
    reg  [15:0] head__3__d;
    wire  [15:0] head__3__q;
    wire  head__3__clock;
    reg  [511:0] entry__d;
    wire  [511:0] entry__q;
    wire  entry__clock;
    reg  [7:0] in_use__d;
    wire  [7:0] in_use__q;
    wire  in_use__clock;
    reg  [7:0] asked__d;
    wire  [7:0] asked__q;
    wire  asked__clock;
    reg  [7:0] status__d;
    wire  [7:0] status__q;
    wire  status__clock;
    wire  contexts__clock;
    wire  [2:0] contexts__read_address;
    wire  [404:0] contexts__read_data;
    wire  [2:0] contexts__write_address;
    wire  [404:0] contexts__write_data;
    wire  contexts__write_enable;
    wire  epochs__clock;
    wire  [2:0] epochs__read_address;
    wire  [7:0] epochs__read_data;
    wire  [2:0] epochs__write_address;
    wire  [7:0] epochs__write_data;
    wire  epochs__write_enable;
    reg  [7:0] epoch__d;
    wire  [7:0] epoch__q;
    wire  epoch__clock;
    reg  [14:0] own_start__d;
    wire  [14:0] own_start__q;
    wire  own_start__clock;
    reg  [14:0] own_beats__d;
    wire  [14:0] own_beats__q;
    wire  own_beats__clock;
    reg  [6:0] rank__d;
    wire  [6:0] rank__q;
    wire  rank__clock;
    reg  [63:0] contribute_senders__d;
    wire  [63:0] contribute_senders__q;
    wire  contribute_senders__clock;
    reg  [63:0] broadcast_senders__d;
    wire  [63:0] broadcast_senders__q;
    wire  broadcast_senders__clock;
    // Local signals
    wire  rings__0;
    wire  rings__1;
    wire  rings__2;
    wire  rings__3;
    reg  [3:0] waiting;
    wire  [3:0] ready;
    wire  [1:0] second;
    wire  [1:0] third;
    wire  [1:0] fourth;
    wire  [3:0] one4;
    wire  [3:0] queue_bit;
    reg  [15:0] head_now;
    reg  [3:0] consumed;
    wire  [511:0] e;
    wire  [2:0] slot;
    wire  [7:0] flags;
    wire  [7:0] one;
    wire  [7:0] slot_bit;
    wire  busy;
    wire  ready_mean;
    wire  [404:0] ctx;
    reg  [404:0] fresh;
    wire  same;
    wire  ending;
    wire  [15:0] index;
    wire  [63:0] offset;
    wire  [15:0] head_next;
    wire  [6:0] sum;
    wire  [6:0] wrapped;
    reg  [6:0] shard;
    wire  [6:0] remainder;
    wire  [6:0] rotation;
    wire  [14:0] quotient;
    reg  [6:0] extra;
    reg  [14:0] length;
    wire  [21:0] start;
    wire  [21:0] start_extra;
    wire  [21:0] cut;
    wire  [21:0] cut_sum;
    wire  [31:0] base;
    wire  [7:0] block_log2;
    wire  [7:0] window_log2;
    wire  [15:0] one16;
    wire  [15:0] encoded_beats;
    wire  good_size;
    wire  host_misplaced;
    wire  misplaced;
    wire  good;
    wire  [14:0] shard_beats;
    wire  [7:0] epoch_now;
    wire  [7:0] epoch_next;
    wire  [63:0] one64;
    wire  [63:0] rank_bit;
    wire  [6:0] rank_next;
    wire  [21:0] contribute_all;
    wire  [14:0] broadcast_all;
    wire  [7:0] unfreed;
    wire  [7:0] kept;
    // Sub module instances
    optireduce_nic__nic__planner__state state(
        .d(state__d),
        .q(state__q),
        .clock(state__clock)
    );
    optireduce_nic__nic__finisher__msix__at queue(
        .d(queue__d),
        .q(queue__q),
        .clock(queue__clock)
    );
    optireduce_nic__nic__finisher__drain__block_beats head__0(
        .d(head__0__d),
        .q(head__0__q),
        .clock(head__0__clock)
    );
    optireduce_nic__nic__finisher__drain__block_beats head__1(
        .d(head__1__d),
        .q(head__1__q),
        .clock(head__1__clock)
    );
    optireduce_nic__nic__finisher__drain__block_beats head__2(
        .d(head__2__d),
        .q(head__2__q),
        .clock(head__2__clock)
    );
    optireduce_nic__nic__finisher__drain__block_beats head__3(
        .d(head__3__d),
        .q(head__3__q),
        .clock(head__3__clock)
    );
    optireduce_nic__nic__finisher__drain__stage_data entry(
        .d(entry__d),
        .q(entry__q),
        .clock(entry__clock)
    );
    optireduce_nic__nic__gather__arrivals__asked_epoch in_use(
        .d(in_use__d),
        .q(in_use__q),
        .clock(in_use__clock)
    );
    optireduce_nic__nic__gather__arrivals__asked_epoch asked(
        .d(asked__d),
        .q(asked__q),
        .clock(asked__clock)
    );
    optireduce_nic__nic__gather__arrivals__asked_epoch status(
        .d(status__d),
        .q(status__q),
        .clock(status__clock)
    );
    optireduce_nic__nic__contribute__contexts contexts(
        .clock(contexts__clock),
        .read_address(contexts__read_address),
        .read_data(contexts__read_data),
        .write_address(contexts__write_address),
        .write_data(contexts__write_data),
        .write_enable(contexts__write_enable)
    );
    optireduce_nic__nic__submit__epochs epochs(
        .clock(epochs__clock),
        .read_address(epochs__read_address),
        .read_data(epochs__read_data),
        .write_address(epochs__write_address),
        .write_data(epochs__write_data),
        .write_enable(epochs__write_enable)
    );
    optireduce_nic__nic__gather__arrivals__asked_epoch epoch(
        .d(epoch__d),
        .q(epoch__q),
        .clock(epoch__clock)
    );
    optireduce_nic__nic__finisher__drain__to_come own_start(
        .d(own_start__d),
        .q(own_start__q),
        .clock(own_start__clock)
    );
    optireduce_nic__nic__finisher__drain__to_come own_beats(
        .d(own_beats__d),
        .q(own_beats__q),
        .clock(own_beats__clock)
    );
    optireduce_nic__nic__finisher__write__left rank(
        .d(rank__d),
        .q(rank__q),
        .clock(rank__clock)
    );
    optireduce_nic__nic__finisher__write__results__state contribute_senders(
        .d(contribute_senders__d),
        .q(contribute_senders__q),
        .clock(contribute_senders__clock)
    );
    optireduce_nic__nic__finisher__write__results__state broadcast_senders(
        .d(broadcast_senders__d),
        .q(broadcast_senders__q),
        .clock(broadcast_senders__clock)
    );
    // Update code
    assign state__clock = clock;
    assign queue__clock = clock;
    assign entry__clock = clock;
    assign in_use__clock = clock;
    assign asked__clock = clock;
    assign status__clock = clock;
    assign epoch__clock = clock;
    assign own_start__clock = clock;
    assign own_beats__clock = clock;
    assign rank__clock = clock;
    assign contribute_senders__clock = clock;
    assign broadcast_senders__clock = clock;
    assign e = entry__q;
    assign slot = ((e[(64'h8)+:(8)]) & 3'h7);
    assign flags = e[(64'h50)+:(8)];
    assign one = ((32'h1) & 8'hff);
    assign slot_bit = one << slot;
    assign busy = (in_use__q & slot_bit) != 32'h0;
    assign ready_mean = (scaled & slot_bit) != 32'h0;
    assign contexts__clock = clock;
    assign contexts__read_address = slot;
    assign ctx = contexts__read_data;
    assign ending = (finishing & slot_bit) != 32'h0;
    assign same = busy && ~ending && (ctx[(64'had)+:(2)] == queue__q) && (ctx[(64'h0)+:(32)] == e[(64'h20)+:(32)]) && (ctx[(64'h20)+:(16)] == e[(64'h10)+:(16)]);
    assign epochs__clock = clock;
    assign epochs__read_address = slot;
    assign epoch_now = epochs__read_data;
    assign epoch_next = epoch_now + 32'h1;
    assign one4 = ((32'h1) & 4'hf);
    assign queue_bit = one4 << queue__q;
    always @(*) begin
        head_now = ((32'h0) & 16'hffff);
        if (queue_bit[0]) begin
            head_now = head__0__q;
        end
        if (queue_bit[1]) begin
            head_now = head__1__q;
        end
        if (queue_bit[2]) begin
            head_now = head__2__q;
        end
        if (queue_bit[3]) begin
            head_now = head__3__q;
        end
    end
    always @(*) begin
        waiting = ((32'h0) & 4'hf);
        waiting = (waiting & ~(1 << (0)) | ((rings__0) << (0)));
        waiting = (waiting & ~(1 << (1)) | ((rings__1) << (1)));
        waiting = (waiting & ~(1 << (2)) | ((rings__2) << (2)));
        waiting = (waiting & ~(1 << (3)) | ((rings__3) << (3)));
    end
    assign rings__0 = head__0__q != sq_tail__0;
    assign rings__1 = head__1__q != sq_tail__1;
    assign rings__2 = head__2__q != sq_tail__2;
    assign rings__3 = head__3__q != sq_tail__3;
    assign ready = waiting & usable & refuse_ready;
    assign second = queue__q + 32'h1;
    assign third = queue__q + 32'h2;
    assign fourth = queue__q + 32'h3;
    assign sq_queue = queue__q;
    always @(*) begin
        stop = ((32'h0) & 4'hf);
        case (state__q)
            SubmitState__Wait: begin
                if (r_valid) begin
                    if (r_error) begin
                        stop = queue_bit;
                    end
                end
            end
            default: begin
            end
        endcase
    end
    always @(*) begin
        consumed = ((32'h0) & 4'hf);
        case (state__q)
            SubmitState__Next: begin
                consumed = queue_bit;
            end
            default: begin
            end
        endcase
    end
    assign index = head_now & sq_mask;
    assign offset = ((index) & 64'hffffffffffffffff) << 32'h6;
    assign ar_address = sq_base + offset;
    assign head_next = head_now + 32'h1;
    assign rotation = ((e[(64'ha8)+:(8)]) & 7'h7f);
    assign remainder = ((e[(64'ha0)+:(8)]) & 7'h7f);
    assign quotient = ((e[(64'h90)+:(16)]) & 15'h7fff);
    assign sum = rank__q + rotation;
    assign wrapped = sum - job[(64'h6)+:(7)];
    always @(*) begin
        shard = sum;
        if (sum >= job[(64'h6)+:(7)]) begin
            shard = wrapped;
        end
    end
    always @(*) begin
        extra = remainder;
        if (shard < remainder) begin
            extra = shard;
        end
    end
    always @(*) begin
        length = quotient;
        if (shard < remainder) begin
            length = quotient + 32'h1;
        end
    end
    assign start = quotient * shard;
    assign start_extra = start + ((extra) & 22'h3fffff);
    assign cut = quotient * job[(64'h6)+:(7)];
    assign cut_sum = cut + ((remainder) & 22'h3fffff);
    assign block_log2 = e[(64'h58)+:(8)] - 32'h4;
    assign window_log2 = block_log2 + e[(64'hb8)+:(8)];
    assign one16 = ((32'h1) & 16'hffff);
    assign encoded_beats = one16 << window_log2;
    assign good_size = ~flags[32'h0] || (((e[(64'h58)+:(8)] == 32'h8) || (e[(64'h58)+:(8)] == 32'ha) || (e[(64'h58)+:(8)] == 32'hc) || (e[(64'h58)+:(8)] == 32'he)) && (e[(64'h58)+:(8)] <= ((job[(64'hc4)+:(4)]) & 8'hff)) && (e[(64'hb8)+:(8)] < 32'hb) && (encoded_beats == e[(64'h80)+:(16)]));
    assign host_misplaced = (e[(64'h140)+:(64)] & 32'h3f) != 32'h0;
    assign misplaced = host_misplaced || ((e[(64'h180)+:(64)] & 32'hff) != 32'h0) || ((e[(64'h60)+:(32)] & 32'h3f) != 32'h0);
    assign shard_beats = job[(64'hb5)+:(15)] >> 32'h1;
    assign good = (e[(64'h80)+:(16)] != 32'h0) && (e[(64'h80)+:(16)] <= ((job[(64'hb5)+:(15)]) & 16'hffff)) && (e[(64'h100)+:(16)] <= e[(64'h80)+:(16)]) && (e[(64'h90)+:(16)] <= ((shard_beats) & 16'hffff)) && (e[(64'ha0)+:(8)] < ((job[(64'h6)+:(7)]) & 8'hff)) && (e[(64'ha8)+:(8)] < ((job[(64'h6)+:(7)]) & 8'hff)) && (cut_sum == ((e[(64'h80)+:(16)]) & 22'h3fffff)) && (e[(64'hb0)+:(8)] < ((job[(64'h6)+:(7)]) & 8'hff)) && (e[(64'h130)+:(8)] < 32'h10) && ~misplaced && good_size;
    assign one64 = ((32'h1) & 64'hffffffffffffffff);
    assign rank_bit = one64 << rank__q;
    assign rank_next = rank__q + 32'h1;
    assign base = e[(64'h60)+:(32)];
    always @(*) begin
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
        fresh[(64'had)+:(2)] = queue__q;
        fresh[(64'haf)+:(15)] = own_start__q;
        fresh[(64'hbe)+:(15)] = own_beats__q;
        fresh[(64'hcd)+:(8)] = epoch__q;
        fresh[(64'hd5)+:(64)] = e[(64'h140)+:(64)];
        fresh[(64'h115)+:(64)] = e[(64'h180)+:(64)];
        fresh[(64'h155)+:(64)] = e[(64'h1c0)+:(64)];
    end
    always @(*) begin
        arm = ((32'h0) & 8'hff);
        case (state__q)
            SubmitState__Arm: begin
                arm = slot_bit;
            end
            default: begin
            end
        endcase
    end
    assign arm_slot = slot;
    assign arm_context = fresh;
    assign contribute_all = own_beats__q * job[(64'h6)+:(7)];
    assign broadcast_all = ((e[(64'h80)+:(16)]) & 15'h7fff) - own_beats__q;
    always @(*) begin
        contribute_rules[(64'h0)+:(32)] = e[(64'hc0)+:(32)];
        contribute_rules[(64'h20)+:(32)] = e[(64'he0)+:(32)];
        contribute_rules[(64'h40)+:(7)] = ((e[(64'hb0)+:(8)]) & 7'h7f);
        contribute_rules[(64'h47)+:(1)] = flags[32'h2];
        contribute_rules[(64'h48)+:(64)] = contribute_senders__q;
        contribute_rules[(64'h88)+:(22)] = contribute_all;
        contribute_rules[(64'h9e)+:(15)] = own_beats__q;
    end
    always @(*) begin
        broadcast_rules[(64'h0)+:(32)] = e[(64'hc0)+:(32)];
        broadcast_rules[(64'h20)+:(32)] = e[(64'he0)+:(32)];
        broadcast_rules[(64'h40)+:(7)] = ((e[(64'hb0)+:(8)]) & 7'h7f);
        broadcast_rules[(64'h47)+:(1)] = flags[32'h2];
        broadcast_rules[(64'h48)+:(64)] = broadcast_senders__q;
        broadcast_rules[(64'h88)+:(22)] = ((broadcast_all) & 22'h3fffff);
        broadcast_rules[(64'h9e)+:(15)] = ((32'h0) & 15'h7fff);
    end
    assign contexts__write_enable = state__q == SubmitState__Arm;
    assign contexts__write_address = slot;
    assign contexts__write_data = fresh;
    assign epochs__write_enable = state__q == SubmitState__Arm;
    assign epochs__write_address = slot;
    assign epochs__write_data = epoch__q;
    always @(*) begin
        order_valid = 1'b0;
        case (state__q)
            SubmitState__Contribute: begin
                if (ending) begin
                end
                else begin
                    order_valid = 1'b1;
                end
            end
            default: begin
            end
        endcase
    end
    always @(*) begin
        order[(64'h0)+:(3)] = slot;
        order[(64'h3)+:(64)] = e[(64'h140)+:(64)];
        order[(64'h43)+:(15)] = ((e[(64'h100)+:(16)]) & 15'h7fff);
    end
    always @(*) begin
        send_valid = 1'b0;
        case (state__q)
            SubmitState__Broadcast: begin
                if (ending) begin
                end
                else begin
                    send_valid = 1'b1;
                end
            end
            default: begin
            end
        endcase
    end
    always @(*) begin
        send[(64'h0)+:(3)] = slot;
        send[(64'h3)+:(1)] = 1'b1;
        send[(64'h4)+:(1)] = 1'b0;
    end
    always @(*) begin
        enter = ((32'h0) & 8'hff);
        case (state__q)
            SubmitState__Contribute: begin
                if (ending) begin
                end
                else begin
                    if (order_ready) begin
                        enter = slot_bit;
                    end
                end
            end
            default: begin
            end
        endcase
    end
    always @(*) begin
        advert[(64'h0)+:(16)] = e[(64'h110)+:(16)];
        advert[(64'h10)+:(4)] = ((e[(64'h120)+:(8)]) & 4'hf);
        if (state__q == SubmitState__Arm) begin
            advert[(64'h0)+:(16)] = ((32'h0) & 16'hffff);
            advert[(64'h10)+:(4)] = ((32'h0) & 4'hf);
        end
    end
    always @(*) begin
        ordering = ((32'h0) & 8'hff);
        case (state__q)
            SubmitState__Contribute: begin
                ordering = slot_bit;
            end
            SubmitState__Broadcast: begin
                ordering = slot_bit;
            end
            default: begin
            end
        endcase
    end
    always @(*) begin
        refuse = 1'b0;
        case (state__q)
            SubmitState__Refuse: begin
                refuse = 1'b1;
            end
            default: begin
            end
        endcase
    end
    always @(*) begin
        refusal[(64'h0)+:(2)] = queue__q;
        refusal[(64'h2)+:(8)] = e[(64'h8)+:(8)];
        refusal[(64'ha)+:(32)] = e[(64'h20)+:(32)];
        refusal[(64'h2a)+:(8)] = status__q;
    end
    always @(*) begin
        scrub = 1'b0;
        case (state__q)
            SubmitState__Senders: begin
                if (rank_next == job[(64'h6)+:(7)]) begin
                    if (epoch__q == 32'h0) begin
                        scrub = 1'b1;
                    end
                end
            end
            default: begin
            end
        endcase
    end
    assign scrub_slot = slot;
    assign unfreed = freed ^ 32'hff;
    assign kept = in_use__q & unfreed;
    assign ar_valid = state__q == SubmitState__Ask;
    assign head__0__clock = clock;
    assign sq_head__0 = head__0__q;
    assign head__1__clock = clock;
    assign sq_head__1 = head__1__q;
    assign head__2__clock = clock;
    assign sq_head__2 = head__2__q;
    assign head__3__clock = clock;
    assign sq_head__3 = head__3__q;
    assign working = (state__q != SubmitState__Idle) || ((waiting & usable) != 32'h0);
    always @(*) begin
        state__d = state__q;
        queue__d = queue__q;
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
        in_use__d = kept;
        asked__d = asked__q & kept;
        case (state__q)
            SubmitState__Idle: begin
                if (ready != 32'h0) begin
                    state__d = SubmitState__Ask;
                    if (ready[second]) begin
                        queue__d = second;
                    end
                    else if (ready[third]) begin
                        queue__d = third;
                    end
                    else if (ready[fourth]) begin
                        queue__d = fourth;
                    end
                end
            end
            SubmitState__Ask: begin
                if (ar_ready) begin
                    state__d = SubmitState__Wait;
                end
            end
            SubmitState__Wait: begin
                if (r_valid) begin
                    entry__d = ((r_data) & 512'hffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff);
                    state__d = SubmitState__Decode;
                    if (r_error) begin
                        state__d = SubmitState__Idle;
                    end
                end
            end
            SubmitState__Decode: begin
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
                        else if ((e[(64'h100)+:(16)] <= ((ctx[(64'h5a)+:(15)]) & 16'hffff)) && ~host_misplaced) begin
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
            SubmitState__Check: begin
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
            SubmitState__Senders: begin
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
                        state__d = SubmitState__Scrub;
                    end
                end
            end
            SubmitState__Scrub: begin
                if (~scrub_busy) begin
                    state__d = SubmitState__Arm;
                end
            end
            SubmitState__Arm: begin
                in_use__d = kept | slot_bit;
                state__d = SubmitState__Next;
            end
            SubmitState__Contribute: begin
                if (ending) begin
                    status__d = ((32'h4) & 8'hff);
                    state__d = SubmitState__Refuse;
                end
                else begin
                    if (order_ready) begin
                        asked__d = (asked__q & kept) | slot_bit;
                        state__d = SubmitState__Next;
                    end
                end
            end
            SubmitState__Broadcast: begin
                if (ending) begin
                    status__d = ((32'h4) & 8'hff);
                    state__d = SubmitState__Refuse;
                end
                else begin
                    if (send_ready) begin
                        state__d = SubmitState__Next;
                    end
                end
            end
            SubmitState__Refuse: begin
                state__d = SubmitState__Next;
            end
            SubmitState__Next: begin
                state__d = SubmitState__Idle;
            end
            default: begin
            end
        endcase
        head__0__d = head__0__q;
        if (consumed[0]) begin
            head__0__d = head_next;
        end
        if (clear) begin
            head__0__d = ((32'h0) & 16'hffff);
        end
        head__1__d = head__1__q;
        if (consumed[1]) begin
            head__1__d = head_next;
        end
        if (clear) begin
            head__1__d = ((32'h0) & 16'hffff);
        end
        head__2__d = head__2__q;
        if (consumed[2]) begin
            head__2__d = head_next;
        end
        if (clear) begin
            head__2__d = ((32'h0) & 16'hffff);
        end
        head__3__d = head__3__q;
        if (consumed[3]) begin
            head__3__d = head_next;
        end
        if (clear) begin
            head__3__d = ((32'h0) & 16'hffff);
        end
        if (clear) begin
            state__d = SubmitState__Idle;
            queue__d = ((32'h0) & 2'h3);
            in_use__d = ((32'h0) & 8'hff);
            asked__d = ((32'h0) & 8'hff);
        end
    end
    wire unused__ctx = &{ctx[404:175], ctx[172:137], ctx[135:105], ctx[89:48]};
    wire unused__e = &{e[319:312]};
    wire unused__flags = &{flags[7:4]};
    wire unused__job = &{job[180:13]};
    wire unused__base = &{base[5:0]};
    wire unused__start_extra = &{start_extra[21:15]};
endmodule

module optireduce_nic__responder__st(d,q,clock);
    // Module arguments
    input wire  [11:0] d;
    output reg  [11:0] q;
    input wire  clock;
    // Update code (custom)
    initial q = 12'h0;
    always @(posedge clock) q <= d;
endmodule

module optireduce_nic__responder__store(clock,read_address,read_data,write_address,write_data,write_enable);
    // Module arguments
    input wire  clock;
    input wire  [3:0] read_address;
    output reg  [511:0] read_data;
    input wire  [3:0] write_address;
    input wire  [511:0] write_data;
    input wire  write_enable;
    // Update code (custom)
    (* ram_style = "distributed" *) reg [511:0] mem [0:15];
    `ifndef SYNTHESIS
    integer i;
    initial for (i = 0; i <= 15; i = i + 1) mem[i] = 0;
    `endif
    always @(*) read_data = mem[read_address];
    always @(posedge clock) if (write_enable) mem[write_address] <= write_data;
endmodule

module optireduce_nic__rx__sum(clock,reset,valid,data,last,done,total,checked,busy);
    // Module arguments
    input wire  clock;
    input wire  reset;
    input wire  valid;
    input wire  [511:0] data;
    input wire  last;
    output wire  done;
    output wire  [15:0] total;
    output wire  checked;
    output wire  busy;
    // Stub signals
    reg  in_frame__d;
    wire  in_frame__q;
    wire  in_frame__clock;
    reg  held__d;
    wire  held__q;
    wire  held__clock;
    reg  [3:0] passing__0__d;
    wire  [3:0] passing__0__q;
    wire  passing__0__clock;
    reg  [3:0] passing__1__d;
    wire  [3:0] passing__1__q;
    wire  passing__1__clock;
    reg  [3:0] passing__2__d;
    wire  [3:0] passing__2__q;
    wire  passing__2__clock;
    reg  [3:0] passing__3__d;
    wire  [3:0] passing__3__q;
    wire  passing__3__clock;
    reg  [3:0] passing__4__d;
    wire  [3:0] passing__4__q;
    wire  passing__4__clock;
    reg  [3:0] passing__5__d;
    wire  [3:0] passing__5__q;
    wire  passing__5__clock;
    reg  [16:0] pair__0__d;
    wire  [16:0] pair__0__q;
    wire  pair__0__clock;
    reg  [16:0] pair__1__d;
    wire  [16:0] pair__1__q;
    wire  pair__1__clock;
    reg  [16:0] pair__2__d;
    wire  [16:0] pair__2__q;
    wire  pair__2__clock;
    reg  [16:0] pair__3__d;
    wire  [16:0] pair__3__q;
    wire  pair__3__clock;
    reg  [16:0] pair__4__d;
    wire  [16:0] pair__4__q;
    wire  pair__4__clock;
    reg  [16:0] pair__5__d;
    wire  [16:0] pair__5__q;
    wire  pair__5__clock;
    reg  [16:0] pair__6__d;
    wire  [16:0] pair__6__q;
    wire  pair__6__clock;
    reg  [16:0] pair__7__d;
    wire  [16:0] pair__7__q;
    wire  pair__7__clock;
    reg  [16:0] pair__8__d;
    wire  [16:0] pair__8__q;
    wire  pair__8__clock;
    reg  [16:0] pair__9__d;
    wire  [16:0] pair__9__q;
    wire  pair__9__clock;
    reg  [16:0] pair__10__d;
    wire  [16:0] pair__10__q;
    wire  pair__10__clock;
    reg  [16:0] pair__11__d;
    wire  [16:0] pair__11__q;
    wire  pair__11__clock;
    reg  [16:0] pair__12__d;
    wire  [16:0] pair__12__q;
    wire  pair__12__clock;
    reg  [16:0] pair__13__d;
    wire  [16:0] pair__13__q;
    wire  pair__13__clock;
    reg  [16:0] pair__14__d;
    wire  [16:0] pair__14__q;
    wire  pair__14__clock;
    reg  [16:0] pair__15__d;
    wire  [16:0] pair__15__q;
    wire  pair__15__clock;
    reg  [18:0] four__0__d;
    wire  [18:0] four__0__q;
    wire  four__0__clock;
    reg  [18:0] four__1__d;
    wire  [18:0] four__1__q;
    wire  four__1__clock;
    reg  [18:0] four__2__d;
    wire  [18:0] four__2__q;
    wire  four__2__clock;
    reg  [18:0] four__3__d;
    wire  [18:0] four__3__q;
    wire  four__3__clock;
    reg  [20:0] beat__d;
    wire  [20:0] beat__q;
    wire  beat__clock;
    reg  [31:0] frame__d;
    wire  [31:0] frame__q;
    wire  frame__clock;
    reg  [16:0] carried__d;
    wire  [16:0] carried__q;
    wire  carried__clock;
    reg  [15:0] folded__d;
    wire  [15:0] folded__q;
    wire  folded__clock;
    // Local signals
    reg  [15:0] low__0;
    reg  [15:0] low__1;
    reg  [15:0] low__2;
    reg  [15:0] low__3;
    reg  [15:0] low__4;
    reg  [15:0] low__5;
    reg  [15:0] low__6;
    wire  [15:0] low__7;
    wire  [15:0] low__8;
    wire  [15:0] low__9;
    wire  [15:0] low__10;
    wire  [15:0] low__11;
    wire  [15:0] low__12;
    wire  [15:0] low__13;
    wire  [15:0] low__14;
    wire  [15:0] low__15;
    reg  [15:0] high__0;
    reg  [15:0] high__1;
    reg  [15:0] high__2;
    reg  [15:0] high__3;
    reg  [15:0] high__4;
    reg  [15:0] high__5;
    wire  [15:0] high__6;
    wire  [15:0] high__7;
    wire  [15:0] high__8;
    wire  [15:0] high__9;
    wire  [15:0] high__10;
    wire  [15:0] high__11;
    wire  [15:0] high__12;
    wire  [15:0] high__13;
    wire  [15:0] high__14;
    wire  [15:0] high__15;
    wire  [15:0] fragment;
    reg  checks;
    reg  [3:0] p;
    // Sub module instances
    optireduce_nic__nic__finisher__drain__side__0 in_frame(
        .d(in_frame__d),
        .q(in_frame__q),
        .clock(in_frame__clock)
    );
    optireduce_nic__nic__finisher__drain__side__0 held(
        .d(held__d),
        .q(held__q),
        .clock(held__clock)
    );
    optireduce_nic__nic__finisher__msix__pending passing__0(
        .d(passing__0__d),
        .q(passing__0__q),
        .clock(passing__0__clock)
    );
    optireduce_nic__nic__finisher__msix__pending passing__1(
        .d(passing__1__d),
        .q(passing__1__q),
        .clock(passing__1__clock)
    );
    optireduce_nic__nic__finisher__msix__pending passing__2(
        .d(passing__2__d),
        .q(passing__2__q),
        .clock(passing__2__clock)
    );
    optireduce_nic__nic__finisher__msix__pending passing__3(
        .d(passing__3__d),
        .q(passing__3__q),
        .clock(passing__3__clock)
    );
    optireduce_nic__nic__finisher__msix__pending passing__4(
        .d(passing__4__d),
        .q(passing__4__q),
        .clock(passing__4__clock)
    );
    optireduce_nic__nic__finisher__msix__pending passing__5(
        .d(passing__5__d),
        .q(passing__5__q),
        .clock(passing__5__clock)
    );
    optireduce_nic__nic__lookup__key__0__found pair__0(
        .d(pair__0__d),
        .q(pair__0__q),
        .clock(pair__0__clock)
    );
    optireduce_nic__nic__lookup__key__0__found pair__1(
        .d(pair__1__d),
        .q(pair__1__q),
        .clock(pair__1__clock)
    );
    optireduce_nic__nic__lookup__key__0__found pair__2(
        .d(pair__2__d),
        .q(pair__2__q),
        .clock(pair__2__clock)
    );
    optireduce_nic__nic__lookup__key__0__found pair__3(
        .d(pair__3__d),
        .q(pair__3__q),
        .clock(pair__3__clock)
    );
    optireduce_nic__nic__lookup__key__0__found pair__4(
        .d(pair__4__d),
        .q(pair__4__q),
        .clock(pair__4__clock)
    );
    optireduce_nic__nic__lookup__key__0__found pair__5(
        .d(pair__5__d),
        .q(pair__5__q),
        .clock(pair__5__clock)
    );
    optireduce_nic__nic__lookup__key__0__found pair__6(
        .d(pair__6__d),
        .q(pair__6__q),
        .clock(pair__6__clock)
    );
    optireduce_nic__nic__lookup__key__0__found pair__7(
        .d(pair__7__d),
        .q(pair__7__q),
        .clock(pair__7__clock)
    );
    optireduce_nic__nic__lookup__key__0__found pair__8(
        .d(pair__8__d),
        .q(pair__8__q),
        .clock(pair__8__clock)
    );
    optireduce_nic__nic__lookup__key__0__found pair__9(
        .d(pair__9__d),
        .q(pair__9__q),
        .clock(pair__9__clock)
    );
    optireduce_nic__nic__lookup__key__0__found pair__10(
        .d(pair__10__d),
        .q(pair__10__q),
        .clock(pair__10__clock)
    );
    optireduce_nic__nic__lookup__key__0__found pair__11(
        .d(pair__11__d),
        .q(pair__11__q),
        .clock(pair__11__clock)
    );
    optireduce_nic__nic__lookup__key__0__found pair__12(
        .d(pair__12__d),
        .q(pair__12__q),
        .clock(pair__12__clock)
    );
    optireduce_nic__nic__lookup__key__0__found pair__13(
        .d(pair__13__d),
        .q(pair__13__q),
        .clock(pair__13__clock)
    );
    optireduce_nic__nic__lookup__key__0__found pair__14(
        .d(pair__14__d),
        .q(pair__14__q),
        .clock(pair__14__clock)
    );
    optireduce_nic__nic__lookup__key__0__found pair__15(
        .d(pair__15__d),
        .q(pair__15__q),
        .clock(pair__15__clock)
    );
    optireduce_nic__rx__sum__four__0 four__0(
        .d(four__0__d),
        .q(four__0__q),
        .clock(four__0__clock)
    );
    optireduce_nic__rx__sum__four__0 four__1(
        .d(four__1__d),
        .q(four__1__q),
        .clock(four__1__clock)
    );
    optireduce_nic__rx__sum__four__0 four__2(
        .d(four__2__d),
        .q(four__2__q),
        .clock(four__2__clock)
    );
    optireduce_nic__rx__sum__four__0 four__3(
        .d(four__3__d),
        .q(four__3__q),
        .clock(four__3__clock)
    );
    optireduce_nic__nic__planner__at beat(
        .d(beat__d),
        .q(beat__q),
        .clock(beat__clock)
    );
    optireduce_nic__nic__finisher__drain__multiplier__lane__0__result frame(
        .d(frame__d),
        .q(frame__q),
        .clock(frame__clock)
    );
    optireduce_nic__nic__lookup__key__0__found carried(
        .d(carried__d),
        .q(carried__q),
        .clock(carried__clock)
    );
    optireduce_nic__nic__finisher__drain__block_beats folded(
        .d(folded__d),
        .q(folded__q),
        .clock(folded__clock)
    );
    // Update code
    assign in_frame__clock = clock;
    assign held__clock = clock;
    assign beat__clock = clock;
    assign frame__clock = clock;
    assign carried__clock = clock;
    assign folded__clock = clock;
    assign passing__0__clock = clock;
    assign passing__1__clock = clock;
    assign passing__2__clock = clock;
    assign passing__3__clock = clock;
    assign passing__4__clock = clock;
    assign passing__5__clock = clock;
    assign pair__0__clock = clock;
    assign pair__1__clock = clock;
    assign pair__2__clock = clock;
    assign pair__3__clock = clock;
    assign pair__4__clock = clock;
    assign pair__5__clock = clock;
    assign pair__6__clock = clock;
    assign pair__7__clock = clock;
    assign pair__8__clock = clock;
    assign pair__9__clock = clock;
    assign pair__10__clock = clock;
    assign pair__11__clock = clock;
    assign pair__12__clock = clock;
    assign pair__13__clock = clock;
    assign pair__14__clock = clock;
    assign pair__15__clock = clock;
    assign four__0__clock = clock;
    assign four__1__clock = clock;
    assign four__2__clock = clock;
    assign four__3__clock = clock;
    always @(*) begin
        low__0 = data[(0 * 32'h20)+:(16)];
        if (~in_frame__q) begin
            low__0 = ((32'h1100) & 16'hffff);
        end
    end
    always @(*) begin
        high__0 = data[(0 * 32'h20 + 32'h10)+:(16)];
        if (~in_frame__q) begin
            high__0 = data[(32'h130)+:(16)];
        end
    end
    always @(*) begin
        low__1 = data[(1 * 32'h20)+:(16)];
        if (~in_frame__q) begin
            low__1 = ((32'h0) & 16'hffff);
        end
    end
    always @(*) begin
        high__1 = data[(1 * 32'h20 + 32'h10)+:(16)];
        if (~in_frame__q) begin
            high__1 = ((32'h0) & 16'hffff);
        end
    end
    always @(*) begin
        low__2 = data[(2 * 32'h20)+:(16)];
        if (~in_frame__q) begin
            low__2 = ((32'h0) & 16'hffff);
        end
    end
    always @(*) begin
        high__2 = data[(2 * 32'h20 + 32'h10)+:(16)];
        if (~in_frame__q) begin
            high__2 = ((32'h0) & 16'hffff);
        end
    end
    always @(*) begin
        low__3 = data[(3 * 32'h20)+:(16)];
        if (~in_frame__q) begin
            low__3 = ((32'h0) & 16'hffff);
        end
    end
    always @(*) begin
        high__3 = data[(3 * 32'h20 + 32'h10)+:(16)];
        if (~in_frame__q) begin
            high__3 = ((32'h0) & 16'hffff);
        end
    end
    always @(*) begin
        low__4 = data[(4 * 32'h20)+:(16)];
        if (~in_frame__q) begin
            low__4 = ((32'h0) & 16'hffff);
        end
    end
    always @(*) begin
        high__4 = data[(4 * 32'h20 + 32'h10)+:(16)];
        if (~in_frame__q) begin
            high__4 = ((32'h0) & 16'hffff);
        end
    end
    always @(*) begin
        low__5 = data[(5 * 32'h20)+:(16)];
        if (~in_frame__q) begin
            low__5 = ((32'h0) & 16'hffff);
        end
    end
    always @(*) begin
        high__5 = data[(5 * 32'h20 + 32'h10)+:(16)];
        if (~in_frame__q) begin
            high__5 = ((32'h0) & 16'hffff);
        end
    end
    always @(*) begin
        low__6 = data[(6 * 32'h20)+:(16)];
        if (~in_frame__q) begin
            low__6 = ((32'h0) & 16'hffff);
        end
    end
    assign high__6 = data[(6 * 32'h20 + 32'h10)+:(16)];
    assign low__7 = data[(7 * 32'h20)+:(16)];
    assign high__7 = data[(7 * 32'h20 + 32'h10)+:(16)];
    assign low__8 = data[(8 * 32'h20)+:(16)];
    assign high__8 = data[(8 * 32'h20 + 32'h10)+:(16)];
    assign low__9 = data[(9 * 32'h20)+:(16)];
    assign high__9 = data[(9 * 32'h20 + 32'h10)+:(16)];
    assign low__10 = data[(10 * 32'h20)+:(16)];
    assign high__10 = data[(10 * 32'h20 + 32'h10)+:(16)];
    assign low__11 = data[(11 * 32'h20)+:(16)];
    assign high__11 = data[(11 * 32'h20 + 32'h10)+:(16)];
    assign low__12 = data[(12 * 32'h20)+:(16)];
    assign high__12 = data[(12 * 32'h20 + 32'h10)+:(16)];
    assign low__13 = data[(13 * 32'h20)+:(16)];
    assign high__13 = data[(13 * 32'h20 + 32'h10)+:(16)];
    assign low__14 = data[(14 * 32'h20)+:(16)];
    assign high__14 = data[(14 * 32'h20 + 32'h10)+:(16)];
    assign low__15 = data[(15 * 32'h20)+:(16)];
    assign high__15 = data[(15 * 32'h20 + 32'h10)+:(16)];
    assign fragment = data[(32'ha0)+:(16)] & 32'hff3f;
    always @(*) begin
        checks = held__q;
        if (~in_frame__q) begin
            checks = (data[(32'h60)+:(16)] == 32'h8) && (data[(32'h70)+:(8)] == 32'h45) && (fragment == 32'h0) && (data[(32'hb8)+:(8)] == 32'h11) && (data[(32'h140)+:(16)] != 32'h0);
        end
    end
    always @(*) begin
        p[(64'h0)+:(1)] = valid;
        p[(64'h1)+:(1)] = ~in_frame__q;
        p[(64'h2)+:(1)] = last;
        p[(64'h3)+:(1)] = checks;
    end
    assign done = passing__5__q[(64'h0)+:(1)] && passing__5__q[(64'h2)+:(1)];
    assign checked = passing__5__q[(64'h3)+:(1)];
    assign total = folded__q;
    assign busy = passing__0__q[(64'h0)+:(1)] || passing__1__q[(64'h0)+:(1)] || passing__2__q[(64'h0)+:(1)] || passing__3__q[(64'h0)+:(1)] || passing__4__q[(64'h0)+:(1)] || passing__5__q[(64'h0)+:(1)];
    always @(*) begin
        in_frame__d = in_frame__q;
        held__d = held__q;
        beat__d = beat__q;
        frame__d = frame__q;
        carried__d = carried__q;
        folded__d = folded__q;
        if (valid) begin
            in_frame__d = ~last;
            held__d = checks;
        end
        pair__0__d = ((low__0) & 17'h1ffff) + ((high__0) & 17'h1ffff);
        pair__1__d = ((low__1) & 17'h1ffff) + ((high__1) & 17'h1ffff);
        pair__2__d = ((low__2) & 17'h1ffff) + ((high__2) & 17'h1ffff);
        pair__3__d = ((low__3) & 17'h1ffff) + ((high__3) & 17'h1ffff);
        pair__4__d = ((low__4) & 17'h1ffff) + ((high__4) & 17'h1ffff);
        pair__5__d = ((low__5) & 17'h1ffff) + ((high__5) & 17'h1ffff);
        pair__6__d = ((low__6) & 17'h1ffff) + ((high__6) & 17'h1ffff);
        pair__7__d = ((low__7) & 17'h1ffff) + ((high__7) & 17'h1ffff);
        pair__8__d = ((low__8) & 17'h1ffff) + ((high__8) & 17'h1ffff);
        pair__9__d = ((low__9) & 17'h1ffff) + ((high__9) & 17'h1ffff);
        pair__10__d = ((low__10) & 17'h1ffff) + ((high__10) & 17'h1ffff);
        pair__11__d = ((low__11) & 17'h1ffff) + ((high__11) & 17'h1ffff);
        pair__12__d = ((low__12) & 17'h1ffff) + ((high__12) & 17'h1ffff);
        pair__13__d = ((low__13) & 17'h1ffff) + ((high__13) & 17'h1ffff);
        pair__14__d = ((low__14) & 17'h1ffff) + ((high__14) & 17'h1ffff);
        pair__15__d = ((low__15) & 17'h1ffff) + ((high__15) & 17'h1ffff);
        four__0__d = (((pair__0__q) & 19'h7ffff) + ((pair__1__q) & 19'h7ffff)) + (((pair__2__q) & 19'h7ffff) + ((pair__3__q) & 19'h7ffff));
        four__1__d = (((pair__4__q) & 19'h7ffff) + ((pair__5__q) & 19'h7ffff)) + (((pair__6__q) & 19'h7ffff) + ((pair__7__q) & 19'h7ffff));
        four__2__d = (((pair__8__q) & 19'h7ffff) + ((pair__9__q) & 19'h7ffff)) + (((pair__10__q) & 19'h7ffff) + ((pair__11__q) & 19'h7ffff));
        four__3__d = (((pair__12__q) & 19'h7ffff) + ((pair__13__q) & 19'h7ffff)) + (((pair__14__q) & 19'h7ffff) + ((pair__15__q) & 19'h7ffff));
        beat__d = (((four__0__q) & 21'h1fffff) + ((four__1__q) & 21'h1fffff)) + (((four__2__q) & 21'h1fffff) + ((four__3__q) & 21'h1fffff));
        if (passing__2__q[(64'h0)+:(1)]) begin
            if (passing__2__q[(64'h1)+:(1)]) begin
                frame__d = ((beat__q) & 32'hffffffff);
            end
            else begin
                frame__d = frame__q + ((beat__q) & 32'hffffffff);
            end
        end
        carried__d = ((frame__q[(32'h0)+:(16)]) & 17'h1ffff) + ((frame__q[(32'h10)+:(16)]) & 17'h1ffff);
        folded__d = carried__q[(32'h0)+:(16)] + ((carried__q[(32'h10)+:(1)]) & 16'hffff);
        passing__0__d = p;
        passing__1__d = passing__0__q;
        passing__2__d = passing__1__q;
        passing__3__d = passing__2__q;
        passing__4__d = passing__3__q;
        passing__5__d = passing__4__q;
        if (reset) begin
            in_frame__d = 1'b0;
            passing__0__d[(64'h0)+:(1)] = 1'b0;
            passing__1__d[(64'h0)+:(1)] = 1'b0;
            passing__2__d[(64'h0)+:(1)] = 1'b0;
            passing__3__d[(64'h0)+:(1)] = 1'b0;
            passing__4__d[(64'h0)+:(1)] = 1'b0;
            passing__5__d[(64'h0)+:(1)] = 1'b0;
        end
    end
    wire unused__passing__5__q = &{passing__5__q[1]};
endmodule

module optireduce_nic__tx__sums(clock,clear,push,push_data,full,pop,pop_data,empty,room);
    // Module arguments
    input wire  clock;
    input wire  clear;
    input wire  push;
    input wire  [15:0] push_data;
    output wire  full;
    input wire  pop;
    output wire  [15:0] pop_data;
    output wire  empty;
    output wire  [15:0] room;
    // Constant declarations
    localparam  depth = 16'h100;
    // Stub signals
    wire  memory__clock;
    wire  [7:0] memory__read_address;
    wire  [15:0] memory__read_data;
    wire  [7:0] memory__write_address;
    wire  [15:0] memory__write_data;
    wire  memory__write_enable;
    reg  [47:0] state__d;
    wire  [47:0] state__q;
    wire  state__clock;
    // Local signals
    wire  pushed;
    wire  popped;
    wire  [15:0] head_next;
    wire  [15:0] tail_next;
    wire  [15:0] used_more;
    wire  [15:0] used_less;
    // Sub module instances
    optireduce_nic__tx__sums__memory memory(
        .clock(memory__clock),
        .read_address(memory__read_address),
        .read_data(memory__read_data),
        .write_address(memory__write_address),
        .write_data(memory__write_data),
        .write_enable(memory__write_enable)
    );
    optireduce_nic__nic__finisher__drain__inbox__state state(
        .d(state__d),
        .q(state__q),
        .clock(state__clock)
    );
    // Update code
    assign state__clock = clock;
    assign memory__clock = clock;
    assign full = state__q[(64'h20)+:(16)] == depth;
    assign empty = state__q[(64'h20)+:(16)] == 32'h0;
    assign room = depth - state__q[(64'h20)+:(16)];
    assign pushed = push && ~full;
    assign popped = pop && ~empty;
    assign memory__write_address = ((state__q[(64'h10)+:(16)]) & 8'hff);
    assign memory__write_data = push_data;
    assign memory__write_enable = pushed;
    assign memory__read_address = ((state__q[(64'h0)+:(16)]) & 8'hff);
    assign pop_data = memory__read_data;
    assign head_next = state__q[(64'h0)+:(16)] + 32'h1;
    assign tail_next = state__q[(64'h10)+:(16)] + 32'h1;
    assign used_more = state__q[(64'h20)+:(16)] + 32'h1;
    assign used_less = state__q[(64'h20)+:(16)] - 32'h1;
    always @(*) begin
        state__d = state__q;
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

module optireduce_nic__card_state(clock,now_ns,link,pci_id,build_id,read_address,read_data);
    // Module arguments
    input wire  clock;
    input wire  [47:0] now_ns;
    input wire  [2:0] link;
    input wire  [31:0] pci_id;
    input wire  [31:0] build_id;
    input wire  [9:0] read_address;
    output wire  [31:0] read_data;
    // Stub signals
    reg  [31:0] value__d;
    wire  [31:0] value__q;
    wire  value__clock;
    // Local signals
    wire  known;
    wire  [1:0] state;
    // Sub module instances
    optireduce_nic__nic__finisher__drain__multiplier__lane__0__result value(
        .d(value__d),
        .q(value__q),
        .clock(value__clock)
    );
    // Update code
    assign value__clock = clock;
    assign known = link[(32'h2)+:(1)];
    assign state = link[(32'h0)+:(2)];
    assign read_data = value__q;
    always @(*) begin
        value__d = value__q;
        value__d = ((32'h0) & 32'hffffffff);
        if (read_address == 32'h12) begin
            value__d = now_ns[(32'h0)+:(32)];
        end
        else if (read_address == 32'h13) begin
            value__d = ((now_ns[(32'h20)+:(16)]) & 32'hffffffff);
        end
        else if (read_address == 32'h14) begin
            if (known == 32'h1) begin
                value__d = ((state) & 32'hffffffff) | 64'h80000000;
            end
        end
        else if (read_address == 32'h15) begin
            value__d = pci_id;
        end
        else if (read_address == 32'h16) begin
            value__d = build_id;
        end
    end
endmodule

module optireduce_nic__filter(clock,reset,job,write,write_address,write_data,read_address,read_data,rx_valid,rx_data,rx_last,in_valid,in_last,in_error,in_partial,answered,checksum,valid,error);
    // Module arguments
    input wire  clock;
    input wire  reset;
    input wire  [175:0] job;
    input wire  write;
    input wire  [9:0] write_address;
    input wire  [31:0] write_data;
    input wire  [9:0] read_address;
    output wire  [31:0] read_data;
    input wire  rx_valid;
    input wire  [511:0] rx_data;
    input wire  rx_last;
    input wire  in_valid;
    input wire  in_last;
    input wire  in_error;
    input wire  in_partial;
    input wire  answered;
    output wire  checksum;
    output wire  valid;
    output wire  error;
    // Stub signals
    wire  peers__clock;
    wire  [5:0] peers__read_address;
    wire  [31:0] peers__read_data;
    wire  [5:0] peers__write_address;
    wire  [31:0] peers__write_data;
    wire  peers__write_enable;
    reg  in_frame__d;
    wire  in_frame__q;
    wire  in_frame__clock;
    reg  [7:0] found__0__d;
    wire  [7:0] found__0__q;
    wire  found__0__clock;
    reg  [7:0] found__1__d;
    wire  [7:0] found__1__q;
    wire  found__1__clock;
    reg  [7:0] found__2__d;
    wire  [7:0] found__2__q;
    wire  found__2__clock;
    reg  [7:0] found__3__d;
    wire  [7:0] found__3__q;
    wire  found__3__clock;
    reg  [7:0] found__4__d;
    wire  [7:0] found__4__q;
    wire  found__4__clock;
    reg  [7:0] found__5__d;
    wire  [7:0] found__5__q;
    wire  found__5__clock;
    reg  [7:0] held__d;
    wire  [7:0] held__q;
    wire  held__clock;
    reg  [5:0] sender__d;
    wire  [5:0] sender__q;
    wire  sender__clock;
    reg  [31:0] source__0__d;
    wire  [31:0] source__0__q;
    wire  source__0__clock;
    reg  [31:0] source__1__d;
    wire  [31:0] source__1__q;
    wire  source__1__clock;
    reg  [31:0] expected__d;
    wire  [31:0] expected__q;
    wire  expected__clock;
    reg  [16:0] pair__0__d;
    wire  [16:0] pair__0__q;
    wire  pair__0__clock;
    reg  [16:0] pair__1__d;
    wire  [16:0] pair__1__q;
    wire  pair__1__clock;
    reg  [16:0] pair__2__d;
    wire  [16:0] pair__2__q;
    wire  pair__2__clock;
    reg  [16:0] pair__3__d;
    wire  [16:0] pair__3__q;
    wire  pair__3__clock;
    reg  [16:0] pair__4__d;
    wire  [16:0] pair__4__q;
    wire  pair__4__clock;
    reg  [17:0] four__0__d;
    wire  [17:0] four__0__q;
    wire  four__0__clock;
    reg  [17:0] four__1__d;
    wire  [17:0] four__1__q;
    wire  four__1__clock;
    reg  [16:0] fifth__d;
    wire  [16:0] fifth__q;
    wire  fifth__clock;
    reg  [19:0] sum__d;
    wire  [19:0] sum__q;
    wire  sum__clock;
    reg  [16:0] carried__d;
    wire  [16:0] carried__q;
    wire  carried__clock;
    reg  [15:0] folded__d;
    wire  [15:0] folded__q;
    wire  folded__clock;
    reg  [1:0] st__d;
    wire  [1:0] st__q;
    wire  st__clock;
    reg  [223:0] counters__d;
    wire  [223:0] counters__q;
    wire  counters__clock;
    reg  [31:0] value__d;
    wire  [31:0] value__q;
    wire  value__clock;
    // Local signals
    wire  [511:0] h;
    reg  [7:0] f;
    wire  [15:0] word__0;
    wire  [15:0] word__1;
    wire  [15:0] word__2;
    wire  [15:0] word__3;
    wire  [15:0] word__4;
    wire  [15:0] word__5;
    wire  [15:0] word__6;
    wire  [15:0] word__7;
    wire  [15:0] word__8;
    wire  [15:0] word__9;
    wire  [15:0] fragment;
    wire  [15:0] total;
    wire  [15:0] payload;
    wire  [15:0] longest;
    wire  [15:0] from;
    wire  [7:0] version_stage;
    wire  [3:0] version;
    reg  [7:0] v;
    wire  drops;
    wire  counts;
    wire  ends;
    wire  swallows;
    // Sub module instances
    optireduce_nic__nic__builder__peer_ip peers(
        .clock(peers__clock),
        .read_address(peers__read_address),
        .read_data(peers__read_data),
        .write_address(peers__write_address),
        .write_data(peers__write_data),
        .write_enable(peers__write_enable)
    );
    optireduce_nic__nic__finisher__drain__side__0 in_frame(
        .d(in_frame__d),
        .q(in_frame__q),
        .clock(in_frame__clock)
    );
    optireduce_nic__nic__gather__arrivals__asked_epoch found__0(
        .d(found__0__d),
        .q(found__0__q),
        .clock(found__0__clock)
    );
    optireduce_nic__nic__gather__arrivals__asked_epoch found__1(
        .d(found__1__d),
        .q(found__1__q),
        .clock(found__1__clock)
    );
    optireduce_nic__nic__gather__arrivals__asked_epoch found__2(
        .d(found__2__d),
        .q(found__2__q),
        .clock(found__2__clock)
    );
    optireduce_nic__nic__gather__arrivals__asked_epoch found__3(
        .d(found__3__d),
        .q(found__3__q),
        .clock(found__3__clock)
    );
    optireduce_nic__nic__gather__arrivals__asked_epoch found__4(
        .d(found__4__d),
        .q(found__4__q),
        .clock(found__4__clock)
    );
    optireduce_nic__nic__gather__arrivals__asked_epoch found__5(
        .d(found__5__d),
        .q(found__5__q),
        .clock(found__5__clock)
    );
    optireduce_nic__nic__gather__arrivals__asked_epoch held(
        .d(held__d),
        .q(held__q),
        .clock(held__clock)
    );
    optireduce_nic__filter__sender sender(
        .d(sender__d),
        .q(sender__q),
        .clock(sender__clock)
    );
    optireduce_nic__nic__finisher__drain__multiplier__lane__0__result source__0(
        .d(source__0__d),
        .q(source__0__q),
        .clock(source__0__clock)
    );
    optireduce_nic__nic__finisher__drain__multiplier__lane__0__result source__1(
        .d(source__1__d),
        .q(source__1__q),
        .clock(source__1__clock)
    );
    optireduce_nic__nic__finisher__drain__multiplier__lane__0__result expected(
        .d(expected__d),
        .q(expected__q),
        .clock(expected__clock)
    );
    optireduce_nic__nic__lookup__key__0__found pair__0(
        .d(pair__0__d),
        .q(pair__0__q),
        .clock(pair__0__clock)
    );
    optireduce_nic__nic__lookup__key__0__found pair__1(
        .d(pair__1__d),
        .q(pair__1__q),
        .clock(pair__1__clock)
    );
    optireduce_nic__nic__lookup__key__0__found pair__2(
        .d(pair__2__d),
        .q(pair__2__q),
        .clock(pair__2__clock)
    );
    optireduce_nic__nic__lookup__key__0__found pair__3(
        .d(pair__3__d),
        .q(pair__3__q),
        .clock(pair__3__clock)
    );
    optireduce_nic__nic__lookup__key__0__found pair__4(
        .d(pair__4__d),
        .q(pair__4__q),
        .clock(pair__4__clock)
    );
    optireduce_nic__nic__gather__arrivals__heard four__0(
        .d(four__0__d),
        .q(four__0__q),
        .clock(four__0__clock)
    );
    optireduce_nic__nic__gather__arrivals__heard four__1(
        .d(four__1__d),
        .q(four__1__q),
        .clock(four__1__clock)
    );
    optireduce_nic__nic__lookup__key__0__found fifth(
        .d(fifth__d),
        .q(fifth__q),
        .clock(fifth__clock)
    );
    optireduce_nic__nic__builder__own_sum sum(
        .d(sum__d),
        .q(sum__q),
        .clock(sum__clock)
    );
    optireduce_nic__nic__lookup__key__0__found carried(
        .d(carried__d),
        .q(carried__q),
        .clock(carried__clock)
    );
    optireduce_nic__nic__finisher__drain__block_beats folded(
        .d(folded__d),
        .q(folded__q),
        .clock(folded__clock)
    );
    optireduce_nic__nic__finisher__msix__at st(
        .d(st__d),
        .q(st__q),
        .clock(st__clock)
    );
    optireduce_nic__filter__counters counters(
        .d(counters__d),
        .q(counters__q),
        .clock(counters__clock)
    );
    optireduce_nic__nic__finisher__drain__multiplier__lane__0__result value(
        .d(value__d),
        .q(value__q),
        .clock(value__clock)
    );
    // Update code
    assign in_frame__clock = clock;
    assign held__clock = clock;
    assign sender__clock = clock;
    assign expected__clock = clock;
    assign fifth__clock = clock;
    assign sum__clock = clock;
    assign carried__clock = clock;
    assign folded__clock = clock;
    assign st__clock = clock;
    assign counters__clock = clock;
    assign value__clock = clock;
    assign found__0__clock = clock;
    assign found__1__clock = clock;
    assign found__2__clock = clock;
    assign found__3__clock = clock;
    assign found__4__clock = clock;
    assign found__5__clock = clock;
    assign pair__0__clock = clock;
    assign pair__1__clock = clock;
    assign pair__2__clock = clock;
    assign pair__3__clock = clock;
    assign pair__4__clock = clock;
    assign source__0__clock = clock;
    assign four__0__clock = clock;
    assign source__1__clock = clock;
    assign four__1__clock = clock;
    assign h = ((rx_data) & 512'hffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff);
    assign fragment = h[(64'ha0)+:(16)] & 32'hff3f;
    assign total = (((h[(64'h80)+:(8)]) & 16'hffff) << 32'h8) | ((h[(64'h88)+:(8)]) & 16'hffff);
    assign payload = ((job[(64'h48)+:(8)]) & 16'hffff) << 32'h6;
    assign longest = payload + 32'h32;
    assign from = (((h[(64'h1a0)+:(8)]) & 16'hffff) << 32'h8) | ((h[(64'h1a8)+:(8)]) & 16'hffff);
    assign version_stage = h[(64'h198)+:(8)];
    assign version = version_stage[(32'h4)+:(4)];
    always @(*) begin
        f[(64'h0)+:(1)] = rx_valid && ~in_frame__q;
        f[(64'h1)+:(1)] = (h[(64'h60)+:(16)] != 32'h8) || (h[(64'h70)+:(8)] != 32'h45) || (fragment != 32'h0) || (h[(64'hb8)+:(8)] != 32'h11) || (h[(64'h120)+:(16)] != job[(64'h50)+:(16)]);
        f[(64'h2)+:(1)] = h[(64'h0)+:(48)] != job[(64'h80)+:(48)];
        f[(64'h3)+:(1)] = 1'b0;
        f[(64'h4)+:(1)] = h[(64'hf0)+:(32)] != job[(64'h60)+:(32)];
        f[(64'h5)+:(1)] = (version == 32'h1) && (h[(64'h1c0)+:(64)] == job[(64'h8)+:(64)]) && (from < ((job[(64'h1)+:(7)]) & 16'hffff));
        f[(64'h6)+:(1)] = 1'b0;
        f[(64'h7)+:(1)] = total > longest;
    end
    assign peers__clock = clock;
    assign peers__write_enable = write && (write_address[(32'h8)+:(2)] == 32'h1) && (write_address[(32'h0)+:(2)] == 32'h0);
    assign peers__write_address = write_address[(32'h2)+:(6)];
    assign peers__write_data = write_data;
    assign peers__read_address = sender__q;
    assign word__0 = rx_data[(0 * 32'h10 + 32'h70)+:(16)];
    assign word__1 = rx_data[(1 * 32'h10 + 32'h70)+:(16)];
    assign word__2 = rx_data[(2 * 32'h10 + 32'h70)+:(16)];
    assign word__3 = rx_data[(3 * 32'h10 + 32'h70)+:(16)];
    assign word__4 = rx_data[(4 * 32'h10 + 32'h70)+:(16)];
    assign word__5 = rx_data[(5 * 32'h10 + 32'h70)+:(16)];
    assign word__6 = rx_data[(6 * 32'h10 + 32'h70)+:(16)];
    assign word__7 = rx_data[(7 * 32'h10 + 32'h70)+:(16)];
    assign word__8 = rx_data[(8 * 32'h10 + 32'h70)+:(16)];
    assign word__9 = rx_data[(9 * 32'h10 + 32'h70)+:(16)];
    always @(*) begin
        v = held__q;
        if (found__5__q[(64'h0)+:(1)]) begin
            v = found__5__q;
        end
    end
    assign checksum = v[(64'h3)+:(1)];
    assign drops = v[(64'h1)+:(1)] || v[(64'h2)+:(1)] || v[(64'h3)+:(1)] || v[(64'h4)+:(1)] || v[(64'h6)+:(1)] || v[(64'h7)+:(1)];
    assign counts = job[(64'h0)+:(1)] && ~st__q[(64'h1)+:(1)];
    assign ends = in_valid && in_last;
    assign swallows = ends && drops && ~in_error && counts;
    assign valid = in_valid && (~drops || (in_last && in_error && counts));
    assign error = in_error || in_partial;
    assign read_data = value__q;
    always @(*) begin
        in_frame__d = in_frame__q;
        held__d = held__q;
        sender__d = sender__q;
        expected__d = expected__q;
        fifth__d = fifth__q;
        sum__d = sum__q;
        carried__d = carried__q;
        folded__d = folded__q;
        st__d = st__q;
        counters__d = counters__q;
        value__d = value__q;
        if (rx_valid) begin
            in_frame__d = ~rx_last;
        end
        sender__d = from[(32'h0)+:(6)];
        expected__d = peers__read_data;
        source__0__d = h[(64'hd0)+:(32)];
        source__1__d = source__0__q;
        pair__0__d = ((word__0) & 17'h1ffff) + ((word__1) & 17'h1ffff);
        pair__1__d = ((word__2) & 17'h1ffff) + ((word__3) & 17'h1ffff);
        pair__2__d = ((word__4) & 17'h1ffff) + ((word__5) & 17'h1ffff);
        pair__3__d = ((word__6) & 17'h1ffff) + ((word__7) & 17'h1ffff);
        pair__4__d = ((word__8) & 17'h1ffff) + ((word__9) & 17'h1ffff);
        four__0__d = ((pair__0__q) & 18'h3ffff) + ((pair__1__q) & 18'h3ffff);
        four__1__d = ((pair__2__q) & 18'h3ffff) + ((pair__3__q) & 18'h3ffff);
        fifth__d = pair__4__q;
        sum__d = (((four__0__q) & 20'hfffff) + ((four__1__q) & 20'hfffff)) + ((fifth__q) & 20'hfffff);
        carried__d = ((sum__q[(32'h0)+:(16)]) & 17'h1ffff) + ((sum__q[(32'h10)+:(4)]) & 17'h1ffff);
        folded__d = carried__q[(32'h0)+:(16)] + ((carried__q[(32'h10)+:(1)]) & 16'hffff);
        found__0__d = f;
        found__1__d = found__0__q;
        found__2__d = found__1__q;
        found__3__d = found__2__q;
        found__4__d = found__3__q;
        found__5__d = found__4__q;
        found__2__d[(64'h6)+:(1)] = found__1__q[(64'h5)+:(1)] && (expected__q != source__1__q);
        found__5__d[(64'h3)+:(1)] = folded__q != 32'hffff;
        held__d = v;
        if (in_valid) begin
            st__d[(64'h0)+:(1)] = ~in_last;
            if (in_last) begin
                st__d[(64'h1)+:(1)] = 1'b0;
            end
        end
        if (~job[(64'h0)+:(1)]) begin
            st__d[(64'h1)+:(1)] = st__q[(64'h0)+:(1)];
            if (in_valid) begin
                st__d[(64'h1)+:(1)] = ~in_last;
            end
        end
        if (swallows) begin
            counters__d[(64'h0)+:(32)] = counters__q[(64'h0)+:(32)] + 32'h1;
            if (~answered) begin
                if (v[(64'h1)+:(1)]) begin
                    counters__d[(64'h20)+:(32)] = counters__q[(64'h20)+:(32)] + 32'h1;
                end
                else if (v[(64'h2)+:(1)]) begin
                    counters__d[(64'h40)+:(32)] = counters__q[(64'h40)+:(32)] + 32'h1;
                end
                else if (v[(64'h3)+:(1)]) begin
                    counters__d[(64'h60)+:(32)] = counters__q[(64'h60)+:(32)] + 32'h1;
                end
                else if (v[(64'h4)+:(1)]) begin
                    counters__d[(64'h80)+:(32)] = counters__q[(64'h80)+:(32)] + 32'h1;
                end
                else if (v[(64'h6)+:(1)]) begin
                    counters__d[(64'ha0)+:(32)] = counters__q[(64'ha0)+:(32)] + 32'h1;
                end
                else begin
                    counters__d[(64'hc0)+:(32)] = counters__q[(64'hc0)+:(32)] + 32'h1;
                end
            end
        end
        if (~job[(64'h0)+:(1)]) begin
            counters__d[(64'h0)+:(32)] = ((32'h0) & 32'hffffffff);
            counters__d[(64'h20)+:(32)] = ((32'h0) & 32'hffffffff);
            counters__d[(64'h40)+:(32)] = ((32'h0) & 32'hffffffff);
            counters__d[(64'h60)+:(32)] = ((32'h0) & 32'hffffffff);
            counters__d[(64'h80)+:(32)] = ((32'h0) & 32'hffffffff);
            counters__d[(64'ha0)+:(32)] = ((32'h0) & 32'hffffffff);
            counters__d[(64'hc0)+:(32)] = ((32'h0) & 32'hffffffff);
        end
        value__d = ((32'h0) & 32'hffffffff);
        if (read_address == 32'h20) begin
            value__d = counters__q[(64'h0)+:(32)];
        end
        else if (read_address == 32'h23) begin
            value__d = counters__q[(64'h20)+:(32)];
        end
        else if (read_address == 32'h2e) begin
            value__d = counters__q[(64'h40)+:(32)];
        end
        else if (read_address == 32'h2f) begin
            value__d = counters__q[(64'h60)+:(32)];
        end
        else if (read_address == 32'h30) begin
            value__d = counters__q[(64'h80)+:(32)];
        end
        else if (read_address == 32'h31) begin
            value__d = counters__q[(64'ha0)+:(32)];
        end
        else if (read_address == 32'h32) begin
            value__d = counters__q[(64'hc0)+:(32)];
        end
        if (reset) begin
            in_frame__d = 1'b0;
            st__d[(64'h0)+:(1)] = 1'b0;
            st__d[(64'h1)+:(1)] = 1'b0;
        end
    end
    wire unused__h = &{h[447:432], h[407:304], h[287:272], h[207:192], h[183:176], h[159:144], h[127:120], h[95:48]};
    wire unused__version_stage = &{version_stage[3:0]};
endmodule

module optireduce_nic__job_copy(clock,reset,write,write_address,write_data,job);
    // Module arguments
    input wire  clock;
    input wire  reset;
    input wire  write;
    input wire  [9:0] write_address;
    input wire  [31:0] write_data;
    output reg  [175:0] job;
    // Stub signals
    reg  [175:0] host__d;
    wire  [175:0] host__q;
    wire  host__clock;
    // Sub module instances
    optireduce_nic__job_copy__host host(
        .d(host__d),
        .q(host__q),
        .clock(host__clock)
    );
    // Update code
    assign host__clock = clock;
    always @(*) begin
        job[(64'h0)+:(1)] = host__q[(64'h0)+:(1)];
        job[(64'h1)+:(7)] = host__q[(64'h1)+:(7)];
        job[(64'h8)+:(64)] = (((host__q[(64'h28)+:(32)]) & 64'hffffffffffffffff) << 32'h20) | ((host__q[(64'h8)+:(32)]) & 64'hffffffffffffffff);
        job[(64'h48)+:(8)] = host__q[(64'h48)+:(8)];
        job[(64'h50)+:(16)] = host__q[(64'h50)+:(16)];
        job[(64'h60)+:(32)] = host__q[(64'h60)+:(32)];
        job[(64'h80)+:(48)] = (((host__q[(64'ha0)+:(16)]) & 48'hffffffffffff) << 32'h20) | ((host__q[(64'h80)+:(32)]) & 48'hffffffffffff);
    end
    always @(*) begin
        host__d = host__q;
        if (write) begin
            if (write_address == 32'h40) begin
                host__d[(64'h0)+:(1)] = write_data[32'h0];
            end
            else if (write_address == 32'h43) begin
                host__d[(64'h1)+:(7)] = write_data[(32'h0)+:(7)];
            end
            else if (write_address == 32'h44) begin
                host__d[(64'h8)+:(32)] = write_data;
            end
            else if (write_address == 32'h45) begin
                host__d[(64'h28)+:(32)] = write_data;
            end
            else if (write_address == 32'h46) begin
                host__d[(64'h48)+:(8)] = write_data[(32'h0)+:(8)];
            end
            else if (write_address == 32'h47) begin
                host__d[(64'h50)+:(16)] = write_data[(32'h0)+:(16)];
            end
            else if (write_address == 32'h48) begin
                host__d[(64'h60)+:(32)] = write_data;
            end
            else if (write_address == 32'h49) begin
                host__d[(64'h80)+:(32)] = write_data;
            end
            else if (write_address == 32'h4a) begin
                host__d[(64'ha0)+:(16)] = write_data[(32'h0)+:(16)];
            end
        end
        if (reset) begin
            host__d[(64'h0)+:(1)] = 1'b0;
        end
    end
endmodule

module optireduce_nic__merge(clock,reset,valid,data,last,error,ready,answer_valid,answer_data,answer_last,answer_ready,tx_valid,tx_data,tx_last,tx_error,tx_ready);
    // Module arguments
    input wire  clock;
    input wire  reset;
    input wire  valid;
    input wire  [511:0] data;
    input wire  last;
    input wire  error;
    output wire  ready;
    input wire  answer_valid;
    input wire  [511:0] answer_data;
    input wire  answer_last;
    output wire  answer_ready;
    output wire  tx_valid;
    output reg  [511:0] tx_data;
    output reg  tx_last;
    output reg  tx_error;
    input wire  tx_ready;
    // Stub signals
    reg  [1:0] turn__d;
    wire  [1:0] turn__q;
    wire  turn__clock;
    // Local signals
    reg  answers;
    reg  offer;
    reg  ends;
    // Sub module instances
    optireduce_nic__nic__finisher__msix__at turn(
        .d(turn__d),
        .q(turn__q),
        .clock(turn__clock)
    );
    // Update code
    assign turn__clock = clock;
    always @(*) begin
        answers = answer_valid;
        if (turn__q[(64'h0)+:(1)]) begin
            answers = turn__q[(64'h1)+:(1)];
        end
    end
    always @(*) begin
        offer = valid;
        if (answers) begin
            offer = answer_valid;
        end
    end
    always @(*) begin
        ends = last && tx_ready;
        if (answers) begin
            ends = answer_last && tx_ready;
        end
    end
    always @(*) begin
        tx_data = data;
        if (answers) begin
            tx_data = answer_data;
        end
    end
    always @(*) begin
        tx_last = last;
        if (answers) begin
            tx_last = answer_last;
        end
    end
    always @(*) begin
        tx_error = error;
        if (answers) begin
            tx_error = 1'b0;
        end
    end
    assign tx_valid = offer;
    assign ready = tx_ready && ~answers;
    assign answer_ready = tx_ready && answers;
    always @(*) begin
        turn__d = turn__q;
        turn__d[(64'h1)+:(1)] = answers;
        if (offer) begin
            turn__d[(64'h0)+:(1)] = ~ends;
        end
        if (reset) begin
            turn__d[(64'h0)+:(1)] = 1'b0;
        end
    end
endmodule

module optireduce_nic__nic(clock,reset,now_ns,reg_write,reg_write_address,reg_write_data,reg_read_address,reg_read_data,msix_valid,msix_vector,msix_ready,axi_ar_valid,axi_ar_address,axi_ar_beats,axi_ar_ready,axi_r_valid,axi_r_data,axi_r_last,axi_r_error,axi_r_ready,axi_aw_valid,axi_aw_address,axi_aw_beats,axi_aw_ready,axi_w_valid,axi_w_data,axi_w_last,axi_w_ready,axi_b_valid,axi_b_error,rx_valid,rx_data,rx_last,rx_error,tx_valid,tx_data,tx_last,tx_error,tx_ready,asleep,timer_ns,trace_arm,trace_cookie,trace_sum,trace_sum_place,trace_mean,trace_mean_place,trace_contribute_open,trace_broadcast_open);
    // Module arguments
    input wire  clock;
    input wire  reset;
    input wire  [47:0] now_ns;
    input wire  reg_write;
    input wire  [9:0] reg_write_address;
    input wire  [31:0] reg_write_data;
    input wire  [9:0] reg_read_address;
    output wire  [31:0] reg_read_data;
    output wire  msix_valid;
    output wire  [1:0] msix_vector;
    input wire  msix_ready;
    output wire  axi_ar_valid;
    output wire  [63:0] axi_ar_address;
    output wire  [6:0] axi_ar_beats;
    input wire  axi_ar_ready;
    input wire  axi_r_valid;
    input wire  [511:0] axi_r_data;
    input wire  axi_r_last;
    input wire  axi_r_error;
    output wire  axi_r_ready;
    output wire  axi_aw_valid;
    output wire  [63:0] axi_aw_address;
    output wire  [6:0] axi_aw_beats;
    input wire  axi_aw_ready;
    output wire  axi_w_valid;
    output wire  [511:0] axi_w_data;
    output wire  axi_w_last;
    input wire  axi_w_ready;
    input wire  axi_b_valid;
    input wire  axi_b_error;
    input wire  rx_valid;
    input wire  [511:0] rx_data;
    input wire  rx_last;
    input wire  rx_error;
    output wire  tx_valid;
    output wire  [511:0] tx_data;
    output wire  tx_last;
    output wire  tx_error;
    input wire  tx_ready;
    output wire  asleep;
    output wire  [47:0] timer_ns;
    output wire  [7:0] trace_arm;
    output wire  [31:0] trace_cookie;
    output wire  trace_sum;
    output wire  [22:0] trace_sum_place;
    output wire  trace_mean;
    output wire  [22:0] trace_mean_place;
    output wire  [7:0] trace_contribute_open;
    output wire  [7:0] trace_broadcast_open;
    // Stub signals
    wire  registers__clock;
    wire  registers__reset;
    wire  registers__clear;
    wire  registers__busy;
    wire  registers__write;
    wire  [9:0] registers__write_address;
    wire  [31:0] registers__write_data;
    wire  [9:0] registers__read_address;
    wire  [31:0] registers__read_data;
    wire  [15:0] registers__sq_head__0;
    wire  [15:0] registers__sq_head__1;
    wire  [15:0] registers__sq_head__2;
    wire  [15:0] registers__sq_head__3;
    wire  [15:0] registers__cq_tail__0;
    wire  [15:0] registers__cq_tail__1;
    wire  [15:0] registers__cq_tail__2;
    wire  [15:0] registers__cq_tail__3;
    wire  registers__dma_fault;
    wire  [3:0] registers__stop;
    wire  [15:0] registers__events;
    wire  registers__enable;
    wire  [199:0] registers__job;
    wire  [3:0] registers__usable;
    wire  [1:0] registers__sq_queue;
    wire  [63:0] registers__sq_base;
    wire  [15:0] registers__sq_mask;
    wire  [15:0] registers__sq_tail__0;
    wire  [15:0] registers__sq_tail__1;
    wire  [15:0] registers__sq_tail__2;
    wire  [15:0] registers__sq_tail__3;
    wire  [1:0] registers__cq_queue;
    wire  [63:0] registers__cq_base;
    wire  [15:0] registers__cq_mask__0;
    wire  [15:0] registers__cq_mask__1;
    wire  [15:0] registers__cq_mask__2;
    wire  [15:0] registers__cq_mask__3;
    wire  [15:0] registers__cq_head__0;
    wire  [15:0] registers__cq_head__1;
    wire  [15:0] registers__cq_head__2;
    wire  [15:0] registers__cq_head__3;
    wire  registers__peer_write;
    wire  [7:0] registers__peer_word;
    wire  restart__clock;
    wire  restart__enable;
    wire  restart__owed;
    wire  restart__clear;
    wire  restart__busy;
    wire  guard__clock;
    wire  guard__clear;
    wire  guard__reset;
    wire  guard__valid;
    wire  [512:0] guard__beat;
    wire  guard__ready;
    wire  guard__tx_valid;
    wire  [511:0] guard__tx_data;
    wire  guard__tx_last;
    wire  guard__tx_error;
    wire  guard__tx_ready;
    wire  guard__busy;
    wire  dma_read__clock;
    wire  dma_read__clear;
    wire  dma_read__reset;
    wire  dma_read__submit_valid;
    wire  [63:0] dma_read__submit_address;
    wire  dma_read__submit_ready;
    wire  dma_read__submit_beat;
    wire  dma_read__contribute_valid;
    wire  [63:0] dma_read__contribute_address;
    wire  [6:0] dma_read__contribute_beats;
    wire  [2:0] dma_read__contribute_slot;
    wire  dma_read__contribute_ready;
    wire  dma_read__contribute_beat;
    wire  dma_read__contribute_take;
    wire  [7:0] dma_read__unread;
    wire  dma_read__ar_valid;
    wire  [63:0] dma_read__ar_address;
    wire  [6:0] dma_read__ar_beats;
    wire  dma_read__ar_ready;
    wire  dma_read__r_valid;
    wire  dma_read__r_last;
    wire  dma_read__r_error;
    wire  dma_read__r_ready;
    wire  dma_read__busy;
    wire  submit__clock;
    wire  submit__clear;
    wire  [199:0] submit__job;
    wire  [3:0] submit__usable;
    wire  [1:0] submit__sq_queue;
    wire  [63:0] submit__sq_base;
    wire  [15:0] submit__sq_mask;
    wire  [15:0] submit__sq_tail__0;
    wire  [15:0] submit__sq_tail__1;
    wire  [15:0] submit__sq_tail__2;
    wire  [15:0] submit__sq_tail__3;
    wire  [15:0] submit__sq_head__0;
    wire  [15:0] submit__sq_head__1;
    wire  [15:0] submit__sq_head__2;
    wire  [15:0] submit__sq_head__3;
    wire  [3:0] submit__stop;
    wire  submit__ar_valid;
    wire  [63:0] submit__ar_address;
    wire  submit__ar_ready;
    wire  submit__r_valid;
    wire  [511:0] submit__r_data;
    wire  submit__r_error;
    wire  [7:0] submit__arm;
    wire  [2:0] submit__arm_slot;
    wire  [404:0] submit__arm_context;
    wire  [172:0] submit__contribute_rules;
    wire  [172:0] submit__broadcast_rules;
    wire  [7:0] submit__enter;
    wire  [19:0] submit__advert;
    wire  submit__order_valid;
    wire  [81:0] submit__order;
    wire  submit__order_ready;
    wire  submit__send_valid;
    wire  [4:0] submit__send;
    wire  submit__send_ready;
    wire  [7:0] submit__scaled;
    wire  [7:0] submit__freed;
    wire  submit__scrub;
    wire  [2:0] submit__scrub_slot;
    wire  submit__scrub_busy;
    wire  [7:0] submit__finishing;
    wire  [7:0] submit__ordering;
    wire  [3:0] submit__refuse_ready;
    wire  submit__refuse;
    wire  [49:0] submit__refusal;
    wire  submit__working;
    wire  contribute__clock;
    wire  contribute__clear;
    wire  [199:0] contribute__job;
    wire  [7:0] contribute__arm;
    wire  [2:0] contribute__arm_slot;
    wire  [404:0] contribute__arm_context;
    wire  contribute__order_valid;
    wire  [81:0] contribute__order;
    wire  contribute__order_ready;
    wire  contribute__ar_valid;
    wire  [63:0] contribute__ar_address;
    wire  [6:0] contribute__ar_beats;
    wire  [2:0] contribute__ar_slot;
    wire  contribute__ar_ready;
    wire  contribute__r_valid;
    wire  [511:0] contribute__r_data;
    wire  contribute__r_ready;
    wire  contribute__own_valid;
    wire  [556:0] contribute__own;
    wire  contribute__own_ready;
    wire  contribute__send_valid;
    wire  [4:0] contribute__send;
    wire  contribute__send_ready;
    wire  [14:0] contribute__filled_low;
    wire  [14:0] contribute__filled_high;
    wire  contribute__read_valid;
    wire  [16:0] contribute__read_address;
    wire  [511:0] contribute__read_data;
    wire  [1:0] contribute__sent;
    wire  [7:0] contribute__held;
    wire  contribute__working;
    wire  contribute__emptying;
    wire  planner__clock;
    wire  planner__clear;
    wire  [199:0] planner__job;
    wire  [47:0] planner__now_ns;
    wire  planner__peer_write;
    wire  [7:0] planner__peer_word;
    wire  [31:0] planner__peer_data;
    wire  [7:0] planner__arm;
    wire  [2:0] planner__arm_slot;
    wire  [404:0] planner__arm_context;
    wire  [7:0] planner__enter;
    wire  [19:0] planner__advert;
    wire  planner__contribute_valid;
    wire  [4:0] planner__contribute;
    wire  planner__contribute_ready;
    wire  [14:0] planner__filled_low;
    wire  [14:0] planner__filled_high;
    wire  planner__broadcast_valid;
    wire  [4:0] planner__broadcast;
    wire  planner__ask_valid;
    wire  [16:0] planner__ask_address;
    wire  planner__ask_ready;
    wire  [519:0] planner__word;
    wire  planner__valid;
    wire  [115:0] planner__order;
    reg  planner__ready;
    wire  planner__working;
    wire  builder__clock;
    wire  builder__clear;
    wire  [199:0] builder__job;
    wire  builder__peer_write;
    wire  [7:0] builder__peer_word;
    wire  [31:0] builder__peer_data;
    wire  builder__order_valid;
    wire  [115:0] builder__order;
    wire  builder__order_ready;
    wire  builder__buffer_valid;
    wire  [16:0] builder__buffer_address;
    wire  [511:0] builder__buffer_data;
    wire  builder__gather_valid;
    wire  [16:0] builder__gather_address;
    wire  [519:0] builder__gather_word;
    wire  [1:0] builder__sent_bank;
    wire  [7:0] builder__sent_slot;
    wire  builder__mac_valid;
    wire  [512:0] builder__mac;
    wire  builder__mac_ready;
    wire  builder__began;
    wire  builder__working;
    wire  rx_buffer__clock;
    wire  rx_buffer__clear;
    wire  rx_buffer__reset;
    wire  rx_buffer__rx_valid;
    wire  [511:0] rx_buffer__rx_data;
    wire  rx_buffer__rx_last;
    wire  rx_buffer__rx_error;
    wire  rx_buffer__valid;
    wire  [512:0] rx_buffer__data;
    wire  [9:0] rx_buffer__frame_beats;
    wire  rx_buffer__pop;
    wire  rx_buffer__stored;
    wire  rx_buffer__bad;
    wire  rx_buffer__full;
    wire  parser__clock;
    wire  [199:0] parser__job;
    wire  parser__in_valid;
    wire  [512:0] parser__in_data;
    wire  [9:0] parser__frame_beats;
    wire  parser__pop;
    wire  parser__stall;
    wire  parser__valid;
    wire  parser__head;
    wire  [77:0] parser__header;
    wire  [511:0] parser__data;
    wire  parser__empty;
    wire  parser__drop_foreign;
    wire  parser__drop_malformed;
    wire  parser__drop_version;
    wire  parser__drop_job;
    wire  lookup__clock;
    wire  lookup__clear;
    wire  [199:0] lookup__job;
    wire  [7:0] lookup__arm;
    wire  [2:0] lookup__arm_slot;
    wire  [404:0] lookup__arm_context;
    wire  [7:0] lookup__freed;
    wire  lookup__stall;
    wire  lookup__busy;
    wire  lookup__in_valid;
    wire  lookup__in_head;
    wire  [77:0] lookup__in_header;
    wire  [511:0] lookup__in_data;
    wire  lookup__valid;
    wire  lookup__broadcast;
    wire  [556:0] lookup__beat;
    wire  lookup__packet;
    wire  lookup__mark;
    wire  lookup__empty;
    wire  lookup__drop_no_window;
    wire  lookup__drop_stale;
    wire  lookup__drop_flags;
    wire  lookup__drop_out_of_shard;
    wire  contribute_gates__clock;
    wire  contribute_gates__clear;
    wire  [47:0] contribute_gates__now_ns;
    wire  [7:0] contribute_gates__arm;
    wire  [2:0] contribute_gates__arm_slot;
    wire  [172:0] contribute_gates__rules;
    wire  [7:0] contribute_gates__enter;
    wire  contribute_gates__packet;
    wire  [2:0] contribute_gates__packet_slot;
    wire  [63:0] contribute_gates__sender;
    wire  contribute_gates__mark;
    wire  contribute_gates__beat;
    wire  [2:0] contribute_gates__beat_slot;
    wire  contribute_gates__own;
    wire  contribute_gates__quiet;
    wire  [7:0] contribute_gates__free;
    wire  [7:0] contribute_gates__open;
    wire  [7:0] contribute_gates__closed;
    wire  [2:0] contribute_gates__report_slot;
    wire  [205:0] contribute_gates__report;
    wire  [2:0] contribute_gates__timer_slot;
    wire  [47:0] contribute_gates__timer_ns;
    wire  broadcast_gates__clock;
    wire  broadcast_gates__clear;
    wire  [47:0] broadcast_gates__now_ns;
    wire  [7:0] broadcast_gates__arm;
    wire  [2:0] broadcast_gates__arm_slot;
    wire  [172:0] broadcast_gates__rules;
    wire  [7:0] broadcast_gates__enter;
    wire  broadcast_gates__packet;
    wire  [2:0] broadcast_gates__packet_slot;
    wire  [63:0] broadcast_gates__sender;
    wire  broadcast_gates__mark;
    wire  broadcast_gates__beat;
    wire  [2:0] broadcast_gates__beat_slot;
    wire  broadcast_gates__own;
    wire  broadcast_gates__quiet;
    wire  [7:0] broadcast_gates__free;
    wire  [7:0] broadcast_gates__open;
    wire  [7:0] broadcast_gates__closed;
    wire  [2:0] broadcast_gates__report_slot;
    wire  [205:0] broadcast_gates__report;
    wire  [2:0] broadcast_gates__timer_slot;
    wire  [47:0] broadcast_gates__timer_ns;
    wire  reduce__clock;
    wire  reduce__clear;
    wire  [7:0] reduce__open;
    wire  reduce__rx_valid;
    wire  [556:0] reduce__rx;
    wire  reduce__rx_ready;
    wire  reduce__own_valid;
    wire  [556:0] reduce__own;
    wire  reduce__own_ready;
    wire  reduce__accepted;
    wire  reduce__accepted_own;
    wire  [556:0] reduce__decided;
    wire  reduce__drop_late;
    wire  reduce__drop_duplicate;
    wire  reduce__scale_valid;
    wire  [16:0] reduce__scale_address;
    wire  reduce__scale_ready;
    wire  [590:0] reduce__scale_word;
    wire  [8:0] reduce__count_address;
    wire  [7:0] reduce__count_epoch;
    wire  [15:0] reduce__count;
    wire  [14:0] reduce__window_beats;
    wire  reduce__scrub;
    wire  [2:0] reduce__scrub_slot;
    wire  reduce__scrub_busy;
    wire  scale__clock;
    wire  scale__clear;
    wire  [7:0] scale__arm;
    wire  [2:0] scale__arm_slot;
    wire  [404:0] scale__arm_context;
    wire  [7:0] scale__closed;
    wire  [7:0] scale__scaled;
    wire  scale__read_valid;
    wire  [16:0] scale__read_address;
    wire  scale__read_ready;
    wire  [590:0] scale__word;
    wire  scale__valid;
    wire  [556:0] scale__mean;
    wire  scale__ready;
    wire  scale__broadcast;
    wire  [2:0] scale__broadcast_slot;
    wire  scale__working;
    wire  gather__clock;
    wire  gather__clear;
    wire  [7:0] gather__open;
    wire  gather__rx_valid;
    wire  [556:0] gather__rx;
    wire  gather__accepted;
    wire  [556:0] gather__decided;
    wire  gather__drop_late;
    wire  gather__drop_duplicate;
    wire  gather__scaled_valid;
    wire  [556:0] gather__scaled;
    wire  gather__scaled_ready;
    wire  gather__send_valid;
    reg  [16:0] gather__send_address;
    wire  gather__finish_valid;
    wire  [16:0] gather__finish_address;
    wire  gather__finish_ready;
    wire  [519:0] gather__word;
    wire  [8:0] gather__count_address;
    wire  [7:0] gather__count_epoch;
    wire  [15:0] gather__count;
    wire  [14:0] gather__window_beats;
    wire  gather__scrub;
    wire  [2:0] gather__scrub_slot;
    wire  gather__scrub_busy;
    wire  finisher__clock;
    wire  finisher__clear;
    wire  finisher__reset;
    wire  [199:0] finisher__job;
    wire  [7:0] finisher__arm;
    wire  [2:0] finisher__arm_slot;
    wire  [404:0] finisher__arm_context;
    wire  [3:0] finisher__refuse_ready;
    wire  finisher__refuse;
    wire  [49:0] finisher__refusal;
    wire  [7:0] finisher__scaled;
    wire  [7:0] finisher__broadcast_closed;
    wire  [7:0] finisher__sending;
    wire  [7:0] finisher__unread;
    wire  [7:0] finisher__finishing;
    wire  [2:0] finisher__slot;
    wire  finisher__broadcast;
    wire  [205:0] finisher__gate;
    wire  [8:0] finisher__count_address;
    wire  [7:0] finisher__count_epoch;
    wire  [15:0] finisher__contribute_count;
    wire  [15:0] finisher__broadcast_count;
    wire  finisher__read_valid;
    wire  [16:0] finisher__read_address;
    wire  finisher__read_ready;
    wire  [519:0] finisher__word;
    wire  [1:0] finisher__cq_queue;
    wire  [63:0] finisher__cq_base;
    wire  [15:0] finisher__cq_mask__0;
    wire  [15:0] finisher__cq_mask__1;
    wire  [15:0] finisher__cq_mask__2;
    wire  [15:0] finisher__cq_mask__3;
    wire  [15:0] finisher__cq_head__0;
    wire  [15:0] finisher__cq_head__1;
    wire  [15:0] finisher__cq_head__2;
    wire  [15:0] finisher__cq_head__3;
    wire  [15:0] finisher__sq_head__0;
    wire  [15:0] finisher__sq_head__1;
    wire  [15:0] finisher__sq_head__2;
    wire  [15:0] finisher__sq_head__3;
    wire  [15:0] finisher__cq_tail__0;
    wire  [15:0] finisher__cq_tail__1;
    wire  [15:0] finisher__cq_tail__2;
    wire  [15:0] finisher__cq_tail__3;
    wire  [3:0] finisher__stop;
    wire  finisher__aw_valid;
    wire  [63:0] finisher__aw_address;
    wire  [6:0] finisher__aw_beats;
    wire  finisher__aw_ready;
    wire  finisher__w_valid;
    wire  [511:0] finisher__w_data;
    wire  finisher__w_last;
    wire  finisher__w_ready;
    wire  finisher__b_valid;
    wire  finisher__b_error;
    wire  [7:0] finisher__freed;
    wire  finisher__msix_valid;
    wire  [1:0] finisher__msix_vector;
    wire  finisher__msix_ready;
    wire  finisher__working;
    wire  finisher__busy;
    reg  [7:0] sending__d;
    wire  [7:0] sending__q;
    wire  sending__clock;
    reg  [7:0] unread__d;
    wire  [7:0] unread__q;
    wire  unread__clock;
    reg  [3:0] scan__d;
    wire  [3:0] scan__q;
    wire  scan__clock;
    reg  [47:0] nearest__d;
    wire  [47:0] nearest__q;
    wire  nearest__clock;
    reg  [47:0] timer__d;
    wire  [47:0] timer__q;
    wire  timer__clock;
    // Local signals
    wire  clear;
    wire  [7:0] own_slot;
    wire  own_bad;
    wire  [7:0] order_slot;
    wire  skip;
    reg  [1:0] skipped_bank;
    wire  stall;
    wire  quiet;
    wire  to_reduce;
    wire  to_gather;
    wire  [7:0] contribute_open;
    wire  [7:0] contribute_closed;
    wire  [7:0] broadcast_open;
    wire  [7:0] broadcast_closed;
    wire  [63:0] one64;
    wire  [7:0] one8;
    wire  [63:0] sender;
    reg  [205:0] finish_gate;
    wire  auto_valid;
    reg  [4:0] send;
    reg  [7:0] send_slot;
    wire  [7:0] unsent;
    reg  [47:0] looked_at;
    wire  [3:0] scan_next;
    wire  [404:0] ctx;
    reg  [15:0] events;
    // Sub module instances
    optireduce_nic__nic__registers registers(
        .clock(registers__clock),
        .reset(registers__reset),
        .clear(registers__clear),
        .busy(registers__busy),
        .write(registers__write),
        .write_address(registers__write_address),
        .write_data(registers__write_data),
        .read_address(registers__read_address),
        .read_data(registers__read_data),
        .sq_head__0(registers__sq_head__0),
        .sq_head__1(registers__sq_head__1),
        .sq_head__2(registers__sq_head__2),
        .sq_head__3(registers__sq_head__3),
        .cq_tail__0(registers__cq_tail__0),
        .cq_tail__1(registers__cq_tail__1),
        .cq_tail__2(registers__cq_tail__2),
        .cq_tail__3(registers__cq_tail__3),
        .dma_fault(registers__dma_fault),
        .stop(registers__stop),
        .events(registers__events),
        .enable(registers__enable),
        .job(registers__job),
        .usable(registers__usable),
        .sq_queue(registers__sq_queue),
        .sq_base(registers__sq_base),
        .sq_mask(registers__sq_mask),
        .sq_tail__0(registers__sq_tail__0),
        .sq_tail__1(registers__sq_tail__1),
        .sq_tail__2(registers__sq_tail__2),
        .sq_tail__3(registers__sq_tail__3),
        .cq_queue(registers__cq_queue),
        .cq_base(registers__cq_base),
        .cq_mask__0(registers__cq_mask__0),
        .cq_mask__1(registers__cq_mask__1),
        .cq_mask__2(registers__cq_mask__2),
        .cq_mask__3(registers__cq_mask__3),
        .cq_head__0(registers__cq_head__0),
        .cq_head__1(registers__cq_head__1),
        .cq_head__2(registers__cq_head__2),
        .cq_head__3(registers__cq_head__3),
        .peer_write(registers__peer_write),
        .peer_word(registers__peer_word)
    );
    optireduce_nic__nic__restart restart(
        .clock(restart__clock),
        .enable(restart__enable),
        .owed(restart__owed),
        .clear(restart__clear),
        .busy(restart__busy)
    );
    optireduce_nic__nic__guard guard(
        .clock(guard__clock),
        .clear(guard__clear),
        .reset(guard__reset),
        .valid(guard__valid),
        .beat(guard__beat),
        .ready(guard__ready),
        .tx_valid(guard__tx_valid),
        .tx_data(guard__tx_data),
        .tx_last(guard__tx_last),
        .tx_error(guard__tx_error),
        .tx_ready(guard__tx_ready),
        .busy(guard__busy)
    );
    optireduce_nic__nic__dma_read dma_read(
        .clock(dma_read__clock),
        .clear(dma_read__clear),
        .reset(dma_read__reset),
        .submit_valid(dma_read__submit_valid),
        .submit_address(dma_read__submit_address),
        .submit_ready(dma_read__submit_ready),
        .submit_beat(dma_read__submit_beat),
        .contribute_valid(dma_read__contribute_valid),
        .contribute_address(dma_read__contribute_address),
        .contribute_beats(dma_read__contribute_beats),
        .contribute_slot(dma_read__contribute_slot),
        .contribute_ready(dma_read__contribute_ready),
        .contribute_beat(dma_read__contribute_beat),
        .contribute_take(dma_read__contribute_take),
        .unread(dma_read__unread),
        .ar_valid(dma_read__ar_valid),
        .ar_address(dma_read__ar_address),
        .ar_beats(dma_read__ar_beats),
        .ar_ready(dma_read__ar_ready),
        .r_valid(dma_read__r_valid),
        .r_last(dma_read__r_last),
        .r_error(dma_read__r_error),
        .r_ready(dma_read__r_ready),
        .busy(dma_read__busy)
    );
    optireduce_nic__nic__submit submit(
        .clock(submit__clock),
        .clear(submit__clear),
        .job(submit__job),
        .usable(submit__usable),
        .sq_queue(submit__sq_queue),
        .sq_base(submit__sq_base),
        .sq_mask(submit__sq_mask),
        .sq_tail__0(submit__sq_tail__0),
        .sq_tail__1(submit__sq_tail__1),
        .sq_tail__2(submit__sq_tail__2),
        .sq_tail__3(submit__sq_tail__3),
        .sq_head__0(submit__sq_head__0),
        .sq_head__1(submit__sq_head__1),
        .sq_head__2(submit__sq_head__2),
        .sq_head__3(submit__sq_head__3),
        .stop(submit__stop),
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
        .advert(submit__advert),
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
    optireduce_nic__nic__contribute contribute(
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
        .ar_slot(contribute__ar_slot),
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
        .filled_low(contribute__filled_low),
        .filled_high(contribute__filled_high),
        .read_valid(contribute__read_valid),
        .read_address(contribute__read_address),
        .read_data(contribute__read_data),
        .sent(contribute__sent),
        .held(contribute__held),
        .working(contribute__working),
        .emptying(contribute__emptying)
    );
    optireduce_nic__nic__planner planner(
        .clock(planner__clock),
        .clear(planner__clear),
        .job(planner__job),
        .now_ns(planner__now_ns),
        .peer_write(planner__peer_write),
        .peer_word(planner__peer_word),
        .peer_data(planner__peer_data),
        .arm(planner__arm),
        .arm_slot(planner__arm_slot),
        .arm_context(planner__arm_context),
        .enter(planner__enter),
        .advert(planner__advert),
        .contribute_valid(planner__contribute_valid),
        .contribute(planner__contribute),
        .contribute_ready(planner__contribute_ready),
        .filled_low(planner__filled_low),
        .filled_high(planner__filled_high),
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
    optireduce_nic__nic__builder builder(
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
    optireduce_nic__nic__rx_buffer rx_buffer(
        .clock(rx_buffer__clock),
        .clear(rx_buffer__clear),
        .reset(rx_buffer__reset),
        .rx_valid(rx_buffer__rx_valid),
        .rx_data(rx_buffer__rx_data),
        .rx_last(rx_buffer__rx_last),
        .rx_error(rx_buffer__rx_error),
        .valid(rx_buffer__valid),
        .data(rx_buffer__data),
        .frame_beats(rx_buffer__frame_beats),
        .pop(rx_buffer__pop),
        .stored(rx_buffer__stored),
        .bad(rx_buffer__bad),
        .full(rx_buffer__full)
    );
    optireduce_nic__nic__parser parser(
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
    optireduce_nic__nic__lookup lookup(
        .clock(lookup__clock),
        .clear(lookup__clear),
        .job(lookup__job),
        .arm(lookup__arm),
        .arm_slot(lookup__arm_slot),
        .arm_context(lookup__arm_context),
        .freed(lookup__freed),
        .stall(lookup__stall),
        .busy(lookup__busy),
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
        .drop_stale(lookup__drop_stale),
        .drop_flags(lookup__drop_flags),
        .drop_out_of_shard(lookup__drop_out_of_shard)
    );
    optireduce_nic__nic__broadcast_gates contribute_gates(
        .clock(contribute_gates__clock),
        .clear(contribute_gates__clear),
        .now_ns(contribute_gates__now_ns),
        .arm(contribute_gates__arm),
        .arm_slot(contribute_gates__arm_slot),
        .rules(contribute_gates__rules),
        .enter(contribute_gates__enter),
        .packet(contribute_gates__packet),
        .packet_slot(contribute_gates__packet_slot),
        .sender(contribute_gates__sender),
        .mark(contribute_gates__mark),
        .beat(contribute_gates__beat),
        .beat_slot(contribute_gates__beat_slot),
        .own(contribute_gates__own),
        .quiet(contribute_gates__quiet),
        .free(contribute_gates__free),
        .open(contribute_gates__open),
        .closed(contribute_gates__closed),
        .report_slot(contribute_gates__report_slot),
        .report(contribute_gates__report),
        .timer_slot(contribute_gates__timer_slot),
        .timer_ns(contribute_gates__timer_ns)
    );
    optireduce_nic__nic__broadcast_gates broadcast_gates(
        .clock(broadcast_gates__clock),
        .clear(broadcast_gates__clear),
        .now_ns(broadcast_gates__now_ns),
        .arm(broadcast_gates__arm),
        .arm_slot(broadcast_gates__arm_slot),
        .rules(broadcast_gates__rules),
        .enter(broadcast_gates__enter),
        .packet(broadcast_gates__packet),
        .packet_slot(broadcast_gates__packet_slot),
        .sender(broadcast_gates__sender),
        .mark(broadcast_gates__mark),
        .beat(broadcast_gates__beat),
        .beat_slot(broadcast_gates__beat_slot),
        .own(broadcast_gates__own),
        .quiet(broadcast_gates__quiet),
        .free(broadcast_gates__free),
        .open(broadcast_gates__open),
        .closed(broadcast_gates__closed),
        .report_slot(broadcast_gates__report_slot),
        .report(broadcast_gates__report),
        .timer_slot(broadcast_gates__timer_slot),
        .timer_ns(broadcast_gates__timer_ns)
    );
    optireduce_nic__nic__reduce reduce(
        .clock(reduce__clock),
        .clear(reduce__clear),
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
    optireduce_nic__nic__scale scale(
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
    optireduce_nic__nic__gather gather(
        .clock(gather__clock),
        .clear(gather__clear),
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
    optireduce_nic__nic__finisher finisher(
        .clock(finisher__clock),
        .clear(finisher__clear),
        .reset(finisher__reset),
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
        .unread(finisher__unread),
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
        .cq_queue(finisher__cq_queue),
        .cq_base(finisher__cq_base),
        .cq_mask__0(finisher__cq_mask__0),
        .cq_mask__1(finisher__cq_mask__1),
        .cq_mask__2(finisher__cq_mask__2),
        .cq_mask__3(finisher__cq_mask__3),
        .cq_head__0(finisher__cq_head__0),
        .cq_head__1(finisher__cq_head__1),
        .cq_head__2(finisher__cq_head__2),
        .cq_head__3(finisher__cq_head__3),
        .sq_head__0(finisher__sq_head__0),
        .sq_head__1(finisher__sq_head__1),
        .sq_head__2(finisher__sq_head__2),
        .sq_head__3(finisher__sq_head__3),
        .cq_tail__0(finisher__cq_tail__0),
        .cq_tail__1(finisher__cq_tail__1),
        .cq_tail__2(finisher__cq_tail__2),
        .cq_tail__3(finisher__cq_tail__3),
        .stop(finisher__stop),
        .aw_valid(finisher__aw_valid),
        .aw_address(finisher__aw_address),
        .aw_beats(finisher__aw_beats),
        .aw_ready(finisher__aw_ready),
        .w_valid(finisher__w_valid),
        .w_data(finisher__w_data),
        .w_last(finisher__w_last),
        .w_ready(finisher__w_ready),
        .b_valid(finisher__b_valid),
        .b_error(finisher__b_error),
        .freed(finisher__freed),
        .msix_valid(finisher__msix_valid),
        .msix_vector(finisher__msix_vector),
        .msix_ready(finisher__msix_ready),
        .working(finisher__working),
        .busy(finisher__busy)
    );
    optireduce_nic__nic__gather__arrivals__asked_epoch sending(
        .d(sending__d),
        .q(sending__q),
        .clock(sending__clock)
    );
    optireduce_nic__nic__gather__arrivals__asked_epoch unread(
        .d(unread__d),
        .q(unread__q),
        .clock(unread__clock)
    );
    optireduce_nic__nic__finisher__msix__pending scan(
        .d(scan__d),
        .q(scan__q),
        .clock(scan__clock)
    );
    optireduce_nic__nic__finisher__drain__inbox__state nearest(
        .d(nearest__d),
        .q(nearest__q),
        .clock(nearest__clock)
    );
    optireduce_nic__nic__finisher__drain__inbox__state timer(
        .d(timer__d),
        .q(timer__q),
        .clock(timer__clock)
    );
    // Update code
    assign sending__clock = clock;
    assign unread__clock = clock;
    assign scan__clock = clock;
    assign nearest__clock = clock;
    assign timer__clock = clock;
    assign restart__clock = clock;
    assign guard__clock = clock;
    assign registers__clock = clock;
    assign dma_read__clock = clock;
    assign submit__clock = clock;
    assign contribute__clock = clock;
    assign planner__clock = clock;
    assign builder__clock = clock;
    assign rx_buffer__clock = clock;
    assign parser__clock = clock;
    assign lookup__clock = clock;
    assign reduce__clock = clock;
    assign scale__clock = clock;
    assign gather__clock = clock;
    assign finisher__clock = clock;
    assign registers__write = reg_write;
    assign registers__write_address = reg_write_address;
    assign registers__write_data = reg_write_data;
    assign registers__read_address = reg_read_address;
    assign reg_read_data = registers__read_data;
    assign registers__reset = reset;
    assign restart__enable = registers__enable;
    assign restart__owed = dma_read__busy || finisher__busy || contribute__emptying || guard__busy;
    assign clear = restart__clear;
    assign registers__clear = clear;
    assign registers__busy = restart__busy;
    assign dma_read__reset = reset;
    assign finisher__reset = reset;
    assign guard__reset = reset;
    assign guard__clear = clear;
    assign dma_read__clear = clear;
    assign submit__clear = clear;
    assign contribute__clear = clear;
    assign planner__clear = clear;
    assign builder__clear = clear;
    assign rx_buffer__clear = clear;
    assign rx_buffer__reset = reset;
    assign lookup__clear = clear;
    assign reduce__clear = clear;
    assign scale__clear = clear;
    assign gather__clear = clear;
    assign finisher__clear = clear;
    assign submit__job = registers__job;
    assign contribute__job = registers__job;
    assign planner__job = registers__job;
    assign builder__job = registers__job;
    assign parser__job = registers__job;
    assign lookup__job = registers__job;
    assign finisher__job = registers__job;
    assign builder__peer_write = registers__peer_write;
    assign builder__peer_word = registers__peer_word;
    assign builder__peer_data = reg_write_data;
    assign dma_read__submit_valid = submit__ar_valid;
    assign dma_read__submit_address = submit__ar_address;
    assign submit__ar_ready = dma_read__submit_ready;
    assign submit__r_valid = dma_read__submit_beat;
    assign submit__r_data = axi_r_data;
    assign submit__r_error = axi_r_error;
    assign dma_read__contribute_valid = contribute__ar_valid;
    assign dma_read__contribute_address = contribute__ar_address;
    assign dma_read__contribute_beats = contribute__ar_beats;
    assign dma_read__contribute_slot = contribute__ar_slot;
    assign contribute__ar_ready = dma_read__contribute_ready;
    assign contribute__r_valid = dma_read__contribute_beat;
    assign contribute__r_data = axi_r_data;
    assign dma_read__contribute_take = contribute__r_ready;
    assign axi_ar_valid = dma_read__ar_valid;
    assign axi_ar_address = dma_read__ar_address;
    assign axi_ar_beats = dma_read__ar_beats;
    assign dma_read__ar_ready = axi_ar_ready;
    assign dma_read__r_valid = axi_r_valid;
    assign dma_read__r_last = axi_r_last;
    assign dma_read__r_error = axi_r_error;
    assign axi_r_ready = dma_read__r_ready;
    assign axi_aw_valid = finisher__aw_valid;
    assign axi_aw_address = finisher__aw_address;
    assign axi_aw_beats = finisher__aw_beats;
    assign finisher__aw_ready = axi_aw_ready;
    assign axi_w_valid = finisher__w_valid;
    assign axi_w_data = finisher__w_data;
    assign axi_w_last = finisher__w_last;
    assign finisher__w_ready = axi_w_ready;
    assign finisher__b_valid = axi_b_valid;
    assign finisher__b_error = axi_b_error;
    assign registers__dma_fault = (axi_r_valid && axi_r_error) || (axi_b_valid && axi_b_error);
    assign submit__usable = registers__usable;
    assign registers__sq_queue = submit__sq_queue;
    assign submit__sq_base = registers__sq_base;
    assign submit__sq_mask = registers__sq_mask;
    assign registers__cq_queue = finisher__cq_queue;
    assign finisher__cq_base = registers__cq_base;
    assign submit__sq_tail__0 = registers__sq_tail__0;
    assign registers__sq_head__0 = submit__sq_head__0;
    assign finisher__sq_head__0 = submit__sq_head__0;
    assign finisher__cq_mask__0 = registers__cq_mask__0;
    assign finisher__cq_head__0 = registers__cq_head__0;
    assign registers__cq_tail__0 = finisher__cq_tail__0;
    assign submit__sq_tail__1 = registers__sq_tail__1;
    assign registers__sq_head__1 = submit__sq_head__1;
    assign finisher__sq_head__1 = submit__sq_head__1;
    assign finisher__cq_mask__1 = registers__cq_mask__1;
    assign finisher__cq_head__1 = registers__cq_head__1;
    assign registers__cq_tail__1 = finisher__cq_tail__1;
    assign submit__sq_tail__2 = registers__sq_tail__2;
    assign registers__sq_head__2 = submit__sq_head__2;
    assign finisher__sq_head__2 = submit__sq_head__2;
    assign finisher__cq_mask__2 = registers__cq_mask__2;
    assign finisher__cq_head__2 = registers__cq_head__2;
    assign registers__cq_tail__2 = finisher__cq_tail__2;
    assign submit__sq_tail__3 = registers__sq_tail__3;
    assign registers__sq_head__3 = submit__sq_head__3;
    assign finisher__sq_head__3 = submit__sq_head__3;
    assign finisher__cq_mask__3 = registers__cq_mask__3;
    assign finisher__cq_head__3 = registers__cq_head__3;
    assign registers__cq_tail__3 = finisher__cq_tail__3;
    assign registers__stop = submit__stop | finisher__stop;
    assign msix_valid = finisher__msix_valid;
    assign msix_vector = finisher__msix_vector;
    assign finisher__msix_ready = msix_ready;
    assign ctx = submit__arm_context;
    assign lookup__arm = submit__arm;
    assign lookup__arm_slot = submit__arm_slot;
    assign lookup__arm_context = ctx;
    assign contribute__arm = submit__arm;
    assign contribute__arm_slot = submit__arm_slot;
    assign contribute__arm_context = ctx;
    assign planner__arm = submit__arm;
    assign planner__arm_slot = submit__arm_slot;
    assign planner__arm_context = ctx;
    assign scale__arm = submit__arm;
    assign scale__arm_slot = submit__arm_slot;
    assign scale__arm_context = ctx;
    assign finisher__arm = submit__arm;
    assign finisher__arm_slot = submit__arm_slot;
    assign finisher__arm_context = ctx;
    assign lookup__freed = finisher__freed;
    assign submit__freed = finisher__freed;
    assign rx_buffer__rx_valid = rx_valid;
    assign rx_buffer__rx_data = rx_data;
    assign rx_buffer__rx_last = rx_last;
    assign rx_buffer__rx_error = rx_error;
    assign parser__in_valid = rx_buffer__valid;
    assign parser__in_data = rx_buffer__data;
    assign parser__frame_beats = rx_buffer__frame_beats;
    assign rx_buffer__pop = parser__pop;
    assign lookup__in_valid = parser__valid;
    assign lookup__in_head = parser__head;
    assign lookup__in_header = parser__header;
    assign lookup__in_data = parser__data;
    assign to_reduce = lookup__valid && ~lookup__broadcast;
    assign to_gather = lookup__valid && lookup__broadcast;
    assign reduce__rx_valid = to_reduce;
    assign reduce__rx = lookup__beat;
    assign gather__rx_valid = to_gather;
    assign gather__rx = lookup__beat;
    assign stall = to_reduce && ~reduce__rx_ready;
    assign parser__stall = lookup__busy;
    assign lookup__stall = stall;
    assign quiet = ~rx_buffer__valid && parser__empty && lookup__empty;
    assign one8 = ((32'h1) & 8'hff);
    assign own_slot = one8 << contribute__own[(64'h0)+:(3)];
    assign own_bad = (unread__q & own_slot) != 32'h0;
    assign finisher__unread = unread__q;
    assign reduce__own_valid = contribute__own_valid && ~own_bad;
    assign reduce__own = contribute__own;
    assign contribute__own_ready = reduce__own_ready || own_bad;
    assign reduce__scale_valid = scale__read_valid;
    assign reduce__scale_address = scale__read_address;
    assign scale__read_ready = reduce__scale_ready;
    assign scale__word = reduce__scale_word;
    assign gather__scaled_valid = scale__valid;
    assign gather__scaled = scale__mean;
    assign scale__ready = gather__scaled_ready;
    assign submit__scaled = scale__scaled;
    assign finisher__scaled = scale__scaled;
    assign reduce__window_beats = registers__job[(64'hb5)+:(15)];
    assign gather__window_beats = registers__job[(64'hb5)+:(15)];
    assign reduce__scrub = submit__scrub;
    assign reduce__scrub_slot = submit__scrub_slot;
    assign gather__scrub = submit__scrub;
    assign gather__scrub_slot = submit__scrub_slot;
    assign submit__scrub_busy = reduce__scrub_busy || gather__scrub_busy;
    assign one64 = ((32'h1) & 64'hffffffffffffffff);
    assign sender = one64 << lookup__beat[(64'h1f)+:(6)];
    assign contribute_open = contribute_gates__open;
    assign contribute_closed = contribute_gates__closed;
    assign broadcast_open = broadcast_gates__open;
    assign broadcast_closed = broadcast_gates__closed;
    assign contribute_gates__clock = clock;
    assign contribute_gates__clear = clear;
    assign contribute_gates__now_ns = now_ns;
    assign contribute_gates__quiet = quiet;
    assign contribute_gates__arm = submit__arm;
    assign contribute_gates__arm_slot = submit__arm_slot;
    assign contribute_gates__rules = submit__contribute_rules;
    assign contribute_gates__enter = submit__enter;
    assign contribute_gates__packet = lookup__packet && ~lookup__broadcast;
    assign contribute_gates__packet_slot = lookup__beat[(64'h0)+:(3)];
    assign contribute_gates__sender = sender;
    assign contribute_gates__mark = lookup__mark;
    assign contribute_gates__beat = reduce__accepted;
    assign contribute_gates__beat_slot = reduce__decided[(64'h0)+:(3)];
    assign contribute_gates__own = reduce__accepted_own;
    assign contribute_gates__free = finisher__freed;
    assign contribute_gates__report_slot = finisher__slot;
    assign contribute_gates__timer_slot = scan__q[(32'h0)+:(3)];
    assign broadcast_gates__clock = clock;
    assign broadcast_gates__clear = clear;
    assign broadcast_gates__now_ns = now_ns;
    assign broadcast_gates__quiet = quiet;
    assign broadcast_gates__arm = submit__arm;
    assign broadcast_gates__arm_slot = submit__arm_slot;
    assign broadcast_gates__rules = submit__broadcast_rules;
    assign broadcast_gates__enter = contribute_closed;
    assign broadcast_gates__packet = lookup__packet && lookup__broadcast;
    assign broadcast_gates__packet_slot = lookup__beat[(64'h0)+:(3)];
    assign broadcast_gates__sender = sender;
    assign broadcast_gates__mark = lookup__mark;
    assign broadcast_gates__beat = gather__accepted;
    assign broadcast_gates__beat_slot = gather__decided[(64'h0)+:(3)];
    assign broadcast_gates__own = 1'b0;
    assign broadcast_gates__free = finisher__freed;
    assign broadcast_gates__report_slot = finisher__slot;
    assign broadcast_gates__timer_slot = scan__q[(32'h0)+:(3)];
    assign reduce__open = contribute_open;
    assign gather__open = broadcast_open;
    assign scale__closed = contribute_closed;
    assign finisher__broadcast_closed = broadcast_closed;
    always @(*) begin
        finish_gate = contribute_gates__report;
        if (finisher__broadcast) begin
            finish_gate = broadcast_gates__report;
        end
    end
    assign finisher__gate = finish_gate;
    assign reduce__count_address = finisher__count_address;
    assign reduce__count_epoch = finisher__count_epoch;
    assign finisher__contribute_count = reduce__count;
    assign gather__count_address = finisher__count_address;
    assign gather__count_epoch = finisher__count_epoch;
    assign finisher__broadcast_count = gather__count;
    assign submit__finishing = finisher__finishing;
    assign submit__refuse_ready = finisher__refuse_ready;
    assign finisher__refuse = submit__refuse;
    assign finisher__refusal = submit__refusal;
    assign gather__finish_valid = finisher__read_valid;
    assign gather__finish_address = finisher__read_address;
    assign finisher__read_ready = gather__finish_ready;
    assign finisher__word = gather__word;
    assign contribute__order_valid = submit__order_valid;
    assign contribute__order = submit__order;
    assign submit__order_ready = contribute__order_ready;
    assign planner__now_ns = now_ns;
    assign planner__peer_write = registers__peer_write;
    assign planner__peer_word = registers__peer_word;
    assign planner__peer_data = reg_write_data;
    assign planner__enter = submit__enter;
    assign planner__advert = submit__advert;
    assign planner__filled_low = contribute__filled_low;
    assign planner__filled_high = contribute__filled_high;
    assign planner__contribute_valid = contribute__send_valid;
    assign planner__contribute = contribute__send;
    assign contribute__send_ready = planner__contribute_ready;
    assign auto_valid = scale__broadcast;
    always @(*) begin
        send = submit__send;
        if (auto_valid) begin
            send[(64'h0)+:(3)] = scale__broadcast_slot;
        end
    end
    assign submit__send_ready = ~auto_valid;
    assign planner__broadcast_valid = auto_valid || submit__send_valid;
    assign planner__broadcast = send;
    always @(*) begin
        send_slot = ((32'h0) & 8'hff);
        if (planner__broadcast_valid) begin
            send_slot = one8 << send[(64'h0)+:(3)];
        end
    end
    assign unsent = builder__sent_slot ^ 32'hff;
    assign finisher__sending = sending__q | send_slot | contribute__held | submit__ordering;
    assign order_slot = one8 << planner__order[(64'h0)+:(3)];
    assign skip = planner__valid && ~planner__order[(64'h3)+:(1)] && ((unread__q & order_slot) != 32'h0);
    assign builder__order_valid = planner__valid && ~skip;
    assign builder__order = planner__order;
    always @(*) begin
        planner__ready = builder__order_ready;
        if (skip) begin
            planner__ready = ~planner__order[(64'h23)+:(1)] || ~builder__working;
        end
    end
    always @(*) begin
        skipped_bank = ((32'h0) & 2'h3);
        if (skip) begin
            if (planner__order[(64'h23)+:(1)] && ~builder__working) begin
                skipped_bank = ((32'h1) & 2'h3);
                if (planner__order[(64'h4)+:(1)]) begin
                    skipped_bank = ((32'h2) & 2'h3);
                end
            end
        end
    end
    assign contribute__read_valid = builder__buffer_valid;
    assign contribute__read_address = builder__buffer_address;
    assign builder__buffer_data = contribute__read_data;
    assign contribute__sent = builder__sent_bank | skipped_bank;
    assign gather__send_valid = builder__gather_valid || planner__ask_valid;
    always @(*) begin
        gather__send_address = planner__ask_address;
        if (builder__gather_valid) begin
            gather__send_address = builder__gather_address;
        end
    end
    assign planner__ask_ready = ~builder__gather_valid;
    assign planner__word = gather__word;
    assign builder__gather_word = gather__word;
    assign guard__valid = builder__mac_valid;
    assign guard__beat = builder__mac;
    assign builder__mac_ready = guard__ready;
    assign tx_valid = guard__tx_valid;
    assign tx_data = guard__tx_data;
    assign tx_last = guard__tx_last;
    assign tx_error = guard__tx_error;
    assign guard__tx_ready = tx_ready;
    always @(*) begin
        events[(64'h0)+:(1)] = rx_buffer__stored || rx_buffer__bad || rx_buffer__full;
        events[(64'h1)+:(1)] = builder__began;
        events[(64'h2)+:(1)] = rx_buffer__full;
        events[(64'h3)+:(1)] = rx_buffer__bad;
        events[(64'h4)+:(1)] = parser__drop_foreign;
        events[(64'h5)+:(1)] = parser__drop_malformed;
        events[(64'h6)+:(1)] = parser__drop_version;
        events[(64'h7)+:(1)] = parser__drop_job;
        events[(64'h8)+:(1)] = lookup__drop_no_window;
        events[(64'h9)+:(1)] = lookup__drop_stale;
        events[(64'ha)+:(1)] = lookup__drop_flags;
        events[(64'hb)+:(1)] = lookup__drop_out_of_shard;
        events[(64'hc)+:(1)] = reduce__drop_late;
        events[(64'hd)+:(1)] = gather__drop_late;
        events[(64'he)+:(1)] = reduce__drop_duplicate;
        events[(64'hf)+:(1)] = gather__drop_duplicate;
    end
    assign registers__events = events;
    assign scan_next = scan__q + 32'h1;
    always @(*) begin
        looked_at = contribute_gates__timer_ns;
        if (scan__q[32'h3]) begin
            looked_at = broadcast_gates__timer_ns;
        end
    end
    assign timer_ns = timer__q;
    assign asleep = quiet && ~restart__busy && ~guard__busy && ~rx_valid && ~submit__working && ~contribute__working && ~scale__working && ~planner__working && ~builder__working && ~finisher__working;
    assign trace_arm = submit__arm;
    assign trace_cookie = ctx[(64'h0)+:(32)];
    assign trace_sum = reduce__accepted;
    assign trace_sum_place = (((reduce__decided[(64'h0)+:(3)]) & 23'h7fffff) << 32'h14) | (((reduce__decided[(64'h3)+:(14)]) & 23'h7fffff) << 32'h6) | ((reduce__decided[(64'h1f)+:(6)]) & 23'h7fffff);
    assign trace_mean = gather__accepted;
    assign trace_mean_place = (((gather__decided[(64'h0)+:(3)]) & 23'h7fffff) << 32'h14) | (((gather__decided[(64'h3)+:(14)]) & 23'h7fffff) << 32'h6) | ((gather__decided[(64'h1f)+:(6)]) & 23'h7fffff);
    assign trace_contribute_open = contribute_open;
    assign trace_broadcast_open = broadcast_open;
    always @(*) begin
        sending__d = sending__q;
        unread__d = unread__q;
        scan__d = scan__q;
        nearest__d = nearest__q;
        timer__d = timer__q;
        unread__d = (unread__q & (submit__arm ^ 32'hff)) | dma_read__unread;
        if (clear) begin
            unread__d = ((32'h0) & 8'hff);
        end
        sending__d = (sending__q & unsent) | send_slot;
        if (clear) begin
            sending__d = ((32'h0) & 8'hff);
        end
        scan__d = scan_next;
        if ((scan__q == 32'h0) || (looked_at < nearest__q)) begin
            nearest__d = looked_at;
        end
        if (scan__q == 32'h0) begin
            timer__d = nearest__q;
        end
        if (clear) begin
            scan__d = ((32'h0) & 4'hf);
        end
    end
    wire unused__gather__decided = &{gather__decided[556:37], gather__decided[30:17]};
    wire unused__reduce__decided = &{reduce__decided[556:37], reduce__decided[30:17]};
endmodule

module optireduce_nic__responder(clock,reset,job,read_address,read_data,rx_valid,rx_data,rx_last,in_valid,in_data,in_last,in_error,in_checksum,answers,tx_valid,tx_data,tx_last,tx_ready,busy);
    // Module arguments
    input wire  clock;
    input wire  reset;
    input wire  [175:0] job;
    input wire  [9:0] read_address;
    output wire  [31:0] read_data;
    input wire  rx_valid;
    input wire  [511:0] rx_data;
    input wire  rx_last;
    input wire  in_valid;
    input wire  [511:0] in_data;
    input wire  in_last;
    input wire  in_error;
    input wire  in_checksum;
    output wire  answers;
    output wire  tx_valid;
    output wire  [511:0] tx_data;
    output wire  tx_last;
    input wire  tx_ready;
    output wire  busy;
    // Stub signals
    wire  store__clock;
    wire  [3:0] store__read_address;
    wire  [511:0] store__read_data;
    wire  [3:0] store__write_address;
    reg  [511:0] store__write_data;
    wire  store__write_enable;
    reg  in_frame__d;
    wire  in_frame__q;
    wire  in_frame__clock;
    reg  [2:0] kind__0__d;
    wire  [2:0] kind__0__q;
    wire  kind__0__clock;
    reg  [2:0] kind__1__d;
    wire  [2:0] kind__1__q;
    wire  kind__1__clock;
    reg  [2:0] kind__2__d;
    wire  [2:0] kind__2__q;
    wire  kind__2__clock;
    reg  [2:0] kind__3__d;
    wire  [2:0] kind__3__q;
    wire  kind__3__clock;
    reg  [2:0] kind__4__d;
    wire  [2:0] kind__4__q;
    wire  kind__4__clock;
    reg  [2:0] kind__5__d;
    wire  [2:0] kind__5__q;
    wire  kind__5__clock;
    reg  [11:0] st__d;
    wire  [11:0] st__q;
    wire  st__clock;
    reg  [95:0] counters__d;
    wire  [95:0] counters__q;
    wire  counters__clock;
    reg  [31:0] value__d;
    wire  [31:0] value__q;
    wire  value__clock;
    // Local signals
    wire  [511:0] a;
    wire  [511:0] h;
    wire  [15:0] fragment;
    wire  [2:0] k;
    wire  opens;
    wire  takes;
    reg  [4:0] place;
    wire  [4:0] next_place;
    wire  [4:0] at;
    wire  [4:0] next_sent;
    wire  [511:0] request;
    reg  [511:0] reply;
    reg  [511:0] echo;
    wire  [16:0] sum;
    wire  [15:0] folded;
    wire  done;
    wire  is_last;
    // Sub module instances
    optireduce_nic__responder__store store(
        .clock(store__clock),
        .read_address(store__read_address),
        .read_data(store__read_data),
        .write_address(store__write_address),
        .write_data(store__write_data),
        .write_enable(store__write_enable)
    );
    optireduce_nic__nic__finisher__drain__side__0 in_frame(
        .d(in_frame__d),
        .q(in_frame__q),
        .clock(in_frame__clock)
    );
    optireduce_nic__nic__finisher__drain__come_slot kind__0(
        .d(kind__0__d),
        .q(kind__0__q),
        .clock(kind__0__clock)
    );
    optireduce_nic__nic__finisher__drain__come_slot kind__1(
        .d(kind__1__d),
        .q(kind__1__q),
        .clock(kind__1__clock)
    );
    optireduce_nic__nic__finisher__drain__come_slot kind__2(
        .d(kind__2__d),
        .q(kind__2__q),
        .clock(kind__2__clock)
    );
    optireduce_nic__nic__finisher__drain__come_slot kind__3(
        .d(kind__3__d),
        .q(kind__3__q),
        .clock(kind__3__clock)
    );
    optireduce_nic__nic__finisher__drain__come_slot kind__4(
        .d(kind__4__d),
        .q(kind__4__q),
        .clock(kind__4__clock)
    );
    optireduce_nic__nic__finisher__drain__come_slot kind__5(
        .d(kind__5__d),
        .q(kind__5__q),
        .clock(kind__5__clock)
    );
    optireduce_nic__responder__st st(
        .d(st__d),
        .q(st__q),
        .clock(st__clock)
    );
    optireduce_nic__nic__reduce__flight__0 counters(
        .d(counters__d),
        .q(counters__q),
        .clock(counters__clock)
    );
    optireduce_nic__nic__finisher__drain__multiplier__lane__0__result value(
        .d(value__d),
        .q(value__q),
        .clock(value__clock)
    );
    // Update code
    assign in_frame__clock = clock;
    assign st__clock = clock;
    assign counters__clock = clock;
    assign value__clock = clock;
    assign kind__0__clock = clock;
    assign kind__1__clock = clock;
    assign kind__2__clock = clock;
    assign kind__3__clock = clock;
    assign kind__4__clock = clock;
    assign kind__5__clock = clock;
    assign a = ((rx_data) & 512'hffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff);
    assign h = ((rx_data) & 512'hffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff);
    assign fragment = h[(64'ha0)+:(16)] & 32'hff3f;
    assign request = ((in_data) & 512'hffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff);
    always @(*) begin
        reply[(64'h0)+:(48)] = request[(64'hb0)+:(48)];
        reply[(64'h30)+:(48)] = job[(64'h80)+:(48)];
        reply[(64'h60)+:(16)] = request[(64'h60)+:(16)];
        reply[(64'h70)+:(16)] = request[(64'h70)+:(16)];
        reply[(64'h80)+:(16)] = request[(64'h80)+:(16)];
        reply[(64'h90)+:(16)] = request[(64'h90)+:(16)];
        reply[(64'ha0)+:(16)] = ((32'h200) & 16'hffff);
        reply[(64'hb0)+:(48)] = job[(64'h80)+:(48)];
        reply[(64'he0)+:(32)] = job[(64'h60)+:(32)];
        reply[(64'h100)+:(48)] = request[(64'hb0)+:(48)];
        reply[(64'h130)+:(32)] = request[(64'he0)+:(32)];
        reply[(64'h150)+:(64)] = ((32'h0) & 64'hffffffffffffffff);
        reply[(64'h190)+:(64)] = ((32'h0) & 64'hffffffffffffffff);
        reply[(64'h1d0)+:(48)] = ((32'h0) & 48'hffffffffffff);
    end
    always @(*) begin
        echo = ((in_data) & 512'hffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff);
        echo[(64'h0)+:(48)] = request[(64'h30)+:(48)];
        echo[(64'h30)+:(48)] = job[(64'h80)+:(48)];
        echo[(64'hd0)+:(32)] = job[(64'h60)+:(32)];
        echo[(64'hf0)+:(32)] = in_data[(32'hd0)+:(32)];
        echo[(64'h110)+:(16)] = ((32'h0) & 16'hffff);
        echo[(64'h120)+:(16)] = folded;
    end
    assign sum = ((in_data[(32'h120)+:(16)]) & 17'h1ffff) + 32'h8;
    assign folded = sum[(32'h0)+:(16)] + ((sum[(32'h10)+:(1)]) & 16'hffff);
    assign store__clock = clock;
    assign k = kind__5__q;
    assign opens = in_valid && k[(64'h0)+:(1)] && (k[(64'h1)+:(1)] || (k[(64'h2)+:(1)] && ~in_checksum)) && job[(64'h0)+:(1)] && ~st__q[(64'h6)+:(1)];
    always @(*) begin
        place = st__q[(64'h1)+:(5)];
        if (opens) begin
            place = ((32'h0) & 5'h1f);
        end
    end
    assign next_place = place + 32'h1;
    assign takes = opens || (in_valid && st__q[(64'h0)+:(1)] && (st__q[(64'h1)+:(5)] != 32'h10));
    assign store__write_enable = takes;
    assign store__write_address = place[(32'h0)+:(4)];
    always @(*) begin
        store__write_data = in_data;
        if (k[(64'h0)+:(1)]) begin
            store__write_data = ((echo) & 512'hffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff);
            if (k[(64'h1)+:(1)]) begin
                store__write_data = ((reply) & 512'hffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff);
            end
        end
    end
    assign done = takes && in_last && ~in_error && job[(64'h0)+:(1)];
    assign answers = done;
    assign at = st__q[(64'h7)+:(5)];
    assign store__read_address = at[(32'h0)+:(4)];
    assign next_sent = at + 32'h1;
    assign is_last = next_sent == st__q[(64'h1)+:(5)];
    assign tx_valid = st__q[(64'h6)+:(1)];
    assign tx_data = store__read_data;
    assign tx_last = is_last;
    assign busy = st__q[(64'h6)+:(1)];
    assign read_data = value__q;
    always @(*) begin
        in_frame__d = in_frame__q;
        st__d = st__q;
        counters__d = counters__q;
        value__d = value__q;
        kind__0__d[(64'h0)+:(1)] = rx_valid && ~in_frame__q;
        kind__0__d[(64'h1)+:(1)] = rx_last && ((a[(64'h0)+:(48)] == job[(64'h80)+:(48)]) || (a[(64'h0)+:(48)] == 64'hffffffffffff)) && (a[(64'h60)+:(16)] == 32'h608) && (a[(64'h70)+:(16)] == 32'h100) && (a[(64'h80)+:(16)] == 32'h8) && (a[(64'h90)+:(16)] == 32'h406) && (a[(64'ha0)+:(16)] == 32'h100) && (a[(64'h130)+:(32)] == job[(64'h60)+:(32)]);
        kind__0__d[(64'h2)+:(1)] = (h[(64'h0)+:(48)] == job[(64'h80)+:(48)]) && (h[(64'h60)+:(16)] == 32'h8) && (h[(64'h70)+:(8)] == 32'h45) && (fragment == 32'h0) && (h[(64'hb8)+:(8)] == 32'h1) && (h[(64'hf0)+:(32)] == job[(64'h60)+:(32)]) && (h[(64'h110)+:(16)] == 32'h8);
        kind__1__d = kind__0__q;
        kind__2__d = kind__1__q;
        kind__3__d = kind__2__q;
        kind__4__d = kind__3__q;
        kind__5__d = kind__4__q;
        if (rx_valid) begin
            in_frame__d = ~rx_last;
        end
        if (in_valid) begin
            st__d[(64'h0)+:(1)] = takes && ~in_last;
        end
        if (~job[(64'h0)+:(1)]) begin
            st__d[(64'h0)+:(1)] = 1'b0;
        end
        if (takes) begin
            st__d[(64'h1)+:(5)] = next_place;
        end
        if (done) begin
            st__d[(64'h6)+:(1)] = 1'b1;
            st__d[(64'h7)+:(5)] = ((32'h0) & 5'h1f);
        end
        if (st__q[(64'h6)+:(1)] && tx_ready) begin
            st__d[(64'h7)+:(5)] = next_sent;
            if (is_last) begin
                st__d[(64'h6)+:(1)] = 1'b0;
            end
        end
        if (done) begin
            counters__d[(64'h0)+:(32)] = counters__q[(64'h0)+:(32)] + 32'h1;
            if (opens && k[(64'h1)+:(1)]) begin
                counters__d[(64'h20)+:(32)] = counters__q[(64'h20)+:(32)] + 32'h1;
            end
            else begin
                counters__d[(64'h40)+:(32)] = counters__q[(64'h40)+:(32)] + 32'h1;
            end
        end
        if (~job[(64'h0)+:(1)]) begin
            counters__d[(64'h0)+:(32)] = ((32'h0) & 32'hffffffff);
            counters__d[(64'h20)+:(32)] = ((32'h0) & 32'hffffffff);
            counters__d[(64'h40)+:(32)] = ((32'h0) & 32'hffffffff);
        end
        value__d = ((32'h0) & 32'hffffffff);
        if (read_address == 32'h21) begin
            value__d = counters__q[(64'h0)+:(32)];
        end
        else if (read_address == 32'h33) begin
            value__d = counters__q[(64'h20)+:(32)];
        end
        else if (read_address == 32'h34) begin
            value__d = counters__q[(64'h40)+:(32)];
        end
        if (reset) begin
            in_frame__d = 1'b0;
            st__d[(64'h0)+:(1)] = 1'b0;
            st__d[(64'h6)+:(1)] = 1'b0;
        end
    end
    wire unused__a = &{a[511:336], a[303:176], a[95:48]};
    wire unused__h = &{h[511:288], h[239:192], h[183:176], h[159:120], h[95:48]};
    wire unused__job = &{job[95:1]};
    wire unused__request = &{request[511:256], request[175:160], request[47:0]};
endmodule

module optireduce_nic__rx(clock,reset,rx_valid,rx_data,rx_last,rx_error,rx_partial,valid,data,last,error,partial,busy);
    // Module arguments
    input wire  clock;
    input wire  reset;
    input wire  rx_valid;
    input wire  [511:0] rx_data;
    input wire  rx_last;
    input wire  rx_error;
    input wire  rx_partial;
    output wire  valid;
    output wire  [511:0] data;
    output wire  last;
    output wire  error;
    output wire  partial;
    output wire  busy;
    // Stub signals
    wire  sum__clock;
    wire  sum__reset;
    wire  sum__valid;
    wire  [511:0] sum__data;
    wire  sum__last;
    wire  sum__done;
    wire  [15:0] sum__total;
    wire  sum__checked;
    wire  sum__busy;
    reg  [515:0] line__0__d;
    wire  [515:0] line__0__q;
    wire  line__0__clock;
    reg  [515:0] line__1__d;
    wire  [515:0] line__1__q;
    wire  line__1__clock;
    reg  [515:0] line__2__d;
    wire  [515:0] line__2__q;
    wire  line__2__clock;
    reg  [515:0] line__3__d;
    wire  [515:0] line__3__q;
    wire  line__3__clock;
    reg  [515:0] line__4__d;
    wire  [515:0] line__4__q;
    wire  line__4__clock;
    reg  [515:0] line__5__d;
    wire  [515:0] line__5__q;
    wire  line__5__clock;
    // Local signals
    wire  wrong;
    // Sub module instances
    optireduce_nic__rx__sum sum(
        .clock(sum__clock),
        .reset(sum__reset),
        .valid(sum__valid),
        .data(sum__data),
        .last(sum__last),
        .done(sum__done),
        .total(sum__total),
        .checked(sum__checked),
        .busy(sum__busy)
    );
    optireduce_nic__rx__line__0 line__0(
        .d(line__0__d),
        .q(line__0__q),
        .clock(line__0__clock)
    );
    optireduce_nic__rx__line__0 line__1(
        .d(line__1__d),
        .q(line__1__q),
        .clock(line__1__clock)
    );
    optireduce_nic__rx__line__0 line__2(
        .d(line__2__d),
        .q(line__2__q),
        .clock(line__2__clock)
    );
    optireduce_nic__rx__line__0 line__3(
        .d(line__3__d),
        .q(line__3__q),
        .clock(line__3__clock)
    );
    optireduce_nic__rx__line__0 line__4(
        .d(line__4__d),
        .q(line__4__q),
        .clock(line__4__clock)
    );
    optireduce_nic__rx__line__0 line__5(
        .d(line__5__d),
        .q(line__5__q),
        .clock(line__5__clock)
    );
    // Update code
    assign sum__clock = clock;
    assign line__0__clock = clock;
    assign line__1__clock = clock;
    assign line__2__clock = clock;
    assign line__3__clock = clock;
    assign line__4__clock = clock;
    assign line__5__clock = clock;
    assign sum__reset = reset;
    assign sum__valid = rx_valid;
    assign sum__data = rx_data;
    assign sum__last = rx_last;
    assign wrong = sum__done && sum__checked && (sum__total != 32'hffff) && ~line__5__q[(64'h203)+:(1)];
    assign valid = line__5__q[(64'h0)+:(1)];
    assign data = line__5__q[(64'h1)+:(512)];
    assign last = line__5__q[(64'h201)+:(1)];
    assign error = line__5__q[(64'h202)+:(1)] || wrong;
    assign partial = line__5__q[(64'h203)+:(1)];
    assign busy = sum__busy;
    always @(*) begin
        line__0__d[(64'h0)+:(1)] = rx_valid;
        line__0__d[(64'h1)+:(512)] = rx_data;
        line__0__d[(64'h201)+:(1)] = rx_last;
        line__0__d[(64'h202)+:(1)] = rx_error;
        line__0__d[(64'h203)+:(1)] = rx_partial;
        line__1__d = line__0__q;
        line__2__d = line__1__q;
        line__3__d = line__2__q;
        line__4__d = line__3__q;
        line__5__d = line__4__q;
        if (reset) begin
            line__0__d[(64'h0)+:(1)] = 1'b0;
            line__1__d[(64'h0)+:(1)] = 1'b0;
            line__2__d[(64'h0)+:(1)] = 1'b0;
            line__3__d[(64'h0)+:(1)] = 1'b0;
            line__4__d[(64'h0)+:(1)] = 1'b0;
            line__5__d[(64'h0)+:(1)] = 1'b0;
        end
    end
endmodule

module optireduce_nic__tx(clock,reset,valid,beat,error,ready,tx_valid,tx_data,tx_last,tx_error,tx_ready,busy);
    // Module arguments
    input wire  clock;
    input wire  reset;
    input wire  valid;
    input wire  [512:0] beat;
    input wire  error;
    output wire  ready;
    output wire  tx_valid;
    output wire  [511:0] tx_data;
    output wire  tx_last;
    output wire  tx_error;
    input wire  tx_ready;
    output wire  busy;
    // Stub signals
    wire  sum__clock;
    wire  sum__reset;
    wire  sum__valid;
    wire  [511:0] sum__data;
    wire  sum__last;
    wire  sum__done;
    wire  [15:0] sum__total;
    wire  sum__checked;
    wire  sum__busy;
    wire  beats__clock;
    wire  beats__clear;
    wire  beats__push;
    wire  [511:0] beats__push_data;
    wire  beats__pop;
    wire  [511:0] beats__pop_data;
    wire  beats__empty;
    wire  [15:0] beats__room;
    wire  ends__clock;
    wire  ends__clear;
    wire  ends__push;
    reg  [1:0] ends__push_data;
    wire  ends__full;
    wire  ends__pop;
    wire  [1:0] ends__pop_data;
    wire  ends__empty;
    wire  [15:0] ends__room;
    wire  sums__clock;
    wire  sums__clear;
    wire  sums__push;
    reg  [15:0] sums__push_data;
    wire  sums__full;
    wire  sums__pop;
    wire  [15:0] sums__pop_data;
    wire  sums__empty;
    wire  [15:0] sums__room;
    reg  in_frame__d;
    wire  in_frame__q;
    wire  in_frame__clock;
    reg  leaving__d;
    wire  leaving__q;
    wire  leaving__clock;
    reg  [8:0] frames__d;
    wire  [8:0] frames__q;
    wire  frames__clock;
    // Local signals
    wire  takes;
    wire  opens;
    wire  leaves;
    wire  taken;
    wire  closes;
    wire  [8:0] frames_more;
    wire  [8:0] frames_less;
    wire  [15:0] checksum;
    reg  [511:0] h;
    reg  [511:0] out;
    wire  [1:0] e;
    // Sub module instances
    optireduce_nic__rx__sum sum(
        .clock(sum__clock),
        .reset(sum__reset),
        .valid(sum__valid),
        .data(sum__data),
        .last(sum__last),
        .done(sum__done),
        .total(sum__total),
        .checked(sum__checked),
        .busy(sum__busy)
    );
    optireduce_nic__nic__builder__outbox beats(
        .clock(beats__clock),
        .clear(beats__clear),
        .push(beats__push),
        .push_data(beats__push_data),
        .pop(beats__pop),
        .pop_data(beats__pop_data),
        .empty(beats__empty),
        .room(beats__room)
    );
    optireduce_nic__nic__builder__out_flags ends(
        .clock(ends__clock),
        .clear(ends__clear),
        .push(ends__push),
        .push_data(ends__push_data),
        .full(ends__full),
        .pop(ends__pop),
        .pop_data(ends__pop_data),
        .empty(ends__empty),
        .room(ends__room)
    );
    optireduce_nic__tx__sums sums(
        .clock(sums__clock),
        .clear(sums__clear),
        .push(sums__push),
        .push_data(sums__push_data),
        .full(sums__full),
        .pop(sums__pop),
        .pop_data(sums__pop_data),
        .empty(sums__empty),
        .room(sums__room)
    );
    optireduce_nic__nic__finisher__drain__side__0 in_frame(
        .d(in_frame__d),
        .q(in_frame__q),
        .clock(in_frame__clock)
    );
    optireduce_nic__nic__finisher__drain__side__0 leaving(
        .d(leaving__d),
        .q(leaving__q),
        .clock(leaving__clock)
    );
    optireduce_nic__nic__planner__packet_beats frames(
        .d(frames__d),
        .q(frames__q),
        .clock(frames__clock)
    );
    // Update code
    assign in_frame__clock = clock;
    assign leaving__clock = clock;
    assign frames__clock = clock;
    assign sum__clock = clock;
    assign sum__reset = reset;
    assign beats__clock = clock;
    assign beats__clear = reset;
    assign ends__clock = clock;
    assign ends__clear = reset;
    assign sums__clock = clock;
    assign sums__clear = reset;
    assign ready = (beats__room != 32'h0) && (in_frame__q || (frames__q < 32'h3) || (beats__room >= 32'he0));
    assign takes = valid && ready;
    assign opens = takes && ~in_frame__q;
    assign beats__push = takes;
    assign beats__push_data = beat[(64'h0)+:(512)];
    assign ends__push = takes;
    always @(*) begin
        ends__push_data[(64'h0)+:(1)] = beat[(64'h200)+:(1)];
        ends__push_data[(64'h1)+:(1)] = error;
    end
    assign sum__valid = takes;
    assign sum__data = beat[(64'h0)+:(512)];
    assign sum__last = beat[(64'h200)+:(1)];
    assign checksum = sum__total ^ 32'hffff;
    assign sums__push = sum__done;
    always @(*) begin
        sums__push_data = checksum;
        if (checksum == 32'h0) begin
            sums__push_data = ((32'hffff) & 16'hffff);
        end
    end
    assign leaves = ~sums__empty;
    assign e = ends__pop_data;
    assign taken = leaves && tx_ready;
    assign closes = taken && e[(64'h0)+:(1)];
    assign beats__pop = taken;
    assign ends__pop = taken;
    assign sums__pop = closes;
    always @(*) begin
        h = ((beats__pop_data) & 512'hffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff);
        h[(64'h140)+:(16)] = sums__pop_data;
    end
    always @(*) begin
        out = beats__pop_data;
        if (~leaving__q) begin
            out = ((h) & 512'hffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff);
        end
    end
    assign tx_valid = leaves;
    assign tx_data = out;
    assign tx_last = e[(64'h0)+:(1)];
    assign tx_error = e[(64'h1)+:(1)];
    assign frames_more = frames__q + 32'h1;
    assign frames_less = frames__q - 32'h1;
    assign busy = frames__q != 32'h0;
    always @(*) begin
        in_frame__d = in_frame__q;
        leaving__d = leaving__q;
        frames__d = frames__q;
        if (takes) begin
            in_frame__d = ~beat[(64'h200)+:(1)];
        end
        if (taken) begin
            leaving__d = ~e[(64'h0)+:(1)];
        end
        if (opens && ~closes) begin
            frames__d = frames_more;
        end
        else if (closes && ~opens) begin
            frames__d = frames_less;
        end
        if (reset) begin
            in_frame__d = 1'b0;
            leaving__d = 1'b0;
            frames__d = ((32'h0) & 9'h1ff);
        end
    end
    wire unused__beats__empty = &{beats__empty};
    wire unused__ends__empty = &{ends__empty};
    wire unused__ends__full = &{ends__full};
    wire unused__ends__room = &{ends__room};
    wire unused__sum__busy = &{sum__busy};
    wire unused__sum__checked = &{sum__checked};
    wire unused__sums__full = &{sums__full};
    wire unused__sums__room = &{sums__room};
endmodule

module optireduce_nic(clock,reset,now_ns,link,pci_id,build_id,reg_write,reg_write_address,reg_write_data,reg_read_address,reg_read_data,msix_valid,msix_vector,msix_ready,axi_ar_valid,axi_ar_address,axi_ar_beats,axi_ar_ready,axi_r_valid,axi_r_data,axi_r_last,axi_r_error,axi_r_ready,axi_aw_valid,axi_aw_address,axi_aw_beats,axi_aw_ready,axi_w_valid,axi_w_data,axi_w_last,axi_w_ready,axi_b_valid,axi_b_error,rx_valid,rx_data,rx_last,rx_error,rx_partial,tx_valid,tx_data,tx_last,tx_error,tx_ready,asleep,timer_ns,trace_arm,trace_cookie,trace_sum,trace_sum_place,trace_mean,trace_mean_place,trace_contribute_open,trace_broadcast_open);
    // Module arguments
    input wire  clock;
    input wire  reset;
    input wire  [47:0] now_ns;
    input wire  [2:0] link;
    input wire  [31:0] pci_id;
    input wire  [31:0] build_id;
    input wire  reg_write;
    input wire  [9:0] reg_write_address;
    input wire  [31:0] reg_write_data;
    input wire  [9:0] reg_read_address;
    output reg  [31:0] reg_read_data;
    output wire  msix_valid;
    output wire  [1:0] msix_vector;
    input wire  msix_ready;
    output wire  axi_ar_valid;
    output wire  [63:0] axi_ar_address;
    output wire  [6:0] axi_ar_beats;
    input wire  axi_ar_ready;
    input wire  axi_r_valid;
    input wire  [511:0] axi_r_data;
    input wire  axi_r_last;
    input wire  axi_r_error;
    output wire  axi_r_ready;
    output wire  axi_aw_valid;
    output wire  [63:0] axi_aw_address;
    output wire  [6:0] axi_aw_beats;
    input wire  axi_aw_ready;
    output wire  axi_w_valid;
    output wire  [511:0] axi_w_data;
    output wire  axi_w_last;
    input wire  axi_w_ready;
    input wire  axi_b_valid;
    input wire  axi_b_error;
    input wire  rx_valid;
    input wire  [511:0] rx_data;
    input wire  rx_last;
    input wire  rx_error;
    input wire  rx_partial;
    output wire  tx_valid;
    output wire  [511:0] tx_data;
    output wire  tx_last;
    output wire  tx_error;
    input wire  tx_ready;
    output wire  asleep;
    output wire  [47:0] timer_ns;
    output wire  [7:0] trace_arm;
    output wire  [31:0] trace_cookie;
    output wire  trace_sum;
    output wire  [22:0] trace_sum_place;
    output wire  trace_mean;
    output wire  [22:0] trace_mean_place;
    output wire  [7:0] trace_contribute_open;
    output wire  [7:0] trace_broadcast_open;
    // Stub signals
    wire  nic__clock;
    wire  nic__reset;
    wire  [47:0] nic__now_ns;
    wire  nic__reg_write;
    wire  [9:0] nic__reg_write_address;
    wire  [31:0] nic__reg_write_data;
    wire  [9:0] nic__reg_read_address;
    wire  [31:0] nic__reg_read_data;
    wire  nic__msix_valid;
    wire  [1:0] nic__msix_vector;
    wire  nic__msix_ready;
    wire  nic__axi_ar_valid;
    wire  [63:0] nic__axi_ar_address;
    wire  [6:0] nic__axi_ar_beats;
    wire  nic__axi_ar_ready;
    wire  nic__axi_r_valid;
    wire  [511:0] nic__axi_r_data;
    wire  nic__axi_r_last;
    wire  nic__axi_r_error;
    wire  nic__axi_r_ready;
    wire  nic__axi_aw_valid;
    wire  [63:0] nic__axi_aw_address;
    wire  [6:0] nic__axi_aw_beats;
    wire  nic__axi_aw_ready;
    wire  nic__axi_w_valid;
    wire  [511:0] nic__axi_w_data;
    wire  nic__axi_w_last;
    wire  nic__axi_w_ready;
    wire  nic__axi_b_valid;
    wire  nic__axi_b_error;
    wire  nic__rx_valid;
    wire  [511:0] nic__rx_data;
    wire  nic__rx_last;
    wire  nic__rx_error;
    wire  nic__tx_valid;
    wire  [511:0] nic__tx_data;
    wire  nic__tx_last;
    wire  nic__tx_error;
    wire  nic__tx_ready;
    wire  nic__asleep;
    wire  [47:0] nic__timer_ns;
    wire  [7:0] nic__trace_arm;
    wire  [31:0] nic__trace_cookie;
    wire  nic__trace_sum;
    wire  [22:0] nic__trace_sum_place;
    wire  nic__trace_mean;
    wire  [22:0] nic__trace_mean_place;
    wire  [7:0] nic__trace_contribute_open;
    wire  [7:0] nic__trace_broadcast_open;
    wire  job_copy__clock;
    wire  job_copy__reset;
    wire  job_copy__write;
    wire  [9:0] job_copy__write_address;
    wire  [31:0] job_copy__write_data;
    wire  [175:0] job_copy__job;
    wire  card_state__clock;
    wire  [47:0] card_state__now_ns;
    wire  [2:0] card_state__link;
    wire  [31:0] card_state__pci_id;
    wire  [31:0] card_state__build_id;
    wire  [9:0] card_state__read_address;
    wire  [31:0] card_state__read_data;
    wire  rx__clock;
    wire  rx__reset;
    wire  rx__rx_valid;
    wire  [511:0] rx__rx_data;
    wire  rx__rx_last;
    wire  rx__rx_error;
    wire  rx__rx_partial;
    wire  rx__valid;
    wire  [511:0] rx__data;
    wire  rx__last;
    wire  rx__error;
    wire  rx__partial;
    wire  rx__busy;
    wire  filter__clock;
    wire  filter__reset;
    wire  [175:0] filter__job;
    wire  filter__write;
    wire  [9:0] filter__write_address;
    wire  [31:0] filter__write_data;
    wire  [9:0] filter__read_address;
    wire  [31:0] filter__read_data;
    wire  filter__rx_valid;
    wire  [511:0] filter__rx_data;
    wire  filter__rx_last;
    wire  filter__in_valid;
    wire  filter__in_last;
    wire  filter__in_error;
    wire  filter__in_partial;
    wire  filter__answered;
    wire  filter__checksum;
    wire  filter__valid;
    wire  filter__error;
    wire  responder__clock;
    wire  responder__reset;
    wire  [175:0] responder__job;
    wire  [9:0] responder__read_address;
    wire  [31:0] responder__read_data;
    wire  responder__rx_valid;
    wire  [511:0] responder__rx_data;
    wire  responder__rx_last;
    wire  responder__in_valid;
    wire  [511:0] responder__in_data;
    wire  responder__in_last;
    wire  responder__in_error;
    wire  responder__in_checksum;
    wire  responder__answers;
    wire  responder__tx_valid;
    wire  [511:0] responder__tx_data;
    wire  responder__tx_last;
    wire  responder__tx_ready;
    wire  responder__busy;
    wire  tx__clock;
    wire  tx__reset;
    wire  tx__valid;
    reg  [512:0] tx__beat;
    wire  tx__error;
    wire  tx__ready;
    wire  tx__tx_valid;
    wire  [511:0] tx__tx_data;
    wire  tx__tx_last;
    wire  tx__tx_error;
    wire  tx__tx_ready;
    wire  tx__busy;
    wire  merge__clock;
    wire  merge__reset;
    wire  merge__valid;
    wire  [511:0] merge__data;
    wire  merge__last;
    wire  merge__error;
    wire  merge__ready;
    wire  merge__answer_valid;
    wire  [511:0] merge__answer_data;
    wire  merge__answer_last;
    wire  merge__answer_ready;
    wire  merge__tx_valid;
    wire  [511:0] merge__tx_data;
    wire  merge__tx_last;
    wire  merge__tx_error;
    wire  merge__tx_ready;
    reg  reads_status__d;
    wire  reads_status__q;
    wire  reads_status__clock;
    // Local signals
    wire  [31:0] value;
    // Sub module instances
    optireduce_nic__nic nic(
        .clock(nic__clock),
        .reset(nic__reset),
        .now_ns(nic__now_ns),
        .reg_write(nic__reg_write),
        .reg_write_address(nic__reg_write_address),
        .reg_write_data(nic__reg_write_data),
        .reg_read_address(nic__reg_read_address),
        .reg_read_data(nic__reg_read_data),
        .msix_valid(nic__msix_valid),
        .msix_vector(nic__msix_vector),
        .msix_ready(nic__msix_ready),
        .axi_ar_valid(nic__axi_ar_valid),
        .axi_ar_address(nic__axi_ar_address),
        .axi_ar_beats(nic__axi_ar_beats),
        .axi_ar_ready(nic__axi_ar_ready),
        .axi_r_valid(nic__axi_r_valid),
        .axi_r_data(nic__axi_r_data),
        .axi_r_last(nic__axi_r_last),
        .axi_r_error(nic__axi_r_error),
        .axi_r_ready(nic__axi_r_ready),
        .axi_aw_valid(nic__axi_aw_valid),
        .axi_aw_address(nic__axi_aw_address),
        .axi_aw_beats(nic__axi_aw_beats),
        .axi_aw_ready(nic__axi_aw_ready),
        .axi_w_valid(nic__axi_w_valid),
        .axi_w_data(nic__axi_w_data),
        .axi_w_last(nic__axi_w_last),
        .axi_w_ready(nic__axi_w_ready),
        .axi_b_valid(nic__axi_b_valid),
        .axi_b_error(nic__axi_b_error),
        .rx_valid(nic__rx_valid),
        .rx_data(nic__rx_data),
        .rx_last(nic__rx_last),
        .rx_error(nic__rx_error),
        .tx_valid(nic__tx_valid),
        .tx_data(nic__tx_data),
        .tx_last(nic__tx_last),
        .tx_error(nic__tx_error),
        .tx_ready(nic__tx_ready),
        .asleep(nic__asleep),
        .timer_ns(nic__timer_ns),
        .trace_arm(nic__trace_arm),
        .trace_cookie(nic__trace_cookie),
        .trace_sum(nic__trace_sum),
        .trace_sum_place(nic__trace_sum_place),
        .trace_mean(nic__trace_mean),
        .trace_mean_place(nic__trace_mean_place),
        .trace_contribute_open(nic__trace_contribute_open),
        .trace_broadcast_open(nic__trace_broadcast_open)
    );
    optireduce_nic__job_copy job_copy(
        .clock(job_copy__clock),
        .reset(job_copy__reset),
        .write(job_copy__write),
        .write_address(job_copy__write_address),
        .write_data(job_copy__write_data),
        .job(job_copy__job)
    );
    optireduce_nic__card_state card_state(
        .clock(card_state__clock),
        .now_ns(card_state__now_ns),
        .link(card_state__link),
        .pci_id(card_state__pci_id),
        .build_id(card_state__build_id),
        .read_address(card_state__read_address),
        .read_data(card_state__read_data)
    );
    optireduce_nic__rx rx(
        .clock(rx__clock),
        .reset(rx__reset),
        .rx_valid(rx__rx_valid),
        .rx_data(rx__rx_data),
        .rx_last(rx__rx_last),
        .rx_error(rx__rx_error),
        .rx_partial(rx__rx_partial),
        .valid(rx__valid),
        .data(rx__data),
        .last(rx__last),
        .error(rx__error),
        .partial(rx__partial),
        .busy(rx__busy)
    );
    optireduce_nic__filter filter(
        .clock(filter__clock),
        .reset(filter__reset),
        .job(filter__job),
        .write(filter__write),
        .write_address(filter__write_address),
        .write_data(filter__write_data),
        .read_address(filter__read_address),
        .read_data(filter__read_data),
        .rx_valid(filter__rx_valid),
        .rx_data(filter__rx_data),
        .rx_last(filter__rx_last),
        .in_valid(filter__in_valid),
        .in_last(filter__in_last),
        .in_error(filter__in_error),
        .in_partial(filter__in_partial),
        .answered(filter__answered),
        .checksum(filter__checksum),
        .valid(filter__valid),
        .error(filter__error)
    );
    optireduce_nic__responder responder(
        .clock(responder__clock),
        .reset(responder__reset),
        .job(responder__job),
        .read_address(responder__read_address),
        .read_data(responder__read_data),
        .rx_valid(responder__rx_valid),
        .rx_data(responder__rx_data),
        .rx_last(responder__rx_last),
        .in_valid(responder__in_valid),
        .in_data(responder__in_data),
        .in_last(responder__in_last),
        .in_error(responder__in_error),
        .in_checksum(responder__in_checksum),
        .answers(responder__answers),
        .tx_valid(responder__tx_valid),
        .tx_data(responder__tx_data),
        .tx_last(responder__tx_last),
        .tx_ready(responder__tx_ready),
        .busy(responder__busy)
    );
    optireduce_nic__tx tx(
        .clock(tx__clock),
        .reset(tx__reset),
        .valid(tx__valid),
        .beat(tx__beat),
        .error(tx__error),
        .ready(tx__ready),
        .tx_valid(tx__tx_valid),
        .tx_data(tx__tx_data),
        .tx_last(tx__tx_last),
        .tx_error(tx__tx_error),
        .tx_ready(tx__tx_ready),
        .busy(tx__busy)
    );
    optireduce_nic__merge merge(
        .clock(merge__clock),
        .reset(merge__reset),
        .valid(merge__valid),
        .data(merge__data),
        .last(merge__last),
        .error(merge__error),
        .ready(merge__ready),
        .answer_valid(merge__answer_valid),
        .answer_data(merge__answer_data),
        .answer_last(merge__answer_last),
        .answer_ready(merge__answer_ready),
        .tx_valid(merge__tx_valid),
        .tx_data(merge__tx_data),
        .tx_last(merge__tx_last),
        .tx_error(merge__tx_error),
        .tx_ready(merge__tx_ready)
    );
    optireduce_nic__nic__finisher__drain__side__0 reads_status(
        .d(reads_status__d),
        .q(reads_status__q),
        .clock(reads_status__clock)
    );
    // Update code
    assign reads_status__clock = clock;
    assign nic__clock = clock;
    assign job_copy__clock = clock;
    assign card_state__clock = clock;
    assign rx__clock = clock;
    assign filter__clock = clock;
    assign responder__clock = clock;
    assign tx__clock = clock;
    assign merge__clock = clock;
    assign nic__reset = reset;
    assign job_copy__reset = reset;
    assign rx__reset = reset;
    assign filter__reset = reset;
    assign responder__reset = reset;
    assign tx__reset = reset;
    assign merge__reset = reset;
    assign nic__now_ns = now_ns;
    assign nic__reg_write = reg_write;
    assign nic__reg_write_address = reg_write_address;
    assign nic__reg_write_data = reg_write_data;
    assign nic__reg_read_address = reg_read_address;
    assign nic__msix_ready = msix_ready;
    assign nic__axi_ar_ready = axi_ar_ready;
    assign nic__axi_r_valid = axi_r_valid;
    assign nic__axi_r_data = axi_r_data;
    assign nic__axi_r_last = axi_r_last;
    assign nic__axi_r_error = axi_r_error;
    assign nic__axi_aw_ready = axi_aw_ready;
    assign nic__axi_w_ready = axi_w_ready;
    assign nic__axi_b_valid = axi_b_valid;
    assign nic__axi_b_error = axi_b_error;
    assign msix_valid = nic__msix_valid;
    assign msix_vector = nic__msix_vector;
    assign axi_ar_valid = nic__axi_ar_valid;
    assign axi_ar_address = nic__axi_ar_address;
    assign axi_ar_beats = nic__axi_ar_beats;
    assign axi_r_ready = nic__axi_r_ready;
    assign axi_aw_valid = nic__axi_aw_valid;
    assign axi_aw_address = nic__axi_aw_address;
    assign axi_aw_beats = nic__axi_aw_beats;
    assign axi_w_valid = nic__axi_w_valid;
    assign axi_w_data = nic__axi_w_data;
    assign axi_w_last = nic__axi_w_last;
    assign timer_ns = nic__timer_ns;
    assign trace_arm = nic__trace_arm;
    assign trace_cookie = nic__trace_cookie;
    assign trace_sum = nic__trace_sum;
    assign trace_sum_place = nic__trace_sum_place;
    assign trace_mean = nic__trace_mean;
    assign trace_mean_place = nic__trace_mean_place;
    assign trace_contribute_open = nic__trace_contribute_open;
    assign trace_broadcast_open = nic__trace_broadcast_open;
    assign job_copy__write = reg_write;
    assign job_copy__write_address = reg_write_address;
    assign job_copy__write_data = reg_write_data;
    assign filter__job = job_copy__job;
    assign filter__write = reg_write;
    assign filter__write_address = reg_write_address;
    assign filter__write_data = reg_write_data;
    assign filter__read_address = reg_read_address;
    assign responder__job = job_copy__job;
    assign card_state__now_ns = now_ns;
    assign card_state__link = link;
    assign card_state__pci_id = pci_id;
    assign card_state__build_id = build_id;
    assign card_state__read_address = reg_read_address;
    assign responder__read_address = reg_read_address;
    assign value = nic__reg_read_data + (filter__read_data | responder__read_data | card_state__read_data);
    always @(*) begin
        reg_read_data = value;
        if (reads_status__q && ~job_copy__job[(64'h0)+:(1)] && (tx__busy || responder__busy)) begin
            reg_read_data = value | 32'h2;
        end
    end
    assign rx__rx_valid = rx_valid;
    assign rx__rx_data = rx_data;
    assign rx__rx_last = rx_last;
    assign rx__rx_error = rx_error;
    assign rx__rx_partial = rx_partial;
    assign filter__rx_valid = rx_valid;
    assign filter__rx_data = rx_data;
    assign filter__rx_last = rx_last;
    assign responder__rx_valid = rx_valid;
    assign responder__rx_data = rx_data;
    assign responder__rx_last = rx_last;
    assign responder__in_valid = rx__valid;
    assign responder__in_data = rx__data;
    assign responder__in_last = rx__last;
    assign responder__in_error = rx__error;
    assign responder__in_checksum = filter__checksum;
    assign filter__answered = responder__answers;
    assign filter__in_valid = rx__valid;
    assign filter__in_last = rx__last;
    assign filter__in_error = rx__error;
    assign filter__in_partial = rx__partial;
    assign nic__rx_valid = filter__valid;
    assign nic__rx_data = rx__data;
    assign nic__rx_last = rx__last;
    assign nic__rx_error = filter__error;
    assign tx__valid = nic__tx_valid;
    always @(*) begin
        tx__beat[(64'h0)+:(512)] = nic__tx_data;
        tx__beat[(64'h200)+:(1)] = nic__tx_last;
    end
    assign tx__error = nic__tx_error;
    assign nic__tx_ready = tx__ready;
    assign merge__valid = tx__tx_valid;
    assign merge__data = tx__tx_data;
    assign merge__last = tx__tx_last;
    assign merge__error = tx__tx_error;
    assign tx__tx_ready = merge__ready;
    assign merge__answer_valid = responder__tx_valid;
    assign merge__answer_data = responder__tx_data;
    assign merge__answer_last = responder__tx_last;
    assign responder__tx_ready = merge__answer_ready;
    assign tx_valid = merge__tx_valid;
    assign tx_data = merge__tx_data;
    assign tx_last = merge__tx_last;
    assign tx_error = merge__tx_error;
    assign merge__tx_ready = tx_ready;
    assign asleep = nic__asleep && ~rx_valid && ~rx__busy && ~tx__busy && ~responder__busy;
    always @(*) begin
        reads_status__d = reads_status__q;
        reads_status__d = reg_read_address == 32'h11;
    end
endmodule

module optireduce_registers(clock,reset,awvalid,awaddr,awready,wvalid,wdata,wstrb,wready,bvalid,bresp,bready,arvalid,araddr,arready,rvalid,rdata,rresp,rready,write,write_address,write_data,read_address,read_data);
    // Module arguments
    input wire  clock;
    input wire  reset;
    input wire  awvalid;
    input wire  [11:0] awaddr;
    output wire  awready;
    input wire  wvalid;
    input wire  [31:0] wdata;
    input wire  [3:0] wstrb;
    output wire  wready;
    output wire  bvalid;
    output reg  [1:0] bresp;
    input wire  bready;
    input wire  arvalid;
    input wire  [11:0] araddr;
    output wire  arready;
    output wire  rvalid;
    output wire  [31:0] rdata;
    output wire  [1:0] rresp;
    input wire  rready;
    output wire  write;
    output wire  [9:0] write_address;
    output wire  [31:0] write_data;
    output wire  [9:0] read_address;
    input wire  [31:0] read_data;
    // Stub signals
    reg  have_address__d;
    wire  have_address__q;
    wire  have_address__clock;
    reg  [11:0] address__d;
    wire  [11:0] address__q;
    wire  address__clock;
    reg  have_data__d;
    wire  have_data__q;
    wire  have_data__clock;
    reg  [31:0] data__d;
    wire  [31:0] data__q;
    wire  data__clock;
    reg  whole__d;
    wire  whole__q;
    wire  whole__clock;
    reg  answer__d;
    wire  answer__q;
    wire  answer__clock;
    reg  failed__d;
    wire  failed__q;
    wire  failed__clock;
    reg  asked__d;
    wire  asked__q;
    wire  asked__clock;
    reg  coming__d;
    wire  coming__q;
    wire  coming__clock;
    reg  waiting__d;
    wire  waiting__q;
    wire  waiting__clock;
    reg  [11:0] read__d;
    wire  [11:0] read__q;
    wire  read__clock;
    reg  have_value__d;
    wire  have_value__q;
    wire  have_value__clock;
    reg  [31:0] value__d;
    wire  [31:0] value__q;
    wire  value__clock;
    // Local signals
    wire  go;
    // Sub module instances
    optireduce_nic__nic__finisher__drain__side__0 have_address(
        .d(have_address__d),
        .q(have_address__q),
        .clock(have_address__clock)
    );
    optireduce_nic__responder__st address(
        .d(address__d),
        .q(address__q),
        .clock(address__clock)
    );
    optireduce_nic__nic__finisher__drain__side__0 have_data(
        .d(have_data__d),
        .q(have_data__q),
        .clock(have_data__clock)
    );
    optireduce_nic__nic__finisher__drain__multiplier__lane__0__result data(
        .d(data__d),
        .q(data__q),
        .clock(data__clock)
    );
    optireduce_nic__nic__finisher__drain__side__0 whole(
        .d(whole__d),
        .q(whole__q),
        .clock(whole__clock)
    );
    optireduce_nic__nic__finisher__drain__side__0 answer(
        .d(answer__d),
        .q(answer__q),
        .clock(answer__clock)
    );
    optireduce_nic__nic__finisher__drain__side__0 failed(
        .d(failed__d),
        .q(failed__q),
        .clock(failed__clock)
    );
    optireduce_nic__nic__finisher__drain__side__0 asked(
        .d(asked__d),
        .q(asked__q),
        .clock(asked__clock)
    );
    optireduce_nic__nic__finisher__drain__side__0 coming(
        .d(coming__d),
        .q(coming__q),
        .clock(coming__clock)
    );
    optireduce_nic__nic__finisher__drain__side__0 waiting(
        .d(waiting__d),
        .q(waiting__q),
        .clock(waiting__clock)
    );
    optireduce_nic__responder__st read(
        .d(read__d),
        .q(read__q),
        .clock(read__clock)
    );
    optireduce_nic__nic__finisher__drain__side__0 have_value(
        .d(have_value__d),
        .q(have_value__q),
        .clock(have_value__clock)
    );
    optireduce_nic__nic__finisher__drain__multiplier__lane__0__result value(
        .d(value__d),
        .q(value__q),
        .clock(value__clock)
    );
    // Update code
    assign have_address__clock = clock;
    assign address__clock = clock;
    assign have_data__clock = clock;
    assign data__clock = clock;
    assign whole__clock = clock;
    assign answer__clock = clock;
    assign failed__clock = clock;
    assign asked__clock = clock;
    assign coming__clock = clock;
    assign waiting__clock = clock;
    assign read__clock = clock;
    assign have_value__clock = clock;
    assign value__clock = clock;
    assign awready = ~have_address__q;
    assign wready = ~have_data__q;
    assign go = have_address__q && have_data__q && ~answer__q;
    assign write = go && whole__q;
    assign write_address = address__q[(32'h2)+:(10)];
    assign write_data = data__q;
    assign bvalid = answer__q;
    always @(*) begin
        bresp = ((32'h0) & 2'h3);
        if (failed__q) begin
            bresp = ((32'h2) & 2'h3);
        end
    end
    assign arready = ~asked__q;
    assign read_address = read__q[(32'h2)+:(10)];
    assign rvalid = have_value__q;
    assign rdata = value__q;
    assign rresp = ((32'h0) & 2'h3);
    always @(*) begin
        have_address__d = have_address__q;
        address__d = address__q;
        have_data__d = have_data__q;
        data__d = data__q;
        whole__d = whole__q;
        answer__d = answer__q;
        failed__d = failed__q;
        asked__d = asked__q;
        coming__d = coming__q;
        waiting__d = waiting__q;
        read__d = read__q;
        have_value__d = have_value__q;
        value__d = value__q;
        if (awvalid && ~have_address__q) begin
            have_address__d = 1'b1;
            address__d = awaddr;
        end
        if (wvalid && ~have_data__q) begin
            have_data__d = 1'b1;
            data__d = wdata;
            whole__d = wstrb == 32'hf;
        end
        if (answer__q && bready) begin
            answer__d = 1'b0;
        end
        if (go) begin
            have_address__d = 1'b0;
            have_data__d = 1'b0;
            answer__d = 1'b1;
            failed__d = ~whole__q;
        end
        coming__d = 1'b0;
        if (arvalid && ~asked__q) begin
            asked__d = 1'b1;
            coming__d = 1'b1;
            read__d = araddr;
        end
        waiting__d = coming__q;
        if (waiting__q) begin
            have_value__d = 1'b1;
            value__d = read_data;
        end
        if (have_value__q && rready) begin
            have_value__d = 1'b0;
            asked__d = 1'b0;
        end
        if (reset) begin
            have_address__d = 1'b0;
            have_data__d = 1'b0;
            answer__d = 1'b0;
            asked__d = 1'b0;
            coming__d = 1'b0;
            waiting__d = 1'b0;
            have_value__d = 1'b0;
        end
    end
endmodule

module optireduce_card(clock,aresetn,link,pci_id,build_id,s_axil_awaddr,s_axil_awprot,s_axil_awvalid,s_axil_awready,s_axil_wdata,s_axil_wstrb,s_axil_wvalid,s_axil_wready,s_axil_bresp,s_axil_bvalid,s_axil_bready,s_axil_araddr,s_axil_arprot,s_axil_arvalid,s_axil_arready,s_axil_rdata,s_axil_rresp,s_axil_rvalid,s_axil_rready,m_axi_awid,m_axi_awaddr,m_axi_awlen,m_axi_awsize,m_axi_awburst,m_axi_awlock,m_axi_awcache,m_axi_awprot,m_axi_awvalid,m_axi_awready,m_axi_wdata,m_axi_wstrb,m_axi_wlast,m_axi_wvalid,m_axi_wready,m_axi_bid,m_axi_bresp,m_axi_bvalid,m_axi_bready,m_axi_arid,m_axi_araddr,m_axi_arlen,m_axi_arsize,m_axi_arburst,m_axi_arlock,m_axi_arcache,m_axi_arprot,m_axi_arvalid,m_axi_arready,m_axi_rid,m_axi_rdata,m_axi_rresp,m_axi_rlast,m_axi_rvalid,m_axi_rready,s_axis_rx_tdata,s_axis_rx_tkeep,s_axis_rx_tlast,s_axis_rx_tuser,s_axis_rx_tvalid,s_axis_rx_tready,m_axis_tx_tdata,m_axis_tx_tkeep,m_axis_tx_tlast,m_axis_tx_tuser,m_axis_tx_tvalid,m_axis_tx_tready,msix_valid,msix_vector,msix_ready);
    // Module arguments
    input wire  clock;
    input wire  aresetn;
    input wire  [2:0] link;
    input wire  [31:0] pci_id;
    input wire  [31:0] build_id;
    input wire  [11:0] s_axil_awaddr;
    input wire  [2:0] s_axil_awprot;
    input wire  s_axil_awvalid;
    output wire  s_axil_awready;
    input wire  [31:0] s_axil_wdata;
    input wire  [3:0] s_axil_wstrb;
    input wire  s_axil_wvalid;
    output wire  s_axil_wready;
    output wire  [1:0] s_axil_bresp;
    output wire  s_axil_bvalid;
    input wire  s_axil_bready;
    input wire  [11:0] s_axil_araddr;
    input wire  [2:0] s_axil_arprot;
    input wire  s_axil_arvalid;
    output wire  s_axil_arready;
    output wire  [31:0] s_axil_rdata;
    output wire  [1:0] s_axil_rresp;
    output wire  s_axil_rvalid;
    input wire  s_axil_rready;
    output wire  [3:0] m_axi_awid;
    output wire  [63:0] m_axi_awaddr;
    output wire  [7:0] m_axi_awlen;
    output wire  [2:0] m_axi_awsize;
    output wire  [1:0] m_axi_awburst;
    output wire  m_axi_awlock;
    output wire  [3:0] m_axi_awcache;
    output wire  [2:0] m_axi_awprot;
    output wire  m_axi_awvalid;
    input wire  m_axi_awready;
    output wire  [511:0] m_axi_wdata;
    output wire  [63:0] m_axi_wstrb;
    output wire  m_axi_wlast;
    output wire  m_axi_wvalid;
    input wire  m_axi_wready;
    input wire  [3:0] m_axi_bid;
    input wire  [1:0] m_axi_bresp;
    input wire  m_axi_bvalid;
    output wire  m_axi_bready;
    output wire  [3:0] m_axi_arid;
    output wire  [63:0] m_axi_araddr;
    output wire  [7:0] m_axi_arlen;
    output wire  [2:0] m_axi_arsize;
    output wire  [1:0] m_axi_arburst;
    output wire  m_axi_arlock;
    output wire  [3:0] m_axi_arcache;
    output wire  [2:0] m_axi_arprot;
    output wire  m_axi_arvalid;
    input wire  m_axi_arready;
    input wire  [3:0] m_axi_rid;
    input wire  [511:0] m_axi_rdata;
    input wire  [1:0] m_axi_rresp;
    input wire  m_axi_rlast;
    input wire  m_axi_rvalid;
    output wire  m_axi_rready;
    input wire  [511:0] s_axis_rx_tdata;
    input wire  [63:0] s_axis_rx_tkeep;
    input wire  s_axis_rx_tlast;
    input wire  s_axis_rx_tuser;
    input wire  s_axis_rx_tvalid;
    output wire  s_axis_rx_tready;
    output wire  [511:0] m_axis_tx_tdata;
    output wire  [63:0] m_axis_tx_tkeep;
    output wire  m_axis_tx_tlast;
    output wire  m_axis_tx_tuser;
    output wire  m_axis_tx_tvalid;
    input wire  m_axis_tx_tready;
    output wire  msix_valid;
    output wire  [1:0] msix_vector;
    input wire  msix_ready;
    // Stub signals
    wire  nic__clock;
    wire  nic__reset;
    wire  [47:0] nic__now_ns;
    wire  [2:0] nic__link;
    wire  [31:0] nic__pci_id;
    wire  [31:0] nic__build_id;
    wire  nic__reg_write;
    wire  [9:0] nic__reg_write_address;
    wire  [31:0] nic__reg_write_data;
    wire  [9:0] nic__reg_read_address;
    wire  [31:0] nic__reg_read_data;
    wire  nic__msix_valid;
    wire  [1:0] nic__msix_vector;
    wire  nic__msix_ready;
    wire  nic__axi_ar_valid;
    wire  [63:0] nic__axi_ar_address;
    wire  [6:0] nic__axi_ar_beats;
    wire  nic__axi_ar_ready;
    wire  nic__axi_r_valid;
    wire  [511:0] nic__axi_r_data;
    wire  nic__axi_r_last;
    wire  nic__axi_r_error;
    wire  nic__axi_r_ready;
    wire  nic__axi_aw_valid;
    wire  [63:0] nic__axi_aw_address;
    wire  [6:0] nic__axi_aw_beats;
    wire  nic__axi_aw_ready;
    wire  nic__axi_w_valid;
    wire  [511:0] nic__axi_w_data;
    wire  nic__axi_w_last;
    wire  nic__axi_w_ready;
    wire  nic__axi_b_valid;
    wire  nic__axi_b_error;
    wire  nic__rx_valid;
    wire  [511:0] nic__rx_data;
    wire  nic__rx_last;
    wire  nic__rx_error;
    wire  nic__rx_partial;
    wire  nic__tx_valid;
    wire  [511:0] nic__tx_data;
    wire  nic__tx_last;
    wire  nic__tx_error;
    wire  nic__tx_ready;
    wire  nic__asleep;
    wire  [47:0] nic__timer_ns;
    wire  [7:0] nic__trace_arm;
    wire  [31:0] nic__trace_cookie;
    wire  nic__trace_sum;
    wire  [22:0] nic__trace_sum_place;
    wire  nic__trace_mean;
    wire  [22:0] nic__trace_mean_place;
    wire  [7:0] nic__trace_contribute_open;
    wire  [7:0] nic__trace_broadcast_open;
    wire  registers__clock;
    wire  registers__reset;
    wire  registers__awvalid;
    wire  [11:0] registers__awaddr;
    wire  registers__awready;
    wire  registers__wvalid;
    wire  [31:0] registers__wdata;
    wire  [3:0] registers__wstrb;
    wire  registers__wready;
    wire  registers__bvalid;
    wire  [1:0] registers__bresp;
    wire  registers__bready;
    wire  registers__arvalid;
    wire  [11:0] registers__araddr;
    wire  registers__arready;
    wire  registers__rvalid;
    wire  [31:0] registers__rdata;
    wire  [1:0] registers__rresp;
    wire  registers__rready;
    wire  registers__write;
    wire  [9:0] registers__write_address;
    wire  [31:0] registers__write_data;
    wire  [9:0] registers__read_address;
    wire  [31:0] registers__read_data;
    reg  [47:0] now_ns__d;
    wire  [47:0] now_ns__q;
    wire  now_ns__clock;
    reg  rx_bad__d;
    wire  rx_bad__q;
    wire  rx_bad__clock;
    // Local signals
    wire  reset;
    wire  [47:0] now_next;
    wire  rx_spoilt;
    wire  [6:0] ar_len;
    wire  [6:0] aw_len;
    // Sub module instances
    optireduce_nic nic(
        .clock(nic__clock),
        .reset(nic__reset),
        .now_ns(nic__now_ns),
        .link(nic__link),
        .pci_id(nic__pci_id),
        .build_id(nic__build_id),
        .reg_write(nic__reg_write),
        .reg_write_address(nic__reg_write_address),
        .reg_write_data(nic__reg_write_data),
        .reg_read_address(nic__reg_read_address),
        .reg_read_data(nic__reg_read_data),
        .msix_valid(nic__msix_valid),
        .msix_vector(nic__msix_vector),
        .msix_ready(nic__msix_ready),
        .axi_ar_valid(nic__axi_ar_valid),
        .axi_ar_address(nic__axi_ar_address),
        .axi_ar_beats(nic__axi_ar_beats),
        .axi_ar_ready(nic__axi_ar_ready),
        .axi_r_valid(nic__axi_r_valid),
        .axi_r_data(nic__axi_r_data),
        .axi_r_last(nic__axi_r_last),
        .axi_r_error(nic__axi_r_error),
        .axi_r_ready(nic__axi_r_ready),
        .axi_aw_valid(nic__axi_aw_valid),
        .axi_aw_address(nic__axi_aw_address),
        .axi_aw_beats(nic__axi_aw_beats),
        .axi_aw_ready(nic__axi_aw_ready),
        .axi_w_valid(nic__axi_w_valid),
        .axi_w_data(nic__axi_w_data),
        .axi_w_last(nic__axi_w_last),
        .axi_w_ready(nic__axi_w_ready),
        .axi_b_valid(nic__axi_b_valid),
        .axi_b_error(nic__axi_b_error),
        .rx_valid(nic__rx_valid),
        .rx_data(nic__rx_data),
        .rx_last(nic__rx_last),
        .rx_error(nic__rx_error),
        .rx_partial(nic__rx_partial),
        .tx_valid(nic__tx_valid),
        .tx_data(nic__tx_data),
        .tx_last(nic__tx_last),
        .tx_error(nic__tx_error),
        .tx_ready(nic__tx_ready),
        .asleep(nic__asleep),
        .timer_ns(nic__timer_ns),
        .trace_arm(nic__trace_arm),
        .trace_cookie(nic__trace_cookie),
        .trace_sum(nic__trace_sum),
        .trace_sum_place(nic__trace_sum_place),
        .trace_mean(nic__trace_mean),
        .trace_mean_place(nic__trace_mean_place),
        .trace_contribute_open(nic__trace_contribute_open),
        .trace_broadcast_open(nic__trace_broadcast_open)
    );
    optireduce_registers registers(
        .clock(registers__clock),
        .reset(registers__reset),
        .awvalid(registers__awvalid),
        .awaddr(registers__awaddr),
        .awready(registers__awready),
        .wvalid(registers__wvalid),
        .wdata(registers__wdata),
        .wstrb(registers__wstrb),
        .wready(registers__wready),
        .bvalid(registers__bvalid),
        .bresp(registers__bresp),
        .bready(registers__bready),
        .arvalid(registers__arvalid),
        .araddr(registers__araddr),
        .arready(registers__arready),
        .rvalid(registers__rvalid),
        .rdata(registers__rdata),
        .rresp(registers__rresp),
        .rready(registers__rready),
        .write(registers__write),
        .write_address(registers__write_address),
        .write_data(registers__write_data),
        .read_address(registers__read_address),
        .read_data(registers__read_data)
    );
    optireduce_nic__nic__finisher__drain__inbox__state now_ns(
        .d(now_ns__d),
        .q(now_ns__q),
        .clock(now_ns__clock)
    );
    optireduce_nic__nic__finisher__drain__side__0 rx_bad(
        .d(rx_bad__d),
        .q(rx_bad__q),
        .clock(rx_bad__clock)
    );
    // Update code
    assign now_ns__clock = clock;
    assign rx_bad__clock = clock;
    assign nic__clock = clock;
    assign registers__clock = clock;
    assign reset = ~aresetn;
    assign nic__reset = reset;
    assign registers__reset = reset;
    assign now_next = now_ns__q + 32'h4;
    assign nic__now_ns = now_ns__q;
    assign nic__link = link;
    assign nic__pci_id = pci_id;
    assign nic__build_id = build_id;
    assign registers__awvalid = s_axil_awvalid;
    assign registers__awaddr = s_axil_awaddr;
    assign s_axil_awready = registers__awready;
    assign registers__wvalid = s_axil_wvalid;
    assign registers__wdata = s_axil_wdata;
    assign registers__wstrb = s_axil_wstrb;
    assign s_axil_wready = registers__wready;
    assign s_axil_bvalid = registers__bvalid;
    assign s_axil_bresp = registers__bresp;
    assign registers__bready = s_axil_bready;
    assign registers__arvalid = s_axil_arvalid;
    assign registers__araddr = s_axil_araddr;
    assign s_axil_arready = registers__arready;
    assign s_axil_rvalid = registers__rvalid;
    assign s_axil_rdata = registers__rdata;
    assign s_axil_rresp = registers__rresp;
    assign registers__rready = s_axil_rready;
    assign nic__reg_write = registers__write;
    assign nic__reg_write_address = registers__write_address;
    assign nic__reg_write_data = registers__write_data;
    assign nic__reg_read_address = registers__read_address;
    assign registers__read_data = nic__reg_read_data;
    assign aw_len = nic__axi_aw_beats - 32'h1;
    assign m_axi_awid = ((32'h0) & 4'hf);
    assign m_axi_awaddr = nic__axi_aw_address;
    assign m_axi_awlen = ((aw_len) & 8'hff);
    assign m_axi_awsize = ((32'h6) & 3'h7);
    assign m_axi_awburst = ((32'h1) & 2'h3);
    assign m_axi_awlock = ((32'h0) & 1'h1);
    assign m_axi_awcache = ((32'h3) & 4'hf);
    assign m_axi_awprot = ((32'h0) & 3'h7);
    assign m_axi_awvalid = nic__axi_aw_valid;
    assign nic__axi_aw_ready = m_axi_awready;
    assign m_axi_wdata = nic__axi_w_data;
    assign m_axi_wstrb = ((64'hffffffffffffffff) & 64'hffffffffffffffff);
    assign m_axi_wlast = nic__axi_w_last;
    assign m_axi_wvalid = nic__axi_w_valid;
    assign nic__axi_w_ready = m_axi_wready;
    assign nic__axi_b_valid = m_axi_bvalid;
    assign nic__axi_b_error = m_axi_bresp != 32'h0;
    assign m_axi_bready = 1'b1;
    assign ar_len = nic__axi_ar_beats - 32'h1;
    assign m_axi_arid = ((32'h0) & 4'hf);
    assign m_axi_araddr = nic__axi_ar_address;
    assign m_axi_arlen = ((ar_len) & 8'hff);
    assign m_axi_arsize = ((32'h6) & 3'h7);
    assign m_axi_arburst = ((32'h1) & 2'h3);
    assign m_axi_arlock = ((32'h0) & 1'h1);
    assign m_axi_arcache = ((32'h3) & 4'hf);
    assign m_axi_arprot = ((32'h0) & 3'h7);
    assign m_axi_arvalid = nic__axi_ar_valid;
    assign nic__axi_ar_ready = m_axi_arready;
    assign nic__axi_r_valid = m_axi_rvalid;
    assign nic__axi_r_data = m_axi_rdata;
    assign nic__axi_r_last = m_axi_rlast;
    assign nic__axi_r_error = m_axi_rresp != 32'h0;
    assign m_axi_rready = nic__axi_r_ready;
    assign s_axis_rx_tready = 1'b1;
    assign rx_spoilt = rx_bad__q || (s_axis_rx_tkeep != 64'hffffffffffffffff);
    assign nic__rx_valid = s_axis_rx_tvalid;
    assign nic__rx_data = s_axis_rx_tdata;
    assign nic__rx_last = s_axis_rx_tlast;
    assign nic__rx_error = s_axis_rx_tuser;
    assign nic__rx_partial = rx_spoilt;
    assign m_axis_tx_tdata = nic__tx_data;
    assign m_axis_tx_tkeep = ((64'hffffffffffffffff) & 64'hffffffffffffffff);
    assign m_axis_tx_tlast = nic__tx_last;
    assign m_axis_tx_tuser = nic__tx_error;
    assign m_axis_tx_tvalid = nic__tx_valid;
    assign nic__tx_ready = m_axis_tx_tready;
    assign msix_valid = nic__msix_valid;
    assign msix_vector = nic__msix_vector;
    assign nic__msix_ready = msix_ready;
    always @(*) begin
        now_ns__d = now_ns__q;
        rx_bad__d = rx_bad__q;
        now_ns__d = now_next;
        if (s_axis_rx_tvalid) begin
            rx_bad__d = rx_spoilt && ~s_axis_rx_tlast;
        end
        if (reset) begin
            now_ns__d = ((32'h0) & 48'hffffffffffff);
            rx_bad__d = 1'b0;
        end
    end
    wire unused__m_axi_bid = &{m_axi_bid};
    wire unused__m_axi_rid = &{m_axi_rid};
    wire unused__nic__asleep = &{nic__asleep};
    wire unused__nic__timer_ns = &{nic__timer_ns};
    wire unused__nic__trace_arm = &{nic__trace_arm};
    wire unused__nic__trace_broadcast_open = &{nic__trace_broadcast_open};
    wire unused__nic__trace_contribute_open = &{nic__trace_contribute_open};
    wire unused__nic__trace_cookie = &{nic__trace_cookie};
    wire unused__nic__trace_mean = &{nic__trace_mean};
    wire unused__nic__trace_mean_place = &{nic__trace_mean_place};
    wire unused__nic__trace_sum = &{nic__trace_sum};
    wire unused__nic__trace_sum_place = &{nic__trace_sum_place};
    wire unused__s_axil_arprot = &{s_axil_arprot};
    wire unused__s_axil_awprot = &{s_axil_awprot};
endmodule
