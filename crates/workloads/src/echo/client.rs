//! Clients: puts into a batch, and gets.

use super::{batch, key, lane, version, Echo, Omits};
use crate::maps::{draw_key, flush_lines, hash, value_of};
use strandline_isa::{sites, Cpu, Intent, Note, LINE_BYTES, W};
use strandline_runtime::{unlock, ThreadState};

sites! {
    OPERATION_GETS = 0x2107_7dd1;
    BATCH_IS_EMPTY = 0x4739_3848;
    BATCH_GOES_ON = 0xf7ed_a403;
    MORE_ENTRIES_TO_FLUSH = 0xa932_f00c;
    SLOT_IS_OF_BATCH = 0x59f5_d5f5;
    SLOT_HAS_KEY = 0x80cc_eaca;
    INDEX_HAS_KEY = 0xaa4f_e910;
    KEY_IS_ABSENT = 0x18b0_6545;
    CHAIN_ENDS = 0xf9d6_0eeb;
    KEY_MATCHES = 0x1c7b_9b46;
    VERSION_CHANGES = 0x4d25_0dd5;
    VERSION_IS_SAME = 0x59ce_d2c0;
    INDEX_ENDS = 0xe613_1185;
    KEY_HAS_NO_VERSION = 0x5607_5519;
}

/// Position of a slot in the index of a batch: 32 bytes each.
const SLOT_SHIFT: u64 = 5;

/// Offsets in a slot.
mod slot {
    pub const KEY: u64 = 0;
    /// The batch for which it was written; of another one, it is empty.
    pub const BATCH: u64 = 8;
    pub const VERSION: u64 = 16;
}

impl Echo {
    /// A task: a put or a get.
    pub(super) fn operate<C: Cpu>(&self, thread: &mut ThreadState<'_, C>) {
        let _call = thread.cpu.call(1);
        if self.reads > 0 && thread.random.below(100).below(self.reads).branch(OPERATION_GETS) {
            self.get(thread);
        } else {
            self.put(thread);
        }
    }

    /// Writes a version, and adds it to the batch. A full batch is committed.
    pub(super) fn put<C: Cpu>(&self, thread: &mut ThreadState<'_, C>) {
        let _call = thread.cpu.call(1);
        let cpu = thread.cpu;
        let key = draw_key(&mut thread.random, self.keys);
        let value = value_of(&mut thread.random, key);
        cpu.note(Note::OperationBegin {
            key: key.bits(),
            value: Some(value.bits()),
        });
        let Some(new) = self.take_version(thread) else {
            return cpu.note(Note::OperationDurable { changed: false });
        };
        new.at(version::STAMP).store(cpu.word(0));
        new.at(version::KEY).store(key);
        for i in 0..self.value_words {
            let word = if i == 0 { value } else { value + i };
            new.at(version::VALUE + 8 * i).store(word);
        }
        flush_lines(new, version::VALUE + 8 * self.value_words);

        let own = self.lanes.of(thread);
        let count = own.at(lane::COUNT).load();
        let entries = self.batch_of(thread).at(batch::ENTRIES);
        (entries + (count << 3)).store(new);
        own.at(lane::COUNT).store(count + 1);
        self.slot(thread, key).at(slot::VERSION).store(new);
        if !(count + 1).below(self.batch).branch(BATCH_GOES_ON) {
            self.commit(thread);
        }
    }

    /// Memory for a version. If there is none, the open batch is committed, which may free some.
    fn take_version<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>) -> Option<W<'c, C>> {
        let _call = thread.cpu.call(1);
        if let Some(taken) = self.free_versions.take(thread.cpu, thread.thread) {
            return Some(taken.row());
        }
        self.commit(thread);
        let taken = self.free_versions.take(thread.cpu, thread.thread);
        taken.map(|taken| taken.row())
    }

    fn batch_of<'c, C: Cpu>(&self, thread: &ThreadState<'c, C>) -> W<'c, C> {
        thread.cpu.word(self.batches.addr(thread.lane as u64).0)
    }

    /// Submits the open batch, and sees to it that it is merged.
    pub(super) fn commit<C: Cpu>(&self, thread: &mut ThreadState<'_, C>) {
        let _call = thread.cpu.call(1);
        let cpu = thread.cpu;
        let (own, batch) = (self.lanes.of(thread), self.batch_of(thread));
        let count = own.at(lane::COUNT).load();
        if count.is(0).branch(BATCH_IS_EMPTY) {
            return;
        }
        let mut at = batch.at(batch::ENTRIES);
        let end = at + (count << 3);
        while self.omits != Omits::Entries && at.less(end).branch(MORE_ENTRIES_TO_FLUSH) {
            at.flush();
            at = at + LINE_BYTES;
        }
        // Versions and entries before the state.
        cpu.intent(Intent::Order);
        batch.at(batch::STAMP).store(cpu.word(0));
        batch.at(batch::STATE).store(count);
        batch.flush();
        // The state before anything of the batch is merged, by whomever.
        cpu.intent(Intent::Durable);
        own.at(lane::COUNT).store(cpu.word(0));
        let number = own.at(lane::BATCH).load();
        own.at(lane::BATCH).store(number + 1);
        // It is the master's from here on.
        unlock(cpu, own.at(lane::IDLE));
        let master = self.lock.first(cpu);
        let hand = thread.log.hand();
        hand.lock(cpu, master);
        self.merge_waiting(thread);
        hand.unlock(cpu, master);
        for _ in 0..count.bits() {
            cpu.note(Note::OperationDurable { changed: true });
        }
    }

    /// The slot of a key in the index of the open batch; it becomes the key's.
    fn slot<'c, C: Cpu>(&self, thread: &ThreadState<'c, C>, key: W<'c, C>) -> W<'c, C> {
        let _call = thread.cpu.call(2);
        let number = self.lanes.of(thread).at(lane::BATCH).load();
        let index = self.locals.of(thread);
        let mut place = hash(key);
        loop {
            let at = index + ((place & (self.slots() - 1)) << SLOT_SHIFT);
            if !at.at(slot::BATCH).load().equals(number).branch(SLOT_IS_OF_BATCH) {
                at.at(slot::KEY).store(key);
                at.at(slot::BATCH).store(number);
                return at;
            }
            if at.at(slot::KEY).load().equals(key).branch(SLOT_HAS_KEY) {
                return at;
            }
            place = place + 1;
        }
    }

    /// Reads a value: the one that the open batch has, or the newest merged one.
    fn get<C: Cpu>(&self, thread: &mut ThreadState<'_, C>) {
        let _call = thread.cpu.call(1);
        let cpu = thread.cpu;
        let key = draw_key(&mut thread.random, self.keys);
        let buffer = self.buffers.of(thread) + 16 * self.batch;
        if let Some(own) = self.find_in_batch(thread, key) {
            for i in 0..self.value_words {
                let word = own.at(version::VALUE + 8 * i).load();
                buffer.at(8 * i).store(word);
            }
            return;
        }
        cpu.note(Note::SearchBegin { key: key.bits() });
        let found = self.find_in_table(key, buffer);
        cpu.note(Note::SearchEnd {
            value: found.map(|value| value.bits()),
        });
    }

    /// The version of a key in the open batch.
    fn find_in_batch<'c, C: Cpu>(&self, thread: &ThreadState<'c, C>, key: W<'c, C>) -> Option<W<'c, C>> {
        let _call = thread.cpu.call(2);
        let number = self.lanes.of(thread).at(lane::BATCH).load();
        let index = self.locals.of(thread);
        let mut place = hash(key);
        loop {
            let at = index + ((place & (self.slots() - 1)) << SLOT_SHIFT);
            if !at.at(slot::BATCH).load().equals(number).branch(INDEX_ENDS) {
                return None;
            }
            if at.at(slot::KEY).load().equals(key).branch(INDEX_HAS_KEY) {
                return Some(at.at(slot::VERSION).load());
            }
            place = place + 1;
        }
    }

    /// The line of a key, or 0.
    pub(super) fn find<'c, C: Cpu>(&self, chain: W<'c, C>, key: W<'c, C>) -> W<'c, C> {
        let _call = chain.call(2);
        let mut at = chain.load();
        while !at.is(0).branch(CHAIN_ENDS) {
            if at.at(key::KEY).load().equals(key).branch(KEY_MATCHES) {
                break;
            }
            at = at.at(key::NEXT).load();
        }
        at
    }

    /// Copies the newest merged value of a key. No lock: a version that is cut off meanwhile, and used again, has lost its
    /// timestamp before it changes.
    fn find_in_table<'c, C: Cpu>(&self, key: W<'c, C>, buffer: W<'c, C>) -> Option<W<'c, C>> {
        let _call = key.call(2);
        let line = self.find(self.chain(key), key);
        if line.is(0).branch(KEY_IS_ABSENT) {
            return None;
        }
        loop {
            let newest = line.at(key::HEAD).load();
            if newest.is(0).branch(KEY_HAS_NO_VERSION) {
                return None;
            }
            let stamp = newest.at(version::STAMP).load();
            let value = newest.at(version::VALUE).load();
            buffer.store(value);
            for i in 1..self.value_words {
                let word = newest.at(version::VALUE + 8 * i).load();
                buffer.at(8 * i).store(word);
            }
            if stamp.is(0).branch(VERSION_CHANGES) {
                continue;
            }
            if newest.at(version::STAMP).load().equals(stamp).branch(VERSION_IS_SAME) {
                return Some(value);
            }
        }
    }
}
