//! Open files of a process: alone in its binary, since tests share them.

mod ranks;

use std::sync::{Arc, Barrier};

use optireduce::{Communicator, SharedMemory};
use ranks::{builder, job};

/// Files that a rank has open for a group of two ranks.
const FILES: usize = 9;

fn open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// A process may open 1024 files, and `torch.distributed.new_group` makes many groups.
#[test]
fn a_group_of_two_ranks_on_a_host_takes_few_files_and_gives_them_back() {
    let barrier = Arc::new(Barrier::new(2));
    job(2, move |rank, root| {
        let mut communicator =
            Communicator::connect(builder(rank, 2, &root).shared_memory(SharedMemory::Auto)).wait().unwrap();
        // Counting opens a file, so one rank counts.
        let count = || {
            barrier.wait();
            let count = if rank == 0 { open_files() } else { 0 };
            barrier.wait();
            count
        };
        let before = count();
        let group = communicator.split(Some(0)).wait().unwrap().unwrap();
        let files = count() - before;
        assert!(files <= 2 * FILES, "both groups of two ranks have {files} files");
        group.close().wait().unwrap();
        // Threads that connected the ranks may have closed files since.
        let after = count();
        assert!(after <= before, "{after} open files, {before} before");
        communicator.close().wait().unwrap();
    });
}
