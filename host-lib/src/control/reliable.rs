//! Reductions over the control channel: Transpose AllReduce (OptiReduce 3.1) on TCP, without bounds on its stages.
//!
//! Why: what must be exact does not go over the lossy path; and it is the baseline for what bounds are worth.
//! All ranks get the same bits: each shard is reduced in order of rank, by one rank. Each rank sends and receives
//! 2 (ranks - 1) / ranks times the bytes of the buffer.
//! Limits: a rank that does not come holds up all, until `timeout`.

use std::ops::Range;
use std::time::{Duration, Instant};

use optireduce_contract::shard::ShardMap;

use super::{ControlChannel, ControlError, Folding, Place};
use crate::exact::Fold;

/// Reduces `data`, whole elements of so many bytes, over all ranks; returns the times of both stages.
///
/// # Errors
/// If a peer is gone or silent; `data` is then in between.
pub fn all_reduce(
    channel: &mut ControlChannel,
    data: &mut [u8],
    element_bytes: usize,
    fold: Box<dyn Fold>,
    timeout: Duration,
) -> Result<[Duration; 2], ControlError> {
    let members = channel.members(timeout)?;
    let shards = ShardMap::new(data.len() / element_bytes, members.len(), 0);
    let bytes = |range: Range<usize>| range.start * element_bytes..range.end * element_bytes;
    let places: Vec<_> = (0..members.len()).map(|index| bytes(shards.range_of(index))).collect();
    let begin = Instant::now();
    let own = reduce(channel, &members, data, &places, fold, timeout)?;
    let contributed = begin.elapsed();
    let mut gathered = Place { members: &members, into: data, places };
    channel.exchange(&members, &vec![Some(own.as_slice()); members.len()], false, timeout, &mut gathered)?;
    Ok([contributed, begin.elapsed() - contributed])
}

/// Reduces `data` over all ranks, of which each has a part, by rank; returns this rank's.
///
/// # Errors
/// If a peer is gone or silent.
pub fn reduce_scatter(
    channel: &mut ControlChannel,
    data: &[u8],
    parts: &[Range<usize>],
    fold: Box<dyn Fold>,
    timeout: Duration,
) -> Result<Vec<u8>, ControlError> {
    let members = channel.members(timeout)?;
    let places: Vec<_> = members.iter().map(|rank| parts[*rank].clone()).collect();
    reduce(channel, &members, data, &places, fold, timeout)
}

/// This rank's place of what comes of `data`.
fn reduce(
    channel: &mut ControlChannel,
    members: &[usize],
    data: &[u8],
    places: &[Range<usize>],
    fold: Box<dyn Fold>,
    timeout: Duration,
) -> Result<Vec<u8>, ControlError> {
    let own = channel.rank();
    let place = members.iter().zip(places).find(|(rank, _)| **rank == own).map_or(0..0, |(_, place)| place.clone());
    let given: Vec<_> = places.iter().map(|place| Some(&data[place.clone()])).collect();
    let result = Vec::with_capacity(place.len());
    let mut folding = Folding { members, fold, bytes: place.len(), result };
    channel.exchange(members, &given, false, timeout, &mut folding)?;
    Ok(folding.result)
}
