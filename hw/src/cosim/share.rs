//! Merges modules that differ only in their names, and drops unread constants.
//!
//! rust-hdl emits a module per instance, so sixteen lanes are sixteen copies for every tool. From
//! the leaves up, modules are merged if their bodies are equal once their children are merged.
//! rust-hdl also declares every state of an enumeration as a constant.

use super::module::{Item, Module};
use std::cmp::Reverse;
use std::collections::HashMap;

/// Returns `modules` without duplicates, leaves first and the top module last.
pub fn shared(mut modules: Vec<Module>) -> Vec<Module> {
    // A child's name is its parent's plus one segment.
    modules.sort_by_cached_key(|module| (Reverse(module.name.split('$').count()), module.name.clone()));
    let mut unique: Vec<Module> = Vec::new();
    let mut by_body: HashMap<String, usize> = HashMap::new();
    // Index in `unique` by original name.
    let mut taken: HashMap<String, usize> = HashMap::new();
    for mut module in modules {
        let text = module.body();
        module.items.retain(|item| !matches!(item, Item::Constant(name, _) if mentions(&text, name) == 1));
        for child in module.instances_mut() {
            if let Some(index) = taken.get(&child.module) {
                child.module.clone_from(&unique[*index].name);
            }
        }
        let index = *by_body.entry(module.body()).or_insert(unique.len());
        taken.insert(module.name.clone(), index);
        if index == unique.len() {
            unique.push(module);
        }
    }
    unique
}

pub fn uses(modules: &[Module], name: &str) -> usize {
    modules.iter().flat_map(Module::instances).filter(|instance| instance.module == name).count()
}

/// Counts `name` in `text` outside longer names.
fn mentions(text: &str, name: &str) -> usize {
    let of_a_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$');
    let stands_alone = |at: &usize| {
        let (before, after) = (text[..*at].bytes().next_back(), text[at + name.len()..].bytes().next());
        !before.is_some_and(of_a_name) && !after.is_some_and(of_a_name)
    };
    text.match_indices(name).map(|(at, _)| at).filter(stands_alone).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arith::fp_add::FpAdd16;
    use crate::cosim::module::{parse, print};
    use crate::hdl::prelude::Block;

    const PAIR: &str = "
module top(clock);
    input wire  clock;
    top$a a(
        .d(clock)
    );
    top$b b(
        .d(clock)
    );
endmodule // top

module top$a(d);
    input wire  d;
    top$a$r r(
        .d(d)
    );
endmodule // top$a

module top$a$r(d);
    input wire  d;
endmodule // top$a$r

module top$b(d);
    input wire  d;
    top$b$r r(
        .d(d)
    );
endmodule // top$b

module top$b$r(d);
    input wire  d;
endmodule // top$b$r
";

    fn shared_text(verilog: &str) -> Vec<Module> {
        shared(parse(verilog).unwrap_or_else(|error| panic!("{error}")))
    }

    #[test]
    fn equal_modules_become_one_from_the_leaves_up() {
        let modules = shared_text(PAIR);
        let found: Vec<_> = modules.iter().map(|module| (module.name.as_str(), uses(&modules, &module.name))).collect();
        assert_eq!(found, [("top$a$r", 1), ("top$a", 2), ("top", 0)]);
        let text = print(&modules);
        assert!(text.contains("top$a b(") && !text.contains("top$b"), "{text}");
    }

    #[test]
    fn constants_that_nobody_reads_are_left_out() {
        let body = "(q);\n    output wire  q;\n    localparam State$Run = 1'd0;\n    localparam [1:0] State$Runner = 2'd1;\n    \
                    localparam depth = 9;\n    assign q = State$Runner + depth;\nendmodule\n";
        let text = print(&shared_text(&format!("\nmodule top{body}")));
        assert!(
            !text.contains("State$Run ") && text.contains("[1:0] State$Runner") && text.contains("depth = 9"),
            "{text}"
        );
    }

    #[test]
    fn modules_that_differ_in_a_leaf_stay_two() {
        let other = PAIR.replace(
            "module top$b$r(d);\n    input wire  d;",
            "module top$b$r(d);\n    output wire  d;\n    assign d = 1;",
        );
        assert_eq!(shared_text(&other).len(), 5);
    }

    #[test]
    fn sharing_twice_changes_nothing_and_lanes_are_shared() {
        let mut lanes = Box::<FpAdd16>::default();
        lanes.connect_all();
        let once = crate::cosim::verilog(lanes.as_ref());
        let twice = shared_text(&once);
        assert!(twice.iter().any(|module| uses(&twice, &module.name) == 16), "sixteen lanes are one module");
        assert_eq!(once, print(&twice));
    }
}
