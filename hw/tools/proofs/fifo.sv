// Every pushed word leaves once, unchanged and in order, and nothing else does. The flags and
// `room` match the fill level. Any one push may be marked. Block: Fifo<W<8>, 2>.
(* anyseq *) wire is_marked;
wire takes = push && !full;
wire gives = pop && !empty;
reg [15:0] fill = 0;
reg marked = 0;
reg [7:0] word;
reg [15:0] ahead;
always @(posedge clock) begin
    fill <= clear ? 16'd0 : fill + takes - gives;
    if (clear) marked <= 0;
    else if (marked && gives && ahead == 0) marked <= 0;
    else if (marked && gives) ahead <= ahead - 1;
    else if (!marked && takes && is_marked) begin
        marked <= 1;
        word <= push_data;
        ahead <= fill - gives;
    end
end
always @(*) begin
    assert (fill <= 4);
    assert (full == (fill == 4));
    assert (empty == (fill == 0));
    assert (room == 4 - fill);
    if (marked) assert (ahead < fill);
    if (marked && ahead == 0) assert (pop_data == word);
end

// Inductive invariant: the place of the marked word.
wire [15:0] head = state$q[15:0];
wire [15:0] tail = state$q[31:16];
(* hierconn *) wire [7:0] \memory.mem[0] , \memory.mem[1] , \memory.mem[2] , \memory.mem[3] ;
wire [31:0] words = {\memory.mem[3] , \memory.mem[2] , \memory.mem[1] , \memory.mem[0] };
wire [1:0] place = head + ahead;
wire [15:0] length = tail - head;
always @(*) begin
    assert (length == fill);
    if (marked) assert (words[place * 8 +: 8] == word);
end
