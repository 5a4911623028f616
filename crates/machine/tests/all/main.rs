//! The machine's tests: one binary, which links once.

mod changes;
mod common;
mod counters;
mod crash_image;
mod errors;
mod latencies;
mod outputs;
mod presets;
mod random;
mod replay;
mod seam;
mod store_queue;
mod trace;
