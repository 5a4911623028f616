//! Replays a trace: the value of each read, by nothing but the trace.

use super::programs::{initial, low, Did};
use std::cell::Cell;
use std::collections::HashMap;
use strandline_isa::{Addr, CoreId, Memory};
use strandline_machine::{Journal, OpId, Seen, Trace, TraceOp};

/// The bytes that an operation writes.
pub fn written(op: &TraceOp) -> Option<(Addr, u8, u64)> {
    match *op {
        TraceOp::Store { addr, size, value } | TraceOp::StoreNt { addr, size, value } => Some((addr, size, value)),
        TraceOp::Rmw { addr, new, .. } => Some((addr, 8, new)),
        TraceOp::Load { .. } | TraceOp::Flush { .. } | TraceOp::Primitive(_) | TraceOp::Note(_) => None,
    }
}

pub fn overlap(a: (Addr, u8), b: (Addr, u8)) -> bool {
    a.0 .0 < b.0 .0 + u64::from(b.1) && b.0 .0 < a.0 .0 + u64::from(a.1)
}

/// The operations that read, with where and what they read.
pub fn reads(trace: &Trace) -> Vec<(OpId, Addr, u8, Seen)> {
    let mut found = Vec::new();
    for (core, program) in trace.programs.iter().enumerate() {
        for (index, op) in program.iter().enumerate() {
            let id = OpId {
                core: CoreId(core as u16),
                index: index as u32,
            };
            match *op {
                TraceOp::Load { addr, size, from, .. } => found.push((id, addr, size, from)),
                TraceOp::Rmw { addr, from, .. } => found.push((id, addr, 8, from)),
                _ => {}
            }
        }
    }
    found
}

pub fn op(trace: &Trace, id: OpId) -> &TraceOp {
    &trace.programs[id.core.index()][id.index as usize]
}

pub fn apply(memory: &Memory, op: &TraceOp) {
    let (addr, size, value) = written(op).expect("only what writes becomes visible");
    memory.write(addr, size, value);
}

/// The older stores of the reader's own core that overlap what it reads, oldest first.
pub fn own_stores(trace: &Trace, id: OpId, addr: Addr, size: u8) -> Vec<OpId> {
    let older = 0..id.index;
    older
        .map(|index| OpId { core: id.core, index })
        .filter(|own| written(op(trace, *own)).is_some_and(|(at, width, _)| overlap((at, width), (addr, size))))
        .collect()
}

/// Each read's value by its definition, from nothing but the trace and the initial memory; and memory in the end.
pub fn replay(trace: &Trace) -> (HashMap<OpId, u64>, Memory) {
    let places: HashMap<OpId, usize> = trace.visible.iter().enumerate().map(|(n, id)| (*id, n)).collect();
    let mut values = HashMap::new();
    let mut by_count: HashMap<usize, Vec<(OpId, Addr, u8)>> = HashMap::new();
    for (id, addr, size, from) in reads(trace) {
        let own = own_stores(trace, id, addr, size);
        match from {
            Seen::Own(index) => {
                let store = OpId { core: id.core, index };
                assert_eq!(own.last(), Some(&store), "{id:?}: the youngest store is forwarded");
                let (at, width, value) = written(op(trace, store)).expect("a store");
                assert!(at.0 <= addr.0 && addr.0 + u64::from(size) <= at.0 + u64::from(width));
                values.insert(id, low(size, value >> (8 * (addr.0 - at.0))));
            }
            Seen::Memory(n) => {
                let seen = own.iter().all(|store| places[store] < n as usize);
                assert!(seen, "{id:?}: a core reads its own stores");
                by_count.entry(n as usize).or_default().push((id, addr, size));
            }
            Seen::Stale => panic!("{id:?}: no design of these tests reads stale lines"),
            Seen::Merged(n) => by_count.entry(n as usize).or_default().push((id, addr, size)),
        }
    }
    let memory = initial();
    for n in 0..=trace.visible.len() {
        for (id, addr, size) in by_count.remove(&n).unwrap_or_default() {
            let line = addr.line();
            let before = memory.line(line);
            for store in own_stores(trace, id, addr, size) {
                if places[&store] >= n {
                    apply(&memory, op(trace, store));
                }
            }
            values.insert(id, memory.read(addr, size));
            memory.set_line(line, &before);
        }
        if let Some(id) = trace.visible.get(n) {
            apply(&memory, op(trace, *id));
        }
    }
    assert!(by_count.is_empty(), "no read saw more than became visible");
    (values, memory)
}

/// What the trace says that the programs did.
pub fn deeds(journal: &Journal, values: &HashMap<OpId, u64>) -> Vec<Vec<Did>> {
    let told = |core: usize, index: usize, op: &TraceOp| {
        let id = OpId {
            core: CoreId(core as u16),
            index: index as u32,
        };
        match *op {
            TraceOp::Load { addr, size, .. } => Did::Load {
                addr,
                size,
                value: values[&id],
            },
            TraceOp::Store { addr, size, value } => Did::Store { addr, size, value },
            TraceOp::StoreNt { addr, size, value } => Did::StoreNt { addr, size, value },
            TraceOp::Rmw { addr, old, new, .. } => {
                assert_eq!(values[&id], old, "{id:?}");
                Did::Rmw { addr, old, new }
            }
            TraceOp::Flush { addr, kind } => Did::Flush(addr, kind),
            TraceOp::Primitive(primitive) => Did::Primitive(primitive),
            TraceOp::Note(n) => Did::Note(journal.notes[core][n as usize].note),
        }
    };
    let programs = journal.trace.programs.iter().enumerate();
    programs
        .map(|(core, program)| program.iter().enumerate().map(|(i, op)| told(core, i, op)).collect())
        .collect()
}

pub fn words(memory: &Memory) -> Vec<u64> {
    let volatile = (0..memory.dram_bytes() / 8).map(|word| memory.read(Addr(word * 8), 8));
    volatile.chain(memory.pm_words().iter().map(Cell::get)).collect()
}

/// Every store becomes visible once; those of one core in program order, or (not `in_order`) those that overlap.
pub fn check_order(trace: &Trace, in_order: bool) {
    let mut stores = 0;
    for (core, program) in trace.programs.iter().enumerate() {
        stores += program.iter().filter(|op| written(op).is_some()).count();
        let own: Vec<u32> = trace
            .visible
            .iter()
            .filter(|id| id.core.index() == core)
            .map(|id| id.index)
            .collect();
        for (n, index) in own.iter().enumerate() {
            let (addr, size, _) = written(&program[*index as usize]).expect("a store");
            for later in &own[n + 1..] {
                assert!(later != index, "once");
                let (at, width, _) = written(&program[*later as usize]).expect("a store");
                let ordered = in_order || overlap((addr, size), (at, width));
                assert!(!ordered || index < later, "core {core}: {index} before {later}");
            }
        }
    }
    assert_eq!(trace.visible.len(), stores);
}
