use super::*;

const SOURCE: &str = "
module top$a(clock,d,q);
    
    // Module arguments
    input wire  clock;
    input wire  [7:0] d;
    output reg  [7:0] q;
    
    localparam  depth = 16'h4;
    localparam State$Idle = 0;
    reg  [3:0] mine;
    wire  one;
    reg [3:0] pointer;
    wire [3:0] oldest = pointer + 1;
    
    top$a$b b(
        .clock(clock),
        .q(one)
    );
    (* ram_style = \"block\" *) reg [7:0] mem [0:15];
    `ifndef SYNTHESIS
    integer i;
    initial for (i = 0; i <= 15; i = i + 1) mem[i] = 0;
    `endif
    initial begin
       pointer = 0;
    end
    assign one = mine == 4'h3;
    always @(*) begin
        case (mine)
            State$Idle: begin // the end of a case
                q = d;
            end
        endcase
    end
    always @(posedge clock) if (one) mem[pointer] <= d;
endmodule

(* keep_hierarchy *)
module top$a$b(clock,q);
    input wire  clock;
    output wire  q;
endmodule
";

fn parsed(verilog: &str) -> Vec<Module> {
    parse(verilog).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn what_is_parsed_prints_as_it_was() {
    assert_eq!(print(&parsed(SOURCE)), SOURCE);
    let with_names = SOURCE.replace("endmodule\n\n", "endmodule // top$a\n\n\n");
    assert_eq!(print(&parsed(&with_names)), SOURCE, "text between modules is dropped");
}

#[test]
fn items_are_known() {
    let [module, child] = &parsed(SOURCE)[..] else { panic!("two modules") };
    let net = |name: &str, kind, bits| Net { name: name.into(), kind, bits };
    let ports = [net("clock", Kind::Input, 1), net("d", Kind::Input, 8), net("q", Kind::OutputReg, 8)];
    assert_eq!(module.ports().collect::<Vec<_>>(), ports.iter().collect::<Vec<_>>());
    let own = [net("mine", Kind::Reg, 4), net("one", Kind::Wire, 1)];
    assert_eq!(module.nets().skip(3).collect::<Vec<_>>(), own.iter().collect::<Vec<_>>());
    let pins = [("clock", "clock"), ("q", "one")].map(|(port, net)| (port.to_owned(), net.to_owned()));
    let instance = Instance { module: child.name.clone(), name: "b".into(), pins: pins.into() };
    assert_eq!(module.instances().collect::<Vec<_>>(), [&instance]);
    let memory = module.memory().expect("it has one");
    assert_eq!((memory.bits, memory.words, memory.is_style("block")), (8, 16, true));
    assert!(!memory.is_style("distributed") && (module.kept, child.kept) == (false, true));
    let assign = Assign { to: "one".into(), value: "mine == 4'h3".into() };
    assert!(module.items.contains(&Item::Assign(assign)));
    let constants: Vec<&String> = module
        .items
        .iter()
        .filter_map(|item| if let Item::Constant(name, _) = item { Some(name) } else { None })
        .collect();
    assert_eq!(constants, ["depth", "State$Idle"]);
    let blocks = module.items.iter().filter(|item| matches!(item, Item::Block(_))).count();
    assert_eq!(blocks, 4, "two initial blocks, two always blocks");
    assert!(module.block_contains("mem[pointer] <= d") && !module.block_contains("mine == "));
}

#[test]
fn an_error_names_module_line_found_and_expected() {
    let error = |from: &str, to: &str| {
        assert!(SOURCE.contains(from), "{from}");
        parse(&SOURCE.replacen(from, to, 1)).expect_err(to).to_string()
    };
    let expect = |found: String, expected: &[&str]| {
        for part in expected {
            assert!(found.contains(part), "{part:?} is missing in {found:?}");
        }
    };
    let pin = error(".q(one)", "one");
    assert_eq!(pin, "Verilog line 18, module top$a: found `one`, expected a pin, `.port(net),`");
    expect(error("input wire  [7:0] d;", "input wire  [7:1] d;"), &["line 6", "top$a", "[7:1] d", "expected a port"]);
    expect(error("input wire  clock;", "inout wire  clock;"), &["line 5", "inout", "expected a port"]);
    expect(error("(clock,d,q)", "(clock,q,d)"), &["line 2", "found `clock,q,d`", "expected `clock,d,q`"]);
    expect(error("assign one = mine", "assign one + mine"), &["line 28", "`assign NAME = VALUE;`"]);
    expect(error("assign one = mine", "force one = mine"), &["line 28", "force one", "expected a declaration"]);
    expect(error("        endcase\n    end\n", "        endcase\n"), &["module top$a", "endmodule", "expected `end`"]);
    expect(error("    );\n", ""), &["line 19", "expected a pin"]);
    expect(error("module top$a(", "modul top$a("), &["line 2", "outside any module", "`module NAME(PORTS);`"]);
    expect(error(" q;\nendmodule\n", " q;\n"), &["module top$a$b", "end of text", "`endmodule`"]);
}
