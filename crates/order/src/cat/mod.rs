//! The supported subset of herd's `.cat` language.

mod ast;
mod compile;
mod eval;
mod lex;
mod parse;

#[cfg(test)]
pub(crate) use ast::{Binary, Check, Unary};
pub(crate) use ast::{Expr, ExprKind, File, Item};
pub use compile::Program;
pub use eval::{Candidate, Evaluator};
pub(crate) use parse::parse;
