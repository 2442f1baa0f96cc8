//! Messages of peers, and a rank's membership that receives them between its collectives. A message
//! is refused or survives encoding.

use optireduce_core::protocol::membership::{Output, Settings};
use optireduce_core::protocol::{MESSAGE_VERSION, Membership, MembershipParams, Message, Ranks};

const RANKS: usize = 4;
const RANK: usize = 1;
/// A few messages to each rank for each view that is kept.
const OUTPUTS_MAX: usize = 1000;

/// Executes orders: kind, sender, length, and that number of bytes.
pub fn play(data: &[u8]) {
    let settings = Settings::first(1_000_000);
    let params = MembershipParams { lead_ops: 4, ..MembershipParams::new(RANKS) };
    let mut membership = Membership::new(RANK, params, settings).expect("the parameters can be");
    let (mut rest, mut op, mut now_ns, mut number) = (data, 0, 0, 0);
    while let [kind, from, length, after @ ..] = rest {
        let (bytes, after) = after.split_at(after.len().min((*length).into()));
        rest = after;
        now_ns += 1 + u64::from(*length) * 100_000;
        let from = usize::from(*from) % RANKS;
        match kind % 8 {
            0 => membership.handle_timeout(now_ns),
            1 => {
                let heard = Ranks::none(RANKS).with((0..RANKS).filter(|rank| length >> rank & 1 == 1));
                let mut silent = Ranks::all(RANKS);
                silent.remove_all(&heard);
                if let Some(view) = membership.view_of(now_ns, op) {
                    assert!(view.has(RANK) && view.first_op <= op, "collective {op}: {view:?}");
                    membership.observe(now_ns, op, &heard, &silent);
                    op += 1;
                }
            }
            2 => membership.handle_gone(from),
            3 if membership.newest().is_none() => membership.join(now_ns, now_ns),
            _ => take(&mut membership, now_ns, from, bytes),
        }
        let said = std::iter::from_fn(|| membership.poll()).take(OUTPUTS_MAX).collect::<Vec<_>>();
        assert!(said.len() < OUTPUTS_MAX, "it never stops talking: {:?}", said.last());
        for output in &said {
            match output {
                Output::Send { to, .. } => assert!(*to != RANK && *to < RANKS, "{output:?}"),
                Output::View(view) => op = op.max(if view.joined.is_some() { view.first_op } else { 0 }),
                Output::Silent { .. } | Output::Dropped => {}
            }
        }
        if let Some(newest) = membership.newest() {
            assert!(newest.has(RANK) && newest.live().all(|rank| rank < RANKS), "{newest:?}");
            assert!(newest.number >= number || kind % 8 == 3, "views only grow: {newest:?}, {number} before");
            number = newest.number;
        } else {
            number = 0;
        }
    }
}

fn take(membership: &mut Membership, now_ns: u64, from: usize, bytes: &[u8]) {
    let mut bytes = bytes.to_vec();
    bytes.iter_mut().take(1).for_each(|version| *version = MESSAGE_VERSION);
    match Message::decode(from, RANKS, &bytes) {
        Ok(message) => {
            let again = message.encode();
            // Their debug texts are compared, since a value may be NaN.
            let decoded = Message::decode(from, RANKS, &again).map(|again| format!("{again:?}"));
            assert_eq!(decoded.as_deref(), Ok(format!("{message:?}").as_str()), "from {bytes:?}");
            if let Message::Membership(message) = message {
                let _ = membership.handle_message(now_ns, from, message);
            }
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}
