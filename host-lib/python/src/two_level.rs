//! All-reduce on two levels.

use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use optireduce::ErrorKind;
use pyo3::prelude::*;

use crate::arrays::{self, Output};
use crate::context::{Home, Owned, lock};
use crate::exceptions::OptiReduceError;
use crate::report;
use crate::request::{Done, Request, Work};
use crate::settings::{self, Elements, Timeout};

/// Groups of all-reduces on two levels; from `Communicator.two_level`.
///
/// Each group reduce-scatters, equal members of the groups average their shards, and each group
/// gathers the means. If a rank is gone, its group lacks that rank's shard.
#[pyclass(frozen, module = "optireduce")]
pub struct TwoLevel {
    inner: Arc<Mutex<Owned<optireduce::Communicator>>>,
    groups: Groups,
    /// Last, since fields are dropped in order.
    context: Home,
}

impl TwoLevel {
    pub fn new(context: &Home, inner: Arc<Mutex<Owned<optireduce::Communicator>>>, groups: Groups) -> Self {
        Self { inner, groups, context: context.clone() }
    }

    fn members(&self) -> PyResult<usize> {
        let members = match self.groups {
            Groups::Number(groups) => self.context.world_size.checked_div(groups),
            _ => None,
        };
        members.ok_or_else(|| OptiReduceError::new_err("the ranks of groups of hosts are in `Report.parts`"))
    }
}

#[pymethods]
impl TwoLevel {
    /// Ranks of this rank's group, in ascending order; not with "hosts".
    #[getter]
    fn ranks_inside(&self) -> PyResult<Vec<usize>> {
        let (rank, members) = (self.context.rank, self.members()?);
        Ok((rank - rank % members..).take(members).collect())
    }

    /// This rank's equal in each group, in ascending order; not with "hosts".
    #[getter]
    fn ranks_across(&self) -> PyResult<Vec<usize>> {
        let (rank, members) = (self.context.rank, self.members()?);
        Ok((rank % members..self.context.world_size).step_by(members).collect())
    }

    /// Declares a bucket, as `Communicator.bucket`. Collective.
    #[pyo3(signature = (elements, *, op = "avg", hadamard = None, bf16 = None, repair = None))]
    fn bucket(
        &self,
        py: Python<'_>,
        elements: Elements,
        op: &str,
        hadamard: Option<&str>,
        bf16: Option<bool>,
        repair: Option<&str>,
    ) -> PyResult<TwoLevelBucket> {
        let (Elements(elements), options) = (elements, settings::bucket_options(op, hadamard, bf16, repair)?);
        let (operation, options) =
            (format!("declaring a bucket of {elements} elements on two levels"), options.groups(self.groups));
        let bucket = self.context.call(py, &operation, &self.inner, |inner| inner.bucket(elements, options))?;
        Ok(TwoLevelBucket::new(&self.context, bucket))
    }

    /// Has no effect: the communicator closes the connections.
    fn close(&self) {}

    fn __repr__(&self) -> String {
        format!("<two levels of rank {} of {}>", self.context.rank, self.context.world_size)
    }
}

struct Reduction {
    request: optireduce::TwoLevelRequest,
    elements: usize,
    output: Output,
    spares: Spares,
}

/// Memory for results, freed if the communicator is gone.
type Spares = Arc<Mutex<Owned<Vec<Vec<f32>>>>>;

impl Work for Reduction {
    fn wait_timeout(&mut self, timeout: Duration) -> bool {
        self.request.wait_timeout(timeout)
    }

    fn poll_finished(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.request.poll_finished(context)
    }

    fn finish(self: Box<Self>, py: Python<'_>) -> Done {
        let Self { request, elements, output, spares } = *self;
        let mut mean = lock(&spares).get("").ok().and_then(Vec::pop).unwrap_or_default();
        mean.resize(elements, 0.0);
        let done = py.detach(|| request.wait_into(&mut mean));
        // Zeros after a halt.
        if done.as_ref().err().is_none_or(|error| error.kind() == ErrorKind::Halted) {
            output.write(py, &mean)?;
        }
        let _ = lock(&spares).get("").map(|spares| spares.push(mean));
        match done {
            Ok(report) => report::to_python(py, &report).map(Ok),
            Err(error) => Ok(Err(error)),
        }
    }
}

/// All-reduces on two levels over the same elements; from `TwoLevel.bucket`. If more than 10 % of
/// the result is missing, `Report.is_applied` is false, and the array is zeros.
#[pyclass(frozen, module = "optireduce")]
pub struct TwoLevelBucket {
    id: u16,
    elements: usize,
    spares: Spares,
    inner: Mutex<Owned<optireduce::Bucket>>,
    /// Last, since fields are dropped in order.
    context: Home,
}

impl TwoLevelBucket {
    fn new(context: &Home, bucket: optireduce::Bucket) -> Self {
        let (id, elements) = (bucket_id(&bucket), bucket.elements());
        let spares = Arc::new(Mutex::new(Owned::new(Vec::new(), context)));
        let inner = Mutex::new(Owned::new(bucket, context));
        Self { id, elements, spares, inner, context: context.clone() }
    }

    fn operation(&self, call: &str) -> String {
        format!("{call} on two levels of bucket {} of {} elements", self.id, self.elements)
    }
}

#[pymethods]
impl TwoLevelBucket {
    /// Id of the bucket, the same on all ranks.
    #[getter]
    fn id(&self) -> u16 {
        self.id
    }

    /// Number of elements.
    #[getter]
    fn elements(&self) -> usize {
        self.elements
    }

    /// Reduces a float32 array over all ranks, in place, and returns a `Report`. Collective.
    #[pyo3(signature = (array, *, async_op = false))]
    fn all_reduce(&self, array: &Bound<'_, PyAny>, async_op: bool) -> PyResult<Py<PyAny>> {
        let (py, operation) = (array.py(), self.operation("all_reduce"));
        self.context.check(&operation)?;
        let memory = arrays::floats(array, true)?;
        let values = memory.to_vec(py)?;
        let request = py.detach(|| lock(&self.inner).get(&operation).map(|bucket| bucket.start_all_reduce(values)))?;
        let (elements, output) = (memory.item_count(), Output::new(array, memory));
        let work = Reduction { request, elements, output, spares: self.spares.clone() };
        Request::new(&self.context, operation, work).or_result(py, async_op)
    }

    /// Waits for outstanding repairs, at most `timeout` seconds (None: the communicator's), and
    /// returns a `Settled` for the whole bucket. Collective.
    #[pyo3(signature = (timeout = None))]
    fn settle(&self, py: Python<'_>, timeout: Option<Timeout>) -> PyResult<Py<PyAny>> {
        let operation = self.operation("settle");
        let timeout = timeout.map(|Timeout(timeout)| timeout);
        let settled = self.context.call(py, &operation, &self.inner, |bucket| bucket.settle(timeout))?;
        report::settled_to_python(py, &settled)
    }

    fn __repr__(&self) -> String {
        format!("<bucket {} of {} elements on two levels>", self.id, self.elements)
    }
}
