//! Signals, or bits of them, that nobody reads, and are known: each gets a sink, a wire named `unused...`, which is
//! what linters accept.
//!
//! Why: one unit needs a few fields of a bundle that is kept or passed whole, a sum is cut, a queue has more outputs
//! than its user looks at. That is meant; but a signal that was forgotten looks the same. So what is meant is written
//! down here to the bit, and of anything else Verilator complains (UNUSEDSIGNAL), which fails every co-simulation.
//! How: an entry is what Verilator says, without its quotes. It applies to every module with such a signal of which just
//! these bits are not read. An entry that the card does not need is an error of the tests.
//! Limits: reads the Verilog that rust-hdl writes, not Verilog at large. Hand-written Verilog has its own sinks: what a
//! memory leaves of an address depends on how it is built.

use super::share::Module;

/// What is not read, as Verilator says it: `signal`, or `signal[31:16,3]`.
const UNUSED: &[&str] = &[
    // Blocks without registers in tests: a bench needs a clock.
    "clock",
    // The endpoint: AXI fields that a card with one ID and no protection has, and the simulator's view of the card.
    "m_axi_bid",
    "m_axi_rid",
    "nic$asleep",
    "nic$timer_ns",
    "nic$trace_arm",
    "nic$trace_broadcast_open",
    "nic$trace_contribute_open",
    "nic$trace_cookie",
    "nic$trace_mean",
    "nic$trace_mean_place",
    "nic$trace_sum",
    "nic$trace_sum_place",
    "s_axil_arprot",
    "s_axil_awprot",
    // Outputs of queues and of other sub-blocks that their user has no use for.
    "broadcasts$full",
    "broadcasts$room",
    "contributes$room",
    "encoder$burst",
    "encoder$out_received",
    "inbox$full",
    "inbox$room",
    "lengths$empty",
    "lengths$room",
    "notes$full",
    "notes$room",
    "orders$room",
    "out_flags$empty",
    "out_flags$full",
    "out_flags$room",
    "outbox$full",
    "owners$room",
    "planned$room",
    // Bundles of which a unit needs a part: a job, the context of a window, a queue's entry, a header, a tag, an order.
    "ctx[404:105,31:0]",
    "ctx[404:175,172:137,135:105,89:48]",
    "ctx[404:213,174:136,104:0]",
    "ctx[404:213,174:137,134:0]",
    "ctx[404:213,174:173,160:136,31:0]",
    "e[319:312]",
    "earlier[23:13,3:0]",
    "flags[7:3]",
    "flags[7:4]",
    "gather$decided[556:37,30:17]",
    "gather_word[519:512]",
    "h[399:384,335:320,287:192,183:176,159:144,127:120,95:0]",
    "header[77:58]",
    "job[180:13]",
    "job[199:101,84:77]",
    "job[199:13,5:0]",
    "job[199:181,84:77,12:6]",
    "job[199:6]",
    "job[199:85,76:0]",
    "leaving[12:4,2:1]",
    "now[23:4]",
    "out[404:277,212:161,145:142,137:135,133:0]",
    "p[114:36,34,10:5]",
    "peer_data[31:16]",
    "peer_mac_hi$read_data[31:16]",
    "read_ctx[404:205,174:135,133:105,89:0]",
    "reduce$decided[556:37,30:17]",
    "scaled[36:17]",
    "told_beats$read_data[21:0]",
    "word[511:0]",
    "word[575:512]",
    // Sums, products and shifts of which the rest is cut off.
    "at_ns[47:34]",
    "b[38]",
    "base[5:0]",
    "flipped[6:0]",
    "halves[0]",
    "linear[14]",
    "negated[9]",
    "ones[48:26]",
    "over[32:0]",
    "position[14]",
    "product[21:15]",
    "relative[14]",
    "silence[32:0]",
    "start_extra[21:15]",
    "sum[0]",
    "taken[14:9]",
    "total[0]",
    "unlike[24:0]",
];

/// Adds the sinks to `modules`.
pub fn sink(modules: &mut [Module]) {
    for module in modules {
        for entry in UNUSED {
            let (name, bits) = split(entry);
            if unread(&module.body, name).as_deref() == Some(bits) {
                let end = module.body.rfind("endmodule").unwrap_or(module.body.len());
                module.body.insert_str(end, &sink_of(name, bits));
            }
        }
    }
}

/// Name and bits of an entry.
fn split(entry: &str) -> (&str, &str) {
    entry.trim_end_matches(']').split_once('[').unwrap_or((entry, ""))
}

fn sink_of(name: &str, bits: &str) -> String {
    let parts: Vec<String> = match bits {
        "" => vec![name.to_owned()],
        bits => bits.split(',').map(|range| format!("{name}[{range}]")).collect(),
    };
    format!("    wire unused${name} = &{{{}}};\n", parts.join(", "))
}

/// The bits of signal `name` that nothing in the module reads, as Verilator writes them: nothing for all. None if every
/// bit is read, or there is no such signal.
fn unread(body: &str, name: &str) -> Option<String> {
    let lines = || body.lines().map(str::trim).filter(|line| line.contains(name));
    let (is_wire, width) = lines().find_map(|line| declared(line, name))?;
    let assigned = |line: &str| line.trim_start_matches("assign ").split_once(" = ").map(|(to, _)| to.len());
    let is_target = |line: &str| occurrences(line.trim_start_matches("assign "), name).next() == Some(0);
    // A wire without an assignment is the output of a sub-block; its pin is no reader.
    let is_output = is_wire && !lines().any(|line| is_target(line) && assigned(line).is_some());
    let mut read = vec![false; width];
    for line in lines().filter(|line| !line.starts_with('(') && declared(line, name).is_none()) {
        if is_output && line.starts_with('.') {
            continue;
        }
        let line = line.trim_start_matches("assign ");
        let reader = if is_target(line) { &line[assigned(line).unwrap_or(0)..] } else { line };
        for at in occurrences(reader, name) {
            let (low, bits) = slice(&reader[at + name.len()..]).unwrap_or((0, width));
            read.iter_mut().skip(low).take(bits).for_each(|bit| *bit = true);
        }
    }
    if !read.contains(&true) {
        return Some(String::new());
    }
    let mut ranges = Vec::new();
    let mut end = width;
    while let Some(high) = read[..end].iter().rposition(|read| !read) {
        end = read[..high].iter().rposition(|read| *read).map_or(0, |bit| bit + 1);
        ranges.push(if end == high { high.to_string() } else { format!("{high}:{end}") });
    }
    Some(ranges.join(",")).filter(|ranges| !ranges.is_empty())
}

/// Whether the line declares `name` as a wire that is no input, and how wide it is.
fn declared(line: &str, name: &str) -> Option<(bool, usize)> {
    let words: Vec<&str> = line.strip_suffix(';')?.split_whitespace().collect();
    let (kind, rest) = match words[..] {
        ["input" | "output", _, ref rest @ ..] => ("port", rest),
        [kind @ ("reg" | "wire"), ref rest @ ..] => (kind, rest),
        _ => return None,
    };
    let width = match rest {
        [_] => 1,
        [range, _] => range.strip_prefix('[')?.strip_suffix(":0]")?.parse::<usize>().ok()? + 1,
        _ => return None,
    };
    (rest.last() == Some(&name)).then_some((kind == "wire", width))
}

/// Where `name` stands in `text`, and not as part of another one or as the name of a pin.
fn occurrences<'a>(text: &'a str, name: &'a str) -> impl Iterator<Item = usize> {
    let of_a_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '\'' | '.');
    let stands_alone = move |at: &usize| {
        !text[..*at].ends_with(of_a_name) && !text[at + name.len()..].starts_with(|c| of_a_name(c) && c != '.')
    };
    text.match_indices(name).map(|(at, _)| at).filter(stands_alone)
}

/// Lowest bit and number of the bits that `[(64'h20)+:(8)]` or `[7]` takes; none if that is not known here.
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

/// The value of a sum of products of numbers.
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
    use crate::hdl::prelude::Block;
    use crate::hdl::stack::on_a_large_stack;

    #[test]
    fn every_entry_is_needed() {
        let card = on_a_large_stack(|| {
            let mut card = Box::<Endpoint>::default();
            card.connect_all();
            crate::cosim::verilog(card.as_ref())
        });
        let idle = |entry: &&&str| {
            let (name, bits) = split(entry);
            !card.contains(&sink_of(name, bits))
        };
        let idle: Vec<_> = UNUSED.iter().filter(|entry| **entry != "clock").filter(idle).collect();
        assert!(idle.is_empty(), "take them out of unused.rs, the card has no such signal: {idle:?}");
    }

    #[test]
    fn an_entry_applies_to_just_its_bits() {
        let module = |read: &str| Module {
            name: "top".into(),
            body: format!("(y);\n    output wire  y;\n    wire  [1:0] total;\n    assign y = {read};\nendmodule\n"),
            uses: 0,
            kept: false,
        };
        let mut modules = ["total[1]", "total[0]", "total", "subtotal"].map(module);
        sink(&mut modules);
        let sunk = modules.map(|module| module.body.contains("    wire unused$total = &{total[0]};\nendmodule"));
        assert_eq!(sunk, [true, false, false, false], "bit 0 of `total` is in the list");
    }

    #[test]
    fn what_is_read_is_known_to_the_bit() {
        let unread = |text: &str| {
            unread(&format!("(s);\n    input wire  x;\n    reg  [15:0] s;\n    wire  [7:0] o;\n{text}\nendmodule"), "s")
        };
        let none = Some(String::new());
        assert_eq!(unread(""), none);
        assert_eq!(unread("assign s = s$q + other.s + 16's;"), none, "other names");
        assert_eq!(unread("    s[(64'h3)+:(2)] = a;\n    s = b == c;"), none, "writes");
        assert_eq!(unread("y = a + s;"), None);
        assert_eq!(unread("y = s[(64'h4)+:(8)] == s[0];").as_deref(), Some("15:12,3:1"));
        assert_eq!(unread("if (s[(64'h2 * 32'h4 + 32'h1)+:(3)]) begin").as_deref(), Some("15:12,8:0"));
        assert_eq!(unread("y = {s[14:8], s[3], x};").as_deref(), Some("15,7:4,2:0"));
        assert_eq!(unread("y = s[x];"), None, "any bit");
        assert_eq!(unread("s = s[1];").as_deref(), Some("15:2,0"));
        assert_eq!(unread("        .port(s),"), None, "an input of a sub-block");
        let output = |text: &str| super::unread(&format!("(s);\n    wire  [3:0] o;\n{text}\nendmodule"), "o");
        assert_eq!(output("        .port(o),"), none, "an output of a sub-block");
        assert_eq!(output("        .port(o),\n    assign o = 4'h3;"), None, "an input, assigned");
    }
}
