//! Tests of models, litmus tests and the oracle: one binary, which links once.

mod by_hand;
mod errors;
mod expected;
mod fuzz;
mod generated;
mod picture;
mod random;
mod roundtrip;
mod shelf;
