//! Partial Reduce among processes of this program. The leader, which forms the groups, is stopped
//! for a while, and one process is killed.

mod root;

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use optireduce::{Communicator, PartialOptions, Settings};

use root::free_root;

const RANKS: usize = 4;
const ELEMENTS: usize = 3000;
/// Longer than any wait for a group while the leader runs.
const LONG: Duration = Duration::from_secs(1);

/// Process of one rank: averages until its standard input ends, and prints each group.
fn rank(rank: usize, root: &str) {
    let settings = Settings::new().rank(rank).world_size(RANKS).root(root).timeout(Duration::from_secs(30));
    let mut world = Communicator::connect(settings).wait().unwrap();
    let mut partial = world.partial_reduce(ELEMENTS, PartialOptions::new()).wait().unwrap();
    let is_over = Arc::new(AtomicBool::new(false));
    let over = is_over.clone();
    std::thread::spawn(move || {
        let _ = std::io::stdin().read_line(&mut String::new());
        over.store(true, Ordering::Relaxed);
    });
    let (mut model, mut iteration) = (vec![rank as f32; ELEMENTS], 0);
    while !is_over.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(5));
        let report;
        (model, report) = partial.average(model, iteration + 1).wait().unwrap();
        let group = report.group.as_ref().unwrap();
        iteration = group.iteration;
        assert!(model.iter().all(|value| (0.0..RANKS as f32).contains(value)), "{report}");
        println!("group {} {} {:?}", report.number, u8::from(group.waited > LONG), report.ranks);
    }
    partial.close().wait().unwrap();
    println!("closed");
}

struct Group {
    number: u32,
    was_long: bool,
    members: Vec<usize>,
}

fn parse(line: &str) -> Option<Group> {
    let mut words = line.strip_prefix("group ")?.splitn(3, ' ');
    let number = words.next()?.parse().ok()?;
    let was_long = words.next()? == "1";
    Some(Group { number, was_long, members: serde_json::from_str(words.next()?).ok()? })
}

struct Process {
    child: Child,
    lines: Box<dyn Iterator<Item = String> + Send>,
}

impl Process {
    fn start(test: &str, rank: usize, root: &str) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", test, "--nocapture"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.env("PARTIAL_RANK", rank.to_string()).env("PARTIAL_ROOT", root).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        Self { child, lines: Box::new(lines) }
    }

    fn signal(&self, signal: &str) {
        let sent = Command::new("kill").args([signal, &self.child.id().to_string()]).status();
        assert!(sent.unwrap().success());
    }

    fn wait_for(&mut self, is_it: impl Fn(&Group) -> bool) -> Group {
        self.lines.by_ref().find_map(|line| parse(&line).filter(&is_it)).expect("such a group")
    }

    fn end(mut self) {
        drop(self.child.stdin.take());
        assert!(self.lines.any(|line| line == "closed"));
        assert!(self.child.wait().unwrap().success());
    }
}

#[test]
fn a_rank_that_stood_still_until_the_others_went_on_without_it_is_in_groups_again() {
    let test = "a_rank_that_stood_still_until_the_others_went_on_without_it_is_in_groups_again";
    if let (Ok(number), Ok(root)) = (std::env::var("PARTIAL_RANK"), std::env::var("PARTIAL_ROOT")) {
        return rank(number.parse().unwrap(), &root);
    }
    let root = free_root();
    let mut ranks: Vec<Process> = (0..RANKS).map(|rank| Process::start(test, rank, &root)).collect();
    for time in 0..2 {
        ranks.iter_mut().for_each(|rank| drop(rank.wait_for(|group| group.members.len() > 1)));
        ranks[0].signal("-STOP");
        // Another rank becomes leader after 2 s of silence.
        let first = ranks[1].wait_for(|group| group.was_long).number;
        let last = ranks[1].wait_for(|group| group.number > first + 20 && !group.members.contains(&0)).number;
        ranks[0].signal("-CONT");
        for rank in &mut ranks[..2] {
            rank.wait_for(|group| group.number > last && group.members.len() > 1 && group.members.contains(&0));
        }
        assert!(ranks.iter_mut().all(|rank| rank.child.try_wait().unwrap().is_none()), "time {time}: all go on");
    }
    let mut killed = ranks.pop().unwrap();
    killed.child.kill().unwrap();
    killed.child.wait().unwrap();
    let last = ranks[0].wait_for(|group| group.members.len() > 1).number;
    ranks[0].wait_for(|group| group.number > last + 50 && group.members.len() > 1);
    // Read all ranks concurrently: a full pipe would block a rank.
    let ends: Vec<_> = ranks.into_iter().map(|rank| std::thread::spawn(move || rank.end())).collect();
    ends.into_iter().for_each(|end| end.join().unwrap());
}
