//! The primary index: a B+ tree in persistent memory. It is filled when the table is loaded and then only read, because
//! no transaction of the mixes inserts.

use strandline_isa::{sites, Addr, Cpu, Image, Memory, LINE_BYTES, W};
use strandline_runtime::{Heap, Table};

sites! {
    MORE_LINES_IN_NODE = 0xe2f8_5637;
    KEY_IS_IN_LINE = 0xbefa_a412;
    NODE_IS_LEAF = 0x3a4a_ebaa;
    KEY_IS_IN_FIRST = 0xdaa8_d28e;
    KEY_IS_IN_SECOND = 0x08a0_73e5;
}

/// Lines of a node: 512 bytes, the default of N-Store's B+ tree.
const LINES: u64 = 8;

/// Entries of a line: a key, and the address of the child or tuple for the keys from it up to the next entry's key.
const LINE_ENTRIES: u64 = 3;
const ENTRY_BYTES: u64 = 16;

/// Entries of a node.
const ENTRIES: u64 = LINES * LINE_ENTRIES;

/// The key of an unused entry: above all keys.
const UNUSED: u64 = u64::MAX;

/// A B+ tree whose nodes are full, except the last one of each level.
pub(super) struct Index {
    nodes: Table<{ LINES * strandline_runtime::PAYLOAD_BYTES }>,
    root: Addr,
    /// Levels of nodes.
    levels: u64,
}

/// Address of entry `i` of a node.
fn entry(node: u64, i: u64) -> u64 {
    node + i / LINE_ENTRIES * LINE_BYTES + i % LINE_ENTRIES * ENTRY_BYTES
}

impl Index {
    /// Allocates the nodes for `keys` keys.
    pub fn allocate(heap: &mut Heap, keys: u64) -> Index {
        let (mut total, mut level, mut levels) = (0, keys, 0);
        while levels == 0 || level > 1 {
            level = level.div_ceil(ENTRIES);
            total += level;
            levels += 1;
        }
        let nodes: Table<{ LINES * strandline_runtime::PAYLOAD_BYTES }> = heap.table(total);
        Index {
            nodes,
            root: nodes.addr(total - 1),
            levels,
        }
    }

    /// The addresses of all nodes.
    pub fn range(&self) -> std::ops::Range<u64> {
        self.nodes.range()
    }

    /// Writes the tree over `tuples`, the addresses of the tuples with keys 0, 1, 2, ...
    pub fn fill(&self, memory: &Memory, tuples: impl Iterator<Item = u64>) {
        let mut row = 0;
        let mut below: Vec<(u64, u64)> = (0..).zip(tuples).collect();
        for _ in 0..self.levels {
            let mut level = Vec::new();
            for entries in below.chunks(ENTRIES as usize) {
                let node = self.nodes.addr(row).0;
                row += 1;
                for i in 0..ENTRIES {
                    let (key, child) = entries.get(i as usize).copied().unwrap_or((UNUSED, 0));
                    memory.set_word(Addr(entry(node, i)), key);
                    memory.set_word(Addr(entry(node, i) + 8), child);
                }
                level.push((entries[0].0, node));
            }
            below = level;
        }
    }

    /// The address of the tuple with this key, which exists: on each level the line of the node, then its entry.
    pub fn find<'c, C: Cpu>(&self, cpu: &'c C, key: W<'c, C>) -> W<'c, C> {
        let _call = cpu.call(1);
        let mut node = cpu.word(self.root.0);
        let mut level = cpu.word(self.levels);
        loop {
            let mut line = node;
            let last = node + (LINES - 1) * LINE_BYTES;
            while line.less(last).branch(MORE_LINES_IN_NODE) {
                if key.less(line.at(LINE_BYTES).load()).branch(KEY_IS_IN_LINE) {
                    break;
                }
                line = line + LINE_BYTES;
            }
            node = Index::child(line, key);
            level = level - 1;
            if level.is(0).branch(NODE_IS_LEAF) {
                return node;
            }
        }
    }

    /// The target of the last entry of a line whose key is at most `key`; the first entry's always is.
    fn child<'c, C: Cpu>(line: W<'c, C>, key: W<'c, C>) -> W<'c, C> {
        let _call = line.call(2);
        if key.less(line.at(ENTRY_BYTES).load()).branch(KEY_IS_IN_FIRST) {
            return line.at(8).load();
        }
        if key.less(line.at(2 * ENTRY_BYTES).load()).branch(KEY_IS_IN_SECOND) {
            return line.at(ENTRY_BYTES + 8).load();
        }
        line.at(2 * ENTRY_BYTES + 8).load()
    }

    /// Checks that the tree leads to each of `tuples`, the addresses of the tuples with keys 0, 1, 2, ..., and to
    /// nothing else.
    pub fn check(&self, image: &dyn Image, tuples: impl Iterator<Item = u64>) -> Result<(), String> {
        let mut level = vec![(0, self.root.0)];
        for _ in 0..self.levels {
            let mut next = Vec::new();
            for (first, node) in level {
                if !self.nodes.holds(node) {
                    return Err(format!("the index links to {}, which is no node of it", Addr(node)));
                }
                let entries = (0..ENTRIES).map(|i| {
                    let at = entry(node, i);
                    (image.word(Addr(at)), image.word(Addr(at + 8)))
                });
                let used: Vec<(u64, u64)> = entries.filter(|entry| *entry != (UNUSED, 0)).collect();
                if used.first().is_none_or(|entry| entry.0 != first) {
                    return Err(format!(
                        "the index's node at {} does not begin with key {first}",
                        Addr(node)
                    ));
                }
                next.extend(used);
            }
            level = next;
        }
        let expected: Vec<(u64, u64)> = (0..).zip(tuples).collect();
        match level == expected {
            true => Ok(()),
            false => {
                let wrong = expected.iter().zip(&level).position(|(a, b)| a != b);
                let wrong = wrong.unwrap_or(expected.len().min(level.len()));
                Err(format!("the index does not lead to key {wrong} and its tuple"))
            }
        }
    }
}
