//! Stream between the pipeline stages of the Hadamard engine, and its memory element.
//!
//! Each beat has a [`Tag`] that describes its block, which avoids queues between stages.
//! [`FlowDelay`] delays a beat and its tag: depth 1 is the register behind every stage, other
//! depths are the delay memories of butterflies across beats.
//! Lanes hold v as v + 2^31 ("excess 2^31"), unsigned, so that no operation needs a sign extension.
//! Latency: `depth` cycles. Throughput: one beat a cycle. No back-pressure or reset; powers up as
//! zeros (tag not valid).

use crate::hdl::prelude::*;
use crate::mem::ram::zeroed_memory;

/// From this depth on, distributed RAM would need more LUTs than a butterfly.
const BLOCK_RAM_MIN: usize = 64;

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct Tag {
    pub valid: bool,
    /// The block holds an infinity or a NaN.
    pub special: bool,
    /// All numbers of the beat have inverted signs.
    pub negated: bool,
    /// Parity of the beat's window, of the two in the engine.
    pub odd: bool,
    /// Scale of the block, as [`super::model::scale`].
    pub scale: W<9>,
    /// Received beats of the block.
    pub received: W<11>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Slot {
    beat: Beat,
    tag: Tag,
}

pub struct FlowDelay {
    pub clock: Signal<In, Clock>,
    pub tag: Signal<In, Tag>,
    pub lane: [Signal<In, W<32>>; 16],
    pub out_tag: Signal<Out, Tag>,
    pub out_beat: Signal<Out, Beat>,
    slots: Vec<Slot>,
    pointer: usize,
}

impl Default for FlowDelay {
    fn default() -> Self {
        FlowDelay::new(1)
    }
}

impl FlowDelay {
    /// # Panics
    /// If `depth` is not a power of two.
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

    pub fn out_changed(&self) -> bool {
        self.out_tag.changed || self.out_beat.changed
    }
}

impl Logic for FlowDelay {
    fn update(&mut self) {
        if self.clock.pos_edge() {
            // The oldest slot follows the newest; a single slot is both.
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
            // Block RAM is slow, so it is read a cycle earlier into a register.
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

    // As `engine::DFF`: inputs matter only at an edge, and still have their previous values then.
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

/// Like `evaluate_on_change!`, for stages that also contain [`FlowDelay`]s.
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
                <$block>::hdl(self) // the inherent function from hdl_gen
            }
        }
    };
}
pub(super) use evaluate_stage;
