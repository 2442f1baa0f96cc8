// AXI read address: a request is stable until it is accepted, and no burst crosses 4 KiB. The beats
// requested for an order add up to its length. The inbox has room for every requested beat, so it
// accepts all read data.
// Assumed: orders are aligned (contract; checked by driver and submission unit), memory sends only
// requested data, and the inbox is a FIFO (proved in block_fifo). Everything else has any value.
// cut: orders planned contexts encoder inbox buffer outbox round
reg waits = 0;
reg [63:0] address_was;
reg [6:0] beats_were;
reg [14:0] asked = 0;
reg [15:0] on_the_way = 0, kept = 0;
wire takes = ar_valid && ar_ready;
always @(posedge clock) begin
    waits <= ar_valid && !ar_ready && !clear;
    address_was <= ar_address;
    beats_were <= ar_beats;
    asked <= read_state$q == ReadState$Start ? 0 : asked + (takes ? ar_beats : 7'd0);
    on_the_way <= clear ? 0 : on_the_way + (takes ? ar_beats : 7'd0) - r_valid;
    kept <= clear ? 0 : kept + r_valid - inbox$pop;
end
wire asking = read_state$q == ReadState$Ask;
wire [14:0] host_beats = read_order$q[81:67];
wire [14:0] all_asked = asked + to_ask$q + then_ask$q;
always @(*) begin
    assume (orders$pop_data[8:3] == 0);
    if (on_the_way == 0) assume (!r_valid);
    if (kept == 0) assume (inbox$empty);

    if (waits) assert (ar_valid && ar_address == address_was && ar_beats == beats_were);
    if (ar_valid) assert (ar_address[5:0] == 0 && ar_beats >= 1 && ar_address[11:6] + ar_beats <= 64);
    if (ar_valid) assert (ar_beats <= to_ask$q);
    if (asking) assert (all_asked == host_beats);
    assert (on_the_way + kept <= 512 && inbox$push == r_valid && r_ready);
    if (inbox$pop) assert (kept != 0);
end

// Inductive invariant: the state of the reader.
always @(*) begin
    assert (read_state$q <= ReadState$Ask && state$q <= FillState$Fill);
    assert (read_order$q[8:3] == 0);
    if (asking) assert (ask_address$q[5:0] == 0);
    assert (on_the_way <= 512 && kept <= 512 && reserved$q == on_the_way + kept);
    if (waits) assert (asking);
end
