//! A machine from a preset's name, a file, or a file's text.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::LazyLock;

use strandline_kernel::did_you_mean;

use super::document::{Document, Given, Values};
use super::error::{ConfigError, Fault};
use super::machine::MachineConfig;
use super::media::{Media, MEDIA};
use super::parameter::PARAMETERS;

/// Far beyond any machine's file; a device or a wrong file must not exhaust the memory.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// A preset by its name, which is its file's.
macro_rules! preset {
    ($name:literal) => {
        (
            $name,
            LazyLock::new(|| {
                let text = include_str!(concat!("../../presets/", $name, ".toml"));
                parsed(concat!($name, ".toml"), text)
            }),
        )
    };
}

/// The presets, each parsed at its first use: a crash test makes many runs on one machine, and a figure hundreds.
static PRESETS: [(&str, LazyLock<MachineConfig>); 11] = [
    preset!("cosplay"),
    preset!("strandweaver"),
    preset!("dpo"),
    preset!("asap"),
    preset!("sp"),
    preset!("common"),
    preset!("zen4"),
    preset!("cxl-asic"),
    preset!("cxl-fpga"),
    preset!("cxl-switch"),
    preset!("cmm-h"),
];

fn parsed(path: &str, text: &str) -> MachineConfig {
    let machine = MachineConfig::from_toml(path, text);
    machine.unwrap_or_else(|error| panic!("a preset is part of the program and must be right: {error}"))
}

/// The names of the presets.
#[must_use]
pub fn preset_names() -> Vec<&'static str> {
    PRESETS.iter().map(|(name, _)| *name).collect()
}

/// Presets that no paper describes: the machine that all designs run on, a processor, and memory behind CXL.
const OF_NO_PAPER: [&str; 6] = ["common", "zen4", "cxl-asic", "cxl-fpga", "cxl-switch", "cmm-h"];

/// The names of the presets that papers describe.
#[must_use]
pub fn paper_preset_names() -> Vec<&'static str> {
    let names = preset_names().into_iter();
    names.filter(|name| !OF_NO_PAPER.contains(name)).collect()
}

impl MachineConfig {
    /// The preset of this name, `None` if there is none.
    #[must_use]
    pub fn preset(name: &str) -> Option<MachineConfig> {
        let (_, preset) = PRESETS.iter().find(|(known, _)| *known == name)?;
        Some(MachineConfig::clone(preset))
    }

    /// The machine of a preset's name or of a TOML file's path. A preset's name wins; write `./cosplay` for a file of
    /// that name. The machine is valid.
    ///
    /// # Errors
    /// Neither a preset nor a readable file, or a bad file: see [`MachineConfig::from_toml`].
    pub fn load(name_or_path: &str) -> Result<MachineConfig, ConfigError> {
        match MachineConfig::preset(name_or_path) {
            Some(machine) => Ok(machine),
            None => MachineConfig::from_toml(name_or_path, &read(name_or_path)?),
        }
    }

    /// The machine that the text of a file describes; `path` is the file's name for errors, and its stem the machine's
    /// name if the text gives none. With `base = "PRESET"` the text gives only what differs. The machine is valid.
    ///
    /// # Errors
    /// Bad syntax, an unknown or missing key, a wrong type or unit, a value out of range, or parameters that do not go
    /// together; with the line.
    pub fn from_toml(path: &str, text: &str) -> Result<MachineConfig, ConfigError> {
        let document = Document::parse(path, text)?;
        let given = document.given()?;
        let mut machine = match document.about("base")? {
            Some(name) => MachineConfig::preset(&name).ok_or_else(|| {
                let known = preset_names().join(", ");
                document.error(&["base"], &format!("no preset \"{name}\" (use one of {known})"))
            })?,
            None => demand_all(&document, &given).map(|()| MachineConfig::of_one_host())?,
        };
        let stem = Path::new(path)
            .file_stem()
            .map_or(path.into(), |stem| stem.to_string_lossy());
        machine.name = document.about("name")?.unwrap_or_else(|| stem.into_owned());
        machine.paper = document.about("paper")?.unwrap_or(machine.paper);
        machine.summary = document.about("summary")?.unwrap_or(machine.summary);
        machine
            .fill(&given)
            .map_err(|fault| at_line(&document, &given, &fault))?;
        let others = document.other_media()?;
        let known = others.clone();
        machine.offer(others).map_err(|(name, fault)| {
            let given = known.get(&name).unwrap_or(&given);
            at_line(&document, given, &fault)
        })?;
        Ok(machine)
    }

    /// The memory comes first: it is one of the base's, unless the base has only one, and the file changes its values.
    fn fill(&mut self, given: &Values) -> Result<(), Fault> {
        if let (Media::Known(media), Some(Given { text, source, .. })) = (&self.choice, given.get(MEDIA)) {
            if !media.is_empty() {
                self.choose(text, source)?;
            }
        }
        self.assign_all(given)?;
        self.check()
    }

    /// Assigns in the order of the parameters: the clock precedes the times that it converts. An L2 of 0 bytes comes
    /// last, since it takes with it what else is given of the L2.
    pub(super) fn assign_all(&mut self, given: &Values) -> Result<(), Fault> {
        let in_order = PARAMETERS
            .iter()
            .filter_map(|each| Some((each, given.get(&*each.key)?)));
        let (l2_removed, others): (Vec<_>, Vec<_>) =
            in_order.partition(|(each, given)| each.key == "l2.bytes" && given.text.trim() == "0");
        for (parameter, given) in others.into_iter().chain(l2_removed) {
            self.assign(parameter, &given.text, given.source.clone())?;
        }
        Ok(())
    }
}

/// The error of a fault, at the line of the likeliest culprit among the values given.
fn at_line(document: &Document<'_>, given: &Values, fault: &Fault) -> ConfigError {
    let mut written = fault.keys.iter().filter_map(|key| Some((*key, given.get(key)?.line)));
    let (key, line) = written.next().unwrap_or((fault.keys[0], 1));
    document.error_at(line, key, &fault.text)
}

/// Demands every parameter but those of an L2 (the checks refuse one of which only `l2.bytes` is given), of the
/// channel, which is that of the other writes unless the file says otherwise, of translation and CXL, which are none
/// then, of flush on fail, of hosts, of which there is one that does not fail, and the name of the memory.
fn demand_all(document: &Document<'_>, given: &BTreeMap<&str, Given>) -> Result<(), ConfigError> {
    let keys = PARAMETERS.iter().map(|parameter| &*parameter.key);
    let has_default = |key: &str| {
        ["channel.", "tlb.", "cxl.", "fail."]
            .iter()
            .any(|section| key.starts_with(section))
    };
    let is_optional = |key: &str| {
        key.starts_with("l2.") && key != "l2.bytes"
            || has_default(key)
            || [MEDIA, "hosts", "simulation.fails", "simulation.fails_at"].contains(&key)
    };
    let demanded = keys.filter(|key| !is_optional(key));
    let missing: Vec<_> = demanded.filter(|key| !given.contains_key(key)).collect();
    let also = match &missing[..] {
        [] => return Ok(()),
        [_] => String::new(),
        [_, others @ ..] => format!(", as are {}", others.join(", ")),
    };
    let fix = "give it, or begin the file with base = \"cosplay\" and give only what differs";
    let path: Vec<_> = missing[0].split('.').collect();
    Err(document.error(&path, &format!("missing{also} ({fix})")))
}

fn read(path: &str) -> Result<String, ConfigError> {
    let mut text = String::new();
    let outcome = File::open(path).and_then(|file| file.take(MAX_FILE_BYTES + 1).read_to_string(&mut text));
    match outcome {
        Ok(bytes) if bytes as u64 <= MAX_FILE_BYTES => Ok(text),
        Ok(_) => Err(ConfigError::new(path, "longer than 1 MiB (give a machine's TOML file)")),
        Err(error) => {
            let (meant, presets) = (did_you_mean(path, preset_names()), preset_names().join(", "));
            let fix = format!("give a file, or one of {presets}");
            let what = format!("neither a preset nor a file that can be read: {error}{meant} ({fix})");
            Err(ConfigError::new(path, &what))
        }
    }
}
