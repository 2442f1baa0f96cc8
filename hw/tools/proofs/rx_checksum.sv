// Every beat leaves after six cycles, unchanged, unless a reset occurs. A frame leaves marked as
// bad exactly if the MAC marked it, or if it is whole beats with a wrong sum. The sum has any value
// here, and is verified by co-simulation.
// cut: sum
reg [515:0] was [0:5];
integer i;
initial for (i = 0; i < 6; i = i + 1) was[i] = 0;
always @(posedge clock) begin
    was[0] <= {rx_partial, rx_error, rx_last, rx_data, rx_valid && !reset};
    for (i = 1; i < 6; i = i + 1) was[i] <= {was[i - 1][515:1], was[i - 1][0] && !reset};
end
wire is_wrong = sum$done && sum$checked && sum$total != 16'hffff && !was[5][515];
always @(*) begin
    assert (valid == was[5][0]);
    assert (data == was[5][512:1] && last == was[5][513]);
    assert (partial == was[5][515]);
    assert (error == (was[5][514] || is_wrong));
end

// Inductive invariant: the place of each beat.
always @(*) begin
    assert (line$0$q == was[0] && line$1$q == was[1] && line$2$q == was[2]);
    assert (line$3$q == was[3] && line$4$q == was[4] && line$5$q == was[5]);
end
