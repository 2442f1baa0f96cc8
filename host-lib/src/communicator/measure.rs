//! Measuring the bound t_B, at the start of a job and again while it runs.

use std::time::Duration;

use super::error::ConnectError;
use crate::control::{ControlChannel, reliable};
use optireduce_core::protocol::bound_from_warmup;

/// The shortest bound that is measured: for so long a host may keep the engine's thread off the CPU.
pub const BOUND_MIN: Duration = Duration::from_millis(5);

/// Agrees on t_B in ns: every rank times 20 reliable all-reduces, rank 0 pools the times. Rank 0 also says how many elements;
/// nothing is measured without any. `patience`: how long ranks wait for one another, at each step.
pub(super) fn measure_bound(
    channel: &mut ControlChannel,
    elements: usize,
    patience: impl Fn() -> Duration,
) -> Result<Option<u64>, ConnectError> {
    let elements = channel.broadcast(&(elements as u64).to_le_bytes(), patience())?;
    let elements = u64::from_le_bytes(elements.try_into().unwrap_or_default()).min(1 << 30) as usize;
    if elements == 0 {
        return Ok(None);
    }
    let mut data = vec![0.0f32; elements];
    let mut times_ns = Vec::new();
    for op in 0..optireduce_core::protocol::RUNS_MIN as u32 {
        channel.barrier(patience())?;
        let stages = reliable::all_reduce(channel, op, &mut data, patience())?;
        times_ns.extend(stages.map(|stage| stage.as_nanos() as u64));
    }
    let times = serde_json::to_vec(&times_ns).unwrap_or_default();
    let all = channel.gather(&times, patience())?;
    let bound = if channel.rank() == 0 {
        let pooled: Vec<Vec<u64>> = all.iter().map(|times| serde_json::from_slice(times).unwrap_or_default()).collect();
        bound_from_warmup(&pooled)?
    } else {
        0
    };
    let bound = channel.broadcast(&bound.to_le_bytes(), patience())?;
    let bound = u64::from_le_bytes(bound.try_into().unwrap_or_default());
    Ok(Some(bound.clamp(BOUND_MIN.as_nanos() as u64, u32::MAX.into())))
}
