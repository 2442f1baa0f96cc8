//! One rank of a job: the protocol's code over a data plane, and the program that calls it.

use std::collections::VecDeque;

use optireduce_core::protocol::{EarlyRule, HadamardMode, JobParams, MembershipParams, VoteParams};
use optireduce_core::software::{Software, SoftwareJob};
use optireduce_core::{Collectives, CollectivesError, DataPlane};

use super::card::RankCard;
use super::plan::JobPlan;
use super::settings::card_limits;
use crate::cluster::rank_plane::{RankPlane, RankPlaneError};

pub(super) type Plane = RankPlane<Software>;
pub(super) type EngineError = CollectivesError<RankPlaneError>;
/// As in the host library, since hosts may be descheduled.
const SLACK_NS: u64 = 10_000_000_000;
pub(super) const CARD_SLACK_NS: u64 = 50_000_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Makes calls, or has made all.
    Working,
    /// Asks to join once its collectives end.
    Dropped,
    Joining,
    Dead,
    Failed,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Outstanding {
    pub op: u32,
    /// By the rank's clock.
    pub called_ns: u64,
    pub due_ns: u64,
}

#[derive(Debug)]
pub(super) enum Arrived {
    Datagram(Option<usize>, Vec<u8>),
    Control(usize, Vec<u8>),
    Gone(usize),
}

pub(super) struct Rank {
    pub engine: Option<Collectives<Plane>>,
    pub card: Option<RankCard>,
    /// True once a fault affected the card; the rank may then fail.
    pub card_suspect: bool,
    pub state: State,
    /// Offset of the rank's clock from virtual time.
    pub clock_ns: u64,
    pub frozen_until_ns: Option<u64>,
    pub frozen_since_ns: u64,
    pub inbox: VecDeque<Arrived>,
    pub inbox_bytes: usize,
    pub incarnation: u64,
    /// Time at which all peers have detected the last crash.
    pub heard_ns: u64,
    /// Prepared but not yet called: cards must arm windows before peers send.
    pub prepared: Option<u32>,
    /// Next collective, and the virtual time of its call.
    pub next_op: u32,
    pub next_call_ns: u64,
    /// Last collective that redeclared its bucket.
    pub declared_op: u32,
    pub outstanding: VecDeque<Outstanding>,
    /// Start of the wait for a view, by the rank's clock.
    pub waiting_ns: Option<u64>,
    pub wake_ns: Option<u64>,
    /// Number and first collective of known views, oldest first.
    pub views: Vec<(u32, u32)>,
}

impl Rank {
    pub fn new(plan: &JobPlan, rank: usize, clock_ns: u64) -> Result<Self, EngineError> {
        let (engine, card) = engine(plan, rank)?;
        Ok(Self {
            engine: Some(engine),
            card,
            card_suspect: false,
            state: State::Working,
            clock_ns,
            frozen_until_ns: None,
            frozen_since_ns: 0,
            inbox: VecDeque::new(),
            inbox_bytes: 0,
            incarnation: 0,
            heard_ns: 0,
            prepared: None,
            next_op: 0,
            next_call_ns: 0,
            declared_op: 0,
            outstanding: VecDeque::new(),
            waiting_ns: None,
            wake_ns: None,
            views: Vec::new(),
        })
    }

    pub fn is_awake(&self) -> bool {
        self.engine.is_some() && self.frozen_until_ns.is_none() && self.state != State::Failed
    }

    pub fn is_working(&self) -> bool {
        self.engine.is_some() && self.state == State::Working
    }
}

pub(super) fn engine(plan: &JobPlan, rank: usize) -> Result<(Collectives<Plane>, Option<RankCard>), EngineError> {
    let (set, ranks) = (&plan.settings, plan.ranks);
    let (plane, card) = if plan.has_card(rank) {
        let (plane, card) = RankCard::new(plan, rank).map_err(|error| CollectivesError::Plane(error.into()))?;
        (Plane::Card(Box::new(plane)), Some(card))
    } else {
        let job = SoftwareJob {
            slots: set.slots,
            unexpected_bytes_max: set.unexpected_bytes,
            in_flight_bytes_max: vec![set.in_flight_bytes; ranks],
            ..SoftwareJob::new(rank, ranks, plan.job_tag(), set.payload_beats)
        };
        let plane = Software::new(job).map_err(|error| CollectivesError::Plane(error.into()))?;
        (Plane::Software(plane), None)
    };
    let limits = if plan.cards == 0 { plane.limits() } else { card_limits() };
    let params = JobParams {
        window_beats_max: set.window_beats.max(ranks),
        early: set.grace_ns.map(|grace_ns| EarlyRule { grace_ns }),
        job_seed: plan.seed,
        bf16: set.bf16,
        stage_slack_ns: if card.is_some() { CARD_SLACK_NS } else { SLACK_NS },
        ..JobParams::new(rank, ranks, set.payload_beats, set.bound_ns, &limits)
    };
    let mut engine = Collectives::new(plane, params)?;
    if set.follow_stage_times {
        engine.follow_stage_times(20_000);
    }
    if set.follow_incast {
        engine.follow_incast();
    }
    if set.repair {
        engine.repair();
    }
    engine.set_one_off_wait(set.one_off_wait_ns);
    engine.compare_calls(set.bound_ns);
    if set.silent_ops.is_some() {
        let members = MembershipParams {
            silent_ops: set.silent_ops,
            silent_ns: set.silent_ns(),
            lead_ops: set.lead_ops,
            retry_ns: set.retry_ns,
            ..MembershipParams::new(ranks)
        };
        let hadamard = if set.hadamard_follows_loss { HadamardMode::Auto } else { HadamardMode::Off };
        engine.agree_on_views(members, hadamard)?;
    }
    if set.votes {
        engine.agree_on_updates(votes(plan));
    }
    Ok((engine, card))
}

/// Timeouts of votes: as in the host library, with less slack.
pub(super) fn votes(plan: &JobPlan) -> VoteParams {
    let leader_ns = 2 * plan.settings.bound_ns;
    VoteParams { leader_ns, others_ns: leader_ns + plan.settings.bound_ns + 5_000_000 }
}
