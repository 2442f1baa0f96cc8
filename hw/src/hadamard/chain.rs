//! The butterfly stages across beats of one engine, one after the other: wiring only.
//!
//! Why a block: how many stages there are is chosen when the engine is built, and the kernel language has no loops of
//! such a length.
//! A block leaves behind the last stage that it is large enough for: tap 0 is behind four stages (n = 256), tap 1 behind
//! six, tap 2 behind eight, tap 3 behind ten (n = 16384). A tap behind more stages than there are is silent.

use super::across::Across;
use super::flow::Tag;
use crate::prelude::*;

/// Stages of distance 1, 2, 4, ... and what comes out behind every second one from the fourth on.
#[derive(LogicBlock)]
pub struct AcrossChain {
    /// The clock.
    pub clock: Signal<In, Clock>,
    /// Beats of a block less one: stage k takes part if bit k is set.
    pub last: Signal<In, W<10>>,
    /// Tag of the beat.
    pub tag: Signal<In, Tag>,
    /// Sixteen numbers in excess 2^31.
    pub beat: Signal<In, Beat>,
    stages: Vec<Across>,
    /// Tags at the taps.
    pub tap_tag: [Signal<Out, Tag>; 4],
    /// Beats at the taps.
    pub tap_beat: [Signal<Out, Beat>; 4],
}

impl AcrossChain {
    /// The stages for blocks of up to 2^`log2n_max` values.
    pub fn new(log2n_max: u32) -> Self {
        AcrossChain {
            clock: Default::default(),
            last: Default::default(),
            tag: Default::default(),
            beat: Default::default(),
            stages: (0..log2n_max as usize - 4).map(Across::new).collect(),
            tap_tag: Default::default(),
            tap_beat: Default::default(),
        }
    }

    /// The tap behind stage `k`.
    fn tap(k: usize) -> Option<usize> {
        (k % 2 == 1 && k >= 3).then(|| (k - 3) / 2)
    }
}

impl Logic for AcrossChain {
    fn update(&mut self) {
        let (mut tag, mut beat) = (self.tag.val(), self.beat.val());
        for (k, stage) in self.stages.iter_mut().enumerate() {
            stage.clock.next = self.clock.val();
            stage.enable.next = self.last.val().get_bit(k);
            stage.tag.next = tag;
            stage.beat.next = beat;
            (tag, beat) = (stage.out_tag.val(), stage.out_beat.val());
            if let Some(tap) = Self::tap(k) {
                self.tap_tag[tap].next = tag;
                self.tap_beat[tap].next = beat;
            }
        }
    }

    fn connect(&mut self) {
        for stage in &mut self.stages {
            stage.clock.connect();
            stage.enable.connect();
            stage.tag.connect();
            stage.beat.connect();
        }
        self.tap_tag.iter_mut().for_each(|tap| tap.connect());
        self.tap_beat.iter_mut().for_each(|tap| tap.connect());
    }

    fn hdl(&self) -> Verilog {
        let count = self.stages.len();
        let mut code = String::new();
        let mut wire = |to: String, from: String| code += &format!("always @(*) {to} = {from};\n");
        for k in 0..count {
            wire(format!("stages${k}$clock"), "clock".into());
            wire(format!("stages${k}$enable"), format!("last[{k}]"));
            for flow in ["tag", "beat"] {
                let from = if k == 0 { flow.into() } else { format!("stages${}$out_{flow}", k - 1) };
                wire(format!("stages${k}${flow}"), from);
            }
        }
        for tap in 0..4 {
            for flow in ["tag", "beat"] {
                let k = 2 * tap + 3;
                let from = if k < count { format!("stages${k}$out_{flow}") } else { "0".into() };
                wire(format!("tap_{flow}${tap}"), from);
            }
        }
        Verilog::Custom(code)
    }
}
