//! Jobs of cards on other networks than the kernel's UDP: a hub, TUN and TAP devices.

use std::path::Path;
use std::process::Command;

use super::*;

/// What one rank of a job on such a network has: a card's socket, or an address.
enum Rank {
    Card(String),
    Software(Ipv4Addr),
}

/// A job whose ranks all get exact means.
fn run_job(root: &str, ranks: &[Rank]) {
    on_ranks(ranks.len(), |rank| {
        let launch = Launch::new(rank, ranks.len(), root.to_owned()).unwrap();
        let builder = Communicator::builder().launch(launch).timeout(TIMEOUT).bound(Bound::Fixed(BOUND));
        let builder = builder.early(Early::Off);
        let builder = match &ranks[rank] {
            Rank::Card(socket) => builder.card(socket),
            Rank::Software(address) => builder.card("").interface(address.to_string()),
        };
        let mut communicator = builder.connect().unwrap();
        let all: Vec<usize> = (0..ranks.len()).collect();
        for elements in [100, 3000, 40_000] {
            let mut bucket = communicator.bucket(elements, exact()).unwrap();
            for step in 0..3 {
                let mut data = gradient(rank, step, elements);
                let report = bucket.all_reduce(&mut data).unwrap();
                assert!(is_whole(&report), "rank {rank}, step {step}, {elements} elements: {report}");
                check(&data, &sum(&all, step, elements), &format!("rank {rank}, step {step}"));
            }
        }
        communicator.close().unwrap();
    });
}

/// Two cards of one process and one of another; the process that ran the switch ends, and the others have another job.
#[test]
fn cards_on_a_hub_share_jobs_and_outlive_who_ran_it() {
    let hub = served::free_path();
    let network = format!("hub:{}", hub.display());
    let first = Served::on(&network, &[]);
    let others = Served::on(&network, &["--cards", "2"]);
    let card = |number| Rank::Card(others.socket_of(number));
    run_job(&free_root(), &[Rank::Card(first.socket.display().to_string()), card(0), card(1)]);
    first.end();
    run_job(&free_root(), &[card(0), card(1)]);
    let said = others.finish();
    assert!(said.contains("10.79.0.2:5791: ") && said.contains("10.79.0.3:5791: "), "{said}");
    let _ = std::fs::remove_file(&hub);
    let _ = std::fs::remove_file(format!("{}.lock", hub.display()));
}

/// Runs an ignored test of this program in a network namespace of its own, where it is root.
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

/// The kernel routes between the ranks' sockets and the cards.
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
    // Nothing else that comes through a device harms a card, IPv6 neither.
    let ping = Command::new("ping").args(["-c", "1", "-W", "1", "10.80.0.2"]).output();
    drop(ping);
    let said = cards.finish();
    assert!(said.contains("10.80.0.3:5791: "), "{said}");
}

#[test]
fn a_card_behind_a_tap_device_shares_a_job_with_a_rank_without() {
    in_a_namespace("networks::inside_tap");
}

/// A device that was made before; the kernel is told the card's MAC address, and has one that the card takes for its IP address.
#[test]
#[ignore = "runs in a namespace: a_card_behind_a_tap_device_shares_a_job_with_a_rank_without"]
fn inside_tap() {
    ip("link set lo up");
    ip("tuntap add dev or1 mode tap");
    ip("link set or1 address 02:4f:0a:51:00:01 mtu 9000 up");
    ip("address add 10.81.0.1/24 dev or1");
    ip("neighbour add 10.81.0.2 lladdr 02:4f:0a:51:00:02 dev or1");
    let card = Served::on("tap:or1,10.81.0.2", &[]);
    run_job(
        "10.81.0.1:29517",
        &[Rank::Software(Ipv4Addr::new(10, 81, 0, 1)), Rank::Card(card.socket.display().to_string())],
    );
}
