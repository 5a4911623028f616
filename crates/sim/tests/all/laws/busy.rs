//! Utilisation: what is written takes the media's bandwidth, all of it where nothing else limits, and nothing is busy for
//! longer than the run.

use super::programs::{line, machine, program, run, update};
use super::{cases, judge, Verdict};
use strandline_isa::Cpu;
use strandline_kernel::Cycles;

/// A stream reaches this share of the bandwidth at least: but for its start and its end.
const REACHED: f64 = 0.97;
const LINES: u64 = 600;

/// Bytes a second that a stream of flushes reaches on media of so many GB/s, as a share.
fn share(preset: &str, gbps: f64) -> Result<f64, String> {
    let mut machine = machine(preset, "x86", 64);
    machine.pm.write_gbps = gbps;
    machine.pm.banks = 64;
    machine.pm.row_bytes = 0;
    machine.pm.combine_bytes = 0;
    machine.controllers.count = 1;
    let stream = program(|cpu| async move {
        cpu.start_line().await;
        for number in 0..LINES {
            update(&cpu, number).await;
        }
    });
    let stats = run(&machine, "x86", true, &[stream])?;
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
        program(|cpu| async move {
            cpu.start_line().await;
            for number in 0..100 {
                cpu.word(line(&cpu, number)).store(cpu.word(number)).await;
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

#[test]
fn a_stream_of_writes_has_the_medias_bandwidth_and_no_more() {
    let presets = cases(&["asap"], &["asap", "cosplay", "strandweaver", "common", "zen4"]);
    let gbps = cases(&[1.0], &[0.25, 0.5, 1.0]);
    judge(
        presets
            .iter()
            .flat_map(|preset| gbps.iter().map(move |gbps| streams(preset, *gbps))),
    );
}

#[test]
fn packets_occupy_the_bus_of_the_channels() {
    assert_eq!(packets(), Ok(()));
}
