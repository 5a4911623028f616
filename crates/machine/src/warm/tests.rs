use super::*;
use crate::cache::State;
use crate::core::tlb::tables;
use crate::system::{Factory, Options, System};
use std::collections::BTreeMap;
use strandline_design::{boxed, About, Design};
use strandline_isa::{Addr, Cpu, Flush, Line, Lowering, Note, Thread, LINE_BYTES, PM_BASE};

/// `clwb`; the machine answers at every place.
struct Plain;

impl Design for Plain {
    type Own = strandline_design::Plain;

    fn about(&self) -> About {
        About {
            name: "plain",
            ..About::default()
        }
    }

    fn lowering(&self) -> Lowering {
        Lowering {
            flush: Some(Flush::Clwb),
            ..Lowering::NOTHING
        }
    }
}

fn accesses() -> Accesses {
    Accesses::of(&*boxed(Plain))
}

/// Lines of the LLC.
const LLC: u64 = 1024;

/// Caches of 64, 256 and 1,024 lines.
fn machine() -> MachineConfig {
    let mut machine = MachineConfig::preset("cosplay").expect("a preset");
    machine.simulation.slack.0 = 0;
    let l2 = machine.l2.as_mut().expect("an L2");
    for (cache, lines) in [(&mut machine.l1, 64), (l2, 256), (&mut machine.llc, LLC)] {
        (cache.bytes, cache.ways) = (lines * LINE_BYTES, 8);
    }
    machine
}

/// A program on a table of so many lines.
#[derive(Clone, Copy)]
struct Table {
    rows: u64,
    tasks: u64,
}

impl Table {
    /// Each task reads a line of the whole table and one of its first 256 lines, writes either or both, and flushes the
    /// second; it writes a volatile line of its own core.
    fn run(self, cpu: &Thread<'_>, seed: u64) {
        let tag = u64::default;
        let mut random = seed * 2 + 1;
        let mut tasks = 0;
        while tasks < self.tasks || cpu.has_warm_task() {
            tasks += 1;
            cpu.note(Note::TaskBegin);
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let row = |number: u64| Addr(PM_BASE + LINE_BYTES * number);
            let (any, hot) = (row((random >> 8) % self.rows), row((random >> 40) % 256));
            for (addr, bit) in [(any, 0), (hot, 1)] {
                cpu.load(addr, tag(), 8);
                if random >> bit & 1 == 1 {
                    cpu.store(addr, tag(), 8, random, tag());
                }
            }
            cpu.flush(hot, tag(), Flush::Clwb);
            cpu.store(Addr(LINE_BYTES * (cpu.core().0 as u64 + 1)), tag(), 8, random, tag());
            cpu.note(Note::TaskEnd);
        }
    }

    fn memory(self) -> Memory {
        Memory::new(1 << 12, self.rows * LINE_BYTES)
    }

    /// What the LLC holds of it at first.
    fn footprint(self) -> Range<u64> {
        PM_BASE..PM_BASE + LINE_BYTES * self.rows.min(LLC)
    }

    /// The steady start of so many threads.
    fn warmed(self, threads: u64, seed: u64) -> Contents {
        let never = AtomicBool::new(false);
        let left = self.warming(threads, seed).run(self.tasks * threads, &never);
        left.expect("it ends").1
    }

    fn warming(self, threads: u64, seed: u64) -> Warming {
        self.warming_of(&machine(), threads, seed)
    }

    fn warming_of(self, machine: &MachineConfig, threads: u64, seed: u64) -> Warming {
        let warms = Table { tasks: 0, ..self };
        let thread = |number: u64| -> Body { Rc::new(move |cpu| warms.run(cpu, seed + number)) };
        let mut warming = Warming::new(machine, &accesses(), self.memory(), (0..threads).map(thread).collect());
        warming.put(self.footprint());
        warming.least = 0;
        warming
    }

    /// The LLC's lines after a run of so many cores, and whether they are dirty.
    fn timed(self, cores: u64, seed: u64) -> BTreeMap<Line, bool> {
        let mut system = System::new(
            &machine(),
            boxed(Plain),
            cores as usize,
            self.memory(),
            Options::default(),
        );
        system.warm(self.footprint());
        for core in 0..cores {
            system.start(CoreId(core as u16), Factory::any(move |cpu| self.run(cpu, seed + core)));
        }
        system.run().expect("it ends");
        system.llc_lines()
    }
}

fn lines(mut contents: Contents) -> BTreeMap<Line, bool> {
    let mut lines = BTreeMap::new();
    let cores = &contents.cores;
    contents.llc.change_all(|line, known| {
        let modified = |core: strandline_isa::CoreId| cores[core.index()].0.state(line) == Some(State::Modified);
        _ = lines.insert(line, known.dirty || known.sharers.cores().any(modified));
    });
    assert_eq!(contents.lines, lines.len() as u64);
    assert_eq!(contents.dirty, lines.values().filter(|dirty| **dirty).count() as u64);
    lines
}

/// The share of lines for which this holds.
fn share(lines: &BTreeMap<Line, bool>, holds: impl Fn(Line, bool) -> bool) -> f64 {
    let held = lines.iter().filter(|(line, dirty)| holds(**line, **dirty)).count();
    held as f64 / lines.len() as f64
}

#[test]
fn the_tags_are_those_of_a_timed_run_of_the_same_tasks() {
    let table = Table {
        rows: 4 * LLC,
        tasks: 1500,
    };
    let (warmed, timed) = (table.warmed(1, 7), table.timed(1, 7));
    assert_eq!((warmed.ending, warmed.tasks), (Ending::Bound, 1500));
    let warmed = lines(warmed);
    // Loads and stores reach the caches of a core in another order than the program's: single lines differ.
    let same = share(&timed, |line, dirty| warmed.get(&line) == Some(&dirty));
    assert!(same > 0.97, "{same}");
}

#[test]
fn a_steady_start_is_as_a_long_timed_run_ends() {
    for cores in [1, 3] {
        let table = Table {
            rows: 4 * LLC,
            tasks: 20_000,
        };
        let warmed = table.warmed(cores, 7);
        assert_eq!(warmed.ending, Ending::TurnedOver);
        let (warmed, timed) = (lines(warmed), table.timed(cores, 1007));
        assert_eq!(
            (warmed.len(), timed.len()),
            (LLC as usize, LLC as usize),
            "both are full"
        );
        let hot = |line: Line, _| (0..256).contains(&(line.0.wrapping_sub(PM_BASE / LINE_BYTES)));
        // A share of 1,024 lines varies by 1.6 of a hundred from draw to draw; two shares differ by three times 2.2.
        for (what, holds) in [
            ("dirty", &(|_, dirty| dirty) as &dyn Fn(Line, bool) -> bool),
            ("hot", &hot),
        ] {
            let (here, there) = (share(&warmed, holds), share(&timed, holds));
            assert!(
                (here - there).abs() < 0.066,
                "{cores} cores, {what}: {here} and {there}"
            );
            assert!((0.05..0.95).contains(&there), "{what}: {there} tells something");
        }
    }
}

#[test]
fn a_program_whose_lines_fit_ends_soon_and_one_whose_lines_do_not_turns_the_llc_over() {
    let warmed = |rows| {
        let table = Table { rows, tasks: 1 << 40 };
        table.warmed(1, 1)
    };
    let fits = warmed(LLC / 2);
    assert_eq!(fits.ending, Ending::Fits);
    // Half of the LLC, and the volatile line.
    assert_eq!(fits.lines, LLC / 2 + 1);
    assert!(fits.tasks < 100 * LLC, "{} tasks", fits.tasks);
    let turned = warmed(8 * LLC);
    assert_eq!((turned.ending, turned.lines), (Ending::TurnedOver, LLC));
    // Each task takes in a line at most, but for a hot one.
    assert!((LLC..4 * LLC).contains(&turned.tasks), "{} tasks", turned.tasks);
}

#[test]
fn a_bound_names_what_had_not_settled_though_the_last_tasks_settle_it() {
    let table = Table {
        rows: 8 * LLC,
        tasks: 1 << 40,
    };
    let never = AtomicBool::new(false);
    let turned = table.warmed(4, 1).tasks;
    let mut bounds = 0;
    for most in turned - 16..turned {
        let (_, left) = table.warming(4, 1).run(most, &never).expect("it ends");
        if left.ending == Ending::Bound {
            bounds += 1;
            assert!(!left.unsettled.is_empty(), "after {most} of {turned} tasks");
        }
    }
    assert!(bounds > 0, "a bound is just short of the end");
}

#[test]
fn it_is_the_same_each_time_and_stops_when_told() {
    let table = Table {
        rows: 2 * LLC,
        tasks: 2000,
    };
    assert_eq!(lines(table.warmed(2, 3)), lines(table.warmed(2, 3)));
    let warming = table.warming(1, 1);
    let stopped = warming.run(u64::MAX, &AtomicBool::new(true));
    assert_eq!(stopped.err(), Some(Unfinished::Stopped));
}

/// Threads of programs that warm, on a line of volatile memory.
fn warming(threads: Vec<Body>) -> Warming {
    let mut warming = Warming::new(&machine(), &accesses(), Memory::new(128, 0), threads);
    warming.least = 0;
    warming
}

const WORD: Addr = Addr(LINE_BYTES);

#[test]
fn threads_that_wait_for_one_another_take_turns_and_end_what_they_have_begun() {
    // Each waits until the word has its parity, and then counts.
    let thread = |number: u64| -> Body {
        Rc::new(move |cpu| {
            while cpu.has_warm_task() {
                let mut word = cpu.load(WORD, 0, 8).bits();
                while word % 2 != number {
                    word = cpu.load(WORD, 0, 8).bits();
                }
                cpu.store(WORD, 0, 8, word + 1, 0);
                cpu.note(Note::TaskEnd);
            }
        })
    };
    let (memory, contents) = warming(vec![thread(0), thread(1)])
        .run(100, &AtomicBool::new(false))
        .expect("it ends");
    assert_eq!((contents.tasks, contents.ending), (100, Ending::Bound));
    assert_eq!(memory.read(WORD, 8), 100);
}

#[test]
fn a_program_whose_tasks_do_not_end_is_stuck() {
    let thread = |cpu: &Thread<'_>| {
        while cpu.load(WORD, 0, 8).bits() == 0 {
            cpu.spins();
        }
    };
    let stuck = warming(vec![Rc::new(thread)]).run(100, &AtomicBool::new(false));
    assert_eq!(stuck.err(), Some(Unfinished::Stuck));
}

#[test]
fn walks_of_page_tables_take_their_lines_in() {
    let table = Table {
        rows: 4 * LLC,
        tasks: 1000,
    };
    let mut machine = machine();
    machine.tlb = MachineConfig::preset("asap").expect("a preset").tlb;
    (machine.tlb.l1_entries, machine.tlb.l1_ways, machine.tlb.l2_entries) = (4, 4, 0);
    let left = table
        .warming_of(&machine, 1, 7)
        .run(1000, &AtomicBool::new(false))
        .expect("it ends");
    let lines = lines(left.1);
    let page = (PM_BASE + LINE_BYTES * table.rows / 2) / machine.tlb.page_bytes;
    assert!(lines.contains_key(&tables::line(page, 0)), "every task needs one");
}
