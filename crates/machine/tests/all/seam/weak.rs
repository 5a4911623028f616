//! Cores whose stores become visible in any order: what orders them reaches the design.

use crate::common::{as_plain, preset, put, system};
use std::cell::RefCell;
use std::rc::Rc;
use strandline_design::{Admission, Departure, Design, Never, Ordering, Plain, Services, Store, Wants};
use strandline_isa::{Addr, CoreId, Cpu, Note, Primitive, PM_BASE};
use strandline_machine::config::Consistency;

/// What the design has been asked or told, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Heard {
    Dispatched(Primitive),
    Departed(Primitive),
    Visible(Addr),
}

/// Has store barriers enter the store queue, and writes down what it hears.
struct Listening {
    heard: Rc<RefCell<Vec<Heard>>>,
    /// Barriers mean something to it on any core.
    orders: bool,
}

impl Design for Listening {
    type Own = Plain;

    as_plain!();

    fn wants(&self) -> Wants {
        Wants {
            all_barriers: self.orders,
            ..Wants::default()
        }
    }

    fn primitive(&mut self, _: &mut dyn Services<Plain>, _: CoreId, primitive: Primitive) -> Admission<Never> {
        self.heard.borrow_mut().push(Heard::Dispatched(primitive));
        Admission::plain(primitive)
    }

    fn departs(&mut self, _: &mut dyn Services<Plain>, _: CoreId, ordering: Ordering, _: u8) -> Departure<Never> {
        if let Ordering::Primitive(primitive) = ordering {
            self.heard.borrow_mut().push(Heard::Departed(primitive));
        }
        Departure::Go
    }

    fn visible(&mut self, _: &mut dyn Services<Plain>, _: CoreId, store: Store) {
        self.heard.borrow_mut().push(Heard::Visible(store.addr));
    }
}

/// A line that must come from memory, and one that the caches hold.
const FAR: Addr = Addr(PM_BASE + 4096);
const NEAR: Addr = Addr(PM_BASE);

/// What the design hears of a store to the far line, perhaps a store barrier, and a store to the near line.
fn heard(consistency: Consistency, barrier: bool) -> Vec<Heard> {
    heard_by(consistency, barrier, false)
}

/// As [`heard`]; `orders`: barriers mean something to the design on any core.
fn heard_by(consistency: Consistency, barrier: bool, orders: bool) -> Vec<Heard> {
    let mut machine = preset("dpo");
    machine.core.consistency = consistency;
    let heard = Rc::default();
    let design = Listening {
        heard: Rc::clone(&heard),
        orders,
    };
    let mut system = system(&machine, design, 1);
    put(&mut system, 0, move |cpu| {
        cpu.word(NEAR.0).load();
        cpu.primitive(Primitive::Mfence);
        cpu.word(FAR.0).store(cpu.word(1));
        if barrier {
            cpu.primitive(Primitive::StoreBarrier);
        }
        cpu.word(NEAR.0).store(cpu.word(2));
    });
    system.run().expect("ends");
    let heard = heard.borrow();
    heard.iter().copied().filter(|heard| *heard != DONE).collect()
}

const DONE: Heard = Heard::Dispatched(Primitive::Mfence);

use Heard::{Departed, Dispatched, Visible};

#[test]
fn stores_pass_each_other_on_a_weak_core_and_on_no_other() {
    assert_eq!(heard(Consistency::Weak, false), [Visible(NEAR), Visible(FAR)]);
    assert_eq!(heard(Consistency::Tso, false), [Visible(FAR), Visible(NEAR)]);
}

#[test]
fn a_store_barrier_reaches_the_design_and_orders_stores_on_a_weak_core() {
    let barrier = Primitive::StoreBarrier;
    assert_eq!(
        heard(Consistency::Weak, true),
        [Dispatched(barrier), Visible(FAR), Departed(barrier), Visible(NEAR)]
    );
}

#[test]
fn a_core_that_keeps_its_stores_in_order_has_no_use_for_a_store_barrier() {
    assert_eq!(heard(Consistency::Tso, true), [Visible(FAR), Visible(NEAR)]);
}

#[test]
fn a_design_that_orders_by_store_barriers_gets_them_on_any_core() {
    let barrier = Primitive::StoreBarrier;
    assert_eq!(
        heard_by(Consistency::Tso, true, true),
        [Dispatched(barrier), Visible(FAR), Departed(barrier), Visible(NEAR)]
    );
}

/// Cycles of a store to the far line, perhaps a store barrier, and a chain of divisions behind a load of the near line.
fn takes(consistency: Consistency, barrier: bool) -> u64 {
    let mut machine = preset("dpo");
    machine.core.consistency = consistency;
    let mut system = system(&machine, crate::common::Plain, 1);
    put(&mut system, 0, move |cpu| {
        cpu.word(NEAR.0).load();
        cpu.primitive(Primitive::Mfence);
        cpu.note(Note::TaskBegin);
        cpu.word(FAR.0).store(cpu.word(1));
        if barrier {
            cpu.primitive(Primitive::StoreBarrier);
        }
        let mut word = cpu.word(NEAR.0).load();
        for _ in 0..DIVISIONS {
            word = word.remainder(7);
        }
        cpu.word(NEAR.0).store(word);
        cpu.note(Note::TaskEnd);
    });
    system.run().expect("ends").stats.cycles.0
}

const DIVISIONS: u64 = 30;

#[test]
fn loads_wait_for_a_store_barrier_on_a_weak_core_and_on_no_other() {
    let division = preset("dpo").core.div_latency.0;
    let saved = takes(Consistency::Weak, true) - takes(Consistency::Weak, false);
    // The store misses for longer than the divisions take, which overlap with it unless their load waits.
    assert!(saved >= DIVISIONS * division / 2, "{saved} cycles");
    assert_eq!(takes(Consistency::Tso, true), takes(Consistency::Tso, false));
}
