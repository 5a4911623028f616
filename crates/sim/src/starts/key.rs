//! What tells starts apart.

use crate::run::registered;
use crate::warm::most_tasks;
use crate::{resolved, Plan, Scope, Source, Spec};
use strandline_machine::{Accesses, MachineConfig};

/// All that decides a start: perhaps more, and never less.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Key {
    /// Of filled memory: the workload, its parameters and the plan that it is built for, in words.
    Filled(String),
    /// Of a steady start.
    Steady {
        /// The run as JSON, without its design and what the machine has behind its caches.
        run: String,
        /// How the design lowers accesses.
        accesses: Accesses,
    },
}

/// The keys of what a run begins with.
pub struct Keys {
    /// Its filled memory.
    pub filled: Key,
    /// The steady start over it, if it has one.
    pub steady: Option<Key>,
}

impl Keys {
    /// Those of a run, unless it is a recording.
    pub fn of_spec(spec: &Spec) -> Option<Keys> {
        if spec.is_recording() {
            return None;
        }
        let plan = Plan::of(spec).ok()?;
        let design = registered(spec, &plan.sets).ok()?;
        let resolved = resolved::of(spec, &plan, &*design).ok()?;
        Keys::of(&plan, &resolved, Accesses::of(&*design))
    }

    /// As [`Keys::of_spec`], of a planned run with every setting.
    pub fn of(plan: &Plan, resolved: &Spec, accesses: Accesses) -> Option<Keys> {
        let Source::Workload(about) = &plan.source else {
            return None;
        };
        let parameters = resolved.parameters.iter();
        let own: Vec<_> = parameters.filter(|(key, _)| is_of(key, Scope::Workload)).collect();
        let built = plan.program(resolved.seed).filling();
        Some(Keys {
            filled: Key::Filled(format!("{} {own:?} {built:?}", about.name)),
            steady: most_tasks(plan).and_then(|_| Key::steady(resolved, accesses)),
        })
    }

    /// All of them.
    pub fn all(self) -> impl Iterator<Item = Key> {
        std::iter::once(self.filled).chain(self.steady)
    }
}

impl Key {
    fn steady(resolved: &Spec, accesses: Accesses) -> Option<Key> {
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
        Some(Key::Steady {
            run: serde_json::to_string(&run).ok()?,
            accesses,
        })
    }
}

/// Whether a steady start depends on the parameter of this key.
fn decides(key: &str) -> bool {
    match within(key, Scope::MachineConfig).map(|key| key.split('.').next().unwrap_or(key)) {
        Some(section) => MachineConfig::CORES_AND_CACHES.contains(&section),
        None => !is_of(key, Scope::Design),
    }
}

fn is_of(key: &str, scope: Scope) -> bool {
    within(key, scope).is_some()
}

/// What follows the scope in the key of a parameter.
fn within(key: &str, scope: Scope) -> Option<&str> {
    key.strip_prefix(scope.name())?.strip_prefix('.')
}
