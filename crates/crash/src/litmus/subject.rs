//! What is tested: a design, as it is registered or as a test has broken it.

use strandline_design::About;
use strandline_designs::abouts;
use strandline_machine::{Machine, Options, Outcome};
use strandline_sim::{design_named, play, Error, Play};

/// A design that programs can be run under.
pub trait Subject {
    /// What it is.
    fn about(&self) -> About;

    /// Runs programs under it.
    ///
    /// # Errors
    /// The run makes no progress.
    fn play(&self, machine: &Machine, program: Play, options: Options) -> Result<Outcome, Error>;
}

/// A design of the registry.
#[derive(Clone, Debug)]
pub struct Registered {
    about: About,
    /// Its parameters, as they are set.
    sets: Vec<(&'static str, &'static str)>,
}

impl Registered {
    /// The design of this name.
    ///
    /// # Errors
    /// There is none.
    pub fn named(name: &str) -> Result<Registered, Error> {
        let found = abouts().into_iter().find(|about| about.name == name);
        found
            .map(Registered::of)
            .ok_or_else(|| strandline_sim::unknown_design(name))
    }

    /// All of them.
    #[must_use]
    pub fn all() -> Vec<Registered> {
        abouts().into_iter().map(Registered::of).collect()
    }

    fn of(about: About) -> Registered {
        Registered {
            about,
            sets: Vec::new(),
        }
    }

    /// The same design with a parameter set, which it must have (`design.KEY=VALUE` on the command line).
    #[must_use]
    pub fn with(mut self, key: &'static str, value: &'static str) -> Registered {
        self.sets.push((key, value));
        self
    }
}

impl Subject for Registered {
    fn about(&self) -> About {
        self.about
    }

    fn play(&self, machine: &Machine, program: Play, options: Options) -> Result<Outcome, Error> {
        let mut design = design_named(self.about.name)?;
        design.configure(self.sets.iter().copied())?;
        play(design, machine, program, options)
    }
}
