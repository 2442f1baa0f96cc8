// The butterflies of a Hadamard engine for blocks of 256, a value a cycle: for a card that makes a step in 16 cycles.
//
// Why: a beat in 16 cycles needs one pair of adders a stage, not sixteen, and narrow delay memories.
// How: eight equal stages of distance 1, 2, ... 128 values, the first four of them inside the beat. Each does what
// `across.rs` does with beats; the order of the values is the natural one from the start, so nothing is shuffled.
// Latency in steps: that of `Butterflies`, 23: four inside the beat, 1 + 2 + 4 + 8 in delays across beats, four after.
// Limits: as `across.rs`, blocks come whole; `last` must be 15 when they do.
module top #(parameter TAG = 1, parameter [TAG-1:0] VALID = 0, parameter [TAG-1:0] NEGATED = 0) (
    input  wire           tick,
    input  wire           clock,
    input  wire     [9:0] last,
    input  wire [TAG-1:0] tag,
    input  wire   [511:0] beat,
    output reg  [TAG-1:0] tap_tag$0,
    output wire [TAG-1:0] tap_tag$1,
    output wire [TAG-1:0] tap_tag$2,
    output wire [TAG-1:0] tap_tag$3,
    output reg    [511:0] tap_beat$0,
    output wire   [511:0] tap_beat$1,
    output wire   [511:0] tap_beat$2,
    output wire   [511:0] tap_beat$3
);
    // Larger blocks than there are stages for.
    assign {tap_tag$1, tap_tag$2, tap_tag$3} = 0;
    assign {tap_beat$1, tap_beat$2, tap_beat$3} = 0;

    // Lane by lane: the lane of this cycle.
    reg [3:0] lane = 0;
    always @(posedge clock) lane <= tick ? 4'd0 : lane + 4'd1;

    // Stage k takes 2^k + 1 cycles, all of them 263.
    wire        valid [0:8];
    wire [31:0] value [0:8];
    assign valid[0] = |(tag & VALID);
    assign value[0] = beat[lane * 32 +: 32];
    genvar k;
    generate
        for (k = 0; k < 8; k = k + 1) begin : stages
            top$stage #(.K(k)) stage (
                .clock(clock),
                .valid(valid[k]),
                .value(value[k]),
                .out_valid(valid[k + 1]),
                .out_value(value[k + 1])
            );
        end
    endgenerate

    // Lane 0 of a beat after 22 steps, 352 cycles: 89 more, 88 in the memory and one to read it. Then the beat is put
    // together, and shown from the next step on.
    (* ram_style = "block", no_rw_check *) reg [31:0] late [0:127];
    reg   [6:0] place = 0;
    reg  [31:0] now = 0;
    reg [479:0] lanes = 0;
    always @(posedge clock) begin
        place <= place + 7'd1;
        late[place] <= value[8];
        now <= late[place - 7'd88];
        lanes <= {now, lanes[479:32]};
        if (tick) tap_beat$0 <= {now, lanes};
    end

    // The tags take 23 steps too. Of a block's beats those are negated whose number has an odd number of ones.
    reg [TAG-1:0] tags [0:31];
    reg     [4:0] step = 0;
    reg     [3:0] number = 0;
    wire    [4:0] then = step - 5'd22;
    wire [TAG-1:0] due = tags[then];
    always @(posedge clock) if (tick) begin
        step <= step + 5'd1;
        tags[step] <= tag;
        tap_tag$0 <= ^number ? due ^ NEGATED : due;
        if (|(due & VALID)) number <= number + 4'd1;
    end

`ifndef SYNTHESIS
    integer i;
    initial begin
        for (i = 0; i < 128; i = i + 1) late[i] = 0;
        for (i = 0; i < 32; i = i + 1) tags[i] = 0;
        tap_beat$0 = 0;
        tap_tag$0 = 0;
    end
`endif
endmodule

// A butterfly between values that are 2^K apart; see `across.rs`.
module top$stage #(parameter K = 0) (
    input  wire        clock,
    input  wire        valid,
    input  wire [31:0] value,
    output reg         out_valid,
    output reg  [31:0] out_value
);
    localparam HALVE = K % 2;

    reg [K:0] position = 0;
    always @(posedge clock) if (valid) position <= position + 1'b1;

    // `a` comes from the memory, with it whether a value came then.
    wire        was_valid;
    wire [31:0] a;
    wire [31:0] mask = {32{valid && position[K]}};
    wire [31:0] less = (a ^ 32'h8000_0000) & mask;
    wire [31:0] more = HALVE ? (value >> 1) & mask : (value ^ 32'h8000_0000) & mask;
    wire        up = HALVE && value[0] && mask[0];
    wire [31:0] stored = (HALVE ? value >> 1 : value) - less;
    initial {out_valid, out_value} = 0;
    always @(posedge clock) begin
        out_valid <= was_valid;
        out_value <= a + more + {31'd0, up};
    end

    generate
        if (K == 0) begin : one
            reg [32:0] kept = 0;
            always @(posedge clock) kept <= {valid, stored};
            assign {was_valid, a} = kept;
        end else begin : many
            reg [32:0] mem [0:(1 << K) - 1];
            reg [32:0] kept = 0;
            reg [K-1:0] pointer = 0;
            wire [K-1:0] oldest = pointer + 1'b1;
            always @(posedge clock) begin
                mem[pointer] <= {valid, stored};
                kept <= mem[oldest];
                pointer <= oldest;
            end
            assign {was_valid, a} = kept;
`ifndef SYNTHESIS
            integer i;
            initial for (i = 0; i < 1 << K; i = i + 1) mem[i] = 0;
`endif
        end
    endgenerate
endmodule
