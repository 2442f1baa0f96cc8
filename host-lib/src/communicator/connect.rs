//! Connects a rank to its job.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use super::Flat;
use super::builder::{Builder, Card};
use super::driver::{Driver, Waker};
use super::engine::{Engine, Links};
use super::error::{ConnectError, Error};
use super::levels::Levels;
use super::{Communicator, Of, Request};
use crate::card::{CardAddress, Cards, OpenCard};
use crate::control::{ControlChannel, Job, Launch, Meeting, Member, decline, local_address, mac_of, resolve};
use crate::local;
use crate::plane::Plane;
use crate::secret::SecretError;
use crate::settings::{CardFallback, Settings, SharedMemory};
use crate::udp::{self, Udp, Unconnected};
use optireduce_core::protocol::{RANKS_MAX, Ranks};

/// Limit for informing the others, which may still be starting.
const DECLINING: Duration = Duration::from_secs(5);

pub(super) struct Opened {
    pub builder: Builder,
    pub launch: Launch,
    pub plane: Plane,
    pub control: ControlChannel,
    /// Woken by peer messages.
    pub waker: Arc<Waker>,
    pub payload_beats: usize,
    pub cards: Option<Cards>,
}

enum Receiver {
    Udp(Box<Unconnected>),
    Card(Box<OpenCard>),
}

impl Receiver {
    /// Completes `member`, the description of this rank for the others.
    fn describe(&self, member: Member) -> Result<Member, Error> {
        Ok(match self {
            Self::Udp(socket) => {
                let (udp, receive_buffer_bytes) = (socket.local_addr()?, socket.receive_buffer_bytes());
                Member { udp, receive_buffer_bytes, ..member }
            }
            Self::Card(card) => {
                let (card, udp, mac) = (Some(card.limits()), card.address(), Some(card.mac()));
                Member { udp, card, mac, ..member }
            }
        })
    }

    fn socket(&mut self) -> Option<&mut Unconnected> {
        match self {
            Self::Udp(socket) => Some(socket),
            Self::Card(_) => None,
        }
    }
}

impl Communicator {
    /// Connects to the other ranks, compares settings, and starts the engine. Collective.
    ///
    /// Waits for other ranks at most the [timeout](Settings::timeout), longer in a job with cards.
    /// An attempt goes on if its request is dropped.
    ///
    /// # Errors
    /// See [`Error`]. Different settings are an error on every rank, without a timeout.
    pub fn connect(settings: Settings) -> Request<Self> {
        match Builder::new(&settings) {
            Ok(builder) => Request::on_a_thread("optireduce-connect", move || match builder.groups {
                Some(groups) => Levels::connect(builder, groups).map(|levels| Self(Of::Levels(levels))),
                None => Flat::connect(builder).map(Self::from),
            }),
            Err(error) => Err(error).into(),
        }
    }
}

impl Flat {
    pub(super) fn connect(builder: Builder) -> Result<Self, Error> {
        let Opened { builder, launch, plane, mut control, waker, payload_beats, cards } = builder.open()?;
        if builder.skip_gone {
            control.skip_gone();
        }
        let bound_ns = builder.bound_ns();
        let crowd = builder.ranks_a_core(&control.job().members, launch.rank);
        let mut collectives =
            builder.collectives(&launch, plane, payload_beats, control.job().seed, cards.as_ref(), crowd)?;
        if let Some(running) = control.running() {
            collectives.leave();
            running.gone.iter().for_each(|peer| collectives.handle_gone(*peer));
        }
        let params = collectives.params().clone();
        let (commands, incoming) = channel();
        let bound = Arc::new(AtomicU64::new(bound_ns));
        let (returned, outside) = (control.returned(), control.outside());
        let gone = control.running().map(|running| running.gone.clone()).unwrap_or_default();
        let gone = Ranks::none(launch.world_size).with(gone);
        let (peer_messages, agreeing, bound_ns) = (control.take_peer_messages(), builder.timeout, bound.clone());
        let cards: Vec<usize> = cards.map_or(Vec::new(), |cards| cards.ranks().iter().collect());
        let fallen_back = Arc::new(AtomicBool::new(false));
        let flags = (bound, fallen_back.clone());
        let session = control.job().members[launch.rank].session;
        let links = Links {
            peer_messages,
            returned,
            outside,
            gone,
            session,
            agreeing,
            bound_ns,
            cards: cards.clone(),
            fallen_back,
        };
        let driver = Driver::new(Engine::new(collectives, links, incoming), waker, crowd);
        let driver = Arc::new(driver.map_err(ConnectError::Thread)?);
        let serving = driver.clone();
        let engine = std::thread::Builder::new().name("optireduce-engine".into()).spawn(move || serving.serve());
        let engine = engine.map_err(ConnectError::Thread)?;
        let started = Self::start(builder, control, (params, cards), flags, commands, driver, engine);
        let mut flat = started.map_err(ConnectError::Thread)?;
        flat.open_beside()?;
        Ok(flat)
    }
}

impl Builder {
    pub(super) fn open(self) -> Result<Opened, Error> {
        let launch = self.launch.clone();
        if launch.world_size > RANKS_MAX {
            let found = format!("{} ranks", launch.world_size);
            let expected = format!("1 to {RANKS_MAX} on one level; the setting groups takes more");
            return Err(ConnectError::Setting { setting: "world_size", found, expected }.into());
        }
        let secret = self.secret.clone();
        if self.card.is_some() && secret.is_some() {
            return Err(SecretError::Card.into());
        }
        let mut builder = Self { listener: None, ..self.clone() };
        builder.settings.inherited.listener = None;
        // One deadline for everything before the first collective.
        let deadline = Instant::now() + self.timeout;
        let left = || deadline.saturating_duration_since(Instant::now());
        let payload_beats = self.mtu.map(|mtu| self.payload_beats(mtu, secret.is_some())).transpose()?.unwrap_or(0);
        // Before waiting for any rank.
        let card = self.card.as_ref().map(|Card { place, address }| {
            let given = address.as_deref().map(str::parse::<CardAddress>).transpose();
            let given = given.map_err(|expected| ConnectError::Setting {
                setting: "the address in card",
                found: address.clone().unwrap_or_default(),
                expected,
            })?;
            OpenCard::open(place, given)
                .inspect_err(|error| self.decline(&error.to_string()))
                .map_err(ConnectError::from)
        });
        let card = card.transpose()?;
        let root = resolve(&launch.root, self.interface.as_deref(), deadline)?;
        let address = local_address(self.interface.as_deref(), &root)?;
        let mut receiver = match card {
            Some(card) => Receiver::Card(card.into()),
            None => Receiver::Udp(Udp::bind(address)?.into()),
        };
        // A card shares memory with its host only.
        let listener = receiver.socket().and_then(|_| listener(self.shared_memory));
        let waker = Arc::new(Waker::new().map_err(ConnectError::Thread)?);
        let member = receiver.describe(Member {
            payload_beats,
            local: listener.as_ref().map(|listener| listener.address().clone()),
            mac: mac_of(address),
            ..Member::at(launch.rank, (address, 0).into())
        })?;
        let describe = move |control| Member { control, ..member };
        let wake = waker.clone();
        let (timeout, mtu, at, of) = (self.timeout, self.mtu, self.listener.clone(), launch.clone());
        let meeting = Meeting { launch: of, root, listener: at, local: address, mtu, secret, timeout, deadline };
        let mut control = ControlChannel::connect(&meeting, builder.terms(), describe, move || wake.wake())?;
        let mut job = control.job().clone();
        let cards = Cards::of(&job.members)?;
        if let Some(cards) = &cards {
            move_into(cards, &mut job, launch.rank, receiver.socket())?;
        }
        if let Some(socket) = receiver.socket() {
            socket.seal(meeting.secret.as_ref(), launch.rank, &job);
        }
        let (payload_beats, shared) = match control.running() {
            // The others share no memory with a process that joins later.
            Some(running) => (running.payload_beats, None),
            None => {
                let addresses: Vec<_> = job.members.iter().map(|member| member.local.as_ref()).collect();
                let meet = |listener| local::Local::meet(listener, launch.rank, &addresses, job.tag, deadline);
                let shared = listener.and_then(meet);
                (udp::payload_beats(receiver.socket(), &job.members, &mut control, left)?, shared)
            }
        };
        control.begun(payload_beats);
        let plane = match (receiver, &cards) {
            (Receiver::Udp(socket), _) => {
                let (ranks, cores) = builder.ranks_and_cores(&job.members, launch.rank);
                let sends_beside = builder.sends_beside(ranks, cores);
                Plane::from(socket.join(launch.rank, &job, payload_beats, shared, sends_beside)?)
            }
            (Receiver::Card(card), Some(cards)) => {
                let falls_back = builder.card_fallback == CardFallback::Udp;
                Plane::from(card.join(launch.rank, &job, cards, payload_beats, falls_back)?)
            }
            (Receiver::Card(_), None) => {
                let expected = "among the members in rank 0's list".into();
                return Err(ConnectError::Setting { setting: "card", found: "missing".into(), expected }.into());
            }
        };
        Ok(Opened { builder, launch, plane, control, waker, payload_beats, cards })
    }

    fn ranks_and_cores(&self, members: &[Member], rank: usize) -> (usize, usize) {
        let ranks = self.ranks_here.unwrap_or_else(|| ranks_at(members.iter().map(|member| member.udp.ip()), rank));
        (ranks, std::thread::available_parallelism().map_or(1, usize::from))
    }

    fn ranks_a_core(&self, members: &[Member], rank: usize) -> u32 {
        let (ranks, cores) = self.ranks_and_cores(members, rank);
        ranks.div_ceil(cores).try_into().unwrap_or(u32::MAX)
    }

    /// Tells the other ranks not to wait for this one.
    pub(super) fn decline(&self, reason: &str) {
        let launch = &self.launch;
        if launch.rejoin {
            return;
        }
        tracing::error!(reason, "this rank cannot take part; informing the other ranks");
        let timeout = self.timeout.min(DECLINING);
        let deadline = Instant::now() + timeout;
        let tell = || {
            let root = resolve(&launch.root, self.interface.as_deref(), deadline)?;
            let address = local_address(self.interface.as_deref(), &root)?;
            let (rank, launch, listener) = (launch.rank, launch.clone(), self.listener.clone());
            let secret = self.secret.clone();
            let mtu = self.mtu;
            let meeting = Meeting { launch, root, listener, local: address, mtu, secret, timeout, deadline };
            let member = Member::at(rank, (address, 0).into());
            Ok::<_, Error>(decline(meeting, member, self.terms(), reason.to_owned())?)
        };
        if let Err(error) = tell() {
            tracing::warn!(%error, "the other ranks were not informed that this rank cannot take part");
        }
    }
}

/// Moves all ranks without a card to the cards' UDP port.
fn move_into(cards: &Cards, job: &mut Job, rank: usize, socket: Option<&mut Unconnected>) -> Result<(), Error> {
    for member in job.members.iter_mut().filter(|member| member.card.is_none()) {
        member.udp = cards.place(member.udp.ip());
    }
    if let Some(socket) = socket {
        socket.move_to(job.members[rank].udp)?;
    }
    Ok(())
}

fn ranks_at(addresses: impl Iterator<Item = IpAddr> + Clone, rank: usize) -> usize {
    let own = addresses.clone().nth(rank);
    addresses.filter(|address| Some(*address) == own).count()
}

fn listener(shared_memory: SharedMemory) -> Option<local::Listener> {
    match shared_memory {
        SharedMemory::Off => None,
        SharedMemory::Auto => local::Listener::bind()
            .inspect_err(|error| tracing::debug!(%error, "no shared memory; ranks of this host use UDP"))
            .ok(),
    }
}
