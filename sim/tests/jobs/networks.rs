//! Jobs of cards on a hub, a TUN or a TAP device.

use optireduce::Communicator;
use std::net::SocketAddrV4;
use std::path::Path;
use std::process::Command;

use optireduce_contract::answer::PING_BYTES_MAX;
use optireduce_contract::packet::{Endpoint, ipv4_checksum};
use optireduce_driver::{JobConfig, Nic, VfioUserBus};
use optireduce_sim::check::card_bench::bench_job;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketType, ipproto, recv, sendto, socket};

use super::*;

enum Rank {
    Card(String),
    /// A card without an address, and the address that its rank assigns.
    Board(String, &'static str),
    Software(Ipv4Addr),
}

/// All ranks must have exact means.
fn run_job(root: &str, ranks: &[Rank]) {
    on_ranks(ranks.len(), |rank| {
        let place = Settings::new().rank(rank).world_size(ranks.len()).root(root);
        let builder = place.timeout(TIMEOUT).bound(BOUND).early(Early::Off).repair(Repair::NextUpdate);
        let builder = match &ranks[rank] {
            Rank::Card(socket) => builder.card(socket),
            Rank::Board(socket, address) => builder.card(format!("{socket},address={address}")),
            Rank::Software(address) => builder.card("").interface(address.to_string()),
        };
        let mut communicator = Communicator::connect(builder).wait().unwrap();
        let all: Vec<usize> = (0..ranks.len()).collect();
        for elements in [100, 3000, 40_000] {
            let mut bucket = communicator.bucket(elements, exact()).wait().unwrap();
            for step in 0..3 {
                let mut data = gradient(rank, step, elements);
                let report = bucket.all_reduce(&mut data).unwrap();
                assert!(is_whole(&report), "rank {rank}, step {step}, {elements} elements: {report}");
                check(&data, &sum(&all, step, elements), &format!("rank {rank}, step {step}"));
            }
        }
        communicator.close().wait().unwrap();
    });
}

/// Two cards of one process, and one of the process with the switch, which ends before a second
/// job.
#[test]
fn cards_on_a_hub_share_jobs_and_outlive_who_ran_it() {
    let hub = served::free_path();
    let network = format!("hub:{}", hub.display());
    let first = Served::on(&network, &[]);
    let others = Served::on(&network, &["--cards", "2"]);
    let card = |number| Rank::Card(others.socket_of(number));
    run_job(&free_root(), &[Rank::Card(first.socket.display().to_string()), card(0), card(1)]);
    first.end();
    // Packets are lost until another process runs the switch.
    std::thread::sleep(Duration::from_secs(1));
    run_job(&free_root(), &[card(0), card(1)]);
    let said = others.finish();
    assert!(said.contains("10.79.0.2:5791: ") && said.contains("10.79.0.3:5791: "), "{said}");
    let _ = std::fs::remove_file(&hub);
    let _ = std::fs::remove_file(format!("{}.lock", hub.display()));
}

/// Runs an ignored test of this program as root of a new network namespace.
fn in_a_namespace(name: &str) {
    let own = |program: &Path| {
        let mut command = Command::new("unshare");
        command.args(["--map-root-user", "--net"]).arg(program);
        command
    };
    let possible = own(Path::new("true")).output().is_ok_and(|output| output.status.success());
    if !possible || !Path::new("/dev/net/tun").exists() {
        return eprintln!("NOT RUN: cards behind a device need /dev/net/tun, and root or user namespaces");
    }
    let mut test = own(&std::env::current_exe().unwrap());
    let output = test.args([name, "--exact", "--ignored", "--nocapture"]).output().unwrap();
    let said = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

fn ip(arguments: &str) {
    let output = Command::new("ip").args(arguments.split(' ')).output().unwrap();
    assert!(output.status.success(), "ip {arguments}: {output:?}");
}

#[test]
fn cards_behind_a_tun_device_share_jobs_with_ranks_without() {
    in_a_namespace("networks::inside_tun");
}

#[test]
#[ignore = "runs in a namespace: cards_behind_a_tun_device_share_jobs_with_ranks_without"]
fn inside_tun() {
    ip("link set lo up");
    let cards = Served::on("tun:or0,10.80.0.2", &["--cards", "2"]);
    ip("address add 10.80.0.1/24 dev or0");
    ip("address add 10.80.0.9/24 dev or0");
    let software = |host| Rank::Software(Ipv4Addr::new(10, 80, 0, host));
    let [one, other] = [0, 1].map(|card| Rank::Card(cards.socket_of(card)));
    run_job("10.80.0.1:29517", &[software(1), one, software(9), other]);
    let said = cards.finish();
    assert!(said.contains("10.80.0.3:5791: "), "{said}");
}

#[test]
fn a_kernel_finds_and_pings_a_card_behind_a_tap_device_and_shares_jobs_with_it() {
    in_a_namespace("networks::inside_tap");
}

/// The device exists already. The kernel learns the card's address by ARP.
#[test]
#[ignore = "runs in a namespace: a_kernel_finds_and_pings_a_card_behind_a_tap_device_and_shares_jobs_with_it"]
fn inside_tap() {
    ip("link set lo up");
    for (number, engine) in ["functional", "verilator"].into_iter().enumerate() {
        let (device, [host, card]) = (format!("or{number}"), [1, 2].map(|host| [10, 81, number as u8, host]));
        ip(&format!("tuntap add dev {device} mode tap"));
        ip(&format!("link set {device} mtu 9000 up"));
        ip(&format!("address add {}/24 dev {device}", Ipv4Addr::from(host)));
        let served = Served::on(&format!("tap:{device},{}", Ipv4Addr::from(card)), &["--engine", engine]);
        let mut nic = Nic::open(VfioUserBus::open(&served.socket, 1 << 16).unwrap()).unwrap();
        let endpoints = [card, host].map(Endpoint::of_ip).into();
        nic.configure(&JobConfig { endpoints, ..bench_job(2, 4) }).unwrap();
        for bytes in [0, 56, PING_BYTES_MAX - 42] {
            ping(card, bytes);
        }
        let counters = nic.counters().unwrap();
        assert!(counters.arp_replies >= 1 && counters.ping_replies == 3, "{engine}: {counters:?}");
        let neighbours = Command::new("ip").args(["neighbour", "show", "dev", &device]).output().unwrap();
        let known = String::from_utf8(neighbours.stdout).unwrap();
        let expected = format!("10.81.{number}.2 lladdr 02:4f:0a:51:0{number}:02");
        assert!(known.contains(&expected), "{engine}: {known}");
        nic.disable().unwrap();
        drop(nic);
        ip(&format!("neighbour flush dev {device}"));
        let ranks = [Rank::Software(host.into()), Rank::Card(served.socket.display().to_string())];
        run_job(&format!("{}:29517", Ipv4Addr::from(host)), &ranks);
    }
}

#[test]
fn cards_without_addresses_get_them_from_their_ranks_and_reach_other_networks_by_a_gateway() {
    in_a_namespace("networks::inside_tap_of_boards");
}

/// Two cards, a rank on their network, and a rank behind this host as the gateway.
#[test]
#[ignore = "runs in a namespace: cards_without_addresses_get_them_from_their_ranks_and_reach_other_networks_by_a_gateway"]
fn inside_tap_of_boards() {
    ip("link set lo up");
    for (device, network) in [("or0", "10.82.0.1/24"), ("or1", "10.83.0.1/24")] {
        ip(&format!("tuntap add dev {device} mode tap"));
        ip(&format!("link set {device} mtu 9000 up"));
        ip(&format!("address add {network} dev {device}"));
    }
    // A MAC address unlike those of cards.
    ip("link set or0 address 52:54:00:12:34:56");
    let served = Served::on("tap:or0", &["--cards", "2"]);
    let software = |address: [u8; 4]| Rank::Software(address.into());
    let board = |card| Rank::Board(served.socket_of(card), "10.82.0.2{rank}/24,gateway=52:54:00:12:34:56");
    let card = format!("{},address=10.82.0.1", served.socket_of(0));
    let settings = Settings::new().rank(0).world_size(2).root("10.82.0.1:29517").card(card);
    let taken = Communicator::connect(settings).wait().unwrap_err().to_string();
    assert!(
        taken.contains("the address in `card` is 10.82.0.1:5791, which belongs to an interface of this host"),
        "{taken}"
    );
    let ranks = [software([10, 82, 0, 1]), board(0), software([10, 83, 0, 1]), board(1)];
    run_job("10.82.0.1:29517", &ranks);
    // The next job assigns other addresses.
    let board = |card| Rank::Board(served.socket_of(card), "10.82.0.3{rank}/24,gateway=52:54:00:12:34:56");
    let ranks = [software([10, 82, 0, 1]), board(0), software([10, 83, 0, 1]), board(1)];
    run_job("10.82.0.1:29518", &ranks);
    let said = served.finish();
    assert!(said.contains("without an address: "), "{said}");
}

fn ping(to: [u8; 4], bytes: usize) {
    let socket = socket(AddressFamily::INET, SocketType::RAW, Some(ipproto::ICMP)).unwrap();
    set_socket_timeout(&socket, Timeout::Recv, Some(TIMEOUT)).unwrap();
    // Echo request, code 0, checksum, identifier and number, payload.
    let mut message = vec![8, 0, 0, 0, 0x4f, 0x52, 0, bytes as u8];
    message.extend((0..bytes).map(|at| at as u8));
    let checksum = ipv4_checksum(&message).to_be_bytes();
    message[2..4].copy_from_slice(&checksum);
    sendto(&socket, &message, SendFlags::empty(), &SocketAddrV4::new(to.into(), 0)).unwrap();
    let mut answer = [0; 2048];
    loop {
        let (got, _) = recv(&socket, &mut answer, RecvFlags::empty()).expect("an answer");
        let (header, answer) = answer[..got].split_at(20);
        if header[12..16] == to && answer[0] == 0 {
            return assert!(answer[4..] == message[4..], "{bytes} bytes: {answer:?}");
        }
    }
}
