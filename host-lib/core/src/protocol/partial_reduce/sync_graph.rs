//! Sync graph: workers that have recently averaged with one another, directly or through others.
//!
//! Why: if the same workers form groups again and again, their models drift away from the rest. The
//! workers of a group become one component (union-find). Once a single component remains, the graph
//! restarts. If that takes `limit` groups, each further group must bridge components. An update
//! thus reaches all N workers within (N - 1) (limit + N - 1) groups. Source: P-Reduce (SIGMOD'21).

/// The components of the workers of a job.
#[derive(Clone, Debug)]
pub struct SyncGraph {
    parents: Vec<usize>,
    /// Groups since the last restart.
    groups: u64,
    limit: Option<u64>,
}

impl SyncGraph {
    /// Creates a graph with all workers apart.
    pub fn new(workers: usize, limit: Option<u64>) -> Self {
        Self { parents: (0..workers).collect(), groups: 0, limit }
    }

    /// Identifier of the worker's component.
    pub fn component(&self, worker: usize) -> usize {
        let mut root = worker;
        while self.parents[root] != root {
            root = self.parents[root];
        }
        root
    }

    /// Records a group.
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

    /// Restarts if these workers are one component.
    pub fn restart_if_one(&mut self, live: impl IntoIterator<Item = usize>) {
        if !self.are_several(live) {
            *self = Self::new(self.parents.len(), self.limit);
        }
    }

    /// Returns whether the next group must bridge components.
    pub fn must_bridge(&self) -> bool {
        self.limit.is_some_and(|limit| self.groups >= limit)
    }

    /// Returns whether these workers belong to more than one component.
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
        assert!(!graph.must_bridge() && graph.are_several([0, 1]), "the graph restarted without 4, which has left");
        graph.unite([]);
        assert!(!graph.are_several([]) && !graph.are_several([4]));
    }
}
