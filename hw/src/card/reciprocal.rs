//! Correctly rounded fp32 reciprocal of a count, from a table of 1/1 to 1/1024. Count 0 returns 1.
//!
//! Latency: 1 cycle. Throughput: one a cycle. Reset: none needed.

use crate::arith::recip_rom;
use crate::hdl::prelude::*;
use crate::mem::ram::Rom;

#[derive(LogicBlock)]
pub struct Reciprocal {
    pub clock: Signal<In, Clock>,
    /// 0 to 1024.
    pub count: Signal<In, W<11>>,
    /// 1 / count as fp32, one cycle later.
    pub factor: Signal<Out, W<32>>,
    rom: Rom<W<32>, 11>,
}

impl Default for Reciprocal {
    fn default() -> Self {
        let words = (0..=1024).map(|count: u32| bits_w(u64::from(recip_rom::recip(count.max(1))))).collect();
        Self { clock: Signal::default(), count: Signal::default(), factor: Signal::default(), rom: Rom::new(words) }
    }
}

impl Logic for Reciprocal {
    #[hdl_gen]
    fn update(&mut self) {
        self.rom.clock.next = self.clock.val();
        self.rom.address.next = self.count.val();
        self.factor.next = self.rom.data.val();
    }
}

clocked!(Reciprocal);
