//! The writes and acknowledgements of a run's failure-atomic regions, from its notes.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use strandline_isa::{Addr, Line, Note, Running, LINE_BYTES};
use strandline_kernel::Cycles;
use strandline_machine::Noted;

/// Bytes of one word that a region leaves after its commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Write {
    /// The word's place in [`Regions::words`].
    pub slot: usize,
    /// Which of its bits.
    pub mask: u64,
    /// Their values; zero outside the mask.
    pub value: u64,
}

/// Which region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RegionName {
    /// The core that ran it.
    pub core: usize,
    /// Its number on that core, from 1, in the order of starts, over all tasks.
    pub number: usize,
}

/// A failure-atomic region that a run executed.
#[derive(Clone, Debug)]
pub struct Region {
    /// Which one.
    pub name: RegionName,
    /// When it started to execute.
    pub begun: Cycles,
    /// When all of it was written and its locks were still held; at the latest at its acknowledgement.
    pub ended: Cycles,
    /// When its `durable` returned; never, if it did not.
    pub acknowledged: Cycles,
    /// When it was aborted; never, if it was not.
    pub aborted: Cycles,
    /// Its writes, sorted by word.
    pub writes: Vec<Write>,
    /// The places in [`Regions::words`] of the words that nothing reaches unless the region has committed.
    pub unreached: Vec<usize>,
}

/// The regions of a run.
pub struct Regions {
    /// The words that any region writes, sorted.
    pub words: Vec<Addr>,
    /// The regions in the order of acknowledgement, followed by the others in the order of their ends. This is a legal
    /// order for conflicting regions: a region holds its locks until its end, and is acknowledged after everything that
    /// it depends on.
    pub list: Vec<Region>,
}

/// A region whose words have no number yet.
struct Raw {
    begun: Cycles,
    ended: Cycles,
    acknowledged: Cycles,
    aborted: Cycles,
    writes: BTreeMap<Addr, (u64, u64)>,
    fresh: BTreeSet<Line>,
}

impl Regions {
    /// Reads the notes of all cores.
    pub fn of(notes: &[Vec<Noted>]) -> Regions {
        let cores: Vec<Vec<Raw>> = notes.iter().map(|notes| read(notes)).collect();
        let mut words: Vec<Addr> = cores
            .iter()
            .flatten()
            .flat_map(|raw| raw.writes.keys().copied())
            .collect();
        words.sort_unstable();
        words.dedup();
        let mut list: Vec<Region> = Vec::new();
        for (core, raws) in cores.into_iter().enumerate() {
            let regions = raws.into_iter().enumerate();
            list.extend(regions.map(|(index, raw)| {
                raw.placed(
                    RegionName {
                        core,
                        number: index + 1,
                    },
                    &words,
                )
            }));
        }
        list.sort_by_key(|region| (region.acknowledged, region.ended, region.name));
        Regions { words, list }
    }
}

fn read(notes: &[Noted]) -> Vec<Raw> {
    let mut reader = Reader {
        regions: Vec::new(),
        slots: BTreeMap::new(),
        slot: Some(0),
    };
    notes.iter().for_each(|noted| reader.note(noted));
    reader.regions
}

/// Reads the notes of a core, whose tasks may alternate.
struct Reader {
    regions: Vec<Raw>,
    /// The unacknowledged regions of each slot of the window, oldest first.
    slots: BTreeMap<u32, VecDeque<usize>>,
    /// The slot of the current task: 0 if tasks do not share the core, `None` while the library runs.
    slot: Option<u32>,
}

impl Reader {
    fn note(&mut self, noted: &Noted) {
        if let Note::Running(running) = noted.note {
            self.slot = slot_of(running);
        }
        let Some(slot) = self.slot else { return };
        let open = self.slots.entry(slot).or_default();
        let newest = open.back().map(|index| &mut self.regions[*index]);
        match (noted.note, newest) {
            (Note::RegionBegin, _) => {
                open.push_back(self.regions.len());
                self.regions.push(Raw {
                    begun: noted.at,
                    ended: Cycles::NEVER,
                    acknowledged: Cycles::NEVER,
                    aborted: Cycles::NEVER,
                    writes: BTreeMap::new(),
                    fresh: BTreeSet::new(),
                });
            }
            (Note::RegionWrite { addr, size, value }, Some(region)) => region.write(addr, size, value),
            (Note::RegionFresh { line }, Some(region)) => _ = region.fresh.insert(line),
            (Note::RegionEnd, Some(region)) => region.ended = noted.at,
            (Note::RegionAbort, Some(region)) => {
                region.aborted = noted.at;
                open.pop_back();
            }
            (Note::RegionDurable, _) => {
                if let Some(oldest) = open.pop_front() {
                    let region = &mut self.regions[oldest];
                    region.acknowledged = noted.at;
                    region.ended = region.ended.min(noted.at);
                }
            }
            _ => {}
        }
    }
}

fn slot_of(running: Running) -> Option<u32> {
    match running {
        Running::Library => None,
        Running::Task(slot) => Some(slot),
    }
}

impl Raw {
    fn write(&mut self, addr: Addr, size: u8, value: u64) {
        let shift = (addr.0 & 7) * 8;
        let mask = (u64::MAX >> (64 - 8 * u32::from(size))) << shift;
        let (written, word) = self.writes.entry(Addr(addr.0 & !7)).or_default();
        *written |= mask;
        *word = (*word & !mask) | ((value << shift) & mask);
    }

    fn placed(self, name: RegionName, words: &[Addr]) -> Region {
        let writes = self.writes.into_iter().map(|(addr, (mask, value))| {
            let slot = words.partition_point(|word| *word < addr);
            Write { slot, mask, value }
        });
        let of_line = |line: Line| {
            let place = |addr: u64| words.partition_point(|word| word.0 < addr);
            place(line.addr().0)..place(line.addr().0 + LINE_BYTES)
        };
        Region {
            name,
            begun: self.begun,
            ended: self.ended,
            acknowledged: self.acknowledged,
            aborted: self.aborted,
            writes: writes.collect(),
            unreached: self.fresh.into_iter().flat_map(of_line).collect(),
        }
    }
}

impl fmt::Display for RegionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "region {} of core {}", self.number, self.core)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use strandline_isa::PM_BASE;

    fn noted(at: u64, note: Note) -> Noted {
        Noted { at: Cycles(at), note }
    }

    fn write(offset: u64, size: u8, value: u64) -> Note {
        let addr = Addr(PM_BASE + offset);
        Note::RegionWrite { addr, size, value }
    }

    #[test]
    fn narrow_writes_of_a_region_merge_and_later_ones_win() {
        let notes = [
            noted(1, Note::RegionBegin),
            noted(2, write(8, 8, 0x1111_1111_1111_1111)),
            noted(3, write(10, 2, 0xabcd)),
            noted(4, write(4, 1, 0xee)),
            noted(9, Note::RegionDurable),
        ];
        let regions = Regions::of(&[notes.to_vec()]);
        assert_eq!(regions.words, [Addr(PM_BASE), Addr(PM_BASE + 8)]);
        let narrow = Write {
            slot: 0,
            mask: 0xff << 32,
            value: 0xee << 32,
        };
        let merged = Write {
            slot: 1,
            mask: u64::MAX,
            value: 0x1111_1111_abcd_1111,
        };
        assert_eq!(regions.list[0].writes, [narrow, merged]);
        assert_eq!(
            (regions.list[0].begun, regions.list[0].acknowledged),
            (Cycles(1), Cycles(9))
        );
    }

    #[test]
    fn an_aborted_region_is_not_the_one_that_is_acknowledged() {
        let notes = vec![
            noted(1, Note::RegionBegin),
            noted(2, write(0, 8, 7)),
            noted(5, Note::RegionAbort),
            noted(6, Note::RegionBegin),
            noted(7, write(8, 8, 9)),
            noted(9, Note::RegionDurable),
        ];
        let regions = Regions::of(&[notes]);
        let times: Vec<(usize, Cycles, Cycles)> = regions
            .list
            .iter()
            .map(|region| (region.name.number, region.acknowledged, region.aborted))
            .collect();
        assert_eq!(times, [(2, Cycles(9), Cycles::NEVER), (1, Cycles::NEVER, Cycles(5))]);
    }

    #[test]
    fn regions_come_in_the_order_of_acknowledgement_and_the_unacknowledged_last() {
        let core = |begin, end| vec![noted(begin, Note::RegionBegin), noted(end, Note::RegionDurable)];
        let open = vec![noted(0, Note::RegionBegin)];
        let regions = Regions::of(&[open, core(1, 30), core(2, 20)]);
        let cores: Vec<usize> = regions.list.iter().map(|region| region.name.core).collect();
        assert_eq!(cores, [2, 1, 0]);
        assert_eq!(regions.list[2].acknowledged, Cycles::NEVER);
    }

    #[test]
    fn acknowledgements_go_to_the_oldest_region_and_the_ended_come_before_the_open() {
        let notes = |writes: u64| {
            vec![
                noted(writes, Note::RegionBegin),
                noted(writes + 1, write(8 * writes, 8, 1)),
                noted(writes + 5, Note::RegionEnd),
                noted(writes + 10, Note::RegionBegin),
                noted(writes + 11, write(8 * writes + 8, 8, 2)),
            ]
        };
        let mut first = notes(0);
        first.push(noted(40, Note::RegionEnd));
        first.push(noted(50, Note::RegionDurable));
        let regions = Regions::of(&[first, notes(2)]);
        let order: Vec<(usize, usize)> = regions
            .list
            .iter()
            .map(|region| (region.name.core, region.name.number))
            .collect();
        // Acknowledged; ended at 7; ended at 40; never ended.
        assert_eq!(order, [(0, 1), (1, 1), (0, 2), (1, 2)]);
    }

    fn runs(at: u64, slot: u32) -> Noted {
        noted(at, Note::Running(Running::Task(slot)))
    }

    #[test]
    fn regions_of_tasks_that_take_turns_are_told_apart() {
        let library = noted(5, Note::Running(Running::Library));
        let notes = vec![
            runs(0, 0),
            noted(1, Note::RegionBegin),
            noted(2, write(0, 8, 7)),
            runs(3, 1),
            noted(3, Note::RegionBegin),
            noted(4, write(8, 8, 8)),
            library,
            // This note does not come from a task.
            noted(6, write(16, 8, 9)),
            runs(7, 0),
            noted(8, write(24, 8, 10)),
            noted(9, Note::RegionDurable),
            runs(10, 1),
            noted(11, Note::RegionDurable),
        ];
        let regions = Regions::of(&[notes]);
        assert_eq!(regions.words, [0, 8, 24].map(|offset| Addr(PM_BASE + offset)));
        let told: Vec<(usize, Cycles, Vec<u64>)> = regions
            .list
            .iter()
            .map(|region| {
                let values = region.writes.iter().map(|write| write.value).collect();
                (region.name.number, region.acknowledged, values)
            })
            .collect();
        assert_eq!(told, [(1, Cycles(9), vec![7, 10]), (2, Cycles(11), vec![8])]);
    }

    #[test]
    fn a_slot_s_next_region_takes_nothing_of_its_last_one() {
        let notes = vec![
            runs(0, 3),
            noted(1, Note::RegionBegin),
            noted(2, Note::RegionDurable),
            noted(3, Note::RegionBegin),
            noted(4, write(0, 8, 1)),
        ];
        let regions = Regions::of(&[notes]);
        let acknowledged: Vec<Cycles> = regions.list.iter().map(|region| region.acknowledged).collect();
        assert_eq!(acknowledged, [Cycles(2), Cycles::NEVER]);
        assert_eq!((regions.list[0].writes.len(), regions.list[1].writes.len()), (0, 1));
    }
}
