//! A TCP stream from one host to another that competes with the ranks for bandwidth.

use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use optireduce_badnet::{Hosts, address};

use crate::contender::own_program;

const PORT: u16 = 23_999;
/// Limit for connecting and for idle time.
const PATIENCE: Duration = Duration::from_secs(10);
const PIECE_BYTES: usize = 1 << 16;

/// A running stream. Ends when dropped.
pub struct Flow {
    sink: Child,
    source: Child,
}

impl Flow {
    pub fn start(hosts: &Hosts, from: usize, to: usize) -> Result<Self, String> {
        let program = own_program()?;
        let start = |host: usize, arguments: [String; 2]| {
            let mut command: Command = hosts.command(host, &program.to_string_lossy());
            command.arg("flow").args(arguments).stdin(Stdio::null()).stdout(Stdio::piped());
            command.spawn().map_err(|error| format!("a TCP stream at host {host}: {error}"))
        };
        let mut sink = start(to, ["--receive-at".into(), address(to).to_string()])?;
        match start(from, ["--send-to".into(), address(to).to_string()]) {
            Ok(source) => Ok(Self { sink, source }),
            Err(error) => {
                let _ = sink.kill().and_then(|()| sink.wait());
                Err(error)
            }
        }
    }

    /// Ends the stream and returns its volume and rate. Fails if it carried nothing, since the
    /// ranks then had no competition.
    pub fn end(mut self) -> Result<String, String> {
        let _ = self.source.kill();
        let mut said = String::new();
        if let Some(out) = &mut self.sink.stdout {
            let _ = out.read_to_string(&mut said);
        }
        let said = said.trim();
        if said.is_empty() { Err("the TCP stream beside the ranks carried nothing".into()) } else { Ok(said.into()) }
    }
}

impl Drop for Flow {
    fn drop(&mut self) {
        for child in [&mut self.source, &mut self.sink] {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Receives one stream and returns its volume and rate.
pub fn receive(at: Ipv4Addr) -> Result<String, String> {
    let named = |error: std::io::Error| format!("TCP stream at {at}:{PORT}: {error}");
    let listener = TcpListener::bind((at, PORT)).map_err(named)?;
    listener.set_nonblocking(true).map_err(named)?;
    let begin = Instant::now();
    let mut stream = loop {
        match listener.accept() {
            Ok((stream, _)) => break stream,
            Err(error) if error.kind() == ErrorKind::WouldBlock && begin.elapsed() < PATIENCE => {
                std::thread::sleep(Duration::from_millis(5));
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                return Err(format!("TCP stream at {at}:{PORT}: no connection within {} s", PATIENCE.as_secs()));
            }
            Err(error) => return Err(named(error)),
        }
    };
    stream.set_nonblocking(false).and_then(|()| stream.set_read_timeout(Some(PATIENCE))).map_err(named)?;
    let (begin, mut bytes, mut piece) = (Instant::now(), 0u64, vec![0; PIECE_BYTES]);
    loop {
        match stream.read(&mut piece) {
            Ok(0) => break,
            Ok(count) => bytes += count as u64,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            // The source resets the connection when it is killed.
            Err(error) if error.kind() == ErrorKind::ConnectionReset => break,
            Err(error) => return Err(named(error)),
        }
    }
    let mbps = bytes as f64 * 8e-6 / begin.elapsed().as_secs_f64().max(1e-3);
    Ok(format!("TCP stream beside: {} MB, {mbps:.0} Mb/s\n", bytes / 1_000_000))
}

/// Sends until the receiver closes the connection.
pub fn send(to: Ipv4Addr) -> Result<(), String> {
    let (to, begin) = (SocketAddr::from((to, PORT)), Instant::now());
    let mut stream = loop {
        match TcpStream::connect_timeout(&to, PATIENCE) {
            Ok(stream) => break stream,
            Err(error) if begin.elapsed() > PATIENCE => return Err(format!("TCP stream to {to}: {error}")),
            Err(_) => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    let piece = vec![0x5a; PIECE_BYTES];
    while stream.write_all(&piece).is_ok() {}
    Ok(())
}
