//! A hostile peer, for the fuzzer and tests: nothing panics, and nothing exceeds the limits.

use super::super::message::Space;
use super::*;

const LIMITS: Limits =
    Limits { unasked_bytes: 600, message_cost: 10, announced: 5, receives: 20, asked_bytes: 64, chunk_bytes: 16 };

/// Plays a peer's notes, each after its length, among sends and receives of this rank.
pub fn play(data: &[u8]) {
    let mut rank = Matching::new(0, 2, LIMITS);
    let mut rest = data;
    while let Some((act, more)) = rest.split_first() {
        rest = more;
        let tag = Tag { space: Space::Caller, tag: u32::from(act % 2) };
        match act {
            200..=215 => drop(rank.send(1, tag, vec![0; usize::from(act - 200) * 20]).to_string()),
            216..=231 => drop(rank.receive(Some(1).filter(|_| act % 4 > 0), tag).to_string()),
            232..=247 => {
                let id = u64::from(act - 231);
                let to = (!rank.receives.contains_key(&id)).then_some(1);
                rank.cancel(id, to);
            }
            248..=250 => {
                rank.gone(1, ControlError::Gone(1));
                rank.back(1, rank.peers[1].connection + 1);
            }
            length => {
                let (note, more) = rest.split_at(rest.len().min(usize::from(*length)));
                rest = more;
                if rank.handle(1, note).is_err() {
                    rank.gone(1, ControlError::Gone(1));
                    return check(&rank);
                }
            }
        }
        rank.take_outbox();
        check(&rank);
    }
}

fn check(rank: &Matching) {
    let peer = &rank.peers[1];
    let unmatched = peer.incoming.values().filter(|incoming| incoming.receive.is_none());
    let kept: usize = unmatched.map(|incoming| incoming.data.len()).sum();
    assert!(kept <= LIMITS.unasked_bytes * 2 && peer.asked <= LIMITS.asked_bytes, "{kept} bytes kept: {peer:?}");
    assert!(rank.receives.len() <= LIMITS.receives && peer.sending.len() <= LIMITS.announced, "{rank:?}");
}
