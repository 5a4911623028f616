//! The syntax tree of a model.

use crate::TextPlace;

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
    Include(TextPlace, String),
    /// `let`, and whether `rec`.
    Let(bool, Vec<Binding>),
    /// A check.
    Check(Check),
}

/// `name = e`.
#[derive(Clone, Debug)]
pub struct Binding {
    /// Where the name stands.
    pub place: TextPlace,
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
    /// Its position: of its operator, or of its first character.
    pub place: TextPlace,
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
    /// A prefix, postfix or bracketing operator.
    Unary(Unary, Box<Expr>),
    /// An operator between two.
    Binary(Binary, Box<Expr>, Box<Expr>),
    /// `if "v" then a else b`.
    If(String, Box<Expr>, Box<Expr>),
}

/// An operator on one expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    /// `~ a`.
    Not,
    /// `a +`.
    Plus,
    /// `a *`.
    Star,
    /// `a ?`.
    Maybe,
    /// `a ^-1`.
    Inverse,
    /// `[ a ]`.
    Lift,
    /// `domain(a)`.
    Domain,
    /// `range(a)`.
    Range,
}

/// An operator on two expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    /// `a | b`.
    Or,
    /// `a & b`.
    And,
    /// `a \ b`.
    Minus,
    /// `a ; b`.
    Then,
    /// `a * b`.
    Cross,
}

impl Expr {
    /// Its direct subexpressions.
    pub fn parts(&self) -> Vec<&Expr> {
        match &self.kind {
            ExprKind::Name(_) | ExprKind::Zero | ExprKind::All => vec![],
            ExprKind::Unary(_, a) => vec![a],
            ExprKind::Binary(_, a, b) | ExprKind::If(_, a, b) => vec![a, b],
        }
    }

    /// Calls `see` with each of its subexpressions, itself first.
    pub fn visit<'e>(&'e self, see: &mut impl FnMut(&'e Expr)) {
        see(self);
        self.parts().into_iter().for_each(|part| part.visit(see));
    }
}
