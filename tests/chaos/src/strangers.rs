//! Strangers: senders outside the job, on a host of their own.

use std::fs::File;
use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr, TcpStream, UdpSocket};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use optireduce_badnet::say;
use rand::rngs::StdRng;
use rand::{Rng, RngCore, SeedableRng};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use crate::scenario::Fault;

const STRANGERS: usize = 20;
const PAUSE: Duration = Duration::from_millis(20);
const CONNECT: Duration = Duration::from_millis(200);

/// Running strangers; end when dropped.
#[derive(Debug)]
pub struct Strangers {
    end: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Strangers {
    pub fn start(fault: Fault, namespace: PathBuf, ports: Vec<(bool, SocketAddr)>, seed: u64) -> Self {
        let end = Arc::new(AtomicBool::new(false));
        let until = end.clone();
        let thread = std::thread::spawn(move || {
            let entered = File::open(&namespace).map_err(|error| error.to_string()).and_then(|file| {
                move_into_link_name_space(file.as_fd(), Some(LinkNameSpaceType::Network))
                    .map_err(|error| error.to_string())
            });
            match entered {
                Ok(()) => pester(fault, &ports, &until, StdRng::seed_from_u64(seed)),
                Err(error) => say(&format!("optireduce-chaos: no strangers: {}: {error}", namespace.display())),
            }
        });
        Self { end, thread: Some(thread) }
    }
}

impl Drop for Strangers {
    fn drop(&mut self) {
        self.end.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn pester(fault: Fault, ports: &[(bool, SocketAddr)], end: &AtomicBool, mut random: StdRng) {
    let tcp: Vec<SocketAddr> = ports.iter().filter(|(is_tcp, _)| *is_tcp).map(|(_, port)| *port).collect();
    let udp: Vec<SocketAddr> = ports.iter().filter(|(is_tcp, _)| !is_tcp).map(|(_, port)| *port).collect();
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).ok();
    let mut open: Vec<TcpStream> = Vec::new();
    while !end.load(Ordering::Relaxed) {
        std::thread::sleep(PAUSE);
        if fault == Fault::Datagrams {
            for to in &udp {
                let mut bytes = vec![0; random.random_range(0..1400)];
                random.fill_bytes(&mut bytes);
                let _ = socket.as_ref().map(|socket| socket.send_to(&bytes, to));
            }
            continue;
        }
        if let Some(port) = (!tcp.is_empty()).then(|| tcp[random.random_range(0..tcp.len())])
            && open.len() < STRANGERS
            && let Ok(mut stream) = TcpStream::connect_timeout(&port, CONNECT)
        {
            let _ = stream.set_nonblocking(true);
            if fault == Fault::LoudStrangers {
                let mut bytes = vec![0; random.random_range(1..5000)];
                random.fill_bytes(&mut bytes);
                if random.random() {
                    // A valid length of a frame, so that the reader parses the rest.
                    let length = (bytes.len() as u32).saturating_sub(5).to_le_bytes();
                    bytes.iter_mut().zip(length).for_each(|(byte, length)| *byte = length);
                }
                let _ = stream.write_all(&bytes);
            }
            open.push(stream);
        }
        match fault {
            Fault::SlowStrangers => open.retain_mut(|stream| stream.write(&[4]).is_ok()),
            // Half of them disconnect, and others connect.
            Fault::LoudStrangers if open.len() == STRANGERS => drop(open.drain(..STRANGERS / 2)),
            _ => {}
        }
    }
}

/// Parses listening ports from /proc/net: whether each is TCP, and its address.
pub fn ports(tcp: &str, udp: &str, address: Ipv4Addr) -> Vec<(bool, SocketAddr)> {
    // Lines of /proc/net: number, local address, remote address, state; a listening TCP socket has
    // state 0A.
    let of = |text: &str, state: &[&str]| {
        let lines = text.lines().skip(1).map(|line| line.split_whitespace().collect::<Vec<_>>());
        let bound = lines.filter(|fields| fields.get(3).is_some_and(|found| state.contains(found)));
        let port = bound.filter_map(|fields| u16::from_str_radix(fields.get(1)?.split_once(':')?.1, 16).ok());
        port.map(|port| SocketAddr::from((address, port))).collect::<Vec<_>>()
    };
    let tcp = of(tcp, &["0A"]).into_iter().map(|port| (true, port));
    tcp.chain(of(udp, &["07", "01"]).into_iter().map(|port| (false, port))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listening_ports_are_read_as_the_kernel_writes_them() {
        let tcp = "  sl  local_address rem_address   st\n   0: 0100007F:7333 00000000:0000 0A 0\n   1: 0100007F:7334 0100007F:1234 01 0\n";
        let udp = "  sl  local_address rem_address   st\n   0: 0100007F:0044 00000000:0000 07 0\n";
        let address = Ipv4Addr::new(10, 77, 0, 1);
        assert_eq!(ports(tcp, udp, address), [(true, (address, 0x7333).into()), (false, (address, 0x44).into())]);
    }
}
