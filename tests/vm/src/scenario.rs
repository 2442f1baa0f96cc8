//! The scenario: two machines with three cards each, from unbound cards to jobs of four ranks.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use safetensors::SafeTensors;

use crate::guest::{Ended, Guest, Parts};
use crate::host::{Card, address, network};
use crate::image;
use crate::job::{FIRST_CARD, Job, Plan, RANKS};
use crate::judge;
use crate::rank::{Step, gradient_of};
use crate::{text, values_of};

const PATIENCE: Duration = Duration::from_secs(60);
/// Last byte of addresses: ranks without cards, machines, cards without loss, lossy cards,
/// Verilated cards.
const SOFTWARE: [u8; FIRST_CARD] = [1, 2];
const MACHINES: [u8; 2] = [11, 12];
const GOOD: [u8; 2] = [101, 102];
const LOSSY: [u8; 2] = [111, 112];
const VERILATED: [u8; 2] = [121, 122];
const LOSS: f64 = 0.01;
/// Gradients of a real network.
const SHIPPED: &[u8] = include_bytes!("../../../sim/data/digits-mlp-gradients.safetensors");

pub struct Places {
    /// Folder of `tests/vm/fetch`.
    pub packages: PathBuf,
    pub programs: PathBuf,
    /// Temporary folder for sockets, logs and results.
    pub scratch: PathBuf,
}

struct Stage {
    begin: Instant,
    places: Places,
    guests: Vec<Guest>,
    good: Vec<Card>,
    lossy: Vec<Card>,
    verilated: Vec<Card>,
    /// By machine: PCI addresses of the cards without loss, with loss, and Verilated.
    cards: Vec<[String; 3]>,
    /// By rank.
    gradients: Vec<Vec<f32>>,
    port: u16,
}

/// Runs the scenario. `is_short`: without the steps that need minutes of emulated time, on
/// Verilated cards and with machines that stop.
///
/// # Errors
/// The first expectation that does not hold.
pub fn run(places: Places, is_short: bool) -> Result<(), String> {
    let mut stage = Stage::set(places, !is_short)?;
    stage.say("machines are up; optireduce-nic is a static program in them");
    stage.mend_what_the_doctor_finds()?;
    stage.every_way_to_a_card_has_the_same_rules()?;
    stage.without_root_a_card_needs_two_things()?;
    stage.a_process_that_is_killed_leaves_a_card_for_the_next()?;
    stage.files_are_averaged()?;
    stage.a_card_that_root_resets_ends_its_rank_alone()?;
    stage.loss_is_reported()?;
    if !is_short {
        stage.a_machine_that_stands_still_costs_the_others_their_bound()?;
        stage.verilated_cards_share_a_job()?;
        stage.a_machine_that_straggles_is_back_with_its_card()?;
    }
    stage.a_card_that_leaves_ends_its_rank_alone()?;
    stage.a_card_that_leaves_ends_the_self_test()?;
    // The other machine is killed, since its kernel would wait a minute for each card that has
    // left.
    stage.guests.swap_remove(0).end()?;
    stage.say("machine a is switched off");
    Ok(())
}

/// Returns an error unless `is_so`.
fn expect(is_so: bool, what: &str, found: &dyn std::fmt::Debug) -> Result<(), String> {
    if is_so { Ok(()) } else { Err(format!("expected {what}; found {found:#?}")) }
}

impl Stage {
    /// `cycles`: the third card of each machine is Verilated, else functional.
    fn set(places: Places, cycles: bool) -> Result<Self, String> {
        let begin = Instant::now();
        let taps = ["tap0", "tap1"];
        network(&[&SOFTWARE[..], &GOOD, &LOSSY, &VERILATED].concat(), &taps)?;
        let shipped = SafeTensors::deserialize(SHIPPED).map_err(text)?;
        let mut gradients = Vec::new();
        let mut data = Vec::new();
        for rank in 0..RANKS {
            let bytes = shipped.tensor(&format!("step0.rank{rank}")).map_err(text)?.data();
            gradients.push(values_of(bytes));
            data.push(places.scratch.join(format!("gradient.{rank}.bin")));
            std::fs::write(&data[rank], bytes).map_err(text)?;
        }
        let programs = ["optireduce", "optireduce-sim", "optireduce-vm"].map(|name| places.programs.join(name));
        let alone = places.packages.join("optireduce-nic");
        let init = Path::new(env!("CARGO_MANIFEST_DIR")).join("init");
        let initramfs = places.scratch.join("initramfs");
        let bytes = image::build(&places.packages, &init, &alone, &programs, &data[FIRST_CARD..], &places.scratch)?;
        std::fs::write(&initramfs, bytes).map_err(text)?;
        let serve = |hosts: [u8; 2], loss, cycles: bool| -> Result<Vec<Card>, String> {
            hosts.into_iter().map(|host| Card::serve(&places.programs, &places.scratch, host, loss, cycles)).collect()
        };
        let (good, lossy) = (serve(GOOD, 0.0, false)?, serve(LOSSY, LOSS, false)?);
        let verilated = serve(VERILATED, LOSS, cycles)?;
        let start = |(number, name): (usize, &str)| {
            let cards = [&good[number], &lossy[number], &verilated[number]].map(|card| card.socket.clone());
            let (tap, address) = (taps[number], format!("{}/24", address(MACHINES[number])));
            let (packages, scratch) = (&places.packages, &places.scratch);
            let parts = Parts { name, packages, initramfs: &initramfs, cards: &cards, tap, address: &address, scratch };
            Guest::start(&parts)
        };
        let mut guests = ["a", "b"].into_iter().enumerate().map(start).collect::<Result<Vec<_>, _>>()?;
        guests.iter_mut().try_for_each(Guest::wait_until_ready)?;
        Ok(Self { begin, places, guests, good, lossy, verilated, cards: Vec::new(), gradients, port: 29_500 })
    }

    /// Prints progress for the user.
    fn say(&self, what: &str) {
        println!("{:6.1} s  {what}", self.begin.elapsed().as_secs_f64());
    }

    fn on(&mut self, machine: usize, command: &str) -> Result<Ended, String> {
        self.guests[machine].run(command, PATIENCE)
    }

    /// Expects exit code 0, and returns the output.
    fn must(&mut self, machine: usize, command: &str) -> Result<String, String> {
        let ended = self.on(machine, command)?;
        expect(ended.code == 0, &format!("`{command}` to end with 0"), &ended)?;
        Ok(ended.said)
    }

    fn next_port(&mut self) -> u16 {
        self.port += 1;
        self.port
    }

    /// From unbound cards to a passed self-test.
    fn mend_what_the_doctor_finds(&mut self) -> Result<(), String> {
        for machine in 0..MACHINES.len() {
            let list = self.must(machine, "optireduce-nic list --json")?;
            let list: Vec<serde_json::Value> = serde_json::from_str(&list).map_err(text)?;
            let addresses: Vec<String> =
                list.iter().filter_map(|card| Some(card["address"].as_str()?.to_owned())).collect();
            let unbound = list.iter().all(|card| card["driver"].is_null() && card["iommu_group"].is_string());
            let cards =
                <[String; 3]>::try_from(addresses).map_err(|found| format!("expected three cards, found {found:?}"))?;
            expect(unbound, "cards without a driver, in IOMMU groups", &list)?;
            self.cards.push(cards);
        }
        let card = self.cards[0][0].clone();
        let ill = self.on(0, "optireduce-nic doctor")?;
        let mend = format!("fix:           optireduce-nic bind {card}");
        expect(ill.code == 1 && ill.said.contains(&mend), "the doctor to ask for `bind`", &ill)?;
        let unbound = self.on(0, &format!("optireduce-nic info {card}"))?;
        let says = "the card is bound to no driver, expected vfio-pci";
        expect(unbound.code == 2 && unbound.said.contains(says), "`info` to say that it is not bound", &unbound)?;
        for machine in 0..MACHINES.len() {
            for card in self.cards[machine].clone() {
                let bound = self.must(machine, &format!("optireduce-nic bind {card}"))?;
                expect(bound.contains(&format!("To undo it: optireduce-nic unbind {card}")), "how to undo it", &bound)?;
            }
        }
        // Unbind a card, and bind it again.
        self.must(0, &format!("optireduce-nic unbind {card}"))?;
        let listed = self.must(0, "optireduce-nic list")?;
        expect(
            listed.contains("none") && listed.contains("vfio-pci"),
            "cards that are bound, and one that is not",
            &listed,
        )?;
        self.must(0, &format!("optireduce-nic bind {card}"))?;
        let asked = self.must(0, "optireduce-nic list --identify")?;
        expect(asked.matches("  contract version ").count() == 3, "three cards with a contract version", &asked)?;
        let well = self.must(0, "optireduce-nic doctor")?;
        expect(
            !well.contains("FAIL") && well.matches("it was opened: contract version").count() == 3,
            "all to pass",
            &well,
        )?;
        self.say("doctor, bind, unbind: the cards can be opened");

        let info = self.must(0, &format!("optireduce-nic info {card} --json"))?;
        let info: serde_json::Value = serde_json::from_str(&info).map_err(text)?;
        let ip = address(GOOD[0]);
        expect(info["network"]["ip"] == ip.as_str() && info["pci"]["device"] == "903f", "the card's address", &info)?;
        let report = self.must(0, &format!("optireduce-nic selftest {card} --seed 1 --json"))?;
        let report: serde_json::Value = serde_json::from_str(&report).map_err(text)?;
        let queues = &report["steps"][2]["figures"];
        expect(
            report["passed"] == true && queues["interrupts"] == 4,
            "the self-test to pass, with interrupts",
            &report,
        )?;
        self.say("self-test passed: registers, queues, interrupts, DMA through the IOMMU");

        // `program` for a board that Vivado loads first identifies the card that it would replace.
        let manifest = format!(
            "mkdir /tmp/bits; echo bits >/tmp/bits/a.bit; sha=$(sha256sum /tmp/bits/a.bit | cut -c -64); \
             printf 'board = \"b\"\\npart = \"p\"\\ncontract = {}\\ntool = \"Vivado\"\\ntool_version = \"1\"\\nstate = \"built\"\\ngit = \"%040d\"\\n\
             sha256 = \"%s\"\\nwns_ns = 0.1\\nutilisation = {{ lut = 1, ff = 1, bram = 1, dsp = 1 }}\\n' 0 $sha >/tmp/bits/manifest.toml",
            info["contract_version"]
        );
        self.must(0, &manifest)?;
        let steps = self.on(0, &format!("optireduce-nic program /tmp/bits --card {card}"))?;
        let parts = [
            format!("  at {card} so far: contract version {}, build {}", info["contract_version"], info["build"]),
            format!("  optireduce-nic selftest {card}\n"),
        ];
        expect(steps.code == 2 && parts.iter().all(|part| steps.said.contains(part)), &format!("{parts:?}"), &steps)?;
        Ok(())
    }

    /// The rules of all buses, and the cost of a doorbell.
    fn every_way_to_a_card_has_the_same_rules(&mut self) -> Result<(), String> {
        let card = self.cards[0][0].clone();
        let rules = self.must(0, &format!("optireduce-sim check-bus {card}"))?;
        expect(rules.lines().count() == 4, "four rules to hold", &rules)?;
        let report = self.must(0, &format!("optireduce-nic bench {card} --commands 200 --collectives 20 --json"))?;
        let report: serde_json::Value = serde_json::from_str(&report).map_err(text)?;
        let us = |name: &str| report[name].as_f64().filter(|us| *us > 0.0).ok_or(format!("{name}: {report}"));
        let (p50, p99) = (us("doorbell_to_completion_p50_us")?, us("doorbell_to_completion_p99_us")?);
        let doorbells = report["collectives"][0]["doorbell_stores"].as_f64();
        expect(doorbells == Some(1.0), "one doorbell for a collective", &report)?;
        self.say(&format!(
            "by VFIO, the rules of a bus hold; doorbell to completion {p50:.0} us (P99 {p99:.0}), functional card, emulated machine"
        ));
        Ok(())
    }

    /// Access to the group's file and enough locked memory suffice; the doctor reports both.
    fn without_root_a_card_needs_two_things(&mut self) -> Result<(), String> {
        let card = self.cards[0][0].clone();
        let list = self.must(0, "optireduce-nic list --json")?;
        let list: Vec<serde_json::Value> = serde_json::from_str(&list).map_err(text)?;
        let group = list.first().and_then(|card| card["iommu_group"].as_str()).unwrap_or_default().to_owned();
        let as_nobody =
            |limit: &str, command: &str| format!("ulimit -l {limit}; su nobody -c \"optireduce-nic {command} {card}\"");
        let ill = self.on(0, &as_nobody("1000", "doctor"))?;
        let parts = [
            format!("/dev/vfio/{group}: Permission denied"),
            format!("sudo chown $USER /dev/vfio/{group}"),
            "the limit is 1000 KiB, expected at least ".to_owned(),
            "fix:           ulimit -l ".to_owned(),
        ];
        expect(ill.code == 1 && parts.iter().all(|part| ill.said.contains(part)), &format!("{parts:?}"), &ill)?;
        self.must(0, &format!("chown nobody /dev/vfio/{group}"))?;
        let little = self.on(0, &as_nobody("1000", "selftest"))?;
        let says = "locked memory: the limit is 1000 KiB";
        expect(little.code == 2 && little.said.contains(says), "the limit to be named", &little)?;
        let report = self.must(0, &as_nobody("4000", "selftest --seed 3"))?;
        expect(report.ends_with("passed\n"), "the self-test to pass without root", &report)?;
        // The self-test needs less than a job, which the doctor reports once it can open the card.
        let short = self.on(0, &as_nobody("4000", "doctor"))?;
        let parts = [
            "the limit is 4000 KiB, expected at least 16436 KiB; a job with this card takes 16436 KiB",
            "ulimit -l 16436 ",
        ];
        expect(short.code == 1 && parts.iter().all(|part| short.said.contains(part)), &format!("{parts:?}"), &short)?;
        let enough = self.on(0, &as_nobody("16436", "doctor"))?;
        expect(enough.code == 0 && enough.said.contains("it was opened: "), "the doctor to pass", &enough)?;
        self.say(
            "without root: the doctor asks for the group's file and locked memory; with both the self-test passes",
        );
        Ok(())
    }

    /// After a process is killed, the kernel resets the card and releases pinned memory. Until then
    /// no other process can open the card.
    fn a_process_that_is_killed_leaves_a_card_for_the_next(&mut self) -> Result<(), String> {
        let card = self.cards[1][0].clone();
        // The self-test uses two of four huge pages, which stay in use while they are pinned.
        let free = "echo free $(cat /sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages)";
        let reserved = self.must(1, &format!("echo 4 > /proc/sys/vm/nr_hugepages; {free}"))?;
        expect(reserved == "free 4\n", "four huge pages", &reserved)?;
        // The card's interrupts show that the process has opened it; its queues are active after
        // the sleep.
        let killed = format!(
            "optireduce-nic selftest {card} --seed 1 >/tmp/first 2>&1 & first=$!; \
             until grep -q \"vfio-msix.*{card}\" /proc/interrupts; do :; done; sleep 0.3; {free} at work; \
             optireduce-nic info {card}; echo second $?; optireduce-nic unbind {card}; echo unbind $?; kill -9 $first; wait $first; echo first $?; \
             {free} afterwards"
        );
        let ended = self.on(1, &killed)?;
        let parts = [
            "free 2 at work",
            "second 2",
            "one driver at a time",
            "unbind 2",
            "it is in use",
            "first 137",
            "free 4 afterwards",
        ];
        expect(parts.iter().all(|part| ended.said.contains(part)), &format!("{parts:?}"), &ended)?;
        let report = self.must(1, &format!("optireduce-nic selftest {card} --seed 2"))?;
        expect(report.ends_with("passed\n"), "the self-test to pass after that, with huge pages", &report)?;
        self.must(1, "echo 0 > /proc/sys/vm/nr_hugepages")?;
        self.say("a process killed with a card and huge pages: the next one opens it, and the self-test passes");
        Ok(())
    }

    /// Every bit must match a sum in some order.
    fn files_are_averaged(&mut self) -> Result<(), String> {
        let port = self.next_port();
        let common = |rank: usize, data: &str, out: &str| {
            format!(
                "run --rank {rank} --world-size {RANKS} --root {}:{port} --file {data}/gradient.{rank}.bin --out {out}/mean.{rank}.bin \
                 --bound-ms 4000 --early off --hadamard off",
                address(1)
            )
        };
        let scratch = self.places.scratch.clone();
        let mut software = Vec::new();
        for (rank, host) in SOFTWARE.into_iter().enumerate() {
            let mut command = Command::new(self.places.programs.join("optireduce"));
            let place = scratch.display().to_string();
            command.args(common(rank, &place, &place).split(' ')).args(["--interface", &address(host)]);
            software.push(
                command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(text)?,
            );
        }
        for machine in 0..MACHINES.len() {
            let card = &self.cards[machine][0];
            let rank = FIRST_CARD + machine;
            let command = format!(
                "(optireduce {} --card {card} >/tmp/run 2>&1; echo $? >/tmp/code) &",
                common(rank, "/data", "/tmp")
            );
            self.must(machine, &command)?;
        }
        for (rank, process) in software.into_iter().enumerate() {
            let output = process.wait_with_output().map_err(text)?;
            expect(output.status.success(), &format!("rank {rank} to end with 0"), &output)?;
        }
        let mean = |rank: usize| std::fs::read(scratch.join(format!("mean.{rank}.bin"))).map_err(text);
        let found = mean(0)?;
        expect(found == mean(1)?, "ranks 0 and 1 to have the same mean", &"other bits")?;
        let bits: Vec<u32> = found.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
        judge::check(&bits, &self.gradients, true, &[])?;
        let path = scratch.join("mean.0.bin");
        let sum = Command::new("sha256sum").arg(&path).output().map_err(text)?;
        let sum = String::from_utf8_lossy(&sum.stdout).split(' ').next().unwrap_or_default().to_owned();
        for machine in 0..MACHINES.len() {
            let command =
                "until [ -e /tmp/code ]; do sleep 0.1; done; cat /tmp/run /tmp/code; sha256sum /tmp/mean.*.bin";
            let said = self.must(machine, command)?;
            expect(said.contains("\n0\n") || said.starts_with("0\n"), "the rank to end with 0", &said)?;
            expect(!sum.is_empty() && said.contains(&sum), "the mean that the others have", &said)?;
        }
        self.say(
            "`optireduce run`: four ranks, two of them with cards in machines, have the same mean, exact to the bit",
        );
        Ok(())
    }

    /// Starts a job on the cards at index `kind` in each machine.
    fn job(&mut self, plan: Plan, kind: usize) -> Result<Job, String> {
        let cards = [0, 1].map(|machine| self.cards[machine][kind].as_str());
        let program = self.places.programs.join("optireduce-vm");
        Job::start(plan, &program, &self.places.scratch, &mut self.guests, cards, &self.gradients)
    }

    /// Root resets a card during a job: its rank fails, the others go on, the next process can use
    /// it.
    fn a_card_that_root_resets_ends_its_rank_alone(&mut self) -> Result<(), String> {
        let plan = Plan { steps: 120, bound_ms: 500, pause_ms: 20, repair: false, port: self.next_port() };
        let card = self.cards[1][0].clone();
        let job = self.job(plan, 0)?;
        job.begun()?;
        job.steps_until(0, PATIENCE, |step| step.step == 4)?;
        self.must(1, &format!("echo 1 > /sys/bus/pci/devices/{card}/reset"))?;
        let error = ends_alone(&job)?;
        let says = format!(
            "data plane: {card}: the card has been reset or disabled by somebody else: CONTROL is 0x0, expected 0x1. Its windows are lost. \
             Configure the card again, or reopen it, once no other process uses it"
        );
        expect(error.starts_with(&says), &says, &error)?;
        let report = self.must(1, &format!("optireduce-nic selftest {card} --seed 5"))?;
        expect(report.ends_with("passed\n"), "the self-test to pass after that", &report)?;
        self.say(
            "a card reset by root during a job: its rank failed, the others went on, and the next self-test passed",
        );
        Ok(())
    }

    /// Steps of other ranks stay within their bounds.
    fn a_machine_that_stands_still_costs_the_others_their_bound(&mut self) -> Result<(), String> {
        const BOUND_MS: u64 = 500;
        const STOP: Duration = Duration::from_secs(8);
        /// A bound until the card has armed its windows, one for each stage, and slack.
        const MOST_MS: f64 = 3.0 * BOUND_MS as f64 + 2000.0;
        let plan = Plan { steps: 60, bound_ms: BOUND_MS, pause_ms: 50, repair: false, port: self.next_port() };
        let stopped = self.guests[1].id();
        let job = self.job(plan, 0)?;
        job.begun()?;
        job.steps_until(0, PATIENCE, |step| step.step == 4)?;
        signal(stopped, "STOP")?;
        std::thread::sleep(STOP);
        signal(stopped, "CONT")?;
        let mut slowest_ms = 0.0_f64;
        let mut results = Vec::new();
        for rank in 0..RANKS {
            let (steps, outcome) = job.rest(rank, PATIENCE)?;
            if rank < RANKS - 1 {
                outcome.map_err(|error| format!("rank {rank}: {error}"))?;
                slowest_ms = steps.iter().map(|step| step.ms).fold(slowest_ms, f64::max);
            } else if let Err(error) = outcome {
                expect(
                    error.contains("this rank was dropped"),
                    "the stopped rank to report that it was dropped",
                    &error,
                )?;
            }
            results.push(steps);
        }
        expect(
            slowest_ms <= MOST_MS,
            &format!("at most {MOST_MS} ms a step beside a rank that is stopped"),
            &slowest_ms,
        )?;
        let lost: u64 = results[0].iter().map(|step| step.lost_bytes).sum();
        expect(lost > 0, "the stopped rank's missing values to be reported", &lost)?;
        let compared = compare(&job, &results)?;
        drop(job);
        self.say(&format!(
            "a machine stopped for {} s: a step of the others took {slowest_ms:.0} ms at most, with a bound of {BOUND_MS} ms; {lost} bytes \
             reported as lost; {compared} results checked",
            STOP.as_secs()
        ));
        Ok(())
    }

    fn loss_is_reported(&mut self) -> Result<(), String> {
        const BOUND_MS: u64 = 500;
        let plan = Plan { steps: 30, bound_ms: BOUND_MS, pause_ms: 5, repair: true, port: self.next_port() };
        let job = self.job(plan, 1)?;
        job.begun()?;
        let results = all_steps(&job, Vec::new())?;
        let lost: u64 = results.iter().flatten().map(|step| step.lost_bytes).sum();
        expect(lost > 0, "some bytes to be reported as lost", &lost)?;
        let slowest_ms = results.iter().flatten().map(|step| step.ms).fold(0.0_f64, f64::max);
        // Three bounds as above, and four for repairs.
        expect(slowest_ms <= 7.0 * BOUND_MS as f64 + 2000.0, "no step to outlive its bounds", &slowest_ms)?;
        let compared = compare(&job, &results)?;
        drop(job);
        self.say(&format!("1 % loss: {lost} bytes reported as lost, the slowest step took {slowest_ms:.0} ms; {compared} results checked"));
        Ok(())
    }

    /// Aggregated bits must follow from the order of arrival that the cards recorded.
    fn verilated_cards_share_a_job(&mut self) -> Result<(), String> {
        const BOUND_MS: u64 = 2000;
        let card = self.cards[0][2].clone();
        let command = format!("optireduce-nic selftest {card} --seed 4 --bound-ms 200");
        let report = self.guests[0].run(&command, 3 * PATIENCE)?;
        expect(report.code == 0, "the self-test of a card whose Verilog runs to pass", &report)?;
        self.say("self-test passed on a card whose Verilog runs");
        let before = self.traces()?;
        let plan = Plan { steps: 4, bound_ms: BOUND_MS, pause_ms: 5, repair: true, port: self.next_port() };
        let job = self.job(plan, 2)?;
        job.begun()?;
        let results = all_steps(&job, Vec::new())?;
        let lost: u64 = results.iter().flatten().map(|step| step.lost_bytes).sum();
        let compared = compare(&job, &results)?;
        drop(job);
        let checked = self.check_orders(&before, &results)?;
        self.say(&format!(
            "two Verilated cards with 1 % loss: {lost} bytes reported as lost, {compared} results checked, {checked} elements by the order in which \
             the cards added them"
        ));
        Ok(())
    }

    /// A machine is stopped until a collective of the others has closed at its deadline.
    fn a_machine_that_straggles_is_back_with_its_card(&mut self) -> Result<(), String> {
        const STRAGGLER: usize = RANKS - 1;
        let plan = Plan { steps: 30, bound_ms: 1000, pause_ms: 20, repair: false, port: self.next_port() };
        let stopped = self.guests[STRAGGLER - FIRST_CARD].id();
        let before = self.traces()?;
        let job = self.job(plan, 2)?;
        job.begun()?;
        let is_without = |step: &Step| step.silent[0].contains(&STRAGGLER);
        let mut first = job.steps_until(0, PATIENCE, |step| step.step == 2)?;
        signal(stopped, "STOP")?;
        first.extend(job.steps_until(0, PATIENCE, is_without)?);
        signal(stopped, "CONT")?;
        let mut results = all_steps(&job, first)?;
        let compared = compare(&job, &results)?;
        drop(job);
        let checked = self.check_orders(&before, &results)?;
        results.truncate(STRAGGLER);
        let mut without = 0;
        for (rank, steps) in results.iter().enumerate() {
            for step in steps.iter().filter(|step| is_without(step)) {
                without += 1;
                let what = format!("rank {rank}, step {}, to be closed by its deadline", step.step);
                expect(step.closed_by[0] == "Deadline", &what, &step.closed_by)?;
            }
            let last = &steps[plan.steps - 1];
            expect(
                last.silent.concat().is_empty(),
                &format!("rank {rank} to receive from all at the end"),
                &last.silent,
            )?;
        }
        self.say(&format!(
            "a machine with a Verilated card stopped for a collective: {without} results without its rank, closed by their deadline; then it is back; \
             {compared} results checked, {checked} elements by the recorded order"
        ));
        Ok(())
    }

    /// Traces of the Verilated cards, once they stop growing.
    fn traces(&self) -> Result<Vec<String>, String> {
        let read = || self.verilated.iter().map(Card::trace).collect::<Result<Vec<_>, _>>();
        let mut traces = read()?;
        loop {
            std::thread::sleep(Duration::from_millis(200));
            let now = read()?;
            if now == traces {
                return Ok(traces);
            }
            traces = now;
        }
    }

    /// Checks results against the traces since `before`. Returns the number of elements.
    fn check_orders(&self, before: &[String], results: &[Vec<Step>]) -> Result<usize, String> {
        let mut checked = 0;
        for (now, before) in self.traces()?.iter().zip(before) {
            let orders = judge::orders(&now[before.len()..])?;
            expect(orders.len() == results[0].len(), "a collective in the trace for each step", &orders.len())?;
            for (number, order) in orders.iter().enumerate() {
                let gradients: Vec<_> = self.gradients.iter().map(|gradient| gradient_of(gradient, number)).collect();
                for step in results.iter().map(|steps| &steps[number]).filter(|step| step.is_applied) {
                    checked += judge::check_order(&step.bits, &gradients, order, &step.missing)
                        .map_err(|error| format!("step {number}: {error}"))?;
                }
            }
        }
        // Two of four cards own half of all elements, which are on four ranks; some steps may be
        // skipped.
        let expected = results[0].len() * self.gradients[0].len();
        expect(checked >= expected, "elements that the cards aggregated, on all ranks", &checked)?;
        Ok(checked)
    }

    fn a_card_that_leaves_ends_its_rank_alone(&mut self) -> Result<(), String> {
        let plan = Plan { steps: 120, bound_ms: 500, pause_ms: 20, repair: false, port: self.next_port() };
        let card = self.good.pop().ok_or("no card is left")?;
        let job = self.job(plan, 0)?;
        job.begun()?;
        job.steps_until(0, PATIENCE, |step| step.step == 4)?;
        card.leave()?;
        let error = ends_alone(&job)?;
        expect(error.contains("the card is gone"), "the rank to report that its card is gone", &error)?;
        drop(job);
        self.say(&format!("a card that leaves a job: its rank reported {:?}; the others went on", first_line(&error)));
        Ok(())
    }

    /// The process ends only after the kernel has waited a minute for the card.
    fn a_card_that_leaves_ends_the_self_test(&mut self) -> Result<(), String> {
        let card = self.lossy.pop().ok_or("no card is left")?;
        let address = self.cards[1][1].clone();
        let start = format!(
            "optireduce-nic selftest {address} --seed 1 >/tmp/left 2>&1 & \
             until grep -q \"vfio-msix.*{address}\" /proc/interrupts; do :; done; sleep 0.2"
        );
        self.must(1, &start)?;
        card.leave()?;
        let left = Instant::now();
        let said = self.must(1, "until grep -q optireduce-nic: /tmp/left; do sleep 0.1; done; cat /tmp/left")?;
        expect(said.contains("the card is gone"), "the self-test to report that the card is gone", &said)?;
        expect(left.elapsed() < PATIENCE / 2, "an immediate report", &left.elapsed())?;
        self.say("a card that leaves during the self-test: reported immediately");
        Ok(())
    }
}

/// Returns the error of the last rank. The others must finish, and agree to go on without it.
fn ends_alone(job: &Job) -> Result<String, String> {
    let (_, outcome) = job.rest(RANKS - 1, PATIENCE)?;
    let error = outcome.err().unwrap_or_default();
    let mut results = Vec::new();
    for rank in 0..RANKS - 1 {
        let (steps, outcome) = job.rest(rank, PATIENCE)?;
        outcome.map_err(|error| format!("rank {rank}: {error}"))?;
        let last = steps.last().ok_or("no step")?;
        expect(last.step + 1 == job.plan.steps, "all steps", &last.step)?;
        expect(last.live == [0, 1, 2], "the others to have agreed to go on without it", &last.live)?;
        results.push(steps);
    }
    compare(job, &results)?;
    Ok(error)
}

/// Steps of all ranks, which must end well. `first`: steps of rank 0 that were read before.
fn all_steps(job: &Job, first: Vec<Step>) -> Result<Vec<Vec<Step>>, String> {
    let mut results = vec![Vec::new(); RANKS];
    results[0] = first;
    for (rank, steps) in results.iter_mut().enumerate() {
        let (rest, outcome) = job.rest(rank, PATIENCE)?;
        outcome.map_err(|error| format!("rank {rank}: {error}"))?;
        steps.extend(rest);
        expect(steps.len() == job.plan.steps, "all steps", &steps.len())?;
    }
    Ok(results)
}

/// Compares results step by step. Returns their number.
fn compare(job: &Job, results: &[Vec<Step>]) -> Result<usize, String> {
    let mut compared = 0;
    for number in 0..job.plan.steps {
        let of_step: Vec<&Step> =
            results.iter().filter_map(|steps| steps.iter().find(|step| step.step == number)).collect();
        job.check(&of_step)?;
        compared += of_step.len();
    }
    Ok(compared)
}

fn signal(process: u32, name: &str) -> Result<(), String> {
    let status = Command::new("kill").args([&format!("-{name}"), &process.to_string()]).status().map_err(text)?;
    if status.success() { Ok(()) } else { Err(format!("kill -{name} {process}: {status}")) }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}
