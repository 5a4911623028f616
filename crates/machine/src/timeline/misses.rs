//! What a core's private caches, or its TLB, lacked.

use super::recorder::Recorder;
use super::rows::{Miss, Source};
use strandline_isa::{Addr, CoreId};

/// Misses among which the one is that brings a line: the lines in flight of all cores are fewer.
const LATELY: usize = 256;

impl Recorder {
    /// The line that is asked for now comes from there.
    pub fn served_by(&self, source: Source) {
        self.state.borrow_mut().source = source;
    }

    /// A core lacked a line, or may not write it, in these cycles.
    pub fn missed(&self, core: CoreId, addr: Addr, owns: bool, (from, to): (u64, u64)) {
        let state = &mut *self.state.borrow_mut();
        let source = std::mem::take(&mut state.source);
        if !state.is_closed() {
            state.misses.push(Miss {
                core: core.0,
                addr: addr.0,
                owns,
                from,
                to,
                source,
            });
        }
    }

    /// Who had the line that comes to a core then, if it was asked for lately.
    pub(super) fn source_of(&self, core: CoreId, at: u64) -> Option<Source> {
        let state = self.state.borrow();
        let mut latest = state.misses.iter().rev().take(LATELY);
        latest
            .find(|miss| miss.core == core.0 && miss.to == at)
            .map(|miss| miss.source)
    }

    /// A core lacked the translation of an address in these cycles.
    pub fn walked(&self, core: CoreId, addr: Addr, cycles: (u64, u64)) {
        self.served_by(Source::Tables);
        self.missed(core, addr, false, cycles);
    }
}
