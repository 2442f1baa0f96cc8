//! Time-shares lanes: sixteen arithmetic units of a card become one, for a small FPGA.
//!
//! A link of one byte per cycle takes 64 cycles for a beat. A card that makes one step in `pace`
//! cycles then loses no speed, and one unit does the work of `pace` lanes.
//!
//! A phase counter gives every module a `tick`, high in the last of `pace` cycles, which enables
//! registers and memories. Units named by [`Lane`] work in every cycle, on one lane after another,
//! and their results wait in a memory until they are due. At the ticks, a step is equivalent to a
//! cycle of the original. The top has `tick` as an additional output.
//!
//! Limits: a unit must be a pipeline of 2 to 15 cycles that samples all inputs together, except
//! [`late`](Lane::late) ones. For as many steps after power-on, its results are zero.

use optireduce_hw::cosim::module::{self, Instance, Item, Kind, Module, Net};
use std::collections::HashMap;
use std::fmt::Write as _;

/// Unit to be shared.
pub struct Lane {
    pub verilog: String,
    pub latency: usize,
    /// Inputs that the unit samples one cycle before the result.
    pub late: &'static [&'static str],
}

/// Replacement of a module whose work sharing cannot divide. Both are top modules.
pub struct Substitute {
    pub verilog: String,
    /// Has the original's ports and `tick`, and its values while `tick` is high.
    pub by: String,
}

/// Bits of the step number in the addresses of waiting results.
const STEP_BITS: usize = 4;
/// Width in bits from which block RAM is accessed in eighths, in steps of 16 cycles. A small FPGA
/// has too few wires for wide memories.
const WIDE: usize = 256;
/// Words from which a memory with a combinational read becomes block RAM.
const BLOCK_RAM_WORDS: usize = 32;

/// Rewrites `verilog` (top module `top`) with shared `lanes` and with `substitutes`. A step takes
/// `pace` cycles: 4, 8 or 16.
///
/// # Errors
/// If a lane or an original is not instantiated, a lane cannot be shared, or the Verilog does not
/// have rust-hdl's layout.
pub fn folded(verilog: &str, lanes: &[Lane], substitutes: &[Substitute], pace: usize) -> Result<String, String> {
    if !pace.is_power_of_two() || !(4..=16).contains(&pace) {
        return Err(format!("a step takes {pace} cycles, expected 4, 8 or 16"));
    }
    let modules = module::parse(verilog)?;
    let meanings = meanings(&modules);
    let mut shareable: HashMap<&str, &Lane> = HashMap::new();
    let find = |verilog: &str, what: &str| {
        let own = module::parse(verilog).map_err(|error| format!("{what}: {error}"))?;
        let meaning = self::meanings(&own).remove("top").ok_or_else(|| format!("{what} has no module top"))?;
        let found = modules.iter().find(|module| meanings[module.name.as_str()] == meaning);
        found.ok_or_else(|| format!("{what} is not instantiated"))
    };
    let mut replaced: HashMap<&str, Vec<Module>> = HashMap::new();
    for Substitute { verilog, by } in substitutes {
        let found = find(verilog, "the module to replace")?;
        replaced.insert(&found.name, module::parse(by).map_err(|error| format!("a substitute: {error}"))?);
    }
    for lane in lanes {
        if !(2..1 << STEP_BITS).contains(&lane.latency) {
            return Err(format!("a lane takes {} cycles, expected 2 to {}", lane.latency, (1 << STEP_BITS) - 1));
        }
        let module = find(&lane.verilog, &format!("a lane of {} cycles", lane.latency))?;
        shareable.insert(&module.name, lane);
    }
    let by_name: HashMap<&str, &Module> = modules.iter().map(|module| (module.name.as_str(), module)).collect();
    // Unused on purpose: clocks of removed lanes, and `tick` in modules without registers.
    let mut out = "/* verilator lint_off UNUSEDSIGNAL */\n".to_owned();
    let (mut slow, mut fast) = (vec!["top"], Vec::new());
    let mut next = 0;
    while let Some(name) = slow.get(next).copied() {
        next += 1;
        if let Some(by) = replaced.get(name) {
            let own = |of_by: &str| {
                of_by.replacen("top", &if of_by == "top" { name.into() } else { format!("{name}$by") }, 1)
            };
            for module in by {
                let module = with_children(module, |child| own(child));
                _ = write!(out, "\nmodule {}\n{}", own(&module.name), module.body());
            }
            continue;
        }
        let (module, shared) = slowed(by_name[name], &by_name, &shareable, pace);
        for child in module.instances() {
            if let Some(module) = by_name.get(child.module.as_str()).filter(|_| !slow.contains(&child.module.as_str()))
            {
                slow.push(&module.name);
            }
        }
        for share in shared {
            let unit = by_name[share.unit];
            let name = format!("{}$share${}", module.name, share.index);
            out += &share_module(&name, unit, share.count, shareable[share.unit], pace);
            collect(share.unit, &by_name, &mut fast);
        }
        _ = writeln!(out, "{}", if name == "top" { with_phase(module, pace) } else { module });
    }
    for name in fast {
        let is_known = |child: &str| if by_name.contains_key(child) { fast_name(child) } else { child.to_owned() };
        let module = with_children(by_name[name], is_known);
        _ = writeln!(out, "{}", Module { name: fast_name(name), ..module });
    }
    Ok(out)
}

/// Returns each module's text with the names of its children replaced by their texts, recursively,
/// so that equivalent modules have equal texts.
fn meanings(modules: &[Module]) -> HashMap<&str, String> {
    let mut meanings: HashMap<&str, String> = HashMap::new();
    for module in modules {
        let meant = with_children(module, |child| {
            meanings.get(child).map_or_else(|| child.to_owned(), |meaning| format!("<{meaning}>"))
        });
        meanings.insert(&module.name, meant.body());
    }
    meanings
}

fn with_children(module: &Module, name: impl Fn(&str) -> String) -> Module {
    let mut module = module.clone();
    module.instances_mut().for_each(|child| child.module = name(&child.module));
    module
}

struct Share<'a> {
    unit: &'a str,
    index: usize,
    count: usize,
}

fn text(line: impl Into<String>) -> Item {
    Item::Text(line.into())
}

fn tick(kind: Kind) -> Item {
    Item::Net(Net { name: "tick".into(), kind, bits: 1 })
}

/// Returns the module enabled by `tick`, and the shares that replace its lanes.
fn slowed<'a>(
    module: &'a Module,
    by_name: &HashMap<&str, &'a Module>,
    shareable: &HashMap<&str, &Lane>,
    pace: usize,
) -> (Module, Vec<Share<'a>>) {
    if let Some(items) = in_eighths(module).filter(|_| pace == 16) {
        return (Module { items, ..module.clone() }, Vec::new());
    }
    // Instances beyond whole shared units stay.
    let instances = |unit: &str| module.instances().filter(|instance| instance.module == unit).count();
    let mut left: HashMap<&str, usize> = shareable.keys().map(|unit| (*unit, instances(unit) / pace * pace)).collect();
    let mut lanes: Vec<(&str, Vec<&Instance>)> = Vec::new();
    let mut items = vec![tick(Kind::Input)];
    for item in &module.items {
        match item {
            Item::Instance(lane) if left.get(lane.module.as_str()).is_some_and(|left| *left > 0) => {
                let unit = by_name[lane.module.as_str()].name.as_str();
                left.entry(unit).and_modify(|left| *left -= 1);
                match lanes.iter_mut().find(|(of, _)| *of == unit) {
                    Some((_, instances)) => instances.push(lane),
                    None => lanes.push((unit, vec![lane])),
                }
            }
            Item::Instance(child) => {
                let mut child = child.clone();
                child.pins.insert(0, ("tick".into(), "tick".into()));
                items.push(Item::Instance(child));
            }
            Item::Block(block) => {
                items.push(Item::Block(block.replace("always @(posedge clock)", "always @(posedge clock) if (tick)")));
            }
            item => items.push(item.clone()),
        }
    }
    if module.block_contains("read_data <= mem[") {
        write_later(&mut items);
    } else if module.block_contains("always @(*) read_data = mem[")
        && module.memory().is_some_and(|memory| memory.words >= BLOCK_RAM_WORDS)
    {
        as_block_ram(&mut items);
    }
    let mut shares = Vec::new();
    for (index, (unit, instances)) in lanes.into_iter().enumerate() {
        let joined = |port: &Net| {
            let connected = instances.iter().rev().flat_map(|lane| &lane.pins).filter(|(pin, _)| *pin == port.name);
            let connected: Vec<&str> = connected.map(|(_, net)| net.as_str()).collect();
            (port.name.clone(), format!("{{{}}}", connected.join(", ")))
        };
        let pins = ["tick", "clock"].map(|name| (name.to_owned(), name.to_owned()));
        let pins = pins.into_iter().chain(unit_ports(by_name[unit]).map(joined)).collect();
        let (module, name) = (format!("{}$share${index}", module.name), format!("share${index}"));
        items.push(Item::Instance(Instance { module, name, pins }));
        shares.push(Share { unit, index, count: instances.len() });
    }
    (Module { items, ..module.clone() }, shares)
}

fn unit_ports(unit: &Module) -> impl Iterator<Item = &Net> {
    unit.ports().filter(|port| port.name != "clock")
}

/// Delays writes of a block RAM by one cycle, so that a read at the tick returns the old word.
fn write_later(items: &mut Vec<Item>) {
    let mut later = String::new();
    let ports = items.iter().filter_map(|item| if let Item::Net(net) = item { Some(net) } else { None });
    for Net { name, bits, .. } in ports.filter(|port| port.name.starts_with("write_")) {
        let due = name.replace("write_", "write$");
        let now = if *bits == 1 { format!("tick && {name}") } else { name.clone() };
        _ = writeln!(later, "    reg  [{}:0] {due};\n    always @(posedge clock) {due} <= {now};", bits - 1);
    }
    for item in items.iter_mut() {
        match item {
            Item::Memory(memory) if memory.attributes == "ram_style = \"block\"" => {
                memory.attributes += ", no_rw_check";
            }
            Item::Block(block) => {
                let is_write = |line: &&str| line.trim().starts_with("if (write_enable) mem[");
                if let Some(write) = block.lines().find(is_write) {
                    _ = write!(later, "    always @(posedge clock) {}", write.trim().replace("write_", "write$"));
                    *block = block.lines().filter(|line| !is_write(line)).collect::<Vec<_>>().join("\n");
                }
            }
            _ => {}
        }
    }
    items.push(text(later));
}

fn as_block_ram(items: &mut [Item]) {
    for item in items {
        match item {
            Item::Memory(memory) if memory.is_style("distributed") => {
                memory.attributes = memory.attributes.replace("\"distributed\"", "\"block\", no_rw_check");
            }
            Item::Block(block) => {
                *block = block.replace("always @(*) read_data =", "always @(posedge clock) read_data <=");
            }
            _ => {}
        }
    }
}

/// Returns the items of a wide block RAM that accesses an eighth of a word per cycle; `None` for
/// other modules.
///
/// Reads begin in cycle 7 of a step, after addresses that come from a memory have settled. Each
/// eighth is written one cycle after it was read.
fn in_eighths(module: &Module) -> Option<Vec<Item>> {
    let at = module.items.iter().position(|item| matches!(item, Item::Memory(memory) if memory.is_style("block")))?;
    let bits = module.ports().find(|port| port.name == "read_data").filter(|port| port.bits >= WIDE)?.bits;
    let words = module.memory()?.words;
    let body = module.body();
    let between = |before: &str, after: &str| Some(body.split_once(before)?.1.split_once(after)?.0);
    let (read, write) = (between("read_data <= mem[", "];")?, between("if (write_enable) mem[", "] <= write_data;")?);
    let (part, place) = (bits.div_ceil(8), words.ilog2() as usize - 1);
    let mut items = vec![tick(Kind::Input)];
    items.extend_from_slice(&module.items[..at]);
    items.push(text(format!(
        "    (* ram_style = \"block\", no_rw_check *) reg [{0}:0] mem [0:{1}];\n    \
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
         end",
        part - 1,
        words * 8 - 1,
        part * 8 - 1,
        part,
        part * 7 - 1,
    )));
    Some(items)
}

/// Returns a module with `count` lanes on `count / pace` units.
///
/// Lanes are cut into `pace` groups. Group g enters the units in cycle g of a step. Its results
/// leave `latency` cycles later and are due `latency` steps later.
///
/// Without late inputs, results wait in a memory, and one group per cycle is read in the step
/// before they are due. With late inputs, the other operands wait until the late ones arrive. The
/// result of the last group then leaves in the first cycle of the step in which it is due.
fn share_module(name: &str, unit: &Module, count: usize, lane: &Lane, pace: usize) -> String {
    let (units, latency) = (count / pace, lane.latency);
    let ports: Vec<&Net> = unit_ports(unit).collect();
    let names: Vec<&str> = ports.iter().map(|port| port.name.as_str()).collect();
    let phase_bits = pace.ilog2() as usize;
    let (last, place) = (pace - 1, STEP_BITS + phase_bits - 1);
    let places = 1usize << (place + 1);
    let mut text = format!("\nmodule {name}(tick,clock,{});\n", names.join(","));
    _ = writeln!(text, "    input wire  tick;\n    input wire  clock;");
    for Net { name, kind, bits } in &ports {
        let direction = if kind.is_output() { "output reg " } else { "input wire " };
        _ = writeln!(text, "    {direction} [{}:0] {name};", count * bits - 1);
    }
    // Entries are read one cycle before they are used.
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
    for Net { name, kind, bits } in &ports {
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
        match (kind.is_output(), lane.late.is_empty()) {
            (true, _) => {
                // Group `g` is available in cycle `g` (late inputs: `g + 1`).
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
        let pin = |Net { name, bits, .. }: &&Net| {
            format!("        .{name}({name}$now[{}:{}])", (index + 1) * bits - 1, index * bits)
        };
        let pins: Vec<String> = ports.iter().map(pin).collect();
        let unit = fast_name(&unit.name);
        _ = writeln!(text, "    {unit} unit${index}(\n        .clock(clock),\n{}\n    );", pins.join(",\n"));
    }
    text += "endmodule\n";
    text
}

fn with_phase(mut top: Module, pace: usize) -> Module {
    top.items[0] = tick(Kind::OutputWire);
    let counter = format!(
        "    reg  [{}:0] tick$phase;\n    initial tick$phase = 0;\n    \
         always @(posedge clock) tick$phase <= tick$phase + 1;\n    assign tick = &tick$phase;",
        pace.ilog2() - 1
    );
    top.items.insert(1, text(counter));
    top
}

fn fast_name(name: &str) -> String {
    name.replacen("top$", "top$fast$", 1)
}

fn collect<'a>(name: &'a str, by_name: &HashMap<&str, &'a Module>, found: &mut Vec<&'a str>) {
    if !found.contains(&name) {
        found.push(name);
        for child in by_name[name].instances() {
            collect(&child.module, by_name, found);
        }
    }
}

#[cfg(test)]
#[path = "fold_tests.rs"]
mod tests;
