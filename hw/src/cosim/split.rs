//! Splits the always block of a module into one assignment or block per signal.
//!
//! rust-hdl prints a kernel as a single `always @(*)`. A handshake through a sub-block, or in and
//! out of the module, passes through that block twice, which simulators take for a combinational
//! loop (Verilator's UNOPTFLAT).
//! A signal that is written once, whole and unconditionally becomes a wire with an `assign`. Any
//! other gets a block with its statements and the `if` and `case` around them, in original order.
//! The next values of registers share a block, since nothing in the module depends on them.
//! A statement that reads a signal before its last write sees an intermediate value, so both
//! signals stay in one block.
//! Limits: a block with statements that rust-hdl does not print is left unchanged.

use super::module::{Assign, Item, Kind, Module};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

const HEAD: &str = "    // Update code";
const BLOCK: &str = "    always @(*) begin\n";

pub fn split(modules: &mut [Module]) {
    let is_register = |module: &&Module| module.block_contains("always @(posedge clock) q <= d;");
    let registers: BTreeSet<String> = modules.iter().filter(is_register).map(|module| module.name.clone()).collect();
    for module in modules {
        if let Some(items) = split_kernel(module, &registers) {
            module.items = items;
        }
    }
}

enum Statement<'a> {
    Assign {
        to: &'a str,
        text: &'a str,
    },
    /// `if` with its `else` branches, or `case`.
    Branch {
        case: Option<&'a str>,
        arms: Vec<Arm<'a>>,
    },
}

struct Arm<'a> {
    /// `if (c)`, `else if (c)`, `else`, or a case label.
    head: &'a str,
    statements: Vec<Statement<'a>>,
}

/// Splits the kernel's block, which must be the last item.
fn split_kernel(module: &Module, registers: &BTreeSet<String>) -> Option<Vec<Item>> {
    let mut items = module.items.clone();
    let kernel = items.iter().position(|item| matches!(item, Item::Text(line) if line == HEAD))? + 1;
    let rest = items.split_off(kernel);
    let Item::Block(block) = rest.first()? else { return None };
    if rest[1..].iter().any(|item| !matches!(item, Item::Text(line) if line.trim().is_empty())) {
        return None;
    }
    let mut lines = block.strip_prefix(BLOCK)?.lines().map(str::trim).filter(|line| !line.is_empty()).peekable();
    let statements = parse(&mut lines)?;
    let mut events = Events::default();
    events.walk(&statements, &mut Vec::new());
    let is_of_register = |name: &str| {
        let instance = name.strip_suffix("$d");
        module.instances().any(|found| Some(found.name.as_str()) == instance && registers.contains(&found.module))
    };
    let declared: BTreeSet<&str> = module.nets().map(|net| net.name.as_str()).collect();
    for group in events.groups(is_of_register, |name| declared.contains(name))? {
        let single = match &group.iter().collect::<Vec<_>>()[..] {
            [name] => events.only_value(name).map(|value| (**name, value)),
            _ => None,
        };
        let Some((name, value)) = single else {
            let mut text = BLOCK.to_owned();
            print(&statements, &group, 2, &mut text);
            items.push(Item::Block(text + "    end"));
            continue;
        };
        let net = items.iter_mut().find_map(|item| match item {
            Item::Net(net) if net.name == name => Some(net),
            _ => None,
        })?;
        net.kind = if net.kind.is_port() { Kind::OutputWire } else { Kind::Wire };
        items.push(Item::Assign(Assign { to: name.to_owned(), value: value.to_owned() }));
    }
    Some(items)
}

fn parse<'a>(lines: &mut std::iter::Peekable<impl Iterator<Item = &'a str>>) -> Option<Vec<Statement<'a>>> {
    let mut statements = Vec::new();
    loop {
        let line = lines.next()?;
        if line == "end" {
            return Some(statements);
        }
        if let Some(case) = line.strip_prefix("case ") {
            let mut arms = Vec::new();
            loop {
                let head = lines.next()?;
                if head == "endcase" {
                    break;
                }
                if !head.ends_with(':') || lines.next()? != "begin" {
                    return None;
                }
                arms.push(Arm { head, statements: parse(lines)? });
            }
            statements.push(Statement::Branch { case: Some(case), arms });
        } else if line.starts_with("if ") {
            let mut arms = vec![Arm { head: line.strip_suffix(" begin")?, statements: parse(lines)? }];
            while let Some(head) = lines.next_if(|line| line.starts_with("else ")) {
                arms.push(Arm { head: head.strip_suffix(" begin")?, statements: parse(lines)? });
            }
            statements.push(Statement::Branch { case: None, arms });
        } else {
            let left = line.split_once(" = ").filter(|_| line.ends_with(';'))?.0;
            let to = names(left).next().filter(|to| left == *to || left[to.len()..].starts_with('['))?;
            statements.push(Statement::Assign { to, text: line });
        }
    }
}

/// Names in an expression, without numbers and system functions.
fn names(text: &str) -> impl Iterator<Item = &str> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '\'');
    text.split(move |c| !is_word(c)).filter(|word| word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))
}

#[derive(Default)]
struct Events<'a> {
    list: Vec<Event<'a>>,
    branches: usize,
}

struct Event<'a> {
    /// Enclosing branches, each with its arm.
    path: Vec<(usize, usize)>,
    write: Option<&'a str>,
    whole: bool,
    value: &'a str,
    reads: Vec<&'a str>,
    /// Signals whose values depend on `reads`.
    readers: BTreeSet<&'a str>,
}

impl<'a> Events<'a> {
    fn walk(&mut self, statements: &[Statement<'a>], path: &mut Vec<(usize, usize)>) {
        for statement in statements {
            match statement {
                Statement::Assign { to, text } => {
                    let (left, right) = text.split_once(" = ").unwrap_or_default();
                    let reads = names(left).skip(1).chain(names(right)).collect();
                    self.list.push(Event {
                        path: path.clone(),
                        write: Some(to),
                        whole: left == *to,
                        value: right.trim_end_matches(';'),
                        reads,
                        readers: [*to].into(),
                    });
                }
                Statement::Branch { case, arms } => {
                    let branch = self.branches;
                    self.branches += 1;
                    for (index, arm) in arms.iter().enumerate() {
                        let mut readers = BTreeSet::new();
                        arms[index..].iter().for_each(|arm| written(&arm.statements, &mut readers));
                        let condition = case.filter(|_| index == 0).unwrap_or(arm.head);
                        let reads = names(condition).filter(|name| !matches!(*name, "if" | "else")).collect();
                        self.list.push(Event {
                            path: path.clone(),
                            write: None,
                            whole: false,
                            value: "",
                            reads,
                            readers,
                        });
                        path.push((branch, index));
                        self.walk(&arm.statements, path);
                        path.pop();
                    }
                }
            }
        }
    }

    /// Groups signals that must share a block, in order of their first writes.
    ///
    /// The last group holds all `next_value`s, and signals whose block no signal would wake.
    /// Returns none if nothing wakes that group either.
    fn groups(
        &self,
        next_value: impl Fn(&str) -> bool,
        is_signal: impl Fn(&str) -> bool,
    ) -> Option<Vec<BTreeSet<&'a str>>> {
        let mut writes: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (index, event) in self.list.iter().enumerate() {
            event.write.into_iter().for_each(|name| writes.entry(name).or_default().push(index));
        }
        // A group is named after one of its members. Initially every signal is a group.
        let mut group: BTreeMap<&str, &str> = writes.keys().map(|name| (*name, *name)).collect();
        let (mut observed, mut awake) = (BTreeSet::<&str>::new(), BTreeSet::<&str>::new());
        for (index, event) in self.list.iter().enumerate() {
            if event.reads.iter().any(|name| is_signal(name)) {
                awake.extend(&event.readers);
            }
            for name in &event.reads {
                if event.readers.iter().any(|reader| reader != name) {
                    observed.insert(*name);
                }
                let is_later = |write: &usize| *write > index && !exclusive(&event.path, &self.list[*write].path);
                if writes.get(name).is_some_and(|writes| writes.iter().any(is_later)) {
                    for reader in &event.readers {
                        let (from, to) = (group[reader], group[name]);
                        group.values_mut().filter(|of| **of == from).for_each(|of| *of = to);
                    }
                }
            }
        }
        let mut members: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        group.iter().for_each(|(name, of)| _ = members.entry(of).or_default().insert(name));
        let (mut groups, mut last) = (Vec::new(), BTreeSet::new());
        for members in members.into_values() {
            let is_next = members.iter().all(|name| next_value(name) && !observed.contains(name));
            let wakes = members.iter().any(|name| awake.contains(name) || self.only_value(name).is_some());
            match is_next || !wakes {
                true => last.extend(members),
                false => groups.push(members),
            }
        }
        groups.sort_by_key(|members| members.iter().map(|name| writes[name][0]).min());
        if !last.is_empty() {
            if !last.iter().any(|name| awake.contains(name)) {
                return None;
            }
            groups.push(last);
        }
        Some(groups)
    }

    /// Value of a signal that is written once, whole, unconditionally and not from itself.
    fn only_value(&self, name: &str) -> Option<&'a str> {
        let mut writes = self.list.iter().filter(|event| event.write == Some(name));
        let (Some(only), None) = (writes.next(), writes.next()) else { return None };
        (only.path.is_empty() && !only.reads.contains(&name) && only.whole).then_some(only.value)
    }
}

/// Returns whether at most one of two statements executes in a run of the block.
fn exclusive(one: &[(usize, usize)], other: &[(usize, usize)]) -> bool {
    one.iter().zip(other).any(|((a, arm), (b, other))| a == b && arm != other)
}

fn written<'a>(statements: &[Statement<'a>], into: &mut BTreeSet<&'a str>) {
    for statement in statements {
        match statement {
            Statement::Assign { to, .. } => _ = into.insert(to),
            Statement::Branch { arms, .. } => arms.iter().for_each(|arm| written(&arm.statements, into)),
        }
    }
}

fn print(statements: &[Statement], group: &BTreeSet<&str>, depth: usize, out: &mut String) {
    let concerns = |arm: &Arm| {
        let mut names = BTreeSet::new();
        written(&arm.statements, &mut names);
        !names.is_disjoint(group)
    };
    let indent = "    ".repeat(depth);
    for statement in statements {
        match statement {
            Statement::Assign { to, text } if group.contains(to) => _ = writeln!(out, "{indent}{text}"),
            Statement::Assign { .. } => {}
            Statement::Branch { case, arms } => {
                let Some(last) = arms.iter().rposition(concerns) else { continue };
                let Some(case) = case else {
                    print_arms(arms[..=last].iter(), group, depth, out);
                    continue;
                };
                _ = writeln!(out, "{indent}case {case}");
                if arms[last].head == "default:" {
                    print_arms(arms.iter(), group, depth + 1, out);
                } else {
                    let rest = Arm { head: "default:", statements: Vec::new() };
                    print_arms(arms.iter().filter(|arm| concerns(arm)).chain([&rest]), group, depth + 1, out);
                }
                _ = writeln!(out, "{indent}endcase");
            }
        }
    }
}

fn print_arms<'a>(arms: impl Iterator<Item = &'a Arm<'a>>, group: &BTreeSet<&str>, depth: usize, out: &mut String) {
    let indent = "    ".repeat(depth);
    for Arm { head, statements } in arms {
        _ = writeln!(out, "{indent}{head} begin");
        print(statements, group, depth + 1, out);
        _ = writeln!(out, "{indent}end");
    }
}

#[cfg(test)]
#[path = "split_tests.rs"]
mod tests;
