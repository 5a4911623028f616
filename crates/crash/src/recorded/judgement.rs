//! The model's verdict on simulated runs of a recording.

use super::lines::Lines;
use super::simulated::{kept, observed, Simulated};
use crate::explore::run::Observe;
use crate::judge::order::{judge_named, Models};
use strandline_isa::Memory;
use strandline_kernel::Cycles;
use strandline_record::Recording;
use strandline_sim::{observe, Error, Spec};

/// Maximum number of instructions of a judged recording: the oracle keeps each of their accesses.
const MOST_INSTRUCTIONS: u64 = 4_000_000;

/// Number of judged runs if the model yields the crash states.
const BESIDE: usize = 2;

/// The design's model's verdict on runs.
#[derive(Clone, Debug, Default)]
pub struct Judgement {
    /// Number of judged runs.
    pub judged: usize,
    /// Why other runs were not judged; empty if all were.
    pub not_judged: String,
    /// The first forbidden crash state of each run.
    pub disorders: Vec<Disorder>,
}

/// A crash state that the design's model forbids.
#[derive(Clone, Debug)]
pub struct Disorder {
    /// What came of the run.
    pub ran: super::Ran,
    /// The durable events before the crash.
    pub event: usize,
    /// When power fails.
    pub at: Cycles,
    /// What is wrong.
    pub what: String,
}

impl Judgement {
    /// No verdict yet; it says if there will be none.
    pub fn of(recording: &Recording) -> Judgement {
        let instructions = recording.totals().instructions;
        let not_judged = match instructions > MOST_INSTRUCTIONS {
            true => format!("{instructions} instructions are more than {MOST_INSTRUCTIONS}"),
            false => String::new(),
        };
        Judgement {
            not_judged,
            ..Judgement::default()
        }
    }

    /// Makes the `number`-th run and judges it; returns the run, and memory before it.
    ///
    /// # Errors
    /// Bad input, or a run without progress.
    pub fn run(
        &mut self,
        spec: &Spec,
        number: usize,
        lines: &Lines,
        observe: Observe<'_>,
    ) -> Result<(Simulated, Memory), Error> {
        let (shaken, run) = observed(spec, number, observe)?;
        let mut models = Models::named(run.about.model)?;
        let model = models.on(&run.machine)?;
        let found = judge_named(model, &run.journal, &run.initial, &|addr| lines.name(addr));
        let simulated = kept(number, shaken, run.journal);
        self.judged += 1;
        self.disorders.extend(found.map(|found| Disorder {
            ran: simulated.ran.clone(),
            event: found.event,
            at: found.at,
            what: format!("model {}: {}", model.name(), found.what),
        }));
        Ok((simulated, run.initial))
    }
}

/// Judges a few simulated runs of a recording, in addition to the states that the model allows.
pub fn judge_beside(recording: &Recording, spec: &Spec) -> Judgement {
    judge_runs(recording, spec, BESIDE, &observe)
}

/// Judges this many runs, or gives the reason for not doing so.
pub fn judge_runs(recording: &Recording, spec: &Spec, runs: usize, observe: Observe<'_>) -> Judgement {
    let mut judgement = Judgement::of(recording);
    if judgement.not_judged.is_empty() {
        let judged = Lines::of(recording)
            .and_then(|lines| (0..runs).try_for_each(|number| judgement.run(spec, number, &lines, observe).map(drop)));
        judgement.not_judged = judged.err().map_or_else(String::new, |error| error.to_string());
    }
    judgement
}
