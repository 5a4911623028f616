//! Mistakes in models.

use super::check;
use std::collections::BTreeSet;
use strandline_order::Model;

/// The error line of a wrong model.
fn of_model(text: &str) -> String {
    match Model::parse("own", text, &BTreeSet::new()) {
        Ok(_) => panic!("nothing is wrong with\n{text}"),
        Err(fault) => fault.to_string(),
    }
}

/// The error line of a model with an order, and a mistake before it.
fn before_pmo(text: &str) -> String {
    of_model(&format!("{text}\nlet pmo = po"))
}

#[test]
fn of_a_models_words() {
    check(
        of_model,
        &[
            (
                "",
                "own.cat: a model must define the relation `pmo`, its persist memory order",
            ),
            (
                "\"no end\nlet pmo = po",
                "own.cat:1:1: this text has no closing quotation mark in its line",
            ),
            (
                "(* (* *)\nlet pmo = po",
                "own.cat:1:1: this comment has no end: close it with *)",
            ),
            (
                "let pmo = po\n  @",
                "own.cat:2:3: a `@` has no meaning here: take it out",
            ),
            (
                "let pmo = po ^ -1",
                "own.cat:1:14: a `^` has no meaning here: take it out",
            ),
            (
                "let pmo = po \"x\"",
                "own.cat:1:14: expected `let`, `include`, `flag`, `acyclic`, `irreflexive` or `empty`, found \"x\"",
            ),
            (
                "relation pmo = po",
                "own.cat:1:1: expected `let`, `include`, `flag`, `acyclic`, `irreflexive` or `empty`, found `relation`",
            ),
            ("let = po", "own.cat:1:5: expected a name, found `=`"),
            ("let let = po", "own.cat:1:5: expected a name, found `let`"),
            ("let pmo po", "own.cat:1:9: expected `=`, found `po`"),
            ("let pmo =", "own.cat:1:10: expected an expression, found the end"),
            ("let pmo = po ;", "own.cat:1:15: expected an expression, found the end"),
            ("let pmo = (po", "own.cat:1:14: expected `)`, found the end"),
            ("let pmo = [W", "own.cat:1:13: expected `]`, found the end"),
            (
                "let pmo = po)",
                "own.cat:1:13: expected `let`, `include`, `flag`, `acyclic`, `irreflexive` or `empty`, found `)`",
            ),
            ("let pmo = domain W", "own.cat:1:18: expected `(`, found `W`"),
            (
                "let pmo = if weak then po else rf",
                "own.cat:1:14: expected a variant in quotation marks, found `weak`",
            ),
            (
                "let pmo = if \"weak\" po else rf",
                "own.cat:1:21: expected `then`, found `po`",
            ),
            (
                "let pmo = if \"weak\" then po",
                "own.cat:1:28: expected `else`, found the end",
            ),
            ("let pmo = po and", "own.cat:1:17: expected a name, found the end"),
            (
                "flag po",
                "own.cat:1:6: expected `acyclic`, `irreflexive` or `empty`, found `po`",
            ),
            ("acyclic", "own.cat:1:8: expected an expression, found the end"),
            ("acyclic po as", "own.cat:1:14: expected a name, found the end"),
            ("acyclic po as 0", "own.cat:1:15: expected a name, found `0`"),
            (
                "include lib",
                "own.cat:1:9: expected the name of a file in quotation marks, found `lib`",
            ),
        ],
    );
}

#[test]
fn of_a_models_names_and_types() {
    check(
        before_pmo,
        &[
            (
                "let a = b",
                "own.cat:1:9: `b` is not defined before here: define it with `let`, or include the file that does",
            ),
            (
                "let a = po\nlet c = po | [W] ; a-b",
                "own.cat:2:20: `a-b` is not defined before here: define it with `let`, or include the file that does",
            ),
            (
                "let a = b\nlet b = po",
                "own.cat:1:9: `b` is not defined before here: define it with `let`, or include the file that does",
            ),
            (
                "let a = po and a = rf",
                "own.cat:1:16: `a` is defined twice in one `let`",
            ),
            (
                "let rec a = po and a = rf",
                "own.cat:1:20: `a` is defined twice in one `let`",
            ),
            (
                "let a = po and b = a",
                "own.cat:1:20: `a` is not defined before here: define it with `let`, or include the file that does",
            ),
            (
                "let a = [po]",
                "own.cat:1:10: a set is wanted here (`domain(r)` and `range(r)` make a set of a relation)",
            ),
            (
                "let a = W ; po",
                "own.cat:1:9: a relation is wanted here (`[s]` makes a relation of a set)",
            ),
            (
                "let a = po | W",
                "own.cat:1:14: a relation is wanted here (`[s]` makes a relation of a set)",
            ),
            (
                "let a = W & po",
                "own.cat:1:13: a set is wanted here (`domain(r)` and `range(r)` make a set of a relation)",
            ),
            (
                "let a = W \\ po",
                "own.cat:1:13: a set is wanted here (`domain(r)` and `range(r)` make a set of a relation)",
            ),
            (
                "let a = W * po",
                "own.cat:1:13: a set is wanted here (`domain(r)` and `range(r)` make a set of a relation)",
            ),
            (
                "let a = W+",
                "own.cat:1:9: a relation is wanted here (`[s]` makes a relation of a set)",
            ),
            (
                "let a = W^-1",
                "own.cat:1:9: a relation is wanted here (`[s]` makes a relation of a set)",
            ),
            (
                "let a = domain(W)",
                "own.cat:1:16: a relation is wanted here (`[s]` makes a relation of a set)",
            ),
            (
                "let a = range([W] * po)",
                "own.cat:1:15: a set is wanted here (`domain(r)` and `range(r)` make a set of a relation)",
            ),
            (
                "acyclic W",
                "own.cat:1:9: a relation is wanted here (`[s]` makes a relation of a set)",
            ),
            (
                "irreflexive (W | R)",
                "own.cat:1:16: a relation is wanted here (`[s]` makes a relation of a set)",
            ),
            (
                "empty po | W",
                "own.cat:1:12: a relation is wanted here (`[s]` makes a relation of a set)",
            ),
            (
                "let a = if \"v\" then W else po",
                "own.cat:1:9: `then` and `else` must both be sets, or both relations",
            ),
            (
                "let rec a = W",
                "own.cat:1:13: a relation is wanted here (`[s]` makes a relation of a set)",
            ),
            (
                "let rec a = po \\ a",
                "own.cat:1:18: a name may not occur here in its own definition: under `~` or right of `\\`",
            ),
            (
                "let rec a = po | ~a",
                "own.cat:1:19: a name may not occur here in its own definition: under `~` or right of `\\`",
            ),
            (
                "let rec a = po | b and b = rf ; (co \\ (fr ; a))",
                "own.cat:1:45: a name may not occur here in its own definition: under `~` or right of `\\`",
            ),
        ],
    );
    check(
        of_model,
        &[
            (
                "let a = po",
                "own.cat: a model must define the relation `pmo`, its persist memory order",
            ),
            (
                "include \"lib/tso.cat\"",
                "own.cat: a model must define the relation `pmo`, its persist memory order",
            ),
            (
                "let pmo = W",
                "own.cat: a model must define the relation `pmo`, its persist memory order",
            ),
        ],
    );
}

#[test]
fn of_an_include() {
    check(
        before_pmo,
        &[
            ("include \"nowhere.cat\"", "own.cat:1:1: there is no file `nowhere.cat` to include; there are lib/base.cat, lib/caches.cat, lib/coherence.cat, lib/core.cat, lib/directory.cat, lib/flush.cat, lib/host.cat, lib/intents.cat, lib/locks.cat, lib/tso.cat"),
            ("\"title\"\n  include \"own.cat\"", "own.cat:2:3: there is no file `own.cat` to include; there are lib/base.cat, lib/caches.cat, lib/coherence.cat, lib/core.cat, lib/directory.cat, lib/flush.cat, lib/host.cat, lib/intents.cat, lib/locks.cat, lib/tso.cat"),
            ("let a = po\ninclude \"lib/tso.cat\"", "own.cat:2:1: `include` must come before every `let` and check"),
        ],
    );
}

#[test]
fn of_a_model_that_is_too_large() {
    let nested = |depth: usize| format!("let pmo = {}po{}", "(".repeat(depth), ")".repeat(depth));
    assert!(Model::parse("own", &nested(90), &BTreeSet::new()).is_ok());
    assert_eq!(
        of_model(&nested(60_000)),
        "own.cat:1:111: the expression is nested too deeply: name parts of it with `let`"
    );
    assert_eq!(
        of_model(&format!("let pmo = {}po", "~".repeat(60_000))),
        "own.cat:1:110: the expression is nested too deeply: name parts of it with `let`"
    );
    let chain = |mark: &str, count: usize| format!("let pmo = po{}", format!(" {mark} po").repeat(count));
    for mark in ["|", ";", "&", "\\"] {
        assert!(Model::parse("own", &chain(mark, 400), &BTreeSet::new()).is_ok());
        assert_eq!(
            of_model(&chain(mark, 30_000)),
            "own.cat:1:2014: more than 400 operators in a statement: name parts of it with `let`"
        );
    }
    assert_eq!(
        of_model(&format!("let pmo = po{}", "+".repeat(401))),
        "own.cat:1:413: more than 400 operators in a statement: name parts of it with `let`"
    );
    assert_eq!(
        of_model(&" ".repeat(200_001)),
        "own.cat: longer than 200000 bytes: not a test or a model"
    );
}

#[test]
fn of_a_models_name() {
    let of = |name: &str| match Model::named(name) {
        Ok(_) => panic!("there is a model {name}"),
        Err(fault) => fault.to_string(),
    };
    let names = Model::names().join(", ");
    assert!(names.contains("px86, rcbsp, "), "{names}");
    check(
        of,
        &[
            ("nope", &format!("there is no model `nope`; there are {names}")),
            ("", &format!("there is no model ``; there are {names}")),
            ("lib/base", &format!("there is no model `lib/base`; there are {names}")),
            (
                "../models/px86",
                &format!("there is no model `../models/px86`; there are {names}"),
            ),
            (
                "px86:nope",
                "model `px86` has no variant `nope`; it has weak-locks, weak-stores",
            ),
            (
                "px86:",
                "model `px86` has no variant ``; it has weak-locks, weak-stores",
            ),
            (
                "px86:weak-locks:nope",
                "model `px86` has no variant `nope`; it has weak-locks, weak-stores",
            ),
            (
                "strict-sc:weak-stores",
                "model `strict-sc` has no variant `weak-stores`; it has none",
            ),
        ],
    );
}
