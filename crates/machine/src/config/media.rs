//! The memories of a machine by name: `--set machine.media=NAME` gives it one of them.

use std::collections::BTreeMap;

use super::document::{Given, Values};
use super::error::{ConfigError, Fault};
use super::machine::MachineConfig;
use super::parameter::find;

/// The key of the parameter that names the memory.
pub(super) const MEDIA: &str = "media";

/// The memories that a machine can have.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Media {
    /// Each by its name, with the values of all parameters in which any two differ.
    Known(BTreeMap<String, Values>),
    /// Any name, and it sets nothing: a record gives every parameter itself.
    Any,
}

impl Default for Media {
    fn default() -> Media {
        Media::Known(BTreeMap::new())
    }
}

impl MachineConfig {
    /// A machine on which all parameters of a record are to be set. It has the recorded memory, of whatever name.
    ///
    /// # Panics
    /// Never: it begins as a preset, which is part of the program.
    #[must_use]
    pub fn of_record() -> MachineConfig {
        let mut machine = MachineConfig::preset("cosplay").expect("a preset");
        machine.choice = Media::Any;
        machine
    }

    /// Sets parameters as [`MachineConfig::set`] does: the memory first, because it sets others, then these in their order.
    ///
    /// # Errors
    /// As [`MachineConfig::set`], of the first wrong one; those before it are set.
    pub fn change<'a>(&mut self, sets: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<(), ConfigError> {
        let (media, others): (Vec<_>, Vec<_>) = sets.into_iter().partition(|(key, _)| *key == MEDIA);
        media
            .into_iter()
            .chain(others)
            .try_for_each(|(key, text)| self.set(key, text))
    }

    /// Gives the machine the memory of this name.
    pub(super) fn choose(&mut self, name: &str, source: &str) -> Result<(), Fault> {
        let fail = |what: String| Err(Fault::new(&[MEDIA], what));
        let values = match &self.choice {
            Media::Any if self.media.is_empty() || self.media == name => Values::new(),
            Media::Any => {
                let kept = &self.media;
                return fail(format!(
                    "the record has {kept} (leave it out, or give the machine instead)"
                ));
            }
            Media::Known(media) if media.is_empty() && self.media == name => Values::new(),
            Media::Known(media) if media.is_empty() => {
                let what = format!("machine {} has only one memory", self.name);
                return fail(format!("{what} (set its parameters pm.* and controllers.*)"));
            }
            Media::Known(media) => match media.get(name) {
                Some(values) => values.clone(),
                None => {
                    let known: Vec<_> = media.keys().map(String::as_str).collect();
                    let what = format!("machine {} has no memory \"{name}\"", self.name);
                    return fail(format!("{what} (give {})", known.join(" or ")));
                }
            },
        };
        let mut changed = self.clone();
        changed.assign_all(&values)?;
        changed.assign(find(MEDIA).expect("a parameter"), name, source.to_owned())?;
        *self = changed;
        Ok(())
    }

    /// Notes the machine as it is as one of its memories, and these others. All of them get values for the same
    /// parameters, so that any can follow any.
    ///
    /// # Errors
    /// A memory that names a memory, or that does not go together with the machine; with its name.
    pub(super) fn offer(&mut self, others: BTreeMap<String, Values>) -> Result<(), (String, Fault)> {
        let Media::Known(mut media) = std::mem::take(&mut self.choice) else {
            unreachable!("a file's machine knows its memories");
        };
        media.extend(others);
        if let Some((name, _)) = media.iter().find(|(_, values)| values.contains_key(MEDIA)) {
            let what = "a memory cannot be another one (leave it out)".to_owned();
            return Err((name.clone(), Fault::new(&[MEDIA], what)));
        }
        if self.media.is_empty() && !media.is_empty() {
            let what = "missing, where there are others (give the machine's own memory a name)".to_owned();
            return Err((String::new(), Fault::new(&[MEDIA], what)));
        }
        media.insert(self.media.clone(), Values::new());
        let keys: Vec<&'static str> = media.values().flat_map(Values::keys).copied().collect();
        let own: Values = keys.iter().filter_map(|key| Some((*key, self.given(key)?))).collect();
        for values in media.values_mut() {
            for (key, given) in &own {
                values.entry(key).or_insert_with(|| given.clone());
            }
        }
        if media.len() > 1 {
            self.choice = Media::Known(media.clone());
        }
        for name in media.keys().filter(|name| **name != self.media) {
            let mut other = self.clone();
            let chosen = other.choose(name, "").and_then(|()| other.check());
            chosen.map_err(|fault| (name.clone(), fault))?;
        }
        Ok(())
    }

    /// A parameter's value as it would be given.
    fn given(&self, key: &str) -> Option<Given> {
        let info = self.info(find(key).ok()?)?;
        Some(Given {
            text: format!("{} {}", info.value, info.unit),
            source: info.source,
            line: 1,
        })
    }
}
