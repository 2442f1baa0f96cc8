// A beat goes on just when its frame's first beat shows no fault, or when it is the last of a bad frame; so no frame that is addressed
// to others, has a wrong IPv4 checksum, does not come from its sender's address or is too long reaches the card unmarked, and no
// beat of a good one is lost. Every frame that is swallowed has one cause, or is answered. The job stays as it is meanwhile, but may be enabled and
// disabled at any time. The peer table may hold anything: what is compared is what it gives for the sender of that frame.
// cut: peers
(* anyconst *) wire [174:0] fixed;
always @(*) assume (job[175:1] == fixed);
wire [6:0] ranks = job[7:1];
wire [63:0] tag = job[71:8];
wire [15:0] most_bytes = 50 + {job[79:72], 6'd0};

// What is wrong with the header d: too long, of the job, IP, MAC, foreign. Offsets are those of the contract, in bits.
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
// In ones' complement the sum is a multiple of 0xffff, and not zero.
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
// Fault by fault as the block counts them, first one first.
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
reg [31:0] given = 0;
always @(posedge clock) begin
    if (in_valid && in_last && verdict != 0 && !in_error && counted && answered) given <= given + 1;
    if (!job[0]) given <= 0;
end
always @(*) begin
    assert (valid == (in_valid && (verdict == 0 || (in_last && in_error && counted))));
    assert (error == (in_error || in_partial));
    assert (checksum == verdict_checksum);
    assert (counters$q[31:0] == given + counters$q[63:32] + counters$q[127:96] + counters$q[159:128] + counters$q[191:160] + counters$q[223:192] + counters$q[255:224]);
end

// What makes it inductive, with the pipeline's depth.
always @(*) begin
    assert (in_frame$q == within && st$q == {ignored, inside});
    assert ({v[7:6], v[4:1]} == verdict);
end
