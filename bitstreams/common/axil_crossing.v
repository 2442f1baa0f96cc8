// AXI4-Lite from one clock to another: one transaction at a time, writes before reads.
//
// Request and response are stable while a toggle crosses to the other side. Address and data of a
// write may arrive in any order.
// Reset: both sides at the same time.
module axil_crossing #(
    parameter ADDRESS_BITS = 12
) (
    input  wire                    s_clock,
    input  wire                    s_reset_n,
    input  wire [ADDRESS_BITS-1:0] s_axil_awaddr,
    input  wire                    s_axil_awvalid,
    output wire                    s_axil_awready,
    input  wire             [31:0] s_axil_wdata,
    input  wire              [3:0] s_axil_wstrb,
    input  wire                    s_axil_wvalid,
    output wire                    s_axil_wready,
    output wire              [1:0] s_axil_bresp,
    output reg                     s_axil_bvalid,
    input  wire                    s_axil_bready,
    input  wire [ADDRESS_BITS-1:0] s_axil_araddr,
    input  wire                    s_axil_arvalid,
    output wire                    s_axil_arready,
    output wire             [31:0] s_axil_rdata,
    output wire              [1:0] s_axil_rresp,
    output reg                     s_axil_rvalid,
    input  wire                    s_axil_rready,
    input  wire                    m_clock,
    input  wire                    m_reset_n,
    output wire [ADDRESS_BITS-1:0] m_axil_awaddr,
    output reg                     m_axil_awvalid,
    input  wire                    m_axil_awready,
    output wire             [31:0] m_axil_wdata,
    output wire              [3:0] m_axil_wstrb,
    output reg                     m_axil_wvalid,
    input  wire                    m_axil_wready,
    input  wire              [1:0] m_axil_bresp,
    input  wire                    m_axil_bvalid,
    output wire                    m_axil_bready,
    output wire [ADDRESS_BITS-1:0] m_axil_araddr,
    output reg                     m_axil_arvalid,
    input  wire                    m_axil_arready,
    input  wire             [31:0] m_axil_rdata,
    input  wire              [1:0] m_axil_rresp,
    input  wire                    m_axil_rvalid,
    output wire                    m_axil_rready
);
    // Side of the master. `asked` toggles with every request.
    reg                     asked, is_write;
    reg  [ADDRESS_BITS-1:0] address;
    reg              [31:0] data;
    reg               [3:0] strobe;
    reg                     answered;
    reg              [31:0] answer_data;
    reg               [1:0] answer_resp;
    (* ASYNC_REG = "TRUE" *) reg [1:0] answered_here, asked_there;
    wire                    idle = asked == answered_here[1] && !s_axil_bvalid && !s_axil_rvalid;
    reg                     waiting;
    wire                    take_write = idle && !waiting && s_axil_awvalid && s_axil_wvalid;
    wire                    take_read = idle && !waiting && !take_write && s_axil_arvalid;
    assign s_axil_awready = take_write;
    assign s_axil_wready = take_write;
    assign s_axil_arready = take_read;
    assign s_axil_bresp = answer_resp;
    assign s_axil_rresp = answer_resp;
    assign s_axil_rdata = answer_data;

    always @(posedge s_clock) begin
        answered_here <= {answered_here[0], answered};
        if (take_write || take_read) begin
            asked <= !asked;
            waiting <= 1'b1;
            is_write <= take_write;
            address <= take_write ? s_axil_awaddr : s_axil_araddr;
            data <= s_axil_wdata;
            strobe <= s_axil_wstrb;
        end
        if (waiting && asked == answered_here[1]) begin
            waiting <= 1'b0;
            s_axil_bvalid <= is_write;
            s_axil_rvalid <= !is_write;
        end
        if (s_axil_bvalid && s_axil_bready) s_axil_bvalid <= 1'b0;
        if (s_axil_rvalid && s_axil_rready) s_axil_rvalid <= 1'b0;
        if (!s_reset_n) begin
            asked <= 1'b0;
            answered_here <= 2'b00;
            waiting <= 1'b0;
            s_axil_bvalid <= 1'b0;
            s_axil_rvalid <= 1'b0;
        end
    end

    // Side of the slave.
    reg  begun;
    assign m_axil_awaddr = address;
    assign m_axil_araddr = address;
    assign m_axil_wdata = data;
    assign m_axil_wstrb = strobe;
    assign m_axil_bready = 1'b1;
    assign m_axil_rready = 1'b1;

    always @(posedge m_clock) begin
        asked_there <= {asked_there[0], asked};
        if (m_axil_awready) m_axil_awvalid <= 1'b0;
        if (m_axil_wready) m_axil_wvalid <= 1'b0;
        if (m_axil_arready) m_axil_arvalid <= 1'b0;
        if (begun != asked_there[1]) begin
            begun <= asked_there[1];
            m_axil_awvalid <= is_write;
            m_axil_wvalid <= is_write;
            m_axil_arvalid <= !is_write;
        end
        if (m_axil_bvalid || m_axil_rvalid) begin
            answered <= begun;
            answer_data <= m_axil_rdata;
            answer_resp <= m_axil_bvalid ? m_axil_bresp : m_axil_rresp;
        end
        if (!m_reset_n) begin
            asked_there <= 2'b00;
            begun <= 1'b0;
            answered <= 1'b0;
            m_axil_awvalid <= 1'b0;
            m_axil_wvalid <= 1'b0;
            m_axil_arvalid <= 1'b0;
        end
    end
endmodule
