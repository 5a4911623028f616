//! Parameters of the user: `--set SCOPE.KEY=VALUE`.

use crate::Error;
use strandline_machine::MachineConfig;

/// The owner of a parameter: the prefix of its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The simulated machine's.
    MachineConfig,
    /// The design's.
    Design,
    /// The language-level runtime's.
    Runtime,
    /// The workload's.
    Workload,
    /// A recording's.
    Recording,
}

impl Scope {
    /// All that there are.
    pub const ALL: [Scope; 5] = [
        Scope::MachineConfig,
        Scope::Design,
        Scope::Runtime,
        Scope::Workload,
        Scope::Recording,
    ];

    /// The prefix of its keys, without the dot.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Scope::MachineConfig => "machine",
            Scope::Design => "design",
            Scope::Runtime => "runtime",
            Scope::Workload => "workload",
            Scope::Recording => "recording",
        }
    }

    /// The scope of a setting, and its key without the prefix.
    fn of(key: &str) -> Option<(Scope, &str)> {
        let (name, key) = key.split_once('.')?;
        let scope = Scope::ALL.into_iter().find(|scope| scope.name() == name)?;
        Some((scope, key))
    }
}

/// The user's settings, in the user's order.
#[derive(Clone, Debug, Default)]
pub struct Sets(Vec<Set>);

#[derive(Clone, Debug)]
struct Set {
    scope: Scope,
    key: String,
    value: String,
}

impl Sets {
    /// Parses the user's settings.
    ///
    /// # Errors
    /// One of them is not `KEY=VALUE`, or has no known scope.
    pub fn read(sets: impl IntoIterator<Item = String>) -> Result<Sets, Error> {
        sets.into_iter()
            .map(|set| Set::read(&set))
            .collect::<Result<_, _>>()
            .map(Sets)
    }

    /// The settings of one scope, without the prefix.
    pub fn of(&self, scope: Scope) -> impl Iterator<Item = (&str, &str)> {
        let sets = self.0.iter().filter(move |set| set.scope == scope);
        sets.map(|set| (set.key.as_str(), set.value.as_str()))
    }

    /// Sets the machine's.
    ///
    /// # Errors
    /// An unknown key or a wrong value.
    pub fn apply(&self, machine: &mut MachineConfig) -> Result<(), Error> {
        Ok(machine.change(self.of(Scope::MachineConfig))?)
    }
}

impl Set {
    fn read(set: &str) -> Result<Set, Error> {
        let wrong = |what: &str| Error::Input(format!("--set {set}: {what}"));
        let (key, value) = set.split_once('=').ok_or_else(|| wrong("must be KEY=VALUE"))?;
        let (scope, key) = Scope::of(key).ok_or_else(|| wrong(&format!("the key must begin with {}", scopes())))?;
        Ok(Set {
            scope,
            key: key.to_owned(),
            value: value.to_owned(),
        })
    }
}

/// `machine., design. or workload.`
fn scopes() -> String {
    let names = Scope::ALL.map(|scope| format!("{}.", scope.name()));
    let [others @ .., last] = &names;
    format!("{} or {last}", others.join(", "))
}
