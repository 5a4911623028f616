//! The functional back end: programs run at once on plain memory, untimed.

use crate::finish::{leave, Stuck};
use std::cell::{Cell, RefCell};
use strandline_isa::{Addr, CoreId, Cpu, Flush, Lowering, Memory, Note, Primitive, Rmw, W};

/// Consecutive loads, without any store or note, after which a program counts as spinning endlessly: more than a
/// program reads to find that a large table is empty.
const SPINS: u32 = 1 << 25;

/// One core over plain memory. Everything is ready at once; flushes and fences do nothing.
pub struct Plain<'m> {
    memory: &'m Memory,
    lowering: Lowering,
    core: CoreId,
    notes: Option<RefCell<Vec<Note>>>,
    spins: Cell<u32>,
}

impl<'m> Plain<'m> {
    /// A core over `memory` with the primitives of `lowering`.
    #[must_use]
    pub fn new(memory: &'m Memory, core: CoreId, lowering: Lowering) -> Self {
        Plain {
            memory,
            lowering,
            core,
            notes: None,
            spins: Cell::new(0),
        }
    }

    /// As [`Plain::new`], and keeps the notes that the program makes.
    #[must_use]
    pub fn recording(memory: &'m Memory, core: CoreId, lowering: Lowering) -> Self {
        Plain {
            notes: Some(RefCell::default()),
            ..Plain::new(memory, core, lowering)
        }
    }

    /// The notes kept so far, oldest first.
    #[must_use]
    pub fn take_notes(&self) -> Vec<Note> {
        self.notes.as_ref().map(RefCell::take).unwrap_or_default()
    }

    fn check_spinning(&self) {
        let spins = self.spins.get() + 1;
        self.spins.set(spins);
        if spins > SPINS {
            leave(Stuck);
        }
    }
}

impl Cpu for Plain<'_> {
    type Tag = u64;

    fn core(&self) -> CoreId {
        self.core
    }

    fn lowering(&self) -> &Lowering {
        &self.lowering
    }

    #[inline(always)]
    fn load(&self, addr: Addr, _address: u64, size: u8) -> W<'_, Self> {
        self.check_spinning();
        W::new(self, self.memory.read(addr, size), 0)
    }

    #[inline(always)]
    fn store(&self, addr: Addr, _address: u64, size: u8, value: u64, _data: u64) {
        self.spins.set(0);
        self.memory.write(addr, size, value);
    }

    fn store_nt(&self, addr: Addr, address: u64, size: u8, value: u64, data: u64) {
        self.store(addr, address, size, value, data);
    }

    fn rmw(&self, addr: Addr, _address: u64, op: Rmw, operand: u64, _data: u64) -> W<'_, Self> {
        self.check_spinning();
        let old = self.memory.read(addr, 8);
        self.memory.write(addr, 8, op.apply(old, operand));
        W::new(self, old, 0)
    }

    fn flush(&self, _addr: Addr, _address: u64, _flush: Flush) {}

    fn primitive(&self, _primitive: Primitive) {}

    fn note(&self, note: Note) {
        self.spins.set(0);
        if let Some(notes) = &self.notes {
            notes.borrow_mut().push(note);
        }
    }

    fn start_line(&self) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{finish, lock, unlock, Random};

    #[test]
    fn a_lock_taken_twice_is_an_error_and_no_hang() {
        let memory = Memory::new(128, 0);
        let cpu = Plain::new(&memory, CoreId(0), Lowering::NOTHING);
        let spin = cpu.word(64);
        assert_eq!(finish(|| lock(&cpu, spin)), Ok(()));
        assert_eq!(finish(|| lock(&cpu, spin)), Err(Stuck));
        assert_eq!(finish(|| unlock(&cpu, spin)), Ok(()));
        assert_eq!(finish(|| lock(&cpu, spin)), Ok(()));
    }

    #[test]
    fn notes_are_kept_in_order() {
        let memory = Memory::new(0, 0);
        let cpu = Plain::recording(&memory, CoreId(0), Lowering::NOTHING);
        cpu.note(Note::TaskBegin);
        cpu.note(Note::TaskEnd);
        assert_eq!(cpu.take_notes(), [Note::TaskBegin, Note::TaskEnd]);
        assert_eq!(cpu.take_notes(), []);
    }

    #[test]
    fn random_numbers_are_spread_and_differ_by_thread() {
        let memory = Memory::new(0, 0);
        let cpu = Plain::new(&memory, CoreId(0), Lowering::NOTHING);
        let draw = |thread| {
            let mut random = Random::new(&cpu, 1, thread);
            (0..1000)
                .map(|_| finish(|| random.below(10)).unwrap().bits())
                .collect::<Vec<_>>()
        };
        assert_eq!(draw(0), draw(0));
        assert_ne!(draw(0), draw(1));
        // A fair die of ten faces, thrown 1000 times, shows each 100 +- 9.5 times.
        for face in 0..10 {
            assert!((60..140).contains(&draw(0).iter().filter(|n| **n == face).count()));
        }
    }
}
