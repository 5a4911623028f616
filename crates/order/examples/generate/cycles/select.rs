//! Which of a family's tests are kept.

use super::build::{build, Built, Placement, Plan};
use super::canon::canonical;
use super::edge::Edge;
use super::family::Family;
use super::judge::{Judge, Verdict};
use super::shape::Shape;
use std::collections::BTreeSet;
use strandline_order::{shelf, Fault, Test};

/// The longest name of a test.
const LONGEST: usize = 60;

/// What the tests that were kept so far are.
pub struct Kept {
    canonical: BTreeSet<String>,
}

/// What a test can be the first to show, in its family.
type Feature = (&'static str, String);

impl Kept {
    /// The tests that were written by hand.
    pub fn beside_the_shelf() -> Result<Kept, Fault> {
        let by_hand = |path: &str| path.starts_with("papers/") || path.starts_with("classic/");
        let mut texts = BTreeSet::new();
        for entry in shelf().iter().filter(|entry| by_hand(entry.path)) {
            texts.insert(canonical(&entry.test()?));
        }
        Ok(Kept { canonical: texts })
    }

    /// The tests of a family that are minimal, new, and show what no smaller one has shown: names and texts.
    pub fn of_family(&mut self, family: &Family, judge: &Judge) -> Result<Vec<(String, String)>, Fault> {
        let mut seen: BTreeSet<Feature> = BTreeSet::new();
        let mut kept = Vec::new();
        for (name, accesses) in family.shapes {
            let shape = Shape::of(name, accesses);
            for placement in family.placements(&shape) {
                for edges in combinations(family, &shape) {
                    let plan = Plan {
                        shape: &shape,
                        edges: &edges,
                        placement: &placement,
                        synchronised: family.synchronised,
                    };
                    let built = build(&plan);
                    let Some((test, verdict)) = self.worth(&built, judge)? else {
                        continue;
                    };
                    let features = features(&plan, &verdict);
                    if features.iter().all(|feature| seen.contains(feature)) {
                        continue;
                    }
                    seen.extend(features);
                    self.canonical.insert(canonical(&test));
                    let text = built.text(!verdict.of(family.main));
                    kept.push((built.name, Test::parse(&text)?.to_string()));
                }
            }
        }
        Ok(kept)
    }

    /// The test, if it is new, tells models apart and has nothing idle in it.
    fn worth(&self, built: &Built, judge: &Judge) -> Result<Option<(Test, Verdict)>, Fault> {
        if built.name.len() > LONGEST {
            return Ok(None);
        }
        let test = Test::parse(&built.text(true))?;
        if self.canonical.contains(&canonical(&test)) {
            return Ok(None);
        }
        let verdict = judge.verdict(&test)?;
        let worth = (verdict.tells_apart() || verdict.is_of_one_machine()) && judge.is_minimal(&test, &built.claims, &verdict)?;
        Ok(worth.then_some((test, verdict)))
    }
}

/// Every edge with the links around it; and the shape and the placement with what the models say.
fn features(plan: &Plan<'_>, verdict: &Verdict) -> Vec<Feature> {
    let Placement { dram, line } = plan.placement;
    let said: String = verdict.forbidden.iter().map(|(_, forbidden)| if *forbidden { '-' } else { '+' }).collect();
    let mut features = vec![("shape", format!("{} {line:?} {said}", plan.shape.name))];
    let mut edges = plan.edges.iter();
    for (thread, accesses) in plan.shape.threads.iter().enumerate() {
        let previous = (thread + plan.shape.threads.len() - 1) % plan.shape.threads.len();
        let links = (plan.shape.link(previous), plan.shape.link(thread));
        let around = |link: Option<(super::shape::Link, char)>| link.map_or("crash", |(link, _)| link.name());
        for pair in accesses.windows(2) {
            let Some(edge) = edges.next() else { continue };
            let kinds = (pair[0].kind, pair[1].kind);
            features.push(("edge", format!("{} {kinds:?} {} {} {dram}", edge.name, around(links.0), around(links.1))));
        }
    }
    features
}

/// The edges that can stand in a shape, with no more than so many that are not bare.
fn combinations(family: &Family, shape: &Shape) -> Vec<Vec<Edge>> {
    let mut all: Vec<Vec<Edge>> = vec![Vec::new()];
    for (first, last) in shape.steps() {
        let fitting: Vec<Edge> = family.edges.iter().filter(|edge| edge.fits(first.kind, last.kind)).copied().collect();
        let longer = |edges: &Vec<Edge>| fitting.iter().map(|edge| [edges.as_slice(), &[*edge]].concat()).collect::<Vec<_>>();
        all = all.iter().flat_map(longer).collect();
        all.retain(|edges| edges.iter().filter(|edge| !edge.is_bare()).count() <= family.most);
    }
    all
}
