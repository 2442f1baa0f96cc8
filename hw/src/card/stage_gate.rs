//! Stage gate: decides when one stage of one window is over, whether or not the host is awake.
//!
//! A stage closes complete (everything came), early (the own beats and all senders' last-percentile marks are in, and
//! then silence for the grace time), or at its deadline (t_B after its clock started), in this order if several hold at once
//! (OptiReduce 3.2.1). Differs: the clock starts at the own entry into the stage, or by itself once enough peers were
//! heard in it, so that a sleeping host does not keep its peers waiting for the shard its card aggregates.
//! Latency: 2 cycles from the last accepted beat, 1 from the time port passing the deadline, to `closed`.
//! Limits: times are differences of a 48-bit clock, which may wrap (once in 78 hours) inside a stage; `timer_ns`, which
//! only tells a simulator how far it may skip, does not follow the wrap. Reset: `clear` disarms it.

use super::types::{GateReport, GateRules};
use crate::prelude::*;

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct State {
    open: bool,
    closed: bool,
    clock_runs: bool,
    entered: bool,
    remaining: W<22>,
    heard_count: W<7>,
    marked: W<64>,
    last_ns: W<48>,
}

/// Stage gate, see the module.
#[derive(LogicBlock, Default)]
pub struct StageGate {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Disarms the gate.
    pub clear: Signal<In, bool>,
    /// Card time in ns.
    pub now_ns: Signal<In, W<48>>,
    /// Opens the gate by these rules.
    pub arm: Signal<In, bool>,
    /// The rules.
    pub rules: Signal<In, GateRules>,
    /// The own entry into the stage.
    pub enter: Signal<In, bool>,
    /// A packet of a peer was accepted for this stage.
    pub packet: Signal<In, bool>,
    /// Its sender, one-hot.
    pub sender: Signal<In, W<64>>,
    /// It carries the mark.
    pub mark: Signal<In, bool>,
    /// A beat was accepted.
    pub beat: Signal<In, bool>,
    /// The beat is this rank's own.
    pub own: Signal<In, bool>,
    /// No frame waits in the receive path.
    pub quiet: Signal<In, bool>,
    /// The slot is freed.
    pub free: Signal<In, bool>,
    /// Beats are accepted.
    pub open: Signal<Out, bool>,
    /// The stage is over.
    pub closed: Signal<Out, bool>,
    /// How it went; valid once closed.
    pub report: Signal<Out, GateReport>,
    /// Earliest time at which it may close by the clock; all ones: none.
    pub timer_ns: Signal<Out, W<48>>,
    st: DFF<State>,
    rule: DFF<GateRules>,
    done: DFF<GateReport>,
    deadline_ns: Wire<W<48>>,
    silent_ns: Wire<W<48>>,
    elapsed_ns: Wire<W<48>>,
    silence_ns: Wire<W<48>>,
    all_marked: Wire<bool>,
    own_in: Wire<bool>,
    may_be_early: Wire<bool>,
    complete: Wire<bool>,
    early: Wire<bool>,
    overdue: Wire<bool>,
    unheard: Wire<W<64>>,
    unmarked: Wire<W<64>>,
    enough: Wire<bool>,
    heard_next: Wire<W<7>>,
}

impl Logic for StageGate {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, st, rule, done);

        // The three reasons to close, from registered state and the time.
        self.deadline_ns.next = self.done.q.val().start_ns + bit_cast_w::<48, 32>(self.rule.q.val().bound_ns);
        self.silent_ns.next = self.st.q.val().last_ns + bit_cast_w::<48, 32>(self.rule.q.val().grace_ns);
        self.elapsed_ns.next = self.now_ns.val() - self.done.q.val().start_ns;
        self.silence_ns.next = self.now_ns.val() - self.st.q.val().last_ns;
        self.unmarked.next = self.rule.q.val().senders & (self.st.q.val().marked ^ 0xffff_ffff_ffff_ffffu64);
        self.all_marked.next = self.unmarked.val() == 0;
        self.own_in.next = self.done.q.val().own == bit_cast_w::<22, 15>(self.rule.q.val().own);
        self.may_be_early.next =
            self.rule.q.val().early && self.st.q.val().entered && self.own_in.val() && self.all_marked.val();
        self.complete.next = self.st.q.val().clock_runs && (self.st.q.val().remaining == 0);
        self.early.next = self.may_be_early.val()
            && self.quiet.val()
            && (self.silence_ns.val() >= bit_cast_w::<48, 32>(self.rule.q.val().grace_ns));
        self.overdue.next =
            self.st.q.val().clock_runs && (self.elapsed_ns.val() >= bit_cast_w::<48, 32>(self.rule.q.val().bound_ns));

        // What peers sent, and whether they alone start the clock.
        self.unheard.next = self.sender.val() & (self.done.q.val().heard ^ 0xffff_ffff_ffff_ffffu64);
        self.heard_next.next = self.st.q.val().heard_count;
        if self.packet.val() && (self.unheard.val() != 0) {
            self.heard_next.next = self.st.q.val().heard_count + 1;
        }
        self.enough.next =
            (self.rule.q.val().start_peers != 0) && (self.heard_next.val() >= self.rule.q.val().start_peers);

        if self.st.q.val().open {
            if self.packet.val() {
                self.done.d.next.heard = self.done.q.val().heard | self.sender.val();
                self.st.d.next.heard_count = self.heard_next.val();
                self.st.d.next.last_ns = self.now_ns.val();
                if self.mark.val() {
                    self.st.d.next.marked = self.st.q.val().marked | self.sender.val();
                }
            }
            if self.beat.val() {
                self.st.d.next.remaining = self.st.q.val().remaining - 1;
                if self.own.val() {
                    self.done.d.next.own = self.done.q.val().own + 1;
                } else {
                    self.done.d.next.received = self.done.q.val().received + 1;
                }
            }
            if self.enter.val() {
                self.st.d.next.entered = true;
            }
            if (self.enter.val() || self.enough.val()) && !self.st.q.val().clock_runs {
                self.st.d.next.clock_runs = true;
                self.st.d.next.last_ns = self.now_ns.val();
                self.done.d.next.start_ns = self.now_ns.val();
            }
            if self.complete.val() || self.early.val() || self.overdue.val() {
                self.st.d.next.open = false;
                self.st.d.next.closed = true;
                self.done.d.next.closed_ns = self.now_ns.val();
                self.done.d.next.closed_by = bits_w::<2>(2);
                if self.early.val() {
                    self.done.d.next.closed_by = bits_w::<2>(1);
                }
                if self.complete.val() {
                    self.done.d.next.closed_by = bits_w::<2>(0);
                }
            }
        }
        if self.arm.val() {
            self.rule.d.next = self.rules.val();
            self.st.d.next.open = true;
            self.st.d.next.closed = false;
            self.st.d.next.clock_runs = false;
            self.st.d.next.entered = false;
            self.st.d.next.remaining = self.rules.val().expected;
            self.st.d.next.heard_count = bits_w::<7>(0);
            self.st.d.next.marked = bits_w::<64>(0);
            self.done.d.next.received = bits_w::<22>(0);
            self.done.d.next.own = bits_w::<22>(0);
            self.done.d.next.heard = bits_w::<64>(0);
        }
        if self.free.val() || self.clear.val() {
            self.st.d.next.open = false;
            self.st.d.next.closed = false;
            self.st.d.next.clock_runs = false;
            self.st.d.next.entered = false;
        }

        self.open.next = self.st.q.val().open;
        self.closed.next = self.st.q.val().closed;
        self.report.next = self.done.q.val();
        self.timer_ns.next = bits_w::<48>(0xffff_ffff_ffffu64);
        if self.st.q.val().open && self.st.q.val().clock_runs {
            self.timer_ns.next = self.deadline_ns.val();
            if self.may_be_early.val() && (self.silent_ns.val() < self.deadline_ns.val()) {
                self.timer_ns.next = self.silent_ns.val();
            }
        }
    }
}

clocked!(StageGate);
