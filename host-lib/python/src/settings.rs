//! Settings of a communicator, as keyword arguments.

use std::time::Duration;

use optireduce::{
    Bound as StageBound, BucketOptions, Builder, CardFallback, Communicator, Early, HadamardMode, Launch, Local,
    ReduceOp, Secret,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::ArgumentError;

pub fn builder(launch: Launch, settings: Option<&Bound<'_, PyDict>>) -> PyResult<Builder> {
    let mut launch = launch;
    let mut builder = Communicator::builder();
    for (name, value) in settings.into_iter().flatten() {
        let name: String = name.extract()?;
        builder = match name.as_str() {
            "job_id" => {
                launch = launch.job_id(extract::<String>(&name, &value, "a string")?);
                builder
            }
            "rejoin" => {
                launch = launch.rejoin(flag(&name, &value)?);
                builder
            }
            "timeout_s" => builder.timeout(duration(&name, &value, 1.0)?),
            "bound_ms" => builder.bound(StageBound::Fixed(duration(&name, &value, 1e-3)?)),
            "bound_max_ms" => builder.bound(StageBound::Measured { max: duration(&name, &value, 1e-3)? }),
            "early" => builder.early(early(&name, &value)?),
            "hadamard" => builder.hadamard(hadamard(&name, &text(&name, &value)?)?),
            "bf16" => builder.bf16(flag(&name, &value)?),
            "incast" => builder.incast(extract::<Option<usize>>(&name, &value, "a number of peers, or None")?),
            "window_bytes" => builder.window_bytes(extract(&name, &value, "a number of bytes")?),
            "rate_control" => builder.rate_control(flag(&name, &value)?),
            "drop_silent_after" => {
                builder.drop_silent_after(extract::<Option<u32>>(&name, &value, "a number of collectives, or None")?)
            }
            "repair" => builder.repair(flag(&name, &value)?),
            "wait_for_repairs" => builder.wait_for_repairs(flag(&name, &value)?),
            "agree" => builder.agree(flag(&name, &value)?),
            "interface" => builder.interface(text(&name, &value)?),
            "mtu" => builder.mtu(extract::<Option<usize>>(&name, &value, "a number of bytes, or None")?),
            "local" => builder.local(match text(&name, &value)?.as_str() {
                "auto" => Local::Auto,
                "off" => Local::Off,
                found => return Err(wrong(&name, found, "'auto' or 'off'")),
            }),
            "card" => builder.card(text(&name, &value)?),
            "card_address" => builder.card_address(text(&name, &value)?),
            "card_fallback" => builder.card_fallback(match text(&name, &value)?.as_str() {
                "off" => CardFallback::Off,
                "udp" => CardFallback::Udp,
                found => return Err(wrong(&name, found, "'off' or 'udp'")),
            }),
            "secret" => builder.secret(secret(&name, &value)?),
            _ => {
                let expected = "a setting of the communicator: see help(optireduce.Communicator)";
                return Err(wrong("a keyword", &name, expected));
            }
        };
    }
    Ok(builder.launch(launch))
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
    Rank(usize) = "rank", "the number of a rank, 0 or more";
    WorldSize(usize) = "world_size", "a number of ranks";
    Elements(usize) = "elements", "a number of elements";
    Root(usize) = "root", "the number of a rank, 0 or more";
    To(usize) = "to", "the number of a rank, 0 or more";
    Source(usize) = "source", "the number of a rank, 0 or more, or None";
    Tag(u32) = "tag", "a number from 0 to 4294967295";
    Colour(usize) = "colour", "a number, 0 or more";
    GroupSize(usize) = "group_size", "a number of ranks";
    SyncBound(u32) = "sync_bound", "a number, 1 or more, or None";
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

fn flag(name: &str, value: &Bound<'_, PyAny>) -> PyResult<bool> {
    extract(name, value, "True or False")
}

fn text(name: &str, value: &Bound<'_, PyAny>) -> PyResult<String> {
    extract(name, value, "a string")
}

fn duration(name: &str, value: &Bound<'_, PyAny>, unit_s: f64) -> PyResult<Duration> {
    seconds(name, extract(name, value, "a positive number")?, unit_s)
}

pub fn seconds(name: &str, number: f64, unit_s: f64) -> PyResult<Duration> {
    let expected = "a positive number";
    Duration::try_from_secs_f64(number * unit_s).map_err(|_| wrong(name, &number.to_string(), expected))
}

fn early(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Early> {
    match value.extract::<&str>() {
        Ok("adaptive") => Ok(Early::Adaptive),
        Ok("off") => Ok(Early::Off),
        Ok(found) => Err(wrong(name, found, "'adaptive', 'off', or a number of milliseconds")),
        Err(_) => Ok(Early::Grace(duration(name, value, 1e-3)?)),
    }
}

fn secret(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Secret> {
    // The error must not show the secret.
    let text: String = value.extract().map_err(|_| wrong(name, &format!("a {}", value.get_type()), "a string"))?;
    Secret::new(text.as_bytes()).map_err(|error| ArgumentError::new_err(error.to_string()))
}

fn hadamard(name: &str, mode: &str) -> PyResult<HadamardMode> {
    match mode {
        "off" => Ok(HadamardMode::Off),
        "on" => Ok(HadamardMode::On),
        "auto" => Ok(HadamardMode::Auto),
        found => Err(wrong(name, found, "'off', 'on' or 'auto'")),
    }
}

pub fn bucket_options(
    op: &str,
    hadamard_mode: Option<&str>,
    bf16: Option<bool>,
    repair: Option<bool>,
) -> PyResult<BucketOptions> {
    let mode = hadamard_mode.map(|mode| hadamard("hadamard", mode)).transpose()?;
    Ok(BucketOptions::new().reduce_op(reduce_op(op)?).hadamard(mode).bf16(bf16).repair(repair))
}

fn reduce_op(op: &str) -> PyResult<ReduceOp> {
    match op {
        "avg" => Ok(ReduceOp::Avg),
        "sum" => Ok(ReduceOp::Sum),
        found => Err(wrong("op", found, "'avg' or 'sum'")),
    }
}
