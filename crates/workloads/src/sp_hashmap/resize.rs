//! Tables of a structure, and the step from one to the next.

use super::{entry, header, Open, SpHashmap, EMPTY, FULL};
use strandline_isa::{sites, Addr, Cpu, Image, LINE_BYTES, W};
use strandline_runtime::{Region, Step, ThreadState};

sites! {
    TABLE_IS_LARGEST = 0xa15f_7c02;
    MORE_TO_CLEAR = 0x4bd9_20e6;
    IS_LEFT_EMPTY = 0xf073_8d1a;
    MORE_TO_COPY = 0x27ec_59b5;
    IS_RECORD = 0x8e34_c6f1;
    SLOT_IS_EMPTY = 0x53a8_1b9d;
}

/// The largest table has this number of entries for each key. Three quarters of them are more than the keys; and a key that
/// comes back mostly finds the tombstone that it has left, so a larger table is hardly ever needed.
pub(super) const MOST_ENTRIES_PER_KEY: u64 = 2;

/// The most entries of a table that are not empty: three quarters.
pub(super) const fn limit(entries: u64) -> u64 {
    entries / 4 * 3
}

/// What a header says of a table of `entries` entries; a power of two.
pub(super) const fn shift(entries: u64) -> u64 {
    64 - entries.trailing_zeros() as u64
}

impl SpHashmap {
    /// Sets a header for the structure's first table, which is empty.
    pub(super) fn begin(&self, image: &dyn Image, index: u64) {
        let (at, table) = (self.headers.addr(index).0, self.tables_of(index).0);
        for (offset, word) in [
            (header::TABLE, table),
            (header::END, table + self.first * LINE_BYTES),
            (header::SHIFT, shift(self.first)),
            (header::LIMIT, limit(self.first)),
        ] {
            image.set_word(Addr(at + offset), word);
        }
    }

    /// Replaces the table by one of twice the size; whether there is room for one.
    pub(super) fn double<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>, header: W<'c, C>) -> bool {
        let _call = thread.cpu.call(2);
        let cpu = thread.cpu;
        let old = Open::of(header);
        let bytes = old.end - old.start;
        if bytes.is(self.most * LINE_BYTES).branch(TABLE_IS_LARGEST) {
            return false;
        }
        let new = Open {
            start: old.end,
            end: old.end + (bytes << 1),
            shift: old.shift - 1,
        };
        let mut region = thread.log.begin();
        clear(cpu, &mut region, &new);
        let records = copy(cpu, &mut region, &old, &new);
        region.constructed();

        region.log(header, 0, header::BYTES);
        region.order(Step::Last);
        let limit = region.read(header.at(header::LIMIT), 8);
        for (offset, word) in [
            (header::TABLE, new.start),
            (header::END, new.end),
            (header::SHIFT, new.shift),
            (header::SIZE, records),
            (header::LIMIT, limit << 1),
        ] {
            region.update(header.at(offset), word, 8);
        }
        region.finish();
        true
    }
}

/// Empties the entries that a resizing which was not finished has left.
fn clear<'c, C: Cpu>(cpu: &'c C, region: &mut Region<'_, 'c, C>, table: &Open<'c, C>) {
    let _call = cpu.call(2);
    let mut at = table.start;
    while at.less(table.end).branch(MORE_TO_CLEAR) {
        let state = region.read(at.at(entry::STATE), 8);
        if !state.is(EMPTY).branch(IS_LEFT_EMPTY) {
            region.construct(at, [(entry::STATE, cpu.word(EMPTY))]);
        }
        at = at + LINE_BYTES;
    }
}

/// Copies all records; returns their number.
fn copy<'c, C: Cpu>(cpu: &'c C, region: &mut Region<'_, 'c, C>, old: &Open<'c, C>, new: &Open<'c, C>) -> W<'c, C> {
    let _call = cpu.call(3);
    let mut records = cpu.word(0);
    let mut at = old.start;
    while at.less(old.end).branch(MORE_TO_COPY) {
        let state = region.read(at.at(entry::STATE), 8);
        if state.is(FULL).branch(IS_RECORD) {
            let key = region.read(at.at(entry::KEY), 8);
            let value = region.read(at.at(entry::VALUE), 8);
            let mut to = new.home(key);
            while !region.read(to.at(entry::STATE), 8).is(EMPTY).branch(SLOT_IS_EMPTY) {
                to = new.after(to);
            }
            let words = [(entry::KEY, key), (entry::VALUE, value), (entry::STATE, state)];
            region.construct(to, words);
            records = records + 1;
        }
        at = at + LINE_BYTES;
    }
    records
}
