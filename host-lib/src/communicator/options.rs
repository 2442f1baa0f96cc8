//! Options of buckets.

use super::builder::Builder;
use crate::control::Terms;
use crate::settings::Groups;
use optireduce_core::Repair;
use optireduce_core::protocol::HadamardMode;

/// Reduction of an all-reduce or reduce-scatter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ReduceOp {
    /// Mean of the values that arrived in time: their sum in fp32, divided. A sum above `f32::MAX`
    /// is infinite, which [`Report::not_finite`](crate::Report::not_finite) counts.
    #[default]
    Avg,
    /// Mean times the number of ranks that take part: the sum, if all values arrived in time.
    Sum,
}

/// Options of a bucket, the same on all ranks. Unset options are the communicator's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs)] // described by the methods of the same names
pub struct BucketOptions {
    pub reduce_op: ReduceOp,
    pub hadamard: Option<HadamardMode>,
    pub bf16: Option<bool>,
    pub repair: Option<Repair>,
    pub groups: Option<Groups>,
}

impl BucketOptions {
    /// Returns the default options.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the reduction. Default: [`ReduceOp::Avg`].
    pub fn reduce_op(self, reduce_op: ReduceOp) -> Self {
        Self { reduce_op, ..self }
    }

    /// Sets when all-reduces are Hadamard-encoded. Default:
    /// [`Settings::hadamard`](crate::Settings::hadamard).
    pub fn hadamard(self, hadamard: impl Into<Option<HadamardMode>>) -> Self {
        Self { hadamard: hadamard.into(), ..self }
    }

    /// Sets whether values travel as bf16. Default: [`Settings::bf16`](crate::Settings::bf16).
    pub fn bf16(self, bf16: impl Into<Option<bool>>) -> Self {
        Self { bf16: bf16.into(), ..self }
    }

    /// Sets the repair of lost means. Default: [`Settings::repair`](crate::Settings::repair).
    pub fn repair(self, repair: impl Into<Option<Repair>>) -> Self {
        Self { repair: repair.into(), ..self }
    }

    /// Sets the groups of a bucket on two levels, in a job on one level. The first bucket with the
    /// same groups connects them, over the kernel's UDP; a restarted process cannot rejoin them. A
    /// job on two levels, [`Settings::groups`](crate::Settings::groups), has its own groups only.
    ///
    /// Default: the groups of the job, or one level.
    pub fn groups(self, groups: impl Into<Option<Groups>>) -> Self {
        Self { groups: groups.into(), ..self }
    }

    pub(super) fn or(self, builder: &Builder) -> Self {
        let Self { reduce_op, hadamard, bf16, repair, groups } = self;
        Self {
            reduce_op,
            hadamard: hadamard.or(Some(builder.hadamard)),
            bf16: bf16.or(Some(builder.bf16)),
            repair: repair.or(Some(builder.repair)),
            groups: groups.or(builder.groups),
        }
    }

    pub(super) fn terms(&self, call: &str, elements: usize) -> Terms {
        let &Self { reduce_op, hadamard, bf16, repair, groups } = self;
        Terms::default()
            .with("the call", call)
            .with("elements", elements)
            .with("reduce_op", format!("{reduce_op:?}"))
            .with("hadamard", hadamard.unwrap_or_default())
            .with("bf16", bf16.unwrap_or_default())
            .with("repair", repair.unwrap_or_default())
            .with("groups", groups.map_or("none".into(), |groups| groups.to_string()))
    }
}
