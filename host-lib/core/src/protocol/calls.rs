//! Whether all ranks call the same collectives in the same order: compared over the control channel.
//!
//! Why: packets alone prove nothing; they may be stray, stale or forged. So a rank that has a doubt (packets of another
//! bucket at the same collective, a stage at its deadline with a peer unheard) asks that peer what it calls. A difference
//! that a peer itself confirms is an error: every rank then tells all others what it calls, so that all name the same rank.
//! A healthy job pays two messages for each peer that was late, and nobody waits for them.
//! Limits: the last [`OPS_MAX`] collectives. Ranks that never answer are left out of the error once the others have waited
//! `wait_ns` for them. Collectives that look alike to all, such as a rank that has left out one of many equal calls, are not
//! told apart.
//! Source: ours. MPI leaves such programs undefined; NCCL hangs.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;

use thiserror::Error;

use super::stream::Stream;
use super::types::Kind;

/// Collectives back from the newest whose calls are remembered, and ahead of it whose messages are.
const OPS_MAX: u32 = 64;

/// What a rank calls: all ranks must call the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallInfo {
    /// What is done.
    pub kind: Kind,
    /// Bucket id.
    pub bucket: u16,
    /// Elements of the bucket.
    pub elements: u64,
    /// Whether it travels Hadamard-encoded.
    pub hadamard: bool,
    /// Whether it travels as bf16.
    pub bf16: bool,
    /// Whether the bucket was declared, and how often.
    pub stream: Stream,
    /// The elements that the caller has handed in, if they are not as many as the call takes.
    pub misfit: Option<u64>,
}

impl CallInfo {
    /// The first field in which two calls differ: its name and both values.
    fn difference(&self, other: &Self) -> Option<(&'static str, String, String)> {
        let generation = |stream: Stream| match stream {
            Stream::OneOff => "none, it is one-off".to_owned(),
            Stream::Declared { generation } => generation.to_string(),
        };
        let misfit =
            |misfit: Option<u64>| misfit.map_or_else(|| "what the call takes".to_owned(), |given| given.to_string());
        let fields = |call: &Self| {
            [
                ("kind", call.kind.to_string()),
                ("bucket", call.bucket.to_string()),
                ("declaration", generation(call.stream)),
                ("elements", call.elements.to_string()),
                ("hadamard", call.hadamard.to_string()),
                ("bf16", call.bf16.to_string()),
                ("the number of elements handed in", misfit(call.misfit)),
            ]
        };
        let pairs = fields(self).into_iter().zip(fields(other));
        pairs.filter(|(one, two)| one.1 != two.1).map(|((name, one), (_, two))| (name, one, two)).next()
    }
}

/// What ranks tell one another about collective `op`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallMessage {
    /// The sender has a doubt: what does the receiver call? It answers as soon as it calls the collective.
    Ask {
        /// Collective number.
        op: u32,
        /// What the sender calls.
        call: CallInfo,
    },
    /// What the sender calls.
    Tell {
        /// Collective number.
        op: u32,
        /// What the sender calls.
        call: CallInfo,
    },
}

/// Ranks call different collectives. The job cannot go on.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "the ranks differ in collective {op}: {field} is {found} on rank {rank}, but {expected} on {}; all ranks must call the same \
     collectives in the same order",
    others(by, *is_majority)
)]
#[non_exhaustive]
pub struct Mismatch {
    /// Collective number.
    pub op: u32,
    /// The rank that differs from most, or without a majority from the lowest.
    pub rank: usize,
    /// What differs.
    pub field: &'static str,
    /// Its value at `rank`.
    pub found: String,
    /// Its value at the others.
    pub expected: String,
    /// The others.
    pub by: Vec<usize>,
    /// Whether they are more than half of the ranks that take part.
    pub is_majority: bool,
}

fn others(by: &[usize], is_majority: bool) -> String {
    let ranks: Vec<String> = by.iter().map(usize::to_string).collect();
    let s = if by.len() == 1 { "" } else { "s" };
    format!("rank{s} {}{}", ranks.join(", "), if is_majority { ", the majority" } else { "" })
}

/// One rank's part in the comparison. Reliable messages; times on the caller's clock.
///
/// Call order: [`called`](Self::called) for each collective; [`doubt`](Self::doubt) and
/// [`handle_message`](Self::handle_message) as things happen; [`poll`](Self::poll) after each of them; then
/// [`mismatch`](Self::mismatch).
#[derive(Clone, Debug)]
pub struct CallCheck {
    rank: usize,
    wait_ns: u64,
    /// The newest collective that this rank has called; `None` while it waits to take part and does not know from which on.
    newest: Option<u32>,
    ops: BTreeMap<u32, Op>,
    /// Ranks that can be asked only about collectives from this one on; `u32::MAX`: about none.
    asked_from: BTreeMap<usize, u32>,
    /// Collectives in whose views a rank is not, since it was dropped last. It may not know that yet, and go on.
    outside: BTreeMap<usize, Range<u32>>,
    /// This rank was dropped, and does not take part again yet.
    has_left: bool,
    outgoing: VecDeque<(usize, CallMessage)>,
}

/// What is known of one collective.
#[derive(Clone, Debug, Default)]
struct Op {
    /// What this rank calls, and the ranks that take part.
    own: Option<(CallInfo, Vec<usize>)>,
    told: BTreeMap<usize, CallInfo>,
    /// Ranks that this rank has asked, and that wait for its answer.
    asked: BTreeSet<usize>,
    asking: BTreeSet<usize>,
    /// A difference was found: until when what others call is waited for.
    until_ns: Option<u64>,
    /// All others were told what this rank calls.
    is_announced: bool,
}

impl Op {
    /// Whether all ranks whose calls are known call the same.
    fn is_alike(&self) -> bool {
        let mut calls = self.told.values().chain(self.own.as_ref().map(|(call, _)| call));
        let first = calls.next();
        calls.all(|call| Some(call) == first)
    }
}

impl CallCheck {
    /// Rank `rank`'s part. `wait_ns`: how long to wait for what other ranks call once two are known to differ.
    pub fn new(rank: usize, wait_ns: u64) -> Self {
        let (ops, asked_from, outside) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Self { rank, wait_ns, newest: Some(0), ops, asked_from, outside, has_left: false, outgoing: VecDeque::new() }
    }

    /// This rank was dropped. What it has begun in its old view, the others need not call.
    pub fn leave(&mut self) {
        self.has_left = true;
        self.ops.values_mut().for_each(|one| one.until_ns = None);
    }

    /// This rank asks to take part again. Nobody answers what it asked before. Ranks may ask about the first collectives of its
    /// view before this rank knows the view: their messages are kept.
    pub fn join(&mut self) {
        *self = Self { newest: None, ..Self::new(self.rank, self.wait_ns) };
    }

    /// This rank takes part again, from collective `first_op` on.
    pub fn joined(&mut self, first_op: u32) {
        self.newest = Some(first_op);
        self.ops.retain(|op, _| op.wrapping_sub(first_op) <= OPS_MAX);
    }

    /// This rank calls collective `op`, in which the ranks in `live` take part.
    pub fn called(&mut self, now_ns: u64, op: u32, call: CallInfo, mut live: Vec<usize>) {
        live.retain(|rank| self.asked_from.get(rank).is_none_or(|from_op| op >= *from_op));
        self.newest = Some(op);
        self.ops.retain(|of, _| of.wrapping_sub(op.wrapping_sub(OPS_MAX)) <= 2 * OPS_MAX);
        let one = self.ops.entry(op).or_default();
        one.own = Some((call, live));
        for to in std::mem::take(&mut one.asking) {
            self.outgoing.push_back((to, CallMessage::Tell { op, call }));
        }
        self.compare(now_ns, op);
    }

    /// Tells all others what this rank calls at `op`, without waiting for a doubt.
    pub fn announce(&mut self, op: u32) {
        let Some(one) = self.ops.get_mut(&op) else { return };
        if let (Some((call, live)), false) = (&one.own, one.is_announced) {
            one.is_announced = true;
            for to in live.iter().copied().filter(|to| *to != self.rank) {
                let asks = !one.told.contains_key(&to) && one.asked.insert(to);
                let call = *call;
                self.outgoing
                    .push_back((to, if asks { CallMessage::Ask { op, call } } else { CallMessage::Tell { op, call } }));
            }
        }
    }

    /// There is reason to think that `peers` call something else at collective `op`: asks them, once.
    pub fn doubt(&mut self, op: u32, peers: impl IntoIterator<Item = usize>) {
        let Some(one) = self.ops.get_mut(&op) else { return };
        let Some((call, live)) = &one.own else { return };
        for peer in peers {
            let is_known = peer == self.rank || !live.contains(&peer) || one.told.contains_key(&peer);
            if !is_known && one.asked.insert(peer) {
                self.outgoing.push_back((peer, CallMessage::Ask { op, call: *call }));
            }
        }
    }

    /// What this rank calls at `op`, and all ranks that take part.
    pub fn call_of(&self, op: u32) -> Option<(&CallInfo, &[usize])> {
        self.ops.get(&op)?.own.as_ref().map(|(call, live)| (call, live.as_slice()))
    }

    /// Takes a message of rank `from`.
    pub fn handle_message(&mut self, now_ns: u64, from: usize, message: CallMessage) {
        let asks = matches!(message, CallMessage::Ask { .. });
        let (CallMessage::Ask { op, call } | CallMessage::Tell { op, call }) = message;
        let is_far = match self.newest {
            Some(newest) => op.wrapping_sub(newest.wrapping_sub(OPS_MAX)) > 2 * OPS_MAX,
            None => self.ops.len() > 2 * OPS_MAX as usize && !self.ops.contains_key(&op),
        };
        if is_far || from == self.rank {
            return;
        }
        let one = self.ops.entry(op).or_default();
        if self.outside.get(&from).is_none_or(|ops| !ops.contains(&op)) {
            one.told.insert(from, call);
        }
        if asks {
            match one.own {
                Some((call, _)) => self.outgoing.push_back((from, CallMessage::Tell { op, call })),
                None => drop(one.asking.insert(from)),
            }
        }
        self.compare(now_ns, op);
    }

    /// No answer will come from this rank any more.
    pub fn drop_rank(&mut self, rank: usize) {
        self.ask_from(rank, u32::MAX);
    }

    /// A rank is outside of the view that is used from collective `first_op` on: what it calls there does not matter.
    pub fn leave_rank(&mut self, rank: usize, first_op: u32) {
        self.drop_rank(rank);
        let first_op = self.outside.get(&rank).filter(|ops| ops.end == u32::MAX).map_or(first_op, |ops| ops.start);
        self.outside.insert(rank, first_op..u32::MAX);
        for (_, one) in self.ops.range_mut(first_op..) {
            if one.told.remove(&rank).is_some() && one.is_alike() {
                one.until_ns = None;
            }
        }
    }

    /// A rank takes part again, from collective `first_op` on. It knows nothing of those before, which may still run here; what it
    /// has asked about the others, it has asked before this rank heard of its view.
    pub fn add_rank(&mut self, rank: usize, first_op: u32) {
        self.outside.entry(rank).and_modify(|ops| ops.end = first_op.max(ops.start));
        self.ask_from(rank, first_op);
    }

    fn ask_from(&mut self, rank: usize, first_op: u32) {
        self.asked_from.insert(rank, first_op);
        for (_, one) in self.ops.range_mut(..first_op) {
            one.asked.remove(&rank);
            one.asking.remove(&rank);
            one.own.iter_mut().for_each(|(_, live)| live.retain(|live| *live != rank));
        }
    }

    /// Whether rank `of` is known to call what this rank calls at `op`, or cannot be asked any more.
    pub fn is_confirmed(&self, op: u32, of: usize) -> bool {
        let Some(Op { own: Some((call, live)), told, .. }) = self.ops.get(&op) else { return false };
        of == self.rank || !live.contains(&of) || told.get(&of) == Some(call)
    }

    /// Whether every peer that was asked has answered.
    pub fn is_settled(&self) -> bool {
        let is_answered = |one: &Op| one.asked.iter().all(|peer| one.told.contains_key(peer));
        self.ops.values().all(|one| one.until_ns.is_none() && is_answered(one))
    }

    /// The difference that was confirmed, once it is known what the others call. After it the job cannot go on.
    pub fn mismatch(&self, now_ns: u64) -> Option<Mismatch> {
        self.ops.iter().find_map(|(op, one)| {
            let until_ns = one.until_ns?;
            let mut calls = one.told.clone();
            let mut live = vec![];
            if let Some((call, of)) = &one.own {
                calls.insert(self.rank, *call);
                live.clone_from(of);
            }
            let is_complete = !live.is_empty() && live.iter().all(|rank| calls.contains_key(rank));
            (is_complete || now_ns >= until_ns).then(|| judge(*op, &calls, live.len().max(calls.len())))?
        })
    }

    /// When [`mismatch`](Self::mismatch) has something to say at the latest.
    pub fn next_timeout(&self) -> Option<u64> {
        self.ops.values().filter_map(|one| one.until_ns).min()
    }

    /// The next message to send, and to whom.
    pub fn poll(&mut self) -> Option<(usize, CallMessage)> {
        self.outgoing.pop_front()
    }

    /// Tells all others what this rank calls if anybody calls something else.
    fn compare(&mut self, now_ns: u64, op: u32) {
        let Some(one) = self.ops.get_mut(&op) else { return };
        if self.has_left || one.is_alike() {
            return;
        }
        one.until_ns.get_or_insert(now_ns.saturating_add(self.wait_ns));
        // A rank that has not called it yet tells the others when it does.
        self.announce(op);
    }
}

/// Who differs from whom, of `ranks` that take part.
fn judge(op: u32, calls: &BTreeMap<usize, CallInfo>, ranks: usize) -> Option<Mismatch> {
    let alike = |call: &CallInfo| -> Vec<usize> {
        calls.iter().filter(|(_, other)| *other == call).map(|(rank, _)| *rank).collect()
    };
    // The largest group; of equal ones that of the lowest rank.
    let (first, expected) = calls.iter().rev().max_by_key(|(_, call)| alike(call).len())?;
    let by = alike(expected);
    debug_assert!(by.contains(first));
    let (rank, found) = calls.iter().find(|(_, call)| *call != expected)?;
    let (field, found, expected) = found.difference(expected)?;
    let is_majority = 2 * by.len() > ranks;
    Some(Mismatch { op, rank: *rank, field, found, expected, by, is_majority })
}

#[cfg(test)]
mod tests;
