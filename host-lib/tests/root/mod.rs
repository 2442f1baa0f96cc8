//! Address of a job's rank 0, which all ranks need before it listens.

use std::net::Ipv4Addr;
use std::os::fd::OwnedFd;
use std::sync::Mutex;

use optireduce::binding::Launch;

/// Reserved while this program runs.
pub fn free_root() -> String {
    static RESERVED: Mutex<Vec<OwnedFd>> = Mutex::new(Vec::new());
    let (root, reserved) = Launch::reserve_root(Ipv4Addr::LOCALHOST.into()).expect("a free port of loopback");
    RESERVED.lock().expect("nobody panics with it").push(reserved);
    root.to_string()
}
