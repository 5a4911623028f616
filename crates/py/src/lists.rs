//! Listings: workloads, designs, machines, models, keys of a record.

use serde_json::{json, Value};
use strandline_design::{Drains, Sizes};
use strandline_kernel::{Key, Param};
use strandline_machine::{preset_names, Class, MachineConfig};
use strandline_order::Model;
use strandline_sim::{Error, Record};

/// The entries of a kind, each with at least a name, a paper and a summary.
pub fn of(kind: &str) -> Result<Value, Error> {
    match kind {
        "workloads" => Ok(workloads()),
        "designs" => Ok(designs()),
        "machines" => Ok(machines()),
        "runtimes" => Ok(runtimes()),
        "models" => models(),
        "keys" => Ok(keys()),
        "classes" => Ok(classes()),
        other => Err(Error::input(format!(
            "list {other}: there are workloads, designs, machines, runtimes, figures, models, keys and classes"
        ))),
    }
}

/// The classes of cycles of a run's `why`.
fn classes() -> Value {
    let entry =
        |class: &Class| json!({"name": class.key(), "paper": null, "summary": class.what(), "orders": class.orders()});
    Class::ALL.iter().map(entry).collect()
}

fn runtimes() -> Value {
    let parameters = parameters(strandline_runtime::RUNTIME_PARAMS);
    let entry = |about: &strandline_runtime::RuntimeAbout| json!({"name": about.name, "paper": about.paper, "summary": about.line, "promises_recovery": about.promises_recovery, "parameters": parameters});
    strandline_runtime::runtimes().iter().map(entry).collect()
}

/// What `--set` takes.
fn parameters(declared: &[Param]) -> Value {
    let entry = |p: &Param| {
        json!({
            "key": p.name, "default": p.default, "help": p.help, "min": p.min, "max": p.max, "source": p.source,
            "words": p.words,
        })
    };
    declared.iter().map(entry).collect()
}

fn workloads() -> Value {
    let entry = |about: &'static strandline_workloads::About| {
        let parameters = parameters(about.params);
        let named = |name: &str, summary: String| {
            json!({
                "name": name, "paper": about.paper, "summary": summary, "machine": about.machine,
                "runtime": about.runtime, "lock": about.lock.name(), "tasks": about.tasks, "drift": about.drift,
                "parameters": parameters,
            })
        };
        let by_another_name = |alias: &strandline_workloads::Alias| {
            let set: String = alias
                .set
                .iter()
                .map(|(key, value)| format!(" with {key}={value}"))
                .collect();
            named(alias.name, format!("{}{set}, by another name", about.name))
        };
        let aliases: Vec<Value> = about.aliases.iter().map(by_another_name).collect();
        std::iter::once(named(about.name, about.line.to_owned())).chain(aliases)
    };
    strandline_workloads::names().iter().flat_map(entry).collect()
}

/// One core and one controller of the default machine.
fn one_core() -> Option<Sizes> {
    let sizes = MachineConfig::preset("cosplay")?.sizes(1);
    Some(Sizes {
        controllers: 1,
        ..sizes
    })
}

/// Bytes of storage that a design adds to a machine of these sizes.
fn storage(design: &str, sizes: &Sizes) -> Option<u64> {
    Some(strandline_designs::design(design)?.storage_bytes(sizes))
}

/// What `--set design.KEY=VALUE` takes of a design.
fn own_parameters(design: &str) -> Value {
    let own = strandline_designs::design(design).map(|design| design.params());
    parameters(own.unwrap_or_default())
}

/// The keys of the counters that only this design has.
fn own_counters(design: &str) -> Vec<&'static str> {
    let own = strandline_designs::design(design).map(|design| design.own_counters());
    own.unwrap_or_default().iter().map(|counter| counter.name).collect()
}

fn designs() -> Value {
    let sizes = one_core();
    let entry = |about: strandline_design::About| {
        let mut needs = Vec::new();
        if about.needs.adr {
            needs.push("ADR");
        }
        match about.needs.stores {
            Drains::Any => {}
            Drains::InOrder => needs.push("TSO"),
            Drains::Weak => needs.push("weak cores"),
        }
        json!({
            "name": about.name, "paper": about.paper, "summary": about.summary, "needs": needs.join(", "),
            "model": about.model, "promises_recovery": about.promises_recovery,
            "storage": sizes.as_ref().and_then(|sizes| storage(about.name, sizes)),
            "bound": about.is_bound(), "window": about.window,
            "counters": own_counters(about.name), "parameters": own_parameters(about.name),
        })
    };
    strandline_designs::abouts().into_iter().map(entry).collect()
}

fn machines() -> Value {
    let entry = |name: &str| {
        let machine = MachineConfig::preset(name)?;
        Some(json!({"name": machine.name, "paper": machine.paper, "summary": machine.summary}))
    };
    preset_names().into_iter().filter_map(entry).collect()
}

/// The keys of a record, in the documented order.
fn keys() -> Value {
    let entry = |key: Key| {
        json!({
            "name": key.name, "type": key.type_name, "unit": key.unit, "adds": key.adds,
            "summary": key.help.trim_end_matches('.'),
        })
    };
    Record::all_keys().into_iter().map(entry).collect()
}

/// The persistency models, the designs that implement each, and its variants. A model's title ends in its source.
fn models() -> Result<Value, Error> {
    let entry = |name: String| -> Result<Value, Error> {
        let model = Model::named(&name).map_err(|fault| Error::input(fault.to_string()))?;
        let (summary, paper) = match model.title().rsplit_once(" (") {
            Some((summary, paper)) => (summary, paper.trim_end_matches(')')),
            None => (model.title(), ""),
        };
        let abouts = strandline_designs::abouts();
        let designs = abouts.iter().filter(|about| about.model == name);
        Ok(json!({
            "name": name, "paper": paper, "summary": summary,
            "designs": designs.map(|about| about.name).collect::<Vec<_>>(), "variants": model.variants(),
        }))
    };
    Model::names().into_iter().map(entry).collect()
}
