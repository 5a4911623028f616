//! What a model says, as it is written.

use crate::Place;

/// A file.
#[derive(Clone, Debug)]
pub struct File {
    /// Its title, maybe empty.
    pub title: String,
    /// What it says, in order.
    pub items: Vec<Item>,
}

/// A statement.
#[derive(Clone, Debug)]
pub enum Item {
    /// `include "file"`.
    Include(Place, String),
    /// `let`, and whether `rec`.
    Let(bool, Vec<Binding>),
    /// A check.
    Check(Check),
}

/// `name = e`.
#[derive(Clone, Debug)]
pub struct Binding {
    /// Where the name stands.
    pub place: Place,
    /// The name.
    pub name: String,
    /// What it stands for.
    pub body: Expr,
}

/// What a check asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// No cycle.
    Acyclic,
    /// No event related to itself.
    Irreflexive,
    /// No pair, or no event.
    Empty,
}

/// A check.
#[derive(Clone, Debug)]
pub struct Check {
    /// Whether it marks an execution instead of refusing it.
    pub flag: bool,
    /// Whether it asks the opposite.
    pub negated: bool,
    /// What it asks.
    pub question: Question,
    /// Of what.
    pub body: Expr,
    /// Its name, maybe empty.
    pub name: String,
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// Where it stands: its operator, or its first character.
    pub place: Place,
    /// What it is.
    pub kind: ExprKind,
}

/// What an expression is.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// A name.
    Name(String),
    /// `0`.
    Zero,
    /// `_`.
    All,
    /// `a | b`.
    Or(Box<Expr>, Box<Expr>),
    /// `a & b`.
    And(Box<Expr>, Box<Expr>),
    /// `a \ b`.
    Minus(Box<Expr>, Box<Expr>),
    /// `a ; b`.
    Then(Box<Expr>, Box<Expr>),
    /// `a * b`.
    Cross(Box<Expr>, Box<Expr>),
    /// `~ a`.
    Not(Box<Expr>),
    /// `a +`.
    Plus(Box<Expr>),
    /// `a *`.
    Star(Box<Expr>),
    /// `a ?`.
    Maybe(Box<Expr>),
    /// `a ^-1`.
    Inverse(Box<Expr>),
    /// `[ a ]`.
    Lift(Box<Expr>),
    /// `domain(a)`.
    Domain(Box<Expr>),
    /// `range(a)`.
    Range(Box<Expr>),
    /// `if "v" then a else b`.
    If(String, Box<Expr>, Box<Expr>),
}

impl Expr {
    /// Calls `see` with every expression in it, itself first.
    pub fn visit<'e>(&'e self, see: &mut impl FnMut(&'e Expr)) {
        see(self);
        match &self.kind {
            ExprKind::Name(_) | ExprKind::Zero | ExprKind::All => {}
            ExprKind::Not(a)
            | ExprKind::Plus(a)
            | ExprKind::Star(a)
            | ExprKind::Maybe(a)
            | ExprKind::Inverse(a)
            | ExprKind::Lift(a)
            | ExprKind::Domain(a)
            | ExprKind::Range(a) => a.visit(see),
            ExprKind::Or(a, b)
            | ExprKind::And(a, b)
            | ExprKind::Minus(a, b)
            | ExprKind::Then(a, b)
            | ExprKind::Cross(a, b)
            | ExprKind::If(_, a, b) => {
                a.visit(see);
                b.visit(see);
            }
        }
    }
}
