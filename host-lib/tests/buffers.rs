//! Once a bucket has its buffers, a collective allocates none and touches no new page. The test
//! counts page faults and allocations above the size of a packet.

#![allow(unsafe_code, reason = "an allocator that counts is unsafe to write")]

mod ranks;

use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex, MutexGuard, PoisonError};

use optireduce::binding::{self, Destination};
use optireduce::tuning::{SendThread, Tuning};
use optireduce::{BucketOptions, Communicator, HadamardMode, Settings, SharedMemory};
use ranks::{builder, check_mean, gradient, job};

const ELEMENTS: usize = (1 << 18) + 1000;
/// More than a packet and than the protocol's state for a rank; less than a window.
const LARGE_BYTES: usize = 10_000;
/// Enough calls to fill the means kept for repairs (16 calls) and to reach the maximum overlap.
const WARM_UP: usize = 140;
const STEADY: usize = 8;

static LARGE: AtomicUsize = AtomicUsize::new(0);

/// Serializes tests, since counters cover the whole process.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Counting;

// SAFETY: every call and its result are forwarded to and from the system allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LARGE.fetch_add(usize::from(layout.size() >= LARGE_BYTES), Ordering::Relaxed);
        // SAFETY: the caller upholds the contract of `GlobalAlloc::alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: `at` came from `alloc` above, hence from the system allocator, with this layout.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Minor page faults of this process so far (proc(5), `minflt`).
fn pages_met() -> usize {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let (_, after_name) = stat.rsplit_once(") ").unwrap();
    after_name.split(' ').nth(7).unwrap().parse().unwrap()
}

/// Two ranks call a bucket in step. Returns the large allocations of the steady calls on both, and
/// each rank's last result.
fn allocations(
    call: impl FnMut(&mut optireduce::Bucket, &mut Vec<f32>) -> bool + Clone + Send + 'static,
) -> (usize, Vec<Vec<f32>>) {
    let (large, _, results) = allocations_with(|builder| builder, call);
    (large, results)
}

/// Like [`allocations`], with settings. Also returns the page faults of the steady calls.
fn allocations_with(
    set: impl FnOnce(Settings) -> Settings + Clone + Send + 'static,
    call: impl FnMut(&mut optireduce::Bucket, &mut Vec<f32>) -> bool + Clone + Send + 'static,
) -> (usize, usize, Vec<Vec<f32>>) {
    let step = Arc::new(Barrier::new(2));
    let results = job(2, move |rank, root| {
        let (set, mut call) = (set.clone(), call.clone());
        let mut communicator =
            Communicator::connect(set(builder(rank, 2, &root).hadamard(HadamardMode::Off))).wait().unwrap();
        let mut bucket = communicator.bucket(ELEMENTS, BucketOptions::new()).wait().unwrap();
        let (gradient, mut values, mut before) = (gradient(rank, ELEMENTS), bucket.buffer(), (0, 0));
        for round in 0..WARM_UP + STEADY {
            values.copy_from_slice(&gradient);
            step.wait();
            if round == WARM_UP {
                before = (LARGE.load(Ordering::Relaxed), pages_met());
            }
            step.wait();
            assert!(call(&mut bucket, &mut values), "round {round}");
        }
        step.wait();
        let (large, pages) = (LARGE.load(Ordering::Relaxed) - before.0, pages_met() - before.1);
        step.wait();
        communicator.close().wait().unwrap();
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
        let (mean, report) = bucket.start_all_reduce(std::mem::take(values)).wait().unwrap();
        // Two buffers swap roles.
        assert_ne!(mean.as_ptr() as usize, handed_in);
        places.insert(mean.as_ptr() as usize);
        places.insert(handed_in);
        assert!(places.len() <= 2, "the bucket has more than two buffers");
        *values = mean;
        report.is_applied
    });
    check_mean(2, &results, 1e-6);
    assert_eq!(large, 0, "allocations longer than a packet in {STEADY} calls of two ranks");

    // Only in-place results are copied, even if the peer began earlier.
    for in_place in [true, false] {
        let copied = Arc::new(AtomicUsize::new(0));
        let (counted, mut other) = (copied.clone(), vec![0.0; ELEMENTS]);
        let (large, results) = allocations(move |bucket, values| {
            let place = if in_place { values.as_ptr() } else { other.as_ptr() };
            let (gradient, gradient_back) = binding::lend(std::mem::take(values));
            let (result, result_back) = (!in_place).then(|| binding::lend(std::mem::take(&mut other))).unzip();
            let destination = result.map_or(Destination::Gradient, Destination::Here);
            let (mean, report) = binding::all_reduce(bucket, gradient, destination).unwrap();
            assert_eq!(mean.as_ptr(), place);
            counted.fetch_add(report.copied_bytes as usize, Ordering::Relaxed);
            drop(mean);
            *values = gradient_back.take().unwrap();
            if let Some(result_back) = result_back {
                other = std::mem::replace(values, result_back.take().unwrap());
            }
            report.is_applied
        });
        check_mean(2, &results, 1e-6);
        assert_eq!(
            large, 0,
            "allocations longer than a packet in {STEADY} calls with lent memory, in place: {in_place}"
        );
        let (bytes, calls) = (4 * ELEMENTS, WARM_UP + STEADY);
        assert_eq!(copied.load(Ordering::Relaxed), if in_place { 2 * calls * bytes } else { 0 });
    }

    let (large, results) = allocations(|bucket, values| bucket.all_reduce(values).unwrap().is_applied);
    check_mean(2, &results, 1e-6);
    assert_eq!(large, 0, "allocations longer than a packet in {STEADY} slice calls of two ranks");

    // Two calls in flight: one more buffer each.
    let (large, _) = allocations(|bucket, values| {
        let requests = [values.clone(), values.clone()].map(|values| bucket.start_all_reduce(values));
        requests.map(|request| request.wait().unwrap().1.is_applied)[1]
    });
    assert_eq!(large, 2 * 2 * STEADY, "none but the caller's own copies");
}

#[test]
fn steady_halves_allocate_what_they_give_and_no_more() {
    let _alone = alone();
    let between = Arc::new(Barrier::new(2));
    let (large, results) = allocations(move |bucket, values| {
        let (gradient, gradient_back) = binding::lend(std::mem::take(values));
        let (shard, report) = binding::start_reduce_scatter(bucket, gradient).wait().unwrap();
        assert!(report.is_applied);
        gradient_back.take().expect("lent memory is given back");
        // An early all-gather would need another buffer.
        between.wait();
        let (mean, report) = binding::start_all_gather(bucket, shard).wait().unwrap();
        *values = mean.into_vec();
        report.is_applied
    });
    check_mean(2, &results, 1e-6);
    assert_eq!(large, 2 * 2 * STEADY, "a shard and a whole in each of {STEADY} calls of two ranks");
}

#[test]
fn steady_calls_allocate_nothing_and_meet_no_new_page_however_values_travel() {
    /// Pages of a window (1 MiB). The rest of the process touches a few as well.
    const PAGES_MAX: usize = 256;
    let _alone = alone();
    type Set = fn(Settings) -> Settings;
    let ways: [(&str, Set, f64); 5] = [
        ("sockets", |builder| builder, 1e-6),
        ("sockets and a thread that sends", |builder| builder.send_thread(SendThread::On), 1e-6),
        ("shared memory", |builder| builder.shared_memory(SharedMemory::Auto), 1e-6),
        ("encoded", |builder| builder.hadamard(HadamardMode::On), 1e-3),
        ("bf16", |builder| builder.bf16(true), 1e-2),
    ];
    for (way, set, tolerance) in ways {
        // On a busy machine a rank that is late may keep packets of the other, once.
        let calm = (0..4).any(|_| {
            let (large, pages, results) =
                allocations_with(set, |bucket, values| bucket.all_reduce(values).unwrap().is_applied);
            check_mean(2, &results, tolerance);
            println!(
                "{way}: {large} allocations longer than a packet, {pages} new pages in {STEADY} calls of two ranks"
            );
            large == 0 && pages < PAGES_MAX
        });
        assert!(calm, "{way}: allocations, or {PAGES_MAX} new pages, in each of four jobs");
    }
}
