//! Calls over TCP.

use std::sync::{Arc, Mutex};

use optireduce::{Communicator, ExactOp, Message, Typed};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use crate::arrays::{self, BOOL, ExactArray};
use crate::context::{Home, Owned, lock};
use crate::exceptions::ArgumentError;
use crate::request::{Request, ok};
use crate::settings::Root;

/// Exact calls of a communicator, from `Communicator.exact`: over TCP, complete, and with the same
/// bits on all ranks. All are collective.
///
/// They are as slow as the slowest rank, and fail if a rank is gone or makes no progress for
/// `timeout_s`. Arrays have elements of float16, bfloat16, float32, float64, bool, or an integer
/// type of 8 to 64 bits. The result is written to the array.
#[pyclass(frozen, module = "optireduce")]
pub struct Exact {
    inner: Arc<Mutex<Owned<Communicator>>>,
    /// Last, since fields are dropped in order.
    context: Home,
}

impl Exact {
    pub fn new(context: Home, inner: Arc<Mutex<Owned<Communicator>>>) -> Self {
        Self { inner, context }
    }

    fn start<T: Send + 'static>(
        &self,
        py: Python<'_>,
        async_op: bool,
        operation: String,
        start: impl FnOnce(optireduce::Exact<'_>) -> optireduce::Request<T> + Send,
        into: impl FnOnce(Python<'_>, T) -> PyResult<Py<PyAny>> + Send + 'static,
    ) -> PyResult<Py<PyAny>> {
        let (of, start) = ((&self.context, &*self.inner), |inner: &mut Communicator| start(inner.exact()));
        Request::begin(py, of, operation, start, ok(into))?.or_result(py, async_op)
    }
}

#[pymethods]
impl Exact {
    /// Reduces an array over all ranks, in place.
    ///
    /// `op` is "sum", "avg" (of floating-point types), "product", "min", "max", or of integers and
    /// booleans "and", "or", "xor". Sums and products of integers wrap.
    #[pyo3(signature = (array, op = "sum", *, async_op = false))]
    fn all_reduce(&self, array: &Bound<'_, PyAny>, op: &str, async_op: bool) -> PyResult<Py<PyAny>> {
        let (py, array) = (array.py(), ExactArray::new(array, true)?);
        let (values, op) = (array.values(py)?, op_for(op, &array)?);
        let operation = format!("exact all_reduce of {} elements of {}, {op}", array.elements, array.name);
        let write = move |py: Python<'_>, values: Typed| array.write(py, 0, &values.bytes).map(|()| py.None());
        self.start(py, async_op, operation, |mut exact| exact.all_reduce(values, op), write)
    }

    /// Reduces an array over all ranks, and writes this rank's shard to its place in the array,
    /// `Communicator.shard_range`. The other elements stay.
    #[pyo3(signature = (array, op = "sum", *, async_op = false))]
    fn reduce_scatter(&self, array: &Bound<'_, PyAny>, op: &str, async_op: bool) -> PyResult<Py<PyAny>> {
        let (py, array) = (array.py(), ExactArray::new(array, true)?);
        let (values, op) = (array.values(py)?, op_for(op, &array)?);
        let operation = format!("exact reduce_scatter of {} elements of {}, {op}", array.elements, array.name);
        let shard = |inner: &mut Communicator| inner.shard_range(array.elements).start;
        let start = py.detach(|| lock(&self.inner).get(&operation).map(shard))?;
        let write = move |py: Python<'_>, values: Typed| array.write(py, start, &values.bytes).map(|()| py.None());
        self.start(py, async_op, operation, |mut exact| exact.reduce_scatter(values, op), write)
    }

    /// Copies the root's array to all ranks, in place. Types and lengths are the same on all ranks.
    #[pyo3(signature = (array, root, *, async_op = false))]
    fn broadcast(&self, array: &Bound<'_, PyAny>, root: Root, async_op: bool) -> PyResult<Py<PyAny>> {
        let (py, Root(root)) = (array.py(), root);
        let is_root = root == self.context.rank;
        let array = ExactArray::new(array, !is_root)?;
        let values = array.values(py)?;
        let operation = format!("exact broadcast of {} elements of {} from rank {root}", array.elements, array.name);
        let write = move |py: Python<'_>, values: Typed| {
            if is_root { Ok(py.None()) } else { array.write(py, 0, &values.bytes).map(|()| py.None()) }
        };
        self.start(py, async_op, operation, |mut exact| exact.broadcast(root, values), write)
    }

    /// Gathers the bytes of every rank, and returns them by rank. With the setting `skip_gone` a
    /// rank that is gone has empty bytes.
    #[pyo3(signature = (data, *, async_op = false))]
    fn all_gather(&self, data: &Bound<'_, PyAny>, async_op: bool) -> PyResult<Py<PyAny>> {
        let bytes = arrays::bytes(data)?;
        let operation = format!("exact all_gather of {} bytes", bytes.len());
        self.start(data.py(), async_op, operation, |mut exact| exact.all_gather(bytes), parts)
    }

    /// Gathers the bytes of every rank at the root, as `all_gather`; other ranks get an empty list.
    #[pyo3(signature = (data, root, *, async_op = false))]
    fn gather(&self, data: &Bound<'_, PyAny>, root: Root, async_op: bool) -> PyResult<Py<PyAny>> {
        let (bytes, Root(root)) = (arrays::bytes(data)?, root);
        let operation = format!("exact gather of {} bytes to rank {root}", bytes.len());
        self.start(data.py(), async_op, operation, |mut exact| exact.gather(root, bytes), parts)
    }

    /// Sends each rank its part of the root's `parts`, and returns it. The `parts` of other ranks
    /// are ignored.
    #[pyo3(signature = (parts, root, *, async_op = false))]
    fn scatter(&self, py: Python<'_>, parts: Vec<Bound<'_, PyAny>>, root: Root, async_op: bool) -> PyResult<Py<PyAny>> {
        let Root(root) = root;
        let parts = parts.iter().map(arrays::bytes).collect::<PyResult<Vec<_>>>()?;
        let bytes = |py: Python<'_>, part: Vec<u8>| Ok(PyBytes::new(py, &part).into_any().unbind());
        let operation = format!("exact scatter from rank {root}");
        self.start(py, async_op, operation, |mut exact| exact.scatter(root, parts), bytes)
    }

    /// Sends each rank its part of `parts`, and returns the parts from all ranks, as `all_gather`.
    #[pyo3(signature = (parts, *, async_op = false))]
    fn all_to_all(&self, py: Python<'_>, parts: Vec<Bound<'_, PyAny>>, async_op: bool) -> PyResult<Py<PyAny>> {
        let given = parts.iter().map(arrays::bytes).collect::<PyResult<Vec<_>>>()?;
        let operation = format!("exact all_to_all of {} parts", given.len());
        self.start(py, async_op, operation, |mut exact| exact.all_to_all(given), self::parts)
    }

    fn __repr__(&self) -> String {
        format!("<exact calls of rank {} of {}>", self.context.rank, self.context.world_size)
    }
}

pub fn message(py: Python<'_>, message: Message) -> PyResult<Py<PyAny>> {
    Ok((message.rank, PyBytes::new(py, &message.bytes)).into_pyobject(py)?.into_any().unbind())
}

pub fn nothing(py: Python<'_>, (): ()) -> PyResult<Py<PyAny>> {
    Ok(py.None())
}

/// Ranks that are left out have empty bytes.
fn parts(py: Python<'_>, parts: Vec<Option<Vec<u8>>>) -> PyResult<Py<PyAny>> {
    let parts = parts.iter().map(|part| PyBytes::new(py, part.as_deref().unwrap_or_default()));
    Ok(PyList::new(py, parts)?.into_any().unbind())
}

/// The library reports an operation that the type does not support, on all ranks.
fn op_for(name: &str, array: &ExactArray) -> PyResult<ExactOp> {
    // Sums of booleans are not 0 or 1.
    let is_for = |op: &ExactOp| array.name != BOOL || !matches!(op, ExactOp::Sum | ExactOp::Avg);
    let ops = ExactOp::ALL.into_iter().filter(is_for).map(|op| (op.to_string(), op)).collect::<Vec<_>>();
    let found = ops.iter().find(|(known, _)| known == name).map(|(_, op)| *op);
    found.ok_or_else(|| {
        let (kind, expected) = (array.name, ops.iter().map(|(known, _)| known.as_str()).collect::<Vec<_>>().join(", "));
        ArgumentError::new_err(format!("op is {name}, expected one of {expected} for elements of type {kind}"))
    })
}
