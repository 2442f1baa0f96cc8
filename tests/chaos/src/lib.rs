//! Jobs of real processes on real sockets, with faults.
//!
//! `optireduce-sim campaign` tests the protocol in virtual time; these jobs test the program around
//! it: processes, kernel, TCP and files. The seed of a job determines its program, network, fault,
//! victim and times. Hosts are the namespaces of [`optireduce_badnet`]. Judges see only the user's
//! view: exit codes, messages, results, and leftovers.
//!
//! Limits: a seed does not repeat the machine's scheduling, so outcomes may differ. Time limits
//! suit a busy machine. Clock changes are not tested, since they would affect the whole machine.
//! Needs Linux and root.

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

/// Outcome of a job. `findings` are violations found by the judges, `compared` counts results
/// compared with sums of gradients. By rank: `codes` (signals are negative) and standard error
/// (`said`).
#[derive(Debug, serde::Serialize)]
#[allow(missing_docs)] // described above
pub struct Outcome {
    pub scenario: Scenario,
    pub findings: Vec<String>,
    pub codes: Vec<i32>,
    pub said: Vec<String>,
    pub compared: usize,
    pub seconds: f64,
}
