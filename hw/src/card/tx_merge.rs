//! `TxMerge`: the card's frames and its answers to ARP and ping on their way to the MAC, whole frames of either.
//!
//! Answers come first, since there are few; so a frame of the card waits for at most the beats of one answer (16), and where there is no
//! answer nothing changes. A frame that was offered or begun is completed before the other side's turn.
//! Latency: none. Throughput: one beat a cycle, without a gap between frames. Back-pressure: `ready`; an offer stands until it is taken.
//! Reset: `reset` (of the MAC too) forgets what was begun.

use crate::hdl::prelude::*;

/// Whose frame is on its way.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Turn {
    /// One is.
    taken: bool,
    /// It is an answer.
    answer: bool,
}

/// Merges two streams of frames, see the module.
#[derive(LogicBlock, Default)]
pub struct TxMerge {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// The MAC is in reset.
    pub reset: Signal<In, bool>,
    /// A beat of the card.
    pub valid: Signal<In, bool>,
    /// The beat.
    pub data: Signal<In, Beat>,
    /// Last of its frame.
    pub last: Signal<In, bool>,
    /// With the last beat: the frame is not whole.
    pub error: Signal<In, bool>,
    /// It is taken.
    pub ready: Signal<Out, bool>,
    /// A beat of an answer.
    pub answer_valid: Signal<In, bool>,
    /// The beat.
    pub answer_data: Signal<In, Beat>,
    /// Last of its frame.
    pub answer_last: Signal<In, bool>,
    /// It is taken.
    pub answer_ready: Signal<Out, bool>,
    /// To the MAC: valid.
    pub tx_valid: Signal<Out, bool>,
    /// The beat.
    pub tx_data: Signal<Out, Beat>,
    /// Last of its frame.
    pub tx_last: Signal<Out, bool>,
    /// With the last beat: the frame is not whole.
    pub tx_error: Signal<Out, bool>,
    /// The MAC takes it.
    pub tx_ready: Signal<In, bool>,
    turn: DFF<Turn>,
    answers: Wire<bool>,
    offer: Wire<bool>,
    ends: Wire<bool>,
}

impl Logic for TxMerge {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, turn);
        self.answers.next = self.answer_valid.val();
        if self.turn.q.val().taken {
            self.answers.next = self.turn.q.val().answer;
        }
        self.offer.next = self.valid.val();
        self.ends.next = self.last.val() && self.tx_ready.val();
        self.tx_data.next = self.data.val();
        self.tx_last.next = self.last.val();
        self.tx_error.next = self.error.val();
        if self.answers.val() {
            self.offer.next = self.answer_valid.val();
            self.ends.next = self.answer_last.val() && self.tx_ready.val();
            self.tx_data.next = self.answer_data.val();
            self.tx_last.next = self.answer_last.val();
            self.tx_error.next = false;
        }
        self.tx_valid.next = self.offer.val();
        self.ready.next = self.tx_ready.val() && !self.answers.val();
        self.answer_ready.next = self.tx_ready.val() && self.answers.val();
        self.turn.d.next.answer = self.answers.val();
        if self.offer.val() {
            self.turn.d.next.taken = !self.ends.val();
        }
        if self.reset.val() {
            self.turn.d.next.taken = false;
        }
    }
}

clocked!(TxMerge);
