//! Settings of a communicator.

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

/// Source of the stage bound t_B.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Bound {
    /// A fixed bound, 1 us to 4.29 s.
    Fixed(Duration),
    /// Twice the 95th percentile of at least 20 stage times of the job's own collectives, and at
    /// least [`BOUND_MIN`] times the ranks per core of a host, rounded up. Adapted later, see
    /// [`BoundEstimator`](optireduce_core::protocol::BoundEstimator).
    Measured {
        /// Longest bound, [`BOUND_MIN`] to 4.29 s; the bound until the first measurement.
        max: Duration,
    },
}

/// Shortest measured bound with one rank per core: a host may deschedule a thread for this long.
pub const BOUND_MIN: Duration = Duration::from_millis(5);
/// Default limit of a measured bound.
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

/// Ranks cannot connect faster, and longer timeouts could overflow a clock.
const TIMEOUT_MIN: Duration = Duration::from_millis(1);
const TIMEOUT_MAX: Duration = Duration::from_secs(24 * 60 * 60);
const MTU_MIN: usize = 114;
const WINDOW_BYTES_MAX: usize = 1 << 20;

/// Rule for closing a stage before its deadline, after the marks of all peers. A peer's mark begins
/// its last packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Early {
    /// Never.
    Off,
    /// After a fixed grace time of silence, at most t_B.
    Grace(Duration),
    /// After a fraction x of t_C, both adapted to the loss and stage times of all ranks
    /// (OptiReduce 3.2.1).
    Adaptive,
}

/// Use of shared memory between ranks of one host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Local {
    /// Between at most 64 ranks of the same user and network namespace. Other pairs use UDP.
    Auto,
    /// Never.
    Off,
}

impl Local {
    pub(super) fn from_env() -> Result<Self, LaunchError> {
        one_of("OPTIREDUCE_LOCAL", [("auto", Self::Auto), ("off", Self::Off)])
    }
}

/// With fewer cores per rank, a send thread competes with the engine and the trainer.
const SENDING_CORES_MIN: usize = 4;

/// Use of a separate thread to send large batches, unless shared memory reaches all ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SendThread {
    /// With four or more cores per rank.
    Auto,
    /// With any number of cores. Fewer than four per rank make large buckets slower.
    On,
    /// Never.
    Off,
}

impl SendThread {
    pub(super) fn is_on(self, ranks: usize, cores: usize) -> bool {
        match self {
            Self::Auto => cores >= ranks * SENDING_CORES_MIN,
            Self::On => true,
            Self::Off => false,
        }
    }

    pub(super) fn from_env() -> Result<Self, LaunchError> {
        one_of("OPTIREDUCE_SEND_THREAD", [("auto", Self::Auto), ("on", Self::On), ("off", Self::Off)])
    }
}

/// `values[0]` if the variable is unset or empty.
fn one_of<T: Copy, const N: usize>(name: &'static str, values: [(&str, T); N]) -> Result<T, LaunchError> {
    let found = std::env::var(name).unwrap_or_default();
    if found.is_empty() {
        return Ok(values[0].1);
    }
    let value = values.iter().find(|(text, _)| *text == found).map(|(_, value)| *value);
    let expected = || values.map(|(text, _)| text).join(" or ");
    value.ok_or_else(|| LaunchError::Invalid { name, expected: expected(), found: found.clone() })
}

/// Reaction of a job to the failure of a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CardFallback {
    /// Its rank's calls fail, and the others drop that rank.
    Off,
    /// All ranks continue over the kernel's UDP.
    Udp,
}

impl CardFallback {
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

/// Settings of a [`Communicator`](crate::Communicator).
///
/// Ranks may differ in launch, interface, card, card address, MTU, send thread and timeout. All
/// other settings must be equal; a difference fails on every rank when the ranks connect.
#[derive(Clone, Debug)]
pub struct Builder {
    pub(super) launch: Option<Launch>,
    /// Listener of rank 0, if it exists already.
    pub(super) listener: Option<Arc<TcpListener>>,
    pub(super) secret: Option<Secret>,
    pub(super) interface: Option<String>,
    pub(super) mtu: Option<usize>,
    /// Empty: no card, whatever the environment contains.
    pub(super) card: Option<String>,
    /// Empty: the card's own, whatever the environment contains.
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
    /// Ranks of the whole job on this host, if this communicator has only some.
    pub(super) ranks_here: Option<usize>,
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
    /// Sets this process's place in the job. Default: [`Launch::from_env`].
    pub fn launch(self, launch: Launch) -> Self {
        Self { launch: Some(launch), ..self }
    }

    /// Sets the secret of the job, which encrypts and authenticates connections and packets.
    pub fn secret(self, secret: Secret) -> Self {
        Self { secret: Some(secret), ..self }
    }

    /// Sets the interface, by name or address. Default: the one on the route to rank 0.
    pub fn interface(self, interface: impl Into<String>) -> Self {
        Self { interface: Some(interface.into()), ..self }
    }

    /// Sets the size of the largest IP packet in bytes, at least 114, with a secret 138. Default:
    /// the path's.
    pub fn mtu(self, mtu: impl Into<Option<usize>>) -> Self {
        Self { mtu: mtu.into(), ..self }
    }

    /// Sets the SmartNIC that moves this rank's gradients instead of the kernel's UDP. Default:
    /// `OPTIREDUCE_CARD`, or none. Needs the feature `smartnic`.
    ///
    /// `address` is a PCI address such as "0000:5e:00.0", or the path of the vfio-user socket of a
    /// simulated card (`optireduce-sim serve --socket PATH`). An empty address disables the card,
    /// and `{rank}` is replaced by this rank.
    ///
    /// In a job with cards:
    ///
    /// * Every rank needs a separate IPv4 address ([`interface`](Self::interface),
    ///   [`card_address`](Self::card_address)), and receives on the cards' UDP port.
    /// * The smallest card limits the windows, and half its slots the windows in flight.
    /// * Collectives run one after the other. Each starts once all cards have armed its windows, or
    ///   after t_B. A card that arms later misses packets; its means are repaired, except encoded
    ///   ones.
    /// * [`reduce_scatter`](crate::Communicator::reduce_scatter) and
    ///   [`all_gather`](crate::Communicator::all_gather) use the kernel's UDP, with separate
    ///   [numbers](crate::Report::op), membership and measured [`bound`](Self::bound). So do
    ///   [groups](crate::Communicator::group) and
    ///   [`partial_reduce`](crate::Communicator::partial_reduce).
    /// * [`rate_control`](Self::rate_control) applies between ranks without a card only.
    /// * [`secret`](Self::secret) and [`rejoin`](crate::Communicator::rejoin) are errors.
    /// * If a card fails, its rank's collectives fail within t_B and 10 s, or the ranks
    ///   [fall back](Self::card_fallback).
    pub fn card(self, address: impl Into<String>) -> Self {
        Self { card: Some(address.into()), ..self }
    }

    /// Sets the network address of this rank's card: `IP[/PREFIX][:PORT][,gateway=MAC]`, such as
    /// "10.0.0.2". Default: `OPTIREDUCE_CARD_ADDRESS`, or none.
    ///
    /// The address must be unused in the card's network; the default port is 5791. An empty address
    /// clears the default, and `{rank}` is replaced by this rank. A board needs an address; a
    /// simulated card has one, and a different one is an error. So is an address without a
    /// [`card`](Self::card), but in the environment only a warning.
    ///
    /// A card sends no ARP requests: ranks exchange MAC addresses when they connect. Peers on other
    /// networks need the prefix length and the gateway's MAC address:
    /// "10.0.0.2/24,gateway=52:54:00:12:34:56".
    pub fn card_address(self, address: impl Into<String>) -> Self {
        Self { card_address: Some(address.into()), ..self }
    }

    /// Sets the reaction to the failure of a card. Default: `OPTIREDUCE_CARD_FALLBACK` (`off` or
    /// `udp`), or [`CardFallback::Off`].
    ///
    /// With [`CardFallback::Udp`], collectives in progress end without the other ranks' values on
    /// the failed rank, and without its values on the others. From a common collective on, all
    /// ranks use the kernel's UDP for the rest of the job, with separate numbers, membership and
    /// measured [`bound`](Self::bound). The last losses over cards are [repaired](Self::repair) in
    /// the next results, except encoded ones.
    pub fn card_fallback(self, card_fallback: CardFallback) -> Self {
        Self { card_fallback: Some(card_fallback), ..self }
    }

    /// Sets the use of shared memory between ranks of one host. Default: `OPTIREDUCE_LOCAL` (`auto`
    /// or `off`), or [`Local::Auto`].
    pub fn local(self, local: Local) -> Self {
        Self { local: Some(local), ..self }
    }

    /// Sets the use of a send thread. Default: `OPTIREDUCE_SEND_THREAD` (`auto`, `on` or `off`), or
    /// [`SendThread::Auto`].
    pub fn send_thread(self, send_thread: SendThread) -> Self {
        Self { send_thread: Some(send_thread), ..self }
    }

    /// Sets the longest wait for other ranks: to connect, in calls over TCP, and in agreements.
    /// While data moves, it is the longest time without progress. 1 ms to one day. Default: 60 s.
    pub fn timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// Sets the bound t_B of each stage of each window. Default: [`Bound::Measured`], at most 1 s.
    ///
    /// A window is a part of a bucket of at most [`window_bytes`](Self::window_bytes). It closes
    /// within 2 t_B of this rank's first packet in an all-reduce, and within t_B in a
    /// reduce-scatter or all-gather. Over UDP the broadcast stage inherits unused time from the
    /// contribute stage.
    ///
    /// A call may also wait for:
    ///
    /// * earlier windows: at most 16 are in flight over UDP, or half the slots of a card;
    /// * earlier collectives, since results are returned in order;
    /// * [cards](Self::card) that are not ready, at most t_B;
    /// * [repairs](Self::wait_for_repairs), at most 4 t_B;
    /// * the [votes](Self::agree) of other ranks;
    /// * an agreement on the ranks that take part, at most the [`timeout`](Self::timeout);
    /// * in a one-off collective, the comparison of the call and repairs, at most the timeout each.
    pub fn bound(self, bound: Bound) -> Self {
        Self { bound, ..self }
    }

    /// Sets when a stage may close before its bound. Default: [`Early::Adaptive`].
    pub fn early(self, early: Early) -> Self {
        Self { early, ..self }
    }

    /// Sets when all-reduces are Hadamard-encoded. Default: [`HadamardMode::Auto`].
    ///
    /// `Auto` starts once the loss exceeds 2 % by 16 packets. It stops after 100 collectives in a
    /// row with at most 0.5 % loss on every rank; each restart doubles that number, up to 6400.
    pub fn hadamard(self, hadamard: HadamardMode) -> Self {
        Self { hadamard, ..self }
    }

    /// Sets whether gradients travel as bf16, with fp32 sums: half the bytes, relative errors of at
    /// most 2^-8. Default: no.
    pub fn bf16(self, bf16: bool) -> Self {
        Self { bf16, ..self }
    }

    /// Sets the number of peers that a rank sends to at a time, 1 to 15. Default: `None`, which
    /// follows the loss at the receivers (OptiReduce 3.2.2).
    pub fn incast(self, incast: Option<usize>) -> Self {
        Self { incast, ..self }
    }

    /// Sets the largest window in bytes of fp32, a multiple of 64 up to 1 MiB. Default: 1 MiB.
    /// Cards may limit it further.
    pub fn window_bytes(self, window_bytes: usize) -> Self {
        Self { window_bytes, ..self }
    }

    /// Sets whether each peer is paced by its RTT (OptiReduce 3.2.3), in addition to congestion
    /// control by ECN marks and losses. Default: no, since most of a host's RTT is waiting for the
    /// CPU.
    pub fn rate_control(self, rate_control: bool) -> Self {
        Self { rate_control, ..self }
    }

    /// Sets after how many collectives in a row without a packet of a rank the others agree to drop
    /// it; `None`: never. Default: 3. A rank with open connections must also be silent for 0.5 s.
    pub fn drop_silent_after(self, ops: Option<u32>) -> Self {
        Self { silent_ops: ops, ..self }
    }

    /// Sets whether lost means are fetched over TCP and added to the bucket's next result, so that
    /// replicas agree again. Default: yes. Costs a copy of this rank's means.
    pub fn repair(self, repair: bool) -> Self {
        Self { repair, ..self }
    }

    /// Sets whether a bucket's collective waits for the repair of its lost means, at most 4 t_B.
    /// Default: no.
    ///
    /// Its [`action`](crate::Report::action) then depends on the remaining loss, and replicas have
    /// the same bits unless a repair takes longer. Without it, all-gathers of buckets are not
    /// repaired.
    pub fn wait_for_repairs(self, wait_for_repairs: bool) -> Self {
        Self { wait_for_repairs, ..self }
    }

    /// Sets whether all ranks take the same [`action`](crate::Report::action): if one would skip,
    /// all skip. Default: no.
    ///
    /// Costs two messages over TCP after each collective. The leader waits 2 t_B for votes, the
    /// others 3 t_B and 250 ms for its decision.
    pub fn agree(self, agree: bool) -> Self {
        Self { agree, ..self }
    }

    /// Adds a setting of the caller that must be the same on all ranks.
    pub fn compare(mut self, name: impl Into<String>, value: impl fmt::Display) -> Self {
        self.compared.push((name.into(), value.to_string()));
        self
    }

    pub(super) fn payload_beats(&self, mtu: usize, sealed: bool) -> Result<usize, ConnectError> {
        let least = MTU_MIN + if sealed { SEAL_BYTES } else { 0 };
        let expected = || format!("at least {least} bytes, which hold one beat of payload");
        let too_small = || ConnectError::Setting { setting: "mtu", found: mtu.to_string(), expected: expected() };
        Some(payload_beats_of(mtu, sealed)).filter(|beats| *beats > 0).ok_or_else(too_small)
    }

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
            early: match self.early {
                Early::Grace(grace) => Some(EarlyRule { grace_ns: grace_ns(grace) }),
                Early::Adaptive | Early::Off => None,
            },
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
        // The rates of a card are set for the whole job.
        if self.rate_control && !plane_is_card {
            collectives.follow_round_trips(RATE_MAX_BYTES_PER_US).map_err(|error| failed(&error))?;
        }
        // Each call states whether it is repaired.
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
        // Each call states whether its encoding follows the loss.
        collectives.agree_on_views(members, HadamardMode::Auto).map_err(|error| failed(&error))?;
        if self.agree {
            collectives.agree_on_updates_within(AGREEING_SLACK.as_nanos() as u64);
        }
        Ok(collectives)
    }
}
