//! The condition of a test.

use super::test::LocationId;

/// The quantifier of the formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantifier {
    /// Of some.
    Exists,
    /// Of none.
    NotExists,
    /// Of all.
    Forall,
}

/// A formula over the values of a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Formula {
    /// Always.
    True,
    /// The location holds this value.
    Is(LocationId, u8),
    /// Not so.
    Not(Box<Formula>),
    /// Both.
    And(Box<Formula>, Box<Formula>),
    /// Either.
    Or(Box<Formula>, Box<Formula>),
}

/// A condition: a state that the reader should note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// The quantifier over states.
    pub quantifier: Quantifier,
    /// What is claimed.
    pub formula: Formula,
}

impl Formula {
    /// Whether it is true for these values of the locations.
    pub fn holds(&self, value: &impl Fn(LocationId) -> u8) -> bool {
        match self {
            Formula::True => true,
            Formula::Is(location, expected) => value(*location) == *expected,
            Formula::Not(inner) => !inner.holds(value),
            Formula::And(a, b) => a.holds(value) && b.holds(value),
            Formula::Or(a, b) => a.holds(value) || b.holds(value),
        }
    }
}

impl Quantifier {
    /// Its word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Quantifier::Exists => "exists",
            Quantifier::NotExists => "~exists",
            Quantifier::Forall => "forall",
        }
    }
}
