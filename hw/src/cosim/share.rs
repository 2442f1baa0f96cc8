//! Makes one module of modules that are equal but for their names, and drops constants that nobody reads.
//!
//! Why: rust-hdl emits a module for every instance, so sixteen lanes are sixteen copies and a tool does everything
//! sixteen times. Of the card's modules four in five are copies.
//! How: from the leaves up, two modules are equal if their texts are, after their children's names are shared and
//! their own name is left out. rust-hdl declares every state of an enumeration; the declarations of those that no text of
//! the module names are left out. Limits: reads the Verilog that rust-hdl writes, not Verilog at large.

use std::collections::HashMap;
use std::fmt::Write as _;

/// A module of emitted Verilog.
pub struct Module {
    /// Its name.
    pub name: String,
    /// Its text, without what stands before and at its name: `(ports); ... endmodule`.
    pub body: String,
    /// Instances of it in the other modules of the list.
    pub uses: usize,
    /// Is written with the attribute `keep_hierarchy`: yosys does not flatten it.
    pub kept: bool,
}

/// The modules of `verilog`, equal ones once; leaves first, the top last.
pub fn shared(verilog: &str) -> Vec<Module> {
    let mut texts: Vec<(&str, &str)> = verilog.split("\nmodule ").skip(1).filter_map(name_and_body).collect();
    // A child's name is its parent's and one segment more.
    texts.sort_by_key(|(name, _)| (std::cmp::Reverse(name.split('$').count()), *name));
    let mut modules: Vec<Module> = Vec::new();
    let mut by_body: HashMap<String, usize> = HashMap::new();
    let mut by_name: HashMap<&str, usize> = HashMap::new();
    for (name, text) in texts {
        let mut body = String::with_capacity(text.len());
        let mut children = Vec::new();
        for line in text.lines().filter(|line| !is_idle_constant(line, text)) {
            let trimmed = line.trim_start();
            match trimmed.split_once(' ').and_then(|(child, rest)| Some((*by_name.get(child)?, rest))) {
                Some((child, rest)) => {
                    children.push(child);
                    body += &line[..line.len() - trimmed.len()];
                    _ = writeln!(body, "{} {rest}", modules[child].name);
                }
                None => _ = writeln!(body, "{line}"),
            }
        }
        let index = *by_body.entry(body.clone()).or_insert(modules.len());
        if index == modules.len() {
            for child in children {
                modules[child].uses += 1;
            }
            modules.push(Module { name: name.to_owned(), body, uses: 0, kept: false });
        }
        by_name.insert(name, index);
    }
    modules
}

/// The line declares a constant that stands nowhere else in `text`.
fn is_idle_constant(line: &str, text: &str) -> bool {
    let declared = line.trim_start().strip_prefix("localparam ").and_then(|rest| rest.split_once(" = "));
    let Some(name) = declared.and_then(|(declared, _)| declared.split_whitespace().last()) else { return false };
    let of_a_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$');
    let stands_alone = |at: &usize| {
        let (before, after) = (text[..*at].bytes().next_back(), text[at + name.len()..].bytes().next());
        !before.is_some_and(of_a_name) && !after.is_some_and(of_a_name)
    };
    text.match_indices(name).map(|(at, _)| at).filter(stands_alone).count() == 1
}

/// The Verilog of `modules`.
pub fn verilog(modules: &[Module]) -> String {
    let mut text = String::new();
    for module in modules {
        let attribute = if module.kept { "(* keep_hierarchy *)\n" } else { "" };
        _ = write!(text, "\n{attribute}module {}{}", module.name, module.body);
    }
    text
}

fn name_and_body(text: &str) -> Option<(&str, &str)> {
    let (name, _) = text.split_once('(')?;
    let end = text.rfind("endmodule")? + "endmodule".len();
    Some((name, &text[name.len()..end]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arith::fp_add::FpAdd16;
    use crate::hdl::prelude::Block;

    const PAIR: &str = "
module top(clock);
    top$a a(
    );
    top$b b(
    );
endmodule // top

module top$a(d);
    top$a$r r(
    );
endmodule // top$a

module top$a$r(d);
endmodule // top$a$r

module top$b(d);
    top$b$r r(
    );
endmodule // top$b

module top$b$r(d);
endmodule // top$b$r
";

    fn names(verilog: &str) -> Vec<(String, usize)> {
        shared(verilog).into_iter().map(|module| (module.name, module.uses)).collect()
    }

    #[test]
    fn equal_modules_become_one_from_the_leaves_up() {
        let expected = [("top$a$r", 1), ("top$a", 2), ("top", 0)];
        assert_eq!(names(PAIR), expected.map(|(name, uses)| (name.to_owned(), uses)));
        let text = verilog(&shared(PAIR));
        assert!(text.contains("top$a b(") && !text.contains("top$b"), "{text}");
    }

    #[test]
    fn constants_that_nobody_reads_are_left_out() {
        let body = "(q);\n    localparam State$Run = 1'd0;\n    localparam [1:0] State$Runner = 2'd1;\n    \
                    localparam depth = 9;\n    assign q = State$Runner + depth;\nendmodule\n";
        let text = verilog(&shared(&format!("\nmodule top{body}")));
        assert!(
            !text.contains("State$Run ") && text.contains("[1:0] State$Runner") && text.contains("depth = 9"),
            "{text}"
        );
    }

    #[test]
    fn modules_that_differ_in_a_leaf_stay_two() {
        let other = PAIR.replace("module top$b$r(d);", "module top$b$r(d);\n  assign d = 1;");
        assert_eq!(names(&other).len(), 5);
    }

    #[test]
    fn sharing_twice_changes_nothing_and_lanes_are_shared() {
        let mut lanes = Box::<FpAdd16>::default();
        lanes.connect_all();
        let once = shared(&crate::cosim::verilog(lanes.as_ref()));
        assert!(once.iter().any(|module| module.uses == 16), "sixteen lanes are one module");
        assert_eq!(verilog(&once), verilog(&shared(&verilog(&once))));
    }
}
