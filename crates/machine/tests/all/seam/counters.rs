//! Counters that only one design has.

use crate::common::{as_plain, memory, preset, put, system};
use strandline_design::{boxed, Counter, Counters, Design, OwnCounts, Plain, Services, Store};
use strandline_isa::{CoreId, Cpu, Primitive, PM_BASE};
use strandline_kernel::{Adds, Cycles};
use strandline_machine::{Options, Stats, System};

const STORES: Counter = Counter::sum("stores_seen", "stores", "Stores that became visible.");

const LARGEST: Counter = Counter {
    name: "largest_value",
    unit: "values",
    adds: Adds::Max,
    help: "The largest value stored.",
};

/// Counts stores, and notes the largest value.
#[derive(Default)]
struct Counts {
    stores: u64,
    largest: u64,
}

impl Design for Counts {
    type Own = Plain;

    as_plain!();

    fn visible(&mut self, _: &mut dyn Services<Plain>, _: CoreId, store: Store) {
        self.stores += 1;
        self.largest = self.largest.max(store.value);
    }

    fn own_counters(&self) -> &'static [Counter] {
        &[STORES, LARGEST]
    }

    fn counters(&self, _: Cycles) -> Counters {
        Counters {
            own: OwnCounts(vec![(STORES, self.stores), (LARGEST, self.largest)]),
            ..Counters::default()
        }
    }
}

/// Stores `before`, the start line, and stores `after`, each store visible before the next instruction.
fn run(before: &'static [u64], after: &'static [u64]) -> Stats {
    let design = boxed(Counts::default());
    assert_eq!(design.own_counters(), [STORES, LARGEST], "known without a run");
    let mut system = System::new(&preset("cosplay"), design, 1, memory(), Options::default());
    put(&mut system, 0, move |cpu| {
        for value in before {
            cpu.word(PM_BASE).store(cpu.word(*value));
            cpu.primitive(Primitive::Mfence);
        }
        cpu.start_line();
        for value in after {
            cpu.word(PM_BASE).store(cpu.word(*value));
            cpu.primitive(Primitive::Mfence);
        }
    });
    system.run().expect("ends").stats
}

#[test]
fn a_sum_is_of_the_timed_region_and_a_maximum_of_the_whole_run() {
    let own = |before, after| run(before, after).design.own.0;
    assert_eq!(own(&[5, 6], &[1, 2, 3]), [(STORES, 3), (LARGEST, 6)]);
    assert_eq!(own(&[5], &[7]), [(STORES, 1), (LARGEST, 7)]);
    assert_eq!(own(&[5], &[]), [(STORES, 0), (LARGEST, 5)]);
}

#[test]
fn a_design_without_counters_of_its_own_has_none() {
    let mut system = system(&preset("cosplay"), crate::common::Plain, 1);
    put(&mut system, 0, |cpu| {
        cpu.word(PM_BASE).store(cpu.word(1));
    });
    let stats = system.run().expect("ends").stats;
    assert!(stats.design.own.0.is_empty());
}
