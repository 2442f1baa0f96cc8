// AXI read address: a burst once asked for stands unchanged until it is taken, crosses no 4 KiB, and no more beats are
// asked for than are still to come.
// Assumed: orders are aligned and no longer than their window (contract, checked by driver and submission unit), memory
// sends only what was asked for, the encoder gives no more than it got. Everything else is anything.
// cut: orders contexts encoder buffer outbox
reg waits = 0, works = 0;
reg [63:0] address_was;
reg [6:0] beats_were;
reg [$bits(contexts$read_data)-1:0] context_was;
always @(posedge clock) begin
    waits <= ar_valid && !ar_ready && !clear;
    address_was <= ar_address;
    beats_were <= ar_beats;
    works <= state$q != FillState$Idle && !clear;
    context_was <= contexts$read_data;
end
wire fills = state$q == FillState$Fill;
always @(*) begin
    assume (orders$pop_data[8:3] == 0);
    if (works) assume (contexts$read_data == context_was);
    if (fills && to_come$q == to_ask$q) assume (!r_valid);
    if (fills && encoder$out_valid) assume (to_write$q > to_feed$q);
    if (state$q == FillState$Start) assume (to_ask$d <= to_feed$d || !encoder$idle);

    if (waits) assert (ar_valid && ar_address == address_was && ar_beats == beats_were);
    if (ar_valid) assert (ar_address[5:0] == 0 && ar_beats >= 1 && ar_address[11:6] + ar_beats <= 64);
    if (ar_valid) assert (ar_beats <= to_come$q);
end

// What makes it inductive: the order in which the four counters run out.
always @(*) begin
    assert (order_now$q[8:3] == 0);
    if (fills) assert (ask_address$q[5:0] == 0);
    if (fills) assert (to_ask$q <= to_come$q && to_come$q <= to_feed$q && to_feed$q <= to_write$q);
    if (waits) assert (fills);
end
