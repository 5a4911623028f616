//! Splits of nodes (FAIR).

use super::{node, Entry, FastFair, Inserted, Omits, POINTER, RECORD};
use crate::maps::{flush_lines, EXCLUSIVE};
use strandline_isa::{sites, Cpu, Intent, LINE_BYTES, W};
use strandline_runtime::lock;

sites! {
    NODE_IS_LEAF = 0x6613_a044;
    MORE_TO_COPY = 0xcca7_e87d;
    GOES_LEFT = 0x7e4c_8ab4;
    ROOT_STAYED = 0xfa96_d2b7;
    NODE_IS_ROOT = 0x7583_a6d0;
}

impl FastFair {
    /// Splits a full node, which is locked, and inserts a record into one of the halves. The node is unlocked.
    pub(super) fn split<'c, C: Cpu>(
        &self,
        cpu: &'c C,
        thread: usize,
        at: W<'c, C>,
        entry: Entry<'c, C>,
    ) -> Inserted<'c, C> {
        let _call = cpu.call(3);
        let Some(taken) = self.free.take(cpu, thread) else {
            FastFair::unlock(cpu, at);
            return Inserted::NoRoom;
        };
        let new = taken.row();
        let half = self.most() / 2;
        let middle = at.at(node::RECORDS + half * RECORD);
        let low = middle.load();
        let copied = self.copy_upper(cpu, at, new, (middle, low), entry.level);
        if self.omits != Omits::Sibling {
            flush_lines(new, self.bytes);
            cpu.intent(Intent::Order);
        }
        at.at(node::SIBLING).store(new);
        at.flush();
        if self.omits != Omits::Cut {
            cpu.intent(Intent::Order);
        }
        middle.at(POINTER).store(cpu.word(0));
        middle.flush();
        at.at(node::COUNT).store(cpu.word(half));
        cpu.intent(Intent::Order);
        match entry.key.less(low).branch(GOES_LEFT) {
            true => self.shift_in(cpu, at, cpu.word(half), entry),
            false => self.shift_in(cpu, new, copied, entry),
        }
        cpu.intent(Intent::Durable);
        FastFair::unlock(cpu, new);
        let parent = Entry {
            level: entry.level + 1,
            key: low,
            pointer: new,
        };
        let root = cpu.word(self.root.0).load();
        let is_root = root.equals(at).branch(NODE_IS_ROOT);
        if is_root {
            self.grow(cpu, thread, at, parent);
        }
        FastFair::unlock(cpu, at);
        match is_root {
            true => Inserted::Done,
            false => Inserted::Split(parent),
        }
    }

    /// Makes a new node of the records from `middle` on, whose key is `low`: locked, and before the node's sibling. An
    /// inner node's middle record goes to the parent. How many records the new node has.
    fn copy_upper<'c, C: Cpu>(
        &self,
        cpu: &'c C,
        at: W<'c, C>,
        new: W<'c, C>,
        (middle, low): (W<'c, C>, W<'c, C>),
        level: u64,
    ) -> W<'c, C> {
        let _call = cpu.call(3);
        let (mut from, mut leftmost) = (middle, cpu.word(0));
        if !cpu.word(level).is(0).branch(NODE_IS_LEAF) {
            leftmost = middle.at(POINTER).load();
            from = middle + RECORD;
        }
        let (mut to, mut count) = (new.at(node::RECORDS), cpu.word(0));
        let end = at.at(node::RECORDS + self.most() * RECORD);
        while from.less(end).branch(MORE_TO_COPY) {
            to.store(from.load());
            to.at(POINTER).store(from.at(POINTER).load());
            (from, to, count) = (from + RECORD, to + RECORD, count + 1);
        }
        to.at(POINTER).store(cpu.word(0));
        let sibling = at.at(node::SIBLING).load();
        for (offset, word) in [
            (node::LEFTMOST, leftmost),
            (node::SIBLING, sibling),
            (node::LEVEL, cpu.word(level)),
            (node::COUNT, count),
            (node::SHIFTS, cpu.word(0)),
            (node::LOCK, cpu.word(EXCLUSIVE)),
            (node::LOW, low),
        ] {
            new.at(offset).store(word);
        }
        count
    }

    /// Enters a record of a level that there is not yet: a sibling of the root was split before the root had a parent.
    /// False if it has got one meanwhile.
    pub(super) fn grow_above<'c, C: Cpu>(&self, cpu: &'c C, thread: usize, entry: Entry<'c, C>) -> bool {
        let _call = cpu.call(2);
        let root = cpu.word(self.root.0).load();
        lock(cpu, root.at(node::LOCK));
        let now = cpu.word(self.root.0).load();
        let is_root = now.equals(root).branch(ROOT_STAYED);
        if is_root {
            self.grow(cpu, thread, root, entry);
        }
        FastFair::unlock(cpu, root);
        is_root
    }

    /// Makes a new root above the old one, which is locked, and a sibling of it. Without a free node, the sibling is
    /// reached by the old root.
    pub(super) fn grow<'c, C: Cpu>(&self, cpu: &'c C, thread: usize, old: W<'c, C>, entry: Entry<'c, C>) {
        let _call = cpu.call(3);
        let Some(taken) = self.free.take(cpu, thread) else {
            return;
        };
        let new = taken.row();
        let zero = cpu.word(0);
        for (offset, word) in [
            (node::LEFTMOST, old),
            (node::SIBLING, zero),
            (node::LEVEL, cpu.word(entry.level)),
            (node::COUNT, cpu.word(1)),
            (node::SHIFTS, zero),
            (node::LOCK, zero),
            (node::LOW, zero),
            (node::RECORDS, entry.key),
            (node::RECORDS + POINTER, entry.pointer),
            (node::RECORDS + RECORD + POINTER, zero),
        ] {
            new.at(offset).store(word);
        }
        flush_lines(new, 2 * LINE_BYTES);
        cpu.intent(Intent::Order);
        let root = cpu.word(self.root.0);
        root.store(new);
        root.flush();
        cpu.intent(Intent::Durable);
    }
}
