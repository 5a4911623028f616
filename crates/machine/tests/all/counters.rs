//! A design's counters are read at both ends of the timed region.

use crate::common::{as_plain, preset, put, system};
use strandline_design::{Counters, Design, Occupancy, Plain, Services, Store};
use strandline_isa::{CoreId, Cpu, Primitive, PM_BASE};
use strandline_kernel::Cycles;
use strandline_machine::Stats;

/// Counts visible stores as epochs, and as entries of a buffer that never drains.
#[derive(Default)]
struct Counts {
    stores: u64,
    buffers: Vec<Occupancy>,
}

impl Design for Counts {
    type Own = Plain;

    as_plain!();

    fn visible(&mut self, hw: &mut dyn Services<Plain>, core: CoreId, _: Store) {
        self.stores += 1;
        self.buffers.resize(hw.cores(), Occupancy::default());
        self.buffers[core.index()].set(hw.now(), self.stores as usize);
    }

    fn counters(&self, now: Cycles) -> Counters {
        Counters {
            epochs: Some(self.stores),
            buffer_occupancy: Some(Occupancy::sum(&self.buffers, now)),
            table_occupancy_max: Some(self.stores),
            ..Counters::default()
        }
    }
}

/// `before` stores, the start line, and `after` stores, each made durable.
fn stores(before: u64, after: u64) -> Stats {
    let mut system = system(&preset("cosplay"), Counts::default(), 1);
    put(&mut system, 0, move |cpu| {
        for line in 0..before + after {
            if line == before {
                cpu.start_line();
            }
            cpu.word(PM_BASE + line * 64).store(cpu.word(1));
            cpu.word(PM_BASE + line * 64).flush_by(strandline_isa::Flush::Clwb);
            cpu.primitive(Primitive::Sfence);
        }
    });
    system.run().expect("the program ends").stats
}

#[test]
fn counts_are_of_the_timed_region() {
    let stats = stores(2, 3);
    assert_eq!((stats.stores, stats.design.epochs), (3, Some(3)));
    assert_eq!(stats.design.nacks, None, "it has none");
}

#[test]
fn the_largest_value_is_of_the_whole_run() {
    assert_eq!(stores(2, 3).design.table_occupancy_max, Some(5));
}

#[test]
fn occupancy_covers_exactly_the_timed_region() {
    let stats = stores(2, 3);
    let cycles = stats.design.buffer_occupancy.expect("counted");
    assert_eq!(cycles.iter().sum::<u64>(), stats.cycles.0);
    // Two entries are there from the start; each of the three others has its time.
    assert_eq!(&cycles[..2], [0, 0]);
    assert!(
        cycles.len() == 6 && cycles[2..].iter().all(|time| *time > 0),
        "{cycles:?}"
    );
}

#[test]
fn without_a_start_line_all_is_counted() {
    let mut system = system(&preset("cosplay"), Counts::default(), 1);
    put(&mut system, 0, |cpu| {
        cpu.word(PM_BASE).store(cpu.word(1));
    });
    assert_eq!(system.run().expect("ends").stats.design.epochs, Some(1));
}
