// MSI-X table and pending bits, between the PCIe bridge and the card's registers.
//
// BAR 0: registers at 0x0000 to 0x7fff, table at 0x8000, pending bits at 0x9000. An entry of the
// table has 16 bytes. Table and registers are on different pages, so that a driver can map only the
// registers.
// A request of the card sets a pending bit. It becomes a message once neither vector nor function
// is masked. Several requests of a vector may become one message. While MSI-X is off, requests are
// discarded.
// One read and one write at a time. Writes of less than a word to the table fail with SLVERR.
module msix_table #(
    parameter VECTORS_LOG2 = 2
) (
    input  wire                    clock,
    input  wire                    reset_n,
    // From the bridge.
    input  wire             [15:0] s_axil_awaddr,
    input  wire                    s_axil_awvalid,
    output wire                    s_axil_awready,
    input  wire             [31:0] s_axil_wdata,
    input  wire              [3:0] s_axil_wstrb,
    input  wire                    s_axil_wvalid,
    output wire                    s_axil_wready,
    output reg               [1:0] s_axil_bresp,
    output wire                    s_axil_bvalid,
    input  wire                    s_axil_bready,
    input  wire             [15:0] s_axil_araddr,
    input  wire                    s_axil_arvalid,
    output wire                    s_axil_arready,
    output reg              [31:0] s_axil_rdata,
    output reg               [1:0] s_axil_rresp,
    output wire                    s_axil_rvalid,
    input  wire                    s_axil_rready,
    // To the card.
    output wire             [11:0] m_axil_awaddr,
    output reg                     m_axil_awvalid,
    input  wire                    m_axil_awready,
    output wire             [31:0] m_axil_wdata,
    output wire              [3:0] m_axil_wstrb,
    output reg                     m_axil_wvalid,
    input  wire                    m_axil_wready,
    input  wire              [1:0] m_axil_bresp,
    input  wire                    m_axil_bvalid,
    output wire                    m_axil_bready,
    output wire             [11:0] m_axil_araddr,
    output reg                     m_axil_arvalid,
    input  wire                    m_axil_arready,
    input  wire             [31:0] m_axil_rdata,
    input  wire              [1:0] m_axil_rresp,
    input  wire                    m_axil_rvalid,
    output wire                    m_axil_rready,
    // The card's requests.
    input  wire                    msix_valid,
    input  wire [VECTORS_LOG2-1:0] msix_vector,
    output wire                    msix_ready,
    // The bridge's message port.
    input  wire                    enabled,
    input  wire                    masked,
    output reg              [63:0] message_address,
    output reg              [31:0] message_data,
    output reg                     message,
    input  wire                    message_sent,
    input  wire                    message_failed
);
    localparam [1:0] IDLE = 2'd0, CARD = 2'd1, DONE = 2'd2;
    localparam [1:0] OKAY = 2'b00, SLVERR = 2'b10;
    localparam VECTORS = 1 << VECTORS_LOG2;

    reg        [31:0] entry [0:4*VECTORS-1];
    reg [VECTORS-1:0] pending, vector_masked;

    // Writes: address and data are accepted together.
    reg   [1:0] writing;
    reg  [15:0] write_address;
    reg  [31:0] write_data;
    reg   [3:0] write_strobe;
    wire        write_start = writing == IDLE && s_axil_awvalid && s_axil_wvalid;
    wire        to_table = s_axil_awaddr[15:12] == 4'h8 && s_axil_awaddr[11:VECTORS_LOG2+4] == 0;
    wire [VECTORS_LOG2+1:0] write_entry = s_axil_awaddr[VECTORS_LOG2+3:2];
    assign s_axil_awready = write_start;
    assign s_axil_wready = write_start;
    assign s_axil_bvalid = writing == DONE;
    assign m_axil_awaddr = write_address[11:0];
    assign m_axil_wdata = write_data;
    assign m_axil_wstrb = write_strobe;
    assign m_axil_bready = writing == CARD;

    always @(posedge clock) begin
        if (write_start) begin
            write_address <= s_axil_awaddr;
            write_data <= s_axil_wdata;
            write_strobe <= s_axil_wstrb;
            writing <= s_axil_awaddr[15] ? DONE : CARD;
            m_axil_awvalid <= !s_axil_awaddr[15];
            m_axil_wvalid <= !s_axil_awaddr[15];
            s_axil_bresp <= to_table && s_axil_wstrb != 4'hf ? SLVERR : OKAY;
            if (to_table && s_axil_wstrb == 4'hf) begin
                entry[write_entry] <= s_axil_wdata;
                if (write_entry[1:0] == 2'd3) vector_masked[write_entry[VECTORS_LOG2+1:2]] <= s_axil_wdata[0];
            end
        end
        if (m_axil_awready) m_axil_awvalid <= 1'b0;
        if (m_axil_wready) m_axil_wvalid <= 1'b0;
        if (writing == CARD && m_axil_bvalid) begin
            s_axil_bresp <= m_axil_bresp;
            writing <= DONE;
        end
        if (writing == DONE && s_axil_bready) writing <= IDLE;
        if (!reset_n) begin
            writing <= IDLE;
            m_axil_awvalid <= 1'b0;
            m_axil_wvalid <= 1'b0;
            vector_masked <= {VECTORS{1'b1}};
        end
    end

    // Reads.
    reg   [1:0] reading;
    reg  [11:0] read_address;
    wire        read_start = reading == IDLE && s_axil_arvalid;
    wire [VECTORS_LOG2+1:0] read_entry = s_axil_araddr[VECTORS_LOG2+3:2];
    assign s_axil_arready = read_start;
    assign s_axil_rvalid = reading == DONE;
    assign m_axil_araddr = read_address;
    assign m_axil_rready = reading == CARD;

    always @(posedge clock) begin
        if (read_start) begin
            read_address <= s_axil_araddr[11:0];
            reading <= s_axil_araddr[15] ? DONE : CARD;
            m_axil_arvalid <= !s_axil_araddr[15];
            s_axil_rresp <= OKAY;
            s_axil_rdata <= 32'd0;
            if (s_axil_araddr[15:12] == 4'h8 && s_axil_araddr[11:VECTORS_LOG2+4] == 0) begin
                if (read_entry[1:0] == 2'd3) s_axil_rdata <= {31'd0, vector_masked[read_entry[VECTORS_LOG2+1:2]]};
                else s_axil_rdata <= entry[read_entry];
            end
            if (s_axil_araddr[15:2] == 14'h2400) s_axil_rdata <= {{32-VECTORS{1'b0}}, pending};
        end
        if (m_axil_arready) m_axil_arvalid <= 1'b0;
        if (reading == CARD && m_axil_rvalid) begin
            s_axil_rdata <= m_axil_rdata;
            s_axil_rresp <= m_axil_rresp;
            reading <= DONE;
        end
        if (reading == DONE && s_axil_rready) reading <= IDLE;
        if (!reset_n) begin
            reading <= IDLE;
            m_axil_arvalid <= 1'b0;
        end
    end

    // Messages: one at a time, lowest vector first.
    reg                     waiting;
    reg  [VECTORS_LOG2-1:0] sent_vector, next_vector;
    wire      [VECTORS-1:0] ready = masked || !enabled ? {VECTORS{1'b0}} : pending & ~vector_masked;
    integer                 i;
    assign msix_ready = 1'b1;

    always @(*) begin
        next_vector = 0;
        for (i = VECTORS - 1; i >= 0; i = i - 1) if (ready[i]) next_vector = i[VECTORS_LOG2-1:0];
    end

    always @(posedge clock) begin
        message <= 1'b0;
        if (waiting && message_failed) pending[sent_vector] <= 1'b1;
        if (waiting && (message_sent || message_failed)) waiting <= 1'b0;
        if (!waiting && ready != 0) begin
            waiting <= 1'b1;
            message <= 1'b1;
            sent_vector <= next_vector;
            message_address <= {entry[{next_vector, 2'd1}], entry[{next_vector, 2'd0}]};
            message_data <= entry[{next_vector, 2'd2}];
            pending[next_vector] <= 1'b0;
        end
        if (msix_valid && enabled) pending[msix_vector] <= 1'b1;
        if (!enabled) pending <= 0;
        if (!reset_n) begin
            waiting <= 1'b0;
            pending <= 0;
        end
    end
endmodule
