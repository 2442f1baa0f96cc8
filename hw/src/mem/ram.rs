//! Block RAM ([`Ram`], [`WindowRam`], [`Rom`]), distributed RAM ([`LutRam`]), and [`Delay`].
//!
//! Memories hold 2^A words of any signal type and accept a read and a write per cycle. A read of
//! the address being written returns the old word. Vivado and yosys recognise the Verilog as a
//! memory.
//! Latency: 1 cycle, or 0 for [`LutRam`].
//! Reset: none; contents survive a reset of the card. Memories power up as zeros, a ROM with its
//! contents.
//! Limits: simulation stores every word, so A should stay below about 24.

use crate::hdl::engine::Clocked;
use crate::hdl::prelude::*;
use crate::mem::place::SlotBeat;
use optireduce_contract::limits::WINDOW_BEATS;

/// Simple dual-port block RAM.
#[derive(LogicBlock)]
pub struct Ram<T: Synth, const A: usize> {
    pub clock: Signal<In, Clock>,
    pub read_address: Signal<In, W<A>>,
    pub read_data: Signal<Out, T>,
    pub write_address: Signal<In, W<A>>,
    pub write_data: Signal<In, T>,
    pub write_enable: Signal<In, bool>,
    _words: Vec<T>,
}

/// [`Ram`] with a range of beats for each window slot or bank, sized at construction.
#[derive(LogicBlock)]
pub struct WindowRam<T: Synth> {
    pub clock: Signal<In, Clock>,
    /// A slot or beat beyond the memory wraps.
    pub read_address: Signal<In, SlotBeat>,
    pub read_data: Signal<Out, T>,
    pub write_address: Signal<In, SlotBeat>,
    pub write_data: Signal<In, T>,
    pub write_enable: Signal<In, bool>,
    _words: Vec<T>,
    _slots_log2: u32,
    _beats_log2: u32,
}

impl<T: Synth> Default for WindowRam<T> {
    fn default() -> Self {
        Self::new(3, WINDOW_BEATS.ilog2())
    }
}

impl<T: Synth> WindowRam<T> {
    /// Creates a memory of 2^`slots_log2` ranges of 2^`beats_log2` words.
    ///
    /// # Panics
    /// If `slots_log2` is not within 1 to 3 or `beats_log2` not within 1 to 14.
    pub fn new(slots_log2: u32, beats_log2: u32) -> Self {
        assert!((1..=3).contains(&slots_log2) && (1..=14).contains(&beats_log2), "2^{slots_log2} x 2^{beats_log2}");
        Self {
            clock: Signal::default(),
            read_address: Signal::default(),
            read_data: Signal::default(),
            write_address: Signal::default(),
            write_data: Signal::default(),
            write_enable: Signal::default(),
            _words: vec![T::default(); 1 << (slots_log2 + beats_log2)],
            _slots_log2: slots_log2,
            _beats_log2: beats_log2,
        }
    }

    fn index(&self, at: SlotBeat) -> usize {
        let beat = at.beat.index() & ((1 << self._beats_log2) - 1);
        (at.slot.index() << self._beats_log2 | beat) & (self._words.len() - 1)
    }
}

/// Read-only block RAM.
#[derive(LogicBlock)]
pub struct Rom<T: Synth, const A: usize> {
    pub clock: Signal<In, Clock>,
    pub address: Signal<In, W<A>>,
    pub data: Signal<Out, T>,
    _words: Vec<T>,
}

/// Simple dual-port distributed RAM. A write is visible from the next cycle on.
#[derive(LogicBlock)]
pub struct LutRam<T: Synth, const A: usize> {
    pub clock: Signal<In, Clock>,
    pub read_address: Signal<In, W<A>>,
    pub read_data: Signal<Out, T>,
    pub write_address: Signal<In, W<A>>,
    pub write_data: Signal<In, T>,
    pub write_enable: Signal<In, bool>,
    _words: Vec<T>,
}

impl<T: Synth, const A: usize> Default for Ram<T, A> {
    fn default() -> Self {
        Self {
            clock: Signal::default(),
            read_address: Signal::default(),
            read_data: Signal::default(),
            write_address: Signal::default(),
            write_data: Signal::default(),
            write_enable: Signal::default(),
            _words: vec![T::default(); 1 << A],
        }
    }
}

impl<T: Synth, const A: usize> Default for LutRam<T, A> {
    fn default() -> Self {
        Self {
            clock: Signal::default(),
            read_address: Signal::default(),
            read_data: Signal::default(),
            write_address: Signal::default(),
            write_data: Signal::default(),
            write_enable: Signal::default(),
            _words: vec![T::default(); 1 << A],
        }
    }
}

impl<T: Synth, const A: usize> Rom<T, A> {
    /// Creates a ROM that holds `words`, followed by zeros.
    ///
    /// # Panics
    /// If there are more than 2^A words.
    pub fn new(mut words: Vec<T>) -> Self {
        assert!(words.len() <= 1 << A, "{} words do not fit into a ROM of 2^{A}", words.len());
        words.resize(1 << A, T::default());
        Self { clock: Signal::default(), address: Signal::default(), data: Signal::default(), _words: words }
    }
}

impl<T: Synth, const A: usize> Logic for Ram<T, A> {
    fn update(&mut self) {
        if self.clock.pos_edge() {
            self.read_data.next = self._words[self.read_address.val().index()];
            if self.write_enable.val() {
                self._words[self.write_address.val().index()] = self.write_data.val();
            }
        }
    }

    fn connect(&mut self) {
        self.read_data.connect();
    }

    fn hdl(&self) -> Verilog {
        Verilog::Custom(format!(
            "{}
initial read_data = 0;
always @(posedge clock) begin
    read_data <= mem[read_address];
    if (write_enable) mem[write_address] <= write_data;
end",
            zeroed_memory::<T>("block", A as u32)
        ))
    }
}

impl<T: Synth> Logic for WindowRam<T> {
    fn update(&mut self) {
        if self.clock.pos_edge() {
            self.read_data.next = self._words[self.index(self.read_address.val())];
            if self.write_enable.val() {
                let at = self.index(self.write_address.val());
                self._words[at] = self.write_data.val();
            }
        }
    }

    fn connect(&mut self) {
        self.read_data.connect();
    }

    fn hdl(&self) -> Verilog {
        let (slots, beats) = (self._slots_log2, self._beats_log2 + 3);
        let place = |port: &str| format!("{{{port}[{}:0], {port}[{}:3]}}", slots - 1, beats - 1);
        // Address bits that a smaller memory ignores.
        let left = [(slots, 3), (beats, 17)].into_iter().filter(|(low, end)| low < end);
        let left = |port: &str| -> Vec<String> {
            left.clone().map(|(low, end)| format!("{port}[{}:{low}]", end - 1)).collect()
        };
        let left = [left("read_address"), left("write_address")].concat().join(", ");
        Verilog::Custom(format!(
            "{}
initial read_data = 0;
always @(posedge clock) begin
    read_data <= mem[{}];
    if (write_enable) mem[{}] <= write_data;
end
{}",
            zeroed_memory::<T>("block", self._slots_log2 + self._beats_log2),
            place("read_address"),
            place("write_address"),
            if left.is_empty() { left } else { format!("wire unused = &{{{left}}};") },
        ))
    }
}

impl<T: Synth, const A: usize> Logic for Rom<T, A> {
    fn update(&mut self) {
        if self.clock.pos_edge() {
            self.data.next = self._words[self.address.val().index()];
        }
    }

    fn connect(&mut self) {
        self.data.connect();
    }

    fn hdl(&self) -> Verilog {
        let contents: Vec<String> =
            self._words.iter().enumerate().map(|(i, word)| format!("    mem[{i}] = {:x};", word.verilog())).collect();
        Verilog::Custom(format!(
            "(* rom_style = \"block\" *) reg [{}:0] mem [0:{}];
initial begin
{}
    data = 0;
end
always @(posedge clock) data <= mem[address];",
            T::BITS - 1,
            (1u64 << A) - 1,
            contents.join("\n")
        ))
    }
}

impl<T: Synth, const A: usize> Logic for LutRam<T, A> {
    fn update(&mut self) {
        if self.clock.pos_edge() && self.write_enable.val() {
            self._words[self.write_address.val().index()] = self.write_data.val();
        }
        self.read_data.next = self._words[self.read_address.val().index()];
    }

    fn connect(&mut self) {
        self.read_data.connect();
    }

    fn hdl(&self) -> Verilog {
        Verilog::Custom(format!(
            "{}
always @(*) read_data = mem[read_address];
always @(posedge clock) if (write_enable) mem[write_address] <= write_data;",
            zeroed_memory::<T>("distributed", A as u32)
        ))
    }
}

/// Returns the declaration of the array `mem` of 2^`log2` words, all zeros.
///
/// Synthesis tools define SYNTHESIS and would unroll the loop. FPGA RAM powers up as zeros anyway.
pub(crate) fn zeroed_memory<T: Synth>(style: &str, log2: u32) -> String {
    format!(
        "(* ram_style = \"{style}\" *) reg [{}:0] mem [0:{last}];
`ifndef SYNTHESIS
integer i;
initial for (i = 0; i <= {last}; i = i + 1) mem[i] = 0;
`endif",
        T::BITS - 1,
        last = (1u64 << log2) - 1
    )
}

/// Delay of the input by `depth` cycles with `enable`, zeros at first.
///
/// In distributed RAM, or in block RAM from 64 words on.
#[derive(LogicBlock)]
pub struct Delay<T: Synth> {
    pub clock: Signal<In, Clock>,
    pub enable: Signal<In, bool>,
    pub data: Signal<In, T>,
    pub delayed: Signal<Out, T>,
    _words: Vec<T>,
    _depth: usize,
    _pointer: usize,
}

impl<T: Synth> Delay<T> {
    /// # Panics
    /// If `depth` is 0.
    pub fn new(depth: usize) -> Self {
        assert!(depth > 0, "a delay of 0 cycles is a wire");
        Self {
            clock: Signal::default(),
            enable: Signal::default(),
            data: Signal::default(),
            delayed: Signal::default(),
            _words: vec![T::default(); depth.next_power_of_two()],
            _depth: depth,
            _pointer: 0,
        }
    }
}

impl<T: Synth> Logic for Delay<T> {
    fn update(&mut self) {
        if self.clock.pos_edge() && self.enable.val() {
            let words = self._words.len();
            self._words[self._pointer] = self.data.val();
            self.delayed.next = self._words[(self._pointer + words + 1 - self._depth) % words];
            self._pointer = (self._pointer + 1) % words;
        }
    }

    fn connect(&mut self) {
        self.delayed.connect();
    }

    fn hdl(&self) -> Verilog {
        if self._depth == 1 {
            return Verilog::Custom(
                "initial delayed = 0;\nalways @(posedge clock) if (enable) delayed <= data;".into(),
            );
        }
        let log2 = self._words.len().ilog2();
        let memory = match self._words.len() < 64 {
            true => zeroed_memory::<T>("distributed", log2),
            // The write address never equals the read address.
            false => zeroed_memory::<T>("block", log2).replacen("\"block\"", "\"block\", no_rw_check", 1),
        };
        Verilog::Custom(format!(
            "{memory}
reg [{high}:0] pointer;
wire [{high}:0] oldest = pointer - {log2}'d{};
initial begin
    pointer = 0;
    delayed = 0;
end
always @(posedge clock) if (enable) begin
    mem[pointer] <= data;
    delayed <= mem[oldest];
    pointer <= pointer + 1'b1;
end",
            self._depth - 1,
            high = log2 - 1,
        ))
    }
}

impl<T: Synth> Clocked for Delay<T> {
    fn clock(&mut self) -> &mut Signal<In, Clock> {
        &mut self.clock
    }
}

impl<T: Synth, const A: usize> Clocked for Ram<T, A> {
    fn clock(&mut self) -> &mut Signal<In, Clock> {
        &mut self.clock
    }
}

impl<T: Synth> Clocked for WindowRam<T> {
    fn clock(&mut self) -> &mut Signal<In, Clock> {
        &mut self.clock
    }
}

impl<T: Synth, const A: usize> Clocked for Rom<T, A> {
    fn clock(&mut self) -> &mut Signal<In, Clock> {
        &mut self.clock
    }
}

impl<T: Synth, const A: usize> Clocked for LutRam<T, A> {
    fn clock(&mut self) -> &mut Signal<In, Clock> {
        &mut self.clock
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cosim::Bench;
    use crate::random::Random;

    #[test]
    fn a_ram_reads_the_old_word_one_cycle_later() {
        let mut random = Random::new(1);
        let mut bench = Bench::recording(Ram::<W<48>, 4>::default());
        let mut model = [0u64; 16];
        for _ in 0..2000 {
            let (read, write, data, enable) =
                (random.below(16), random.below(16), random.next() >> 16, random.one_in(2));
            let read = if random.one_in(4) { write } else { read };
            bench.block.read_address.next = bits_w::<4>(read);
            bench.block.write_address.next = bits_w::<4>(write);
            bench.block.write_data.next = bits_w::<48>(data);
            bench.block.write_enable.next = enable;
            let expected = model[read as usize];
            bench.tick();
            assert_eq!(bench.block.read_data.val().raw(), expected);
            if enable {
                model[write as usize] = data;
            }
        }
        bench.verify_with_verilator("ram");
    }

    #[test]
    fn a_window_ram_keeps_its_slots_apart() {
        let mut random = Random::new(3);
        let mut bench = Bench::recording(WindowRam::<W<33>>::new(2, 4));
        let mut model = [[0u64; 16]; 4];
        for _ in 0..3000 {
            let [from, to] = [0; 2].map(|_| (random.below(4) as usize, random.below(16) as usize));
            let (data, enable) = (random.next() >> 31, random.one_in(2));
            let place = |(slot, beat): (usize, usize)| SlotBeat::at(slot as u64, beat as u64);
            bench.block.read_address.next = place(from);
            bench.block.write_address.next = place(to);
            bench.block.write_data.next = bits_w::<33>(data);
            bench.block.write_enable.next = enable;
            let expected = model[from.0][from.1];
            bench.tick();
            assert_eq!(bench.block.read_data.val().raw(), expected);
            if enable {
                model[to.0][to.1] = data;
            }
        }
        bench.verify_with_verilator("window_ram");
    }

    #[test]
    fn a_lut_ram_reads_in_the_same_cycle_and_sees_a_write_in_the_next() {
        let mut random = Random::new(2);
        let mut bench = Bench::recording(LutRam::<Beat, 3>::default());
        let mut model = [Beat::default(); 8];
        for _ in 0..1000 {
            let (write, enable) = (random.below(8), random.one_in(2));
            let read = if random.one_in(4) { write } else { random.below(8) };
            let data = Beat(std::array::from_fn(|_| random.next() as u32));
            bench.block.read_address.next = bits_w::<3>(read);
            bench.block.write_address.next = bits_w::<3>(write);
            bench.block.write_data.next = data;
            bench.block.write_enable.next = enable;
            bench.settle();
            assert_eq!(bench.block.read_data.val(), model[read as usize]);
            bench.tick();
            if enable {
                model[write as usize] = data;
            }
            assert_eq!(bench.block.read_data.val(), model[read as usize]);
        }
        bench.verify_with_verilator("lut_ram");
    }

    #[test]
    fn a_rom_returns_its_contents_and_zeros_after_them() {
        let contents: Vec<W<20>> = (0..50).map(|i| bits_w::<20>(i * i * 399 + 1)).collect();
        let mut bench = Bench::recording(Rom::<W<20>, 6>::new(contents.clone()));
        for address in (0..64).rev() {
            bench.block.address.next = bits_w::<6>(address);
            bench.tick();
            assert_eq!(bench.block.data.val(), contents.get(address as usize).copied().unwrap_or_default());
        }
        bench.verify_with_verilator("rom");
    }

    #[test]
    fn a_delay_returns_what_entered_so_many_enabled_cycles_ago() {
        for depth in [1, 2, 3, 16, 22, 64, 89] {
            let mut random = Random::new(4);
            let mut bench = Bench::recording(Delay::<W<24>>::new(depth));
            let mut entered = vec![0; depth];
            for _ in 0..500 {
                let (data, enable) = (random.next() >> 40, random.one_in(2));
                bench.block.data.next = bits_w(data);
                bench.block.enable.next = enable;
                bench.tick();
                entered.extend(enable.then_some(data));
                assert_eq!(bench.block.delayed.val().raw(), entered[entered.len() - depth], "depth {depth}");
            }
            bench.verify_with_verilator(&format!("delay_{depth}"));
        }
    }

    #[test]
    #[should_panic(expected = "do not fit into a ROM of 2^2")]
    fn a_rom_that_is_too_full_is_refused() {
        Rom::<W<8>, 2>::new(vec![bits_w::<8>(1); 5]);
    }
}
