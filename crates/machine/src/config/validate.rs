//! What must hold of a machine as a whole.

use strandline_isa::LINE_BYTES;
use strandline_kernel::Cycles;

use super::change::COMMAND_LINE;
use super::error::{ConfigError, Fault};
use super::machine::{Cache, Machine, Pm};
use super::parameter::{find, PARAMETERS};

type Check = Result<(), Fault>;

impl Machine {
    /// Checks every parameter's range and how the parameters go together.
    ///
    /// # Errors
    /// The first rule broken; the line names the `--set` that broke it if there was one.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.check().map_err(|fault| {
            let set = |key: &&&str| {
                self.origins
                    .get(**key)
                    .is_some_and(|origin| origin.source == COMMAND_LINE)
            };
            let place = match fault.keys.iter().find(set).and_then(|key| self.info(find(key).ok()?)) {
                Some(info) if info.unit == "ns" => format!("--set machine.{}={}ns", info.key, info.value),
                Some(info) => format!("--set machine.{}={}", info.key, info.value),
                None => format!("machine {}: {}", self.name, fault.keys[0]),
            };
            ConfigError::new(&place, &fault.text)
        })
    }

    pub(super) fn check(&self) -> Check {
        check_ranges(self)?;
        check_caches(self)?;
        check_power("core.predictor_entries", self.core.predictor_entries, 1)?;
        let interleave = self.controllers.interleave_bytes;
        demand(
            interleave % LINE_BYTES == 0,
            &["controllers.interleave_bytes"],
            format!("{interleave} is not a multiple of 64 (give whole lines of 64 bytes)"),
        )?;
        check_media(&self.pm)
    }
}

fn check_ranges(machine: &Machine) -> Check {
    for parameter in PARAMETERS.iter() {
        if let Some(value) = parameter.value(machine) {
            parameter.read(&value, machine.core.clock_ghz)?;
        }
    }
    Ok(())
}

fn check_caches(machine: &Machine) -> Check {
    let levels = [
        (["l1.bytes", "l1.ways"], Some(&machine.l1)),
        (["l2.bytes", "l2.ways"], machine.l2.as_ref()),
        (["llc.bytes", "llc.ways"], Some(&machine.llc)),
    ];
    let present: Vec<_> = levels
        .into_iter()
        .filter_map(|(keys, level)| Some((keys, level?)))
        .collect();
    for (keys, cache) in &present {
        check_sets(*keys, cache)?;
    }
    for pair in present.windows(2) {
        let ([inner_key, _], inner) = pair[0];
        let ([outer_key, _], outer) = pair[1];
        let (inner, outer) = (inner.bytes, outer.bytes);
        let text = format!(
            "{outer_key} of {outer} cannot include {inner_key} of {inner} (make {outer_key} at least as large as {inner_key})"
        );
        demand(outer >= inner, &[outer_key, inner_key], text)?;
    }
    Ok(())
}

fn check_sets([bytes_key, ways_key]: [&'static str; 2], cache: &Cache) -> Check {
    let (Cache { bytes, ways, .. }, set_bytes) = (cache, LINE_BYTES * cache.ways);
    let what = format!("{bytes} bytes are not a whole number of sets of {ways} ways of 64 bytes");
    demand(
        *bytes > 0 && bytes % set_bytes == 0,
        &[bytes_key, ways_key],
        format!("{what} (make {bytes_key} a multiple of {set_bytes}, or change {ways_key})"),
    )
}

fn check_media(pm: &Pm) -> Check {
    if pm.row_bytes > 0 {
        check_power("pm.row_bytes", pm.row_bytes, LINE_BYTES)?;
        check_row(
            ["pm.row_hit_latency", "pm.read_latency"],
            pm.row_hit_latency,
            pm.read_latency,
        )?;
        check_row(
            ["pm.row_hit_write_latency", "pm.write_latency"],
            pm.row_hit_write_latency,
            pm.write_latency,
        )?;
    }
    if pm.combine_bytes > 0 {
        check_power("pm.combine_bytes", pm.combine_bytes, LINE_BYTES)?;
        demand(
            pm.combine_entries > 0,
            &["pm.combine_entries", "pm.combine_bytes"],
            "a write-combining buffer without entries (give at least 1, or pm.combine_bytes = 0)".to_owned(),
        )?;
    }
    Ok(())
}

fn check_power(key: &'static str, value: u64, least: u64) -> Check {
    let power = value.max(least).next_power_of_two();
    let text = format!("{value} is not a power of two from {least} up (give {power})");
    demand(value == power, &[key], text)
}

fn check_row([hit_key, key]: [&'static str; 2], hit: Cycles, miss: Cycles) -> Check {
    let text =
        format!("an open row takes {hit} cycles where {key} is {miss} (give 1 to {miss} cycles, or pm.row_bytes = 0)");
    demand((Cycles(1)..=miss).contains(&hit), &[hit_key, key, "pm.row_bytes"], text)
}

fn demand(holds: bool, keys: &[&'static str], text: String) -> Check {
    if holds {
        Ok(())
    } else {
        Err(Fault::new(keys, text))
    }
}
