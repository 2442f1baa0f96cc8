//! A network that refuses datagrams for a while, in a network namespace.

mod namespace;
mod ranks;

use std::sync::{Arc, Barrier};
use std::time::Duration;

use namespace::{ip, is_outside};
use optireduce::metrics::Unsent;
use optireduce::{BucketOptions, Communicator, Repair};
use ranks::{builder, gradient, job};

/// Commands that break and repair the network, and the counter of refused datagrams.
type Fault = (&'static [&'static str], &'static [&'static str], fn(&Unsent) -> u64);

const FAULTS: [Fault; 5] = [
    // A loopback interface that is down drops datagrams silently.
    (&["link", "set", "lo", "down"], &["link", "set", "lo", "up"], |_| 0),
    (&["address", "delete", "10.77.1.1/32", "dev", "lo"], &["address", "add", "10.77.1.1/32", "dev", "lo"], |unsent| {
        unsent.unreachable
    }),
    (
        &["route", "replace", "prohibit", "10.77.1.1/32", "table", "local"],
        &["route", "delete", "prohibit", "10.77.1.1/32", "table", "local"],
        |unsent| unsent.not_permitted,
    ),
    (
        &["route", "replace", "unreachable", "10.77.1.1/32", "table", "local"],
        &["route", "delete", "unreachable", "10.77.1.1/32", "table", "local"],
        |unsent| unsent.unreachable,
    ),
    (
        &["route", "replace", "blackhole", "10.77.1.1/32", "table", "local"],
        &["route", "delete", "blackhole", "10.77.1.1/32", "table", "local"],
        |unsent| unsent.unreachable,
    ),
];

#[test]
fn datagrams_that_the_kernel_refuses_for_a_while_are_lost_and_counted_and_the_rank_goes_on() {
    if is_outside("datagrams_that_the_kernel_refuses_for_a_while_are_lost_and_counted_and_the_rank_goes_on") {
        return;
    }
    ip(&["address", "add", "10.77.1.1/32", "dev", "lo"]);
    let both = Arc::new(Barrier::new(2));
    job(2, move |rank, root| {
        let root = root.replace("127.0.0.1", "10.77.1.1");
        let bound = Duration::from_millis(300);
        let builder = builder(rank, 2, &root).interface("10.77.1.1").bound(bound).mtu(9000).repair(Repair::Off);
        let mut communicator = Communicator::connect(builder).wait().unwrap();
        let mut bucket = communicator.bucket(50_000, BucketOptions::new()).wait().unwrap();
        for (fault, mend, count) in FAULTS {
            let before = communicator.metrics().wait().unwrap().unsent;
            both.wait();
            if rank == 0 {
                ip(fault);
            }
            both.wait();
            let report = bucket.all_reduce(&mut gradient(rank, 50_000)).unwrap();
            let unsent = communicator.metrics().wait().unwrap().unsent;
            both.wait();
            if rank == 0 {
                ip(mend);
                if fault[0] == "route" {
                    ip(&["route", "replace", "local", "10.77.1.1", "dev", "lo", "table", "local", "src", "10.77.1.1"]);
                }
            }
            both.wait();
            let what = format!("rank {rank}, {fault:?}: {report}; {unsent:?}");
            assert!(report.stages.iter().all(|stage| stage.received_bytes == 0), "{what}");
            let (counted, total) = (count(&unsent) - count(&before), unsent.total() - before.total());
            assert!(counted == total && (counted > 0 || fault[0] == "link"), "{what}");
            communicator.barrier().wait().unwrap();
            let report = bucket.all_reduce(&mut gradient(rank, 50_000)).unwrap();
            assert_eq!(report.lost_bytes, 0, "rank {rank} after {fault:?}: {report}");
        }
        communicator.close().wait().unwrap();
    });
}

#[test]
fn ranks_that_cannot_connect_for_a_while_try_again() {
    if is_outside("ranks_that_cannot_connect_for_a_while_try_again") {
        return;
    }
    for host in ["10.77.1.1/32", "10.77.1.2/32", "10.77.1.3/32"] {
        ip(&["address", "add", host, "dev", "lo"]);
    }
    // A rule with priority over the one for this host's own addresses.
    ip(&["rule", "add", "pref", "10", "lookup", "local"]);
    ip(&["rule", "delete", "pref", "0"]);
    let forbidden = ["pref", "5", "from", "10.77.1.3", "to", "10.77.1.2", "prohibit"];
    ip(&[&["rule", "add"][..], &forbidden].concat());
    let mend = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_secs(1));
        ip(&[&["rule", "delete"][..], &forbidden].concat());
    });
    // Rank 2 reaches rank 0, receives rank 1's address, and may not connect to it for a second.
    job(3, |rank, root| {
        let root = root.replace("127.0.0.1", "10.77.1.1");
        let builder = builder(rank, 3, &root).interface(format!("10.77.1.{}", rank + 1));
        let mut communicator = Communicator::connect(builder.bound(Duration::from_secs(4))).wait().unwrap();
        communicator.barrier().wait().unwrap();
    });
    mend.join().unwrap();
}
