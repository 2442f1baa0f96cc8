//! Callers of the C library: two ranks in one process, each a thread that makes the calls in the
//! fuzzer's bytes.
//!
//! Both usually make the same call; sometimes one makes none, or has other arguments. Calls have
//! any order, also after the end of the job. Arguments include:
//! - NULL, unaligned, equal or overlapping memory, and unterminated texts
//! - counts that do not match or exceed all memory, and structs of any size
//! - handles of another kind, destroyed or invented
//! - unknown types and operations, and arbitrary ids
//!
//! Checked after each call: no panic, a status and text as the header describes for the arguments
//! and the state, and no write outside the ranges of a successful call. Checked at the end: no call
//! waits for ever, and each callback was called once.
//!
//! Not covered, since the header makes the caller responsible:
//! - addresses without memory or with too little, and memory freed or written during a request
//! - handles used while another thread destroys them (see `random.c` of the library's tests)
//! - callbacks that do not return, forks and cancelled threads (see `processes.c`)
//!
//! Also not covered: names that need a name server, the launcher's environment, and buckets larger
//! than the machine's memory.
//!
//! Limits: concurrent calls of two threads do not repeat exactly. A new job takes far longer than
//! an input, so a job is used for the next input as long as both ranks made the same calls
//! successfully.

mod arguments;
mod buckets;
mod bytes;
mod comms;
mod memory;
mod partials;
mod rank;
mod request;
mod values;

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::without_provenance_mut;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use optireduce_c::abi::comm::{optr_comm_abort, optr_get_unique_id};
use optireduce_c::types::optr_status_t::{OPTR_INVALID_HANDLE, OPTR_SUCCESS};
use optireduce_c::types::optr_unique_id_t;

use self::rank::Rank;

const JOBS_MAX: usize = 3;
/// Time without progress before both communicators are aborted.
const STUCK: Duration = Duration::from_millis(12);
/// [`STUCK`] once the other rank is done.
const STUCK_ALONE: Duration = Duration::from_millis(4);
const INPUT_MAX: Duration = Duration::from_secs(60);

pub struct Shared {
    ids: [OnceLock<optr_unique_id_t>; JOBS_MAX],
    /// Communicator of each rank; 0: none.
    comms: [AtomicUsize; 2],
    progress: AtomicUsize,
    /// Set before the communicators are aborted.
    ended: AtomicBool,
}

impl Shared {
    /// Id of a job; `None` beyond [`JOBS_MAX`].
    fn id(&self, job: usize) -> Option<optr_unique_id_t> {
        let make = || {
            let mut id = optr_unique_id_t { bytes: [0; _] };
            // SAFETY: a text, and room for an id.
            assert_eq!(unsafe { optr_get_unique_id(c"127.0.0.1".as_ptr(), &mut id) }, OPTR_SUCCESS);
            id
        };
        self.ids.get(job).map(|id| *id.get_or_init(make))
    }
}

/// `goes_on`: the rank keeps its current job.
struct Input {
    data: Arc<[u8]>,
    shared: Arc<Shared>,
    goes_on: bool,
}

/// Counters to compare with the other rank's if the job can be kept, or a panic.
type Ended = Result<Option<[u64; 3]>, Box<dyn Any + Send>>;

struct Ranks {
    inputs: [Sender<Input>; 2],
    ended: [Receiver<Ended>; 2],
    comms: [usize; 2],
    go_on: bool,
}

impl Ranks {
    fn start() -> Self {
        let started = [0, 1].map(|number| {
            let ((sender, inputs), (ended, receiver)) = (channel::<Input>(), channel());
            thread::spawn(move || {
                let mut rank = Rank::new(number);
                for input in inputs {
                    let ended_so = catch_unwind(AssertUnwindSafe(|| run(&mut rank, &input)));
                    let _ = ended.send(ended_so);
                }
            });
            (sender, receiver)
        });
        let [(one, one_ended), (other, other_ended)] = started;
        Self { inputs: [one, other], ended: [one_ended, other_ended], comms: [0; 2], go_on: false }
    }

    fn play(&mut self, data: &[u8]) {
        let shared = Arc::new(Shared {
            ids: Default::default(),
            comms: self.comms.map(AtomicUsize::new),
            progress: AtomicUsize::new(0),
            ended: AtomicBool::new(false),
        });
        for inputs in &self.inputs {
            let input = Input { data: data.into(), shared: shared.clone(), goes_on: self.go_on };
            inputs.send(input).expect("the rank's thread");
        }
        let mut ended: [Option<Ended>; 2] = [None, None];
        let (begin, mut moved, mut progress) = (Instant::now(), Instant::now(), 0);
        while ended.iter().any(Option::is_none) {
            for (rank, ended) in ended.iter_mut().enumerate().filter(|(_, ended)| ended.is_none()) {
                match self.ended[rank].recv_timeout(Duration::from_millis(1)) {
                    Ok(so) => *ended = Some(so),
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => panic!("the thread of rank {rank} has ended"),
                }
            }
            let now = shared.progress.load(Ordering::Relaxed);
            if now != progress {
                (progress, moved) = (now, Instant::now());
            } else if moved.elapsed() > if ended.iter().any(Option::is_some) { STUCK_ALONE } else { STUCK } {
                shared.ended.store(true, Ordering::SeqCst);
                shared.comms.iter().for_each(|comm| abort(comm.load(Ordering::SeqCst)));
                moved = Instant::now();
            }
            assert!(begin.elapsed() < INPUT_MAX, "a call does not end, not even when its communicator is aborted");
        }
        let ended = ended.map(|ended| ended.expect("both have ended").unwrap_or_else(|panic| resume_unwind(panic)));
        self.comms = shared.comms.each_ref().map(|comm| comm.load(Ordering::SeqCst));
        self.go_on = fit(&ended) && !shared.ended.load(Ordering::SeqCst);
    }
}

/// True if both ranks made equal numbers of collectives, and all messages were received.
fn fit(ended: &[Option<[u64; 3]>; 2]) -> bool {
    let [Some([calls, sent, received]), Some([other_calls, other_sent, other_received])] = ended else { return false };
    calls == other_calls && sent + other_sent == received + other_received
}

fn run(rank: &mut Rank, input: &Input) -> Option<[u64; 3]> {
    if !input.goes_on {
        rank.close(&input.shared);
    }
    rank.play(&input.data, &input.shared);
    rank.is_clean.then_some([rank.collectives, rank.sent, rank.received])
}

/// Aborts a communicator, which may be gone.
fn abort(comm: usize) {
    let status = optr_comm_abort(without_provenance_mut(comm));
    assert!(matches!(status, OPTR_SUCCESS | OPTR_INVALID_HANDLE), "aborting: {status:?}");
}

/// Makes the calls encoded in `data`.
///
/// # Panics
/// If a call violates the header.
pub fn play(data: &[u8]) {
    static RANKS: OnceLock<Mutex<Ranks>> = OnceLock::new();
    let ranks = RANKS.get_or_init(|| Mutex::new(Ranks::start()));
    ranks.lock().unwrap_or_else(PoisonError::into_inner).play(data);
}
