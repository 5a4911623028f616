//! All candidate executions of a test: reads-from relations and coherence orders.

use crate::cat::Candidate;
use crate::litmus::Test;
use crate::relation::Relation;
use crate::structure::EventKind;
use crate::unroll::Unrolled;
use crate::Fault;

/// Maximum number of enumerated candidates.
const MOST: u64 = 2_000_000;

/// A candidate execution with its values.
#[derive(Clone)]
pub struct Execution {
    /// The reads-from relation and the order of writes.
    pub candidate: Candidate,
    /// The writes to each location in coherence order.
    pub orders: Vec<Vec<usize>>,
    /// The value of each read, write and output.
    pub values: Vec<u8>,
}

/// Calls `see` with every candidate execution of a test.
///
/// # Errors
/// There are too many.
pub fn executions(test: &Test, unrolled: &Unrolled, mut see: impl FnMut(Execution)) -> Result<(), Fault> {
    let writes = unrolled.writes(test.locations.len());
    let reads = unrolled.reads();
    let sources: Vec<&Vec<usize>> = reads
        .iter()
        .map(|read| &writes[unrolled.events[*read].cell.and_then(|cell| cell.location).unwrap_or(0)])
        .collect();
    refuse_too_many(&writes, &sources)?;
    let orders: Vec<Vec<Vec<usize>>> = writes.iter().map(|writes| permutations(writes)).collect();
    let mut choice = vec![0; sources.len()];
    loop {
        let from: Vec<usize> = choice
            .iter()
            .zip(&sources)
            .map(|(choice, source)| source[*choice])
            .collect();
        if let Some(values) = values(unrolled, &reads, &from) {
            each_order(&orders, &mut Vec::new(), &mut |orders| {
                let execution = execution(unrolled.events.len(), &reads, &from, orders, &values);
                each_late(test, unrolled, execution, &mut see);
            });
        }
        if !next(&mut choice, |index| sources[index].len()) {
            return Ok(());
        }
    }
}

fn refuse_too_many(writes: &[Vec<usize>], sources: &[&Vec<usize>]) -> Result<(), Fault> {
    let orders = writes.iter().map(|writes| (1..writes.len() as u64).product::<u64>());
    let reads = sources.iter().map(|source| source.len() as u64);
    let count = orders.chain(reads).try_fold(1u64, u64::checked_mul);
    match count {
        Some(count) if count <= MOST => Ok(()),
        _ => Err(Fault::of_whole(format!(
            "more than {MOST} candidate executions: use fewer reads or writes of a location"
        ))),
    }
}

/// Advances to the next choice; false after the last.
fn next(choice: &mut [usize], count: impl Fn(usize) -> usize) -> bool {
    for (index, digit) in choice.iter_mut().enumerate() {
        *digit += 1;
        if *digit < count(index) {
            return true;
        }
        *digit = 0;
    }
    false
}

/// All orders of writes; the initial write is always first.
fn permutations(writes: &[usize]) -> Vec<Vec<usize>> {
    let Some((initial, others)) = writes.split_first() else {
        return vec![Vec::new()];
    };
    let mut orders = vec![vec![*initial]];
    for other in others {
        let longer = |order: &Vec<usize>| {
            let places = (1..=order.len()).map(|place| {
                let mut order = order.clone();
                order.insert(place, *other);
                order
            });
            places.collect::<Vec<_>>()
        };
        orders = orders.iter().flat_map(longer).collect();
    }
    orders
}

fn each_order<'o>(left: &'o [Vec<Vec<usize>>], chosen: &mut Vec<&'o [usize]>, see: &mut impl FnMut(&[&[usize]])) {
    let Some((first, rest)) = left.split_first() else {
        return see(chosen);
    };
    for order in first {
        chosen.push(order);
        each_order(rest, chosen, see);
        chosen.pop();
    }
}

/// The execution with each choice of what survivors do after the failure: reads, whose sources may be overwritten by a store
/// that is lost, or all. The later ones of a thread, since they stay in order; none if the model asks for no failure.
fn each_late(test: &Test, unrolled: &Unrolled, mut execution: Execution, see: &mut impl FnMut(Execution)) {
    let Some(failure) = unrolled.failure else {
        return see(execution);
    };
    let disputed = match unrolled.all_is_known {
        true => accesses(test, unrolled),
        false => disputed(test, unrolled, &execution),
    };
    let mut choice = vec![0; disputed.len()];
    loop {
        let mut late = Relation::empty(unrolled.events.len());
        for (steps, count) in disputed.iter().zip(&choice) {
            let after = steps.iter().rev().take(*count).flatten();
            after.for_each(|event| late.insert(failure, *event));
        }
        execution.candidate.late = late;
        see(execution.clone());
        if !next(&mut choice, |thread| disputed[thread].len() + 1) {
            return;
        }
    }
}

/// For each thread that survives, the events of each access and flush: a locked instruction has two.
fn accesses(test: &Test, unrolled: &Unrolled) -> Vec<Vec<Vec<usize>>> {
    let of_instruction = |origin: (usize, usize)| {
        let own = (0..unrolled.events.len()).filter(|event| {
            let kind = unrolled.events[*event].kind;
            unrolled.origin[*event] == Some(origin) && (kind.reads() || kind.writes())
        });
        own.collect::<Vec<_>>()
    };
    let of_thread = |thread: usize| {
        let all = (0..test.threads[thread].len()).map(|place| of_instruction((thread, place)));
        all.filter(|events| !events.is_empty()).collect()
    };
    (0..test.threads.len())
        .filter(|thread| test.hosts.survives(*thread))
        .map(of_thread)
        .collect()
}

/// For each thread that survives, its reads whose source a thread that fails overwrites.
fn disputed(test: &Test, unrolled: &Unrolled, execution: &Execution) -> Vec<Vec<Vec<usize>>> {
    let survives = |event: usize| unrolled.events[event].thread.map(|thread| test.hosts.survives(thread));
    let source = execution.candidate.rf.inverse();
    let is_disputed = |read: &usize| {
        let overwritten = source
            .after(*read)
            .flat_map(|write| execution.candidate.co.after(write));
        overwritten.into_iter().any(|write| survives(write) == Some(false))
    };
    let of_thread = |thread: usize| {
        let own = (0..unrolled.events.len()).filter(|event| {
            let event = &unrolled.events[*event];
            event.thread == Some(thread) && event.kind == EventKind::Read
        });
        own.filter(is_disputed).map(|read| vec![read]).collect()
    };
    (0..test.threads.len())
        .filter(|thread| test.hosts.survives(*thread))
        .map(of_thread)
        .collect()
}

fn execution(size: usize, reads: &[usize], from: &[usize], orders: &[&[usize]], values: &[u8]) -> Execution {
    let mut rf = Relation::empty(size);
    reads
        .iter()
        .zip(from)
        .for_each(|(read, write)| rf.insert(*write, *read));
    let mut co = Relation::empty(size);
    for order in orders {
        for (index, write) in order.iter().enumerate() {
            order[index + 1..].iter().for_each(|later| co.insert(*write, *later));
        }
    }
    Execution {
        candidate: Candidate {
            rf,
            co,
            late: Relation::empty(size),
        },
        orders: orders.iter().map(|order| order.to_vec()).collect(),
        values: values.to_vec(),
    }
}

/// The events' values for this reads-from relation; `None` if a value depends on itself.
fn values(unrolled: &Unrolled, reads: &[usize], from: &[usize]) -> Option<Vec<u8>> {
    let size = unrolled.events.len();
    let mut source = vec![None; size];
    reads
        .iter()
        .zip(from)
        .for_each(|(read, write)| source[*read] = Some(*write));
    let mut values = vec![None; size];
    // Each round determines at least one more value, or there is a cycle.
    let mut left: Vec<usize> = (0..size).collect();
    while !left.is_empty() {
        let before = left.len();
        left.retain(|event| {
            let value = match source[*event] {
                Some(write) => values[write],
                None => unrolled.written[*event].value(&values),
            };
            values[*event] = value;
            value.is_none()
        });
        if left.len() == before {
            return None;
        }
    }
    Some(values.into_iter().flatten().collect())
}

impl crate::unroll::Sum {
    fn value(&self, values: &[Option<u8>]) -> Option<u8> {
        self.reads
            .iter()
            .try_fold(self.number, |sum, read| Some(sum.wrapping_add(values[*read]?)))
    }
}
