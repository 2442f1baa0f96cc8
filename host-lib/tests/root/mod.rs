//! Where rank 0 of a job listens, which all ranks must know before it does.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::OwnedFd;
use std::sync::Mutex;

use rustix::net::sockopt::set_socket_reuseaddr;
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, getsockname, socket_with};

/// An address on loopback that nobody else is given while this program runs: a socket has its port that does not listen, and lets
/// rank 0 listen there.
pub fn free_root() -> String {
    static KEPT: Mutex<Vec<OwnedFd>> = Mutex::new(Vec::new());
    let kept = socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None).expect("a socket");
    bind(&kept, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    // Only now: before, the kernel might choose one that is kept like this.
    set_socket_reuseaddr(&kept, true).expect("an option of every socket");
    let address =
        getsockname(&kept).and_then(SocketAddrV4::try_from).expect("an address of the kind that it was bound to");
    KEPT.lock().expect("nobody panics with it").push(kept);
    address.to_string()
}
