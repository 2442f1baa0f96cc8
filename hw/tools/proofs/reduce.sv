// No contribution is added twice: for any address, rank and epoch, at most one beat is accepted
// until the address is scrubbed or a beat of another epoch is accepted there. Two cycles after a
// beat is taken, it is accepted or dropped for one reason, unchanged. Only accepted beats enter the
// sum, and nothing else is written back.
// The memory is abstracted to one word at any address, and reads of other addresses return any
// value. So do adder and counters. An address is a slot and a beat within the window, as `lookup`
// ensures, so no two share a word.
// one word: ram
// cut: adder arrivals first
(* anyconst *) wire [5:0] rank;
(* anyconst *) wire [7:0] epoch;
(* hierconn *) wire [$bits(ram$read_address)-1:0] \ram.watched ;
(* hierconn *) wire [$bits(ram$read_data)-1:0] \ram.word ;
localparam width = $bits(decided);
localparam beat_bits = $bits(ram$read_address) - 3;
wire [7:0] its_epoch = decided[width - 520 +: 8];
wire [5:0] its_rank = decided[width - 526 +: 6];
wire [beat_bits-1:0] its_beat = decided[width - 526 - beat_bits +: beat_bits];
wire is_here = {its_beat, decided[2:0]} == \ram.watched ;
wire is_ours = is_here && its_epoch == epoch && its_rank == rank;
wire is_scrubbed = scrub_now && ram$write_address == \ram.watched ;
reg is_in = 0;
reg [1:0] took_rx = 0, took_own = 0;
reg [width-1:0] took, took_before;
reg [6:0] adding = 0;
always @(posedge clock) begin
    if (accepted && is_ours) is_in <= 1;
    else if (is_scrubbed || accepted && is_here && its_epoch != epoch) is_in <= 0;
    took_rx <= {took_rx[0], rx_valid && rx_ready};
    took_own <= {took_own[0], own_valid && own_ready};
    took <= rx_valid && rx_ready ? rx : own;
    took_before <= took;
    adding <= {adding[5:0], accepted};
end
always @(*) begin
    if (is_in) assert (!(accepted && is_ours));
    assert (!(rx_valid && rx_ready && own_valid && own_ready));
    assert (accepted + drop_late + drop_duplicate <= took_rx[1] + took_own[1]);
    if (took_rx[1]) assert (accepted + drop_late + drop_duplicate == 1);
    if (took_rx[1] || took_own[1]) assert (decided == took_before);
    if (accepted) assert (accepted_own == took_own[1]);
    if (adding[0]) assert (adder$b == was_decided[width-1 -: 512]);
    assert (ram$write_enable == (adding[6] || scrub_now));
    if (adding[6]) assert (!scrub_now && ram$write_data[511:0] == adder$sum);
end
reg [width-1:0] was_decided;
always @(posedge clock) was_decided <= decided;

// Inductive invariant: at most one beat of an address is in the pipeline. That beat, or otherwise
// the word, holds the ranks accepted so far. Stages: memory read (0), decision (1), adder (2 to 8).
localparam address_bits = $bits(ram$read_address);
localparam flight_bits = $bits(flight$0$q);
localparam word_bits = $bits(ram$read_data);
wire [8:0] busy = {busy$8$q, busy$7$q, busy$6$q, busy$5$q, busy$4$q, busy$3$q, busy$2$q, busy$1$q, busy$0$q};
wire [9*address_bits-1:0] places =
    {place$8$q, place$7$q, place$6$q, place$5$q, place$4$q, place$3$q, place$2$q, place$1$q, place$0$q};
wire [9*flight_bits-1:0] flights = {flight$6$q, flight$5$q, flight$4$q, flight$3$q, flight$2$q, flight$1$q, flight$0$q,
    {2*flight_bits{1'b0}}};
function is_ours_in(input [word_bits-1:0] word);
    reg [63:0] arrived;
    begin
        arrived = word[512 +: 64];
        is_ours_in = word[word_bits-1 -: 8] == epoch && arrived[rank];
    end
endfunction
wire [8:0] here;
genvar i;
generate for (i = 0; i < 9; i = i + 1) begin
    assign here[i] = busy[i] && places[i * address_bits +: address_bits] == \ram.watched ;
    wire [63:0] arrived = flights[i * flight_bits + address_bits +: 64];
    if (i > 1) always @(*) begin
        if (here[i]) assert (flights[i * flight_bits +: address_bits] == \ram.watched );
        if (busy[i] && !here[i]) assert (flights[i * flight_bits +: address_bits] != \ram.watched );
        if (here[i] && is_in) assert (flights[(i + 1) * flight_bits - 8 +: 8] == epoch && arrived[rank]);
    end
end endgenerate
always @(*) begin
    assert ((here & (here - 9'd1)) == 0);
    if (is_in && here[0]) assert (is_ours_in(ram$read_data));
    if (is_in && here[1]) assert (is_ours_in(word$q));
    if (is_in && here[8:2] == 0) assert (is_ours_in(\ram.word ));
    assert (busy == {adding, took_rx[1] || took_own[1], took_rx[0] || took_own[0]});
    if (busy[0]) assert (taken$q == took && taken_own$q == took_own[0]);
    if (busy[1]) assert (checked_own$q == took_own[1]);
    if (busy[0]) assert ({taken$q[width - 526 - beat_bits +: beat_bits], taken$q[2:0]} == place$0$q);
    if (busy[1]) assert ({its_beat, decided[2:0]} == place$1$q);
    assert (!(took_rx[0] && took_own[0]) && !(took_rx[1] && took_own[1]));
end
