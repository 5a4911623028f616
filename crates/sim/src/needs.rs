//! Whether a machine and a program meet a design's needs.

use crate::{Error, Plan, Scope, Sets, Source, Spec};
use strandline_design::{About, AnyDesign, Drains, Hosts};
use strandline_machine::config::{Consistency, HostCoherence};
use strandline_machine::MachineConfig;
use strandline_runtime::{runtimes, Runtime};
use strandline_workloads::names;

/// Refuses a design on a machine that does not meet its needs.
///
/// # Errors
/// The missing feature, and how to get it.
pub fn check(about: &About, machine: &MachineConfig) -> Result<(), Error> {
    let needs = about.needs;
    let missing = if needs.adr && !machine.controllers.adr {
        Some(("ADR", "machine.controllers.adr=true"))
    } else if needs.stores == Drains::InOrder && machine.core.consistency != Consistency::Tso {
        Some((
            "stores that become visible in order (TSO)",
            "machine.core.consistency=tso",
        ))
    } else if needs.stores == Drains::Weak && machine.core.consistency != Consistency::Weak {
        Some((
            "stores that become visible in any order between barriers (weak cores)",
            "machine.core.consistency=weak",
        ))
    } else {
        None
    };
    match missing {
        None => check_alike(about, machine),
        Some((what, set)) => Err(Error::Input(format!(
            "design {} needs {what}, which machine {} does not have; choose another design or machine, or --set {set}",
            about.name, machine.name
        ))),
    }
}

/// Refuses hosts that nothing keeps alike, or that a directory does, or of which one fails, for a design that needs others.
fn check_alike(about: &About, machine: &MachineConfig) -> Result<(), Error> {
    let (alike, fails) = (
        machine.cxl.coherence == HostCoherence::Hardware,
        machine.simulation.fails.host().is_some(),
    );
    let (mechanism, asks) = match about.needs.hosts {
        _ if machine.hosts == 1 => return Ok(()),
        Hosts::Apart(mechanism) if alike => (mechanism, "--set machine.cxl.coherence=none"),
        Hosts::Saved(mechanism) if !alike => (mechanism, "--set machine.cxl.coherence=hardware"),
        Hosts::Coherent(mechanism) if !alike || fails => {
            (mechanism, "--set machine.cxl.coherence=hardware, and let none fail")
        }
        Hosts::Any | Hosts::Apart(_) | Hosts::Saved(_) | Hosts::Coherent(_) => return Ok(()),
    };
    Err(Error::Input(format!(
        "design {} cannot run on these hosts, since {mechanism}; {asks}, or choose another design (x86)",
        about.name
    )))
}

/// Refuses several hosts for a program whose threads share volatile memory.
///
/// # Errors
/// What shares it, and what to run instead.
pub fn check_hosts(source: &Source, machine: &MachineConfig) -> Result<(), Error> {
    let shares = match source {
        _ if machine.hosts == 1 => return Ok(()),
        Source::Workload(about) if about.across_hosts => return Ok(()),
        Source::Workload(about) => format!("workload {}", about.name),
        Source::Recording(recorded) => format!("recording {}", recorded.name()),
    };
    let able = names()
        .iter()
        .filter(|about| about.across_hosts)
        .map(|about| about.name);
    Err(Error::Input(format!(
        "machine.hosts={}: the threads of {shares} share volatile memory, which each host has for itself; run it on one host, or a program across hosts ({})",
        machine.hosts,
        able.collect::<Vec<_>>().join(", ")
    )))
}

/// Whether settings waive the recovery that this design usually promises.
#[must_use]
pub fn waives_recovery(about: &About) -> bool {
    let usual = strandline_designs::design(about.name).map(|design| design.about());
    !about.promises_recovery && usual.is_some_and(|usual| usual.promises_recovery)
}

/// Whether a design and the runtime of a run promise that crash states recover. Those that workloads have by default do.
#[must_use]
pub fn promises_recovery(about: &About, spec: &Spec) -> bool {
    let asked = runtimes()
        .iter()
        .find(|each| Some(each.name) == spec.runtime.as_deref());
    about.promises_recovery && asked.is_none_or(|runtime| runtime.promises_recovery)
}

/// Refuses to keep the crash states of a design whose settings waive recovery.
///
/// # Errors
/// What is not promised, and the settings of which one is to be left out.
pub fn check_promise(about: &About, sets: &Sets) -> Result<(), Error> {
    if !waives_recovery(about) {
        return Ok(());
    }
    let given: Vec<String> = sets
        .of(Scope::Design)
        .map(|(key, value)| format!("design.{key}={value}"))
        .collect();
    Err(Error::Input(format!(
        "design {} promises no recovery with --set {}, so no crash test takes it; leave it out",
        about.name,
        given.join(" --set ")
    )))
}

/// Refuses a design that interrupts its programs for one that cannot abort its open region and start again.
///
/// # Errors
/// What cannot, and what to ask for.
pub fn check_restart(design: &AnyDesign, plan: &Plan) -> Result<(), Error> {
    if !design.lowering().interrupts() {
        return Ok(());
    }
    let cannot = match &plan.source {
        Source::Recording(_) => Some("a recording cannot; choose a workload"),
        Source::Workload(about) if !about.is_logged() => {
            Some("this workload, which has no log, cannot; choose another")
        }
        Source::Workload(_) if plan.logging.runtime != Runtime::Undo => {
            Some("this runtime cannot; ask for --runtime undo")
        }
        Source::Workload(_) if plan.sets.of(Scope::Workload).any(|set| set == ("incremental", "1")) => {
            Some("tasks of several regions cannot; leave workload.incremental out")
        }
        Source::Workload(_) if plan.sharing.is_some() => Some("tasks that share a thread cannot; leave --window out"),
        Source::Workload(_) => None,
    };
    match cannot {
        None => Ok(()),
        Some(cannot) => Err(Error::Input(format!(
            "design {} interrupts programs, which must abort their open region and restart it: {cannot}",
            design.about().name
        ))),
    }
}
