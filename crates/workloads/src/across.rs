//! What programs across hosts have in common: lines whose words follow from a number, invalidates, lanes whose hosts have
//! failed, and what a lane has read that is wrong.

use std::ops::Range;
use strandline_isa::{Addr, CoreId, Cpu, Flush, Image, Intent, Note, Primitive, LINE_BYTES, W};
use strandline_runtime::{BuildPlan, Heap, Rows};

/// Words of a line that follow from its number.
const WORDS: u64 = 6;
/// Offset of their sum.
const SUM: u64 = 8 * (WORDS + 1);
/// What a word differs by from the one before.
pub const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
/// What a sum is multiplied by at each word. Words of two numbers, in one line while it is written, then have no right sum by
/// chance, as they have where a sum is only their `xor`.
pub const FACTOR: u64 = 0x2545_f491_4f6c_dd1d;
/// Lines of each log of regions, which these programs never write.
pub const LOG_RECORDS: u64 = 8;

/// A sum with a further word.
pub fn mixed<'c, C: Cpu>(sum: W<'c, C>, word: W<'c, C>) -> W<'c, C> {
    (sum ^ word) * FACTOR
}

/// As [`mixed`].
pub fn mix(sum: u64, word: u64) -> u64 {
    (sum ^ word).wrapping_mul(FACTOR)
}

/// The line of a number: itself, words that follow from it, and their sum.
pub fn line(number: u64) -> [u64; 8] {
    let mut words = [number; 8];
    for index in 1..=WORDS as usize {
        words[index] = words[index - 1].wrapping_add(STEP);
    }
    words[7] = words[..7].iter().fold(0, |sum, word| mix(sum, *word));
    words
}

/// Stores the line of a number.
pub fn store_line<'c, C: Cpu>(at: W<'c, C>, number: W<'c, C>) {
    at.store(number);
    let (mut word, mut sum) = (number, number * FACTOR);
    for index in 1..=WORDS {
        word = word + STEP;
        sum = mixed(sum, word);
        at.at(8 * index).store(word);
    }
    at.at(SUM).store(sum);
}

/// What a line holds.
pub struct Found<'c, C: Cpu> {
    /// Its number.
    pub number: W<'c, C>,
    /// The sum of its words.
    pub sum: W<'c, C>,
    /// By what its sum is off.
    pub off: W<'c, C>,
}

/// Loads a line of a number.
pub fn load_line<C: Cpu>(at: W<'_, C>) -> Found<'_, C> {
    let number = at.load();
    let sum = (1..=WORDS).fold(number * FACTOR, |sum, index| mixed(sum, at.at(8 * index).load()));
    let off = sum ^ at.at(SUM).load();
    Found { number, sum, off }
}

/// Whether this is the line of a number.
pub fn holds(image: &dyn Image, at: Addr, number: u64) -> bool {
    words_of(at, number).all(|(addr, word)| image.word(addr) == word)
}

/// The addresses and words of the line of a number.
fn words_of(at: Addr, number: u64) -> impl Iterator<Item = (Addr, u64)> {
    (at.0..).step_by(8).map(Addr).zip(line(number))
}

/// A region writes these words, of which those in the fresh lines are reached only by the others.
pub fn announce<C: Cpu>(cpu: &C, fresh: &[Addr], words: impl Iterator<Item = (Addr, u64)>) {
    cpu.note(Note::RegionBegin);
    for at in fresh {
        cpu.note(Note::RegionFresh { line: at.line() });
    }
    words.for_each(|(addr, value)| cpu.note(Note::RegionWrite { addr, size: 8, value }));
}

/// A region writes the line of a number, and then a word by which it is reached.
pub fn announce_line<C: Cpu>(cpu: &C, at: Addr, number: u64, word: (Addr, u64)) {
    announce(cpu, &[at], words_of(at, number).chain([word]));
}

/// Makes what was stored before durable. Others may be told of it behind that: what they store then never outlives it.
pub fn durable<C: Cpu>(cpu: &C) {
    cpu.intent(Intent::Durable);
    cpu.primitive(Primitive::StoreBarrier);
}

/// Orders what was stored before, in persistent memory and for others.
pub fn order<C: Cpu>(cpu: &C) {
    cpu.intent(Intent::LogBeforeUpdate);
    cpu.primitive(Primitive::StoreBarrier);
}

/// Drops a host's copies of these lines, so that the loads behind the fence read what the device holds. That is an `mfence`:
/// an `sfence` lets loads pass.
pub fn invalidate<'c, C: Cpu>(cpu: &'c C, lines: impl Iterator<Item = W<'c, C>>, fence: Primitive) {
    if cpu.hosts() == 1 {
        return;
    }
    lines.for_each(|line| line.flush_by(Flush::ClflushOpt));
    cpu.primitive(fence);
}

/// What an invalidate ends with; a program that leaves the right one out takes an `sfence`.
pub fn fence(is_right: bool) -> Primitive {
    match is_right {
        true => Primitive::Mfence,
        false => Primitive::Sfence,
    }
}

/// A line of persistent memory for each of so many.
pub fn lines(heap: &mut Heap, number: u64) -> Rows {
    heap.rows(number, LINE_BYTES, number)
}

/// The lanes of a program.
#[derive(Clone, Copy)]
pub struct Lanes {
    pub number: u64,
    /// Those that share a core.
    of_core: u64,
}

impl Lanes {
    pub fn of(plan: &BuildPlan) -> Lanes {
        Lanes {
            number: plan.lanes() as u64,
            of_core: plan.window.unwrap_or(1) as u64,
        }
    }

    pub fn all(self) -> Range<u64> {
        0..self.number
    }

    pub fn others(self, lane: u64) -> impl Iterator<Item = u64> + Clone {
        self.all().filter(move |other| *other != lane)
    }

    /// Each with each.
    pub fn pairs(self) -> impl Iterator<Item = (u64, u64)> {
        self.all()
            .flat_map(move |first| self.all().map(move |second| (first, second)))
    }

    pub fn has_failed<C: Cpu>(self, cpu: &C, lane: u64) -> bool {
        cpu.has_failed(CoreId((lane / self.of_core) as u16))
    }

    /// What hosts that have failed leave is the first living lane's to repair.
    pub fn repairs<C: Cpu>(self, cpu: &C, lane: u64, of: u64) -> bool {
        self.has_failed(cpu, of) && (0..lane).all(|lane| self.has_failed(cpu, lane))
    }
}

/// In volatile memory, a word of each lane for each.
pub struct Known {
    words: Addr,
    lanes: Lanes,
}

impl Known {
    pub fn allocate(heap: &mut Heap, lanes: Lanes) -> Known {
        let known = Known { words: Addr(0), lanes };
        let words = heap.dram(lanes.number * known.stride());
        Known { words, lanes }
    }

    fn stride(&self) -> u64 {
        (8 * self.lanes.number).next_multiple_of(LINE_BYTES)
    }

    /// What a lane knows of another, or of itself.
    pub fn word(&self, lane: u64, of: u64) -> Addr {
        Addr(self.words.0 + lane * self.stride() + 8 * of)
    }

    pub fn range(&self) -> Range<u64> {
        self.words.0..self.words.0 + self.lanes.number * self.stride()
    }
}

/// A line for each lane: the number of the first wrong line that it has read, and of whom.
pub struct Findings {
    lines: Rows,
    lanes: Lanes,
}

impl Findings {
    pub fn allocate(heap: &mut Heap, lanes: Lanes) -> Findings {
        let lines = lines(heap, lanes.number);
        Findings { lines, lanes }
    }

    /// A lane's line.
    pub fn of(&self, lane: u64) -> Addr {
        self.lines.addr(lane)
    }

    /// Writes down what was wrong.
    pub fn report<'c, C: Cpu>(&self, cpu: &'c C, lane: u64, of: u64, number: W<'c, C>) {
        let at = cpu.word(self.of(lane).0);
        at.at(8).store(cpu.word(of));
        at.store(number);
        at.flush();
        cpu.intent(Intent::Durable);
    }

    /// Nobody has read a wrong one.
    pub fn check(&self, image: &dyn Image, what: &str, whose: &str) -> Result<(), String> {
        let wrong = |lane: &u64| image.word(self.of(*lane)) != 0;
        let Some(lane) = self.lanes.all().find(wrong) else {
            return Ok(());
        };
        let at = self.of(lane);
        let (number, of) = (image.word(at), image.word(Addr(at.0 + 8)));
        Err(format!(
            "lane {lane} has read a wrong {what} {number} of {whose} {of}: {at}"
        ))
    }
}
