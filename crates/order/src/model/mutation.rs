//! The shelf is sharp: each model made weaker by one step allows other states of some test, or stands in a list with the
//! reason.

use super::Model;
use crate::cat::{Check, Expr, ExprKind, File, Item};
use crate::litmus::{Class, Test};
use crate::states::{allowed, Allowed};
use crate::{shelf, Place};
use std::collections::{BTreeMap, BTreeSet};

/// Steps that change nothing that any test could show: the model, or `*` for each that has the step; the step; the reason.
const EQUIVALENT: [(&str, &str, &str); 0] = [];

/// One step: what is done, and the files after it.
struct Step {
    what: String,
    files: Vec<(String, File)>,
}

/// What of a model can matter to a test that belongs to it.
struct Live {
    /// Names that stand for nothing: of instructions that the model does not take, and what is made of these alone.
    idle: BTreeSet<String>,
    /// Names that checks and `pmo` are made of.
    used: BTreeSet<String>,
}

fn boxed(kind: ExprKind) -> Expr {
    let place = Place { line: 1, column: 1 };
    Expr { place, kind }
}

/// Whether an expression stands for nothing, given names that do.
fn is_idle(expr: &Expr, idle: &BTreeSet<String>) -> bool {
    match &expr.kind {
        ExprKind::Name(name) => idle.contains(name),
        ExprKind::Zero => true,
        ExprKind::All | ExprKind::Not(_) | ExprKind::Star(_) | ExprKind::Maybe(_) => false,
        ExprKind::Or(a, b) => is_idle(a, idle) && is_idle(b, idle),
        ExprKind::And(a, b) | ExprKind::Then(a, b) | ExprKind::Cross(a, b) => is_idle(a, idle) || is_idle(b, idle),
        ExprKind::Minus(a, _)
        | ExprKind::Plus(a)
        | ExprKind::Inverse(a)
        | ExprKind::Lift(a)
        | ExprKind::Domain(a)
        | ExprKind::Range(a) => is_idle(a, idle),
        ExprKind::If(_, _, otherwise) => is_idle(otherwise, idle),
    }
}

/// An expression's parts. What stands behind a variant is off.
fn parts(expr: &Expr) -> Vec<&Expr> {
    match &expr.kind {
        ExprKind::Name(_) | ExprKind::Zero | ExprKind::All => vec![],
        ExprKind::Or(a, b)
        | ExprKind::And(a, b)
        | ExprKind::Minus(a, b)
        | ExprKind::Then(a, b)
        | ExprKind::Cross(a, b) => vec![a, b],
        ExprKind::Not(a)
        | ExprKind::Plus(a)
        | ExprKind::Star(a)
        | ExprKind::Maybe(a)
        | ExprKind::Inverse(a)
        | ExprKind::Lift(a)
        | ExprKind::Domain(a)
        | ExprKind::Range(a)
        | ExprKind::If(_, _, a) => vec![a],
    }
}

/// The expression with another part in the place of one.
fn with_part(expr: &Expr, index: usize, part: Expr) -> Expr {
    let mut expr = expr.clone();
    let slot = match (&mut expr.kind, index) {
        (
            ExprKind::Or(a, _)
            | ExprKind::And(a, _)
            | ExprKind::Minus(a, _)
            | ExprKind::Then(a, _)
            | ExprKind::Cross(a, _)
            | ExprKind::Not(a)
            | ExprKind::Plus(a)
            | ExprKind::Star(a)
            | ExprKind::Maybe(a)
            | ExprKind::Inverse(a)
            | ExprKind::Lift(a)
            | ExprKind::Domain(a)
            | ExprKind::Range(a)
            | ExprKind::If(_, _, a),
            0,
        )
        | (
            ExprKind::Or(_, a)
            | ExprKind::And(_, a)
            | ExprKind::Minus(_, a)
            | ExprKind::Then(_, a)
            | ExprKind::Cross(_, a),
            1,
        ) => a,
        _ => panic!("no such part"),
    };
    **slot = part;
    expr
}

fn show(expr: &Expr) -> String {
    match &expr.kind {
        ExprKind::Name(name) => name.clone(),
        ExprKind::Zero => "0".to_owned(),
        ExprKind::All => "_".to_owned(),
        ExprKind::Or(a, b) => format!("({} | {})", show(a), show(b)),
        ExprKind::And(a, b) => format!("({} & {})", show(a), show(b)),
        ExprKind::Minus(a, b) => format!("({} \\ {})", show(a), show(b)),
        ExprKind::Then(a, b) => format!("{} ; {}", show(a), show(b)),
        ExprKind::Cross(a, b) => format!("({} * {})", show(a), show(b)),
        ExprKind::Not(a) => format!("~{}", show(a)),
        ExprKind::Plus(a) => format!("{}+", show(a)),
        ExprKind::Star(a) => format!("{}*", show(a)),
        ExprKind::Maybe(a) => format!("{}?", show(a)),
        ExprKind::Inverse(a) => format!("{}^-1", show(a)),
        ExprKind::Lift(a) => format!("[{}]", show(a)),
        ExprKind::Domain(a) => format!("domain({})", show(a)),
        ExprKind::Range(a) => format!("range({})", show(a)),
        ExprKind::If(variant, a, b) => format!("if \"{variant}\" then {} else {}", show(a), show(b)),
    }
}

/// The expression after each step that is possible in it.
fn weaker(expr: &Expr, live: &Live) -> Vec<(String, Expr)> {
    if is_idle(expr, &live.idle) {
        return Vec::new();
    }
    let mut steps = Vec::new();
    match &expr.kind {
        ExprKind::Or(a, b) => {
            for (out, rest) in [(a, b), (b, a)] {
                if !matches!(out.kind, ExprKind::Or(..)) && !is_idle(out, &live.idle) {
                    steps.push((format!("without {}", show(out)), (**rest).clone()));
                }
            }
        }
        ExprKind::Minus(a, b) if !is_idle(b, &live.idle) => {
            steps.push((format!("all of {}", show(a)), (**a).clone()));
        }
        _ => {}
    }
    for (index, part) in parts(expr).into_iter().enumerate() {
        let index = if matches!(expr.kind, ExprKind::If(..)) { 0 } else { index };
        for (what, part) in weaker(part, live) {
            // What stands behind a variant keeps its place: the part that is on takes the whole's.
            let whole = if matches!(expr.kind, ExprKind::If(..)) { part } else { with_part(expr, index, part) };
            steps.push((what, whole));
        }
    }
    steps
}

impl Live {
    fn of(model: &Model) -> Live {
        let taken = |class: &Class| model.isa.contains(class);
        let unknown = Class::ALL.iter().filter(|class| !taken(class));
        let mut idle: BTreeSet<String> = unknown.map(|class| class.name().to_owned()).collect();
        let mut bodies: BTreeMap<&str, &Expr> = BTreeMap::new();
        let mut next: Vec<&Expr> = Vec::new();
        for item in model.files.iter().flat_map(|(_, file)| &file.items) {
            match item {
                Item::Let(_, bindings) => {
                    for binding in bindings {
                        if is_idle(&binding.body, &idle) {
                            idle.insert(binding.name.clone());
                        }
                        bodies.insert(&binding.name, &binding.body);
                    }
                }
                Item::Check(check) => next.push(&check.body),
                Item::Include(..) => {}
            }
        }
        let mut used = BTreeSet::from(["pmo".to_owned()]);
        next.push(bodies["pmo"]);
        while let Some(expr) = next.pop() {
            if is_idle(expr, &idle) {
                continue;
            }
            next.extend(parts(expr));
            if let ExprKind::Name(name) = &expr.kind {
                if let Some(body) = bodies.get(name.as_str()).filter(|_| used.insert(name.clone())) {
                    next.push(body);
                }
            }
        }
        Live { idle, used }
    }
}

/// The model after each step.
fn steps(model: &Model) -> Vec<Step> {
    let live = Live::of(model);
    let mut steps = Vec::new();
    for (number, (_, file)) in model.files.iter().enumerate() {
        for (index, item) in file.items.iter().enumerate() {
            for (what, item) in steps_of(item, &live) {
                let mut files = model.files.clone();
                let items = &mut files[number].1.items;
                items.remove(index);
                items.splice(index..index, item);
                steps.push(Step { what, files });
            }
        }
    }
    steps
}

fn steps_of(item: &Item, live: &Live) -> Vec<(String, Option<Item>)> {
    let mut steps = Vec::new();
    match item {
        Item::Include(..) => {}
        Item::Let(rec, bindings) => {
            for (index, binding) in bindings.iter().enumerate() {
                if binding.name == "isa" || !live.used.contains(&binding.name) || live.idle.contains(&binding.name) {
                    continue;
                }
                let with = |body: Expr| {
                    let mut bindings = bindings.clone();
                    bindings[index].body = body;
                    Some(Item::Let(*rec, bindings))
                };
                steps.push((format!("{}: 0", binding.name), with(boxed(ExprKind::Zero))));
                let inner = weaker(&binding.body, live).into_iter();
                steps.extend(inner.map(|(what, body)| (format!("{}: {what}", binding.name), with(body))));
            }
        }
        Item::Check(check) => {
            steps.push((format!("{}: dropped", check.name), None));
            let with = |body| Some(Item::Check(Check { body, ..check.clone() }));
            let inner = weaker(&check.body, live).into_iter();
            steps.extend(inner.map(|(what, body)| (format!("{}: {what}", check.name), with(body))));
        }
    }
    steps
}

/// The model that the files are: `0` is a set where a set is wanted.
fn compiled(model: &Model, mut files: Vec<(String, File)>) -> Model {
    let none = BTreeSet::new();
    if let Ok(weaker) = Model::of(&model.name, files.clone(), &none) {
        return weaker;
    }
    for binding in files.iter_mut().flat_map(|(_, file)| &mut file.items) {
        let Item::Let(_, bindings) = binding else { continue };
        let zero = bindings.iter_mut().filter(|binding| matches!(binding.body.kind, ExprKind::Zero));
        zero.for_each(|binding| binding.body = boxed(ExprKind::Domain(Box::new(boxed(ExprKind::Zero)))));
    }
    Model::of(&model.name, files, &none).unwrap_or_else(|fault| panic!("{fault}"))
}

fn tests() -> Vec<Test> {
    let read = |entry: crate::Entry| entry.test().unwrap_or_else(|fault| panic!("{fault}"));
    let mut tests: Vec<Test> = shelf().into_iter().map(read).collect();
    tests.sort_by_cached_key(|test| (test.events(), test.name.clone()));
    tests
}

fn states(test: &Test, model: &Model) -> Allowed {
    allowed(test, model).unwrap_or_else(|fault| panic!("{}: {fault}", test.name))
}

#[test]
fn each_step_that_makes_a_model_weaker_shows() {
    let tests = tests();
    let mut listed: BTreeSet<(&str, &str)> = EQUIVALENT.iter().map(|(model, what, _)| (*model, *what)).collect();
    let mut unseen = Vec::new();
    let mut count = 0;
    for name in Model::names() {
        let model = Model::named(&name).unwrap_or_else(|fault| panic!("{fault}"));
        let own = tests.iter().filter(|test| model.takes(test));
        let own: Vec<(&Test, Allowed)> = own.map(|test| (test, states(test, &model))).collect();
        for step in steps(&model) {
            count += 1;
            let weaker = compiled(&model, step.files);
            if own.iter().any(|(test, allowed)| states(test, &weaker) != *allowed) {
                continue;
            }
            let known = |model: &str| EQUIVALENT.iter().any(|(of, what, _)| *of == model && *what == step.what);
            match [name.as_str(), "*"].into_iter().find(|model| known(model)) {
                Some(of) => {
                    listed.retain(|(model, what)| (*model, *what) != (of, step.what.as_str()));
                }
                None => unseen.push(format!("{name}: {}", step.what)),
            }
        }
    }
    assert!(count > 300, "{count} steps only");
    assert!(unseen.is_empty(), "{} of {count} steps change nothing:\n{}", unseen.len(), unseen.join("\n"));
    assert!(listed.is_empty(), "these show, or are no steps any more: {listed:?}");
}
