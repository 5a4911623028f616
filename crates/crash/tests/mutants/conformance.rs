//! Mutants under litmus tests and random programs.

use super::design::{Altered, Change};
use super::table::{Broken, Mutant};
use std::panic::{catch_unwind, AssertUnwindSafe};
use strandline_crash::litmus::{conform, random, RandomViolation, Registered, Subject};
use strandline_design::About;
use strandline_machine::{Machine, Options, Outcome, Rule};
use strandline_order::shelf;
use strandline_sim::{design_named, play, Error, Play};

/// Machines on which each litmus test is run, and random programs: the rarest mistake shows in one of several thousand.
const MACHINES: u64 = 60;
const PROGRAMS: u64 = 20_000;

/// The design that a mutant is made of, with its change and its broken rule, if any.
struct Planted {
    about: About,
    mutant: &'static Mutant,
    change: Change,
    rule: Option<Rule>,
}

impl Subject for Planted {
    fn about(&self) -> About {
        self.about
    }

    fn play(&self, machine: &Machine, program: Play, options: Options) -> Result<Outcome, Error> {
        let mut design = design_named(self.about.name)?;
        design.configure(self.mutant.design_sets())?;
        let options = Options {
            broken: self.rule,
            ..options
        };
        play(Altered::boxed(design, self.change), machine, program, options)
    }
}

fn planted(mutant: &'static Mutant) -> Planted {
    let about = Registered::named(mutant.design).expect("a registered design").about();
    let (change, rule) = match mutant.broken {
        Broken::Design(change, ..) => (change, None),
        Broken::Part(rule) => (Change::Part(rule), None),
        Broken::Machine(rule) => (Change::Nothing, Some(rule)),
        Broken::Log(_) => panic!("{}: litmus tests write no log", mutant.name),
    };
    Planted {
        about,
        mutant,
        change,
        rule,
    }
}

/// What catches the mutant: the first litmus test of the shelf that shows a forbidden state or does not end, or else a
/// random program.
pub fn caught(mutant: &'static Mutant) -> Option<String> {
    let planted = planted(mutant);
    let on_shelf = shelf().into_iter().find(|entry| {
        let test = entry.test().expect("a right test");
        let run = || conform(&planted, &test, None, MACHINES, 1);
        match catch_unwind(AssertUnwindSafe(run)) {
            Ok(Ok(found)) => found.is_some_and(|found| !found.violations.is_empty()),
            Ok(Err(Error::Stuck(_))) | Err(_) => true,
            Ok(Err(error)) => panic!("{}: {error}", mutant.name),
        }
    });
    on_shelf.map(|entry| format!("`{}`", entry.path)).or_else(|| {
        let run = || random(&planted, 1, PROGRAMS).expect("programs that can be run");
        let caught = catch_unwind(AssertUnwindSafe(run)).map_or(true, |report| !report.violations.is_empty());
        caught.then(|| "random programs".to_owned())
    })
}

/// The first violation that random programs of these seeds show, shrunk.
pub fn random_violation(mutant: &'static Mutant, first_seed: u64, programs: u64) -> Option<RandomViolation> {
    let report = random(&planted(mutant), first_seed, programs).expect("programs that can be run");
    report.violations.into_iter().next()
}
