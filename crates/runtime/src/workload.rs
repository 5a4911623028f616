//! The interface of workloads.

use crate::{recover, Demand, Heap, LogLayout, Logging, ThreadState};
use std::collections::BTreeMap;
use std::ops::Range;
use strandline_isa::{Cpu, Image, Memory};
use strandline_kernel::{ParamError, Params};

/// The parameters of a run that a workload is built for.
#[derive(Clone, Copy, Debug)]
pub struct BuildPlan {
    /// How many threads will run it.
    pub threads: usize,
    /// The most tasks that share a thread at once; `None` if each runs alone.
    pub window: Option<usize>,
    /// The seed of its initial content.
    pub seed: u64,
    /// How its regions are made failure-atomic.
    pub logging: Logging,
}

impl BuildPlan {
    /// Tasks that can run at once, all threads together: each has its own log.
    #[must_use]
    pub fn lanes(&self) -> usize {
        self.threads * self.window.unwrap_or(1)
    }
}

/// A program: a structure in persistent memory, the task that its threads repeat, its invariant and its recovery.
///
/// The threads share it; their changes are in memory.
pub trait Workload: Sized + Sync {
    /// Lays the structure out, without allocating memory for it.
    ///
    /// # Errors
    /// If the parameters do not go together.
    fn lay_out(params: &Params, plan: &BuildPlan) -> Result<(Self, Heap), ParamError>;

    /// Fills the zeroed memory of a structure that is laid out.
    fn fill(&self, memory: &Memory, seed: u64);

    /// Lays the structure out and fills it.
    ///
    /// # Errors
    /// If the parameters do not go together.
    fn build(params: &Params, plan: &BuildPlan) -> Result<(Self, Memory), ParamError> {
        let (workload, heap) = Self::lay_out(params, plan)?;
        let memory = workload.filled(&heap);
        Ok((workload, memory))
    }

    /// The filled memory of a structure that is laid out.
    fn filled(&self, heap: &Heap) -> Memory {
        let memory = heap.memory();
        self.fill(&memory, heap.seed);
        memory
    }

    /// The largest write demand of a region; `None` if any log has room for it, or before it is
    /// known.
    #[must_use]
    fn region(_params: &Params) -> Demand {
        Demand::default()
    }

    /// Runs one operation or transaction.
    fn task<C: Cpu>(&self, thread: &mut ThreadState<'_, C>);

    /// Checks the invariant, on memory at rest or on a recovered image.
    ///
    /// # Errors
    /// The fault, and its address.
    fn check(&self, image: &dyn Image) -> Result<(), String>;

    /// What a structure holds, on memory at rest or on a recovered image, if its operations or calls are announced
    /// ([`Note::OperationBegin`](strandline_isa::Note::OperationBegin),
    /// [`Note::CallBegin`](strandline_isa::Note::CallBegin)): the values of a map by key, those of a queue by place,
    /// from its first on, and those of a priority queue by any place.
    fn contents(&self, _image: &dyn Image) -> BTreeMap<u64, u64> {
        BTreeMap::new()
    }

    /// The logs of its lanes.
    fn logs(&self) -> LogLayout;

    /// Address ranges, volatile and persistent, that the program uses repeatedly: the content of a
    /// warm LLC as far as it fits, most useful last.
    fn footprint(&self) -> Vec<Range<u64>>;

    /// The first part of recovery: of each failure-atomic region, the crash image then has all or nothing. Recovery
    /// must be idempotent: after a crash during either part it runs again from the start.
    fn recover(&self, image: &dyn Image) {
        recover(image, &self.logs());
    }

    /// Whether recovery has told that what was acknowledged may be missing. It counts after a dirty shutdown
    /// ([`Image::was_dirty`]).
    fn tells_of_loss(&self, _image: &dyn Image) -> bool {
        false
    }

    /// The second part: continues what the crash has interrupted between two regions, until the invariant holds.
    /// Nothing to do if it holds after every region.
    fn repair(&self, _image: &dyn Image) {}

    /// Rebuilds the program's volatile memory, zero after a crash, from a recovered image.
    fn restart(&self, _image: &dyn Image) {}

    /// Starts a new process on a recovered image, so that threads can run on it.
    fn start(&self, image: &dyn Image) {
        self.logs().start(image);
        self.restart(image);
    }
}
