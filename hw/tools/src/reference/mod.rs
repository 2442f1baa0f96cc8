//! The contract between card and software in forms for those who do not write Rust, made from its tables, so that none can disagree with the code.

mod c_header;
mod dissector;
mod markdown;
mod prose;
mod systemrdl;
mod vectors;

pub use c_header::c_header;
pub use dissector::dissector;
pub use markdown::markdown;
pub use systemrdl::systemrdl;

/// In which form the contract is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// For people: limits, registers, queue entries, packet
    Markdown,
    /// For drivers and firmware in C11 and C++11: offsets, values, and structs of the queue entries
    C,
    /// SystemRDL 2.0 of BAR 0, for register tools
    Systemrdl,
    /// A dissector in Lua of the packets, for Wireshark and tshark
    Wireshark,
}

impl Format {
    /// The contract in this form.
    pub fn text(self) -> String {
        match self {
            Self::Markdown => markdown(),
            Self::C => c_header(),
            Self::Systemrdl => systemrdl(),
            Self::Wireshark => dissector(),
        }
    }
}
