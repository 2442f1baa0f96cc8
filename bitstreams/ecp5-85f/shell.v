// Top for an LFE5U-85F: the reduced card between a byte-wide MAC and a byte-wide host bus.
//
// No board is assumed: the ports are plain LVCMOS33 pins. A bridge (microcontroller, FT601, another FPGA) speaks the
// host bus; README.md has its messages. The MAC side is bytes as of a MAC with a frame buffer: preamble and checksum
// are the MAC's business.
// Clock: one, for all. The card makes a step in 16 cycles (hw/src/fold.rs): its inputs must stay put from one `tick` to
// the next, so everything here that it sees moves with `tick`, and its outputs count when `tick` is high. A byte a
// cycle is a beat in 64, so the card keeps up with the wire.
// Limits: a frame that is not whole beats is a bad frame to the card.
module shell #(
    parameter [47:0] STEP_NS = 640
) (
    input  wire       clock,
    // From the MAC. `rx_last` marks the last byte of a frame, `rx_error` with it a bad one.
    input  wire [7:0] rx_data,
    input  wire       rx_valid,
    input  wire       rx_last,
    input  wire       rx_error,
    // To the MAC. `tx_error` with the last byte: the frame is to be spoilt.
    output wire [7:0] tx_data,
    output wire       tx_valid,
    output wire       tx_last,
    output wire       tx_error,
    input  wire       tx_ready,
    // From the host.
    input  wire [7:0] in_data,
    input  wire       in_valid,
    output wire       in_ready,
    // To the host.
    output wire [7:0] out_data,
    output wire       out_valid,
    input  wire       out_ready
);
    wire tick;

    // Two steps of reset after configuration.
    reg [1:0] resetting = 2'b11;
    wire      reset = resetting[1];
    always @(posedge clock) if (tick) resetting <= {resetting[0], 1'b0};

    // Time: what a step takes.
    reg [47:0] now_ns = 0;
    always @(posedge clock) if (tick) now_ns <= now_ns + STEP_NS;

    // Receive: 64 bytes are a beat; so is what is left at the end of a frame, and such a frame is a bad one.
    reg  [511:0] rx_shift, rx_beat;
    reg    [5:0] rx_bytes = 0;
    reg          rx_wait = 0, rx_full = 0, rx_late = 0, rx_beat_last, rx_beat_error;
    wire         rx_free = !rx_wait && (!rx_full || tick);
    wire         rx_end = rx_valid && (rx_last || rx_bytes == 6'd63);
    always @(posedge clock) begin
        if (tick) begin
            rx_full <= rx_wait;
            rx_wait <= 0;
        end
        if (rx_valid) begin
            rx_shift <= {rx_data, rx_shift[511:8]};
            rx_bytes <= rx_end ? 6'd0 : rx_bytes + 6'd1;
        end
        if (rx_end && rx_free) begin
            rx_wait <= 1;
            rx_beat <= {rx_data, rx_shift[511:8]};
            rx_beat_last <= rx_last;
            rx_beat_error <= rx_error || rx_bytes != 6'd63;
        end else if (rx_end) begin
            // So soon after a whole beat comes only a bad frame's last part; what is in it does not matter.
            rx_late <= 1;
        end else if (rx_late && rx_free) begin
            rx_late <= 0;
            rx_wait <= 1;
            rx_beat_last <= 1;
            rx_beat_error <= 1;
        end
    end

    // Transmit.
    wire [511:0] card_tx_data;
    wire         card_tx_valid, card_tx_last, card_tx_error;
    reg  [511:0] tx_shift;
    reg    [6:0] tx_left = 0;
    reg          tx_beat_last, tx_beat_error;
    reg          card_tx_ready = 0;
    assign tx_data = tx_shift[7:0];
    assign tx_valid = tx_left != 7'd0;
    assign tx_last = tx_left == 7'd1 && tx_beat_last;
    assign tx_error = tx_last && tx_beat_error;
    always @(posedge clock) begin
        if (tx_valid && tx_ready) begin
            tx_shift <= {8'd0, tx_shift[511:8]};
            tx_left <= tx_left - 7'd1;
        end
        if (tick) card_tx_ready <= tx_left == 7'd0 && !(card_tx_ready && card_tx_valid);
        if (card_tx_ready && card_tx_valid && tick) begin
            tx_shift <= card_tx_data;
            tx_beat_last <= card_tx_last;
            tx_beat_error <= card_tx_error;
            tx_left <= 7'd64;
        end
    end

    // Messages from the host: an opcode and its bytes, the first byte in the lowest place that it reaches.
    localparam [7:0] WRITE = 8'h01, READ = 8'h02, READ_DATA = 8'h03, WRITE_DONE = 8'h04;
    localparam [1:0] OPCODE = 2'd0, BODY = 2'd1, DO = 2'd2;
    reg   [1:0] in_state = OPCODE;
    reg   [7:0] opcode;
    reg   [6:0] in_left;
    reg [519:0] body;
    reg         read_steps;
    reg         answering = 0;
    reg  [31:0] answer;
    wire [31:0] reg_read_data;
    wire        axi_r_ready;
    reg         acting = 0;
    wire        reg_write = acting && opcode == WRITE;
    wire        axi_r_valid = acting && opcode == READ_DATA;
    wire        axi_b_valid = acting && opcode == WRITE_DONE;
    wire        answered;
    // What the message asks for happens with this tick. A register's value is there one step after its address.
    wire        acted = acting && (opcode == READ_DATA ? axi_r_ready : opcode != READ || (read_steps && !answering));
    assign in_ready = in_state != DO;
    always @(posedge clock) begin
        if (answered) answering <= 0;
        if (tick) acting <= in_state == DO && !acted;
        case (in_state)
            OPCODE: if (in_valid) begin
                opcode <= in_data;
                in_state <= BODY;
                case (in_data)
                    WRITE: in_left <= 7'd6;
                    READ: in_left <= 7'd2;
                    READ_DATA: in_left <= 7'd65;
                    WRITE_DONE: in_left <= 7'd1;
                    // Not a message: ignored, so that a host can send zeros until both agree where one begins.
                    default: in_state <= OPCODE;
                endcase
            end
            BODY: if (in_valid) begin
                body <= {in_data, body[519:8]};
                in_left <= in_left - 7'd1;
                read_steps <= 1'b0;
                if (in_left == 7'd1) in_state <= DO;
            end
            default: if (tick) begin
                if (acted) in_state <= OPCODE;
                if (acting) read_steps <= 1'b1;
                if (acted && opcode == READ) begin
                    answer <= reg_read_data;
                    answering <= 1;
                end
            end
        endcase
    end

    // Messages to the host.
    localparam [7:0] VALUE = 8'h82, READ_BURST = 8'h83, WRITE_BURST = 8'h84, INTERRUPT = 8'h85;
    wire         axi_ar_valid, axi_aw_valid, axi_w_valid, axi_w_last, msix;
    wire   [1:0] msix_vector;
    wire  [63:0] axi_ar_address, axi_aw_address;
    wire   [6:0] axi_ar_beats, axi_aw_beats;
    wire [511:0] axi_w_data;
    reg  [511:0] out_shift;
    reg    [6:0] out_left = 0;
    reg          writing = 0, axi_ar_ready = 0, axi_aw_ready = 0, axi_w_ready = 0, msix_ready = 0;
    wire         read_burst = axi_ar_ready && axi_ar_valid;
    wire         write_burst = axi_aw_ready && axi_aw_valid;
    wire         write_data = axi_w_ready && axi_w_valid;
    wire         interrupt = msix_ready && msix;
    wire         free = tick && out_left == 7'd0 && !read_burst && !write_burst && !write_data && !interrupt;
    assign answered = free && !writing && answering;
    assign out_data = out_shift[7:0];
    assign out_valid = out_left != 7'd0;
    always @(posedge clock) begin
        if (out_valid && out_ready) begin
            out_shift <= {8'd0, out_shift[511:8]};
            out_left <= out_left - 7'd1;
        end
        if (tick) begin
            // One thing at a time; bursts of both kinds and interrupts take turns to ask.
            axi_w_ready <= free && writing;
            axi_ar_ready <= free && !writing && !answering && !axi_ar_ready && !axi_aw_ready;
            axi_aw_ready <= free && !writing && !answering && axi_ar_ready;
            msix_ready <= free && !writing && !answering && axi_aw_ready;
        end
        if (answered) begin
            out_shift[39:0] <= {answer, VALUE};
            out_left <= 7'd5;
        end else if (tick && interrupt) begin
            out_shift[15:0] <= {6'd0, msix_vector, INTERRUPT};
            out_left <= 7'd2;
        end else if (tick && read_burst) begin
            out_shift[79:0] <= {1'b0, axi_ar_beats, axi_ar_address, READ_BURST};
            out_left <= 7'd10;
        end else if (tick && write_burst) begin
            out_shift[79:0] <= {1'b0, axi_aw_beats, axi_aw_address, WRITE_BURST};
            out_left <= 7'd10;
            writing <= 1;
        end else if (tick && write_data) begin
            out_shift <= axi_w_data;
            out_left <= 7'd64;
            writing <= !axi_w_last;
        end
    end

    optireduce_card card (
        .clock(clock),
        .tick(tick),
        .reset(reset),
        .now_ns(now_ns),
        .reg_write(reg_write),
        .reg_write_address(body[483:474]),
        .reg_write_data(body[519:488]),
        .reg_read_address(body[515:506]),
        .reg_read_data(reg_read_data),
        .msix_valid(msix),
        .msix_vector(msix_vector),
        .msix_ready(msix_ready),
        .axi_ar_valid(axi_ar_valid),
        .axi_ar_address(axi_ar_address),
        .axi_ar_beats(axi_ar_beats),
        .axi_ar_ready(axi_ar_ready),
        .axi_r_valid(axi_r_valid),
        .axi_r_data(body[519:8]),
        .axi_r_error(body[0]),
        .axi_r_last(body[1]),
        .axi_r_ready(axi_r_ready),
        .axi_aw_valid(axi_aw_valid),
        .axi_aw_address(axi_aw_address),
        .axi_aw_beats(axi_aw_beats),
        .axi_aw_ready(axi_aw_ready),
        .axi_w_valid(axi_w_valid),
        .axi_w_data(axi_w_data),
        .axi_w_last(axi_w_last),
        .axi_w_ready(axi_w_ready),
        .axi_b_valid(axi_b_valid),
        .axi_b_error(body[512]),
        .rx_valid(rx_full),
        .rx_data(rx_beat),
        .rx_last(rx_beat_last),
        .rx_error(rx_beat_error),
        .tx_valid(card_tx_valid),
        .tx_data(card_tx_data),
        .tx_last(card_tx_last),
        .tx_error(card_tx_error),
        .tx_ready(card_tx_ready),
        .asleep(),
        .timer_ns(),
        .trace_arm(),
        .trace_cookie(),
        .trace_sum(),
        .trace_sum_place(),
        .trace_mean(),
        .trace_mean_place(),
        .trace_contribute_open(),
        .trace_broadcast_open()
    );
endmodule
