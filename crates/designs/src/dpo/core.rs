//! A core's buffer, and what waits for it.

use super::buffer::PersistBuffer;
use super::settings::Settings;
use crate::parts::dependence_wait::DependenceWait;
use strandline_design::Occupancy;
use strandline_isa::CoreId;

/// A core's buffer, and what waits for it.
#[derive(Clone, Debug)]
pub struct Core {
    pub buffer: PersistBuffer,
    /// Its `dfence`s that were dispatched, and those that have entered the buffer.
    pub dfences: u64,
    pub entered: u64,
    /// Something waits until the L1 is no longer blocked.
    pub blocks: bool,
    /// Loads are recorded or blocked.
    pub watches_loads: bool,
    /// Controllers that its fence on its way has reached.
    pub fence_at: usize,
    /// A timer of a persist that is held back runs.
    pub timer: bool,
    pub occupancy: Occupancy,
    pub blocked_l1: Occupancy,
    pub waits: DependenceWait,
}

impl Core {
    /// With an empty buffer.
    #[must_use]
    pub fn new(core: CoreId, settings: &Settings) -> Core {
        Core {
            buffer: PersistBuffer::new(core, settings.entries, settings.fences),
            dfences: 0,
            entered: 0,
            blocks: false,
            watches_loads: false,
            fence_at: 0,
            timer: false,
            occupancy: Occupancy::default(),
            blocked_l1: Occupancy::default(),
            waits: DependenceWait::default(),
        }
    }
}
