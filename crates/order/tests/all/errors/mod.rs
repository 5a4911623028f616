//! Each mistake in a test or a model gives one line: its position, the mistake, and the correction.

mod of_models;
mod of_tests;

fn check(of: fn(&str) -> String, cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        let line = of(text);
        assert_eq!(line, *expected, "of\n{text}");
        assert!(!line.contains('\n'), "more than a line: {line}");
    }
}
