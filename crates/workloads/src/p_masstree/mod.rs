//! `p-masstree`: a trie of B+-trees whose nodes are ordered by a permutation, without a log.
//!
//! Masstree (Mao, Kohler, Morris, EuroSys 2012) as RECIPE made it persistent (Lee et al., SOSP 2019, section 6.5): a
//! trie with a B+-tree in each layer, which branches by a slice of the key. All nodes, inner ones too, have the form of
//! border nodes: a header of one line, and 15 entries of a slice and a link. The *permutation*, a word of the header,
//! counts the entries and lists their slots in the order of their slices.
//!
//! - *Insertion*: the entry in a free slot, flushed and ordered; then the permutation, whose one store makes it
//!   visible. *Deletion* is a store of the permutation, too. *A new value* replaces the old one in place.
//! - *Split*: a new sibling with the upper half is durable before the node's pointer to it, which is durable before the
//!   permutation drops that half. The parent gets its entry last.
//! - *Layers*: with keys of one slice, links of border nodes are values, as in the public program for integer keys.
//!   With shorter slices, they are records of a key and a value, as in the one for strings, or roots of the next layer.
//!   The second key with the same slice makes a layer, which is durable before the link to it.
//! - *Searches take no lock*: they go to a sibling for keys that it covers. A node's version counts what gives slots or
//!   records away (deletions, splits, new layers); a search that has met such a change looks again.
//! - *Writers* hold the lock of a node until what they did is durable. A new sibling or layer is born locked, since
//!   what others insert there could be durable before the pointer to it. A writer that comes to a node by its sibling
//!   alone gives the parent its entry: RECIPE's way to complete a split that a crash has interrupted.
//! - *Recovery* frees the locks, and drops from permutations what siblings have; writers do the rest. Nodes and records
//!   that a crash has left unreachable are free after it.
//!
//! Not in the papers: a layer is found without the locks of those above it (RECIPE locks a border node to look at a
//! link). A record is free again at once, since searches look at versions; RECIPE waits for an epoch. Empty nodes stay.

mod insert;
mod layers;
mod permutation;
mod recovery;
mod search;
mod split;

use crate::maps::{self, Map, Old};
use crate::papers::ASAP;
use crate::params::{omits, param};
use crate::About;
use std::collections::BTreeMap;
use std::ops::Range;
use strandline_isa::{Addr, Cpu, Image, LINE_BYTES, W};
use strandline_kernel::{Param, ParamError, Params};
use strandline_runtime::{BuildPlan, FreeLists, Heap, Rows, ThreadState};

/// The workload's description.
pub const ABOUT: About = About {
    name: "p-masstree",
    line: "inserts and searches in a trie of B+-trees whose nodes are ordered by a permutation",
    paper: "ASAP (HPCA 2022), Table III, after RECIPE's P-Masstree (SOSP 2019)",
    tasks: 100_000,
    drift: Some("the trie grows, and its nodes split"),
    params: PARAMS,
    small: &[
        ("keys", "60"),
        ("init_ops", "8"),
        ("slice", "4"),
        ("width", "3"),
        ("pool", "64"),
        ("reads", "10"),
        ("deletes", "15"),
        ("records", "128"),
    ],
    ..ASAP
};

const PARAMS: &[Param] = maps::params! {
    init_ops: 100_000, reads: 50;
    param(
        "slice",
        KEY_BITS,
        4..=KEY_BITS,
        "bits of a key in each layer, rounded up to a power of two: with 64, there is one layer",
    ),
    param("width", 15, 2..=15, "entries of a node"),
    param(
        "pool",
        1 << 16,
        4..=1 << 24,
        "nodes that there is room for; with more than one layer, a record for every other entry",
    ),
    Omits::PARAM,
};

/// Bits of a key.
const KEY_BITS: u64 = 64;

/// Offsets in a node.
mod node {
    /// 0 for a border node.
    pub const LEVEL: u64 = 0;
    pub const LOCK: u64 = 8;
    /// How often slots or records were given away.
    pub const VERSION: u64 = 16;
    /// The next node of the level.
    pub const NEXT: u64 = 24;
    /// The child for slices below the first entry's; 0 in a border node.
    pub const LEFTMOST: u64 = 32;
    /// The lowest slice that it covers.
    pub const LOW: u64 = 40;
    pub const PERMUTATION: u64 = 48;
    /// The first slot.
    pub const ENTRIES: u64 = 64;
}

/// Bytes of an entry, a power of two: none is in two lines.
const ENTRY: u64 = 16;

/// The offset in an entry of its link, and in a record of its value.
const SECOND: u64 = 8;

/// The bit of a border node's link that tells a record from a layer.
const IS_RECORD: u64 = 1;

omits! {
    "the flush of a record of a large pair, the flush of an entry, that of a permutation, the order of a new sibling before the pointer to it, that of a new layer before the link to it, or the flush of a record":
    Value = "value",
    Entry = "entry",
    Permutation = "permutation",
    Sibling = "sibling",
    Layer = "layer",
    Record = "record",
}

/// The trie.
pub struct Masstree {
    /// The word with the first layer's root.
    root: Addr,
    nodes: Rows,
    free: FreeLists,
    records: Rows,
    free_records: FreeLists,
    /// Entries of a node.
    width: u64,
    /// Bits of a slice.
    slice: u64,
    omits: Omits,
}

/// An entry for a node of a level.
struct Entry<'c, C: Cpu> {
    level: u64,
    slice: W<'c, C>,
    link: W<'c, C>,
}

impl<C: Cpu> Clone for Entry<'_, C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C: Cpu> Copy for Entry<'_, C> {}

/// A layer.
struct Layer<'c, C: Cpu> {
    /// 0 for the first.
    depth: u64,
    /// A node from which all of it is reached: its root, at least when it was loaded.
    root: W<'c, C>,
    /// A border node of the layer above from which the link to the root is reached, and that entry's slice.
    above: Option<(W<'c, C>, W<'c, C>)>,
}

impl<C: Cpu> Clone for Layer<'_, C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C: Cpu> Copy for Layer<'_, C> {}

impl Masstree {
    /// Bytes of a node.
    fn bytes(&self) -> u64 {
        (node::ENTRIES + self.width * ENTRY).next_multiple_of(LINE_BYTES)
    }

    /// The number of layers.
    fn layers(&self) -> u64 {
        KEY_BITS / self.slice
    }

    /// Whether links of border nodes are values: no two keys have the same slice.
    fn is_inline(&self) -> bool {
        self.layers() == 1
    }

    /// A key's slice in a layer.
    fn slice<'c, C: Cpu>(&self, key: W<'c, C>, depth: u64) -> W<'c, C> {
        match self.is_inline() {
            true => key,
            false => (key >> (KEY_BITS - self.slice * (depth + 1))) & ((1 << self.slice) - 1),
        }
    }
}

impl Map for Masstree {
    fn lay_out(params: &Params, plan: &BuildPlan, heap: &mut Heap) -> Result<Self, ParamError> {
        let (width, slice) = (params.get("width"), params.get("slice").next_power_of_two());
        let rows = params.get("pool");
        let bytes = (node::ENTRIES + width * ENTRY).next_multiple_of(LINE_BYTES);
        let nodes = heap.rows(rows, bytes, rows / 4 + 1);
        // With layers, for half of the entries: nodes are not full, and there are inner ones.
        let most = if slice == KEY_BITS { 1 } else { rows * width.div_ceil(2) };
        let records = heap.rows(most, LINE_BYTES, most / 4 + 1);
        Ok(Masstree {
            root: heap.pm(LINE_BYTES),
            free: FreeLists::allocate(heap, nodes, plan.threads),
            nodes,
            free_records: FreeLists::allocate(heap, records, plan.threads),
            records,
            width,
            slice,
            omits: Omits::of(params),
        })
    }

    /// A border node without entries covers all keys.
    fn format(&self, image: &dyn Image) {
        let first = self.nodes.addr(0).0;
        maps::set(image, first + node::PERMUTATION, permutation::sorted(self.width, 0));
        maps::set(image, self.root.0, first);
    }

    fn get<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>, key: W<'c, C>) -> Option<W<'c, C>> {
        self.value(thread.cpu, key)
    }

    fn put<'c, C: Cpu>(
        &self,
        thread: &mut ThreadState<'c, C>,
        (key, value): (W<'c, C>, W<'c, C>),
        old: &mut Old<'c, C>,
    ) -> bool {
        self.write(thread, (key, value), old)
    }

    fn remove<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>, key: W<'c, C>, old: &mut Old<'c, C>) -> bool {
        self.delete(thread, key, old)
    }

    fn mend(&self, image: &dyn Image) {
        self.mend_nodes(image);
    }

    fn restart(&self, image: &dyn Image) {
        self.rebuild_lists(image);
    }

    fn read(&self, image: &dyn Image) -> Result<BTreeMap<u64, u64>, String> {
        self.pairs(image)
    }

    fn footprint(&self) -> Vec<Range<u64>> {
        let first = self.nodes.addr(0).0;
        vec![
            self.free.range(),
            first..first + self.bytes(),
            self.root.0..self.root.0 + LINE_BYTES,
        ]
    }
}

#[cfg(test)]
mod tests;
