//! The data plane of a rank: UDP through the kernel, or a card.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use thiserror::Error;

#[cfg(feature = "smartnic")]
use crate::card::CardPlane;
use crate::secret::SealDrops;
#[cfg(feature = "smartnic")]
use crate::smartnic::SmartNicError;
use crate::udp::{Udp, UdpError, Unsent};
use crate::wait::{Sources, Wait};
use optireduce_core::protocol::{JobParams, Ranks, View, WindowPlan};
use optireduce_core::software::Counters;
use optireduce_core::{Capabilities, DataPlane, Memory, PlaneEvent, PlaneLimits, Values, WindowOutput};

/// What moves the bytes of a rank.
pub(crate) enum Plane {
    /// The kernel's UDP.
    Udp(Box<Udp>),
    /// A card.
    #[cfg(feature = "smartnic")]
    Card(Box<CardPlane>),
}

/// What ends a data plane.
#[derive(Debug, Error)]
pub(crate) enum PlaneError {
    /// UDP.
    #[error(transparent)]
    Udp(#[from] UdpError),
    /// The card, or the way to it.
    #[cfg(feature = "smartnic")]
    #[error("{}", sentence(.0))]
    Card(#[from] SmartNicError),
    /// The kernel's poll failed.
    #[error("waiting for packets: {0}")]
    Wait(#[source] io::Error),
}

/// The driver's errors are lines that end with a full stop; this one goes on.
#[cfg(feature = "smartnic")]
fn sentence(error: &SmartNicError) -> String {
    error.to_string().trim_end_matches('.').replace('\n', " ")
}

/// Does the same with either.
macro_rules! either {
    ($self:ident, $plane:ident => $does:expr) => {
        match $self {
            Plane::Udp($plane) => $does,
            #[cfg(feature = "smartnic")]
            Plane::Card($plane) => $does,
        }
    };
}

impl Plane {
    /// Whether it is a card.
    pub fn is_card(&self) -> bool {
        self.udp().is_none()
    }

    /// Why a card has failed that the job goes on without, once; nothing is lost without a card.
    pub fn take_failure(&mut self) -> Option<PlaneError> {
        match self {
            Self::Udp(_) => None,
            #[cfg(feature = "smartnic")]
            Self::Card(card) => card.take_failure().map(PlaneError::from),
        }
    }

    /// Whether a card that the job can go on without has not told what was due.
    pub fn is_late(&self) -> bool {
        match self {
            Self::Udp(_) => false,
            #[cfg(feature = "smartnic")]
            Self::Card(card) => card.is_late(),
        }
    }

    /// Bytes that were copied between callers' memory and a card's since this was asked last.
    pub fn take_copied_bytes(&mut self) -> u64 {
        match self {
            Self::Udp(_) => 0,
            #[cfg(feature = "smartnic")]
            Self::Card(card) => card.take_copied_bytes(),
        }
    }

    /// The time that the protocol is to be told, in ns.
    pub fn now_ns(&self) -> u64 {
        either!(self, plane => plane.now_ns())
    }

    /// What came and what was dropped so far.
    pub fn counters(&self) -> Counters {
        either!(self, plane => plane.counters())
    }

    /// Datagrams that this host did not take: a card has none of its own to give it.
    pub fn unsent(&self) -> Unsent {
        self.udp().map_or(Unsent::default(), |udp| *udp.unsent())
    }

    /// Ranks that are sent to through shared memory.
    pub fn shared(&self) -> Vec<usize> {
        self.udp().map_or(Vec::new(), Udp::shared)
    }

    /// Packets that were dropped because of their seal; a card knows none.
    pub fn seal_drops(&self) -> SealDrops {
        self.udp().map_or(SealDrops::default(), Udp::seal_drops)
    }

    /// Smoothed round-trip time to a peer in ns, if it is measured.
    pub fn rtt_ns(&self, peer: usize) -> Option<u64> {
        self.udp()?.rtt_ns(peer)
    }

    /// Whether packets have come of a collective of the newest view that has not begun here. A card does not know, and need not: it is
    /// waited for.
    pub fn is_awaited(&self) -> bool {
        self.udp().is_none_or(Udp::is_awaited)
    }

    /// Keeps up to so many bytes of packets of views that are not announced yet, without a card.
    pub fn keep_unannounced(&mut self, bytes_max: usize) {
        if let Some(udp) = self.udp_mut() {
            udp.keep_unannounced(bytes_max);
        }
    }

    /// Another process has this rank now. Nobody comes into a job with cards.
    pub fn replace(&mut self, peer: usize, address: SocketAddr, session: u64) {
        if let Some(udp) = self.udp_mut() {
            udp.replace(peer, address, session);
        }
    }

    /// Whether the last [`poll`](DataPlane::poll) had anything to do.
    pub fn was_busy(&self) -> bool {
        either!(self, plane => plane.was_busy())
    }

    /// Whether there are packets that may not have left yet.
    pub fn is_sending(&self) -> bool {
        either!(self, plane => plane.is_sending())
    }

    /// Where what is for it comes in.
    ///
    /// # Errors
    /// If the kernel has no more file descriptors.
    pub fn sources(&self) -> io::Result<Sources> {
        either!(self, plane => plane.sources())
    }

    /// It is about to be waited for; `false`: there is something to do at once.
    pub fn doze(&self) -> bool {
        self.udp().is_none_or(Udp::doze)
    }

    /// What to wait for when there is nothing to do.
    pub fn wait(&self, at_most: Duration) -> Wait {
        either!(self, plane => plane.wait(at_most))
    }

    fn udp(&self) -> Option<&Udp> {
        match self {
            Self::Udp(udp) => Some(udp),
            #[cfg(feature = "smartnic")]
            Self::Card(_) => None,
        }
    }

    fn udp_mut(&mut self) -> Option<&mut Udp> {
        match self {
            Self::Udp(udp) => Some(udp),
            #[cfg(feature = "smartnic")]
            Self::Card(_) => None,
        }
    }
}

impl From<Udp> for Plane {
    fn from(udp: Udp) -> Self {
        Self::Udp(Box::new(udp))
    }
}

#[cfg(feature = "smartnic")]
impl From<CardPlane> for Plane {
    fn from(card: CardPlane) -> Self {
        Self::Card(Box::new(card))
    }
}

#[cfg(not(feature = "smartnic"))]
impl From<crate::card::CardPlane> for Plane {
    fn from(card: crate::card::CardPlane) -> Self {
        match card {}
    }
}

impl DataPlane for Plane {
    type Error = PlaneError;

    fn limits(&self) -> PlaneLimits {
        either!(self, plane => plane.limits())
    }

    fn capabilities(&self) -> Capabilities {
        either!(self, plane => plane.capabilities())
    }

    fn lend(&mut self, memory: Memory, values: Values) {
        either!(self, plane => plane.lend(memory, values));
    }

    fn reclaim(&mut self, memory: Memory) -> Option<Values> {
        either!(self, plane => plane.reclaim(memory))
    }

    fn relocate(&mut self, memory: Memory, values: Values) -> Result<Values, Values> {
        either!(self, plane => plane.relocate(memory, values))
    }

    fn arm(&mut self, plan: &WindowPlan, params: &JobParams) -> Result<(), PlaneError> {
        either!(self, plane => Ok(plane.arm(plan, params)?))
    }

    fn contribute(&mut self, plan: &WindowPlan) -> Result<(), PlaneError> {
        either!(self, plane => Ok(plane.contribute(plan)?))
    }

    fn flush(&mut self) -> Result<(), PlaneError> {
        either!(self, plane => Ok(plane.flush()?))
    }

    fn poll(&mut self) -> Result<Option<PlaneEvent>, PlaneError> {
        either!(self, plane => Ok(plane.poll()?))
    }

    fn take_result(&mut self, plan: &WindowPlan, look: &mut dyn FnMut(WindowOutput<'_>)) -> Result<(), PlaneError> {
        either!(self, plane => Ok(plane.take_result(plan, look)?))
    }

    fn late_bytes(&self) -> Option<u64> {
        either!(self, plane => plane.late_bytes())
    }

    fn set_rate(&mut self, peer: usize, rate_bytes_per_us: u32) -> Result<(), PlaneError> {
        either!(self, plane => Ok(plane.set_rate(peer, rate_bytes_per_us)?))
    }

    fn cancel(&mut self, plan: &WindowPlan) -> Result<(), PlaneError> {
        either!(self, plane => Ok(plane.cancel(plan)?))
    }

    fn announce(&mut self, view: &View) {
        either!(self, plane => plane.announce(view));
    }

    fn enter(&mut self, view: &View) -> Result<bool, PlaneError> {
        either!(self, plane => Ok(plane.enter(view)?))
    }

    fn take_heard(&mut self) -> Ranks {
        either!(self, plane => plane.take_heard())
    }

    fn set_gone(&mut self, rank: usize, is_gone: bool) {
        either!(self, plane => plane.set_gone(rank, is_gone));
    }
}
