//! `CardState`: registers of time, MAC link, PCI device and build.
//!
//! Latency: 1 cycle, one read a cycle. No back-pressure, no reset: every value is an input.

use crate::hdl::prelude::*;
use optireduce_contract::registers as map;

const _: () = assert!(
    map::CARD_TIME_LO.word() == 0x12 && map::BUILD_ID.word() == 0x16 && map::LINK_UP == 1 && map::LINK_RSFEC == 2
);

#[derive(LogicBlock, Default)]
pub struct CardState {
    pub clock: Signal<In, Clock>,
    pub now_ns: Signal<In, W<48>>,
    /// Bits: 0 up, 1 RS-FEC, 2 both are known.
    pub link: Signal<In, W<3>>,
    /// Vendor, plus device times 65536.
    pub pci_id: Signal<In, W<32>>,
    pub build_id: Signal<In, W<32>>,
    /// `read_data` follows one cycle later, zero for other addresses.
    pub read_address: Signal<In, W<10>>,
    pub read_data: Signal<Out, W<32>>,
    value: DFF<W<32>>,
    known: Wire<W<1>>,
    state: Wire<W<2>>,
}

impl Logic for CardState {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, value);
        self.known.next = self.link.val().get_bits::<1>(2);
        self.state.next = self.link.val().get_bits::<2>(0);
        self.value.d.next = bits_w::<32>(0);
        if self.read_address.val() == 0x12 {
            self.value.d.next = self.now_ns.val().get_bits::<32>(0);
        } else if self.read_address.val() == 0x13 {
            self.value.d.next = bit_cast_w::<32, 16>(self.now_ns.val().get_bits::<16>(32));
        } else if self.read_address.val() == 0x14 {
            if self.known.val() == 1 {
                self.value.d.next = bit_cast_w::<32, 2>(self.state.val()) | 0x8000_0000u64;
            }
        } else if self.read_address.val() == 0x15 {
            self.value.d.next = self.pci_id.val();
        } else if self.read_address.val() == 0x16 {
            self.value.d.next = self.build_id.val();
        }
        self.read_data.next = self.value.q.val();
    }
}

clocked!(CardState);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cosim::Bench;
    use crate::random::Random;

    #[test]
    fn each_register_shows_its_input() {
        let mut random = Random::new(4);
        let mut bench = Bench::recording(CardState::default());
        let mut told = 0;
        for cycle in 0..4000 {
            let [now_ns, link, ids] = [random.next() >> 16, random.below(8), random.next()];
            let word = if random.one_in(9) { random.below(1024) } else { 0x11 + random.below(7) };
            bench.block.now_ns.next = bits_w(now_ns);
            bench.block.link.next = bits_w(link);
            bench.block.pci_id.next = bits_w(ids >> 32);
            bench.block.build_id.next = bits_w(ids & 0xffff_ffff);
            bench.block.read_address.next = bits_w(word);
            bench.settle();
            assert_eq!(bench.block.read_data.val().raw(), told, "cycle {cycle}");
            told = match word {
                0x12 => now_ns & 0xffff_ffff,
                0x13 => now_ns >> 32,
                0x14 if link >= 4 => 1 << 31 | link & 3,
                0x15 => ids >> 32,
                0x16 => ids & 0xffff_ffff,
                _ => 0,
            };
            bench.tick();
        }
        bench.verify_with_verilator("card_state");
    }
}
