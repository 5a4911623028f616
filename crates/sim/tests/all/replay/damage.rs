//! The replay of a damaged recording with right checksums ends, with an error or a result.

use super::forge::{number, put, with_steps};
use super::spec;
use super::tape::{access, Atomic, Load, Store, Tape, DRAM, PM};
use iced_x86::code_asm::{qword_ptr, rax, rdi, rsi, zmm0, zmmword_ptr};
use proptest::prelude::*;
use proptest::sample::Index;
use std::path::{Path, PathBuf};
use strandline_record::{AccessKind, Event};
use strandline_sim::{run, Error};

/// Two threads with a lock and a signal, and loads of a line.
fn sample(name: &str) -> PathBuf {
    let mut tape = Tape::new();
    let accesses = [access(0, Atomic, 8), access(1, Store, 8), access(3, Store, 8)];
    let section = tape.block(0x40_0000, &accesses, |a| {
        a.xchg(qword_ptr(rsi), rax)?;
        a.mov(qword_ptr(rdi), rax)?;
        a.sfence()?;
        a.mov(qword_ptr(rsi), rax)
    });
    let line = tape.block(0x40_1000, &[access(0, Load, 64)], |a| a.vmovups(zmm0, zmmword_ptr(rsi)));
    for number in 0..6u32 {
        let thread = number % 2;
        let turns = [(0, 2 * number), (2, 2 * number + 1)];
        let lock_and_data = [DRAM, PM + 64 * u64::from(number), DRAM];
        tape.run_in_turn(thread, section, &lock_and_data, &[1, u64::from(number), 0], &turns);
        tape.run(thread, line, &[DRAM + 0x1010 + 64 * u64::from(number)], &[]);
    }
    tape.event(0, Event::Signal { number: 3 });
    tape.event(1, Event::Wait { number: 3, times: 1 });
    tape.run(1, line, &[DRAM + 0x1010], &[]);
    tape.save(name)
}

/// The error of a run of a damaged recording, if there is one; it must be bad input.
fn refused(design: &str, path: &Path) -> Option<String> {
    match run(&spec(design, path)) {
        Ok(_) => None,
        Err(Error::Input(line)) => Some(line),
        Err(stuck) => panic!("{design}: a damaged recording is replayed: {stuck}"),
    }
}

fn written(name: &str, bytes: &[u8]) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.strand"));
    std::fs::write(&path, bytes).expect("the target directory can be written");
    path
}

/// The content of a block of steps with another first distance (the address of the first access).
fn with_first_distance(content: &[u8], far: u64) -> Vec<u8> {
    let mut at = 0;
    let mut lengths: Vec<u64> = (0..6).map(|_| number(content, &mut at)).collect();
    let distances = at + lengths[..3].iter().sum::<u64>() as usize;
    let mut after = distances;
    number(content, &mut after);
    let mut replaced = Vec::new();
    put(&mut replaced, far);
    lengths[3] = lengths[3] + replaced.len() as u64 - (after - distances) as u64;
    let mut out = Vec::new();
    lengths.into_iter().for_each(|length| put(&mut out, length));
    [&out[..], &content[at..distances], &replaced, &content[after..]].concat()
}

#[test]
fn an_access_that_wraps_around_the_end_of_addresses_is_refused() {
    let mut tape = Tape::new();
    let line = tape.block(0x40_0000, &[access(0, Load, 64)], |a| a.vmovups(zmm0, zmmword_ptr(rsi)));
    tape.run(0, line, &[DRAM + 16], &[]);
    let bytes = std::fs::read(tape.save("wraps-whole")).expect("just written");
    // 112 bytes below address 0: the second line of the access would wrap around to 0.
    let far = 2 * 112 - 1;
    let forged = with_steps(&bytes, 0, &mut |content| *content = with_first_distance(content, far));
    let path = written("wraps", &forged);
    let line = refused("x86", &path).expect("no program has such an address");
    assert!(
        line.contains("wraps.strand: byte") && line.contains("thread 0, step 0"),
        "{line}"
    );
}

#[test]
fn a_forgery_that_changes_nothing_is_replayed() {
    let bytes = std::fs::read(sample("forge-whole")).expect("just written");
    assert_eq!(
        refused("x86", &written("forge-same", &with_steps(&bytes, 0, &mut |_| ()))),
        None
    );
}

#[test]
fn what_waits_for_a_turn_or_a_signal_that_never_comes_is_refused_under_each_design() {
    for design in strandline_designs::abouts().iter().map(|about| about.name) {
        let mut tape = Tape::new();
        let store = tape.block(0x40_0000, &[access(0, Store, 8)], |a| a.mov(qword_ptr(rdi), rax));
        let write = |tape: &mut Tape, thread| tape.run(thread, store, &[PM], &[7]);
        write(&mut tape, 0);
        tape.event(0, Event::Wait { number: 1, times: 2 });
        tape.event(1, Event::Signal { number: 1 });
        tape.run_in_turn(1, store, &[PM], &[8], &[(0, 9)]);
        let line = refused(design, &tape.save("never-comes")).expect("both threads wait");
        assert!(
            line.contains("thread 0 waits for signal 1") && line.contains("1 more thread"),
            "{design}: {line}"
        );
    }
}

/// An `sfence` that claims to store: a turn waits for its write, but no micro-op performs it.
#[test]
fn a_replay_in_which_no_instruction_is_executed_any_more_is_given_up_under_each_design() {
    // A design that interrupts programs runs no recordings.
    let runs_recordings = |name: &&str| {
        let design = strandline_designs::design(name).expect("a registered design");
        !design.lowering().interrupts()
    };
    let names = strandline_designs::abouts().into_iter().map(|about| about.name);
    for design in names.filter(runs_recordings) {
        let mut tape = Tape::new();
        let fence = tape.block(0x40_0000, &[access(0, Store, 8)], |a| a.sfence());
        let store = tape.block(0x40_1000, &[access(0, Store, 8)], |a| a.mov(qword_ptr(rdi), rax));
        tape.run_in_turn(0, fence, &[DRAM], &[0], &[(0, 0)]);
        tape.run(1, store, &[PM], &[7]);
        tape.run_in_turn(1, store, &[DRAM], &[8], &[(0, 1)]);
        let error = run(&spec(design, &tape.save("no-instruction"))).expect_err("its turn never comes");
        assert!(error.to_string().contains("waits for write 1"), "{design}: {error}");
    }
}

/// A string instruction that stores repeatedly to the word of a lock, in one line.
#[test]
fn stores_of_a_string_instruction_are_counted_where_others_wait_for_them() {
    let mut tape = Tape::new();
    let clear = tape.string(0x40_0000, &[0xf3, 0x48, 0xab], &[access(0, AccessKind::Store, 8)]);
    let take = tape.block(0x40_1000, &[access(0, Atomic, 8)], |a| a.xchg(qword_ptr(rsi), rax));
    tape.run(0, clear, &[DRAM], &[0]);
    tape.run_in_turn(0, clear, &[DRAM + 8], &[0], &[(0, 0)]);
    tape.run_in_turn(1, take, &[DRAM + 8], &[1], &[(0, 1)]);
    assert_eq!(refused("x86", &tape.save("string-turn")), None);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn any_damage_to_a_block_of_steps_ends(
        which in 0usize..2,
        changes in proptest::collection::vec((any::<Index>(), any::<u8>()), 1..4),
    ) {
        let bytes = std::fs::read(sample("any-whole")).expect("just written");
        let forged = with_steps(&bytes, which, &mut |content| {
            for (place, byte) in &changes {
                let place = place.index(content.len());
                content[place] = *byte;
            }
        });
        let path = written("any-damage", &forged);
        for design in ["x86", "hops-ep"] {
            // Either outcome is right, as long as there is one.
            let line = refused(design, &path);
            prop_assert!(line.is_none_or(|line| line.lines().count() == 1));
        }
    }
}
