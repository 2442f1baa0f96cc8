//! [`Signal`]: rust-hdl's signal as plain data without drop glue.
//!
//! The original holds a vector of pin constraints, a serial number and tristate state. Building and
//! dropping a card's tens of thousands of signals was a large part of its machine code.
//! Name, ports, behaviour and Verilog match `rust_hdl_core::signal::Signal`.
//! Limits: no in-out ports and no pin constraints (see the constraint files in `bitstreams/`).

use rust_hdl_core::ast::VerilogLiteral;
use rust_hdl_core::constraint::PinConstraint;
use rust_hdl_core::prelude::{Atom, AtomKind, Block, Clock, Direction, In, Local, Logic, Out, Probe, Synth, VCDValue};
use rust_hdl_core::type_descriptor::TypeDescriptor;
use std::marker::PhantomData;

/// Wire of a block. `D` is [`In`] or [`Out`] for a port, [`Local`] for a value inside a kernel.
#[derive(Clone, Debug, Default)]
pub struct Signal<D: Direction, T: Synth> {
    /// Value assigned for the next pass.
    pub next: T,
    val: T,
    pub changed: bool,
    driven: bool,
    direction: PhantomData<D>,
}

impl<T: Synth> Signal<In, T> {
    /// Value as of the last pass.
    #[inline(always)]
    pub fn val(&self) -> T {
        self.val
    }
}

impl<T: Synth> Signal<Out, T> {
    #[allow(clippy::misnamed_getters, reason = "`next` is visible in the same pass, `val` one later")]
    #[inline(always)]
    pub fn val(&self) -> T {
        self.next
    }
}

impl<T: Synth> Signal<Local, T> {
    #[allow(clippy::misnamed_getters, reason = "`next` is visible in the same pass, `val` one later")]
    #[inline(always)]
    pub fn val(&self) -> T {
        self.next
    }
}

impl Signal<In, Clock> {
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
    /// Only identifies unconnected signals in lists.
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
