//! Dependencies between the modules of a crate, and cycles among them.
//!
//! Modules in a cycle cannot be read, tested or replaced alone, so dependencies among children of
//! one module (including the crate's root) must be acyclic.
//!
//! A dependency is a path that begins with `crate`, `super` or `self`. A re-export (`pub use
//! child::Name`) leads on to the child. Paths between a parent's own file and its children do not
//! count. Tests (`#[cfg(test)]`) may use anything.
//!
//! Limits: sources are read as tokens, so names from macros, glob imports and methods are not seen.
//! A module with `#[path]` is refused.

mod tokens;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fs, io};

use tokens::{Token, tokens};

/// Names of modules from the crate's root down; empty for the root.
pub type ModulePath = Vec<String>;

/// Modules of a crate.
#[derive(Debug, Default)]
pub struct Crate {
    modules: BTreeMap<ModulePath, Module>,
}

#[derive(Debug, Default)]
struct Module {
    /// Used paths, resolved to names from the crate's root down.
    uses: Vec<Vec<String>>,
    /// Names that the module re-exports, and their paths from the module down.
    passed_on: BTreeMap<String, Vec<String>>,
}

/// A cycle among the children of `parent`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Circle {
    /// Parent module.
    pub parent: ModulePath,
    /// A shortest cycle, without repeating its first module.
    pub modules: Vec<String>,
    /// Strongly connected component of the cycle.
    pub knot: BTreeSet<String>,
}

impl std::fmt::Display for Circle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let parent = self.parent.iter().map(|name| format!("{name}::")).collect::<String>();
        let first = self.modules.first().into_iter();
        let names: Vec<_> = self.modules.iter().chain(first).map(|name| format!("{parent}{name}")).collect();
        f.write_str(&names.join(" -> "))?;
        if self.knot.len() > self.modules.len() {
            let knot: Vec<_> = self.knot.iter().map(String::as_str).collect();
            write!(f, ", in a knot of {}", knot.join(", "))?;
        }
        Ok(())
    }
}

impl Crate {
    /// Reads a crate from its root file, `lib.rs` or `main.rs`.
    ///
    /// # Errors
    /// If a module's file cannot be read.
    pub fn read(root: &Path) -> io::Result<Self> {
        let mut found = Self::default();
        let folder = root.parent().unwrap_or(Path::new("")).to_owned();
        found.read_file(&[], root, &folder)?;
        Ok(found)
    }

    fn read_file(&mut self, path: &[String], file: &Path, folder: &Path) -> io::Result<()> {
        let source = fs::read_to_string(file)
            .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", file.display())))?;
        for name in self.add(path, &source) {
            let (beside, below) = (folder.join(format!("{name}.rs")), folder.join(&name).join("mod.rs"));
            let child: Vec<_> = path.iter().cloned().chain([name.clone()]).collect();
            let file: PathBuf = if beside.is_file() { beside } else { below };
            self.read_file(&child, &file, &folder.join(name))?;
        }
        Ok(())
    }

    /// Adds a module. Returns its children in separate files.
    pub fn add(&mut self, path: &[String], source: &str) -> Vec<String> {
        let all = tokens(source);
        let mut children = Vec::new();
        self.add_tokens(path, &without_tests(&all), &mut children);
        children
    }

    fn add_tokens(&mut self, path: &[String], tokens: &[Token<'_>], children: &mut Vec<String>) {
        let mut module = Module::default();
        let mut at = 0;
        while at < tokens.len() {
            match tokens[at..] {
                [Token::Word("mod"), Token::Word(name), Token::Punct(';'), ..] => {
                    children.push(name.to_owned());
                    at += 3;
                }
                [Token::Word("mod"), Token::Word(name), Token::Punct('{'), ..] => {
                    let end = at + 2 + block(&tokens[at + 2..]);
                    let child: Vec<_> = path.iter().cloned().chain([name.to_owned()]).collect();
                    self.add_tokens(&child, &tokens[at + 3..end - 1], &mut Vec::new());
                    at = end;
                }
                [Token::Word("use"), ..] => {
                    let end = tokens[at..].iter().position(|token| *token == Token::Punct(';')).unwrap_or(0).max(1);
                    for (target, name) in use_tree(&tokens[at + 1..at + end]) {
                        match absolute(path, &target) {
                            Some(target) => module.uses.push(target),
                            None => drop(module.passed_on.insert(name, target)),
                        }
                    }
                    at += end;
                }
                [Token::Word("crate" | "super" | "self"), Token::PathSep, ..] => {
                    let (target, length) = plain_path(&tokens[at..]);
                    module.uses.extend(absolute(path, &target));
                    at += length;
                }
                _ => at += 1,
            }
        }
        self.modules.insert(path.to_vec(), module);
    }

    /// Returns, for each module with children, which child uses which others.
    pub fn uses(&self) -> BTreeMap<ModulePath, BTreeMap<String, BTreeSet<String>>> {
        let mut found: BTreeMap<ModulePath, BTreeMap<String, BTreeSet<String>>> = BTreeMap::new();
        for (path, module) in &self.modules {
            for used in &module.uses {
                let used = self.module_of(used);
                let shared = path.iter().zip(&used).take_while(|(a, b)| a == b).count();
                if let (Some(from), Some(to)) = (path.get(shared), used.get(shared)) {
                    let parent = found.entry(path[..shared].to_vec()).or_default();
                    parent.entry(from.clone()).or_default().insert(to.clone());
                }
            }
        }
        found
    }

    /// Returns a shortest cycle of each strongly connected component.
    pub fn circles(&self) -> Vec<Circle> {
        let mut circles = Vec::new();
        for (parent, uses) in self.uses() {
            let mut seen = BTreeSet::new();
            for from in uses.keys() {
                let Some(modules) = way_round(&uses, from).filter(|_| !seen.contains(from)) else { continue };
                // Modules of the same component are reported with this cycle.
                let reached = reachable(&uses, from).into_iter();
                let knot: BTreeSet<_> = reached.filter(|to| reachable(&uses, to).contains(from)).collect();
                seen.extend(knot.clone());
                circles.push(Circle { parent: parent.clone(), modules, knot });
            }
        }
        circles
    }

    /// Module that an absolute path leads to.
    fn module_of(&self, used: &[String]) -> ModulePath {
        let mut path: ModulePath = Vec::new();
        let mut rest: Vec<String> = used.to_vec();
        // Re-exports lead from parents to children, so the loop ends; the limit guards against
        // invalid sources.
        for _ in 0..100 {
            let Some(name) = rest.first().cloned() else { break };
            let child: Vec<_> = path.iter().cloned().chain([name.clone()]).collect();
            if self.modules.contains_key(&child) {
                path = child;
                rest.remove(0);
                continue;
            }
            let passed_on = self.modules.get(&path).and_then(|module| module.passed_on.get(&name));
            let Some(target) = passed_on.filter(|target| target.first() != Some(&name)) else { break };
            rest.splice(..1, target.iter().cloned());
        }
        path
    }
}

fn way_round(uses: &BTreeMap<String, BTreeSet<String>>, from: &str) -> Option<Vec<String>> {
    let mut ways = vec![vec![from.to_owned()]];
    let mut seen = BTreeSet::new();
    while !ways.is_empty() {
        let mut longer = Vec::new();
        for way in ways {
            for to in way.last().and_then(|last| uses.get(last)).into_iter().flatten() {
                if to == from {
                    return Some(way);
                }
                if seen.insert(to.clone()) {
                    longer.push(way.iter().cloned().chain([to.clone()]).collect());
                }
            }
        }
        ways = longer;
    }
    None
}

fn reachable(uses: &BTreeMap<String, BTreeSet<String>>, from: &str) -> BTreeSet<String> {
    let (mut seen, mut todo) = (BTreeSet::new(), vec![from.to_owned()]);
    while let Some(at) = todo.pop() {
        todo.extend(uses.get(&at).into_iter().flatten().filter(|to| seen.insert((*to).clone())).cloned());
    }
    seen
}

/// Names from the crate's root down, if the path begins with `crate`, `super` or `self`.
fn absolute(module: &[String], path: &[String]) -> Option<Vec<String>> {
    let mut base = match path.first()?.as_str() {
        "crate" => Vec::new(),
        "self" | "super" => module.to_vec(),
        _ => return None,
    };
    let up = path.iter().take_while(|name| ["crate", "self", "super"].contains(&name.as_str()));
    let beginning = up.clone().count();
    up.filter(|name| *name == "super").for_each(|_| drop(base.pop()));
    base.extend(path[beginning..].iter().cloned());
    Some(base)
}

/// A path outside of `use`, and its number of tokens.
fn plain_path(tokens: &[Token<'_>]) -> (Vec<String>, usize) {
    let (mut path, mut at) = (Vec::new(), 0);
    while let Some(Token::Word(name)) = tokens.get(at) {
        path.push((*name).to_owned());
        at += 1;
        if tokens.get(at) != Some(&Token::PathSep) {
            break;
        }
        at += 1;
    }
    (path, at)
}

/// Paths of a `use`, each with its name in the module.
fn use_tree(tokens: &[Token<'_>]) -> Vec<(Vec<String>, String)> {
    let (path, at) = plain_path(tokens);
    match tokens.get(at) {
        Some(Token::Punct('{')) => {
            let inner = &tokens[at + 1..at + block(&tokens[at..]) - 1];
            let branches = split(inner).into_iter().flat_map(use_tree);
            let whole = |(branch, name): (Vec<String>, String)| {
                let own = branch == ["self"];
                let name = if own { path.last().cloned().unwrap_or_default() } else { name };
                (path.iter().cloned().chain(branch.into_iter().filter(|_| !own)).collect(), name)
            };
            branches.map(whole).collect()
        }
        // A name after the path is a renaming (`as Name`).
        _ => {
            let renamed = tokens.iter().rev().find_map(|token| match token {
                Token::Word(name) => Some((*name).to_owned()),
                _ => None,
            });
            let path: Vec<_> = path.into_iter().take_while(|name| name != "as").collect();
            if path.is_empty() { Vec::new() } else { vec![(path, renamed.unwrap_or_default())] }
        }
    }
}

fn split<'a, 'b>(tokens: &'b [Token<'a>]) -> Vec<&'b [Token<'a>]> {
    let (mut parts, mut from, mut depth) = (Vec::new(), 0, 0);
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Punct('{') => depth += 1,
            Token::Punct('}') => depth -= 1,
            Token::Punct(',') if depth == 0 => {
                parts.push(&tokens[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&tokens[from..]);
    parts
}

/// Length of a bracketed block, or 1.
fn block(tokens: &[Token<'_>]) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Punct('{' | '(' | '[') => depth += 1,
            Token::Punct('}' | ')' | ']') => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    tokens.len()
}

/// Removes items under `#[cfg(test)]`.
fn without_tests<'a>(tokens: &[Token<'a>]) -> Vec<Token<'a>> {
    use Token::{Punct, Word};
    const CFG_TEST: [Token<'_>; 7] =
        [Punct('#'), Punct('['), Word("cfg"), Punct('('), Word("test"), Punct(')'), Punct(']')];
    let (mut kept, mut at) = (Vec::new(), 0);
    while at < tokens.len() {
        if !tokens[at..].starts_with(&CFG_TEST) {
            kept.push(tokens[at]);
            at += 1;
            continue;
        }
        at += CFG_TEST.len();
        while tokens.get(at) == Some(&Punct('#')) {
            at += 1 + block(&tokens[at + 1..]);
        }
        // An item ends with a semicolon or with a block in braces; other brackets belong to the
        // item.
        while at < tokens.len() {
            let length = block(&tokens[at..]);
            let (is_block, is_end) = (tokens[at] == Punct('{'), tokens[at] == Punct(';'));
            at += length;
            if is_block || is_end {
                break;
            }
        }
    }
    kept
}
