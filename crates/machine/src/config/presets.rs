//! The papers' machines.

use super::machine::Machine;

const PRESETS: [(&str, &str); 5] = [
    ("cosplay", include_str!("../../presets/cosplay.toml")),
    ("strandweaver", include_str!("../../presets/strandweaver.toml")),
    ("dpo", include_str!("../../presets/dpo.toml")),
    ("asap", include_str!("../../presets/asap.toml")),
    ("sp", include_str!("../../presets/sp.toml")),
];

/// The names of the presets.
#[must_use]
pub fn preset_names() -> Vec<&'static str> {
    PRESETS.iter().map(|(name, _)| *name).collect()
}

impl Machine {
    /// The preset of this name, `None` if there is none.
    #[must_use]
    pub fn preset(name: &str) -> Option<Machine> {
        let (name, text) = PRESETS.iter().find(|(known, _)| *known == name)?;
        let machine = Machine::from_toml(&format!("{name}.toml"), text);
        Some(machine.unwrap_or_else(|error| panic!("a preset is part of the program and must be right: {error}")))
    }
}
