//! Declared buckets.

use std::sync::{Arc, Mutex, MutexGuard};

use optireduce::binding::{Values, bucket_id, lend, start_all_gather, start_reduce_scatter};
use optireduce::{Buffer, Error, Memory, Report};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::arrays::{self, Output};
use crate::context::{Home, Owned, lock};
use crate::report;
use crate::request::{Done, Request, ok};
use crate::settings::{self, Timeout};

/// Memory of a finished call, for the next one.
enum Spare {
    /// For a gradient and its result: other ranks of this host read it in place, and a card reads
    /// and writes it.
    Shared((Buffer, Buffer)),
    Own(Vec<f32>),
}

type Spares<T> = Arc<Mutex<Owned<Vec<T>>>>;

/// Bounded collectives over the same elements; from `Communicator.bucket`.
///
/// All ranks make the same calls on the same buckets in the same order. The stage bound t_B limits
/// each stage of a window (at most 1 MiB), not the whole call. Repairs add missing values to a
/// later result of the bucket. A reduction that lost more than 10 % is skipped: its result is
/// zeros, and `Report.is_applied` is false. The last of several skips in a row raises `HaltError`.
#[pyclass(frozen, module = "optireduce")]
pub struct Bucket {
    id: u16,
    elements: usize,
    /// True if a card or other ranks of this host read lent memory.
    lends: bool,
    spares: Spares<Spare>,
    spares_of_halves: Spares<Buffer>,
    inner: Mutex<Owned<optireduce::Bucket>>,
    /// Last, since fields are dropped in order.
    context: Home,
}

impl Bucket {
    pub fn new(context: &Home, bucket: optireduce::Bucket, lends: bool) -> Self {
        let (id, elements) = (bucket_id(&bucket), bucket.elements());
        let inner = Mutex::new(Owned::new(bucket, context));
        let spares = Arc::new(Mutex::new(Owned::new(Vec::new(), context)));
        let spares_of_halves = Arc::new(Mutex::new(Owned::new(Vec::new(), context)));
        Self { id, elements, lends, spares, spares_of_halves, inner, context: context.clone() }
    }

    fn inner(&self) -> MutexGuard<'_, Owned<optireduce::Bucket>> {
        lock(&self.inner)
    }

    /// Without the GIL, which a thread that holds the lock may need.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        operation: &str,
        act: impl FnOnce(&mut optireduce::Bucket) -> T + Send,
    ) -> PyResult<T> {
        py.detach(|| self.inner().get(operation).map(act))
    }

    /// Returns memory of finished calls, or new memory. An array of another length is an error of
    /// all ranks, which the library reports.
    fn spare(&self, operation: &str, elements: usize) -> PyResult<Spare> {
        let spare = lock(&self.spares).get(operation)?.pop().filter(|_| elements == self.elements);
        let buffer = || Buffer::new(elements).ok();
        let shared = || (self.lends && elements == self.elements).then(|| Some(Spare::Shared((buffer()?, buffer()?))));
        Ok(spare.or_else(|| shared()?).unwrap_or(Spare::Own(Vec::new())))
    }

    /// Reduces values in memory that moves into the call. `result` is the part with the result.
    fn reduce<M: Memory>(
        &self,
        (py, async_op): (Python<'_>, bool),
        (operation, output): (String, Output),
        memory: M,
        result: fn(&M) -> &[f32],
        spare: fn(M) -> Spare,
    ) -> PyResult<Py<PyAny>> {
        let spares = self.spares.clone();
        let finish = move |py: Python<'_>, done: Result<(M, Report), Error>| {
            let (memory, report) = match done {
                Ok(done) => done,
                Err(error) => {
                    // A halt is a skip, too.
                    if let Some(report) = error.report() {
                        output.write(py, &vec![0.0; report.elements])?;
                    }
                    return Ok(Err(error));
                }
            };
            let written = output.write(py, result(&memory));
            // Fails, and frees the memory, if the communicator is gone.
            let _ = lock(&spares).get("").map(|spares| spares.push(spare(memory)));
            written?;
            report::to_python(py, &report).map(Ok)
        };
        self.begin(py, operation, |bucket| bucket.start_all_reduce(memory), finish)?.or_result(py, async_op)
    }

    /// A reduce-scatter or all-gather, which returns a new array.
    fn half(
        &self,
        call: &str,
        array: &Bound<'_, PyAny>,
        async_op: bool,
        start: fn(&mut optireduce::Bucket, Values) -> optireduce::Request<(Values, Report)>,
    ) -> PyResult<Py<PyAny>> {
        let (py, operation) = (array.py(), self.operation(call));
        self.context.check(&operation)?;
        let array = arrays::floats(array, false)?;
        let elements = array.item_count();
        let spare = lock(&self.spares_of_halves).get(&operation)?.pop();
        // Reduce-scatters and all-gathers pass different lengths.
        let spare = spare.filter(|spare| spare.len() == elements).or_else(|| Buffer::new(elements).ok());
        let (values, given) = match spare {
            Some(mut given) => {
                array.copy_to_slice(py, &mut given)?;
                let (values, back) = lend(given);
                (values, Some(back))
            }
            None => (array.to_vec(py)?.into(), None),
        };
        let spares = self.spares_of_halves.clone();
        let finish = move |py: Python<'_>, (values, report): (Values, Report)| {
            if let (Some(given), Ok(spares)) = (given.and_then(|given| given.take()), lock(&spares).get("")) {
                spares.push(given);
            }
            let result = (report::array(py, &values)?, report::to_python(py, &report)?);
            Ok(PyTuple::new(py, [result.0, result.1])?.into_any().unbind())
        };
        self.begin(py, operation, |bucket| start(bucket, values), ok(finish))?.or_result(py, async_op)
    }

    fn begin<T: Send + 'static>(
        &self,
        py: Python<'_>,
        operation: String,
        begin: impl FnOnce(&mut optireduce::Bucket) -> optireduce::Request<T> + Send,
        finish: impl FnOnce(Python<'_>, Result<T, Error>) -> Done + Send + 'static,
    ) -> PyResult<Request> {
        Request::begin(py, (&self.context, &self.inner), operation, begin, finish)
    }

    fn operation(&self, call: &str) -> String {
        format!("{call} of bucket {} of {} elements", self.id, self.elements)
    }
}

#[pymethods]
impl Bucket {
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

    /// Start and end of this rank's shard, for reduce-scatter and all-gather.
    #[getter]
    fn shard_range(&self, py: Python<'_>) -> PyResult<(usize, usize)> {
        let range = self.with(py, "shard_range", |bucket| bucket.shard_range())?;
        Ok((range.start, range.end))
    }

    /// Options in force, as text by name.
    #[getter]
    fn options<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        settings::options_in_force(py, &self.with(py, "options", |bucket| bucket.options().clone())?)
    }

    /// Reduces a float32 array over all ranks, in place, and returns a `Report`. Collective.
    #[pyo3(signature = (array, *, async_op = false))]
    fn all_reduce(&self, array: &Bound<'_, PyAny>, async_op: bool) -> PyResult<Py<PyAny>> {
        let (py, operation) = (array.py(), self.operation("all_reduce"));
        self.context.check(&operation)?;
        let memory = arrays::floats(array, true)?;
        let spare = self.spare(&operation, memory.item_count())?;
        let how = (py, async_op);
        match spare {
            Spare::Shared(mut pair) => {
                memory.copy_to_slice(py, &mut pair.0)?;
                let call = (operation, Output::new(array, memory));
                self.reduce(how, call, pair, |pair: &(Buffer, Buffer)| &pair.1, Spare::Shared)
            }
            Spare::Own(mut own) => {
                own.resize(memory.item_count(), 0.0);
                memory.copy_to_slice(py, &mut own)?;
                self.reduce(how, (operation, Output::new(array, memory)), own, |own: &Vec<f32>| own, Spare::Own)
            }
        }
    }

    /// Reduces an array over all ranks; returns this rank's shard and a `Report`. Collective.
    #[pyo3(signature = (array, *, async_op = false))]
    fn reduce_scatter(&self, array: &Bound<'_, PyAny>, async_op: bool) -> PyResult<Py<PyAny>> {
        self.half("reduce_scatter", array, async_op, start_reduce_scatter)
    }

    /// Gathers the shards of all ranks; returns all elements, lost ones as zeros, and a `Report`.
    /// Collective.
    #[pyo3(signature = (shard, *, async_op = false))]
    fn all_gather(&self, shard: &Bound<'_, PyAny>, async_op: bool) -> PyResult<Py<PyAny>> {
        self.half("all_gather", shard, async_op, start_all_gather)
    }

    /// Waits for outstanding repairs, at most `timeout` seconds (None: the communicator's), and
    /// returns a `Settled`.
    ///
    /// Call it on every rank after the last collective of the bucket, and apply its correction.
    #[pyo3(signature = (timeout = None, *, async_op = false))]
    fn settle(&self, py: Python<'_>, timeout: Option<Timeout>, async_op: bool) -> PyResult<Py<PyAny>> {
        let timeout = timeout.map(|Timeout(timeout)| timeout);
        let finish = ok(|py: Python<'_>, settled| report::settled_to_python(py, &settled));
        let begin = |bucket: &mut optireduce::Bucket| bucket.settle(timeout);
        self.begin(py, self.operation("settle"), begin, finish)?.or_result(py, async_op)
    }

    fn __repr__(&self) -> String {
        format!("<bucket {} of {} elements>", self.id, self.elements)
    }
}
