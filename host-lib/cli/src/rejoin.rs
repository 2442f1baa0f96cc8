//! How a process that was started again comes into a measurement that runs, in place of one of the same rank that has ended.
//!
//! It connects, finds the bucket that the others have declared among its own sizes, asks to take part, and makes its first call
//! with them. If they have just ended a size, it begins the next one with them, as it would without all this.
//! Limits: rank 0 cannot come back, and not into two levels nor over TCP.

use std::time::{Duration, Instant};

use optireduce::{ControlError, Error, Launch};

use crate::args::RunArgs;
use crate::engine::Engine;
use crate::measure::{Measurement, Progress};

/// Between two attempts.
const RETRY: Duration = Duration::from_millis(100);

/// Connects. In a job that runs also the measurement that this process goes on with.
pub fn connect<'a>(args: &'a RunArgs, launch: &Launch, is_late: bool) -> Result<(Engine, Option<Entered<'a>>), String> {
    let deadline = Instant::now() + args.job.timeout();
    loop {
        let mut engine = Engine::connect(args, launch)?;
        if !engine.one_level().is_ok_and(|communicator| communicator.is_outside()) {
            return Ok((engine, None));
        }
        match Entered::new(&mut engine, args, is_late) {
            Ok(entered) => return Ok((engine, Some(entered))),
            Err(error) if Instant::now() >= deadline => return Err(format!("coming into the job that runs: {error}")),
            // A size may be about to begin or to end.
            Err(error) => tracing::info!(%error, "not in the job yet"),
        }
        drop(engine);
        std::thread::sleep(RETRY);
    }
}

/// A measurement that was entered.
pub struct Entered<'a> {
    pub measurement: Measurement<'a>,
    pub progress: Progress,
}

impl<'a> Entered<'a> {
    fn new(engine: &mut Engine, args: &'a RunArgs, is_late: bool) -> Result<Self, String> {
        let bytes = declare(engine, &args.job.bench)?;
        engine.one_level()?.rejoin().map_err(|error| error.to_string())?;
        let mut measurement = Measurement::new(&args.job, engine, is_late, bytes)?;
        let progress = measurement.join(engine)?;
        if args.job.bench.get(progress.size) != Some(&bytes) {
            return Err(format!(
                "the others measure {bytes} bytes as size {} of theirs: --bench differs",
                progress.size
            ));
        }
        Ok(Self { measurement, progress })
    }
}

/// Declares the bucket that the others have, which is of one of these sizes.
fn declare(engine: &mut Engine, sizes: &[usize]) -> Result<usize, String> {
    let mut last = None;
    for bytes in sizes {
        match engine.declare(bytes / 4) {
            Ok(()) => return Ok(*bytes),
            Err(Error::Control(ControlError::Differs(differs))) => last = Some(differs.to_string()),
            Err(error) => return Err(error.to_string()),
        }
    }
    Err(last.unwrap_or_default())
}
