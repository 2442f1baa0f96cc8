//! Finds expressions whose emitted Verilog behaves differently from their simulation in rust-hdl.
//!
//! rust-hdl prints operators without widths and parentheses. Rust truncates every result to the
//! width of its operands. Verilog computes at the width of the widest operand of the whole
//! expression, and literals have 32 or 64 bits. No tool warns.
//!
//! Limits: the lint parses `#[hdl_gen]` functions and their `#[sections]` without types, so some
//! findings are harmless (`!flag == other` on single bits). It does not read arguments of macros.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{
    Attribute, BinOp, Block, Expr, ExprBinary, ExprCall, ExprForLoop, ExprMethodCall, ImplItemFn, ItemFn, ItemImpl,
    RangeLimits, Signature, UnOp,
};

/// Maximum lines of a function in a kernel.
pub const LINES_MAX: usize = 150;

/// Difference between simulation and Verilog, or a function that is too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// `bit_cast_w::<9, 8>(a + b)`, 200 + 100: Rust drops the carry (44), Verilog keeps it (300).
    CastOfSum,
    /// `(a - 1) > b`, a = 0: Rust wraps at the width of `a`, Verilog at 32 bits or more.
    CompareSum,
    /// `!a == 0`, a = 255: Verilog also inverts bits above the width of `a`.
    CompareNot,
    /// `bit_cast_w::<16, 8>(!a)`: the same, 55 against 65335.
    CastOfNot,
    /// `a & b == b`: Rust compares last, Verilog first, and rust-hdl prints no parentheses.
    BitOpPrecedence,
    /// `for i in 0..=2`: three iterations in Rust, two in Verilog.
    InclusiveRange,
    /// `(a + b).get_bits::<4>(0)` (not valid Verilog), `(a + b).any()`,
    /// `bit_cast_w::<16, 8>(a << 4)`, `(a - 1) >> 1`, `a << (b + 1)`: Verilog keeps bits above the
    /// width of `a`. They appear in the result, are shifted in, or shift further.
    SliceOrShiftOfExpression,
    /// A kernel, or a section of one, has more than [`LINES_MAX`] lines.
    LongFunction,
}

impl Class {
    pub fn name(self) -> &'static str {
        match self {
            Self::CastOfSum => "cast-of-sum",
            Self::CompareSum => "compare-sum",
            Self::CompareNot => "compare-not",
            Self::CastOfNot => "cast-of-not",
            Self::BitOpPrecedence => "bit-op-precedence",
            Self::InclusiveRange => "inclusive-range",
            Self::SliceOrShiftOfExpression => "slice-or-shift-of-expression",
            Self::LongFunction => "long-function",
        }
    }

    pub fn instead(self) -> &'static str {
        match self {
            Self::CastOfSum => "cast the operands, then add; or assign the sum to a Wire of exact width, and cast that",
            Self::CompareSum => "assign the result to a Wire of its exact width, and compare that",
            Self::CompareNot => {
                "assign the complement to a Wire of its exact width, and compare that; for two bools, write `!=`"
            }
            Self::CastOfNot => "assign the complement to a Wire of its exact width, and cast that",
            Self::BitOpPrecedence => "add the parentheses that Rust implies: `(a & b) == c`",
            Self::InclusiveRange => "write an exclusive range: `0..3` for `0..=2`",
            Self::SliceOrShiftOfExpression => {
                "assign the expression to a Wire of its exact width, and slice, cast or shift that"
            }
            Self::LongFunction => "more than 150 lines: split it into several functions with #[sections]",
        }
    }
}

/// Expression to change; line and column count from 1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub file: PathBuf,
    pub line: usize,
    pub column: usize,
    pub class: Class,
    pub expression: String,
    pub instead: &'static str,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Finding { file, line, column, class, expression, instead } = self;
        write!(f, "{}:{line}:{column}: {}: `{expression}`: {instead}", file.display(), class.name())
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    pub files: usize,
    pub kernels: usize,
    pub findings: Vec<Finding>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { files, kernels, findings } = self;
        findings.iter().try_for_each(|finding| writeln!(f, "{finding}"))?;
        writeln!(f, "files: {files}, kernels: {kernels}, findings: {}", findings.len())
    }
}

/// Lints files, and all `.rs` files below folders. Without paths, lints the card's sources.
pub fn paths(paths: &[PathBuf]) -> Result<Report, String> {
    let sources = [Path::new(env!("CARGO_MANIFEST_DIR")).join("../src")];
    let (mut files, mut report) = (Vec::new(), Report::default());
    for path in if paths.is_empty() { &sources } else { paths } {
        collect(path, true, &mut files).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    for file in files {
        let text = fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        source(&file, &text, &mut report)?;
    }
    Ok(report)
}

fn collect(path: &Path, is_named: bool, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    if fs::metadata(path)?.is_dir() {
        let mut entries = fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()?;
        entries.sort();
        entries.iter().try_for_each(|entry| collect(entry, false, files))?;
    } else if is_named || path.extension().is_some_and(|extension| extension == "rs") {
        files.push(path.into());
    }
    Ok(())
}

pub fn source(file: &Path, text: &str, report: &mut Report) -> Result<(), String> {
    let syntax = syn::parse_file(text).map_err(|error| {
        let at = error.span().start();
        format!("{}:{}:{}: not Rust: {error}", file.display(), at.line, at.column + 1)
    })?;
    report.files += 1;
    Lint { file, text, in_sections: false, in_kernel: false, report }.visit_file(&syntax);
    Ok(())
}

struct Lint<'a> {
    file: &'a Path,
    text: &'a str,
    /// Set in an `impl` with `#[sections]`, whose functions are parts of one kernel.
    in_sections: bool,
    in_kernel: bool,
    report: &'a mut Report,
}

impl Lint<'_> {
    fn find(&mut self, class: Class, expression: &impl Spanned) {
        let span = expression.span();
        let at = span.start();
        let written = &self.text[span.byte_range()];
        let expression = written.split_whitespace().collect::<Vec<_>>().join(" ");
        let (file, instead) = (self.file.into(), class.instead());
        self.report.findings.push(Finding { file, line: at.line, column: at.column + 1, class, expression, instead });
    }

    /// Reports `whole` if an operand is a sum, a complement or a left shift.
    fn wide<'e>(&mut self, whole: &Expr, operands: impl IntoIterator<Item = &'e Expr>, [sum, not, shift]: [Class; 3]) {
        match operands.into_iter().find_map(computed) {
            Some(Computed::Sum) => self.find(sum, whole),
            Some(Computed::Not) => self.find(not, whole),
            Some(Computed::Shift) => self.find(shift, whole),
            None => {}
        }
    }

    fn expression(&mut self, whole: &Expr) {
        use Class::{CastOfNot, CastOfSum, CompareNot, CompareSum, SliceOrShiftOfExpression as Slice};
        match whole {
            Expr::Binary(ExprBinary { left, op, right, .. }) if is_comparison(op) => {
                if is_bit_operation(left) || is_bit_operation(right) {
                    self.find(Class::BitOpPrecedence, whole);
                }
                self.wide(whole, [&**left, right], [CompareSum, CompareNot, CompareSum]);
            }
            Expr::Binary(ExprBinary { op: BinOp::Shl(_), right, .. }) => self.wide(whole, [&**right], [Slice; 3]),
            Expr::Binary(ExprBinary { left, op: BinOp::Shr(_), right, .. }) => {
                self.wide(whole, [&**left, right], [Slice; 3]);
            }
            Expr::Call(ExprCall { func, args, .. }) if is_cast(func) => {
                self.wide(whole, args, [CastOfSum, CastOfNot, Slice]);
            }
            Expr::MethodCall(ExprMethodCall { receiver, method, .. }) => match method.to_string().as_str() {
                "get_bit" | "get_bits" if !is_plain(receiver) => self.find(Slice, whole),
                "any" | "all" | "xor" | "index" => self.wide(whole, [&**receiver], [Slice; 3]),
                _ => {}
            },
            Expr::ForLoop(ExprForLoop { expr, .. }) => {
                if matches!(&**expr, Expr::Range(range) if matches!(range.limits, RangeLimits::Closed(_))) {
                    self.find(Class::InclusiveRange, expr);
                }
            }
            _ => {}
        }
    }

    fn function(
        &mut self,
        attributes: &[Attribute],
        signature: &Signature,
        body: &Block,
        visit: impl FnOnce(&mut Self),
    ) {
        let is_kernel = has(attributes, "hdl_gen");
        self.report.kernels += usize::from(is_kernel);
        let outer = std::mem::replace(&mut self.in_kernel, is_kernel || self.in_sections);
        let lines = body.span().end().line - signature.span().start().line + 1;
        if self.in_kernel && lines > LINES_MAX {
            self.find(Class::LongFunction, signature);
        }
        visit(self);
        self.in_kernel = outer;
    }
}

fn has(attributes: &[Attribute], name: &str) -> bool {
    attributes.iter().any(|attribute| attribute.path().segments.last().is_some_and(|last| last.ident == name))
}

impl<'ast> Visit<'ast> for Lint<'_> {
    fn visit_item_impl(&mut self, block: &'ast ItemImpl) {
        let outer = std::mem::replace(&mut self.in_sections, has(&block.attrs, "sections"));
        visit::visit_item_impl(self, block);
        self.in_sections = outer;
    }

    fn visit_item_fn(&mut self, function: &'ast ItemFn) {
        let ItemFn { attrs, sig, block, .. } = function;
        self.function(attrs, sig, block, |lint| visit::visit_item_fn(lint, function));
    }

    fn visit_impl_item_fn(&mut self, function: &'ast ImplItemFn) {
        let ImplItemFn { attrs, sig, block, .. } = function;
        self.function(attrs, sig, block, |lint| visit::visit_impl_item_fn(lint, function));
    }

    fn visit_expr(&mut self, expression: &'ast Expr) {
        if self.in_kernel {
            self.expression(expression);
        }
        visit::visit_expr(self, expression);
    }
}

/// Operations that have more bits in Verilog than in Rust.
enum Computed {
    Sum,
    Not,
    Shift,
}

/// Returns the operation in `expression` whose width depends on the surrounding expression.
fn computed(expression: &Expr) -> Option<Computed> {
    match expression {
        Expr::Paren(paren) => computed(&paren.expr),
        Expr::Binary(ExprBinary { left, op, right, .. }) => match op {
            BinOp::Add(_) | BinOp::Sub(_) | BinOp::Mul(_) => Some(Computed::Sum),
            BinOp::Shl(_) => Some(Computed::Shift),
            BinOp::Shr(_) => computed(left),
            BinOp::BitAnd(_) | BinOp::BitOr(_) | BinOp::BitXor(_) => computed(left).or_else(|| computed(right)),
            _ => None, // a comparison, && or ||: one bit in any context
        },
        Expr::Unary(unary) => match unary.op {
            UnOp::Not(_) => Some(Computed::Not),
            _ => Some(Computed::Sum),
        },
        Expr::MethodCall(call) => match call.method.to_string().as_str() {
            "get_bit" | "get_bits" | "any" | "all" | "xor" => None, // width independent of the context
            _ => computed(&call.receiver),
        },
        _ => None, // a cast has its own width; the rest are signals and literals
    }
}

fn is_comparison(op: &BinOp) -> bool {
    matches!(op, BinOp::Eq(_) | BinOp::Ne(_) | BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_))
}

fn is_bit_operation(expression: &Expr) -> bool {
    let Expr::Binary(ExprBinary { op, .. }) = expression else { return false };
    matches!(op, BinOp::BitAnd(_) | BinOp::BitOr(_) | BinOp::BitXor(_))
}

fn is_cast(function: &Expr) -> bool {
    let Expr::Path(path) = function else { return false };
    let name = path.path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default();
    ["bit_cast", "bits", "Bits", "unsigned_cast", "signed_"].iter().any(|cast| name.starts_with(cast))
}

/// Returns whether the expression has a name in Verilog, so that it can be sliced.
fn is_plain(expression: &Expr) -> bool {
    match expression {
        Expr::MethodCall(call) => call.method == "val" && is_plain(&call.receiver),
        Expr::Field(field) => !matches!(&*field.base, Expr::MethodCall(_)) && is_plain(&field.base),
        Expr::Index(index) => is_plain(&index.expr),
        Expr::Path(_) => true,
        _ => false,
    }
}
