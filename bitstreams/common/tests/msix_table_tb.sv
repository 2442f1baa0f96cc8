// msix_table: register accesses pass, the table keeps values, unmasked requests become messages.
`timescale 1ns / 1ps
module tb;
    logic clock = 0, reset_n = 0;
    always #2 clock = !clock;

    logic [15:0] s_axil_awaddr, s_axil_araddr;
    logic [31:0] s_axil_wdata, s_axil_rdata, m_axil_wdata, m_axil_rdata;
    logic  [3:0] s_axil_wstrb, m_axil_wstrb;
    logic  [1:0] s_axil_bresp, s_axil_rresp, m_axil_bresp, m_axil_rresp;
    logic        s_axil_awvalid = 0, s_axil_awready, s_axil_wvalid = 0, s_axil_wready, s_axil_bvalid, s_axil_bready = 0;
    logic        s_axil_arvalid = 0, s_axil_arready, s_axil_rvalid, s_axil_rready = 0;
    logic [11:0] m_axil_awaddr, m_axil_araddr;
    logic        m_axil_awvalid, m_axil_awready = 0, m_axil_wvalid, m_axil_wready = 0, m_axil_bvalid = 0, m_axil_bready;
    logic        m_axil_arvalid, m_axil_arready = 0, m_axil_rvalid = 0, m_axil_rready;
    logic        msix_valid = 0, msix_ready, enabled = 0, masked = 0, message, message_sent = 0, message_failed = 0;
    logic  [1:0] msix_vector;
    logic [63:0] message_address;
    logic [31:0] message_data;
    msix_table dut (.*);

    // Slow register block that answers with SLVERR at 0x7fc.
    logic [31:0] register[1024];
    logic [11:0] address;
    always @(posedge clock) begin
        m_axil_awready <= m_axil_awvalid && !m_axil_awready && $urandom_range(2) == 0;
        m_axil_wready <= m_axil_wvalid && !m_axil_wready && $urandom_range(2) == 0;
        if (m_axil_awvalid && m_axil_awready) address = m_axil_awaddr;
        if (m_axil_wvalid && m_axil_wready) m_axil_bvalid <= 1;
        if (m_axil_wvalid && m_axil_wready) register[m_axil_awaddr[11:2]] <= m_axil_wdata;
        m_axil_bresp <= m_axil_awaddr == 12'h7fc ? 2'b10 : 2'b00;
        if (m_axil_bvalid && m_axil_bready) m_axil_bvalid <= 0;
        m_axil_arready <= m_axil_arvalid && !m_axil_arready;
        if (m_axil_arvalid && m_axil_arready) begin
            m_axil_rvalid <= 1;
            m_axil_rdata <= register[m_axil_araddr[11:2]];
            m_axil_rresp <= m_axil_araddr == 12'h7fc ? 2'b10 : 2'b00;
        end
        if (m_axil_rvalid && m_axil_rready) m_axil_rvalid <= 0;
    end

    // Signals change at the falling edge. A handshake seen just after it completes at the next
    // rising edge.
    `define HANDSHAKE(valid, ready) \
        valid = 1; #0.1; \
        while (!(ready)) begin @(negedge clock); #0.1; end \
        @(negedge clock) valid = 0;

    task automatic write(input [15:0] at, input [31:0] value, input [3:0] strobe, input [1:0] response);
        s_axil_awaddr = at;
        s_axil_wdata = value;
        s_axil_wstrb = strobe;
        s_axil_awvalid = 1;
        repeat ($urandom_range(3)) @(negedge clock);
        `HANDSHAKE(s_axil_wvalid, s_axil_awready && s_axil_wready)
        s_axil_awvalid = 0;
        `HANDSHAKE(s_axil_bready, s_axil_bvalid)
        if (s_axil_bresp != response) $fatal(1, "write %h: response %b, expected %b", at, s_axil_bresp, response);
    endtask

    task automatic read(input [15:0] at, input [31:0] value, input [1:0] response);
        s_axil_araddr = at;
        `HANDSHAKE(s_axil_arvalid, s_axil_arready)
        `HANDSHAKE(s_axil_rready, s_axil_rvalid)
        if (s_axil_rdata != value || s_axil_rresp != response)
            $fatal(1, "read %h: %h %b, expected %h %b", at, s_axil_rdata, s_axil_rresp, value, response);
    endtask

    task automatic request(input [1:0] vector);
        msix_vector = vector;
        msix_valid = 1;
        @(negedge clock) msix_valid = 0;
    endtask

    int messages = 0, expected_messages = 0;
    always @(posedge clock) if (message) messages <= messages + 1;
    task automatic quiet();
        repeat (20) @(negedge clock);
        if (messages != expected_messages) $fatal(1, "%0d messages, expected %0d", messages, expected_messages);
    endtask

    task automatic expect_message(input [1:0] vector, input bit fails);
        expected_messages++;
        for (int waited = 0; waited < 20 && messages != expected_messages; waited++) @(negedge clock);
        if (messages != expected_messages) $fatal(1, "vector %0d: no message", vector);
        if (message_address != {32'h1000_0000 | 32'(vector), 32'hfee0_0000 | 32'(vector)})
            $fatal(1, "vector %0d: message to %h", vector, message_address);
        if (message_data != 32'h4000 + 32'(vector)) $fatal(1, "vector %0d: message %h", vector, message_data);
        repeat ($urandom_range(5) + 1) @(negedge clock);
        message_sent = !fails;
        message_failed = fails;
        @(negedge clock);
        message_sent = 0;
        message_failed = 0;
        // The next request may follow immediately.
    endtask

    logic [11:0] at;
    initial begin
        repeat (4) @(negedge clock);
        reset_n = 1;
        @(negedge clock);
        for (int i = 0; i < 40; i++) begin
            at = {1'b0, 9'($urandom_range(510)), 2'b00};
            write({4'd0, at}, 32'(i * 77), 4'hf, 2'b00);
            read({4'd0, at}, 32'(i * 77), 2'b00);
        end
        write(16'h07fc, 1, 4'hf, 2'b10);
        read(16'h07fc, 1, 2'b10);
        for (int v = 0; v < 4; v++) begin
            read(16'h8000 + 16'(v) * 16 + 12, 1, 2'b00); // masked after reset
            write(16'h8000 + 16'(v) * 16, 32'hfee0_0000 | v, 4'hf, 2'b00);
            write(16'h8000 + 16'(v) * 16 + 4, 32'h1000_0000 | v, 4'hf, 2'b00);
            write(16'h8000 + 16'(v) * 16 + 8, 32'h4000 + v, 4'hf, 2'b00);
            write(16'h8000 + 16'(v) * 16 + 8, 0, 4'h1, 2'b10); // less than a word: refused
            read(16'h8000 + 16'(v) * 16 + 8, 32'h4000 + v, 2'b00);
        end
        read(16'hfff0, 0, 2'b00); // every address answers
        request(1);
        quiet(); // MSI-X is off
        read(16'h9000, 0, 2'b00); // and it was forgotten
        enabled = 1;
        request(1);
        request(2);
        quiet(); // the vectors are masked
        read(16'h9000, 6, 2'b00);
        masked = 1;
        for (int v = 0; v < 4; v++) write(16'h8000 + 16'(v) * 16 + 12, 0, 4'hf, 2'b00);
        quiet(); // the function is masked
        masked = 0;
        expect_message(1, 0);
        expect_message(2, 1); // not delivered: again
        expect_message(2, 0);
        quiet(); // nothing was asked for
        read(16'h9000, 0, 2'b00);
        request(3);
        request(0);
        expect_message(3, 0);
        expect_message(0, 0);
        quiet(); // nothing was asked for
        $display("ok");
        $finish;
    end
    initial #1000000 $fatal(1, "not done in time");
endmodule
