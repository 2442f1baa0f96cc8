//! Reports as the dataclasses of `optireduce.report`.

use std::ops::Range;

use optireduce::{ClosedBy, Report, Settled, Stage, TwoLevelReport};
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict, PyTuple};

use crate::arrays;

fn stage<'py>(module: &Bound<'py, PyModule>, report: &Report, stage: Stage) -> PyResult<Bound<'py, PyAny>> {
    let py = module.py();
    let summary = report.stage(stage);
    let closed_by = match summary.closed_by {
        ClosedBy::Complete => "complete",
        ClosedBy::Early => "early",
        ClosedBy::Deadline => "deadline",
    };
    let fields = PyDict::new(py);
    fields.set_item("received_fraction", summary.received_fraction)?;
    fields.set_item("received_fraction_per_rank", PyTuple::new(py, &summary.received_fraction_per_rank)?)?;
    fields.set_item("closed_by", closed_by)?;
    fields.set_item("time_ms", report.stage_time(stage).as_secs_f64() * 1e3)?;
    module.getattr("StageReport")?.call((), Some(&fields))
}

fn ranges<'py>(py: Python<'py>, ranges: &[Range<usize>]) -> PyResult<Bound<'py, PyTuple>> {
    PyTuple::new(py, ranges.iter().map(|range| (range.start, range.end)).collect::<Vec<_>>())
}

pub fn to_python(py: Python<'_>, report: &Report) -> PyResult<Py<PyAny>> {
    let module = py.import("optireduce.report")?;
    let fields = PyDict::new(py);
    fields.set_item("op", report.op())?;
    fields.set_item("kind", report.kind().to_string())?;
    fields.set_item("bucket", report.bucket())?;
    fields.set_item("elements", report.elements())?;
    fields.set_item("packets", report.packets())?;
    fields.set_item("is_applied", report.is_applied())?;
    fields.set_item("agreed", report.is_agreed())?;
    fields.set_item("live_ranks", PyTuple::new(py, report.live_ranks())?)?;
    fields.set_item("late_ranks", PyTuple::new(py, report.late_ranks())?)?;
    fields.set_item("is_late", report.is_late())?;
    fields.set_item("expected_bytes", report.expected_bytes())?;
    fields.set_item("lost_bytes", report.lost_bytes())?;
    fields.set_item("outstanding_bytes", report.outstanding_bytes())?;
    fields.set_item("drift_bytes", report.drift_bytes())?;
    fields.set_item("missing_ranges", ranges(py, report.missing_ranges())?)?;
    fields.set_item("not_finite", report.not_finite())?;
    fields.set_item("is_hadamard", report.is_hadamard())?;
    fields.set_item("is_corrected", report.is_corrected())?;
    fields.set_item("joined_rank", report.joined_rank())?;
    fields.set_item("stage_deadline_ms", report.stage_deadline().as_secs_f64() * 1e3)?;
    fields.set_item("contribute", stage(&module, report, Stage::Contribute)?)?;
    fields.set_item("broadcast", stage(&module, report, Stage::Broadcast)?)?;
    fields.set_item("text", report.to_string())?;
    Ok(module.getattr("Report")?.call((), Some(&fields))?.unbind())
}

/// The stages are the first of the reduce-scatter and the last of the all-gather.
pub fn of_levels_to_python(py: Python<'_>, report: &TwoLevelReport) -> PyResult<Py<PyAny>> {
    let module = py.import("optireduce.report")?;
    let steps = report.steps();
    let (Some(first), Some(last)) = (steps.first(), steps.last()) else { return Ok(py.None()) };
    let sum = |of: fn(&Report) -> u64| steps.iter().map(of).sum::<u64>();
    let deadline = steps.iter().map(Report::stage_deadline).max().unwrap_or_default();
    let fields = PyDict::new(py);
    fields.set_item("op", first.op())?;
    fields.set_item("kind", "all-reduce on two levels")?;
    fields.set_item("bucket", first.bucket())?;
    fields.set_item("elements", report.elements())?;
    fields.set_item("packets", sum(Report::packets))?;
    fields.set_item("is_applied", report.is_applied())?;
    fields.set_item("agreed", false)?;
    fields.set_item("live_ranks", PyTuple::new(py, report.live_ranks())?)?;
    fields.set_item("late_ranks", PyTuple::new(py, report.late_ranks())?)?;
    fields.set_item("is_late", report.is_late())?;
    fields.set_item("expected_bytes", report.expected_bytes())?;
    fields.set_item("lost_bytes", report.lost_bytes())?;
    fields.set_item("outstanding_bytes", report.outstanding_bytes())?;
    fields.set_item("drift_bytes", report.drift_bytes())?;
    fields.set_item("missing_ranges", ranges(py, report.missing_ranges())?)?;
    fields.set_item("not_finite", report.not_finite())?;
    fields.set_item("is_hadamard", steps.iter().any(Report::is_hadamard))?;
    fields.set_item("is_corrected", report.is_corrected())?;
    fields.set_item("joined_rank", py.None())?;
    fields.set_item("stage_deadline_ms", deadline.as_secs_f64() * 1e3)?;
    fields.set_item("contribute", stage(&module, first, Stage::Contribute)?)?;
    fields.set_item("broadcast", stage(&module, last, Stage::Broadcast)?)?;
    fields.set_item("text", report.to_string())?;
    Ok(module.getattr("Report")?.call((), Some(&fields))?.unbind())
}

pub fn settled_to_python(py: Python<'_>, settled: &Settled) -> PyResult<Py<PyAny>> {
    let correction = settled.correction.as_ref().map(|values| array(py, values)).transpose()?;
    let fields = [
        ("correction", correction.into_pyobject(py)?.into_any()),
        ("is_settled", settled.is_settled.into_pyobject(py)?.to_owned().into_any()),
        ("outstanding_bytes", settled.repairs.outstanding_bytes.into_pyobject(py)?.into_any()),
        ("drift_bytes", settled.repairs.drift_bytes.into_pyobject(py)?.into_any()),
    ];
    let settled = py.import("optireduce.report")?.getattr("Settled")?;
    Ok(settled.call((), Some(&fields.into_py_dict(py)?))?.unbind())
}

pub fn array(py: Python<'_>, values: &[f32]) -> PyResult<Py<PyAny>> {
    let array = py.import("numpy")?.call_method1("empty", (values.len(), "float32"))?;
    arrays::floats(&array, true)?.copy_from_slice(py, values)?;
    Ok(array.unbind())
}
