//! What a machine is made of: its parameters, the papers' machines as presets, and how a user changes them.
//!
//! Every parameter is declared once, in the table of `table.rs`; reading a file, `--set`, the checks and the
//! description all work from that table. A machine comes from a preset or a TOML file ([`Machine::load`]), is changed
//! key by key ([`Machine::set`]), and is checked as a whole when all is set ([`Machine::validate`]).

mod assign;
mod describe;
mod document;
mod error;
mod given;
mod load;
mod machine;
mod parameter;
mod presets;
mod table;
mod validate;
mod words;

pub use describe::ParamInfo;
pub use error::ConfigError;
pub use machine::{Cache, Controllers, Core, Dram, Interconnect, Machine, Pm, Simulation};
pub use presets::preset_names;
pub use words::{Coherence, Consistency};
