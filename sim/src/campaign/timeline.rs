//! Timeline of a job as text.

use std::fmt;

use optireduce_core::protocol::{Report, UpdateAction};

use super::fault::FaultKind;

#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub at_ns: u64,
    pub rank: Option<usize>,
    pub what: What,
}

#[derive(Clone, Debug)]
pub(super) enum What {
    Calls(u32),
    /// First mean of a window: its contribute stage has closed.
    SendsMean(u16),
    Finished {
        op: u32,
        action: UpdateAction,
        is_lossy: bool,
        text: String,
    },
    WaitsForView,
    Fails(String),
    Misses(usize),
    HearsGone(usize),
    Knows {
        view: u32,
        first_op: u32,
        members: Vec<usize>,
    },
    IsDropped,
    AsksToJoin,
    Joined,
    Ends,
    Restarts,
    Thaws,
    Fault {
        number: usize,
        kind: FaultKind,
        lasts_ns: u64,
    },
}

impl What {
    pub fn finished(report: &Report) -> Self {
        let missing: usize = report.missing_ranges().iter().map(|range| range.len()).sum();
        let loss = report.stages.each_ref().map(|stage| stage.expected_bytes - stage.received_bytes);
        let mut text = format!("{} of bucket {}, {:?}", report.kind, report.bucket, report.action).to_lowercase();
        if loss != [0, 0] {
            text +=
                &format!(", {} + {} B lost ({:?}, {:?})", loss[0], loss[1], report.closed_by[0], report.closed_by[1])
                    .to_lowercase();
        }
        if missing > 0 {
            text += &format!(", {missing} elements missing");
        }
        if report.repair.corrected {
            text += ", with corrections";
        }
        let is_lossy = report.lost_bytes > 0;
        Self::Finished { op: report.op, action: report.action, is_lossy, text }
    }
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Calls(op) => write!(f, "calls {op}"),
            Self::SendsMean(step) => write!(f, "sends its first mean of {step}"),
            Self::Finished { op, text, .. } => write!(f, "returns {op}: {text}"),
            Self::WaitsForView => write!(f, "waits for a view"),
            Self::Fails(why) => write!(f, "gives up: {why}"),
            Self::Misses(rank) => write!(f, "misses packets of rank {rank}"),
            Self::HearsGone(rank) => write!(f, "its connection to rank {rank} closed"),
            Self::Knows { view, first_op, members } => write!(f, "view {view} from {first_op} on: {members:?}"),
            Self::IsDropped => write!(f, "was dropped"),
            Self::Joined => write!(f, "has joined again"),
            Self::Ends => write!(f, "its process ends"),
            Self::AsksToJoin => write!(f, "asks to join"),
            Self::Restarts => write!(f, "its process restarts"),
            Self::Thaws => write!(f, "its host resumes"),
            Self::Fault { number, kind, lasts_ns } => {
                write!(f, "FAULT {number}: {} ({} us)", kind.name(), lasts_ns / 1000)
            }
        }
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Timeline {
    pub records: bool,
    pub entries: Vec<Entry>,
}

impl Timeline {
    pub fn new(records: bool) -> Self {
        Self { records, entries: Vec::new() }
    }

    pub fn add(&mut self, at_ns: u64, rank: Option<usize>, what: What) {
        if self.records {
            self.entries.push(Entry { at_ns, rank, what });
        }
    }

    pub fn text(&self) -> String {
        let line = |entry: &Entry| {
            let rank = entry.rank.map_or(String::new(), |rank| format!("rank {rank}"));
            format!("{:>12.1} us  {rank:<8} {}\n", entry.at_ns as f64 / 1000.0, entry.what)
        };
        self.entries.iter().map(line).collect()
    }
}
