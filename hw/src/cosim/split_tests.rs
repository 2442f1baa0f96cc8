use super::*;
use crate::cosim::module;

fn split_kernel(kernel: &str) -> String {
    let body = format!(
        "(clock,a,b,y,z);\n    input wire  clock;\n    input wire  a;\n    input wire  b;\n    output reg  y;\n    \
         output reg  [3:0] z;\n    reg  s$d;\n    wire  s$q;\n    reg  t$d;\n    wire  t$q;\n    reg  w;\n    \
         top$s s(\n        .d(s$d)\n    );\n    top$s t(\n        .d(t$d)\n    );\n{HEAD}\n{BLOCK}{kernel}    end\nendmodule // top\n"
    );
    let register = "(d,q,clock);\n    input wire  d;\n    output reg  q;\n    input wire  clock;\n    \
                    always @(posedge clock) q <= d;\nendmodule\n";
    let verilog = format!("module top$s{register}\nmodule top{body}");
    let mut modules = module::parse(&verilog).unwrap_or_else(|error| panic!("{error}"));
    split(&mut modules);
    assert_eq!(modules[0].body(), register);
    for item in &modules[1].items {
        let Item::Assign(assign) = item else { continue };
        let declared: Vec<_> = modules[1].nets().filter(|net| net.name == assign.to).map(|net| net.kind).collect();
        assert!(matches!(declared[..], [Kind::Wire | Kind::OutputWire]), "{}: {declared:?}", assign.to);
    }
    let body = modules[1].body();
    body.split_once("    // Update code\n").expect("it stays").1.to_owned()
}

#[test]
fn a_signal_is_assigned_or_has_a_block_and_registers_share_one() {
    let kernel = "
        s$d = s$q;
        t$d = t$q;
        y = a && ~b;
        w = b;
        if (a) begin
            w = s$q;
            s$d = y;
        end
        else if (b) begin
            z[(64'h1)+:(2)] = 32'h3;
        end
        else begin
            t$d = w;
        end
        case (s$q)
            S$One:
                begin
                    t$d = 1'b1;
                end
            S$Two:
                begin
                    w = 1'b0;
                end
        endcase
";
    // The next value of `t` reads `w` between two writes, so both keep their order.
    assert_eq!(
        split_kernel(kernel),
        "    always @(*) begin
        t$d = t$q;
        w = b;
        if (a) begin
            w = s$q;
        end
        else if (b) begin
        end
        else begin
            t$d = w;
        end
        case (s$q)
            S$One: begin
                t$d = 1'b1;
            end
            S$Two: begin
                w = 1'b0;
            end
            default: begin
            end
        endcase
    end
    assign y = a && ~b;
    always @(*) begin
        if (a) begin
        end
        else if (b) begin
            z[(64'h1)+:(2)] = 32'h3;
        end
    end
    always @(*) begin
        s$d = s$q;
        if (a) begin
            s$d = y;
        end
    end
endmodule
"
    );
}

fn are_together(kernel: &str) -> bool {
    let text = split_kernel(kernel);
    text.replace("assign", "always").split("always").any(|block| block.contains("y = ") && block.contains("w = "))
}

#[test]
fn what_is_read_before_its_last_write_stays_with_its_reader() {
    assert!(are_together("w = a;\ny = w;\nw = b;\n"));
    assert!(are_together("w = a;\nif (w) begin\ny = 1'b1;\nend\nif (b) begin\nw = b;\nend\n"), "conditions read");
    assert!(are_together("if (w) begin\nw = b;\nend\nelse if (a) begin\ny = a;\nend\n"), "so does an else");
    assert!(are_together("case (w)\nS:\nbegin\ny = a;\nw = b;\nend\nendcase\n"), "so does a case");
    assert!(are_together("w = a;\nz[w] = b;\nif (b) begin\nw = b;\ny = z[0];\nz = 0;\nend\n"), "indices too");
    assert!(!are_together("w = a;\nif (b) begin\nw = b;\nend\ny = w;\n"), "the last write was before");
    let arms = "if (a) begin\nw = a;\ny = w;\nend\nelse begin\nw = b;\ny = w;\nend\n";
    assert!(!are_together(arms), "one run takes one arm");
}

/// An `always @(*)` that reads no signal never runs.
#[test]
fn constants_are_assigned_or_go_where_something_moves() {
    assert_eq!(split_kernel("y = 1'b1;\nw = a;\n"), "    assign y = 1'b1;\n    assign w = a;\nendmodule\n");
    let text = split_kernel("z = 0;\nz[(64'h1)+:(2)] = 32'h3;\ns$d = a;\n");
    assert_eq!(text.matches("always").count(), 1, "{text}");
    let kernel = "z = 0;\nz[(64'h1)+:(2)] = 32'h3;\ny = a;\n";
    assert!(split_kernel(kernel).contains("z[(64'h1)+:(2)] = 32'h3;\ny = a;"), "left unchanged");
}

#[test]
fn a_default_keeps_the_labels_before_it() {
    let text =
        split_kernel("y = a;\ny = b;\ncase (s$q)\nS:\nbegin\nw = a;\nend\ndefault:\nbegin\ny = a;\nend\nendcase\n");
    assert!(text.contains("S: begin\n            end\n            default: begin\n                y = a;"), "{text}");
}

#[test]
fn what_is_not_understood_is_left_as_it_is() {
    for kernel in ["y = a;\nfor (i = 0; i < 4; i = i + 1) z[i] = a;\n", "y = a;\nend\nalways @(*) begin\nw = b;\n"] {
        assert_eq!(split_kernel(kernel), format!("    always @(*) begin\n{kernel}    end\nendmodule\n"));
    }
}
