//! The settings of a communicator.

use std::fmt;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use super::error::ConnectError;
use crate::card::Cards;
use crate::control::{Launch, LaunchError};
use crate::plane::Plane;
use crate::secret::{SEAL_BYTES, Secret};
use crate::udp::payload_beats_of;
use optireduce_contract::limits::BEAT_BYTES;
use optireduce_core::protocol::{BoundParams, EarlyRule, HadamardMode, INCAST_MAX, JobParams, MembershipParams};
use optireduce_core::{Collectives, DataPlane};

/// How the stage deadline t_B is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Bound {
    /// As given, from 1 us to 4 s.
    Fixed(Duration),
    /// Measured over the collectives that the job runs anyway: twice the 95th percentile of the stage times of the first 20,
    /// at least [`BOUND_MIN`] for each rank that a core of this host has; measured again when it no longer fits. Nothing stops for that; see
    /// [`BoundEstimator`](optireduce_core::protocol::BoundEstimator).
    Measured {
        /// The longest that it may be, from [`BOUND_MIN`] to 4 s, and what collectives have until it is known.
        max: Duration,
    },
}

/// The shortest bound that is measured: for so long a host may keep the engine's thread off the CPU. Where ranks share cores each may wait
/// for the others: then it is so many times as long as there are ranks for a core.
pub const BOUND_MIN: Duration = Duration::from_millis(5);
/// The longest bound that is measured, unless something else is said.
pub const BOUND_MAX_DEFAULT: Duration = Duration::from_secs(1);

/// The shortest grace time that follows the stage times, for the same reason.
const GRACE_MIN: Duration = Duration::from_micros(250);

/// How long a rank must be silent that still has its connections: its machine may be busy.
const SILENT: Duration = Duration::from_millis(500);
/// How far a rank may be ahead: small collectives must not wait for messages.
const LEAD_OPS: u32 = 64;
/// How long a rank may take to answer in an agreement, on a busy machine, before others go on without its answer.
const RETRY: Duration = Duration::from_millis(200);

/// How much longer than the bounds ranks wait for the leader's decision: its machine may be busy.
const AGREEING_SLACK: Duration = Duration::from_millis(250);

/// Where the rates begin that follow the round-trip times: 100 Gb/s.
const RATE_MAX_BYTES_PER_US: u32 = 12_500;

/// What a timeout may be: below, no two ranks find one another; above, a clock may overflow.
const TIMEOUT_MIN: Duration = Duration::from_millis(1);
const TIMEOUT_MAX: Duration = Duration::from_secs(24 * 60 * 60);
/// The IP packet that holds one beat of payload.
const MTU_MIN: usize = 114;
const WINDOW_BYTES_MAX: usize = 1 << 20;

/// When a stage may close before its deadline: the last packets of all peers were seen, and silence followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Early {
    /// Never.
    Off,
    /// After so much silence.
    Grace(Duration),
    /// After x % of t_C, which follow the loss and the stage times of all ranks (OptiReduce 3.2.1).
    Adaptive,
}

/// Whether ranks of one host send to one another through shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Local {
    /// If they can: the same user, the same boot of the kernel, the same network namespace, at most 64 of them. Pairs of ranks for
    /// which that fails use UDP.
    Auto,
    /// Never: all use UDP.
    Off,
}

impl Local {
    /// What `OPTIREDUCE_LOCAL` says; [`Auto`](Self::Auto) if it is not set.
    pub(super) fn from_env() -> Result<Self, LaunchError> {
        one_of("OPTIREDUCE_LOCAL", [("auto", Self::Auto), ("off", Self::Off)])
    }
}

/// Cores for each rank from which on one sends beside the engine's: on 16 cores 25 MiB took 0.8 times as long with 4 ranks, 0.84 times with 8,
/// and on 2 cores up to 1.5 times with 2. The trainer has use for cores, too.
const SENDING_CORES_MIN: usize = 4;

/// Whether a rank has a thread that sends large batches of packets, beside the one that receives and adds up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SendThread {
    /// If this host has four cores or more for each of its ranks, and some rank is not reached through shared memory.
    Auto,
    /// Also on a host with fewer cores, where it makes large buckets slower.
    On,
    /// Never.
    Off,
}

impl SendThread {
    /// Whether it is on where a host has so many ranks and cores.
    pub(super) fn is_on(self, ranks: usize, cores: usize) -> bool {
        match self {
            Self::Auto => cores >= ranks * SENDING_CORES_MIN,
            Self::On => true,
            Self::Off => false,
        }
    }

    /// What `OPTIREDUCE_SEND_THREAD` says; [`Auto`](Self::Auto) if it is not set.
    pub(super) fn from_env() -> Result<Self, LaunchError> {
        one_of("OPTIREDUCE_SEND_THREAD", [("auto", Self::Auto), ("on", Self::On), ("off", Self::Off)])
    }
}

/// What a variable of the environment says; the first of `values` if it is not set, or empty.
fn one_of<T: Copy, const N: usize>(name: &'static str, values: [(&str, T); N]) -> Result<T, LaunchError> {
    let found = std::env::var(name).unwrap_or_default();
    if found.is_empty() {
        return Ok(values[0].1);
    }
    let value = values.iter().find(|(text, _)| *text == found).map(|(_, value)| *value);
    let expected = || values.map(|(text, _)| text).join(" or ");
    value.ok_or_else(|| LaunchError::Invalid { name, expected: expected(), found: found.clone() })
}

/// What becomes of a job when one of its cards fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CardFallback {
    /// Calls of its rank fail, and the others go on without that rank.
    Off,
    /// All ranks go on over the kernel's UDP, from a collective on which they agree.
    Udp,
}

impl CardFallback {
    /// What `OPTIREDUCE_CARD_FALLBACK` says; [`Off`](Self::Off) if it is not set.
    pub(super) fn from_env() -> Result<Self, LaunchError> {
        one_of("OPTIREDUCE_CARD_FALLBACK", [("off", Self::Off), ("udp", Self::Udp)])
    }
}

impl fmt::Display for CardFallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Off => "off",
            Self::Udp => "udp",
        })
    }
}

/// Settings of a [`Communicator`](crate::Communicator). Launch, interface, card, MTU, send thread and timeout may differ between ranks; all others are compared when
/// the ranks connect, and a difference is an error on every rank.
#[derive(Clone, Debug)]
pub struct Builder {
    pub(super) launch: Option<Launch>,
    /// Where rank 0 listens, if it does already.
    pub(super) listener: Option<Arc<TcpListener>>,
    pub(super) secret: Option<Secret>,
    pub(super) interface: Option<String>,
    pub(super) mtu: Option<usize>,
    /// Where this rank's card is; empty: it has none, whatever the environment says.
    pub(super) card: Option<String>,
    /// Where it is on the network; empty: as it says itself, whatever the environment says.
    pub(super) card_address: Option<String>,
    pub(super) card_fallback: Option<CardFallback>,
    pub(super) local: Option<Local>,
    pub(super) send_thread: Option<SendThread>,
    pub(super) timeout: Duration,
    pub(super) bound: Bound,
    pub(super) early: Early,
    pub(super) hadamard: HadamardMode,
    pub(super) bf16: bool,
    pub(super) incast: Option<usize>,
    pub(super) window_bytes: usize,
    pub(super) rate_control: bool,
    pub(super) silent_ops: Option<u32>,
    pub(super) repair: bool,
    pub(super) wait_for_repairs: bool,
    pub(super) agree: bool,
    pub(super) compared: Vec<(String, String)>,
    /// Ranks on this host, if others than this communicator's are there, too.
    pub(super) ranks_here: Option<usize>,
    /// How long a rank must be silent that still has its connections.
    pub(super) silent: Duration,
}

impl Default for Builder {
    fn default() -> Self {
        Self {
            launch: None,
            listener: None,
            secret: None,
            interface: None,
            mtu: None,
            card: None,
            card_address: None,
            card_fallback: None,
            local: None,
            send_thread: None,
            timeout: Duration::from_secs(60),
            bound: Bound::Measured { max: BOUND_MAX_DEFAULT },
            early: Early::Adaptive,
            hadamard: HadamardMode::Auto,
            bf16: false,
            incast: None,
            window_bytes: 1 << 20,
            rate_control: false,
            silent_ops: Some(3),
            repair: true,
            wait_for_repairs: false,
            agree: false,
            compared: Vec::new(),
            ranks_here: None,
            silent: SILENT,
        }
    }
}

impl Builder {
    /// This process's place in its job. Default: from the launcher's environment, see [`Launch::from_env`].
    pub fn launch(self, launch: Launch) -> Self {
        Self { launch: Some(launch), ..self }
    }

    /// A secret that all ranks share: connections and packets are then encrypted and authenticated. Default: that in
    /// `OPTIREDUCE_SECRET`, or none. Both need the feature `secret`: without it, either is a [`SecretError`](crate::SecretError).
    pub fn secret(self, secret: Secret) -> Self {
        Self { secret: Some(secret), ..self }
    }

    /// Name or address of the interface to use. Default: the one on the way to rank 0.
    pub fn interface(self, interface: impl Into<String>) -> Self {
        Self { interface: Some(interface.into()), ..self }
    }

    /// Bytes of the largest IP packet, at least 114. Default: what gets through between all ranks.
    pub fn mtu(self, mtu: impl Into<Option<usize>>) -> Self {
        Self { mtu: mtu.into(), ..self }
    }

    /// The SmartNIC that moves this rank's gradients, instead of the kernel's UDP: its PCI address, such as "0000:5e:00.0", or the path of a
    /// vfio-user socket, as `optireduce-sim serve --socket PATH` makes one for a simulated card; an empty one: none. `{rank}` in it stands for this
    /// rank. Needs the feature `smartnic` on ranks with a card. Default: what `OPTIREDUCE_CARD` says, or none.
    ///
    /// Ranks with and without a card share jobs. In one with cards
    ///
    /// * every rank has an IPv4 address of its own, at which it receives on the cards' UDP port: ranks without a card on one host need one each
    ///   ([`interface`](Self::interface)), and a card that of its network ([`card_address`](Self::card_address));
    /// * windows are at most the cards', and half the slots of the smallest card are under way at a time on all ranks;
    /// * collectives run one after the other; each begins once all cards have armed its windows, or after t_B: a rank with a card that is late by more misses what
    ///   the others sent meanwhile, and its means are repaired afterwards, except encoded ones;
    /// * [`reduce_scatter`](crate::Communicator::reduce_scatter) and [`all_gather`](crate::Communicator::all_gather), which cards do not know,
    ///   [groups](crate::Communicator::group) and [`partial_reduce`](crate::Communicator::partial_reduce) go over the kernel's UDP on all ranks,
    ///   beside the cards: halves have numbers ([`Report::op`](crate::Report::op)), membership and a measured [`bound`](Self::bound) of their own.
    ///   What goes over TCP is as without cards;
    /// * with [`rate_control`](Self::rate_control), ranks without a card follow the round trips to one another. A card neither measures them nor
    ///   answers: what it sends, and what is sent to it, has no rate;
    /// * there is no [`secret`](Self::secret) and no [`rejoin`](crate::Communicator::rejoin): each is an error that says so.
    ///
    /// A card that goes away ends its rank's collectives with an error at once, one that hangs 10 s after t_B at the latest; the others go
    /// on without that rank, see
    /// [`drop_silent_after`](Self::drop_silent_after), or all go on [over UDP](Self::card_fallback).
    pub fn card(self, address: impl Into<String>) -> Self {
        Self { card: Some(address.into()), ..self }
    }

    /// The address that this rank's card has on the network: `IP[/PREFIX][:PORT][,gateway=MAC]`, such as "10.0.0.2", a free address of the network on
    /// the card's cable; the port is 5791 if none is said. `{rank}` in it stands for this rank; an empty one:
    /// none. An error on a rank without a [`card`](Self::card); from the environment, which ranks may share, it is ignored there with a warning. A board needs it; a simulated card has an address from who serves it, and another is an error. Default: what
    /// `OPTIREDUCE_CARD_ADDRESS` says, or none.
    ///
    /// A card answers ARP, but does not ask. It sends to the MAC addresses of its peers' interfaces and cards, which the ranks tell one another when they
    /// connect. If peers are on other networks, say how long the prefix of the card's own is, and the MAC address of the gateway that the others
    /// are behind: "10.0.0.2/24,gateway=52:54:00:12:34:56". A card that knows no MAC address of its own gets a locally administered one that
    /// follows from its IP address: 02:4f and its four bytes.
    pub fn card_address(self, address: impl Into<String>) -> Self {
        Self { card_address: Some(address.into()), ..self }
    }

    /// What becomes of the job when a card fails. Default: what `OPTIREDUCE_CARD_FALLBACK` says (`off` or `udp`), or
    /// [`CardFallback::Off`].
    ///
    /// With [`CardFallback::Udp`] no rank is lost: its collectives that were under way end at once, with its own part alone and a report that says so, and the
    /// other ranks miss that rank in them. From one of the next collectives on, the same on all ranks, all are made over the kernel's UDP, on
    /// ranks whose cards work, too, and for good. They have numbers, membership and a measured [`bound`](Self::bound) of their own, as halves
    /// have in any job with cards. What the last results over cards lacked is added to the next ones, as in any [`repair`](Self::repair), except encoded ones.
    /// [`Metrics::fallback_from`](crate::Metrics::fallback_from) says that it has happened.
    pub fn card_fallback(self, card_fallback: CardFallback) -> Self {
        Self { card_fallback: Some(card_fallback), ..self }
    }

    /// Whether ranks of one host send to one another through shared memory. Default: what `OPTIREDUCE_LOCAL` says (`auto` or `off`), or
    /// [`Local::Auto`].
    pub fn local(self, local: Local) -> Self {
        Self { local: Some(local), ..self }
    }

    /// Whether this rank has a thread that sends large batches over UDP. Default: what `OPTIREDUCE_SEND_THREAD` says (`auto`, `on` or
    /// `off`), or [`SendThread::Auto`].
    pub fn send_thread(self, send_thread: SendThread) -> Self {
        Self { send_thread: Some(send_thread), ..self }
    }

    /// How long ranks wait for one another outside of stages: when they connect, in barriers, in agreements. Calls over TCP
    /// that move much data end once a rank makes no progress for so long. 1 ms to a day; default: 60 s.
    pub fn timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// The deadline t_B of each stage; without a card, the second stage of an all-reduce also has what the first left of it. Default:
    /// measured, at most 1 s.
    pub fn bound(self, bound: Bound) -> Self {
        Self { bound, ..self }
    }

    /// When a stage may close before its bound. Default: [`Early::Adaptive`].
    pub fn early(self, early: Early) -> Self {
        Self { early, ..self }
    }

    /// When all-reduces are Hadamard-encoded, unless the options of their bucket say otherwise. Default: once more than 2 % are
    /// lost, over some hundred packets, until every rank has lost at most 0.5 % in each of 100 collectives in a row; twice as many each
    /// time it begins again.
    pub fn hadamard(self, hadamard: HadamardMode) -> Self {
        Self { hadamard, ..self }
    }

    /// Whether gradients travel as bf16, unless the options of their bucket say otherwise: half the bytes, relative errors of at
    /// most 2^-8; sums stay fp32. Default: no.
    pub fn bf16(self, bf16: bool) -> Self {
        Self { bf16, ..self }
    }

    /// Peers that are sent to at a time, 1 to 15; `None`: as many as the receivers
    /// can take (OptiReduce 3.2.2). Default: `None`.
    pub fn incast(self, incast: Option<usize>) -> Self {
        Self { incast, ..self }
    }

    /// Largest window in bytes of fp32: a multiple of 64 up to 1 MiB. Default: 1 MiB. In jobs with cards, the cards' window.
    pub fn window_bytes(self, window_bytes: usize) -> Self {
        Self { window_bytes, ..self }
    }

    /// Whether the rate of each peer follows the round-trip times of its answers (OptiReduce 3.2.3). Default: no, since on hosts most of a round
    /// trip is a process that waits for the CPU. What is in flight to a peer follows the network's marks (ECN) and losses in any case.
    pub fn rate_control(self, rate_control: bool) -> Self {
        Self { rate_control, ..self }
    }

    /// Collectives in a row without any sign of a rank after which the others agree to go on without it; a rank whose process
    /// still has its connections must be silent for half a second besides. `None`: never. Default: 3.
    pub fn drop_silent_after(self, ops: Option<u32>) -> Self {
        Self { silent_ops: ops, ..self }
    }

    /// Whether what broadcasts lost is fetched over TCP, and the difference added to the bucket's next output, so that replicas
    /// agree again, unless the options of the bucket say otherwise. Default: yes. It costs a copy of this rank's means.
    pub fn repair(self, repair: bool) -> Self {
        Self { repair, ..self }
    }

    /// Whether a collective of a declared bucket waits for the repair of what this rank missed, no longer than 4 t_B, and is judged by what it
    /// lacks then: replicas have the same results, to the bit, unless a repair takes longer. Costs a round trip over TCP where something
    /// was lost. Without, repairs come one result late, and what an all-gather missed never comes. Default: no.
    pub fn wait_for_repairs(self, wait_for_repairs: bool) -> Self {
        Self { wait_for_repairs, ..self }
    }

    /// Whether all ranks take the same [`action`](crate::Report::action): what one would skip, all skip. Costs two messages on the reliable channel
    /// after each collective, and with a rank that is late up to two bounds. Default: no.
    pub fn agree(self, agree: bool) -> Self {
        Self { agree, ..self }
    }

    /// A setting of the caller's own, to be compared with those of this communicator, and before them. Call it once for each.
    pub fn compare(mut self, name: impl Into<String>, value: impl fmt::Display) -> Self {
        self.compared.push((name.into(), value.to_string()));
        self
    }

    /// What packets of `mtu` bytes hold.
    pub(super) fn payload_beats(&self, mtu: usize, sealed: bool) -> Result<usize, ConnectError> {
        let least = MTU_MIN + if sealed { SEAL_BYTES } else { 0 };
        let expected = || format!("at least {least} bytes, which hold one beat of payload");
        let too_small = || ConnectError::Setting { setting: "mtu", found: mtu.to_string(), expected: expected() };
        Some(payload_beats_of(mtu, sealed)).filter(|beats| *beats > 0).ok_or_else(too_small)
    }

    /// What is out of range, with what it may be.
    pub(super) fn check(&self) -> Result<(), ConnectError> {
        let fail = |setting, found: String, expected: String| Err(ConnectError::Setting { setting, found, expected });
        if let Some(mtu) = self.mtu {
            self.payload_beats(mtu, self.secret.is_some())?;
        }
        if !(TIMEOUT_MIN..=TIMEOUT_MAX).contains(&self.timeout) {
            return fail("timeout", format!("{:?}", self.timeout), "1 ms to a day".into());
        }
        match self.bound {
            Bound::Fixed(bound)
                if !(Duration::from_micros(1)..=Duration::from_nanos(u32::MAX.into())).contains(&bound) =>
            {
                return fail("bound", format!("{bound:?}"), "1 us to 4.29 s".into());
            }
            Bound::Measured { max } if !(BOUND_MIN..=Duration::from_nanos(u32::MAX.into())).contains(&max) => {
                return fail("the longest bound", format!("{max:?}"), format!("{BOUND_MIN:?} to 4.29 s"));
            }
            _ => {}
        }
        if let Some(incast) = self.incast.filter(|incast| !(1..=INCAST_MAX).contains(&(*incast as u64))) {
            return fail("incast", incast.to_string(), format!("1 to {INCAST_MAX}"));
        }
        let window_bytes = self.window_bytes;
        if !window_bytes.is_multiple_of(BEAT_BYTES) || !(BEAT_BYTES..=WINDOW_BYTES_MAX).contains(&window_bytes) {
            let expected = format!("a multiple of {BEAT_BYTES} up to {WINDOW_BYTES_MAX}");
            return fail("window_bytes", window_bytes.to_string(), expected);
        }
        if self.silent_ops == Some(0) {
            return fail("drop_silent_after", "0 collectives".into(), "at least 1 collective, or None".into());
        }
        Ok(())
    }

    /// The bound of the first collective.
    pub(super) fn bound_ns(&self) -> u64 {
        match self.bound {
            Bound::Fixed(bound) => bound.as_nanos() as u64,
            Bound::Measured { max } => max.as_nanos() as u64,
        }
    }

    /// What collectives of a rank with these settings begin with.
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
            early: match self.early {
                Early::Grace(grace) => Some(EarlyRule { grace_ns: grace_ns(grace) }),
                Early::Adaptive | Early::Off => None,
            },
            window_beats_max: (self.window_bytes / BEAT_BYTES).min(limits.window_beats_max),
            // Only a data plane that hangs is so late; a thread may be off the CPU for long.
            stage_slack_ns: 10_000_000_000,
            ..defaults
        }
    }

    /// The collectives of a rank with these settings. `ranks_a_core`: ranks of this host for each of its cores, each of which may wait for
    /// a time slice of the others.
    pub(super) fn collectives(
        &self,
        launch: &Launch,
        plane: Plane,
        payload_beats: usize,
        job_seed: u64,
        cards: Option<&Cards>,
        ranks_a_core: u32,
    ) -> Result<Collectives<Plane>, ConnectError> {
        let params = JobParams { job_seed, ..self.params(launch, &plane, payload_beats, cards) };
        let bound_ns = params.bound_ns;
        let failed = |error: &dyn std::fmt::Display| ConnectError::Params(error.to_string());
        let plane_is_card = plane.is_card();
        let mut collectives = Collectives::new(plane, params).map_err(|error| failed(&error))?;
        if self.early == Early::Adaptive {
            collectives.follow_stage_times(GRACE_MIN.as_nanos() as u32);
        }
        if self.incast.is_none() {
            collectives.follow_incast();
        }
        // A card's rates are the job's.
        if self.rate_control && !plane_is_card {
            collectives.follow_round_trips(RATE_MAX_BYTES_PER_US).map_err(|error| failed(&error))?;
        }
        // Each call says whether it is repaired.
        collectives.repair();
        if self.wait_for_repairs {
            collectives.wait_for_repairs();
        }
        if let Some(cards) = cards {
            collectives.wait_for_cards(cards.ranks().clone());
        }
        collectives.set_one_off_wait(self.timeout.as_nanos().try_into().unwrap_or(u64::MAX));
        collectives.compare_calls(bound_ns);
        let members = MembershipParams {
            silent_ops: self.silent_ops,
            silent_ns: self.silent.as_nanos().try_into().unwrap_or(u64::MAX),
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
        // Each call says whether it follows the loss.
        collectives.agree_on_views(members, HadamardMode::Auto).map_err(|error| failed(&error))?;
        if self.agree {
            collectives.agree_on_updates_within(AGREEING_SLACK.as_nanos() as u64);
        }
        Ok(collectives)
    }
}
