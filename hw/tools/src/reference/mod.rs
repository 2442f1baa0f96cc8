//! The contract between card and software, generated for other tools and languages.

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

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Reference for people: limits, registers, queue entries, packet, use
    Markdown,
    /// C11 and C++11 header for drivers and firmware: offsets, values, queue entries as structs
    C,
    /// SystemRDL 2.0 of BAR 0, for register tools
    Systemrdl,
    /// Packet dissector in Lua, for Wireshark and tshark
    Wireshark,
}

impl Format {
    pub fn text(self) -> String {
        match self {
            Self::Markdown => markdown(),
            Self::C => c_header(),
            Self::Systemrdl => systemrdl(),
            Self::Wireshark => dissector(),
        }
    }
}
