//! The machine's tests: one binary, which links once.

mod changes;
mod common;
mod core_rules;
mod counters;
mod crash_image;
mod errors;
mod front_end;
mod hosts;
mod latencies;
mod occupancy;
mod outputs;
mod pcommits;
mod places;
mod presets;
mod random;
mod region;
mod replay;
mod seam;
mod sleep;
mod spin;
mod store_queue;
mod tlb;
mod trace;
