//! Laps of a waiting core in closed form: as if each were executed.

use crate::common::{memory, put, Plain};
use strandline_design::boxed;
use strandline_isa::{sites, Cpu, PM_BASE};
use strandline_machine::{Machine, Options, SimCpu, Stats, System};

sites! {
    HAS_COME = 0x51c7_90e3;
}

/// Writes of the core that is waited for.
const WRITES: u64 = 12;

/// Waits for the last of the writes to the second of two lines, both of which each turn loads.
async fn wait(cpu: SimCpu) {
    let (first, second) = (cpu.word(PM_BASE), cpu.word(PM_BASE + 64));
    loop {
        first.load().await;
        // Long enough that a core is often suspended between the loads.
        (0..12).for_each(|_| _ = cpu.word(1) * 1);
        if second.load().await.is(WRITES).branch(HAS_COME) {
            return;
        }
        cpu.spins();
    }
}

/// Writes both lines by turns, after so many dependent operations each time.
async fn write(cpu: SimCpu, gap: u64) {
    for number in 1..=WRITES {
        let mut after = cpu.word(0);
        for _ in 0..gap {
            after = after * 1;
        }
        let line = PM_BASE + (1 - number % 2) * 64;
        (after + line).store(cpu.word(number)).await;
    }
}

fn run(gap: u64, traced: bool) -> Stats {
    let machine = Machine::preset("strandweaver").expect("a preset");
    let options = Options {
        journal: true,
        trace: traced,
        ..Options::default()
    };
    let mut system = System::new(&machine, boxed(Plain), 3, memory(), options);
    put(&mut system, 0, wait);
    put(&mut system, 1, move |cpu| write(cpu, gap));
    put(&mut system, 2, wait);
    system.run().expect("the programs end").stats
}

#[test]
fn a_line_that_is_taken_between_two_loads_of_a_turn_ends_the_laps() {
    // A trace has every op: a traced core passes no laps.
    for gap in 150..230 {
        assert_eq!(run(gap, false), run(gap, true), "gap {gap}");
    }
}
