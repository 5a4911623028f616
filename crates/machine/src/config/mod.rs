//! What a machine is made of: its parameters, the papers' machines as presets, and how a user changes them.
//!
//! `machine.rs` declares every parameter once, with its meaning, unit and range; reading a file, `--set`, the checks
//! and the description all work from that. A machine comes from a preset or a TOML file ([`Machine::load`]), is changed
//! key by key ([`Machine::set`], [`Machine::change`]), and is checked as a whole when all is set ([`Machine::validate`]).

mod change;
mod document;
mod error;
mod load;
mod machine;
mod media;
mod parameter;
mod validate;

pub use change::ParamInfo;
pub use error::ConfigError;
pub use load::preset_names;
pub use machine::{Cache, Coherence, Consistency, Controllers, Core, Dram, Interconnect, Machine, Pm, Simulation};
