//! Which workers have averaged with one another lately, be it by way of others.
//!
//! Why: groups of those that are ready may be the same workers again and again, whose models then drift away from all others'. The
//! workers of a group become one component (union-find); once there is only one, all are apart again. If that takes more
//! than so many groups, the next ones must bridge components, each of which leaves fewer: N - 1 at most.
//! So what a worker has learned reaches all others within (N - 1) (limit + N - 1) groups: each time that there is one
//! component, at least one worker more has got it.
//! Source: P-Reduce (SIGMOD'21), sync graph.

/// The components of the workers of a job.
#[derive(Clone, Debug)]
pub struct SyncGraph {
    parents: Vec<usize>,
    /// Groups since all were apart.
    groups: u64,
    /// Groups after which components must be bridged; `None`: never.
    limit: Option<u64>,
}

impl SyncGraph {
    /// All workers apart. `limit`: how many groups they may go on without bridges.
    pub fn new(workers: usize, limit: Option<u64>) -> Self {
        Self { parents: (0..workers).collect(), groups: 0, limit }
    }

    /// A number that workers of the same component have in common.
    pub fn component(&self, worker: usize) -> usize {
        let mut root = worker;
        while self.parents[root] != root {
            root = self.parents[root];
        }
        root
    }

    /// Takes that these workers form a group.
    pub fn unite(&mut self, group: impl IntoIterator<Item = usize>) {
        let mut group = group.into_iter();
        let Some(first) = group.next() else { return };
        let root = self.component(first);
        self.parents[first] = root;
        for worker in group {
            let other = self.component(worker);
            self.parents[other] = root;
            self.parents[worker] = root;
        }
        self.groups += 1;
    }

    /// Begins anew if these workers are one component.
    pub fn restart_if_one(&mut self, live: impl IntoIterator<Item = usize>) {
        if !self.are_several(live) {
            *self = Self::new(self.parents.len(), self.limit);
        }
    }

    /// Whether the next group must bridge components.
    pub fn must_bridge(&self) -> bool {
        self.limit.is_some_and(|limit| self.groups >= limit)
    }

    /// Whether these workers are of more than one component.
    pub fn are_several(&self, workers: impl IntoIterator<Item = usize>) -> bool {
        let mut components = workers.into_iter().map(|worker| self.component(worker));
        let first = components.next();
        components.any(|component| Some(component) != first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_that_share_a_worker_are_one_component() {
        let mut graph = SyncGraph::new(5, Some(3));
        graph.unite([0, 1]);
        graph.unite([2, 3]);
        assert!(graph.are_several([0, 2]) && !graph.are_several([0, 1]) && !graph.must_bridge());
        graph.unite([3, 1]);
        assert!(!graph.are_several([0, 1, 2, 3]) && graph.are_several(0..5) && graph.must_bridge());
        graph.restart_if_one(0..5);
        assert!(graph.must_bridge(), "4 is apart");
        graph.restart_if_one(0..4);
        assert!(!graph.must_bridge() && graph.are_several([0, 1]), "without 4, which has gone, all began anew");
        graph.unite([]);
        assert!(!graph.are_several([]) && !graph.are_several([4]));
    }
}
