//! Callers of the C library: two ranks in one process, each a thread that calls what the fuzzer's bytes say.
//!
//! Mostly both make the same call; or one of them does not, or its arguments are others. Arguments are good or bad: NULL, off by a byte,
//! the same memory for input and output or a part of it, counts that do not fit and that no memory has, structs of any size, handles of another
//! kind, destroyed or made up, types and operations that do not exist, texts without an end, ids of any bytes; in any order, also after the end.
//!
//! Checked after each call: no panic came out, its status and text are what the header says of such arguments, in such a state; and
//! nothing was written but where a call that succeeds may write. At the end: no call waits for ever, each callback was called once.
//!
//! Left out is what the header leaves to the caller, and cannot be seen from inside: addresses where there is no memory, or less than is said;
//! memory that is taken away, or written, while a request has it; handles that are used while another thread destroys them (`random.c` of the
//! library's tests does that), callbacks that do not return, forks and cancelled threads (`processes.c`). And names that a name server would be asked
//! for, the launcher's environment, and buckets that take more memory than the machine may have.
//!
//! Limits: what two threads do at once does not repeat exactly. A job is used for one input after the other while both ranks have made the
//! same calls, and all have succeeded, since a new one takes far longer than an input.

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

/// Jobs that one input may open.
const JOBS_MAX: usize = 3;
/// Without a call that is done for so long calls wait for what does not come, and are aborted.
const STUCK: Duration = Duration::from_millis(12);
/// The same once the other rank is done.
const STUCK_ALONE: Duration = Duration::from_millis(4);
/// How long an input may take at most, on a busy machine.
const INPUT_MAX: Duration = Duration::from_secs(60);

/// What the ranks of one input share.
pub struct Shared {
    ids: [OnceLock<optr_unique_id_t>; JOBS_MAX],
    /// The communicator of each rank; 0: none.
    comms: [AtomicUsize; 2],
    /// Calls that were begun.
    progress: AtomicUsize,
    /// The communicators may have been aborted.
    ended: AtomicBool,
}

impl Shared {
    /// The id of a job, if the input may have one more.
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

/// An input for a rank, and whether it goes on with the job that it has.
struct Input {
    data: Arc<[u8]>,
    shared: Arc<Shared>,
    goes_on: bool,
}

/// What a rank has come to: what must fit that of the other, if it can go on; or its panic.
type Ended = Result<Option<[u64; 3]>, Box<dyn Any + Send>>;

/// The threads of the ranks.
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

/// Whether both ranks can go on: they have made as many calls of all ranks, and received what was sent.
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

/// Ends what waits in a communicator, which may be gone already.
fn abort(comm: usize) {
    let status = optr_comm_abort(without_provenance_mut(comm));
    assert!(matches!(status, OPTR_SUCCESS | OPTR_INVALID_HANDLE), "aborting: {status:?}");
}

/// Makes the calls that `data` says.
///
/// # Panics
/// If one does not keep what the header says.
pub fn play(data: &[u8]) {
    static RANKS: OnceLock<Mutex<Ranks>> = OnceLock::new();
    let ranks = RANKS.get_or_init(|| Mutex::new(Ranks::start()));
    ranks.lock().unwrap_or_else(PoisonError::into_inner).play(data);
}
