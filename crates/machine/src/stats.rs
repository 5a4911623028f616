//! The counts of a run's timed region.

use crate::core::Core;
use std::iter::Sum;
use strandline_design::Counters;
use strandline_kernel::{counters, Batches, Cycles, Histogram, Pace};

counters! {
    /// Counts of the timed region, all cores together unless stated otherwise.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct Stats {
        /// Tasks ended in the timed region, which the first thread's last task ends.
        tasks: u64 = Sum of "tasks",
        /// Tasks in flight a thread, on the core with the most: 1 without coroutines; with
        /// `--window auto` the number that it chose.
        window: u32 = Max of "tasks",
        /// Instructions of all threads.
        instructions: u64 = Sum of "instructions",
        /// Time of the whole timed region.
        cycles: Cycles = Derived of "cycles",
        /// Loads executed; a locked instruction counts as both a load and a store.
        loads: u64 = Sum of "instructions",
        /// Stores executed, locked instructions included.
        stores: u64 = Sum of "instructions",
        /// Flush instructions executed.
        flushes: u64 = Sum of "instructions",
        /// Fences and other ordering primitives executed.
        fences: u64 = Sum of "instructions",
        /// Dispatch stalled behind a fence, summed over the cores.
        fence_stall_cycles: u64 = Sum of "cycles",
        /// Those of `fence_stall_cycles` in which the window was full behind a fence that had not retired.
        window_fence_stall_cycles: u64 = Sum of "cycles",
        /// Dispatch stalled behind a full store queue or a design's buffer, summed over the cores.
        buffer_stall_cycles: u64 = Sum of "cycles",
        /// Those of `buffer_stall_cycles` behind a design's buffer that an instruction enters at dispatch (a persist
        /// queue); the others are behind a full store queue.
        design_stall_cycles: u64 = Sum of "cycles",
        /// Those of `buffer_stall_cycles` behind a full store queue whose head waited for flushes, or for the design to
        /// let it go; the head waited for its own line in the others.
        queue_persist_stall_cycles: u64 = Sum of "cycles",
        /// Fetch stalled by any back-pressure (a fence, a full store queue or buffer, a full window, issue queue or load
        /// queue) that the fetch queue, if there is one, did not absorb; summed over the cores.
        fetch_stall_cycles: u64 = Sum of "cycles",
        /// Instructions of the coroutine library, which starts, switches and ends tasks; null without coroutines.
        switch_instructions: Option<u64> = Sum of "instructions",
        /// Accesses whose page the core's first-level TLB did not have.
        tlb_misses: u64 = Sum of "accesses",
        /// Page walks: accesses whose page no level of the TLB had.
        page_walks: u64 = Sum of "walks",
        /// Table entries that page walks loaded; these are none of `loads`.
        walk_loads: u64 = Sum of "loads",
        /// Cycles of page walks, the wait for a walker included; walks at once count each.
        walk_cycles: u64 = Sum of "cycles",
        /// Lines read from persistent memory.
        pm_reads: u64 = Sum of "lines",
        /// Lines written to the media.
        pm_writes: u64 = Sum of "lines",
        /// Bytes written to the media.
        pm_write_bytes: u64 = Sum of "bytes",
        /// Writes that coalesced with a queued write to the same line.
        coalesced: u64 = Sum of "writes",
    }
    beside {
        /// Cycles from a task's start to its acknowledgement, and when tasks ended.
        #[serde(skip)]
        latencies: Latencies = Derived,
        /// Instructions of the whole run, warm-up included: what the host simulated.
        #[serde(skip)]
        instructions_simulated: u64 = Max,
        /// Tasks ended since the timed region's start, those after its end included.
        #[serde(skip)]
        tasks_to_the_end: u64 = Max,
        /// Branches and indirect jumps mispredicted.
        #[serde(skip)]
        mispredictions: u64 = Sum,
        /// Indirect jumps.
        #[serde(skip)]
        jumps: u64 = Sum,
        /// Indirect jumps mispredicted.
        #[serde(skip)]
        jumps_mispredicted: u64 = Sum,
        /// Commits that designs sent to controllers, for `pcommit`s.
        #[serde(skip)]
        commits: u64 = Sum,
        /// `pcommit`s executed.
        #[serde(skip)]
        pcommits: u64 = Sum,
        /// The most `pcommit`s of a core executed and not completed at once.
        #[serde(skip)]
        pcommits_in_flight_max: u64 = Max,
        /// Stores, locked instructions and flushes that a core executed while one of its `pcommit`s had not completed.
        #[serde(skip)]
        stores_during_pcommits: u64 = Sum,
        /// Entries of the cores' store queues in use.
        #[serde(skip)]
        store_queue: Occupied = Derived,
        /// Entries of the cores' write-back buffers in use.
        #[serde(skip)]
        writeback_buffer: Occupied = Derived,
        /// Contexts of the cores that have a store or flush pending; `None` if the design has no contexts.
        #[serde(skip)]
        context_table: Option<Occupied> = Derived,
        /// What the design counted.
        #[serde(flatten)]
        design: Counters = Sum,
    }
}

/// Cycles from a task's start to its acknowledgement, by the time of its end.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Latencies {
    batches: Batches,
    /// The cycle in which the timed region ended.
    end: u64,
}

impl Latencies {
    /// Those of tasks of these cores, whose timed region ended at `end`.
    pub(crate) fn of<'c>(cores: impl Iterator<Item = &'c Core>, end: u64) -> Latencies {
        let mut each = cores.map(|core| core.notes.take_latencies());
        let mut batches = each.next().unwrap_or_default();
        each.for_each(|core| batches.merge(core));
        Latencies { batches, end }
    }

    /// All of them.
    #[must_use]
    pub fn all(&self) -> Histogram {
        self.batches.all()
    }

    /// How often tasks ended.
    #[must_use]
    pub fn pace(&self) -> Pace {
        self.batches.pace(self.end)
    }

    /// Half the width of the 95 % interval of the quantile `q` (0 to 1), in cycles; `None` if there are too few tasks.
    #[must_use]
    pub fn half_width_of_quantile(&self, q: f64) -> Option<u64> {
        self.batches.half_width_of_quantile(q, self.end)
    }
}

/// The entries of a structure in use during the timed region, all cores together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Occupied {
    /// Entries in use, summed over the cycles and cores.
    pub entry_cycles: u64,
    /// Cycles of the region, summed over the cores.
    pub cycles: u64,
    /// The most entries in use on a core when one was allocated, with it.
    pub most: u64,
}

impl Occupied {
    /// Entries in use, averaged over time and cores; `None` if no time has passed.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (self.cycles > 0).then(|| self.entry_cycles as f64 / self.cycles as f64)
    }
}

impl Sum for Occupied {
    fn sum<I: Iterator<Item = Occupied>>(cores: I) -> Occupied {
        cores.fold(Occupied::default(), |all, core| Occupied {
            entry_cycles: all.entry_cycles + core.entry_cycles,
            cycles: all.cycles + core.cycles,
            most: all.most.max(core.most),
        })
    }
}
