//! Reserve power that ends before all visible stores are on the media: what a crash leaves then.

use super::running::Running;
use std::collections::BTreeMap;
use strandline_design::{Key, WriteRequest};
use strandline_isa::{Line, LineData};

/// The lines that caches or buffers beside them hold and no write queue has accepted, while a run is observed.
pub struct Reserve {
    /// For how many of them it lasts, beside the queues.
    lines: usize,
    /// Each line, by the number of the last store to it: those that were stored to first are nearest to the media.
    newer: BTreeMap<u64, (Line, LineData)>,
    stores: u64,
}

impl Reserve {
    pub fn of(lines: usize) -> Reserve {
        Reserve {
            lines,
            newer: BTreeMap::new(),
            stores: 0,
        }
    }

    fn forget(&mut self, line: Line) {
        self.newer.retain(|_, (newer, _)| *newer != line);
    }

    /// A line has these bytes in the caches.
    fn stored(&mut self, line: Line, data: LineData) {
        self.forget(line);
        self.stores += 1;
        self.newer.insert(self.stores, (line, data));
    }

    /// How many lines it does not last for.
    pub fn late(&self) -> usize {
        self.newer.len().saturating_sub(self.lines)
    }

    /// What it still writes, in order.
    pub fn written(&self) -> impl Iterator<Item = (Line, LineData)> + '_ {
        self.newer.values().take(self.lines).copied()
    }
}

impl Running {
    /// A store to a line is visible, of a design that has visible stores saved.
    pub(super) fn visible_is_saved(&mut self, at: u64, line: Line, data: LineData) {
        let Some(reserve) = &mut self.reserve else {
            return self.durable(at, line, data);
        };
        reserve.stored(line, data);
        self.crash_image_changes(at, None);
    }

    /// A write queue has accepted a write to a line, whose bytes in the caches are `newest`.
    pub(super) fn accepted_is_saved(&mut self, at: u64, request: &WriteRequest<Key>, newest: LineData) {
        let Some(reserve) = &mut self.reserve else {
            return self.durable(at, request.line, newest);
        };
        reserve.stored(request.line, newest);
        if self.hw.persisted(request) == newest {
            reserve.forget(request.line);
        }
        self.persist(at, request);
    }
}
