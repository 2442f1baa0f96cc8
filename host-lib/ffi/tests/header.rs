//! Checks the committed header against the source, and that every function states its threads.
//! `OPTIREDUCE_WRITE_HEADER=1` writes `types/settings.rs` from the table of settings, and then the
//! header.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use optireduce::binding::{Shape, shape};
use optireduce::{SETTINGS, Scope, Setting};
use optireduce_c::Words;

const HERE: &str = env!("CARGO_MANIFEST_DIR");

/// Struct of settings, with a field for each row of a table.
struct Struct {
    name: &'static str,
    doc: String,
    rows: &'static [Setting],
    is_config: bool,
}

fn structs() -> [Struct; 1] {
    let may_differ = SETTINGS.iter().filter(|row| row.scope == Scope::Rank).map(|row| row.name);
    let may_differ = may_differ.collect::<Vec<_>>().join(", ");
    let doc = format!(
        "Settings of a communicator, from optr_config_init(). Zero selects the default of a field: the environment variable \
         OPTIREDUCE_ and the name in capitals, or else the value stated.\n\nThe ranks compare settings when they connect. Only \
         {may_differ} may differ. `optireduce settings` describes them.\n\nA rank of 0 counts if world_size is set. With \
         optr_comm_init_rank(), rank, world_size, root and job_id stay zero."
    );
    [Struct { name: "optr_config_t", doc, rows: SETTINGS, is_config: true }]
}

impl Struct {
    /// Names of the fields: the committed ones first, since their order is part of the ABI.
    fn names(&self, committed: &str) -> Vec<String> {
        let begin = format!("pub struct {} {{", self.name);
        let old = committed.split_once(&begin).map_or("", |(_, rest)| rest.split_once("\n}").unwrap().0);
        let old =
            old.lines().filter_map(|line| line.trim().strip_prefix("pub ")?.split_once(':')).map(|(name, _)| name);
        let is_kept = |name: &&str| name.starts_with("reserved") || self.row(name).is_some();
        let mut names: Vec<String> = old.filter(is_kept).map(str::to_owned).collect();
        for row in self.rows {
            if !names.iter().any(|name| name == row.name) {
                names.push(row.name.into());
            }
        }
        // A later version may use padding, which old callers do not set to zero.
        let words = names.iter().rev().take_while(|name| self.kind_of(name).1 == "u32").count();
        if words % 2 == 1 {
            names.push(format!("reserved{}", names.len()));
        }
        names
    }

    fn row(&self, name: &str) -> Option<&'static Setting> {
        self.rows.iter().find(|row| row.name == name)
    }

    /// Variant of `Field`, and type.
    fn kind_of(&self, name: &str) -> (&'static str, &'static str) {
        match self.row(name).map(shape) {
            Some(Shape::Whole) => ("Whole", "u32"),
            Some(Shape::Decimal(_)) => ("Number", "f64"),
            Some(Shape::Words(_)) => ("Word", "u32"),
            Some(Shape::Text) => ("Text", "*const c_char"),
            None => ("Reserved", "u32"),
        }
    }

    fn doc_of(&self, name: &str) -> String {
        let Some(row) = self.row(name) else { return "Zero.".into() };
        let is_or = |list: Vec<String>| match list.as_slice() {
            [most @ .., last] if !most.is_empty() => format!("{} or {last}", most.join(", ")),
            list => list.concat(),
        };
        let words = Words::of(row);
        let values = row.values();
        let range = row.word().and_then(|word| values.strip_suffix(&format!(", or {word}"))).unwrap_or(&values);
        let values = match &words {
            Some(of) => is_or(of.words.iter().map(|(_, _, constant)| constant.clone()).collect()),
            None if row.word() == Some("never") => format!("{range}, or OPTR_NEVER"),
            None if shape(row) == Shape::Text => String::new(),
            None => range.into(),
        };
        let constant = |word: &str| words.iter().flat_map(|of| &of.words).find(|(_, of, _)| *of == word);
        let default = match (constant(row.default), shape(row)) {
            (Some((_, _, constant)), _) => constant.clone(),
            (None, Shape::Decimal(unit)) if row.word() != Some(row.default) => format!("{} {unit}", row.default),
            (None, _) => row.default.into(),
        };
        let details = if self.is_config { "" } else { &row.details() };
        let values = if values.is_empty() { values } else { format!(" Values: {values}.") };
        format!("{}{values} Default: {default}.\n\n{details}", row.summary()).trim_end().into()
    }

    fn enums(&self) -> Vec<Words> {
        let is_own = |of: &Words| of.name != "optr_switch_t";
        self.rows.iter().filter_map(Words::of).filter(is_own).collect()
    }

    fn source(&self, committed: &str) -> String {
        let Self { name, .. } = self;
        let mut out = doc("", &self.doc);
        write!(out, "#[repr(C)]\n#[derive(Clone, Copy, Debug)]\npub struct {name} {{\n    /// sizeof({name}).\n")
            .unwrap();
        out += "    pub size: usize,\n";
        let names = self.names(committed);
        for name in &names {
            let of = self.kind_of(name).1;
            writeln!(out, "{}    pub {name}: {of},", doc("    ", &self.doc_of(name))).unwrap();
        }
        write!(
            out,
            "}}\n\nimpl {name} {{\n    /// Returns all defaults.\n    pub fn zero() -> Self {{\n        Self {{\n"
        )
        .unwrap();
        out += "            size: size_of::<Self>(),\n";
        for name in &names {
            let zero = match self.kind_of(name).1 {
                "f64" => "0.0",
                "u32" => "0",
                _ => "null()",
            };
            writeln!(out, "            {name}: {zero},").unwrap();
        }
        write!(out, "        }}\n    }}\n\n    /// Fields, by the names of their settings.\n").unwrap();
        out += "    pub fn fields(&mut self) -> Vec<(&'static str, Field<'_>)> {\n        vec![\n";
        for name in &names {
            writeln!(out, "            (\"{name}\", Field::{}(&mut self.{name})),", self.kind_of(name).0).unwrap();
        }
        out + "        ]\n    }\n}\n"
    }
}

/// Lines of a doc comment, wrapped.
fn doc(indent: &str, text: &str) -> String {
    let mut lines = Vec::new();
    for paragraph in text.split("\n\n") {
        let mut line = String::new();
        for word in paragraph.split_whitespace() {
            if indent.len() + 4 + line.len() + 1 + word.len() > 100 {
                lines.push(std::mem::take(&mut line));
            }
            line = if line.is_empty() { word.into() } else { line + " " + word };
        }
        lines.extend([line, String::new()]);
    }
    lines.pop();
    lines.iter().map(|line| format!("{indent}/// {line}").trim_end().to_owned() + "\n").collect()
}

fn settings_file() -> PathBuf {
    Path::new(HERE).join("src/types/settings.rs")
}

/// Source of the structs of settings.
fn settings_source() -> String {
    let committed = std::fs::read_to_string(settings_file()).unwrap_or_default();
    let mut out = String::from(
        "//! Structs of settings. Generated by tests/header.rs from the tables of `optireduce`; do not edit.\n\
         #![allow(non_camel_case_types, missing_docs)]\n\nuse std::ffi::c_char;\nuse std::ptr::null;\n\nuse crate::field::Field;\n",
    );
    let (structs, mut known) = (structs(), BTreeSet::new());
    for Words { name, default, words } in structs.iter().flat_map(Struct::enums) {
        if known.insert(name.clone()) {
            let setting = name.trim_start_matches("optr_").trim_end_matches("_t");
            write!(out, "\n/// Values of the setting {setting}. {default} is the documented default.\n").unwrap();
            write!(out, "#[repr(u32)]\n#[derive(Clone, Copy, Debug, PartialEq, Eq)]\npub enum {name} {{\n").unwrap();
            writeln!(out, "    {default} = 0,").unwrap();
            words.iter().for_each(|(number, _, constant)| writeln!(out, "    {constant} = {number},").unwrap());
            out += "}\n";
        }
    }
    structs.iter().for_each(|of| write!(out, "\n{}", of.source(&committed)).unwrap());
    out
}

/// Compares a committed file with its source, or writes it.
fn check(file: &Path, generated: &str) {
    if std::env::var_os("OPTIREDUCE_WRITE_HEADER").is_some() {
        std::fs::write(file, generated).unwrap();
    }
    let committed = std::fs::read_to_string(file).unwrap_or_default();
    let differs = committed.lines().zip(generated.lines()).position(|(committed, generated)| committed != generated);
    assert!(
        committed == generated,
        "{} differs from its source in line {:?}; write it again: OPTIREDUCE_WRITE_HEADER=1 cargo test -p optireduce-ffi \
         --test header",
        file.display(),
        differs.map(|line| line + 1)
    );
}

fn generated() -> String {
    let mut config = cbindgen::Config::from_file(Path::new(HERE).join("cbindgen.toml")).unwrap();
    config.export.include.extend(structs().iter().flat_map(Struct::enums).map(|of| of.name));
    let sources = [
        "types",
        "types/settings",
        "types/partial",
        "abi/library",
        "abi/comm",
        "abi/exact",
        "abi/message",
        "abi/bucket",
        "abi/memory",
        "abi/partial",
        "abi/request",
    ];
    let builder = sources.iter().fold(cbindgen::Builder::new().with_config(config), |builder, name| {
        builder.with_src(Path::new(HERE).join("src").join(format!("{name}.rs")))
    });
    let mut header = Vec::new();
    builder.generate().unwrap().write(&mut header);
    String::from_utf8(header).unwrap()
}

#[test]
fn the_header_is_current() {
    // First, since the header follows from it.
    check(&settings_file(), &settings_source());
    check(&Path::new(HERE).join("include/optireduce.h"), &generated());
}

#[test]
fn every_function_says_which_threads_may_call_it() {
    let header = generated();
    let mut functions = 0;
    let mut comment = String::new();
    for line in header.lines() {
        if line.starts_with("//") {
            comment.push_str(line);
            continue;
        }
        if line.contains(" optr_")
            && line.contains('(')
            && !line.starts_with("typedef")
            && !line.starts_with([' ', 's'])
        {
            functions += 1;
            assert!(comment.contains("Threads: "), "{line}{comment}");
        }
        comment.clear();
    }
    assert!(functions > 30, "{functions} functions");
}

#[test]
fn the_version_is_that_of_the_package() {
    let parts: Vec<u32> = env!("CARGO_PKG_VERSION").split('.').map(|part| part.parse().unwrap()).collect();
    assert_eq!(optireduce_c::types::OPTR_VERSION, 10_000 * parts[0] + 100 * parts[1] + parts[2]);
    assert!(generated().contains(&format!("#define OPTR_VERSION {}\n", optireduce_c::types::OPTR_VERSION)));
}
