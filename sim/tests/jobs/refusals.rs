//! Errors of unusable cards, and of calls that jobs with cards do not support.

use std::fs::File;
use std::io;
use std::os::unix::net::UnixListener;
use std::path::Path;

use optireduce::{Communicator, ErrorKind};
use optireduce_contract::limits::{CONTRACT_VERSION, MAGIC};
use optireduce_contract::registers as reg;
use vfio_bindings::bindings::vfio::{
    VFIO_IRQ_INFO_EVENTFD, VFIO_PCI_BAR0_REGION_INDEX, VFIO_PCI_CONFIG_REGION_INDEX, VFIO_PCI_NUM_IRQS,
    VFIO_PCI_NUM_REGIONS, VFIO_REGION_INFO_FLAG_READ, VFIO_REGION_INFO_FLAG_WRITE, vfio_region_info,
};
use vfio_user::{DmaMapFlags, DmaUnmapFlags, IrqInfo, Server, ServerBackend, ServerRegion};

use super::failures::RANKS;
use super::served::free_path;
use super::*;

/// The other rank of the job does not exist.
fn refused(card: &str) -> String {
    let timeout = Duration::from_millis(100);
    let place = Settings::new().rank(1).world_size(2).root(free_root());
    let error = Communicator::connect(place.timeout(timeout).card(card)).wait().unwrap_err();
    assert!(error.kind() == ErrorKind::System, "{error:?}");
    error.to_string()
}

#[test]
fn what_is_no_card_is_refused() {
    let nothing = refused("/nowhere/card.sock");
    assert!(nothing.contains("/nowhere/card.sock: cannot connect: No such file") && nothing.contains("serve --socket"));
    let file = refused(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"));
    assert!(file.contains("cannot connect: found a file that is no socket"), "{file}");
    let pci = refused("00ff:fe:1f.7");
    assert!(
        pci.contains("no PCI device at 00ff:fe:1f.7") && pci.contains("optireduce-nic doctor 00ff:fe:1f.7"),
        "{pci}"
    );
    let long = refused(&format!("/tmp/{}", "x".repeat(200)));
    assert!(long.contains("cannot connect"), "{long}");

    // A listener that hangs up.
    let path = free_path();
    let listener = UnixListener::bind(&path).unwrap();
    let hangs_up = std::thread::spawn(move || drop(listener.accept()));
    let stranger = refused(path.to_str().unwrap());
    hangs_up.join().unwrap();
    assert!(stranger.contains("agreeing on a version") && stranger.contains("check the path"), "{stranger}");

    // A listener that never answers.
    std::fs::remove_file(&path).unwrap();
    let _listener = UnixListener::bind(&path).unwrap();
    let silent = refused(path.to_str().unwrap());
    assert!(
        silent.contains("no answer within") && silent.contains("another process probably has the card"),
        "{silent}"
    );
    std::fs::remove_file(&path).unwrap();
}

/// The rank without a working card connects before or after the others.
#[test]
fn all_ranks_are_told_at_once_which_one_has_a_card_that_cannot_be_opened() {
    for (unable, late) in [(0, false), (0, true), (2, false), (2, true)] {
        let job = Job::new(0);
        let errors = on_ranks(RANKS, |rank| {
            if (rank == unable) == late {
                std::thread::sleep(Duration::from_millis(300));
            }
            let card = if rank == unable { "/nowhere/card.sock" } else { "" };
            let builder = job.builder(rank, RANKS).timeout(Duration::from_secs(600)).card(card);
            Communicator::connect(builder).wait().unwrap_err().to_string()
        });
        for (rank, error) in errors.iter().enumerate() {
            let what = format!("rank {rank}, {unable} unable, late {late}: {error}");
            assert!(error.contains("/nowhere/card.sock"), "{what}");
            assert_eq!(error.starts_with(&format!("rank {unable} cannot take part: ")), rank != unable, "{what}");
        }
    }
}

#[test]
fn a_card_in_use_is_refused_and_can_be_had_afterwards() {
    let job = Job::new(1);
    let first = on_ranks(2, |rank| job.connect(rank, 2));
    let second = refused(job.cards[0].socket.to_str().unwrap());
    assert!(second.contains("another process probably has the card"), "{second}");
    drop(first);
    on_ranks(2, |rank| job.connect(rank, 2).close().wait().unwrap());
}

/// Device with these register values after a reset, and any before.
struct Fake {
    registers: Vec<(usize, u32)>,
    was_reset: bool,
}

impl ServerBackend for Fake {
    fn region_read(&mut self, region: u32, offset: u64, data: &mut [u8]) -> io::Result<()> {
        data.fill(0);
        let is_at = |at: usize| self.was_reset && region == VFIO_PCI_BAR0_REGION_INDEX && at as u64 == offset;
        let found = self.registers.iter().find(|(at, _)| is_at(*at));
        if let (Some((_, value)), 4) = (found, data.len()) {
            data.copy_from_slice(&value.to_le_bytes());
        }
        Ok(())
    }

    fn region_write(&mut self, _: u32, _: u64, _: &[u8]) -> io::Result<()> {
        Ok(())
    }

    fn dma_map(&mut self, _: DmaMapFlags, _: u64, _: u64, _: u64, _: Option<File>) -> io::Result<()> {
        Ok(())
    }

    fn dma_unmap(&mut self, _: DmaUnmapFlags, _: u64, _: u64) -> io::Result<()> {
        Ok(())
    }

    fn reset(&mut self) -> io::Result<()> {
        self.was_reset = true;
        Ok(())
    }

    fn set_irqs(&mut self, _: u32, _: u32, _: u32, _: u32, _: Vec<File>) -> io::Result<()> {
        Ok(())
    }
}

fn serve(path: &Path, mut fake: Fake) {
    let region = |index| {
        let size = match index {
            VFIO_PCI_BAR0_REGION_INDEX => 0x1_0000,
            VFIO_PCI_CONFIG_REGION_INDEX => 4096,
            _ => 0,
        };
        let (argsz, flags) =
            (size_of::<vfio_region_info>() as u32, VFIO_REGION_INFO_FLAG_READ | VFIO_REGION_INFO_FLAG_WRITE);
        let region_info = vfio_region_info { argsz, index, flags, size, ..vfio_region_info::default() };
        ServerRegion { region_info, sparse_areas: Vec::new(), mmap_fd: None }
    };
    let interrupts = (0..VFIO_PCI_NUM_IRQS).map(|index| IrqInfo { index, flags: VFIO_IRQ_INFO_EVENTFD, count: 16 });
    let regions = (0..VFIO_PCI_NUM_REGIONS).map(region).collect();
    let server = Server::new(path, true, interrupts.collect(), regions).unwrap();
    std::thread::spawn(move || server.run(&mut fake));
}

#[test]
fn a_card_of_another_contract_and_another_device_are_refused() {
    for (registers, part) in [
        (
            vec![(reg::MAGIC.offset, MAGIC), (reg::CONTRACT.offset, CONTRACT_VERSION + 1)],
            "the card speaks contract version",
        ),
        (vec![(reg::MAGIC.offset, 0x1234)], "MAGIC is 0x00001234"),
        (vec![(reg::MAGIC.offset, u32::MAX)], "the card is gone"),
    ] {
        let path = free_path();
        serve(&path, Fake { registers, was_reset: false });
        let said = refused(path.to_str().unwrap());
        assert!(said.contains(part) && said.contains(path.to_str().unwrap()), "{said}");
        let _ = std::fs::remove_file(&path);
    }
}

/// The error must be equal on all ranks.
fn errors(job: &Job, ranks: usize, change: impl Fn(usize, Settings) -> Settings + Sync) -> String {
    let errors = on_ranks(ranks, |rank| {
        let error = Communicator::connect(change(rank, job.builder(rank, ranks))).wait().unwrap_err();
        assert!(error.kind() == ErrorKind::Argument, "{error:?}");
        error.to_string()
    });
    assert!(errors.iter().all(|error| *error == errors[0]), "{errors:?}");
    errors[0].clone()
}

#[test]
fn a_job_that_cards_cannot_have_is_refused_on_all_ranks_alike() {
    let job = Job::new(1);
    let same = errors(
        &job,
        3,
        |rank, builder| if rank == 2 { builder.interface(job.address(2).to_string()) } else { builder },
    );
    assert!(same.starts_with(&format!("ranks 1 and 2 are both at {}", job.address(2))), "{same}");
    let other = Served::start(job.address(99), free_port());
    let port =
        errors(&job, 2, |rank, builder| if rank == 1 { builder.card(other.socket.to_str().unwrap()) } else { builder });
    assert!(
        port.starts_with("the card of rank 1 is at") && port.contains(&format!("expected UDP port {}", job.port)),
        "{port}"
    );
}

/// Does not wait for the other rank, which does not exist.
#[test]
fn a_card_address_that_cannot_be_is_named() {
    let job = Job::new(1);
    let socket = job.cards[0].socket.to_str().unwrap();
    let of = |address: &str| format!("{socket},address={address}");
    let error =
        |address: &str| Communicator::connect(job.builder(0, 2).card(of(address))).wait().unwrap_err().to_string();
    let (known, given) = (format!("{}:{}", job.address(100), job.port), format!("{}:{}", job.address(9), job.port));
    let other = error(&given);
    assert!(
        other.contains(&format!("it is at {known}, ")) && other.contains(&format!("the address in `card` is {given}")),
        "{other}"
    );
    let wrong = error("10.0.0.2/24");
    assert!(
        wrong.contains(&format!(
            "card is {}, expected WHERE,address=IP[/PREFIX][:PORT][,gateway=MAC]",
            of("10.0.0.2/24")
        )),
        "{wrong}"
    );
}

/// At the address of a rank without a card.
#[test]
fn a_port_in_use_is_named() {
    let job = Job::new(1);
    let _taken = std::net::UdpSocket::bind((job.address(2), job.port)).unwrap();
    let errors = on_ranks(2, |rank| {
        Communicator::connect(job.builder(rank, 2).timeout(Duration::from_secs(10))).wait().map(drop)
    });
    let error = errors[1].as_ref().unwrap_err().to_string();
    assert!(error.contains(&format!("{}:{}, where a job with cards receives", job.address(2), job.port)), "{error}");
    assert!(errors[0].is_err(), "nobody waits for a rank that has gone");
}

#[test]
fn calls_that_cards_do_not_know_are_refused_on_all_ranks_and_change_nothing() {
    let job = Job::new(1);
    on_ranks(2, |rank| {
        let mut communicator = job.connect(rank, 2);
        let mut bucket = communicator.bucket(64, exact()).wait().unwrap();
        let error = communicator.rejoin().wait().unwrap_err();
        let text = error.to_string();
        assert!((error.kind(), error.rank()) == (ErrorKind::Unsupported, Some(0)), "{error:?}");
        assert!(text.starts_with("rejoin is not supported in a job with cards (rank 0 has one); "), "{text}");
        let mut data = gradient(rank, 7, 64);
        assert!(is_whole(&bucket.all_reduce(&mut data).unwrap()));
        check(&data, &sum(&[0, 1], 7, 64), &format!("rank {rank}"));
        communicator.close().wait().unwrap();
    });
}

/// A restarted rank fails only at its timeout, because the job might have been ending.
#[test]
fn nobody_comes_into_a_job_with_cards() {
    let job = Job::new(1);
    let mut communicators = on_ranks(3, |rank| job.connect(rank, 3));
    drop(communicators.pop());
    let again = Communicator::connect(job.builder(2, 3).rejoin(true).timeout(Duration::from_secs(2)))
        .wait()
        .unwrap_err()
        .to_string();
    assert!(again.contains("the job is already running, and rank 0 has a card"), "{again}");
}
