//! `TxMerge`: merges the card's frames with the answers to ARP and ping on the way to the MAC,
//! frame by frame.
//!
//! Answers have priority because they are few: a frame of the card waits for at most one answer (16
//! beats). A frame that was offered or begun is completed before the other side's turn.
//! Latency: none. Throughput: one beat a cycle, without a gap between frames. Back-pressure:
//! `ready`, `answer_ready`.
//! Reset: `reset` forgets the frame under way.

use crate::hdl::prelude::*;

/// Frame under way, if `taken`.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Turn {
    taken: bool,
    answer: bool,
}

#[derive(LogicBlock, Default)]
pub struct TxMerge {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, bool>,
    /// From the card.
    pub valid: Signal<In, bool>,
    pub data: Signal<In, Beat>,
    pub last: Signal<In, bool>,
    /// The frame is incomplete.
    pub error: Signal<In, bool>,
    pub ready: Signal<Out, bool>,
    pub answer_valid: Signal<In, bool>,
    pub answer_data: Signal<In, Beat>,
    pub answer_last: Signal<In, bool>,
    pub answer_ready: Signal<Out, bool>,
    pub tx_valid: Signal<Out, bool>,
    pub tx_data: Signal<Out, Beat>,
    pub tx_last: Signal<Out, bool>,
    pub tx_error: Signal<Out, bool>,
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
