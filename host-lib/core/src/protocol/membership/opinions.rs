//! Suspicions and requests that the ranks of the newest view have sent.
//!
//! All ranks receive them, so that any can coordinate. Running counts keep the cost of a message
//! independent of the number of ranks.

use std::collections::BTreeMap;

use super::super::types::Ranks;
use super::view::{ENCODED_BOUNDS, Request, View};

#[derive(Clone, Debug)]
pub(super) struct Suspicions {
    /// By suspecting rank, without empty sets.
    of: BTreeMap<usize, Ranks>,
    /// Number of ranks that suspect each rank, and the suspected ranks.
    count: Vec<u32>,
    any: Ranks,
}

impl Suspicions {
    pub fn new(ranks: usize) -> Self {
        let none = Ranks::none(ranks);
        Self { of: BTreeMap::new(), count: vec![0; ranks], any: none }
    }

    pub fn clear(&mut self) {
        if !self.any.is_empty() {
            *self = Self::new(self.count.len());
        }
    }

    pub fn are(&self, by: usize, suspects: &Ranks) -> bool {
        self.of.get(&by).map_or(suspects.is_empty(), |said| said == suspects)
    }

    pub fn set(&mut self, by: usize, suspects: Ranks) {
        for rank in self.of.remove(&by).iter().flat_map(Ranks::iter) {
            self.count[rank] -= 1;
            if self.count[rank] == 0 {
                self.any.remove(rank);
            }
        }
        for rank in suspects.iter() {
            self.count[rank] += 1;
            self.any.insert(rank);
        }
        if !suspects.is_empty() {
            self.of.insert(by, suspects);
        }
    }

    pub fn by_quorums_of(&self, view: &View) -> impl Iterator<Item = usize> {
        let of_lowest = view.live().next().and_then(|lowest| self.of.get(&lowest));
        self.any.iter().filter(move |rank| {
            let has_lowest = of_lowest.is_some_and(|suspects| suspects.contains(*rank));
            view.is_quorum_of(self.count[*rank] as usize, has_lowest)
        })
    }
}

#[derive(Clone, Debug)]
pub(super) struct Requests {
    of: Vec<Request>,
    /// Numbers of requests for a bound, either transform setting, the transform, the fallback.
    bounds: usize,
    either: usize,
    on: usize,
    fallback: usize,
}

impl Requests {
    pub fn new(ranks: usize) -> Self {
        Self { of: vec![Request::default(); ranks], bounds: 0, either: 0, on: 0, fallback: 0 }
    }

    /// Replaces the request of `from`. The transform and the fallback cannot be withdrawn.
    pub fn set(&mut self, from: usize, request: Request) {
        let before = self.of[from];
        let hadamard = request.hadamard.max(before.hadamard.filter(|on| *on));
        let request = Request { hadamard, fallback: request.fallback || before.fallback, ..request };
        let count = |of: fn(&Request) -> bool, sum: usize| sum + usize::from(of(&request)) - usize::from(of(&before));
        self.bounds = count(|one| one.bound_ns.is_some(), self.bounds);
        self.either = count(|one| one.hadamard.is_some(), self.either);
        self.on = count(|one| one.hadamard == Some(true), self.on);
        self.fallback = count(|one| one.fallback, self.fallback);
        self.of[from] = request;
    }

    /// `busy_ns`: bound up to which one request lengthens it.
    pub fn together(&self, view: &View, busy_ns: u64) -> Request {
        let (ranks, present_ns) = (view.ranks.len(), view.settings.bound_ns);
        let enough = self.bounds >= ranks.saturating_sub(1).max(ranks.min(2));
        let bound_ns = enough.then(|| self.second_largest_bound(view)).flatten();
        let is_busy = self.bounds > 0 && present_ns < busy_ns;
        let longest = || view.live().filter_map(|rank| self.of[rank].bound_ns).max().map(|ns| ns.min(busy_ns));
        let bound_ns = bound_ns.max(is_busy.then(longest).flatten().filter(|ns| *ns > present_ns));
        let bound_ns = if self.on > 0 { bound_ns.max(self.bound_of_transform(view)) } else { bound_ns };
        let hadamard = if self.on > 0 { Some(true) } else { (self.either == ranks).then_some(false) };
        Request { hadamard, bound_ns, fallback: self.fallback > 0 }
    }

    /// Largest bound requested with the transform.
    fn bound_of_transform(&self, view: &View) -> Option<u64> {
        let of = view.live().map(|rank| &self.of[rank]).filter(|one| one.hadamard == Some(true));
        of.filter_map(|one| one.bound_ns).max().map(|ns| ns.min(view.settings.bound_ns.saturating_mul(ENCODED_BOUNDS)))
    }

    fn second_largest_bound(&self, view: &View) -> Option<u64> {
        let mut bounds_ns: Vec<u64> = view.live().filter_map(|rank| self.of[rank].bound_ns).collect();
        bounds_ns.sort_unstable_by_key(|bound_ns| core::cmp::Reverse(*bound_ns));
        bounds_ns.get(usize::from(bounds_ns.len() > 2)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::super::view::Settings;
    use super::*;
    use optireduce_contract::signs::splitmix64;

    const RANKS: usize = 70;

    #[test]
    fn counts_are_those_of_what_was_said_last() {
        let settings = Settings::first(3);
        for seed in 0..50_u64 {
            let live: Vec<usize> = (0..RANKS).filter(|rank| splitmix64(seed << 8 | *rank as u64) % 5 < 2).collect();
            let view = View::first(Ranks::none(RANKS).with(live.iter().copied()), settings);
            let (mut suspicions, mut said) = (Suspicions::new(RANKS), vec![Ranks::none(RANKS); RANKS]);
            let (mut requests, mut requested) = (Requests::new(RANKS), vec![Request::default(); RANKS]);
            let mut drawn = seed << 32;
            let mut draw = |below: u64| {
                drawn += 1;
                splitmix64(drawn) % below
            };
            for step in 0..400 {
                let by = live[draw(live.len() as u64) as usize];
                // Few ranks, so that quorums suspect some of them.
                let suspects = live.iter().copied().filter(|rank| *rank != by && *rank % 7 == 0 && draw(3) > 0);
                let suspects = Ranks::none(RANKS).with(suspects);
                (said[by], _) = (suspects.clone(), suspicions.set(by, suspects));
                let is_by_quorum = |rank: &usize| {
                    let by = live.iter().copied().filter(|by| said[*by].contains(*rank));
                    view.is_quorum(&Ranks::none(RANKS).with(by))
                };
                let expected: Vec<usize> = (0..RANKS).filter(is_by_quorum).collect();
                let found: Vec<usize> = suspicions.by_quorums_of(&view).collect();
                assert_eq!(found, expected, "seed {seed}, step {step}");
                let hadamard = [None, Some(false), Some(false), Some(step % 100 == 99)][draw(4) as usize];
                let (bound_ns, fallback) = ((draw(200) > 0).then(|| 1 + draw(9)), draw(1000) == 0);
                requests.set(by, Request { hadamard, bound_ns, fallback });
                let before = requested[by];
                let (hadamard, fallback) =
                    (hadamard.max(before.hadamard.filter(|on| *on)), fallback || before.fallback);
                requested[by] = Request { hadamard, bound_ns, fallback };
                for busy_ns in [0, 3, 5] {
                    let expected = together(&requested, &live, 3, busy_ns);
                    assert_eq!(requests.together(&view, busy_ns), expected, "seed {seed}, step {step}");
                }
            }
            suspicions.clear();
            assert_eq!(suspicions.by_quorums_of(&view).count(), 0);
        }
    }

    /// The rules of the module, without counts.
    fn together(requested: &[Request], live: &[usize], present_ns: u64, busy_ns: u64) -> Request {
        let of = || live.iter().map(|rank| requested[*rank]);
        let of_one = of().filter_map(|one| one.bound_ns).map(|ns| ns.min(busy_ns)).filter(|ns| *ns > present_ns).max();
        let mut bounds_ns: Vec<u64> = of().filter_map(|one| one.bound_ns).collect();
        bounds_ns.sort_unstable();
        bounds_ns.reverse();
        let enough = bounds_ns.len() >= 2.min(live.len()) && bounds_ns.len() + 1 >= live.len();
        let bound_ns = bounds_ns.get(usize::from(bounds_ns.len() > 2)).copied().filter(|_| enough).max(of_one);
        let with_transform = of().filter(|one| one.hadamard == Some(true)).filter_map(|one| one.bound_ns).max();
        let bound_ns = bound_ns.max(with_transform.map(|ns| ns.min(2 * present_ns)));
        let hadamard = if of().any(|one| one.hadamard == Some(true)) {
            Some(true)
        } else {
            of().all(|one| one.hadamard.is_some()).then_some(false)
        };
        Request { hadamard, bound_ns, fallback: of().any(|one| one.fallback) }
    }
}
