//! [`Signal`]: rust-hdl's signal in a form that costs less to build, to drop and to simulate.
//!
//! Why: the original carries a vector of pin constraints, a serial number and state for tristate pins. A card has tens of
//! thousands of signals, so the code that builds and drops these was a third of the card's, and was generated again in
//! every crate that builds a card. This one is plain data: nothing to drop, nothing that can panic.
//! Name, ports and behaviour are those of `rust_hdl_core::signal::Signal`, and so is the Verilog.
//! Limits: no in-out ports, no pin constraints (`bitstreams/` has files of its own for these).

use rust_hdl_core::ast::VerilogLiteral;
use rust_hdl_core::constraint::PinConstraint;
use rust_hdl_core::prelude::{Atom, AtomKind, Block, Clock, Direction, In, Local, Logic, Out, Probe, Synth, VCDValue};
use rust_hdl_core::type_descriptor::TypeDescriptor;
use std::marker::PhantomData;

/// A wire of a block: `D` is [`In`] or [`Out`] for a port, [`Local`] for a value inside a kernel.
#[derive(Clone, Debug, Default)]
pub struct Signal<D: Direction, T: Synth> {
    /// The value to take at the next pass; assign to it.
    pub next: T,
    val: T,
    /// Whether the last pass changed the value.
    pub changed: bool,
    driven: bool,
    direction: PhantomData<D>,
}

impl<T: Synth> Signal<In, T> {
    /// The value as of the last pass.
    #[inline(always)]
    pub fn val(&self) -> T {
        self.val
    }
}

impl<T: Synth> Signal<Out, T> {
    /// What was assigned last.
    #[allow(clippy::misnamed_getters, reason = "what a block drives shows at once; `val` is what the last pass saw")]
    #[inline(always)]
    pub fn val(&self) -> T {
        self.next
    }
}

impl<T: Synth> Signal<Local, T> {
    /// What was assigned last.
    #[allow(clippy::misnamed_getters, reason = "what a block drives shows at once; `val` is what the last pass saw")]
    #[inline(always)]
    pub fn val(&self) -> T {
        self.next
    }
}

impl Signal<In, Clock> {
    /// Whether the last pass raised the clock.
    #[inline(always)]
    pub fn pos_edge(&self) -> bool {
        self.changed && self.val.clk
    }
}

impl<D: Direction, T: Synth> Logic for Signal<D, T> {
    fn update(&mut self) {}

    fn connect(&mut self) {
        self.driven = true;
    }
}

impl<D: Direction, T: Synth> Block for Signal<D, T> {
    fn connect_all(&mut self) {}

    #[inline(always)]
    fn update_all(&mut self) {
        self.changed = self.val != self.next;
        if self.changed {
            self.val = self.next;
        }
    }

    #[inline(always)]
    fn has_changed(&self) -> bool {
        self.changed
    }

    fn accept(&self, name: &str, probe: &mut dyn Probe) {
        probe.visit_atom(name, self);
    }
}

impl<D: Direction, T: Synth> Atom for Signal<D, T> {
    fn bits(&self) -> usize {
        T::BITS
    }
    fn connected(&self) -> bool {
        self.driven
    }
    fn changed(&self) -> bool {
        self.changed
    }
    fn kind(&self) -> AtomKind {
        D::KIND
    }
    fn descriptor(&self) -> TypeDescriptor {
        T::descriptor()
    }
    fn vcd(&self) -> VCDValue {
        self.val.vcd()
    }
    /// Only identifies unconnected signals in lists; any unique address will do.
    fn id(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }
    fn verilog(&self) -> VerilogLiteral {
        self.val.verilog()
    }
    fn constraints(&self) -> Vec<PinConstraint> {
        Vec::new()
    }
}
