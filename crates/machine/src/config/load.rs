//! A machine from a preset's name, a file, or a file's text.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::document::{Document, Entry};
use super::error::{nearest, ConfigError, Fault, Place};
use super::given::Raw;
use super::machine::Machine;
use super::presets::preset_names;
use super::table::PARAMETERS;

/// Far beyond any machine's file; a device or a wrong file must not fill the memory.
const MAX_FILE_BYTES: u64 = 1 << 20;

impl Machine {
    /// The machine of a preset's name or of a TOML file's path. A preset's name wins; write `./cosplay` for a file of
    /// that name. The machine is valid.
    ///
    /// # Errors
    /// Neither a preset nor a readable file, or a bad file: see [`Machine::from_toml`].
    pub fn load(name_or_path: &str) -> Result<Machine, ConfigError> {
        match Machine::preset(name_or_path) {
            Some(machine) => Ok(machine),
            None => Machine::from_toml(name_or_path, &read(name_or_path)?),
        }
    }

    /// The machine that the text of a file describes; `path` is the file's name for errors, and its stem the machine's
    /// name if the text gives none. With `base = "PRESET"` the text gives only what differs. The machine is valid.
    ///
    /// # Errors
    /// Bad syntax, an unknown or missing key, a wrong type or unit, a value out of range, or parameters that do not go
    /// together; with the line.
    pub fn from_toml(path: &str, text: &str) -> Result<Machine, ConfigError> {
        let document = Document::parse(path, text)?;
        let mut machine = base(&document)?;
        if document.base.is_none() {
            demand_all(&document)?;
        }
        // In the order of the table, which has the clock before the times that it converts.
        for parameter in PARAMETERS {
            if let Some(Entry { given, source, line }) = document.entries.get(parameter.key) {
                let source = source.clone().unwrap_or_else(|| format!("{path}:{line}"));
                let outcome = machine.assign(parameter, given, source);
                outcome.map_err(|fault| document.error(*line, Some(parameter.key), fault))?;
            }
        }
        let stem = Path::new(path)
            .file_stem()
            .map_or(path.into(), |stem| stem.to_string_lossy());
        machine.name = document.name.clone().unwrap_or_else(|| stem.into_owned());
        machine.paper = document.paper.clone().unwrap_or(machine.paper);
        machine.summary = document.summary.clone().unwrap_or(machine.summary);
        check(&machine, &document)?;
        Ok(machine)
    }
}

fn base(document: &Document) -> Result<Machine, ConfigError> {
    let Some((name, line)) = &document.base else {
        return Ok(Machine::default());
    };
    Machine::preset(name).ok_or_else(|| {
        let fault = Fault::new(
            format!("no preset \"{name}\""),
            format!("use one of {}", preset_names().join(", ")),
        );
        document.error(*line, Some("base"), fault)
    })
}

/// Demands every parameter; those of an L2 only if there is one.
fn demand_all(document: &Document) -> Result<(), ConfigError> {
    let no_l2 = document
        .entries
        .get("l2.bytes")
        .is_some_and(|entry| entry.given.raw == Raw::Whole(0));
    let missing: Vec<_> = PARAMETERS
        .iter()
        .map(|parameter| parameter.key)
        .filter(|key| !(no_l2 && key.starts_with("l2.")))
        .filter(|key| !document.entries.contains_key(key))
        .collect();
    let Some(first) = missing.first() else { return Ok(()) };
    let section = first.split('.').next().unwrap_or(first);
    let line = document.sections.get(section).copied().unwrap_or(1);
    let what = match missing.len() {
        1 => "missing".to_owned(),
        _ => format!("missing, as are {}", missing[1..].join(", ")),
    };
    let fault = Fault::new(
        what,
        "give it, or begin the file with base = \"cosplay\" and give only what differs",
    );
    Err(document.error(line, Some(first), fault))
}

fn check(machine: &Machine, document: &Document) -> Result<(), ConfigError> {
    machine.check().map_err(|violation| {
        let written = |key: &&'static str| document.entries.get(*key).map(|entry| (*key, entry.line));
        let (key, line) = violation
            .keys
            .iter()
            .find_map(written)
            .unwrap_or((violation.keys[0], 1));
        document.error(line, Some(key), violation.fault)
    })
}

fn read(path: &str) -> Result<String, ConfigError> {
    let fail = |what: String, mend: &str| ConfigError::new(Place::File(path.to_owned()), None, Fault::new(what, mend));
    let presets = preset_names();
    let mut bytes = Vec::new();
    let outcome = File::open(path).and_then(|file| file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes));
    if let Err(error) = outcome {
        let near = nearest(path, presets.iter().copied());
        let mend = format!("give a file, or one of {}; nearest: {near}", presets.join(", "));
        return Err(fail(
            format!("neither a preset nor a file that can be read: {error}"),
            &mend,
        ));
    }
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(fail("longer than 1 MiB".to_owned(), "give a machine's TOML file"));
    }
    String::from_utf8(bytes).map_err(|_| fail("not UTF-8 text".to_owned(), "give a machine's TOML file"))
}
