//! Non-temporal stores that a core combines to lines, and when these are sent.

use super::events::Event;
use super::flush::FoundLine;
use super::hardware::Hardware;
use super::hosts::HostId;
use crate::memory::Origin;
use strandline_isa::{CoreId, Line};
use strandline_rules::{breaks, broken, Rule};

impl Hardware {
    /// Sends every open write-combining buffer of a core to memory: before a fence or a locked instruction.
    #[inline]
    pub(super) fn send_all_combined(&mut self, core: CoreId, at: u64) {
        if self.core(core).combines.get() && !broken(Rule::FenceSendsCombined) {
            self.send_open(core, at);
        }
    }

    #[inline(never)]
    fn send_open(&mut self, core: CoreId, at: u64) {
        let open: Vec<u64> = self
            .hart(core)
            .combining
            .iter()
            .filter(|b| !b.sent)
            .map(|b| b.slot)
            .collect();
        for slot in open {
            self.send_combined(core, slot, at);
        }
    }

    /// Sends what cores of other hosts combine of a line.
    pub(super) fn send_combined_of_others(&mut self, host: HostId, line: Line, at: u64) {
        let others = self.harts.iter().filter(|hart| hart.host != host);
        let open = others.flat_map(|hart| {
            let of_line = hart.combining.iter().filter(|b| b.line == line && !b.sent);
            of_line.map(|b| (hart.core.id, b.slot))
        });
        for (core, slot) in open.collect::<Vec<_>>() {
            self.send_combined(core, slot, at);
        }
    }

    pub(super) fn send_combined(&mut self, core: CoreId, slot: u64, at: u64) {
        let hart = self.hart(core);
        let Some(buffer) = hart.combining.iter_mut().find(|b| b.slot == slot) else {
            return;
        };
        buffer.sent = true;
        let (line, mask) = (buffer.line, buffer.mask);
        let found = FoundLine { dirty: true, at };
        if !self.write_found(core, (line, self.combined(mask)), &found, Origin::Buffer { core, slot }) {
            self.write_volatile(core, at);
            self.post(at + 1, Event::BufferDone { core, slot });
        }
        breaks(Rule::CombiningKeepsRest, || self.zero_unwritten(line, mask));
    }
}
