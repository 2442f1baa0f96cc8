// AXI read address: a request is stable until it is accepted, and crosses no 4 KiB. It is what one
// of the two units requested in the cycle before. At most sixteen bursts are outstanding. Data and
// read errors go to the unit and window that requested them, in order, and are discarded during
// `clear`.
// Assumed: requested bursts cross no 4 KiB (proved in submission.sv and contribute.sv), and memory
// sends only requested data.
reg was_offered = 0, was_asked = 0;
reg [63:0] address;
reg [6:0] beats;
wire submit_asks = submit_valid && submit_ready;
wire contribute_asks = contribute_valid && contribute_ready;
wire asks = submit_asks || contribute_asks;
always @(posedge clock) begin
    was_offered <= ar_valid && !ar_ready && !reset;
    was_asked <= asks && !reset;
    if (asks) address <= submit_asks ? submit_address : contribute_address;
    if (asks) beats <= submit_asks ? 7'd1 : contribute_beats;
end
always @(*) begin
    assume (submit_address[5:0] == 0 && contribute_address[5:0] == 0);
    assume (contribute_beats >= 1 && contribute_address[11:6] + contribute_beats <= 64);
    assert (!(submit_asks && contribute_asks) && !(asks && clear));
    assert (ar_valid == (was_offered || was_asked) && !(was_offered && was_asked));
    if (ar_valid) assert (ar_address == address && ar_beats == beats);
    if (ar_valid) assert (ar_address[5:0] == 0 && ar_beats >= 1 && ar_address[11:6] + ar_beats <= 64);
end

// Follows one request, any one: the number of requests before it, and its owner.
(* anyseq *) wire is_marked;
wire ends = r_valid && r_last && r_ready;
reg [15:0] outstanding = 0, ahead;
reg marked = 0, of_submit_unit;
reg [2:0] of_slot;
wire [15:0] on_the_bus = outstanding - ar_valid;
wire is_due = marked && ahead == 0 && r_valid;
wire tells = r_error && !of_submit_unit && !clear;
always @(posedge clock) begin
    outstanding <= reset ? 16'd0 : outstanding + asks - ends;
    if (reset) marked <= 0;
    else if (marked && ends && ahead == 0) marked <= 0;
    else if (marked && ends) ahead <= ahead - 1;
    else if (!marked && asks && is_marked) begin
        marked <= 1;
        of_submit_unit <= submit_asks;
        of_slot <= contribute_slot;
        ahead <= outstanding - ends;
    end
end
always @(*) begin
    if (on_the_bus == 0) assume (!r_valid);
    assert (outstanding <= 16 && outstanding >= ar_valid);
    if (marked) assert (ahead < outstanding);
    if (is_due) assert (submit_beat == (of_submit_unit && !clear) && contribute_beat == (!of_submit_unit && !clear));
    if (is_due) assert (unread == (tells ? 8'd1 << of_slot : 8'd0));
    if (!r_valid) assert (!submit_beat && !contribute_beat && unread == 0);
end

// Inductive invariant: the queue of owners.
(* hierconn *) wire [47:0] \owners.state$q ;
wire [15:0] head = \owners.state$q [15:0];
wire [15:0] tail = \owners.state$q [31:16];
wire [15:0] length = tail - head;
(* hierconn *) wire [3:0] \owners.memory.mem[0] , \owners.memory.mem[1] , \owners.memory.mem[2] , \owners.memory.mem[3] ,
    \owners.memory.mem[4] , \owners.memory.mem[5] , \owners.memory.mem[6] , \owners.memory.mem[7] ,
    \owners.memory.mem[8] , \owners.memory.mem[9] , \owners.memory.mem[10] , \owners.memory.mem[11] ,
    \owners.memory.mem[12] , \owners.memory.mem[13] , \owners.memory.mem[14] , \owners.memory.mem[15] ;
wire [63:0] words = {\owners.memory.mem[15] , \owners.memory.mem[14] , \owners.memory.mem[13] , \owners.memory.mem[12] ,
    \owners.memory.mem[11] , \owners.memory.mem[10] , \owners.memory.mem[9] , \owners.memory.mem[8] ,
    \owners.memory.mem[7] , \owners.memory.mem[6] , \owners.memory.mem[5] , \owners.memory.mem[4] ,
    \owners.memory.mem[3] , \owners.memory.mem[2] , \owners.memory.mem[1] , \owners.memory.mem[0] };
wire [3:0] place = head + ahead;
always @(*) begin
    assert (length == outstanding && \owners.state$q [47:32] == outstanding);
    if (marked) assert (words[place * 4 +: 4] == {of_slot, !of_submit_unit});
end
