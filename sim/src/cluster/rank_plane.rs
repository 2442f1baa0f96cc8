//! Data plane of a rank: a card behind its driver, or software.

use std::fmt;

use optireduce::smartnic::{SmartNic, SmartNicError};
use optireduce_core::protocol::{JobParams, Ranks, View, WindowPlan};
use optireduce_core::software::SoftwareError;
use optireduce_core::{Capabilities, DataPlane, Memory, PlaneEvent, PlaneLimits, Values, WindowOutput};
use optireduce_driver::{Counters, DriverError, InProcessBus};
use thiserror::Error;

use crate::card::software_rank::SoftwareRank;

pub enum RankPlane<S = SoftwareRank> {
    Card(Box<SmartNic<InProcessBus>>),
    Software(S),
}

impl<S: fmt::Debug> fmt::Debug for RankPlane<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Card(card) => write!(f, "card {:?}", card.nic().limits()),
            Self::Software(software) => software.fmt(f),
        }
    }
}

#[derive(Debug, Error)]
pub enum RankPlaneError {
    #[error(transparent)]
    Card(#[from] SmartNicError),
    #[error(transparent)]
    Software(#[from] SoftwareError),
}

impl RankPlane {
    /// # Errors
    /// If the card is gone.
    pub fn counters(&mut self) -> Result<Counters, DriverError> {
        match self {
            Self::Card(card) => card.nic_mut().counters(),
            Self::Software(software) => Ok(software.counters()),
        }
    }
}

macro_rules! forward {
    ($self:ident, $plane:ident => $do:expr) => {
        match $self {
            RankPlane::Card($plane) => $do,
            RankPlane::Software($plane) => $do,
        }
    };
}

macro_rules! forward_result {
    ($self:ident, $plane:ident => $do:expr) => {
        forward!($self, $plane => $do.map_err(RankPlaneError::from))
    };
}

impl<S: DataPlane<Error = SoftwareError>> DataPlane for RankPlane<S> {
    type Error = RankPlaneError;

    fn limits(&self) -> PlaneLimits {
        forward!(self, plane => plane.limits())
    }

    fn capabilities(&self) -> Capabilities {
        forward!(self, plane => plane.capabilities())
    }

    fn late_bytes(&self) -> Option<u64> {
        forward!(self, plane => plane.late_bytes())
    }

    fn set_rate(&mut self, peer: usize, rate_bytes_per_us: u32) -> Result<(), RankPlaneError> {
        forward_result!(self, plane => plane.set_rate(peer, rate_bytes_per_us))
    }

    fn cancel(&mut self, plan: &WindowPlan) -> Result<(), RankPlaneError> {
        forward_result!(self, plane => plane.cancel(plan))
    }

    fn announce(&mut self, view: &View) {
        forward!(self, plane => plane.announce(view));
    }

    fn enter(&mut self, view: &View) -> Result<bool, RankPlaneError> {
        forward_result!(self, plane => plane.enter(view))
    }

    fn take_heard(&mut self) -> Ranks {
        forward!(self, plane => plane.take_heard())
    }

    fn set_gone(&mut self, rank: usize, is_gone: bool) {
        forward!(self, plane => plane.set_gone(rank, is_gone));
    }

    fn lend(&mut self, memory: Memory, values: Values) {
        forward!(self, plane => plane.lend(memory, values));
    }

    fn reclaim(&mut self, memory: Memory) -> Option<Values> {
        forward!(self, plane => plane.reclaim(memory))
    }

    fn relocate(&mut self, memory: Memory, values: Values) -> Result<Values, Values> {
        forward!(self, plane => plane.relocate(memory, values))
    }

    fn arm(&mut self, plan: &WindowPlan, params: &JobParams) -> Result<(), RankPlaneError> {
        forward_result!(self, plane => plane.arm(plan, params))
    }

    fn contribute(&mut self, plan: &WindowPlan) -> Result<(), RankPlaneError> {
        forward_result!(self, plane => plane.contribute(plan))
    }

    fn flush(&mut self) -> Result<(), RankPlaneError> {
        forward_result!(self, plane => plane.flush())
    }

    fn poll(&mut self) -> Result<Option<PlaneEvent>, RankPlaneError> {
        forward_result!(self, plane => plane.poll())
    }

    fn take_result(&mut self, plan: &WindowPlan, look: &mut dyn FnMut(WindowOutput<'_>)) -> Result<(), RankPlaneError> {
        forward_result!(self, plane => plane.take_result(plan, look))
    }
}
