//! The policy of deny.toml, for machines without cargo-deny: bans, licences and sources.

use std::path::Path;
use std::process::Command;

use serde_json::Value;
use spdx::{Expression, LicenseReq, Licensee};

fn texts(list: &toml::Value) -> Vec<&str> {
    list.as_array().into_iter().flatten().filter_map(toml::Value::as_str).collect()
}

/// Packages of the dependency graph on a target, from `cargo metadata`. The field `uses` lists the
/// direct dependencies of a package by id.
fn packages(root: &Path, target: &str) -> Vec<Value> {
    let mut command = Command::new(env!("CARGO"));
    command.args(["metadata", "--format-version", "1", "--locked", "--all-features", "--filter-platform", target]);
    let output = command.current_dir(root).output().expect("cargo starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let of = |node: &Value| {
        let mut package = packages.iter().find(|package| package["id"] == node["id"]).unwrap().clone();
        package["uses"] = node["dependencies"].clone();
        package
    };
    metadata["resolve"]["nodes"].as_array().unwrap().iter().map(of).collect()
}

/// Returns how packages break a policy.
fn broken(policy: &toml::Table, packages: &[Value]) -> Vec<String> {
    let licences = &policy["licenses"];
    let allows = |list: &toml::Value, wanted: &LicenseReq| {
        texts(list).iter().any(|one| Licensee::parse(one).unwrap_or_else(|error| panic!("{error}")).satisfies(wanted))
    };
    let exceptions = licences["exceptions"].as_array().unwrap();
    let banned = policy["bans"]["deny"].as_array().unwrap();
    let mut found = Vec::new();
    for package in packages {
        let name = package["name"].as_str().unwrap();
        let mut is_allowed = |what: &str, is: bool| {
            if !is {
                found.push(format!("{name} {}: {what}", package["version"].as_str().unwrap_or_default()));
            }
        };
        let text = package["license"].as_str().unwrap_or("none");
        let own = exceptions.iter().find(|one| one["crate"].as_str() == Some(name));
        let licence = Expression::parse_mode(text, spdx::ParseMode::LAX);
        let is_free = licence.is_ok_and(|licence| {
            licence.evaluate(|one| allows(&licences["allow"], one) || own.is_some_and(|own| allows(&own["allow"], one)))
        });
        is_allowed(&format!("licence {text}, allowed are those in deny.toml"), is_free);
        let source = package["source"].as_str();
        let is_known = source.is_none_or(|source| source.starts_with("registry+") && source.contains("crates.io"));
        is_allowed(&format!("from {}, expected crates.io", source.unwrap_or_default()), is_known);
        for needed in package["dependencies"].as_array().unwrap() {
            let is_wild = needed["req"] == "*" && !needed["path"].is_string();
            is_allowed(&format!("needs {} in any version", needed["name"]), !is_wild);
        }
        for used in packages.iter().filter(|one| package["uses"].as_array().unwrap().contains(&one["id"])) {
            if let Some(ban) = banned.iter().find(|ban| ban["crate"].as_str() == used["name"].as_str()) {
                let is_wrapped = ban.get("wrappers").is_some_and(|wrappers| texts(wrappers).contains(&name));
                is_allowed(&format!("uses {}, which deny.toml bans", used["name"]), is_wrapped);
            }
        }
    }
    found
}

#[test]
fn dependencies_are_as_the_policy_permits() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let policy: toml::Table = std::fs::read_to_string(root.join("deny.toml")).unwrap().parse().unwrap();
    let targets = texts(&policy["graph"]["targets"]);
    assert_eq!(targets.len(), 2);
    for target in targets {
        let packages = &mut packages(&root, target);
        assert!(packages.len() > 200, "{}", packages.len());
        let found = broken(&policy, packages);
        assert!(found.is_empty(), "{}", found.join("\n"));
        let clap = packages.iter().find(|package| package["name"] == "clap").unwrap()["id"].clone();
        // Each kind is found.
        let mut breaks = |name: &str, field: &str, value: Value, what: &str| {
            let at = packages.iter().position(|package| package["name"] == name).unwrap();
            let before = std::mem::replace(&mut packages[at][field], value);
            let found = broken(&policy, packages);
            assert!(found.len() == 1 && found[0].contains(what), "{field} of {name}: {found:?}");
            packages[at][field] = before;
        };
        breaks("tokio", "license", "GPL-3.0-only".into(), "licence GPL-3.0-only");
        breaks("cbindgen", "license", "MIT AND GPL-2.0-only".into(), "licence MIT AND");
        breaks("tokio", "source", "git+https://example.org/tokio".into(), "expected crates.io");
        let wild = serde_json::json!([{"name": "serde", "req": "*", "path": null}]);
        breaks("optireduce-core", "dependencies", wild, "needs \"serde\" in any version");
        breaks("optireduce", "uses", serde_json::json!([clap]), "uses \"clap\", which deny.toml bans");
    }
}
