//! Settings of a communicator, as keyword arguments.

use std::time::Duration;

use optireduce::{BucketOptions, Error, Groups, HadamardMode, ReduceOp, Repair, Secret, Setting, Settings};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyString};

use crate::exceptions::ArgumentError;

/// Settings of keywords. Others are as in the environment.
pub fn settings(given: Option<&Bound<'_, PyDict>>) -> PyResult<Settings> {
    let mut settings = Settings::new();
    for (name, value) in given.into_iter().flatten() {
        let name: String = name.extract()?;
        if name == "secret" {
            settings = settings.secret(secret(&name, &value)?);
        } else {
            let text = value_text(&name, &value)?;
            // In the syntax of Python.
            let told = |error: Error| ArgumentError::new_err(error.to_string().replace("::", "."));
            settings.set(&name, &text).map_err(told)?;
        }
    }
    Ok(settings)
}

/// Text of a value. `True` and `False` are on and off. `None` is the word of a setting beside its
/// range, such as never.
fn value_text(name: &str, value: &Bound<'_, PyAny>) -> PyResult<String> {
    let setting = Setting::named(name);
    if let Ok(switch) = value.cast::<PyBool>() {
        return Ok(if switch.is_true() { "on" } else { "off" }.into());
    }
    match setting.and_then(Setting::word) {
        Some(word) if value.is_none() => return Ok(word.into()),
        _ => {}
    }
    let is_number = value.is_instance_of::<PyInt>() || value.is_instance_of::<PyFloat>();
    if is_number || value.is_instance_of::<PyString>() {
        return Ok(value.str()?.to_string());
    }
    // Numbers of numpy, and paths.
    if let Ok(number) = value.extract::<u64>() {
        return Ok(number.to_string());
    }
    if let Ok(number) = value.extract::<f64>() {
        return Ok(number.to_string());
    }
    if let Ok(path) = value.extract::<std::path::PathBuf>() {
        return Ok(path.to_string_lossy().into_owned());
    }
    let expected = setting.map_or("a setting of the communicator: see optireduce.SETTINGS".into(), Setting::values);
    Err(wrong(name, &value.repr()?.to_string(), &expected))
}

fn wrong(name: &str, found: &str, expected: &str) -> PyErr {
    ArgumentError::new_err(format!("{name} is {found}, expected {expected}"))
}

/// Converts a value. Errors name the setting.
pub fn extract<'py, T>(name: &str, value: &Bound<'py, PyAny>, expected: &str) -> PyResult<T>
where
    T: for<'a> FromPyObject<'a, 'py>,
{
    value
        .extract()
        .map_err(|_| wrong(name, &value.repr().map_or_else(|_| "?".into(), |text| text.to_string()), expected))
}

/// Arguments whose conversion fails as an `ArgumentError` that names them. PyO3's own conversion of
/// a negative number fails as an `OverflowError`.
macro_rules! arguments {
    ($($Argument:ident($Value:ty) = $name:literal, $expected:literal;)*) => {$(
        pub struct $Argument(pub $Value);

        impl<'a, 'py> FromPyObject<'a, 'py> for $Argument {
            type Error = PyErr;

            fn extract(value: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
                extract($name, &value, $expected).map(Self)
            }
        }
    )*};
}

arguments! {
    Elements(usize) = "elements", "a number of elements";
    Root(usize) = "root", "the number of a rank, 0 or more";
    To(usize) = "to", "the number of a rank, 0 or more";
    Source(usize) = "source", "the number of a rank, 0 or more, or None";
    Tag(u32) = "tag", "a number from 0 to 4294967295";
    Color(usize) = "color", "a number, 0 or more, or None";
    GroupSize(usize) = "group_size", "a number of ranks";
    MixWithin(u32) = "mix_within", "a number, 1 or more, or None";
    Iteration(u64) = "iteration", "a number, 1 or more";
}

/// A timeout in seconds.
pub struct Timeout(pub Duration);

impl<'a, 'py> FromPyObject<'a, 'py> for Timeout {
    type Error = PyErr;

    fn extract(value: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let (name, expected) = ("timeout", "a number of seconds, 0 or more, or None");
        let number: f64 = extract(name, &value, expected)?;
        let timeout = Duration::try_from_secs_f64(number);
        timeout.map(Self).map_err(|_| wrong(name, &number.to_string(), expected))
    }
}

pub fn seconds(name: &str, number: f64, unit_s: f64) -> PyResult<Duration> {
    let expected = "a positive number";
    Duration::try_from_secs_f64(number * unit_s).map_err(|_| wrong(name, &number.to_string(), expected))
}

fn secret(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Secret> {
    // The error must not show the secret.
    let text: String = value.extract().map_err(|_| wrong(name, &format!("a {}", value.get_type()), "a string"))?;
    Secret::new(text.as_bytes()).map_err(|error| ArgumentError::new_err(error.to_string()))
}

fn hadamard(mode: &str) -> PyResult<HadamardMode> {
    match mode {
        "off" => Ok(HadamardMode::Off),
        "on" => Ok(HadamardMode::On),
        "auto" => Ok(HadamardMode::Auto),
        found => Err(wrong("hadamard", found, "'off', 'on' or 'auto'")),
    }
}

pub fn bucket_options(
    op: &str,
    hadamard_mode: Option<&str>,
    bf16: Option<bool>,
    repair: Option<&str>,
) -> PyResult<BucketOptions> {
    let mode = hadamard_mode.map(hadamard).transpose()?;
    let repair = repair.map(repair_of).transpose()?;
    Ok(BucketOptions::new().reduce_op(reduce_op(op)?).hadamard(mode).bf16(bf16).repair(repair))
}

/// Options of a bucket as text.
pub fn options_in_force<'py>(py: Python<'py>, options: &BucketOptions) -> PyResult<Bound<'py, PyDict>> {
    let switch = |option: Option<bool>| if option == Some(true) { "on" } else { "off" };
    let text = PyDict::new(py);
    text.set_item("op", if options.reduce_op == ReduceOp::Sum { "sum" } else { "avg" })?;
    text.set_item("hadamard", options.hadamard.unwrap_or_default().to_string())?;
    text.set_item("bf16", switch(options.bf16))?;
    text.set_item("repair", options.repair.unwrap_or_default().to_string())?;
    text.set_item("groups", options.groups.map_or("none".into(), |groups| groups.to_string()))?;
    Ok(text)
}

/// Groups of two levels: a number or a word.
pub fn groups(value: &Bound<'_, PyAny>) -> PyResult<Groups> {
    let found = value.str()?.to_string();
    found.parse().map_err(|expected: String| wrong("groups", &found, &expected))
}

fn repair_of(found: &str) -> PyResult<Repair> {
    let repair = Repair::ALL.into_iter().find(|repair| repair.to_string() == found);
    repair.ok_or_else(|| wrong("repair", found, "'off', 'next_update' or 'this_update'"))
}

fn reduce_op(op: &str) -> PyResult<ReduceOp> {
    match op {
        "avg" => Ok(ReduceOp::Avg),
        "sum" => Ok(ReduceOp::Sum),
        found => Err(wrong("op", found, "'avg' or 'sum'")),
    }
}
