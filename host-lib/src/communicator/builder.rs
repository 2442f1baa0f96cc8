//! Settings in force of a communicator, and the protocol's parameters that follow from them.

use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use super::error::{ConnectError, Error};
use crate::card::{Cards, split_card};
use crate::control::{Launch, Terms};
use crate::plane::Plane;
use crate::secret::{SEAL_BYTES, Secret};
use crate::settings::tuned::SendThread;
use crate::settings::{CardFallback, Early, Groups, MTU_MIN, Repair, SettingError, Settings, SharedMemory};
use crate::udp::payload_beats_of;
use optireduce_contract::limits::BEAT_BYTES;
use optireduce_core::protocol::{BoundParams, EarlyRule, HadamardMode, JobParams, MembershipParams};
use optireduce_core::{Collectives, DataPlane};

/// Shortest measured bound with one rank per core: a host may deschedule a thread for this long.
pub const BOUND_MIN: Duration = Duration::from_millis(5);

/// Default of the setting `bound_max_ms`.
pub const BOUND_MAX_DEFAULT: Duration = Duration::from_secs(1);

/// Shortest adaptive grace time: a host may deschedule a thread.
const GRACE_MIN: Duration = Duration::from_micros(250);

/// Silence after which a rank with open connections may be dropped: its host may be busy.
const SILENT: Duration = Duration::from_millis(500);
/// Maximum lead of a rank, in collectives; covers small ones during one message latency.
const LEAD_OPS: u32 = 64;
/// Wait for an answer in an agreement, on a busy host.
const RETRY: Duration = Duration::from_millis(200);

/// Wait for the leader's decision beyond the bounds: its host may be busy.
const AGREEING_SLACK: Duration = Duration::from_millis(250);

/// Initial rate with rate control: 100 Gb/s.
const RATE_MAX_BYTES_PER_US: u32 = 12_500;

/// With fewer cores per rank, a send thread competes with the engine and the trainer.
const SENDING_CORES_MIN: usize = 4;

impl From<SettingError> for ConnectError {
    fn from(error: SettingError) -> Self {
        match error {
            SettingError::Value { setting, found, expected } => Self::Setting { setting, found, expected },
            SettingError::Place(error) => error.into(),
            SettingError::Secret(error) => error.into(),
        }
    }
}

/// Source of the stage bound t_B.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bound {
    Fixed(Duration),
    /// By the [`BoundEstimator`](optireduce_core::protocol::BoundEstimator).
    Measured {
        max: Duration,
    },
}

/// Settings in force, as values.
#[derive(Clone, Debug)]
pub(super) struct Builder {
    /// The same as text, from which communicators of some of the ranks derive theirs.
    pub settings: Settings,
    pub launch: Launch,
    pub listener: Option<Arc<TcpListener>>,
    pub secret: Option<Secret>,
    pub interface: Option<String>,
    pub mtu: Option<usize>,
    pub card: Option<Card>,
    /// Groups of a job on two levels.
    pub groups: Option<Groups>,
    pub card_fallback: CardFallback,
    pub shared_memory: SharedMemory,
    pub send_thread: SendThread,
    pub timeout: Duration,
    pub bound: Bound,
    pub early: Early,
    pub grace: Option<Duration>,
    pub hadamard: HadamardMode,
    pub bf16: bool,
    pub incast: Option<usize>,
    pub window_bytes: usize,
    pub rate_control: bool,
    pub silent_ops: Option<u32>,
    pub repair: Repair,
    pub agree: bool,
    pub skip_gone: bool,
    pub ranks_here: Option<usize>,
    pub silent: Duration,
}

/// Setting `card`, for this rank.
#[derive(Clone, Debug)]
pub(super) struct Card {
    pub place: String,
    pub address: Option<String>,
}

impl Builder {
    /// # Errors
    /// If a value is invalid, or the place of this process is unknown.
    pub fn new(settings: &Settings) -> Result<Self, Error> {
        let (settings, launch) = settings.settle()?;
        settings.tuned.check()?;
        let (tuned, inherited) = (settings.tuned.clone(), settings.inherited.clone());
        let card = settings.word_or_text("card").map(|card| {
            let card = card.replace("{rank}", &launch.rank.to_string());
            let (place, address) = split_card(&card);
            Card { place: place.into(), address: address.map(str::to_owned) }
        });
        let bound = match settings.time_or_word("bound_ms") {
            Some(bound) => Bound::Fixed(bound),
            None => Bound::Measured { max: settings.time("bound_max_ms") },
        };
        let builder = Self {
            listener: inherited.listener,
            secret: settings.secret_in_force().cloned(),
            interface: settings.word_or_text("interface").map(str::to_owned),
            mtu: settings.number("mtu"),
            card,
            groups: settings.number("groups").filter(|_| launch.world_size > 1),
            card_fallback: settings.one_of("card_fallback", CardFallback::ALL),
            shared_memory: settings.one_of("shared_memory", SharedMemory::ALL),
            send_thread: tuned.send_thread,
            timeout: settings.time("timeout_s"),
            bound,
            early: settings.one_of("early", Early::ALL),
            grace: tuned.grace.or(inherited.grace),
            hadamard: settings.one_of("hadamard", &HadamardMode::ALL),
            bf16: settings.is_on("bf16"),
            incast: tuned.incast,
            window_bytes: tuned.window_bytes(),
            rate_control: tuned.rate_control,
            silent_ops: settings.number("drop_silent_after"),
            repair: settings.one_of("repair", &Repair::ALL),
            agree: settings.is_on("agree"),
            skip_gone: settings.is_on("skip_gone"),
            ranks_here: inherited.ranks_here,
            silent: inherited.silent.unwrap_or(SILENT),
            launch,
            settings,
        };
        if let Some(mtu) = builder.mtu {
            builder.payload_beats(mtu, builder.secret.is_some())?;
        }
        Ok(builder)
    }

    pub fn terms(&self) -> Terms {
        self.settings.terms()
    }

    /// Settings of a communicator of `ranks` of these ranks, which has this one as its `rank`. It
    /// has one level, and no card, since a card has one job at a time.
    pub fn of_some(&self, rank: usize, ranks: usize, root: &str, id: &str) -> Settings {
        let settings = self.settings.clone().rank(rank).world_size(ranks).root(root);
        settings.job_id(format!("{}/{id}", self.launch.job_id)).rejoin(false).card("none").groups(None)
    }

    pub(super) fn sends_beside(&self, ranks: usize, cores: usize) -> bool {
        match self.send_thread {
            SendThread::Auto => cores >= ranks * SENDING_CORES_MIN,
            SendThread::On => true,
            SendThread::Off => false,
        }
    }

    pub(super) fn payload_beats(&self, mtu: usize, sealed: bool) -> Result<usize, Error> {
        let least = MTU_MIN + if sealed { SEAL_BYTES } else { 0 };
        let expected = || format!("at least {least} bytes, which hold one beat of payload");
        let too_small = || ConnectError::Setting { setting: "mtu", found: mtu.to_string(), expected: expected() };
        Some(payload_beats_of(mtu, sealed)).filter(|beats| *beats > 0).ok_or_else(too_small).map_err(Error::from)
    }

    pub(super) fn bound_ns(&self) -> u64 {
        match self.bound {
            Bound::Fixed(bound) => bound.as_nanos() as u64,
            Bound::Measured { max } => max.as_nanos() as u64,
        }
    }

    pub(super) fn params(
        &self,
        launch: &Launch,
        plane: &Plane,
        payload_beats: usize,
        cards: Option<&Cards>,
    ) -> JobParams {
        let bound_ns = self.bound_ns();
        let limits = cards.map_or(plane.limits(), |cards| cards.limit(plane.limits()));
        let defaults = JobParams::new(launch.rank, launch.world_size, payload_beats, bound_ns, &limits);
        let grace_ns = |grace: Duration| u32::try_from(grace.as_nanos().min(bound_ns.into())).unwrap_or(u32::MAX);
        JobParams {
            bf16: self.bf16,
            incast: self.incast.unwrap_or(1),
            early: self.grace.map(|grace| EarlyRule { grace_ns: grace_ns(grace) }),
            window_beats_max: (self.window_bytes / BEAT_BYTES).min(limits.window_beats_max),
            // Only a data plane that hangs is this late; a thread may be descheduled for long.
            stage_slack_ns: 10_000_000_000,
            ..defaults
        }
    }

    /// `ranks_a_core`: ranks of this host per core, which share its time.
    pub(super) fn collectives(
        &self,
        launch: &Launch,
        plane: Plane,
        payload_beats: usize,
        job_seed: u64,
        cards: Option<&Cards>,
        ranks_a_core: u32,
    ) -> Result<Collectives<Plane>, Error> {
        let params = JobParams { job_seed, ..self.params(launch, &plane, payload_beats, cards) };
        let bound_ns = params.bound_ns;
        let failed = |error: &dyn std::fmt::Display| ConnectError::Params(error.to_string());
        let plane_is_card = plane.is_card();
        let mut collectives = Collectives::new(plane, params).map_err(|error| failed(&error))?;
        if self.early == Early::Adaptive && self.grace.is_none() {
            collectives.follow_stage_times(GRACE_MIN.as_nanos() as u32);
        }
        if self.incast.is_none() {
            collectives.follow_incast();
        }
        // The rates of a card are set for the whole job.
        if self.rate_control && !plane_is_card {
            collectives.follow_round_trips(RATE_MAX_BYTES_PER_US).map_err(|error| failed(&error))?;
        }
        // Each call states whether it is repaired.
        collectives.repair();
        if let Some(cards) = cards {
            collectives.wait_for_cards(cards.ranks().clone());
        }
        collectives.compare_calls(bound_ns);
        let members = MembershipParams {
            silent_ops: self.silent_ops,
            silent_ns: self.silent.as_nanos().try_into().unwrap_or(u64::MAX),
            patience_ns: self.timeout.as_nanos().try_into().unwrap_or(u64::MAX),
            retry_ns: RETRY.as_nanos() as u64,
            lead_ops: LEAD_OPS,
            bound: match self.bound {
                Bound::Fixed(_) => None,
                Bound::Measured { max } => {
                    let min = (BOUND_MIN * ranks_a_core).min(max);
                    Some(BoundParams { min_ns: min.as_nanos() as u64, max_ns: max.as_nanos() as u64 })
                }
            },
            ..MembershipParams::new(launch.world_size)
        };
        // Each call states whether its encoding follows the loss.
        collectives.agree_on_views(members, HadamardMode::Auto).map_err(|error| failed(&error))?;
        if self.agree {
            collectives.agree_on_updates_within(AGREEING_SLACK.as_nanos() as u64);
        }
        Ok(collectives)
    }
}
