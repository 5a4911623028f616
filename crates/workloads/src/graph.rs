//! `graph`: insertions and deletions of edges of a directed graph.
//!
//! Speculative Persistence (ISCA 2017), Table 1 "Graph" ("insert or delete edges in a graph"), "implemented in a
//! similar manner" to Hash-Map and Linked-List, with few nodes in an operation. The paper does not say how the graph is
//! stored, how large it is, or how edges are drawn. Here:
//!
//! - A vertex is a line with the first of its edges. Its edges are a linked list, sorted by destination, each a node of
//!   one line: next edge, destination, weight (`chain.rs`).
//! - An operation draws a vertex, then one of the vertices that it can lead to. If the edge is there, it is deleted;
//!   otherwise it is inserted. It reads the vertex and the edges before; it logs the edge or the vertex before the
//!   changed edge. There is no count of edges that it would have to log.
//! - Twice as many edges can be drawn as there are operations before the run (`keys_for`): each of 325,000 vertices
//!   can lead to the 16 that follow it. After the paper's 2,600,000 operations 1.6 million edges are there, five of a
//!   vertex. Drawn from all pairs, nearly all operations of so few would insert.

use crate::chain::{self, Chains, LARGEST, LEAST_RECORDS};
use crate::papers::SPECULATIVE;
use crate::params::param;
use crate::populate::populate;
use crate::structures::{init_ops, keys_for};
use crate::About;
use std::ops::Range;
use strandline_isa::{sites, Cpu, Image, Memory, W};
use strandline_kernel::{Param, ParamError, Params};
use strandline_runtime::{log_records, BuildPlan, Demand, Heap, LogLayout, ThreadState, Workload};

sites! {
    IS_PAST_LAST_VERTEX = 0x61fa_2d90;
}

/// The workload's description.
pub const ABOUT: About = About {
    name: "graph",
    line: "inserts and deletes edges of a graph",
    paper: "Speculative Persistence (ISCA 2017), Table 1, Graph",
    tasks: 100_000,
    params: PARAMS,
    small: &[
        ("vertices", "6"),
        ("neighbours", "5"),
        ("init_ops", "30"),
        ("log_records", "8"),
    ],
    ..SPECULATIVE
};

/// Operations before the run (Table 1).
const INIT_OPS: u64 = 2_600_000;

const NEIGHBOURS: u64 = 16;

const PARAMS: &[Param] = &[
    param("vertices", keys_for(INIT_OPS) / NEIGHBOURS, 2..=1 << 24, "vertices"),
    param(
        "neighbours",
        NEIGHBOURS,
        1..=1 << 12,
        "vertices that a vertex can have an edge to",
    ),
    init_ops(INIT_OPS),
    log_records(LEAST_RECORDS),
];

/// A directed graph.
pub struct Graph {
    /// A list for each vertex, of its edges.
    edges: Chains,
    neighbours: u64,
    init_ops: u64,
    logs: LogLayout,
}

impl Graph {
    /// A random edge: its vertex, and the destination, which is one of those that follow in a circle.
    fn draw<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>) -> (W<'c, C>, W<'c, C>) {
        let vertices = self.edges.headers.rows();
        let from = thread.random.below(vertices);
        let to = from + thread.random.below(self.neighbours) + 1;
        match to.below(vertices).branch(IS_PAST_LAST_VERTEX) {
            true => (from, to),
            false => (from, to - vertices),
        }
    }

    /// Whether an edge can be drawn.
    fn can_lead(&self, from: u64, to: u64) -> bool {
        let vertices = self.edges.headers.rows();
        to < vertices && (1..=self.neighbours).contains(&((to + vertices - from - 1) % vertices + 1))
    }
}

impl Workload for Graph {
    fn lay_out(params: &Params, plan: &BuildPlan) -> Result<(Self, Heap), ParamError> {
        let (vertices, neighbours) = (params.get("vertices"), params.get("neighbours"));
        if neighbours > vertices {
            return Err(ParamError(format!(
                "workload.neighbours={neighbours}: must be at most workload.vertices={vertices}"
            )));
        }
        let mut heap = Heap::new(plan);
        let graph = Graph {
            edges: Chains::lay_out(&mut heap, plan, vertices, neighbours),
            neighbours,
            init_ops: params.get("init_ops"),
            logs: LogLayout::allocate(&mut heap, plan.lanes(), params.get("log_records")),
        };
        Ok((graph, heap))
    }

    fn fill(&self, memory: &Memory, seed: u64) {
        self.restart(memory);
        populate(self, memory, seed, self.init_ops);
    }

    fn region(_params: &Params) -> Demand {
        LARGEST
    }

    fn task<C: Cpu>(&self, thread: &mut ThreadState<'_, C>) {
        let (from, to) = self.draw(thread);
        chain::operate(&self.edges, thread, from, to);
    }

    /// Each vertex has edges of its own, sorted, each once, with their weights, to vertices that it can lead to. Its
    /// other nodes are free.
    fn check(&self, image: &dyn Image) -> Result<(), String> {
        let leads = |from: u64, to: u64| match self.can_lead(from, to) {
            true => Ok(()),
            false => Err(format!("vertex {from} leads to {to}, which is none of its neighbours")),
        };
        chain::check(&self.edges, image, leads)
    }

    fn logs(&self) -> LogLayout {
        self.logs
    }

    fn footprint(&self) -> Vec<Range<u64>> {
        let mut ranges = self.edges.footprint();
        ranges.extend([self.logs.lists(), self.logs.range()]);
        ranges
    }

    fn restart(&self, image: &dyn Image) {
        chain::restart(&self.edges, image);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chain::node;
    use crate::testing::{built, try_built};
    use strandline_isa::Addr;

    fn degrees(graph: &Graph, image: &dyn Image) -> Vec<u64> {
        let degree = |vertex| {
            let mut edges = 0;
            let see = |_, _| {
                edges += 1;
                Ok(())
            };
            chain::walk(&graph.edges, image, vertex, see).unwrap();
            edges
        };
        (0..graph.edges.headers.rows()).map(degree).collect()
    }

    #[test]
    fn half_of_the_edges_are_there_after_many_operations() {
        let (graph, memory) = built::<Graph, _>(PARAMS, 3, &[("vertices", 256), ("init_ops", 20000)]);
        assert_eq!(graph.check(&memory), Ok(()));
        let edges: u64 = degrees(&graph, &memory).iter().sum();
        // Each of 4,096 at nearly even odds: 2,048, and a deviation of 32.
        assert!((1_850..2_250).contains(&edges), "{edges}");
    }

    #[test]
    fn edges_lead_in_a_circle() {
        let (graph, memory) = built::<Graph, _>(PARAMS, 3, &[("vertices", 4), ("neighbours", 4), ("init_ops", 0)]);
        assert!((0..4).all(|from| (0..4).all(|to| graph.can_lead(from, to))));
        assert_eq!(degrees(&graph, &memory), [0; 4]);
        let (graph, _) = built::<Graph, _>(PARAMS, 3, &[("vertices", 8), ("neighbours", 2), ("init_ops", 0)]);
        let from_seven: Vec<u64> = (0..9).filter(|to| graph.can_lead(7, *to)).collect();
        assert_eq!(from_seven, [0, 1]);
    }

    #[test]
    fn more_neighbours_than_vertices_are_refused() {
        let error = try_built::<Graph, _>(PARAMS, 3, &[("vertices", 8)])
            .err()
            .expect("refused")
            .to_string();
        assert!(error.contains("workload.neighbours=16"), "{error}");
    }

    #[test]
    fn an_edge_that_cannot_be_is_named() {
        let (graph, memory) = built::<Graph, _>(PARAMS, 3, &[("vertices", 64), ("neighbours", 4), ("init_ops", 600)]);
        let first = memory.word(graph.edges.headers.addr(9));
        let last_of_all = graph.edges.headers.rows() - 1;
        let shift = last_of_all - memory.word(Addr(first + node::KEY));
        for word in [node::KEY, node::VALUE] {
            let at = Addr(first + word);
            memory.set_word(at, memory.word(at) + shift);
        }
        memory.set_word(Addr(first + node::NEXT), 0);
        assert!(graph.check(&memory).unwrap_err().contains("none of its neighbours"));
    }
}
