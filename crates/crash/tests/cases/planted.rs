//! A design as it is registered, or with a bug planted, under whatever a suite runs.

use crate::mutants::altered::{Altered, Change};
use crate::mutants::table::{Broken, Mutant};
use crate::quiet::quietly;
use strandline_crash::litmus::{Registered, Subject};
use strandline_design::{About, Design};
use strandline_kernel::Cycles;
use strandline_machine::{Machine, Options, Outcome};
use strandline_sim::{design_named, observe_design, play, Error, Observation, Play, Spec};

/// A design, the bug that is planted, if any, and the parameters that are set.
#[derive(Clone)]
pub struct Planted {
    about: About,
    bug: Option<Broken>,
    sets: Vec<(&'static str, String)>,
}

/// A task takes some ten thousand cycles at most; broken locks may keep a thread waiting for ever.
const PATIENCE: Cycles = Cycles(1_000_000);

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

    /// The same with parameters of the design set.
    pub fn with<V: ToString>(mut self, sets: impl IntoIterator<Item = (&'static str, V)>) -> Planted {
        self.sets
            .extend(sets.into_iter().map(|(key, value)| (key, value.to_string())));
        self
    }

    pub fn broken(&self) -> Option<Broken> {
        self.bug
    }

    /// The design with these parameters.
    pub fn design<'a>(&self, sets: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Box<dyn Design>, Error> {
        let mut design = design_named(self.about.name)?;
        design.configure(sets)?;
        Ok(match self.bug {
            Some(Broken::Design(change, ..)) => Altered::boxed(design, change),
            Some(Broken::Part(rule)) => Altered::boxed(design, Change::Part(rule)),
            _ => design,
        })
    }

    /// The machine's rule that is broken.
    pub fn machine_rule(&self) -> Option<strandline_machine::Rule> {
        match self.bug {
            Some(Broken::Machine(rule)) => Some(rule),
            _ => None,
        }
    }

    /// Runs a workload under it.
    pub fn observe(&self, spec: &Spec) -> Result<Observation, Error> {
        let broken = strandline_sim::Broken {
            machine: self.machine_rule(),
            log: match self.bug {
                Some(Broken::Log(rule)) => Some(rule),
                _ => None,
            },
            patience: Some(PATIENCE),
        };
        let sets = spec
            .set
            .iter()
            .filter_map(|set| set.strip_prefix("design.")?.split_once('='));
        observe_design(spec, self.design(sets)?, broken)
    }
}

impl Subject for Planted {
    fn about(&self) -> About {
        self.about
    }

    fn play(&self, machine: &Machine, program: Play, options: Options) -> Result<Outcome, Error> {
        let sets = self.sets.iter().map(|(key, value)| (*key, value.as_str()));
        let options = Options {
            broken: self.machine_rule(),
            ..options
        };
        play(self.design(sets)?, machine, program, options)
    }
}

/// What a run finds wrong, if anything. One that gets stuck or stops (on a count below zero, say) is wrong, too.
pub fn finding(run: impl FnOnce() -> Result<Option<String>, Error>) -> Option<String> {
    match quietly(run) {
        Ok(Ok(found)) => found,
        Ok(Err(Error::Stuck(why))) => Some(why),
        Ok(Err(error)) => panic!("{error}"),
        Err(panic) => Some(format!("the run stops: {panic}")),
    }
}
