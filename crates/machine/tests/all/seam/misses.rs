//! Lines that miss in every cache: who supplies them, and with which bytes.

use super::script::{Gate, Own, Timer, SHUT};
use crate::common::{as_plain, memory, put, tiny};
use std::cell::Cell;
use std::rc::Rc;
use strandline_design::{boxed, Access, Design, Eviction, Level, Services, Supply, Wants};
use strandline_isa::{Addr, CoreId, Cpu, Flush, Line, Memory, Primitive, PM_BASE};
use strandline_kernel::Cycles;
use strandline_machine::{Options, SimCpu, System};

/// Supplies what misses, one way for all, and writes nothing back.
struct Supplier {
    supply: Supply<Gate>,
    is_open: bool,
    reads_durable: bool,
    misses: Vec<(Line, Access)>,
}

/// When the gate opens.
const OPENS: u64 = 5_000;

impl Supplier {
    fn new(supply: Supply<Gate>) -> Supplier {
        Supplier {
            supply,
            is_open: false,
            reads_durable: supply == Supply::Durable,
            misses: Vec::new(),
        }
    }
}

impl Design for Supplier {
    type Own = Own;

    as_plain!();

    fn wants(&self) -> Wants {
        Wants {
            durable_lines: self.reads_durable,
            ..Wants::default()
        }
    }

    fn missed(&mut self, hw: &mut dyn Services<Own>, _: CoreId, line: Line, access: Access) -> Supply<Gate> {
        self.misses.push((line, access));
        match self.supply {
            Supply::Wait(_) if self.is_open => Supply::Memory,
            Supply::Wait(until) => {
                hw.send(Cycles(OPENS), Timer);
                Supply::Wait(until)
            }
            supply => supply,
        }
    }

    fn message(&mut self, hw: &mut dyn Services<Own>, _: Timer) {
        self.is_open = true;
        hw.open(Gate);
    }

    fn evicted(&mut self, _: &mut dyn Services<Own>, _: CoreId, _: Level, _: Line) -> Eviction<Gate> {
        Eviction::Drop
    }
}

fn system(supply: Supply<Gate>, cores: usize, journal: bool) -> System {
    let initial = memory();
    initial.write(Addr(PM_BASE), 8, 7);
    let options = Options {
        journal,
        ..Options::default()
    };
    System::new(&tiny(), boxed(Supplier::new(supply)), cores, initial, options)
}

fn misses(system: &System) -> &[(Line, Access)] {
    let design: &Supplier = system.design().downcast_ref().expect("the supplier");
    &design.misses
}

#[test]
fn a_miss_says_whether_the_line_is_read_or_written() {
    let mut system = system(Supply::Memory, 1, false);
    put(&mut system, 0, |cpu| {
        cpu.word(PM_BASE).load();
        cpu.word(PM_BASE).load();
        cpu.primitive(Primitive::Mfence);
        cpu.word(PM_BASE + 64).store(cpu.word(1));
        cpu.primitive(Primitive::Mfence);
        cpu.word(PM_BASE + 128).swap(cpu.word(1));
        cpu.word(64).load();
    });
    system.run().expect("ends");
    let line = |number: u64| Addr(PM_BASE + 64 * number).line();
    assert_eq!(
        misses(&system),
        [(line(0), Access::Read), (line(1), Access::Own), (line(2), Access::Own)],
        "persistent lines only, and each once"
    );
}

#[test]
fn a_miss_waits_until_the_gate_opens() {
    fn load(cpu: &SimCpu<'_>) {
        assert_eq!(cpu.word(PM_BASE).load().bits(), 7);
    }
    fn store(cpu: &SimCpu<'_>) {
        cpu.word(PM_BASE).store(cpu.word(1));
        cpu.primitive(Primitive::Sfence);
    }
    for (writes, access) in [(false, Access::Read), (true, Access::Own)] {
        let mut system = system(Supply::Wait(SHUT), 1, false);
        put(&mut system, 0, move |cpu| match writes {
            true => store(cpu),
            false => load(cpu),
        });
        let stats = system.run().expect("the gate opens").stats;
        let read = tiny().pm.read_latency.0;
        let cycles = stats.cycles.0;
        assert!((OPENS + read..OPENS + 2 * read).contains(&cycles), "{cycles}");
        assert_eq!(misses(&system), [(Addr(PM_BASE).line(), access); 2], "asked again");
        assert_eq!(stats.pm_reads, 1);
    }
}

#[test]
fn a_miss_that_waits_lets_other_cores_go_on() {
    let mut system = system(Supply::Wait(SHUT), 2, false);
    let ended = Rc::new(Cell::new([false; 2]));
    for core in 0..2 {
        let ended = ended.clone();
        put(&mut system, core, move |cpu| {
            // Core 1 loads from volatile memory.
            let addr = [PM_BASE, 64][usize::from(core)];
            cpu.word(addr).load();
            let mut so_far = ended.get();
            so_far[usize::from(core)] = true;
            ended.set(so_far);
        });
    }
    assert_eq!(system.run_until(OPENS - 1), Ok(true));
    assert_eq!(ended.get(), [false, true]);
    system.run().expect("ends");
    assert_eq!(ended.get(), [true; 2]);
}

/// Stores a 1 to a line that holds a durable 7, drives it out, and loads it again: what the load gets, and memory in the end.
fn reloaded(supply: Supply<Gate>, durable: bool, journal: bool) -> (u64, u64) {
    let mut system = system(supply, 1, journal);
    let got = Rc::new(Cell::new(0));
    let kept = got.clone();
    put(&mut system, 0, move |cpu| {
        cpu.word(PM_BASE).store(cpu.word(1));
        if durable {
            cpu.word(PM_BASE).flush_by(Flush::Clwb);
        }
        cpu.primitive(Primitive::Mfence);
        for line in 1..8 {
            cpu.word(PM_BASE + 64 * line).load();
        }
        cpu.primitive(Primitive::Mfence);
        kept.set(cpu.word(PM_BASE).load().bits());
    });
    system.run().expect("ends");
    (got.get(), read(system.memory()))
}

fn read(memory: &Memory) -> u64 {
    memory.read(Addr(PM_BASE), 8)
}

#[test]
fn a_line_from_the_persistence_domain_has_the_bytes_that_it_holds() {
    for journal in [false, true] {
        let reloaded = |supply, durable| reloaded(supply, durable, journal);
        assert_eq!(reloaded(Supply::Memory, false), (1, 1), "what all cores see");
        assert_eq!(reloaded(Supply::Design(Cycles(5)), false), (1, 1));
        assert_eq!(reloaded(Supply::Durable, false), (7, 7), "the store was dropped");
        assert_eq!(reloaded(Supply::Durable, true), (1, 1), "the store was flushed");
        let held = Supply::Bytes(Cycles(5), [9; 8]);
        assert_eq!(reloaded(held, false), (9, 9), "what the design holds, all cores see");
    }
}
