//! Parsed modules of emitted Verilog, shared by the passes of [`crate::cosim`] and the tools.
//!
//! A module is a name and a list of [`Item`]s in order. Declarations, instances, assignments and
//! memories are parsed; `always` and `initial` blocks stay text. Printing reproduces the input byte
//! by byte, except text between modules and after `endmodule`.
//! Limits: accepts the layout that rust-hdl prints, with one declaration or assignment per line.
//! Other lines (hand-written declarations, comments, directives) stay text.

use std::fmt::{self, Display};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    pub name: String,
    pub items: Vec<Item>,
    /// Printed with the attribute `keep_hierarchy`, so that yosys does not flatten it.
    pub kept: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    Net(Net),
    /// `localparam`: name and whole line.
    Constant(String, String),
    Instance(Instance),
    Assign(Assign),
    Memory(Memory),
    /// `always` or `initial`.
    Block(String),
    Text(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Input,
    OutputReg,
    OutputWire,
    Reg,
    Wire,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Net {
    pub name: String,
    pub kind: Kind,
    pub bits: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    pub module: String,
    pub name: String,
    /// Ports and the nets connected to them.
    pub pins: Vec<(String, String)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assign {
    pub to: String,
    pub value: String,
}

/// `(* attributes *) reg [bits-1:0] mem [0:words-1];`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Text between `(*` and `*)`.
    pub attributes: String,
    pub bits: usize,
    pub words: usize,
}

/// Deviation from rust-hdl's layout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Empty outside modules.
    pub module: String,
    /// From 1.
    pub line: usize,
    pub found: String,
    pub expected: String,
}

impl Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ParseError { module, line, found, expected } = self;
        let place = if module.is_empty() { "outside any module".to_owned() } else { format!("module {module}") };
        write!(f, "Verilog line {line}, {place}: found `{found}`, expected {expected}")
    }
}

impl std::error::Error for ParseError {}

impl From<ParseError> for String {
    fn from(error: ParseError) -> Self {
        error.to_string()
    }
}

impl Kind {
    const ALL: [(Kind, &str); 5] = [
        (Kind::Input, "input wire"),
        (Kind::OutputReg, "output reg"),
        (Kind::OutputWire, "output wire"),
        (Kind::Reg, "reg"),
        (Kind::Wire, "wire"),
    ];

    pub fn is_port(self) -> bool {
        !matches!(self, Kind::Reg | Kind::Wire)
    }

    pub fn is_output(self) -> bool {
        matches!(self, Kind::OutputReg | Kind::OutputWire)
    }
}

impl Memory {
    /// `style` is `"block"` or `"distributed"`.
    pub fn is_style(&self, style: &str) -> bool {
        self.attributes.starts_with(&format!("ram_style = \"{style}\""))
    }
}

impl Module {
    pub fn nets(&self) -> impl Iterator<Item = &Net> {
        self.items.iter().filter_map(|item| if let Item::Net(net) = item { Some(net) } else { None })
    }

    pub fn ports(&self) -> impl Iterator<Item = &Net> {
        self.nets().filter(|net| net.kind.is_port())
    }

    pub fn instances(&self) -> impl Iterator<Item = &Instance> {
        self.items.iter().filter_map(|item| if let Item::Instance(instance) = item { Some(instance) } else { None })
    }

    pub fn instances_mut(&mut self) -> impl Iterator<Item = &mut Instance> {
        self.items.iter_mut().filter_map(|item| if let Item::Instance(instance) = item { Some(instance) } else { None })
    }

    pub fn memory(&self) -> Option<&Memory> {
        self.items.iter().find_map(|item| if let Item::Memory(memory) = item { Some(memory) } else { None })
    }

    pub fn block_contains(&self, text: &str) -> bool {
        self.items.iter().any(|item| matches!(item, Item::Block(block) if block.contains(text)))
    }

    /// Text from the port list to `endmodule`, without the name.
    pub fn body(&self) -> String {
        let ports: Vec<&str> = self.ports().map(|port| port.name.as_str()).collect();
        let items: String = self.items.iter().map(ToString::to_string).collect();
        format!("({});\n{items}endmodule\n", ports.join(","))
    }
}

impl Display for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let attribute = if self.kept { "(* keep_hierarchy *)\n" } else { "" };
        write!(f, "\n{attribute}module {}{}", self.name, self.body())
    }
}

impl Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Item::Net(net) => writeln!(f, "    {net}"),
            Item::Constant(_, line) | Item::Text(line) => writeln!(f, "{line}"),
            Item::Block(lines) => writeln!(f, "{lines}"),
            Item::Assign(Assign { to, value }) => writeln!(f, "    assign {to} = {value};"),
            Item::Memory(Memory { attributes, bits, words }) => {
                writeln!(f, "    (* {attributes} *) reg [{}:0] mem [0:{}];", bits - 1, words - 1)
            }
            Item::Instance(Instance { module, name, pins }) => {
                let pins: Vec<String> = pins.iter().map(|(port, net)| format!("        .{port}({net})")).collect();
                writeln!(f, "    {module} {name}(\n{}\n    );", pins.join(",\n"))
            }
        }
    }
}

impl Display for Net {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = Kind::ALL.iter().find(|(kind, _)| *kind == self.kind).map_or("", |(_, text)| text);
        let range = if self.bits == 1 { String::new() } else { format!("[{}:0] ", self.bits - 1) };
        write!(f, "{kind}  {range}{};", self.name)
    }
}

pub fn print(modules: &[Module]) -> String {
    modules.iter().map(ToString::to_string).collect()
}

/// Parses the modules of `verilog` in order.
///
/// # Errors
/// If the text is not in rust-hdl's layout.
pub fn parse(verilog: &str) -> Result<Vec<Module>, ParseError> {
    let mut parser = Parser { lines: verilog.lines().enumerate().peekable(), module: String::new(), line: 0 };
    let (mut modules, mut kept) = (Vec::new(), false);
    while let Some(line) = parser.next() {
        match line.trim() {
            "(* keep_hierarchy *)" => kept = true,
            "" => {}
            line if line.starts_with("//") || line.starts_with("/*") => {}
            line => match line.strip_prefix("module ") {
                Some(header) => modules.push(Module { kept: std::mem::take(&mut kept), ..parser.module(header)? }),
                None => return Err(parser.error(line, "`module NAME(PORTS);`")),
            },
        }
    }
    Ok(modules)
}

struct Parser<'a, L: Iterator<Item = (usize, &'a str)>> {
    lines: std::iter::Peekable<L>,
    module: String,
    line: usize,
}

impl<'a, L: Iterator<Item = (usize, &'a str)>> Parser<'a, L> {
    fn next(&mut self) -> Option<&'a str> {
        let (index, line) = self.lines.next()?;
        self.line = index + 1;
        Some(line)
    }

    /// Returns the next line of an unfinished item.
    fn more(&mut self, expected: &str) -> Result<&'a str, ParseError> {
        self.next().ok_or_else(|| self.error("end of text", expected))
    }

    fn error(&self, found: &str, expected: impl Into<String>) -> ParseError {
        let (module, found) = (self.module.clone(), found.trim().to_owned());
        ParseError { module, line: self.line, found, expected: expected.into() }
    }

    /// Parses the rest of a module whose first line continues with `header`.
    fn module(&mut self, header: &'a str) -> Result<Module, ParseError> {
        const HEADER: &str = "a port list, `(a,b);`";
        let start = self.line;
        let mut header = header.to_owned();
        while !header.ends_with(");") {
            header += self.more(HEADER)?.trim();
        }
        let (name, listed) = header.split_once('(').ok_or_else(|| self.error(&header, HEADER))?;
        let (name, listed) = (name.trim(), listed.trim_end_matches(");"));
        self.module = name.to_owned();
        let mut items = Vec::new();
        loop {
            let line = self.more("`endmodule`")?;
            if line.trim_start().starts_with("endmodule") {
                break;
            }
            items.push(self.item(line)?);
        }
        let module = Module { name: std::mem::take(&mut self.module), items, kept: false };
        let declared: Vec<&str> = module.ports().map(|port| port.name.as_str()).collect();
        let listed: Vec<&str> = listed.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
        if listed != declared {
            let (found, expected) = (listed.join(","), format!("`{}`, as the ports are declared", declared.join(",")));
            return Err(ParseError { module: module.name, line: start, found, expected });
        }
        Ok(module)
    }

    fn item(&mut self, line: &'a str) -> Result<Item, ParseError> {
        let trimmed = line.trim();
        let text = || Item::Text(line.to_owned());
        let first = trimmed.split([' ', '(']).next().unwrap_or_default();
        Ok(match first {
            "input" | "output" | "inout" => {
                let port = net(trimmed).ok_or_else(|| {
                    self.error(line, "a port, `input wire`, `output reg` or `output wire`, with `[N:0]` or one bit")
                })?;
                Item::Net(port)
            }
            "reg" | "wire" => net(trimmed).map_or_else(text, Item::Net),
            "localparam" => {
                let name = trimmed.split_once(" = ").and_then(|(left, _)| left.split_whitespace().last());
                let name = name.ok_or_else(|| self.error(line, "`localparam NAME = VALUE;`"))?;
                Item::Constant(name.to_owned(), line.to_owned())
            }
            "assign" => {
                let assign = trimmed["assign".len()..].strip_suffix(';').and_then(|rest| rest.split_once(" = "));
                let (to, value) = assign.ok_or_else(|| self.error(line, "`assign NAME = VALUE;`"))?;
                Item::Assign(Assign { to: to.trim().to_owned(), value: value.to_owned() })
            }
            "always" | "initial" => self.block(line)?,
            "" if trimmed.starts_with('(') => memory(trimmed).map_or_else(text, Item::Memory),
            "" | "integer" => text(),
            _ if first.starts_with("//") || first.starts_with('`') => text(),
            _ => match trimmed.strip_suffix('(').and_then(|instance| instance.split_once(' ')) {
                Some((module, name)) => self.instance(module, name)?,
                None => {
                    let expected = "a declaration, an instance, `assign`, `always`, `initial` or `endmodule`";
                    return Err(self.error(line, expected));
                }
            },
        })
    }

    fn instance(&mut self, module: &str, name: &str) -> Result<Item, ParseError> {
        let mut pins = Vec::new();
        loop {
            let line = self.more("`);` at the end of an instance")?.trim();
            if line == ");" {
                return Ok(Item::Instance(Instance { module: module.to_owned(), name: name.to_owned(), pins }));
            }
            let pin = line.trim_end_matches(',').strip_prefix('.').and_then(|pin| pin.strip_suffix(')'));
            let (port, net) =
                pin.and_then(|pin| pin.split_once('(')).ok_or_else(|| self.error(line, "a pin, `.port(net),`"))?;
            pins.push((port.to_owned(), net.to_owned()));
        }
    }

    /// Parses a block whose first line is `first`.
    fn block(&mut self, first: &'a str) -> Result<Item, ParseError> {
        let mut lines = vec![first];
        let mut depth = depth(first);
        let is_whole = |line: &str| line.ends_with(';') || line.ends_with("end");
        while depth > 0 || !lines.last().is_some_and(|line| is_whole(line.trim_end())) {
            let line = self.more("`end` of a block")?;
            if line.trim_start().starts_with("endmodule") {
                return Err(self.error(line, "`end` of a block"));
            }
            depth += self::depth(line);
            lines.push(line);
        }
        Ok(Item::Block(lines.join("\n")))
    }
}

/// Number of blocks that a line opens minus those it closes.
fn depth(line: &str) -> isize {
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$');
    let code = line.split_once("//").map_or(line, |(code, _)| code);
    let change = |word| match word {
        "begin" | "case" => 1,
        "end" | "endcase" => -1,
        _ => 0,
    };
    code.split(|c| !is_word(c)).map(change).sum()
}

fn net(line: &str) -> Option<Net> {
    let (kind, rest) = Kind::ALL.iter().find_map(|(kind, text)| Some((*kind, line.strip_prefix(text)?)))?;
    let (bits, name) = match rest.strip_prefix("  ")?.strip_suffix(';')?.split_once(' ') {
        None => (1, &rest[2..rest.len() - 1]),
        Some((range, name)) => (range.strip_prefix('[')?.strip_suffix(":0]")?.parse::<usize>().ok()? + 1, name),
    };
    let net = Net { name: name.to_owned(), kind, bits };
    (net.to_string() == line && !name.contains([' ', '='])).then_some(net)
}

/// Parses a memory in the layout of `mem::ram`.
fn memory(line: &str) -> Option<Memory> {
    let (attributes, rest) = line.strip_prefix("(* ")?.split_once(" *) reg [")?;
    let (high, last) = rest.strip_suffix("];")?.split_once(":0] mem [0:")?;
    let count = |text: &str| text.parse::<usize>().ok().map(|last| last + 1);
    Some(Memory { attributes: attributes.to_owned(), bits: count(high)?, words: count(last)? })
}

#[cfg(test)]
#[path = "module_tests.rs"]
mod tests;
