//! Machines that differ in everything that a design must not rely on: latencies, queues, caches, placement.

use strandline_design::{About, Drains};
use strandline_kernel::{Cycles, Rng};
use strandline_machine::config::{Coherence, Consistency, PcommitWait, WpqLeave};
use strandline_machine::{paper_preset_names, MachineConfig};
use strandline_sim::{check_needs, Error};

/// The machines on which a design is tested.
pub struct Timings {
    about: About,
    presets: Vec<MachineConfig>,
}

impl Timings {
    /// Machines for a design, from all presets of papers or from these.
    ///
    /// # Errors
    /// A machine does not exist, or none of these has what the design needs.
    pub fn of(about: About, machines: Option<&[String]>) -> Result<Timings, Error> {
        let mut presets = match machines {
            None => paper_preset_names()
                .into_iter()
                .filter_map(MachineConfig::preset)
                .collect(),
            Some(names) => names
                .iter()
                .map(|name| MachineConfig::load(name))
                .collect::<Result<Vec<_>, _>>()?,
        };
        let refused = presets.iter().find_map(|machine| check_needs(&about, machine).err());
        presets.retain(|machine| check_needs(&about, machine).is_ok());
        match refused {
            Some(error) if presets.is_empty() => Err(error),
            _ => Ok(Timings { about, presets }),
        }
    }

    /// A machine with small caches, so that it is built quickly, and everything else at random.
    pub fn machine(&self, rng: &mut Rng) -> MachineConfig {
        let mut machine = self.presets[rng.below(self.presets.len() as u64) as usize].clone();
        machine.cores = 0;
        shrink_caches(&mut machine, rng);
        shake_core(&mut machine, &self.about, rng);
        shake_memory(&mut machine, &self.about, rng);
        machine.simulation.slack = Cycles::ZERO;
        machine.simulation.jitter = Cycles([0, 30, 300, 3000][rng.below(4) as usize]);
        machine.simulation.evict_one_in = [0, 2, 5][rng.below(3) as usize];
        shake_channel(&mut machine, rng.clone());
        shake_scheduling(&mut machine, Rng::new(rng.clone().below(u64::MAX)));
        shake_queues(&mut machine, Rng::new(!rng.clone().below(u64::MAX)));
        shake_rules(&mut machine, Rng::new(rng.clone().below(u64::MAX) ^ RULES));
        shrink_further(&mut machine, Rng::new(rng.clone().below(u64::MAX) ^ CACHES));
        shake_tlb(&mut machine, Rng::new(rng.clone().below(u64::MAX) ^ TRANSLATION));
        machine
    }
}

fn shrink_caches(machine: &mut MachineConfig, rng: &mut Rng) {
    machine.l1.ways = 2;
    machine.l1.bytes = 128 << rng.below(3);
    if let Some(l2) = &mut machine.l2 {
        l2.ways = 2;
        l2.bytes = machine.l1.bytes << rng.below(2);
    }
    machine.llc.ways = 4;
    machine.llc.bytes = 1024 << rng.below(3);
    machine.core.predictor_entries = 16;
}

/// Distinguishes the stream of [`shrink_further`].
const CACHES: u64 = 0xcac4e5;

/// Caches of a few lines, now and then, from a stream of its own: lines leave each level within a program of a few
/// instructions.
fn shrink_further(machine: &mut MachineConfig, mut rng: Rng) {
    if !rng.one_in(3) {
        return;
    }
    (machine.l1.ways, machine.l1.bytes) = (1, 64 << rng.below(2));
    match &mut machine.l2 {
        Some(_) if rng.one_in(3) => machine.l2 = None,
        Some(l2) => (l2.ways, l2.bytes) = (1, machine.l1.bytes << rng.below(2)),
        None => {}
    }
    machine.llc.bytes = 256 << rng.below(3);
}

/// One entry, as often as any other small number.
fn few(rng: &mut Rng, most: u64) -> u64 {
    if rng.one_in(3) {
        1
    } else {
        1 + rng.below(most)
    }
}

fn shake_core(machine: &mut MachineConfig, about: &About, rng: &mut Rng) {
    let core = &mut machine.core;
    core.rob_entries = 4 + rng.below(64);
    core.load_queue_entries = few(rng, 16);
    core.store_queue_entries = few(rng, 16);
    core.writeback_buffer_entries = few(rng, 8);
    core.write_combining_buffers = few(rng, 4);
    core.lock_orders_flushes = rng.one_in(2);
    core.store_prefetch = rng.one_in(2);
    core.consistency = match about.needs.stores {
        Drains::Any => [Consistency::Tso, Consistency::Weak][rng.below(2) as usize],
        Drains::InOrder => Consistency::Tso,
        Drains::Weak => Consistency::Weak,
    };
}

fn shake_memory(machine: &mut MachineConfig, about: &About, rng: &mut Rng) {
    machine.interconnect.coherence = [Coherence::Directory, Coherence::Snoop][rng.below(2) as usize];
    machine.interconnect.hop_latency = Cycles(1 + rng.below(20));
    let controllers = &mut machine.controllers;
    controllers.count = 1 + rng.below(3);
    controllers.interleave_bytes = 64;
    controllers.wpq_entries = few(rng, 8);
    controllers.bmo_latency = Cycles(rng.below(3) * rng.below(400));
    if !about.needs.adr {
        controllers.adr = rng.one_in(2);
    }
    machine.pm.banks = few(rng, 4);
    machine.pm.write_latency = Cycles(10 << rng.below(6));
    machine.pm.write_to_controller = Cycles(20 << rng.below(5));
}

/// How a controller schedules, and what a flush leaves of a line, from a stream of its own.
fn shake_scheduling(machine: &mut MachineConfig, mut rng: Rng) {
    let queue = machine.controllers.wpq_entries;
    machine.core.clwb_keeps_ownership = rng.one_in(2);
    machine.pm.exclusive_banks = rng.one_in(2);
    machine.controllers.row_hits_first = rng.one_in(2);
    machine.controllers.drain_high = rng.below(queue + 1);
    machine.controllers.drain_low = rng.below(machine.controllers.drain_high + 1);
    machine.controllers.pcommit = match rng.below(3) {
        0 => PcommitWait::Accepted,
        1 => PcommitWait::Empty,
        _ => PcommitWait::Alone,
    };
}

/// The queues that most presets lack, from a stream of its own.
fn shake_queues(machine: &mut MachineConfig, mut rng: Rng) {
    let mut entries = || match rng.one_in(2) {
        true => 0,
        false => few(&mut rng, 16),
    };
    machine.core.fetch_queue_entries = entries();
    machine.core.issue_queue_entries = entries();
    machine.core.load_store_queue_entries = entries();
}

/// Distinguishes the stream of [`shake_rules`].
const RULES: u64 = 0x0c04e;

/// Rules of core and write queue on one machine in four, from a stream of its own: they separate what a defect may need
/// close together.
fn shake_rules(machine: &mut MachineConfig, mut rng: Rng) {
    // Of a setting with `many` values the first one, which is no rule, or any.
    let draws = rng.one_in(4);
    let mut any_of = |many: u64| if draws { rng.below(many) } else { 0 };
    let core = &mut machine.core;
    core.decode_queue_entries = any_of(17);
    core.alu_ports = any_of(3);
    core.load_ports = any_of(3);
    core.store_ports = any_of(3);
    core.store_micro_ops = 1 + any_of(2);
    core.loads_wait_for_addresses = any_of(2) == 1;
    core.stores_retire_cached = any_of(2) == 1;
    core.store_drain_interval = Cycles(1 + any_of(4));
    machine.controllers.wpq_leaves = [WpqLeave::Written, WpqLeave::Issued][any_of(2) as usize];
    let core = &mut machine.core;
    core.fences_retire = any_of(2) == 1;
    core.memory_renaming = any_of(2) == 1;
    core.locked_holds_loads = any_of(2) == 0;
    core.store_drain_width = 1 + any_of(3);
    core.flush_interval = Cycles(any_of(3) * 9);
    core.flush_latency = Cycles(any_of(3) * 30);
}

/// Distinguishes the stream of [`shake_tlb`].
const TRANSLATION: u64 = 0x71b_0a6e;

/// TLBs of a few pages, or none, from a stream of its own: walks bring lines into the caches between any two accesses.
fn shake_tlb(machine: &mut MachineConfig, mut rng: Rng) {
    let tlb = &mut machine.tlb;
    tlb.l1_ways = few(&mut rng, 4);
    tlb.l1_entries = tlb.l1_ways * rng.below(3);
    tlb.l2_ways = few(&mut rng, 4);
    tlb.l2_entries = tlb.l2_ways * rng.below(3);
    tlb.l2_latency = Cycles(rng.below(10));
    tlb.walk_levels = 1 + rng.below(4);
    tlb.walkers = few(&mut rng, 4);
    tlb.walk_cache_entries = rng.below(3);
}

/// Draws from a copy of the stream, so that the machines of a seed are the same for designs without a channel.
fn shake_channel(machine: &mut MachineConfig, mut rng: Rng) {
    machine.channel.latency = Cycles([0, 0, 40, 400][rng.below(4) as usize]);
    machine.channel.step = Cycles([0, 0, 30, 300][rng.below(4) as usize]);
}
