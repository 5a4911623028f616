//! CXL0 step by step, without relations: each host has a cache, and owns what is in its memory. What no host owns is a device's,
//! which has a cache of its own. A thread's instructions follow one another; values move from cache to cache to memory at any time.

use super::leaves;
use std::collections::BTreeSet;
use strandline_order::litmus::{Class, Instruction, LocationId, LocationKind, Operand};
use strandline_order::Test;

/// Maximum number of locations, and of caches: those of the hosts, and the device's.
const CELLS: usize = 10;
const CACHES: usize = 5;
const DEVICE: usize = CACHES - 1;

/// What a wrong machine does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// A store of a host leaves the others' copies.
    KeepsCopies,
    /// A store that takes another cache's copy writes that back first.
    WritesBack,
    /// `RSTORE` goes no farther than `LSTORE`.
    RstoreIsLocal,
    /// `MSTORE` goes no farther than `RSTORE`.
    MstoreIsCached,
    /// `LFLUSH` waits for nothing.
    LflushIsNone,
    /// `LFLUSH` waits until the value is in memory.
    LflushReaches,
    /// `RFLUSH` waits for the host's own cache only.
    RflushIsLocal,
    /// A load leaves no copy.
    LoadsLeaveNone,
    /// The owner's cache outlives the owner.
    OwnerKeeps,
}

impl Wrong {
    pub const ALL: [Wrong; 9] = [
        Wrong::KeepsCopies,
        Wrong::WritesBack,
        Wrong::RstoreIsLocal,
        Wrong::MstoreIsCached,
        Wrong::LflushIsNone,
        Wrong::LflushReaches,
        Wrong::RflushIsLocal,
        Wrong::LoadsLeaveNone,
        Wrong::OwnerKeeps,
    ];
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Moment {
    /// The next instruction of each thread.
    next: Vec<usize>,
    registers: Vec<[u8; 14]>,
    caches: [[Option<u8>; CELLS]; CACHES],
    /// What memory has, or the outside world was told.
    memory: [u8; CELLS],
    failed: bool,
}

/// A test on the machine.
pub struct Places<'t> {
    pub test: &'t Test,
    pub wrong: Option<Wrong>,
}

impl Places<'_> {
    /// The states that a failure may leave; none if that takes more than `most` moments.
    pub fn states(&self, most: usize) -> Option<BTreeSet<Vec<u8>>> {
        let test = self.test;
        let mut memory = [0; CELLS];
        (0..test.locations.len()).for_each(|at| memory[at] = test.locations[at].initial);
        let start = Moment {
            next: vec![0; test.threads.len()],
            registers: vec![[0; 14]; test.threads.len()],
            caches: [[None; CELLS]; CACHES],
            memory,
            failed: false,
        };
        let left = |moment: &Moment| {
            let observed = test.observed().into_iter().map(|id| self.found(moment, id));
            self.is_over(moment).then(|| observed.collect())
        };
        leaves(start, most, |moment| self.next(moment), left)
    }

    /// Whether hosts have failed and the others are at their ends, or power fails now.
    fn is_over(&self, moment: &Moment) -> bool {
        let survivors = (0..moment.next.len()).filter(|thread| self.test.hosts.survives(*thread));
        let mut survivors = survivors.map(|thread| moment.next[thread] == self.test.threads[thread].len());
        survivors.all(|is_done| is_done) && (moment.failed || self.test.hosts.fail_alone().is_none())
    }

    /// What is left of a location: what a load finds, or only memory if all caches are lost.
    fn found(&self, moment: &Moment, id: LocationId) -> u8 {
        let at = usize::from(id.0);
        let has_caches = moment.failed && self.test.location(id).kind == LocationKind::Persistent;
        let cached = moment.caches.iter().find_map(|cache| cache[at]);
        cached.filter(|_| has_caches).unwrap_or(moment.memory[at])
    }

    fn host(&self, thread: usize) -> usize {
        usize::from(self.test.hosts.of_threads[thread])
    }

    fn owner(&self, at: usize) -> usize {
        self.test.hosts.owner(LocationId(at as u8)).map_or(DEVICE, usize::from)
    }

    fn is(&self, wrong: Wrong) -> bool {
        self.wrong == Some(wrong)
    }

    fn next(&self, moment: &Moment) -> Vec<Moment> {
        let mut next = Vec::new();
        let acts = |thread: &usize| !moment.failed || self.test.hosts.survives(*thread);
        for thread in (0..self.test.threads.len()).filter(acts) {
            let instruction = self.test.threads[thread].get(moment.next[thread]);
            next.extend(instruction.and_then(|instruction| self.perform(moment, thread, *instruction)));
        }
        for cache in 0..CACHES {
            for at in (0..CELLS).filter(|at| moment.caches[cache][*at].is_some()) {
                let mut moved = moment.clone();
                let value = moved.caches[cache][at].take();
                match cache == self.owner(at) {
                    true => moved.memory[at] = value.unwrap_or_default(),
                    false => moved.caches[self.owner(at)][at] = value,
                }
                next.push(moved);
            }
        }
        if let (Some(fail), false) = (self.test.hosts.fail_alone(), moment.failed) {
            let mut failed = moment.clone();
            failed.failed = true;
            for host in fail.iter().map(|host| usize::from(*host)) {
                let keeps = |at: &usize| self.is(Wrong::OwnerKeeps) && self.owner(*at) == host;
                (0..CELLS)
                    .filter(|at| !keeps(at))
                    .for_each(|at| failed.caches[host][at] = None);
            }
            next.push(failed);
        }
        next
    }

    /// What an instruction does; none if it waits.
    fn perform(&self, moment: &Moment, thread: usize, instruction: Instruction) -> Option<Moment> {
        let mut next = moment.clone();
        next.next[thread] += 1;
        let host = self.host(thread);
        let registers = moment.registers[thread];
        let value = |operand| match operand {
            Operand::Number(number) => number,
            Operand::Register(register) => registers[usize::from(register.0)],
        };
        let own = &mut next.registers[thread];
        match instruction {
            Instruction::Set(register, number) => own[usize::from(register.0)] = number,
            Instruction::Load(register, id, _) => {
                own[usize::from(register.0)] = self.load(&mut next.caches, moment, host, id);
            }
            Instruction::Exchange(id, register) | Instruction::Add(id, register) => {
                let old = self.load(&mut next.caches, moment, host, id);
                let given = std::mem::replace(&mut own[usize::from(register.0)], old);
                let adds = matches!(instruction, Instruction::Add(..));
                let new = if adds { given.wrapping_add(old) } else { given };
                self.store(&mut next, Class::Lstore, host, id, new);
            }
            Instruction::StoreTo(id, operand, class) => self.store(&mut next, class, host, id, value(operand)),
            Instruction::FlushTo(id, class) => {
                let has = |cache: usize| moment.caches[cache][usize::from(id.0)].is_some();
                let waits = match class {
                    Class::Lflush if self.is(Wrong::LflushIsNone) => false,
                    Class::Lflush if !self.is(Wrong::LflushReaches) => has(host),
                    Class::Rflush if self.is(Wrong::RflushIsLocal) => has(host),
                    _ => (0..CACHES).any(has),
                };
                return (!waits).then_some(next);
            }
            Instruction::Out(id, operand) => next.memory[usize::from(id.0)] = value(operand),
            other => panic!("{other:?}: of another machine"),
        }
        Some(next)
    }

    /// Any cache's copy, of which the host gets one, or else what memory has.
    fn load(&self, caches: &mut [[Option<u8>; CELLS]; CACHES], moment: &Moment, host: usize, id: LocationId) -> u8 {
        let at = usize::from(id.0);
        let copy = moment.caches.iter().find_map(|cache| cache[at]);
        if !self.is(Wrong::LoadsLeaveNone) {
            caches[host][at] = caches[host][at].or(copy);
        }
        copy.unwrap_or(moment.memory[at])
    }

    fn store(&self, moment: &mut Moment, class: Class, host: usize, id: LocationId, value: u8) {
        let at = usize::from(id.0);
        let to = match class {
            Class::Mstore if !self.is(Wrong::MstoreIsCached) => None,
            Class::Lstore => Some(host),
            _ if self.is(Wrong::RstoreIsLocal) => Some(host),
            _ => Some(self.owner(at)),
        };
        for cache in (0..CACHES).filter(|cache| Some(*cache) != to) {
            if self.is(Wrong::WritesBack) {
                moment.memory[at] = moment.caches[cache][at].unwrap_or(moment.memory[at]);
            }
            if !self.is(Wrong::KeepsCopies) {
                moment.caches[cache][at] = None;
            }
        }
        match to {
            Some(cache) => moment.caches[cache][at] = Some(value),
            None => moment.memory[at] = value,
        }
    }
}
