// The queues, any one of the four. The index of consumed submissions advances by at most one, over
// an entry that the doorbell announced, so it never passes the doorbell. AXI read address: a
// request is stable until it is accepted and has the entry's place in the ring. No second request
// is made before the data of the first has arrived.
// Assumed (contract): the doorbell is never ahead of the index by more than the ring, the doorbell
// is 0 after `clear`, ring registers do not change, and the ring is aligned to 4 KiB.
(* anyconst *) wire [1:0] q;
(* anyconst *) wire [15:0] last_entry;
(* anyconst *) wire [63:0] ring;
wire [63:0] heads = {sq_head$3, sq_head$2, sq_head$1, sq_head$0};
wire [63:0] tails = {sq_tail$3, sq_tail$2, sq_tail$1, sq_tail$0};
wire [15:0] head = heads[q * 16 +: 16];
wire [15:0] tail = tails[q * 16 +: 16];
wire is_ours = sq_queue == q;
wire [15:0] pending = tail - head;
reg [15:0] pending_was = 0, head_was = 0;
reg [63:0] address_was;
reg [1:0] queue_was;
reg was_cleared = 0, was_asked = 0, is_awaited = 0, is_first = 1;
always @(posedge clock) begin
    is_first <= 0;
    pending_was <= pending;
    head_was <= head;
    was_cleared <= clear;
    was_asked <= ar_valid && !ar_ready && !clear;
    address_was <= ar_address;
    queue_was <= sq_queue;
    is_awaited <= !clear && (ar_valid && ar_ready || is_awaited && !r_valid);
end
wire [15:0] steps = head - head_was;
wire [16:0] announced = pending_was - steps;
wire [16:0] after = pending;
always @(*) begin
    assume ((last_entry & (last_entry + 16'd1)) == 0 && ring[11:0] == 0);
    if (is_ours) assume (sq_mask == last_entry && sq_base == ring);
    if (is_first || was_cleared) assume (tail == 0);
    else if (steps <= pending_was) assume (after >= announced);
    assume (after <= last_entry + 17'd1);
    if (!is_awaited) assume (!r_valid);

    if (!is_first && was_cleared) assert (head == 0);
    if (!is_first && !was_cleared) assert (steps <= 1 && steps <= pending_was);
    if (ar_valid) assert (!is_awaited);
    if (ar_valid && is_ours) assert (pending != 0 && ar_address == ring + ((head & last_entry) << 6));
    if (was_asked) assert (ar_valid && sq_queue == queue_was);
    if (was_asked && is_ours) assert (ar_address == address_was);
end

// Inductive invariant: in every state except idle, the unit holds an announced entry.
always @(*) begin
    assert (state$q <= SubmitState$Next);
    if (state$q != SubmitState$Idle && is_ours) assert (pending != 0);
    assert (is_awaited == (state$q == SubmitState$Wait));
    if (was_asked) assert (state$q == SubmitState$Ask);
    if (was_asked && is_ours) assert (address_was == ring + ((head & last_entry) << 6));
end
