//! Arrays of Python programs, with the buffer protocol or DLPack.
//!
//! Why through numpy: it knows the byte order, alignment and access of every array, and PyO3 takes
//! big-endian elements for native ones.

use pyo3::buffer::{Element, PyBuffer};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMemoryView};

use crate::exceptions::ArgumentError;

/// Returns the memory of a float32 array. A writable array has no two elements in one place.
pub fn floats(array: &Bound<'_, PyAny>, writable: bool) -> PyResult<PyBuffer<f32>> {
    let buffer = buffer(array, "float32")?;
    if writable && buffer.readonly() {
        return Err(ArgumentError::new_err(format!(
            "the array of type {} is read-only, expected a writable one: the result is written to it",
            array.get_type()
        )));
    }
    if writable && overlaps(buffer.shape(), buffer.strides(), buffer.item_size()) {
        return Err(ArgumentError::new_err(format!(
            "the array has elements that share memory (shape {:?}, strides {:?} bytes), expected separate ones: the \
             result is written to it; pass a copy",
            buffer.shape(),
            buffer.strides()
        )));
    }
    Ok(buffer)
}

pub fn bytes(array: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    if let Ok(bytes) = array.cast::<PyBytes>() {
        return Ok(bytes.as_bytes().to_vec());
    }
    buffer::<u8>(array, "uint8")?.to_vec(array.py())
}

/// `expected`: numpy's name of `T`.
fn buffer<T: Element>(array: &Bound<'_, PyAny>, expected: &str) -> PyResult<PyBuffer<T>> {
    let view = view(array, expected)?;
    let dtype = view.getattr("dtype")?;
    let (name, code) = (dtype.str()?.to_string(), dtype.getattr("str")?.extract::<String>()?);
    let refuse = |found: &str, cure: &str| {
        Err(ArgumentError::new_err(format!("the array has elements of type {found}, expected {expected}{cure}")))
    };
    if !dtype.getattr("isnative")?.extract::<bool>()? {
        let order = if code.starts_with('>') { "big-endian" } else { "little-endian" };
        let kind = dtype.getattr("name")?;
        let cure = format!(" in this machine's byte order; convert it, as array.astype({expected:?}) does");
        return refuse(&format!("{order} {kind} ({code:?})").replace('"', "'"), &cure);
    }
    if name != expected {
        return refuse(&name, "");
    }
    if !view.getattr("flags")?.getattr("aligned")?.extract::<bool>()? {
        let found = format!("{name} at addresses that are not multiples of {}", size_of::<T>());
        return refuse(&found, " at aligned addresses; pass a copy");
    }
    // PyO3 refuses native elements whose byte order is explicit, as of ctypes, and arrays of no
    // dimension, which have one element.
    let view = view.call_method1("view", (expected,))?;
    let is_scalar = view.getattr("ndim")?.extract::<usize>()? == 0;
    PyBuffer::get(&if is_scalar { view.call_method1("reshape", (1,))? } else { view })
}

/// Returns the array as one of numpy, over the same memory.
fn view<'py>(array: &Bound<'py, PyAny>, expected: &str) -> PyResult<Bound<'py, PyAny>> {
    let (py, numpy) = (array.py(), array.py().import("numpy")?);
    let refuse = |found: &str| Err(ArgumentError::new_err(format!("the array {found}")));
    if array.is_instance(&numpy.getattr("ma")?.getattr("MaskedArray")?)? {
        return refuse("is masked, expected one without a mask, which other ranks do not know; pass array.filled(...)");
    }
    // torch exports the memory of such a tensor, whose values are the negatives of what it holds.
    if array.hasattr("is_neg")? && array.call_method0("is_neg")?.is_truthy()? {
        return refuse(
            "is a tensor whose negation is pending, expected its values in memory; pass array.resolve_neg()",
        );
    }
    let given = if array.is_instance(&numpy.getattr("ndarray")?)? {
        Ok(array.clone())
    } else if array.hasattr("__dlpack__")? {
        numpy.call_method1("from_dlpack", (array,))
    } else {
        PyMemoryView::from(array).map(Bound::into_any)
    };
    given.and_then(|given| numpy.call_method1("asarray", (given,))).map_err(|error| {
        let found = match error.is_instance_of::<PyTypeError>(py) {
            true => format!("a {} without the buffer protocol or DLPack", array.get_type()),
            false => format!("a {} that cannot be read: {}", array.get_type(), error.value(py)),
        };
        ArgumentError::new_err(format!("the array has {found}, expected {expected} in host memory"))
    })
}

/// Returns whether two elements may share memory: a dimension's step is shorter than the extent of
/// the dimensions inside it.
fn overlaps(shape: &[usize], strides: &[isize], item_bytes: usize) -> bool {
    let mut steps: Vec<_> = strides.iter().map(|stride| stride.unsigned_abs()).zip(shape.iter().copied()).collect();
    steps.retain(|(_, length)| *length > 1);
    steps.sort_unstable();
    let mut extent = item_bytes;
    !shape.contains(&0)
        && steps.iter().any(|(step, length)| {
            let is_short = *step < extent;
            extent += step * (length - 1);
            is_short
        })
}
