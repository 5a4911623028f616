//! Tables of twice the size.

use super::{bucket, root, Clht, Omits, FREE, GROWN_ONE_IN, MOVED, SLOTS};
use crate::maps::hash;
use strandline_isa::{sites, Cpu, Intent, LINE_BYTES, W};
use strandline_runtime::{lock, unlock, ThreadState};

sites! {
    TABLE_IS_LARGEST = 0xe827_4b24;
    TABLE_STAYED = 0x7f68_472d;
    MORE_TO_CLEAR = 0x0a7d_7bf4;
    MORE_TO_MOVE = 0xa265_fcc1;
    MOVED_BUCKET_IS_FREE = 0xae5e_78fc;
    MOVED_BUCKET_IS_TAKEN = 0x5c49_3933;
    OLD_SLOT_IS_EMPTY = 0x7537_8b17;
    OLD_CHAIN_ENDS = 0x3eab_466c;
    NEW_SLOT_IS_EMPTY = 0x5c08_c5be;
    NEW_CHAIN_ENDS = 0x59bf_07e6;
    MORE_TO_FLUSH = 0x6389_f110;
    MORE_TO_FREE = 0x88b9_f5f0;
    CHAINS_HAVE_GROWN = 0x15af_9a7d;
}

impl Clht {
    /// A chain has grown: doubles the table if enough have.
    pub(super) fn count_growth<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>) {
        let _call = thread.cpu.call(1);
        let cpu = thread.cpu;
        let table = cpu.word(self.root.0 + root::TABLE).load();
        let buckets = table.load() + 1;
        let grown = cpu.word(self.grown.0).fetch_add(cpu.word(1));
        let limit = buckets >> u64::from(GROWN_ONE_IN.trailing_zeros());
        if !limit.less(grown + 1).branch(CHAINS_HAVE_GROWN) {
            return;
        }
        let word = cpu.word(self.root.0 + root::LOCK);
        lock(cpu, word);
        let now = cpu.word(self.root.0 + root::TABLE).load();
        if now.equals(table).branch(TABLE_STAYED) && !buckets.is(self.sizes.1).branch(TABLE_IS_LARGEST) {
            self.double(thread, table, buckets);
        }
        unlock(cpu, word);
    }

    /// Moves all pairs to a table of twice the size; if there are not enough buckets, the old one stays.
    fn double<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>, old: W<'c, C>, buckets: W<'c, C>) {
        let _call = thread.cpu.call(3);
        let cpu = thread.cpu;
        let new = cpu.word(self.table(2 * buckets.bits()));
        let end = (new + (buckets << 7)).at(LINE_BYTES);
        new.store((buckets << 1) - 1);
        let mut at = new.at(LINE_BYTES);
        while at.less(end).branch(MORE_TO_CLEAR) {
            Clht::begin(cpu, at);
            at = at + LINE_BYTES;
        }
        let old_end = (old + (buckets << 6)).at(LINE_BYTES);
        let mut from = old.at(LINE_BYTES);
        let mut fits = true;
        while fits && from.less(old_end).branch(MORE_TO_MOVE) {
            Clht::lock_for_good(cpu, from);
            fits = self.copy(thread, from, new);
            from = from + LINE_BYTES;
        }
        if !fits {
            cpu.word(self.grown.0).store(cpu.word(0));
            return Clht::give_back(cpu, old.at(LINE_BYTES), from);
        }
        if self.omits != Omits::Table {
            let mut at = new;
            while at.less(end).branch(MORE_TO_FLUSH) {
                at.flush();
                at = at + LINE_BYTES;
            }
            cpu.intent(Intent::Order);
        }
        cpu.word(self.grown.0).store(cpu.word(0));
        let root = cpu.word(self.root.0);
        // What others insert into the new table may be durable before the root is. So the root announces the table first.
        if self.omits != Omits::Next {
            root.at(root::NEXT).store(new);
            root.flush();
            cpu.intent(Intent::Durable);
        }
        root.at(root::TABLE).store(new);
        root.flush();
        cpu.intent(Intent::Durable);
    }

    /// Copies a chain of the old table; false if there are not enough buckets.
    fn copy<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>, first: W<'c, C>, new: W<'c, C>) -> bool {
        let _call = thread.cpu.call(3);
        let mut at = first;
        loop {
            for slot in 0..SLOTS {
                let key = at.at(bucket::KEYS + 8 * slot).load();
                if !key.is(0).branch(OLD_SLOT_IS_EMPTY) {
                    let value = at.at(bucket::VALUES + 8 * slot).load();
                    if !self.place(thread, new, key, value) {
                        return false;
                    }
                }
            }
            at = at.at(bucket::NEXT).load();
            if at.is(0).branch(OLD_CHAIN_ENDS) {
                return true;
            }
        }
    }

    /// Puts a pair into the new table, which nobody else sees. The first buckets of its chains are flushed later.
    fn place<'c, C: Cpu>(
        &self,
        thread: &mut ThreadState<'c, C>,
        new: W<'c, C>,
        key: W<'c, C>,
        value: W<'c, C>,
    ) -> bool {
        let _call = thread.cpu.call(4);
        let mask = new.load();
        let mut at = (new + ((hash(key) & mask) << u64::from(LINE_BYTES.trailing_zeros()))).at(LINE_BYTES);
        let mut is_first = true;
        loop {
            for slot in 0..SLOTS {
                let place = at.at(bucket::KEYS + 8 * slot);
                if place.load().is(0).branch(NEW_SLOT_IS_EMPTY) {
                    place.at(bucket::VALUES - bucket::KEYS).store(value);
                    place.store(key);
                    if !is_first {
                        place.flush();
                    }
                    return true;
                }
            }
            let next = at.at(bucket::NEXT).load();
            if next.is(0).branch(NEW_CHAIN_ENDS) {
                return self.extend(thread, at, key, value);
            }
            (at, is_first) = (next, false);
        }
    }

    /// Frees the buckets of the old table from `at` to `end`, which were locked for good.
    fn give_back<'c, C: Cpu>(cpu: &'c C, mut at: W<'c, C>, end: W<'c, C>) {
        let _call = cpu.call(2);
        while at.less(end).branch(MORE_TO_FREE) {
            Clht::unlock(cpu, at);
            at = at + LINE_BYTES;
        }
    }

    /// Locks a bucket of the old table; nobody frees it.
    fn lock_for_good<'c, C: Cpu>(cpu: &'c C, first: W<'c, C>) {
        let _call = cpu.call(1);
        let lock = first.at(bucket::LOCK);
        loop {
            let state = lock.load();
            let moved = cpu.word(MOVED);
            if state.is(FREE).branch(MOVED_BUCKET_IS_FREE)
                && lock.compare_swap(state, moved).is(FREE).branch(MOVED_BUCKET_IS_TAKEN)
            {
                break;
            }
            cpu.give_way();
            cpu.spins();
        }
        cpu.intent(Intent::Acquire);
    }
}
