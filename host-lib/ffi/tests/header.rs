//! Checks the committed header against the source, and that every function states its threads.

use std::path::Path;

const HERE: &str = env!("CARGO_MANIFEST_DIR");

fn generated() -> String {
    let config = cbindgen::Config::from_file(Path::new(HERE).join("cbindgen.toml")).unwrap();
    let sources = [
        "types",
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
    let file = Path::new(HERE).join("include/optireduce.h");
    let header = generated();
    if std::env::var_os("OPTIREDUCE_WRITE_HEADER").is_some() {
        std::fs::write(&file, &header).unwrap();
    }
    let committed = std::fs::read_to_string(&file).unwrap_or_default();
    let differs = committed.lines().zip(header.lines()).position(|(committed, header)| committed != header);
    assert!(
        committed == header,
        "include/optireduce.h differs from the source in line {:?}; regenerate it: OPTIREDUCE_WRITE_HEADER=1 cargo test -p \
         optireduce-ffi --test header",
        differs.map(|line| line + 1)
    );
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
fn the_fields_of_the_config_state_the_ranges_and_defaults_of_the_settings() {
    let header = generated();
    let config = header.split_once("typedef struct optr_config_t {").unwrap().1.split_once('}').unwrap().0;
    let (mut doc, mut fields) = (String::new(), 0);
    for line in config.lines().map(str::trim) {
        if let Some(text) = line.strip_prefix("//") {
            doc.push_str(text);
            continue;
        }
        let name = line.trim_end_matches(';').rsplit([' ', '*']).next().unwrap();
        if let Some(row) = optireduce::SETTINGS.iter().find(|row| row.name == name) {
            let values = row.values();
            let range =
                values.split(',').next().filter(|range| range.starts_with(|first: char| first.is_ascii_digit()));
            // Any number of collectives is possible.
            let range = range.filter(|_| name != "drop_silent_after").unwrap_or_default();
            let default = match row.default {
                "off" => "OPTR_OFF",
                "this_update" => "OPTR_REPAIR_THIS_UPDATE",
                "auto" if range.is_empty() && name != "interface" => "OPTR_AUTO",
                "adaptive" => "OPTR_AUTO",
                "auto" | "measured" | "none" | "launcher's" => "",
                number => number,
            };
            assert!(
                doc.contains(range) && doc.contains(&format!("Default: {default}")),
                "{name}: {range}, {default}, {doc}"
            );
            fields += 1;
        }
        doc.clear();
    }
    assert_eq!(fields, optireduce::SETTINGS.len() - 4, "all but rank, world_size, root and job_id");
}

#[test]
fn the_version_is_that_of_the_package() {
    let parts: Vec<u32> = env!("CARGO_PKG_VERSION").split('.').map(|part| part.parse().unwrap()).collect();
    assert_eq!(optireduce_c::types::OPTR_VERSION, 10_000 * parts[0] + 100 * parts[1] + parts[2]);
    assert!(generated().contains(&format!("#define OPTR_VERSION {}\n", optireduce_c::types::OPTR_VERSION)));
}
