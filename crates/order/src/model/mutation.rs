//! Checks that the shelf is sharp: weakening a model by one step allows other states of some test, or the model's file
//! explains why no test shows it: `(* No test shows `STEP`, `STEP`: the reason. *)`.

use super::{builtin, Model};
use crate::cat::{Binary, Check, Expr, ExprKind, File, Item, Unary};
use crate::litmus::{Class, Test};
use crate::states::{allowed, Allowed};
use crate::{shelf, TextPlace};
use std::collections::{BTreeMap, BTreeSet};

/// One step: its description, and the files after it.
struct Weakening {
    what: String,
    files: Vec<(String, File)>,
}

/// The parts of a model that can affect its tests.
struct Live {
    /// Names that are always empty: of instructions that the model does not accept, and derived from only these.
    idle: BTreeSet<String>,
    /// Names on which checks and `pmo` depend.
    used: BTreeSet<String>,
}

fn boxed(kind: ExprKind) -> Expr {
    let place = TextPlace { line: 1, column: 1 };
    Expr { place, kind }
}

/// Whether an expression is always empty, given names that are.
fn is_idle(expr: &Expr, idle: &BTreeSet<String>) -> bool {
    match &expr.kind {
        ExprKind::Name(name) => idle.contains(name),
        ExprKind::Zero => true,
        ExprKind::All
        | ExprKind::Unary(Unary::Not, _)
        | ExprKind::Unary(Unary::Star, _)
        | ExprKind::Unary(Unary::Maybe, _) => false,
        ExprKind::Binary(Binary::Or, a, b) => is_idle(a, idle) && is_idle(b, idle),
        ExprKind::Binary(Binary::And, a, b)
        | ExprKind::Binary(Binary::Then, a, b)
        | ExprKind::Binary(Binary::Cross, a, b) => is_idle(a, idle) || is_idle(b, idle),
        ExprKind::Binary(Binary::Minus, a, _)
        | ExprKind::Unary(Unary::Plus, a)
        | ExprKind::Unary(Unary::Inverse, a)
        | ExprKind::Unary(Unary::Lift, a)
        | ExprKind::Unary(Unary::Domain, a)
        | ExprKind::Unary(Unary::Range, a) => is_idle(a, idle),
        ExprKind::If(_, then, otherwise) => is_idle(then, idle) && is_idle(otherwise, idle),
    }
}

/// The expression with one part replaced.
fn with_part(expr: &Expr, index: usize, part: Expr) -> Expr {
    let mut expr = expr.clone();
    match &mut expr.kind {
        ExprKind::Unary(_, a) => **a = part,
        ExprKind::Binary(_, a, b) | ExprKind::If(_, a, b) => **[a, b][index] = part,
        ExprKind::Name(_) | ExprKind::Zero | ExprKind::All => panic!("no such part"),
    }
    expr
}

fn show(expr: &Expr) -> String {
    match &expr.kind {
        ExprKind::Name(name) => name.clone(),
        ExprKind::Zero => "0".to_owned(),
        ExprKind::All => "_".to_owned(),
        ExprKind::Binary(Binary::Or, a, b) => format!("({} | {})", show(a), show(b)),
        ExprKind::Binary(Binary::And, a, b) => format!("({} & {})", show(a), show(b)),
        ExprKind::Binary(Binary::Minus, a, b) => format!("({} \\ {})", show(a), show(b)),
        ExprKind::Binary(Binary::Then, a, b) => format!("{} ; {}", show(a), show(b)),
        ExprKind::Binary(Binary::Cross, a, b) => format!("({} * {})", show(a), show(b)),
        ExprKind::Unary(Unary::Not, a) => format!("~{}", show(a)),
        ExprKind::Unary(Unary::Plus, a) => format!("{}+", show(a)),
        ExprKind::Unary(Unary::Star, a) => format!("{}*", show(a)),
        ExprKind::Unary(Unary::Maybe, a) => format!("{}?", show(a)),
        ExprKind::Unary(Unary::Inverse, a) => format!("{}^-1", show(a)),
        ExprKind::Unary(Unary::Lift, a) => format!("[{}]", show(a)),
        ExprKind::Unary(Unary::Domain, a) => format!("domain({})", show(a)),
        ExprKind::Unary(Unary::Range, a) => format!("range({})", show(a)),
        ExprKind::If(variant, a, b) => format!("if \"{variant}\" then {} else {}", show(a), show(b)),
    }
}

/// The expression after each possible step in it.
fn weaker(expr: &Expr, live: &Live) -> Vec<(String, Expr)> {
    if is_idle(expr, &live.idle) {
        return Vec::new();
    }
    let mut steps = Vec::new();
    match &expr.kind {
        ExprKind::Binary(Binary::Or, a, b) => {
            for (out, rest) in [(a, b), (b, a)] {
                if !matches!(out.kind, ExprKind::Binary(Binary::Or, ..)) && !is_idle(out, &live.idle) {
                    steps.push((format!("without {}", show(out)), (**rest).clone()));
                }
            }
        }
        ExprKind::Binary(Binary::Minus, a, b) if !is_idle(b, &live.idle) => {
            steps.push((format!("all of {}", show(a)), (**a).clone()));
        }
        _ => {}
    }
    for (index, part) in expr.parts().into_iter().enumerate() {
        let inner = weaker(part, live).into_iter();
        steps.extend(inner.map(|(what, part)| (what, with_part(expr, index, part))));
    }
    steps
}

impl Live {
    fn of(model: &Model) -> Live {
        let taken = |class: &Class| model.isa.contains(class);
        let unknown = Class::all().filter(|class| !taken(class));
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
            next.extend(expr.parts());
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
fn steps(model: &Model) -> Vec<Weakening> {
    let live = Live::of(model);
    let mut steps = Vec::new();
    for (number, (_, file)) in model.files.iter().enumerate() {
        for (index, item) in file.items.iter().enumerate() {
            for (what, item) in steps_of(item, &live) {
                let mut files = model.files.clone();
                let items = &mut files[number].1.items;
                items.remove(index);
                items.splice(index..index, item);
                steps.push(Weakening { what, files });
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

/// The model of these files: `0` becomes a set where a set is required.
fn compiled(model: &Model, mut files: Vec<(String, File)>) -> Vec<Model> {
    let variants = model.variants.iter().map(|variant| BTreeSet::from([variant.clone()]));
    let all: Vec<_> = std::iter::once(BTreeSet::new()).chain(variants).collect();
    let of = |files: &[(String, File)]| -> Result<Vec<Model>, crate::Fault> {
        all.iter()
            .map(|on| Model::of(&model.name, files.to_vec(), on))
            .collect()
    };
    if let Ok(weaker) = of(&files) {
        return weaker;
    }
    for binding in files.iter_mut().flat_map(|(_, file)| &mut file.items) {
        let Item::Let(_, bindings) = binding else { continue };
        let zero = bindings
            .iter_mut()
            .filter(|binding| matches!(binding.body.kind, ExprKind::Zero));
        zero.for_each(|binding| binding.body = boxed(ExprKind::Unary(Unary::Domain, Box::new(boxed(ExprKind::Zero)))));
    }
    of(&files).unwrap_or_else(|fault| panic!("{fault}"))
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

/// Whether any test shows a difference, under any variant.
fn is_seen(own: &[(&Test, Vec<Allowed>)], weaker: &[Model]) -> bool {
    let differs = |(test, allowed): &(&Test, Vec<Allowed>)| {
        let mut variants = weaker.iter().zip(allowed);
        variants.any(|(model, allowed)| states(test, model) != *allowed)
    };
    own.iter().any(differs)
}

/// The start of a comment that names undetected steps.
const NOTE: &str = "(* No test shows ";

/// The steps that no test shows, according to the model's files.
fn noted(model: &Model) -> BTreeSet<String> {
    let texts = model.files.iter().filter_map(|(file, _)| builtin(file));
    texts.flat_map(notes).collect()
}

fn notes(text: &str) -> Vec<String> {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    text.split(NOTE).skip(1).flat_map(steps_of_note).collect()
}

/// The steps in backquotes at the start of a note; its reason follows.
fn steps_of_note(note: &str) -> Vec<String> {
    let mut steps = Vec::new();
    let mut rest = note;
    while let Some((step, after)) = rest.strip_prefix('`').and_then(|rest| rest.split_once('`')) {
        steps.push(step.to_owned());
        rest = after.strip_prefix(", ").unwrap_or(after);
    }
    assert!(
        rest.starts_with(": ") && !steps.is_empty(),
        "{NOTE}{note}: must be steps, a colon and the reason"
    );
    steps
}

#[test]
fn notes_name_steps_before_the_reason() {
    let text = "(* No test shows `a: 0`,\n `b: without c`: as `d` is. *) let x = 0 (* No test shows `e: 0`: so. *)";
    assert_eq!(notes(text), ["a: 0", "b: without c", "e: 0"]);
}

/// The steps of a model, and those that no test shows.
fn steps_not_shown(model: &Model, tests: &[Test]) -> (usize, BTreeSet<String>) {
    let variants = compiled(model, model.files.clone());
    let all = |test| variants.iter().map(|model| states(test, model)).collect();
    let own = tests.iter().filter(|test| model.takes(test));
    let own: Vec<(&Test, Vec<Allowed>)> = own.map(|test| (test, all(test))).collect();
    let steps = steps(model);
    let count = steps.len();
    let unseen = steps
        .into_iter()
        .filter(|step| !is_seen(&own, &compiled(model, step.files.clone())));
    (count, unseen.map(|step| step.what).collect())
}

#[test]
fn each_step_that_makes_a_model_weaker_shows() {
    let tests = tests();
    let mut count = 0;
    for name in Model::names() {
        let model = Model::named(&name).unwrap_or_else(|fault| panic!("{fault}"));
        let (steps, unseen) = steps_not_shown(&model, &tests);
        count += steps;
        let noted = noted(&model);
        let new: Vec<&String> = unseen.difference(&noted).collect();
        assert!(
            new.is_empty(),
            "{name}: no test shows these steps: add a test, or `{NOTE}...`: {new:#?}"
        );
        let old: Vec<&String> = noted.difference(&unseen).collect();
        assert!(
            old.is_empty(),
            "{name}: its note names what shows, or is no step any more: {old:#?}"
        );
    }
    assert!(count > 700, "{count} steps only");
}
