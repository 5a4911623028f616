//! Splits of nodes, and what they change above.

use super::insert::Inserted;
use super::permutation::{self, Permutation};
use super::search::{entry, Orphan};
use super::{node, Entry, Layer, Masstree, Omits, ENTRY, SECOND};
use crate::maps::{flush_lines, EXCLUSIVE};
use strandline_isa::{sites, Cpu, Intent, Primitive, W};
use strandline_runtime::{lock, ThreadState};

sites! {
    GOES_LEFT = 0x9dc2_c4ac;
    NODE_IS_ROOT = 0xea78_ad93;
    ROOT_STAYED = 0x49cb_f7ac;
    UPPER_ENDS = 0x1a38_f03b;
}

/// What a new node begins with.
pub(super) struct Header<'c, C: Cpu> {
    pub(super) level: u64,
    pub(super) lock: u64,
    pub(super) next: W<'c, C>,
    pub(super) leftmost: W<'c, C>,
    pub(super) low: W<'c, C>,
    /// Entries, in its first slots.
    pub(super) count: u64,
}

impl Masstree {
    pub(super) fn make_header<'c, C: Cpu>(&self, cpu: &'c C, at: W<'c, C>, header: Header<'c, C>) {
        let _call = cpu.call(2);
        let permutation = permutation::sorted(self.width, header.count);
        for (offset, word) in [
            (node::LEVEL, cpu.word(header.level)),
            (node::LOCK, cpu.word(header.lock)),
            (node::VERSION, cpu.word(0)),
            (node::NEXT, header.next),
            (node::LEFTMOST, header.leftmost),
            (node::LOW, header.low),
            (node::PERMUTATION, cpu.word(permutation)),
        ] {
            at.at(offset).store(word);
        }
    }

    /// The entry of a node of this level for its parent.
    pub(super) fn entry_of<'c, C: Cpu>((at, level): Orphan<'c, C>) -> Entry<'c, C> {
        Entry {
            level: level + 1,
            slice: at.at(node::LOW).load(),
            link: at,
        }
    }

    /// Splits a full node, which is locked, and inserts an entry into one of the halves. Both are unlocked then.
    pub(super) fn split<'c, C: Cpu>(
        &self,
        thread: &ThreadState<'c, C>,
        layer: &Layer<'c, C>,
        at: W<'c, C>,
        full: Permutation<'c, C>,
        new: Entry<'c, C>,
    ) -> Inserted<'c, C> {
        let _call = thread.cpu.call(5);
        let cpu = thread.cpu;
        let Some(taken) = self.free.take(cpu, thread.thread) else {
            return Inserted::NoRoom;
        };
        let sibling = taken.row();
        let left = self.width.div_ceil(2);
        let low = self.copy_upper(cpu, at, sibling, (&full, left), new.level);
        if self.omits != Omits::Sibling {
            flush_lines(sibling, self.bytes());
            cpu.intent(Intent::Order);
        }
        cpu.primitive(Primitive::StoreBarrier);
        at.at(node::NEXT).store(sibling);
        at.flush();
        cpu.intent(Intent::Order);
        self.show(cpu, at, full.cut(left), true);
        cpu.intent(Intent::Order);
        let half = match new.slice.less(low).branch(GOES_LEFT) {
            true => at,
            false => sibling,
        };
        let permutation = self.permutation(half);
        let place = Masstree::place(cpu, half, &permutation, new.slice);
        self.fill(cpu, half, &permutation, place.place, new);
        cpu.intent(Intent::Durable);
        Masstree::unlock(cpu, sibling);
        let parent = Entry {
            level: new.level + 1,
            slice: low,
            link: sibling,
        };
        // Only the holder of a root's lock replaces it.
        let root = self.root(cpu, layer);
        let is_root = root.is_some_and(|root| root.equals(at).branch(NODE_IS_ROOT));
        if is_root {
            self.grow(thread, layer, at, parent);
        }
        Masstree::unlock(cpu, at);
        Inserted::Split((!is_root).then_some(parent))
    }

    /// Makes a sibling of the entries behind the first `left`: locked, and before the node's own sibling. An inner
    /// node's first of these goes to the parent. The lowest slice that the sibling covers.
    fn copy_upper<'c, C: Cpu>(
        &self,
        cpu: &'c C,
        at: W<'c, C>,
        sibling: W<'c, C>,
        (full, left): (&Permutation<'c, C>, u64),
        level: u64,
    ) -> W<'c, C> {
        let _call = cpu.call(3);
        let (mut rest, mut count, mut leftmost) = (full.from(left), self.width - left, cpu.word(0));
        let first = entry(at, Permutation::next(rest));
        let low = first.load();
        if level > 0 {
            leftmost = first.at(SECOND).load();
            (rest, count) = (Permutation::after(rest), count - 1);
        }
        let (mut to, end) = (sibling.at(node::ENTRIES), sibling.at(node::ENTRIES + count * ENTRY));
        while !to.equals(end).branch(UPPER_ENDS) {
            let from = entry(at, Permutation::next(rest));
            to.store(from.load());
            to.at(SECOND).store(from.at(SECOND).load());
            (rest, to) = (Permutation::after(rest), to + ENTRY);
        }
        let header = Header {
            level,
            lock: EXCLUSIVE,
            next: at.at(node::NEXT).load(),
            leftmost,
            low,
            count,
        };
        self.make_header(cpu, sibling, header);
        low
    }

    /// Inserts the entry of a node that was split, and those of nodes which that splits or finds without one. What
    /// finds no room is still reached by siblings.
    pub(super) fn climb<'c, C: Cpu>(&self, thread: &ThreadState<'c, C>, layer: &Layer<'c, C>, entry: Entry<'c, C>) {
        let _call = thread.cpu.call(3);
        let cpu = thread.cpu;
        let mut next = Some(entry);
        while let Some(entry) = next {
            let Some(root) = self.root(cpu, layer) else {
                return;
            };
            let Some(reached) = self.descend(cpu, root, entry.slice, entry.level) else {
                if self.grow_above(thread, layer, root, entry) {
                    return;
                }
                continue;
            };
            let at = Masstree::lock(cpu, reached.at, entry.slice);
            let permutation = self.permutation(at);
            let place = Masstree::place(cpu, at, &permutation, entry.slice);
            let inserted = match place.entry.is_some() {
                true => Inserted::Done,
                false => self.insert(thread, layer, at, permutation, place.place, entry),
            };
            next = match inserted {
                Inserted::Split(parent) => parent,
                Inserted::Done | Inserted::NoRoom => {
                    Masstree::unlock(cpu, at);
                    reached.orphan.map(Masstree::entry_of)
                }
            };
        }
    }

    /// Enters an entry of a level that there is not yet: a sibling of the root was split before the root had a parent,
    /// or a crash came between. False if the root has got one meanwhile.
    fn grow_above<'c, C: Cpu>(
        &self,
        thread: &ThreadState<'c, C>,
        layer: &Layer<'c, C>,
        root: W<'c, C>,
        entry: Entry<'c, C>,
    ) -> bool {
        let _call = thread.cpu.call(4);
        let cpu = thread.cpu;
        lock(cpu, root.at(node::LOCK));
        let now = self.root(cpu, layer);
        let is_root = now.is_none_or(|now| now.equals(root).branch(ROOT_STAYED));
        if is_root {
            self.grow(thread, layer, root, entry);
        }
        Masstree::unlock(cpu, root);
        is_root
    }

    /// Makes a new root above the old one, which is locked, and a sibling of it. Without a free node, the sibling is
    /// reached by the old root.
    fn grow<'c, C: Cpu>(&self, thread: &ThreadState<'c, C>, layer: &Layer<'c, C>, old: W<'c, C>, new: Entry<'c, C>) {
        let _call = thread.cpu.call(4);
        let cpu = thread.cpu;
        let Some(taken) = self.free.take(cpu, thread.thread) else {
            return;
        };
        let root = taken.row();
        root.at(node::ENTRIES).store(new.slice);
        root.at(node::ENTRIES + SECOND).store(new.link);
        let header = Header {
            level: new.level,
            lock: 0,
            next: cpu.word(0),
            leftmost: old,
            low: cpu.word(0),
            count: 1,
        };
        self.make_header(cpu, root, header);
        flush_lines(root, self.bytes());
        cpu.intent(Intent::Order);
        cpu.primitive(Primitive::StoreBarrier);
        match layer.above {
            None => Masstree::set_root(cpu, cpu.word(self.root.0), root),
            Some((border, slice)) => {
                let border = Masstree::lock(cpu, border, slice);
                let permutation = self.permutation(border);
                let place = Masstree::place(cpu, border, &permutation, slice);
                if let Some(entry) = place.entry {
                    Masstree::set_root(cpu, entry.at(SECOND), root);
                }
                Masstree::unlock(cpu, border);
            }
        }
    }

    fn set_root<'c, C: Cpu>(cpu: &'c C, word: W<'c, C>, root: W<'c, C>) {
        word.store(root);
        word.flush();
        cpu.intent(Intent::Durable);
    }
}
