//! Stage gates: decide when one stage of each of 8 windows is over, whether or not the host is
//! awake.
//!
//! A stage closes complete (all beats have arrived), early, or at its deadline (t_B after its clock
//! started). If several apply in one cycle, the first of these is the reason (OptiReduce 3.2.1). It
//! closes early once this rank has entered and the local beats and all senders' last-percentile
//! marks have arrived, followed by silence for the grace time.
//! Difference from the paper: the clock starts when this rank enters the stage, or once enough
//! peers were heard. A sleeping host thus does not delay the peers that wait for the shard
//! aggregated by its card.
//!
//! Only logic that compares the time in every cycle is replicated per slot ([`SlotGate`]). Counts,
//! maps and rules are rows of memories, changed by one event and one beat per cycle. Arming a slot
//! does not clear its rows; the first change after it starts from zero.
//! Latency: 1 cycle from a deadline at the time port to `closed`, 4 from the last accepted beat, 3
//! from a packet to its effect. Recorded times are event times.
//! Throughput: one event per cycle, packets before this rank's entries, and entries in order of
//! slots. One close per cycle, lowest slot first.
//! Limits: packets arrive at most every other cycle (each has a header beat), and a slot is armed
//! at least two cycles after it was freed. Times are compared modulo 2^34 ns, so time may advance
//! in steps of up to 8 s; `timer_ns` limits the steps of a simulator.
//! Reset: `clear` disarms all slots.

use super::slot_gate::SlotGate;
use super::types::{GateReport, GateRules};
use crate::hdl::prelude::*;
use crate::mem::ram::LutRam;

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct EventRules {
    bound_ns: W<32>,
    grace_ns: W<32>,
    start_peers: W<7>,
    senders: W<64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct BeatRules {
    expected: W<22>,
    own: W<15>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Peers {
    heard: W<64>,
    marked: W<64>,
    count: W<7>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Beats {
    left: W<22>,
    received: W<22>,
    own: W<22>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct End {
    closed_by: W<2>,
    closed_ns: W<48>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Event {
    packet: bool,
    enter: bool,
    slot: W<3>,
    sender: W<64>,
    mark: bool,
    at_ns: W<48>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Counting {
    valid: bool,
    slot: W<3>,
    own: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct LookedUp {
    packet: bool,
    enter: bool,
    slot: W<3>,
    sender: W<64>,
    mark: bool,
    at_ns: W<48>,
    heard: W<64>,
    marked: W<64>,
    count: W<7>,
    count_with: W<7>,
    known: bool,
    bound_ns: W<32>,
    grace_ns: W<32>,
    /// Enough peers were heard to start the clock: without this packet's sender, and with it.
    enough: bool,
    enough_with: bool,
    senders: W<64>,
}

/// Counted beat, with the beats left in its stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct TallyDone {
    valid: bool,
    slot: W<3>,
    left: W<22>,
    own: W<22>,
    own_expected: W<15>,
}

/// Slot that closed, one-hot, and the time of the close.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Ending {
    slots: W<8>,
    at_ns: W<48>,
}

#[derive(LogicBlock, Default)]
pub struct StageGates {
    pub clock: Signal<In, Clock>,
    pub clear: Signal<In, bool>,
    pub now_ns: Signal<In, W<48>>,
    pub arm: Signal<In, W<8>>,
    pub arm_slot: Signal<In, W<3>>,
    pub rules: Signal<In, GateRules>,
    /// Slots whose stage this rank enters; a pulse, or held.
    pub enter: Signal<In, W<8>>,
    /// Accepted packet of a peer; `sender` is one-hot.
    pub packet: Signal<In, bool>,
    pub packet_slot: Signal<In, W<3>>,
    pub sender: Signal<In, W<64>>,
    pub mark: Signal<In, bool>,
    /// Accepted beat; `own` marks a local one.
    pub beat: Signal<In, bool>,
    pub beat_slot: Signal<In, W<3>>,
    pub own: Signal<In, bool>,
    /// No frame waits in the receive path.
    pub quiet: Signal<In, bool>,
    pub free: Signal<In, W<8>>,
    pub open: Signal<Out, W<8>>,
    pub closed: Signal<Out, W<8>>,
    /// The report is valid from the cycle after `closed`.
    pub report_slot: Signal<In, W<3>>,
    pub report: Signal<Out, GateReport>,
    /// `timer_ns` is the earliest time at which the clock may close the slot, or all ones.
    pub timer_slot: Signal<In, W<3>>,
    pub timer_ns: Signal<Out, W<48>>,
    gate: [SlotGate; 8],
    event_rules: LutRam<EventRules, 3>,
    beat_rules: LutRam<BeatRules, 3>,
    peers: LutRam<Peers, 3>,
    beats: LutRam<Beats, 3>,
    // Copies for a second reader.
    told_heard: LutRam<W<64>, 3>,
    told_beats: LutRam<Beats, 3>,
    starts: LutRam<W<48>, 3>,
    ends: LutRam<End, 3>,
    entering: DFF<W<8>>,
    unheard: DFF<W<8>>,
    uncounted: DFF<W<8>>,
    noted: DFF<Event>,
    looked_up: DFF<LookedUp>,
    ending: DFF<Ending>,
    tally_done: DFF<TallyDone>,
    counting: DFF<Counting>,
    now: Wire<W<34>>,
    open_now: Wire<W<8>>,
    closed_now: Wire<W<8>>,
    runs_now: Wire<W<8>>,
    waiting: Wire<W<8>>,
    waiting_less: Wire<W<8>>,
    first_waiting: Wire<W<8>>,
    served: Wire<W<8>>,
    due: Wire<W<8>>,
    due_less: Wire<W<8>>,
    first_due: Wire<W<8>>,
    end_bits: Wire<W<8>>,
    end_slot: Wire<W<3>>,
    reason: Wire<W<2>>,
    one: Wire<W<8>>,
    event_slot: Wire<W<3>>,
    event_bit: Wire<W<8>>,
    beat_bit: Wire<W<8>>,
    done_bit: Wire<W<8>>,
    slot: Wire<W<3>>,
    known: Wire<W<64>>,
    count: Wire<W<7>>,
    count_with: Wire<W<7>>,
    enough: Wire<bool>,
    becomes: Wire<Peers>,
    missing: Wire<W<64>>,
    all_marked: Wire<bool>,
    start: Wire<bool>,
    start_bit: Wire<W<8>>,
    heard_bit: Wire<W<8>>,
    enter_bit: Wire<W<8>>,
    at: Wire<W<34>>,
    at_ns: Wire<W<48>>,
    deadline: Wire<W<34>>,
    grace: Wire<W<34>>,
    tally: Wire<Beats>,
    tallied: Wire<Beats>,
    all_in: Wire<bool>,
    own_in: Wire<bool>,
    timer_bit: Wire<W<8>>,
    timer_runs: Wire<bool>,
    timer_early: Wire<bool>,
    timer_ends: Wire<W<34>>,
    timer_silent: Wire<W<34>>,
    to_end: Wire<W<34>>,
    to_silence: Wire<W<34>>,
    distance: Wire<W<34>>,
    ahead: Wire<W<48>>,
    timer: Wire<W<48>>,
}

#[sections]
impl Logic for StageGates {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, entering, unheard, uncounted, noted, looked_up, counting, tally_done, ending);
        clock!(self, clock, event_rules, beat_rules, peers, beats, told_heard, told_beats, starts, ends);

        self.gate_states();
        self.arming();
        self.event();
        self.event_slot();
        self.event_effect();
        self.beats();
        self.closing();
        self.gates();
        self.slot_report();
        self.slot_timer();
        if self.clear.val() {
            self.noted.d.next.packet = false;
            self.noted.d.next.enter = false;
            self.looked_up.d.next.packet = false;
            self.looked_up.d.next.enter = false;
            self.counting.d.next.valid = false;
            self.tally_done.d.next.valid = false;
            self.entering.d.next = bits_w::<8>(0);
        }
    }

    /// Collects the outputs of the gates.
    fn gate_states(&mut self) {
        self.one.next = bits_w::<8>(1);
        self.now.next = self.now_ns.val().get_bits::<34>(0);
        self.open_now.next = bits_w::<8>(0);
        self.closed_now.next = bits_w::<8>(0);
        self.runs_now.next = bits_w::<8>(0);
        self.due.next = bits_w::<8>(0);
        self.waiting.next = bits_w::<8>(0);
        for i in 0..8 {
            self.open_now.next = self.open_now.val().replace_bit(i, self.gate[i].open.val());
            self.closed_now.next = self.closed_now.val().replace_bit(i, self.gate[i].closed.val());
            self.runs_now.next = self.runs_now.val().replace_bit(i, self.gate[i].clock_runs.val());
            self.due.next = self.due.val().replace_bit(i, self.gate[i].due.val());
            self.waiting.next =
                self.waiting.val().replace_bit(i, self.gate[i].open.val() && !self.gate[i].entered.val());
        }
        self.open.next = self.open_now.val();
        self.closed.next = self.closed_now.val();
    }

    /// Stores the rules of the armed slot.
    fn arming(&mut self) {
        self.event_rules.write_enable.next = self.arm.val() != 0;
        self.event_rules.write_address.next = self.arm_slot.val();
        self.event_rules.write_data.next.bound_ns = self.rules.val().bound_ns;
        self.event_rules.write_data.next.grace_ns = self.rules.val().grace_ns;
        self.event_rules.write_data.next.start_peers = self.rules.val().start_peers;
        self.event_rules.write_data.next.senders = self.rules.val().senders;
        self.beat_rules.write_enable.next = self.arm.val() != 0;
        self.beat_rules.write_address.next = self.arm_slot.val();
        self.beat_rules.write_data.next.expected = self.rules.val().expected;
        self.beat_rules.write_data.next.own = self.rules.val().own;
    }

    /// Accepts one event a cycle: a packet, else the lowest slot that waits to be entered.
    fn event(&mut self) {
        self.waiting.next = self.waiting.val() & (self.entering.q.val() | self.enter.val());
        self.waiting_less.next = self.waiting.val() - 1;
        self.first_waiting.next = self.waiting.val() & (self.waiting_less.val() ^ 0xff);
        self.slot.next = self.packet_slot.val();
        self.noted.d.next.packet = self.packet.val() && self.open_now.val().get_bit(self.slot.val().index());
        self.noted.d.next.enter = false;
        self.noted.d.next.slot = self.packet_slot.val();
        self.noted.d.next.sender = self.sender.val();
        self.noted.d.next.mark = self.mark.val();
        self.noted.d.next.at_ns = self.now_ns.val();
        self.served.next = bits_w::<8>(0);
        if !self.packet.val() {
            self.served.next = self.first_waiting.val();
            self.noted.d.next.enter = self.waiting.val() != 0;
            self.event_slot.next = bits_w::<3>(0);
            if (self.first_waiting.val() & 0xaa) != 0 {
                self.event_slot.next = bits_w::<3>(1);
            }
            if (self.first_waiting.val() & 0xcc) != 0 {
                self.event_slot.next = self.event_slot.val() | 2;
            }
            if (self.first_waiting.val() & 0xf0) != 0 {
                self.event_slot.next = self.event_slot.val() | 4;
            }
            self.noted.d.next.slot = self.event_slot.val();
        }
        self.entering.d.next = self.waiting.val() ^ self.served.val();
    }

    /// Looks up the rows of the event's slot.
    fn event_slot(&mut self) {
        self.event_rules.read_address.next = self.noted.q.val().slot;
        self.peers.read_address.next = self.noted.q.val().slot;
        self.event_slot.next = self.noted.q.val().slot;
        self.looked_up.d.next.packet = self.noted.q.val().packet;
        self.looked_up.d.next.enter = self.noted.q.val().enter;
        self.looked_up.d.next.slot = self.noted.q.val().slot;
        self.looked_up.d.next.sender = self.noted.q.val().sender;
        self.looked_up.d.next.mark = self.noted.q.val().mark;
        self.looked_up.d.next.at_ns = self.noted.q.val().at_ns;
        self.looked_up.d.next.heard = self.peers.read_data.val().heard;
        self.looked_up.d.next.marked = self.peers.read_data.val().marked;
        self.count.next = self.peers.read_data.val().count;
        self.known.next = self.peers.read_data.val().heard & self.noted.q.val().sender;
        self.looked_up.d.next.known = self.known.val() != 0;
        if self.unheard.q.val().get_bit(self.event_slot.val().index()) {
            self.looked_up.d.next.known = false;
            self.looked_up.d.next.heard = bits_w::<64>(0);
            self.looked_up.d.next.marked = bits_w::<64>(0);
            self.count.next = bits_w::<7>(0);
        }
        self.count_with.next = self.count.val() + 1;
        self.looked_up.d.next.count = self.count.val();
        self.looked_up.d.next.count_with = self.count_with.val();
        self.looked_up.d.next.enough = (self.event_rules.read_data.val().start_peers != 0)
            && (self.count.val() >= self.event_rules.read_data.val().start_peers);
        self.looked_up.d.next.enough_with = (self.event_rules.read_data.val().start_peers != 0)
            && (self.count_with.val() >= self.event_rules.read_data.val().start_peers);
        self.looked_up.d.next.bound_ns = self.event_rules.read_data.val().bound_ns;
        self.looked_up.d.next.grace_ns = self.event_rules.read_data.val().grace_ns;
        self.looked_up.d.next.senders = self.event_rules.read_data.val().senders;
    }

    /// Decides the event's effect: the peers heard and marked, and whether the clock starts.
    fn event_effect(&mut self) {
        self.event_bit.next = self.one.val() << self.looked_up.q.val().slot;
        self.becomes.next.heard = self.looked_up.q.val().heard | self.looked_up.q.val().sender;
        self.becomes.next.marked = self.looked_up.q.val().marked;
        if self.looked_up.q.val().mark {
            self.becomes.next.marked = self.looked_up.q.val().marked | self.looked_up.q.val().sender;
        }
        self.becomes.next.count = self.looked_up.q.val().count;
        self.enough.next = self.looked_up.q.val().enough;
        if !self.looked_up.q.val().known {
            self.becomes.next.count = self.looked_up.q.val().count_with;
            self.enough.next = self.looked_up.q.val().enough_with;
        }
        self.missing.next = self.looked_up.q.val().senders & (self.becomes.val().marked ^ 0xffff_ffff_ffff_ffffu64);
        self.all_marked.next = self.missing.val() == 0;
        self.start.next = ((self.runs_now.val() & self.event_bit.val()) == 0)
            && (self.looked_up.q.val().enter || (self.looked_up.q.val().packet && self.enough.val()));
        self.start_bit.next = bits_w::<8>(0);
        if self.start.val() {
            self.start_bit.next = self.event_bit.val();
        }
        self.heard_bit.next = bits_w::<8>(0);
        if self.looked_up.q.val().packet {
            self.heard_bit.next = self.event_bit.val();
        }
        self.enter_bit.next = bits_w::<8>(0);
        if self.looked_up.q.val().enter {
            self.enter_bit.next = self.event_bit.val();
        }
        self.unheard.d.next = (self.unheard.q.val() & (self.heard_bit.val() ^ 0xff)) | self.arm.val();
        self.peers.write_enable.next = self.looked_up.q.val().packet;
        self.peers.write_address.next = self.looked_up.q.val().slot;
        self.peers.write_data.next = self.becomes.val();
        self.told_heard.write_enable.next = self.looked_up.q.val().packet;
        self.told_heard.write_address.next = self.looked_up.q.val().slot;
        self.told_heard.write_data.next = self.becomes.val().heard;
        self.starts.write_enable.next = self.start.val();
        self.starts.write_address.next = self.looked_up.q.val().slot;
        self.starts.write_data.next = self.looked_up.q.val().at_ns;
        self.at_ns.next = self.looked_up.q.val().at_ns;
        self.at.next = self.at_ns.val().get_bits::<34>(0);
        self.deadline.next = self.at.val() + bit_cast_w::<34, 32>(self.looked_up.q.val().bound_ns);
        self.grace.next = self.at.val() + bit_cast_w::<34, 32>(self.looked_up.q.val().grace_ns);
    }

    /// Counts beats, and finds whether all have arrived.
    fn beats(&mut self) {
        self.counting.d.next.valid = self.beat.val();
        self.counting.d.next.slot = self.beat_slot.val();
        self.counting.d.next.own = self.own.val();
        self.beat_rules.read_address.next = self.counting.q.val().slot;
        self.beats.read_address.next = self.counting.q.val().slot;
        self.beat_bit.next = bits_w::<8>(0);
        if self.counting.q.val().valid {
            self.beat_bit.next = self.one.val() << self.counting.q.val().slot;
        }
        self.tally.next = self.beats.read_data.val();
        if (self.uncounted.q.val() & self.beat_bit.val()) != 0 {
            self.tally.next.left = self.beat_rules.read_data.val().expected;
            self.tally.next.received = bits_w::<22>(0);
            self.tally.next.own = bits_w::<22>(0);
        }
        self.tallied.next = self.tally.val();
        self.tallied.next.left = self.tally.val().left - 1;
        if self.counting.q.val().own {
            self.tallied.next.own = self.tally.val().own + 1;
        } else {
            self.tallied.next.received = self.tally.val().received + 1;
        }
        self.tally_done.d.next.valid = self.counting.q.val().valid;
        self.tally_done.d.next.slot = self.counting.q.val().slot;
        self.tally_done.d.next.left = self.tallied.val().left;
        self.tally_done.d.next.own = self.tallied.val().own;
        self.tally_done.d.next.own_expected = self.beat_rules.read_data.val().own;
        self.all_in.next = self.tally_done.q.val().left == 0;
        self.own_in.next = self.tally_done.q.val().own == bit_cast_w::<22, 15>(self.tally_done.q.val().own_expected);
        self.done_bit.next = bits_w::<8>(0);
        if self.tally_done.q.val().valid {
            self.done_bit.next = self.one.val() << self.tally_done.q.val().slot;
        }
        self.uncounted.d.next = (self.uncounted.q.val() & (self.beat_bit.val() ^ 0xff)) | self.arm.val();
        self.beats.write_enable.next = self.counting.q.val().valid;
        self.beats.write_address.next = self.counting.q.val().slot;
        self.beats.write_data.next = self.tallied.val();
        self.told_beats.write_enable.next = self.counting.q.val().valid;
        self.told_beats.write_address.next = self.counting.q.val().slot;
        self.told_beats.write_data.next = self.tallied.val();
    }

    /// Closes one gate a cycle.
    fn closing(&mut self) {
        self.due_less.next = self.due.val() - 1;
        self.first_due.next = self.due.val() & (self.due_less.val() ^ 0xff);
        self.ending.d.next.slots = self.first_due.val();
        self.ending.d.next.at_ns = self.now_ns.val();
        self.end_bits.next = self.ending.q.val().slots;
        self.end_slot.next = bits_w::<3>(0);
        if (self.end_bits.val() & 0xaa) != 0 {
            self.end_slot.next = bits_w::<3>(1);
        }
        if (self.end_bits.val() & 0xcc) != 0 {
            self.end_slot.next = self.end_slot.val() | 2;
        }
        if (self.end_bits.val() & 0xf0) != 0 {
            self.end_slot.next = self.end_slot.val() | 4;
        }
        self.reason.next = bits_w::<2>(0);
        for i in 0..8 {
            if self.end_bits.val().get_bit(i) {
                self.reason.next = self.gate[i].closed_by.val();
            }
        }
        self.ends.write_enable.next = self.end_bits.val() != 0;
        self.ends.write_address.next = self.end_slot.val();
        self.ends.write_data.next.closed_by = self.reason.val();
        self.ends.write_data.next.closed_ns = self.ending.q.val().at_ns;
    }

    /// Inputs of the gates.
    fn gates(&mut self) {
        for i in 0..8 {
            self.gate[i].clock.next = self.clock.val();
            self.gate[i].now_ns.next = self.now.val();
            self.gate[i].quiet.next = self.quiet.val();
            self.gate[i].arm.next = self.arm.val().get_bit(i);
            self.gate[i].early.next = self.rules.val().early;
            self.gate[i].all_in.next = self.all_in.val();
            self.gate[i].own_in.next = self.own_in.val();
            self.gate[i].all_marked.next = self.all_marked.val();
            if self.arm.val().get_bit(i) {
                self.gate[i].all_in.next = self.rules.val().expected == 0;
                self.gate[i].own_in.next = self.rules.val().own == 0;
                self.gate[i].all_marked.next = self.rules.val().senders == 0;
            }
            self.gate[i].counted.next = self.done_bit.val().get_bit(i);
            self.gate[i].heard.next = self.heard_bit.val().get_bit(i);
            self.gate[i].enter.next = self.enter_bit.val().get_bit(i);
            self.gate[i].start.next = self.start_bit.val().get_bit(i);
            self.gate[i].deadline_ns.next = self.deadline.val();
            self.gate[i].grace_ns.next = self.grace.val();
            self.gate[i].close.next = self.first_due.val().get_bit(i);
            self.gate[i].free.next = self.free.val().get_bit(i) || self.clear.val();
        }
    }

    /// Composes the report of one slot.
    fn slot_report(&mut self) {
        self.told_heard.read_address.next = self.report_slot.val();
        self.told_beats.read_address.next = self.report_slot.val();
        self.starts.read_address.next = self.report_slot.val();
        self.ends.read_address.next = self.report_slot.val();
        self.report.next.closed_by = self.ends.read_data.val().closed_by;
        self.report.next.closed_ns = self.ends.read_data.val().closed_ns;
        self.report.next.start_ns = self.starts.read_data.val();
        self.report.next.heard = bits_w::<64>(0);
        if !self.unheard.q.val().get_bit(self.report_slot.val().index()) {
            self.report.next.heard = self.told_heard.read_data.val();
        }
        self.report.next.received = bits_w::<22>(0);
        self.report.next.own = bits_w::<22>(0);
        if !self.uncounted.q.val().get_bit(self.report_slot.val().index()) {
            self.report.next.received = self.told_beats.read_data.val().received;
            self.report.next.own = self.told_beats.read_data.val().own;
        }
    }

    /// Computes the timer of one slot. A signed distance is widened by adding an offset.
    fn slot_timer(&mut self) {
        self.timer_bit.next = self.one.val() << self.timer_slot.val();
        self.timer_runs.next = false;
        self.timer_early.next = false;
        self.timer_ends.next = bits_w::<34>(0);
        self.timer_silent.next = bits_w::<34>(0);
        for i in 0..8 {
            if self.timer_bit.val().get_bit(i) {
                self.timer_runs.next = self.gate[i].open.val() && self.gate[i].clock_runs.val();
                self.timer_early.next = self.gate[i].may_be_early.val();
                self.timer_ends.next = self.gate[i].ends_ns.val();
                self.timer_silent.next = self.gate[i].silent_ns.val();
            }
        }
        self.to_end.next = self.timer_ends.val() - self.now.val();
        self.to_end.next = self.to_end.val() ^ 0x2_0000_0000u64;
        self.to_silence.next = self.timer_silent.val() - self.now.val();
        self.to_silence.next = self.to_silence.val() ^ 0x2_0000_0000u64;
        self.distance.next = self.to_end.val();
        if self.timer_early.val() && (self.to_silence.val() < self.to_end.val()) {
            self.distance.next = self.to_silence.val();
        }
        self.ahead.next = bit_cast_w::<48, 34>(self.distance.val()) - 0x2_0000_0000u64;
        self.timer.next = self.now_ns.val() + self.ahead.val();
        self.timer_ns.next = bits_w::<48>(0xffff_ffff_ffffu64);
        if self.timer_runs.val() {
            self.timer_ns.next = self.timer.val();
        }
    }
}

clocked!(StageGates);
