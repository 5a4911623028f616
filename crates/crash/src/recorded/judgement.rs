//! The model's verdict on simulated runs of a recording.

use super::lines::Lines;
use super::simulated::{kept, observed, Simulated};
use crate::explore::run::Observe;
use crate::judge::order::{judge_named, Models};
use strandline_isa::Memory;
use strandline_kernel::Cycles;
use strandline_record::order::Places;
use strandline_record::{Access, AccessKind, RecordError, Recording, SharedLines, ThreadStep};
use strandline_sim::{observe, Error, Run, Spec, Traced};

/// Maximum number of operations of a judged recording, each of which the oracle keeps: accesses of up to 8 bytes,
/// flushes and fences, without accesses to volatile memory by which threads do not communicate.
const MOST_OPERATIONS: u64 = 3_000_000;

/// Maximum number of instructions of a recording that is run only for its judgement.
const MOST_BESIDE: u64 = 20_000_000;

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
    ///
    /// # Errors
    /// The recording cannot be read.
    pub fn of(recording: &Recording) -> Result<Judgement, RecordError> {
        Judgement::up_to(recording, MOST_OPERATIONS)
    }

    /// As [`Judgement::of`], with at most so many operations.
    pub(super) fn up_to(recording: &Recording, most: u64) -> Result<Judgement, RecordError> {
        let operations = operations(recording, most)?;
        let what = match (recording.has_lock_markers(), recording.threads().len()) {
            (true, _) => "accesses, flushes and fences",
            (false, 1) => "accesses to persistent memory, flushes and fences",
            (false, _) => "accesses to memory that is persistent or shared, flushes and fences",
        };
        let not_judged = match operations > most {
            true => format!("it has more than {most} {what}"),
            false => String::new(),
        };
        Ok(Judgement {
            not_judged,
            ..Judgement::default()
        })
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

/// How runs of a recording are observed for their judgement. Of volatile memory only what threads share says something of
/// their order, unless a marker makes an access one of a lock.
pub fn observed_for(recording: &Recording) -> Observe<'static> {
    match recording.has_lock_markers() {
        true => &observe,
        false => &|spec| Run::of(spec).observe(Traced::Shared),
    }
}

/// Number of operations that the oracle keeps, of a long recording those of a part with more than `most`.
pub(super) fn operations(recording: &Recording, most: u64) -> Result<u64, RecordError> {
    let places = Places::of(recording.regions());
    let keeps_all = recording.has_lock_markers();
    let shared = SharedLines::of(recording)?;
    let keeps = |access: &Access, address: u64| {
        let is_ordering = access.kind.flushes() || access.kind == AccessKind::Atomic;
        keeps_all || is_ordering || places.of_address(address).is_some() || shared.contains(address)
    };
    let mut operations = 0;
    for thread in 0..recording.threads().len() {
        let mut stream = recording.stream(thread)?;
        while let Some(step) = stream.next()? {
            let ThreadStep::Block(executed) = step else { continue };
            let accesses = &recording.blocks()[executed.block as usize].accesses;
            let kept = accesses.iter().zip(executed.addresses);
            let kept = kept.filter(|(access, address)| keeps(access, **address));
            operations += kept.map(|(access, _)| pieces(access)).sum::<u64>();
            operations += executed.fences.len() as u64;
            if operations > most {
                return Ok(operations);
            }
        }
    }
    Ok(operations)
}

/// Operations of an access.
fn pieces(access: &Access) -> u64 {
    if access.kind.flushes() {
        1
    } else {
        u64::from(access.size.div_ceil(8)).max(1)
    }
}

/// Judges a few simulated runs of a recording, in addition to the states that the model allows.
pub fn judge_beside(recording: &Recording, spec: &Spec) -> Judgement {
    let instructions = recording.totals().instructions;
    if instructions > MOST_BESIDE {
        return not_judged(format!("{instructions} instructions are more than {MOST_BESIDE}"));
    }
    judge_runs(recording, spec, BESIDE, observed_for(recording))
}

fn not_judged(why: String) -> Judgement {
    Judgement {
        not_judged: why,
        ..Judgement::default()
    }
}

/// Judges this many runs, or gives the reason for not doing so.
pub fn judge_runs(recording: &Recording, spec: &Spec, runs: usize, observe: Observe<'_>) -> Judgement {
    let mut judgement = match Judgement::of(recording) {
        Ok(judgement) => judgement,
        Err(error) => return not_judged(error.to_string()),
    };
    if judgement.not_judged.is_empty() {
        let judged = Lines::of(recording)
            .and_then(|lines| (0..runs).try_for_each(|number| judgement.run(spec, number, &lines, observe).map(drop)));
        judgement.not_judged = judged.err().map_or_else(String::new, |error| error.to_string());
    }
    judgement
}
