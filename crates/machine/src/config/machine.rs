//! The parameters of a machine, as the rest of the simulator reads them.

use std::collections::BTreeMap;

use strandline_design::Sizes;
use strandline_isa::LINE_BYTES;
use strandline_kernel::Cycles;

use super::change::Origin;
use super::media::Media;
use super::parameter::{cycles_of, parameters, Parameter, Value};

const MAX_ENTRIES: u64 = 1 << 16;
/// So many are counted in one byte.
const MAX_ISSUE_ENTRIES: u64 = 255;
/// A ring of 64 remembers when their ops were dispatched.
const MAX_DECODE_ENTRIES: u64 = 63;
const MAX_BYTES: u64 = 1 << 40;
const MAX_BLOCK: u64 = 1 << 20;
const MAX_CYCLES: u64 = 1_000_000_000;

/// In which order a core's stores become visible.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Consistency {
    /// Total store order: stores leave the store queue in program order (x86).
    #[default]
    Tso,
    /// Stores to different lines may leave in any order (DPO, section V: ARM v7 with store atomicity).
    Weak,
}

/// How a miss finds the other caches' copies of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Coherence {
    /// The LLC keeps a directory and forwards requests to the owner or the sharers.
    #[default]
    Directory,
    /// Every miss is broadcast to all private caches, and so is every clwb (DPO, section II-B).
    Snoop,
}

/// Who keeps the copies of a line alike that several hosts have cached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HostCoherence {
    /// Programs do, by flushes: present devices that several hosts share.
    #[default]
    None,
    /// A directory at the device, which invalidates copies (CXL 3, back-invalidate).
    Hardware,
}

/// A host that fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Failing {
    /// None does.
    #[default]
    None,
    /// The first.
    H0,
    /// The second.
    H1,
    /// The third.
    H2,
    /// The fourth.
    H3,
}

impl Failing {
    /// That of this number.
    #[must_use]
    pub fn of(host: u8) -> Failing {
        [Failing::H0, Failing::H1, Failing::H2, Failing::H3][usize::from(host)]
    }

    /// Its number, from 0.
    #[must_use]
    pub fn host(self) -> Option<u64> {
        (self as u64).checked_sub(1)
    }
}

/// What a controller does with a `pcommit`. No source states it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PcommitWait {
    /// It replies when the writes accepted before it are on the media.
    #[default]
    Accepted,
    /// It replies when every accepted write is on the media, later ones too.
    Empty,
    /// As [`PcommitWait::Accepted`], and it accepts no write before it has replied.
    Alone,
    /// One after the other: each waits for its turn, then for the writes accepted before that.
    Serial,
}

/// When a write leaves its controller's write-pending queue. No source of a machine with ADR states it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WpqLeave {
    /// When it is on the media, so that ADR saves it from the queue whatever happens.
    #[default]
    Written,
    /// When it is issued to the media, which then hold it themselves.
    Issued,
}

/// What the LLC holds as a run begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Warm {
    /// What it would hold long after the program has begun, dirty where that would be.
    Steady,
    /// The lines that the program uses, as far as they fit, clean.
    #[default]
    Footprint,
    /// Nothing.
    Cold,
}

/// How branches are predicted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Prediction {
    /// One table of two-bit counters, indexed by the branch and the outcomes before it.
    #[default]
    Gshare,
    /// Tagged tables, each for a longer history than the one before (Seznec and Michaud, JILP 2006).
    Tage,
}

/// What ends a decoder's cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DecodeEnd {
    /// A basic block: each branch or jump.
    #[default]
    Block,
    /// A branch that is taken, or a jump.
    Taken,
}

parameters! {
    /// A whole machine. Times are in cycles of the core clock.
    ///
    /// It starts as a preset or a file; fields may be changed directly, after which [`MachineConfig::validate`] judges it anew.
    MachineConfig {
        /// Simulated cores; 0: as many as the program has threads.
        cores: u64 in 0..=1024 "cores";
        /// Hosts that share the persistent memory. Each has as many of the cores, an LLC and volatile memory of its own.
        hosts: u64 in 1..=4 "hosts";
        /// Which of its memories the machine has; it sets other parameters.
        media: String;
        and {
            /// Its name, as in the records.
            pub name: String,
            /// The paper it is taken from, and where in it.
            pub paper: String,
            /// One line about it.
            pub summary: String,
            /// Each core.
            pub core: Core,
            /// Each core's translation of addresses.
            pub tlb: Tlb,
            /// The private level-one data cache.
            pub l1: Cache,
            /// The private level-two cache; `None`: the private level is the L1 alone.
            pub l2: Option<Cache>,
            /// The LLC, shared and inclusive of the private caches.
            pub llc: Cache,
            /// Between the cores, the LLC and the controllers.
            pub interconnect: Interconnect,
            /// From each core to the controllers, beside the caches.
            pub channel: Channel,
            /// The persistent-memory controllers.
            pub controllers: Controllers,
            /// The persistent media behind each controller.
            pub pm: Pm,
            /// Memory for volatile data, with a controller of its own.
            pub dram: Dram,
            /// Between hosts and persistent memory that stands behind CXL.
            pub cxl: Cxl,
            /// What its reserve power is for.
            pub fail: Fail,
            /// How it is simulated, rather than what it is.
            pub simulation: Simulation,
            /// The memories that it can have.
            pub(super) choice: Media,
            /// Where each parameter's value comes from.
            pub(super) origins: BTreeMap<&'static str, Origin>,
        }
    }

    /// An out-of-order core as a window.
    Core {
        /// Clock of the cores; times in ns are converted at it.
        clock_ghz: f64 in 0.01..=100.0 "GHz";
        /// Micro-ops dispatched a cycle, in order.
        dispatch_width: u64 in 1..=64 "micro-ops per cycle";
        /// Micro-ops retired a cycle, in order.
        retire_width: u64 in 1..=64 "micro-ops per cycle";
        /// Reorder buffer.
        rob_entries: u64 in 1..=MAX_ENTRIES "entries";
        /// Load queue.
        load_queue_entries: u64 in 1..=MAX_ENTRIES "entries";
        /// Store queue; clwbs and fences use it too.
        store_queue_entries: u64 in 1..=MAX_ENTRIES "entries";
        /// Fetch queue, which absorbs dispatch stalls until it is full; 0: none, fetch stalls with dispatch.
        fetch_queue_entries: u64 in 0..=MAX_ENTRIES "entries";
        /// Issue queue: ops from their dispatch until their operands are ready; 0: no such limit.
        issue_queue_entries: u64 in 0..=MAX_ISSUE_ENTRIES "entries";
        /// Queue behind a decoder that ends its cycle at branches; 0: no such decoder.
        decode_queue_entries: u64 in 0..=MAX_DECODE_ENTRIES "entries";
        /// The branches that end the decoder's cycle.
        decode_ends: DecodeEnd;
        /// Ports for arithmetic, comparisons and branches; 0: as many as ops are dispatched.
        alu_ports: u64 in 0..=64 "ports";
        /// Ports for loads; 0: no such limit.
        load_ports: u64 in 0..=64 "ports";
        /// Ports for branches and jumps, beside those for arithmetic; 0: they use those.
        branch_ports: u64 in 0..=64 "ports";
        /// Ports for the addresses of stores and flushes, and as many for the data of stores; 0: no such limit.
        store_ports: u64 in 0..=64 "ports";
        /// Micro-ops of a store; 2: one for its address and one for its data.
        store_micro_ops: u64 in 1..=2 "micro-ops";
        /// Loads and stores together, stores until they leave for the caches; 0: no such limit.
        load_store_queue_entries: u64 in 0..=MAX_ENTRIES "entries";
        /// Clwbs in flight (COSPlay, section 4.3: WBB).
        writeback_buffer_entries: u64 in 1..=MAX_ENTRIES "entries";
        /// Lines that non-temporal stores gather in.
        write_combining_buffers: u64 in 1..=MAX_ENTRIES "entries";
        /// How branches are predicted.
        prediction: Prediction;
        /// Branch predictor's table; a power of two. With tagged tables their base, of four times the entries of each.
        predictor_entries: u64 in 1..=16_777_216 "entries";
        /// From a mispredicted branch's resolution to its successor's dispatch.
        mispredict_penalty: Cycles in 0..=MAX_CYCLES "cycles";
        /// Integer multiplication.
        mul_latency: Cycles in 1..=MAX_CYCLES "cycles";
        /// Integer division.
        div_latency: Cycles in 1..=MAX_CYCLES "cycles";
        /// Locked read-modify-write that hits the L1, store queue drained.
        locked_latency: Cycles in 1..=MAX_CYCLES "cycles";
        /// Between two stores leaving the store queue.
        store_drain_interval: Cycles in 1..=MAX_CYCLES "cycles";
        /// Neighbouring stores to one line that leave the store queue in one cycle.
        store_drain_width: u64 in 1..=8 "stores";
        /// A flush that has found its line dirty, before it sets out for the controller.
        flush_latency: Cycles in 0..=MAX_CYCLES "cycles";
        /// Between two flushes of a core on their way to the controllers.
        flush_interval: Cycles in 0..=MAX_CYCLES "cycles";
        /// Order in which stores become visible.
        consistency: Consistency;
        /// A locked instruction waits for the core's pending flushes.
        lock_orders_flushes: bool;
        /// Loads wait until the addresses of all older stores are known.
        loads_wait_for_addresses: bool;
        /// A fence that waits for flushes leaves the reorder buffer at once and waits at the store queue's head, before the
        /// stores behind it; false: it waits in the reorder buffer, and no store behind it is dispatched.
        fences_retire: bool;
        /// A load has the bytes of a store in the queue as soon as the store has executed; false: after the L1's latency.
        memory_renaming: bool;
        /// A store leaves the reorder buffer when the L1 has its line, not when it has executed.
        stores_retire_cached: bool;
        /// A store requests its line before it reaches the store queue's head.
        store_prefetch: bool;
        /// Loads behind a locked instruction wait until it is done; false: they execute ahead of it, as a core that
        /// watches their lines does.
        locked_holds_loads: bool;
        /// A clwb leaves its core's line writable; false: shared, so that the next store requests ownership again.
        clwb_keeps_ownership: bool;
    }

    /// A core's translation of data addresses. Instructions have no addresses here, so there is no TLB for them.
    Tlb {
        /// First-level TLB; 0: none, addresses are not translated, at no cost.
        l1_entries: u64 in 0..=MAX_ENTRIES "entries";
        /// Its associativity; as many as entries: fully associative.
        l1_ways: u64 in 0..=MAX_ENTRIES "ways";
        /// Second-level TLB; 0: none.
        l2_entries: u64 in 0..=MAX_ENTRIES "entries";
        /// Its associativity.
        l2_ways: u64 in 0..=MAX_ENTRIES "ways";
        /// Added to an access whose page only the second level has.
        l2_latency: Cycles in 0..=MAX_CYCLES "cycles";
        /// A page; a power of two from 4096.
        page_bytes: u64 in 0..=1_073_741_824 "bytes";
        /// Loads of a page walk, one from the table of each level, if no cache of entries shortens it.
        walk_levels: u64 in 0..=5 "levels";
        /// Page walks of a core at once.
        walkers: u64 in 0..=MAX_ENTRIES "walks";
        /// Cache of the entries of all levels but the last (a paging-structure cache), fully associative; 0: none.
        walk_cache_entries: u64 in 0..=MAX_ENTRIES "entries";
        /// Added to the walk for a page that holds no data when the run begins, once a page, and dispatch waits for
        /// it (a page fault); 0: none.
        fault_latency: Cycles in 0..=MAX_CYCLES "cycles";
    }

    /// One level of cache.
    Cache {
        /// Capacity; an L2 of 0 bytes is none: the private level is the L1 alone.
        bytes: u64 in 0..=MAX_BYTES "bytes";
        /// Associativity.
        ways: u64 in 1..=MAX_ENTRIES "ways";
        /// Misses outstanding at once.
        mshrs: u64 in 1..=MAX_ENTRIES "misses";
        /// A hit's access time in this level alone.
        latency: Cycles in 1..=MAX_CYCLES "cycles";
    }

    /// What connects cores, shared cache and controllers.
    Interconnect {
        /// One traversal.
        hop_latency: Cycles in 0..=MAX_CYCLES "cycles";
        /// How other copies of a line are found.
        coherence: Coherence;
    }

    /// A core's in-order channel to the controllers, for designs that send persists beside the caches.
    Channel {
        /// From the core to the controller of the same number; 0: `pm.write_to_controller`.
        latency: Cycles in 0..=MAX_CYCLES "cycles";
        /// Added for each number by which core and controller differ.
        step: Cycles in 0..=MAX_CYCLES "cycles";
        /// A packet occupies the bus that all channels share; 0: no such bus.
        occupancy: Cycles in 0..=MAX_CYCLES "cycles";
    }

    /// The persistent-memory controllers; each parameter but `count` is of one controller.
    Controllers {
        /// Persistent-memory controllers.
        count: u64 in 1..=64 "controllers";
        /// Consecutive bytes on one controller; a multiple of 64.
        interleave_bytes: u64 in 64..=MAX_BYTES "bytes";
        /// Write-pending queue of a controller, a line each.
        wpq_entries: u64 in 1..=MAX_ENTRIES "entries";
        /// When a write leaves that queue: once the media have written it, or once it is issued to them.
        wpq_leaves: WpqLeave;
        /// Read queue of a controller.
        read_queue_entries: u64 in 1..=MAX_ENTRIES "entries";
        /// Queued writes from which they go before the reads of their banks, as when the queue is full; 0: only then.
        drain_high: u64 in 0..=MAX_ENTRIES "entries";
        /// Queued writes at which reads go first again.
        drain_low: u64 in 0..=MAX_ENTRIES "entries";
        /// Of the writes that can be issued, one to an open row goes first; false: the oldest.
        row_hits_first: bool;
        /// The write-pending queue is in the persistence domain.
        adr: bool;
        /// What a pcommit waits for.
        pcommit: PcommitWait;
        /// Backend memory operations on a write before the queue accepts it: latency only, never a limit of throughput
        /// (COSPlay, section 5).
        bmo_latency: Cycles in 0..=MAX_CYCLES "cycles";
    }

    /// The persistent media behind one controller.
    Pm {
        /// Read of a line, controller and media, unloaded.
        read_latency: Cycles in 1..=MAX_CYCLES "cycles";
        /// From the write-back buffer to the controller and the acknowledgement back, unloaded, without BMO.
        write_to_controller: Cycles in 1..=MAX_CYCLES "cycles";
        /// A bank is busy with the write of one line, or of one combined block.
        write_latency: Cycles in 1..=MAX_CYCLES "cycles";
        /// Peak read bandwidth of a controller (10^9 bytes a second).
        read_gbps: f64 in 0.001..=100_000.0 "GB/s";
        /// Peak write bandwidth of a controller (10^9 bytes a second).
        write_gbps: f64 in 0.001..=100_000.0 "GB/s";
        /// Banks behind a controller that work at once.
        banks: u64 in 1..=MAX_ENTRIES "banks";
        /// A bank serves one read or write at a time, reads first; false: reads never wait for a bank, nor it for them.
        exclusive_banks: bool;
        /// Row buffer of a bank; 0: none, else a power of two.
        row_bytes: u64 in 0..=MAX_BLOCK "bytes";
        /// Read of an open row, in place of `read_latency`.
        row_hit_latency: Cycles in 0..=MAX_CYCLES "cycles";
        /// A bank is busy with a write to an open row, in place of `write_latency`.
        row_hit_write_latency: Cycles in 0..=MAX_CYCLES "cycles";
        /// Block of the media's write-combining buffer (256 on Optane); 0: none, else a power of two.
        combine_bytes: u64 in 0..=MAX_BLOCK "bytes";
        /// Blocks in the write-combining buffer of a controller.
        combine_entries: u64 in 0..=MAX_ENTRIES "entries";
    }

    /// Memory for volatile data.
    Dram {
        /// Read of a line of volatile memory, controller and memory, unloaded.
        read_latency: Cycles in 1..=MAX_CYCLES "cycles";
        /// Peak bandwidth (10^9 bytes a second).
        gbps: f64 in 0.001..=100_000.0 "GB/s";
    }

    /// The way from a host to persistent memory on a CXL device, beside what the sections of controllers and media say.
    Cxl {
        /// One way over a host's link, to the device or to the switch; 0: none.
        link_latency: Cycles in 0..=MAX_CYCLES "cycles";
        /// One way through the switch between links and device; 0: no switch.
        switch_latency: Cycles in 0..=MAX_CYCLES "cycles";
        /// Peak bandwidth of a host's link in each direction (10^9 bytes a second); 0: no limit.
        link_gbps: f64 in 0.0..=100_000.0 "GB/s";
        /// Reads of a host on its link at once; 0: no limit.
        credits: u64 in 0..=MAX_ENTRIES "reads";
        /// Who keeps the copies of hosts alike.
        coherence: HostCoherence;
        /// From the failure of a host until the others are told.
        detection: Cycles in 0..=MAX_CYCLES "cycles";
        /// DRAM of a controller's device before its media, which are flash then: a write-back cache of pages in the
        /// persistence domain. `pm.read_latency` and `pm.write_latency` are of a page then. 0: none.
        cache_bytes: u64 in 0..=MAX_BYTES "bytes";
        /// Its associativity.
        cache_ways: u64 in 0..=MAX_ENTRIES "ways";
        /// A page, which is read from flash and written to it whole; a power of two.
        cache_page_bytes: u64 in 0..=MAX_BLOCK "bytes";
        /// Access to a line that it has, controller and DRAM, unloaded.
        cache_latency: Cycles in 0..=MAX_CYCLES "cycles";
        /// Peak bandwidth of its reads and writes together (10^9 bytes a second); 0: no limit.
        cache_gbps: f64 in 0.0..=100_000.0 "GB/s";
    }

    /// Flush on fail: what reserve power is for, where a design has more than the write queues written.
    Fail {
        /// Bytes of the caches, also of a device's, that are dirty and persistent when power fails.
        dirty: u64 in 0..=100 "%";
        /// How long the reserve lasts; 0: long enough.
        hold_up: Cycles in 0..=MAX_CYCLES "cycles";
    }

    /// How the machine is simulated.
    Simulation {
        /// How far a core may run ahead of another; 0: strictly in global time order, for crash exploration.
        slack: Cycles in 0..=MAX_CYCLES "cycles";
        /// Largest random delay added to each flush.
        jitter: Cycles in 0..=MAX_CYCLES "cycles";
        /// What the LLC holds as the run begins. Those of several hosts hold nothing.
        warm: Warm;
        /// A random recently written line is evicted once in this number of stores; 0: never.
        evict_one_in: u64 in 0..=MAX_BYTES "stores";
        /// The host that fails during the run.
        fails: Failing;
        /// When it fails; from the run's beginning.
        fails_at: Cycles in 0..=MAX_CYCLES "cycles";
    }
}

impl MachineConfig {
    /// One host with the usual reserve, and nothing else yet.
    pub(super) fn of_one_host() -> MachineConfig {
        MachineConfig {
            hosts: 1,
            fail: Fail::USUAL,
            ..MachineConfig::default()
        }
    }

    /// The sections that a start without time depends on.
    pub const CORES_AND_CACHES: [&'static str; 5] = ["core", "tlb", "l1", "l2", "llc"];

    /// A machine of these sections alone, so that nothing else can change a start.
    pub(crate) fn cores_and_caches(&self) -> MachineConfig {
        let machine = self.clone();
        MachineConfig {
            core: machine.core,
            tlb: machine.tlb,
            l1: machine.l1,
            l2: machine.l2,
            llc: machine.llc,
            ..MachineConfig::of_one_host()
        }
    }

    /// The sizes for designs, of a machine with `cores` cores.
    #[must_use]
    pub fn sizes(&self, cores: u64) -> Sizes {
        Sizes {
            cores,
            hosts: self.hosts,
            controllers: self.controllers.count,
            store_queue_entries: self.core.store_queue_entries,
            writeback_buffer_entries: self.core.writeback_buffer_entries,
            wpq_entries: self.controllers.wpq_entries,
            private_bytes: self.l1.bytes + self.l2.as_ref().map_or(0, |l2| l2.bytes),
            shared_bytes: self.llc.bytes,
        }
    }
}

impl Fail {
    /// Half of the caches, and a reserve that lasts: the assumption of ASAP, section VI-D.
    pub(super) const USUAL: Fail = Fail {
        dirty: 50,
        hold_up: Cycles(0),
    };
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

impl Core {
    /// Removes all limits but widths and the entries of the window and of the queues of loads and stores.
    pub fn drop_rules(&mut self) {
        (self.decode_queue_entries, self.issue_queue_entries) = (0, 0);
        (self.alu_ports, self.load_ports, self.store_ports, self.branch_ports) = (0, 0, 0, 0);
        self.store_micro_ops = 1;
        (self.loads_wait_for_addresses, self.stores_retire_cached) = (false, false);
    }
}

impl Cxl {
    /// One way between a host and the device.
    #[must_use]
    pub fn way(&self) -> Cycles {
        Cycles(self.link_latency.0 + self.switch_latency.0)
    }

    /// The time a 64-byte line occupies a host's link: nearest whole cycle, at least one; 0 without a limit.
    #[must_use]
    pub fn line_cycles(&self, core: &Core) -> Cycles {
        limited(self.link_gbps, core)
    }

    /// The time a 64-byte line occupies the device's cache: nearest whole cycle, at least one; 0 without a limit.
    #[must_use]
    pub fn cache_line_cycles(&self, core: &Core) -> Cycles {
        limited(self.cache_gbps, core)
    }
}

/// As [`line_cycles`]; 0 GB/s are no limit.
fn limited(gbps: f64, core: &Core) -> Cycles {
    match gbps > 0.0 {
        true => line_cycles(gbps, core),
        false => Cycles(0),
    }
}

fn line_cycles(gbps: f64, core: &Core) -> Cycles {
    let nanoseconds = LINE_BYTES as f64 / gbps;
    Cycles(cycles_of(nanoseconds, core.clock_ghz) as u64).max(Cycles(1))
}
