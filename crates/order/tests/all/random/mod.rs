//! Random litmus tests.

use proptest::collection::vec;
use proptest::prelude::*;
use strandline_order::litmus::{
    Class, Condition, FlushKind, Formula, Hosts, Instruction, Location, LocationId, LocationKind, Operand, Quantifier,
    Register, Test,
};

/// Locations: (whether volatile, line, initial value) of those in memory, and the number of outputs.
type Memory = (Vec<(bool, usize, u8)>, usize);

fn memory() -> impl Strategy<Value = Memory> {
    (vec((any::<bool>(), 0..4usize, any::<u8>()), 1..6), 0..4usize)
}

/// The locations in a parser's order; those of a line are in the same memory.
fn locations((cells, outputs): &Memory) -> Vec<Location> {
    let same = |a: &(bool, usize, u8), b: &(bool, usize, u8)| (a.0, a.1) == (b.0, b.1);
    let mut locations: Vec<Location> = Vec::new();
    for (index, cell) in cells.iter().enumerate() {
        locations.push(Location {
            name: format!("{}{index}_x", ['a', 'e', 'n', 't', 'z'][index]),
            kind: if cell.0 {
                LocationKind::Volatile
            } else {
                LocationKind::Persistent
            },
            line: cells.iter().position(|other| same(other, cell)).unwrap_or(index),
            initial: cell.2,
        });
    }
    for index in 0..*outputs {
        locations.push(Location {
            name: format!("b{index}"),
            kind: LocationKind::Output,
            line: locations.len(),
            initial: 0,
        });
    }
    locations
}

fn register() -> impl Strategy<Value = Register> {
    (0..14u8).prop_map(Register)
}

fn operand() -> impl Strategy<Value = Operand> {
    prop_oneof![
        any::<u8>().prop_map(Operand::Number),
        register().prop_map(Operand::Register)
    ]
}

/// An instruction on one of `locations` locations in memory.
fn instruction(cells: usize) -> impl Strategy<Value = Instruction> {
    let at = || (0..cells as u8).prop_map(LocationId);
    let alone: Vec<Class> = Class::all().filter(|class| class.alone().is_some()).collect();
    let flushes = vec![FlushKind::Clwb, FlushKind::ClflushOpt, FlushKind::Clflush];
    prop_oneof![
        (register(), at(), any::<bool>())
            .prop_map(|(register, at, acquires)| Instruction::Load(register, at, acquires)),
        (at(), operand(), any::<bool>()).prop_map(|(at, value, releases)| Instruction::Store(at, value, releases)),
        (at(), operand()).prop_map(|(at, value)| Instruction::StoreNt(at, value)),
        (register(), any::<u8>()).prop_map(|(register, value)| Instruction::Set(register, value)),
        (at(), register()).prop_map(|(at, register)| Instruction::Exchange(at, register)),
        (at(), register()).prop_map(|(at, register)| Instruction::Add(at, register)),
        (at(), prop::sample::select(flushes)).prop_map(|(at, kind)| Instruction::Flush(at, kind)),
        at().prop_map(Instruction::Persist),
        any::<u8>().prop_map(Instruction::SetContext),
        any::<u8>().prop_map(Instruction::ContextFence),
        prop::sample::select(alone).prop_map(Instruction::Fence),
    ]
}

/// Instructions that belong together: a register that serves as an index is cleared before, and a jump has its label
/// below it.
fn piece(cells: usize) -> impl Strategy<Value = Vec<Instruction>> {
    let at = || (0..cells as u8).prop_map(LocationId);
    let cleared = |index: Register, then| vec![Instruction::Clear(index), then];
    prop_oneof![
        8 => instruction(cells).prop_map(|instruction| vec![instruction]),
        1 => (register(), at(), register())
            .prop_map(move |(into, at, index)| cleared(index, Instruction::LoadAt(into, at, index))),
        1 => (at(), register(), operand())
            .prop_map(move |(at, index, value)| cleared(index, Instruction::StoreAt(at, index, value))),
        // Labels have their numbers later: each is unique in its thread.
        1 => (register(), any::<u8>())
            .prop_map(|(register, value)| vec![Instruction::Compare(register, value), Instruction::Jump(0)]),
        1 => Just(vec![Instruction::Jump(0)]),
    ]
}

/// The instructions of a thread: each jump with a label of its own below it.
fn labelled(pieces: Vec<Vec<Instruction>>) -> Vec<Instruction> {
    let mut next = 0..100u8;
    let mut labelled = Vec::new();
    for instruction in pieces.into_iter().flatten() {
        match instruction {
            Instruction::Jump(_) => {
                let label = next.next().expect("few jumps");
                labelled.extend([Instruction::Jump(label), Instruction::Label(label)]);
            }
            other => labelled.push(other),
        }
    }
    labelled
}

/// A formula over these locations.
fn formula(observed: Vec<LocationId>) -> impl Strategy<Value = Formula> {
    let is = (any::<prop::sample::Index>(), any::<u8>()).prop_map(move |(index, value)| match observed.as_slice() {
        [] => Formula::True,
        some => Formula::Is(some[index.index(some.len())], value),
    });
    prop_oneof![1 => Just(Formula::True), 4 => is].prop_recursive(5, 24, 2, |inner| {
        prop_oneof![
            inner.clone().prop_map(|a| Formula::Not(Box::new(a))),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| Formula::And(Box::new(a), Box::new(b))),
            (inner.clone(), inner).prop_map(|(a, b)| Formula::Or(Box::new(a), Box::new(b))),
        ]
    })
}

/// A test with at most this many instructions, without outputs.
pub fn test(most: usize) -> impl Strategy<Value = Test> {
    let titles = prop_oneof![Just(String::new()), "[ -!#-~é]{1,30}".prop_map(|title| title)];
    let names = "[a-z0-9+.-]{1,20}";
    (memory(), names, titles, 1..4usize).prop_flat_map(move |(memory, name, title, count)| {
        let locations = locations(&memory);
        let (cells, outputs) = (memory.0.len(), memory.1);
        let threads = vec(vec(piece(cells), 0..=most / 2 / count).prop_map(labelled), count);
        let told = vec((any::<prop::sample::Index>(), operand()), outputs);
        let quantifiers = vec![Quantifier::Exists, Quantifier::NotExists, Quantifier::Forall];
        let observed = locations
            .iter()
            .enumerate()
            .filter(|(_, at)| at.kind != LocationKind::Volatile);
        let observed = observed.map(|(index, _)| LocationId(index as u8)).collect();
        (threads, told, prop::sample::select(quantifiers), formula(observed)).prop_map(
            move |(mut threads, told, quantifier, formula)| {
                // At most one instruction writes each output.
                for (index, (place, value)) in told.into_iter().enumerate() {
                    let thread = place.index(threads.len());
                    threads[thread].push(Instruction::Out(LocationId((cells + index) as u8), value));
                }
                Test {
                    name: name.clone(),
                    title: title.clone(),
                    locations: locations.clone(),
                    threads,
                    hosts: Hosts::default(),
                    condition: Condition { quantifier, formula },
                }
            },
        )
    })
}
