// AXI read address: a burst once offered stands unchanged until it is taken, and crosses no 4 KiB, whichever of the two
// units comes meanwhile. At most eight are outstanding, and data goes to the unit that asked for it, in order.
// Assumed: both units keep what they offer (proved in submission.sv and contribute.sv); memory sends no data unasked.
reg was_offered = 0, submit_waits = 0, contribute_waits = 0;
reg [63:0] address, submit_was, contribute_was;
reg [6:0] beats, beats_were;
always @(posedge clock) begin
    was_offered <= ar_valid && !ar_ready && !clear;
    address <= ar_address;
    beats <= ar_beats;
    submit_waits <= submit_valid && !submit_ready && !clear;
    submit_was <= submit_address;
    contribute_waits <= contribute_valid && !contribute_ready && !clear;
    contribute_was <= contribute_address;
    beats_were <= contribute_beats;
end
always @(*) begin
    if (submit_waits) assume (submit_valid && submit_address == submit_was);
    if (contribute_waits) assume (contribute_valid && contribute_address == contribute_was);
    if (contribute_waits) assume (contribute_beats == beats_were);
    assume (submit_address[5:0] == 0 && contribute_address[5:0] == 0);
    assume (contribute_beats >= 1 && contribute_address[11:6] + contribute_beats <= 64);
    if (was_offered) assert (ar_valid && ar_address == address && ar_beats == beats);
    if (ar_valid) assert (ar_beats >= 1 && ar_address[11:6] + ar_beats <= 64);
    assert (!(submit_ready && contribute_ready && ar_valid));
    if (submit_valid && submit_ready) assert (ar_valid && ar_ready && ar_address == submit_address && ar_beats == 1);
    if (contribute_valid && contribute_ready) assert (ar_valid && ar_ready && ar_address == contribute_address);
end

// One request, any one, is followed: how many are before it, and whose it is.
(* anyseq *) wire is_marked;
wire asks = ar_valid && ar_ready;
wire ends = r_valid && r_last && r_ready;
reg [15:0] outstanding = 0, ahead;
reg marked = 0, of_submit_unit;
always @(posedge clock) begin
    outstanding <= clear ? 16'd0 : outstanding + asks - ends;
    if (clear) marked <= 0;
    else if (marked && ends && ahead == 0) marked <= 0;
    else if (marked && ends) ahead <= ahead - 1;
    else if (!marked && asks && is_marked) begin
        marked <= 1;
        of_submit_unit <= submit_valid && submit_ready;
        ahead <= outstanding - ends;
    end
end
always @(*) begin
    if (outstanding == 0) assume (!r_valid);
    assert (outstanding <= 8);
    if (marked) assert (ahead < outstanding);
    if (marked && ahead == 0 && r_valid) assert (submit_beat == of_submit_unit && contribute_beat == !of_submit_unit);
    if (!r_valid) assert (!submit_beat && !contribute_beat);
end

// What makes it inductive: the queue of owners.
(* hierconn *) wire [47:0] \owners.state$q ;
wire [15:0] head = \owners.state$q [15:0];
wire [15:0] tail = \owners.state$q [31:16];
wire [15:0] length = tail - head;
(* hierconn *) wire \owners.memory.mem[0] , \owners.memory.mem[1] , \owners.memory.mem[2] , \owners.memory.mem[3] ,
    \owners.memory.mem[4] , \owners.memory.mem[5] , \owners.memory.mem[6] , \owners.memory.mem[7] ;
wire [7:0] words = {\owners.memory.mem[7] , \owners.memory.mem[6] , \owners.memory.mem[5] , \owners.memory.mem[4] ,
    \owners.memory.mem[3] , \owners.memory.mem[2] , \owners.memory.mem[1] , \owners.memory.mem[0] };
wire [2:0] place = head + ahead;
always @(*) begin
    assert (length == outstanding && \owners.state$q [47:32] == outstanding);
    if (marked) assert (words[place] == !of_submit_unit);
    if (was_offered) assert (kept$q ? contribute_waits && address == contribute_was && beats == beats_were
                                    : submit_waits && address == submit_was && beats == 1);
    if (kept$q) assert (was_offered);
end
