//! Utilisation: what is written takes the media's bandwidth, all of it where nothing else limits, and nothing is busy for
//! longer than the run.

use super::programs::{line, machine, one_port, run, stream};
use super::{cases, judge_pairs, spec, Verdict};
use strandline_isa::Cpu;
use strandline_kernel::Cycles;
use strandline_machine::factory;
use strandline_machine::MachineConfig;
use strandline_sim::{timeline, Part, Progress};

/// A stream reaches this share of the bandwidth at least: but for its start and its end.
const REACHED: f64 = 0.97;
const LINES: u64 = 600;

/// Bytes a second that a stream of flushes reaches on media of so many GB/s, as a share.
fn share(preset: &str, gbps: f64) -> Result<f64, String> {
    let machine = one_port(preset, "x86", gbps);
    let stats = run(&machine, "x86", true, &[stream(LINES)])?;
    let writes = stats.timeline.expect("a timeline").writes;
    let first = writes.0.iter().filter_map(|write| write.issued).min().unwrap_or(0);
    let last = writes.0.iter().filter_map(|write| write.issued).max().unwrap_or(0);
    let seconds = (last - first) as f64 / machine.core.clock_ghz / 1e9;
    Ok(64.0 * (writes.0.len() - 1) as f64 / seconds / (gbps * 1e9))
}

pub fn streams(preset: &str, gbps: f64) -> Verdict {
    let share = share(preset, gbps)?;
    match (REACHED..=1.0 + 1e-2).contains(&share) {
        true => Ok(()),
        false => Err(format!("on {preset} a stream of writes has {share:.3} of {gbps} GB/s")),
    }
}

/// Cycles that a packet keeps the bus of the channels.
const PACKET: u64 = 120;

/// Packets of two cores occupy their bus no longer than the time from the first to the last.
pub fn packets() -> Verdict {
    let design = "pmem-spec";
    let mut machine = machine("asap", design, 64);
    machine.channel.occupancy = Cycles(PACKET);
    let stream = || {
        factory(|cpu| {
            cpu.start_line();
            for number in 0..100 {
                cpu.word(line(cpu, number)).store(cpu.word(number));
            }
        })
    };
    let outcome = run(&machine, design, true, &[stream(), stream()])?;
    let writes = outcome.timeline.expect("a timeline").writes.0;
    let arrived = || writes.iter().filter_map(|write| write.arrived);
    let (first, last) = (arrived().min().unwrap_or(0), arrived().max().unwrap_or(0));
    let busy = PACKET * (writes.len() as u64 - 1);
    match writes.len() >= 200 && busy <= last - first {
        true => Ok(()),
        false => Err(format!(
            "{} packets keep the bus for {busy} cycles, and arrive within {}",
            writes.len(),
            last - first
        )),
    }
}

/// One bank of one controller.
const BANK: [&str; 6] = [
    "machine.controllers.count=1",
    "machine.pm.banks=1",
    "machine.pm.row_bytes=0",
    "machine.pm.combine_bytes=0",
    "machine.pm.write_gbps=1",
    "machine.pm.write_latency=10",
];

/// The least share of the bandwidth that says something.
const BUSY: f64 = 0.1;

/// One write at a time is on the bank, and the bytes that the record counts take the bandwidth no longer than the run.
fn bank(design: &str, workload: &str) -> Verdict {
    let spec = spec(workload, design, "asap", 4, 80, &BANK.map(str::to_owned));
    let drawn = timeline(&spec, &Part::default(), &Progress::default()).map_err(|error| error.to_string())?;
    let mut busy: Vec<(u64, u64)> = Vec::new();
    let writes = drawn.timeline.writes.0.iter();
    busy.extend(writes.filter_map(|write| Some((write.issued?, write.media?))));
    busy.sort_unstable();
    let both = busy.windows(2).find(|pair| pair[1].0 < pair[0].1);
    let counted = drawn.timeline.writes.0.iter().filter(|write| write.timed);
    let bytes: u64 = counted.map(|write| u64::from(write.bytes)).sum();
    // The record counts up to the step in which its region ends, and the first write began before.
    let (start, end) = (drawn.timeline.start, drawn.timeline.end);
    let ended = busy.iter().filter(|(_, media)| (start..=end).contains(media));
    let within = 64 * ended.skip(1).count();
    let stats = &drawn.record.stats;
    let seconds = stats.cycles.0 as f64 / MachineConfig::preset("asap").expect("a preset").core.clock_ghz / 1e9;
    let share = within as f64 / seconds / 1e9;
    match both.is_none() && bytes == stats.pm_write_bytes && (BUSY..=1.0).contains(&share) {
        true => Ok(()),
        false => Err(format!(
            "{design}, {workload}: writes are on the bank at once ({both:?}), or take {share:.3} of its bandwidth: {bytes} bytes, {} \
             by the record",
            stats.pm_write_bytes
        )),
    }
}

#[test]
fn no_bank_is_busy_for_longer_than_the_run() {
    let designs = cases(
        &["x86", "hops-rp"],
        &["x86", "hops-rp", "asap-rp", "dpo", "unordered", "pmem-spec"],
    );
    judge_pairs(&designs, &["sps", "hashmap"], bank);
}

#[test]
fn a_stream_of_writes_has_the_medias_bandwidth_and_no_more() {
    let presets = cases(&["asap"], &["asap", "cosplay", "strandweaver", "common", "zen4"]);
    let gbps = cases(&[1.0], &[0.25, 0.5, 1.0]);
    judge_pairs(&presets, &gbps, streams);
}

#[test]
fn packets_occupy_the_bus_of_the_channels() {
    assert_eq!(packets(), Ok(()));
}
