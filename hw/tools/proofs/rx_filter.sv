// A beat passes exactly if the first beat of its frame shows no fault, or if it is the last of a
// bad frame. So no frame with another destination, a wrong IPv4 checksum, another source than its
// sender's address, or too much payload reaches the card unmarked, and no beat of a good frame is
// lost. Every removed frame has one cause, or is answered.
// Assumed: the job's registers do not change, but the job may be enabled and disabled at any time.
// The peer table has any contents: the source is compared with its output for that sender.
// cut: peers
(* anyconst *) wire [174:0] fixed;
always @(*) assume (job[175:1] == fixed);
wire [6:0] ranks = job[7:1];
wire [63:0] tag = job[71:8];
wire [15:0] most_bytes = 50 + {job[79:72], 6'd0};

// Faults in header d, from the highest bit: too long, of the job, IP, MAC, foreign. Bit offsets are
// from the contract.
function [4:0] faults(input [511:0] d);
    faults[0] = d[111:96] != 16'h0008 || d[119:112] != 8'h45 || (d[175:160] & 16'hff3f) != 0 || d[191:184] != 8'd17
        || d[303:288] != job[95:80];
    faults[1] = d[47:0] != job[175:128];
    faults[2] = d[271:240] != job[127:96];
    faults[3] = d[415:412] == 4'd1 && d[511:448] == tag && {d[423:416], d[431:424]} < ranks;
    faults[4] = {d[135:128], d[143:136]} > most_bytes;
endfunction
function [17:0] two(input [511:0] d, input integer at);
    two = {2'b0, d[at +: 16]} + {2'b0, d[at + 16 +: 16]};
endfunction
function [19:0] sum_of(input [511:0] d);
    sum_of = ({2'b0, two(d, 112)} + {2'b0, two(d, 144)} + ({2'b0, two(d, 176)} + {2'b0, two(d, 208)})) + {2'b0, two(d, 240)};
endfunction
// In ones' complement, a right sum is a nonzero multiple of 0xffff.
function is_right(input [19:0] s);
    is_right = s == 20'h0ffff || s == 20'h1fffe || s == 20'h2fffd || s == 20'h3fffc || s == 20'h4fffb || s == 20'h5fffa
        || s == 20'h6fff9 || s == 20'h7fff8 || s == 20'h8fff7 || s == 20'h9fff6;
endfunction

reg [512:0] was [0:5];
reg [31:0] peer [1:5];
reg within = 0;
integer i;
initial for (i = 0; i < 6; i = i + 1) was[i] = 0;
initial for (i = 1; i < 6; i = i + 1) peer[i] = 0;
always @(posedge clock) begin
    within <= !reset && (rx_valid ? !rx_last : within);
    was[0] <= {rx_data, rx_valid && !within};
    for (i = 1; i < 6; i = i + 1) was[i] <= was[i - 1];
    peer[1] <= peers$read_data;
    for (i = 2; i < 6; i = i + 1) peer[i] <= peer[i - 1];
end
wire [511:0] d = was[5][512:1];
wire [4:0] found_here = faults(d);
// Faults in the order in which the block counts them, from the lowest bit.
wire [5:0] now = {found_here[4], found_here[3] && peer[5] != d[239:208], found_here[2], !is_right(sum_of(d)), found_here[1], found_here[0]};
reg [5:0] before = 0;
wire [5:0] verdict = was[5][0] ? now : before;
wire verdict_checksum = verdict[2];
reg inside = 0, ignored = 0;
always @(posedge clock) begin
    before <= verdict;
    inside <= !reset && (in_valid ? !in_last : inside);
    ignored <= !reset && (job[0] ? ignored && !(in_valid && in_last) : in_valid ? !in_last : inside);
end
wire counted = job[0] && !ignored;
// Counters: removed, foreign, MAC, checksum, IP, source, too long.
reg [223:0] counters_before = 0;
reg cleared = 1, answers = 0;
always @(posedge clock) begin
    counters_before <= counters$q;
    cleared <= !job[0];
    answers <= in_valid && in_last && verdict != 0 && !in_error && counted && answered;
end
wire [6:0] moved;
genvar g;
generate for (g = 0; g < 7; g = g + 1) assign moved[g] = counters$q[32 * g +: 32] != counters_before[32 * g +: 32]; endgenerate
wire [3:0] causes = {3'd0, moved[1]} + moved[2] + moved[3] + moved[4] + moved[5] + moved[6];
always @(*) begin
    assert (valid == (in_valid && (verdict == 0 || (in_last && in_error && counted))));
    assert (error == (in_error || in_partial));
    assert (checksum == verdict_checksum);
    assert (cleared || moved[0] == (causes == 1 || answers));
    assert (cleared || causes + answers < 2);
end

// Inductive invariant: the findings about each header in each stage.
// Cycles since power-on, up to 6. Before the first header, a stage holds zero.
reg [2:0] known = 0;
always @(posedge clock) if (known != 6) known <= known + 1;
function [17:0] four_of(input [511:0] d, input integer at);
    four_of = two(d, at) + two(d, at + 32);
endfunction
wire [19:0] sum3 = sum_of(was[3][512:1]), sum4 = sum_of(was[4][512:1]);
wire [16:0] carried3 = {1'b0, sum3[15:0]} + sum3[19:16], carried4 = {1'b0, sum4[15:0]} + sum4[19:16];
wire [15:0] folded4 = carried4[15:0] + carried4[16];
wire [31:0] source0 = was[0][239 + 1:208 + 1], source1 = was[1][239 + 1:208 + 1];
// Findings as the block stores them, from the lowest bit: first, foreign, MAC, checksum, IP, of the
// job, source, too long.
function [7:0] kept(input [4:0] f, input first, input checksum, input source);
    kept = {f[4], source, f[3], f[2], checksum, f[1], f[0], first};
endfunction
wire [4:0] f2 = faults(was[2][512:1]), f3 = faults(was[3][512:1]), f4 = faults(was[4][512:1]);
always @(*) begin
    assert (in_frame$q == within && st$q == {ignored, inside});
    assert ({v[7:6], v[4:1]} == verdict);
    assert (source$0$q == source0);
    assert (source$1$q == source1);
    assert (sender$q == was[0][430:425]);
    assert (expected$q == peer[1]);
    assert ((pair$0$q == two(was[0][512:1], 112) && pair$1$q == two(was[0][512:1], 144)
        && pair$2$q == two(was[0][512:1], 176) && pair$3$q == two(was[0][512:1], 208) && pair$4$q == two(was[0][512:1], 240)));
    assert (four$0$q == four_of(was[1][512:1], 112) && four$1$q == four_of(was[1][512:1], 176) && fifth$q == two(was[1][512:1], 240));
    assert (sum$q == sum_of(was[2][512:1]));
    assert (carried$q == carried3 && folded$q == folded4);
    assert (known < 1 ? found$0$q == 0 && !was[0][0] : found$0$q == kept(faults(was[0][512:1]), was[0][0], 0, 0));
    assert (known < 2 ? found$1$q == 0 && !was[1][0] : found$1$q == kept(faults(was[1][512:1]), was[1][0], 0, 0));
    assert (known < 3 ? found$2$q == 0 && !was[2][0] : found$2$q == kept(f2, was[2][0], 0, f2[3] && peer[2] != was[2][240:209]));
    assert (known < 4 ? found$3$q == 0 && !was[3][0] : found$3$q == kept(f3, was[3][0], 0, f3[3] && peer[3] != was[3][240:209]));
    assert (known < 5 ? found$4$q == 0 && !was[4][0] : found$4$q == kept(f4, was[4][0], 0, f4[3] && peer[4] != was[4][240:209]));
    assert (known < 6 ? (found$5$q & 8'hf7) == 0 && !was[5][0] : found$5$q == kept(found_here, was[5][0], !is_right(sum_of(d)), now[4]));
end
