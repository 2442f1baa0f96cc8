// AXI write: an address or a beat once offered stands unchanged until it is taken; a burst crosses no 4 KiB; every
// burst gets as many beats as its address announced, with `last` at the last one and nowhere else.
// The queue: the index of completions written advances by one at most, and never more than the ring holds beyond what
// the host consumed.
// Assumed (contract): the host consumes nothing that is not written, ring registers stand still, addresses are
// aligned, nothing is armed where a window is being finished; the outbox is a FIFO (proved in fifo.sv).
// The slot contexts, the arithmetic and the outbox' data are anything.
// cut: contexts decoder multiplier reciprocal shift inbox outbox
reg aw_waits = 0, w_waits = 0, was_cleared = 0, is_first = 1;
reg [63:0] address_was, base_was;
reg [6:0] beats_were;
reg [511:0] data_was;
reg last_was;
reg [7:0] left = 0;
reg [15:0] used_was = 0, tail_was = 0, mask_was;
wire [15:0] written = cq_tail - cq_head;
wire [15:0] steps = cq_tail - tail_was;
always @(posedge clock) begin
    is_first <= 0;
    was_cleared <= clear;
    aw_waits <= aw_valid && !aw_ready && !clear;
    address_was <= aw_address;
    beats_were <= aw_beats;
    w_waits <= w_valid && !w_ready && !clear;
    data_was <= w_data;
    last_was <= w_last;
    left <= clear ? 0 : aw_valid && aw_ready ? aw_beats : left - (w_valid && w_ready);
    used_was <= written;
    tail_was <= cq_tail;
    base_was <= cq_base;
    mask_was <= cq_mask;
end
localparam context_bits = $bits(contexts$read_data);
wire [63:0] host_address = contexts$read_data[context_bits - 192 +: 64];
wire [63:0] report_place = contexts$read_data[context_bits - 128 +: 64];
reg works = 0, holds = 0;
reg [context_bits-1:0] context_was;
reg [511:0] head_was;
always @(posedge clock) begin
    works <= state$q != FinishState$Idle;
    context_was <= contexts$read_data;
    holds <= !outbox$empty && !outbox$pop && !outbox$clear;
    head_was <= outbox$pop_data;
end
wire [16:0] newly_written = used_was + steps;
always @(*) begin
    assume ((cq_mask & (cq_mask + 16'd1)) == 0 && cq_base[11:0] == 0);
    if (!is_first) assume (cq_mask == mask_was && cq_base == base_was);
    if (is_first || was_cleared) assume (cq_head == 0);
    else assume (written <= newly_written);
    assume (host_address[5:0] == 0 && report_place[7:0] == 0);
    if (works) assume (contexts$read_data == context_was);
    if (holds) assume (!outbox$empty && outbox$pop_data == head_was);

    if (!is_first && !was_cleared) assert (steps <= 1);
    assert ({1'b0, written} <= cq_mask + 17'd1);
    if (aw_valid) assert (aw_beats >= 1 && aw_address[11:6] + aw_beats <= 64 && left == 0);
    if (w_valid) assert (left != 0 && w_last == (left == 1));
    if (aw_waits) assert (aw_valid && aw_address == address_was && aw_beats == beats_were);
    if (w_waits) assert (w_valid && w_data == data_was && w_last == last_was);
end

// What makes it inductive: the beats still to write, state by state, and room for the completion under way.
always @(*) begin
    assert (state$q <= FinishState$DoneSettle);
    assert (left == (state$q == FinishState$Drain ? burst_left$q : state$q == FinishState$ReportLow ? 2
        : state$q == FinishState$ReportHigh || state$q == FinishState$DoneWrite));
    if (state$q != FinishState$Drain) assert (burst_left$q == 0);
    assert (ask_address$q[5:0] == 0 && burst_left$q <= 64);
    if (state$q == FinishState$DoneAsk || state$q == FinishState$DoneWrite) assert (written <= cq_mask);
    if (aw_waits) assert (state$q == FinishState$Drain || state$q == FinishState$ReportAsk || state$q == FinishState$DoneAsk);
    if (works) assert (!is_first);
end
