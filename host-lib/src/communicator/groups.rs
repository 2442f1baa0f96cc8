//! Communicators of some of the ranks, and all-reduce on two levels that is made of them.
//!
//! Why: with many ranks most rounds of Transpose AllReduce are too many. In 2D (OptiReduce, appendix A) ranks form groups of
//! neighbours: each group reduce-scatters, equal members of the groups average their parts, and each group gathers the means.
//! Differs: the paper's equal members send one another their whole sums, in (groups - 1) rounds; here they all-reduce, in
//! twice as many, with less than twice a part's bytes instead of (groups - 1) times them. 64 ranks in 16 groups: 36 rounds,
//! the paper 21, on one level 126.
//! Limits: under loss it is a mean of the groups' means, so a group that lost contributions counts as much as one that did not.

use std::net::TcpListener;

use serde::{Deserialize, Serialize};

use super::request::block_on;
use super::{Bound, Bucket, BucketOptions, Builder, Communicator, ConnectError, Error, Report};
use crate::control::{BootstrapError, ControlError, Launch};
use optireduce_core::protocol::{UpdateAction, rounds};

/// Where a rank's group could meet, if it were the lowest of its group.
#[derive(Debug, Serialize, Deserialize)]
struct Place {
    colour: usize,
    root: String,
}

impl Communicator {
    /// Joins the ranks that give the same `colour` in a communicator of their own, in the order of their ranks, with sockets,
    /// engine and job tag of its own and this one's settings and bound. Collective: all ranks call it, each with some colour;
    /// each colour has at least two ranks. Two processes on one machine may, rarely, be given the same port: then it fails.
    ///
    /// # Errors
    /// See [`ConnectError`].
    pub fn split(&mut self, colour: usize) -> Result<Communicator, ConnectError> {
        block_on(self.split_async(colour))
    }

    /// As [`split`](Self::split), without blocking the thread.
    ///
    /// # Errors
    /// See [`ConnectError`].
    pub async fn split_async(&mut self, colour: usize) -> Result<Communicator, ConnectError> {
        let rank = self.rank();
        let address = self.addresses[rank].ip();
        let port = TcpListener::bind((address, 0)).and_then(|listener| listener.local_addr());
        let failed = |source| BootstrapError::Io { what: format!("a free port of {address}"), source };
        let root = port.map_err(failed)?.to_string();
        let place = serde_json::to_vec(&Place { colour, root }).unwrap_or_default();
        let all = self.all_gather_bytes_async(&place).await.map_err(|error| match error {
            Error::Control(error) => ConnectError::Control(error),
            _ => ConnectError::Control(ControlError::Closed),
        })?;
        // Of ranks that are gone, and left out, there is nothing.
        let places =
            all.iter().enumerate().filter_map(|(member, place)| Some((member, serde_json::from_slice(place).ok()?)));
        let same: Vec<(usize, Place)> = places.filter(|(_, one): &(_, Place)| one.colour == colour).collect();
        let index = same.iter().position(|(member, _)| *member == rank).unwrap_or(0);
        let root = same.first().map(|(_, first)| first.root.clone()).unwrap_or_default();
        let job_id = self.builder.launch.as_ref().map_or("", |launch| &launch.job_id);
        let launch = Launch::new(index, same.len(), root)?.job_id(format!("{job_id}/{colour}"));
        let bound = Bound::Fixed(self.stage_deadline());
        Builder { launch: Some(launch), bound, ..self.builder.clone() }.connect_async().await
    }

    /// All-reduce on two levels, in `groups` groups of neighbouring ranks of equal size: rank r is in group r / (ranks / groups).
    /// Collective.
    ///
    /// # Errors
    /// If the ranks cannot be cut into so many groups of at least two, or they do not connect.
    pub fn two_level(&mut self, groups: usize) -> Result<TwoLevel, ConnectError> {
        block_on(self.two_level_async(groups))
    }

    /// As [`two_level`](Self::two_level), without blocking the thread.
    ///
    /// # Errors
    /// As [`two_level`](Self::two_level).
    pub async fn two_level_async(&mut self, groups: usize) -> Result<TwoLevel, ConnectError> {
        let (rank, ranks) = (self.rank(), self.world_size());
        if groups < 2 || rounds::rounds_2d(ranks, groups).is_none() || ranks / groups < 2 {
            return Err(ConnectError::Groups { ranks, groups });
        }
        let members = ranks / groups;
        let inside = self.split_async(rank / members).await?;
        let across = self.split_async(rank % members).await?;
        Ok(TwoLevel { inside, across })
    }
}

/// The communicators of an all-reduce on two levels: see [`Communicator::two_level`].
///
/// With many ranks most rounds of Transpose AllReduce are too many. In 2D (OptiReduce, appendix A) each group of neighbours
/// reduce-scatters, equal members of the groups average their shards, and each group gathers the means. Under loss the result
/// is a mean of groups' means: a group that lost contributions counts as much as one that did not.
#[derive(Debug)]
pub struct TwoLevel {
    inside: Communicator,
    across: Communicator,
}

impl TwoLevel {
    /// Declares a bucket of `elements` values. Collective.
    ///
    /// # Errors
    /// As [`Communicator::bucket`].
    pub fn bucket(&mut self, elements: usize, options: BucketOptions) -> Result<TwoLevelBucket, Error> {
        let inside = self.inside.bucket(elements, options.clone())?;
        // The shards of ranks at the end may be shorter, or empty; equal members of groups have equal ones.
        let shard = inside.shard_range().len();
        let across = if shard > 0 { Some(self.across.bucket(shard, options)?) } else { None };
        Ok(TwoLevelBucket { inside, across })
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

/// A declared bucket of an all-reduce on two levels.
#[derive(Debug)]
pub struct TwoLevelBucket {
    inside: Bucket,
    across: Option<Bucket>,
}

impl TwoLevelBucket {
    /// Reduces `data` over all ranks; blocks the thread, no longer than the deadlines of the four stages allow. Reports of the
    /// reduce-scatter in the group, the all-reduce among equal members (none if this rank's shard is empty), the all-gather in
    /// the group. What is missing after the last is zero. Collective.
    ///
    /// If one of the reports does not say [`UpdateAction::Apply`], `data` is unchanged on this rank.
    ///
    /// # Errors
    /// See [`Error`]; `data` is then unchanged.
    pub fn all_reduce(&mut self, data: &mut [f32]) -> Result<Vec<Report>, Error> {
        let (mut shard, scattered) = self.inside.reduce_scatter(data)?;
        let mut reports = vec![scattered];
        if let Some(across) = &mut self.across {
            reports.push(across.all_reduce(&mut shard)?);
        }
        let (whole, gathered) = self.inside.all_gather(&shard)?;
        reports.push(gathered);
        if reports.iter().all(|report| report.action() == UpdateAction::Apply) {
            data.copy_from_slice(&whole);
        }
        Ok(reports)
    }
}
