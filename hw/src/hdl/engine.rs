//! The parts of rust-hdl's engine in which simulation spends most of its time, made cheaper: [`DFF`], [`Wire`] and
//! [`evaluate_on_change!`](crate::evaluate_on_change). Names and ports are the same, and the
//! Verilog means the same.
//!
//! Why: the engine updates and compares every signal of every block in every pass, several times a cycle. Most of that
//! has no effect: a register's input matters only at an edge, a local's old value never, and a kernel
//! whose inputs and registers have not changed computes what it computed before.
//! Why it is equivalent: data and clock both take one pass per level, so when a register sees the edge, its input is still
//! that of the cycle before; the co-simulation of every block would show if it were not.
//! Limits: rust-hdl's waveform dump does not follow register inputs (`d`).

use crate::hdl::signal::Signal;
use rust_hdl_core::constraint::PinConstraint;
use rust_hdl_core::prelude::*;

/// A register: `q` takes `d` at the rising edge; starts as `T::default()`; no reset.
#[derive(Clone, Debug)]
pub struct DFF<T: Synth> {
    /// Next value; set up by `dff_setup!` to hold the present one.
    pub d: Signal<In, T>,
    /// Present value.
    pub q: Signal<Out, T>,
    /// Clock.
    pub clock: Signal<In, Clock>,
}

impl<T: Synth> Default for DFF<T> {
    fn default() -> Self {
        DFF { d: Signal::default(), q: Signal::default(), clock: Signal::default() }
    }
}

impl<T: Synth> Logic for DFF<T> {
    fn update(&mut self) {
        self.q.next = self.d.next;
    }

    fn connect(&mut self) {
        self.q.connect();
    }

    fn hdl(&self) -> Verilog {
        Verilog::Custom(format!("initial q = {:x};\nalways @(posedge clock) q <= d;", T::default().verilog()))
    }
}

impl<T: Synth> Block for DFF<T> {
    fn connect_all(&mut self) {
        self.connect();
    }

    #[inline]
    fn update_all(&mut self) {
        let edge = self.clock.pos_edge();
        if edge {
            self.update();
        }
        if edge || self.q.changed {
            self.q.update_all();
        }
        self.clock.update_all();
    }

    #[inline]
    fn has_changed(&self) -> bool {
        self.q.changed || self.clock.changed
    }

    fn accept(&self, name: &str, probe: &mut dyn Probe) {
        probe.visit_start_scope(name, self);
        self.d.accept("d", probe);
        self.q.accept("q", probe);
        self.clock.accept("clock", probe);
        probe.visit_end_scope(name, self);
    }
}

/// A value inside a kernel, written before it is read: `Signal<Local, T>` without the bookkeeping.
#[derive(Clone, Debug, Default)]
pub struct Wire<T: Synth> {
    /// The value; assign to it.
    pub next: T,
    connected: bool,
}

impl<T: Synth> Wire<T> {
    /// What was assigned last.
    #[inline(always)]
    pub fn val(&self) -> T {
        self.next
    }
}

impl<T: Synth> Logic for Wire<T> {
    fn update(&mut self) {}

    fn connect(&mut self) {
        self.connected = true;
    }
}

impl<T: Synth> Block for Wire<T> {
    fn connect_all(&mut self) {}

    #[inline(always)]
    fn update_all(&mut self) {}

    #[inline(always)]
    fn has_changed(&self) -> bool {
        false
    }

    fn accept(&self, name: &str, probe: &mut dyn Probe) {
        probe.visit_atom(name, self);
    }
}

impl<T: Synth> Atom for Wire<T> {
    fn bits(&self) -> usize {
        T::BITS
    }
    fn connected(&self) -> bool {
        self.connected
    }
    fn changed(&self) -> bool {
        false
    }
    fn kind(&self) -> AtomKind {
        AtomKind::LocalSignal
    }
    fn descriptor(&self) -> TypeDescriptor {
        T::descriptor()
    }
    fn vcd(&self) -> VCDValue {
        self.next.vcd()
    }
    /// Only identifies unconnected signals in lists; any unique address will do.
    fn id(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }
    fn verilog(&self) -> VerilogLiteral {
        self.next.verilog()
    }
    fn constraints(&self) -> Vec<PinConstraint> {
        Vec::new()
    }
}

/// Clocks registers and lets them hold their values: `dff_setup!(self, clock, count, state)`, first thing in a kernel.
#[macro_export]
macro_rules! dff_setup {
    ($self:ident, $clock:ident, $($register:ident),+ $(,)?) => {
        $($self.$register.clock.next = $self.$clock.val();)+
        $($self.$register.d.next = $self.$register.q.val();)+
    };
}

/// Implements `Logic` for a block whose kernel is an inherent `#[hdl_gen] fn evaluate(&mut self)`, and runs it only
/// after an input or a register has changed. All sub-blocks must be registers of the block's `clock`, and all of them
/// and all inputs must be listed; the block needs a field `_evaluated: bool`.
#[macro_export]
macro_rules! evaluate_on_change {
    ($block:ty, inputs: $($input:ident),+; registers: $($register:ident),+) => {
        impl Logic for $block {
            #[inline]
            fn update(&mut self) {
                if $(self.$input.changed)||+ $(|| self.$register.q.changed)+ || !self._evaluated {
                    self._evaluated = true;
                    self.evaluate();
                } else {
                    $(self.$register.clock.next = self.clock.val();)+
                }
            }

            fn hdl(&self) -> Verilog {
                <$block>::hdl(self) // the inherent one, made by hdl_gen
            }
        }
    };
}

/// A block with one clock.
pub trait Clocked: Block {
    /// The clock port.
    fn clock(&mut self) -> &mut Signal<In, Clock>;
}

/// Implements [`Clocked`] for blocks whose clock port is called `clock`.
#[macro_export]
macro_rules! clocked {
    ($($block:ty),+ $(,)?) => {$(
        impl $crate::hdl::engine::Clocked for $block {
            fn clock(&mut self) -> &mut Signal<In, Clock> {
                &mut self.clock
            }
        }
    )+};
}
