//! No text makes the parsers panic or hang, and no small parsed test does so in the enumeration.

use crate::random;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{select, Index};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::LazyLock;
use strandline_order::{allowed, export, shelf, Fault, Form, Model, Test, TextPlace};

/// Every model and each of its variants, parsed once for thousands of tests.
static MODELS: LazyLock<Vec<Model>> = LazyLock::new(|| {
    let named = |name: &String| Model::named(name).and_then(|model| model.with_variants());
    let models = Model::names().iter().map(named).collect::<Result<Vec<_>, _>>();
    models.unwrap_or_else(|fault| panic!("{fault}")).concat()
});

/// Whether a position is in a text, or directly behind it.
fn is_in(text: &str, place: TextPlace) -> bool {
    let (line, column) = (place.line as usize, place.column as usize);
    let within = |(number, text): (usize, &str)| number + 1 == line && column <= text.chars().count() + 1;
    line >= 1 && column >= 1 && text.split('\n').enumerate().any(within)
}

fn check_fault(text: &str, fault: &Fault) {
    assert!(!fault.message.contains('\n'), "{fault}");
    if let Some(place) = fault.place {
        assert!(is_in(text, place), "{fault} of\n{text}");
    }
}

fn check_test(text: &str) {
    match Test::parse(text) {
        Err(fault) => check_fault(text, &fault),
        Ok(test) => {
            let again = Test::parse(&test.to_string()).unwrap_or_else(|fault| panic!("{fault}\n{test}"));
            assert_eq!(again, test);
            for form in [Form::Herd, Form::C] {
                match export(&test, &test.name, form) {
                    Ok(text) => assert!(text.contains(&test.show_condition().replace("??", "? ?")), "{text}"),
                    Err(refusal) => assert!(!refusal.to_string().contains('\n'), "{refusal}"),
                }
            }
            if test.events() <= 12 {
                for model in MODELS.iter().filter(|model| model.takes(&test)) {
                    let states = allowed(&test, model);
                    let states = states.unwrap_or_else(|fault| panic!("{fault}\n{test}"));
                    // Every model has an execution, and each execution a cut: the empty one.
                    assert!(!states.states.is_empty(), "{} of\n{test}", model.name());
                }
            }
        }
    }
}

fn check_model(text: &str, small: &Test) {
    match Model::parse("own", text, &BTreeSet::new()) {
        Err(fault) => {
            assert_eq!(fault.file.as_deref(), Some("own.cat"), "{fault}");
            check_fault(text, &fault);
        }
        Ok(model) => _ = allowed(small, &model).unwrap_or_else(|fault| panic!("{fault}")),
    }
}

/// A mutation of a text: which part moves where.
#[derive(Clone, Debug)]
enum Edit {
    Delete(Index, usize),
    Insert(Index, String),
    Swap(Index, Index, usize),
    Repeat(Index, usize, usize),
}

fn edit(words: &'static [&'static str]) -> impl Strategy<Value = Edit> {
    let inserted = prop_oneof![select(words).prop_map(str::to_owned), "\\PC{1,3}"];
    prop_oneof![
        (any::<Index>(), 1..12usize).prop_map(|(at, size)| Edit::Delete(at, size)),
        (any::<Index>(), inserted).prop_map(|(at, text)| Edit::Insert(at, text)),
        (any::<Index>(), any::<Index>(), 1..12usize).prop_map(|(a, b, size)| Edit::Swap(a, b, size)),
        (any::<Index>(), 1..30usize, 1..20usize).prop_map(|(at, size, times)| Edit::Repeat(at, size, times)),
    ]
}

impl Edit {
    fn of(&self, text: &str) -> String {
        let chars: Vec<char> = text.chars().collect();
        let place = |index: &Index| index.index(chars.len() + 1);
        let piece = |at: usize, size: usize| chars[at..(at + size).min(chars.len())].iter().collect::<String>();
        let (before, after) = (
            |at: usize| piece(0, at),
            |at: usize| piece(at.min(chars.len()), chars.len()),
        );
        match self {
            Edit::Delete(at, size) => before(place(at)) + &after(place(at) + size),
            Edit::Insert(at, new) => before(place(at)) + new + &after(place(at)),
            Edit::Swap(a, b, size) => {
                let (a, b) = (place(a).min(place(b)), place(a).max(place(b)));
                let between = piece((a + size).min(b), b - (a + size).min(b));
                before(a) + &piece(b, *size) + &between + &piece(a, (*size).min(b - a)) + &after(b + size)
            }
            Edit::Repeat(at, size, times) => {
                before(place(at)) + &piece(place(at), *size).repeat(*times) + &after(place(at))
            }
        }
    }
}

fn edited(texts: Vec<String>, words: &'static [&'static str]) -> impl Strategy<Value = String> {
    (select(texts), vec(edit(words), 1..4))
        .prop_map(|(text, edits)| edits.iter().fold(text, |text, edit| edit.of(&text)))
}

/// The files of the models, including included parts.
fn models() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let mut texts = Vec::new();
    for folder in [root.clone(), root.join("lib")] {
        let files = std::fs::read_dir(&folder)
            .expect("a folder")
            .map(|entry| entry.expect("an entry").path());
        let mut files: Vec<_> = files.filter(|path| path.is_file()).collect();
        files.sort();
        texts.extend(files.iter().map(|path| std::fs::read_to_string(path).expect("a model")));
    }
    texts
}

const OF_TESTS: &[&str] = &[
    "X86 ",
    "\"",
    "{",
    "}",
    "[x]",
    "$1",
    "$256",
    "EAX",
    ";",
    "|",
    "P0",
    "P1",
    "exists",
    "~",
    "forall",
    "(",
    ")",
    "/\\",
    "\\/",
    "=",
    ",",
    "Line=",
    "Volatile=",
    "Output=",
    "Owner=",
    "MOV [x],$1 ;",
    "LSTORE [x],$1 ;",
    "RFLUSH [x]",
    "SFENCE",
    "LOCK XADD",
    "XOR EAX,EAX ;",
    "CMP EAX,$1 ;",
    "JNE LC00 ;",
    "LC00: ;",
    "[x+EAX]",
    "(*",
    "*)",
    "\n",
    "\r\n",
    "true",
    "not",
    "",
];

const OF_MODELS: &[&str] = &[
    "let ",
    "rec ",
    " and ",
    "include \"lib/tso.cat\"",
    "flag ",
    "acyclic ",
    "irreflexive ",
    "empty ",
    " as ",
    "if \"v\" then ",
    " else ",
    "po",
    "rf",
    "co",
    "W",
    "(",
    ")",
    "[",
    "]",
    "|",
    ";",
    "\\",
    "&",
    "*",
    "+",
    "?",
    "^-1",
    "~",
    "0",
    "_",
    "pmo",
    "domain(",
    "\"",
    "(*",
    "*)",
];

fn small() -> Test {
    let text =
        "X86 a\nVolatile=f\nOutput=o\n{ }\n P0 | P1 ;\n MOV [x],$1 | MOV EAX,[f] ;\n CLWB [x] | OUT [o],EAX ;\n \
                SFENCE | ;\n XCHG [f],EBX | ;\nexists (x=0 /\\ o=1)";
    Test::parse(text).unwrap_or_else(|fault| panic!("{fault}"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn any_bytes(bytes in vec(any::<u8>(), 0..200)) {
        let text = String::from_utf8_lossy(&bytes);
        for head in ["", "X86 a\n{ }\n P0 ;\n", "X86 a\n{ }\n P0 ;\nexists ", "X86 a\nLine="] {
            check_test(&format!("{head}{text}"));
        }
        for head in ["", "let pmo = ", "let pmo = po | ["] {
            check_model(&format!("{head}{text}"), &small());
        }
    }

    #[test]
    fn any_words_of_tests(words in vec(select(OF_TESTS), 0..40)) {
        check_test(&format!("X86 a\n{{ }}\n P0 ;\n{}", words.join(" ")));
        check_test(&words.join(""));
    }

    #[test]
    fn any_words_of_models(words in vec(select(OF_MODELS), 0..30)) {
        check_model(&words.join(" "), &small());
        check_model(&format!("let pmo = {}", words.join(" ")), &small());
    }

    #[test]
    fn tests_of_the_shelf_with_mistakes(text in edited(shelf().iter().map(|entry| entry.text.to_owned()).collect(), OF_TESTS)) {
        check_test(&text);
    }

    #[test]
    fn models_with_mistakes(text in edited(models(), OF_MODELS)) {
        check_model(&text, &small());
        check_model(&format!("{text}\nlet pmo = po"), &small());
    }

    #[test]
    fn any_small_test(test in random::test(8)) {
        check_test(&test.to_string());
    }
}
