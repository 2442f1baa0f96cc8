// A stage, any one of the eight, closes by its deadline, whatever arrives. Its clock starts with
// this rank's own entry, when that has its turn, or with a packet of the last of `start_peers`
// distinct peers, and runs from three cycles later. Once the time has reached start + bound, the
// gate closes within eight cycles: gates of lower slots that are due close first, one per cycle. A
// closed gate stays closed until its slot is armed, freed or cleared.
// Assumed: packets arrive at most every other cycle, each from one sender. A slot is armed while it
// is free, at least two cycles after it was freed, and no lower one while it is overdue. Time
// advances by less than 0.5 s per cycle. Counted and reported values have any value.
// cut: beats beat_rules told_heard starts ends
(* anyconst *) wire [2:0] s;
wire is_open = open[s], is_closed = closed[s];
wire arms = arm[s];
wire ends_all = free[s] || clear;
wire [7:0] below = (8'd1 << s) - 8'd1;
wire [7:0] open_below = open & below;
wire [3:0] count_below = open_below[0] + open_below[1] + open_below[2] + open_below[3] + open_below[4] + open_below[5]
    + open_below[6];

// Events of the slot take effect after two cycles.
wire is_turn = !packet && waiting[s] && (waiting & below) == 0;
reg open_1 = 0, open_2 = 0, packet_1 = 0, packet_2 = 0, own_1 = 0, own_2 = 0, was_packet = 0, is_first = 1;
reg [63:0] sender_1, sender_2, heard = 0;
reg [47:0] at_1, at_2, since = 0, now_was = 0;
reg [6:0] counted = 0, wanted = 0;
reg [31:0] bound = 0;
reg runs = 0, was_closed = 0, was_last = 0;
reg [3:0] waited = 0;
wire [63:0] now_heard = heard | sender_2;
wire [6:0] now_count = counted + ((heard & sender_2) == 0);
wire starts_now = !runs && (own_2 || packet_2 && wanted != 0 && now_count >= wanted);
wire [47:0] elapsed = now_ns - since;
wire [47:0] elapsed_was = now_was - since;
wire overdue = is_open && runs && elapsed >= bound;
always @(posedge clock) begin
    is_first <= 0;
    now_was <= now_ns;
    was_packet <= packet;
    {open_2, open_1} <= {open_1, is_open};
    packet_1 <= packet && packet_slot == s && is_open && !clear;
    own_1 <= is_turn && !clear;
    sender_1 <= sender;
    at_1 <= now_ns;
    packet_2 <= packet_1 && !clear;
    own_2 <= own_1 && !clear;
    sender_2 <= sender_1;
    at_2 <= at_1;
    if (packet_2) heard <= now_heard;
    if (packet_2) counted <= now_count;
    if (starts_now) {runs, since} <= {1'b1, at_2};
    if (arms) {heard, counted, runs} <= 0;
    if (ends_all) runs <= 0;
    if (arms) {wanted, bound} <= {rules[70:64], rules[31:0]};
    was_closed <= is_closed && !arms && !ends_all;
    was_last <= overdue && open_below == 0 && !arms && !ends_all;
    waited <= overdue && !ends_all ? waited + 1 : 0;
end
wire [47:0] moved = now_ns - now_was;
always @(*) begin
    if (!is_first) assume (moved < 48'h2000_0000);
    assume ((sender & (sender - 64'd1)) == 0 && !(packet && was_packet));
    assume (arm == 0 || arm == 8'd1 << arm_slot);
    if (arms) assume (!is_open && !is_closed && !open_1 && !open_2);
    if (overdue) assume ((arm & below) == 0);

    assert (!(is_open && is_closed));
    if (was_closed) assert (is_closed);
    if (was_last) assert (is_closed);
    if (is_open) assert (waited + count_below <= s || waited == 0);
    assert (waited <= 7 || !is_open);
end

// Inductive invariant: the block's registers equal those above.
(* hierconn *) wire [134:0] \event_rules.mem[0] , \event_rules.mem[1] , \event_rules.mem[2] , \event_rules.mem[3] ,
    \event_rules.mem[4] , \event_rules.mem[5] , \event_rules.mem[6] , \event_rules.mem[7] ;
(* hierconn *) wire [134:0] \peers.mem[0] , \peers.mem[1] , \peers.mem[2] , \peers.mem[3] , \peers.mem[4] , \peers.mem[5] ,
    \peers.mem[6] , \peers.mem[7] ;
reg [134:0] rule, peer;
reg [33:0] deadline_is;
reg clock_is;
always @(*) case (s)
    0: {rule, peer, clock_is, deadline_is} = {\event_rules.mem[0] , \peers.mem[0] , gate$0$clock_runs, gate$0$ends_ns};
    1: {rule, peer, clock_is, deadline_is} = {\event_rules.mem[1] , \peers.mem[1] , gate$1$clock_runs, gate$1$ends_ns};
    2: {rule, peer, clock_is, deadline_is} = {\event_rules.mem[2] , \peers.mem[2] , gate$2$clock_runs, gate$2$ends_ns};
    3: {rule, peer, clock_is, deadline_is} = {\event_rules.mem[3] , \peers.mem[3] , gate$3$clock_runs, gate$3$ends_ns};
    4: {rule, peer, clock_is, deadline_is} = {\event_rules.mem[4] , \peers.mem[4] , gate$4$clock_runs, gate$4$ends_ns};
    5: {rule, peer, clock_is, deadline_is} = {\event_rules.mem[5] , \peers.mem[5] , gate$5$clock_runs, gate$5$ends_ns};
    6: {rule, peer, clock_is, deadline_is} = {\event_rules.mem[6] , \peers.mem[6] , gate$6$clock_runs, gate$6$ends_ns};
    7: {rule, peer, clock_is, deadline_is} = {\event_rules.mem[7] , \peers.mem[7] , gate$7$clock_runs, gate$7$ends_ns};
endcase
wire [33:0] deadline_should_be = since[33:0] + bound;
wire [47:0] age_2 = now_was - at_2;
wire knows = !unheard$q[s];
wire [6:0] one_more = counted + 7'd1;
always @(*) begin
    assert ((noted$q[0] && noted$q[4:2] == s) == packet_1 && (noted$q[1] && noted$q[4:2] == s) == own_1);
    assert ((looked_up$q[0] && looked_up$q[4:2] == s) == packet_2 && (looked_up$q[1] && looked_up$q[4:2] == s) == own_2);
    assert (!(packet_1 && own_1) && !(packet_2 && own_2) && !(packet_1 && packet_2) && (!packet_1 || was_packet));
    if (packet_1 || own_1) assert (open_1 && noted$q[117:70] == at_1 && at_1 == now_was);
    if (packet_2 || own_2) assert (open_2 && looked_up$q[117:70] == at_2 && age_2 < 48'h2000_0000);
    if (packet_1) assert (noted$q[68:5] == sender_1);
    if (packet_2) assert (looked_up$q[68:5] == sender_2);
    if (is_open) begin
        assert (rule[31:0] == bound && rule[70:64] == wanted);
        assert ((knows ? peer[63:0] : 64'd0) == heard && (knows ? peer[134:128] : 7'd0) == counted);
        assert (clock_is == runs);
        if (runs) assert (deadline_is == deadline_should_be);
        if (runs) assert (elapsed_was <= bound + (waited + 48'd2) * 48'h2000_0000);
        if (packet_2 || own_2) assert (looked_up$q[292:261] == bound);
        if (packet_2) begin
            assert (looked_up$q[181:118] == heard && looked_up$q[252:246] == counted && looked_up$q[259:253] == one_more);
            assert (looked_up$q[260] == ((heard & sender_2) != 0));
            assert (looked_up$q[325] == (wanted != 0 && counted >= wanted));
            assert (looked_up$q[326] == (wanted != 0 && one_more >= wanted));
        end
    end
end
