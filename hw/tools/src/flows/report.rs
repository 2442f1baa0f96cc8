//! Resources and clock frequency of blocks, by open tools.
//!
//! Resources: yosys `synth_xilinx -family xcup` (UltraScale+). Modules of at least 60 lines with
//! several instances are synthesised once and counted per instance, which saves time and can only
//! increase a figure. All others are flattened.
//!
//! - LUT1 to LUT6 and INV count as one LUT each. Vivado pairs small LUTs, so its figure is lower.
//! - A LUT used as memory or shift register counts as the LUTs of its primitive in a SLICEM.
//! - A RAMB18 is half a block RAM.
//!
//! Speed: yosys `synth_ecp5` and nextpnr-ecp5 for an LFE5U-85F of speed grade 8, out of context,
//! with registers before and after the block. Paths between blocks are not timed. Blocks of more
//! than 12 000 LUT or 96 block RAMs are not placed, except `reduce` and `gather` with memories for
//! windows of 8 KiB.
//!
//! Limits: yosys is not Vivado, and ECP5 (40 nm) is not UltraScale+ (16 nm). Use the figures to
//! compare blocks and changes.

use crate::flows::eda::{self, Job, Tool};
use crate::verilog::emit::Emittable;
use optireduce_hw::cosim::module::{self, Module};
use optireduce_hw::cosim::share;
use serde_json::{Value, json};
use std::fmt::{self, Write as _};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

pub const GOAL_LUTS: u64 = 60_000;
pub const GOAL_MHZ: f64 = 125.0;
const CARD: &str = "checked_nic";
/// Smaller modules are flattened.
const KEPT_LINES: usize = 60;

/// Cost of a cell: LUTs as logic, LUTs as memory, registers, half block RAMs, DSPs, UltraRAMs.
type Cost = [u64; 6];
const FREE: Cost = [0; 6];
const LOGIC: Cost = [1, 0, 0, 0, 0, 0];
const REGISTER: Cost = [0, 0, 1, 0, 0, 0];
const fn memory(luts: u64) -> Cost {
    [0, luts, 0, 0, 0, 0]
}

/// Cells of UltraScale+. Carry chains, wide multiplexers and clock buffers are part of the slices.
const COSTS: &[(&[&str], Cost)] = &[
    (&["LUT1", "LUT2", "LUT3", "LUT4", "LUT5", "LUT6", "INV"], LOGIC),
    (&["FDRE", "FDSE", "FDCE", "FDPE"], REGISTER),
    (&["RAM32X1S", "RAM64X1S", "SRL16E", "SRLC16E", "SRLC32E"], memory(1)),
    (&["RAM128X1S", "RAM32X1D", "RAM64X1D"], memory(2)),
    (&["RAM256X1S", "RAM128X1D", "RAM32M", "RAM64M"], memory(4)),
    (&["RAM512X1S", "RAM256X1D", "RAM32M16", "RAM64M8", "RAM64X8SW", "RAM32X16DR8"], memory(8)),
    (&["RAMB18E2"], [0, 0, 0, 1, 0, 0]),
    (&["RAMB36E2"], [0, 0, 0, 2, 0, 0]),
    (&["DSP48E2"], [0, 0, 0, 0, 1, 0]),
    (&["URAM288"], [0, 0, 0, 0, 0, 1]),
    (&["CARRY4", "CARRY8", "MUXF7", "MUXF8", "MUXF9", "BUFG", "$scopeinfo"], FREE),
];

#[derive(Clone, Debug, PartialEq)]
pub struct Figures {
    pub block: String,
    cost: Cost,
    /// Clock frequency on ECP5 in MHz, if requested.
    pub fmax_mhz: Option<f64>,
}

impl Figures {
    pub fn luts(&self) -> u64 {
        self.cost[0] + self.cost[1]
    }

    /// Returns whether the ECP5, with 104 block RAMs of 36 Kb, can place the block in minutes.
    pub fn is_leaf(&self) -> bool {
        self.luts() <= 12_000 && self.cost[3] <= 2 * 96
    }

    pub fn missed(&self) -> Vec<String> {
        let mut missed = Vec::new();
        if self.block == CARD && self.luts() >= GOAL_LUTS {
            missed.push(format!("{}: {} LUT, the goal is fewer than {GOAL_LUTS}", self.block, self.luts()));
        }
        if let Some(mhz) = self.fmax_mhz.filter(|&mhz| mhz < GOAL_MHZ) {
            missed.push(format!("{}: {mhz:.1} MHz, the goal is {GOAL_MHZ} MHz", self.block));
        }
        missed
    }

    pub fn json(&self) -> Value {
        let [lut_logic, lut_memory, ff, ramb18, dsp, uram] = self.cost;
        json!({
            "block": self.block, "lut": self.luts(), "lut_logic": lut_logic, "lut_memory": lut_memory, "ff": ff,
            "bram36": ramb18 as f64 / 2.0, "dsp": dsp, "uram": uram, "ecp5_fmax_mhz": self.fmax_mhz,
        })
    }

    pub const HEADER: &str = "block             LUT   logic  memory      FF  BRAM36   DSP  ECP5 MHz";
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [logic, memory, ff, ramb18, dsp, _] = self.cost;
        let (luts, bram) = (self.luts(), ramb18 as f64 / 2.0);
        let mhz = self.fmax_mhz.map_or("-".to_owned(), |mhz| format!("{mhz:.1}"));
        write!(f, "{:<14}{luts:>7}{logic:>8}{memory:>8}{ff:>8}{bram:>8}{dsp:>6}{mhz:>10}", self.block)
    }
}

/// Counts the cells of `verilog` (top module `top`) on UltraScale+.
///
/// # Errors
/// Also for a cell that is not in the table.
pub fn resources(block: &str, verilog: &str) -> Result<Figures, String> {
    const SCRIPT: &str = "read_verilog -sv block.v; synth_xilinx -family xcup -noiopad -flatten -top top; \
                          tee -q -o stat.json stat -json";
    let mut modules = parsed(block, verilog)?;
    let is_shared: Vec<bool> = modules.iter().map(|module| share::uses(&modules, &module.name) > 1).collect();
    for (module, is_shared) in modules.iter_mut().zip(is_shared) {
        module.kept = is_shared && module.body().lines().count() >= KEPT_LINES || is_deep_lut_ram(module);
    }
    let mut job = Job::new(block, "xcup", &[("block.v", &module::print(&modules))], SCRIPT, &[Tool::Yosys])?;
    if !job.is_done() {
        job.yosys(SCRIPT)?;
        job = job.keep()?;
    }
    let names = modules.iter().map(|module| module.name.as_str()).collect::<Vec<_>>();
    let cost = count(&job.read("stat.json")?, &names).map_err(|error| format!("{block}: {error}"))?;
    Ok(Figures { block: block.to_owned(), cost, fmax_mhz: None })
}

fn parsed(block: &str, verilog: &str) -> Result<Vec<Module>, String> {
    module::parse(verilog).map_err(|error| format!("{block}: {error}"))
}

/// Returns whether a module is a distributed memory of more than 256 words, which yosys 0.70 maps
/// only after flattening if both ports have the same address.
fn is_deep_lut_ram(module: &Module) -> bool {
    module.memory().is_some_and(|memory| memory.is_style("distributed") && memory.words > 256)
}

fn count(stat: &str, modules: &[&str]) -> Result<Cost, String> {
    let stat: Value = serde_json::from_str(stat).map_err(|error| format!("stat.json: {error}"))?;
    let cells = stat["design"]["num_cells_by_type"].as_object().ok_or("stat.json: no design.num_cells_by_type")?;
    let mut sum = FREE;
    for (cell, number) in cells {
        if modules.contains(&cell.as_str()) {
            continue; // an instance of a kept module, whose cells are counted too
        }
        let known = COSTS.iter().find(|(names, _)| names.contains(&cell.as_str()));
        let (_, cost) = known.ok_or_else(|| format!("yosys made a {cell}, and report.rs does not know its cost"))?;
        let number = number.as_u64().ok_or_else(|| format!("stat.json: {cell}: found {number}, expected a number"))?;
        for (sum, cost) in sum.iter_mut().zip(cost) {
            *sum += cost * number;
        }
    }
    Ok(sum)
}

/// Places and routes `verilog` (top module `top`, port `clock`) on ECP5.
pub fn fmax_mhz(block: &str, verilog: &str) -> Result<f64, String> {
    const SCRIPT: &str = "read_verilog -sv block.v; synth_ecp5 -top edges -json block.json";
    const PLACE: &[&str] = &[
        "--85k",
        "--speed",
        "8",
        "--package",
        "CABGA756",
        "--out-of-context",
        "--freq",
        "125",
        "--timing-allow-fail",
        "--seed",
        "1",
        "--json",
        "block.json",
        "--report",
        "report.json",
    ];
    let modules = parsed(block, verilog)?;
    let top = modules.last().filter(|module| module.name == "top").ok_or_else(|| format!("{block}: no module top"))?;
    let text = module::print(&modules) + &edges(top);
    let recipe = format!("{SCRIPT}{PLACE:?}");
    let mut job = Job::new(block, "ecp5", &[("block.v", &text)], &recipe, &[Tool::Yosys, Tool::Nextpnr])?;
    if !job.is_done() {
        job.yosys(SCRIPT)?;
        job.succeed(Tool::Nextpnr, PLACE, "nextpnr.log")?;
        job = job.keep()?;
    }
    let report: Value =
        serde_json::from_str(&job.read("report.json")?).map_err(|error| format!("{block}: report.json: {error}"))?;
    let clocks = report["fmax"].as_object().into_iter().flatten();
    let achieved = clocks.filter_map(|(_, clock)| clock["achieved"].as_f64()).reduce(f64::min);
    achieved.ok_or_else(|| format!("{block}: nextpnr reports no clock, see {}", job.path("nextpnr.log").display()))
}

/// Returns a module `edges` with registers around `top`.
fn edges(top: &Module) -> String {
    let (mut ports, mut declared, mut pins, mut clocked) = (vec!["clock"], String::new(), String::new(), String::new());
    for port in top.ports().filter(|port| port.name != "clock") {
        let name = port.name.as_str();
        let range = if port.bits == 1 { String::new() } else { format!("[{}:0]", port.bits - 1) };
        ports.push(name);
        if port.kind.is_output() {
            declared += &format!("  output reg {range} {name};\n  wire {range} edge${name};\n");
            clocked += &format!("    {name} <= edge${name};\n");
        } else {
            declared += &format!("  input wire {range} {name};\n  reg {range} edge${name};\n");
            clocked += &format!("    edge${name} <= {name};\n");
        }
        pins += &format!(", .{name}(edge${name})");
    }
    format!(
        "\nmodule edges({});\n  input wire clock;\n{declared}  top block(.clock(clock){pins});\n  \
         always @(posedge clock) begin\n{clocked}  end\nendmodule\n",
        ports.join(", ")
    )
}

/// Prints the figures of `blocks`, with the frequencies of leaves if `fmax`. Returns whether no
/// goal is missed. An error is reported after all blocks have been tried.
pub fn run(blocks: &[&Emittable], fmax: bool, json: bool) -> Result<bool, String> {
    eda::demand(if fmax { &[Tool::Yosys, Tool::Nextpnr] } else { &[Tool::Yosys] })?;
    let done = AtomicUsize::new(0);
    // Longest first, so that no thread starts it last.
    let mut order: Vec<&Emittable> = blocks.to_vec();
    order.reverse();
    let mut figures = eda::in_parallel(&order, |block| {
        let start = Instant::now();
        let verilog = block.verilog();
        let mut figures = resources(block.name, &verilog)?;
        if fmax && let Some(small) = block.small() {
            figures.fmax_mhz = Some(fmax_mhz(block.name, &small.verilog())?);
        } else if fmax && figures.is_leaf() {
            figures.fmax_mhz = Some(fmax_mhz(block.name, &verilog)?);
        }
        let (done, seconds) = (1 + done.fetch_add(1, Ordering::Relaxed), start.elapsed().as_secs_f64());
        eda::progress(&format!("{done} of {}: {}, {seconds:.0} s", blocks.len(), block.name));
        Ok::<_, String>(figures)
    });
    figures.reverse();
    let mut errors: Vec<String> = figures.iter().filter_map(|figures| figures.as_ref().err().cloned()).collect();
    let figures: Vec<Figures> = figures.into_iter().flatten().collect();
    let missed: Vec<String> = figures.iter().flat_map(Figures::missed).collect();
    let mut out = String::new();
    if json {
        let blocks: Vec<Value> = figures.iter().map(Figures::json).collect();
        let goals = json!({"card_lut_below": GOAL_LUTS, "ecp5_fmax_mhz_min": GOAL_MHZ, "missed": missed});
        out = json!({"yosys": Tool::Yosys.version()?, "goals": goals, "blocks": blocks}).to_string() + "\n";
    } else {
        _ = writeln!(out, "{}", Figures::HEADER);
        for figures in &figures {
            _ = writeln!(out, "{figures}");
        }
        _ = writeln!(out, "goals: {CARD} fewer than {GOAL_LUTS} LUT; every leaf block at least {GOAL_MHZ} MHz");
        for missed in &missed {
            _ = writeln!(out, "missed: {missed}");
        }
    }
    eda::print(&out)?;
    errors.dedup();
    if errors.is_empty() { Ok(missed.is_empty()) } else { Err(errors.join("\n")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_counted_by_the_table_and_unknown_ones_refused() {
        let stat = |cells: &str| format!("{{\"design\": {{\"num_cells_by_type\": {{{cells}}}}}}}");
        let cells =
            r#""LUT2": 3, "LUT6": 2, "RAM32M16": 5, "FDRE": 7, "RAMB18E2": 3, "DSP48E2": 1, "CARRY4": 9, "top$a": 4"#;
        assert_eq!(count(&stat(cells), &["top$a"]), Ok([5, 40, 7, 3, 1, 0]));
        let error = count(&stat(cells), &[]).expect_err("a module that is nowhere defined");
        assert!(error.contains("top$a"), "{error}");
        assert!(count("{}", &[]).is_err());
    }

    #[test]
    fn a_missed_goal_is_named_with_found_and_expected() {
        let card = |luts| Figures { block: CARD.into(), cost: [luts, 1, 0, 0, 0, 0], fmax_mhz: Some(124.9) };
        assert_eq!(card(GOAL_LUTS - 2).missed().len(), 1);
        let missed = card(GOAL_LUTS - 1).missed();
        assert!(missed[0].contains("60000 LUT") && missed[1].contains("124.9 MHz"), "{missed:?}");
    }

    /// 8-bit counter with an adder.
    const COUNTER: &str = "
module top(clock,a,sum);
    input wire  clock;
    input wire  [7:0] a;
    output reg  [7:0] sum;
    reg [7:0] total;
    initial total = 0;
    always @(posedge clock) total <= total + a;
    always @(*) sum = total;
endmodule // top
";

    #[test]
    fn yosys_and_nextpnr_give_figures_that_a_hand_count_confirms() {
        let figures = resources("test_counter", COUNTER).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(figures.cost, [8, 0, 8, 0, 0, 0], "eight LUT2 before a carry chain, eight registers");
        let mhz = fmax_mhz("test_counter", COUNTER).unwrap_or_else(|error| panic!("{error}"));
        assert!((100.0..1000.0).contains(&mhz), "{mhz}");
    }

    #[test]
    fn a_failing_tool_is_reported_with_the_block_and_the_log() {
        let error =
            resources("test_broken", &COUNTER.replace("total + a", "nowhere(a)")).expect_err("no such function");
        assert!(error.contains("test_broken") && error.contains("yosys.log"), "{error}");
    }
}
