//! [`SimulatedCard`]: a whole card for simulators, one clock cycle at a time, with plain integers
//! as ports.
//!
//! rust-hdl's blocks are generic, so any crate that names the card's type would compile the card
//! again. This type hides it.
//! Limits: host memory and the interrupt bridge are always ready (`axi_ar_ready`, `axi_aw_ready`,
//! `axi_w_ready` and `msix_ready` are high), and CONTROL.enable is the only reset.

use super::build::Build;
use super::checked_nic::CheckedNic;
use crate::cosim::{Bench, Compiled};
use crate::hdl::stack::on_a_large_stack;
use crate::hdl::word::{Beat, bits_w};
use optireduce_contract::pci::{DEVICE_ID, VENDOR_ID};
use std::sync::OnceLock;

#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs, reason = "documented at CheckedNic's ports")]
pub struct Inputs {
    pub now_ns: u64,
    pub reg_write: bool,
    pub reg_write_address: usize,
    pub reg_write_data: u32,
    pub reg_read_address: usize,
    pub rx_valid: bool,
    pub rx_data: Beat,
    pub rx_last: bool,
    pub rx_error: bool,
    pub rx_partial: bool,
    pub tx_ready: bool,
    pub axi_r_valid: bool,
    pub axi_r_data: Beat,
    pub axi_r_last: bool,
    pub axi_r_error: bool,
    pub axi_b_valid: bool,
    pub axi_b_error: bool,
}

#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs, reason = "documented at CheckedNic's ports")]
pub struct Outputs {
    pub tx_valid: bool,
    pub tx_data: Beat,
    pub tx_last: bool,
    pub tx_error: bool,
    pub axi_ar_valid: bool,
    pub axi_ar_address: u64,
    pub axi_ar_beats: u64,
    pub axi_r_ready: bool,
    pub axi_aw_valid: bool,
    pub axi_aw_address: u64,
    pub axi_aw_beats: u64,
    pub axi_w_valid: bool,
    pub axi_w_data: Beat,
    pub axi_w_last: bool,
    pub msix_valid: bool,
    pub asleep: bool,
    pub timer_ns: u64,
    pub trace_arm: u64,
    pub trace_cookie: u32,
    pub trace_sum: bool,
    pub trace_sum_place: u64,
    pub trace_mean: bool,
    pub trace_mean_place: u64,
    pub trace_contribute_open: u64,
    pub trace_broadcast_open: u64,
}

/// Value of [`Outputs::timer_ns`] if no stage waits for a time: 48 ones.
pub const NO_TIMER: u64 = (1 << 48) - 1;

pub struct SimulatedCard(Box<dyn Cycle>);

impl SimulatedCard {
    /// Creates a card at power-on, run by rust-hdl.
    ///
    /// # Panics
    /// If the parameters of `build` are not compatible; see [`Build::checked`].
    pub fn new(build: Build) -> Self {
        Self(on_a_large_stack(move || Box::new(Bench::new(CheckedNic::new(build)))))
    }

    /// Creates a card of the default build, run by Verilator. The first call in a process may take
    /// half a minute to build the model.
    ///
    /// # Errors
    /// If Verilator is missing or rejects the Verilog.
    pub fn verilated() -> Result<Self, String> {
        static COMPILED: OnceLock<Result<Compiled<CheckedNic>, String>> = OnceLock::new();
        on_a_large_stack(|| {
            let compiled = COMPILED.get_or_init(|| Compiled::new("checked_nic", CheckedNic::default()));
            let bench = Bench::verilated(compiled.as_ref()?, CheckedNic::default())?;
            Ok(Self(Box::new(bench)))
        })
    }

    /// Runs one clock cycle and returns the outputs before its rising edge.
    pub fn cycle(&mut self, inputs: &Inputs) -> Outputs {
        self.0.cycle(inputs)
    }

    /// Returns the register at the last cycle's `reg_read_address`.
    pub fn reg_read_data(&self) -> u32 {
        self.0.reg_read_data()
    }

    pub fn cycles(&self) -> u64 {
        self.0.cycles()
    }
}

/// Hides the card's type from other crates.
trait Cycle: Send {
    fn cycle(&mut self, inputs: &Inputs) -> Outputs;
    fn reg_read_data(&self) -> u32;
    fn cycles(&self) -> u64;
}

impl Cycle for Bench<CheckedNic> {
    fn cycle(&mut self, inputs: &Inputs) -> Outputs {
        set(&mut self.block, inputs);
        self.settle();
        let outputs = outputs(&self.block);
        self.tick();
        outputs
    }

    fn reg_read_data(&self) -> u32 {
        self.block.reg_read_data.val().raw() as u32
    }

    fn cycles(&self) -> u64 {
        Bench::cycles(self)
    }
}

fn set(card: &mut CheckedNic, inputs: &Inputs) {
    card.now_ns.next = bits_w(inputs.now_ns);
    card.reg_write.next = inputs.reg_write;
    card.reg_write_address.next = bits_w(inputs.reg_write_address as u64);
    card.reg_write_data.next = bits_w(inputs.reg_write_data.into());
    card.reg_read_address.next = bits_w(inputs.reg_read_address as u64);
    card.rx_valid.next = inputs.rx_valid;
    card.rx_data.next = inputs.rx_data;
    card.rx_last.next = inputs.rx_last;
    card.rx_error.next = inputs.rx_error;
    card.rx_partial.next = inputs.rx_partial;
    card.tx_ready.next = inputs.tx_ready;
    // The link is up, and the card has the identity of a served card.
    card.link.next = bits_w(7);
    card.pci_id.next = bits_w(u64::from(DEVICE_ID) << 16 | u64::from(VENDOR_ID));
    card.build_id.next = bits_w(0);
    card.axi_ar_ready.next = true;
    card.axi_r_valid.next = inputs.axi_r_valid;
    card.axi_r_data.next = inputs.axi_r_data;
    card.axi_r_last.next = inputs.axi_r_last;
    card.axi_r_error.next = inputs.axi_r_error;
    card.axi_aw_ready.next = true;
    card.axi_w_ready.next = true;
    card.axi_b_valid.next = inputs.axi_b_valid;
    card.axi_b_error.next = inputs.axi_b_error;
    card.msix_ready.next = true;
}

fn outputs(card: &CheckedNic) -> Outputs {
    Outputs {
        tx_valid: card.tx_valid.val(),
        tx_data: card.tx_data.val(),
        tx_last: card.tx_last.val(),
        tx_error: card.tx_error.val(),
        axi_ar_valid: card.axi_ar_valid.val(),
        axi_ar_address: card.axi_ar_address.val().raw(),
        axi_ar_beats: card.axi_ar_beats.val().raw(),
        axi_r_ready: card.axi_r_ready.val(),
        axi_aw_valid: card.axi_aw_valid.val(),
        axi_aw_address: card.axi_aw_address.val().raw(),
        axi_aw_beats: card.axi_aw_beats.val().raw(),
        axi_w_valid: card.axi_w_valid.val(),
        axi_w_data: card.axi_w_data.val(),
        axi_w_last: card.axi_w_last.val(),
        msix_valid: card.msix_valid.val(),
        asleep: card.asleep.val(),
        timer_ns: card.timer_ns.val().raw(),
        trace_arm: card.trace_arm.val().raw(),
        trace_cookie: card.trace_cookie.val().raw() as u32,
        trace_sum: card.trace_sum.val(),
        trace_sum_place: card.trace_sum_place.val().raw(),
        trace_mean: card.trace_mean.val(),
        trace_mean_place: card.trace_mean_place.val().raw(),
        trace_contribute_open: card.trace_contribute_open.val().raw(),
        trace_broadcast_open: card.trace_broadcast_open.val().raw(),
    }
}
