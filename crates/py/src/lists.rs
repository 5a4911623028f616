//! What there is: workloads, designs, machines, models.

use serde_json::{json, Value};
use strandline_machine::{preset_names, Machine};
use strandline_sim::Error;

/// The entries of a kind, each with at least a name, a paper and a summary.
pub fn of(kind: &str) -> Result<Value, Error> {
    match kind {
        "workloads" => Ok(workloads()),
        "designs" => Ok(designs()),
        "machines" => Ok(machines()),
        "models" => Ok(models()),
        other => Err(Error::input(format!(
            "list {other}: there are workloads, designs, machines, figures and models"
        ))),
    }
}

fn workloads() -> Value {
    let entry = |about: &'static strandline_workloads::About| {
        let parameters: Vec<Value> = about
            .params
            .iter()
            .map(|p| json!({"key": p.name, "default": p.default, "help": p.help, "min": p.min, "max": p.max}))
            .collect();
        let named = move |name: &str, summary: String| {
            json!({
                "name": name, "paper": about.paper, "summary": summary, "machine": about.machine,
                "runtime": "undo", "tasks": about.tasks, "parameters": parameters,
            })
        };
        let alias = about.alias.map(|alias| {
            let set: String = alias
                .set
                .iter()
                .map(|(key, value)| format!(" with {key}={value}"))
                .collect();
            named(alias.name, format!("{}{set}, by another name", about.name))
        });
        std::iter::once(named(about.name, about.line.to_owned())).chain(alias)
    };
    strandline_workloads::names().iter().flat_map(entry).collect()
}

/// Bytes of storage that a design adds to one core and one controller.
struct Storage;

impl strandline_designs::DesignVisitor for Storage {
    type Out = u64;

    fn visit<D: strandline_design::Design>(self, design: D) -> u64 {
        design.storage_bytes(1, 1)
    }
}

fn designs() -> Value {
    let entry = |about: strandline_design::About| {
        let mut needs = Vec::new();
        if about.needs.adr {
            needs.push("ADR");
        }
        if about.needs.tso {
            needs.push("TSO");
        }
        json!({
            "name": about.name, "paper": about.paper, "summary": about.summary, "needs": needs.join(", "),
            "model": about.model, "promises_recovery": about.promises_recovery,
            "storage": strandline_designs::with_design(about.name, Storage),
        })
    };
    strandline_designs::abouts().into_iter().map(entry).collect()
}

fn machines() -> Value {
    let entry = |name: &str| {
        let machine = Machine::preset(name)?;
        Some(json!({"name": machine.name, "paper": machine.paper, "summary": machine.summary}))
    };
    preset_names().into_iter().filter_map(entry).collect()
}

/// The persistency models that designs name, where each is defined, and the designs that implement it.
fn models() -> Value {
    const SOURCES: [(&str, &str); 4] = [
        ("px86", "COSPlay 2.1; StrandWeaver II-B"),
        ("so", "Delegated Persist Ordering II-A"),
        ("eadr", "ASAP II-C"),
        ("none", "COSPlay 5"),
    ];
    let designs_of = |model: &str| {
        let names = strandline_designs::abouts()
            .into_iter()
            .filter(|about| about.model == model);
        names.map(|about| about.name).collect::<Vec<_>>().join(", ")
    };
    let entry = |(name, paper): &(&str, &str)| json!({"name": name, "paper": paper, "summary": format!("implemented by {}", designs_of(name))});
    SOURCES.iter().map(entry).collect()
}
