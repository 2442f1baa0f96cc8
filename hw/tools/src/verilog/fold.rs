//! Time-shares lanes: sixteen arithmetic units of a card become one, on a small FPGA.
//!
//! Why: a board whose wire brings a byte a cycle brings a beat in 64. A card that makes one step in `pace` cycles is as
//! fast there, and a unit that works in every cycle does the work of `pace` lanes.
//! How: a phase counter gives every module a `tick`, high in the last of `pace` cycles; registers and memories move with
//! it. Units named by [`Lane`] are the exception: they work in every cycle, on one lane after another, and their
//! results wait in a memory until the step in which they are due. Seen from outside, once a tick, the card does in
//! every step what it did in a cycle; nothing in it is changed but speed.
//! The top gets an output `tick`: its inputs count, and its outputs move, when `tick` is high.
//! Where more can be shared than equal units, a [`Substitute`] takes a module's place.
//! Limits: reads the Verilog that rust-hdl writes. A unit must be a pipeline that samples all inputs at once and whose
//! latency is 2 to 15 cycles. For that many steps after power-on its results are zeros.
//! Wide block RAM is read and written in parts (`WIDE`). Memories with a combinational read
//! ([`LutRam`](optireduce_hw::mem::ram::LutRam)) of 32 words and more become block RAM: there is time for a cycle in between.

use crate::verilog::rtl::{Port, ports_of};
use optireduce_hw::cosim::share::{self, Module};
use std::collections::HashMap;
use std::fmt::Write as _;

/// A unit to be shared.
pub struct Lane {
    /// Its Verilog, as the top.
    pub verilog: String,
    /// Cycles from its inputs to its outputs.
    pub latency: usize,
    /// Inputs that it samples a cycle before its outputs show it, not with the others.
    pub late: &'static [&'static str],
}

/// Verilog that does in `pace` cycles what a module does in one.
pub struct Substitute {
    /// The module's Verilog, as the top.
    pub verilog: String,
    /// What takes its place, as the top: the same ports and `tick`, and the same values whenever that is high.
    pub by: String,
}

/// Bits of the number of a step, as far as results wait.
const STEP_BITS: usize = 4;
/// Bits from which a block RAM's words are kept in eighths, as in a step of 16 cycles there is time for that: the wires of
/// wide memories, not the logic, are what a small FPGA runs out of.
const WIDE: usize = 256;
/// Words from which a memory with a combinational read becomes block RAM.
const BLOCK_RAM_WORDS: usize = 32;

/// `verilog` (top module `top`) with all `lanes` shared and `substitutes` made, a step in `pace` cycles, 4, 8 or 16.
///
/// # Errors
/// When a lane or what is to be replaced is nowhere instantiated, a lane cannot be shared, or the Verilog is not in rust-hdl's style.
pub fn folded(verilog: &str, lanes: &[Lane], substitutes: &[Substitute], pace: usize) -> Result<String, String> {
    if !pace.is_power_of_two() || !(4..=16).contains(&pace) {
        return Err(format!("a step in {pace} cycles: 4, 8 or 16 are possible"));
    }
    let modules = share::shared(verilog);
    let meanings = meanings(&modules);
    let mut shareable: HashMap<&str, &Lane> = HashMap::new();
    let find = |verilog: &str, what: &str| {
        let own = share::shared(verilog);
        let meaning = self::meanings(&own).remove("top").ok_or_else(|| format!("{what} has no module top"))?;
        let found = modules.iter().find(|module| meanings[module.name.as_str()] == meaning);
        found.ok_or_else(|| format!("{what} is nowhere instantiated"))
    };
    let mut replaced: HashMap<&str, &str> = HashMap::new();
    for Substitute { verilog, by } in substitutes {
        replaced.insert(&find(verilog, "what is to be replaced")?.name, by);
    }
    for lane in lanes {
        if !(2..1 << STEP_BITS).contains(&lane.latency) {
            return Err(format!("a lane of {} cycles: 2 to {} can be shared", lane.latency, (1 << STEP_BITS) - 1));
        }
        let module = find(&lane.verilog, &format!("a lane of {} cycles", lane.latency))?;
        shareable.insert(&module.name, lane);
    }
    let by_name: HashMap<&str, &Module> = modules.iter().map(|module| (module.name.as_str(), module)).collect();
    // Clocks of lanes that are gone, `tick` in a module without registers: what is left over is no fault.
    let mut out = "/* verilator lint_off UNUSEDSIGNAL */\n".to_owned();
    let (mut slow, mut fast) = (vec!["top"], Vec::new());
    let mut next = 0;
    while let Some(name) = slow.get(next).copied() {
        next += 1;
        let module = by_name[name];
        if let Some(by) = replaced.get(name) {
            let own = |of_by: &str| {
                of_by.replacen("top", &if of_by == "top" { name.into() } else { format!("{name}$by") }, 1)
            };
            for module in share::shared(by) {
                _ = writeln!(out, "\nmodule {}", own(&module.name));
                for line in module.body.lines() {
                    _ = match child(line) {
                        Some((name, instance)) => writeln!(out, "    {} {instance}(", own(name)),
                        None => writeln!(out, "{line}"),
                    };
                }
            }
            continue;
        }
        let mut shared = Vec::new();
        let body = slowed(module, &by_name, &shareable, pace, &mut shared);
        for (child, _) in body.lines().filter_map(child) {
            // What is not among the modules is made here.
            if let Some(module) = by_name.get(child).filter(|_| !slow.contains(&child)) {
                slow.push(&module.name);
            }
        }
        for share in shared {
            let unit = by_name[share.unit];
            let name = format!("{}$share${}", module.name, share.index);
            out += &share_module(&name, unit, share.count, shareable[share.unit], pace);
            collect(share.unit, &by_name, &mut fast);
        }
        let body = if module.name == "top" { with_phase(&body, pace)? } else { body };
        _ = write!(out, "\nmodule {}{body}\n", module.name);
    }
    for name in fast {
        _ = write!(out, "\nmodule {}{}\n", fast_name(name), renamed_children(by_name[name], &by_name));
    }
    Ok(out)
}

/// What every module does: its text with its children's in the place of their names.
fn meanings(modules: &[Module]) -> HashMap<&str, String> {
    let mut meanings: HashMap<&str, String> = HashMap::new();
    for module in modules {
        let mut text = String::new();
        for line in module.body.lines().map(str::trim) {
            match child(line).and_then(|(name, instance)| Some((meanings.get(name)?, instance))) {
                Some((meaning, instance)) => _ = writeln!(text, "<{meaning}> {instance}("),
                None => _ = writeln!(text, "{line}"),
            }
        }
        meanings.insert(&module.name, text);
    }
    meanings
}

/// Module and name of the instance that begins on this line, if one does.
fn child(line: &str) -> Option<(&str, &str)> {
    let (name, instance) = line.trim().strip_suffix('(')?.split_once(' ')?;
    name.starts_with("top$").then_some((name, instance))
}

/// Instances of a unit in one module, to become a [`share_module`].
struct Share<'a> {
    unit: &'a str,
    index: usize,
    count: usize,
}

/// The module's text, moving with `tick`, its lanes replaced.
fn slowed<'a>(
    module: &'a Module,
    by_name: &HashMap<&str, &'a Module>,
    shareable: &HashMap<&str, &Lane>,
    pace: usize,
    shares: &mut Vec<Share<'a>>,
) -> String {
    if let Some(text) = in_eighths(&module.body).filter(|_| pace == 16) {
        return text;
    }
    let is_memory = block_ram_instead(&module.body);
    let is_block_ram = module.body.contains("read_data <= mem[");
    let mut late_write = String::new();
    // Of each unit as many instances as fill whole units; what is left stays as it is.
    let instances = |unit| module.body.lines().filter_map(child).filter(|(name, _)| *name == unit).count();
    let mut left: HashMap<&str, usize> = shareable.keys().map(|unit| (*unit, instances(*unit) / pace * pace)).collect();
    let mut text = String::new();
    let mut pins: Vec<(&str, Vec<HashMap<&str, &str>>)> = Vec::new();
    let mut lines = module.body.lines();
    while let Some(line) = lines.next() {
        match child(line) {
            Some((name, _)) if left.get(name).is_some_and(|left| *left > 0) => {
                left.entry(by_name[name].name.as_str()).and_modify(|left| *left -= 1);
                let connected = lines.by_ref().take_while(|line| line.trim() != ");").filter_map(pin).collect();
                match pins.iter_mut().find(|(unit, _)| *unit == name) {
                    Some((_, instances)) => instances.push(connected),
                    None => pins.push((by_name[name].name.as_str(), vec![connected])),
                }
            }
            Some(_) => _ = writeln!(text, "{line}\n        .tick(tick),"),
            None if line.starts_with('(') => {
                _ = writeln!(text, "(tick,{}\n    input wire  tick;", &line[1..]);
            }
            None if line.contains("always @(posedge clock)") => {
                _ = writeln!(text, "{}", line.replace("(posedge clock)", "(posedge clock) if (tick)"));
            }
            None if is_block_ram && line.trim().starts_with("if (write_enable) mem[") => {
                late_write = line.trim().replace("write_", "write$");
            }
            None if is_memory => {
                let now = line.replace("ram_style = \"distributed\"", "ram_style = \"block\", no_rw_check");
                _ = writeln!(
                    text,
                    "{}",
                    now.replace("always @(*) read_data =", "always @(posedge clock) read_data <=")
                );
            }
            None => _ = writeln!(text, "{line}"),
        }
    }
    if !late_write.is_empty() {
        // A read with the tick sees the word of before; so write a cycle later.
        let written = ports_of(&module.body).into_iter().filter(|port| port.name.starts_with("write_"));
        let mut later = String::new();
        for Port { name, bits, .. } in written {
            let due = name.replace("write_", "write$");
            let now = if bits == 1 { format!("tick && {name}") } else { name };
            _ = writeln!(later, "    reg  [{}:0] {due};\n    always @(posedge clock) {due} <= {now};", bits - 1);
        }
        _ = writeln!(later, "    always @(posedge clock) {late_write}");
        let end = text.rfind("endmodule").unwrap_or(text.len());
        text.insert_str(end, &later);
        text = text.replace("(* ram_style = \"block\" *)", "(* ram_style = \"block\", no_rw_check *)");
    }
    for (index, (unit, instances)) in pins.into_iter().enumerate() {
        let ports = ports_of(&by_name[unit].body);
        let joined = |port: &Port| {
            let lanes: Vec<&str> = instances.iter().rev().map(|pins| pins[port.name.as_str()]).collect();
            format!("        .{}({{{}}})", port.name, lanes.join(", "))
        };
        let pins: Vec<String> = ports.iter().filter(|port| port.name != "clock").map(joined).collect();
        let instance = format!(
            "    {}$share${index} share${index}(\n        .tick(tick),\n        .clock(clock),\n{}\n    );\n",
            module.name,
            pins.join(",\n")
        );
        let end = text.rfind("endmodule").unwrap_or(text.len());
        text.insert_str(end, &instance);
        shares.push(Share { unit, index, count: instances.len() });
    }
    text
}

fn pin(line: &str) -> Option<(&str, &str)> {
    line.trim().trim_end_matches(',').strip_prefix('.')?.strip_suffix(')')?.split_once('(')
}

/// The text of a wide block RAM that reads and writes an eighth of a word a cycle; none if it is no such memory.
///
/// Reads begin in cycle 7 of a step, when addresses have settled that come from a memory themselves; each eighth is
/// written a cycle after it was read, so that a read sees the word of before. The word shows from the next step on.
fn in_eighths(body: &str) -> Option<String> {
    let (header, memory) = body.split_once("(* ram_style = \"block\" *) reg [")?;
    let ports = ports_of(body);
    let bits = ports.iter().find(|port| port.name == "read_data").filter(|port| port.bits >= WIDE)?.bits;
    let between = |before: &str, after: &str| Some(memory.split_once(before)?.1.split_once(after)?.0);
    let words = between("mem [0:", "]")?.parse::<usize>().ok()? + 1;
    let (read, write) = (between("read_data <= mem[", "];")?, between("if (write_enable) mem[", "] <= write_data;")?);
    let (part, place) = (bits.div_ceil(8), words.ilog2() as usize - 1);
    let mut text = format!("(tick,{}", header.strip_prefix('(')?.replacen(";", ";\n    input wire  tick;", 1));
    _ = writeln!(
        text,
        "(* ram_style = \"block\", no_rw_check *) reg [{0}:0] mem [0:{1}];\n    \
         reg  [{0}:0] part;\n    reg  [{4}:0] due;\n    wire  [{2}:0] now = write_data;\n    \
         wire  [{place}:0] read_place = {read};\n    wire  [{place}:0] write_place = {write};\n    \
         reg  [3:0] phase;\n    wire  [2:0] reads = phase + 1;\n    wire  [2:0] writes = phase;\n    \
         initial phase = 0;\n    \
         `ifndef SYNTHESIS\n    integer i;\n    initial for (i = 0; i <= {1}; i = i + 1) mem[i] = 0;\n    \
         initial due = 0;\n    initial read_data = 0;\n    `endif\n    \
         always @(posedge clock) begin\n        \
         phase <= tick ? 0 : phase + 1;\n        \
         part <= mem[{{read_place, reads}}];\n        \
         if (write_enable && phase[3]) mem[{{write_place, writes}}] <= now[writes * {3} +: {3}];\n        \
         due <= {{part, due[{4}:{3}]}};\n        \
         if (tick) read_data <= {{part, due}};\n    \
         end\nendmodule",
        part - 1,
        words * 8 - 1,
        part * 8 - 1,
        part,
        part * 7 - 1,
    );
    Some(text)
}

/// A memory with a combinational read and enough words.
fn block_ram_instead(body: &str) -> bool {
    let last = body.split_once("mem [0:").and_then(|(_, rest)| rest.split_once(']'));
    let words = last.and_then(|(last, _)| last.parse::<usize>().ok()).map_or(0, |last| last + 1);
    body.contains("always @(*) read_data = mem[") && words >= BLOCK_RAM_WORDS
}

/// `count` lanes on `count / pace` units.
///
/// Lane groups go through the units one a cycle, group 0 in the first of a step. Results come `latency` cycles after
/// their operands, and are due `latency` steps after them.
/// Without late inputs the results wait in a memory, a word a group and step; in the step before they are due they are
/// read, one group a cycle, the last in the last cycle. With late inputs the other operands wait until these have come,
/// and the result of the last group comes in the first cycle of the step in which it is due.
fn share_module(name: &str, unit: &Module, count: usize, lane: &Lane, pace: usize) -> String {
    let (units, latency) = (count / pace, lane.latency);
    let ports: Vec<Port> = ports_of(&unit.body).into_iter().filter(|port| port.name != "clock").collect();
    let names: Vec<&str> = ports.iter().map(|port| port.name.as_str()).collect();
    let phase_bits = pace.ilog2() as usize;
    let (last, place) = (pace - 1, STEP_BITS + phase_bits - 1);
    let places = 1usize << (place + 1);
    let mut text = format!("\nmodule {name}(tick,clock,{});\n", names.join(","));
    _ = writeln!(text, "    input wire  tick;\n    input wire  clock;");
    for Port { name, is_output, bits } in &ports {
        let direction = if *is_output { "output reg " } else { "input wire " };
        _ = writeln!(text, "    {direction} [{}:0] {name};", count * bits - 1);
    }
    // Places are numbered by step and group; what comes now, and what is read now, a cycle before it is used.
    let comes = if lane.late.is_empty() { latency } else { 0 };
    let ahead = match lane.late.is_empty() {
        true => places + 1 - (latency - 1) * pace,
        false => places + 1 - (latency - 1) * (pace - 1),
    };
    _ = writeln!(
        text,
        "    reg  [{place}:0] now;\n    \
         wire  [{place}:0] comes = now - {comes};\n    \
         wire  [{place}:0] next = now + {ahead};\n    \
         wire  [{}:0] group = now[{0}:0];\n    \
         initial now = 0;\n    \
         always @(posedge clock) now <= tick ? (now | {last}) + 1 : now + 1;",
        phase_bits - 1,
    );
    for Port { name, is_output, bits } in &ports {
        let width = units * bits;
        let waiting = format!(
            "    (* ram_style = \"block\", no_rw_check *) reg  [{0}:0] {name}$waiting [0:{1}];\n    \
             reg  [{0}:0] {name}$read;\n    \
             `ifndef SYNTHESIS\n    integer {name}$i;\n    \
             initial for ({name}$i = 0; {name}$i <= {1}; {name}$i = {name}$i + 1) {name}$waiting[{name}$i] = 0;\n    \
             initial {name}$read = 0;\n    `endif\n    \
             always @(posedge clock) {name}$read <= {name}$waiting[next];\n",
            width - 1,
            places - 1,
        );
        match (*is_output, lane.late.is_empty()) {
            (true, _) => {
                // Group `g` is there in cycle `g`, or with late inputs in the one after; so many wait for the last cycle.
                let (source, waits) = if lane.late.is_empty() { ("read", last) } else { ("now", last - 1) };
                _ = writeln!(
                    text,
                    "    wire  [{}:0] {name}$now;\n    reg  [{}:0] {name}$due;",
                    width - 1,
                    waits * width - 1
                );
                if lane.late.is_empty() {
                    text += &waiting;
                    _ = writeln!(text, "    always @(posedge clock) {name}$waiting[comes] <= {name}$now;");
                }
                _ = writeln!(
                    text,
                    "    always @(posedge clock) {name}$due <= {{{name}${source}, {name}$due[{}:{width}]}};",
                    waits * width - 1,
                );
                text += "    `ifndef SYNTHESIS\n";
                _ = writeln!(text, "    initial {name}$due = 0;");
                if lane.late.is_empty() {
                    _ = writeln!(
                        text,
                        "    initial {name} = 0;\n    `endif\n    \
                         always @(posedge clock) if (tick) {name} <= {{{name}$read, {name}$due}};"
                    );
                } else {
                    let (all, most) = (count * bits - 1, last * width);
                    _ = writeln!(
                        text,
                        "    initial {{{name}$last, {name}$shown}} = 0;\n    `endif\n    \
                         reg  [{0}:0] {name}$last;\n    reg  [{1}:0] {name}$shown;\n    \
                         always @(posedge clock) begin\n        \
                         if (tick) {name}$shown <= {{{name}$now, {name}$due}};\n        \
                         if (group == 0) {name}$last <= {name}$now;\n    end\n    \
                         always @(*) {name} = {{group == 0 ? {name}$now : {name}$last, {name}$shown}};",
                        width - 1,
                        most - 1,
                    );
                    debug_assert_eq!(all + 1, most + width);
                }
            }
            (false, false) if !lane.late.contains(&name.as_str()) => {
                _ = writeln!(text, "    wire  [{}:0] {name}$now = {name}$read;", width - 1);
                text += &waiting;
                _ = writeln!(
                    text,
                    "    always @(posedge clock) {name}$waiting[comes] <= {name}[group * {width} +: {width}];"
                );
            }
            (false, _) => {
                _ = writeln!(text, "    wire  [{}:0] {name}$now = {name}[group * {width} +: {width}];", width - 1);
            }
        }
    }
    for index in 0..units {
        let pin = |Port { name, bits, .. }: &Port| {
            format!("        .{name}({name}$now[{}:{}])", (index + 1) * bits - 1, index * bits)
        };
        let pins: Vec<String> = ports.iter().map(pin).collect();
        let unit = fast_name(&unit.name);
        _ = writeln!(text, "    {unit} unit${index}(\n        .clock(clock),\n{}\n    );", pins.join(",\n"));
    }
    text += "endmodule\n";
    text
}

/// The top's text with the phase counter, and `tick` as an output.
fn with_phase(body: &str, pace: usize) -> Result<String, String> {
    let bits = pace.ilog2();
    let counter = format!(
        "    output wire  tick;\n    reg  [{}:0] tick$phase;\n    initial tick$phase = 0;\n    \
         always @(posedge clock) tick$phase <= tick$phase + 1;\n    assign tick = &tick$phase;",
        bits - 1
    );
    let (before, after) = body.split_once("    input wire  tick;").ok_or("module top has no port list")?;
    Ok(format!("{before}{counter}{after}"))
}

fn fast_name(name: &str) -> String {
    name.replacen("top$", "top$fast$", 1)
}

/// `name` and all below it, each once.
fn collect<'a>(name: &'a str, by_name: &HashMap<&str, &'a Module>, found: &mut Vec<&'a str>) {
    if !found.contains(&name) {
        found.push(name);
        for (child, _) in by_name[name].body.lines().filter_map(child) {
            collect(child, by_name, found);
        }
    }
}

fn renamed_children(module: &Module, by_name: &HashMap<&str, &Module>) -> String {
    let line = |line: &str| match child(line).filter(|(name, _)| by_name.contains_key(name)) {
        Some((name, instance)) => format!("    {} {instance}(\n", fast_name(name)),
        None => format!("{line}\n"),
    };
    module.body.lines().map(line).collect()
}

#[cfg(test)]
#[path = "fold_tests.rs"]
mod tests;
