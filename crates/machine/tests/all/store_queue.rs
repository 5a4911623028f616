//! The order and times of departures from the store queue: entries that lose their lines, and
//! flushes that delay others.

use crate::common::{as_plain, memory, patient, preset, put, Plain};
use std::cell::RefCell;
use std::rc::Rc;
use strandline_design::{boxed, Departure, Design, Never, Ordering, Services, Write};
use strandline_isa::{Addr, CoreId, Cpu, Flush, Primitive, PM_BASE};
use strandline_kernel::Cycles;
use strandline_machine::config::Consistency;
use strandline_machine::{Options, System, What};

/// As the plain machine; records when each entry reaches the head.
struct Watching(Rc<RefCell<Vec<(u64, What)>>>);

type Hw<'a> = dyn Services<strandline_design::Plain> + 'a;

impl Watching {
    fn note(&self, hw: &Hw<'_>, what: What) -> Departure<Never> {
        self.0.borrow_mut().push((hw.now().0, what));
        Departure::Go
    }
}

impl Design for Watching {
    type Own = strandline_design::Plain;

    as_plain!();

    fn store(&mut self, hw: &mut Hw<'_>, _: CoreId, write: Write) -> Departure<Never> {
        self.note(hw, What::Write(write))
    }

    fn departs(&mut self, hw: &mut Hw<'_>, _: CoreId, ordering: Ordering, _: u8) -> Departure<Never> {
        self.note(hw, What::Ordering(ordering))
    }
}

#[test]
fn stores_that_drain_out_of_order_do_not_take_each_others_lines_for_ever() {
    let mut machine = preset("dpo");
    assert_eq!(machine.core.consistency, Consistency::Weak);
    // One set of two ways: three lines never fit.
    (machine.l1.bytes, machine.l1.ways) = (128, 2);
    machine.l2 = None;
    for store_prefetch in [false, true] {
        machine.core.store_prefetch = store_prefetch;
        let mut system = System::new(&machine, boxed(Plain), 1, memory(), patient(1_000_000));
        put(&mut system, 0, |cpu| {
            for line in 0..4 {
                cpu.word(PM_BASE + line * 64).store(cpu.word(line + 1));
            }
            cpu.primitive(Primitive::Sfence);
        });
        system.run().unwrap_or_else(|stuck| panic!("{stuck}"));
        for line in 0..4 {
            assert_eq!(system.memory().read(Addr(PM_BASE + line * 64), 8), line + 1);
        }
    }
}

/// When the store after a flush of another line becomes visible, on a machine where a flush takes
/// 200 cycles to the controller and back.
fn store_after(flush: Flush, consistency: Consistency) -> (u64, u64) {
    let mut machine = preset("cosplay");
    machine.core.consistency = consistency;
    machine.pm.write_to_controller = Cycles(200);
    let seen = Rc::new(RefCell::new(Vec::new()));
    let mut system = System::new(&machine, boxed(Watching(seen.clone())), 1, memory(), Options::default());
    put(&mut system, 0, move |cpu| {
        // Both lines are owned before the flush, so that only the flush can delay the store.
        cpu.word(PM_BASE).store(cpu.word(1));
        cpu.word(PM_BASE + 64).store(cpu.word(1));
        cpu.primitive(Primitive::Sfence);
        cpu.word(PM_BASE).flush_by(flush);
        cpu.word(PM_BASE + 64).store(cpu.word(2));
    });
    system.run().expect("ends");
    let seen = seen.borrow();
    let flushed = seen
        .iter()
        .find(|(_, entry)| matches!(entry, What::Ordering(Ordering::Flush(..))))
        .expect("a flush")
        .0;
    let stored = seen
        .iter()
        .rfind(|(_, entry)| matches!(entry, What::Write(write) if write.store.addr == Addr(PM_BASE + 64)))
        .expect("a store")
        .0;
    (flushed, stored)
}

#[test]
fn a_clflush_holds_younger_stores_back_until_it_is_acknowledged_and_other_flushes_do_not() {
    for consistency in [Consistency::Tso, Consistency::Weak] {
        let (flushed, stored) = store_after(Flush::Clflush, consistency);
        assert!(stored >= flushed + 200, "{consistency:?}: {flushed}, {stored}");
        for flush in [Flush::Clwb, Flush::ClflushOpt] {
            let (flushed, stored) = store_after(flush, consistency);
            assert!(
                stored < flushed + 200,
                "{flush:?}, {consistency:?}: {flushed}, {stored}"
            );
        }
    }
}
