//! Comparison of collective calls across ranks, over the control channel.
//!
//! All ranks must call the same collectives in the same order. Data packets alone prove nothing:
//! they may be stray, stale or forged. A rank in doubt (packets of another bucket, a deadline
//! without packets of a peer) asks that peer for its call. A difference is an error; every rank
//! that learns of it sends its call to all others, so that all name the same rank. Only one-off
//! collectives wait for answers.
//!
//! Limits: the last [`OPS_MAX`] collectives. Ranks that do not answer within `wait_ns` are left out
//! of the error. Equal calls are not distinguished, so one omitted call may go unnoticed.
//!
//! Source: ours. MPI leaves such programs undefined; NCCL hangs.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;

use thiserror::Error;

use super::stream::Stream;
use super::types::Kind;

/// Collectives tracked before the newest one, and after it.
const OPS_MAX: u32 = 64;

/// Parameters of a call, which must be equal on all ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // described above
pub struct CallInfo {
    pub kind: Kind,
    pub bucket: u16,
    pub elements: u64,
    pub hadamard: bool,
    pub bf16: bool,
    pub stream: Stream,
    /// Number of elements passed by the caller, if not the number that the call requires.
    pub misfit: Option<u64>,
}

impl CallInfo {
    /// Text for the number of elements that the call requires of a rank.
    fn required(&self) -> String {
        match self.kind {
            Kind::AllGather => format!("{}, or its shard of them", self.elements),
            _ => self.elements.to_string(),
        }
    }

    fn difference(&self, other: &Self) -> Option<(&'static str, String, String)> {
        let generation = |stream: Stream| match stream {
            Stream::OneOff => "none (one-off)".to_owned(),
            Stream::Declared { generation } => generation.to_string(),
        };
        let fields = |call: &Self| {
            [
                ("kind", call.kind.to_string()),
                ("bucket", call.bucket.to_string()),
                ("declaration", generation(call.stream)),
                ("elements", call.elements.to_string()),
                ("hadamard", call.hadamard.to_string()),
                ("bf16", call.bf16.to_string()),
            ]
        };
        let pairs = fields(self).into_iter().zip(fields(other));
        pairs.filter(|(one, two)| one.1 != two.1).map(|((name, one), (_, two))| (name, one, two)).next()
    }
}

/// Message about collective `op` with the sender's call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // described above
pub enum CallMessage {
    /// Question, answered once the receiver calls the collective.
    Ask { op: u32, call: CallInfo },
    /// Answer or announcement.
    Tell { op: u32, call: CallInfo },
}

/// Ranks call different collectives: `field` is `found` on `rank`, but `expected` on the ranks in
/// `by`. The job cannot continue.
///
/// If a rank passes a wrong number of elements, `by` is empty and `expected` is the number that the
/// call requires, even if all ranks pass the same number.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{}", described(*op, *rank, field, found, expected, by, *is_majority))]
#[non_exhaustive]
#[allow(missing_docs)] // described above
pub struct Mismatch {
    pub op: u32,
    /// Lowest rank that passes a wrong number of elements. If none does, lowest rank outside the
    /// largest group of ranks with equal calls; ties favour the group of the lowest rank.
    pub rank: usize,
    pub field: &'static str,
    pub found: String,
    pub expected: String,
    pub by: Vec<usize>,
    /// Whether `by` is a majority.
    pub is_majority: bool,
}

fn described(
    op: u32,
    rank: usize,
    field: &str,
    found: &str,
    expected: &str,
    by: &[usize],
    is_majority: bool,
) -> String {
    if by.is_empty() {
        return format!(
            "in collective {op}, {field} is {found} on rank {rank}, expected {expected}; all ranks must pass as many elements as \
             the call takes, so no rank has a result"
        );
    }
    let others = others(by, is_majority);
    format!(
        "the ranks differ in collective {op}: {field} is {found} on rank {rank}, but {expected} on {others}; all ranks must call \
         the same collectives in the same order"
    )
}

impl Mismatch {
    const FIELDS: [&str; 9] = [
        "kind",
        "bucket",
        "declaration",
        "elements",
        "hadamard",
        "bf16",
        "the number of elements passed to an all-gather",
        "the number of elements passed to an all-reduce",
        "the number of elements passed to a reduce-scatter",
    ];

    /// Returns the mismatch that another rank has found, from its fields; `None` if there is no
    /// such field.
    pub fn of_fields(
        op: u32,
        rank: usize,
        field: &str,
        found: String,
        expected: String,
        by: Vec<usize>,
        is_majority: bool,
    ) -> Option<Self> {
        let field = Self::FIELDS.into_iter().find(|known| *known == field)?;
        Some(Self { op, rank, field, found, expected, by, is_majority })
    }

    /// Renumbers the ranks.
    #[must_use]
    pub fn renumbered(self, number: impl Fn(usize) -> usize) -> Self {
        Self { rank: number(self.rank), by: self.by.into_iter().map(&number).collect(), ..self }
    }

    fn of_length(op: u32, rank: usize, call: &CallInfo, found: u64) -> Self {
        let (kind, bucket) = (call.kind, call.bucket);
        let field = match kind {
            Kind::AllGather => "the number of elements passed to an all-gather",
            Kind::AllReduce => "the number of elements passed to an all-reduce",
            Kind::ReduceScatter => "the number of elements passed to a reduce-scatter",
        };
        let expected = format!("{}, as bucket {bucket} has", call.required());
        Self { op, rank, field, found: found.to_string(), expected, by: Vec::new(), is_majority: false }
    }
}

fn others(by: &[usize], is_majority: bool) -> String {
    let ranks: Vec<String> = by.iter().map(usize::to_string).collect();
    let s = if by.len() == 1 { "" } else { "s" };
    format!("rank{s} {}{}", ranks.join(", "), if is_majority { ", the majority" } else { "" })
}

/// Call check of one rank, over reliable messages. After each call or event,
/// [`poll`](Self::poll) and check [`mismatch`](Self::mismatch).
#[derive(Clone, Debug)]
pub struct CallCheck {
    rank: usize,
    wait_ns: u64,
    /// Newest collective called here; `None` during a rejoin.
    newest: Option<u32>,
    ops: BTreeMap<u32, Op>,
    /// First collective about which a rank can be asked; `u32::MAX` for none.
    asked_from: BTreeMap<usize, u32>,
    /// Collectives whose views exclude a rank since its last drop.
    outside: BTreeMap<usize, Range<u32>>,
    has_left: bool,
    outgoing: VecDeque<(usize, CallMessage)>,
}

#[derive(Clone, Debug, Default)]
struct Op {
    own: Option<(CallInfo, Vec<usize>)>,
    told: BTreeMap<usize, CallInfo>,
    asked: BTreeSet<usize>,
    /// Ranks that wait for this rank's answer.
    asking: BTreeSet<usize>,
    /// End of the wait for other calls, after a difference was found.
    until_ns: Option<u64>,
    is_announced: bool,
}

impl Op {
    fn is_alike(&self) -> bool {
        let mut calls = self.told.values().chain(self.own.as_ref().map(|(call, _)| call));
        let first = calls.next();
        calls.all(|call| Some(call) == first)
    }
}

impl CallCheck {
    /// Creates the check of `rank`. `wait_ns`: wait for other calls once a difference is known.
    pub fn new(rank: usize, wait_ns: u64) -> Self {
        let (ops, asked_from, outside) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Self { rank, wait_ns, newest: Some(0), ops, asked_from, outside, has_left: false, outgoing: VecDeque::new() }
    }

    /// Records that this rank was dropped, so that differences no longer matter.
    pub fn leave(&mut self) {
        self.has_left = true;
        self.ops.values_mut().for_each(|one| one.until_ns = None);
    }

    /// Starts a rejoin: discards all state.
    pub fn join(&mut self) {
        *self = Self { newest: None, ..Self::new(self.rank, self.wait_ns) };
    }

    /// Completes a rejoin at collective `first_op`.
    pub fn joined(&mut self, first_op: u32) {
        self.newest = Some(first_op);
        self.ops.retain(|op, _| op.wrapping_sub(first_op) <= OPS_MAX);
    }

    /// Records this rank's call of collective `op`, in which `live` take part.
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

    /// Sends this rank's call of `op` to all others, even without a doubt.
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

    /// Asks each of `peers` once for its call of `op`, because it may differ.
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

    /// Returns this rank's call of `op` and the participating ranks.
    pub fn call_of(&self, op: u32) -> Option<(&CallInfo, &[usize])> {
        self.ops.get(&op)?.own.as_ref().map(|(call, live)| (call, live.as_slice()))
    }

    /// Handles a message from rank `from`.
    pub fn handle_message(&mut self, now_ns: u64, from: usize, message: CallMessage) {
        let asks = matches!(message, CallMessage::Ask { .. });
        let (CallMessage::Ask { op, call } | CallMessage::Tell { op, call }) = message;
        let is_far = match self.newest {
            Some(newest) => op.wrapping_sub(newest.wrapping_sub(OPS_MAX)) > 2 * OPS_MAX,
            // The view is unknown, so only the number can be limited.
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

    /// Records that `rank` no longer answers.
    pub fn drop_rank(&mut self, rank: usize) {
        self.ask_from(rank, u32::MAX);
    }

    /// Records that `rank` is outside the view from collective `first_op`. Ignores its calls there.
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

    /// Records that `rank` takes part again from collective `first_op`. It cannot be asked about
    /// earlier ones.
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

    /// Returns whether `of` made the same call at `op`, or cannot be asked.
    pub fn is_confirmed(&self, op: u32, of: usize) -> bool {
        let Some(Op { own: Some((call, live)), told, .. }) = self.ops.get(&op) else { return false };
        of == self.rank || !live.contains(&of) || told.get(&of) == Some(call)
    }

    /// Returns whether all asked peers have answered and no difference is pending.
    pub fn is_settled(&self) -> bool {
        let is_answered = |one: &Op| one.asked.iter().all(|peer| one.told.contains_key(peer));
        self.ops.values().all(|one| one.until_ns.is_none() && is_answered(one))
    }

    /// Returns a confirmed difference once all other calls are known or the wait is over.
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

    /// Returns the difference in a collective for which this rank passes a wrong number of
    /// elements, by the calls that are known.
    pub fn misfit(&self, op: u32) -> Option<Mismatch> {
        let one = self.ops.get(&op)?;
        let (call, live) = one.own.as_ref()?;
        let mut calls = one.told.clone();
        calls.insert(self.rank, *call);
        judge(op, &calls, live.len())
    }

    /// Latest time at which [`mismatch`](Self::mismatch) returns a pending difference.
    pub fn next_timeout(&self) -> Option<u64> {
        self.ops.values().filter_map(|one| one.until_ns).min()
    }

    /// Returns the next message to send and its destination.
    pub fn poll(&mut self) -> Option<(usize, CallMessage)> {
        self.outgoing.pop_front()
    }

    fn compare(&mut self, now_ns: u64, op: u32) {
        let Some(one) = self.ops.get_mut(&op) else { return };
        if self.has_left || one.is_alike() {
            return;
        }
        one.until_ns.get_or_insert(now_ns.saturating_add(self.wait_ns));
        // Without a call of its own, this rank announces it later, in `called`.
        self.announce(op);
    }
}

fn judge(op: u32, calls: &BTreeMap<usize, CallInfo>, ranks: usize) -> Option<Mismatch> {
    let misfit = calls.iter().find_map(|(rank, call)| Some(Mismatch::of_length(op, *rank, call, call.misfit?)));
    if misfit.is_some() {
        return misfit;
    }
    let alike = |call: &CallInfo| -> Vec<usize> {
        calls.iter().filter(|(_, other)| *other == call).map(|(rank, _)| *rank).collect()
    };
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
