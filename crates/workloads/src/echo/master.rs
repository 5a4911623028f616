//! The master: the client that holds its lock. It merges the batches that wait.

use super::{batch, key, lane, version, Echo, Omits, STAMP_SHIFT};
use strandline_isa::{sites, Cpu, Intent, LINE_BYTES, W};
use strandline_runtime::ThreadState;

sites! {
    MORE_LANES = 0x81c8_37b3;
    BATCH_WAITS = 0x4145_31cf;
    MERGE_BEGINS = 0x923c_80c1;
    MORE_ENTRIES = 0xdf1b_849c;
    KEY_IS_KNOWN = 0x0b1f_781b;
    LIST_IS_EMPTY = 0xf5df_df98;
    IS_NEWER = 0x0589_067b;
    LIST_IS_SHORT = 0xa1fa_a00a;
    NOTHING_TO_CUT = 0x6507_5e8c;
    ALL_ARE_CUT = 0x1d7e_f4ab;
    MORE_TO_FREE = 0xc1c8_b300;
}

impl Echo {
    /// Merges all batches that wait.
    pub(super) fn merge_waiting<C: Cpu>(&self, thread: &mut ThreadState<'_, C>) {
        let _call = thread.cpu.call(1);
        let cpu = thread.cpu;
        let mut own = cpu.word(self.lanes.range().start);
        let mut batch = cpu.word(self.batches.range().start);
        let end = cpu.word(self.batches.range().end);
        let bytes = (self.batches.range().end - self.batches.range().start) / self.lane_count;
        loop {
            if own.at(lane::IDLE).load().is(0).branch(BATCH_WAITS) {
                cpu.intent(Intent::Acquire);
                self.merge(thread, batch);
                own.at(lane::IDLE).store(cpu.word(1));
            }
            (own, batch) = (own + LINE_BYTES, batch + bytes);
            if !batch.less(end).branch(MORE_LANES) {
                return;
            }
        }
    }

    /// Merges a submitted batch; at recovery, what is left of it.
    pub(super) fn merge<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>, batch: W<'c, C>) {
        let _call = thread.cpu.call(2);
        let cpu = thread.cpu;
        let master = cpu.word(self.master.0);
        let mut stamp = batch.at(batch::STAMP).load();
        if stamp.is(0).branch(MERGE_BEGINS) {
            stamp = master.load() + 1;
            // Durable before any head leads to the batch's versions: the order of the first of these.
            batch.at(batch::STAMP).store(stamp);
            batch.flush();
        }
        let mut at = batch.at(batch::ENTRIES);
        let end = at + (batch.at(batch::STATE).load() << 3);
        let mut own_stamp = stamp << STAMP_SHIFT;
        let cut = self.buffers.of(thread);
        let mut cut_end = cut;
        while at.less(end).branch(MORE_ENTRIES) {
            let new = at.load();
            cut_end = self.link(thread, new, own_stamp, cut_end);
            (at, own_stamp) = (at + 8, own_stamp + 1);
        }
        master.store(stamp);
        master.flush();
        // What is merged before the batch is done; otherwise recovery would not merge what is lost.
        if self.omits != Omits::Done {
            cpu.intent(Intent::Durable);
        }
        // That it is done before its client fills it anew: recovery would merge that.
        batch.at(batch::STATE).store(cpu.word(0));
        batch.flush();
        cpu.intent(Intent::Durable);
        while cut.less(cut_end).branch(MORE_TO_FREE) {
            cut_end = cut_end - 8;
            let old = cut_end.load();
            self.free_versions.give(cpu, thread.thread, old, &thread.log);
        }
    }

    /// Makes a version the newest of its key, unless it was merged before a crash, and cuts off those that the list does
    /// not keep. These are added to the list that ends at `cut`; returns its end.
    fn link<'c, C: Cpu>(&self, thread: &ThreadState<'c, C>, new: W<'c, C>, stamp: W<'c, C>, cut: W<'c, C>) -> W<'c, C> {
        let _call = thread.cpu.call(4);
        let cpu = thread.cpu;
        let key = new.at(version::KEY).load();
        let Some(line) = self.line(thread, key) else {
            return cut;
        };
        let head = line.at(key::HEAD).load();
        if !head.is(0).branch(LIST_IS_EMPTY) {
            let newest = head.at(version::STAMP).load();
            if !newest.less(stamp).branch(IS_NEWER) {
                // The crash may have undone the cut.
                return self.trim(cpu, head, cut);
            }
        }
        new.at(version::STAMP).store(stamp);
        new.at(version::OLDER).store(head);
        new.flush();
        if self.omits != Omits::Version {
            cpu.intent(Intent::Order);
        }
        line.at(key::HEAD).store(new);
        line.flush();
        self.trim(cpu, new, cut)
    }

    /// Cuts off the versions of a list that it does not keep.
    fn trim<'c, C: Cpu>(&self, cpu: &'c C, newest: W<'c, C>, mut cut: W<'c, C>) -> W<'c, C> {
        let _call = cpu.call(2);
        let mut last = newest;
        for _ in 1..self.kept {
            let older = last.at(version::OLDER).load();
            if older.is(0).branch(LIST_IS_SHORT) {
                return cut;
            }
            last = older;
        }
        let mut old = last.at(version::OLDER).load();
        if old.is(0).branch(NOTHING_TO_CUT) {
            return cut;
        }
        last.at(version::OLDER).store(cpu.word(0));
        last.flush();
        loop {
            cut.store(old);
            cut = cut + 8;
            old = old.at(version::OLDER).load();
            if old.is(0).branch(ALL_ARE_CUT) {
                return cut;
            }
        }
    }

    /// The line of a key; an absent key gets one.
    fn line<'c, C: Cpu>(&self, thread: &ThreadState<'c, C>, key: W<'c, C>) -> Option<W<'c, C>> {
        let _call = thread.cpu.call(2);
        let cpu = thread.cpu;
        let chain = self.chain(key);
        let known = self.find(chain, key);
        if !known.is(0).branch(KEY_IS_KNOWN) {
            return Some(known);
        }
        // There are as many as versions, and each key has a version.
        let line = self.free_keys.take(cpu, thread.thread)?.row();
        let first = chain.load();
        line.at(key::NEXT).store(first);
        line.at(key::KEY).store(key);
        line.at(key::HEAD).store(cpu.word(0));
        line.flush();
        cpu.intent(Intent::Order);
        chain.store(line);
        chain.flush();
        Some(line)
    }
}
