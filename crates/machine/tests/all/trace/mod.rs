//! The trace against what random programs on random machines know of themselves.

pub mod checker;
pub mod programs;
mod reserve;

use crate::common::{random_machine, Attentive};
use checker::{check_order, deeds, op, overlap, reads, replay, words, written};
use programs::{run_under, Did, Ran};
use proptest::prelude::*;
use std::collections::HashMap;
use std::sync::Arc;
use strandline_design::{boxed, Place, Wants};
use strandline_isa::{Addr, CoreId, LINE_BYTES};
use strandline_kernel::Rng;
use strandline_machine::{MachineConfig, OpId, Seen, Trace, TraceOp, Traces, VolatileLines};

/// A run under a design that answers as the plain machine, asked everywhere or nowhere.
fn run(seed: u64, cores: u64, length: u64, trace: Traces) -> Ran {
    let mut rng = Rng::new(seed);
    let machine: MachineConfig = random_machine(&mut rng);
    let everywhere = rng.one_in(3);
    let saves = rng.one_in(3).then_some(Place::Private);
    let design = Attentive {
        skips: !everywhere,
        wants: Wants {
            saves,
            snoops_all: everywhere,
            ..Wants::default()
        },
    };
    run_under(&machine, boxed(design), rng, (seed, cores, length), trace)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn replaying_gives_what_the_programs_did_and_the_final_memory(seed: u64, cores in 1u64..5, length in 1u64..120) {
        let ran = run(seed, cores, length, Traces::Everything);
        let (values, memory) = replay(&ran.journal.trace);
        prop_assert_eq!(deeds(&ran.journal, &values), ran.deeds);
        prop_assert!(words(&memory) == words(&ran.memory), "memory in the end");
    }

    #[test]
    fn every_store_becomes_visible_once_and_in_the_order_that_the_machine_keeps(seed: u64, cores in 1u64..5, length in 1u64..120) {
        let ran = run(seed, cores, length, Traces::Everything);
        check_order(&ran.journal.trace, ran.in_order);
    }

    #[test]
    fn a_core_sees_memory_grow_and_a_locked_instruction_sees_what_is_just_before_it(seed: u64, cores in 1u64..5, length in 1u64..120) {
        let trace = run(seed, cores, length, Traces::Everything).journal.trace;
        let mut before: HashMap<CoreId, u32> = HashMap::new();
        for (id, _, _, from) in reads(&trace) {
            let (Seen::Memory(n) | Seen::Merged(n)) = from else { continue };
            let older = before.insert(id.core, n).unwrap_or(0);
            prop_assert!(older <= n, "{id:?}");
            if let TraceOp::Rmw { .. } = op(&trace, id) {
                prop_assert_eq!(trace.visible[n as usize], id);
            }
        }
    }

    #[test]
    fn tracing_changes_nothing(seed: u64, cores in 1u64..5, length in 1u64..120) {
        let (with, without) = (run(seed, cores, length, Traces::Everything), run(seed, cores, length, Traces::Nothing));
        prop_assert_eq!(format!("{:?}", with.stats), format!("{:?}", without.stats));
        prop_assert_eq!(&with.journal.durable, &without.journal.durable);
        prop_assert_eq!(&with.journal.notes, &without.journal.notes);
        prop_assert_eq!(with.deeds, without.deeds);
        prop_assert_eq!(without.journal.trace, Trace::default());
    }

    #[test]
    fn a_trace_without_some_volatile_lines_has_the_rest_of_the_whole_one(seed: u64, cores in 1u64..5, length in 1u64..120) {
        let whole = run(seed, cores, length, Traces::Everything).journal.trace;
        let mut lines = VolatileLines::default();
        let places = whole.programs.iter().flatten().filter_map(|op| match op {
            TraceOp::Load { addr, .. } | TraceOp::Store { addr, .. } | TraceOp::StoreNt { addr, .. } => Some(*addr),
            _ => None,
        });
        let some = |addr: &Addr| !addr.is_persistent() && ((addr.0 / LINE_BYTES) ^ seed) % 2 == 0;
        places.filter(some).for_each(|addr| lines.add(addr));
        let part = run(seed, cores, length, Traces::Shared(Arc::new(lines.clone()))).journal.trace;
        let kept = |op: &&TraceOp| match op {
            TraceOp::Load { addr, .. } | TraceOp::Store { addr, .. } | TraceOp::StoreNt { addr, .. } => {
                addr.is_persistent() || lines.contains(*addr)
            }
            _ => true,
        };
        // The places in the trace from which loads have their values are others.
        let without_source = |op: &TraceOp| match *op {
            TraceOp::Load { addr, size, value, .. } => TraceOp::Load { addr, size, value, from: Seen::Stale },
            TraceOp::Rmw { addr, old, new, .. } => TraceOp::Rmw { addr, old, new, from: Seen::Stale },
            op => op,
        };
        for (whole, part) in whole.programs.iter().zip(&part.programs) {
            let rest: Vec<TraceOp> = whole.iter().filter(kept).map(without_source).collect();
            let found: Vec<TraceOp> = part.iter().map(without_source).collect();
            prop_assert_eq!(rest, found);
        }
        let visible = |trace: &Trace| -> Vec<TraceOp> {
            let ops = trace.visible.iter().map(|id| without_source(op(trace, *id)));
            ops.filter(|op| kept(&op)).collect()
        };
        prop_assert_eq!(visible(&whole), visible(&part));
    }
}

#[test]
fn the_same_seed_gives_the_same_trace() {
    for seed in 0..20 {
        let trace = |seed| run(seed, 3, 80, Traces::Everything).journal.trace;
        assert_eq!(trace(seed), trace(seed));
    }
}

/// The tests above would pass for want of cases if the programs met none of these.
#[test]
fn random_programs_forward_merge_reorder_and_read_each_other() {
    let (mut own, mut merged, mut foreign, mut reordered, mut failed) = (0, 0, 0, 0, 0);
    for seed in 0..60 {
        let ran = run(seed, 3, 100, Traces::Everything);
        let trace = &ran.journal.trace;
        for (id, addr, size, from) in reads(trace) {
            match from {
                Seen::Own(_) => own += 1,
                Seen::Merged(_) => merged += 1,
                Seen::Stale => panic!("{id:?}: no design of these tests reads stale lines"),
                Seen::Memory(n) => {
                    let writers = trace.visible[..n as usize].iter().rev();
                    let writer = |w: &&OpId| {
                        written(op(trace, **w)).is_some_and(|(at, width, _)| overlap((at, width), (addr, size)))
                    };
                    foreign += usize::from(writers.copied().find(|w| writer(&w)).is_some_and(|w| w.core != id.core));
                }
            }
        }
        for core in (0..3).map(CoreId) {
            let own: Vec<u32> = trace
                .visible
                .iter()
                .filter(|v| v.core == core)
                .map(|v| v.index)
                .collect();
            reordered += own.windows(2).filter(|w| w[0] > w[1]).count();
        }
        let deeds = ran.deeds.iter().flatten();
        failed += deeds
            .filter(|d| matches!(d, Did::Rmw { old, new, .. } if old == new))
            .count();
    }
    let met = [own, merged, foreign, reordered, failed];
    assert!(met.iter().all(|n| *n >= 20), "{met:?}");
}
