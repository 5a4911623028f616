//! Litmus tests: a short program for a few threads, and a condition over crash states.

mod condition;
mod instruction;
mod parse;
mod print;
mod test;

pub use condition::{Condition, Formula, Quantifier};
pub use instruction::{Alone, Class, FlushKind, Instruction, Operand, Register};
pub(crate) use print::side_by_side;
pub use test::{Hosts, Location, LocationId, LocationKind, Test};
