use super::library::Coroutines;
use super::*;
use crate::{finish, Plain};
use std::cell::Cell;
use strandline_isa::{Addr, Alu, CoreId, Flush, Memory, Rmw, Site};

/// Plain memory that counts.
struct Counting<'m> {
    plain: Plain<'m>,
    ops: Cell<u64>,
}

impl Counting<'_> {
    fn count(&self) {
        self.ops.set(self.ops.get() + 1);
    }

    fn counted<T>(&self, program: impl FnOnce() -> T) -> u64 {
        let before = self.ops.get();
        finish(program).unwrap();
        self.ops.get() - before
    }
}

impl Cpu for Counting<'_> {
    type Tag = u64;
    fn core(&self) -> CoreId {
        self.plain.core()
    }
    fn lowering(&self) -> &Lowering {
        self.plain.lowering()
    }
    fn alu(&self, _: Alu, _: u64, _: u64) -> u64 {
        self.count();
        0
    }
    fn branch(&self, _: u64, _: bool, _: Site) {
        self.count();
    }
    fn load(&self, addr: Addr, _: u64, size: u8) -> W<'_, Self> {
        self.count();
        W::new(self, self.plain.load(addr, 0, size).bits(), 0)
    }
    fn store(&self, addr: Addr, _: u64, size: u8, value: u64, _: u64) {
        self.count();
        self.plain.store(addr, 0, size, value, 0);
    }
    fn store_nt(&self, addr: Addr, _: u64, size: u8, value: u64, _: u64) {
        self.store(addr, 0, size, value, 0);
    }
    fn rmw(&self, addr: Addr, _: u64, op: Rmw, operand: u64, _: u64) -> W<'_, Self> {
        self.count();
        W::new(self, self.plain.rmw(addr, 0, op, operand, 0).bits(), 0)
    }
    fn flush(&self, _: Addr, _: u64, _: Flush) {
        self.count();
    }
    fn primitive(&self, _: Primitive) {
        self.count();
    }
    fn jump(&self, _: u64, _: u64, _: Site) {
        self.count();
    }
    fn note(&self, note: Note) {
        self.plain.note(note);
    }
    fn start_line(&self) {}
}

/// The instructions of a library to start and end a task, for a task's first yield and for its
/// second.
fn costs(library: Library, free_switches: bool) -> (u64, u64, u64) {
    let library = Coroutines { library, free_switches };
    let memory = Memory::new(1 << 16, 0);
    let cpu = Counting {
        plain: Plain::new(&memory, CoreId(0), Lowering::NOTHING),
        ops: Cell::new(0),
    };
    let place = SwitchPlace {
        scheduler: Heap::block(4),
        task: Heap::block(0),
        slot: 0,
    };
    // The second task of a slot allocates nothing: it reuses the first one's memory.
    for _ in 0..2 {
        cpu.counted(|| library.start(&cpu, place, cpu.word(place.task.0)));
        cpu.counted(|| library.end(&cpu, place));
    }
    let around =
        cpu.counted(|| library.start(&cpu, place, cpu.word(place.task.0))) + cpu.counted(|| library.end(&cpu, place));
    let switch = |why: Why| {
        cpu.counted(|| {
            library.leave(&cpu, place, why.code());
            let block = library.next(&cpu, place, 1);
            library.resume(&cpu, place, block);
        })
    };
    (around, switch(Why::Order), switch(Why::Durable))
}

#[test]
fn the_papers_library_costs_what_its_table_3_implies() {
    // 448 instructions a task of two yields: the mean of (CII - 1) x instructions over sps, pc, tatp and cq; and 39 to 83 a
    // yield, from tpcc.
    let (around, first, second) = costs(Library::Paper, false);
    assert_eq!(first, second);
    assert!((39..=83).contains(&first), "{first}");
    let all = around + first + second;
    assert!(all.abs_diff(448) <= 4, "{around} + {first} + {second} = {all}");
}

#[test]
fn the_lean_library_costs_what_its_machine_code_does() {
    // docs/coroutines.md: a switch of 10 instructions (11 at the first yield, which saves six values), after each of which
    // three are reloaded; 9 to end a task and start the next. A return is two micro-ops and a call through memory three
    // (a direct one two), a switch has one of each, an end and a start a return and a direct call.
    let (around, first, second) = costs(Library::Lean, false);
    assert_eq!(second, 10 + 1 + 2 + 3);
    assert_eq!(first, second + 6);
    assert_eq!(around, 9 + 1 + 1);
}

#[test]
fn free_switches_leave_the_start_and_the_end_of_tasks() {
    for library in [Library::Paper, Library::Lean] {
        let (around, ..) = costs(library, false);
        assert_eq!(costs(library, true), (around, 0, 0));
    }
}
