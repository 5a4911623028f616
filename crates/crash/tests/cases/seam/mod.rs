//! Which answers of designs the machine's questions get in random programs, and programs that aim at answers not given before.

mod answers;
mod counted;
mod page;

pub use page::is_current;

use crate::planted::Planted;
use counted::{Answers, Counted, Noted, Taken};
use std::collections::BTreeSet;
use std::rc::Rc;
use strandline_crash::litmus::{aimed, RandomReport, Sets, Subject};
use strandline_design::About;
use strandline_machine::{MachineConfig, Options, Outcome};
use strandline_sim::{play, Error, Play};

/// Runs random programs from this seed on, which aim at pairs of answers that none before has got.
pub fn aiming(planted: &Planted, first_seed: u64, programs: u64) -> Result<RandomReport, Error> {
    aim(planted, first_seed, programs).0
}

/// As [`aiming`]: what was found, and the answers.
fn aim(planted: &Planted, first_seed: u64, programs: u64) -> (Result<RandomReport, Error>, BTreeSet<Taken>) {
    let noted = Noted::default();
    let mut seen = BTreeSet::new();
    let mut reaches = || {
        let Answers { pairs, .. } = noted.take();
        let before = seen.len();
        seen.extend(pairs);
        seen.len() > before
    };
    let watched = Watched {
        planted,
        noted: noted.clone(),
    };
    let report = aimed(&watched, first_seed, programs, &mut reaches);
    (report, seen.into_iter().map(|(_, taken)| taken).collect())
}

/// A design whose answers are noted.
struct Watched<'p> {
    planted: &'p Planted,
    noted: Noted,
}

impl Subject for Watched<'_> {
    fn about(&self) -> About {
        self.planted.about()
    }

    fn is_set(&self, key: &str) -> bool {
        self.planted.is_set(key)
    }

    fn play(&self, machine: &MachineConfig, sets: &Sets, program: Play, options: Options) -> Result<Outcome, Error> {
        let design = Counted::boxed(self.planted.with_all(sets)?, Rc::clone(&self.noted));
        play(design, machine, program, options)
    }
}
