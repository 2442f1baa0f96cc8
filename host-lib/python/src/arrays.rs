//! Arrays of Python programs, with the buffer protocol or DLPack.

use pyo3::buffer::{Element, PyBuffer};
use pyo3::exceptions::PyBufferError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::ArgumentError;

/// Returns the memory of a float32 array, through numpy if it supports DLPack only.
pub fn floats(array: &Bound<'_, PyAny>, writable: bool) -> PyResult<PyBuffer<f32>> {
    let buffer = buffer(array, "float32")?;
    if writable && buffer.readonly() {
        return Err(ArgumentError::new_err(format!(
            "the array of type {} is read-only, expected a writable one: the result is written to it",
            array.get_type()
        )));
    }
    Ok(buffer)
}

pub fn bytes(array: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    if let Ok(bytes) = array.cast::<PyBytes>() {
        return Ok(bytes.as_bytes().to_vec());
    }
    buffer::<u8>(array, "bytes")?.to_vec(array.py())
}

fn buffer<T: Element>(array: &Bound<'_, PyAny>, expected: &str) -> PyResult<PyBuffer<T>> {
    let py = array.py();
    let with_buffer = match array.hasattr("__dlpack__")? && !array.hasattr("__array_interface__")? {
        true => py.import("numpy")?.call_method1("from_dlpack", (array,))?,
        false => array.clone(),
    };
    PyBuffer::get(&with_buffer).map_err(|error| {
        let found = match with_buffer.getattr("dtype") {
            Ok(dtype) => format!("elements of type {dtype}"),
            Err(_) if error.is_instance_of::<PyBufferError>(py) => "elements of another type".into(),
            Err(_) => format!("a {} without the buffer protocol or DLPack", array.get_type()),
        };
        ArgumentError::new_err(format!("the array has {found}, expected {expected}"))
    })
}
