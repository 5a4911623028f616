//! Persistent maps without failure-atomic regions: what their programs share.
//!
//! Such a map orders its own stores, and takes its locks by words in its objects. A task is one operation on a random key
//! of 8 bytes; a value has 8 bytes. If keys or values are larger, a pair is a record, and the map has its address for a
//! value (`records`). Each operation is announced ([`Note::OperationBegin`]), so that a crash state is judged by durable
//! linearizability: what had returned is there, and what was under way is there or not.
//!
//! Numbers of keys are spread over all words by a multiplication; a value holds a random half and that half mixed with
//! the key, so that a torn or foreign one shows.

mod old;
mod params;
mod records;

pub use old::Old;
pub(crate) use params::{init_ops, keys, params, reads, shares, DELETES, KEY_BYTES, RECORDS, VALUE_BYTES};

use crate::populate::loader;
use crate::zipf::Zipf;
use records::Records;
use std::collections::BTreeMap;
use std::ops::Range;
use strandline_isa::{sites, Addr, CoreId, Cpu, Image, Lowering, Memory, Note, Thread, LINE_BYTES, W};
use strandline_kernel::{ParamError, Params};
use strandline_runtime::{finish, BuildPlan, Heap, LogLayout, Plain, Random, ThreadState, Workload};

sites! {
    OPERATION_READS = 0xed54_0f6d;
    OPERATION_REMOVES = 0x8444_6347;
}

/// Lines of each log, which these programs never write.
const LOG_RECORDS: u64 = 8;

/// A multiplier that spreads the numbers of keys: 2^64 over the golden ratio (Knuth, The Art of Computer Programming, 6.4).
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// A key times this is its number.
pub(crate) const NUMBER: u64 = inverse(SPREAD);

/// The inverse of an odd word, by Newton's iteration: each step doubles the bits that are right, three at first.
const fn inverse(word: u64) -> u64 {
    let mut inverse = word;
    let mut bits = 3;
    while bits < u64::BITS {
        inverse = inverse.wrapping_mul(2u64.wrapping_sub(word.wrapping_mul(inverse)));
        bits *= 2;
    }
    inverse
}

/// The word of a lock that one thread holds alone; otherwise it counts those that share it.
pub(crate) const EXCLUSIVE: u64 = u64::MAX;

/// A key and a value.
pub type Pair<'c, C> = (W<'c, C>, W<'c, C>);

/// A persistent map.
pub trait Map: Sized + Sync {
    /// Lays it out.
    fn lay_out(params: &Params, plan: &BuildPlan, heap: &mut Heap) -> Result<Self, ParamError>;

    /// Makes it of zeroed memory: empty.
    fn format(&self, image: &dyn Image);

    /// The value of a key, if the map holds it.
    fn get<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>, key: W<'c, C>) -> Option<W<'c, C>>;

    /// Gives a key a value, and makes that durable; false if there is no room. `old` gets the value that it replaces.
    fn put<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>, pair: Pair<'c, C>, old: &mut Old<'c, C>) -> bool;

    /// Removes a key, and makes that durable; whether the map held it. `old` gets the value that it had.
    fn remove<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>, key: W<'c, C>, old: &mut Old<'c, C>) -> bool;

    /// Recovery: completes or drops the operations that the crash has interrupted, and frees locks.
    fn mend(&self, image: &dyn Image);

    /// Recovery: rebuilds volatile memory.
    fn restart(&self, image: &dyn Image);

    /// Its keys and values, if it is whole.
    fn read(&self, image: &dyn Image) -> Result<BTreeMap<u64, u64>, String>;

    /// What operations use repeatedly, most useful last.
    fn footprint(&self) -> Vec<Range<u64>>;
}

/// The program of a map.
pub struct Program<M> {
    map: M,
    /// If pairs have more than 16 bytes.
    records: Option<Records>,
    keys: u64,
    /// If keys are not drawn evenly.
    zipf: Option<Zipf>,
    init_ops: u64,
    /// Percent of the operations.
    reads: u64,
    deletes: u64,
    logs: LogLayout,
}

impl<M: Map> Program<M> {
    /// A key that is drawn.
    fn draw<'c, C: Cpu>(&self, random: &mut Random<'c, C>) -> W<'c, C> {
        match self.zipf {
            None => draw_key(random, self.keys),
            Some(zipf) => (zipf.draw(random) + 1) * SPREAD,
        }
    }

    fn insert<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>) {
        let key = self.draw(&mut thread.random);
        let value = value_of(&mut thread.random, key);
        let cpu = thread.cpu;
        cpu.note(Note::OperationBegin {
            key: key.bits(),
            value: Some(value.bits()),
        });
        let changed = match &self.records {
            None => self.map.put(thread, (key, value), &mut Old::unwanted()),
            Some(records) => records.put(&self.map, thread, (key, value)),
        };
        cpu.note(Note::OperationDurable { changed });
    }

    fn delete<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>) {
        let key = self.draw(&mut thread.random);
        let cpu = thread.cpu;
        cpu.note(Note::OperationBegin {
            key: key.bits(),
            value: None,
        });
        let changed = match &self.records {
            None => self.map.remove(thread, key, &mut Old::unwanted()),
            Some(records) => records.remove(&self.map, thread, key),
        };
        cpu.note(Note::OperationDurable { changed });
    }

    /// Writes volatile memory, for a map with these values.
    fn begin(&self, image: &dyn Image, held: &BTreeMap<u64, u64>) {
        if let Some(zipf) = self.zipf {
            zipf.write(image);
        }
        self.map.restart(image);
        if let Some(records) = &self.records {
            records.restart(image, held);
        }
    }

    /// All keys, each with its value, or the first word of it.
    fn pairs(&self, image: &dyn Image) -> Result<BTreeMap<u64, u64>, String> {
        let held = self.map.read(image)?;
        match &self.records {
            None => Ok(held),
            Some(records) => records.read(image, held),
        }
    }

    /// Fills the map on plain memory: functional and untimed.
    fn load(&self, memory: &Memory, seed: u64) {
        let plain = Plain::new(memory, CoreId(0), Lowering::NOTHING);
        let cpu = &Thread::on(&plain);
        let ended = finish(|| {
            let mut state = loader(cpu, &self.logs, seed);
            for _ in 0..self.init_ops {
                self.insert(&mut state);
            }
        });
        ended.expect("nobody holds a lock");
    }
}

/// Keys whose weights fit into a table of 16 MB.
const MOST_ZIPFIAN: u64 = 1 << 20;

/// A key that is drawn, of `keys`.
pub(crate) fn draw_key<'c, C: Cpu>(random: &mut Random<'c, C>, keys: u64) -> W<'c, C> {
    (random.below(keys) + 1) * SPREAD
}

/// A new value of a key.
pub(crate) fn value_of<'c, C: Cpu>(random: &mut Random<'c, C>, key: W<'c, C>) -> W<'c, C> {
    let half = random.word() >> 32;
    (half << 32) | ((key ^ half) & LOW)
}

/// Whether this is a value of the key.
pub(crate) fn is_value_of(key: u64, value: u64) -> bool {
    (value & LOW) == ((key ^ (value >> 32)) & LOW)
}

/// The low half of a word.
const LOW: u64 = 0xffff_ffff;

impl<M: Map> Workload for Program<M> {
    fn lay_out(params: &Params, plan: &BuildPlan) -> Result<(Self, Heap), ParamError> {
        let (reads, deletes) = shares(params)?;
        let (keys, theta) = (params.get("keys"), params.get("theta"));
        if theta > 0 && keys > MOST_ZIPFIAN {
            return Err(ParamError(format!(
                "workload.keys={keys} with workload.theta={theta}: at most {MOST_ZIPFIAN} keys have a table of weights; set fewer keys, or workload.theta=0"
            )));
        }
        let mut heap = Heap::new(plan);
        let program = Program {
            map: M::lay_out(params, plan, &mut heap)?,
            records: Records::lay_out(params, plan, &mut heap)?,
            keys,
            zipf: (theta > 0).then(|| Zipf::allocate(&mut heap, keys, theta, plan.seed)),
            init_ops: params.get("init_ops"),
            reads,
            deletes,
            logs: LogLayout::allocate(&mut heap, plan.lanes(), LOG_RECORDS),
        };
        Ok((program, heap))
    }

    fn fill(&self, memory: &Memory, seed: u64) {
        self.map.format(memory);
        self.begin(memory, &BTreeMap::new());
        self.load(memory, seed);
    }

    fn task<C: Cpu>(&self, thread: &mut ThreadState<'_, C>) {
        if self.reads + self.deletes == 0 {
            return self.insert(thread);
        }
        let draw = thread.random.below(100);
        if draw.below(self.reads).branch(OPERATION_READS) {
            let key = self.draw(&mut thread.random);
            let cpu = thread.cpu;
            cpu.note(Note::SearchBegin { key: key.bits() });
            let found = match &self.records {
                None => self.map.get(thread, key),
                Some(records) => records.get(&self.map, thread, key),
            };
            cpu.note(Note::SearchEnd {
                value: found.map(|value| value.bits()),
            });
        } else if draw.below(self.reads + self.deletes).branch(OPERATION_REMOVES) {
            self.delete(thread);
        } else {
            self.insert(thread);
        }
    }

    /// The map is whole, and every value is one of its key's.
    fn check(&self, image: &dyn Image) -> Result<(), String> {
        for (key, value) in self.pairs(image)? {
            if !is_value_of(key, value) {
                return Err(format!("key {key:#x} has {value:#x}, which is no value of it"));
            }
        }
        Ok(())
    }

    fn contents(&self, image: &dyn Image) -> BTreeMap<u64, u64> {
        self.pairs(image).unwrap_or_default()
    }

    fn logs(&self) -> LogLayout {
        self.logs
    }

    fn footprint(&self) -> Vec<Range<u64>> {
        let mut all: Vec<Range<u64>> = self.zipf.iter().map(Zipf::range).collect();
        all.extend(self.records.iter().flat_map(Records::footprint));
        all.extend(self.map.footprint());
        all
    }

    fn repair(&self, image: &dyn Image) {
        self.map.mend(image);
    }

    fn restart(&self, image: &dyn Image) {
        let held = match self.records {
            Some(_) => self.map.read(image).unwrap_or_default(),
            None => BTreeMap::new(),
        };
        self.begin(image, &held);
    }
}

/// A key's hash: half of the finalizer of MurmurHash3.
pub(crate) fn hash<'c, C: Cpu>(key: W<'c, C>) -> W<'c, C> {
    let mixed = (key ^ (key >> 33)) * MIX;
    mixed ^ (mixed >> 29)
}

const MIX: u64 = 0xff51_afd7_ed55_8ccd;

/// As [`hash`], during recovery.
pub(crate) fn hash_of(key: u64) -> u64 {
    let mixed = (key ^ (key >> 33)).wrapping_mul(MIX);
    mixed ^ (mixed >> 29)
}

/// Flushes all lines of `bytes` bytes at an address, a multiple of a line.
pub(crate) fn flush_lines<'c, C: Cpu>(at: W<'c, C>, bytes: u64) {
    for offset in (0..bytes).step_by(LINE_BYTES as usize) {
        at.at(offset).flush();
    }
}

/// A word of an image.
pub(crate) fn word(image: &dyn Image, addr: u64) -> u64 {
    image.word(Addr(addr))
}

/// Replaces a word of an image, if it is another.
pub(crate) fn set(image: &dyn Image, addr: u64, value: u64) {
    if image.word(Addr(addr)) != value {
        image.set_word(Addr(addr), value);
    }
}
