//! The tested design: a registered one, or one that a test has broken.

use strandline_design::{About, AnyDesign};
use strandline_designs::{abouts, design};
use strandline_kernel::Param;
use strandline_machine::{MachineConfig, Options, Outcome};
use strandline_sim::{design_named, play, Error, Play};

/// Parameters of a design with their values.
pub type Sets = [(&'static str, u64)];

/// A design that can run programs.
pub trait Subject {
    /// What it is.
    fn about(&self) -> About;

    /// Whether a parameter of the design is set.
    fn is_set(&self, key: &str) -> bool;

    /// The design's unset parameters, which may have any value.
    fn free(&self) -> Vec<&'static Param> {
        let design = design(self.about().name);
        let params = design.iter().flat_map(|design| design.free_params());
        params.filter(|param| !self.is_set(param.name)).collect()
    }

    /// Whether the design, unbroken, says what a system executes before a thread moves to another core.
    fn hands_over(&self) -> bool {
        design(self.about().name).is_some_and(|design| !design.lowering().hand_over.is_empty())
    }

    /// Whether the design, unbroken, has writes stop on their way.
    fn has_stop(&self) -> bool {
        design(self.about().name).is_some_and(|design| design.wants().stop.is_some())
    }

    /// Runs programs under it, with further parameters.
    ///
    /// # Errors
    /// The run makes no progress.
    fn play(&self, machine: &MachineConfig, sets: &Sets, program: Play, options: Options) -> Result<Outcome, Error>;
}

/// A design of the registry.
#[derive(Clone, Debug)]
pub struct Registered {
    about: About,
    /// Its parameters, as they are set.
    sets: Vec<(String, String)>,
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

    /// This design with parameters set (`design.KEY=VALUE` on the command line).
    ///
    /// # Errors
    /// It has no such parameter, or the value is out of range.
    pub fn with<'a>(mut self, sets: impl Iterator<Item = (&'a str, &'a str)>) -> Result<Registered, Error> {
        self.sets
            .extend(sets.map(|(key, value)| (key.to_owned(), value.to_owned())));
        self.design(&[])?;
        Ok(self)
    }

    fn design(&self, more: &Sets) -> Result<Box<AnyDesign>, Error> {
        let mut design = design_named(self.about.name)?;
        let more: Vec<(&str, String)> = more.iter().map(|(key, value)| (*key, value.to_string())).collect();
        let own = self.sets.iter().map(|(key, value)| (key.as_str(), value.as_str()));
        design.configure(own.chain(more.iter().map(|(key, value)| (*key, value.as_str()))))?;
        Ok(design)
    }
}

impl Subject for Registered {
    fn about(&self) -> About {
        self.about
    }

    fn is_set(&self, key: &str) -> bool {
        self.sets.iter().any(|(set, _)| set == key)
    }

    fn play(&self, machine: &MachineConfig, sets: &Sets, program: Play, options: Options) -> Result<Outcome, Error> {
        play(self.design(sets)?, machine, program, options)
    }
}
