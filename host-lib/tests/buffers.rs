//! Buffers of a bucket: a gradient is handed in and its mean handed back without a copy, and once a bucket has its buffers, a collective
//! allocates none, and meets no new page. Every allocation of this program that is longer than a packet is counted, and every page fault.

#![allow(unsafe_code, reason = "an allocator that counts is unsafe to write")]

mod ranks;

use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::BTreeSet;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Barrier, Mutex, MutexGuard, PoisonError};

use optireduce::{BucketOptions, Builder, Destination, HadamardMode, Local, SendThread, UpdateAction, Values};
use ranks::{builder, check_mean, gradient, job};

/// Two windows, one of them short, so that a buffer of a window is shorter than a gradient.
const ELEMENTS: usize = (1 << 18) + 1000;
/// More than a packet, and than what the protocol keeps of each rank; less than what a window takes.
const LARGE_BYTES: usize = 10_000;
/// Until the means that are kept for repairs are as many as there may be, 16 calls, and calls have overlapped as much as they may.
const WARM_UP: usize = 140;
const STEADY: usize = 8;

static LARGE: AtomicUsize = AtomicUsize::new(0);

/// What is counted is the process's: tests take turns, with all that they allocate.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The system's allocator, which counts what could hold more than a packet.
struct Counting;

// SAFETY: every call is handed on to the system's allocator as it is, and so is what that returns.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LARGE.fetch_add(usize::from(layout.size() >= LARGE_BYTES), Ordering::Relaxed);
        // SAFETY: the caller keeps the promises of `GlobalAlloc::alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: `at` came from `alloc` above, and so from the system's allocator, with this layout.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Memory that goes back to its owner when it is dropped.
struct Loan(Vec<f32>, Sender<Vec<f32>>);

impl Deref for Loan {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        &self.0
    }
}

impl DerefMut for Loan {
    fn deref_mut(&mut self) -> &mut [f32] {
        &mut self.0
    }
}

impl Drop for Loan {
    fn drop(&mut self) {
        let _ = self.1.send(std::mem::take(&mut self.0));
    }
}

/// Lends memory; and where it comes back.
fn lend(values: Vec<f32>) -> (Values, Receiver<Vec<f32>>) {
    let (sender, back) = channel();
    (Values::lent(Loan(values, sender)), back)
}

/// Pages that this process has met so far: faults without input or output (proc(5), `minflt`).
fn pages_met() -> usize {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let (_, after_name) = stat.rsplit_once(") ").unwrap();
    after_name.split(' ').nth(7).unwrap().parse().unwrap()
}

/// Two ranks make calls of one bucket in step, by `call` if it is given the values and how many have been made; how many large
/// allocations the steady ones made together, and each rank's last result.
fn allocations(
    call: impl FnMut(&mut optireduce::Bucket, &mut Vec<f32>) -> UpdateAction + Clone + Send + 'static,
) -> (usize, Vec<Vec<f32>>) {
    let (large, _, results) = allocations_with(|builder| builder, call);
    (large, results)
}

/// The same with settings; and how many pages the steady calls met together.
fn allocations_with(
    set: impl FnOnce(Builder) -> Builder + Clone + Send + 'static,
    call: impl FnMut(&mut optireduce::Bucket, &mut Vec<f32>) -> UpdateAction + Clone + Send + 'static,
) -> (usize, usize, Vec<Vec<f32>>) {
    let step = Arc::new(Barrier::new(2));
    let results = job(2, move |rank, root| {
        let (set, mut call) = (set.clone(), call.clone());
        let mut communicator = set(builder(rank, 2, &root).hadamard(HadamardMode::Off)).connect().unwrap();
        let mut bucket = communicator.bucket(ELEMENTS, BucketOptions::new()).unwrap();
        let (gradient, mut values, mut before) = (gradient(rank, ELEMENTS), bucket.buffer(), (0, 0));
        for round in 0..WARM_UP + STEADY {
            values.copy_from_slice(&gradient);
            step.wait();
            if round == WARM_UP {
                before = (LARGE.load(Ordering::Relaxed), pages_met());
            }
            step.wait();
            assert_eq!(call(&mut bucket, &mut values), UpdateAction::Apply, "round {round}");
        }
        step.wait();
        let (large, pages) = (LARGE.load(Ordering::Relaxed) - before.0, pages_met() - before.1);
        step.wait();
        communicator.close().unwrap();
        (large, pages, values)
    });
    let (large, pages, _) = results[0];
    (large, pages, results.into_iter().map(|(_, _, values)| values).collect())
}

#[test]
fn steady_calls_copy_nothing_between_caller_and_engine() {
    let _alone = alone();
    let mut places = BTreeSet::new();
    let (large, results) = allocations(move |bucket, values| {
        let handed_in = values.as_ptr() as usize;
        let (mean, report) = bucket.all_reduce_owned(std::mem::take(values)).unwrap();
        // What comes back is not what went in, which is what a skip would give back; two buffers swap roles.
        assert_ne!(mean.as_ptr() as usize, handed_in);
        places.insert(mean.as_ptr() as usize);
        places.insert(handed_in);
        assert!(places.len() <= 2, "the bucket has more than two buffers");
        *values = mean;
        report.action()
    });
    check_mean(2, &results, 1e-6);
    assert_eq!(large, 0, "allocations longer than a packet in {STEADY} calls of two ranks");

    // The same in place.
    let (large, results) = allocations(|bucket, values| {
        bucket.values_mut().copy_from_slice(values);
        let report = bucket.all_reduce_in_place().unwrap();
        values.copy_from_slice(bucket.values_mut());
        report.action()
    });
    check_mean(2, &results, 1e-6);
    assert_eq!(large, 0, "allocations longer than a packet in {STEADY} calls in place of two ranks");

    // Lent memory stays where it is. In place the result is copied there; elsewhere nothing is, also if the peer began before.
    for in_place in [true, false] {
        let copied = Arc::new(AtomicUsize::new(0));
        let (counted, mut other) = (copied.clone(), vec![0.0; ELEMENTS]);
        let (large, results) = allocations(move |bucket, values| {
            let place = if in_place { values.as_ptr() } else { other.as_ptr() };
            let (gradient, gradient_back) = lend(std::mem::take(values));
            let (result, result_back) = (!in_place).then(|| lend(std::mem::take(&mut other))).unzip();
            let destination = result.map_or(Destination::Gradient, Destination::Here);
            let (mean, report) = bucket.all_reduce_lent(gradient, destination).unwrap();
            assert_eq!(mean.as_ptr(), place);
            counted.fetch_add(report.copied_bytes() as usize, Ordering::Relaxed);
            drop(mean);
            *values = gradient_back.try_recv().unwrap();
            if let Some(result_back) = result_back {
                other = std::mem::replace(values, result_back.try_recv().unwrap());
            }
            report.action()
        });
        check_mean(2, &results, 1e-6);
        assert_eq!(
            large, 0,
            "allocations longer than a packet in {STEADY} calls with lent memory, in place: {in_place}"
        );
        let (bytes, calls) = (4 * ELEMENTS, WARM_UP + STEADY);
        assert_eq!(copied.load(Ordering::Relaxed), if in_place { 2 * calls * bytes } else { 0 });
    }

    // The slice call copies, but it does not allocate either.
    let (large, results) = allocations(|bucket, values| bucket.all_reduce(values).unwrap().action());
    check_mean(2, &results, 1e-6);
    assert_eq!(large, 0, "allocations longer than a packet in {STEADY} slice calls of two ranks");

    // Several at once: a buffer more for each.
    let (large, _) = allocations(|bucket, values| {
        let requests = [values.clone(), values.clone()].map(|values| bucket.start_all_reduce(values));
        requests.map(|request| request.wait().unwrap().1.action())[1]
    });
    assert_eq!(large, 2 * 2 * STEADY, "none but the caller's own copies");
}

/// What is packed for the windows, and comes in them, lies in buffers that are used again.
#[test]
fn steady_halves_allocate_what_they_give_and_no_more() {
    let _alone = alone();
    let between = Arc::new(Barrier::new(2));
    let (large, results) = allocations(move |bucket, values| {
        let (gradient, gradient_back) = lend(std::mem::take(values));
        let (shard, report) = bucket.start_reduce_scatter(gradient).wait().unwrap();
        assert_eq!(report.action(), UpdateAction::Apply);
        gradient_back.try_recv().expect("lent memory is given back");
        // What comes of the all-gather before the other's reduce-scatter has ended would have a buffer of its own.
        between.wait();
        let (mean, report) = bucket.start_all_gather(shard).wait().unwrap();
        *values = mean;
        report.action()
    });
    check_mean(2, &results, 1e-6);
    assert_eq!(large, 2 * 2 * STEADY, "a shard and a whole in each of {STEADY} calls of two ranks");
}

/// By sockets, also with a thread that sends, through memory that the ranks share, encoded, and in half the bytes.
#[test]
fn steady_calls_allocate_nothing_and_meet_no_new_page_however_values_travel() {
    /// Of a window, 1 MiB; a few are met by whatever else the process does.
    const PAGES_MAX: usize = 256;
    let _alone = alone();
    type Set = fn(Builder) -> Builder;
    let ways: [(&str, Set, f64); 5] = [
        ("sockets", |builder| builder, 1e-6),
        ("sockets and a thread that sends", |builder| builder.send_thread(SendThread::On), 1e-6),
        ("shared memory", |builder| builder.local(Local::Auto), 1e-6),
        ("encoded", |builder| builder.hadamard(HadamardMode::On), 1e-3),
        ("bf16", |builder| builder.bf16(true), 1e-2),
    ];
    for (way, set, tolerance) in ways {
        let (large, pages, results) =
            allocations_with(set, |bucket, values| bucket.all_reduce(values).unwrap().action());
        check_mean(2, &results, tolerance);
        assert_eq!(large, 0, "allocations longer than a packet in {STEADY} calls of two ranks, {way}");
        assert!(pages < PAGES_MAX, "{pages} new pages in {STEADY} calls of two ranks, {way}");
    }
}
