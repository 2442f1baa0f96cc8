//! `stats`: counters and rings of a card in use, as published by its job.
//!
//! Opening a card resets it, so only its job can read it. A job started with
//! `OPTIREDUCE_CARD_STATS=FOLDER` writes counters and rings to that folder once a second. This
//! command reads the folder and does not access the card.

use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use optireduce_driver::{Command, Rings, STATS_VARIABLE, stats_file};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::args::StatsArgs;
use crate::card::address;
use crate::outcome::{Failure, is_read, say, table, text_of};

const LOOK: Duration = Duration::from_millis(50);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Shown {
    card: String,
    pid: u32,
    written_unix_ns: u64,
    /// By name, since their set depends on card and driver.
    counters: Map<String, Value>,
    rings: Rings,
    /// Rates since the previous output, with `--watch`.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    per_second: Map<String, Value>,
}

pub fn run(args: &StatsArgs) -> Result<(), Failure> {
    let card = address(args.card.as_deref())?;
    let folder = args.from.clone().or_else(|| std::env::var_os(STATS_VARIABLE).map(PathBuf::from));
    let folder = folder.filter(|folder| !folder.as_os_str().is_empty()).ok_or_else(|| {
        format!("no folder is named; pass the folder of the job's {STATS_VARIABLE} with --from, or set {STATS_VARIABLE} here")
    })?;
    let file = stats_file(&folder, &card);
    let first = read(&file)?.ok_or_else(|| {
        format!(
            "{card}: no process shows its counters in {}; start the job with {STATS_VARIABLE}={} (an existing folder), \
             since only the job itself can read its card",
            folder.display(),
            folder.display()
        )
    })?;
    if !args.watch {
        show(args.json, &first)?;
        return if is_alive(first.pid) { Ok(()) } else { Err(ended(&first).into()) };
    }
    watch(args, &file, first)
}

/// Prints each new state until the file disappears or its writer ends.
fn watch(args: &StatsArgs, file: &Path, mut last: Shown) -> Result<(), Failure> {
    let every = Duration::from_millis(args.interval_ms);
    let mut left = args.count;
    let mut goes_on = show(args.json, &last)?;
    let mut shown_at = Instant::now();
    loop {
        left = left.map(|left| left - 1);
        if !goes_on || left == Some(0) {
            return Ok(());
        }
        let next = loop {
            match read(file)? {
                None => {
                    say(&format!("{}: the job has ended or closed the card", last.card));
                    return Ok(());
                }
                Some(next) if next.written_unix_ns != last.written_unix_ns && shown_at.elapsed() >= every => {
                    break next;
                }
                Some(_) if !is_alive(last.pid) => return Err(ended(&last).into()),
                Some(_) => thread::sleep(LOOK.min(every)),
            }
        };
        let per_second = rates(&last, &next);
        goes_on = show(args.json, &Shown { per_second, ..next.clone() })?;
        (last, shown_at) = (next, Instant::now());
    }
}

fn ended(shown: &Shown) -> String {
    format!("{}: process {} has ended without closing the card; its last counters are shown", shown.card, shown.pid)
}

fn read(file: &Path) -> Result<Option<Shown>, Failure> {
    match std::fs::read(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("{}: {error}", file.display()).into()),
        Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|error| {
            let wants = "expected the counters of a job with a card; remove the file if it is something else";
            format!("{}: {error}; {wants}", file.display()).into()
        }),
    }
}

fn is_alive(pid: u32) -> bool {
    Path::new("/proc").join(pid.to_string()).exists()
}

/// Rates of counters modulo 2^32; 64-bit counters and flags have none.
fn rates(before: &Shown, now: &Shown) -> Map<String, Value> {
    let ns = now.written_unix_ns.saturating_sub(before.written_unix_ns);
    if ns == 0 || before.pid != now.pid {
        return Map::new();
    }
    let rate = |(name, value): (&String, &Value)| {
        let count = |value: &Value| u32::try_from(value.as_u64()?).ok();
        let more = count(value)?.wrapping_sub(count(before.counters.get(name)?)?);
        let per_second = (f64::from(more) * 1e10 / ns as f64).round() / 10.0;
        Some((name.clone(), per_second.into()))
    };
    now.counters.iter().filter_map(rate).collect()
}

/// Returns whether stdout still has a reader.
fn show(json: bool, shown: &Shown) -> Result<bool, Failure> {
    is_read(&text_of(json, shown, || describe(shown))?)
}

fn describe(shown: &Shown) -> String {
    let now_ns = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos() as u64;
    let age = now_ns.saturating_sub(shown.written_unix_ns) as f64 / 1e9;
    let row = |(name, value): (&String, &Value)| {
        let rate = shown.per_second.get(name).map_or(String::new(), |rate| format!("{rate}/s"));
        [format!("  {name}"), value.to_string(), rate]
    };
    let rows: Vec<_> = shown.counters.iter().map(row).collect();
    format!("{}, process {}, {age:.1} s ago\n{}{}", shown.card, shown.pid, table(&rows), describe_rings(&shown.rings))
}

fn describe_rings(rings: &Rings) -> String {
    let Rings { queue, entries, written, announced, consumed, waiting, completed, taken } = rings;
    let commands = waiting.iter().map(|command| {
        let Command { opcode, slot, step, bucket, beats, cookie } = command;
        let what =
            if opcode == "ARM" { format!("collective {step}, bucket {bucket}, {beats} beats") } else { String::new() };
        [format!("    {opcode}"), format!("slot {slot}"), format!("cookie {cookie:#010x}"), what]
    });
    format!(
        "  queue pair {queue}, two rings of {entries} entries; counts modulo 65536
  submissions: {written} written, {announced} announced, {consumed} consumed by the card, {} pending
{}  completions: {completed} written by the card, {taken} taken
",
        written.wrapping_sub(*consumed),
        table(&commands.collect::<Vec<_>>()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(seconds: u64, rx_packets: u64) -> Shown {
        let counters =
            serde_json::json!({"rx_packets": rx_packets, "dma_error": false, "completions_rejected": u64::MAX});
        let Value::Object(counters) = counters else { unreachable!() };
        Shown {
            card: "sim0".into(),
            pid: 1,
            written_unix_ns: seconds * 1_000_000_000,
            counters,
            rings: Rings::default(),
            per_second: Map::new(),
        }
    }

    #[test]
    fn rates_are_per_second_across_the_wrap_of_a_counter() {
        for (before, now, seconds, expected) in
            [(5, 25, 2, 10.0), (u32::MAX.into(), 3, 1, 4.0), (7, 7, 3, 0.0), (0, 1, 3, 0.3)]
        {
            let found = rates(&shown(10, before), &shown(10 + seconds, now));
            assert_eq!(found.into_iter().collect::<Vec<_>>(), [("rx_packets".to_owned(), Value::from(expected))]);
        }
        assert_eq!(rates(&shown(10, 1), &shown(10, 2)), Map::new());
        assert_eq!(rates(&Shown { pid: 2, ..shown(10, 1) }, &shown(11, 2)), Map::new(), "another job");
    }

    #[test]
    fn what_is_in_the_file_is_shown_by_name() {
        let said = describe(&Shown { per_second: rates(&shown(1, 0), &shown(2, 9)), ..shown(2, 9) });
        assert!(said.starts_with("sim0, process 1, ") && said.contains("  rx_packets            9"), "{said}");
        assert!(said.contains("  9.0/s\n") && said.contains("dma_error             false\n"), "{said}");
    }

    #[test]
    fn what_a_card_has_not_consumed_is_listed() {
        let command =
            |opcode: &str| Command { opcode: opcode.into(), slot: 3, step: 17, bucket: 2, beats: 64, cookie: 5 };
        let rings = Rings {
            queue: 1,
            entries: 64,
            written: 1,
            announced: 0,
            consumed: 65535,
            waiting: vec![command("ARM"), command("CONTRIBUTE")],
            completed: 9,
            taken: 8,
        };
        assert_eq!(
            describe_rings(&rings),
            "  queue pair 1, two rings of 64 entries; counts modulo 65536
  submissions: 1 written, 0 announced, 65535 consumed by the card, 2 pending
    ARM         slot 3  cookie 0x00000005  collective 17, bucket 2, 64 beats
    CONTRIBUTE  slot 3  cookie 0x00000005
  completions: 9 written by the card, 8 taken
"
        );
    }
}
