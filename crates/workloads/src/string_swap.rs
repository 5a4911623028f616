//! `string-swap`: swaps of random strings of an array.
//!
//! Speculative Persistence (ISCA 2017), Table 1 "String Swap", and 3.2. A string has 256 bytes. An operation draws two
//! strings, logs both line by line, and swaps them by three copies, the first to a buffer of its own; each copy is a
//! loop over words. It flushes eight data lines and one line of addresses of the log ("eight clwbs for logging entries
//! and one for indexes"), and eight lines of the strings.
//!
//! A string has four lines under write-ahead logging. The other logs need the last word of each line; there it has
//! five.
//!
//! The paper gives no size of the array. Here it has as many strings as there are operations before the run (#InitOps):
//! 120,000, or 30 MB. Simplified: the two strings always differ (the second of two equal draws is incremented by one).

use crate::operations::Lists;
use crate::papers::SPECULATIVE;
use crate::params::param;
use crate::populate::populate;
use crate::structures::init_ops;
use crate::About;
use std::ops::Range;
use strandline_isa::{sites, Addr, Cpu, Image, Memory, LINE_BYTES, W};
use strandline_kernel::{Param, ParamError, Params};
use strandline_runtime::{
    copy_words, log_records, place, BuildPlan, Demand, Heap, Locks, LogLayout, Region, Runtime, Step, Table,
    ThreadState, Workload, PAYLOAD_BYTES,
};

sites! {
    SAME_STRING = 0xb02e_97d4;
    IS_PAST_LAST_STRING = 0x19c8_f36b;
    FIRST_STRING_IS_LOWER = 0xe4d5_0a71;
    MORE_TO_COPY = 0x2970_9914;
}

/// The workload's description.
pub const ABOUT: About = About {
    name: "string-swap",
    line: "swaps random strings of an array",
    paper: "Speculative Persistence (ISCA 2017), Table 1, String Swap",
    tasks: 500_000,
    params: PARAMS,
    small: &[("strings", "6"), ("init_ops", "10"), ("log_records", "36")],
    ..SPECULATIVE
};

const PARAMS: &[Param] = &[
    param("strings", 120_000, 2..=1 << 24, "strings of the array"),
    init_ops(120_000),
    // Undo log: nine records of a string, two strings, two regions.
    log_records(36),
];

/// Words of a string: 256 bytes.
const WORDS: u64 = 32;

/// Lines of a string without trailers, and with them.
const FULL_LINES: u64 = 4;
const LINES: u64 = 5;

/// The rows of the array.
#[derive(Clone, Copy)]
enum Rows {
    /// Of full lines.
    Full(Table<{ FULL_LINES * PAYLOAD_BYTES }>),
    /// Of lines that end in a trailer.
    Trailed(Table<{ 8 * WORDS }>),
}

/// An array of strings; each is a number in every word.
pub struct StringSwap {
    rows: Rows,
    strings: u64,
    locks: Locks,
    shared: bool,
    init_ops: u64,
    /// For each lane, the stack of a swap: a line to which calls push, then room for a string.
    stacks: Lists,
    logs: LogLayout,
}

/// The word of a string: which string it is, and which word.
fn content(string: u64, word: u64) -> u64 {
    string << 8 | word
}

impl Rows {
    fn row<'c, C: Cpu>(&self, index: W<'c, C>) -> W<'c, C> {
        match self {
            Rows::Full(table) => table.row(index),
            Rows::Trailed(table) => table.row(index),
        }
    }

    /// The offset of a word in a row.
    fn offset(&self, word: u64) -> u64 {
        match self {
            Rows::Full(_) => 8 * word,
            Rows::Trailed(_) => place(8 * word),
        }
    }

    fn word(&self, index: u64, word: u64) -> Addr {
        let row = match self {
            Rows::Full(table) => table.addr(index),
            Rows::Trailed(table) => table.addr(index),
        };
        Addr(row.0 + self.offset(word))
    }

    fn range(&self) -> Range<u64> {
        match self {
            Rows::Full(table) => table.range(),
            Rows::Trailed(table) => table.range(),
        }
    }

    fn log<'c, C: Cpu>(&self, region: &mut Region<'_, 'c, C>, row: W<'c, C>) {
        let _call = row.call(2);
        match self {
            Rows::Full(_) => {
                for line in 0..FULL_LINES {
                    let at = if line == 0 { row } else { row + line * LINE_BYTES };
                    region.log(at, 0, LINE_BYTES);
                }
            }
            Rows::Trailed(_) => region.log_row(row, 8 * WORDS),
        }
    }

    /// The pieces of a row between trailers: their offsets and bytes.
    fn pieces(&self) -> impl Iterator<Item = (u64, u64)> {
        let bytes = match self {
            Rows::Full(_) => 8 * WORDS,
            Rows::Trailed(_) => PAYLOAD_BYTES,
        };
        let starts = (0..8 * WORDS).step_by(bytes as usize);
        starts
            .zip((0..).step_by(LINE_BYTES as usize))
            .map(move |(start, offset)| (offset, bytes.min(8 * WORDS - start)))
    }
}

/// Copies `bytes` bytes to a string that the region has logged, as [`copy_words`] does.
fn update_words<'c, C: Cpu>(stack: W<'c, C>, region: &mut Region<'_, 'c, C>, to: W<'c, C>, from: W<'c, C>, bytes: u64) {
    let _call = to.call(3);
    stack.store(stack);
    let (mut to, mut at) = (to, from);
    let end = from + bytes;
    while at.less(end).branch(MORE_TO_COPY) {
        let word = region.read(at, 8);
        region.update(to, word, 8);
        to = to + 8;
        at = at + 8;
    }
    stack.load();
}

impl StringSwap {
    /// Draws two strings, the lower first.
    fn draw<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>) -> (W<'c, C>, W<'c, C>) {
        let first = thread.random.below(self.strings);
        let mut second = thread.random.below(self.strings);
        if first.equals(second).branch(SAME_STRING) {
            second = second + 1;
            if second.is(self.strings).branch(IS_PAST_LAST_STRING) {
                second = thread.cpu.word(0);
            }
        }
        match first.less(second).branch(FIRST_STRING_IS_LOWER) {
            true => (first, second),
            false => (second, first),
        }
    }

    fn swap<'c, C: Cpu>(&self, stack: W<'c, C>, region: &mut Region<'_, 'c, C>, a: W<'c, C>, b: W<'c, C>) {
        let _call = a.call(4);
        let buffer = stack.at(LINE_BYTES);
        self.rows.log(region, a);
        self.rows.log(region, b);
        region.order(Step::Last);
        for (at, bytes) in self.rows.pieces() {
            copy_words(stack, buffer.at(at), a.at(at), bytes);
            update_words(stack, region, a.at(at), b.at(at), bytes);
            update_words(stack, region, b.at(at), buffer.at(at), bytes);
        }
        region.finish();
    }
}

impl Workload for StringSwap {
    fn lay_out(params: &Params, plan: &BuildPlan) -> Result<(Self, Heap), ParamError> {
        let strings = params.get("strings");
        let mut heap = Heap::new(plan);
        let rows = match plan.logging.runtime {
            Runtime::Wal(_) => Rows::Full(heap.table(strings)),
            _ => Rows::Trailed(heap.table(strings)),
        };
        let swap = StringSwap {
            rows,
            strings,
            locks: Locks::allocate(&mut heap, strings),
            shared: plan.lanes() > 1,
            init_ops: params.get("init_ops"),
            stacks: Lists::allocate(&mut heap, plan.lanes(), (1 + LINES) * LINE_BYTES / 8),
            logs: LogLayout::allocate(&mut heap, plan.lanes(), params.get("log_records")),
        };
        Ok((swap, heap))
    }

    fn fill(&self, memory: &Memory, seed: u64) {
        for string in 0..self.strings {
            for word in 0..WORDS {
                memory.set_word(self.rows.word(string, word), content(string, word));
            }
        }
        populate(self, memory, seed, self.init_ops);
    }

    fn region(_params: &Params) -> Demand {
        Demand {
            lines: 2 * LINES,
            words: 2 * WORDS,
        }
    }

    fn task<C: Cpu>(&self, thread: &mut ThreadState<'_, C>) {
        let (low, high) = self.draw(thread);
        if self.shared {
            thread.log.lock(self.locks.at(low));
            thread.log.lock(self.locks.at(high));
        }
        let (a, b) = (self.rows.row(low), self.rows.row(high));
        let stack = self.stacks.of(thread);
        self.swap(stack, &mut thread.log.begin(), a, b);
        if self.shared {
            thread.log.unlock(self.locks.at(high));
            thread.log.unlock(self.locks.at(low));
        }
    }

    /// Each string is there once, and not torn.
    fn check(&self, image: &dyn Image) -> Result<(), String> {
        let mut seen = vec![false; self.strings as usize];
        for place in 0..self.strings {
            let string = image.word(self.rows.word(place, 0)) >> 8;
            match seen.get_mut(string as usize) {
                None => return Err(format!("place {place} holds string {string}, which was never put in")),
                Some(true) => return Err(format!("place {place} holds string {string}, and so does another")),
                Some(new) => *new = true,
            }
            let torn = (0..WORDS).find(|word| image.word(self.rows.word(place, *word)) != content(string, *word));
            if let Some(word) = torn {
                return Err(format!("place {place} holds string {string}, but not in word {word}"));
            }
        }
        Ok(())
    }

    fn logs(&self) -> LogLayout {
        self.logs
    }

    fn footprint(&self) -> Vec<Range<u64>> {
        let locks = self.locks.range(self.strings);
        let own = [self.stacks.range(), self.logs.lists(), self.logs.range()];
        [self.rows.range(), locks].into_iter().chain(own).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{params, plan};
    use strandline_runtime::{Logging, Wal};

    fn built(runtime: Runtime) -> (StringSwap, Memory) {
        let params = params(PARAMS, &[("strings", 9), ("init_ops", 50)]).unwrap();
        let logging = Logging {
            runtime,
            batch: 1,
            ..Logging::UNDO
        };
        StringSwap::build(&params, &BuildPlan { logging, ..plan(3) }).unwrap()
    }

    #[test]
    fn every_layout_holds_a_permutation_and_faults_are_named() {
        for runtime in [Runtime::Undo, Runtime::Wal(Wal::LogPSf)] {
            let (swap, memory) = built(runtime);
            assert_eq!(swap.check(&memory), Ok(()));
            let moved = (0..9).filter(|place| memory.word(swap.rows.word(*place, 0)) >> 8 != *place);
            // Nine strings after fifty swaps: a string is at home at odds of one in nine.
            assert!(moved.count() > 4);
            let damaged = |place, word, value| {
                let image = memory.clone();
                image.set_word(swap.rows.word(place, word), value);
                swap.check(&image).unwrap_err()
            };
            assert!(damaged(3, 31, 0).contains("but not in word 31"));
            assert!(damaged(3, 0, content(9, 0)).contains("never put in"));
            let other = memory.word(swap.rows.word(4, 0));
            assert!(damaged(5, 0, other).contains("so does another"));
        }
    }
}
