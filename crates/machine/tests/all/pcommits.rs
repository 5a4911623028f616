//! What cores count while a `pcommit` is outstanding.

use crate::common::{as_plain, memory, preset, put, UnitTags};
use std::collections::BTreeMap;
use strandline_design::{boxed, ControllerId, Departure, Design, Never, Ordering, Services};
use strandline_isa::{CoreId, Cpu, Flush, Primitive, PM_BASE};
use strandline_machine::{Options, SimCpu, Stats, System};

/// A `pcommit` asks every controller, and completes when all have replied.
#[derive(Default)]
struct Commits {
    replies: BTreeMap<CoreId, usize>,
}

impl Design for Commits {
    type Own = UnitTags;

    as_plain!();

    fn departs(
        &mut self,
        hw: &mut dyn Services<UnitTags>,
        core: CoreId,
        ordering: Ordering,
        _: u8,
    ) -> Departure<Never> {
        if ordering != Ordering::Primitive(Primitive::Pcommit) {
            return Departure::Go;
        }
        for controller in 0..hw.controllers() {
            hw.commit(core, ControllerId(controller as u16), ());
        }
        Departure::Keep
    }

    fn committed(&mut self, hw: &mut dyn Services<UnitTags>, core: CoreId, (): ()) {
        let replies = self.replies.entry(core).or_default();
        *replies += 1;
        if *replies % hw.controllers() == 0 {
            hw.acknowledge(core, 0);
        }
    }
}

/// One persist: a store, its flush and, if `fenced`, the sfence before the `pcommit`, and the one behind it.
fn persist(cpu: &SimCpu<'_>, line: u64, fenced: bool) {
    let fence = || {
        if fenced {
            cpu.primitive(Primitive::Sfence);
        }
    };
    let address = cpu.word(PM_BASE + line * 64);
    address.store(cpu.word(1));
    address.flush_by(Flush::Clwb);
    fence();
    cpu.primitive(Primitive::Pcommit);
    fence();
}

/// Each core persists `persists` lines of its own.
fn stats(cores: u16, controllers: u64, persists: u64, fenced: bool) -> Stats {
    let mut machine = preset("sp");
    (machine.controllers.count, machine.controllers.interleave_bytes) = (controllers, 64);
    let design = boxed(Commits::default());
    let mut system = System::new(&machine, design, usize::from(cores), memory(), Options::default());
    for core in 0..cores {
        put(&mut system, core, move |cpu| {
            for line in 0..persists {
                persist(cpu, u64::from(core) * persists + line, fenced);
            }
        });
    }
    system.run().expect("the programs end").stats
}

#[test]
fn without_fences_every_later_store_and_flush_meets_an_outstanding_pcommit() {
    for controllers in [1, 3] {
        let stats = stats(1, controllers, 5, false);
        // All are executed before the first line arrives from memory, so none has completed.
        assert_eq!((stats.pcommits, stats.pcommits_in_flight_max), (5, 5), "{controllers}");
        // A store and a flush of each of the four later persists.
        assert_eq!(stats.stores_during_pcommits, 8, "{controllers}");
    }
}

#[test]
fn behind_an_sfence_nothing_is_executed_before_the_pcommit_has_completed() {
    let stats = stats(1, 2, 5, true);
    assert_eq!((stats.pcommits, stats.pcommits_in_flight_max), (5, 1));
    assert_eq!(stats.stores_during_pcommits, 0);
}

#[test]
fn another_cores_pcommits_do_not_count() {
    let stats = stats(3, 2, 4, true);
    assert_eq!((stats.pcommits, stats.pcommits_in_flight_max), (12, 1));
    assert_eq!(stats.stores_during_pcommits, 0);
}
