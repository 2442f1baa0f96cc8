//! A virtual machine: QEMU, an unmodified kernel, a virtual IOMMU, and cards that `optireduce-sim
//! serve` serves.
//!
//! Commands run one at a time over the second serial port; the kernel uses the first. Every wait is
//! bounded; a machine that exceeds a bound is killed.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use crate::text;

const BOOT: Duration = Duration::from_secs(120);
const MEMORY_MIB: usize = 512;

pub struct Parts<'a> {
    pub name: &'a str,
    /// Folder of `tests/vm/fetch`.
    pub packages: &'a Path,
    pub initramfs: &'a Path,
    pub cards: &'a [PathBuf],
    /// Network interface on the host, and the machine's address with the prefix length.
    pub tap: &'a str,
    pub address: &'a str,
    /// Folder for the kernel's messages.
    pub scratch: &'a Path,
}

/// A running machine; killed when dropped.
pub struct Guest {
    name: String,
    process: Child,
    commands: Option<ChildStdin>,
    lines: Receiver<String>,
    console: PathBuf,
}

#[derive(Debug)]
pub struct Ended {
    pub code: i32,
    /// Standard output and standard error.
    pub said: String,
}

impl Guest {
    /// Starts a machine; call [`Guest::wait_until_ready`] next.
    pub fn start(parts: &Parts<'_>) -> Result<Self, String> {
        let console = parts.scratch.join(format!("{}.console", parts.name));
        let root = parts.packages.join("root");
        let libraries = root.join("usr/lib/x86_64-linux-gnu");
        let mut command = Command::new(libraries.join("ld-linux-x86-64.so.2"));
        command.arg("--library-path").arg(&libraries).arg(root.join("usr/bin/qemu-system-x86_64"));
        for folder in ["qemu", "seabios"] {
            command.arg("-L").arg(root.join("usr/share").join(folder));
        }
        // No KVM, since some machines that run tests lack it, and on some it hangs.
        command.args([
            "-accel",
            "tcg,thread=multi",
            "-cpu",
            "max",
            "-nodefaults",
            "-no-user-config",
            "-display",
            "none",
            "-no-reboot",
        ]);
        // Shared memory, which the cards access through the IOMMU.
        let memory = format!("memory-backend-memfd,id=mem,size={MEMORY_MIB}M,share=on");
        command.args(["-machine", "q35,memory-backend=mem", "-m", &format!("{MEMORY_MIB}M"), "-object", &memory]);
        command.args(["-device", "intel-iommu,intremap=on,caching-mode=on"]);
        for (number, socket) in parts.cards.iter().enumerate() {
            command.args(["-device", &format!("pcie-root-port,id=port{number},bus=pcie.0,chassis={}", number + 1)]);
            let socket = serde_json::json!({"type": "unix", "path": socket});
            let card = serde_json::json!({"driver": "vfio-user-pci", "bus": format!("port{number}"), "socket": socket});
            command.args(["-device", &card.to_string()]);
        }
        command.args(["-netdev", &format!("tap,id=net,ifname={},script=no,downscript=no", parts.tap)]);
        // Machines with equal MAC addresses would receive each other's frames.
        let mac = parts.tap.bytes().last().unwrap_or_default();
        command.args(["-device", &format!("virtio-net-pci,netdev=net,mac=52:54:00:99:00:{mac:02x},romfile=")]);
        command.arg("-kernel").arg(parts.packages.join("vmlinuz")).arg("-initrd").arg(parts.initramfs);
        // A busy host delays the timer's interrupts, which the kernel would treat as a fault at
        // boot.
        let kernel = format!("console=ttyS0 quiet intel_iommu=on no_timer_check panic=-1 guest={} ", parts.address);
        command.args(["-append", &kernel, "-serial", &format!("file:{}", console.display()), "-serial", "stdio"]);
        let said = fs::File::create(parts.scratch.join(format!("{}.qemu", parts.name))).map_err(text)?;
        let process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(said).spawn();
        let mut process = process.map_err(|error| format!("QEMU: {error}"))?;
        let (commands, output) = (process.stdin.take(), process.stdout.take().ok_or("no output of QEMU")?);
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            let mut output = BufReader::new(output);
            let mut line = Vec::new();
            while output.read_until(b'\n', &mut line).is_ok_and(|bytes| bytes > 0) {
                let said = String::from_utf8_lossy(&line).trim_end().to_owned();
                line.clear();
                if sender.send(said).is_err() {
                    return;
                }
            }
        });
        Ok(Self { name: parts.name.into(), process, commands, lines, console })
    }

    pub fn wait_until_ready(&mut self) -> Result<(), String> {
        let said = self.until("@ready", BOOT)?.1;
        if said.is_empty() { Ok(()) } else { Err(self.explain(&format!("its init printed {said}"))) }
    }

    /// Runs a shell command.
    pub fn run(&mut self, command: &str, patience: Duration) -> Result<Ended, String> {
        let commands = self.commands.as_mut().ok_or("it was switched off")?;
        writeln!(commands, "{command}").and_then(|()| commands.flush()).map_err(text)?;
        let (end, said) = self.until("@ended ", patience).map_err(|error| format!("{command}: {error}"))?;
        let code = end.trim().parse().map_err(|_| self.explain(&format!("{command}: ended with {end:?}")))?;
        Ok(Ended { code, said })
    }

    pub fn id(&self) -> u32 {
        self.process.id()
    }

    pub fn end(mut self) -> Result<(), String> {
        let commands = self.commands.as_mut().ok_or("it was switched off")?;
        writeln!(commands, "poweroff -f").and_then(|()| commands.flush()).map_err(text)?;
        let deadline = Instant::now() + BOOT;
        while Instant::now() < deadline {
            if let Some(status) = self.process.try_wait().map_err(text)? {
                return if status.success() { Ok(()) } else { Err(self.explain(&format!("QEMU ended with {status}"))) };
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Err(self.explain("it does not switch itself off"))
    }

    /// Waits for a line that begins with `start`. Returns its rest, and all lines before.
    fn until(&mut self, start: &str, patience: Duration) -> Result<(String, String), String> {
        let deadline = Instant::now() + patience;
        let mut said = String::new();
        loop {
            match self.lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(line) => match line.strip_prefix(start) {
                    Some(rest) => return Ok((rest.to_owned(), said)),
                    None => said += &(line + "\n"),
                },
                Err(RecvTimeoutError::Timeout) => {
                    return Err(self.explain(&format!("no answer within {patience:?}; output: {said}")));
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(self.explain(&format!("QEMU has ended; output: {said}")));
                }
            }
        }
    }

    /// Adds the last messages of kernel and QEMU to an error.
    fn explain(&self, what: &str) -> String {
        let end = |path: &Path| {
            let text = String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned();
            let lines: Vec<&str> = text.lines().collect();
            lines[lines.len().saturating_sub(40)..].join("\n")
        };
        let qemu = self.console.with_extension("qemu");
        format!("machine {}: {what}\nits console:\n{}\nQEMU:\n{}", self.name, end(&self.console), end(&qemu))
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
