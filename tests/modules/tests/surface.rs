//! The public surface of the crate `optireduce`: names at the root, methods, fields and variants.
//! With OPTIREDUCE_WRITE_SURFACE=1 the test writes `surface.txt`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use quote::ToTokens as _;
use syn::{Attribute, Fields, ImplItem, Item, UseTree, Visibility};

/// Most methods of the types that everybody uses, and most names at the root.
const MOST: [(&str, usize); 4] = [("Communicator", 19), ("Bucket", 9), ("Exact", 7), ("Request", 3)];
const MOST_NAMES: usize = 44;

fn crate_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../host-lib").canonicalize().unwrap()
}

fn is_hidden(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let text = attribute.to_token_stream().to_string();
        text.contains("hidden") || text.contains("cfg (test)") || text.contains("cfg (fuzzing)")
    })
}

fn is_public(visibility: &Visibility, attributes: &[Attribute]) -> bool {
    matches!(visibility, Visibility::Public(_)) && !is_hidden(attributes)
}

/// Public names of a `use`.
fn names(tree: &UseTree, found: &mut BTreeSet<String>) {
    match tree {
        UseTree::Path(path) => names(&path.tree, found),
        UseTree::Group(group) => group.items.iter().for_each(|item| names(item, found)),
        UseTree::Name(name) => drop(found.insert(name.ident.to_string())),
        UseTree::Rename(rename) => drop(found.insert(rename.rename.to_string())),
        UseTree::Glob(_) => panic!("a glob at the root hides names"),
    }
}

/// Public names of a file or module: reexports, types, functions and constants.
fn public_names(items: &[Item]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for item in items {
        let (visibility, attributes, name) = match item {
            Item::Use(item) if is_public(&item.vis, &item.attrs) => {
                names(&item.tree, &mut found);
                continue;
            }
            Item::Mod(item) => (&item.vis, &item.attrs, &item.ident),
            Item::Struct(item) => (&item.vis, &item.attrs, &item.ident),
            Item::Enum(item) => (&item.vis, &item.attrs, &item.ident),
            Item::Fn(item) => (&item.vis, &item.attrs, &item.sig.ident),
            _ => continue,
        };
        found.extend(is_public(visibility, attributes).then(|| name.to_string()));
    }
    found
}

/// Names of public modules, with the module's.
fn names_in_modules(root: &[Item], of_file: impl Fn(&str) -> Vec<Item>) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for item in root {
        if let Item::Mod(item) = item
            && is_public(&item.vis, &item.attrs)
        {
            let module = item.ident.to_string();
            let items = item.content.as_ref().map_or_else(|| of_file(&module), |(_, items)| items.clone());
            found.extend(public_names(&items).into_iter().map(|name| (module.clone(), name)));
        }
    }
    found
}

fn add_fields(of: &str, fields: &Fields, found: &mut BTreeSet<String>) {
    for field in fields.iter().filter(|field| is_public(&field.vis, &field.attrs)) {
        found.extend(field.ident.as_ref().map(|name| format!("{of}.{name}")));
    }
}

/// Adds methods, fields and variants of `known` types.
fn add_members(items: &[Item], known: &BTreeSet<String>, found: &mut BTreeSet<String>) {
    for item in items {
        match item {
            Item::Struct(item) if known.contains(&item.ident.to_string()) && is_public(&item.vis, &item.attrs) => {
                add_fields(&item.ident.to_string(), &item.fields, found);
            }
            Item::Enum(item) if known.contains(&item.ident.to_string()) && is_public(&item.vis, &item.attrs) => {
                found.extend(item.variants.iter().map(|variant| format!("{}::{}", item.ident, variant.ident)));
            }
            Item::Impl(item) if item.trait_.is_none() && !is_hidden(&item.attrs) => {
                let of = item.self_ty.to_token_stream().to_string();
                let of = of.split_whitespace().next().unwrap_or_default().to_owned();
                for member in item.items.iter().filter(|_| known.contains(&of)) {
                    match member {
                        ImplItem::Fn(method) if is_public(&method.vis, &method.attrs) => {
                            found.insert(format!("{of}::{}()", method.sig.ident));
                        }
                        ImplItem::Const(constant) if is_public(&constant.vis, &constant.attrs) => {
                            found.insert(format!("{of}::{}", constant.ident));
                        }
                        _ => {}
                    }
                }
            }
            Item::Mod(item) if !is_hidden(&item.attrs) => {
                add_members(item.content.as_ref().map_or(&[], |(_, items)| items), known, found);
            }
            _ => {}
        }
    }
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for path in fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()) {
        match path.is_dir() {
            true => sources(&path, found),
            false => found.extend(path.extension().is_some_and(|end| end == "rs").then_some(path)),
        }
    }
}

fn surface() -> BTreeSet<String> {
    let read = |path: &Path| syn::parse_file(&fs::read_to_string(path).unwrap()).unwrap();
    let (folder, mut files) = (crate_folder().join("src"), Vec::new());
    let root = read(&folder.join("lib.rs")).items;
    let nested = names_in_modules(&root, |module| read(&folder.join(module).with_extension("rs")).items);
    let mut found = public_names(&root);
    let known = found.iter().cloned().chain(nested.iter().map(|(_, name)| name.clone())).collect();
    found.extend(nested.into_iter().map(|(module, name)| format!("{module}::{name}")));
    sources(&folder, &mut files);
    files.iter().for_each(|file| add_members(&read(file).items, &known, &mut found));
    found
}

#[test]
fn the_public_surface_is_the_committed_one() {
    let (file, surface) = (crate_folder().join("tests/surface.txt"), surface());
    let text: String = surface.iter().map(|line| format!("{line}\n")).collect();
    if std::env::var_os("OPTIREDUCE_WRITE_SURFACE").is_some() {
        fs::write(&file, &text).unwrap();
    }
    let committed = fs::read_to_string(&file).unwrap();
    let committed: BTreeSet<String> = committed.lines().map(str::to_owned).collect();
    let of = |one: &BTreeSet<String>, other: &BTreeSet<String>| one.difference(other).cloned().collect::<Vec<_>>();
    let (more, fewer) = (of(&surface, &committed), of(&committed, &surface));
    assert!(
        more.is_empty() && fewer.is_empty(),
        "host-lib/tests/surface.txt lacks {more:?} and has {fewer:?}: with OPTIREDUCE_WRITE_SURFACE=1 this test writes it"
    );
    for (of, most) in MOST {
        let methods =
            surface.iter().filter(|line| line.starts_with(&format!("{of}::")) && line.ends_with("()")).count();
        assert!((1..=most).contains(&methods), "{of} has {methods} methods, expected at most {most}");
    }
    let names = surface.iter().filter(|line| !line.contains([':', '.'])).count();
    assert!(names <= MOST_NAMES, "{names} names at the root, expected at most {MOST_NAMES}");
}
