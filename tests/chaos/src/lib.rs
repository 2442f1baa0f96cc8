//! Jobs of real processes, on real sockets, with faults: the small sister of `optireduce-sim campaign`.
//!
//! Why: virtual time shows what the protocol does; only processes, kernels, TCP and files show what the program around it does.
//! Each job follows from a seed: `optireduce run` or a trainer that links the library, the network, one fault, its victim and its
//! moment. Hosts are the namespaces of [`optireduce_badnet`]. Judges look only at what users see: exit codes, messages, results,
//! and what is left behind.
//!
//! Limits: the machine's own scheduling is not seeded, so a seed repeats what is done, not what comes of it. No bound on time is
//! tighter than a busy machine can keep. The clock is not set, since it would be set for the whole machine. Linux, root.

mod faults;
mod files;
mod job;
mod judge;
mod process;
mod record;
mod scenario;
mod strangers;
mod training;

pub use job::{Programs, run};
pub use process::INTERRUPTED;
pub use record::{End, Entry, Got, Log};
pub use scenario::{Fault, Scenario, Subject};

/// What a job has come to.
#[derive(Debug, serde::Serialize)]
pub struct Outcome {
    /// What was done.
    pub scenario: Scenario,
    /// What should not have happened; empty: all judges agree.
    pub findings: Vec<String>,
    /// How the ranks ended, by rank: exit code, or the signal as a negative number.
    pub codes: Vec<i32>,
    /// What the ranks said on standard error.
    pub said: Vec<String>,
    /// Collectives whose results were compared with sums computed from all ranks' gradients.
    pub compared: usize,
    /// How long it took.
    pub seconds: f64,
}
