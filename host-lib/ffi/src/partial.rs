//! Partial reduce behind a handle.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use optireduce::{Error, ErrorKind, Report};

use crate::comm::{Averages, Comm, turn};
use crate::raw::{Input, Output, ReportPlace};
use crate::registry::Kind;
use crate::report;
use crate::request::{self, Operation, RequestPlace};
use crate::status::Failure;
use crate::types::optr_partial_report_t;
use crate::types::optr_partial_t;
use crate::types::optr_status_t::OPTR_CLOSED;

#[derive(Debug)]
pub struct Partial {
    pub comm: Arc<Comm>,
    averages: Arc<Averages>,
    /// Held by the thread that waits in a call.
    turn: Mutex<()>,
    elements: usize,
}

impl Kind for Partial {
    type Handle = optr_partial_t;
    const NAME: &str = "a partial reduce";
    const MADE_BY: &str = "optr_partial_create";
    const TAG: usize = 7;

    fn owner(&self) -> usize {
        Arc::as_ptr(&self.comm).addr()
    }
}

impl Partial {
    pub fn new(comm: Arc<Comm>, elements: usize, averages: Arc<Averages>) -> Self {
        Self { comm, averages, turn: Mutex::default(), elements }
    }

    pub fn elements(&self) -> usize {
        self.elements
    }

    /// Writes mean and report when the average is done.
    pub fn average(
        self: Arc<Self>,
        model: &Input<f32>,
        iteration: u64,
        mut output: Output<f32>,
        mut report: ReportPlace<optr_partial_report_t>,
        place: RequestPlace,
    ) -> Result<(), Failure> {
        let _turn = self.turn(&place)?;
        let model = model.to_vec()?;
        let begun = self.lock().as_mut().map(|averages| averages.average(model, iteration));
        let (begun, of) = (begun.ok_or_else(|| self.ended())?, self.clone());
        request::complete(&self.comm, place, begun, move |done: Result<(Vec<f32>, Report), Error>| {
            let (mean, done) = done.map_err(|error| of.failed(error))?;
            output.write(&mean);
            let (done, members) = report::of_group(&done);
            report.write(&done, &members);
            Ok(())
        })
    }

    pub fn close(self: Arc<Self>, place: RequestPlace) -> Result<(), Failure> {
        let _turn = self.turn(&place)?;
        let averages = self.lock().take().ok_or_else(|| self.ended())?;
        let (closing, of) = (Operation::until(self.comm.ends(), averages.close()), self.comm.clone());
        request::complete(&self.comm, place, closing, move |done| done.map_err(|error| of.of(error)))
    }

    /// Ends this rank's part, and all waits for it.
    pub fn destroy(&self) {
        let averages = self.lock().take();
        // This may take up to a second, so the lock is not held.
        drop(averages);
    }

    fn lock(&self) -> MutexGuard<'_, Option<optireduce::PartialReduce>> {
        self.averages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Held by a call that blocks.
    fn turn(&self, place: &RequestPlace) -> Result<Option<MutexGuard<'_, ()>>, Failure> {
        let busy = "another thread is in a call of this partial reduce; make calls one after the other";
        if place.is_some() { Ok(None) } else { turn(&self.turn, busy).map(Some) }
    }

    fn failed(&self, error: Error) -> Failure {
        if error.kind() == ErrorKind::Closed { self.ended() } else { self.comm.of(error) }
    }

    fn ended(&self) -> Failure {
        let text = "the partial reduce was closed or destroyed; destroy it, and create a new one";
        self.comm.end_of_all().unwrap_or_else(|| Failure::new(OPTR_CLOSED, text))
    }
}
