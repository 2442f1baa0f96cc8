// A word that is pushed comes out, unchanged, once and in its turn, and nothing else does; it shows two cycles after its
// push and stays; `room` tells the fill. Any one push may be the marked one. For queues of 4 bytes, on block RAM.
(* anyseq *) wire is_marked;
wire takes = push && room != 0;
wire gives = pop && !empty;
reg [15:0] fill = 0, shown = 0;
reg marked = 0;
reg [7:0] word;
reg [15:0] ahead;
always @(posedge clock) begin
    fill <= clear ? 16'd0 : fill + takes - gives;
    shown <= clear ? 16'd0 : fill - gives;
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
    assert (fill <= 4 && shown <= fill);
    assert (empty == (shown == 0));
    assert (room == 4 - fill);
    if (marked) assert (ahead < fill);
    if (marked && ahead == 0 && !empty) assert (pop_data == word);
end

// What makes it inductive: where the marked word lies.
wire [15:0] head = state$q[15:0];
wire [15:0] tail = state$q[31:16];
wire [15:0] seen = state$q[47:32];
(* hierconn *) wire [7:0] \memory.mem[0] , \memory.mem[1] , \memory.mem[2] , \memory.mem[3] ;
wire [31:0] words = {\memory.mem[3] , \memory.mem[2] , \memory.mem[1] , \memory.mem[0] };
wire [1:0] place = head + ahead;
wire [15:0] length = tail - head;
wire [15:0] visible = seen - head;
always @(*) begin
    assert (length == fill && visible == shown);
    if (marked) assert (words[place * 8 +: 8] == word);
end
