//! The stores in flight from the cores to the controllers.

use crate::parts::per_core;
use std::collections::VecDeque;
use strandline_isa::{CoreId, Line};
use strandline_kernel::Cycles;

/// A moment: how many stores of all cores had become visible by then, and the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// The number of the newest store; a store's own number if it is that store's stamp.
    pub order: u64,
    /// The time.
    pub at: Cycles,
}

/// A store in flight.
#[derive(Clone, Debug)]
struct Sent {
    order: u64,
    line: Line,
    accepted: bool,
}

/// The paths of all cores.
#[derive(Clone, Debug, Default)]
pub struct Paths {
    /// Stores that have become visible so far.
    visible: u64,
    /// Each core's stores that are not acknowledged, oldest first.
    of: Vec<VecDeque<Sent>>,
}

impl Paths {
    fn path(&mut self, core: CoreId) -> &mut VecDeque<Sent> {
        per_core::state(&mut self.of, core, |_| VecDeque::new())
    }

    /// A store becomes visible and is sent: its number.
    pub fn send(&mut self, core: CoreId, line: Line) -> u64 {
        self.visible += 1;
        let order = self.visible;
        self.path(core).push_back(Sent {
            order,
            line,
            accepted: false,
        });
        order
    }

    /// The present.
    pub fn stamp(&self, now: Cycles) -> Stamp {
        Stamp {
            order: self.visible,
            at: now,
        }
    }

    /// Stores of a core that are in flight.
    pub fn len(&self, core: CoreId) -> usize {
        self.of.get(core.index()).map_or(0, VecDeque::len)
    }

    /// Whether all older stores of the core have been accepted.
    pub fn is_next(&mut self, core: CoreId, order: u64) -> bool {
        let next = self.path(core).iter().find(|sent| !sent.accepted);
        next.is_some_and(|sent| sent.order == order)
    }

    /// Records that a controller has accepted a store.
    pub fn accept(&mut self, core: CoreId, order: u64) {
        let sent = self.path(core).iter_mut().find(|sent| sent.order == order);
        if let Some(sent) = sent {
            sent.accepted = true;
        }
    }

    /// Records that a store is acknowledged: its line.
    pub fn acknowledge(&mut self, core: CoreId, order: u64) -> Option<Line> {
        let path = self.path(core);
        let index = path.iter().position(|sent| sent.order == order)?;
        path.remove(index).map(|sent| sent.line)
    }

    /// Whether a store of this number or an older one, of any core, is in flight.
    pub fn carry_until(&self, order: u64) -> bool {
        self.of
            .iter()
            .filter_map(VecDeque::front)
            .any(|oldest| oldest.order <= order)
    }

    /// Whether a store to this line is in flight.
    pub fn carry(&self, line: Line) -> bool {
        self.of.iter().flatten().any(|sent| sent.line == line)
    }
}
