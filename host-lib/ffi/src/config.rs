//! Conversion of settings from the structs of the header.

use std::time::Duration;

use optireduce::{
    BucketOptions, ElementType, ExactOp, Groups, HadamardMode, PartialOptions, ReduceOp, Repair, Settings, Weighting,
};

use crate::status::Failure;
use crate::types::optr_op_t::*;
use crate::types::optr_type_t::*;
use crate::types::optr_weights_t::{OPTR_WEIGHTS_CONSTANT, OPTR_WEIGHTS_DYNAMIC};
use crate::types::{
    OPTR_GROUPS_AUTO, OPTR_GROUPS_HOSTS, OPTR_GROUPS_NONE, OPTR_NEVER, optr_bucket_options_t, optr_config_t,
    optr_partial_options_t, optr_repair_t, optr_switch_t,
};

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
    pub card: Option<&'a str>,
}

/// Values of a switch, with their texts as settings.
type Words = [(u32, &'static str)];

const SWITCH: &Words = &[(OFF, "off"), (ON, "on")];
const REPAIR: &Words = &[
    (optr_repair_t::OPTR_REPAIR_OFF as u32, "off"),
    (optr_repair_t::OPTR_REPAIR_NEXT_UPDATE as u32, "next_update"),
    (optr_repair_t::OPTR_REPAIR_THIS_UPDATE as u32, "this_update"),
];

pub fn settings(config: &optr_config_t, texts: Texts<'_>) -> Result<Settings, Failure> {
    // Destructured by name, so that a new field cannot be forgotten here.
    let &optr_config_t {
        size: _,
        timeout_s,
        bound_ms,
        bound_max_ms,
        mtu,
        drop_silent_after,
        early,
        hadamard,
        bf16,
        repair,
        agree,
        skip_gone,
        shared_memory,
        rejoin,
        card_fallback,
        groups,
        interface: _,
        secret_file: _,
        card: _,
    } = config;
    let mut settings = Settings::new();
    let mut set = |name: &str, value: &str| settings.set(name, value).map_err(Failure::from);
    for (name, number) in [("timeout_s", timeout_s), ("bound_ms", bound_ms), ("bound_max_ms", bound_max_ms)] {
        if number != 0.0 {
            set(name, &number.to_string())?;
        }
    }
    match drop_silent_after {
        0 => {}
        OPTR_NEVER => set("drop_silent_after", "never")?,
        ops => set("drop_silent_after", &ops.to_string())?,
    }
    match groups {
        0 => {}
        OPTR_GROUPS_NONE => set("groups", "none")?,
        found => set("groups", &self::groups(found).to_string())?,
    }
    if mtu != 0 {
        set("mtu", &mtu.to_string())?;
    }
    for (name, found, words) in [
        ("early", early, &[(OFF, "off"), (AUTO, "adaptive")][..]),
        ("hadamard", hadamard, &[(OFF, "off"), (ON, "on"), (AUTO, "auto")]),
        ("bf16", bf16, SWITCH),
        ("repair", repair, REPAIR),
        ("agree", agree, SWITCH),
        ("skip_gone", skip_gone, SWITCH),
        ("shared_memory", shared_memory, &[(OFF, "off"), (AUTO, "auto")]),
        ("rejoin", rejoin, SWITCH),
        ("card_fallback", card_fallback, &[(OFF, "off"), (ON, "udp")]),
    ] {
        if let Some(word) = word_of(&format!("config->{name}"), found, words)? {
            set(name, word)?;
        }
    }
    for (name, text) in [("interface", texts.interface), ("secret_file", texts.secret_file), ("card", texts.card)] {
        text.map_or(Ok(()), |text| set(name, text))?;
    }
    Ok(settings)
}

pub fn bucket_options(options: &optr_bucket_options_t) -> Result<BucketOptions, Failure> {
    let &optr_bucket_options_t { size: _, op, hadamard, bf16, repair, groups, reserved: _ } = options;
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
        .groups((groups != 0).then(|| self::groups(groups))))
}

fn groups(found: u32) -> Groups {
    match found {
        OPTR_GROUPS_AUTO => Groups::Auto,
        OPTR_GROUPS_HOSTS => Groups::Hosts,
        // The ranks check it together, so that all get the error.
        number => Groups::Number(number as usize),
    }
}

fn repair_of(field: &str, found: u32) -> Result<Option<Repair>, Failure> {
    let word = word_of(field, found, REPAIR)?;
    Ok(Repair::ALL.into_iter().find(|repair| Some(repair.to_string().as_str()) == word))
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

/// Returns the text of a switch, or `None` for the default.
fn word_of(field: &str, found: u32, words: &Words) -> Result<Option<&'static str>, Failure> {
    if found == DEFAULT {
        return Ok(None);
    }
    let word = words.iter().find(|(value, _)| *value == found).map(|(_, word)| *word);
    let values: Vec<u32> = words.iter().map(|(value, _)| *value).collect();
    word.map(Some).ok_or_else(|| match field.ends_with("->repair") {
        true => Failure::argument(field, found, "an optr_repair_t, 0 to 3"),
        false => wrong_switch(field, found, &values),
    })
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
    use std::ptr::null;

    use optireduce::{Origin, SETTINGS};

    use super::*;

    const ZERO: optr_config_t = optr_config_t {
        size: size_of::<optr_config_t>(),
        timeout_s: 0.0,
        bound_ms: 0.0,
        bound_max_ms: 0.0,
        mtu: 0,
        drop_silent_after: 0,
        early: 0,
        hadamard: 0,
        bf16: 0,
        repair: 0,
        agree: 0,
        skip_gone: 0,
        shared_memory: 0,
        rejoin: 0,
        card_fallback: 0,
        groups: 0,
        interface: null(),
        secret_file: null(),
        card: null(),
    };

    #[test]
    fn each_setting_is_a_field_that_gives_the_value_of_its_sample() {
        let texts = Texts { interface: Some("lo"), secret_file: Some("/dev/null"), card: Some("/nowhere/card.sock") };
        for row in SETTINGS {
            let mut config = ZERO;
            match row.name {
                // Of the unique id, or the launcher.
                "rank" | "world_size" | "root" | "job_id" => continue,
                "interface" | "secret_file" | "card" => {}
                "timeout_s" => config.timeout_s = 30.0,
                "bound_ms" => config.bound_ms = 20.0,
                "bound_max_ms" => config.bound_max_ms = 400.0,
                "mtu" => config.mtu = 9000,
                "drop_silent_after" => config.drop_silent_after = 5,
                "early" => config.early = OFF,
                "hadamard" => config.hadamard = ON,
                "bf16" => config.bf16 = ON,
                "repair" => config.repair = optr_repair_t::OPTR_REPAIR_NEXT_UPDATE as u32,
                "agree" => config.agree = ON,
                "skip_gone" => config.skip_gone = ON,
                "shared_memory" => config.shared_memory = OFF,
                "rejoin" => config.rejoin = ON,
                "card_fallback" => config.card_fallback = ON,
                "groups" => config.groups = 2,
                name => panic!("{name} has no field"),
            }
            let is_text = ["interface", "secret_file", "card"].contains(&row.name);
            let given = settings(&config, if is_text { texts } else { Texts::default() }).unwrap();
            assert_eq!(given.get(row.name).unwrap(), row.sample, "{}", row.name);
        }
        let usual = settings(&ZERO, Texts::default()).unwrap();
        assert_eq!(format!("{usual:?}"), "{}", "zero sets nothing");
        let never = settings(&optr_config_t { drop_silent_after: OPTR_NEVER, ..ZERO }, Texts::default()).unwrap();
        assert_eq!(never.get("drop_silent_after").unwrap(), "never");
        for (groups, text) in [(OPTR_GROUPS_NONE, "none"), (OPTR_GROUPS_AUTO, "auto"), (OPTR_GROUPS_HOSTS, "hosts")] {
            let given = settings(&optr_config_t { groups, ..ZERO }, Texts::default()).unwrap();
            assert_eq!(given.find("groups").unwrap(), (text.into(), Origin::Code));
        }
    }
}
