// axil_crossing: random reads and writes to a memory, with any ratio of the two clocks.
`timescale 1ns / 1ps
module tb;
    parameter real S_PERIOD = 8.0, M_PERIOD = 4.0;
    logic s_clock = 0, m_clock = 0, s_reset_n = 0, m_reset_n = 0;
    always #(S_PERIOD / 2) s_clock = !s_clock;
    always #(M_PERIOD / 2) m_clock = !m_clock;

    logic [11:0] s_axil_awaddr, s_axil_araddr, m_axil_awaddr, m_axil_araddr;
    logic [31:0] s_axil_wdata, s_axil_rdata, m_axil_wdata, m_axil_rdata;
    logic  [3:0] s_axil_wstrb, m_axil_wstrb;
    logic  [1:0] s_axil_bresp, s_axil_rresp, m_axil_bresp, m_axil_rresp;
    logic        s_axil_awvalid = 0, s_axil_awready, s_axil_wvalid = 0, s_axil_wready, s_axil_bvalid, s_axil_bready = 0;
    logic        s_axil_arvalid = 0, s_axil_arready, s_axil_rvalid, s_axil_rready = 0;
    logic        m_axil_awvalid, m_axil_awready = 0, m_axil_wvalid, m_axil_wready = 0, m_axil_bvalid = 0, m_axil_bready;
    logic        m_axil_arvalid, m_axil_arready = 0, m_axil_rvalid = 0, m_axil_rready;
    axil_crossing dut (.*);

    // Accepts address and data in any order. Returns an error for some words.
    logic [31:0] memory[16], expected[16];
    logic        have_address = 0, have_data = 0;
    logic [11:0] address;
    logic [31:0] data;
    int          writes = 0;
    always @(posedge m_clock) begin
        m_axil_awready <= $urandom_range(2) == 0;
        m_axil_wready <= $urandom_range(2) == 0;
        m_axil_arready <= $urandom_range(2) == 0;
        if (m_axil_awvalid && m_axil_awready) begin
            have_address = 1;
            address = m_axil_awaddr;
        end
        if (m_axil_wvalid && m_axil_wready) begin
            have_data = 1;
            data = m_axil_wdata;
            if (m_axil_wstrb != 4'hf) $fatal(1, "strobe %b", m_axil_wstrb);
        end
        if (m_axil_bvalid && m_axil_bready) m_axil_bvalid <= 0;
        if (have_address && have_data) begin
            have_address = 0;
            have_data = 0;
            memory[address[5:2]] = data;
            writes++;
            m_axil_bvalid <= 1;
            m_axil_bresp <= {address[2], 1'b0};
        end
        if (m_axil_rvalid && m_axil_rready) m_axil_rvalid <= 0;
        if (m_axil_arvalid && m_axil_arready) begin
            m_axil_rvalid <= 1;
            m_axil_rdata <= memory[m_axil_araddr[5:2]];
            m_axil_rresp <= {m_axil_araddr[2], 1'b0};
        end
    end

    // Signals change at the falling edge. A handshake seen just after it completes at the next
    // rising edge.
    `define HANDSHAKE(valid, ready) \
        valid = 1; #0.1; \
        while (!(ready)) begin @(negedge s_clock); #0.1; end \
        @(negedge s_clock) valid = 0;

    int          asked = 0;
    logic [11:0] at;
    initial begin
        for (int i = 0; i < 16; i++) begin
            memory[i] = i;
            expected[i] = i;
        end
        repeat (8) @(negedge s_clock);
        s_reset_n = 1;
        @(negedge m_clock) m_reset_n = 1;
        repeat (8) @(negedge s_clock);
        for (int i = 0; i < 300; i++) begin
            at = {6'd0, 4'($urandom), 2'b00};
            if ($urandom_range(1) == 0) begin
                expected[at[5:2]] = $urandom;
                s_axil_awaddr = at;
                s_axil_wdata = expected[at[5:2]];
                s_axil_wstrb = 4'hf;
                s_axil_awvalid = 1;
                repeat ($urandom_range(2)) @(negedge s_clock);
                `HANDSHAKE(s_axil_wvalid, s_axil_awready && s_axil_wready)
                s_axil_awvalid = 0;
                asked++;
                repeat ($urandom_range(3)) @(negedge s_clock);
                `HANDSHAKE(s_axil_bready, s_axil_bvalid)
                if (s_axil_bresp != {at[2], 1'b0}) $fatal(1, "write %h: response %b", at, s_axil_bresp);
                if (writes != asked) $fatal(1, "%0d writes became %0d", asked, writes);
            end else begin
                s_axil_araddr = at;
                `HANDSHAKE(s_axil_arvalid, s_axil_arready)
                repeat ($urandom_range(3)) @(negedge s_clock);
                `HANDSHAKE(s_axil_rready, s_axil_rvalid)
                if (s_axil_rdata != expected[at[5:2]] || s_axil_rresp != {at[2], 1'b0})
                    $fatal(1, "read %h: %h %b, expected %h", at, s_axil_rdata, s_axil_rresp, expected[at[5:2]]);
            end
        end
        $display("ok");
        $finish;
    end
    initial #1000000 $fatal(1, "not done in time");
endmodule
