//! Partial reduce behind a handle.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use optireduce::{Error, PartialOptions, Report};

use crate::comm::{Averages, Comm};
use crate::raw::{Input, Output, ReportPlace};
use crate::report;
use crate::request::Request;
use crate::status::Failure;
use crate::types::optr_partial_report_t;
use crate::types::optr_status_t::{OPTR_BUSY, OPTR_CLOSED};

#[derive(Debug)]
pub struct Partial {
    comm: Arc<Comm>,
    averages: Arc<Averages>,
    /// Held by the thread that waits in a call.
    turn: Mutex<()>,
    elements: usize,
}

impl Partial {
    pub fn declare(comm: Arc<Comm>, elements: usize, options: PartialOptions) -> Result<Self, Failure> {
        let averages = comm.partial_reduce(elements, options)?;
        Ok(Self { comm, averages, turn: Mutex::default(), elements })
    }

    pub fn comm(&self) -> &Arc<Comm> {
        &self.comm
    }

    pub fn elements(&self) -> usize {
        self.elements
    }

    pub fn average(&self, model: &Input<f32>, iteration: u64, output: &mut Output<f32>) -> Result<Report, Failure> {
        let _turn = self.turn()?;
        let (mean, report) = self.begin(model, iteration)?.wait().map_err(|error| self.failed(error))?;
        output.write(&mean);
        Ok(report)
    }

    /// The thread that waits for the request writes mean and report.
    pub fn start_average(
        self: Arc<Self>,
        model: &Input<f32>,
        iteration: u64,
        mut output: Output<f32>,
        mut place: ReportPlace<optr_partial_report_t>,
    ) -> Result<Request, Failure> {
        let begun = self.begin(model, iteration)?;
        let comm = self.comm.clone();
        let end = move |done: Result<(Vec<f32>, Report), Error>| {
            let (mean, report) = done.map_err(|error| self.failed(error))?;
            output.write(&mean);
            let (report, members) = report::of_group(&report);
            place.write(&report, &members);
            Ok(None)
        };
        Ok(Request::new(comm, begun, false, end))
    }

    pub fn close(&self) -> Result<(), Failure> {
        let _turn = self.turn()?;
        let averages = self.lock().take().ok_or_else(|| self.ended())?;
        self.comm.wait_for(averages.close())
    }

    /// Ends this rank's part, and all waits for it.
    pub fn destroy(&self) {
        let averages = self.lock().take();
        // This may take up to a second, so the lock is not held.
        drop(averages);
    }

    fn begin(&self, model: &Input<f32>, iteration: u64) -> Result<optireduce::Request<(Vec<f32>, Report)>, Failure> {
        let model = model.to_vec()?;
        let mut averages = self.lock();
        let averages = averages.as_mut().ok_or_else(|| self.ended())?;
        Ok(averages.average(model, iteration))
    }

    fn lock(&self) -> MutexGuard<'_, Option<optireduce::PartialReduce>> {
        self.averages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn turn(&self) -> Result<MutexGuard<'_, ()>, Failure> {
        match self.turn.try_lock() {
            Ok(turn) => Ok(turn),
            Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => {
                let text = "another thread is in a call of this partial reduce; make calls one after the other";
                Err(Failure::new(OPTR_BUSY, text))
            }
        }
    }

    fn failed(&self, error: Error) -> Failure {
        if matches!(error, Error::Closed) { self.ended() } else { self.comm.of(error) }
    }

    fn ended(&self) -> Failure {
        let text = "the partial reduce was closed or destroyed; destroy it, and create a new one";
        self.comm.end_of_all().unwrap_or_else(|| Failure::new(OPTR_CLOSED, text))
    }
}
