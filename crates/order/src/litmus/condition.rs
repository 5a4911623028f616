//! The condition of a test.

use super::test::LocationId;

/// Of how many states the formula is claimed.
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

/// A condition: what a reader of the test is to look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// Of how many states it is claimed.
    pub quantifier: Quantifier,
    /// What is claimed.
    pub formula: Formula,
}

impl Formula {
    /// Whether it is true where locations have these values.
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
