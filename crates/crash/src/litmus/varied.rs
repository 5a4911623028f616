//! Variations of a program.

use strandline_kernel::Rng;
use strandline_order::litmus::Instruction;
use strandline_order::Test;

/// Most changes of a variation.
const CHANGES: u64 = 3;

/// One of these programs with a few changes, or none: another seed is another machine.
pub fn varied(programs: &[Test], rng: &mut Rng) -> Test {
    let mut test = programs[rng.below(programs.len() as u64) as usize].clone();
    for _ in 0..rng.below(CHANGES + 1) {
        change(&mut test.threads, rng);
    }
    test
}

/// Leaves out an instruction, executes it once more in some thread, or exchanges it with the one before.
fn change(threads: &mut [Vec<Instruction>], rng: &mut Rng) {
    let thread = rng.below(threads.len() as u64) as usize;
    let Some(index) = place(&threads[thread], rng) else {
        return;
    };
    match rng.below(3) {
        0 => _ = threads[thread].remove(index),
        1 => {
            let instruction = threads[thread][index];
            let to = rng.below(threads.len() as u64) as usize;
            // An output is made once.
            if !matches!(instruction, Instruction::Out(..)) {
                let index = rng.below(threads[to].len() as u64 + 1) as usize;
                threads[to].insert(index, instruction);
            }
        }
        _ => threads[thread].swap(index, index.saturating_sub(1)),
    }
}

fn place(thread: &[Instruction], rng: &mut Rng) -> Option<usize> {
    (!thread.is_empty()).then(|| rng.below(thread.len() as u64) as usize)
}
