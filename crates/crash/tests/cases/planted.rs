//! A design, registered or with a planted bug, in any suite.

use crate::mutants::altered::Altered;
use crate::mutants::table::{Broken, Mutant};
use crate::quiet::quietly;
use strandline_crash::litmus::{Registered, Sets, Subject};
use strandline_crash::FaultKind;
use strandline_design::{About, AnyDesign};
use strandline_kernel::Cycles;
use strandline_machine::{MachineConfig, Options, Outcome};
use strandline_rules::{breaking, Breakable};
use strandline_sim::{design_named, play, promises_recovery, Error, Observation, Play, Run, Spec, Traced};

/// A design, its planted bug, if any, and its parameters.
#[derive(Clone)]
pub struct Planted {
    about: About,
    bug: Option<Broken>,
    sets: Vec<(&'static str, String)>,
}

/// A task takes at most some ten thousand cycles, and a hundred times as many where a buffer of one entry sends each store
/// with 800 cycles of jitter. Behind a broken lock it never ends.
const PATIENCE: Cycles = Cycles(4_000_000);

impl Planted {
    /// The design as it is.
    pub fn unbroken(design: &str) -> Planted {
        Planted {
            about: Registered::named(design).expect("a registered design").about(),
            bug: None,
            sets: Vec::new(),
        }
    }

    /// The design of a mutant, broken.
    pub fn of(mutant: &Mutant) -> Planted {
        Planted {
            bug: Some(mutant.broken),
            ..Planted::unbroken(mutant.design)
        }
    }

    /// This bug, with parameters of the design.
    pub fn with<V: ToString>(mut self, sets: impl IntoIterator<Item = (&'static str, V)>) -> Planted {
        self.sets
            .extend(sets.into_iter().map(|(key, value)| (key, value.to_string())));
        self
    }

    pub fn broken(&self) -> Option<Broken> {
        self.bug
    }

    /// The design with these parameters.
    pub fn design<'a>(&self, sets: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Box<AnyDesign>, Error> {
        let mut design = design_named(self.about.name)?;
        design.configure(sets)?;
        Ok(match self.bug {
            Some(Broken::Design(change, ..)) => Altered::boxed(design, change),
            _ => design,
        })
    }

    /// The design with its own parameters and these.
    pub fn with_all(&self, sets: &Sets) -> Result<Box<AnyDesign>, Error> {
        let sets: Vec<_> = sets.iter().map(|(key, value)| (*key, value.to_string())).collect();
        let all = self.sets.iter().chain(&sets).map(|(key, value)| (*key, value.as_str()));
        self.design(all)
    }

    /// The broken rule, if code tests it.
    pub fn rule(&self) -> Option<Breakable> {
        match self.bug {
            Some(Broken::Rule(rule)) => Some(rule),
            _ => None,
        }
    }

    /// Whether the states of a run must recover.
    pub fn promises_recovery(&self, spec: &Spec) -> bool {
        promises_recovery(&self.about, spec)
    }

    /// Runs a workload under it.
    pub fn observe(&self, spec: &Spec) -> Result<Observation, Error> {
        self.observe_for(spec, PATIENCE)
    }

    /// As [`Planted::observe`], until no task ends for `patience`.
    pub fn observe_for(&self, spec: &Spec, patience: Cycles) -> Result<Observation, Error> {
        let sets = spec
            .set
            .iter()
            .filter_map(|set| set.strip_prefix("design.")?.split_once('='));
        let run = Run {
            design: Some(self.design(sets)?),
            patience: Some(patience),
            ..Run::of(spec)
        };
        run.observe(Traced::Everything)
    }
}

impl Subject for Planted {
    fn about(&self) -> About {
        self.about
    }

    fn is_set(&self, key: &str) -> bool {
        self.sets.iter().any(|(set, _)| *set == key)
    }

    fn play(&self, machine: &MachineConfig, sets: &Sets, program: Play, options: Options) -> Result<Outcome, Error> {
        play(self.with_all(sets)?, machine, program, options)
    }
}

/// What was found wrong.
#[derive(Debug, PartialEq, Eq)]
pub struct FoundFault {
    /// The kind, in one word; `None` if the run panicked (an underflow, for example), which reports nothing.
    pub kind: Option<FaultKind>,
    /// In words.
    pub text: String,
}

impl FoundFault {
    pub fn new(kind: FaultKind, text: String) -> FoundFault {
        FoundFault { kind: Some(kind), text }
    }
}

/// The fault of one of its runs, if any. A run that hangs or panics is a fault, too.
pub fn finding(planted: &Planted, run: impl FnOnce() -> Result<Option<FoundFault>, Error>) -> Option<FoundFault> {
    match quietly(|| breaking(planted.rule(), run)) {
        Ok(Ok(found)) => found,
        Ok(Err(Error::Stuck { dead, text })) => Some(FoundFault::new(FaultKind::of_stuck(dead), text)),
        Ok(Err(error)) => panic!("{error}"),
        Err(panic) => Some(FoundFault {
            kind: None,
            text: format!("the run stops: {panic}"),
        }),
    }
}
