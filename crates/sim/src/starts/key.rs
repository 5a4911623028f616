//! What tells starts apart.

use crate::run::registered;
use crate::warm::most_tasks;
use crate::{resolved, Plan, Scope, Spec};
use strandline_machine::{Accesses, MachineConfig};

/// All that decides a start: perhaps more, and never less.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    /// The run as JSON, without its design and what the machine has behind its caches.
    run: String,
    accesses: Accesses,
}

impl Key {
    /// That of a run, if it has a steady start.
    pub fn of_spec(spec: &Spec) -> Option<Key> {
        if spec.is_recording() {
            return None;
        }
        let plan = Plan::of(spec).ok()?;
        let design = registered(spec, &plan.sets).ok()?;
        let resolved = resolved::of(spec, &plan, &*design).ok()?;
        Key::of(&plan, &resolved, Accesses::of(&*design))
    }

    /// As [`Key::of_spec`], of a planned run with every setting.
    pub fn of(plan: &Plan, resolved: &Spec, accesses: Accesses) -> Option<Key> {
        most_tasks(plan)?;
        let parameters = resolved.parameters.clone().into_iter();
        let run = Spec {
            design: String::new(),
            figure: None,
            // The parameters have all that follows.
            machine: None,
            bmo: None,
            set: Vec::new(),
            parameters: parameters.filter(|(key, _)| decides(key)).collect(),
            ..resolved.clone()
        };
        Some(Key {
            run: serde_json::to_string(&run).ok()?,
            accesses,
        })
    }
}

/// Whether a start depends on the parameter of this key.
fn decides(key: &str) -> bool {
    let of = |scope: Scope| key.strip_prefix(scope.name()).and_then(|rest| rest.strip_prefix('.'));
    match of(Scope::MachineConfig).map(|key| key.split('.').next().unwrap_or(key)) {
        Some(section) => MachineConfig::CORES_AND_CACHES.contains(&section),
        None => of(Scope::Design).is_none(),
    }
}
