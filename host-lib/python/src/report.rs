//! Reports as the dataclasses of `optireduce.report`.

use std::ops::Range;
use std::time::Duration;

use optireduce::{GroupReport, RepairReport, Report, Settled, StageReport};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::arrays;

type Fields<'py> = Bound<'py, PyDict>;

fn new<'py>(module: &Bound<'py, PyModule>, class: &str, fields: &Fields<'py>) -> PyResult<Bound<'py, PyAny>> {
    module.getattr(class)?.call((), Some(fields))
}

fn ranges<'py>(py: Python<'py>, ranges: &[Range<usize>]) -> PyResult<Bound<'py, PyTuple>> {
    PyTuple::new(py, ranges.iter().map(|range| (range.start, range.end)).collect::<Vec<_>>())
}

fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

fn repairs<'py>(module: &Bound<'py, PyModule>, repairs: &RepairReport) -> PyResult<Bound<'py, PyAny>> {
    let fields = PyDict::new(module.py());
    fields.set_item("missing_bytes", repairs.missing_bytes)?;
    fields.set_item("repaired_bytes", repairs.repaired_bytes)?;
    fields.set_item("outstanding_bytes", repairs.outstanding_bytes)?;
    fields.set_item("drift_bytes", repairs.drift_bytes)?;
    new(module, "RepairReport", &fields)
}

fn stage<'py>(module: &Bound<'py, PyModule>, stage: &StageReport) -> PyResult<Bound<'py, PyAny>> {
    let py = module.py();
    let peer = module.getattr("PeerReport")?;
    let peers = stage.peers.iter().map(|of| peer.call1((of.rank, of.expected_bytes, of.received_bytes)));
    let windows = stage.closed_by_window.iter().map(|window| window.to_string());
    let fields = PyDict::new(py);
    fields.set_item("stage", stage.stage.to_string())?;
    fields.set_item("closed_by", stage.closed_by.to_string())?;
    fields.set_item("closed_by_window", PyTuple::new(py, windows.collect::<Vec<_>>())?)?;
    fields.set_item("time_ms", ms(stage.time))?;
    fields.set_item("expected_bytes", stage.expected_bytes)?;
    fields.set_item("received_bytes", stage.received_bytes)?;
    fields.set_item("received_fraction", stage.received_fraction)?;
    fields.set_item("peers", PyTuple::new(py, peers.collect::<PyResult<Vec<_>>>()?)?)?;
    new(module, "StageReport", &fields)
}

fn group<'py>(module: &Bound<'py, PyModule>, group: &GroupReport) -> PyResult<Bound<'py, PyAny>> {
    let py = module.py();
    let fields = PyDict::new(py);
    fields.set_item("weights", PyTuple::new(py, &group.weights)?)?;
    fields.set_item("iteration", group.iteration)?;
    fields.set_item("is_full", group.is_full)?;
    fields.set_item("waited_ms", ms(group.waited))?;
    fields.set_item("took_ms", ms(group.took))?;
    fields.set_item("repaired_bytes", group.repaired_bytes)?;
    fields.set_item("uncounted_ranks", PyTuple::new(py, &group.uncounted_ranks)?)?;
    fields.set_item("uncounted_bytes", group.uncounted_bytes)?;
    new(module, "GroupReport", &fields)
}

fn of<'py>(module: &Bound<'py, PyModule>, report: &Report) -> PyResult<Bound<'py, PyAny>> {
    let py = module.py();
    let stages = report.stages.iter().map(|of| stage(module, of)).collect::<PyResult<Vec<_>>>()?;
    let parts = report.parts.iter().map(|part| of(module, part)).collect::<PyResult<Vec<_>>>()?;
    let fields = PyDict::new(py);
    fields.set_item("kind", report.kind.to_string())?;
    fields.set_item("number", report.number)?;
    fields.set_item("bucket", report.bucket)?;
    fields.set_item("elements", report.elements)?;
    fields.set_item("is_applied", report.is_applied)?;
    fields.set_item("is_agreed", report.is_agreed)?;
    fields.set_item("ranks", PyTuple::new(py, &report.ranks)?)?;
    fields.set_item("late_ranks", PyTuple::new(py, &report.late_ranks)?)?;
    fields.set_item("is_late", report.is_late)?;
    fields.set_item("joined_rank", report.joined_rank)?;
    fields.set_item("expected_bytes", report.expected_bytes)?;
    fields.set_item("lost_bytes", report.lost_bytes)?;
    fields.set_item("missing", ranges(py, &report.missing)?)?;
    fields.set_item("not_finite", report.not_finite)?;
    fields.set_item("is_hadamard", report.is_hadamard)?;
    fields.set_item("is_corrected", report.is_corrected)?;
    fields.set_item("copied_bytes", report.copied_bytes)?;
    fields.set_item("packets", report.packets)?;
    fields.set_item("repairs", repairs(module, &report.repairs)?)?;
    fields.set_item("outstanding_bytes", report.outstanding_bytes)?;
    fields.set_item("drift_bytes", report.drift_bytes)?;
    fields.set_item("bound_ms", ms(report.bound))?;
    fields.set_item("is_bound_measured", report.is_bound_measured)?;
    fields.set_item("bound_changed", report.bound_changed)?;
    fields.set_item("stages", PyTuple::new(py, stages)?)?;
    fields.set_item("parts", PyTuple::new(py, parts)?)?;
    fields.set_item("group", report.group.as_ref().map(|of| group(module, of)).transpose()?)?;
    fields.set_item("text", report.to_string())?;
    new(module, "Report", &fields)
}

pub fn to_python(py: Python<'_>, report: &Report) -> PyResult<Py<PyAny>> {
    Ok(of(&py.import("optireduce.report")?, report)?.unbind())
}

pub fn settled_to_python(py: Python<'_>, settled: &Settled) -> PyResult<Py<PyAny>> {
    let module = py.import("optireduce.report")?;
    let fields = PyDict::new(py);
    fields.set_item("correction", settled.correction.as_ref().map(|values| array(py, values)).transpose()?)?;
    fields.set_item("range", (settled.range.start, settled.range.end))?;
    fields.set_item("missing", ranges(py, &settled.missing)?)?;
    fields.set_item("is_settled", settled.is_settled)?;
    fields.set_item("repairs", repairs(&module, &settled.repairs)?)?;
    Ok(new(&module, "Settled", &fields)?.unbind())
}

pub fn array(py: Python<'_>, values: &[f32]) -> PyResult<Py<PyAny>> {
    let array = py.import("numpy")?.call_method1("empty", (values.len(), "float32"))?;
    arrays::floats(&array, true)?.copy_from_slice(py, values)?;
    Ok(array.unbind())
}
