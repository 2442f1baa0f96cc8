//! Table of faults and errors in `driver/faults.md`.

use optireduce_contract::registers::CONTROL_ENABLE;

use crate::window::STATES;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    Removal,
    CardKilled,
    CardStopped,
    Reset,
    DmaError,
    Hang,
    NoMemory,
    NoInterrupts,
    DriverKilled,
    DriverStopped,
    SecondOpener,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// No error: the window is complete.
    Nothing,
    /// The caller is dead.
    Nobody,
    Gone,
    WasReset,
    DmaError,
    /// Unconsumed submissions.
    Silent(u32),
    Stopped,
    /// Only the second opener has an error.
    Busy,
}

pub struct Row {
    pub fault: Fault,
    pub what: &'static str,
    pub told: [Told; 4],
    pub next: &'static str,
}

const fn row(fault: Fault, what: &'static str, told: [Told; 4], next: &'static str) -> Row {
    Row { fault, what, told, next }
}

const AT_ONCE: &str = "works";
pub const ROWS: [Row; 11] = [
    row(Fault::Removal, "removed: it reads as ones", [Told::Gone; 4], "works once the card is back"),
    row(
        Fault::CardKilled,
        "the process that serves it is killed",
        [Told::Gone; 4],
        "works once the card is served again",
    ),
    row(
        Fault::CardStopped,
        "the process that serves it is stopped (SIGSTOP)",
        [Told::Gone; 4],
        "works once it continues",
    ),
    row(
        Fault::Reset,
        "reset by another process (function-level; Alveo shells: of the bus)",
        [Told::WasReset; 4],
        "works; so does `configure`",
    ),
    row(Fault::DmaError, "an address of the window is not mapped for the card", [Told::DmaError; 4], AT_ONCE),
    row(
        Fault::Hang,
        "its queues stall; registers still answer",
        [Told::Silent(2), Told::Silent(1), Told::Silent(0), Told::Silent(0)],
        AT_ONCE,
    ),
    row(Fault::NoMemory, "the IOMMU blocks all memory accesses", [Told::Stopped; 4], AT_ONCE),
    row(Fault::NoInterrupts, "its interrupts are lost", [Told::Nothing; 4], AT_ONCE),
    row(Fault::DriverKilled, "the caller's process is killed (SIGKILL)", [Told::Nobody; 4], AT_ONCE),
    row(Fault::DriverStopped, "the caller's process is stopped (SIGSTOP) and continued", [Told::Nothing; 4], AT_ONCE),
    row(Fault::SecondOpener, "another process opens it", [Told::Busy; 4], "works once the first has closed it"),
];

impl Told {
    fn name(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Nobody => "(ended)",
            Self::Gone => "gone",
            Self::WasReset => "reset",
            Self::DmaError => "DMA error",
            Self::Silent(2) => "silent, 2",
            Self::Silent(1) => "silent, 1",
            Self::Silent(_) => "silent, 0",
            Self::Stopped => "stopped",
            Self::Busy => "nothing; the other: busy",
        }
    }

    /// Error text of a driver with a timeout of one second.
    pub fn text(self) -> Option<String> {
        let text = match self {
            Self::Nothing | Self::Nobody => return None,
            Self::Gone => {
                "CARD: the card is gone: its MAGIC register reads all ones, twice.\n\
                 It was removed, lost power, or its simulator ended. Open it again once it is back."
            }
            Self::WasReset => {
                return Some(format!(
                    "CARD: the card has been reset or disabled by somebody else: CONTROL is 0x0, expected {CONTROL_ENABLE:#x}.\n\
                     Its windows are lost. Configure the card again, or reopen it, once no other process uses it."
                ));
            }
            Self::DmaError => "a completion with status DMA_ERROR",
            Self::Silent(entries) => {
                return Some(format!(
                    "CARD: no completion in 1s; {entries} submissions are not consumed, 0 not announced to the card.\n\
                     The card is alive. Is a window armed, and does its bound end before this timeout?"
                ));
            }
            Self::Stopped => {
                "CARD: queue 0 has stopped: the card could not read a submission or write a completion in host memory.\n\
                 Look for IOMMU faults in the kernel log, then configure the card again. Armed windows end with their bounds."
            }
            Self::Busy => {
                "CARD: agreeing on a version: no answer within 5s; another process probably has the card: it takes one driver at a time.\n\
                 End the job or program that has the card, or wait until it ends. If nothing has it, the process that serves the card hangs: restart it."
            }
        };
        Some(text.to_owned())
    }
}

pub fn markdown() -> String {
    let mut out =
        "| what happens | idle | armed | contributing | broadcasting | the next open |\n|---|---|---|---|---|---|\n"
            .to_owned();
    let mut told: Vec<Told> = Vec::new();
    for row in &ROWS {
        let cells: Vec<&str> = STATES.iter().zip(row.told).map(|(_, told)| told.name()).collect();
        out += &format!("| {} | {} | {} |\n", row.what, cells.join(" | "), row.next);
        for one in row.told {
            if !told.contains(&one) {
                told.push(one);
            }
        }
    }
    out += "\n```text\n";
    for (one, text) in told.into_iter().filter_map(|one| Some((one, one.text()?))) {
        let name = one.name().trim_start_matches("nothing; the other: ");
        out += &format!("{name}:\n    {}\n", text.replace('\n', "\n    "));
    }
    out + "```\n"
}
