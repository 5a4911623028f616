//! Random commands: what a user might type, with extreme settings.

use std::collections::BTreeSet;
use strandline_design::About;
use strandline_designs::design;
use strandline_kernel::Rng;
use strandline_machine::{paper_preset_names, MachineConfig};
use strandline_runtime::runtimes;
use strandline_sim::{check_needs, FoundBy, Spec, Window};

/// Extreme machines: settings that belong together.
const CORNERS: &[&[&str]] = &[
    &["core.clwb_keeps_ownership=false"],
    &["pm.exclusive_banks=true", "controllers.row_hits_first=true"],
    &["core.rob_entries=4"],
    &["core.load_queue_entries=1"],
    &["core.store_queue_entries=1"],
    &[
        "core.store_queue_entries=2",
        "core.loads_wait_for_addresses=true",
        "core.stores_retire_cached=true",
    ],
    &[
        "core.issue_queue_entries=1",
        "core.alu_ports=1",
        "core.load_ports=1",
        "core.store_ports=1",
    ],
    &[
        "core.load_store_queue_entries=1",
        "core.decode_queue_entries=1",
        "core.store_micro_ops=2",
    ],
    &["core.load_store_queue_entries=3", "core.fetch_queue_entries=8"],
    &["core.writeback_buffer_entries=1", "core.flush_interval=300"],
    &["core.write_combining_buffers=1", "core.fences_retire=true"],
    &["core.store_prefetch=false", "core.store_drain_width=8"],
    &["core.lock_orders_flushes=true", "core.locked_holds_loads=false"],
    &["core.consistency=weak"],
    &["core.dispatch_width=1", "core.retire_width=1", "core.prediction=tage"],
    &["l1.mshrs=1"],
    &["llc.mshrs=1"],
    &[
        "l1.bytes=128",
        "l1.ways=2",
        "l2.bytes=256",
        "l2.ways=2",
        "llc.bytes=4096",
        "llc.ways=4",
    ],
    &["l1.bytes=64", "l1.ways=1", "l2.bytes=0"],
    &["l2.bytes=65536", "llc.bytes=65536", "llc.ways=2"],
    &["interconnect.coherence=snoop"],
    &["interconnect.hop_latency=0"],
    &["controllers.count=2", "controllers.interleave_bytes=64"],
    &["controllers.count=5", "controllers.interleave_bytes=256"],
    &["controllers.wpq_entries=1"],
    &["controllers.read_queue_entries=1"],
    &["controllers.bmo_latency=500"],
    &["controllers.adr=false"],
    &["pm.banks=1"],
    &["pm.write_latency=1"],
    &["pm.write_latency=2000"],
    &["simulation.evict_one_in=2"],
    &["simulation.jitter=0"],
];

/// Maximum number of extremes of a machine at once.
const MOST_CORNERS: u64 = 4;

/// Sizes at which structures wrap around and threads contend.
const WORKLOADS: &[&[&str]] = &[&[], &[], &["operations=2"], &["operations=3"]];

/// A command for a design. A few request something that a design or machine lacks.
pub fn command(about: &About, seed: u64) -> Spec {
    let mut rng = Rng::new(
        about
            .name
            .bytes()
            .fold(seed, |sum, byte| sum.wrapping_mul(31) + u64::from(byte)),
    );
    let workload = pick(&mut rng, strandline_workloads::names()).name;
    let machine = pick(&mut rng, &machines(about)).to_string();
    let window = window(&mut rng);
    let set = sets(about, &mut rng);
    // If every access misses, a run is long without testing more.
    let is_small = set.iter().any(|set| set == "machine.llc.bytes=4096");
    let (threads, tasks) = match (workload, is_small) {
        ("tpcc", true) => (2, 2),
        ("tpcc", false) => (16, 4),
        (_, true) => (4, 8),
        (_, false) => (16, 40),
    };
    let spec = Spec {
        machine: Some(machine),
        runtime: (!rng.one_in(4)).then(|| pick(&mut rng, runtimes()).name.to_owned()),
        threads: Some([1, 2, 3, 4, 8, 16][rng.below(6) as usize].min(threads)),
        tasks: Some(1 + rng.below(tasks)),
        window,
        coroutines: (window.is_some() && rng.one_in(3)).then(|| "lean".to_owned()),
        seed: rng.below(1_000),
        set,
        ..Spec::new(workload, about.name)
    };
    match design(about.name).is_some_and(|design| design.lowering().interrupts()) && !rng.one_in(8) {
        true => restartable(spec),
        false => spec,
    }
}

/// A spec whose program can restart its regions, for a design that interrupts it; not so for the workload without a log.
fn restartable(spec: Spec) -> Spec {
    Spec {
        runtime: Some("undo".to_owned()),
        window: None,
        coroutines: None,
        ..spec
    }
}

fn machines(about: &About) -> Vec<&'static str> {
    let has = |name: &&str| MachineConfig::preset(name).is_some_and(|machine| check_needs(about, &machine).is_ok());
    paper_preset_names().into_iter().filter(has).collect()
}

fn pick<'a, T>(rng: &mut Rng, all: &'a [T]) -> &'a T {
    &all[rng.below(all.len() as u64) as usize]
}

fn window(rng: &mut Rng) -> Option<Window> {
    match rng.below(6) {
        0 => Some(Window::Found(FoundBy::Auto)),
        1..=3 => Some(Window::Tasks(1 + rng.below(4))),
        _ => None,
    }
}

fn sets(about: &About, rng: &mut Rng) -> Vec<String> {
    let mut sets = Vec::new();
    for _ in 0..rng.below(MOST_CORNERS + 1) {
        let corner = pick(rng, CORNERS).iter();
        sets.extend(corner.map(|set| format!("machine.{set}")));
    }
    for param in design(about.name).iter().flat_map(|design| design.free_params()) {
        let corner = [param.min, 2, 3, param.default, param.default][rng.below(5) as usize];
        if corner != param.default {
            sets.push(format!("design.{}={}", param.name, corner.clamp(param.min, param.max)));
        }
    }
    sets.extend(pick(rng, WORKLOADS).iter().map(|set| format!("workload.{set}")));
    if rng.one_in(2) {
        sets.push(format!("runtime.log_batch={}", 1 + rng.below(4)));
    }
    without_second(sets)
}

/// Each key once: the first counts.
fn without_second(sets: Vec<String>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let key = |set: &String| set.split('=').next().unwrap_or_default().to_owned();
    sets.into_iter().filter(|set| seen.insert(key(set))).collect()
}
