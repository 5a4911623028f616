//! Evaluates a model on an execution.

use super::compile::{CatStep, Program, RelExpr, SetExpr, Subject};
use crate::relation::{Relation, Set};
use crate::structure::Structure;
use std::borrow::Cow;

/// The reads-from relation, the order of the writes to each location, and what comes after a failure.
#[derive(Clone)]
pub struct Candidate {
    /// A write and its readers.
    pub rf: Relation,
    /// Writes to a location in coherence order.
    pub co: Relation,
    /// The failure of hosts, and survivors' reads after it.
    pub late: Relation,
}

/// A model's result for a candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The persist memory order, before transitive closure.
    pub pmo: Relation,
    /// Whether a flag was raised.
    pub flagged: bool,
}

/// A model on the events of one program, with all constant steps computed.
pub struct Evaluator<'m> {
    program: &'m Program,
    values: Values,
    known_sets: usize,
    known_relations: usize,
}

struct Values {
    size: usize,
    sets: Vec<Set>,
    relations: Vec<Relation>,
}

impl<'m> Evaluator<'m> {
    /// Computes what needs no candidate.
    #[must_use]
    pub fn new(program: &'m Program, structure: &Structure) -> Evaluator<'m> {
        let mut values = Values {
            size: structure.size,
            sets: structure.sets.clone(),
            relations: structure.relations.clone(),
        };
        for step in &program.known {
            values.step(step);
        }
        Evaluator {
            program,
            known_sets: values.sets.len(),
            known_relations: values.relations.len(),
            values,
        }
    }

    /// The model's result for a candidate; `None` if the candidate is not an execution of the model.
    pub fn verdict(&mut self, candidate: &Candidate) -> Option<Verdict> {
        self.values.sets.truncate(self.known_sets);
        self.values.relations.truncate(self.known_relations);
        let reads = candidate.rf.back_then(&candidate.co);
        self.values.relations.push(candidate.rf.clone());
        self.values.relations.push(candidate.co.clone());
        self.values.relations.push(reads);
        self.values.relations.push(candidate.late.clone());
        let mut flagged = false;
        for step in &self.program.rest {
            match step {
                CatStep::Check { flag, negated, subject } => {
                    let holds = self.values.holds(subject) != *negated;
                    if *flag {
                        flagged |= holds;
                    } else if !holds {
                        return None;
                    }
                }
                other => self.values.step(other),
            }
        }
        let pmo = self.values.relations[self.program.pmo].clone();
        Some(Verdict { pmo, flagged })
    }
}

impl Values {
    fn step(&mut self, step: &CatStep) {
        match step {
            CatStep::Set(expr) => {
                let set = self.set(expr).into_owned();
                self.sets.push(set);
            }
            CatStep::Relation(expr) => {
                let relation = self.relation(expr).into_owned();
                self.relations.push(relation);
            }
            CatStep::Fixpoint(bodies) => self.fixpoint(bodies),
            CatStep::Check { .. } => {}
        }
    }

    fn fixpoint(&mut self, bodies: &[RelExpr]) {
        let first = self.relations.len();
        self.relations.extend(bodies.iter().map(|_| Relation::empty(self.size)));
        loop {
            let mut grown = false;
            for (index, body) in bodies.iter().enumerate() {
                let next = self.relation(body).into_owned();
                grown |= next != self.relations[first + index];
                self.relations[first + index] = next;
            }
            if !grown {
                return;
            }
        }
    }

    fn holds(&self, subject: &Subject) -> bool {
        match subject {
            Subject::Acyclic(relation) => self.relation(relation).into_owned().is_acyclic(),
            Subject::Irreflexive(relation) => self.relation(relation).is_irreflexive(),
            Subject::NoPair(relation) => self.relation(relation).is_empty(),
            Subject::NoEvent(set) => self.set(set).is_empty(),
        }
    }

    fn set(&self, expr: &SetExpr) -> Cow<'_, Set> {
        let own = |expr| self.set(expr).into_owned();
        Cow::Owned(match expr {
            SetExpr::Slot(slot) => return Cow::Borrowed(&self.sets[*slot]),
            SetExpr::Empty => Set::empty(self.size),
            SetExpr::All => Set::all(self.size),
            SetExpr::Or(a, b) => own(a).or(&self.set(b)),
            SetExpr::And(a, b) => own(a).and(&self.set(b)),
            SetExpr::Minus(a, b) => own(a).minus(&self.set(b)),
            SetExpr::Not(a) => own(a).complement(),
            SetExpr::Domain(a) => self.relation(a).domain(),
            SetExpr::Range(a) => self.relation(a).range(),
        })
    }

    fn relation(&self, expr: &RelExpr) -> Cow<'_, Relation> {
        let own = |expr| self.relation(expr).into_owned();
        Cow::Owned(match expr {
            RelExpr::Slot(slot) => return Cow::Borrowed(&self.relations[*slot]),
            RelExpr::Empty => Relation::empty(self.size),
            RelExpr::Or(a, b) => own(a).or(&self.relation(b)),
            RelExpr::And(a, b) => own(a).and(&self.relation(b)),
            RelExpr::Minus(a, b) => own(a).minus(&self.relation(b)),
            RelExpr::Then(a, b) => match (&**a, &**b) {
                (RelExpr::Lift(set), _) => own(b).from_set(&self.set(set)),
                (_, RelExpr::Lift(set)) => own(a).to_set(&self.set(set)),
                (RelExpr::Inverse(a), _) => self.relation(a).back_then(&self.relation(b)),
                _ => self.relation(a).then(&self.relation(b)),
            },
            RelExpr::Cross(a, b) => Relation::cross(&self.set(a), &self.set(b)),
            RelExpr::Not(a) => own(a).complement(),
            RelExpr::Plus(a) => own(a).closure(),
            RelExpr::Star(a) => own(a).closure().reflexive(),
            RelExpr::Maybe(a) => own(a).reflexive(),
            RelExpr::Inverse(a) => self.relation(a).inverse(),
            RelExpr::Lift(a) => Relation::lift(&self.set(a)),
        })
    }
}
