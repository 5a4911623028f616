//! Determines which of a recording's stores a crash state has.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use strandline_record::order::{Interleaved, Piece, Places, PmOp, PmPlace, What, LINE};
use strandline_record::states::{Audit, Image, Orders, Spot, Stored};
use strandline_record::{At, Marker, RecordError, Recording};

/// Number of later stores to a word that are searched for its content.
const MOST_AHEAD: usize = 4096;

/// All stores to persistent memory, in the recording's order.
pub struct Stores {
    /// The words, by place.
    words: HashMap<PmPlace, u32>,
    places: Vec<PmPlace>,
    writes: Vec<Vec<Write>>,
    /// Number of stores before each task's start.
    tasks: Vec<u64>,
    /// For each thread, the number of stores before each task's end.
    ends: Vec<Vec<u64>>,
    /// Memory with all of them.
    pub last: Image,
    /// Instructions that do too little or nothing, with counts.
    pub audit: BTreeMap<Spot, u64>,
}

#[derive(Clone, Copy)]
struct Write {
    serial: u64,
    thread: u32,
    at: At,
    /// It is another part of the previous store.
    rest: bool,
    piece: Piece,
}

impl Stores {
    /// Reads a recording with these initial contents.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn of(recording: &Arc<Recording>, places: &Places, initial: Image) -> Result<Stores, RecordError> {
        let mut stores = Stores {
            words: HashMap::new(),
            places: Vec::new(),
            writes: Vec::new(),
            tasks: Vec::new(),
            ends: vec![Vec::new(); recording.threads().len()],
            last: initial,
            audit: BTreeMap::new(),
        };
        let (mut audit, mut serial) = (Audit::of(recording, places)?, 0);
        let places = Arc::new(places.clone());
        for op in Interleaved::new(recording, &places)? {
            let op = op?;
            audit.see(&op);
            match op.what {
                What::Store(piece) | What::StoreNt(piece) => {
                    serial += 1;
                    stores.wrote(&op, piece, serial);
                }
                What::Marker(Marker::TaskBegin) => stores.tasks.push(serial),
                What::Marker(Marker::TaskEnd) => stores.ends[op.thread as usize].push(serial),
                _ => {}
            }
        }
        Orders::of(recording, &places).audit(&mut audit)?;
        (stores.audit, _) = audit.finish();
        Ok(stores)
    }

    fn wrote(&mut self, op: &PmOp, piece: Piece, serial: u64) {
        self.last.store(&piece);
        let word = *self.words.entry(piece.word).or_insert_with(|| {
            self.places.push(piece.word);
            self.writes.push(Vec::new());
            self.writes.len() as u32 - 1
        });
        let (thread, at, rest) = (op.thread, op.at, op.rest);
        self.writes[word as usize].push(Write {
            serial,
            thread,
            at,
            rest,
            piece,
        });
    }

    /// Number of tasks that started, by the program's markers.
    pub fn tasks(&self) -> u64 {
        self.tasks.len() as u64
    }

    /// Number of ended tasks of each thread after the program.
    pub fn done(&self) -> Vec<u64> {
        self.ends.iter().map(|ends| ends.len() as u64).collect()
    }

    /// Number of ended tasks of each thread when it stored the newest of its present stores.
    fn done_by(&self, newest: &[u64]) -> Vec<u64> {
        let of = |(ends, newest): (&Vec<u64>, &u64)| ends.partition_point(|before| before < newest) as u64;
        self.ends.iter().zip(newest).map(of).collect()
    }
}

/// The stores seen so far in the durable lines of a run.
pub struct Shown {
    /// The number of present stores of each word, and its content after them.
    words: Vec<(usize, [u8; 8])>,
    /// The initial content of each word.
    initial: Vec<[u8; 8]>,
}

/// The stores that a crash state has and lacks.
#[derive(Default)]
pub struct Balance {
    /// Number of tasks that had started by its newest store.
    pub tasks: u64,
    /// Number of tasks of each thread that had ended by its newest store.
    pub done: Vec<u64>,
    /// Lines that lack a store older than a present one.
    pub lines: usize,
    /// Present stores that are newer than an absent one, the oldest first.
    pub has: Vec<Stored>,
    /// Absent stores that are older than a present one, the oldest first.
    pub lacks: Vec<Stored>,
}

impl Shown {
    /// Memory has its initial contents.
    pub fn new(stores: &Stores, initial: &Image) -> Shown {
        let initial: Vec<[u8; 8]> = stores.places.iter().map(|place| initial.word(*place)).collect();
        Shown {
            words: initial.iter().map(|bytes| (0, *bytes)).collect(),
            initial,
        }
    }

    /// The durable content of a word has changed. It is explained by the fewest further stores. If no number of them
    /// yields these bytes, the newest stores are undone. If that fails too, nothing is known.
    pub fn see(&mut self, stores: &Stores, durable: &Piece) {
        let Some(word) = stores.words.get(&durable.word).map(|word| *word as usize) else {
            return;
        };
        let (count, mut bytes) = self.words[word];
        let same =
            |bytes: &[u8; 8]| (0..8).all(|byte| durable.mask >> byte & 1 == 0 || bytes[byte] == durable.bytes[byte]);
        if same(&bytes) {
            return;
        }
        for (index, write) in stores.writes[word].iter().enumerate().skip(count).take(MOST_AHEAD) {
            bytes = write.piece.over(bytes);
            if same(&bytes) {
                self.words[word] = (index + 1, bytes);
                return;
            }
        }
        let mut bytes = self.initial[word];
        let mut earlier = same(&bytes).then_some((0, bytes));
        for (index, write) in stores.writes[word][..count].iter().enumerate() {
            bytes = write.piece.over(bytes);
            if same(&bytes) {
                earlier = Some((index + 1, bytes));
            }
        }
        self.words[word] = earlier.unwrap_or(self.words[word]);
    }

    /// The present and absent stores.
    pub fn balance(&self, stores: &Stores) -> Balance {
        let each = || self.words.iter().zip(&stores.writes);
        let mut by_thread = vec![0; stores.ends.len()];
        for ((count, _), writes) in each() {
            raise(&mut by_thread, &writes[..*count]);
        }
        let newest = by_thread.iter().copied().max().unwrap_or(0);
        let missing = each()
            .filter_map(|(word, writes)| writes.get(possible(word, writes)))
            .map(|write| write.serial);
        let missing = missing.min().unwrap_or(u64::MAX);
        let (mut has, mut lacks) = (Sites::default(), Sites::default());
        for (word, writes) in each() {
            let (there, gone) = (&writes[..word.0], &writes[possible(word, writes)..]);
            let late = there.iter().rev().take_while(|write| write.serial > missing);
            late.for_each(|write| has.add(write));
            let early = gone.iter().take_while(|write| write.serial < newest);
            early.for_each(|write| lacks.add(write));
        }
        Balance {
            tasks: stores.tasks.partition_point(|before| *before < newest) as u64,
            done: stores.done_by(&by_thread),
            lines: lacks.lines(),
            has: has.sorted(),
            lacks: lacks.sorted(),
        }
    }
}

/// Raises the position of each thread's newest store to that of these, which are in order.
fn raise(by_thread: &mut [u64], writes: &[Write]) {
    for write in writes.iter().rev() {
        if by_thread.iter().all(|newest| *newest >= write.serial) {
            return;
        }
        let newest = &mut by_thread[write.thread as usize];
        *newest = write.serial.max(*newest);
    }
}

/// Possible numbers of present stores of a word: a store of an equal value leaves no trace.
fn possible((count, bytes): &(usize, [u8; 8]), writes: &[Write]) -> usize {
    let changes = |write: &Write| write.piece.over(*bytes) != *bytes;
    count + writes[*count..].iter().take_while(|write| !changes(write)).count()
}

/// Stores by line and instruction, with the oldest of each.
#[derive(Default)]
struct Sites(BTreeMap<(PmPlace, At), (u64, Stored)>);

impl Sites {
    fn add(&mut self, write: &Write) {
        let place = write.piece.word + u64::from(write.piece.mask.trailing_zeros());
        let (at, times) = (write.at, u64::from(!write.rest));
        let (first, stored) = self.0.entry((write.piece.word & !(LINE - 1), at)).or_insert((
            write.serial,
            Stored {
                at,
                place,
                times: 0,
                bytes: 0,
                serial: write.serial,
                why: None,
            },
        ));
        stored.times += times;
        if write.serial < *first {
            (*first, stored.place, stored.serial) = (write.serial, place, write.serial);
        }
    }

    fn lines(&self) -> usize {
        let mut lines: Vec<PmPlace> = self.0.keys().map(|(line, _)| *line).collect();
        lines.dedup();
        lines.len()
    }

    fn sorted(self) -> Vec<Stored> {
        let mut sites: Vec<(u64, Stored)> = self.0.into_values().collect();
        sites.sort_by_key(|(first, _)| *first);
        sites
            .into_iter()
            .map(|(_, stored)| Stored {
                times: stored.times.max(1),
                ..stored
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: PmPlace = 0x1000;

    fn holding(value: u8) -> Piece {
        Piece {
            word: PLACE,
            mask: 0xff,
            bytes: [value; 8],
        }
    }

    /// The number of present stores after each of these contents, if a word is stored 1, 2, 1 and 3.
    fn shown(contents: &[u8]) -> Vec<usize> {
        let write = |(serial, value): (u64, u8)| Write {
            serial,
            thread: 0,
            at: At::default(),
            rest: false,
            piece: holding(value),
        };
        let stores = Stores {
            words: HashMap::from([(PLACE, 0)]),
            places: vec![PLACE],
            writes: vec![(1..).zip([1, 2, 1, 3]).map(write).collect()],
            tasks: Vec::new(),
            ends: vec![Vec::new()],
            last: Image::default(),
            audit: BTreeMap::new(),
        };
        let mut shown = Shown::new(&stores, &Image::default());
        let count = |value: &u8| {
            shown.see(&stores, &holding(*value));
            shown.words[0].0
        };
        contents.iter().map(count).collect()
    }

    #[test]
    fn what_a_word_holds_is_of_the_next_store_that_fits() {
        assert_eq!(shown(&[1, 1, 2, 1, 3]), [1, 1, 2, 3, 4]);
        assert_eq!(shown(&[2, 9, 3]), [2, 2, 4], "no store leaves a 9");
    }

    #[test]
    fn a_thread_has_ended_the_tasks_before_its_own_newest_store() {
        let write = |serial, thread| Write {
            serial,
            thread,
            at: At::default(),
            rest: false,
            piece: holding(1),
        };
        let mut by_thread = [0, 0];
        raise(&mut by_thread, &[write(1, 0), write(4, 1), write(5, 1)]);
        raise(&mut by_thread, &[write(2, 0), write(3, 1)]);
        assert_eq!(by_thread, [2, 5]);
        let stores = Stores {
            words: HashMap::new(),
            places: Vec::new(),
            writes: Vec::new(),
            tasks: Vec::new(),
            ends: vec![vec![1, 2, 4], vec![2, 4, 5]],
            last: Image::default(),
            audit: BTreeMap::new(),
        };
        assert_eq!(stores.done(), [3, 3]);
        assert_eq!(
            stores.done_by(&by_thread),
            [1, 2],
            "an end behind the newest store proves nothing"
        );
    }

    #[test]
    fn what_a_power_failure_would_undo_from_now_on_is_there_no_more() {
        assert_eq!(shown(&[3, 2, 3]), [4, 2, 4]);
        assert_eq!(shown(&[3, 1, 0]), [4, 3, 0], "the fewest stores are undone");
    }
}
