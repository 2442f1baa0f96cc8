//! What moves a rank's windows: a card behind its driver, or software.

use optireduce::{SmartNic, SmartNicError};
use optireduce_core::protocol::{JobParams, WindowPlan};
use optireduce_core::software::SoftwareError;
use optireduce_core::{DataPlane, PlaneEvent, PlaneLimits, RepairData};
use optireduce_driver::{Counters, DriverError, InProcessBus};
use thiserror::Error;

use crate::software_rank::SoftwareRank;

/// A rank's data plane.
pub enum RankPlane {
    /// A simulated card.
    Card(Box<SmartNic<InProcessBus>>),
    /// None: the host does the card's work.
    Software(SoftwareRank),
}

/// Either's error.
#[derive(Debug, Error)]
pub enum RankPlaneError {
    /// The card's, or its driver's.
    #[error(transparent)]
    Card(#[from] SmartNicError),
    /// The software's.
    #[error(transparent)]
    Software(#[from] SoftwareError),
}

impl RankPlane {
    /// What it has counted.
    ///
    /// # Errors
    /// If the card is gone.
    pub fn counters(&mut self) -> Result<Counters, DriverError> {
        match self {
            Self::Card(card) => card.nic_mut().counters(),
            Self::Software(software) => Ok(software.counters()),
        }
    }
}

macro_rules! either {
    ($self:ident, $plane:ident => $do:expr) => {
        match $self {
            RankPlane::Card($plane) => $do.map_err(RankPlaneError::from),
            RankPlane::Software($plane) => $do.map_err(RankPlaneError::from),
        }
    };
}

impl DataPlane for RankPlane {
    type Error = RankPlaneError;

    fn limits(&self) -> PlaneLimits {
        match self {
            Self::Card(card) => card.limits(),
            Self::Software(software) => software.limits(),
        }
    }

    fn late_bytes(&self) -> Option<u64> {
        match self {
            Self::Card(card) => card.late_bytes(),
            Self::Software(software) => software.late_bytes(),
        }
    }

    fn arm(&mut self, plan: &WindowPlan, params: &JobParams) -> Result<(), RankPlaneError> {
        either!(self, plane => plane.arm(plan, params))
    }

    fn contribute(&mut self, plan: &WindowPlan, elements: &[f32]) -> Result<(), RankPlaneError> {
        either!(self, plane => plane.contribute(plan, elements))
    }

    fn flush(&mut self) -> Result<(), RankPlaneError> {
        either!(self, plane => plane.flush())
    }

    fn poll(&mut self) -> Result<Option<PlaneEvent>, RankPlaneError> {
        either!(self, plane => plane.poll())
    }

    fn take_result(&mut self, plan: &WindowPlan, out: &mut [f32]) -> Result<(), RankPlaneError> {
        either!(self, plane => plane.take_result(plan, out))
    }

    fn repair_data(&mut self, plan: &WindowPlan) -> Option<RepairData> {
        match self {
            Self::Card(card) => card.repair_data(plan),
            Self::Software(software) => software.repair_data(plan),
        }
    }

    fn cancel(&mut self, plan: &WindowPlan) -> Result<(), RankPlaneError> {
        either!(self, plane => plane.cancel(plan))
    }
}
