//! `#[sections]`: a kernel in several functions.
//!
//! A rust-hdl kernel is a single function without calls, several hundred lines for a large block.
//! Limits: a call is a statement or the body of a match arm. Each section is called exactly once,
//! because a second call would duplicate its Verilog.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use std::collections::BTreeMap;
use syn::{Block, Error, Expr, ExprBlock, ImplItem, ImplItemFn, ItemImpl, Result, Stmt, Visibility};

pub fn expand(mut block: ItemImpl) -> Result<TokenStream> {
    let (mut kernels, mut sections) = (Vec::new(), BTreeMap::new());
    for item in std::mem::take(&mut block.items) {
        match item {
            ImplItem::Fn(function) if is_kernel(&function) => kernels.push(function),
            ImplItem::Fn(function) => {
                check(&function)?;
                let name = function.sig.ident;
                if sections.insert(name.clone(), Some(function.block)).is_some() {
                    return Err(Error::new(name.span(), format!("section `{name}` is defined a second time")));
                }
            }
            item => block.items.push(item),
        }
    }
    let count = kernels.len();
    let (Some(mut kernel), 1) = (kernels.pop(), count) else {
        let found = format!("sections: expected one function with #[hdl_gen], which calls the others; found {count}");
        return Err(Error::new_spanned(&block.self_ty, found));
    };
    let mut sections = Sections(sections);
    sections.inline(&mut kernel.block)?;
    if let Some(error) = sections.uncalled(&kernel.sig.ident) {
        return Err(error);
    }
    block.items.push(ImplItem::Fn(kernel));
    Ok(quote!(#block))
}

fn is_kernel(function: &ImplItemFn) -> bool {
    function.attrs.iter().any(|attribute| attribute.path().segments.last().is_some_and(|last| last.ident == "hdl_gen"))
}

fn check(section: &ImplItemFn) -> Result<()> {
    let name = &section.sig.ident;
    let error = |problem: &str| Err(Error::new(name.span(), format!("section `{name}` {problem}")));
    let is_private = matches!(section.vis, Visibility::Inherited) && section.defaultness.is_none();
    if !is_private || section.sig.to_token_stream().to_string() != quote!(fn #name(&mut self)).to_string() {
        return error(&format!("must be written `fn {name}(&mut self)`: it is inlined into the kernel"));
    }
    if section.attrs.iter().any(|attribute| !attribute.path().is_ident("doc")) {
        return error("has an attribute, which would have no effect: put it on the kernel");
    }
    if section.attrs.is_empty() {
        return error("has no documentation: describe it in one line");
    }
    Ok(())
}

/// Sections by name; `None` once called.
struct Sections(BTreeMap<Ident, Option<Block>>);

impl Sections {
    fn inline(&mut self, block: &mut Block) -> Result<()> {
        let mut statements = Vec::with_capacity(block.stmts.len());
        for mut statement in std::mem::take(&mut block.stmts) {
            if let Stmt::Expr(expression, _) = &mut statement {
                if let Some(name) = called(expression) {
                    statements.extend(self.take(name)?.stmts);
                    continue;
                }
                self.inline_below(expression)?;
            }
            statements.push(statement);
        }
        block.stmts = statements;
        Ok(())
    }

    fn inline_below(&mut self, expression: &mut Expr) -> Result<()> {
        match expression {
            Expr::If(conditional) => {
                self.inline(&mut conditional.then_branch)?;
                conditional.else_branch.iter_mut().try_for_each(|(_, otherwise)| self.inline_below(otherwise))
            }
            Expr::Match(choice) => choice.arms.iter_mut().try_for_each(|arm| {
                if let Some(name) = called(&arm.body) {
                    let block = self.take(name)?;
                    *arm.body = Expr::Block(ExprBlock { attrs: Vec::new(), label: None, block });
                    arm.comma = None;
                    return Ok(());
                }
                self.inline_below(&mut arm.body)
            }),
            Expr::ForLoop(turns) => self.inline(&mut turns.body),
            Expr::Block(body) => self.inline(&mut body.block),
            _ => Ok(()),
        }
    }

    fn take(&mut self, name: &Ident) -> Result<Block> {
        let error = |problem| Err(Error::new(name.span(), format!("section `{name}` {problem}")));
        match self.0.get_mut(name).map(Option::take) {
            Some(Some(mut block)) => {
                self.inline(&mut block)?;
                end(&mut block);
                Ok(block)
            }
            Some(None) => error("is called a second time: call each section exactly once"),
            None => error("is not in this impl"),
        }
    }

    fn uncalled(&self, kernel: &Ident) -> Option<Error> {
        let uncalled = self.0.iter().filter(|(_, block)| block.is_some()).map(|(name, _)| {
            let problem = format!("section `{name}` is not called: it is missing from `{kernel}`");
            Error::new(name.span(), problem)
        });
        uncalled.reduce(|mut all, error| {
            all.combine(error);
            all
        })
    }
}

/// Returns the name in `self.name()`.
fn called(expression: &Expr) -> Option<&Ident> {
    let Expr::MethodCall(call) = expression else { return None };
    let is_self = matches!(&*call.receiver, Expr::Path(path) if path.path.is_ident("self"));
    (is_self && call.args.is_empty() && call.turbofish.is_none()).then_some(&call.method)
}

/// Terminates the last statement, so that others can follow.
fn end(block: &mut Block) {
    match block.stmts.last_mut() {
        Some(Stmt::Expr(Expr::If(_) | Expr::Match(_) | Expr::ForLoop(_) | Expr::Block(_), _)) | None => {}
        Some(Stmt::Expr(_, semicolon)) => *semicolon = Some(Default::default()),
        Some(Stmt::Macro(statement)) => statement.semi_token = Some(Default::default()),
        Some(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use syn::parse_quote;

    fn expanded(block: ItemImpl) -> String {
        expand(block).expect("the sections fit").to_string()
    }

    #[test]
    fn sections_stand_where_they_are_called_in_statements_branches_loops_and_arms() {
        let sections = expanded(parse_quote!(
            impl Logic for Block {
                /// Second in the text, first in the kernel.
                fn count(&mut self) {
                    self.count.d.next = self.more.val()
                }

                #[hdl_gen]
                fn update(&mut self) {
                    dff_setup!(self, clock, state, count);
                    self.count();
                    if self.go.val() {
                        self.states();
                    } else if self.stop.val() {
                        self.halt();
                    } else {
                        self.rest();
                    }
                    for i in 0..4 {
                        self.lanes();
                    }
                    self.done.next = true;
                }

                /// A state machine.
                fn states(&mut self) {
                    match self.state.q.val() {
                        State::Idle => self.begin(),
                        State::Run => {
                            self.run();
                            self.ran.next = true;
                        }
                        State::End => self.end.next = true,
                    }
                }

                /// A section of a section.
                fn begin(&mut self) {
                    self.a.next = true;
                    self.b.next = true;
                }

                /// Another.
                fn run(&mut self) {
                    if self.c.val() {
                        self.d.next = true;
                    }
                }

                /// In a branch.
                fn halt(&mut self) {
                    self.e.next = true;
                }

                /// In the other.
                fn rest(&mut self) {
                    clock!(self, clock, memory)
                }

                /// In a loop.
                fn lanes(&mut self) {
                    self.f.next = true;
                }
            }
        ));
        let whole: ItemImpl = parse_quote!(
            impl Logic for Block {
                #[hdl_gen]
                fn update(&mut self) {
                    dff_setup!(self, clock, state, count);
                    self.count.d.next = self.more.val();
                    if self.go.val() {
                        match self.state.q.val() {
                            State::Idle => {
                                self.a.next = true;
                                self.b.next = true;
                            }
                            State::Run => {
                                if self.c.val() {
                                    self.d.next = true;
                                }
                                self.ran.next = true;
                            }
                            State::End => self.end.next = true,
                        }
                    } else if self.stop.val() {
                        self.e.next = true;
                    } else {
                        clock!(self, clock, memory);
                    }
                    for i in 0..4 {
                        self.f.next = true;
                    }
                    self.done.next = true;
                }
            }
        );
        assert_eq!(sections, quote!(#whole).to_string());
    }

    #[test]
    fn every_error_names_the_section_and_what_to_do() {
        let calls = |calls: &str| format!("#[hdl_gen] fn update(&mut self) {{ {calls} }}");
        let called = calls("self.rings();");
        let rings = "/// Rings.\nfn rings(&mut self) {}";
        let none = "expected one function with #[hdl_gen], which calls the others; found";
        let form = "section `rings` must be written `fn rings(&mut self)`";
        let refused = [
            (rings.into(), format!("{none} 0")),
            (format!("{called} #[core::hdl_gen] fn evaluate(&mut self) {{}} {rings}"), format!("{none} 2")),
            (called.clone(), "section `rings` is not in this impl".into()),
            (calls("") + rings, "section `rings` is not called: it is missing from `update`".into()),
            (
                calls("self.rings(); if self.go.val() { self.rings(); }") + rings,
                "section `rings` is called a second time".into(),
            ),
            (
                called.clone() + "/// Rings.\nfn rings(&mut self) { self.rings(); }",
                "section `rings` is called a second time".into(),
            ),
            (format!("{called} {rings} {rings}"), "section `rings` is defined a second time".into()),
            (called.clone() + "fn rings(&mut self) {}", "section `rings` has no documentation".into()),
            (called.clone() + "/// Rings.\nfn rings(&mut self, queue: usize) {}", form.into()),
            (called.clone() + "/// Rings.\nfn rings(&mut self) -> bool { true }", form.into()),
            (called.clone() + "/// Rings.\npub fn rings(&mut self) {}", form.into()),
            (
                called + "/// Rings.\n#[cfg(feature = \"rings\")] fn rings(&mut self) {}",
                "section `rings` has an attribute".into(),
            ),
        ];
        for (items, reason) in refused {
            let block = syn::parse_str(&format!("impl Logic for Block {{ {items} }}")).expect("an impl");
            let error = expand(block).expect_err(&reason).to_string();
            assert!(error.contains(&reason), "expected {reason}, found {error}");
        }
    }

    #[test]
    fn every_section_that_is_not_called_is_named() {
        let error = expand(parse_quote!(
            impl Logic for Block {
                #[hdl_gen]
                fn update(&mut self) {}
                /// One.
                fn rings(&mut self) {}
                /// Two.
                fn slots(&mut self) {}
            }
        ))
        .expect_err("two are not called");
        let named: String = error.to_compile_error().to_string();
        assert!(named.contains("`rings`") && named.contains("`slots`"), "{named}");
    }
}
