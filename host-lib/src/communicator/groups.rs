//! Communicators of some of the ranks, and all-reduce on two levels that is made of them.
//!
//! Why: with many ranks most rounds of Transpose AllReduce are too many. In 2D (OptiReduce, appendix A) ranks form groups of
//! neighbours: each group reduce-scatters, equal members of the groups average their parts, and each group gathers the means.
//! Differs: the paper's equal members send one another their whole sums, in (groups - 1) rounds; here they all-reduce, in
//! twice as many, with less than twice a part's bytes instead of (groups - 1) times them. 64 ranks in 16 groups: 36 rounds,
//! the paper 21, on one level 126.
//! Limits: under loss it is a mean of the groups' means, so a group that lost contributions counts as much as one that did not.

use std::net::TcpListener;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Bound, Builder, Communicator, ConnectError, EngineError};
use crate::bootstrap::{BootstrapError, Launch};
use optireduce_core::protocol::{Report, rounds};

#[derive(Debug, Serialize, Deserialize)]
struct Place {
    colour: usize,
    root: String,
}

impl Communicator {
    /// Joins the ranks that give the same `colour` in a communicator of their own, in the order of their ranks, with sockets,
    /// engine and job tag of its own and this one's settings and bound. All ranks call it, each with some colour; each colour
    /// has at least two ranks. Two processes on one machine may, rarely, be given the same port: then it fails.
    ///
    /// # Errors
    /// See [`ConnectError`].
    pub fn split(&mut self, colour: usize) -> Result<Communicator, ConnectError> {
        let (rank, timeout) = (self.params.rank, self.timeout);
        let address = self.mesh.job().members[rank].control.ip();
        let port = TcpListener::bind((address, 0)).and_then(|listener| listener.local_addr());
        let failed = |source| BootstrapError::Io { what: format!("a free port of {address}"), source };
        let root = port.map_err(failed)?.to_string();
        let own = serde_json::to_vec(&Place { colour, root }).unwrap_or_default();
        let all = self.mesh.gather(&own, timeout)?;
        let all = self.mesh.broadcast(&serde_json::to_vec(&all).unwrap_or_default(), timeout)?;
        let all: Vec<Vec<u8>> = serde_json::from_slice(&all).unwrap_or_default();
        // Of ranks that are gone, and left out, there is nothing.
        let places =
            all.iter().enumerate().filter_map(|(member, place)| Some((member, serde_json::from_slice(place).ok()?)));
        let same: Vec<(usize, Place)> = places.filter(|(_, one): &(_, Place)| one.colour == colour).collect();
        let place = same.iter().position(|(member, _)| *member == rank).unwrap_or(0);
        let root = same.first().map(|(_, first)| first.root.clone()).unwrap_or_default();
        let launch = Launch::new(place, same.len(), root)?;
        let bound = Bound::Fixed(Duration::from_nanos(self.params.bound_ns));
        Builder { launch: Some(launch), bound, ..self.builder.clone() }.connect()
    }

    /// All-reduce on two levels, in `groups` groups of neighbouring ranks of equal size: rank r is in group r / (ranks / groups).
    /// All ranks call it.
    ///
    /// # Errors
    /// If `ranks` cannot be cut into so many groups of at least two, or they do not connect.
    pub fn two_level(&mut self, groups: usize) -> Result<TwoLevel, ConnectError> {
        let (rank, ranks) = (self.params.rank, self.params.ranks);
        if groups < 2 || rounds::rounds_2d(ranks, groups).is_none() || ranks / groups < 2 {
            return Err(ConnectError::Groups { ranks, groups });
        }
        let members = ranks / groups;
        let inside = self.split(rank / members)?;
        let across = self.split(rank % members)?;
        Ok(TwoLevel { inside, across })
    }
}

/// All-reduce on two levels. See the module's documentation.
#[derive(Debug)]
pub struct TwoLevel {
    inside: Communicator,
    across: Communicator,
}

impl TwoLevel {
    /// Averages `data` over all ranks; blocks until that is done, no longer than the bounds of the four stages allow. Reports of
    /// the reduce-scatter in the group, the all-reduce among equal members, the all-gather in the group. What is missing
    /// after the last is zero.
    ///
    /// # Errors
    /// If an engine has given up, or the bucket's number is too high; `data` is then unchanged.
    pub fn all_reduce(&mut self, bucket: u16, data: &mut [f32]) -> Result<[Report; 3], EngineError> {
        let scattered = self.inside.reduce_scatter(bucket, data)?;
        let mut part = scattered.result;
        let across = self.across.all_reduce(bucket, &mut part)?;
        let gathered = self.inside.all_gather(bucket, data.len(), &part)?;
        data.copy_from_slice(&gathered.result);
        Ok([scattered.report, across, gathered.report])
    }

    /// The communicator of this rank's group.
    pub fn inside(&mut self) -> &mut Communicator {
        &mut self.inside
    }

    /// The communicator of this rank's equals in all groups.
    pub fn across(&mut self) -> &mut Communicator {
        &mut self.across
    }
}
