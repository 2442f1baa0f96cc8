//! Cards served by separate `optireduce-sim serve` processes.
#![allow(dead_code)] // Each test binary uses a part.

use std::io::{BufRead, BufReader, Read};
use std::net::{Ipv4Addr, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

pub struct Served {
    process: Mutex<Child>,
    /// With several cards, see [`Served::socket_of`].
    pub socket: PathBuf,
}

impl Served {
    /// Waits until the card is available.
    pub fn start(address: Ipv4Addr, port: u16) -> Self {
        Self::start_with(address, port, &[])
    }

    pub fn start_with(address: Ipv4Addr, port: u16, options: &[&str]) -> Self {
        Self::on(&udp(address, port), options)
    }

    pub fn on(network: &str, options: &[&str]) -> Self {
        let socket = free_path();
        let process = Mutex::new(serve(&socket, network, options));
        Self { process, socket }
    }

    pub fn socket_of(&self, card: usize) -> String {
        format!("{}.{card}", self.socket.display())
    }

    /// Serves the card again after its [end](Served::end).
    pub fn restart(&self, address: Ipv4Addr, port: u16, options: &[&str]) {
        *self.process.lock().unwrap() = serve(&self.socket, &udp(address, port), options);
    }

    pub fn finish(&self) -> String {
        let mut process = self.process.lock().unwrap();
        kill_process(Pid::from_child(&process), Signal::TERM).unwrap();
        let mut said = String::new();
        process.stdout.take().unwrap().read_to_string(&mut said).unwrap();
        assert!(process.wait().unwrap().success());
        said
    }

    pub fn pid(&self) -> u32 {
        self.process.lock().unwrap().id()
    }

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

pub fn befall(file: &Path) {
    std::fs::write(file, "").unwrap();
    let begin = Instant::now();
    while file.exists() {
        assert!(begin.elapsed() < Duration::from_secs(60), "{}: nothing happens", file.display());
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn udp(address: Ipv4Addr, port: u16) -> String {
    format!("udp:{address}:{port}")
}

fn serve(socket: &Path, network: &str, options: &[&str]) -> Child {
    let mut process = Command::new(env!("CARGO_BIN_EXE_optireduce-sim"))
        .args(["serve", "--network", network, "--socket"])
        .arg(socket)
        .args(options)
        .env("RUST_LOG", "error")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // Printed once the card is available.
    let mut said = String::new();
    BufReader::new(process.stdout.as_mut().unwrap()).read_line(&mut said).unwrap();
    assert!(said.contains(" card of "), "{said}");
    process
}

/// Short, since paths of sockets have at most 108 bytes.
pub fn free_path() -> PathBuf {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    std::env::temp_dir().join(format!("optireduce-{}-{number}.sock", std::process::id()))
}

pub fn free_port() -> u16 {
    UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}
