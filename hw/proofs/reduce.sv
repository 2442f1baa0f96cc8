// No contribution is added twice: of an address, a rank and an epoch, any, one beat at most is accepted until the
// address is scrubbed or a beat of another epoch is accepted there. Every beat that is taken is, one cycle later,
// accepted or dropped for one reason, unchanged. Into the sum goes what was accepted, and nothing else is written back.
// The memory is abstracted to one word, at any address; reads of others return anything. So do adder and counters. An
// address is a slot and a beat as `lookup` lets them through: within the window, so no two share a word.
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
reg is_in = 0, took_rx = 0, took_own = 0;
reg [5:0] adding = 0;
reg [width-1:0] took;
always @(posedge clock) begin
    if (accepted && is_ours) is_in <= 1;
    else if (is_scrubbed || accepted && is_here && its_epoch != epoch) is_in <= 0;
    adding <= {adding[4:0], accepted};
    took_rx <= rx_valid && rx_ready;
    took_own <= own_valid && own_ready;
    took <= rx_valid && rx_ready ? rx : own;
end
always @(*) begin
    if (is_in) assert (!(accepted && is_ours));
    assert (!(rx_valid && rx_ready && own_valid && own_ready));
    assert (accepted + drop_late + drop_duplicate <= took_rx + took_own);
    if (took_rx) assert (accepted + drop_late + drop_duplicate == 1);
    if (took_rx || took_own) assert (decided == took);
    if (accepted) assert (accepted_own == took_own);
    if (accepted) assert (adder$b == decided[width-1 -: 512]);
    assert (ram$write_enable == (adding[5] || scrub_now));
    if (adding[5]) assert (!scrub_now && ram$write_data[511:0] == adder$sum);
end

// What makes it inductive: one beat of an address is on its way at most, and it, or else the word, says what is in.
localparam address_bits = $bits(ram$read_address);
localparam flight_bits = $bits(flight$0$q);
wire [6:0] busy = {busy$6$q, busy$5$q, busy$4$q, busy$3$q, busy$2$q, busy$1$q, busy$0$q};
wire [7*address_bits-1:0] places = {place$6$q, place$5$q, place$4$q, place$3$q, place$2$q, place$1$q, place$0$q};
wire [7*flight_bits-1:0] flights = {flight$5$q, flight$4$q, flight$3$q, flight$2$q, flight$1$q, flight$0$q, {flight_bits{1'b0}}};
wire [6:0] here;
wire [7:0] read_epoch = ram$read_data[$bits(ram$read_data) - 8 +: 8];
wire [7:0] word_epoch = \ram.word [$bits(ram$read_data) - 8 +: 8];
wire [63:0] word_arrived = \ram.word [512 +: 64];
genvar i;
generate for (i = 0; i < 7; i = i + 1) begin
    assign here[i] = busy[i] && places[i * address_bits +: address_bits] == \ram.watched ;
    wire [63:0] arrived = flights[i * flight_bits + address_bits +: 64];
    if (i > 0) always @(*) begin
        if (here[i]) assert (flights[i * flight_bits +: address_bits] == \ram.watched );
        if (busy[i] && !here[i]) assert (flights[i * flight_bits +: address_bits] != \ram.watched );
        if (here[i] && is_in) assert (flights[(i + 1) * flight_bits - 8 +: 8] == epoch && arrived[rank]);
    end
end endgenerate
wire [63:0] read_arrived = ram$read_data[512 +: 64];
always @(*) begin
    assert ((here & (here - 7'd1)) == 0);
    if (here[0] && is_in) assert (read_epoch == epoch && read_arrived[rank]);
    if (here[6:1] == 0 && is_in) assert (word_epoch == epoch && word_arrived[rank]);
    assert (busy[6:1] == adding);
    assert (busy$0$q == (took_rx || took_own));
    if (busy$0$q) assert ({its_beat, decided[2:0]} == place$0$q && taken_own$q == took_own);
end
