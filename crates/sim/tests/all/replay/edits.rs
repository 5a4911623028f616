//! Replays with fewer or weaker flushes and fences.

use super::spec;
use super::tape::{access, Clflush, Clwb, Store, Tape, PM};
use iced_x86::code_asm::{byte_ptr, qword_ptr, rax, rdi};
use std::path::{Path, PathBuf};
use strandline_record::{Edit, Edits, FenceClass};
use strandline_sim::Run;

const CODE: u64 = 0x40_0000;
/// The addresses of the second `clwb`, and of what follows it.
const TWICE: u64 = CODE + 7;
const SFENCE: u64 = CODE + 11;
const CLFLUSH: u64 = CODE + 14;
const MFENCE: u64 = CODE + 17;

/// Which instructions a tape has.
#[derive(Clone, Copy)]
struct Has {
    twice: bool,
    sfence: bool,
    strong: bool,
}

const ALL: Has = Has {
    twice: true,
    sfence: true,
    strong: true,
};

/// Ten stores, each flushed and fenced, and flushed and fenced again.
fn tape(name: &str, has: Has) -> PathBuf {
    let mut tape = Tape::new();
    let flush = if has.strong { Clflush } else { Clwb };
    let mut kinds = vec![Store, Clwb];
    kinds.extend(has.twice.then_some(Clwb));
    let mut accesses: Vec<_> = (0..).zip(&kinds).map(|(index, kind)| (index, *kind)).collect();
    accesses.push((kinds.len() as u16 + u16::from(has.sfence), flush));
    let accesses: Vec<_> = accesses
        .into_iter()
        .map(|(index, kind)| access(index, kind, if kind == Store { 8 } else { 64 }))
        .collect();
    let block = tape.block(CODE, &accesses, |a| {
        a.mov(qword_ptr(rdi), rax)?;
        a.clwb(byte_ptr(rdi))?;
        if has.twice {
            a.clwb(byte_ptr(rdi))?;
        }
        if has.sfence {
            a.sfence()?;
        }
        match has.strong {
            true => a.clflush(byte_ptr(rdi))?,
            false => a.clwb(byte_ptr(rdi))?,
        }
        match has.strong {
            true => a.mfence(),
            false => a.sfence(),
        }
    });
    for i in 0..10 {
        tape.run(0, block, &vec![PM + 64 * i; accesses.len()], &[i]);
    }
    let fences = vec![FenceClass::Durable; if has.sfence { 20 } else { 10 }];
    tape.fences(0, &fences);
    tape.save(name)
}

fn cycles(path: &Path, edits: Edits) -> (u64, u64, u64) {
    let spec = spec("x86", path);
    let run = Run {
        edits,
        ..Run::of(&spec)
    };
    let record = run.record().unwrap_or_else(|error| panic!("{error}"));
    (record.stats.cycles.0, record.stats.flushes, record.stats.fences)
}

fn code(changes: &[(u64, Edit)]) -> Edits {
    Edits {
        code: changes.iter().copied().collect(),
        ..Edits::default()
    }
}

#[test]
fn what_is_left_out_takes_no_time() {
    let path = tape("whole", ALL);
    let whole = cycles(&path, Edits::default());
    assert_eq!((whole.1, whole.2), (30, 20));
    let without = tape("no-second-flush", Has { twice: false, ..ALL });
    let left_out = cycles(&path, code(&[(TWICE, Edit::Drop)]));
    assert_eq!(left_out, cycles(&without, Edits::default()));
    assert!(left_out.0 < whole.0, "{left_out:?} {whole:?}");
    let without = tape("no-sfence", Has { sfence: false, ..ALL });
    assert_eq!(
        cycles(&path, code(&[(SFENCE, Edit::Drop)])),
        cycles(&without, Edits::default())
    );
}

#[test]
fn single_executions_are_left_out_by_their_numbers() {
    let path = tape("executions", ALL);
    // Of each five flushes and fences of an iteration, the second is the flush of a flushed line.
    let executions = (0..10).map(|iteration| (0, 5 * iteration + 2)).collect();
    let executions = Edits {
        executions,
        ..Edits::default()
    };
    assert_eq!(cycles(&path, executions), cycles(&path, code(&[(TWICE, Edit::Drop)])));
    let none = Edits {
        executions: [(1, 2), (0, 51)].into(),
        ..Edits::default()
    };
    assert_eq!(cycles(&path, none), cycles(&path, Edits::default()));
}

#[test]
fn weaker_ones_are_replayed_as_what_they_become() {
    let weak = Has { strong: false, ..ALL };
    let path = tape("strong", ALL);
    let weakened = cycles(&path, code(&[(CLFLUSH, Edit::Weaken), (MFENCE, Edit::Weaken)]));
    assert_eq!(weakened, cycles(&tape("weak", weak), Edits::default()));
    assert_eq!(
        cycles(&path, code(&[(TWICE, Edit::Weaken)])),
        cycles(&path, Edits::default()),
        "there is nothing weaker"
    );
}
