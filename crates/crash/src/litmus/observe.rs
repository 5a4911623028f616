//! One run of a litmus test, and its crash states.

use super::layout::Layout;
use super::program::threads;
use super::subject::Subject;
use super::timing::Timings;
use crate::corners::corners;
use std::rc::Rc;
use std::sync::Arc;
use strandline_isa::{Image, Memory, Note};
use strandline_kernel::{Cycles, Rng};
use strandline_machine::{Journal, Machine, Options};
use strandline_order::litmus::LocationKind;
use strandline_order::{State, Test};
use strandline_sim::{Error, Play};

/// Cycles after which a litmus test counts as hung.
const PATIENCE: Cycles = Cycles(5_000_000);

/// A run of a test.
pub struct Observed {
    /// The machine.
    pub machine: Machine,
    /// The design's parameters.
    pub sets: Vec<(&'static str, u64)>,
    /// The order of durable writes, the outputs, and the executed operations.
    pub journal: Journal,
    /// Memory at first.
    pub initial: Memory,
    layout: Rc<Layout>,
}

/// Runs a test under a design. The seed determines the machine, the placements, the delays and the sizes of the
/// design's structures.
///
/// # Errors
/// The run makes no progress.
pub fn observe(subject: &dyn Subject, timings: &Timings, test: &Test, seed: u64) -> Result<Observed, Error> {
    let mut rng = Rng::new(seed);
    let machine = timings.machine(&mut rng);
    let layout = Rc::new(Layout::of(test, &mut rng));
    let initial = layout.memory(test);
    let program = Play {
        cores: test.threads.len(),
        memory: initial.clone(),
        footprint: if rng.one_in(2) { layout.lines() } else { Vec::new() },
        threads: threads(test, &layout, &mut rng),
        ended: Arc::default(),
    };
    let options = Options {
        seed,
        journal: true,
        trace: true,
        patience: PATIENCE,
        ..Options::default()
    };
    let sets = corners(subject.free().into_iter(), seed);
    let outcome = subject.play(&machine, &sets, program, options)?;
    Ok(Observed {
        machine,
        sets,
        journal: outcome.journal.unwrap_or_default(),
        initial,
        layout,
    })
}

/// A state that a crash would leave.
pub struct CrashState {
    /// The values of [`Test::observed`].
    pub state: State,
    /// Number of durable events.
    pub event: usize,
}

impl Observed {
    /// Every crash state of the run, in order.
    pub fn states(&self, test: &Test) -> Vec<CrashState> {
        let mut outputs: Vec<(Cycles, u32, u8)> = Vec::new();
        for noted in self.journal.notes.iter().flatten() {
            if let Note::Output { location, value } = noted.note {
                outputs.push((noted.at, location, value as u8));
            }
        }
        outputs.sort_unstable();
        let mut outputs = outputs.into_iter().peekable();
        let image = self.initial.persistent_half();
        let mut seen_outputs = vec![0; test.locations.len()];
        let mut states = Vec::new();
        let until = self.journal.counts_until();
        let counted = self.journal.durable.partition_point(|durable| durable.at < until);
        let durable = &self.journal.durable[..counted];
        for event in 0..=durable.len() {
            if let Some(last) = event.checked_sub(1).map(|last| &durable[last]) {
                image.set_line(last.line, &last.data);
            }
            let mut keep = |seen_outputs: &[u8]| {
                let state = self.state(test, &image, seen_outputs);
                states.push(CrashState { state, event });
            };
            keep(&seen_outputs);
            let end = durable.get(event).map_or(until, |next| next.at);
            while let Some((_, location, value)) = outputs.next_if(|(at, ..)| *at < end) {
                seen_outputs[location as usize] = value;
                keep(&seen_outputs);
            }
        }
        states
    }

    fn state(&self, test: &Test, image: &Memory, seen_outputs: &[u8]) -> State {
        let value = |id| match test.location(id).kind {
            LocationKind::Output => seen_outputs[usize::from(id.0)],
            _ => image.word(self.layout.address(id)) as u8,
        };
        test.observed().into_iter().map(value).collect()
    }

    /// The run as text, for a report of a violation.
    pub fn describe(&self, test: &Test, until: usize) -> Vec<String> {
        let sets = self
            .sets
            .iter()
            .map(|(key, value)| format!("with design.{key}={value}"));
        let name = |line| {
            let here =
                |id: &_| test.location(*id).kind == LocationKind::Persistent && self.layout.address(*id).line() == line;
            let names: Vec<&str> = test
                .ids()
                .filter(here)
                .map(|id| test.location(id).name.as_str())
                .collect();
            names.join(", ")
        };
        let durable = self.journal.durable[..until].iter().enumerate();
        let durable = durable.map(|(index, durable)| {
            format!(
                "event {}, cycle {}: line of {} holds {:?}",
                index + 1,
                durable.at,
                name(durable.line),
                durable.data
            )
        });
        let outputs = self
            .journal
            .notes
            .iter()
            .flatten()
            .filter_map(|noted| match noted.note {
                Note::Output { location, value } => Some(format!(
                    "cycle {}: {} outputs {value}",
                    noted.at, test.locations[location as usize].name
                )),
                _ => None,
            });
        sets.chain(durable).chain(outputs).collect()
    }
}
