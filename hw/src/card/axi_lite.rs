//! AXI4-Lite slave: the registers of BAR 0 on the host's bus.
//!
//! One write and one read are in progress at a time, independently. A write with any strobe clear
//! changes nothing and returns SLVERR.
//! Latency: 2 cycles from the later of address and data to the write response, 3 from read address
//! to data.
//! Throughput: a write every 2 cycles, a read every 4. Back-pressure: the AXI ready signals. Reset:
//! `reset`, with the bus.

use crate::hdl::prelude::*;

#[derive(LogicBlock, Default)]
pub struct AxiLite {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, bool>,
    /// Byte offset in the BAR.
    pub awvalid: Signal<In, bool>,
    pub awaddr: Signal<In, W<12>>,
    pub awready: Signal<Out, bool>,
    pub wvalid: Signal<In, bool>,
    pub wdata: Signal<In, W<32>>,
    pub wstrb: Signal<In, W<4>>,
    pub wready: Signal<Out, bool>,
    /// Write response: 0 OKAY, 2 SLVERR.
    pub bvalid: Signal<Out, bool>,
    pub bresp: Signal<Out, W<2>>,
    pub bready: Signal<In, bool>,
    pub arvalid: Signal<In, bool>,
    pub araddr: Signal<In, W<12>>,
    pub arready: Signal<Out, bool>,
    /// Always OKAY.
    pub rvalid: Signal<Out, bool>,
    pub rdata: Signal<Out, W<32>>,
    pub rresp: Signal<Out, W<2>>,
    pub rready: Signal<In, bool>,
    pub write: Signal<Out, bool>,
    pub write_address: Signal<Out, W<10>>,
    pub write_data: Signal<Out, W<32>>,
    /// `read_data` follows one cycle later.
    pub read_address: Signal<Out, W<10>>,
    pub read_data: Signal<In, W<32>>,
    have_address: DFF<bool>,
    address: DFF<W<12>>,
    have_data: DFF<bool>,
    data: DFF<W<32>>,
    whole: DFF<bool>,
    answer: DFF<bool>,
    failed: DFF<bool>,
    asked: DFF<bool>,
    coming: DFF<bool>,
    waiting: DFF<bool>,
    read: DFF<W<12>>,
    have_value: DFF<bool>,
    value: DFF<W<32>>,
    go: Wire<bool>,
}

impl Logic for AxiLite {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            have_address,
            address,
            have_data,
            data,
            whole,
            answer,
            failed,
            asked,
            coming,
            waiting,
            read,
            have_value,
            value
        );
        self.awready.next = !self.have_address.q.val();
        if self.awvalid.val() && !self.have_address.q.val() {
            self.have_address.d.next = true;
            self.address.d.next = self.awaddr.val();
        }
        self.wready.next = !self.have_data.q.val();
        if self.wvalid.val() && !self.have_data.q.val() {
            self.have_data.d.next = true;
            self.data.d.next = self.wdata.val();
            self.whole.d.next = self.wstrb.val() == 15;
        }
        self.go.next = self.have_address.q.val() && self.have_data.q.val() && !self.answer.q.val();
        self.write.next = self.go.val() && self.whole.q.val();
        self.write_address.next = self.address.q.val().get_bits::<10>(2);
        self.write_data.next = self.data.q.val();
        if self.answer.q.val() && self.bready.val() {
            self.answer.d.next = false;
        }
        if self.go.val() {
            self.have_address.d.next = false;
            self.have_data.d.next = false;
            self.answer.d.next = true;
            self.failed.d.next = !self.whole.q.val();
        }
        self.bvalid.next = self.answer.q.val();
        self.bresp.next = bits_w::<2>(0);
        if self.failed.q.val() {
            self.bresp.next = bits_w::<2>(2);
        }

        // Reads: one cycle for the address, one for the register file, then the value is held.
        self.arready.next = !self.asked.q.val();
        self.coming.d.next = false;
        if self.arvalid.val() && !self.asked.q.val() {
            self.asked.d.next = true;
            self.coming.d.next = true;
            self.read.d.next = self.araddr.val();
        }
        self.read_address.next = self.read.q.val().get_bits::<10>(2);
        self.waiting.d.next = self.coming.q.val();
        if self.waiting.q.val() {
            self.have_value.d.next = true;
            self.value.d.next = self.read_data.val();
        }
        if self.have_value.q.val() && self.rready.val() {
            self.have_value.d.next = false;
            self.asked.d.next = false;
        }
        self.rvalid.next = self.have_value.q.val();
        self.rdata.next = self.value.q.val();
        self.rresp.next = bits_w::<2>(0);

        if self.reset.val() {
            self.have_address.d.next = false;
            self.have_data.d.next = false;
            self.answer.d.next = false;
            self.asked.d.next = false;
            self.coming.d.next = false;
            self.waiting.d.next = false;
            self.have_value.d.next = false;
        }
    }
}

clocked!(AxiLite);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::card::testing::{Pace, at_every_pace};
    use crate::cosim::Bench;
    use crate::random::Random;
    use std::collections::VecDeque;

    fn run(bench: &mut Bench<AxiLite>, random: &mut Random, pace: Pace, cycles: u64) {
        let (mut aw, mut w, mut ar) = (None::<u64>, None::<(u64, u64)>, None::<u64>);
        // Accepted but unmatched addresses and words, then expected responses.
        let (mut addresses, mut words) = (VecDeque::new(), VecDeque::new());
        let (mut writes, mut reads) = (VecDeque::new(), VecDeque::<u64>::new());
        let (mut b_offered, mut r_offered) = (None, None);
        let mut reading = 0;
        let [mut whole, mut partial, mut read, mut data_first] = [0u32; 4];
        for cycle in 0..cycles {
            let drain = cycle + 30 > cycles;
            aw = aw.or_else(|| (!drain && pace.comes(random) && random.one_in(2)).then(|| random.below(4096)));
            w = w.or_else(|| {
                let strobe = if random.one_in(4) { random.below(16) } else { 15 };
                (!drain && pace.comes(random) && random.one_in(2)).then(|| (random.next() >> 32, strobe))
            });
            ar = ar.or_else(|| (!drain && pace.comes(random)).then(|| random.below(4096)));
            let block = &mut bench.block;
            block.awvalid.next = aw.is_some();
            block.awaddr.next = bits_w(aw.unwrap_or(random.next()));
            block.wvalid.next = w.is_some();
            block.wdata.next = bits_w(w.map_or(random.next(), |w| w.0));
            block.wstrb.next = bits_w(w.map_or(random.next(), |w| w.1));
            block.arvalid.next = ar.is_some();
            block.araddr.next = bits_w(ar.unwrap_or(random.next()));
            block.bready.next = pace.takes(random);
            block.rready.next = pace.takes(random);
            block.read_data.next = bits_w(reading);
            bench.settle();
            let block = &bench.block;
            // Responses are held until accepted.
            let b = block.bvalid.val().then(|| block.bresp.val().raw());
            assert!(b_offered.is_none() || b == b_offered, "cycle {cycle}: a write response changed");
            b_offered = b.filter(|_| !block.bready.val());
            if let Some(found) = b.filter(|_| block.bready.val()) {
                assert_eq!(Some(found), writes.pop_front(), "cycle {cycle}: write response");
            }
            let r = block.rvalid.val().then(|| (block.rdata.val().raw(), block.rresp.val().raw()));
            assert!(r_offered.is_none() || r == r_offered, "cycle {cycle}: read data changed");
            r_offered = r.filter(|_| !block.rready.val());
            if let Some(found) = r.filter(|_| block.rready.val()) {
                assert_eq!(Some(found), reads.pop_front().map(|at| (memory_at(at), 0)), "cycle {cycle}: read data");
                read += 1;
            }
            if block.write.val() {
                let (address, (data, strobe)): (u64, (u64, u64)) =
                    (addresses.pop_front().expect("an address"), words.pop_front().expect("a word"));
                assert_eq!(strobe, 15, "cycle {cycle}: a partial word was written");
                assert_eq!((block.write_address.val().raw(), block.write_data.val().raw()), (address / 4, data));
                whole += 1;
            } else if let (Some(_), Some((_, strobe))) = (addresses.front(), words.front()) {
                // A partial word is consumed in the cycle in which a whole one would be written.
                if *strobe != 15 && !block.bvalid.val() {
                    partial += 1;
                    addresses.pop_front();
                    words.pop_front();
                }
            }
            reading = memory_at(4 * block.read_address.val().raw());
            if block.awready.val()
                && let Some(address) = aw.take_if(|_| true)
            {
                addresses.push_back(address);
                if addresses.len() <= words.len() {
                    writes.push_back(response(words[addresses.len() - 1].1));
                    data_first += 1;
                }
            }
            if block.wready.val()
                && let Some(word) = w.take_if(|_| true)
            {
                words.push_back(word);
                if words.len() <= addresses.len() {
                    writes.push_back(response(word.1));
                }
            }
            if block.arready.val()
                && let Some(address) = ar.take_if(|_| true)
            {
                reads.push_back(address);
            }
            bench.tick();
        }
        assert!(writes.is_empty() && reads.is_empty(), "{} writes, {} reads unanswered", writes.len(), reads.len());
        let seen = [whole, partial, read, data_first];
        assert!(seen.iter().all(|count| *count > 5), "the stimulus missed a case: {seen:?}");
    }

    /// Writes do not change it.
    fn memory_at(address: u64) -> u64 {
        Random::new(address / 4).next() >> 32
    }

    fn response(strobe: u64) -> u64 {
        if strobe == 15 { 0 } else { 2 }
    }

    #[test]
    fn every_access_is_answered_once_and_partial_words_change_nothing() {
        at_every_pace(4, |random, pace| run(&mut Bench::new(AxiLite::default()), random, pace, 4000));
    }

    #[test]
    fn the_verilog_answers_alike() {
        let mut bench = Bench::recording(AxiLite::default());
        run(&mut bench, &mut Random::new(1), Pace::RANDOM, 3000);
        bench.verify_with_verilator("axi_lite");
    }
}
