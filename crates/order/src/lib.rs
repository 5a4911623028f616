//! Persistency models as relations over events: the states that a crash may leave, independent of hardware.
//!
//! A model is a file in herd's `.cat` language, a litmus test one in herd's `.litmus` format. `docs/litmus.md` defines
//! both. [`allowed`] enumerates a test's executions and crash cuts. This crate does not know time.

mod cat;
mod execution;
mod expected;
mod export;
mod fault;
pub mod litmus;
mod model;
mod oracle;
mod picture;
mod relation;
mod shelf;
mod states;
mod structure;
mod text;
mod unroll;
mod words;

pub use expected::{expected, read_expected, show_expected, Expected};
pub use export::{export, Form, Refusal};
pub use fault::{Fault, TextPlace};
pub use litmus::Test;
pub use model::Model;
pub use oracle::{Breach, History, Oracle};
pub use picture::{picture, Picture};
pub use relation::{Relation, Set};
pub use shelf::{shelf, stored, Entry};
pub use states::{allowed, thinkable, Allowed, State};
pub use structure::{Cell, Event, EventKind};
