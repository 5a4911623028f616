//! Transactions.

use super::{field_offset, place_in_tuple, tuple, word_offset, words_of_line, Nstore};
use super::{FIELDS, FIELD_LINES, FIELD_WORDS, KEY_SHIFT, VERSION_SHIFT};
use crate::operations::Held;
use strandline_isa::{sites, Cpu, LINE_BYTES, W};
use strandline_runtime::{Region, Step, ThreadState};

sites! {
    READS_ONLY = 0x106b_2eaf;
    MORE_KEYS_TO_DRAW = 0x44b8_4fa3;
    MORE_FIELDS_TO_READ = 0x868e_9463;
    FIELD_IS_LAST = 0x9603_3149;
    MORE_TO_READ = 0xbbbb_c42f;
    MORE_TO_UPDATE = 0xea37_6560;
}

impl Nstore {
    /// One transaction.
    pub(super) fn transact<C: Cpu>(&self, thread: &mut ThreadState<'_, C>) {
        let _call = thread.cpu.call(1);
        let reads = thread.random.below(100).below(self.reads).branch(READS_ONLY);
        let list = self.lists.of(thread);
        let mut held = Held::none(list);
        let first = list + 8 * self.operations;
        let end = first + 8 * self.operations;
        self.draw(thread, &mut held, first, end);

        self.lock(thread, &mut held);
        if reads {
            self.read_all(thread, first, end);
        } else {
            self.update_all(thread, first, end);
        }
        self.unlock(thread, &held);
    }

    /// Takes the locks of the tuples, or of the thread's part.
    fn lock<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>, held: &mut Held<'c, C>) {
        let _call = thread.cpu.call(2);
        match self.partitions {
            None => held.lock(thread, self.locks),
            Some(partitions) if partitions.locked => thread.log.lock(self.own_lock(thread)),
            Some(_) => {}
        }
    }

    fn unlock<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>, held: &Held<'c, C>) {
        let _call = thread.cpu.call(2);
        match self.partitions {
            None => held.unlock(thread, self.locks),
            Some(partitions) if partitions.locked => thread.log.unlock(self.own_lock(thread)),
            Some(_) => {}
        }
    }

    /// The lock of the thread's part.
    fn own_lock<'c, C: Cpu>(&self, thread: &ThreadState<'c, C>) -> W<'c, C> {
        self.locks.at(thread.cpu.word(thread.thread as u64))
    }

    /// Draws the keys of a transaction, and lists their tuples from `first` to `end`.
    fn draw<'c, C: Cpu>(
        &self,
        thread: &mut ThreadState<'c, C>,
        held: &mut Held<'c, C>,
        first: W<'c, C>,
        end: W<'c, C>,
    ) {
        let _call = thread.cpu.call(4);
        let mut at = first;
        loop {
            let mut key = self.zipf.draw(&mut thread.random);
            if let Some(partitions) = self.partitions {
                key = key + partitions.rows * thread.thread as u64;
            }
            at.store(self.index.find(thread.cpu, key));
            if self.partitions.is_none() {
                held.add(key);
            }
            at = at + 8;
            if !at.less(end).branch(MORE_KEYS_TO_DRAW) {
                return;
            }
        }
    }

    /// Copies all fields of a tuple to `buffer`.
    fn read<'c, C: Cpu>(row: W<'c, C>, buffer: W<'c, C>) {
        let _call = row.call(2);
        let (mut from, mut to) = (row.at(field_offset(0)), buffer);
        let end = buffer + 8 * FIELD_WORDS * FIELDS;
        while to.less(end).branch(MORE_FIELDS_TO_READ) {
            for word in 0..FIELD_WORDS {
                to.at(8 * word).store(from.at(word_offset(word)).load());
            }
            from = from + LINE_BYTES * FIELD_LINES;
            to = to + 8 * FIELD_WORDS;
        }
    }

    /// Writes the fields of a tuple; then its region continues or ends.
    fn update<'c, C: Cpu>(&self, region: &mut Region<'_, 'c, C>, cpu: &'c C, row: W<'c, C>, step: Step) {
        let _call = cpu.call(3);
        let key = region.read(row.at(tuple::KEY), 8);
        let version = region.read(row.at(tuple::VERSION), 8) + 1;
        let mut content = (key << KEY_SHIFT) | (version << VERSION_SHIFT);
        let mut field = row + field_offset(0);
        let mut left = cpu.word(self.written);
        loop {
            left = left - 1;
            let more = !left.is(0).branch(FIELD_IS_LAST);
            for line in 0..FIELD_LINES {
                let at = if line == 0 { field } else { field + line * LINE_BYTES };
                region.log(at, 0, 8 * words_of_line(line));
            }
            if !more {
                region.log(row, tuple::VERSION, 8);
            }
            region.order(if more { Step::More } else { step });
            for word in 0..FIELD_WORDS {
                let value = if word == 0 { content } else { content + word };
                region.update(field.at(word_offset(word)), value, 8);
            }
            if !more {
                region.update(row.at(tuple::VERSION), version, 8);
            }
            region.finish();
            if !more {
                return;
            }
            field = field + LINE_BYTES * FIELD_LINES;
            content = content + place_in_tuple(1, 0);
        }
    }

    /// Reads the tuples in the list from `first` to `end`.
    fn read_all<'c, C: Cpu>(&self, thread: &ThreadState<'c, C>, first: W<'c, C>, end: W<'c, C>) {
        let _call = thread.cpu.call(3);
        let buffer = self.buffers.of(thread);
        let mut at = first;
        loop {
            Nstore::read(at.load(), buffer);
            at = at + 8;
            if !at.less(end).branch(MORE_TO_READ) {
                return;
            }
        }
    }

    /// Updates the tuples in the list from `first` to `end`, in one region.
    fn update_all<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>, first: W<'c, C>, end: W<'c, C>) {
        let _call = thread.cpu.call(3);
        let cpu = thread.cpu;
        let mut region = thread.log.begin();
        let mut at = first;
        loop {
            let row = at.load();
            at = at + 8;
            let more = at.less(end).branch(MORE_TO_UPDATE);
            let step = if more { Step::More } else { Step::Last };
            self.update(&mut region, cpu, row, step);
            if !more {
                return;
            }
        }
    }
}
