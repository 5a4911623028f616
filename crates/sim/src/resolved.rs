//! A run with every setting. It can be repeated after files and defaults have changed.

use crate::recording::RECORDING_PARAMS;
use crate::run::registered;
use crate::{Error, FoundBy, Plan, Scope, Sets, Source, Spec, Window};
use std::collections::BTreeMap;
use strandline_design::AnyDesign;
use strandline_kernel::{Param, Params};
use strandline_machine::MachineConfig;
use strandline_runtime::RUNTIME_PARAMS;

/// The settings of `spec`, and its machine: from a preset, a file, or a record.
///
/// # Errors
/// No such machine, a wrong setting, or a record that lacks parameters of a machine.
pub(crate) fn settings(spec: &Spec, usual: &str) -> Result<(Sets, MachineConfig), Error> {
    let name = spec.machine.as_deref().unwrap_or(usual);
    let repeats = !spec.parameters.is_empty();
    let mut machine = if repeats {
        MachineConfig::of_record()
    } else {
        MachineConfig::load(name)?
    };
    let recorded = spec.parameters.iter().map(|(key, value)| format!("{key}={value}"));
    let sets = Sets::read(recorded.chain(spec.set.iter().cloned()))?;
    sets.apply(&mut machine)?;
    if repeats {
        name.clone_into(&mut machine.name);
        demand_all(&machine, &spec.parameters)?;
    }
    Ok((sets, machine))
}

/// Refuses a record that lacks a parameter of its machine.
fn demand_all(machine: &MachineConfig, given: &BTreeMap<String, String>) -> Result<(), Error> {
    let keys = machine
        .describe()
        .into_iter()
        .map(|info| key(Scope::MachineConfig, info.key));
    match keys.into_iter().find(|key| !given.contains_key(key)) {
        None => Ok(()),
        Some(key) => Err(Error::Input(format!(
            "parameters: {key} is missing; give every parameter of the machine, or none"
        ))),
    }
}

/// `spec` with every setting; it runs as `spec` does.
///
/// # Errors
/// Bad input.
pub fn resolve(spec: &Spec) -> Result<Spec, Error> {
    let plan = Plan::of(spec)?;
    let design = registered(spec, &plan.sets)?;
    of(spec, &plan, &*design)
}

/// As [`resolve`], for a planned run.
///
/// # Errors
/// A wrong parameter; or the recording's file can no longer be read.
pub(crate) fn of(spec: &Spec, plan: &Plan, design: &AnyDesign) -> Result<Spec, Error> {
    let mut resolved = Spec {
        machine: Some(plan.machine.name.clone()),
        threads: Some(plan.threads),
        parameters: parameters(spec, plan, design)?,
        ..spec.clone()
    };
    match &plan.source {
        Source::Workload(_) => {
            resolved.runtime = Some(plan.source.runtime(spec));
            resolved.tasks = Some(plan.tasks);
            resolved.warm = Some(plan.warm_tasks);
            resolved.window = plan.sharing.map(|sharing| window(sharing.window));
            resolved.coroutines = plan.sharing.map(|sharing| sharing.library.to_string());
        }
        Source::Recording(recorded) => resolved.checksum = Some(recorded.checksum()?),
    }
    Ok(resolved)
}

fn window(window: strandline_runtime::Window) -> Window {
    match window {
        strandline_runtime::Window::Fixed(tasks) => Window::Tasks(tasks),
        strandline_runtime::Window::Auto => Window::Found(FoundBy::Auto),
    }
}

/// Every parameter that affects the run, with its value.
fn parameters(spec: &Spec, plan: &Plan, design: &AnyDesign) -> Result<BTreeMap<String, String>, Error> {
    let machine = plan.machine.describe().into_iter();
    let mut all: BTreeMap<String, String> = machine
        .map(|info| {
            let unit = if info.unit == "ns" { " ns" } else { "" };
            (key(Scope::MachineConfig, info.key), format!("{}{unit}", info.value))
        })
        .collect();
    all.extend(declared(Scope::Design, design.params(), &[], &plan.sets)?);
    if let Source::Workload(about) = &plan.source {
        all.extend(declared(Scope::Runtime, RUNTIME_PARAMS, &[], &plan.sets)?);
        let alias = about.sets(&spec.workload);
        all.extend(declared(Scope::Workload, about.params, alias, &plan.sets)?);
    } else {
        all.extend(declared(Scope::Recording, RECORDING_PARAMS, &[], &plan.sets)?);
    }
    Ok(all)
}

/// The values of declared parameters: defaults, overridden by an `alias` and by the user's settings.
fn declared(
    scope: Scope,
    params: &[Param],
    alias: &[(&'static str, &'static str)],
    sets: &Sets,
) -> Result<Vec<(String, String)>, Error> {
    let values = Params::parse(scope.name(), params, alias.iter().copied().chain(sets.of(scope)))?;
    let named = values.iter().map(|(name, value)| (key(scope, name), value.to_string()));
    Ok(named.collect())
}

fn key(scope: Scope, name: &str) -> String {
    format!("{}.{name}", scope.name())
}
