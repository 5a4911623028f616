//! Reads and updates.

use super::{node, Hashmap, KEY_SHIFT, VALUE_WORDS, VERSION};
use crate::operations::{Held, View};
use strandline_isa::{sites, Cpu, W};
use strandline_runtime::{Region, ThreadState};

sites! {
    MORE_OPERATIONS = 0xa694_0a12;
    OPERATION_READS = 0x51e7_cebb;
    DRAWS_UPDATE = 0xcbc3_d106;
    MORE_TO_DRAW = 0x1552_741b;
    NO_UPDATE = 0x0c17_eae3;
    CHAIN_ENDS = 0x2b39_4a83;
    KEY_MATCHES = 0xa9ec_177b;
    READ_FINDS_NONE = 0x0966_6130;
    UPDATE_FINDS_NONE = 0xe5f9_f8f9;
}

impl Hashmap {
    /// A task: its operations, in one region if any of them writes.
    pub(super) fn operate<C: Cpu>(&self, thread: &mut ThreadState<'_, C>) {
        let _call = thread.cpu.call(1);
        let cpu = thread.cpu;
        let list = self.lists.of(thread);
        let mut held = Held::none(list);
        let first = list + 8 * self.operations;
        let end = first + 8 * self.operations;
        let writes = self.draw(thread, &mut held, first, end);
        held.lock(thread, self.locks);

        let lane = thread.thread;
        let mut region = if writes { Some(thread.log.begin()) } else { None };
        let mut at = first;
        while at.less(end).branch(MORE_OPERATIONS) {
            let operation = at.load();
            at = at + 8;
            let key = operation >> 1;
            match &mut region {
                Some(region) if !(operation & 1).is(0).branch(OPERATION_READS) => self.update(cpu, lane, region, key),
                region => self.read(&mut View(region.as_mut()), key),
            }
        }
        if let Some(mut region) = region {
            region.end();
        }

        held.unlock(thread, self.locks);
    }

    /// Draws the operations, from `first` to `end`; returns whether any is an update.
    fn draw<'c, C: Cpu>(
        &self,
        thread: &mut ThreadState<'c, C>,
        held: &mut Held<'c, C>,
        first: W<'c, C>,
        end: W<'c, C>,
    ) -> bool {
        let _call = thread.cpu.call(4);
        let cpu = thread.cpu;
        let mut any = cpu.word(0);
        let mut at = first;
        loop {
            let key = thread.random.below(self.keys);
            let update = thread.random.below(100).below(self.updates).branch(DRAWS_UPDATE);
            let update = cpu.word(u64::from(update));
            any = any | update;
            at.store((key << 1) | update);
            held.add(self.bucket(key));
            at = at + 8;
            if !at.less(end).branch(MORE_TO_DRAW) {
                return !any.is(0).branch(NO_UPDATE);
            }
        }
    }

    /// The node of a key in the chain of `head`, or 0.
    fn find<'c, C: Cpu>(view: &mut View<'_, '_, 'c, C>, head: W<'c, C>, key: W<'c, C>) -> W<'c, C> {
        let _call = head.call(3);
        let mut node = view.read(head);
        while !node.is(0).branch(CHAIN_ENDS) {
            if view.read(node.at(node::KEY)).equals(key).branch(KEY_MATCHES) {
                break;
            }
            node = view.read(node.at(node::NEXT));
        }
        node
    }

    fn read<'c, C: Cpu>(&self, view: &mut View<'_, '_, 'c, C>, key: W<'c, C>) {
        let _call = key.call(2);
        let node = Hashmap::find(view, self.heads.row(self.bucket(key)), key);
        if node.is(0).branch(READ_FINDS_NONE) {
            return;
        }
        for i in 0..VALUE_WORDS {
            view.read(node.at(node::VALUE + 8 * i));
        }
    }

    /// Writes a new value for a key.
    fn update<'c, C: Cpu>(&self, cpu: &'c C, thread: usize, region: &mut Region<'_, 'c, C>, key: W<'c, C>) {
        let _call = cpu.call(3);
        let head = self.heads.row(self.bucket(key));
        let node = Hashmap::find(&mut View(Some(region)), head, key);
        if !node.is(0).branch(UPDATE_FINDS_NONE) {
            let value = region.read(node.at(node::VALUE), 8) + VERSION;
            return Hashmap::write_value(region, node, value);
        }
        let Some(taken) = self.free.take(cpu, thread) else {
            return;
        };
        region.takes(taken);
        let node = taken.row();
        let first = region.read(head, 8);
        region.write(node.at(node::NEXT), first, 8);
        region.write(node.at(node::KEY), key, 8);
        Hashmap::write_value(region, node, key << KEY_SHIFT);
        region.write(head, node, 8);
    }

    fn write_value<'c, C: Cpu>(region: &mut Region<'_, 'c, C>, node: W<'c, C>, first: W<'c, C>) {
        let _call = node.call(3);
        for i in 0..VALUE_WORDS {
            let word = if i == 0 { first } else { first + i };
            region.write(node.at(node::VALUE + 8 * i), word, 8);
        }
    }
}
