//! A rank's card in a campaign: the functional card behind the driver's in-process bus, and what can go wrong with it.
//!
//! The host above it is the product's: driver, SmartNIC data plane, protocol. Frames of the card are taken apart into the
//! datagrams that the campaign's network carries, and datagrams for it are put into frames with their checksums, since ranks
//! with and without cards share one network. A card works on while its host is frozen, and stops for good when it is removed.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use optireduce::{SmartNic, SmartNicError, smartnic_dma_bytes};
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
/// Where DMA memory lies for a card; any other page would do.
const IOVA_BASE: u64 = 0x1_0000_0000;

/// A rank's card, as its surroundings see it.
pub(super) struct RankCard {
    seat: Arc<Seat>,
    rx: VecDeque<Arrival>,
    tx: Vec<Departure>,
}

/// Where the card sits on its bus.
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
    /// Powers up the card of a rank, and configures it for the job.
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

    /// A frame reaches the card.
    pub fn arrive(&mut self, at_ns: u64, frame: Vec<u8>) {
        self.rx.push_back(Arrival { at_ns, frame });
    }

    /// The card does what it can do by now; what it sends: to whom, and the datagram.
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

    /// What the host has written reaches the card; when the card acts next.
    pub fn next_wake_ns(&self) -> Option<u64> {
        let mut seat = self.seat.lock();
        let (card, _) = seat.as_mut()?;
        card.sync_registers();
        card.next_wake_ns()
    }

    /// Something goes wrong with the card, if it is still there.
    pub fn spoil(&self, fault: impl FnOnce(&mut Faults)) {
        if let Some((card, _)) = &mut *self.seat.lock() {
            fault(card.faults_mut());
        }
    }

    /// The card is pulled: registers read as ones from now on, and nothing happens any more.
    pub fn remove(&mut self) {
        if let Some((_, end)) = self.seat.lock().take() {
            (0..BAR_BYTES / 4).for_each(|word| end.write_register(word, u32::MAX));
        }
    }
}
