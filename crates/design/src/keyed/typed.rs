//! The machine, in a design's own types.

use super::values::Values;
use crate::{ByteMask, Checkpoint, ControllerId, Hook, Keys, LineTag, Services, StoreId, Types};
use strandline_isa::{CoreId, Flush, Line, LineData};
use strandline_kernel::Cycles;

/// The machine with the design's own types.
pub struct Typed<'a, T: Types> {
    pub hw: &'a mut dyn Services<Keys>,
    pub values: &'a mut Values<T>,
}

/// The uses of a write's tag: its acknowledgement, and the write itself.
const ACKNOWLEDGED_AND_WRITTEN: u32 = 2;

impl<T: Types> Services<T> for Typed<'_, T> {
    fn now(&self) -> Cycles {
        self.hw.now()
    }

    fn cores(&self) -> usize {
        self.hw.cores()
    }

    fn controllers(&self) -> usize {
        self.hw.controllers()
    }

    fn adr(&self) -> bool {
        self.hw.adr()
    }

    fn stores_in_order(&self) -> bool {
        self.hw.stores_in_order()
    }

    fn broadcasts(&self) -> bool {
        self.hw.broadcasts()
    }

    fn controller_of(&self, line: Line) -> ControllerId {
        self.hw.controller_of(line)
    }

    fn pending(&self, core: CoreId, context: Option<u8>) -> u64 {
        self.hw.pending(core, context)
    }

    fn holds_modified(&self, core: CoreId, line: Line) -> bool {
        self.hw.holds_modified(core, line)
    }

    fn newest_entry(&self, core: CoreId) -> StoreId {
        self.hw.newest_entry(core)
    }

    fn entry_at_turn(&self, core: CoreId) -> StoreId {
        self.hw.entry_at_turn(core)
    }

    fn to_core(&self) -> Cycles {
        self.hw.to_core()
    }

    fn to_llc(&self) -> Cycles {
        self.hw.to_llc()
    }

    fn line_tag(&self, line: Line) -> Option<LineTag> {
        self.hw.line_tag(line)
    }

    fn tag_line(&mut self, line: Line, tag: LineTag) {
        self.hw.tag_line(line, tag);
    }

    fn untag_line(&mut self, line: Line) {
        self.hw.untag_line(line);
    }

    fn on_its_way(&self, line: Line) -> bool {
        self.hw.on_its_way(line)
    }

    fn visible_line(&self, line: Line) -> LineData {
        self.hw.visible_line(line)
    }

    fn durable_line(&self, line: Line) -> LineData {
        self.hw.durable_line(line)
    }

    fn skip(&mut self, hook: Hook) {
        self.hw.skip(hook);
    }

    fn heed(&mut self, hook: Hook) {
        self.hw.heed(hook);
    }

    fn announce_when(&mut self, core: CoreId, gate: T::Gate) {
        let key = self.values.gate(gate);
        self.hw.announce_when(core, key);
    }

    fn send(&mut self, at: Cycles, message: T::Message) {
        let key = self.values.messages.keep(message, 1);
        self.hw.send(at, key);
    }

    fn message_when_drained(&mut self, core: CoreId, context: u8, message: T::Message) {
        let key = self.values.messages.keep(message, 1);
        self.hw.message_when_drained(core, context, key);
    }

    fn draw_controller_delay(&mut self) -> Cycles {
        self.hw.draw_controller_delay()
    }

    fn open(&mut self, gate: T::Gate) {
        if let Some(key) = self.values.opened(gate) {
            self.hw.open(key);
        }
    }

    fn set_context(&mut self, core: CoreId, context: u8) {
        self.hw.set_context(core, context);
    }

    fn acknowledge(&mut self, core: CoreId, context: u8) {
        self.hw.acknowledge(core, context);
    }

    fn point_at_store(&mut self, core: CoreId, line: Line) -> Option<StoreId> {
        self.hw.point_at_store(core, line)
    }

    fn watch_stores(&mut self, core: CoreId, line: Line) {
        self.hw.watch_stores(core, line);
    }

    fn unwatch_stores(&mut self, core: CoreId, line: Line) {
        self.hw.unwatch_stores(core, line);
    }

    fn perform(&mut self, core: CoreId, id: StoreId, at: Cycles) {
        self.hw.perform(core, id, at);
    }

    fn flush_line(&mut self, core: CoreId, line: Line, flush: Flush, tag: T::Tag) {
        let key = self.values.tags.keep(tag, 1);
        self.hw.flush_line(core, line, flush, key);
    }

    fn write(&mut self, core: CoreId, line: Line, data: LineData, tag: T::Tag) {
        let key = self.values.tags.keep(tag, ACKNOWLEDGED_AND_WRITTEN);
        self.hw.write(core, line, data, key);
    }

    fn write_in_order(&mut self, core: CoreId, line: Line, data: LineData, bytes: ByteMask, tag: T::Tag) -> Cycles {
        let key = self.values.tags.keep(tag, ACKNOWLEDGED_AND_WRITTEN);
        self.hw.write_in_order(core, line, data, bytes, key)
    }

    fn send_in_order(&mut self, core: CoreId, to: ControllerId, message: T::Message) -> Cycles {
        let key = self.values.messages.keep(message, 1);
        self.hw.send_in_order(core, to, key)
    }

    fn put(&mut self, core: CoreId, line: Line, data: LineData, tag: T::Tag) {
        let key = self.values.tags.keep(tag, ACKNOWLEDGED_AND_WRITTEN);
        self.hw.put(core, line, data, key);
    }

    fn reload(&mut self, line: Line) {
        self.hw.reload(line);
    }

    fn look_at_queue(&mut self, controller: ControllerId) {
        self.hw.look_at_queue(controller);
    }

    fn read_line(&mut self, line: Line) -> Cycles {
        self.hw.read_line(line)
    }

    fn commit(&mut self, core: CoreId, controller: ControllerId, tag: T::Tag) {
        let key = self.values.tags.keep(tag, 1);
        self.hw.commit(core, controller, key);
    }

    fn checkpoint(&mut self, core: CoreId) -> Option<Checkpoint> {
        self.hw.checkpoint(core)
    }

    fn release(&mut self, core: CoreId, checkpoint: Checkpoint) {
        self.hw.release(core, checkpoint);
    }

    fn roll_back(&mut self, core: CoreId, checkpoint: Checkpoint) {
        self.hw.roll_back(core, checkpoint);
    }

    fn interrupt(&mut self, core: CoreId) {
        self.hw.interrupt(core);
    }

    fn crash_state_changed(&mut self) {
        self.hw.crash_state_changed();
    }
}
