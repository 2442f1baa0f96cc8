//! All-reduce over the control channel: Transpose AllReduce (OptiReduce 3.1) on TCP, without bounds on its stages.
//!
//! Why: it is the baseline for what bounds are worth.
//! All ranks get the same bits: each shard is summed in order of rank, by one rank.
//! Limits: a rank that does not come holds up all, until `timeout`.

use std::time::{Duration, Instant};

use optireduce_contract::shard::ShardMap;

use super::{CHUNK_BYTES, ControlChannel, ControlError};

/// Averages `data` over all ranks; returns the times of both stages.
///
/// # Errors
/// If a peer is gone or silent; `data` is then in between.
pub fn all_reduce(
    channel: &mut ControlChannel,
    op: u32,
    data: &mut [f32],
    timeout: Duration,
) -> Result<[Duration; 2], ControlError> {
    let (rank, ranks) = (channel.rank(), channel.ranks());
    let shards = ShardMap::new(data.len(), ranks, op);
    let peers = || (1..ranks).map(move |k| (rank + k) % ranks);
    let begin = Instant::now();
    for peer in peers() {
        send(channel, peer, &data[shards.range_of(peer)]);
    }
    let own = shards.range_of(rank);
    let mut sum = vec![0.0; own.len()];
    for from in 0..ranks {
        if from == rank {
            sum.iter_mut().zip(&data[own.clone()]).for_each(|(sum, value)| *sum += value);
        } else {
            receive(channel, from, &mut sum, timeout, |sum, value| *sum += value)?;
        }
    }
    let reciprocal = 1.0 / ranks as f32;
    data[own.clone()].iter_mut().zip(sum).for_each(|(mean, sum)| *mean = sum * reciprocal);
    let contributed = begin.elapsed();
    for peer in peers() {
        send(channel, peer, &data[own.clone()]);
    }
    for from in peers() {
        receive(channel, from, &mut data[shards.range_of(from)], timeout, |mean, value| *mean = value)?;
    }
    Ok([contributed, begin.elapsed() - contributed])
}

fn send(channel: &mut ControlChannel, to: usize, values: &[f32]) {
    let mut bytes = Vec::with_capacity(CHUNK_BYTES.min(values.len() * 4));
    for chunk in values.chunks(CHUNK_BYTES / 4) {
        bytes.clear();
        bytes.extend(chunk.iter().flat_map(|value| value.to_le_bytes()));
        channel.send(to, &bytes);
    }
}

fn receive(
    channel: &mut ControlChannel,
    from: usize,
    values: &mut [f32],
    timeout: Duration,
    take: impl Fn(&mut f32, f32),
) -> Result<(), ControlError> {
    for chunk in values.chunks_mut(CHUNK_BYTES / 4) {
        let bytes = channel.receive_from(from, timeout)?;
        let (words, rest) = bytes.as_chunks::<4>();
        if !rest.is_empty() || words.len() != chunk.len() {
            let (found, expected) = (bytes.len(), chunk.len() * 4);
            return Err(ControlError::WrongLength { rank: from, found, expected });
        }
        chunk.iter_mut().zip(words).for_each(|(to, word)| take(to, f32::from_le_bytes(*word)));
    }
    Ok(())
}
