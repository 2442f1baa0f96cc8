//! TCP options of the control channel, which carries few small messages that ranks wait for.
//!
//! Why: TCP's default retransmission timeout is 200 ms, and doubles with each loss, while a stage
//! takes milliseconds.
//! Limits: options that the kernel lacks are skipped (`TCP_RTO_MIN_US` needs Linux 6.15).

use std::net::IpAddr;

use nix::sys::socket::{setsockopt, sockopt};
use nix::{getsockopt_impl, libc, setsockopt_impl, sockopt_impl};
use tokio::net::{TcpSocket, TcpStream};

/// In us. TCP waits longer on paths with longer round trips.
const RETRANSMIT_MIN_US: u32 = 5_000;

/// From `linux/tcp.h`; not in libc yet.
const TCP_RTO_MIN_US: libc::c_int = 45;

sockopt_impl!(
    /// Shortest retransmission timeout, in us.
    RetransmitMinUs,
    Both,
    libc::IPPROTO_TCP,
    TCP_RTO_MIN_US,
    u32
);
sockopt_impl!(
    /// Disables the doubling of the retransmission timeout while few segments are in flight.
    ThinLinearTimeouts,
    Both,
    libc::IPPROTO_TCP,
    libc::TCP_THIN_LINEAR_TIMEOUTS,
    bool
);

/// Largest IP packet between hosts if the caller sets none. A switch with a smaller MTU drops
/// larger packets silently, and ranks must connect before they can probe the path.
const MTU: usize = 1500;
/// IPv6 and TCP headers.
const HEADERS_BYTES: usize = 60;

/// Limits the segments of both directions of a connection that is not established yet. Within a
/// host every segment passes.
pub(super) fn limit_segments(socket: &TcpSocket, local: IpAddr, to: IpAddr, mtu: Option<usize>) {
    if local != to {
        let bytes = mtu.unwrap_or(MTU).saturating_sub(HEADERS_BYTES).max(SEGMENT_BYTES_MIN);
        let _ = setsockopt(socket, sockopt::TcpMaxSeg, &(bytes as u32));
    }
}

/// The kernel refuses less.
const SEGMENT_BYTES_MIN: usize = 88;

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
    async fn segments_between_hosts_pass_a_switch_of_1500_bytes() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        // Another address stands for another host.
        for (local, mtu, most) in
            [("127.0.0.2", None, 1440), ("127.0.0.2", Some(9000), 8940), ("127.0.0.1", None, 65_483)]
        {
            let (socket, local) = (TcpSocket::new_v4().unwrap(), local.parse().unwrap());
            limit_segments(&socket, local, address.ip(), mtu);
            socket.bind((local, 0).into()).unwrap();
            let ours = socket.connect(address).await.unwrap();
            let (theirs, _) = listener.accept().await.unwrap();
            for stream in [ours, theirs] {
                let bytes = getsockopt(&stream, sockopt::TcpMaxSeg).unwrap();
                assert!(bytes <= most && bytes > most / 3, "{bytes} from {local}, expected about {most}");
            }
        }
    }

    #[tokio::test]
    async fn both_ends_send_again_soon() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let ours = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (theirs, _) = listener.accept().await.unwrap();
        for stream in [ours, theirs] {
            send_promptly(&stream);
            assert!(stream.nodelay().unwrap() && getsockopt(&stream, ThinLinearTimeouts).unwrap());
            match getsockopt(&stream, RetransmitMinUs) {
                // Rounded to the kernel's clock ticks, of 10 ms at most.
                Ok(us) => assert!((5_000..=20_000).contains(&us), "{us} us"),
                Err(error) => assert_eq!(error, Errno::ENOPROTOOPT, "a kernel before 6.15"),
            }
        }
    }
}
