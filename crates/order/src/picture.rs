//! Draws an execution of a test as a graph: one that results in a state, or the reason why it is forbidden.

use crate::cat::Evaluator;
use crate::execution::{executions, Execution};
use crate::litmus::Test;
use crate::model::Model;
use crate::relation::Relation;
use crate::states::{each_cut, moments, Persists};
use crate::structure::EventKind;
use crate::unroll::Unrolled;
use crate::Fault;
use std::fmt::Write;
use std::ops::ControlFlow;

/// A graph in Graphviz's language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// The graph.
    pub dot: String,
    /// Whether the model allows the state.
    pub allowed: bool,
}

/// Maximum number of persistent events for which all sets are tried.
const MOST_PERSISTS: usize = 20;

/// Draws an execution of the model with a crash that results in the state; durable events are filled. If the model
/// forbids the state, draws the closest execution and set of durable events, with the edges that forbid them.
///
/// # Errors
/// No execution of the model writes these values, or the test has too many executions.
pub fn picture(test: &Test, model: &Model, state: &[u8]) -> Result<Picture, Fault> {
    let mut best: Option<(u32, String)> = None;
    for moment in &moments(test, model.wanted())? {
        draw_nearer(moment, model, state, &mut best)?;
    }
    match best {
        Some((broken, dot)) => Ok(Picture {
            dot,
            allowed: broken == 0,
        }),
        None => {
            let shown = test.show_state(state);
            let message = format!(
                "state {shown}: no execution of model {} writes these values",
                model.name()
            );
            Err(Fault::of_whole(message))
        }
    }
}

/// Draws an execution that breaks fewer edges than the best one so far.
fn draw_nearer(test: &Test, model: &Model, state: &[u8], best: &mut Option<(u32, String)>) -> Result<(), Fault> {
    let unrolled = Unrolled::of(test, model.wanted());
    let persists = Persists::of(test, &unrolled);
    let mut evaluator = Evaluator::new(model.program(), &unrolled.structure);
    executions(test, &unrolled, |execution| {
        if best.as_ref().is_some_and(|(broken, _)| *broken == 0) {
            return;
        }
        let Some(verdict) = evaluator.verdict(&execution.candidate) else {
            return;
        };
        let order = persists.order(&verdict.pmo);
        let mut cut = None;
        _ = each_cut(&order, persists.certain, persists.never, &mut |bits| {
            if persists.state(&execution, bits) == state {
                cut = Some((0, bits));
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        });
        let nearest = cut.or_else(|| nearest(&persists, &execution, &order, state));
        if let Some((broken, cut)) = nearest.filter(|(broken, _)| best.as_ref().is_none_or(|(least, _)| broken < least))
        {
            let drawn = Drawn { cut, execution, order };
            *best = Some((broken, drawn.dot(test, &unrolled, &persists)));
        }
    })
}

/// The set of durable events that results in the state and violates the fewest pairs of the order.
fn nearest(persists: &Persists, execution: &Execution, order: &[u64], state: &[u8]) -> Option<(u32, u64)> {
    if order.len() > MOST_PERSISTS {
        return None;
    }
    let whole = |cut: &u64| cut & persists.certain == persists.certain && cut & persists.never == 0;
    let leaves = (0..1u64 << order.len()).filter(|cut| whole(cut) && persists.state(execution, *cut) == state);
    let broken = |cut: u64| {
        order
            .iter()
            .enumerate()
            .filter(|(bit, _)| cut >> bit & 1 == 1)
            .map(|(_, before)| (before & !cut).count_ones())
            .sum()
    };
    leaves.map(|cut| (broken(cut), cut)).min()
}

struct Drawn {
    cut: u64,
    execution: Execution,
    order: Vec<u64>,
}

impl Drawn {
    fn dot(&self, test: &Test, unrolled: &Unrolled, persists: &Persists) -> String {
        let mut dot = String::from(
            "digraph execution {\n  rankdir=TB;\n  node [shape=box, fontname=\"monospace\", style=\"\"];\n",
        );
        self.initial(&mut dot, test, unrolled);
        for thread in 0..test.threads.len() {
            _ = writeln!(
                dot,
                "  subgraph cluster_{thread} {{\n    label=\"{}\"; color=gray;",
                test.thread_name(thread)
            );
            let mut last = None;
            for (event, origin) in unrolled.origin.iter().enumerate() {
                let Some((own, index)) = origin.filter(|(own, _)| *own == thread) else {
                    continue;
                };
                let text = test.show(test.threads[own][index]);
                let said = self.execution.values[event];
                let value = match unrolled.events[event].kind {
                    EventKind::Read => format!("  reads {said}"),
                    EventKind::Finds => format!("  finds {said}"),
                    EventKind::Write | EventKind::Output => format!("  writes {said}"),
                    EventKind::RestRead => format!("  has {said} in the rest"),
                    EventKind::RestWrite => format!("  keeps {said} in the rest"),
                    EventKind::End | EventKind::Failure | EventKind::Other => String::new(),
                };
                let fill = if persists.has(self.cut, event) {
                    ", style=filled, fillcolor=lightblue"
                } else {
                    ""
                };
                _ = writeln!(dot, "    e{event} [label=\"{text}{value}\"{fill}];");
                if let Some(last) = last.replace(event) {
                    _ = writeln!(
                        dot,
                        "    e{last} -> e{event} [label=\"po\", color=gray, fontcolor=gray];"
                    );
                }
            }
            dot.push_str("  }\n");
        }
        if let Some(failure) = unrolled.failure {
            _ = writeln!(dot, "  e{failure} [label=\"hosts fail\", style=dashed];");
        }
        for (failure, read) in self.execution.candidate.late.pairs() {
            _ = writeln!(
                dot,
                "  e{failure} -> e{read} [label=\"late\", color=gray, constraint=false];"
            );
        }
        self.edges(&mut dot, unrolled, persists);
        dot.push_str("}\n");
        dot
    }

    /// The initial writes that some read reads from.
    fn initial(&self, dot: &mut String, test: &Test, unrolled: &Unrolled) {
        for (event, about) in unrolled
            .events
            .iter()
            .enumerate()
            .filter(|(_, about)| about.thread.is_none())
        {
            let location = about.cell.and_then(|cell| cell.location);
            if let Some(location) = location.filter(|_| self.execution.candidate.rf.after(event).next().is_some()) {
                let name = &test.locations[location].name;
                let value = self.execution.values[event];
                _ = writeln!(dot, "  e{event} [label=\"{name}={value} at first\", style=dashed];");
            }
        }
    }

    fn edges(&self, dot: &mut String, unrolled: &Unrolled, persists: &Persists) {
        for (write, read) in self.execution.candidate.rf.pairs() {
            _ = writeln!(
                dot,
                "  e{write} -> e{read} [label=\"rf\", color=red, fontcolor=red, constraint=false];"
            );
        }
        for order in &self.execution.orders {
            let own: Vec<usize> = order
                .iter()
                .copied()
                .filter(|write| unrolled.events[*write].thread.is_some())
                .collect();
            for pair in own.windows(2) {
                _ = writeln!(
                    dot,
                    "  e{} -> e{} [label=\"co\", color=brown, fontcolor=brown, constraint=false];",
                    pair[0], pair[1]
                );
            }
        }
        for (first, second) in self.direct(persists).pairs() {
            let broken = persists.has(self.cut, second) && !persists.has(self.cut, first);
            let style = if broken {
                "label=\"pmo: forbids\", color=red, fontcolor=red, penwidth=2.5"
            } else {
                "label=\"pmo\", color=blue, fontcolor=blue"
            };
            _ = writeln!(dot, "  e{first} -> e{second} [{style}, constraint=false];");
        }
    }

    /// The transitive reduction of the persist order.
    fn direct(&self, persists: &Persists) -> Relation {
        let size = self.execution.values.len();
        let mut all = Relation::empty(size);
        for (later, before) in self.order.iter().enumerate() {
            let bits = (0..self.order.len()).filter(|bit| before >> bit & 1 == 1 && *bit != later);
            bits.for_each(|bit| all.insert(persists.events[bit], persists.events[later]));
        }
        let longer = all.then(&all);
        all.minus(&longer)
    }
}
