//! Number of collectives of each kind that a rank has called, compared when a job ends.
//!
//! The count restarts at each join: a rank that was dropped for a while has called fewer than the
//! others.

use crate::control::Terms;
use optireduce_core::protocol::Kind;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CallCounts {
    first_op: u32,
    all_reduces: u32,
    reduce_scatters: u32,
    all_gathers: u32,
}

impl CallCounts {
    pub fn count(&mut self, op: u32, kind: Kind) {
        if op < self.first_op {
            return;
        }
        match kind {
            Kind::AllReduce => self.all_reduces += 1,
            Kind::ReduceScatter => self.reduce_scatters += 1,
            Kind::AllGather => self.all_gathers += 1,
        }
    }

    /// Restarts the count when a rank joins with collective `first_op`.
    pub fn restart(&mut self, first_op: u32) {
        if first_op > self.first_op {
            *self = Self { first_op, ..Self::default() };
        }
    }

    pub fn terms(&self) -> Terms {
        Terms::default()
            .with("the call", "close")
            .with("the number of all-reduces", self.all_reduces)
            .with("the number of reduce-scatters", self.reduce_scatters)
            .with("the number of all-gathers", self.all_gathers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counting_begins_anew_where_a_rank_joins() {
        let mut counts = CallCounts::default();
        (0..5).for_each(|op| counts.count(op, Kind::AllReduce));
        counts.restart(7);
        counts.count(6, Kind::AllGather);
        assert_eq!(counts, CallCounts { first_op: 7, ..CallCounts::default() });
        counts.count(7, Kind::ReduceScatter);
        counts.restart(7);
        assert_eq!(counts, CallCounts { first_op: 7, reduce_scatters: 1, ..CallCounts::default() });
    }
}
