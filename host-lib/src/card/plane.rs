//! The data plane of a card, with this machine's clock, and what its host waits for.

use std::io;
use std::time::{Duration, Instant};

use super::lost::LostCard;
use super::stats::Stats;
use crate::smartnic::{Armed, SmartNic, SmartNicError};
use crate::wait::{Sources, Wait};
use optireduce_core::protocol::{JobParams, Ranks, View, WindowPlan};
use optireduce_core::software::Counters;
use optireduce_core::{Capabilities, DataPlane, Memory, PlaneEvent, PlaneLimits, Values, WindowOutput};
use optireduce_driver::CardBus;

/// How long after its last window a card may have packets to send: it tells when all has come, not when all has left.
const LINGER: Duration = Duration::from_millis(20);
/// How long a card that has windows may tell nothing before it is asked whether it still works: two registers are read then.
const SILENCE: Duration = Duration::from_millis(100);
/// How much longer than their bounds windows may take: for the card's DMA, and its simulator's host.
const SLACK: Duration = Duration::from_secs(2);
/// How long its answer to that is waited for: a simulated card may stand still, and this rank's engine must not.
const ANSWER: Duration = Duration::from_millis(10);
/// How soon to look again after an interrupt that came before what it speaks of.
const AGAIN: Duration = Duration::from_micros(200);

/// A card of this rank alone.
pub(crate) struct CardPlane {
    card: SmartNic<CardBus>,
    epoch: Instant,
    /// When it reported something last.
    reported: Option<Instant>,
    /// Whether there were events since the last look that found none, and since the one before that.
    any: bool,
    busy: bool,
    /// When it reported something last, was given a gradient, or had nothing to report; and when it was asked last whether it works.
    quiet_since: Instant,
    asked: Instant,
    /// There was an interrupt, and nothing that it could have meant: it may have overtaken that.
    early: bool,
    /// Where its counters and rings are shown to others, if they are.
    stats: Option<Stats>,
    /// Whether the job can go on without it.
    falls_back: bool,
    /// What stands for it, if it has failed and the job goes on.
    lost: Option<LostCard>,
    /// Why it has failed, until that was asked for.
    failure: Option<SmartNicError>,
}

/// Does the same with the card or, if it has failed or fails now and the job goes on, with what stands for it.
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
    /// `falls_back`: the job can go on without it.
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

    /// Why it has failed, once, if it has and the job goes on.
    pub fn take_failure(&mut self) -> Option<SmartNicError> {
        self.failure.take()
    }

    /// Whether it has not told what was due, and that may still come; of a card that the job can go on without.
    pub fn is_late(&self) -> bool {
        let owed_within_ns = self.card.owed_within_ns().filter(|_| self.falls_back);
        owed_within_ns.is_some_and(|within_ns| self.quiet_since.elapsed() > Duration::from_nanos(within_ns))
    }

    /// Bytes that were copied between callers' memory and the card's since this was asked last.
    pub fn take_copied_bytes(&mut self) -> u64 {
        self.card.take_copied_bytes()
    }

    fn lose(&mut self, error: SmartNicError) -> &mut LostCard {
        self.failure = Some(error);
        let (windows, lent) = self.card.give_up();
        self.lost.insert(LostCard::new(self.card.places(), windows, lent))
    }

    /// The time that the protocol is to be told, in ns. The card closes its stages by its own clock.
    pub fn now_ns(&self) -> u64 {
        self.epoch.elapsed().as_nanos() as u64
    }

    /// The card's counters, as far as there are such without a card; zero if it is gone, or does not answer now.
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

    /// Whether the last look was not in vain.
    pub fn was_busy(&self) -> bool {
        self.busy
    }

    /// Whether it may still send.
    pub fn is_sending(&self) -> bool {
        self.lingers().is_some()
    }

    /// The card's interrupts, and what becomes readable when it goes away, if anything does.
    ///
    /// # Errors
    /// If the kernel has no more file descriptors.
    pub fn sources(&self) -> io::Result<Sources> {
        let bus = self.card.nic().bus();
        Ok(Sources::new(bus.interrupts().try_clone_to_owned()?, bus.departure()?))
    }

    /// What to wait for when there is nothing to do: an interrupt, the card's end, the end of its lingering, or `at_most`.
    pub fn wait(&self, at_most: Duration) -> Wait {
        if self.lost.is_some() {
            return Wait::deaf(at_most);
        }
        let at_most = if self.early { at_most.min(AGAIN) } else { at_most };
        // The next look may find that it is late.
        let at_most = if self.card.is_owed() { at_most.min(SILENCE) } else { at_most };
        Wait::new(false, self.lingers().map_or(at_most, |left| at_most.min(left)))
    }

    fn lingers(&self) -> Option<Duration> {
        LINGER.checked_sub(self.reported?.elapsed()).filter(|left| !left.is_zero())
    }

    /// The next event. Interrupts are heard between two looks: what comes after the second rings again.
    fn look(&mut self) -> Result<Option<PlaneEvent>, SmartNicError> {
        if let Some(event) = self.card.poll()? {
            return Ok(Some(event));
        }
        let heard = self.card.nic().bus().hear();
        let event = self.card.poll()?;
        self.early = heard && event.is_none();
        if event.is_none() {
            // A poll for completions reads no register, and would not notice.
            self.card.check_here()?;
            self.check_silence()?;
        }
        Ok(event)
    }

    /// Shows the card's counters and rings to others, once a second if they are to be shown.
    fn show(&mut self) {
        if let Some(stats) = self.stats.as_mut().filter(|stats| stats.is_due())
            && self.card.nic().bus().answers(ANSWER)
            && let Ok(counters) = self.card.nic().counters()
            && let Ok(rings) = self.card.nic_mut().rings()
        {
            stats.show(counters, &rings);
        }
    }

    /// A card that says nothing although it has windows: was it reset, did its queue stop, does it hang?
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
