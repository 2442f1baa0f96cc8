//! Conversion of settings from the structs of the header.

use std::time::Duration;

use optireduce::binding::{Shape, shape};
use optireduce::{
    BucketOptions, ElementType, ExactOp, Groups, HadamardMode, PartialOptions, ReduceOp, Repair, Setting, Settings,
    Weights,
};

use crate::field::Given;
use crate::status::Failure;
use crate::types::optr_op_t::*;
use crate::types::optr_type_t::*;
use crate::types::optr_weights_t::{OPTR_WEIGHTS_CONSTANT, OPTR_WEIGHTS_DYNAMIC};
use crate::types::{OPTR_NEVER, optr_bucket_options_t, optr_partial_options_t, optr_switch_t};

const DEFAULT: u32 = optr_switch_t::OPTR_DEFAULT as u32;
const OFF: u32 = optr_switch_t::OPTR_OFF as u32;
const ON: u32 = optr_switch_t::OPTR_ON as u32;
const AUTO: u32 = optr_switch_t::OPTR_AUTO as u32;

/// Words of optr_switch_t.
const SWITCH: [(u32, &str); 3] = [(OFF, "off"), (ON, "on"), (AUTO, "auto")];

/// C enum of a setting whose values are words.
#[derive(Debug)]
pub struct Words {
    /// Name of the type.
    pub name: String,
    /// Constant of the default, which is 0.
    pub default: String,
    /// Number, word and constant of each other value.
    pub words: Vec<(u32, &'static str, String)>,
}

impl Words {
    /// Returns `None` for a setting with other values. Words beyond off, on and auto have an enum
    /// of their setting.
    pub fn of(row: &Setting) -> Option<Self> {
        let Shape::Words(words) = shape(row) else { return None };
        let number = |word: &&str| SWITCH.iter().find(|(_, of)| of == word).map(|(number, _)| *number);
        let of_switch = words.iter().map(number).collect::<Option<Vec<_>>>();
        let (name, prefix, numbers) = match of_switch {
            Some(numbers) => ("switch", "OPTR_".to_owned(), numbers),
            None => (row.name, format!("OPTR_{}_", row.name.to_uppercase()), (1..=words.len() as u32).collect()),
        };
        let constant = |word: &str| prefix.clone() + &word.to_uppercase();
        let words = numbers.into_iter().zip(words).map(|(number, word)| (number, *word, constant(word)));
        let mut words: Vec<_> = words.collect();
        words.sort();
        Some(Self { name: format!("optr_{name}_t"), default: constant("default"), words })
    }
}

/// Returns the settings of a struct, by the table.
pub fn settings(values: &[(&'static str, Given<'_>)]) -> Result<Settings, Failure> {
    let mut settings = Settings::new();
    for (name, value) in values {
        let text = match value {
            Given::Number(number) => decimal(*number),
            Given::Whole(OPTR_NEVER) if row(name).word() == Some("never") => "never".into(),
            Given::Whole(number) => number.to_string(),
            Given::Word(number) => word(&format!("config->{name}"), row(name), *number)?.into(),
            Given::Text(text) => (*text).into(),
        };
        settings.set(name, &text)?;
    }
    Ok(settings)
}

/// Text of a number, with an exponent if it would be long.
fn decimal(number: f64) -> String {
    let is_short = number == 0.0 || !number.is_finite() || (1e-6..1e16).contains(&number.abs());
    if is_short { number.to_string() } else { format!("{number:e}") }
}

pub fn check_reserved(field: &str, found: u32) -> Result<(), Failure> {
    if found == 0 { Ok(()) } else { Err(Failure::argument(field, found, "0")) }
}

fn row(name: &str) -> &'static Setting {
    Setting::named(name).expect("fields are generated from the table")
}

fn word(field: &str, row: &Setting, found: u32) -> Result<&'static str, Failure> {
    let Words { default, words, .. } = Words::of(row).expect("fields are generated from the table");
    let word = words.iter().find(|(number, ..)| *number == found).map(|(_, word, _)| *word);
    word.ok_or_else(|| {
        let mut names: Vec<_> = words.iter().map(|(number, _, constant)| format!("{constant} ({number})")).collect();
        let last = names.pop().unwrap_or_default();
        names.insert(0, format!("{default} (0)"));
        Failure::argument(field, found, format_args!("{} or {last}", names.join(", ")))
    })
}

/// Returns an error if the struct has a place in the job, which the caller passed elsewhere.
pub fn no_place(values: &[(&'static str, Given<'_>)]) -> Result<(), Failure> {
    let place = values.iter().find(|(name, _)| ["rank", "world_size", "root", "job_id"].contains(name));
    place.map_or(Ok(()), |(name, value)| {
        let found = match value {
            Given::Text(text) => format!("{text:?}"),
            Given::Number(number) => decimal(*number),
            Given::Whole(number) | Given::Word(number) => number.to_string(),
        };
        let expected = "the default, since optr_comm_init_rank takes the rank from its arguments and the id";
        Err(Failure::argument(&format!("config->{name}"), found, expected))
    })
}

/// `groups`: text of the field.
pub fn bucket_options(options: &optr_bucket_options_t, groups: Option<&str>) -> Result<BucketOptions, Failure> {
    let &optr_bucket_options_t { size: _, op, hadamard, bf16, repair, groups: _ } = options;
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
        .repair(repair_of("options->repair", repair)?)
        .groups(groups.map(groups_of).transpose()?))
}

fn groups_of(found: &str) -> Result<Groups, Failure> {
    found.parse().map_err(|expected: String| Failure::argument("options->groups", format!("{found:?}"), expected))
}

fn repair_of(field: &str, found: u32) -> Result<Option<Repair>, Failure> {
    if found == DEFAULT {
        return Ok(None);
    }
    let word = word(field, row("repair"), found)?;
    Ok(Repair::ALL.into_iter().find(|repair| repair.to_string() == word))
}

pub fn partial_options(options: Option<&optr_partial_options_t>) -> Result<PartialOptions, Failure> {
    let mut of = PartialOptions::new();
    let Some(&optr_partial_options_t {
        size: _,
        repair_timeout_s,
        patience_s,
        bound_ms,
        decay,
        group_size,
        weights,
        mix_within,
        repair,
    }) = options
    else {
        return Ok(of);
    };
    if group_size > 0 {
        of = of.group_size(group_size as usize);
    }
    of = match weights {
        found if found == OPTR_WEIGHTS_DYNAMIC as u32 => of,
        found if found == OPTR_WEIGHTS_CONSTANT as u32 => of.weights(Weights::Constant),
        found => {
            let expected = "OPTR_WEIGHTS_DYNAMIC (0) or OPTR_WEIGHTS_CONSTANT (1)";
            return Err(Failure::argument("options->weights", found, expected));
        }
    };
    // The ranks check its range together, so that all get the error.
    if decay != 0.0 {
        of = of.decay(decay);
    }
    of = match mix_within {
        0 => of,
        OPTR_NEVER => of.mix_within(None),
        rounds => of.mix_within(rounds),
    };
    if let Some(repair) = switch("options->repair", repair, &[OFF, ON])? {
        of = of.repair(repair == ON);
    }
    if let Some(timeout) = duration("options->repair_timeout_s", repair_timeout_s, 1.0)? {
        of = of.repair_timeout(timeout);
    }
    if let Some(patience) = duration("options->patience_s", patience_s, 1.0)? {
        of = of.patience(patience);
    }
    if let Some(bound) = duration("options->bound_ms", bound_ms, 1e-3)? {
        of = of.bound(bound);
    }
    Ok(of)
}

/// Returns `None` for zero.
fn duration(field: &str, found: f64, unit_s: f64) -> Result<Option<Duration>, Failure> {
    if found == 0.0 {
        return Ok(None);
    }
    let duration = Duration::try_from_secs_f64(found * unit_s).ok().filter(|duration| !duration.is_zero());
    duration
        .map(Some)
        .ok_or_else(|| Failure::argument(field, decimal(found), "a positive number of at least a nanosecond"))
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
    if may_be.contains(&found) { Ok(Some(found)) } else { Err(wrong_switch(name, found, may_be)) }
}

fn wrong_switch(name: &str, found: u32, may_be: &[u32]) -> Failure {
    let text = |value: &u32| match *value {
        OFF => "OPTR_OFF (1)",
        ON => "OPTR_ON (2)",
        _ => "OPTR_AUTO (3)",
    };
    let values: Vec<_> = may_be.iter().map(text).collect();
    Failure::argument(name, found, format_args!("OPTR_DEFAULT (0), {}", values.join(" or ")))
}

#[cfg(test)]
mod tests {
    use optireduce::SETTINGS;

    use super::*;
    use crate::field::Field;
    use crate::types::optr_config_t;

    /// Field of a row with its sample, if it is a number or a word.
    fn sample(row: &'static Setting, field: &Field<'_>) -> Given<'static> {
        match field {
            Field::Number(_) => Given::Number(row.sample.parse().unwrap()),
            Field::Whole(_) => Given::Whole(row.sample.parse().unwrap()),
            Field::Word(_) => {
                let words = Words::of(row).unwrap().words;
                Given::Word(words.iter().find(|(_, word, _)| *word == row.sample).unwrap().0)
            }
            Field::Text(_) => Given::Text(row.sample),
            Field::Reserved(_) => unreachable!("it has no row"),
        }
    }

    #[test]
    fn each_setting_is_a_field_that_gives_the_value_of_its_sample() {
        let mut config = optr_config_t::zero();
        let fields = config.fields();
        assert_eq!(fields.len(), SETTINGS.len());
        for row in SETTINGS {
            let (name, field) = fields.iter().find(|(name, _)| *name == row.name).unwrap();
            let given = settings(&[(name, sample(row, field))]).unwrap();
            assert_eq!(given.get(row.name).unwrap(), row.sample, "{}", row.name);
        }
        assert_eq!(format!("{:?}", settings(&[]).unwrap()), "{}", "zero sets nothing");
        let never = settings(&[("drop_silent_after", Given::Whole(OPTR_NEVER))]).unwrap();
        assert_eq!(never.get("drop_silent_after").unwrap(), "never");
    }

    #[test]
    fn a_value_out_of_range_is_the_same_error_as_by_text() {
        for (name, value, text) in [
            ("timeout_s", Given::Number(-1.0), "-1"),
            ("timeout_s", Given::Number(f64::NAN), "NaN"),
            ("bound_ms", Given::Number(f64::INFINITY), "inf"),
            ("bound_max_ms", Given::Number(1e-320), "1e-320"),
            ("mtu", Given::Whole(u32::MAX), "4294967295"),
            ("world_size", Given::Whole(70_000), "70000"),
            ("root", Given::Text(""), ""),
            ("job_id", Given::Text("a\nb"), "a\nb"),
            ("card", Given::Text("c,address=1.2.3.4/8"), "c,address=1.2.3.4/8"),
        ] {
            let by_text = Settings::new().set(name, text).err().map(|error| Failure::from(error).text);
            assert_eq!(settings(&[(name, value)]).err().map(|failure| failure.text), by_text, "{name}");
        }
        let word = |name, number| settings(&[(name, Given::Word(number))]).unwrap_err().text;
        let expected = "config->bf16 is 3, expected OPTR_DEFAULT (0), OPTR_OFF (1) or OPTR_ON (2); nothing was changed";
        assert_eq!(word("bf16", 3), expected);
        let expected =
            "config->early is 3, expected OPTR_EARLY_DEFAULT (0), OPTR_EARLY_OFF (1) or OPTR_EARLY_ADAPTIVE (2);";
        assert!(word("early", 3).starts_with(expected), "{}", word("early", 3));
    }

    #[test]
    fn off_has_one_number_in_every_enum() {
        for row in SETTINGS {
            let words = Words::of(row).map_or(Vec::new(), |of| of.words);
            let off = words.iter().find(|(_, word, _)| *word == "off").map(|(number, ..)| *number);
            assert!(off.is_none_or(|number| number == OFF), "{}: {words:?}", row.name);
        }
    }
}
