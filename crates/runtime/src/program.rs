//! Programs as those see them who run, crash or recover any of them.

use crate::{Heap, LogLayout, ThreadState, Workload};
use std::collections::BTreeMap;
use std::ops::Range;
use strandline_isa::{Cpu, Image, Memory, Thread};

/// What crash exploration needs from a program.
pub trait Recoverable {
    /// Makes each failure-atomic region of a crash image complete or absent.
    fn recover(&self, image: &dyn Image);

    /// Whether recovery has told that what was acknowledged may be missing. It counts after a dirty shutdown
    /// ([`Image::was_dirty`]).
    fn tells_of_loss(&self, _image: &dyn Image) -> bool {
        false
    }

    /// Continues what the crash has interrupted between two regions: the invariant holds from then on.
    fn repair(&self, _image: &dyn Image) {}

    /// Starts a new process on a recovered image: fills volatile memory, which is zero.
    fn start(&self, _image: &dyn Image) {}

    /// Checks the invariant on a recovered image.
    ///
    /// # Errors
    /// What is wrong, and where.
    fn check(&self, image: &dyn Image) -> Result<(), String>;

    /// What a map holds on a recovered image, if the program announces operations.
    fn contents(&self, _image: &dyn Image) -> BTreeMap<u64, u64> {
        BTreeMap::new()
    }
}

/// The tasks of a workload on back ends of one type.
pub trait Tasks<C: Cpu> {
    /// [`Workload::logs`].
    fn logs(&self) -> LogLayout;

    /// [`Workload::task`].
    fn task(&self, thread: &mut ThreadState<'_, C>);
}

/// A workload, compiled once for all back ends.
pub trait Program: Recoverable + for<'t> Tasks<Thread<'t>> {
    /// [`Workload::filled`].
    fn filled(&self, heap: &Heap) -> Memory;

    /// [`Workload::footprint`].
    fn footprint(&self) -> Vec<Range<u64>>;
}

impl<W: Workload, C: Cpu> Tasks<C> for W {
    fn logs(&self) -> LogLayout {
        self.logs()
    }

    fn task(&self, thread: &mut ThreadState<'_, C>) {
        self.task(thread);
    }
}

impl<W: Workload> Recoverable for W {
    fn recover(&self, image: &dyn Image) {
        Workload::recover(self, image);
    }

    fn tells_of_loss(&self, image: &dyn Image) -> bool {
        Workload::tells_of_loss(self, image)
    }

    fn repair(&self, image: &dyn Image) {
        Workload::repair(self, image);
    }

    fn start(&self, image: &dyn Image) {
        Workload::start(self, image);
    }

    fn check(&self, image: &dyn Image) -> Result<(), String> {
        Workload::check(self, image)
    }

    fn contents(&self, image: &dyn Image) -> BTreeMap<u64, u64> {
        Workload::contents(self, image)
    }
}

impl<W: Workload> Program for W {
    fn filled(&self, heap: &Heap) -> Memory {
        self.filled(heap)
    }

    fn footprint(&self) -> Vec<Range<u64>> {
        self.footprint()
    }
}
