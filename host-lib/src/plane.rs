//! Data plane of a rank: UDP through the kernel, or a card.

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

pub(crate) enum Plane {
    /// Sockets, and shared memory within the host.
    Udp(Box<Udp>),
    #[cfg(feature = "smartnic")]
    Card(Box<CardPlane>),
}

/// Fatal error of a data plane.
#[derive(Debug, Error)]
pub(crate) enum PlaneError {
    #[error(transparent)]
    Udp(#[from] UdpError),
    #[cfg(feature = "smartnic")]
    #[error("{}", sentence(.0))]
    Card(#[from] SmartNicError),
    #[error("waiting for packets: {0}")]
    Wait(#[source] io::Error),
}

/// Strips line breaks and the final full stop of driver errors, for use inside a longer message.
#[cfg(feature = "smartnic")]
fn sentence(error: &SmartNicError) -> String {
    error.to_string().trim_end_matches('.').replace('\n', " ")
}

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
    pub fn is_card(&self) -> bool {
        self.udp().is_none()
    }

    /// Error of a failed card, returned once, if the job falls back.
    pub fn take_failure(&mut self) -> Option<PlaneError> {
        match self {
            Self::Udp(_) => None,
            #[cfg(feature = "smartnic")]
            Self::Card(card) => card.take_failure().map(PlaneError::from),
        }
    }

    /// True if a card's report is overdue and the job can fall back to UDP.
    pub fn is_late(&self) -> bool {
        match self {
            Self::Udp(_) => false,
            #[cfg(feature = "smartnic")]
            Self::Card(card) => card.is_late(),
        }
    }

    /// Bytes copied between callers' and card's memory since the last call.
    pub fn take_copied_bytes(&mut self) -> u64 {
        match self {
            Self::Udp(_) => 0,
            #[cfg(feature = "smartnic")]
            Self::Card(card) => card.take_copied_bytes(),
        }
    }

    pub fn now_ns(&self) -> u64 {
        either!(self, plane => plane.now_ns())
    }

    pub fn counters(&self) -> Counters {
        either!(self, plane => plane.counters())
    }

    /// Datagrams that this host did not send; 0 for a card.
    pub fn unsent(&self) -> Unsent {
        self.udp().map_or(Unsent::default(), |udp| *udp.unsent())
    }

    pub fn shared(&self) -> Vec<usize> {
        self.udp().map_or(Vec::new(), Udp::shared)
    }

    pub fn seal_drops(&self) -> SealDrops {
        self.udp().map_or(SealDrops::default(), Udp::seal_drops)
    }

    pub fn rtt_ns(&self, peer: usize) -> Option<u64> {
        self.udp()?.rtt_ns(peer)
    }

    /// True if packets arrived for a collective of the newest view that has not begun here, or if
    /// the plane is a card, which cannot tell.
    pub fn is_awaited(&self) -> bool {
        self.udp().is_none_or(Udp::is_awaited)
    }

    /// Keeps up to `bytes_max` bytes of packets of unannounced views. No effect on cards.
    pub fn keep_unannounced(&mut self, bytes_max: usize) {
        if let Some(udp) = self.udp_mut() {
            udp.keep_unannounced(bytes_max);
        }
    }

    /// Replaces the process of a rank that rejoins. No effect on cards.
    pub fn replace(&mut self, peer: usize, address: SocketAddr, session: u64) {
        if let Some(udp) = self.udp_mut() {
            udp.replace(peer, address, session);
        }
    }

    pub fn was_busy(&self) -> bool {
        either!(self, plane => plane.was_busy())
    }

    pub fn is_sending(&self) -> bool {
        either!(self, plane => plane.is_sending())
    }

    pub fn sources(&self) -> io::Result<Sources> {
        either!(self, plane => plane.sources())
    }

    /// Prepares to sleep. Returns `false` if there is work already.
    pub fn doze(&self) -> bool {
        self.udp().is_none_or(Udp::doze)
    }

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
