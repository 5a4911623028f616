//! The parameters of a machine, as the rest of the simulator reads them.

use std::collections::BTreeMap;

use strandline_design::Sizes;
use strandline_isa::LINE_BYTES;
use strandline_kernel::Cycles;

use super::assign::Origin;
use super::words::{Coherence, Consistency};

/// A whole machine. Times are in cycles of the core clock.
///
/// It starts as a preset or a file; fields may be changed directly, after which [`Machine::validate`] judges it anew.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Machine {
    /// Its name, as in the records.
    pub name: String,
    /// The paper it is taken from, and where in it.
    pub paper: String,
    /// One line about it.
    pub summary: String,
    /// Simulated cores; 0: as many as the program has threads.
    pub cores: u64,
    /// Each core.
    pub core: Core,
    /// The private level-one data cache.
    pub l1: Cache,
    /// The private level-two cache; `None`: the private level is the L1 alone.
    pub l2: Option<Cache>,
    /// The shared last level, inclusive of the private ones.
    pub llc: Cache,
    /// Between the cores, the shared level and the controllers.
    pub interconnect: Interconnect,
    /// The persistent-memory controllers.
    pub controllers: Controllers,
    /// The persistent media behind each controller.
    pub pm: Pm,
    /// Memory for volatile data, with a controller of its own.
    pub dram: Dram,
    /// How it is simulated, rather than what it is.
    pub simulation: Simulation,
    /// Where each parameter's value comes from.
    pub(super) origins: BTreeMap<&'static str, Origin>,
}

/// An out-of-order core as a window.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Core {
    /// Clock in GHz: the cycles in a nanosecond.
    pub clock_ghz: f64,
    /// Micro-ops dispatched a cycle, in order.
    pub dispatch_width: u64,
    /// Micro-ops retired a cycle, in order.
    pub retire_width: u64,
    /// Reorder-buffer entries.
    pub rob_entries: u64,
    /// Load-queue entries.
    pub load_queue_entries: u64,
    /// Store-queue entries; clwbs and fences use them too.
    pub store_queue_entries: u64,
    /// Clwbs in flight (COSPlay, section 4.3: WBB).
    pub writeback_buffer_entries: u64,
    /// Lines that non-temporal stores gather in.
    pub write_combining_buffers: u64,
    /// Entries of the branch predictor's table.
    pub predictor_entries: u64,
    /// From resolving a mispredicted branch to dispatching its right successor.
    pub mispredict_penalty: Cycles,
    /// An integer multiplication.
    pub mul_latency: Cycles,
    /// An integer division.
    pub div_latency: Cycles,
    /// A locked read-modify-write that hits the L1, beyond draining the store queue.
    pub locked_latency: Cycles,
    /// Between two stores that leave the store queue for the L1.
    pub store_drain_interval: Cycles,
    /// In which order stores become visible.
    pub consistency: Consistency,
    /// Whether a locked instruction waits for the core's pending flushes.
    pub lock_orders_flushes: bool,
    /// Whether a store asks for its line before it reaches the head of the store queue.
    pub store_prefetch: bool,
}

/// One level of cache.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cache {
    /// Capacity in bytes.
    pub bytes: u64,
    /// Associativity.
    pub ways: u64,
    /// Misses outstanding at once.
    pub mshrs: u64,
    /// A hit's access time in this level alone.
    pub latency: Cycles,
}

/// What connects cores, shared cache and controllers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Interconnect {
    /// One traversal.
    pub hop_latency: Cycles,
    /// How other copies of a line are found.
    pub coherence: Coherence,
}

/// The persistent-memory controllers; each parameter but `count` is of one controller.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Controllers {
    /// How many.
    pub count: u64,
    /// Consecutive bytes on one controller before the next one's turn.
    pub interleave_bytes: u64,
    /// Write-pending-queue entries, a line each.
    pub wpq_entries: u64,
    /// Read-queue entries.
    pub read_queue_entries: u64,
    /// Whether the write-pending queue is in the persistence domain.
    pub adr: bool,
    /// Backend memory operations on a write before the queue accepts it: latency only, never a limit of throughput
    /// (COSPlay, section 5).
    pub bmo_latency: Cycles,
}

/// The persistent media behind one controller.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pm {
    /// A line's read, controller and media, unloaded.
    pub read_latency: Cycles,
    /// From the core's write-back buffer to the controller and the acknowledgement back, unloaded, without BMO.
    pub write_to_controller: Cycles,
    /// A bank is busy with one line's (or one combined block's) write.
    pub write_latency: Cycles,
    /// Peak read bandwidth in GB/s (10^9 bytes) of one controller.
    pub read_gbps: f64,
    /// Peak write bandwidth in GB/s (10^9 bytes) of one controller.
    pub write_gbps: f64,
    /// Banks that work at once.
    pub banks: u64,
    /// Bytes of a bank's row buffer; 0: none.
    pub row_bytes: u64,
    /// A read of an open row, in place of `read_latency`.
    pub row_hit_latency: Cycles,
    /// A bank is busy with a write to an open row, in place of `write_latency`.
    pub row_hit_write_latency: Cycles,
    /// Bytes of a block of the media's write-combining buffer (256 on Optane); 0: none.
    pub combine_bytes: u64,
    /// Blocks that the write-combining buffer holds.
    pub combine_entries: u64,
}

/// Memory for volatile data.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dram {
    /// A line's read, controller and memory, unloaded.
    pub read_latency: Cycles,
    /// Peak bandwidth in GB/s (10^9 bytes).
    pub gbps: f64,
}

/// How the machine is simulated.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Simulation {
    /// How far a core may run ahead of another; 0: strictly in global time order.
    pub slack: Cycles,
    /// Largest random delay added to each flush.
    pub jitter: Cycles,
    /// A random recently written line is evicted once in so many stores; 0: never.
    pub evict_one_in: u64,
}

impl Machine {
    /// The sizes that designs are told, of a machine with so many cores.
    #[must_use]
    pub fn sizes(&self, cores: u64) -> Sizes {
        Sizes {
            cores,
            controllers: self.controllers.count,
            store_queue_entries: self.core.store_queue_entries,
            writeback_buffer_entries: self.core.writeback_buffer_entries,
            wpq_entries: self.controllers.wpq_entries,
            private_bytes: self.l1.bytes + self.l2.as_ref().map_or(0, |l2| l2.bytes),
            shared_bytes: self.llc.bytes,
        }
    }
}

impl Pm {
    /// The time a 64-byte line occupies a controller's read port: nearest whole cycle, at least one.
    #[must_use]
    pub fn read_line_cycles(&self, core: &Core) -> Cycles {
        line_cycles(self.read_gbps, core)
    }

    /// The time a 64-byte line occupies a controller's write port: nearest whole cycle, at least one.
    #[must_use]
    pub fn write_line_cycles(&self, core: &Core) -> Cycles {
        line_cycles(self.write_gbps, core)
    }
}

impl Dram {
    /// The time a 64-byte line occupies the memory's port: nearest whole cycle, at least one.
    #[must_use]
    pub fn line_cycles(&self, core: &Core) -> Cycles {
        line_cycles(self.gbps, core)
    }
}

fn line_cycles(gbps: f64, core: &Core) -> Cycles {
    let nanoseconds = LINE_BYTES as f64 / gbps;
    cycles_of(nanoseconds, core.clock_ghz).max(Cycles(1))
}

/// The whole number of cycles nearest to `nanoseconds` at `clock_ghz`.
pub(super) fn cycles_of(nanoseconds: f64, clock_ghz: f64) -> Cycles {
    Cycles((nanoseconds * clock_ghz).round() as u64)
}
