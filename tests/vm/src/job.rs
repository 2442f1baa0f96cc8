//! A job of four ranks: two in machines with a card each, two on the host without cards.

use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use crate::guest::Guest;
use crate::host::address;
use crate::judge;
use crate::rank::{Line, Step, gradient_of};
use crate::text;

pub const RANKS: usize = 4;
pub const FIRST_CARD: usize = 2;
const BEGIN: Duration = Duration::from_secs(90);

#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub steps: usize,
    pub bound_ms: u64,
    pub pause_ms: u64,
    /// Whether ranks wait for repairs of broadcasts.
    pub repair: bool,
    /// Port of rank 0, different for each job.
    pub port: u16,
}

pub struct Job {
    pub plan: Plan,
    lines: Vec<Receiver<String>>,
    processes: Vec<Child>,
    gradients: Vec<Vec<f32>>,
}

impl Job {
    /// Starts the ranks. Those in machines write to a TCP port, since the serial port is for
    /// commands.
    pub fn start(
        plan: Plan,
        program: &Path,
        data: &Path,
        guests: &mut [Guest],
        cards: [&str; RANKS - FIRST_CARD],
        gradients: &[Vec<f32>],
    ) -> Result<Self, String> {
        let mut job = Self { plan, lines: Vec::new(), processes: Vec::new(), gradients: gradients.to_vec() };
        let Plan { steps, bound_ms, pause_ms, repair, port } = plan;
        let repair = if repair { "--repair" } else { "" };
        let root = format!("{}:{port}", address(1));
        let common = |rank: usize, data: &str| {
            format!(
                "rank --rank {rank} --ranks {RANKS} --root {root} --steps {steps} --bound-ms {bound_ms} --pause-ms {pause_ms} \
                 --gradient {data}/gradient.{rank}.bin {repair}"
            )
        };
        for rank in 0..FIRST_CARD {
            let mut command = Command::new(program);
            command.args(common(rank, &data.display().to_string()).split_whitespace());
            command.args(["--interface", &address(1 + rank as u8)]).env("OPTIREDUCE_LOG", "error");
            let mut process = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().map_err(text)?;
            let output = process.stdout.take().ok_or("no output")?;
            job.processes.push(process);
            job.lines.push(read_lines(move || Some(output)));
        }
        for (guest, (rank, card)) in guests.iter_mut().zip((FIRST_CARD..).zip(cards)) {
            let listener = TcpListener::bind((address(1).as_str(), 0)).map_err(text)?;
            let port = listener.local_addr().map_err(text)?.port();
            job.lines.push(read_lines(move || Some(listener.accept().ok()?.0)));
            let command = format!(
                "(optireduce-vm {} --card {card} 2>/tmp/rank.err | nc {} {port}) &",
                common(rank, "/data"),
                address(1)
            );
            let ended = guest.run(&command, BEGIN)?;
            if ended.code != 0 {
                return Err(format!("rank {rank} cannot be started: {}", ended.said));
            }
        }
        Ok(job)
    }

    pub fn next(&self, rank: usize, patience: Duration) -> Result<Line, String> {
        match self.lines[rank].recv_timeout(patience) {
            Ok(line) => serde_json::from_str(&line).map_err(|error| format!("rank {rank} printed {line:?}: {error}")),
            Err(RecvTimeoutError::Timeout) => Err(format!("rank {rank} printed nothing for {patience:?}")),
            Err(RecvTimeoutError::Disconnected) => Err(format!("rank {rank} ended without a last line")),
        }
    }

    pub fn begun(&self) -> Result<(), String> {
        for rank in 0..RANKS {
            match self.next(rank, BEGIN)? {
                Line::Begun => {}
                other => return Err(format!("rank {rank} does not begin: {other:?}")),
            }
        }
        Ok(())
    }

    /// Returns steps up to the first for which `last` is true.
    pub fn steps_until(
        &self,
        rank: usize,
        patience: Duration,
        last: impl Fn(&Step) -> bool,
    ) -> Result<Vec<Step>, String> {
        let mut steps = Vec::new();
        while !steps.last().is_some_and(&last) {
            match self.next(rank, patience)? {
                Line::Step(step) => steps.push(step),
                other => return Err(format!("rank {rank} printed {other:?} after {} steps", steps.len())),
            }
        }
        Ok(steps)
    }

    /// Returns the remaining steps, and the rank's outcome. `Err`: not done within `patience`.
    pub fn rest(&self, rank: usize, patience: Duration) -> Result<(Vec<Step>, Result<(), String>), String> {
        let deadline = Instant::now() + patience;
        let mut steps = Vec::new();
        loop {
            match self.next(rank, deadline.saturating_duration_since(Instant::now()))? {
                Line::Begun => {}
                // Its buffers are whole beats in memory that the card accesses itself, so nothing
                // is copied.
                Line::Step(Step { step, copied_bytes: copied @ 1.., is_applied: true, .. }) if rank >= FIRST_CARD => {
                    return Err(format!(
                        "rank {rank}, step {step}: {copied} bytes were copied to and from the card, expected none"
                    ));
                }
                Line::Step(step) => steps.push(step),
                Line::Done => return Ok((steps, Ok(()))),
                Line::Failed { error, after_ms } => {
                    return Ok((steps, Err(format!("{error} (after {after_ms:.0} ms)"))));
                }
            }
        }
    }

    /// Checks the results of a step: means over all live ranks unless values were lost, and equal
    /// on all ranks.
    pub fn check(&self, steps: &[&Step]) -> Result<(), String> {
        let Some(first) = steps.first() else { return Ok(()) };
        let whole = steps.iter().all(|step| step.lost_bytes == 0);
        // A dropped rank contributes nothing, which is no loss.
        let ranks = if whole { first.live.clone() } else { (0..RANKS).collect() };
        let gradients: Vec<Vec<f32>> =
            ranks.iter().map(|rank| gradient_of(&self.gradients[*rank], first.step)).collect();
        let is_missing = |step: &Step, at: usize| step.missing.iter().any(|(start, end)| (*start..*end).contains(&at));
        for (place, step) in steps.iter().enumerate() {
            let what = |error| format!("step {}, result {place}: {error}", step.step);
            if !step.is_applied {
                continue;
            }
            judge::check(&step.bits, &gradients, whole, &step.missing).map_err(what)?;
            let differs = (0..step.bits.len()).find(|at| {
                step.bits[*at] != first.bits[*at]
                    && !is_missing(step, *at)
                    && !is_missing(first, *at)
                    && first.is_applied
            });
            if let Some(at) = differs {
                let [one, other] = [first.bits[at], step.bits[at]].map(f32::from_bits);
                return Err(what(format!("element {at} is {other}, but {one} in result 0")));
            }
        }
        Ok(())
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        for process in &mut self.processes {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

fn read_lines<R: Read>(open: impl FnOnce() -> Option<R> + Send + 'static) -> Receiver<String> {
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        let Some(input) = open() else { return };
        for line in BufReader::new(input).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    lines
}
