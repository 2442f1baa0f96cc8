//! The stream between the pipeline stages of the Hadamard engine, and its one memory element.
//!
//! What: [`Tag`] says what a beat belongs to; [`FlowDelay`] delays a beat and its tag by a fixed number of cycles.
//! Why: with depth 1 it is the register behind every stage, with depth 2, 4, ... the delay memory of a butterfly
//! across beats: distributed RAM, from depth 64 on block RAM. Every beat carries what is known of its block, so no queue is
//! needed whose size would have to be justified.
//! Latency: `depth` cycles; one beat a cycle; no back-pressure; power-on state all zero (tag not valid), no reset.
//! Lanes inside the engine hold "excess 2^31" numbers: the value v as v + 2^31, unsigned, so that no operation needs
//! a sign extension.

use crate::hdl::prelude::*;
use crate::mem::ram::zeroed_memory;

/// Delays from this depth on are block RAM: a distributed one would cost more LUTs than a butterfly.
const BLOCK_RAM_MIN: usize = 64;

/// What is known of the block that a beat belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct Tag {
    /// The beat is valid.
    pub valid: bool,
    /// The block holds an infinity or a NaN.
    pub special: bool,
    /// All numbers of the beat are the negatives of what they should be.
    pub negated: bool,
    /// Which of the two windows in the engine it belongs to.
    pub odd: bool,
    /// The block's scale, as `model::scale`.
    pub scale: W<9>,
    /// Beats of the block that were received, not lost.
    pub received: W<11>,
}

/// What a delay memory holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Slot {
    beat: Beat,
    tag: Tag,
}

/// A delay of `depth` cycles for 16 lanes and their tag.
pub struct FlowDelay {
    /// The clock.
    pub clock: Signal<In, Clock>,
    /// Tag of the beat that enters.
    pub tag: Signal<In, Tag>,
    /// Lanes of the beat that enters.
    pub lane: [Signal<In, W<32>>; 16],
    /// Tag of the beat that entered `depth` cycles ago.
    pub out_tag: Signal<Out, Tag>,
    /// The beat that entered `depth` cycles ago, lane 0 in the low bits.
    pub out_beat: Signal<Out, Beat>,
    slots: Vec<Slot>,
    pointer: usize,
}

impl Default for FlowDelay {
    /// A pipeline register: one cycle.
    fn default() -> Self {
        FlowDelay::new(1)
    }
}

impl FlowDelay {
    /// A delay of `depth` cycles.
    ///
    /// # Panics
    /// When `depth` is not a power of two: a design error.
    pub fn new(depth: usize) -> Self {
        assert!(depth.is_power_of_two(), "a delay of {depth} cycles");
        FlowDelay {
            clock: Default::default(),
            tag: Default::default(),
            lane: Default::default(),
            out_tag: Default::default(),
            out_beat: Default::default(),
            slots: vec![Default::default(); depth],
            pointer: 0,
        }
    }

    /// Whether what comes out changed in the simulation's last pass.
    pub fn out_changed(&self) -> bool {
        self.out_tag.changed || self.out_beat.changed
    }
}

impl Logic for FlowDelay {
    fn update(&mut self) {
        if self.clock.pos_edge() {
            // The oldest slot is the one after the newest; with one slot they are the same.
            let beat = Beat(std::array::from_fn(|i| self.lane[i].next.raw() as u32));
            self.slots[self.pointer] = Slot { beat, tag: self.tag.next };
            self.pointer = (self.pointer + 1) & (self.slots.len() - 1);
            let oldest = self.slots[self.pointer];
            (self.out_tag.next, self.out_beat.next) = (oldest.tag, oldest.beat);
        }
    }

    fn connect(&mut self) {
        self.out_tag.connect();
        self.out_beat.connect();
    }

    fn hdl(&self) -> Verilog {
        let lanes: Vec<_> = (0..16).rev().map(|i| format!("lane${i}")).collect();
        let (depth, lanes) = (self.slots.len(), lanes.join(", "));
        Verilog::Custom(if depth == 1 {
            format!(
                "initial begin\n   out_tag = 0;\n   out_beat = 0;\nend\n\n\
                 always @(posedge clock) begin\n   out_tag <= tag;\n   out_beat <= {{{lanes}}};\nend\n"
            )
        } else {
            // Block RAM is slow to answer: it is read a cycle earlier, and a register follows.
            let (style, ahead, read) = match depth < BLOCK_RAM_MIN {
                true => ("distributed", 1, "mem[oldest]"),
                false => ("block", 2, "word;\n   word <= mem[oldest]"),
            };
            let word =
                if depth < BLOCK_RAM_MIN { String::new() } else { format!("reg [{}:0] word;\n", Slot::BITS - 1) };
            let zero = if depth < BLOCK_RAM_MIN { "" } else { "   word = 0;\n" };
            format!(
                "{memory}\nreg [{top}:0] pointer;\nwire [{top}:0] oldest = pointer + {ahead};\n{word}\n\
                 initial begin\n   pointer = 0;\n   out_tag = 0;\n   out_beat = 0;\n{zero}end\n\n\
                 always @(posedge clock) begin\n   mem[pointer] <= {{tag, {lanes}}};\n   \
                 {{out_tag, out_beat}} <= {read};\n   pointer <= pointer + 1'b1;\nend\n",
                memory = zeroed_memory::<Slot>(style, depth.ilog2()),
                top = depth.ilog2() - 1,
            )
        })
    }
}

impl Block for FlowDelay {
    fn connect_all(&mut self) {
        self.connect();
    }

    // As `engine::DFF`: the inputs matter at an edge only, and are then still those of the cycle before.
    fn update_all(&mut self) {
        let edge = self.clock.pos_edge();
        if edge {
            self.update();
        }
        if edge || self.out_changed() {
            self.out_tag.update_all();
            self.out_beat.update_all();
        }
        self.clock.update_all();
    }

    fn has_changed(&self) -> bool {
        self.out_changed() || self.clock.changed
    }

    fn accept(&self, name: &str, probe: &mut dyn Probe) {
        probe.visit_start_scope(name, self);
        self.clock.accept("clock", probe);
        self.tag.accept("tag", probe);
        self.lane.accept("lane", probe);
        self.out_tag.accept("out_tag", probe);
        self.out_beat.accept("out_beat", probe);
        probe.visit_end_scope(name, self);
    }
}

/// Implements `Logic` for a stage whose kernel is an inherent `#[hdl_gen] fn evaluate(&mut self)`, and runs it only
/// after an input or a register has changed: `evaluate_on_change!` for stages made of [`FlowDelay`] too. All inputs
/// and all sub-blocks must be listed; the stage needs a field `_evaluated: bool`.
macro_rules! evaluate_stage {
    ($block:ty, inputs: $($input:ident),+; delays: $($delay:ident),+; registers: $($register:ident),*) => {
        impl Logic for $block {
            fn update(&mut self) {
                let changed = $(self.$input.changed)||+
                    $(|| self.$delay.out_changed())+
                    $(|| self.$register.q.changed)*;
                if changed || !self._evaluated {
                    self._evaluated = true;
                    self.evaluate();
                } else {
                    $(self.$delay.clock.next = self.clock.val();)+
                    $(self.$register.clock.next = self.clock.val();)*
                }
            }

            fn hdl(&self) -> Verilog {
                <$block>::hdl(self) // the inherent one, made by hdl_gen
            }
        }
    };
}
pub(super) use evaluate_stage;
