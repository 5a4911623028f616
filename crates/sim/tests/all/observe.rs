//! An observed run: its trace and its journal describe one execution.

use crate::common::without_host;
use std::collections::HashMap;
use strandline_isa::{Line, LineData, Memory, Note};
use strandline_machine::{Trace, TraceOp};
use strandline_sim::{observe, Observation, Run, Spec, Traced};

fn observed(workload: &str, design: &str) -> Observation {
    observe(&Spec {
        threads: Some(2),
        tasks: Some(60),
        ..Spec::new(workload, design)
    })
    .expect("the run ends")
}

/// All values of each line, in order, from the trace's stores on the initial memory.
fn histories(trace: &Trace, initial: &Memory) -> HashMap<Line, Vec<LineData>> {
    let memory = initial.clone();
    let mut histories: HashMap<Line, Vec<LineData>> = HashMap::new();
    for id in &trace.visible {
        let (addr, size, value) = match trace.programs[id.core.index()][id.index as usize] {
            TraceOp::Store { addr, size, value } | TraceOp::StoreNt { addr, size, value } => (addr, size, value),
            TraceOp::Rmw { addr, new, .. } => (addr, 8, new),
            other => panic!("{other:?} writes nothing"),
        };
        let line = addr.line();
        let history = histories.entry(line).or_insert_with(|| vec![memory.line(line)]);
        memory.write(addr, size, value);
        history.push(memory.line(line));
    }
    histories
}

#[test]
fn what_becomes_durable_was_visible_and_in_the_same_order_a_line() {
    for (workload, design) in [("sps", "x86"), ("tpcc", "x86"), ("cq", "eadr"), ("pc", "unordered")] {
        let run = observed(workload, design);
        let histories = histories(&run.journal.trace, &run.initial);
        let mut at: HashMap<Line, usize> = HashMap::new();
        assert!(run.journal.durable.len() >= 60, "{workload} under {design}");
        for durable in &run.journal.durable {
            let from = at.entry(durable.line).or_insert(0);
            // A flush of a line without stores changes nothing, so it has no history.
            let Some(history) = histories.get(&durable.line) else {
                assert_eq!(durable.data, run.initial.line(durable.line));
                continue;
            };
            let found = history[*from..].iter().position(|data| *data == durable.data);
            let found = found.unwrap_or_else(|| panic!("{workload} under {design}: {durable:?} was never visible"));
            *from += found;
        }
    }
}

#[test]
fn laps_of_a_spin_loop_count_as_if_each_were_executed() {
    // A trace has every op, so a traced core adds no laps. The threads share one lock, and spin for most of the run.
    let cases = [
        ("x86", "strandweaver", "undo"),
        ("x86", "strandweaver", "atlas"),
        ("strandweaver", "strandweaver", "sfr"),
        ("hops-rp", "asap", "undo"),
        ("x86", "cosplay", "undo"),
        // It asks to see loads now and then.
        ("dpo", "strandweaver", "atlas"),
    ];
    for (design, machine, runtime) in cases {
        let spec = Spec {
            runtime: Some(runtime.into()),
            threads: Some(4),
            tasks: Some(60),
            machine: Some(machine.into()),
            ..Spec::new("queue", design)
        };
        let record = |run: Result<Observation, _>| without_host(&run.expect("the run ends").record);
        assert_eq!(
            record(observe(&spec)),
            record(Run::of(&spec).observe(Traced::Nothing)),
            "{design} on {machine} with {runtime}"
        );
    }
}

#[test]
fn every_note_has_its_place_in_program_order() {
    let journal = observed("sps", "x86").journal;
    for (program, notes) in journal.trace.programs.iter().zip(&journal.notes) {
        let placed: Vec<u32> = program
            .iter()
            .filter_map(|op| match op {
                TraceOp::Note(n) => Some(*n),
                _ => None,
            })
            .collect();
        assert_eq!(placed, (0..notes.len() as u32).collect::<Vec<_>>());
        // An acknowledgement follows its fence.
        let fenced = program.iter().enumerate().all(|(i, op)| match op {
            TraceOp::Note(n) if notes[*n as usize].note == Note::RegionDurable => {
                i > 0 && matches!(program[i - 1], TraceOp::Primitive(_))
            }
            _ => true,
        });
        assert!(fenced);
    }
}
