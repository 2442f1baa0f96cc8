use super::*;

const CARD: &str = "
module top(clock,add,sum,trace_sum,lane$0);
    // Module arguments
    input wire  clock;
    input wire  [7:0] add;
    output reg  [8:0] sum;
    output reg  trace_sum;
    input wire  lane$0;
    // Stub signals
    reg  adder$clock;
    wire  [7:0] adder$q;
    // Sub module instances
    top$adder adder(
        .clock(adder$clock)
    );
    \u{20}
    always @(*) sum = $signed(add) + 64'h2d;
endmodule // top

module top$adder(clock);
    input wire  clock;
endmodule // top$adder
";

#[test]
fn modules_get_a_prefix_and_no_name_keeps_a_dollar() {
    let text = renamed(CARD);
    assert!(text.contains("module optireduce_card(clock,add,sum,trace_sum,lane__0);"), "{text}");
    assert!(text.contains("optireduce_adder adder(\n        .clock(adder__clock)"), "{text}");
    assert!(text.contains("endmodule // optireduce_adder"), "{text}");
    assert!(text.contains("sum = $signed(add) + 64'h2d;"), "{text}");
    assert!(text.lines().all(|line| line == line.trim_end()), "{text}");
}

#[test]
fn the_top_has_the_ports_of_the_card_but_those_of_the_simulator() {
    let [_, (name, text)] = files(CARD).expect("it is in rust-hdl's style");
    assert_eq!(name, "optireduce_top.v");
    let port = |line: &str| text.lines().filter(|found| found.trim_end_matches(',') == line).count();
    assert_eq!(port("    input  wire         clock"), 1, "{text}");
    assert_eq!(port("    input  wire   [7:0] add"), 1, "{text}");
    assert_eq!(port("    output wire   [8:0] sum"), 1, "{text}");
    assert_eq!(port("    input  wire         lane__0"), 1, "{text}");
    assert_eq!(port("        .trace_sum()"), 1, "{text}");
    assert_eq!(port("    output wire         trace_sum"), 0, "{text}");
}

#[test]
fn text_without_a_top_module_is_refused() {
    assert!(files("module other(a);\nendmodule\n").is_err());
    assert!(files("\nmodule top();\nendmodule\n").is_err());
}

#[test]
fn a_stale_file_is_reported_with_its_line_and_the_command_that_writes_it() {
    let folder = std::env::temp_dir().join(format!("optireduce-rtl-{}", std::process::id()));
    let files = [("a.v", "one\ntwo\n".to_owned())];
    let stale = |files: &[(&str, String)]| check(&folder, files).expect("it can be read");
    let difference = stale(&files).expect("nothing is there");
    assert!(difference.contains("a.v does not exist") && difference.contains("rtl --out"), "{difference}");
    write(&folder, &files).expect("it can be written");
    assert_eq!(stale(&files), None);
    let difference = stale(&[("a.v", "one\n2\n".to_owned())]).expect("the second line differs");
    assert!(difference.contains("a.v:2: found \"two\", expected \"2\""), "{difference}");
    fs::create_dir(folder.join("b.v")).expect("it can be made");
    let error = check(&folder, &[("b.v", String::new())]).expect_err("it is a folder");
    assert!(error.contains("b.v: "), "{error}");
    fs::remove_dir_all(&folder).expect("it is there");
}
