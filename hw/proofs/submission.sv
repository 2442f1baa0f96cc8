// The queue: the index of submissions consumed only ever advances by one, over an entry that the doorbell announced,
// and so never passes the doorbell. AXI read address: an entry once asked for stands until it is taken, lies at its
// place in the ring, and no second is asked for before its data came.
// Assumed (contract): the doorbell never runs more than the ring ahead of the index, a cleared unit's doorbell is at 0,
// ring registers stand still, the ring is aligned to 4 KiB.
wire [15:0] pending = sq_tail - sq_head;
reg [15:0] pending_was = 0, head_was = 0, mask_was;
reg [63:0] base_was, address_was;
reg was_cleared = 0, was_asked = 0, is_awaited = 0, is_first = 1;
always @(posedge clock) begin
    is_first <= 0;
    pending_was <= pending;
    head_was <= sq_head;
    mask_was <= sq_mask;
    base_was <= sq_base;
    was_cleared <= clear;
    was_asked <= ar_valid && !ar_ready && !clear;
    address_was <= ar_address;
    is_awaited <= !clear && (ar_valid && ar_ready || is_awaited && !r_valid);
end
wire [15:0] steps = sq_head - head_was;
wire [16:0] announced = pending_was - steps;
wire [16:0] after = pending;
always @(*) begin
    assume ((sq_mask & (sq_mask + 16'd1)) == 0 && sq_base[11:0] == 0);
    if (!is_first) assume (sq_mask == mask_was && sq_base == base_was);
    if (is_first || was_cleared) assume (sq_tail == 0);
    else if (steps <= pending_was) assume (after >= announced);
    assume (after <= sq_mask + 17'd1);
    if (!is_awaited) assume (!r_valid);

    if (!is_first && was_cleared) assert (sq_head == 0);
    if (!is_first && !was_cleared) assert (steps <= 1 && steps <= pending_was);
    if (ar_valid) assert (pending != 0 && !is_awaited);
    if (ar_valid) assert (ar_address == sq_base + ((sq_head & sq_mask) << 6));
    if (was_asked) assert (ar_valid && ar_address == address_was);
end

// What makes it inductive: the unit has an entry in hand, that is announced, in every state but idle.
always @(*) begin
    assert (state$q <= SubmitState$Next);
    if (state$q != SubmitState$Idle) assert (pending != 0);
    assert (is_awaited == (state$q == SubmitState$Wait));
    if (was_asked) assert (state$q == SubmitState$Ask);
end
