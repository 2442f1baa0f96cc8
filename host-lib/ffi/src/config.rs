//! Conversion of settings from the structs of the header.

use std::time::Duration;

use optireduce::{
    BOUND_MAX_DEFAULT, Bound, BucketOptions, Builder, Communicator, Early, ElementType, ExactOp, HadamardMode, Local,
    PartialOptions, ReduceOp, Secret, Weighting,
};

use crate::status::Failure;
use crate::types::optr_op_t::*;
use crate::types::optr_type_t::*;
use crate::types::optr_weights_t::{OPTR_WEIGHTS_CONSTANT, OPTR_WEIGHTS_DYNAMIC};
use crate::types::{OPTR_NEVER, optr_bucket_options_t, optr_config_t, optr_partial_options_t, optr_switch_t};

const DEFAULT: u32 = optr_switch_t::OPTR_DEFAULT as u32;
const OFF: u32 = optr_switch_t::OPTR_OFF as u32;
const ON: u32 = optr_switch_t::OPTR_ON as u32;
const AUTO: u32 = optr_switch_t::OPTR_AUTO as u32;

/// Default size of a group: the smallest possible.
const GROUP_SIZE: usize = 2;

#[derive(Clone, Copy, Debug, Default)]
pub struct Texts<'a> {
    pub interface: Option<&'a str>,
    pub secret_file: Option<&'a str>,
}

/// Returns the settings, and `config->rejoin` if set.
pub fn builder(config: &optr_config_t, texts: Texts<'_>) -> Result<(Builder, Option<bool>), Failure> {
    // Destructured by name, so that a new field cannot be forgotten here.
    let &optr_config_t {
        size: _,
        timeout_us,
        bound_us,
        bound_max_us,
        early_grace_us,
        window_bytes,
        mtu_bytes,
        incast,
        drop_silent_after,
        early,
        hadamard,
        bf16,
        repair,
        agree,
        rate_control,
        local,
        rejoin,
        interface_name: _,
        secret_file: _,
    } = config;
    let mut builder = Communicator::builder();
    if timeout_us > 0 {
        builder = builder.timeout(Duration::from_micros(timeout_us));
    }
    builder = match (bound_us, bound_max_us) {
        (0, 0) => builder.bound(Bound::Measured { max: BOUND_MAX_DEFAULT }),
        (0, max_us) => builder.bound(Bound::Measured { max: Duration::from_micros(max_us) }),
        (bound_us, 0) => builder.bound(Bound::Fixed(Duration::from_micros(bound_us))),
        (_, max_us) => {
            let expected = "0 with a bound_us, which is not measured";
            return Err(Failure::argument("config->bound_max_us", max_us, expected));
        }
    };
    builder = match (switch("config->early", early, &[OFF, AUTO])?, early_grace_us) {
        (Some(OFF), 0) => builder.early(Early::Off),
        (Some(OFF), grace_us) => {
            return Err(Failure::argument("config->early_grace_us", grace_us, "0 with early OPTR_OFF"));
        }
        (_, 0) => builder.early(Early::Adaptive),
        (_, grace_us) => builder.early(Early::Grace(Duration::from_micros(grace_us))),
    };
    if window_bytes > 0 {
        builder = builder.window_bytes(window_bytes);
    }
    if mtu_bytes > 0 {
        builder = builder.mtu(mtu_bytes as usize);
    }
    if incast > 0 {
        builder = builder.incast(Some(incast as usize));
    }
    builder = match drop_silent_after {
        0 => builder,
        OPTR_NEVER => builder.drop_silent_after(None),
        ops => builder.drop_silent_after(Some(ops)),
    };
    if let Some(mode) = hadamard_mode("config->hadamard", hadamard)? {
        builder = builder.hadamard(mode);
    }
    let toggle = |name, value| Ok::<_, Failure>(switch(name, value, &[OFF, ON])?.map(|value| value == ON));
    if let Some(on) = toggle("config->bf16", bf16)? {
        builder = builder.bf16(on);
    }
    if let Some(on) = toggle("config->repair", repair)? {
        builder = builder.repair(on);
    }
    if let Some(on) = toggle("config->agree", agree)? {
        builder = builder.agree(on);
    }
    if let Some(on) = toggle("config->rate_control", rate_control)? {
        builder = builder.rate_control(on);
    }
    builder = match switch("config->local", local, &[OFF, AUTO])? {
        None => builder,
        Some(OFF) => builder.local(Local::Off),
        Some(_) => builder.local(Local::Auto),
    };
    if let Some(interface) = texts.interface {
        builder = builder.interface(interface);
    }
    if let Some(file) = texts.secret_file {
        let failed = |error: optireduce::SecretError| {
            Failure::argument("config->secret_file", format_args!("{file:?} ({error})"), "a file with a secret")
        };
        let secret = match timeout_us {
            0 => Secret::from_file(file),
            timeout_us => Secret::from_file_within(file, Duration::from_micros(timeout_us), false),
        };
        builder = builder.secret(secret.map_err(failed)?);
    }
    Ok((builder, toggle("config->rejoin", rejoin)?))
}

pub fn bucket_options(options: &optr_bucket_options_t) -> Result<BucketOptions, Failure> {
    let &optr_bucket_options_t { size: _, op, hadamard, bf16, repair } = options;
    let op = match exact_op("options->op", op)? {
        ExactOp::Avg => ReduceOp::Avg,
        ExactOp::Sum => ReduceOp::Sum,
        _ => {
            return Err(Failure::argument(
                "options->op",
                op,
                "OPTR_AVG (0) or OPTR_SUM (1): other reductions exist only in exact calls",
            ));
        }
    };
    let toggle = |name, value| Ok::<_, Failure>(switch(name, value, &[OFF, ON])?.map(|value| value == ON));
    Ok(BucketOptions::new()
        .reduce_op(op)
        .hadamard(hadamard_mode("options->hadamard", hadamard)?)
        .bf16(toggle("options->bf16", bf16)?)
        .repair(toggle("options->repair", repair)?))
}

pub fn partial_options(options: Option<&optr_partial_options_t>) -> Result<PartialOptions, Failure> {
    let Some(&optr_partial_options_t {
        size: _,
        repair_timeout_us,
        patience_us,
        bound_us,
        decay,
        group_size,
        weights,
        sync_bound,
        repair,
    }) = options
    else {
        return Ok(PartialOptions::new(GROUP_SIZE));
    };
    let mut of = PartialOptions::new(if group_size == 0 { GROUP_SIZE } else { group_size as usize });
    of = of.weights(weighting(weights, decay)?);
    of = match sync_bound {
        0 => of,
        OPTR_NEVER => of.sync_bound(None),
        bound => of.sync_bound(bound),
    };
    if let Some(repair) = switch("options->repair", repair, &[OFF, ON])? {
        of = of.repair(repair == ON);
    }
    if repair_timeout_us > 0 {
        of = of.repair_timeout(Duration::from_micros(repair_timeout_us));
    }
    if patience_us > 0 {
        of = of.patience(Duration::from_micros(patience_us));
    }
    if bound_us > 0 {
        of = of.bound(Duration::from_micros(bound_us));
    }
    Ok(of)
}

fn weighting(weights: u32, decay: f64) -> Result<Weighting, Failure> {
    let names = [OPTR_WEIGHTS_DYNAMIC as u32, OPTR_WEIGHTS_CONSTANT as u32];
    match (weights, decay) {
        (found, _) if !names.contains(&found) => {
            let expected = "OPTR_WEIGHTS_DYNAMIC (0) or OPTR_WEIGHTS_CONSTANT (1)";
            Err(Failure::argument("options->weights", found, expected))
        }
        (found, 0.0) if found == OPTR_WEIGHTS_DYNAMIC as u32 => Ok(Weighting::default()),
        // The ranks check its range together, so that all get the error.
        (found, decay) if found == OPTR_WEIGHTS_DYNAMIC as u32 => Ok(Weighting::Dynamic { decay }),
        (_, 0.0) => Ok(Weighting::Constant),
        (_, decay) => Err(Failure::argument("options->decay", decay, "0 with OPTR_WEIGHTS_CONSTANT")),
    }
}

pub fn exact_op(name: &str, op: u32) -> Result<ExactOp, Failure> {
    let ops = [
        (OPTR_AVG, ExactOp::Avg),
        (OPTR_SUM, ExactOp::Sum),
        (OPTR_PRODUCT, ExactOp::Product),
        (OPTR_MIN, ExactOp::Min),
        (OPTR_MAX, ExactOp::Max),
        (OPTR_AND, ExactOp::And),
        (OPTR_OR, ExactOp::Or),
        (OPTR_XOR, ExactOp::Xor),
    ];
    let found = ops.into_iter().find(|(number, _)| *number as u32 == op).map(|(_, op)| op);
    found.ok_or_else(|| Failure::argument(name, op, "OPTR_AVG (0) to OPTR_XOR (7)"))
}

pub fn element_type(element: u32) -> Result<ElementType, Failure> {
    let types = [
        (OPTR_FLOAT16, ElementType::F16),
        (OPTR_BFLOAT16, ElementType::Bf16),
        (OPTR_FLOAT32, ElementType::F32),
        (OPTR_FLOAT64, ElementType::F64),
        (OPTR_INT8, ElementType::I8),
        (OPTR_UINT8, ElementType::U8),
        (OPTR_INT16, ElementType::I16),
        (OPTR_UINT16, ElementType::U16),
        (OPTR_INT32, ElementType::I32),
        (OPTR_UINT32, ElementType::U32),
        (OPTR_INT64, ElementType::I64),
        (OPTR_UINT64, ElementType::U64),
    ];
    let found = types.into_iter().find(|(number, _)| *number as u32 == element).map(|(_, element)| element);
    found.ok_or_else(|| Failure::argument("type", element, "OPTR_FLOAT16 (0) to OPTR_UINT64 (11)"))
}

fn hadamard_mode(name: &str, value: u32) -> Result<Option<HadamardMode>, Failure> {
    Ok(switch(name, value, &[OFF, ON, AUTO])?.map(|value| match value {
        OFF => HadamardMode::Off,
        ON => HadamardMode::On,
        _ => HadamardMode::Auto,
    }))
}

/// Checks a switch. Returns `None` for the default.
fn switch(name: &str, found: u32, may_be: &[u32]) -> Result<Option<u32>, Failure> {
    if found == DEFAULT {
        return Ok(None);
    }
    if may_be.contains(&found) {
        return Ok(Some(found));
    }
    let text = |value: &u32| match *value {
        OFF => "OPTR_OFF (1)",
        ON => "OPTR_ON (2)",
        _ => "OPTR_AUTO (3)",
    };
    let values: Vec<_> = may_be.iter().map(text).collect();
    Err(Failure::argument(name, found, format_args!("OPTR_DEFAULT (0), {}", values.join(" or "))))
}
