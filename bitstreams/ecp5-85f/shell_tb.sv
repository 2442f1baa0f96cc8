// Reduced card behind its shell: registers over the host bus, a submission fetched by DMA, and
// counts of received frames of all lengths.
`timescale 1ns / 1ps
module tb;
    logic clock = 0;
    always #20 clock = !clock;

    logic [7:0] rx_data, in_data, out_data, tx_data;
    logic       rx_valid = 0, rx_last = 0, rx_error = 0, tx_valid, tx_last, tx_error, tx_ready = 1;
    logic       in_valid = 0, in_ready, out_valid, out_ready = 0;
    shell dut (.*);

    // Signals change at the falling edge. A handshake seen just after it completes at the next
    // rising edge.
    task automatic send(input [7:0] value);
        in_data = value;
        in_valid = 1; #1;
        while (!in_ready) begin @(negedge clock); #1; end
        @(negedge clock) in_valid = 0;
    endtask

    task automatic receive(output [7:0] value);
        repeat ($urandom_range(2)) @(negedge clock);
        out_ready = 1; #1;
        while (!out_valid) begin @(negedge clock); #1; end
        value = out_data;
        @(negedge clock) out_ready = 0;
    endtask

    task automatic write(input [15:0] at, input [31:0] value);
        send(8'h01);
        send(at[7:0]);
        send(at[15:8]);
        for (int i = 0; i < 4; i++) send(value[8*i+:8]);
    endtask

    logic [7:0] got;
    task automatic read(input [15:0] at, output [31:0] value);
        send(8'h02);
        send(at[7:0]);
        send(at[15:8]);
        receive(got);
        if (got != 8'h82) $fatal(1, "read %h: message %h", at, got);
        for (int i = 0; i < 4; i++) receive(value[8*i+:8]);
    endtask

    task automatic expect_register(input [15:0] at, input [31:0] value);
        logic [31:0] found;
        read(at, found);
        if (found != value) $fatal(1, "register %h: found %h, expected %h", at, found, value);
    endtask

    task automatic frame(input int bytes, input bit bad);
        for (int i = 0; i < bytes; i++) begin
            rx_data = 8'($urandom);
            rx_valid = 1;
            rx_last = i == bytes - 1;
            rx_error = rx_last && bad;
            @(negedge clock);
        end
        rx_valid = 0;
        repeat (8 * 16) @(negedge clock);
    endtask

`include "registers.vh"

    logic [79:0] request;
    initial begin
        repeat (100) @(negedge clock);
        send(8'h00); // not a message
        expect_register(`MAGIC, `MAGIC_VALUE);
        expect_register(`CONTRACT, `CONTRACT_VALUE);
        expect_register(`WINDOW_BEATS_MAX, 128);
        for (int i = 0; i < 8; i++) begin
            write(`SCRATCH, 32'h1234_0000 + i);
            expect_register(`SCRATCH, 32'h1234_0000 + i);
        end
        // Frames of every length count as received packets.
        write(`CONTROL, 1);
        repeat (64 * 16) @(negedge clock); // 32 steps of reset
        for (int length = 1; length <= 200; length += 7) begin
            frame(length, length[0]);
            expect_register(`RX_PACKETS, length / 7 + 1);
        end
        // The card fetches the entry that the doorbell announces: 64 bytes at the base of the ring.
        write(`SQ_BASE_LO, 32'h0010_0000);
        write(`SQ_BASE_HI, 32'h0000_0002);
        write(`CQ_BASE_LO, 32'h0020_0000);
        write(`CQ_BASE_HI, 32'h0000_0002);
        write(`SQ_LOG2, 4);
        write(`CQ_LOG2, 4);
        write(`SQ_TAIL, 1);
        for (int i = 0; i < 10; i++) receive(request[8*i+:8]);
        if (request != {8'd1, 64'h0000_0002_0010_0000, 8'h83}) $fatal(1, "message %h", request);
        $display("ok");
        $finish;
    end
    initial #20000000 $fatal(1, "not done in time");
endmodule
