//! A rank's card in a campaign: the functional card behind the driver's in-process bus, with fault
//! injection.
//!
//! Converts between the job's datagrams and the card's frames. The card runs on while its host is
//! frozen.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use optireduce::smartnic::{SmartNic, SmartNicError, smartnic_dma_bytes};
use optireduce_contract::limits::SLOTS;
use optireduce_contract::packet::{Endpoint, UDP_PORT_DEFAULT};
use optireduce_contract::registers::BAR_BYTES;
use optireduce_driver::{CardEnd, CardHook, InProcessBus, JobConfig, Nic, in_process};

use super::frames::addressed;
use super::plan::JobPlan;
use super::settings::{CARD, card_limits};
use crate::card::Card;
use crate::card::functional::FunctionalCard;
use crate::card::functional::faults::Faults;
use crate::wire::{Arrival, Departure};

const RING_LOG2: u32 = 6;
/// IOVA of DMA memory; any other page would do.
const IOVA_BASE: u64 = 0x1_0000_0000;

pub(super) struct RankCard {
    seat: Arc<Seat>,
    rx: VecDeque<Arrival>,
    tx: Vec<Departure>,
}

/// The card with its end of the bus; empty once removed.
struct Seat(Mutex<Option<(FunctionalCard, CardEnd)>>);

impl Seat {
    fn lock(&self) -> MutexGuard<'_, Option<(FunctionalCard, CardEnd)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CardHook for Seat {
    fn flush(&self) {
        if let Some((card, _)) = &mut *self.lock() {
            card.sync_registers();
            card.publish_registers();
        }
    }

    fn relax(&self) {
        self.flush();
    }
}

const _: () = assert!(SLOTS << 2 <= 1 << RING_LOG2);

impl RankCard {
    pub fn new(plan: &JobPlan, rank: usize) -> Result<(SmartNic<InProcessBus>, Self), SmartNicError> {
        let seat = Arc::new(Seat(Mutex::new(None)));
        let dma_bytes = smartnic_dma_bytes(&card_limits(), RING_LOG2);
        let (bus, end) = in_process(format!("card{rank}"), dma_bytes, IOVA_BASE, seat.clone())?;
        *seat.lock() = Some((FunctionalCard::with_build(end.clone(), CARD), end));
        let job = JobConfig {
            rank,
            ranks: plan.ranks,
            job_tag: plan.job_tag(),
            payload_beats: plan.settings.payload_beats,
            udp_port: UDP_PORT_DEFAULT,
            endpoints: (0..plan.ranks).map(Endpoint::of_rank).collect(),
            rates_bytes_per_us: vec![0; plan.ranks],
            queue: 0,
            ring_log2: RING_LOG2,
        };
        let plane = SmartNic::new(Nic::open(bus)?, &job)?;
        Ok((plane, Self { seat, rx: VecDeque::new(), tx: Vec::new() }))
    }

    pub fn arrive(&mut self, at_ns: u64, frame: Vec<u8>) {
        self.rx.push_back(Arrival { at_ns, frame });
    }

    pub fn run(&mut self, now_ns: u64) -> Vec<(usize, Vec<u8>)> {
        match &mut *self.seat.lock() {
            Some((card, _)) => {
                card.sync_registers();
                card.run(now_ns + 1, &mut self.rx, &mut self.tx);
            }
            None => self.rx.clear(),
        }
        self.tx.drain(..).filter_map(|departure| addressed(&departure.frame)).collect()
    }

    /// Synchronises the host's register writes. Returns the time of the card's next action.
    pub fn next_wake_ns(&self) -> Option<u64> {
        let mut seat = self.seat.lock();
        let (card, _) = seat.as_mut()?;
        card.sync_registers();
        card.next_wake_ns()
    }

    pub fn spoil(&self, fault: impl FnOnce(&mut Faults)) {
        if let Some((card, _)) = &mut *self.seat.lock() {
            fault(card.faults_mut());
        }
    }

    pub fn remove(&mut self) {
        if let Some((_, end)) = self.seat.lock().take() {
            (0..BAR_BYTES / 4).for_each(|word| end.write_register(word, u32::MAX));
        }
    }
}
