//! The network with real sockets on real hosts. Skipped without root and /dev/net/tun.

use std::process::{Command, Stdio};
use std::time::Duration;

/// Rank 1 sends 1000 datagrams to rank 0, slowly enough for any queue. Rank 0 prints the number
/// received, after the last one or a second without any.
const COUNT: &str = r#"
import os, socket, time
host = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
if os.environ["RANK"] == "0":
    # SO_RCVBUFFORCE: all that is sent, however late this process comes to read it.
    host.setsockopt(socket.SOL_SOCKET, 33, 8 << 20)
    host.bind(("10.77.0.1", 7000))
    host.settimeout(10)
    came = 0
    try:
        while came < 1000:
            host.recv(2000)
            host.settimeout(1)
            came += 1
    except TimeoutError:
        pass
    print(came)
else:
    time.sleep(1)
    for packet in range(1000):
        host.sendto(bytes(1000), ("10.77.0.1", 7000))
        time.sleep(0.0002)
"#;

/// Output of rank 0 under `badnet run`; `None` if hosts cannot be made here.
fn count(arguments: &[&str]) -> Option<u32> {
    let mut badnet = Command::new(env!("CARGO_BIN_EXE_badnet"));
    let output = badnet.args(["run", "--hosts", "2"]).args(arguments).args(["--", "python3", "-c", COUNT]).output();
    let output = output.expect("badnet");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if !output.status.success() && said.contains("hosts need root") {
        eprintln!("not run: {said}");
        return None;
    }
    assert!(output.status.success(), "{said}");
    Some(String::from_utf8_lossy(&output.stdout).trim().parse().expect("a number"))
}

#[test]
fn a_clean_network_loses_nothing_and_a_lossy_one_what_was_asked_for() {
    let Some(clean) = count(&[]) else { return };
    assert_eq!(clean, 1000);
    // Six standard deviations.
    let lossy = count(&["--loss", "0.1"]).expect("hosts can be made");
    assert!((843..957).contains(&lossy), "{lossy} of 1000 came with 10 % loss");
}

fn routes(arguments: &[&str]) -> Option<String> {
    let mut badnet = Command::new(env!("CARGO_BIN_EXE_badnet"));
    let output =
        badnet.args(["run", "--hosts", "1"]).args(arguments).args(["--", "ip", "route"]).output().expect("badnet");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if !output.status.success() && said.contains("hosts need root") {
        eprintln!("not run: {said}");
        return None;
    }
    assert!(output.status.success(), "{said}");
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn tuned_tcp_may_send_again_after_5_ms() {
    let Some(tuned) = routes(&["--tuned-tcp"]) else { return };
    assert!(tuned.contains("rto_min") && tuned.contains("5ms"), "{tuned}");
    let plain = routes(&[]).expect("hosts can be made");
    assert!(plain.contains("cubic") && !plain.contains("rto_min"), "{plain}");
}

fn run(network: &[&str], arguments: &[&str]) -> Option<serde_json::Value> {
    run_after("", network, arguments)
}

/// Row of `optireduce run`, started after `script` in each rank's shell; `None` as in [`count`].
fn run_after(script: &str, network: &[&str], arguments: &[&str]) -> Option<serde_json::Value> {
    let (printed, _) = output_after(script, network, arguments)?;
    Some(serde_json::from_slice(&printed).expect("a row"))
}

/// Standard output of `optireduce run --json`, and standard error of badnet.
fn output_after(script: &str, network: &[&str], arguments: &[&str]) -> Option<(Vec<u8>, String)> {
    // tests/run builds it beforehand, with the features of the whole workspace.
    if std::env::var_os("OPTIREDUCE_BUILT").is_none() {
        let build = Command::new(env!("CARGO")).args(["build", "--quiet", "-p", "optireduce-cli"]).status();
        assert!(build.expect("cargo").success());
    }
    let target = std::path::Path::new(env!("CARGO_BIN_EXE_badnet")).parent().and_then(|folder| folder.parent());
    let optireduce = target.expect("target/profile/badnet").join("debug/optireduce");
    let mut badnet = Command::new(env!("CARGO_BIN_EXE_badnet"));
    let script = format!("{script}\nexec \"$@\"");
    badnet.arg("run").args(network).args(["--", "sh", "-c", &script, "sh"]);
    badnet.arg(optireduce).args(["run", "--json"]).args(arguments);
    let output = badnet.output().expect("badnet");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if !output.status.success() && said.contains("hosts need root") {
        eprintln!("not run: {said}");
        return None;
    }
    assert!(output.status.success(), "{said}");
    Some((output.stdout, said))
}

#[test]
fn ranks_on_a_lossy_network_end_and_say_what_was_lost() {
    let network = ["--hosts", "3", "--loss", "0.02", "--mtu", "9000"];
    let Some(row) = run(&network, &["--bench", "256K", "--bound-ms", "200", "--secs", "1"]) else { return };
    let received = row["received_fraction"].as_f64().expect("a number");
    assert!((0.8..0.995).contains(&received), "{row}");
    assert!(row["iters"].as_u64() >= Some(20) && row["ranks"] == 3, "{row}");
}

/// Writes 8 MiB of values equal to this rank's number.
const GRADIENT: &str = r#"python3 -c 'import array, os, sys
array.array("f", [float(os.environ["RANK"])] * (1 << 21)).tofile(open(sys.argv[1], "wb"))' "$FOLDER/gradient.$RANK.f32""#;

#[test]
fn with_two_levels_by_host_a_host_sends_what_one_rank_would() {
    let folder = std::env::temp_dir().join(format!("badnet-levels-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = |name: &str| folder.join(name).display().to_string();
    // All-reduces the file once and returns the megabytes sent between hosts.
    let sent_mb = |groups: &[&str]| {
        let script = format!("FOLDER='{}'\n{GRADIENT}", folder.display());
        let (gradient, mean) = (file("gradient.{rank}.f32"), file("mean.{rank}.f32"));
        let network = ["--hosts", "2", "--ranks-per-host", "2", "--mtu", "9000"];
        let run = ["--file", &gradient, "--out", &mean, "--bound-ms", "4000", "--early", "off"];
        let (_, said) = output_after(&script, &network, &[&run[..], groups].concat())?;
        for rank in 0..4 {
            let mean = std::fs::read(file(&format!("mean.{rank}.f32"))).expect("a mean");
            assert!(mean.len() == 8 << 20 && mean.chunks(4).all(|value| value == 1.5_f32.to_le_bytes()), "rank {rank}");
        }
        let (before, _) = said.split_once(" MB").expect("badnet counts bytes");
        Some(before.rsplit(' ').next().expect("a number").parse::<f64>().expect("a number"))
    };
    let sent = sent_mb(&[]).zip(sent_mb(&["--groups", "hosts"]));
    let _ = std::fs::remove_dir_all(&folder);
    let Some((flat, levels)) = sent else { return };
    // Of its 8.4 MB each rank sends a quarter to each of two ranks on the other host, and the mean
    // of its own quarter to both. With levels each half is all-reduced between two ranks.
    assert!((33.0..37.0).contains(&flat) && (16.0..19.0).contains(&levels), "{flat} MB, on two levels {levels} MB");
}

#[test]
fn an_interface_that_goes_down_for_moments_costs_packets_and_ends_no_rank() {
    // Short and rare: three collectives in a row with large losses would halt the job.
    let flap = r#"[ "$RANK" = 1 ] && (sleep 1; for i in 1 2 3 4 5 6 7 8; do
        ip link set bn0 down; sleep 0.04; ip link set bn0 up; sleep 0.6; done) &"#;
    let network = ["--hosts", "2", "--mtu", "9000"];
    let arguments = ["--bench", "256K", "--bound-ms", "200", "--secs", "7", "--drop-silent-after", "never"];
    let Some(row) = run_after(flap, &network, &arguments) else { return };
    assert!(row["unsent_packets"].as_u64() > Some(0) && row["ranks"] == 2, "{row}");
    assert!(row["received_fraction"].as_f64() < Some(1.0), "{row}");
}

#[test]
fn packets_are_as_large_as_the_path_takes_though_interfaces_promise_more() {
    let network = ["--hosts", "2", "--mtu", "9000", "--path-mtu", "4400"];
    // Larger packets would all be lost. badnet limits TCP's segments to the path MTU.
    let Some(row) = run(&network, &["--bench", "64K", "--bound-ms", "200", "--secs", "1"]) else { return };
    assert_eq!((row["payload_bytes"].as_u64(), row["ranks"].as_u64()), (Some(3904), Some(2)), "{row}");
    assert!(row["received_fraction"].as_f64() > Some(0.5), "{row}");
}

#[test]
fn a_signal_ends_the_job_and_removes_its_hosts() {
    // The command reports that it runs through a file.
    let folder = std::env::temp_dir().join(format!("badnet-signal-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    for signal in ["-TERM", "-INT", "-HUP"] {
        let ready = folder.join(signal);
        let script = format!("echo $$ > {}; exec sleep 600", ready.display());
        let mut child = Command::new(env!("CARGO_BIN_EXE_badnet"));
        child.args(["run", "--hosts", "1", "--", "sh", "-c", &script]).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = child.spawn().expect("badnet");
        let pid = child.id();
        while !std::fs::read_to_string(&ready).is_ok_and(|text| text.ends_with('\n')) {
            if child.try_wait().expect("badnet").is_some() {
                let output = child.wait_with_output().expect("badnet");
                let said = String::from_utf8_lossy(&output.stderr).into_owned();
                assert!(said.contains("hosts need root"), "{said}");
                return eprintln!("not run: {said}");
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let job = std::fs::read_to_string(&ready).expect("its number");
        assert!(Command::new("kill").args([signal, &pid.to_string()]).status().expect("kill").success());
        let output = child.wait_with_output().expect("badnet");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{signal}: {said}");
        assert!(said.contains("interrupted"), "{signal}: {said}");
        assert!(!std::path::Path::new(&format!("/proc/{}", job.trim())).exists(), "{signal}: the job still runs");
        let namespaces = Command::new("ip").args(["netns", "list"]).output().expect("ip");
        let left = String::from_utf8_lossy(&namespaces.stdout).into_owned();
        assert!(!left.contains(&format!("badnet-{pid}-")), "{signal}: {left}");
    }
    std::fs::remove_dir_all(&folder).expect("it is there");
}

#[test]
fn what_goes_wrong_is_named_and_leaves_nothing_behind() {
    let is_live =
        |line: &str| line.split('-').nth(1).is_some_and(|pid| std::path::Path::new(&format!("/proc/{pid}")).exists());
    let stale = || -> Vec<String> {
        let list = Command::new("ip").args(["netns", "list"]).output();
        let list = list.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
        list.lines().filter(|line| line.starts_with("badnet-") && !is_live(line)).map(str::to_owned).collect()
    };
    let before = stale();
    let badnet =
        |arguments: &[&str]| Command::new(env!("CARGO_BIN_EXE_badnet")).args(arguments).output().expect("badnet");
    let said = |arguments: &[&str]| String::from_utf8_lossy(&badnet(arguments).stderr).into_owned();
    assert!(said(&["run", "--loss", "2", "--", "true"]).contains("a share from 0 to 1"));
    for time in ["inf", "nan", "1e300"] {
        let said = said(&["run", "--outage-gap-ms", "5", "--outage-ms", time, "--", "true"]);
        assert!(said.contains("expected 0 to 3600000 milliseconds"), "{said}");
    }
    assert!(said(&["run", "--timeout-s", "18446744073709551615", "--", "true"]).contains("1..=86400"));
    assert!(said(&["run", "--outage-ms", "5", "--", "true"]).contains("--outage-gap-ms"));
    let failed = said(&["run", "--hosts", "2", "--", "sh", "-c", "echo no gradient >&2; exit 7"]);
    if failed.contains("hosts need root") {
        return eprintln!("not run: {failed}");
    }
    assert!(failed.contains("exit status: 7") && failed.contains("no gradient"), "{failed}");
    assert!(said(&["run", "--hosts", "2", "--", "no-such-program"]).contains("no-such-program"));
    // A parallel test may have removed its namespaces since the first listing, and a killed process
    // may have left some long ago.
    let (listed, left) = (stale(), stale());
    let left: Vec<_> = left.iter().filter(|one| listed.contains(one) && !before.contains(one)).collect();
    assert!(left.is_empty(), "left behind: {left:?}");
}
