//! The layout of undo logs, and of a record's line.

use crate::c_library::LibraryUse;
use crate::list::{List, MOST_ITEMS};
use crate::lock::{Hand, LockUse};
use crate::model::layout::ModelLayout;
use crate::per_lane::PerLane;
use crate::think::Think;
use crate::wal::WalLayout;
use crate::{Heap, Random, Runtime};
use std::ops::Range;
use strandline_isa::{Addr, Cpu, Image, LINE_BYTES};
use strandline_kernel::Param;

/// Offsets of a record's words in its line.
pub(crate) mod field {
    pub const TARGET: u64 = 0;
    pub const META: u64 = 8;
    pub const OLD_TRAILER: u64 = 16;
    pub const PAYLOAD: u64 = 24;
    pub const SEQUENCE: u64 = 56;
}

/// The offset, in the line of the settled region, of the word that a region's last step updates if
/// it writes nothing else.
pub(crate) const OWN_WORD: u64 = 8;

/// The most payload words that a record's first line holds.
pub(crate) const RECORD_WORDS: u64 = 4;

/// The payload words of each further line of a packed record.
pub(crate) const FURTHER_WORDS: u64 = 7;

/// In the last word of a record's further line, beside the step's number.
pub(crate) const FURTHER: u64 = 1 << FURTHER_SHIFT;

/// Position of [`FURTHER`].
pub(crate) const FURTHER_SHIFT: u64 = 63;

/// The most lanes: the low bits of their sequence numbers distinguish them.
pub const MAX_LANES: usize = 1 << 11;

/// The volatile state of a region's open step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepLists {
    /// The records: the address of each, and the part of its meta word that is its own.
    pub records: List<2>,
    /// The addresses of the lines.
    pub lines: List<1>,
}

impl StepLists {
    /// Bytes of the lists of `items` items: a line with both lengths, the records, the lines.
    const fn bytes(items: u64) -> u64 {
        LINE_BYTES + (List::<2>::ITEM + List::<1>::ITEM) * items
    }

    /// The lists in this share of a lane.
    fn new(base: Addr, items: u64) -> StepLists {
        let first = base.0 + LINE_BYTES;
        StepLists {
            records: List::new(base, Addr(first), items),
            lines: List::new(Addr(base.0 + 8), Addr(first + List::<2>::ITEM * items), items),
        }
    }
}

/// The logs of all lanes (a thread, or one of the tasks that share it). An undo log has a line with
/// the newest region that recovery has settled, and a ring of records; in volatile memory the lists
/// of the open step. Another runtime has its own logs allocated instead.
#[derive(Clone, Copy, Debug)]
pub struct LogLayout {
    /// In persistent memory.
    logs: PerLane,
    /// In volatile memory.
    lists: PerLane,
    records: u64,
    /// The most records, and lines, of a step.
    step: u64,
    /// The logs in place of undo logs, for another runtime: at the same addresses.
    pub(crate) instead: Instead,
    locks: LockUse,
    library: LibraryUse,
    /// What a task executes outside of its locks.
    pub(crate) think: Think,
}

/// The logs of a runtime other than the undo log.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Instead {
    /// None: these are undo logs.
    Nothing,
    /// Those of the language-level models.
    Model(ModelLayout),
    /// Write-ahead logs.
    Wal(WalLayout),
}

impl LogLayout {
    /// Allocates the logs of `lanes` lanes, each a ring of `records` lines.
    ///
    /// # Panics
    /// If there are more than [`MAX_LANES`] lanes.
    #[must_use]
    pub fn allocate(heap: &mut Heap, lanes: usize, records: u64) -> LogLayout {
        LogLayout::allocate_for(heap, lanes, records, MOST_ITEMS)
    }

    /// As [`LogLayout::allocate`], for steps of at most `step` records: more than the usual 64.
    ///
    /// # Panics
    /// If there are more than [`MAX_LANES`] lanes, or a record cannot count the records of a step.
    #[must_use]
    pub fn allocate_for(heap: &mut Heap, lanes: usize, records: u64, step: u64) -> LogLayout {
        let step = step.next_multiple_of(LINE_BYTES / 8);
        assert!(
            step <= Meta::COUNTED,
            "a step of {step} records: at most {} are counted",
            Meta::COUNTED
        );
        assert!(
            lanes <= MAX_LANES,
            "{lanes} lanes: an undo log tells at most {MAX_LANES} apart"
        );
        let instead = match heap.logging.runtime {
            Runtime::Undo => Instead::Nothing,
            Runtime::Wal(variant) => Instead::Wal(WalLayout::allocate(heap, lanes, records, variant)),
            _ => Instead::Model(ModelLayout::allocate(heap, lanes, records, heap.logging)),
        };
        let locks = LockUse::allocate(heap, lanes);
        let library = LibraryUse::allocate(heap, lanes);
        let think = Think::allocate(heap, lanes);
        let (logs, lists) = match &instead {
            Instead::Nothing => (
                PerLane::pm(heap, lanes, (records + 1) * LINE_BYTES),
                PerLane::dram(heap, lanes, StepLists::bytes(step)),
            ),
            Instead::Model(model) => (model.pm, model.dram),
            Instead::Wal(wal) => (wal.pm, wal.dram),
        };
        LogLayout {
            logs,
            lists,
            records,
            step,
            instead,
            locks,
            library,
            think,
        }
    }

    /// How a lane takes locks.
    pub(crate) fn hand(&self, lane: usize) -> Hand {
        self.locks.of(lane)
    }

    /// The random numbers of a lane of a run with this seed.
    #[must_use]
    pub fn random<'c, C: Cpu>(&self, cpu: &'c C, seed: u64, lane: usize) -> Random<'c, C> {
        self.library.random(cpu, seed, lane)
    }

    /// The words that make random numbers which lanes share those of another seed.
    #[must_use]
    pub fn seeded(&self, seed: u64) -> Vec<(Addr, u64)> {
        self.library.seeded(seed)
    }

    /// Writes the C library's variables into volatile memory, zero after a crash, as a new process finds them.
    pub(crate) fn start(&self, image: &dyn Image) {
        self.library.start(image);
    }

    /// The number of logs.
    #[must_use]
    pub fn lanes(&self) -> usize {
        self.logs.lanes()
    }

    /// Records of a ring.
    #[must_use]
    pub fn records(&self) -> u64 {
        self.records
    }

    /// The addresses of all logs in persistent memory.
    #[must_use]
    pub fn range(&self) -> Range<u64> {
        self.logs.range()
    }

    /// The addresses of all logs' lists, in volatile memory.
    #[must_use]
    pub fn lists(&self) -> Range<u64> {
        self.lists.range()
    }

    /// The lists of `lane`'s open step.
    pub(crate) fn step_lists(&self, lane: usize) -> StepLists {
        StepLists::new(self.lists.of(lane), self.step)
    }

    /// The word that holds the newest region of `lane` that recovery has settled.
    pub(crate) fn settled(&self, lane: usize) -> Addr {
        self.logs.of(lane)
    }

    /// The lines of `lane`'s ring.
    pub(crate) fn ring(&self, lane: usize) -> Range<u64> {
        let first = self.settled(lane).0 + LINE_BYTES;
        first..first + self.records * LINE_BYTES
    }
}

/// The parameter of every logging workload: the size of a ring, or the data lines of a write-ahead
/// log. Two regions of the largest size must fit: the workload sets the minimum.
#[must_use]
pub const fn log_records(min: u64) -> Param {
    Param {
        name: "log_records",
        default: 1024,
        min,
        max: 1 << 20,
        help: "lines of each ring of undo-log records",
        source: "",
        words: &[],
    }
}

/// The content of a record's meta word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Meta {
    /// Payload words in the record's first line, 1 to 4.
    pub words: u64,
    /// Payload words in further lines.
    pub more: u64,
    /// Whether the record's step is the last of its region.
    pub last: bool,
    /// The place of the record's first line among the lines of its step's records.
    pub index: u64,
    /// Lines of the step's records.
    pub count: u64,
    /// The region, counted from 1 for each lane.
    pub region: u64,
}

/// Position of the record's index in a meta word. There it is the record's offset in the list of the step's records.
const INDEX_SHIFT: u64 = 4;
const _: () = assert!(List::<2>::ITEM == 1 << INDEX_SHIFT);

/// Position of the number of records in a meta word.
const COUNT_SHIFT: u64 = 14;

/// The shift from the length of the list of the step's records to their number in a meta word.
pub(crate) const LENGTH_TO_COUNT: u64 = COUNT_SHIFT - INDEX_SHIFT;

/// Position of the region number in a meta word.
pub(crate) const REGION_SHIFT: u64 = 24;

/// Position of the number of words in further lines in a meta word.
pub(crate) const MORE_SHIFT: u64 = 56;

impl Meta {
    pub const NOTHING: Meta = Meta {
        words: 0,
        more: 0,
        last: false,
        index: 0,
        count: 0,
        region: 0,
    };

    /// The most records of a step that a meta word can count.
    const COUNTED: u64 = 1023;

    /// The bits of a meta word for the number of payload words.
    pub const WORDS: u64 = 7;

    /// The most words in further lines.
    pub const MORE: u64 = 255;

    pub const fn pack(self) -> u64 {
        let records = self.index << INDEX_SHIFT | self.count << COUNT_SHIFT;
        self.words | (self.last as u64) << 3 | records | self.more << MORE_SHIFT | self.region << REGION_SHIFT
    }

    pub fn unpack(word: u64) -> Meta {
        Meta {
            words: word & Meta::WORDS,
            more: word >> MORE_SHIFT,
            last: word >> 3 & 1 == 1,
            index: word >> INDEX_SHIFT & Meta::COUNTED,
            count: word >> COUNT_SHIFT & Meta::COUNTED,
            region: word >> REGION_SHIFT & ((1 << (MORE_SHIFT - REGION_SHIFT)) - 1),
        }
    }
}

/// A record as recovery reads it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record {
    pub target: Addr,
    pub meta: Meta,
    pub old_trailer: u64,
    /// The old words of its line, or fewer: words of other lines are not kept here, as no step updates them.
    pub payload: [u64; FURTHER_WORDS as usize],
    pub sequence: u64,
    /// Its lines that are there.
    pub lines: u64,
}

impl Record {
    /// The record whose first line is at `at` in `ring`; `None` if that line was never sealed, is a further line, or
    /// has a record of a region before `oldest`.
    pub fn read(image: &dyn Image, ring: &Range<u64>, at: u64, oldest: u64) -> Option<Record> {
        let word = |offset| image.word(Addr(at + offset));
        let sequence = word(field::SEQUENCE);
        let meta = (sequence != 0 && sequence < FURTHER).then(|| Meta::unpack(word(field::META)))?;
        if meta.region < oldest {
            return None;
        }
        let mut record = Record {
            target: Addr(word(field::TARGET)),
            meta,
            old_trailer: word(field::OLD_TRAILER),
            payload: [0; FURTHER_WORDS as usize],
            sequence,
            lines: 1,
        };
        for i in 0..RECORD_WORDS as usize {
            record.payload[i] = word(field::PAYLOAD + 8 * i as u64);
        }
        record.read_further(image, ring, at);
        Some(record)
    }

    /// Reads the record's further lines.
    fn read_further(&mut self, image: &dyn Image, ring: &Range<u64>, first: u64) {
        let mut at = first;
        for line in 0..self.meta.more.div_ceil(FURTHER_WORDS) {
            at = match at + LINE_BYTES {
                end if end == ring.end => ring.start,
                next => next,
            };
            self.lines += u64::from(image.word(Addr(at + field::SEQUENCE)) == self.sequence | FURTHER);
            if line == 0 {
                for (i, word) in self.payload[RECORD_WORDS as usize..].iter_mut().enumerate() {
                    *word = image.word(Addr(at + 8 * i as u64));
                }
            }
        }
    }

    /// The old words that its step may have overwritten, from the target on.
    pub fn old_words(&self) -> &[u64] {
        let words = (self.meta.words + self.meta.more).min(FURTHER_WORDS);
        &self.payload[..words as usize]
    }

    /// The word with the sequence number of the record's line.
    pub fn trailer(&self) -> Addr {
        Addr(self.target.line().addr().0 + crate::TRAILER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meta_words_say_what_was_packed() {
        let meta = Meta {
            words: 4,
            more: 255,
            last: true,
            index: 1022,
            count: 1023,
            region: (1 << 32) - 1,
        };
        assert_eq!(Meta::unpack(meta.pack()), meta);
    }
}
