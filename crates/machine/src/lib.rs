//! The modelled machine.

pub mod config;

pub use config::{preset_names, ConfigError, Machine, ParamInfo};
