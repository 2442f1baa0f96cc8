//! The butterfly stages of an engine in sequence: wiring only.
//!
//! A separate block, because the number of stages is chosen at construction and the kernel language
//! lacks loops of variable length. A reduced card replaces it by
//! [`value_by_value`](super::value_by_value) (`fold` of `optireduce-hdl`).
//! Tap 0 follows four stages across beats (n = 256), tap 1 six, tap 2 eight, tap 3 ten (n = 16384).
//! A tap beyond the last stage is never valid.

use super::across::Across;
use super::flow::Tag;
use super::in_beat::InBeat;
use crate::hdl::prelude::*;

/// Four stages inside the beat, then stages of distance 1, 2, 4, ... beats with taps.
#[derive(LogicBlock)]
pub struct Butterflies {
    pub clock: Signal<In, Clock>,
    /// Beats of a block minus one. Bit k enables stage k across beats.
    pub last: Signal<In, W<10>>,
    pub tag: Signal<In, Tag>,
    pub beat: Signal<In, Beat>,
    in_beat: Vec<InBeat>,
    across: Vec<Across>,
    pub tap_tag: [Signal<Out, Tag>; 4],
    pub tap_beat: [Signal<Out, Beat>; 4],
}

impl Butterflies {
    pub fn new(log2n_max: u32) -> Self {
        Butterflies {
            clock: Default::default(),
            last: Default::default(),
            tag: Default::default(),
            beat: Default::default(),
            in_beat: (0..4).map(|stage| InBeat::new(stage % 2 == 1)).collect(),
            across: (0..log2n_max as usize - 4).map(Across::new).collect(),
            tap_tag: Default::default(),
            tap_beat: Default::default(),
        }
    }

    /// Returns the tap after stage `k` across beats.
    fn tap(k: usize) -> Option<usize> {
        (k % 2 == 1 && k >= 3).then(|| (k - 3) / 2)
    }
}

impl Logic for Butterflies {
    fn update(&mut self) {
        let (mut tag, mut beat) = (self.tag.val(), self.beat.val());
        for stage in &mut self.in_beat {
            stage.clock.next = self.clock.val();
            (stage.tag.next, stage.beat.next) = (tag, beat);
            (tag, beat) = (stage.out_tag.val(), stage.out_beat.val());
        }
        for (k, stage) in self.across.iter_mut().enumerate() {
            stage.clock.next = self.clock.val();
            stage.enable.next = self.last.val().get_bit(k);
            (stage.tag.next, stage.beat.next) = (tag, beat);
            (tag, beat) = (stage.out_tag.val(), stage.out_beat.val());
            if let Some(tap) = Self::tap(k) {
                (self.tap_tag[tap].next, self.tap_beat[tap].next) = (tag, beat);
            }
        }
    }

    fn connect(&mut self) {
        for stage in &mut self.in_beat {
            stage.clock.connect();
            stage.tag.connect();
            stage.beat.connect();
        }
        for stage in &mut self.across {
            stage.clock.connect();
            stage.enable.connect();
            stage.tag.connect();
            stage.beat.connect();
        }
        self.tap_tag.iter_mut().for_each(|tap| tap.connect());
        self.tap_beat.iter_mut().for_each(|tap| tap.connect());
    }

    fn hdl(&self) -> Verilog {
        let in_beat = (0..self.in_beat.len()).map(|k| format!("in_beat${k}"));
        let stages: Vec<String> = in_beat.chain((0..self.across.len()).map(|k| format!("across${k}"))).collect();
        let mut code = String::new();
        let mut wire = |to: String, from: String| code += &format!("always @(*) {to} = {from};\n");
        for (i, stage) in stages.iter().enumerate() {
            wire(format!("{stage}$clock"), "clock".into());
            for flow in ["tag", "beat"] {
                let from = if i == 0 { flow.into() } else { format!("{}$out_{flow}", stages[i - 1]) };
                wire(format!("{stage}${flow}"), from);
            }
        }
        for k in 0..self.across.len() {
            wire(format!("across${k}$enable"), format!("last[{k}]"));
        }
        for tap in 0..4 {
            for flow in ["tag", "beat"] {
                let k = 2 * tap + 3;
                let from = if k < self.across.len() { format!("across${k}$out_{flow}") } else { "0".into() };
                wire(format!("tap_{flow}${tap}"), from);
            }
        }
        if self.across.len() < 10 {
            code += &format!("wire unused = &last[9:{}];\n", self.across.len());
        }
        Verilog::Custom(code)
    }
}

clocked!(Butterflies);
