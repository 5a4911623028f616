//! The text of a test parses to the same test.

use crate::random;
use proptest::prelude::*;
use strandline_order::{shelf, Test};

#[track_caller]
fn round(test: &Test) {
    let text = test.to_string();
    let again = Test::parse(&text).unwrap_or_else(|fault| panic!("{fault}\n{text}"));
    assert_eq!(&again, test, "{text}");
    assert_eq!(again.to_string(), text);
}

#[test]
fn the_shelf() {
    for entry in shelf() {
        round(&entry.test().unwrap_or_else(|fault| panic!("{fault}")));
    }
}

#[test]
fn odd_names_and_titles() {
    for text in [
        "X86 a b (* c *) \"d\" | ;\n{ }\n P0 ;\nexists (true)",
        "X86 é\n\"(* no comment *)\"\n{ }\n P0 ;\nexists (true)",
        "X86 X86 \n\"\"\n{ }\n P0 ;\nexists (true)",
        // A group of one is no group. Larger groups stay together for any order of names.
        "X86 a\nLine=d, c a, b\n{ e=1; }\n P0 ;\nforall true",
        "X86 a\nLine=d b (* and *) e, c a\nVolatile=c (* of\n two lines *) a\nOutput=o\n{ }\n P0 ;\n~exists true",
        // Keywords of the language as names.
        "X86 a\n{ exists=1; forall=2; trues=3; nota=4; }\n P0 ;\n MOV [exists],$1 ;\nexists trues=3 /\\ nota=4 \\/ ~ exists=1",
        "X86 a\n{ }\n P0 ; SFENCE ; (* one *) CLWB [x]\n ; exists not not (x=1 /\\ (true \\/ ~(x=2 /\\ true)))",
    ] {
        round(&Test::parse(text).unwrap_or_else(|fault| panic!("{fault}\n{text}")));
    }
}

#[test]
fn an_output_may_be_given_its_0() {
    let test = |o: &str| {
        Test::parse(&format!(
            "X86 a\nOutput=o\n{{ x=1; {o} }}\n P0 ;\n OUT [o],$1 ;\nexists (o=1)"
        ))
    };
    let given = test("o=0;").unwrap_or_else(|fault| panic!("{fault}"));
    round(&given);
    assert_eq!(Ok(given), test(""));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_test(test in random::test(40)) {
        round(&test);
    }
}
