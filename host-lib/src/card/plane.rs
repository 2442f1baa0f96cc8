//! Data plane of a card, with this machine's clock, timeouts and fallback.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::lost::LostCard;
use super::stats::Stats;
use crate::smartnic::{Armed, SmartNic, SmartNicError};
use crate::wait::{Source, Sources, Wait};
use optireduce_core::protocol::{JobParams, Ranks, View, WindowPlan};
use optireduce_core::software::Counters;
use optireduce_core::{Capabilities, DataPlane, Memory, PlaneEvent, PlaneLimits, Values, WindowOutput};
use optireduce_driver::CardBus;

/// Time after the last event in which a card may still send, since it reports received data only.
const LINGER: Duration = Duration::from_millis(20);
/// Silence with open windows after which the card is checked.
const SILENCE: Duration = Duration::from_millis(100);
/// Tolerance beyond the bounds, for DMA and for the host of a simulated card.
const SLACK: Duration = Duration::from_secs(2);
/// Timeout of that check, since a stopped simulator must not block this rank's engine.
const ANSWER: Duration = Duration::from_millis(10);
/// Delay of the next poll after an interrupt that arrived before its completion.
const AGAIN: Duration = Duration::from_micros(200);

pub(crate) struct CardPlane {
    card: SmartNic<CardBus>,
    epoch: Instant,
    reported: Option<Instant>,
    /// Events since the last empty `poll`; `busy`: between the last two.
    any: bool,
    busy: bool,
    /// Last event or contribution, or last time without windows.
    quiet_since: Instant,
    asked: Instant,
    /// The last interrupt may have overtaken its completion.
    early: bool,
    stats: Option<Stats>,
    falls_back: bool,
    lost: Option<LostCard>,
    /// Error of a failed card, until it is taken.
    failure: Option<SmartNicError>,
}

/// Calls the card or its replacement, which takes over within this call if the card fails and the
/// job falls back. Otherwise a failed card is cut off.
macro_rules! or_lost {
    ($self:ident, $card:expr, $lost:ident => $instead:expr) => {
        match &mut $self.lost {
            Some($lost) => $instead,
            None => match $card {
                Err(error) if $self.falls_back && error.is_of_card() => {
                    let $lost = $self.lose(error);
                    $instead
                }
                done => {
                    if done.as_ref().is_err_and(|error| error.is_of_card()) {
                        $self.card.cut_off();
                    }
                    done
                }
            },
        }
    };
}

impl CardPlane {
    pub fn new(card: SmartNic<CardBus>, stats: Option<Stats>, falls_back: bool) -> Self {
        let now = Instant::now();
        Self {
            card,
            epoch: now,
            reported: None,
            any: false,
            busy: false,
            quiet_since: now,
            asked: now,
            early: false,
            stats,
            falls_back,
            lost: None,
            failure: None,
        }
    }

    pub fn take_failure(&mut self) -> Option<SmartNicError> {
        self.failure.take()
    }

    pub fn is_late(&self) -> bool {
        let owed_within_ns = self.card.owed_within_ns().filter(|_| self.falls_back);
        owed_within_ns.is_some_and(|within_ns| self.quiet_since.elapsed() > Duration::from_nanos(within_ns))
    }

    pub fn take_copied_bytes(&mut self) -> u64 {
        self.card.take_copied_bytes()
    }

    fn lose(&mut self, error: SmartNicError) -> &mut LostCard {
        self.failure = Some(error);
        let (windows, lent) = self.card.give_up();
        self.lost.insert(LostCard::new(self.card.places(), windows, lent))
    }

    /// Time for the protocol; the card closes stages by its own clock.
    pub fn now_ns(&self) -> u64 {
        self.epoch.elapsed().as_nanos() as u64
    }

    /// Counters that exist in software as well; 0 if the card does not answer.
    pub fn counters(&self) -> Counters {
        let mut counters = Counters::default();
        if self.card.nic().bus().answers(ANSWER)
            && let Ok(found) = self.card.nic().counters()
        {
            counters.rx_packets = found.rx_packets.into();
            counters.tx_packets = found.tx_packets.into();
            counters.drop_malformed = found.drop_malformed.into();
            counters.drop_source = found.drop_source.into();
            counters.drop_too_long = found.drop_too_long.into();
            counters.drop_version = found.drop_version.into();
            counters.drop_job = found.drop_job.into();
            counters.drop_no_window = found.drop_no_window.into();
            counters.drop_stale = found.drop_stale.into();
            counters.drop_flags = found.drop_flags.into();
            counters.drop_out_of_shard = found.drop_out_of_shard.into();
            counters.drop_late_beats = found.drop_late_beats.into();
            counters.drop_duplicate_beats = found.drop_duplicate_beats.into();
        }
        counters
    }

    pub fn was_busy(&self) -> bool {
        self.busy
    }

    pub fn is_sending(&self) -> bool {
        self.lingers().is_some()
    }

    pub fn sources(&self) -> io::Result<Sources> {
        let bus = self.card.nic().bus();
        let departure = bus.departure()?.map(|departure| -> Source { Arc::new(departure) });
        Ok(Sources::new(Arc::new(bus.interrupts().try_clone_to_owned()?), departure))
    }

    /// Waits for an interrupt, the card's departure, the end of [`LINGER`], or `at_most`.
    pub fn wait(&self, at_most: Duration) -> Wait {
        if self.lost.is_some() {
            return Wait::deaf(at_most);
        }
        let at_most = if self.early { at_most.min(AGAIN) } else { at_most };
        // A silent card must be checked.
        let at_most = if self.card.is_owed() { at_most.min(SILENCE) } else { at_most };
        Wait::new(false, self.lingers().map_or(at_most, |left| at_most.min(left)))
    }

    fn lingers(&self) -> Option<Duration> {
        LINGER.checked_sub(self.reported?.elapsed()).filter(|left| !left.is_zero())
    }

    /// Consumes interrupts between two polls: a completion after the second raises another.
    fn look(&mut self) -> Result<Option<PlaneEvent>, SmartNicError> {
        if let Some(event) = self.card.poll()? {
            return Ok(Some(event));
        }
        let heard = self.card.nic().bus().hear();
        let event = self.card.poll()?;
        self.early = heard && event.is_none();
        if event.is_none() {
            // Polling for completions reads no register, and so cannot notice a card that is gone.
            self.card.check_here()?;
            self.check_silence()?;
        }
        Ok(event)
    }

    fn show(&mut self) {
        if let Some(stats) = self.stats.as_mut().filter(|stats| stats.is_due())
            && self.card.nic().bus().answers(ANSWER)
            && let Ok(counters) = self.card.nic().counters()
            && let Ok(rings) = self.card.nic_mut().rings()
        {
            stats.show(counters, &rings);
        }
    }

    /// Checks a card with open windows that is silent: it may be reset, stopped or hung.
    fn check_silence(&mut self) -> Result<(), SmartNicError> {
        let now = Instant::now();
        if !self.card.is_owed() {
            self.quiet_since = now;
        }
        let waited = now - self.quiet_since;
        if waited < SILENCE || now - self.asked < SILENCE {
            return Ok(());
        }
        self.asked = now;
        let answers = self.card.nic().bus().answers(ANSWER);
        if answers {
            self.card.nic().check_working()?;
        }
        if self.card.owed_within_ns().is_some_and(|within_ns| waited > Duration::from_nanos(within_ns) + SLACK) {
            if !answers {
                self.card.nic().bus().abandon();
            }
            let waited = Duration::from_millis(waited.as_millis() as u64);
            return Err(self.card.nic_mut().overdue(waited).into());
        }
        Ok(())
    }
}

impl DataPlane for CardPlane {
    type Error = SmartNicError;

    fn limits(&self) -> PlaneLimits {
        self.card.limits()
    }

    fn capabilities(&self) -> Capabilities {
        self.card.capabilities()
    }

    fn lend(&mut self, memory: Memory, values: Values) {
        match &mut self.lost {
            Some(lost) => lost.lent.lend(memory, values),
            None => self.card.lend(memory, values),
        }
    }

    fn reclaim(&mut self, memory: Memory) -> Option<Values> {
        match &mut self.lost {
            Some(lost) => lost.lent.reclaim(memory),
            None => self.card.reclaim(memory),
        }
    }

    fn relocate(&mut self, memory: Memory, values: Values) -> Result<Values, Values> {
        match &self.lost {
            Some(_) => Err(values),
            None => self.card.relocate(memory, values),
        }
    }

    fn arm(&mut self, plan: &WindowPlan, params: &JobParams) -> Result<(), SmartNicError> {
        or_lost!(self, self.card.arm(plan, params), lost => {
            lost.arm(Armed::new(plan, params));
            Ok(())
        })
    }

    fn contribute(&mut self, plan: &WindowPlan) -> Result<(), SmartNicError> {
        self.quiet_since = Instant::now();
        or_lost!(self, self.card.contribute(plan), lost => lost.contribute(plan))
    }

    fn flush(&mut self) -> Result<(), SmartNicError> {
        or_lost!(self, self.card.flush(), _lost => Ok(()))
    }

    fn poll(&mut self) -> Result<Option<PlaneEvent>, SmartNicError> {
        if self.lost.is_none() {
            self.show();
        }
        let event = or_lost!(self, self.look(), lost => Ok(lost.poll()))?;
        if event.is_some() {
            self.quiet_since = Instant::now();
            (self.any, self.reported) = (true, Some(self.quiet_since));
        } else {
            self.busy = std::mem::take(&mut self.any);
        }
        Ok(event)
    }

    fn take_result(&mut self, plan: &WindowPlan, look: &mut dyn FnMut(WindowOutput<'_>)) -> Result<(), SmartNicError> {
        or_lost!(self, self.card.take_result(plan, look), lost => lost.take_result(plan, look))
    }

    fn late_bytes(&self) -> Option<u64> {
        self.card.late_bytes()
    }

    fn set_rate(&mut self, peer: usize, rate_bytes_per_us: u32) -> Result<(), SmartNicError> {
        self.card.set_rate(peer, rate_bytes_per_us)
    }

    fn cancel(&mut self, plan: &WindowPlan) -> Result<(), SmartNicError> {
        or_lost!(self, self.card.cancel(plan), _lost => Ok(()))
    }

    fn announce(&mut self, view: &View) {
        self.card.announce(view);
    }

    fn enter(&mut self, view: &View) -> Result<bool, SmartNicError> {
        or_lost!(self, self.card.enter(view), lost => lost.enter(view))
    }

    fn take_heard(&mut self) -> Ranks {
        self.card.take_heard()
    }
}
