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
    /// In the first input of a block: its last pass changed no value.
    #[doc(hidden)]
    pub at_rest: bool,
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

/// Input of a block, or an array of inputs.
pub trait Input {
    /// Whether the next pass will change its value.
    fn is_pending(&self) -> bool;
}

impl<T: Synth> Input for Signal<In, T> {
    #[inline(always)]
    fn is_pending(&self) -> bool {
        self.val != self.next
    }
}

impl<I: Input, const N: usize> Input for [I; N] {
    #[inline]
    fn is_pending(&self) -> bool {
        self.iter().any(Input::is_pending)
    }
}

impl Signal<In, Clock> {
    /// Whether a clock cycle begins. The clock of a simulated block changes once a cycle: a falling
    /// edge would cost as many passes as a rising one and move nothing.
    #[inline(always)]
    pub fn pos_edge(&self) -> bool {
        self.changed
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
