//! One rank of a job.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use optireduce::binding::start_close;
use optireduce::{Communicator as Inner, SETTINGS};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::arrays;
use crate::bucket::Bucket;
use crate::context::{Context, Home, Owned};
use crate::error::{call_error, connect_error};
use crate::exact::{self, Exact};
use crate::exceptions::{OptiReduceError, TimeoutError};
use crate::partial::{self, PartialReduce};
use crate::request::{Request, ok};
use crate::settings::{self, Color, Elements, GroupSize, MixWithin, Source, Tag, Timeout, To};

/// One rank of a job: `Communicator()` in a launcher's job, `Communicator(world_size=1)` alone, or
/// `Communicator(rank=1, world_size=2, root="host:port")`, where rank 0 listens at `root`.
///
/// Calls marked *collective* must be made by all ranks, in the same order and with the same
/// arguments. A difference is a `MismatchError` on every rank. As a context manager, a communicator
/// closes at the end, and aborts after an exception.
///
/// Settings are keywords. `optireduce.SETTINGS` describes them, and `Communicator.settings` has the
/// values in force. A setting that is not given has the value of its environment variable, such as
/// `OPTIREDUCE_BOUND_MS`, or else its default:
///
/// - `rank`, `world_size`, `root`, `job_id`, `rejoin`: the place of this process in its job, by
///   default the launcher's.
/// - `interface` ("auto"), `mtu` ("auto"), `shared_memory` ("auto" or "off"): the network.
/// - `secret` or `secret_file` (none): encrypts and authenticates everything.
/// - `card` (none), `card_fallback` ("off" or "udp"): a SmartNIC. The wheel needs the feature
///   `smartnic`.
/// - `groups` (none): a number of groups, "auto" or "hosts". The job is then on two levels, and has
///   all-reduces, barriers, broadcasts and all-gathers of bytes only.
/// - `timeout_s` (60): time that ranks wait for one another to connect and in exact calls.
/// - `bound_ms` ("measured"): bound t_B of each stage of a window. A whole call takes longer: it
///   has two stages and maybe many windows, and may wait for repairs.
/// - `bound_max_ms` (1000): longest bound, if it is measured.
/// - `early` ("adaptive" or "off"): when a stage closes before its deadline.
/// - `hadamard` ("auto", "on" or "off"): encoding that spreads loss over blocks.
/// - `bf16` (False): send half the bytes, with relative errors of at most 2^-8.
/// - `repair` ("this_update"): wait for lost means, at most 4 t_B. With "next_update" they are
///   added to a later result of the bucket, and with "off" they stay lost.
/// - `drop_silent_after` (3): collectives without a packet of a rank until it is dropped, or None.
/// - `agree` (False): all ranks skip an update if one would.
/// - `skip_gone` (False): exact calls leave out ranks that are gone, instead of failing.
#[pyclass(frozen, module = "optireduce")]
pub struct Communicator {
    context: Arc<Context>,
    /// True if ranks of this host, or a card, read lent memory.
    lends: bool,
    inner: Arc<Mutex<Owned<Inner>>>,
}

impl Communicator {
    fn home(&self) -> Home {
        Home::new(&self.context, self.inner.clone())
    }

    fn inner(&self) -> MutexGuard<'_, Owned<Inner>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn start<T: Send + 'static>(
        &self,
        py: Python<'_>,
        async_op: bool,
        operation: String,
        start: impl FnOnce(&mut Inner) -> optireduce::Request<T> + Send,
        into: fn(Python<'_>, T) -> PyResult<Py<PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        Request::begin(py, (&self.home(), &self.inner), operation, start, ok(into))?.or_result(py, async_op)
    }

    /// Without the GIL, which a thread that holds the lock may need.
    fn with<T: Send>(&self, py: Python<'_>, name: &str, ask: impl FnOnce(&mut Inner) -> T + Send) -> PyResult<T> {
        py.detach(|| self.inner().get(name).map(ask))
    }

    fn call<T: Send>(
        &self,
        py: Python<'_>,
        operation: &str,
        begin: impl FnOnce(&mut Inner) -> optireduce::Request<T> + Send,
    ) -> PyResult<T> {
        self.context.call(py, operation, &self.inner, begin)
    }
}

#[pymethods]
impl Communicator {
    #[new]
    #[pyo3(signature = (*positional, **settings), text_signature = "(**settings)")]
    fn new(py: Python<'_>, positional: &Bound<'_, PyTuple>, settings: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        if !positional.is_empty() {
            let found = positional.len();
            return Err(PyTypeError::new_err(format!(
                "Communicator takes keywords only, found {found} without a name; name them, as in \
                 Communicator(rank=0, world_size=2, root='host:port'), or leave them to the launcher"
            )));
        }
        let settings = settings::settings(settings)?;
        let launch = settings.launch().map_err(|error| connect_error("connect", &error))?;
        let (rank, world_size) = (launch.rank, launch.world_size);
        let operation = format!("rank {rank} of {world_size}: connect");
        let waiting = Context::new(rank, world_size);
        let connected = py.detach(|| waiting.finish_within(&operation, None, Inner::connect(settings)))?;
        match connected {
            Some(Ok(inner)) => Ok(Self::of(inner)),
            Some(Err(error)) => Err(connect_error(&operation, &error)),
            None => Err(waiting.closed(&operation)),
        }
    }

    /// Number of this rank, from 0.
    #[getter]
    fn rank(&self) -> usize {
        self.context.rank
    }

    /// Number of ranks in the job, dropped ranks included.
    #[getter]
    fn world_size(&self) -> usize {
        self.context.world_size
    }

    /// Settings in force, as text by name: of the keywords, the environment, the launcher and the
    /// defaults. Not the secret.
    #[getter]
    fn settings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let text = |inner: &mut Inner| SETTINGS.iter().map(|row| (row.name, inner.settings().get(row.name))).collect();
        let settings: Vec<(_, Result<String, _>)> = self.with(py, "settings", text)?;
        let named = PyDict::new(py);
        for (name, text) in settings {
            named.set_item(name, text.map_err(|error| call_error(self.context.rank, "settings", &error))?)?;
        }
        Ok(named)
    }

    /// Present bound t_B of each stage of a window, in ms. A whole call takes longer.
    #[getter]
    fn bound_ms(&self, py: Python<'_>) -> PyResult<f64> {
        Ok(self.with(py, "bound_ms", |inner| inner.bound())?.as_secs_f64() * 1e3)
    }

    /// Error with which this rank stopped, or None while it works. Does not wait.
    #[getter]
    fn failure(&self, py: Python<'_>) -> PyResult<Option<PyErr>> {
        let failure = self.with(py, "failure", |inner| inner.failure())?;
        Ok(failure.map(|error| call_error(self.context.rank, "failure", &error)))
    }

    /// True if this process joined a running job and has yet to declare its buckets and `rejoin`.
    #[getter]
    fn is_outside(&self, py: Python<'_>) -> PyResult<bool> {
        self.with(py, "is_outside", |inner| inner.is_outside())
    }

    /// Exact calls: over TCP, complete, with the same bits on all ranks.
    #[getter]
    fn exact(&self) -> Exact {
        Exact::new(self.home(), self.inner.clone())
    }

    /// Returns start and end of this rank's shard of `elements` values, as `torch.chunk` cuts them.
    fn shard_range(&self, py: Python<'_>, elements: Elements) -> PyResult<(usize, usize)> {
        let Elements(elements) = elements;
        let range = self.with(py, "shard_range", |inner| inner.shard_range(elements))?;
        Ok((range.start, range.end))
    }

    /// Declares a bucket of float32 elements. Options default to the settings. Collective.
    ///
    /// `groups` (a number of groups, "auto" or "hosts"): all-reduces on two levels, without
    /// `reduce_scatter` and `all_gather`. The first bucket with the same groups connects them.
    #[allow(clippy::too_many_arguments, reason = "keywords of Python")]
    #[pyo3(signature = (elements, *, op = "avg", hadamard = None, bf16 = None, repair = None, groups = None))]
    fn bucket(
        &self,
        py: Python<'_>,
        elements: Elements,
        op: &str,
        hadamard: Option<&str>,
        bf16: Option<bool>,
        repair: Option<&str>,
        groups: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Bucket> {
        let options = settings::bucket_options(op, hadamard, bf16, repair)?;
        let (Elements(elements), options) = (elements, options.groups(groups.map(settings::groups).transpose()?));
        let operation = format!("declaring a bucket of {elements} elements");
        let bucket = self.call(py, &operation, |inner| inner.bucket(elements, options))?;
        Ok(Bucket::new(&self.home(), bucket, self.lends))
    }

    /// Waits until all ranks have called it. Collective.
    #[pyo3(signature = (*, async_op = false))]
    fn barrier(&self, py: Python<'_>, async_op: bool) -> PyResult<Py<PyAny>> {
        self.start(py, async_op, "barrier".into(), |inner| inner.barrier(), exact::nothing)
    }

    /// Sends bytes to rank `to`, which receives them with the same `tag`. Exact. Not collective.
    /// Messages with the same tag arrive in order.
    #[pyo3(signature = (data, to, tag = Tag(0), *, async_op = false), text_signature = "($self, data, to, tag=0, *, async_op=False)")]
    fn send(&self, data: &Bound<'_, PyAny>, to: To, tag: Tag, async_op: bool) -> PyResult<Py<PyAny>> {
        let (bytes, To(to), Tag(tag)) = (arrays::bytes(data)?, to, tag);
        let operation = format!("send of {} bytes to rank {to}", bytes.len());
        self.start(data.py(), async_op, operation, |inner| inner.send(to, tag, bytes), exact::nothing)
    }

    /// Receives the next message with this `tag` from rank `source`, or from any rank if None.
    /// Returns the rank and the bytes. Not collective.
    #[pyo3(signature = (source = None, tag = Tag(0), *, async_op = false), text_signature = "($self, source=None, tag=0, *, async_op=False)")]
    fn recv(&self, py: Python<'_>, source: Option<Source>, tag: Tag, async_op: bool) -> PyResult<Py<PyAny>> {
        let (source, Tag(tag)) = (source.map(|Source(source)| source), tag);
        let of = source.map_or("any rank".into(), |source| format!("rank {source}"));
        self.start(py, async_op, format!("receive from {of}"), |inner| inner.recv(source, tag), exact::message)
    }

    /// Connects the ranks with the same color in a new communicator, in the order of their ranks.
    /// Ranks with `color=None` must call it too, and get None. Collective.
    fn split(&self, py: Python<'_>, color: Option<Color>) -> PyResult<Option<Self>> {
        let color = color.map(|Color(color)| color);
        let operation = color.map_or("split without a color".into(), |color| format!("split with color {color}"));
        Ok(self.call(py, &operation, |inner| inner.split(color))?.map(Self::of))
    }

    /// Declares averages of models among the `group_size` ranks that are ready first. Collective.
    ///
    /// - `weights`: "dynamic" halves the weight of a model for each iteration behind, or
    ///   "constant".
    /// - `decay`: dynamic weight relative to a model one iteration newer.
    /// - `mix_within`: s, so that any s * `world_size` successive groups connect all ranks, or
    ///   None.
    /// - `repair`: repair lost packets before a mean is used.
    /// - `repair_timeout_s`: wait for each answer to a repair request.
    /// - `patience_s`: time that a ready rank waits for another one.
    /// - `bound_ms`: bound t_B of each of the two stages of a window, by default the
    ///   communicator's.
    // `text_signature`, since PyO3 prints `Some(2)` as `...`.
    #[pyo3(
        signature = (elements, *, group_size = GroupSize(2), weights = "dynamic", decay = 0.5, mix_within = Some(MixWithin(2)), repair = true, repair_timeout_s = 1.0, patience_s = 10.0, bound_ms = None),
        text_signature = "($self, elements, *, group_size=2, weights='dynamic', decay=0.5, mix_within=2, repair=True, repair_timeout_s=1.0, patience_s=10.0, bound_ms=None)"
    )]
    #[allow(clippy::too_many_arguments, reason = "keywords of Python")]
    fn partial_reduce(
        &self,
        py: Python<'_>,
        elements: Elements,
        group_size: GroupSize,
        weights: &str,
        decay: f64,
        mix_within: Option<MixWithin>,
        repair: bool,
        repair_timeout_s: f64,
        patience_s: f64,
        bound_ms: Option<f64>,
    ) -> PyResult<PartialReduce> {
        let (Elements(elements), GroupSize(group_size)) = (elements, group_size);
        let mix_within = mix_within.map(|MixWithin(rounds)| rounds);
        let options =
            partial::options(group_size, weights, decay, mix_within, repair, repair_timeout_s, patience_s, bound_ms)?;
        let operation = format!("partial_reduce of {elements} elements");
        let partial = self.call(py, &operation, |inner| inner.partial_reduce(elements, options))?;
        Ok(PartialReduce::new(&self.home(), partial))
    }

    /// Returns counters since the connection: datagrams, drops, loss and times by peer and stage.
    fn metrics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let metrics = self.call(py, "metrics", |inner| inner.metrics())?;
        let text = serde_json::to_string(&metrics).map_err(|error| OptiReduceError::new_err(error.to_string()))?;
        py.import("json")?.call_method1("loads", (text,))
    }

    /// Takes part again after `DroppedError`; returns the number of the first collective that
    /// includes this rank. Then fetch the model from another rank.
    fn rejoin(&self, py: Python<'_>) -> PyResult<u32> {
        self.call(py, "rejoin", |inner| inner.rejoin())
    }

    /// Ends the job: waits for all ranks, at most `timeout` seconds, and checks that they made the
    /// same calls. Then raises `UnsettledError` if a bucket with repairs was not settled. A second
    /// call has no effect. Collective.
    #[pyo3(signature = (timeout = None))]
    fn close(&self, py: Python<'_>, timeout: Option<Timeout>) -> PyResult<()> {
        let limit = timeout.map(|Timeout(timeout)| timeout);
        if !self.context.is_here() {
            return self.context.check("close");
        }
        let closed = py.detach(|| {
            let Some(mut inner) = self.inner().take() else { return Ok(Some(Ok(()))) };
            self.context.finish_within("close", limit, start_close(&mut inner))
        })?;
        let rank = self.context.rank;
        match closed {
            Some(Ok(())) => Ok(()),
            Some(Err(error)) => Err(call_error(rank, "close", &error)),
            None => Err(TimeoutError::new_err(format!("rank {rank}: close: not all ranks closed within {limit:?}"))),
        }
    }

    /// Closes the connections without waiting; calls in progress raise `ClosedError`. To the other
    /// ranks this rank is gone.
    fn abort(&self, py: Python<'_>) {
        self.context.abort();
        if self.context.is_here() {
            py.detach(|| drop(self.inner().take()));
        }
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    /// Closes, or aborts after an exception, so that no rank waits for this one.
    fn __exit__(
        &self,
        py: Python<'_>,
        kind: &Bound<'_, PyAny>,
        _error: &Bound<'_, PyAny>,
        _traceback: &Bound<'_, PyAny>,
    ) -> PyResult<bool> {
        if kind.is_none() {
            self.close(py, None)?;
        } else {
            self.abort(py);
        }
        Ok(false)
    }

    fn __repr__(&self) -> String {
        format!("<communicator of rank {} of {}>", self.context.rank, self.context.world_size)
    }
}

impl Communicator {
    fn of(inner: Inner) -> Self {
        let context = Context::new(inner.rank(), inner.world_size());
        let metrics = inner.metrics().wait().unwrap_or_default();
        let lends = !metrics.shared.is_empty() || metrics.cards.contains(&inner.rank());
        let inner = Arc::new(Mutex::new(Owned::new(inner, &context)));
        Self { context, lends, inner }
    }
}
