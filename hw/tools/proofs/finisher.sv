// The completion queues, any one of the four. A completion is ordered only while the ring has room
// beyond the entries that the host consumed, and at its place in the ring. The index of announced
// completions advances by one for each acknowledgement, so it never passes the ordered ones. A note
// has one or two beats, all pushed when it is ordered, and crosses no 4 KiB.
// Assumed (contract): the host consumes only written completions, ring registers do not change, the
// ring is aligned to 4 KiB and reports to 256 bytes. Every ordered completion is acknowledged at
// most once (proved in dma_write.sv). Completions ordered before a `clear` are not acknowledged
// after it (`reset.rs`). Contexts, results and acknowledgements otherwise have any value.
// cut: contexts drain write shift msix
(* anyconst *) wire [1:0] q;
(* anyconst *) wire [15:0] mask;
(* anyconst *) wire [63:0] base;
wire [63:0] tails = {cq_tail$3, cq_tail$2, cq_tail$1, cq_tail$0};
wire [63:0] heads = {cq_head$3, cq_head$2, cq_head$1, cq_head$0};
wire [63:0] masks = {cq_mask$3, cq_mask$2, cq_mask$1, cq_mask$0};
wire [63:0] all_issued = {issued$3$q, issued$2$q, issued$1$q, issued$0$q};
wire [15:0] told = tails[q * 16 +: 16];
wire [15:0] head = heads[q * 16 +: 16];
wire takes = write$note_valid && write$note_ready;
wire of_queue = write$note[78] && write$note[75:74] == q;
wire orders = takes && of_queue;
wire acknowledged = write$done && write$owner[7] && write$owner[4:3] == q;
wire [63:0] report_place = contexts$read_data[$bits(contexts$read_data) - 128 +: 64];
reg [15:0] issued = 0, in_flight = 0, told_was = 0, used_was = 0, unordered = 0;
reg was_cleared = 0, is_first = 1, was_acknowledged = 0, has_ordered = 0;
always @(posedge clock) begin
    is_first <= 0;
    was_cleared <= clear;
    told_was <= told;
    issued <= clear ? 0 : issued + orders;
    in_flight <= clear ? 0 : in_flight + orders - acknowledged;
    was_acknowledged <= acknowledged && !clear;
    has_ordered <= orders && !clear;
    used_was <= issued - head;
    unordered <= clear ? 0 : unordered + write$note_push - (takes ? write$note[70:64] : 7'd0);
end
wire [15:0] used = issued - head;
wire [16:0] could_be_used = used_was + has_ordered;
wire [15:0] steps = told - told_was;
wire [15:0] untold = issued - told;
always @(*) begin
    assume ((mask & (mask + 16'd1)) == 0 && cq_base[11:0] == 0 && base[11:0] == 0 && masks[q * 16 +: 16] == mask);
    if (cq_queue == q) assume (cq_base == base);
    assume (report_place[7:0] == 0);
    if (is_first || was_cleared) assume (head == 0);
    else assume (used <= could_be_used);
    if (in_flight == 0) assume (!acknowledged);
    if (in_flight == 16) assume (!write$note_ready);

    if (!is_first && !was_cleared) assert (steps <= 1);
    assert ({1'b0, used} <= mask + 17'd1);
    assert (in_flight <= 16 && untold == in_flight + was_acknowledged);
    if (write$note_valid && of_queue) assert (used <= mask && write$note[63:0] == base + ((issued & mask) << 6));
    if (write$note_valid) assert (write$note[70:64] == unordered && unordered >= 1 && write$note[5:0] == 0);
    if (write$note_valid) assert (write$note[11:6] + unordered <= 64);
    if (write$note_push) assert (!write$note_valid && unordered <= 1);
end

// Inductive invariant: a completion in hand has its place, and the counts equal those of the block.
wire [50*4-1:0] refusals = {refusals$3$q, refusals$2$q, refusals$1$q, refusals$0$q};
wire in_hand = state$q == FinishState$Fill || state$q == FinishState$Hand || state$q == FinishState$Done;
always @(*) begin
    assert (state$q <= FinishState$Pause);
    assert (issued == all_issued[q * 16 +: 16]);
    assert (was_acknowledged == (ack$q[0] && ack$q[9] && ack$q[6:5] == q));
    if (to_refuse$q[0]) assert (refusals[1:0] == 0);
    if (to_refuse$q[1]) assert (refusals[51:50] == 1);
    if (to_refuse$q[2]) assert (refusals[101:100] == 2);
    if (to_refuse$q[3]) assert (refusals[151:150] == 3);
    if (in_hand && queue$q == q) assert (used <= mask);
    if (room$q[q] && state$q != FinishState$Pause) assert (used <= mask);
    if (state$q == FinishState$Count) assert (rank$q <= 65);
    assert (unordered == (state$q == FinishState$Count ? rank$q > 33 : state$q == FinishState$Report ? 2
        : state$q == FinishState$Done));
end
