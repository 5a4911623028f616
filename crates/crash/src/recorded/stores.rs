//! Which of a recording's stores a crash state has.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use strandline_record::order::{Interleaved, Op, Piece, Place, Places, What, LINE};
use strandline_record::states::{Audit, Image, Spot, Stored};
use strandline_record::{Marker, RecordError, Recording};

/// Stores to a word beyond the next one that are looked through for what it holds.
const MOST_AHEAD: usize = 4096;

/// All stores to persistent memory, in the recording's order.
pub struct Stores {
    /// The words, by place.
    words: HashMap<Place, u32>,
    places: Vec<Place>,
    writes: Vec<Vec<Write>>,
    /// After how many stores each task began.
    tasks: Vec<u64>,
    /// Memory with all of them.
    pub last: Image,
    /// Instructions that do too little or nothing, and how often.
    pub audit: BTreeMap<Spot, u64>,
}

#[derive(Clone, Copy)]
struct Write {
    serial: u64,
    pc: u64,
    /// It is a further part of the store before.
    rest: bool,
    piece: Piece,
}

impl Stores {
    /// Reads a recording, whose memory held this at first.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn of(recording: &Arc<Recording>, places: &Places, initial: Image) -> Result<Stores, RecordError> {
        let mut stores = Stores {
            words: HashMap::new(),
            places: Vec::new(),
            writes: Vec::new(),
            tasks: Vec::new(),
            last: initial,
            audit: BTreeMap::new(),
        };
        let (mut audit, mut serial) = (Audit::new(recording.threads().len()), 0);
        for op in Interleaved::new(recording, &Arc::new(places.clone()))? {
            let op = op?;
            audit.see(&op);
            match op.what {
                What::Store(piece) | What::StoreNt(piece) => {
                    serial += 1;
                    stores.wrote(&op, piece, serial);
                }
                What::Marker(Marker::TaskBegin) => stores.tasks.push(serial),
                _ => {}
            }
        }
        stores.audit = audit.finish();
        Ok(stores)
    }

    fn wrote(&mut self, op: &Op, piece: Piece, serial: u64) {
        self.last.store(&piece);
        let word = *self.words.entry(piece.word).or_insert_with(|| {
            self.places.push(piece.word);
            self.writes.push(Vec::new());
            self.writes.len() as u32 - 1
        });
        let (pc, rest) = (op.pc, op.rest);
        self.writes[word as usize].push(Write {
            serial,
            pc,
            rest,
            piece,
        });
    }

    /// Tasks that the program's markers began.
    pub fn tasks(&self) -> u64 {
        self.tasks.len() as u64
    }
}

/// What the durable lines of a run have shown of the stores so far.
pub struct Shown {
    /// How many stores of each word are there, and what it holds by them.
    words: Vec<(usize, [u8; 8])>,
}

/// What a crash state has and lacks.
#[derive(Default)]
pub struct Balance {
    /// Tasks that had begun by its newest store.
    pub tasks: u64,
    /// Lines that lack a store older than one that is there.
    pub lines: usize,
    /// Stores that are there although older ones are not, the oldest first.
    pub has: Vec<Stored>,
    /// Stores that are not there although newer ones are, the oldest first.
    pub lacks: Vec<Stored>,
}

impl Shown {
    /// Memory holds what it held at first.
    pub fn new(stores: &Stores, initial: &Image) -> Shown {
        let word = |place: &Place| {
            let page = place & !(strandline_record::PAGE_BYTES - 1);
            let mut bytes = [0; 8];
            if let Some((_, page)) = initial.pages(page, page + 1).next() {
                let at = (place % strandline_record::PAGE_BYTES) as usize;
                bytes.copy_from_slice(&page[at..at + 8]);
            }
            (0, bytes)
        };
        Shown {
            words: stores.places.iter().map(word).collect(),
        }
    }

    /// A word became durable. What it holds is that of the first stores from those on that it had; where no number of
    /// them leaves these bytes, nothing is learnt.
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
            put(&mut bytes, &write.piece);
            if same(&bytes) {
                self.words[word] = (index + 1, bytes);
                return;
            }
        }
    }

    /// What is there and what is not.
    pub fn balance(&self, stores: &Stores) -> Balance {
        let each = || self.words.iter().zip(&stores.writes);
        let newest = each().filter_map(|((count, _), writes)| count.checked_sub(1).map(|last| writes[last].serial));
        let newest = newest.max().unwrap_or(0);
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
            lines: lacks.lines(),
            has: has.sorted(),
            lacks: lacks.sorted(),
        }
    }
}

/// How many stores of a word may be there: stores of what it holds already leave no trace.
fn possible((count, bytes): &(usize, [u8; 8]), writes: &[Write]) -> usize {
    let changes = |write: &Write| {
        let mut after = *bytes;
        put(&mut after, &write.piece);
        after != *bytes
    };
    count + writes[*count..].iter().take_while(|write| !changes(write)).count()
}

fn put(bytes: &mut [u8; 8], piece: &Piece) {
    for byte in (0..8).filter(|byte| piece.mask >> byte & 1 == 1) {
        bytes[byte] = piece.bytes[byte];
    }
}

/// Stores by line and instruction, with the oldest of each.
#[derive(Default)]
struct Sites(BTreeMap<(Place, u64), (u64, Stored)>);

impl Sites {
    fn add(&mut self, write: &Write) {
        let place = write.piece.word + u64::from(write.piece.mask.trailing_zeros());
        let (pc, times) = (write.pc, u64::from(!write.rest));
        let (first, stored) = self
            .0
            .entry((write.piece.word & !(LINE - 1), pc))
            .or_insert((write.serial, Stored { pc, place, times: 0 }));
        stored.times += times;
        if write.serial < *first {
            (*first, stored.place) = (write.serial, place);
        }
    }

    fn lines(&self) -> usize {
        let mut lines: Vec<Place> = self.0.keys().map(|(line, _)| *line).collect();
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
