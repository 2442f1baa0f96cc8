// axis_frame_crossing: random frames arrive whole, in order and without a gap, or are dropped whole
// and counted. CUTS is the percentage of frames during which the source is reset.
`timescale 1ns / 1ps
module tb;
    parameter DROP = 0;
    parameter real S_PERIOD = 4.0, M_PERIOD = 3.1;
    parameter MOST_BEATS = 12, CUTS = 0;
    localparam FRAMES = 400;

    logic s_clock = 0, m_clock = 0, s_reset_n = 0, m_reset_n = 0;
    always #(S_PERIOD / 2) s_clock = !s_clock;
    always #(M_PERIOD / 2) m_clock = !m_clock;

    logic [511:0] s_tdata, m_tdata;
    logic  [63:0] s_tkeep, m_tkeep;
    logic         s_tlast, s_tuser, s_tvalid = 0, s_cut = 0, s_tready, s_dropped, m_tlast, m_tuser, m_tvalid, m_tready = 0;
    axis_frame_crossing #(.DEPTH_LOG2(5), .DROP(DROP)) dut (.*);

    // Contents of beat b of frame f, derived from their numbers.
    function automatic logic [577:0] word(int f, int b, int beats);
        word = {f[0] ^ b[0], b == beats - 1, {2{32'(f * 64 + b)}}, {16{32'(f * 7919 + b)}}};
    endfunction

    int beats[FRAMES], sent[FRAMES], cut = 0, dropped = 0, received = 0;
    initial begin
        for (int f = 0; f < FRAMES; f++) begin
            beats[f] = 1 + $urandom_range(MOST_BEATS - 1);
            sent[f] = beats[f];
            if (beats[f] > 1 && $urandom_range(99) < CUTS) begin
                sent[f] = 1 + $urandom_range(beats[f] - 2);
                cut++;
            end
        end
        if (CUTS != 0 && cut == 0) $fatal(1, "no frame is cut");
        repeat (20) @(posedge s_clock);
        s_reset_n <= 1;
        @(posedge m_clock) m_reset_n <= 1;
        repeat (20) @(posedge s_clock);
        for (int f = 0; f < FRAMES; f++) begin
            for (int b = 0; b < sent[f]; b++) begin
                {s_tuser, s_tlast, s_tkeep, s_tdata} <= word(f, b, beats[f]);
                s_tvalid <= 1;
                @(posedge s_clock);
                while (!s_tready) @(posedge s_clock);
                s_tvalid <= 0;
                if (DROP == 0) repeat ($urandom_range(3) == 0 ? $urandom_range(4) : 0) @(posedge s_clock);
            end
            if (sent[f] < beats[f]) begin
                s_cut <= 1;
                repeat (1 + $urandom_range(3)) @(posedge s_clock) s_tvalid <= $urandom_range(1) == 0;
                s_cut <= 0;
                s_tvalid <= 0;
                repeat ($urandom_range(2)) @(posedge s_clock);
            end
        end
        repeat (2000) @(posedge s_clock);
        if (received + dropped != FRAMES) $fatal(1, "%0d frames in, %0d out, %0d dropped", FRAMES, received, dropped);
        if (DROP == 0 && dropped != cut) $fatal(1, "%0d frames dropped, %0d cut", dropped, cut);
        if (DROP == 1 && (dropped == 0 || received == 0)) $fatal(1, "%0d out, %0d dropped: nothing is shown", received, dropped);
        $display("ok: %0d frames out, %0d dropped", received, dropped);
        $finish;
    end
    initial #1_000_000 $fatal(1, "frames have stopped: %0d of %0d out, %0d dropped", received, FRAMES, dropped);
    always @(posedge s_clock) if (s_reset_n && s_dropped) dropped++;

    // Reader, slow enough to cause drops if DROP is 1.
    int at = 0, beat = 0;
    always @(posedge m_clock) begin
        m_tready <= $urandom_range(9) < (DROP == 1 ? 4 : 8);
        if (m_reset_n && m_tvalid && m_tready) begin
            if (beat == 0) while (at < FRAMES && m_tdata[31:0] != 32'(at * 7919)) begin
                at++;
                if (DROP == 0 && sent[at - 1] == beats[at - 1]) $fatal(1, "frame %0d is missing", at - 1);
            end
            if (at < FRAMES && sent[at] < beats[at]) $fatal(1, "frame %0d was cut, and came", at);
            if (at == FRAMES) $fatal(1, "a frame that was not sent, or twice: %h", m_tdata[31:0]);
            if ({m_tuser, m_tlast, m_tkeep, m_tdata} != word(at, beat, beats[at]))
                $fatal(1, "frame %0d beat %0d: found %h", at, beat, m_tdata[31:0]);
            beat = m_tlast ? 0 : beat + 1;
            if (m_tlast) begin
                at++;
                received++;
            end
        end else if (m_reset_n && !m_tvalid && beat != 0) $fatal(1, "frame %0d: a gap before beat %0d", at, beat);
    end
endmodule
