//! What must hold of a machine as a whole.

use strandline_isa::LINE_BYTES;
use strandline_kernel::Cycles;

use super::assign::COMMAND_LINE;
use super::error::{ConfigError, Fault, Place};
use super::machine::{Cache, Machine};
use super::table::{find, PARAMETERS};

/// A rule that is broken, and the parameters that it is about, the likeliest culprit first.
pub(super) struct Violation {
    pub keys: Vec<&'static str>,
    pub fault: Fault,
}

type Check = Result<(), Violation>;

impl Machine {
    /// Checks every parameter's range and how the parameters go together.
    ///
    /// # Errors
    /// The first rule broken; the line names the `--set` that broke it if there was one.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.check().map_err(|violation| self.blame(violation))
    }

    pub(super) fn check(&self) -> Check {
        check_ranges(self)?;
        check_caches(self)?;
        check_memory(self)
    }

    fn blame(&self, violation: Violation) -> ConfigError {
        let from_command_line = |key: &&&str| {
            self.origins
                .get(**key)
                .is_some_and(|origin| origin.source == COMMAND_LINE)
        };
        match violation
            .keys
            .iter()
            .find(from_command_line)
            .and_then(|key| self.info(find(key)?))
        {
            Some(info) => {
                let unit = if info.unit == "ns" { "ns" } else { "" };
                ConfigError::new(
                    Place::Set(info.key.to_owned(), format!("{}{unit}", info.value)),
                    None,
                    violation.fault,
                )
            }
            None => ConfigError::new(
                Place::Machine(self.name.clone()),
                violation.keys.first().copied(),
                violation.fault,
            ),
        }
    }
}

fn check_ranges(machine: &Machine) -> Check {
    match PARAMETERS.iter().find(|parameter| !parameter.in_range(machine)) {
        None => Ok(()),
        Some(parameter) => {
            let value = parameter.value(machine).unwrap_or_default();
            let what = format!("{value} {} is out of range", parameter.unit());
            demand(false, &[parameter.key], || {
                (what, format!("give {}", parameter.admits()))
            })
        }
    }
}

fn check_caches(machine: &Machine) -> Check {
    check_sets(["l1.bytes", "l1.ways"], &machine.l1)?;
    check_sets(["llc.bytes", "llc.ways"], &machine.llc)?;
    if let Some(l2) = &machine.l2 {
        check_sets(["l2.bytes", "l2.ways"], l2)?;
        check_inclusion(["l2.bytes", "l1.bytes"], l2, &machine.l1)?;
        check_inclusion(["llc.bytes", "l2.bytes"], &machine.llc, l2)?;
    }
    check_inclusion(["llc.bytes", "l1.bytes"], &machine.llc, &machine.l1)
}

fn check_sets(keys: [&'static str; 2], cache: &Cache) -> Check {
    let set_bytes = LINE_BYTES * cache.ways;
    demand(cache.bytes > 0 && cache.bytes % set_bytes == 0, &keys, || {
        (
            format!(
                "{} bytes are not a whole number of sets of {} ways of 64 bytes",
                cache.bytes, cache.ways
            ),
            format!("make {} a multiple of {set_bytes}, or change {}", keys[0], keys[1]),
        )
    })
}

fn check_inclusion(keys: [&'static str; 2], outer: &Cache, inner: &Cache) -> Check {
    demand(outer.bytes >= inner.bytes, &keys, || {
        (
            format!(
                "{} of {} cannot include {} of {}",
                keys[0], outer.bytes, keys[1], inner.bytes
            ),
            format!("make {} at least as large as {}", keys[0], keys[1]),
        )
    })
}

fn check_memory(machine: &Machine) -> Check {
    let (controllers, pm) = (&machine.controllers, &machine.pm);
    demand(
        controllers.interleave_bytes % LINE_BYTES == 0,
        &["controllers.interleave_bytes"],
        || {
            (
                format!("{} is not a multiple of 64", controllers.interleave_bytes),
                "give whole lines of 64 bytes".to_owned(),
            )
        },
    )?;
    check_power("core.predictor_entries", machine.core.predictor_entries, 1)?;
    if pm.row_bytes > 0 {
        check_power("pm.row_bytes", pm.row_bytes, LINE_BYTES)?;
        check_row(
            "pm.row_hit_latency",
            pm.row_hit_latency,
            "pm.read_latency",
            pm.read_latency,
        )?;
        check_row(
            "pm.row_hit_write_latency",
            pm.row_hit_write_latency,
            "pm.write_latency",
            pm.write_latency,
        )?;
    }
    if pm.combine_bytes > 0 {
        check_power("pm.combine_bytes", pm.combine_bytes, LINE_BYTES)?;
        demand(
            pm.combine_entries > 0,
            &["pm.combine_entries", "pm.combine_bytes"],
            || {
                (
                    "a write-combining buffer without entries".to_owned(),
                    "give at least 1, or pm.combine_bytes = 0".to_owned(),
                )
            },
        )?;
    }
    Ok(())
}

fn check_power(key: &'static str, value: u64, least: u64) -> Check {
    demand(value.is_power_of_two() && value >= least, &[key], || {
        (
            format!("{value} is not a power of two from {least} up"),
            format!("give {}", value.max(least).next_power_of_two()),
        )
    })
}

fn check_row(hit_key: &'static str, hit: Cycles, key: &'static str, miss: Cycles) -> Check {
    demand(
        (Cycles(1)..=miss).contains(&hit),
        &[hit_key, key, "pm.row_bytes"],
        || {
            let what = format!("an open row takes {hit} cycles where {key} is {miss}");
            (what, format!("give 1 to {miss} cycles, or pm.row_bytes = 0"))
        },
    )
}

fn demand(holds: bool, keys: &[&'static str], fault: impl FnOnce() -> (String, String)) -> Check {
    if holds {
        return Ok(());
    }
    let (what, mend) = fault();
    Err(Violation {
        keys: keys.to_vec(),
        fault: Fault::new(what, mend),
    })
}
