//! The timed region: while all programs that have tasks run.

use crate::common::{memory, observed, preset, put, Plain};
use strandline_design::boxed;
use strandline_isa::{Cpu, Note, Primitive, PM_BASE};
use strandline_machine::{Options, Outcome, System};

/// The outcome of programs that each run so many tasks, each on lines of its own.
fn ran(tasks: &[u64]) -> Outcome {
    ran_under(tasks, Options::default())
}

fn ran_under(tasks: &[u64], options: Options) -> Outcome {
    let mut system = System::new(&preset("cosplay"), boxed(Plain), tasks.len(), memory(), options);
    for (core, &tasks) in tasks.iter().enumerate() {
        put(&mut system, core as u16, move |cpu| {
            cpu.start_line();
            for task in 0..tasks {
                cpu.note(Note::TaskBegin);
                let address = cpu.word(PM_BASE + (core as u64 * 512 + task % 512) * 64);
                address.store(cpu.word(task));
                address.flush();
                cpu.primitive(Primitive::Sfence);
                cpu.note(Note::TaskEnd);
            }
        });
    }
    system.run().expect("all end")
}

#[test]
fn it_ends_with_the_first_program_that_is_done() {
    let (even, uneven) = (ran(&[200, 200]).stats, ran(&[200, 2000]).stats);
    assert_eq!(uneven.cycles, even.cycles, "as if the others had ended, too");
    // The other core is as far, but for what it runs ahead.
    assert!((398..=400).contains(&uneven.tasks), "{}", uneven.tasks);
    assert!((398..=402).contains(&uneven.fences), "{}", uneven.fences);
    assert!(uneven.pm_writes <= 400, "{}", uneven.pm_writes);
    assert_eq!(uneven.tasks, uneven.latencies.all().count());
}

#[test]
fn a_program_without_tasks_does_not_end_it() {
    let (alone, beside) = (ran(&[200]).stats, ran(&[200, 0]).stats);
    assert_eq!((beside.tasks, beside.cycles), (200, alone.cycles));
}

#[test]
fn the_run_itself_goes_on_to_its_end() {
    let outcome = ran_under(&[1, 10], observed());
    assert!(outcome.stats.tasks < 11, "{}", outcome.stats.tasks);
    let journal = outcome.journal.expect("it is kept");
    let ended = journal
        .notes
        .iter()
        .flatten()
        .filter(|noted| noted.note == Note::TaskEnd);
    assert_eq!(ended.count(), 11);
}
