//! Time from doorbell to completion on any card, measured in the driver.
//!
//! Method: the card rejects an invalid command, as in `optireduce-nic bench`. That takes a
//! doorbell, a DMA read of the submission and a DMA write of the completion, one command at a time,
//! in wall-clock time. The figure of the functional card in this process is CPU time of driver and
//! card model, without the modelled latency.

use std::time::{Duration, Instant};

use optireduce_contract::queue::{DONE_REFUSED, Submission};
use optireduce_driver::{Bus, CardBus, DriverError, Nic};
use serde::Serialize;

use crate::check::bus::{DMA_BYTES, bus_in_process};
use crate::check::card_bench::bench_job;
use crate::error::SimError;

const WARM_UP: usize = 10;
/// Long, since the card's process may be descheduled.
const PATIENCE: Duration = Duration::from_secs(5);
/// An opcode that no card implements.
const NO_COMMAND: u8 = 0xff;

/// Times from doorbell to completion of a card.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs)] // described above
pub struct Doorbell {
    pub card: String,
    pub commands: usize,
    pub p50_us: f64,
    pub p99_us: f64,
    pub max_us: f64,
}

/// Measures a functional card in this process, and the cards at `addresses` (PCI addresses or
/// vfio-user sockets).
///
/// # Errors
/// If a card cannot be opened or gives an unexpected answer.
pub fn doorbells(addresses: &[String], commands: usize) -> Result<Vec<Doorbell>, SimError> {
    if commands == 0 {
        return Err(SimError::Argument("--commands is 0, expected at least 1".into()));
    }
    let failed = |error: DriverError| SimError::Argument(error.to_string());
    let mut all = vec![doorbell(bus_in_process().map_err(failed)?, commands)?];
    for address in addresses {
        all.push(doorbell(CardBus::open(address, DMA_BYTES).map_err(failed)?, commands)?);
    }
    Ok(all)
}

fn doorbell<B: Bus>(bus: B, commands: usize) -> Result<Doorbell, SimError> {
    let card = bus.name().to_owned();
    let mut times_us = times_us(bus, commands).map_err(|error| SimError::Argument(error.to_string()))?;
    times_us.sort_by(f64::total_cmp);
    let [p50_us, p99_us] = [50, 99].map(|part| times_us[(commands * part).div_ceil(100) - 1]);
    Ok(Doorbell { card, commands, p50_us, p99_us, max_us: times_us[commands - 1] })
}

fn times_us<B: Bus>(bus: B, commands: usize) -> Result<Vec<f64>, Box<dyn std::error::Error>> {
    let mut nic = Nic::open(bus)?;
    nic.configure(&bench_job(2, 4))?;
    let mut times_us = Vec::with_capacity(commands);
    for number in 0..WARM_UP + commands {
        let cookie = number as u32;
        nic.submit(&Submission { opcode: NO_COMMAND, cookie, ..Submission::default() })?;
        let begin = Instant::now();
        nic.ring_doorbell()?;
        let done = nic.wait_completion(PATIENCE)?;
        if number >= WARM_UP {
            times_us.push(begin.elapsed().as_secs_f64() * 1e6);
        }
        if (done.opcode, done.cookie) != (DONE_REFUSED, cookie) {
            return Err(format!(
                "{}: completion {} of cookie {:#x}, expected a refusal of command {NO_COMMAND} of cookie {cookie:#x}",
                nic.bus().name(),
                done.opcode,
                done.cookie
            )
            .into());
        }
    }
    nic.disable()?;
    Ok(times_us)
}

/// Formats the times.
pub fn text(all: &[Doorbell]) -> String {
    let width = all.iter().map(|one| one.card.len()).max().unwrap_or(0);
    let line = |Doorbell { card, commands, p50_us, p99_us, max_us }: &Doorbell| {
        format!(
            "{card:width$}  doorbell to completion: {p50_us:.1} us (P99 {p99_us:.1}, longest {max_us:.1}), {commands} commands\n"
        )
    };
    all.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_commands_are_measured_as_asked_for_and_a_card_that_is_not_there_is_named() {
        let all = doorbells(&[], 50).unwrap();
        assert!(all.len() == 1 && all[0].commands == 50 && all[0].card == "sim0", "{all:?}");
        assert!(0.0 < all[0].p50_us && all[0].p50_us <= all[0].p99_us && all[0].p99_us <= all[0].max_us, "{all:?}");
        let error = doorbells(&["/nowhere/card.sock".into()], 1).unwrap_err().to_string();
        assert!(error.contains("/nowhere/card.sock: cannot connect"), "{error}");
        assert!(doorbells(&[], 0).unwrap_err().to_string().contains("--commands is 0"));
    }
}
