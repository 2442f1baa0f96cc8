//! Faults of cards in every state of a window: exact errors, and the next open of the card.
//!
//! Cards are `optireduce-sim serve` processes. Drivers that are killed or stopped have separate
//! processes as well. The results are the table in `driver/faults.md`, which `cargo test -p
//! optireduce-sim --features serve --test faults -- --nocapture` prints.
#![cfg(feature = "serve")]

#[path = "../../../driver/tests/machine_in_a_folder/mod.rs"]
mod machine_in_a_folder;
#[path = "../served/mod.rs"]
mod served;
mod table;
mod window;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::Ipv4Addr;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use optireduce_contract::registers::{self as reg};
use optireduce_driver::{Bus, CardBus, DriverError, FaultBus, Nic, VFIO_PCI};
use rustix::process::{Pid, Signal, kill_process};

use machine_in_a_folder::{CARD, Folder};
use served::{Served, free_path, free_port};
use table::{Fault, ROWS, Told, markdown};
use window::{PATIENCE, STATES, State, Window};

const DOCUMENT: &str = include_str!("../../../driver/faults.md");
/// Timeout of a driver with a hanging card; error texts contain it.
const SHORT: Duration = Duration::from_secs(1);
/// Concurrent cells; most of them sleep.
const THREADS: usize = 8;

/// A card with files that remove, reset and hang it.
struct Stage {
    card: Served,
    port: u16,
    files: [PathBuf; 3],
}

impl Stage {
    fn new() -> Self {
        let (port, files) = (free_port(), [(); 3].map(|()| free_path()));
        let card = Served::start_with(Ipv4Addr::LOCALHOST, port, &options(&files));
        Self { card, port, files }
    }

    fn restart(&self) {
        self.card.end();
        self.files.iter().for_each(|file| drop(fs::remove_file(file)));
        self.card.restart(Ipv4Addr::LOCALHOST, self.port, &options(&self.files));
    }

    /// Triggers a fault and waits for its effect.
    fn befall(&self, file: usize, is_so: impl Fn() -> bool) {
        served::befall(&self.files[file]);
        wait_until(is_so, "nothing happens");
    }

    fn maps_a_drivers_memory(&self) -> bool {
        fs::read_to_string(format!("/proc/{}/maps", self.card.pid())).unwrap().contains("/memfd:optireduce")
    }

    fn open(&self) -> Result<Window, DriverError> {
        Window::open(&self.card.socket, self.port)
    }

    fn said(&self, error: impl std::fmt::Display) -> String {
        error.to_string().replace(&format!("vfio-user:{}", self.card.socket.display()), "CARD")
    }

    /// Stops the card's process, and waits until all its threads have stopped.
    fn stop_card(&self) {
        self.signal_card(Signal::STOP);
        let tasks = || fs::read_dir(format!("/proc/{}/task", self.card.pid())).unwrap();
        let stands = |stat: String| stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('T'));
        while !tasks().all(|task| fs::read_to_string(task.unwrap().path().join("stat")).is_ok_and(stands)) {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn signal_card(&self, signal: Signal) {
        signal_process(self.card.pid(), signal);
    }
}

fn options([leave, reset, hang]: &[PathBuf; 3]) -> [&str; 6] {
    let [leave, reset, hang] = [leave, reset, hang].map(|file| file.to_str().unwrap());
    ["--leave-when", leave, "--reset-when", reset, "--hang-when", hang]
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.files.iter().for_each(|file| drop(fs::remove_file(file)));
    }
}

fn signal_process(process: u32, signal: Signal) {
    kill_process(Pid::from_raw(process as i32).unwrap(), signal).unwrap();
}

/// Returns the caller's error after `fault` in `state`. Then uses the card again.
fn cell(fault: Fault, state: State) -> Option<String> {
    let stage = Stage::new();
    let told = match fault {
        Fault::DriverKilled | Fault::DriverStopped => in_another_process(&stage, fault, state),
        _ => in_this_process(&stage, fault, state),
    };
    if fault == Fault::Removal || fault == Fault::CardKilled {
        let missing = stage.said(stage.open().err().unwrap());
        let connects = fault == Fault::Removal;
        let (gone, refused) = (Told::Gone.text().unwrap(), "CARD: cannot connect: nobody listens at this socket");
        assert!(if connects { missing == gone } else { missing.starts_with(refused) }, "{missing}");
        stage.restart();
    }
    let next = stage.open().map_err(|error| error.to_string()).and_then(|mut next| next.finish(PATIENCE));
    next.unwrap_or_else(|error| panic!("{fault:?}, {state:?}: the next open: {error}"));
    told
}

fn in_this_process(stage: &Stage, fault: Fault, state: State) -> Option<String> {
    let mut window = stage.open().unwrap();
    if fault == Fault::DmaError {
        window.misplace(state);
    }
    window.reach(state);
    let bus = window.nic.bus();
    match fault {
        Fault::Removal => stage.befall(0, || bus.read(&reg::MAGIC) == u32::MAX),
        Fault::Reset => stage.befall(1, || bus.read(&reg::CONTROL) == 0),
        // A hanging card ignores writes.
        Fault::Hang => stage.befall(2, || {
            let wrote = bus.read(&reg::SCRATCH).wrapping_add(1);
            bus.write(&reg::SCRATCH, wrote);
            bus.read(&reg::SCRATCH_ECHO) != !wrote
        }),
        Fault::CardKilled => stage.card.end(),
        Fault::CardStopped => stage.stop_card(),
        Fault::NoMemory => unmap(&window),
        Fault::NoInterrupts => silence(&window),
        Fault::SecondOpener | Fault::DmaError | Fault::DriverKilled | Fault::DriverStopped => {}
    }
    let timeout = if fault == Fault::Hang { SHORT } else { PATIENCE };
    let (first, second) = std::thread::scope(|threads| {
        let second = (fault == Fault::SecondOpener).then(|| threads.spawn(|| stage.said(stage.open().err().unwrap())));
        let first = window.finish(timeout).err().map(|error| stage.said(error));
        (first, second.map(|second| second.join().unwrap()))
    });
    match fault {
        Fault::CardStopped => stage.signal_card(Signal::CONT),
        Fault::Reset => {
            window.nic.configure(&optireduce_sim::check::card_bench::bench_job(2, 4)).unwrap();
            window.nic.check_working().unwrap();
        }
        Fault::SecondOpener => assert_eq!(first, None, "the first opener is not disturbed"),
        _ => {}
    }
    second.or(first)
}

/// As an IOMMU does after a change of its tables.
fn unmap(window: &Window) {
    const DMA_UNMAP: u16 = 3;
    let dma = window.nic.bus().dma();
    let body = [24u32.to_ne_bytes(), [0; 4]].concat();
    let place = [dma.iova(), dma.bytes() as u64].map(u64::to_ne_bytes).concat();
    tell(window, DMA_UNMAP, &[body, place].concat());
}

/// Disables all MSI-X vectors.
fn silence(window: &Window) {
    const SET_IRQS: u16 = 8;
    // No data, trigger; MSI-X; from vector 0, none.
    tell(window, SET_IRQS, &[20u32, 1 | 1 << 5, 2, 0, 0].map(u32::to_ne_bytes).concat());
}

/// Sends a message to the card's server on the driver's connection, and receives the answer.
fn tell(window: &Window, command: u16, body: &[u8]) {
    let connection: OwnedFd = window.nic.bus().departure().unwrap().unwrap();
    let mut connection = UnixStream::from(connection);
    let head = [0xbeef_u16.to_ne_bytes(), command.to_ne_bytes()].concat();
    let rest = [16 + body.len() as u32, 0, 0].map(u32::to_ne_bytes).concat();
    connection.write_all(&[&head, &rest, body].concat()).unwrap();
    let mut answer = [0; 16];
    connection.read_exact(&mut answer).unwrap();
    let [bytes, flags] = [4, 8].map(|at| u32::from_ne_bytes(answer[at..at + 4].try_into().unwrap()));
    assert_eq!(flags & (1 << 5), 0, "command {command} is refused");
    connection.read_exact(&mut vec![0; bytes as usize - 16]).unwrap();
}

/// This program is the driver.
fn in_another_process(stage: &Stage, fault: Fault, state: State) -> Option<String> {
    let mut driver = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "a_driver_for_the_others", "--ignored", "--nocapture"])
        .env(DRIVER, format!("{} {} {}", stage.card.socket.display(), stage.port, state as usize))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.any(|line| line.ends_with(REACHED)), "{state:?} is not reached");
    if fault == Fault::DriverStopped {
        signal_process(driver.id(), Signal::STOP);
        std::thread::sleep(Duration::from_millis(300));
        signal_process(driver.id(), Signal::CONT);
        driver.stdin.take().unwrap().write_all(b"\n").unwrap();
        let told = lines.find_map(|line| Some(line.split_once(TOLD)?.1.to_owned())).unwrap();
        assert!(driver.wait().unwrap().success());
        return (!told.is_empty()).then(|| stage.said(told));
    }
    assert!(stage.maps_a_drivers_memory(), "{state:?}: the card cannot reach its driver's memory");
    driver.kill().unwrap();
    driver.wait().unwrap();
    // The server must release a dead driver's memory.
    wait_until(|| !stage.maps_a_drivers_memory(), "the card's process keeps the memory of a driver that was killed");
    None
}

fn wait_until(is_so: impl Fn() -> bool, or_else: &str) {
    (0..PATIENCE.as_millis()).find(|_| {
        std::thread::sleep(Duration::from_millis(1));
        is_so()
    });
    assert!(is_so(), "{or_else}");
}

const DRIVER: &str = "OPTIREDUCE_FAULTS_DRIVER";
const REACHED: &str = "the state is reached";
const TOLD: &str = "told: ";

#[test]
#[ignore = "the others run it, in a process of its own"]
fn a_driver_for_the_others() {
    let given = std::env::var(DRIVER).expect("started by the other tests");
    let [socket, port, state] = given.split(' ').collect::<Vec<_>>().try_into().unwrap();
    let mut window = Window::open(socket.as_ref(), port.parse().unwrap()).unwrap();
    window.reach(STATES[state.parse::<usize>().unwrap()]);
    println!("{REACHED}");
    std::io::stdin().read_line(&mut String::new()).unwrap();
    println!("{TOLD}{}", window.finish(PATIENCE).err().unwrap_or_default());
}

#[test]
fn whatever_befalls_a_card_in_whatever_state_is_told_and_the_next_open_works() {
    let cells: Vec<_> =
        ROWS.iter().flat_map(|row| STATES.into_iter().zip(row.told).map(|cell| (row.fault, cell))).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        let mine = std::iter::repeat_with(|| cells.get(next.fetch_add(1, Ordering::Relaxed))).map_while(|cell| cell);
        let wrong = mine.filter_map(|&(fault, (state, expected))| {
            let (told, expected) = (cell(fault, state), expected.text());
            (told != expected).then(|| format!("{fault:?}, {state:?}: told {told:?}, expected {expected:?}"))
        });
        wrong.collect::<Vec<_>>()
    };
    let wrong: Vec<String> = std::thread::scope(|threads| {
        let threads: Vec<_> = (0..THREADS).map(|_| threads.spawn(work)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_table_in_the_documentation_is_that_of_the_test() {
    let table = markdown();
    println!("{table}");
    assert!(DOCUMENT.contains(&table), "driver/faults.md is not current; this belongs into it:\n{table}");
}

#[test]
fn what_forbids_to_open_a_card_is_told_as_the_documentation_says() {
    let documented = |said: String| assert!(DOCUMENT.contains(&said.replace('\n', "\n    ")), "{said}");
    let stage = Stage::new();
    let address = stage.card.socket.to_str().unwrap();
    for (register, value) in [(&reg::CONTRACT, 1), (&reg::MAGIC, 0x1234_5678), (&reg::SLOTS, 0)] {
        let bus = CardBus::open(address, 4096).unwrap();
        let bus = FaultBus::new(bus).on_read(move |read, found| if read == register { value } else { found });
        documented(stage.said(Nic::open(bus).err().unwrap()));
        Nic::open(CardBus::open(address, 4096).unwrap()).unwrap();
    }
    let (folder, at) = (Folder::new("faults"), "0000:5e:00.0");
    folder.driver(VFIO_PCI);
    folder.device(at, CARD, Some(VFIO_PCI), Some("7"));
    ["vfio", "7"].iter().for_each(|file| fs::write(folder.path().join("dev/vfio").join(file), "").unwrap());
    let lacks =
        || folder.machine().preconditions(at, 16 << 20).into_iter().find_map(|one| Some((one.found, one.mend?)));
    assert_eq!(lacks(), None);
    let process = folder.path().join("proc/self");
    fs::create_dir_all(&process).unwrap();
    let limits = |soft: &str| {
        fs::write(process.join("limits"), format!("Max locked memory   {soft}   8388608   bytes\n")).unwrap()
    };
    fs::write(process.join("status"), "CapEff:\t0000000000000000\n").unwrap();
    limits("65536");
    let (found, mend) = lacks().unwrap();
    documented(format!("{at}: locked memory: {found}.\nTo fix it: {mend}."));
    limits("unlimited");
    assert_eq!(lacks(), None);
    limits("65536");
    fs::write(process.join("status"), "CapEff:\t0000000000004000\n").unwrap();
    assert_eq!(lacks(), None, "CAP_IPC_LOCK");
    folder.device("0000:02:00.0", (0x144d, 0xa808, 0x01_0802), Some("nvme"), Some("7"));
    let (found, mend) = lacks().unwrap();
    documented(format!("{at}: IOMMU group: {found}.\nTo fix it: {mend}."));
}
