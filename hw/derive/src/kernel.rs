//! Writes a kernel as the string that `optireduce_hw::hdl::kernel` parses.
//!
//! That module documents the grammar. Numbers that only the compiler can determine (const generics,
//! field offsets) are Rust expressions in a list beside the string, referenced as `@index`.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{
    BinOp, Block, Error, Expr, ExprAssign, ExprCall, ExprField, ExprIf, ExprLit, ExprMethodCall, GenericArgument,
    ItemFn, Lit, Macro, Member, Pat, PathArguments, RangeLimits, Result, Stmt, Token, UnOp,
};

/// Returns the kernel with `connect` and `hdl`.
pub fn expand(kernel: &ItemFn) -> TokenStream {
    let written = write(kernel).unwrap_or_else(Error::into_compile_error);
    quote!(#kernel #written)
}

fn write(kernel: &ItemFn) -> Result<TokenStream> {
    if kernel.sig.inputs.len() != 1 || kernel.sig.receiver().is_none() {
        return Err(Error::new(kernel.sig.span(), "a kernel has exactly one parameter, `&mut self`"));
    }
    let mut text = Text::default();
    text.block(&kernel.block)?;
    let Text { words, values, .. } = text;
    let driven = driven(&kernel.block)?;
    Ok(quote! {
        #[automatically_derived]
        #[allow(unused_variables)]
        fn connect(&mut self) {
            #driven
        }

        #[automatically_derived]
        fn hdl(&self) -> optireduce_hw::hdl::prelude::Verilog {
            optireduce_hw::hdl::kernel::verilog(#words, &[#(#values),*])
        }
    })
}

#[derive(Default)]
struct Text {
    words: String,
    values: Vec<TokenStream>,
    known: Vec<String>,
}

impl Text {
    fn word(&mut self, word: &str) {
        if !self.words.is_empty() {
            self.words.push(' ');
        }
        self.words.push_str(word);
    }

    /// Writes a number that the compiler computes, as its index in the list of values.
    fn value(&mut self, value: TokenStream) {
        let text = value.to_string();
        let index = self.known.iter().position(|known| *known == text).unwrap_or_else(|| {
            self.known.push(text);
            self.values.push(value);
            self.values.len() - 1
        });
        self.word(&format!("@{index}"));
    }

    fn width(&mut self, width: &impl ToTokens) {
        match width.to_token_stream().to_string().parse::<usize>() {
            Ok(number) => self.word(&number.to_string()),
            Err(_) => self.value(quote!((#width) as usize)),
        }
    }

    fn signal(&mut self, path: &impl ToTokens) {
        self.word(&format!("'{}", name(path)));
    }

    fn block(&mut self, block: &Block) -> Result<()> {
        self.word("{");
        for statement in &block.stmts {
            match statement {
                Stmt::Expr(expression, _) => self.statement(expression)?,
                Stmt::Macro(statement) => self.registers(&statement.mac)?,
                _ => {
                    return Err(Error::new(
                        statement.span(),
                        "a kernel cannot contain declarations: make it a field of the block",
                    ));
                }
            }
        }
        self.word("}");
        Ok(())
    }

    fn statement(&mut self, expression: &Expr) -> Result<()> {
        match expression {
            Expr::Assign(assign) => self.assign(assign),
            Expr::If(conditional) => self.conditional(conditional),
            Expr::Macro(registers) => self.registers(&registers.mac),
            Expr::Match(choice) => {
                self.word("match");
                self.expression(&choice.expr)?;
                self.word("{");
                for arm in &choice.arms {
                    self.pattern(&arm.pat)?;
                    match arm.body.as_ref() {
                        Expr::Block(body) => self.block(&body.block)?,
                        body => {
                            self.word("{");
                            self.statement(body)?;
                            self.word("}");
                        }
                    }
                }
                self.word("}");
                Ok(())
            }
            Expr::ForLoop(turns) => {
                let (Pat::Ident(index), Expr::Range(range)) = (turns.pat.as_ref(), turns.expr.as_ref()) else {
                    return Err(Error::new(turns.expr.span(), "a loop of a kernel is written `for i in from..to`"));
                };
                let (Some(from), Some(to), RangeLimits::HalfOpen(_)) = (&range.start, &range.end, &range.limits) else {
                    return Err(Error::new(range.span(), "a loop of a kernel is written `for i in from..to`"));
                };
                self.word(&format!("for {}", index.ident));
                self.width(from);
                self.width(to);
                self.block(&turns.body)
            }
            _ => Err(Error::new(expression.span(), "expected an assignment, `if`, `match` or `for`")),
        }
    }

    fn assign(&mut self, assign: &ExprAssign) -> Result<()> {
        let Expr::Field(target) = assign.left.as_ref() else {
            return Err(Error::new(assign.left.span(), "a kernel assigns to `.next` of a signal, or to a field of it"));
        };
        match target.base.as_ref() {
            Expr::Field(next) if matches!(&next.member, Member::Named(name) if name == "next") => {
                self.word("field=");
                self.field(&target.base, &target.member)?;
                self.expression(&next.base)?;
            }
            _ => {
                self.word("=");
                self.signal(target);
            }
        }
        self.expression(&assign.right)
    }

    fn conditional(&mut self, conditional: &ExprIf) -> Result<()> {
        self.word("if");
        self.expression(&conditional.cond)?;
        self.block(&conditional.then_branch)?;
        match conditional.else_branch.as_ref().map(|(_, otherwise)| otherwise.as_ref()) {
            None => self.word("end"),
            Some(Expr::Block(otherwise)) => {
                self.word("else");
                self.block(&otherwise.block)?;
            }
            Some(Expr::If(otherwise)) => {
                self.word("else");
                self.conditional(otherwise)?;
            }
            Some(other) => return Err(Error::new(other.span(), "expected a block or `if` after `else`")),
        }
        Ok(())
    }

    fn registers(&mut self, call: &Macro) -> Result<()> {
        let Registers { clock, blocks, hold, .. } = registers(call)?;
        self.word("macro {");
        for block in &blocks {
            self.word("=");
            self.signal(&quote!(#block.clock.next));
            self.signal(&clock);
        }
        for block in blocks.iter().filter(|_| hold) {
            self.word("=");
            self.signal(&quote!(#block.d.next));
            self.signal(&quote!(#block.q));
        }
        self.word("}");
        Ok(())
    }

    fn pattern(&mut self, pattern: &Pat) -> Result<()> {
        match pattern {
            Pat::Wild(_) => self.word("default"),
            Pat::Ident(state) => self.word(&state.ident.to_string()),
            Pat::Path(state) => self.word(&name(state)),
            Pat::Lit(literal) => self.word(&literal.to_token_stream().to_string()),
            _ => return Err(Error::new(pattern.span(), "a pattern of a kernel is a state, a number or `_`")),
        }
        Ok(())
    }

    fn expression(&mut self, expression: &Expr) -> Result<()> {
        match expression {
            Expr::Path(_) | Expr::Index(_) => {
                self.signal(expression);
                Ok(())
            }
            Expr::Field(field) => self.read(field),
            Expr::Group(group) => self.expression(&group.expr),
            Expr::Paren(paren) => {
                self.word("paren");
                self.expression(&paren.expr)
            }
            Expr::Binary(binary) => {
                self.word(operator(&binary.op)?);
                self.expression(&binary.left)?;
                self.expression(&binary.right)
            }
            Expr::Unary(unary) => {
                self.word(match unary.op {
                    UnOp::Not(_) => "not",
                    UnOp::Neg(_) => "neg",
                    _ => return Err(Error::new(unary.span(), "this operator has no Verilog equivalent")),
                });
                self.expression(&unary.expr)
            }
            Expr::Lit(literal) => self.literal(literal),
            Expr::Call(call) => self.cast(call),
            Expr::MethodCall(method) => self.method(method),
            _ => Err(Error::new(expression.span(), "this expression has no Verilog equivalent")),
        }
    }

    fn read(&mut self, field: &ExprField) -> Result<()> {
        if let Expr::MethodCall(value) = field.base.as_ref()
            && value.method == "val"
        {
            self.word("field");
            self.field(&field.base, &field.member)?;
            return self.expression(&value.receiver);
        }
        let path = name(field);
        if path.ends_with("$next") {
            return Err(Error::new(field.span(), "a kernel reads `.val()`, not `.next`"));
        }
        self.signal(field);
        Ok(())
    }

    fn field(&mut self, base: &Expr, member: &Member) -> Result<()> {
        let Member::Named(field) = member else {
            return Err(Error::new(member.span(), "fields of a signal's type must have names"));
        };
        let (width, offset) = (format_ident!("get_my_width_{field}"), format_ident!("get_my_offset_{field}"));
        self.value(quote!(#base.#width()));
        self.value(quote!(#base.#offset()));
        Ok(())
    }

    fn literal(&mut self, literal: &ExprLit) -> Result<()> {
        match &literal.lit {
            Lit::Bool(value) => self.word(if value.value { "true" } else { "false" }),
            Lit::Int(value) => match value.suffix() {
                "" | "i32" => self.word(&value.base10_parse::<i32>()?.to_string()),
                "u64" => self.word(&format!("{}u64", value.base10_parse::<u64>()?)),
                _ => {
                    return Err(Error::new(value.span(), "a number of a kernel is an `i32`, or a `u64` by its suffix"));
                }
            },
            _ => return Err(Error::new(literal.span(), "a literal of a kernel is a number, `true` or `false`")),
        }
        Ok(())
    }

    /// Writes `bits_w::<N>(value)`, `bit_cast_w::<M, N>(value)` and casts without a width argument.
    fn cast(&mut self, call: &ExprCall) -> Result<()> {
        let no_cast =
            || Error::new(call.func.span(), "a kernel can call only functions with names `bits*` or `bit_cast*`");
        let Expr::Path(function) = call.func.as_ref() else { return Err(no_cast()) };
        let last = function.path.segments.last().ok_or_else(no_cast)?;
        if !["bits", "bit_cast"].iter().any(|cast| last.ident.to_string().starts_with(cast)) {
            return Err(no_cast());
        }
        self.word("cast");
        match &last.arguments {
            PathArguments::AngleBracketed(widths) => self.width(widths.args.first().ok_or_else(no_cast)?),
            _ => self.value(quote!(optireduce_hw::hdl::prelude::Synth::bits(#call))),
        }
        self.expression(call.args.first().ok_or_else(no_cast)?)
    }

    fn method(&mut self, call: &ExprMethodCall) -> Result<()> {
        let arguments = || call.args.iter();
        match call.method.to_string().as_str() {
            "val" | "into" | "index" => return self.expression(&call.receiver),
            "any" => self.word("any"),
            "all" => self.word("all"),
            "get_bit" => self.word("bit"),
            "replace_bit" => self.word("replace"),
            "get_bits" => {
                let width = call.turbofish.as_ref().and_then(|width| width.args.first());
                let Some(GenericArgument::Const(_) | GenericArgument::Type(_)) = width else {
                    return Err(Error::new(call.span(), "expected the width of the slice: `get_bits::<8>(offset)`"));
                };
                self.word("slice");
                self.width(&width);
            }
            _ => return Err(Error::new(call.method.span(), "this method has no Verilog equivalent")),
        }
        self.expression(&call.receiver)?;
        arguments().try_for_each(|argument| self.expression(argument))
    }
}

fn operator(operator: &BinOp) -> Result<&'static str> {
    Ok(match operator {
        BinOp::Add(_) => "+",
        BinOp::Sub(_) => "-",
        BinOp::Mul(_) => "*",
        BinOp::And(_) => "&&",
        BinOp::Or(_) => "||",
        BinOp::BitXor(_) => "^",
        BinOp::BitAnd(_) => "&",
        BinOp::BitOr(_) => "|",
        BinOp::Shl(_) => "<<",
        BinOp::Shr(_) => ">>",
        BinOp::Eq(_) => "==",
        BinOp::Ne(_) => "!=",
        BinOp::Lt(_) => "<",
        BinOp::Le(_) => "<=",
        BinOp::Ge(_) => ">=",
        BinOp::Gt(_) => ">",
        _ => return Err(Error::new(operator.span(), "this operator has no Verilog equivalent")),
    })
}

/// Converts `self.fifo.memory.q` and `State::Idle` to rust-hdl's `fifo$memory$q` and `State$Idle`.
fn name(path: &impl ToTokens) -> String {
    let text = path.to_token_stream().to_string();
    text.replace(' ', "").replace("self.", "").replace('.', "$").replace("::", "$")
}

/// Arguments of `dff_setup!(self, clock, a, b)` and `clock!(self, clock, a, b)`.
struct Registers {
    owner: Expr,
    clock: Expr,
    blocks: Vec<Expr>,
    /// True for `dff_setup!`: registers hold their values by default.
    hold: bool,
}

impl Parse for Registers {
    fn parse(input: ParseStream) -> Result<Self> {
        let mut arguments = input.parse_terminated(Expr::parse, Token![,])?.into_iter();
        let (Some(owner), Some(clock)) = (arguments.next(), arguments.next()) else {
            return Err(input.error("expected `self`, the clock, and the blocks that it clocks"));
        };
        Ok(Registers { owner, clock, blocks: arguments.collect(), hold: false })
    }
}

fn registers(call: &Macro) -> Result<Registers> {
    let hold = match call.path.get_ident() {
        Some(name) if name == "dff_setup" => true,
        Some(name) if name == "clock" => false,
        _ => return Err(Error::new(call.path.span(), "a kernel can call only the macros `dff_setup!` and `clock!`")),
    };
    Ok(Registers { hold, ..call.parse_body()? })
}

/// Marks every assigned signal as driven.
fn driven(block: &Block) -> Result<TokenStream> {
    let mut marks: Vec<TokenStream> = Vec::new();
    let mut known: Vec<String> = Vec::new();
    let mut mark = |mark: TokenStream| {
        let text = mark.to_string();
        if !known.contains(&text) {
            known.push(text);
            marks.push(mark);
        }
    };
    for statement in &block.stmts {
        match statement {
            Stmt::Macro(call) => drive_registers(&call.mac, &mut mark)?,
            Stmt::Expr(expression, _) => drive(expression, &mut mark)?,
            _ => {}
        }
    }
    Ok(quote!(#(#marks)*))
}

fn drive(expression: &Expr, mark: &mut impl FnMut(TokenStream)) -> Result<()> {
    match expression {
        Expr::Assign(assign) => {
            let mut target = assign.left.as_ref();
            while let Expr::Field(field) = target {
                if matches!(&field.member, Member::Named(name) if name == "next") {
                    let signal = &field.base;
                    mark(quote!(optireduce_hw::hdl::prelude::Logic::connect(&mut #signal);));
                    break;
                }
                target = &field.base;
            }
        }
        Expr::If(conditional) => {
            mark(driven(&conditional.then_branch)?);
            if let Some((_, otherwise)) = &conditional.else_branch {
                drive(otherwise, mark)?;
            }
        }
        Expr::Block(block) => mark(driven(&block.block)?),
        Expr::Match(choice) => choice.arms.iter().try_for_each(|arm| drive(&arm.body, mark))?,
        Expr::ForLoop(turns) => {
            let (index, range, body) = (&turns.pat, &turns.expr, driven(&turns.body)?);
            mark(quote!(for #index in #range { #body }));
        }
        Expr::Macro(call) => drive_registers(&call.mac, mark)?,
        _ => {}
    }
    Ok(())
}

fn drive_registers(call: &Macro, mark: &mut impl FnMut(TokenStream)) -> Result<()> {
    let Registers { owner, blocks, hold, .. } = registers(call)?;
    for block in &blocks {
        mark(quote!(optireduce_hw::hdl::prelude::Logic::connect(&mut #owner.#block.clock);));
        if hold {
            mark(quote!(optireduce_hw::hdl::prelude::Logic::connect(&mut #owner.#block.d);));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use syn::parse_quote;

    fn words(kernel: &ItemFn) -> Result<String> {
        let mut text = Text::default();
        text.block(&kernel.block).map(|()| text.words)
    }

    #[test]
    fn a_kernel_is_written_in_prefix_notation() {
        let words = words(&parse_quote!(
            fn update(&mut self) {
                dff_setup!(self, clock, count);
                if self.go.val() && !self.full.val() {
                    self.sum.next = bit_cast_w::<9, 8>(self.lane[i].val()) + bits_w::<A>(1u64);
                }
            }
        ));
        assert_eq!(
            words.expect("it has a Verilog equivalent"),
            "{ macro { = 'count$clock$next 'clock = 'count$d$next 'count$q } \
             if && 'go not 'full { = 'sum$next + cast 9 'lane[i] cast @0 1u64 } end }"
        );
    }

    #[test]
    fn what_has_no_verilog_is_refused_with_the_reason() {
        let refused: [(ItemFn, &str); 8] = [
            (
                parse_quote!(
                    fn update(&mut self) {
                        let x = 1;
                    }
                ),
                "cannot contain declarations",
            ),
            (
                parse_quote!(
                    fn update(&mut self) {
                        println!("x");
                    }
                ),
                "only the macros",
            ),
            (
                parse_quote!(
                    fn update(&mut self) {
                        self.x.next += 1;
                    }
                ),
                "expected an assignment",
            ),
            (
                parse_quote!(
                    fn update(&mut self) {
                        self.x.next = helper(1);
                    }
                ),
                "can call only functions",
            ),
            (
                parse_quote!(
                    fn update(&mut self) {
                        self.x.next = self.y.next;
                    }
                ),
                "reads `.val()`",
            ),
            (
                parse_quote!(
                    fn update(&mut self) {
                        self.x.next = self.y.val().sqrt();
                    }
                ),
                "method has no Verilog equivalent",
            ),
            (
                parse_quote!(
                    fn update(&mut self) {
                        for i in 0..=2 {
                            self.x.next = true;
                        }
                    }
                ),
                "for i in from..to",
            ),
            (
                parse_quote!(
                    fn update(&mut self) {
                        self.x.next = 7u8;
                    }
                ),
                "an `i32`, or a `u64`",
            ),
        ];
        for (kernel, reason) in refused {
            let error = words(&kernel).expect_err(reason).to_string();
            assert!(error.contains(reason), "expected {reason}, found {error}");
        }
    }
}
