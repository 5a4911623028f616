//! `hashmap`: reads and updates of a chained hash table.
//!
//! StrandWeaver (ISCA 2020), Table II "Hashmap" ("read/update to hashmap"), after NV-Heaps (ASPLOS 2011). An array of
//! buckets, each the head of a chain of nodes and each with a lock; a node is the address of the next, its key and a value of
//! five words, in one line. A task locks the bucket of a random key; at even odds it reads the value, or writes all of it in
//! a failure-atomic region, store by store. An update of a key that is not there puts it in, at the head of its chain.
//! With `operations` a region has as many reads and updates, and holds the locks of all their buckets.
//!
//! Sizes are ours, as the paper gives none: 100,000 keys as `array-swap` has elements, as many buckets, nine of ten keys in
//! the table at the start. Simplified: nothing is ever taken out; locks lie in DRAM, packed; nodes come from a fixed stock,
//! by volatile free lists. A task whose operations all read opens no region.

use crate::filler::filler;
use crate::operations::{ring, two_regions, Held, Lists, OPERATIONS};
use crate::About;
use std::ops::Range;
use strandline_isa::{Addr, Cpu, Image, Memory, W};
use strandline_kernel::{Param, ParamError, Params};
use strandline_runtime::{
    log_records, BuildPlan, FreeLists, Heap, Locks, LogLayout, Region, Table, ThreadState, Workload,
};

/// What is to be known of it.
pub const ABOUT: About = About {
    name: "hashmap",
    aliases: &[],
    line: "reads and updates of a chained hash table",
    paper: "StrandWeaver (ISCA 2020), Table II, Hashmap",
    machine: "strandweaver",
    tasks: 50_000,
    params: PARAMS,
};

const PARAMS: &[Param] = &[
    Param {
        name: "keys",
        default: 100_000,
        min: 1,
        max: 1 << 24,
        help: "keys that are asked for",
    },
    Param {
        name: "buckets",
        default: 100_000,
        min: 1,
        max: 1 << 24,
        help: "buckets, each with a chain and a lock",
    },
    Param {
        name: "loaded",
        default: 90,
        min: 0,
        max: 100,
        help: "keys in the table at the start, percent",
    },
    Param {
        name: "updates",
        default: 50,
        min: 0,
        max: 100,
        help: "operations that update or insert, percent; the others read",
    },
    OPERATIONS,
    log_records(two_regions(MOST_RECORDS)),
];

/// Stores of an insertion, which writes more than an update: next, key, value and the head of the chain.
const MOST_RECORDS: u64 = 3 + VALUE_WORDS;

/// Words of a value.
const VALUE_WORDS: u64 = 5;

/// Offsets in a node.
mod node {
    pub const NEXT: u64 = 0;
    pub const KEY: u64 = 8;
    pub const VALUE: u64 = 16;
    pub const BYTES: u64 = VALUE + 8 * super::VALUE_WORDS;
}

/// The first word of the value of a key that was never updated; word i is i more, and an update adds [`VERSION`].
fn first_value(key: u64) -> u64 {
    key << KEY_SHIFT
}

/// Where a value's first word has the key.
const KEY_SHIFT: u64 = 32;

/// What an update adds to each word of a value: more than a value has words.
const VERSION: u64 = 8;

/// A multiplier that spreads keys: 2^64 over the golden ratio (Knuth, The Art of Computer Programming, 6.4).
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// A chained hash table.
pub struct Hashmap {
    heads: Table<8>,
    nodes: Table<{ node::BYTES }>,
    locks: Locks,
    free: FreeLists<{ node::BYTES }>,
    keys: u64,
    loaded: u64,
    updates: u64,
    operations: u64,
    /// A task's buckets, ascending, then its operations: twice the key, and one more if it is an update.
    lists: Lists,
    logs: LogLayout,
    seed: u64,
}

impl Hashmap {
    /// The bucket of a key: a multiplication that spreads it, and one that brings it below the number of buckets.
    fn bucket<'c, C: Cpu>(&self, key: W<'c, C>) -> W<'c, C> {
        (key * SPREAD).scaled_below(self.heads.rows())
    }

    /// The bucket of a key, outside of the program.
    fn bucket_of(&self, key: u64) -> u64 {
        ((u128::from(key.wrapping_mul(SPREAD)) * u128::from(self.heads.rows())) >> 64) as u64
    }

    /// Whether a key is in the table from the start on.
    fn is_loaded(&self, key: u64) -> bool {
        filler(self.seed, key, 0) % 100 < self.loaded
    }

    /// Draws the operations, from `first` to `end`; whether any is an update.
    async fn draw<'c, C: Cpu>(
        &self,
        thread: &mut ThreadState<'c, C>,
        held: &mut Held<'c, C>,
        first: W<'c, C>,
        end: W<'c, C>,
    ) -> bool {
        let cpu = thread.cpu;
        let mut any = cpu.word(0);
        let mut at = first;
        loop {
            let key = thread.random.below(self.keys);
            let update = thread.random.below(100).below(self.updates).branch();
            let update = cpu.word(u64::from(update));
            any = any | update;
            at.store((key << 1) | update).await;
            held.add(self.bucket(key)).await;
            at = at + 8;
            if !at.less(end).branch() {
                return !any.is(0).branch();
            }
        }
    }

    /// The node of a key in the chain of `head`, or 0.
    async fn find<'c, C: Cpu>(view: &mut View<'_, '_, 'c, C>, head: W<'c, C>, key: W<'c, C>) -> W<'c, C> {
        let mut node = view.read(head).await;
        while !node.is(0).branch() {
            if view.read(node.at(node::KEY)).await.equals(key).branch() {
                break;
            }
            node = view.read(node.at(node::NEXT)).await;
        }
        node
    }

    async fn read<'c, C: Cpu>(&self, view: &mut View<'_, '_, 'c, C>, key: W<'c, C>) {
        let node = Hashmap::find(view, self.heads.row(self.bucket(key)), key).await;
        if node.is(0).branch() {
            return;
        }
        for i in 0..VALUE_WORDS {
            view.read(node.at(node::VALUE + 8 * i)).await;
        }
    }

    /// Writes a new value for a key.
    async fn update<'c, C: Cpu>(&self, cpu: &'c C, thread: usize, region: &mut Region<'_, 'c, C>, key: W<'c, C>) {
        let head = self.heads.row(self.bucket(key));
        let node = Hashmap::find(&mut View(Some(region)), head, key).await;
        if !node.is(0).branch() {
            let value = region.read(node.at(node::VALUE), 8).await + VERSION;
            return Hashmap::write_value(region, node, value).await;
        }
        let Some(node) = self.free.take(cpu, thread).await else {
            return;
        };
        let first = region.read(head, 8).await;
        region.write(node.at(node::NEXT), first, 8).await;
        region.write(node.at(node::KEY), key, 8).await;
        Hashmap::write_value(region, node, key << KEY_SHIFT).await;
        region.write(head, node, 8).await;
    }

    async fn write_value<'c, C: Cpu>(region: &mut Region<'_, 'c, C>, node: W<'c, C>, first: W<'c, C>) {
        for i in 0..VALUE_WORDS {
            let word = if i == 0 { first } else { first + i };
            region.write(node.at(node::VALUE + 8 * i), word, 8).await;
        }
    }

    /// Goes through the chain of a bucket and marks its keys and nodes.
    fn check_chain(&self, image: &dyn Image, bucket: u64, seen: &mut Seen) -> Result<(), String> {
        let mut at = image.word(self.heads.addr(bucket));
        while at != 0 {
            let row = self.nodes.index_of(at);
            let row = row.ok_or_else(|| format!("bucket {bucket} links to {}, which is no node", Addr(at)))?;
            if std::mem::replace(&mut seen.nodes[row as usize], true) {
                return Err(format!("the node at {} is linked twice", Addr(at)));
            }
            let key = image.word(Addr(at + node::KEY));
            match seen.keys.get_mut(key as usize) {
                None => return Err(format!("the node at {} has key {key}, which there is not", Addr(at))),
                Some(true) => return Err(format!("key {key} is there twice")),
                Some(new) => *new = true,
            }
            if self.bucket_of(key) != bucket {
                return Err(format!("key {key} is in bucket {bucket}, not in its own"));
            }
            check_value(image, at, key)?;
            at = image.word(Addr(at + node::NEXT));
        }
        Ok(())
    }

    /// Goes through all chains; which nodes and keys they hold.
    fn reachable(&self, image: &dyn Image) -> Result<Seen, String> {
        let mut seen = Seen {
            nodes: vec![false; self.nodes.rows() as usize],
            keys: vec![false; self.keys as usize],
        };
        (0..self.heads.rows()).try_for_each(|bucket| self.check_chain(image, bucket, &mut seen))?;
        Ok(seen)
    }

    fn fill(&self, memory: &Memory) {
        for key in (0..self.keys).filter(|key| self.is_loaded(*key)) {
            let (node, head) = (self.nodes.addr(key), self.heads.addr(self.bucket_of(key)));
            memory.set_word(Addr(node.0 + node::NEXT), memory.word(head));
            memory.set_word(Addr(node.0 + node::KEY), key);
            for i in 0..VALUE_WORDS {
                memory.set_word(Addr(node.0 + node::VALUE + 8 * i), first_value(key) + i);
            }
            memory.set_word(head, node.0);
        }
    }
}

/// What the chains hold, by number.
struct Seen {
    nodes: Vec<bool>,
    keys: Vec<bool>,
}

/// Whether a node's value is its key's, and of one version.
fn check_value(image: &dyn Image, node: u64, key: u64) -> Result<(), String> {
    let word = |i: u64| image.word(Addr(node + node::VALUE + 8 * i));
    let whole = (1..VALUE_WORDS).all(|i| word(i) == word(0).wrapping_add(i));
    if word(0) >> KEY_SHIFT != key || word(0) % VERSION != 0 || !whole {
        return Err(format!("the value of key {key} is not one that was written for it"));
    }
    Ok(())
}

/// What a task sees: through its region, if it has opened one.
struct View<'v, 'l, 'c, C: Cpu>(Option<&'v mut Region<'l, 'c, C>>);

impl<'c, C: Cpu> View<'_, '_, 'c, C> {
    async fn read(&mut self, at: W<'c, C>) -> W<'c, C> {
        match &mut self.0 {
            Some(region) => region.read(at, 8).await,
            None => at.load().await,
        }
    }
}

impl Workload for Hashmap {
    fn build(params: &Params, plan: &BuildPlan) -> Result<(Self, Memory), ParamError> {
        let (keys, operations) = (params.get("keys"), params.get("operations"));
        let mut heap = Heap::new(plan);
        let heads = heap.table(params.get("buckets"));
        let nodes = heap.table(keys);
        let map = Hashmap {
            heads,
            nodes,
            locks: Locks(heap.dram(heads.rows() * 8)),
            free: FreeLists::allot(&mut heap, nodes, plan.threads),
            keys,
            loaded: params.get("loaded"),
            updates: params.get("updates"),
            operations,
            lists: Lists::allot(&mut heap, plan.lanes(), 2 * operations),
            logs: LogLayout::allot(&mut heap, plan.lanes(), ring(params, MOST_RECORDS)),
            seed: plan.seed,
        };
        let memory = heap.memory();
        map.fill(&memory);
        map.restart(&memory);
        Ok((map, memory))
    }

    async fn task<C: Cpu>(&self, thread: &mut ThreadState<'_, C>) {
        let cpu = thread.cpu;
        let list = self.lists.of(thread);
        let mut held = Held::none(list);
        let first = list + 8 * self.operations;
        let end = first + 8 * self.operations;
        let writes = self.draw(thread, &mut held, first, end).await;
        held.lock(thread, self.locks).await;

        let lane = thread.thread;
        let mut region = if writes { Some(thread.log.begin()) } else { None };
        let mut at = first;
        while at.less(end).branch() {
            let operation = at.load().await;
            at = at + 8;
            let key = operation >> 1;
            match &mut region {
                Some(region) if !(operation & 1).is(0).branch() => self.update(cpu, lane, region, key).await,
                region => self.read(&mut View(region.as_mut()), key).await,
            }
        }
        if let Some(mut region) = region {
            region.end().await;
        }

        held.unlock(thread, self.locks).await;
    }

    /// Each chain holds keys of its bucket, each once; values are their keys' and whole; no key that was loaded is lost.
    fn check(&self, image: &dyn Image) -> Result<(), String> {
        let seen = self.reachable(image)?;
        let lost = (0..self.keys).find(|key| self.is_loaded(*key) && !seen.keys[*key as usize]);
        lost.map_or(Ok(()), |key| Err(format!("key {key} is lost")))
    }

    fn logs(&self) -> LogLayout {
        self.logs
    }

    fn footprint(&self) -> Vec<Range<u64>> {
        vec![
            self.nodes.range(),
            self.heads.range(),
            self.free.range(),
            self.locks.range(self.heads.rows()),
            self.lists.range(),
            self.logs.lists(),
            self.logs.range(),
        ]
    }

    /// Every node that is in no chain is free. If a chain is broken, none is.
    fn restart(&self, image: &dyn Image) {
        let seen = self.reachable(image).ok();
        self.free
            .rebuild(image, |node| seen.as_ref().is_none_or(|seen| seen.nodes[node as usize]));
    }
}
