// AXI write: addresses and beats are stable until they are accepted, and no burst crosses 4 KiB.
// Every ordered burst is sent once. It has as many beats as its address announced, with `last` at
// the last beat only. Notes lose no beat, and a note that has begun never waits for one. At most
// sixteen bursts are unacknowledged. Every acknowledgement goes to the owner of its burst, or is
// discarded during `clear`.
// Assumed: ordered bursts cross no 4 KiB. A note has one or two beats, all pushed when it is
// ordered, and the next note is pushed later (proved in finisher.sv). `clear` lasts until no burst
// is half written (`reset.rs`). Memory acknowledges only bursts it received. The queues of beats
// are FIFOs (proved in fifo.sv and block_fifo.sv).
// cut: results notes
reg aw_waits = 0, w_waits = 0, was_loaded = 0, was_cleared = 0;
reg [63:0] address;
reg [6:0] beats, to_send = 0;
reg [511:0] data_was, results_head, notes_head;
reg last_was, results_hold = 0, notes_hold = 0;
reg [15:0] unordered = 0, fill = 0;
wire takes_note = note_valid && note_ready;
wire takes_order = order_valid && order_ready;
wire loads = takes_note || takes_order;
wire [79:0] loaded = takes_note ? note : order;
wire sends = w_valid && w_ready;
wire pushes = note_push && !clear;
always @(posedge clock) begin
    was_cleared <= clear && !reset;
    was_loaded <= loads && !reset;
    aw_waits <= aw_valid && !aw_ready && !reset;
    if (loads) address <= loaded[63:0];
    if (loads) beats <= loaded[70:64];
    to_send <= reset ? 0 : loads ? loaded[70:64] : to_send - sends;
    w_waits <= w_valid && !w_ready && !reset;
    data_was <= w_data;
    last_was <= w_last;
    results_hold <= !results$empty && !results$pop && !results$clear;
    results_head <= results$pop_data;
    notes_hold <= !notes$empty && !notes$pop && !notes$clear;
    notes_head <= notes$pop_data;
    unordered <= notes$clear ? 0 : takes_note ? 0 : unordered + pushes;
    fill <= notes$clear ? 0 : fill + pushes - notes$pop;
end
always @(*) begin
    assume (note[5:0] == 0 && note[70:64] >= 1 && note[70:64] <= 2 && note[11:6] + note[70:64] <= 64);
    assume (order[5:0] == 0 && order[70:64] >= 1 && order[11:6] + order[70:64] <= 64);
    if (note_valid && !clear) assume (unordered == note[70:64] && !note_push);
    if (unordered == 2) assume (!note_push);
    if (was_cleared && to_send != 0) assume (clear);
    if (results_hold) assume (!results$empty && results$pop_data == results_head);
    if (notes_hold) assume (notes$pop_data == notes_head);
    assume (notes$empty == (fill == 0));

    assert (!(takes_note && takes_order) && !(loads && (clear || to_send > 1 || to_send == 1 && !sends)));
    assert (aw_valid == (aw_waits || was_loaded) && !(aw_waits && was_loaded));
    if (aw_valid) assert (aw_address == address && aw_beats == beats);
    if (aw_valid) assert (aw_address[5:0] == 0 && aw_beats >= 1 && aw_address[11:6] + aw_beats <= 64);
    if (w_valid) assert (to_send != 0 && w_last == (to_send == 1));
    if (w_waits) assert (w_valid && w_data == data_was && w_last == last_was);
    if (fill == 4) assert (!notes$push);
    if (of_note$q && to_send != 0) assert (w_valid);
    assert (to_send == left$q && to_send <= 64 && (!of_note$q || to_send <= 2));
    assert (unordered <= 2 && fill == unordered + (of_note$q ? to_send : 0));
end

// Follows one burst, any one: the number of bursts before it, and its owner.
(* anyseq *) wire is_marked;
reg [15:0] outstanding = 0, ahead;
reg marked = 0;
reg [8:0] its_owner;
wire [15:0] unfinished = aw_valid || to_send != 0;
always @(posedge clock) begin
    outstanding <= reset ? 16'd0 : outstanding + loads - b_valid;
    if (reset) marked <= 0;
    else if (marked && b_valid && ahead == 0) marked <= 0;
    else if (marked && b_valid) ahead <= ahead - 1;
    else if (!marked && loads && is_marked) begin
        marked <= 1;
        its_owner <= loaded[79:71];
        ahead <= outstanding - b_valid;
    end
end
always @(*) begin
    if (outstanding == unfinished) assume (!b_valid);
    assert (outstanding <= 16 && outstanding >= unfinished && busy == (outstanding != 0));
    if (marked) assert (ahead < outstanding);
    assert (done == (b_valid && !clear));
    if (done) assert (failed == b_error);
    if (marked && ahead == 0) assert (owner == its_owner);
end

// Inductive invariant: the queue of owners.
(* hierconn *) wire [47:0] \owners.state$q ;
wire [15:0] head = \owners.state$q [15:0];
wire [15:0] tail = \owners.state$q [31:16];
wire [15:0] length = tail - head;
(* hierconn *) wire [8:0] \owners.memory.mem[0] , \owners.memory.mem[1] , \owners.memory.mem[2] , \owners.memory.mem[3] ,
    \owners.memory.mem[4] , \owners.memory.mem[5] , \owners.memory.mem[6] , \owners.memory.mem[7] ,
    \owners.memory.mem[8] , \owners.memory.mem[9] , \owners.memory.mem[10] , \owners.memory.mem[11] ,
    \owners.memory.mem[12] , \owners.memory.mem[13] , \owners.memory.mem[14] , \owners.memory.mem[15] ;
wire [143:0] words = {\owners.memory.mem[15] , \owners.memory.mem[14] , \owners.memory.mem[13] , \owners.memory.mem[12] ,
    \owners.memory.mem[11] , \owners.memory.mem[10] , \owners.memory.mem[9] , \owners.memory.mem[8] ,
    \owners.memory.mem[7] , \owners.memory.mem[6] , \owners.memory.mem[5] , \owners.memory.mem[4] ,
    \owners.memory.mem[3] , \owners.memory.mem[2] , \owners.memory.mem[1] , \owners.memory.mem[0] };
wire [3:0] place = head + ahead;
always @(*) begin
    assert (length == outstanding && \owners.state$q [47:32] == outstanding);
    if (marked) assert (words[place * 9 +: 9] == its_owner);
end
