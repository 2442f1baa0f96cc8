//! Observed states of the protocol: log events, control messages and reports.
//!
//! Log events (level debug) count by text, so new states of the protocol count without changes
//! here. A search looks for new pairs of a state and the last fault started before it.

use std::collections::BTreeMap;
use std::fmt::{Debug, Write as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use optireduce_core::protocol::membership::MembershipMessage;
use optireduce_core::protocol::repair::RepairMessage;
use optireduce_core::protocol::{CallMessage, Message, Report, Stage, UpdateAction, VoteMessage};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use super::fault::FaultKind;

/// Count of each state, by the preceding fault.
pub(super) type Counts = BTreeMap<(String, Option<FaultKind>), u64>;

#[derive(Clone, Debug, Default)]
pub(super) struct States(Arc<Mutex<Seen>>);

#[derive(Debug, Default)]
struct Seen {
    counts: Counts,
    fault: Option<FaultKind>,
}

impl States {
    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn began(&self, kind: FaultKind) {
        self.lock().fault = Some(kind);
    }

    pub fn add(&self, state: String) {
        let mut seen = self.lock();
        let key = (state, seen.fault);
        *seen.counts.entry(key).or_default() += 1;
    }

    pub fn take(&self) -> Counts {
        std::mem::take(&mut self.lock().counts)
    }

    pub fn report(&self, report: &Report) {
        let kind = report.kind;
        let encoded = if report.hadamard { ", encoded" } else { "" };
        for stage in Stage::ALL.into_iter().filter(|stage| kind.sends(*stage)) {
            self.add(
                format!("{kind}{encoded}: {stage} closed by {:?}", report.closed_by[stage.index()]).to_lowercase(),
            );
        }
        let agreed = if report.agreed { "agreed" } else { "alone" };
        self.add(format!("{kind}{encoded}: {:?}, {agreed}", report.action).to_lowercase());
        let own = [
            (!report.local_contribution, "its own contribution is late"),
            (!report.missing.is_empty(), "returned with something missing"),
            (report.repair.corrected, "returned with corrections"),
            (report.repair.bytes.outstanding_bytes > 0, "returned with repairs outstanding"),
            (report.repair.bytes.drift_bytes > 0, "returned with drift"),
        ];
        let own = own.into_iter().filter(|(is, _)| *is && report.action == UpdateAction::Apply);
        own.for_each(|(_, what)| self.add(format!("{kind}{encoded}: {what}")));
    }

    pub fn message(&self, message: &Message) {
        self.add(format!("sent: {}", name(message)));
    }
}

fn name(message: &Message) -> &'static str {
    match message {
        Message::Repair(RepairMessage::Request { .. }) => "repair request",
        Message::Repair(RepairMessage::Answer { .. }) => "repair",
        Message::Repair(RepairMessage::Nobody { .. }) => "nobody contributed",
        Message::Repair(RepairMessage::Gone { .. }) => "no longer kept",
        Message::Call(CallMessage::Ask { .. }) => "question about a call",
        Message::Call(CallMessage::Tell { .. }) => "answer about a call",
        Message::Vote(VoteMessage::Vote { skip: true, .. }) => "vote to skip",
        Message::Vote(VoteMessage::Vote { .. }) => "vote to apply",
        Message::Vote(VoteMessage::Decision { skip: true, .. }) => "decision to skip",
        Message::Vote(VoteMessage::Decision { .. }) => "decision to apply",
        Message::Membership(message) => match message {
            MembershipMessage::Progress { .. } => "progress",
            MembershipMessage::Suspect { suspects, .. } if suspects.is_empty() => "no longer suspects",
            MembershipMessage::Suspect { .. } => "suspects",
            MembershipMessage::Request { .. } => "request of other settings",
            MembershipMessage::Join { .. } => "request to join",
            MembershipMessage::Prepare { ballot, .. } if ballot.attempt > 1 => "prepare of a later ballot",
            MembershipMessage::Prepare { .. } => "prepare",
            MembershipMessage::Promise { accepted: Some(_), .. } => "promise with a view accepted before",
            MembershipMessage::Promise { .. } => "promise",
            MembershipMessage::Accept { view, .. } if view.joined.is_some() => "accept of a view in which a rank joins",
            MembershipMessage::Accept { .. } => "accept",
            MembershipMessage::Accepted { .. } => "accepted",
            MembershipMessage::Views { .. } => "views decided",
            MembershipMessage::Waits { .. } => "waits",
            MembershipMessage::Behind { .. } => "behind",
        },
        _ => "another message",
    }
}

impl Subscriber for States {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event() && *metadata.level() <= Level::DEBUG && metadata.target().starts_with("optireduce")
    }

    fn event(&self, event: &Event<'_>) {
        let mut text = Text(String::from("logged: "));
        event.record(&mut text);
        self.add(text.0);
    }

    // Unused, since spans are disabled.
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

struct Text(String);

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == "message" {
            let _ = write!(self.0, "{value:?}");
        }
    }
}
