//! Queue pairs: rings that wrap several times, batches of every size, and interrupts.
//!
//! The commands have an undefined opcode, so that the card must refuse them, in order.

use std::time::Duration;

use optireduce_contract::queue::{DONE_REFUSED, STATUS_BAD_COMMAND, Submission};
use optireduce_driver::{Bus, Nic, RING_LOG2_MIN};

use super::problem::{Problem, equal};
use super::report::Figures;
use super::{PATIENCE, job, submit};

const UNKNOWN_OPCODE: u8 = 0xff;
const ENTRIES: u32 = 1 << RING_LOG2_MIN;
/// Minimum turns of each ring.
const TURNS: u32 = 5;
/// Attempts to observe an interrupt. A lost one only delays a driver, so it is no failure.
const TRIES: u32 = 3;

pub fn check<B: Bus>(nic: &mut Nic<B>, figures: &mut Figures) -> Result<(), Problem> {
    let queues = nic.limits().queues;
    let (mut commands, mut interrupts, mut lost) = (0, None, 0);
    for queue in 0..queues {
        nic.configure(&job(nic, queue)?)?;
        let mut cookie = 0;
        if check_interrupt(nic, queue, &mut cookie)? {
            interrupts = Some(interrupts.unwrap_or(0) + 1);
            lost += u64::from(cookie - 1);
        }
        while cookie < TURNS * ENTRIES {
            for batch in 1..=ENTRIES {
                check_batch(nic, queue, batch, &mut cookie)?;
            }
        }
        let counters = nic.counters()?;
        let advice = "The card consumed or wrote a different number of entries: compare its build with hw/contract.";
        equal(format!("queue {queue}: SQ_HEAD"), counters.sq_head, cookie, advice)?;
        equal(format!("queue {queue}: CQ_TAIL"), counters.cq_tail, cookie, advice)?;
        commands += cookie;
    }
    figures.push(("queue_pairs", queues as u64));
    figures.push(("commands", commands.into()));
    // `None` if the bus cannot observe interrupts.
    figures.extend(interrupts.map(|interrupts| ("interrupts", interrupts)));
    figures.extend((lost > 0).then_some(("interrupts_lost", lost)));
    Ok(())
}

/// Checks that a completion raises an interrupt. Returns whether the bus observes interrupts.
fn check_interrupt<B: Bus>(nic: &mut Nic<B>, queue: usize, cookie: &mut u32) -> Result<bool, Problem> {
    for _ in 0..TRIES {
        nic.bus().wait_interrupt(Duration::ZERO);
        nic.submit(&command(*cookie))?;
        nic.ring_doorbell()?;
        let came = nic.bus().wait_interrupt(PATIENCE);
        // If the card is gone, that is the better error.
        nic.check_alive()?;
        match nic.wait_completion(PATIENCE) {
            Ok(completion) => check_completion(queue, *cookie, &completion)?,
            Err(_) if came == Some(false) => break,
            Err(error) => return Err(error.into()),
        }
        *cookie += 1;
        if came != Some(false) {
            return Ok(came.is_some());
        }
    }
    Err(Problem::Wrong {
        object: format!("queue {queue}: interrupts within {PATIENCE:?} of a command"),
        found: "none".to_owned(),
        expected: "one".to_owned(),
        advice: "Check that MSI-X and bus mastering are enabled.",
    })
}

fn check_batch<B: Bus>(nic: &mut Nic<B>, queue: usize, batch: u32, cookie: &mut u32) -> Result<(), Problem> {
    let commands: Vec<Submission> = (*cookie..*cookie + batch).map(command).collect();
    for completion in submit(nic, &commands, commands.len(), PATIENCE)? {
        check_completion(queue, *cookie, &completion)?;
        *cookie += 1;
    }
    Ok(())
}

fn check_completion(
    queue: usize,
    cookie: u32,
    completion: &optireduce_contract::queue::Completion,
) -> Result<(), Problem> {
    let advice = "The card must refuse unknown commands, in order: compare its build with hw/contract.";
    let object = |field: &str| format!("queue {queue}, completion {cookie}: {field}");
    equal(object("COOKIE"), completion.cookie, cookie, advice)?;
    equal(object("OPCODE"), completion.opcode, DONE_REFUSED, advice)?;
    equal(object("STATUS"), completion.status, STATUS_BAD_COMMAND, advice)
}

fn command(cookie: u32) -> Submission {
    Submission { opcode: UNKNOWN_OPCODE, cookie, ..Submission::default() }
}
