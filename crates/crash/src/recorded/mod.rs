//! Crash states of a recording under any design, from simulated runs.
//!
//! The recording is replayed on the unchanged machine and on perturbed ones. The durable contents after each durable
//! event are a crash state. A run's events are kept only while its states are processed. So each run is simulated
//! twice: to find its states, and to write them.

mod distinct;
mod judgement;
mod lines;
mod name;
mod simulated;
mod stores;

use judgement::observed_for;
pub use judgement::{judge_beside, Disorder, Judgement};
pub use name::{Name, Point};
pub use simulated::Ran;

use crate::explore::points::Points;
use distinct::Distinct;
use lines::Lines;
use simulated::Simulated;
use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use stores::{Shown, Stores};
use strandline_design::About;
use strandline_designs::design;
use strandline_record::order::Places;
use strandline_record::states::{write_files, Image, Rules, Spot, Visit};
use strandline_record::{RecordError, Recording};
use strandline_sim::{Error, Spec};

/// Runs of a recording: one on the unchanged machine, the others on perturbed ones.
const RUNS: usize = 8;

/// Maximum number of stores to persistent memory of a recording, because a run's durable writes are kept in memory.
const MOST_STORES: u64 = 1_000_000;

/// How to do without simulated runs.
const OTHER_DESIGN: &str = "choose a design with model px86, eadr or bbb";

/// The requested crash states.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The recording.
    pub recording: PathBuf,
    /// The design's name.
    pub design: String,
    /// How many states to visit.
    pub points: Points,
    /// The seed of run 0; run n adds n.
    pub seed: u64,
    /// Only this state.
    pub only: Option<Name>,
    /// Whether the states before and after the program are visited, too.
    pub edges: bool,
}

/// What the runs have shown.
#[derive(Clone, Debug, Default)]
pub struct ShownPlan {
    /// Number of distinct crash states, including the one before the program.
    pub states: u64,
    /// Number of visited states.
    pub visits: u64,
    /// The runs.
    pub runs: Vec<Ran>,
    /// The model's verdict on the runs.
    pub judgement: Judgement,
    /// Number of tasks that started, by the program's markers.
    pub tasks: u64,
    /// Instructions that do too little or nothing, with counts.
    pub audit: BTreeMap<Spot, u64>,
}

/// The source of a visited state.
#[derive(Clone, Debug)]
pub struct Origin {
    /// The run.
    pub ran: Ran,
    /// The durable events before the crash.
    pub event: usize,
    /// The time of the last of them; `None` before the first.
    pub at_cycles: Option<u64>,
    /// What it made durable.
    pub line: Option<String>,
}

/// The crash states of a recording, one after the other.
pub struct SimulatedStates {
    spec: Spec,
    recording: Arc<Recording>,
    lines: Lines,
    initial: Image,
    stores: Stores,
    plan: ShownPlan,
    edges: VecDeque<Name>,
    left: VecDeque<Point>,
    at: Option<At>,
}

/// A run, and memory after some of its events.
struct At {
    run: Simulated,
    done: usize,
    image: Image,
    shown: Shown,
}

impl SimulatedStates {
    /// Runs the recording, finds its crash states and selects those to visit; tells the share of the runs that are made.
    ///
    /// # Errors
    /// Bad input, a recording that is too long, or a run without progress.
    pub fn new(asked: &Asked, told: &mut dyn FnMut(f64)) -> Result<SimulatedStates, Error> {
        let recording = Arc::new(Recording::open(&asked.recording).map_err(wrong)?);
        let named = asked.recording.display();
        refuse(&recording).map_err(|why| Error::Input(format!("{named}: {why}")))?;
        let lines = Lines::of(&recording);
        let lines = lines.map_err(|why| Error::Input(format!("{named}: {why}: {OTHER_DESIGN}")))?;
        let initial = Image::initial(&recording, lines.places()).map_err(wrong)?;
        let stores = Stores::of(&recording, lines.places(), initial.clone()).map_err(wrong)?;
        let judgement = Judgement::of(&recording).map_err(wrong)?;
        let mut states = SimulatedStates {
            spec: spec(&asked.recording, &asked.design, asked.seed),
            recording,
            lines,
            initial,
            plan: ShownPlan {
                tasks: stores.tasks(),
                audit: stores.audit.clone(),
                judgement,
                ..ShownPlan::default()
            },
            stores,
            edges: VecDeque::new(),
            left: VecDeque::new(),
            at: None,
        };
        match asked.only {
            None => states.all(asked, told)?,
            Some(Name::At(point)) => states.only(point)?,
            Some(edge) => states.edges.push_back(edge),
        }
        states.plan.visits = (states.edges.len() + states.left.len()) as u64;
        Ok(states)
    }

    fn all(&mut self, asked: &Asked, told: &mut dyn FnMut(f64)) -> Result<(), Error> {
        let (mut distinct, mut points) = (Distinct::default(), Vec::new());
        for number in 0..RUNS {
            points.extend(self.run(number, &mut distinct)?);
            told((number + 1) as f64 / RUNS as f64);
        }
        self.plan.states = distinct.count();
        if asked.edges {
            self.edges = [Name::Initial, Name::Final].into();
        }
        let chosen = match points.len() {
            0 => Vec::new(),
            count => asked.points.of(count - 1, asked.seed),
        };
        self.left = chosen.into_iter().map(|index| points[index]).collect();
        Ok(())
    }

    fn only(&mut self, point: Point) -> Result<(), Error> {
        if point.run >= RUNS {
            return Err(Error::Input(format!(
                "--replay {point}: there are only the runs 0 to {}",
                RUNS - 1
            )));
        }
        let mut distinct = Distinct::default();
        self.run(point.run, &mut distinct)?;
        self.plan.states = distinct.count();
        let disorders = &mut self.plan.judgement.disorders;
        disorders.retain(|disorder| disorder.event == point.event);
        let events = self.plan.runs[0].events;
        if point.event > events {
            return Err(Error::Input(format!(
                "--replay {point}: run {} has only {events} durable events; give the --seed of the failure",
                point.run
            )));
        }
        self.left.push_back(point);
        Ok(())
    }

    /// Makes a run; returns its new states.
    fn run(&mut self, number: usize, distinct: &mut Distinct) -> Result<Vec<Point>, Error> {
        let judgement = &mut self.plan.judgement;
        let (run, initial) = match judgement.not_judged.is_empty() {
            true => judgement.run(&self.spec, number, &self.lines, observed_for(&self.recording))?,
            false => Simulated::with_initial(&self.spec, number)?,
        };
        self.plan.runs.push(run.ran.clone());
        Ok(distinct.of_run(number, &run.journal, &initial))
    }

    /// What there is.
    pub fn plan(&self) -> &ShownPlan {
        &self.plan
    }

    /// The recording.
    pub fn recording(&self) -> &Recording {
        &self.recording
    }

    /// Its files of persistent memory.
    pub fn places(&self) -> &Places {
        self.lines.places()
    }

    /// Writes the next state into the folder that `folder` derives from its name, and returns the state and its source.
    /// The states before and after the program come first, then the others by run and event.
    ///
    /// # Errors
    /// The state cannot be written, or does not exist.
    pub fn next(&mut self, folder: &mut dyn FnMut(&str) -> PathBuf) -> Result<Option<(Visit, Option<Origin>)>, Error> {
        if let Some(edge) = self.edges.pop_front() {
            let image = if edge == Name::Initial {
                &self.initial
            } else {
                &self.stores.last
            };
            let done = match edge {
                Name::Initial => vec![0; self.stores.done().len()],
                _ => self.stores.done(),
            };
            let name = edge.to_string();
            write_files(self.lines.places(), image, &[], folder(&name).as_path()).map_err(wrong)?;
            let visit = Visit {
                name,
                done,
                ..Visit::default()
            };
            return Ok(Some((visit, None)));
        }
        match self.left.pop_front() {
            Some(point) => self.visit(point, &folder(&point.to_string())).map(Some),
            None => Ok(None),
        }
    }

    fn visit(&mut self, point: Point, folder: &Path) -> Result<(Visit, Option<Origin>), Error> {
        let mut at = match self.at.take() {
            Some(at) if at.run.ran.number == point.run => at,
            _ => At {
                run: Simulated::of(&self.spec, point.run)?,
                done: 0,
                image: self.initial.clone(),
                shown: Shown::new(&self.stores, &self.initial),
            },
        };
        at.go_to(point.event, &self.lines, &self.stores);
        write_files(self.lines.places(), &at.image, &[], folder).map_err(wrong)?;
        let balance = at.shown.balance(&self.stores);
        let last = at.run.durable(point.event);
        let origin = Origin {
            ran: at.run.ran.clone(),
            event: point.event,
            at_cycles: last.map(|last| last.at.0),
            line: last.map(|last| self.lines.name_of(last.line)),
        };
        let visit = Visit {
            name: point.to_string(),
            tasks: balance.tasks,
            done: balance.done,
            differs: balance.lines,
            has: balance.has,
            lacks: balance.lacks,
            ..Visit::default()
        };
        self.at = Some(at);
        Ok((visit, Some(origin)))
    }
}

impl At {
    fn go_to(&mut self, event: usize, lines: &Lines, stores: &Stores) {
        for durable in &self.run.journal.durable[self.done..event] {
            for piece in lines.pieces(durable.line, &durable.data) {
                self.image.store(&piece);
                self.shown.see(stores, &piece);
            }
        }
        self.done = event;
    }
}

/// The rules by which the crash states of a recording under a design are enumerated, and whether runs are simulated for
/// others. A design without a promise of recovery has what its runs show.
///
/// A simulated run hardly shows that a line is lost which nobody flushes: caches seldom evict it in time. So a design whose
/// programs must flush has the states of `px86`, too. Its model allows them: its fences are stronger than `sfence` only in
/// what they wait for, and make durable no more than what `px86` takes for durable after a flush and a fence.
#[must_use]
pub fn sources(about: &About) -> (Option<Rules>, bool) {
    let flushes = || design(about.name).is_some_and(|design| design.lowering().flush.is_some());
    match Rules::of_model(about.model) {
        _ if !about.promises_recovery => (None, true),
        None if flushes() => (Some(Rules::Flushed), true),
        rules => (rules, rules.is_none()),
    }
}

/// Runs of a recording under a design.
pub fn spec(recording: &Path, design: &str, seed: u64) -> Spec {
    Spec {
        seed,
        // A crash state is one of the program as it is.
        set: vec!["recording.fences=recorded".to_owned()],
        ..Spec::new(recording.to_string_lossy(), design)
    }
}

fn wrong(error: RecordError) -> Error {
    Error::Input(error.to_string())
}

fn refuse(recording: &Recording) -> Result<(), String> {
    let stores = recording.totals().persistent_stores;
    if stores > MOST_STORES {
        return Err(format!(
            "has {stores} stores to persistent memory, and simulated runs support at most {MOST_STORES}: record less with --from and --max-instructions, or {OTHER_DESIGN}"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
