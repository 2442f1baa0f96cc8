//! Arrays of Python programs, with the buffer protocol or DLPack.
//!
//! Why through numpy: it knows the byte order, alignment and access of every array, and PyO3 takes
//! big-endian elements for native ones.

use optireduce::{ElementType, Typed};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMemoryView, PySlice};

use crate::exceptions::ArgumentError;

/// Element types of exact calls, by numpy's name. Booleans are bytes.
const ELEMENTS: [(&str, ElementType); 13] = [
    ("float16", ElementType::F16),
    ("bfloat16", ElementType::Bf16),
    ("float32", ElementType::F32),
    ("float64", ElementType::F64),
    ("int8", ElementType::I8),
    ("uint8", ElementType::U8),
    ("int16", ElementType::I16),
    ("uint16", ElementType::U16),
    ("int32", ElementType::I32),
    ("uint32", ElementType::U32),
    ("int64", ElementType::I64),
    ("uint64", ElementType::U64),
    (BOOL, ElementType::U8),
];
pub const BOOL: &str = "bool";

/// Returns the memory of a float32 array. A writable array has no two elements in one place.
pub fn floats(array: &Bound<'_, PyAny>, writable: bool) -> PyResult<PyBuffer<f32>> {
    let Checked { view, .. } = check(array, &["float32"], writable)?;
    PyBuffer::get(&view.call_method1("view", ("float32",))?)
}

/// Returns the bytes of an array of bytes.
pub fn bytes(array: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    if let Ok(bytes) = array.cast::<PyBytes>() {
        return Ok(bytes.as_bytes().to_vec());
    }
    let Checked { view, .. } = check(array, &["uint8"], false)?;
    PyBuffer::<u8>::get(&view.call_method1("view", ("uint8",))?)?.to_vec(array.py())
}

/// The array of the program that receives the result of a call.
///
/// It stays exported until the result is written, so that most programs cannot resize it. Some can,
/// as `numpy.ndarray.resize(refcheck=False)` and `torch.Tensor.resize_`. So the result is written
/// to the memory that the array has then.
pub struct Output {
    array: Py<PyAny>,
    _exported: PyBuffer<f32>,
}

impl Output {
    pub fn new(array: &Bound<'_, PyAny>, exported: PyBuffer<f32>) -> Self {
        Self { array: array.clone().unbind(), _exported: exported }
    }

    pub fn write(&self, py: Python<'_>, values: &[f32]) -> PyResult<()> {
        let memory = floats(self.array.bind(py), true)?;
        require_length(memory.item_count(), values.len())?;
        memory.copy_from_slice(py, values)
    }
}

/// An array of any type that exact calls support.
pub struct ExactArray {
    array: Py<PyAny>,
    /// Keeps the memory exported, as in [`Output`].
    _exported: Py<PyAny>,
    /// Name of the type in numpy.
    pub name: &'static str,
    pub element: ElementType,
    pub elements: usize,
}

impl ExactArray {
    pub fn new(array: &Bound<'_, PyAny>, writable: bool) -> PyResult<Self> {
        let Checked { view, name } = check(array, &ELEMENTS.map(|(name, _)| name), writable)?;
        let (name, element) = ELEMENTS.into_iter().find(|(known, _)| *known == name).unwrap_or(ELEMENTS[0]);
        let elements = view.getattr("size")?.extract()?;
        Ok(Self { array: array.clone().unbind(), _exported: view.unbind(), name, element, elements })
    }

    pub fn values(&self, py: Python<'_>) -> PyResult<Typed> {
        let whole = py.import("numpy")?.call_method1("ascontiguousarray", (&self._exported,))?;
        let bytes = PyBuffer::<u8>::get(&whole.call_method1("reshape", (-1,))?.call_method1("view", ("uint8",))?)?;
        Ok(Typed { element: self.element, bytes: bytes.to_vec(py)? })
    }

    /// Writes values from element `start`.
    pub fn write(&self, py: Python<'_>, start: usize, bytes: &[u8]) -> PyResult<()> {
        let Checked { view, .. } = check(self.array.bind(py), &[self.name], true)?;
        require_length(view.getattr("size")?.extract()?, self.elements)?;
        let bits = bits(self.element);
        let (view, end) = (view.call_method1("view", (bits,))?, start + bytes.len() / self.element.bytes());
        let range = PySlice::new(py, start.cast_signed(), end.cast_signed(), 1);
        if view.getattr("flags")?.getattr("c_contiguous")?.is_truthy()? {
            let part = view.call_method1("reshape", (-1,))?.get_item(range)?.call_method1("view", ("uint8",))?;
            return PyBuffer::<u8>::get(&part)?.copy_from_slice(py, bytes);
        }
        let values = py.import("numpy")?.call_method1("frombuffer", (PyBytes::new(py, bytes), bits))?;
        view.getattr("flat")?.set_item(range, values)
    }
}

/// Unsigned integers of the same size in numpy, which has no bf16.
fn bits(element: ElementType) -> &'static str {
    ["uint8", "uint16", "uint32", "uint64"][element.bytes().ilog2() as usize]
}

fn require_length(found: usize, expected: usize) -> PyResult<()> {
    let text = || {
        format!(
            "the array has {found} elements, expected {expected} as before the call; keep its size until the call has finished"
        )
    };
    if found == expected { Ok(()) } else { Err(ArgumentError::new_err(text())) }
}

/// Array of numpy over the memory of another one.
struct Checked<'py> {
    view: Bound<'py, PyAny>,
    /// Type of its elements in numpy, or bfloat16.
    name: String,
}

/// Returns an array with elements of one of these types, in this machine's byte order and
/// alignment. Elements of bf16 are seen as uint16.
fn check<'py>(array: &Bound<'py, PyAny>, expected: &[&str], writable: bool) -> PyResult<Checked<'py>> {
    let wanted = if let [expected] = expected { (*expected).into() } else { format!("one of {}", expected.join(", ")) };
    let Checked { view, name } = view(array, &wanted)?;
    let dtype = view.getattr("dtype")?;
    let refuse = |found: &str, cure: &str| {
        Err(ArgumentError::new_err(format!("the array has elements of type {found}, expected {wanted}{cure}")))
    };
    if !dtype.getattr("isnative")?.extract::<bool>()? {
        let code: String = dtype.getattr("str")?.extract()?;
        let order = if code.starts_with('>') { "big-endian" } else { "little-endian" };
        let kind = dtype.getattr("name")?.to_string();
        let cure = format!(" in this machine's byte order; convert it, as array.astype({kind:?}) does");
        return refuse(&format!("{order} {kind} ({code:?})").replace('"', "'"), &cure);
    }
    if !expected.contains(&name.as_str()) {
        return refuse(&name, "");
    }
    let flags = view.getattr("flags")?;
    if !flags.getattr("aligned")?.extract::<bool>()? {
        let found = format!("{name} at addresses that are not multiples of {}", dtype.getattr("alignment")?);
        return refuse(&found, " at aligned addresses; pass a copy");
    }
    // PyO3 refuses arrays of no dimension, which have one element.
    let is_scalar = view.getattr("ndim")?.extract::<usize>()? == 0;
    let view = if is_scalar { view.call_method1("reshape", (1,))? } else { view };
    if writable {
        if !flags.getattr("writeable")?.extract::<bool>()? {
            return Err(ArgumentError::new_err(format!(
                "the array of type {} is read-only, expected a writable one: the result is written to it",
                array.get_type()
            )));
        }
        let (shape, strides): (Vec<usize>, Vec<isize>) =
            (view.getattr("shape")?.extract()?, view.getattr("strides")?.extract()?);
        if overlaps(&shape, &strides, dtype.getattr("itemsize")?.extract()?) {
            return Err(ArgumentError::new_err(format!(
                "the array has elements that share memory (shape {shape:?}, strides {strides:?} bytes), expected \
                 separate ones: the result is written to it; pass a copy"
            )));
        }
    }
    Ok(Checked { view, name })
}

/// Returns the array as one of numpy, over the same memory.
fn view<'py>(array: &Bound<'py, PyAny>, expected: &str) -> PyResult<Checked<'py>> {
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
    let mut name = None;
    let given = if array.is_instance(&numpy.getattr("ndarray")?)? {
        Ok(array.clone())
    } else if array.hasattr("__dlpack__")? {
        numpy.call_method1("from_dlpack", (array,)).or_else(|error| {
            let Some(bits) = bits_of_bf16(array)? else { return Err(error) };
            name = Some("bfloat16".to_owned());
            numpy.call_method1("from_dlpack", (bits,))
        })
    } else {
        PyMemoryView::from(array).map(Bound::into_any)
    };
    let view = given.and_then(|given| numpy.call_method1("asarray", (given,))).map_err(|error| {
        let found = match error.is_instance_of::<PyTypeError>(py) {
            true => format!("a {} without the buffer protocol or DLPack", array.get_type()),
            false => format!("a {} that cannot be read: {}", array.get_type(), error.value(py)),
        };
        ArgumentError::new_err(format!("the array has {found}, expected {expected} in host memory"))
    })?;
    let name = name.map_or_else(|| Ok::<_, PyErr>(view.getattr("dtype")?.str()?.to_string()), Ok)?;
    Ok(Checked { view, name })
}

/// Returns a bf16 tensor of torch as uint16, since numpy has no bf16.
fn bits_of_bf16<'py>(array: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let is_bf16 = array.hasattr("requires_grad")? && array.getattr("dtype")?.str()? == "torch.bfloat16";
    if !is_bf16 || array.getattr("requires_grad")?.is_truthy()? {
        return Ok(None);
    }
    array.call_method1("view", (array.py().import("torch")?.getattr("uint16")?,)).map(Some)
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
