//! Averages of models among the ranks that are ready.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use optireduce::binding::start_close_partial;
use optireduce::{PartialOptions, Report, Weights};
use pyo3::prelude::*;

use crate::arrays::{self, Output};
use crate::context::{Home, Owned};
use crate::error::call_error;
use crate::exceptions::{ArgumentError, TimeoutError};
use crate::report;
use crate::request::{Request, ok};
use crate::settings::{self, Iteration, Timeout};

/// Averages of models among the ranks that are ready; from `Communicator.partial_reduce`. Each rank
/// calls `average` at its own pace.
#[pyclass(frozen, module = "optireduce")]
pub struct PartialReduce {
    elements: usize,
    inner: Arc<Mutex<Owned<optireduce::PartialReduce>>>,
    /// Last, since fields are dropped in order.
    context: Home,
}

impl PartialReduce {
    pub fn new(context: &Home, partial: optireduce::PartialReduce) -> Self {
        let elements = partial.elements();
        Self { elements, inner: Arc::new(Mutex::new(Owned::new(partial, context))), context: context.clone() }
    }

    fn inner(&self) -> MutexGuard<'_, Owned<optireduce::PartialReduce>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl PartialReduce {
    /// Number of elements in the model.
    #[getter]
    fn elements(&self) -> usize {
        self.elements
    }

    /// Averages a model with the models of a group of ready ranks, in place, and returns a
    /// `Report`.
    ///
    /// `iteration` counts from 1 and exceeds `GroupReport.iteration` of the last average.
    /// One at a time.
    #[pyo3(signature = (array, iteration, *, async_op = false))]
    fn average(&self, array: &Bound<'_, PyAny>, iteration: Iteration, async_op: bool) -> PyResult<Py<PyAny>> {
        let (py, Iteration(iteration)) = (array.py(), iteration);
        let memory = arrays::floats(array, true)?;
        let (model, output) = (memory.to_vec(py)?, Output::new(array, memory));
        let operation = format!("average of {} elements, iteration {iteration}", model.len());
        let finish = move |py: Python<'_>, (mean, report): (Vec<f32>, Report)| {
            output.write(py, &mean)?;
            report::to_python(py, &report)
        };
        let home = self.context.with(self.inner.clone());
        let begin = |inner: &mut optireduce::PartialReduce| inner.average(model, iteration);
        Request::begin(py, (&home, &self.inner), operation, begin, ok(finish))?.or_result(py, async_op)
    }

    /// Leaves the groups, and waits until the other ranks have left them, at most `timeout`
    /// seconds. A second call has no effect.
    #[pyo3(signature = (timeout = None))]
    fn close(&self, py: Python<'_>, timeout: Option<Timeout>) -> PyResult<()> {
        let limit = timeout.map(|Timeout(timeout)| timeout);
        self.context.check("close")?;
        let closed = py.detach(|| {
            let Some(mut inner) = self.inner().take() else { return Ok(Some(Ok(()))) };
            self.context.finish_within("close", limit, start_close_partial(&mut inner))
        })?;
        let rank = self.context.rank;
        match closed {
            Some(closed) => closed.map_err(|error| call_error(rank, "close of partial reduce", &error)),
            None => Err(TimeoutError::new_err(format!("rank {rank}: close: not all ranks closed within {limit:?}"))),
        }
    }

    fn __repr__(&self) -> String {
        format!("<partial reduce of {} elements, rank {}>", self.elements, self.context.rank)
    }
}

#[allow(clippy::too_many_arguments, reason = "keywords of Python")]
pub fn options(
    group_size: usize,
    weights: &str,
    decay: f64,
    mix_within: Option<u32>,
    repair: bool,
    repair_timeout_s: f64,
    patience_s: f64,
    bound_ms: Option<f64>,
) -> PyResult<PartialOptions> {
    let weights = match weights {
        "dynamic" => Weights::Dynamic,
        "constant" => Weights::Constant,
        found => {
            return Err(ArgumentError::new_err(format!("weights is {found}, expected 'dynamic' or 'constant'")));
        }
    };
    let bound = bound_ms.map(|ms| settings::seconds("bound_ms", ms, 1e-3)).transpose()?;
    let options = PartialOptions::new().group_size(group_size).weights(weights).decay(decay).mix_within(mix_within);
    let options = options.repair(repair).repair_timeout(settings::seconds("repair_timeout_s", repair_timeout_s, 1.0)?);
    Ok(options.patience(settings::seconds("patience_s", patience_s, 1.0)?).bound(bound))
}
