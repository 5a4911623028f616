//! What tells starts apart.

use crate::run::registered;
use crate::warm::most_tasks;
use crate::{resolved, Plan, Scope, Spec};
use strandline_machine::Accesses;

/// All that decides a start: more than it heeds, such as the machine's controllers, and never less.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    /// The run with every setting but those of its design, as JSON.
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
        let of_design = format!("{}.", Scope::Design.name());
        let parameters = resolved.parameters.clone().into_iter();
        let run = Spec {
            design: String::new(),
            // The parameters have them.
            set: Vec::new(),
            figure: None,
            parameters: parameters.filter(|(key, _)| !key.starts_with(&of_design)).collect(),
            ..resolved.clone()
        };
        Some(Key {
            run: serde_json::to_string(&run).ok()?,
            accesses,
        })
    }
}
