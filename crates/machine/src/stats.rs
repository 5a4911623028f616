//! What a run counted, over its timed region.

use strandline_design::Counters;
use strandline_kernel::{Cycles, Histogram};

/// Counts of the timed region, all cores together where not said otherwise.
#[derive(Clone, Debug, Default)]
pub struct Stats {
    /// Tasks ended.
    pub tasks: u64,
    /// Instructions of all cores.
    pub instructions: u64,
    /// Instructions of the whole run, warm-up included: what the host simulated.
    pub instructions_simulated: u64,
    /// Time of the timed region.
    pub cycles: Cycles,
    /// Cycles from a task's beginning to its acknowledgement.
    pub task_latency: Histogram,
    /// Loads, locked instructions included.
    pub loads: u64,
    /// Stores, locked instructions included.
    pub stores: u64,
    /// Flush instructions.
    pub flushes: u64,
    /// Fences and other ordering primitives.
    pub fences: u64,
    /// Branches and indirect jumps mispredicted.
    pub mispredictions: u64,
    /// Indirect jumps.
    pub jumps: u64,
    /// Indirect jumps mispredicted.
    pub jumps_mispredicted: u64,
    /// Instructions of the library that switches between the tasks of a core.
    pub switch_instructions: u64,
    /// Tasks that shared a core at the end, on the core with the most.
    pub window: u32,
    /// Cycles in which a core could dispatch nothing because of a fence, summed over the cores.
    pub fence_stall_cycles: u64,
    /// Likewise because of a full store queue.
    pub buffer_stall_cycles: u64,
    /// Likewise because of any full structure or fence.
    pub fetch_stall_cycles: u64,
    /// Lines read from persistent memory.
    pub pm_reads: u64,
    /// Line writes that reached the media.
    pub pm_writes: u64,
    /// Bytes written to the media.
    pub pm_write_bytes: u64,
    /// Writes that a queued write to the same line absorbed.
    pub coalesced: u64,
    /// The most commits (`pcommit`) in flight at once.
    pub commits_in_flight_max: u64,
    /// Commits sent.
    pub commits: u64,
    /// Stores that became visible while a commit was in flight.
    pub stores_during_commits: u64,
    /// What the design counted.
    pub design: Counters,
}

impl Stats {
    /// These counts less earlier ones; what is not a difference (largest values, the whole run) stays.
    pub fn since(mut self, earlier: &Stats) -> Stats {
        let fields: [(&mut u64, u64); 19] = [
            (&mut self.tasks, earlier.tasks),
            (&mut self.instructions, earlier.instructions),
            (&mut self.loads, earlier.loads),
            (&mut self.stores, earlier.stores),
            (&mut self.flushes, earlier.flushes),
            (&mut self.fences, earlier.fences),
            (&mut self.mispredictions, earlier.mispredictions),
            (&mut self.jumps, earlier.jumps),
            (&mut self.jumps_mispredicted, earlier.jumps_mispredicted),
            (&mut self.switch_instructions, earlier.switch_instructions),
            (&mut self.fence_stall_cycles, earlier.fence_stall_cycles),
            (&mut self.buffer_stall_cycles, earlier.buffer_stall_cycles),
            (&mut self.fetch_stall_cycles, earlier.fetch_stall_cycles),
            (&mut self.pm_reads, earlier.pm_reads),
            (&mut self.pm_writes, earlier.pm_writes),
            (&mut self.pm_write_bytes, earlier.pm_write_bytes),
            (&mut self.coalesced, earlier.coalesced),
            (&mut self.commits, earlier.commits),
            (&mut self.stores_during_commits, earlier.stores_during_commits),
        ];
        for (count, before) in fields {
            *count -= before;
        }
        self.design = self.design.since(&earlier.design);
        self
    }
}
