//! Reports have the same fields in Rust, in JSON, in Python, and in C as far as C can hold them.

mod ranks;

use std::collections::BTreeSet;
use std::path::Path;

use optireduce::{BucketOptions, Communicator, PartialOptions, Report};
use ranks::{builder, gradient, job};
use serde_json::Value;

type Names = BTreeSet<String>;
/// Name, source, JSON, name in C, fields of C alone, fields that C lacks.
type Case<'a> = (&'a str, &'a str, &'a Value, &'a str, &'a [&'a str], &'a [&'a str]);

/// Lines of a struct or class, from after its first line to `end`.
fn lines<'a>(text: &'a str, begin: &str, end: &str) -> impl Iterator<Item = &'a str> + use<'a> {
    let (_, text) = text.split_once(begin).unwrap_or_else(|| panic!("there is no {begin}"));
    text.split_once(end).map_or(text, |(lines, _)| lines).lines()
}

fn names<'a>(of: impl Iterator<Item = &'a str>) -> Names {
    of.map(String::from).collect()
}

/// Public fields of a struct, with the unit of durations in JSON and Python.
fn of_rust(source: &str, name: &str) -> Names {
    let fields = lines(source, &format!("pub struct {name} {{"), "\n}");
    let fields = fields.filter_map(|line| line.trim().strip_prefix("pub ")?.split_once(": "));
    let fields = fields.map(|(name, kind)| if kind == "Duration," { format!("{name}_ms") } else { name.into() });
    fields.collect()
}

fn of_python(source: &str, name: &str) -> Names {
    let fields = lines(source, &format!("class {name}"), "\n\n\n").filter_map(|line| line.strip_prefix("    "));
    let fields = fields.filter_map(|line| line.split_once(": ")).map(|(name, _)| name);
    names(fields.filter(|name| *name != "text" && name.chars().all(|of| of.is_ascii_lowercase() || of == '_')))
}

/// Fields of a struct of the header without `beside`, with the units of Rust.
fn of_c(header: &str, name: &str, beside: &[&str]) -> Names {
    let fields = lines(header, &format!("typedef struct {name} {{"), "\n}").map(str::trim);
    let fields = fields.filter(|line| !line.starts_with("//")).filter_map(|line| line.strip_suffix(';'));
    let fields = fields.filter_map(|line| line.rsplit([' ', '*']).next()).map(|name| name.trim_end_matches("[2]"));
    let fields = fields.filter(|name| !beside.contains(name) && *name != "reserved");
    let units = |name: &str| match name.rsplit_once('_') {
        Some((name, "ns" | "us")) => format!("{name}_ms"),
        Some((name, "elements")) => name.into(),
        _ => name.into(),
    };
    fields.map(units).collect()
}

fn of_json(object: &Value) -> Names {
    object.as_object().unwrap().keys().cloned().collect()
}

#[test]
fn a_report_has_the_same_fields_in_every_language() {
    let read = |path: &str| std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
    let [all, stage, group, repair] = [
        "src/communicator/report.rs",
        "src/communicator/report/stage.rs",
        "src/communicator/report/group.rs",
        "core/src/protocol/repair/ledger.rs",
    ]
    .map(read);
    let (python, header) = (read("python/python/optireduce/report.py"), read("ffi/include/optireduce.h"));
    let reports: Vec<(Report, Report)> = job(2, |rank, root| {
        let mut communicator = Communicator::connect(builder(rank, 2, &root)).wait().unwrap();
        let mut bucket = communicator.bucket(1000, BucketOptions::new()).wait().unwrap();
        let report = bucket.all_reduce(&mut gradient(rank, 1000)).unwrap();
        let mut partial = communicator.partial_reduce(1000, PartialOptions::new()).wait().unwrap();
        let (_, average) = partial.average(gradient(rank, 1000), 1).wait().unwrap();
        partial.close().wait().unwrap();
        (report, average)
    });
    let [report, average] = [&reports[0].0, &reports[0].1].map(|report| serde_json::to_value(report).unwrap());
    let caller = ["size", "peer_size", "peers", "peer_capacity", "peer_count"];
    let member = ["size", "member_size", "members", "member_capacity", "member_count"];
    // Of the report.
    let member = [&member[..], &["number", "lost_bytes", "missing_elements"]].concat();
    // C has rows for peers and members, and neither two levels nor a report of each window.
    let cases: [Case<'_>; 5] = [
        ("Report", &all, &report, "optr_report_t", &caller, &["parts", "group"]),
        (
            "StageReport",
            &stage,
            &report["stages"][0],
            "optr_stage_report_t",
            &[],
            &["stage", "closed_by_window", "peers"],
        ),
        (
            "PeerReport",
            &stage,
            &report["stages"][0]["peers"][0],
            "optr_peer_report_t",
            &["received_fraction", "is_live", "is_late"],
            &[],
        ),
        ("RepairReport", &repair, &report["repairs"], "optr_repairs_t", &[], &[]),
        ("GroupReport", &group, &average["group"], "optr_partial_report_t", &member, &["weights", "uncounted_ranks"]),
    ];
    for (name, source, json, struct_name, beside, omitted) in cases {
        let rust = of_rust(source, name);
        assert!(rust.len() > 2, "{name}: {rust:?}");
        assert_eq!(of_json(json), rust, "{name} in JSON");
        assert_eq!(of_python(&python, name), rust, "{name} in Python");
        let mut c = of_c(&header, struct_name, beside);
        assert!(omitted.iter().all(|name| c.insert((*name).into())), "{struct_name} has one of {omitted:?}");
        assert_eq!(c, rust, "{struct_name}");
    }
    assert_eq!(
        (&report["kind"], &report["number"], &report["bound_ms"]),
        (&"all_reduce".into(), &0.into(), &3000.0.into())
    );
}
