//! What a machine is made of: its parameters, the papers' machines as presets, and how a user changes them.
//!
//! `machine.rs` declares every parameter once, with its meaning, unit and range; reading a file, `--set`, the checks
//! and the description all work from that. A machine comes from a preset or a TOML file ([`MachineConfig::load`]), is changed
//! key by key ([`MachineConfig::set`], [`MachineConfig::change`]), and is checked as a whole when all is set ([`MachineConfig::validate`]).

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
pub use load::{paper_preset_names, preset_names};
pub use machine::{
    Cache, Coherence, Consistency, Controllers, Core, Cxl, DecodeEnd, Dram, Failing, HostCoherence, Interconnect,
    MachineConfig, PcommitWait, Pm, Prediction, Simulation, Tlb, Warm, WpqLeave,
};
