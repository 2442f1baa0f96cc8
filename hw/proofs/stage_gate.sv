// A stage is over by its deadline whatever arrives: once its clock runs, the gate is closed in the cycle after the time
// passes start + bound. The clock runs from the own entry, or from the packet of the last of `start_peers` distinct
// peers. A closed gate stays closed, and its report unchanged, until it is armed, freed or cleared.
// Assumed: time does not run backwards (a 48-bit clock: once in 78 hours it does), a packet has one sender.
wire [31:0] bound = rules[31:0];
wire [6:0] start_peers = rules[70:64];
reg runs = 0, entered = 0, was_closed = 0, was_reset = 1, is_first = 1;
reg [47:0] since = 0, now_was = 0;
reg [31:0] allowed = 0;
reg [6:0] wanted = 0;
reg [63:0] heard = 0;
reg [$bits(report)-1:0] report_was;
wire resets = arm || free || clear;
wire is_new = packet && (sender & ~heard) != 0;
reg [6:0] count = 0;
wire [6:0] counted = count + is_new;
always @(posedge clock) begin
    is_first <= 0;
    now_was <= now_ns;
    report_was <= report;
    was_closed <= closed && !resets;
    if (resets) begin
        runs <= 0;
        heard <= 0;
        count <= 0;
    end else if (open) begin
        if (packet) heard <= heard | sender;
        count <= counted;
        if (!runs && (enter || wanted != 0 && counted >= wanted)) begin
            runs <= 1;
            since <= now_ns;
        end
    end
    if (arm) begin
        allowed <= bound;
        wanted <= start_peers;
    end
end
wire is_due = open && runs && now_ns - since >= allowed && !resets;
reg was_due = 0;
always @(posedge clock) was_due <= is_due;
always @(*) begin
    if (!is_first) assume (now_ns >= now_was);
    assume ((sender & (sender - 64'd1)) == 0);
    assert (!(open && closed));
    if (was_due) assert (closed && !open);
    if (was_closed) assert (closed && report == report_was);
    if (open && runs) assert (timer_ns != 48'hffff_ffff_ffff || since + allowed == 48'hffff_ffff_ffff);
end

// What makes it inductive: the gate's registers are those above.
always @(*) begin
    assert (report[0 +: 2] <= 2);
    if (open) assert (rule$q[31:0] == allowed && rule$q[70:64] == wanted);
    if (open) assert (report[$bits(report) - 160 +: 64] == heard && st$q[22 +: 7] == count);
    if (open) assert (st$q[2] == runs);
    if (open && runs) assert (report[$bits(report) - 96 +: 48] == since && since <= now_was);
end
