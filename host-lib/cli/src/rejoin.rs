//! Rejoin of a running measurement by a restarted process.
//!
//! The process connects, finds the declared bucket of the others among its own sizes, asks to take
//! part, and makes its first call with them. Between two sizes it starts the next one with them.
//!
//! Limits: not for rank 0, and not on two levels or over TCP.

use std::time::{Duration, Instant};

use optireduce::ErrorKind;
use optireduce::binding::Launch;

use crate::args::RunArgs;
use crate::engine::Engine;
use crate::measure::{Measurement, Progress};

const RETRY: Duration = Duration::from_millis(100);

/// Connects. If the job is running, also returns the measurement that this process continues.
pub fn connect<'a>(args: &'a RunArgs, launch: &Launch, is_late: bool) -> Result<(Engine, Option<Entered<'a>>), String> {
    let deadline = Instant::now() + args.job.timeout()?;
    loop {
        let mut engine = Engine::connect(args, launch)?;
        if !engine.communicator().is_outside() {
            return Ok((engine, None));
        }
        match Entered::new(&mut engine, args, is_late) {
            Ok(entered) => return Ok((engine, Some(entered))),
            Err(error) if Instant::now() >= deadline => return Err(format!("rejoining the running job: {error}")),
            // The other ranks may be between two sizes.
            Err(error) => tracing::info!(%error, "not in the job yet"),
        }
        drop(engine);
        std::thread::sleep(RETRY);
    }
}

pub struct Entered<'a> {
    pub measurement: Measurement<'a>,
    pub progress: Progress,
}

impl<'a> Entered<'a> {
    fn new(engine: &mut Engine, args: &'a RunArgs, is_late: bool) -> Result<Self, String> {
        let bytes = declare(engine, &args.job.bench)?;
        engine.communicator_mut().rejoin().wait().map_err(|error| error.to_string())?;
        let mut measurement = Measurement::new(&args.job, engine, is_late, bytes)?;
        let progress = measurement.join(engine)?;
        if args.job.bench.get(progress.size) != Some(&bytes) {
            return Err(format!(
                "the other ranks measure {bytes} bytes as size number {}: --bench differs",
                progress.size
            ));
        }
        Ok(Self { measurement, progress })
    }
}

/// Declares the bucket of the other ranks, which has one of `sizes`, and returns its bytes.
fn declare(engine: &mut Engine, sizes: &[usize]) -> Result<usize, String> {
    let mut last = None;
    for bytes in sizes {
        match engine.declare(bytes / 4) {
            Ok(()) => return Ok(*bytes),
            Err(error) if error.kind() == ErrorKind::Mismatch => last = Some(error.to_string()),
            Err(error) => return Err(error.to_string()),
        }
    }
    Err(last.unwrap_or_default())
}
