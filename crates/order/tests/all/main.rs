//! Tests of models, litmus tests and the oracle, in one binary that links once.

mod by_hand;
mod errors;
mod expected;
mod export;
mod fuzz;
mod generated;
mod hosts;
mod picture;
mod random;
mod roundtrip;
mod shelf;
