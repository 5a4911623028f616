//! Selects the tests of a family.

use super::build::{build, Built, Placement, TestPlan};
use super::canon::canonical;
use super::edge::Edge;
use super::family::Family;
use super::judge::{self, Judge, Verdict};
use super::shape::Shape;
use std::collections::BTreeSet;
use strandline_order::{Fault, Test};

/// Maximum length of a test's name.
const LONGEST: usize = 60;

/// The tests that are kept so far.
pub struct Kept {
    canonical: BTreeSet<String>,
}

/// The features of a test that a family must cover.
type Feature = (&'static str, String);

/// A test that is worth keeping.
struct FoundTest {
    features: BTreeSet<Feature>,
    name: String,
    text: String,
    canonical: String,
}

impl Kept {
    /// Only the handwritten tests, each with its text.
    pub fn by_hand(texts: &[String]) -> Result<Kept, Fault> {
        let canonical = |text: &String| Test::parse(text).map(|test| canonical(&test));
        Ok(Kept {
            canonical: texts.iter().map(canonical).collect::<Result<_, _>>()?,
        })
    }

    /// A minimal selection of new tests of a family that covers all its features: names and texts.
    pub fn of_family(&mut self, family: &Family, judge: &Judge) -> Result<Vec<(String, String)>, Fault> {
        let mut seen: BTreeSet<Feature> = BTreeSet::new();
        let mut found: Vec<FoundTest> = Vec::new();
        for shape in family.shapes() {
            for placement in family.placements(&shape) {
                let crashes = || family.crashes.iter().copied();
                let edges = combinations(family, &shape).into_iter();
                for (edges, crash) in edges.flat_map(|edges| crashes().map(move |crash| (edges.clone(), crash))) {
                    let plan = TestPlan {
                        shape: &shape,
                        edges: &edges,
                        placement: &placement,
                        synchronised: family.synchronised,
                        crash,
                    };
                    let built = build(&plan);
                    let Some((test, verdict)) = self.judged(&built, judge)? else {
                        continue;
                    };
                    let features = features(family, &plan, &verdict);
                    // The check for redundancy takes longest, so it comes last.
                    if features.is_subset(&seen) || !is_worth(&test, &built, &verdict, judge)? {
                        continue;
                    }
                    seen.extend(features.iter().cloned());
                    let canonical = canonical(&test);
                    // An instruction between two edges may belong to either: the same test covers both.
                    if let Some(same) = found.iter_mut().find(|other| other.canonical == canonical) {
                        same.features.extend(features);
                        continue;
                    }
                    let text = built.text(!verdict.of(family.main));
                    found.push(FoundTest {
                        features,
                        text: Test::parse(&text)?.to_string(),
                        name: built.name,
                        canonical,
                    });
                }
            }
        }
        thin_out(&mut found);
        self.canonical.extend(found.iter().map(|test| test.canonical.clone()));
        Ok(found.into_iter().map(|test| (test.name, test.text)).collect())
    }

    /// The test with the verdicts of the models, if it is new.
    fn judged(&self, built: &Built, judge: &Judge) -> Result<Option<(Test, Verdict)>, Fault> {
        if built.name.len() > LONGEST {
            return Ok(None);
        }
        let test = Test::parse(&built.text(true))?;
        if self.canonical.contains(&canonical(&test)) {
            return Ok(None);
        }
        let verdict = judge.verdict(&test)?;
        Ok(Some((test, verdict)))
    }
}

/// Whether the test may distinguish models and has no redundant part.
fn is_worth(test: &Test, built: &Built, verdict: &Verdict, judge: &Judge) -> Result<bool, Fault> {
    let tells = verdict.tells_apart() || judge::may_order(test, &built.claims);
    Ok(tells && judge.is_minimal(test, &built.claims, verdict)?)
}

/// Drops tests, larger ones first, whose features others cover.
fn thin_out(found: &mut Vec<FoundTest>) {
    for index in (0..found.len()).rev() {
        let others = found.iter().enumerate().filter(|(other, _)| *other != index);
        let shown: BTreeSet<&Feature> = others.flat_map(|(_, test)| &test.features).collect();
        if found[index].features.iter().all(|feature| shown.contains(feature)) {
            found.remove(index);
        }
    }
}

/// Every edge; the shape and the placement with the main model's verdict; all models' verdicts.
fn features(family: &Family, plan: &TestPlan<'_>, verdict: &Verdict) -> BTreeSet<Feature> {
    let Placement { dram, line } = plan.placement;
    let said: String = verdict
        .forbidden
        .iter()
        .map(|(_, forbidden)| if *forbidden { '-' } else { '+' })
        .collect();
    let forbidden = verdict.of(family.main);
    let alone = plan.shape.threads.len() == 1;
    let mut features = BTreeSet::from([
        ("shape", format!("{} {forbidden}", plan.shape.name)),
        ("dram", format!("{} {dram} {forbidden}", plan.shape.threads.len())),
        (
            "line",
            format!("{} {} {forbidden}", plan.shape.threads.len(), line.is_some()),
        ),
        ("said", said),
    ]);
    if let Some(crash) = plan.crash {
        features.insert(("crash", format!("{} {} {forbidden}", plan.shape.name, crash.name())));
    }
    for edge in plan.edges {
        if forbidden || alone {
            features.insert(("edge", format!("{} {forbidden}", edge.name)));
        }
        if alone {
            features.insert(("alone", format!("{} {forbidden}", edge.name)));
        }
    }
    features
}

/// The possible edges of a shape, with at most `most` that are not bare.
fn combinations(family: &Family, shape: &Shape) -> Vec<Vec<Edge>> {
    let mut all: Vec<Vec<Edge>> = vec![Vec::new()];
    for (first, last) in shape.steps() {
        let fitting: Vec<Edge> = family
            .edges
            .iter()
            .filter(|edge| edge.fits(first.direction, last.direction))
            .copied()
            .collect();
        let longer = |edges: &Vec<Edge>| {
            fitting
                .iter()
                .map(|edge| [edges.as_slice(), &[*edge]].concat())
                .collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).collect();
        all.retain(|edges| edges.iter().filter(|edge| !edge.is_bare()).count() <= family.most);
    }
    all
}
