//! A program's own function that copies words.

use strandline_isa::{sites, Cpu, W};

sites! {
    MORE_TO_COPY = 0x5bea_a163;
}

/// Copies `bytes` bytes, a multiple of 8, from `from` on to `to`, word by word: a function with two pointers and a
/// length. A word takes a load, a store, a step of each pointer, a comparison and a branch. The function is not
/// inlined: its call pushes a return address to the word `stack`, which the return loads.
pub fn copy_words<'c, C: Cpu>(stack: W<'c, C>, to: W<'c, C>, from: W<'c, C>, bytes: u64) {
    let _call = to.call(3);
    stack.store(stack);
    let (mut to, mut at) = (to, from);
    let end = from + bytes;
    while at.less(end).branch(MORE_TO_COPY) {
        let word = at.load();
        to.store(word);
        to = to + 8;
        at = at + 8;
    }
    stack.load();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{finish, Plain};
    use strandline_isa::{Addr, CoreId, Image, Lowering, Memory};

    #[test]
    fn the_words_and_no_others_are_copied() {
        let memory = Memory::new(256, 0);
        for word in 0..8 {
            memory.set_word(Addr(64 + 8 * word), 100 + word);
        }
        let cpu = Plain::new(&memory, CoreId(0), Lowering::NOTHING);
        finish(|| copy_words(cpu.word(8), cpu.word(136), cpu.word(72), 24)).unwrap();
        let found: Vec<u64> = (16..22).map(|word| memory.word(Addr(8 * word))).collect();
        assert_eq!(found, [0, 101, 102, 103, 0, 0]);
    }
}
