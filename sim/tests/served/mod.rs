//! A card that `optireduce-sim serve` serves, in a process of its own.
#![allow(dead_code)] // Each test binary uses its part.

use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A card's process.
pub struct Served {
    process: Mutex<Child>,
    /// Where it is served.
    pub socket: PathBuf,
}

impl Served {
    /// A card at this address of the network, once it is served.
    pub fn start(address: Ipv4Addr, port: u16) -> Self {
        Self::start_with(address, port, &[])
    }

    /// As [`Served::start`], with more options.
    pub fn start_with(address: Ipv4Addr, port: u16, options: &[&str]) -> Self {
        let socket = free_path();
        let process = Mutex::new(serve(&socket, address, port, options));
        Self { process, socket }
    }

    /// Serves it again, at the same path, after its [end](Served::end).
    pub fn restart(&self, address: Ipv4Addr, port: u16, options: &[&str]) {
        *self.process.lock().unwrap() = serve(&self.socket, address, port, options);
    }

    /// The number of its process.
    pub fn pid(&self) -> u32 {
        self.process.lock().unwrap().id()
    }

    /// Kills it.
    pub fn end(&self) {
        let mut process = self.process.lock().unwrap();
        let _ = process.kill();
        process.wait().unwrap();
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.end();
        let _ = std::fs::remove_file(&self.socket);
    }
}

fn serve(socket: &Path, address: Ipv4Addr, port: u16, options: &[&str]) -> Child {
    let mut process = Command::new(env!("CARGO_BIN_EXE_optireduce-sim"))
        .args(["serve", "--network", &format!("udp:{address}:{port}"), "--socket"])
        .arg(socket)
        .args(options)
        .env("RUST_LOG", "error")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // It is there once it says so.
    let mut said = String::new();
    BufReader::new(process.stdout.as_mut().unwrap()).read_line(&mut said).unwrap();
    assert!(said.starts_with("functional card"), "{said}");
    process
}

/// A path for a socket, which nobody else has. Short: paths of sockets have 108 bytes.
pub fn free_path() -> PathBuf {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    std::env::temp_dir().join(format!("optireduce-{}-{number}.sock", std::process::id()))
}

/// A UDP port that the kernel has not given to anybody.
pub fn free_port() -> u16 {
    UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}
