//! Exact reductions: Transpose AllReduce (OptiReduce 3.1) over the control channel, also the
//! baseline of the bounded collectives.
//!
//! Each shard is reduced by one rank, in the order of ranks, so all ranks receive the same bits.
//! Each rank sends and receives 2 (ranks - 1) / ranks times the bytes of the buffer.
//! Limits: a rank that does not take part blocks all others until `timeout`.

use std::ops::Range;
use std::time::{Duration, Instant};

use optireduce_contract::shard::ShardMap;

use super::{ControlChannel, ControlError, Folding, Place};
use crate::exact::Fold;

/// `data` has whole elements of `element_bytes` bytes. Returns the durations of both stages.
///
/// # Errors
/// If a peer is gone or silent. The contents of `data` are then undefined.
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

/// Returns this rank's part. `parts`: by rank.
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

/// `places`: by member.
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
