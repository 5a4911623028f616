//! Files of expected states: a written file parses, and every wrong line is refused.

use std::collections::BTreeSet;
use strandline_order::{expected, read_expected, show_expected, Model, Test};

const FENCED: &str =
    "X86 mp\n{ }\n P0 ;\n MOV [x],$1 ;\n CLWB [x] ;\n XCHG [l],EAX ;\n MOV [y],$1 ;\n~exists (x=0 /\\ y=1)";

fn px86() -> Model {
    Model::named("px86").expect("a model")
}

fn refused(text: &str) -> String {
    let folder = BTreeSet::from(["mp", "sb"]);
    let fault = read_expected(&px86(), text, &folder).expect_err(text);
    fault.to_string()
}

#[test]
fn what_is_shown_is_read() {
    for (model, text) in [
        ("px86", FENCED),
        (
            "rp",
            "X86 race\n{ }\n P0 | P1 ;\n MOV [x],$1 | MOV [x],$2 ;\nexists (true)",
        ),
    ] {
        let model = Model::named(model).expect("a model");
        let test = Test::parse(text).expect("a test");
        let said = expected(&test, &model).expect("few executions");
        assert_eq!(said.len(), 1 + model.variants().len());
        let text = ["a", "b"].map(|name| show_expected(name, model.base(), &said)).concat();
        let read =
            read_expected(&model, &text, &BTreeSet::from(["a", "b", "c"])).unwrap_or_else(|fault| panic!("{fault}"));
        assert_eq!(
            read.into_iter().collect::<Vec<_>>(),
            [("a".to_owned(), said.clone()), ("b".to_owned(), said)]
        );
    }
}

#[test]
fn a_variant_that_allows_what_its_model_does_says_so() {
    let test = Test::parse("X86 a\n{ }\n P0 ;\n MOV [x],$1 ;\nexists (true)").expect("a test");
    let said = expected(&test, &px86()).expect("few executions");
    let text = "a\n  px86 2\n    x=0\n    x=1\n  weak-locks as px86\n  weak-stores as px86\n";
    assert_eq!(show_expected("a", "px86", &said), text);
    let empty = Test::parse("X86 a\n{ }\n P0 ;\n SFENCE ;\nexists (true)").expect("a test");
    let said = expected(&empty, &px86()).expect("few executions");
    let text = show_expected("mp", "px86", &said);
    assert_eq!(
        read_expected(&px86(), &text, &BTreeSet::from(["mp"])).expect("right")["mp"],
        said
    );
}

#[test]
fn every_wrong_line_is_refused() {
    let labels = "must be one of px86, weak-locks, weak-stores, and the number of its states, `undefined` or `as px86`";
    for (text, message) in [
        ("pm\n", "1:1: there is no test `pm` in this folder: delete its lines"),
        (
            "  px86 0\n",
            "1:1: there is no test `  px86 0` in this folder: delete its lines",
        ),
        ("mp\n  px86 0\nmp\n  px86 0\n", "3:1: mp occurs twice: delete one entry"),
        ("mp\n  px86 0\n  px86 0\n", "3:1: mp has px86 twice: delete one"),
        ("mp\nsb\n", "1:1: mp has no states of px86 itself: add a line for them"),
        (
            "mp\n  weak-locks 0\n",
            "1:1: mp has no states of px86 itself: add a line for them",
        ),
        (
            "mp\n  weak-locks as px86\n",
            "2:1: weak-locks is as px86, which must come first",
        ),
        ("mp\n  px86 as px86\n", "2:1: px86 is as px86, which must come first"),
        ("mp\n  weak 0\n", &format!("2:1: `weak 0`: {labels}")),
        ("mp\n  px86\n", &format!("2:1: `px86`: {labels}")),
        ("mp\n  px86 one\n    x=0\n", &format!("2:1: `px86 one`: {labels}")),
        (
            "mp\n  px86 2\n    x=0\n",
            "2:1: px86 has 1 states, not 2: correct the number",
        ),
        (
            "mp\n  px86 0\n    x=0\n",
            "2:1: px86 has 1 states, not 0: correct the number",
        ),
        ("mp\n  px86 undefined\n    x=0\n", &format!("3:1: `  x=0`: {labels}")),
        (
            "mp\n  px86 1\n    x\n",
            "3:1: `x`: a state is LOCATION=VALUE, with blanks between",
        ),
        (
            "mp\n  px86 1\n    x=256\n",
            "3:1: `x=256`: a state is LOCATION=VALUE, with blanks between",
        ),
    ] {
        assert_eq!(refused(text), message, "{text}");
    }
}
