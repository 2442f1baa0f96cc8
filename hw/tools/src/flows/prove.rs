//! Proves properties of the emitted Verilog for all inputs and all time, with yosys' SAT solver or
//! z3.
//!
//! `proofs/<name>.sv` is appended to the block's top module, so it can use ports and wires by name.
//! It states properties and assumptions. Two directives abstract sub-blocks:
//!
//! - `// cut: a b` lets the outputs of sub-blocks a and b have any value, which can only make a
//!   proof harder.
//! - `// one word: a` reduces memory a to one word at an arbitrary address. Other reads return any
//!   value.
//!
//! A solver proves the base case, from power-on, and the induction step. yosys' solver works on
//! bits. z3 works on words and is faster where wide data is only passed on.
//!
//! Every proof has mutants: edits of the Verilog that must be refuted by a counterexample. Edits
//! that do not match and unsatisfiable assumptions are errors, so that nothing passes vacuously.
//!
//! Limits: one clock.

use crate::flows::eda::{self, Job, Tool};
use crate::verilog::emit::{self, BLOCKS};
use optireduce_hw::cosim::module::{self, Item, Kind, Module};
use optireduce_hw::hdl::prelude::*;
use optireduce_hw::mem::block_fifo::BlockFifo;
use optireduce_hw::mem::fifo::Fifo;
use serde_json::json;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Solver {
    Sat,
    Z3,
}

pub struct Proof {
    /// Also the name of its file in `proofs`.
    pub name: &'static str,
    pub claim: &'static str,
    block: fn() -> String,
    checker: &'static str,
    solver: Solver,
    /// Cycles for which the induction step may assume the claim.
    steps: usize,
    /// Cycles from power-on within which a mutant must fail, and of z3's base case.
    cycles: usize,
    /// Text and replacement in the emitted Verilog, applied everywhere.
    mutants: &'static [(&'static str, &'static str)],
}

pub const PROOFS: &[Proof] = &[
    Proof {
        name: "reduce",
        claim: "no contribution is added twice; every beat taken is added or dropped once, unchanged",
        block: || emitted("reduce"),
        checker: include_str!("../../proofs/reduce.sv"),
        solver: Solver::Z3,
        steps: 1,
        cycles: 14,
        mutants: &[
            ("take_rx = rx_valid && ~rx_hazard", "take_rx = rx_valid"),
            ("duplicate = fresh && ", "duplicate = 1'b0 && "),
            ("busy$2$d = accept", "busy$2$d = busy$1$q"),
        ],
    },
    Proof {
        name: "stage_gates",
        claim: "a stage closes by its deadline whatever arrives, and stays closed",
        block: || emitted("stage_gates"),
        checker: include_str!("../../proofs/stage_gates.sv"),
        solver: Solver::Sat,
        steps: 4,
        cycles: 8,
        mutants: &[
            ("(is_complete || is_early || is_overdue)", "(is_complete || is_early || is_overdue && quiet)"),
            ("(count_with >= event_rules", "(count_with > event_rules"),
        ],
    },
    Proof {
        name: "rx_checksum",
        claim: "beats pass unchanged; a frame leaves marked if the MAC marks it or it is whole with a wrong sum, and only then",
        block: || emitted("rx_checksum"),
        checker: include_str!("../../proofs/rx_checksum.sv"),
        solver: Solver::Sat,
        steps: 2,
        cycles: 9,
        mutants: &[
            ("sum$done && sum$checked", "sum$done && sum$checked && sum$busy"),
            ("sum$total != 32'hffff", "sum$total == 32'h0"),
            ("line$3$d = line$2$q", "line$3$d = line$1$q"),
            ("line$0$d[(64'h203)+:(1)] = rx_partial", "line$0$d[(64'h203)+:(1)] = 1'b0"),
        ],
    },
    Proof {
        name: "rx_filter",
        claim: "all packets for this card pass, and no others; each other frame has one cause",
        block: || emitted("rx_filter"),
        checker: include_str!("../../proofs/rx_filter.sv"),
        solver: Solver::Sat,
        steps: 2,
        cycles: 8,
        mutants: &[
            ("folded$q != 32'hffff", "1'b0"),
            ("found$1$q[(64'h5)+:(1)] && (expected$q != source$1$q)", "(expected$q != source$1$q)"),
            ("found$5$d = found$4$q", "found$5$d = found$3$q"),
            ("total > longest", "total >= longest"),
        ],
    },
    Proof {
        name: "fifo",
        claim: "every word leaves once, unchanged and in order; flags and room are right",
        block: emit::of::<Fifo<W<8>, 2>>,
        checker: include_str!("../../proofs/fifo.sv"),
        solver: Solver::Sat,
        steps: 4,
        cycles: 7,
        mutants: &[("push && ~full", "push"), ("if (popped && ~pushed)", "if (popped)")],
    },
    Proof {
        name: "block_fifo",
        claim: "every word leaves a queue in block RAM once, unchanged and in order; flags and room are right",
        block: emit::of::<BlockFifo<W<8>, 2>>,
        checker: include_str!("../../proofs/block_fifo.sv"),
        solver: Solver::Sat,
        steps: 4,
        cycles: 7,
        mutants: &[("push && ~full", "push"), ("memory$read_address = head_then", "memory$read_address = head_next")],
    },
    Proof {
        name: "submission",
        claim: "no queue's submission index passes its doorbell; AXI read address rules",
        block: || emitted("submission"),
        checker: include_str!("../../proofs/submission.sv"),
        solver: Solver::Sat,
        steps: 4,
        cycles: 6,
        mutants: &[
            ("rings$2 = head$2$q != sq_tail$2", "rings$2 = 1'b1"),
            ("ar_valid = state$q == SubmitState$Ask", "ar_valid = state$q == SubmitState$Ask && scrub_busy"),
        ],
    },
    Proof {
        name: "finisher",
        claim: "no queue's completions overrun the host, or are announced before they are acknowledged",
        block: || emitted("finisher"),
        checker: include_str!("../../proofs/finisher.sv"),
        solver: Solver::Sat,
        steps: 4,
        cycles: 12,
        mutants: &[
            ("used$1 <= cq_mask$1", "used$1 <= cq_mask$1 + 1"),
            ("written = ack_queue", "written = ack_queue | 1"),
        ],
    },
    Proof {
        name: "dma_write",
        claim: "AXI write rules; no burst crosses 4 KiB; every burst is acknowledged to its owner",
        block: || emitted("dma_write"),
        checker: include_str!("../../proofs/dma_write.sv"),
        solver: Solver::Sat,
        steps: 4,
        cycles: 6,
        mutants: &[
            ("(~offer$q[(64'h0)+:(1)] || aw_ready) &&", ""),
            ("(idle || (taken && w_last))", "(idle || taken)"),
            ("owners$push_data = chosen[(64'h47)+:(9)]", "owners$push_data = order[(64'h47)+:(9)]"),
        ],
    },
    Proof {
        name: "contribute",
        claim: "AXI read address rules; no burst crosses 4 KiB; nothing is requested twice or without room",
        block: || emitted("contribute"),
        checker: include_str!("../../proofs/contribute.sv"),
        solver: Solver::Sat,
        steps: 4,
        cycles: 8,
        mutants: &[("until_page = ", "until_page = 1 + "), ("asks = ar_valid && ar_ready", "asks = ar_valid")],
    },
    Proof {
        name: "dma_read",
        claim: "AXI read address rules for both readers; data and errors reach the reader that asked",
        block: || emitted("dma_read"),
        checker: include_str!("../../proofs/dma_read.sv"),
        solver: Solver::Sat,
        steps: 4,
        cycles: 6,
        mutants: &[
            ("(~offer$q[(64'h0)+:(1)] || ar_ready) &&", ""),
            ("owners$push_data[(64'h0)+:(1)] = ~submit_valid", "owners$push_data[(64'h0)+:(1)] = contribute_valid"),
        ],
    },
    Proof {
        name: "in_beat",
        claim: "a butterfly equals 33-bit signed arithmetic",
        block: || emitted("hadamard_in_beat"),
        checker: include_str!("../../proofs/in_beat.sv"),
        solver: Solver::Sat,
        steps: 3,
        cycles: 4,
        mutants: &[("(b$0 ^ 64'h80000000) - a$0", "a$0 - (b$0 ^ 64'h80000000)")],
    },
    Proof {
        name: "in_beat_halving",
        claim: "a halving butterfly equals 33-bit signed arithmetic",
        block: || emitted("hadamard_in_beat_halving"),
        checker: include_str!("../../proofs/in_beat.sv"),
        solver: Solver::Sat,
        steps: 3,
        cycles: 4,
        mutants: &[("(b$7 & 32'h1)", "(a$7 & 32'h1)")],
    },
];

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Proved,
    /// There is a counterexample from power-on.
    Refuted,
    /// The claim holds for this many cycles from power-on. The induction step failed.
    HoldsTo(usize),
}

impl Proof {
    pub fn run(&self) -> Result<Outcome, String> {
        self.try_on(self.name, &(self.block)(), true)
    }

    /// Tries the base case on a mutant, whose text must be in the emitted Verilog.
    pub fn run_mutant(&self, index: usize) -> Result<Outcome, String> {
        self.try_on(&format!("{}-mutant{index}", self.name), &self.mutated(index)?, false)
    }

    fn mutated(&self, index: usize) -> Result<String, String> {
        let (text, instead) = self.mutants[index];
        let verilog = (self.block)();
        if !verilog.contains(text) {
            let name = self.name;
            return Err(format!("{name}: mutant `{text}` is not in the emitted Verilog; update the text in prove.rs"));
        }
        Ok(verilog.replace(text, instead))
    }

    fn try_on(&self, name: &str, verilog: &str, with_induction: bool) -> Result<Outcome, String> {
        let text = self.with_checker(verilog)?;
        let prepare = "read_verilog -formal -sv -defer block.sv; hierarchy -check -top top; proc; memory_map; flatten; \
                       prep -top top -flatten -nordff; check -assert; async2sync; chformal -lower; dffunmap; opt -full; \
                       opt_clean -purge; select -assert-min 1 t:$assert";
        match self.solver {
            Solver::Sat => self.by_sat(name, &text, prepare, with_induction),
            Solver::Z3 => self.by_z3(name, &text, prepare, with_induction),
        }
    }

    fn by_sat(&self, name: &str, text: &str, prepare: &str, with_induction: bool) -> Result<Outcome, String> {
        let search = match with_induction {
            true => format!("-tempinduct -maxsteps {}", self.steps),
            false => format!("-tempinduct-baseonly -maxsteps {}", self.cycles),
        };
        let script = format!(
            "{prepare}; sat -verify -prove-asserts -set-assumes {search} -show-ports -dump_vcd counterexample.vcd"
        );
        let mut job = Job::new(name, "proof", &[("block.sv", text)], &script, &[Tool::Yosys])?;
        if !job.is_done() {
            let failed = job.yosys(&script).err();
            let log = job.read("yosys.log")?;
            if let Some(error) = failed.filter(|_| !log.contains("Called with -verify and proof did fail!")) {
                return Err(error);
            }
            job = job.keep()?;
        }
        outcome_of_sat(name, &job.read("yosys.log")?)
    }

    fn by_z3(&self, name: &str, text: &str, prepare: &str, with_induction: bool) -> Result<Outcome, String> {
        let script = format!("{prepare}; dffunmap; write_smt2 -wires block.smt2");
        let recipe = format!("{script} {} {} {with_induction}", self.cycles, self.steps);
        let tools = [Tool::Yosys, Tool::Smtbmc, Tool::Z3];
        let mut job = Job::new(name, "proof", &[("block.sv", text)], &recipe, &tools)?;
        if !job.is_done() {
            job.yosys(&script)?;
            smtbmc(&job, "base", self.cycles.max(self.steps + 1), &[])?;
            if with_induction {
                smtbmc(&job, "induction", self.steps, &["-i"])?;
            }
            job = job.keep()?;
        }
        let passed = |part: &str| job.read(&format!("{part}.log")).map(|log| log.contains("Status: PASSED"));
        Ok(match (passed("base")?, with_induction && passed("induction")?) {
            (true, true) => Outcome::Proved,
            (true, false) => Outcome::HoldsTo(self.cycles),
            (false, _) => Outcome::Refuted,
        })
    }

    /// Adds the checker to the top module, and follows its directives.
    fn with_checker(&self, verilog: &str) -> Result<String, String> {
        let listed = |key: &str| -> Vec<String> {
            let lines = self.checker.lines().filter_map(|line| line.strip_prefix(key));
            lines.flat_map(str::split_whitespace).map(|name| format!("top${name}")).collect()
        };
        let (cut, words) = (listed("// cut: "), listed("// one word: "));
        let mut modules = module::parse(verilog).map_err(|error| format!("{}: {error}", self.name))?;
        let mut found = 0;
        for module in &mut modules {
            if cut.contains(&module.name) {
                found += 1;
                returning_anything(module);
            } else if words.contains(&module.name) {
                found += 1;
                module.items.retain(is_port);
                module.items.push(Item::Text(ONE_WORD.into()));
            } else if module.name == "top" {
                module.items.push(Item::Text(self.checker.into()));
            }
        }
        match found == cut.len() + words.len() {
            true => Ok(module::print(&modules)),
            false => Err(format!("{}: found {found} of the sub-blocks {cut:?} and {words:?}", self.name)),
        }
    }
}

fn is_port(item: &Item) -> bool {
    matches!(item, Item::Net(net) if net.kind.is_port())
}

/// Reduces a module to its ports and lets its outputs have any value.
fn returning_anything(module: &mut Module) {
    module.items.retain(is_port);
    let mut free = Vec::new();
    for item in &mut module.items {
        let Item::Net(port) = item else { continue };
        if port.kind.is_output() {
            port.kind = Kind::OutputWire;
            let (name, last) = (&port.name, port.bits - 1);
            free.push(Item::Text(format!("(* anyseq *) wire [{last}:0] {name}$any;\nassign {name} = {name}$any;")));
        }
    }
    module.items.extend(free);
}

fn outcome_of_sat(name: &str, log: &str) -> Result<Outcome, String> {
    if log.contains("Induction step proven: SUCCESS!") {
        return Ok(Outcome::Proved);
    }
    if log.contains("model found for base case: FAIL!") {
        return Ok(Outcome::Refuted);
    }
    match log.matches("[base case ").count() {
        0 => Err(format!(
            "{name}: yosys succeeded without trying anything, expected at least one base case in its log.\nIs the `yosys` that was found (`yosys -V`) another program?"
        )),
        depth => Ok(Outcome::HoldsTo(depth)),
    }
}

/// Runs yosys-smtbmc for `cycles`. A failed proof is not an error.
fn smtbmc(job: &Job, part: &str, cycles: usize, options: &[&str]) -> Result<(), String> {
    let (log, trace, cycles) = (format!("{part}.log"), format!("{part}.vcd"), cycles.to_string());
    let fixed = ["-s", "z3", "--presat", "--noprogress", "--dump-vcd", &trace, "-t", &cycles];
    let done = job.succeed(Tool::Smtbmc, &[&fixed, options, &["block.smt2"]].concat(), &log);
    match done {
        Err(error) if !job.read(&log)?.contains("Status: FAILED") => Err(error),
        _ => Ok(()),
    }
}

const ONE_WORD: &str = "
(* anyconst *) wire [$bits(read_address)-1:0] watched;
(* anyseq *) wire [$bits(read_data)-1:0] anything;
reg [$bits(read_data)-1:0] word = 0, read = 0;
always @(posedge clock) begin
    read <= read_address == watched ? word : anything;
    if (write_enable && write_address == watched) word <= write_data;
end
always @(*) read_data = read;
";

fn emitted(name: &str) -> String {
    BLOCKS.iter().find(|block| block.name == name).map(|block| block.verilog()).unwrap_or_default()
}

/// Tries all proofs and mutants. Returns whether all proofs hold and all mutants are refuted.
pub fn run(proofs: &[&Proof], json: bool) -> Result<bool, String> {
    eda::demand(&[Tool::Yosys])?;
    if proofs.iter().any(|proof| proof.solver == Solver::Z3) {
        eda::demand(&[Tool::Smtbmc, Tool::Z3])?;
    }
    let done = AtomicUsize::new(0);
    let results = eda::in_parallel(proofs, |proof| {
        let start = Instant::now();
        let outcome = proof.run()?;
        let mutants = (0..proof.mutants.len()).map(|index| proof.run_mutant(index)).collect::<Result<Vec<_>, _>>()?;
        let (done, seconds) = (1 + done.fetch_add(1, Ordering::Relaxed), start.elapsed().as_secs_f64());
        eda::progress(&format!("{done} of {}: {}, {seconds:.0} s", proofs.len(), proof.name));
        Ok::<_, String>((outcome, mutants, start.elapsed().as_secs_f64()))
    });
    let mut holds = true;
    let (mut out, mut list, mut errors) = (String::new(), Vec::new(), Vec::new());
    for (proof, result) in proofs.iter().zip(results) {
        let (outcome, mutants, seconds) = match result {
            Ok(result) => result,
            Err(error) => {
                errors.push(error);
                continue;
            }
        };
        let caught = mutants.iter().filter(|mutant| **mutant == Outcome::Refuted).count();
        holds &= outcome == Outcome::Proved && caught == mutants.len();
        let shown = match outcome {
            Outcome::Proved => "proved".to_owned(),
            Outcome::Refuted => "DOES NOT HOLD".to_owned(),
            Outcome::HoldsTo(depth) => format!("holds to depth {depth}"),
        };
        let (name, claim, all) = (proof.name, proof.claim, mutants.len());
        out += &format!("{name:<16}{shown:<20}{caught} of {all} mutants refuted {seconds:>6.1} s  {claim}\n");
        list.push(json!({"name": name, "claim": claim, "outcome": shown, "mutants": all, "mutants_refuted": caught,
            "elapsed_s": seconds}));
    }
    eda::print(&if json { json!({"proofs": list}).to_string() + "\n" } else { out })?;
    errors.dedup();
    if errors.is_empty() { Ok(holds) } else { Err(errors.join("\n")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flows::passed;

    #[test]
    fn every_claim_is_proved_and_every_mutant_refuted() {
        let cases: Vec<(&Proof, Option<usize>)> = PROOFS
            .iter()
            .flat_map(|proof| {
                [None].into_iter().chain((0..proof.mutants.len()).map(Some)).map(move |case| (proof, case))
            })
            .collect();
        let results = eda::in_parallel(&cases, |(proof, mutant)| {
            let verilog = mutant.map_or_else(|| Ok((proof.block)()), |index| proof.mutated(index))?;
            let input = [&proof.with_checker(&verilog)?, include_str!("prove.rs")];
            let name =
                format!("proof/{}{}", proof.name, mutant.map_or(String::new(), |index| format!("-mutant{index}")));
            passed::once(&name, &input, || {
                let (found, expected) = match mutant {
                    None => (proof.run()?, Outcome::Proved),
                    Some(index) => (proof.run_mutant(*index)?, Outcome::Refuted),
                };
                if found == expected { Ok(()) } else { Err(format!("{name}: found {found:?}, expected {expected:?}")) }
            })
        });
        let wrong: Vec<String> = results.into_iter().filter_map(Result::err).collect();
        assert!(wrong.is_empty() && PROOFS.iter().all(|proof| !proof.mutants.is_empty()), "{}", wrong.join("\n"));
    }

    #[test]
    fn a_mutant_or_a_cut_that_no_longer_matches_is_an_error() {
        let proof = |checker, mutants| Proof { name: "test_stale", checker, mutants, ..fifo() };
        let stale = proof("", &[("no such text", "")]).run_mutant(0).expect_err("the text is not there");
        assert!(stale.contains("no such text"), "{stale}");
        let stale = proof("// cut: no_such_block\n", &[]).run().expect_err("the block is not there");
        assert!(stale.contains("no_such_block"), "{stale}");
        let stale = proof("always @(*) assert (no_such_wire);", &[]).run().expect_err("the wire is not there");
        assert!(stale.contains("yosys.log"), "{stale}");
        let empty = proof("// nothing\n", &[]).run().expect_err("nothing is asserted");
        assert!(empty.contains("nothing was asserted") || empty.contains("yosys.log"), "{empty}");
    }

    #[test]
    fn a_tool_that_does_nothing_has_proved_nothing() {
        let error = outcome_of_sat("fifo", "Yosys 1.2\n").expect_err("nothing was tried");
        assert!(error.starts_with("fifo: yosys succeeded without trying anything"), "{error}");
        assert_eq!(outcome_of_sat("fifo", "[base case 1] ..\n[base case 2] ..\n"), Ok(Outcome::HoldsTo(2)));
    }

    #[test]
    fn a_claim_that_needs_longer_than_allowed_is_not_called_proved() {
        let checker =
            "reg [7:0] n = 0;\nalways @(posedge clock) n <= n == 200 ? 0 : n + 1;\nalways @(*) assert (n != 220);\n";
        let proof = Proof { name: "test_long", checker, steps: 3, mutants: &[], ..fifo() };
        assert_eq!(proof.run(), Ok(Outcome::HoldsTo(3)));
    }

    fn fifo() -> Proof {
        let proof = PROOFS.iter().find(|proof| proof.name == "fifo").expect("it is in the table");
        Proof { mutants: &[], ..*proof }
    }
}
