//! The rules for a machine as a whole.

use strandline_isa::LINE_BYTES;
use strandline_kernel::Cycles;

use super::change::{ParamInfo, COMMAND_LINE};
use super::error::{ConfigError, Fault};
use super::machine::{Cache, MachineConfig, Pm, Tlb};
use super::parameter::{find, PARAMETERS};

type Check = Result<(), Fault>;

impl MachineConfig {
    /// Checks every parameter's range and the rules between parameters.
    ///
    /// # Errors
    /// The first rule broken; the line names the `--set` that broke it if there was one.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.check().map_err(|fault| {
            let origin = |key: &&'static str| Some((*key, self.origins.get(*key)?));
            let mut origins = fault.keys.iter().filter_map(origin);
            let set = origins.find(|(_, origin)| origin.source == COMMAND_LINE);
            let place = match set.and_then(|(key, _)| self.info(find(key).ok()?)) {
                Some(ParamInfo { key, value, unit, .. }) => {
                    format!("--set machine.{key}={value}{}", if unit == "ns" { unit } else { "" })
                }
                None => format!("machine {}: {}", self.name, fault.keys[0]),
            };
            ConfigError::new(&place, &fault.text)
        })
    }

    pub(super) fn check(&self) -> Check {
        check_ranges(self)?;
        check_caches(self)?;
        check_power("core.predictor_entries", self.core.predictor_entries, 1)?;
        check_tlb(&self.tlb)?;
        let interleave = self.controllers.interleave_bytes;
        demand(
            interleave % LINE_BYTES == 0,
            &["controllers.interleave_bytes"],
            format!("{interleave} is not a multiple of 64 (give whole lines of 64 bytes)"),
        )?;
        check_hosts(self)?;
        check_device_cache(self)?;
        check_media(&self.pm)
    }
}

fn check_ranges(machine: &MachineConfig) -> Check {
    let wrong = PARAMETERS.iter().find(|parameter| !parameter.is_in_range(machine));
    match wrong.and_then(|parameter| Some((parameter, parameter.value(machine)?))) {
        Some((parameter, value)) => parameter.read(&value, machine.core.clock_ghz).map(|_| ()),
        None => Ok(()),
    }
}

fn check_caches(machine: &MachineConfig) -> Check {
    let l2 = machine.l2.as_ref().map(|l2| (["l2.bytes", "l2.ways"], l2));
    let l1 = (["l1.bytes", "l1.ways"], &machine.l1);
    let llc = (["llc.bytes", "llc.ways"], &machine.llc);
    let levels: Vec<_> = [Some(l1), l2, Some(llc)].into_iter().flatten().collect();
    for ([key, ways_key], Cache { bytes, ways, .. }) in &levels {
        let set = LINE_BYTES * ways;
        let what = format!("{bytes} bytes are not a whole number of sets of {ways} ways of 64 bytes");
        let text = format!("{what} (make {key} a multiple of {set}, or change {ways_key})");
        demand(*bytes > 0 && bytes % set == 0, &[key, ways_key], text)?;
    }
    for pair in levels.windows(2) {
        let ([inner, _], Cache { bytes: held, .. }) = pair[0];
        let ([outer, _], Cache { bytes, .. }) = pair[1];
        let what = format!("{outer} of {bytes} cannot include {inner} of {held}");
        let text = format!("{what} (make {outer} at least as large as {inner})");
        demand(bytes >= held, &[outer, inner], text)?;
    }
    Ok(())
}

/// Without a first level nothing is translated, and the other values have no effect.
fn check_tlb(tlb: &Tlb) -> Check {
    if tlb.l1_entries == 0 {
        return Ok(());
    }
    check_level(["tlb.l1_entries", "tlb.l1_ways"], tlb.l1_entries, tlb.l1_ways)?;
    if tlb.l2_entries > 0 {
        check_level(["tlb.l2_entries", "tlb.l2_ways"], tlb.l2_entries, tlb.l2_ways)?;
    }
    check_power("tlb.page_bytes", tlb.page_bytes, 4096)?;
    for (key, value, what) in [
        ("tlb.walk_levels", tlb.walk_levels, "a page walk without levels"),
        ("tlb.walkers", tlb.walkers, "a TLB that nothing fills"),
    ] {
        let text = format!("{what} (give at least 1, or tlb.l1_entries = 0 for no translation)");
        demand(value > 0, &[key, "tlb.l1_entries"], text)?;
    }
    Ok(())
}

/// The sets of a level of the TLB are a power of two.
fn check_level([key, ways_key]: [&'static str; 2], entries: u64, ways: u64) -> Check {
    let whole = ways > 0 && entries % ways == 0 && (entries / ways).is_power_of_two();
    let what = format!("{entries} entries are not a power of two of sets of {ways} ways");
    let text =
        format!("{what} (make {key} {ways_key} times a power of two; {ways_key} = {entries}: fully associative)");
    demand(whole, &[key, ways_key], text)
}

fn check_hosts(machine: &MachineConfig) -> Check {
    let (hosts, failing) = (machine.hosts, machine.simulation.fails.host());
    demand(
        machine.cores % hosts == 0,
        &["cores", "hosts"],
        format!(
            "{} cores on {hosts} hosts (give each host as many: a multiple of {hosts})",
            machine.cores
        ),
    )?;
    demand(
        failing.is_none_or(|failing| hosts > 1 && failing < hosts),
        &["simulation.fails", "hosts"],
        format!("there are {hosts} hosts, from h0 on (give more than one, and one of them, or none)"),
    )
}

/// The cache of a device takes the place of a row buffer or a write-combining buffer, and is saved with the queue before it.
fn check_device_cache(machine: &MachineConfig) -> Check {
    let (cxl, pm) = (&machine.cxl, &machine.pm);
    if cxl.cache_bytes == 0 {
        return Ok(());
    }
    check_power("cxl.cache_page_bytes", cxl.cache_page_bytes, LINE_BYTES)?;
    let set = cxl.cache_ways * cxl.cache_page_bytes;
    let pages = format!("{} ways of pages of {} bytes", cxl.cache_ways, cxl.cache_page_bytes);
    demand(
        set > 0 && cxl.cache_bytes % set == 0,
        &["cxl.cache_bytes", "cxl.cache_ways", "cxl.cache_page_bytes"],
        format!(
            "{} bytes are not a whole number of sets of {pages} (give a multiple of {set})",
            cxl.cache_bytes
        ),
    )?;
    demand(
        cxl.cache_latency > Cycles(0),
        &["cxl.cache_latency", "cxl.cache_bytes"],
        "a device's cache that takes no time (give at least 1 cycle, or cxl.cache_bytes = 0)".to_owned(),
    )?;
    demand(
        pm.row_bytes == 0 && pm.combine_bytes == 0 && !pm.exclusive_banks,
        &["cxl.cache_bytes", "pm.row_bytes", "pm.combine_bytes", "pm.exclusive_banks"],
        "a device's cache is before plain media (give 0 for pm.row_bytes and pm.combine_bytes, false for pm.exclusive_banks)".to_owned(),
    )?;
    demand(
        machine.controllers.adr,
        &["cxl.cache_bytes", "controllers.adr"],
        "a device that saves its cache saves its queue (give controllers.adr = true, or cxl.cache_bytes = 0)"
            .to_owned(),
    )
}

fn check_media(pm: &Pm) -> Check {
    if pm.row_bytes > 0 {
        check_power("pm.row_bytes", pm.row_bytes, LINE_BYTES)?;
        let (read, write) = (pm.row_hit_latency, pm.row_hit_write_latency);
        check_row(["pm.row_hit_latency", "pm.read_latency"], read, pm.read_latency)?;
        check_row(
            ["pm.row_hit_write_latency", "pm.write_latency"],
            write,
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
