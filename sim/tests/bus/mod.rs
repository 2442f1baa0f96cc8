//! Cards served by separate `optireduce-sim serve` processes.

use std::io::{Read, Write};
use std::net::Ipv4Addr;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use optireduce_contract::limits::BEAT_BYTES;
use optireduce_contract::pci::{CLASS, DEVICE_ID, VENDOR_ID};
use optireduce_contract::queue::REPORT_BYTES;
use optireduce_contract::queue::Submission;
use optireduce_contract::registers as reg;
use optireduce_driver::{Bus, DmaBuffer, DriverError, Nic, VfioUserBus};
use optireduce_sim::check::bus::{BOUND_NS, DMA_BYTES, a_window_travels_and_rings_turn, check_bus, window};
use optireduce_sim::check::card_bench::bench_job;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::served::{Served, free_port};

/// Far longer than any wait, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

fn start() -> Served {
    Served::start(Ipv4Addr::LOCALHOST, free_port())
}

fn configured(bus: VfioUserBus) -> (Nic<VfioUserBus>, [DmaBuffer; 3]) {
    let mut nic = Nic::open(bus).unwrap();
    nic.configure(&bench_job(2, 4)).unwrap();
    let [gradient, result] = [(); 2].map(|()| nic.alloc(100 * BEAT_BYTES, BEAT_BYTES).unwrap());
    let reports = nic.alloc(REPORT_BYTES, REPORT_BYTES).unwrap();
    (nic, [gradient, result, reports])
}

fn open(served: &Served) -> Result<VfioUserBus, DriverError> {
    VfioUserBus::open(&served.socket, DMA_BYTES)
}

#[test]
fn the_bus_to_a_served_card_obeys_every_rule_of_a_bus() {
    let served = start();
    assert_eq!(check_bus(BOUND_NS, || open(&served)).map(|rules| rules.len()), Ok(4));
    let bus = open(&served).unwrap();
    let id = bus.id();
    assert_eq!((id.vendor, id.device, id.class), (VENDOR_ID, DEVICE_ID, CLASS));
}

/// One interrupt per batch of completions, and none between a reset and the next setup.
#[test]
fn an_interrupt_tells_of_completions_to_a_driver_that_does_not_look() {
    let is_rung = |nic: &Nic<VfioUserBus>, timeout: Duration| {
        let timeout = Timespec { tv_sec: timeout.as_secs() as i64, tv_nsec: timeout.subsec_nanos().into() };
        poll(&mut [PollFd::from_borrowed_fd(nic.bus().interrupts(), PollFlags::IN)], Some(&timeout)).unwrap() == 1
    };
    let served = start();
    let (mut nic, buffers) = configured(open(&served).unwrap());
    assert!(!is_rung(&nic, Duration::ZERO));
    window(buffers, 1, BOUND_NS).iter().for_each(|command| nic.submit(command).unwrap());
    nic.ring_doorbell().unwrap();
    assert!(is_rung(&nic, PATIENCE));
    (0..2).for_each(|_| assert_eq!(nic.wait_completion(PATIENCE).unwrap().cookie, 1));
    // The interrupt may follow the completions in memory.
    let is_quiet = |_| {
        nic.bus().hear();
        !is_rung(&nic, Duration::from_millis(20))
    };
    assert!((0..50).any(is_quiet), "nothing is left to tell");
}

/// Every wait and every later call fails long before its timeout.
#[test]
fn a_card_whose_process_is_killed_is_gone_for_its_driver_at_once() {
    for at in 0..3 {
        let served = start();
        let (mut nic, buffers) = configured(open(&served).unwrap());
        let [arm, contribute] = window(buffers, 1, BOUND_NS);
        // Its bound is 4 s.
        nic.submit(&Submission { bound_ns: u32::MAX, ..arm }).unwrap();
        nic.submit(&contribute).unwrap();
        if at > 0 {
            nic.ring_doorbell().unwrap();
        }
        let begin = Instant::now();
        let found = if at == 2 {
            std::thread::scope(|threads| {
                let kill = || {
                    std::thread::sleep(Duration::from_millis(50));
                    served.end();
                };
                threads.spawn(kill);
                nic.wait_completion(10 * PATIENCE)
            })
        } else {
            served.end();
            nic.ring_doorbell().and_then(|()| nic.wait_completion(10 * PATIENCE))
        };
        assert!(matches!(found, Err(DriverError::DeviceGone { .. })), "{at}: {found:?}");
        assert!(begin.elapsed() < PATIENCE, "{at}: after {:?}", begin.elapsed());
        assert!(matches!(nic.counters(), Err(DriverError::DeviceGone { .. })));
        assert!(matches!(nic.submit(&contribute), Err(DriverError::DeviceGone { .. })));
        let missing = open(&served).err().unwrap().to_string();
        assert!(
            missing.contains("cannot connect: nobody listens")
                && missing.contains("-p optireduce-sim --features serve -- serve "),
            "{missing}"
        );
    }
}

/// Drivers that leave a busy card, speak no vfio-user, or only connect. By contract a reset card
/// keeps host settings except CONTROL.
#[test]
fn whoever_had_a_card_before_leaves_it_as_after_a_reset() {
    let served = start();
    let (mut nic, buffers) = configured(open(&served).unwrap());
    nic.submit(&Submission { bound_ns: u32::MAX, ..window(buffers, 1, BOUND_NS)[0] }).unwrap();
    nic.ring_doorbell().unwrap();
    // As a killed process does.
    hang_up(nic.bus().connection().unwrap());
    assert!(matches!(nic.wait_completion(PATIENCE), Err(DriverError::DeviceGone { .. })));
    drop(nic);

    let mut stranger = UnixStream::connect(&served.socket).unwrap();
    // Version message without its text.
    let mut strange = vec![0; 16];
    strange[2..4].copy_from_slice(&1u16.to_ne_bytes());
    strange[4..8].copy_from_slice(&24u32.to_ne_bytes());
    strange.extend([0, 0, 1, 0, b'x', b'y', b'z', b'!']);
    stranger.write_all(&strange).unwrap();
    drop(stranger);
    drop(UnixStream::connect(&served.socket).unwrap());

    let bus = open(&served).unwrap();
    for (register, expected) in
        [(reg::CONTROL, 0), (reg::SQ_HEAD, 0), (reg::CQ_TAIL, 0), (reg::RANKS, 2), (reg::SQ_TAIL, 1)]
    {
        assert_eq!(bus.read(&register), expected, "{}", register.name);
    }
    a_window_travels_and_rings_turn(bus, BOUND_NS).unwrap();
}

/// The card's own address is again the served one, and the same driver can use the card.
#[test]
fn a_reset_leaves_what_the_host_wrote_and_the_card_goes_on_after_it() {
    let served = start();
    let bus = open(&served).unwrap();
    let own = [reg::LOCAL_IP, reg::UDP_PORT].map(|register| bus.read(&register));
    assert!(!own.contains(&0), "it knows its own address");
    bus.write(&reg::LOCAL_IP, 7);
    bus.write(&reg::RANK, 3);
    bus.reset().unwrap();
    assert_eq!([reg::LOCAL_IP, reg::UDP_PORT].map(|register| bus.read(&register)), own);
    assert_eq!([reg::RANK, reg::CONTROL].map(|register| bus.read(&register)), [3, 0]);
    a_window_travels_and_rings_turn(bus, BOUND_NS).unwrap();
}

/// Deadlines use the wall clock, and cycles are slow.
#[test]
fn the_bus_to_a_verilated_card_obeys_every_rule_of_a_bus() {
    let served = Served::start_with(Ipv4Addr::LOCALHOST, free_port(), &["--engine", "verilator"]);
    assert_eq!(check_bus(100 * BOUND_NS, || open(&served)).map(|rules| rules.len()), Ok(4));
    let said = served.finish();
    assert!(said.contains(" cycles/s (1 in "), "{said}");
}

#[test]
fn a_card_that_leaves_the_bus_reads_as_ones_and_its_driver_is_told() {
    let file = crate::served::free_path();
    let options = ["--leave-when", file.to_str().unwrap()];
    let served = Served::start_with(Ipv4Addr::LOCALHOST, free_port(), &options);
    let (mut nic, buffers) = configured(open(&served).unwrap());
    nic.check_alive().unwrap();
    crate::served::befall(&file);
    assert_eq!(nic.bus().read(&reg::MAGIC), u32::MAX);
    assert!(matches!(nic.check_alive(), Err(DriverError::DeviceGone { .. })));
    assert!(matches!(nic.submit(&window(buffers, 1, BOUND_NS)[0]), Err(DriverError::DeviceGone { .. })));
    drop(nic);
    let error = open(&served).and_then(Nic::open).err();
    assert!(matches!(error, Some(DriverError::DeviceGone { .. })), "{error:?}");
}

/// A second driver waits, fails with the probable cause, and succeeds after the first.
#[test]
fn a_card_has_one_driver_at_a_time() {
    let served = start();
    let first = open(&served).unwrap();
    let second = open(&served).err().unwrap().to_string();
    assert!(
        second.contains("no answer within") && second.contains("another process probably has the card"),
        "{second}"
    );
    drop(first);
    check_bus(BOUND_NS, || open(&served)).unwrap();
}

#[test]
fn what_cannot_be_served_is_refused_with_a_sentence() {
    let said = |arguments: &[&str]| {
        let command = Command::new(env!("CARGO_BIN_EXE_optireduce-sim")).arg("serve").args(arguments).output();
        let output = command.unwrap();
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    };
    let directory = env!("CARGO_TARGET_TMPDIR");
    let lossy = said(&["--socket", "a.sock", "--network", "udp:127.0.0.1:9", "--loss", "1"]);
    assert!(lossy.contains("--loss is 1, expected at least 0 and less than 1"), "{lossy}");
    let hub = format!("hub:{directory}");
    for (socket, network, part) in [
        ("/nowhere/card.sock", "udp:127.0.0.1:9", "/nowhere/card.sock: cannot serve a card at"),
        (directory, "udp:127.0.0.1:9", "cannot serve a card at: Address already in use"),
        ("a.sock", "udp:192.0.2.1", "192.0.2.1:5791: Cannot assign requested address"),
        ("a.sock", "tun:or0", "\"tun:or0\", without the card's address; expected udp:ADDRESS"),
        ("a.sock", "tun:lo,10.0.0.1", "TUN device lo: "),
        ("a.sock", "hub:/nowhere/hub", "hub /nowhere/hub: No such file"),
        ("a.sock", &hub, "cannot be used on this host: hub "),
    ] {
        let message = said(&["--socket", socket, "--network", network]);
        assert!(message.contains(part), "{message}");
    }
    for cards in ["0", "65"] {
        let message = said(&["--socket", "a.sock", "--network", "udp:127.0.0.1:9", "--cards", cards]);
        assert!(message.contains(&format!("--cards is {cards}, expected 1 to 64")), "{message}");
    }
    let unwritable = said(&["--socket", "a.sock", "--network", "udp:127.0.0.1:9", "--pcap", "/nowhere/a.pcap"]);
    assert!(unwritable.contains("/nowhere/a.pcap: cannot write"), "{unwritable}");
    assert!(!Path::new("a.sock").exists());
}

fn hang_up(connection: std::os::fd::OwnedFd) {
    UnixStream::from(connection).shutdown(std::net::Shutdown::Both).unwrap();
}

/// Headers of impossible messages, and requests with impossible lengths.
#[test]
fn a_client_of_another_protocol_neither_ends_a_server_nor_makes_it_allocate() {
    let served = start();
    let message = |command: u16, bytes: u32, payload: &[u8]| {
        let header = [[1, 0, command as u8, 0], bytes.to_le_bytes(), [0; 4], [0; 4]].concat();
        [&header, payload].concat()
    };
    let access = |count: u32| [&0_u64.to_le_bytes()[..], &0_u32.to_le_bytes(), &count.to_le_bytes()].concat();
    let whole = |command: u16, payload: &[u8]| message(command, 16 + payload.len() as u32, payload);
    let closed = [
        message(1, 3, &[0; 64]),
        message(1, u32::MAX - 15, &[0; 64]),
        message(99, 1 << 30, &[]),
        b"GET / HTTP/1.1\r\n\r\n".to_vec(),
    ];
    let refused = [
        whole(9, &access(u32::MAX)),
        whole(10, &access(u32::MAX)),
        whole(10, &access(4)),
        whole(9, &[0; 3]),
        whole(1, &[]),
        whole(2, &[7; 9]),
        whole(8, &[0xff; 20]),
        whole(5, &[0xff; 32]),
        whole(77, &[]),
    ];
    for (message, is_closed) in closed.iter().map(|one| (one, true)).chain(refused.iter().map(|one| (one, false))) {
        let mut client = UnixStream::connect(&served.socket).unwrap();
        client.set_read_timeout(Some(PATIENCE)).unwrap();
        client.write_all(message).unwrap();
        let mut reply = [0; 16];
        let read = client.read(&mut reply).unwrap_or(0);
        match is_closed {
            true => assert_eq!(read, 0, "an answer to {message:x?}"),
            false => assert_eq!((read, reply[8] & 0x21, reply[12]), (16, 0x21, 22), "{message:x?}: {reply:x?}"),
        }
    }
    let status = std::fs::read_to_string(format!("/proc/{}/status", served.pid())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmPeak:")).unwrap();
    let peak_kib: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(peak_kib < 3 << 20, "{peak_kib} KiB of address space");
    check_bus(BOUND_NS, || open(&served)).unwrap();
}
