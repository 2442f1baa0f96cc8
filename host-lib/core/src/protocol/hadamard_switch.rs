//! When collectives are Hadamard-encoded.
//!
//! Why: the transform makes the error independent of where losses fall, and costs time; it is worth it once losses are
//! real. All ranks must switch at the same collective, since packets of the other kind are dropped: the rank that sees
//! the loss proposes a later collective, the caller announces it reliably to all ranks, and each calls `switch_from`.
//! Limits: once on, it stays on. The announcement itself is the caller's.
//! Source: OptiReduce 3.2.1 (2 %). The agreement is ours.

/// Loss above which collectives are encoded.
pub const LOSS_ON: f64 = 0.02;

/// Who decides whether collectives are encoded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HadamardMode {
    /// Never encode.
    Off,
    /// Always encode.
    On,
    /// Encode once the loss has exceeded 2 %.
    #[default]
    Auto,
}

/// The switch of one rank.
#[derive(Clone, Debug)]
pub struct HadamardSwitch {
    mode: HadamardMode,
    lead_ops: u32,
    on_from: Option<u32>,
}

impl HadamardSwitch {
    /// `lead_ops` (at least 1): how many collectives lie between the loss and the switch. It must cover the time of the
    /// announcement and the collectives that are prepared ahead.
    pub fn new(mode: HadamardMode, lead_ops: u32) -> Self {
        Self { mode, lead_ops: lead_ops.max(1), on_from: None }
    }

    /// Whether collective number `op` is encoded.
    pub fn is_on(&self, op: u32) -> bool {
        match self.mode {
            HadamardMode::Off => false,
            HadamardMode::On => true,
            HadamardMode::Auto => self.on_from.is_some_and(|first| op >= first),
        }
    }

    /// The first encoded collective that was agreed on.
    pub fn on_from(&self) -> Option<u32> {
        self.on_from
    }

    /// Takes the loss (0 to 1) of collective `op`; returns the collective to announce as the first encoded one, if the
    /// loss calls for it and no switch is known yet.
    pub fn observe_loss(&self, op: u32, loss: f64) -> Option<u32> {
        let wanted = self.mode == HadamardMode::Auto && self.on_from.is_none() && loss > LOSS_ON;
        wanted.then(|| op.saturating_add(self.lead_ops))
    }

    /// All ranks agreed that `op` is the first encoded collective. Of several announcements the earliest counts, so
    /// that their order does not matter.
    pub fn switch_from(&mut self, op: u32) {
        self.on_from = Some(self.on_from.map_or(op, |known| known.min(op)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_switch_follows_the_announcement_and_not_the_loss() {
        let mut switch = HadamardSwitch::new(HadamardMode::Auto, 2);
        assert_eq!(switch.observe_loss(4, 0.02), None);
        assert_eq!(switch.observe_loss(5, 0.021), Some(7));
        assert!(!switch.is_on(7));
        switch.switch_from(8); // another rank's
        switch.switch_from(7);
        assert_eq!([6, 7, 8, 100].map(|op| switch.is_on(op)), [false, true, true, true]);
        assert_eq!(switch.observe_loss(9, 0.5), None);
    }

    #[test]
    fn announcements_in_any_order_end_in_the_same_collective() {
        let (mut a, mut b) = (HadamardSwitch::new(HadamardMode::Auto, 1), HadamardSwitch::new(HadamardMode::Auto, 1));
        for op in [7, 9] {
            a.switch_from(op);
        }
        for op in [9, 7] {
            b.switch_from(op);
        }
        assert!((0..20).all(|op| a.is_on(op) == b.is_on(op) && a.is_on(op) == (op >= 7)));
    }

    #[test]
    fn fixed_modes_do_not_listen() {
        let (mut off, mut on) = (HadamardSwitch::new(HadamardMode::Off, 1), HadamardSwitch::new(HadamardMode::On, 1));
        assert_eq!((off.observe_loss(0, 1.0), on.observe_loss(0, 1.0)), (None, None));
        off.switch_from(0);
        on.switch_from(5);
        assert!(!off.is_on(3) && on.is_on(3));
    }
}
