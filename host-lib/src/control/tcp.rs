//! What is asked of TCP for the control channel: few small messages that somebody waits for.
//!
//! Why: TCP waits for 200 ms before it sends again what was lost at the end of a message, twice that for the next time, and so on, while a
//! stage takes some milliseconds: what repairs a loss, or a change of the bound, would come collectives later.
//! Limits: a kernel that does not know an option goes without (`TCP_RTO_MIN_US`: Linux 6.15).

use nix::sys::socket::setsockopt;
use nix::{getsockopt_impl, libc, setsockopt_impl, sockopt_impl};
use tokio::net::TcpStream;

/// The shortest time after which TCP sends again, in us. It takes longer where round trips do.
const RETRANSMIT_MIN_US: u32 = 5_000;

/// Of `linux/tcp.h`; not in libc yet.
const TCP_RTO_MIN_US: libc::c_int = 45;

sockopt_impl!(
    /// The shortest time after which TCP sends again, in us.
    RetransmitMinUs,
    Both,
    libc::IPPROTO_TCP,
    TCP_RTO_MIN_US,
    u32
);
sockopt_impl!(
    /// While little is on its way, the time after which TCP sends again is not doubled each time.
    ThinLinearTimeouts,
    Both,
    libc::IPPROTO_TCP,
    libc::TCP_THIN_LINEAR_TIMEOUTS,
    bool
);

/// Messages leave at once, and again soon if they were lost.
pub(super) fn send_promptly(stream: &TcpStream) {
    let _ = stream.set_nodelay(true);
    let _ = setsockopt(stream, RetransmitMinUs, &RETRANSMIT_MIN_US);
    let _ = setsockopt(stream, ThinLinearTimeouts, &true);
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::errno::Errno;
    use nix::sys::socket::getsockopt;

    #[tokio::test]
    async fn both_ends_send_again_soon() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let ours = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (theirs, _) = listener.accept().await.unwrap();
        for stream in [ours, theirs] {
            send_promptly(&stream);
            assert!(stream.nodelay().unwrap() && getsockopt(&stream, ThinLinearTimeouts).unwrap());
            match getsockopt(&stream, RetransmitMinUs) {
                // In units of the kernel's clock ticks, of 10 ms at most.
                Ok(us) => assert!((5_000..=20_000).contains(&us), "{us} us"),
                Err(error) => assert_eq!(error, Errno::ENOPROTOOPT, "a kernel before 6.15"),
            }
        }
    }
}
