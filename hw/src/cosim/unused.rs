//! Sinks for signals, or parts of them, that are unread on purpose.
//!
//! A unit may need only some fields of a bundle, a sum may be truncated, a queue may have more
//! outputs than needed. Each case listed here gets a sink, a wire named `unused...` that linters
//! accept. Verilator rejects any other unread signal (UNUSEDSIGNAL), which fails co-simulation.
//! An entry applies to every module with a signal of that name in which exactly these bits are
//! unread. A test rejects entries that the card does not need.
//! Limits: hand-written Verilog has its own sinks.

use super::module::{Assign, Item, Kind, Module};
use rust_hdl_core::prelude::{Atom, Block, Probe};
use rust_hdl_core::type_descriptor::{TypeDescriptor, TypeKind};
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

enum Part {
    All,
    /// All fields except these.
    AllBut(&'static [&'static str]),
    Fields(&'static [&'static str]),
    /// In Verilator's notation.
    Bits(&'static str),
}
use Part::{All, AllBut, Bits, Fields};

const UNUSED: &[(&str, Part)] = &[
    // Blocks without registers in tests: a bench needs a clock.
    ("clock", All),
    // Endpoint: AXI fields of a card with one ID and no protection, and the simulator's ports.
    ("m_axi_bid", All),
    ("m_axi_rid", All),
    ("nic$asleep", All),
    ("nic$timer_ns", All),
    ("nic$trace_arm", All),
    ("nic$trace_broadcast_open", All),
    ("nic$trace_contribute_open", All),
    ("nic$trace_cookie", All),
    ("nic$trace_mean", All),
    ("nic$trace_mean_place", All),
    ("nic$trace_sum", All),
    ("nic$trace_sum_place", All),
    ("s_axil_arprot", All),
    ("s_axil_awprot", All),
    // Outputs of queues and other sub-blocks.
    ("beats$empty", All),
    ("broadcasts$full", All),
    ("broadcasts$room", All),
    ("contributes$room", All),
    ("encoder$burst", All),
    ("encoder$out_received", All),
    ("ends$empty", All),
    ("ends$full", All),
    ("ends$room", All),
    ("inbox$full", All),
    ("inbox$room", All),
    ("lengths$empty", All),
    ("lengths$room", All),
    ("notes$full", All),
    ("notes$room", All),
    ("orders$room", All),
    ("out_flags$empty", All),
    ("out_flags$full", All),
    ("out_flags$room", All),
    ("outbox$full", All),
    ("owners$room", All),
    ("planned$room", All),
    ("sum$busy", All),
    ("sum$checked", All),
    ("sums$full", All),
    ("sums$room", All),
    ("a", AllBut(&["eth_dst", "eth_type", "hardware", "protocol", "sizes", "operation", "target_ip"])),
    ("h", AllBut(&["eth_dst", "eth_type", "ip_version_ihl", "ip_fragment", "ip_protocol", "ip_dst", "udp_src"])),
    ("job", AllBut(&["enable", "ip", "mac"])),
    ("request", AllBut(&["eth_src", "eth_type", "hardware", "protocol", "sizes", "sender_mac", "sender_ip"])),
    // Bundles needed in part.
    ("ctx", AllBut(&["step", "bucket", "base_beat", "beats"])),
    ("ctx", AllBut(&["cookie", "step", "beats", "auto_broadcast", "queue"])),
    ("ctx", AllBut(&["quotient", "remainder", "rotation", "hadamard", "bf16", "own_start", "own_beats", "epoch"])),
    ("ctx", AllBut(&["bf16", "auto_broadcast", "own_start", "own_beats", "epoch"])),
    (
        "ctx",
        Fields(&[
            "cookie",
            "auto_broadcast",
            "early",
            "log2_n",
            "log2_blocks",
            "host_beats",
            "queue",
            "host_address",
            "report_address",
            "sign_key",
        ]),
    ),
    ("e", Fields(&["reserved"])),
    ("earlier", AllBut(&["scale"])),
    ("flags", Bits("7:3")),
    ("flags", Bits("7:4")),
    ("gather$decided", AllBut(&["slot", "position", "sender"])),
    ("gather_word", AllBut(&["data"])),
    (
        "h",
        Fields(&[
            "eth_dst",
            "eth_src",
            "ip_tos",
            "ip_identification",
            "ip_ttl",
            "ip_checksum",
            "ip_src",
            "ip_dst",
            "udp_src",
            "udp_checksum",
            "timeout_b0",
            "timeout_b1",
        ]),
    ),
    (
        "h",
        Fields(&[
            "eth_src",
            "ip_tos",
            "ip_identification",
            "ip_ttl",
            "ip_checksum",
            "udp_src",
            "udp_length_b0",
            "udp_length_b1",
            "udp_checksum",
            "bucket_b0",
            "bucket_b1",
            "offset_b0",
            "offset_b1",
            "offset_b2",
            "offset_b3",
            "timeout_b0",
            "timeout_b1",
            "incast_flags",
            "step_b0",
            "step_b1",
        ]),
    ),
    ("header", AllBut(&["bucket", "step", "beat"])),
    ("job", AllBut(&["rank", "ranks", "window_beats", "log2_n_max"])),
    ("job", AllBut(&["rank", "ranks", "job_tag", "udp_port"])),
    ("job", AllBut(&["ranks"])),
    ("job", Fields(&["ranks", "payload_beats", "window_beats", "log2_n_max"])),
    ("job", AllBut(&["rank"])),
    ("job", AllBut(&["payload_beats"])),
    ("leaving", AllBut(&["valid", "odd", "received"])),
    ("now", AllBut(&["valid", "special", "negated", "odd"])),
    ("out", AllBut(&["hadamard", "log2_n", "host_beats", "host_address"])),
    ("passing$5$q", Fields(&["first"])),
    ("p", AllBut(&["slot", "broadcast", "bank", "position", "beats", "half", "last", "bf16"])),
    ("peer_data", Bits("31:16")),
    ("peer_mac_hi$read_data", Bits("31:16")),
    ("read_ctx", AllBut(&["beats", "hadamard", "own_start", "own_beats"])),
    ("reduce$decided", AllBut(&["slot", "position", "sender"])),
    ("scaled", Fields(&["relative", "sender"])),
    ("told_beats$read_data", Fields(&["left"])),
    ("word", AllBut(&["epoch"])),
    ("word", Fields(&["arrived"])),
    // Truncated sums, products and shifts.
    ("at_ns", Bits("47:34")),
    ("b", Bits("38")),
    ("base", Bits("5:0")),
    ("flipped", Bits("6:0")),
    ("halves", Bits("0")),
    ("linear", Bits("14")),
    ("negated", Bits("9")),
    ("ones", Bits("48:26")),
    ("over", Bits("32:0")),
    ("position", Bits("14")),
    ("product", Bits("21:15")),
    ("relative", Bits("14")),
    ("silence", Bits("32:0")),
    ("start_extra", Bits("21:15")),
    ("sum", Bits("0")),
    ("taken", Bits("14:9")),
    ("total", Bits("0")),
    ("unlike", Bits("24:0")),
    ("version_stage", Bits("3:0")),
];

/// Fields of bundles by module and signal: name, lowest bit and width.
pub(crate) type Layouts = HashMap<(String, String), Vec<(String, usize, usize)>>;

/// Adds sinks to `modules` and returns the entries that were needed.
pub(crate) fn sink(modules: &mut [Module], layouts: &Layouts) -> BTreeSet<usize> {
    let mut needed = BTreeSet::new();
    for module in modules {
        for (index, (name, part)) in UNUSED.iter().enumerate() {
            let layout = || layouts.get(&(module.name.clone(), (*name).to_owned()));
            let expected = match part {
                All => Some(String::new()),
                Bits(bits) => Some((*bits).to_owned()),
                AllBut(fields) => layout().and_then(|layout| unread_fields(layout, fields, false)),
                Fields(fields) => layout().and_then(|layout| unread_fields(layout, fields, true)),
            };
            if let Some(bits) = expected.filter(|bits| unread(module, name).as_ref() == Some(bits)) {
                module.items.push(Item::Text(sink_of(name, &bits)));
                needed.insert(index);
            }
        }
    }
    needed
}

pub(crate) fn layouts(block: &dyn Block) -> Layouts {
    let mut found = Bundles::default();
    block.accept("top", &mut found);
    found.layouts
}

#[derive(Default)]
struct Bundles {
    path: Vec<String>,
    namespace: Vec<String>,
    layouts: Layouts,
}

impl Bundles {
    fn add(&mut self, depth: usize, signal: String, atom: &dyn Atom) {
        let is_bundle = |(name, part): &(&str, Part)| *name == signal && matches!(part, AllBut(_) | Fields(_));
        let TypeKind::Composite(fields) = atom.descriptor().kind else { return };
        if UNUSED.iter().any(is_bundle) {
            let mut at = 0;
            let mut place = |kind: &TypeDescriptor| {
                at += width(kind);
                (at - width(kind), width(kind))
            };
            let fields = fields.into_iter().map(|field| {
                let (low, bits) = place(&field.kind);
                (field.fieldname, low, bits)
            });
            self.layouts.insert((self.path[..depth].join("$"), signal), fields.collect());
        }
    }
}

impl Probe for Bundles {
    fn visit_start_scope(&mut self, name: &str, _: &dyn Block) {
        self.path.push(name.to_owned());
        self.namespace.clear();
    }
    fn visit_end_scope(&mut self, _: &str, _: &dyn Block) {
        self.path.pop();
    }
    fn visit_start_namespace(&mut self, name: &str, _: &dyn Block) {
        self.namespace.push(name.to_owned());
    }
    fn visit_end_namespace(&mut self, _: &str, _: &dyn Block) {
        self.namespace.pop();
    }
    fn visit_atom(&mut self, name: &str, atom: &dyn Atom) {
        let name = self.namespace.iter().map(String::as_str).chain([name]).collect::<Vec<_>>().join("$");
        let depth = self.path.len();
        if let Some(instance) = self.path.last().filter(|_| atom.kind().is_parameter()) {
            self.add(depth - 1, format!("{instance}${name}"), atom);
        }
        self.add(depth, name, atom);
    }
}

fn width(of: &TypeDescriptor) -> usize {
    match &of.kind {
        TypeKind::Bits(bits) | TypeKind::Signed(bits) => *bits,
        TypeKind::Enum(states) => states.len().next_power_of_two().ilog2() as usize,
        TypeKind::Composite(fields) => fields.iter().map(|field| width(&field.kind)).sum(),
    }
}

/// Returns the bits of the named or the other fields; none if a named field is missing.
fn unread_fields(layout: &[(String, usize, usize)], named: &[&str], are_unread: bool) -> Option<String> {
    let is_named = |name: &String| named.contains(&name.as_str());
    if layout.iter().filter(|(name, ..)| is_named(name)).count() != named.len() {
        return None;
    }
    let read = |(name, _, bits): &(String, usize, usize)| std::iter::repeat_n(is_named(name) != are_unread, *bits);
    Some(ranges(&layout.iter().flat_map(read).collect::<Vec<_>>()))
}

fn ranges(read: &[bool]) -> String {
    let mut ranges = Vec::new();
    let mut end = read.len();
    while let Some(high) = read[..end].iter().rposition(|read| !read) {
        end = read[..high].iter().rposition(|read| *read).map_or(0, |bit| bit + 1);
        ranges.push(if end == high { high.to_string() } else { format!("{high}:{end}") });
    }
    ranges.join(",")
}

fn sink_of(name: &str, bits: &str) -> String {
    let parts: Vec<String> = match bits {
        "" => vec![name.to_owned()],
        bits => bits.split(',').map(|range| format!("{name}[{range}]")).collect(),
    };
    format!("    wire unused${name} = &{{{}}};", parts.join(", "))
}

/// Returns the unread bits of signal `name` in Verilator's notation, or an empty string for all.
/// None if every bit is read or the signal is missing.
fn unread(module: &Module, name: &str) -> Option<String> {
    let net = module.nets().find(|net| net.name == name)?;
    let lines: Vec<Cow<str>> = statements(module).filter(|line| line.contains(name)).collect();
    let assigned = |line: &str| line.split_once(" = ").map(|(to, _)| to.len());
    let is_target = |line: &str| occurrences(line, name).next() == Some(0);
    // A wire without an assignment is an output of a sub-block, and its pin does not read it.
    let is_output = net.kind == Kind::Wire && !lines.iter().any(|line| is_target(line) && assigned(line).is_some());
    let pins = module.instances().flat_map(|instance| &instance.pins).map(|(_, net)| net.as_str());
    let readers = lines.iter().map(|line| match is_target(line) {
        true => &line[assigned(line).unwrap_or(0)..],
        false => line,
    });
    let mut read = vec![false; net.bits];
    for reader in readers.chain(pins.filter(|_| !is_output)) {
        for at in occurrences(reader, name) {
            let (low, bits) = slice(&reader[at + name.len()..]).unwrap_or((0, net.bits));
            read.iter_mut().skip(low).take(bits).for_each(|bit| *bit = true);
        }
    }
    match read.contains(&true) {
        false => Some(String::new()),
        true => Some(ranges(&read)).filter(|ranges| !ranges.is_empty()),
    }
}

fn statements(module: &Module) -> impl Iterator<Item = Cow<'_, str>> {
    module.items.iter().flat_map(|item| -> Box<dyn Iterator<Item = Cow<'_, str>>> {
        match item {
            Item::Assign(Assign { to, value }) => Box::new(std::iter::once(Cow::Owned(format!("{to} = {value};")))),
            Item::Block(text) | Item::Text(text) => Box::new(text.lines().map(|line| Cow::Borrowed(line.trim()))),
            Item::Net(_) | Item::Constant(..) | Item::Instance(_) | Item::Memory(_) => Box::new(std::iter::empty()),
        }
    })
}

/// Positions of `name` in `text`, except inside longer names and as the name of a pin.
fn occurrences<'a>(text: &'a str, name: &'a str) -> impl Iterator<Item = usize> {
    let of_a_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '\'' | '.');
    let stands_alone = move |at: &usize| {
        !text[..*at].ends_with(of_a_name) && !text[at + name.len()..].starts_with(|c| of_a_name(c) && c != '.')
    };
    text.match_indices(name).map(|(at, _)| at).filter(stands_alone)
}

/// Parses the lowest bit and width of `[(64'h20)+:(8)]`, `[7:4]` or `[7]`.
fn slice(text: &str) -> Option<(usize, usize)> {
    let inner = text.strip_prefix('[')?;
    let inner = &inner[..inner.find(']')?];
    match inner.split_once("+:") {
        Some((low, bits)) => Some((constant(low)?, constant(bits)?)),
        None => match inner.split_once(':') {
            Some((high, low)) => Some((constant(low)?, constant(high)? + 1 - constant(low)?)),
            None => Some((constant(inner)?, 1)),
        },
    }
}

fn constant(text: &str) -> Option<usize> {
    let text = text.trim();
    let text = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')).unwrap_or(text);
    let number = |text: &str| match text.trim_matches(['(', ')']).split_once("'h") {
        Some((_, digits)) => usize::from_str_radix(digits, 16).ok(),
        None => text.trim_matches(['(', ')']).parse().ok(),
    };
    let product = |text: &str| text.split(" * ").map(number).product::<Option<usize>>();
    text.split(" + ").map(product).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::card::endpoint::Endpoint;
    use crate::cosim::module;
    use crate::hdl::stack::on_a_large_stack;

    fn parsed(verilog: &str) -> Module {
        let mut modules = module::parse(verilog).unwrap_or_else(|error| panic!("{error}"));
        modules.pop().expect("a module")
    }

    #[test]
    fn every_entry_is_needed() {
        let needed = on_a_large_stack(|| {
            let mut card = Box::<Endpoint>::default();
            card.connect_all();
            crate::cosim::passes(card.as_ref()).1
        });
        let idle = UNUSED.iter().enumerate().filter(|(index, _)| !needed.contains(index)).map(|(_, (name, _))| *name);
        let idle: Vec<&str> = idle.filter(|name| *name != "clock").collect();
        assert!(idle.is_empty(), "remove these entries from unused.rs, the card does not need them: {idle:?}");
    }

    #[test]
    fn an_entry_applies_to_just_its_bits() {
        let module = |read: &str| {
            parsed(&format!(
                "module top(y);\n    output wire  y;\n    wire  [1:0] total;\n    assign y = {read};\nendmodule\n"
            ))
        };
        let mut modules = ["total[1]", "total[0]", "total", "subtotal"].map(module);
        sink(&mut modules, &Layouts::new());
        let sunk = modules.map(|module| module.body().contains("    wire unused$total = &{total[0]};\nendmodule"));
        assert_eq!(sunk, [true, false, false, false], "bit 0 of `total` is in the list");
    }

    // The entry of `scaled` lists the fields `relative` and `sender`.
    #[test]
    fn an_entry_of_fields_applies_to_just_the_bits_that_they_have_in_the_block() {
        let layout = |names: [&str; 4]| -> Layouts {
            let fields = names.into_iter().zip([(0, 3), (3, 2), (5, 1), (6, 4)]);
            let fields = fields.map(|(name, (low, bits))| (name.to_owned(), low, bits)).collect();
            HashMap::from([(("top".to_owned(), "scaled".to_owned()), fields)])
        };
        let sunk = |read: &str, names| {
            let mut modules = [parsed(&format!(
                "module top(scaled,y);\n    input wire  [9:0] scaled;\n    output reg  y;\n    \
                 always @(*) begin\n        {read}\n    end\nendmodule\n"
            ))];
            sink(&mut modules, &layout(names));
            modules[0]
                .items
                .last()
                .map(|last| last.to_string().trim().to_owned())
                .filter(|last| last.contains("unused"))
        };
        let names = ["slot", "relative", "sender", "data"];
        let read = "y = scaled[(64'h0)+:(3)] == scaled[9:6];";
        assert_eq!(sunk(read, names).as_deref(), Some("wire unused$scaled = &{scaled[5:3]};"));
        assert_eq!(sunk("y = scaled[2:0] == scaled[9:6] + scaled[5];", names), None, "a bit more");
        assert_eq!(sunk("y = scaled[9:6] == 1;", names), None, "a field less");
        assert_eq!(sunk(read, ["slot", "relative", "data", "sender"]), None, "another layout");
        assert_eq!(sunk(read, ["slot", "relative", "other", "data"]), None, "no such field");
    }

    #[test]
    fn what_is_read_is_known_to_the_bit() {
        let module = |net: &str, items: &str| {
            parsed(&format!("module top(x);\n    input wire  x;\n    reg  y;\n{net}\n{items}endmodule\n"))
        };
        let of = |items: &str| unread(&module("    reg  [15:0] s;", items), "s");
        let block = |text: &str| of(&format!("    always @(*) begin\n        {text}\n    end\n"));
        let none = Some(String::new());
        assert_eq!(of(""), none);
        assert_eq!(of("    assign s = s$q + other.s + 16's;\n"), none, "other names");
        assert_eq!(block("s[(64'h3)+:(2)] = a;\n    s = b == c;"), none, "writes");
        assert_eq!(block("y = a + s;"), None);
        assert_eq!(block("y = s[(64'h4)+:(8)] == s[0];").as_deref(), Some("15:12,3:1"));
        assert_eq!(block("if (s[(64'h2 * 32'h4 + 32'h1)+:(3)]) begin\nend").as_deref(), Some("15:12,8:0"));
        assert_eq!(block("y = {s[14:8], s[3], x};").as_deref(), Some("15,7:4,2:0"));
        assert_eq!(block("y = s[x];"), None, "any bit");
        assert_eq!(block("s = s[1];").as_deref(), Some("15:2,0"));
        assert_eq!(of("    top$a a(\n        .port(s)\n    );\n"), None, "an input of a sub-block");
        let output = |items: &str| unread(&module("    wire  [3:0] o;", items), "o");
        let pin = "    top$a a(\n        .port(o)\n    );\n";
        assert_eq!(output(pin), none, "an output of a sub-block");
        assert_eq!(output(&format!("{pin}    assign o = 4'h3;\n")), None, "an input, assigned");
    }
}
