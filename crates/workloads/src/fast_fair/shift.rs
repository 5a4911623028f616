//! Records shift within a node, in store order (FAST).

use super::{node, Entry, FastFair, Omits, POINTER, RECORD};
use strandline_isa::{sites, Cpu, Intent, Primitive, LINE_BYTES, W};

sites! {
    SHIFTED_LEFT = 0xd2e1_72d7;
    END_BEGINS_LINE = 0x48a8_31c9;
    RECORD_IS_LOWEST = 0xf6f1_578c;
    RECORD_IS_GREATER = 0x29b7_c3a2;
    RECORD_BEGINS_LINE = 0xf0c1_9020;
    SHIFTED_RIGHT = 0x9898_9bbc;
    REMOVES_FIRST = 0x0615_e0bd;
    SHIFT_ENDS = 0xcf99_9eb9;
    NEXT_BEGINS_LINE = 0x5100_0998;
}

impl FastFair {
    /// Inserts a record into a locked node with room for it, which has `count`. The last line is flushed.
    pub(super) fn shift_in<'c, C: Cpu>(&self, cpu: &'c C, at: W<'c, C>, count: W<'c, C>, entry: Entry<'c, C>) {
        let _call = cpu.call(3);
        let shifts = at.at(node::SHIFTS).load();
        if (shifts & 1).is(1).branch(SHIFTED_LEFT) {
            at.at(node::SHIFTS).store(shifts + 1);
            cpu.primitive(Primitive::StoreBarrier);
        }
        let first = at.at(node::RECORDS);
        let mut record = first + (count << u64::from(RECORD.trailing_zeros()));
        let end = record + RECORD;
        end.at(POINTER).store(cpu.word(0));
        if (end & (LINE_BYTES - 1)).is(0).branch(END_BEGINS_LINE) {
            self.line_is_complete(cpu, end);
        }
        cpu.primitive(Primitive::StoreBarrier);
        loop {
            let mut before = at.at(node::LEFTMOST);
            let mut greater = None;
            if !record.equals(first).branch(RECORD_IS_LOWEST) {
                before = (record - RECORD).at(POINTER);
                let key = (record - RECORD).load();
                greater = entry.key.less(key).branch(RECORD_IS_GREATER).then_some(key);
            }
            // Until the last store, the record is invalid: its pointer is that of the one before.
            record.at(POINTER).store(before.load());
            cpu.primitive(Primitive::StoreBarrier);
            let Some(key) = greater else { break };
            record.store(key);
            if (record & (LINE_BYTES - 1)).is(0).branch(RECORD_BEGINS_LINE) {
                self.line_is_complete(cpu, record);
            }
            cpu.primitive(Primitive::StoreBarrier);
            record = record - RECORD;
        }
        record.store(entry.key);
        cpu.primitive(Primitive::StoreBarrier);
        record.at(POINTER).store(entry.pointer);
        self.flush_record(record);
        at.at(node::COUNT).store(count + 1);
    }

    /// Removes a record of a locked node. The last line is flushed.
    pub(super) fn shift_out<'c, C: Cpu>(&self, cpu: &'c C, at: W<'c, C>, mut record: W<'c, C>) {
        let _call = cpu.call(2);
        let shifts = at.at(node::SHIFTS).load();
        if (shifts & 1).is(0).branch(SHIFTED_RIGHT) {
            at.at(node::SHIFTS).store(shifts + 1);
            cpu.primitive(Primitive::StoreBarrier);
        }
        let before = match record.equals(at.at(node::RECORDS)).branch(REMOVES_FIRST) {
            true => at.at(node::LEFTMOST),
            false => (record - RECORD).at(POINTER),
        };
        record.at(POINTER).store(before.load());
        loop {
            let next = record + RECORD;
            let (key, pointer) = (next.load(), next.at(POINTER).load());
            cpu.primitive(Primitive::StoreBarrier);
            record.store(key);
            cpu.primitive(Primitive::StoreBarrier);
            record.at(POINTER).store(pointer);
            if pointer.is(0).branch(SHIFT_ENDS) {
                break;
            }
            if (next & (LINE_BYTES - 1)).is(0).branch(NEXT_BEGINS_LINE) {
                self.line_is_complete(cpu, record);
            }
            record = next;
        }
        self.flush_record(record);
        let count = at.at(node::COUNT).load();
        at.at(node::COUNT).store(count - 1);
    }

    /// A line of a shift persists before the next one.
    fn line_is_complete<'c, C: Cpu>(&self, cpu: &'c C, record: W<'c, C>) {
        let _call = cpu.call(1);
        if self.omits != Omits::Shift {
            record.flush();
            cpu.intent(Intent::Order);
        }
    }
}
