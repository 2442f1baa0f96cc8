//! Declared buckets.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use optireduce::{Error, UpdateAction};
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::arrays;
use crate::context::{Context, Owned};
use crate::report;
use crate::request::{Request, Work};

/// Buffers that are not in use: what came back from one call goes into the next.
type Spares = Arc<Mutex<Vec<Vec<f32>>>>;

/// An all-reduce, and the array that its result is written to.
struct Reduction {
    request: optireduce::Request,
    array: PyBuffer<f32>,
    spares: Spares,
}

impl Work for Reduction {
    fn wait_timeout(&mut self, timeout: Duration) -> bool {
        self.request.wait_timeout(timeout)
    }

    fn finish(self: Box<Self>, py: Python<'_>) -> PyResult<Result<Py<PyAny>, Error>> {
        let (values, report) = match self.request.wait() {
            Ok(done) => done,
            Err(error) => return Ok(Err(error)),
        };
        if report.action() == UpdateAction::Apply {
            self.array.copy_from_slice(py, &values)?;
        }
        self.spares.lock().unwrap_or_else(PoisonError::into_inner).push(values);
        report::to_python(py, &report).map(Ok)
    }
}

/// A reduce-scatter or all-gather, which gives a new array.
struct Partial(optireduce::Request);

impl Work for Partial {
    fn wait_timeout(&mut self, timeout: Duration) -> bool {
        self.0.wait_timeout(timeout)
    }

    fn finish(self: Box<Self>, py: Python<'_>) -> PyResult<Result<Py<PyAny>, Error>> {
        let (values, report) = match self.0.wait() {
            Ok(done) => done,
            Err(error) => return Ok(Err(error)),
        };
        let result = (report::array(py, &values)?, report::to_python(py, &report)?);
        Ok(Ok(PyTuple::new(py, [result.0, result.1])?.into_any().unbind()))
    }
}

/// What is reduced again and again; from `Communicator.bucket`.
#[pyclass(frozen, module = "optireduce")]
pub struct Bucket {
    context: Arc<Context>,
    id: u16,
    elements: usize,
    spares: Spares,
    inner: Mutex<Owned<optireduce::Bucket>>,
}

impl Bucket {
    pub fn new(context: &Arc<Context>, bucket: optireduce::Bucket) -> Self {
        let (id, elements) = (bucket.id(), bucket.elements());
        let inner = Mutex::new(Owned::new(bucket, context));
        Self { context: context.clone(), id, elements, spares: Spares::default(), inner }
    }

    fn inner(&self) -> MutexGuard<'_, Owned<optireduce::Bucket>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something with the bucket. Detached: whoever holds the lock may need the GIL.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        operation: &str,
        act: impl FnOnce(&mut optireduce::Bucket) -> T + Send,
    ) -> PyResult<T> {
        py.detach(|| self.inner().get(operation).map(act))
    }

    fn operation(&self, call: &str) -> String {
        format!("{call} of bucket {} of {} elements", self.id, self.elements)
    }
}

#[pymethods]
impl Bucket {
    /// The number of the bucket, the same on all ranks.
    #[getter]
    fn id(&self) -> u16 {
        self.id
    }

    /// Elements of the bucket.
    #[getter]
    fn elements(&self) -> usize {
        self.elements
    }

    /// The elements of this rank in reduce-scatter and all-gather: start and end.
    #[getter]
    fn shard_range(&self, py: Python<'_>) -> PyResult<(usize, usize)> {
        let range = self.with(py, "shard_range", |bucket| bucket.shard_range())?;
        Ok((range.start, range.end))
    }

    /// Reduces the array over all ranks, in place, and gives a `Report`.
    fn all_reduce(&self, array: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        self.start_all_reduce(array)?.wait(array.py(), None)
    }

    /// Begins to reduce the array over all ranks; the result is written to the array by `Request.wait`.
    fn start_all_reduce(&self, array: &Bound<'_, PyAny>) -> PyResult<Request> {
        let (py, operation) = (array.py(), self.operation("all_reduce"));
        self.context.check(&operation)?;
        let array = arrays::floats(array, true)?;
        let spare = self.spares.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut values = spare.unwrap_or_default();
        // The library tells all ranks if this is not the length of the bucket.
        values.resize(array.item_count(), 0.0);
        array.copy_to_slice(py, &mut values)?;
        let request = self.with(py, &operation, |bucket| bucket.start_all_reduce(values))?;
        let work = Reduction { request, array, spares: self.spares.clone() };
        Ok(Request::new(&self.context, operation, work))
    }

    /// Begins to reduce the array over all ranks; `Request.wait` gives this rank's shard, and a `Report`.
    fn start_reduce_scatter(&self, array: &Bound<'_, PyAny>) -> PyResult<Request> {
        let operation = self.operation("reduce_scatter");
        let values = arrays::floats(array, false)?.to_vec(array.py())?;
        let request = self.with(array.py(), &operation, |bucket| bucket.start_reduce_scatter(values))?;
        Ok(Request::new(&self.context, operation, Partial(request)))
    }

    /// Begins to hand this rank's shard to all ranks; `Request.wait` gives the whole, and a `Report`.
    fn start_all_gather(&self, shard: &Bound<'_, PyAny>) -> PyResult<Request> {
        let operation = self.operation("all_gather");
        let values = arrays::floats(shard, false)?.to_vec(shard.py())?;
        let request = self.with(shard.py(), &operation, |bucket| bucket.start_all_gather(values))?;
        Ok(Request::new(&self.context, operation, Partial(request)))
    }

    /// Reduces the array over all ranks; this rank's shard, and a `Report`.
    fn reduce_scatter(&self, array: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        self.start_reduce_scatter(array)?.wait(array.py(), None)
    }

    /// Hands this rank's shard to all ranks; the whole, and a `Report`.
    fn all_gather(&self, shard: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        self.start_all_gather(shard)?.wait(shard.py(), None)
    }

    /// Waits until nothing is outstanding, at most `timeout` seconds; what the results so far lack.
    #[pyo3(signature = (timeout = None))]
    fn settle(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<Py<PyAny>> {
        let operation = self.operation("settle");
        let timeout = timeout.map(Duration::try_from_secs_f64).transpose()?;
        let pending = self.with(py, &operation, |bucket| bucket.start_settle(timeout))?;
        report::settled_to_python(py, &self.context.finish(py, &operation, pending)?)
    }

    fn __repr__(&self) -> String {
        format!("<bucket {} of {} elements>", self.id, self.elements)
    }
}
