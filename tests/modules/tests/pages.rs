//! Checks of pages and comments that need no taste: widths, lengths, links, commands, file lists.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

/// Widest line of Markdown and comments, in columns.
const COLUMNS: usize = 100;
/// Words of all pages together, as `wc -w` counts them.
const WORDS_ALL: usize = 25_000;
/// Words of a page that [`PAGES`] does not name.
const WORDS: usize = 1200;
/// Words of other pages. Results have no limit of their own.
const PAGES: [(&str, usize); 8] = [
    ("README.md", 600),
    ("ARCHITECTURE.md", 1500),
    ("CHANGELOG.md", 900),
    ("CONTRIBUTING.md", 900),
    ("SECURITY.md", 900),
    ("tests/badnet/results.md", WORDS_ALL),
    ("tests/training/results.md", WORDS_ALL),
    ("tests/training/stragglers.md", WORDS_ALL),
];
/// First words of a doc comment that name nothing.
const PRONOUNS: [&str; 5] = ["What", "Who", "Whose", "Whom", "Which"];
/// Files with comments, by their ending, and how comments begin there.
const COMMENTS: [(&str, &[&str]); 12] = [
    ("rs", &["//"]),
    ("v", &["//"]),
    ("vh", &["//"]),
    ("tcl", &["# "]),
    ("c", &["//"]),
    ("cpp", &["//"]),
    ("sv", &["//"]),
    ("py", &["# ", "#:"]),
    ("pyi", &["# ", "#:"]),
    ("toml", &["# "]),
    ("yml", &["# "]),
    ("", &["# "]),
];
/// Files written by programs, and files whose hashes a bitstream's manifest has.
const GENERATED: [&str; 5] =
    ["hw/rtl", "tests/fuzz/corpus", "Cargo.lock", "bitstreams/ecp5-85f/shell.v", "hw/tools/src/flows/tie.v"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Returns all text files of the repository, with their paths from its root.
fn files() -> Vec<(String, String)> {
    fn walk(root: &Path, folder: &Path, found: &mut Vec<(String, String)>) {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let path = entry.path();
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
            let is_ours = !is_hidden || [".ci", ".github", ".cargo"].contains(&name.as_str());
            if !is_ours || name == "target" || name == "tests/fuzz/target" || GENERATED.contains(&name.as_str()) {
                continue;
            }
            if path.is_dir() {
                walk(root, &path, found);
            } else if let Ok(text) = fs::read_to_string(&path) {
                found.push((name, text));
            }
        }
    }
    let (root, mut found) = (root(), Vec::new());
    walk(&root, &root, &mut found);
    assert!(found.len() > 500, "{} files in {}", found.len(), root.display());
    found.sort();
    found
}

fn pages() -> Vec<(String, String)> {
    files().into_iter().filter(|(name, _)| name.ends_with(".md")).collect()
}

fn assert_none(found: &[String], advice: &str) {
    assert!(found.is_empty(), "{} found; {advice}:\n{}", found.len(), found.join("\n"));
}

/// Returns the numbers of the lines of a page that cannot be wrapped: code and tables.
fn unwrappable(text: &str) -> BTreeSet<usize> {
    let mut lines = BTreeSet::new();
    for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
        if matches!(event, Event::Start(Tag::CodeBlock(_) | Tag::Table(_) | Tag::HtmlBlock)) {
            let first = text[..range.start].lines().count();
            lines.extend(first..=first + text[range].lines().count());
        }
    }
    lines
}

#[test]
fn lines_of_markdown_and_comments_are_at_most_100_columns_wide() {
    let mut found = Vec::new();
    for (name, text) in files() {
        let is_page = name.ends_with(".md");
        let file = Path::new(&name).file_name().unwrap().to_str().unwrap();
        let ending = file.rsplit_once('.').map_or("", |(_, ending)| ending);
        let begins = COMMENTS.iter().find(|(of, _)| *of == ending).map_or(&[][..], |(_, begins)| *begins);
        // Comments of code become a page of the same lines.
        let comment = |line: &str| {
            let line = line.trim_start();
            let begin = begins.iter().find(|begin| line.starts_with(**begin));
            begin.map_or("", |_| line.trim_start_matches(['/', '!', '#', ':'])).to_owned()
        };
        let comments = || text.lines().map(|line| comment(line).trim_start().to_owned() + "\n").collect();
        let prose: String = if is_page { text.clone() } else { comments() };
        let free = unwrappable(&prose);
        for ((number, line), prose) in (1..).zip(text.lines()).zip(prose.lines()) {
            let (columns, words) = (line.chars().count(), prose.trim_start());
            // One word that is too long, such as an address, cannot be wrapped.
            let longest = words.split(' ').map(|word| word.chars().count()).max().unwrap_or_default();
            if columns > COLUMNS && !words.is_empty() && !free.contains(&number) && longest < COLUMNS - 20 {
                found.push(format!("{name}:{number}: {columns} columns"));
            }
        }
    }
    assert_none(&found, &format!("wrap at {COLUMNS} columns"));
}

#[test]
fn pages_are_no_longer_than_readers_have_patience() {
    let (mut found, mut all) = (Vec::new(), 0);
    for (name, text) in pages() {
        let words = text.split_whitespace().count();
        let limit = PAGES.iter().find(|(page, _)| *page == name).map_or(WORDS, |(_, limit)| *limit);
        if words > limit {
            found.push(format!("{name}: {words} words, expected at most {limit}"));
        }
        all += words;
    }
    if all > WORDS_ALL {
        found.push(format!("all pages: {all} words, expected at most {WORDS_ALL}"));
    }
    assert_none(&found, "cut, or move figures to what a command writes");
}

/// Returns the anchors of the headings of a page, as GitHub makes them.
fn anchors(text: &str) -> BTreeSet<String> {
    let (mut anchors, mut heading) = (BTreeSet::new(), None::<String>);
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        match (event, &mut heading) {
            (Event::Start(Tag::Heading { .. }), _) => heading = Some(String::new()),
            (Event::End(TagEnd::Heading(_)), Some(words)) => {
                let kept = words.chars().filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
                anchors.insert(kept.collect::<String>().to_lowercase().replace(' ', "-"));
                heading = None;
            }
            (Event::Text(text) | Event::Code(text), Some(words)) => words.push_str(&text),
            _ => {}
        }
    }
    anchors
}

#[test]
fn links_between_pages_resolve() {
    let (root, mut found, mut links) = (root(), Vec::new(), 0);
    for (name, text) in pages() {
        for event in Parser::new_ext(&text, Options::ENABLE_TABLES) {
            let (Event::Start(Tag::Link { dest_url, .. }) | Event::Start(Tag::Image { dest_url, .. })) = event else {
                continue;
            };
            // `../../actions` is a page of the forge beside the repository.
            if dest_url.contains("://") || dest_url.starts_with("../../actions/") {
                continue;
            }
            links += 1;
            let (file, anchor) = dest_url.split_once('#').unwrap_or((&dest_url, ""));
            let page = root.join(&name);
            let target = if file.is_empty() { page.clone() } else { page.parent().unwrap().join(file) };
            if !target.exists() {
                found.push(format!("{name}: {dest_url}: there is no such file"));
            } else if !anchor.is_empty() && target.extension().is_some_and(|ending| ending == "md") {
                let is_there = anchors(&fs::read_to_string(&target).unwrap()).contains(anchor);
                if !is_there {
                    found.push(format!("{name}: {dest_url}: the page has no such heading"));
                }
            }
        }
    }
    assert!(links > 50, "{links} links");
    assert_none(&found, "mend the link or the heading");
}

/// Returns the lines of a page that a reader may type.
fn commands(text: &str) -> Vec<String> {
    let (mut lines, mut is_shell) = (Vec::new(), false);
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::CodeBlock(kind)) => {
                is_shell = match kind {
                    CodeBlockKind::Indented => true,
                    CodeBlockKind::Fenced(language) => ["sh", "bash"].contains(&&*language),
                };
            }
            Event::End(TagEnd::CodeBlock) => is_shell = false,
            Event::Text(text) if is_shell => lines.extend(text.lines().map(str::to_owned)),
            _ => {}
        }
    }
    lines
}

/// Returns the word behind `option`.
fn after<'a>(words: &[&'a str], option: &str) -> Option<&'a str> {
    words.iter().position(|word| *word == option).and_then(|at| words.get(at + 1)).copied()
}

#[test]
fn scripts_packages_and_tests_that_pages_name_exist() {
    let root = root();
    let all = files();
    let packages: BTreeSet<String> = (all.iter().filter(|(name, _)| name.ends_with("Cargo.toml")))
        .filter_map(|(_, text)| text.split_once("\nname = \"").and_then(|(_, rest)| rest.split_once('"')))
        .map(|(name, _)| name.to_owned())
        .collect();
    let named = |of: &str, name: &str| {
        let place = [format!("{of}s/{name}.rs"), format!("{of}s/{name}/main.rs")];
        let listed = format!("[[{of}]]\nname = \"{name}\"");
        all.iter().any(|(file, text)| {
            place.iter().any(|place| file.ends_with(place)) || file.ends_with("Cargo.toml") && text.contains(&listed)
        })
    };
    let (mut found, mut seen) = (Vec::new(), 0);
    for (name, text) in pages() {
        for line in commands(&text) {
            let line = line.split('#').next().unwrap_or_default();
            let words: Vec<&str> = line.split_whitespace().skip_while(|word| word.contains('=')).collect();
            let Some(first) = words.first() else { continue };
            let folder = ["tests/", "host-lib/", "driver/", "sim/", "hw/", "bitstreams/"];
            let mut check = |what: &str, is_there: bool| {
                seen += 1;
                if !is_there {
                    found.push(format!("{name}: `{line}`: there is no {what}"));
                }
            };
            if folder.iter().any(|folder| first.starts_with(folder)) {
                check(first, root.join(first).is_file());
            }
            // Scripts that launchers and interpreters start.
            for script in words[1..].iter().filter(|word| word.contains('/') && word.ends_with(".py")) {
                check(script, root.join(script).is_file());
            }
            if *first == "cargo" {
                let cargo: Vec<&str> = words.iter().copied().take_while(|word| *word != "--").collect();
                if let Some(package) = after(&cargo, "-p") {
                    check(package, packages.contains(package));
                }
                for kind in ["test", "example"] {
                    if let Some(target) = after(&cargo, &format!("--{kind}")) {
                        check(target, named(kind, target));
                    }
                }
                if let Some(path) = after(&cargo, "--path") {
                    check(path, root.join(path).join("Cargo.toml").is_file());
                }
            }
        }
    }
    assert!(seen > 30, "{seen} commands");
    assert_none(&found, "mend the command");
}

#[test]
fn doc_comments_begin_with_what_they_are_about() {
    let mut found = Vec::new();
    for (name, text) in files().iter().filter(|(name, _)| name.ends_with(".rs")) {
        let mut before = "";
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.trim_start();
            let comment = ["///", "//!"].iter().find_map(|begin| line.strip_prefix(begin)).map(str::trim);
            let first = comment.filter(|_| before.is_empty()).and_then(|words| words.split([' ', ',', '.']).next());
            if let Some(first) = first
                && PRONOUNS.contains(&first)
                && !comment.is_some_and(|words| words.ends_with('?'))
            {
                found.push(format!("{name}:{number}: {line}"));
            }
            before = comment.unwrap_or_default();
        }
    }
    assert_none(&found, "begin with a noun or a verb: \"Number of ...\", \"Returns ...\"");
}

#[test]
fn security_names_all_files_with_unsafe_code() {
    let all = files();
    let (_, security) = all.iter().find(|(name, _)| name == "SECURITY.md").unwrap();
    let named: Vec<&str> = security.split('`').skip(1).step_by(2).filter(|word| word.contains('/')).collect();
    let kinds = ["{", "fn", "impl", "extern"].map(|kind| format!("unsafe {kind}"));
    let is_unsafe = |text: &str| {
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        code.into_iter().any(|line| kinds.iter().any(|kind| line.contains(kind.as_str())))
    };
    let with: Vec<&str> = (all.iter().filter(|(name, text)| name.ends_with(".rs") && is_unsafe(text)))
        .map(|(name, _)| name.as_str())
        .filter(|name| *name != "tests/modules/tests/pages.rs")
        .collect();
    assert!(with.len() > 20, "{with:?}");
    let unnamed: Vec<String> = (with.iter().filter(|file| !named.iter().any(|name| file.starts_with(name))))
        .map(|file| (*file).to_owned())
        .collect();
    assert_none(&unnamed, "name them in SECURITY.md, \"Unsafe code\"");
    let stale: Vec<String> = (named.iter().filter(|name| name.ends_with(".rs") && !name.contains("secret/")))
        .filter(|name| !with.contains(name))
        .map(|name| (*name).to_owned())
        .collect();
    assert_none(&stale, "SECURITY.md names them, but they have no unsafe code");
}
