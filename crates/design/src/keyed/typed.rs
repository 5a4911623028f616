//! The machine, in a design's own types.

use super::values::Values;
use crate::{ByteMask, Checkpoint, ControllerId, Hook, Keys, LineTag, Services, StoreId, Types};
use strandline_isa::{CoreId, Flush, Line, LineData};
use strandline_kernel::{forward, Cycles};

/// The machine with the design's own types.
pub struct Typed<'a, T: Types> {
    pub hw: &'a mut dyn Services<Keys>,
    pub values: &'a mut Values<T>,
}

/// The uses of a write's tag: its acknowledgement, and the write itself.
const ACKNOWLEDGED_AND_WRITTEN: u32 = 2;

impl<T: Types> Services<T> for Typed<'_, T> {
    forward! { self.hw =>
        fn now(&self) -> Cycles;
        fn cores(&self) -> usize;
        fn controllers(&self) -> usize;
        fn adr(&self) -> bool;
        fn stores_in_order(&self) -> bool;
        fn broadcasts(&self) -> bool;
        fn controller_of(&self, line: Line) -> ControllerId;
        fn pending(&self, core: CoreId, context: Option<u8>) -> u64;
        fn holds_modified(&self, core: CoreId, line: Line) -> bool;
        fn newest_entry(&self, core: CoreId) -> StoreId;
        fn entry_at_turn(&self, core: CoreId) -> StoreId;
        fn to_core(&self) -> Cycles;
        fn to_llc(&self) -> Cycles;
        fn line_tag(&self, line: Line) -> Option<LineTag>;
        fn tag_line(&mut self, line: Line, tag: LineTag);
        fn untag_line(&mut self, line: Line);
        fn on_its_way(&self, line: Line) -> bool;
        fn visible_line(&self, line: Line) -> LineData;
        fn durable_line(&self, line: Line) -> LineData;
        fn skip(&mut self, hook: Hook);
        fn ask_again(&mut self, hook: Hook);
        fn draw_controller_delay(&mut self) -> Cycles;
        fn set_context(&mut self, core: CoreId, context: u8);
        fn acknowledge(&mut self, core: CoreId, context: u8);
        fn point_at_store(&mut self, core: CoreId, line: Line) -> Option<StoreId>;
        fn watch_stores(&mut self, core: CoreId, line: Line);
        fn unwatch_stores(&mut self, core: CoreId, line: Line);
        fn perform(&mut self, core: CoreId, id: StoreId, at: Cycles);
        fn reload(&mut self, line: Line);
        fn look_at_stop(&mut self);
        fn look_at_queue(&mut self, controller: ControllerId);
        fn read_line(&mut self, line: Line) -> Cycles;
        fn checkpoint(&mut self, core: CoreId) -> Option<Checkpoint>;
        fn release(&mut self, core: CoreId, checkpoint: Checkpoint);
        fn roll_back(&mut self, core: CoreId, checkpoint: Checkpoint);
        fn interrupt(&mut self, core: CoreId);
        fn crash_state_changed(&mut self);
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

    fn open(&mut self, gate: T::Gate) {
        if let Some(key) = self.values.opened(gate) {
            self.hw.open(key);
        }
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

    fn send_on(&mut self, core: CoreId, line: Line, data: LineData, bytes: ByteMask, tag: T::Tag) {
        let key = self.values.tags.keep(tag, ACKNOWLEDGED_AND_WRITTEN);
        self.hw.send_on(core, line, data, bytes, key);
    }

    fn commit(&mut self, core: CoreId, controller: ControllerId, tag: T::Tag) {
        let key = self.values.tags.keep(tag, 1);
        self.hw.commit(core, controller, key);
    }
}
