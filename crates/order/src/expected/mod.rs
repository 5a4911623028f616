//! The expected states of a folder's tests under a model: the file `<model>.expected` of the folder.

use crate::litmus::Test;
use crate::model::Model;
use crate::states::allowed;
use crate::Fault;
use std::collections::BTreeMap;
use std::fmt::Write;

mod read;

pub use read::read_expected;

/// The expected states of a test, by the name of the model or its variant; `None` if the test is undefined.
pub type Expected = BTreeMap<String, Option<Vec<String>>>;

/// The states of a test that a model and each of its variants allow.
///
/// # Errors
/// The test has too many executions.
pub fn expected(test: &Test, model: &Model) -> Result<Expected, Fault> {
    let said = |model: &Model| Ok((model.name(), test.show_allowed(&allowed(test, model)?)));
    model.with_variants()?.iter().map(said).collect()
}

/// The lines of a test in a file `<model>.expected`. A variant with the model's states refers to the model.
#[must_use]
pub fn show_expected(test: &str, model: &str, expected: &Expected) -> String {
    let mut text = format!("{test}\n");
    for (name, states) in expected {
        let label = name.strip_prefix(&format!("{model}:")).unwrap_or(name);
        if label != model && expected.get(model) == Some(states) {
            _ = writeln!(text, "  {label} as {model}");
        } else {
            show_states(&mut text, label, states.as_deref());
        }
    }
    text
}

fn show_states(text: &mut String, label: &str, states: Option<&[String]>) {
    let Some(states) = states else {
        _ = writeln!(text, "  {label} undefined");
        return;
    };
    _ = writeln!(text, "  {label} {}", states.len());
    for state in states {
        _ = writeln!(text, "    {state}");
    }
}
