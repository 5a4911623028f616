//! Laps of a waiting core in closed form: as if each were executed.

use crate::common::{memory, put_any, Plain};
use strandline_design::boxed;
use strandline_isa::{sites, Code, Cpu, Flush, Primitive, Thread, PM_BASE, W};
use strandline_machine::{MachineConfig, Options, Stats, System, Traces};

sites! {
    HAS_COME = 0x51c7_90e3;
    HAS_PASSED = 0x7c35_e90b;
}

/// Writes of the core that is waited for.
const WRITES: u64 = 12;

/// Waits for the last of the writes to the second of two lines, both of which each turn loads.
fn wait(cpu: &Thread<'_>) {
    let (first, second) = (cpu.word(PM_BASE), cpu.word(PM_BASE + 64));
    // A variable, which plain code loads from its slot.
    let last = cpu.word(WRITES) + 0;
    loop {
        // Long enough that a core is often suspended between the loads; in a register, as plain code passes no laps that
        // store.
        let seen = (0..12).fold(first.load(), |seen, _| seen * 1);
        seen.is(WRITES + 1).branch(HAS_PASSED);
        if second.load().equals(last).branch(HAS_COME) {
            return;
        }
        cpu.spins();
    }
}

/// How a line is written, and so taken from the cores that wait.
#[derive(Clone, Copy, Debug)]
enum Way {
    Store,
    NonTemporal,
    /// A flush that removes the line, and a store later.
    Flushed,
}

/// Zero, after `gap` operations one after the other.
fn later<'c>(cpu: &'c Thread<'c>, gap: u64) -> W<'c, Thread<'c>> {
    (0..gap).fold(cpu.word(0), |zero, _| zero * 1)
}

/// Writes both lines by turns, after `gap` dependent operations each time.
fn write(cpu: &Thread<'_>, gap: u64, way: Way) {
    for number in 1..=WRITES {
        let line = PM_BASE + (1 - number % 2) * 64;
        let word = later(cpu, gap) + line;
        let value = cpu.word(number);
        match way {
            Way::Store => word.store(value),
            Way::NonTemporal => {
                word.store_nt(value);
                cpu.primitive(Primitive::Sfence);
            }
            Way::Flushed => {
                word.flush_by(Flush::ClflushOpt);
                (word + later(cpu, gap)).store(value);
            }
        }
    }
}

fn run(gap: u64, way: Way, code: Code, traced: Traces) -> Stats {
    let machine = MachineConfig::preset("strandweaver").expect("a preset");
    let options = Options {
        journal: true,
        trace: traced,
        code,
        ..Options::default()
    };
    let mut system = System::new(&machine, boxed(Plain), 3, memory(), options);
    put_any(&mut system, 0, wait);
    put_any(&mut system, 1, move |cpu| write(cpu, gap, way));
    put_any(&mut system, 2, wait);
    system.run().expect("the programs end").stats
}

#[test]
fn a_line_that_is_taken_between_two_loads_of_a_turn_ends_the_laps() {
    // A trace has every op: a traced core passes no laps.
    for way in [Way::Store, Way::NonTemporal, Way::Flushed] {
        for (gap, code) in (150..230).flat_map(|gap| Code::ALL.map(|code| (gap, code))) {
            let [passed, executed] = [Traces::Nothing, Traces::Everything].map(|traced| run(gap, way, code, traced));
            assert_eq!(passed, executed, "{way:?}, gap {gap}, {}", code.name());
        }
    }
}
