//! Faster [`DFF`], [`Wire`] and [`evaluate_on_change!`](crate::evaluate_on_change) for simulation.
//!
//! Names, ports and emitted Verilog match rust-hdl.
//! rust-hdl updates and compares every signal in every pass, several times per cycle. These types
//! skip work without effect: register inputs matter only at an edge, old values of locals never,
//! and a kernel with unchanged inputs and registers computes the same result.
//! Data and clock both advance one level per pass, so a register still sees its previous input at
//! an edge. Co-simulation checks this equivalence: about half of the blocks have a
//! [`Bench`](crate::cosim::Bench), and the small ones run inside them.
//! Limits: rust-hdl's waveform dump omits register inputs (`d`).

use crate::hdl::signal::Signal;
use rust_hdl_core::constraint::PinConstraint;
use rust_hdl_core::prelude::*;

/// Register: `q` becomes `d` at the rising edge. Starts as `T::default()`; no reset.
#[derive(Clone, Debug)]
pub struct DFF<T: Synth> {
    pub d: Signal<In, T>,
    pub q: Signal<Out, T>,
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

/// Value inside a kernel, written before it is read: a cheaper `Signal<Local, T>`.
#[derive(Clone, Debug, Default)]
pub struct Wire<T: Synth> {
    pub next: T,
    connected: bool,
}

impl<T: Synth> Wire<T> {
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
    /// Only identifies unconnected signals in lists.
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

/// Connects the clock of registers and makes them hold their values by default.
///
/// Written `dff_setup!(self, clock, count, state)`, as the first statement of a kernel.
#[macro_export]
macro_rules! dff_setup {
    ($self:ident, $clock:ident, $($register:ident),+ $(,)?) => {
        $($self.$register.clock.next = $self.$clock.val();)+
        $($self.$register.d.next = $self.$register.q.val();)+
    };
}

/// Implements `Logic` for a block with an inherent `#[hdl_gen] fn evaluate(&mut self)`, which runs
/// only after an input or a register changed.
///
/// Every sub-block must be a register of the block's `clock`. All registers and inputs must be
/// listed. The block needs a field `_evaluated: bool`.
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
                <$block>::hdl(self) // the inherent function from hdl_gen
            }
        }
    };
}

pub trait Clocked: Block {
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
