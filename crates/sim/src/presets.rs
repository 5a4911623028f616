//! Machines by name. A crash test makes many plans on one machine, and a figure hundreds.

use std::collections::BTreeMap;
use std::sync::LazyLock;
use strandline_machine::{preset_names, ConfigError, Machine};

/// The presets, each parsed at its first use.
static PRESETS: LazyLock<BTreeMap<&str, LazyPreset>> = LazyLock::new(|| preset_names().into_iter().map(lazy).collect());

type LazyPreset = LazyLock<Option<Machine>, Box<dyn FnOnce() -> Option<Machine> + Send>>;

fn lazy(name: &'static str) -> (&'static str, LazyPreset) {
    (name, LazyLock::new(Box::new(move || Machine::preset(name))))
}

/// As [`Machine::load`], which reads a file each time and parses a preset once.
///
/// # Errors
/// As there.
pub(crate) fn machine(name_or_path: &str) -> Result<Machine, ConfigError> {
    let preset = PRESETS
        .get(name_or_path)
        .and_then(|preset| LazyLock::force(preset).clone());
    preset.map_or_else(|| Machine::load(name_or_path), Ok)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preset_is_the_one_of_its_name_however_often_it_is_asked_for() {
        for name in preset_names() {
            for _ in 0..2 {
                assert_eq!(machine(name).unwrap(), Machine::load(name).unwrap(), "{name}");
            }
        }
    }

    #[test]
    fn what_is_no_preset_is_a_file() {
        assert_eq!(
            machine("./cosplay").unwrap_err(),
            Machine::load("./cosplay").unwrap_err()
        );
    }
}
