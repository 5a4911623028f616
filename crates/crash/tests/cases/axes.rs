//! The axes of crash exploration, each from its registry.

use crate::thinning::Amount;
use strandline_design::About;
use strandline_designs::{abouts, design};
use strandline_machine::{paper_preset_names, MachineConfig};
use strandline_runtime::{runtimes, Runtime};
use strandline_sim::{check_needs, FoundBy, Spec, Window};
use strandline_workloads::describe;

/// A run of crash exploration: a value for each axis.
#[derive(Clone)]
pub struct Row {
    pub design: About,
    workload: &'static str,
    runtime: &'static str,
    threads: u64,
    machine: &'static str,
    controllers: Variant,
    structures: Structures,
    sharing: Sharing,
    locks: Variant,
    code: Variant,
}

/// A named variant of the machine; the default has no name.
type Variant = (&'static str, &'static [&'static str]);

const THREADS: [u64; 2] = [4, 1];

const CONTROLLERS: [Variant; 4] = [
    ("", &[]),
    (
        "two-controllers",
        &["machine.controllers.count=2", "machine.controllers.interleave_bytes=64"],
    ),
    (
        "three-controllers",
        &["machine.controllers.count=3", "machine.controllers.interleave_bytes=64"],
    ),
    ("no-adr", &["machine.controllers.adr=false"]),
];

/// The sizes of a design's structures.
#[derive(Clone, Copy, PartialEq)]
enum Structures {
    /// As in its paper.
    Paper,
    /// Each at its minimum.
    Least,
    /// More epochs than entries, and epochs' numbers that wrap: what is named in [`FEW`] at its minimum.
    FewEntries,
}

const STRUCTURES: [Structures; 3] = [Structures::Paper, Structures::Least, Structures::FewEntries];

/// Of designs with a limit of epochs, the parameters that [`Structures::FewEntries`] minimises.
const FEW: [&str; 2] = ["entries", "number_bits"];

/// How tasks share a thread: name, window and library; without a name, the design's default.
type Sharing = (&'static str, Option<Window>, Option<&'static str>);

const SHARING: [Sharing; 4] = [
    ("", None, None),
    ("window-3-paper", Some(Window::Tasks(3)), Some("paper")),
    ("window-3-lean", Some(Window::Tasks(3)), Some("lean")),
    ("auto-lean", Some(Window::Found(FoundBy::Auto)), Some("lean")),
];

/// Whether locked instructions wait for flushes, how the program's locks are made, and its C library.
const LOCKS: [Variant; 7] = [
    ("", &["machine.core.lock_orders_flushes=false"]),
    ("locks-order-flushes", &["machine.core.lock_orders_flushes=true"]),
    (
        "backoff",
        &["machine.core.lock_orders_flushes=false", "runtime.lock=backoff"],
    ),
    (
        "ticket",
        &["machine.core.lock_orders_flushes=false", "runtime.lock=ticket"],
    ),
    ("mcs", &["machine.core.lock_orders_flushes=false", "runtime.lock=mcs"]),
    (
        "pthread",
        &["machine.core.lock_orders_flushes=false", "runtime.lock=pthread"],
    ),
    (
        "glibc",
        &["machine.core.lock_orders_flushes=false", "runtime.library=glibc"],
    ),
];

/// How the program was compiled.
const CODES: [Variant; 2] = [("", &[]), ("plain-code", &["runtime.code=plain"])];

/// The parameters of a design that minimise its structures.
pub fn least(name: &str) -> Vec<(&'static str, String)> {
    let design = design(name).expect("a registered design");
    let least = design.free_params().map(|param| (param.name, param.min.to_string()));
    least.collect()
}

/// Of [`least`], what minimises entries alone; nothing if the design has no limit of epochs.
fn few_entries(name: &str) -> Vec<(&'static str, String)> {
    let mut few = least(name);
    match few.iter().any(|(key, _)| *key == "epochs") {
        true => few.retain(|(key, _)| FEW.contains(key)),
        false => few.clear(),
    }
    few
}

/// A design, and its possible combinations.
struct Choice {
    about: About,
    /// Whether it has each of [`STRUCTURES`].
    has: [bool; STRUCTURES.len()],
    /// It interrupts programs, which must restart their regions.
    interrupts: bool,
    /// Whether each machine, with each of [`CONTROLLERS`], meets its needs.
    is_enough: Vec<[bool; CONTROLLERS.len()]>,
}

/// The axes of runs under some designs.
pub struct Axes {
    designs: Vec<Choice>,
    workloads: Vec<&'static str>,
    runtimes: Vec<&'static str>,
    machines: Vec<&'static str>,
}

impl Axes {
    /// For the designs that promise recovery, or for the others.
    pub fn of(promises_recovery: bool) -> Axes {
        let designs = abouts()
            .into_iter()
            .filter(|about| about.promises_recovery == promises_recovery);
        // Under a runtime that makes nothing durable no design recovers.
        let runtimes = runtimes()
            .iter()
            .filter(|about| about.promises_recovery || !promises_recovery);
        Axes {
            designs: designs.map(Choice::of).collect(),
            workloads: strandline_workloads::names().iter().map(|about| about.name).collect(),
            runtimes: runtimes.map(|about| about.name).collect(),
            machines: paper_preset_names(),
        }
    }

    /// Number of values of each axis.
    pub fn sizes(&self) -> [usize; 10] {
        [
            self.designs.len(),
            self.workloads.len(),
            self.runtimes.len(),
            THREADS.len(),
            self.machines.len(),
            CONTROLLERS.len(),
            STRUCTURES.len(),
            SHARING.len(),
            LOCKS.len(),
            CODES.len(),
        ]
    }

    /// The run of these values.
    pub fn row(&self, values: &[usize]) -> Row {
        Row {
            design: self.designs[values[0]].about,
            workload: self.workloads[values[1]],
            runtime: self.runtimes[values[2]],
            threads: THREADS[values[3]],
            machine: self.machines[values[4]],
            controllers: CONTROLLERS[values[5]],
            structures: STRUCTURES[values[6]],
            sharing: SHARING[values[7]],
            locks: LOCKS[values[8]],
            code: CODES[values[9]],
        }
    }

    /// Whether some design can run on such a machine, and has structures if they are to be small.
    pub fn fits(&self, values: &[Option<usize>]) -> bool {
        let designs = match values[0] {
            Some(index) => &self.designs[index..=index],
            None => &self.designs[..],
        };
        designs
            .iter()
            .any(|design| design.fits(values[4], values[5].unwrap_or(0), values[6]) && self.restarts(design, values))
    }

    /// Whether the program can restart its regions, where the design interrupts it.
    fn restarts(&self, design: &Choice, values: &[Option<usize>]) -> bool {
        let is_logged = |index| describe(self.workloads[index]).is_ok_and(|about| about.is_logged());
        !design.interrupts
            || values[1].is_none_or(is_logged)
                && values[2].is_none_or(|index| self.runtimes[index] == Runtime::Undo.name())
                && values[7].is_none_or(|index| SHARING[index].1.is_none())
    }
}

impl Choice {
    fn of(about: About) -> Choice {
        let on = |name| CONTROLLERS.map(|controllers| is_enough(&about, name, controllers));
        Choice {
            about,
            has: [true, !least(about.name).is_empty(), !few_entries(about.name).is_empty()],
            interrupts: design(about.name).is_some_and(|design| design.lowering().interrupts()),
            is_enough: paper_preset_names().into_iter().map(on).collect(),
        }
    }

    fn fits(&self, machine: Option<usize>, controllers: usize, structures: Option<usize>) -> bool {
        let is_enough = match machine {
            Some(machine) => self.is_enough[machine][controllers],
            None => self.is_enough.iter().any(|machine| machine[controllers]),
        };
        is_enough && structures.is_none_or(|index| self.has[index])
    }
}

fn is_enough(about: &About, name: &str, (_, sets): Variant) -> bool {
    let mut machine = MachineConfig::preset(name).expect("a preset");
    for set in sets {
        let (key, value) = set.split_once('=').expect("KEY=VALUE");
        let key = key.strip_prefix("machine.").expect("a setting of the machine");
        machine.set(key, value).expect("a setting");
    }
    check_needs(about, &machine).is_ok()
}

impl Row {
    /// The identity of the run.
    pub fn name(&self) -> String {
        let structures = match self.structures {
            Structures::Paper => "",
            Structures::Least => "least-structures",
            Structures::FewEntries => "few-entries",
        };
        let threads = format!("{}-threads", self.threads);
        let first = [self.design.name, self.workload, self.runtime, &threads, self.machine];
        let variants = [
            self.controllers.0,
            structures,
            self.sharing.0,
            self.locks.0,
            self.code.0,
        ];
        let parts: Vec<&str> = first
            .into_iter()
            .chain(variants.into_iter().filter(|name| !name.is_empty()))
            .collect();
        parts.join("::")
    }

    /// The parameters of the structures' sizes. Not as [`least`] where the watchdog would give a slow run up.
    fn sizes(&self) -> impl Iterator<Item = (&'static str, String)> + '_ {
        // With one entry, PMEM-Spec sends a store in the time of a path and up to 800 cycles of jitter, so that a task
        // of tpcc, which has some thousand stores, does not end within `planted::PATIENCE`. It does within fifteen
        // times that.
        let is_slow = |key| (self.design.name, self.workload, key) == ("pmem-spec", "tpcc", "path_entries");
        let sizes = match self.structures {
            Structures::Paper => Vec::new(),
            Structures::Least => least(self.design.name),
            Structures::FewEntries => few_entries(self.design.name),
        };
        sizes
            .into_iter()
            .map(move |(key, value)| (key, if is_slow(key) { "4".to_owned() } else { value }))
    }

    /// The run.
    pub fn spec(&self, amount: Amount) -> Spec {
        let mut set: Vec<String> = [self.controllers.1, self.locks.1, self.code.1]
            .concat()
            .into_iter()
            .map(str::to_owned)
            .collect();
        // Batches end within the run, and logs wrap around.
        set.extend(["runtime.log_batch=3", "runtime.log_group=3"].map(str::to_owned));
        set.extend(self.sizes().map(|(key, value)| format!("design.{key}={value}")));
        Spec {
            machine: Some(self.machine.to_owned()),
            runtime: Some(self.runtime.to_owned()),
            threads: Some(self.threads),
            tasks: Some(if self.workload == "tpcc" {
                amount.tpcc_tasks
            } else {
                amount.tasks
            }),
            window: self.sharing.1,
            coroutines: self.sharing.2.map(str::to_owned),
            set,
            ..Spec::new(self.workload, self.design.name)
        }
    }
}
