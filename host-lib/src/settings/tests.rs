use super::*;
use crate::Communicator;

type Set = fn(Settings) -> Settings;

/// Settings without an environment.
fn plain() -> Settings {
    Settings::new().variables(|_| None)
}

fn with_variable(name: String, value: &'static str) -> Settings {
    Settings::new().variables(move |variable| (variable == name).then(|| value.to_owned()))
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// The sample of each row, by its setter.
const SETTERS: [(&str, Set); 22] = [
    ("rank", |to| to.rank(1)),
    ("world_size", |to| to.world_size(2)),
    ("root", |to| to.root("127.0.0.1:29517")),
    ("job_id", |to| to.job_id("j7")),
    ("rejoin", |to| to.rejoin(true)),
    ("interface", |to| to.interface("lo")),
    ("mtu", |to| to.mtu(9000)),
    ("shared_memory", |to| to.shared_memory(SharedMemory::Off)),
    ("secret_file", |to| to.secret_file("/dev/null")),
    ("card", |to| to.card("/nowhere/card.sock")),
    ("card_fallback", |to| to.card_fallback(CardFallback::Udp)),
    ("groups", |to| to.groups(Groups::Number(2))),
    ("timeout_s", |to| to.timeout(ms(30_000))),
    ("bound_ms", |to| to.bound(ms(20))),
    ("bound_max_ms", |to| to.bound_max(ms(400))),
    ("early", |to| to.early(Early::Off)),
    ("hadamard", |to| to.hadamard(HadamardMode::On)),
    ("bf16", |to| to.bf16(true)),
    ("repair", |to| to.repair(Repair::NextUpdate)),
    ("drop_silent_after", |to| to.drop_silent_after(5)),
    ("agree", |to| to.agree(true)),
    ("skip_gone", |to| to.skip_gone(true)),
];

#[test]
fn a_sample_is_the_same_by_setter_text_and_variable() {
    assert_eq!(SETTERS.map(|(name, _)| name).to_vec(), SETTINGS.iter().map(|row| row.name).collect::<Vec<_>>());
    for (row, (_, set)) in SETTINGS.iter().zip(SETTERS) {
        let mut by_text = plain();
        by_text.set(row.name, row.sample).unwrap();
        let by_variable = with_variable(row.variable(), row.sample);
        for (settings, origin) in
            [(set(plain()), Origin::Code), (by_text, Origin::Code), (by_variable, Origin::Variable)]
        {
            assert_eq!(settings.find(row.name).unwrap(), (row.sample.to_owned(), origin), "{}", row.name);
        }
        let usual = plain().find(row.name).unwrap();
        assert_eq!(usual, (row.default.to_owned(), Origin::Default), "{}", row.name);
        assert_ne!(row.default, row.sample, "{}", row.name);
        assert!(
            row.is_place() || row.read(row.default, Origin::Code).is_ok_and(|read| read == row.default),
            "{}",
            row.name
        );
    }
}

#[test]
fn a_wrong_value_is_the_same_error_by_setter_text_and_variable() {
    // The last part is the setter, if its type has the value.
    let cases: [(&str, &str, &str, Option<Set>); 20] = [
        ("world_size", "0", "world_size is 0, expected 1 to 65536 ranks", Some(|to| to.world_size(0))),
        ("rank", "one", "rank is one, expected 0 to 65535 and below world_size", None),
        ("root", "h", "root is h, expected host:port", Some(|to| to.root("h"))),
        (
            "root",
            "fd00::1",
            "root is fd00::1, expected host:port, with brackets around an IPv6 address, as in [fd00::1]:29517",
            Some(|to| to.root("fd00::1")),
        ),
        ("mtu", "113", "mtu is 113, expected 114 to 65535 bytes, or auto", Some(|to| to.mtu(113))),
        ("mtu", "9 000", "mtu is \"9 000\", expected 114 to 65535 bytes, or auto", None),
        (
            "groups",
            "1",
            "groups is 1, expected 2 to 1024 groups, auto or hosts, or none",
            Some(|to| to.groups(Groups::Number(1))),
        ),
        ("groups", "1025", "groups is 1025, expected 2 to 1024 groups, auto or hosts, or none", None),
        ("groups", "racks", "groups is racks, expected 2 to 1024 groups, auto or hosts, or none", None),
        (
            "job_id",
            "a\nb",
            "job_id is \"a\\nb\", expected at most 256 bytes, without control characters",
            Some(|to| to.job_id("a\nb")),
        ),
        (
            "secret_file",
            "a\0b",
            "secret_file is \"a\\0b\", expected a path, without control characters",
            Some(|to| to.secret_file("a\0b")),
        ),
        ("timeout_s", "0", "timeout_s is 0, expected 0.001 to 86400 s", Some(|to| to.timeout(Duration::ZERO))),
        ("timeout_s", "86401", "timeout_s is 86401, expected 0.001 to 86400 s", Some(|to| to.timeout(ms(86_401_000)))),
        ("bound_ms", "5000", "bound_ms is 5000, expected 0.001 to 4290 ms, or measured", Some(|to| to.bound(ms(5000)))),
        ("bound_ms", "NaN", "bound_ms is NaN, expected 0.001 to 4290 ms, or measured", None),
        ("bound_max_ms", "4", "bound_max_ms is 4, expected 5 to 4290 ms", Some(|to| to.bound_max(ms(4)))),
        ("repair", "yes", "repair is yes, expected off, next_update or this_update", None),
        ("agree", "maybe", "agree is maybe, expected on or off", None),
        (
            "drop_silent_after",
            "0",
            "drop_silent_after is 0, expected 1 to 4294967295 collectives, or never",
            Some(|to| to.drop_silent_after(0)),
        ),
        (
            "card",
            "c,address=1.2.3.4/8",
            "card is c,address=1.2.3.4/8, expected WHERE,address=IP[/PREFIX][:PORT][,gateway=MAC] (a prefix only with a gateway, \
             and vice versa), for instance 10.0.0.2, 10.0.0.2:5791 or 10.0.0.2/24,gateway=52:54:00:12:34:56",
            Some(|to| to.card("c,address=1.2.3.4/8")),
        ),
    ];
    for (name, value, expected, setter) in cases {
        assert_eq!(plain().set(name, value).unwrap_err().to_string(), expected);
        let row = Setting::named(name).unwrap();
        let by_variable = with_variable(row.variable(), value).get(name).unwrap_err().to_string();
        assert_eq!(by_variable.replacen(&format!(" ({})", row.variable()), "", 1), expected);
        assert_ne!(by_variable, expected, "it names the variable");
        if let Some(setter) = setter {
            assert_eq!(setter(plain()).get(name).unwrap_err().to_string(), expected);
        }
    }
    let long = "x".repeat(257);
    let error = plain().job_id(long).get("job_id").unwrap_err().to_string();
    assert!(error.ends_with("expected at most 256 bytes, found 257"), "{error}");
    let unknown = plain().set("bound", "20").unwrap_err().to_string();
    let expected =
        "the name of a setting is bound, expected one of optireduce::SETTINGS, of which bound_ms is the nearest";
    assert_eq!(unknown, expected);
}

#[test]
fn values_have_one_spelling() {
    let read = |name, text| {
        let mut settings = plain();
        settings.set(name, text).unwrap();
        settings.get(name).unwrap()
    };
    for (name, text, value) in [
        ("bound_ms", "2e1", "20"),
        ("bound_ms", " Measured ", "measured"),
        ("bound_ms", "0.0015", "0.0015"),
        ("timeout_s", "0.1", "0.1"),
        ("repair", "this-update", "this_update"),
        ("bf16", "1", "on"),
        ("bf16", "False", "off"),
        ("card", "", "none"),
        ("drop_silent_after", "never", "never"),
    ] {
        assert_eq!(read(name, text), value, "{name}");
    }
    assert_eq!(plain().bound(Duration::from_nanos(1234)).get("bound_ms").unwrap(), "0.001234");
    let settled = |name, text: &str| {
        let mut settings = plain().world_size(1);
        settings.set(name, text).unwrap();
        settings.settle().unwrap().0.time_or_word(name)
    };
    assert_eq!(settled("bound_ms", "0.001234"), Some(Duration::from_nanos(1234)));
    assert_eq!(settled("bound_ms", "measured"), None);
    assert_eq!(settled("timeout_s", "0.3"), Some(ms(300)));
    let (settled, _) = plain().world_size(1).settle().unwrap();
    assert_eq!(settled.time("bound_max_ms"), crate::communicator::BOUND_MAX_DEFAULT);
}

#[test]
fn code_overrides_variables_and_these_the_launcher_and_that_the_default() {
    let variable = |name: &str| match name {
        "RANK" => Some("1".into()),
        "WORLD_SIZE" => Some("4".into()),
        "MASTER_ADDR" => Some("10.0.0.1".into()),
        "MASTER_PORT" => Some("29500".into()),
        "OPTIREDUCE_ROOT" => Some("h:1".into()),
        "OPTIREDUCE_BOUND_MS" => Some("30".into()),
        "OPTIREDUCE_AGREE" => Some(String::new()),
        _ => None,
    };
    let settings = Settings::new().variables(variable);
    let find = |settings: &Settings, name| settings.find(name).unwrap();
    assert_eq!(find(&settings, "world_size"), ("4".into(), Origin::Launcher));
    assert_eq!(find(&settings, "root"), ("h:1".into(), Origin::Variable));
    assert_eq!(find(&settings, "bound_ms"), ("30".into(), Origin::Variable));
    assert_eq!(find(&settings, "agree"), ("off".into(), Origin::Default));
    let (settled, launch) = settings.clone().bound(None).root("h:2").settle().unwrap();
    assert_eq!((launch.rank, launch.world_size, launch.root.as_str()), (1, 4, "h:2"));
    assert_eq!(find(&settled, "bound_ms"), ("measured".into(), Origin::Code));
    // A communicator of fewer ranks derives its settings from settled ones, not the environment.
    let (derived, launch) = settled.rank(0).world_size(2).root("h:3").settle().unwrap();
    assert_eq!((launch.rank, launch.world_size, launch.root.as_str()), (0, 2, "h:3"));
    assert_eq!(find(&derived, "bound_ms"), ("measured".into(), Origin::Code));
}

#[test]
fn jobs_above_the_limit_of_one_level_have_two() {
    let groups = |settings: Settings| settings.root("h:1").settle().unwrap().0.text("groups").to_owned();
    for (ranks, expected) in [(1024, "none"), (1025, "auto")] {
        assert_eq!(groups(plain().rank(0).world_size(ranks)), expected, "{ranks} ranks");
    }
    assert_eq!(groups(plain().rank(0).world_size(1025).groups(None)), "none", "as given");
    assert_eq!(groups(plain().rank(0).world_size(2000).groups(Groups::Hosts)), "hosts", "as given");
}

#[test]
fn a_job_begins_with_every_word_of_every_row() {
    for row in SETTINGS.iter().filter(|row| !row.is_place()) {
        let Kind::Words(words) = row.values.kind else { continue };
        for word in words {
            let mut settings = plain().world_size(1);
            settings.set(row.name, word).unwrap();
            Communicator::connect(settings).wait().unwrap().close().wait().unwrap();
        }
    }
}

#[test]
fn ranks_compare_every_setting_of_the_job() {
    let (settled, _) = plain().world_size(1).compare("mine", 7).settle().unwrap();
    for row in SETTINGS.iter().filter(|row| !row.is_place()) {
        let mut other = plain().world_size(1).compare("mine", 7);
        if row.name != "secret_file" {
            other.set(row.name, row.sample).unwrap();
        }
        let (other, _) = other.settle().unwrap();
        let differs = settled.terms().compare(0, 1, &other.terms()).err().map(|found| (found.name, found.found));
        let expected = (row.scope == Scope::Job).then(|| (row.name.to_owned(), row.sample.to_owned()));
        assert_eq!(differs, expected, "{}", row.name);
    }
    let (other, _) = plain().world_size(1).compare("mine", 8).bf16(true).settle().unwrap();
    assert_eq!(settled.terms().compare(0, 1, &other.terms()).unwrap_err().name, "mine");
}

#[test]
fn a_variable_that_nothing_reads_is_told_with_the_nearest_that_something_does() {
    let all =
        ["OPTIREDUCE_BOUND", "OPTIREDUCE_LOCAL", "OPTIREDUCE_DROP_SILENT", "HOME", "OPTIREDUCE_LOG", "OPTIREDUCE_MTU"];
    let found = unknown_variables(all.iter().map(|name| (*name).to_owned()));
    let names: Vec<_> = found.iter().map(|(name, nearest)| (name.as_str(), nearest.as_str())).collect();
    assert_eq!(names.len(), 3, "{names:?}");
    assert_eq!(names[0], ("OPTIREDUCE_BOUND", "OPTIREDUCE_BOUND_MS"));
    assert_eq!(names[2], ("OPTIREDUCE_DROP_SILENT", "OPTIREDUCE_DROP_SILENT_AFTER"));
    let all_rows = SETTINGS.iter().map(Setting::variable);
    assert_eq!(unknown_variables(all_rows), []);
}

/// `OPTIREDUCE_WRITE_TABLE=1` writes the table.
#[test]
fn the_table_in_the_readme_is_current() {
    const BEGIN: &str = "| setting | default | meaning |\n|---|---|---|\n";
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
    let page = std::fs::read_to_string(path).unwrap();
    let (before, rest) = page.split_once(BEGIN).expect("a table of the settings");
    let end = rest.find("\n\n").map_or(rest.len(), |end| end + 1);
    let row = |row: &Setting| format!("| `{}` | {} | {} |\n", row.name, row.default, row.summary().replace('|', "\\|"));
    let rows: String = SETTINGS.iter().filter(|row| !row.is_rare && !row.is_place()).map(row).collect();
    if std::env::var_os("OPTIREDUCE_WRITE_TABLE").is_some() {
        std::fs::write(path, [before, BEGIN, &rows, &rest[end..]].concat()).unwrap();
        return;
    }
    assert_eq!(&rest[..end], rows, "README.md: write its table by OPTIREDUCE_WRITE_TABLE=1");
}
