//! Recorded accesses under a design whose programs annotate acquires and releases.

use super::spec;
use super::tape::{access, Atomic, Load, Store, Tape, Update, DRAM, PM};
use iced_x86::code_asm::{qword_ptr, rax, rdi, rsi};
use std::path::{Path, PathBuf};
use strandline_design::{boxed, About, Design, Plain};
use strandline_isa::{Lowering, Primitive};
use strandline_kernel::Cycles;
use strandline_machine::TraceOp;
use strandline_record::Event;
use strandline_sim::{observe, Observation, Run, Traced};

const LOCK: u64 = DRAM;

/// The plain machine, with annotations.
struct Marked;

impl Design for Marked {
    type Own = Plain;

    fn about(&self) -> About {
        About {
            name: "marked",
            model: "none",
            ..About::default()
        }
    }

    fn lowering(&self) -> Lowering {
        Lowering {
            acquire: &[Primitive::Acquire],
            release: &[Primitive::Release],
            ..Lowering::NOTHING
        }
    }
}

fn marked(path: &Path) -> Observation {
    let spec = spec("x86", path);
    let run = Run {
        design: Some(boxed(Marked)),
        patience: Some(Cycles::NEVER),
        ..Run::of(&spec)
    };
    run.observe(Traced::Everything)
        .unwrap_or_else(|error| panic!("{error}"))
}

/// A thread's accesses: a letter each (capital if persistent), `<` an acquire, `>` a release.
fn told(seen: &Observation, thread: usize) -> String {
    let ops = seen.journal.trace.programs[thread].iter();
    let letter = |persistent: bool, letter: char| {
        if persistent {
            letter.to_ascii_uppercase()
        } else {
            letter
        }
    };
    let letters = ops.filter_map(|op| match op {
        TraceOp::Load { addr, .. } => Some(letter(addr.is_persistent(), 'l')),
        TraceOp::Store { addr, .. } => Some(letter(addr.is_persistent(), 's')),
        TraceOp::Rmw { .. } => Some('x'),
        TraceOp::Primitive(Primitive::Acquire) => Some('<'),
        TraceOp::Primitive(Primitive::Release) => Some('>'),
        _ => None,
    });
    letters.collect()
}

/// A thread reads a lock, takes it, updates persistent and volatile memory and releases it; another thread does so
/// later.
fn sections(name: &str, threads: u32) -> PathBuf {
    let mut tape = Tape::new();
    let accesses = [
        access(0, Load, 8),
        access(1, Atomic, 8),
        access(2, Update, 8),
        access(3, Load, 8),
        access(4, Store, 8),
        access(5, Store, 8),
    ];
    let section = tape.block(0x40_0000, &accesses, |a| {
        a.mov(rax, qword_ptr(rsi))?;
        a.xchg(qword_ptr(rsi), rax)?;
        a.add(qword_ptr(rdi), 1)?;
        a.mov(rax, qword_ptr(rsi + 64))?;
        a.mov(qword_ptr(rsi + 64), rax)?;
        a.mov(qword_ptr(rsi), rax)
    });
    for number in 0..2 {
        let turns = [(1, 2 * number), (5, 2 * number + 1)];
        let addresses = [LOCK, LOCK, PM, LOCK + 64, LOCK + 64, LOCK];
        let turns = if threads == 1 { &[][..] } else { &turns };
        tape.run_in_turn(number % threads, section, &addresses, &[1, 7, 0, 0], turns);
    }
    tape.save(name)
}

#[test]
fn locked_instructions_do_both_and_other_accesses_of_their_words_one() {
    let seen = marked(&sections("marked", 2));
    for thread in 0..2 {
        // A read of the lock, the lock, a persistent update, a volatile load and store, the release.
        assert_eq!(told(&seen, thread), "l<>x<LSls>s");
    }
}

#[test]
fn designs_that_do_not_ask_are_told_nothing() {
    let seen = observe(&spec("x86", &sections("unmarked", 2))).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(told(&seen, 0), "lxLSlss");
}

#[test]
fn a_thread_alone_synchronises_with_nobody() {
    let seen = marked(&sections("alone", 1));
    assert_eq!(told(&seen, 0), "lxLSlsslxLSlss");
}

#[test]
fn who_starts_a_thread_releases_and_the_thread_acquires() {
    let mut tape = Tape::new();
    let store = tape.block(0x40_0000, &[access(0, Store, 8)], |a| a.mov(qword_ptr(rdi), rax));
    tape.run(0, store, &[PM], &[1]);
    tape.event(0, Event::Signal { number: 7 });
    tape.event(1, Event::Wait { number: 7, times: 1 });
    tape.run(1, store, &[PM + 64], &[2]);
    let seen = marked(&tape.save("started"));
    assert_eq!((told(&seen, 0).as_str(), told(&seen, 1).as_str()), ("S>s", "l<S"));
}

/// A thread updates persistent memory and hands a word on by a plain store; the other one reads the word, which is its turn
/// or not, and updates, too.
fn handed_on(name: &str, has_turns: bool) -> PathBuf {
    let mut tape = Tape::new();
    let giving = [access(0, Update, 8), access(1, Store, 8)];
    let gives = tape.block(0x40_0000, &giving, |a| {
        a.add(qword_ptr(rdi), 1)?;
        a.mov(qword_ptr(rsi), rax)
    });
    let taking = [access(0, Load, 8), access(1, Update, 8)];
    let takes = tape.block(0x41_0000, &taking, |a| {
        a.mov(rax, qword_ptr(rsi))?;
        a.add(qword_ptr(rdi), 1)
    });
    let turns = |turn: (u16, u32)| if has_turns { vec![turn] } else { Vec::new() };
    tape.run_in_turn(0, gives, &[PM, LOCK], &[1, 0], &turns((1, 0)));
    tape.run_in_turn(1, takes, &[LOCK, PM], &[2], &turns((0, 1)));
    tape.save(name)
}

#[test]
fn a_word_for_which_a_thread_waited_is_released_and_acquired() {
    let seen = marked(&handed_on("handed", true));
    assert_eq!((told(&seen, 0).as_str(), told(&seen, 1).as_str()), ("LS>s", "l<LS"));
    let seen = marked(&handed_on("unwaited", false));
    assert_eq!((told(&seen, 0).as_str(), told(&seen, 1).as_str()), ("LSs", "lLS"));
}
