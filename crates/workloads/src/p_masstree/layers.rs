//! Records, and new layers.

use super::search::{entry, Border};
use super::split::Header;
use super::{Masstree, Omits, IS_RECORD, SECOND};
use crate::maps::{flush_lines, EXCLUSIVE};
use strandline_isa::{sites, Cpu, Intent, Primitive, W};
use strandline_runtime::ThreadState;

sites! {
    SLICES_ARE_EQUAL = 0xb2a8_ad1d;
    OLD_IS_LESS = 0xb12a_f7b7;
}

impl Masstree {
    /// A new record, flushed but not ordered; `None` if there is no room.
    pub(super) fn record<'c, C: Cpu>(
        &self,
        thread: &ThreadState<'c, C>,
        key: W<'c, C>,
        value: W<'c, C>,
    ) -> Option<W<'c, C>> {
        let _call = thread.cpu.call(3);
        let record = self.free_records.take(thread.cpu, thread.thread)?.row();
        record.store(key);
        record.at(SECOND).store(value);
        self.flush_unless(Omits::Record, record);
        Some(record)
    }

    /// Frees a record that nothing reaches, or durably no longer.
    pub(super) fn free_record<'c, C: Cpu>(&self, thread: &ThreadState<'c, C>, record: W<'c, C>) {
        self.free_records.give(thread.cpu, thread.thread, record, &thread.log);
    }

    /// Puts layers between a locked border node's entry and its record, until the slices of that record's key and of a
    /// new one differ: all but the last have one entry. False if there is no room.
    pub(super) fn deepen<'c, C: Cpu>(
        &self,
        thread: &ThreadState<'c, C>,
        border: &Border<'c, C>,
        held: W<'c, C>,
        old: W<'c, C>,
        (key, value): (W<'c, C>, W<'c, C>),
    ) -> bool {
        let _call = thread.cpu.call(4);
        let cpu = thread.cpu;
        let old_key = old.load();
        let mut slices = Vec::new();
        loop {
            let layer = border.layer.depth + 1 + slices.len() as u64;
            let pair = (self.slice(old_key, layer), self.slice(key, layer));
            slices.push(pair);
            if !pair.0.equals(pair.1).branch(SLICES_ARE_EQUAL) {
                break;
            }
        }
        let Some((new, nodes)) = self.take_all(thread, slices.len(), (key, value)) else {
            return false;
        };
        let (old, new) = (old + IS_RECORD, new + IS_RECORD);
        for (index, (at, slices)) in nodes.iter().zip(&slices).enumerate() {
            let entries = match nodes.get(index + 1) {
                Some(next) => vec![(slices.0, *next)],
                None if slices.0.less(slices.1).branch(OLD_IS_LESS) => vec![(slices.0, old), (slices.1, new)],
                None => vec![(slices.1, new), (slices.0, old)],
            };
            self.make_border(cpu, *at, &entries);
        }
        if self.omits != Omits::Layer {
            for at in &nodes {
                flush_lines(*at, self.bytes());
            }
            cpu.intent(Intent::Order);
        }
        cpu.primitive(Primitive::StoreBarrier);
        held.at(SECOND).store(nodes[0]);
        held.flush();
        Masstree::count_change(cpu, border.at);
        cpu.intent(Intent::Durable);
        for at in nodes {
            Masstree::unlock(cpu, at);
        }
        true
    }

    /// A new record and this many nodes, or nothing.
    fn take_all<'c, C: Cpu>(
        &self,
        thread: &ThreadState<'c, C>,
        count: usize,
        (key, value): (W<'c, C>, W<'c, C>),
    ) -> Option<(W<'c, C>, Vec<W<'c, C>>)> {
        let _call = thread.cpu.call(2);
        let cpu = thread.cpu;
        let record = self.record(thread, key, value)?;
        let mut nodes = Vec::new();
        while nodes.len() < count {
            let Some(taken) = self.free.take(cpu, thread.thread) else {
                for at in nodes {
                    self.free.give(cpu, thread.thread, at, &thread.log);
                }
                self.free_record(thread, record);
                return None;
            };
            nodes.push(taken.row());
        }
        Some((record, nodes))
    }

    /// Makes the border node of a new layer, with these entries: locked.
    fn make_border<'c, C: Cpu>(&self, cpu: &'c C, at: W<'c, C>, entries: &[(W<'c, C>, W<'c, C>)]) {
        let _call = cpu.call(2);
        for (slot, (slice, link)) in (0..).zip(entries) {
            let entry = entry(at, cpu.word(slot));
            entry.store(*slice);
            entry.at(SECOND).store(*link);
        }
        let header = Header {
            level: 0,
            next: cpu.word(0),
            leftmost: cpu.word(0),
            low: cpu.word(0),
            lock: EXCLUSIVE,
            count: entries.len() as u64,
        };
        self.make_header(cpu, at, header);
    }
}
