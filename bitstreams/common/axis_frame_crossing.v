// Carries whole frames of a 512-bit AXI stream from one clock to another.
//
// A frame leaves only after its last beat has arrived, so that it has no gaps: a 100G MAC cannot
// pause within a frame. Two Gray counters cross between the clocks, of complete frames and of beats
// read. They change by one at a time.
// DROP = 0: the writer waits for space. DROP = 1: the writer never waits. A frame without space is
// dropped whole, and `s_dropped` is high for one cycle.
// `s_cut`: the source is in reset, and may have stopped within a frame. No beats are accepted, and
// a partial frame is dropped, so that the next frame is not appended to it.
// Limits: frames must be shorter than 2^DEPTH_LOG2 beats. With DROP = 0, a longer one blocks the
// stream.
// Reset: both sides at the same time. Contents are lost.
module axis_frame_crossing #(
    parameter DEPTH_LOG2 = 9,
    parameter DROP = 0
) (
    input  wire         s_clock,
    input  wire         s_reset_n,
    input  wire [511:0] s_tdata,
    input  wire  [63:0] s_tkeep,
    input  wire         s_tlast,
    input  wire         s_tuser,
    input  wire         s_tvalid,
    input  wire         s_cut,
    output wire         s_tready,
    output reg          s_dropped,
    input  wire         m_clock,
    input  wire         m_reset_n,
    output reg  [511:0] m_tdata,
    output reg   [63:0] m_tkeep,
    output reg          m_tlast,
    output reg          m_tuser,
    output reg          m_tvalid,
    input  wire         m_tready
);
    localparam A = DEPTH_LOG2;
    reg [577:0] memory [0:(1 << A) - 1];

    // Writer.
    reg  [A:0] write, start, frames, frames_gray;
    reg        failed;
    wire [A:0] read_here;
    wire       full = (write - read_here) == {1'b1, {A{1'b0}}};
    wire       take = s_tvalid && s_tready;
    wire       begun_here = failed || write != start;
    wire       lost = DROP != 0 && (failed || full);
    wire [A:0] frames_next = frames + 1'b1;
    assign s_tready = !s_cut && (DROP != 0 || !full);

    always @(posedge s_clock) begin
        s_dropped <= 1'b0;
        if (take && !lost) begin
            memory[write[A-1:0]] <= {s_tuser, s_tlast, s_tkeep, s_tdata};
            write <= write + 1'b1;
        end
        if (take) begin
            failed <= lost && !s_tlast;
            if (s_tlast && lost) begin
                write <= start;
                s_dropped <= 1'b1;
            end else if (s_tlast) begin
                start <= write + 1'b1;
                frames <= frames_next;
                frames_gray <= frames_next ^ (frames_next >> 1);
            end
        end
        if (s_cut && begun_here) begin
            write <= start;
            failed <= 1'b0;
            s_dropped <= 1'b1;
        end
        if (!s_reset_n) begin
            write <= 0;
            start <= 0;
            frames <= 0;
            frames_gray <= 0;
            failed <= 1'b0;
            s_dropped <= 1'b0;
        end
    end

    // Reader.
    reg  [A:0] read, read_gray, begun;
    wire [A:0] frames_there;
    wire [A:0] read_next = read + 1'b1;
    wire       between = !m_tvalid || m_tlast;
    wire       more = !between || begun != frames_there;

    always @(posedge m_clock) begin
        if (!m_tvalid || m_tready) begin
            m_tvalid <= more;
            if (more) begin
                {m_tuser, m_tlast, m_tkeep, m_tdata} <= memory[read[A-1:0]];
                read <= read_next;
                read_gray <= read_next ^ (read_next >> 1);
                if (between) begun <= begun + 1'b1;
            end
        end
        if (!m_reset_n) begin
            m_tvalid <= 1'b0;
            read <= 0;
            read_gray <= 0;
            begun <= 0;
        end
    end

    gray_crossing #(.BITS(A + 1)) to_writer (.clock(s_clock), .gray(read_gray), .count(read_here));
    gray_crossing #(.BITS(A + 1)) to_reader (.clock(m_clock), .gray(frames_gray), .count(frames_there));
endmodule

// Converts a Gray counter of another clock to binary in this clock domain, two cycles later.
module gray_crossing #(
    parameter BITS = 4
) (
    input  wire            clock,
    input  wire [BITS-1:0] gray,
    output reg  [BITS-1:0] count
);
    (* ASYNC_REG = "TRUE" *) reg [BITS-1:0] first, second;
    integer i;

    always @(posedge clock) begin
        first <= gray;
        second <= first;
    end
    always @(*) for (i = 0; i < BITS; i = i + 1) count[i] = ^(second >> i);
endmodule
