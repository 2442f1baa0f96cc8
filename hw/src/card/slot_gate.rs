//! Gate of one slot, the part of [`super::stage_gates`] needed once per slot. It decides when the
//! stage is over and why.
//! Latency: none from the time port to `due`. Reset: `free`.

use crate::hdl::prelude::*;

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct State {
    open: bool,
    closed: bool,
    clock_runs: bool,
    entered: bool,
    early: bool,
    all_in: bool,
    own_in: bool,
    all_marked: bool,
    closed_by: W<2>,
}

#[derive(LogicBlock, Default)]
pub struct SlotGate {
    pub clock: Signal<In, Clock>,
    pub now_ns: Signal<In, W<34>>,
    /// No frame waits in the receive path.
    pub quiet: Signal<In, bool>,
    pub arm: Signal<In, bool>,
    /// With `arm`: the stage may close early.
    pub early: Signal<In, bool>,
    /// With `arm` or `counted`: no beat is missing.
    pub all_in: Signal<In, bool>,
    /// With `arm` or `counted`: no local beat is missing.
    pub own_in: Signal<In, bool>,
    /// With `arm` or `heard`: no mark is missing.
    pub all_marked: Signal<In, bool>,
    pub counted: Signal<In, bool>,
    pub heard: Signal<In, bool>,
    pub enter: Signal<In, bool>,
    pub start: Signal<In, bool>,
    /// Deadline, stored at `start`.
    pub deadline_ns: Signal<In, W<34>>,
    /// End of the grace time, stored at `start` and at `heard`.
    pub grace_ns: Signal<In, W<34>>,
    pub close: Signal<In, bool>,
    pub free: Signal<In, bool>,
    pub open: Signal<Out, bool>,
    pub closed: Signal<Out, bool>,
    pub clock_runs: Signal<Out, bool>,
    pub entered: Signal<Out, bool>,
    /// The stage must close.
    pub due: Signal<Out, bool>,
    /// 0 complete, 1 early, 2 deadline. Valid from the cycle after `close`.
    pub closed_by: Signal<Out, W<2>>,
    /// Only silence is missing for an early close.
    pub may_be_early: Signal<Out, bool>,
    pub ends_ns: Signal<Out, W<34>>,
    pub silent_ns: Signal<Out, W<34>>,
    st: DFF<State>,
    ends: DFF<W<34>>,
    silent: DFF<W<34>>,
    over: Wire<W<34>>,
    silence: Wire<W<34>>,
    could: Wire<bool>,
    is_complete: Wire<bool>,
    is_early: Wire<bool>,
    is_overdue: Wire<bool>,
}

impl Logic for SlotGate {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, st, ends, silent);
        self.over.next = self.now_ns.val() - self.ends.q.val();
        self.silence.next = self.now_ns.val() - self.silent.q.val();
        self.could.next =
            self.st.q.val().early && self.st.q.val().entered && self.st.q.val().own_in && self.st.q.val().all_marked;
        self.is_complete.next = self.st.q.val().clock_runs && self.st.q.val().all_in;
        self.is_early.next = self.could.val() && self.quiet.val() && !self.silence.val().get_bit(33);
        self.is_overdue.next = self.st.q.val().clock_runs && !self.over.val().get_bit(33);
        self.due.next =
            self.st.q.val().open && (self.is_complete.val() || self.is_early.val() || self.is_overdue.val());

        if self.start.val() {
            self.st.d.next.clock_runs = true;
            self.ends.d.next = self.deadline_ns.val();
        }
        if self.start.val() || self.heard.val() {
            self.silent.d.next = self.grace_ns.val();
        }
        if self.enter.val() {
            self.st.d.next.entered = true;
        }
        if self.arm.val() || self.counted.val() {
            self.st.d.next.all_in = self.all_in.val();
            self.st.d.next.own_in = self.own_in.val();
        }
        if self.arm.val() || self.heard.val() {
            self.st.d.next.all_marked = self.all_marked.val();
        }
        if self.close.val() {
            self.st.d.next.open = false;
            self.st.d.next.closed = true;
            self.st.d.next.closed_by = bits_w::<2>(2);
            if self.is_early.val() {
                self.st.d.next.closed_by = bits_w::<2>(1);
            }
            if self.is_complete.val() {
                self.st.d.next.closed_by = bits_w::<2>(0);
            }
        }
        if self.arm.val() {
            self.st.d.next.open = true;
            self.st.d.next.closed = false;
            self.st.d.next.clock_runs = false;
            self.st.d.next.entered = false;
            self.st.d.next.early = self.early.val();
        }
        if self.free.val() {
            self.st.d.next.open = false;
            self.st.d.next.closed = false;
            self.st.d.next.clock_runs = false;
            self.st.d.next.entered = false;
        }
        self.open.next = self.st.q.val().open;
        self.closed.next = self.st.q.val().closed;
        self.closed_by.next = self.st.q.val().closed_by;
        self.clock_runs.next = self.st.q.val().clock_runs;
        self.entered.next = self.st.q.val().entered;
        self.may_be_early.next = self.could.val();
        self.ends_ns.next = self.ends.q.val();
        self.silent_ns.next = self.silent.q.val();
    }
}
